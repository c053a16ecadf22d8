"""The pattern of an impact: which contacts carry an impulse, which of them stick, in each phase of the law.

A law of impact is a search for the pattern; inside one pattern its outcome is the solution of linear equations, and a
smooth function of the state. That is what nearby motions see of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.impacts.newton import newton_jumps
from zwang._numerics.impacts.poisson import expansions
from zwang._numerics.impacts.problem import CONTACT, HELD, ImpactOutcome, ImpactProblem

Array = NDArray[np.float64]
ZERO = 1e-9
"""Impulses and slips up to this, relative to the largest of their phase, are zero."""


@dataclass(frozen=True)
class PhasePattern:
    """One phase: the contacts whose normal row is met, those that stick, and (contact, sign) of those that slip."""

    carrying: tuple[int, ...]
    sticking: tuple[int, ...]
    slipping: tuple[tuple[int, int], ...]


def pattern_map(
    problem: ImpactProblem, law: str | None, outcome: ImpactOutcome | None = None
) -> Callable[[ImpactProblem], Array] | None:
    """Return the velocity after an impact as a function of nearby impacts with the same pattern.

    None where the outcome is not unique or not of this form: friction in planes, the energetic law. `outcome` is that
    of Newton's law, where it is known and unique.

    Examples
    --------
    >>> from zwang._numerics.impacts.problem import ImpactContact
    >>> floor = ImpactContact([0, 1], restitution=0.5, friction=0.1, tangent=[1, 0], name="floor")
    >>> after = pattern_map(ImpactProblem(np.eye(2), [1.0, -2.0], [floor]), "newton")
    >>> after(ImpactProblem(np.eye(2), [1.0, -2.2], [floor]))
    array([0.67, 1.1 ])
    """
    if law == "energetic" or any(len(one.tangent) > 1 and one.rubs for one in problem.contacts):
        return None
    e = _restitution(problem)
    if law == "poisson":
        first = newton_jumps(problem, np.zeros(len(e))).found
        if len(first) != 1:
            return None
        second = expansions(problem, first[0], e).found
        if len(second) != 1:
            return None
        middle = problem.velocity + first[0].w
        phases = (
            _pattern(problem, first[0].normal, middle, np.zeros(len(e))),
            _pattern(problem, second[0].normal, middle + second[0].w, e * np.maximum(first[0].normal, 0.0)),
        )
        return lambda other: _poisson(other, *phases)
    if outcome is None:
        found = newton_jumps(problem, e).found
        if len(found) != 1:
            return None
        normal, after = found[0].normal, problem.velocity + found[0].w
    else:
        normal, after = outcome.normal, outcome.velocity
    pattern = _pattern(problem, normal, after, np.zeros(len(e)))
    return lambda other: other.velocity + _solved(other, pattern, other.velocity, _back(other, _restitution(other)))[0]


def _restitution(problem: ImpactProblem) -> Array:
    return np.array([one.restitution or 0.0 for one in problem.contacts])


def _back(problem: ImpactProblem, e: Array) -> Array:
    """Return what each rate changes by, where its row is met."""
    held = np.array([one.kind == HELD for one in problem.contacts], dtype=bool)
    return np.asarray(-problem.rates - np.where(held, 0.0, e * np.minimum(problem.rates, 0.0)))


def _pattern(problem: ImpactProblem, normal: Array, after: Array, least: Array) -> PhasePattern:
    """Return the pattern of a phase with these normal impulses; `least` are those of them that are given."""
    own = normal - least
    carrying = [
        j
        for j, one in enumerate(problem.contacts)
        if one.kind == HELD or own[j] > ZERO * float(np.abs(normal).max(initial=0.0))
    ]
    sticking, slipping = [], []
    for j, one in enumerate(problem.contacts):
        if not one.rubs or not normal[j]:
            continue
        slip = float(problem.slip_of(j, after)[0])
        size = float(np.abs(one.tangent[0]) @ (np.abs(after) + np.abs(problem.velocity))) + abs(one.slip_rate0[0])
        if abs(slip) <= ZERO * size:
            sticking.append(j)
        else:
            slipping.append((j, 1 if slip > 0 else -1))
    return PhasePattern(tuple(carrying), tuple(sticking), tuple(slipping))


def _poisson(problem: ImpactProblem, first: PhasePattern, second: PhasePattern) -> Array:
    e = _restitution(problem)
    w, normal = _solved(problem, first, problem.velocity, _back(problem, np.zeros(len(e))))
    is_contact = np.array([one.kind == CONTACT for one in problem.contacts], dtype=bool)
    least = np.where(is_contact, e * np.maximum(normal, 0.0), 0.0)
    middle = problem.velocity + w
    rates = problem.rates_of(middle)
    rests = np.array([one.kind == HELD for one in problem.contacts], dtype=bool) | (np.abs(normal) > 0)
    more, _ = _solved(problem, second, middle, np.where(rests, 0.0, -rates), least)
    return np.asarray(middle + more)


def _solved(
    problem: ImpactProblem, pattern: PhasePattern, velocity: Array, target: Array, least: Array | None = None
) -> tuple[Array, Array]:
    """Return the jump of the velocity and the normal impulses of a phase in a pattern."""
    contacts = problem.contacts
    given = np.zeros(len(contacts)) if least is None else least
    slipping = dict(pattern.slipping)
    push = {}
    for j in {*pattern.carrying, *np.flatnonzero(given).tolist()}:
        push[j] = contacts[j].normal
        if j in slipping:  # friction goes with the normal impulse
            side = contacts[j].sides or (0.0, 0.0)
            push[j] = push[j] - slipping[j] * side[0 if slipping[j] > 0 else 1] * contacts[j].tangent[0]
    columns = [push[j] for j in pattern.carrying] + [contacts[j].tangent[0] for j in pattern.sticking]
    loads = [given[j] * push[j] for j in np.flatnonzero(given).tolist()]
    start = problem.response @ sum(loads, np.zeros(len(velocity)))
    if not columns:
        return start, given
    rows = np.array([contacts[j].normal for j in pattern.carrying] + [contacts[j].tangent[0] for j in pattern.sticking])
    slips = [-float(problem.slip_of(j, velocity)[0]) for j in pattern.sticking]
    needed = np.concatenate([target[list(pattern.carrying)], slips]) - rows @ start
    matrix = rows @ problem.response @ np.array(columns).T
    impulses = np.linalg.lstsq(matrix, needed, rcond=1e-12)[0]
    normal = given.copy()
    normal[list(pattern.carrying)] += impulses[: len(pattern.carrying)]
    return start + problem.response @ np.array(columns).T @ impulses, normal
