"""Rough pins: friction of the resultant of two constraints, against closed forms and independent computations."""

import math

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from night import by_day
from zwang._numerics.contact.pin_roots import all_roots
from zwang._numerics.contact.pin_sets import BearingForm, flatness, halves, orthants, resting_set


def on_a_pin(name="pendulum"):
    """A body on one pin: centre of mass at l, moment of inertia J about it; the pin has the friction circle c r."""
    (x, y, th), (vx, vy, w) = zw.coordinates("x y theta", angles="theta")
    m, J, l, g, c, r, M = zw.parameters("m J l g c r M")
    return zw.System(
        name=name,
        kinetic=m * (vx**2 + vy**2) / 2 + J * w**2 / 2,
        potential=m * g * y,
        forces={th: M},
        constraints=[
            zw.Bilateral(x - l * sp.sin(th), name="pin x"),
            zw.Bilateral(y + l * sp.cos(th), name="pin y"),
            zw.Friction(c, slip=r * w, of=("pin x", "pin y"), name="pin"),
        ],
    )


BODY = {"m": 2.0, "J": 0.1, "l": 0.5, "g": 9.81, "c": 0.3, "r": 0.2, "M": 0.0}


def turned(theta, spin, l=0.5):
    return {
        "x": l * math.sin(theta),
        "y": -l * math.cos(theta),
        "theta": theta,
        "v_x": l * math.cos(theta) * spin,
        "v_y": l * math.sin(theta) * spin,
        "v_theta": spin,
    }


@pytest.mark.parametrize("excess", [-1e-6, 1e-6])
def test_lever_on_a_journal_holds_up_to_the_friction_circle(excess):
    # At rest the bearing force is m g; a moment M holds while |M - m g l sin(theta)| <= c r m g.
    theta = 0.4
    weight = BODY["m"] * BODY["g"]
    limit = weight * (0.5 * math.sin(theta) + BODY["c"] * BODY["r"])
    found = zw.reactions(on_a_pin(), turned(theta, 0), {**BODY, "M": limit * (1 + excess)})
    assert found.status.name == "UNIQUE" and found.complete
    assert found.solutions[0].modes["pin"] == ("stick" if excess < 0 else "slip+")


@pytest.mark.parametrize("excess", [-1e-6, 1e-6])
def test_weight_on_a_journal_rests_where_the_sine_is_below_the_friction_circle(excess):
    theta = math.asin(BODY["c"] * BODY["r"] / BODY["l"]) + excess
    found = zw.reactions(on_a_pin(), turned(theta, 0), BODY)
    assert found.solutions[0].modes["pin"] == ("stick" if excess < 0 else "slip-")


def independent_acceleration(theta, spin, sign, p):
    """Angular acceleration of the body while it slips: the balance of moments with |F| from F itself, by bisection."""
    inertia = p["J"] + p["m"] * p["l"] ** 2

    def forced(size):
        return (-p["m"] * p["g"] * p["l"] * math.sin(theta) - p["c"] * p["r"] * sign * size) / inertia

    def bearing(size):
        a = forced(size)
        ax = p["l"] * (math.cos(theta) * a - math.sin(theta) * spin**2)
        ay = p["l"] * (math.sin(theta) * a + math.cos(theta) * spin**2)
        return p["m"] * math.hypot(ax, ay + p["g"])

    low, high = 0.0, 1e4
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if bearing(middle) > middle else (low, middle)
    return forced(low)


def test_pendulum_on_a_rough_journal_stops_after_the_swings_of_an_independent_integration():
    motion = zw.simulate(on_a_pin(), turned(1.2, 0), BODY, until=6.0)
    assert [event.kind for event in motion.events] == ["reversal", "reversal", "reversal", "stick"]
    theta, start, sign = 1.2, 0.0, -1
    for event in motion.events:
        still = lambda t, y: y[1]  # noqa: E731
        still.terminal, still.direction = True, -sign
        rate = lambda t, y, s=sign: [y[1], independent_acceleration(y[0], y[1], s, BODY)]  # noqa: E731
        swing = solve_ivp(rate, (start, 20), [theta, sign * 1e-12], events=still, rtol=1e-10, atol=1e-12)
        start, theta, sign = swing.t_events[0][0], swing.y_events[0][0][0], -sign
        assert event.time == pytest.approx(start, abs=1e-7)
    # It rests for good inside the friction circle.
    assert abs(math.sin(theta)) <= BODY["c"] * BODY["r"] / BODY["l"]
    assert motion.at(6.0)["theta"] == pytest.approx(theta, abs=1e-7)
    assert motion.residual < 1e-12
    lost = motion.energy["total"][-1] - motion.energy["total"][0]
    assert lost == pytest.approx(motion.work["pin"][-1], rel=1e-9)


