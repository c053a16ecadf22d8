"""The kinds of problems, by name: how to check one, how long that may take, and which part of the time it gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from zwang._selftest import fuzz, mechanisms, planar_problems, spatial_problems, verbs
from zwang._selftest.complaint import Complaint

Check = Callable[[int, int], Complaint | None]


@dataclass(frozen=True)
class ProblemKind:
    """A kind of problems; `check(seed, index)` makes one, asks, and says what is wrong.

    Attributes
    ----------
    words : str
        What it is, and what it is held against.
    check : callable
    share : float
        Its part of the time, relative to the others.
    seconds : float
        After which a problem counts as hanging.
    """

    words: str
    check: Check
    share: float
    seconds: float


KINDS = {
    "planar": ProblemKind(
        "planar contact problems against brute force over the rationals", planar_problems.check, 3.0, 60.0
    ),
    "spatial": ProblemKind(
        "spatial contact problems: laws, residuals, other starts", spatial_problems.check, 1.5, 60.0
    ),
    "mechanism": ProblemKind(
        "mechanisms, every way of computing them against every other", mechanisms.check, 3.0, 240.0
    ),
    "verb": ProblemKind(
        "verbs about mechanisms: closed forms, other coordinates, differences", verbs.check, 2.0, 240.0
    ),
    "file": ProblemKind("model files that are damaged or hostile", fuzz.check_file, 1.0, 30.0),
    "expression": ProblemKind("expressions that are damaged or hostile", fuzz.check_expression, 0.5, 30.0),
    "number": ProblemKind("numbers and options that make no sense, given to the verbs", fuzz.check_number, 1.0, 60.0),
    "option": ProblemKind("command lines that make no sense", fuzz.check_option, 1.0, 60.0),
    "result": ProblemKind("result files that are damaged", fuzz.check_result, 0.5, 30.0),
}
HOSTILE = ("file", "expression", "number", "option", "result")
"""Those that are meant to do harm."""
