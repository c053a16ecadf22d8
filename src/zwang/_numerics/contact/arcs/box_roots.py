"""Roots of the equations of a box in N, s and theta: Newton's method, and the proof that there is no other.

An unknown belongs to a slot whose acceleration is an equation: forces where a contact sticks, N where it is closed,
(N, s) or (N, s, theta) where it slips. The equations are bilinear, F(x) - F(z) = S (x - z) with a slope matrix S that
depends on the directions alone, so |I - C S| <= deviation has a closed form whatever N and s are. If deviation v < v
for some v > 0, S is regular: the box has at most one root, it is within t v of z, t = max |C F(z)| / (v - deviation v),
and Brouwer's theorem gives one there.

Sticking rows that depend on others are left out, where their accelerations vanish with the others; where they can't,
there is no such motion. Whether forces inside the sections exist for what the roots say is a question of its own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.arcs.places import ALONG, ARC, CLOSED, OPEN, STICK, ArcBox, Places, nearest_turn
from zwang._numerics.jit import njit

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

DEPENDENT = 1e-10
"""Square of the sine of the angle between a row and those before it, below which it counts as dependent."""
ROUNDING = 1e-13
"""The same square, below which nothing but rounding is left of the row."""
CONTRADICTION = 1e-8
"""Accelerations that rows must lose to contradict each other beyond the rounding of what was taken from them."""
STEPS = 14  # of Newton's method; quadratic where a root is isolated
IN, OUT, TIE, UNKNOWN = 1, 0, -1, -2
"""A root is a solution in the box; it is none; that is decided by less than its radius; nothing is proved."""


@njit
def independent_rows(places: Places, box: ArcBox, slots: Ints) -> tuple[int, int, int, bool]:
    """Write the slots of equations; return how many, the dependent rows of sticking contacts, those of other normals.

    Rows on which the acceleration vanishes are orthogonalized in the metric of the mass matrix, sticking ones first.
    The last answer is whether the box is to be left: the normal of an open contact depends on these, so that it can't
    leave, and the modes in which it touches without force cover the box; or sticking rows contradict each other.
    """
    size = len(places.b)
    k = len(box.mode)
    keep = np.zeros(size, np.int64)
    vectors, pivots, done = np.zeros((size, size + 1)), np.zeros(size), 0
    stuck, loose, covered = 0, 0, False
    row = np.empty(size + 1)
    for stage in range(3):
        for c in range(k):
            mode = box.mode[c]
            if (mode == OPEN) != (stage == 2) or (mode == STICK) != (stage == 0):
                continue
            at = places.first[c]
            for i in range(at, places.first[c + 1] if stage == 0 else at + 1):
                for j in range(size):
                    row[j] = places.gram[i, j]
                row[size] = places.b[i]
                for d in range(done):
                    factor = vectors[d, i] / pivots[d]
                    for j in range(size + 1):
                        row[j] -= factor * vectors[d, j]
                if stage == 2:
                    still = row[i] <= DEPENDENT * places.gram[i, i] and abs(row[size]) <= 10 * places.blur
                    covered = covered or still
                elif row[i] > DEPENDENT * places.gram[i, i]:
                    keep[i] = 1
                    pivots[done] = row[i]
                    for j in range(size + 1):
                        vectors[done, j] = row[j]
                    done += 1
                elif stage == 0:
                    stuck += 1
                    lost = row[i] <= ROUNDING * places.gram[i, i]
                    covered = covered or (lost and abs(row[size]) > CONTRADICTION * (1.0 + abs(places.b[i])))
                else:
                    loose += 1
                    keep[i] = 1
            if stage == 1:
                for i in range(at + 1, places.first[c + 1]):
                    keep[i] = 1
    count = 0
    for i in range(size):
        if keep[i]:
            slots[count] = i
            count += 1
    return count, stuck, loose, covered


@njit
def owners(places: Places) -> Ints:
    """Return the contact of each slot."""
    owner = np.empty(len(places.b), np.int64)
    for c in range(len(places.limit)):
        for i in range(places.first[c], places.first[c + 1]):
            owner[i] = c
    return owner


@njit
def forces_at(places: Places, box: ArcBox, slots: Ints, z: Floats) -> Floats:
    """Return the forces of unknowns."""
    f = np.zeros(len(places.b))
    owner = owners(places)
    for at in range(len(slots)):
        i = slots[at]
        c = owner[i]
        start, mode = places.first[c], box.mode[c]
        if mode == STICK or i == start:
            f[i] = z[at]
        elif i == start + 1:
            if mode == ARC:
                f[i] = -places.slip[c, 0] * z[at - 1] * np.cos(z[at + 1])
                f[i + 1] = -places.slip[c, 0] * z[at - 1] * np.sin(z[at + 1])
            else:
                f[i] = z[at - 1] * (-places.slip[c, 0] if mode == ALONG else places.slip[c, 1])
    return f


@njit
def equations(places: Places, box: ArcBox, slots: Ints, z: Floats) -> tuple[Floats, Matrix]:
    """Return the residual and its Jacobian."""
    n = len(slots)
    D, owner = places.D, owners(places)
    f = forces_at(places, box, slots, z)
    residual, jacobian = np.empty(n), np.zeros((n, n))
    for i in range(n):
        total = places.b[slots[i]]
        for j in range(len(f)):
            total += D[slots[i], j] * f[j]
        residual[i] = total
    for at in range(n):
        s = slots[at]
        c = owner[s]
        start, mode = places.first[c], box.mode[c]
        if mode in (STICK, CLOSED):
            for i in range(n):
                jacobian[i, at] = D[slots[i], s]
        elif s == start:
            if mode == ARC:
                x, y = np.cos(z[at + 2]), np.sin(z[at + 2])
                mu = places.slip[c, 0]
                for i in range(n):
                    r = slots[i]
                    jacobian[i, at] = D[r, s] - mu * (D[r, s + 1] * x + D[r, s + 2] * y)
                    jacobian[i, at + 2] = mu * z[at] * (D[r, s + 1] * y - D[r, s + 2] * x)
                residual[at + 1] -= z[at + 1] * x
                residual[at + 2] -= z[at + 1] * y
                jacobian[at + 1, at + 1] = -x
                jacobian[at + 2, at + 1] = -y
                jacobian[at + 1, at + 2] += z[at + 1] * y
                jacobian[at + 2, at + 2] -= z[at + 1] * x
            else:
                sign, mu = (1.0, -places.slip[c, 0]) if mode == ALONG else (-1.0, places.slip[c, 1])
                for i in range(n):
                    jacobian[i, at] = D[slots[i], s] + mu * D[slots[i], s + 1]
                residual[at + 1] -= sign * z[at + 1]
                jacobian[at + 1, at + 1] = -sign
    return residual, jacobian


@njit
def inverse_of(matrix: Matrix) -> Matrix:
    """Gauss-Jordan with row pivoting; an empty array where a pivot vanishes."""
    n = len(matrix)
    work = np.zeros((n, 2 * n))
    largest = 0.0
    for i in range(n):
        work[i, n + i] = 1.0
        for j in range(n):
            work[i, j] = matrix[i, j]
            largest = max(largest, abs(matrix[i, j]))
    for i in range(n):
        p = i
        for r in range(i + 1, n):
            if abs(work[r, i]) > abs(work[p, i]):
                p = r
        pivot = work[p, i]
        if not abs(pivot) > 1e-12 * largest:
            return np.empty((0, 0))
        for j in range(2 * n):
            swapped = work[i, j]
            work[i, j] = work[p, j] / pivot
            if p != i:
                work[p, j] = swapped
        for r in range(n):
            factor = work[r, i]
            if r != i and factor != 0.0:
                for j in range(2 * n):
                    work[r, j] -= factor * work[i, j]
    return work[:, n:].copy()


@njit
def times(matrix: Matrix, vector: Floats) -> Floats:
    """Return a product."""
    result = np.zeros(len(matrix))
    for i in range(len(matrix)):
        for j in range(len(vector)):
            result[i] += matrix[i, j] * vector[j]
    return result


@njit
def start_of(places: Places, box: ArcBox, slots: Ints, f: Floats) -> Floats:
    """Return unknowns to start Newton's method from, of forces that satisfy the program of the box."""
    z, owner = np.zeros(len(slots)), owners(places)
    u = times(places.D, f)
    for at in range(len(slots)):
        i = slots[at]
        c = owner[i]
        start, mode = places.first[c], box.mode[c]
        if mode == STICK or i == start:
            z[at] = f[i]
        elif i == start + 1 and mode == ARC:
            angle = (box.low[c] + box.high[c]) / 2
            if np.hypot(f[i], f[i + 1]) > 1e-9:
                angle += nearest_turn(np.arctan2(-f[i + 1], -f[i]) - angle)
            z[at] = (u[i] + places.b[i]) * np.cos(angle) + (u[i + 1] + places.b[i + 1]) * np.sin(angle)
            z[at + 1] = angle
        elif i == start + 1:
            z[at] = (u[i] + places.b[i]) * (1.0 if mode == ALONG else -1.0)
    return z


