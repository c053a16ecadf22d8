"""Where the ideal model stops: a pendulum through its singular point, a rod in the paradox, both on springs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zwang as zw
from zwang._limit.order_fit import fit_order
from zwang._limit.realized_run import Runner
from zwang._limit.ways import soften
from zwang._numerics.motion.run_state import DONE

PENDULUM = zw.gallery.get("ellipse_pendulum_cartesian")
NAMES = [item.name for item in PENDULUM.system.coordinates]
EDGES = np.linspace(0.0, 1.4, 401)


def passage(strength: float, tilt: float = 0.0) -> tuple[float, float, float]:
    """Return the label before and after the singular point and the energy across after it; weight 2 as in the paper."""
    softened = soften(PENDULUM.system, ["AB", "BC", "ellipse"], zw.Stiffness(weight=2))
    runner = Runner(softened, PENDULUM.state, {**PENDULUM.params, "tilt": tilt}, 1e-12)
    course = runner.run(strength, EDGES, None).course
    assert course.status == DONE
    energy = np.diff(course.integrals[:, -1]) / np.diff(course.t)
    return label(course.q[0]), label(course.q[-1]), float(energy[-60:].mean())


def label(q: np.ndarray) -> float:
    """Return the sign of the angle CAB: the branch."""
    at = dict(zip(NAMES, q, strict=True))
    return float(np.sign(at["x_C"] * at["y_B"] - at["y_C"] * at["x_B"]))


@pytest.mark.parametrize("strength", [1e3, 1e4, 1e5, 1e6, 1e7])
def test_transversal_pendulum_on_springs_switches_its_label_at_every_strength(strength: float):
    """Independent computation in four Cartesian coordinates: the label changes for all N from 1e3 to 1e11."""
    before, after, _ = passage(strength)
    assert (before, after) == (1.0, -1.0)


def test_energy_left_across_falls_like_the_fourth_root_under_tilted_gravity():
    """E ~ N^(-1/4) for N >= 1e7, measured independently; here over two decades, to 0.05."""
    strengths = np.array([1e7, 3e7, 1e8])
    energies = np.array([passage(item, tilt=0.3)[2] for item in strengths])
    assert fit_order(strengths, energies).value == pytest.approx(-0.25, abs=0.05)


def test_energy_left_across_falls_faster_in_the_symmetric_pendulum():
    """E ~ N^(-3/4) on the whole; between neighbours the phase at the passage makes it uneven."""
    energies = [passage(item)[2] for item in (1e5, 1e8)]
    assert math.log10(energies[1] / energies[0]) / 3 == pytest.approx(-0.75, abs=0.2)


def test_rod_in_the_paradox_leaves_an_undamped_spring_like_the_energetic_law_slowly():
    """Normal speed 0.123 at N = 1e8 on the way to 0.0919 (energetic law, restitution 1).

    An independent integration of the uniform rod at 60 degrees, mu = 1.4, tip speed 1, gives the figure.
    """
    rod = zw.gallery.get("painleve_rod")
    values = {**rod.params, "mu": 1.4}
    assert zw.reactions(rod.system, rod.state, values).status.name == "NONE"
    spring = zw.realize(rod.system, "tip", by=zw.Stiffness(1e8))
    soft = {name: value for name, value in values.items() if name != "e"}
    motion = zw.simulate(spring, rod.state, soft, until=2e-3, tol=1e-10)
    times = np.linspace(0, float(motion.t[-1]), 4001)
    rigid = zw.compile(rod.system)
    gap = rigid.gaps(motion.at(times), values)["tip"]
    rate = rigid.gap_rates(motion.at(times), values)["tip"]
    pressed = np.flatnonzero(gap < -1e-9)
    assert gap[pressed[-1] + 5] > 0  # it has left
    assert rate[pressed[-1] + 5] == pytest.approx(0.123, abs=0.002)
