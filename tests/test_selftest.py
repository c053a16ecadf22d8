"""The self-test: it runs, it says what it did, and it is not blind: defects that are planted are found."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import zwang as zw
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._selftest import check_worker, fuzz, mechanisms, planar_problems, spatial_problems, verbs
from zwang._selftest.brute_force import truth_of
from zwang._selftest.complaint import generator, gist, shrunk
from zwang._selftest.problem_kinds import HOSTILE, KINDS
from zwang._selftest.run import run
from zwang.cli import main

SECONDS = 60.0
"""A planted defect is found within a minute of this process's time."""


def hunt(kind, *, most, seed=0):
    """Return the first complaint about problems of a kind, with no more of them than most."""
    begin = time.process_time()
    for index in range(most):
        if (found := check_worker.checked(kind, seed, index)) is not None:
            return found
        if time.process_time() - begin > SECONDS:
            break
    return None


# --- it runs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind, count", [("planar", 40), ("spatial", 15), ("expression", 40), ("file", 30)])
def test_nothing_is_found_in_a_few_problems(kind, count):
    for index in range(count):
        assert check_worker.checked(kind, 3, index) is None, index


@pytest.mark.nightly
@pytest.mark.parametrize("kind, count", [("planar", 8_000), ("spatial", 4_000), ("mechanism", 2_000), ("verb", 500)])
def test_nothing_is_found_in_many_problems(kind, count):
    found = run(kinds=[kind], count=count, seed=1, workers=1)
    print(f"seed 1: {found.counts}, { ({k: round(v) for k, v in found.seconds.items()}) } s")
    assert [(item.command, item.complaint.words) for item in found.findings] == []


@pytest.mark.nightly
def test_twenty_thousand_hostile_inputs_do_no_harm():
    counts = {"file": 8_000, "expression": 6_000, "option": 4_000, "result": 1_500, "number": 1_000}
    assert sum(counts.values()) > 20_000 and set(counts) == set(HOSTILE)
    words = []
    for kind, count in counts.items():
        found = run(kinds=[kind], count=count, seed=2, workers=1)
        print(
            f"seed 2, {kind}: {found.counts[kind]} inputs in {found.seconds[kind]:.0f} s, {len(found.findings)} found"
        )
        words += [(item.command, item.complaint.words) for item in found.findings]
    assert words == []


@pytest.mark.nightly
def test_processes_count_problems_and_a_seed_gives_the_same_ones_again():
    found = run(kinds=["planar"], count=12, workers=2, seed=5)
    assert (found.counts, found.findings) == ({"planar": 12}, [])
    first, again = (planar_problems.program(planar_problems.draw(generator("planar", 5, 7))) for _ in range(2))
    assert first == again
    assert first != planar_problems.program(planar_problems.draw(generator("planar", 6, 7)))


@pytest.mark.nightly
def test_the_command_says_what_was_run_and_what_was_found():
    runner = CliRunner()
    plain = runner.invoke(main, ["selftest", "--kind", "planar", "--count", "5", "--jobs", "1", "--json"])
    assert plain.exit_code == 0
    told = json.loads(plain.stdout)
    assert told["kinds"]["planar"]["problems"] == 5 and told["findings"] == []
    one_of_them = runner.invoke(main, ["selftest", "--kind", "planar", "--index", "3"])
    assert one_of_them.exit_code == 0
    assert "1 problems, 0 found" in one_of_them.stdout


def test_mistakes_of_the_command_are_told():
    runner = CliRunner()
    unknown = runner.invoke(main, ["selftest", "--kind", "plana"])
    assert unknown.exit_code == 2 and "there is no kind 'plana'; the kinds are planar, spatial" in unknown.stderr
    alone = runner.invoke(main, ["selftest", "--index", "3"])
    assert alone.exit_code == 2 and "--index goes with one --kind; 0 were given" in alone.stderr


# --- what is found ---------------------------------------------------------------------------------------------------


def changed(contact, **fields):
    return Contact(**({name: getattr(contact, name) for name in planar_problems.FIELDS} | fields))


def plant_friction():
    """Plant: `reactions` sees friction coefficients that are half of what they are."""
    real = planar_problems.reactions_of_problem

    def wrong(problem, **options):
        contacts = [
            Contact(**({n: getattr(c, n) for n in planar_problems.FIELDS} | {"friction": c.friction / 2}))
            for c in problem.contacts
        ]
        return real(ContactProblem(problem.mass, problem.force, contacts), **options)

    planar_problems.reactions_of_problem = wrong


def hang():
    """Plant: the third problem never ends, the fifth takes the process with it."""

    def check(seed, index):
        if index == 2:
            time.sleep(3600)
        if index == 4:
            os._exit(3)

    KINDS["planar"] = dataclasses.replace(KINDS["planar"], check=check, seconds=1.0)


