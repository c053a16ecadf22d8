"""The local type of a singular point, as `trace` tells it, and its order of the half-branches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._asymptotics.half_branch import HalfBranch
from zwang._asymptotics.precision import Number, mp
from zwang._declare.system import System
from zwang._trace.equations import Place, equations_of
from zwang._trace.local import analyse
from zwang._trace.sampling import region_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LocalType:
    """Kind of a point in words, points of its half-branches at a small distance, and their tangents, as in `trace`."""

    words: str
    marks: list[Array]
    tangents: tuple[Array, ...] = ()


def local_type(system: System, params: Array, q: Array) -> LocalType:
    """Return the local type at a point; where `trace` can't tell it, a word that says no more than that."""
    equations = equations_of(system)
    _, scale = region_of(equations, params, None)
    place = Place(equations, params, 0.0, scale, np.ones(equations.m))
    found = analyse(place, q)
    if found is None:
        return LocalType("singular point", [])
    halves = found.half_branches
    away = min((half.length for half in halves), default=0.0) / 4
    return LocalType(_words(found), [half.point(away) for half in halves], tuple(half.tangent for half in halves))


def _words(found: Any) -> str:
    if found.kind == "crossing":
        return f"crossing of {len(found.tangents)} branches"
    if found.kind == "tangency":
        if np.ndim(found.order) == 0:
            return f"tangency of order {found.order}"
        return f"tangency of {len(found.tangents)} branches"
    return {"isolated": "isolated point", "higher": "higher singular point"}.get(found.kind, str(found.kind))


def in_order(halves: Sequence[HalfBranch], local: LocalType, point: Sequence[Number]) -> list[HalfBranch]:
    """Return half-branches in the order in which `trace` lists them; those that it does not list come last."""
    if not local.marks:
        return list(halves)
    centre = np.array([float(item) for item in point])
    left = list(halves)
    found = []
    for mark in local.marks:
        if not left:
            break
        target = float(np.linalg.norm(mark - centre))
        distances = [float(np.linalg.norm(_at_distance(half, centre, target) - mark)) for half in left]
        found.append(left.pop(int(np.argmin(distances))))
    return found + left


def _at_distance(half: HalfBranch, centre: Array, target: float) -> Array:
    """Return the point of a half-branch at about a distance from the singular point."""
    tau = (mp.mpf(target) / half.frame.length) ** (mp.mpf(1) / half.ramification)
    for _ in range(6):
        q = np.array([float(item) for item in half.at(tau)])
        ratio = target / float(np.linalg.norm(q - centre))
        if abs(ratio - 1) < 1e-6:
            break
        tau *= mp.mpf(ratio) ** (mp.mpf(1) / half.ramification)
    return q
