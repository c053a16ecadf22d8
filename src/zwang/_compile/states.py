"""States and constraints: how far a state misses them, and the nearest state that does not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.values import Inputs
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.system import System
from zwang._kernels import Kernels, SparseTerms, Terms
from zwang._numerics.linear.kkt import RANK_TOLERANCE, solve_kkt
from zwang.errors import StateError

Array = NDArray[np.float64]
NEWTON_STEPS = 60
CUTS = (0.1, 1e-2, 1e-4, 1e-7, RANK_TOLERANCE)
"""Singular values of unit rows below which they count as dependent, as long as that leads onto the constraints."""
ON = 1e-12
"""Residuals that are rounding, relative to the rows times the coordinates."""


PROJECT = "Use compile(system).project(state, params) for the nearest state that satisfies the bilateral constraints."


def largest_violation(system: System, terms: Terms | SparseTerms) -> tuple[float, str, str]:
    """Return the largest violation of any constraint over all states, what it violates in words, and the cure.

    Bilateral position-level constraints count with their values and rates, unilateral ones where they are penetrated.
    Violations are in the units of the declared expressions and of their rates.
    """
    worst, words, cure = 0.0, "satisfies its constraints", ""
    normals = [item for item in system.constraints if not isinstance(item, Friction)]
    for place, item in enumerate(normals):
        value, rate = terms.value[place], terms.rate[place]
        if isinstance(item, Bilateral):
            misses = [("is off constraint", np.abs(value))]
            if item.level == "position":
                misses.append(("has a velocity that leaves constraint", np.abs(rate)))
        else:
            misses = [("violates constraint", np.maximum(-value, 0.0))]
        for phrase, miss in misses:
            size = float(miss.max())
            if size > worst:
                worst, words = size, f"{phrase} '{item.name}'"
                cure = PROJECT if isinstance(item, Bilateral) else "Move it to where the expression is not negative."
    return worst, words, cure


def project(system: System, kernels: Kernels, inputs: Inputs, tol: float) -> dict[str, float]:
    """Return one state moved onto its bilateral constraints by Newton's method in the kinetic metric."""
    if inputs.shape:
        raise StateError(f"{system.name}: project takes one state; it was given a batch of shape {inputs.shape}.")
    normals = [item for item in system.constraints if not isinstance(item, Friction)]
    held = [place for place, item in enumerate(normals) if isinstance(item, Bilateral)]
    positions = [place for place in held if normals[place].level == "position"]
    q, first = _placed(kernels, inputs, positions, tol)
    least = max(1e3 * tol, 1e-9)
    for cut in CUTS[CUTS.index(first) :]:  # rows that seemed dependent on the way may be independent where it led
        v = inputs.v.copy()
        for _ in range(2):  # the second time takes away the rounding of the first: a slider's speed across is zero then
            terms = kernels.terms(inputs.t, q, v, inputs.params)
            v[:, 0] += _least_change(terms, held, -_rates(normals, terms)[held], cut)
        terms = kernels.terms(inputs.t, q, v, inputs.params)
        size, words, _ = largest_violation(system, terms)
        if size <= least or _holds(normals, terms, q[:, 0], v[:, 0], least):
            break
    else:
        raise StateError(
            f"{system.name}: no state that satisfies the constraints was reached from here: after {NEWTON_STEPS} steps "
            f"of Newton's method the state {words} by {size:.1e}. Start nearer to an admissible state."
        )
    found = {item.name: float(q[i, 0]) for i, item in enumerate(system.coordinates)}
    found |= {item.name: float(v[i, 0]) for i, item in enumerate(system.velocities)}
    return found | {"t": float(inputs.t[0])}


def _placed(kernels: Kernels, inputs: Inputs, positions: list[int], tol: float) -> tuple[Array, float]:
    """Return the positions on the constraints, and below which singular value rows counted as dependent on the way.

    Off the set, constraints that are superfluous on it look independent, and steps that try to meet each of them by
    itself run away along it. So rows that are nearly dependent count as dependent as long as that leads there.
    """
    for cut in CUTS:
        q = inputs.q.copy()
        for _ in range(NEWTON_STEPS):
            terms = kernels.terms(inputs.t, q, inputs.v, inputs.params)
            value = terms.value[positions, 0]
            step = _least_change(terms, positions, -value, cut)
            q[:, 0] += step
            if np.abs(step).max(initial=0.0) <= tol * (1 + np.abs(q).max()):
                break
        rows = np.abs(terms.at(0)[1][positions])
        reach = (rows * (1 + np.abs(q).max())).max(axis=1, initial=0.0)
        if (np.abs(terms.value[positions, 0]) <= ON * reach).all():
            break
    return q, cut


def _holds(normals: list[Any], terms: Terms | SparseTerms, q: Array, v: Array, least: float) -> bool:
    """Whether constraints hold up to a part of what their terms can be: at speeds of 1e9 a rate of 1e-7 is rounding."""
    rows = np.abs(terms.at(0)[1])
    for place, item in enumerate(normals):
        value, rate = float(terms.value[place, 0]), float(terms.rate[place, 0])
        reach, speed = (float(rows[place].max(initial=0.0) * np.abs(each).max(initial=0.0)) for each in (q, v))
        if isinstance(item, Bilateral):
            on = item.level == "position"
            good = abs(value) <= least * (reach if on else speed) and (not on or abs(rate) <= least * speed)
        else:
            good = -value <= least * (reach if item.level == "position" else speed)
        if not good:
            return False
    return True


def _rates(normals: list[Any], terms: Terms | SparseTerms) -> Array:
    """Return what must vanish for velocities: rates of position-level constraints, values of the others."""
    return np.array(
        [(terms.rate if item.level == "position" else terms.value)[place, 0] for place, item in enumerate(normals)]
    )


def _least_change(terms: Terms | SparseTerms, places: list[int], needed: Array, cut: float) -> Array:
    """Return the smallest change in the metric of M that changes the rows by what is needed."""
    mass, every, _, _ = terms.at(0)
    rows = every[places]
    if not np.isfinite(rows).all() or not np.isfinite(needed).all():
        raise StateError("The constraints are not finite on the way to an admissible state. Start nearer to one.")
    return solve_kkt(mass, rows, np.zeros(mass.shape[0]), needed, cut).accelerations
