"""Figures inside a page: SVG with ids of its own, whose colours follow the theme of the page."""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

import numpy as np

from zwang import gallery
from zwang._plot.style import INK, PALE, QUIET, look, typeset

# What an id can be written in: where it is defined, and where it is used.
DEFINED = re.compile(r'\bid="([^"]+)"')
USED = re.compile(r'(xlink:href|href)="#([^"]+)"')
CLIPPED = re.compile(r"url\(#([^)]+)\)")

DARK = {
    **dict.fromkeys((INK, "#000000"), "#e6e9ec"),
    QUIET: "#a3adb7",
    PALE: "#2a3038",
    "#ffffff": "#171b1f",
    "#0072b2": "#2f86c9",
    "#7f6a00": "#b89b1c",
    "#5b4a9e": "#9f91e6",
    "#7b4a9c": "#b58ad6",
    "#0b4f7d": "#f4e9a6",
    "#bcd3c9": "#3d5c50",
    "#f5e9c8": "#4a4330",
    "#cfe3f1": "#1f3c52",
}
"""Colour on white paper -> colour on dark paper; the others are seen on both."""
DARK_STYLE = "".join(f"--on-{light[1:]}:{dark};" for light, dark in DARK.items())
"""Declarations that an element has where its paper is dark."""
_THEMED = re.compile(f": *({'|'.join(DARK)})")


def themed(markup: str) -> str:
    """Return the markup of a figure whose colours `DARK_STYLE` changes, where a page has it.

    Examples
    --------
    >>> themed('style="fill: #e6ebef; stroke: #d55e00"')
    'style="fill:var(--on-e6ebef,#e6ebef); stroke: #d55e00"'
    """
    return _THEMED.sub(lambda found: f":var(--on-{found[1][1:]},{found[1]})", markup)


def lettered(figure: Any) -> None:
    """Typeset the texts of a figure, take names of systems out of its titles, and legends off its curves.

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> figure, ax = new_figure((3, 2))
    >>> line, text = ax.plot([0, 1], [0, 1], label="eps = -1"), ax.set_xlabel("theta [rad]")
    >>> legend = ax.legend()
    >>> lettered(figure)
    >>> ax.get_xlabel(), legend.get_texts()[0].get_text()
    ('θ [rad]', 'ε = −1')
    """
    from matplotlib.text import Text

    known = gallery.names()
    for ax in figure.axes:
        for place in ("left", "center", "right"):
            name, colon, rest = ax.get_title(loc=place).partition(": ")
            if colon and name in known:
                ax.set_title(rest, loc=place)
    for text in figure.findobj(Text):
        text.set_text(typeset(text.get_text()))
    with look():
        for ax in figure.axes:
            _move_legend(figure, ax)


def _move_legend(figure: Any, ax: Any) -> None:
    """Put the legend of axes beneath them if it covers what is drawn there."""
    legend = ax.get_legend()
    if legend is None:
        return
    frame = legend.get_frame()
    frame.set(facecolor="white", edgecolor="none", alpha=0.85)
    legend.set_frame_on(True)
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    inside = ax.get_window_extent()
    if not (inside.x0 <= box.x0 and box.x1 <= inside.x1 + 1):
        return
    covered = [line for line in ax.get_lines() if _meets(line, box)]
    if covered:
        handles, labels = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
        legend.remove()
        for columns in range(min(len(labels), 3), 0, -1):
            made = figure.legend(handles, labels, loc="outside lower left", ncols=columns, frameon=False)
            figure.draw_without_rendering()
            room = made.get_window_extent()
            if columns == 1 or room.x1 <= figure.bbox.x1:
                width, height = figure.get_size_inches()
                figure.set_size_inches(width, height + room.height / figure.dpi)  # the axes keep their size
                break
            made.remove()


def _meets(line: Any, box: Any) -> bool:
    """Return whether a line passes through a box of the screen."""
    from matplotlib.path import Path

    points = line.get_transform().transform(line.get_xydata())
    points = points[np.isfinite(points).all(axis=1)]
    return len(points) > 0 and bool(Path(points).intersects_bbox(box, filled=False))


def svg(figure: Any, prefix: str, alt: str, *, tight: bool = False) -> str:
    """Return a figure as an element of HTML; ids begin with `prefix`, `alt` says in words what it shows.

    `tight` cuts away what is empty around it.

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> markup = svg(new_figure((2, 1))[0], "rod", "a rod")
    >>> markup.startswith('<svg role="img" aria-label="a rod"'), "<metadata" in markup, "xlink" in markup
    (True, False, False)
    """
    buffer = io.StringIO()
    lettered(figure)
    with look():
        box = "tight" if tight else None
        metadata = {"Date": None, "Creator": None}
        figure.savefig(buffer, format="svg", metadata=metadata, transparent=True, bbox_inches=box)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = DEFINED.sub(rf'id="{prefix}-\1"', text)
    text = USED.sub(rf'href="#{prefix}-\2"', text)
    text = CLIPPED.sub(rf"url(#{prefix}-\1)", text)
    head, body = text.split(">", 1)
    view = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)
    assert view, head
    width = float(view[1]) / 72 * 96  # points to CSS pixels
    body = themed(re.sub(r"\n\s*", "\n", body))
    style = f"width:{width:.0f}px;fill:var(--ink)"
    return f'<svg role="img" aria-label="{escape(alt)}" {view[0]} style="{style}">{body}'.strip()
