"""Bodies that roll without slipping: a thin disc against closed forms, a rattleback against Newton and Euler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import zwang as zw
from zwang import shapes

G = 9.81

# --- a thin disc -----------------------------------------------------------------------------------------------------
# Axes: e1 along the level tangent, e2 uphill in the disc, e3 across it, inclination th, which go round the vertical at
# p; the disc turns at (th', p sin, w). Rolling gives the centre R (th' e3 - w e1). Steady: the momentum (A w1, A w2,
# C w) changes by its going round, C w p sin - A p^2 sin cos about e1, and the force m (R w p sin + g cos) along e3 acts
# at -R e2: (C + m R^2) w p sin - A p^2 sin cos + m g R cos = 0. With A = m R^2/4, C = 2 A and a circle of radius k R
# of the centre, w = -k p: p^2 = 4 g cos/(R sin (6 k + cos)).
MASS, RADIUS = 1.3, 0.2


def penny() -> zw.Bodies:
    """Return a thin disc on the lower rim of a cylinder: that rim lies in its plane, the other never touches."""
    across = MASS * RADIUS**2 / 4
    made = zw.Bodies("penny", gravity=(0, 0, -G)).body("penny", mass=MASS, inertia=(across, across, 2 * across))
    made.shape("rim", on="penny", form=shapes.Cylinder(RADIUS, 0.1), at=(0, 0, 0.05))
    made.shape("floor", on="ground", form=shapes.HalfSpace((0, 0, 1), 0))
    return made.contact("rim", "floor", friction=5, name="touch")


@pytest.mark.parametrize(("lean", "k"), [pytest.param(1.1, 2.0, marks=pytest.mark.nightly), (0.6, 0.8)])
def test_a_penny_that_rolls_on_a_circle_keeps_its_inclination_its_radius_and_its_energy(lean: float, k: float) -> None:
    round_ = np.sqrt(4 * G * np.cos(lean) / (RADIUS * np.sin(lean) * (6 * k + np.cos(lean))))
    own, made = -k * round_, penny()
    start = made.place(
        "penny",
        at=(0, 0, RADIUS * np.sin(lean)),
        turned=((1, 0, 0), lean),
        velocity=(-RADIUS * own, 0, 0),
        spin=(0, round_ * np.sin(lean), own),
    )
    end = 10 * 2 * np.pi / round_
    motion = zw.simulate(made.system(), start, until=end, tol=1e-11)
    assert motion.status.name == "REACHED"
    assert motion.events == ()
    poses = [made.pose("penny", motion.at(t)) for t in np.linspace(0, end, 101)]
    np.testing.assert_allclose([np.arccos(pose.rotation[2, 2]) for pose in poses], lean, atol=1e-8)
    # The centre goes round a point on its left, once in 2 pi/p, and is back after ten turns.
    arms = np.array([pose.position[:2] - [0, k * RADIUS] for pose in poses])
    np.testing.assert_allclose(np.hypot(*arms.T), k * RADIUS, atol=1e-8)
    angles = np.linspace(0, 10 * 2 * np.pi, 101) - np.pi / 2
    np.testing.assert_allclose(arms, k * RADIUS * np.stack([np.cos(angles), np.sin(angles)], axis=1), atol=1e-8)
    np.testing.assert_allclose(motion.energy["total"], motion.energy["total"][0], rtol=1e-10)
    # The floor carries the weight, and friction pulls to the middle with m k R p^2.
    np.testing.assert_allclose(motion.reactions["touch 1"], MASS * G, rtol=1e-8)
    pull = np.linalg.norm(motion.friction["touch 1"], axis=1)
    np.testing.assert_allclose(pull, MASS * k * RADIUS * round_**2, rtol=1e-8)


@pytest.mark.parametrize("part", [0.5, 0.999, 1.001, 2.0])
def test_a_penny_rolls_upright_above_the_speed_at_which_its_spin_holds_it(part: float) -> None:
    # Small lean u, turning p, about straight rolling at w: A p' = C w u' (no force across e2), so p = 2 w u, and
    # (A + m R^2) u'' = m g R u - (C + m R^2) w p: u'' = (4/5) (g/R - 3 w^2) u. It stands where w^2 > g/(3 R).
    entry = zw.gallery.get("euler_disc")
    rolls = [item for item in entry.system.constraints if item.name != "brake"]
    disc, radius = entry.system.replace(constraints=rolls), entry.params["R"]
    own = part * np.sqrt(G / (3 * radius))
    state = dict.fromkeys(("x", "y", "psi", "phi", "v_y", "v_psi", "v_theta"), 0.0)
    state |= {"theta": np.pi / 2, "v_phi": own, "v_x": -radius * own}
    params = {"m": 1.0, "R": radius, "g": G}
    found = zw.linearize(disc, state, params, steady=("x", "phi"))
    square = 0.8 * (G / radius - 3 * own**2)
    values = sorted(found.eigenvalues, key=abs)
    np.testing.assert_allclose(np.array(values[6:]) ** 2, square, rtol=1e-8)
    assert (max(value.real for value in found.eigenvalues) > 1e-3) == (part < 1)
    # The motion itself begins so, with a small rate of lean.
    rate, time = np.sqrt(complex(square)), 0.1
    motion = zw.simulate(disc, state | {"v_theta": 1e-5, "v_y": -radius * 1e-5}, params, until=time, tol=1e-12)
    expected = 1e-5 * (np.sinh(rate * time) / rate).real
    assert motion.at(time)["theta"] - np.pi / 2 == pytest.approx(expected, rel=1e-5)


# --- a rattleback ----------------------------------------------------------------------------------------------------
# An ellipsoid whose middle is RISE above the centre of mass, its inertia turned by TURN against its curvature.
STONE, SEMI, RISE, TURN = 1.0, np.array([0.2, 0.05, 0.04]), 0.01, 0.3
TURNED = Rotation.from_rotvec([0, 0, TURN]).as_matrix()
INERTIA = TURNED @ np.diag([6e-4, 2.4e-3, 2.53e-3]) @ TURNED.T


def to_contact(up: Any) -> Any:
    """Return where the stone touches, from its centre of mass, in its own axes: the lowest point of the ellipsoid."""
    return -(SEMI**2) * up / np.sqrt(np.sum(SEMI**2 * up**2)) + np.array([0, 0, RISE])


def newton_euler(state: Any) -> Any:
    """Return the rates of the vertical and the spin in the stone's axes.

    With v = r x w (no slip) and F = m (v' + w x v + g up) the moment is r x F = I w' + w x I w.
    """
    up, w = state[:3], state[3:]
    r, size = to_contact(up), np.sqrt(np.sum(SEMI**2 * up**2))
    turned = np.cross(up, w)
    moved = -(SEMI**2) * turned / size + SEMI**2 * up * np.sum(SEMI**2 * up * turned) / size**3
    lever = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    moment = STONE * np.cross(r, np.cross(moved, w) + np.cross(w, np.cross(r, w)) + G * up)
    return np.concatenate([turned, np.linalg.solve(INERTIA - STONE * lever @ lever, moment - np.cross(w, INERTIA @ w))])


def exponents(spin: float) -> Any:
    """Return the eigenvalues about a steady spin, by differences along the imaginary axis, exact to rounding."""
    steady, step = np.array([0, 0, 1, 0, 0, spin], dtype=complex), 1e-30
    columns = [newton_euler(steady + 1j * step * direction).imag / step for direction in np.eye(6)]
    return np.linalg.eigvals(np.stack(columns, axis=1))


def turning_stone() -> zw.System:
    """Return the rattleback by heading psi and tilts; its centre is at (xi, eta) of axes that turn with psi."""
    (xi, eta, _, al, be), (vxi, veta, vpsi, val, vbe) = zw.coordinates("xi eta psi al be")
    m, g = zw.parameters("m g")
    tilt = sp.rot_ccw_axis1(al) * sp.rot_ccw_axis2(be)
    up = tilt.T * sp.Matrix([0, 0, 1])
    w = vpsi * up + sp.Matrix([val * sp.cos(be), vbe, val * sp.sin(be)])
    square = sp.diag(*(SEMI**2).tolist())
    r = -square * up / sp.sqrt((up.T * square * up)[0]) + sp.Matrix([0, 0, RISE])
    height = -(up.T * r)[0]
    speed = sp.Matrix([vxi - vpsi * eta, veta + vpsi * xi, zw.rate(height)])
    slip = speed + tilt * w.cross(r)
    return zw.System(
        name="rattleback",
        kinetic=m * (speed.T * speed)[0] / 2 + (w.T * sp.Matrix(INERTIA.tolist()) * w)[0] / 2,
        potential=m * g * height,
        constraints=[zw.Bilateral(slip[i], name=f"rolls {i + 1}") for i in range(2)],
    )


def test_a_rattleback_that_spins_has_the_eigenvalues_of_newton_and_euler_and_of_the_other_sense_their_opposites() -> (
    None
):
    system, params = turning_stone(), {"m": STONE, "g": G}
    still = dict.fromkeys(["xi", "eta", "psi", "al", "be", "v_xi", "v_eta", "v_al", "v_be"], 0.0)
    for spin in (5.0, -5.0, 20.0):
        found = zw.linearize(system, still | {"v_psi": spin}, params, steady=("psi",))
        # Beside those of the tilts: heading, rate of spin, and the place on the floor seen from axes that turn.
        own = np.concatenate([exponents(spin), [spin * 1j, -spin * 1j]])
        np.testing.assert_allclose(np.poly(found.eigenvalues), np.poly(own), rtol=1e-9, atol=1e-6)
        for value in own:
            assert np.abs(found.eigenvalues - value).min() < 1e-6
        # Time turned round is the other sense of spin.
        np.testing.assert_allclose(np.poly(-exponents(spin)), np.poly(exponents(-spin)), rtol=1e-9, atol=1e-6)
    # Rolling, the fast mode, grows in the wrong sense and dies in the right one, where pitching grows slowly.
    fast = {spin: max(exponents(spin), key=lambda value: value.imag).real for spin in (5.0, -5.0)}
    assert fast[-5.0] == pytest.approx(-fast[5.0], rel=1e-9)
    assert fast[-5.0] > 5
    assert max(exponents(5.0).real) < 0.1 * fast[-5.0]


def rattleback() -> zw.Bodies:
    made = zw.Bodies("rattleback", gravity=(0, 0, -G)).body("stone", mass=STONE, inertia=INERTIA)
    a, b, c = SEMI
    made.shape("shell", on="stone", form=shapes.Implicit(f"x**2/{a}**2 + y**2/{b}**2 + (z - {RISE})**2/{c}**2 - 1"))
    made.shape("floor", on="ground", form=shapes.HalfSpace((0, 0, 1), 0))
    return made.contact("shell", "floor", friction=5, name="touch")


@pytest.mark.parametrize("spin", [-5.0, 5.0])
def test_a_rattleback_turns_round_from_the_wrong_sense_alone_and_keeps_its_energy(spin: float) -> None:
    made, end = rattleback(), 1.5
    turn = Rotation.from_rotvec([0.01, 0.005, 0])
    rotation, w = turn.as_matrix(), np.array([0, 0, spin])
    up = rotation[2]
    r = to_contact(up)
    place = {"at": (0, 0, -(rotation @ r)[2]), "velocity": rotation @ np.cross(r, w)}
    motion = zw.simulate(
        made.system(), made.place("stone", turned=turn.as_quat()[[3, 0, 1, 2]], spin=w, **place), until=end, tol=1e-10
    )
    assert motion.status.name == "REACHED"
    assert motion.events == ()  # it touches and sticks all the time
    times = np.linspace(0, end, 31)
    spins = np.array([made.pose("stone", motion.at(t)).spin for t in times])
    own = solve_ivp(
        lambda _, y: newton_euler(y), (0, end), [*up, *w], method="DOP853", rtol=1e-11, atol=1e-13, t_eval=times
    )
    np.testing.assert_allclose(spins, own.y[3:].T, atol=1e-7)
    np.testing.assert_allclose(motion.energy["total"], motion.energy["total"][0], rtol=1e-10)
    assert spins[:, 2].min() == pytest.approx(spin, abs=0.1)
    assert spins[-1, 2] == pytest.approx(5, abs=0.1)
