"""Mend the few contacts of a large problem on which sweeps go round in circles.

On most contacts sweeps converge; but a cluster of three or four can be such that solving one after another cycles for
ever, and among ten thousand contacts there is nearly always one. Those clusters are small: each, with its neighbours,
is solved by Newton's method while all other forces are held; then all others are swept while the cluster is held; and
so on in turn (Schwarz's alternating method).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.candidate import Candidate, candidate_of, contact_errors, size_of
from zwang._numerics.contact.delassus import FrictionArrays
from zwang._numerics.contact.newton_kernels import motion, natural_map, newton_dense
from zwang._numerics.contact.sweeps import SweepTables, sweeper

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST_CLUSTER = 150  # rows
_STARTS = 6  # starting points of one contact's own problem
_SWEEPS, _EPOCH = 60, 25


def alternate(
    arrays: FrictionArrays, tables: SweepTables, r: Floats, tol: float, *, rounds: int = 100, seed: int = 0
) -> Candidate:
    """Alternate between sweeps and Newton's method on the contacts that sweeps don't settle, starting from r."""
    w, rng = arrays.sparse_delassus, np.random.default_rng(seed)
    touching = _adjacency(arrays, w)
    held = np.zeros(arrays.count, dtype=bool)
    best = candidate_of(arrays, r, "alternating", 0)
    done = 0
    while best.residual > tol and done < rounds:
        if done and done % _EPOCH == 0:  # perhaps the wrong ones are held: let all move, and choose again
            held[:] = False
            r, _, _, _ = sweeper(arrays, tables)(best.forces, 0.1 * tol, 4 * _SWEEPS)
        done += 1
        error = contact_errors(arrays, r, w @ r + arrays.b) / size_of(arrays, r)
        if done % _EPOCH == 1 or done % 5 == 0:  # those that still move after many sweeps
            held |= error > max(tol, 1e-2 * float(error.max()))
        r, solved = _mended(arrays, w, touching, held, r, tol, rng)
        held &= solved  # what could not be solved apart is swept like all others
        r, _, _, _ = sweeper(arrays, tables, held=held)(r, 0.1 * tol, _SWEEPS)
        found = candidate_of(arrays, r, "alternating", done)
        best = found if found.residual < best.residual else best
    return best


def _mended(
    arrays: FrictionArrays, w: Any, touching: Any, held: NDArray[np.bool_], r: Floats, tol: float,
    rng: np.random.Generator,
) -> tuple[Floats, NDArray[np.bool_]]:  # fmt: skip
    """Return the forces after Newton's method on each cluster, and which contacts were in one that it solved."""
    r, solved = r.copy(), np.zeros(arrays.count, dtype=bool)
    for cluster in _clusters(touching, held, arrays.layout[:, 1]):
        rows = _rows_of(arrays, cluster)
        block = w[rows][:, rows].toarray()
        q = (w[rows] @ r) + arrays.b[rows] - block @ r[rows]
        found = _solve_cluster(arrays, cluster, rows, block, q, r[rows], tol, rng)
        if found is not None:
            r[rows] = found
            solved[cluster] = True
    return r, solved


def _adjacency(arrays: FrictionArrays, w: Any) -> Any:
    """(k, k) csr: which contacts feel each other."""
    from scipy.sparse import csr_array

    owner = np.repeat(np.arange(arrays.count), arrays.layout[:, 1])
    entry = w.tocoo()
    return csr_array((np.ones(entry.nnz), (owner[entry.row], owner[entry.col])), shape=(arrays.count,) * 2)


def _clusters(touching: Any, bad: NDArray[np.bool_], size: Ints) -> list[Ints]:
    """The connected groups of bad contacts with their neighbours; without them where they would be too many."""
    from scipy.sparse.csgraph import connected_components

    found = []
    for ring in (True, False):
        members = np.flatnonzero((touching @ bad.astype(float) > 0) | bad) if ring else np.flatnonzero(bad)
        if not members.size:
            break
        _, label = connected_components(touching[members][:, members], directed=False)
        for k in range(label.max() + 1):
            group = members[label == k]
            if size[group].sum() <= _LARGEST_CLUSTER and bad[group].any():
                found.append(group)
                bad = bad & ~np.isin(np.arange(len(bad)), group)
    return found


def _rows_of(arrays: FrictionArrays, cluster: Ints) -> Ints:
    return np.concatenate([a + np.arange(size) for a, size in arrays.layout[cluster, :2]])


def _solve_cluster(
    arrays: FrictionArrays, cluster: Ints, rows: Ints, block: Floats, q: Floats, start: Floats, tol: float,
    rng: np.random.Generator,
) -> Floats | None:  # fmt: skip
    """Newton's method from the present forces, from none, and from random ones; None if nothing is found."""
    scale, unit = arrays.row_scale[rows], arrays.unit[rows]
    wt, b = np.ascontiguousarray((block / scale[:, None] / scale).T), q / scale / arrays.cause
    layout, law = arrays.layout[cluster].copy(), np.ascontiguousarray(arrays.scaled_law[cluster])
    layout[:, 0] = np.cumsum(layout[:, 1]) - layout[:, 1]
    f, pq, active = np.zeros(len(rows)), np.zeros((len(cluster), 2, 3, 3)), np.zeros(len(cluster) + 1, np.int64)
    u = np.zeros(len(rows))
    for attempt in range(_STARTS):
        x = start / unit if attempt == 0 else np.zeros(len(rows))
        if attempt > 1:
            x = rng.normal(size=len(rows)) * float(np.abs(b).max(initial=0.0))
        newton_dense(wt, b, layout, law, x, 0.01 * tol, 60)
        motion.entry(wt, b, x, u)
        if natural_map(layout, law, x, u, f, pq, active) ** 0.5 <= 0.1 * tol:
            return np.asarray(x * unit)
    return None
