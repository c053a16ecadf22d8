"""The builder of mechanisms: Cartesian and joint coordinates of one mechanism must tell the same mechanics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._derive import derive
from zwang._kernels.interpreted import ReferenceBackend

G = (0, -9.81)


def solved(system: zw.System, state: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Accelerations and multipliers of a system without parameters, all constraints held."""
    q = np.array([[state[item.name]] for item in system.coordinates])
    v = np.array([[state.get(item.velocity.name, 0.0)] for item in system.coordinates])
    kernels = ReferenceBackend().build(system)
    found = kernels.solve(np.zeros(1), q, v, np.empty((0, 1)), range(len(system.constraints)))
    assert found.regular.all()
    return found.accelerations[:, 0], found.multipliers[:, 0]


def at(expr: Any, values: Mapping[str, float]) -> float:
    """The value of an expression, its symbols given by name."""
    return float(expr.subs({symbol: values.get(symbol.name, 0.0) for symbol in expr.free_symbols}))


def energies(system: zw.System, state: Mapping[str, float]) -> tuple[float, float]:
    return at(system.kinetic, state), at(system.potential, state)


def on_the_constraints(system: zw.System, start: Mapping[str, float], seed: int = 1) -> dict[str, float]:
    """A state near `start` that satisfies the constraints, with a random velocity that does too."""
    equations = derive(system)
    q = np.array([start[item.name] for item in system.coordinates])
    values = sp.lambdify([list(system.coordinates)], list(equations.values), "numpy")
    rows = sp.lambdify([list(system.coordinates)], equations.rows, "numpy")
    for _ in range(50):
        if len(equations.values):
            q = q - np.linalg.pinv(np.array(rows(q), dtype=float)) @ np.array(values(q), dtype=float)
    v = np.random.default_rng(seed).normal(size=len(q))
    if len(equations.values):
        jacobian = np.array(rows(q), dtype=float)
        v -= np.linalg.pinv(jacobian) @ (jacobian @ v)
    names = [item.name for item in system.coordinates]
    return dict(zip(names, q, strict=True)) | {f"v_{name}": speed for name, speed in zip(names, v, strict=True)}


def assert_both_coordinates_agree(linkage: zw.Linkage, start: Mapping[str, float]) -> None:
    """Energies, and the accelerations of the points, are the same in joint and in Cartesian coordinates."""
    joint, cartesian = linkage.system(coordinates="joint"), linkage.system()
    state = on_the_constraints(joint, start)
    angles = {symbol: state[symbol.name] for symbol in (*joint.coordinates, *joint.velocities)} | {zw.t: 0}
    acceleration, _ = solved(joint, state)
    places = linkage.drawing(coordinates="joint").points
    mapped: dict[str, float] = {}
    expected = []
    for item in cartesian.coordinates:
        axis, point = item.name.split("_", 1)
        place = places[point]["xy".index(axis)]
        speed = zw.rate(place)
        mapped |= {item.name: float(place.subs(angles)), f"v_{item.name}": float(sp.sympify(speed).subs(angles))}
        bias = sum(sp.diff(speed, q) * q.velocity for q in joint.coordinates) + sp.diff(speed, zw.t)
        slope = [float(sp.diff(place, q).subs(angles)) for q in joint.coordinates]
        expected.append(float(sp.sympify(bias).subs(angles)) + float(np.dot(slope, acceleration)))
    assert energies(cartesian, mapped) == pytest.approx(energies(joint, state), rel=1e-12, abs=1e-12)
    assert solved(cartesian, mapped)[0] == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)


def ellipse_pendulum() -> zw.Linkage:
    pendulum = zw.Linkage("pendulum", gravity=("g", 0), distances="half square")
    pendulum.ground("A", 0, 0)
    pendulum.points("B C", mass="m")
    pendulum.chain("A B C", lengths=(2, 1))
    pendulum.guide("C", "((x - a)**2/r1**2 + y**2/r2**2 - 1)/2", name="ellipse", normalized=False)
    return pendulum


