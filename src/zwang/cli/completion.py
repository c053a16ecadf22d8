"""What a shell completes: models by their names, and files, without loading what declares them.

A command's own module takes a second to import, so while a shell asks for a model (and not for an option or its value)
a stand-in with the same first argument answers.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
from click.shell_completion import CompletionItem

ENDINGS = (".toml", ".urdf", ".xml")
"""Of files that hold a model."""
MODELLESS = ("cache", "reproduce", "selftest", "sweep", "warm")
"""Commands whose first argument is no model."""
MOST_FILES = 200  # offered by a shell: a longer list is not read


def complete_model(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return systems of the gallery, and files with a model and folders, that begin so."""
    homes = Path(__file__).parent.parent / "gallery" / "homes.json"
    names = [name for name in json.loads(homes.read_text(encoding="utf-8")) if name.startswith(incomplete)]
    return [CompletionItem(name) for name in (*names, *_files(incomplete))]


def _files(incomplete: str) -> list[str]:
    head, _, tail = incomplete.rpartition("/")
    folder = f"{head}/" if head or incomplete.startswith("/") else ""
    try:
        with os.scandir(folder or ".") as found:
            entries = sorted((item.name, item.is_dir()) for item in found if item.name.startswith(tail))
    except OSError:
        return []
    shown = [(name, is_dir) for name, is_dir in entries if tail.startswith(".") or not name.startswith(".")]
    kept = [f"{folder}{name}{'/' if is_dir else ''}" for name, is_dir in shown if is_dir or name.endswith(ENDINGS)]
    return kept[:MOST_FILES]


def stand_in(name: str) -> click.Command | None:
    """Return what completes the model of a command; None where the shell asks for something else."""
    words = os.environ.get("COMP_WORDS", "").split()
    if name in MODELLESS or not words:
        return None
    count = os.environ.get("COMP_CWORD", "")
    if count.isdecimal():  # bash, zsh: the number of the word
        before, last = words[: int(count)], words[int(count)] if int(count) < len(words) else ""
    else:  # fish: the word itself
        before, last = words, count
    if last.startswith("-") or before[-1].startswith("-") or "=" in last or before[-1] != name:
        return None
    return click.Command(name, params=[click.Argument(["model"], shell_complete=complete_model)])
