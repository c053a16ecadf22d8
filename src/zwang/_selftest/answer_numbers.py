"""Whether a result that calls itself an answer has numbers in it."""

from __future__ import annotations

from typing import Any

import numpy as np

GOOD = {"UNIQUE", "UNIQUE_MOTION", "MULTIPLE", "FOUND", "REACHED", "DETERMINED", "REDUNDANT"}


def not_finite(result: Any) -> str:
    """Return which number of a good result is none; empty if all are finite."""
    if getattr(getattr(result, "status", None), "name", "") not in GOOD:
        return ""
    for name, values in _numbers(result):
        if not np.isfinite(np.asarray(values, dtype=float)).all():
            return f"{result.status.name}, but {name} is not finite"
    return ""


def _numbers(result: Any) -> list[tuple[str, Any]]:
    if hasattr(result, "solutions"):
        found = [("residual", result.residual), ("accelerations", result.accelerations)]
        for item in result.solutions:
            found += [("a solution", item.acceleration), ("a force", item.normal), ("a force", item.tangential)]
            found += [("a vertex", item.vertices.normal), ("a ray", item.rays.normal)]
        return found
    if hasattr(result, "events"):
        found = [("t", result.t), ("q", result.q), ("v", result.v)]
        return [*found, ("drift", result.drift), ("the time of an event", [event.time for event in result.events])]
    if hasattr(result, "multipliers"):
        return [("accelerations", result.accelerations), ("multipliers", list(dict(result.multipliers).values()))]
    return []
