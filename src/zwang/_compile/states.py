"""States and constraints: how far a state misses them, and the nearest state that does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.values import Inputs
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.system import System
from zwang._kernels import Service, SparseTerms, Terms
from zwang._numerics.linear.kkt import RANK_TOLERANCE
from zwang._numerics.linear.projection import OneSided, nearest_change, refined
from zwang.errors import StateError

Array = NDArray[np.float64]
NEWTON_STEPS = 60  # quadratic near a solution: more of them only from hopeless starts
TOL = 1e-13
"""Steps of Newton's method below this part of the coordinates end it: a few units of rounding."""
CUTS = (0.1, 1e-2, 1e-4, 1e-7, RANK_TOLERANCE)
"""Singular values of unit rows below which they count as dependent, as long as that leads onto the constraints."""
ON = 1e-12
"""Residuals that are rounding, relative to the rows times the coordinates."""


PROJECT = "Use compile(system).project(state, params) for the nearest state that satisfies the constraints."


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
                cure = PROJECT
    return worst, words, cure


class ProjectedState(dict[str, float]):
    """A state moved onto its constraints, as a mapping of names to numbers.

    Attributes
    ----------
    distance : float
        sqrt(dq^T M(q_0) dq), how far the positions went in the kinetic metric of the state given.
    energy_removed : float
        T + V of the state given minus that of this one [J]; negative where moving constraints gave some.
    """

    distance: float = 0.0
    energy_removed: float = 0.0


@dataclass(frozen=True)
class _Ways:
    """Numbers of the constraints by what they ask of a state."""

    held: list[int]
    positions: list[int]
    gaps: list[int]
    limits: list[int]

    @classmethod
    def of(cls, normals: list[Any]) -> _Ways:
        two_sided = [isinstance(item, Bilateral) for item in normals]
        position = [item.level == "position" for item in normals]
        places = range(len(normals))
        return cls(
            [k for k in places if two_sided[k]],
            [k for k in places if two_sided[k] and position[k]],
            [k for k in places if not two_sided[k] and position[k]],
            [k for k in places if not two_sided[k] and not position[k]],
        )


def project(system: System, kernels: Service, inputs: Inputs, tol: float) -> ProjectedState:
    """Return one state moved onto its bilateral constraints and out of one-sided ones, least in the kinetic metric."""
    if inputs.shape:
        raise StateError(f"{system.name}: project takes one state; it was given a batch of shape {inputs.shape}.")
    normals = [item for item in system.constraints if not isinstance(item, Friction)]
    ways = _Ways.of(normals)
    given = kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    q, first = _placed(kernels, inputs, ways, tol)
    least = max(1e3 * tol, 1e-9)
    for cut in CUTS[CUTS.index(first) :]:  # rows that seemed dependent on the way may be independent where it led
        v = inputs.v.copy()
        for _ in range(2):  # the second time takes away the rounding of the first: a slider's speed across is zero then
            terms = kernels.terms(inputs.t, q, v, inputs.params)
            v[:, 0] += _change(terms, ways.held, -_rates(normals, terms)[ways.held], ways.limits, cut)
        terms = kernels.terms(inputs.t, q, v, inputs.params)
        size, words, _ = largest_violation(system, terms)
        if size <= least or _holds(normals, terms, q[:, 0], v[:, 0], least):
            break
    else:
        raise StateError(
            f"{system.name}: no state that satisfies the constraints was reached from here: after {NEWTON_STEPS} steps "
            f"of Newton's method the state {words} by {size:.1e}. Start nearer to an admissible state."
        )
    found = ProjectedState({item.name: float(q[i, 0]) for i, item in enumerate(system.coordinates)})
    found |= {item.name: float(v[i, 0]) for i, item in enumerate(system.velocities)}
    found["t"] = float(inputs.t[0])
    moved = q[:, 0] - inputs.q[:, 0]
    found.distance = max(float(moved @ given.at(0)[0] @ moved), 0.0) ** 0.5
    found.energy_removed = float(given.energies[:, 0].sum() - terms.energies[:, 0].sum())
    return found


