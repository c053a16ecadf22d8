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

    def __repr__(self) -> str:
        parts = [f"sides={self.sides}"]
        parts += [] if self.resting is None else [f"resting={self.resting}"]
        parts += [f"axes={self.axes}"] if self.axes else []
        return f"LawRows({', '.join(parts)})"

    @property
    def plain(self) -> bool:
        """Whether one number says all: a symmetric interval or a disc, the same at rest."""
        return self.sides[0] == self.sides[1] and self.resting is None

    def against(self, sign: int) -> int:
        """Return where the size against a slip of this sign stands; 0: in a plane."""
        return self.sides[1] if sign < 0 else self.sides[0]

    def held(self) -> tuple[int, int]:
        """Return where the sizes stand that hold a contact at rest."""
        return self.sides if self.resting is None else self.resting

    def along(self, bounds: Array, forces: Array) -> Array:
        """Return friction forces (p, ...) along the slips of solvers as forces along the declared ones."""
        return bounds[list(self.axes)] * forces if self.axes else forces

    def scaled(self, bounds: Array, forces: Any) -> Any:
        """Return friction forces (p, ...) along the declared slips as forces along those of solvers.

        The same factors take slips of solvers to the declared ones.
        """
        if not self.axes or not len(forces):
            return forces
        axes = bounds[list(self.axes)]
        return np.divide(forces, axes, out=np.zeros(axes.shape), where=axes > 0)

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
