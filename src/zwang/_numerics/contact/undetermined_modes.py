"""A combination of modes whose forces are not determined: whether some of them satisfy the laws, in compiled code.

Sticking contacts can squeeze a body more or less. Then the equations of the unknown forces, S x = b, lose rank, and
their solutions are x = x0 + Z y. The laws ask for signs and cones, linear inequalities in y: a small program says how
deep the best y lies inside them. Where not all y give one acceleration, the signs of accelerations are among them, and
the only answer that is given here is that none satisfies them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zwang._numerics.contact.counted_state import (
    DOUBTFUL,
    ActingContacts,
    Factors,
    Floats,
    Ints,
    Matrix,
    ModeTrial,
)
from zwang._numerics.contact.modes import BILATERAL, BOUND, UNILATERAL
from zwang._numerics.jit import njit
from zwang._numerics.linear.programs import deepest_steps

LOST, KEPT = 1e-11, 1e-7
"""Pivots of equations scaled to one: below the first a rank is lost, above the second it is not; else it is open."""
CONSISTENT, INCONSISTENT = 1e-10, 1e-7
STILL = 1e-8
"""How much of its forces a self-stress may leave to move the body, as rounding."""
DEPTH = 1e-9  # of the largest force: rounding of a small linear program


class SelfStress(NamedTuple):
    """Room for the equations by elimination: S and b scaled, which column each pivot has, directions of forces."""

    S: Matrix
    b: Floats
    pivot: Ints
    scale: Floats
    directions: Matrix
    conditions: Matrix


@njit(_nrt=False)
def _largest(f: Floats, rows: int) -> float:
    """Return the largest size among forces."""
    force = 0.0
    for r in range(rows):
        force = max(force, abs(f[r]))
    return force


@njit(_nrt=False)
def _eliminate(room: SelfStress, size: int) -> int:
    """Bring S x = b to the identity in `pivot`'s columns, rows exchanged; return the rank, -1 where it is open."""
    S, b, pivot = room.S, room.b, room.pivot
    for k in range(size):
        pivot[k] = -1
    for k in range(size):
        largest, at, along = 0.0, k, -1
        for i in range(k, size):
            for j in range(size):
                if abs(S[i, j]) > largest:
                    taken = False
                    for e in range(k):
                        taken = taken or pivot[e] == j
                    if not taken:
                        largest, at, along = abs(S[i, j]), i, j
        if largest <= LOST:
            return k
        if largest < KEPT:
            return -1
        for j in range(size):
            S[k, j], S[at, j] = S[at, j], S[k, j]
        b[k], b[at] = b[at], b[k]
        pivot[k] = along
        over = 1.0 / S[k, along]
        for j in range(size):
            S[k, j] *= over
        b[k] *= over
        for i in range(size):
            factor = S[i, along]
            if i != k and factor != 0.0:
                for j in range(size):
                    S[i, j] -= factor * S[k, j]
                b[i] -= factor * b[k]
    return size


@njit(_nrt=False)
def _scaled(acting: ActingContacts, contacts: int, trial: ModeTrial, room: SelfStress, unknowns: int) -> bool:
    """Set up S x = b, rows and columns scaled by the roots of the diagonal of D; False where one of them vanishes."""
    D, c, row, column, f = acting.D, acting.c, trial.row, trial.column, trial.f
    for a in range(unknowns):
        size = D[row[a], row[a]]
        if not size > 0.0:
            return False
        room.scale[a] = 1.0 / np.sqrt(size)
    for a in range(unknowns):
        room.b[a] = -c[row[a]]
        for r in range(2 * contacts):
            room.b[a] -= D[row[a], r] * f[r]
        room.b[a] *= room.scale[a]
        for e in range(unknowns):
            entry = D[row[a], row[e]]
            if column[e] != 0.0:
                entry += D[row[a], row[e] + 1] * column[e]
            room.S[a, e] = entry * room.scale[a] * room.scale[e]
    return True


