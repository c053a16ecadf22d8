"""The tier of a call is fixed when it begins, named, and changes nothing that the answer says."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from kernel_examples import python, start
from night import by_day
from zwang._numerics import jit
from zwang._numerics.jit import answers, background, notices
from zwang._numerics.jit.cache import cache_folder

pytest.importorskip("numba")
TOL = 1e-10
MOTIONS = {  # tenths of a second of plain Python each: impacts, friction, one-sided rates, loops, a singular point
    "bouncing_ball": 2.0,
    "belt_block": 3.0,
    "sleigh_ahead": 3.0,
    "four_bar": 1.0,
    "painleve_rod": 0.3,
    "andrews": 0.003,
}


def moved(name: str, until: float, tier: str) -> zw.results.Motion:
    entry = zw.gallery.get(name)
    model = zw.compile(entry.system, tier=tier)
    return zw.simulate(model, entry.state, entry.params, until=until, tol=TOL, impact="newton")


def assert_motions_agree(name: str, until: float) -> None:
    plain, compiled = (moved(name, until, tier) for tier in ("plain", "compiled"))
    assert (plain.provenance.tier, compiled.provenance.tier) == ("plain", "compiled")
    assert plain.status == compiled.status
    assert [(e.kind, e.constraint) for e in plain.events] == [(e.kind, e.constraint) for e in compiled.events]
    assert [span.labels for span in plain.modes] == [span.labels for span in compiled.modes]
    scale = 1.0 + max(np.abs(compiled.q).max(), np.abs(compiled.v).max())
    np.testing.assert_allclose(
        [event.time for event in plain.events],
        [event.time for event in compiled.events],
        rtol=0,
        atol=100 * TOL * scale,
    )
    for instant in np.linspace(compiled.t[0], min(compiled.t[-1], plain.t[-1]), 7)[1:-1]:
        one, other = plain.at(instant), compiled.at(instant)
        assert one.keys() == other.keys()
        for key in one:
            assert abs(one[key] - other[key]) <= 100 * TOL * scale, (key, instant)
    again = moved(name, until, "plain")
    assert again.q.tobytes() == plain.q.tobytes() and again.t.tobytes() == plain.t.tobytes()


@pytest.mark.parametrize("name", MOTIONS)
def test_motions_of_both_tiers_agree_and_plain_ones_repeat_to_the_last_bit(name: str) -> None:
    assert_motions_agree(name, MOTIONS[name])


@pytest.mark.parametrize("part", by_day(range(3), [0]))
def test_reactions_of_both_tiers_agree_at_every_state_of_the_gallery(part: int) -> None:
    asked = 0
    for name in zw.gallery.names()[part::3]:
        entry = zw.gallery.get(name)
        if len(entry.system.coordinates) > 12:
            continue  # seconds of plain Python; the nightly motions go there
        try:
            plain, compiled = (
                zw.reactions(zw.compile(entry.system, tier=tier), entry.state, entry.params)
                for tier in ("plain", "compiled")
            )
        except zw.StateError:  # an impact is due: `simulate` is what to ask
            continue
        asked += 1
        assert plain.status == compiled.status, name
        assert [s.modes for s in plain.solutions] == [s.modes for s in compiled.solutions], name
        size = 1.0 + np.abs(compiled.accelerations).max(initial=0.0)
        np.testing.assert_allclose(plain.accelerations, compiled.accelerations, rtol=0, atol=100 * TOL * size)
    assert asked > 6


def test_spaces_and_maps_of_both_tiers_agree() -> None:
    bar, rod = zw.gallery.get("four_bar"), zw.gallery.get("painleve_rod")
    spaces = [zw.trace(zw.compile(bar.system, tier=tier), bar.params) for tier in ("plain", "compiled")]
    for one, other in [spaces]:
        assert (one.status, len(one.branches), one.components) == (other.status, len(other.branches), other.components)
        kinds = [sorted(point.kind for point in space.singular_points) for space in (one, other)]
        assert kinds[0] == kinds[1]
    params = {**rod.params, "mu": np.linspace(0.0, 2.0, 60)}
    maps = [zw.reactions(zw.compile(rod.system, tier=tier), rod.state, params) for tier in ("plain", "compiled")]
    assert [found.provenance.tier for found in maps] == ["plain", "compiled"]
    np.testing.assert_array_equal(maps[0].codes, maps[1].codes)
    np.testing.assert_array_equal(maps[0].counts, maps[1].counts)


def test_rows_of_a_motion_are_computed_in_its_tier() -> None:
    entry = zw.gallery.get("bouncing_ball")
    script = """
        import sys, zwang as zw
        entry = zw.gallery.get("bouncing_ball")
        motion = zw.simulate(zw.compile(entry.system, tier="plain"), entry.state, entry.params, until=1.0)
        motion.energy, motion.reactions, motion.work, motion.reaction_range, motion.at(0.5), motion.residual
        print(motion.provenance.tier, "numba" in sys.modules)
    """
    assert entry.name == "bouncing_ball"
    assert python(script, Path(os.environ.get("TMPDIR", "/tmp"))) == ["plain", "False"]


SINGLE = """
    import sys, numpy as np, zwang as zw
    rod, bar = zw.gallery.get("painleve_rod"), zw.gallery.get("four_bar")
    print(zw.reactions(rod.system, rod.state, rod.params).status.name)
    print(zw.compile(bar.system).evaluate(bar.state, bar.params).status.name)
    rows = np.eye(8)
    contacts = [zw.Contact(rows[2 * j], tangent=rows[2 * j + 1], friction=0.5) for j in range(4)]
    print(zw.reactions(zw.ContactProblem(np.eye(8) + 0.1, [-1.0, 0.2] * 4, contacts)).status.name)
    print("numba" in sys.modules, "llvmlite" in sys.modules)
