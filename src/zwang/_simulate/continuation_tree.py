"""Every continuation of a motion: the same motion again and again, each time with the next way on.

A motion is asked where the laws leave several ways or none. It takes the ways of its script, one after the other, and
where that ends it stops: from there as many motions start as there are ways. The same script leads to the same place,
bit by bit, so that what lies before it is what the other motion was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zwang._compile import Model
from zwang._compile.given_values import Inputs
from zwang._declare.contact_table import table_of
from zwang._numerics.budget import Meter, spending
from zwang._numerics.contact.modes import MODES, Mode, Side
from zwang._numerics.impacts import ImpactOutcome
from zwang._reactions import reactions_of_problem
from zwang._results.motion import Motion, MotionStatus
from zwang._results.motion_dense import states_in_piece
from zwang._results.motion_parts import Continuation, Events, MotionPiece
from zwang._results.motion_tree import MotionTree, MotionTreeStatus
from zwang._results.reactions import Reactions, ReactionsStatus
from zwang._simulate.decide import continuations_of, stop_there
from zwang._simulate.ground import Ground
from zwang._simulate.instant import impact_without_collision
from zwang._simulate.machine import motion
from zwang._simulate.moment import Context, Decision, Labels, Moment, Policies, Stop, Transition, problem_at
from zwang._simulate.options import MotionOptions
from zwang._simulate.passage import Crossroads
from zwang._simulate.springs import resolve_paradox

EVERY = "every"
PARADOX_WAYS = {
    "impact without collision": impact_without_collision,
    "the impact that stiff springs in place of the contact tend to": resolve_paradox,
}
LOOKS = 200
"""States of a motion at which other ways are looked for."""
SHARP = 40
"""Halvings by which the end of an interval is found in which another way is open."""


@dataclass
class Script:
    """The ways that one motion takes where it is asked, and what it asked that was not in them.

    Attributes
    ----------
    ways : tuple of int
    asked : int
        How often it was asked.
    left_open : tuple of str
        The ways, in words, where the script had ended.
    continuum : bool
        Whether it was asked about a continuum, of which only some members are listed.
    hidden : collection of str
        Constraints that ways in words leave out.
    """

    ways: tuple[int, ...]
    hidden: Collection[str] = ()
    asked: int = 0
    left_open: tuple[str, ...] = ()
    continuum: bool = False
    _known: dict[Any, int] = field(default_factory=dict)
    _listed: Any = None
    _taken: Any = None

    def answer(self, sentences: Sequence[str]) -> int | None:
        """Return the way to take of some, None where the script has ended."""
        if not sentences:
            return None
        if self.asked < len(self.ways):
            self.asked += 1
            return self.ways[self.asked - 1]
        self.left_open = tuple(sentences)
        return None

    def choose(self, found: Reactions, before: Labels | None, numbers: tuple[int, ...]) -> int | None:
        """Return the solution to take: the script's where a choice begins or its list changes, else the same again."""
        modes = tuple(tuple(mode.plain for mode in solution.modes.codes) for solution in found.solutions)
        key = modes, np.asarray(found.accelerations).tobytes()
        if key in self._known:  # asked twice at one state
            return self._known[key]
        kept = before is not None and tuple(before[number].plain for number in numbers) == self._taken
        if kept and modes == self._listed:
            return modes.index(self._taken)
        index = self.answer([one.sentence for one in continuations_of(found, self.hidden)])
        if index is not None:
            self._known[key], self._listed, self._taken = index, modes, modes[index]
            self.continuum |= bool(found.accelerations_continuum)
        return index

    def among(self, outcome: ImpactOutcome, ways: tuple[Continuation, ...]) -> int | None:
        """Return the outcome of an impact to take."""
        return self.answer([one.sentence for one in ways])

    def at_singular(self, place: Crossroads) -> tuple[int | None, str, dict[str, Any]]:
        """Return the way to take out of a singular point."""
        return self.answer([one.sentence for one in place.ways]), place.unasked, {}

    def at_paradox(self, context: Context, moment: Moment, decision: Decision) -> Transition:
        """Go on from a paradox in the way of the script."""
        index = self.answer(list(PARADOX_WAYS))
        if index is not None:
            return list(PARADOX_WAYS.values())[index](context, moment, decision)
        made = stop_there(context, moment, decision)
        assert isinstance(made.decision, Stop)
        ways = tuple(Continuation(sentence) for sentence in PARADOX_WAYS)
        return made.stopping(replace(made.decision, continuations=ways))


