"""`Viscosity`: a constraint on velocities made by strong viscous friction, the same or less on the side it allows.

f is the expression of the constraint. The force is -rho f along d f/d v with f whole, its offset included: Salnikova,
Kugushev and Demidov (2023) print it with the linear part alone, and then it fails wherever there is an offset.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import sympy as sp

from zwang._declare.constraints import Bilateral, Unilateral
from zwang._declare.system import System
from zwang._realize import amounts
from zwang._realize.exchange import place, require_level
from zwang._realize.sides import by_side

CURE = "Give Viscosity(rho)."


@dataclass(frozen=True)
class Viscosity:
    """Strong friction in place of a constraint on velocities: the force -rho * expr along d expr/d v.

    On a `Unilateral` it acts where expr < 0, with `other_side` in place of rho where expr > 0; on a `Bilateral` with
    rho on both sides.

    Parameters
    ----------
    rho : expression
        Strength > 0: a number or a parameter [N s/m where expr is a speed]. It may be left out only where a verb tries
        several.
    other_side : expression
        Viscosity >= 0 on the side that a `Unilateral` allows, in the same units.

    Examples
    --------
    >>> import sympy as sp, zwang as zw
    >>> (x,), (vx,) = zw.coordinates("x")
    >>> belt = zw.System(name="belt", kinetic=vx**2 / 2, constraints=[zw.Unilateral(vx - 1, name="ratchet")])
    >>> zw.realize(belt, "ratchet", by=zw.Viscosity(100))
    System 'belt (ratchet by Viscosity)'
      coordinates  x
      kinetic      v_x**2/2
      force on x   100*Piecewise((1 - v_x, v_x < 1), (0, True))
    """

    level: ClassVar[str] = "velocity"

    rho: Any = None
    other_side: Any = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        if self.rho is not None:
            object.__setattr__(self, "rho", amounts.positive(self.rho, "Viscosity: rho"))
        object.__setattr__(self, "other_side", amounts.not_negative(self.other_side, "Viscosity: other_side"))

    @property
    def strength(self) -> Any:
        """Rho, or None where it was left out."""
        return self.rho

    def soften(self, system: System, constraint: Bilateral | Unilateral, strength: Any) -> System:
        """Return the system with that constraint made by this friction with the given strength."""
        force = self.normal_force(system, constraint, strength)
        f = system.expanded(constraint.expr)
        forces = {v.coordinate: force * sp.diff(f, v) for v in system.velocities if v in f.free_symbols}
        pulls = isinstance(constraint, Bilateral) or not amounts.is_zero(self.other_side)
        return place(system, constraint, normal_force=force, pulls=pulls, forces=forces)

    def normal_force(self, system: System, constraint: Bilateral | Unilateral, strength: Any) -> Any:
        """Return what stands for the multiplier: the force along d expr/d v."""
        require_level(system, constraint, self)
        rho = amounts.strength(system, strength, "Viscosity: rho", CURE)
        where = "Viscosity: other_side"
        other = amounts.not_negative(amounts.read(system, self.other_side, where), where)
        f = constraint.expr
        if isinstance(constraint, Bilateral):
            return -rho * f
        if amounts.is_zero(other):
            # The factor outside: SymPy would multiply a sum out, and rounding could then change the sign of the force.
            return rho * by_side(f, lambda value: -value, lambda _: 0)
        return by_side(f, lambda value: -rho * value, lambda value: -other * value)
