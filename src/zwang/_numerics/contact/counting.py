"""Counting solutions at many states in compiled code: every mode of every contact, where nothing is degenerate.

For each state the constraints that act are found, the equations are reduced to the contacts (u = c + D f: relative
accelerations u from forces f), and each combination of modes is solved and checked. A combination whose equations are
singular, or that is decided by less than the tolerance, leaves the state undecided here: the exact enumeration is then
asked, state by state. Without such a doubt, solutions of different modes have different accelerations, so that their
number is the number of accelerations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.admission import Standing
from zwang._numerics.contact.modes import BILATERAL, BOUND, UNILATERAL
from zwang._numerics.jit import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Matrix = NDArray[np.float64]
Cube = NDArray[np.float64]

SIDE, NORMAL, SLIP, LAW = range(4)  # columns of the table of constraints; SLIP and LAW are -1 without

INADMISSIBLE, DOUBTFUL = -2, -1
OPEN, CLOSING = int(Standing.OPEN), int(Standing.CLOSING)
SINGULAR_PIVOT = 1e-11
VANISHING_ROW = 1e-7


class CountedTerms(NamedTuple):
    """The terms of the equations of many states, as kernels return them; the last axis runs over the states."""

    mass: Cube
    force: Matrix
    gamma: Matrix
    rows: Cube
    slip: Matrix
    slip_bias: Matrix
    slip_rows: Cube
    bounds: Matrix


class ActingContacts(NamedTuple):
    """The contacts that act at one state: their kinds and laws, and the equations u = c + D f reduced to them.

    Row 2 j of D and c belongs to the normal of contact j, row 2 j + 1 to its tangent, with the rows H of both.
    `tangent` is 1 where there is friction, `slip` the velocity (0 at rest), `bound` the coefficient or the given bound.
    """

    kind: Ints
    tangent: Ints
    slip: Floats
    bound: Floats
    H: Matrix
    D: Matrix
    c: Floats


class ModeTrial(NamedTuple):
    """A combination of modes, as an odometer with `base`, and the equations S b = b of its unknowns.

    Each unknown has an equation `row` and a force column: the row's own direction plus `column` times its tangent. `f`
    are the forces of all rows, and `worst` is raised to the largest error of what was counted.
    """

    mode: Ints
    base: Ints
    row: Ints
    column: Floats
    S: Matrix
    b: Floats
    f: Floats
    worst: Floats


class Factors(NamedTuple):
    """Room for the mass matrix and its factor M, the rows Y = H C^-T and the free acceleration C^-1 F."""

    M: Matrix
    Y: Matrix
    free: Floats


@njit(forceinline=True, _nrt=False)
def _cholesky(M: Floats, n: int) -> bool:
    """Factorize M = C C^T in place, with 1 / C[i, i] on the diagonal; False where M is not positive definite."""
    for i in range(n):
        for j in range(i + 1):
            total = M[i, j]
            for k in range(j):
                total -= M[i, k] * M[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                M[i, i] = 1.0 / np.sqrt(total)
            else:
                M[i, j] = total * M[j, j]
    return True


@njit(forceinline=True, _nrt=False)
def _solve(S: Floats, b: Floats, size: int) -> bool:
    """Solve S x = b in place by elimination with row exchanges; False where a pivot is lost in rounding."""
    if size == 0:
        return True
    if size == 1:
        b[0] /= S[0, 0]
        return bool(S[0, 0] != 0.0)
    largest = 0.0
    for i in range(size):
        for j in range(size):
            largest = max(largest, abs(S[i, j]))
    for k in range(size):
        pivot = k
        for i in range(k + 1, size):
            if abs(S[i, k]) > abs(S[pivot, k]):
                pivot = i
        if not abs(S[pivot, k]) > SINGULAR_PIVOT * largest:
            return False
        if pivot != k:
            for j in range(size):
                S[k, j], S[pivot, j] = S[pivot, j], S[k, j]
            b[k], b[pivot] = b[pivot], b[k]
        for i in range(k + 1, size):
            factor = S[i, k] / S[k, k]
            for j in range(k, size):
                S[i, j] -= factor * S[k, j]
            b[i] -= factor * b[k]
    for k in range(size - 1, -1, -1):
        for j in range(k + 1, size):
            b[k] -= S[k, j] * b[j]
        b[k] /= S[k, k]
    return True


@njit(forceinline=True, _nrt=False)
def _modes_of(kind: int, frictional: bool, rest: bool) -> int:
    """Return how many modes a contact has.

    Unilateral: open, then closed (no friction), slide, or stick, slip+, slip-. Bilateral: closed; slide with N >= 0 and
    N <= 0; stick, slip+ and slip- with N >= 0 and N <= 0. Friction alone: its direction, or stick, slip+, slip-.
    """
    if kind == BOUND:
        return 3 if rest else 1
    if kind == UNILATERAL:
        return 2 if not frictional or not rest else 4
    if not frictional:
        return 1
    return 5 if rest else 2


@njit(forceinline=True, _nrt=False)
def _decide(value: float, scale: float, tol: float) -> int:
    """Return 1 where a number is positive, 0 where negative, `DOUBTFUL` where the tolerance decides."""
    if value > tol * scale:
        return 1
    return 0 if value < -tol * scale else DOUBTFUL


@njit(forceinline=True, _nrt=False)
def _count(acting: ActingContacts, contacts: int, tol: float, trial: ModeTrial) -> int:
    """Return the number of combinations of modes that satisfy the laws, `DOUBTFUL` where that isn't clear."""
    mode, base = trial.mode, trial.base
    total = 1
    for j in range(contacts):
        base[j] = _modes_of(acting.kind[j], acting.tangent[j] == 1, acting.slip[j] == 0.0)
        total *= base[j]
        mode[j] = 0
    found = 0
    for _ in range(total):
        verdict = _check(acting, contacts, tol, trial)
        if verdict == DOUBTFUL:
            return DOUBTFUL
        found += verdict
        for j in range(contacts):  # the next combination, as an odometer turns
            mode[j] += 1
            if mode[j] < base[j]:
                break
            mode[j] = 0
    return found


