"""The same call gives the same bytes, whatever the portions of the loops, progress, out=, threads or processes."""

import os
import pickle
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day
from result_bytes import bytes_of
from zwang._compile.recent import Kept
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels.mode_motion import moving
from zwang._numerics.pace import portions
from zwang._simulate import stretch

SRC = Path(zw.__file__).parent
UNTIL = {"andrews": 0.002, "ellipse_pendulum_friction": 0.4}
SOME = ("belt_block", "four_bar", "flyball_governor_springs", "painleve_rod", "stack", "two_particles")


def moved(name, **options):
    entry = zw.gallery.get(name)
    return zw.simulate(entry.system, entry.state, entry.params, until=UNTIL.get(name, 0.6), **options)


def random_portions(seed):
    rng = random.Random(seed)
    largest = rng.choice((3, 40, 700))
    return portions(lambda: rng.randint(1, largest))


@pytest.mark.parametrize("name", by_day(zw.gallery.names(), zw.gallery.names()[::3]))
def test_motion_does_not_depend_on_where_its_loop_pauses(name):
    whole = bytes_of(moved(name))
    for seed in (1, 2):
        with random_portions(seed):
            assert bytes_of(moved(name)) == whole


@pytest.mark.nightly
@pytest.mark.parametrize("name", zw.gallery.names())
def test_motion_does_not_depend_on_ten_random_portions(name):
    whole = bytes_of(moved(name))
    for seed in range(10):
        with random_portions(100 + seed):
            assert bytes_of(moved(name)) == whole


def double_pendulum():
    (a, b), _ = zw.coordinates("a b", angles="a b")
    tip = sp.Matrix([sp.sin(a) + sp.sin(b), -sp.cos(a) - sp.cos(b)])
    elbow = sp.Matrix([sp.sin(a), -sp.cos(a)])
    kinetic = (zw.rate(tip).dot(zw.rate(tip)) + zw.rate(elbow).dot(zw.rate(elbow))) / 2
    return zw.System(name="double pendulum", kinetic=kinetic, potential=9.81 * (tip[1] + elbow[1]))


def test_chaotic_motion_is_the_same_at_every_call():
    # An error of rounding grows by e^3 or so in a second here: after 20 s two motions that differ anywhere part.
    system, state = double_pendulum(), {"a": 2.0, "b": 2.5, "v_a": 0.0, "v_b": 0.0}
    ends = set()
    for seed in range(3):
        with random_portions(seed):
            ends.add(bytes_of(zw.simulate(system, state, until=20.0)))
    ends.add(bytes_of(zw.simulate(system, state, until=20.0, progress=lambda t: None)))
    assert len(ends) == 1


@pytest.mark.parametrize("name", SOME)
def test_progress_and_files_change_nothing(name, tmp_path):
    whole = moved(name)
    seen = []
    assert bytes_of(moved(name, progress=seen.append)) == bytes_of(whole)
    assert seen == sorted(seen)
    written = moved(name, out=tmp_path / "motion.npz")
    for motion in (written, zw.load_result(tmp_path / "motion.npz")):
        for rows in ("t", "q", "v", "a"):
            assert getattr(motion, rows).tobytes() == getattr(whole, rows).tobytes()


def test_threads_give_what_one_thread_gives():
    # Each pair of threads shares its model, its tapes and its code.
    jobs = [name for name in SOME for _ in range(2)]
    alone = [bytes_of(moved(name)) for name in jobs]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda name: bytes_of(moved(name)), jobs)) == alone


def chain(count):
    """Return a chain of points, large enough for sparse matrices."""
    linkage = zw.Linkage("chain", gravity=(0, -9.81)).ground("O", 0, 0)
    linkage.points([f"P{i}" for i in range(count)], mass=1)
    linkage.chain(["O", *(f"P{i}" for i in range(count))], lengths=[1] * count)
    return linkage.system()