"""


def test_single_states_never_load_a_compiler_with_or_without_machine_code_on_disk(tmp_path: Path) -> None:
    answer = ["UNIQUE", "DETERMINED", "UNIQUE", "False", "False"]
    assert python(SINGLE, tmp_path) == answer
    assert python(SINGLE, tmp_path, ZWANG_CACHE_DIR="") == answer
    assert python(SINGLE, tmp_path, ZWANG_WAIT="0") == answer
    assert not (tmp_path / "cache").exists()


TINY = """
    import sys, time
    from pathlib import Path
    Path({folder!r}, "tiny.py").write_text(
        "from zwang._numerics.jit import njit\\n@njit('float64(float64)')\\ndef tiny(x):\\n    return 2.0 * x\\n"
    )
    from tiny import tiny
    from zwang._numerics.jit import answer, background, tier
    def ask():
        return tiny(1.5), tier()
    print(*answer(ask, "tiny", main="tiny"), "numba" in sys.modules)
    begin = time.monotonic()
    while not background.MAKER.made([tiny]) and time.monotonic() < begin + 100:
        time.sleep(0.05)
    print(*answer(ask, "tiny", main="tiny"), int(tiny.restored))
    print(background.MAKER._process.pid, flush=True)
"""


def test_without_machine_code_a_call_begins_at_once_and_a_later_one_runs_compiled(tmp_path: Path) -> None:
    found = python(TINY.format(folder=str(tmp_path)), tmp_path, ZWANG_WAIT="0")
    assert found[:6] == ["3.0", "plain", "False", "3.0", "compiled", "1"]
    begin = time.monotonic()
    while Path("/proc", found[6]).exists() and time.monotonic() < begin + 60:
        time.sleep(0.05)
    assert not Path("/proc", found[6]).exists()  # what compiles in the background ends with its parent


def test_who_compiles_in_the_background_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    process = start(TINY.format(folder=str(tmp_path)) + "    time.sleep(100)\n", tmp_path, ZWANG_WAIT="0")
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    process.kill()
    process.communicate()
    begin = time.monotonic()
    while Path("/proc", lines[2].strip()).exists() and time.monotonic() < begin + 60:
        time.sleep(0.05)
    assert not Path("/proc", lines[2].strip()).exists()


@jit.njit("float64(float64)")
def third(x: float) -> float:
    return x / 3.0


def test_a_call_that_takes_long_in_plain_python_is_asked_again_of_compiled_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ZWANG_WAIT", "0")
    monkeypatch.setattr(answers, "WORK", 1000)
    tiers = []

    def ask() -> str:
        tiers.append(jit.tier())
        for _ in range(10_000):
            third(1.0)
        return jit.tier()

    assert jit.answer(ask, "long", main="no_such_kernel") == "compiled"
    assert tiers == ["plain", "compiled"]
    tiers.clear()
    assert jit.answer(ask, "once", main="no_such_kernel", once=True) == "compiled"
    assert tiers == ["compiled"]


def test_tier_of_a_process_is_pinned_by_a_setting_and_nonsense_is_refused(tmp_path: Path) -> None:
    script = "from zwang._numerics.jit import answer, tier; print(tier(), answer(tier, 'any', main='x'))"
    assert python(script, tmp_path, ZWANG_TIER="plain", ZWANG_WAIT="0") == ["plain", "plain"]
    assert python(script, tmp_path, ZWANG_TIER="compiled", ZWANG_WAIT="0") == ["compiled", "compiled"]
    process = start(script, tmp_path, ZWANG_TIER="fast")
    _, err = process.communicate(timeout=120)
    assert "ZWANG_TIER: 'fast' is no tier. Give 'compiled' or 'plain', or unset it." in err


def test_waiting_for_a_compiler_is_said_once_and_what_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(notices, "SOON", 0.0)
    monkeypatch.setattr(notices, "_SAID", set())
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path))
    two = jit.njit("float64(float64)")(lambda x: 2 * x)
    three = jit.njit("float64(float64)")(lambda x: 3 * x)
    source = "from zwang._numerics.jit import njit\n@njit('float64(float64)')\ndef f(x):\n    return {} * x\n"
    four, five = (jit.load_generated(source.format(factor), "said").f for factor in (4, 5))
    for factor, kernel in enumerate((two, three, four, five), 2):
        assert jit.answer(lambda kernel=kernel: kernel(1.0), "ask", pinned="compiled", seconds=7) == factor
    text = capsys.readouterr().err
    assert text.count("zwang: compiling machine code for `ask`, some 7 s, once per installation.") == 1
    assert text.count("zwang: compiling the equations of this system, some seconds;") == 1
    assert text.count("`zwang warm`") == 1


def test_who_compiles_for_another_process_says_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(notices, "SOON", 0.0)
    monkeypatch.setattr(notices, "_SAID", set())
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path))
    source = "from zwang._numerics.jit import njit\n@njit('float64(float64)')\ndef f(x):\n    return 5 * x\n"
    background.make({"texts": [[source, "unsaid"]], "kernel": "f"})
    assert list(tmp_path.rglob("*")) and capsys.readouterr().err == ""


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(set(zw.gallery.names()) - set(MOTIONS)))
def test_every_motion_of_the_gallery_agrees_in_both_tiers(name: str) -> None:
    try:
        assert_motions_agree(name, 0.5)
    except zw.StateError as error:
        pytest.skip(f"no motion from the state of the entry: {error}")


def test_kernels_that_will_be_needed_are_made_by_another_process_while_a_part_is_asked_in_plain_python(
    tmp_path: Path,
) -> None:
    (tmp_path / "pair.py").write_text(
        "from zwang._numerics.jit import njit\n"
        "@njit('float64(float64)')\ndef first(x):\n    return 2.0 * x\n"
        "@njit('float64(float64)')\ndef last(x):\n    return x + 1.0\n"
    )
    script = """
        import time
        from pair import first, last
        from zwang._numerics.jit import answer, meanwhile, tier, background
        def ask():
            part = meanwhile(lambda: (first(1.0), tier()), "first")
            while not background.MAKER.made([last]):
                time.sleep(0.01)
            return *part, last(1.0), tier()
        print(*answer(ask, "both", needs=[last]))
        print(first._compiled is None, last.restored)
        print(*answer(ask, "both", pinned="compiled"))
    """
    found = python(script, tmp_path, ZWANG_WAIT="0")
    assert found == ["2.0", "plain", "2.0", "compiled", "True", "True", "2.0", "compiled", "2.0", "compiled"]


def test_a_part_that_takes_long_in_plain_python_is_asked_again_of_compiled_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ZWANG_WAIT", "0")
    monkeypatch.setattr(answers, "WORK", 1000)
    tiers = []

    def part() -> str:
        tiers.append(jit.tier())
        for _ in range(10_000):
            third(1.0)
        return jit.tier()

    assert jit.answer(lambda: (jit.meanwhile(part, "no_such_kernel"), jit.tier()), "study") == ("compiled", "compiled")
    assert tiers == ["plain", "compiled"]
    tiers.clear()
    assert jit.answer(lambda: jit.meanwhile(part, "no_such_kernel"), "study", pinned="compiled") == "compiled"
    assert tiers == ["compiled"]


@pytest.mark.nightly
def test_a_study_without_machine_code_has_its_ideal_motion_in_plain_python_and_says_so(tmp_path: Path) -> None:
    script = """
        import zwang as zw
        from zwang._numerics.jit import answers
        answers.holds = lambda name: name != "advance"
        entry = zw.gallery.get("kozlov_neishtadt")
        for model in (entry.system, zw.compile(entry.system, tier="compiled")):
            study = zw.limit(model, "floor", entry.state, by=zw.Stiffness, until=0.1, strengths=[1e4, 1e5, 1e6])
            print(study.status.name, study.ideal.provenance.tier, study.provenance.tier)
    """
    found = python(script, tmp_path, ZWANG_WAIT="0", ZWANG_CACHE_DIR=str(cache_folder()))
    assert found == ["CONVERGES", "plain", "compiled", "CONVERGES", "compiled", "compiled"]


def test_studies_name_the_loops_that_they_need() -> None:
    from zwang._limit.verb import large_kernels

    assert [kernel.__name__ for kernel in large_kernels({"by": zw.Stiffness})] == ["oscillate"]
    assert [kernel.__name__ for kernel in large_kernels({"by": zw.Viscosity})] == ["radau"]
    assert [kernel.__name__ for kernel in large_kernels({"by": {"track": zw.Viscosity()}})] == ["radau"]


def feet(n: int, slip: float) -> zw.ContactProblem:
    rows = [zw.Contact([0.0, 1.0, i - 1.5], tangent=[1.0, 0.0, 0.2], friction=0.3, slip=slip) for i in range(n)]
    return zw.ContactProblem(np.diag([1.0, 1.0, 0.2]), [0.1, -1.0, 0.02], rows)


def test_small_states_with_many_modes_run_compiled_once_machine_code_is_worth_loading(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert zw.reactions(feet(5, 0.0)).provenance.tier == "compiled"  # waited for, so that it is there
    monkeypatch.setenv("ZWANG_WAIT", "0")
    monkeypatch.setattr(answers, "_MET", {})
    monkeypatch.setattr(answers, "_LOADED", set())
    monkeypatch.setattr(answers, "_PLAIN", {})
    monkeypatch.setattr(answers, "holds", lambda main: True)
    first = zw.reactions(feet(4, 0.0))
    assert first.provenance.tier == "plain"
    monkeypatch.setattr(answers, "PATIENCE", 0.0)
    assert zw.reactions(feet(4, 1.0)).provenance.tier == "compiled"  # 16 modes
    monkeypatch.setattr(answers, "PATIENCE", 1e9)  # it is loaded by now
    again = zw.reactions(feet(4, 0.0))
    assert again.provenance.tier == "compiled"
    assert again.status is first.status
    assert zw.reactions(feet(1, 0.0)).provenance.tier == "plain"
    monkeypatch.setenv("ZWANG_WAIT", "1")
    assert zw.reactions(feet(4, 0.0)).provenance.tier == "plain"  # by the call alone
