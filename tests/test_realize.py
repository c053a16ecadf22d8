"""Realizing constraints: the forces, against closed forms and hand-derived equations; systems stay systems."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._declare.numeric_values import Evaluator
from zwang._derive import derive
from zwang._realize import REALIZATIONS, Realization

(x, y), (vx, vy) = zw.coordinates("x y")
m, g, l, mu, N, c, k, rho, h = zw.parameters("m g l mu N c k rho h")
KINETIC = m * (vx**2 + vy**2) / 2
CIRCLE = sp.sqrt(x**2 + y**2) - l


def particle(*constraints: Any, **changes: Any) -> zw.System:
    arguments = {"name": "particle", "kinetic": KINETIC, "potential": m * g * y, "constraints": constraints}
    return zw.System(**(arguments | changes))


def the_same(a: Any, b: Any) -> bool:
    return sp.simplify(sp.Matrix(a) - sp.Matrix(b)) == sp.zeros(*sp.Matrix(a).shape)


def at(expr: Any, **values: float) -> float:
    value = Evaluator(expr)({symbol: values[symbol.name] for symbol in expr.free_symbols})
    assert value is not None
    return value


# --- springs ---------------------------------------------------------------------------------------------------------


def test_the_example_of_kozlov_and_neishtadt_has_exactly_the_equations_of_the_paper() -> None:
    softened = zw.realize(zw.gallery.get("kozlov_neishtadt").system, "floor", by=zw.Stiffness(N))
    assert derive(softened).mass == sp.eye(2)
    assert derive(softened).force == sp.Matrix([y, 1 - N * y])  # x'' = y, y'' = 1 - N y (section 2, corrected)
    assert softened.potential == N * y**2 / 2
    assert softened.constraints.names == ()


def test_a_particle_on_a_circle_gets_a_radial_spring() -> None:
    softened = zw.realize(particle(zw.Bilateral(CIRCLE, name="circle")), "circle", by=zw.Stiffness(N, weight=2))
    r = sp.sqrt(x**2 + y**2)
    assert the_same([softened.potential], [m * g * y + N * (r - l) ** 2])  # Kozlov and Neishtadt: N W, W = f^2
    radial = -2 * N * (r - l)
    assert the_same(derive(softened).force, [radial * x / r, radial * y / r - m * g])


def test_the_gradient_of_the_weight_is_part_of_the_force() -> None:
    softened = zw.realize(particle(zw.Bilateral(y, name="line")), "line", by=zw.Stiffness(N, weight=(1 + x**2) ** 2))
    by_hand = [-2 * N * x * (1 + x**2) * y**2, -N * (1 + x**2) ** 2 * y - m * g]
    assert the_same(derive(softened).force, by_hand)


def test_a_moving_constraint_takes_spring_and_dashpot_along() -> None:
    moving = zw.Bilateral(y - l * sp.sin(zw.t), name="line")
    softened = zw.realize(particle(moving), "line", by=zw.Stiffness(N, damping=c))
    push = -N * (y - l * sp.sin(zw.t)) - c * (vy - l * sp.cos(zw.t))
    assert the_same(derive(softened).force, [0, push - m * g])


@pytest.mark.parametrize("constraint", [zw.Bilateral(CIRCLE, name="a"), zw.Unilateral(l - x * y, name="a")])
@pytest.mark.parametrize("by", [zw.Stiffness(N, weight=1 + x**2), zw.Stiffness(N, ratio=k), zw.Stiffness(7, damping=c)])
def test_energies_and_mass_with_force_give_the_same_equations(constraint: Any, by: zw.Stiffness) -> None:
    energies = zw.realize(particle(constraint), "a", by=by)
    equations = zw.System(
        mass=[[m, 0], [0, m]], force=[0, -m * g], forces={y: -vy}, coordinates=(x, y), constraints=[constraint]
    )
    by_force = zw.realize(equations, "a", by=by)
    assert by_force.forces == {y: -vy}
    difference = derive(by_force).force - derive(energies).force - sp.Matrix([0, -vy])
    for place in np.random.default_rng(2).uniform(-1.5, 1.5, (8, 4)):
        values = dict(zip(["x", "y", "v_x", "v_y"], place, strict=True))
        values |= {"m": 2.0, "g": 9.0, "l": 0.6, "N": 11.0, "c": 0.7, "k": 0.2}
        assert [at(entry, **values) for entry in difference] == pytest.approx([0, 0], abs=1e-12)


@pytest.mark.parametrize("weight", [2, 1 + x**2, sp.exp(x - y)])
def test_the_force_of_the_kernels_is_minus_the_slope_of_their_potential(weight: Any) -> None:
    gap = y - sp.sin(x) / 2
    system = particle(zw.Unilateral(gap, name="floor"), zw.Bilateral(CIRCLE, name="circle"))
    model = zw.compile(zw.realize(system, ["floor", "circle"], by=zw.Stiffness(50, weight=weight)), "reference")
    params, step, source = {"m": 2.0, "g": 3.0, "l": 1.0}, 1e-5, np.random.default_rng(4)
    for _ in range(10):
        place = dict(zip("xy", source.uniform(-1, 1, 2), strict=True)) | {"v_x": 0.0, "v_y": 0.0}
        force = model.terms(place, params).force[:, 0]
        for i, name in enumerate("xy"):
            ends = [model.energies(place | {name: place[name] + sign * step}, params)["potential"] for sign in (1, -1)]
            # Central differences of a C^1 potential with a bounded second derivative: O(step).
            assert force[i] == pytest.approx(-(ends[0] - ends[1]) / (2 * step), rel=1e-4, abs=1e-2)


# --- one-sided springs -----------------------------------------------------------------------------------------------


def one_sided(**options: Any) -> tuple[Any, Any]:
    """The force along y on a particle over a floor y >= 0, gravity aside, and the bound of its friction."""
    floor = zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx), restitution=0, name="floor")
    softened = zw.realize(particle(floor), "floor", by=zw.Stiffness(N, **options))
    assert derive(softened).force[0] == 0
    return derive(softened).force[1] + m * g, softened.constraints["floor"]


def test_a_floor_pushes_only_from_below_and_its_force_is_continuous() -> None:
    push, friction = one_sided()
    assert at(push, y=-0.2, N=10.0) == pytest.approx(2.0)
    assert at(push, y=0.2, N=10.0) == 0.0
    assert [at(push, y=sign * 1e-9, N=10.0) for sign in (-1, 0, 1)] == pytest.approx([0, 0, 0], abs=1e-7)
    assert isinstance(friction, zw.Friction)
    assert friction.slip == (vx,)
    assert at(friction.bound, y=-0.2, N=10.0, mu=0.3) == pytest.approx(0.6)
    assert at(friction.bound, y=0.2, N=10.0, mu=0.3) == 0.0


@pytest.mark.parametrize("options", [{"damping": c}, {"ratio": k}, {"ratio": 2, "weight": 1 + y**2}])
def test_spring_and_dashpot_never_pull_and_bound_the_friction_together(options: dict[str, Any]) -> None:
    push, friction = one_sided(**options)
    forces = []
    for height, speed in np.random.default_rng(3).uniform(-1, 1, (60, 2)):
        values = {"y": height, "v_y": speed, "N": 10.0, "c": 4.0, "k": 0.5, "m": 2.0, "mu": 0.3}
        forces.append(at(push, **values) + ("weight" in options and height < 0) * 10.0 * height**3)
        assert forces[-1] == 0.0 if height >= 0 else forces[-1] >= -1e-12
        assert at(friction.bound, **values) == pytest.approx(0.3 * forces[-1], abs=1e-12)
    assert sum(force > 0 for force in forces) > 10
    assert sum(abs(force) < 1e-12 for force in forces) > 30  # above the floor, and leaving it fast


def test_a_dashpot_is_clipped_without_a_jump_in_the_velocity() -> None:
    push, _ = one_sided(damping=c)
    place = {"y": -0.1, "N": 10.0, "c": 4.0}  # the spring pushes with 1; the dashpot pulls as much at the speed 1/4
    assert [at(push, v_y=speed, **place) for speed in (-0.25, 0.0, 0.2, 0.25, 0.3)] == pytest.approx([2, 1, 0.2, 0, 0])


def test_a_dashpot_that_is_met_with_a_speed_acts_at_once() -> None:
    push, _ = one_sided(damping=c)
    assert at(push, y=-1e-12, v_y=-2.0, N=10.0, c=4.0) == pytest.approx(8.0)  # Kelvin and Voigt: c times the speed
    assert at(push, y=-1e-12, v_y=+2.0, N=10.0, c=4.0) == 0.0
    assert at(push, y=0.0, v_y=-2.0, N=10.0, c=4.0) == 0.0


# --- damping as a share of the critical ------------------------------------------------------------------------------


def test_critical_damping_is_measured_by_the_mass_that_the_constraint_feels() -> None:
    (a, b, d), _ = zw.coordinates("a b d")
    mass = sp.Matrix([[2, 1, 0], [1, 3, 0], [0, 0, 5]])
    gap = a + 2 * b - d
    system = zw.System(mass=mass, force=[0, 0, 0], coordinates=(a, b, d), constraints=[zw.Bilateral(gap, name="gap")])
    softened = zw.realize(system, "gap", by=zw.Stiffness(9, weight=4, ratio=sp.Rational(1, 2)))
    w = sp.Matrix([[1, 2, -1]])
    mobility = (w * mass.inv() * w.T)[0]
    acceleration = (w * mass.inv() * derive(softened).force)[0]
    omega = sp.sqrt(36 * mobility)
    assert sp.simplify(acceleration + omega * zw.rate(gap) + omega**2 * gap) == 0  # f'' = -2 zeta omega f' - omega^2 f


def test_the_effective_mass_of_coupled_bodies_depends_on_the_pose() -> None:
    entry = zw.gallery.get("ellipse_pendulum")
    softened = zw.realize(entry.system, "ellipse", by=zw.Stiffness(100, ratio=1))
    values = {symbol: entry.params.get(symbol.name, entry.state.get(symbol.name)) for symbol in softened.parameters}
    values |= {symbol: entry.state[symbol.name] for symbol in (*softened.coordinates, *softened.velocities)}
    equations, w = derive(entry.system), np.array(derive(entry.system).rows.subs(values), dtype=float)
    mobility = (w @ np.linalg.solve(np.array(equations.mass.subs(values), dtype=float), w.T)).item()
    speed = float(equations.rates[0].subs(values))
    for i, q in enumerate(softened.coordinates):
        expected = -2 * np.sqrt(100 / mobility) * speed * w[0, i]
        assert float(softened.forces[q].subs(values)) == pytest.approx(expected, rel=1e-12)


# --- viscous friction ------------------------------------------------------------------------------------------------


def test_a_bilateral_skate_drags_on_both_sides() -> None:
    (_, _, phi), (vX, vY, w) = zw.coordinates("X Y phi", angles="phi")
    across = vY * sp.cos(phi) - vX * sp.sin(phi) - h * w
    skate = zw.System(kinetic=m * (vX**2 + vY**2 + w**2) / 2, constraints=[zw.Bilateral(across, name="blade")])
    softened = zw.realize(skate, "blade", by=zw.Viscosity(rho, other_side=3))  # other_side is for Unilateral
    drag = -rho * across
    assert the_same(derive(softened).force, [-drag * sp.sin(phi), drag * sp.cos(phi), -drag * h])


def test_a_one_sided_friction_has_its_offset_inside_and_a_viscosity_for_each_side() -> None:
    system = particle(zw.Unilateral(2 * vx - h, name="ratchet"), potential=0)
    only, both = (zw.realize(system, "ratchet", by=zw.Viscosity(rho, other_side=other)).forces[x] for other in (0, c))
    for speed in (-2.0, 0.5, 1.5, 3.0):
        values = {"v_x": speed, "h": 3.0, "rho": 10.0, "c": 0.2}
        rate = 2 * speed - 3.0
        assert at(only, **values) == pytest.approx(-10.0 * rate * 2 * (rate < 0))
        assert at(both, **values) == pytest.approx(-(10.0 if rate < 0 else 0.2) * rate * 2)


def test_friction_of_a_constraint_on_velocities_is_bounded_by_the_size_of_the_realized_force() -> None:
    blade = zw.Unilateral(vy, friction=zw.Coulomb(mu, slip=vx, scale=2), name="blade")
    for other, expected in ((0, 0.0), (c, 0.3 * 2 * 0.2 * 1.5)):
        softened = zw.realize(particle(blade), "blade", by=zw.Viscosity(rho, other_side=other))
        bound = softened.constraints["blade"].bound
        assert at(bound, v_y=-0.5, mu=0.3, rho=10.0, c=0.2) == pytest.approx(0.3 * 2 * 5.0)
        assert at(bound, v_y=1.5, mu=0.3, rho=10.0, c=0.2) == pytest.approx(expected)


def test_friction_of_a_bilateral_contact_is_bounded_by_the_size_of_the_spring_force() -> None:
    guide = zw.Bilateral(y, friction=zw.Coulomb(mu, slip=vx), name="guide")
    bound = zw.realize(particle(guide), "guide", by=zw.Stiffness(N)).constraints["guide"].bound
    assert [at(bound, y=height, N=10.0, mu=0.5) for height in (-0.2, 0.2)] == pytest.approx([1.0, 1.0])


def test_a_limit_that_falls_suddenly_is_realized_piece_by_piece() -> None:
    entry = zw.gallery.get("speed_limit")
    softened = zw.realize(entry.system, "limit", by=zw.Viscosity(100))
    force = softened.forces[softened.coordinates[0]]
    for time, speed, expected in ((0.5, 0.9, 0.0), (0.5, 1.1, 10.0), (1.5, 0.9, 50.0), (1.5, 0.3, 0.0)):
        assert at(force, t=time, v_x=speed, **entry.params) == pytest.approx(entry.params["F"] - expected)


# --- systems stay systems --------------------------------------------------------------------------------------------

SOFTENED = {
    "painleve_rod": ("tip", zw.Stiffness(1e4)),
    "painleve_rod damped": ("tip", zw.Stiffness("N", weight="1 + x**2", ratio=0.3)),
    "sleigh": ("blade", zw.Viscosity(1e3)),
    "sleigh_ahead": ("blade", zw.Viscosity(1e3, other_side=0.5)),
    "speed_limit": ("limit", zw.Viscosity("rho")),
    "ellipse_pendulum_cartesian": (("AB", "BC", "ellipse"), zw.Stiffness(1e3, weight=2)),
    "ellipse_pendulum_string": ("ellipse", zw.Stiffness(1e3, damping=5)),
    "kozlov_neishtadt": ("floor", zw.Stiffness("N")),
    "crossing": ("guide", zw.Stiffness(1e3, damping="c")),
}


def softened(label: str) -> tuple[zw.System, Any]:
    entry = zw.gallery.get(label.split(maxsplit=1)[0])
    names, by = SOFTENED[label]
    names = entry.system.constraints.names[0] if label == "crossing" else names
    return zw.realize(entry.system, names, by=by), entry


@pytest.mark.parametrize("label", SOFTENED)
def test_native_kernels_of_a_softened_system_agree_with_the_reference(label: str) -> None:
    system, entry = softened(label)
    source = np.random.default_rng(6)
    states = {name: value + 0.05 * source.uniform(-1, 1, 9) for name, value in entry.state.items()}
    params = {"N": 1e4, "rho": 1e3, "c": 0.5, **entry.params}
    params = {symbol.name: params[symbol.name] for symbol in system.parameters}
    native, reference = (zw.compile(system, backend).evaluate(states, params) for backend in ("native", "reference"))
    for got, expected in (
        (native.accelerations, reference.accelerations),
        (native.energies["potential"], reference.energies["potential"]),
        *((native.slips[name], reference.slips[name]) for name in reference.slips),
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    bounds = [zw.compile(system, backend).terms(states, params).bounds for backend in ("native", "reference")]
    np.testing.assert_allclose(*bounds, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("label", SOFTENED)
def test_a_softened_system_survives_a_model_file_and_pickle(label: str, tmp_path: Path) -> None:
    system, _ = softened(label)
    system.save(tmp_path / "softened.toml")
    assert zw.load(tmp_path / "softened.toml") == system
    assert pickle.loads(pickle.dumps(system)) == system


def test_the_paradox_of_painleve_has_an_answer_on_a_spring() -> None:
    entry = zw.gallery.get("painleve_rod")
    params = {**entry.params, "mu": 1.4}  # above 7/(3 sqrt 3): no reaction of a rigid floor
    assert zw.reactions(entry.system, entry.state, params).status.name == "NONE"
    spring = zw.realize(entry.system, "tip", by=zw.Stiffness(1e4))
    deep = {**entry.state, "y": entry.state["y"] - 1e-3}
    found = zw.reactions(spring, deep, {name: params[name] for name in params if name != "e"})
    assert found.status.name == "UNIQUE"
    theta, normal = entry.state["theta"], 1e4 * 1e-3
    friction = 1.4 * normal  # the tip slides to the left
    spin = -(normal * np.cos(theta) - friction * np.sin(theta)) / params["J"]
    assert found.accelerations[0] == pytest.approx([friction, normal - params["g"], spin], rel=1e-9)


def test_names_say_what_was_done_and_other_constraints_are_untouched() -> None:
    system = particle(
        zw.Bilateral(y, name="rail"), zw.Unilateral(vx, name="ratchet"), zw.Friction(1, slip=vx, name="f")
    )
    one = zw.realize(system, "rail", by=zw.Stiffness(N))
    assert one.name == "particle (rail by Stiffness)"
    assert list(one.constraints) == [system.constraints["ratchet"], system.constraints["f"]]
    two = zw.realize(system, ["rail", "ratchet"], by={"rail": zw.Stiffness(N), "ratchet": zw.Viscosity(rho)})
    assert two.name == "particle (rail by Stiffness; ratchet by Viscosity)"
    assert two.constraints.names == ("f",)
    assert two == zw.realize(one, "ratchet", by=zw.Viscosity(rho)).replace(name=two.name)
    three = zw.gallery.get("ellipse_pendulum_cartesian").system
    by = zw.Stiffness(N, weight=2)
    assert zw.realize(three, three.constraints.names, by=by).name.endswith(" (AB, BC, ellipse by Stiffness)")


def test_friction_stays_in_the_place_of_its_contact() -> None:
    contact = zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx), name="floor")
    system = particle(zw.Unilateral(x, name="wall"), contact, zw.Unilateral(vx, name="ratchet"))
    assert zw.realize(system, "floor", by=zw.Stiffness(N)).constraints.names == ("wall", "floor", "ratchet")


def test_a_model_is_realized_as_its_system() -> None:
    system = zw.gallery.get("kozlov_neishtadt").system
    assert zw.realize(zw.compile(system), "floor", by=zw.Stiffness(N)) == zw.realize(
        system, "floor", by=zw.Stiffness(N)
    )


def test_texts_are_read_in_the_words_of_the_system() -> None:
    system = particle(zw.Bilateral(y, name="line"))
    by_text = zw.realize(system, "line", by=zw.Stiffness("N", weight="1 + x**2/l**2", damping="2*m"))
    by_symbols = zw.realize(system, "line", by=zw.Stiffness(N, weight=1 + x**2 / l**2, damping=2 * m))
    assert by_text == by_symbols


# --- a realization of one's own --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cubic:
    """A spring whose force grows with the third power: a few lines, with public names only."""

    strength: Any

    def soften(self, system: zw.System, constraint: Any, strength: Any) -> zw.System:
        others = [item for item in system.constraints if item.name != constraint.name]
        return system.replace(potential=system.potential + strength * constraint.expr**4 / 4, constraints=others)


def test_a_realization_of_ones_own_needs_one_method() -> None:
    system = zw.realize(particle(zw.Bilateral(y, name="line")), "line", by=Cubic(N))
    assert system.name == "particle (line by Cubic)"
    assert the_same(derive(system).force, [0, -m * g - N * y**3])


@pytest.mark.parametrize("kind", [*REALIZATIONS.values(), Cubic], ids=lambda kind: kind.__name__)
def test_every_realization_keeps_the_contract(kind: type[Realization]) -> None:
    expr = vy - vx / 2 if getattr(kind, "level", "position") == "velocity" else y - x**2
    ideal = particle(zw.Bilateral(expr, name="a"), zw.Unilateral(x, name="b"))
    for strength in (N, 1e3):
        soft = kind(strength).soften(ideal, ideal.constraints["a"], strength)
        assert soft.constraints.names == ("b",)
        assert soft.constraints["b"] == ideal.constraints["b"]
        assert soft.coordinates == ideal.coordinates
        assert soft.kinetic == ideal.kinetic
        assert soft.digest == zw.realize(ideal, "a", by=kind(strength)).digest
        pull = derive(soft).force - derive(ideal).force  # where the constraint holds, nothing pulls
        on_it = {x: 0.5, y: 0.25, vx: 1.0, vy: 0.5}
        assert sp.simplify(pull.subs(on_it)) == sp.zeros(2, 1)


def test_the_table_of_realizations_holds_the_public_ones() -> None:
    assert list(REALIZATIONS.values()) == [zw.Stiffness, zw.Viscosity]
    assert list(REALIZATIONS) == ["Stiffness", "Viscosity"]


@pytest.mark.parametrize("one_sided", [False, True])
def test_a_realization_tells_what_stands_for_the_multiplier(one_sided: bool) -> None:
    kind = zw.Unilateral if one_sided else zw.Bilateral
    system = particle(kind(y, name="line"), kind(vx, name="skate"))
    spring = zw.Stiffness(N, damping=c).normal_force(system, system.constraints["line"], 10)
    assert at(spring, y=-0.3, v_y=0.1, c=2.0) == pytest.approx(2.8)
    drag = zw.Viscosity().normal_force(system, system.constraints["skate"], rho)
    assert at(drag, v_x=-0.3, rho=10.0) == pytest.approx(3.0)
