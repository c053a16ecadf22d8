"""What a motion has been so far: its pieces and events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from zwang._results.motion_parts import MotionEvent, MotionPiece
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
            decision.labels,
            mode.held,
            mode.sticking,
            mode.sliding,
            mode.pulling,
            decision.found,
            held.undetermined,
            self._jumps,
        )
        self._jumps = ()
        self.pieces.append(piece)
        if self.stream is not None and sum(len(one.t) for one in self.pieces) > KEPT:
            for one in self.pieces[:-1]:
                self.stream.add(one)
            del self.pieces[:-1]

    def jump(self, moment: Moment, details: Mapping[str, Any]) -> None:
        """Say that the next piece starts with another velocity than that of a moment."""
        if not self.pieces:
            self.pieces.append(replace(_single(moment, ("undecided",) * self.size), undetermined=self.names))
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
            labels = tuple("undecided" if act else "open" for act in acting)
            free = tuple(place.name for place, act in zip(ground.table.places, acting, strict=True) if act)
            self.pieces.append(replace(_single(moment, labels), undetermined=free, jumps=self._jumps))
            self._jumps = ()
        return tuple(_joined(self.pieces))


def _single(moment: Moment, labels: tuple[str, ...]) -> MotionPiece:
    """Return a piece of one row, in no mode."""
    n = len(moment.q)
    q, v = moment.q[None].copy(), moment.v[None].copy()
    return MotionPiece(np.array([moment.t]), q, v, np.full((1, n), np.nan), np.zeros((0, 7, 2 * n)), labels, ())


def _joined(pieces: list[MotionPiece]) -> list[MotionPiece]:
    """Join neighbours of the same mode without a jump between them."""
    groups: list[list[MotionPiece]] = []
    for piece in pieces:
        if groups and not piece.jump and _same(groups[-1][0], piece):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return [_merge(group) for group in groups]


def _same(first: MotionPiece, second: MotionPiece) -> bool:
    names = ("labels", "held", "sticking", "sliding", "pulling", "found", "undetermined")
    return all(getattr(first, name) == getattr(second, name) for name in names)


def _merge(group: list[MotionPiece]) -> MotionPiece:
    if len(group) == 1:
        return group[0]
    rows: dict[str, Any] = {
        name: np.concatenate([*(getattr(piece, name)[:-1] for piece in group[:-1]), getattr(group[-1], name)])
        for name in ("t", "q", "v", "a")
    }
    return replace(group[0], **rows, dense=np.concatenate([piece.dense for piece in group]))
