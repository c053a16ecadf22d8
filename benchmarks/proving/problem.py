"""What a problem of the proving ground is, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

PRINTED, CODE, FORMULA = "printed digits", "independent code", "closed form"


@dataclass(frozen=True)
class Problem:
    """A question with a known answer.

    Attributes
    ----------
    name : str
    source : str
        Where the reference comes from.
    against : str
        What it is: printed digits, independent code (which is run beside), a closed form.
    asked : str
        What is compared, with its unit.
    reference : number, tuple or callable
        A callable computes it, without the package.
    tol : float
        By how much the answer may differ, relative to the reference (absolute where that is zero): the digits that were
        printed, or what the method promises.
    answer : callable
        Returns ours.
    """

    name: str
    source: str
    against: str
    asked: str
    reference: Any
    tol: float
    answer: Callable[[], Any]


@dataclass(frozen=True)
class Outcome:
    """What a problem gave: the two answers as texts, how far they are apart, seconds, and whether it holds."""

    reference: str
    ours: str
    error: float
    seconds: float
    holds: bool


def run(problem: Problem) -> Outcome:
    """Ask and compare; whatever is raised is a failure, told."""
    reference = problem.reference() if callable(problem.reference) else problem.reference
    expected = np.atleast_1d(np.asarray(reference, dtype=float))
    begin = time.perf_counter()
    try:
        found = np.atleast_1d(np.asarray(problem.answer(), dtype=float))
    except Exception as error:
        seconds = time.perf_counter() - begin
        return Outcome(text(expected), f"{type(error).__name__}: {error}"[:160], float("inf"), seconds, False)
    seconds = time.perf_counter() - begin
    if found.shape != expected.shape:
        return Outcome(text(expected), text(found), float("inf"), seconds, False)
    size = np.where(expected == 0, 1.0, np.abs(expected))
    error = float((np.abs(found - expected) / size).max())
    return Outcome(text(expected), text(found), error, seconds, bool(error <= problem.tol))


def text(values: Any) -> str:
    """Return numbers as the page shows them."""
    shown = [f"{value:.12g}" for value in np.ravel(values)[:4]]
    return ", ".join(shown) + (", ..." if np.size(values) > 4 else "")
