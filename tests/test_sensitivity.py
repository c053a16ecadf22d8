"""Derivatives of motions through events, against closed forms and central differences; fits to data."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day
from zwang.errors import DeclarationError

SHARP = 1e-13


def differences(system, state, params, until, name, step, **options):
    """Return the derivative of the end by central differences of fourth order of sharp motions."""

    closed = [item.name for item in system.constraints if type(item).__name__ == "Bilateral"]

    def end(h):
        start, values = dict(state), dict(params)
        (start if name in start else values)[name] += h
        if closed:  # closed loops stay closed
            start = zw.hold(system, start, values, closed)
        motion = zw.simulate(system, start, values, until=until, tol=SHARP, **options)
        return np.concatenate([motion.q[-1], motion.v[-1]])

    return (8 * (end(step) - end(-step)) - (end(2 * step) - end(-2 * step))) / (12 * step)


def agree(system, state, params, until, wrt, step=2e-4, rel=1e-8, **options):
    found = zw.sensitivity(system, state, params, until=until, wrt=wrt, tol=1e-12, **options)
    assert found.status.name == "DIFFERENTIABLE", found.reason
    for name in wrt:
        size = abs(params.get(name, state.get(name, 0.0))) or 1.0
        wanted = differences(system, state, params, until, name, step * size, **options)
        got = found.derivative["end"][name]
        assert got == pytest.approx(wanted, rel=rel, abs=rel * max(np.abs(wanted).max(), 1.0)), name
    return found


def test_bouncing_ball_has_the_derivatives_of_its_closed_form():
    # Impacts at t1 = sqrt(2h/g), t2 = t1 (1 + 2e); in between y = e u (t - t1) - g (t - t1)^2/2 with u = g t1.
    ball = zw.gallery.get("bouncing_ball")
    values = {**ball.params, "e": 0.7}
    h, g, e = ball.state["y"], values["g"], values["e"]
    until = 1.3
    found = zw.sensitivity(ball.system, ball.state, values, until=until, wrt=["y", "e", "g"], of=["end", "events"])
    H, E, G, T = sp.symbols("H E G T", positive=True)
    first = sp.sqrt(2 * H / G)
    second = first * (1 + 2 * E)
    speed = E**2 * G * first
    height = speed * (T - second) - G * (T - second) ** 2 / 2
    at = {H: h, G: g, E: e, T: until}
    for name, symbol in (("y", H), ("e", E), ("g", G)):
        times = [float(sp.diff(one, symbol).subs(at)) for one in (first, second)]
        assert found.derivative["events"][name] == pytest.approx(times, rel=1e-9, abs=1e-12)
        end = [float(sp.diff(one, symbol).subs(at)) for one in (height, sp.diff(height, T))]
        assert found.derivative["end"][name] == pytest.approx(end, rel=1e-9)
    assert found.value["events"] == pytest.approx([float(first.subs(at)), float(second.subs(at))])


def test_block_that_comes_to_rest_forgets_its_speed():
    # It stops at x = v^2/(2 mu g), at t = v/(mu g), and stays.
    (x, y), (vx, vy) = zw.coordinates("x y")
    mu, g = zw.parameters("mu g")
    floor = zw.Unilateral(y, friction=zw.Coulomb(mu, slip=vx), restitution=0, name="floor")
    block = zw.System(name="block", kinetic=(vx**2 + vy**2) / 2, potential=g * y, constraints=[floor])
    state, params = {"x": 0, "y": 0, "v_x": 2.0, "v_y": 0}, {"mu": 0.4, "g": 10.0}
    asked = ["end", "events", "reactions", x**2]
    found = zw.sensitivity(block, state, params, until=1.0, wrt=[vx, mu, "x", "y"], of=asked)
    assert found.derivative["end"][vx] == pytest.approx([2 / 4, 0, 0, 0], abs=1e-10)
    assert found.derivative["end"]["mu"] == pytest.approx([-(2.0**2) / (2 * 0.4**2 * 10), 0, 0, 0], abs=1e-9)
    assert found.derivative["end"]["x"] == pytest.approx([1, 0, 0, 0], abs=1e-12)
    assert found.derivative["end"]["y"] == pytest.approx([0, 0, 0, 0], abs=1e-12)  # kept on the floor
    assert found.derivative["events"]["mu"] == pytest.approx([-2.0 / (0.4**2 * 10)])
    assert found.value["reactions"] == {"floor": pytest.approx(10.0)}
    assert found.derivative["reactions"]["mu"] == {"floor": pytest.approx(0.0, abs=1e-12)}
    assert found.derivative[x**2][vx] == pytest.approx(2 * 0.5 * 2 / 4)
    assert "d end / d v_x" in repr(found) and found.residual < 1e-12


@pytest.mark.parametrize(
    ("name", "until", "wrt"),
    [
        ("belt_block", 1.5, ["k", "mu", "belt_speed", "v_x"]),  # stick, slip
        ("sleigh_ahead", 3.0, ["v_x", "omega"]),  # release
        ("freewheel", 2.0, []),  # capture
        ("slider_crank", 0.5, ["m", "r"]),  # a closed loop that moves with its lengths
    ],
)
def test_derivatives_through_events_agree_with_central_differences(name, until, wrt):
    entry = zw.gallery.get(name)
    known = {**entry.params, **entry.state}
    wanted = [one for one in wrt if one in known] or list(entry.params)[:2]
    agree(entry.system, entry.state, entry.params, until, wanted)


@pytest.mark.parametrize("law", ["newton", "poisson", "energetic"])
def test_derivatives_through_impacts_with_friction_agree_for_every_law(law):
    rod = zw.gallery.get("painleve_rod")
    state = {**rod.state, "y": 1.2, "v_x": 0.3, "theta": 1.1}
    agree(rod.system, state, {**rod.params, "mu": 0.3, "e": 0.5}, 0.6, ["mu", "e", "theta", "v_x"], impact=law)


def test_particle_that_leaves_a_cylinder():
    # Sliding off the top without friction it leaves at cos(phi) = 2/3 + v^2/(3 g): then it falls, and lands.
    (x, y), (vx, vy) = zw.coordinates("x y")
    g, r = zw.parameters("g r")
    log = zw.Unilateral(sp.sqrt(x**2 + y**2) - r, restitution=0, name="log")
    ground = zw.Unilateral(y + 2, restitution=0.5, name="ground")
    system = zw.System(name="log", kinetic=(vx**2 + vy**2) / 2, potential=g * y, constraints=[log, ground])
    state, params = {"x": 0.0, "y": 1.0, "v_x": 0.8, "v_y": 0.0}, {"g": 10.0, "r": 1.0}
    found = agree(system, state, params, 1.5, ["v_x", "g"])
    assert [event.kind for event in found.motion.events][:2] == ["lift-off", "impact"]


def test_forces_that_switch_and_jump():
    (x,), (v,) = zw.coordinates("x")
    k, m = zw.parameters("k m")
    force = -k * sp.Max(x, 0) - sp.Rational(1, 5) * sp.sin(3 * zw.t) * sp.sign(x - sp.Rational(3, 10)) - v / 10
    system = zw.System(name="switched", kinetic=m * v**2 / 2, forces={x: force})
    agree(system, {"x": 0.5, "v_x": 0.1}, {"k": 3.0, "m": 1.2}, 4.0, ["k", "m", "x", "v_x"])


def drop(seed):
    """A rod that falls on a rough floor, at random."""
    rng = np.random.default_rng(seed)
    rod = zw.gallery.get("painleve_rod")
    turned = rng.uniform(0.4, 1.2)
    state = {"x": 0.0, "y": np.sin(turned) + rng.uniform(0.05, 0.3), "theta": turned}
    state |= {"v_x": rng.uniform(-1, 1), "v_y": 0.0, "v_theta": rng.uniform(-1, 1)}
    return rod.system, state, {**rod.params, "mu": rng.uniform(0.1, 0.5), "e": rng.uniform(0.3, 0.9)}


@pytest.mark.parametrize("seed", range(3))
def test_random_impacts_agree_with_differences(seed):
    system, state, params = drop(seed)
    agree(system, state, params, 0.5, ["mu", "y"], impact="newton")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3, 60))
def test_many_random_impacts_agree_with_differences(seed):
    system, state, params = drop(seed)
    law = ("newton", "poisson", "energetic")[seed % 3]
    found = zw.sensitivity(system, state, params, until=0.5, wrt=["mu", "e", "y", "v_x"], impact=law, tol=1e-12)
    if found.status.name == "DIFFERENTIABLE":
        agree(system, state, params, 0.5, ["mu", "e", "y", "v_x"], step=1e-5, rel=1e-5, impact=law)


def test_event_that_stops_a_motion_moves_its_end():
    ball = zw.gallery.get("bouncing_ball")
    (y,) = ball.system.coordinates
    low = zw.Event(y - 0.5, stop=True, name="half")
    asked = ["end", "events", zw.t]
    found = zw.sensitivity(ball.system, ball.state, ball.params, until=9.0, wrt=["y"], of=asked, events=[low])
    # t = sqrt(2 (h - 1/2)/g), v = -sqrt(2 g (h - 1/2))
    g = ball.params["g"]
    assert found.derivative["events"]["y"] == pytest.approx([1 / np.sqrt(g)])
    assert found.derivative["end"]["y"] == pytest.approx([0, -np.sqrt(g)], abs=1e-10)
    assert found.derivative[zw.t]["y"] == pytest.approx(1 / np.sqrt(g))


@pytest.mark.parametrize("seed", range(4))
def test_grazing_is_told_at_its_instant_by_roofs_floors_events_and_forces_in_any_unit(seed):
    # y = u t - g t^2/2 touches u^2/(2 g) at t = u/g.
    rng = np.random.default_rng(seed)
    u, g, unit = rng.uniform(2, 12), rng.uniform(3, 20), 10.0 ** rng.integers(-6, 7)
    until = u / g * rng.choice([1.01, 1.3, 2.7])
    top, up = u * u / (2 * g) * unit, {"y": 0.0, "v_y": u * unit}
    (y,), (vy,) = zw.coordinates("y")
    G, h, e, c = zw.parameters("g h e c")

    def asked(constraints=(), state=up, events=(), forces=None, of="end", **values):
        system = zw.System(
            name="thrown", kinetic=vy**2 / 2, potential=G * y, constraints=list(constraints), forces=forces or {}
        )
        return zw.sensitivity(system, state, values, until=until, wrt="g", of=of, events=events)

    roof = zw.Unilateral(h - y, restitution=e, name="roof")
    floor = zw.Unilateral(y + h, restitution=e, name="floor")
    values = {"g": g * unit, "h": top}
    jump, bend = (sp.Piecewise((force, y > h), (0, True)) for force in (-c, -c * (y - h)))
    found = [
        asked([roof], e=0.5, **values),
        asked([floor], {"y": 0.0, "v_y": -u * unit}, e=0.5, h=top, g=-g * unit),
        asked(events=[zw.Event(y - top, stop=True, name="top")], g=g * unit),
        asked(events=[zw.Event(top - y, direction=1, name="top")], of=["end", "events"], g=g * unit),
        asked(forces={y: jump}, c=3.0 * unit, **values),
    ]
    for one in found:
        assert one.status.name == "NOT_DIFFERENTIABLE" and "grazes" in one.reason
        assert one.instant == pytest.approx(u / g, rel=1e-7)
    assert "'top' comes to zero and turns back" in found[2].reason
    # From an event that is logged alone nothing follows: the end has its derivative, -t^2/2 and -t by g.
    seen = asked(events=[zw.Event(top - y, direction=1, name="top")], g=g * unit)
    assert seen.status.name == "DIFFERENTIABLE" and not seen.motion.events
    for one in (seen, found[3]):
        assert one.derivative["end"]["g"] == pytest.approx([-(until**2) / 2, -until], rel=1e-9)
    assert set(found[3].derivatives) == {"end"}
    # A force that only bends there, and roofs that are missed or met, have derivatives.
    for one in (
        asked(forces={y: bend}, c=3.0, **values),
        asked([roof], e=0.5, g=g * unit, h=top * (1 + 1e-6)),
        asked([roof], e=0.5, g=g * unit, h=top * (1 - 1e-6)),
    ):
        assert one.status.name == "DIFFERENTIABLE", one.reason


def test_extrema_of_what_has_died_away_are_no_grazings():
    (x,), (vx,) = zw.coordinates("x")
    k, c = zw.parameters("k c")
    system = zw.System(name="damped", kinetic=vx**2 / 2, potential=k * x**2 / 2, forces={x: -c * vx})
    seen = [zw.Event(x, name="zero"), zw.Event(vx, direction=1, name="turn")]
    found = zw.sensitivity(
        system, {"x": 1.0, "v_x": 0.0}, {"k": 10.0, "c": 1.0}, until=30.0, wrt="k", of=["events"], events=seen
    )
    assert found.status.name == "DIFFERENTIABLE", found.reason
    w = np.sqrt(10 - 0.25)
    zeros = (np.pi / 2 + np.arctan(0.5 / w) + np.pi * np.arange(100)) / w
    turns = np.pi / w * np.arange(1, 100, 2)
    wanted = np.sort([time for time in np.concatenate([zeros, turns]) if time <= 30])
    assert found.value["events"] == pytest.approx(wanted, rel=1e-6)


def test_motions_without_a_derivative_say_when_and_why():
    belt = zw.gallery.get("belt_block")
    grazing = zw.sensitivity(belt.system, belt.state, belt.params, until=2.0, wrt="mu")
    assert grazing.status.name == "NOT_DIFFERENTIABLE" and "grazes" in grazing.reason and grazing.derivatives == {}
    # It sticks at 0.1356 s, slips at 0.4580 s, and comes back to the belt's speed half a period later, tangentially.
    assert grazing.instant == pytest.approx(0.4580 + 2 * np.pi / np.sqrt(20), abs=1e-4)
    ball = zw.gallery.get("bouncing_ball")
    resting = zw.sensitivity(ball.system, ball.state, {**ball.params, "e": 0.3}, until=2.0, wrt="e")
    assert resting.status.name == "NOT_DIFFERENTIABLE" and "accumulate" in resting.reason
    (x, y), (vx, vy) = zw.coordinates("x y")
    walls = [zw.Unilateral(x, restitution=0.5, name="wall"), zw.Unilateral(y, restitution=0.5, name="floor")]
    corner = zw.System(name="corner", kinetic=(vx**2 + vy**2) / 2, constraints=walls)
    state = {"x": 1.0, "y": 1.0, "v_x": -1.0, "v_y": -1.0}
    both = zw.sensitivity(corner, state, {}, until=2.0, wrt="x")
    assert both.status.name == "NOT_DIFFERENTIABLE" and "coincide" in both.reason and both.instant == pytest.approx(1.0)
    edge = zw.sensitivity(corner, {**state, "x": 0.7}, {}, until=2.0, wrt="x", of="events")
    assert edge.derivative["events"]["x"] == pytest.approx([1.0, 0.0])


def test_budget_and_mistakes_of_sensitivity():
    ball = zw.gallery.get("bouncing_ball")
    few = zw.sensitivity(ball.system, ball.state, ball.params, until=1e6, wrt="e", budget={"steps": 30})
    assert few.status.name == "UNFINISHED" and "budget of 30 steps" in few.reason
    with pytest.raises(DeclarationError, match="'ee', which is no parameter, coordinate or velocity.*'e'"):
        zw.sensitivity(ball.system, ball.state, ball.params, until=1.0, wrt="ee")
    with pytest.raises(DeclarationError, match="names nothing"):
        zw.sensitivity(ball.system, ball.state, ball.params, until=1.0, wrt=())
    with pytest.raises(DeclarationError, match="'e' twice"):
        zw.sensitivity(ball.system, ball.state, ball.params, until=1.0, wrt=["e", "e"])
    with pytest.raises(DeclarationError, match="'q \\+ y' uses 'q'"):
        zw.sensitivity(ball.system, ball.state, ball.params, until=1.0, wrt="e", of="q + y")
    with pytest.raises(DeclarationError, match="one state"):
        zw.sensitivity(ball.system, {**ball.state, "y": np.ones(2)}, ball.params, until=1.0, wrt="e")
    with pytest.raises(DeclarationError, match="needs a System"):
        zw.sensitivity(3, ball.state, ball.params, until=1.0, wrt="e")
    found = zw.sensitivity(ball.system, ball.state, ball.params, until=1.0, wrt="e")
    with pytest.raises(KeyError, match="'start'"):
        found.derivative["start"]


def test_sensitivity_is_saved_and_drawn(tmp_path):
    ball = zw.gallery.get("bouncing_ball")
    found = zw.sensitivity(ball.system, ball.state, ball.params, until=1.0, wrt=["e", "y"], of=["end", "reactions"])
    again = zw.load_result(found.save(tmp_path / "found.npz"))
    assert np.array_equal(again.derivative["end"]["y"], found.derivative["end"]["y"])
    assert again.value["reactions"] == {"floor": 0.0}
    assert "sensitivity of the end" in found.plot().get_title(loc="left")


# Fits.
def falling(noise, seed=1):
    (y,), (v,) = zw.coordinates("y")
    (g,) = (zw.parameters("g"),)
    times = np.linspace(0.0, 2.0, 30)
    values = 3.0 + 4.0 * times - 9.81 * times**2 / 2
    values = values + noise * np.random.default_rng(seed).standard_normal(len(times))
    return zw.System(name="falling", kinetic=v**2 / 2, potential=g * y), times, values


def test_fit_of_a_linear_model_is_that_of_linear_least_squares():
    system, times, values = falling(0.05)
    state, guess = {"y": 2.0, "v_y": 1.0}, {"g": 5.0}
    found = zw.fit(system, {"y": (times, values)}, state=state, params=guess, free=["y", "v_y", "g"])
    wanted, covariance = np.polyfit(times, values, 2, cov=True)  # scaled by the residuals
    assert found.status.name == "CONVERGED"
    got = [found.state["y"], found.state["v_y"], found.params["g"]]
    assert got == pytest.approx([wanted[2], wanted[1], -2 * wanted[0]], rel=1e-7)
    turn = np.array([[0, 0, 1], [0, 1, 0], [-2, 0, 0]], dtype=float)
    assert found.covariance == pytest.approx(turn @ covariance @ turn.T, rel=1e-6)
    low, high = found.intervals["g"]
    assert low < 9.81 < high and high - low == pytest.approx(2 * 2.0518 * np.sqrt(found.covariance[2, 2]), rel=1e-3)
    with_sigma = zw.fit(system, {"y": (times, values, 0.05)}, state=state, params=guess, free=["y", "v_y", "g"])
    design = np.vander(times, 3)
    plain = 0.05**2 * np.linalg.inv(design.T @ design)
    assert with_sigma.covariance == pytest.approx(turn @ plain @ turn.T, rel=1e-6)
    assert "g = 9.7988671" in repr(found) and found.plot().get_xlabel() == "t [s]"


def test_fit_through_impacts_finds_restitution_and_friction():
    rod = zw.gallery.get("painleve_rod")
    state = {**rod.state, "y": 1.2, "v_x": 0.3, "theta": 1.1}
    truth = {**rod.params, "mu": 0.3, "e": 0.5}
    motion = zw.simulate(rod.system, state, truth, until=0.55, impact="newton")
    times = np.linspace(0.02, 0.54, 25)
    seen = motion.at(times)
    data = {"x + cos(theta)": (times, seen["x"] + np.cos(seen["theta"])), "y": (times, seen["y"])}
    guess = {**truth, "mu": 0.25, "e": 0.6}
    found = zw.fit(rod.system, data, state=state, params=guess, free={"mu": (0, 1), "e": (0, 1)}, impact="newton")
    assert found.status.name == "CONVERGED", found.reason
    assert [found.params["mu"], found.params["e"]] == pytest.approx([0.3, 0.5], abs=1e-6)


def test_fit_names_the_direction_that_data_leave_open(tmp_path):
    (x,), (v,) = zw.coordinates("x")
    k, m = zw.parameters("k m")
    system = zw.System(name="spring", kinetic=m * v**2 / 2, potential=k * x**2 / 2)
    times = np.linspace(0, 3, 20)
    data, guess = {x: (times, np.cos(2 * times))}, {"k": 4.5, "m": 1.0}
    found = zw.fit(system, data, state={"x": 1, "v_x": 0}, params=guess, free=["k", "m"])
    assert found.status.name == "NOT_IDENTIFIABLE" and "k" in found.reason and "m" in found.reason
    assert found.params["k"] / found.params["m"] == pytest.approx(4.0, rel=1e-6)
    assert zw.load_result(found.save(tmp_path / "fit.npz")).params == dict(found.params)


def test_mistakes_of_fit():
    system, times, values = falling(0.0)
    given = {"state": {"y": 3.0, "v_y": 4.0}, "params": {"g": 9.0}}
    with pytest.raises(DeclarationError, match=r"data\['y'\] must be \(times, values\)"):
        zw.fit(system, {"y": (times, values[:3])}, **given, free="g")
    with pytest.raises(DeclarationError, match="before the start of the motion"):
        zw.fit(system, {"y": (times - 1, values)}, **given, free="g")
    with pytest.raises(DeclarationError, match="not finite, or a sigma"):
        zw.fit(system, {"y": (times, values, 0.0)}, **given, free="g")
    with pytest.raises(DeclarationError, match="not between its bounds 10 and 20"):
        zw.fit(system, {"y": (times, values)}, **given, free={"g": (10, 20)})
    with pytest.raises(DeclarationError, match=r"bounds \(low, high\); 'g' has 3"):
        zw.fit(system, {"y": (times, values)}, **given, free={"g": 3})
    with pytest.raises(DeclarationError, match="fewer data"):
        zw.fit(system, {"y": ([1.0], [2.0])}, **given, free=["g", "y"])
    with pytest.raises(DeclarationError, match="data must map"):
        zw.fit(system, [], **given, free="g")
    with pytest.raises(DeclarationError, match="needs a System"):
        zw.fit(None, {"y": (times, values)}, **given, free="g")
    with pytest.raises(DeclarationError, match="arrays were given"):
        zw.fit(system, {"y": (times, values)}, state=given["state"], params={"g": np.ones(2)}, free="g")
    few = zw.fit(system, {"y": (times, values)}, **given, free="g", budget={"steps": 5})
    assert few.status.name == "UNFINISHED" and "budget of 5 steps" in few.reason


def test_switches_resets_and_inputs_are_known_to_derivatives():
    # A reset halves the speed at x = 1; a latch holds y from there on; a table drives.
    (x, y), (vx, vy) = zw.coordinates("x y")
    k, u = zw.parameters("k"), zw.inputs("u")
    latch = zw.Bilateral(vy + vx / 3, starts="off", name="latch")
    brake = zw.Event(x - 1, name="brake", then=[zw.Reset({vx: vx / 2})])
    catch = zw.Event(x - sp.Rational(3, 2), name="catch", then=[zw.Switch(on="latch")])
    system = zw.System(
        name="switched", kinetic=(vx**2 + 2 * vy**2) / 2 , potential=k * x**2 / 2 + y**2, forces={y: u},
        constraints=[latch], events=[brake, catch],
    )  # fmt: skip
    state, params = {"x": 0.0, "y": 0.2, "v_x": 5.0, "v_y": 0.1}, {"k": 0.5}
    given = {u: zw.Table([0, 0.3, 3], [0, 1, -2])}
    found = zw.sensitivity(system, state, params, until=1.2, wrt=["k", "x", "v_x", "v_y"], inputs=given, tol=1e-12)
    assert found.status.name == "DIFFERENTIABLE", found.reason
    assert [event.kind for event in found.motion.events].count("switch") >= 2

    def end(name, h):
        start, values = dict(state), dict(params)
        (start if name in start else values)[name] += h
        motion = zw.simulate(system, start, values, until=1.2, tol=SHARP, inputs=given)
        return np.concatenate([motion.q[-1], motion.v[-1]])

    for name in ("k", "x", "v_x", "v_y"):
        h = 1e-3
        wanted = (8 * (end(name, h) - end(name, -h)) - (end(name, 2 * h) - end(name, -2 * h))) / (12 * h)
        assert found.derivative["end"][name] == pytest.approx(wanted, abs=1e-8), name


def test_fit_survives_trial_values_for_which_there_is_no_system():
    """A step into negative masses is a step too far, no mistake of the caller."""
    (phi,), (turning,) = zw.coordinates("phi", angles=True)
    m, length, g, c = zw.parameters("m L g c")
    swing = zw.System(
        name="swing",
        kinetic=m * length**2 * turning**2 / 2,
        potential=-m * g * length * sp.cos(phi),
        forces={phi: -c * turning},
    )
    values = {"m": 1.0, "L": 1.0, "g": 9.81, "c": 0.2}
    start = {"phi": 0.5, "v_phi": 0.0}
    times = np.linspace(0, 3, 20)
    seen = zw.simulate(swing, start, values, until=3.0).at(times)["phi"]
    found = zw.fit(swing, {"phi": (times, seen)}, state=start, params={**values, "m": 1.2}, free=("g", "L", "c", "m"))
    assert found.status.name == "NOT_IDENTIFIABLE" and max(map(abs, found.residuals["phi"])) < 1e-6
    with pytest.raises(DeclarationError, match="not positive definite"):
        zw.fit(swing, {"phi": (times, seen)}, state=start, params={**values, "m": -1.0}, free=("c",))


@pytest.mark.parametrize("unbounded", by_day([True, False], [False]))
def test_data_that_no_motion_comes_near_end_a_fit_instead_of_driving_a_value_to_infinity(unbounded: bool) -> None:
    # Against the drag c v a force of 1 makes the speed 1/c in the end: never negative, and nearest to it at c = oo.
    (x,), (v,) = zw.coordinates("x")
    drag, push = zw.parameters("c F")
    system = zw.System(name="drag", kinetic=v**2 / 2, forces={x: push - drag * v})
    asked = {"state": {"x": 0.0, "v_x": 0.0}, "params": {"c": 1.0, "F": 1.0}}
    data = {v: ([1.0, 2.0], [-1.0, -2.0])}
    if unbounded:
        found = zw.fit(system, data, free=["c"], **asked)
        assert found.status.name == "NOT_CONVERGED" and found.params["c"] < 1e7
        assert "'c' grows without end" in found.reason and "Give it bounds, free={'c': (low, high)}" in found.reason
    bounded = zw.fit(system, data, free={"c": (0.0, 1e4)}, **asked)
    assert "without end" not in bounded.reason and bounded.params["c"] <= 1e4
    # A guess that is off by as much is no reason to give up where the data are met.
    data = {v: ([1e-4, 1.0], [(1 - np.exp(-0.3)) / 3000, 1 / 3000])}
    met = zw.fit(system, data, free=["c"], **asked)
    assert met.status.name == "CONVERGED" and met.params["c"] == pytest.approx(3000, rel=1e-6)


def test_an_event_that_touches_zero_is_not_logged_and_its_rate_is():
    (x,), (v,) = zw.coordinates("x")
    swing = zw.System(name="swing", kinetic=v**2 / 2, potential=x**2 / 2)
    seen = [zw.Event(x - 1, name="touch"), zw.Event((x - 1) ** 2, name="square"), zw.Event(zw.rate(x - 1), name="top")]
    motion = zw.simulate(swing, {"x": 0.0, "v_x": 1.0}, {}, until=3.0, events=seen)
    assert [event.name for event in motion.events] == ["top"]
    assert motion.events[0].time == pytest.approx(np.pi / 2, abs=1e-10)
