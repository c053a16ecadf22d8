"""The command `reproduce`: the claims of the papers, computed; a table of verdicts, a report, a ledger."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from zwang import papers
from zwang._outputs import check_output, write_text
from zwang._plot.style import matplotlib
from zwang._report.computation import compute, openings
from zwang._report.journal import Journal
from zwang.cli.answer_files import Files
from zwang.cli.exit_signals import exit_code
from zwang.cli.output import NO_ANSWER, fail, print_table, tell, tell_mistakes
from zwang.cli.progress import progress
from zwang.errors import DeclarationError
from zwang.papers import Claim, Record


@click.command("reproduce")
@click.option("--paper", "chosen", multiple=True, metavar="NUMBER", help="Only the claims of this paper, 000 to 004.")
@click.option("--claim", "ids", multiple=True, metavar="ID", help="Only this claim.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(min=1), help="Processes.")
@click.option("--full", is_flag=True, help="Make the long searches too.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the report, one HTML page.")
@click.option("--json", "ledger", type=click.Path(path_type=Path), help="Write the ledger.")
@click.option("--fresh", is_flag=True, help="Compute all again, also what a run that was cut short left.")
@click.option("--list", "listed", is_flag=True, help="List the claims and compute nothing.")
@tell_mistakes
def reproduce(
    chosen: tuple[str, ...],
    ids: tuple[str, ...],
    jobs: int,
    full: bool,
    out: Path | None,
    ledger: Path | None,
    fresh: bool,
    listed: bool,
) -> None:
    """Compute the claims of the five papers and say which are true.

    What has been computed is kept beside the ledger or the report (PATH.part) until that is written: the same command
    goes on where a run was cut short. Exit code 1: a verdict is not the recorded one, or a computation failed.
    """
    claims = _claims(chosen, ids, full)
    if listed:
        rows = [(item.id, item.place, item.recorded.value, papers.plain(item.statement)) for item in claims]
        print_table(("claim", "place", "recorded", "statement"), rows)
        return
    files = Files(page=out)
    if ledger is not None:
        check_output(ledger)
        if out is not None and out.resolve() == ledger.resolve():
            raise DeclarationError(f"--out and --json are one file, '{out}'. Give them two names.")
    if out is not None:
        matplotlib()
    beside = ledger or out
    journal = None if beside is None else Journal(beside, full=full, pictures=out is not None, fresh=fresh)
    records: list[Record] = []
    try:
        records = _computed(claims, jobs, full, out is not None, journal)
        text = json.dumps(papers.ledger(records), indent=1, allow_nan=False) + "\n"
        files.write(ledger, lambda path: write_text(path, text))
        files.write(out, lambda path: _write(path, records, full))
    finally:
        if journal is not None:
            done = len(records) == len(claims) and not files.failed and exit_code() is None
            journal.close(keep=not done)
    _print(records)
    files.end(_told(records))


def _computed(claims: list[Claim], jobs: int, full: bool, pictures: bool, journal: Journal | None) -> list[Record]:
    """Return the records; where Ctrl-C comes first, say what is there and what becomes of it, and end."""
    wanted = {item.id for item in claims}
    known = {} if journal is None else {id: one for id, one in journal.known.items() if id in wanted}
    if journal is not None and known:
        tell(
            f"{len(known)} of {len(claims)} claims are taken from '{journal.path}', which a run left that was cut "
            "short; --fresh computes all.",
            err=True,
        )
    found = list(known.values())
    try:
        with progress("claims", len(claims)) as show:

            def report(record: Record) -> None:
                found.append(record)
                if journal is not None and not journal.trouble:
                    journal.add(record)
                    if journal.trouble:
                        tell(journal.trouble, err=True)
                show(len(found), record.claim.id)

            return compute(claims, jobs=jobs, full=full, pictures=pictures, known=known, report=report)
    except KeyboardInterrupt:
        if found:
            _print(found)
        left = f"Interrupted: {len(found)} of {len(claims)} claims were computed."
        if journal is not None and not journal.trouble:
            left += f" They are kept in '{journal.path}', and the same command goes on from there."
        else:
            left += " With --json PATH they would be kept."
        fail(left, exit_code() or 130)


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
    listed = papers.counted(record.verdict for record in records)
    sys.stdout.flush()
    tell(f"{listed}; {sum(record.seconds for record in records):.1f} s of computing")


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
