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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.cone_scaling import (
    BOX,
    CONE,
    DISC,
    FREE,
    KIND_OF,
    RAY,
    ROWS_OF,
    WEDGE,
    ConeScaling,
    cone_block,
    cone_centring,
    cone_step,
    degree,
    force_to_slack,
    inside,
    inverse_square,
    ray_step,
    scaling,
    slack_to_force,
)
from zwang._numerics.contact.local_contact import contact_error, copy_to
from zwang._numerics.jit import njit
from zwang._numerics.linear.quasidefinite import Analysis, LowerFactor, factor_into, substitute

Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]
IntMatrix = NDArray[np.int64]
Indices = NDArray[np.uint32]

# Columns of the table of contacts: first row, and shape of the cone (-1 where there is no unknown).
FIRST, SHAPE = range(2)

_LAG = 0.01  # how much of the lag behind the central path the next target takes
_TINY_PIVOT = 1e-14  # relative; below it a pivot is replaced by one of the right sign


class ConeSystem(NamedTuple):
    """What an iteration reads: B by rows (`ptr`, `col`, `value`) and as given to the factorization (`base`), and c.

    `sign` is that of each pivot, `coordinates` the number of those before the forces (0 in the Delassus form).
    """

    coordinates: int
    ptr: Indices
    col: Indices
    value: Floats
    base: Floats
    sign: Floats
    c: Floats


@njit(_nrt=False)
def _gradient(system: ConeSystem, x: Any, out: Any) -> None:
    """Fill out = B x + c."""
    ptr, col, val, c = system.ptr, system.col, system.value, system.c
    for i in range(x.size):
        total = c[i]
        for e in range(ptr[i], ptr[i + 1]):
            total += val[e] * x[col[e]]
        out[i] = total


@njit(_nrt=False)
def start_cones(nw: int, table: Any, law: Any, x: Any, s: Any, z: Any) -> int:
    """Put every contact at a point inside its cone; return the number of complementary pairs."""
    pairs = 0
    for j in range(table.shape[0]):
        shape, a = table[j, SHAPE], nw + table[j, FIRST]
        if shape < 0:
            continue
        n, s[0, j], s[1, j], z[0, j], z[1, j] = inside(shape, law[j, 0], law[j, 1])
        for i in range(ROWS_OF[shape]):
            x[a + i] = n if i == 0 else 0.0
        pairs += degree(shape)
    return pairs


@njit(_nrt=False)
def distance(nw: int, table: Any, law: Any, x: Any, z: Any, g: Any) -> float:
    """Return the distance from the laws of g = B x + c, then make g the residual of Newton's equations."""
    worst = 0.0
    for i in range(nw):
        worst = max(worst, abs(g[i]))
    for j in range(table.shape[0]):
        shape = table[j, SHAPE]
        if shape < 0:
            continue
        a, rows, mu = nw + table[j, FIRST], ROWS_OF[shape], law[j, 0]
        error = contact_error(KIND_OF[shape], rows, mu, law[j, 1], 1.0, x, g, a)
        if not error <= worst:  # also if it is no number
            worst = error
        if shape in (WEDGE, CONE):
            slip = abs(z[1, j] - z[0, j]) if shape == WEDGE else math.sqrt(z[1, j] ** 2 + z[2, j] ** 2)
            g[a] += mu * slip
        z2 = z[2, j] if shape in (CONE, DISC) else 0.0
        f0, f1, f2 = slack_to_force(shape, mu, z[0, j], z[1, j], z2)
        g[a] -= f0
        if rows > 1:
            g[a + 1] -= f1
        if rows > 2:
            g[a + 2] -= f2
    return worst


@njit(_nrt=False)
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
        s0, s1, z0, z1 = s[0, j], s[1, j], z[0, j], z[1, j]
        total += s0 * z0 + s1 * z1
        if shape in (CONE, DISC):
            s2, z2 = s[2, j], z[2, j]
            total += s2 * z2
            w0, w1, w2, beta2 = scaling(s0, s1, s2, z0, z1, z2)
            nt[0, j], nt[1, j], nt[2, j], nt[3, j] = w0, w1, w2, beta2
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


@njit(_nrt=False)
def aim(nw: int, table: Any, law: Any, s: Any, z: Any, nt: Any, correct: bool, target: float, d: Any, ds: Any,
        dz: Any) -> None:  # fmt: skip
    """Put into dz what it is without the change of s, and its part of the right side into d."""
    for j in range(table.shape[0]):
        shape = table[j, SHAPE]
        if shape <= FREE:
            continue
        solid = shape in (CONE, DISC)
        y0, y1, y2 = -z[0, j], -z[1, j], 0.0
        if solid:
            y2 = -z[2, j]
        if correct:
            if solid:
                at = ConeScaling(nt[0, j], nt[1, j], nt[2, j], nt[3, j])
                moved, lifted = (ds[0, j], ds[1, j], ds[2, j]), (dz[0, j], dz[1, j], dz[2, j])
                y0, y1, y2 = cone_centring(target, at, (-y0, -y1, -y2), moved, lifted)
            else:
                y0 += (target - ds[0, j] * dz[0, j]) / s[0, j]
                if shape != RAY:
                    y1 += (target - ds[1, j] * dz[1, j]) / s[1, j]
        dz[0, j], dz[1, j] = y0, y1
        if solid:
            dz[2, j] = y2
        f0, f1, f2 = slack_to_force(shape, law[j, 0], y0, y1, y2)
        a, rows = nw + table[j, FIRST], ROWS_OF[shape]
        d[a] += f0
        if rows > 1:
            d[a + 1] += f1
        if rows > 2:
            d[a + 2] += f2


