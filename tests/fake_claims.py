"""Tasks for worker processes that cost nothing: they answer, die, raise or wait, as their name says."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from zwang import papers
from zwang.papers import Finding, Record, as_printed


def act(word: str) -> Any:
    """Do what a word says."""
    if folder := os.environ.get("FAKE_PIDS"):
        (Path(folder) / str(os.getpid())).touch()
    if word.startswith("exit"):
        os._exit(3)
    if word.startswith("kill"):
        os.kill(os.getpid(), signal.SIGKILL)
    if word.startswith("raise"):
        raise ValueError("as asked")
    if word.startswith("unsendable"):
        return lambda: None
    if word.startswith("wait"):
        time.sleep(600)
    return f"{word} done"


def claim(task: tuple[str, bool, bool]) -> Record:
    """Confirm a claim at once; the ids in FAKE_WAIT wait, those in FAKE_KILL die."""
    id = task[0]
    if folder := os.environ.get("FAKE_PIDS"):
        (Path(folder) / str(os.getpid())).touch()
        (Path(folder) / f"asked-{id}").touch()
    if id in os.environ.get("FAKE_WAIT", "").split():
        time.sleep(600)
    if id in os.environ.get("FAKE_KILL", "").split():
        os.kill(os.getpid(), signal.SIGKILL)
    same = as_printed("one", 1.0, 1.0)
    finding = Finding(computed=f"fake {id}", comparisons=(same,), data={"x": [1.0, float("nan")]})
    return Record(papers.get(id), finding, 0.25, "", ("four_bar",))
