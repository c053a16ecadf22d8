"""States and constraints: how far a state misses them, and the nearest state that does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.given_values import Inputs
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.contact_table import table_of
from zwang._declare.system import System
from zwang._kernels import Service, SparseTerms, Terms
from zwang._numerics.contact.admission import Sizes, characteristic, sizes_near
from zwang._numerics.linear.kkt import RANK_TOLERANCE
from zwang._numerics.linear.projection import OneSided, nearest_change, refined
from zwang._numerics.sizes import sizes_at
from zwang.errors import StateError

Array = NDArray[np.float64]
NEWTON_STEPS = 60  # quadratic near a solution: more of them only from hopeless starts
TOL = 1e-13
"""Steps of Newton's method below this part of the coordinates end it: a few units of rounding."""
CUTS = (0.1, 1e-2, 1e-4, 1e-7, RANK_TOLERANCE)
"""Singular values of unit rows below which they count as dependent, as long as that leads onto the constraints."""
ROUNDING = 2.0**-50
"""Part of where a coordinate came from that is nothing where it went to: some units of a double's rounding."""
ON = 1e-12
"""Residuals that are rounding, relative to the rows times the coordinates."""


PROJECT = "Use compile(system).project(state, params) for the nearest state that satisfies the constraints."


@dataclass(frozen=True)
class Violation:
    """The constraint that is violated most.

    Attributes
    ----------
    share : float
        The violation relative to the size of the terms; in units where nothing at the state has a size.
    size : float
        In the units of the declared expression, or of its rate.
    words, cure : str
        What it violates, and what to do about it.
    """

    share: float = 0.0
    size: float = 0.0
    words: str = "satisfies its constraints"
    cure: str = ""

    def told(self, tol: float) -> str:
        """Return in words what more than a tolerance is."""
        part = f"{self.share:.0e} of the size of its terms, tol {tol:.0e}"
        return f"the state {self.words} by {self.size:.1e} ({part}). {self.cure}"


def largest_violation(
    system: System, kernels: Service, at: Inputs, terms: Terms | SparseTerms, tol: float
) -> Violation:
    """Return the largest violation of any constraint over all states, relative to the size of its terms.

    Bilateral position-level constraints count with their values and rates, unilateral ones where they are penetrated.
    Where rows vanish, as where constraints touch, what is above `tol` is compared with their size beside the state.
    """
    turns = turning(system)
    own = characteristic(terms, turns, sizes_at(terms, turns, at.q, at.v))
    found = _violation(system, terms, own, tol)
    if found.share <= tol:
        return found
    _, near = sizes_near(kernels.terms, terms, at.t, at.q, at.v, at.params, turns)
    return _violation(system, terms, near, tol)


def turning(system: System) -> NDArray[np.bool_]:
    """Say which coordinates of a system have the size 1: angles, and components of unit quaternions."""
    return table_of(system).arrays.turns


def shares(misses: Array, sizes: Array) -> Array:
    """Return misses as parts of their sizes; where nothing has a size, as they are."""
    return np.asarray(misses / np.where(sizes > 0, sizes, 1.0))


def gap_shares(
    kernels: Service,
    at: Inputs,
    terms: Terms | SparseTerms,
    turns: NDArray[np.bool_],
    positions: Sequence[int],
    tol: float,
) -> Array:
    """Return how far off constraints on positions states (B) are, relative to the size of their terms.

    Where rows vanish, what is above `tol` is compared with their size beside the state.
    """
    values = np.abs(terms.value)
    own = characteristic(terms, turns, sizes_at(terms, turns, at.q, at.v)).gap
    found: Array = shares(values, own)[positions].max(axis=0, initial=0.0)
    left = np.flatnonzero((found > tol) & np.isfinite(at.q).all(axis=0))
    if len(left):
        part = terms.chosen(left)
        params = at.params if at.params.shape[1] == 1 else at.params[:, left]
        _, near = sizes_near(kernels.terms, part, at.t[left], at.q[:, left], at.v[:, left], params, turns)
        found[left] = shares(values[:, left], near.gap)[positions].max(axis=0, initial=0.0)
    return found


