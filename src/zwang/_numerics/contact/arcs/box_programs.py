"""The linear program of a box: what all solutions in it have in common.

The friction of an arc lies in the cone over the triangle of its ends and the meeting point of its tangents, sticking
friction in the cone over a polygon around its section, the slip acceleration of an arc in its wedge. Where contacts do
no positive work, f (D f + b) <= 0 and so f b <= 0. If that can't be, the box holds no solution.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.arcs.places import ALONG, ANY, ARC, CLOSED, OPEN, STICK, ArcBox, Places
from zwang._numerics.jit import njit
from zwang._numerics.linear.farkas import FEASIBLE, excluded, feasible_point, greatest

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SIDES = 8
"""Of the polygon around a section at rest."""
APART = 1e6
"""Slip accelerations of contacts of one body that are farther apart than this count as rest of the slower one."""


@njit
def generator_count(places: Places, box: ArcBox, c: int) -> int:
    """Return how many forces span the cone of a contact in a box."""
    slots = places.first[c + 1] - places.first[c]
    mode = box.mode[c]
    if mode == OPEN:
        return 0
    if mode == ARC:
        return 3
    if slots == 1 or mode not in (ANY, STICK):
        return 1
    return 2 if slots == 2 else SIDES


@njit
def set_generator(places: Places, box: ArcBox, c: int, j: int, force: Floats) -> None:
    """Write the j-th force (normal force 1) that spans the cone of a contact in a box."""
    force[0], force[1], force[2] = 1.0, 0.0, 0.0
    slots = places.first[c + 1] - places.first[c]
    mode = box.mode[c]
    if slots == 1:
        return
    if mode == ARC:
        half = (box.high[c] - box.low[c]) / 2
        angle = box.low[c] if j == 0 else box.high[c] if j == 1 else box.low[c] + half
        size = -places.slip[c, 0] / (np.cos(half) if j == 2 else 1.0)
        force[1], force[2] = size * np.cos(angle), size * np.sin(angle)
    elif mode in (ANY, STICK):
        first, second = places.hold[c, 0], places.hold[c, 1]
        if mode == ANY:  # a section at rest holds that of slip
            first, second = max(first, places.slip[c, 0]), max(second, places.slip[c, 1])
        if slots == 2:
            force[1] = -first if j == 0 else second
        else:
            angle, reach = 2 * np.pi * j / SIDES, 1.0 / np.cos(np.pi / SIDES)
            force[1], force[2] = first * reach * np.cos(angle), second * reach * np.sin(angle)
    else:
        force[1] = -places.slip[c, 0] if mode == ALONG else places.slip[c, 1]


@njit
def set_row(places: Places, box: ArcBox, c: int, part: int, weight: Floats) -> bool:
    """Write the weights of a contact's accelerations in one of its conditions; return whether it is an equation."""
    mode = box.mode[c]
    weight[0], weight[1], weight[2] = 0.0, 0.0, 0.0
    if part == 0 or mode == STICK:
        weight[part] = 1.0
        return mode == STICK or not (mode == OPEN or (mode == ANY and places.two_sided[c] == 0))
    if mode == ARC and part == 1:  # to the left of the arc's first end
        weight[1], weight[2] = -np.sin(box.low[c]), np.cos(box.low[c])
    elif mode == ARC:  # to the right of its second end
        weight[1], weight[2] = np.sin(box.high[c]), -np.cos(box.high[c])
    else:
        weight[1] = 1.0 if mode == ALONG else -1.0
    return False


@njit
def row_count(places: Places, box: ArcBox, c: int) -> int:
    """Return the number of conditions on a contact's accelerations in a box."""
    mode = box.mode[c]
    return 1 if mode in (ANY, OPEN, CLOSED) else places.first[c + 1] - places.first[c]


@njit
def spanning_forces(places: Places, box: ArcBox) -> tuple[Matrix, Ints]:
    """Return the forces (n, 3) that span the cones of a box, and whose they are."""
    k = len(box.mode)
    count = 0
    for c in range(k):
        count += generator_count(places, box, c)
    forces, owner = np.empty((count, 3)), np.empty(count, np.int64)
    n = 0
    for c in range(k):
        for j in range(generator_count(places, box, c)):
            set_generator(places, box, c, j, forces[n])
            owner[n] = c
            n += 1
    return forces, owner


@njit
def conditions(places: Places, box: ArcBox, forces: Matrix, owner: Ints) -> tuple[Matrix, Floats, Flags]:
    """Return the rows, right sides and kinds of the program of a box over multipliers of `forces`."""
    k, n = len(box.mode), len(owner)
    first = places.first
    count = places.passive
    for c in range(k):
        count += row_count(places, box, c)
    rows, rhs, equality = np.zeros((count, n)), np.zeros(count), np.zeros(count, np.bool_)
    weight = np.zeros(3)
    m = 0
    for c in range(k):
        for part in range(row_count(places, box, c)):
            equality[m] = set_row(places, box, c, part, weight)
            for s in range(first[c + 1] - first[c]):
                if weight[s] == 0.0:
                    continue
                i = first[c] + s
                rhs[m] -= weight[s] * places.b[i]
                for j in range(n):
                    at = first[owner[j]]
                    for t in range(first[owner[j] + 1] - at):
                        rows[m, j] += weight[s] * places.D[i, at + t] * forces[j, t]
            m += 1
    if places.passive:
        for j in range(n):
            at = first[owner[j]]
            for t in range(first[owner[j] + 1] - at):
                rows[m, j] -= places.b[at + t] * forces[j, t]
    return rows, rhs, equality


