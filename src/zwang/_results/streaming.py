"""Long motions go to their file while they are computed, so that memory holds the last stretch of them only."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from zwang._results import storage
from zwang._results.motion import Motion
from zwang._results.motion_parts import MotionPiece
from zwang.errors import DeclarationError


class MotionStream:
    """A file that takes the pieces of a motion one after the other; `load_result` reads it as a Motion.

    Parameters
    ----------
    path : path
        Ends in ``.npz``.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.suffix != ".npz":
            raise DeclarationError(f"out= needs a path that ends in .npz; it was given '{path}'.")
        self._file = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._plain: list[Any] = []
        self.starts: list[tuple[float, Any, Any]] = []  # time, positions, velocities where each piece written starts

    def add(self, piece: MotionPiece) -> None:
        """Write a piece."""
        self.starts.append((float(piece.t[0]), piece.q[0].copy(), piece.v[0].copy()))
        arrays: dict[str, Any] = {}
        self._plain.append(storage._encode(piece, arrays, f"value.pieces.{len(self._plain)}"))
        for name, array in arrays.items():
            self._write(name, array)

    def close(self, motion: Motion, energies: Any = ()) -> Motion:
        """Write the rest and close the file; return the motion, which keeps its last pieces.

        `energies` are values of T + V along the way, for the note in its reason.
        """
        written = len(self._plain)
        for piece in motion.pieces:
            self.add(piece)
        arrays: dict[str, Any] = {}
        plain = storage._encode(replace(motion, pieces=(), residual=None), arrays, "value")
        plain["fields"]["pieces"] = {"tuple": self._plain}
        for name, array in arrays.items():
            self._write(name, array)
        self._write("meta", np.array(json.dumps({"zwang": storage.FORMAT, "value": plain})))
        self._file.close()
        if not written:
            return motion
        note = f"What was before t = {float(motion.pieces[0].t[0]):.6g} is in {self.path.name} only."
        if len(energies):
            note += f" T + V was between {min(energies):.15g} and {max(energies):.15g} at {len(energies)} instants."
        return replace(motion, residual=None, reason=f"{motion.reason} {note}".strip())

    def _write(self, name: str, array: Any) -> None:
        with self._file.open(f"{name}.npy", "w", force_zip64=True) as entry:
            np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