# --- what comes out --------------------------------------------------------------------------------------------------


def test_the_ellipse_pendulum_is_six_lines_and_has_the_constraints_of_the_paper() -> None:
    # Burian 2017, section 5: f1, f2, f3 in (x1, y1, x2, y2), with the gradient of f3 corrected to (x2 - a)/r1^2.
    system = ellipse_pendulum().system()
    x1, y1, x2, y2 = system.coordinates
    a, r1, r2 = zw.parameters("a r1 r2")
    rows = sp.Matrix([[x1, y1, 0, 0], [x1 - x2, y1 - y2, x2 - x1, y2 - y1], [0, 0, (x2 - a) / r1**2, y2 / r2**2]])
    assert (derive(system).rows - rows).expand() == sp.zeros(3, 4)
    assert system.constraints.names == ("A-B", "B-C", "ellipse")
    assert [item.name for item in system.coordinates] == ["x_B", "y_B", "x_C", "y_C"]


def test_joint_coordinates_are_absolute_angles_with_the_names_that_were_given() -> None:
    linkage = zw.Linkage("arm").ground("A", 0, 0).points("B C", mass=1)
    linkage.bar("A", "B", 2, angle="phi").bar("C", "B", 1)
    system = linkage.system(coordinates="joint")
    assert [item.name for item in system.coordinates] == ["phi", "theta_C"]
    assert all(item.angle for item in system.coordinates)
    phi, theta = system.coordinates
    # The angle is that of the direction in which the bar was declared: from C to B.
    assert linkage.drawing(coordinates="joint").points["C"] == (
        2 * sp.cos(phi) - sp.cos(theta),
        2 * sp.sin(phi) - sp.sin(theta),
    )


def test_masses_are_constant_in_cartesian_coordinates_and_rows_are_sparse() -> None:
    names = [f"P{i}" for i in range(12)]
    linkage = zw.Linkage("chain", gravity=G).ground("A", 0, 0).points(names).chain(["A", *names], lengths=0.1, mass=1)
    linkage.point("Q", on=("P3", "P4"), fraction=sp.Rational(1, 3), offset=0.2, mass=2)
    equations = derive(linkage.system())
    assert not equations.mass.free_symbols
    assert max(sum(item != 0 for item in equations.rows.row(i)) for i in range(12)) == 4


def test_a_uniform_bar_has_the_kinetic_energy_of_its_centre_and_of_its_turning() -> None:
    linkage = zw.Linkage("free bar").points("A B").bar("A", "B", 2, mass=3)
    system = linkage.system()
    # Centre (1, 2) with velocity (0.5, -1), angle 0.3, angular velocity 0.7: m v^2/2 + (m l^2/12) w^2/2.
    e, n = np.array([math.cos(0.3), math.sin(0.3)]), np.array([-math.sin(0.3), math.cos(0.3)])
    centre, velocity = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    state = dict(zip(("x_A", "y_A", "x_B", "y_B"), np.r_[centre - e, centre + e], strict=True))
    state |= dict(zip(("v_x_A", "v_y_A", "v_x_B", "v_y_B"), np.r_[velocity - 0.7 * n, velocity + 0.7 * n], strict=True))
    assert energies(system, state)[0] == pytest.approx(3 * 1.25 / 2 + 3 * 4 / 12 * 0.49 / 2, rel=1e-14)


def test_the_multiplier_of_a_bar_is_its_force_positive_in_compression() -> None:
    hanging = zw.Linkage("hanging", gravity=G).ground("A", 0, 0).point("B", mass=2).bar("A", "B", 0.5)
    assert solved(hanging.system(), {"x_B": 0, "y_B": -0.5})[1] == pytest.approx([-2 * 9.81])
    assert solved(hanging.system(), {"x_B": 0, "y_B": 0.5})[1] == pytest.approx([2 * 9.81])


