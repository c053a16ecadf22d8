"""Realizing what can't be realized: every message names what was given, what was needed and a cure."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

import zwang as zw

(x, y), (vx, vy) = zw.coordinates("x y")
m, mu, N = zw.parameters("m mu N")
SYSTEM = zw.System(
    name="cart",
    kinetic=m * (vx**2 + vy**2) / 2,
    constraints=[
        zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx), name="floor"),
        zw.Bilateral(vx - vy, name="wheel"),
        zw.Friction(2, slip=vx, name="brake"),
    ],
)


def realize(constraint: Any = "floor", by: Any = None) -> zw.System:
    return zw.realize(SYSTEM, constraint, by=zw.Stiffness(N) if by is None else by)


class Forgetful:
    strength = 1

    def soften(self, system: zw.System, constraint: Any, strength: Any) -> Any:
        return system


class Silent(Forgetful):
    def soften(self, system: zw.System, constraint: Any, strength: Any) -> Any:
        return None


five, speeds = zw.coordinates("q1:6")
CHAIN = zw.System(
    kinetic=sum(speeds) ** 2 / 2 + sum(v**2 for v in speeds),
    constraints=[zw.Bilateral(five[0], name="end")],
    name="arm",
)

MISTAKES = {
    "no such constraint": (
        lambda: realize("flor"),
        "cart: there is no constraint 'flor'. Did you mean 'floor'?",
    ),
    "no such constraint in a list": (
        lambda: realize(["floor", "q"]),
        "cart: there is no constraint 'q'. Known: 'floor'",
    ),
    "no constraint": (lambda: realize([]), "cart: realize was given no constraint. Give a name or a list of names."),
    "not a name": (
        lambda: realize(SYSTEM.constraints["floor"]),
        "cart: realize needs the names of constraints; it was given Unilateral",
    ),
    "a number": (lambda: realize(3), "cart: realize needs the names of constraints; it was given 3. Known: 'floor'"),
    "twice": (lambda: realize(["floor", "floor"]), "cart: realize was given the constraint 'floor' twice."),
    "friction": (
        lambda: realize("brake"),
        "cart: 'brake' is Friction with a bound of its own: it is a force already, and has no normal",
    ),
    "not a system": (
        lambda: zw.realize("cart", "floor", by=zw.Stiffness(N)),
        "realize needs a System; it was given 'ca",
    ),
    "stiffness of a velocity": (
        lambda: realize("wheel"),
        "cart: 'wheel' is a constraint on velocities, and Stiffness makes constraints on positions. Use Viscosity(rho)",
    ),
    "viscosity of a position": (
        lambda: realize("floor", zw.Viscosity(3)),
        "cart: 'floor' is a constraint on positions, and Viscosity makes constraints on velocities. Use Stiffness(N).",
    ),
    "softened directly": (
        lambda: zw.Stiffness().soften(SYSTEM, SYSTEM.constraints["wheel"], 3),
        "cart: 'wheel' is a constraint on velocities",
    ),
    "a class": (
        lambda: realize("floor", zw.Stiffness),
        "cart: by= was given the class Stiffness; realize needs a strength. Give by=Stiffness(N).",
    ),
    "another class": (lambda: realize("wheel", zw.Viscosity), "Give by=Viscosity(rho)."),
    "no strength": (
        lambda: realize("floor", zw.Stiffness(weight=2)),
        "Stiffness: N is missing: there is no default. Give Stiffness(N)",
    ),
    "no viscosity": (lambda: realize("wheel", zw.Viscosity()), "Viscosity: rho is missing: there is no default."),
    "a number as by": (
        lambda: realize("floor", 1e5),
        "cart: by= must be Stiffness(N), Viscosity(rho) or an object with a strength and a method soften(system, con",
    ),
    "by for another": (
        lambda: realize("floor", {"flour": zw.Stiffness(N)}),
        "cart: by= names 'flour', which is not to be realized. Did you mean 'floor'?",
    ),
    "by for some": (
        lambda: realize(["floor", "wheel"], {"floor": zw.Stiffness(N)}),
        "cart: by= doesn't say what makes 'wheel'. Give it for every name.",
    ),
    "zero": (lambda: zw.Stiffness(0), "Stiffness: N must be above zero; it was given 0."),
    "negative": (lambda: zw.Stiffness(-3.5), "Stiffness: N must be above zero; it was given -3.5."),
    "negative symbol": (lambda: zw.Stiffness(-(m**2)), "Stiffness: N must be above zero; it was given -m**2."),
    "infinite": (lambda: zw.Stiffness(float("inf")), "Stiffness: N must be above zero; it was given inf."),
    "not a number": (lambda: zw.Stiffness(float("nan")), "Stiffness: N must be above zero; it was given nan."),
    "true": (
        lambda: zw.Stiffness(True),
        "Stiffness: N: an expression, a number or a text is needed; it was given True",
    ),
    "zero as text": (lambda: realize("floor", zw.Stiffness("0")), "Stiffness: N must be above zero; it was given 0."),
    "zero by a verb": (
        lambda: zw.Stiffness().soften(SYSTEM, SYSTEM.constraints["floor"], 0),
        "Stiffness: N must be above zero; it was given 0.",
    ),
    "strength of a coordinate": (
        lambda: realize("floor", zw.Stiffness(1 + x**2)),
        "Stiffness: N must be a number or a parameter; it depends on 'x'. Give Stiffness(N); what varies along the "
        "constraint goes into weight=.",
    ),
    "strength of time": (
        lambda: realize("wheel", zw.Viscosity(1 + zw.t**2)),
        "Viscosity: rho must be a number or a parameter; it depends on 't'.",
    ),
    "weight zero": (lambda: zw.Stiffness(N, weight=0), "Stiffness: weight must be above zero; it was given 0."),
    "weight negative": (lambda: zw.Stiffness(N, weight=-2), "Stiffness: weight must be above zero; it was given -2."),
    "weight negative everywhere": (lambda: zw.Stiffness(N, weight=-1 - x**2), "weight must be above zero"),
    "weight of a velocity": (
        lambda: realize("floor", zw.Stiffness(N, weight=1 + vx**2)),
        "Stiffness: weight= depends on the velocity 'v_x'; a potential can't. Use damping=.",
    ),
    "damping negative": (
        lambda: zw.Stiffness(N, damping=-1),
        "Stiffness: damping must be zero or more; it was given -1.",
    ),
    "ratio negative": (
        lambda: zw.Stiffness(N, ratio=-0.1),
        "Stiffness: ratio must be zero or more; it was given -0.1.",
    ),
    "damping and ratio": (
        lambda: zw.Stiffness(N, damping=1, ratio=0.5),
        "Stiffness: damping=1 and ratio=0.500000000000000 were given together. Give one of the two",
    ),
    "rho negative": (lambda: zw.Viscosity(-1), "Viscosity: rho must be above zero; it was given -1."),
    "other side negative": (
        lambda: zw.Viscosity(1, other_side=-1),
        "Viscosity: other_side must be zero or more; it was",
    ),
    "unknown word": (
        lambda: realize("floor", zw.Stiffness(N, weight="x +")),
        "Stiffness: weight",
    ),
    "strength that is a coordinate by name": (lambda: realize("floor", zw.Stiffness("x")), "it depends on 'x'"),
    "two symbols of one name": (
        lambda: realize("floor", zw.Stiffness(sp.Symbol("m"))),
        "two different symbols are called 'm'",
    ),
    "share of a large mass": (
        lambda: zw.realize(CHAIN, "end", by=zw.Stiffness(N, ratio=1)),
        "'end' by Stiffness: kinetic energy couples 5 coordinates of this constraint, so that its effective mass has "
        "no short formula (at most 4). Give damping= instead of ratio=.",
    ),
    "constraint left in": (
        lambda: realize("floor", Forgetful()),
        "Forgetful.soften returned a system that still has the constraint 'floor'. Leave it out of constraints=.",
    ),
    "nothing returned": (lambda: realize("floor", Silent()), "Silent.soften must return a System; it returned None."),
}


@pytest.mark.parametrize("label", MISTAKES)
def test_mistakes_are_told(label: str) -> None:
    act, message = MISTAKES[label]
    with pytest.raises(zw.DeclarationError) as raised:
        act()
    assert message in str(raised.value)


def test_damping_of_zero_may_stand_beside_a_ratio() -> None:
    assert zw.Stiffness(N, damping=0, ratio=0.5).ratio == 0.5


def test_a_large_coupled_mass_may_have_damping_in_numbers() -> None:
    assert zw.realize(CHAIN, "end", by=zw.Stiffness(N, damping=2)).forces == {five[0]: -2 * speeds[0]}
