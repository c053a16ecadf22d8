"""Forces at contacts: a dot for each force of each solution, a segment where it may be anything between two values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._plot.style import INK, PALE, QUIET, SERIES, axes, look, number, put_key_beside, title, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CONTACTS = 16  # beyond it bars are hairlines
MOST_SOLUTIONS = 6  # beyond it a picture has too many colours
SAME = 1e-9  # relative: a band of no width is a line


def draw_forces(result: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the normal and tangential forces of every solution, one row for each force of each contact.

    Parameters
    ----------
    result : Reactions
        Anything with `solutions`, each with `names`, `modes`, `normal`, `tangential` and `ranges`.
    ax : Axes, optional

    Examples
    --------
    >>> import zwang as zw
    >>> from zwang._plot import new_figure
    >>> rod = zw.gallery.get("painleve_rod")
    >>> ax = zw.reactions(rod.system, rod.state, rod.params).plot(kind="forces", ax=new_figure()[1])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['tip  N', 'tip  T']
    """
    solutions = list(result.solutions)[:MOST_SOLUTIONS]
    rows = _rows(solutions)
    with look():
        ax = axes(ax, size=(6.4, 1.4 + 0.36 * max(len(rows), 2)))
        title(ax, f"{result.name}, reactions: {result.status.value}")
        if not rows:
            said = "no solution" if not solutions else "no contact acts"
            ax.text(0.5, 0.5, said, transform=ax.transAxes, ha="center", va="center", color=QUIET)
            ax.set_axis_off()
            return ax
        limits = _limits(solutions, rows)
        spread = 0.62 / max(len(solutions), 1)
        for s, solution in enumerate(solutions):
            offset = (s - (len(solutions) - 1) / 2) * spread
            _draw_solution(ax, solution, rows, offset, SERIES[s % len(SERIES)], limits)
        _dress(ax, rows, limits, solutions)
        if len(solutions) > 1 or len(result.solutions) > 1:
            _legend(ax, solutions, len(result.solutions))
    return ax


def _rows(solutions: list[Any]) -> list[tuple[int, int, str]]:
    """Return (contact, component or -1 for the normal, label) of every row, top first."""
    if not solutions:
        return []
    first = solutions[0]
    rows = []
    for j, name in enumerate(first.names[:MOST_CONTACTS]):
        rows.append((j, -1, f"{words(name)}  N"))
        parts = np.ravel(first.tangential[j]).size
        for part in range(parts):
            if any(np.any(_span(solution, j, part)) for solution in solutions):
                rows.append((j, part, f"{words(name)}  T{part + 1 if parts > 1 else ''}"))
    return rows


def _span(solution: Any, contact: int, part: int) -> tuple[float, float]:
    ranges = (
        solution.ranges.normal[contact] if part < 0 else np.reshape(solution.ranges.tangential[contact], (-1, 2))[part]
    )
    return float(ranges[0]), float(ranges[1])


def _finite(solutions: list[Any], rows: list[tuple[int, int, str]]) -> Iterator[float]:
    for solution in solutions:
        for contact, part, _ in rows:
            value = solution.normal[contact] if part < 0 else np.ravel(solution.tangential[contact])[part]
            yield from (item for item in (float(value), *_span(solution, contact, part)) if np.isfinite(item))


def _limits(solutions: list[Any], rows: list[tuple[int, int, str]]) -> tuple[float, float]:
    values = [0.0, *_finite(solutions, rows)]
    low, high = min(values), max(values)
    # For the numbers beside the marks; a legend beside the axes leaves them less.
    room = (0.2 if len(solutions) == 1 else 0.28) * (high - low) or 1.0
    return low - (room if low < 0 else 0.3 * room), high + (room if high > 0 else 0.3 * room)


def _draw_solution(
    ax: Axes, solution: Any, rows: list[tuple[int, int, str]], offset: float, colour: str, limits: tuple[float, float]
) -> None:
    for place, (contact, part, _) in enumerate(rows):
        low, high = _span(solution, contact, part)
        at = place + offset
        if np.isfinite([low, high]).all() and high - low <= SAME * max(1.0, abs(low), abs(high)):
            ax.plot([0, low], [at, at], color=colour, linewidth=1.6, alpha=0.55, solid_capstyle="butt")
            ax.plot(low, at, "o", color=colour, markersize=6.5)
            _write(ax, low, at, right=low >= 0)
            continue
        ends = np.clip([low, high], *limits)
        ax.plot(ends, [at, at], color=colour, linewidth=5, alpha=0.75, solid_capstyle="butt")
        for end, bound, side in ((ends[0], low, "<"), (ends[1], high, ">")):
            mark = "|" if np.isfinite(bound) else side
            ax.plot(end, at, mark, color=colour, markersize=10 if mark == "|" else 8, markeredgewidth=1.6)
            if np.isfinite(bound):
                _write(ax, end, at, right=side == ">")


def _write(ax: Axes, value: float, at: float, *, right: bool) -> None:
    """Write a value beside its mark."""
    ax.annotate(
        number(value),
        (value, at),
        xytext=(7 if right else -7, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="center",
        fontsize=9,
        color=INK,
    )


def _dress(ax: Axes, rows: list[tuple[int, int, str]], limits: tuple[float, float], solutions: list[Any]) -> None:
    ax.axvline(0, color=QUIET, linewidth=0.9, zorder=0)
    contacts = [contact for contact, _, _ in rows]
    for contact in sorted(set(contacts))[1::2]:  # a pale band behind every other contact keeps its rows together
        first = contacts.index(contact)
        ax.axhspan(first - 0.5, first + contacts.count(contact) - 0.5, color=PALE, alpha=0.5, zorder=-1, linewidth=0)
    ax.set_yticks(range(len(rows)), [label for _, _, label in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(*limits)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    more = len(solutions[0].names) - MOST_CONTACTS
    ax.set_xlabel(
        "force [N]" + (f"   (the first {MOST_CONTACTS} contacts of {len(solutions[0].names)})" if more > 0 else "")
    )


def _legend(ax: Axes, solutions: list[Any], total: int) -> None:
    from matplotlib.lines import Line2D

    marks = {}
    for s, solution in enumerate(solutions):
        modes = ", ".join(solution.modes[:4]) + (", ..." if len(solution.modes) > 4 else "")
        marks[f"{s + 1}: {modes}"] = Line2D([], [], color=SERIES[s % len(SERIES)], marker="o", linewidth=1.6)
    title = f"{total} solutions" if total == len(solutions) else f"the first {len(solutions)} of {total} solutions"
    put_key_beside(ax, marks, title=title, alignment="left")
