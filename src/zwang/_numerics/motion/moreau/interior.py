"""Interior points for the impulses of a step: they tell the modes of a heap, Newton's method (`active`) ends it.

With s = E r in the contact's cone and z its multiplier (`contact.interior_point_kernels`; scaled units) the laws are

    u_n + mu |z_t| = (E^T z)_n,   u_t = (E^T z)_t,   s o z = 0:

De Saxce's term mu |u_t| makes Coulomb's law of the cone's. It is linearized too: with d = z_t/|z_t| the matrix of z is
F = E^T - mu e_n (0, d), and with u = b + J w, M w = J^T r, dz = c - V^-2 E dr one step solves

    (M + J^T D J) dw = J^T D (F c - residual),    dr = D (F c - residual - J dw),    D = (F V^-2 E)^-1,

which is the system of `direct` with another D for each contact: it is not symmetric, and has as many unknowns as there
are coordinates, however many contacts there are. (Left at its last value, the term loses a fixed part of the digits in
each step where much slides.) D comes in closed form: F = (1 - mu e_n d) E^T where d acts on slips, so D is the
symmetric E^-1 V^2 E^-T with mu d times its first column added to those of the slips.

If steps stay short, the whole is begun anew and stays nearer to the middle of the cones. Where a contact is about to
stick, |z_t| tends to zero and d means nothing: the last attempts take d for what it is worth there, |z_t| against the
distance of s from its cone. That is slower, but gets through where many forces do nothing.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.cone_scaling import BOX, CONE, DISC, FREE, RAY, WEDGE, scaling
from zwang._numerics.contact.interior_point_kernels import advance, aim, distance, slacks, start_cones
from zwang._numerics.contact.modes import BILATERAL, BOUND
from zwang._numerics.jit import njit
from zwang._numerics.motion.moreau.active import by_modes, few_of, restore
from zwang._numerics.motion.moreau.direct import OPEN, RHO, SLIDES, STICKS, StepFactors, follow, set_masses
from zwang._numerics.motion.moreau.elimination import (
    Elimination,
    GatheredRows,
    add_contact,
    eliminate,
    substitute,
)
from zwang._numerics.motion.moreau.kernels import (
    ACTIVE,
    FIRST,
    FLOATS,
    INTS,
    J_COLUMN,
    J_START,
    JAC,
    KIND,
    LAW,
    MEMBERS,
    SCALE,
    SIZE,
    TURN,
    B,
    R,
    U,
    row_times,
)

ITERATIONS, LAST, SOFT = 100, 3, 2
"""Most iterations, of which a heap of 91 balls takes 8 to 13; the last attempt, and the first that weighs d."""
NEAR, NEARER = 1e-3, 0.1
"""Residual up to which Newton's method is tried; what it has to fall to before that is tried again."""
SHORT, STALLED = 0.1, 4
"""Steps that are short, and how many of them say that it gets no further."""
PART, CENTRAL = (0.995, 0.995, 0.8, 0.6), (0.0, 0.3, 0.0, 0.1)
"""Part of the way to the boundary that a step goes, and least part of s o z that the next target keeps, by attempts."""
LAG = 0.01
"""How much of the residual the next target of s o z keeps, as in `interior_point_kernels`."""

Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]
IntMatrix = NDArray[np.int64]


class InnerPoint(NamedTuple):
    """Where the iteration stands, in scaled units.

    Attributes
    ----------
    table, law : (k, 2)
        First row and shape of the cone of each contact (-1 without one); coefficient and bound.
    r : (m,)
    s, z, ds, dz : (3, k)
        Slacks, their multipliers, and the changes of both.
    nt : (4, k)
        The scaling of the cones.
    gain : (9 k,)
        D of each contact, by rows.
    residual, d : (m,)
        Of Newton's equations; its right side, then the change of r.
    """

    table: IntMatrix
    law: Matrix
    r: Floats
    s: Matrix
    z: Matrix
    ds: Matrix
    dz: Matrix
    nt: Matrix
    gain: Floats
    residual: Floats
    d: Floats


@njit(_nrt=False)
def _shape_of(t: Any, f: Any, c: int) -> int:
    """Return the shape of the cone of a contact, -1 if it has none, -2 if it is not convex."""
    size, kind, mu = t[SIZE][c], t[KIND][c], f[LAW][2 * c]
    if not t[ACTIVE][c] or size == 0:
        return -1
    if kind == BOUND:
        return -1 if not f[LAW][2 * c + 1] > 0.0 else BOX if size == 1 else DISC
    if size == 1 or not mu > 0.0:
        return FREE if kind == BILATERAL else RAY
    if kind == BILATERAL or f[LAW][2 * c + 1] >= 0.0:
        return -2
    return WEDGE if size == 2 else CONE


