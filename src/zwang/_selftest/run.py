"""Many problems in several processes: each with a limit on its time and memory, and the whole with a clock."""

from __future__ import annotations

import multiprocessing as mp
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from zwang._selftest.check_worker import checked, serve
from zwang._selftest.complaint import Complaint
from zwang._selftest.problem_kinds import KINDS
from zwang.errors import DeclarationError

START = 300.0
"""Seconds that a process may take for its first problem of a kind: imports, and kernels that are not compiled yet."""
ROUNDS = 4_000
"""Problems after which a process is replaced by a fresh one: what leaks is not the next problem's fault."""
MOST = 20
"""Complaints of a kind after which it is not asked any more."""


@dataclass(frozen=True)
class Discovery:
    """A complaint about one problem, and the command that makes it again."""

    kind: str
    seed: int
    index: int
    complaint: Complaint

    @property
    def command(self) -> str:
        """The command that checks this problem alone."""
        return f"zwang selftest --kind {self.kind} --seed {self.seed} --index {self.index}"


@dataclass
class Summary:
    """How many problems of each kind were checked, the seconds spent on them, and what was found."""

    seed: int
    counts: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    findings: list[Discovery] = field(default_factory=list)


@dataclass
class _Hand:
    """A process, what it is doing, and since when."""

    process: Any
    calls: Connection
    task: tuple[str, int] | None = None
    since: float = 0.0
    done: int = 0
    known: set[str] = field(default_factory=set)

    @property
    def late(self) -> bool:
        if self.task is None:
            return False
        kind = self.task[0]
        return time.monotonic() - self.since > KINDS[kind].seconds + (0.0 if kind in self.known else START)


def known_kinds(names: Iterable[str]) -> list[str]:
    """Return the kinds of these names, all of them for none."""
    chosen = list(dict.fromkeys(names)) or list(KINDS)
    for name in chosen:
        if name not in KINDS:
            raise DeclarationError(f"selftest: there is no kind {name!r}; the kinds are {', '.join(KINDS)}.")
    return chosen


def one(kind: str, seed: int, index: int) -> Discovery | None:
    """Check one problem in this process."""
    known_kinds([kind])
    complaint = checked(kind, seed, index)
    return None if complaint is None else Discovery(kind, seed, index, complaint)


def run(
    *,
    minutes: float = 10.0,
    seed: int = 0,
    kinds: Sequence[str] = (),
    count: int | None = None,
    workers: int | None = None,
    prepare: Callable[[], None] | None = None,
    report: Callable[[Summary], None] | None = None,
) -> Summary:
    """Check problems until the time is over, or `count` of each kind; Ctrl-C ends it and keeps what was found.

    Parameters
    ----------
    minutes : float
        How long.
    seed : int
        Problem `index` of a kind is the same in every run with this seed.
    kinds : sequence of str
        Which; all of them by default.
    count : int, optional
        Problems of each kind, whatever time they take.
    workers : int, optional
        Processes; as many as there are cores by default.
    prepare : callable, optional
        Called first in every process.
    report : callable, optional
        Called with the summary so far, about twice a second.
    """
    chosen = known_kinds(kinds)
    summary = Summary(seed, dict.fromkeys(chosen, 0), dict.fromkeys(chosen, 0.0))
    given = dict.fromkeys(chosen, 0)
    end = time.monotonic() + 60.0 * minutes
    hands = [_hire(prepare) for _ in range(workers or os.cpu_count() or 1)]
    told = time.monotonic()

    def next_task() -> tuple[str, int] | None:
        open_kinds = [kind for kind in chosen if _goes_on(summary, kind, given[kind], count)]
        if not open_kinds or (count is None and time.monotonic() > end):
            return None
        kind = min(open_kinds, key=lambda name: summary.seconds[name] / KINDS[name].share)
        index = given[kind]
        given[kind] += 1
        # Counted when it is given, so that kinds take turns also while their first problems compile.
        summary.seconds[kind] += 1e-3
        return kind, index

    try:
        while True:
            for place, hand in enumerate(hands):
                if hand.task is None:
                    task = next_task()
                    if task is not None:
                        hands[place] = _fresh(hand, prepare)
                        _ask(hands[place], task, seed)
            if all(hand.task is None for hand in hands):
                return summary
            for ready in wait([hand.calls for hand in hands if hand.task is not None], timeout=0.5):
                _take(next(hand for hand in hands if hand.calls is ready), summary)
            for place, hand in enumerate(hands):
                if hand.late or (hand.task is not None and not hand.process.is_alive() and not hand.calls.poll()):
                    _give_up(hand, summary)
                    hands[place] = _hire(prepare)
            if report is not None and time.monotonic() - told > 0.5:
                told = time.monotonic()
                report(summary)
    except KeyboardInterrupt:
        return summary
    finally:
        for hand in hands:
            _dismiss(hand)


def _goes_on(summary: Summary, kind: str, given: int, count: int | None) -> bool:
    found = sum(finding.kind == kind for finding in summary.findings)
    return found < MOST and (count is None or given < count)


def _hire(prepare: Callable[[], None] | None) -> _Hand:
    context = mp.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, prepare), daemon=True)
    process.start()
    theirs.close()
    return _Hand(process, ours)


def _fresh(hand: _Hand, prepare: Callable[[], None] | None) -> _Hand:
    if hand.done < ROUNDS:
        return hand
    _dismiss(hand)
    return _hire(prepare)


def _ask(hand: _Hand, task: tuple[str, int], seed: int) -> None:
    hand.task, hand.since = task, time.monotonic()
    hand.calls.send((task[0], seed, task[1]))


def _take(hand: _Hand, summary: Summary) -> None:
    try:
        kind, index, complaint = hand.calls.recv()
    except (EOFError, OSError):
        return  # it died; the watch sees that
    summary.counts[kind] += 1
    summary.seconds[kind] += time.monotonic() - hand.since
    hand.done += 1
    hand.known.add(kind)
    hand.task = None
    if complaint is not None:
        summary.findings.append(Discovery(kind, summary.seed, index, complaint))


def _give_up(hand: _Hand, summary: Summary) -> None:
    """Count a problem that hangs, or whose process is gone."""
    kind, index = hand.task or ("", 0)
    waited = time.monotonic() - hand.since
    words = f"does not end within {waited:.0f} s" if hand.process.is_alive() else "ends the process that checks it"
    summary.counts[kind] += 1
    summary.seconds[kind] += waited
    summary.findings.append(Discovery(kind, summary.seed, index, Complaint(words, "")))
    _dismiss(hand)


def _dismiss(hand: _Hand) -> None:
    hand.calls.close()
    if hand.task is None:
        hand.process.join(2.0)
    if hand.process.is_alive():
        hand.process.kill()
    hand.process.join()
