"""The impulses of a step: u = W r + b, and of each contact r obeys its law with u.

Tried in this order: the impulses of the last step as they are (a step in which nothing changes costs one product);
Newton's method in the modes of the last step, then in those that what failed asks for (`active`); interior points,
which tell the modes of a heap in some ten factorizations, and Newton's method in these (`interior`); sweeps of
Gauss-Seidel and Newton's method in turn; conjugate gradients on the contacts that carried an impulse, as if all stuck;
the same with the friction of sliding contacts put in, in turn; more sweeps. The residual is always that of the laws,
computed at the end.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._numerics.contact.anderson import accelerate
from zwang._numerics.contact.local_contact import (
    COS,
    L1,
    L2,
    LOCAL_WIDTH,
    NN,
    SIN,
    W1,
    W2,
    LocalBlock,
    prepare_contact,
    solve_contact,
)
from zwang._numerics.contact.modes import BOUND, UNILATERAL
from zwang._numerics.jit import njit
from zwang._numerics.motion.moreau.active import ROUNDS, by_modes, few_of, law_error, left_of, restore, sort_modes
from zwang._numerics.motion.moreau.direct import (
    OPEN,
    SLIDES,
    STICKS,
    StepFactors,
    factor,
    factors,
    follow,
    newton,
    weigh,
)
from zwang._numerics.motion.moreau.elimination import Elimination, GatheredRows, elimination, gather
from zwang._numerics.motion.moreau.interior import LAST, interior
from zwang._numerics.motion.moreau.kernels import (
    ACTIVE,
    BLOCK_START,
    FIRST,
    FLOATS,
    INTS,
    KIND,
    LAW,
    MEMBERS,
    SCALE,
    SIZE,
    TURN,
    W_COLUMN,
    W_START,
    B,
    R,
    U,
    W,
    X,
    delassus,
)

MEMORY = 8  # iterates that acceleration combines
TOL = 1e-12
"""Residual that a step is solved to, relative to the velocities that it would make without impulses."""
GOOD = 1e-10
"""Residual beyond which other solvers are asked."""
GRADIENTS, SWEEPS = 400, 400
ROUGH, SOON, FEW = 8, 5, 25
"""How often sweeps prepare Newton's method, how often before gradients are tried, and how many at first: then twice as
many each time."""
MOST_WORK = 3e7
"""Multiplications of a factorization beyond which gradients are cheaper."""
PATIENCE = 6
"""Changes of modes after which it is given up that there are fewer of them, where other solvers take long."""
SHIFTS = 12
"""Turns in which positions are moved back; two or three do."""


@njit(f"void({INTS}, {FLOATS}, int64[::1])", separate=True, _nrt=False)
def velocities(t: Any, f: Any, active: Any) -> None:
    """Set u = W r + b for the active rows."""
    for c in range(active.size):
        if not active[c]:
            continue
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
            total = f[B][a]
            for q in range(t[W_START][a], t[W_START][a + 1]):
                r = f[R][t[W_COLUMN][q]]
                if r != 0.0:
                    total += f[W][q] * r
            f[U][a] = total


@njit(f"void({INTS}, {FLOATS}, int64[::1], float64, int64)", separate=True)
def stick(t: Any, f: Any, held: Any, tol: float, limit: int) -> None:
    """Change r so that W r + b = 0 on the held rows, by conjugate gradients scaled by contact."""
    m = held.size
    x = f[X]
    rest, d, moved, scale = x[:m], x[m : 2 * m], x[2 * m : 3 * m], x[3 * m : 4 * m]
    for c in range(t[FIRST].size):
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
            scale[a] = 1.0 / f[SCALE][c] if held[a] else 0.0
    square = 0.0
    for a in range(m):
        rest[a] = -f[U][a] * scale[a]
        d[a] = rest[a] * scale[a]  # the direction times the scale: what r changes by
        square += rest[a] * rest[a]
    start, columns, values = t[W_START], t[W_COLUMN], f[W]
    for _ in range(limit):
        if not square > tol * tol:
            return
        curvature = 0.0
        for a in range(m):
            if held[a]:
                total = 0.0
                for q in range(start[a], start[a + 1]):
                    total += values[q] * d[columns[q]]
                moved[a] = total
                curvature += total * d[a]
        if not curvature > 0.0:
            return
        step, after = square / curvature, 0.0
        for a in range(m):
            if held[a]:
                f[R][a] += step * d[a]
                rest[a] -= step * moved[a] * scale[a]
                after += rest[a] * rest[a]
        turn = after / square
        for a in range(m):
            d[a] = rest[a] * scale[a] + turn * d[a]
        square = after


@njit(_nrt=False)
def _sweep(t: Any, f: Any, active: Any, law: Any, local: Any, alpha: Any) -> None:
    """Solve every contact in turn for its own impulse; u is kept up to date."""
    for c in range(active.size):
        s = t[SIZE][c]
        if not active[c] or s == 0:
            continue
        a, kind = t[FIRST][c], t[KIND][c]
        o = 0 if kind == BOUND else 1
        q0, q1, q2 = 0.0, 0.0, 0.0
        for k in range(s):
            own = f[U][a + k]
            for q in range(t[W_START][a + k], t[W_START][a + k + 1]):
                b = t[W_COLUMN][q]
                if a <= b < a + s:
                    own -= f[W][q] * f[R][b]
            if k + 1 - o == 0:
                q0 = own
            elif k + 1 - o == 1:
                q1 = own
            else:
                q2 = own
        block = LocalBlock(
            local[c, NN], local[c, W1], local[c, W2], local[c, L1], local[c, L2], local[c, COS], local[c, SIN]
        )
        p, p1, p2, alpha[c] = solve_contact(kind, s - o, block, (q0, q1, q2), law[2 * c], law[2 * c + 1], alpha[c])
        for k in range(s):
            at = k + 1 - o
            change = (p if at == 0 else (p1 if at == 1 else p2)) - f[R][a + k]
            if change != 0.0:
                f[R][a + k] += change
                for q in range(t[W_START][a + k], t[W_START][a + k + 1]):
                    f[U][t[W_COLUMN][q]] += f[W][q] * change


@njit
def _local_tables(t: Any, f: Any, active: Any) -> Any:
    local, block = np.zeros((active.size, LOCAL_WIDTH)), np.zeros((3, 3))
    for c in range(active.size):
        if not active[c] or t[SIZE][c] == 0:
            continue
        a, s = t[FIRST][c], t[SIZE][c]
        for i in range(s):
            for q in range(t[W_START][a + i], t[W_START][a + i + 1]):
                b = t[W_COLUMN][q]
                if a <= b < a + s:
                    block[i, b - a] = f[W][q]
        prepare_contact(local, c, t[KIND][c], s - (0 if t[KIND][c] == BOUND else 1), block)
    return local


@njit(_nrt=False)
def _set_modes(t: Any, f: Any, mode: Any, held: Any, zero: float) -> None:
    """Give sliding contacts their friction, open ones none; the rows that are left are held."""
    for c in range(mode.size):
        s, a = t[SIZE][c], t[FIRST][c]
        o = 0 if t[KIND][c] == BOUND else 1
        for k in range(a, a + s):
            held[k] = 1 if mode[c] == STICKS or (mode[c] == SLIDES and k < a + o) else 0
            if mode[c] == OPEN:
                f[R][k] = 0.0
        if mode[c] != SLIDES:
            continue
        bound = f[LAW][2 * c + 1] if f[LAW][2 * c + 1] >= 0.0 else f[LAW][2 * c] * abs(f[R][a])
        slip, pull = 0.0, 0.0
        for k in range(a + o, a + s):
            slip += f[U][k] * f[U][k]
            pull += f[R][k] * f[R][k]
        slip, pull = math.sqrt(slip), math.sqrt(pull)
        for k in range(a + o, a + s):
            if slip > zero * f[SCALE][c]:
                f[R][k] = -bound * f[U][k] / slip
            elif pull > 0.0:
                f[R][k] *= bound / pull


@njit
def _slide(t: Any, f: Any, cause: float, tol: float, gradients: int, rounds: int) -> float:
    """Sliding contacts get the friction of the last known normal impulse and slip, the others are held; in turn.

    What one round gets wrong shrinks by the part of the friction that comes back as normal impulse, a half for cubes;
    mixing the last rounds (Anderson) makes that a few rounds.
    """
    m = f[R].size
    mode, held, friction = np.zeros(t[ACTIVE].size, np.int64), np.zeros(m, np.int64), np.zeros(m)
    work = np.zeros((MEMORY + 2) * 2 * m + MEMORY * (2 * MEMORY + 1))
    zero, error = 1e-13 * cause, np.inf
    count, slot, last = -1, 0, np.inf
    sort_modes(t, f, mode, zero, True)
    _set_modes(t, f, mode, held, zero)
    for _ in range(rounds):
        for a in range(m):
            friction[a] = f[R][a]
        velocities(t, f, t[ACTIVE])
        stick(t, f, held, max(0.01 * tol, min(0.01 * error, 1e-4)) * cause, gradients)
        velocities(t, f, t[ACTIVE])
        error = law_error(t, f, t[ACTIVE], f[LAW]) / cause
        if error <= tol:
            break
        changed = sort_modes(t, f, mode, zero, False)
        _set_modes(t, f, mode, held, zero)
        if changed:
            count, slot, last = -1, 0, np.inf
            continue
        for a in range(m):
            own = held[a] == 0
            work[a] = f[R][a] if own else 0.0
            work[m + a] = f[R][a] - friction[a] if own else 0.0
        count, slot, last = accelerate(m, 2 * m, MEMORY, count, slot, last, work)
        for a in range(m):
            if held[a] == 0:
                f[R][a] = work[a]
    return error


@njit(_nrt=False)
def _modes_from(
    t: Any, f: Any, env: Elimination, g: GatheredRows, made: StepFactors, mode: Any, cause: float, anew: bool,
    few: int, patience: int,
) -> float:  # fmt: skip
    """Newton's method in the modes that r and u show; return the residual, infinite where it costs too much."""
    if env.work > MOST_WORK:
        return np.inf
    sort_modes(t, f, mode, 1e-13 * cause, True)
    return by_modes(t, f, env, g, made, mode, cause, TOL, GOOD, anew, few, patience)


