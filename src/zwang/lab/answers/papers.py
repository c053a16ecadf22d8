"""The ledger of the papers: every claim with its verdict, and one computed anew."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from typing import Any

import zwang as zw
from zwang._plot.style import INK
from zwang._report.figures import DARK, DARK_STYLE, themed

Answers = Iterator[tuple[dict[str, Any], list[Any]]]
MOST_PICTURE = 4_000_000
"""Characters of a figure; beyond it, it is in the report alone."""


def answer_claims(request: dict[str, Any]) -> Answers:
    """List the claims."""
    yield {"claims": [_told(item) for item in zw.papers.claims()]}, []


def _told(item: Any) -> dict[str, Any]:
    return {
        "id": item.id,
        "paper": item.paper,
        "place": item.place,
        "statement": item.statement,
        "printed": item.printed,
        "verdict": item.recorded.value,
        "systems": [name for name in item.systems if name in zw.gallery.names()],
    }


def answer_claim(request: dict[str, Any]) -> Answers:
    """Compute a claim."""
    known = {item.id: item for item in zw.papers.claims()}
    if request["id"] not in known:
        raise zw.DeclarationError(f"No claim has the id {request['id']!r:.60}. The list of claims has all of them.")
    record = known[request["id"]].run()
    finding = record.finding
    yield (
        _told(known[request["id"]])
        | {
            "computed": finding.computed or finding.reason,
            "verdict": record.verdict.value,
            "corrected": finding.corrected,
            "seconds": float(record.seconds),
            "comparisons": [
                {"what": item.what, "computed": str(item.computed), "expected": str(item.expected), "holds": item.holds}
                for item in finding.comparisons
            ],
            "figures": [told for told in map(_figure, record.pictures) if told],
        },
        [],
    )


def _figure(picture: Any) -> dict[str, str] | None:
    """Return a figure as the data of an image with its caption; None for a film, and where there is no matplotlib."""
    try:
        made = picture.make()
    except ImportError:
        return None
    if not hasattr(made, "savefig"):
        return None
    buffer = io.StringIO()
    made.savefig(buffer, format="svg", transparent=True, bbox_inches="tight" if picture.tight else None)
    # An image asks the reader's wish itself: the page's style doesn't reach into it.
    style = f"<style>@media (prefers-color-scheme:dark){{svg{{{DARK_STYLE}fill:{DARK[INK]}}}}}</style><metadata>"
    text = themed(buffer.getvalue()).replace("<metadata>", style, 1)
    data = base64.b64encode(text.encode("utf-8")).decode("ascii")
    return (
        {"caption": picture.caption, "data": f"data:image/svg+xml;base64,{data}"} if len(data) <= MOST_PICTURE else None
    )
