"""Every solution of friction in planes: what the search over arcs of directions decided, as solutions and boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.arcs.box_roots import contact_forces
from zwang._numerics.contact.arcs.continua import Family, families
from zwang._numerics.contact.arcs.decided import Leaf, search_all
from zwang._numerics.contact.arcs.places import AGAINST, ALONG, ANY, ARC, OPEN, STICK
from zwang._numerics.contact.arcs.tree import LOOSE, OPEN_QUESTION, ROOT, STUCK
from zwang._numerics.contact.certificates.coplanar import least_curvature
from zwang._numerics.contact.modes import Mode, words_of
from zwang._numerics.contact.problem import ContactProblem
from zwang._reactions.candidates import candidate_scales, modes_at, motion_size
from zwang._reactions.solutions import one_point, relative, shaped
from zwang._reactions.undetermined import Undetermined, reachable, undetermined
from zwang._results.reaction_boxes import EnclosureEnd, Modes, SolutionEnclosure, UndecidedBox
from zwang._results.reaction_ranges import Ranges
from zwang._results.reactions import Solution

Array = npt.NDArray[np.float64]

SAME = 1e-9
"""Scaled forces that differ by less, beyond their radii, are one solution: boxes share their edges."""
AT_REST = 1e-6
"""Of what the load would do to a contact: the relative acceleration that is left where it sticks."""
ONE_MOTION = 1e-7
"""Accelerations that differ by less, relative to the load, are not told apart."""
BESIDE_REST = 1e-5
"""The same beside rest: with slips of this size equations are solved to their square, although friction is askew."""
CURVED = 1e-6
"""Least eigenvalue from which a form is positive definite whatever rounding did."""
MOST_BOXES = 200
"""Undecided boxes that are listed."""
EPS = 4 * np.finfo(float).eps
CODES = {OPEN: Mode.OPEN, STICK: Mode.STICK, ALONG: Mode.SLIP_PLUS, AGAINST: Mode.SLIP_MINUS, ARC: Mode.SLIP}


@dataclass(frozen=True, eq=False)
class Everything:
    """All that is known of the solutions of a problem with friction in planes.

    Attributes
    ----------
    solutions : list of Solution
    extents : list of Undetermined
        The same with their self-stresses.
    exhibited : list of arrays
        Accelerations of solutions of a continuum.
    undecided : tuple of UndecidedBox
    complete : bool
    boxes : int
        Looked at.
    passive, regular : bool
        Whether contact forces do no positive work; whether the rows are independent.
    ends : set
        Of undecided boxes: which contacts are closed in them, -1 where that is open itself.
    """

    solutions: list[Solution]
    extents: list[Undetermined]
    exhibited: list[Array]
    undecided: tuple[UndecidedBox, ...]
    complete: bool
    boxes: int
    passive: bool
    regular: bool
    ends: set[frozenset[int]]


def every_solution(
    problem: ContactProblem,
    names: tuple[str, ...],
    slip_tol: float,
    *,
    budget: int,
    report: Callable[[int], None] | None = None,
    ranges: bool = True,
) -> Everything | None:
    """Return every solution with what stays undecided; None where the problem has no form for this search."""
    try:
        search = search_all(problem, slip_tol, budget=budget, report=report)
    except ValueError:
        return None
    teller = _Teller(problem, names, slip_tol, ranges)
    for leaf in search.leaves:
        if leaf.kind in (ROOT, STUCK):
            teller.root(leaf)
    for family in families([leaf for leaf in search.leaves if leaf.kind == LOOSE]):
        teller.family(family)
    left = [leaf for leaf in search.leaves if leaf.kind == OPEN_QUESTION]
    left = [leaf for leaf in [*left, *teller.unclear] if _closed(leaf) not in teller.settled]
    undecided = _merged(left, names)
    return Everything(
        [item.solution for item in teller.found],
        teller.found,
        teller.exhibited,
        undecided,
        not undecided,
        search.boxes,
        search.passive,
        search.regular,
        {_closed(leaf) for leaf in left},
    )


def curvature(problem: ContactProblem, solution: Solution, ends: set[frozenset[int]] | None = None) -> float:
    """Return what certifies that no other motion has the same contacts closed as a solution, 0 where nothing does.

    With `ends`: that no other motion is left where only boxes with these closed contacts are.
    """
    codes = solution.modes.codes
    closed, slips = (np.array(flags) for flags in ([m is not Mode.OPEN for m in codes], [m.slips for m in codes]))
    if ends is not None and ends != {frozenset(np.flatnonzero(closed).tolist())}:
        return 0.0
    friction = np.zeros((len(codes), 2))
    given = np.reshape(solution.tangential, (len(codes), -1))
    friction[:, : given.shape[1]] = given
    found = least_curvature(problem, solution.normal, friction, slips, closed)
    return found if found > CURVED else 0.0


class _Teller:
    """Collects solutions."""

    def __init__(self, problem: ContactProblem, names: tuple[str, ...], slip_tol: float, ranges: bool) -> None:
        self.problem, self.names, self.slip_tol, self.ranges = problem, names, slip_tol, ranges
        self.scales = candidate_scales(problem)
        self.found: list[Undetermined] = []
        self.unclear: list[Leaf] = []
        self.exhibited: list[Array] = []
        self.seen: list[tuple[tuple[Mode, ...], Array]] = []
        self.settled: set[frozenset[int]] = set()

    def _modes(self, leaf: Leaf, candidate: tuple[Array, Array, Array]) -> tuple[Mode, ...]:
        """Return the modes of a box, those of contacts that took no part from what they do."""
        w, normal, _ = candidate
        told = list(modes_at(self.problem, normal, *relative(self.problem, w), self.scales, self.slip_tol))
        for c, j in enumerate(leaf.setting.contact):
            code = CODES.get(int(leaf.mode[c]))
            if code is not None:
                told[j] = code.pulling(bool(leaf.setting.pulls[c]))
            elif told[j].plain is Mode.OPEN:  # closed, however little its gap accelerates
                told[j] = Mode.CLOSED
        return tuple(told)

    def root(self, leaf: Leaf) -> None:
        """Add the solution of a box with one root, if it is a new one."""
        f = contact_forces(leaf.setting.places, leaf.box, leaf.slots, leaf.z)
        candidate = leaf.setting.forces(f)
        modes = self._modes(leaf, candidate)
        reach = SAME * max(1.0, float(np.abs(f).max(initial=0.0)))
        if any(other == modes and np.abs(f - g).max(initial=0.0) <= reach for other, g in self.seen):
            return
        solution = one_point(self.problem, candidate, modes, self.names, self.slip_tol, measure=candidate_scales)
        if leaf.kind == STUCK:
            reached = reachable(self.problem, solution, self.slip_tol)
            if reached is None:
                return
            solution, clear = reached
            if not self._rests(solution):  # its rows depend on each other as far as is known, and don't agree
                self.unclear.append(leaf)
                return
            if not clear:
                self.unclear.append(leaf)
        self.seen.append((modes, f))
        extent = Undetermined.none(solution)
        if self.ranges or leaf.kind == STUCK:
            extent = undetermined(self.problem, solution, self.slip_tol)
        enclosure = self._enclosure(leaf, extent.solution, candidate[0])
        self.found.append(
            replace(extent, solution=replace(extent.solution, enclosure=enclosure, component=len(self.found)))
        )

    def _rests(self, solution: Solution) -> bool:
        """Whether contacts that stick have no relative acceleration."""
        gap, slip = (np.abs(part) for part in relative(self.problem, solution.acceleration))
        slip[self.problem.rows.mask] /= self.scales.tangent
        moved = np.maximum(
            gap / np.where(self.scales.normal > 0, self.scales.normal, 1.0), slip.max(axis=1, initial=0.0)
        )
        sticks = [mode.plain is Mode.STICK for mode in solution.modes.codes]
        return bool((moved[sticks] <= AT_REST * self.scales.load).all())

    def _enclosure(self, leaf: Leaf, solution: Solution, w: Array) -> SolutionEnclosure:
        spread = leaf.setting.spread(_force_radii(leaf))
        turn = np.zeros(len(self.names))
        for c, j in enumerate(leaf.setting.contact):
            if leaf.mode[c] == ARC:
                at = int(np.flatnonzero(leaf.slots == leaf.setting.places.first[c] + 2)[0])
                turn[j] = leaf.radius[at] + EPS * np.pi
        if solution.dimension:
            return _around(solution, w, spread[0])
        moved = spread[0] + EPS * np.abs(w).max(initial=0.0)
        pressed, rubbed = spread[1], shaped(self.problem, spread[2])
        pressed = pressed + EPS * np.abs(solution.normal).max(initial=0.0)
        rubbed = rubbed + EPS * np.abs(solution.tangential).max(initial=0.0)
        angles = solution.directions if solution.directions is not None else np.full(len(turn), np.nan)
        low, high = (
            EnclosureEnd(
                w + s * moved, solution.normal + s * pressed, solution.tangential + s * rubbed, angles + s * turn
            )
            for s in (-1.0, 1.0)
        )
        return SolutionEnclosure(low, high)

    def _at_rest_there(self, accelerations: Array) -> bool:
        """Whether a sticking solution moves like these: a family that slips by nothing is part of it."""
        return any(
            Mode.STICK in item.solution.modes.codes
            and all(
                motion_size(self.problem, self.scales, item.solution.acceleration - w) <= BESIDE_REST
                for w in accelerations
            )
            for item in self.found
        )

    def family(self, family: Family) -> None:
        """Add a continuum by one of its members, with the box around all."""
        leaf = family.leaves[0]
        setting = leaf.setting
        candidates = [setting.forces(f) for f in family.members]
        least = int(np.argmin(np.abs(family.members).sum(axis=1)))
        middle = candidates[least]
        modes = self._modes(leaf, middle)
        told = one_point(self.problem, middle, modes, self.names, self.slip_tol, measure=candidate_scales)
        accelerations = np.array([candidate[0] for candidate in candidates])
        with np.errstate(invalid="ignore"):
            centre, radius = (family.low + family.high) / 2, (family.high - family.low) / 2
        centre = np.where(np.isfinite(centre), centre, family.members[least])  # of what is unbounded, any
        w, normal, tangential = setting.forces(centre)
        spread = setting.spread(radius)
        low, high = (
            EnclosureEnd(
                w + s * spread[0],
                normal + s * spread[1],
                shaped(self.problem, tangential + s * spread[2]),
                _arc_ends(family, len(self.names), s),
            )
            for s in (-1.0, 1.0)
        )
        if self._at_rest_there(accelerations):
            self.unclear += family.leaves
            return
        apart = motion_size(self.problem, self.scales, np.ptp(accelerations, axis=0))
        if apart <= ONE_MOTION:  # as far as is known, all slip alike: their forces are a convex set, at this motion
            if curvature(self.problem, told):
                self.settled.add(_closed(leaf))
            self.unclear += family.leaves
            extent = undetermined(self.problem, told, self.slip_tol)
            told = replace(extent.solution, component=len(self.found), enclosure=SolutionEnclosure(low, high))
            self.found.append(replace(extent, solution=told))
            return
        self.exhibited += [accelerations[i] for i in _farthest(accelerations)]
        ranges = Ranges(
            self.names,
            np.stack([low.normal, high.normal], axis=-1),
            np.stack([low.tangential, high.tangential], axis=-1),
        )
        solution = replace(
            told,
            acceleration_unique=False,
            dimension=_dimension(leaf),
            component=len(self.found),
            ranges=ranges,
            vertices=told.rays,
            enclosure=SolutionEnclosure(low, high),
        )
        self.found.append(Undetermined.none(solution))


def _closed(leaf: Leaf) -> frozenset[int]:
    """Return the contacts that are closed in a box, and -1 where there are some of which nothing is known."""
    setting = leaf.setting
    part = {int(j) for c, j in enumerate(setting.contact) if leaf.mode[c] == OPEN}
    unknown = {-1 for mode in leaf.mode if mode == ANY}
    return frozenset(range(setting.problem.rows.count)) - part | unknown


def _force_radii(leaf: Leaf) -> Array:
    """Return by how much scaled forces may be off."""
    places = leaf.setting.places
    spread = np.zeros(len(places.b))
    spread[leaf.slots] = leaf.radius
    for c, mode in enumerate(leaf.mode):
        at, end = places.first[c], places.first[c + 1]
        if mode == ARC:
            n = int(np.flatnonzero(leaf.slots == at)[0])
            off = leaf.radius[n] + abs(leaf.z[n]) * leaf.radius[n + 2]
            spread[at + 1 : end] = places.slip[c, 0] * off
        elif mode in (ALONG, AGAINST):
            spread[at + 1] = places.slip[c].max() * spread[at]
    return spread


def _around(solution: Solution, w: Array, moved: Array) -> SolutionEnclosure:
    """Return the box of a solution whose reactions are a convex set: their ranges."""
    angles = solution.directions if solution.directions is not None else np.full(len(solution.normal), np.nan)
    ranges, size = solution.ranges, EPS * np.abs(w).max(initial=0.0)
    low, high = (
        EnclosureEnd(w + s * (moved + size), ranges.normal[:, i], ranges.tangential[..., i], angles)
        for i, s in enumerate((-1.0, 1.0))
    )
    return SolutionEnclosure(low, high)


def _arc_ends(family: Family, count: int, side: float) -> Array:
    ends = np.full(count, np.nan)
    for c, j in enumerate(family.leaves[0].setting.contact):
        if family.leaves[0].mode[c] == ARC:
            low, high = min(leaf.low[c] for leaf in family.leaves), max(leaf.high[c] for leaf in family.leaves)
            ends[j] = low if side < 0 else high
    return ends


def _dimension(leaf: Leaf) -> int:
    """Return how many parameters the solutions near the first member have: normals that depend on others."""
    places = leaf.setting.places
    closed = [int(places.first[c]) for c in range(len(leaf.mode)) if leaf.mode[c] != OPEN]
    sizes = np.linalg.eigvalsh(places.gram[np.ix_(closed, closed)])
    return max(1, int((sizes < 1e-10 * sizes[-1]).sum()))


def _farthest(points: Array) -> list[int]:
    """Return two points far apart."""
    first = int(np.argmax(np.linalg.norm(points - points[0], axis=1)))
    return [first, int(np.argmax(np.linalg.norm(points - points[first], axis=1)))]


def _merged(leaves: Sequence[Leaf], names: tuple[str, ...]) -> tuple[UndecidedBox, ...]:
    """Return boxes as people read them, those that touch and have the same modes as one."""
    groups: dict[tuple[int, ...], list[tuple[Array, Array]]] = {}
    for leaf in leaves:
        key = (*leaf.mode.tolist(), *leaf.setting.pulls.tolist())
        boxes = groups.setdefault(key, [])
        low, high = leaf.low, leaf.high
        while True:
            near = [i for i, (a, b) in enumerate(boxes) if (a <= high + 1e-12).all() and (low <= b + 1e-12).all()]
            if not near:
                break
            for i in reversed(near):
                a, b = boxes.pop(i)
                low, high = np.minimum(low, a), np.maximum(high, b)
        boxes.append((low, high))
    told = []
    for key, boxes in groups.items():
        contacts = leaves[0].setting.contact
        modes, pulls = key[: len(contacts)], key[len(contacts) :]
        words = ["closed"] * len(names)
        for c, j in enumerate(contacts):
            code = CODES.get(modes[c], Mode.CLOSED)
            words[j] = "any" if modes[c] == ANY else words_of([code.pulling(bool(pulls[c]))])[0]
        for low, high in boxes:
            ends = np.full((2, len(names)), np.nan)
            for c, j in enumerate(contacts):
                if modes[c] == ARC:
                    ends[:, j] = low[c], high[c]
            told.append(UndecidedBox(names, Modes(words, names), ends[0], ends[1]))
    return tuple(told[:MOST_BOXES])