def asks_for_all(options: MotionOptions) -> bool:
    """Whether every continuation is to be followed somewhere."""
    return EVERY in (options.at_choice, options.at_paradox, options.at_singular)


def tree(
    model: Model, inputs: Inputs, options: MotionOptions, policies: Callable[[MotionOptions], Policies], most: int
) -> MotionTree:
    """Return the tree of motions from one state.

    Parameters
    ----------
    model, inputs, options
    policies : callable
        Returns who is asked where not every continuation is to be followed.
    most : int
        Motions at most.
    """
    motions: list[Motion] = []
    wholes: list[Motion] = []
    waiting: deque[tuple[tuple[int, ...], int | None, str]] = deque([((), None, "")])
    reasons: dict[str, None] = {}
    with spending(options.budget) as meter:
        while waiting and len(motions) < most and not _over(meter, motions):
            ways, parent, taken = waiting.popleft()
            script = Script(ways, model.system.bookkeeping)
            whole = motion(model, inputs, options, _scripted(script, policies(options), options))
            own = _own(whole, None if parent is None else wholes[parent], parent, taken)
            wholes.append(whole)
            motions.append(_with_intervals(model, inputs, options, own) if options.at_choice == EVERY else own)
            if script.continuum:
                reasons["Of a continuum of accelerations the exhibited members were followed."] = None
            stops = (MotionStatus.CHOICE, MotionStatus.PARADOX, MotionStatus.SINGULAR)
            if script.left_open and whole.status in stops:
                place = len(motions) - 1
                waiting.extend(((*ways, k), place, words) for k, words in enumerate(script.left_open))
    interrupted = bool(motions) and motions[-1].status is MotionStatus.INTERRUPTED
    if waiting and not interrupted:
        spent = meter.over or f"most= {most} motions were made"
        reasons[f"{len(waiting)} continuations were not followed: {spent.rstrip('.')}."] = None
    elif meter.over and motions[-1].status is MotionStatus.UNFINISHED:  # its own continuations are not known
        reasons[f"Motion {len(motions) - 1} is unfinished: {meter.over}"] = None
    status = MotionTreeStatus.UNFINISHED if reasons else MotionTreeStatus.REACHED
    return MotionTree(
        status=MotionTreeStatus.INTERRUPTED if interrupted else status,
        residual=None,
        provenance=motions[0].provenance,
        name=model.system.name,
        motions=tuple(motions),
        reason=" ".join(reasons),
    )


def _over(meter: Meter, motions: Sequence[Motion]) -> bool:
    return bool(motions) and (motions[-1].status is MotionStatus.INTERRUPTED or bool(meter.over))


def _scripted(script: Script, given: Policies, options: MotionOptions) -> Policies:
    """Return who is asked: the script where every continuation is to be followed."""
    changes: dict[str, Any] = {}
    if options.at_choice == EVERY:
        changes |= {"choose": script.choose, "at_choice": stop_there, "among": script.among}
    if options.at_paradox == EVERY:
        changes["at_paradox"] = script.at_paradox
    if options.at_singular == EVERY:
        changes["at_singular"] = script.at_singular
    return replace(given, **changes)


# The part of a motion that is its own.
def _own(whole: Motion, before: Motion | None, parent: int | None, taken: str) -> Motion:
    """Return what a motion has beyond the end of the one that it continues."""
    if before is None:
        return whole
    time, rows = float(before.t[-1]), len(before.events)
    kinds = ("choice", "paradox", "singular")
    # What ended the other motion was logged; this one may have gone on from there without a word.
    shared = rows - 1 if rows and before.events[-1].kind in kinds else rows
    pieces = [part for piece in whole.pieces if (part := _later(piece, time)) is not None]
    if not pieces:
        end = whole.pieces[-1]
        row = {name: getattr(end, name)[-1:] for name in ("t", "q", "v", "a")}
        pieces = [replace(end, **row, dense=end.dense[:0], jumps=())]
    last = before.pieces[-1]
    if last.jumps and float(last.t[0]) == time:  # the other motion had jumped there already
        pieces[0] = replace(pieces[0], jumps=pieces[0].jumps[len(last.jumps) :])
    return replace(
        whole, residual=None, pieces=tuple(pieces), events=Events(whole.events[shared:]), parent=parent, taken=taken
    )


