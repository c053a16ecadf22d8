"""From arcs and singular points to the result: numbers, joints, curves, components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.curves.charts import DEGREE, TRANSFORM
from zwang._numerics.curves.starts import evaluate_many
from zwang._numerics.jit import with_functions
from zwang._results.configuration import ArcEnd, Branch, HalfBranch, SingularPoint
from zwang._trace.arcs import UNCOUNTED, RawArc
from zwang._trace.local_structure import LocalStructure
from zwang._trace.space_equations import SpaceEquations, SpacePlace

Array = NDArray[np.float64]
NOTHING = 1e-20
"""Part of a coordinate's scale below which it is zero: points are refined with more digits than doubles have."""

LEAST = 2
"""Times that a multiple arc counts at least."""


def _plain(q: Array, scale: Array) -> Array:
    """Return a place whose coordinates that only rounding keeps from zero are zero."""
    return np.where(np.abs(q) <= NOTHING * scale, 0.0, q)


def _derivative() -> Any:
    """Return the matrix from Chebyshev coefficients to values of the derivative at the nodes."""
    nodes = -np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
    eye = np.eye(DEGREE + 1)
    columns = [
        np.polynomial.chebyshev.chebval(nodes, np.polynomial.chebyshev.chebder(eye[k])) for k in range(DEGREE + 1)
    ]
    return np.array(columns, dtype=float).T


SLOPES = _derivative()
INTEGRAL = np.array(
    [
        np.resize(np.polynomial.chebyshev.chebint(np.eye(DEGREE + 1)[k][:DEGREE], lbnd=-1), DEGREE + 1)
        for k in range(DEGREE)
    ]
).T


def lengths_of(pieces: Array) -> Array:
    """Return the Chebyshev coefficients of the length since the start of the arc, for pieces (p, d + 1, n)."""
    speed = np.linalg.norm(np.einsum("ik,pkj->pij", SLOPES, pieces), axis=2)
    found = (speed @ TRANSFORM.T)[:, :DEGREE] @ INTEGRAL.T
    totals = found.sum(axis=1)
    found[:, 0] += np.concatenate([[0.0], np.cumsum(totals)[:-1]])
    return np.asarray(found)


def branches_of(equations: SpaceEquations, t: float, arcs: Sequence[RawArc], components: Sequence[int]) -> list[Branch]:
    """Return the arcs of the result."""
    return [
        Branch(
            number=number,
            coordinates=equations.names,
            t=t,
            pieces=arc.pieces,
            lengths=lengths_of(arc.pieces),
            ends=(_end(equations, arc.start), _end(equations, arc.end)),
            multiplicity=LEAST if arc.multiplicity == UNCOUNTED else arc.multiplicity,
            component=components[number],
        )
        for number, arc in enumerate(arcs)
    ]


def _end(equations: SpaceEquations, end: tuple[str, int, int]) -> ArcEnd:
    kind, place, half = end
    if kind == "singular":
        return ArcEnd(kind, place)
    if kind == "contact":
        return ArcEnd(kind, None, str(equations.gaps[place].name))
    if kind in ("box", "far"):
        return ArcEnd(kind, None, equations.names[place])
    return ArcEnd(kind, place if half == -1 and place >= 0 else None)


def state_of(equations: SpaceEquations, q: Array, t: float) -> dict[str, float]:
    """Return a state at rest."""
    found = {name: float(value) + 0.0 for name, value in zip(equations.names, q, strict=True)}
    return found | {f"v_{name}": 0.0 for name in equations.names} | {"t": t}


def _owners(arcs: Sequence[RawArc]) -> dict[tuple[int, int], tuple[int, int]]:
    """Return (singular point, half-branch) -> (arc, end)."""
    owners: dict[tuple[int, int], tuple[int, int]] = {}
    for number, arc in enumerate(arcs):
        for which, (kind, point, half) in enumerate((arc.start, arc.end)):
            if kind == "singular":
                owners[point, half] = (number, which)
    return owners


def gap_of(values: Array, rank: int) -> tuple[float, float]:
    """Return the singular values on both sides of a rank: of points (k, m) the least above and the largest below."""
    rows = np.atleast_2d(values)
    above = float(rows[:, rank - 1].min(initial=np.inf)) if rank else float("inf")
    return above, float(rows[:, rank].max(initial=0.0)) if rank < rows.shape[1] else 0.0