def test_what_is_found_comes_with_the_smallest_problem_and_its_command():
    found = run(kinds=["planar"], count=12, workers=1, prepare=plant_friction)
    assert found.findings
    item = min(found.findings, key=lambda finding: len(finding.complaint.program))
    assert item.command == f"zwang selftest --kind planar --seed 0 --index {item.index}"
    assert item.complaint.program.count("zw.Contact(") == 1  # one contact is enough to show it
    assert "friction=" in item.complaint.program


def test_a_problem_that_hangs_and_one_that_ends_its_process_are_found(monkeypatch):
    monkeypatch.setitem(KINDS, "planar", dataclasses.replace(KINDS["planar"], seconds=1.0))
    found = run(kinds=["planar"], count=6, workers=1, prepare=hang)
    words = {item.index: gist(item.complaint.words) for item in found.findings}
    assert found.counts == {"planar": 6}
    assert words == {2: "does not end within", 4: "ends the process that"}


def test_shrinking_keeps_what_is_wrong():
    def wrong(number):
        return f"too large: {number}" if number > 10 else ""

    assert shrunk(1000, lambda n: [n // 2, n - 1], wrong) == 11


def test_the_canary_sees_what_is_written_and_executed(tmp_path):
    script = f"""
import builtins, os, sys
from pathlib import Path
from zwang._selftest import canary
os.chdir({str(tmp_path)!r})
canary.install([Path({str(tmp_path)!r})])
outside = Path({str(tmp_path.parent)!r}) / "outside.txt"
with canary.watching() as seen:
    Path("inside.txt").write_text("fine")
assert seen == [], seen
with canary.watching() as seen:
    outside.write_text("not fine")
assert len(seen) == 1 and "outside.txt" in seen[0], seen
with canary.watching() as seen:
    os.system("true")
assert len(seen) == 1 and "os.system" in seen[0], seen
with canary.watching() as seen:
    setattr(builtins, canary.NAME, 1)
assert seen == ["a text was executed"], seen
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_foreign_exceptions_and_numbers_that_are_none_are_complaints():
    def raises():
        raise KeyError("x")

    assert fuzz.tried(raises, "p")[1].words.startswith("raises KeyError")
    rod = zw.gallery.get("painleve_rod")
    good = zw.reactions(rod.system, rod.state, rod.params)
    assert fuzz.tried(lambda: good, "p")[1] is None
    spoiled = SimpleNamespace(status=good.status, solutions=(), residual=0.0, accelerations=np.full((1, 3), np.nan))
    assert "not finite" in fuzz.tried(lambda: spoiled, "p")[1].words


def test_brute_force_knows_closed_forms():
    # unit weight, mu = 1/2: 0.8 slips with 0.3; the Painlevé paradox N (1 - mu) = 1 with mu = 2 has no solution
    floor = Contact([0, 1], tangent=[1, 0], friction=0.5)
    slides = truth_of(ContactProblem(np.eye(2), [0.8, -1.0], [floor]))
    assert (slides.status, slides.accelerations) == ("UNIQUE", ((pytest.approx(0.3), 0.0),))
    jam = Contact([1.0], tangent=[1.0], friction=2.0, slip=1.0, bias=1.0)
    assert truth_of(ContactProblem(np.eye(1), [0.0], [jam])).status == "NONE"


# --- planted defects -------------------------------------------------------------------------------------------------


def flipped_friction(patch):
    """A flipped sign in a friction bound."""
    from zwang._numerics.contact import mode_tables as modes

    real = modes._edge
    patch.setattr(modes, "_edge", lambda mu, sign: real(mu, sign if mu >= 1 else -sign))
    modes.table.cache_clear()
    return "planar"


def swapped_mode(patch):
    """A swapped code of a mode."""
    from zwang._numerics.contact.modes import Mode
    from zwang._reactions import labels

    real, other = labels.contact_mode, {Mode.SLIP_PLUS: Mode.SLIP_MINUS, Mode.SLIP_MINUS: Mode.SLIP_PLUS}

    def swapped(problem, piece, contact):
        mode = real(problem, piece, contact)
        return other.get(mode, mode)

    patch.setattr(labels, "contact_mode", swapped)
    return "planar"


def missing_watch(patch):
    """A singular point that is passed without a word."""
    from zwang._results.motion import MotionStatus

    real = mechanisms.simulate

    def wrong(*args, **options):
        motion = real(*args, **options)
        kept = tuple(event for event in motion.events if event.kind != "singular")
        return dataclasses.replace(motion, events=kept, status=MotionStatus.REACHED)

    patch.setattr(mechanisms, "simulate", wrong)
    return "mechanism"


def dropped_bias(patch):
    """A dropped bias."""
    real = planar_problems.reactions_of_problem

    def wrong(problem, **options):
        contacts = [changed(c, bias=0.0) for c in problem.contacts]
        return real(ContactProblem(problem.mass, problem.force, contacts), **options)

    patch.setattr(planar_problems, "reactions_of_problem", wrong)
    return "planar"


def missing_solution(patch):
    """A solution that is left out where there are several."""
    real = planar_problems.reactions_of_problem

    def wrong(problem, **options):
        found = real(problem, **options)
        if len(found.accelerations) > 1:
            return dataclasses.replace(found, accelerations=found.accelerations[:-1], solutions=found.solutions[:-1])
        return found

    patch.setattr(planar_problems, "reactions_of_problem", wrong)
    return "planar"


def cone_too_wide(patch):
    """A friction cone in space that is a hundredth too wide."""
    real = spatial_problems.reactions_of_problem

    def wrong(problem, **options):
        found = real(problem, **options)
        wide = [dataclasses.replace(item, tangential=1.01 * item.tangential) for item in found.solutions]
        return dataclasses.replace(found, solutions=tuple(wide))

    patch.setattr(spatial_problems, "reactions_of_problem", wrong)
    return "spatial"


def wrong_digest(patch):
    """A digest that does not see the potential."""
    from zwang._declare import System

    def blind(self):
        return hashlib.sha256(repr((self.coordinates, self.kinetic)).encode()).hexdigest()

    patch.setattr(System, "digest", property(blind))
    return "mechanism"


def off_unit(patch):
    """A length that is left in other units."""
    real = mechanisms.params_of

    def wrong(case):
        values = real(case)
        return values if case.time == 1.0 else values | {"g": 9.81 * case.length / case.time}

    patch.setattr(mechanisms, "params_of", wrong)
    return "mechanism"


def lost_event(patch):
    """An impact that is not logged."""
    real = mechanisms.simulate

    def wrong(*args, **options):
        motion = real(*args, **options)
        return dataclasses.replace(motion, events=tuple(e for e in motion.events if e.kind != "impact"))

    patch.setattr(mechanisms, "simulate", wrong)
    return "mechanism"


def wrong_restitution(patch):
    """A restitution that time stepping sees and events do not."""
    real = mechanisms.simulate

    def wrong(model, state, params, **options):
        if options.get("method") == "timestepping" and "e" in params:
            params = {**params, "e": 0.9}
        return real(model, state, params, **options)

    patch.setattr(mechanisms, "simulate", wrong)
    return "mechanism"


def wrong_reference(patch):
    """A gravity that one backend sees a millionth too strong."""
    real = mechanisms.model

    class Off:
        def __init__(self, model):
            self.model = model

        def __getattr__(self, name):
            return getattr(self.model, name)

        def evaluate(self, state, params):
            return self.model.evaluate(state, {**params, "g": params["g"] * (1 + 1e-6)})

    def wrong(case, coordinates, backend="native"):
        model = real(case, coordinates, backend)
        return Off(model) if backend == "reference" else model

    patch.setattr(mechanisms, "model", wrong)
    return "mechanism"


def lost_component(patch):
    """A component that is not met."""
    real = verbs.trace
    patch.setattr(verbs, "trace", lambda *args: dataclasses.replace(real(*args), components=1))
    return "verb"


def wrong_input(patch):
    """An input that is off by a thousandth."""
    real = verbs.drive

    def wrong(*args, **options):
        found = real(*args, **options)
        return dataclasses.replace(found, inputs={name: 1.001 * value for name, value in found.inputs.items()})

    patch.setattr(verbs, "drive", wrong)
    return "verb"


def tolerance_in_metres(patch):
    """A tolerance that is a number of metres, and not a part of the sizes."""
    from zwang._compile import states

    patch.setattr(states, "shares", lambda misses, sizes: misses)
    return "verb"


def witness_outside(patch):
    """A witness that need not lie in its box."""
    from zwang._guarantee.rank_drop import RankDrop

    patch.setattr(RankDrop, "_holds", lambda self, numbers, angles: True)
    return "verb"


PLANTED = [
    flipped_friction,
    swapped_mode,
    missing_watch,
    dropped_bias,
    missing_solution,
    cone_too_wide,
    wrong_digest,
    off_unit,
    lost_event,
    wrong_restitution,
    wrong_reference,
    lost_component,
    wrong_input,
    tolerance_in_metres,
    witness_outside,
]
QUICK = [flipped_friction, dropped_bias, cone_too_wide]


@pytest.fixture
def clean_tables():
    from zwang._numerics.contact import mode_tables as modes

    yield
    modes.table.cache_clear()


@pytest.mark.parametrize("plant", QUICK, ids=lambda plant: plant.__name__)
def test_a_planted_defect_is_found(monkeypatch, clean_tables, plant):
    found = hunt(plant(monkeypatch), most=300)
    assert found is not None
    assert found.words


@pytest.mark.nightly
@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_each_planted_defect_is_found_within_a_minute(monkeypatch, clean_tables, plant):
    kind = plant(monkeypatch)
    begin = time.process_time()
    found = hunt(kind, most=100_000)
    assert found is not None
    print(f"{plant.__doc__} found after {time.process_time() - begin:.1f} s: {found.words}")
