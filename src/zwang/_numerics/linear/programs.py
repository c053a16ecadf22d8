"""Small linear programs: how deep a point can lie in a polyhedron.

Up to `SMALL` rows they are solved by the same compiled dictionaries as the search (a few tens of microseconds);
larger ones go to HiGHS.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.jit import njit
from zwang._numerics.linear.dictionary import (
    FREE,
    GONE,
    GROWTH,
    MARGIN,
    MOST_GROWTH,
    NONNEGATIVE,
    NOTES,
    force_zero,
    make_feasible,
    reaches,
)

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SMALL = 400  # rows up to which a dictionary is faster than starting HiGHS
TOL = 1e-9  # relative to rows scaled to one


@njit(_nrt=False)
def _begin(rows: int, cols: int, basic: Ints, nonbasic: Ints, place: Ints, kind: Ints) -> None:
    """Set the books of a dictionary whose columns are free variables and whose rows are nonnegative ones."""
    for v in range(cols):
        nonbasic[v], place[v], kind[v] = v, -(v + 1), FREE
    for i in range(rows):
        basic[i], place[cols + i], kind[cols + i] = cols + i, i, NONNEGATIVE


@njit("int64(float64[:, ::1], int64, float64[::1], float64)")
def deepest_steps(tab: Array, equations: int, point: Array, tol: float) -> int:
    """Maximize the last column's variable; return 0 and the point, 1 if there is none.

    Rows: equations (their variables vanish), then nonnegative ones. Columns: constant, then free variables.
    """
    rows, cols = tab.shape[0], tab.shape[1] - 1
    total = rows + cols
    basic, nonbasic = np.empty(rows, np.int64), np.empty(cols, np.int64)
    place, kind = np.empty(total, np.int64), np.empty(total, np.int64)
    _begin(rows, cols, basic, nonbasic, place, kind)
    note, shape = np.zeros(NOTES), np.empty(2, np.int64)
    note[GROWTH] = 1.0
    shape[0], shape[1] = rows, cols
    for i in range(equations):
        if not force_zero(tab, shape, total - tab.shape[0] + i, basic, nonbasic, place, tol, note):
            return 1
    rows, cols = int(shape[0]), int(shape[1])
    r = make_feasible(tab, rows, cols, basic, nonbasic, place, kind, 1e-3 * tol, note)
    if r >= 0:
        return 1
    depth = len(point) - 1
    if place[depth] == GONE:
        return 1
    reaches(tab, rows, cols, depth, np.inf, basic, nonbasic, place, kind, tol, note)
    for v in range(len(point)):
        point[v] = tab[place[v], 0] if 0 <= place[v] < GONE else 0.0
    return 0


@njit("boolean(float64[:, ::1], int64, float64, float64, float64)")
def clearly_empty_steps(tab: Array, equations: int, tol: float, margin: float, growth: float) -> bool:
    """Whether no point satisfies rows as in `deepest_steps`, by more than `margin` at every decision."""
    rows, cols = tab.shape[0], tab.shape[1] - 1
    total = rows + cols
    basic, nonbasic = np.empty(rows, np.int64), np.empty(cols, np.int64)
    place, kind = np.empty(total, np.int64), np.empty(total, np.int64)
    _begin(rows, cols, basic, nonbasic, place, kind)
    note, shape = np.ones(NOTES), np.array([rows, cols])
    for i in range(equations):
        if not force_zero(tab, shape, total - tab.shape[0] + i, basic, nonbasic, place, tol, note):
            return bool(note[MARGIN] > margin and note[GROWTH] < growth)
    r = make_feasible(tab, shape[0], shape[1], basic, nonbasic, place, kind, tol, note)
    return bool(r >= 0 and note[MARGIN] > margin and note[GROWTH] < growth)


def clearly_empty(equations: Array, inequalities: Array, margin: float) -> bool:
    """Whether conditions (as of `deepest`) contradict each other beyond the reach of rounding."""
    rows = np.concatenate([equations, inequalities])
    tab = np.ascontiguousarray(np.column_stack([rows[:, -1], rows[:, :-1]]))
    return bool(clearly_empty_steps(tab, len(equations), TOL, margin, MOST_GROWTH))


def deepest(equations: Array, inequalities: Array, weight: Array | None = None) -> tuple[Array, float] | None:
    """Return the point where the inequalities hold with most to spare (at most 1), and how much; None if there is none.

    Parameters
    ----------
    equations, inequalities : (., m + 1) arrays
        Rows of coefficients, the constant last.
    weight : array, optional
        1 for inequalities that must have the spare room, 0 for those that need only hold; all 1 if left out.
    """
    m = equations.shape[1] - 1
    weight = np.ones(len(inequalities)) if weight is None else weight
    if len(equations) + len(inequalities) + m > SMALL:
        return _by_highs(equations, inequalities, weight)
    rows = np.zeros((len(equations) + len(inequalities) + 1, m + 2))
    rows[: len(equations), 0] = equations[:, -1]
    rows[: len(equations), 1:-1] = equations[:, :-1]
    rows[len(equations) : -1, 0] = inequalities[:, -1]
    rows[len(equations) : -1, 1:-1] = inequalities[:, :-1]
    rows[len(equations) : -1, -1] = -weight
    rows[-1, 0], rows[-1, -1] = 1.0, -1.0
    point = np.zeros(m + 1)
    if deepest_steps(rows, len(equations), point, TOL):
        return None
    return point[:-1], float(point[-1])


def _by_highs(equations: Array, inequalities: Array, weight: Array) -> tuple[Array, float] | None:
    from scipy.optimize import linprog

    m = equations.shape[1] - 1
    result = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.column_stack([-inequalities[:, :-1], weight]) if len(inequalities) else None,
        b_ub=inequalities[:, -1] if len(inequalities) else None,
        A_eq=np.column_stack([equations[:, :-1], np.zeros(len(equations))]) if len(equations) else None,
        b_eq=-equations[:, -1] if len(equations) else None,
        bounds=[(None, None)] * m + [(None, 1.0)],
        method="highs",
    )
    return (result.x[:-1], float(result.x[-1])) if result.status == 0 else None
