"""`Chapter`: how the report tells a paper: its question, a picture, the answer, and the claims in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from zwang.papers.claim import Record
from zwang.papers.findings import Picture
from zwang.papers.workshop import Workshop

__all__ = ["Chapter", "Section"]


@dataclass(frozen=True)
class Section:
    """Claims that belong together.

    Attributes
    ----------
    module : str
        The module of this package whose claims they are, such as 'paper_001.pile'.
    title : str
    lead : str
        What a reader needs to know first.
    system : str
        The gallery system whose drawing the section begins with, if any.
    picture : callable or None
        Gets a `Workshop` and returns another picture to begin with.
    """

    module: str
    title: str
    lead: str = ""
    system: str = ""
    picture: Callable[[Workshop], Picture] | None = None


@dataclass(frozen=True)
class Chapter:
    """A paper, for a person who doesn't know it. In texts, `backticks` hold formulas.

    Attributes
    ----------
    paper : str
        '000' to '004', or 'joint' for where they meet.
    title, source : str
    question : str
        What is asked, in everyday words.
    answer : callable
        Gets the records of the chapter by id (those that were computed) and returns the answer, with computed numbers.
    sections : tuple of Section
    picture : callable or None
        Gets a `Workshop` and returns the picture that the chapter begins with.
    """

    paper: str
    title: str
    source: str
    question: str
    answer: Callable[[Mapping[str, Record]], str]
    sections: tuple[Section, ...] = ()
    picture: Callable[[Workshop], Picture] | None = None
