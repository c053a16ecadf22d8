"""Branches of cycles over a parameter, and those that leave them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zwang._cycles.continuation import CLOSES, NOTHING, BranchWalk, SpecialDraft
from zwang._cycles.continued import CyclesOver, Near, Place
from zwang._cycles.grazing import Leaving, leaving
from zwang._cycles.signs import OnBranch
from zwang._results.cycles import CycleBranch, CycleSpecial
from zwang._results.motion_dense import states_at

Array = NDArray[np.float64]
MOST_BRANCHES = 40  # beyond it a diagram is no picture
LEAVING = (1e-2, 3e-2, 3e-3, 1e-3)
"""Steps with which a branch is entered."""
ALONG, APART = 0.9, 0.3
"""Least cosine between the direction of a branch that leaves and the way to its first cycle: where that direction is
known, at a flip, and where only the plane is in which it lies, at a crossing."""
SAME = 1e-6
"""Distance of special points, in parts of the range, that are one."""
MET = 2e-2
"""Distance of a flip, in parts of the range, at which a branch of twice the period was seen to join."""


@dataclass(eq=False)
class BranchDraft:
    """A branch in the making: the walks from one of its cycles to both sides.

    `looked_at` says whether its special points are kept with those of all branches.
    """

    number: int
    origin: int
    first: Near
    walks: list[BranchWalk] = field(default_factory=list)
    doublings: int = 0
    leaves: float | None = None
    looked_at: bool = False

    def nears(self) -> list[Near]:
        """Return its cycles in order."""
        back = self.walks[1].points[::-1] if len(self.walks) > 1 else []
        ahead = self.walks[0].points if self.walks else []
        return [*back, self.first, *ahead]

    def made(self) -> CycleBranch:
        """Return the branch."""
        nears = self.nears()
        reasons = [walk.ending for walk in self.walks]
        closed = reasons[:1] == [CLOSES]
        begins = reasons[1] if len(reasons) > 1 else "" if closed else "It was not followed to this side."
        if self.origin >= 0:
            at = self.first.value if self.leaves is None else self.leaves
            begins = f"It leaves branch {self.origin} at {self.first.over.parameter(at):.10g}."
        return CycleBranch(
            number=self.number,
            values=np.array([near.over.parameter(near.value) for near in nears]),
            cycles=tuple(near.cycle() for near in nears),
            reasons=(begins, reasons[0] if reasons else ""),
            origin=self.origin,
        )


SEEN = 2000
"""States on a cycle among which that of another start is looked for."""


class Branching:
    """All branches that are reached from given cycles.

    Parameters
    ----------
    switch : bool
        Whether branches that leave at flips and crossings are followed.
    doublings : int
        How often the period of a given cycle may be doubled.
    """

    def __init__(self, *, switch: bool, doublings: int) -> None:
        self.switch, self.doublings = switch, doublings
        self.drafts: list[BranchDraft] = []
        self.specials: list[tuple[SpecialDraft, list[int]]] = []
        self.notes: list[str] = []

    def follow(self, near: Near) -> None:
        """Follow the branch of a cycle to both sides, and those that leave it; not one that was followed already."""
        if any(_on(draft, near) for draft in self.drafts):
            return
        onward = Place(np.zeros_like(near.trip.z), 0.0, 1.0)
        tangent = near.tangent(onward) or near.difference(near.open_directions[-1])
        draft = BranchDraft(len(self.drafts), -1, near)
        self.drafts.append(draft)
        for sign in (1.0, -1.0):
            way = Place(sign * tangent.z, sign * tangent.period, sign * tangent.value)
            walk = BranchWalk(near.over, OnBranch(near, way))
            draft.walks.append(walk)
            walk.go()
            if walk.reason == CLOSES:
                break
        self._leave(draft)

    def _leave(self, draft: BranchDraft) -> None:
        """Keep the special points of a branch, and follow what leaves it there."""
        found = [special for walk in draft.walks for special in walk.specials]
        beyond = {id(special): self._grazed(special) for special in found}
        joined: list[float] = []
        for special, numbers in self._kept(draft):
            left_there = beyond[id(special)]
            if left_there is not None and left_there.here is not None:
                left = self._beyond(draft, left_there)
                numbers.append(left.number)
                special.onward = f"branch {left.number} leaves it."
                left.walks[0].go()
                self._leave(left)
            if not self.switch or special.kind not in ("flip", "crossing"):
                continue
            if special.kind == "flip" and any(abs(value - special.near.value) < MET for value in joined):
                continue
            if special.kind == "crossing" and len(numbers) > 1:
                continue  # what crosses came from another crossing
            if special.kind == "flip" and draft.doublings >= self.doublings:
                continue
            for left in self._switched(draft, special, numbers):
                self._met(left)
                joined += [walk.joined for walk in left.walks if walk.joined is not None]
                self._leave(left)

    def _kept(self, draft: BranchDraft) -> list[tuple[SpecialDraft, list[int]]]:
        """Keep the special points of a branch, and return those that were not found from another branch."""
        draft.looked_at = True
        kept: list[tuple[SpecialDraft, list[int]]] = []
        for special in (special for walk in draft.walks for special in walk.specials):
            known = self._known(special)
            if known is not None:
                special.onward = f"branch {known[0]} is there too."
                known.append(draft.number)
                continue
            kept.append((special, [draft.number]))
            self.specials.append(kept[-1])
        return kept

    def stop(self) -> None:
        """Keep what was found on branches that were being followed."""
        for draft in self.drafts:
            if not draft.looked_at:
                self._kept(draft)

    def _grazed(self, special: SpecialDraft) -> Leaving | None:
        """Return how a branch leaves a grazing, which is located by the way; None where it is none."""
        if special.kind != "grazing" or special.beyond is None:
            return None
        found = leaving(special.near, special.beyond)
        if found is not None:
            special.located = found.value
        if found is None or found.here is None:
            special.onward = NOTHING
        return found

    def _beyond(self, draft: BranchDraft, left: Leaving) -> BranchDraft:
        """Return the branch that leaves a grazing, to be followed."""
        assert left.here is not None
        near = left.here.near
        made = BranchDraft(len(self.drafts), draft.number, near, doublings=draft.doublings, leaves=left.value)
        crossings = tuple(one.near for one, _ in self.specials if one.kind == "crossing")
        made.walks.append(BranchWalk(near.over, left.here, crossings=crossings, step=left.step))
        self.drafts.append(made)
        return made

    def _met(self, draft: BranchDraft) -> None:
        """Keep that a branch met others at crossings that are known."""
        for walk in draft.walks:
            for special, numbers in self.specials:
                if special.near is walk.met:
                    numbers.append(draft.number)

    def _known(self, special: SpecialDraft) -> list[int] | None:
        """Return the branches of a special point that was found before, from another branch."""
        near = special.near
        for other, numbers in self.specials:
            if other.kind != special.kind or abs(other.value - special.value) > SAME:
                continue
            if other.near.over.rounds != near.over.rounds or other.near.trip.t != near.trip.t:
                continue
            if np.abs((other.near.trip.z - near.trip.z) / near.sizes).max() < 1e-4:
                return numbers
        return None

    def _switched(self, draft: BranchDraft, special: SpecialDraft, numbers: list[int]) -> list[BranchDraft]:
        """Return the branches that leave at a flip or a crossing, followed; `numbers` gets theirs."""
        doubled = special.kind == "flip"
        start = _twice(special.near) if doubled else special.near
        if start is None:
            return []
        ways = [_flipped(special.near)] if doubled else _across(special)
        made: list[BranchDraft] = []
        for way in ways:
            if len(self.drafts) >= MOST_BRANCHES:
                self.notes = [f"{MOST_BRANCHES} branches were followed, the most that are."]
                return made
            here = _entered(start, way, ALONG if doubled else APART)
            if here is None:
                continue
            left = BranchDraft(len(self.drafts), draft.number, start, doublings=draft.doublings + int(doubled))
            crossings = tuple(one.near for one, _ in self.specials if one.kind == "crossing")
            walk = BranchWalk(start.over, here, switched=True, doubled=doubled, crossings=crossings)
            walk.points.append(here.near)
            left.walks.append(walk)
            self.drafts.append(left)
            numbers.append(left.number)
            walk.go()
            made.append(left)
        return made

    def branches(self) -> tuple[CycleBranch, ...]:
        """Return the branches."""
        return tuple(draft.made() for draft in self.drafts)

    def special(self, kind: str) -> tuple[CycleSpecial, ...]:
        """Return the special points of a kind, in the order of the parameter."""
        found = [
            CycleSpecial(
                kind=kind,
                value=one.near.over.parameter(one.value),
                cycle=one.near.cycle(),
                branches=tuple(numbers),
                reason=one.reason,
            )
            for one, numbers in self.specials
            if one.kind == kind
        ]
        return tuple(sorted(found, key=lambda one: one.value))


def _twice(near: Near) -> Near | None:
    """Return a cycle gone round twice."""
    over: CyclesOver = replace(near.over, rounds=2 * near.over.rounds)
    period = near.place.period + (float(np.log(2.0)) if over.free_period else 0.0)
    return over.near(Place(near.trip.z, period, near.value), near.trip.t, on=near.trip.on)


def _flipped(near: Near) -> Place:
    """Return the change of the start that becomes its opposite after one period."""
    _, values, right = np.linalg.svd(near.monodromy + np.eye(len(near.monodromy)))
    z = near.trip.found.basis @ right[int(np.argmin(values))]
    return Place(z / float(np.linalg.norm(z / near.sizes)), 0.0, 0.0)


def _across(special: SpecialDraft) -> list[Place]:
    """Return the directions, to both sides, of what crosses a branch."""
    near = special.near
    _, _, right = np.linalg.svd(near.matrix, full_matrices=True)
    free = right[len(right) - near.over.nullity - 1 :]
    along = free @ near.column(special.tangent)
    _, _, turned = np.linalg.svd(along[None])
    column = turned[1] @ free  # what is left beside the branch's own direction
    way = near.difference(column)
    length = way.length(near.sizes)
    return [Place(sign * way.z / length, sign * way.period / length, sign * way.value / length) for sign in (1.0, -1.0)]


def _entered(start: Near, way: Place, least: float) -> OnBranch | None:
    """Return the first cycle of a branch that leaves along a direction; None where none is found.

    `least` is the cosine between them from which on it is this branch.
    """
    for step in LEAVING:
        guess = start.place.moved(way, step)
        near = start.over.corrected(guess, start.trip.t, way, start.sizes, start)
        if near is None:
            continue
        secant = near.place.moved(start.place, -1.0)
        onward = near.tangent(secant)
        if onward is not None and secant.dot(way, start.sizes) > least * secant.length(start.sizes):
            return OnBranch(near, onward)
    return None


def _on(draft: BranchDraft, near: Near) -> bool:
    """Say whether a cycle lies on a branch: between two of its cycles there is one at its value, and it is that."""
    along = Place(np.zeros_like(near.trip.z), 0.0, 1.0)
    for one, other in pairwise(draft.nears()):
        low, high = sorted((one.value, other.value))
        if not low <= near.value <= high or one.over.rounds != near.over.rounds:
            continue
        way = one.tangent(along)
        share = 0.0 if way is None or not way.value else (near.value - one.value) / way.value
        aim = one.place if way is None else one.place.moved(way, share)
        guess = Place(aim.z, aim.period, near.value)
        found = one.over.corrected(guess, one.trip.t, along, one.sizes, one)
        if found is not None and found.sequence == near.sequence and _same(found, near):
            return True
    return False


def _same(one: Near, other: Near) -> bool:
    """Say whether two cycles at one value are the same motion, whatever the times of their starts."""
    kept = [i for i in range(len(one.sizes)) if i not in one.over.steady]
    first, period = one.trip.t, one.trip.period
    if abs(period - other.trip.period) > SAME * period:
        return False
    if one.over.free_period:
        times, near = first + period * np.linspace(0.0, 1.0, SEEN), 4.0 / SEEN
    else:
        times, near = np.array([first + (other.trip.t - first) % period]), SAME
    states = states_at(one.trip.motion.pieces, times)
    return bool((np.abs(states - other.trip.z) / one.sizes)[:, kept].max(axis=1).min() < near)
