"""Stores of sweeps survive, are read while they grow, and are refused where they don't fit; the command sweep."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sweep_functions
import zwang as zw
from night import by_day
from zwang._results.study_columns import from_bytes, to_bytes
from zwang._sweep.execution import left

ROD = zw.gallery.get("painleve_rod")
BALL = zw.gallery.get("bouncing_ball")
MU = np.linspace(0.0, 2.0, 9)
THETA = np.linspace(0.3, 1.4, 5)
KEEP_ALL = {"found": sweep_functions.whole}


def rod(verb: Any = "reactions", **options: Any) -> zw.results.Study:
    return zw.sweep(verb, ROD.system, ROD.state, ROD.params, **options)


def counted(verb: Any, **options: Any) -> zw.results.Study:
    """A sweep of a function of this test's own."""
    return zw.sweep(verb, ROD.system, None, ROD.params, keep=KEEP_ALL, **options)


# Stores


def test_a_store_goes_on_where_it_was_stopped_and_is_read_meanwhile(tmp_path: Path) -> None:
    store = tmp_path / "rod.db"
    options: dict[str, Any] = {"over": {"mu": MU}, "keep": ("status", "accelerations"), "store": store}
    part = rod(**options, budget={"steps": 4})
    assert part.status.name == "INTERRUPTED"
    assert "goes on" in part.reason
    assert int(part.done.sum()) == 4
    read = zw.load_result(store)
    assert isinstance(read, zw.results.Study)
    assert (read.done == part.done).all()
    asked: list[int] = []
    whole = rod(**options, progress=lambda done: asked.append(int(done)))
    assert asked[0] == 5
    assert whole.status.name == "COMPLETE"
    alone = rod(over={"mu": MU}, keep=("status", "accelerations"))
    for name in alone.values:
        np.testing.assert_array_equal(whole[name], alone[name])


def test_failures_are_kept_in_a_store_too(tmp_path: Path) -> None:
    options: dict[str, Any] = {"over": {"mu": [1.0, -1.0]}, "keep": KEEP_ALL, "store": tmp_path / "a.db"}
    first = zw.sweep(sweep_functions.doubled, ROD.system, ROD.state, ROD.params, **options)
    second = zw.sweep(sweep_functions.doubled, ROD.system, ROD.state, ROD.params, **options)
    assert first.failures == second.failures
    assert len(second.failures) == 1


KILLED = """
import sys
sys.path.insert(0, {tests!r})
import numpy as np, sweep_functions, zwang as zw
if __name__ == "__main__":
    rod = zw.gallery.get("painleve_rod")
    zw.sweep(sweep_functions.slow, rod.system, None, rod.params, over={{"mu": np.arange(200.0)}},
             keep={{"found": sweep_functions.whole}}, workers=2, store={store!r},
             progress=lambda done: print(done, flush=True))
"""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if sys.platform == "linux" else True


@pytest.mark.parametrize("how", by_day([signal.SIGKILL, signal.SIGINT], [signal.SIGKILL]))
def test_a_sweep_that_is_ended_keeps_what_is_done_and_leaves_no_process(how: int, tmp_path: Path) -> None:
    store = tmp_path / "slow.db"
    script = tmp_path / "script.py"
    script.write_text(KILLED.format(tests=str(Path(__file__).parent), store=str(store)))
    child = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    told = 0
    for line in child.stdout:
        told = int(line)
        if told >= 30:
            break
    time.sleep(0.7)  # what is finished is on the disk within half a second
    children = (
        [int(item) for item in Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()]
        if sys.platform == "linux"
        else []
    )
    child.send_signal(how)
    _, said = child.communicate(timeout=60)
    if how == signal.SIGINT:
        assert "the same call goes on there" in said
        assert child.returncode == 0
    limit = time.monotonic() + 20
    while any(alive(pid) for pid in children) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in children)
    kept = zw.load_result(store)
    assert isinstance(kept, zw.results.Study)
    assert told <= kept.done.sum() < 200
    assert (kept["found.mu"][kept.done] == np.arange(200.0)[kept.done]).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"over": {"mu": MU[:-1]}}, "values along the axes|other lengths"),
        ({"keep": ("status", "residual")}, "other things to keep"),
        ({"project": True}, "another 'project'"),
        ({"certify": False}, "other options"),
    ],
)
def test_a_store_of_another_sweep_is_refused_by_name(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"over": {"mu": MU}, "store": tmp_path / "rod.db"}
    rod(**options)
    with pytest.raises(zw.DeclarationError, match=words):
        rod(**{**options, **change})


def test_a_store_of_another_system_or_state_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "rod.db"
    rod(over={"mu": MU}, store=store)
    with pytest.raises(zw.DeclarationError, match="another state"):
        zw.sweep("reactions", ROD.system, {**ROD.state, "v_theta": 0.5}, ROD.params, over={"mu": MU}, store=store)
    other = zw.gallery.get("painleve_rod_tip")
    with pytest.raises(zw.DeclarationError, match="sweep with another"):
        zw.sweep("reactions", other.system, other.state, other.params, over={"mu": MU}, store=store)


