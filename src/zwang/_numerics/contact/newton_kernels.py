"""Semismooth Newton on the natural map of Coulomb's law (Alart and Curnier), dense and compiled.

With scaled forces r and accelerations u = W r + b the equations of a contact are

    N = max(0, N - u_n)   (or u_n = 0),     T = proj(T - u_t) on the disc of radius mu max(0, N - u_n) (mu |N|, or R),

and F(r) = 0 collects them. An element of the generalized Jacobian is P + Q W with P and Q block diagonal; contacts that
are open give dr = -r and drop out of the linear system. W may be singular (more contacts than needed to hold a body): a
thousand-millionth is added to its diagonal in the Jacobian only, which leaves the fixed points where they are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._numerics.contact.local_contact import copy_to
from zwang._numerics.contact.modes import BILATERAL, BOUND
from zwang._numerics.jit import njit
from zwang._numerics.linear.dense import lu, lu_solve

RIDGE = 1e-9  # keeps the matrix regular where forces are redundant


@njit
def _contact_map(
    kind: int, size: int, mu: float, fixed: float, r: Any, u: Any, a: int, f: Any, pq: Any, j: int
) -> bool:
    """Fill F and the blocks P = pq[j, 0], Q = pq[j, 1] of one contact; return whether it is open (F = r)."""
    t, p = a, size
    for i in range(3):
        for k in range(3):
            pq[j, 0, i, k] = 0.0
            pq[j, 1, i, k] = 0.0
    bound = fixed
    b_force = 0.0
    b_motion = 0.0  # the bound and its derivatives by N and u_n
    if kind != BOUND:
        t, p = a + 1, size - 1
        y = r[a] - u[a]
        if kind == BILATERAL:
            f[a] = u[a]
            pq[j, 1, 0, 0] = 1.0
            bound = mu * abs(r[a])
            b_force = mu if r[a] >= 0.0 else -mu
        elif y > 0.0:
            f[a] = u[a]
            pq[j, 1, 0, 0] = 1.0
            bound = mu * y
            b_force = mu
            b_motion = -mu
        else:
            for i in range(size):
                f[a + i] = r[a + i]
                pq[j, 0, i, i] = 1.0
            return True
        if fixed >= 0.0:
            bound, b_force, b_motion = fixed, 0.0, 0.0
    if p == 0:
        return False
    o = t - a
    y1 = r[t] - u[t]
    y2 = r[t + 1] - u[t + 1] if p == 2 else 0.0
    length = math.sqrt(y1 * y1 + y2 * y2)
    if length <= bound:
        for i in range(p):
            f[t + i] = u[t + i]
            pq[j, 1, o + i, o + i] = 1.0
        return False
    n = (y1 / length, y2 / length)
    shrink = bound / length
    for i in range(p):
        f[t + i] = r[t + i] - bound * n[i]
        if o == 1:
            pq[j, 0, 1 + i, 0] = -b_force * n[i]
            pq[j, 1, 1 + i, 0] = -b_motion * n[i]
        for q in range(p):
            turn = shrink * ((1.0 if i == q else 0.0) - n[i] * n[q])
            pq[j, 0, o + i, o + q] = (1.0 if i == q else 0.0) - turn
            pq[j, 1, o + i, o + q] = turn
    return False


@njit("float64(int64[:,::1], float64[:,:], float64[::1], float64[::1], float64[::1], float64[:,:,:,::1], int64[::1])")
def natural_map(layout: Any, law: Any, r: Any, u: Any, f: Any, pq: Any, active: Any) -> float:
    """Fill F, the blocks and the list of contacts that aren't open; return |F|^2."""
    total = 0.0
    active[0] = 0
    for j in range(layout.shape[0]):
        a, size = layout[j, 0], layout[j, 1]
        if size == 0:
            continue
        if not _contact_map(layout[j, 2], size, law[j, 0], law[j, 1], r, u, a, f, pq, j):
            active[0] += 1
            active[active[0]] = j
        for i in range(size):
            total += f[a + i] * f[a + i]
    return total


@njit
def _largest(f: Any) -> float:
    largest = 0.0
    for i in range(f.size):
        largest = max(largest, abs(f[i]))
    return largest


@njit
def motion(wt: Any, b: Any, r: Any, u: Any) -> None:
    """Fill u = W r + b; wt is W^T."""
    copy_to(u, b)
    for i in range(r.size):
        x = r[i]
        if x != 0.0:
            for k in range(u.size):
                u[k] += x * wt[i, k]


