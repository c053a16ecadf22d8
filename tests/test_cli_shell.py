"""The command line towards a shell: completion, exit codes, choices, the log, colours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from night import by_day
from zwang.cli import main


def completed(words: str, number: int, folder: Path) -> tuple[list[str], list[str]]:
    """What the completion of bash answers, and the modules that it loaded."""
    code = (
        "import atexit, sys; sys.argv = ['zwang']\n"
        "atexit.register(lambda: print('LOADED', *sorted(set(sys.modules) & {'sympy', 'numpy', 'numba', 'scipy'})))\n"
        "from zwang.__main__ import run; run()"
    )
    asked = {"_ZWANG_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(number)}
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **asked},
        cwd=folder,
        text=True,
        capture_output=True,
        check=False,
    )
    lines = found.stdout.splitlines()
    return [line.partition(",")[2] for line in lines[:-1]], lines[-1].split()[1:]


def test_shells_complete_models_and_files_without_loading_what_computes(tmp_path: Path) -> None:
    (tmp_path / "sled.toml").touch()
    (tmp_path / "slide.txt").touch()
    (tmp_path / "slow").mkdir()
    assert completed("zwang simulate sl", 2, tmp_path) == (
        ["sleigh", "sleigh_ahead", "sleigh_incline", "slider_crank", "sled.toml", "slow/"],
        [],
    )
    assert completed("zwang sim", 1, tmp_path) == (["simulate"], [])


def test_shells_complete_choices_of_options(tmp_path: Path) -> None:
    assert completed("zwang simulate sleigh --method t", 4, tmp_path)[0] == ["timestepping"]


@pytest.mark.parametrize(
    ("command", "option", "wrong", "right"),
    [
        (["simulate", "sleigh", "--until", "1"], "--method", "event", "events"),
        (["simulate", "sleigh", "--until", "1"], "--at-paradox", "stopp", "stop"),
        (["simulate", "sleigh", "--until", "1"], "--at-choice", "keep modes", "keep mode"),
        (["simulate", "sleigh", "--until", "1"], "--at-singular", "straigt", "straight"),
        (["check", "sleigh"], "--backend", "nativ", "native"),
        (["limit", "ellipse_pendulum", "--constraint", "ellipse"], "--by", "Stifness", "Stiffness"),
        (["periodic", "bouncing_ball"], "--impact", "poison", "poisson"),
    ],
)
def test_options_with_choices_list_them_and_name_the_nearest(
    command: list[str], option: str, wrong: str, right: str
) -> None:
    found = CliRunner().invoke(main, [*command, option, wrong])
    assert found.exit_code == 2
    assert right in found.output
    told = CliRunner().invoke(main, [command[0], "--help"], terminal_width=200).output
    assert right in told


def test_a_crash_is_told_as_such_with_how_to_report_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **options: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("zwang.cli.simulate.simulate", broken)
    found = CliRunner().invoke(main, ["simulate", "bouncing_ball", "--until", "1"])
    assert found.exit_code == 70
    assert "ZeroDivisionError: planted" in found.stderr
    assert "this is a mistake in zwang, not in your model. Please report it" in found.stderr


def test_the_log_is_silent_unless_it_is_asked_for() -> None:
    silent = run_python("-m", "zwang", "show", "bouncing_ball")
    assert silent.stderr == ""
    asked = run_python("-m", "zwang", "--verbose", "check", "bouncing_ball")
    assert "zwang.compile INFO: compile 'bouncing_ball' for the backend native" in asked.stderr
    by_environment = run_python(
        "-c", "import zwang; zwang.compile(zwang.gallery.get('bouncing_ball').system)", log="info"
    )
    assert "zwang.compile INFO" in by_environment.stderr
    wrong = run_python("-c", "import zwang", log="infos")
    assert "ZWANG_LOG: there is no level 'infos'. Did you mean 'info'?" in wrong.stderr


def run_python(*arguments: str, log: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ZWANG_LOG": log}
    return subprocess.run([sys.executable, *arguments], env=environment, text=True, capture_output=True, check=True)


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    found = CliRunner().invoke(main, ["gallery"], color=True)
    assert "\x1b[3" not in found.output
    assert "sleigh_ahead" in found.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
@pytest.mark.parametrize("words", by_day(["--help", "gallery", "simulate --help"], ["gallery"]))
def test_a_full_disk_behind_stdout_is_told_in_a_line(words: str) -> None:
    call = [sys.executable, "-m", "zwang", *words.split()]
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (found.returncode, found.stderr) == (2, "standard output: No space left on device\n")


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("words", by_day(["--help", "gallery", "show painleve_rod"], ["gallery"]))
def test_a_reader_that_leaves_early_ends_a_command_in_silence(words: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    call = [sys.executable, "-m", "zwang", *words.split()]
    found = subprocess.run(call, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (found.returncode, found.stderr) == (141, "")  # as a shell tells SIGPIPE, and no answer's 1


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
def test_without_a_standard_output_a_command_does_its_work(tmp_path: Path) -> None:
    call = f"{sys.executable} -m zwang reactions painleve_rod --out rod.npz >&- 2>&-"
    assert subprocess.run(["/bin/sh", "-c", call], cwd=tmp_path, check=False).returncode == 0
    assert (tmp_path / "rod.npz").read_bytes()[:2] == b"PK"
