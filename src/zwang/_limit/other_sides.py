"""Friction that stays on the permitted side of a one-sided constraint: the limit keeps it."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._compile import compile
from zwang._declare.constraints import Unilateral
from zwang._limit.ideal import IdealStart
from zwang._limit.single import one_motion
from zwang._limit.ways import Softened
from zwang._realize import amounts
from zwang._realize.sides import by_side

Array = NDArray[np.float64]


def other_side_limit(
    softened: Softened, start: IdealStart, params: Mapping[Any, Any], edges: Array
) -> tuple[str, Array, Array] | None:
    """Return (words, q, v at the edges) of the ideal motion with the friction of the permitted side; None if none."""
    system = softened.ideal
    forces: dict[Any, Any] = dict(system.forces) if system.mass is None else {}
    found = []
    for name in softened.names:
        way, item = softened.ways[name], system.constraints[name]
        other = getattr(way, "other_side", 0)
        amount = amounts.read(system, other, "Viscosity: other_side")
        if amounts.is_zero(amount) or not isinstance(item, Unilateral):
            continue
        found.append(f"{name}: {float(amount):g}" if amount.is_number else f"{name}: {amount}")
        drag = amount * by_side(item.expr, _nothing, operator.neg)
        written = system.expanded(item.expr)
        for speed in system.velocities:
            if speed in written.free_symbols:
                forces[speed.coordinate] = forces.get(speed.coordinate, 0) + drag * sp.diff(written, speed)
    if not found:
        return None
    if system.mass is not None:
        rows = [system.force[i] + forces.get(q, 0) for i, q in enumerate(system.coordinates)]
        slowed = system.replace(force=sp.Matrix(rows))
    else:
        slowed = system.replace(forces=forces)
    own = softened.own(params, slowed)
    motion = one_motion(compile(slowed, softened.backend), start.state, own, until=float(edges[-1]), tol=1e-12)
    if motion.t[-1] < edges[-1]:
        return None
    at = motion.at(edges)
    q = np.stack([np.asarray(at[item.name]) for item in system.coordinates], axis=1)
    v = np.stack([np.asarray(at[item.name]) for item in system.velocities], axis=1)
    return f"the ideal motion with the friction of the permitted side left in ({', '.join(found)})", q, v


def _nothing(_: Any) -> Any:
    return sp.Integer(0)
