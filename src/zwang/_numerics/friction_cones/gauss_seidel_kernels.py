"""Sweeps of block Gauss-Seidel with Anderson acceleration: one contact after another, each solved exactly.

A sweep is a map r -> g(r) whose fixed points are the solutions. Near one of them it is smooth and linear with a slow
contraction, which is why plain sweeps stall on stacks; mixing the last few sweeps so that the linear part of g(r) - r
cancels (Anderson) turns hundreds of sweeps into tens. A mix after which g(r) - r has grown is undone and forgotten, so
that the worst case is plain Gauss-Seidel.

The accelerations y that the forces cause are kept up to date along with r, in one of two forms:
    dense    y = u = W r + b, all rows;  a contact costs 3 m multiplications
    bodies   y = w = A^-1 (f + G^T r);   a contact costs those of the few coordinates that it touches.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._numerics.friction_cones.local_contact import (
    LOCAL_SCALE,
    PRESCRIBED,
    UNILATERAL,
    contact_error,
    copy_to,
    prepare_contact,
    solve_contact,
)
from zwang._numerics.jit import njit

# Columns of the table of contacts, after those of `prepare_contact`.
MU, FIXED, ALPHA, BLOCK = 8, 9, 10, 11
TABLE_WIDTH = 20

_PLAIN = 3  # sweeps before mixing starts: the first ones sort out which contacts are open


@njit("void(int64[:,::1], float64[:,::1], float64[:,:,::1], float64[:,::1])")
def fill_table(layout: Any, law: Any, blocks: Any, table: Any) -> None:
    """Fill the table of contacts from their laws and their own blocks of W, (k, 3, 3) padded with zeros."""
    for j in range(layout.shape[0]):
        prepare_contact(table, j, layout[j, 2], layout[j, 3], blocks[j])
        table[j, MU] = law[j, 0]
        table[j, FIXED] = law[j, 1]
        table[j, ALPHA] = 0.0
        for i in range(3):
            for k in range(3):
                table[j, BLOCK + 3 * i + k] = blocks[j, i, k]


@njit
def _relax(j: int, a: int, size: int, kind: int, table: Any, r: Any, v0: float, v1: float, v2: float) -> Any:
    """Give contact j the force that obeys its law; v is the acceleration of its rows. Return the force's change."""
    line = table[j]
    x0 = r[a]
    if kind == UNILATERAL and x0 == 0.0 and v0 >= 0.0:
        return 0.0, 0.0, 0.0  # open, and stays so (its friction force is zero with its normal force)
    x1 = r[a + 1] if size > 1 else 0.0
    x2 = r[a + 2] if size > 2 else 0.0
    q0 = v0 - line[BLOCK] * x0 - line[BLOCK + 1] * x1 - line[BLOCK + 2] * x2
    q1 = v1 - line[BLOCK + 3] * x0 - line[BLOCK + 4] * x1 - line[BLOCK + 5] * x2
    q2 = v2 - line[BLOCK + 6] * x0 - line[BLOCK + 7] * x1 - line[BLOCK + 8] * x2
    if kind == PRESCRIBED:
        _, n, t1, line[ALPHA] = solve_contact(kind, size, line, 0.0, q0, q1, line[MU], line[FIXED], line[ALPHA])
        t2 = 0.0
    else:
        n, t1, t2, line[ALPHA] = solve_contact(kind, size - 1, line, q0, q1, q2, line[MU], line[FIXED], line[ALPHA])
    r[a] = n
    if size > 1:
        r[a + 1] = t1
    if size > 2:
        r[a + 2] = t2
    return n - x0, t1 - x1, t2 - x2


@njit
def _sweep_dense(wt: Any, layout: Any, table: Any, r: Any, u: Any, f: Any) -> float:
    change = 0.0
    for j in range(layout.shape[0]):
        a, size = layout[j, 0], layout[j, 1]
        if size == 0:
            continue
        v1 = u[a + 1] if size > 1 else 0.0
        v2 = u[a + 2] if size > 2 else 0.0
        d0, d1, d2 = _relax(j, a, size, layout[j, 2], table, r, u[a], v1, v2)
        scale = table[j, LOCAL_SCALE]
        f[a] = d0 * scale
        if size > 1:
            f[a + 1] = d1 * scale
        if size > 2:
            f[a + 2] = d2 * scale
        part = max(abs(d0), abs(d1), abs(d2)) * scale
        if part == 0.0:
            continue
        change = max(change, part)
        if size == 3:
            for k in range(u.size):
                u[k] += d0 * wt[a, k] + d1 * wt[a + 1, k] + d2 * wt[a + 2, k]
        elif size == 2:
            for k in range(u.size):
                u[k] += d0 * wt[a, k] + d1 * wt[a + 1, k]
        else:
            for k in range(u.size):
                u[k] += d0 * wt[a, k]
    return change


