"""Multiple components: points at which the equations have a lower rank than the set has codimension, made regular.

Where a curve counts twice the rank of f' is too low all along it, and Newton's method crawls. The equations together
with a direction that they leave free,

    f(q) = 0,    f'(q) v = 0,    v = b + B l,

lower the multiplicity (Leykin, Verschelde, Zhao 2006): b lies in the kernel at a point of the curve, B spans what is
perpendicular to it, so that l is determined. Where the rank is still too low the same is done with these equations. The
kernel turns along a curve: b and B are good as long as l is not large.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from zwang._derive.program import Program
from zwang._numerics.tolerances import THRESHOLDS
from zwang._trace.local_reduction import frame, reduce
from zwang._trace.space_equations import SpaceEquations, SpacePlace

Array = NDArray[np.float64]
DEEPEST, LARGEST = 3, 60
"""How often equations are deflated, each time with a lower multiplicity; how many unknowns they may have then."""
NEAR = 0.05
"""How far, in units of the scales, a point of a multiple component may lie from where Newton's method gave up."""
GAP = THRESHOLDS.dependent
"""Singular values below this part of the largest are zero at a point that is known to rounding."""
EXACT = 1e-12
"""Residual and last step of a point that is known to rounding, scaled."""
ROUNDING, CLOSEST = 1e-12, 0.1
"""Coefficients of reduced equations that are rounding, and how close to a curve others may be for that."""
DEGREES = {1: 16, 2: 10}
"""Of the series that tell whether a set is smooth, by its dimension; 4 for others."""
LIKELY = 3
"""Ranks that are tried at a point that is not known to rounding."""


class DeflatedEquations(SpaceEquations):
    """f = 0 and f' v = 0 with v = b + B l, as equations for q and l; b and B come after the parameters."""

    def __init__(self, base: SpaceEquations, rank: int) -> None:
        self.base, self.rank = base, rank
        self.system, self.backend, self.dialect = base.system, base.backend, base.dialect
        self.held, self.gaps, self.ignored, self.timed = base.held, base.gaps, base.ignored, base.timed
        self.n, self.m, self.g = base.n + rank, 2 * base.m, base.g
        self.names = (*base.names, *(f"l{k}" for k in range(rank)))
        self.angles = np.concatenate([base.angles, np.zeros(rank, dtype=bool)])
        self.quaternions = base.quaternions

    @cached_property
    def program(self) -> Program:
        """The graph of the constraints and of their derivatives along v."""
        given, n, rank = self.base.program, self.base.n, self.rank
        graph = given.graph
        free = [graph.input(f"q{n + k}") for k in range(rank)]
        first = len(given.params)
        frames = [graph.input(f"p{first + k}") for k in range(n * (rank + 1))]
        seeds = {}
        for j, node in enumerate(given.q):
            row = frames[j * (rank + 1) : (j + 1) * (rank + 1)]
            seeds[node] = graph.add(row[0], *(graph.mul(a, b) for a, b in zip(row[1:], free, strict=True)))
        values, gaps = self.base.nodes[: self.base.m], self.base.nodes[self.base.m :]
        self._nodes = [*values, *graph.forward(values, seeds), *gaps]
        params = [*given.params, *frames]
        return Program(graph, given.t, [*given.q, *free], [], params, {}, [], [], [], [], given.energies)


def deflated_equations(base: SpaceEquations, rank: int) -> SpaceEquations:
    """Return the equations deflated at a rank, the same object each time."""
    found = base.deflated.get(rank)
    if found is None:
        found = base.deflated[rank] = DeflatedEquations(base, rank)
    return found


