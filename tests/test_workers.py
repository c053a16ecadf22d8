"""Processes that work through tasks: what one does when it dies, and that none outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fake_claims import act
from zwang._workers import Lost, Sharing, work_through

TESTS = Path(__file__).parent
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_task_is_given_once(workers: int) -> None:
    sharing = Sharing(["abc", "d", "efghij"], workers)
    given: list[list[str]] = [[] for _ in range(workers)]
    while True:
        turn = [sharing.next_for(place) for place in range(workers)]
        for mine, task in zip(given, turn, strict=True):
            mine.extend([task] if task else [])
        if not any(turn):
            break
    assert sorted("".join("".join(one) for one in given)) == list("abcdefghij")
    assert all(given)


def test_a_worker_without_a_group_helps_another() -> None:
    sharing = Sharing(["abcdef"], 2)
    assert sharing.next_for(0) == "a" and sharing.next_for(1) == "f"


@POSIX
def test_a_worker_that_dies_is_replaced_and_its_task_is_told() -> None:
    tasks = [["one", "exit", "two"], ["kill", "three", "raise", "unsendable", "four"]]
    found = dict(work_through(act, tasks, workers=2))
    assert {task: result for task, result in found.items() if not isinstance(result, Lost)} == {
        word: f"{word} done" for word in ("one", "two", "three", "four")
    }
    reasons = {task: result.reason for task, result in found.items() if isinstance(result, Lost)}
    assert reasons["exit"] == "The process that computed it died: it ended with exit code 3."
    assert reasons["kill"] == "The process that computed it died: it was ended by SIGKILL (exit code -9)."
    assert reasons["raise"] == "It raised ValueError: as asked"
    assert "as asked" in found["raise"].details
    assert reasons["unsendable"].startswith("Its result can't be sent: ")


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be counted does not."""
    status = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            return status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def pids(folder: Path) -> list[int]:
    return [int(item.name) for item in folder.iterdir() if item.name.isdigit()]


def until(true: object, what: str, seconds: float = 120.0) -> None:
    """Wait for something to be so; a hang limit, not a measurement."""
    end = time.monotonic() + seconds
    while not true():  # type: ignore[operator]
        assert time.monotonic() < end, what
        time.sleep(0.02)


PARENT = """
import fake_claims
from zwang._workers import work_through
for task, found in work_through(fake_claims.act, [["wait 1"], ["wait 2"]], workers=2):
    print(task, found)
"""


def environment(folder: Path, **more: str) -> dict[str, str]:
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "FAKE_PIDS": str(folder), **more}


@POSIX
@pytest.mark.parametrize("number", ["SIGKILL", "SIGTERM", pytest.param("SIGINT", marks=pytest.mark.nightly)])
def test_no_worker_outlives_its_parent(number: str, tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], env=environment(tmp_path), stderr=subprocess.DEVNULL)
    try:
        until(lambda: len(pids(tmp_path)) == 2, "two workers are at work")
        parent.send_signal(getattr(signal, number))
        parent.wait(timeout=60)
        until(lambda: not any(alive(pid) for pid in pids(tmp_path)), "all workers have ended", 60.0)
    finally:
        parent.kill()
        for pid in pids(tmp_path):
            if alive(pid):
                os.kill(pid, signal.SIGKILL)


# --- the command reproduce -------------------------------------------------------------------------------------------

REPRODUCE = """
import functools, fake_claims
import zwang.cli.reproduce as command
command.compute = functools.partial(command.compute, run=fake_claims.claim)
from zwang.__main__ import run
run()
"""
IDS = ("001-ex1-slack", "001-ex1-taut", "001-ex1-beta", "001-ex2-mass")


def start(ledger: Path, folder: Path, **settings: str) -> subprocess.Popen[str]:
    folder.mkdir()
    chosen = [part for id in IDS for part in ("--claim", id)]
    command = [sys.executable, "-c", REPRODUCE, "reproduce", "--jobs", "1", *chosen, "--json", str(ledger)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment(folder, **settings), stdout=pipe, stderr=pipe, text=True)


def asked(folder: Path) -> set[str]:
    return {item.name.removeprefix("asked-") for item in folder.iterdir() if item.name.startswith("asked-")}


@pytest.mark.nightly
@POSIX
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_run_that_is_cut_short_again_and_again_goes_on_where_it_was(number: str, code: int, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.json"
    ledger.write_text("old")
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))

    run = start(ledger, one, FAKE_WAIT=IDS[1])
    until(lambda: asked(one) == set(IDS[:2]), "the first is done, the second waits")
    run.kill()
    run.communicate(timeout=60)
    until(lambda: not any(alive(pid) for pid in pids(one)), "all workers have ended", 60.0)
    assert ledger.read_text() == "old" and Path(f"{ledger}.part").exists()

    run = start(ledger, two, FAKE_WAIT=IDS[2])
    until(lambda: asked(two) == set(IDS[1:3]), "the first is known, the second done, the third waits")
    run.send_signal(getattr(signal, number))
    out, err = run.communicate(timeout=60)
    assert run.returncode == code, err
    until(lambda: not any(alive(pid) for pid in pids(two)), "all workers have ended", 60.0)
    assert "1 of 4 claims are taken from" in err
    assert f"Interrupted: 2 of 4 claims were computed. They are kept in '{ledger}.part', and the same" in err
    assert "2 claims: 2 confirmed" in out
    assert ledger.read_text() == "old"

    run = start(ledger, three, FAKE_KILL=IDS[2])
    out, err = run.communicate(timeout=240)
    assert run.returncode == 1, err
    assert "2 of 4 claims are taken from" in err and asked(three) == set(IDS[2:])
    assert f"{IDS[2]}: not checkable, recorded" in err
    assert "The process that computed it died: it was ended by SIGKILL (exit code -9)." in err
    text = ledger.read_text()
    assert [f"fake {id}" in text for id in IDS] == [True, True, False, True]
    assert "it was ended by SIGKILL (exit code -9)" in text
    assert sorted(item.name for item in tmp_path.iterdir()) == ["ledger.json", "one", "three", "two"]


def test_workers_wait_for_machine_code_so_that_tasks_of_one_job_have_one_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZWANG_WAIT", raising=False)
    assert list(work_through(os.getenv, [["ZWANG_WAIT"]], workers=1)) == [("ZWANG_WAIT", "1")]
