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

from zwang._numerics.certificates.proofs import EVERY_FORCE, Proof
from zwang._numerics.planar.modes import Law
from zwang._numerics.planar.reduced import Reduced

Array = npt.NDArray[np.float64]

MOST_SIGNS = 256
NONE_BELOW = 1e-7
"""Unbalanced acceleration per unit of force that counts as a proof that there is no self-stress."""
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


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
    from scipy.optimize import linprog

    if free.shape[1]:
        inner = free.T @ gram @ free
        if np.linalg.eigvalsh(inner)[0] <= 1e-10:
            return 0.0
    if not cone.shape[1]:
        return 1.0
    matrix = gram @ np.concatenate([cone, free], axis=1)
    ones = np.ones((len(gram), 1))
    count, extra = cone.shape[1], free.shape[1]
    result = linprog(
        np.append(np.zeros(count + extra), 1.0),
        A_ub=np.block([[matrix, -ones], [-matrix, -ones]]),
        b_ub=np.zeros(2 * len(gram)),
        A_eq=np.concatenate([np.ones(count), np.zeros(extra + 1)])[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * count + [(None, None)] * (extra + 1),
        method="highs",
        options=EXACT,
    )
    return float(result.fun) if result.status == 0 else 0.0


def _copositive(problem: Reduced) -> Proof | None:
    from scipy.optimize import linprog

    kind = "copositivity"
    head = "The contacts are at rest and one-sided: a copositive complementarity problem"
    if not problem.bias.any():
        return Proof(
            kind, 0.0, EVERY_FORCE, f"{head} with zero biases, so a solution exists for every force.", exists=True
        )
    cone, free = _generators(problem, {})
    both = np.concatenate([cone, free, -free], axis=1)
    result = linprog(
        -(problem.bias @ both),
        A_eq=problem.gram @ both,
        b_eq=np.zeros(problem.size),
        bounds=[(0, 1)] * both.shape[1],
        method="highs",
        options=EXACT,
    )
    if result.status != 0 or -result.fun > 1e-9:
        return None
    number = float(-result.fun)
    sentence = (
        f"{head}, and no self-stress does work on the biases (at most {number:.3g}): a solution exists for every force."
    )
    return Proof(kind, number, EVERY_FORCE, sentence, exists=True)
