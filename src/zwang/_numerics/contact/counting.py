"""Counting solutions at many states in compiled code: every mode of every contact.

Each combination of modes is solved and checked. Where its equations lose rank, contacts can squeeze a body more or less
(`undetermined_modes`). A combination that is decided by less than the tolerance is in doubt; that does no harm where it
has the acceleration and the forces of one that is clear, as at the edge of its set. Any other doubt leaves the state
undecided here: the exact enumeration is then asked, state by state.
"""

from __future__ import annotations

import numpy as np

from zwang._numerics.contact.counted_motions import (
    MOST_CANDIDATES,
    NO_MODE,
    Candidates,
    CountedSolutions,
    distinct_motions,
    write_motion,
)
from zwang._numerics.contact.counted_state import (
    DOUBTFUL,
    INADMISSIBLE,
    ActingContacts,
    Bools,
    CountedTerms,
    Factors,
    Floats,
    Ints,
    ModeTrial,
    gather,
    reduce_to_contacts,
)
from zwang._numerics.contact.modes import BILATERAL, BOUND, UNILATERAL
from zwang._numerics.contact.undetermined_modes import SelfStress, undetermined
from zwang._numerics.jit import njit

__all__ = ["DOUBTFUL", "INADMISSIBLE", "NO_MODE", "CountedSolutions", "CountedTerms", "count_solutions"]

SINGULAR_PIVOT = 1e-11  # relative: below it elimination has lost the pivot to rounding
UNSOLVED = -3
"""A combination of modes whose equations could not be solved."""
SAME_TANGENT = 1e-12  # relative: rows that are equal but for rounding


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
def _candidates(
    acting: ActingContacts,
    contacts: int,
    tol: float,
    trial: ModeTrial,
    factors: Factors,
    room: SelfStress,
    found: Candidates,
) -> int:
    """Write every combination of modes that satisfies the laws, or may; return how many, `DOUBTFUL` if not all."""
    mode, base = trial.mode, trial.base
    total = 1
    for j in range(contacts):
        base[j] = _modes_of(acting.kind[j], acting.tangent[j] == 1, acting.slip[j] == 0.0)
        total *= base[j]
        mode[j] = 0
    count = 0
    for _ in range(total):
        verdict, free = _check(acting, contacts, tol, trial, factors, room)
        if verdict == UNSOLVED or (verdict != 0 and count == MOST_CANDIDATES):
            return DOUBTFUL
        if verdict != 0:
            found.clear[count], found.free[count] = int(verdict == 1), free
            for r in range(2 * contacts):
                found.force[count, r] = trial.f[r]
            for i in range(factors.free.size):
                found.motion[count, i] = factors.free[i]
                for r in range(2 * contacts):
                    found.motion[count, i] += factors.Y[r, i] * trial.f[r]
            for j in range(contacts):
                found.mode[count, j] = mode[j]
            count += 1
        for j in range(contacts):  # the next combination, as an odometer turns
            mode[j] += 1
            if mode[j] < base[j]:
                break
            mode[j] = 0
    return count


@njit(forceinline=True, _nrt=False)
def _begins(acting: ActingContacts, trial: ModeTrial, j: int) -> float:
    """Return the direction in which a contact begins to slip, 0 where it doesn't."""
    if acting.tangent[j] == 0 or acting.slip[j] != 0.0:
        return 0.0
    m = trial.mode[j] if acting.kind[j] == UNILATERAL else trial.mode[j] + 1
    return 0.0 if m < 2 else (1.0 if m == 2 or m == 4 else -1.0)


@njit(_nrt=False)
def _contradictory(acting: ActingContacts, contacts: int, trial: ModeTrial) -> bool:
    """Say whether two contacts with one tangent, such as feet on a plane, are to begin to slip in two directions.

    None can; and where neither slips after all, they stick, which is another combination.
    """
    H, c, n = acting.H, acting.c, acting.H.shape[1]
    for i in range(contacts):
        first = _begins(acting, trial, i)
        if first == 0.0:
            continue
        for j in range(i):
            sign = -first * _begins(acting, trial, j)  # of the row that would make them contradict each other
            if sign == 0.0:
                continue
            size = abs(c[2 * i + 1]) + abs(c[2 * j + 1])
            same = abs(c[2 * i + 1] - sign * c[2 * j + 1]) <= SAME_TANGENT * size
            for k in range(n):
                a, b = H[2 * i + 1, k], H[2 * j + 1, k]
                same = same and abs(a - sign * b) <= SAME_TANGENT * (abs(a) + abs(b))
            if same:
                return True
    return False


