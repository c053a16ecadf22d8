"""The problems of the proving ground hold, or fail, as its page says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.proving.problem import CODE, PRINTED, run  # noqa: E402
from benchmarks.proving.table import PROBLEMS  # noqa: E402

PAGE = ROOT / "docs" / "proving_ground.md"
QUICK = ("Andrews' squeezer at its start", "particle leaves a sphere", "rhombus of bars", "spherical pendulum")


def told(name: str) -> str:
    """The line of the page about a problem."""
    (line,) = (line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| **{name}**"))
    return line


def test_there_are_enough_problems_and_the_page_has_them_all() -> None:
    assert len(PROBLEMS) >= 40
    assert sum(problem.against in (PRINTED, CODE) for problem in PROBLEMS) >= 20
    assert len({problem.name for problem in PROBLEMS}) == len(PROBLEMS)
    assert all(told(problem.name).count("|") == 6 for problem in PROBLEMS)


@pytest.mark.parametrize("name", QUICK)
def test_a_problem_holds(name: str) -> None:
    (problem,) = (problem for problem in PROBLEMS if problem.name == name)
    assert run(problem).holds


def test_whatever_goes_wrong_is_a_failure() -> None:
    from dataclasses import replace

    problem = PROBLEMS[1]
    assert not run(replace(problem, reference=(1.0, 2.0))).holds
    assert not run(replace(problem, reference=(1.0, 2.0, 3.0))).holds
    broken = run(replace(problem, answer=lambda: 1 / 0))
    assert not broken.holds
    assert "ZeroDivisionError" in broken.ours


@pytest.mark.nightly
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_every_problem_does_what_the_page_says(problem) -> None:
    outcome = run(problem)
    print(f"{problem.name}: {outcome}")
    assert outcome.holds == ("FAILS" not in told(problem.name))
