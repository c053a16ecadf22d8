"""Reactions in space that one motion leaves undetermined: their extent by cone programs, and rest that lasts."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy as sp

import zwang as zw

FEET = {"down right": (1, 1), "down left": (1, -1), "up right": (-1, 1), "up left": (-1, -1)}


def table(drive: bool = False) -> zw.System:
    """Return a square table on an incline: x downhill, z across the plane; Cardan angles a, b, c."""
    (x, y, z, a, b, c), (vx, vy, vz, va, vb, vc) = zw.coordinates("x y z a b c")
    m, h, l, mu, beta, g = zw.parameters("m h l mu beta g")
    about_x = sp.Matrix([[1, 0, 0], [0, sp.cos(a), -sp.sin(a)], [0, sp.sin(a), sp.cos(a)]])
    about_y = sp.Matrix([[sp.cos(b), 0, sp.sin(b)], [0, 1, 0], [-sp.sin(b), 0, sp.cos(b)]])
    about_z = sp.Matrix([[sp.cos(c), -sp.sin(c), 0], [sp.sin(c), sp.cos(c), 0], [0, 0, 1]])
    spin = sp.Matrix([va, 0, 0]) + about_x.T * sp.Matrix([0, vb, 0]) + about_x.T * about_y.T * sp.Matrix([0, 0, vc])
    inertia = (m * l**2 / 3, m * l**2 / 3, 2 * m * l**2 / 3)
    kinetic = m * (vx**2 + vy**2 + vz**2) / 2 + sum(j * w**2 for j, w in zip(inertia, spin, strict=True)) / 2
    legs = []
    for name, (sx, sy) in FEET.items():
        foot = sp.Matrix([x, y, z]) + about_z * about_y * about_x * sp.Matrix([sx * l, sy * l, -h])
        slip = zw.rate(foot)
        legs.append(zw.Unilateral(foot[2], friction=zw.Coulomb(mu, slip=(slip[0], slip[1])), restitution=0, name=name))
    push = {x: m * sp.sin(40 * zw.t)} if drive else {}
    potential = m * g * (z * sp.cos(beta) - x * sp.sin(beta))
    return zw.System(name="table", kinetic=kinetic, potential=potential, forces=push, constraints=legs)


TABLE = table()
PARAMS = {"m": 10.0, "h": 0.5, "l": 0.6, "beta": 0.3, "g": 9.81, "mu": 0.5}


def standing(h: float) -> dict[str, float]:
    rest = dict.fromkeys(("x", "y", "a", "b", "c", "v_x", "v_y", "v_z", "v_a", "v_b", "v_c"), 0.0)
    return {**rest, "z": h}


@pytest.mark.parametrize(("beta", "h"), [(0.3, 0.5), (0.1, 0.2), (0.0, 0.5)])
def test_a_table_stands_on_its_legs_within_the_ranges_of_the_closed_form(beta: float, h: float) -> None:
    found = zw.reactions(TABLE, standing(h), {**PARAMS, "beta": beta, "h": h})
    solution = found.solutions[0]
    assert set(solution.modes) == {"stick"} and solution.dimension == 6
    # Three equations for four normal forces: with P = m g cos(beta) and d = P h tan(beta) / (2 l) the downhill legs
    # carry between d and P/2, the uphill ones between 0 and P/2 - d.
    load = 10 * 9.81 * np.cos(beta)
    tilt = load * h * np.tan(beta) / (2 * 0.6)
    expected = [(tilt, load / 2)] * 2 + [(0.0, load / 2 - tilt)] * 2
    assert solution.ranges.normal == pytest.approx(np.array(expected), abs=1e-7 * load)
    # The base is the point of least norm, which is as symmetric as the table.
    assert solution.normal == pytest.approx([load / 4 + tilt / 2] * 2 + [load / 4 - tilt / 2] * 2, rel=1e-6)
    assert found.redundancy is not None and found.redundancy.determined == ()
    assert found.residual <= 1e-8


def test_a_sliding_table_has_a_segment_of_reactions() -> None:
    found = zw.reactions(TABLE, standing(0.5), {**PARAMS, "mu": 0.2})
    solution = found.solutions[0]
    assert set(solution.modes) == {"slip"} and solution.dimension == 1 and len(solution.vertices) == 2
    # Friction 0.2 P at the feet: the moment is h times it, in place of h times the weight's part along the plane.
    load = 10 * 9.81 * np.cos(0.3)
    tilt = load * 0.5 * 0.2 / (2 * 0.6)
    assert solution.ranges.normal == pytest.approx(
        np.array([(tilt, load / 2)] * 2 + [(0.0, load / 2 - tilt)] * 2), abs=1e-7 * load
    )


def test_a_table_on_an_incline_rests_for_good() -> None:
    motion = zw.simulate(TABLE, standing(0.5), PARAMS, until=2.0)
    assert motion.status.name == "REACHED" and not motion.events
    assert (motion.q == motion.q[0]).all() and not motion.v.any()
    assert np.isnan(motion.reactions["up left"]).all()  # undetermined, and said so


def test_a_table_that_is_shaken_while_it_sticks_stays_where_it_is() -> None:
    shaken = table(drive=True)
    motion = zw.simulate(shaken, standing(0.5), PARAMS, until=0.1)
    # The push is a tenth of what friction still holds back, so nothing moves.
    assert motion.status.name == "REACHED" and len(motion.events) == 0
    assert np.abs(motion.q[-1] - motion.q[0]).max() < 1e-12
    steps = zw.simulate(shaken, standing(0.5), PARAMS, until=0.1, method="timestepping", step=1e-3)
    assert np.abs(steps.q[-1] - steps.q[0]).max() < 1e-9


def test_two_contacts_on_one_body_share_what_they_carry() -> None:
    """Feet at -1 and 1 under a bar that is held upright: the friction along it can be shared in every proportion."""
    feet = [
        zw.Contact([0, 0, 1, side], tangent=[[1, 0, 0, 0], [0, 1, 0, 0]], friction=0.5, name=name)
        for name, side in (("left", -1), ("right", 1))
    ]
    found = zw.reactions(zw.ContactProblem(np.eye(4), [0.2, 0.0, -1.0, 0.0], feet))
    solution = found.solutions[0]
    assert tuple(solution.modes) == ("stick", "stick") and solution.dimension == 2
    assert solution.normal == pytest.approx([0.5, 0.5])
    assert solution.ranges.normal == pytest.approx(np.full((2, 2), 0.5), abs=1e-8)
    # T_x is shared between -0.05 and -0.25 (the other's bound), T_y up to where both are at their bound.
    assert solution.ranges.tangential[0, 0] == pytest.approx([-0.25, 0.05], abs=1e-7)
    side = np.sqrt(0.25**2 - 0.1**2)
    assert solution.ranges.tangential[0, 1] == pytest.approx([-side, side], abs=1e-6)


def test_forces_without_a_bound_are_infinite_with_a_ray() -> None:
    """A bar clamped between two bilateral contacts without friction along one line: one can pull as the other does."""
    clamps = [zw.Contact([0, 0, 1], bilateral=True, name=name) for name in ("upper", "lower")]
    floor = zw.Contact([0, 1, 0], tangent=[[1, 0, 0], [0, 0, 1]], friction=0.5, name="floor")
    found = zw.reactions(zw.ContactProblem(np.eye(3), [0.1, -1.0, 0.3], [*clamps, floor]))
    solution = found.solutions[0]
    assert np.isinf(solution.ranges.normal[:2]).all() and len(solution.rays) >= 1
    assert solution.ranges.normal[2] == pytest.approx([1.0, 1.0])


FLAT = {**PARAMS, "beta": 0.0}


def test_a_sliding_table_comes_to_rest_on_all_its_feet() -> None:
    motion = zw.simulate(TABLE, {**standing(0.5), "v_x": 1.0}, FLAT, until=1.0)
    assert motion.status.name == "REACHED"
    # It slows down by mu g, whatever the feet share, and no foot that stands on the floor lifts off.
    assert {(event.kind, event.constraint) for event in motion.events} == {("stick", name) for name in FEET}
    assert [event.time for event in motion.events] == pytest.approx([1.0 / (0.5 * 9.81)] * 4, rel=1e-9)
    assert not motion.v[-1].any() and motion.q[-1, 0] == pytest.approx(1.0 / (2 * 0.5 * 9.81), rel=1e-9)


def test_a_table_that_falls_askew_lands_rocks_and_rests() -> None:
    motion = zw.simulate(TABLE, {**standing(0.5), "z": 0.9, "b": 0.2}, FLAT, until=2.0, impact="newton")
    kinds = [event.kind for event in motion.events]
    assert motion.status.name == "REACHED" and not motion.v[-1].any()
    assert "impact" in kinds and kinds.count("contact") == 4 and "lift-off" not in kinds and kinds[-1] == "stick"
    assert motion.q[-1, 2] == pytest.approx(0.5, abs=1e-9) and np.abs(motion.q[-1, 3:5]).max() < 1e-9


def test_four_feet_that_slide_and_spin_leave_a_choice() -> None:
    """The weight can be shared in many ways, and each foot pulls in a direction of its own."""
    motion = zw.simulate(TABLE, {**standing(0.5), "v_x": 1.0, "v_c": 1.0}, FLAT, until=1.0)
    assert motion.status.name == "CHOICE" and "a continuum of accelerations" in motion.reason
    assert [event.kind for event in motion.events] == ["choice"]


def least_shares(params: dict[str, float], vx: float, vy: float, turn: float) -> np.ndarray:
    """Return the normal forces of least norm of four sliding feet on a level floor, from the balance of moments."""
    half, h, mu, load = params["l"], params["h"], params["mu"], params["m"] * params["g"]
    at = half * np.array(list(FEET.values()), dtype=float)
    slip = np.stack([vx - turn * at[:, 1], vy + turn * at[:, 0]], axis=1)
    rub = -mu * slip / np.linalg.norm(slip, axis=1)[:, None]
    # Forces (rub, 1) N at (x, y, -h): their moments about x and y vanish, the normals carry the weight.
    balance = np.stack([np.ones(4), at[:, 1] + h * rub[:, 1], -at[:, 0] - h * rub[:, 0]])
    return np.asarray(np.linalg.pinv(balance) @ [load, 0.0, 0.0])


def test_least_normal_forces_carry_four_feet_that_slide_and_spin_to_rest() -> None:
    motion = zw.simulate(TABLE, {**standing(0.5), "v_x": 1.0, "v_c": 1.0}, FLAT, until=1.0, redundant="minimum norm")
    assert motion.status.name == "REACHED"
    assert [event.kind for event in motion.events] == ["choice"] + ["stick"] * 4
    assert "least sum of squares" in motion.events[0].details["reason"]
    assert len({round(event.time, 9) for event in motion.events[1:]}) == 1  # all four at once
    forces = np.array([motion.reactions[name][0] for name in FEET])
    assert forces == pytest.approx(least_shares(FLAT, 1.0, 0.0, 1.0), rel=1e-12)
    assert motion.residual < 1e-12 and not motion.v[-1].any()
    lost = motion.energy["total"] - motion.energy["total"][0] - sum(motion.work.values())
    assert np.abs(lost).max() < 1e-10 * motion.energy["kinetic"][0]


def test_a_foot_that_would_have_to_pull_carries_nothing_until_it_shares_again() -> None:
    """With its centre of mass high, the table's least forces would pull at the foot behind."""
    params = {**FLAT, "mu": 0.9, "h": 0.65}
    assert least_shares(params, 1.0, 0.0, 1.0).min() < 0
    motion = zw.simulate(TABLE, {**standing(0.65), "v_x": 1.0, "v_c": 1.0}, params, until=1.0, redundant="minimum norm")
    assert motion.status.name == "REACHED" and not motion.v[-1].any()
    forces = np.array([motion.reactions[name] for name in FEET])
    # As it stops it turns within 1e-10 s, so that forces change by 1e-8 of the largest in the last digit of time.
    assert forces[:, 0].min() == 0.0 and forces.min() > -1e-8 * forces.max()
    assert len({piece.spare for piece in motion.pieces}) > 2  # others take its place on the way
    assert [event.kind for event in motion.events] == ["choice"] + ["stick"] * 4


