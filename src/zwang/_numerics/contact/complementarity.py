"""One solution by Lemke's pivoting, for planar problems too large to enumerate.

A contact at rest has the four complementary pairs of Stewart and Trinkle, with T = f - g:

    N >= 0, a_n >= 0;    f >= 0, a_t + s >= 0;    g >= 0, -a_t + s >= 0;    s >= 0, mu N - f - g >= 0.

With zero bias the matrix is copositive and Lemke's method ends at a solution; in general it may end on a ray, which
says nothing. Frictionless bilateral constraints are eliminated first; bilateral ones with friction have no such form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.jit import njit

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@njit
def leaving_row(tab: Array, entering: int, size: int) -> int:
    """Return the row of the lexicographically least ratio, -1 if no row bounds the entering variable."""
    best = -1
    for i in range(size):
        if tab[i, entering] <= 1e-10:
            continue
        if best < 0:
            best = i
            continue
        order = 0.0
        # The constant first, then the columns of the initial basis: no two rows tie in all of them.
        for c in range(size + 1):
            column = 2 * size + 1 if c == 0 else c - 1
            order = tab[i, column] / tab[i, entering] - tab[best, column] / tab[best, entering]
            if abs(order) > 1e-12:
                break
        if order < 0.0:
            best = i
    return best


@njit
def eliminate(tab: Array, row: int, column: int) -> None:
    """Gauss-Jordan step."""
    inverse = 1.0 / tab[row, column]
    for j in range(tab.shape[1]):
        tab[row, j] *= inverse
    for i in range(tab.shape[0]):
        factor = tab[i, column]
        if i != row and factor != 0.0:
            for j in range(tab.shape[1]):
                tab[i, j] -= factor * tab[row, j]


@njit("int64(float64[:, ::1], int64[::1], int64[::1], int64)")
def lemke_steps(tab: Array, basis: Ints, state: Ints, steps: int) -> int:
    """Take up to `steps` pivots; return 1 at a solution, 2 on a ray, 0 if there is more to do.

    Columns of ``tab``: w (size), z (size), the artificial z0, the constant. ``state`` = [entering column].
    """
    size = tab.shape[0]
    for _ in range(steps):
        row = leaving_row(tab, state[0], size)
        if row < 0:
            return 2
        # z0 leaves as soon as it can: among equal ratios it goes first
        for i in range(size):
            if basis[i] == 2 * size and tab[i, state[0]] > 1e-10:
                gap = tab[i, 2 * size + 1] / tab[i, state[0]] - tab[row, 2 * size + 1] / tab[row, state[0]]
                if gap <= 1e-12:
                    row = i
        left = basis[row]
        eliminate(tab, row, state[0])
        basis[row] = state[0]
        if left == 2 * size:
            return 1
        state[0] = left + size if left < size else left - size
    return 0


def lemke(matrix: Array, constant: Array, *, most: int | None = None) -> Array | None:
    """Return z >= 0 with matrix @ z + constant >= 0 and z . (matrix @ z + constant) = 0, None if the method fails.

    Examples
    --------
    >>> lemke(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0]))
    array([1.33333333, 2.33333333])
    """
    size = len(constant)
    if not size or constant.min() >= 0:
        return np.zeros(size)
    tab = np.column_stack([np.eye(size), -matrix, -np.ones(size), constant])
    basis = np.arange(size, dtype=np.int64)
    row = int(np.argmin(constant))
    tab[row] *= -1.0  # z0 enters in the row of the most negative constant
    others = np.arange(size) != row
    tab[others] += tab[row]
    basis[row] = 2 * size
    state = np.array([size + row], dtype=np.int64)
    most = 50 * size if most is None else most
    outcome, done = 0, 0
    chunk = max(1, int(2e7 / (2 * size * size)))
    while outcome == 0 and done < most:
        outcome = lemke_steps(tab, basis, state, min(chunk, most - done))
        done += chunk
    if outcome != 1:
        return None
    z = np.zeros(2 * size + 1)
    z[basis] = tab[:, -1]
    return z[size : 2 * size]


@dataclass(frozen=True, eq=False)
class Complementarity:
    """A linear complementarity problem, and how its solution gives the scaled forces: z = shift + spread @ x."""

    matrix: Array
    constant: Array
    shift: Array
    spread: Array


def complementarity(problem: Reduced) -> Complementarity | None:
    """Return the problem in standard form, None where there is none (bilateral friction, other sections)."""
    if {Law.BILATERAL_REST, Law.BILATERAL_SLIDING} & set(problem.laws) or problem.special:
        return None
    two_sided = np.array([problem.normal[c] for c, law in enumerate(problem.laws) if law is Law.BILATERAL], dtype=int)
    gram, free, back = _eliminated(problem, two_sided)
    columns, rows, constants, skew = _pairs(problem, gram.shape[0])
    columns_array = np.array(columns).reshape(-1, problem.size).T
    rows_array = np.array(rows).reshape(-1, problem.size)
    offset = np.array([table.offset for table in problem.tables])
    start = np.zeros(problem.size)
    start[problem.tangent[problem.tangent >= 0]] = offset[problem.tangent >= 0]
    matrix = rows_array @ gram @ columns_array
    constant = rows_array @ (free + gram @ start) + np.array(constants)
    for i, j, value in skew:
        matrix[i, j] += value
    shift = start + back @ (problem.free + problem.gram @ start)
    return Complementarity(matrix, constant, shift, columns_array + back @ problem.gram @ columns_array)


def _eliminated(problem: Reduced, two_sided: Ints) -> tuple[Array, Array, Array]:
    """Gram matrix and free accelerations under the two-sided constraints; their forces are back @ (accelerations)."""
    back = np.zeros((problem.size, problem.size))
    if not len(two_sided):
        return problem.gram, problem.free, back
    inverse = np.linalg.pinv(problem.gram[np.ix_(two_sided, two_sided)], hermitian=True)
    across = problem.gram[:, two_sided] @ inverse
    gram = problem.gram - across @ problem.gram[two_sided]
    free = problem.free - across @ problem.free[two_sided]
    # forces of the constraints answer the accelerations that would be there without them
    selector = np.zeros((problem.size, problem.size))
    selector[np.ix_(two_sided, two_sided)] = -inverse
    return gram, free, selector


def _pairs(problem: Reduced, size: int) -> tuple[list[Array], list[Array], list[float], list[tuple[int, int, float]]]:
    columns: list[Array] = []
    rows: list[Array] = []
    constants: list[float] = []
    skew: list[tuple[int, int, float]] = []

    def add(column: Array, row: Array, constant: float = 0.0) -> int:
        columns.append(column)
        rows.append(row)
        constants.append(constant)
        return len(columns) - 1

    nothing = np.zeros(size)
    for c, law in enumerate(problem.laws):
        n = np.eye(1, size, problem.normal[c])[0] if problem.normal[c] >= 0 else nothing
        t = np.eye(1, size, problem.tangent[c])[0] if problem.tangent[c] >= 0 else nothing
        mu = float(problem.friction[c])
        if law is Law.UNILATERAL:
            add(n - mu * t, n)
        elif law is Law.UNILATERAL_REST:
            push, forth, back, speed = add(n, n), add(t, t), add(-t, -t), add(nothing, nothing)
            skew += [
                (forth, speed, 1.0),
                (back, speed, 1.0),
                (speed, push, mu),
                (speed, forth, -1.0),
                (speed, back, -1.0),
            ]
        elif law is Law.TRESCA_REST:
            # T = -bound + x: x and a_t + s, s and 2 bound - x
            x, speed = add(t, t), add(nothing, nothing, -2.0 * problem.tables[c].offset)
            skew += [(x, speed, 1.0), (speed, x, -1.0)]
    return columns, rows, constants, skew
