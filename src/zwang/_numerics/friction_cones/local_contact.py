"""One contact alone: its law solved exactly for given other forces (building blocks of compiled kernels).

With q the acceleration of the contact point without the contact's own force r = (N, T), and W its block of the
Delassus matrix, the law is u = W r + q together with

    unilateral   N >= 0, u_n >= 0, N u_n = 0;   bilateral   u_n = 0;   prescribed   N known, no u_n
    friction     |T| <= bound,  u_t = -alpha T with alpha >= 0,  alpha (bound - |T|) = 0,

bound = mu |N| or a given radius. Eliminating N leaves the Schur complement S = W_tt - W_tn W_nt / W_nn; in its
eigenvectors T_i(alpha) = -c_i / (lam_i + alpha), so the whole law is one equation in alpha: mu |N(alpha)| = |T(alpha)|.
The ratio mu N / |T| grows like alpha itself, hence Newton's method on ratio - 1 needs two or three steps.
"""

from __future__ import annotations

import math
from typing import Any

from zwang._numerics.jit import njit

UNILATERAL = 0
BILATERAL = 1
PRESCRIBED = 2

# Columns of the table that `prepare_contact` fills, one line per contact.
LOCAL_WIDTH = 8
_NN, _W1, _W2, _L1, _L2, _COS, _SIN, LOCAL_SCALE = range(LOCAL_WIDTH)

_SINGULAR = 1e-13  # an eigenvalue of S below this part of the block's size is a direction that can't be pushed


@njit
def copy_to(target: Any, source: Any) -> None:
    """Copy entry by entry (in compiled code ``target[:] = source`` takes seconds to compile, for its error message)."""
    for i in range(target.size):
        target[i] = source[i]


@njit
def prepare_contact(local: Any, j: int, kind: int, p: int, block: Any) -> None:
    """Fill line j of `local` from the contact's own Delassus block, (1 + p, 1 + p) or (p, p) if prescribed."""
    for k in range(LOCAL_WIDTH):
        local[j, k] = 0.0
    local[j, _COS] = 1.0
    o = 0 if kind == PRESCRIBED else 1
    nn = block[0, 0] if o == 1 else 1.0
    local[j, _NN] = nn
    size = 0.0
    for k in range(o + p):
        size = max(size, abs(block[k, k]))
    local[j, LOCAL_SCALE] = math.sqrt(size) if size > 0.0 else 1.0
    if p == 0:
        return
    w1 = block[0, 1] if o == 1 else 0.0
    a = block[o, o] - w1 * w1 / nn
    if p == 1:
        local[j, _W1] = w1
        local[j, _L1] = a if a > _SINGULAR * size else 0.0
        return
    w2 = block[0, 2] if o == 1 else 0.0
    d = block[o + 1, o + 1] - w2 * w2 / nn
    b = block[o, o + 1] - w1 * w2 / nn
    angle = 0.5 * math.atan2(2.0 * b, a - d)
    c = math.cos(angle)
    s = math.sin(angle)
    lam1 = c * c * a + 2.0 * c * s * b + s * s * d
    lam2 = s * s * a - 2.0 * c * s * b + c * c * d
    local[j, _L1] = lam1 if lam1 > _SINGULAR * size else 0.0
    local[j, _L2] = lam2 if lam2 > _SINGULAR * size else 0.0
    local[j, _W1] = c * w1 + s * w2
    local[j, _W2] = c * w2 - s * w1
    local[j, _COS] = c
    local[j, _SIN] = s


@njit
def _bound_ratio(alpha: float, c1: float, c2: float, line: Any, q: float, mu: float, fixed: float) -> Any:
    """Return (T1, T2, N, bound / |T| - 1, its derivative) at alpha; `fixed` >= 0 is a bound that is given."""
    i1 = 1.0 / (line[_L1] + alpha)
    i2 = 1.0 / (line[_L2] + alpha)
    t1 = -c1 * i1
    t2 = -c2 * i2
    size = math.sqrt(t1 * t1 + t2 * t2)
    slope = -(t1 * t1 * i1 + t2 * t2 * i2) / size
    n = -(q + line[_W1] * t1 + line[_W2] * t2) / line[_NN]
    if fixed >= 0.0:
        return t1, t2, n, fixed / size - 1.0, -fixed * slope / (size * size)
    dn = (line[_W1] * t1 * i1 + line[_W2] * t2 * i2) / line[_NN]
    ratio = mu * n / size
    return t1, t2, n, ratio - 1.0, mu * dn / size - ratio * slope / size


