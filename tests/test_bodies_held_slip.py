"""Rough contacts of bodies that a hinge or a guide lets slip one way only, or not at all where they touch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang import shapes
from zwang._numerics.contact.delassus import friction_arrays
from zwang._numerics.contact.one_contact import one_contact_solutions
from zwang._numerics.contact.problem import Contact, ContactProblem


def arm(height: float, friction: Any, restitution: float = 0.0) -> zw.Bodies:
    """Return an arm about a level hinge, a height over the floor, that stands up with a ball at its end."""
    middle = (0, 0, height + 0.5)
    made = zw.Bodies("arm", gravity=(0, 0, -9.81)).body("arm", mass=1, inertia=(0.1, 0.1, 0.02), at=middle)
    made.revolute("hinge", "ground", "arm", at=(0, 0, height), axis=(0, 1, 0))
    made.shape("foot", on="arm", form=shapes.Sphere(0.05), at=(0, 0, 0.5))
    made.shape("floor", on="ground", form=shapes.HalfSpace((0, 0, 1)))
    return made.contact("foot", "floor", friction=friction, restitution=restitution, name="step")


def start(made: zw.Bodies, kind: str, angle: float, rate: float) -> dict[str, float]:
    joint = {"hinge": angle, "v_hinge": rate}
    if kind == "joint":
        return joint
    pose = made.pose("arm", joint)
    return made.place("arm", at=pose.position, turned=pose.rotation, velocity=pose.velocity, spin=pose.spin)


def test_a_law_is_that_of_the_directions_in_which_joints_let_the_bodies_slip() -> None:
    made = arm(0.8, (0.3, 0.7))
    law: Any = made.system().constraints["step"].friction
    assert law.mu == 0.3  # along x; the hinge holds the foot along y
    assert len(made.system(coordinates="cartesian").constraints["step"].slip) == 2
    given = arm(0.8, lambda slip: zw.Coulomb(0.2, slip=slip, static=0.3)).system()
    assert len(given.constraints["step"].slip) == 1
    lift = zw.Bodies("lift").body("plate", mass=1, inertia=(1, 1, 1), at=(0, 0, 1))
    lift.prismatic("guide", "ground", "plate", at=(0, 0, 0), axis=(0, 0, 1))
    lift.shape("ball", on="plate", form=shapes.Sphere(0.1))
    lift.shape("floor", on="ground", form=shapes.HalfSpace((0, 0, 1)))
    assert lift.contact("ball", "floor", friction=0.3).system().constraints["ball on floor"].friction is None


def test_a_foot_slides_alike_in_both_coordinates_and_its_hinge_bears_the_friction() -> None:
    # The lowest place of the ball is on the floor, 0.8 below the hinge, where cos = (0.05 - 0.8)/1, and slides.
    angle, rate = np.arccos(-0.75), -0.8
    made, wrenches, rates = arm(0.8, 0.1), [], []
    for kind in ("joint", "cartesian"):
        system, state = made.system(coordinates=kind), start(made, kind, angle, rate)
        (solution,) = zw.reactions(system, state).solutions
        wrenches.append(solution.wrench("hinge"))
        motion = zw.simulate(system, state, until=0.05)
        rates.append(made.pose("arm", motion.at(0.05)).spin[1])
        np.testing.assert_allclose(motion.wrench("hinge")[0], wrenches[0], atol=1e-9)
    np.testing.assert_allclose(*wrenches, atol=1e-9)
    assert rates[0] == pytest.approx(rates[1], abs=1e-9)
    assert abs(wrenches[0][0]) > 1.0


@pytest.mark.parametrize("law", [None, "newton", pytest.param("poisson", marks=pytest.mark.nightly)])
def test_an_impact_at_the_height_of_the_hinge_has_one_outcome_in_both_coordinates(law: Any) -> None:
    # Neither direction across the floor moves there: impulses of friction are not determined, what they do is.
    ends = []
    for kind in ("joint", "cartesian"):
        made = arm(0.0, 0.3)
        motion = zw.simulate(made.system(coordinates=kind), start(made, kind, 0.5, 1.0), until=0.6, impact=law)
        assert motion.status.name == "REACHED"
        ends.append((*[event.time for event in motion.events], *made.pose("arm", motion.at(0.6)).position))
    np.testing.assert_allclose(*ends, atol=1e-9)


@pytest.mark.nightly
def test_an_arm_that_bounces_at_the_height_of_its_hinge_comes_to_rest() -> None:
    made = arm(0.0, 0.3, restitution=0.5)
    ends = []
    for kind in ("joint", "cartesian"):
        motion = zw.simulate(made.system(coordinates=kind), start(made, kind, 0.5, 1.0), until=1.5, impact="poisson")
        assert [event.kind for event in motion.events][-2:] == ["accumulation", "contact"]
        ends.append(motion.events[-1].time)
    assert ends[0] == pytest.approx(ends[1], abs=1e-8)


def test_a_contact_that_others_hold_against_everything_has_a_solution_and_an_end() -> None:
    # The same rows three times more as ideal constraints: nothing of the contact moves, and its force is free. What is
    # left of the rows is rounding, of either sign.
    source = np.random.default_rng(3)
    turned = np.linalg.qr(source.normal(size=(3, 3)))[0]
    held = [Contact(row, bilateral=True) for row in turned * source.uniform(0.5, 2.0, size=(3, 1))]
    for count in (1, 2, 3):
        foot = Contact([0, 0, 1.0], tangent=[[1.0, 0, 0], [0, 1.0, 0]], friction=0.4)
        found = one_contact_solutions(
            friction_arrays(ContactProblem(np.eye(3), [0.3, 0.2, -1.0], [foot, *held[:count]]))
        )
        assert found.solutions
        assert all(candidate.residual < 1e-9 for _, candidate in found.solutions)
        assert len(found.stick_directions) == count
