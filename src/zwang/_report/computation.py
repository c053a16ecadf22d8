"""Claims computed in this process or in several, with their pictures as markup where a report shall show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zwang import papers
from zwang._plot import draw_mechanism, new_figure
from zwang._report.drawings import pose_of
from zwang._report.figures import svg
from zwang._report.page import slug
from zwang._workers import Lost, work_through
from zwang.papers import Chapter, Claim, Finding, Picture, Record, Workshop

__all__ = ["Markup", "compute", "openings"]

Task = tuple[str, bool, bool]
"""The id of a claim, whether in full, whether with pictures."""


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
    else:
        text = svg(made, slug(f"{prefix}-{picture.name}"), picture.caption, tight=picture.tight)
    return replace(picture, make=Markup(text))


def run_one(task: Task) -> Record:
    """Compute the claim of an id; its pictures are made, or left out."""
    id, full, pictures = task
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
    jobs: int = 0,
    full: bool = False,
    pictures: bool = False,
    known: Mapping[str, Record] | None = None,
    report: Callable[[Record], None] | None = None,
    run: Callable[[Task], Record] = run_one,
) -> list[Record]:
    """Compute claims and return their records in the same order.

    Parameters
    ----------
    claims : sequence of Claim
    jobs : int
        Processes; 0: all in this one.
    full, pictures : bool
        Whether to make long searches, and whether to make the pictures.
    known : mapping of str to Record, optional
        By id, what need not be computed.
    report : callable, optional
        Called with each record when it is there.
    run : callable
        What computes one: a function of a module.
    """
    found = {item.id: known[item.id] for item in claims if known and item.id in known}
    left = [item for item in claims if item.id not in found]
    for record in _records(left, min(jobs, len(left)), full, pictures, run):
        found[record.claim.id] = record
        if report is not None:
            report(record)
    return [found[item.id] for item in claims]


def _records(
    claims: Sequence[Claim], jobs: int, full: bool, pictures: bool, run: Callable[[Task], Record]
) -> Iterator[Record]:
    by_id = {item.id: item for item in claims}
    tasks = [[(item.id, full, pictures) for item in group] for group in together(claims)]
    if jobs < 1:
        yield from (run(task) for group in tasks for task in group)
        return
    for task, record in work_through(run, tasks, workers=jobs):
        yield failed(by_id[task[0]], record) if isinstance(record, Lost) else record


def failed(claim: Claim, lost: Lost) -> Record:
    """Return the record of a claim whose computation gave nothing."""
    return Record(claim, Finding(computed="", reason=lost.reason), 0.0, lost.details or lost.reason)


def together(claims: Sequence[Claim]) -> list[list[Claim]]:
    """Return the claims by their modules: claims of a module share what they compute."""
    groups: dict[str, list[Claim]] = {}
    for item in claims:
        groups.setdefault(item.compute.__module__, []).append(item)
    return list(groups.values())