@njit
def _sweep_bodies(
    ptr: Any, dof: Any, rows: Any, cols: Any, offset: Any, layout: Any, table: Any, r: Any, w: Any, f: Any
) -> float:
    change = 0.0
    for j in range(layout.shape[0]):
        a, size = layout[j, 0], layout[j, 1]
        if size == 0:
            continue
        v0 = -offset[a]
        v1 = -offset[a + 1] if size > 1 else 0.0
        v2 = -offset[a + 2] if size > 2 else 0.0
        for k in range(ptr[j], ptr[j + 1]):
            x = w[dof[k]]
            v0 += rows[k, 0] * x
            v1 += rows[k, 1] * x
            v2 += rows[k, 2] * x
        d0, d1, d2 = _relax(j, a, size, layout[j, 2], table, r, v0, v1, v2)
        scale = table[j, LOCAL_SCALE]
        f[a] = d0 * scale
        if size > 1:
            f[a + 1] = d1 * scale
        if size > 2:
            f[a + 2] = d2 * scale
        part = max(abs(d0), abs(d1), abs(d2)) * scale
        if part == 0.0:
            continue
        change = max(change, part)
        for k in range(ptr[j], ptr[j + 1]):
            w[dof[k]] += cols[k, 0] * d0 + cols[k, 1] * d1 + cols[k, 2] * d2
    return change


@njit
def _solve_gram(gram: Any, count: int, x: Any) -> bool:
    """Overwrite x[:count] with the solution of the regularized Gram system (Cholesky); False if it breaks down."""
    shift = 0.0
    for i in range(count):
        shift = max(shift, gram[i, i])
    shift *= 1e-14
    low = np.empty((count, count))
    for i in range(count):
        for k in range(i + 1):
            total = gram[i, k]
            for q in range(k):
                total -= low[i, q] * low[k, q]
            if i > k:
                low[i, k] = total / low[k, k]
            elif total + shift > 0.0:
                low[i, i] = math.sqrt(total + shift)
            else:
                return False
    for i in range(count):
        for q in range(i):
            x[i] -= low[i, q] * x[q]
        x[i] /= low[i, i]
    for i in range(count - 1, -1, -1):
        for q in range(i + 1, count):
            x[i] -= low[q, i] * x[q]
        x[i] /= low[i, i]
    return True


@njit
def _mix(slot: int, count: int, m: int, now: Any, differences: Any, gram: Any, gamma: Any) -> None:
    """Subtract from (r, y) the combination of past differences that makes f smallest; f itself is left alone."""
    for i in range(count):
        total = 0.0
        other = 0.0
        for k in range(m, 2 * m):
            total += differences[i, k] * differences[slot, k]
            other += differences[i, k] * now[k]
        gram[i, slot] = total
        gram[slot, i] = total
        gamma[i] = other
    if not _solve_gram(gram, count, gamma):
        return
    for i in range(count):
        x = gamma[i]
        for k in range(m):
            now[k] -= x * differences[i, k]
        for k in range(2 * m, now.size):
            now[k] -= x * differences[i, k]


@njit
def _accelerate(
    m: int, last: float, fill: Any, now: Any, before: Any, differences: Any, gram: Any, gamma: Any
) -> float:
    """Mix, or undo the last mix, after a sweep that left now = (r, f, y); return the size of f that was accepted.

    fill = (differences stored, or -1 if there is no last sweep to compare with; the slot of the next one).
    """
    size = 0.0
    for k in range(m, 2 * m):
        size += now[k] * now[k]
    size = math.sqrt(size)
    if fill[0] > 0 and size > last:
        copy_to(now, before)
        fill[0] = -1
        return last
    if fill[0] < 0:
        copy_to(before, now)
        fill[0] = 0
        fill[1] = 0
        return size
    slot, memory = fill[1], differences.shape[0]
    for i in range(now.size):
        differences[slot, i] = now[i] - before[i]
    fill[0] = min(fill[0] + 1, memory)
    fill[1] = (slot + 1) % memory
    copy_to(before, now)
    _mix(slot, fill[0], m, now, differences, gram, gamma)
    return size


@njit
def _worst(layout: Any, table: Any, r: Any, u: Any, cause: float) -> float:
    """Return the residual of r, whose accelerations u were computed afresh."""
    worst, largest = 0.0, 0.0
    for j in range(layout.shape[0]):
        a, size, scale = layout[j, 0], layout[j, 1], table[j, LOCAL_SCALE]
        error = contact_error(layout[j, 2], size, table[j, MU], table[j, FIXED], scale, r, u, a)
        if not error <= worst:  # also if it is no number
            worst = error
        for i in range(size):
            largest = max(largest, abs(r[a + i]) * scale)
    return worst / max(cause, 1e-6 * largest)


