"""Solutions of a family: roots of equations whose normal rows depend on each other, one or many to a box."""

from __future__ import annotations

import numpy as np

from zwang._numerics.contact.arcs.box_roots import OUT, equations, inverse_of, owners, times, verdict
from zwang._numerics.contact.arcs.places import ARC, ArcBox, Floats, Ints, Matrix, Places, nearest_turn
from zwang._numerics.jit import njit

BESIDE, NEAR = 16.0, 0.1
"""How far beside a box a member of a family may be: in its widths, and in radians."""
SOLVED = 1e-10
"""Residual of the scaled equations of a member of a family, relative to its largest unknown."""
ROOM = 1e-9
"""How far outside its laws and its box a member may be, in scaled unknowns."""


@njit
def settle(places: Places, box: ArcBox, slots: Ints, z: Floats) -> float:
    """Move z, in place, to the nearest root of a family of them; return the largest residual (Levenberg, Marquardt)."""
    n = len(z)
    worst = np.inf
    for _ in range(40):
        residual, jacobian = equations(places, box, slots, z)
        worst, square = 0.0, 0.0
        for i in range(n):
            worst = max(worst, abs(residual[i]))
            square += residual[i] * residual[i]
        if worst <= 1e-14:
            break
        normal, right = np.zeros((n, n)), np.zeros(n)
        for i in range(n):
            normal[i, i] = min(square, 1e-2) + 1e-13
            for r in range(n):
                right[i] += jacobian[r, i] * residual[r]
                for j in range(n):
                    normal[i, j] += jacobian[r, i] * jacobian[r, j]
        inverse = inverse_of(normal)
        if len(inverse) == 0:
            break
        move = times(inverse, right)
        for i in range(n):
            z[i] -= move[i]
    return worst


@njit
def member(places: Places, box: ArcBox, slots: Ints, start: Floats, z: Floats) -> bool:
    """Write unknowns of a solution of a family in the box, or next to it; return whether one was found."""
    owner = owners(places)
    width = 0.0
    for c in range(len(box.mode)):
        if box.mode[c] == ARC:
            width = max(width, box.high[c] - box.low[c])
    # A program can't tell a box from its neighbours in which a family passes by at some of its widths.
    near = max(width, min(BESIDE * width, NEAR))
    wide = ArcBox(box.mode, box.low - near, box.high + near)
    for attempt in range(3):
        for at in range(len(slots)):
            z[at] = start[at]
            c = owner[slots[at]]
            if attempt and box.mode[c] == ARC and slots[at] == places.first[c] + 2:
                share = 0.1 if attempt == 1 else 0.9
                z[at] = box.low[c] + share * (box.high[c] - box.low[c])
        worst = settle(places, box, slots, z)
        size = 1.0
        for at in range(len(slots)):
            size = max(size, abs(z[at]))
            c = owner[slots[at]]
            if box.mode[c] == ARC and slots[at] == places.first[c] + 2:
                middle = (box.low[c] + box.high[c]) / 2
                z[at] = middle + nearest_turn(z[at] - middle)
        if worst <= SOLVED * size and verdict(places, wide, slots, z, np.full(len(z), ROOM), 0) != OUT:
            return True
    return False


@njit("boolean(Places, ArcBox, int64[::1], float64[::1], float64[::1])")
def moved_member(places: Places, box: ArcBox, slots: Ints, move: Floats, z: Floats) -> bool:
    """Move a member of a family, in place, to another one near z + move; return whether that one is in the box."""
    return member(places, box, slots, z + move, z)


@njit("float64[:, ::1](Places, ArcBox, int64[::1], float64[::1])")
def jacobian_at(places: Places, box: ArcBox, slots: Ints, z: Floats) -> Matrix:
    """Return the Jacobian of the equations, to Python."""
    return equations(places, box, slots, z)[1]