def test_half_squares_have_the_multiplier_force_over_length() -> None:
    hanging = zw.Linkage("hanging", gravity=G, distances="half square")
    hanging.ground("A", 0, 0).point("B", mass=2).bar("A", "B", 0.5)
    assert solved(hanging.system(), {"x_B": 0, "y_B": -0.5})[1] == pytest.approx([-2 * 9.81 / 0.5])


def test_a_string_is_one_sided_and_its_multiplier_is_the_tension() -> None:
    hanging = zw.Linkage("hanging", gravity=G).ground("A", 0, 0).point("B", mass=2).string("A", "B", 0.5, restitution=0)
    system = hanging.system()
    assert isinstance(system.constraints["A-B string"], zw.Unilateral)
    assert solved(system, {"x_B": 0, "y_B": -0.5})[1] == pytest.approx([2 * 9.81])
    assert at(system.constraints[0].expr, {"x_B": 0, "y_B": 0}) > 0


# --- the same mechanics in both coordinates --------------------------------------------------------------------------


def double_pendulum() -> tuple[zw.Linkage, dict[str, float]]:
    linkage = zw.Linkage("double", gravity=G).ground("A", 0, 0).points("B C", mass=1).chain("A B C", lengths=(1, 0.7))
    return linkage, {"theta_B": 0.4, "theta_C": -0.9}


def four_bar() -> tuple[zw.Linkage, dict[str, float]]:
    linkage = zw.Linkage("four-bar", gravity=G).ground("A", 0, 0).ground("D", 2, 0).points("B C")
    linkage.bar("A", "B", 1, mass=1).bar("B", "C", 2.2, mass=2).bar("D", "C", 1.5, mass=1.5)
    return linkage, {"theta_B": 1.2, "theta_C": 1.1}


def coupler_with_load() -> tuple[zw.Linkage, dict[str, float]]:
    linkage, start = four_bar()
    linkage.point("P", on=("C", "B"), fraction=0.25, offset=0.3, mass=0.8)
    linkage.torque(("A", "B"), 2.5).torque(("B", "C"), -0.5).force("P", (0.3, sp.Rational(-1, 2)))
    linkage.force("B", lambda x, y, vx, vy: (-0.1 * vx, x * y)).damper("B", "D", 0.4)
    linkage.spring("A", "P", stiffness=30, length=0.5, damping=0.2)
    return linkage, start


def body_on_a_pivot() -> tuple[zw.Linkage, dict[str, float]]:
    """A body with its centre off the line of its ends, pinned to the ground at a carried point."""
    linkage = zw.Linkage("rocker", gravity=G).ground("O", 0.3, 0.1).points("A B")
    linkage.bar("A", "B", 2, mass=3, inertia=0.7, fraction=0.4, offset=0.2, angle="tilt")
    linkage.point("P", on=("A", "B"), fraction=0.5, offset=-0.1).pin("P", "O").point("E", mass=0.5).bar("B", "E", 0.8)
    return linkage, {"tilt": 0.2, "theta_E": 2.0}


def slider_crank() -> tuple[zw.Linkage, dict[str, float]]:
    linkage = zw.Linkage("slider-crank", gravity=G).ground("A", 0, 0).point("B", mass=0.2).point("C", mass=1)
    linkage.bar("A", "B", 0.5, mass=1).bar("B", "C", 1.2, mass=2).slider("C", direction=(1, 0.1), through=(0, 0.05))
    return linkage, {"theta_B": 1.0, "theta_C": -0.4}


def two_bodies_pinned_in_the_middle() -> tuple[zw.Linkage, dict[str, float]]:
    """Scissors: two bars on the ground at one end, joined where they cross; the pin closes a loop."""
    linkage = zw.Linkage("scissors", gravity=G).ground("A", 0, 0).ground("D", 1, 0).points("B C")
    linkage.bar("A", "B", 2, mass=1).bar("D", "C", 2, mass=1).point("P", on=("A", "B"), fraction=0.5)
    linkage.point("E", mass=1).bar("P", "E", 0.9).slider("E", along=("D", "C"))
    return linkage, {"theta_B": 0.9, "theta_C": 2.2, "theta_E": -0.4}


