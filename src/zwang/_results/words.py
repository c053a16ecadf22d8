"""Words of results: numbers as a person reads them, nouns with their number, columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np


def counted(count: int, thing: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "arc"), counted(2, "arc")
    ('1 arc', '2 arcs')
    """
    return f"{count} {thing}{'' if count == 1 else 's'}"


def number(value: float) -> str:
    """A number with as many digits as a person reads."""
    if not np.isfinite(value):
        return str(value)
    if value == 0 or abs(value) < 5e-12:
        return "0"
    text = f"{value:.6g}"
    return text if "e" not in text else f"{value:.4g}"


def vector(values: Any) -> str:
    """Numbers in brackets, the middle left out if there are many."""
    numbers = [number(float(value)) for value in np.ravel(values)]
    if len(numbers) > 9:
        numbers = [*numbers[:5], "...", *numbers[-2:]]
    return f"({', '.join(numbers)})"


def table(rows: list[list[str]], indent: str) -> list[str]:
    """Left-justify the columns."""
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows), default=0))]
    return [
        (indent + "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))).rstrip()
        for row in rows
    ]