@njit
def empty_box(places: Places, box: ArcBox, force: Floats) -> bool:
    """Whether a box is proved to hold no solution; else write forces that satisfy its program."""
    forces, owner = spanning_forces(places, box)
    rows, rhs, equality = conditions(places, box, forces, owner)
    bound = np.empty(len(owner))
    for j in range(len(owner)):
        bound[j] = places.limit[owner[j]]
    proved, x = excluded(rows, rhs, equality, bound, places.blur)
    for i in range(len(force)):
        force[i] = 0.0
    for j in range(len(x)):
        at = places.first[owner[j]]
        for t in range(places.first[owner[j] + 1] - at):
            force[at + t] += x[j] * forces[j, t]
    return proved


@njit
def held(places: Places, box: ArcBox, null: Matrix, nullity: int) -> bool:
    """Whether dependent rows force a slipping contact of the box to rest, so that a sticking mode covers it.

    Rows of closed contacts that depend on each other, w D = 0, restrict their accelerations: w u = w b. Where w b = 0,
    one program for each slipping contact asks for slip accelerations in the wedges that obey this and don't vanish
    there.
    """
    k = len(box.mode)
    columns = 0
    for c in range(k):
        columns += 2 if box.mode[c] == ARC else 1 if box.mode[c] > STICK else 0
    rows, owner = np.zeros((nullity + 1, columns)), np.empty(columns, np.int64)
    rhs, equality, bound = np.zeros(nullity + 1), np.ones(nullity + 1, np.bool_), np.full(columns, APART)
    j = 0
    for c in range(k):
        if box.mode[c] <= STICK:
            continue
        at = places.first[c]
        for end in range(2 if box.mode[c] == ARC else 1):
            angle = box.high[c] if end else box.low[c]
            x, y = np.cos(angle), np.sin(angle)
            if box.mode[c] != ARC:
                x, y = (1.0, 0.0) if box.mode[c] == ALONG else (-1.0, 0.0)
            for i in range(nullity):
                rows[i, j] = null[i, at + 1] * x
                if box.mode[c] == ARC:
                    rows[i, j] += null[i, at + 2] * y
            owner[j] = c
            j += 1
    rhs[nullity] = 1.0
    for c in range(k):
        if box.mode[c] <= STICK:
            continue
        for i in range(columns):
            rows[nullity, i] = 1.0 if owner[i] == c else 0.0
            bound[i] = 1.0 if owner[i] == c else APART
        proved, _ = excluded(rows, rhs, equality, bound, places.blur)
        if proved:
            return True
    return False


@njit
def grounded(places: Places, box: ArcBox) -> bool:
    """Whether an open contact can't leave, so that the modes in which it touches without force cover the box.

    It can't where its normal, with those of other open contacts, is a combination y of rows on which the acceleration
    vanishes: sum y_i u_i = 0 over open contacts with y >= 0.
    """
    k, m = len(box.mode), len(places.b)
    rows, rhs = np.zeros((m + 1, 2 * m)), np.zeros(m + 1)
    equality = np.ones(m + 1, np.bool_)
    lifts = np.zeros(k, np.int64)
    n = 0
    for c in range(k):
        at = places.first[c]
        if box.mode[c] == OPEN:
            lifts[c] = n
        for i in range(at, places.first[c + 1] if box.mode[c] == STICK else at + 1):
            for j in range(m):
                rows[j, n] = places.gram[i, j]
                if box.mode[c] != OPEN:
                    rows[j, n + 1] = -places.gram[i, j]
            n += 1 if box.mode[c] == OPEN else 2
    rhs[m] = 1.0
    for c in range(k):
        if box.mode[c] != OPEN:
            continue
        rows[m, :] = 0.0
        rows[m, lifts[c]] = 1.0
        status, y, _ = feasible_point(rows[:, :n].copy(), rhs, equality)
        if status != FEASIBLE:
            continue
        free, at = 0.0, 0
        for d in range(k):
            start = places.first[d]
            for i in range(start, places.first[d + 1] if box.mode[d] == STICK else start + 1):
                free += places.b[i] * (y[at] if box.mode[d] == OPEN else y[at] - y[at + 1])
                at += 1 if box.mode[d] == OPEN else 2
        if abs(free) <= 10 * places.blur:
            return True
    return False


@njit("float64(Places, ArcBox, float64[::1])")
def greatest_in(places: Places, box: ArcBox, cost: Floats) -> float:
    """Return an upper bound of cost f over the forces f of a box; infinite where its program has none."""
    forces, owner = spanning_forces(places, box)
    rows, rhs, equality = conditions(places, box, forces, owner)
    value = np.zeros(len(owner))
    for j in range(len(owner)):
        at = places.first[owner[j]]
        for t in range(places.first[owner[j] + 1] - at):
            value[j] += cost[at + t] * forces[j, t]
    return greatest(rows, rhs, equality, value)