def _later(piece: MotionPiece, time: float) -> MotionPiece | None:
    """Return the part of a piece from a time on; None where it has ended by then."""
    if piece.t[0] >= time:
        return piece if len(piece.t) > 1 or piece.t[0] > time or piece.jumps else None
    if piece.t[-1] <= time:
        return None
    row = int(np.searchsorted(piece.t, time, side="right")) - 1
    cut = {name: getattr(piece, name)[row:] for name in ("t", "q", "v", "a", "dense")}
    return replace(piece, **cut, jumps=())


# Where it could still have left.
def _with_intervals(model: Model, inputs: Inputs, options: MotionOptions, own: Motion) -> Motion:
    """Return a motion with the intervals in which several accelerations satisfied the laws."""
    found: list[tuple[float, float]] = []
    total = sum(len(piece.t) for piece in own.pieces)
    for piece in own.pieces:
        acting = model if piece.on is None else model.switched(piece.on)
        ground = Ground.of(acting, inputs, options.driven, options.scales)
        labels = dict(zip(own.constraints, (MODES[label] for label in piece.labels), strict=True))
        if len(piece.t) < 2 or not _may_choose(ground, labels):
            continue
        several = Several(ground, piece, labels)
        every = max(1, total // LOOKS)
        times = np.unique([*piece.t[:-1:every], *((piece.t[:-1] + piece.t[1:]) / 2)[::every], piece.t[-1]])
        found += several.intervals(times)
    joined: list[tuple[float, float]] = []
    for start, end in found:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return replace(own, residual=None, could_leave=tuple(joined))


def _may_choose(ground: Ground, labels: dict[str, Mode]) -> bool:
    """Whether friction that goes with a normal force acts: only then the acceleration may not be unique."""
    return any(
        place.law >= 0 and place.side is not Side.BOUND and (not place.one_sided or labels[place.name] is not Mode.OPEN)
        for place in ground.table.places
    )


@dataclass(frozen=True)
class Several:
    """Asks along a piece whether several accelerations satisfy the laws."""

    ground: Ground
    piece: MotionPiece
    labels: dict[str, Mode]

    def at(self, time: float) -> bool:
        """Return whether they do at a time."""
        q, v = np.split(states_in_piece(self.piece, np.array([time]))[0], 2)
        places = table_of(self.ground.model.system).places
        touching = {k for k, place in enumerate(places) if place.one_sided and self.labels[place.name] is not Mode.OPEN}
        resting = {k for k, place in enumerate(places) if self.labels[place.name].plain is Mode.STICK}
        moment = Moment(time, q, v, frozenset(touching), frozenset(resting))
        problem, _ = problem_at(self.ground, moment, self.ground.terms(time, q, v))
        found = reactions_of_problem(problem, certify=False, ranges=False, exact=False)
        return found.status is ReactionsStatus.MULTIPLE

    def intervals(self, times: Any) -> list[tuple[float, float]]:
        """Return the intervals in which they do, found from looks at some times and sharpened by halving."""
        seen = [self.at(float(time)) for time in times]
        found: list[tuple[float, float]] = []
        start: float | None = float(times[0]) if seen[0] else None
        for k in range(1, len(times)):
            if seen[k] == seen[k - 1]:
                continue
            edge = self._edge(float(times[k - 1]), float(times[k]), seen[k - 1])
            if start is None:
                start = edge
            else:
                found.append((start, edge))
                start = None
        return found if start is None else [*found, (start, float(times[-1]))]

    def _edge(self, left: float, right: float, before: bool) -> float:
        for _ in range(SHARP):
            middle = 0.5 * (left + right)
            if middle in (left, right):
                break
            left, right = (middle, right) if self.at(middle) == before else (left, middle)
        return right
