"""Cycles over a parameter against closed forms and independent computations."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve

import zwang as zw
from zwang.errors import DeclarationError, StateError


def table():
    """A ball on a table that shakes."""
    (y,), (v,) = zw.coordinates("y")
    w, A, e, g = zw.parameters("w A e g")
    floor = zw.Unilateral(y - A * sp.sin(w * zw.t), restitution=e, name="table")
    return zw.System(name="ball", kinetic=v**2 / 2, potential=g * y, constraints=[floor])


def bouncing(n=1, e=0.5, w=10.0, g=9.81):
    """Return a cycle with one impact in n periods, and the strengths A w^2/g of its fold and of its flip."""
    low = n * np.pi * (1 - e) / (1 + e)
    high = np.hypot(low, 2 * (1 + e**2) / (1 + e) ** 2)
    strength = 0.5 * (low + high)
    A, flight, phase = strength * g / w**2, n * 2 * np.pi / w, np.arccos(low / strength)
    state = {"y": A * np.sin(phase) + g * (flight / 2) ** 2 / 2, "v_y": 0.0, "t": phase / w + flight / 2}
    found = zw.periodic(table(), state, {"w": w, "A": A, "e": e, "g": g}, period=flight)
    return found, low * g / w**2, high * g / w**2


@pytest.fixture(scope="module")
def ball():
    """The cycles of the ball over the amplitude of the table."""
    one, fold, flip = bouncing()
    return zw.cycles(table(), one, vary="A", within=(0.09, 0.16)), fold, flip


def two_impacts(A, guess, e=0.5, w=10.0, g=9.81, n=1):
    """Return instants and speeds after two impacts in 2 n periods, from the exact map."""

    def closes(unknown):
        t, u = unknown[:2], unknown[2:]
        t = np.append(t, t[0] + 4 * np.pi * n / w)
        out = []
        for k in range(2):
            flight = t[k + 1] - t[k]
            out.append(A * np.sin(w * t[k]) + u[k] * flight - g * flight**2 / 2 - A * np.sin(w * t[k + 1]))
            plate = A * w * np.cos(w * t[k + 1])
            out.append(plate + e * (plate - (u[k] - g * flight)) - u[(k + 1) % 2])
        return out

    return fsolve(closes, np.array(guess) + 1e-6, xtol=1e-11)


def test_ball_has_its_fold_its_flip_and_the_period_two_that_leaves(ball):
    found, fold, flip = ball
    assert found.status.name == "FOUND" and not found.complete and found.residual <= 1e-10
    assert [one.value for one in found.folds] == pytest.approx([fold], abs=1e-8 * 0.07)
    assert [one.value for one in found.flips] == pytest.approx([flip], abs=1e-8 * 0.07)
    assert found.flips[0].branches == (0, 1) and min(found.flips[0].cycle.multipliers.real) == pytest.approx(-1.0)
    assert not (found.tori or found.crossings or found.grazings or found.changes)
    first, second = found.branches
    # Stable between fold and flip, on the side of the flip.
    inside = (first.values > fold * (1 + 1e-6)) & (first.values < flip) & (first.multipliers[:, 0].real < 1)
    assert (first.stable == inside).all() and inside.any() and not inside.all()
    assert second.values[0] == pytest.approx(flip, rel=1e-9) and (second.values[1:] > flip).all()
    assert second.periods == pytest.approx(4 * np.pi / 10) and "leaves branch 0" in second.reason
    assert second.values[-1] == pytest.approx(0.16) and "end of the range" in second.reason
    # The last cycle of period two against impacts that are solved for by themselves.
    events = second.cycles[-1].motion.events.of("impact")
    after = [float(np.ravel(event.details["after"])[0]) for event in events]
    exact = two_impacts(0.16, [event.time for event in events] + after)
    assert [event.time for event in events] == pytest.approx(exact[:2], abs=1e-9)
    assert after == pytest.approx(exact[2:], abs=1e-9)
    assert abs(after[0] - after[1]) > 1e-2


@pytest.mark.nightly
@pytest.mark.parametrize(("n", "e"), [(n, e) for n in (1, 2, 3) for e in (0.3, 0.5, 0.8) if (n, e) != (1, 0.5)])
def test_every_window_of_the_ball_has_its_fold_its_flip_and_period_two(n, e):
    one, fold, flip = bouncing(n, e)
    within = 0.95 * fold, flip + 0.2 * (flip - fold)
    found = zw.cycles(table(), one, vary="A", within=within, doublings=1)
    off = 1e-8 * (within[1] - within[0])
    assert [point.value for point in found.folds] == pytest.approx([fold], abs=off)
    assert found.flips[0].value == pytest.approx(flip, abs=off) and found.flips[0].branches == (0, 1)
    last = found.branches[1].cycles[-1]
    events = last.motion.events.of("impact")
    assert len(events) == 2 and last.period == pytest.approx(4 * np.pi * n / 10)
    after = [float(np.ravel(event.details["after"])[0]) for event in events]
    exact = two_impacts(last.params["A"], [event.time for event in events] + after, n=n, e=e)
    assert [event.time for event in events] == pytest.approx(exact[:2], abs=1e-9)
    assert after == pytest.approx(exact[2:], abs=1e-9) and abs(after[0] - after[1]) > 1e-3


@pytest.mark.nightly
def test_isolated_branches_are_reached_from_several_guesses_and_told_once():
    # One impact in one period and one in two: each pair of cycles is born at its own fold, and no path joins them.
    (one, fold, _), (two, other, _) = bouncing(1), bouncing(2)
    alone = zw.cycles(table(), one, vary="A", within=(0.1, 0.225), switch=False)
    assert len(alone.branches) == 1 and [point.value for point in alone.folds] == pytest.approx([fold], abs=1.25e-9)
    again = alone.branches[0].cycles[2]
    found = zw.cycles(table(), [one, two, again], vary="A", within=(0.1, 0.225), switch=False)
    assert len(found.branches) == 2 and not found.complete
    assert [branch.periods[0] for branch in found.branches] == pytest.approx([0.2 * np.pi, 0.4 * np.pi])
    assert [point.value for point in found.folds] == pytest.approx([fold, other], abs=1e-8 * 0.125)
    for branch, least in zip(found.branches, (fold, other), strict=True):
        assert branch.values.min() == pytest.approx(least, abs=1e-3) and branch.values.max() == pytest.approx(0.225)


@pytest.mark.nightly
def test_a_branch_closes_only_upon_its_own_first_cycle():
    # The amplitude is a (fold) - p^2: the two cycles beside the fold are one closed branch over p.
    (y,), (v,) = zw.coordinates("y")
    p = zw.parameters("p")
    fold = np.pi / 3 * 9.81 / 100
    floor = zw.Unilateral(y - (1.1 * fold - p**2) * sp.sin(10 * zw.t), restitution=sp.Rational(1, 2), name="table")
    ball = zw.System(name="ball", kinetic=v**2 / 2, potential=9.81 * y, constraints=[floor])
    A = 1.1 * fold - 0.05**2
    phase = np.arccos(fold / A)
    start = {"y": A * np.sin(phase) + 9.81 * (np.pi / 10) ** 2 / 2, "v_y": 0.0, "t": (phase + np.pi) / 10}
    found = zw.cycles(ball, zw.periodic(ball, start, {p: 0.05}), vary=p, within=(-0.2, 0.2), switch=False)
    (branch,) = found.branches
    assert branch.reason == "It closes upon itself." and branch.values[[0, -1]] == pytest.approx([0.05, 0.05])
    ends = np.sqrt(0.1 * fold) * np.array([-1, 1])
    assert [point.value for point in found.folds] == pytest.approx(ends, abs=1e-8 * 0.4)
    # With ten periods between impacts both sides of the fold are near each other, in parts of the height, all the way.
    one, fold, _ = bouncing(10, 0.9)
    high = one.params["A"] + 0.5 * (one.params["A"] - fold)
    (branch,) = zw.cycles(table(), one, vary="A", within=(0.95 * fold, high), switch=False).branches
    assert branch.values[[0, -1]] == pytest.approx([high, high]) and "closes" not in branch.reason


def test_ball_over_the_frequency_that_is_the_period_too():
    one, _, high = bouncing()
    found = zw.cycles(table(), one, vary="w", within=(9.6, 11), switch=False)
    branch = found.branches[0]
    assert branch.periods == pytest.approx(2 * np.pi / branch.values, rel=1e-12)
    A = one.params["A"]
    assert [point.value for point in found.flips] == pytest.approx([np.sqrt(high * 100 / A)], abs=1e-8)


def test_branches_are_kept_drawn_and_told(ball, tmp_path):
    found = ball[0]
    again = zw.load_result(found.save(tmp_path / "cycles.npz"))
    assert again.flips[0].value == found.flips[0].value and repr(again) == repr(found)
    assert (again.branches[1].values == found.branches[1].values).all()
    ax = found.plot()
    assert {line.get_linestyle() for line in ax.get_lines()} == {"-", "--", "None"}
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"fold", "flip"}
    assert found.plot("period").get_ylabel() == "period [s]"
    with pytest.raises(DeclarationError, match="no 'z' to draw"):
        found.plot("z")
    assert "flip at 0.149781405 (branch 0, 1)" in repr(found)


def hard(d=1.2, w=4.0):
    """x'' + 2 d x' + x = f cos(w t) with a wall at c, and f where it grazes."""
    (x,), (v,) = zw.coordinates("x")
    f = zw.parameters("f")
    wall = zw.Unilateral(sp.Rational(1, 20) - x, restitution=sp.Rational(4, 5), name="wall")
    forces = {x: -2 * sp.nsimplify(d) * v + f * sp.cos(sp.nsimplify(w) * zw.t)}
    system = zw.System(name="hard", kinetic=v**2 / 2, potential=x**2 / 2, forces=forces, constraints=[wall])
    return system, 0.05 * np.hypot(1 - w**2, 2 * d * w)


