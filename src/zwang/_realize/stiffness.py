"""`Stiffness`: a constraint on positions made by a stiff spring, with or without a dashpot beside it.

f is the expression of the constraint, w its gradient, k = N weight. The potential N weight f^2/2 gives the force
-k f along w and, where the weight varies, -N f^2/2 along the gradient of the weight. Kozlov and Neishtadt (1990) write
N W with W = sum c f^2: weight 2 c. Their theorem is about any W that is zero on the constraints and grows across them:
`energy` gives it, for one constraint or for several together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import sympy as sp

from zwang._declare.constraints import Bilateral, Unilateral
from zwang._declare.given import as_expression
from zwang._declare.symbols import Coordinate, Velocity, rate
from zwang._declare.system import System
from zwang._realize import amounts
from zwang._realize.effective_mass import mobility
from zwang._realize.exchange import place, require_level
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
    energy : expression, optional
        W of the coordinates in the place of weight * expr**2 / 2: the potential is N * W. It belongs to all constraints
        that are realized by this object together, and should be zero on them and grow across them, which `limit` checks
        along the ideal motion (`LimitStudy.conditions`).

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
    >>> zw.realize(pendulum, "rod", by=zw.Stiffness(N, energy=(x**2 + y**2 - l**2) ** 2)).potential
    N*(-l**2 + x**2 + y**2)**2 + g*m*y
    """

    level: ClassVar[str] = "position"

    N: Any = None
    weight: Any = field(default=1, kw_only=True)
    damping: Any = field(default=0, kw_only=True)
    ratio: Any = field(default=None, kw_only=True)
    energy: Any = field(default=None, kw_only=True)

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
        if self.energy is not None:
            object.__setattr__(self, "energy", as_expression(self.energy, "Stiffness: energy"))
            if self.weight != 1 or self.ratio is not None:
                other = "weight" if self.weight != 1 else "ratio"
                raise DeclarationError(
                    f"Stiffness: energy= and {other}= were given together. energy= is the whole potential over N, and "
                    "its stiffness is its own; a dashpot beside it is damping=."
                )

    @property
    def strength(self) -> Any:
        """N, or None where it was left out."""
        return self.N

    def soften(self, system: System, constraint: Bilateral | Unilateral, strength: Any) -> System:
        """Return the system with that constraint made by this spring with the given strength."""
        if self.energy is not None:
            return self.soften_together(system, (constraint,), strength)
        spring = self._spring(system, constraint, strength)
        return place(
            system,
            constraint,
            normal_force=spring.normal_force,
            pulls=not spring.one_sided,
            energy=spring.energy,
            forces=spring.drag,
        )

    def soften_together(self, system: System, constraints: Sequence[Any], strength: Any) -> System:
        """Return the system with several constraints made by one energy, which is added once."""
        shared = SharedEnergy.read(self, system, constraints, strength)
        for place_, constraint in enumerate(constraints):
            gradient = shared.gradients[place_]
            drag = -shared.damping * rate(constraint.expr)
            if shared.one_sided:
                drag = by_side(constraint.expr, lambda value: -shared.damping * rate(value), _nothing)
            dragged = not amounts.is_zero(shared.damping)
            system = place(
                system,
                constraint,
                normal_force=shared.normal_force(place_) if constraint.friction is not None else sp.Integer(0),
                pulls=not shared.one_sided,
                energy=shared.potential if place_ == 0 else sp.Integer(0),
                forces={q: drag * slope for q, slope in gradient.items()} if dragged else None,
            )
        return system

    def normal_force(self, system: System, constraint: Bilateral | Unilateral, strength: Any) -> Any:
        """Return what stands for the multiplier: the force of spring and dashpot along the gradient of expr."""
        if self.energy is not None:
            return SharedEnergy.read(self, system, (constraint,), strength).normal_force(0)
        return self._spring(system, constraint, strength).normal_force

    def normal_forces(self, system: System, constraints: Sequence[Any], strength: Any) -> list[Any]:
        """Return what stands for the multipliers of constraints that one energy makes together."""
        shared = SharedEnergy.read(self, system, constraints, strength)
        return [shared.normal_force(k) for k in range(len(constraints))]

    def _spring(self, system: System, constraint: Bilateral | Unilateral, strength: Any) -> _Spring:
        require_level(system, constraint, self)
        N = amounts.strength(system, strength, "Stiffness: N", CURE)
        weight = amounts.positive(amounts.read(system, self.weight, "Stiffness: weight"), "Stiffness: weight")
        amounts.without(
            weight, (Velocity,), "Stiffness: weight= depends on the velocity '{name}'; a potential can't. Use damping=."
        )
        f = constraint.expr
        written = system.expanded(f)
        gradient = {q: sp.diff(written, q) for q in system.coordinates if q in written.free_symbols}
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


