"""The command warm: every kernel of the package compiled ahead, on all cores."""

from __future__ import annotations

import os

import click

from zwang.cli.output import NO_ANSWER, WRONG_USAGE, fail, tell, tell_mistakes


@click.command()
@click.option("--jobs", type=click.IntRange(1, 512), default=None, help="Processes; by default one for each core.")
@tell_mistakes
def warm(jobs: int | None) -> None:
    """Compile all of zwang ahead, once per installation, so that nothing waits for it later: a minute or two.

    Machine code goes to the cache folder (see `zwang cache`); what is there already is only looked at. Without this,
    calls begin as plain Python on a machine that has no machine code yet, while another process makes it.
    """
    from zwang._numerics.jit import only_tier
    from zwang._numerics.jit.all_kernels import package_kernels
    from zwang._numerics.jit.background import make
    from zwang._numerics.jit.cache import cache_summary
    from zwang._workers import Lost, work_through
    from zwang.cli.progress import progress

    if only_tier() == "plain":
        fail(
            "warm: there is no compiler here. Install numba, and unset ZWANG_NO_JIT, ZWANG_TIER and NUMBA_DISABLE_JIT.",
            WRONG_USAGE,
        )
    tasks = [[{"module": module, "kernel": name}] for module, name in package_kernels()]
    workers = min(jobs or os.cpu_count() or 1, len(tasks))
    before, lost = cache_summary().kernels, []
    with progress("compiling", len(tasks)) as show:
        for done, (task, found) in enumerate(work_through(make, tasks, workers=workers), 1):
            show(done, task["kernel"])
            if isinstance(found, Lost):
                lost.append(f"{task['kernel']}: {found.reason}")
    after, ready = cache_summary(), len(tasks) - len(lost)
    new = min(after.kernels - before, ready)  # others may have compiled kernels of their own meanwhile
    tell(f"{ready} kernels are ready, {new} of them new, in {after.folder}")
    if lost:
        fail("\n".join(lost), NO_ANSWER)
