"""Contacts at rest: a solution exists unless they can be wedged (Theorem 13 of paper 001, corrected).

A self-stress is a set of reactions in the friction cones that balances itself, N n + T t = 0. If there is none, the
problem with all contacts at rest is coercive, and a solution exists for every force and bias, bilateral contacts
included. With one-sided friction (and two-sided constraints without) the problem is a copositive linear
complementarity problem, and a solution exists for every force if bias . N + tangent_bias . T <= 0 for every
self-stress; so always with zero biases.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.certificates.proofs import EVERY_FORCE, Proof
from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.linear.programs import deepest
from zwang._numerics.linear.rank import GRAM

Array = npt.NDArray[np.float64]

MOST_SIGNS = 64  # combinations of signs of two-sided contacts: some 0.1 s
NONE_BELOW = 1e-7
"""Unbalanced acceleration per unit of force that counts as a proof that there is no self-stress."""
WORKLESS = 1e-9
"""Work of a self-stress on the biases that counts as none."""


def at_rest(problem: Reduced) -> bool:
    """Whether no Coulomb contact slides."""
    sliding = {Law.BILATERAL_SLIDING, Law.UNILATERAL}
    return not any(law in sliding and mu > 0 for law, mu in zip(problem.laws, problem.friction, strict=True))


def self_stress(problem: Reduced) -> Proof | None:
    """Return a certificate of existence, None if none holds."""
    if not at_rest(problem) or not (problem.friction > 0).any():
        return None
    two_sided = [c for c, law in enumerate(problem.laws) if law is Law.BILATERAL_REST]
    if 2 ** len(two_sided) > MOST_SIGNS:
        return None
    margin = np.inf
    for signs in itertools.product((1, -1), repeat=len(two_sided)):
        cone, free = _generators(problem, dict(zip(two_sided, signs, strict=True)))
        margin = min(margin, _imbalance(problem.gram, cone, free))
        if margin <= NONE_BELOW:
            break
    if margin > NONE_BELOW:
        return Proof(
            "Theorem 13, no self-stress",
            margin,
            EVERY_FORCE,
            f"The contacts are at rest and no reactions in their friction cones balance each other (least unbalanced "
            f"acceleration {margin:.3g} per unit force): a solution exists for every force and bias.",
            exists=True,
        )
    return None if two_sided else _copositive(problem)


def _generators(problem: Reduced, signs: dict[int, int]) -> tuple[Array, Array]:
    """Columns of z that generate the friction cones, and those of free normal forces."""
    cone: list[Array] = []
    free: list[Array] = []
    for c, law in enumerate(problem.laws):
        if problem.normal[c] < 0:
            continue
        unit = np.zeros(problem.size)
        unit[problem.normal[c]] = 1.0
        if law is Law.BILATERAL:
            free.append(unit)
            continue
        if problem.friction[c] == 0:
            cone.append(unit)
            continue
        for turn in (1.0, -1.0):
            edge = signs.get(c, 1) * unit
            edge[problem.tangent[c]] = turn * problem.friction[c]
            cone.append(edge / (1.0 + problem.friction[c]))
    shape = (-1, problem.size)
    return np.reshape(np.array(cone), shape).T, np.reshape(np.array(free), shape).T


def _imbalance(gram: Array, cone: Array, free: Array) -> float:
    """The least acceleration that a unit of cone forces leaves, whatever the free ones do; 0 with a self-stress."""
    if free.shape[1] and np.linalg.eigvalsh(free.T @ gram @ free)[0] <= GRAM:
        return 0.0
    count, extra = cone.shape[1], free.shape[1]
    if not count:
        return 1.0
    matrix = gram @ np.concatenate([cone, free], axis=1)
    # -t is largest where |matrix @ x| <= t, x >= 0 for the cone's forces, their sum 1
    rows = np.concatenate([matrix, -matrix, np.eye(count, count + extra)])
    weight = np.append(np.ones(2 * len(gram)), np.zeros(count))
    total = np.concatenate([np.ones(count), np.zeros(extra), [-1.0]])[None, :]
    found = deepest(total, np.column_stack([rows, np.zeros(len(rows))]), weight)
    return 0.0 if found is None else -found[1]


def _copositive(problem: Reduced) -> Proof | None:
    kind = "copositivity"
    head = "The contacts are at rest and one-sided: a copositive complementarity problem"
    if not problem.bias.any():
        return Proof(
            kind, 0.0, EVERY_FORCE, f"{head} with zero biases, so a solution exists for every force.", exists=True
        )
    cone, free = _generators(problem, {})
    both = np.concatenate([cone, free, -free], axis=1)
    count = both.shape[1]
    rows = np.concatenate([(problem.bias @ both)[None, :], np.eye(count), -np.eye(count)])
    constants = np.concatenate([np.zeros(count + 1), np.ones(count)])
    balance = np.column_stack([problem.gram @ both, np.zeros(problem.size)])
    found = deepest(balance, np.column_stack([rows, constants]), np.eye(1, len(rows))[0])
    if found is None or found[1] > WORKLESS:
        return None
    work = f"and no self-stress does work on the biases (at most {found[1]:.3g})"
    return Proof(kind, found[1], EVERY_FORCE, f"{head}, {work}: a solution exists for every force.", exists=True)
