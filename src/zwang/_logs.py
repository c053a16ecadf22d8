"""The logger `zwang`: silent unless asked, by the environment (``ZWANG_LOG=info``), a program, or ``zwang --verbose``.

>>> import logging
>>> log = logging.getLogger("zwang.simulate")  # each room has its own below it
"""

from __future__ import annotations

import logging
import os
import sys

from zwang.errors import DeclarationError, nearest

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
VARIABLE = "ZWANG_LOG"


class _ToStderr(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what is stderr at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        self.stream = sys.stderr
        super().emit(record)


def show_log(level: str) -> None:
    """Write what the package logs from a level on ('debug', 'info', 'warning', 'error') to stderr."""
    if level.lower() not in LEVELS:
        raise DeclarationError(f"{VARIABLE}: there is no level '{level}'. {nearest(level.lower(), list(LEVELS))}")
    logger = logging.getLogger("zwang")
    logger.setLevel(LEVELS[level.lower()])
    if not any(isinstance(item, _ToStderr) for item in logger.handlers):
        handler = _ToStderr()
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s: %(message)s", "%H:%M:%S"))
        logger.addHandler(handler)


def show_log_as_asked() -> None:
    """Follow the environment variable ``ZWANG_LOG``, if it is set."""
    asked = os.environ.get(VARIABLE, "")
    if asked:
        try:
            show_log(asked)
        except DeclarationError as error:  # it must not keep a program from starting
            show_log("warning")
            logging.getLogger("zwang").warning("%s", error)
