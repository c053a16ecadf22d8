"""Towers at rest, where Gauss-Seidel stalls: zwang beside Siconos, Clarabel and OSQP, to 1e-8.

    python benchmarks/bench_reactions_towers.py

Blocks of width 2 and height 1 stand on two corners (plane) or four (space), in line or a little out of it and pushed
sideways; friction 1/2. More contacts than needed hold them, so that W is singular and forces are not unique. Residuals
are computed for every solver by the same formula (`bench_reactions_spatial`). Clarabel solves one convex cone program,
which is exact here because nothing slides. OSQP solves the planar one as a quadratic program; both are also timed
without their setup. Siconos' CPG does not stop by its tolerance: it is given the smallest number of iterations that is
enough.
"""

from __future__ import annotations

import contextlib
import os
import time

import numpy as np

from bench_reactions_spatial import (
    TOL,
    contact_rows,
    natural_residual,
    public_times,
    shortest,
    show,
    siconos_times,
    zwang_times,
)

G = 9.81


def tower(blocks, p, friction=0.5, seed=None):
    """Return mass (diagonal), rows, force and friction; with a seed, blocks are out of line and pushed sideways."""
    import scipy.sparse as sp

    n = 3 if p == 1 else 6
    corners = [(-1.0,), (1.0,)] if p == 1 else [(x, y) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    mass = np.tile([1, 1, 5 / 12] if p == 1 else [1, 1, 1, 5 / 12, 5 / 12, 8 / 12], blocks)
    rows = sp.lil_array(((p + 1) * len(corners) * blocks, n * blocks))
    force, at = np.zeros(n * blocks), 0
    rng = np.random.default_rng(seed)
    centre = np.zeros((blocks, p)) if seed is None else rng.uniform(-0.1, 0.1, (blocks, p))
    for b in range(blocks):
        force[n * b + p] = -G
        force[n * b : n * b + p] = 0 if seed is None else rng.uniform(-0.3, 0.3, p)
        for corner in corners:
            for body, sign, z in ((b, 1, -0.5), (b - 1, -1, 0.5)):
                if body >= 0:
                    arm = centre[b] + corner - centre[body]
                    rows[at : at + p + 1, n * body : n * body + n] = sign * corner_rows(arm, z, p)
            at += p + 1
    return sp.diags_array(mass, format="csr"), rows.tocsr(), force, np.full(len(corners) * blocks, friction)


def corner_rows(corner, z, p):
    """The normal and the tangents of a corner at height z from the centre."""
    if p == 1:
        return np.array([[0, 1, corner[0]], [1, 0, -z]])
    x, y = corner
    return np.hstack([np.eye(3), -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])])[[2, 0, 1]]


@contextlib.contextmanager
def silence():
    """Keep what a C library writes off the screen (OSQP announces a polishing step even when told to be quiet)."""
    screen, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(screen, 1)
        os.close(screen)
        os.close(nowhere)


def clarabel_rows(w, b, mu, p):
    """One convex program min r W r / 2 + b r over the friction cones."""
    import clarabel
    import scipy.sparse as sp

    k = len(mu)
    scale = np.tile(np.concatenate([[0.0], np.ones(p)]), k)
    scale[0 :: p + 1] = mu
    quadratic, cone = sp.triu(sp.csc_array(w)).tocsc(), -sp.diags_array(scale, format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    cones = [clarabel.SecondOrderConeT(p + 1)] * k

    def run(tol):
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        begun = time.perf_counter()
        solver = clarabel.DefaultSolver(quadratic, b, cone, np.zeros(len(b)), cones, settings)
        ready = time.perf_counter()
        r = np.array(solver.solve().x)
        ended = time.perf_counter()
        return natural_residual(w, b, mu, r, p), ended - begun, ended - ready

    tol = next((t for t in (1e-7, 1e-8, 1e-9, 1e-10, 1e-12) if run(t)[0] < TOL), 1e-12)
    return [
        ("Clarabel, solve only", shortest(lambda: run(tol)[2]), run(tol)[0]),
        ("Clarabel, setup and solve", shortest(lambda: run(tol)[1]), run(tol)[0]),
    ]


def osqp_rows(w, b, mu):
    """The planar program with |T| <= mu N as linear inequalities."""
    try:
        import osqp
    except ImportError:
        return []
    import scipy.sparse as sp

    k = len(mu)
    edges = sp.block_diag([np.array([[m, -1.0], [m, 1.0]]) for m in mu], format="csc")
    quadratic = sp.triu(sp.csc_matrix(w)).tocsc()

    def run(tol, polish):
        begun = time.perf_counter()
        solver = osqp.OSQP()
        solver.setup(
            quadratic, b, sp.csc_matrix(edges), np.zeros(2 * k), np.full(2 * k, np.inf),
            eps_abs=tol, eps_rel=tol, max_iter=100_000, verbose=False, polishing=polish,
        )  # fmt: skip
        ready = time.perf_counter()
        with silence():
            r = np.asarray(solver.solve().x)
        ended = time.perf_counter()
        residual = natural_residual(w, b, mu, r, 1) if np.isfinite(r).all() else np.inf
        return residual, ended - begun, ended - ready

    tries = [(t, polish) for t in (1e-3, 1e-4, 1e-6, 1e-8, 1e-10) for polish in (False, True)]
    best = next((one for one in tries if run(*one)[0] < TOL), tries[-1])
    return [
        (f"OSQP{' polished' if best[1] else ''}, solve only", shortest(lambda: run(*best)[2]), run(*best)[0]),
        ("OSQP, setup and solve", shortest(lambda: run(*best)[1]), run(*best)[0]),
    ]


def main():
    from zwang._numerics.contact.delassus import friction_arrays
    from zwang._numerics.contact.interior_point import cone_plan

    for blocks, p, seed in ((10, 1, None), (50, 1, None), (10, 2, None), (10, 1, 1), (50, 1, 1), (10, 2, 1)):
        mass, rows, force, mu = tower(blocks, p, seed=seed)
        laws = contact_rows(rows, mu)
        arrays_of = lambda laws=laws, force=force, mass=mass: friction_arrays(rows=laws, force=force, mass=mass)  # noqa: E731
        ours, arrays = zwang_times(arrays_of)
        begun = time.perf_counter()
        plan = cone_plan(arrays)
        ours.append((f"zwang: plan, {plan.analysis.work} multiplications", time.perf_counter() - begun, 0.0))
        w = arrays.delassus
        theirs = siconos_times(w, arrays.b, mu, p) if len(mu) <= 100 else []
        theirs += clarabel_rows(w, arrays.b, mu, p)
        theirs += osqp_rows(w, arrays.b, mu) if p == 1 else []
        kind = ("planar" if p == 1 else "spatial") + (", out of line and pushed" if seed else "")
        calls = public_times(mass, rows, force, mu)
        show(f"tower of {blocks} blocks, {kind}, {len(mu)} contacts", ours, theirs, most=7, calls=calls)


if __name__ == "__main__":
    main()
