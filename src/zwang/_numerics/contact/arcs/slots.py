"""From a contact problem to slots and back: ideal constraints eliminated, forces and accelerations of size one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.arcs.box_programs import SIDES
from zwang._numerics.contact.arcs.places import Places
from zwang._numerics.contact.arcs.tree import Nulls
from zwang._numerics.contact.delassus import FrictionArrays, friction_arrays
from zwang._numerics.contact.modes import BILATERAL, BOUND
from zwang._numerics.contact.problem import ContactProblem, dense
from zwang._numerics.contact.scaled import sides_of
from zwang._numerics.linear.farkas import separated
from zwang._numerics.tolerances import THRESHOLDS

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_CONTACTS = 8
"""Contacts with friction, or one-sided, up to which all directions are searched."""
MOST_ROWS = 200
"""Rows, ideal constraints among them, up to which dense arrays are made."""
ROUNDING = 3e-15
"""Of a sum of some products, relative to the largest terms; for a mass matrix whose condition number is 1."""
SINGULAR = THRESHOLDS.gram


@dataclass(frozen=True, eq=False)
class SlotProblem:
    """A problem in slots, for one choice of signs of the normal forces of bilateral contacts.

    Attributes
    ----------
    places : Places
    nulls : Nulls
    contact : (k,) int array
        Number of each contact in the problem.
    pulls : (k,) bool array
        Whether its normal force is negative: its first slot is turned round.
    unit : (m,) array
        Force per scaled force.
    """

    problem: ContactProblem
    arrays: FrictionArrays
    places: Places
    nulls: Nulls
    contact: Ints
    pulls: npt.NDArray[np.bool_]
    unit: Array
    back: Array
    shift: Array

    def forces(self, f: Array) -> tuple[Array, Array, Array]:
        """Return acceleration, normal (k,) and tangential (k, 2) forces of scaled forces (m,)."""
        r = self.back @ (f * self.unit) + self.shift
        normal, tangential = self.arrays.split(r)
        return self.arrays.acceleration(r), normal, tangential

    def spread(self, radius: Array) -> tuple[Array, Array, Array]:
        """Return by how much they may change where scaled forces change by a radius, which may be infinite."""
        r = _spread_by(self.back, radius * self.unit)
        normal, tangential = self.arrays.split(r)
        known = self.problem.rows.known
        reach = _spread_by(dense(self.arrays.columns).T, r)
        inverse = self.arrays.mass.apply(np.eye(len(reach)))
        return _spread_by(inverse, reach), np.where(known, 0.0, np.abs(normal)), np.abs(tangential)


def _spread_by(matrix: Array, radius: Array) -> Array:
    """Return |matrix| radius, in which nothing of what is unbounded is nothing.

    Examples
    --------
    >>> _spread_by(np.array([[1.0, 0.0], [0.0, -2.0]]), np.array([3.0, np.inf])).tolist()
    [3.0, inf]
    """
    size, bounded = np.abs(matrix), np.isfinite(radius)
    found: Array = size @ np.where(bounded, radius, 0.0)
    return np.where((size[:, ~bounded] > 0).any(axis=1), np.inf, found)


def fits(problem: ContactProblem) -> bool:
    """Whether a problem is small enough for the search."""
    rows = problem.rows
    if rows.normal.shape[0] + rows.tangent.shape[0] > MOST_ROWS:
        return False
    ideal = rows.bilateral & (rows.friction == 0) & np.isnan(rows.normal_force)
    return int((~ideal).sum()) <= MOST_CONTACTS


def settings(problem: ContactProblem, slip_tol: float) -> Iterator[SlotProblem]:
    """Yield the problem in slots for every choice of signs; a ValueError says why it has no such form."""
    arrays = friction_arrays(problem, slip_tol=slip_tol)
    _, size, kind, p = arrays.layout.T
    rubs = (p > 0) | (arrays.slides & (problem.rows.friction > 0))
    ideal = (kind == BILATERAL) & ~rubs & (size > 0)
    chosen = np.flatnonzero((size > 0) & ~ideal)
    both = [int(j) for j in chosen if kind[j] == BILATERAL]
    for signs in product((1.0, -1.0), repeat=len(both)):
        yield _setting(problem, arrays, chosen, np.flatnonzero(ideal), dict(zip(both, signs, strict=True)))


def _setting(
    problem: ContactProblem, arrays: FrictionArrays, chosen: Ints, ideal: Ints, signs: dict[int, float]
) -> SlotProblem:
    first = arrays.layout[:, 0]
    turn = np.ones(arrays.size)
    for j, sign in signs.items():
        turn[first[j]] = sign
    folded = arrays.with_signs(turn)
    held = first[ideal]
    place, slots, bounds = _slots(problem, arrays, chosen)
    owned = np.flatnonzero(place >= 0)
    inverse, back, shift = _without_ideal(folded, held)
    gram_all = dense(arrays.rows) @ arrays.mass.apply(dense(arrays.rows).T)
    response = turn[:, None] * (folded.delassus @ back)
    free = turn * (folded.delassus @ shift + arrays.b)
    gram = turn[:, None] * (gram_all - gram_all[:, held] @ inverse @ gram_all[held]) * turn
    m = slots[-1]
    D, G, b = np.eye(m), np.eye(m), np.zeros(m)
    into = place[owned]
    D[np.ix_(into, into)] = (response * turn)[np.ix_(owned, owned)]
    G[np.ix_(into, into)] = gram[np.ix_(owned, owned)]
    b[into] = free[owned]
    b[bounds[:, 0].astype(int)] = -bounds[:, 1]
    scale = _scales(G, slots, bounds[:, 0].astype(int))
    load = 2.0 ** np.round(np.log2(max(float(np.abs(b / scale).max(initial=0.0)), 1e-300)))
    places = _places(problem, D / np.outer(scale, scale), G / np.outer(scale, scale), b / scale / load, slots, chosen)
    whole, offset = np.zeros((arrays.size, m)), shift.copy()
    whole[:, into] = (back * turn)[:, owned]
    return SlotProblem(
        problem,
        arrays,
        places,
        _nulls(places),
        chosen,
        np.array([signs.get(int(j), 1.0) < 0 for j in chosen], dtype=bool),
        load / scale,
        whole,
        offset,
    )


def _slots(problem: ContactProblem, arrays: FrictionArrays, chosen: Ints) -> tuple[Ints, Ints, Array]:
    """Return the slot of each row (-1: none), the first slots of contacts, and slots of given bounds with them."""
    place, slots, bounds = np.full(arrays.size, -1), [0], []
    for j in chosen:
        at, size, kind, _ = arrays.layout[j]
        begin = slots[-1]
        if kind == BOUND:
            bounds.append((begin, abs(float(problem.rows.normal_force[j]))))
            begin += 1
        place[at : at + size] = begin + np.arange(size)
        slots.append(begin + size)
    return place, np.array(slots, dtype=np.int64), np.array(bounds).reshape(-1, 2)


def _without_ideal(arrays: FrictionArrays, held: Ints) -> tuple[Array, Array, Array]:
    """Return the inverse of the rows of ideal constraints, and r = back @ (other forces) + shift."""
    size = arrays.size
    back, shift = np.eye(size), np.zeros(size)
    if not len(held):
        return np.zeros((0, 0)), back, shift
    w, b = arrays.delassus, arrays.b
    inverse: Array = np.linalg.pinv(w[np.ix_(held, held)], rcond=1e-12, hermitian=True).astype(float)
    off = w[np.ix_(held, held)] @ inverse @ b[held] - b[held]
    if np.abs(off).max() > 1e-9 * max(float(np.abs(b).max()), 1e-300):
        raise ValueError("ideal constraints contradict each other")
    back[held] = -inverse @ w[held]
    back[np.ix_(held, held)] = 0.0
    shift[held] = -inverse @ b[held]
    return inverse, back, shift


def _scales(gram: Array, slots: Ints, bounds: Ints) -> Array:
    """Return a scale for each slot, one for each contact, powers of two: nothing is rounded."""
    scale = np.ones(len(gram))
    for start, end in pairwise(slots):
        own = np.arange(start + (start in bounds), end)
        largest = float(np.diag(gram)[own].max())
        if start not in bounds and gram[start, start] <= 1e-12 * largest:
            raise ValueError("a normal force does nothing")
        at = start if start not in bounds else start + 1
        scale[start:end] = 2.0 ** np.round(np.log2(max(float(gram[at, at]), 1e-6 * largest)) / 2)
    return scale


def _places(problem: ContactProblem, D: Array, gram: Array, b: Array, slots: Ints, chosen: Ints) -> Places:
    rows = problem.rows
    sizes = sides_of(problem)
    slip, hold = np.zeros((len(chosen), 2)), np.zeros((len(chosen), 2))
    for c, j in enumerate(chosen):
        if slots[c + 1] - slots[c] > 1:
            slip[c], hold[c] = sizes[j, :2], sizes[j, 2:]
            if rows.components[j] == 2:
                slip[c] = rows.friction[j]
    two_sided = (rows.bilateral[chosen] | rows.known[chosen]).astype(np.int64)
    passive = bool(np.abs(D - gram).max(initial=0.0) <= 1e-12 * np.abs(D).max(initial=0.0))
    matrix = problem.mass if problem.mass is not None else problem.inverse_mass
    magnitude = (1.0 + float(np.abs(D).max(initial=0.0))) * (
        1.0 + 2.0 * float(max(slip.max(initial=0), hold.max(initial=0)))
    )
    blur = ROUNDING * magnitude * max(1.0, 0.1 * _condition(dense(matrix)))
    made = Places(
        np.ascontiguousarray(D),
        np.ascontiguousarray(0.5 * (gram + gram.T)),
        np.ascontiguousarray(b),
        slots,
        two_sided,
        slip,
        hold,
        np.full(len(chosen), np.inf),
        int(passive),
        blur,
    )
    return made._replace(limit=_limits(made)) if passive else made


def _condition(matrix: Array) -> float:
    scale = 1.0 / np.sqrt(np.diag(matrix))
    sizes = np.linalg.eigvalsh(scale[:, None] * matrix * scale)
    return float(sizes[-1] / max(sizes[0], 1e-300)) if len(sizes) else 1.0


def _limits(places: Places) -> Array:
    """Return bounds of N, from f D f <= -f b: |y| <= |b| in the metric of D for y = D^(1/2) f."""
    k = len(places.limit)
    if not k:
        return places.limit
    values, vectors = np.linalg.eigh(places.gram)
    kept = values > SINGULAR * values[-1]
    along = vectors.T @ places.b
    if np.abs(along[~kept]).max(initial=0.0) > places.blur:
        return places.limit
    reach = float(np.sqrt((along[kept] ** 2 / values[kept]).sum())) * 1.01 + 1e-9
    if kept.all():
        inverse = ((vectors / values) * vectors).sum(axis=1)
        return np.asarray(reach * np.sqrt(inverse[places.first[:-1]]))
    caused = np.ascontiguousarray(_cone_forces(places) @ (vectors[:, kept] * np.sqrt(values[kept])))
    weights = np.zeros(caused.shape[1])
    if not separated(caused, weights) or (caused @ weights).min() < 0.5:
        return places.limit
    return np.full(k, 2.0 * reach * float(np.linalg.norm(weights)))


def _cone_forces(places: Places) -> Array:
    """Return forces (., m) with normal force 1 that span cones around all that contacts can exert."""
    spans = []
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    for c, (start, end) in enumerate(pairwise(places.first)):
        first, second = np.maximum(places.hold[c], places.slip[c])
        own = np.zeros((1 if end - start == 1 else 2 if end - start == 2 else SIDES, len(places.b)))
        own[:, start] = 1.0
        if end - start == 2:
            own[:, start + 1] = (-first, second)
        elif end - start == 3:
            own[:, start + 1] = first * np.cos(angles) / np.cos(np.pi / SIDES)
            own[:, start + 2] = second * np.sin(angles) / np.cos(np.pi / SIDES)
        spans.append(own)
    return np.concatenate(spans)


def _nulls(places: Places) -> Nulls:
    k, m = len(places.limit), len(places.b)
    values = np.linalg.eigvalsh(places.gram) if m else np.ones(1)
    regular = values[0] > SINGULAR * values[-1]
    rows = np.zeros((1 if regular else 2**k, m, m))
    counts = np.zeros(2**k, dtype=np.int64)
    if regular:
        return Nulls(rows, counts)
    for subset in range(1, 2**k):
        own = np.concatenate([np.arange(places.first[c], places.first[c + 1]) for c in range(k) if subset >> c & 1])
        sizes, vectors = np.linalg.eigh(places.gram[np.ix_(own, own)])
        null = vectors[:, sizes < SINGULAR * max(sizes[-1], 1e-300)].T
        along = null @ places.b[own]
        if np.abs(along).max(initial=0.0) > places.blur:  # combinations that the free accelerations satisfy
            null = np.linalg.svd(along[None])[2][1:] @ null
        rows[subset][np.ix_(np.arange(len(null)), own)] = null
        counts[subset] = len(null)
    return Nulls(rows, counts)
