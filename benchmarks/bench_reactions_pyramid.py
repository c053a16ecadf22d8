"""The pyramid of n blocks (paper 001, example 2): the projection of Theorem 10 at a cost that grows like n.

    python benchmarks/bench_reactions_pyramid.py [--blocks 1000 10000 100000 1000000]

The input is what a user has: a sparse matrix and one row per contact, in relative coordinates (A^-1 tridiagonal) or in
absolute ones (A diagonal). Nothing in the solver knows that it is a chain. Clarabel and OSQP solve the same box program
in the same run, each to the loosest of its tolerances that brings the common residual below 1e-9.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from bench_reactions_towers import silence

TOL = 1e-9


def pyramid(n, seed, push, absolute):
    """Return the keyword arguments of `friction_arrays`; pushes are random, of the size push * mu N."""
    import scipy.sparse as sp

    from zwang._numerics.contact.problem import ContactRows

    rng = np.random.default_rng(seed)
    masses, friction, zero = rng.uniform(0.5, 2, n), rng.uniform(0.1, 0.9, n), np.zeros(n)
    load = 9.81 * np.cumsum(masses)
    pushes = rng.normal(size=n) * push * friction * load
    step = sp.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, 1], format="csr")
    tangent = step if absolute else sp.eye_array(n, format="csr")
    rows = ContactRows(
        sp.csr_array((n, n)), tangent, np.arange(n + 1), friction, zero, zero, zero > 0, zero, load, zero > 0
    )
    if absolute:
        return {"rows": rows, "force": pushes, "mass": sp.diags_array(masses, format="csr")}
    inverse = (step @ sp.diags_array(1 / masses) @ step.T).tocsr()
    return {"rows": rows, "force": np.cumsum(pushes), "inverse_mass": inverse}


def timed(call):
    begun = time.perf_counter()
    result = call()
    return time.perf_counter() - begun, result


def clarabel_time(arrays):
    import clarabel
    import scipy.sparse as sp

    from zwang._numerics.contact.candidate import natural_residual

    n = arrays.size
    bound = arrays.scaled_law[:, 1]
    unit = arrays.cause / arrays.row_scale
    scale = sp.diags_array(1 / arrays.row_scale)
    quadratic = sp.triu(scale @ arrays.sparse_delassus @ scale).tocsc()
    box, h = sp.vstack([sp.eye_array(n), -sp.eye_array(n)]).tocsc(), np.concatenate([bound, bound])
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    linear = arrays.b / arrays.row_scale / arrays.cause
    for tol in (1e-8, 1e-10, 1e-12):
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        seconds, x = timed(
            lambda: (
                clarabel.DefaultSolver(quadratic, linear, box, h, [clarabel.NonnegativeConeT(2 * n)], settings)
                .solve()
                .x
            )
        )
        residual = natural_residual(arrays, np.array(x) * unit)
        if residual < TOL:
            break
    return seconds, residual


def osqp_time(arrays):
    try:
        import osqp
    except ImportError:
        return None
    import scipy.sparse as sp

    from zwang._numerics.contact.candidate import natural_residual

    bound, unit = arrays.scaled_law[:, 1], arrays.cause / arrays.row_scale
    scale = sp.diags_array(1 / arrays.row_scale)
    quadratic = sp.csc_matrix(sp.triu(scale @ arrays.sparse_delassus @ scale))
    linear = arrays.b / arrays.row_scale / arrays.cause

    def run():
        solver = osqp.OSQP()
        solver.setup(
            quadratic, linear, sp.identity(arrays.size, format="csc"), -bound, bound,
            eps_abs=1e-10, eps_rel=1e-10, max_iter=4000, verbose=False, polishing=True,
        )  # fmt: skip
        with silence():
            return np.asarray(solver.solve().x)

    seconds, x = timed(run)
    return seconds, natural_residual(arrays, x * unit) if np.isfinite(x).all() else np.inf


def main():
    from zwang._numerics.contact.delassus import friction_arrays
    from zwang._numerics.contact.gauss_projection import gauss_projection

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, nargs="+", default=[1000, 10_000, 100_000])
    options = parser.parse_args()
    gauss_projection(friction_arrays(**pyramid(10, 0, 0.5, False)))  # compile
    for push in (0.02, 0.5, 20.0):
        for absolute in (False, True):
            coordinates = "absolute" if absolute else "relative"
            for n in options.blocks:
                given = pyramid(n, 1, push, absolute)
                runs = [
                    timed(lambda given=given: gauss_projection(friction_arrays(**given), tol=TOL)) for _ in range(3)
                ]
                seconds, found = min(runs, key=lambda run: run[0])
                slipping = np.mean(np.abs(found.forces) > 0.999999 * friction_arrays(**given).law[:, 1])
                print(
                    f"push {push:5}  {coordinates}  n = {n:8d}  zwang {seconds:7.3f} s  {1e6 * seconds / n:6.2f} us"
                    f" a block  residual {found.residual:.1e}  {100 * slipping:3.0f} % slip",
                    flush=True,
                )
            if not absolute and n <= 100_000:
                arrays = friction_arrays(**given)
                for name, run in (("Clarabel", clarabel_time), ("OSQP", osqp_time)):
                    result = run(arrays)
                    if result is not None:
                        flag = "" if result[1] < TOL else "   does not reach 1e-9"
                        print(f"{'':30s}{name:10s} {result[0]:7.3f} s   residual {result[1]:.1e}{flag}", flush=True)


if __name__ == "__main__":
    main()