@njit
def newton(places: Places, box: ArcBox, slots: Ints, z: Floats) -> Matrix:
    """Polish z in place; return the inverse Jacobian, empty if singular or not converged."""
    for step in range(STEPS):
        residual, jacobian = equations(places, box, slots, z)
        C = inverse_of(jacobian)
        if len(C) == 0:
            return C
        move = times(C, residual)
        largest, size = 0.0, 1.0
        for i in range(len(z)):
            z[i] -= move[i]
            largest, size = max(largest, abs(move[i])), max(size, abs(z[i]))
        if largest <= 1e-13 * size or (step > 8 and largest <= 1e-9 * size):
            return C
        if not size < 1e8:
            break
    return np.empty((0, 0))


@njit
def weights(deviation: Matrix) -> Floats:
    """Return some v > 0 with deviation v < v, or nothing."""
    n = len(deviation)
    middle = inverse_of(np.eye(n) - deviation)
    if len(middle) == 0:
        return np.empty(0)
    v = times(middle, np.ones(n))
    w, largest = times(deviation, v), np.abs(v).max()
    for i in range(n):
        if not (v[i] > 0.0 and v[i] - w[i] > 1e-9 * largest):
            return np.empty(0)
    return v


@njit
def only_root(places: Places, box: ArcBox, slots: Ints, z: Floats, C: Matrix) -> Floats:
    """Return radii within which every root with directions in the arcs lies; nothing where that is not proved."""
    residual, jacobian = equations(places, box, slots, z)
    n, owner = len(z), owners(places)
    size = 1.0
    for i in range(n):
        size = max(size, abs(z[i]))
    deviation, rough = np.empty((n, n)), np.zeros(n)
    for i in range(n):
        for r in range(n):
            rough[i] += places.blur * size * abs(C[i, r])
        for j in range(n):
            value = -1.0 if i == j else 0.0
            for r in range(n):
                value += C[i, r] * jacobian[r, j]
            deviation[i, j] = abs(value) + rough[i]
    for at in range(n):
        s = slots[at]
        c = owner[s]
        if box.mode[c] != ARC or s != places.first[c]:
            continue
        reach = max(abs(box.low[c] - z[at + 2]), abs(box.high[c] - z[at + 2]))
        chord = 2 * np.sin(min(reach, np.pi) / 2)
        for i in range(n):
            p1, p2, q1, q2 = 0.0, 0.0, C[i, at + 1], C[i, at + 2]
            for r in range(n):
                p1 -= places.slip[c, 0] * C[i, r] * places.D[slots[r], s + 1]
                p2 -= places.slip[c, 0] * C[i, r] * places.D[slots[r], s + 2]
            deviation[i, at] += np.hypot(p1, p2) * chord
            deviation[i, at + 1] += np.hypot(q1, q2) * chord
            turn = np.hypot(z[at] * p1 - z[at + 1] * q1, z[at] * p2 - z[at + 1] * q2)
            deviation[i, at + 2] += turn * reach / 2
    v = weights(deviation)
    if len(v) == 0:
        return v
    back, miss, t = times(deviation, v), times(C, residual), 0.0
    for i in range(n):
        t = max(t, (abs(miss[i]) + rough[i]) / (v[i] - back[i]))
    return t * v