def project_each(system: System, kernels: Service, inputs: Inputs) -> tuple[Inputs, tuple[ProjectedState, ...]]:
    """Return inputs with every state projected, and the states one by one."""
    q, v, found = inputs.q.copy(), inputs.v.copy(), []
    for k in range(q.shape[1]):
        try:
            state = project(system, kernels, inputs.single(k), TOL)
        except StateError as error:
            place = ", ".join(str(int(i)) for i in np.unravel_index(k, inputs.shape)) if inputs.shape else ""
            raise StateError(f"{error} (entry [{place}] of the arrays)" if place else str(error)) from None
        q[:, k] = [state[item.name] for item in system.coordinates]
        v[:, k] = [state[item.name] for item in system.velocities]
        found.append(state)
    return replace(inputs, q=q, v=v), tuple(found)


def _placed(kernels: Service, inputs: Inputs, ways: _Ways, tol: float) -> tuple[Array, float]:
    """Return the positions on the constraints, and below which singular value rows counted as dependent on the way.

    Off the set, constraints that are superfluous on it look independent, and steps that try to meet each of them by
    itself run away along it. So rows that are nearly dependent count as dependent as long as that leads there.
    """
    for cut in CUTS:
        q, on = _reached(kernels, inputs, inputs.q, ways, cut, tol)
        if on:
            return _nearest(kernels, inputs, q, ways, cut, tol), cut
    return q, cut


def _reached(
    kernels: Service, inputs: Inputs, q: Array, ways: _Ways, cut: float, tol: float, steps: int = NEWTON_STEPS
) -> tuple[Array, bool]:
    """Return positions moved towards the constraints by Newton's method, and whether they are on them."""
    q = q.copy()
    for _ in range(steps):
        terms = kernels.terms(inputs.t, q, inputs.v, inputs.params)
        step = _change(terms, ways.positions, -terms.value[ways.positions, 0], ways.gaps, cut)
        q[:, 0] += step
        if np.abs(step).max(initial=0.0) <= tol * (1 + np.abs(q).max()):
            break
    rows = np.abs(terms.at(0)[1])
    reach = ON * (rows * (1 + np.abs(q).max())).max(axis=1, initial=0.0)
    value = terms.value[:, 0]
    on = (np.abs(value) <= reach)[ways.positions].all() and (value >= -reach)[ways.gaps].all()
    return q, bool(on)


def _nearest(kernels: Service, inputs: Inputs, q: Array, ways: _Ways, cut: float, tol: float) -> Array:
    """Return the positions on the constraints that are nearest to those given, in the metric of the latter."""
    start = inputs.q[:, 0]
    if np.array_equal(q[:, 0], start):
        return q

    def at(x: Array) -> tuple[Array, Array, OneSided]:
        terms = kernels.terms(inputs.t, x[:, None], inputs.v, inputs.params)
        rows = terms.at(0)[1]
        one_sided = OneSided(rows[ways.gaps], terms.value[ways.gaps, 0])
        return rows[ways.positions], terms.value[ways.positions, 0], one_sided

    def reach(x: Array) -> Array | None:
        found, on = _reached(kernels, inputs, x[:, None], ways, cut, tol, steps=8)
        return found[:, 0] if on else None

    mass = kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params).at(0)[0]
    return refined(at, reach, mass, start, q[:, 0], cut)[:, None]


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


def _change(terms: Terms | SparseTerms, places: list[int], needed: Array, one_sided: list[int], cut: float) -> Array:
    """Return the smallest change in the metric of M after which rows are met and one-sided values not negative."""
    mass, every, _, _ = terms.at(0)
    sided = OneSided(every[one_sided], terms.value[one_sided, 0])
    if not all(np.isfinite(part).all() for part in (every[places], needed, *sided)):
        raise StateError("The constraints are not finite on the way to an admissible state. Start nearer to one.")
    return nearest_change(mass, np.zeros(len(mass)), every[places], needed, sided, cut)


def without_normal(system: System, name: str) -> str:
    """Return what is said where the gradient of a constraint is not finite."""
    cause = ""
    if system.tree is not None:
        from zwang._bodies import rebuilt
        from zwang._bodies.contacts import flat_cylinder

        cause = flat_cylinder(rebuilt(system)._told, name)
    return (
        f"{system.name}: the gradient of constraint '{name}' is not finite at this state: it vanishes or has no limit "
        f"there, so the constraint has no normal.{cause}"
    )
