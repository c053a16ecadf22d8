"""The impulses of a step for given modes, by Newton's method with one factorization in the coordinates.

Rows that are held (sticking contacts, normals of sliding ones) have u = B + J w = 0, w = M^-1 J^T r; W = J M^-1 J^T may
be singular on them, as under four feet, so r moves by the method of multipliers: dr_h = -rho (u_h + J_h dw), which
leaves u_h = -dr_h/rho, each time smaller by 1/(1 + rho lambda) with lambda the eigenvalues of W that are not zero, and
adds to r nothing that does nothing. Friction that slides is F = -mu P d with d = s/|s|, the slip's direction, so

    dF = (-mu P d - F) - mu d dP - V ds,        V = mu P (1 - d d^T)/|s|,

and with dP and ds in terms of dw there is one system in the coordinates,

    (M + J_h^T rho J_h + J_t^T V J_t - J_t^T mu d rho J_n) dw = -J_h^T rho u_h + J_t^T (-mu P d - F + mu d rho u_n).

It couples bodies that share a contact, is not symmetric, and eliminated without pivots (`elimination`): where that goes
wrong the residual says so, and others try.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.modes import BOUND
from zwang._numerics.jit import njit
from zwang._numerics.motion.moreau.elimination import Elimination, add_own, add_product, add_row, eliminate, substitute
from zwang._numerics.motion.moreau.kernels import (
    ACTIVE,
    BLOCK_AT,
    BLOCK_START,
    FIRST,
    FLOATS,
    INTS,
    J_COLUMN,
    J_START,
    JAC,
    KIND,
    LAW,
    MASS,
    MEMBERS,
    PUSH,
    SCALE,
    SIZE,
    B,
    R,
    U,
    apply_inverse,
    row_times,
)

RHO = 1e7
"""Weight of the held rows, relative to their own inverse inertia."""
LEAST = 1e-3
"""Least weight of a slip relative to the largest."""
NO_SLIP = 1e-5
"""Slips below this part of what friction alone would make: friction is against s - w F (Alart, Curnier), not s."""
OPEN, STICKS, SLIDES = range(3)
"""What a contact does."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@njit
def weights(t: Any, f: Any) -> Any:
    """Return the weight of each row (m,): of slips in proportion to the normal impulse, so that they share like it."""
    rho, most = np.zeros(f[R].size), 0.0
    for c in range(t[FIRST].size):
        if t[ACTIVE][c] and t[SIZE][c]:
            most = max(most, abs(f[R][t[FIRST][c]]) * f[SCALE][c])
    for c in range(t[FIRST].size):
        a, own = t[FIRST][c], RHO / (f[SCALE][c] * f[SCALE][c])
        for b in range(a, a + t[SIZE][c]):
            rho[b] = own
            if b > a and t[KIND][c] != BOUND and most > 0.0:
                rho[b] *= max(abs(f[R][a]) * f[SCALE][c] / most, LEAST)
    return rho


@njit
def _assemble(t: Any, f: Any, mode: Any, held: Any, rho: Any, env: Elimination, low: Any, up: Any) -> None:
    """Fill the matrix: what is symmetric first, in one half."""
    place, spot = env.place, np.empty(env.place.size, np.int64)
    for e in range(up.size):
        up[e] = 0.0
    for k in range(t[BLOCK_START].size - 1):
        begin, at = t[BLOCK_START][k], t[BLOCK_AT][k]
        s = t[BLOCK_START][k + 1] - begin
        for i in range(s):
            for j in range(s):
                value = f[MASS][at + i * s + j]
                add_own(env, up, place[t[MEMBERS][begin + i]], place[t[MEMBERS][begin + j]], value)
    for a in range(held.size):
        if held[a]:
            add_row(env, up, t[J_COLUMN], f[JAC], t[J_START][a], t[J_START][a + 1], rho[a], spot)
    for e in range(up.size):
        low[e] = up[e]
    for c in range(t[FIRST].size):
        if mode[c] == SLIDES:
            _add_sliding(t, f, c, rho[t[FIRST][c]], env, low, up)


@njit
def _add_sliding(t: Any, f: Any, c: int, weight: float, env: Elimination, low: Any, up: Any) -> None:
    """Add what the friction of a sliding contact does when its slip and its normal impulse change."""
    s = sliding(t, f, c)
    a, o = t[FIRST][c], 0 if t[KIND][c] == BOUND else 1
    for i in range(s.parts):
        for j in range(s.parts):
            turn = s.turning * ((1.0 if i == j else 0.0) - _of(s, i) * _of(s, j))
            if turn != 0.0:
                add_product(env, low, up, t[J_COLUMN], f[JAC], t[J_START], a + o + i, a + o + j, turn)
        pull = -s.mu * _of(s, i) * weight
        if pull != 0.0:
            add_product(env, low, up, t[J_COLUMN], f[JAC], t[J_START], a + o + i, a, pull)


class Sliding(NamedTuple):
    """Friction of a sliding contact: tangents, direction of the slip, mu (0 without a normal), bound, mu P/|s|."""

    parts: int
    first: float
    second: float
    mu: float
    bound: float
    turning: float