@pytest.mark.parametrize("seed", range(4))
def test_least_forces_stay_inside_the_laws_whatever_the_motion(seed: int) -> None:
    random = np.random.default_rng(seed)
    vx, vy, turn = [*random.uniform(-1, 1, 2).tolist(), float(random.uniform(-3, 3))]
    params = {**FLAT, "mu": float(random.uniform(0.2, 0.8)), "h": float(random.uniform(0.2, 0.7))}
    start = {**standing(params["h"]), "v_x": vx, "v_y": vy, "v_c": turn}
    motion = zw.simulate(TABLE, start, params, until=2.0, redundant="minimum norm", impact="newton")
    assert motion.status.name == "REACHED" and not motion.v[-1].any()
    for name in FEET:
        load, rub = motion.reactions[name], np.linalg.norm(motion.friction[name], axis=1)
        assert load.min() > -1e-9 * load.max() and (rub <= params["mu"] * load + 1e-6 * load.max()).all()
    # The same as time stepping finds to its order: which shares that takes is its own affair.
    steps = zw.simulate(TABLE, start, params, until=2.0, method="timestepping", step=2e-3)
    assert motion.q[-1, :2] == pytest.approx(steps.q[-1, :2], abs=0.02)


@pytest.mark.parametrize(
    ("beta", "h", "mu", "start"),
    [
        # One foot passes close by rest just before all stop: its slip was given a trace of speed, its force was not.
        (
            0.26684635030470005,
            0.6771906721552654,
            0.7538304611693748,
            (0.0507086449514, -0.379516248882, -0.056658564672),
        ),
        (
            0.14922680864628568,
            0.8960772041882593,
            0.4705185121377393,
            (0.8978873498755, -0.079909721381, 1.030915381233),
        ),
        (0.0, 0.65, 0.9, (1.0, 0.2, 1.0)),
    ],
)
def test_least_forces_meet_the_equations_in_every_row(
    beta: float, h: float, mu: float, start: tuple[float, float, float]
) -> None:
    params = {**PARAMS, "beta": beta, "h": h, "mu": mu}
    state = {**standing(h), **dict(zip(("v_x", "v_y", "v_c"), start, strict=True))}
    motion = zw.simulate(TABLE, state, params, until=1.0, redundant="minimum norm", impact="newton")
    assert motion.status.name == "REACHED" and motion.residual < 1e-10