def test_threads_share_a_large_model():
    # Kernels of large systems write into a workspace; a few in a hundred answers were of two states mixed.
    model, n = zw.compile(chain(40)), 80
    rng, none = np.random.default_rng(0), np.zeros((0, 1))
    straight = np.array([1.0 + k // 2 if k % 2 == 0 else 0.0 for k in range(n)])
    places = [straight + 0.01 * rng.normal(size=n) for _ in range(150)]

    def answer(q):
        state = (np.zeros(1), q[:, None], np.zeros((n, 1)), none)
        solved, terms = model.kernels.solve(*state, model.kernels.bilateral), model.kernels.terms(*state)
        return solved.accelerations.tobytes() + terms.value.tobytes() + terms.force.tobytes()

    alone = [answer(q) for q in places]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(answer, places)) == alone


def test_threads_find_the_same_model_while_others_are_dropped():
    models = Kept(3)
    keys = [k % 7 for k in range(4000)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda key: models.get(key, lambda: -key), keys)) == [-key for key in keys]
    assert len(models) == 3


CHILD = """
import sys
sys.path.insert(0, {tests!r})
from test_reproducible import answers
print("\\n".join(answers({names!r})))
"""


def answers(names):
    """Return the bytes of what several verbs say."""
    found = [bytes_of(moved(name)) for name in names]
    bar, rod = zw.gallery.get("four_bar"), zw.gallery.get("ladder")
    found.append(bytes_of(zw.trace(bar.system, bar.params)))
    return [*found, bytes_of(zw.reactions(rod.system, rod.state, rod.params))]


