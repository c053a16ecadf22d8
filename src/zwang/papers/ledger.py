"""The ledger: every claim with its verdict, as data for files and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from zwang.papers.claim import Record
from zwang.papers.findings import Comparison, Verdict

__all__ = ["counted", "ledger", "plain", "row", "tally"]


def row(record: Record) -> dict[str, Any]:
    """Return one line of the ledger."""
    item = record.claim
    return {
        "id": item.id,
        "paper": item.paper,
        "place": item.place,
        "statement": plain(item.statement),
        "printed": plain(item.printed),
        "computed": plain(record.computed or record.remark),
        "verdict": record.verdict.value,
        "residual": record.residual if np.isfinite(record.residual) else None,
        "seconds": round(record.seconds, 4),
    }


def ledger(records: Iterable[Record]) -> dict[str, Any]:
    """Return the ledger: the claims, and by id what else is known about each.

    Examples
    --------
    >>> import zwang as zw
    >>> found = ledger([zw.papers.get("001-ex1-slack").run()])
    >>> found["claims"][0]["verdict"], found["details"]["001-ex1-slack"]["errata"]
    ('corrected', ['ivanov-1'])
    """
    import zwang

    records = list(records)
    return {
        "claims": [row(record) for record in records],
        "details": {record.claim.id: _details(record) for record in records},
        "verdicts": tally(record.verdict.value for record in records),
        "version": zwang.__version__,
    }


def tally(words: Iterable[str]) -> dict[str, int]:
    """Return how often each word occurs, the most frequent first."""
    return dict(Counter(words).most_common())


def counted(verdicts: Iterable[Verdict]) -> str:
    """Return how many claims got each verdict, in a line; what we added is no claim of a paper and stands apart.

    Examples
    --------
    >>> counted([Verdict.CONFIRMED, Verdict.CONFIRMED, Verdict.ADDED])
    '2 claims: 2 confirmed; and 1 finding added'
    """
    listed = list(verdicts)
    claims = [verdict.value for verdict in listed if verdict is not Verdict.ADDED]
    own = len(listed) - len(claims)
    parts = []
    if claims:
        told = ", ".join(f"{count} {word}" for word, count in tally(claims).items())
        parts.append(f"{len(claims)} claim{'s' if len(claims) > 1 else ''}: {told}")
    if own:
        parts.append(f"{'and ' if claims else ''}{own} finding{'s' if own > 1 else ''} added")
    return "; ".join(parts) or "no claims"


def _details(record: Record) -> dict[str, Any]:
    item = record.claim
    return {
        "recorded": item.recorded.value,
        "agrees": record.agrees,
        "remark": plain(record.remark),
        "errata": list(item.errata),
        "new": plain(item.new),
        "systems": list(item.systems),
        "profile": item.profile,
        "comparisons": [_comparison(one) for one in record.comparisons],
        "data": as_plain(record.data),
    }


def _comparison(item: Comparison) -> dict[str, Any]:
    return {
        "side": item.side,
        "what": plain(item.what),
        "computed": as_plain(item.computed),
        "expected": as_plain(item.expected),
        "error": item.error if np.isfinite(item.error) else None,
        "tolerance": item.tolerance,
        "holds": item.holds,
    }


def plain(text: str) -> str:
    """Return a text without the marks around its formulas.

    Examples
    --------
    >>> plain("the force `T3 = 0`")
    'the force T3 = 0'
    """
    return text.replace("`", "")


def as_plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays as lists, what is not finite as None."""
    if isinstance(value, (np.ndarray, np.generic)):
        return as_plain(value.tolist())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): as_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain(item) for item in value]
    return value if isinstance(value, (bool, int, str)) or value is None else str(value)