@pytest.mark.nightly
def test_brute_force_shows_periods_that_grow_by_one_and_cycles_lie_on_it(tmp_path):
    # The free period map has real eigenvalues: one impact in n periods, with n up by one again and again towards the
    # grazing.
    system, grazing = hard()
    turn, forcings = 2 * np.pi / 4, grazing * np.array([1.005, 1.02, 1.08, 1.5])
    study = zw.sweep(
        "simulate", system, {"x": 0, "v_x": 0}, {}, over={"f": forcings}, keep="section", section="wall",
        until=400 * turn, transient=340 * turn, workers=1,
    )  # fmt: skip
    assert study.status.name == "COMPLETE", study.failures
    times, speeds = study.dataset["section.t"].values, study.dataset["section.v"].values[..., 0]
    for n, row in zip((6, 5, 4, 3), times, strict=True):
        assert np.diff(row[np.isfinite(row)]) == pytest.approx(n * turn, rel=1e-4)
    # With complex eigenvalues (light damping) it is two periods from the grazing on: nothing grows.
    light, grazes = hard(0.1)
    for part in (1.002, 1.05, 1.5):
        motion = zw.simulate(light, {"x": 0, "v_x": 0}, {"f": part * grazes}, until=300 * turn, section="wall")
        assert np.diff(motion.section.t[-10:]) == pytest.approx(2 * turn, rel=1e-4)
    state = zw.simulate(system, {"x": 0, "v_x": 0}, {"f": forcings[2]}, until=200 * turn).end
    one = zw.periodic(system, state, {"f": forcings[2]}, period=4 * turn)
    found = zw.cycles(system, one, vary="f", within=(1.075 * grazing, 1.085 * grazing), switch=False)
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    ax.plot(np.repeat(forcings, times.shape[1]), speeds.ravel(), ".")
    found.plot("v_x", section="wall", ax=ax)
    assert ax.get_ylabel().endswith("after impacts of wall")
    branch = found.branches[0]
    drawn = next(line for line in ax.get_lines() if len(line.get_xdata()) == len(branch.values))
    at = float(np.interp(forcings[2], branch.values, drawn.get_ydata()))
    assert at == pytest.approx(np.nanmean(speeds[2]), rel=1e-3)
    with pytest.raises(DeclarationError, match="there is no constraint 'wal'. Did you mean 'wall'"):
        found.plot("v_x", section="wal")
    with pytest.raises(DeclarationError, match="the period has no values at the impacts of 'wall'"):
        found.plot("period", section="wall")
    plt.close("all")
    assert one.animate(tmp_path / "cycle.gif", drawing=zw.Drawing(points={"P": ("x", 0)}), frames=4).stat().st_size > 0


