"""One of many states, as the count of its solutions takes it: what acts there, and the equations reduced to it.

For each state the constraints that act are found, and the equations are reduced to the contacts: u = c + D f gives the
relative accelerations u from forces f.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.admission import Standing
from zwang._numerics.contact.modes import BILATERAL, BOUND
from zwang._numerics.jit import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Matrix = NDArray[np.float64]
Cube = NDArray[np.float64]

SIDE, NORMAL, SLIP, LAW = range(4)  # columns of the table of constraints; SLIP and LAW are -1 without

INADMISSIBLE, DOUBTFUL = -2, -1
OPEN, CLOSING = int(Standing.OPEN), int(Standing.CLOSING)
VANISHING_ROW = 1e-7  # relative to unit rows; such a state lies at a singular point for all that doubles tell


class CountedTerms(NamedTuple):
    """The terms of the equations of many states, as kernels return them; the last axis runs over the states."""

    mass: Cube
    force: Matrix
    gamma: Matrix
    rows: Cube
    slip: Matrix
    slip_bias: Matrix
    slip_rows: Cube
    bounds: Matrix


class ActingContacts(NamedTuple):
    """The contacts that act at one state: their kinds and laws, and the equations u = c + D f reduced to them.

    `line` is the place of each in the table of constraints. Row 2 j of D and c belongs to the normal of contact j, row
    2 j + 1 to its tangent, with the rows H of both. `tangent` is 1 where there is friction, `slip` the velocity (0 at
    rest), `bound` the coefficient or the given bound.
    """

    line: Ints
    kind: Ints
    tangent: Ints
    slip: Floats
    bound: Floats
    H: Matrix
    D: Matrix
    c: Floats


class ModeTrial(NamedTuple):
    """A combination of modes, as an odometer with `base`, and the equations S b = b of its unknowns.

    Each unknown has an equation `row` and a force column: the row's own direction plus `column` times its tangent. `f`
    are the forces of all rows, and `worst` is raised to the largest error of what was counted.
    """

    mode: Ints
    base: Ints
    row: Ints
    column: Floats
    S: Matrix
    b: Floats
    f: Floats
    worst: Floats


class Factors(NamedTuple):
    """Room for the mass matrix and its factor M, the rows Y = H C^-T and the free acceleration C^-1 F."""

    M: Matrix
    Y: Matrix
    free: Floats


@njit(forceinline=True, _nrt=False)
def _cholesky(M: Floats, n: int) -> bool:
    """Factorize M = C C^T in place, with 1 / C[i, i] on the diagonal; False where M is not positive definite."""
    for i in range(n):
        for j in range(i + 1):
            total = M[i, j]
            for k in range(j):
                total -= M[i, k] * M[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                M[i, i] = 1.0 / np.sqrt(total)
            else:
                M[i, j] = total * M[j, j]
    return True


@njit(forceinline=True, _nrt=False)
def gather(table: Ints, standing: Ints, rest: Bools, terms: CountedTerms, s: int, acting: ActingContacts) -> int:
    """Fill kinds, laws, rows and free terms of what acts at state s; return how many, `INADMISSIBLE` or `DOUBTFUL`."""
    kind, tangent, speed, bound, H, c = acting.kind, acting.tangent, acting.slip, acting.bound, acting.H, acting.c
    n = H.shape[1]
    contacts, vanishes = 0, False
    for k in range(table.shape[0]):
        at = table[k, NORMAL]
        if standing[k, s] >= CLOSING:
            return INADMISSIBLE
        if standing[k, s] == OPEN:
            continue
        for i in range(n):
            H[2 * contacts, i] = 0.0 if table[k, SIDE] == BOUND else terms.rows[at, i, s]
            H[2 * contacts + 1, i] = 0.0
        if table[k, SIDE] == BILATERAL:  # a row of rounding errors (a singular point) is for the exact enumeration
            largest = 0.0
            for i in range(n):
                largest = max(largest, abs(H[2 * contacts, i]))
            vanishes = vanishes or not largest > VANISHING_ROW
        c[2 * contacts] = 0.0 if table[k, SIDE] == BOUND else -terms.gamma[at, s]
        c[2 * contacts + 1] = 0.0
        acting.line[contacts], kind[contacts], tangent[contacts] = k, table[k, SIDE], 0
        speed[contacts], bound[contacts] = 0.0, 0.0
        along = table[k, SLIP]
        if along >= 0:
            for i in range(n):
                H[2 * contacts + 1, i] = terms.slip_rows[along, i, s]
            c[2 * contacts + 1] = -terms.slip_bias[along, s]
            bound[contacts] = terms.bounds[table[k, LAW], s]
            speed[contacts] = 0.0 if rest[k, s] else terms.slip[along, s]
            tangent[contacts] = 1 if bound[contacts] > 0.0 or kind[contacts] == BOUND else 0
        contacts += 1
    return DOUBTFUL if vanishes else contacts


@njit(forceinline=True, _nrt=False)
def reduce_to_contacts(terms: CountedTerms, s: int, acting: ActingContacts, contacts: int, room: Factors) -> bool:
    """Reduce the equations of state s to its contacts; False where the mass isn't positive definite."""
    H, D, c, M, Y, free = acting.H, acting.D, acting.c, room.M, room.Y, room.free
    n, R = free.size, 2 * contacts
    for i in range(n):
        free[i] = terms.force[i, s]
        for j in range(i + 1):
            M[i, j] = terms.mass[i, j, s]
    if not _cholesky(M, n):
        return False
    for i in range(n):  # free = C^-1 F, Y = rows of H C^-T
        for k in range(i):
            free[i] -= M[i, k] * free[k]
        free[i] *= M[i, i]
    for r in range(R):
        for i in range(n):
            total = H[r, i]
            for k in range(i):
                total -= M[i, k] * Y[r, k]
            Y[r, i] = total * M[i, i]
    for r in range(R):
        for i in range(n):
            c[r] += Y[r, i] * free[i]
        for e in range(r + 1):
            total = 0.0
            for i in range(n):
                total += Y[r, i] * Y[e, i]
            D[r, e] = total
            D[e, r] = total
    return True
