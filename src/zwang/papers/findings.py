"""What a computation found about a claim: comparisons, and the verdict that follows from them.

A claim is tested by comparisons of four sides. *Printed* ones hold what was computed against what the paper says,
*corrected* ones against the statement that should stand there, *added* ones against a statement of ours on which the
paper is silent, and *sound* ones are what must be true whatever the verdict is: a residual, a closed form, a search
that was complete. The verdict is a function of these, and never given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

__all__ = ["Comparison", "Finding", "Picture", "Verdict", "as_added", "as_corrected", "as_printed", "flipped", "sound"]

DEFAULT_TOLERANCE = 1e-9
"""Relative difference up to which computed and expected numbers agree, where a claim doesn't say otherwise."""


class Verdict(Enum):
    """What became of a claim."""

    CONFIRMED = "confirmed"
    CORRECTED = "corrected"
    REFUTED = "refuted"
    ADDED = "added"
    NOT_CHECKABLE = "not checkable"


@dataclass(frozen=True)
class Comparison:
    """One computed value beside what it should be.

    Attributes
    ----------
    side : {'printed', 'corrected', 'added', 'sound'}
    what : str
        What is compared, in a few words.
    computed, expected : number, array, truth value or text
    error : float
        The largest difference, relative to the largest expected number (to 1 if that is 0); 0 or 1 for truth values.
    tolerance : float
    """

    side: str
    what: str
    computed: Any
    expected: Any
    error: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the two agree."""
        return bool(self.error <= self.tolerance)


def as_printed(what: str, computed: Any, expected: Any = True, *, tol: float = DEFAULT_TOLERANCE) -> Comparison:
    """Compare a computed value with what the paper says.

    Examples
    --------
    >>> as_printed("third force", -2.0, 0.0).holds, as_printed("one solution", True).holds
    (False, True)
    """
    return _compare("printed", what, computed, expected, tol)


def as_corrected(what: str, computed: Any, expected: Any = True, *, tol: float = DEFAULT_TOLERANCE) -> Comparison:
    """Compare a computed value with what the paper should say.

    Examples
    --------
    >>> as_corrected("third force", -2.0, -2.0).holds
    True
    """
    return _compare("corrected", what, computed, expected, tol)


def as_added(what: str, computed: Any, expected: Any = True, *, tol: float = DEFAULT_TOLERANCE) -> Comparison:
    """Compare a computed value with a statement of ours, on which the paper is silent.

    Examples
    --------
    >>> Finding(computed="", comparisons=(as_added("order", -1.0, -1.0),)).verdict.value
    'added'
    """
    return _compare("added", what, computed, expected, tol)


def sound(what: str, computed: Any, expected: Any = True, *, tol: float = DEFAULT_TOLERANCE) -> Comparison:
    """Compare what must agree for the computation to mean anything.

    Examples
    --------
    >>> sound("the search was complete", False).holds
    False
    """
    return _compare("sound", what, computed, expected, tol)


def _compare(side: str, what: str, computed: Any, expected: Any, tol: float) -> Comparison:
    return Comparison(side, what, computed, expected, _error(computed, expected), tol)


def flipped(item: Comparison) -> Comparison:
    """Return a comparison with the opposite of what is expected: not so, the other sign, one where it was nothing.

    What holds for a statement and for its opposite says nothing; tests flip every comparison that a verdict rests on.

    Examples
    --------
    >>> flipped(as_printed("force", 2.0, 2.0)).holds, flipped(as_printed("of no cases", [], [])).holds
    (False, True)
    """
    expected = item.expected
    if isinstance(expected, (bool, np.bool_)):
        other: Any = not expected
    elif isinstance(expected, str) or expected is None:
        other = f"not {expected}"
    else:
        values = np.asarray(expected, dtype=float)
        other = np.where(values == 0, 1.0, -values)
    return _compare(item.side, item.what, item.computed, other, item.tolerance)


def _error(computed: Any, expected: Any) -> float:
    if isinstance(expected, (bool, str, np.bool_)) or expected is None:
        return float(computed != expected)
    got, wanted = np.asarray(computed, dtype=float), np.asarray(expected, dtype=float)
    if got.shape != wanted.shape or not np.isfinite(got).all():
        return float("inf")
    size = float(np.abs(wanted).max(initial=0.0)) or 1.0
    return float(np.abs(got - wanted).max(initial=0.0)) / size


@dataclass(frozen=True)
class Picture:
    """A figure of a finding, made only where it is shown.

    Attributes
    ----------
    name : str
        Short, for ids.
    caption : str
        What it shows, in a sentence or two.
    make : callable
        Returns a matplotlib Figure (of `zwang.pictures.new_figure`), or markup of HTML, such as a player's.
    tight : bool
        Whether what is empty around a drawing is cut away.
    """

    name: str
    caption: str
    make: Callable[[], Any]
    tight: bool = False


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was computed, and what follows.

    Attributes
    ----------
    computed : str
        In a sentence, with the numbers.
    comparisons : tuple of Comparison
    corrected : str
        The statement that should stand in the paper; needed where the verdict may be 'corrected'.
    counterexample : str
        Where the statement fails, with numbers.
    reason : str
        Why nothing can be checked; given instead of comparisons.
    residual : float or None
        The largest residual of the results behind it; left out, the largest error of the comparisons that hold.
    data : mapping
        Numbers behind the sentence, of plain types and arrays.
    pictures : tuple of Picture

    Examples
    --------
    >>> third = -2.0
    >>> finding = Finding(
    ...     computed=f"T3 = {third:g}",
    ...     comparisons=(as_printed("T3", third, 0.0), as_corrected("T3", third, -2.0)),
    ...     corrected="T3 = -2",
    ... )
    >>> finding.verdict.value
    'corrected'
    """

    computed: str
    comparisons: tuple[Comparison, ...] = ()
    corrected: str = ""
    counterexample: str = ""
    reason: str = ""
    residual: float | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    pictures: tuple[Picture, ...] = ()

    def side(self, name: str) -> tuple[Comparison, ...]:
        """Return the comparisons of one side."""
        return tuple(item for item in self.comparisons if item.side == name)

    @property
    def verdict(self) -> Verdict:
        """What follows from the comparisons."""
        printed, corrected, added = self.side("printed"), self.side("corrected"), self.side("added")
        if not (printed or added) or not all(item.holds for item in self.side("sound")):
            return Verdict.NOT_CHECKABLE
        if not printed:
            return Verdict.ADDED if all(item.holds for item in added) else Verdict.REFUTED
        if all(item.holds for item in (*printed, *added)):
            return Verdict.CONFIRMED
        if self.corrected and corrected and all(item.holds for item in (*corrected, *added)):
            return Verdict.CORRECTED
        return Verdict.REFUTED

    @property
    def remark(self) -> str:
        """The corrected statement, the counterexample or the reason: what goes with the verdict."""
        verdict = self.verdict
        if verdict is Verdict.CORRECTED:
            return self.corrected
        if verdict is Verdict.NOT_CHECKABLE:
            return self.reason or "; ".join(_failure(item) for item in self.comparisons if not item.holds)
        if verdict is Verdict.REFUTED:
            return self.counterexample or "; ".join(_failure(item) for item in self.comparisons if not item.holds)
        return ""

    @property
    def largest_residual(self) -> float:
        """The residual, or the largest error of the comparisons that hold."""
        if self.residual is not None:
            return float(self.residual)
        return max((item.error for item in self.comparisons if item.holds), default=0.0)


def _failure(item: Comparison) -> str:
    if isinstance(item.expected, (bool, np.bool_)):
        return f"{item.what}: it is not so"
    return f"{item.what}: computed {item.computed}, expected {item.expected}"
