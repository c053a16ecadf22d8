"""Systems from `sympy.physics.mechanics`: Lagrange's and Kane's methods, and SymPy's own System.

Dynamic symbols q(t) become coordinates of the same name, their derivatives (or generalized speeds u = dq/dt) the
velocities. A Lagrangian L gives the energies T = L - L(v = 0), V = -L(v = 0). Kane's method gives the mass matrix and
the forces of the bodies without their constraints, which become constraints here: their reactions are asked for.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang._declare.constraints import Bilateral
from zwang._declare.symbols import Coordinate, coordinates, rate, t
from zwang._declare.system import System
from zwang.errors import DeclarationError

PROBES = 3


def from_sympy(obj: Any, *, name: str = "system", angles: str | Iterable[str] | bool = ()) -> System:
    """Return the system that an object of `sympy.physics.mechanics` describes.

    Parameters
    ----------
    obj : LagrangesMethod, KanesMethod or System
        Its generalized speeds must be the derivatives of its coordinates. Holonomic constraints become `Bilateral` at
        the position level ('holonomic1', ...), nonholonomic ones at the velocity level ('nonholonomic1', ...); velocity
        constraints that only repeat the rates of holonomic ones are left out.
    name : str
        What the system is called.
    angles : str, sequence of str, or True
        The coordinates that are angles, as for `zwang.coordinates`.

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
    if method._uaux:
        raise DeclarationError(
            f"from_sympy: {name}: the KanesMethod has auxiliary speeds ({method._uaux[0]}). Leave them out: reactions "
            "come from the constraints."
        )
    if method.bodies is None:
        raise DeclarationError(
            f"from_sympy: {name}: the KanesMethod has no bodies. Give bodies= and forcelist=, or call kanes_equations."
        )
    speeds = list(method._k_nh * method.u + method._f_nh) if method._k_nh else []
    holonomic = list(method._f_h)
    frame, bodies, loads = method._inertial, method.bodies, method.loads
    return _from_bodies(frame, bodies, loads, _speeds(method, name), holonomic, speeds, name, angles)


def _from_mechanics_system(system: Any, name: str, angles: Any) -> System:
    from sympy.physics import mechanics

    if isinstance(system.eom_method, mechanics.LagrangesMethod):
        return _from_lagrange(system.eom_method, name, angles)
    stored = [body for body in system.bodies if getattr(body, "potential_energy", 0) != 0]
    if stored and system.eom_method is None:
        raise DeclarationError(
            f"from_sympy: {name}: '{stored[0].name}' has a potential energy, which Kane's method would not see. Call "
            "form_eoms(LagrangesMethod) first, or give the force as a load and call form_eoms()."
        )
    loads = [*system.loads, *(load for actuator in system.actuators for load in actuator.to_loads())]
    pairs = _speeds(mechanics.KanesMethod(system.frame, system.q, system.u, system.kdes), name)
    return _from_bodies(
        system.frame,
        system.bodies,
        loads or None,
        pairs,
        list(system.holonomic_constraints),
        list(system.velocity_constraints),
        name,
        angles,
    )


def _from_bodies(
    frame: Any,
    bodies: Any,
    loads: Any,
    pairs: Sequence[tuple[Any, Any]],
    holonomic: list[Any],
    speeds: list[Any],
    name: str,
    angles: Any,
) -> System:
    """Return the system of free bodies, with their constraints beside it; `pairs` are (q, u) with u = dq/dt."""
    from sympy.physics.mechanics import KanesMethod

    q, u = [position for position, _ in pairs], [speed for _, speed in pairs]
    free = KanesMethod(frame, q, u, [position.diff() - speed for position, speed in pairs])
    free.kanes_equations(bodies, list(loads) if loads else None)
    words = _Dictionary(name, q, u, angles)
    mass = free.mass_matrix.applyfunc(lambda item: words(item, "the mass matrix"))
    force = free.forcing.applyfunc(lambda item: words(item, "the forces"))
    return System(
        name=name,
        mass=mass,
        force=list(force),
        constraints=_constraints(words, holonomic, speeds),
        coordinates=words.q,
    )


def _speeds(method: Any, name: str) -> list[tuple[Any, Any]]:
    """Return the pairs of a coordinate and the speed that is its derivative."""
    if method._qdot_u_map is None:
        raise DeclarationError(f"from_sympy: {name}: the KanesMethod has no kinematical equations. Give kd_eqs=.")
    known = list(method.u)
    pairs = []
    for position in method.q:
        derivative = position.diff()
        speed = derivative if derivative in known else sp.expand(method._qdot_u_map[derivative])
        if speed not in known:
            raise DeclarationError(
                f"from_sympy: {name}: the derivative of '{position}' is {speed}, which is no generalized speed. Only "
                "speeds u = dq/dt can be taken over: declare the system with them, or by hand."
            )
        pairs.append((position, speed))
    return pairs


# --- from dynamic symbols to ours ------------------------------------------------------------------------------------


class _Dictionary:
    """Translates expressions in dynamic symbols into expressions in coordinates, velocities and zwang's time."""

    def __init__(self, name: str, q: list[Any], speeds: list[Any], angles: Any) -> None:
        self.name = name
        clock = _clock()
        self.q, v = coordinates([item.func.__name__ for item in q], angles=angles)
        self.words: dict[Any, Any] = {clock: t}
        for item, speed, position, velocity in zip(q, speeds, self.q, v, strict=True):
            self.words |= {item: position, item.diff(clock): velocity, speed: velocity}

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
    rates = [rate(expr) for expr in positions]
    kept = [words(expr, f"velocity constraint {i + 1}") for i, expr in enumerate(speeds)]
    kept = [expr for expr in kept if not _implied(expr, rates, words.q)]
    return listed + [Bilateral(expr, name=f"nonholonomic{i + 1}") for i, expr in enumerate(kept)]


def _implied(expr: Any, rates: list[Any], q: tuple[Coordinate, ...]) -> bool:
    """Say whether a velocity constraint follows from rates of holonomic ones, by ranks at random places."""
    if not rates:
        return False
    v = [item.velocity for item in q]
    rows = sp.Matrix([[*(sp.diff(row, item) for item in v), row.subs(dict.fromkeys(v, 0))] for row in [*rates, expr]])
    source = random.Random(3)
    symbols = sorted(rows.free_symbols, key=lambda symbol: symbol.name)
    for _ in range(PROBES):
        # Rational places: the ranks are then exact wherever the constraints are algebraic.
        values = {symbol: sp.Rational(source.randint(3, 97), 31) for symbol in symbols}
        here = rows.xreplace(values).evalf(50)
        if here.rank(iszerofunc=_vanishes) > here[:-1, :].rank(iszerofunc=_vanishes):
            return False
    return True


def _vanishes(number: Any) -> bool:
    return bool(abs(number) < 1e-30)
