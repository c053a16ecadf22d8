"""The exceptions of zwang: mistakes of the caller, never outcomes of the physics.

That no reaction exists is an answer and comes back as a result with a status. An exception says what was given, what
was needed, and the nearest cure.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ZwangError(Exception):
    """Base of every exception that zwang raises on purpose."""


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
