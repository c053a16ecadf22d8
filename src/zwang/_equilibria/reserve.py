"""How far the forces of a state at rest are inside their bounds, and whether rest is the only acceleration there."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._numerics.contact.contact_rows import ContactRows
from zwang._numerics.contact.pin_sets import deepest_balance
from zwang._numerics.contact.problem import ContactProblem
from zwang._reactions.admissible import contact_problem
from zwang._reactions.verb import reactions
from zwang._results.reactions import Reactions, ReactionsStatus
from zwang.errors import StateError

Array = NDArray[np.float64]
BLUR = 1e-13
"""Part of its size below which a coordinate may be rounding of zero."""
STILL = 1e-7
"""Accelerations below this, relative to what the forces would make, are zero."""
UNIQUE = (ReactionsStatus.UNIQUE, ReactionsStatus.UNIQUE_MOTION)
NEARBY, PLACES = 0.1, 4
"""How far, in parts of the coordinates, and at how many places the size of the forces is looked for."""
FINE = 1e-12
"""To which part of the terms signs are decided where a change of the answer is located."""


def reserve(model: Model, state: Mapping[str, float], params: Mapping[str, float]) -> float:
    """Return by how much the forces that balance a state are inside their bounds, in parts of the forces.

    Negative where they are not; minus infinity where nothing balances it.
    """
    try:
        problem = contact_problem(model, state, params)
    except StateError:
        return -np.inf
    return depth(problem)


def reserve_in_planes(model: Model, state: Mapping[str, float], params: Mapping[str, float]) -> float | None:
    """Return the same with friction in planes, where one set of forces balances a state; None where several may."""
    try:
        problem = contact_problem(model, state, params)
    except StateError:
        return -np.inf
    rows, force = problem.rows, np.asarray(problem.force, dtype=float)
    if rows.of or rows.resting is not None or rows.sides is not None or np.any(rows.slip):
        return None
    normal, tangent = (
        part.toarray() if hasattr(part, "toarray") else np.asarray(part) for part in (rows.normal, rows.tangent)
    )
    scale = float(np.abs(force).max(initial=0.0)) or 1.0
    unknown = np.array([bool(rows.has_normal[j]) and not bool(rows.known[j]) for j in range(rows.count)])
    loads = np.array([float(rows.load[j]) if rows.known[j] else 0.0 for j in range(rows.count)])
    pushed = force + normal.T @ np.where(unknown | ~rows.has_normal, 0.0, loads)
    columns = np.concatenate([normal[unknown], tangent]).T
    found, _, rank, _ = np.linalg.lstsq(columns, -pushed, rcond=None)
    if rank < columns.shape[1]:
        return None
    if np.abs(columns @ found + pushed).max(initial=0.0) > STILL * scale:
        return -np.inf
    loads[unknown] = found[: int(unknown.sum())]
    rubbed = found[int(unknown.sum()) :]
    depths = []
    for j in range(rows.count):
        if unknown[j] and not rows.bilateral[j]:
            depths.append(loads[j])
        part = rubbed[rows.first[j] : rows.first[j + 1]]
        if len(part):
            depths.append(float(rows.friction[j]) * abs(loads[j]) - float(np.linalg.norm(part)))
    return min(depths, default=np.inf) / scale


def depth(problem: ContactProblem) -> float:
    """Return how deep inside their bounds some forces that balance a problem lie; -inf where nothing balances it."""
    rows = problem.rows
    force = np.asarray(problem.force, dtype=float)
    scale = float(np.abs(force).max(initial=0.0)) or 1.0
    two_sided = [j for j in range(rows.count) if rows.bilateral[j] and rows.components[j] and rows.has_normal[j]]
    pins = [(others, rows.count + int(rows.first[j]), _sides(rows, j)) for j, others in enumerate(rows.of) if others]
    found = -np.inf
    for signs in product((1.0, -1.0), repeat=len(two_sided)):
        balance, bounds = _conditions(rows, dict(zip(two_sided, signs, strict=True)), force / scale, scale)
        made = deepest_balance(balance, bounds, pins)
        found = max(found, -np.inf if made is None else made[1])
    return found


def _conditions(rows: ContactRows, signs: Mapping[int, float], force: Array, scale: float) -> tuple[Array, Array]:
    """Return equations and inequalities (constant last) of the normal forces, then the friction forces."""
    k, m = rows.count, int(rows.first[-1])
    normal, tangent = (
        part.toarray() if hasattr(part, "toarray") else np.asarray(part) for part in (rows.normal, rows.tangent)
    )
    balance = np.column_stack([normal.T.reshape(len(force), k), tangent.T.reshape(len(force), m), force])
    equations, bounds = list(balance), []

    def row(entries: Mapping[int, float], constant: float = 0.0) -> Array:
        made = np.zeros(k + m + 1)
        for place, value in entries.items():
            made[place] += value
        made[-1] = constant
        return made

    for j in range(k):
        known = bool(rows.known[j])
        load = float(rows.load[j]) / scale
        if known or not rows.has_normal[j]:
            equations.append(row({j: 1.0}, -load if rows.has_normal[j] else 0.0))
        elif j in signs:
            bounds.append(row({j: signs[j]}))
        elif not rows.bilateral[j]:
            bounds.append(row({j: 1.0}))
        if rows.of and rows.of[j]:
            continue  # its load is no linear function of the forces
        low, high = _sides(rows, j)
        for part in range(int(rows.first[j]), int(rows.first[j + 1])):
            size = {} if known or not rows.has_normal[j] else {j: signs.get(j, 1.0)}
            given = load if known else 0.0
            place = k + part
            if rows.slip[part] != 0:  # it slides: friction is on its bound
                side = -low if rows.slip[part] > 0 else high
                equations.append(row({place: 1.0} | {key: -side * value for key, value in size.items()}, -side * given))
                continue
            bounds.append(row({place: 1.0} | {key: low * value for key, value in size.items()}, low * given))
            bounds.append(row({place: -1.0} | {key: high * value for key, value in size.items()}, high * given))
    return np.array(equations), np.array(bounds).reshape(len(bounds), k + m + 1)


def _sides(rows: ContactRows, j: int) -> tuple[float, float]:
    """Return the coefficients against a slip > 0 and against one < 0, those at rest where it has such."""
    if rows.resting is not None and not np.isnan(rows.resting[j, 0]):
        return float(rows.resting[j, 0]), float(rows.resting[j, 1])
    if rows.sides is not None:
        return float(rows.sides[j, 0]), float(rows.sides[j, 1])
    return float(rows.friction[j]), float(rows.friction[j])


def asked(
    model: Model, state: Mapping[str, float], params: Mapping[str, float], *, tol: float = 1e-9
) -> tuple[str, Reactions | None]:
    """Return whether a state must, may or does not hold ('', where zero is no acceleration), and what `reactions` said.

    Velocities of steady coordinates stay as they are: what counts is the acceleration.
    """
    try:
        found: Any = reactions(model, state, params, tol=tol, certify=False)
    except StateError:
        return "", None
    at_rest = [one for one in found.solutions if _still(model, state, params, np.asarray(one.acceleration))]
    if not at_rest:
        return "", found
    if found.status in UNIQUE:
        return "must", found
    return ("may" if found.status is ReactionsStatus.MULTIPLE else "undecided"), found


def _still(model: Model, state: Mapping[str, float], params: Mapping[str, float], acceleration: Array) -> bool:
    return bool(np.abs(acceleration).max(initial=0.0) <= STILL * (acceleration_size(model, state, params) or 1.0))


def acceleration_size(model: Model, state: Mapping[str, float], params: Mapping[str, float]) -> float:
    """Return the accelerations that the forces make nearby: at an equilibrium itself they may all vanish."""
    system, source = model.system, np.random.default_rng(2)
    nearby: dict[str, Any] = dict(state)
    for item in system.coordinates:
        own = float(state[item.name])
        nearby[item.name] = own + NEARBY * (1.0 if item.angle else abs(own) or 1.0) * source.normal(size=PLACES)
    terms = model.terms(nearby, params)
    sizes = [0.0]
    for k in range(PLACES):
        mass, _, force, _ = terms.at(k)
        masses = np.diagonal(mass)
        found = float((np.abs(force) / np.where(masses > 0, masses, np.inf)).max(initial=0.0))
        sizes += [found] if np.isfinite(found) else []
    return max(sizes)


def normal_forces(found: Reactions | None) -> dict[str, float]:
    """Return the normal forces of the first solution at rest."""
    if found is None or not found.solutions:
        return {}
    least = min(found.solutions, key=lambda one: float(np.abs(one.acceleration).max(initial=0.0)))
    known = least.dimension == 0
    return {
        name: float(value) if known else float("nan") for name, value in zip(found.contacts, least.normal, strict=True)
    }


def least_acceleration(found: Reactions) -> float:
    """Return the least acceleration that the laws allow."""
    return min(float(np.abs(one.acceleration).max(initial=0.0)) for one in found.solutions)


def relative_acceleration(
    model: Model, state: Mapping[str, float], params: Mapping[str, float], found: Reactions | None
) -> float:
    """Return the least acceleration that the laws allow at a place, relative to what the forces make nearby."""
    if found is None or not found.solutions:
        return float("nan")
    least, size = least_acceleration(found), acceleration_size(model, state, params)
    return least / size if size > 0 else least


def without_rounding(
    model: Model, state: Mapping[str, float], params: Mapping[str, float], sizes: Mapping[str, float]
) -> tuple[Mapping[str, float], str, Reactions | None]:
    """Return an equilibrium and what is `asked` there, with zeros for coordinates that are rounding of their sizes.

    Where every force vanishes with the coordinates, nothing else says how large rounding is.
    """
    words, found = asked(model, state, params)
    names = [item.name for item in model.system.coordinates]
    small = {name: 0.0 for name in names if 0 < abs(state[name]) <= BLUR * sizes.get(name, 1.0)}
    if small:
        other = {**state, **small}
        again = asked(model, other, params)
        known = None if found is None or not found.solutions else least_acceleration(found)
        # Where rounding is off a constraint, by any measure that is made of it, it is no state at all.
        if again[1] is not None and again[1].solutions and (known is None or least_acceleration(again[1]) <= known):
            return other, *again
    return state, words, found