def child_answers(names, seed):
    text = CHILD.format(tests=str(Path(__file__).parent), names=names)
    run = subprocess.run(
        [sys.executable, "-c", text],
        check=False,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_another_process_with_another_hash_seed_gives_the_same_bytes():
    assert child_answers(SOME[:2], 7) == answers(SOME[:2])


@pytest.mark.nightly
def test_whole_gallery_is_the_same_under_every_hash_seed():
    names = tuple(zw.gallery.names())
    assert child_answers(names, 1) == child_answers(names, 2) == answers(names)


def many_functions():
    """Return a system whose equations hold every operation that a graph knows."""
    (x, y), (vx, vy) = zw.coordinates("x y")
    k = zw.parameters("k")
    potential = 2**x + sp.Float(10.0) ** y + (3 + sp.sin(x)) ** sp.Rational(17, 10) + sp.exp(sp.sin(x * y))
    potential += k * sp.cbrt(x**2 + 3) + sp.atan2(x, 2 + y**2) * sp.log(3 + x**2) + (y**2 + 1) ** sp.Rational(1, 4)
    potential += sp.asinh(x) + sp.cosh(y) * sp.atan(x) + sp.acos(x / 9) + sp.tan(x / 7) + sp.sqrt(x**2 + 2) ** 3
    potential += (2 + sp.sin(y)) ** x + sp.acosh(2 + x**2) + sp.atanh(x / 9) + sp.Max(x, y) + sp.Abs(x) * y
    return zw.System(
        name="many functions", kinetic=(vx**2 + vy**2) * (2 + sp.cos(x) * sp.tanh(y)) / 2, potential=potential
    )


def test_tape_and_code_of_a_mode_give_the_same_bits():
    model = zw.compile(many_functions())
    taped, coded = (moving(model, ActiveSet(()), compiled=compiled) for compiled in (False, True))
    rng = np.random.default_rng(0)
    for _ in range(200):
        q, v, params = rng.normal(size=2), rng.normal(size=2), rng.normal(size=1)
        everything = np.concatenate([params, taped.branches(0.0, q, v, params)])
        for number in range(5):
            outs = []
            for flow in (taped, coded):
                functions, out = flow.kernels.functions, np.zeros(20)
                work = functions.workspace(everything)
                functions.calls[number](0.0, q, v, everything, functions.table, work, out)
                outs.append(out.tobytes())
            assert outs[0] == outs[1]


def test_motion_does_not_depend_on_how_often_its_mode_was_run_before(monkeypatch):
    # Tapes make the first steps of a mode and code the later ones: which of them does is not to be seen.
    found = set()
    for long in (0, 40, 10**9):
        monkeypatch.setattr(stretch, "LONG", long)
        found.add(bytes_of(moved("flyball_governor_springs")))
        found.add(bytes_of(moved("slider_crank")) + " crank")
    assert len(found) == 2


STUDIES = {
    "springs": ("kozlov_neishtadt", "floor", zw.Stiffness, {}),
    "friction": ("sleigh_ahead", "blade", zw.Viscosity, {}),
    "a one-sided spring": ("bouncing_ball", "floor", zw.Stiffness, {}),
}


@pytest.mark.parametrize("case", STUDIES)
def test_limit_does_not_depend_on_where_its_loops_pause(case):
    name, constraint, by, options = STUDIES[case]
    entry = zw.gallery.get(name)

    def study():
        return bytes_of(
            zw.limit(
                entry.system, constraint, entry.state, entry.params, by=by, until=1.0,
                strengths=[1e2, 1e3, 1e4], **options,
            )
        )  # fmt: skip

    whole = study()
    for seed in (1, 2):
        with random_portions(seed):
            assert study() == whole


@pytest.mark.parametrize("name", ["bouncing_ball", "ladder", "four_bar_crank_rocker"])
def test_time_stepping_does_not_depend_on_where_it_pauses(name):
    whole = bytes_of(moved(name, method="timestepping"))
    for seed in (1, 2):
        with random_portions(seed):
            assert bytes_of(moved(name, method="timestepping")) == whole


def test_search_over_modes_does_not_depend_on_where_it_pauses():
    stack = zw.gallery.get("stack")

    def found():
        return bytes_of(zw.reactions(stack.system, stack.state, stack.params, every=True))

    whole = found()
    for seed in (1, 2):
        with random_portions(seed):
            assert found() == whole


MAY_ASK_THE_CLOCK = {
    "_numerics/budget.py": "when the seconds of a budget are over: the status says so",
    "_numerics/jit/cache.py": "which files were not used for long",
    "_numerics/jit/notices.py": "when to say what is waited for",
    "_numerics/pace.py": "where loops pause",
    "_results/motion_stream.py": "when rows are written to a draft",
    "_selftest/run.py": "how long the self-test has run",
    "_progress.py": "when to show progress",
    "_workers.py": "when processes are looked after",
    "_limit/realized_run.py": "what a run cost, for people",
    "_sweep/verb.py": "when the seconds of a budget are over: the status says so",
    "lab/answers/reactions.py": "how fine a map gets while somebody looks",
    "_report/visits.py": "what a visit costs, for people",
    "cli/progress.py": "when to show progress",
    "papers/claim.py": "what a claim cost, for people",
}


def test_nothing_asks_the_clock_but_what_says_why():
    asks = re.compile(r"perf_counter|monotonic\(|process_time|time\.time|datetime\.now|import time\b")
    found = {str(path.relative_to(SRC)) for path in SRC.rglob("*.py") if asks.search(path.read_text(encoding="utf-8"))}
    assert found <= set(MAY_ASK_THE_CLOCK)


def test_provenance_names_backend_and_tier():
    entry = zw.gallery.get("belt_block")
    motion = moved("belt_block", backend="reference")
    assert (motion.provenance.backend, motion.provenance.tier) == ("reference", "compiled")
    assert zw.reactions(entry.system, entry.state, entry.params).provenance.backend == "native"
    code = "import zwang as zw; e = zw.gallery.get('belt_block'); "
    code += "print(zw.reactions(e.system, e.state, e.params).provenance.tier)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={**os.environ, "ZWANG_NO_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.stdout.strip() == "plain"


def test_tier_is_pinned_or_refused():
    entry = zw.gallery.get("belt_block")
    for tier in ("compiled", "plain"):
        pinned = zw.compile(entry.system, tier=tier)
        assert pinned is zw.compile(pinned) is pickle.loads(pickle.dumps(pinned))
        assert zw.reactions(pinned, entry.state, entry.params).provenance.tier == tier
        assert pinned.evaluate(entry.state, entry.params).provenance.tier == tier
    with pytest.raises(zw.DeclarationError, match=r"tier= must be 'compiled' or 'plain'; it was given 'fast'"):
        zw.compile(entry.system, tier="fast")
    code = "import zwang as zw; e = zw.gallery.get('belt_block'); zw.compile(e.system, tier='plain')\n"
    code += "try:\n    zw.compile(e.system, tier='compiled')\nexcept zw.CompileError as error:\n    print(error)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={**os.environ, "ZWANG_NO_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "kernels are plain in this process. Install numba, and unset ZWANG_NO_JIT" in run.stdout
