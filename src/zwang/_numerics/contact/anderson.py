"""Anderson's acceleration of sweeps, in building blocks of compiled kernels.

A sweep is a map r -> g(r) whose fixed points are the solutions. Near one of them it is smooth and linear with a slow
contraction, which is why plain sweeps stall on stacks; mixing the last few sweeps so that the linear part of g(r) - r
cancels turns hundreds of sweeps into tens. A mix after which g(r) - r has grown is undone and forgotten, so that the
worst case is plain sweeps.
"""

from __future__ import annotations

import math
from typing import Any

from zwang._numerics.contact.local_contact import copy_to
from zwang._numerics.jit import njit
from zwang._numerics.linear.dense import backward, cholesky, forward


@njit
def _solve_gram(gram: Any, low: Any, count: int, x: Any) -> bool:
    """Overwrite x[:count] with the solution of the regularized Gram system (Cholesky); False if it breaks down."""
    shift = 0.0
    for i in range(count):
        shift = max(shift, gram[i, i])
    shift *= 1e-14
    if not cholesky(gram, low, count, shift) > 0.0:
        return False
    forward(low, x, count)
    backward(low, x, count)
    return True


@njit(fastmath={"reassoc"})
def _mix(slot: int, count: int, m: int, now: Any, differences: Any, small: Any) -> None:
    """Subtract from (r, y) the combination of past differences that makes f smallest; f itself is left alone."""
    memory = differences.shape[0]
    gram, low, gamma = small[:memory], small[memory : 2 * memory], small[2 * memory]
    new, f = differences[slot, m : 2 * m], now[m : 2 * m]
    for i in range(count):
        old = differences[i, m : 2 * m]
        total = 0.0
        other = 0.0
        for k in range(m):
            total += old[k] * new[k]
            other += old[k] * f[k]
        gram[i, slot] = total
        gram[slot, i] = total
        gamma[i] = other
    if not _solve_gram(gram, low, count, gamma):
        return
    r, y = now[:m], now[2 * m :]
    for i in range(count):
        x = gamma[i]
        old, rest = differences[i, :m], differences[i, 2 * m :]
        for k in range(m):
            r[k] -= x * old[k]
        for k in range(y.size):
            y[k] -= x * rest[k]


@njit
def _spread(work: Any, length: int, memory: int) -> Any:
    """Cut the workspace into now, before, differences and what the Gram system needs."""
    d = 2 * length + memory * length
    small = (2 * memory + 1) * memory
    return (
        work[:length],
        work[length : 2 * length],
        work[2 * length : d].reshape((memory, length)),
        work[d : d + small].reshape((2 * memory + 1, memory)),
    )


@njit(fastmath={"reassoc"})
def accelerate(m: int, length: int, memory: int, count: int, slot: int, last: float, work: Any) -> Any:
    """Mix, or undo the last mix, after a sweep that left now = (r, f, y).

    `count` differences are stored, -1 if there is no last sweep to compare with; the next one goes to `slot`. Return
    both, and the size of f that was accepted.
    """
    now, before, differences, small = _spread(work, length, memory)
    size = 0.0
    f = now[m : 2 * m]
    for k in range(m):
        size += f[k] * f[k]
    size = math.sqrt(size)
    if count > 0 and size > last:
        copy_to(now, before)
        return -1, 0, last
    if count < 0:
        copy_to(before, now)
        return 0, 0, size
    new = differences[slot]
    for i in range(now.size):
        new[i] = now[i] - before[i]
    count = min(count + 1, differences.shape[0])
    copy_to(before, now)
    _mix(slot, count, m, now, differences, small)
    return count, (slot + 1) % differences.shape[0], size