@njit(forceinline=True, _nrt=False)
def _check(acting: ActingContacts, contacts: int, tol: float, trial: ModeTrial) -> int:
    """Return 1 where one combination of modes has a solution, 0 where not, `DOUBTFUL` where that isn't clear."""
    c, D, R = acting.c, acting.D, 2 * contacts
    row, column, S, b, f = trial.row, trial.column, trial.S, trial.b, trial.f
    unknowns = _unknowns(acting, contacts, trial)
    for a in range(unknowns):
        b[a] = -c[row[a]]
        for r in range(R):
            b[a] -= D[row[a], r] * f[r]
        for e in range(unknowns):
            S[a, e] = D[row[a], row[e]]
            if column[e] != 0.0:
                S[a, e] += D[row[a], row[e] + 1] * column[e]
    if not _solve(S, b, unknowns):
        return DOUBTFUL
    for a in range(unknowns):
        f[row[a]] += b[a]
        if column[a] != 0.0:
            f[row[a] + 1] += column[a] * b[a]
    return _laws(acting, contacts, tol, trial)


@njit(forceinline=True, _nrt=False)
def _unknowns(acting: ActingContacts, contacts: int, trial: ModeTrial) -> int:
    """Set the forces that a combination of modes gives, and the rows and columns of the others; return their number."""
    kind, tangent, slip, bound = acting.kind, acting.tangent, acting.slip, acting.bound
    mode, row, column, f = trial.mode, trial.row, trial.column, trial.f
    unknowns = 0
    for r in range(2 * contacts):
        f[r] = 0.0
    for j in range(contacts):
        m, n, t = mode[j], 2 * j, 2 * j + 1
        if kind[j] == BOUND:
            if slip[j] != 0.0:
                f[t] = -bound[j] * (1.0 if slip[j] > 0.0 else -1.0)
            elif m == 0:
                row[unknowns], column[unknowns] = t, 0.0
                unknowns += 1
            else:
                f[t] = -bound[j] if m == 1 else bound[j]
            continue
        shift = 0 if kind[j] == UNILATERAL else 1
        if m + shift == 0:
            continue
        row[unknowns], column[unknowns] = n, 0.0
        if tangent[j] == 1 and slip[j] != 0.0:
            sign = -1.0 if kind[j] == BILATERAL and m == 1 else 1.0
            column[unknowns] = -sign * bound[j] * (1.0 if slip[j] > 0.0 else -1.0)
        elif tangent[j] == 1:
            m1 = m + shift  # 1 stick, 2 slip+, 3 slip-; for a bilateral contact 4 and 5 are slip+ and slip- with N <= 0
            if m1 == 1:
                unknowns += 1
                row[unknowns], column[unknowns] = t, 0.0
            else:
                direction = 1.0 if m1 == 2 or m1 == 4 else -1.0
                sign = 1.0 if m1 <= 3 else -1.0
                column[unknowns] = -sign * bound[j] * direction
        unknowns += 1
    return unknowns


