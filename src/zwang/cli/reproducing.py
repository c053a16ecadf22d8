"""The command `reproduce`: the claims of the papers, computed; a table of verdicts, a report, a ledger."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from zwang import papers
from zwang._outputs import check_output, write_text
from zwang._report.reproducing import compute, openings
from zwang.cli.files import Files
from zwang.cli.progress import progress
from zwang.cli.telling import NO_ANSWER, print_table, tell, tell_mistakes
from zwang.errors import DeclarationError
from zwang.papers import Claim, Record


@click.command("reproduce")
@click.option("--paper", "chosen", multiple=True, metavar="NUMBER", help="Only the claims of this paper, 000 to 004.")
@click.option("--claim", "ids", multiple=True, metavar="ID", help="Only this claim.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(min=1), help="Processes.")
@click.option("--full", is_flag=True, help="Make the long searches too.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the report, one HTML page.")
@click.option("--json", "ledger", type=click.Path(path_type=Path), help="Write the ledger.")
@click.option("--list", "listed", is_flag=True, help="List the claims and compute nothing.")
@tell_mistakes
def reproduce(
    chosen: tuple[str, ...],
    ids: tuple[str, ...],
    jobs: int,
    full: bool,
    out: Path | None,
    ledger: Path | None,
    listed: bool,
) -> None:
    """Compute the claims of the five papers and say which are true.

    Exit code 1: a verdict is not the recorded one, or a computation failed.
    """
    claims = _claims(chosen, ids, full)
    if listed:
        rows = [(item.id, item.place, item.recorded.value, papers.plain(item.statement)) for item in claims]
        print_table(("claim", "place", "recorded", "statement"), rows)
        return
    files = Files(page=out)
    if ledger is not None:
        check_output(ledger)
    with progress("claims", len(claims)) as show:
        records = compute(claims, jobs=jobs, full=full, pictures=out is not None, report=show)
    text = json.dumps(papers.ledger(records), indent=1, allow_nan=False) + "\n"
    files.write(ledger, lambda path: write_text(path, text))
    files.write(out, lambda path: _write(path, records, full))
    _print(records)
    files.end(_told(records))


def _claims(chosen: Sequence[str], ids: Sequence[str], full: bool) -> list[Claim]:
    if ids:
        wanted = [papers.get(id) for id in ids]
        return [item for item in wanted if not chosen or item.paper in chosen]
    found = [item for paper in chosen for item in papers.claims(paper)] if chosen else list(papers.claims())
    found = [item for item in found if full or item.profile == "quick"]
    if not found:
        raise DeclarationError(f"No claim is left of {', '.join(chosen) or 'the papers'}; --full has more.")
    return found


def _write(out: Path, records: Sequence[Record], full: bool) -> None:
    from zwang._report.page import write_page
    from zwang._report.reproduction import TITLE, reproduction_body

    told = {record.claim.id for record in records}
    chapters = [
        chapter
        for chapter in papers.chapters()
        if any(item.id in told for section in chapter.sections for item in papers.section_claims(section))
    ]
    begun = {chapter.paper: openings(chapter) for chapter in chapters}
    write_page(out, TITLE, reproduction_body(chapters, records, begun, full=full))


def _print(records: Sequence[Record]) -> None:
    rows = [
        (
            record.claim.id,
            record.claim.place,
            record.verdict.value if record.agrees else f"{record.verdict.value}, not {record.claim.recorded.value}",
            f"{record.residual:.0e}",
            f"{record.seconds:.2f}",
        )
        for record in records
    ]
    print_table(("claim", "place", "verdict", "residual", "s"), rows, right=(3, 4))
    counts = papers.tally(record.verdict.value for record in records)
    listed = ", ".join(f"{count} {word}" for word, count in counts.items())
    sys.stdout.flush()
    tell(f"{len(records)} claims: {listed}; {sum(record.seconds for record in records):.1f} s of computing")


def _told(records: Sequence[Record]) -> int:
    wrong = [record for record in records if not record.agrees]
    for record in wrong:
        tell(
            f"{record.claim.id}: {record.verdict.value}, recorded {record.claim.recorded.value}. {record.remark}",
            err=True,
        )
        if record.failure:
            tell(record.failure, err=True)
    return NO_ANSWER if wrong else 0
