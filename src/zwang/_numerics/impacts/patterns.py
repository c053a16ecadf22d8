"""The pattern of an impact: which contacts carry an impulse, which of them stick, in each phase of the law.

A law of impact is a search for the pattern; inside one pattern its outcome is the solution of linear equations, and a
smooth function of the state. That is what nearby motions see of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.impacts.impact_problem import CONTACT, HELD, ImpactOutcome, ImpactProblem
from zwang._numerics.impacts.newton_restitution import newton_jumps
from zwang._numerics.impacts.poisson import expansions

Array = NDArray[np.float64]
ZERO = 1e-9
"""Impulses and slips up to this, relative to the largest of their phase, are zero."""


@dataclass(frozen=True)
class PhasePattern:
    """One phase: the contacts whose normal row is met, those that stick, and (contact, sign) of those that slip."""

    carrying: tuple[int, ...]
    sticking: tuple[int, ...]
    slipping: tuple[tuple[int, int], ...]


class NearbyImpacts(NamedTuple):
    """Many impacts of the same contacts, side by side.

    Attributes
    ----------
    response : (B, n, n) array
        Inverse masses.
    velocity : (B, n) array
    normals, tangents : (B, k, n) arrays
        Rows; zero where a contact has no tangent.
    rate0, slip0 : (B, k) arrays
        Parts of rates and slips that don't depend on the velocities.
    sides : (B, k, 2) array
        Coefficients against a slip > 0 and one < 0.
    restitution : (B, k) array
    """

    response: Array
    velocity: Array
    normals: Array
    tangents: Array
    rate0: Array
    slip0: Array
    sides: Array
    restitution: Array


def alone(problem: ImpactProblem) -> NearbyImpacts:
    """Return one impact, as a row of such."""
    contacts, n = problem.contacts, len(problem.velocity)
    flat = [(one.tangent[0], one.slip_rate0[0]) if len(one.tangent) else (np.zeros(n), 0.0) for one in contacts]
    return NearbyImpacts(
        problem.response[None],
        problem.velocity[None],
        problem.normals[None],
        np.array([tangent for tangent, _ in flat]).reshape(1, -1, n),
        np.array([[one.rate0 for one in contacts]]),
        np.array([[float(slip) for _, slip in flat]]),
        np.array([one.sides or (0.0, 0.0) for one in contacts]).reshape(1, -1, 2),
        _restitution(problem)[None],
    )


def pattern_map(
    problem: ImpactProblem, law: str | None, outcome: ImpactOutcome | None = None
) -> Callable[[NearbyImpacts], Array] | None:
    """Return the velocities (B, n) after nearby impacts with the same pattern.

    None where the outcome is not unique or not of this form: friction in planes, the energetic law. `outcome` is that
    of Newton's law, where it is known and unique.

    Examples
    --------
    >>> from zwang._numerics.impacts.impact_problem import ImpactContact
    >>> floor = ImpactContact([0, 1], restitution=0.5, friction=0.1, tangent=[1, 0], name="floor")
    >>> after = pattern_map(ImpactProblem(np.eye(2), [1.0, -2.0], [floor]), "newton")
    >>> after(alone(ImpactProblem(np.eye(2), [1.0, -2.2], [floor])))
    array([[0.67, 1.1 ]])
    """
    if law == "energetic" or any(len(one.tangent) > 1 and one.rubs for one in problem.contacts):
        return None
    e, kinds = _restitution(problem), np.array([one.kind for one in problem.contacts])
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
        return lambda other: _poisson(other, kinds, *phases)
    if outcome is None:
        found = newton_jumps(problem, e).found
        if len(found) != 1:
            return None
        normal, after = found[0].normal, problem.velocity + found[0].w
    else:
        normal, after = outcome.normal, outcome.velocity
    pattern = _pattern(problem, normal, after, np.zeros(len(e)))

    def newton(other: NearbyImpacts) -> Array:
        rates = _rates(other, other.velocity)
        back = np.where(kinds == HELD, 0.0, other.restitution * np.minimum(rates, 0.0))
        return np.asarray(other.velocity + _solved(other, pattern, other.velocity, -rates - back)[0])

    return newton


def _restitution(problem: ImpactProblem) -> Array:
    return np.array([one.restitution or 0.0 for one in problem.contacts])


def _rates(impacts: NearbyImpacts, velocity: Array) -> Array:
    return np.asarray(np.einsum("bkn,bn->bk", impacts.normals, velocity) + impacts.rate0)


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


def _poisson(impacts: NearbyImpacts, kinds: NDArray[np.str_], first: PhasePattern, second: PhasePattern) -> Array:
    w, normal = _solved(impacts, first, impacts.velocity, -_rates(impacts, impacts.velocity))
    least = np.where(kinds == CONTACT, impacts.restitution * np.maximum(normal, 0.0), 0.0)
    middle = impacts.velocity + w
    rests = (kinds == HELD) | (np.abs(normal) > 0)
    more, _ = _solved(impacts, second, middle, np.where(rests, 0.0, -_rates(impacts, middle)), least)
    return np.asarray(middle + more)


def _solved(
    impacts: NearbyImpacts, pattern: PhasePattern, velocity: Array, target: Array, least: Array | None = None
) -> tuple[Array, Array]:
    """Return the jumps of the velocity and the normal impulses of a phase in a pattern."""
    carrying, sticking = list(pattern.carrying), list(pattern.sticking)
    push = impacts.normals.copy()
    for j, sign in pattern.slipping:  # friction goes with the normal impulse
        push[:, j] -= sign * impacts.sides[:, j, [0 if sign > 0 else 1]] * impacts.tangents[:, j]
    normal = np.zeros(target.shape) if least is None else least.copy()
    start = np.einsum("bmn,bk,bkn->bm", impacts.response, normal, push)
    columns = np.concatenate([push[:, carrying], impacts.tangents[:, sticking]], axis=1)
    if not columns.shape[1]:
        return start, normal
    rows = np.concatenate([impacts.normals[:, carrying], impacts.tangents[:, sticking]], axis=1)
    slips = np.einsum("bkn,bn->bk", impacts.tangents[:, sticking], velocity) + impacts.slip0[:, sticking]
    needed = np.concatenate([target[:, carrying], -slips], axis=1) - np.einsum("bkn,bn->bk", rows, start)
    spread = impacts.response @ np.swapaxes(columns, 1, 2)
    impulses = np.einsum("bij,bj->bi", np.linalg.pinv(rows @ spread, rcond=1e-12), needed)
    normal[:, carrying] += impulses[:, : len(carrying)]
    return start + np.einsum("bnk,bk->bn", spread, impulses), normal
