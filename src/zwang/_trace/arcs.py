"""Arcs: followed from singular points and from points of the set, as rows of Chebyshev pieces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import NDArray

from zwang._numerics.budget import spend
from zwang._numerics.curves.charts import ARRIVED, CLOSED, DEGREE, FULL, LEFT, STUCK, TOUCHED
from zwang._numerics.curves.coverage import mark_covered
from zwang._numerics.curves.follow import FollowedArc, StepBounds, follow
from zwang._numerics.identified import between, quaternions_in
from zwang._numerics.jit import with_functions
from zwang._trace.local_series import coefficients_of, piece_of
from zwang._trace.local_structure import LocalBranch
from zwang._trace.sampling import Solver
from zwang._trace.singular_search import SingularPoints

Array = NDArray[np.float64]
MOST_PIECES = 2000  # of an arc; a closed curve has some hundred
LONGEST = 0.8  # of a step, in scaled coordinates: radians, or parts of the box
UNCOUNTED = 0
"""Multiplicity of an arc that is known to be multiple and nothing else."""
DIP = 0.35  # of the usual size of a singular value: a place to look at


@dataclass(eq=False)
class RawArc:
    """An arc as it was followed: pieces (p, d + 1, n) in the declared coordinates, and its two ends.

    An end is (kind, number of the singular point or of the bound, number of the half-branch); `dips` are places where
    a singular point may be.
    """

    pieces: Array
    start: tuple[str, int, int]
    end: tuple[str, int, int]
    dips: Array = field(default_factory=lambda: np.zeros((0, 0)))
    multiplicity: int = 1


class Charts(NamedTuple):
    """Charts of an arc: their nodes (p, d + 1, n), how strong the rows are there, why it ended and where."""

    nodes: Array
    sigma: Array
    status: int
    which: int


class Follower:
    """Follows arcs of one configuration space."""

    def __init__(self, solver: Solver, points: SingularPoints) -> None:
        self.solver, self.points = solver, points
        self.region = points.region
        place = solver.place
        self.limits = np.ascontiguousarray(self.region.limits(place.scale))
        free = place.equations.angles & ~self.region.boxed
        self.limits[0, free], self.limits[1, free] = -np.inf, np.inf

    def _charts(self, x: Array, forward: Array, closing: bool) -> Charts:
        return self._run(self.solver, x, forward, x, int(closing), self.limits)

    def _run(self, s: Solver, x: Array, forward: Array, target: Array, closing: int, limits: Array) -> Charts:
        """Return the charts from x on, in the coordinates of a solver, of which the space's come first."""
        count, n = len(self.points.found), self.solver.equations.n
        centres = np.array([local.q / self.solver.place.scale for local in self.points.found]).reshape(count, n)
        radii = np.array([self.points.radius(k) for k in range(count)])
        pieces, weakest = np.empty((256, DEGREE + 1, len(x))), np.empty((256, DEGREE + 1))
        report = np.zeros(2, dtype=np.int64)
        bounds = StepBounds(centres, radii, s.identified, limits, target)
        rows: list[Array] = []
        sigmas: list[Array] = []
        total, first, step = 0, x, np.array([0.05, LONGEST])
        loop = with_functions(follow, *s.equations.plain.calls)
        while True:
            charts = FollowedArc(pieces, weakest, report)
            made = loop(s.given, first, forward, s.rank, bounds, step, 2 * closing if total else closing, charts)
            spend(made, made * pieces[0].nbytes)
            rows.append(pieces[:made].copy())
            sigmas.append(weakest[:made].copy())
            total += made
            if report[0] != FULL or total >= MOST_PIECES or made == 0:
                break
            last = pieces[made - 1]
            first, forward = last[-1].copy(), last[-1] - last[-2]
            forward = forward / np.linalg.norm(forward)
        nodes = np.concatenate(rows)
        status = STUCK if report[0] == FULL else int(report[0])
        return Charts(nodes, np.concatenate(sigmas), status, int(report[1]))

    def _coefficients(self, nodes: Array) -> Array:
        return coefficients_of(nodes) * self.solver.place.scale

    def polished(self, x: Array) -> Array | None:
        """Return the point of a curve next to a point of the sample, None if there is none."""
        found = self.solver.project(x[None]).x
        return found[0] if len(found) else None

    def through(self, x: Array) -> RawArc | None:
        """Return the arc through a point of the set."""
        forward = self._tangent(x)
        if forward is None:
            return None
        nodes, sigma, status, which = self._charts(x, forward, closing=True)
        if status == CLOSED:
            ends = ("closed", -1, -1)
            return RawArc(self._coefficients(nodes), ends, ends, self._dips(nodes, sigma))
        last, tail = self._end(nodes, status, which, x)
        back, sigma_back, status, which = self._charts(x, -forward, closing=False)
        first, head = self._end(back, status, which, x)
        parts = [_reversed(part) for part in (head, self._coefficients(back)) if len(part)]
        pieces = np.concatenate([*parts, self._coefficients(nodes), tail])
        dips = np.concatenate([self._dips(back, sigma_back), self._dips(nodes, sigma)])
        return RawArc(pieces, first, last, dips) if len(pieces) else None

    def out_of(self, number: int, half: int) -> RawArc:
        """Return the arc that leaves a singular point along one of its half-branches."""
        branch = self.points.found[number].half_branches[half]
        start = ("singular", number, half)
        tau, bound = self._allowed(branch)
        place = self.solver.place
        first = piece_of(branch.q, place.scale, branch.series, 0.0, tau).position[None]
        if bound is not None:
            return RawArc(first, start, bound)
        x = branch.at(tau) / place.scale
        slope: Array = np.asarray(polynomial.polyval(tau, polynomial.polyder(branch.series)), dtype=float)
        nodes, sigma, status, which = self._charts(x, slope / np.linalg.norm(slope), closing=False)
        end, tail = self._end(nodes, status, which, x)
        pieces = np.concatenate([first, self._coefficients(nodes), tail])
        return RawArc(pieces, start, end, self._dips(nodes, sigma))

    def _allowed(self, branch: LocalBranch) -> tuple[float, tuple[str, int, int] | None]:
        """Return up to which tau a half-branch stays in the box, and the bound that it meets, if any."""
        for tau in np.linspace(0, branch.reach, 33)[1:]:
            if self._margin(branch.at(tau))[0] < -1e-13:
                low, high = 0.0, float(tau)
                for _ in range(60):
                    middle = (low + high) / 2
                    low, high = (low, middle) if self._margin(branch.at(middle))[0] < 0 else (middle, high)
                return max(low, 1e-9), self._bound_end(self._margin(branch.at(high))[1])
        return branch.reach, None

    def _margin(self, q: Array) -> tuple[float, int]:
        x = q / self.solver.place.scale
        gaps, rows = self.solver.place.gaps(q)
        sizes = np.abs(rows) @ self.solver.place.scale
        gaps = gaps / np.where(sizes > 0, sizes, 1.0)
        every = np.concatenate([np.stack([x - self.limits[0], self.limits[1] - x], axis=1).ravel(), gaps])
        return float(every.min(initial=np.inf)), int(np.argmin(every))

    def _bound_end(self, which: int) -> tuple[str, int, int]:
        n = self.solver.equations.n
        if which >= 2 * n:
            return ("contact", which - 2 * n, -1)
        return ("box" if self.region.boxed[which // 2] else "far", which // 2, -1)

    def _end(self, nodes: Array, status: int, which: int, x: Array) -> tuple[tuple[str, int, int], Array]:
        """Return the end of an arc and the pieces that lead to it."""
        n = self.solver.equations.n
        nothing = np.zeros((0, DEGREE + 1, n))
        if status in (LEFT, TOUCHED):
            return self._bound_end(which), nothing
        if status == ARRIVED:
            last = nodes[-1, -1] if len(nodes) else x
            return self._arrival(last * self.solver.place.scale, which)
        return ("stopped", -1, -1), nothing

    def _arrival(self, q: Array, number: int) -> tuple[tuple[str, int, int], Array]:
        """Return the half-branch of a singular point on which q lies, and the piece from q to the point."""
        local, scale = self.points.found[number], self.solver.place.scale
        # The arc comes to what stands for the point: by full turns elsewhere, or quaternions of the other sign.
        near, turned = q + between(q / scale, local.q / scale, self.solver.identified) * scale, np.ones(len(q))
        for part in quaternions_in(self.solver.identified):
            turned[part] = np.sign(near[part] @ local.q[part])
        shift = near - turned * local.q
        best, found, where = 1e-8, -1, 0.0
        for k, half in enumerate(local.half_branches):
            tau, miss = _nearest(half, turned * (q - shift), scale)
            if miss < best:
                best, found, where = miss, k, tau
        if found < 0:
            return ("stopped", number, -1), np.zeros((0, DEGREE + 1, len(q)))
        half = local.half_branches[found]
        piece = piece_of(turned * half.q + shift, scale, turned * half.series, where, 0.0).position
        return ("singular", number, found), piece[None]

    def _tangent(self, x: Array) -> Array | None:
        _, rows = self.solver.place.values(x * self.solver.place.scale)
        _, values, right = np.linalg.svd(rows)
        rank = self.solver.rank
        if len(right) - rank < 1 or (rank > 0 and values[rank - 1] < 1e-9):
            return None
        return np.ascontiguousarray(right[rank])

    def look(self, arc: RawArc) -> int:
        """Look for singular points where the rank nearly dropped along an arc; return how many new ones there are."""
        return self.points.search(arc.dips)

    def _dips(self, nodes: Array, sigma: Array) -> Array:
        """Return the places (in x) where the rank nearly drops."""
        if not len(nodes):
            return np.zeros((0, nodes.shape[2]))
        flat, where = sigma.ravel(), nodes.reshape(-1, nodes.shape[2])
        typical = np.median(flat)
        low = (flat[1:-1] <= flat[:-2]) & (flat[1:-1] <= flat[2:]) & (flat[1:-1] < DIP * typical)
        kept = [int(place) for place in 1 + np.flatnonzero(low)]
        for end in (0, len(flat) - 1):
            if flat[end] < DIP * typical:
                kept.append(end)
        return np.asarray(where[kept])

    def covered(self, arcs: list[RawArc], x: Array) -> NDArray[np.bool_]:
        """Say which points (k, n), in x, lie on arcs."""
        marks = np.zeros(len(x), dtype=bool)
        for arc in arcs:
            pieces = np.ascontiguousarray(arc.pieces / self.solver.place.scale)
            mark_covered(pieces, np.ascontiguousarray(x), self.solver.identified, marks)
        return marks


def _reversed(pieces: Array) -> Array:
    signs = (-1.0) ** np.arange(pieces.shape[1])
    return np.asarray(pieces[::-1] * signs[:, None])


def _nearest(half: LocalBranch, q: Array, scale: Array) -> tuple[float, float]:
    """Return the parameter at which a half-branch is nearest to q, and how far it is, in x."""
    target = (q - half.q) / scale
    grid = np.linspace(0, half.reach, 201)
    values = polynomial.polyval(grid, half.series)
    tau = float(grid[np.argmin(((values.T - target) ** 2).sum(axis=1))])
    first = polynomial.polyder(half.series)
    for _ in range(20):
        miss = target - polynomial.polyval(tau, half.series)
        slope: Array = np.asarray(polynomial.polyval(tau, first), dtype=float)
        square = float(slope @ slope)
        if square == 0:
            break
        step = float(miss @ slope) / square
        tau = min(max(tau + step, 0.0), half.reach)
        if abs(step) <= 1e-16:
            break
    return tau, float(np.abs(target - polynomial.polyval(tau, half.series)).max())
