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
from zwang._numerics.motion.moreau.elimination import (
    Elimination,
    GatheredRows,
    add_contact,
    add_own,
    eliminate,
    substitute,
)
from zwang._numerics.motion.moreau.kernels import (
    ACTIVE,
    BLOCK_AT,
    BLOCK_START,
    BLOCKS,
    BLOCKS_START,
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
LEAST = 1e-5
"""Least weight of a slip relative to the largest on its body."""
NO_SLIP = 1e-5
"""Slips below this part of what friction alone would make: friction is against s - w F (Alart, Curnier), not s."""
OPEN, STICKS, SLIDES = range(3)
"""What a contact does."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@njit(_nrt=False)
def weigh(t: Any, f: Any, peak: Any, rho: Any) -> None:
    """Set the weight of each row (m,): of slips in proportion to the normal impulse, so that they share like it.

    The measure is the largest normal impulse on the bodies of a contact, of the body that has less; `peak` (b,) is
    room for it, by blocks.
    """
    for k in range(peak.size):
        peak[k] = 0.0
    for c in range(t[FIRST].size):
        if t[ACTIVE][c]:
            a = t[FIRST][c]
            for b in range(a, a + t[SIZE][c]):
                for q in range(t[BLOCKS_START][b], t[BLOCKS_START][b + 1]):
                    peak[t[BLOCKS][q]] = max(peak[t[BLOCKS][q]], abs(f[R][a]) * f[SCALE][c])
    for c in range(t[FIRST].size):
        a, own, most = t[FIRST][c], RHO / (f[SCALE][c] * f[SCALE][c]), np.inf
        for b in range(a, a + t[SIZE][c]):
            for q in range(t[BLOCKS_START][b], t[BLOCKS_START][b + 1]):
                most = min(most, peak[t[BLOCKS][q]])
        for b in range(a, a + t[SIZE][c]):
            rho[b] = own
            if b > a and t[KIND][c] != BOUND and most > 0.0:
                rho[b] *= max(abs(f[R][a]) * f[SCALE][c] / most, LEAST)


class StepFactors(NamedTuple):
    """L and U of the system (`elimination`), and what they were made of.

    Attributes
    ----------
    low, up : (z,)
        L and U.
    base : (z,)
        The half of the matrix that is left without sliding contacts: it is symmetric, and stays while modes do.
    bent : (4 k,)
        Of each sliding contact the direction of its slip (2), its coefficient, and mu P/|s|.
    gain : (9,)
        Room.
    """

    low: Floats
    up: Floats
    base: Floats
    bent: Floats
    gain: Floats


@njit
def factors(t: Any, env: Elimination) -> StepFactors:
    """Return room for the factors."""
    size = env.own[env.own.size - 1]
    return StepFactors(np.empty(size), np.empty(size), np.empty(size), np.empty(4 * t[FIRST].size), np.empty(9))


@njit(_nrt=False)
def set_masses(t: Any, f: Any, env: Elimination, made: StepFactors) -> None:
    """Fill the base with the masses alone."""
    base, place = made.base, env.place
    for e in range(base.size):
        base[e] = 0.0
    for k in range(t[BLOCK_START].size - 1):
        begin, at = t[BLOCK_START][k], t[BLOCK_AT][k]
        s = t[BLOCK_START][k + 1] - begin
        for i in range(s):
            for j in range(s):
                value = f[MASS][at + i * s + j]
                add_own(env, base, place[t[MEMBERS][begin + i]], place[t[MEMBERS][begin + j]], value)


@njit(_nrt=False)
def _set_base(
    t: Any, f: Any, mode: Any, held: Any, rho: Any, env: Elimination, g: GatheredRows, made: StepFactors
) -> None:
    """Fill the part of the matrix that needs no sliding contact: the masses, and rows that are held."""
    base, gain = made.base, made.gain
    set_masses(t, f, env, made)
    for c in range(t[FIRST].size):
        a, s, some = t[FIRST][c], t[SIZE][c], False
        for i in range(s * s):
            gain[i] = 0.0
        for i in range(s if mode[c] != SLIDES else 0):
            if held[a + i]:
                gain[i * s + i] = rho[a + i]
                some = True
        if some:
            add_contact(env, g, c, s, gain, base, base, True)


@njit(_nrt=False)
def _add_sliding(t: Any, f: Any, c: int, weight: float, env: Elimination, g: GatheredRows, made: StepFactors) -> None:
    """Add a sliding contact: its normal, and what its friction does when its slip and its normal impulse change."""
    s, gain, bent = sliding(t, f, c), made.gain, made.bent
    size, o = t[SIZE][c], 0 if t[KIND][c] == BOUND else 1
    bent[4 * c], bent[4 * c + 1], bent[4 * c + 2], bent[4 * c + 3] = s.first, s.second, s.mu, s.turning
    for i in range(size * size):
        gain[i] = 0.0
    if o:
        gain[0] = weight
    for i in range(s.parts):
        for j in range(s.parts):
            gain[(o + i) * size + o + j] = s.turning * ((1.0 if i == j else 0.0) - _of(s, i) * _of(s, j))
        if o:
            gain[(o + i) * size] = -s.mu * _of(s, i) * weight
    add_contact(env, g, c, size, gain, made.low, made.up, False)


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


@njit(_nrt=False)
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
    f"boolean({INTS}, {FLOATS}, int64[::1], int64[::1], float64[::1], Elimination, GatheredRows, StepFactors, boolean)",
    separate=True,
    _nrt=False,
)
def factor(
    t: Any, f: Any, mode: Any, held: Any, rho: Any, env: Elimination, g: GatheredRows, made: StepFactors, anew: bool
) -> bool:
    """Fill the factors of the system, its base only if asked to; False where a pivot is zero or no number."""
    if anew:
        _set_base(t, f, mode, held, rho, env, g, made)
    for e in range(made.base.size):
        made.low[e] = made.up[e] = made.base[e]
    for c in range(t[FIRST].size):
        if mode[c] == SLIDES:
            _add_sliding(t, f, c, rho[t[FIRST][c]], env, g, made)
    return eliminate(env, made.low, made.up)


@njit(f"void({INTS}, {FLOATS}, float64[::1])", separate=True, _nrt=False)
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
    f"void({INTS}, {FLOATS}, int64[::1], int64[::1], float64[::1], Elimination, StepFactors, float64[::1])",
    separate=True,
    _nrt=False,
)
def newton(t: Any, f: Any, mode: Any, held: Any, rho: Any, env: Elimination, made: StepFactors, x: Any) -> None:
    """Change r by one step of Newton's method from what u is, in the factors as they were made; u is left behind."""
    bent = made.bent
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
                off = -s.bound * _of(s, i) - f[R][a + o + i] + bent[4 * c + 2] * bent[4 * c + i] * rho[a] * f[U][a]
                for e in range(t[J_START][a + o + i], t[J_START][a + o + i + 1]):
                    x[env.place[t[J_COLUMN][e]]] += off * f[JAC][e]
    substitute(env, made.low, made.up, x)
    for c in range(t[FIRST].size):
        a = t[FIRST][c]
        if mode[c] == SLIDES:
            s, o = sliding(t, f, c), 0 if t[KIND][c] == BOUND else 1
            more = -rho[a] * (f[U][a] + along(t, f, a, env, x)) if o else 0.0
            first, second = along(t, f, a + o, env, x), 0.0
            if s.parts > 1:
                second = along(t, f, a + o + 1, env, x)
            across = bent[4 * c] * first + bent[4 * c + 1] * second
            for i in range(s.parts):
                turned = (first if i == 0 else second) - bent[4 * c + i] * across
                less = bent[4 * c + 2] * bent[4 * c + i] * more + bent[4 * c + 3] * turned
                f[R][a + o + i] = -_of(s, i) * s.bound - less
            if o:
                f[R][a] += more
            continue
        for b in range(a, a + t[SIZE][c]):
            if held[b]:
                f[R][b] -= rho[b] * (f[U][b] + along(t, f, b, env, x))


@njit(_nrt=False)
def along(t: Any, f: Any, a: int, env: Elimination, x: Any) -> float:
    """Return row a times x, which stands by places."""
    total = 0.0
    for e in range(t[J_START][a], t[J_START][a + 1]):
        total += f[JAC][e] * x[env.place[t[J_COLUMN][e]]]
    return total
