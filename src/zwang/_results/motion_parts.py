"""What a motion is made of: stretches of one mode with their dense output, and the events between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.modes import MODES, Mode
from zwang._results.later import WithLater
from zwang._results.named import missing
from zwang._results.storage import storable

Array = NDArray[np.float64]


@storable(shapes={"t": "k+1", "q": "k+1 n", "v": "k+1 n", "a": "k+1 n", "dense": "k s 2n"})
@dataclass(frozen=True, eq=False)
class MotionPiece:
    """A stretch of motion in one mode: the steps and their dense output.

    Attributes
    ----------
    t : (k + 1,) array
    q, v, a : (k + 1, n) arrays
    dense : (k, s, 2 n) array
        Coefficients of the interpolant of each step, `s` of them for each position and velocity.
    labels : tuple of str
        The mode of each constraint, in their order.
    held, sticking, sliding, pulling, shared, spare : tuples
        The equations of the stretch: numbers of the normals and slips held, (law, sign) of those that slide, the held
        normals that pull; where forces of least norm make the motion, the normals that share and those left out.
    found : bool
        Whether a second acceleration was not excluded at its start.
    undetermined : tuple of str
        Constraints whose reactions the equations leave free.
    jumps : tuple of mappings
        The impacts by which the velocity jumped to that of the start: 'before', 'after', 'impulses' and
        'friction_impulses' by constraint; 'event' where an event of the user's made it jump.
    on : tuple of str or None
        The constraints that are switched on; None where nothing is ever switched.
    """

    t: Array
    q: Array
    v: Array
    a: Array
    dense: Array
    labels: tuple[str, ...]
    held: tuple[int, ...]
    sticking: tuple[int, ...] = ()
    sliding: tuple[tuple[int, int], ...] = ()
    pulling: tuple[int, ...] = ()
    found: bool = False
    undetermined: tuple[str, ...] = ()
    jumps: tuple[Mapping[str, Any], ...] = ()
    on: tuple[str, ...] | None = None
    shared: tuple[int, ...] = ()
    spare: tuple[int, ...] = ()

    def _check(self) -> str:
        if not np.isfinite(self.t).all() or np.any(np.diff(self.t) < 0):
            return "its times don't rise"
        sizes = {np.shape(jump.get(side, ())) for jump in self.jumps for side in ("before", "after")}
        return "" if sizes <= {self.v.shape[1:]} else "a jump has not the size of a velocity"

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The mode of each constraint, as numbers."""
        return tuple(MODES[label] for label in self.labels)

    @property
    def jump(self) -> bool:
        """Whether the velocity jumped to that of the start."""
        return bool(self.jumps)


def joined(pieces: Iterable[MotionPiece]) -> list[MotionPiece]:
    """Join neighbours of the same mode without a jump between them."""
    groups: list[list[MotionPiece]] = []
    for piece in pieces:
        if groups and goes_on(groups[-1][0], piece):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return [_merge(group) for group in groups]


def last_rows(pieces: Sequence[MotionPiece], rows: int) -> list[MotionPiece]:
    """Return the pieces of the last rows of a motion, at least one row; the first of them is cut where needed."""
    kept: list[MotionPiece] = []
    for piece in reversed(pieces):
        shared = bool(kept) and not kept[0].jump  # the last row is the first of the next piece
        own = len(piece.t) - shared
        if own > rows:
            start = own - rows
            cut = {name: getattr(piece, name)[start:].copy() for name in ("t", "q", "v", "a", "dense")}
            piece = replace(piece, **cut, jumps=())  # noqa: PLW2901
        kept.insert(0, piece)
        rows -= own
        if rows <= 0:
            break
    return kept


def goes_on(first: MotionPiece, second: MotionPiece) -> bool:
    """Return whether a piece carries on one before it: the same mode, and no jump between them."""
    names = ("labels", "held", "sticking", "sliding", "pulling", "found", "undetermined", "on", "shared", "spare")
    return not second.jump and all(getattr(first, name) == getattr(second, name) for name in names)


def _merge(group: list[MotionPiece]) -> MotionPiece:
    if len(group) == 1:
        return group[0]
    rows: dict[str, Any] = {
        name: np.concatenate([*(getattr(piece, name)[:-1] for piece in group[:-1]), getattr(group[-1], name)])
        for name in ("t", "q", "v", "a")
    }
    return replace(group[0], **rows, dense=np.concatenate([piece.dense for piece in group]))


