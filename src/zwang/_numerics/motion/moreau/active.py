"""What each contact does in a step, and Newton's method in these modes (`direct`).

The modes are those of the last step at first, then those that what failed asks for.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._numerics.contact.local_contact import contact_error
from zwang._numerics.contact.modes import BOUND, UNILATERAL
from zwang._numerics.jit import njit
from zwang._numerics.motion.moreau.direct import (
    OPEN,
    SLIDES,
    STICKS,
    factor,
    follow,
    newton,
    weights,
)
from zwang._numerics.motion.moreau.elimination import elimination
from zwang._numerics.motion.moreau.kernels import (
    ACTIVE,
    FIRST,
    FLOATS,
    GAP,
    INTS,
    J_COLUMN,
    J_START,
    JAC,
    KIND,
    LAW,
    MEMBERS,
    REST,
    SCALE,
    SIZE,
    TURN,
    B,
    R,
    U,
)

PATIENCE = 6
"""Changes of modes after which it is given up that there are fewer of them."""
ROUNDS = 40
"""Steps of Newton's method, changes of modes among them, before others try."""
DEPENDENT = 1e-6
"""Part of its terms up to which a sum is nothing, where rows are asked whether they contradict each other."""
MOST_WORK = 3e7
"""Multiplications of a factorization beyond which gradients are cheaper."""


@njit(f"float64({INTS}, {FLOATS}, int64[::1], float64[::1])", separate=True)
def law_error(t: Any, f: Any, active: Any, law: Any) -> float:
    """Return the largest distance of an active contact from its law, infinite where one is no number."""
    worst = 0.0
    for c in range(active.size):
        if active[c]:
            one = contact_error(
                t[KIND][c], t[SIZE][c], law[2 * c], law[2 * c + 1], f[SCALE][c], f[R], f[U], t[FIRST][c]
            )
            if not one < np.inf:
                return np.inf
            worst = max(worst, one)
    return worst


@njit
def _mode_of(t: Any, f: Any, c: int, old: int, zero: float, first: bool) -> int:
    """Return the mode of one contact."""
    s, a, kind = t[SIZE][c], t[FIRST][c], t[KIND][c]
    if not t[ACTIVE][c] or s == 0:
        return OPEN
    o = 0 if kind == BOUND else 1
    small = 100.0 * zero * f[SCALE][c]
    if kind == UNILATERAL and not f[R][a] > 0.0:
        # Blocks of a tower that nothing holds would fall together: at first what does not separate counts as closed.
        if f[U][a] > (small if first else -small):
            return OPEN
        slip = 0.0
        for k in range(a + o, a + s):
            slip += f[U][k] * f[U][k]
        return SLIDES if math.sqrt(slip) > small + 2.0 * f[LAW][2 * c] * abs(f[U][a]) else STICKS
    if s == o:
        return STICKS
    pull, slip, against = 0.0, 0.0, 0.0
    for k in range(a + o, a + s):
        pull += f[R][k] * f[R][k]
        slip += f[U][k] * f[U][k]
        against += f[R][k] * f[U][k]
    bound = f[LAW][2 * c + 1] if f[LAW][2 * c + 1] >= 0.0 else f[LAW][2 * c] * abs(f[R][a])
    pull, slip = math.sqrt(pull), math.sqrt(slip)
    if first:
        return SLIDES if pull >= (1.0 - 1e-6) * bound and slip > zero * f[SCALE][c] else STICKS
    if old == SLIDES:
        return STICKS if against > small * pull else SLIDES
    return SLIDES if pull > bound * (1.0 + 1e-12) else STICKS


@njit
def sort_modes(t: Any, f: Any, mode: Any, zero: float, first: bool) -> int:
    """Set the mode of every active contact from r and u; at first from how the last step ended, then by what failed.

    Return how many modes changed.
    """
    changed = 0
    for c in range(mode.size):
        new = _mode_of(t, f, c, mode[c], zero, first)
        changed += new != mode[c]
        mode[c] = new
    return changed


@njit
def _cut(t: Any, f: Any, c: int) -> None:
    """Cut the friction of a contact to its bound."""
    a, o = t[FIRST][c], 0 if t[KIND][c] == BOUND else 1
    bound = f[LAW][2 * c + 1] if f[LAW][2 * c + 1] >= 0.0 else f[LAW][2 * c] * abs(f[R][a])
    pull = 0.0
    for k in range(a + o, a + t[SIZE][c]):
        pull += f[R][k] * f[R][k]
    pull = math.sqrt(pull)
    if pull > bound:
        for k in range(a + o, a + t[SIZE][c]):
            f[R][k] *= bound / pull


