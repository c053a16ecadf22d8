"""A law of friction in numbers: where they stand among the bounds of a system, and what they say of a force.

Solvers see slips on which a section is an interval with two sizes, or a disc; `axes` are the factors that make an
ellipse one. Rest may have a law of its own: two sizes again, or semi-axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LawRows:
    """Where the numbers of a law stand among all bounds of a system.

    Attributes
    ----------
    sides : (int, int)
        Of the size against a slip > 0 and against a slip < 0; for a pair of slips both are the radius.
    resting : (int, int) or None
        Of the same at rest (a pair: of the semi-axes); None where rest has no law of its own.
    axes : tuple of int
        Of the factors of the slips; empty where they are 1.
    """

    sides: tuple[int, int]
    resting: tuple[int, int] | None = None
    axes: tuple[int, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether one number says all: a symmetric interval or a disc, the same at rest."""
        return self.sides[0] == self.sides[1] and self.resting is None

    def against(self, sign: int) -> int:
        """Return where the size against a slip of this sign stands; 0: in a plane."""
        return self.sides[1] if sign < 0 else self.sides[0]

    def contact(self, bounds: Array, *, alone: bool) -> dict[str, Any]:
        """Return the law as a `Contact` takes it, from bounds (rows,) at a state; `alone`: without a normal."""
        plus, minus = (max(float(bounds[row]), 0.0) for row in self.sides)
        rest = None if self.resting is None else tuple(max(float(bounds[row]), 0.0) for row in self.resting)
        if plus == minus and rest is None:
            return {"friction": 1.0, "normal_force": plus} if alone else {"friction": plus}
        load = {"normal_force": 1.0} if alone else {}
        if self.sides[0] == self.sides[1] and rest is not None and (rest[0] == rest[1] or self.axes):
            return {**load, "friction": plus, "static_friction": rest[0] if rest[0] == rest[1] else rest}
        if rest is None:
            return {**load, "section": (-plus, minus)}
        return {**load, "section": (-plus, minus), "static_friction": (-rest[0], rest[1])}

    def room(self, bounds: Array, load: Any, force: Array, *, rests: bool) -> Any:
        """Return how far inside its section a friction force (p, ...) is, negative outside.

        `load` is abs(N), or 1 without a normal; with `rests` the section at rest counts.
        """
        if len(force) == 1:
            plus, minus = self.resting if rests and self.resting is not None else self.sides
            return np.minimum(force[0] + bounds[plus] * load, bounds[minus] * load - force[0])
        if not rests or self.resting is None:
            return bounds[self.sides[0]] * load - np.sqrt((force**2).sum(axis=0))
        # In units of the shorter axis, so that a round section at rest reads as the radius less the force.
        a, b = (np.maximum(bounds[row], 1e-300) for row in self.resting)
        short = np.minimum(a, b)
        return short * (load - np.sqrt((force[0] / a) ** 2 + (force[1] / b) ** 2))


def physical(rows: tuple[LawRows, ...], bounds: Array, slips: tuple[tuple[int, ...], ...], values: Array) -> Array:
    """Return forces (slips, ...) along the slips of solvers as forces along the declared ones."""
    found = values
    for law, own in zip(rows, slips, strict=True):
        for slip, axis in zip(own, law.axes, strict=False):
            found = found.copy() if found is values else found
            found[slip] = bounds[axis] * values[slip]
    return found