@njit
def room_at_rest(places: Places, c: int, n: float, t1: float, t2: float) -> float:
    """Return how far inside its section at rest a force is."""
    if places.first[c + 1] - places.first[c] == 2:
        return float(min(t1 + places.hold[c, 0] * n, places.hold[c, 1] * n - t1))
    a, b = max(places.hold[c, 0], 1e-300), max(places.hold[c, 1], 1e-300)
    return float(min(a, b) * (n - np.hypot(t1 / a, t2 / b)))


@njit
def verdict(places: Places, box: ArcBox, slots: Ints, z: Floats, radius: Floats, stuck: int) -> int:
    """Say whether a root is a solution in the box; with `stuck` forces at rest are not looked at."""
    f, owner = forces_at(places, box, slots, z), owners(places)
    size, m = 1.0, len(f)
    spread = np.zeros(m)
    for at in range(len(slots)):
        i = slots[at]
        c = owner[i]
        start, mode = places.first[c], box.mode[c]
        size = max(size, abs(f[i]))
        if mode == STICK or i == start:
            spread[i] = radius[at]
        elif mode == ARC:
            base = at - (i - start)
            spread[i] = places.slip[c, 0] * (radius[base] + abs(f[start]) * radius[base + 2])
        else:
            spread[i] = max(places.slip[c, 0], places.slip[c, 1]) * radius[at - 1]
    said, at = IN, 0
    for c in range(len(box.mode)):
        mode, start, end = box.mode[c], places.first[c], places.first[c + 1]
        while at < len(slots) and slots[at] < start:
            at += 1
        margin, blur = 1.0, places.blur * size
        if mode == OPEN:
            margin = places.b[start]
            for i in range(m):
                margin += places.D[start, i] * f[i]
                blur += abs(places.D[start, i]) * spread[i]
        elif mode == STICK:
            if stuck:
                continue
            t1 = f[start + 1] if end - start > 1 else 0.0
            t2 = f[start + 2] if end - start > 2 else 0.0
            margin = min(f[start], room_at_rest(places, c, f[start], t1, t2))
            wide = 1.0 + max(places.hold[c, 0], places.hold[c, 1])
            for i in range(start, end):
                blur += wide * spread[i]
        else:
            margin = f[start]
            blur += spread[start]
            if mode != CLOSED:
                if z[at + 1] < -radius[at + 1]:
                    return OUT
                if z[at + 1] <= radius[at + 1]:
                    said = TIE
            if mode == ARC and max(box.low[c] - z[at + 2], z[at + 2] - box.high[c]) > radius[at + 2]:
                return OUT
        if margin < -blur:
            return OUT
        if margin <= blur:
            said = TIE
    return said


