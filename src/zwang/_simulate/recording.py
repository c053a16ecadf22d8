"""What a motion has been so far: its pieces and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from zwang._interrupts import uninterrupted
from zwang._numerics.contact.modes import Mode, words_of
from zwang._results.motion_parts import MotionEvent, MotionPiece, joined, last_rows
from zwang._results.streaming import MotionStream
from zwang._simulate.deciding import Decision
from zwang._simulate.moment import Ground, Moment, acts

KEPT = 20_000
"""Rows kept in memory where a motion goes to a file."""


class Record:
    """Pieces and events in the order of time."""

    def __init__(self, names: tuple[str, ...], stream: MotionStream | None = None) -> None:
        self.stream = stream
        self.names, self.size = names, len(names)
        self.pieces: list[MotionPiece] = []
        self.events: list[MotionEvent] = []
        self.drift = 0.0
        self._jumps: tuple[Mapping[str, Any], ...] = ()
        self._kept_back = False

    def stretch(self, found: Any, decision: Decision) -> None:
        """Add the steps of a stretch; one that goes on in the same mode lengthens the last piece."""
        self.drift = max(self.drift, float(found.drift))
        if len(found.t) < 2:
            return
        held = decision.held
        assert held is not None  # a decision without a mode stops the motion before
        mode = held.mode
        piece = MotionPiece(
            np.asarray(found.t),
            np.asarray(found.q),
            np.asarray(found.v),
            np.asarray(found.a),
            np.asarray(found.dense),
            words_of(decision.labels),
            mode.held,
            mode.sticking,
            mode.sliding,
            mode.pulling,
            decision.found,
            held.undetermined,
            self._jumps,
        )
        self._jumps = ()
        self._take(piece)

    def _take(self, piece: MotionPiece) -> None:
        """Add a piece; where the motion goes to a file, give the one before it there and keep the last rows only."""
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

    def give(self) -> None:
        """Give the last piece to the file as well, which was kept back as long as it might be cut."""
        if self.stream is not None and self._kept_back:
            self._kept_back = False
            self.stream.add(self.pieces[-1], self.events, self.drift)

    def stepped(self, pieces: Sequence[MotionPiece], events: Sequence[MotionEvent]) -> None:
        """Add a stretch of time stepping."""
        for piece in pieces:
            self._take(replace(piece, jumps=self._jumps))
            self._jumps = ()
        self.events += events

    def start(self, moment: Moment) -> MotionPiece:
        """Return the piece of one row that a motion has before anything is decided."""
        return replace(_single(moment, (Mode.UNDECIDED,) * self.size), undetermined=self.names)

    def cut(self, time: float) -> tuple[float, Any, Any]:
        """Forget the steps of the last piece that end after a time; return the state from which to go on."""
        piece = self.pieces.pop()
        count = int(np.searchsorted(piece.t, time, side="right")) - 1
        if count >= 1:
            rows: dict[str, Any] = {name: getattr(piece, name)[: count + 1] for name in ("t", "q", "v", "a")}
            self.pieces.append(replace(piece, **rows, dense=piece.dense[:count]))
        else:
            self._kept_back = False
            self._jumps = (*piece.jumps, *self._jumps)
        return float(piece.t[max(count, 0)]), piece.q[max(count, 0)], piece.v[max(count, 0)]

    def jump(self, moment: Moment, details: Mapping[str, Any]) -> None:
        """Say that the next piece starts with another velocity than that of a moment."""
        if not self.pieces:
            self._take(self.start(moment))
        self._jumps = (*self._jumps, details)

    def event(self, time: float, kind: str, constraint: str | None = None, name: str = "", **details: Any) -> None:
        """Add an event."""
        plain: Mapping[str, Any] = {key: value for key, value in details.items() if value is not None}
        self.events.append(MotionEvent(float(time), kind, constraint, name, dict(plain)))

    def closed(self, ground: Ground, moment: Moment) -> tuple[MotionPiece, ...]:
        """Return the pieces, at least one; a motion that stops after a jump ends with the state after it."""
        if not self.pieces or self._jumps:
            # No mode was found for this state: what acts there is known, how it acts is not.
            acting = [acts(ground, moment, number) for number in range(len(ground.table.places))]
            labels = tuple(Mode.UNDECIDED if act else Mode.OPEN for act in acting)
            free = tuple(place.name for place, act in zip(ground.table.places, acting, strict=True) if act)
            self._take(replace(_single(moment, labels), undetermined=free, jumps=self._jumps))
            self._jumps = ()
        self.give()
        whole = joined(self.pieces)
        return tuple(whole if self.stream is None else last_rows(whole, KEPT))


def _single(moment: Moment, labels: tuple[Mode, ...]) -> MotionPiece:
    """Return a piece of one row, in no mode."""
    n = len(moment.q)
    q, v = moment.q[None].copy(), moment.v[None].copy()
    unknown, nothing = np.full((1, n), np.nan), np.zeros((0, 7, 2 * n))
    return MotionPiece(np.array([moment.t]), q, v, unknown, nothing, words_of(labels), ())