@njit
def _by_sweeps(
    t: Any, f: Any, env: Elimination, g: GatheredRows, made: StepFactors, cause: float, before: Any, rates: Any,
    turns: Any,
) -> float:  # fmt: skip
    """Sweeps and Newton's method in the modes that they tell, in turn, and gradients; return the residual."""
    m, active, law = before.size, t[ACTIVE], f[LAW]
    mode, held = np.zeros(active.size, np.int64), np.zeros(m, np.int64)
    delassus(t, f, active)
    velocities(t, f, active)
    local, alpha = _local_tables(t, f, active), np.zeros(active.size)
    swept, error = before.copy(), np.inf
    for k in range(ROUGH):
        if k == SOON:
            error = _by_gradients(t, f, held, cause, before)
            if error <= GOOD:
                return error
            restore(f, swept, rates, turns)
            velocities(t, f, active)
        for _ in range(FEW << k):
            _sweep(t, f, active, law, local, alpha)
        velocities(t, f, active)
        for a in range(m):
            swept[a] = f[R][a]
        error = _modes_from(t, f, env, g, made, mode, cause, False, mode.size + 1, PATIENCE)
        if error <= GOOD:
            return error
        restore(f, swept, rates, turns)
        velocities(t, f, active)
    for k in range(SWEEPS):
        _sweep(t, f, active, law, local, alpha)
        if k % 4 == 3 or k < 4:
            velocities(t, f, active)
            error = law_error(t, f, active, law) / cause
            if error <= GOOD:
                break
    return error


