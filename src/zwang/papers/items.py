"""What each paper has, item by item and in order: theorems, formulas, examples, tables, figures, and their claims.

A claim names its place in the paper; items are found there, ranges such as '(2.16) to (2.18)' included. An item without
a claim has a reason here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from zwang.papers.claim import Claim
from zwang.papers.unclaimed import REASONS

__all__ = ["ITEMS", "Item", "items_of", "mentioned"]

FORMULA = re.compile(r"\((\d+(?:\.\d+)?)\)")
RANGE = re.compile(r"\((\d+(?:\.\d+)?)\)(?: to |, \.\.\., |-)\((\d+(?:\.\d+)?)\)")
WORDS = re.compile(
    r"(theorem|proposition|remark|corollary|example|table|figure|section|appendix)s? (\d+)", re.IGNORECASE
)
PAIRS = re.compile(r"(theorem|figure|example|section)s (\d+)(?: and |, | to )(\d+)", re.IGNORECASE)


def _formulas(chapter: str, last: int) -> list[str]:
    prefix = f"{chapter}." if chapter else ""
    return [f"({prefix}{k})" for k in range(1, last + 1)]


ITEMS: dict[str, tuple[str, ...]] = {
    "000": (
        "introduction", *_formulas("", 3), "proposition 1", *_formulas("", 8)[3:], "remark 1", "remark 2", "remark 3",
        *_formulas("", 9)[8:], "theorem 1", *_formulas("", 13)[9:], "corollary 1", *_formulas("", 14)[13:], "theorem 2",
        *_formulas("", 20)[14:], "theorem 3", "(21)", "corollary 2", "figure 1", "section 6",
    ),
    "001": (
        *_formulas("1", 10), "remark after (1.10)", "example 1", *_formulas("1", 12)[10:], "figure 1",
        *_formulas("2", 2), "theorem 10", *_formulas("2", 6)[2:], "example 2", "figure 2",
        *_formulas("2", 13)[6:], "remark after (2.13)",
        "example 3", *_formulas("2", 22)[13:],
        *_formulas("3", 5), "theorem 11", *_formulas("3", 8)[5:], "example 4", *_formulas("3", 13)[8:],
        *_formulas("4", 2), "proposition 1", *_formulas("4", 8)[2:], "theorem 12", "example 5",
        *_formulas("4", 11)[8:], "theorem 13",
        *_formulas("4", 15)[11:], "example 6", *_formulas("4", 17)[15:],
    ),
    "002": ("introduction", "figure 1", "figure 2", *_formulas("", 18), "figure 3", "section 7"),
    "003": (
        *_formulas("1", 2), "condition 1", "condition 2", "theorem", *_formulas("2", 2), "remark", "(2.3)", "example",
        *_formulas("3", 8), "last display",
    ),
    "004": (*_formulas("", 14), *(f"figure {k}" for k in range(1, 6)), "table 1"),
}  # fmt: skip
"""Items by paper, in the order of the text; what has no number in print goes by a word."""


@dataclass(frozen=True)
class Item:
    """One item of a paper: its name, the claims about it, or the reason why there is none."""

    paper: str
    name: str
    claims: tuple[str, ...]
    reason: str = ""


def mentioned(place: str) -> set[str]:
    """Return the items that the place of a claim names.

    Examples
    --------
    >>> sorted(mentioned("theorem 10, (2.3) to (2.5)"))
    ['(2.3)', '(2.4)', '(2.5)', 'theorem', 'theorem 10']
    """
    found = {f"({number})" for number in FORMULA.findall(place)}
    for first, last in RANGE.findall(place):
        head, _, low = first.rpartition(".")
        tail, _, high = last.rpartition(".")
        if head == tail:
            found |= {f"({head}.{k})" if head else f"({k})" for k in range(int(low), int(high) + 1)}
    found |= {f"{word.lower()} {number}" for word, number in WORDS.findall(place)}
    found |= {f"{word.lower()} {number}" for word, first, second in PAIRS.findall(place) for number in (first, second)}
    lower = place.lower()
    words = ["theorem", "remark", "example", "introduction", "condition 1", "condition 2", "last display"]
    words += ["remark after (1.10)", "remark after (2.13)"]
    return found | {word for word in words if word in lower}


def items_of(paper: str, claims: Iterable[Claim]) -> list[Item]:
    """Return the items of a paper with the ids of their claims, or with the reason why there is none."""
    by_item: dict[str, list[str]] = {}
    for claim in claims:
        for name in mentioned(claim.place) if claim.paper == paper else ():
            by_item.setdefault(name, []).append(claim.id)
    reasons: Mapping[str, str] = REASONS[paper]
    found = []
    for name in ITEMS[paper]:
        ids = tuple(by_item.get(name, ()))
        found.append(Item(paper, name, ids, "" if ids else reasons.get(name, "")))
    return found