@njit(forceinline=True, _nrt=False)
def _laws(acting: ActingContacts, contacts: int, tol: float, trial: ModeTrial) -> int:
    """Check the inequalities of a combination of modes; keep the largest error of its equations."""
    kind, tangent, slip, bound = acting.kind, acting.tangent, acting.slip, acting.bound
    D, c, mode, f, R = acting.D, acting.c, trial.mode, trial.f, 2 * contacts
    force, error = 0.0, 0.0
    for r in range(R):
        force = max(force, abs(f[r]))
    doubt = False
    for j in range(contacts):
        m, n, t = mode[j], 2 * j, 2 * j + 1
        gap, gap_size, creep, creep_size = c[n], abs(c[n]), c[t], abs(c[t])
        for r in range(R):
            gap += D[n, r] * f[r]
            gap_size += abs(D[n, r] * f[r])
            creep += D[t, r] * f[r]
            creep_size += abs(D[t, r] * f[r])
        shift = 0 if kind[j] == UNILATERAL else 1
        verdict = 1
        if kind[j] == BOUND:
            if slip[j] == 0.0 and m == 0:
                verdict = _decide(bound[j] - abs(f[t]), force + bound[j], tol)
            elif slip[j] == 0.0:
                verdict = _decide(creep if m == 1 else -creep, creep_size, tol)
        elif m + shift == 0:
            verdict = _decide(gap, gap_size, tol)
        else:
            verdict = _contact_law(
                kind[j], tangent[j], slip[j], bound[j], f[n], f[t], creep, creep_size, force, m + shift, tol
            )
        if verdict == 0:
            return 0
        doubt = doubt or verdict == DOUBTFUL
        if kind[j] != BOUND and m + shift > 0:
            error = max(error, abs(gap) / (gap_size + 1e-300))
        if tangent[j] == 1 and slip[j] == 0.0 and m + shift == 1:
            error = max(error, abs(creep) / (creep_size + 1e-300))
    if doubt:
        return DOUBTFUL
    trial.worst[0] = max(trial.worst[0], error)
    return 1


@njit(forceinline=True, _nrt=False)
def _contact_law(
    kind: int,
    tangent: int,
    slip: float,
    bound: float,
    normal: float,
    tangential: float,
    creep: float,
    creep_size: float,
    force: float,
    m: int,
    tol: float,
) -> int:
    """Check a closed contact: the sign of its force, the cone of friction, the direction of slip."""
    if kind == UNILATERAL or (tangent == 1 and slip == 0.0 and m != 1) or (tangent == 1 and slip != 0.0):
        pulls = kind == BILATERAL and ((slip != 0.0 and m == 2) or (slip == 0.0 and m >= 4))
        verdict = _decide(-normal if pulls else normal, force, tol)
        if verdict != 1:
            return verdict
    if tangent == 0 or slip != 0.0:
        return 1
    if m == 1:
        return _decide(bound * abs(normal) - abs(tangential), force, tol)
    forward = m == 2 or m == 4
    return _decide(creep if forward else -creep, creep_size, tol)


