"""The report on the papers: a chapter for each with its question, a picture, the answer and its claims; the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

import zwang
from zwang._report.formula_text import rich
from zwang._report.page import number, slug, table
from zwang.papers import (
    MISPRINTS,
    Chapter,
    Comparison,
    Item,
    Picture,
    Record,
    Section,
    Verdict,
    claims,
    items_of,
    section_claims,
)
from zwang.papers.claim import PAPERS
from zwang.papers.ledger import counted

__all__ = ["TITLE", "reproduction_body"]

TITLE = "Five papers, claim by claim"
MARKS = {
    Verdict.CONFIRMED: "",
    Verdict.CORRECTED: " mend",
    Verdict.REFUTED: " alarm",
    Verdict.ADDED: " own",
    Verdict.NOT_CHECKABLE: " open",
}
MEANINGS = {
    Verdict.CONFIRMED: "what is printed agrees with what was computed",
    Verdict.CORRECTED: "it doesn't, and the statement that does is given",
    Verdict.REFUTED: "it is false, and a counterexample is given",
    Verdict.ADDED: "no paper says it: a finding of ours beside the statement, counted apart",
    Verdict.NOT_CHECKABLE: "it can't be decided by a computation, and the reason is given",
}
SIDES = {"printed": "as printed", "corrected": "as corrected", "added": "our addition", "sound": "must hold"}


def reproduction_body(
    chapters: Sequence[Chapter], records: Sequence[Record], openings: Mapping[str, Mapping[str, Picture]], *, full: bool
) -> str:
    """Return the body of the page.

    Parameters
    ----------
    chapters : sequence of Chapter
    records : sequence of Record
        Their pictures are markup already.
    openings : mapping of str to mapping of str to Picture
        Paper -> the pictures that its chapter ('') and its sections (by module) begin with.
    full : bool
        Whether long searches were made.
    """
    by_id = {record.claim.id: record for record in records}
    told = [_chapter(chapter, by_id, openings.get(chapter.paper, {})) for chapter in chapters]
    return (
        f"{_navigation(chapters, by_id)}<header><h1>{TITLE}</h1>{_lead(records, full)}{_contents(chapters, by_id)}"
        f"</header><main>{''.join(told)}{_ledger(records)}{_items(chapters, by_id)}{_misprints()}{_new(records)}</main>"
        f"<footer>{_made_with(records)}</footer>"
    )


def _navigation(chapters: Sequence[Chapter], records: Mapping[str, Record]) -> str:
    """Return what stays at the top: the chapters, and buttons that show the claims of one verdict alone.

    The buttons are radio inputs that the style sheet looks at: the page needs no script for them.
    """
    links = [
        f'<a href="#{_anchor(chapter)}">{escape(chapter.paper)}</a>'
        for chapter in chapters
        if _records_of(chapter, records)
    ]
    links += [f'<a href="#{place}">{place}</a>' for place in ("ledger", "items", "misprints")]
    chosen = [("all", "all"), *((slug(verdict.value), verdict.value) for verdict in MEANINGS)]
    buttons = "".join(
        f'<label><input type="radio" name="verdict" id="show-{key}"{" checked" if key == "all" else ""}>'
        f"<span>{escape(word)}</span></label>"
        for key, word in chosen
    )
    return (
        f'<nav class="stay" aria-label="chapters and verdicts"><div>{" ".join(links)}</div>'
        f'<fieldset class="filter"><legend>Show</legend>{buttons}</fieldset></nav>'
    )


def _items(chapters: Sequence[Chapter], records: Mapping[str, Record]) -> str:
    """Return the tables of items: each paper's theorems, formulas, examples, tables and figures, with their claims."""
    parts = []
    for chapter in chapters:
        if chapter.paper not in PAPERS:
            continue
        found = items_of(chapter.paper, claims())
        rows = [(escape(item.name), _claims_of(item, records)) for item in found]
        covered = sum(bool(item.claims) for item in found)
        told = table(("item", "claims, or why there is none"), rows, classes="items")
        parts.append(
            f"<h3>{escape(chapter.title)}</h3><p>{len(found)} items: {covered} with claims, {len(found) - covered} "
            f"without, each with the reason.</p>{told}"
        )
    return (
        '<section><h2 id="items">Item by item</h2><p>What each paper has, in its order: theorems, numbered formulas, '
        f"examples, tables, figures.</p>{''.join(parts)}</section>"
    )


