"""All modes decided: the roots, the continua and the boxes that stay open, in the units of the problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from zwang._numerics.budget import Spent, spend
from zwang._numerics.contact.arcs.places import ArcBox
from zwang._numerics.contact.arcs.slots import SlotProblem, settings
from zwang._numerics.contact.arcs.tree import LINES, OPEN_QUESTION, PART, SEEN, WAITING, ArcWalk, walk_on
from zwang._numerics.contact.problem import ContactProblem

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ROOM = 4000
"""ArcBox that may wait."""
LINES_KEPT = 2000  # Farkas vectors that are kept for neighbouring boxes
PORTION = 500
"""ArcBox until the walk returns to Python."""
BUDGET = 20_000
"""ArcBox after which the rest stays undecided."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """A box that is not excluded.

    Attributes
    ----------
    kind : int
        ROOT, STUCK, LOOSE or OPEN_QUESTION of `tree`.
    setting : SlotProblem
    mode : (c,) int array
        Of the contacts of the setting.
    low, high : (c,) arrays
        Arcs of directions of slip.
    slots : (n,) int array
    z, radius : (n,) arrays
        Unknowns in these slots and how far the root may be from them; no radius where none is known.
    """

    kind: int
    setting: SlotProblem
    mode: Ints
    low: Array
    high: Array
    slots: Ints
    z: Array
    radius: Array

    @property
    def box(self) -> ArcBox:
        """The box as kernels take it."""
        return ArcBox(self.mode, self.low, self.high)


@dataclass
class Search:
    """What a search over all modes left: boxes that hold solutions or may hold some; how many boxes it looked at."""

    leaves: list[Leaf] = field(default_factory=list)
    boxes: int = 0
    waiting: int = 0
    passive: bool = True
    regular: bool = True


def search_all(
    problem: ContactProblem, slip_tol: float, *, budget: int, report: Callable[[int], None] | None
) -> Search:
    """ArcWalk over the boxes of all modes and signs."""
    found = Search()
    for setting in settings(problem, slip_tol):
        found.passive &= bool(setting.places.passive)
        found.regular &= not setting.nulls.counts.any()
        _walk(setting, found, budget, report)
    return found


def _walk(setting: SlotProblem, found: Search, budget: int, report: Callable[[int], None] | None) -> None:
    places = setting.places
    k, m = len(places.limit), len(places.b)
    walk = ArcWalk(
        np.zeros((ROOM, 3 * k)),
        np.zeros((LINES_KEPT, 3 * k + 3 * m)),
        np.zeros(LINES_KEPT, np.int64),
        np.zeros(4, np.int64),
    )
    walk.counters[WAITING] = 1
    while found.boxes + int(walk.counters[SEEN]) < budget:
        walk.counters[PART] = min(PORTION, budget - found.boxes - int(walk.counters[SEEN]))
        before = int(walk.counters[SEEN])
        said = walk_on(places, setting.nulls, walk)
        if report is not None:
            report(found.boxes + int(walk.counters[SEEN]))
        try:
            spend(int(walk.counters[SEEN]) - before)
        except Spent:
            break
        if said != 1:
            break
    found.boxes += int(walk.counters[SEEN])
    found.waiting += int(walk.counters[WAITING])
    for kind, line in zip(walk.kinds[: walk.counters[LINES]], walk.book, strict=False):
        found.leaves.append(_leaf(int(kind), setting, line, k, m))
    for line in walk.boxes[: walk.counters[WAITING]]:
        found.leaves.append(_leaf(OPEN_QUESTION, setting, np.append(line, np.full(3 * m, -1.0)), k, m))


def _leaf(kind: int, setting: SlotProblem, line: Array, k: int, m: int) -> Leaf:
    box = line[: 3 * k].reshape(k, 3)
    n = int((line[3 * k : 3 * k + m] >= 0).sum())
    z, radius = line[3 * k + m :][:n], line[3 * k + 2 * m :][:n]
    return Leaf(
        kind,
        setting,
        box[:, 0].astype(np.int64),
        box[:, 1].copy(),
        box[:, 2].copy(),
        line[3 * k : 3 * k + n].astype(np.int64),
        z.copy(),
        radius.copy(),
    )