def on_shaken_ground() -> tuple[zw.Linkage, dict[str, float]]:
    """A pivot that moves in a given way: velocities and accelerations of the ground enter."""
    linkage = zw.Linkage("shaken", gravity=G).ground("A", zw.t**2, 0.3 * sp.sin(zw.t)).points("B C")
    linkage.bar("A", "B", 1, mass=1).bar("B", "C", 0.7, mass=2, inertia=0.1, fraction=0.3, offset=0.1)
    return linkage, {"theta_B": 0.4, "theta_C": -0.9}


def carried_twice() -> tuple[zw.Linkage, dict[str, float]]:
    """A bar on a carried point, and a coupler whose carried point is pinned: closures of both kinds."""
    linkage, start = four_bar()
    linkage.point("P", on=("B", "C"), fraction=0.5, offset=0.4).point("E").bar("P", "E", 0.6, mass=0.5)
    return linkage, start | {"theta_E": -1.0}


@pytest.mark.parametrize(
    "mechanism",
    [
        double_pendulum,
        four_bar,
        coupler_with_load,
        body_on_a_pivot,
        slider_crank,
        two_bodies_pinned_in_the_middle,
        carried_twice,
        on_shaken_ground,
    ],
)
def test_cartesian_and_joint_coordinates_give_the_same_energies_and_accelerations(
    mechanism: Callable[[], tuple[zw.Linkage, dict[str, float]]],
) -> None:
    assert_both_coordinates_agree(*mechanism())


def test_the_kinetic_energy_in_angles_is_collected_as_the_papers_write_it() -> None:
    # T = l1^2 (m1 + m2) phi'^2/2 + l2^2 m2 psi'^2/2 + m2 l1 l2 phi' psi' cos(phi - psi).
    linkage = zw.Linkage("double").ground("A", 0, 0).points("B C", mass="m").chain("A B C", lengths=("l1", "l2"))
    system = linkage.system(coordinates="joint")
    (phi, psi), (u, w) = system.coordinates, system.velocities
    m, l1, l2 = zw.parameters("m l1 l2")
    expected = m * l1**2 * u**2 + m * l2**2 * w**2 / 2 + m * l1 * l2 * u * w * sp.cos(phi - psi)
    assert system.kinetic == expected
    n = 12
    names = [f"P{i}" for i in range(n)]
    chain = zw.Linkage("chain").ground("A", 0, 0).points(names).chain(["A", *names], lengths=1, mass=1)
    assert len(sp.Add.make_args(chain.system(coordinates="joint").kinetic)) == n * (n + 1) // 2


def test_a_loop_has_one_angle_for_each_bar_of_the_tree_and_one_closure() -> None:
    system = four_bar()[0].system(coordinates="joint")
    assert [item.name for item in system.coordinates] == ["theta_B", "theta_C"]
    assert system.constraints.names == ("B-C",)


def test_a_pin_of_two_chains_closes_the_loop_with_two_constraints() -> None:
    linkage = zw.Linkage("two arms").ground("A", 0, 0).ground("D", 1, 0).points("B C", mass=1)
    linkage.bar("A", "B", 1).bar("D", "C", 1).pin("B", "C")
    assert linkage.system().constraints.names == ("A-B", "D-C", "B-C x", "B-C y")
    joint = linkage.system(coordinates="joint")
    assert joint.constraints.names == ("B-C x", "B-C y")


def test_a_bar_reached_at_two_of_its_points_is_closed_by_a_vector() -> None:
    linkage = zw.Linkage("bracket").ground("O", 0, 0).ground("Q", 1, 0).points("A B", mass=1).point("E", mass=1)
    linkage.bar("A", "B", 2).point("P", on=("A", "B"), fraction=0.25).pin("O", "P").bar("Q", "E", 1).pin("E", "B")
    system = linkage.system(coordinates="joint")
    assert system.constraints.names == ("E-B x", "E-B y")
    start = on_the_constraints(system, {"theta_B": 0.5, "theta_E": 1.5})
    assert_both_coordinates_agree_in_energy(linkage, start)