def duffing():
    """An oscillator whose spring stiffens."""
    (x,), (v,) = zw.coordinates("x")
    d, f, w = zw.parameters("d f w")
    forces = {x: -2 * d * v + f * sp.cos(w * zw.t)}
    return zw.System(name="duffing", kinetic=v**2 / 2, potential=x**2 / 2 + x**4 / 4, forces=forces)


def special_duffing(guess, d, f=None, w=None):
    """Return (x, v, w) of a cycle with the multiplier 1, by shooting with variational equations.

    Where w is given, (x, v, f) of a symmetric cycle at which symmetry breaks: after half a period it is the negative of
    its start, and what becomes of changes then, taken negative, has the eigenvalue -1.
    """

    def misses(unknown):
        force, speed = (unknown[2], w) if f is None else (f, unknown[2])

        def rates(t, y):
            jac = np.array([[0, 1], [-1 - 3 * y[0] ** 2, -2 * d]])
            right = [y[1], -y[0] - y[0] ** 3 - 2 * d * y[1] + force * np.cos(speed * t)]
            return np.concatenate([right, (jac @ y[2:].reshape(2, 2)).ravel()])

        start = np.concatenate([unknown[:2], np.eye(2).ravel()])
        span, sign = (2 * np.pi / speed, -1) if w is None else (np.pi / speed, 1)
        end = solve_ivp(rates, (0, span), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
        change = end[2:].reshape(2, 2) * -sign
        return [*(end[:2] + sign * unknown[:2]), np.linalg.det(change + sign * np.eye(2))]

    return fsolve(misses, np.array(guess) + 1e-6, xtol=1e-10)


def test_oscillator_jumps_at_the_folds_of_its_resonance():
    system, params = duffing(), {"d": 0.05, "f": 0.3, "w": 0.8}
    one = zw.periodic(system, {"x": 0.5, "v_x": 0}, params)
    found = zw.cycles(system, one, params, vary="w", within=(0.6, 2.2))
    assert len(found.folds) == 2 and len(found.branches) == 1 and not found.crossings
    for fold in found.folds:
        start = fold.cycle.state
        exact = special_duffing([start["x"], start["v_x"], fold.value * (1 + 1e-6)], 0.05, f=0.3)
        assert fold.value == pytest.approx(exact[2], abs=1.6e-8)
    low, high = (fold.value for fold in found.folds)
    branch = found.branches[0]
    turned = np.diff(branch.values) < 0
    assert turned.any() and not branch.stable[1:-1][turned[1:] & turned[:-1]].any()
    assert branch.stable[(branch.values < low) | (branch.values > high)].all()


@pytest.mark.nightly
def test_symmetry_of_the_oscillator_breaks_and_comes_back():
    system, params = duffing(), {"d": 0.05, "f": 1.2, "w": 0.8}
    one = zw.periodic(system, {"x": 1.0, "v_x": 0}, params)
    found = zw.cycles(system, one, params, vary="f", within=(1.0, 2.2))
    assert len(found.crossings) == 2 and len(found.branches) == 3
    for crossing in found.crossings:
        start = crossing.cycle.state
        exact = special_duffing([start["x"], start["v_x"], crossing.value], 0.05, w=0.8)
        assert crossing.value == pytest.approx(exact[2], abs=1.2e-8)
        assert set(crossing.branches) == {0, 1, 2}
    for branch in found.branches[1:]:
        middle = branch.cycles[len(branch.cycles) // 2].motion
        assert middle.q.max() != pytest.approx(-middle.q.min(), rel=1e-2)  # a symmetric cycle has both alike
        assert branch.stable[2:-2].all()


def test_cycle_of_a_forced_valve_becomes_a_torus():
    (x,), (v,) = zw.coordinates("x")
    f = zw.parameters("f")
    force = (1 - x**2) * v / 5 + f * sp.cos(sp.Rational(17, 10) * zw.t)
    system = zw.System(name="valve", kinetic=v**2 / 2, potential=x**2 / 2, forces={x: force})
    one = zw.periodic(system, {x: 0, v: 0}, {f: 3.0})
    found = zw.cycles(system, one, vary=f, within=(2.4, 3.1))
    (torus,) = found.tori
    assert np.abs(torus.cycle.multipliers) == pytest.approx([1, 1], abs=1e-7) and not (found.folds or found.flips)
    begin, period = torus.cycle.state["t"], torus.cycle.period

    def misses(unknown):
        # The product of the multipliers is exp of the mean divergence: 1 where the mean of 1 - x^2 vanishes.
        def rates(t, y):
            damping = (1 - y[0] ** 2) / 5
            return [y[1], -y[0] + damping * y[1] + unknown[2] * np.cos(1.7 * t), damping]

        start = [*unknown[:2], 0]
        end = solve_ivp(rates, (begin, begin + period), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
        return [*(end[:2] - unknown[:2]), end[2]]

    guess = [torus.cycle.state["x"], torus.cycle.state["v_x"], torus.value * (1 + 1e-6)]
    assert torus.value == pytest.approx(fsolve(misses, guess, xtol=1e-11)[2], abs=0.7e-8)
    branch = found.branches[0]
    assert (branch.stable == (branch.values > torus.value)).all() and not branch.stable.all()


def rocked(t, start, beta, side, p=2.0, alpha=0.2, w=9.0):
    """Return angle and speed of Housner's block after a hit at start (time, speed after it) to a side."""
    t0, speed = start
    B, x = -beta * p**2 / (w**2 + p**2), p * (t - t0)
    c, s = -side * alpha - B * np.cos(w * t0), (speed + B * w * np.sin(w * t0)) / p
    theta = side * alpha + B * np.cos(w * t) + c * np.cosh(x) + s * np.sinh(x)
    return theta, -B * w * np.sin(w * t) + p * (c * np.sinh(x) + s * np.cosh(x))


def hits(start, beta, sides=2):
    """Return time and speed after as many hits, from a hit with theta > 0 next."""
    for side in (1, -1)[:sides]:
        times = start[0] + np.linspace(1e-3, 1, 400) * 2 * np.pi / 9
        k = int(np.flatnonzero(side * rocked(times, start, beta, side)[0] < 0)[0])
        args = (start, beta, side)
        t = brentq(lambda t, args=args: rocked(t, *args)[0], times[k - 1], times[k], xtol=1e-15, rtol=1e-15)
        start = t, 0.9 * rocked(t, *args)[1]
    return np.array(start)


def slope_of_hits(start, beta, sides=2):
    """Return the derivative of the map from hit to hit, by differences of fourth order."""
    columns = []
    for one in np.eye(2):
        ends = [hits(start + 2e-6 * k * one, beta, sides) for k in (1, -1, 2, -2)]
        columns.append((8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / 24e-6)
    return np.array(columns).T


@pytest.mark.nightly
def test_rocking_block_breaks_its_symmetry_and_flips():
    (th,), (om,) = zw.coordinates("theta")
    beta = zw.parameters("beta")
    hit = zw.Event(th, name="hit", then=[zw.Reset({om: sp.Rational(9, 10) * om})])
    force = 4 * (th - sp.sign(th) / 5 + beta * sp.cos(9 * zw.t))
    block = zw.System(name="block", kinetic=om**2 / 2, forces={th: force}, events=[hit])
    turn = 2 * np.pi / 9

    def symmetric(unknown, value):
        theta, speed = rocked(unknown[0] + turn / 2, unknown, value, 1)
        return [theta, 0.9 * speed + unknown[1]]

    start = np.array([0.1, 0.8])
    for value in np.linspace(1.0, 2.3, 14):
        start = fsolve(symmetric, start, args=(value,), xtol=1e-13)
    t = start[0] + turn / 4
    theta, speed = rocked(t, start, 2.3, 1)
    one = zw.periodic(block, {"theta": theta, "v_theta": speed, "t": t}, {"beta": 2.3})
    found = zw.cycles(block, one, vary="beta", within=(2.2, 3.54), doublings=0)
    assert len(found.crossings) == 1 and found.crossings[0].branches == (0, 1, 2) and len(found.branches) == 3

    # Symmetry breaks where half a period, reflected, has the eigenvalue -1: of (t, s) -> (t' - T/2, -s').
    def breaks(unknown):
        change = np.diag([1, -1]) @ slope_of_hits(unknown[:2], unknown[2], 1)
        return [*symmetric(unknown[:2], unknown[2]), np.linalg.det(change + np.eye(2))]

    exact = fsolve(breaks, [*start, 2.41], xtol=1e-11)
    assert found.crossings[0].value == pytest.approx(exact[2], abs=1.34e-8)
    assert not found.branches[0].stable[found.branches[0].values > exact[2] + 1e-3].any()

    # The asymmetric cycles, mirror images of each other, flip at one value, where a whole period has -1.
    def flips(unknown):
        end = hits(unknown[:2], unknown[2])
        change = slope_of_hits(unknown[:2], unknown[2])
        return [end[0] - unknown[0] - turn, end[1] - unknown[1], np.linalg.det(change + np.eye(2))]

    assert len(found.flips) == 2
    for flip in found.flips:
        assert min(flip.cycle.multipliers.real) == pytest.approx(-1, abs=1e-6)
        first = next(event for event in flip.cycle.motion.events.of("switch") if event.details["after"][0] > 0)
        guess = [first.time, first.details["after"][0], flip.value]
        exact = fsolve(flips, guess, xtol=1e-11, epsfcn=1e-10)  # steps far above the noise of differences
        assert np.abs(flips(exact)).max() < 2e-8  # the noise of differences of differences
        assert flip.value == pytest.approx(exact[2], abs=1.34e-8)


def test_plastic_ball_loses_its_rest_where_landing_and_lift_off_come_together():
    # It lifts off at the phase with sin = 1/s, s = A w^2/g, and lands there a period later where s^2 = 1 + pi^2; beyond
    # it never rests: it lands at the phase with cos = pi/s, with the multiplier 1 - s sin.
    w, g = 10.0, 9.81
    unit, change = g / w**2, np.hypot(1, np.pi)
    phase = np.arccos(np.pi / 3.33)
    start = {"y": 3.33 * unit * np.sin(phase) + g * (np.pi / w) ** 2 / 2, "v_y": 0.0, "t": (phase + np.pi) / w}
    one = zw.periodic(table(), start, {"w": w, "A": 3.33 * unit, "e": 0.0, "g": g})
    found = zw.cycles(table(), one, vary="A", within=(3.27 * unit, 3.33 * unit))
    (branch,) = found.branches
    assert branch.values[[0, -1]] == pytest.approx([3.27 * unit, 3.33 * unit]) and not found.grazings
    assert [one.value for one in found.changes] == pytest.approx([change * unit], abs=1e-8 * 0.06 * unit)
    assert "contact table and lift-off table come together there" in found.changes[0].reason
    for value, cycle in zip(branch.values / unit, branch.cycles, strict=True):
        assert bool(cycle.motion.events.of("contact")) == (value < change)
        expected = 1 - np.sqrt(value**2 - np.pi**2) if value > change else 0.0
        assert cycle.multipliers.real.min() == pytest.approx(expected, abs=1e-8)


def test_autonomous_cycle_has_its_period_followed():
    (x,), (v,) = zw.coordinates("x")
    mu = zw.parameters("mu")
    system = zw.System(name="valve", kinetic=v**2 / 2, potential=x**2 / 2, forces={x: mu * (1 - x**2) * v})
    one = zw.periodic(system, {x: 2, v: 0}, {mu: 0.5})
    branch = zw.cycles(system, one, vary=mu, within=(0.01, 0.6)).branches[0]
    small = branch.values < 0.1
    assert small.any() and branch.stable.all()
    # Van der Pol's period: 2 pi (1 + mu^2/16 - 5 mu^4/3072 + ...)
    series = 2 * np.pi * (1 + branch.values**2 / 16 - 5 * branch.values**4 / 3072)
    assert branch.periods[small] == pytest.approx(series[small], rel=1e-8)


def test_a_budget_that_is_spent_leaves_what_was_found():
    one, _, _ = bouncing()
    found = zw.cycles(table(), one, vary="A", within=(0.09, 0.16), budget={"steps": 2_000})
    assert found.status.name == "UNFINISHED" and "budget" in found.reason and len(found.branches[0].cycles) > 3
    assert [point.value for point in found.flips] == pytest.approx([0.149781405], abs=1e-9)  # what was passed is kept
    early = zw.cycles(table(), one, vary="A", within=(0.09, 0.16), budget={"steps": 300})
    assert early.branches[0].reasons == ("It was not followed to this side.", "It was not followed to its end.")
    none = zw.cycles(table(), one, vary="A", within=(0.09, 0.16), budget={"steps": 10})
    assert none.status.name == "UNFINISHED" and not none.branches
    with pytest.raises(DeclarationError, match="no branch to draw"):
        none.plot()


def test_mistakes_are_told():
    one, _, _ = bouncing()
    system = table()
    for wrong, words in (
        ({"vary": "B"}, "'B', which is no parameter"),
        ({"within": 0.1}, r"needs \(low, high\); it was given 0.1"),
        ({"within": (0.2, 0.1)}, "needs low < high"),
        ({"within": (0.15, 0.2)}, "must have the cycle's own value in it: A = "),
        ({"doublings": -1}, "doublings"),
        ({"switch": 3}, "switch"),
    ):
        with pytest.raises(DeclarationError, match=words):
            zw.cycles(system, one, **{"vary": "A", "within": (0.09, 0.16), **wrong})
    with pytest.raises(DeclarationError, match="needs a Cycle or a list of them"):
        zw.cycles(system, {"y": 1}, vary="A", within=(0.09, 0.16))
    with pytest.raises(StateError, match="none of this system with these parameters"):
        zw.cycles(system, one, {**one.params, "g": 3.0}, vary="A", within=(0.09, 0.16))
    (x,), (v,) = zw.coordinates("x")
    k = zw.parameters("k")
    slowing = zw.System(name="slowing", kinetic=v**2 / 2, potential=k * x**2 / 2, forces={x: -v / 10})
    lost = zw.periodic(slowing, {x: 1, v: 0}, {k: 1}, period=6.3)
    assert lost.status.name == "NOT_CLOSED"
    with pytest.raises(StateError, match="that is CLOSED.*this one is NOT_CLOSED"):
        zw.cycles(slowing, lost, vary=k, within=(0.5, 2))
