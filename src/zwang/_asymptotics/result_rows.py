"""The rows of the result: what was predicted and measured on one way into the point."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from zwang._asymptotics.approaches import WITHOUT, Case, WayIn
from zwang._asymptotics.measure import Measurement, Power
from zwang._asymptotics.predict import Powers
from zwang._asymptotics.thresholds import Crossover
from zwang._results.asymptotics import Growth


class RowMaker:
    """Rows of one approach from what was predicted and measured."""

    def __init__(
        self,
        way: WayIn,
        branch: int,
        perturbed: bool,
        predicted: Powers,
        generic: Powers,
        measured: Measurement | None,
        persists: Mapping[Case, bool],
        crossover: Crossover | None,
        velocity: Mapping[str, float],
    ) -> None:
        self.way, self.branch, self.perturbed = way, branch, perturbed
        self.predicted, self.generic, self.measured, self.persists = predicted, generic, measured, persists
        self.threshold = float("nan") if crossover is None else abs(float(crossover.eps))
        self.velocity = velocity

    def rows(self) -> list[Growth]:
        keys = list(self.measured.powers) if self.measured is not None else list(self.predicted)
        found = []
        done: set[Any] = set()
        for case, name in keys:
            if (case, name) in done:
                continue
            other = Case(-case.direction, case.friction, case.side)
            both = (other, name) in keys and self._alike((case, name), (other, name))
            done |= {(case, name), (other, name)} if both else {(case, name)}
            found.append(self._row(case, name, both))
        return found

    def _alike(self, a: Any, b: Any) -> bool:
        powers: Mapping[Any, Power] = self.measured.powers if self.measured is not None else self.predicted
        first, second = powers[a], powers[b]
        if first.exponent is None or second.exponent is None:
            return first.exponent is second.exponent
        near = abs(first.coefficient - second.coefficient) <= 1e-9 * abs(first.coefficient)
        same = self._consistent(a[0]) == self._consistent(b[0])
        return bool(near and same and abs(float(first.exponent) - float(second.exponent)) < 1e-6)

    def _consistent(self, case: Case) -> bool:
        return True if self.measured is None else self.measured.consistent[case]

    def _row(self, case: Case, name: str, both: bool) -> Growth:
        key = (case, name)
        predicted, generic = self.predicted.get(key), self.generic.get(key)
        measured = None if self.measured is None else self.measured.powers[key]
        x: list[float] = []
        values: list[float] = []
        if self.measured is not None:
            outer = [(size, item[key]) for size, item in self.measured.outer if key in item]
            x = [float(size) for size, _ in outer] + [float(item) for item in self.measured.x]
            values = [float(item) for _, item in outer] + [float(item[key]) for item in self.measured.samples]
        return Growth(
            approach=self.way.label,
            sign=self.way.sign,
            branch=self.branch,
            quantity=name,
            exponent=_exponent(measured),
            predicted=_exponent(predicted),
            generic=_exponent(generic),
            coefficient=float("nan") if measured is None else float(measured.coefficient),
            predicted_coefficient=float("nan") if predicted is None else float(predicted.coefficient),
            error=float("nan") if measured is None else float(measured.error),
            friction=case.friction,
            direction="both" if both else ("+" if case.direction > 0 else "-"),
            side=case.side,
            consistent=self._consistent(case),
            solutions=self._solutions(case),
            persists=self.persists.get(case) if self.perturbed else None,
            threshold=self.threshold,
            velocity=self.velocity,
            x=np.array(x),
            values=np.array(values),
        )

    def _solutions(self, case: Case) -> dict[str, int]:
        if self.measured is None or case.friction == WITHOUT:
            return {"+": 1, "-": 1} if case.friction == WITHOUT else {}
        return {
            "+" if way > 0 else "-": count
            for (way, side), count in sorted(self.measured.solutions.items(), reverse=True)
            if side == case.side
        }


def _exponent(power: Power | None) -> float:
    if power is None:
        return float("nan")
    return math.inf if power.exponent is None else float(power.exponent)
