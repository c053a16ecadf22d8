"""Lemke's pivoting for planar friction, sliding contacts and no friction: a linear complementarity problem.

Each contact adds pairs of nonnegative variables (v, z) with v z = 0 and v = M z + q:

    unilateral           u_n  with N
    Coulomb at rest      +-u_t + gamma  with the two parts of T = T+ - T-,   mu |N| - T+ - T-  with gamma
    given bound R        the part u+ of u_t = u+ - u-  with R + T,           R - T  with u-
    bilateral, friction  N + N-  with N-, so that |N| = N + 2 N-; N follows from u_n = 0

Normal forces of bilateral contacts are eliminated by their equations first. At rest, M is copositive
(z^T M z = r^T W r + mu N gamma for unilateral contacts), so that the path ends at a solution unless a self-stress
forbids it; friction coefficients may differ. Ties in the ratio test are broken lexicographically: no cycles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.candidate import Candidate, candidate_of
from zwang._numerics.contact.delassus import FrictionArrays
from zwang._numerics.contact.modes import BILATERAL, BOUND, UNILATERAL
from zwang._numerics.contact.scaled_system import scaled_system
from zwang._numerics.jit import njit

Floats = NDArray[np.float64]

SOLVED, RAY_END, LIMIT = 0, 1, 2
AT_ONCE = 2e7
"""Multiplications after which the pivots come back to Python: some hundredths of a second."""


@njit
def _leaving(tableau: Any, column: int, n: int, ties: Any) -> int:
    """Return the row of the smallest ratio, lexicographically smallest among ties; -1 if no entry is positive."""
    count, best = 0, np.inf
    largest = 0.0
    for i in range(n):
        largest = max(largest, abs(tableau[i, column]))
    for i in range(n):
        pivot = tableau[i, column]
        if pivot > 1e-11 * max(largest, 1.0):
            ratio = tableau[i, 2 * n + 1] / pivot
            if ratio < best - 1e-12 * (1.0 + abs(best)) or count == 0:
                best = ratio
                ties[0] = i
                count = 1
            elif ratio <= best + 1e-12 * (1.0 + abs(best)):
                ties[count] = i
                count += 1
                best = min(best, ratio)
    if count == 0:
        return -1
    for c in range(n):  # rows of the inverse basis stand in the first n columns
        if count == 1:
            break
        best = np.inf
        for k in range(count):
            best = min(best, tableau[ties[k], c] / tableau[ties[k], column])
        kept = 0
        for k in range(count):
            if tableau[ties[k], c] / tableau[ties[k], column] <= best + 1e-12 * (1.0 + abs(best)):
                ties[kept] = ties[k]
                kept += 1
        count = kept
    return int(ties[0])


@njit
def _pivot(tableau: Any, row: int, column: int) -> None:
    inverse = 1.0 / tableau[row, column]
    for c in range(tableau.shape[1]):
        tableau[row, c] *= inverse
    tableau[row, column] = 1.0
    for i in range(tableau.shape[0]):
        factor = tableau[i, column]
        if i != row and factor != 0.0:
            for c in range(tableau.shape[1]):
                tableau[i, c] -= factor * tableau[row, c]
            tableau[i, column] = 0.0


@njit("int64(float64[:,::1], int64[::1], int64[::1], int64[::1], int64)")
def lemke_steps(tableau: Any, basis: Any, ties: Any, state: Any, steps: int) -> int:
    """Take up to `steps` pivots; return whether the path ended, at a solution or on a ray, or goes on.

    Columns 0 to n - 1 of the tableau belong to v, n to 2 n - 1 to z, 2 n to the covering variable; the last is q.
    ``state`` holds the entering column and the row that it enters in.
    """
    n = tableau.shape[0]
    for _ in range(steps):
        entering, row = state[0], state[1]
        _pivot(tableau, row, entering)
        left = basis[row]
        basis[row] = entering
        if left == 2 * n:
            return SOLVED
        entering = left + n if left < n else left - n
        row = _leaving(tableau, entering, n, ties)
        if row < 0:
            return RAY_END
        for i in range(n):  # the covering variable leaves as soon as it can
            if basis[i] == 2 * n and tableau[i, entering] > 1e-11:
                here, least = tableau[i, 2 * n + 1], tableau[row, 2 * n + 1]
                if here * tableau[row, entering] <= least * tableau[i, entering] + 1e-14:
                    row = i
        state[0], state[1] = entering, row
    return LIMIT


def lemke(m: Floats, q: Floats, *, most: int | None = None) -> Floats | None:
    """Return z >= 0 with v = m z + q >= 0 and v z = 0; None where the path ends on a ray, or after `most` pivots.

    Examples
    --------
    >>> lemke(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0]))
    array([1.33333333, 2.33333333])
    """
    n = len(q)
    if not n or q.min() >= 0.0:
        return np.zeros(n)
    tableau = np.column_stack([np.eye(n), -m, -np.ones(n), q])
    basis, ties = np.arange(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    state = np.array([2 * n, int(np.argmin(q))], dtype=np.int64)
    most = 50 * n + 100 if most is None else most
    chunk = max(1, int(AT_ONCE / (2 * n * n)))
    ended, done = LIMIT, 0
    while ended == LIMIT and done < most:
        ended = lemke_steps(tableau, basis, ties, state, min(chunk, most - done))
        done += chunk
    if ended != SOLVED:
        return None
    z = np.zeros(2 * n + 1)
    z[basis] = np.maximum(tableau[:, -1], 0.0)
    return z[n : 2 * n]


def complementarity_problem(arrays: FrictionArrays) -> tuple[Floats, Floats, Floats, Floats]:
    """Return M, q and (S, t) with r = S z + t, in scaled units; planar friction only."""
    system = scaled_system(arrays)
    w, b, law = system.wt.T, system.b, system.law
    size = arrays.size
    kind, p = arrays.layout[:, 2], arrays.layout[:, 3]
    held = arrays.layout[kind == BILATERAL, 0]
    keep, shift = np.eye(size), np.zeros(size)
    if held.size:  # N of bilateral contacts from u_n = 0; least norm where they depend on each other
        inverse = np.linalg.pinv(w[np.ix_(held, held)], rcond=1e-12)
        rest = np.setdiff1d(np.arange(size), held)
        keep[held] = 0.0
        keep[np.ix_(held, rest)] = -inverse @ w[np.ix_(held, rest)]
        shift[held] = -inverse @ b[held]
    count = np.where(kind == BOUND, 2, np.where(p > 0, 4, 1)) * (arrays.layout[:, 1] > 0)
    count = np.where((kind == BILATERAL) & (p == 0), 0, count)
    first = np.concatenate([[0], np.cumsum(count)])
    force, extra = np.zeros((size, first[-1])), np.zeros(size)  # r of what isn't eliminated = force z + extra
    for j in np.flatnonzero(count):
        a, z = arrays.layout[j, 0], first[j]
        if kind[j] == BOUND:
            force[a, z], extra[a] = 1.0, -law[j, 1]
        elif kind[j] == UNILATERAL:
            force[a, z] = 1.0
        if p[j] and kind[j] != BOUND:
            force[a + 1, z + 1 : z + 3] = (1.0, -1.0)
    s, t = keep @ force, keep @ extra + shift
    motion, still = w @ s, w @ t + b
    m, q = np.zeros((first[-1], first[-1])), np.zeros(first[-1])
    for j in np.flatnonzero(count):
        a, z, mu = arrays.layout[j, 0], first[j], law[j, 0]
        if kind[j] == BOUND:
            m[z], q[z] = motion[a], still[a]
            m[z, z + 1], m[z + 1, z], q[z + 1] = 1.0, -1.0, 2 * law[j, 1]
            continue
        if kind[j] == UNILATERAL:
            m[z], q[z] = motion[a], still[a]
        else:
            m[z], q[z] = s[a], t[a]
            m[z, z] += 1.0
        if p[j]:
            m[z + 1], q[z + 1] = motion[a + 1], still[a + 1]
            m[z + 2], q[z + 2] = -motion[a + 1], -still[a + 1]
            m[z + 1, z + 3] += 1.0
            m[z + 2, z + 3] += 1.0
            m[z + 3], q[z + 3] = mu * s[a], mu * t[a]
            if kind[j] == BILATERAL:
                m[z + 3, z] += 2.0 * mu
            m[z + 3, z + 1] -= 1.0
            m[z + 3, z + 2] -= 1.0
    return m, q, s, t


def pivoting(arrays: FrictionArrays, *, limit: int | None = None) -> Candidate:
    """Find forces by Lemke's method; every contact at rest must have at most one direction of friction.

    Examples
    --------
    >>> from zwang._numerics.contact.problem import Contact, ContactProblem
    >>> from zwang._numerics.contact.delassus import friction_arrays
    >>> floor = Contact([0, 1], tangent=[[1, 0]], friction=0.5)
    >>> arrays = friction_arrays(ContactProblem(np.eye(2), [2.0, -1.0], contacts=[floor]))
    >>> pivoting(arrays).forces
    array([ 1. , -0.5])
    """
    m, q, s, t = complementarity_problem(arrays)
    z = lemke(m, q, most=limit)
    r = np.full(arrays.size, np.nan) if z is None else (s @ z + t) * arrays.cause / arrays.row_scale
    return candidate_of(arrays, r, "pivoting")
