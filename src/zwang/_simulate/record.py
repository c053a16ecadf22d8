"""What a motion has been so far: its pieces and events. The loop alone writes into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from zwang._declare.contact_table import table_of
from zwang._declare.switched import switched
from zwang._interrupts import uninterrupted
from zwang._numerics.contact.modes import Mode, words_of
from zwang._results.motion_parts import MotionEvent, MotionPiece, joined, last_rows
from zwang._simulate.moment import Context, Decision, Happening, Moment, Stop, Transition, acts
from zwang._simulate.stretch import MadeSteps, first_steps

KEPT = 20_000
"""Rows kept in memory where a motion goes to a file."""


class MotionRecord:
    """Pieces and events in the order of time, and where the motion is now.

    Parameters
    ----------
    context : Context
    moment : Moment
        At which the motion begins.
    """

    def __init__(self, context: Context, moment: Moment) -> None:
        self.context, self.began, self.stream = context, moment, context.options.stream
        self.moment: Moment = moment
        self.decision: Decision | Stop = Decision()
        self.pieces: list[MotionPiece] = []
        self.events: list[MotionEvent] = list(context.options.starts)
        self.drift = 0.0
        self._jumps: tuple[Mapping[str, Any], ...] = ()
        self._kept_back = False
        self._since = 0
        self.note = ""

    @property
    def recent(self) -> list[MotionPiece]:
        """The pieces since something was switched: those in the numbers of the present constraints."""
        return self.pieces[self._since :] if self._since else self.pieces

    @property
    def stop(self) -> Stop:
        """Why the motion has ended."""
        assert isinstance(self.decision, Stop)  # that is when the loop ends
        return replace(self.decision, reason=f"{self.decision.reason} {self.note}".strip())

    def take(self, made: Transition) -> None:
        """Record what a transition brings; the motion is then where that leads to."""
        if made.back is not None:
            self._cut(made.back)
        self.drift = max(self.drift, float(made.drift))
        for piece in made.pieces:
            pending = self._jumps
            self._jump(piece.jumps)
            self._take(replace(piece, jumps=self._jumps) if pending else piece)
            self._jumps = ()
        self._jump(made.jumps)
        self.events += made.events
        self.moment, self.decision = made.moment, made.decision
        if made.context is not None and made.context is not self.context:
            self.context, self._since = made.context, len(self.pieces)

    @property
    def at_once(self) -> bool:
        """Whether it may take many impacts at once: nobody looks at each of them, or waits for it."""
        return type(self) is MotionRecord and self.stream is None

    def passed(self, decision: Decision, made: MadeSteps, happening: Happening) -> None:
        """Hear of steps that are about to be recorded, and of what ended them; nothing is kept of that here."""

    def end(self, stop: Stop) -> None:
        """Say why the motion ends where it is."""
        self.decision = stop

    def _jump(self, jumps: tuple[Mapping[str, Any], ...]) -> None:
        """Say that the next piece starts with another velocity; before the first piece, with what one it began."""
        if jumps and not self.pieces:
            self._take(self.start(self.began.but(v=np.asarray(jumps[0]["before"]))))
        self._jumps = (*self._jumps, *jumps)

    def _take(self, piece: MotionPiece) -> None:
        """Add a piece; where the motion goes to a file, give the one before it there and keep the last rows only."""
        if self.context.on is not None:
            piece = replace(piece, on=self.context.on)
        if self.stream is None:
            self.pieces.append(piece)
            return
        with uninterrupted():
            self.give()
            self.pieces.append(piece)
            self._kept_back = True
            rows = sum(len(one.t) - 1 for one in self.pieces)
            while rows - len(self.pieces[0].t) > KEPT:
                rows -= len(self.pieces.pop(0).t) - 1
                self._since = max(self._since - 1, 0)

    def give(self) -> None:
        """Give the last piece to the file as well, which was kept back as long as it might be cut."""
        if self.stream is not None and self._kept_back:
            self._kept_back = False
            self.stream.add(whole_piece(self.context, self.pieces[-1]), self.events, self.drift)

    def start(self, moment: Moment) -> MotionPiece:
        """Return the piece of one row that a motion has before anything is decided."""
        names = self.context.table.names
        return replace(_single(moment, (Mode.UNDECIDED,) * len(names)), undetermined=names)

    def _cut(self, time: float) -> None:
        """Forget the steps of the last piece that end after a time."""
        piece = self.pieces.pop()
        count = int(np.searchsorted(piece.t, time, side="right")) - 1
        if count >= 1:
            self.pieces.append(first_steps(piece, count))
        else:
            self._kept_back = False
            self._jumps = (*piece.jumps, *self._jumps)

    def closed(self) -> tuple[MotionPiece, ...]:
        """Return the pieces, at least one; a motion that stops after a jump ends with the state after it."""
        turned = bool(self.pieces) and self.pieces[-1].on != self.context.on  # the last event switched
        if not self.pieces or self._jumps or turned:
            # No mode was found for this state: what acts there is known, how it acts is not.
            places = self.context.table.places
            acting = [acts(self.context, self.moment, number) for number in range(len(places))]
            labels = tuple(Mode.UNDECIDED if act else Mode.OPEN for act in acting)
            free = tuple(place.name for place, act in zip(places, acting, strict=True) if act)
            self._take(replace(_single(self.moment, labels), undetermined=free, jumps=self._jumps))
            self._jumps = ()
        self.give()
        whole = joined(whole_piece(self.context, piece) for piece in self.pieces)
        return tuple(whole if self.stream is None else last_rows(whole, KEPT))


def whole_piece(context: Context, piece: MotionPiece) -> MotionPiece:
    """Return a piece in the numbers of all constraints; those that are switched off are labelled so."""
    if piece.on is None or context.whole is None or len(piece.labels) == len(context.whole.table.places):
        return piece
    whole, part = context.whole.table, table_of(switched(context.whole.model.system, piece.on))
    own = {place.name: place for place in whole.places}
    labels = dict(zip(part.names, piece.labels, strict=True))
    normals = [own[place.name].normal for place in part.normals]
    laws = [own[place.name].law for place in part.laws]
    slips = {a: b for place in part.places for a, b in zip(place.slips, own[place.name].slips, strict=True)}
    return replace(
        piece,
        labels=tuple(labels.get(name, Mode.OFF.word) for name in whole.names),
        held=tuple(normals[j] for j in piece.held),
        sticking=tuple(slips[j] for j in piece.sticking),
        sliding=tuple((laws[law], sign) for law, sign in piece.sliding),
        pulling=tuple(normals[j] for j in piece.pulling),
        shared=tuple(normals[j] for j in piece.shared),
        spare=tuple(normals[j] for j in piece.spare),
    )


def _single(moment: Moment, labels: tuple[Mode, ...]) -> MotionPiece:
    """Return a piece of one row, in no mode."""
    n = len(moment.q)
    q, v = moment.q[None].copy(), moment.v[None].copy()
    unknown, nothing = np.full((1, n), np.nan), np.zeros((0, 7, 2 * n))
    return MotionPiece(np.array([moment.t]), q, v, unknown, nothing, words_of(labels), ())