@njit(forceinline=True, _nrt=False)
def _check(
    acting: ActingContacts, contacts: int, tol: float, trial: ModeTrial, factors: Factors, room: SelfStress
) -> tuple[int, int]:
    """Return 1 where one combination of modes has a solution, 0 where not, `DOUBTFUL` where that isn't clear.

    Beside it 1 where its forces are not determined. `UNSOLVED` where nothing is known.
    """
    c, D, R = acting.c, acting.D, 2 * contacts
    row, column, S, b, f = trial.row, trial.column, trial.S, trial.b, trial.f
    if contacts > 1 and _contradictory(acting, contacts, trial):
        return 0, 0
    unknowns = _unknowns(acting, contacts, trial)
    for a in range(unknowns):
        b[a] = -c[row[a]]
        for r in range(R):
            b[a] -= D[row[a], r] * f[r]
        for e in range(unknowns):
            S[a, e] = D[row[a], row[e]]
            if column[e] != 0.0:
                S[a, e] += D[row[a], row[e] + 1] * column[e]
    if _solve(S, b, unknowns):
        for a in range(unknowns):
            f[row[a]] += b[a]
            if column[a] != 0.0:
                f[row[a] + 1] += column[a] * b[a]
        return _laws(acting, contacts, tol, trial, True), 0
    verdict = undetermined(acting, contacts, tol, trial, unknowns, factors, room)
    if verdict == 1:
        return _laws(acting, contacts, tol, trial, False), 1
    return (0 if verdict == 0 else UNSOLVED), 1


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
def _laws(acting: ActingContacts, contacts: int, tol: float, trial: ModeTrial, forces: bool) -> int:
    """Check the inequalities of a combination of modes, those of forces if asked; keep its equations' largest error."""
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
                verdict = _decide(bound[j] - abs(f[t]), force + bound[j], tol) if forces else 1
            elif slip[j] == 0.0:
                verdict = _decide(creep if m == 1 else -creep, creep_size, tol)
        elif m + shift == 0:
            verdict = _decide(gap, gap_size, tol)
        else:
            verdict = _force_law(kind[j], tangent[j], slip[j], bound[j], f[n], f[t], force, m + shift, tol)
            if not forces and kind[j] == UNILATERAL:
                verdict = 1
            if verdict == 1 and tangent[j] == 1 and slip[j] == 0.0 and m + shift != 1:
                forward = m + shift == 2 or m + shift == 4
                verdict = _decide(creep if forward else -creep, creep_size, tol)
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
def _force_law(
    kind: int,
    tangent: int,
    slip: float,
    bound: float,
    normal: float,
    tangential: float,
    force: float,
    m: int,
    tol: float,
) -> int:
    """Check the force of a closed contact: its sign, and the cone of friction where it sticks."""
    if kind == UNILATERAL or (tangent == 1 and slip == 0.0 and m != 1) or (tangent == 1 and slip != 0.0):
        pulls = kind == BILATERAL and ((slip != 0.0 and m == 2) or (slip == 0.0 and m >= 4))
        verdict = _decide(-normal if pulls else normal, force, tol)
        if verdict != 1:
            return verdict
    if tangent == 1 and slip == 0.0 and m == 1:
        return _decide(bound * abs(normal) - abs(tangential), force, tol)
    return 1


@njit(
    "void(int64[:, ::1], int64[:, ::1], boolean[:, ::1], CountedTerms, float64, int64, int64, int64, CountedSolutions)"
)
def count_solutions(
    table: Ints,
    standing: Ints,
    rest: Bools,
    terms: CountedTerms,
    tol: float,
    first: int,
    lane: int,
    lanes: int,
    out: CountedSolutions,
) -> None:
    """Write for each of B states the number of accelerations, and the solution where there is one.

    This is also the program of a GPU, where each thread is a lane.

    Parameters
    ----------
    table : (k, 4) int array
        Side, number of the normal, of the slip and of the law of each constraint.
    standing, rest : (k, B) int and bool arrays
        Who takes part, from `admission`.
    terms : CountedTerms
    tol : float
        Of signs.
    first : int
        The place of the first of these states in `out`.
    lane, lanes : int
        Which states: from the first of these numbers, each one so many after the last; 0 and 1 are all of them.
    out : CountedSolutions
        Of as many states or more.
    """
    n, most = terms.force.shape[0], table.shape[0]
    size, many = 2 * most, MOST_CANDIDATES
    ints, numbers = np.empty((5, most), np.int64), np.empty((2, most))
    acting = ActingContacts(
        ints[0], ints[1], ints[2], numbers[0], numbers[1], np.empty((size, n)), np.empty((size, size)), np.empty(size)
    )
    row, column, b, f = np.empty(size, np.int64), np.empty(size), np.empty(size), np.empty(size)
    trial = ModeTrial(ints[3], ints[4], row, column, np.empty((size, size)), b, f, out.worst)
    factors = Factors(np.empty((n, n)), np.empty((size, n)), np.empty(n))
    pivot, scale = np.empty(size, np.int64), np.empty(size)
    matrices = np.empty((2, size, size))
    room = SelfStress(matrices[0], np.empty(size), pivot, scale, matrices[1], np.empty((2 * size, size + 1)))
    flags = np.empty((3, many), np.int64)
    modes = np.empty((many, most), np.int64)
    found = Candidates(np.empty((many, n)), np.empty((many, size)), modes, flags[0], flags[1], flags[2])
    for s in range(lane, terms.force.shape[1], lanes):
        contacts, at = gather(table, standing, rest, terms, s, acting), first + s
        if contacts < 0:
            out.counts[at] = contacts
        elif not reduce_to_contacts(terms, s, acting, contacts, factors):
            out.counts[at] = DOUBTFUL
        else:
            count = _candidates(acting, contacts, tol, trial, factors, room, found)
            out.counts[at] = count if count < 0 else distinct_motions(found, count, factors, 2 * contacts)
            if out.counts[at] == 1:
                write_motion(acting, contacts, found, count, factors, at, out)
