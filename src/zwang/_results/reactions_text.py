"""How `Reactions` reads: a table for a person."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang._results.words import number, table, vector

MOST_ROWS = 24  # of a table of forces
MOST_REJECTED = 8  # rejected combinations that are printed; the object holds all
MOST_SOLUTIONS = 6  # solutions that are printed; the object holds all


def solution_lines(solution: Any, title: str) -> list[str]:
    """One piece: its acceleration, then a row per contact."""
    rows = []
    for j, name in enumerate(solution.names[:MOST_ROWS]):
        row = [f"{name} {solution.modes[j]}"]
        low, high = solution.ranges.normal[j]
        row.append(f"force {_value_or_range(solution.normal[j], low, high)}")
        pairs = solution.ranges.tangential[j]
        if np.any(pairs) or np.any(solution.tangential[j]):
            forces = np.ravel(solution.tangential[j])
            spans = np.reshape(pairs, (-1, 2))
            shown = [_value_or_range(f, a, b) for f, (a, b) in zip(forces, spans, strict=True)]
            row.append(f"friction {', '.join(shown)}")
        elif np.any(solution.tangential):
            row.append("")
        row.append(f"gap acceleration {number(solution.gap_acceleration[j])}")
        rows.append(row)
    head = f"  {title}: acceleration {vector(solution.acceleration)}"
    if not solution.acceleration_unique:
        head += " and others"
    if solution.dimension:
        parts = [f"{len(solution.vertices)} vertices"]
        parts += [f"{len(solution.rays)} rays"] if len(solution.rays) else []
        parts += [f"{len(solution.lines)} lines"] if len(solution.lines) else []
        head += f", dimension {solution.dimension} ({', '.join(parts)})"
    more = len(solution.names) - MOST_ROWS
    return [head, *table(rows, "    "), *([f"    ... and {more} more contacts"] if more > 0 else [])]


def _value_or_range(value: float, low: float, high: float) -> str:
    if np.isfinite(low) and np.isfinite(high) and high - low <= 1e-9 * max(1.0, abs(low), abs(high)):
        return number(float(value))
    return f"{number(float(low))} to {number(float(high))}"


def rejection_lines(rejected: Any) -> list[str]:
    """The modes that were rejected, each with what its equations give where they give one answer."""
    rows = []
    for r in range(min(len(rejected), MOST_REJECTED)):
        key, why = rejected.key(r), rejected.at(r)
        said = f"rejected: {why.reason}"
        if len(key) == 1:
            row = [f"{rejected.names[0]} {key[0]}"]
            row += [f"force {number(rejected.normal[r, 0])}"] if np.isfinite(rejected.normal[r, 0]) else []
            row += [f"gap acceleration {number(rejected.gap[r, 0])}"] if np.isfinite(rejected.gap[r, 0]) else []
            if why.reason not in {"penetrates", "pulls"}:
                said += f" ({number(why.value)})"
            rows.append([*row, said])
        else:
            rows.append([", ".join(key), f"{said} ({why.contact}: {number(why.value)})"])
    lines = table(rows, "  ") if rows else []
    if rejected.total > MOST_REJECTED:
        lines.append(f"  ... and {rejected.total - min(len(rejected), MOST_REJECTED)} more rejections")
    return lines


def reactions_text(result: Any) -> str:
    """The whole result."""
    lines = [f"Reactions of '{result.name}': {result.status.name}. {result.status.value}"]
    count = len(result.solutions)
    for i, solution in enumerate(result.solutions[:MOST_SOLUTIONS]):
        title = "solution" if count == 1 else f"solution {i + 1} of {count}"
        lines += solution_lines(solution, title)
    if count > MOST_SOLUTIONS:
        lines.append(f"  ... and {count - MOST_SOLUTIONS} more")
    if result.accelerations_continuum:
        lines.append("  the accelerations form a continuum")
    lines += rejection_lines(result.rejected) if len(result.contacts) == 1 or not count else []
    lines += [f"  {sentence}" for sentence in (result.redundancy.sentences if result.redundancy else ())]
    lines += [f"  marginal: {text}" for text in result.marginal[:4]]
    if result.certificate is not None:
        lines.append(f"  certificate ({result.certificate.scope}): {result.certificate.sentence}")
    if result.note:
        lines.append(f"  note: {result.note}")
    if count:
        lines.append(f"  residual {float(np.max(result.residual)):.1e}{'' if result.complete else ', not complete'}")
    return "\n".join(lines)
