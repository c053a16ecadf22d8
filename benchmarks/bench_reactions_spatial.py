"""Random spatial friction problems: Gauss-Seidel on prepared arrays beside every solver of Siconos that reaches 1e-8.

    python benchmarks/bench_reactions_spatial.py [--contacts 3 10 100 1000] [--seeds 3]

Two families: `bodies` (rigid bodies touching each other and the ground at random points with random normals) and
`dense` (random rows over more coordinates than there are contact forces). A time is never shown without its residual,
which is computed here for every solver by the same formula; each solver gets the loosest tolerance of its own that
brings that residual below 1e-8, and the shortest of several runs counts. Siconos is Debian's python3-siconos: this file
runs itself under the system's Python for it and hands over the arrays.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

TOL = 1e-8
SYSTEM_PYTHON = "/usr/bin/python3"
MOST_DENSE = 1_000_000  # entries of rows that are also given dense
NSGS = ("NSN", "NSN_GP", "NSN_GP_HYBRID", "ProjectionOnConeWithLocalIteration", "QUARTIC")


def natural_residual(delassus, b, friction, r, p):
    """Largest distance of a contact from its law, relative to the accelerations without reactions (as in zwang)."""
    k = len(friction)
    scale = np.sqrt(np.asarray(delassus.diagonal()).reshape(k, p + 1).max(axis=1))[:, None]
    force, u = r.reshape(k, p + 1) * scale, (delassus @ r + b).reshape(k, p + 1) / scale
    target = force[:, 1:] - u[:, 1:]
    bound = friction * np.maximum(force[:, 0], 0)
    target = target * np.minimum(1, bound / np.maximum(np.linalg.norm(target, axis=1), 1e-300))[:, None]
    error = max(abs(np.minimum(force[:, 0], u[:, 0])).max(), np.linalg.norm(force[:, 1:] - target, axis=1).max())
    return error / max(abs(b.reshape(k, p + 1) / scale).max(), 1e-6 * abs(force).max())


# ---- Siconos, under the system's Python


def siconos_configurations(p, contacts):
    if p == 1:
        return [("dense", name, None) for name in ("LEMKE", "NSGS", "CPG")]
    stores = ("block",) if contacts > 300 else ("dense",) if contacts < 10 else ("dense", "block")
    found = [(store, "NSGS", local) for store in stores for local in NSGS]
    if contacts <= 300:
        found += [("dense", name, None) for name in ("ADMM", "NSN_AC")]
    return found


def siconos_worker(file, store, solver, local, budget):
    """Time one solver of Siconos; prints one line of JSON."""
    import siconos.numerics as sn

    data = np.load(file)
    w, b, mu, p = data["W"], data["b"], data["mu"], int(data["p"])
    k, keep = len(mu), []
    driver = sn.fc3d_driver if p == 2 else sn.fc2d_driver
    prefix = f"SICONOS_FRICTION_{p + 1}D_"

    def fresh(tol, limit):  # Siconos frees parts of both after a solve: each run gets its own
        problem = sn.FrictionContactProblem(p + 1, k, w, b, mu)
        if store == "block":
            import scipy.sparse

            block = sn.SBM_from_csparse(3, scipy.sparse.csc_matrix(w))
            block = block[-1] if isinstance(block, tuple | list) else block
            problem.M = block
            keep.append(block)
        options = sn.SolverOptions(getattr(sn, prefix + solver))
        if local:
            sn.solver_options_update_internal(options, 0, getattr(sn, prefix + "ONECONTACT_" + local))
        options.dparam[0] = tol
        options.iparam[0] = limit
        keep.append(problem)
        return problem, options

    def run(tol, limit):
        problem, options = fresh(tol, limit)
        r, u = np.zeros(b.size), np.zeros(b.size)
        start = time.perf_counter()
        driver(problem, r, u, options)
        return time.perf_counter() - start, r

    most = 20000 if k <= 300 else 5000
    # CPG doesn't stop by its tolerance: it gets the smallest number of iterations that is enough.
    limits = (10, 20, 50, 100, 200, 500, 1000, most) if solver == "CPG" else (most,)
    for tol, limit in [(tol, limit) for limit in limits for tol in (1e-7, 1e-8, 1e-9, 1e-10, 1e-12)]:
        best, r = run(tol, limit)
        residual = natural_residual(w, b, mu, r, p)
        if residual < TOL or best > budget:
            break
    if residual < TOL:
        begun = time.perf_counter()
        while time.perf_counter() - begun < budget / 4 or len(keep) < 20:
            best = min(best, run(tol, limit)[0])
            if len(keep) > 400:
                break
    print(json.dumps({"seconds": best, "residual": float(residual), "tol": tol}))


def siconos_times(w, b, mu, p, budget=2.0):
    """Return [(name, seconds, residual)] of Siconos' solvers on one problem; empty without Siconos."""
    probe = [SYSTEM_PYTHON, "-c", "import siconos.numerics"]
    if not shutil.which(SYSTEM_PYTHON) or subprocess.run(probe, capture_output=True, check=False).returncode:
        return []
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem.npz"
        np.savez(file, W=w, b=b, mu=mu, p=p)
        for store, solver, local in siconos_configurations(p, len(mu)):
            arguments = [SYSTEM_PYTHON, __file__, "--siconos", file, store, solver, local or "-", str(budget)]
            try:
                done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
                line = json.loads(done.stdout.strip().splitlines()[-1])
            except (subprocess.TimeoutExpired, IndexError, ValueError):
                continue  # it crashed, or ran longer than a minute
            name = f"Siconos {solver} {local or ''}".strip() + f" ({store})"
            rows.append((name, line["seconds"], line["residual"]))
    return rows