@njit
def _newton_step(
    wt: Any, layout: Any, r: Any, f: Any, pq: Any, active: Any, jac: Any, rhs: Any, d: Any, moved: Any
) -> bool:
    """Fill the step d; False if the linear system is singular."""
    for i in range(d.size):
        d[i] = -r[i]
        moved[i] = 0.0
    rows = active[0] - active[0]  # zero, but no literal: Numba would compile the solver twice
    for c in range(1, active[0] + 1):
        a, size = layout[active[c], 0], layout[active[c], 1]
        for i in range(size):
            rhs[rows] = -f[a + i]
            rows += 1
            d[a + i] = 0.0
    for i in range(d.size):  # what the open contacts' steps do to the accelerations of the others
        if d[i] != 0.0:
            for k in range(d.size):
                moved[k] += d[i] * wt[i, k]
    at = 0
    for c in range(1, active[0] + 1):
        j = active[c]
        a, size = layout[j, 0], layout[j, 1]
        to = 0
        for e in range(1, active[0] + 1):
            b, width = layout[active[e], 0], layout[active[e], 1]
            for k in range(width):
                for i in range(size):
                    total = 0.0
                    for q in range(size):
                        total += pq[j, 1, i, q] * wt[b + k, a + q]
                    if e == c:
                        total += pq[j, 0, i, k] + RIDGE * pq[j, 1, i, k]
                    jac[at + i, to + k] = total
            to += width
        for i in range(size):
            for q in range(size):
                rhs[at + i] -= pq[j, 1, i, q] * moved[a + q]
        at += size
    order = np.empty(rows, np.int64)
    if not lu(jac, order, rows, 1e-14):
        return False
    lu_solve(jac, order, rhs, rows)
    at = 0
    for c in range(1, active[0] + 1):
        a, size = layout[active[c], 0], layout[active[c], 1]
        for i in range(size):
            d[a + i] = rhs[at]
            at += 1
    return True


@njit
def newton_work(m: int, k: int) -> int:
    """Return the length of the workspace of `newton_steps`."""
    return 7 * m + m * m + 18 * k


@njit
def newton_steps(wt: Any, b: Any, layout: Any, law: Any, r: Any, work: Any, active: Any, tol: float, limit: int) -> int:
    """Iterate from r, which is overwritten by the best found; return the number of iterations.

    A step is halved until |F| falls, and taken in full if eight halvings don't help: the map has kinks across which a
    full step often recovers.
    """
    m, k = b.size, layout.shape[0]
    u, f, d, x = work[:m], work[m : 2 * m], work[2 * m : 3 * m], work[3 * m : 4 * m]
    keep, rhs, moved = work[4 * m : 5 * m], work[5 * m : 6 * m], work[6 * m : 7 * m]
    jac = work[7 * m : 7 * m + m * m].reshape((m, m))
    pq = work[7 * m + m * m : 7 * m + m * m + 18 * k].reshape((k, 2, 3, 3))
    copy_to(keep, r)
    motion(wt, b, r, u)
    merit = natural_map(layout, law, r, u, f, pq, active)
    best, smallest, iteration = merit, _largest(f), 0
    while iteration < limit and smallest > tol:
        iteration += 1
        if not _newton_step(wt, layout, r, f, pq, active, jac, rhs, d, moved):
            break
        step = 1.0
        for attempt in range(9):
            if attempt == 8:
                step = 1.0
            for i in range(m):
                x[i] = r[i] + step * d[i]
            motion(wt, b, x, u)
            trial = natural_map(layout, law, x, u, f, pq, active)
            if trial < (1.0 - 1e-4 * step) * merit:
                break
            step *= 0.5
        copy_to(r, x)
        merit = trial
        if not merit < 1e300:
            break
        if merit < best:
            best, smallest = merit, _largest(f)
            copy_to(keep, r)
    copy_to(r, keep)
    return iteration


@njit("int64(float64[:,::1], float64[::1], int64[:,::1], float64[:,::1], float64[::1], float64, int64)")
def newton_dense(wt: Any, b: Any, layout: Any, law: Any, r: Any, tol: float, limit: int) -> int:
    """Iterate from r, which is overwritten by the best found; return the number of iterations."""
    m, k = b.size, layout.shape[0]
    return newton_steps(wt, b, layout, law, r, np.zeros(newton_work(m, k)), np.zeros(k + 1, np.int64), tol, limit)


@njit("void(float64[:,::1], float64[::1], int64[:,::1], float64[:,::1], float64[:,::1], float64[::1], float64, int64)")
def newton_from_each(
    wt: Any, b: Any, layout: Any, law: Any, starts: Any, distance: Any, tol: float, limit: int
) -> None:
    """Iterate from each of the rows, which are overwritten by the best found; fill how far these are from the laws."""
    m, k = b.size, layout.shape[0]
    work, active = np.zeros(newton_work(m, k)), np.zeros(k + 1, np.int64)
    u, f = work[:m], work[m : 2 * m]
    pq = work[7 * m + m * m : 7 * m + m * m + 18 * k].reshape((k, 2, 3, 3))
    for s in range(starts.shape[0]):
        newton_steps(wt, b, layout, law, starts[s], work, active, tol, limit)
        motion(wt, b, starts[s], u)
        natural_map(layout, law, starts[s], u, f, pq, active)
        distance[s] = _largest(f)