@njit
def _dense_motion(wt: Any, b: Any, r: Any, u: Any) -> None:
    copy_to(u, b)
    for i in range(r.size):
        if r[i] != 0.0:
            for k in range(u.size):
                u[k] += r[i] * wt[i, k]


@njit
def _body_motion(ptr: Any, dof: Any, cols: Any, free: Any, layout: Any, r: Any, w: Any) -> None:
    copy_to(w, free)
    for j in range(layout.shape[0]):
        for i in range(layout[j, 1]):
            x = r[layout[j, 0] + i]
            if x != 0.0:
                for k in range(ptr[j], ptr[j + 1]):
                    w[dof[k]] += cols[k, i] * x


@njit
def _body_rows(ptr: Any, dof: Any, rows: Any, offset: Any, layout: Any, w: Any, u: Any) -> None:
    for j in range(layout.shape[0]):
        for i in range(layout[j, 1]):
            total = -offset[layout[j, 0] + i]
            for k in range(ptr[j], ptr[j + 1]):
                total += rows[k, i] * w[dof[k]]
            u[layout[j, 0] + i] = total


@njit(
    "Tuple((int64, float64))(float64[:,::1], float64[::1], int64[:,::1], float64[:,::1], float64[::1], float64, "
    "float64, int64, int64)",
    fastmath={"reassoc"},
)
def relax_dense(
    wt: Any, b: Any, layout: Any, table: Any, start: Any, cause: float, tol: float, limit: int, memory: int
) -> Any:
    """Sweep from `start`, which is overwritten, until the residual is below `tol`; return (sweeps, residual).

    wt is W^T; `cause` is the largest scaled |b|, which residuals are measured by.
    """
    m = b.size
    now, before, differences = np.zeros(3 * m), np.empty(0), np.empty((0, 0))
    gram, gamma, fill = np.empty((0, 0)), np.empty(0), np.empty(0, np.int64)
    r, f, u = now[:m], now[m : 2 * m], now[2 * m :]
    copy_to(r, start)
    _dense_motion(wt, b, r, u)
    target, residual, last, sweep = 0.5 * tol * cause, np.inf, np.inf, 0
    while sweep < limit:
        sweep += 1
        change = _sweep_dense(wt, layout, table, r, u, f)
        if not change >= target or sweep == limit:
            _dense_motion(wt, b, r, u)
            residual = _worst(layout, table, r, u, cause)
            if residual <= tol or not change > 0.0:
                break
            target *= 0.1
        if sweep >= _PLAIN and memory > 0:
            if sweep == _PLAIN:  # only now: small problems are often done before
                before, differences = np.empty(3 * m), np.empty((memory, 3 * m))
                gram, gamma, fill = np.empty((memory, memory)), np.empty(memory), np.full(2, -1)
            last = _accelerate(m, last, fill, now, before, differences, gram, gamma)
    copy_to(start, r)
    return sweep, residual


@njit(
    "Tuple((int64, float64))(int64[::1], uint32[::1], float64[:,::1], float64[:,::1], float64[::1], float64[::1], "
    "int64[:,::1], float64[:,::1], float64[::1], float64, float64, int64, int64)",
    fastmath={"reassoc"},
)
def relax_bodies(
    ptr: Any, dof: Any, rows: Any, cols: Any, offset: Any, free: Any, layout: Any, table: Any, start: Any,
    cause: float, tol: float, limit: int, memory: int,
) -> Any:  # fmt: skip
    """The same on the structure of bodies: `free` is A^-1 f, rows and cols the entries of H and A^-1 G^T by contact."""
    m, n = offset.size, free.size
    now, before, differences = np.zeros(2 * m + n), np.empty(2 * m + n), np.empty((memory, 2 * m + n))
    gram, gamma, fill, u = np.empty((memory, memory)), np.empty(memory), np.full(2, -1), np.empty(m)
    r, f, w = now[:m], now[m : 2 * m], now[2 * m :]
    copy_to(r, start)
    _body_motion(ptr, dof, cols, free, layout, r, w)
    target, residual, last, sweep = 0.5 * tol * cause, np.inf, np.inf, 0
    while sweep < limit:
        sweep += 1
        change = _sweep_bodies(ptr, dof, rows, cols, offset, layout, table, r, w, f)
        if not change >= target or sweep == limit:
            _body_motion(ptr, dof, cols, free, layout, r, w)
            _body_rows(ptr, dof, rows, offset, layout, w, u)
            residual = _worst(layout, table, r, u, cause)
            if residual <= tol or not change > 0.0:
                break
            target *= 0.1
        if sweep >= _PLAIN and memory > 0:
            last = _accelerate(m, last, fill, now, before, differences, gram, gamma)
    copy_to(start, r)
    return sweep, residual
