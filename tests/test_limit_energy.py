"""Springs by a general energy W(q), the conditions of the theorem on them, and the bound b/rho of strong friction."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang.errors import DeclarationError

(X, Y, Z), (VX, VY, VZ) = zw.coordinates("x y z")
DECADES = [1e4, 1e5, 1e6, 1e7]


def bowl(*constraints: object) -> zw.System:
    """A unit mass pushed off a curve in space."""
    held = constraints or (zw.Bilateral(Y, name="a"), zw.Bilateral(Z - X**2 / 4, name="b"))
    push = {X: Y, Y: 1, Z: sp.Rational(1, 2)}
    return zw.System(name="bowl", kinetic=(VX**2 + VY**2 + VZ**2) / 2, forces=push, constraints=list(held))


ALONG = {"x": 0.1, "y": 0.0, "z": 0.0025, "v_x": 0.3, "v_y": 0.0, "v_z": 0.015}


def test_one_energy_is_added_once_for_all_its_constraints() -> None:
    W = Y**2 + Y * (Z - X**2 / 4) + (Z - X**2 / 4) ** 2
    soft = zw.realize(bowl(), ["a", "b"], by=zw.Stiffness("N", energy=W))
    assert not len(soft.constraints)
    assert sp.expand(soft.potential - zw.parameters("N") * W) == 0
    mine = {"a": zw.Stiffness("N", energy=Y**2), "b": zw.Stiffness("N", energy=(Z - X**2 / 4) ** 2)}
    apart = zw.realize(bowl(), ["a", "b"], by=mine)
    assert sp.expand(apart.potential - zw.parameters("N") * (Y**2 + (Z - X**2 / 4) ** 2)) == 0


def test_the_square_as_an_energy_is_the_spring_itself() -> None:
    held = zw.gallery.get("kozlov_neishtadt")
    (_, y) = held.system.coordinates
    same = [zw.realize(held.system, "floor", by=by) for by in (zw.Stiffness("N"), zw.Stiffness("N", energy=y**2 / 2))]
    assert sp.expand(same[0].potential - same[1].potential) == 0
    text = zw.realize(held.system, "floor", by=zw.Stiffness("N", energy="y**2/2"))
    assert sp.expand(text.potential - same[0].potential) == 0


def test_orders_are_those_of_the_theorem_for_an_energy_that_is_coupled_and_not_quadratic() -> None:
    # Kozlov, Neishtadt 1990: (2.1), (2.2), (2.3) for any W that meets condition 2.
    f = Z - X**2 / 4
    W = (1 + X**2) * Y**2 / 2 + f**2 + Y * f / 2 + Y**3 + f**2 * Y
    study = zw.limit(bowl(), ["a", "b"], ALONG, by=zw.Stiffness(energy=W), until=1.0, strengths=DECADES)
    wanted = {
        "position": -1.0,
        "velocity": -0.5,
        "tangential velocity": -1.0,
        "normal velocity": -0.5,
        "integral": -0.5,
    }
    for name, order in wanted.items():
        assert study.orders[name].value == pytest.approx(order, abs=0.03), name
    assert study.status.name == "CONVERGES" and all(study.conditions.values()) and len(study.conditions) == 6
    middle = slice(40, -40)
    for name in ("a", "b"):  # the weak limit of what stands for a multiplier is the ideal reaction
        assert study.mean_force[name][middle] == pytest.approx(study.ideal_force[name][middle], abs=0.05)


@pytest.mark.parametrize(
    ("W", "failing"),
    [
        (Y**4 + (Z - X**2 / 4) ** 2, {"W grows across the constraints"}),
        (Y**2, {"W grows across the constraints"}),
        (Y**2 + X**2 + (Z - X**2 / 4) ** 2, {"W vanishes on the constraints", "W is least on the constraints"}),
        (sp.Abs(Y) ** 3 + Y**2 + (Z - X**2 / 4) ** 2, {"W is smooth", "W grows across the constraints"}),
    ],
)
def test_conditions_of_the_theorem_that_fail_are_named(W: sp.Expr, failing: set[str]) -> None:
    study = zw.limit(bowl(), ["a", "b"], ALONG, by=zw.Stiffness(energy=W), until=0.5, strengths=DECADES[:3])
    assert {name for name, holds in study.conditions.items() if not holds} == failing
    (note,) = [note for note in study.notes if "Kozlov, Neishtadt 1990" in note]
    assert all(name in note for name in failing)


def test_a_start_across_and_dependent_constraints_are_named_too() -> None:
    across = zw.limit(bowl(), ["a", "b"], {**ALONG, "v_y": 0.2}, by=zw.Stiffness, until=0.5, strengths=DECADES[:3])
    assert not across.conditions["the motion starts along the constraints"]
    friction = zw.gallery.get("sleigh")
    by_friction = zw.limit(
        friction.system, "blade", friction.state, friction.params, by=zw.Viscosity, until=1.0, strengths=[1e2, 1e3, 1e4]
    )
    assert by_friction.conditions == {}  # the theorem is about springs


@pytest.mark.nightly
def test_equal_frequencies_have_a_limit_and_energies_that_are_coupled_too() -> None:
    # w = 1 + x^2 for both oscillations: x'' = -J dw/dx with J = E/w = 0.5/1.25, so x'' = -0.8 x from x = 0.5.
    flat = zw.System(
        name="flat",
        kinetic=(VX**2 + VY**2 + VZ**2) / 2,
        constraints=[zw.Bilateral(Y, name="a"), zw.Bilateral(Z, name="b")],
    )
    start = {"x": 0.5, "y": 0.0, "z": 0.0, "v_x": 0.0, "v_y": 0.8, "v_z": 0.6}
    closed = 0.5 * math.cos(math.sqrt(0.8))
    for shape in (Y**2 + Z**2, Y**2 + Y * Z + 3 * Z**2):  # the second: coupled, other frequencies, the same sum
        study = zw.limit(
            flat, ["a", "b"], start, by=zw.Stiffness(energy=(1 + X**2) ** 2 * shape / 2), until=1.0, strengths=DECADES
        )
        assert study.status.name == "CONVERGES_ELSEWHERE" and "ends" not in study.verdict.sentence
        assert study.limit is not None and study.limit.q[-1, 0] == pytest.approx(closed, abs=1e-7)
        assert study.limit.order.value == pytest.approx(-0.5, abs=0.02)


def test_an_energy_on_one_side_acts_there_alone_and_its_friction_follows_it() -> None:
    x, y = X, Y
    floor = zw.System(
        name="floor",
        kinetic=(VX**2 + VY**2) / 2,
        potential=y,
        coordinates=(x, y),
        constraints=[zw.Unilateral(y, name="ground", friction=zw.Coulomb("mu", slip=VX))],
    )
    soft = zw.realize(floor, "ground", by=zw.Stiffness(100, energy=y**2 + y**4))
    assert [type(item).__name__ for item in soft.constraints] == ["Friction"]
    deep, high = ({"x": 0.0, "y": value, "v_x": 1.0, "v_y": 0.0} for value in (-0.1, 0.1))
    # below: -N dW/dy = 100 (0.2 + 0.004) = 20.4 up and mu times that against the slip; above: weight alone
    assert zw.reactions(soft, deep, {"mu": 0.5}).accelerations[0] == pytest.approx([-10.2, 19.4])
    assert zw.reactions(soft, high, {"mu": 0.5}).accelerations[0] == pytest.approx([0.0, -1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: zw.Stiffness(1, energy=Y**2, weight=2), "energy= and weight= were given together"),
        (lambda: zw.Stiffness(1, energy=Y**2, ratio=1), "energy= and ratio= were given together"),
        (lambda: zw.realize(bowl(), "a", by=zw.Stiffness(1, energy=VY**2)), "depends on the velocity 'v_y'"),
        (lambda: zw.realize(bowl(), "a", by=zw.Stiffness(1, energy=3)), "depends on no coordinate"),
        (
            lambda: zw.realize(
                bowl(zw.Unilateral(Y, name="a"), zw.Bilateral(Z, name="b")), ["a", "b"], by=zw.Stiffness(1, energy=Y**2)
            ),
            "'a' is one-sided: where would it act",
        ),
    ],
)
def test_energies_that_can_not_be_are_refused_with_a_cure(make: object, message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        make()  # type: ignore[operator]


# --- the bound b/rho -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sleigh", "freewheel", "ratchet"])
def test_violations_stay_below_b_over_rho_and_reach_it_for_one_constraint(name: str) -> None:
    entry = zw.gallery.get(name)
    sided = [str(item.name) for item in entry.system.constraints if getattr(item, "level", "") == "velocity"]
    study = zw.limit(
        entry.system, sided, entry.state, entry.params, by=zw.Viscosity, until=2.0, strengths=[1e2, 1e3, 1e4]
    )
    # To first order in 1/rho: beyond it the realized motion, along which b is taken, is not the ideal one.
    assert (study.violation <= study.bound * (1 + 10 / study.strengths)).all()
    assert study.violation[-1] == pytest.approx(study.bound[-1], rel=1e-3)  # lam/rho
    assert "b/rho" in repr(study)


def test_violations_of_coupled_rows_beside_a_nonholonomic_one_stay_below_b_over_rho() -> None:
    a, b, c, *push = zw.parameters("a b c F1 F2 F3")
    rows = [zw.Unilateral(-VX - a * VY, name="first"), zw.Unilateral(-VY - b * VX - c, name="second")]
    system = zw.System(
        name="coupled",
        kinetic=(VX**2 + VY**2 + VZ**2) / 2,
        forces=dict(zip((X, Y, Z), push, strict=True)),
        constraints=[*rows, zw.Bilateral(VZ - X * VX, name="roll")],
    )
    rng = np.random.default_rng(0)
    for _ in range(6):
        A, B, C = rng.uniform(-0.8, 0.8, size=3)
        v = np.linalg.solve([[-1.0, -A], [-B, -1.0]], [1.0, 1.0 + C])  # both rows have the value 1
        state = {"x": 0.2, "y": 0.0, "z": 0.0, "v_x": v[0], "v_y": v[1], "v_z": 0.2 * v[0]}
        params = {"a": A, "b": B, "c": C, **dict(zip(("F1", "F2", "F3"), rng.uniform(1, 3, size=3), strict=True))}
        study = zw.limit(
            system, ["first", "second"], state, params, by=zw.Viscosity, until=6.0, strengths=[1e2, 1e3, 1e4]
        )
        assert (study.violation <= study.bound * (1 + 10 / study.strengths) + 1e-12).all()
        assert np.diff(np.log(study.bound)) == pytest.approx(np.log(0.1)) and study.violation[-1] > 0


def test_a_recommendation_for_friction_tells_the_violation_and_its_bound() -> None:
    entry = zw.gallery.get("sleigh")
    found = zw.recommend(entry.system, "blade", entry.state, entry.params, by=zw.Viscosity, until=2.0)
    assert 0 < found.violation <= found.bound * (1 + 10 / found.strength)
    assert found.bound == pytest.approx(1 / found.strength, rel=1e-3)  # m V omega = 1 on the circle
    spring = zw.gallery.get("kozlov_neishtadt")
    other = zw.recommend(spring.system, "floor", spring.state, until=1.0)
    assert math.isnan(other.bound) and math.isnan(other.violation)