@njit(_nrt=False)
def slacks(nw: int, table: Any, law: Any, s: Any, z: Any, nt: Any, d: Any, ds: Any, dz: Any) -> float:
    """Fill ds = E dr and take V^-2 ds from dz; return the longest step."""
    step = 1e300
    for j in range(table.shape[0]):
        shape = table[j, SHAPE]
        if shape <= FREE:
            continue
        a, rows = nw + table[j, FIRST], ROWS_OF[shape]
        r1 = d[a + 1] if rows > 1 else 0.0
        r2 = d[a + 2] if rows > 2 else 0.0
        e0, e1, e2 = force_to_slack(shape, law[j, 0], d[a], r1, r2)
        s0, s1, z0, z1 = s[0, j], s[1, j], z[0, j], z[1, j]
        ds[0, j], ds[1, j] = e0, e1
        if shape in (CONE, DISC):
            s2, z2 = s[2, j], z[2, j]
            y0, y1, y2 = inverse_square(nt[0, j], nt[1, j], nt[2, j], nt[3, j], e0, e1, e2)
            y0, y1, y2 = dz[0, j] - y0, dz[1, j] - y1, dz[2, j] - y2
            dz[2, j], ds[2, j] = y2, e2
            step = min(step, cone_step(s0, s1, s2, e0, e1, e2), cone_step(z0, z1, z2, y0, y1, y2))
        else:
            y0 = dz[0, j] - e0 * z0 / s0
            step = min(step, ray_step(s0, e0), ray_step(z0, y0))
            y1 = 0.0
            if shape != RAY:
                y1 = dz[1, j] - e1 * z1 / s1
                step = min(step, ray_step(s1, e1), ray_step(z1, y1))
        dz[0, j], dz[1, j] = y0, y1
    return step


@njit(_nrt=False)
def _solve(pattern: Analysis, factor: LowerFactor, d: Any, rhs: Any) -> None:
    """Overwrite d with the solution of the factored system."""
    order = pattern.order
    for k in range(d.size):
        rhs[k] = d[order[k]]
    substitute(pattern, factor, rhs)
    for k in range(d.size):
        d[order[k]] = rhs[k]


@njit(_nrt=False)
def advance(step: float, x: Any, d: Any, s: Any, ds: Any, z: Any, dz: Any) -> bool:
    """Take the step, unless it is no number."""
    total = 0.0
    for i in range(x.size):
        total += abs(d[i])
    if not (step > 1e-10 and total < 1e300):
        return False
    for i in range(x.size):
        x[i] += step * d[i]
    for k in range(s.shape[0]):
        for j in range(s.shape[1]):
            s[k, j] += step * ds[k, j]
            z[k, j] += step * dz[k, j]
    return True


@njit("Tuple((int64, float64))(ConeSystem, Analysis, int32[:,::1], float64[:,::1], float64[::1], float64, int64)")
def interior_point_loop(
    system: ConeSystem, pattern: Analysis, table: Any, law: Any, x: Any, tol: float, limit: int
) -> Any:
    """Iterate until the distance from the laws is below `tol`; the best x is left in place. Return (iterations, it)."""
    nw, nx, nc, parts = system.coordinates, x.size, table.shape[0], 2
    for j in range(nc):
        if table[j, SHAPE] in (CONE, DISC):
            parts = 3
    s, z, ds, dz = np.zeros((parts, nc)), np.zeros((parts, nc)), np.zeros((parts, nc)), np.zeros((parts, nc))
    nt = np.zeros((4, nc if parts == 3 else 0))
    g, d, rhs, keep, value = np.empty(nx), np.empty(nx), np.empty(nx), np.zeros(nx), np.empty(pattern.row.size)
    factor = LowerFactor(np.empty(pattern.l_row.size), np.empty(nx), np.zeros(nx), np.empty(nx, np.uint32))
    pairs = start_cones(nw, table, law, x, s, z)
    best, iteration = np.inf, 0
    while True:
        _gradient(system, x, g)
        worst = distance(nw, table, law, x, z, g)
        if worst < best:
            best = worst
            copy_to(keep, x)
        if worst < tol or iteration == limit:
            break
        iteration += 1
        gap = _assemble(table, law, s, z, nt, system.base, pattern.place, value) / max(pairs, 1)
        factor_into(pattern, value, system.sign, _TINY_PIVOT, factor)
        lag = 0.0
        for i in range(nx):
            d[i] = -g[i]
            lag = max(lag, abs(g[i]))
        aim(nw, table, law, s, z, nt, False, 0.0, d, ds, dz)
        _solve(pattern, factor, d, rhs)
        step = min(1.0, slacks(nw, table, law, s, z, nt, d, ds, dz))
        target = max(gap * (1.0 - step) ** 3, min(0.5 * gap, _LAG * lag))
        for i in range(nx):
            d[i] = -g[i]
        aim(nw, table, law, s, z, nt, True, target, d, ds, dz)
        _solve(pattern, factor, d, rhs)
        step = slacks(nw, table, law, s, z, nt, d, ds, dz)
        if not advance(min(1.0, 0.995 * step), x, d, s, ds, z, dz):
            break
    copy_to(x, keep)
    return iteration, best
