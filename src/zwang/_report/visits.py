"""A visit to a system of the gallery: compiled, evaluated, checked, asked for its reactions, held against its facts."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang._declare.constraints import Bilateral
from zwang._report.facts import Asked, FactCheck, compare
from zwang._results.evaluation import Evaluation, EvaluationStatus
from zwang.gallery.entry import Entry

RESIDUAL = 1e-9  # of the equations, relative
VIOLATION = 1e-9  # of constraints, relative
REPEATS = 5  # the least of so many times is told


@dataclass(frozen=True)
class Visit:
    """What was seen.

    Attributes
    ----------
    entry : Entry
    evaluation : Evaluation
    violation : float
        How far the entry's state misses its constraints.
    reactions : Reactions or None
        Where a constraint is one-sided or has friction; else the multipliers of the evaluation say it all.
    comparisons : tuple of FactCheck
    first_ms, again_ms : float
        Milliseconds of the first evaluation, with compiling or loading, and of the quickest of five after it.
    """

    entry: Entry
    evaluation: Evaluation
    violation: float
    reactions: Any
    comparisons: tuple[FactCheck, ...]
    first_ms: float
    again_ms: float

    @property
    def residual(self) -> float:
        """The largest residual of evaluation and reactions."""
        found = [float(np.max(self.evaluation.residual))]
        if self.reactions is not None and self.reactions.solutions:
            found.append(float(self.reactions.residual))
        return max(found)

    @property
    def compared(self) -> tuple[int, int]:
        """The number of facts that agree, and of those that were computed."""
        asked = [item.agrees for item in self.comparisons if item.agrees is not None]
        return sum(asked), len(asked)

    @property
    def sound(self) -> bool:
        """Whether state, residual and every computed fact are as they should be."""
        agreed, computed = self.compared
        consistent = self.evaluation.status is not EvaluationStatus.INCONSISTENT
        return consistent and self.violation <= VIOLATION and self.residual <= RESIDUAL and agreed == computed


def visit(entry: Entry) -> Visit:
    """Return what is seen of an entry.

    Examples
    --------
    >>> import zwang as zw
    >>> seen = visit(zw.gallery.get("kozlov_neishtadt"))
    >>> seen.compared, seen.sound, seen.reactions
    ((2, 2), True, None)
    """
    asked = Asked(entry)
    start = time.perf_counter()
    evaluation = asked.evaluation
    first = time.perf_counter() - start
    again = math.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        asked.model.evaluate(entry.state, entry.params)
        again = min(again, time.perf_counter() - start)
    one_sided = any(not isinstance(item, Bilateral) or item.slip for item in entry.system.constraints)
    return Visit(
        entry=entry,
        evaluation=evaluation,
        violation=asked.model.check(entry.state, entry.params, tol=sys.float_info.max),
        reactions=asked.reactions if one_sided else None,
        comparisons=compare(asked),
        first_ms=1e3 * first,
        again_ms=1e3 * again,
    )
