"""The compiled search over modes: depth first, each node a linear program that starts from its parent's vertex.

A node assigns modes to some contacts. Its linear program keeps, for the contacts without a mode, what all their modes
share (forces in the friction cones, no penetration). Where that is impossible every mode below the node is rejected
at once, with the variable that can't have its sign and the best value it can reach. Which contact comes next is
decided at the vertex: the one that violates complementarity most.

The state lies in arrays that the caller owns, so that the search returns to Python every few thousand nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from zwang._numerics.jit import njit
from zwang._numerics.linear.dictionary import (
    GONE,
    GROWTH,
    MARGIN,
    MOST_GROWTH,
    NONNEGATIVE,
    NOTES,
    force_zero,
    make_feasible,
    reaches,
)

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Cube = npt.NDArray[np.float64]
IntMatrix = npt.NDArray[np.int64]
IntCube = npt.NDArray[np.int64]

# Places in the array of counters
LEVEL, LEAVES, REJECTED, NODES, PIVOTS, STALLED, LOOSE, DONE = range(8)

# What a rejection rests on
SIGN, STRICT, EQUATION = 0, 1, 2

FLOATS2 = "float64[:, ::1]"
INTS1 = "int64[::1]"
INTS3 = "int64[:, :, ::1]"


class Levels(NamedTuple):
    """The path from the root to the node that is visited: the first axis runs over its levels.

    Attributes
    ----------
    tabs, basics, nonbasics, places, kinds : arrays
        The dictionary of each node; see `linear.dictionary`.
    stricts : (levels, variables) int array
        1 for what is to be positive.
    branch : (levels, 5) int array
        Rows and columns of the dictionary, the contact that gets a mode (-1: not chosen yet), its next mode, and
        whether a step on the way was loose.
    growth : (levels,) array
        What small pivots on the way have made of rounding.
    modes : (k,) int array
        Of each contact on the path, -1 where it has none yet.
    """

    tabs: Cube
    basics: IntMatrix
    nonbasics: IntMatrix
    places: IntMatrix
    kinds: IntMatrix
    stricts: IntMatrix
    branch: IntMatrix
    growth: Floats
    modes: Ints


class StepArrays(NamedTuple):
    """What the modes of each contact say of the variables: `zero`, `strict` and one of `any_strict` positive.

    ``turned[c, m]`` is v + 2 of a slip acceleration that gets its sign, -(v + 2) if it is turned round, -1 without;
    ``pairs[c]`` are the complementary variables, with a sign.
    """

    counts: Ints
    zero: IntCube
    strict: IntCube
    any_strict: IntCube
    turned: IntMatrix
    pairs: IntCube


class Harvest(NamedTuple):
    """What the search leaves behind: modes with solutions, loose rejections, rejections and their values."""

    leaves: IntMatrix
    doubtful: IntMatrix
    rejected: IntMatrix
    values: Matrix
    counters: Ints


@njit(_nrt=False)
def value_of(tab: Array, place: Ints, v: int) -> float:
    """Value of a variable at the vertex."""
    p = place[v]
    return float(tab[p, 0]) if 0 <= p < GONE else 0.0


@njit(_nrt=False)
def most_violating(tab: Array, place: Ints, modes: Ints, pairs: Ints) -> int:
    """Return the contact without a mode whose complementarity the vertex violates most."""
    chosen = -1
    most = -1.0
    for c in range(len(modes)):
        if modes[c] >= 0:
            continue
        total = 0.0
        for p in range(pairs.shape[1]):
            if pairs[c, p, 0] < 0:
                break
            first = value_of(tab, place, pairs[c, p, 0])
            second = pairs[c, p, 2] * value_of(tab, place, pairs[c, p, 1])
            if first > 0.0 and second > 0.0:
                total += first * second
        if total > most:
            most = total
            chosen = c
    return chosen


@njit(_nrt=False)
def turn(tab: Array, rows: int, cols: int, place: Ints, v: int) -> None:
    """Replace a variable by its negative."""
    p = place[v]
    if p == GONE:
        return
    if p >= 0:
        for j in range(cols + 1):
            tab[p, j] = -tab[p, j]
    else:
        for i in range(rows):
            tab[i, -p] = -tab[i, -p]


@njit(
    f"int64({FLOATS2}, int64, int64, {INTS1}, {INTS1}, {INTS1}, {INTS1}, {INTS1}, {INTS1}, {INTS3}, float64, "
    f"float64[::1])",
    separate=True,
)
def unreachable(
    tab: Array,
    rows: int,
    cols: int,
    basic: Ints,
    nonbasic: Ints,
    place: Ints,
    kind: Ints,
    strict: Ints,
    modes: Ints,
    any_strict: Ints,
    tol: float,
    note: Array,
) -> int:
    """Return a variable that is to be positive and can't be, -1 if all can; by convexity then all at once."""
    zero = 0.01 * tol
    for v in range(len(strict)):
        if strict[v] != 0:
            note[0] = reaches(tab, rows, cols, v, zero, basic, nonbasic, place, kind, tol, note)
            if note[0] <= zero:
                return v
    for c in range(len(modes)):
        found = modes[c] < 0 or any_strict[c, modes[c], 0] < 0
        for s in range(any_strict.shape[2]):
            if not found:
                v = any_strict[c, modes[c], s]
                found = reaches(tab, rows, cols, v, zero, basic, nonbasic, place, kind, tol, note) > zero
        if not found:
            note[0] = 0.0
            return int(any_strict[c, modes[c], 0])
    return -1