@njit(_nrt=False)
def _directions(trial: ModeTrial, room: SelfStress, unknowns: int, rank: int, rows: int) -> int:
    """Write the directions of forces that change nothing but forces, one for each column without a pivot."""
    found = 0
    for j in range(unknowns):
        basic = False
        for k in range(rank):
            basic = basic or room.pivot[k] == j
        if basic:
            continue
        for r in range(rows):
            room.directions[found, r] = 0.0
        for k in range(rank + 1):
            at, size = (j, 1.0) if k == rank else (room.pivot[k], -room.S[k, j])
            size *= room.scale[at]
            room.directions[found, trial.row[at]] += size
            if trial.column[at] != 0.0:
                room.directions[found, trial.row[at] + 1] += size * trial.column[at]
        found += 1
    return found


@njit(_nrt=False)
def _moves(factors: Factors, room: SelfStress, found: int, rows: int) -> bool:
    """Say whether a direction of forces moves the body."""
    Y = factors.Y
    for k in range(found):
        moved, size = 0.0, 0.0
        for i in range(factors.free.size):
            total = 0.0
            for r in range(rows):
                total += Y[r, i] * room.directions[k, r]
                size = max(size, abs(Y[r, i] * room.directions[k, r]))
            moved = max(moved, abs(total))
        if moved > STILL * size:
            return True
    return False


@njit(_nrt=False)
def _add(room: SelfStress, trial: ModeTrial, at: int, found: int, parts: tuple[float, int, float, int, float]) -> int:
    """Append the condition p0 + p2 f[p1] + p4 f[p3] >= 0 in terms of the directions; return how many there are."""
    constant, i, x, j, y = parts
    room.conditions[at, 0] = constant + x * trial.f[i] + y * trial.f[j]
    for k in range(found):
        room.conditions[at, 1 + k] = x * room.directions[k, i] + y * room.directions[k, j]
    return at + 1


@njit(_nrt=False)
def _conditions(acting: ActingContacts, contacts: int, trial: ModeTrial, room: SelfStress, found: int) -> int:
    """Write what the laws ask of the forces; return how many conditions, `DOUBTFUL` where they are not convex."""
    count = 0
    for j in range(contacts):
        n, t, m = 2 * j, 2 * j + 1, trial.mode[j]
        kind, bound, rest = acting.kind[j], acting.bound[j], acting.slip[j] == 0.0
        free = False
        for k in range(found):
            free = free or room.directions[k, n] != 0.0 or room.directions[k, t] != 0.0
        if kind == BILATERAL and free:
            return DOUBTFUL
        if kind == BOUND and rest and m == 0:
            count = _add(room, trial, count, found, (bound, t, 1.0, n, 0.0))
            count = _add(room, trial, count, found, (bound, t, -1.0, n, 0.0))
        if kind != UNILATERAL or m == 0:
            continue
        if acting.tangent[j] == 1 and rest and m == 1:
            count = _add(room, trial, count, found, (0.0, n, bound, t, 1.0))
            count = _add(room, trial, count, found, (0.0, n, bound, t, -1.0))
        else:
            count = _add(room, trial, count, found, (0.0, n, 1.0, t, 0.0))
    return count


