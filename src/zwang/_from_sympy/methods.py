"""Systems from `sympy.physics.mechanics`: Lagrange's and Kane's methods, and SymPy's own System.

Dynamic symbols q(t) become coordinates of the same name, their derivatives the velocities. A Lagrangian L gives the
energies T = L - L(v = 0), V = -L(v = 0). Kane's method gives the mass matrix and the forces of the bodies without their
constraints, which become constraints here: their reactions are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang._declare.constraints import Bilateral
from zwang._declare.symbols import Coordinate, coordinates, rate, t
from zwang._declare.system import System
from zwang._from_sympy.probes import follows
from zwang._from_sympy.speeds import Kinematics, free_equations, kinematics, velocity_constraints
from zwang.errors import DeclarationError


def from_sympy(obj: Any, *, name: str = "system", angles: str | Iterable[str] | bool = ()) -> System:
    """Return the system that an object of `sympy.physics.mechanics` describes.

    Parameters
    ----------
    obj : LagrangesMethod, KanesMethod or System
        Holonomic constraints become `Bilateral` at the position level ('holonomic1', ...), nonholonomic ones at the
        velocity level ('nonholonomic1', ...); velocity constraints that follow from others are left out. Generalized
        speeds may be any that the kinematical equations give; they are written in the velocities of the coordinates.
        Coordinates beyond the speeds, such as those of a contact point, are tied by velocity constraints; a speed
        ``u`` that is in no kinematical equation gets an ignorable coordinate ``q_u``, whose velocity it is.
    name : str
        What the system is called.
    angles : str, sequence of str, or True
        The coordinates that are angles, as for `zwang.coordinates`; True: all that were given.

    Returns
    -------
    System
        Its multipliers have zwang's sign, which in SymPy's Lagrange equations is the opposite one.

    Examples
    --------
    >>> import zwang as zw
    >>> from sympy import cos, symbols
    >>> from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols
    >>> theta = dynamicsymbols("theta")
    >>> m, g, l = symbols("m g l")
    >>> lagrangian = m * l**2 * theta.diff() ** 2 / 2 + m * g * l * cos(theta)
    >>> zw.from_sympy(LagrangesMethod(lagrangian, [theta]), name="pendulum", angles="theta")
    System 'pendulum'
      coordinates  theta (angle)
      parameters   g, l, m
      kinetic      l**2*m*v_theta**2/2
      potential    -g*l*m*cos(theta)
    """
    from sympy.physics import mechanics

    if isinstance(obj, mechanics.LagrangesMethod):
        return _from_lagrange(obj, name, angles)
    if isinstance(obj, mechanics.KanesMethod):
        return _from_kane(obj, name, angles)
    if isinstance(obj, mechanics.System):
        return _from_mechanics_system(obj, name, angles)
    raise DeclarationError(
        f"from_sympy takes a LagrangesMethod, KanesMethod or System of sympy.physics.mechanics; it was given {obj!r}."
    )


# --- the three kinds of objects --------------------------------------------------------------------------------------


def _from_lagrange(method: Any, name: str, angles: Any) -> System:
    words = _Dictionary(name, list(method.q), list(method.q.diff()), angles)
    lagrangian = words(method._L[0], "the Lagrangian")
    at_rest = lagrangian.xreplace(dict.fromkeys((q.velocity for q in words.q), sp.Integer(0)))
    holonomic = list(method._hol_coneqs)
    return System(
        name=name,
        kinetic=lagrangian - at_rest,
        potential=-at_rest,
        forces=_generalized_forces(method, words),
        constraints=_constraints(words, holonomic, list(method.coneqs)[len(holonomic) :]),
        coordinates=words.q,
    )


def _generalized_forces(method: Any, words: _Dictionary) -> dict[Coordinate, Any]:
    """Return the forces of the force list on each coordinate: the partial velocity of where they act, times them."""
    found: dict[Coordinate, list[Any]] = {}
    for target, vector in method.forcelist:
        place = getattr(target, "masscenter", target)
        velocity = place.ang_vel_in(method.inertial) if hasattr(place, "ang_vel_in") else place.vel(method.inertial)
        for q, qdot in zip(words.q, method.q.diff(), strict=True):
            force = velocity.diff(qdot, method.inertial).dot(vector)
            if force != 0:
                found.setdefault(q, []).append(words(force, f"the force on {target}"))
    return {q: sp.Add(*terms) for q, terms in found.items()}


def _from_kane(method: Any, name: str, angles: Any) -> System:
    _refuse_auxiliary(method._uaux, "KanesMethod", name)
    if method.bodies is None:
        raise DeclarationError(
            f"from_sympy: {name}: the KanesMethod has no bodies. Give bodies= and forcelist=, or call kanes_equations."
        )
    known = kinematics(method, name)
    nonholonomic = velocity_constraints(method, known)
    frame, bodies, loads = method._inertial, method.bodies, method.loads
    return _from_bodies(frame, bodies, loads, known, list(method._f_h), nonholonomic, name, angles)


def _from_mechanics_system(system: Any, name: str, angles: Any) -> System:
    from sympy.physics import mechanics

    if isinstance(system.eom_method, mechanics.LagrangesMethod):
        return _from_lagrange(system.eom_method, name, angles)
    _refuse_auxiliary(system.u_aux, "System", name)
    stored = [body for body in system.bodies if getattr(body, "potential_energy", 0) != 0]
    if stored and system.eom_method is None:
        raise DeclarationError(
            f"from_sympy: {name}: '{stored[0].name}' has a potential energy, which Kane's method would not see. Call "
            "form_eoms(LagrangesMethod) first, or give the force as a load and call form_eoms()."
        )
    loads = [*system.loads, *(load for actuator in system.actuators for load in actuator.to_loads())]
    # Joints may have derivatives themselves as speeds, which Kane's method can't take.
    stand_ins = {item: sp.Function(f"speed_{i}")(_clock()) for i, item in enumerate(system.u) if item.is_Derivative}
    speeds = [stand_ins.get(item, item) for item in system.u]
    equations = [*system.kdes, *(stand_in - item for item, stand_in in stand_ins.items())]
    known = kinematics(mechanics.KanesMethod(system.frame, list(system.q), speeds, equations), name)
    holonomic, nonholonomic = list(system.holonomic_constraints), list(system.velocity_constraints)
    return _from_bodies(system.frame, system.bodies, loads, known, holonomic, nonholonomic, name, angles)


def _refuse_auxiliary(speeds: Any, kind: str, name: str) -> None:
    if len(speeds):
        raise DeclarationError(
            f"from_sympy: {name}: the {kind} has auxiliary speeds ({speeds[0]}). Leave them out: reactions come from "
            "the constraints."
        )


def _from_bodies(
    frame: Any,
    bodies: Any,
    loads: Any,
    known: Kinematics,
    holonomic: list[Any],
    speeds: list[Any],
    name: str,
    angles: Any,
) -> System:
    """Return the system of free bodies, with their constraints beside it."""
    rates = [sp.Function(f"rate_{i}_of_{item.func.__name__}")(_clock()) for i, item in enumerate(known.q)]
    # A coordinate that a speed got is no angle for all that: True speaks of those that were given.
    turning = [item.func.__name__ for item in known.q[: known.given]] if angles is True else angles
    words = _Dictionary(name, known.q, rates, turning, known.speeds)
    mass, force = free_equations(frame, bodies, loads, known, rates)
    return System(
        name=name,
        mass=mass.applyfunc(lambda item: words(item, "the mass matrix")),
        force=[words(item, "the forces") for item in force],
        constraints=_constraints(words, holonomic, [*speeds, *known.rows]),
        coordinates=words.q,
    )


# --- from dynamic symbols to ours ------------------------------------------------------------------------------------


class _Dictionary:
    """Translates expressions in dynamic symbols into expressions in coordinates, velocities and zwang's time."""

    def __init__(
        self, name: str, q: list[Any], rates: list[Any], angles: Any, speeds: Mapping[Any, Any] | None = None
    ) -> None:
        self.name = name
        clock = _clock()
        self.q, v = coordinates([item.func.__name__ for item in q], angles=angles)
        self.words: dict[Any, Any] = {clock: t}
        for item, rate_of_it, position, velocity in zip(q, rates, self.q, v, strict=True):
            self.words |= {item: position, item.diff(clock): velocity, rate_of_it: velocity}
        self.words |= {speed: self(expr, f"the speed '{speed}'") for speed, expr in (speeds or {}).items()}

    def __call__(self, expr: Any, where: str) -> Any:
        translated = sp.Add(expr).doit().xreplace(self.words)
        left = sorted(map(str, translated.atoms(AppliedUndef, sp.Derivative)))
        if left:
            raise DeclarationError(
                f"from_sympy: {self.name}: {where} has '{left[0]}', which is neither a coordinate nor a speed. Replace "
                "it by an expression of time before."
            )
        return translated


def _clock() -> Any:
    from sympy.physics.mechanics import dynamicsymbols

    return dynamicsymbols._t


def _constraints(words: _Dictionary, holonomic: list[Any], speeds: list[Any]) -> list[Bilateral]:
    positions = [words(expr, f"holonomic constraint {i + 1}") for i, expr in enumerate(holonomic)]
    listed = [Bilateral(expr, name=f"holonomic{i + 1}") for i, expr in enumerate(positions)]
    v = [item.velocity for item in words.q]
    rows = [_affine(rate(expr), v) for expr in positions]
    kept = []
    for i, expr in enumerate(speeds):
        translated = words(expr, f"velocity constraint {i + 1}")
        row = _affine(translated, v)
        if not follows(row, rows, positions, words.q):
            rows.append(row)
            kept.append(translated)
    return listed + [Bilateral(expr, name=f"nonholonomic{i + 1}") for i, expr in enumerate(kept)]


def _affine(expr: Any, v: list[Any]) -> list[Any]:
    """Return the coefficients of the velocities in an affine expression, and the rest."""
    return [*(sp.diff(expr, item) for item in v), expr.subs(dict.fromkeys(v, 0))]
