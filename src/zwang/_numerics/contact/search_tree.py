"""The compiled search over modes: depth first, each node a linear program that starts from its parent's vertex.

A node assigns modes to some contacts. Its linear program keeps, for the contacts without a mode, what all their modes
share (forces in the friction cones, no penetration). Where that is impossible every mode below the node is rejected
at once, with the variable that can't have its sign and the best value it can reach. Which contact comes next is
decided at the vertex: the one that violates complementarity most.

The state lies in arrays that the caller owns, so that the search returns to Python every few thousand nodes.
"""

from __future__ import annotations

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

# Places in the array of counters
LEVEL, LEAVES, REJECTED, NODES, PIVOTS, STALLED, LOOSE, DONE = range(8)

# What a rejection rests on
SIGN, STRICT, EQUATION = 0, 1, 2

FLOATS2 = "float64[:, ::1]"
FLOATS3 = "float64[:, :, ::1]"
INTS1 = "int64[::1]"
INTS2 = "int64[:, ::1]"
INTS3 = "int64[:, :, ::1]"


@njit
def value_of(tab: Array, place: Ints, v: int) -> float:
    """Value of a variable at the vertex."""
    p = place[v]
    return float(tab[p, 0]) if 0 <= p < GONE else 0.0


@njit
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


@njit
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


@njit(
    f"void({FLOATS3}, {INTS2}, {INTS2}, {INTS2}, {INTS2}, {INTS2}, {INTS2}, float64[::1], {INTS1}, {INTS1}, {INTS3}, "
    f"{INTS3}, {INTS3}, {INTS2}, {INTS3}, {INTS2}, {INTS2}, {INTS2}, {FLOATS2}, {INTS1}, int64, float64, float64)"
)
def search(
    tabs: Array,
    basics: Ints,
    nonbasics: Ints,
    places: Ints,
    kinds: Ints,
    stricts: Ints,
    branch: Ints,
    growth: Array,
    modes: Ints,
    mode_count: Ints,
    zero: Ints,
    strict: Ints,
    any_strict: Ints,
    turned: Ints,
    pairs: Ints,
    leaves: Ints,
    doubtful: Ints,
    rejected: Ints,
    rejected_values: Array,
    counters: Ints,
    nodes: int,
    tol: float,
    margin: float,
) -> None:
    """Visit up to `nodes` nodes. ``branch[level]`` = [rows, cols, contact or -1, next mode, loose].

    A rejection is loose, and listed as doubtful, where it or a step on the way to it rests on less than `margin`;
    ``growth[level]`` is what small pivots on the way have made of rounding.
    """
    k = len(modes)
    note, shape = np.zeros(NOTES), np.zeros(2, dtype=np.int64)
    stop = counters[NODES] + nodes
    level = counters[LEVEL]
    while level >= 0 and counters[NODES] < stop:
        rows, cols, c, m, loose = branch[level]
        if c < 0:
            c = most_violating(tabs[level], places[level], modes, pairs)
            branch[level, 2] = c
        if m == mode_count[c]:
            modes[c] = -1
            level -= 1
            continue
        branch[level, 3] = m + 1
        modes[c] = m
        counters[NODES] += 1
        new = level + 1
        tab, basic, nonbasic, place = tabs[new], basics[new], nonbasics[new], places[new]
        kind, must = kinds[new], stricts[new]
        for i in range(rows):
            basic[i] = basics[level, i]
            for j in range(cols + 1):
                tab[i, j] = tabs[level, i, j]
        nonbasic[:cols] = nonbasics[level, :cols]
        place[:] = places[level]
        kind[:] = kinds[level]
        must[:] = stricts[level]
        note[1] = note[MARGIN] = 1.0
        note[GROWTH] = growth[level]
        culprit, basis = -1, SIGN
        shape[0], shape[1] = rows, cols
        for s in range(zero.shape[2]):
            v = zero[c, m, s]
            if v >= 0 and culprit < 0 and not force_zero(tab, shape, v, basic, nonbasic, place, tol, note):
                culprit, basis = v, EQUATION
        rows, cols = int(shape[0]), int(shape[1])
        loose = max(loose, 1 if note[1] < 10.0 * tol else 0)
        for s in range(strict.shape[2]):
            if strict[c, m, s] >= 0:
                must[strict[c, m, s]] = 1
        if turned[c, m] != -1:
            v = abs(turned[c, m]) - 2  # a slip acceleration gets its sign: v + 2, or -(v + 2) if it is turned round
            kind[v] = NONNEGATIVE
            if turned[c, m] < 0:
                turn(tab, rows, cols, place, v)
        stalled = False
        if culprit < 0:
            r = make_feasible(tab, rows, cols, basic, nonbasic, place, kind, tol, note)
            counters[PIVOTS] += int(note[3])
            if r >= 0:
                culprit = basic[r]
                loose = max(loose, 1 if note[2] > -tol * note[0] else 0)
            stalled = r == -2
            if stalled:
                counters[STALLED] += 1
                loose = 1
        if culprit < 0 and not stalled:
            v = unreachable(tab, rows, cols, basic, nonbasic, place, kind, must, modes, any_strict, tol, note)
            if v >= 0:
                culprit, basis = v, STRICT
                loose = max(loose, 1 if note[0] < -0.01 * tol or margin > 0.0 else 0)
        if note[MARGIN] < margin or (margin > 0.0 and note[GROWTH] > MOST_GROWTH):
            loose = 1
        growth[new] = note[GROWTH]
        if culprit < 0 and new == k:
            if counters[LEAVES] < leaves.shape[0]:
                leaves[counters[LEAVES], :k] = modes
            counters[LEAVES] += 1
            continue
        if culprit >= 0:
            if loose:
                if counters[LOOSE] < doubtful.shape[0]:
                    doubtful[counters[LOOSE], :k] = modes
                    doubtful[counters[LOOSE], k] = basis
                counters[LOOSE] += 1
            if counters[REJECTED] < rejected.shape[0]:
                at = counters[REJECTED]
                rejected[at, :k] = modes
                rejected[at, k] = culprit
                rejected[at, k + 1] = basis
                rejected_values[at, 0] = note[0]
            counters[REJECTED] += 1
            continue
        level = new
        branch[level, 0] = rows
        branch[level, 1] = cols
        branch[level, 2] = -1
        branch[level, 3] = 0
        branch[level, 4] = loose
    counters[LEVEL] = level
    counters[DONE] = 1 if level < 0 else 0
