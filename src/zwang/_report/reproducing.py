"""Claims computed in this process or in several, with their pictures as markup where a report shall show them."""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any

from zwang import papers
from zwang._plot import draw_mechanism, new_figure
from zwang._report.drawings import pose_of
from zwang._report.figures import png, svg
from zwang._report.page import slug
from zwang.papers import Chapter, Claim, Picture, Record, Workshop

__all__ = ["Markup", "compute", "openings"]


@dataclass(frozen=True)
class Markup:
    """A picture that was made: calling it returns its markup."""

    text: str

    def __call__(self) -> str:
        return self.text


def drawn(picture: Picture, prefix: str) -> Picture:
    """Return a picture as markup."""
    made: Any = picture.make()
    if isinstance(made, str):
        text = made
    elif picture.raster:
        text = png(made, picture.caption, dpi=120)
    else:
        text = svg(made, slug(f"{prefix}-{picture.name}"), picture.caption, tight=picture.tight)
    return replace(picture, make=Markup(text))


def run_one(id: str, full: bool, pictures: bool) -> Record:
    """Compute the claim of an id; its pictures are made, or left out."""
    record = papers.get(id).run(full=full)
    made = tuple(drawn(item, id) for item in record.pictures) if pictures else ()
    return replace(record, finding=replace(record.finding, pictures=made))


def openings(chapter: Chapter) -> dict[str, Picture]:
    """Return, as markup, the pictures that a chapter ('') and its sections (by module) begin with."""
    found: dict[str, Picture] = {}
    shop = Workshop()
    if chapter.picture is not None:
        found[""] = drawn(chapter.picture(shop), f"opening-{chapter.paper}")
    for section in chapter.sections:
        made = _drawing(section.system) if section.system else None
        if section.picture is not None:
            made = section.picture(shop)
        if made is not None:
            found[section.module] = drawn(made, f"opening-{chapter.paper}-{section.module}")
    return found


def _drawing(name: str) -> Picture:
    """Return the drawing of a gallery system at its state."""
    entry = papers.Workshop().entry(name)

    def make() -> Any:
        figure, ax = new_figure((3.4, 2.4))
        draw_mechanism(pose_of(entry.system, entry.state, entry.params), ax=ax)
        return figure

    return Picture("drawing", f"{entry.title[:1].upper()}{entry.title[1:]}.", make, tight=True)


def compute(
    claims: Sequence[Claim],
    *,
    jobs: int = 1,
    full: bool = False,
    pictures: bool = False,
    report: Callable[[int, str], None] | None = None,
) -> list[Record]:
    """Compute claims and return their records in the same order.

    Parameters
    ----------
    claims : sequence of Claim
    jobs : int
        Processes.
    full, pictures : bool
        Whether to make long searches, and whether to make the pictures.
    report : callable, optional
        Called with the number done and the id of one that was done.
    """
    found: dict[str, Record] = {}
    for record in _records(claims, min(jobs, len(claims)), full, pictures):
        found[record.claim.id] = record
        if report is not None:
            report(len(found), record.claim.id)
    return [found[item.id] for item in claims]


def _records(claims: Sequence[Claim], jobs: int, full: bool, pictures: bool) -> Iterator[Record]:
    if jobs <= 1:
        for item in claims:
            yield run_one(item.id, full, pictures)
        return
    # Threads of the linear algebra inside several processes would only get in each other's way.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    spawn = multiprocessing.get_context("spawn")
    pools = [ProcessPoolExecutor(1, mp_context=spawn) for _ in range(jobs)]
    try:
        yield from _shared_out(pools, _together(claims), full, pictures)
    finally:  # also when somebody presses Ctrl-C: what has not begun is not begun any more
        for pool in pools:
            pool.shutdown(wait=True, cancel_futures=True)


def _together(claims: Sequence[Claim]) -> list[deque[str]]:
    """Return the ids by the modules of their claims: claims of a module share what they compute."""
    groups: dict[str, deque[str]] = {}
    for item in claims:
        groups.setdefault(item.compute.__module__, deque()).append(item.id)
    return list(groups.values())


def _shared_out(
    pools: Sequence[ProcessPoolExecutor], groups: list[deque[str]], full: bool, pictures: bool
) -> Iterator[Record]:
    """Give each process one module after the other; a process that finds none helps with what is left of another's."""
    waiting = deque(groups)
    mine: dict[int, deque[str]] = {place: deque() for place in range(len(pools))}
    running: dict[Future[Record], int] = {}

    def begin(place: int) -> None:
        if not mine[place] and waiting:
            mine[place] = waiting.popleft()
        if not mine[place]:
            longest = max(mine.values(), key=len)
            if not longest:
                return
            mine[place] = deque([longest.pop()])
        running[pools[place].submit(run_one, mine[place].popleft(), full, pictures)] = place

    for place in mine:
        begin(place)
    while running:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for one in done:
            begin(running.pop(one))
            yield one.result()
