"""The common form of contact problems for the search over arcs of directions, and the modes of its boxes.

Contact c owns the slots first[c] to first[c + 1] of forces f and accelerations u = D f + b: one slot for a contact
without friction or one that slides already (its friction is part of the column), two or three for one at rest with
friction along a line or in a plane. The first force of a contact, N, is never negative: a bilateral contact that pulls
is turned round, and friction with a given bound has a slot for the bound itself, u = N - bound = 0.

    open     f = 0, u_0 >= 0                 stick    u = 0, f in the cone of what holds at rest
    closed   u_0 = 0, N >= 0                 line     f = N (1, -+ mu), u = (0, +-s), s >= 0
    arc      f = N (1, -mu e(theta)), u = (0, s e(theta)), s >= 0, e = (cos, sin)

'Any' stands for all modes of a contact: the force in the wider cone, u_0 >= 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from zwang._numerics.jit import njit

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
IntMatrix = npt.NDArray[np.int64]

ANY, OPEN, CLOSED, STICK, ALONG, AGAINST, ARC = range(7)
"""Modes of a contact in a box; ALONG and AGAINST slip along a line in its direction and against it."""


class Places(NamedTuple):
    """A contact problem in scaled slots.

    Attributes
    ----------
    D : (m, m) array
        Accelerations per force; symmetric unless a contact slides with friction.
    gram : (m, m) array
        The same for forces along the rows themselves, symmetric; `D` unless a contact slides with friction.
    b : (m,) array
        Accelerations without contact forces.
    first : (k + 1,) int array
        The slots of each contact.
    two_sided : (k,) int array
        1 where the contact can't open.
    slip : (k, 2) array
        Friction per normal force against a slip along the line and against it; in a plane the first counts.
    hold : (k, 2) array
        The same at rest; in a plane semi-axes.
    limit : (k,) array
        A proved bound of N; infinite where there is none.
    passive : int
        1 where contact forces do no positive work, f u <= 0, and D is symmetric.
    blur : float
        Rounding of entries and of sums over slots.
    """

    D: Matrix
    gram: Matrix
    b: Floats
    first: Ints
    two_sided: Ints
    slip: Matrix
    hold: Matrix
    limit: Floats
    passive: int
    blur: float


class ArcBox(NamedTuple):
    """One box: the mode of each contact, and its arc of directions of slip where it has one."""

    mode: Ints
    low: Floats
    high: Floats


@njit
def nearest_turn(angle: float) -> float:
    """Return an angle less the whole turns in it."""
    return float(angle - 2 * np.pi * np.round(angle / (2 * np.pi)))
