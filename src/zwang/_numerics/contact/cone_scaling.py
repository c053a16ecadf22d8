"""Nesterov-Todd scaling of the cones of contacts: building blocks of the interior-point kernel, on scalars only.

Each contact has a slack s = h + E r in a cone: rays (one for a normal force, two for planar friction) or the
second-order cone of spatial friction. The shape says which:

    FREE   no cone                      r = (N)        bilateral, frictionless
    RAY    N >= 0                       r = (N)
    WEDGE  mu N - T >= 0, mu N + T >= 0 r = (N, T)     bound mu N
    BOX    R - T >= 0, R + T >= 0       r = (T)        bound R given
    CONE   (mu N, T1, T2) in the cone   r = (N, T1, T2)
    DISC   (R, T1, T2) in the cone      r = (T1, T2)   bound R given

With z the multiplier of s, the scaling V satisfies V z = V^-1 s = lam. For rays V^-2 = z / s; for the second-order cone
V^-2 = (2 v v^T - J) / beta^2 with v = (w0, -w1, -w2), w the scaling point on the hyperboloid, J = diag(1, -1, -1).

Scalars in and out, or tuples of them: compiled functions that take arrays count references, which in loops over
contacts costs more than the arithmetic.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from zwang._numerics.contact.modes import BILATERAL, BOUND, UNILATERAL
from zwang._numerics.jit import njit

Triple = tuple[float, float, float]

FREE, RAY, WEDGE, BOX, CONE, DISC = range(6)
ROWS_OF = (1, 1, 2, 1, 3, 2)
KIND_OF = (BILATERAL, UNILATERAL, UNILATERAL, BOUND, UNILATERAL, BOUND)


@njit
def inside(shape: int, mu: float, radius: float) -> Any:
    """Return (N, s0, s1, z0, z1): a point inside the cone with T = 0, and a multiplier; s2 = z2 = 0."""
    if shape == RAY:
        return 1.0, 1.0, 0.0, 1.0, 0.0
    if shape in (WEDGE, CONE):
        n = 1.0 / mu if mu < 1.0 else 1.0
        s = mu * n
    else:
        n, s = 0.0, radius
    if shape in (WEDGE, BOX):
        return n, s, s, 1.0, 1.0
    if shape == FREE:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    return n, s, 0.0, 1.0, 0.0


@njit
def degree(shape: int) -> int:
    """Return how many complementary pairs a shape has."""
    if shape == FREE:
        return 0
    return 2 if shape in (WEDGE, BOX) else 1


@njit
def force_to_slack(shape: int, mu: float, r0: float, r1: float, r2: float) -> Any:
    """Return E r."""
    if shape == CONE:
        return mu * r0, r1, r2
    if shape == WEDGE:
        return mu * r0 - r1, mu * r0 + r1, 0.0
    if shape == BOX:
        return -r0, r0, 0.0
    if shape == DISC:
        return 0.0, r0, r1
    return r0, 0.0, 0.0


@njit
def slack_to_force(shape: int, mu: float, y0: float, y1: float, y2: float) -> Any:
    """Return E^T y."""
    if shape == CONE:
        return mu * y0, y1, y2
    if shape == WEDGE:
        return mu * (y0 + y1), y1 - y0, 0.0
    if shape == BOX:
        return y1 - y0, 0.0, 0.0
    if shape == DISC:
        return y1, y2, 0.0
    return y0, 0.0, 0.0


@njit
def scaling(s0: float, s1: float, s2: float, z0: float, z1: float, z2: float) -> Any:
    """Return (w0, w1, w2, beta^2) of the second-order cone."""
    rs, rz = math.sqrt(s1 * s1 + s2 * s2), math.sqrt(z1 * z1 + z2 * z2)
    ds = math.sqrt(max((s0 - rs) * (s0 + rs), 1e-30 * s0 * s0))
    dz = math.sqrt(max((z0 - rz) * (z0 + rz), 1e-30 * z0 * z0))
    gamma = math.sqrt(0.5 * (1.0 + (s0 * z0 + s1 * z1 + s2 * z2) / (ds * dz)))
    i, k = 0.5 / (ds * gamma), 0.5 / (dz * gamma)
    return s0 * i + z0 * k, s1 * i - z1 * k, s2 * i - z2 * k, ds / dz


@njit
def scaled(w0: float, w1: float, w2: float, beta: float, y0: float, y1: float, y2: float) -> Any:
    """Return V y = beta [[w0, w^T], [w, I + w w^T / (1 + w0)]] y; V^-1 y with -w1, -w2 and 1 / beta."""
    dot = w1 * y1 + w2 * y2
    k = y0 + dot / (1.0 + w0)
    return beta * (w0 * y0 + dot), beta * (y1 + k * w1), beta * (y2 + k * w2)


@njit
def inverse_square(w0: float, w1: float, w2: float, beta2: float, y0: float, y1: float, y2: float) -> Any:
    """Return V^-2 y of the second-order cone."""
    k = 2.0 * (w0 * y0 - w1 * y1 - w2 * y2)
    ib = 1.0 / beta2
    return (k * w0 - y0) * ib, (y1 - k * w1) * ib, (y2 - k * w2) * ib


@njit
def cone_block(shape: int, mu: float, w0: float, w1: float, w2: float, beta2: float) -> Any:
    """Return the lower triangle of E^T V^-2 E by rows, of CONE (six numbers) or DISC (three and zeros)."""
    ib = 1.0 / beta2
    h11, h21, h22 = (2.0 * w1 * w1 + 1.0) * ib, 2.0 * w1 * w2 * ib, (2.0 * w2 * w2 + 1.0) * ib
    if shape == DISC:
        return h11, h21, h22, 0.0, 0.0, 0.0
    h00, h10, h20 = mu * mu * (2.0 * w0 * w0 - 1.0) * ib, -2.0 * mu * w0 * w1 * ib, -2.0 * mu * w0 * w2 * ib
    return h00, h10, h11, h20, h21, h22


@njit
def ray_step(s: float, d: float) -> float:
    """Return the largest t with s + t d >= 0."""
    return -s / d if d < 0.0 else 1e300


@njit
def cone_step(s0: float, s1: float, s2: float, d0: float, d1: float, d2: float) -> float:
    """Return the largest t with s + t d in the second-order cone."""
    a = d0 * d0 - d1 * d1 - d2 * d2
    b = s0 * d0 - s1 * d1 - s2 * d2
    rs = math.sqrt(s1 * s1 + s2 * s2)
    c = (s0 - rs) * (s0 + rs)
    step = ray_step(s0, d0)
    disc = b * b - a * c
    if a < 0.0 or (b < 0.0 and disc >= 0.0):
        root = c / (math.sqrt(max(disc, 0.0)) - b)
        if root > 0.0:
            step = min(step, root)
    return step


class ConeScaling(NamedTuple):
    """The scaling point w on the hyperboloid and beta^2."""

    w0: float
    w1: float
    w2: float
    beta2: float


@njit
def cone_centring(target: float, at: ConeScaling, z: Triple, ds: Triple, dz: Triple) -> Any:
    """Return V^-1 x with lam o x = target e - lam o lam - (V^-1 ds) o (V dz): the corrected part of dz."""
    w0, w1, w2, beta = at.w0, at.w1, at.w2, math.sqrt(at.beta2)
    l0, l1, l2 = scaled(w0, w1, w2, beta, z[0], z[1], z[2])
    p0, p1, p2 = scaled(w0, -w1, -w2, 1.0 / beta, ds[0], ds[1], ds[2])
    q0, q1, q2 = scaled(w0, w1, w2, beta, dz[0], dz[1], dz[2])
    d0 = target - (l0 * l0 + l1 * l1 + l2 * l2) - (p0 * q0 + p1 * q1 + p2 * q2)
    d1 = -2.0 * l0 * l1 - p0 * q1 - q0 * p1
    d2 = -2.0 * l0 * l2 - p0 * q2 - q0 * p2
    x0 = (l0 * d0 - l1 * d1 - l2 * d2) / (l0 * l0 - l1 * l1 - l2 * l2)
    return scaled(w0, -w1, -w2, 1.0 / beta, x0, (d1 - x0 * l1) / l0, (d2 - x0 * l2) / l0)