def test_least_forces_of_a_body_that_no_force_moves_sideways() -> None:
    """A box that slides down a wedge: no force acts on some of its coordinates."""
    entry = zw.gallery.get("wedge_box")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=0.5, redundant="minimum norm", impact="newton")
    assert motion.status.name == "REACHED" and motion.residual < 1e-12
    forces = np.array([motion.reactions[f"corner {k}"][0] for k in (1, 3, 5, 7)])
    assert forces[0] == pytest.approx(forces[1]) and forces[2] == pytest.approx(forces[3])  # it is symmetric
    assert forces.min() > 0.0


def test_least_friction_at_rest_stays_in_its_cones() -> None:
    """Just above the angle of slipping the friction goes to the feet that are pressed, not evenly to all."""
    mu = 1.0002 * np.tan(0.3)
    motion = zw.simulate(TABLE, standing(0.5), {**PARAMS, "mu": mu}, until=1.0, redundant="minimum norm")
    load = 10 * 9.81 * np.cos(0.3)
    tilt = load * 0.5 * np.tan(0.3) / (2 * 0.6)
    forces = [motion.reactions[name][0] for name in FEET]
    assert forces == pytest.approx([load / 4 + tilt / 2] * 2 + [load / 4 - tilt / 2] * 2, rel=1e-9)
    for name, force in zip(FEET, forces, strict=True):
        assert np.linalg.norm(motion.friction[name][0]) <= mu * force * (1 + 1e-6)
    assert sum(motion.friction[name][0, 0] for name in FEET) == pytest.approx(-10 * 9.81 * np.sin(0.3))


