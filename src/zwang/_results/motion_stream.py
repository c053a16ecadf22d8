"""Long motions go to a draft while they are computed, and from there to their file when they have ended.

Memory holds the last stretch of them only, and what a killed process leaves, ``motion.npz.part``, can be read. What
follows from the states is computed when they have ended, unless they are too many to be read back at once. How the
motion came to the draft, in which blocks and when, leaves no trace in the file: neighbours of one mode are joined.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zwang._outputs import as_path, check_output, not_written, replacing
from zwang._results import storage
from zwang._results.decoding import missing
from zwang._results.motion import Motion, MotionStatus
from zwang._results.motion_parts import Events, MotionEvent, MotionPiece, goes_on, joined
from zwang._results.stream_draft import FIRST, Draft, blocks_of, in_use
from zwang.errors import DeclarationError

PART = ".part"
BLOCK = 256
"""Rows after which a block is written."""
SECONDS = 1.0
"""The same in time: slow motions are kept too."""
INSTANTS = 1024
"""States kept for the note on the energy, at most; evenly spaced among the rows."""
NOT_NPZ = "out= needs a path that ends in .npz; what load_result reads from it has save('motion.nc') for netCDF"
MOST_BYTES = 2**25
"""Of states that are read back for reactions, energies and works; that takes ten times as much for a moment."""
ROWS = ("t", "q", "v", "a")


class MotionStream:
    """Takes the pieces of a motion one after the other; `load_result` reads the file as a Motion.

    Parameters
    ----------
    path : path
        Ends in ``.npz``.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = as_path(path)
        check_output(path, endings=(".npz",), written=NOT_NPZ)
        self.part = draft_of(self.path)
        check_output(self.part)
        if in_use(self.part):
            raise DeclarationError(f"'{path}' is being written by another computation. Give out= another name.")
        self._draft: Draft | None = None
        self._waiting: list[MotionPiece] = []
        self._told, self._has_rows = 0, False
        self._written_at = -math.inf  # the first piece is written at once
        self._stride, self.rows = 1, 0
        self.instants: list[tuple[float, Any, Any]] = []  # time, positions, velocities at evenly spaced rows

    def begin(self, motion: Motion) -> None:
        """Make the draft of a motion that has its first state only; all that can be checked has been checked."""
        try:
            self._draft = Draft(self.part)
            self._draft.add(replace(motion, residual=None, source=None, status=MotionStatus.INTERRUPTED))
        except OSError as error:
            self.abandon()
            raise not_written(self.part, error, kept="Nothing was computed yet.") from None

    def add(self, piece: MotionPiece, events: Sequence[MotionEvent], drift: float) -> None:
        """Take a piece, and the events and the drift so far; write a block where enough has come together."""
        self._waiting.append(piece)
        self._remember(piece)
        if sum(len(one.t) for one in self._waiting) >= BLOCK or time.monotonic() - self._written_at > SECONDS:
            self._flush(events, drift)

    def close(self, motion: Motion) -> None:
        """Write what is left of a motion, then its file; the draft goes."""
        self._flush(motion.events, motion.drift_per_step)
        draft = self._opened
        try:
            draft.add({"end": replace(motion, pieces=(), residual=None, computed=None, source=None)})
            _write_file(self.path, draft, self._completed(motion))
        except OSError as error:
            raise self._not_written(error) from None
        except DeclarationError as error:
            raise DeclarationError(f"{error} {self._kept()}") from None
        finally:
            draft.close()
        draft.remove()

    def _completed(self, motion: Motion) -> Motion:
        """Return the motion with all that follows from its states, unless there are too many to hold at once."""
        if self.rows > len(motion.t) and 8 * self.rows * (1 + 17 * len(motion.coordinates)) > MOST_BYTES:
            return replace(motion, residual=None, computed=None)
        blocks = (block for _, block in self._opened.blocks() if isinstance(block, dict))
        pieces = [piece for block in blocks for piece in block.get("pieces", ())]
        return replace(motion, residual=None, pieces=tuple(joined(pieces)) or motion.pieces).as_stored()

    def abandon(self, events: Sequence[MotionEvent] = (), drift: float = 0.0) -> None:
        """Leave the draft to `load_result` where rows are in it, else remove it: something was raised."""
        if self._draft is None or self._draft.closed:
            return
        with contextlib.suppress(DeclarationError):
            self._flush(events, drift)
        if self._has_rows:
            self._draft.close()
        else:
            self._draft.remove()

    @property
    def _opened(self) -> Draft:
        assert self._draft is not None  # begin comes first
        return self._draft

    def _flush(self, events: Sequence[MotionEvent], drift: float) -> None:
        if not self._waiting:
            return
        try:
            self._opened.add(
                {"pieces": tuple(joined(self._waiting)), "events": tuple(events[self._told :]), "drift": float(drift)}
            )
        except OSError as error:
            raise self._not_written(error) from None
        self._has_rows = True
        self._waiting, self._told = [], len(events)
        self._written_at = time.monotonic()

    def _remember(self, piece: MotionPiece) -> None:
        """Keep every so-many-th row, whatever pieces the rows come in."""
        first = 0 if self.rows == 0 or piece.jump else 1  # the others begin with the row that the last one ended with
        start = self.rows - first
        while (row := first + -self.rows % self._stride) < len(piece.t):
            self.instants.append((float(piece.t[row]), piece.q[row].copy(), piece.v[row].copy()))
            if len(self.instants) > INSTANTS:
                del self.instants[1::2]
                self._stride *= 2
            first, self.rows = row + 1, start + row + 1
        self.rows = start + len(piece.t)

    def _not_written(self, error: OSError) -> DeclarationError:
        return not_written(self.part, error, kept=self._kept())

    def _kept(self) -> str:
        return f"What was computed until then is in '{self.part}', which load_result reads."