@njit
def _inner_point(t: Any, f: Any, cause: float) -> InnerPoint:
    m, k = f[R].size, t[FIRST].size
    table, law = np.empty((k, 2), np.int64), np.empty((k, 2))
    for c in range(k):
        table[c, 0], table[c, 1] = t[FIRST][c], _shape_of(t, f, c)
        law[c, 0], law[c, 1] = f[LAW][2 * c], f[LAW][2 * c + 1] * f[SCALE][c] / cause
    three = np.zeros((3, k)), np.zeros((3, k)), np.zeros((3, k)), np.zeros((3, k))
    return InnerPoint(table, law, np.zeros(m), *three, np.zeros((4, k)), np.zeros(9 * k), np.zeros(m), np.zeros(m))


@njit(_nrt=False)
def _leaning(p: InnerPoint, c: int, soft: bool) -> Any:
    """Return d of a contact that may slide; in the plane its only component."""
    s, z = p.s, p.z
    if p.table[c, 1] == WEDGE:
        x, y = z[1, c] - z[0, c], 0.0
        room = min(s[0, c], s[1, c])
    else:
        x, y = z[1, c], z[2, c]
        room = s[0, c] - math.hypot(s[1, c], s[2, c])
    size = math.hypot(x, y)
    if not size > 0.0:
        return 0.0, 0.0
    part = size / (size + room) if soft else 1.0
    return part * x / size, part * y / size


@njit(_nrt=False)
def _gain(p: InnerPoint, c: int, soft: bool) -> int:
    """Set D of a contact, in scaled units; return how many rows it has."""
    shape, mu, out, at = p.table[c, 1], p.law[c, 0], p.gain, 9 * c
    s0, s1, z0, z1 = p.s[0, c], p.s[1, c], p.z[0, c], p.z[1, c]
    if shape == FREE:
        out[at] = RHO
        return 1
    if shape == RAY:
        out[at] = s0 / z0
        return 1
    if shape == BOX:
        out[at] = 1.0 / (z0 / s0 + z1 / s1)
        return 1
    if shape == WEDGE:
        v0, v1 = 0.25 * s0 / z0, 0.25 * s1 / z1
        out[at], out[at + 1], out[at + 2], out[at + 3] = (v0 + v1) / (mu * mu), (v1 - v0) / mu, (v1 - v0) / mu, v0 + v1
    else:
        if shape == DISC:
            w1, w2, b = p.nt[1, c], p.nt[2, c], p.nt[3, c]
            b /= 1.0 + 2.0 * (w1 * w1 + w2 * w2)
            out[at], out[at + 3] = b * (1.0 + 2.0 * w2 * w2), b * (1.0 + 2.0 * w1 * w1)
            out[at + 1] = out[at + 2] = -2.0 * b * w1 * w2
            return 2
        _cone_gain(p, c, _leaning(p, c, soft))
        return 3
    x, _ = _leaning(p, c, soft)
    for i in range(2):
        out[at + 2 * i + 1] += mu * x * out[at + 2 * i]
    return 2


@njit(_nrt=False)
def _cone_gain(p: InnerPoint, c: int, lean: tuple[float, float]) -> None:
    """Set D of a contact in space that may slide.

    The columns of the slips are V^2 (d_j, e_j) times E^-1, V^2 = beta^2 (2 w w^T - J). Where it slides V^2 is large,
    and w is nearly normal to (d_j, e_j), being nearly (1, -d): their product is summed from s and z, not from w.
    """
    mu, out, at = p.law[c, 0], p.gain, 9 * c
    s0, s1, s2, z0, z1, z2 = p.s[0, c], p.s[1, c], p.s[2, c], p.z[0, c], p.z[1, c], p.z[2, c]
    w0, w1, w2, b = p.nt[0, c], p.nt[1, c], p.nt[2, c], p.nt[3, c]
    x, y = lean
    share = w0 / (s0 + b * z0)  # w = share (s + beta^2 J z)
    first = share * ((s0 * x + s1) + b * (z0 * x - z1))
    second = share * ((s0 * y + s2) + b * (z0 * y - z2))
    out[at], out[at + 3], out[at + 6] = (
        b * (2.0 * w0 * w0 - 1.0) / (mu * mu),
        2.0 * b * w0 * w1 / mu,
        2.0 * b * w0 * w2 / mu,
    )
    out[at + 1], out[at + 2] = b * (2.0 * w0 * first - x) / mu, b * (2.0 * w0 * second - y) / mu
    out[at + 4], out[at + 5] = b * (2.0 * w1 * first + 1.0), 2.0 * b * w1 * second
    out[at + 7], out[at + 8] = 2.0 * b * w2 * first, b * (2.0 * w2 * second + 1.0)


