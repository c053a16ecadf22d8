"""Sweeps of block Gauss-Seidel: one contact after another, each solved exactly; mixed by Anderson's method.

The accelerations y that the forces cause are kept up to date along with r, in one of two forms:
    dense    y = u = W r + b, all rows;  a contact costs 3 m multiplications
    bodies   y = w = A^-1 (f + G^T r);   a contact costs those of the few coordinates that it touches.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.anderson import accelerate
from zwang._numerics.contact.body_rows import BodyRows
from zwang._numerics.contact.local_contact import (
    COS,
    HELD,
    L1,
    L2,
    LOCAL_SCALE,
    NN,
    SIN,
    W1,
    W2,
    LocalBlock,
    contact_error,
    copy_to,
    prepare_contact,
    solve_contact,
)
from zwang._numerics.contact.modes import BOUND, UNILATERAL
from zwang._numerics.contact.newton_kernels import motion, newton_steps, newton_work
from zwang._numerics.jit import njit

Floats = NDArray[np.float64]

# Indices that are read from arrays are unsigned: for a signed one, each access tests whether it counts from the end,
# and loops don't become vector instructions. For the same reason loops run over slices from zero.

# Columns of the table of contacts, after those of `prepare_contact`.
MU, FIXED, ALPHA, BLOCK = 8, 9, 10, 11
TABLE_WIDTH = 20  # numbers that the table keeps for each contact

# Sweeps before mixing starts. The first ones sort out which contacts are open; a handful of contacts is often done by
# then, and mixing would cost more than it saves.
_FEW, _FEW_PLAIN, _MANY_PLAIN = 15, 3, 16

# Systems up to this size try Newton's method once, with at most so many steps, after so many sweeps and if more than so
# many others would be needed.
_POLISHED, _POLISH, _POLISH_FROM, _POLISH_COST = 45, 8, 4, 12


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


@njit(_nrt=False)
def _relax(j: int, a: int, size: int, kind: int, table: Any, r: Any, v0: float, v1: float, v2: float) -> Any:
    """Give contact j the force that obeys its law; v is the acceleration of its rows. Return the force's change."""
    x0 = r[a]
    if kind == UNILATERAL and x0 == 0.0 and v0 >= 0.0:
        return 0.0, 0.0, 0.0  # open, and stays so (its friction force is zero with its normal force)
    x1 = r[a + 1] if size > 1 else 0.0
    x2 = r[a + 2] if size > 2 else 0.0
    q0 = v0 - table[j, BLOCK] * x0 - table[j, BLOCK + 1] * x1 - table[j, BLOCK + 2] * x2
    q1 = v1 - table[j, BLOCK + 3] * x0 - table[j, BLOCK + 4] * x1 - table[j, BLOCK + 5] * x2
    q2 = v2 - table[j, BLOCK + 6] * x0 - table[j, BLOCK + 7] * x1 - table[j, BLOCK + 8] * x2
    p = size - 1
    if kind == BOUND:
        p = size
        q0, q1, q2 = 0.0, q0, q1
    own = LocalBlock(table[j, NN], table[j, W1], table[j, W2], table[j, L1], table[j, L2], table[j, COS], table[j, SIN])
    n, t1, t2, alpha = solve_contact(kind, p, own, (q0, q1, q2), table[j, MU], table[j, FIXED], table[j, ALPHA])
    table[j, ALPHA] = alpha
    if kind == BOUND:
        n, t1, t2 = t1, t2, 0.0
    r[a] = n
    if size > 1:
        r[a + 1] = t1
    if size > 2:
        r[a + 2] = t2
    return n - x0, t1 - x1, t2 - x2


@njit(_nrt=False)
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


@njit(_nrt=False)
def _sweep_bodies(bodies: BodyRows, layout: Any, table: Any, r: Any, w: Any, f: Any) -> float:
    ptr, dof, rows, cols, offset, _ = bodies
    change = 0.0
    for j in range(layout.shape[0]):
        a, size = layout[j, 0], layout[j, 1]
        if size == 0 or layout[j, 2] == HELD:
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


@njit(_nrt=False)
def _worst(layout: Any, table: Any, r: Any, u: Any, cause: float) -> float:
    """Return the residual of r, whose accelerations u were computed afresh."""
    worst, largest = 0.0, 0.0
    for j in range(layout.shape[0]):
        a, size, scale = layout[j, 0], layout[j, 1], table[j, LOCAL_SCALE]
        if layout[j, 2] == HELD:
            continue
        error = contact_error(layout[j, 2], size, table[j, MU], table[j, FIXED], scale, r, u, a)
        if not error <= worst:  # also if it is no number
            worst = error
        for i in range(size):
            largest = max(largest, abs(r[a + i]) * scale)
    return worst / max(cause, 1e-6 * largest)


@njit(_nrt=False)
def _body_motion(bodies: BodyRows, layout: Any, r: Any, w: Any) -> None:
    ptr, dof, cols = bodies.ptr, bodies.dof, bodies.cols
    copy_to(w, bodies.free)
    for j in range(layout.shape[0]):
        for i in range(layout[j, 1]):
            x = r[layout[j, 0] + i]
            if x != 0.0:
                for k in range(ptr[j], ptr[j + 1]):
                    w[dof[k]] += cols[k, i] * x


@njit(_nrt=False)
def _body_rows(bodies: BodyRows, layout: Any, w: Any, u: Any) -> None:
    ptr, dof, rows, offset = bodies.ptr, bodies.dof, bodies.rows, bodies.offset
    for j in range(layout.shape[0]):
        for i in range(layout[j, 1]):
            total = -offset[layout[j, 0] + i]
            for k in range(ptr[j], ptr[j + 1]):
                total += rows[k, i] * w[dof[k]]
            u[layout[j, 0] + i] = total