def assert_both_coordinates_agree_in_energy(linkage: zw.Linkage, state: Mapping[str, float]) -> None:
    joint, cartesian = linkage.system(coordinates="joint"), linkage.system()
    angles = {symbol: state[symbol.name] for symbol in (*joint.coordinates, *joint.velocities)}
    mapped: dict[str, float] = {}
    for item in cartesian.coordinates:
        axis, point = item.name.split("_", 1)
        place = linkage.drawing(coordinates="joint").points[point]["xy".index(axis)]
        mapped |= {item.name: float(place.subs(angles)), f"v_{item.name}": float(zw.rate(place).subs(angles))}
    assert energies(cartesian, mapped) == pytest.approx(energies(joint, state), rel=1e-12, abs=1e-12)
    gaps = derive(cartesian).values.subs({symbol: mapped[symbol.name] for symbol in cartesian.coordinates})
    assert max(abs(float(gap)) for gap in gaps) < 1e-12


# --- guides and sliders ----------------------------------------------------------------------------------------------


def test_a_guide_is_normalized_so_that_its_multiplier_is_a_force() -> None:
    bead = zw.Linkage("bead", gravity=G).point("P", mass=2).guide("P", lambda x, y: 5 * (y - x**2), name="bowl")
    system = bead.system()
    # At the bottom of the bowl at rest the guide carries the weight.
    assert solved(system, {"x_P": 0.0, "y_P": 0.0})[1] == pytest.approx([2 * 9.81])


def test_friction_at_a_guide_has_the_slip_along_it_and_the_scale_of_its_gradient() -> None:
    bead = zw.Linkage("bead").point("P", mass=2)
    bead.guide("P", lambda x, y: 5 * (y - x / 2), name="ramp", normalized=False, friction="mu")
    law = bead.system().constraints["ramp"].friction
    assert law is not None
    assert float(law.scale) == pytest.approx(5 * math.sqrt(1.25))
    # Up along the ramp at unit speed: (2, 1)/sqrt(5).
    speed = {"v_x_P": 2 / math.sqrt(5), "v_y_P": 1 / math.sqrt(5)}
    assert at(law.slip[0], speed) == pytest.approx(1.0)


def test_a_one_sided_guide_keeps_the_point_where_the_function_is_positive() -> None:
    system = zw.Linkage("bead").point("P", mass=1).guide("P", lambda x, y: 1 - x**2 - y**2, unilateral=True).system()
    wall = system.constraints["P guide"]
    assert isinstance(wall, zw.Unilateral)
    assert at(wall.expr, {"x_P": 0.5, "y_P": 0}) > 0
    assert wall.restitution is None


def test_a_slider_on_a_line_measures_the_distance_to_its_left() -> None:
    system = zw.Linkage("s").point("P", mass=1).slider("P", through=(1, 0), direction=(3, 4), friction=0.2).system()
    line = system.constraints["P slider"]
    # The point (1, 0) + 2 (-4, 3)/5 is two to the left of the line.
    assert at(line.expr, {"x_P": 1 - 8 / 5, "y_P": 6 / 5}) == pytest.approx(2.0)
    assert at(line.friction.slip[0], {"v_x_P": 3, "v_y_P": 4}) == pytest.approx(5.0)


def test_the_slip_on_a_bar_is_relative_to_its_material() -> None:
    linkage = zw.Linkage("s").ground("A", 0, 0).points("B P", mass=1).bar("A", "B", 2)
    linkage.slider("P", along=("A", "B"), friction=0.3)
    law = linkage.system().constraints["P slider"].friction
    # The bar along x turns with 1 rad/s, P at distance 1 turns with it and slides out with 0.5.
    state = {"x_B": 2, "y_B": 0, "x_P": 1, "y_P": 0, "v_x_B": 0, "v_y_B": 2, "v_x_P": 0.5, "v_y_P": 1}
    assert at(law.slip[0], state) == pytest.approx(0.5)