def test_time_stepping_agrees_with_the_motion_of_a_rough_pendulum():
    events = zw.simulate(on_a_pin(), turned(1.2, 0), BODY, until=1.0)
    errors = []
    for step in (2e-3, 1e-3):
        steps = zw.simulate(on_a_pin(), turned(1.2, 0), BODY, until=1.0, method="timestepping", step=step)
        errors.append(abs(steps.at(1.0)["theta"] - events.at(1.0)["theta"]))
    assert errors[1] < 5e-4 and errors[1] < 0.7 * errors[0]


def test_body_on_one_pin_has_one_solution_below_the_bound_and_none_or_two_above():
    # c r l < l^2 + k^2 with l = 1/2, k^2 = 1/20: c r < 0.6.
    rng = np.random.default_rng(4)
    counts = {0.599: set(), 0.601: set()}
    for _ in range(60):
        theta, spin, M = rng.uniform(-3, 3), rng.normal() * 3, rng.normal() * 30
        for circle, seen in counts.items():
            found = zw.reactions(on_a_pin(), turned(theta, spin), {**BODY, "c": 1.0, "r": circle, "M": M})
            assert found.complete and (not found.solutions or found.residual < 1e-9)
            seen.add(len(found.accelerations))
    assert counts == {0.599: {1}, 0.601: {0, 2}}


def test_pin_at_rest_always_has_a_solution():
    rng = np.random.default_rng(5)
    for _ in range(60):
        params = {**BODY, "c": 1.0, "r": rng.uniform(0, 2), "M": rng.normal() * 30}
        found = zw.reactions(on_a_pin(), turned(rng.uniform(-3, 3), 0), params)
        assert found.complete and found.solutions and len(found.solutions) % 2 == 1


def test_jammed_pin_says_so_and_stops_the_motion():
    params = {**BODY, "c": 1.0, "r": 1.0}
    found = zw.reactions(on_a_pin(), turned(0.5, 3.0), params)
    assert found.status.name == "NONE" and "It jams: 'pin'" in found.note
    motion = zw.simulate(on_a_pin(), turned(0.5, 3.0), params, until=1.0)
    assert motion.status.name == "PARADOX"


def test_springs_in_place_of_a_jammed_pin_stop_the_body_within_their_own_time():
    # c r l > l^2 + k^2: the ideal pin has no answer; stiff springs stop the turning in a time like N^-1/2.
    params = {**BODY, "c": 1.0, "r": 1.0}
    soft = zw.realize(on_a_pin(), ["pin x", "pin y"], by=zw.Stiffness("N"))
    assert soft.constraints["pin"].of == ()
    times = []
    for N in (1e6, 1e8):
        motion = zw.simulate(soft, turned(0.5, 3.0), {**params, "N": N}, until=0.02)
        times.append(next(event.time for event in motion.events if event.kind in ("stick", "reversal")))
    assert times[1] < 0.2 * times[0] < 0.004


def test_partly_realized_pin_is_refused_by_name():
    with pytest.raises(zw.DeclarationError, match=r"Realize all of them: realize\(system, \['pin x', 'pin y'\]"):
        zw.realize(on_a_pin(), "pin x", by=zw.Stiffness(1e4))


# --- several pins ----------------------------------------------------------------------------------------------------


def roots_from_many_starts(given, share, rng):
    k, found = len(given), []
    for _ in range(100 * k):
        R = 10 ** rng.uniform(-2, 2.5, k)
        for _ in range(60):
            loads = [A + B @ R for A, B in zip(given, share, strict=True)]
            off = R**2 - [load @ load for load in loads]
            slopes = 2 * (np.diag(R) - [load @ B for load, B in zip(loads, share, strict=True)])
            if abs(np.linalg.det(slopes)) < 1e-300:
                break
            step = np.linalg.solve(slopes, off)
            R = R - step
            if not np.abs(R).max() < 1e6:
                break
            if np.abs(step).max() < 1e-12 * max(1, np.abs(R).max()):
                if (R > -1e-9).all() and all(np.abs(R - one).max() > 1e-6 * max(1, R.max()) for one in found):
                    found.append(R)
                break
    return found


