"""Along a branch of cycles, with steps as long as it allows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zwang._cycles.coincidence import located, passed, together
from zwang._cycles.continued import CyclesOver, Near, Place
from zwang._cycles.signs import OnBranch, Segment, doubling, on_circle, pairing, singular, turning
from zwang._results.motion_dense import states_at

Array = NDArray[np.float64]
FIRST, LONGEST, LEAST = 1e-2, 6e-2, 1e-9
"""Steps along a branch, in parts of the range of the parameter and of the sizes of the state."""
LONGER, QUICK = 1.6, 0.95
"""By how much a step grows, and the cosine between directions from which on it does."""
BENT = 0.8
"""Least cosine between the directions at both ends of a step."""
NEAR = 1e-3
"""Longest step to another sequence of events: a longer one may lead to another branch."""
MEETING = 3e-2
"""Distance up to which a crossing is one that is known."""
MOST = 400
"""Cycles on each half of a branch."""
AGAIN = 1e-6
"""Distance from its first cycle at which a branch has come back to it."""
NOTHING, UNSEEN = "no cycle was found beyond.", "what leaves it was not looked for to the end."
CLOSES = "It closes upon itself."
BEYOND = (1e-7, 1e-5, 1e-3, 1e-2, 3e-2)
"""Steps beyond an end at which motions are looked at."""


@dataclass(eq=False)
class SpecialDraft:
    """A special point of a branch; where the branch ended there, `beyond` is a motion with other events.

    `onward` says what was found beyond, and `merged` which events come together.
    """

    kind: str
    reason: str
    near: Near
    tangent: Place
    beyond: Near | None = None
    located: float | None = None
    onward: str = NOTHING
    merged: str = ""

    @property
    def value(self) -> float:
        """Its place in the range of the parameter."""
        return self.near.value if self.located is None else self.located

    @property
    def ending(self) -> str:
        """Why the branch ends there."""
        shown = self.near.over.parameter(self.value)
        return f"It ends at {shown:.10g}, a {self.kind}: {self.onward} {self.merged}".rstrip()


@dataclass(eq=False)
class BranchWalk:
    """The way along a branch from a cycle on it.

    Attributes
    ----------
    over : CyclesOver
    here : OnBranch
        The last cycle and the direction onward.
    switched : bool
        Whether another branch leaves at the first cycle: signs are not looked at there.
    doubled : bool
        Whether it left a branch of half its period, which it may join again.
    crossings : tuple of Near
        Where others cross, which are known: it ends where it meets one.
    met : Near or None
        The one that it met.
    points : list of Near
        The cycles on the way.
    specials : list of SpecialDraft
    reason : str or SpecialDraft
        Why it ended: in words, or the special point there; empty before.
    joined : float or None
        Where it joined the branch of half its period.
    gone : float
        How far from the first cycle it went.
    step : float
        The next step along it.
    changed : Near or None
        The last cycle before the last change of the sequence of events.
    strange : bool
        Whether cycles with another sequence of events were met that are another branch's.
    passed : int
        How many cycles there were when it last went on beyond two events that come together.
    """

    over: CyclesOver
    here: OnBranch
    switched: bool = False
    doubled: bool = False
    crossings: tuple[Near, ...] = ()
    met: Near | None = None
    points: list[Near] = field(default_factory=list)
    specials: list[SpecialDraft] = field(default_factory=list)
    reason: str | SpecialDraft = ""
    joined: float | None = None
    gone: float = 0.0
    step: float = FIRST
    changed: Near | None = None
    strange: bool = False
    passed: int = -1

    @property
    def ending(self) -> str:
        """Why it ended, in words."""
        if isinstance(self.reason, SpecialDraft):
            return self.reason.ending
        return self.reason or "It was not followed to its end."

    def go(self) -> None:
        """Go on until the branch ends, leaves the range, or closes."""
        first, step = self.here, self.step
        while not self.reason:
            if len(self.points) >= MOST:
                self.reason = f"It was followed over {MOST} cycles, the most that are."
                return
            found = self._next(step)
            if found is None:
                step *= 0.5
                if step < LEAST:
                    self._end()
                    step = NEAR
                continue
            bend = self.here.tangent.dot(found.tangent, self.here.near.sizes)
            self._accept(found)
            if not self.reason:
                self._closes(first, step)
            step = min(step * LONGER, LONGEST) if bend > QUICK else step

    def _next(self, step: float) -> OnBranch | None:
        """Return the cycle after a step; None where there is none, or the branch bends too much on the way."""
        near, tangent = self.here
        guess = near.place.moved(tangent, step)
        other = self.over.corrected(guess, near.trip.t, tangent, near.sizes, near)
        if other is None or other.place.moved(near.place, -1.0).length(near.sizes) > 4 * step:
            return None
        alike = other.sequence == near.sequence
        if other.slopes.grazes or (not alike and (self.strange or step > NEAR)):
            return None
        onward = other.tangent(other.place.moved(near.place, -1.0))
        if onward is None:
            return None
        if alike and tangent.dot(onward, near.sizes) < BENT and step > 1e-6:
            return None
        found = OnBranch(other, onward)
        if not alike:
            self.changed = Segment(self.here, found).last_alike()
            self.strange = self.changed is None
        return None if self.strange and not alike else found

    def _accept(self, found: OnBranch, special: SpecialDraft | None = None) -> None:
        """Take a cycle onto the branch, with what changed on the way, where that is not known."""
        value = found.near.value
        if not 0.0 <= value <= 1.0:
            bound = self._landed(found, 0.0 if value < 0 else 1.0)
            self.reason = f"It reaches the end of the range at {self.over.parameter(round(value > 0.5)):.10g}."
            if bound is None:
                return
            found = bound
        if self.doubled and self.points and self._half(found.near) @ self._half(self.here.near) < 0:
            self.joined = 0.5 * (value + self.here.near.value)
            shown = self.over.parameter(self.joined)
            self.reason = f"It joins a branch of half its period near {shown:.6g}."
            return
        if special is None:
            self._look(Segment(self.here, found))
        else:
            self.specials.append(special)
        self.points.append(found.near)
        self.switched = False
        if not self.reason:
            self.here = OnBranch(*self.over.clear(*found))

    def _half(self, near: Near) -> Array:
        """Return how far a motion is from its start after half its period, in the sizes."""
        trip = near.trip
        return np.asarray(
            (states_at(trip.motion.pieces, np.array([trip.t + trip.period / 2]))[0] - trip.z) / near.sizes
        )

    def _landed(self, found: OnBranch, bound: float) -> OnBranch | None:
        """Return the cycle of the segment to a cycle outside the range that lies on its end."""
        segment = Segment(self.here, found)
        if segment.secant.value == 0:
            return None
        share = (bound - self.here.near.value) / segment.secant.value
        guess = self.here.near.place.moved(segment.secant, share)
        base = self.here.near
        along = Place(np.zeros_like(guess.z), 0.0, 1.0)
        near = self.over.corrected(guess, base.trip.t, along, base.sizes, base)
        tangent = None if near is None else near.tangent(segment.secant)
        return None if near is None or tangent is None else OnBranch(near, tangent)

    def _look(self, segment: Segment) -> None:
        """Locate what changed between two cycles."""
        first, last = segment.first, segment.last
        if first.near.sequence != last.near.sequence:
            kept = self.changed or segment.last_alike() or first.near
            self.specials.append(SpecialDraft(*_sort(kept, last.near)[:2], kept, first.tangent))
            return
        if self.switched or not (first.near.slopes.smooth and last.near.slopes.smooth):
            return
        turns, singly = segment.changes(turning), segment.changes(singular)
        if turns or singly:
            self._add("fold" if turns and singly else "crossing", segment.zero(turning if turns else singular))
        if segment.changes(doubling):
            self._add("flip", segment.zero(doubling))
        if segment.changes(pairing):
            at = segment.zero(pairing)
            if at is not None and on_circle(at.near):
                self._add("torus", at)

    def _add(self, kind: str, at: OnBranch | None) -> None:
        if at is None:
            return
        if kind == "crossing":
            self.met = next((one for one in self.crossings if _meet(one, at.near)), None)
        if self.met is not None:
            self.reason = f"It meets another branch at {self.over.parameter(self.met.value):.10g}."
        else:
            self.specials.append(SpecialDraft(kind, WORDS[kind], at.near, at.tangent))

    def _closes(self, first: OnBranch, step: float) -> None:
        """Notice that the branch is back where it began: its cycle there is the first one, not one that is near."""
        last, sizes = self.points[-1], first.near.sizes
        off = last.place.moved(first.near.place, -1.0)
        far = off.length(sizes) if last.trip.t == first.near.trip.t else np.inf
        self.gone = max(self.gone, far if np.isfinite(far) else 0.0)
        if far < step and self.gone > 4 * step:
            guess = last.place.moved(first.tangent, -off.dot(first.tangent, sizes))
            again = self.over.corrected(guess, last.trip.t, first.tangent, sizes, last)
            if again is not None and again.place.moved(first.near.place, -1.0).length(sizes) < AGAIN:
                self.reason = CLOSES
                self.points.append(first.near)

    def _end(self) -> None:
        """Say how the branch ends; it goes on where two events come together and cycles are found beyond."""
        near, tangent = self.here
        shown = self.over.parameter(near.value)
        nearby = [self.over.near(near.place.moved(tangent, step), near.trip.t, near) for step in BEYOND]
        other = next((one for one in nearby if one is not None and one.sequence != near.sequence), None)
        if other is not None:
            kind, words, merged = _sort(near, other)
            if merged and self._pass(other):
                return
            onward = UNSEEN if kind == "grazing" else NOTHING
            self.reason = SpecialDraft(kind, words, near, tangent, other, onward=onward, merged=merged)
            self.specials.append(self.reason)
        elif any(one is None for one in nearby):
            self.reason = f"It ends at {shown:.10g}: the motion beyond does not last a period."
        else:
            self.reason = f"It ends at {shown:.10g}: {NOTHING}"

    def _pass(self, other: Near) -> bool:
        """Go on beyond two events that come together, and say whether there were cycles."""
        found = passed(self.here, other) if len(self.points) > self.passed else None
        if found is None:
            return False
        near, tangent = self.here
        kind, words, _ = _sort(near, found.near)
        special = SpecialDraft(kind, words, near, tangent, located=located(self.here, found))
        self.strange = False
        self._accept(found, special)
        self.passed = len(self.points)
        return True


WORDS = {
    "fold": "A multiplier is 1 and the branch turns.",
    "crossing": "A multiplier is 1 and another branch crosses.",
    "flip": "A multiplier is -1: cycles of twice the period leave.",
    "torus": "A pair of multipliers is on the unit circle.",
}


def _meet(one: Near, other: Near) -> bool:
    """Say whether two crossings are one: on the branch that crosses it is located less well."""
    alike = one.trip.t == other.trip.t and one.over.rounds == other.over.rounds
    return alike and one.place.moved(other.place, -1.0).length(one.sizes) < MEETING


def _sort(first: Near, last: Near) -> tuple[str, str, str]:
    """Return the kind of a change of the sequence of events, what it is, and which events come together."""
    counts = Counter(last.sequence), Counter(first.sequence)
    come, gone = (sorted(f"{kind} {whose}".strip() for kind, whose in part.elements()) for part in
                  (counts[0] - counts[1], counts[1] - counts[0]))  # fmt: skip
    words = [f"{', '.join(names)} {verb}" for names, verb in ((come, "more"), (gone, "less")) if names]
    merged = together(first, last)
    graze = not merged and any(text.startswith("impact") for text in (*come, *gone))
    text = f"Beyond: {'; '.join(words) or 'the same events in another order'}. {merged}".rstrip()
    return "grazing" if graze else "change", text, merged
