"""A script, run by `archives` in a process of its own: the arrays of a netCDF file, written as a ``.npz``.

It imports nothing of zwang. Its arguments: the file, the file to write, the bytes that all arrays and that the text may
take, and the seconds of computing that it may need.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

SPARE = 4 * 2**30
"""Bytes of address space beyond the arrays: Python, NumPy and HDF5 themselves."""


def main(path: str, target: str, room: int, text_room: int, seconds: int) -> None:
    """Write the text of the file, and the arrays that it names."""
    _limit(seconds, room)
    import h5py
    import numpy as np

    with h5py.File(path, "r") as whole:
        # Other programs read the root; files of the first version have everything there.
        own = isinstance(whole.get("zwang", getlink=True), h5py.HardLink) and isinstance(whole["zwang"], h5py.Group)
        file = whole["zwang"] if own else whole
        meta = file.attrs.get("meta")
        if not isinstance(meta, str) or 4 * len(meta) > text_room:
            sys.exit("it has no text that says what it is")
        arrays = {}
        for name in _names(json.loads(meta)):
            # A link may lead to another file, and so may the data of a set: neither is followed.
            stored = file[name] if isinstance(file.get(name, getlink=True), h5py.HardLink) else None
            if not isinstance(stored, h5py.Dataset) or stored.is_virtual or stored.external or stored.shape is None:
                sys.exit(f"it has no array '{name[:60]}' of its own")
            room -= stored.size * stored.dtype.itemsize
            if stored.dtype.kind not in "biufc" or room < 0:
                sys.exit(f"'{name[:60]}' holds no numbers, or more of them than fit into such a file")
            array = np.asarray(stored[()])
            arrays[name] = array.astype(bool) if stored.attrs.get("dtype") == "bool" else array
    np.savez(target, **{**arrays, "meta": np.array(meta)})  # type: ignore[arg-type]


def _names(plain: Any) -> Iterator[str]:
    """Yield the names of arrays in the text of a result."""
    found, stack = set(), [plain]
    while stack:
        item = stack.pop()
        if isinstance(item, dict) and isinstance(item.get("array"), str):
            found.add(item["array"])
        elif isinstance(item, (dict, list)):
            stack.extend(item.values() if isinstance(item, dict) else item)
    yield from sorted(found - {"meta", "file"})  # names that savez keeps for itself


def _limit(seconds: int, room: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows: there the caller's patience is the only bound
        return
    for what, amount in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, SPARE + 4 * room)):
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (amount if hard == resource.RLIM_INFINITY else min(amount, hard), hard))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *(int(number) for number in sys.argv[3:]))