@storable
@dataclass(frozen=True, eq=False)
class MotionEvent:
    """Something that happened at an instant of a motion.

    Attributes
    ----------
    time : float
    kind : str
        contact, lift-off, stick, slip, reversal, capture, release, impact, accumulation, singular, paradox, choice,
        method (where `method="auto"` changes it), project (a start that was moved), switch (an event that switched
        constraints or reset velocities), user.
    constraint : str or None
        Whose event it is; None where it is no single constraint's (then `details` may have 'constraints').
    name : str
        Of a user's event.
    details : mapping
        What goes with it: for an impact the 'constraints' that met, 'impulses' and 'friction_impulses' by constraint,
        the velocities 'before' and 'after', and the 'energy_change' [J]; for an accumulation the number of 'impacts'
        of this contact that are listed before it, each after a shorter flight, and the 'factor' between flights; for a
        switch the constraints that went 'on' and 'off' and, where velocities jumped, what an impact has.
    """

    time: float
    kind: str
    constraint: str | None = None
    name: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def energy(self) -> float:
        """The kinetic energy that a jump of the velocity took [J], negative where it gave; 0 for all other events."""
        return 0.0 - float(self.details.get("energy_change", 0.0))

    def concerns(self, constraint: str) -> bool:
        """Say whether a constraint takes part in it, with others or alone."""
        return constraint == self.constraint or constraint in self.details.get("constraints", ())

    def __repr__(self) -> str:
        met = self.details.get("constraints", ())
        whose = f" of '{self.constraint}'" if self.constraint else ""
        whose = f" of {', '.join(repr(str(name)) for name in met)}" if not whose and len(met) else whose
        whose = f" '{self.name}'" if self.kind in ("user", "switch") else whose
        whose = f" '{self.details['method']}'" if self.kind == "method" else whose
        lost = self.details.get("energy_change")
        tail = f", energy change {lost:.6g}" if lost is not None else ""
        return f"{self.kind}{whose} at t = {self.time:.13g}{tail}"


class Events(tuple[MotionEvent, ...]):
    """The events of a motion in the order of time; printed one to a line."""

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Events(found) if isinstance(key, slice) else found

    def __repr__(self) -> str:
        return "\n".join(repr(event) for event in self) or "no events"

    def of(self, kind: str, constraint: str | None = None) -> Events:
        """Return those of one kind, and of one constraint if it is named (with others or alone)."""
        found = (event for event in self if event.kind == kind)
        return Events(event for event in found if constraint is None or event.concerns(constraint))


@storable(shapes={"names": "k", "labels": "k"})
@dataclass(frozen=True, eq=False)
class ModeSpan:
    """From when to when which constraints did what.

    Attributes
    ----------
    start, end : float
    names : tuple of str
        Of the constraints.
    labels : tuple of str
        open, closed, stick, slip+, slip-, slip; '(N<0)' marks a two-sided contact that pulls.
    found : bool
        True: a solution was found and verified, a second one is not excluded.
    """

    start: float
    end: float
    names: tuple[str, ...]
    labels: tuple[str, ...]
    found: bool = False

    def __getitem__(self, name: str) -> str:
        if name not in self.names:
            raise KeyError(missing(str(name), self.names, "The modes have"))
        return self.labels[self.names.index(name)]

    def __repr__(self) -> str:
        what = ", ".join(f"{name} {label}" for name, label in zip(self.names, self.labels, strict=True))
        flag = " (found; a second solution is not excluded)" if self.found else ""
        return f"{self.start:.6g} to {self.end:.6g}: {what or 'no constraints'}{flag}"


@storable
@dataclass(frozen=True, eq=False)
class Continuation:
    """One way in which a motion that stopped could go on.

    Attributes
    ----------
    sentence : str
        What it is.
    labels : mapping of str to str
        The mode of each constraint that takes part.
    acceleration : (n,) array
    state : mapping of str to float
        Where it starts, if that is not the state at which the motion stopped (after an impact, on a branch).
    """

    sentence: str
    labels: Mapping[str, str] = field(default_factory=dict)
    acceleration: Array = field(default_factory=lambda: np.zeros(0))
    state: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.sentence


@storable
@dataclass(frozen=True, eq=False)
class MotionRows(WithLater):
    """Everything about a motion that follows from its states, one entry for each row of `Motion.t`.

    Attributes
    ----------
    reactions, friction, work : mapping name -> array
    reaction_range : mapping name -> (rows, 2) array
    energy : mapping
        kinetic, potential, total.
    drift, residual : float
    declaration : mapping
        The system as plain texts, so that a motion read from a file can be continued.
    """

    reactions: Mapping[str, Array]
    friction: Mapping[str, Array]
    energy: Mapping[str, Array]
    work: Mapping[str, Array]
    drift: float
    residual: float
    declaration: Mapping[str, Any] = field(default_factory=dict)
    reaction_range: Mapping[str, Array] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and sent: everything, computed."""
        return dict(vars(self.whole()))
