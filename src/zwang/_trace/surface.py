"""Configuration spaces of dimension two: singular points, the mesh of the surface, and what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.budget import memory_left
from zwang._numerics.surfaces import growth
from zwang._numerics.surfaces.cut import between
from zwang._results.configuration import ConfigurationSpace, TraceStatus
from zwang._results.configuration_strata import LocalType
from zwang._trace.pieces import assembled
from zwang._trace.sampled import SampledSearch
from zwang._trace.strata import local_type, singular_configurations
from zwang._trace.surface_cover import FINEST, Cover, metric

Array = NDArray[np.float64]
PART = 50
"""The longest edge is this part of the diameter, where none is asked for."""
FINER, ATTEMPTS = 0.03, 5
"""How much shorter edges may get once no singular point was found there; how often that is tried."""
BALL = 0.25
"""Radii of balls round singular points, as a part of the longest edge and of the distance to the next one."""
COARSER = 0.3
"""A resolution below this part of the usual one is weighed against the budget first."""
MOST_SUSPECTS, SAME = 200, 1e-6


def diameter(x: Array, periods: Array, scale: Array) -> float:
    """Return the largest distance of points of the set, in q, angles the shorter way round."""
    some = x[:: max(1, len(x) // 150)]
    sizes = [np.linalg.norm(between(row, some, periods) * scale, axis=1).max() for row in some]
    return float(max(sizes, default=1.0)) or 1.0


def with_surface(search: SampledSearch, space: ConfigurationSpace, resolution: float | None) -> ConfigurationSpace:
    """Return a space of dimension two with its surface, pieces and singular points."""
    x, ranks, settled = search.sample()
    rank, scale = search.equations.n - 2, metric(search)
    starts = x[settled & (ranks == rank)] * search.place.scale / scale
    size = diameter(starts, search.solver.periods, scale) / PART if resolution is None else resolution
    longest = size / float(scale.max())
    if resolution is not None and (reason := _too_fine(search, starts, resolution)):
        return replace(space, status=TraceStatus.UNFINISHED, reason=reason)
    found, curved = singular_places(search, space)
    if curved:
        return _unmeshed(space)
    finest = FINEST
    for _ in range(ATTEMPTS):
        cover = Cover.of(search, longest, *_balls(found, longest, search, scale), finest)
        spread = cover.grown(np.concatenate([starts, cover.beside_balls()]))
        if not spread.counts[growth.SUSPECTS]:
            break
        new, curved = _singular_near(search, cover, spread, found)
        if curved:
            return _unmeshed(space)
        found, finest = (found + new, finest) if new else (found, finest * FINER)
    spread, glued = cover.glued(spread)
    reasons = []
    if spread.counts[growth.SUSPECTS]:
        reasons.append(
            f"At {int(spread.counts[growth.SUSPECTS])} points edges would have to be shorter than "
            f"{cover.extent.shortest:.1e}, and no singular point was found there."
        )
    if len(glued.loose):
        reasons.append(f"At {len(glued.loose)} points the triangles could not be glued: there are holes.")
    return assembled(space, cover, spread, glued, found, " ".join(reasons))


def _too_fine(search: SampledSearch, starts: Array, resolution: float) -> str:
    """Return why a resolution is too fine for the budget, told from a coarser cover before the memory is taken."""
    scale = metric(search)
    usual = diameter(starts, search.solver.periods, scale) / PART
    if resolution > COARSER * usual:
        return ""
    none = np.zeros((0, search.equations.n)), np.zeros(0)
    coarse = Cover.of(search, usual / float(scale.max()), *none, 0.1)
    count = int(coarse.grown(starts).counts[growth.COUNT])
    need, left = int(count * (usual / resolution) ** 2) * coarse.bytes_per_point, memory_left()
    if need <= left:
        return ""
    return (
        f"A resolution of {resolution:g} needs some {need:,} bytes of memory, and the budget leaves {left:,}. Give a "
        f"coarser one, or raise it, as in budget={{'memory': {2 * need}}}."
    )


def _unmeshed(space: ConfigurationSpace) -> ConfigurationSpace:
    reason = "The surface is singular along curves, and its triangles are not glued across them; see `strata`."
    return replace(space, status=TraceStatus.UNFINISHED, reason=reason)


def singular_places(search: SampledSearch, space: ConfigurationSpace) -> tuple[list[LocalType], bool]:
    """Return what the surface is at its singular points, and whether there are curves of such."""
    rank = search.equations.n - 2
    curved = any(item.dimension > 0 for item in space.strata[1:])
    if curved:
        return [], True
    return [local_type(search, rank, q) for item in space.strata[1:] for q in item.points], False


def _at(search: SampledSearch, local: LocalType) -> Array:
    return np.array([local.state[name] for name in search.equations.names])


def _balls(found: list[LocalType], longest: float, search: SampledSearch, scale: Array) -> tuple[Array, Array]:
    """Return centres and radii of balls in which the surface is as its singular point says."""
    centres = np.array([_at(search, local) / scale for local in found]).reshape(len(found), len(scale))
    radii = np.full(len(found), BALL * longest)
    for k, centre in enumerate(centres):
        others = np.delete(centres, k, axis=0)
        apart = np.linalg.norm(between(centre, others, search.solver.periods), axis=1)
        radii[k] = min(radii[k], BALL * float(apart.min(initial=np.inf)))
    return centres, radii


def _singular_near(
    search: SampledSearch, cover: Cover, spread: growth.Spread, known: list[LocalType]
) -> tuple[list[LocalType], bool]:
    """Return singular points next to where edges would be too short, and whether they lie on curves."""
    rank, scale = search.equations.n - 2, cover.given.scale
    fine = np.flatnonzero(spread.standing[: int(spread.counts[growth.COUNT])] == growth.FINE)[:MOST_SUSPECTS]
    q = singular_configurations(search, spread.points[fine] * scale / search.place.scale, rank)
    new: list[LocalType] = []
    for row in q:
        others = [_at(search, local) for local in (*known, *new)]
        if all(np.linalg.norm(between(row / scale, other / scale, search.solver.periods)) > SAME for other in others):
            new.append(local_type(search, rank, row))
    return new, any(local.singular_dimension > 0 for local in new)
