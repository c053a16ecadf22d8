"""The exceptions of zwang: mistakes of the caller, never outcomes of the physics.

That no reaction exists is an answer and comes back as a result with a status. An exception says what was given, what
was needed, and the nearest cure.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Kinds of characters that are no text: controls, marks of direction, halves of pairs, breaks of lines."""


def printable(text: str) -> str:
    r"""Return a text whose characters all can be seen: what would steer a terminal is shown as an escape.

    Names and keys come from files that others wrote; printed as they are, they could clear a screen, colour it, or show
    something else than they say. Ends of lines and tabs stay.

    Examples
    --------
    >>> print(printable("a rod\x1b[31m"))
    a rod\x1b[31m
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in "\n\t" or not _unseen(char) else _escape(char) for char in text)


def _unseen(char: str) -> bool:
    return unicodedata.category(char) in UNSEEN


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


class ZwangError(Exception):
    """Base of every exception that zwang raises on purpose; its message can be printed anywhere."""

    def __str__(self) -> str:
        return printable(super().__str__())


class DeclarationError(ZwangError):
    """A system, a model file, or the values given for it, do not say what is needed."""


class CompileError(ZwangError):
    """A declared system cannot be turned into kernels of the backend asked for."""


class StateError(ZwangError):
    """A state does not satisfy the constraints of its system."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the ending of a message about an unknown `name`: the nearest known one, or all of them.

    Examples
    --------
    >>> nearest("elipse", ["ellipse", "rod"])
    "Did you mean 'ellipse'?"
    >>> nearest("z", ["rod"])
    "Known: 'rod'."
    """
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"Did you mean '{close[0]}'?"
    if not names:
        return "None is known."
    shown = ", ".join(f"'{item}'" for item in names[:12])
    return f"Known: {shown}{', ...' if len(names) > 12 else ''}."
