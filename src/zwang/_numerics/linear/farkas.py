"""Small dense linear programs that end with a proof: a point, or multipliers that exclude every point (Farkas).

The unknowns are x >= 0 with rows x = rhs or rows x >= rhs. Where there is none, some y (free on equations, >= 0 on
inequalities) has y rows <= 0 < y rhs. Floating point finds y; `refutes` checks it again with room for rounding, so the
simplex method itself need not be trusted.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.jit import njit

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

FEASIBLE, INFEASIBLE, STALLED = 0, 1, 2
"""How a program ended."""
QUICK = 60
"""Steps by the steepest column, before Bland's rule takes over against cycling."""
SMALL = 1e-11
"""Entries of the tableau that count as zero; rows and columns are of size 1."""


@njit
def tableau_of(rows: Matrix, rhs: Floats, equality: Flags) -> tuple[Matrix, Floats, Ints]:
    """Return the first tableau, the signs that its rows got, and its basis.

    Columns: unknowns, slacks, a unit column for each row (it records the inverse of the basis), the right side. The
    last row is the sum of the artificial variables, which is to vanish.
    """
    m, n = rows.shape
    slacks = 0
    for i in range(m):
        if not equality[i]:
            slacks += 1
    unit, width = n + slacks, n + slacks + m
    tableau = np.zeros((m + 1, width + 1))
    sign, basis = np.ones(m), np.full(m, -1)
    slack = n
    for i in range(m):
        if rhs[i] < 0.0 or (rhs[i] == 0.0 and not equality[i]):
            sign[i] = -1.0
        for j in range(n):
            tableau[i, j] = sign[i] * rows[i, j]
        tableau[i, width] = sign[i] * rhs[i]
        tableau[i, unit + i] = 1.0
        if not equality[i]:
            tableau[i, slack] = -sign[i]
            if sign[i] < 0.0:
                basis[i] = slack
            slack += 1
        if basis[i] < 0:
            for j in range(width + 1):
                tableau[m, j] -= tableau[i, j]
    return tableau, sign, basis


@njit
def pivot_on(tableau: Matrix, leave: int, enter: int) -> None:
    """Make a column a unit column."""
    width = tableau.shape[1]
    pivot = tableau[leave, enter]
    for j in range(width):
        tableau[leave, j] /= pivot
    for i in range(tableau.shape[0]):
        factor = tableau[i, enter]
        if i != leave and factor != 0.0:
            for j in range(width):
                tableau[i, j] -= factor * tableau[leave, j]


@njit
def leaving(tableau: Matrix, basis: Ints, enter: int) -> int:
    """Return the row that bounds a column first, -1 where none does."""
    leave, ratio = -1, np.inf
    last = tableau.shape[1] - 1
    for i in range(len(basis)):
        if tableau[i, enter] > SMALL:
            r = tableau[i, last] / tableau[i, enter]
            if r < ratio - 1e-13 or (r <= ratio + 1e-13 and leave >= 0 and basis[i] < basis[leave]):
                leave, ratio = i, r
    return leave


@njit
def descend(tableau: Matrix, basis: Ints, enough: float) -> int:
    """Lower the last row's value; return 0 where it is at most `enough`, 1 at its least, 2 where it has none."""
    m = len(basis)
    width = tableau.shape[1] - 1
    for step in range(QUICK + 10 * m):
        if -tableau[m, width] <= enough:
            return FEASIBLE
        enter, least = -1, -SMALL
        for j in range(width - m):
            if tableau[m, j] < least and (step <= QUICK or enter < 0):
                enter, least = j, tableau[m, j]
        if enter < 0:
            return INFEASIBLE
        leave = leaving(tableau, basis, enter)
        if leave < 0:
            break
        pivot_on(tableau, leave, enter)
        basis[leave] = enter
    return STALLED


@njit
def smallest_sum(rhs: Floats) -> float:
    """Return the sum of artificial variables that counts as zero."""
    scale = 1.0
    for i in range(len(rhs)):
        scale = max(scale, abs(rhs[i]))
    return 1e-12 * scale