@pytest.mark.parametrize("k", by_day([2, 3], [2]))
def test_all_sizes_of_several_slipping_pins_are_found(k):
    rng, counts = np.random.default_rng(k), set()
    for _ in range(24 // k):
        strength = rng.uniform(0.2, 1.5) / math.sqrt(k)
        given = [rng.normal(size=2) for _ in range(k)]
        share = [strength * rng.normal(size=(2, k)) for _ in range(k)]
        found = all_roots(given, share)
        assert not found.undecided
        expected = roots_from_many_starts(given, share, rng)
        assert len(found.found) == len(expected)
        for R in found.found:
            assert min(np.abs(R - one).max() for one in expected) < 1e-6 * max(1, R.max())
        counts.add(len(expected))
    assert {0, 1} <= counts


def test_cones_of_directions_cover_and_bound_lengths():
    rng = np.random.default_rng(6)
    for j in (2, 3):
        cones = orthants(j)
        for _ in range(3):
            cones = [half for cone in cones for half in halves(cone)]
        for _ in range(50):
            force = rng.normal(size=j)
            inside = [cone for cone in cones if (np.linalg.solve(cone.T, force) >= -1e-12).all()]
            assert inside
            total = np.linalg.solve(inside[0].T, force).sum()
            assert flatness(inside[0]) * total <= np.linalg.norm(force) * (1 + 1e-12) <= total * (1 + 2e-12)


def test_undetermined_forces_of_a_resting_pin_are_decided_as_by_sampling():
    # F = (x, y) free, T = 1 and c = 1/2: |F| >= 2 is needed; x + y <= d leaves none of the disc's outside in x, y >= 0
    # where d < 2 (on the axes |F| = d).
    load = np.array([[1.0, 0, 0], [0, 1.0, 0]])
    pin = BearingForm(load, np.array([0, 0, 1.0]), (0.5, 0.5))
    for d, exists in ((1.99, False), (2.01, True)):
        linear = np.array([[1.0, 0, 0], [0, 1.0, 0], [-1.0, -1.0, d]])
        found = resting_set(linear, [pin], 1e-9, ranges=True)
        assert found.decided and (found.point is not None) is exists
        if exists:
            assert np.linalg.norm(found.point) >= 2 - 1e-9


def test_springs_in_place_of_a_pin_rub_though_they_are_relaxed_at_the_start():
    # At the start the springs don't press, so that there is no friction then; a moment later there is.
    soft = zw.realize(on_a_pin(), ["pin x", "pin y"], by=zw.Stiffness("N", ratio=1))
    end = zw.simulate(soft, turned(0.9, 0.0), {**BODY, "N": 1e7}, until=0.5).at(0.5)["theta"]
    ideal = zw.simulate(on_a_pin(), turned(0.9, 0.0), BODY, until=0.5).at(0.5)["theta"]
    assert end == pytest.approx(ideal, abs=1e-4)


def test_rough_pin_rests_between_the_angles_of_its_friction_circle():
    found = zw.equilibria(on_a_pin(), BODY, box={"x": (-1, 1), "y": (-1, 1)})
    edge = math.asin(BODY["c"] * BODY["r"] / BODY["l"])
    ends = sorted(tuple(sorted(end["theta"] % (2 * math.pi) for end in one)) for one in found.intervals)
    assert [one.holds for one in found.intervals] == ["must", "must"]
    assert np.allclose(ends, [(edge, 2 * math.pi - edge), (math.pi - edge, math.pi + edge)], atol=1e-10)


@pytest.mark.parametrize(("top", "status"), [(0.58, "PROVED"), (0.62, "REFUTED")])
def test_guarantee_of_one_acceleration_ends_where_a_pin_may_jam(top, status):
    # c r l < l^2 + k^2: c r < 0.6, whatever the angle.
    known = {name: value for name, value in BODY.items() if name != "r"} | {"c": 1.0}
    box = {"theta": (-0.3, 0.3), "r": (0.3, top), "x": (-1, 1), "y": (-1, 1)}
    found = zw.guarantee("unique acceleration", on_a_pin(), box, known)
    assert found.status.name == status
    if status == "REFUTED":
        assert found.witness.params["r"] > 0.6


@pytest.mark.parametrize("claim", ["can hold", "must hold"])
def test_guarantee_of_rest_ends_at_the_friction_circle(claim):
    edge = math.asin(BODY["c"] * BODY["r"] / BODY["l"])
    for part, status in ((1 - 1e-3, "PROVED"), (1 + 1e-3, "REFUTED")):
        box = {"theta": (-part * edge, part * edge), "x": (-1, 1), "y": (-1, 1)}
        assert zw.guarantee(claim, on_a_pin(), box, BODY).status.name == status


def test_pins_beside_contacts_are_refused_where_guarantee_speaks_of_accelerations():
    system = on_a_pin()
    y = system.coordinates[1]
    rubbing = zw.Unilateral(y + 1, friction=zw.Coulomb(0.3, slip=system.velocities[0]), restitution=0, name="floor")
    both = zw.System(name="both", kinetic=system.kinetic, potential=system.potential,
                     constraints=[*system.constraints, rubbing])  # fmt: skip
    known = {name: value for name, value in BODY.items() if name != "M"}
    with pytest.raises(zw.DeclarationError, match="'pin' rubs with a resultant and 'floor' acts too"):
        zw.guarantee("unique acceleration", both, {"x": (-1, 1), "y": (-1, 1)}, known)


def test_every_mode_of_a_pin_that_is_no_solution_is_told_with_its_reason():
    found = zw.reactions(on_a_pin(), turned(0.5, 0.0), BODY)
    assert found.solutions[0].modes["pin"] == "slip-" and found.rejected.total == 2
    assert {(modes[2], one.reason, one.contact) for modes, one in found.rejected.items()} == {
        ("stick", "friction beyond its bound", "pin"),
        ("slip+", "slips the other way", "pin"),
    }
    jammed = zw.reactions(on_a_pin(), turned(0.5, 3.0), {**BODY, "c": 1.0, "r": 1.0})
    assert [(one.contact, one.reason.split(":")[0]) for one in jammed.rejected.values()] == [("pin", "jams")]


def test_solutions_of_pins_are_enclosed_closely_and_the_enclosure_holds_the_root_in_many_digits():
    # One pin that slips: R = |A + B R|, solved again in 40 digits from the equations of the body.
    rng = np.random.default_rng(8)
    for _ in range(5):
        theta, spin, M = rng.uniform(-3, 3), rng.uniform(0.5, 3), 5 * rng.normal()
        found = zw.reactions(on_a_pin(), turned(theta, spin), {**BODY, "M": M})
        low, high = found.solutions[0].enclosure
        assert (high.acceleration - low.acceleration).max() < 1e-10 * np.abs(found.accelerations).max()
        with mpmath.workdps(40):
            s, c, l, m = mpmath.sin(mpmath.mpf(theta)), mpmath.cos(mpmath.mpf(theta)), mpmath.mpf("0.5"), 2

            def bearing(a, s=s, c=c, l=l, m=m, spin=spin):
                return (m * l * (c * a - s * mpmath.mpf(spin) ** 2),
                        m * l * (s * a + c * mpmath.mpf(spin) ** 2) + m * mpmath.mpf(9.81))  # fmt: skip

            def moment(a, s=s, c=c, l=l, M=M, bearing=bearing):
                X, Y = bearing(a)
                rub = mpmath.mpf(0.3) * mpmath.mpf(0.2) * mpmath.sqrt(X * X + Y * Y)
                return mpmath.mpf(0.1) * a + l * (c * X + s * Y) - mpmath.mpf(M) + rub

            exact = mpmath.findroot(moment, found.accelerations[0][2])
            assert low.acceleration[2] - 1e-13 <= exact <= high.acceleration[2] + 1e-13


@pytest.mark.parametrize("seed", range(4))
def test_ties_of_a_pin_at_rest_are_decided_exactly(seed):
    # Stuck, the forces are those applied: it holds exactly while |M| <= c |F|, F a side of a Pythagorean triangle.
    rng = np.random.default_rng(seed)
    for a, b, whole in ((3, 4, 5), (5, 12, 13), (8, 15, 17), (20, 21, 29)):
        root = np.eye(3) * 4 + rng.integers(-2, 3, (3, 3))
        c, sign = float(rng.choice([0.25, 0.5, 0.75])), float(rng.choice([-1, 1]))
        contacts = [zw.Contact(row, bilateral=True) for row in np.eye(3)[:2]]
        contacts.append(zw.Contact(None, tangent=[0, 0, 1], friction=c, of=(0, 1)))
        for way, stuck in ((0, True), (-1, True), (1, False)):
            M = c * whole if not way else np.nextafter(c * whole, way * np.inf)
            problem = zw.ContactProblem(mass=root @ root.T, force=[-a, b, sign * M], contacts=contacts)
            found = zw.reactions(problem)
            assert found.complete and not found.marginal and len(found.solutions) % 2 == 1
            assert any(one.modes[2] == "stick" for one in found.solutions) == stuck
            assert ("closed", "closed", "stick") in found.rejected or stuck
