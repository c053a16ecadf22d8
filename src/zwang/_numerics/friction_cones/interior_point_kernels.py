"""The loop of the interior-point method, compiled: predictor and corrector of Mehrotra with Nesterov-Todd scaling.

All data are scaled so that W has a unit diagonal and the largest entry of b is one. The unknown x is (w, r) in the
augmented form, r in the Delassus form; B is the symmetric matrix without the cones' part, in either form:

    B x + c + De Saxce's term - E^T z = 0,   s = h + E r,   s o z = 0.

The primal side is feasible from the start, so that only this residual and the product s o z are driven to zero. The
term mu |u_t| that Coulomb's law adds to the normal acceleration is taken from the multipliers of the last iterate; the
target of s o z is kept above a part of the residual that this lag leaves, or the iterates would reach the boundary of
the cones before the term has settled.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._numerics.friction_cones.cone_scaling import (
    BOX,
    CONE,
    DISC,
    FREE,
    RAY,
    WEDGE,
    cone_block,
    cone_centring,
    degree,
    force_to_slack,
    inside,
    inverse_square,
    longest_step,
    scaling,
    slack_to_force,
)
from zwang._numerics.friction_cones.local_contact import contact_error, copy_to
from zwang._numerics.friction_cones.quasidefinite import factor_into, substitute
from zwang._numerics.jit import njit

# Columns of the table of contacts: first row, rows, kind, shape of the cone, whether De Saxce's term belongs to it.
FIRST, ROWS, KIND, SHAPE, COULOMB = range(5)

_LAG = 0.01
_TINY_PIVOT = 1e-14


@njit
def _gradient(ptr: Any, col: Any, val: Any, x: Any, c: Any, out: Any) -> None:
    """Fill out = B x + c."""
    for i in range(x.size):
        total = c[i]
        for e in range(ptr[i], ptr[i + 1]):
            total += val[e] * x[col[e]]
        out[i] = total


@njit
def _start(nw: int, table: Any, law: Any, x: Any, s: Any, z: Any) -> int:
    """Put every contact at a point inside its cone; return the number of complementary pairs."""
    pairs = 0
    for j in range(table.shape[0]):
        shape, a = table[j, SHAPE], nw + table[j, FIRST]
        if shape < 0:
            continue
        n, s[j, 0], s[j, 1], s[j, 2], z[j, 0], z[j, 1], z[j, 2] = inside(shape, law[j, 0], law[j, 1])
        for i in range(table[j, ROWS]):
            x[a + i] = n if i == 0 else 0.0
        pairs += degree(shape)
    return pairs


@njit
def _residual(nw: int, table: Any, law: Any, x: Any, z: Any, g: Any) -> float:
    """Return the distance from the laws of g = B x + c, then make g the residual of Newton's equations."""
    worst = 0.0
    for i in range(nw):
        worst = max(worst, abs(g[i]))
    for j in range(table.shape[0]):
        shape = table[j, SHAPE]
        if shape < 0:
            continue
        a, rows, mu = nw + table[j, FIRST], table[j, ROWS], law[j, 0]
        error = contact_error(table[j, KIND], rows, mu, law[j, 1], 1.0, x, g, a)
        if not error <= worst:  # also if it is no number
            worst = error
        if table[j, COULOMB] == 1:
            slip = abs(z[j, 1] - z[j, 0]) if shape == WEDGE else math.sqrt(z[j, 1] ** 2 + z[j, 2] ** 2)
            g[a] += mu * slip
        f0, f1, f2 = slack_to_force(shape, mu, z[j, 0], z[j, 1], z[j, 2])
        g[a] -= f0
        if rows > 1:
            g[a + 1] -= f1
        if rows > 2:
            g[a + 2] -= f2
    return worst


