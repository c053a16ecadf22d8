"""The command `selftest`: random problems and hostile inputs, for as long as one likes."""

from __future__ import annotations

import sys

import click
from rich.console import Console

from zwang._selftest.problem_kinds import KINDS
from zwang._selftest.run import Discovery, Summary, known_kinds, one, run
from zwang.cli.exit_signals import exit_code
from zwang.cli.output import NO_ANSWER, fail, print_json, print_table, tell, tell_mistakes
from zwang.errors import DeclarationError


@click.command("selftest")
@click.option("--minutes", default=10.0, show_default=True, type=click.FloatRange(min=0.01), help="How long.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Which problems.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help=f"Only these: {', '.join(KINDS)}.")
@click.option("--count", type=click.IntRange(min=1), help="Problems of each kind, in place of --minutes.")
@click.option("--index", type=click.IntRange(min=0), help="One problem of one kind, in this process.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; as many as there are cores by default.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def selftest(
    minutes: float,
    seed: int,
    kinds: tuple[str, ...],
    count: int | None,
    index: int | None,
    jobs: int | None,
    json_: bool,
) -> None:
    """Hold zwang against independent computations on random problems, and against hostile inputs.

    What is found is printed with the smallest problem that shows it, and with the command that makes it again. Exit
    code 1: something was found.
    """
    if index is not None:
        if len(kinds) != 1:
            raise DeclarationError(f"selftest: --index goes with one --kind; {len(kinds)} were given.")
        finding = one(kinds[0], seed, index)
        summary = Summary(seed, {kinds[0]: 1}, {kinds[0]: 0.0}, [] if finding is None else [finding])
    else:
        known_kinds(kinds)
        summary = _run(minutes, seed, kinds, count, jobs)
    _print(summary, json_)
    if summary.findings:
        sys.exit(NO_ANSWER)
    if (stopped := exit_code()) is not None:
        fail("Interrupted; what is told above was checked until then.", stopped)


def _run(minutes: float, seed: int, kinds: tuple[str, ...], count: int | None, jobs: int | None) -> Summary:
    console = Console(stderr=True, highlight=False)
    with console.status("selftest") as status:

        def report(summary: Summary) -> None:
            counts = ", ".join(f"{number} {kind}" for kind, number in summary.counts.items() if number)
            status.update(f"selftest: {counts or 'starting'}; found {len(summary.findings)}")

        return run(minutes=minutes, seed=seed, kinds=kinds, count=count, workers=jobs, report=report)


def _print(summary: Summary, json_: bool) -> None:
    found = {kind: sum(item.kind == kind for item in summary.findings) for kind in summary.counts}
    if json_:
        print_json(
            {
                "seed": summary.seed,
                "kinds": {
                    kind: {"problems": number, "seconds": summary.seconds[kind], "found": found[kind]}
                    for kind, number in summary.counts.items()
                },
                "findings": [_as_dict(item) for item in summary.findings],
            }
        )
        return
    rows = []
    for kind, number in summary.counts.items():
        rate = f"{number / summary.seconds[kind]:.3g}" if summary.seconds[kind] else ""
        rows.append((kind, str(number), rate, str(found[kind]), KINDS[kind].words))
    print_table(("kind", "problems", "per second", "found", "what"), rows)
    for item in summary.findings:
        tell(f"\n{item.kind} {item.index}: {item.complaint.words}\n  {item.command}")
        tell("\n".join(f"    {line}" for line in item.complaint.program.splitlines()))
    tell(f"\nseed {summary.seed}: {sum(summary.counts.values())} problems, {len(summary.findings)} found.")


def _as_dict(item: Discovery) -> dict[str, object]:
    return {
        "kind": item.kind,
        "index": item.index,
        "words": item.complaint.words,
        "program": item.complaint.program,
        "command": item.command,
    }
