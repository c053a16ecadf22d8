"""Contacts between shapes in space: gaps against distances by numbers, motions against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import nnls

import zwang as zw
from night import by_day
from zwang._kernels.numba import StraightFunctions

shapes = zw.shapes
ROCK = np.array([[0.5, 0, -0.3], [-0.4, 0.5, -0.2], [-0.4, -0.4, -0.3], [0.1, 0, 0.4], [0.3, 0.4, 0.2]])
FORMS = {
    "sphere": shapes.Sphere(0.7),
    "capsule": shapes.Capsule(0.3, 1.0),
    "box": shapes.Box(1, 0.8, 0.6),
    "cylinder": shapes.Cylinder(0.5, 0.8),
    "hull": shapes.Hull(ROCK.tolist()),
}
RADIUS = 0.2


def distance(name: str, p: np.ndarray) -> float:
    """Distance of a place outside from a form, from its nearest place by numbers."""
    if name == "sphere":
        return float(np.linalg.norm(p)) - 0.7
    if name == "capsule":
        return float(np.linalg.norm(p - [np.clip(p[0], -0.5, 0.5), 0, 0])) - 0.3
    if name == "box":
        half = np.array([0.5, 0.4, 0.3])
        return float(np.linalg.norm(p - np.clip(p, -half, half)))
    if name == "hull":  # the nearest mean of its corners
        weights, _ = nnls(np.vstack([ROCK.T, np.full(5, 1e4)]), np.append(p, 1e4))
        return float(np.linalg.norm(p - ROCK.T @ weights / weights.sum()))
    far = np.hypot(p[0], p[1])
    ring = p[:2] * min(1.0, 0.5 / far)
    return float(np.linalg.norm(p - [*ring, np.clip(p[2], -0.4, 0.4)]))


def pair(name: str) -> zw.Bodies:
    made = (
        zw.Bodies("pair").body("ball", mass=1, inertia=(0.1, 0.1, 0.1)).body("other", mass=2, inertia=(0.2, 0.3, 0.4))
    )
    made.shape("skin", on="ball", form=shapes.Sphere(RADIUS), at=(0.1, 0, 0))
    made.shape("form", on="other", form=FORMS[name], at=(0, 0.2, 0), turned=((1, 0, 0), 0.3))
    return made.contact("skin", "form", friction=0.3, restitution=0.5, name="touch")


@pytest.mark.parametrize("name", by_day(FORMS, ["sphere", "hull"]))
def test_gap_and_row_of_a_ball_are_those_of_its_distance_from_a_form(name: str) -> None:
    made, source = pair(name), np.random.default_rng(3)
    system = made.system()
    model, names = zw.compile(system), [item.name for item in system.constraints]
    c, s = np.cos(0.3), np.sin(0.3)
    own = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])

    def gap(ball: Any, turn: Any, other: Any, around: Any) -> tuple[float, float]:
        state = made.place("ball", at=ball, turned=turn) | made.place("other", at=other, turned=around)
        found: Any = model.terms(state, {})
        poses = [made.pose(body, state) for body in ("ball", "other")]
        middle = poses[0].position + poses[0].rotation @ [0.1, 0, 0]
        seen = (poses[1].rotation @ own).T @ (middle - poses[1].position - poses[1].rotation @ [0, 0.2, 0])
        return found.value[names.index("touch"), 0], distance(name, seen) - RADIUS

    seen = 0
    for _ in range(40):
        turn, around = (q / np.linalg.norm(q) for q in source.normal(size=(2, 4)))
        ball, other = source.normal(size=(2, 3))
        ours, expected = gap(ball, turn, other, around)
        if expected > -RADIUS / 2:  # deeper it is no contact, but a mistake
            assert ours == pytest.approx(expected, abs=1e-12)
            seen += 1
    assert seen > 20
    # The rows are the derivatives: gaps after a small step along random velocities.
    velocity, spin = source.normal(size=(2, 3))
    state = made.place("ball", at=(0.3, 0.5, 1.4), velocity=velocity, spin=spin) | made.place("other")
    found: Any = model.terms(state, {})
    step = 1e-6
    later = {key: value + step * state.get(f"v_{key}", 0.0) for key, value in state.items()}
    change = (model.terms(later, {}).value - found.value)[names.index("touch"), 0] / step  # type: ignore[attr-defined]
    assert found.rate[names.index("touch"), 0] == pytest.approx(change, abs=1e-4)


def test_a_ball_slides_over_the_edge_of_a_box_and_leaves_it_where_a_particle_leaves_a_circle() -> None:
    r, g, v = 0.5, 10.0, 0.6
    over = zw.Bodies("over", gravity=(0, 0, -g)).body("ball", mass=1, inertia=(0.1, 0.1, 0.1), at=(0, 0, 1 + r))
    over.shape("skin", on="ball", form=shapes.Sphere(r)).shape("block", on="ground", form=shapes.Box(2, 2, 2))
    over.contact("skin", "block", restitution=0, name="touch")
    start = over.place("ball", velocity=(v, 0, 0))
    motion = zw.simulate(over.system(), start, until=3.0)
    (event,) = motion.events
    assert (event.kind, event.constraint) == ("lift-off", "touch")
    # Energy and v^2 = g r cos(theta) on the circle about the edge at x = 1.
    cosine = (2 + v**2 / (g * r)) / 3
    x, z = (motion.values(name, at=event.time) for name in ("x_ball", "z_ball"))
    assert (z - 1) / r == pytest.approx(cosine, abs=1e-8)
    assert np.hypot(x - 1, z - 1) == pytest.approx(r, abs=1e-9)
    assert np.ptp(motion.energy["total"]) < 1e-8


def test_a_ball_rests_between_the_forms_that_hold_it() -> None:
    heap = zw.Bodies("heap", gravity=(0, 0, -10)).body("ball", mass=1, inertia=(0.1, 0.1, 0.1), at=(0, 0, 1))
    heap.shape("skin", on="ball", form=shapes.Sphere(0.5))
    # Two capsules along y, 1.2 apart: the ball touches each where 0.7 cos = 0.6.
    height = np.sqrt(0.8**2 - 0.6**2)
    for name, x in (("left", -0.6), ("right", 0.6)):
        heap.shape(name, on="ground", form=shapes.Capsule(0.3, 4), at=(x, 0, 0), turned=((0, 0, 1), np.pi / 2))
        heap.contact("skin", name, restitution=0, name=f"on {name}")
    found = zw.reactions(heap.system(), heap.place("ball", at=(0, 0, height)))
    assert found.solutions[0].normal == pytest.approx([10 / (2 * height / 0.8)] * 2, rel=1e-9)


def test_corners_stay_in_an_implicit_bowl() -> None:
    bowl = zw.Bodies("bowl", gravity=(0, 0, "-g")).body("bead", mass="m", inertia=("J", "J", "J"))
    bowl.shape("tip", on="bead", form=shapes.Sphere(0))
    # What is filled lies below the paraboloid z = k (x^2 + y^2)/2.
    bowl.shape("bowl", on="ground", form=shapes.Implicit("z - k*(x**2 + y**2)/2"))
    system = bowl.contact("tip", "bowl", friction="mu", restitution=0, name="touch").system()
    assert [item.name for item in system.parameters] == ["J", "g", "k", "m", "mu"]
    params = {"m": 2.0, "J": 0.1, "g": 10.0, "k": 2.0, "mu": 0.0}
    # At x the slope is k x: N = m g cos - the bead starts from rest, so only its weight and the way it begins to fall.
    x = 0.3
    found = zw.reactions(system, bowl.place("bead", at=(x, 0, 0.09)), params)
    assert found.solutions[0].normal == pytest.approx([20 / np.hypot(1, 2 * x)], rel=1e-9)
    small = zw.simulate(
        system, bowl.place("bead", at=(1e-4, 0, 1e-8)), params, until=np.pi / np.sqrt(20), start="project"
    )
    # Small motions: x'' = -g k x.
    assert small.values("x_bead")[-1] == pytest.approx(-1e-4, rel=1e-6)


def test_an_ellipsoid_touches_a_plane_with_its_lowest_point() -> None:
    egg = zw.Bodies("egg").body("egg", mass=1, inertia=(1, 1, 1))
    egg.shape("shell", on="egg", form=shapes.Implicit("x**2/a**2 + y**2/b**2 + (z - d)**2/c**2 - 1"))
    egg.shape("floor", on="ground", form=shapes.HalfSpace((0, 0, 1), 0.3))
    system = egg.contact("shell", "floor", friction=0.5, name="touch").system()
    params = {"a": 1.0, "b": 0.7, "c": 0.4, "d": 0.1}
    source = np.random.default_rng(5)
    angles = np.stack(np.meshgrid(np.linspace(0, np.pi, 400), np.linspace(0, 2 * np.pi, 800)), axis=-1).reshape(-1, 2)
    ball = np.stack([np.sin(angles[:, 0]) * np.cos(angles[:, 1]), np.sin(angles[:, 0]) * np.sin(angles[:, 1]),
                     np.cos(angles[:, 0])], axis=1)  # fmt: skip
    shell = ball * [1.0, 0.7, 0.4] + [0, 0, 0.1]
    for _ in range(5):
        turn, at = source.normal(size=4), source.normal(size=3)
        state = egg.place("egg", at=at, turned=turn / np.linalg.norm(turn))
        lowest = (shell @ egg.pose("egg", state, params).rotation.T)[:, 2].min() + at[2]
        value: Any = zw.compile(system).terms(state, params)
        # The grid of 400 x 800 places misses the lowest one by at most some 1e-4 of the size.
        assert value.value[-1, 0] == pytest.approx(lowest - 0.3, abs=2e-4)


def test_pairs_that_have_no_closed_form_are_refused_with_those_that_have_one() -> None:
    def tell(first: Any, second: Any) -> None:
        made = zw.Bodies("pair").body("a", mass=1, inertia=(1, 1, 1))
        made.shape("s", on="a", form=first).shape("r", on="ground", form=second).contact("s", "r", name="c").system()

    with pytest.raises(
        zw.DeclarationError, match="a Sphere with an Implicit is not supported. Supported are: a Sphere"
    ):
        tell(shapes.Sphere(1), shapes.Implicit("z"))
    with pytest.raises(zw.DeclarationError, match=r"normal has length zero. Give a direction, such as \(0, 0, 1\)"):
        shapes.HalfSpace((0, 0, 0))
    with pytest.raises(zw.DeclarationError, match="a Capsule with an Implicit is not supported"):
        tell(shapes.Capsule(1, 1), shapes.Implicit("z"))
    with pytest.raises(zw.DeclarationError, match="is none: its lowest point has no closed form.*Hull of points"):
        tell(shapes.Implicit("x**4 + y**2 + z**2 - 1"), shapes.HalfSpace((0, 0, 1)))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (zw.shapes.Sphere, "Sphere: radius"),
        (lambda wrong: zw.shapes.Box(1, wrong), "Box: b"),
        (lambda wrong: zw.shapes.Capsule(1, wrong), "Capsule: length"),
        (lambda wrong: zw.shapes.Cylinder(wrong, 1), "Cylinder: radius"),
    ],
)
def test_a_length_of_a_form_that_is_none_is_refused_where_it_is_made(make: Any, name: str) -> None:
    for wrong in (-1, -0.5, float("nan"), float("inf"), np.float32(-2.0), sp.Rational(-1, 2), sp.nan, sp.zoo):
        with pytest.raises(zw.DeclarationError, match=f"{name} is .*, a length; needed a finite number, at least zero"):
            make(wrong)
    for right in (0, 2.5, sp.Rational(1, 2), "r", sp.Symbol("r")):
        make(right)


def test_features_that_no_joint_moves_are_left_out_and_a_contact_of_such_alone_is_refused() -> None:
    # The end of a rod at its hinge keeps its height, even within the floor.
    for height in (0.1, 0.5):
        swing = zw.Bodies("swing", gravity=(0, 0, -10)).body(
            "rod", mass=1, inertia=(0.01, 0.1, 0.1), at=(0.5, 0, height)
        )
        swing.revolute("hinge", "ground", "rod", at=(0, 0, height), axis=(0, 1, 0))
        swing.shape("skin", on="rod", form=shapes.Capsule(RADIUS, 1))
        swing.shape("floor", on="ground", form=shapes.HalfSpace((0, 0, 1)))
        system = swing.contact("skin", "floor", restitution=0, name="touch").system()
        assert system.constraints.names == ("touch",)
    # From level down by sin(hinge) = 0.3.
    motion = zw.simulate(system, {"hinge": 0.0, "v_hinge": 0.0}, until=1.0)
    assert motion.values("hinge", at=1.0) == pytest.approx(np.arcsin(0.3), abs=1e-9)
    cart = (
        zw.Bodies("cart")
        .body("box", mass=1, inertia=(1, 1, 1), at=(0, 0, 0.8))
        .prismatic("rail", "ground", "box", axis=(1, 0, 0))
    )
    cart.shape("skin", on="box", form=shapes.Box(1, 1, 1)).shape("floor", on="ground", form=shapes.HalfSpace((0, 0, 1)))
    with pytest.raises(zw.DeclarationError, match="no joint moves 'skin' to or from 'floor': .* stays at 0.3"):
        cart.contact("skin", "floor", name="touch").system()


RODS = {name: FORMS[name] for name in ("box", "capsule", "cylinder", "hull")}


def rod_over(name: str, **more: Any) -> zw.Bodies:
    """Return a capsule of radius 0.2 and length 1.4 between its ends, and another form."""
    made = (
        zw.Bodies("rods", **more).body("rod", mass=1, inertia=(0.1, 0.2, 0.2)).body("other", mass=2, inertia=(1, 1, 1))
    )
    made.shape("skin", on="rod", form=shapes.Capsule(RADIUS, 1.4), at=(0.1, 0, 0), turned=((0, 0, 1), 0.4))
    made.shape("form", on="other", form=RODS[name])
    return made


ORDERS = [(name, order) for name in RODS for order in (("skin", "form"), ("form", "skin"))]


@pytest.mark.parametrize(
    ("name", "order", "count"),
    by_day([(*item, count) for item in ORDERS for count in (18, 60)], [(*ORDERS[3], 18)]),
)
def test_the_least_gap_of_a_capsule_is_its_distance(name: str, order: tuple[str, str], count: int) -> None:
    from scipy.optimize import minimize_scalar

    made, source = rod_over(name).contact(*order, friction=0.3, restitution=0, name="touch"), np.random.default_rng(5)
    system = made.system()
    model, states, expected = zw.compile(system), [], []
    while len(states) < count:
        turns = source.normal(size=(2, 4))
        if len(states) % 3 == 0:  # along edges and faces
            turns[:] = [[np.cos(0.2), 0, 0, -np.sin(0.2)], [1, 0, 0, 0]]
        state = made.place("rod", at=source.normal(size=3) * 0.8, turned=turns[0] / np.linalg.norm(turns[0]))
        state |= made.place("other", turned=turns[1] / np.linalg.norm(turns[1]))
        rod, other = (made.pose(body, state) for body in ("rod", "other"))
        axis = np.array([np.cos(0.4), np.sin(0.4), 0])

        def far(s: float) -> float:
            place = rod.position + rod.rotation @ (np.array([0.1, 0, 0]) + s * axis)  # noqa: B023
            return distance(name, other.rotation.T @ (place - other.position))  # noqa: B023

        # The distance of a place from a convex form is convex along the rod.
        least = min(
            minimize_scalar(far, bounds=(-0.7, 0.7), method="bounded", options={"xatol": 1e-10}).fun,
            far(0.7),
            far(-0.7),
        )
        if 0.01 < least < 0.9:  # the rod itself is outside, and near
            states.append(state)
            expected.append(least - RADIUS)
    found: Any = model.terms({key: np.array([state[key] for state in states]) for key in states[0]}, {})
    own = [k for k, item in enumerate(system.constraints) if item.name.startswith("touch")]
    assert found.value[own].min(axis=0) == pytest.approx(np.array(expected), abs=1e-8)
    assert np.ptp(np.sign(expected)) == 2


@pytest.mark.nightly
def test_a_capsule_rests_over_the_edge_of_a_box_until_its_weight_is_beyond_it() -> None:
    for shift, stays in ((0.3, True), (0.55, False)):
        made = zw.Bodies("beam", gravity=(0, 0, -10)).body("rod", mass=1, inertia=(0.1, 0.2, 0.2))
        made.shape("skin", on="rod", form=shapes.Capsule(RADIUS, 1.4)).shape("block", on="ground", form=RODS["box"])
        made.contact("skin", "block", friction=0.5, restitution=0, name="touch")
        start = made.place("rod", at=(shift, 0, 0.5))  # the edge is at x = 0.5, the hind end at shift - 0.7
        found = zw.reactions(made.system(), start)
        assert found.status.name in ("UNIQUE", "UNIQUE_MOTION")
        forces = found.solutions[0].normal[found.solutions[0].normal > 1e-9]
        if stays:
            # Moments about the hind end, 1 before the edge, and about the edge.
            assert np.sort(forces) == pytest.approx([10 * (0.5 - 0.3) / 0.9, 10 * 0.7 / 0.9], rel=1e-9)
            assert found.accelerations[0] == pytest.approx(np.zeros(7), abs=1e-9)
        else:
            # It tips over the edge, 0.05 before the centre: m g arm = (J + m (arm^2 + r^2)) alpha, if it sticks.
            assert len(forces) == 1 and found.accelerations[0][2] < 0


def test_a_capsule_that_falls_across_the_edge_of_a_box_never_overlaps_it() -> None:
    made = zw.Bodies("fall", gravity=(0, 0, -10)).body("rod", mass=1, inertia=(0.01, 0.2, 0.2))
    made.shape("skin", on="rod", form=shapes.Capsule(RADIUS, 1.4)).shape("block", on="ground", form=RODS["box"])
    made.contact("skin", "block", friction=0.3, restitution=0, name="touch")
    start = made.place("rod", at=(0.45, 0.1, 0.9), turned=((0, 0, 1), 0.3), spin=(0, 0.5, 0))
    motion = zw.simulate(made.system(), start, until=0.6, impact="newton")
    assert motion.status.name == "REACHED"
    assert len({event.constraint for event in motion.events.of("impact")}) > 1
    for t in np.linspace(0, 0.6, 60):
        pose = made.pose("rod", motion.at(t))
        along = pose.position + np.linspace(-0.7, 0.7, 141)[:, None] * pose.rotation[:, 0]
        assert min(distance("box", place) for place in along) > RADIUS - 1e-8


def test_a_capsule_slides_from_a_face_over_its_edge_and_tips_where_its_centre_is_beyond() -> None:
    made = zw.Bodies("slide", gravity=(0, 0, -10)).body("rod", mass=1, inertia=(0.01, 0.1, 0.1))
    made.shape("skin", on="rod", form=shapes.Capsule(RADIUS, 0.6)).shape("block", on="ground", form=RODS["box"])
    made.contact("skin", "block", restitution=0, name="touch")
    system = made.system()
    # Machine code of its terms would take half a minute to compile: 300 choices among 5,000 nodes.
    assert not isinstance(zw.compile(system).kernels.term_functions, StraightFunctions)
    motion = zw.simulate(system, made.place("rod", at=(-0.1, 0, 0.5), velocity=(1, 0, 0)), until=0.65)
    # The fore end is over the edge at 0.3, and the edge takes over; the hind end is free where the centre is over it.
    assert motion.status.name == "REACHED"
    (tipping,) = [event for event in motion.events.of("lift-off") if event.time > 0.4]
    assert tipping.time == pytest.approx(0.6, abs=1e-7)
    assert motion.values("z_rod", at=0.59) == pytest.approx(0.5, abs=1e-9)
    assert np.ptp(motion.energy["total"]) < 1e-8


def over_drum(axis: tuple[int, int, int], mu: float | None = None) -> zw.Bodies:
    """Return a capsule above a cylinder that is fixed."""
    made = zw.Bodies("drum", gravity=(0, 0, -10)).body("rod", mass=1, inertia=(0.01, 0.1, 0.1))
    made.shape("skin", on="rod", form=shapes.Capsule(RADIUS, 0.6))
    made.shape("drum", on="ground", form=shapes.Cylinder(0.5, 0.6), turned=(axis, np.pi / 2) if axis[0] else None)
    return made.contact("skin", "drum", friction=mu, restitution=0, name="touch")


def test_a_capsule_lies_on_a_drum_in_one_place_across_and_in_two_along() -> None:
    made = over_drum((1, 0, 0), 0.5)
    across = zw.reactions(made.system(), made.place("rod", at=(0, 0, 0.7)))
    assert across.status.name == "UNIQUE" and across.solutions[0].normal == pytest.approx([10])
    shifted = made.place("rod", at=(0, 0.1, 0.7), turned=((0, 0, 1), np.pi / 2))
    along = zw.reactions(made.system(), shifted)
    # Between the end of the drum at 0.3 and the hind end of the rod at -0.2, both 0.2 and 0.3 from its middle.
    assert along.status.name == "UNIQUE_MOTION"
    assert np.sort(along.solutions[0].normal) == pytest.approx([4, 6])


@pytest.mark.nightly
def test_a_capsule_slides_off_the_end_of_a_drum_and_tips_over_its_rim() -> None:
    made = over_drum((0, 0, 1))
    motion = zw.simulate(made.system(), made.place("rod", at=(-0.1, 0, 0.5), velocity=(1, 0, 0)), until=0.65)
    # The rim at x = 0.5 carries the fore end from x = 0.2 on; the hind end is free where the centre is over the rim.
    assert motion.status.name == "REACHED"
    (tipping,) = [event for event in motion.events.of("lift-off") if event.time > 0.4]
    assert tipping.time == pytest.approx(0.6, abs=1e-7) and np.ptp(motion.energy["total"]) < 1e-8


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["cylinder", "hull"])
@pytest.mark.parametrize("seed", range(3))
def test_a_capsule_that_tumbles_over_a_form_never_overlaps_it(name: str, seed: int) -> None:
    source = np.random.default_rng(seed)
    made = zw.Bodies("fall", gravity=(0, 0, -10)).body("rod", mass=1, inertia=(0.03, 0.1, 0.12))
    made.shape("skin", on="rod", form=shapes.Capsule(0.1, 0.8)).shape("block", on="ground", form=FORMS[name])
    made.contact("skin", "block", friction=0.3, restitution=0.2, name="touch")
    turn, at = source.normal(size=4), (*source.uniform(-0.2, 0.2, 2), 1.4)
    start = made.place("rod", at=at, turned=turn / np.linalg.norm(turn), spin=source.normal(size=3))
    motion = zw.simulate(made.system(), start, until=0.8, impact="newton")
    assert motion.events.of("impact")
    # In flight the centre falls freely, whatever features come and go.
    first = motion.events.of("impact")[0].time
    assert motion.values("z_rod", at=first) == pytest.approx(1.4 - 5 * first**2, abs=1e-9)
    for t in np.linspace(0, motion.t[-1], 40):
        pose = made.pose("rod", motion.at(t))
        along = pose.position + np.linspace(-0.4, 0.4, 61)[:, None] * pose.rotation[:, 0]
        assert min(distance(name, place) for place in along) > 0.1 - 1e-8


def test_a_capsule_slides_off_the_ends_of_two_rails_as_a_particle_off_a_circle() -> None:
    r, g, v = 0.5, 10.0, 0.6  # radii of 0.2 and 0.3 together
    rails = zw.Bodies("rails", gravity=(0, 0, -g)).body("rod", mass=1, inertia=(0.1, 0.2, 0.1))
    rails.shape("skin", on="rod", form=shapes.Capsule(RADIUS, 1.4), turned=((0, 0, 1), np.pi / 2))
    for name, y in (("left", 0.5), ("right", -0.5)):
        rails.shape(name, on="ground", form=RODS["capsule"], at=(0, y, 0))
        rails.contact("skin", name, restitution=0, name=name)
    motion = zw.simulate(rails.system(), rails.place("rod", at=(0.4, 0, r), velocity=(v, 0, 0)), until=0.6)
    assert motion.status.name == "REACHED"
    # From x = 0.5, where the rails end, on circles about their ends, until v^2 = g r cos(theta).
    left = [event.time for event in motion.events.of("lift-off")][-1]
    x, z = (motion.values(name, at=left) for name in ("x_rod", "z_rod"))
    assert z / r == pytest.approx((2 + v**2 / (g * r)) / 3, abs=1e-7)
    assert np.hypot(x - 0.5, z) == pytest.approx(r, abs=1e-8)
    assert np.ptp(motion.energy["total"]) < 1e-8


def test_point_slides_over_a_cylinder_and_leaves_it_where_gravity_no_longer_turns_it():
    """A bead on a smooth cylinder leaves where cos(angle) = 2/3 + v^2/(3 g r), v its speed on top."""
    bead = zw.Bodies("bead", gravity=(0, 0, -10)).body("bead", mass=1, inertia=(1, 1, 1), at=(0, 0, 2))
    bead.point("tip", on="bead", at=(0, 0, 0))
    lying = ((1, 0, 0), (0, 0, -1), (0, 1, 0))
    bead.shape("log", on="ground", form=shapes.Cylinder(2, 10), turned=lying)
    bead.contact("tip", "log", name="touch")
    motion = zw.simulate(bead.system(), bead.place("bead", velocity=(1, 0.5, 0)), until=2.0)
    (event,) = [item for item in motion.events if item.kind == "lift-off"]
    at = motion.at(event.time)
    assert at["z_bead"] / 2 == pytest.approx(2 / 3 + 1 / 60, abs=1e-9)
    assert at["y_bead"] == pytest.approx(0.5 * event.time, abs=1e-9)


@pytest.mark.parametrize("form", [shapes.Box(2, 2, 2), shapes.Cylinder(1.5, 2)])
def test_point_sticks_on_top_of_a_form_and_falls_off_its_end(form):
    for speed, mu, kind in ((0.5, 0.5, "stick"), (3.0, 0.1, "lift-off")):
        top = zw.Bodies("top", gravity=(0, 0, -10)).body("bead", mass=1, inertia=(1, 1, 1), at=(0, 0, 1))
        top.point("tip", on="bead", at=(0, 0, 0)).shape("block", on="ground", form=form)
        top.contact("tip", "block", friction=mu, restitution=0, name="touch")
        motion = zw.simulate(top.system(), top.place("bead", velocity=(speed, 0, 0)), until=1.0)
        (event,) = [item for item in motion.events if item.kind == kind]
        end = float(form.radius if isinstance(form, shapes.Cylinder) else form.a / 2)
        brake = 10 * mu
        expected = speed / brake if kind == "stick" else (speed - (speed**2 - 2 * brake * end) ** 0.5) / brake
        assert event.time == pytest.approx(expected, abs=1e-9)


def test_points_that_touch_are_saved_and_two_points_are_refused(tmp_path):
    pair = zw.Bodies("pair").body("one", mass=1, inertia=(1, 1, 1)).body("other", mass=1, inertia=(1, 1, 1))
    pair.point("tip", on="one", at=(0, 0, 1)).point("end", on="other", at=(0, 0, 1))
    pair.shape("block", on="other", form=shapes.Box(1, 1, 1))
    pair.contact("tip", "block", friction=0.3, name="touch")
    path = tmp_path / "pair.toml"
    system = pair.system()
    system.save(path)
    assert zw.load(path) == system
    pair.contact("tip", "end")
    with pytest.raises(zw.DeclarationError, match="two points don't touch each other"):
        pair.system()
    with pytest.raises(zw.DeclarationError, match="there is no shape 'tipp'. Did you mean 'tip'"):
        pair.contact("tipp", "block")
