"""The sampled search: points from many starts, singular points, arcs between them, until nothing new turns up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.identified import distinct
from zwang._results import Provenance
from zwang._results.configuration import ConfigurationSpace, TraceStatus
from zwang._trace import result_graph
from zwang._trace.arcs import UNCOUNTED, Follower, RawArc
from zwang._trace.assemblies import can_move, polished
from zwang._trace.emptiness import why_empty
from zwang._trace.local_reduction import frame, reduce
from zwang._trace.multiple_arcs import MultipleFollower
from zwang._trace.recapture import DOUBLINGS, OFTEN, met_components, unseen
from zwang._trace.sampling import RANK, Region, Solver, placed, starts_in
from zwang._trace.singular_search import SingularPoints
from zwang._trace.space_equations import SpaceEquations

Array = NDArray[np.float64]
ROUNDS = 8  # of starts from what was found
SAME = 1e-6  # scaled: places of one point
DOUBLE = 1e-4  # scaled: where a singular point may be two
APART = 1e-3  # scaled: how far from a singular point slow convergence has another reason
AROUND = 0.25  # of what isolated points span: how far beyond it further starts are
VAIN = 20  # doubtful points in a row that are on no multiple curve


class SampledSearch:
    """One sampled search with all that it found."""

    def __init__(
        self,
        equations: SpaceEquations,
        params: Array,
        t: float,
        region: Region,
        scale: Array,
        seed: int,
        starts: int | None = None,
        extra: Array | None = None,
    ) -> None:
        self.equations, self.region = equations, region
        self.source = np.random.default_rng(seed)
        self.count = starts or min(100 + 50 * equations.n, 1000)
        self.starts = starts_in(region, equations.angles, self.count, self.source)
        # Typical places say what is large; those of `extra` are not typical.
        self.place = placed(equations, params, t, scale, self.starts)
        # Where an exhaustive search found something that random starts had missed.
        self.extra = np.zeros((0, equations.n)) if extra is None else extra
        self.starts = np.concatenate([self.extra, self.starts])
        self.asked = starts is not None
        self.unseen = float("nan")
        self.solver = Solver(self.place, region.either)
        self.points = SingularPoints(self.solver, region)
        self.outside = 0
        self.seen: list[tuple[Array, NDArray[np.int64]]] = []  # singular values of regular points, with their ranks
        self._sample: tuple[Array, NDArray[np.int64], NDArray[np.bool_]] | None = None
        self.notes: list[str] = []
        self.arcs: list[RawArc] = []
        self.factors: Any = None  # where constraints are squares: how often their factors count

    def sample(self) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_]]:
        """Return points of the set in the box (in x), the rank at each, and whether Newton's method settled there."""
        if self._sample is None:
            self._sample = self.from_starts(self.starts)
        return self._sample

    def more(self) -> Array:
        """Return further points on curves, from as many starts again as there were."""
        starts = starts_in(self.region, self.equations.angles, len(self.starts), self.source)
        self.starts = np.concatenate([self.starts, starts])
        x, ranks, settled = self.from_starts(starts)
        return np.asarray(x[settled & (ranks == self.equations.n - 1)])

    @property
    def squared(self) -> bool:
        """Whether Newton's method is slow at many points, as it is where equations are squares."""
        _, _, settled = self.sample()
        return bool(len(settled)) and bool(np.count_nonzero(~settled) > 0.2 * len(settled))

    def doubtful(self) -> Array:
        """Return the points, in x, at which Newton's method is slow and that are no singular points next to others."""
        x, _, settled = self.sample()
        left = np.concatenate([np.array(self.points.multiple).reshape(-1, x.shape[1]) / self.place.scale, x[~settled]])
        places = [local.q / self.place.scale for local in self.points.found]
        away = [min((self.points.distance(row, at) for at in places), default=np.inf) for row in left]
        return np.asarray(left[np.array(away) > APART])

    def from_starts(self, starts: Array) -> tuple[Array, NDArray[np.int64], NDArray[np.bool_]]:
        """Return points of the set in the box (in x) that starts lead to, with ranks and whether they settled."""
        e, scale = self.equations, self.place.scale
        # Thirty steps: at a simple root Newton's method is done by then, at a multiple one it is still on its way.
        found = self.solver.project(starts / scale, most=30, every=True)
        q = self.region.upright(self.region.shifted(found.x * scale, e.angles))
        keep = self.region.holds(q, e.angles)
        limits = self.region.limits(scale)
        turning = e.angles & ~self.region.boxed
        keep &= (((q / scale >= limits[0]) & (q / scale <= limits[1])) | turning).all(axis=1)
        if e.g:
            keep &= np.array([bool((self.place.gaps(row)[0] >= 0).all()) for row in q], dtype=bool)
        top = np.maximum(found.values.max(axis=1, initial=0.0), 1.0)
        ranks = (found.values > RANK * top[:, None]).sum(axis=1)
        self.outside += int((~keep).sum())
        settled = found.settled[keep] & self._manifold(q[keep], ranks[keep])
        self.seen.append(((found.values / top[:, None])[keep][settled], ranks[keep][settled]))
        return q[keep] / scale, ranks[keep], settled

    def gap(self, rank: int) -> tuple[float, float]:
        """Return the singular values on both sides of a rank at the points that have it."""
        rows = [values[ranks == rank] for values, ranks in self.seen]
        return result_graph.gap_of(np.concatenate(rows), rank) if any(map(len, rows)) else (float("inf"), 0.0)

    def _manifold(self, q: Array, ranks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say where the set is a manifold of the dimension that the rank says; asked where that is more than one."""
        fine = np.ones(len(q), dtype=bool)
        for rank in np.unique(ranks[ranks < self.equations.n - 1]):
            here = np.flatnonzero(ranks == rank)
            asked = [bool(len(reduce(frame(self.place, q[k], int(rank)), 4).coefficients)) for k in here[:3]]
            fine[here] = not any(asked)
        return fine

    def distinct(self, x: Array, near: float = SAME) -> Array:
        """Return points that stand for different configurations."""
        return distinct(x, self.solver.identified, near)


def traced(search: SampledSearch) -> ConfigurationSpace:
    """Return the configuration space as far as the sampled search finds it."""
    e = search.equations
    x, ranks, settled = search.sample()
    on_curves = settled & (ranks == e.n - 1)
    rigid = settled & (ranks == e.n)
    wide = settled & (ranks < e.n - 1)
    double = x[:0]
    if e.m >= e.n and (ranks == e.n - 1).any():
        # Distinct first: many starts end at one double assembly, each with the error of a double root.
        looked = search.distinct(x[ranks == e.n - 1], DOUBLE)
        if not can_move(search.solver, looked):
            double = search.distinct(polished(search.solver, looked), SAME)
            on_curves = np.zeros_like(on_curves)
    if wide.any() and not on_curves.any():
        return without_arcs(search, int(ranks[wide].max()))
    assemblies = search.distinct(np.concatenate([x[rigid], double]))
    if len(double):
        search.notes.append(
            f"{len(double)} of the isolated configurations count twice: constraints are dependent there."
        )
    if not on_curves.any() and len(assemblies):
        if not search.asked:
            assemblies = _nearer(search, assemblies)
        return _space(search, [], assemblies, TraceStatus.POINTS, 0, e.n, x[:0])
    if e.m >= e.n - 1:
        search.solver.randomized(e.n - 1, search.source)
        looked = np.concatenate([search.extra, search.starts[::3]]) / search.place.scale
        search.points.search(np.concatenate([looked, x[::5], x[~settled][:20]]))
    elif not len(x):
        return _space(search, [], [], TraceStatus.EMPTY, -1, 0, x)
    arcs = _met_often(search, _followed(search, x[on_curves]), x[on_curves])
    dimension = 1 if arcs else 0 if search.points.found or len(assemblies) else -1
    status = {1: TraceStatus.TRACED, 0: TraceStatus.POINTS, -1: TraceStatus.EMPTY}[dimension]
    follower = Follower(search.solver, search.points)
    lost = np.array(search.points.multiple).reshape(-1, e.n) / search.place.scale
    if not follower.covered(arcs, lost).all() or (dimension == -1 and len(x)):
        status, dimension = TraceStatus.UNFINISHED, max(dimension, 1)
        search.notes.append(
            "There are sets on which the constraints are dependent although they determine them (components that count "
            "more than once); not all of them could be followed."
        )
    return _space(search, arcs, assemblies, status, dimension, e.n - 1, x[:0])


def _nearer(search: SampledSearch, found: Array) -> Array:
    """Return isolated points with those that starts between and around them lead to, until none is new."""
    region, scale, e = search.region, search.place.scale, search.equations
    for _ in range(ROUNDS):
        places = found * scale
        low, high = places.min(axis=0), places.max(axis=0)
        room = np.maximum(AROUND * (high - low), scale)
        inner = np.maximum(low - room, region.low), np.minimum(high + room, region.high)
        near = replace(region, low=inner[0], high=inner[1], core=None)
        x, ranks, settled = search.from_starts(starts_in(near, e.angles, search.count, search.source))
        together = search.distinct(np.concatenate([found, x[settled & (ranks == e.n)]]))
        if len(together) == len(found):
            break
        found = together
    return found


def sheets_of(search: SampledSearch) -> int | None:
    """Return the rank on the pieces of the highest dimension above one that starts have met; None if there are none."""
    _, ranks, settled = search.sample()
    wide = ranks[settled & (ranks < search.equations.n - 1)]
    return int(wide.min()) if len(wide) else None


def without_arcs(search: SampledSearch, rank: int) -> ConfigurationSpace:
    """Return the space of which the sample has shown nothing but points of a rank, fewer than on a curve."""
    x, ranks, settled = search.sample()
    witness = x[settled & (ranks == rank)][:1]
    return _space(search, [], [], TraceStatus.SURFACE, search.equations.n - rank, rank, witness)


def unfinished(search: SampledSearch, reason: str) -> ConfigurationSpace:
    """Return what a search has found when its budget was spent."""
    e = search.equations
    rank = min(e.m, e.n - 1)
    found = _space(search, search.arcs, [], TraceStatus.UNFINISHED, e.n - rank, rank, np.zeros((0, e.n)))
    return replace(found, reason=reason)


def _followed(search: SampledSearch, x: Array) -> list[RawArc]:
    """Return all arcs: out of every singular point, then through every point that is on none."""
    points = search.points
    for _ in range(ROUNDS):
        points.put_in_order()
        follower, multiple = Follower(search.solver, points), MultipleFollower(search.solver, points)
        known = len(points.found)
        arcs: list[RawArc] = []
        search.arcs = arcs
        used: set[tuple[int, int]] = set()
        for number in range(known):
            for half, branch in enumerate(points.found[number].half_branches):
                if (number, half) in used:
                    continue
                along = multiple if branch.multiple else follower
                arc = along.out_of(number, half)
                arcs.append(arc)
                used.update((p, h) for kind, p, h in (arc.start, arc.end) if kind == "singular")
                along.look(arc)
                if len(points.found) > known:
                    break
            if len(points.found) > known:
                break
        if len(points.found) > known or _loose(search, follower, arcs, x, known):
            continue
        if _loose(search, multiple, arcs, search.doubtful(), known):
            continue
        return arcs
    search.notes.append(f"New singular points still turned up after {ROUNDS} rounds: there may be more.")
    return arcs


def _met_often(search: SampledSearch, arcs: list[RawArc], x: Array) -> list[RawArc]:
    """Return all arcs after as many further starts as it takes to meet each component several times."""
    if not arcs:
        return arcs
    x = np.concatenate([x, search.doubtful()])
    met = met_components(search.solver, search.points, arcs, x)
    for _ in range(0 if search.asked else DOUBLINGS):
        if min(met) >= OFTEN:
            break
        new = search.more()
        x = np.concatenate([x, new])
        follower = Follower(search.solver, search.points)
        if _loose(search, follower, arcs, new, len(search.points.found)):
            arcs = _followed(search, x)
        met = met_components(search.solver, search.points, arcs, x)
    search.unseen = unseen(met)
    if min(met) < OFTEN and len(met) > 1:
        search.notes.append(
            f"{len(search.starts)} starts met the {len(met)} components between {min(met)} and {max(met)} times; an "
            f"estimated {search.unseen:.3g} more were met by none. starts= makes more."
        )
    return arcs


def _loose(search: SampledSearch, follower: Follower, arcs: list[RawArc], x: Array, known: int) -> bool:
    """Add arcs through points that are on none; return whether a new singular point turned up on the way."""
    left, vain = x[~follower.covered(arcs, x)], 0
    while len(left):
        at = follower.polished(left[0])
        arc = None if at is None or follower.covered(arcs, at[None])[0] else follower.through(at)
        if arc is None:
            left, vain = left[1:], vain + 1
            if at is None and vain > VAIN:
                break
            continue
        vain = 0
        follower.look(arc)
        if len(search.points.found) > known:
            return True
        arcs.append(arc)
        left = left[1:][~follower.covered([arc], left[1:])]
    return False


def _space(
    search: SampledSearch,
    arcs: list[RawArc],
    assemblies: Any,
    status: TraceStatus,
    dimension: int,
    rank: int,
    witnesses: Array,
) -> ConfigurationSpace:
    e, place, found = search.equations, search.place, search.points.found
    of_arcs, of_points = result_graph.components_of(len(found), arcs)
    branches = result_graph.branches_of(e, place.t, arcs, of_arcs)
    points = result_graph.points_of(place, found, arcs, rank, of_points)
    notes = [*search.notes]
    if status is TraceStatus.EMPTY:
        notes += why_empty(search.solver, search.starts / place.scale, search.outside, search.region.box)
    stopped = [arc for arc in arcs if "stopped" in (arc.start[0], arc.end[0])]
    if stopped:
        notes.append(f"{len(stopped)} of {len(arcs)} arcs could not be followed to their ends.")
    uncounted = [f"{number}" for number, arc in enumerate(arcs) if arc.multiplicity == UNCOUNTED]
    if uncounted:
        notes.append(
            f"How often arcs {', '.join(uncounted)} count was not found; it is {result_graph.LEAST} times or more."
        )
    notes += [f"singular point {point.number}: {point.note}" for point in points if point.note]
    if status is TraceStatus.TRACED and (stopped or uncounted or any(point.note for point in points)):
        status = TraceStatus.UNFINISHED
    far = sorted({end.name for arc in branches for end in arc.ends if end.kind == "far" and end.name})
    if far:
        notes.append(f"Arcs leave the region that was searched along {', '.join(far)}; give a box to say how far.")
    singles = [*(np.asarray(row) * place.scale for row in assemblies), *(row * place.scale for row in witnesses)]
    checked = [*singles, *(local.q for local in found)]
    count = len(set(of_arcs) | set(of_points)) + len(assemblies) + (1 if len(witnesses) else 0)
    gap = search.gap(rank) if dimension > 0 else (float("inf"), 0.0)
    if gap[1] > 0.0:
        notes.append(
            f"Of the {e.m} constraints {rank} are independent on it, to tolerance: of the singular values of their "
            f"scaled rows {gap[0]:.2g} counts, {gap[1]:.1g} does not."
        )
    return ConfigurationSpace(
        gap=gap,
        status=status,
        residual=result_graph.residual_of(place, arcs, checked),
        provenance=Provenance.now(e.system.digest),
        name=e.system.name,
        coordinates=e.names,
        angles=tuple(bool(value) for value in e.angles),
        dimension=dimension,
        branches=tuple(branches),
        paths=tuple(result_graph.paths_of(found, arcs)),
        components=count,
        singular_points=tuple(points),
        points=tuple(result_graph.state_of(e, row * place.scale, place.t) for row in np.asarray(assemblies)),
        box=dict(search.region.box),
        notes=tuple(notes),
        unseen=search.unseen,
        t=place.t,
    )