@njit
def dense_work(m: int, k: int, memory: int) -> int:
    """Return the length of the workspace of `relax_dense`."""
    return 3 * m * (memory + 2) + memory * (2 * memory + 1) + m + newton_work(m, k)


@njit
def _sweeps_to_go(past: float, change: float, target: float) -> float:
    """Estimate how many more sweeps bring the change below the target, from its last two values."""
    if not change < past:
        return np.inf
    return math.log(target / change) / math.log(change / past)


@njit
def _polish(wt: Any, b: Any, layout: Any, law: Any, table: Any, x: Any, u: Any, work: Any, tol: float) -> Any:
    """Try Newton's method from x in the first m entries of work; return (iterations, residual of what it found)."""
    trial = work[: b.size]
    copy_to(trial, x)
    active = np.zeros(layout.shape[0] + 1, np.int64)
    done = newton_steps(wt, b, layout, law, trial, work[b.size :], active, 0.1 * tol, _POLISH)
    motion(wt, b, trial, u)
    return done, _worst(layout, table, trial, u, 1.0)


@njit(
    "Tuple((int64, int64, float64))(float64[:,::1], int64[:,::1], float64[:,::1], float64[::1], float64[::1], "
    "boolean, float64, int64, int64)"
)
def relax_dense(
    system: Any, layout: Any, table: Any, work: Any, r: Any, fresh: bool, tol: float, limit: int, memory: int
) -> Any:
    """Sweep from r, or from zero if `fresh`, until the residual is below `tol`; r is overwritten.

    The rows of `system` are those of W^T, then b, then the unit of r, all in scaled units, where residuals are measured
    by one. (Few arguments: to unpack one takes as long as to solve a contact.) Small systems try Newton's method once
    after some sweeps: those are enough to know the modes, and Newton doubles the digits while sweeps add a few. Return
    (sweeps, Newton steps, residual).
    """
    m, k = r.size, layout.shape[0]
    wt, b, unit = system[:m], system[m], system[m + 1]
    x, f, u = work[:m], work[m : 2 * m], work[2 * m : 3 * m]
    for i in range(m):
        x[i] = 0.0 if fresh else r[i] / unit[i]
    motion(wt, b, x, u)
    for j in range(k):
        table[j, ALPHA] = 0.0
    plain = _FEW_PLAIN if m > _FEW else _MANY_PLAIN
    newton_left = m <= _POLISHED and memory > 0
    slot = limit - limit  # no literal: Numba would compile what it is given to twice
    count = slot - 1
    target, residual, last, sweep, done = 0.5 * tol, np.inf, np.inf, 0, 0
    change = np.inf
    while sweep < limit:
        sweep += 1
        past = change
        change = _sweep_dense(wt, layout, table, x, u, f)
        if not change >= target or sweep == limit:
            motion(wt, b, x, u)
            residual = _worst(layout, table, x, u, 1.0)
            if residual <= tol or not change > 0.0:
                break
            target *= 0.1
            count = -1
        elif newton_left and sweep >= _POLISH_FROM and _sweeps_to_go(past, change, target) > _POLISH_COST:
            newton_left = False
            trial = work[work.size - m - newton_work(m, k) :]
            done, residual = _polish(wt, b, layout, table[:, MU : FIXED + 1], table, x, u, trial, tol)
            if residual <= tol:
                copy_to(x, trial[:m])
                break
            motion(wt, b, x, u)
            count, done = -1, 0
        elif sweep >= plain and memory > 0:
            count, slot, last = accelerate(m, 3 * m, memory, count, slot, last, work)
    for i in range(m):
        r[i] = x[i] * unit[i]
    return sweep, done, residual


@njit(
    "Tuple((int64, float64))(BodyRows, int64[:,::1], float64[:,::1], float64[::1], float64[::1], float64, float64, "
    "int64, int64)",
)
def relax_bodies(
    bodies: BodyRows, layout: Any, table: Any, work: Any, r: Any, cause: float, tol: float, limit: int, memory: int
) -> Any:
    """The same on the structure of bodies. `work` has (2 m + n) (memory + 2) + memory (2 memory + 1) entries."""
    m, n = bodies.offset.size, bodies.free.size
    x, f, w = work[:m], work[m : 2 * m], work[2 * m : 2 * m + n]
    copy_to(x, r)
    for i in range(m):
        f[i] = 0.0
    _body_motion(bodies, layout, x, w)
    for j in range(layout.shape[0]):
        table[j, ALPHA] = 0.0
    plain = _FEW_PLAIN if m > _FEW else _MANY_PLAIN
    slot = limit - limit
    count = slot - 1
    target, residual, last, sweep = 0.5 * tol * cause, np.inf, np.inf, 0
    while sweep < limit:
        sweep += 1
        change = _sweep_bodies(bodies, layout, table, x, w, f)
        if not change >= target or sweep == limit:
            _body_motion(bodies, layout, x, w)
            _body_rows(bodies, layout, w, f)
            residual = _worst(layout, table, x, f, cause)
            if residual <= tol or not change > 0.0:
                break
            target *= 0.1
            count = -1  # f was used for the accelerations: no difference can be taken from it
        elif sweep >= plain and memory > 0:
            count, slot, last = accelerate(m, 2 * m + n, memory, count, slot, last, work)
    copy_to(r, x)
    return sweep, residual
