"""The claims of five papers, each with a function that asks the general verbs whether it is true.

``claims()`` lists them; ``claim.run()`` computes one on the gallery's systems, ``claim.run(systems={name: system})`` on
others; the command ``zwang reproduce`` computes all and writes a report.

>>> import zwang as zw
>>> record = zw.papers.get("001-ex2-second-data").run()
>>> record.verdict.value
'corrected'
"""

from __future__ import annotations

import importlib
from functools import cache

from zwang.errors import DeclarationError, nearest
from zwang.papers.chapter import Chapter, Section
from zwang.papers.claim import PAPERS, Claim, Record, claim
from zwang.papers.findings import (
    Comparison,
    Finding,
    Picture,
    Verdict,
    as_added,
    as_corrected,
    as_printed,
    flipped,
    sound,
)
from zwang.papers.items import Item, items_of
from zwang.papers.ledger import counted, ledger, plain, tally
from zwang.papers.misprints import MISPRINTS
from zwang.papers.workshop import Workshop

__all__ = [
    "MISPRINTS",
    "Chapter",
    "Claim",
    "Comparison",
    "Finding",
    "Item",
    "Picture",
    "Record",
    "Section",
    "Verdict",
    "Workshop",
    "as_added",
    "as_corrected",
    "as_printed",
    "chapters",
    "claim",
    "claims",
    "counted",
    "flipped",
    "get",
    "items_of",
    "ledger",
    "plain",
    "section_claims",
    "sound",
    "tally",
]

# In the order in which the report tells them. A folder has CHAPTER in its __init__.
_FOLDERS = ("paper_001", "paper_002", "paper_000", "paper_003", "paper_004", "joint")


@cache
def chapters() -> tuple[Chapter, ...]:
    """Return the chapters in the order of the report."""
    return tuple(importlib.import_module(f"zwang.papers.{folder}").CHAPTER for folder in _FOLDERS)


@cache
def section_claims(section: Section) -> tuple[Claim, ...]:
    """Return the claims of a section, in the order in which its module declares them."""
    module = importlib.import_module(f"zwang.papers.{section.module}")
    return tuple(item for item in vars(module).values() if isinstance(item, Claim))


@cache
def _all() -> dict[str, Claim]:
    found: dict[str, Claim] = {}
    for chapter in chapters():
        for section in chapter.sections:
            for item in section_claims(section):
                if item.id in found:
                    raise DeclarationError(f"Two claims have the id '{item.id}'.")
                found[item.id] = item
    return found


def claims(paper: str | None = None) -> tuple[Claim, ...]:
    """Return the claims of all papers, or of one.

    Parameters
    ----------
    paper : {'000', '001', '002', '003', '004'}, optional

    Examples
    --------
    >>> import zwang as zw
    >>> zw.papers.claims("001")[0].id
    '001-gauss-principle'
    """
    if paper is not None and paper not in PAPERS:
        raise DeclarationError(f"There is no paper '{paper}': they are {', '.join(PAPERS)}.")
    return tuple(item for item in _all().values() if paper is None or item.paper == paper)


def get(id: str) -> Claim:
    """Return the claim of an id.

    Examples
    --------
    >>> import zwang as zw
    >>> zw.papers.get("001-ex1-taut").place
    'example 1, (1.11) and (1.12)'
    >>> zw.papers.get("001-ex1-tort")
    Traceback (most recent call last):
        ...
    zwang.errors.DeclarationError: There is no claim '001-ex1-tort'. Did you mean '001-ex1-taut'?
    """
    if id not in _all():
        raise DeclarationError(f"There is no claim '{id}'. {nearest(id, tuple(_all()))}")
    return _all()[id]
