"""Figures inside a page: SVG with ids of its own, or PNG as data."""

from __future__ import annotations

import base64
import io
import re
from html import escape
from typing import Any

from zwang._plot.style import look

# What an id can be written in: where it is defined, and where it is used.
DEFINED = re.compile(r'\bid="([^"]+)"')
USED = re.compile(r'(xlink:href|href)="#([^"]+)"')
CLIPPED = re.compile(r"url\(#([^)]+)\)")


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
    body = re.sub(r"\n\s*", "\n", body)
    return f'<svg role="img" aria-label="{escape(alt)}" {view[0]} style="width:{width:.0f}px">{body}'.strip()


def png(figure: Any, alt: str, *, dpi: int = 144) -> str:
    """Return a figure as an element of HTML whose data is a PNG picture.

    Examples
    --------
    >>> from zwang._plot import new_figure
    >>> png(new_figure((2, 1))[0], "a rod")[:44]
    '<img alt="a rod" style="width:192px" src="da'
    """
    buffer = io.BytesIO()
    with look():
        figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    data = base64.b64encode(buffer.getvalue()).decode()
    width = figure.get_size_inches()[0] * 96
    return f'<img alt="{escape(alt)}" style="width:{width:.0f}px" src="data:image/png;base64,{data}">'
