"""Every registered law of friction through every verb: stick inside its section, slip on its edge, no power won.

A law of one's own is put into LAWS with numbers for its fields; nothing here knows more of it than its sections.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang._declare.laws import _LAWS, law_fields

(x, y), (vx, vy) = zw.coordinates("x y")
(X, Y, Z), (VX, VY, VZ) = zw.coordinates("X Y Z")
F, G = zw.parameters("F G")
WEIGHT = 10.0


@zw.law("contract_scales")
@dataclass(frozen=True)
class Scales:
    """Two sizes: what a snake's belly does."""

    easy: Any
    hard: Any
    slip: Any = field(kw_only=True)

    def section(self) -> zw.Interval:
        return zw.Interval(-self.easy, self.hard)


@zw.law("contract_glue")
@dataclass(frozen=True)
class Glue:
    """Two sizes, and twice as much at rest."""

    low: Any
    high: Any
    slip: Any = field(kw_only=True)

    def section(self) -> zw.Interval:
        return zw.Interval(self.low, self.high)

    def resting(self) -> zw.Interval:
        return zw.Interval(2 * self.low, 3 * self.high)


LAWS = {
    "coulomb": lambda: zw.Coulomb(0.3, slip=vx),
    "coulomb, static": lambda: zw.Coulomb(0.3, slip=vx, static=0.5),
    "coulomb, static the same": lambda: zw.Coulomb(0.3, slip=vx, static=0.3),
    "coulomb in a plane": lambda: zw.Coulomb(0.3, slip=(VX, VY)),
    "coulomb in a plane, static": lambda: zw.Coulomb(0.3, slip=(VX, VY), static=0.4),
    "coulomb, elliptic": lambda: zw.Coulomb((0.1, 0.4), slip=(VX, VY)),
    "coulomb, elliptic, static": lambda: zw.Coulomb((0.1, 0.4), slip=(VX, VY), static=(0.3, 0.5)),
    "contract_scales": lambda: Scales(0.05, 0.4, slip=vx),
    "contract_glue": lambda: Glue(-0.1, 0.3, slip=vx),
}
EVERY = pytest.mark.parametrize("which", LAWS)


def test_every_law_of_the_package_is_here():
    of_package = {key for key, cls in _LAWS.items() if cls.__module__.startswith("zwang.")}
    assert of_package <= {name.split(",")[0].split(" ")[0] for name in LAWS}


def system_of(law, bilateral=False):
    kind: Any = zw.Bilateral if bilateral else zw.Unilateral
    extra = {} if bilateral else {"restitution": 0}
    if len(law.slip) == 1:
        floor = kind(y, friction=law, name="floor", **extra)
        return zw.System(name="law", kinetic=(vx**2 + vy**2) / 2, forces={x: F, y: -WEIGHT}, constraints=[floor])
    floor = kind(Z, friction=law, name="floor", **extra)
    kinetic = (VX**2 + VY**2 + VZ**2) / 2
    return zw.System(name="law", kinetic=kinetic, forces={X: F, Y: G, Z: -WEIGHT}, constraints=[floor])


def values_of(system, push):
    names = {item.name for item in system.parameters}
    return {key: value for key, value in {"F": push[0], "G": push[-1]}.items() if key in names}


def state_of(system, slip=(0.0, 0.0)):
    found = {item.name: 0.0 for item in (*system.coordinates, *system.velocities)}
    return {**found, **{v.name: s for v, s in zip(system.velocities, slip, strict=False)}}


def directions(law):
    if len(law.slip) == 1:
        return [np.array([1.0]), np.array([-1.0])]
    return [np.array([math.cos(a), math.sin(a)]) for a in np.linspace(0.2, 2 * math.pi + 0.2, 6)[:-1]]


def edge(section, direction):
    """Return the largest force along a direction in a section, per unit of normal force."""
    a, b = (float(side) for side in section.sides)
    if len(direction) == 1:
        return b if direction[0] > 0 else a  # the sides are against a slip > 0 and against a slip < 0
    return 1 / math.hypot(direction[0] / a, direction[1] / b)


def slipping(section, slip):
    """Return the friction force against a slip, per unit of normal force: the most negative work."""
    a, b = (float(side) for side in section.sides)
    if len(slip) == 1:
        return np.array([-a if slip[0] > 0 else b])
    axes = np.array([a, b])
    return -(axes**2) * slip / math.hypot(*(axes * slip))


@EVERY
@pytest.mark.parametrize("bilateral", [False, True])
def test_it_sticks_inside_its_section_and_slips_outside(which, bilateral):
    law = LAWS[which]()
    system = system_of(law, bilateral)
    for direction in directions(law):
        held = WEIGHT * edge(law.resting(), -direction)
        for size, sticks in ((0.99, True), (1.01, False)):
            push = size * held * direction
            found = zw.reactions(system, state_of(system), values_of(system, push))
            assert [mode.startswith("stick") for s in found.solutions for mode in map(str, s.modes)] == [sticks]
            force = np.atleast_1d(found.solutions[0].tangential[0])
            change = np.atleast_1d(found.solutions[0].slip_acceleration[0])
            assert found.residual < 1e-9 and float(force @ change) <= 1e-12
            if sticks:
                assert np.allclose(force, -push, atol=1e-9)
            else:
                assert np.allclose(force, WEIGHT * slipping(law.section(), change), atol=1e-8)