@njit(f"boolean({FLOATS2}, {INTS1}, {INTS1}, {INTS1}, {INTS1}, {INTS1}, {INTS1}, float64[::1], float64, float64)")
def plant(
    tab: Array,
    basic: Ints,
    nonbasic: Ints,
    place: Ints,
    kind: Ints,
    branch: Ints,
    tied: Ints,
    note: Array,
    tol: float,
    margin: float,
) -> bool:
    """Make the root: variables that vanish in every mode leave it. False if it is impossible already.

    ``branch`` = [rows, cols, contact, next mode, loose]; where impossible, branch[2] is the variable and branch[3]
    what the rejection rests on.
    """
    shape = branch[:2]
    note[1] = note[MARGIN] = note[GROWTH] = 1.0
    for s in range(len(tied)):
        if not force_zero(tab, shape, tied[s], basic, nonbasic, place, tol, note):
            branch[2] = tied[s]
            branch[3] = EQUATION
            branch[4] = 1 if note[MARGIN] < margin else 0
            return False
    r = make_feasible(tab, shape[0], shape[1], basic, nonbasic, place, kind, tol, note)
    if note[GROWTH] > MOST_GROWTH:
        note[MARGIN] = 0.0
    branch[2], branch[3] = -1, 0
    branch[4] = 1 if note[1] < 10.0 * tol or r == -2 or note[MARGIN] < margin else 0
    if r >= 0:
        branch[2] = basic[r]
        branch[3] = SIGN
        branch[4] = 1 if note[2] > -tol * note[0] or note[MARGIN] < margin else 0
    return r < 0


@njit(_nrt=False)
def _descend(levels: Levels, level: int) -> None:
    """Copy the dictionary of a node to the next level."""
    rows, cols, new = levels.branch[level, 0], levels.branch[level, 1], level + 1
    for i in range(rows):
        levels.basics[new, i] = levels.basics[level, i]
        for j in range(cols + 1):
            levels.tabs[new, i, j] = levels.tabs[level, i, j]
    for j in range(cols):
        levels.nonbasics[new, j] = levels.nonbasics[level, j]
    for v in range(levels.places.shape[1]):
        levels.places[new, v] = levels.places[level, v]
        levels.kinds[new, v] = levels.kinds[level, v]
        levels.stricts[new, v] = levels.stricts[level, v]


@njit(_nrt=False)
def _impose(levels: Levels, steps: StepArrays, new: int, c: int, shape: Ints, tol: float, note: Array) -> int:
    """Give contact c its mode at a node; return the variable that can't vanish, -1 if all can."""
    tab, basic, nonbasic, place = levels.tabs[new], levels.basics[new], levels.nonbasics[new], levels.places[new]
    m, culprit = levels.modes[c], -1
    for s in range(steps.zero.shape[2]):
        v = steps.zero[c, m, s]
        if v >= 0 and culprit < 0 and not force_zero(tab, shape, v, basic, nonbasic, place, tol, note):
            culprit = v
    for s in range(steps.strict.shape[2]):
        if steps.strict[c, m, s] >= 0:
            levels.stricts[new, steps.strict[c, m, s]] = 1
    if steps.turned[c, m] != -1:
        v = abs(steps.turned[c, m]) - 2
        levels.kinds[new, v] = NONNEGATIVE
        if steps.turned[c, m] < 0:
            turn(tab, shape[0], shape[1], place, v)
    return culprit