# ---- Problems


def frame(normal):
    """Rows: the normal and two unit tangents."""
    side = np.cross(normal, np.eye(3)[np.argmin(abs(normal))])
    side /= np.linalg.norm(side)
    return np.array([normal, side, np.cross(normal, side)])


def point_rows(directions, arm):
    """The (3, 6) rows of a body's point at `arm` from its centre, along three directions."""
    x, y, z = arm
    return np.hstack([directions, -directions @ np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])])


def random_bodies(contacts, seed, contacts_per_body=2.0):
    """Rigid bodies under gravity that touch each other, and the ground, at random points with random normals."""
    import scipy.sparse as sp

    rng = np.random.default_rng(seed)
    bodies = max(1, round(contacts / contacts_per_body))
    mass = []
    for _ in range(bodies):
        m, spread = rng.uniform(0.5, 2), rng.normal(size=(3, 3))
        mass.append(sp.block_diag([m * np.eye(3), 0.1 * m * (spread @ spread.T + np.eye(3))]))
    rows = sp.lil_array((3 * contacts, 6 * bodies))
    for j in range(contacts):
        normal = rng.normal(size=3)
        directions = frame(normal / np.linalg.norm(normal))
        one, other = rng.integers(bodies), rng.integers(bodies)
        rows[3 * j : 3 * j + 3, 6 * one : 6 * one + 6] = point_rows(directions, 0.5 * rng.normal(size=3))
        if other != one and rng.uniform() < 0.7:
            rows[3 * j : 3 * j + 3, 6 * other : 6 * other + 6] = -point_rows(directions, 0.5 * rng.normal(size=3))
    force = rng.normal(size=6 * bodies)
    force[2::6] -= 9.81
    return sp.block_diag(mass, format="csr"), rows.tocsr(), force, rng.uniform(0.1, 0.9, contacts)


def random_dense(contacts, seed):
    """Random rows; three unknown forces a contact and a few coordinates more."""
    rng = np.random.default_rng(seed)
    n = 3 * contacts + 6
    return np.eye(n), rng.normal(size=(3 * contacts, n)), rng.normal(size=n), rng.uniform(0.1, 0.9, contacts)


