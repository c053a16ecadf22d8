"""`Stiffness`: a constraint on positions made by a stiff spring, with or without a dashpot beside it.

f is the expression of the constraint, w its gradient, k = N weight. The potential N weight f^2/2 gives the force
-k f along w and, where the weight varies, -N f^2/2 along the gradient of the weight. Kozlov and Neishtadt (1990) write
N W with W = sum c f^2: weight 2 c.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import sympy as sp

from zwang._declare.constraints import Bilateral, Unilateral
from zwang._declare.symbols import Coordinate, Velocity, rate
from zwang._declare.system import System
from zwang._realize import amounts
from zwang._realize.effective_mass import mobility
from zwang._realize.placing import place, require_level
from zwang._realize.sides import by_side, larger
from zwang.errors import DeclarationError

CURE = "Give Stiffness(N); what varies along the constraint goes into weight=."


@dataclass(frozen=True)
class Stiffness:
    """A stiff spring in place of a constraint on positions: the potential N * weight * expr**2 / 2.

    On a `Unilateral` it acts only where expr < 0, and its force along the gradient of expr never pulls.

    Parameters
    ----------
    N : expression
        Strength > 0: a number or a parameter [N/m where expr is a length and the weight has no unit]. It may be left
        out only where a verb tries several.
    weight : expression
        Of coordinates, > 0; carries units and the shape of the potential.
    damping : expression
        c >= 0 [N s/m where expr is a length]: the further force -c * rate(expr) along the gradient of expr. On a
        `Unilateral` spring and dashpot together never pull; a dashpot that is met with a speed acts at once, so that
        the force jumps there, in position, by c times that speed.
    ratio : expression, optional
        Instead of `damping`: its share of critical damping, c = 2 * ratio * sqrt(N * weight * m), where
        m = 1/(w M^-1 w^T) is the mass that the constraint feels, of coordinates in general. At most four coordinates
        may be coupled by kinetic energy.

    Examples
    --------
    >>> import sympy as sp, zwang as zw
    >>> (x, y), (vx, vy) = zw.coordinates("x y")
    >>> m, g, l, N = zw.parameters("m g l N")
    >>> pendulum = zw.System(
    ...     name="pendulum", kinetic=m * (vx**2 + vy**2) / 2, potential=m * g * y,
    ...     constraints=[zw.Bilateral(sp.sqrt(x**2 + y**2) - l, name="rod")],
    ... )
    >>> zw.realize(pendulum, "rod", by=zw.Stiffness(N))
    System 'pendulum (rod by Stiffness)'
      coordinates  x, y
      parameters   N, g, l, m
      kinetic      m*(v_x**2 + v_y**2)/2
      potential    N*(-l + sqrt(x**2 + y**2))**2/2 + g*m*y
    """

    level: ClassVar[str] = "position"

    N: Any = None
    weight: Any = field(default=1, kw_only=True)
    damping: Any = field(default=0, kw_only=True)
    ratio: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.N is not None:
            object.__setattr__(self, "N", amounts.positive(self.N, "Stiffness: N"))
        object.__setattr__(self, "weight", amounts.positive(self.weight, "Stiffness: weight"))
        object.__setattr__(self, "damping", amounts.not_negative(self.damping, "Stiffness: damping"))
        if self.ratio is not None:
            object.__setattr__(self, "ratio", amounts.not_negative(self.ratio, "Stiffness: ratio"))
            if not amounts.is_zero(self.damping):
                raise DeclarationError(
                    f"Stiffness: damping={self.damping} and ratio={self.ratio} were given together. "
                    "Give one of the two: ratio= is a share of critical damping."
                )

    @property
    def strength(self) -> Any:
        """N, or None where it was left out."""
        return self.N

    def soften(self, system: System, constraint: Bilateral | Unilateral, strength: Any) -> System:
        """Return the system with that constraint made by this spring with the given strength."""
        spring = self._spring(system, constraint, strength)
        return place(
            system,
            constraint,
            normal_force=spring.normal_force,
            pulls=not spring.one_sided,
            energy=spring.energy,
            forces=spring.drag,
        )

    def normal_force(self, system: System, constraint: Bilateral | Unilateral, strength: Any) -> Any:
        """Return what stands for the multiplier: the force of spring and dashpot along the gradient of expr."""
        return self._spring(system, constraint, strength).normal_force

    def _spring(self, system: System, constraint: Bilateral | Unilateral, strength: Any) -> _Spring:
        require_level(system, constraint, self)
        N = amounts.strength(system, strength, "Stiffness: N", CURE)
        weight = amounts.positive(amounts.read(system, self.weight, "Stiffness: weight"), "Stiffness: weight")
        amounts.without(
            weight, (Velocity,), "Stiffness: weight= depends on the velocity '{name}'; a potential can't. Use damping=."
        )
        f = constraint.expr
        gradient = {q: sp.diff(f, q) for q in system.coordinates if q in f.free_symbols}
        c = self._dashpot(system, constraint, N * weight, gradient)
        return _Spring(f, N, weight, c, gradient, isinstance(constraint, Unilateral))

    def _dashpot(self, system: System, constraint: Any, k: Any, gradient: dict[Coordinate, Any]) -> Any:
        """Return the damping c, from the share of critical damping where that was given."""
        if self.ratio is None:
            return amounts.not_negative(amounts.read(system, self.damping, "Stiffness: damping"), "Stiffness: damping")
        ratio = amounts.not_negative(amounts.read(system, self.ratio, "Stiffness: ratio"), "Stiffness: ratio")
        # expr'' + c mobility expr' + k mobility expr = 0 has a double root for c mobility = 2 sqrt(k mobility).
        return 2 * ratio * sp.sqrt(k / mobility(system, gradient, f"{system.name}: '{constraint.name}' by Stiffness"))


@dataclass(frozen=True)
class _Spring:
    """Spring and dashpot on one constraint, as expressions."""

    f: Any
    N: Any
    weight: Any
    c: Any
    gradient: dict[Coordinate, Any]
    one_sided: bool

    @property
    def energy(self) -> Any:
        """N weight f^2/2; one-sided, only where f < 0."""
        square = by_side(self.f, lambda value: value**2, _nothing) if self.one_sided else self.f**2
        return self.N * self.weight * square / 2

    @property
    def normal_force(self) -> Any:
        """-k f - c rate(f); one-sided, only where f < 0 and never below zero."""
        k, c = self.N * self.weight, self.c
        if not self.one_sided:
            return -k * self.f - c * rate(self.f)
        if amounts.is_zero(c):
            # The factor outside: SymPy would multiply a sum out, and rounding could then change the sign of the force.
            return k * by_side(self.f, lambda value: -value, _nothing)
        return by_side(self.f, lambda value: larger(-k * value - c * rate(value), sp.Integer(0)), _nothing)

    @property
    def drag(self) -> dict[Coordinate, Any]:
        """The generalized forces of the dashpot; one-sided, it pulls no more than the spring pushes."""
        k, c = self.N * self.weight, self.c
        if amounts.is_zero(c):
            return {}
        drag = -c * rate(self.f)
        if self.one_sided:
            drag = by_side(self.f, lambda value: larger(-c * rate(value), k * value), _nothing)
        return {q: drag * slope for q, slope in self.gradient.items()}


def _nothing(_: Any) -> Any:
    return sp.Integer(0)