@njit
def _hold(t: Any, f: Any, mode: Any, held: Any) -> None:
    """Set the rows that modes hold; open contacts get no impulse, friction beyond its bound is cut to it."""
    for c in range(mode.size):
        s, a = t[SIZE][c], t[FIRST][c]
        o = 0 if t[KIND][c] == BOUND else 1
        for k in range(a, a + s):
            held[k] = 1 if mode[c] == STICKS or (mode[c] == SLIDES and k < a + o) else 0
            if mode[c] == OPEN:
                f[R][k] = 0.0
        if mode[c] == SLIDES:
            _cut(t, f, c)


@njit
def left_of(t: Any, f: Any, held: Any) -> float:
    """Return the largest scaled rate of the held rows."""
    worst = 0.0
    for c in range(t[FIRST].size):
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
            if held[a]:
                worst = max(worst, abs(f[U][a]) / f[SCALE][c])
    return worst


@njit
def _slides(mode: Any) -> bool:
    for c in range(mode.size):  # noqa: SIM110 - compiled
        if mode[c] == SLIDES:
            return True
    return False


@njit
def _dependent(t: Any, f: Any, held: Any, rho: Any) -> bool:
    """Say whether no velocity fulfils the held rows better than what they have left: J^T rho u vanishes, u does not."""
    push, size = np.zeros(t[MEMBERS].size), np.zeros(t[MEMBERS].size)
    for a in range(held.size):
        if held[a]:
            for e in range(t[J_START][a], t[J_START][a + 1]):
                part = rho[a] * f[U][a] * f[JAC][e]
                push[t[J_COLUMN][e]] += part
                size[t[J_COLUMN][e]] += abs(part)
    left = False
    for i in range(push.size):
        left = left or size[i] > 0.0
        if abs(push[i]) > DEPENDENT * size[i]:
            return False
    return left


@njit
def _agree(t: Any, f: Any, held: Any, rho: Any) -> None:
    """Drop from the corrections of held rows what no velocity fulfils.

    Rows that depend on each other (the four feet of a body that stops turning) have corrections for the turning of rows
    that are consistent up to their own size only. Friction on supports that move apart is no such case: it slides.
    """
    if not _dependent(t, f, held, rho):
        return
    for c in range(t[FIRST].size):
        a, o = t[FIRST][c], 0 if t[KIND][c] == BOUND else 1
        for b in range(a, a + t[SIZE][c]):
            fixed = b < a + o or f[REST][b] == 0.0
            if held[b] and fixed and abs(f[U][b]) <= abs(f[TURN][b]) + abs(f[GAP][b]):
                f[TURN][b] -= f[U][b]
                f[B][b] -= f[U][b]


@njit(f"float64({INTS}, {FLOATS}, float64, float64, float64, boolean)", separate=True)
def by_modes(t: Any, f: Any, cause: float, tol: float, loose: float, anew: bool) -> float:
    """Newton's method for the modes of the last step, then for those that what failed asks for; return the residual.

    Friction that sticks is shared anew, if asked for, so that no self-stress builds up. Infinite where a factorization
    would cost more than gradients do, or modes go round in circles.
    """
    n, active = t[MEMBERS].size, t[ACTIVE]
    env = elimination(t)
    if env.work > MOST_WORK:
        return np.inf
    size = env.own[env.own.size - 1]
    low, up, x, w = np.empty(size), np.empty(size), np.empty(n), np.empty(n)
    mode, held = np.zeros(active.size, np.int64), np.zeros(f[R].size, np.int64)
    zero, error, left, fresh = 1e-13 * cause, np.inf, np.inf, True
    least, idle = mode.size + 1, 0
    rho = weights(t, f)
    sort_modes(t, f, mode, zero, True)
    _hold(t, f, mode, held)
    for c in range(mode.size):
        if anew and mode[c] == STICKS and t[KIND][c] != BOUND:
            for a in range(t[FIRST][c] + 1, t[FIRST][c] + t[SIZE][c]):
                f[R][a] = 0.0
    follow(t, f, w)
    for _ in range(ROUNDS):
        if fresh and not factor(t, f, mode, held, rho, env, low, up):
            return np.inf
        newton(t, f, mode, held, rho, env, low, up, x)
        follow(t, f, w)
        before, error = error, law_error(t, f, active, f[LAW]) / cause
        slides = _slides(mode)
        if error <= (loose if slides else tol):
            return error
        fresh = slides and error > 0.1 * before
        last, left = left, left_of(t, f, held)
        if 100.0 * zero < left < 0.1 * last:
            continue  # what the held rows have left says nothing of modes
        left = np.inf
        changed = sort_modes(t, f, mode, zero, False)
        if changed:
            idle = 0 if changed < least else idle + 1
            least = min(least, changed)
            if idle > PATIENCE:
                return np.inf
            _hold(t, f, mode, held)
            follow(t, f, w)
            error, fresh = np.inf, True
        elif error > 0.5 * before:
            _agree(t, f, held, rho)
    return error
