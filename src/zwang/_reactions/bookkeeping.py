"""Answers without the rows that only keep quaternions at unit length: their multipliers are no forces.

They are solved for with all others, and left out of what is shown. A dependency or a self-stress is then one up to
these rows: in it the parts of bodies' rows along their quaternions, which move nothing, are left out too.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._reactions.redundancy import redundancy_of
from zwang._results.later import Later
from zwang._results.reaction_boxes import Modes, SolutionEnclosure, UndecidedBox
from zwang._results.reactions import Points, Reactions, Redundancy, Rejections, Solution

Places = NDArray[np.int64]


def without_bookkeeping(result: Reactions, hidden: Collection[str]) -> Reactions:
    """Return an answer without the contacts `hidden`, such as `System.bookkeeping`; nothing is computed for that."""
    kept = np.array([k for k, name in enumerate(result.contacts) if name not in hidden], dtype=np.int64)
    if len(kept) == len(result.contacts):
        return result
    solutions = tuple(_solution(item, kept) for item in result.solutions)
    names = _chosen(result.contacts, kept)
    return result.but(
        contacts=names,
        solutions=solutions,
        undecided=tuple(_box(item, kept) for item in result.undecided),
        rejected=Later(lambda: _rejections(result.rejected, kept)),
        redundancy=Later(lambda: _redundancy(result.redundancy, names, solutions, kept)),
    )


def _chosen(items: tuple[str, ...], kept: Places) -> tuple[str, ...]:
    return tuple(items[k] for k in kept)


def _points(found: Points, kept: Places) -> Points:
    return replace(found, normal=found.normal[:, kept], tangential=found.tangential[:, kept])


def _solution(found: Solution, kept: Places) -> Solution:
    names = _chosen(found.names, kept)
    arrays = ("normal", "tangential", "gap_acceleration", "slip_acceleration")
    ranges = replace(
        found.ranges, names=names, normal=found.ranges.normal[kept], tangential=found.ranges.tangential[kept]
    )
    changes: dict[str, Any] = {name: getattr(found, name)[kept] for name in arrays}
    changes |= {name: _points(getattr(found, name), kept) for name in ("vertices", "rays", "lines")}
    if found.directions is not None:
        changes["directions"] = found.directions[kept]
    if found.enclosure is not None:
        ends = (
            replace(end, **{name: getattr(end, name)[kept] for name in ("normal", "tangential", "directions")})
            for end in found.enclosure
        )
        changes["enclosure"] = SolutionEnclosure(*ends)
    return replace(found, names=names, modes=Modes(_chosen(found.modes, kept), names), ranges=ranges, **changes)


def _box(found: UndecidedBox, kept: Places) -> UndecidedBox:
    names = _chosen(found.names, kept)
    return UndecidedBox(names, Modes(_chosen(found.modes, kept), names), found.low[kept], found.high[kept])


def _rejections(found: Rejections, kept: Places) -> Rejections:
    places = np.zeros(max(len(found.names), 1), dtype=np.int64)
    places[kept] = np.arange(len(kept))
    return replace(
        found,
        names=_chosen(found.names, kept),
        modes=found.modes[:, kept],
        contact=places[found.contact],
        normal=found.normal[:, kept],
        gap=found.gap[:, kept],
    )


def _redundancy(
    found: Redundancy | None, names: tuple[str, ...], solutions: tuple[Solution, ...], kept: Places
) -> Redundancy | None:
    if found is None:
        return None
    normal, tangential = found.stress_normal[:, kept], found.stress_tangential[:, kept]
    return redundancy_of(names, found.dependencies[:, kept], normal, tangential, solutions)
