"""Dictionaries of linear inequalities over the integers: as `linear.dictionary`, with signs that are certain.

All entries share one positive denominator and are minors of the first dictionary, so that a pivot divides without
remainder (Edmonds, Bareiss). Rows of the first dictionary may be scaled by positive numbers: only signs count.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import Any

GONE = 1_000_000  # larger than any number of a variable


def integer_row(row: Sequence[Any]) -> list[int]:
    """Return a row of fractions as integers of the same proportions and signs."""
    ratios = [(int(value.p), int(value.q)) if hasattr(value, "q") else (int(value), 1) for value in row]
    common = lcm(*(below for _, below in ratios)) if ratios else 1
    return [above * (common // below) for above, below in ratios]


class Dictionary:
    """x_basic = (tab[., 0] + sum_j tab[., j] x_nonbasic[j - 1]) / denominator, in integers.

    Parameters
    ----------
    tab : rows of integers
        Constants first.
    basic, nonbasic : the numbers of the variables of rows and columns
    free : set of int
        Variables of any sign; all others are nonnegative.
    """

    __slots__ = ("basic", "denominator", "free", "gone", "nonbasic", "tab")

    def __init__(self, tab: list[list[int]], basic: list[int], nonbasic: list[int], free: set[int]) -> None:
        self.tab, self.basic, self.nonbasic, self.free = tab, basic, nonbasic, free
        self.gone: set[int] = set()
        self.denominator = 1

    def copy(self) -> Dictionary:
        """Return another dictionary with the same entries."""
        new = Dictionary([row[:] for row in self.tab], self.basic[:], self.nonbasic[:], set(self.free))
        new.gone, new.denominator = set(self.gone), self.denominator
        return new

    def sign(self, v: int) -> int:
        """Sign of a variable at the vertex."""
        value = self.tab[self.basic.index(v)][0] if v in self.basic else 0
        return (value > 0) - (value < 0)

    def turn(self, v: int) -> None:
        """Replace a variable by its negative."""
        if v in self.basic:
            r = self.basic.index(v)
            self.tab[r] = [-entry for entry in self.tab[r]]
        elif v in self.nonbasic:
            e = self.nonbasic.index(v) + 1
            for row in self.tab:
                row[e] = -row[e]

    def exchange(self, r: int, e: int) -> None:
        """Exchange the basic variable of row r with the nonbasic one of column e."""
        old, pivot_row = self.denominator, self.tab[r]
        pivot = pivot_row[e]
        for i, row in enumerate(self.tab):
            factor = row[e]
            if i != r:
                if factor:
                    new = [(entry * pivot - factor * other) // old for entry, other in zip(row, pivot_row, strict=True)]
                    new[e] = factor
                else:
                    new = [entry * pivot // old for entry in row]
                self.tab[i] = new
        changed = [-entry for entry in pivot_row]
        changed[e] = old
        self.tab[r] = changed
        self.denominator = pivot
        if pivot < 0:
            self.denominator = -pivot
            self.tab = [[-entry for entry in row] for row in self.tab]
        self.basic[r], self.nonbasic[e - 1] = self.nonbasic[e - 1], self.basic[r]

    def force_zero(self, v: int) -> bool:
        """Force a variable to zero; False if that is impossible."""
        if v in self.gone:
            return True
        if v in self.basic:
            r = self.basic.index(v)
            row = self.tab[r]
            e = next((j for j in range(1, len(row)) if row[j]), 0)
            if not e:
                if row[0]:
                    return False
                del self.tab[r], self.basic[r]
                self.gone.add(v)
                return True
            self.exchange(r, e)
        e = self.nonbasic.index(v) + 1
        for row in self.tab:
            del row[e]
        del self.nonbasic[e - 1]
        self.gone.add(v)
        return True

    def make_feasible(self) -> bool:
        """Pivot until every nonnegative variable is nonnegative; False if that is impossible (Bland's rule)."""
        while True:
            below = [i for i, v in enumerate(self.basic) if v not in self.free and self.tab[i][0] < 0]
            if not below:
                return True
            r = min(below, key=self.basic.__getitem__)
            e = self._entering(self.tab[r])
            if not e:
                return False
            self.exchange(r, e)

    def _entering(self, row: list[int]) -> int:
        """The column that lets a row grow: a free variable if there is one, else the first by number; 0 if none."""
        best, chosen = GONE, 0
        for j, v in enumerate(self.nonbasic, start=1):
            if v in self.free:
                if row[j]:
                    return j
            elif row[j] > 0 and v < best:
                best, chosen = v, j
        return chosen

    def can_grow(self, v: int) -> bool:
        """Whether a variable of a feasible dictionary can be positive; pivots on the way."""
        if v in self.gone:
            return False
        if v in self.nonbasic:
            e = self.nonbasic.index(v) + 1
            r = self._stopping(e, 1, -1)
            if r < 0:
                return True
            self.exchange(r, e)
        while True:
            row = self.basic.index(v)
            if self.tab[row][0] > 0:
                return True
            e = self._entering(self.tab[row])
            if not e:
                return False
            r = self._stopping(e, 1 if self.tab[row][e] > 0 else -1, row)
            if r < 0:
                return True
            self.exchange(r, e)

    def _stopping(self, e: int, direction: int, skip: int) -> int:
        """The row that first stops column e moving in a direction (by number, of equal ones), -1 if none does."""
        chosen, best = -1, (0, 1)
        for i, v in enumerate(self.basic):
            rate = direction * self.tab[i][e]
            if i == skip or v in self.free or rate >= 0:
                continue
            value = self.tab[i][0]
            difference = value * best[1] - best[0] * -rate
            if chosen < 0 or difference < 0 or (difference == 0 and v < self.basic[chosen]):
                chosen, best = i, (value, -rate)
        return chosen