def draft_of(path: Path) -> Path:
    """Return where the draft of a file is."""
    return path.with_name(path.name + PART)


def draft_to_read(path: Path) -> Path | None:
    """Return the draft that a path means: itself, or the one beside a file that is not there; None: no draft."""
    if path.suffix == PART:
        return path
    beside = draft_of(path) if path.name else path
    return beside if not path.exists() and beside.is_file() else None


def recover(path: Path) -> Motion:
    """Return what is in a draft: all up to the last block that is whole."""
    if not path.exists():
        raise DeclarationError(missing(path))
    nothing = f"'{path}' holds nothing that could be read: the computation that wrote it was killed before its start."
    pieces: list[MotionPiece] = []
    events: list[MotionEvent] = []
    try:
        with path.open("rb") as file:
            if file.read(len(FIRST)) != FIRST:
                raise DeclarationError(f"'{path}' is not the draft of a motion that zwang wrote.")
            found = blocks_of(file)
            _, head = next(found, (0, None))
            if head is None:
                raise DeclarationError(nothing)
            drift, end = 0.0, None
            for _, block in found:
                if "end" in block:
                    end = block["end"]
                    continue
                pieces += block["pieces"]
                events += block["events"]
                drift = max(drift, float(block["drift"]))
    except OSError as error:
        raise DeclarationError(f"'{path}' cannot be read: {error.strerror or error}.") from None
    except (KeyError, TypeError, ValueError) as error:
        raise DeclarationError(f"'{path}' is not the draft of a motion that zwang wrote ({error}).") from None
    motion: Motion = head if end is None else end
    _require(path, head, pieces, events, motion)
    whole = tuple(joined(pieces)) or head.pieces
    if end is not None:
        return replace(motion, pieces=whole)
    last = float(whole[-1].t[-1])
    reason = (
        f"The computation was cut short; '{path.name}' has it up to t = {last:.6g}, it was to go on until "
        f"{motion.until:.6g}."
    )
    ordered = sorted(events, key=lambda event: event.time)
    return replace(motion, pieces=whole, events=Events(ordered), drift_per_step=drift, reason=reason)


