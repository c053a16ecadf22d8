"""The tour of the gallery: every system is visited, a table is printed, and one page is written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from zwang import gallery
from zwang._compile import compile
from zwang._reactions.verb import reactions
from zwang._report.paradox import Paradox, paradox
from zwang._report.visits import Visit, visit
from zwang._workers import die_with_parent
from zwang.cli.answer_files import Files
from zwang.cli.output import NO_ANSWER, print_json, print_table, tell
from zwang.cli.progress import progress


def run_tour(files: Files, out: Path | None, json_: bool) -> None:
    """Visit every system of the gallery; end with 0 if all is as it should be, else 1.

    Parameters
    ----------
    files : Files
        What writes.
    out : path or None
        Where to write the page.
    json_ : bool
        Whether to write JSON to stdout in place of the table.
    """
    names = gallery.names()
    seen: dict[str, Visit] = {}
    with _compiling_ahead(), progress("tour of the gallery", len(names)) as show:
        for name in reversed(names):  # the other process comes from the front
            show(len(seen), name)
            seen[name] = visit(gallery.get(name))
        show(len(names), "")
    visits = [seen[name] for name in names]
    files.write(out, lambda path: _write(path, visits))
    if json_:
        print_json([_plain(item) for item in visits])
    else:
        _print(visits)
    wrong = [item.entry.name for item in visits if not item.sound]
    for name in wrong:
        tell(f"{name}: its state, its residual or one of its facts is not as it should be", err=True)
    files.end(NO_ANSWER if wrong else 0)


@contextmanager
def _compiling_ahead() -> Iterator[None]:
    """Let a second process compile the kernels of the gallery, from the front, where there is a second processor.

    What it has compiled is found in the cache; what it has not is compiled here, so nothing depends on it.
    """
    if (os.cpu_count() or 1) < 2:
        yield
        return
    code = f"from zwang.cli.tour import compile_all; compile_all({os.getpid()})"
    quiet = subprocess.DEVNULL
    helper = subprocess.Popen([sys.executable, "-c", code], stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        yield
    finally:
        helper.kill()
        helper.wait()


def compile_all(parent: int) -> None:
    """Compile what counts solutions on a map, then the kernels of every system in the order of their names."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    die_with_parent(parent)
    paradox(8)
    for name in gallery.names():
        entry = gallery.get(name)
        compile(entry.system).evaluate(entry.state, entry.params)


def _write(out: Path, visits: Sequence[Visit]) -> None:
    from zwang._report.page import write_page
    from zwang._report.tour import TITLE, tour_body

    rod = gallery.get("painleve_rod")
    asked = reactions(rod.system, rod.state, {**rod.params, "mu": 1.4})
    write_page(out, TITLE, tour_body(visits, _showpiece(), asked))


def _showpiece() -> Paradox:
    points = 400
    with progress("map of the Painlevé rod", points**2) as show:
        found = paradox(points, report=lambda done: show(done, ""))
        show(points**2, "")
    return found


def _print(visits: Sequence[Visit]) -> None:
    rows = []
    for item in visits:
        agreed, computed = item.compared
        rows.append(
            (
                item.entry.name,
                str(len(item.entry.system.coordinates)),
                str(len(item.entry.system.constraints)),
                (item.reactions or item.evaluation).status.name,
                f"{agreed} of {computed}" if computed else "-",
                f"{item.residual:.0e}",
                f"{item.again_ms:.2f}",
            )
        )
    head = ("name", "coordinates", "constraints", "answer", "facts met", "residual", "ms")
    print_table(head, rows, right=(1, 2, 4, 5, 6))
    sys.stdout.flush()
    agreed, computed = (sum(item.compared[place] for item in visits) for place in (0, 1))
    worst = max(item.residual for item in visits)
    tell(f"{len(visits)} systems, {agreed} of {computed} facts met, largest residual {worst:.0e}")


def _plain(item: Visit) -> dict[str, Any]:
    return {
        "name": item.entry.name,
        "title": item.entry.title,
        "coordinates": len(item.entry.system.coordinates),
        "constraints": list(item.entry.system.constraints.names),
        "evaluation": item.evaluation.status,
        "reactions": None if item.reactions is None else item.reactions.status,
        "solutions": None if item.reactions is None else len(item.reactions.solutions),
        "violation": item.violation,
        "residual": item.residual,
        "first_ms": item.first_ms,
        "again_ms": item.again_ms,
        "sound": item.sound,
        "facts": {
            fact.name: {
                "statement": fact.fact.statement,
                "value": fact.fact.value,
                "computed": fact.computed,
                "met": fact.agrees,
            }
            for fact in item.comparisons
        },
    }
