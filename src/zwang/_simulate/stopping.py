"""Why a motion ends, and how it could go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import Continuation
from zwang._results.reactions import Reactions
from zwang._results.wording import vector
from zwang._simulate.deciding import Decision
from zwang._simulate.moment import Moment
from zwang._simulate.recording import Record

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver


@dataclass(frozen=True)
class Stop:
    """The end of a motion: its status, a sentence with figures, and the ways in which it could go on.

    `passable`: time stepping can go on from here, and nothing is decided by it that a law leaves open.
    """

    status: MotionStatus
    reason: str = ""
    continuations: tuple[Continuation, ...] = ()
    passable: bool = False


EVENT_KINDS = {MotionStatus.PARADOX: "paradox", MotionStatus.CHOICE: "choice", MotionStatus.SINGULAR: "singular"}


def stopped_at(
    record: Record,
    status: MotionStatus,
    time: float,
    reason: str,
    continuations: tuple[Continuation, ...] = (),
    constraint: str | None = None,
) -> Stop:
    """Return a stop, its event logged."""
    if status in EVENT_KINDS:
        record.event(time, EVENT_KINDS[status], constraint, reason=reason)
    return Stop(status, reason, continuations)


def paradox(driver: Driver, decision: Decision, moment: Moment) -> Stop:
    """Return the stop where no acceleration, or more than one, satisfies the laws."""
    found = decision.reactions
    assert found is not None and decision.stop is not None  # that is what made the motion stop
    constraint = found.contacts[0] if len(found.contacts) == 1 else None
    if decision.stop is MotionStatus.PARADOX:
        word = "is known" if found.status.name == "UNDECIDED" else "exists"
        reason = f"At t = {moment.t:.12g} no reaction {word}: {found.status.value}"
        return stopped_at(driver.record, decision.stop, moment.t, reason, (), constraint)
    count = "a continuum of" if found.accelerations_continuum else str(len(found.accelerations))
    reason = f"At t = {moment.t:.12g} {count} accelerations satisfy the laws."
    return stopped_at(driver.record, decision.stop, moment.t, reason, continuations_of(found), constraint)


def continuations_of(found: Reactions) -> tuple[Continuation, ...]:
    """Return the solutions of a state as ways in which a motion could go on."""
    made = []
    for solution in found.solutions:
        labels = {name: str(mode) for name, mode in zip(found.contacts, solution.modes, strict=True)}
        what = ", ".join(f"{name} {label}" for name, label in labels.items())
        sentence = f"{what}: acceleration {vector(solution.acceleration)}"
        made.append(Continuation(sentence, labels, solution.acceleration))
    return tuple(made)
