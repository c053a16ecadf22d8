"""The store of a sweep: a SQLite file in which finished blocks are safe, whatever happens to the processes.

One process writes, in groups, each of them on the disk before the next begins; any number may read meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import math
import sqlite3
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from zwang._outputs import check_output
from zwang._results.base import Provenance
from zwang._results.study import Failure, Study, StudyStatus
from zwang._results.study_columns import Columns, from_bytes, to_bytes
from zwang.errors import DeclarationError, printable

MAGIC = b"SQLite format 3\x00"
FORMAT = 1  # of the store; raised when an older one can't be read any more
GROUP_SECONDS = 0.5
"""At most so much of what is finished is lost with the machine's power; a commit takes milliseconds."""
REMOTE = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "lustre", "gpfs", "beegfs", "afs", "ceph", "fuse.sshfs"}
"""File systems on which a write-ahead log is not safe: its index is memory that processes share."""
SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE blocks (first INTEGER PRIMARY KEY, count INTEGER NOT NULL, residual REAL, data BLOB NOT NULL);
CREATE TABLE failures (point INTEGER PRIMARY KEY, message TEXT NOT NULL);
"""


def is_store(path: Path) -> bool:
    """Return whether a file is a SQLite file."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC
    return False


class StoreWriter:
    """A store that is open for writing.

    Parameters
    ----------
    path : path
    about : mapping
        Plain data that says which sweep it is; a store of another one is refused, by what differs.
    """

    def __init__(self, path: str | Path, about: Mapping[str, Any]) -> None:
        self.path = check_output(path)
        _refuse_remote(self.path)
        if self.path.exists() and self.path.stat().st_size and not is_store(self.path):
            raise DeclarationError(f"{path}: is no store of a sweep. Choose another name.")
        try:
            self._open(about)
        except sqlite3.Error as error:
            raise DeclarationError(f"{path}: the store cannot be written: {error}. Choose another place.") from None
        self._waiting, self._lock, self._closed = False, threading.Lock(), threading.Event()
        # A block that is finished must not wait for the next one, which may take an hour.
        self._thread = threading.Thread(target=self._commit_in_time, daemon=True)
        self._thread.start()

    def _commit_in_time(self) -> None:
        while not self._closed.wait(GROUP_SECONDS):
            self.commit()

    def _open(self, about: Mapping[str, Any]) -> None:
        self._db = sqlite3.connect(self.path, isolation_level=None, timeout=5.0, check_same_thread=False)
        mode = self._db.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if mode != "wal":
            raise DeclarationError(
                f"{self.path}: this file system can't keep a write-ahead log (it offers '{mode}'). Put the store on a "
                "local disk."
            )
        self._db.execute("PRAGMA synchronous=FULL")
        if not self._db.execute("SELECT name FROM sqlite_master WHERE name = 'about'").fetchone():
            self._db.executescript(SCHEMA)
            written = {"format": FORMAT, **about}
            self._db.executemany("INSERT INTO about VALUES (?, ?)", [(k, json.dumps(v)) for k, v in written.items()])
        _same(self.path, _about(self._db), about)
        self._db.execute("BEGIN IMMEDIATE")

    def blocks(self) -> Iterator[tuple[int, int, float | None, bytes]]:
        """Yield the blocks that are finished: first point, how many, the largest residual, bytes."""
        yield from self._db.execute("SELECT first, count, residual, data FROM blocks ORDER BY first")

    def failures(self) -> dict[int, str]:
        """Return the points that failed, with their messages."""
        return dict(self._db.execute("SELECT point, message FROM failures"))

    def write(
        self, first: int, count: int, residual: float | None, columns: Mapping[str, Any], failed: Mapping[int, str]
    ) -> None:
        """Take a finished block; `failed` maps points to messages."""
        row = (first, count, residual, to_bytes(columns))
        with self._lock:
            self._db.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?)", row)
            if failed:
                self._db.executemany("INSERT OR REPLACE INTO failures VALUES (?, ?)", list(failed.items()))
            self._waiting = True

    def commit(self) -> None:
        """Put what was taken on the disk; until the next commit no other process may write."""
        with self._lock:
            if self._waiting:
                self._db.execute("COMMIT")
                self._db.execute("BEGIN IMMEDIATE")
                self._waiting = False

    def close(self) -> None:
        """Put the rest on the disk and close the file."""
        self._closed.set()
        self._thread.join()
        self.commit()
        self._db.execute("COMMIT")
        self._db.close()


