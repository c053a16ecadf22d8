"""The equations of a mode at one state, in compiled code, for contacts with at most one slip.

M a = Q + sum lam_j w_j + sum T_f u_f with the held rows w_j a = gamma_j and the sticking slips u_f a = bias; a slip
that slides has T = -bound N direction (Coulomb) or -bound direction. See `_simulate.mode_labels`, which has
the same for many states, and for slips in planes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.linear.dense import backward, cholesky, forward, lu, lu_solve
from zwang._numerics.motion.bands import DenseTerms
from zwang._numerics.motion.lone_impact import SOUND, TermPlaces, along

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Matrix = NDArray[np.float64]

UNILATERAL, BILATERAL, BOUND = range(3)
"""Sides of a line."""
OPEN, CLOSED, STICK, _, SLIP_PLUS, SLIP_MINUS = range(6)
"""Labels: the numbers of `Mode`."""
PIVOT = 1e-4
"""Least pivot of rows of length 1 that are independent beyond doubt."""


class ContactLines(NamedTuple):
    """The lines of a table that have at most one slip, and no friction that others load.

    Attributes
    ----------
    side, normal, slip : (k,) arrays
        Which side; numbers of the normal and of the slip, -1 without one.
    coulomb : (k,) array
        1 where friction goes with the normal force of the line.
    plus, minus, rest_plus, rest_minus : (k,) arrays
        Where the bounds against slips > 0 and < 0 stand, and those at rest.
    static : (k,) array
        1 where rest has a law of its own.
    """

    side: Ints
    normal: Ints
    slip: Ints
    coulomb: Ints
    plus: Ints
    minus: Ints
    rest_plus: Ints
    rest_minus: Ints
    static: Ints


class KnownLines(NamedTuple):
    """What is known of the lines (k,): labels, which can act, which of them rest, which act so at any rate.

    `usual` (n,) are the largest accelerations so far: where forces cancel, their rounding does not.
    """

    labels: Ints
    acts: Ints
    rests: Ints
    certain: Ints
    usual: Floats


class Forces(NamedTuple):
    """Room for the equations of a mode, and their solution.

    Attributes
    ----------
    out : array
        What the terms' function writes.
    factor : (n, n) array
        Of the mass.
    rows, columns : (m, n) arrays
        What is held, and what a unit of each force does, both in units in which the mass is 1.
    matrix, order, forces : arrays
        Their products and the forces.
    a, pull : (n,) arrays
        Accelerations, and those that all forces would make if their signs conspired.
    normal, friction : (k,) arrays
        Forces of the lines.
    """

    out: Floats
    factor: Matrix
    rows: Matrix
    columns: Matrix
    matrix: Matrix
    order: Ints
    forces: Floats
    a: Floats
    pull: Floats
    normal: Floats
    friction: Floats


@njit(_nrt=False)
def signed(label: int) -> float:
    """Return the sign of the slip of a label."""
    return 1.0 if label == SLIP_PLUS else -1.0 if label == SLIP_MINUS else 0.0


@njit(_nrt=False)
def bound_against(lines: ContactLines, places: TermPlaces, out: Floats, k: int, label: int) -> float:
    """Return the bound of friction of a line that slips."""
    return out[places.starts[7] + (lines.plus[k] if label == SLIP_PLUS else lines.minus[k])]  # type: ignore[no-any-return]


@njit(_nrt=False)
def stack(lines: ContactLines, places: TermPlaces, terms: DenseTerms, labels: Ints, x: Forces) -> int:
    """Set rows and columns, in `forces` what the rows are to be, in `a` the applied forces; return how many rows."""
    n, out, count = terms.force.size, x.out, 0
    for i in range(n):
        x.a[i] = terms.force[i]
        x.pull[i] = abs(terms.force[i])
    for k in range(labels.size):
        label = labels[k]
        if label == OPEN:
            continue
        j, s, sign = lines.normal[k], lines.slip[k], signed(label)
        push = -sign * bound_against(lines, places, out, k, label) if sign != 0.0 else 0.0
        if j >= 0:
            for i in range(n):
                x.rows[count, i] = x.columns[count, i] = terms.rows[j, i]
                if sign != 0.0 and lines.coulomb[k] == 1:
                    x.columns[count, i] += push * terms.slip_rows[s, i]
            x.forces[count] = out[places.starts[8] + j]
            count += 1
        if sign != 0.0 and lines.coulomb[k] == 0:
            for i in range(n):
                x.a[i] += push * terms.slip_rows[s, i]
                x.pull[i] += abs(push * terms.slip_rows[s, i])
        if label == STICK:
            for i in range(n):
                x.rows[count, i] = x.columns[count, i] = terms.slip_rows[s, i]
            x.forces[count] = out[places.starts[9] + s]
            count += 1
    return count


@njit(_nrt=False)
def solve(lines: ContactLines, places: TermPlaces, terms: DenseTerms, known: KnownLines, x: Forces) -> bool:
    """Set accelerations and forces in the mode of the labels; False where its rows may depend on each other."""
    n = terms.force.size
    count = stack(lines, places, terms, known.labels, x)
    if count > n or not cholesky(terms.mass, x.factor, n, 0.0) > SOUND:
        return False
    forward(x.factor, x.a, n)
    for r in range(count):
        forward(x.factor, x.rows[r], n)
        forward(x.factor, x.columns[r], n)
        length = np.sqrt(along(x.rows[r], x.rows[r]))
        if not length > 0.0:
            return False
        x.forces[r] = (x.forces[r] - along(x.rows[r], x.a)) / length
        for i in range(n):
            x.rows[r, i] /= length
    for c in range(count):
        own = np.sqrt(along(x.columns[c], x.columns[c]))
        for r in range(count):
            x.matrix[r, c] = along(x.rows[r], x.columns[c]) / own
    if not lu(x.matrix, x.order, count, PIVOT):
        return False
    lu_solve(x.matrix, x.order, x.forces, count)
    for r in range(count):
        x.forces[r] /= np.sqrt(along(x.columns[r], x.columns[r]))
        for i in range(n):
            x.a[i] += x.forces[r] * x.columns[r, i]
    backward(x.factor, x.a, n)
    share(lines, places, terms, known.labels, x)
    for i in range(n):
        x.pull[i] = x.pull[i] / terms.mass[i, i] + abs(x.a[i]) + known.usual[i]
    return True


@njit(_nrt=False)
def share(lines: ContactLines, places: TermPlaces, terms: DenseTerms, labels: Ints, x: Forces) -> None:
    """Set the forces of the lines, and what all forces would do."""
    n, r = terms.force.size, 0
    for k in range(labels.size):
        label, j, s = labels[k], lines.normal[k], lines.slip[k]
        x.normal[k] = x.friction[k] = 0.0
        if label == OPEN:
            continue
        load = 1.0
        if j >= 0:
            x.normal[k] = load = x.forces[r]
            r += 1
            for i in range(n):
                x.pull[i] += abs(load * terms.rows[j, i])
        if label == STICK:
            x.friction[k] = x.forces[r]
            r += 1
        elif signed(label) != 0.0:
            x.friction[k] = -signed(label) * load * bound_against(lines, places, x.out, k, label)
        if x.friction[k] != 0.0 and not (signed(label) != 0.0 and lines.coulomb[k] == 0):
            for i in range(n):
                x.pull[i] += abs(x.friction[k] * terms.slip_rows[s, i])
