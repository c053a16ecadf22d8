"""Branches of cycles through grazings: an impact that comes or goes without speed."""

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import minimize_scalar

import zwang as zw


def oscillator():
    """x'' + x'/5 + x = f cos(3 t/5) with a wall at 1; without the wall it grazes that with f = |1 - w^2 + i w/5|."""
    (x,), (v,) = zw.coordinates("x")
    f = zw.parameters("f")
    wall = zw.Unilateral(1 - x, restitution=sp.Rational(4, 5), name="wall")
    forces = {x: -v / 5 + f * sp.cos(sp.Rational(3, 5) * zw.t)}
    system = zw.System(name="oscillator", kinetic=v**2 / 2, potential=x**2 / 2, forces=forces, constraints=[wall])
    return system, np.hypot(1 - 0.36, 0.12)


@pytest.mark.nightly
def test_impact_speed_is_linear_and_the_multiplier_inverse_beyond_a_grazing():
    system, grazing = oscillator()
    one = zw.periodic(system, {"x": 0.0, "v_x": 0.0}, {"f": 0.6})
    found = zw.cycles(system, one, vary="f", within=(0.6, 0.66))
    assert [point.value for point in found.grazings] == pytest.approx([grazing], abs=1e-12)
    assert "impact wall" in found.grazings[0].reason and found.grazings[0].branches == (0, 1)
    assert found.grazings[0].cycle.status.name == "CLOSED"
    free, struck = found.branches
    assert "a grazing: branch 1 leaves it" in free.reason and "leaves branch 0" in struck.reason
    assert all(not cycle.motion.events.of("impact") for cycle in free.cycles) and free.stable.all()
    speeds = np.array([-grazed(cycle) for cycle in struck.cycles])
    assert (np.diff(speeds) > 0).all()  # it turns over the forcing, not over the speed
    off = grazing - struck.values  # it leaves to the side of the cycles without impacts
    near = (off > 0) & (off < 1.5e-2) & (speeds < 0.1)
    assert off[near].max() > 1e3 * off[near].min()
    large = np.abs(struck.multipliers[:, 0])
    for values, exponent in ((speeds, 1.0), (large, -1.0)):
        slope, _ = np.polyfit(np.log(off[near]), np.log(values[near]), 1)
        assert slope == pytest.approx(exponent, abs=0.02)
    # The fold beyond which it is stable, from shooting over one period of the closed form between impacts.
    assert [point.value for point in found.folds] == pytest.approx([folded(struck)], abs=1e-8)
    # From the other side: down to the grazing, and away from it without impacts.
    back = zw.cycles(system, struck.cycles[14], vary="f", within=(0.63, 0.66))
    assert [point.value for point in back.grazings] == pytest.approx([grazing], abs=1e-10)
    assert not back.branches[1].cycles[5].motion.events.of("impact") and back.branches[1].stable.all()


@pytest.mark.nightly
def test_a_budget_that_ends_at_a_grazing_says_what_was_looked_for():
    system, grazing = oscillator()
    one = zw.periodic(system, {"x": 0.0, "v_x": 0.0}, {"f": 0.6})
    seen = set()
    for steps in (11_000, 15_000, 20_000):  # before the grazing, at it, and beyond
        found = zw.cycles(system, one, vary="f", within=(0.6, 0.66), budget={"steps": steps})
        assert found.status.name == "UNFINISHED" and "no cycle" not in found.branches[0].reason
        ends = found.branches[0].reasons[1]
        if found.branches[1:]:
            assert ends == f"It ends at {grazing:.10g}, a grazing: branch 1 leaves it."
            assert found.grazings[0].branches == (0, 1)
            assert found.branches[1].reasons == (
                f"It leaves branch 0 at {grazing:.10g}.", "It was not followed to its end.",
            )  # fmt: skip
        elif "grazing" in ends:
            assert ends.endswith("a grazing: what leaves it was not looked for to the end.")
            assert [point.branches for point in found.grazings] == [(0,)]
        seen.add(ends)
    assert len(seen) > 1


@pytest.mark.nightly
def test_grazing_is_left_with_inputs_too():
    (x,), (v,) = zw.coordinates("x")
    f, u = zw.parameters("f"), zw.inputs("u")
    wall = zw.Unilateral(1 - x, restitution=sp.Rational(4, 5), name="wall")
    system = zw.System(
        name="driven", kinetic=v**2 / 2, potential=x**2 / 2, forces={x: -v / 5 + f * u}, constraints=[wall]
    )
    wave, grazing = sp.cos(sp.Rational(3, 5) * zw.t), np.hypot(1 - 0.36, 0.12)
    one = zw.periodic(system, {x: 0.9, v: 0.1}, {f: 0.6}, inputs={u: wave})
    found = zw.cycles(system, one, vary=f, within=(0.59, 0.66))
    assert [point.value for point in found.grazings] == pytest.approx([grazing], abs=1e-12)
    assert found.grazings[0].branches == (0, 1) and found.branches[1].cycles[0].motion.events.of("impact")


def grazed(cycle):
    """Return the rate of the gap before the only impact of a cycle."""
    (event,) = cycle.motion.events.of("impact")
    return -float(np.ravel(event.details["before"])[0])


def folded(branch, d=0.1, w=0.6, e=0.8):
    """Return f at the fold of cycles with one impact at x = 1 in each period, over the speed before the impact."""
    own, period = np.sqrt(1 - d**2), 2 * np.pi / w
    shift = np.exp(-d * period) * np.array([np.cos(own * period), np.sin(own * period)])

    def forced(u):
        # x = P cos(w t) + Q sin(w t) + exp(-d t) (a cos(own t) + b sin(own t)), from 1 with -e u to 1 with u after a
        # period: four linear equations in P, Q, a, b; f is the size of (P, Q) times that of the response.
        c, s = shift
        rows = [
            [1, 0, 1, 0],
            [0, w, -d, own],
            [1, 0, c, s],
            [0, w, -d * c - own * s, -d * s + own * c],
        ]
        P, Q, _, _ = np.linalg.solve(np.array(rows), [1, -e * u, 1, u])
        return np.hypot(P, Q) * np.hypot(1 - w**2, 2 * d * w)

    speeds = [-grazed(cycle) for cycle in branch.cycles]
    k = int(np.argmin(branch.values))
    found = minimize_scalar(forced, bounds=(speeds[k - 1], speeds[k + 1]), method="bounded", options={"xatol": 1e-10})
    return found.fun


@pytest.mark.nightly
def test_basins_of_two_cycles_are_a_sweep_over_two_initial_values():
    # Between the fold of the cycles with impacts and the grazing both kinds attract; each start settles to one of them,
    # the first of these to the one without impacts, which starts there.
    system, grazing = oscillator()
    study = zw.sweep(
        "simulate", system, {"x": 0.0, "v_x": 0.0}, {"f": 0.63}, over={"x": [0.951, 0.2], "v_x": [0.107, 1.5]},
        keep="section", section="wall", until=60 * 2 * np.pi / 0.6, transient=50 * 2 * np.pi / 0.6, workers=1,
    )  # fmt: skip
    assert 0.6199 < 0.63 < grazing and study.status.name == "COMPLETE", study.failures
    struck = np.isfinite(study.dataset["section.t"].values).sum(axis=-1)
    assert struck[0, 0] == 0 and (struck > 0).any() and set(np.unique(struck).tolist()) <= {0, 9, 10, 11}