def read_store(path: str | Path) -> Study:
    """Return the study that a store holds so far, also while a sweep is writing it."""
    try:
        with contextlib.closing(_reading(Path(path))) as db:
            about = _about(db)
            blocks = list(db.execute("SELECT first, count, residual, data FROM blocks ORDER BY first"))
            failures = dict(db.execute("SELECT point, message FROM failures"))
    except sqlite3.Error as error:
        raise DeclarationError(f"{path}: can't be read as the store of a sweep: {error}.") from None
    try:
        axes = {name: np.array(values, dtype=float) for name, values in about["coords"].items()}
        shape = tuple(int(size) for size in about["shape"])
        total = int(np.prod(shape, dtype=int))
        columns, residual = Columns(total), math.nan
        for first, count, worst, data in blocks:
            if not 0 <= first <= first + count <= total:
                raise DeclarationError("A block of the store is damaged.")
            missing = tuple(point - first for point in failures if first <= point < first + count)
            columns.put(first, count, from_bytes(data), missing)
            residual = float(np.fmax(residual, math.nan if worst is None else worst))
        provenance = Provenance(about["digest"], about["versions"], {}, about["seed"], about["backend"])
        return study_of(
            about, axes, columns, failures, residual, provenance, "The store was read before its sweep ended."
        )
    except (KeyError, TypeError, ValueError, DeclarationError) as error:
        reason = error if isinstance(error, DeclarationError) else "It lacks what says which sweep it is."
        raise DeclarationError(f"{path}: can't be read as the store of a sweep: {reason}") from None


def study_of(
    about: Mapping[str, Any],
    coords: Mapping[str, Any],
    columns: Columns,
    failures: Mapping[int, str],
    residual: float,
    provenance: Provenance,
    reason: str,
) -> Study:
    """Return the study of columns that are filled so far."""
    shape = tuple(about["shape"])
    tried = columns.done.copy()
    tried[list(failures)] = True
    complete = bool(tried.all())
    status = StudyStatus.INTERRUPTED if not complete else StudyStatus.FAILURES if failures else StudyStatus.COMPLETE
    listed = []
    for point, message in sorted(failures.items()):
        place = tuple(int(i) for i in np.unravel_index(point, shape)) if shape else ()
        where = dict(zip(about["dims"], place, strict=True))
        values = {name: float(coords[name][where[about["along"][name]]]) for name in coords}
        listed.append(Failure(place, values, message))
    return Study(
        status=status,
        residual=residual,
        provenance=provenance,
        name=about["name"],
        verb=about["verb"],
        dims=tuple(about["dims"]),
        coords=dict(coords),
        along=dict(about["along"]),
        values=columns.arrays(shape),
        done=columns.done.reshape(shape),
        failures=tuple(listed),
        units=dict(about.get("units", {})),
        reason="" if complete else reason,
    )


def _reading(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5.0)


def _about(db: sqlite3.Connection) -> dict[str, Any]:
    return {key: json.loads(value) for key, value in db.execute("SELECT key, value FROM about")}


def _same(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuse the store of another sweep, and name what differs."""
    words = {
        "system": "another system",
        "verb": "another verb",
        "state": "another state",
        "params": "other parameters",
        "options": "other options",
        "keep": "other things to keep",
        "coords": "other values along the axes",
        "shape": "axes of other lengths",
        "versions": "another version of zwang or of what it computes with",
    }
    for key, value in json.loads(json.dumps(dict(wanted))).items():
        if found.get(key) != value:
            what = words.get(key, f"another '{key}'")
            raise DeclarationError(
                f"{printable(str(path))}: the store belongs to a sweep with {what}. Take another store, or ask the "
                "same question again."
            )


def _refuse_remote(path: Path) -> None:
    """A write-ahead log on a network file system loses data in silence; say so before."""
    if sys.platform != "linux":
        return
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    folder = path.resolve().parent
    best, kind = -1, ""
    for line in mounts:
        fields = line.split()
        if len(fields) < 3:
            continue
        place = Path(fields[1].replace("\\040", " "))
        if (place == folder or place in folder.parents) and len(place.parts) > best:
            best, kind = len(place.parts), fields[2]
    if kind in REMOTE:
        raise DeclarationError(
            f"{path}: lies on a network file system ({kind}), where a store is not safe. Put it on a local disk, such "
            "as a folder below /tmp, and copy it when the sweep has ended."
        )