def _claims_of(item: Item, records: Mapping[str, Record]) -> str:
    if not item.claims:
        return f'<span class="quiet">{rich(item.reason)}</span>'
    return ", ".join(
        f'<a href="#{slug(id)}"><code>{escape(id)}</code></a>' if id in records else f"<code>{escape(id)}</code>"
        for id in item.claims
    )


def _misprints() -> str:
    rows = [(escape(paper), rich(place), rich(printed), rich(meant)) for paper, place, printed, meant in MISPRINTS]
    return (
        '<section><h2 id="misprints">Misprints</h2><p>They change no statement; some may come from the scan.</p>'
        f"{table(('paper', 'place', 'printed', 'meant'), rows)}</section>"
    )


def _lead(records: Sequence[Record], full: bool) -> str:
    listed = counted(record.verdict for record in records)
    seconds = sum(record.seconds for record in records)
    profile = "with long searches" if full else "in the quick profile"
    meanings = "".join(f"<li>{_pill(verdict)} {escape(words)}.</li>" for verdict, words in MEANINGS.items())
    return (
        '<p class="lead">Five papers ask what a mechanical system does where the classical equations stop giving an '
        "answer: friction that contradicts itself, mechanisms that branch, constraints that hold on one side only, and "
        "what stiff springs make of all that. This report takes their statements one by one, asks a general program, "
        "and "
        "says what came out.</p>"
        f"<p>{listed}. Every number below was computed when this page was made, {profile}, in "
        f"{seconds:.0f} seconds of one processor. A verdict follows from comparisons, never from an opinion:</p>"
        f'<ul class="plain">{meanings}</ul>'
    )


def _contents(chapters: Sequence[Chapter], records: Mapping[str, Record]) -> str:
    rows = []
    for chapter in chapters:
        mine = _records_of(chapter, records)
        if mine:
            listed = counted(record.verdict for record in mine)
            rows.append((f'<a href="#{_anchor(chapter)}">{escape(chapter.title)}</a>', listed))
    rows.append(('<a href="#ledger">All claims in one table</a>', f"{len(records)} lines"))
    return table((), rows)


def _anchor(chapter: Chapter) -> str:
    return slug(f"paper-{chapter.paper}")


def _records_of(chapter: Chapter, records: Mapping[str, Record]) -> list[Record]:
    items = [item for section in chapter.sections for item in section_claims(section)]
    return [records[item.id] for item in items if item.id in records]


def _chapter(chapter: Chapter, records: Mapping[str, Record], openings: Mapping[str, Picture]) -> str:
    mine = _records_of(chapter, records)
    if not mine:
        return ""
    answer = chapter.answer({record.claim.id: record for record in mine})
    parts = [
        f'<section class="chapter"><h2 id="{_anchor(chapter)}">{escape(chapter.title)}</h2>'
        f'<p class="source">{rich(chapter.source)}</p><p class="question">{rich(chapter.question)}</p>',
        _figure(openings[""]) if "" in openings else "",
        f'<p class="answer">{rich(answer)}</p>',
        *(_section(section, records, openings.get(section.module)) for section in chapter.sections),
        "</section>",
    ]
    return "".join(parts)


def _section(section: Section, records: Mapping[str, Record], opening: Picture | None) -> str:
    mine = [records[item.id] for item in section_claims(section) if item.id in records]
    if not mine:
        return ""
    lead = f"<p>{rich(section.lead)}</p>" if section.lead else ""
    picture = _figure(opening) if opening is not None else ""
    return f"<h3>{escape(section.title)}</h3>{lead}{picture}{''.join(_article(record) for record in mine)}"


