"""Which of the solutions that solvers found stand: each once, and none whose slip from rest yields to sticking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zwang._numerics.contact.modes import Mode
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.contact.scaled import has_rest
from zwang._numerics.contact.variants import special_contacts
from zwang._results.reactions import Solution

SAME = 1e-7
"""Relative difference of forces below which two solutions are one: ten times what solvers may err."""


def standing(problem: ContactProblem, solutions: Sequence[Solution], slip_tol: float) -> list[Solution]:
    """Return solutions once each, without those in which a slip from rest yields to sticking."""
    static = [j for j in special_contacts(problem, slip_tol) if has_rest(problem, j)]
    once: list[Solution] = []
    for solution in solutions:
        if not any(same_forces(solution, other) for other in once):
            once.append(solution)
    modes = {solution.modes.codes for solution in once}
    return [solution for solution in once if not any(_yields(solution.modes.codes, j, modes) for j in static)]


def _yields(codes: tuple[Mode, ...], j: int, modes: set[tuple[Mode, ...]]) -> bool:
    if not codes[j].slips:
        return False
    return any((*codes[:j], stick, *codes[j + 1 :]) in modes for stick in (Mode.STICK, Mode.STICK_PULLS))


def same_forces(one: Solution, other: Solution) -> bool:
    """Whether two solutions have the same forces, up to what solvers may err."""
    # Forces give the acceleration; that of a system at rest is rounding and tells nothing.
    first, second = (np.concatenate([item.normal.ravel(), item.tangential.ravel()]) for item in (one, other))
    return bool(np.abs(first - second).max(initial=0.0) <= SAME * np.abs(second).max(initial=0.0))