@njit(_nrt=False)
def _of(s: Sliding, i: int) -> float:
    return s.first if i == 0 else s.second


@njit
def sliding(t: Any, f: Any, c: int) -> Sliding:
    """Return the friction of a sliding contact as it stands."""
    a, o = t[FIRST][c], 0 if t[KIND][c] == BOUND else 1
    count = t[SIZE][c] - o
    fixed, mu = f[LAW][2 * c + 1], f[LAW][2 * c]
    if fixed >= 0.0:
        mu, bound = 0.0, fixed
    else:
        bound = mu * abs(f[R][a])
        mu = -mu if f[R][a] < 0.0 else mu
    own = f[SCALE][c] * f[SCALE][c] * bound
    x, y = f[U][a + o], f[U][a + o + 1] if count > 1 else 0.0
    speed = math.hypot(x, y)
    turning = bound / max(speed, own / RHO) if count > 1 and bound > 0.0 else 0.0
    if not speed > NO_SLIP * own:
        part = f[SCALE][c] * f[SCALE][c]
        x, y = x - part * f[R][a + o], y - part * f[R][a + o + 1] if count > 1 else 0.0
        speed = math.hypot(x, y)
    if speed == 0.0:
        return Sliding(count, 0.0, 0.0, mu, bound, 0.0)
    return Sliding(count, x / speed, y / speed, mu, bound, turning)


@njit(
    f"boolean({INTS}, {FLOATS}, int64[::1], int64[::1], float64[::1], Elimination, float64[::1], float64[::1])",
    separate=True,
)
def factor(t: Any, f: Any, mode: Any, held: Any, rho: Any, env: Elimination, low: Any, up: Any) -> bool:
    """Fill the factors L and U of the system; False where a pivot is zero or no number."""
    _assemble(t, f, mode, held, rho, env, low, up)
    return eliminate(env, low, up)


@njit(f"void({INTS}, {FLOATS}, float64[::1])", separate=True)
def follow(t: Any, f: Any, w: Any) -> None:
    """Set w = M^-1 J^T r and u = B + J w of the active rows."""
    for i in range(w.size):
        f[PUSH][i] = 0.0
    for c in range(t[FIRST].size):
        if t[ACTIVE][c]:
            for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
                r = f[R][a]
                if r != 0.0:
                    for e in range(t[J_START][a], t[J_START][a + 1]):
                        f[PUSH][t[J_COLUMN][e]] += f[JAC][e] * r
    apply_inverse(t, f, f[PUSH], w)
    for c in range(t[FIRST].size):
        if t[ACTIVE][c]:
            for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
                f[U][a] = f[B][a] + row_times(t, f, a, w)


@njit(
    f"void({INTS}, {FLOATS}, int64[::1], int64[::1], float64[::1], Elimination, "
    "float64[::1], float64[::1], float64[::1])",
    separate=True,
)
def newton(t: Any, f: Any, mode: Any, held: Any, rho: Any, env: Elimination, low: Any, up: Any, x: Any) -> None:
    """Change r by one step of Newton's method from what u is; u is not brought up to date."""
    for i in range(x.size):
        x[i] = 0.0
    for c in range(t[FIRST].size):
        a = t[FIRST][c]
        for b in range(a, a + t[SIZE][c]):
            if held[b]:
                for e in range(t[J_START][b], t[J_START][b + 1]):
                    x[env.place[t[J_COLUMN][e]]] -= rho[b] * f[U][b] * f[JAC][e]
        if mode[c] == SLIDES:
            s, o = sliding(t, f, c), 0 if t[KIND][c] == BOUND else 1
            for i in range(s.parts):
                off = -s.bound * _of(s, i) - f[R][a + o + i] + s.mu * _of(s, i) * rho[a] * f[U][a]
                for e in range(t[J_START][a + o + i], t[J_START][a + o + i + 1]):
                    x[env.place[t[J_COLUMN][e]]] += off * f[JAC][e]
    substitute(env, low, up, x)
    for c in range(t[FIRST].size):
        a = t[FIRST][c]
        if mode[c] == SLIDES:
            s, o = sliding(t, f, c), 0 if t[KIND][c] == BOUND else 1
            more = -rho[a] * (f[U][a] + _along(t, f, a, env, x)) if o else 0.0
            first, second = _along(t, f, a + o, env, x), 0.0
            if s.parts > 1:
                second = _along(t, f, a + o + 1, env, x)
            across = s.first * first + s.second * second
            for i in range(s.parts):
                turned = (first if i == 0 else second) - _of(s, i) * across
                f[R][a + o + i] = -_of(s, i) * (s.bound + s.mu * more) - s.turning * turned
            if o:
                f[R][a] += more
            continue
        for b in range(a, a + t[SIZE][c]):
            if held[b]:
                f[R][b] -= rho[b] * (f[U][b] + _along(t, f, b, env, x))


@njit
def _along(t: Any, f: Any, a: int, env: Elimination, x: Any) -> float:
    total = 0.0
    for e in range(t[J_START][a], t[J_START][a + 1]):
        total += f[JAC][e] * x[env.place[t[J_COLUMN][e]]]
    return total
