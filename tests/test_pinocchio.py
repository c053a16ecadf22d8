"""Trees and loops of bodies against Pinocchio, a peer that is not required: its recursion, and constraints by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zwang as zw
from night import by_day

pin = pytest.importorskip("pinocchio", reason="compares with the peer Pinocchio (the package `pin`)")

AGREE = 1e-10
"""Relative: both recursions round some 1e3 operations, and the loops solve with condition numbers up to some 1e3."""


class Pair:
    """The same bodies here and there.

    Attributes
    ----------
    here : Bodies
    there : pinocchio.Model
    joints : list of str
        Names of the joints, each with one coordinate.
    """

    def __init__(self, source: np.random.Generator) -> None:
        gravity = source.normal(size=3)
        self.here, self.there = zw.Bodies("pair", gravity=gravity), pin.Model()
        self.there.gravity.linear = gravity
        self.source, self.joints = source, []
        self.frames: dict[str, tuple[int, np.ndarray]] = {"ground": (0, np.zeros(3))}
        self.centres = {"ground": np.zeros(3)}

    def add(self, parent: str, kind: str) -> str:
        """Hang a body at a parent by a joint of a kind, at random; return its name."""
        source, name = self.source, f"b{len(self.joints)}"
        before, at = self.frames[parent]
        centre, place = at + source.normal(size=3), at + source.normal(size=3)
        axis = source.normal(size=3)
        axis /= np.linalg.norm(axis)
        mass, moments = 0.5 + source.uniform(), 1 + source.uniform(size=3)
        rotation = np.linalg.qr(source.normal(size=(3, 3)))[0]
        rotation *= np.linalg.det(rotation)
        self.here.body(name, mass=mass, inertia=moments, at=centre, turned=rotation)
        getattr(self.here, kind)(f"j{name}", parent, name, at=place, axis=axis)
        form = pin.JointModelRevoluteUnaligned if kind == "revolute" else pin.JointModelPrismaticUnaligned
        own = self.there.addJoint(before, form(axis), pin.SE3(np.eye(3), place - at), f"j{name}")
        inertia = pin.Inertia(mass, centre - place, rotation @ np.diag(moments) @ rotation.T)
        self.there.appendBodyToJoint(own, inertia, pin.SE3.Identity())
        self.frames[name], self.centres[name] = (own, place), centre
        self.joints.append(f"j{name}")
        return name

    def arrays(self, state: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """Return the coordinates and velocities of a state in Pinocchio's order, which is that of `joints`."""
        return np.array([state[name] for name in self.joints]), np.array([state[f"v_{name}"] for name in self.joints])


def order(pair: Pair, system: Any) -> list[int]:
    names = [item.name for item in system.coordinates]
    return [names.index(name) for name in pair.joints]


@pytest.mark.parametrize("seed", by_day(range(20), range(0, 20, 4)))
def test_random_trees_have_the_mass_and_bias_of_pinocchio(seed: int) -> None:
    source = np.random.default_rng(seed)
    pair, path = Pair(source), ["ground"]
    for _ in range(int(source.integers(1, 9))):
        # Pinocchio wants the joints depth first: the parent is the last body or one of those that carry it.
        path = path[: int(source.integers(1, len(path) + 1))]
        path.append(pair.add(path[-1], str(source.choice(["revolute", "prismatic"]))))
    system = pair.here.system()
    state = {item.name: float(source.normal()) for item in (*system.coordinates, *system.velocities)}
    q, v = pair.arrays(state)
    data, at = pair.there.createData(), order(pair, system)
    mass = np.array(pin.crba(pair.there, data, q))
    mass = np.triu(mass) + np.triu(mass, 1).T
    bias = np.array(pin.rnea(pair.there, data, q, v, 0 * v))
    terms: Any = zw.compile(system).terms(state, {})
    np.testing.assert_allclose(terms.mass[np.ix_(at, at, [0])][..., 0], mass, atol=AGREE * np.abs(mass).max())
    np.testing.assert_allclose(-terms.force[at, 0], bias, atol=AGREE * max(1.0, np.abs(bias).max()))


@pytest.mark.parametrize("seed", by_day(range(20), range(0, 20, 4)))
def test_random_loops_have_the_accelerations_and_forces_of_pinocchio(seed: int) -> None:
    """A chain of six to eight joints whose last body is held at a point of the ground, by a ball joint."""
    source = np.random.default_rng(100 + seed)
    pair, last = Pair(source), "ground"
    for _ in range(int(source.integers(6, 9))):
        last = pair.add(last, "prismatic" if source.random() < 0.2 else "revolute")
    place = pair.centres[last] + source.normal(size=3)
    pair.here.close("spherical", "pin", "ground", last, at=place)
    system = pair.here.system()
    guess = {item.name: 0.2 * float(source.normal()) for item in (*system.coordinates, *system.velocities)}
    state = zw.compile(system).project(guess, {})
    q, v = pair.arrays(state)
    joint, at = pair.frames[last]
    frame = pair.there.addFrame(pin.Frame("tip", joint, 0, pin.SE3(np.eye(3), place - at), pin.FrameType.OP_FRAME))
    data, world = pair.there.createData(), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    mass = np.array(pin.crba(pair.there, data, q))
    mass = np.triu(mass) + np.triu(mass, 1).T
    bias = np.array(pin.rnea(pair.there, data, q, v, 0 * v))
    pin.forwardKinematics(pair.there, data, q, v, 0 * v)
    pin.updateFramePlacements(pair.there, data)
    rows = np.array(pin.computeFrameJacobian(pair.there, data, q, frame, world))[:3]
    drift = np.array(pin.getFrameClassicalAcceleration(pair.there, data, frame, world).linear)
    np.testing.assert_allclose(data.oMf[frame].translation, place, atol=1e-11)
    np.testing.assert_allclose(rows @ v, 0, atol=1e-10)
    response = np.linalg.solve(mass, rows.T)
    force = np.linalg.solve(rows @ response, -drift + rows @ np.linalg.solve(mass, bias))
    expected = np.linalg.solve(mass, rows.T @ force - bias)
    found = zw.reactions(system, state, {})
    assert found.status.name == "UNIQUE"
    size = np.abs(expected).max()
    np.testing.assert_allclose(found.accelerations[0][order(pair, system)], expected, atol=AGREE * size)
    wrench = np.ravel(found.solutions[0].wrench("pin"))[:3]
    np.testing.assert_allclose(wrench, force, atol=AGREE * np.abs(force).max())