def test_moving_ground_enters_energies_and_constraints() -> None:
    linkage = zw.Linkage("shaken", gravity=G).ground("A", 0, sp.sin(zw.t)).point("B", mass=1).bar("A", "B", 1)
    system = linkage.system(coordinates="joint")
    assert zw.t in system.kinetic.free_symbols
    assert zw.t in linkage.system().constraints["A-B"].expr.free_symbols


def test_a_drawing_is_plain_data_in_the_coordinates_of_the_system() -> None:
    linkage, _ = coupler_with_load()
    linkage.guide("P", lambda x, y: y - 5, name="shelf", unilateral=True)
    picture = linkage.drawing()
    assert picture.bars == (("A", "B"), ("B", "C"), ("D", "C"), ("B", "P"), ("P", "C"))
    assert picture.ground == ("A", "D")
    (implicit,), (x, y) = picture.curves["shelf"].expressions, picture.curves["shelf"].symbols
    assert implicit.subs({x: 0, y: 5}) == 0
    symbols = set().union(*(item.free_symbols for place in picture.points.values() for item in place))
    assert symbols <= set(linkage.system().coordinates)
    with pytest.raises(TypeError):
        picture.points["A"] = (0, 0)  # type: ignore[index]


def test_repr_counts_the_parts() -> None:
    assert repr(four_bar()[0]) == "Linkage 'four-bar': 2 points, 3 bars, 2 on the ground"


def test_a_massless_point_is_allowed_where_its_bar_has_two_inertias() -> None:
    one = zw.Linkage("m").ground("A", 0, 0).point("B").bar("A", "B", 2).point("P", on=("A", "B"), fraction=0.5, mass=1)
    assert derive(one.system()).mass.det() != 0
    two = zw.Linkage("m").points("A B").bar("A", "B", 2, mass=1, inertia=0.3)
    assert derive(two.system()).mass.det() != 0


@pytest.mark.parametrize("massless", [("AB",), ("BC",), ("AB", "BC")])
def test_massless_bars_leave_a_four_bar_to_its_masses(massless: tuple[str, ...]) -> None:
    """Crank AB, coupler BC, rocker CD: in joint and in Cartesian coordinates, against the limit of light bars."""

    def turning(kind: str, light: float) -> float:
        mass = {name: light if name in massless else 1.0 for name in ("AB", "BC")}
        linkage = zw.Linkage("four-bar", gravity=(0, -9.81)).ground("A", 0, 0).ground("D", 3, 0).points("B C")
        linkage.bar("A", "B", 1, mass=mass["AB"]).bar("B", "C", 3, mass=mass["BC"]).bar("D", "C", 2, mass=1)
        system = linkage.system(coordinates=kind)
        rest = {item.name: 0.0 for item in system.velocities}
        if kind == "joint":
            found = zw.reactions(system, {"theta_B": b, "theta_C": c, **rest})
            assert found.status.name == "UNIQUE"
            return float(found.accelerations[0][1])
        at = {"x_B": np.cos(b), "y_B": np.sin(b), "x_C": 3 + 2 * np.cos(c), "y_C": 2 * np.sin(c)}
        found = zw.reactions(system, {**at, **rest})
        assert found.status.name == "UNIQUE"
        return float(found.accelerations[0][2:] @ [-np.sin(c), np.cos(c)]) / 2

    b = 1.0
    # C on both circles: from B with 3, from D with 2.
    gap = np.array([3 - np.cos(b), -np.sin(b)])
    far = float(np.linalg.norm(gap))
    c = float(np.arctan2(*-gap[::-1]) - np.arccos((far**2 + 4 - 9) / (4 * far)))
    joint, cartesian, light = turning("joint", 0), turning("cartesian", 0), turning("joint", 1e-9)
    assert joint == pytest.approx(cartesian, rel=1e-9)
    assert joint == pytest.approx(light, rel=1e-6)
    if len(massless) == 2:  # the rocker alone: a uniform rod about its end, 3 g cos / (2 l)
        assert joint == pytest.approx(-3 * 9.81 * np.cos(c) / 4, rel=1e-9)