@njit(_nrt=False)
def _motions(acting: ActingContacts, contacts: int, trial: ModeTrial, room: SelfStress, found: int, count: int) -> int:
    """Append what the laws ask of the accelerations: contacts that open rise, those that begin to slip do so.

    They are scaled to the size of the forces, as the other conditions are.
    """
    D, c, f = acting.D, acting.c, trial.f
    force = _largest(f, 2 * contacts)
    for j in range(contacts):
        row, sign, m, kind = -1, 1.0, trial.mode[j], acting.kind[j]
        if kind == UNILATERAL and m == 0:
            row = 2 * j
        elif acting.tangent[j] == 1 and acting.slip[j] == 0.0:
            m1 = m if kind == UNILATERAL else m + 1
            if m1 > 1:
                row, sign = 2 * j + 1, (1.0 if m1 == 2 or m1 == 4 else -1.0)
        if row < 0:
            continue
        value, size = c[row], abs(c[row])
        for r in range(2 * contacts):
            value += D[row, r] * f[r]
            size += abs(D[row, r] * f[r])
        size = size / force if size > 0.0 and force > 0.0 else 1.0
        room.conditions[count, 0] = sign * value / size
        for k in range(found):
            total = 0.0
            for r in range(2 * contacts):
                total += D[row, r] * room.directions[k, r]
            room.conditions[count, 1 + k] = sign * total / size
        count += 1
    return count


@njit("int64(ActingContacts, int64, float64, ModeTrial, int64, Factors, SelfStress)", separate=True)
def undetermined(
    acting: ActingContacts,
    contacts: int,
    tol: float,
    trial: ModeTrial,
    unknowns: int,
    factors: Factors,
    room: SelfStress,
) -> int:
    """Decide a combination of modes whose equations lost rank, as far as forces go.

    `trial` holds the rows of its unknowns and the forces that it gives. 1: forces satisfy the laws of forces with room
    to spare, and stand in `trial.f`; 0: none do; `DOUBTFUL`: that isn't clear, or the acceleration isn't determined
    either.
    """
    rows = 2 * contacts
    if not _scaled(acting, contacts, trial, room, unknowns):
        return DOUBTFUL
    size = 0.0
    for a in range(unknowns):
        size = max(size, abs(room.b[a]))
    rank = _eliminate(room, unknowns)
    if rank < 0 or rank == unknowns:
        return DOUBTFUL
    left = 0.0
    for a in range(rank, unknowns):
        left = max(left, abs(room.b[a]))
    if left > CONSISTENT * size:
        return 0 if left > INCONSISTENT * size else DOUBTFUL
    found = _directions(trial, room, unknowns, rank, rows)
    for k in range(rank):
        at = room.pivot[k]
        force = room.b[k] * room.scale[at]
        trial.f[trial.row[at]] += force
        if trial.column[at] != 0.0:
            trial.f[trial.row[at] + 1] += trial.column[at] * force
    count = _conditions(acting, contacts, trial, room, found)
    if count < 0:
        return DOUBTFUL
    moves = _moves(factors, room, found, rows)
    if moves:
        count = _motions(acting, contacts, trial, room, found, count)
    verdict = _deepest(trial, room, found, count, rows, tol)
    return DOUBTFUL if moves and verdict == 1 else verdict


@njit
def _deepest(trial: ModeTrial, room: SelfStress, found: int, count: int, rows: int, tol: float) -> int:
    """Take the forces that lie deepest inside the conditions, as a part of the largest force; decide by their depth."""
    force = _largest(trial.f, rows)
    for k in range(found):  # of the size of the forces, so that depths are parts of them
        largest = 0.0
        for r in range(rows):
            largest = max(largest, abs(room.directions[k, r]))
        for i in range(count):
            room.conditions[i, 1 + k] /= largest
        for r in range(rows):
            room.directions[k, r] /= largest
    if force == 0.0:
        return DOUBTFUL
    table, point = np.zeros((count + 1, found + 2)), np.zeros(found + 1)
    for i in range(count):
        table[i, 0] = room.conditions[i, 0] / force
        for k in range(found):
            table[i, 1 + k] = room.conditions[i, 1 + k]
        table[i, found + 1] = -1.0
    table[count, 0], table[count, found + 1] = 1.0, -1.0
    if deepest_steps(table, 0, point, DEPTH) != 0:
        return DOUBTFUL
    for k in range(found):
        for r in range(rows):
            trial.f[r] += point[k] * force * room.directions[k, r]
    depth = point[found]
    if depth > tol:
        return 1
    return 0 if depth < -tol else DOUBTFUL