def _violation(system: System, terms: Terms | SparseTerms, sizes: Sizes, tol: float) -> Violation:
    """Return the largest violation of values, and of rates where values hold."""
    values, rates = Violation(), Violation()
    normals = [item for item in system.constraints if not isinstance(item, Friction)]
    for place, item in enumerate(normals):
        two_sided, extent = isinstance(item, Bilateral), sizes.rate[place]
        miss = np.abs(terms.value[place]) if two_sided else np.maximum(-terms.value[place], 0.0)
        words = f"{'is off' if two_sided else 'violates'} constraint '{item.name}'"
        if item.level == "position":
            values = _larger(values, miss, sizes.gap[place], words)
            if two_sided:
                words = f"has a velocity that leaves constraint '{item.name}'"
                rates = _larger(rates, np.abs(terms.rate[place]), extent, words)
        else:
            rates = _larger(rates, miss, extent, words)
    return values if values.share > tol else max(values, rates, key=lambda found: found.share)


def _larger(known: Violation, misses: Array, sizes: Array, words: str) -> Violation:
    parts = shares(misses, sizes)
    k = int(parts.argmax())
    return Violation(float(parts[k]), float(misses[k]), words, PROJECT) if parts[k] > known.share else known


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
    turns: NDArray[np.bool_]

    @classmethod
    def of(cls, normals: list[Any], turns: NDArray[np.bool_]) -> _Ways:
        two_sided = [isinstance(item, Bilateral) for item in normals]
        position = [item.level == "position" for item in normals]
        places = range(len(normals))
        return cls(
            [k for k in places if two_sided[k]],
            [k for k in places if two_sided[k] and position[k]],
            [k for k in places if not two_sided[k] and position[k]],
            [k for k in places if not two_sided[k] and not position[k]],
            turns,
        )

    def extent(self, *places: Array) -> Array:
        """Return how large coordinates (n, 1) are: angles 1, the others as the largest of them at any of the places."""
        length = max((float(np.abs(q[~self.turns]).max(initial=0.0)) for q in places), default=0.0)
        return np.where(self.turns, 1.0, length or 1.0)[:, None]


def project(system: System, kernels: Service, inputs: Inputs, tol: float) -> ProjectedState:
    """Return one state moved onto its bilateral constraints and out of one-sided ones, least in the kinetic metric."""
    if inputs.shape:
        raise StateError(f"{system.name}: project takes one state; it was given a batch of shape {inputs.shape}.")
    normals = [item for item in system.constraints if not isinstance(item, Friction)]
    ways = _Ways.of(normals, turning(system))
    given = kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    q, first = _placed(kernels, inputs, ways, tol)
    q = np.where(np.abs(q) <= ROUNDING * np.abs(inputs.q), 0.0, q)  # else the rest would be all there is to measure by
    least = max(1e3 * tol, 1e-9)
    for cut in CUTS[CUTS.index(first) :]:  # rows that seemed dependent on the way may be independent where it led
        v = inputs.v.copy()
        for _ in range(2):  # the second time takes away the rounding of the first: a slider's speed across is zero then
            terms = kernels.terms(inputs.t, q, v, inputs.params)
            v[:, 0] += _change(terms, ways.held, -_rates(normals, terms)[ways.held], ways.limits, cut)
        terms = kernels.terms(inputs.t, q, v, inputs.params)
        left = largest_violation(system, kernels, replace(inputs, q=q, v=v), terms, least)
        if left.share <= least:
            break
    else:
        raise StateError(
            f"{system.name}: no state that satisfies the constraints was reached from here: after {NEWTON_STEPS} steps "
            f"of Newton's method the state {left.words} by {left.size:.1e}. Start nearer to an admissible state."
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
    start, q = q, q.copy()
    for _ in range(steps):
        terms = kernels.terms(inputs.t, q, inputs.v, inputs.params)
        step = _change(terms, ways.positions, -terms.value[ways.positions, 0], ways.gaps, cut)
        q[:, 0] += step
        if (np.abs(step) <= tol * ways.extent(start, q)[:, 0]).all():
            break
    rows = np.abs(terms.at(0)[1])
    reach = ON * (rows * ways.extent(start, q)[:, 0]).max(axis=1, initial=0.0)
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
