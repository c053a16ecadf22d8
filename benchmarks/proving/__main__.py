"""Run the proving ground."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from benchmarks.proving.problem import CODE, PRINTED, Outcome, Problem, run
from benchmarks.proving.table import PROBLEMS

import zwang

LONG = 20.0
PAGE = Path(__file__).resolve().parents[2] / "docs" / "proving_ground.md"
HEAD = """# Proving ground

Problems with a known answer that the package is held to: digits in print, independent codes that are run beside it,
closed forms. {count} problems, {outside} of them against print or another code; {failed} fail; what fails is shown so.
The table is made by `python -m benchmarks.proving --record` from the code in `benchmarks/proving`, which `make nightly`
runs; this one with zwang {version}, Python {python}, on one core, times with kernels compiled before.

| problem | reference | ours | off by | time |
|---|---|---|---|---|
"""


def page(rows: list[tuple[Problem, Outcome]]) -> str:
    """Return the page of the documentation."""
    failed = sum(not outcome.holds for _, outcome in rows)
    outside = sum(problem.against in (PRINTED, CODE) for problem, _ in rows)
    text = HEAD.format(
        count=len(rows), outside=outside, failed=failed or "none", version=zwang.__version__,
        python=platform.python_version(),
    )  # fmt: skip
    return text + "".join(row(problem, outcome) for problem, outcome in rows)


def row(problem: Problem, outcome: Outcome) -> str:
    """Return one line of the table."""
    where = f"**{problem.name}**: {problem.asked}. {problem.source} ({problem.against})"
    ours = outcome.ours.replace("|", "/") if outcome.holds else f"**FAILS**: {outcome.ours}".replace("|", "/")
    off = "exact" if outcome.error == 0 else f"{outcome.error:.0e}" if outcome.error < 1e300 else "no answer"
    return f"| {where} | {outcome.reference} | {ours} | {off} | {outcome.seconds:.2g} s |\n"


def main() -> int:
    """Run every problem and print a line for each; return 1 where one fails."""
    words = [word.lower() for word in sys.argv[1:] if not word.startswith("--")]
    rows: list[tuple[Problem, Outcome]] = []
    for problem in PROBLEMS:
        if words and not any(word in problem.name.lower() for word in words):
            continue
        outcome = run(problem)
        if "--record" in sys.argv and outcome.seconds < LONG:  # again, now that its kernels are compiled
            outcome = run(problem)
        rows.append((problem, outcome))
        mark = "holds" if outcome.holds else "FAILS"
        told = f"{outcome.ours} | {outcome.reference} ({outcome.error:.1e}, {outcome.seconds:.2f} s)"
        print(f"{mark}  {problem.name}: {told}", flush=True)
    failed = sum(not outcome.holds for _, outcome in rows)
    print(f"{len(rows)} problems, {failed} fail")
    if "--record" in sys.argv:
        PAGE.write_text(page(rows), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
