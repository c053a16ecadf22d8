"""Write a page per paper from its claims, and from the ledger where `zwang reproduce --json ledger.json` left one.

Statements, what is printed and the recorded verdicts are data of the package. Numbers are those of the ledger: without
it a page shows none, and says how to get them.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from zwang import papers
from zwang._report.formula_text import rich

REMARKS = {"corrected": "Should read", "refuted": "Counterexample"}


def write(folder: Path, ledger: Path) -> None:
    """Write the pages that differ from what is there: Sphinx rebuilds what is newer."""
    known = _known(ledger)
    folder.mkdir(parents=True, exist_ok=True)
    for place, chapter in enumerate(papers.chapters()):
        path = folder / f"{chapter.paper}.md"
        text = page(chapter, known, place)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _known(ledger: Path) -> dict[str, dict[str, Any]]:
    """Return what the ledger says by id, if there is one of this version."""
    import zwang

    if not ledger.exists():
        return {}
    found = json.loads(ledger.read_text(encoding="utf-8"))
    if found.get("version") != zwang.__version__:
        return {}
    rows = {row["id"]: row for row in found["claims"]}
    return {id: {**found["details"][id], **row} for id, row in rows.items()}


def page(chapter: papers.Chapter, known: dict[str, dict[str, Any]], place: int = 0) -> str:
    """Return the page of a chapter."""
    command = "" if chapter.paper == "joint" else f" --paper {chapter.paper}"
    lines = [
        f"# {chapter.title}",
        "",
        _html(f'<p class="paper-source">{rich(chapter.source)}</p><p>{rich(chapter.question)}</p>'),
        f"`zwang reproduce{command} --out report.html` computes what is below and writes the report with its figures.",
        "",
    ]
    for section in chapter.sections:
        lines += [f"## {section.title}", ""]
        if section.lead:
            lines.append(_html(f"<p>{rich(section.lead)}</p>"))
        for item in papers.section_claims(section):
            lines.append(_html(_claim(item, known.get(item.id))))
    return "\n".join(lines).rstrip() + "\n"


def _claim(item: papers.Claim, told: dict[str, Any] | None) -> str:
    rows = [("Printed", rich(item.printed))]
    if told is not None:
        rows.append(("Computed", rich(told["computed"])))
        if told["remark"]:
            rows.append((REMARKS.get(told["verdict"], "Reason"), rich(told["remark"])))
        rows.append(("Cost", f"{told['seconds']:.2f} s, residual {told['residual'] or 0.0:.0e}"))
    lines = "".join(f"<br><em>{escape(word)}:</em> {text}" for word, text in rows)
    verdict = (told or {}).get("verdict", item.recorded.value)
    return (
        f'<section class="claim" id="{escape(item.id)}"><p><strong>{escape(verdict)}</strong> · {rich(item.place)} · '
        f"<code>{escape(item.id)}</code><br>{rich(item.statement)}{lines}</p></section>"
    )


def _html(markup: str) -> str:
    return f"```{{raw}} html\n{markup}\n```\n"
