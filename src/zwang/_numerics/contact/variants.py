"""Sections of two sizes, and rest with a law of its own, where solvers know round cones alone: plain problems instead.

Each such contact at rest is made plain in every way that its modes allow. In a plane it may stick by what holds at rest
(on tangents multiplied by the semi-axes that is a round cone again) or have the cone of slip; along a line it may
stick, or slide in either direction with the coefficient against it. What solvers find for these is to be compared with
the laws as they were given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.problem import ContactProblem, is_sparse
from zwang._numerics.contact.scaled import has_rest

Array = npt.NDArray[np.float64]
MOST = 81
"""Plain problems beyond which only those next to sticking are asked."""


@dataclass(frozen=True)
class Variant:
    """A plain problem, and the factors (k, 2) of its friction forces."""

    problem: ContactProblem
    factors: Array


def special_contacts(problem: ContactProblem, slip_tol: float) -> list[int]:
    """Return the contacts at rest whose section is no disc, or whose rest has a law of its own."""
    rows = problem.rows
    if rows.plain:
        return []
    found = []
    for j in range(rows.count):
        own = rows.slip[rows.first[j] : rows.first[j + 1]]
        if not len(own) or np.linalg.norm(own) > slip_tol:
            continue
        two = rows.sides is not None and rows.sides[j, 0] != rows.sides[j, 1]
        if (two or has_rest(problem, j)) and (rows.friction[j] > 0 or two):
            found.append(j)
    return found


def variants(problem: ContactProblem, special: Sequence[int]) -> tuple[list[Variant], bool]:
    """Return plain problems whose solutions hold all of the given one, and whether these are all of them."""
    options = [("stick", "slip") if problem.rows.components[j] == 2 else ("stick", "+", "-") for j in special]
    whole = int(np.prod([len(item) for item in options])) <= MOST
    chosen = product(*options) if whole else _near_sticking(options)
    return [_variant(problem, dict(zip(special, choice, strict=True))) for choice in chosen], whole


def _near_sticking(options: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield: all stick; all in planes slip; each one alone otherwise."""
    still = tuple(item[0] for item in options)
    yield still
    yield tuple("slip" if "slip" in item else "stick" for item in options)
    for i, item in enumerate(options):
        for other in item[1:]:
            yield (*still[:i], other, *still[i + 1 :])


def _variant(problem: ContactProblem, choice: dict[int, str]) -> Variant:
    rows = problem.rows
    friction, slip = rows.friction.copy(), rows.slip.copy()
    factors = np.ones((rows.count, 2))
    for j, what in choice.items():
        sides = (friction[j], friction[j]) if rows.sides is None else rows.sides[j]
        held = rows.resting[j] if rows.resting is not None and has_rest(problem, j) else sides
        if what == "stick" and rows.components[j] == 2:
            friction[j], factors[j] = 1.0, held
        elif what == "stick":
            friction[j] = max(held)
        elif what != "slip":
            friction[j] = sides[0] if what == "+" else sides[1]
            slip[rows.first[j]] = 1.0 if what == "+" else -1.0
    scale = factors[np.arange(2) < rows.components[:, None]]
    tangent: Any = rows.tangent
    tangent = tangent.multiply(scale[:, None]).tocsr() if is_sparse(tangent) else scale[:, None] * tangent
    plain = replace(
        rows,
        tangent=tangent,
        tangent_bias=scale * rows.tangent_bias,
        friction=friction,
        slip=slip,
        sides=None,
        resting=None,
        axes=None,
    )
    return Variant(problem.with_rows(plain), factors)


def least_held(problem: ContactProblem, j: int) -> float:
    """Return the smallest coefficient that holds a contact at rest in any direction."""
    rows = problem.rows
    if rows.resting is not None and has_rest(problem, j):
        return float(rows.resting[j].min())
    return float(rows.friction[j] if rows.sides is None else rows.sides[j].min())
