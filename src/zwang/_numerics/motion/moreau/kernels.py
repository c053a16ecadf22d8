"""The parts of a step in compiled code: terms in, W and b, v+ from the impulses, rest.

    M (v+ - v) = h Q + J^T r,      u = J v+ + rate0,

with the rows J, M and Q at the midpoint. Of each contact r = (P, F) obeys its law with u: P >= 0, u_n + e u_n- >= 0 and
one of the two zero; |F| <= mu P against the slip u_t. In reactions u = W r + b (`impulses` finds them).

Arrays come in two tuples, tables of integers (`StepLayout.tables` first) and work arrays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._numerics.contact.modes import UNILATERAL
from zwang._numerics.jit import njit

TABLES = 24  # integer arrays of a step
BLOCK_START, BLOCK_AT, MEMBERS, MASS_SLOTS, ROW_SLOTS, J_START, J_COLUMN = range(7)
W_START, W_COLUMN, BLOCKS_START, BLOCKS, FIRST, SIZE, KIND = range(7, 14)
NORMAL, LEVEL, LAW_OF, SOURCE, ACTIVE, LAST, CARRIED, SECTION, LOAD_START, LOADS = range(14, TABLES)
"""Beside the layout: the number of each contact's normal and friction law; POSITION or not; the declared row of each
row; which contacts are active, those for which W was made, and those that carried an impulse in the last step; four
numbers for each contact among the bounds, the two sides of its section and those at rest (-1: rest has no law of its
own), none where one number says all of every law; the rows whose impulses load the friction of each contact that has
no normal, compressed, none where there is no such friction."""

WORK = 24  # real arrays of a step
(MASS, INVERSE, JAC, W, B, R, U, X, FREE, NEXT, SCALE, PUSH) = range(12)
REST, LAW, RESTITUTION, OUT, MIDDLE, GUESS, KEPT, GAP, SHIFT, TURN, FAR, FAST = range(12, WORK)
"""Mass blocks and their inverses, J, W, b, r, u, room, v without impulses, v+, scales, impulses on coordinates;
rates at v = 0, laws, coefficients of restitution, what the model computes, q and v of the middle, room, gaps, room,
what the rates change by in half a step because rows and walls move; the least sizes of gaps and of rates, by rows."""

IN_WORKSPACE, MASS_PLACE, ROW_PLACE, ROW_COUNT, SLIP_ROW_PLACE, FORCE_PLACE, VALUE_PLACE, RATE_PLACE, SLIP_PLACE = (
    range(9)
)
BOUND_PLACE, NORMAL_COUNT, GAMMA_PLACE, SLIP_BIAS_PLACE, PLACES = 9, 10, 11, 12, 13
"""Where the terms stand in what the model computes: in its workspace or its output, and from which entry on."""

FREE_LEVEL, POSITION = 0, 1

INTS = f"UniTuple(int64[::1], {TABLES})"
FLOATS = f"UniTuple(float64[::1], {WORK})"


@njit(_nrt=False)
def _invert(a: Any, out: Any, at: int, s: int) -> None:
    """Invert the symmetric positive definite s x s block that starts at `at`, by elimination without pivoting."""
    for i in range(s):
        for j in range(s):
            out[at + i * s + j] = a[at + i * s + j]
    for k in range(s):
        pivot = out[at + k * s + k]
        p = 1.0 / pivot if pivot != 0.0 else 0.0
        out[at + k * s + k] = p
        for i in range(s):
            if i != k:
                factor = out[at + i * s + k] * p
                out[at + i * s + k] = -factor
                for j in range(s):
                    if j != k:
                        out[at + i * s + j] -= factor * out[at + k * s + j]
        for j in range(s):
            if j != k:
                out[at + k * s + j] *= p


@njit(f"int64({INTS}, {FLOATS}, float64[::1], int64[::1])", separate=True, _nrt=False)
def load(t: Any, f: Any, terms: Any, place: Any) -> int:
    """Take the entries of M and of the rows from the terms; return 1 if M changed, plus 2 if J did."""
    slots, fresh, changed = t[MASS_SLOTS], f[X], 0
    total, e, at = t[BLOCK_AT][-1], t[MASS_SLOTS].size // 2, place[MASS_PLACE]
    for i in range(total):
        fresh[i] = 0.0
    for i in range(e):
        fresh[slots[i]] += terms[at + i]
        if slots[e + i] >= 0:
            fresh[slots[e + i]] += terms[at + i]
    for i in range(total):
        if fresh[i] != f[MASS][i]:
            changed = 1
            f[MASS][i] = fresh[i]
    if changed:
        for k in range(t[BLOCK_START].size - 1):
            _invert(f[MASS], f[INVERSE], t[BLOCK_AT][k], t[BLOCK_START][k + 1] - t[BLOCK_START][k])
    where = t[ROW_SLOTS]
    entries, first = t[J_COLUMN].size, place[ROW_COUNT]
    for i in range(entries):
        fresh[i] = 0.0
    for i in range(where.size):
        if where[i] >= 0:
            fresh[where[i]] += terms[place[ROW_PLACE] + i] if i < first else terms[place[SLIP_ROW_PLACE] + i - first]
    for i in range(entries):
        if fresh[i] != f[JAC][i]:
            changed |= 2
            f[JAC][i] = fresh[i]
    return changed


@njit(f"void({INTS}, {FLOATS}, float64[::1], float64[::1])", separate=True, _nrt=False)
def apply_inverse(t: Any, f: Any, x: Any, out: Any) -> None:
    """Set out to M^-1 x."""
    for k in range(t[BLOCK_START].size - 1):
        a, at = t[BLOCK_START][k], t[BLOCK_AT][k]
        s = t[BLOCK_START][k + 1] - a
        for i in range(s):
            total = 0.0
            for j in range(s):
                total += f[INVERSE][at + i * s + j] * x[t[MEMBERS][a + j]]
            out[t[MEMBERS][a + i]] = total


@njit(_nrt=False)
def row_size(t: Any, f: Any, a: int, x: Any) -> float:
    """Return the size of the terms of row a times x."""
    total = 0.0
    for e in range(t[J_START][a], t[J_START][a + 1]):
        total += abs(f[JAC][e] * x[t[J_COLUMN][e]])
    return total


@njit(_nrt=False)
def row_times(t: Any, f: Any, a: int, x: Any) -> float:
    total = 0.0
    for e in range(t[J_START][a], t[J_START][a + 1]):
        total += f[JAC][e] * x[t[J_COLUMN][e]]
    return total


@njit(f"void({INTS}, {FLOATS}, int64[::1])", separate=True)
def delassus(t: Any, f: Any, active: Any) -> None:
    """Fill W for the rows of the active contacts; of the others it is left as it was."""
    n = t[MEMBERS].size
    push, reach, local = np.zeros(n), np.zeros(n), t[J_START]
    rows_active = np.zeros(local.size - 1, np.int64)
    for c in range(active.size):
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
            rows_active[a] = active[c]
    for a in range(local.size - 1):
        if not rows_active[a]:
            continue
        for e in range(local[a], local[a + 1]):
            push[t[J_COLUMN][e]] = f[JAC][e]
        for q in range(t[BLOCKS_START][a], t[BLOCKS_START][a + 1]):
            k = t[BLOCKS][q]
            start, at = t[BLOCK_START][k], t[BLOCK_AT][k]
            s = t[BLOCK_START][k + 1] - start
            for i in range(s):
                total = 0.0
                for j in range(s):
                    total += f[INVERSE][at + i * s + j] * push[t[MEMBERS][start + j]]
                reach[t[MEMBERS][start + i]] = total
        for q in range(t[W_START][a], t[W_START][a + 1]):
            b = t[W_COLUMN][q]
            if rows_active[b]:
                f[W][q] = row_times(t, f, b, reach)
        for e in range(local[a], local[a + 1]):
            push[t[J_COLUMN][e]] = 0.0
        for q in range(t[BLOCKS_START][a], t[BLOCKS_START][a + 1]):
            k = t[BLOCKS][q]
            for i in range(t[BLOCK_START][k], t[BLOCK_START][k + 1]):
                reach[t[MEMBERS][i]] = 0.0


@njit(f"void({INTS}, {FLOATS}, int64[::1])", separate=True)
def scales(t: Any, f: Any, active: Any) -> None:
    """Set the scale of each active contact: the root of the largest diagonal entry of W on its rows."""
    push = np.zeros(t[MEMBERS].size)
    for c in range(active.size):
        largest = 0.0
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c] if active[c] else t[FIRST][c]):
            for e in range(t[J_START][a], t[J_START][a + 1]):
                push[t[J_COLUMN][e]] = f[JAC][e]
            own = 0.0
            for q in range(t[BLOCKS_START][a], t[BLOCKS_START][a + 1]):
                k = t[BLOCKS][q]
                start, at = t[BLOCK_START][k], t[BLOCK_AT][k]
                s = t[BLOCK_START][k + 1] - start
                for i in range(s):
                    x = push[t[MEMBERS][start + i]]
                    if x != 0.0:
                        for j in range(s):
                            own += x * f[INVERSE][at + i * s + j] * push[t[MEMBERS][start + j]]
            for e in range(t[J_START][a], t[J_START][a + 1]):
                push[t[J_COLUMN][e]] = 0.0
            largest = max(largest, own)
        f[SCALE][c] = math.sqrt(largest) if largest > 0.0 else 1.0


@njit(f"void({INTS}, {FLOATS}, float64, float64[::1], int64[::1], float64[::1])", separate=True, _nrt=False)
def rates_at_rest(t: Any, f: Any, h: float, terms: Any, place: Any, v: Any) -> None:
    """Set REST to the rates without their part J v, rounding of that part to zero, and TURN.

    From the middle of a step to its end a rate J v + rest changes by -h/2 gamma beside J dv: rows turn, walls move.
    With that the rates are those at the end of the step, and the scheme is of second order between events.
    """
    m = place[NORMAL_COUNT]
    for c in range(t[FIRST].size):
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
            row = t[SOURCE][a]
            turn = terms[place[GAMMA_PLACE] + row] if row < m else terms[place[SLIP_BIAS_PLACE] + row - m]
            f[TURN][a] = -0.5 * h * turn
            if row >= m:
                total = terms[place[SLIP_PLACE] + row - m]
            elif t[LEVEL][c] == POSITION:
                total = terms[place[RATE_PLACE] + row]
            else:
                total = terms[place[VALUE_PLACE] + row]
            size = abs(total)
            for e in range(t[J_START][a], t[J_START][a + 1]):
                part = f[JAC][e] * v[t[J_COLUMN][e]]
                total -= part
                size += abs(part)
            f[REST][a] = 0.0 if abs(total) <= 4e-15 * size else total


@njit(f"float64({INTS}, {FLOATS}, float64, float64[::1], int64, float64[::1])", separate=True, _nrt=False)
def prepare(t: Any, f: Any, h: float, terms: Any, force: int, v: Any) -> float:
    """Fill v without impulses and b; return the largest scaled |b|. The force stands in the terms from `force` on."""
    n, active, rest, e = v.size, t[ACTIVE], f[REST], f[RESTITUTION]
    for i in range(n):
        f[PUSH][i] = h * terms[force + i]
    apply_inverse(t, f, f[PUSH], f[FREE])
    for i in range(n):
        f[FREE][i] += v[i]
    cause = 0.0
    for c in range(active.size):
        if not active[c]:
            continue
        a = t[FIRST][c]
        for k in range(t[SIZE][c]):
            f[B][a + k] = row_times(t, f, a + k, f[FREE]) + rest[a + k] + f[TURN][a + k] + f[GAP][a + k]
            if k == 0 and t[KIND][c] == UNILATERAL:
                back = row_times(t, f, a, v) + rest[a] - f[TURN][a]  # at the start of the step
                if back < 0.0 and e[c] > 0.0:  # nan, not declared, counts as zero: no impact gets here with it
                    f[B][a] += e[c] * back
            cause = max(cause, abs(f[B][a + k]) / f[SCALE][c])
    return cause


@njit(f"void({INTS}, {FLOATS}, float64, float64[::1], int64, float64[::1])", separate=True, _nrt=False)
def finish(t: Any, f: Any, h: float, terms: Any, force: int, v: Any) -> None:
    """Set v+ from r: the sum of all impulses first, so that what balances cancels."""
    n, active = v.size, t[ACTIVE]
    for i in range(n):
        f[PUSH][i] = h * terms[force + i]
    for c in range(active.size):
        if active[c]:
            for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
                if f[R][a] != 0.0:
                    for e in range(t[J_START][a], t[J_START][a + 1]):
                        f[PUSH][t[J_COLUMN][e]] += f[JAC][e] * f[R][a]
    apply_inverse(t, f, f[PUSH], f[NEXT])
    for i in range(n):
        f[NEXT][i] += v[i]


@njit(f"int64({INTS}, {FLOATS}, float64, float64)", separate=True)
def settle(t: Any, f: Any, cause: float, tol: float) -> int:
    """Put the velocity of every group of bodies at rest to exactly zero; return how many there are.

    A group is what active contacts with impulses join. It is at rest if zero velocity satisfies its constraints and
    its kinetic energy is below tol^2 of what it would have without the impulses: less than the impulses are known to.
    """
    blocks, active, rest = t[BLOCK_START].size - 1, t[ACTIVE], f[REST]
    parent, fits = np.arange(blocks), np.zeros(blocks, np.int64)
    for c in range(active.size):
        if not active[c]:
            continue
        root = -1
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
            for q in range(t[BLOCKS_START][a], t[BLOCKS_START][a + 1]):
                k = t[BLOCKS][q]
                while parent[k] != k:
                    parent[k] = parent[parent[k]]
                    k = parent[k]
                if root < 0:
                    root = k
                    fits[root] |= 1
                elif k != root:
                    parent[k] = root
                    fits[root] |= fits[k]
            if root >= 0 and abs(rest[a]) + abs(f[TURN][a]) > 1e-3 * tol * cause * f[SCALE][c]:
                fits[root] |= 2
    own, would = np.zeros(blocks), np.zeros(blocks)
    for k in range(blocks):
        root = k
        while parent[root] != root:
            root = parent[root]
        start, at = t[BLOCK_START][k], t[BLOCK_AT][k]
        s = t[BLOCK_START][k + 1] - start
        for i in range(s):
            for j in range(s):
                x, y = t[MEMBERS][start + i], t[MEMBERS][start + j]
                own[root] += f[NEXT][x] * f[MASS][at + i * s + j] * f[NEXT][y]
                would[root] += f[FREE][x] * f[MASS][at + i * s + j] * f[FREE][y]
    count = 0
    for k in range(blocks):
        root = k
        while parent[root] != root:
            root = parent[root]
        if fits[root] == 1 and own[root] <= tol * tol * would[root]:
            count += 1
            for i in range(t[BLOCK_START][k], t[BLOCK_START][k + 1]):
                f[NEXT][t[MEMBERS][i]] = 0.0
    return count