@njit
def _slip_root(alpha: float, c1: float, c2: float, line: Any, q: float, mu: float, fixed: float) -> Any:
    """Return (T1, T2, N, alpha) with bound = |T|, knowing that the bound is too small at alpha = 0."""
    low = 0.0
    high = math.inf
    if not alpha > 0.0:
        alpha = line[_L1] + line[_L2]
    t1, t2, n, value, slope = _bound_ratio(alpha, c1, c2, line, q, mu, fixed)
    for _ in range(80):
        if abs(value) < 4e-15:
            break
        if value < 0.0:
            low = alpha
        else:
            high = alpha
        step = alpha - value / slope if slope > 0.0 else -1.0
        if not (low < step < high):
            step = 0.5 * (low + high) if high < math.inf else 4.0 * alpha
        if abs(step - alpha) <= 2e-16 * alpha:
            break
        alpha = step
        t1, t2, n, value, slope = _bound_ratio(alpha, c1, c2, line, q, mu, fixed)
    return t1, t2, n, alpha


@njit
def _planar(kind: int, line: Any, q: float, qt: float, mu: float, fixed: float) -> Any:
    """One tangential direction: stick if it fits, else the side that opposes the motion."""
    nn = line[_NN]
    w = line[_W1]
    lam = line[_L1]
    c = qt - w * q / nn
    if lam > 0.0 or c == 0.0:
        t = -c / lam if lam > 0.0 else 0.0
        n = -(q + w * t) / nn
        bound = fixed if fixed >= 0.0 else mu * (abs(n) if kind == BILATERAL else n)
        if abs(t) <= bound:
            return n, t
    side = -1.0 if c > 0.0 else 1.0
    if fixed >= 0.0:
        return -(q + w * side * fixed) / nn, side * fixed
    sign = 1.0 if (kind == UNILATERAL or q <= 0.0) else -1.0
    size = -sign * mu * q / (nn + sign * mu * w * side)
    return -(q + w * side * size) / nn, side * size


@njit
def solve_contact(
    kind: int, p: int, line: Any, q0: float, q1: float, q2: float, mu: float, fixed: float, alpha: float
) -> Any:
    """Return (N, T1, T2, alpha) that obey the law of one contact; `fixed` < 0 says that the bound is mu |N|.

    Of several local solutions this takes the open one, then the sticking one. `alpha` is where Newton's method starts.
    """
    nn = line[_NN]
    if kind == UNILATERAL and q0 >= 0.0:
        return 0.0, 0.0, 0.0, alpha
    if p == 0:
        return -q0 / nn, 0.0, 0.0, 0.0
    if p == 1:
        n, t = _planar(kind, line, q0, q1, mu, fixed)
        return n, t, 0.0, 0.0
    cos = line[_COS]
    sin = line[_SIN]
    c1 = cos * q1 + sin * q2 - line[_W1] * q0 / nn
    c2 = cos * q2 - sin * q1 - line[_W2] * q0 / nn
    l1 = line[_L1]
    l2 = line[_L2]
    if (l1 > 0.0 or c1 == 0.0) and (l2 > 0.0 or c2 == 0.0):
        t1 = -c1 / l1 if l1 > 0.0 else 0.0
        t2 = -c2 / l2 if l2 > 0.0 else 0.0
        n = -(q0 + line[_W1] * t1 + line[_W2] * t2) / nn
        bound = fixed if fixed >= 0.0 else mu * (abs(n) if kind == BILATERAL else n)
        if bound >= 0.0 and t1 * t1 + t2 * t2 <= bound * bound:
            return n, cos * t1 - sin * t2, sin * t1 + cos * t2, 0.0
    if q0 == 0.0 and fixed < 0.0:  # no load and no stick: a bilateral contact that carries nothing
        return 0.0, 0.0, 0.0, alpha
    sign = -1.0 if kind == BILATERAL and q0 > 0.0 else 1.0  # a pulling bilateral contact has the bound -mu N
    t1, t2, n, alpha = _slip_root(alpha, c1, c2, line, q0, sign * mu, fixed)
    return n, cos * t1 - sin * t2, sin * t1 + cos * t2, alpha


@njit
def contact_error(kind: int, size: int, mu: float, fixed: float, scale: float, r: Any, u: Any, a: int) -> float:
    """Return how far a contact is from its law: the natural map, with forces times `scale` and u divided by it."""
    if size == 0:
        return 0.0
    error = 0.0
    t = a
    p = size
    bound = fixed * scale
    if kind != PRESCRIBED:
        t = a + 1
        p = size - 1
        n, gap = r[a] * scale, u[a] / scale
        error = abs(gap) if kind == BILATERAL else abs(min(n, gap))
        if fixed < 0.0:
            bound = mu * (abs(n) if kind == BILATERAL else max(n, 0.0))
    if p == 0:
        return error
    f1 = r[t] * scale
    f2 = r[t + 1] * scale if p == 2 else 0.0
    y1 = f1 - u[t] / scale
    y2 = f2 - u[t + 1] / scale if p == 2 else 0.0
    size_y = math.sqrt(y1 * y1 + y2 * y2)
    k = bound / size_y if size_y > bound else 1.0
    d1, d2 = f1 - k * y1, f2 - k * y2
    return max(error, math.sqrt(d1 * d1 + d2 * d2))