def _article(record: Record) -> str:
    item = record.claim
    rows = [("printed", rich(item.printed)), ("computed", rich(record.computed))]
    if record.remark:
        rows.append((_remark_word(record.verdict), rich(record.remark)))
    if item.errata:
        noted = ", ".join(name.partition("-")[2] for name in item.errata)
        rows.append(("noted before", f"in an independent check of the paper, row {escape(noted)}"))
    if item.new:
        rows.append(("new", rich(item.new)))
    told = "".join(f"<dt>{escape(word)}</dt><dd>{text}</dd>" for word, text in rows if text)
    warning = "" if record.agrees else f'<p class="warning">Recorded before: {item.recorded.value}.</p>'
    return (
        f'<article id="{slug(item.id)}" class="verdict-{slug(record.verdict.value)}"><p class="place">'
        f"{_pill(record.verdict)} {rich(item.place)} "
        f'<code class="quiet">{escape(item.id)}</code></p><p class="statement">{rich(item.statement)}</p>{warning}'
        f'<dl class="facts">{told}</dl>{_figures(record.pictures)}'
        f"{_details(record)}</article>"
    )


def _remark_word(verdict: Verdict) -> str:
    return {Verdict.CORRECTED: "should read", Verdict.REFUTED: "counterexample"}.get(verdict, "reason")


def _pill(verdict: Verdict) -> str:
    return f'<span class="status{MARKS[verdict]}">{verdict.value}</span>'


def _figure(picture: Picture) -> str:
    return f"<figure>{picture.make()}<figcaption>{rich(picture.caption)}</figcaption></figure>"


def _figures(pictures: Sequence[Picture]) -> str:
    """Return the figures of a claim: side by side where there is room."""
    told = "".join(_figure(picture) for picture in pictures)
    return f'<div class="side">{told}</div>' if len(pictures) > 1 else told


def _details(record: Record) -> str:
    if not record.comparisons:
        return ""
    rows = [
        (
            SIDES[item.side],
            rich(item.what),
            _value(item, item.computed),
            _value(item, item.expected),
            number(item.error, 2),
            number(item.tolerance, 2),
            "yes" if item.holds else "no",
        )
        for item in record.comparisons
    ]
    head = ("", "what", "computed", "expected", "difference", "allowed", "agrees")
    cost = f"{record.seconds:.2f} s, residual {number(record.residual, 2)}"
    return (
        f"<details><summary>{len(rows)} comparison{'s' if len(rows) > 1 else ''}, {cost}</summary>"
        f"{table(head, rows, numbers=(4, 5))}</details>"
    )


def _value(item: Comparison, value: Any) -> str:
    if isinstance(item.expected, (bool, np.bool_)):
        return "so" if value else "not so"
    if isinstance(value, str) or value is None:
        return escape(str(value))
    flat = np.asarray(value, dtype=float).ravel()
    shown = ", ".join(number(float(part)) for part in flat[:6])
    return shown if len(flat) <= 6 else f"{shown}, … ({len(flat)} numbers)"


def _ledger(records: Sequence[Record]) -> str:
    rows = [
        (
            f'<a href="#{slug(record.claim.id)}"><code>{escape(record.claim.id)}</code></a>',
            rich(record.claim.place),
            _pill(record.verdict),
            number(record.residual, 2),
            f"{record.seconds:.2f}",
        )
        for record in records
    ]
    head = ("claim", "place", "verdict", "residual", "seconds")
    return (
        '<section><h2 id="ledger">The ledger</h2><p>Every claim with its verdict, the largest residual of the results '
        "behind it (recomputed from the equations) and what it cost.</p>"
        f"{table(head, rows, numbers=(3, 4), classes='ledger')}</section>"
    )


def _new(records: Sequence[Record]) -> str:
    rows = [
        (f'<a href="#{slug(record.claim.id)}"><code>{escape(record.claim.id)}</code></a>', rich(record.claim.new))
        for record in records
        if record.claim.new
    ]
    if not rows:
        return ""
    return (
        '<section><h2 id="new">Found on the way</h2><p>What neither the papers nor an earlier check of them says.</p>'
        f"{table(('claim', 'what makes it sure'), rows)}</section>"
    )


def _made_with(records: Sequence[Record]) -> str:
    wrong = [record.claim.id for record in records if not record.agrees]
    differ = f" Verdicts that differ from those recorded before: {', '.join(wrong)}." if wrong else ""
    return f"<p>Made by zwang {escape(zwang.__version__)}. This page loads nothing from elsewhere.{escape(differ)}</p>"
