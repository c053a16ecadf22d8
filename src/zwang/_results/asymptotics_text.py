"""The table that a person sees of an `Asymptotics`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

SHOWN = 60  # rows of a table
HEAD = ("approach", "quantity", "friction", "motion", "exponent", "predicted", "coefficient", "solutions")


def as_text(result: Any) -> str:
    """Return the status, the point, and one line for each row."""
    where = ", ".join(f"{name} = {value:.6g}" for name, value in result.point.items())
    lines = [
        f"Asymptotics of '{result.name}': {result.status.name}. {result.status.value}",
        f"  {result.kind} at {where}; speed {result.speed:g} ({result.speed_of})",
    ]
    if result.perturbed is not None:
        told = result.perturbation or f"{result.perturbed} = eps"
        lines.append(f"  perturbed: {told}, at {result.section}; exponents in |eps|")
    elif result.rows:
        lines.append(f"  exponents in {result.section}")
    shown = [row for row in result.rows if row.consistent]
    lines += _table([HEAD, *(_cells(row) for row in shown[:SHOWN])])
    if len(shown) > SHOWN:
        lines.append(f"  ... and {len(shown) - SHOWN} more rows")
    if len(shown) < len(result.rows):
        lines.append(f"  {len(result.rows) - len(shown)} rows whose multipliers contradict the signs assumed: see rows")
    lines += [f"  threshold: {item!r} ({item.approach})" for item in result.thresholds]
    lines += [f"  {note}" for note in (*result.notes, result.reason) if note]
    if result.rows:
        lines.append(f"  largest error of an exponent {float(result.residual):.1e}")
    return "\n".join(lines)


def exponent_text(value: float) -> str:
    """Return an exponent as a fraction where it is one.

    Examples
    --------
    >>> exponent_text(-1.4999999999), exponent_text(float("inf")), exponent_text(0.123456)
    ('-3/2', 'zero', '0.123456')
    """
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "zero"
    near = Fraction(value).limit_denominator(24)
    return str(near) if abs(near - Fraction(value)) < Fraction(1, 10**6) else f"{value:.6g}"


def _cells(row: Any) -> tuple[str, ...]:
    motion = row.direction if row.direction != "both" else ""
    solutions = (
        ", ".join(f"{count} ({key})" for key, count in row.solutions.items()) if row.friction != "without" else ""
    )
    friction = row.friction if row.friction != "without" else ""
    measured = "-" if math.isnan(row.exponent) else "zero" if math.isinf(row.exponent) else f"{row.exponent:.6f}"
    return (
        row.approach + (f" #{row.branch}" if row.sign else ""),
        row.quantity,
        friction,
        " ".join(part for part in (motion, row.side) if part),
        measured,
        exponent_text(row.predicted),
        f"{row.coefficient:.6g}",
        solutions,
    )


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    if len(rows) == 1:
        return []
    kept = [k for k in range(len(rows[0])) if any(row[k] for row in rows[1:])]
    widths = [max(len(row[k]) for row in rows) for k in kept]
    return [
        "  " + "  ".join(row[k].ljust(width) for k, width in zip(kept, widths, strict=True)).rstrip() for row in rows
    ]