def points_of(
    place: SpacePlace, found: Sequence[LocalStructure], arcs: Sequence[RawArc], rank: int, components: Sequence[int]
) -> list[SingularPoint]:
    """Return the singular points of the result, with the arc and end of each half-branch."""
    owners = _owners(arcs)
    result = []
    for number, local in enumerate(found):
        halves = []
        for k, branch in enumerate(local.half_branches):
            owner = owners.get((number, k))
            arc_number, end = (None, 0) if owner is None else owner
            halves.append(HalfBranch(arc=arc_number, end=end, tangent=branch.tangent, curve=branch.curve))
        result.append(
            SingularPoint(
                number=number,
                state=state_of(place.equations, _plain(local.q, place.scale), place.t),
                kind=local.kind,
                tangents=local.tangents,
                order=local.order,
                branches=tuple(halves),
                rank=local.rank,
                generic_rank=rank,
                tolerance=local.tolerance,
                component=components[number],
                note=local.note,
                gap=gap_of(local.frame.values, local.rank),
            )
        )
    return result


def paths_of(found: Sequence[LocalStructure], arcs: Sequence[RawArc]) -> list[tuple[int, ...]]:
    """Return maximal smooth paths: arcs joined where two half-branches are halves of one smooth curve."""
    owners = _owners(arcs)
    joints: dict[tuple[int, int], tuple[int, int]] = {}
    for (point, half), owner in owners.items():
        branch = found[point].half_branches[half]
        other = owners.get((point, branch.partner))
        if branch.root == 1 and branch.partner != half and other is not None:
            joints[owner] = other
    left = set(range(len(arcs)))
    paths: list[tuple[int, ...]] = []
    # First those that start at a loose end, then rings.
    starts = [(k, e) for k in range(len(arcs)) for e in (0, 1) if (k, e) not in joints]
    for start in [*starts, *((k, 0) for k in range(len(arcs)))]:
        if start[0] not in left:
            continue
        path: list[int] = []
        here, entry = start
        while here in left:
            left.discard(here)
            path.append(here)
            step = joints.get((here, 1 - entry))
            if step is None:
                break
            here, entry = step
        paths.append(tuple(path))
    return sorted(paths)


def components_of(count: int, arcs: Sequence[RawArc]) -> tuple[list[int], list[int]]:
    """Return the component of each arc and of each of `count` singular points."""
    parent = list(range(len(arcs) + count))

    def root(k: int) -> int:
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    for number, arc in enumerate(arcs):
        for kind, point, _ in (arc.start, arc.end):
            if kind == "singular" or (kind == "stopped" and point >= 0):
                parent[root(number)] = root(len(arcs) + point)
    numbers: dict[int, int] = {}
    every = [numbers.setdefault(root(k), len(numbers)) for k in range(len(parent))]
    return every[: len(arcs)], every[len(arcs) :]


def residual_of(place: SpacePlace, arcs: Sequence[RawArc], points: Sequence[Array]) -> float:
    """Return the largest value of the constraints, over their gradients where these exceed one, at many points."""
    u = np.array([-0.97, -0.4, 0.13, 0.71])
    basis = np.polynomial.chebyshev.chebvander(u, DEGREE)
    rows = [np.einsum("ik,pkj->pij", basis, arc.pieces).reshape(-1, place.equations.n) for arc in arcs]
    rows += [np.asarray(points).reshape(-1, place.equations.n)]
    q = np.ascontiguousarray(np.concatenate(rows))
    if not len(q):
        return 0.0
    e = place.equations
    out = np.empty((len(q), (e.m + e.g) * (e.n + 1)))
    work = place.workspace(e.plain, "plain")
    with_functions(evaluate_many, *e.plain.calls)(place.t, q, e.plain.table, place.params, work, out)
    slopes = out[:, e.m + e.g : e.m + e.g + e.m * e.n].reshape(len(q), e.m, e.n)
    # Where an expression is steep its rounding errors are large, and mean little: they count as distances there.
    size = np.maximum(1.0, np.linalg.norm(slopes, axis=2))
    return float((np.abs(out[:, : e.m]) / size).max(initial=0.0))