@njit
def _by_gradients(t: Any, f: Any, held: Any, cause: float, before: Any) -> float:
    """Try whether all stick that carried, then friction put in in turn; return the residual."""
    m, active, law = before.size, t[ACTIVE], f[LAW]
    for a in range(m):
        f[R][a] = before[a]
    velocities(t, f, active)
    for c in range(active.size):
        a = t[FIRST][c]
        # Blocks of a tower that nothing holds would fall together: what does not separate counts as closed.
        if active[c] and (t[KIND][c] != UNILATERAL or f[R][a] > 0.0 or f[U][a] <= TOL * cause * f[SCALE][c]):
            for k in range(t[SIZE][c]):
                held[a + k] = 1
    stick(t, f, held, 0.1 * TOL * cause, GRADIENTS)
    velocities(t, f, active)
    error = law_error(t, f, active, law) / cause
    if error <= TOL:
        return error
    for a in range(m):
        f[R][a] = before[a]
    velocities(t, f, active)
    return float(_slide(t, f, cause, GOOD, GRADIENTS, ROUNDS))


@njit(f"float64({INTS}, {FLOATS}, float64, float64)", separate=True)
def solve(t: Any, f: Any, cause: float, enough: float) -> float:
    """Improve r until the laws hold to TOL of the cause, or to GOOD where contacts slide; return the residual.

    Impulses that stand in r already are taken as they are up to the residual `enough`.
    """
    m, active, law = f[R].size, t[ACTIVE], f[LAW]
    if cause == 0.0:
        for a in range(m):
            f[R][a] = 0.0
            f[U][a] = f[B][a]
        return 0.0
    for c in range(active.size):
        if not active[c]:
            for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
                f[R][a] = 0.0
    follow(t, f, np.empty(t[MEMBERS].size))
    error = law_error(t, f, active, law) / cause
    if error <= enough:
        return error
    before, rates, turns = f[R].copy(), f[B].copy(), f[TURN].copy()
    env = elimination(t)
    g, made = gather(t, f, env), factors(t, env)
    mode = np.zeros(active.size, np.int64)
    error = _modes_from(t, f, env, g, made, mode, cause, True, few_of(mode.size), 0)
    if error <= GOOD:
        return error
    restore(f, before, rates, turns)
    for attempt in range(LAST + 1 if env.work <= MOST_WORK else 0):
        error = interior(t, f, env, g, made, cause, TOL, GOOD, attempt)
        if error <= GOOD:
            return error
        restore(f, before, rates, turns)
    return float(_by_sweeps(t, f, env, g, made, cause, before, rates, turns))


