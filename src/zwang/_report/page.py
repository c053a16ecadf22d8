"""One HTML page: parts with ids that resolve, a style sheet inside, nothing to load."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from zwang._outputs import write_bytes
from zwang._plot.content_policy import content_policy
from zwang._plot.film.player import player_script
from zwang._report.look import STYLE


def page(title: str, body: str) -> str:
    """Return a whole page.

    Examples
    --------
    >>> text = page("A rod", "<main></main>")
    >>> text.startswith("<!DOCTYPE html>"), "<title>A rod</title>" in text
    (True, True)
    """
    policy = content_policy(player_script()) if "<script>" in body else content_policy()
    head = (
        f'<meta charset="utf-8">{policy}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


def write_page(path: Path, title: str, body: str) -> int:
    """Write a page and return its size in bytes."""
    data = page(title, body).encode("utf-8")
    write_bytes(path, data)
    return len(data)


def slug(text: str) -> str:
    """Return a text as an id.

    Examples
    --------
    >>> slug("Painlevé rod_2")
    'painlev-rod-2'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = (), classes: str = "") -> str:
    """Return a table of cells that are HTML already; columns in `numbers` are set to the right.

    Examples
    --------
    >>> table(["a"], [["1"]], numbers=[0]).count('class="n"')
    2
    """

    def cells(kind: str, items: Sequence[str]) -> str:
        marks = [' class="n"' if place in numbers else "" for place in range(len(items))]
        return "".join(f"<{kind}{mark}>{item}</{kind}>" for mark, item in zip(marks, items, strict=True))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    top = f"<thead><tr>{cells('th', [escape(item) for item in head])}</tr></thead>" if head else ""
    name = f' class="{classes}"' if classes else ""
    return f'<div class="wide"><table{name}>{top}<tbody>{body}</tbody></table></div>'


def number(value: float, digits: int = 6) -> str:
    """Return a number as HTML.

    Examples
    --------
    >>> number(51.3198048696), number(-1.5e-7), number(0.0)
    ('51.3198', '−1.5·10<sup>−7</sup>', '0')
    """
    text = f"{value:.{digits}g}"
    if text in {"nan", "inf", "-inf"}:
        return {"nan": "–", "inf": "∞", "-inf": "−∞"}[text]
    if float(text) == 0:
        return "0"
    mantissa, e, power = text.partition("e")
    shown = mantissa.replace("-", "−")
    return f"{shown}·10<sup>{int(power)}</sup>".replace("<sup>-", "<sup>−") if e else shown
