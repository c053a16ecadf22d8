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
from typing import Any, NamedTuple

from zwang._numerics.contact.modes import BILATERAL, BOUND, UNILATERAL
from zwang._numerics.jit import njit

Triple = tuple[float, float, float]

HELD = 3  # a contact whose forces a sweep leaves as they are

# Columns of the table that `prepare_contact` fills, one line per contact.
LOCAL_WIDTH = 8
NN, W1, W2, L1, L2, COS, SIN, LOCAL_SCALE = range(LOCAL_WIDTH)


class LocalBlock(NamedTuple):
    """A contact's own block of W: its normal entry, the couplings to it and the eigenvalues of S in S's eigenvectors.

    Numbers, not a line of the table: in a loop over contacts, counting references to arrays would cost more than the
    arithmetic.
    """

    nn: float
    w1: float
    w2: float
    l1: float
    l2: float
    cos: float
    sin: float


_SINGULAR = 1e-13  # an eigenvalue of S below this part of the block's size is a direction that can't be pushed


@njit(_nrt=False)
def copy_to(target: Any, source: Any) -> None:
    """Copy entry by entry (in compiled code ``target[:] = source`` takes seconds to compile, for its error message)."""
    for i in range(target.size):
        target[i] = source[i]


@njit(_nrt=False)
def prepare_contact(local: Any, j: int, kind: int, p: int, block: Any) -> None:
    """Fill line j of `local` from the contact's own Delassus block, (1 + p, 1 + p) or (p, p) if prescribed."""
    for k in range(LOCAL_WIDTH):
        local[j, k] = 0.0
    local[j, COS] = 1.0
    o = 0 if kind == BOUND else 1
    nn = block[0, 0] if o == 1 else 1.0
    local[j, NN] = nn
    size = 0.0
    for k in range(o + p):
        size = max(size, abs(block[k, k]))
    local[j, LOCAL_SCALE] = math.sqrt(size) if size > 0.0 else 1.0
    if p == 0:
        return
    w1 = block[0, 1] if o == 1 else 0.0
    a = block[o, o] - w1 * w1 / nn
    if p == 1:
        local[j, W1] = w1
        local[j, L1] = a if a > _SINGULAR * size else 0.0
        return
    w2 = block[0, 2] if o == 1 else 0.0
    d = block[o + 1, o + 1] - w2 * w2 / nn
    b = block[o, o + 1] - w1 * w2 / nn
    angle = 0.5 * math.atan2(2.0 * b, a - d)
    c = math.cos(angle)
    s = math.sin(angle)
    lam1 = c * c * a + 2.0 * c * s * b + s * s * d
    lam2 = s * s * a - 2.0 * c * s * b + c * c * d
    local[j, L1] = lam1 if lam1 > _SINGULAR * size else 0.0
    local[j, L2] = lam2 if lam2 > _SINGULAR * size else 0.0
    local[j, W1] = c * w1 + s * w2
    local[j, W2] = c * w2 - s * w1
    local[j, COS] = c
    local[j, SIN] = s


@njit(_nrt=False)
def _slip_root(
    alpha: float, c1: float, c2: float, l1: float, l2: float, w1: float, w2: float, nn: float, q: float, mu: float,
    fixed: float,
) -> Any:  # fmt: skip
    """Return (N, T1, T2, alpha) with bound = |T|, knowing that the bound is too small at alpha = 0."""
    low, high = 0.0, 1e300
    if not alpha > 0.0:
        alpha = l1 + l2
    n, t1, t2 = 0.0, 0.0, 0.0
    for _ in range(80):
        i1, i2 = 1.0 / (l1 + alpha), 1.0 / (l2 + alpha)
        t1, t2 = -c1 * i1, -c2 * i2
        square = t1 * t1 + t2 * t2
        shrink = (t1 * t1 * i1 + t2 * t2 * i2) / square  # -d log|T| / d alpha
        n = -(q + w1 * t1 + w2 * t2) / nn
        size = math.sqrt(square)
        ratio = fixed / size if fixed >= 0.0 else mu * n / size
        slope = ratio * shrink
        if fixed < 0.0:
            slope += mu * (w1 * t1 * i1 + w2 * t2 * i2) / (nn * size)
        if abs(ratio - 1.0) < 4e-15:
            break
        if ratio < 1.0:
            low = alpha
        else:
            high = alpha
        step = alpha - (ratio - 1.0) / slope if slope > 0.0 else -1.0
        if not (low < step < high):
            step = 0.5 * (low + high) if high < 1e300 else 4.0 * alpha
        if abs(step - alpha) <= 2e-16 * alpha:
            break
        alpha = step
    return n, t1, t2, alpha


@njit(_nrt=False)
def _planar(kind: int, nn: float, w: float, lam: float, q: float, qt: float, mu: float, fixed: float) -> Any:
    """One tangential direction: stick if it fits, else the side that opposes the motion."""
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


@njit(_nrt=False)
def solve_contact(kind: int, p: int, own: LocalBlock, q: Triple, mu: float, fixed: float, alpha: float) -> Any:
    """Return (N, T1, T2, alpha) that obey the law of one contact; `fixed` < 0 says that the bound is mu |N|.

    Of several local solutions this takes the open one, then the sticking one. `alpha` is where Newton's method starts.
    """
    q0, q1, q2 = q
    nn, w1, w2, l1, l2, cos, sin = own
    if kind == UNILATERAL and q0 >= 0.0:
        return 0.0, 0.0, 0.0, alpha
    if p == 0:
        return -q0 / nn, 0.0, 0.0, 0.0
    if p == 1:
        n, t = _planar(kind, nn, w1, l1, q0, q1, mu, fixed)
        return n, t, 0.0, 0.0
    c1 = cos * q1 + sin * q2 - w1 * q0 / nn
    c2 = cos * q2 - sin * q1 - w2 * q0 / nn
    if (l1 > 0.0 or c1 == 0.0) and (l2 > 0.0 or c2 == 0.0):
        t1 = -c1 / l1 if l1 > 0.0 else 0.0
        t2 = -c2 / l2 if l2 > 0.0 else 0.0
        n = -(q0 + w1 * t1 + w2 * t2) / nn
        bound = fixed if fixed >= 0.0 else mu * (abs(n) if kind == BILATERAL else n)
        if bound >= 0.0 and t1 * t1 + t2 * t2 <= bound * bound:
            return n, cos * t1 - sin * t2, sin * t1 + cos * t2, 0.0
    if q0 == 0.0 and fixed < 0.0:  # no load and no stick: a bilateral contact that carries nothing
        return 0.0, 0.0, 0.0, alpha
    sign = -1.0 if kind == BILATERAL and q0 > 0.0 else 1.0  # a pulling bilateral contact has the bound -mu N
    n, t1, t2, alpha = _slip_root(alpha, c1, c2, l1, l2, w1, w2, nn, q0, sign * mu, fixed)
    return n, cos * t1 - sin * t2, sin * t1 + cos * t2, alpha


@njit(_nrt=False)
def contact_error(kind: int, size: int, mu: float, fixed: float, scale: float, r: Any, u: Any, a: int) -> float:
    """Return how far a contact is from its law: the natural map, with forces times `scale` and u divided by it."""
    if size == 0:
        return 0.0
    error = 0.0
    t = a
    p = size
    bound = fixed * scale
    if kind != BOUND:
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