@njit(_nrt=False)
def _reject(harvest: Harvest, modes: Ints, culprit: int, basis: int, loose: int, value: float) -> None:
    """Note a rejection, and that it is doubtful where it is loose."""
    counters, k = harvest.counters, len(modes)
    if loose:
        at = counters[LOOSE]
        if at < harvest.doubtful.shape[0]:
            for c in range(k):
                harvest.doubtful[at, c] = modes[c]
            harvest.doubtful[at, k] = basis
        counters[LOOSE] += 1
    at = counters[REJECTED]
    if at < harvest.rejected.shape[0]:
        for c in range(k):
            harvest.rejected[at, c] = modes[c]
        harvest.rejected[at, k] = culprit
        harvest.rejected[at, k + 1] = basis
        harvest.values[at, 0] = value
    counters[REJECTED] += 1


@njit(_nrt=False)
def _keep(harvest: Harvest, modes: Ints) -> None:
    """Note a combination of modes that has a solution."""
    at = harvest.counters[LEAVES]
    if at < harvest.leaves.shape[0]:
        for c in range(len(modes)):
            harvest.leaves[at, c] = modes[c]
    harvest.counters[LEAVES] += 1


@njit(_nrt=False)
def _visit(
    levels: Levels, steps: StepArrays, harvest: Harvest, level: int, c: int, tol: float, margin: float, shape: Ints,
    note: Array,
) -> bool:  # fmt: skip
    """Solve the node below a level in which contact c has its mode; False where it is rejected or a leaf."""
    new, counters, modes = level + 1, harvest.counters, levels.modes
    _descend(levels, level)
    tab, basic, nonbasic, place = levels.tabs[new], levels.basics[new], levels.nonbasics[new], levels.places[new]
    kind = levels.kinds[new]
    shape[0], shape[1] = levels.branch[level, 0], levels.branch[level, 1]
    loose = levels.branch[level, 4]
    note[1] = note[MARGIN] = 1.0
    note[GROWTH] = levels.growth[level]
    culprit, basis = _impose(levels, steps, new, c, shape, tol, note), EQUATION
    rows, cols = shape[0], shape[1]
    loose = max(loose, 1 if note[1] < 10.0 * tol else 0)
    stalled = False
    if culprit < 0:
        r = make_feasible(tab, rows, cols, basic, nonbasic, place, kind, tol, note)
        counters[PIVOTS] += int(note[3])
        if r >= 0:
            culprit, basis = basic[r], SIGN
            loose = max(loose, 1 if note[2] > -tol * note[0] else 0)
        stalled = r == -2
        if stalled:
            counters[STALLED] += 1
            loose = 1
    if culprit < 0 and not stalled:
        must = levels.stricts[new]
        v = unreachable(tab, rows, cols, basic, nonbasic, place, kind, must, modes, steps.any_strict, tol, note)
        if v >= 0:
            culprit, basis = v, STRICT
            loose = max(loose, 1 if note[0] < -0.01 * tol or margin > 0.0 else 0)
    if note[MARGIN] < margin or (margin > 0.0 and note[GROWTH] > MOST_GROWTH):
        loose = 1
    levels.growth[new] = note[GROWTH]
    if culprit >= 0:
        _reject(harvest, modes, culprit, basis, loose, note[0])
        return False
    if new == len(modes):
        _keep(harvest, modes)
        return False
    branch = levels.branch[new]
    branch[0], branch[1], branch[2], branch[3], branch[4] = rows, cols, -1, 0, loose
    return True


@njit("void(Levels, StepArrays, Harvest, int64, float64, float64)")
def search(levels: Levels, steps: StepArrays, harvest: Harvest, nodes: int, tol: float, margin: float) -> None:
    """Visit up to `nodes` nodes.

    A rejection is loose, and listed as doubtful, where it or a step on the way to it rests on less than `margin`.
    """
    note, shape = np.zeros(NOTES), np.zeros(2, dtype=np.int64)
    branch, modes, counters = levels.branch, levels.modes, harvest.counters
    stop = counters[NODES] + nodes
    level = counters[LEVEL]
    while level >= 0 and counters[NODES] < stop:
        if branch[level, 2] < 0:
            branch[level, 2] = most_violating(levels.tabs[level], levels.places[level], modes, steps.pairs)
        c, m = branch[level, 2], branch[level, 3]
        if m == steps.counts[c]:
            modes[c] = -1
            level -= 1
            continue
        branch[level, 3] = m + 1
        modes[c] = m
        counters[NODES] += 1
        if _visit(levels, steps, harvest, level, c, tol, margin, shape, note):
            level += 1
    counters[LEVEL] = level
    counters[DONE] = 1 if level < 0 else 0
