"""Findings with one expectation turned into its opposite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from zwang.papers import Finding, Verdict, flipped

DECIDING = {Verdict.CONFIRMED: "printed", Verdict.CORRECTED: "corrected", Verdict.ADDED: "added"}
"""The side on whose comparisons a verdict rests."""


def other_expectations(finding: Finding) -> Iterator[tuple[str, Finding]]:
    """Give the finding with the expectation of one deciding comparison flipped."""
    for place, item in enumerate(finding.comparisons):
        if item.side == DECIDING.get(finding.verdict):
            changed = list(finding.comparisons)
            changed[place] = flipped(item)
            yield item.what, replace(finding, comparisons=tuple(changed))