def _require(path: Path, head: Any, pieces: list[Any], events: list[Any], end: Any) -> None:
    """Raise unless what was read is a motion: files may come from anywhere."""
    good = isinstance(head, Motion) and isinstance(end, Motion) and head.coordinates == end.coordinates
    good = good and all(isinstance(event, MotionEvent) for event in events)
    n = len(head.coordinates) if good else 0
    for piece in (*head.pieces, *pieces) if good else ():
        good = good and isinstance(piece, MotionPiece) and len(piece.t) > 0 and piece.t.ndim == 1
        good = good and all(getattr(piece, name).shape == (len(piece.t), n) for name in ROWS[1:])
        good = good and piece.dense.ndim == 3 and piece.dense.shape[::2] == (len(piece.t) - 1, 2 * n)
    if not good or not head.pieces:
        raise DeclarationError(f"'{path}' is not the draft of a motion that zwang wrote (shapes differ).")


# --- from the draft to the file --------------------------------------------------------------------------------------


@dataclass
class _Group:
    """Pieces of a draft that are one of the motion: where they begin, how many pieces and rows they are."""

    place: int
    index: int
    first: MotionPiece
    pieces: int = 0
    rows: int = 1

    def take(self, piece: MotionPiece) -> None:
        self.pieces += 1
        self.rows += len(piece.t) - 1


def _groups(draft: Draft) -> list[_Group]:
    found: list[_Group] = []
    for place, block in draft.blocks():
        for index, piece in enumerate(block["pieces"] if isinstance(block, dict) and "pieces" in block else ()):
            if not found or not goes_on(found[-1].first, piece):
                bare = {name: getattr(piece, name)[:0] for name in (*ROWS, "dense")}
                found.append(_Group(place, index, replace(piece, **bare)))
            found[-1].take(piece)
    return found


class _Pieces:
    """The pieces of a group, read again; the last block that was read is kept."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._known: tuple[int, tuple[MotionPiece, ...]] = (-1, ())

    def of(self, group: _Group) -> Iterator[MotionPiece]:
        left, index, place = group.pieces, group.index, group.place
        if self._known[0] == place:
            held = self._known[1]
            if index + left <= len(held):
                yield from held[index : index + left]
                return
        for at, block in self._draft.blocks(place):
            pieces = block.get("pieces", ())
            self._known = (at, pieces)
            taken = pieces[index : index + left]
            yield from taken
            left, index = left - len(taken), 0
            if not left:
                return


def _write_file(path: Path, draft: Draft, motion: Motion) -> None:
    """Write the file of a motion whose pieces are in a draft, one array after the other."""
    pieces = _Pieces(draft)
    plain: list[Any] = []
    with replacing(path) as target, zipfile.ZipFile(target, **storage.PACKED) as file:
        for number, group in enumerate(_groups(draft)):
            arrays: dict[str, Any] = {}
            place = f"value.pieces.{number}"
            plain.append(storage._encode(group.first, arrays, place))
            for name, array in arrays.items():
                field = name.removeprefix(f"{place}.")
                if field in (*ROWS, "dense"):
                    _write_rows(file, name, field, group, pieces)
                else:
                    storage.write_array(file, name, array)
        arrays = {}
        rest = storage._encode(replace(motion, pieces=(), residual=None, source=None), arrays, "value")
        rest["fields"]["pieces"] = {"tuple": plain}
        for name, array in arrays.items():
            storage.write_array(file, name, array)
        storage.write_array(file, "meta", np.array(json.dumps({"zwang": storage.FORMAT, "value": rest})))


def _write_rows(file: zipfile.ZipFile, name: str, field: str, group: _Group, pieces: _Pieces) -> None:
    shape = (group.rows - (field == "dense"), *getattr(group.first, field).shape[1:])
    with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
        header = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(entry, header)
        for number, piece in enumerate(pieces.of(group), 1):
            part = getattr(piece, field)
            rows = part if field == "dense" or number == group.pieces else part[:-1]
            entry.write(np.ascontiguousarray(rows, dtype="<f8").tobytes())