@njit
def _assemble(table: Any, law: Any, s: Any, z: Any, nt: Any, base: Any, place: Any, value: Any) -> float:
    """Fill the values of B + E^T V^-2 E and the scaling nt; return the sum of s o z."""
    total, e = 0.0, base.size
    for k in range(value.size):
        value[k] = 0.0
    for k in range(base.size):
        value[place[k]] += base[k]
    for j in range(table.shape[0]):
        shape, mu = table[j, SHAPE], law[j, 0]
        if shape <= FREE:
            e += 1 if shape == FREE else 0
            continue
        s0, s1, s2, z0, z1, z2 = s[j, 0], s[j, 1], s[j, 2], z[j, 0], z[j, 1], z[j, 2]
        total += s0 * z0 + s1 * z1 + s2 * z2
        if shape in (CONE, DISC):
            w0, w1, w2, beta2 = scaling(s0, s1, s2, z0, z1, z2)
            nt[j, 0], nt[j, 1], nt[j, 2], nt[j, 3] = w0, w1, w2, beta2
            h = cone_block(shape, mu, w0, w1, w2, beta2)
            for i in range(6 if shape == CONE else 3):
                value[place[e]] += h[i]
                e += 1
            continue
        v0 = z0 / s0
        if shape == RAY:
            value[place[e]] += v0
            e += 1
            continue
        v1 = z1 / s1
        if shape == BOX:
            value[place[e]] += v0 + v1
            e += 1
        else:
            value[place[e]] += mu * mu * (v0 + v1)
            value[place[e + 1]] += mu * (v1 - v0)
            value[place[e + 2]] += v0 + v1
            e += 3
    return total


@njit
def _targets(nw: int, table: Any, law: Any, s: Any, z: Any, nt: Any, correct: bool, target: float, d: Any, ds: Any,
             dz: Any) -> None:  # fmt: skip
    """Put into dz what it is without the change of s, and its part of the right side into d."""
    for j in range(table.shape[0]):
        shape = table[j, SHAPE]
        if shape <= FREE:
            continue
        y0, y1, y2 = -z[j, 0], -z[j, 1], -z[j, 2]
        if correct:
            if shape in (CONE, DISC):
                y0, y1, y2 = cone_centring(
                    target, nt[j, 0], nt[j, 1], nt[j, 2], nt[j, 3], -y0, -y1, -y2,
                    ds[j, 0], ds[j, 1], ds[j, 2], dz[j, 0], dz[j, 1], dz[j, 2],
                )  # fmt: skip
            else:
                y0 += (target - ds[j, 0] * dz[j, 0]) / s[j, 0]
                if shape != RAY:
                    y1 += (target - ds[j, 1] * dz[j, 1]) / s[j, 1]
        dz[j, 0], dz[j, 1], dz[j, 2] = y0, y1, y2
        f0, f1, f2 = slack_to_force(shape, law[j, 0], y0, y1, y2)
        a, rows = nw + table[j, FIRST], table[j, ROWS]
        d[a] += f0
        if rows > 1:
            d[a + 1] += f1
        if rows > 2:
            d[a + 2] += f2


@njit
def _slacks(nw: int, table: Any, law: Any, s: Any, z: Any, nt: Any, d: Any, ds: Any, dz: Any) -> float:
    """Fill ds = E dr and take V^-2 ds from dz; return the longest step."""
    step = 1e300
    for j in range(table.shape[0]):
        shape = table[j, SHAPE]
        if shape <= FREE:
            continue
        a, rows = nw + table[j, FIRST], table[j, ROWS]
        r1 = d[a + 1] if rows > 1 else 0.0
        r2 = d[a + 2] if rows > 2 else 0.0
        e0, e1, e2 = force_to_slack(shape, law[j, 0], d[a], r1, r2)
        s0, s1, s2, z0, z1, z2 = s[j, 0], s[j, 1], s[j, 2], z[j, 0], z[j, 1], z[j, 2]
        if shape in (CONE, DISC):
            y0, y1, y2 = inverse_square(nt[j, 0], nt[j, 1], nt[j, 2], nt[j, 3], e0, e1, e2)
        else:
            y0 = e0 * z0 / s0
            y1 = e1 * z1 / s1 if shape != RAY else 0.0
            y2 = 0.0
        y0, y1, y2 = dz[j, 0] - y0, dz[j, 1] - y1, dz[j, 2] - y2
        dz[j, 0], dz[j, 1], dz[j, 2] = y0, y1, y2
        ds[j, 0], ds[j, 1], ds[j, 2] = e0, e1, e2
        step = min(step, longest_step(shape, s0, s1, s2, e0, e1, e2), longest_step(shape, z0, z1, z2, y0, y1, y2))
    return step


