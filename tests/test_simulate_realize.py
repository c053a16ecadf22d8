"""Where the ideal model has no answer, stiff springs are asked: at singular points, paradoxes and choices."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zwang as zw
from zwang.gallery import pendulum_on_ellipse


def pendulum(label: int = 1, **changes: float):
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    params = {**entry.params, **changes}
    everything = pendulum_on_ellipse.place(params, -0.3, 0.42, label)
    names = [item.name for item in (*entry.system.coordinates, *entry.system.velocities)]
    return entry.system, {name: everything[name] for name in names}, params


def rod(spin: float = 0.0, mu: float = 1.4):
    """The uniform rod at 60 degrees whose tip slides with speed 1, turning without leaving the floor."""
    entry = zw.gallery.get("painleve_rod")
    theta = entry.state["theta"]
    turning = {"v_theta": spin, "v_x": -1.0 - math.sin(theta) * spin, "v_y": math.cos(theta) * spin}
    return entry.system, {**entry.state, **turning}, {**entry.params, "mu": mu}


@pytest.mark.parametrize("label", [1, -1])
def test_springs_go_straight_through_a_crossing(label):
    # Errata of Burian 2017: the elastic realization switches the label at every passage of the transversal case.
    system, state, params = pendulum(label)
    motion = zw.simulate(system, state, params, until=1.2, at_singular="realize")
    straight = zw.simulate(system, state, params, until=1.2, at_singular="straight")
    assert motion.status.name == "REACHED"
    assert motion.q[-1] == pytest.approx(straight.q[-1], abs=1e-12)
    details = motion.events.of("singular")[0].details
    assert len(set(details["half_branches"])) == 1
    assert len(details["strengths"]) >= 5
    energies = details["oscillation_energies"]
    assert energies[-1] < 0.2 * energies[0]


def test_springs_have_no_limit_to_show_at_a_tangency():
    # The same errata: in the limit the label is kept, but at finite N up to about 1e9 the other way is taken.
    system, state, params = pendulum(1, r1=1.5625, r2=1.25, a=-0.5625)
    motion = zw.simulate(system, state, params, until=5.0, at_singular="realize")
    assert motion.status.name == "SINGULAR"
    assert "stiff springs" in motion.reason
    assert len(motion.continuations) == 2
    assert len(motion.events[0].details["strengths"]) >= 5


def test_springs_end_a_paradox_by_the_energetic_impact():
    system, state, params = rod()
    assert zw.reactions(system, state, params).status.name == "NONE"
    motion = zw.simulate(system, state, params, until=0.01, at_paradox="realize")
    assert [event.kind for event in motion.events] == ["paradox", "impact"]
    details = motion.events[1].details
    # Rate of the gap y - l sin(theta) after the impact; 0.0919 by the energetic law with restitution 1.
    after = details["after"]
    assert after[1] - math.cos(state["theta"]) * after[2] == pytest.approx(0.0919, abs=5e-5)
    distances = details["distances"]
    assert (np.diff(distances) < 0).all()
    assert distances[-1] < 1e-3
    # Springs of finite stiffness are far from it: 0.203 at N = 1e6, and 0.123 at 1e8 (independent computation).
    assert distances[0] > 1e-2
    assert motion.status.name == "REACHED"


def test_a_choice_that_depends_on_how_contact_began_stops():
    system, state, params = rod(spin=-5.0)
    assert zw.reactions(system, state, params).status.name == "MULTIPLE"
    motion = zw.simulate(system, state, params, until=0.05, at_choice="realize")
    assert motion.status.name == "CHOICE"
    assert "No limit exists" in motion.reason
    assert "begun with force" in motion.reason
    assert len(motion.continuations) == 2


def test_a_choice_of_two_contacts_is_left_to_the_reader():
    # The ladder of Ivanov 2013 with two accelerations at rest, although its matrix is positive definite (errata, 3).
    entry = zw.gallery.get("ladder")
    params = {**entry.params, "g": 0.0, "mu": 0.8, "mu_wall": 0.4, "F1": 0.5, "F2": -1.0, "F3": 1.0}
    motion = zw.simulate(entry.system, entry.state, params, until=0.01, at_choice="realize")
    assert motion.status.name == "CHOICE"
    assert "realize softens one contact with friction; 2 take part here" in motion.reason
    assert len(motion.continuations) >= 2


def test_a_contact_that_holds_both_ways_is_not_softened():
    # The rod of Ivanov 2013, example 5, with its tip held on the floor: no reaction or two where J+ J- < 0.
    system, state, params = rod()
    (tip,) = system.constraints
    held = system.replace(constraints=[zw.Bilateral(tip.expr, friction=tip.friction, name="tip")])
    values = {name: value for name, value in params.items() if name != "e"}
    motion = zw.simulate(held, state, values, until=0.01, at_choice="realize", at_paradox="realize")
    assert motion.status.name in ("CHOICE", "PARADOX")
    assert "'tip' holds both ways" in motion.reason
