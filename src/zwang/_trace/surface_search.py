"""Configuration spaces of dimension two: singular points and curves, the mesh of the surface, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.budget import memory_left
from zwang._numerics.identified import between
from zwang._numerics.surfaces import growth
from zwang._numerics.surfaces.hollow import Hollow, Tube, distance_to_line
from zwang._results.configuration import ConfigurationSpace, TraceStatus
from zwang._results.configuration_strata import LocalType, Stratum
from zwang._trace.sampled import SampledSearch
from zwang._trace.singular_curves import CurveFollower, CurveGraph
from zwang._trace.space_pieces import assembled
from zwang._trace.strata import local_type, singular_configurations, thicker
from zwang._trace.surface_cover import FINEST, Cover, metric

Array = NDArray[np.float64]
PART = 50
"""The longest edge is this part of the diameter, where none is asked for."""
FINER, ATTEMPTS = 0.03, 6
"""How much shorter edges may get once no singular point was found there; how often that is tried."""
BALL = 0.25
"""Radii of balls round singular points, as a part of the longest edge and of the distance to the next one."""
TUBE, NODE = {"crossing": 0.5}, 2.0
"""Radii of tubes, as a part of the longest edge, by kind, one for all others; of balls at their nodes, in tubes."""
SHORT = 0.07
"""The widest tube, as a part of the length of its curve."""
THINNEST = 0.02
"""Of tubes that are close to each other."""
WIDEST = 8.0
"""Balls round degenerate points may get this part of the longest edge, where the surface is too narrow at smaller
ones."""
COARSER = 0.3
"""A resolution below this part of the usual one is weighed against the budget first."""
SMALL, SPARSE = 100_000_000, 3.0
"""So is every one where less is left [bytes]; by a cover with edges so many times as long as the usual ones."""
MOST_SUSPECTS, SAME = 200, 1e-6


def diameter(x: Array, periods: Array, scale: Array) -> float:
    """Return the largest distance of points of the set, in q, angles the shorter way round."""
    some = x[:: max(1, len(x) // 150)]
    sizes = [np.linalg.norm(between(row, some, periods) * scale, axis=1).max() for row in some]
    return float(max(sizes, default=1.0)) or 1.0


def with_surface(search: SampledSearch, space: ConfigurationSpace, resolution: float | None) -> ConfigurationSpace:
    """Return a space of dimension two with its surface, pieces, singular points and curves."""
    if (thick := thicker(search, space)) is not None:
        return replace(space, status=TraceStatus.UNFINISHED, reason=_no_surface(thick))
    x, ranks, settled = search.sample()
    rank, scale = search.equations.n - 2, metric(search)
    starts = x[settled & (ranks == rank)] * search.place.scale / scale
    size = diameter(starts, search.solver.identified, scale) / PART if resolution is None else resolution
    longest = size / float(scale.max())
    if resolution is not None and (reason := _too_fine(search, starts, resolution)):
        return replace(space, status=TraceStatus.UNFINISHED, reason=reason)
    found = SingularSet(search, scale, longest)
    found.add(np.concatenate([np.zeros((0, len(scale))), *(item.points for item in space.strata[1:])]))
    finest = FINEST
    for _ in range(ATTEMPTS):
        cover = Cover.of(search, longest, found.hollow(), finest)
        spread = cover.grown(np.concatenate([starts, cover.beside_balls()]))
        if not spread.counts[growth.SUSPECTS]:
            break
        fine = spread.standing[: int(spread.counts[growth.COUNT])] == growth.FINE
        suspects = spread.points[: len(fine)][fine] * scale
        if not (found.add(_singular_near(search, suspects)) or found.widen(suspects)):
            finest *= FINER
    spread, glued = cover.glued(spread)
    reasons = []
    if spread.counts[growth.SUSPECTS]:
        reasons.append(
            f"At {int(spread.counts[growth.SUSPECTS])} points edges would have to be shorter than "
            f"{cover.extent.shortest:.1e}, and no singular point was found there."
        )
    if len(glued.loose):
        reasons.append(f"At {len(glued.loose)} points the triangles could not be glued: there are holes.")
    if found.graph.stopped:
        reasons.append(f"{found.graph.stopped} ends of singular curves could not be followed on.")
    return assembled(space, cover, spread, glued, (found.points, found.graph), reasons)


def _no_surface(thick: Stratum) -> str:
    return (
        f"The space is a surface in part only: where the rank of its constraints is {thick.rank} it has dimension "
        f"{thick.dimension}, and the two parts meet all along. Keep to one of them by box=, give parameters with which "
        "the constraints stay independent, or ask for `local_types`."
    )


def _too_fine(search: SampledSearch, starts: Array, resolution: float) -> str:
    """Return why a resolution is too fine for the budget, told from a coarser cover before the memory is taken."""
    scale = metric(search)
    usual = diameter(starts, search.solver.identified, scale) / PART
    left = memory_left()
    if resolution > COARSER * usual and left > SMALL:
        return ""
    none = Hollow(np.zeros((0, search.equations.n)), np.zeros(0), (), search.solver.identified)
    size = max(usual * (1.0 if left > SMALL else SPARSE), resolution)
    coarse = Cover.of(search, size / float(scale.max()), none, 0.1)
    count = int(coarse.grown(starts).counts[growth.COUNT])
    need = int(count * (size / resolution) ** 2) * coarse.bytes_per_point
    if need <= left:
        return ""
    return (
        f"A resolution of {resolution:g} needs some {need:,} bytes of memory, and the budget leaves {left:,}. Give a "
        f"coarser one, or raise it, as in budget={{'memory': {2 * need}}}."
    )


def _singular_near(search: SampledSearch, q: Array) -> Array:
    """Return singular configurations next to where edges would be too short."""
    starts = q[:: max(1, len(q) // MOST_SUSPECTS)] / search.place.scale
    return np.array(singular_configurations(search, starts, search.equations.n - 2)).reshape(-1, q.shape[1])


@dataclass(eq=False)
class SingularSet:
    """The singular points and curves of a surface that were found, and what is cut out round them."""

    search: SampledSearch
    scale: Array
    longest: float
    points: list[LocalType] = field(default_factory=list)
    factors: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.follower = CurveFollower(self.search, self.scale, self.longest)

    @property
    def graph(self) -> CurveGraph:
        """The curves."""
        return self.follower.graph

    def add(self, q: Array) -> bool:
        """Take in singular configurations (k, n); return whether any is new."""
        rank, known = self.search.equations.n - 2, (len(self.points), len(self.graph.arcs))
        lone: list[LocalType] = []
        # Starts scatter round a degenerate point: the one at which the rows are shortest is nearest to it.
        for row in sorted(q, key=self._weakest):
            if self._has(row) or self.follower.on_arcs(row) or self._stands_for(row, lone):
                continue
            local = local_type(self.search, rank, row)
            if local.singular_dimension > 0:
                self.follower.followed(row[None])
            lone.append(local)
        if len(self.graph.arcs) > known[1]:
            self.follower.followed(self.follower.beside_nodes())
        for local in lone:
            row = self._at(local)
            if not self._has(row) and not self.follower.on_arcs(row):
                self.points.append(local)
                self.factors.append(1.0)
        return (len(self.points), len(self.graph.arcs)) != known

    def widen(self, suspects: Array) -> bool:
        """Widen the balls of degenerate points next to which edges would be too short; return whether any was."""
        widened = False
        centres, radii = self._balls()
        for k, local in enumerate(self.points):
            if local.kind in ("cone", "isolated") or self.factors[k] * BALL >= WIDEST:
                continue
            away = np.linalg.norm(between(centres[k], suspects / self.scale, self.search.solver.identified), axis=1)
            if away.min(initial=np.inf) < 3 * radii[k]:
                self.factors[k] *= 2
                widened = True
        return widened

    def _stands_for(self, q: Array, lone: list[LocalType]) -> bool:
        """Say whether one of some degenerate points is so near that a ball round it has this configuration too."""
        centres = [self._at(local) / self.scale for local in lone if local.kind not in ("cone", "isolated")]
        away = [np.linalg.norm(between(c, q / self.scale, self.search.solver.identified)) for c in centres]
        return bool(min(away, default=np.inf) <= 0.5 * BALL * self.longest)

    def _weakest(self, q: Array) -> float:
        sizes = np.linalg.svd(self.search.place.values(q)[1], compute_uv=False)
        return float(sizes[self.search.equations.n - 3])

    def _at(self, local: LocalType) -> Array:
        return np.array([local.state[name] for name in self.search.equations.names])

    def _has(self, q: Array) -> bool:
        """Say whether a configuration is one of the points: those next to a degenerate one stand for it."""
        centres, radii = self._balls()
        away = np.linalg.norm(between(centres, q / self.scale, self.search.solver.identified), axis=1)
        plain = np.array([local.kind in ("cone", "isolated") for local in self.points], dtype=bool)
        return bool((away <= np.where(plain, SAME, 0.5 * radii)).any())

    def _balls(self) -> tuple[Array, Array]:
        """Return centres and radii of balls in which the surface is as its singular point says."""
        centres = np.array([self._at(local) / self.scale for local in self.points]).reshape(-1, len(self.scale))
        radii = BALL * self.longest * np.array(self.factors)
        for k, centre in enumerate(centres):
            others = np.delete(centres, k, axis=0)
            apart = np.linalg.norm(between(centre, others, self.search.solver.identified), axis=1)
            lines = [
                float(distance_to_line(centre[None], arc.points / self.scale, self.search.solver.identified)[0][0])
                for arc in self.graph.arcs
            ]
            radii[k] = min(radii[k], BALL * min([float(apart.min(initial=np.inf)), *lines]))
        return centres, radii

    def hollow(self) -> Hollow:
        """Return the balls and tubes: those of the points, then of the nodes; lines without sheets need none."""
        periods, graph = self.search.solver.identified, self.graph
        centres, radii = self._balls()
        first, nodes = len(centres), np.array(graph.nodes).reshape(-1, len(self.scale)) / self.scale
        tubes, wide = [], np.full(len(nodes), 0.0)
        for k, arc in enumerate(graph.arcs):
            radius = max(min(TUBE.get(arc.kind, 1.0) * self.longest, *self._room(k)), THINNEST * self.longest)
            for kind, end in arc.ends:
                if kind == "singular":
                    wide[end] = max(wide[end], NODE * radius)
            if arc.kind == "isolated":
                continue
            start, stop = (first + end if kind == "singular" else -1 for kind, end in arc.ends)
            tubes.append(Tube(arc.points / self.scale, arc.ends[0][0] == "closed", (start, stop), radius))
        return Hollow(np.concatenate([centres, nodes]), np.concatenate([radii, wide]), tubes, periods)

    def _room(self, k: int) -> list[float]:
        """Return bounds of the radius of a tube, from the distances of arcs that share no node with it."""
        arcs, periods = self.graph.arcs, self.search.solver.identified
        own = {end for end in arcs[k].ends if end[0] == "singular"}
        # What is small on the surface is hardly smaller than the curve that it belongs to.
        found = [SHORT * float(np.linalg.norm(np.diff(arcs[k].points / self.scale, axis=0), axis=1).sum())]
        for j, other in enumerate(arcs):
            if j == k or own & set(other.ends):
                continue
            line = np.concatenate([other.points, other.points[:1]]) / self.scale
            away = distance_to_line(arcs[k].points / self.scale, line[:-1], periods)[0]
            found.append(BALL * float(away.min()))
        return found
