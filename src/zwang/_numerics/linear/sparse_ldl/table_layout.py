"""What stands where in the table and the workspace of the sparse LDL^T, and how a kernel reads it.

All index data stands in one table of unsigned integers (for a signed index Numba tests at each access whether it is
negative), all numbers in one workspace F. The table starts with a head, whose places are named below. A *run* is a
number of supernodes of one kind with w columns and r rows below them; runs come in an order in which every supernode
follows its descendants.

========  ========================================================  ==============================================
kind      indices of a supernode                                    values of a supernode
========  ========================================================  ==============================================
leaf      w in mass, r * w in jac, r unknowns, targets, w unknowns  w inverse pivots, r * w of L
pair      2 unknowns, 1 target                                      inverse pivot, 1 of L
single    1 unknown, r unknowns (r even), targets                   inverse pivot, r of L
panel     w unknowns, r unknowns, targets                           w columns of height w + r: the lower part of L,
                                                                    inverse pivots on the diagonal
========  ========================================================  ==============================================

The r (r + 1) / 2 targets are the places in F of the entries (i, j), i >= j, of the rows: what a supernode subtracts
from the rest is scattered there directly. A leaf is a group of uncoupled coordinates that only constraints touch: its
pivots are entries of M, its columns are read from J, and nothing is ever scattered to it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit

Ints = NDArray[np.uint32]
Floats = NDArray[np.float64]

LEAF, PAIR, SINGLE, PANEL = 0, 1, 2, 3

# Places in the head of the table; a start is followed by a number.
COORDINATES = 0
RUNS, LEAF_RUNS = 1, 3
MASS, JAC = 4, 6  # pairs (target, source) of the entries that no leaf reads
DIAGONAL = 8  # pairs (unknown, place of its pivot)
MASS_SLOTS, JAC_SLOTS = 10, 14  # where each entry is summed, if there are duplicates; then start and number of sums
FACTOR = 18  # start and end of what is cleared
SCALE, TEMPORARY = 20, 21
HEAD = 22  # places before the pattern

RUN = 6  # entries of a run: kind, w, r, number of supernodes, start of their indices, start of their values

# Places in the head of the workspace.
RATIO, WORST, NOWHERE = 0, 1, 2
WORKSPACE_HEAD = 3  # places before the numbers


@njit
def get(table: Ints, place: int) -> int:
    """Return an entry as a signed integer, with which one can reckon (Numba's uint64 with int64 gives a float)."""
    return np.int64(table[place])  # type: ignore[return-value]


@njit
def get_run(table: Ints, run: int) -> tuple[int, int, int, int, int, int]:
    """Return kind, w, r, number of supernodes, start of their indices and of their values."""
    at = get(table, RUNS) + RUN * run
    return (
        get(table, at),
        get(table, at + 1),
        get(table, at + 2),
        get(table, at + 3),
        get(table, at + 4),
        get(table, at + 5),
    )


@njit
def index_of(table: Ints, kind: int, w: int, r: int, count: int, start: int) -> Ints:
    """Return the indices of a run, a line for each supernode."""
    size = w + r + r * (r + 1) // 2
    if kind == LEAF:
        size += w + w * r
    return table[start : start + count * size].reshape((count, size))


@njit
def value_of(F: Floats, kind: int, w: int, r: int, count: int, start: int) -> Floats:
    """Return the values of a run, a line for each supernode."""
    size = w + w * r if kind == LEAF else w * (w + r)
    return F[start : start + count * size].reshape((count, size))
