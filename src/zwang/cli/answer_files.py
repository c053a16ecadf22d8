"""The files that a command is asked for: checked before it computes, written after, each on its own."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from zwang._outputs import check_output, write_bytes
from zwang._plot.film.formats import check_film
from zwang._plot.style import matplotlib
from zwang._results.storage import check_path
from zwang.cli.exit_signals import exit_code
from zwang.cli.output import WRONG_USAGE, tell
from zwang.errors import ZwangError

PICTURES = (".png", ".svg", ".pdf")


class Files:
    """Paths that were given to a command; one that can't be written is a mistake before anything is computed.

    Parameters
    ----------
    out, table, picture, film, page : path or None
        For a result, a table of it, a picture, a film, and a page or anything else.
    """

    def __init__(
        self,
        *,
        out: Path | None = None,
        table: Path | None = None,
        picture: Path | None = None,
        film: Path | None = None,
        page: Path | None = None,
    ) -> None:
        self.failed, self._warned = False, False
        if out is not None:
            check_path(out)
        if table is not None:
            check_output(table, endings=(".csv",), written="tables are written as .csv")
        if picture is not None:
            check_output(picture, endings=PICTURES, written="pictures are written as .png, .svg or .pdf")
            matplotlib()
        if film is not None:
            check_film(film)
        if page is not None:
            check_output(page)

    def write(self, path: Path | None, make: Callable[[Path], Any]) -> None:
        """Write a file and say so; a mistake is told too, and does not keep the others from being written."""
        if path is None:
            return
        if exit_code() is not None and not self._warned:
            self._warned = True
            tell("Interrupted; what was computed is being written. Once more ends it without.", err=True)
        try:
            make(path)
        except ZwangError as error:
            self.failed = True
            tell(f"{type(error).__name__}: {error}", err=True)
        else:
            tell(f"wrote {path}", err=True)

    def end(self, code: int) -> None:
        """End the command: with the code of a signal that came, of a file that was not written, or the given one."""
        stopped = exit_code()
        if stopped is not None:
            tell("Interrupted; what was computed until then was kept.", err=True)
            sys.exit(stopped)
        if self.failed:
            sys.exit(WRONG_USAGE)
        if code:
            sys.exit(code)


def write_picture(figure: Any, path: Path) -> None:
    """Write a figure to a file whose ending says the format."""
    buffer = io.BytesIO()  # what writes pictures to a disk that is full doesn't always say so
    figure.savefig(buffer, format=path.suffix[1:])
    write_bytes(path, buffer.getbuffer())