@njit
def decide(places: Places, box: ArcBox, slots: Ints, z: Floats, stuck: int) -> tuple[int, Floats]:
    """Newton's method from z (changed in place) and the slope test: what is known, and the radii."""
    C = newton(places, box, slots, z)
    if len(C) == 0 and len(z):
        return UNKNOWN, np.zeros(0)
    owner = owners(places)
    low, high = box.low.copy(), box.high.copy()
    for at in range(len(slots)):
        c = owner[slots[at]]
        if box.mode[c] == ARC and slots[at] == places.first[c]:
            middle = (box.low[c] + box.high[c]) / 2
            z[at + 2] = middle + nearest_turn(z[at + 2] - middle)
            low[c] = z[at + 2]
            high[c] = z[at + 2]
    radius = np.zeros(0)
    if len(z):
        radius = only_root(places, box, slots, z, C)
        if len(radius) == 0:
            return UNKNOWN, radius
        radius = only_root(places, ArcBox(box.mode, low, high), slots, z, C)  # the same root, known better
        if len(radius) == 0:
            return UNKNOWN, radius
    return verdict(places, box, slots, z, radius, stuck), radius


@njit("float64[::1](Places, ArcBox, int64[::1], float64[::1])")
def contact_forces(places: Places, box: ArcBox, slots: Ints, z: Floats) -> Floats:
    """Return the forces of unknowns, to Python."""
    return forces_at(places, box, slots, z)