@dataclass(frozen=True)
class SharedEnergy:
    """N W(q) for one constraint or several together, as expressions.

    Attributes
    ----------
    W, N, damping : expression
    constraints : tuple
    gradients : tuple of mapping
        Of the expression of each constraint, by coordinate.
    """

    W: Any
    N: Any
    damping: Any
    constraints: tuple[Any, ...]
    gradients: tuple[dict[Coordinate, Any], ...]

    @classmethod
    def read(cls, way: Stiffness, system: System, constraints: Sequence[Any], strength: Any) -> SharedEnergy:
        """Return the energy in the words of a system; what can't be one is refused."""
        for constraint in constraints:
            require_level(system, constraint, way)
        N = amounts.strength(system, strength, "Stiffness: N", CURE)
        W = amounts.read(system, way.energy, "Stiffness: energy")
        complaint = "Stiffness: energy= depends on the velocity '{name}'; a potential can't. Use damping=."
        amounts.without(W, (Velocity,), complaint)
        where = "Stiffness: damping"
        damping = amounts.not_negative(amounts.read(system, way.damping, where), where)
        if not any(q in W.free_symbols for q in system.coordinates):
            raise DeclarationError(
                f"{system.name}: Stiffness: energy={W} depends on no coordinate. Give W(q), zero on the constraints."
            )
        if len(constraints) > 1 and any(isinstance(item, Unilateral) for item in constraints):
            raise DeclarationError(
                f"{system.name}: one energy= for several constraints of which '{_first_one_sided(constraints)}' is "
                "one-sided: where would it act? Give each its own, by={name: Stiffness(N, energy=...)}."
            )
        gradients = tuple(
            {q: sp.diff(item.expr, q) for q in system.coordinates if q in item.expr.free_symbols}
            for item in constraints
        )
        return cls(W, N, damping, tuple(constraints), gradients)

    @property
    def one_sided(self) -> bool:
        """Whether it acts on one side of its constraint alone."""
        return isinstance(self.constraints[0], Unilateral)

    @property
    def potential(self) -> Any:
        """N W; one-sided, only where expr < 0."""
        if not self.one_sided:
            return self.N * self.W
        return self.N * by_side(self.constraints[0].expr, lambda _: self.W, _nothing)

    def normal_force(self, place_: int) -> Any:
        """Return what stands for a multiplier: the force -N dW/dq in the basis of the gradients, by least squares."""
        gradients = self.gradients
        names = sorted({q for item in gradients for q in item}, key=lambda q: q.name)
        J = sp.Matrix([[item.get(q, 0) for q in names] for item in gradients])
        pull = J * sp.Matrix([sp.diff(self.W, q) for q in names])
        gram = J * J.T
        shares = gram.adjugate(method="berkowitz") * pull / gram.det(method="berkowitz")
        drag = self.damping * rate(self.constraints[place_].expr)
        force = -self.N * shares[place_] - drag
        if not self.one_sided:
            return force
        return by_side(self.constraints[0].expr, lambda _: larger(force, sp.Integer(0)), _nothing)


def _first_one_sided(constraints: Sequence[Any]) -> str:
    return next(str(item.name) for item in constraints if isinstance(item, Unilateral))


def _nothing(_: Any) -> Any:
    return sp.Integer(0)
