"""Budgets of steps, memory and seconds: every verb ends with its status, says what was spent, and keeps what it has."""

import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import zwang as zw
from result_bytes import bytes_of
from zwang._numerics.budget import Budget, Spent, spend, spending, steps_left
from zwang._numerics.pace import portions
from zwang.cli import main

USUAL = Budget(steps=1000, memory=10**6)


def entry_call(verb, name, **options):
    entry = zw.gallery.get(name)
    return verb(entry.system, entry.state, entry.params, **options)


def moved(name="circle_particle", **options):
    return entry_call(zw.simulate, name, **options)


def studied(**options):
    held = zw.gallery.get("kozlov_neishtadt")
    strengths = [1e4, 1e5, 1e6]
    return zw.limit(held.system, "floor", held.state, by=zw.Stiffness, until=1.0, strengths=strengths, **options)


def recommended(**options):
    held = zw.gallery.get("kozlov_neishtadt")
    return zw.recommend(held.system, "floor", held.state, error=1e-3, until=1.0, **options)


def traced(name="four_bar", **options):
    entry = zw.gallery.get(name)
    return zw.trace(entry.system, entry.params, **options)


def found_critical(**options):
    entry = zw.gallery.get("ellipse_pendulum")
    return zw.critical(entry.system, entry.params, vary="a", within=(-0.8, -0.2), **options)


def approached(**options):
    form = zw.gallery.get("crossing")
    return zw.asymptotics(form.system, form.params, at={"x": 0, "y": 0}, perturb="curve", section="x", **options)


def reacted(**options):
    return entry_call(zw.reactions, "stack", every=True, **options)


def driven(**options):
    (x,), (v,) = zw.coordinates("x")
    push = zw.System(name="push", kinetic=v**2 / 2, forces={x: zw.inputs("u")})
    return zw.drive(push, {x: zw.t**2}, times=np.linspace(0.0, 1.0, 60), **options)


def fitted(**options):
    (x,), (v,) = zw.coordinates("x")
    spring = zw.System(name="spring", kinetic=v**2 / 2, potential=zw.parameters("k") * x**2 / 2)
    data = {x: ([0.0, 1.0, 2.0], [1.0, 0.5, -0.4])}
    return zw.fit(spring, data, state={"x": 1.0, "v_x": 0.0}, params={"k": 1.0}, free=["k"], **options)