@njit(forceinline=True, _nrt=False)
def _gather(table: Ints, standing: Ints, rest: Bools, terms: CountedTerms, s: int, acting: ActingContacts) -> int:
    """Fill kinds, laws, rows and free terms of what acts at state s; return how many, `INADMISSIBLE` or `DOUBTFUL`."""
    kind, tangent, speed, bound, H, c = acting.kind, acting.tangent, acting.slip, acting.bound, acting.H, acting.c
    n = H.shape[1]
    contacts, vanishes = 0, False
    for k in range(table.shape[0]):
        at = table[k, NORMAL]
        if standing[k, s] >= CLOSING:
            return INADMISSIBLE
        if standing[k, s] == OPEN:
            continue
        for i in range(n):
            H[2 * contacts, i] = 0.0 if table[k, SIDE] == BOUND else terms.rows[at, i, s]
            H[2 * contacts + 1, i] = 0.0
        if table[k, SIDE] == BILATERAL:  # a row of rounding errors (a singular point) is for the exact enumeration
            largest = 0.0
            for i in range(n):
                largest = max(largest, abs(H[2 * contacts, i]))
            vanishes = vanishes or not largest > VANISHING_ROW
        c[2 * contacts] = 0.0 if table[k, SIDE] == BOUND else -terms.gamma[at, s]
        c[2 * contacts + 1] = 0.0
        kind[contacts], tangent[contacts] = table[k, SIDE], 0
        speed[contacts], bound[contacts] = 0.0, 0.0
        along = table[k, SLIP]
        if along >= 0:
            for i in range(n):
                H[2 * contacts + 1, i] = terms.slip_rows[along, i, s]
            c[2 * contacts + 1] = -terms.slip_bias[along, s]
            bound[contacts] = terms.bounds[table[k, LAW], s]
            speed[contacts] = 0.0 if rest[k, s] else terms.slip[along, s]
            tangent[contacts] = 1 if bound[contacts] > 0.0 or kind[contacts] == BOUND else 0
        contacts += 1
    return DOUBTFUL if vanishes else contacts


@njit(forceinline=True, _nrt=False)
def _reduce(terms: CountedTerms, s: int, acting: ActingContacts, contacts: int, room: Factors) -> bool:
    """Reduce the equations of state s to its contacts; False where the mass isn't positive definite."""
    H, D, c, M, Y, free = acting.H, acting.D, acting.c, room.M, room.Y, room.free
    n, R = free.size, 2 * contacts
    for i in range(n):
        free[i] = terms.force[i, s]
        for j in range(i + 1):
            M[i, j] = terms.mass[i, j, s]
    if not _cholesky(M, n):
        return False
    for i in range(n):  # free = C^-1 F, Y = rows of H C^-T
        for k in range(i):
            free[i] -= M[i, k] * free[k]
        free[i] *= M[i, i]
    for r in range(R):
        for i in range(n):
            total = H[r, i]
            for k in range(i):
                total -= M[i, k] * Y[r, k]
            Y[r, i] = total * M[i, i]
    for r in range(R):
        for i in range(n):
            c[r] += Y[r, i] * free[i]
        for e in range(r + 1):
            total = 0.0
            for i in range(n):
                total += Y[r, i] * Y[e, i]
            D[r, e] = total
            D[e, r] = total
    return True


@njit("void(int64[:, ::1], int64[:, ::1], boolean[:, ::1], CountedTerms, float64, int64[::1], float64[::1])")
def count_solutions(
    table: Ints, standing: Ints, rest: Bools, terms: CountedTerms, tol: float, counts: Ints, worst: Floats
) -> None:
    """Write for each state the number of solutions, `DOUBTFUL` or `INADMISSIBLE`.

    Parameters
    ----------
    table : (k, 4) int array
        Side, number of the normal, of the slip and of the law of each constraint.
    standing, rest : (k, B) int and bool arrays
        Who takes part, from `admission`.
    terms : CountedTerms
    tol : float
        Of signs.
    counts : (B,) int array
    worst : (1,) array
        Raised to the largest relative error of the equations of a counted solution.
    """
    n, most = terms.force.shape[0], table.shape[0]
    size = 2 * most
    kind, tangent = np.empty(most, np.int64), np.empty(most, np.int64)
    slip, bound = np.empty(most), np.empty(most)
    acting = ActingContacts(kind, tangent, slip, bound, np.empty((size, n)), np.empty((size, size)), np.empty(size))
    mode, base, row, column = (
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(size, np.int64),
        np.empty(size),
    )
    trial = ModeTrial(mode, base, row, column, np.empty((size, size)), np.empty(size), np.empty(size), worst)
    room = Factors(np.empty((n, n)), np.empty((size, n)), np.empty(n))
    for s in range(counts.size):
        contacts = _gather(table, standing, rest, terms, s, acting)
        if contacts < 0:
            counts[s] = contacts
        elif not _reduce(terms, s, acting, contacts, room):
            counts[s] = DOUBTFUL
        else:
            counts[s] = _count(acting, contacts, tol, trial)