@njit
def _solve(order: Any, l_ptr: Any, l_row: Any, low: Any, pivot: Any, d: Any, rhs: Any) -> None:
    for k in range(d.size):
        rhs[k] = d[order[k]]
    substitute(l_ptr, l_row, low, pivot, rhs)
    for k in range(d.size):
        d[order[k]] = rhs[k]


@njit
def _advance(step: float, x: Any, d: Any, s: Any, ds: Any, z: Any, dz: Any) -> bool:
    """Take the step, unless it is no number."""
    total = 0.0
    for i in range(x.size):
        total += abs(d[i])
    if not (step > 1e-10 and total < 1e300):
        return False
    for i in range(x.size):
        x[i] += step * d[i]
    for j in range(s.shape[0]):
        for k in range(3):
            s[j, k] += step * ds[j, k]
            z[j, k] += step * dz[j, k]
    return True


@njit(
    "Tuple((int64, float64))(int64, int64[:,::1], float64[:,::1], uint32[::1], uint32[::1], float64[::1], "
    "float64[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1], uint32[::1], "
    "uint32[::1], float64[::1], "
    "float64[::1], float64[::1], float64, int64)"
)
def interior_point_loop(
    nw: int, table: Any, law: Any, b_ptr: Any, b_col: Any, b_val: Any, c: Any,
    order: Any, ptr: Any, row: Any, place: Any, l_ptr: Any, l_row: Any, r_ptr: Any, r_col: Any, base: Any, sign: Any,
    x: Any, tol: float, limit: int,
) -> Any:  # fmt: skip
    """Iterate until the distance from the laws is below `tol`; the best x is left in place. Return (iterations, it)."""
    nx, nc = x.size, table.shape[0]
    s, z, ds, dz, nt = np.zeros((nc, 3)), np.zeros((nc, 3)), np.zeros((nc, 3)), np.zeros((nc, 3)), np.zeros((nc, 4))
    g, d, y, rhs, keep = np.empty(nx), np.empty(nx), np.zeros(nx), np.empty(nx), np.zeros(nx)
    value, low, pivot, fill = np.empty(row.size), np.empty(l_row.size), np.empty(nx), np.empty(nx, np.uint32)
    pairs = _start(nw, table, law, x, s, z)
    best, iteration = np.inf, 0
    while True:
        _gradient(b_ptr, b_col, b_val, x, c, g)
        worst = _residual(nw, table, law, x, z, g)
        if worst < best:
            best = worst
            copy_to(keep, x)
        if worst < tol or iteration == limit:
            break
        iteration += 1
        gap = _assemble(table, law, s, z, nt, base, place, value) / max(pairs, 1)
        factor_into(ptr, row, value, sign, _TINY_PIVOT, l_ptr, l_row, r_ptr, r_col, low, pivot, y, fill)
        lag = 0.0
        for i in range(nx):
            d[i] = -g[i]
            lag = max(lag, abs(g[i]))
        _targets(nw, table, law, s, z, nt, False, 0.0, d, ds, dz)
        _solve(order, l_ptr, l_row, low, pivot, d, rhs)
        step = min(1.0, _slacks(nw, table, law, s, z, nt, d, ds, dz))
        target = max(gap * (1.0 - step) ** 3, min(0.5 * gap, _LAG * lag))
        for i in range(nx):
            d[i] = -g[i]
        _targets(nw, table, law, s, z, nt, True, target, d, ds, dz)
        _solve(order, l_ptr, l_row, low, pivot, d, rhs)
        step = _slacks(nw, table, law, s, z, nt, d, ds, dz)
        if not _advance(min(1.0, 0.995 * step), x, d, s, ds, z, dz):
            break
    copy_to(x, keep)
    return iteration, best
