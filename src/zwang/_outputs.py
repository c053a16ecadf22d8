"""Files that zwang writes: checked before anything is computed, written beside, renamed when they are whole.

Whatever happens meanwhile (a full disk, Ctrl-C, a mistake), the file that was there before stays as it was, and no
draft stays behind. All that the package writes for a user goes through `replacing`.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

from zwang.errors import DeclarationError

LOG = logging.getLogger("zwang.files")
LONGEST_ENDING = 8
"""Of a draft's name: what writes a draft tells the format by its ending, and longer ones are no formats."""
FULL = {errno.ENOSPC, errno.EFBIG, *(getattr(errno, name) for name in ("EDQUOT",) if hasattr(errno, name))}


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return a path that a user gave; a DeclarationError where it is none.

    Examples
    --------
    >>> as_path(5)
    Traceback (most recent call last):
    zwang.errors.DeclarationError: A path is a text or a pathlib.Path; it was given 5.
    """
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
        raise DeclarationError(f"A path is a text or a pathlib.Path; it was given {path!r:.60}.")
    return Path(path)


def check_output(path: str | Path, *, endings: Sequence[str] = (), written: str = "") -> Path:
    """Return a path to which a file can be written, as far as can be told before; else a DeclarationError.

    Parameters
    ----------
    path : path
        Where the file is to go.
    endings : sequence of str
        Those that say a format; none: any.
    written : str
        How such files are written, for the message about an ending: 'pictures are written as .png'.

    Examples
    --------
    >>> check_output("rod.gif", endings=(".png",), written="pictures are written as .png")
    Traceback (most recent call last):
    zwang.errors.DeclarationError: 'rod.gif': pictures are written as .png.
    """
    given = as_path(path)
    if endings and given.suffix not in endings:
        raise DeclarationError(f"'{path}': {written}.")
    target = _target(given)
    try:
        if target.is_dir():
            raise DeclarationError(f"{path}: cannot be written: it is a folder. Give the path of a file in it.")
        if not target.parent.is_dir():
            raise DeclarationError(
                f"{path}: cannot be written: there is no folder '{given.parent}'. Make it, or choose another."
            )
        if target.exists() and not os.access(target, os.W_OK):
            raise DeclarationError(f"{path}: cannot be written: it is write-protected. Choose another name.")
        if _is_plain(target) and not os.access(target.parent, os.W_OK | os.X_OK):
            raise DeclarationError(
                f"{path}: cannot be written: the folder '{given.parent}' is write-protected. Choose a folder you may "
                "write."
            )
    except OSError as error:
        raise not_written(path, error) from None
    return given


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give the path of a draft; when the block ends well, the draft takes the place of the file at once.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "answer.txt"
    ...     with replacing(file) as draft:
    ...         _ = draft.write_text("42")
    ...     file.read_text(), len(os.listdir(folder))
    ('42', 1)
    """
    check_output(path)
    target = _target(Path(path))
    plain = _is_plain(target)
    ending = target.suffix if len(target.suffix) <= LONGEST_ENDING else ""
    folder = target.parent if plain else Path(tempfile.gettempdir())
    draft = folder / f".zwang-{uuid.uuid4().hex[:16]}{ending}"
    try:
        yield draft
        _settle(draft)
        if plain:
            if target.exists():
                shutil.copymode(target, draft)
            draft.replace(target)
            _settle_folder(folder)
        else:  # a pipe or a device: it can't be replaced, and must not
            with draft.open("rb") as whole, target.open("wb") as device:
                shutil.copyfileobj(whole, device)
        LOG.info("wrote %s", path)
    except OSError as error:
        raise not_written(path, error) from None
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def write_text(path: str | Path, text: str) -> Path:
    """Write a text in UTF-8, whole or not at all."""
    return write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, data: bytes | memoryview) -> Path:
    """Write bytes, whole or not at all."""
    with replacing(path) as draft:
        draft.write_bytes(data)
    return Path(path)


def not_written(
    path: str | Path, error: OSError, *, kept: str = "What was there before is as it was."
) -> DeclarationError:
    """Return the exception that says why a file could not be written, the cure, and what is left."""
    reason = error.strerror or str(error)
    if error.errno in FULL:
        cure = "Free some space, or choose another place."
    elif error.errno == errno.ENAMETOOLONG:
        cure = "Choose a shorter name."
    else:
        cure = "Choose a folder you may write."
    return DeclarationError(f"{path}: cannot be written: {reason}. {cure} {kept}".rstrip())


def _target(path: Path) -> Path:
    """Return the file that a path means: links stay links, what they point to is replaced."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links; a null byte
        reason = getattr(error, "strerror", None) or error
        raise DeclarationError(f"{str(path)!r}: cannot be written: {reason}. Choose another path.") from None


def _is_plain(target: Path) -> bool:
    return target.is_file() or not target.exists()


def _settle(draft: Path) -> None:
    """Wait until a draft is on the disk: some systems say only then that it is full."""
    with draft.open("rb+") as file:
        os.fsync(file.fileno())


def _settle_folder(folder: Path) -> None:
    """The same for the new name, where a folder can be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
