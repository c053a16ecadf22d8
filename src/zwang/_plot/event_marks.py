"""Events on an axis of time: lines in a colour of their own, with names that don't overprint, or ticks with a key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from zwang._plot.style import EVENT, INK, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Mark = tuple[float, str]
MOST_NAMED = 12
"""Instants whose events are named; beyond it they are ticks."""
MOST_LINES = 400  # events that are marked, the first ones: more would fill the picture
SAME = 1e-9
"""Part of the axis within which events are simultaneous."""
LONGEST, TALLEST = 46, 26
"""Letters of one name, level and upright."""
TICKS = "|x+1234"
"""Marks of the kinds of events."""


def draw_events(ax: Axes, events: Sequence[Mark]) -> float:
    """Draw events as lines over the whole height; return the height of their names above the axes, in points.

    Simultaneous events share a line and a name, and so do names that would overprint.

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> ax = new_figure()[1]
    >>> ax.set_xlim(0, 2) and draw_events(ax, [(1.0, "impact a"), (1.0, "impact b"), (1.5, "stick a")]) > 0
    True
    >>> [text.get_text() for text in ax.texts]
    ['impact a, impact b', 'stick a']
    """
    groups = _together(sorted(events[:MOST_LINES]), SAME * _span(ax))
    for time, _ in groups:
        ax.axvline(time, color=EVENT, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0.5)
    if not groups:
        return 0.0
    if len(groups) > MOST_NAMED:
        return _ticks(ax, events)
    return _names(ax, groups)


def _span(ax: Axes) -> float:
    low, high = ax.get_xlim()
    return abs(high - low)


def _together(events: Sequence[Mark], near: float) -> list[tuple[float, list[str]]]:
    """Return the events that lie next to each other as groups: the time of the first, and what happens."""
    groups: list[tuple[float, list[str]]] = []
    last = float("-inf")
    for time, text in events:
        if time - last <= near:
            groups[-1][1].append(text)
        else:
            groups.append((time, [text]))
        last = time
    return groups


def _short(texts: Sequence[str], most: int) -> str:
    """Return what happens in one line of so many letters; events of one name are counted."""
    counted = [text if count == 1 else f"{count} × {text}" for text, count in Counter(texts).items()]
    line = ", ".join(counted)
    if len(line) <= most:
        return line
    return f"{line[: most - 1]}…" if len(texts) == 1 else f"{counted[0][: most - 14]} … {len(texts)} events"


def _names(ax: Axes, groups: list[tuple[float, list[str]]]) -> float:
    """Write names above the axes: level where they fit side by side, else upright."""
    level = _written(ax, groups, upright=False)
    if level is not None:
        return level
    letters = 13.0 / 72.0 * float(ax.figure.dpi) / float(ax.get_window_extent().width)  # of the axis, by a line
    near = letters * _span(ax)
    while True:
        joined: list[tuple[float, list[str]]] = []
        for time, texts in groups:
            if joined and time - joined[-1][0] < near:
                joined[-1][1].extend(texts)
            else:
                joined.append((time, list(texts)))
        found = _written(ax, joined, upright=True)
        if found is not None:
            return found
        near *= 1.5


def _written(ax: Axes, groups: list[tuple[float, list[str]]], *, upright: bool) -> float | None:
    """Write names; None, and nothing is there, where two of them would touch."""
    look: Any = {"rotation": 90 if upright else 0, "ha": "center", "va": "bottom", "fontsize": 8, "color": INK}
    across = ax.get_xaxis_transform()
    most = TALLEST if upright else LONGEST
    made = [ax.text(time, 1.012, words(_short(texts, most)), transform=across, **look) for time, texts in groups]
    boxes = [text.get_window_extent() for text in made]
    room = ax.get_window_extent()
    touch = any(b.x0 < a.x1 + 2 for a, b in pairwise(boxes))
    outside = not upright and any(box.x1 > room.x1 + 20 or box.x0 < room.x0 - 30 for box in boxes)
    if (touch or outside) and (len(made) > 1 or not upright):
        for text in made:
            text.remove()
        return None
    # Letters of few pixels are drawn wider than they are measured.
    return 2.0 + 1.15 * 72.0 / float(ax.figure.dpi) * max(float(box.height) for box in boxes)


def _ticks(ax: Axes, events: Sequence[Mark]) -> float:
    """Mark every event at the upper edge, one mark for each kind, which the legend names."""
    counted = Counter(text for _, text in events).most_common()
    shown = counted[: len(TICKS) - 1]
    for mark, (name, count) in zip(TICKS, shown, strict=False):
        times = [time for time, text in events if text == name]
        _tick(ax, times, mark, f"{count} × {name}")
    known = {name for name, _ in shown}
    rest = [time for time, text in events if text not in known]
    if rest:
        _tick(ax, rest, TICKS[-1], f"{len(rest)} other events")
    return 6.0


def _tick(ax: Axes, times: list[float], mark: str, label: str) -> None:
    look: Any = {"color": INK, "markersize": 6, "markeredgewidth": 0.9, "clip_on": False, "label": words(label)}
    ax.plot(times, [1.015] * len(times), mark, transform=ax.get_xaxis_transform(), **look)