def rolling_disc() -> zw.System:
    """Return a thin disc that rolls on the floor: inclination theta, precession psi, own rotation phi."""
    (_, _, psi, theta, _), (vx, vy, vpsi, vtheta, vphi) = zw.coordinates("x y psi theta phi", angles="psi phi")
    m, R, g, M_c = zw.parameters("m R g M_c")
    height = R * sp.sin(theta)
    along = sp.Matrix([sp.cos(psi), sp.sin(psi), 0])
    uphill = sp.Matrix([-sp.sin(psi) * sp.cos(theta), sp.cos(psi) * sp.cos(theta), sp.sin(theta)])
    turning = (vtheta, vpsi * sp.sin(theta), vphi + vpsi * sp.cos(theta))
    kinetic = m * (vx**2 + vy**2 + zw.rate(height) ** 2) / 2
    kinetic += m * R**2 * (turning[0] ** 2 + turning[1] ** 2 + 2 * turning[2] ** 2) / 8
    spin = turning[0] * along + turning[1] * uphill + turning[2] * along.cross(uphill)
    speed = sp.Matrix([vx, vy, zw.rate(height)]) - spin.cross(R * uphill)
    rolls = [zw.Bilateral(sp.expand(speed[i]), name=f"rolls {i}") for i in range(2)]
    brake = zw.Friction(M_c, slip=vpsi, name="brake")
    return zw.System(name="disc", kinetic=kinetic, potential=m * g * height, constraints=[*rolls, brake])