def contact_rows(rows, friction):
    """Stacked rows (N, T, ...) of equal contacts at rest as zwang's plain arrays."""
    from zwang._numerics.contact.problem import ContactRows

    k = len(friction)
    p = rows.shape[0] // k - 1
    tangents = np.arange(rows.shape[0]).reshape(k, p + 1)[:, 1:].ravel()
    zeros = np.zeros(k)
    return ContactRows(
        rows[0 :: p + 1], rows[tangents], np.arange(k + 1) * p, np.asarray(friction, dtype=float), zeros,
        np.zeros(k * p), zeros > 0, np.zeros(k * p), np.full(k, np.nan), zeros == 0,
    )  # fmt: skip


# ---- Ours


def shortest(call, budget=0.5, least=5):
    """Shortest of several runs, seconds; call() returns the seconds that count, of the processor for ours."""
    best, begun, runs = np.inf, time.perf_counter(), 0
    while runs < least or (time.perf_counter() - begun < budget and runs < 400):
        best = min(best, call())
        runs += 1
    return best


def kernel_call(prepared, method):
    """The compiled call that solves, with its arguments bound and its result's array made, as Siconos gets it."""
    from zwang._numerics.contact.sweeps import MEMORY, sweep_kernel

    arrays, tables = prepared.arrays, prepared.tables
    if "Gauss-Seidel" not in method:
        return lambda: prepared.solve(TOL)[0]
    kernel, r, memory = sweep_kernel(arrays, tables), np.zeros(arrays.size), min(MEMORY, arrays.size)
    second = arrays.cause if tables.system is None else True

    def call():
        kernel(r, second, TOL, prepared.sweeps, memory)
        return r

    if tables.system is None:

        def call():
            r.fill(0.0)
            kernel(r, second, TOL, prepared.sweeps, memory)
            return r

    return call


def zwang_times(arrays_of):
    """Return [(name, seconds, residual)] for a function that makes the arrays, and the arrays."""
    from zwang._numerics.contact.candidate import natural_residual as residual_of
    from zwang._numerics.contact.choose import prepare, solve_one

    arrays = arrays_of()
    prepared = prepare(arrays)
    _, _, method, _ = prepared.solve(TOL)
    call = kernel_call(prepared, method)
    found = solve_one(arrays, tol=TOL, prepared=prepared)

    def timed(run):
        begun = time.process_time()
        run()
        return time.process_time() - begun

    rows = [
        (f"zwang {method}: kernel on prepared arrays", shortest(lambda: timed(call), 1.0), residual_of(arrays, call())),
        (
            "zwang: solve_one on prepared arrays, checked and finished",
            shortest(lambda: timed(lambda: solve_one(arrays, tol=TOL, prepared=prepared))),
            found.residual,
        ),
        ("zwang: everything from plain arrays", shortest(lambda: timed(lambda: solve_one(arrays_of(), tol=TOL))),
         found.residual),
    ]  # fmt: skip
    return rows, arrays


def public_times(mass, rows, force, friction):
    """Return [(name, seconds, residual)] of the public call: contacts from rows, their problem, its reactions."""
    import zwang as zw

    k = len(friction)
    p = rows.shape[0] // k - 1
    found = []
    for form in ("sparse", "dense"):
        if form == "dense" and rows.shape[0] * rows.shape[1] > MOST_DENSE:
            continue
        as_given = (lambda part: part) if form == "sparse" else as_dense
        matrix, given = as_given(mass), as_given(rows)
        if form == "sparse" and not hasattr(given, "tocsr"):
            continue
        blocks = [(given[[j]] if form == "sparse" else given[j], given[j + 1 : j + p + 1])
                  for j in range(0, len(friction) * (p + 1), p + 1)]  # fmt: skip

        def call(blocks=blocks, matrix=matrix):
            contacts = [
                zw.Contact(normal, tangent=tangent, friction=mu)
                for (normal, tangent), mu in zip(blocks, friction, strict=True)
            ]
            return zw.reactions(zw.ContactProblem(matrix, force, contacts))

        answer = call()

        def timed(call=call):
            begun = time.process_time()
            call()
            return time.process_time() - begun

        name = f"zwang.reactions, {form} rows: {answer.status.name}"
        found.append((name, shortest(timed, 1.0), natural_residual_of(answer, mass, rows, force, friction)))
    return found