def test_two_sweeps_never_write_one_store(tmp_path: Path) -> None:
    store = tmp_path / "rod.db"
    rod(over={"mu": MU}, store=store)
    holder = sqlite3.connect(store, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(zw.DeclarationError, match="locked"):
        rod(over={"mu": MU}, store=store)
    holder.close()


def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path) -> None:
    store = tmp_path / "notes.txt"
    store.write_text("mine")
    with pytest.raises(zw.DeclarationError, match="no store"):
        rod(over={"mu": MU}, store=store)
    assert store.read_text() == "mine"
    with pytest.raises(zw.DeclarationError, match="there is no folder"):
        rod(over={"mu": MU}, store=tmp_path / "nowhere" / "a.db")


def test_damaged_stores_are_told(tmp_path: Path) -> None:
    store = tmp_path / "rod.db"
    rod(over={"mu": MU}, store=store)
    with sqlite3.connect(store) as db:
        db.execute("UPDATE blocks SET data = ?", (b"[]\nrubbish",))
    db.close()
    with pytest.raises(zw.DeclarationError, match="damaged"):
        zw.load_result(store)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE numbers (x)")
    db.close()
    with pytest.raises(zw.DeclarationError, match="can't be read as the store"):
        zw.load_result(other)


def test_blocks_as_bytes_come_back() -> None:
    rng = np.random.default_rng(5)
    columns = {
        "x": rng.normal(size=(3, 2)),
        "n": rng.integers(0, 9, size=3),
        "b": rng.random(3) > 0.5,
        "s": np.array(["a", "", "ünï"]),
        "e": np.zeros((3, 0)),
    }
    again = from_bytes(to_bytes(columns))
    for name, values in columns.items():
        assert again[name].tolist() == values.tolist()


def test_what_is_left_covers_every_point_that_is_not_done_once() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        done = rng.random(int(rng.integers(1, 40))) < 0.5
        block = int(rng.integers(1, 7))
        covered = np.zeros(len(done), dtype=int)
        for first, count in left(done, block):
            assert 1 <= count <= block
            covered[first : first + count] += 1
        assert (covered == ~done).all()


# The command


def command(*arguments: str) -> Any:
    from click.testing import CliRunner

    from zwang.cli import main

    return CliRunner().invoke(main, ["sweep", *arguments])


def test_a_study_file_and_options_ask_the_same(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        """
verb = "reactions"
model = "painleve_rod"
keep = ["status", "counts"]
project = true
seed = 3

[over]
mu = "0:2:9"
theta = [0.4, 0.9, 1.2]
"""
    )
    told = command(str(file), "--out", str(tmp_path / "a.npz"))
    assert told.exit_code == 0, told.output
    over = ("--over", "mu=0:2:9", "--keep", "status", "--keep", "counts", "--project")
    asked = command("reactions", "painleve_rod", *over, "--store", str(tmp_path / "a.db"))
    assert asked.exit_code == 0, asked.output
    filed, optioned = zw.load_result(tmp_path / "a.npz"), zw.load_result(tmp_path / "a.db")
    assert isinstance(filed, zw.results.Study)
    assert isinstance(optioned, zw.results.Study)
    assert filed.shape == (9, 3)
    assert optioned.shape == (9,)
    refused = command("reactions", "painleve_rod", *over, "--store", str(tmp_path / "a.db"))
    assert refused.exit_code == 2
    assert "--resume" in refused.output
    again = command("reactions", "painleve_rod", *over, "--store", str(tmp_path / "a.db"), "--resume", "--json")
    assert again.exit_code == 0
    assert '"left": 0' in again.output
    state = command(str(tmp_path / "a.db"), "--status")
    assert "9 mu, COMPLETE" in state.output


def test_samples_in_a_study_file(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    head = 'verb = "reactions"\nmodel = "painleve_rod"\n'
    file.write_text(head + '[sampled]\ncount = 16\nmu = ["normal", 0.3, 0.02]\nm = ["uniform", 1, 2]\n')
    told = command(str(file))
    assert told.exit_code == 0, told.output
    assert "16 sample" in told.output
    file.write_text(head + '[sampled]\ncount = 16\nmu = ["gauss", 0.3]\n')
    wrong = command(str(file))
    assert wrong.exit_code == 2
    assert "mean, deviation" in wrong.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('verb = "reactions"', "needs model"),
        ('verb = "reactions"\nmodel = "painleve_rod"\nkep = 1', "Did you mean 'keep'"),
        ("verb = ", "can't be read"),
    ],
)
def test_study_files_with_mistakes(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(text)
    found = command(str(file))
    assert found.exit_code == 2
    assert words in found.output


def test_points_that_fail_end_the_command_with_one() -> None:
    found = command("sweep_functions:doubled", "painleve_rod", "--over", "mu=-1:1:3", "--keep", "twice")
    assert found.exit_code == 1
    assert "mu is negative" in found.output