@EVERY
def test_it_slides_on_the_edge_with_the_most_negative_work(which):
    law = LAWS[which]()
    system = system_of(law)
    for direction in directions(law):
        state = state_of(system, 2.0 * direction)
        found = zw.reactions(system, state, values_of(system, [0.3, -0.2]))
        force = np.atleast_1d(found.solutions[0].tangential[0])
        assert np.allclose(force, WEIGHT * slipping(law.section(), direction), atol=1e-9)
        assert found.status.name == "UNIQUE"


@EVERY
def test_maps_agree_with_single_states(which):
    law = LAWS[which]()
    system = system_of(law)
    pushes = np.linspace(-6.0, 6.0, 5)
    state = {**state_of(system), system.velocities[0].name: np.array([0.0, 0.0, 0.5, -0.5, 0.0])}
    values = {**values_of(system, [0.0, 0.1]), "F": pushes}
    found = zw.reactions(system, state, values)
    for i, push in enumerate(pushes):
        speed = state[system.velocities[0].name][i]
        alone = zw.reactions(system, {**state, system.velocities[0].name: speed}, {**values, "F": push})
        assert found.counts[i] == len(alone.accelerations)


@EVERY
def test_a_motion_loses_energy_stops_and_rests_in_both_methods(which):
    law = LAWS[which]()
    system = system_of(law)
    for direction in directions(law)[:2]:
        start, values = state_of(system, 0.5 * direction), values_of(system, [0.0, 0.0])
        motion = zw.simulate(system, start, values, until=6.0)
        assert motion.status.name == "REACHED" and motion.events[-1].kind == "stick"
        assert not np.any(motion.v[-1]) and motion.residual < 1e-9
        force = np.reshape(motion.friction["floor"], (len(motion.t), -1))
        power = (force * motion.v[:, : force.shape[1]]).sum(axis=1)
        assert (power <= 1e-12).all()
        lost = motion.energy["total"][-1] - motion.energy["total"][0]
        assert motion.work["floor"][-1] == pytest.approx(-0.125, abs=1e-9) and lost == pytest.approx(-0.125, abs=1e-9)
        stepped = zw.simulate(system, start, values, until=6.0, method="timestepping", step=0.005)
        assert np.abs(stepped.q[-1] - motion.q[-1]).max() < 5e-3 and not np.any(np.abs(stepped.v[-1]) > 1e-9)


@EVERY
def test_the_reference_backend_gives_the_same_terms_and_reactions(which):
    law = LAWS[which]()
    system = system_of(law)
    for slip in ((0.0, 0.0), (0.7, -0.4)):
        state, values = state_of(system, slip[: len(law.slip)]), values_of(system, [1.0, 0.5])
        one, two = (zw.reactions(system, state, values, backend=name) for name in ("native", "reference"))
        assert one.status == two.status and np.allclose(one.accelerations, two.accelerations, atol=1e-12)


@EVERY
def test_it_goes_to_files_and_back_and_is_printed(which, tmp_path):
    law = LAWS[which]()
    system = system_of(law)
    system.save(tmp_path / "law.toml")
    again = zw.load(tmp_path / "law.toml")
    assert again == system and law_fields(again.constraints["floor"].friction).keys() == law_fields(law).keys()
    assert "friction" in repr(system) and r"\lambda" in system._repr_latex_()


@EVERY
def test_realized_contacts_slow_down_as_ideal_ones(which):
    law = LAWS[which]()
    system = system_of(law)
    soft = zw.realize(system, "floor", by=zw.Stiffness(1e6, ratio=0.5))
    direction = directions(law)[1]
    start = state_of(system, 2.0 * direction)
    depth = {system.coordinates[-1].name: -WEIGHT / 1e6}
    values = values_of(system, [0.0, 0.0])
    one = zw.simulate(system, start, values, until=0.2)
    two = zw.simulate(soft, {**start, **depth}, values, until=0.2)
    assert np.abs(one.v[-1] - two.v[-1])[: len(law.slip)].max() < 1e-4


@EVERY
def test_impacts_take_the_section_of_slip(which):
    law = LAWS[which]()
    system = system_of(law)
    for direction in directions(law)[:2]:
        start = {**state_of(system, 5.0 * direction), system.coordinates[-1].name: 0.2}
        motion = zw.simulate(system, start, values_of(system, [0.0, 0.0]), until=0.2 + 1e-6, impact="newton")
        impact = motion.events[0]
        assert impact.kind == "impact"
        rubbed = np.atleast_1d(impact.details["friction_impulses"]["floor"])
        pressed = impact.details["impulses"]["floor"]
        after = impact.details["after"][: len(law.slip)]
        assert pressed == pytest.approx(2.0, rel=1e-9)
        assert np.allclose(rubbed, pressed * slipping(law.section(), after), atol=1e-8)
        energy = motion.energy["total"][-1] - motion.energy["total"][0]
        assert energy == pytest.approx(sum(values[-1] for values in motion.work.values()), abs=1e-9)
