"""`load_result`: a result from its file, a motion from its draft, a study from its store."""

from __future__ import annotations

from pathlib import Path

from zwang._outputs import as_path
from zwang._results.base import Result
from zwang._results.decoding import load
from zwang._results.motion_stream import draft_to_read, recover
from zwang._results.study_store import is_store, read_store
from zwang.errors import DeclarationError


def load_result(path: str | Path) -> Result:
    """Read a result that was saved with `Result.save`.

    Parameters
    ----------
    path : path
        A ``.npz`` or ``.nc`` file. Nothing in it is executed; sizes are known and bounded before anything is read, and
        every field is held against the types and shapes that its class declares. A damaged file is a DeclarationError.
        Where there is none, but a draft ``<path>.part`` that ``simulate(out=path)`` was writing when it was killed, the
        draft is read: the motion up to its last whole block, with the status INTERRUPTED. The store of a sweep is read
        too, also while it grows.

    Examples
    --------
    >>> import tempfile, pathlib, zwang as zw
    >>> entry = zw.gallery.get("four_bar")
    >>> found = zw.compile(entry.system, backend="reference").evaluate(entry.state, entry.params)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = found.save(pathlib.Path(folder) / "four_bar.npz")
    ...     again = zw.load_result(path)
    >>> bool((again.accelerations == found.accelerations).all()), again.status == found.status
    (True, True)
    """
    path = as_path(path)
    if is_store(path):
        return read_store(path)
    draft = draft_to_read(Path(path))
    found = load(Path(path)) if draft is None else recover(draft)
    if not hasattr(found, "provenance"):  # a ReactionsMap has one, though its states have a status each
        raise DeclarationError(f"{path} holds a {type(found).__name__}, not a result of zwang.")
    return found
