"""The command cache: the compiled kernels that are kept on disk."""

from __future__ import annotations

import click

from zwang._numerics.jit.cache import cache_summary, clear_cache
from zwang.cli.output import print_json, tell, tell_mistakes


@click.command()
@click.option("--clear", is_flag=True, help="Remove all of them; they are compiled again when they are needed.")
@click.option("--json", "json_", is_flag=True, help="Write JSON to stdout.")
@tell_mistakes
def cache(clear: bool, json_: bool) -> None:
    """Show the compiled kernels that are kept on disk: where, how many, how large, and how large they may grow.

    ZWANG_CACHE_DIR names another folder, ZWANG_CACHE_SIZE another limit, such as 500M.
    """
    removed = clear_cache() if clear else 0
    found = cache_summary()
    if json_:
        report = {"folder": str(found.folder), "kernels": found.kernels, "size": found.size, "limit": found.limit}
        print_json({**report, "removed": removed} if clear else report)
        return
    if clear:
        tell(f"{removed} {'file' if removed == 1 else 'files'} removed")
    tell(f"{found.folder}: {found.kernels} {'kernel' if found.kernels == 1 else 'kernels'}, {_megabytes(found.size)}")
    tell(f"at most {_megabytes(found.limit)} are kept, those that were used last (ZWANG_CACHE_SIZE)")


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MB"
