"""Combinations of modes that have a solution at a state: how many motions they are, and the only one written down."""

from __future__ import annotations

from typing import NamedTuple

from zwang._numerics.contact.counted_state import (
    DOUBTFUL,
    ActingContacts,
    Cube,
    Factors,
    Floats,
    Ints,
    Matrix,
)
from zwang._numerics.contact.modes import BILATERAL, PULLS, UNILATERAL, Mode
from zwang._numerics.jit import njit

IntMatrix = Ints

MOST_CANDIDATES = 24  # combinations that hold at one state; more are left to the exact enumeration
SAME_MOTION, SAME_FORCES = 1e-9, 1e-7
OPEN_MODE, CLOSED_MODE, STICK_MODE = int(Mode.OPEN), int(Mode.CLOSED), int(Mode.STICK)
PLUS_MODE, MINUS_MODE = int(Mode.SLIP_PLUS), int(Mode.SLIP_MINUS)
NO_MODE = -1  # of what takes no part


class Candidates(NamedTuple):
    """Combinations of modes that have a solution, or seem to.

    `motion`: the acceleration in the factor's coordinates, C^T a; `clear`: 1 where the laws hold beyond doubt;
    `free`: 1 where forces are not determined; `distinct`: the first clear candidate with this motion.
    """

    motion: Matrix
    force: Matrix
    mode: IntMatrix
    clear: Ints
    free: Ints
    distinct: Ints


class CountedSolutions(NamedTuple):
    """What is written for each state, the last axis over the states; of the solution where its motion is the only one.

    Attributes
    ----------
    counts : (B,)
        The number of accelerations, `DOUBTFUL` or `INADMISSIBLE`.
    free : (B,)
        1 where the forces of the only motion are not determined.
    accelerations : (n, B)
    forces : (k, 2, B)
        Normal and tangential, one set of them where they are not determined.
    modes : (k, B)
        As in `Mode`, -1 of what takes no part.
    still : (B,)
        1 where the only acceleration vanishes beside that of the applied forces alone.
    worst : (1,)
        Raised to the largest relative error of the equations of a counted solution; each thread has its own.
    """

    counts: Ints
    free: Ints
    accelerations: Matrix
    forces: Cube
    modes: IntMatrix
    still: Ints
    worst: Floats


@njit(_nrt=False)
def _same_motion(found: Candidates, factors: Factors, i: int, j: int) -> bool:
    """Say whether two candidates have one acceleration."""
    size, most = 0.0, 0.0
    for k in range(factors.free.size):
        size = max(size, abs(factors.free[k]), abs(found.motion[i, k]), abs(found.motion[j, k]))
        most = max(most, abs(found.motion[i, k] - found.motion[j, k]))
    return most <= SAME_MOTION * size


@njit(_nrt=False)
def _same_forces(found: Candidates, rows: int, i: int, j: int) -> bool:
    """Say whether two candidates have the same forces."""
    size, most = 0.0, 0.0
    for r in range(rows):
        size = max(size, abs(found.force[i, r]), abs(found.force[j, r]))
        most = max(most, abs(found.force[i, r] - found.force[j, r]))
    return most <= SAME_FORCES * size


@njit(_nrt=False)
def distinct_motions(found: Candidates, count: int, factors: Factors, rows: int) -> int:
    """Return the number of accelerations of candidates; `DOUBTFUL` where one in doubt has a motion of its own."""
    motions = 0
    for i in range(count):
        found.distinct[i] = -1
        if found.clear[i] == 0:
            continue
        for j in range(i):
            if found.clear[j] == 1 and found.distinct[j] == j and _same_motion(found, factors, i, j):
                found.distinct[i] = j
                if not _same_forces(found, rows, i, j):
                    found.free[j] = 1
                break
        if found.distinct[i] < 0:
            found.distinct[i] = i
            motions += 1
    for i in range(count):
        if found.clear[i] == 1:
            continue
        known = False
        for j in range(count):
            if found.clear[j] == 1 and found.distinct[j] == j and _same_motion(found, factors, i, j):
                known = found.free[j] == 1 or (found.free[i] == 0 and _same_forces(found, rows, i, j))
                break
        if not known:
            return DOUBTFUL
    return motions


@njit(_nrt=False)
def _mode_of(kind: int, tangent: int, slip: float, normal: float, m: int) -> int:
    """Return the mode of a contact as the package numbers them."""
    if kind == UNILATERAL and m == 0:
        return OPEN_MODE
    if tangent == 0:
        return CLOSED_MODE
    if slip != 0.0:
        mode = PLUS_MODE if slip > 0.0 else MINUS_MODE
    else:
        m1 = m + 1 if kind != UNILATERAL else m
        mode = STICK_MODE if m1 == 1 else (PLUS_MODE if m1 == 2 or m1 == 4 else MINUS_MODE)
    return mode + PULLS if kind == BILATERAL and normal < 0.0 else mode


@njit(_nrt=False)
def write_motion(
    acting: ActingContacts,
    contacts: int,
    found: Candidates,
    count: int,
    factors: Factors,
    s: int,
    out: CountedSolutions,
) -> None:
    """Write the only motion of a state."""
    for i in range(count):
        if found.clear[i] == 1 and found.distinct[i] == i:
            break
    n, M = factors.free.size, factors.M
    for k in range(n - 1, -1, -1):  # a = C^-T y
        total = found.motion[i, k]
        for e in range(k + 1, n):
            total -= M[e, k] * out.accelerations[e, s]
        out.accelerations[k, s] = total * M[k, k]
    moved, pushed = 0.0, 0.0
    for k in range(n):
        moved, pushed = max(moved, abs(found.motion[i, k])), max(pushed, abs(factors.free[k]))
    out.still[s] = int(moved <= SAME_MOTION * pushed)
    for k in range(out.modes.shape[0]):
        out.modes[k, s] = NO_MODE
        out.forces[k, 0, s] = out.forces[k, 1, s] = 0.0
    for j in range(contacts):
        k, normal = acting.line[j], found.force[i, 2 * j]
        out.modes[k, s] = _mode_of(acting.kind[j], acting.tangent[j], acting.slip[j], normal, found.mode[i, j])
        out.forces[k, 0, s], out.forces[k, 1, s] = normal, found.force[i, 2 * j + 1]
    out.free[s] = found.free[i]
