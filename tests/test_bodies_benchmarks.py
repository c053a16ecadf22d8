"""Mechanisms in space against closed forms and against integrations that share nothing with the package."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import zwang as zw

# --- overconstrained loops -------------------------------------------------------------------------------------------


def moved(frame: np.ndarray, angle: float, length: float, twist: float) -> np.ndarray:
    """A turn about z, then a link along x with a twist about x (Denavit and Hartenberg)."""
    c, s, ct, st = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
    rows = [[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]]
    return frame @ np.array(rows)


@pytest.mark.nightly
def test_goldbergs_loop_of_five_hinges_has_one_freedom_and_two_self_stresses() -> None:
    # Two of Bennett's loops share a link, which is taken out, and the links at one of its ends become one body.
    a, alpha = 1.0, 0.6
    ends = []
    for other, angle in ((1.1, 1.0), (0.9, 1.4)):
        b = a * np.sin(other) / np.sin(alpha)
        ratio = np.sin((other + alpha) / 2) / np.sin((other - alpha) / 2)
        second = 2 * np.arctan(ratio / np.tan(angle / 2))
        shared = moved(np.eye(4), 0.0, a, alpha)  # from the hinge where both loops meet to the one that goes
        near = moved(shared, second, b, other)
        far = moved(near, -angle, a, alpha)
        back = moved(moved(far, -second, b, other), angle, 0.0, 0.0)
        np.testing.assert_allclose(back, np.eye(4), atol=1e-12)
        ends.append((near, far))
    frames = [np.eye(4), ends[0][1], ends[0][0], ends[1][0], ends[1][1]]
    loop = zw.Bodies("goldberg")
    for i in range(4):
        here, there = frames[i], frames[i + 1]
        loop.body(f"b{i}", mass=1, inertia=(0.1, 0.1, 0.1), at=(here[:3, 3] + there[:3, 3]) / 2)
        first = "ground" if i == 0 else f"b{i - 1}"
        loop.revolute(f"j{i}", first, f"b{i}", at=here[:3, 3], axis=here[:3, 2])
    system = loop.close("revolute", "last", "b3", "ground", at=frames[4][:3, 3], axis=frames[4][:3, 2]).system()
    rest = {item.name: 0.0 for item in (*system.coordinates, *system.velocities)}
    found = zw.reactions(system, rest)
    assert len(found.redundancy.stress_normal) == 2
    motion = zw.simulate(system, {**rest, "v_j0": 1.0}, until=0.5, start="project")
    assert motion.status.name == "REACHED"
    assert np.ptp(motion.q, axis=0).min() > 1e-3 and np.ptp(motion.q, axis=0).max() > 0.5  # all hinges turn
    assert motion.residual < 1e-9


# --- tops and pendulums ----------------------------------------------------------------------------------------------


def test_a_free_symmetric_body_goes_round_its_momentum_at_the_closed_form() -> None:
    across, along = 2.0, 1.2
    spin = np.array([0.7, 0.0, 3.0])
    momentum = np.array([across, across, along]) * spin
    size = np.linalg.norm(momentum)
    body = zw.Bodies("body").body("body", mass=1, inertia=(across, across, along))
    motion = zw.simulate(body.system(), body.place("body", spin=spin), until=5.0, tol=1e-11)
    # The axis goes round the momentum at |L|/I1, whatever the inertia along it.
    angle, unit, axis = size / across * 5.0, momentum / size, np.array([0.0, 0.0, 1.0])
    expected = axis * np.cos(angle) + np.cross(unit, axis) * np.sin(angle) + unit * (unit @ axis) * (1 - np.cos(angle))
    np.testing.assert_allclose(body.pose("body", motion.at(5.0)).rotation[:, 2], expected, atol=1e-8)


def test_a_gyroscope_that_is_let_go_nods_between_the_roots_of_its_cubic() -> None:
    m, g, l, along, across, theta, fast = 1.0, 9.81, 0.3, 0.02, 0.05, 0.6, 60.0
    about = across + m * l**2
    top = zw.Bodies("top", gravity=(0, 0, -g)).body("top", mass=m, inertia=(across, across, along), at=(0, 0, l))
    system = top.spherical("foot", "ground", "top", at=(0, 0, 0)).system()
    e = np.array([np.cos(theta / 2), np.sin(theta / 2), 0.0, 0.0])
    axis = np.array([0, -np.sin(theta), np.cos(theta)])
    w = fast * axis
    rates = 0.5 * np.array([-(e[1:] @ w), *(e[0] * w - np.cross(e[1:], w))])
    state = {f"e{k}_foot": e[k] for k in range(4)} | {f"v_e{k}_foot": rates[k] for k in range(4)}
    motion = zw.simulate(system, state, until=3.0, tol=1e-11)
    heights = motion.values("z_top", at=np.linspace(0, 3, 8001)) / l
    # u = cos(theta): u'^2 = (1 - u^2) beta (u0 - u) - (a (u0 - u))^2, a = I3 w3/I1, beta = 2 m g l/I1.
    u0, a, beta = np.cos(theta), along * fast / about, 2 * m * g * l / about
    low = brentq(lambda u: beta * (1 - u**2) - a**2 * (u0 - u), -1, u0)
    assert heights.max() == pytest.approx(u0, abs=1e-9)
    assert heights.min() == pytest.approx(low, abs=1e-5)  # the grid sees the turning point to second order
    # One nod takes twice the integral of du/u' between the roots; u = low + (u0 - low) sin^2 takes both ends away.
    third = (a**2 / beta) - low  # u'^2 = beta (u0 - u) (u - low) (third - u)

    def slowness(x: float) -> float:
        u = low + (u0 - low) * np.sin(x) ** 2
        return float(2 / np.sqrt(beta * (third - u)))

    nod = 2 * quad(slowness, 0, np.pi / 2)[0]
    count = int(3.0 / nod)
    assert count >= 2
    np.testing.assert_allclose(motion.values("z_top", at=nod * np.arange(1, count + 1)) / l, u0, atol=1e-8)


def test_a_spherical_pendulum_swings_between_its_apses_and_goes_round_as_a_cone() -> None:
    m, g, l = 0.7, 9.81, 1.3
    bob = zw.Bodies("bob", gravity=(0, 0, -g)).body("bob", mass=m, inertia=(0, 0, 0), at=(0, 0, -l))
    system = bob.universal("eye", "ground", "bob", at=(0, 0, 0), axes=((1, 0, 0), (0, 1, 0))).system()
    theta = 0.8
    # A cone: the rate about the vertical has square g/(l cos(theta)).
    rate = np.sqrt(g / (l * np.cos(theta)))
    speed = rate * l * np.sin(theta)
    start = {"eye_1": theta, "eye_2": 0.0, "v_eye_1": 0.0, "v_eye_2": speed / l}
    motion = zw.simulate(system, start, until=4.0, tol=1e-11)
    np.testing.assert_allclose(motion.values("z_bob"), -l * np.cos(theta), atol=1e-9)
    # Half the speed: between heights where l^2 E' = 0 with the moment about the vertical kept.
    slow = {**start, "v_eye_2": speed / l / 2}
    motion = zw.simulate(system, slow, until=6.0, tol=1e-11)
    c0, k = np.cos(theta), (speed / 2) ** 2 / l**2
    moment = k * np.sin(theta) ** 2
    energy = k / 2 - g / l * c0
    low = brentq(lambda c: (1 - c**2) * (energy + g / l * c) - moment / 2, c0 + 1e-6, 1)
    heights = -motion.values("z_bob", at=np.linspace(0, 6, 6001)) / l
    assert heights.min() == pytest.approx(c0, abs=1e-8)
    assert heights.max() == pytest.approx(low, abs=1e-6)