def as_dense(part):
    """Return a dense array."""
    return part.toarray() if hasattr(part, "toarray") else part


def natural_residual_of(answer, mass, rows, force, friction):
    """Return the residual of the first solution of a public answer, by the formula for everybody."""
    if not answer.solutions:
        return np.inf
    k = len(friction)
    p = rows.shape[0] // k - 1
    response = np.linalg.solve(as_dense(mass), np.column_stack([as_dense(rows).T, force]))
    b, delassus = rows @ response[:, -1], rows @ response[:, :-1]
    one = answer.solutions[0]
    r = np.column_stack([one.normal, np.reshape(one.tangential, (k, p))]).ravel()
    return natural_residual(delassus, b, friction, r, p)


def clarabel_times(arrays):
    """De Saxce's fixed point over Clarabel's cone programs, one run."""
    from zwang._numerics.contact.cone_program import cone_fixed_point

    begun = time.perf_counter()
    found = cone_fixed_point(arrays, tol=TOL)
    return [(f"Clarabel, {found.iterations} programs (De Saxce)", time.perf_counter() - begun, found.residual)]


def show(title, ours, theirs, most=4, calls=()):
    """Print times with residuals; ratios of our kernel, and of the public calls to it, to the fastest peer's."""
    print(f"\n{title}")
    reached = [row for row in theirs if row[2] < TOL]
    for label, seconds, residual in ours + list(calls) + sorted(theirs, key=lambda row: (row[2] > TOL, row[1]))[:most]:
        flag = "" if residual < TOL else "   does not reach 1e-8"
        print(f"  {label:60s} {1e3 * seconds:11.4f} ms   residual {residual:.1e}{flag}", flush=True)
    if reached:
        print(f"  kernel / fastest peer: {ours[0][1] / min(row[1] for row in reached):.2f}", flush=True)
    for label, seconds, _ in calls:
        print(f"  {label.partition(':')[0]} / kernel: {seconds / ours[0][1]:.1f}", flush=True)


def main():
    from zwang._numerics.contact.choose import solve_one
    from zwang._numerics.contact.delassus import friction_arrays

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contacts", type=int, nargs="+", default=[3, 10, 100, 1000])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for name, make in (("bodies", random_bodies), ("dense", random_dense)):
        for contacts in options.contacts:
            if name == "dense" and contacts > 300:
                continue
            shown, seed = 0, 0
            while shown < options.seeds:
                seed += 1
                mass, rows, force, friction = make(contacts, seed)
                laws = contact_rows(rows, friction)
                arrays_of = lambda laws=laws, force=force, mass=mass: friction_arrays(  # noqa: E731
                    rows=laws, force=force, mass=mass
                )
                if (solve_one(arrays_of()).normal > 0).mean() < 0.3:
                    continue  # nearly all contacts open: nothing to solve
                shown += 1
                ours, arrays = zwang_times(arrays_of)
                theirs = siconos_times(arrays.delassus, arrays.b, friction, 2)
                theirs += clarabel_times(arrays) if contacts <= 10 else []
                calls = public_times(mass, rows, force, friction)
                show(f"{name}, {contacts} contacts, seed {seed}", ours, theirs, calls=calls)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--siconos":
        siconos_worker(*sys.argv[2:5], None if sys.argv[5] == "-" else sys.argv[5], float(sys.argv[6]))
    else:
        main()
