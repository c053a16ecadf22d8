"""Boxes and hulls that touch each other: gaps against separating axes, motions against closed forms."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import zwang as zw
from night import by_day

shapes = zw.shapes
BOX = np.array(list(product((-0.5, 0.5), (-0.4, 0.4), (-0.3, 0.3))))
PLATE = np.array(list(product((-0.6, 0.6), (-0.5, 0.5), (-0.1, 0.1))))
ROOF = np.array([(-0.5, -0.3, 0), (-0.5, 0.3, 0), (-0.4, 0, 0.4), (0.5, -0.3, 0), (0.5, 0.3, 0), (0.4, 0, 0.4)])


def axes_of(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normals of the faces and directions of the edges of a hull."""
    found = ConvexHull(places)
    ways = np.concatenate([np.roll(places[item], 1, axis=0) - places[item] for item in found.simplices])
    return found.equations[:, :3], ways


def separation(first: np.ndarray, second: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest distance between two hulls along their separating axes (negative: how deep they overlap), and it."""
    (ours, edges), (theirs, others) = axes_of(first), axes_of(second)
    crosses = np.cross(edges[:, None], others[None]).reshape(-1, 3)
    crosses = crosses[np.linalg.norm(crosses, axis=1) > 1e-9]
    axes = np.concatenate([ours, -theirs, crosses, -crosses])
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    apart = (second @ axes.T).min(axis=0) - (first @ axes.T).max(axis=0)
    return float(apart.max()), axes[np.argmax(apart)]


def pair(first: Any, second: Any) -> zw.Bodies:
    made = zw.Bodies("pair").body("a", mass=1, inertia=(0.1, 0.1, 0.1)).body("b", mass=2, inertia=(0.2, 0.3, 0.4))
    made.shape("one", on="a", form=first, at=(0.1, 0, 0), turned=((0, 0, 1), 0.4)).shape("other", on="b", form=second)
    return made.contact("one", "other", friction=0.3, restitution=0.0, name="touch")


PAIRS = {
    "boxes": (shapes.Box(1, 0.8, 0.6), shapes.Box(1.2, 1, 0.2), BOX, PLATE),
    "roof on box": (shapes.Hull(ROOF.tolist()), shapes.Box(1, 0.8, 0.6), ROOF, BOX),
}


def nearby(source: Any, made: zw.Bodies, corners: tuple[np.ndarray, np.ndarray], target: float) -> tuple[Any, float]:
    """A random state in which two solids are some distance apart, and that distance by separating axes."""
    turns = Rotation.random(2, random_state=source.integers(2**31))
    if source.random() < 0.3:  # faces on faces, edges along edges
        turns = Rotation.from_euler("zx", [[source.choice([0.0, 0.3]), 0.0], [0.0, 0.0]])
    own = Rotation.from_rotvec([0, 0, 0.4])
    at = source.normal(size=3)

    def seen(place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return place + turns[0].apply(own.apply(corners[0]) + np.array([0.1, 0, 0])), turns[1].apply(corners[1])

    for _ in range(3):
        apart, axis = separation(*seen(at))
        at = at + (apart - target) * axis
    q = turns.as_quat()[:, [3, 0, 1, 2]]
    state = made.place("a", at=at, turned=q[0]) | made.place("b", turned=q[1])
    return state, separation(*seen(at))[0]


@pytest.mark.parametrize(("name", "count"), by_day([(name, 40) for name in PAIRS], []))
def test_solids_overlap_where_a_gap_is_negative_and_nowhere_else(name: str, count: int) -> None:
    first, second, *corners = PAIRS[name]
    made, source = pair(first, second), np.random.default_rng(7)
    model = zw.compile(made.system())
    states, truth = [], []
    for _ in range(count):
        state, apart = nearby(source, made, (corners[0], corners[1]), float(source.choice([1e-4, -1e-4, 0.05, -0.01])))
        states.append(state)
        truth.append(apart)
    together = {key: np.array([state[key] for state in states]) for key in states[0]}
    found: Any = model.terms(together, {})
    units = [k for k, item in enumerate(model.system.constraints) if not item.name.startswith("unit")]
    least = found.value[units].min(axis=0)
    expected = np.array(truth)
    clear = np.abs(expected) > 1e-6
    assert clear.sum() > 0.6 * count
    wrong = clear & ((least < 0) != (expected < 0))
    assert not wrong.any(), (least[wrong], expected[wrong])


def falling(turned: Any = None, size: tuple[float, float, float] = (1, 1, 1), mu: float | None = None) -> zw.Bodies:
    """A cube above a box that is fixed."""
    made = zw.Bodies("falling", gravity=(0, 0, -10)).body("cube", mass=1, inertia=(0.1, 0.12, 0.15))
    made.shape("upper", on="cube", form=shapes.Box(1, 1, 1))
    made.shape("lower", on="ground", form=shapes.Box(*size), turned=turned)
    return made.contact("upper", "lower", friction=mu, restitution="e", name="touch")


@pytest.mark.nightly
def test_edge_meets_edge_where_two_ridges_cross() -> None:
    made = falling(((0, 1, 0), np.pi / 4))
    start = made.place("cube", at=(0.05, 0.02, 2), turned=((1, 0, 0), np.pi / 4))
    motion = zw.simulate(made.system(), start, {"e": 1.0}, until=0.36)
    (event,) = motion.events
    # The ridges are half a diagonal, sqrt(2)/2, above and below the middles.
    assert (event.kind, event.time) == ("impact", pytest.approx(np.sqrt(2 * (2 - np.sqrt(2)) / 10), rel=1e-10))
    assert np.ptp(motion.energy["total"]) < 1e-9


@pytest.mark.nightly
def test_a_cube_that_falls_on_its_corner_bounces_as_a_point_does() -> None:
    made = falling(size=(3, 3, 1))
    x, y, z = np.array([1, -1, 0]) / np.sqrt(2)
    tip = np.arccos(-1 / np.sqrt(3))  # turns the diagonal (1, 1, 1) into (0, 0, -1)
    start = made.place("cube", at=(0.05, 0.02, 2), turned=((x, y, z), tip))
    motion = zw.simulate(made.system(), start, {"e": 0.5}, until=0.75)
    first = np.sqrt(2 * (1.5 - np.sqrt(3) / 2) / 10)
    assert [event.kind for event in motion.events] == ["impact", "impact"]
    assert [event.time for event in motion.events] == pytest.approx([first, 2 * first], rel=1e-9)


@pytest.mark.nightly
def test_a_shifted_cube_rests_on_the_corners_of_the_common_face() -> None:
    made = falling(mu=0.3)
    found = zw.reactions(made.system(), made.place("cube", at=(0.1, 0.05, 1)), {"e": 0.0})
    assert found.status.name == "UNIQUE_MOTION"
    assert found.accelerations[0] == pytest.approx(np.zeros(7), abs=1e-9)
    # A corner of each cube and two crossings of edges: the common face goes from -0.4 to 0.5 and from -0.45 to 0.5, the
    # weight is at (0.1, 0.05). With shares p, q of it on the far sides a corner bears from p + q - 1 to min(p, q).
    assert len(found.contacts) == 4
    p, q = 0.5 / 0.9, 0.5 / 0.95
    ranges = found.solutions[0].ranges.normal
    assert ranges[:, 1].max() == pytest.approx(10 * min(p, q), rel=1e-6)
    assert ranges[:, 0].max() == pytest.approx(10 * (p + q - 1), rel=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_a_cube_that_tumbles_over_a_box_never_overlaps_it(seed: int) -> None:
    source = np.random.default_rng(seed)
    made = falling(size=(2, 1.5, 1), mu=0.4)
    turn = Rotation.random(random_state=seed)
    start = made.place(
        "cube", at=(*source.uniform(-0.8, 0.8, 2), 2), turned=turn.as_quat()[[3, 0, 1, 2]], spin=source.normal(size=3)
    )
    motion = zw.simulate(made.system(), start, {"e": 0.2}, until=1.0, impact="newton", method="auto")
    cube, box = (np.array(list(product(*[(-s / 2, s / 2) for s in sides]))) for sides in ((1, 1, 1), (2, 1.5, 1)))
    for time in np.linspace(0, motion.t[-1], 50):
        pose = made.pose("cube", motion.at(time))
        assert separation(pose.position + cube @ pose.rotation.T, box)[0] > -1e-7


def test_hulls_without_faces_are_refused_by_name() -> None:
    def tell(points: Any) -> None:
        pair(shapes.Hull(points), shapes.Box(1, 1, 1)).system()

    with pytest.raises(zw.DeclarationError, match="places of the Hull 'one' must be three numbers each"):
        tell([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, "h")])
    with pytest.raises(zw.DeclarationError, match="the 4 places of the Hull lie in a plane"):
        tell([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)])
    many = np.random.default_rng(0).normal(size=(30, 3))
    many /= np.linalg.norm(many, axis=1)[:, None]
    with pytest.raises(zw.DeclarationError, match="pairs of edges could meet, and at most 200 are looked at"):
        tell(many.tolist())
