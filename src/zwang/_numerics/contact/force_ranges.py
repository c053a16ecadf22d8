"""How far forces can go where the motion is known and they are not: their ranges at many states, in compiled code.

A contact whose relative acceleration is known carries what its law leaves: nothing where it opens, a ray where it
slips, a cone with two edges where it sticks. So all forces are sums of edges with weights y >= 0 and C y = b, a
polyhedron whose corners and rays have at most as many weights as C has independent rows: they are all looked at, and
each force is least and greatest at one of them. Bilateral constraints with friction carry |N| both ways, and friction
with a bound of its own has no edges: such states are left to the exact enumeration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zwang._numerics.contact.counted_state import (
    ActingContacts,
    Bools,
    CountedTerms,
    Cube,
    Factors,
    Floats,
    Ints,
    Matrix,
    gather,
    reduce_to_contacts,
)
from zwang._numerics.contact.modes import BILATERAL, BOUND
from zwang._numerics.jit import njit

MOST_EDGES = 12
"""Of all contacts at a state: their choices are 924 at most."""
LOST = 1e-10
"""Relative: pivots below it are rounding."""
SMALL = 1e-9
"""Relative: weights and shares of rays below it are none."""


class Edges(NamedTuple):
    """The edges of the laws at a state: of which contact each is, its normal and tangential part; C beside b, room."""

    contact: Ints
    normal: Floats
    tangential: Floats
    table: Matrix
    trial: Matrix
    chosen: Ints


class ForceRanges(NamedTuple):
    """The least and greatest forces (lines, 2, B), and which states were done (B,)."""

    normal: Cube
    tangential: Cube
    done: Ints


@njit(_nrt=False)
def _edges(acting: ActingContacts, contacts: int, forces: Floats, tol: float, edges: Edges) -> int:
    """Write the edges of all contacts at the accelerations of these forces; return how many, -1 where that fails."""
    count = 0
    for j in range(contacts):
        n, t = 2 * j, 2 * j + 1
        gap, gap_size, creep, creep_size = acting.c[n], abs(acting.c[n]), acting.c[t], abs(acting.c[t])
        for r in range(2 * contacts):
            gap += acting.D[n, r] * forces[r]
            gap_size += abs(acting.D[n, r] * forces[r])
            creep += acting.D[t, r] * forces[r]
            creep_size += abs(acting.D[t, r] * forces[r])
        both = acting.kind[j] == BILATERAL
        if acting.kind[j] == BOUND or (both and acting.tangent[j] == 1) or count + 2 > MOST_EDGES:
            return -1
        if not both and gap > tol * gap_size:
            continue
        first, second, edges.contact[count], edges.contact[count + 1] = 0.0, 0.0, j, j
        if acting.tangent[j] == 1:
            first, second = acting.bound[j], -acting.bound[j]
            moving = acting.slip[j] if acting.slip[j] != 0.0 else (creep if abs(creep) > tol * creep_size else 0.0)
            if moving != 0.0:
                first = second = -acting.bound[j] if moving > 0.0 else acting.bound[j]
        edges.normal[count], edges.tangential[count] = 1.0, first
        edges.normal[count + 1], edges.tangential[count + 1] = -1.0 if both else 1.0, second
        count += 2 if both or first != second else 1
    return count


@njit(_nrt=False)
def _eliminate(table: Matrix, rows: int, cols: int, row: int, col: int) -> None:
    """Make a column a unit vector by its entry in a row."""
    pivot = table[row, col]
    for j in range(cols):
        table[row, j] /= pivot
    for i in range(rows):
        factor = table[i, col]
        if i != row and factor != 0.0:
            for j in range(cols):
                table[i, j] -= factor * table[row, j]


@njit(_nrt=False)
def _independent(table: Matrix, rows: int, count: int) -> int:
    """Bring C and b to as many rows as are independent, by complete pivoting; return how many."""
    largest = 0.0
    for i in range(rows):
        for j in range(count):
            largest = max(largest, abs(table[i, j]))
    rank = 0
    while rank < min(rows, count):
        row, col, best = rank, 0, 0.0
        for i in range(rank, rows):
            for j in range(count):
                if abs(table[i, j]) > best:
                    row, col, best = i, j, abs(table[i, j])
        if not best > LOST * largest:
            break
        for j in range(count + 1):
            table[rank, j], table[row, j] = table[row, j], table[rank, j]
        _eliminate(table, rows, count + 1, rank, col)
        rank += 1
    return rank


@njit(_nrt=False)
def _basis(edges: Edges, rank: int, count: int) -> bool:
    """Solve for the chosen weights: their columns become unit vectors in turn; False where they are dependent."""
    table, trial = edges.table, edges.trial
    for i in range(rank):
        for j in range(count + 1):
            trial[i, j] = table[i, j]
    for k in range(rank):
        row = k
        for i in range(k + 1, rank):
            if abs(trial[i, edges.chosen[k]]) > abs(trial[row, edges.chosen[k]]):
                row = i
        largest = 0.0
        for i in range(rank):
            largest = max(largest, abs(table[i, edges.chosen[k]]))
        if not abs(trial[row, edges.chosen[k]]) > LOST * largest:
            return False
        for j in range(count + 1):
            trial[k, j], trial[row, j] = trial[row, j], trial[k, j]
        _eliminate(trial, rank, count + 1, k, edges.chosen[k])
    return True


@njit(_nrt=False)
def _corner(
    acting: ActingContacts, edges: Edges, rank: int, count: int, contacts: int, s: int, out: ForceRanges
) -> int:
    """Take a basis into account: the corner, if it is one; return 1 if so, else 0."""
    largest = 0.0
    for k in range(rank):
        largest = max(largest, abs(edges.trial[k, count]))
    for k in range(rank):
        if edges.trial[k, count] < -SMALL * largest:
            return 0
    for j in range(contacts):
        normal, tangential, line = 0.0, 0.0, acting.line[j]
        for k in range(rank):
            e = edges.chosen[k]
            if edges.contact[e] == j:
                normal += edges.trial[k, count] * edges.normal[e]
                tangential += edges.trial[k, count] * edges.tangential[e]
        out.normal[line, 0, s] = min(out.normal[line, 0, s], normal)
        out.normal[line, 1, s] = max(out.normal[line, 1, s], normal)
        out.tangential[line, 0, s] = min(out.tangential[line, 0, s], tangential)
        out.tangential[line, 1, s] = max(out.tangential[line, 1, s], tangential)
    return 1


@njit(_nrt=False)
def _rays(acting: ActingContacts, edges: Edges, rank: int, count: int, contacts: int, s: int, out: ForceRanges) -> None:
    """Take the rays of a basis into account: one more weight that can grow without end."""
    for more in range(count):
        size = 1.0
        for k in range(rank):
            size = max(size, abs(edges.trial[k, more]))
        free = True
        for k in range(rank):
            free = free and edges.chosen[k] != more and -edges.trial[k, more] > -SMALL * size
        if not free:
            continue
        for j in range(contacts):
            normal, tangential, line = 0.0, 0.0, acting.line[j]
            if edges.contact[more] == j:
                normal, tangential = edges.normal[more], edges.tangential[more]
            for k in range(rank):
                e = edges.chosen[k]
                if edges.contact[e] == j:
                    normal -= edges.trial[k, more] * edges.normal[e]
                    tangential -= edges.trial[k, more] * edges.tangential[e]
            if abs(normal) > SMALL * size:
                out.normal[line, 1 if normal > 0.0 else 0, s] = np.inf if normal > 0.0 else -np.inf
            if abs(tangential) > SMALL * size:
                out.tangential[line, 1 if tangential > 0.0 else 0, s] = np.inf if tangential > 0.0 else -np.inf


@njit(_nrt=False)
def _next_choice(chosen: Ints, rank: int, count: int) -> bool:
    """Go on to the next choice of so many edges, in order; False after the last one."""
    k = rank - 1
    while k >= 0 and chosen[k] == count - rank + k:
        k -= 1
    if k < 0:
        return False
    chosen[k] += 1
    for i in range(k + 1, rank):
        chosen[i] = chosen[i - 1] + 1
    return True


@njit("void(int64[:, ::1], int64[:, ::1], boolean[:, ::1], CountedTerms, float64[:, :, ::1], float64, ForceRanges)")
def force_ranges(
    table: Ints, standing: Ints, rest: Bools, terms: CountedTerms, forces: Cube, tol: float, out: ForceRanges
) -> None:
    """Write the ranges of all forces at states whose acceleration is that of given forces.

    Parameters
    ----------
    table, standing, rest, terms, tol
        As `count_solutions` takes them.
    forces : (k, 2, B) array
        One set of normal and tangential forces for each state.
    out : ForceRanges
        Ranges begin as (inf, -inf); constraints that take no part get 0.
    """
    n, most = terms.force.shape[0], table.shape[0]
    size = 2 * most
    ints, numbers = np.empty((3, most), np.int64), np.empty((2, most))
    acting = ActingContacts(
        ints[0], ints[1], ints[2], numbers[0], numbers[1], np.empty((size, n)), np.empty((size, size)), np.empty(size)
    )
    factors = Factors(np.empty((n, n)), np.empty((size, n)), np.empty(n))
    wide, own = MOST_EDGES + 1, np.empty(size)
    whole, parts, tables = np.empty((2, wide), np.int64), np.empty((2, wide)), np.empty((2, n, wide))
    edges = Edges(whole[0], parts[0], parts[1], tables[0], tables[1], whole[1])
    for s in range(terms.force.shape[1]):
        out.done[s] = 0
        contacts = gather(table, standing, rest, terms, s, acting)
        if contacts < 0 or not reduce_to_contacts(terms, s, acting, contacts, factors):
            continue
        for j in range(contacts):
            own[2 * j], own[2 * j + 1] = forces[acting.line[j], 0, s], forces[acting.line[j], 1, s]
        count = _edges(acting, contacts, own, tol, edges)
        if count < 0:
            continue
        for i in range(n):
            for e in range(count):
                t = 2 * edges.contact[e]
                edges.table[i, e] = factors.Y[t, i] * edges.normal[e] + factors.Y[t + 1, i] * edges.tangential[e]
            edges.table[i, count] = 0.0
            for r in range(2 * contacts):
                edges.table[i, count] += factors.Y[r, i] * own[r]
        rank = _independent(edges.table, n, count)
        for k in range(rank):
            edges.chosen[k] = k
        going = True
        while going:
            if _basis(edges, rank, count):
                out.done[s] |= _corner(acting, edges, rank, count, contacts, s, out)
                _rays(acting, edges, rank, count, contacts, s, out)
            going = rank > 0 and _next_choice(edges.chosen, rank, count)
        for k in range(most):
            if not out.normal[k, 0, s] <= out.normal[k, 1, s]:
                out.normal[k, 0, s], out.normal[k, 1, s] = 0.0, 0.0
                out.tangential[k, 0, s], out.tangential[k, 1, s] = 0.0, 0.0