@dataclass(frozen=True, eq=False)
class Deflation:
    """A point of a multiple component, to rounding, with equations that are regular there.

    Attributes
    ----------
    place : SpacePlace
        The deflated equations, with b and B.
    q : (n + ...,) array
        The point; its coordinates first.
    ranks : tuple of int
        Of the equations as they were declared, and of those deflated again and again; `rank` is the last one.
    """

    place: SpacePlace
    q: Array
    ranks: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Of the deflated equations."""
        return self.ranks[-1]

    @property
    def multiple_rank(self) -> int:
        """Of the equations as they were declared."""
        return self.ranks[0]

    @property
    def dimension(self) -> int:
        """Of the component."""
        return len(self.q) - self.rank

    def at(self, q: Array) -> Array | None:
        """Return another point of the component with its free numbers; None where its kernel has turned too far."""
        found = np.concatenate([q, np.zeros(len(self.q) - len(q))])
        for _ in range(DEEPEST + 2):
            values, rows = self.place.values(found)
            if np.abs(values).max(initial=0.0) <= EXACT:
                return found
            found[len(q) :] -= np.linalg.lstsq(rows[:, len(q) :], values, rcond=GAP)[0]
        return None


def deflated(place: SpacePlace, q: Array, rank: int | None = None, depth: int = DEEPEST) -> Deflation | None:
    """Return the point of a multiple component next to q; None where there is none.

    Parameters
    ----------
    rank : int, optional
        Of the equations on the component, where it is known.
    """
    _, rows = place.values(q)
    if not np.isfinite(rows).all() or depth == 0 or (depth < DEEPEST and len(q) + (rank or 0) > LARGEST):
        return None
    _, values, right = np.linalg.svd(rows)
    for likely in _ranks(values, place.equations.n) if rank is None else [rank]:
        lifted = _lifted(place, q, right, likely)
        found = _polished(*lifted)
        if found is None or np.abs((found - lifted[1]) / lifted[0].scale)[: len(q)].max() > NEAR:
            continue
        sizes = np.linalg.svd(place.values(found[: len(q)])[1], compute_uv=False)
        if sizes[likely:].max(initial=0.0) > GAP or sizes[likely - 1 : likely].min(initial=1.0) <= GAP:
            continue
        sizes = np.linalg.svd(lifted[0].values(found)[1], compute_uv=False)
        higher = int(np.count_nonzero(sizes > GAP * max(1.0, sizes[0])))
        if _is_smooth(lifted[0], found, higher):
            return Deflation(lifted[0], found, (likely, higher))
        deeper = deflated(lifted[0], found, higher, depth - 1)
        if deeper is not None:
            return Deflation(deeper.place, deeper.q, (likely, *deeper.ranks))
    return None


def deflated_along(place: SpacePlace, q: Array, ranks: tuple[int, ...]) -> Deflation | None:
    """Return the point next to q of a component on which the ranks are known; None where it isn't reached.

    Near a singular point rounding hides from the series at one point that they are those of a smooth curve: what was
    seen farther away holds all along it.
    """
    found = q
    for rank in ranks[:-1]:
        _, rows = place.values(found)
        if not np.isfinite(rows).all():
            return None
        lifted, start = _lifted(place, found, np.linalg.svd(rows)[2], rank)
        polished = _polished(lifted, start)
        if polished is None or np.abs((polished - start) / lifted.scale)[: len(q)].max() > NEAR:
            return None
        place, found = lifted, polished
    return Deflation(place, found, ranks)


def _is_smooth(place: SpacePlace, q: Array, rank: int) -> bool:
    """Say whether the set is smooth at a point, of the dimension that the rank says."""
    free = len(q) - rank
    if free == 0:
        return True
    # Curves that touch closely, or many that cross, look smooth for some degrees; rounding grows with them.
    reduced = reduce(frame(place, q, rank), DEGREES.get(free, 4))
    return bool((np.abs(reduced.coefficients) <= ROUNDING / CLOSEST**reduced.monomials.totals).all())


def _ranks(values: Array, n: int) -> list[int]:
    """Return ranks too low for a curve that the singular values may stand for, those with the widest gap first."""
    sizes = np.concatenate([[max(float(values.max(initial=0.0)), 1.0)], values, np.zeros(max(n - len(values), 0))])
    ratios = sizes[:-1] / np.maximum(sizes[1:], 1e-9)
    likely = [int(rank) for rank in np.argsort(-ratios, kind="stable") if rank < n - 1 and ratios[rank] > 10]
    return likely[:LIKELY]


def _lifted(place: SpacePlace, q: Array, right: Array, rank: int) -> tuple[SpacePlace, Array]:
    """Return the equations deflated at a point with a kernel (rows of `right` from `rank` on), and the point there."""
    kernel, across = right[rank:], right[:rank]
    # A direction in general position: none that the constraints single out.
    weights = np.cos(1.0 + 2.0 * np.arange(len(kernel)))
    b = weights @ kernel / np.linalg.norm(weights)
    frames = place.scale[:, None] * np.column_stack([b, across.T])
    lifted = SpacePlace(
        deflated_equations(place.equations, rank),
        np.concatenate([place.params, frames.ravel()]),
        place.t,
        np.concatenate([place.scale, np.ones(rank)]),
        np.concatenate([place.weights, place.weights]),
    )
    return lifted, np.concatenate([q, np.zeros(rank)])


def _polished(place: SpacePlace, q: Array) -> Array | None:
    """Return the point next to q where the equations hold, None if Newton's method does not settle there."""
    for last in _steps(place, q):
        q = q + place.scale * last
        size = float(np.abs(last).max(initial=0.0))
        if size <= EXACT * 1e-2 * (1 + float(np.abs(q / place.scale).max())):
            values, _ = place.values(q)
            return q if np.abs(values).max(initial=0.0) <= EXACT else None
        if size > 1.0:
            return None
    return None


def _steps(place: SpacePlace, q: Array) -> Iterator[Array]:
    for _ in range(15):
        values, rows = place.values(q)
        if not (np.isfinite(values).all() and np.isfinite(rows).all()):
            return
        step = -np.linalg.lstsq(rows, values, rcond=GAP)[0]
        q = q + place.scale * step
        yield np.asarray(step)
