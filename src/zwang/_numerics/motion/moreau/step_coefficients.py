"""Steps with sections of two sizes, and with rest that has a law of its own: which coefficient each contact has.

The impulses of a step are found for symmetric sections. A contact whose interval has two sizes has the one against its
slip, or against the side that it leans to; one that rested at the start of the step may stick by what holds at rest.
What was assumed is compared with what came out, and asked again until both agree: then the impulses obey the laws.

Friction that the impulses of other contacts load (pins, rolling beside sliding) is bounded by what they were in the
last round, until they stay: each round shrinks the error by the part of the friction that comes back as load.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._numerics.contact.modes import BOUND
from zwang._numerics.jit import njit
from zwang._numerics.motion.moreau.impulses import GOOD, TOL, solve
from zwang._numerics.motion.moreau.kernels import (
    ACTIVE,
    FAST,
    FIRST,
    KIND,
    LAW,
    LAW_OF,
    LOAD_START,
    LOADS,
    REST,
    SCALE,
    SECTION,
    SIZE,
    TURN,
    R,
    U,
    row_size,
    row_times,
)

SLOW = 1e-9
"""Slips below this, relative to their size, are rest at the start of a step."""
MOST_ROUNDS = 200
"""Rounds after which loads that don't settle count as jammed."""
SETTLED = 1e-11
"""Change of a bound, relative to the velocities that a step would make without impulses, below which it stays."""
MOVES = 1e-9
"""Part of the cause of a step that a slip must exceed to count as one at its end."""


@njit
def _rests(t: Any, f: Any, c: int, speed: Any, step: int, rates: Any) -> bool:
    """Say whether a contact is at rest at the start of a step."""
    a = t[FIRST][c] + (0 if t[KIND][c] == BOUND else 1)
    for k in range(a, t[FIRST][c] + t[SIZE][c]):
        slip = rates[step - 1, k] if step > 0 else row_times(t, f, k, speed) + f[REST][k] - f[TURN][k]
        if abs(slip) > SLOW * (f[FAST][k] + row_size(t, f, k, speed)):
            return False
    return True


@njit
def _inside(t: Any, f: Any, c: int, first: float, second: float, h: float) -> bool:
    """Say whether the friction impulse of a contact lies in the section at rest."""
    alone = t[KIND][c] == BOUND
    a = t[FIRST][c] + (0 if alone else 1)
    load = h if alone else abs(f[R][t[FIRST][c]])
    room = load * (1.0 + 1e-9)
    if t[FIRST][c] + t[SIZE][c] - a == 1:
        return bool(-first * room <= f[R][a] <= second * room)
    x = f[R][a] / first if first > 0.0 else (0.0 if f[R][a] == 0.0 else np.inf)
    y = f[R][a + 1] / second if second > 0.0 else (0.0 if f[R][a + 1] == 0.0 else np.inf)
    return math.hypot(x, y) <= room


@njit
def _give(t: Any, f: Any, c: int, size: float, h: float) -> None:
    """Set the coefficient, or the bound, of a contact."""
    if t[KIND][c] == BOUND:
        f[LAW][2 * c], f[LAW][2 * c + 1] = 1.0, h * size
    else:
        f[LAW][2 * c] = size


@njit
def solve_sections(
    t: Any, f: Any, terms: Any, bounds: int, weight: Any, speed: Any, step: int, rates: Any, cause: float
) -> float:
    """Improve r until the laws hold; return the residual, 1 where no choice of coefficients agrees with its outcome.

    `weight` (k,) multiplies the bounds of friction without a normal: the length of the step, or what loads it.
    """
    k = t[FIRST].size
    side, rest = np.zeros(k, np.int64), np.zeros(k, np.int64)
    sizes, before = np.zeros((k, 4)), f[R].copy()
    for c in range(k):
        if t[SECTION][4 * c] < 0:
            continue
        for i in range(4):
            sizes[c, i] = max(terms[bounds + t[SECTION][4 * c + i]], 0.0) if t[SECTION][4 * c + i] >= 0 else -1.0
        a = t[FIRST][c] + (0 if t[KIND][c] == BOUND else 1)
        side[c] = 1 if f[R][a] > 0.0 else 0
        rest[c] = 1 if sizes[c, 2] >= 0.0 and _rests(t, f, c, speed, step, rates) else 0
    for _ in range(4 * k + 8):
        for c in range(k):
            if t[SECTION][4 * c] >= 0:
                _give(t, f, c, max(sizes[c, 2], sizes[c, 3]) if rest[c] else sizes[c, side[c]], weight[c])
        residual = solve(t, f, cause, TOL)
        if not residual <= GOOD:
            return residual
        changed = False
        for c in range(k):
            if t[SECTION][4 * c] < 0 or t[SIZE][c] == 0:
                continue
            a, end = t[FIRST][c] + (0 if t[KIND][c] == BOUND else 1), t[FIRST][c] + t[SIZE][c]
            slips = 0.0
            for row in range(a, end):
                slips = max(slips, abs(f[U][row]))
            moving = slips > MOVES * cause * f[SCALE][c]
            if rest[c]:
                if moving or not _inside(t, f, c, sizes[c, 2], sizes[c, 3], weight[c]):
                    rest[c], changed = 0, True
            elif end - a == 1 and sizes[c, 0] != sizes[c, 1]:
                wanted = side[c]
                if moving:
                    wanted = 0 if f[U][a] > 0.0 else 1
                elif f[R][a] != 0.0:
                    wanted = 1 if f[R][a] > 0.0 else 0
                if wanted != side[c]:
                    side[c], changed = wanted, True
        if not changed:
            return residual
        for row in range(f[R].size):
            f[R][row] = before[row]
    return 1.0


@njit
def _load_of(t: Any, f: Any, c: int) -> float:
    """Return the resultant of the impulses that load a contact."""
    total = 0.0
    for place in range(t[LOAD_START][c], t[LOAD_START][c + 1]):
        total += f[R][t[LOADS][place]] ** 2
    return math.sqrt(total)


@njit
def solve_loaded(
    t: Any, f: Any, terms: Any, bounds: int, h: float, speed: Any, step: int, rates: Any, cause: float
) -> float:
    """Improve r until the laws hold where impulses load friction; return the residual, 1 where loads don't settle."""
    k = t[FIRST].size
    weight = np.full(k, h)
    for c in range(k):
        if t[LOAD_START][c + 1] > t[LOAD_START][c]:
            weight[c] = _load_of(t, f, c)
    for _ in range(MOST_ROUNDS):
        for c in range(k):
            if t[LOAD_START][c + 1] > t[LOAD_START][c]:
                f[LAW][2 * c], f[LAW][2 * c + 1] = 1.0, weight[c] * max(terms[bounds + t[LAW_OF][c]], 0.0)
        if t[SECTION].size == 0:
            residual = solve(t, f, cause, TOL)
        else:
            residual = solve_sections(t, f, terms, bounds, weight, speed, step, rates, cause)
        if not residual <= GOOD:
            break
        off = 0.0
        for c in range(k):
            if t[ACTIVE][c] and t[LOAD_START][c + 1] > t[LOAD_START][c]:
                load = _load_of(t, f, c)
                off = max(off, abs(load - weight[c]) * max(terms[bounds + t[LAW_OF][c]], 0.0) * f[SCALE][c])
                weight[c] = load
        if off <= SETTLED * cause:
            return max(residual, off / cause)
    for c in range(k):  # others try: they are told the coefficients
        if t[LOAD_START][c + 1] > t[LOAD_START][c]:
            f[LAW][2 * c] = max(terms[bounds + t[LAW_OF][c]], 0.0)
    return 1.0