VERBS = {
    "simulate": (lambda **o: moved(until=1e300, **o), {"UNFINISHED"}),
    "time stepping": (lambda **o: moved("bouncing_ball", method="timestepping", until=1e9, **o), {"UNFINISHED"}),
    "limit": (studied, {"UNDECIDED"}),
    "recommend": (recommended, {"NOT_FOUND"}),
    "trace": (traced, {"UNFINISHED"}),
    "exhaustive trace": (lambda **o: traced(search="exhaustive", **o), {"UNFINISHED"}),
    "critical": (found_critical, {"UNFINISHED"}),
    "asymptotics": (approached, {"UNFINISHED"}),
    "reactions": (reacted, {"FOUND", "UNDECIDED"}),
    "drive": (driven, {"UNFINISHED"}),
    "fit": (fitted, {"UNFINISHED"}),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("budget", [1e-300, {"seconds": 1e-9}])
def test_no_time_at_all_ends_every_verb_with_its_status(verb, budget):
    call, statuses = VERBS[verb]
    found = call(budget=budget)
    assert found.status.name in statuses
    assert "seconds" in found.reason or "budget of" in found.reason
    assert repr(found) is not None


@pytest.mark.parametrize("verb", [name for name in VERBS if name != "reactions"])
def test_few_steps_end_every_verb_at_the_same_place(verb):
    call, statuses = VERBS[verb]
    found = call(budget={"steps": 30})
    assert found.status.name in statuses
    assert "The budget of 30 steps is spent. Raise it, as in budget={'steps': 300}." in found.reason
    with portions(lambda: 7):
        again = call(budget={"steps": 30})
    assert bytes_of(again) == bytes_of(found)


@pytest.mark.parametrize("steps", [1, 2, 5, 20, 40, 50, 60])
def test_a_fit_that_a_budget_ends_anywhere_has_its_best_motion(steps):
    found = fitted(budget={"steps": steps})
    assert found.status.name == "UNFINISHED"
    assert found.motion.t[0] == 0.0
    assert 0.9 < found.params["k"] < 1.1


def test_a_drive_that_a_budget_ends_has_the_instants_before():
    found = driven(budget={"steps": 7})
    assert (len(found.t), found.status.name) == (6, "UNFINISHED")
    assert found.inputs["u"].tolist() == [2.0] * 6


def test_enough_of_everything_changes_nothing():
    plenty = {"steps": 10**9, "memory": 10**12, "seconds": 1e6}
    assert bytes_of(moved(until=1.0, budget=plenty)) == bytes_of(moved(until=1.0))
    assert bytes_of(traced(budget=plenty)) == bytes_of(traced())
    assert found_critical(budget=plenty).status.name == "SEARCHED"


def test_motion_has_exactly_the_steps_that_were_allowed():
    found = moved(until=1e3, budget={"steps": 50})
    assert len(found.t) == 51
    whole = moved(until=1e3, budget={"steps": 200})
    assert np.array_equal(whole.q[:51], found.q)
    assert found.reason.startswith(f"At t = {found.t[-1]:.6g}: The budget of 50 steps is spent.")


def test_motion_that_ends_with_its_last_step_is_whole():
    whole = moved(until=1.0)
    assert moved(until=1.0, budget={"steps": len(whole.t) - 1}).status.name == "REACHED"


def test_memory_is_counted_by_what_is_kept():
    # Each step keeps 1 + 17 n numbers of eight bytes, n = 2.
    found = moved(until=1e4, budget={"memory": 28_000})
    assert len(found.t) - 1 == 100
    assert "The budget of 28,000 bytes of memory is spent. Raise it, as in budget={'memory': 112000}." in found.reason


def test_file_takes_no_memory(tmp_path):
    found = moved(until=30.0, budget={"memory": 28_000}, out=tmp_path / "motion.npz")
    assert found.status.name == "REACHED"


def test_events_count_as_many_steps():
    belt, ball = zw.gallery.get("belt_block"), zw.gallery.get("bouncing_ball")
    found = zw.simulate(belt.system, belt.state, belt.params, until=100.0, budget={"steps": 1200})
    assert found.status.name == "UNFINISHED" and len(found.events) == 2
    # An impact of a contact that stands alone is passed in compiled code, and costs four.
    found = zw.simulate(ball.system, ball.state, ball.params, until=100.0, budget={"steps": 60})
    assert found.status.name == "UNFINISHED"
    assert 3 <= len([event for event in found.events if event.kind == "impact"]) <= 12
    assert found.end["v_y"] > 0  # the last impact has happened: the motion ends with what it left
    assert found.t[-1] == found.events[-1].time


def test_ensemble_shares_one_budget():
    entry = zw.gallery.get("circle_particle")
    speeds = {**entry.state, "v_x": np.linspace(0.5, 2.0, 6) * entry.state["v_x"]}
    speeds["v_y"] = np.linspace(0.5, 2.0, 6) * entry.state["v_y"]
    whole = zw.simulate(entry.system, speeds, entry.params, until=5.0)
    one = len(whole[0].t) - 1
    found = zw.simulate(entry.system, speeds, entry.params, until=5.0, budget={"steps": 2 * one})
    assert found.status.name == "MIXED"
    assert 1 < len(found) < 6
    assert "steps is spent" in found.reason
    assert [motion.status.name for motion in found.motions][-1] == "UNFINISHED"


def test_time_stepping_keeps_the_steps_it_made():
    found = moved("bouncing_ball", method="timestepping", until=1e9, budget={"steps": 1000})
    assert len(found.t) == 1001
    assert found.t[-1] == pytest.approx(1000 * found.t[1])
    few = moved("bouncing_ball", method="timestepping", until=1e9, budget={"memory": 10_000})
    assert 1 < len(few.t) < 100


def test_limit_keeps_the_strengths_that_reached_the_end(tmp_path):
    # The number of periods grows with the root of the strength: the last one takes ten times the steps of the first.
    study = studied(budget={"steps": 2000})
    assert study.status.name == "UNDECIDED"
    assert study.strengths.tolist() == [1e4, 1e5]
    assert "1 of 3 realized motions did not reach the end. The budget of 2,000 steps is spent." in study.reason
    nothing = studied(budget={"steps": 5})
    assert nothing.q.shape == (0, 401, 2)
    assert "The budget of 5 steps is spent" in repr(nothing)
    with pytest.raises(zw.DeclarationError, match=r"no realized motion reached the end, so there is nothing to draw"):
        nothing.plot()
    nothing.save(tmp_path / "study.npz")
    assert zw.load_result(tmp_path / "study.npz").status.name == "UNDECIDED"


def test_limit_by_events_divides_its_memory():
    rod = zw.gallery.get("painleve_rod")
    study = zw.limit(
        rod.system, "tip", rod.state, rod.params, by=zw.Stiffness, until=0.01, strengths=[1e7, 1e8, 1e12],
        budget={"memory": 20_000_000},
    )  # fmt: skip
    assert study.status.name == "UNDECIDED"
    assert study.strengths.tolist() == [1e7, 1e8]
    assert (
        "The budget of 20,000,000 bytes of memory is spent. Raise it, as in budget={'memory': 80000000}."
        in study.reason
    )


def test_trace_keeps_the_arcs_it_followed():
    whole = traced()
    for steps in (2000, 5000, 20_000):
        found = traced(budget={"steps": steps})
        if found.status.name == "TRACED":
            break
        assert found.status.name == "UNFINISHED"
        assert len(found.branches) <= len(whole.branches)
    assert traced(budget={"steps": 10**7}).status.name == "TRACED"


def test_decisions_on_the_way_keep_no_memory():
    # Each asks for tables of some hundred kilobytes, which go when it is made.
    belt = zw.gallery.get("belt_block")
    expected = zw.simulate(belt.system, belt.state, belt.params, until=5.0)
    assert len(expected.events) > 1
    motion = zw.simulate(belt.system, belt.state, belt.params, until=5.0, budget={"memory": 300_000})
    assert motion.status.name == "REACHED" and np.array_equal(motion.q, expected.q)


def test_the_search_for_the_only_singular_point_has_the_seconds_of_its_verb():
    four_bar = zw.gallery.get("four_bar")
    words = r"the search for its singular points did not come to its end\. The budget of 1e-06 s is spent.*at= takes"
    with pytest.raises(zw.DeclarationError, match=words):
        zw.asymptotics(four_bar.system, four_bar.params, budget=1e-6)


def test_search_over_modes_ends_after_its_steps():
    found = entry_call(zw.reactions, "stack", every=True, budget={"steps": 1})
    assert found.nodes <= 1
    assert found.status.name in ("FOUND", "UNDECIDED")
    assert "give budget={'steps': ...} to search longer" in found.reason


def test_map_says_what_was_not_decided():
    rod = zw.gallery.get("painleve_rod")
    found = zw.reactions(rod.system, rod.state, {**rod.params, "mu": np.linspace(0, 2, 100_000)}, budget=1e-300)
    assert found.codes.shape == (100_000,)
    assert "UNDECIDED" in found.shares()
    assert "budget of 1e-300 s" in found.reason


BAD = {
    "nan": float("nan"),
    "negative": -1,
    "zero": 0,
    "text": "a",
    "truth": True,
    "infinite": float("inf"),
    "huge": 10**400,
    "list": [1],
    "complex": 1j,
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_budget_is_refused_with_the_cure(verb, what):
    call, _ = VERBS[verb]
    with pytest.raises(
        zw.DeclarationError, match=r"budget= must be seconds, finite and above zero; it was given .*budget=60"
    ):
        call(budget=BAD[what])


def test_mappings_are_checked_key_by_key():
    with pytest.raises(
        zw.DeclarationError, match=r"rod: budget= has the keys seconds, steps and memory; .*'step'.*steps"
    ):
        USUAL.but("rod", {"step": 3})
    with pytest.raises(zw.DeclarationError, match=r"rod: budget\['memory'\]= must be a number of bytes, finite"):
        USUAL.but("rod", {"memory": "a"})
    with pytest.raises(zw.DeclarationError, match=r"rod: budget\['steps'\] must be at least 1; it was given 0.5"):
        USUAL.but("rod", {"steps": 0.5})
    assert USUAL.but("rod", {"steps": 1e3, "memory": np.int64(7)}) == Budget(1000, 7)
    assert USUAL.but("rod", np.float64(2)).seconds == 2.0


def test_meters_around_a_meter_pay_too():
    with spending(Budget(10, 100)) as outer, spending(Budget(1000, 1000)):
        spend(4, 40)
        assert steps_left() == 6
        assert steps_left(memory=30) == 2
        with pytest.raises(Spent, match="100 bytes"):
            spend(1, 60)
    assert (outer.steps, outer.memory) == (5, 100)
    assert steps_left() > 10**15


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["simulate", "circle_particle", "--until", "1e3", "--budget", "steps=50"], "The budget of 50 steps is spent."),
        (["trace", "four_bar", "--budget", "steps=50", "seconds=100"], "The budget of 50 steps is spent."),
        (["asymptotics", "crossing", "--at", "x=0", "y=0", "--budget", "steps=3"], "The budget of 3 steps is spent."),
        (
            ["limit", "kozlov_neishtadt", "--constraint", "floor", "--until", "1", "--budget", "steps=20"],
            "The budget of 20 steps is spent.",
        ),
        (["simulate", "circle_particle", "--until", "1e3", "--budget", "1e-300"], "The budget of 1e-300 s is spent."),
    ],
)
def test_commands_take_a_budget(command, words):
    run = CliRunner().invoke(main, command)
    assert run.exit_code == 1, run.output
    assert words in run.output


def test_command_refuses_what_is_no_budget():
    run = CliRunner().invoke(main, ["simulate", "circle_particle", "--until", "1", "--budget", "steps=-3"])
    assert run.exit_code == 2
    assert "budget['steps']= must be a number of steps" in run.output


DEFAULTS = {
    "a motion for ever": "zw.simulate(e.system, e.state, e.params, until=1e300)",
    "time stepping for ever": "zw.simulate(b.system, b.state, b.params, until=1e9, method='timestepping')",
    "a stiff contact": "zw.limit(r.system, 'tip', r.state, r.params, by=zw.Stiffness, until=0.01)",
}
CHILD = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))
import zwang as zw
e, b, r = (zw.gallery.get(name) for name in ("circle_particle", "bouncing_ball", "painleve_rod"))
found = {call}
print(found.status.name, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.nightly
@pytest.mark.parametrize("case", DEFAULTS)
def test_defaults_end_within_their_memory(case):
    run = subprocess.run(
        [sys.executable, "-c", CHILD.format(call=DEFAULTS[case])],
        check=True,
        capture_output=True,
        text=True,
        timeout=480,
    )
    status, megabytes = run.stdout.split()
    assert status in ("UNFINISHED", "UNDECIDED")
    assert int(megabytes) < 3000