@njit
def feasible_point(rows: Matrix, rhs: Floats, equality: Flags) -> tuple[int, Floats, Floats]:
    """Return how the search ended, a point x, and multipliers y: those of Farkas where there is no point."""
    m, n = rows.shape
    tableau, sign, basis = tableau_of(rows, rhs, equality)
    width = tableau.shape[1] - 1
    unit = width - m
    status = descend(tableau, basis, smallest_sum(rhs))
    x, y = np.zeros(n), np.zeros(m)
    for i in range(m):
        y[i] = -tableau[m, unit + i] * sign[i]
        if not equality[i]:
            y[i] = max(y[i], 0.0)
        if 0 <= basis[i] < n:
            x[basis[i]] = tableau[i, width]
    return status, x, y


@njit
def refutes(y: Floats, rows: Matrix, rhs: Floats, bound: Floats, blur: float) -> bool:
    """Whether y proves that no x with 0 <= x <= bound exists, where each entry is known up to `blur` only.

    A bound may be infinite: then y rows must be negative there beyond all rounding.
    """
    unsure, gap = 0.0, 0.0
    for i in range(len(y)):
        unsure += blur * abs(y[i])
        gap += y[i] * rhs[i]
    gap -= unsure
    for j in range(rows.shape[1]):
        value = unsure
        for i in range(len(y)):
            value += y[i] * rows[i, j]
        if value > 0.0:
            gap -= value * bound[j]
    return gap > 0.0


@njit
def inequalities(rows: Matrix, rhs: Floats, equality: Flags, width: float) -> tuple[Matrix, Floats]:
    """Return inequalities in place of equations, all of them wider: x >= 0 may miss an entry by `width`.

    Multipliers that refute the wide ones are strict for the given ones, and so need no bound of x.
    """
    m, n = rows.shape
    count = m
    for i in range(m):
        if equality[i]:
            count += 1
    wide, right = np.empty((count, n)), np.empty(count)
    at = 0
    for i in range(m):
        for j in range(n):
            wide[at, j] = rows[i, j] + width
        right[at] = rhs[i] - width
        at += 1
        if equality[i]:
            for j in range(n):
                wide[at, j] = width - rows[i, j]
            right[at] = -rhs[i] - width
            at += 1
    return wide, right


@njit
def excluded(rows: Matrix, rhs: Floats, equality: Flags, bound: Floats, blur: float) -> tuple[bool, Floats]:
    """Return whether it is proved that no x exists, and else a point (of the relaxed conditions) to go on from."""
    status, x, y = feasible_point(rows, rhs, equality)
    if status != INFEASIBLE:
        return False, x
    if refutes(y, rows, rhs, bound, blur):
        return True, x
    if np.all(np.isfinite(bound)):
        return False, x
    wide, right = inequalities(rows, rhs, equality, 1e3 * blur)
    status, _, y = feasible_point(wide, right, np.zeros(len(right), np.bool_))
    if status != INFEASIBLE:
        return False, x
    plain, right = inequalities(rows, rhs, equality, 0.0)
    return refutes(y, plain, right, bound, blur), x


@njit
def greatest(rows: Matrix, rhs: Floats, equality: Flags, cost: Floats) -> float:
    """Return the greatest value of cost x; infinite where there is none or it was not found."""
    m, n = rows.shape
    tableau, _, basis = tableau_of(rows, rhs, equality)
    width = tableau.shape[1] - 1
    if descend(tableau, basis, smallest_sum(rhs)) != FEASIBLE:
        return np.inf
    for i in range(m):  # artificial variables leave the basis, or stand in rows that say nothing
        if basis[i] < 0:
            for j in range(width - m):
                if abs(tableau[i, j]) > 1e-9:
                    pivot_on(tableau, i, j)
                    basis[i] = j
                    break
    for j in range(width + 1):
        tableau[m, j] = -cost[j] if j < n else 0.0
    for i in range(m):
        if 0 <= basis[i] < n and cost[basis[i]] != 0.0:
            factor = cost[basis[i]]
            for j in range(width + 1):
                tableau[m, j] += factor * tableau[i, j]
    if descend(tableau, basis, -np.inf) != INFEASIBLE:
        return np.inf
    return float(tableau[m, width])


@njit("boolean(float64[:, ::1], float64[::1])")
def separated(rows: Matrix, weights: Floats) -> bool:
    """Write weights with rows weights >= 1; return whether there are some."""
    m, n = rows.shape
    split = np.empty((m, 2 * n))
    for i in range(m):
        for j in range(n):
            split[i, j] = rows[i, j]
            split[i, n + j] = -rows[i, j]
    status, x, _ = feasible_point(split, np.ones(m), np.zeros(m, np.bool_))
    for j in range(n):
        weights[j] = x[j] - x[n + j]
    return status == FEASIBLE
