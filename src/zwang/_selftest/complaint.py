"""What a self-test finds: words, and the smallest program that shows it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

Problem = TypeVar("Problem")

TRIES = 300
"""Simpler problems that are tried before the smallest found so far is told."""


@dataclass(frozen=True)
class Complaint:
    """Something that is not as it should be.

    Attributes
    ----------
    words : str
        What was expected, and what is.
    program : str
        A short program or input that shows it.
    """

    words: str
    program: str


def generator(kind: str, seed: int, index: int) -> np.random.Generator:
    """Return the source of everything random in a problem."""
    return np.random.default_rng([seed, index, zlib.crc32(kind.encode())])


def shrunk(
    problem: Problem, simpler: Callable[[Problem], Iterable[Problem]], wrong: Callable[[Problem], str]
) -> Problem:
    """Return a problem that is wrong as the given one is, and of which no simpler one is.

    Parameters
    ----------
    problem : the first one found
    simpler : gives problems that differ by one step of simplification, the boldest first
    wrong : says what is wrong with a problem; problems that say so in other words are another matter
    """
    first, tries = gist(wrong(problem)), 0
    again = True
    while again:
        again = False
        for candidate in simpler(problem):
            tries += 1
            if tries > TRIES:
                return problem
            if gist(wrong(candidate)) == first:
                problem, again = candidate, True
                break
    return problem


def gist(words: str) -> str:
    """The first words of a complaint, without its figures: what two problems have in common."""
    return " ".join(word for word in words.split(":", maxsplit=1)[0].split()[:4] if not any(c.isdigit() for c in word))
