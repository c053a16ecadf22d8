"""Dictionaries of linear inequalities in compiled code: pivots, forced zeros, feasibility, reach.

A dictionary writes its basic variables as affine functions of the nonbasic ones,

    x_basic[i] = tab[i, 0] + sum_j tab[i, j] x_nonbasic[j - 1],    i < rows, 1 <= j <= cols,

with every variable either nonnegative or free. At the *vertex* the nonbasic variables are zero. Variables forced to
zero leave the dictionary, so it shrinks on the way down a search. `basic`, `nonbasic` hold the numbers of variables
and `place[v]` their place: a row i >= 0, minus a column (-j, counted from 1), or `GONE`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.jit import njit

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NONNEGATIVE = 0  # kind of a variable: never below zero
FREE = 1  # kind of a variable: of any sign
GONE = 1_000_000  # larger than any row
PATIENCE = 60
"""Pivots by size before Bland's rule, which can't cycle, takes over."""
LIMIT = 2_000  # pivots; Bland's rule ends long before, unless rounding keeps it going
MARGIN = 4
"""Place in `note` of the least margin: how far the decisions so far were from being others, in the scaled problem."""
GROWTH = 5
"""Place in `note` of what small pivots on the way may have made of one unit of rounding."""
SMALL_PIVOT = 0.05
"""A pivot below this part of its row, or of 1, counts for the growth; others keep rounding at bay."""
MOST_GROWTH = 1e10
"""Growth beyond which nothing that follows counts as certain."""
ROUNDING = 1e-13
"""Error of an entry for each unit of growth, that of computed rows included: what is below it may be zero, whatever the
tolerance. Modes that are found with its help are looked at again."""
NOTES = 6
"""Length of `note`."""

TABLE, INTS = "float64[:, ::1]", "int64[::1]"


@njit(_nrt=False)
def pivot(tab: Array, rows: int, cols: int, r: int, e: int) -> None:
    """Exchange the basic variable of row r with the nonbasic one of column e."""
    inverse = 1.0 / tab[r, e]
    for j in range(cols + 1):
        tab[r, j] *= -inverse
    tab[r, e] = inverse
    for i in range(rows):
        factor = tab[i, e]
        if i != r and factor != 0.0:
            tab[i, e] = 0.0
            for j in range(cols + 1):
                tab[i, j] += factor * tab[r, j]


@njit(_nrt=False)
def exchange(tab: Array, rows: int, cols: int, r: int, e: int, basic: Ints, nonbasic: Ints, place: Ints) -> None:
    """Pivot, and keep the books."""
    pivot(tab, rows, cols, r, e)
    leaving = basic[r]
    entering = nonbasic[e - 1]
    basic[r] = entering
    nonbasic[e - 1] = leaving
    place[entering] = r
    place[leaving] = -e


@njit(_nrt=False)
def count_growth(tab: Array, cols: int, r: int, e: int, note: Array) -> None:
    """Count what a pivot is about to do to rounding."""
    largest = 1.0
    for j in range(1, cols + 1):
        largest = max(largest, abs(tab[r, j]))
    size = abs(tab[r, e])
    if size < SMALL_PIVOT * largest:
        note[GROWTH] *= largest / size


@njit(_nrt=False)
def drop_column(tab: Array, rows: int, cols: int, e: int, nonbasic: Ints, place: Ints) -> int:
    """Remove a nonbasic variable (it is zero) and return the new number of columns."""
    place[nonbasic[e - 1]] = GONE
    if e != cols:
        for i in range(rows):
            tab[i, e] = tab[i, cols]
        nonbasic[e - 1] = nonbasic[cols - 1]
        place[nonbasic[e - 1]] = -e
    return cols - 1


@njit(_nrt=False)
def drop_row(tab: Array, rows: int, cols: int, r: int, basic: Ints, place: Ints) -> int:
    """Remove a basic variable and return the new number of rows."""
    place[basic[r]] = GONE
    if r != rows - 1:
        for j in range(cols + 1):
            tab[r, j] = tab[rows - 1, j]
        basic[r] = basic[rows - 1]
        place[basic[r]] = r
    return rows - 1


@njit(f"int64({TABLE}, {INTS}, int64, {INTS}, {INTS}, {INTS}, float64, float64[::1])", separate=True, _nrt=False)
def force_zero(
    tab: Array, shape: Ints, v: int, basic: Ints, nonbasic: Ints, place: Ints, tol: float, note: Array
) -> int:
    """Force variable v to zero, changing shape = [rows, cols]; return 1, or 0 if that is impossible.

    ``note`` = [value where impossible, smallest pivot that was taken for a nonzero one, ., ., least margin, growth].
    """
    rows, cols = shape
    if place[v] == GONE:
        return 1
    if place[v] >= 0:
        r = place[v]
        e = 0
        largest = 0.0
        for j in range(1, cols + 1):
            size = abs(tab[r, j])
            if size > largest:
                largest = size
                e = j
        blur = ROUNDING * note[GROWTH]
        if largest <= 0.01 * tol + blur:
            note[0] = tab[r, 0]
            note[MARGIN] = min(note[MARGIN], abs(tab[r, 0]) if cols == 0 else 0.0)
            if abs(tab[r, 0]) > tol + blur:
                return 0
            shape[0] = drop_row(tab, rows, cols, r, basic, place)
            return 1
        note[1] = min(note[1], largest)
        count_growth(tab, cols, r, e, note)
        exchange(tab, rows, cols, r, e, basic, nonbasic, place)
    shape[1] = drop_column(tab, rows, cols, -place[v], nonbasic, place)
    return 1


@njit(f"int64({TABLE}, int64, int64, {INTS}, {INTS}, {INTS}, {INTS}, float64, float64[::1])", separate=True, _nrt=False)
def make_feasible(
    tab: Array, rows: int, cols: int, basic: Ints, nonbasic: Ints, place: Ints, kind: Ints, tol: float, note: Array
) -> int:
    """Pivot until every nonnegative basic variable is above -tol, and above minus what rounding has grown to.

    Returns -1; or, if that is impossible, the row whose variable stays below note[0] < 0 whatever the others are, with
    the largest of its coefficients (all as good as <= 0) in note[2]; or -2 if the limit of pivots is reached. note[3]
    is the number of pivots, note[4] the least margin.
    """
    count = 0
    while count < LIMIT:
        note[3] = count
        bland = count > PATIENCE
        r = -1
        worst = -tol - ROUNDING * note[GROWTH]
        for i in range(rows):
            if kind[basic[i]] == NONNEGATIVE and tab[i, 0] < worst:
                if not bland:
                    worst = tab[i, 0]
                    r = i
                elif r < 0 or basic[i] < basic[r]:
                    r = i
        if r < 0:
            return -1
        e = 0
        best = 0.01 * tol
        for j in range(1, cols + 1):
            gain = tab[r, j]
            if kind[nonbasic[j - 1]] == FREE:
                gain = 1e3 * abs(gain)  # a free variable, once basic, never has to leave
            if bland:
                if gain > 0.01 * tol and (e == 0 or nonbasic[j - 1] < nonbasic[e - 1]):
                    e = j
            elif gain > best:
                best = gain
                e = j
        if e == 0:
            note[0] = tab[r, 0]
            note[2] = 0.0
            note[MARGIN] = min(note[MARGIN], -tab[r, 0])
            for j in range(1, cols + 1):
                note[2] = max(note[2], tab[r, j])
                note[MARGIN] = min(note[MARGIN], 0.0 if kind[nonbasic[j - 1]] == FREE else -tab[r, j])
            return r
        count_growth(tab, cols, r, e, note)
        exchange(tab, rows, cols, r, e, basic, nonbasic, place)
        count += 1
    return -2


@njit(_nrt=False)
def ratio_test(
    tab: Array, rows: int, e: int, direction: float, skip: int, basic: Ints, kind: Ints, tol: float, bland: bool
) -> int:
    """Return the row that first stops column e moving in a direction, -1 if none does."""
    r = -1
    least = np.inf
    for i in range(rows):
        rate = direction * tab[i, e]
        if i == skip or kind[basic[i]] != NONNEGATIVE or rate >= -0.01 * tol:
            continue
        ratio = max(tab[i, 0], 0.0) / -rate
        if ratio < least * (1.0 - 1e-12):
            least = ratio
            r = i
        elif ratio <= least and ((basic[i] < basic[r]) if bland else (abs(tab[i, e]) > abs(tab[r, e]))):
            r = i
    return r


@njit(
    f"float64({TABLE}, int64, int64, int64, float64, {INTS}, {INTS}, {INTS}, {INTS}, float64, float64[::1])",
    separate=True,
    _nrt=False,
)
def reaches(
    tab: Array,
    rows: int,
    cols: int,
    v: int,
    target: float,
    basic: Ints,
    nonbasic: Ints,
    place: Ints,
    kind: Ints,
    tol: float,
    note: Array,
) -> float:
    """Move a feasible dictionary so that v grows; stop above `target`, and return the value reached (inf: no end)."""
    if place[v] == GONE:
        return 0.0
    for count in range(LIMIT):
        bland = count > PATIENCE
        if place[v] < 0:
            e = -place[v]
            r = ratio_test(tab, rows, e, 1.0, -1, basic, kind, tol, bland)
            if r < 0:
                return np.inf
            count_growth(tab, cols, r, e, note)
            exchange(tab, rows, cols, r, e, basic, nonbasic, place)
        row = place[v]
        if tab[row, 0] > target:
            return float(tab[row, 0])
        e = 0
        best = 0.01 * tol
        for j in range(1, cols + 1):
            gain = abs(tab[row, j]) if kind[nonbasic[j - 1]] == FREE else tab[row, j]
            if bland:
                if gain > 0.01 * tol and (e == 0 or nonbasic[j - 1] < nonbasic[e - 1]):
                    e = j
            elif gain > best:
                best = gain
                e = j
        if e == 0:
            return float(tab[row, 0])
        r = ratio_test(tab, rows, e, 1.0 if tab[row, e] > 0 else -1.0, row, basic, kind, tol, bland)
        if r < 0:
            return np.inf
        count_growth(tab, cols, r, e, note)
        exchange(tab, rows, cols, r, e, basic, nonbasic, place)
    return float(tab[place[v], 0]) if place[v] >= 0 else 0.0
