"""Ctrl-C and SIGTERM: commands end with 130 and 143, and keep what was computed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import types
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import zwang as zw
from zwang.__main__ import run
from zwang._interrupts import uninterrupted
from zwang.cli.answer_files import Files
from zwang.cli.exit_signals import exit_code, stoppable
from zwang.cli.output import tell, tell_mistakes

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
# As the command, but it says how far it is at every step and not every five seconds.
COMMAND = "import zwang.cli.progress as told; told.SECONDS = 0.0; from zwang.__main__ import run; run()"


@POSIX
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), pytest.param("SIGTERM", 143, marks=pytest.mark.nightly)])
def test_a_motion_that_is_interrupted_is_written_and_printed(number: str, code: int, tmp_path: Path) -> None:
    path = tmp_path / "motion.npz"
    arguments = ["simulate", "circle_particle", "--until", "1e7", "--out", str(path)]
    pipe = subprocess.PIPE
    child = subprocess.Popen([sys.executable, "-c", COMMAND, *arguments], stdout=pipe, stderr=pipe, text=True)
    assert child.stderr is not None
    assert "motion of circle_particle: " in child.stderr.readline()
    child.send_signal(getattr(signal, number))
    out, err = child.communicate(timeout=240)
    assert child.returncode == code, err
    assert "Motion of 'circle_particle': INTERRUPTED" in out
    assert "Interrupted; what was computed is being written. Once more ends it without." in err
    assert f"wrote {path}" in err and err.strip().endswith("Interrupted; what was computed until then was kept.")
    found = zw.load_result(path)
    assert found.status.name == "INTERRUPTED" and len(found.t) > 10
    assert np.abs(np.hypot(found.q[:, 0], found.q[:, 1]) - np.hypot(*found.q[0])).max() < 1e-8


@POSIX
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(
            ["limit", "circle_particle", "--constraint", "circle", "--until", "3000"], marks=pytest.mark.nightly
        ),
        pytest.param(["reactions", "ladder", "--map", "m=1:3:2000", "l=1:1.5:2000"], marks=pytest.mark.nightly),
        pytest.param(["gallery", "--tour"], marks=pytest.mark.nightly),
    ],
    ids=lambda words: words[0],
)
def test_a_command_that_is_interrupted_ends_with_130(arguments: list[str]) -> None:
    pipe = subprocess.PIPE
    child = subprocess.Popen([sys.executable, "-c", COMMAND, *arguments], stdout=pipe, stderr=pipe, text=True)
    assert child.stderr is not None
    child.stderr.readline()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 130, err
    assert "Traceback" not in err


def test_a_selftest_that_is_interrupted_tells_what_it_checked_and_ends_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from zwang._selftest.run import Summary
    from zwang.cli import selftest

    def stopped(*_: object) -> Summary:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return Summary(0, {"contacts": 3}, {"contacts": 1.0})

    monkeypatch.setattr(selftest, "_run", stopped)
    monkeypatch.setattr(selftest, "_print", lambda summary, json_: print(summary.counts))
    with pytest.raises(SystemExit) as ended:
        selftest.selftest.main(["--count", "3"], standalone_mode=False)
    assert ended.value.code == 130
    told = capsys.readouterr()
    assert "'contacts': 3" in told.out
    assert "Interrupted; what is told above was checked until then." in told.err


def test_ctrl_c_while_the_command_is_imported_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def main(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "zwang.cli", types.SimpleNamespace(main=main))
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 130


def command(body: object) -> click.Command:
    return click.command("test")(tell_mistakes(body))  # type: ignore[arg-type]


@POSIX
@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_the_exit_code_is_that_of_the_first_signal_whatever_comes_after(number: str, code: int) -> None:
    def swallowed(then: BaseException | None) -> click.Command:
        def body() -> None:
            try:
                signal.raise_signal(getattr(signal, number))
            except KeyboardInterrupt:
                tell("kept")
            if then is not None:
                raise then
            Files().end(1)

        return command(body)

    for then in (None, zw.StateError("half a motion"), zw.DeclarationError("no"), KeyboardInterrupt()):
        done = CliRunner().invoke(swallowed(then), [])
        assert done.exit_code == code and done.stdout == "kept\n"
    done = CliRunner().invoke(command(lambda: signal.raise_signal(getattr(signal, number))), [])
    assert done.exit_code == code and done.stderr == "Interrupted.\n"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@POSIX
def test_a_signal_that_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a script does for what it starts in the background
    try:
        with stoppable():
            signal.raise_signal(signal.SIGINT)
            assert exit_code() is None
    finally:
        signal.signal(signal.SIGINT, before)
    with stoppable():
        assert exit_code() is None


@POSIX
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_no_signal_that_ends_a_command_comes_in_the_middle_of_a_block(number: str) -> None:
    done = []

    def block() -> None:
        with stoppable(), uninterrupted():
            signal.raise_signal(getattr(signal, number))
            done.append("written")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert done == ["written"]
