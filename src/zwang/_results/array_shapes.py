"""Shapes of the arrays of one object, in words such as ``"k+1 n"``: the same letter is the same length everywhere.

A term is a number, a letter, or both with something added: ``3``, ``n``, ``2n``, ``k+1``; ``...`` at the end stands
for any axes. For a tuple the one term is its length, for a mapping the words hold for each of its values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

_TERM = re.compile(r"(\d*)([a-z]?)(?:\+(\d+))?\Z")


def mismatch(found: Any, shapes: Mapping[str, str]) -> str:
    """Return what doesn't fit in the fields of an object, in words; an empty text where all does.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> piece = SimpleNamespace(t=np.zeros(4), q=np.zeros((4, 2)), dense=np.zeros((3, 6, 5)))
    >>> mismatch(piece, {"t": "k+1", "q": "k+1 n", "dense": "k s 2n"})
    "'dense' has the shape (3, 6, 5) in the place of (k s 2n) with k = 3, n = 2, s = 6"
    """
    lengths: dict[str, int] = {}
    for name, words in shapes.items():
        value = getattr(found, name)
        for item in value.values() if isinstance(value, Mapping) else (value,):
            if item is None:
                continue
            shape = item.shape if isinstance(item, np.ndarray) else (len(item),)
            if not _unified(shape, words.split(), lengths):
                known = ", ".join(f"{letter} = {length}" for letter, length in sorted(lengths.items()))
                return f"'{name}' has the shape {shape} in the place of ({words}) with {known or 'nothing known'}"
    return ""


def _unified(shape: tuple[int, ...], terms: list[str], lengths: dict[str, int]) -> bool:
    if terms and terms[-1] == "...":
        terms = terms[:-1]
        shape = shape[: len(terms)]
    return len(shape) == len(terms) and all(
        _fits(length, term, lengths) for length, term in zip(shape, terms, strict=True)
    )


def _fits(length: int, term: str, lengths: dict[str, int]) -> bool:
    parts = _TERM.match(term)
    assert parts is not None, term
    times, letter, more = int(parts[1] or 1), parts[2], int(parts[3] or 0)
    if not letter:
        return length == int(parts[1])
    if letter not in lengths:
        if length < more or (length - more) % times:
            return False
        lengths[letter] = (length - more) // times
    return length == times * lengths[letter] + more