@njit(_nrt=False)
def _scale_cones(p: InnerPoint) -> float:
    """Set the scaling of the cones; return the sum of s o z."""
    total, s, z = 0.0, p.s, p.z
    for c in range(p.table.shape[0]):
        shape = p.table[c, 1]
        if shape > FREE:
            total += s[0, c] * z[0, c] + s[1, c] * z[1, c]
            if shape in (CONE, DISC):
                total += s[2, c] * z[2, c]
                p.nt[0, c], p.nt[1, c], p.nt[2, c], p.nt[3, c] = scaling(
                    s[0, c], s[1, c], s[2, c], z[0, c], z[1, c], z[2, c]
                )
    return total


@njit("void(InnerPoint)")
def set_gain(p: InnerPoint) -> None:
    """Set the scaling and D of all contacts."""
    _scale_cones(p)
    for c in range(p.table.shape[0]):
        if p.table[c, 1] >= 0:
            _gain(p, c, False)


@njit(_nrt=False)
def _factor(t: Any, f: Any, p: InnerPoint, env: Elimination, rows: GatheredRows, made: StepFactors, soft: bool) -> bool:
    """Fill the factors of the system; False where a pivot is zero or no number."""
    set_masses(t, f, env, made)
    for lean in range(2):  # what is symmetric first
        for c in range(p.table.shape[0]):
            shape = p.table[c, 1]
            if shape < 0 or (shape in (WEDGE, CONE)) != (lean == 1):
                continue
            used, size, weight = _gain(p, c, soft), t[SIZE][c], f[SCALE][c] * f[SCALE][c]
            gain = made.gain
            for i in range(size * size):
                gain[i] = 0.0
            for i in range(used):
                for j in range(used):
                    gain[i * size + j] = p.gain[9 * c + i * used + j] / weight
            if lean:
                add_contact(env, rows, c, size, gain, made.low, made.up, False)
            else:
                add_contact(env, rows, c, size, gain, made.base, made.base, True)
        if not lean:
            for e in range(made.base.size):
                made.low[e] = made.up[e] = made.base[e]
    return eliminate(env, made.low, made.up)


@njit(_nrt=False)
def _used(shape: int, size: int) -> int:
    return 1 if shape in (RAY, FREE) else size


@njit(_nrt=False)
def _times_gain(p: InnerPoint, c: int, i: int, used: int) -> float:
    total = 0.0
    for j in range(used):
        total += p.gain[9 * c + i * used + j] * p.d[p.table[c, 0] + j]
    return total


@njit(_nrt=False)
def _change(t: Any, f: Any, p: InnerPoint, cause: float, env: Elimination, made: StepFactors, x: Any, w: Any) -> None:
    """Overwrite d, the right side, with the change of r; x and w (n,) are room."""
    for i in range(x.size):
        x[i] = 0.0
    for c in range(p.table.shape[0]):
        used = _used(p.table[c, 1], t[SIZE][c])
        for i in range(used if p.table[c, 1] >= 0 else 0):
            a = t[FIRST][c] + i
            push = _times_gain(p, c, i, used) * cause / f[SCALE][c]
            for e in range(t[J_START][a], t[J_START][a + 1]):
                x[env.place[t[J_COLUMN][e]]] += f[JAC][e] * push
    substitute(env, made.low, made.up, x)
    for i in range(w.size):
        w[i] = x[env.place[i]]
    for c in range(p.table.shape[0]):
        used, a = _used(p.table[c, 1], t[SIZE][c]), t[FIRST][c]
        if p.table[c, 1] < 0:
            continue
        for i in range(used):
            p.d[a + i] -= row_times(t, f, a + i, w) / (f[SCALE][c] * cause)
        first, second, third = _times_gain(p, c, 0, used), 0.0, 0.0
        if used > 1:
            second = _times_gain(p, c, 1, used)
        if used > 2:
            third = _times_gain(p, c, 2, used)
            p.d[a + 2] = third
        if used > 1:
            p.d[a + 1] = second
        p.d[a] = first