@njit(f"void({INTS}, {FLOATS}, int64[::1], float64[::1], float64, float64[::1])", separate=True)
def shift(t: Any, f: Any, chosen: Any, gap: Any, tol: float, out: Any) -> None:
    """Set out to the smallest change of position, in the metric of M, that changes the chosen rows (m,) by -gap."""
    m, n = chosen.size, out.size
    for a in range(m):
        f[R][a] = 0.0
        f[B][a] = gap[a] if chosen[a] else 0.0
        f[U][a] = f[B][a]
    env = elimination(t)
    if env.work > MOST_WORK:
        delassus(t, f, t[ACTIVE])
        stick(t, f, chosen, tol, 4 * m)
        follow(t, f, out)
        return
    g, made, x, mode = gather(t, f, env), factors(t, env), np.empty(n), np.zeros(t[ACTIVE].size, np.int64)
    rho = np.empty(m)
    weigh(t, f, np.empty(t[BLOCK_START].size - 1), rho)
    sound = factor(t, f, mode, chosen, rho, env, g, made, True)
    left = np.inf
    follow(t, f, out)
    for _ in range(SHIFTS if sound else 0):
        last, left = left, left_of(t, f, chosen)
        if not tol < left < 0.5 * last:
            return
        newton(t, f, mode, chosen, rho, env, made, x)
        follow(t, f, out)
