"""The walk over the boxes of all modes: one tree, in which most modes are excluded together, high up.

The root is 'any' at every contact. A box whose program is empty is done. Else the contact that presses most in the
program gets its modes, arcs in quarters; when all have one, the slope test decides, or the widest arc is halved.
The walk lies in arrays that the caller owns, so that it returns to Python from time to time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.arcs.box_programs import empty_box, grounded, held
from zwang._numerics.contact.arcs.box_roots import IN, OUT, TIE, UNKNOWN, decide, independent_rows, start_of
from zwang._numerics.contact.arcs.members import member
from zwang._numerics.contact.arcs.places import (
    AGAINST,
    ALONG,
    ANY,
    ARC,
    CLOSED,
    OPEN,
    STICK,
    ArcBox,
    Floats,
    Ints,
    Matrix,
    Places,
)
from zwang._numerics.jit import njit

Cube = npt.NDArray[np.float64]

QUARTERS = 4
"""Pieces into which the circle of directions is cut first."""
FIRST_END = -0.3
"""Of those pieces: off the axes, where symmetric problems have their roots."""
SMALLEST = 1e-6
"""Width of arcs that are not halved any more."""
COARSE = 0.15
"""Width of arcs from which boxes with a solution are kept, where dependent rows leave a continuum of them."""
FINE = 2e-3
"""Width of arcs at which such boxes without a solution are given up."""
WAITING, SEEN, LINES, PART = range(4)
"""Counters: boxes that wait, boxes seen, lines of the book, boxes to be seen until the walk returns."""
ROOT, STUCK, LOOSE, OPEN_QUESTION = 1, 2, 3, 0
"""Kinds of lines: a solution, a root whose sticking forces are not unique, a box of a continuum, an undecided box."""


class ArcWalk(NamedTuple):
    """Where the walk is and what it found.

    Attributes
    ----------
    boxes : (., 3 k) array
        Those that wait: mode, low and high of each contact.
    book : (., 3 k + 3 m) array
        A line for each box that is not excluded: the box, then slots (-1: none), unknowns and radii.
    kinds : (.,) int array
    counters : (4,) int array
    """

    boxes: Matrix
    book: Matrix
    kinds: Ints
    counters: Ints


class Nulls(NamedTuple):
    """For each set of closed contacts the rows w (., m) with w D = 0 and w b = 0, and their number."""

    rows: Cube
    counts: Ints


@njit
def children_of(places: Places, c: int, modes: Ints) -> int:
    """Write the modes of a contact; return their number (quarters of the circle count one each)."""
    n = 0
    if places.two_sided[c] == 0:
        modes[n] = OPEN
        n += 1
    slots = places.first[c + 1] - places.first[c]
    modes[n] = CLOSED if slots == 1 else STICK
    n += 1
    if slots == 2:
        modes[n], modes[n + 1] = ALONG, AGAINST
        n += 2
    elif slots == 3:
        for _ in range(QUARTERS):
            modes[n] = ARC
            n += 1
    return n


@njit
def widest(places: Places, box: ArcBox, force: Floats) -> tuple[int, float, bool]:
    """Return the contact to divide, the width of its arc, and whether it gets modes (it presses most of those)."""
    k, split, most, anywhere = len(box.mode), -1, -1.0, False
    for c in range(k):
        if box.mode[c] == ANY and (not anywhere or force[places.first[c]] > most):
            split, most, anywhere = c, force[places.first[c]], True
    if anywhere:
        return split, most, True
    for c in range(k):
        if box.mode[c] == ARC and box.high[c] - box.low[c] > most:
            split, most = c, box.high[c] - box.low[c]
    return split, most, False


@njit
def divide(places: Places, box: ArcBox, split: int, fresh: bool, walk: ArcWalk) -> None:
    """Put the parts of a box where boxes wait."""
    k = len(box.mode)
    modes = np.empty(8, np.int64)
    count = children_of(places, split, modes) if fresh else 2
    quarter = 0
    for child in range(count):
        line = walk.boxes[walk.counters[WAITING]]
        for c in range(k):
            line[3 * c], line[3 * c + 1], line[3 * c + 2] = box.mode[c], box.low[c], box.high[c]
        if not fresh:
            line[3 * split + 2 - child] = (box.low[split] + box.high[split]) / 2
        else:
            line[3 * split] = modes[child]
            if modes[child] == ARC:
                line[3 * split + 1] = FIRST_END + 2 * np.pi * quarter / QUARTERS
                line[3 * split + 2] = FIRST_END + 2 * np.pi * (quarter + 1) / QUARTERS
                quarter += 1
        walk.counters[WAITING] += 1


@njit
def note(walk: ArcWalk, kind: int, box: ArcBox, slots: Ints, z: Floats, radius: Floats) -> None:
    """Add a line to the book."""
    k, at = len(box.mode), walk.counters[LINES]
    m = (walk.book.shape[1] - 3 * k) // 3
    line = walk.book[at]
    for c in range(k):
        line[3 * c], line[3 * c + 1], line[3 * c + 2] = box.mode[c], box.low[c], box.high[c]
    for i in range(m):
        line[3 * k + i] = slots[i] if i < len(slots) else -1.0
        line[3 * k + m + i] = z[i] if i < len(z) else 0.0
        line[3 * k + 2 * m + i] = radius[i] if i < len(radius) else 0.0
    walk.kinds[at] = kind
    walk.counters[LINES] += 1


@njit
def leaf(places: Places, nulls: Nulls, box: ArcBox, force: Floats, width: float, walk: ArcWalk) -> bool:
    """Decide a box in which every contact has a mode; return whether it is to be halved."""
    subset = 0
    moves = False
    for c in range(len(box.mode)):
        if box.mode[c] != OPEN:
            subset += 1 << c
        moves |= box.mode[c] > STICK
    if moves and nulls.counts[subset] and held(places, box, nulls.rows[subset], nulls.counts[subset]):
        return False
    room = np.empty(len(places.b), np.int64)
    count, stuck, loose, covered = independent_rows(places, box, room)
    if covered:
        return False
    slots = room[:count]
    z = start_of(places, box, slots, force)
    if loose:
        if width > COARSE:
            return True
        start = z.copy()
        found = member(places, box, slots, start, z)
        if not found and width > FINE:
            return True
        note(walk, LOOSE if found else OPEN_QUESTION, box, slots, z, z[:0])
        return False
    said, radius = decide(places, box, slots, z, stuck)
    if said == TIE and nulls.counts[-1] and grounded(places, box):
        return False
    if said == TIE and moves and nulls.counts[subset]:  # perhaps a sticking force at its bound: a smaller box is held
        said = UNKNOWN
    if said == OUT:
        return False
    if said == UNKNOWN and width > SMALLEST:
        return True
    note(walk, (STUCK if stuck else ROOT) if said == IN else OPEN_QUESTION, box, slots, z, radius)
    return False


@njit("int64(Places, Nulls, ArcWalk)")
def walk_on(places: Places, nulls: Nulls, walk: ArcWalk) -> int:
    """Go on until no box waits (0), the part is done (1), or there is no room (2)."""
    k = len(places.limit)
    mode, low, high = np.zeros(k, np.int64), np.zeros(k), np.zeros(k)
    box = ArcBox(mode, low, high)
    force = np.zeros(len(places.b))
    left = walk.counters[PART]
    while walk.counters[WAITING] > 0:
        if walk.counters[LINES] >= len(walk.book) or walk.counters[WAITING] + 8 >= len(walk.boxes):
            return 2
        if left <= 0:
            return 1
        left -= 1
        walk.counters[WAITING] -= 1
        walk.counters[SEEN] += 1
        line = walk.boxes[walk.counters[WAITING]]
        for c in range(k):
            mode[c], low[c], high[c] = int(line[3 * c]), line[3 * c + 1], line[3 * c + 2]
        if empty_box(places, box, force):
            continue
        split, width, fresh = widest(places, box, force)
        if fresh or leaf(places, nulls, box, force, width, walk):
            divide(places, box, split, fresh, walk)
    return 0