@njit(_nrt=False)
def _aim(p: InnerPoint, correct: bool, target: float, soft: bool) -> None:
    """Set d to the right side F c - residual, and dz to c."""
    for a in range(p.d.size):
        p.d[a] = -p.residual[a]
    aim(0, p.table, p.law, p.s, p.z, p.nt, correct, target, p.d, p.ds, p.dz)
    for c in range(p.table.shape[0]):
        if p.table[c, 1] in (WEDGE, CONE):
            x, y = _leaning(p, c, soft)
            slip = p.dz[1, c] - p.dz[0, c] if p.table[c, 1] == WEDGE else p.dz[1, c]
            p.d[p.table[c, 0]] -= p.law[c, 0] * (x * slip + y * p.dz[2, c])


@njit(_nrt=False)
def _mode(p: InnerPoint, c: int) -> int:
    """Return the mode that a contact tends to: which of s and z is inside of its cone, or neither."""
    shape, s, z = p.table[c, 1], p.s, p.z
    if shape < 0:
        return OPEN
    if shape == FREE:
        return STICKS
    if shape in (RAY, BOX, WEDGE):
        first, second = s[0, c] > z[0, c], shape == RAY or s[1, c] > z[1, c]
        if first and second:
            return STICKS
        return OPEN if shape == RAY or (shape == WEDGE and not (first or second)) else SLIDES
    pull, slip = math.hypot(s[1, c], s[2, c]), math.hypot(z[1, c], z[2, c])
    if s[0, c] - pull >= z[0, c] + slip:
        return STICKS
    return OPEN if shape == CONE and z[0, c] - slip >= s[0, c] + pull else SLIDES


@njit(_nrt=False)
def _show(t: Any, f: Any, p: InnerPoint, cause: float, w: Any) -> float:
    """Set r and u of the step, and the residual; return the distance from the laws."""
    for c in range(p.table.shape[0]):
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
            f[R][a] = p.r[a] * cause / f[SCALE][c]
    follow(t, f, w)
    for c in range(p.table.shape[0]):
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c] if t[ACTIVE][c] else t[FIRST][c]):
            p.residual[a] = f[U][a] / (f[SCALE][c] * cause)
    return float(distance(0, p.table, p.law, p.r, p.z, p.residual))


@njit(
    f"float64({INTS}, {FLOATS}, Elimination, GatheredRows, StepFactors, float64, float64, float64, int64)",
    separate=True,
)
def interior(
    t: Any, f: Any, env: Elimination, rows: GatheredRows, made: StepFactors, cause: float, tol: float, loose: float,
    attempt: int,
) -> float:  # fmt: skip
    """Find the impulses of a step from nothing; return the residual, infinite where that fails.

    `attempt` goes up to LAST, from the boldest way to the most careful one. Friction of contacts that hold both ways is
    no cone, and left to others.
    """
    soft = attempt >= SOFT
    k, n = t[FIRST].size, t[MEMBERS].size
    p, x, w = _inner_point(t, f, cause), np.empty(n), np.empty(n)
    mode, rates, turns = np.full(k, -1, np.int64), f[B].copy(), f[TURN].copy()
    for c in range(k):
        if p.table[c, 1] < -1:
            return np.inf
    pairs = start_cones(0, p.table, p.law, p.r, p.s, p.z)
    near, short = NEAR, 0
    for _ in range(ITERATIONS):
        far = _show(t, f, p, cause, w)
        gap = _scale_cones(p) / max(pairs, 1)
        changed = 0
        for c in range(k):
            new = _mode(p, c)
            changed += new != mode[c]
            mode[c] = new
        if far < near and changed < few_of(k):
            error = by_modes(t, f, env, rows, made, mode.copy(), cause, tol, loose, False, few_of(k), 0)
            if error <= loose:
                return error
            near = NEARER * far
            restore(f, p.r, rates, turns)
            _show(t, f, p, cause, w)
        if not _factor(t, f, p, env, rows, made, soft):
            return np.inf
        lag = 0.0
        for a in range(p.residual.size):
            lag = max(lag, abs(p.residual[a]))
        _aim(p, False, 0.0, soft)
        _change(t, f, p, cause, env, made, x, w)
        step = min(1.0, slacks(0, p.table, p.law, p.s, p.z, p.nt, p.d, p.ds, p.dz))
        target = max(gap * (1.0 - step) ** 3, min(0.5 * gap, LAG * lag), CENTRAL[attempt] * gap)
        _aim(p, True, target, soft)
        _change(t, f, p, cause, env, made, x, w)
        step = min(1.0, PART[attempt] * slacks(0, p.table, p.law, p.s, p.z, p.nt, p.d, p.ds, p.dz))
        short = short + 1 if step < SHORT else 0
        if short == STALLED or not advance(step, p.r, p.d, p.s, p.ds, p.z, p.dz):
            return np.inf
    return np.inf
