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
    StepFactors,
    along,
    factor,
    follow,
    newton,
    weigh,
)
from zwang._numerics.motion.moreau.elimination import Elimination, GatheredRows, substitute
from zwang._numerics.motion.moreau.kernels import (
    ACTIVE,
    BLOCK_START,
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

ROUNDS = 40
"""Steps of Newton's method, changes of modes among them, before others try."""
FEW = 20
"""Contacts for each of which one more may change its mode before other solvers tell all of them sooner."""
DEPENDENT = 1e-3
"""Part of what held rows have left that a velocity may still fulfil, where they count as contradicting each other."""


@njit(f"float64({INTS}, {FLOATS}, int64[::1], float64[::1])", separate=True, _nrt=False)
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


@njit(_nrt=False)
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


@njit(_nrt=False)
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


@njit(_nrt=False)
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


@njit(_nrt=False)
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


@njit(_nrt=False)
def _share_anew(t: Any, f: Any, mode: Any) -> None:
    """Take friction that sticks to zero: what comes of it then is shared like the normal impulses."""
    for c in range(mode.size):
        if mode[c] == STICKS and t[KIND][c] != BOUND:
            for a in range(t[FIRST][c] + 1, t[FIRST][c] + t[SIZE][c]):
                f[R][a] = 0.0


@njit(_nrt=False)
def left_of(t: Any, f: Any, held: Any) -> float:
    """Return the largest scaled rate of the held rows."""
    worst = 0.0
    for c in range(t[FIRST].size):
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
            if held[a]:
                worst = max(worst, abs(f[U][a]) / f[SCALE][c])
    return worst


@njit(_nrt=False)
def _slides(mode: Any) -> bool:
    for c in range(mode.size):  # noqa: SIM110 - compiled
        if mode[c] == SLIDES:
            return True
    return False


@njit(_nrt=False)
def _dependent(t: Any, f: Any, held: Any, rho: Any, env: Elimination, made: StepFactors, x: Any) -> bool:
    """Say whether no velocity fulfils the held rows better than what they have left; x (n,) is room."""
    for i in range(x.size):
        x[i] = 0.0
    for a in range(held.size):
        if held[a]:
            for e in range(t[J_START][a], t[J_START][a + 1]):
                x[env.place[t[J_COLUMN][e]]] += rho[a] * f[U][a] * f[JAC][e]
    substitute(env, made.low, made.up, x)
    most = DEPENDENT * left_of(t, f, held)
    for c in range(t[FIRST].size):
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
            if held[a] and not abs(along(t, f, a, env, x)) <= most * f[SCALE][c]:
                return False
    return True


@njit
def _agree(t: Any, f: Any, held: Any, rho: Any) -> bool:
    """Drop from the corrections of held rows what no velocity fulfils; say whether something was dropped.

    Rows that depend on each other (the four feet of a body that stops turning) have corrections for the turning of rows
    that are consistent up to their own size only: least squares leave no more of them, weighted and summed, than they
    are. Friction on supports that move apart is no such case: it slides.
    """
    room, some = np.zeros(t[MEMBERS].size), False
    for a in range(held.size):
        if held[a]:
            size = abs(f[TURN][a]) + abs(f[GAP][a])
            for e in range(t[J_START][a], t[J_START][a + 1]):
                room[t[J_COLUMN][e]] += rho[a] * size * size
    for c in range(t[FIRST].size):
        a, o = t[FIRST][c], 0 if t[KIND][c] == BOUND else 1
        for b in range(a, a + t[SIZE][c]):
            if not held[b] or (b >= a + o and f[REST][b] != 0.0):
                continue
            most = 0.0
            for e in range(t[J_START][b], t[J_START][b + 1]):
                most = max(most, room[t[J_COLUMN][e]])
            if f[U][b] != 0.0 and rho[b] * f[U][b] * f[U][b] <= most:
                f[TURN][b] -= f[U][b]
                f[B][b] -= f[U][b]
                some = True
    return some


@njit(_nrt=False)
def few_of(contacts: int) -> int:
    """Return how many changes of modes are no longer few."""
    return 3 + contacts // FEW


@njit(_nrt=False)
def restore(f: Any, impulses: Any, rates: Any, turns: Any) -> None:
    """Put back what Newton's method changes: r, b, and what rows turn by."""
    for a in range(impulses.size):
        f[R][a], f[B][a], f[TURN][a] = impulses[a], rates[a], turns[a]


@njit(
    f"float64({INTS}, {FLOATS}, Elimination, GatheredRows, StepFactors, int64[::1], float64, float64, float64, "
    "boolean, int64, int64)",
    separate=True,
)
def by_modes(
    t: Any, f: Any, env: Elimination, g: GatheredRows, made: StepFactors, mode: Any, cause: float, tol: float,
    loose: float, anew: bool, few: int, patience: int,
) -> float:  # fmt: skip
    """Newton's method for given modes (k,), then for those that what failed asks for; return the residual.

    Friction that sticks is shared anew, if asked for, so that no self-stress builds up. Infinite where modes go round
    in circles: where more often than `patience` allows no fewer of them change than ever before, `few` at first.
    """
    active, n = t[ACTIVE], t[MEMBERS].size
    x, w, held = np.empty(n), np.empty(n), np.zeros(f[R].size, np.int64)
    zero, error, left, fresh, other = 1e-13 * cause, np.inf, np.inf, True, True
    least, idle = few, 0
    rho, peak = np.empty(f[R].size), np.empty(t[BLOCK_START].size - 1)
    for _ in range(ROUNDS):
        if other:
            weigh(t, f, peak, rho)
            _hold(t, f, mode, held)
            if anew:
                _share_anew(t, f, mode)
            follow(t, f, w)
        if fresh and not factor(t, f, mode, held, rho, env, g, made, other):
            return np.inf
        other = False
        newton(t, f, mode, held, rho, env, made, x)
        follow(t, f, w)
        before, error = error, law_error(t, f, active, f[LAW]) / cause
        slides = _slides(mode)
        if error <= (loose if slides else tol):
            return error
        fresh = slides and error > 0.1 * before
        last, left = left, left_of(t, f, held)
        if 100.0 * zero < left < 0.1 * last:
            continue  # what the held rows have left says nothing of modes
        if left > 100.0 * zero and _dependent(t, f, held, rho, env, made, x) and _agree(t, f, held, rho):
            if anew:
                _share_anew(t, f, mode)
            follow(t, f, w)
            left = np.inf
            continue
        left = np.inf
        changed = sort_modes(t, f, mode, zero, False)
        if changed:
            idle = 0 if changed < least else idle + 1
            least = min(least, changed)
            if idle > patience:
                return np.inf
            error, fresh, other = np.inf, True, True
    return error