@pytest.mark.parametrize(("theta", "moment"), [(0.1, 4e-4), (0.05, 1e-4), (0.2, 4e-4), (0.1, 4e-6)])
def test_an_euler_disc_spins_faster_and_faster_until_it_lies_flat(theta: float, moment: float) -> None:
    params = {"m": 1.0, "R": 0.04, "g": 9.81, "M_c": moment}
    rate = 2 * np.sqrt(9.81 / (0.04 * np.sin(theta)))  # its centre stays where it is
    state = dict.fromkeys(("x", "y", "psi", "phi", "v_x", "v_y", "v_theta"), 0.0)
    state |= {"theta": theta, "v_psi": rate, "v_phi": -rate * np.cos(theta)}
    disc = rolling_disc()
    # E = 3/2 m g R theta falls by M_c times the rate, which grows like theta^(-1/2).
    end = theta**1.5 * 9.81 * 0.04 * np.sqrt(0.04 / 9.81) / (2 * moment)
    motion = zw.simulate(disc, state, params, until=2 * end, tol=1e-9)
    # Close to the end it loses its height within a turn, and friction stops the spin, or psi has no inertia any more.
    assert motion.status.name == "BLOW_UP" and motion.t[-1] == pytest.approx(end, rel=1e-2)
    found = re.search(r"grows like \(t\* - t\)\^-p, p = ([0-9.]+) .* t\* = ([0-9.]+)\.", motion.reason)
    assert found is not None
    assert float(found[1]) == pytest.approx(1 / 3, rel=0.1) and float(found[2]) == pytest.approx(end, rel=1e-2)
    for part in (0.3, 0.6, 0.9):
        law = theta * (1 - part) ** (2 / 3)
        assert motion.at(part * end)["theta"] == pytest.approx(law, rel=0.05)  # it nods by some percent


@pytest.mark.nightly
def test_an_euler_disc_without_losses_keeps_its_inclination_and_a_braked_wheel_just_stops() -> None:
    params = {"m": 1.0, "R": 0.04, "g": 9.81, "M_c": 0.0}
    rate = 2 * np.sqrt(9.81 / (0.04 * np.sin(0.1)))
    state = dict.fromkeys(("x", "y", "psi", "phi", "v_x", "v_y", "v_theta"), 0.0)
    state |= {"theta": 0.1, "v_psi": rate, "v_phi": -rate * np.cos(0.1)}
    kept = zw.simulate(rolling_disc(), state, params, until=0.3)
    assert kept.status.name == "REACHED" and np.ptp(kept.q[:, 3]) < 1e-10
    (phi,), (turn,) = zw.coordinates("phi")
    wheel = zw.System(
        name="wheel",
        kinetic=turn**2 / 2,
        forces={phi: sp.Piecewise((1 / (1 - zw.t), zw.t < sp.Rational(9, 10)), (-300, True))},
        constraints=[zw.Friction(1, slip=turn, name="brake")],
    )
    # Its rate grows like a logarithm, which is no power, and falls to zero: it rests.
    motion = zw.simulate(wheel, {"phi": 0.0, "v_phi": 2.0}, {}, until=0.905)
    assert motion.status.name == "REACHED"
