"""Reactions that one motion leaves undetermined, where friction acts in planes: their extent, and what depends on what.

The acceleration and the modes of a solution are given; the reactions that go with them are a convex set
(`contact.reaction_set`). The solution is told by its point of least norm.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.modes import PULLS, Mode
from zwang._numerics.contact.problem import ContactProblem, ContactRows, dense, is_sparse
from zwang._numerics.contact.reaction_set import (
    CONE,
    DISC,
    FREE,
    PULL,
    PUSH,
    Part,
    ReactionSet,
    deepest_reactions,
    reaction_set,
    self_stress,
)
from zwang._numerics.contact.residual import residual_of
from zwang._numerics.contact.scaled import sides_of
from zwang._numerics.linear.rank import proved_by_gram
from zwang._reactions.candidates import candidate_scales
from zwang._reactions.redundancy import echelon, redundancy_of
from zwang._reactions.solutions import is_flat
from zwang._results.later import Later
from zwang._results.reaction_ranges import Ranges
from zwang._results.reactions import Points, Redundancy, Solution

Array = npt.NDArray[np.float64]

MOST_FORCES = 60
"""Forces beyond which the extent of undetermined ones is not computed (nan)."""
CLEAR = 1e-7
"""How deep inside their bounds forces must be, relative to the largest, for there being some to be clear."""
SLIPS = (Mode.SLIP, Mode.SLIP_PLUS, Mode.SLIP_MINUS)
MOST_ROWS = 600
"""Forces beyond which it is not even looked whether they are determined."""


@dataclass(frozen=True, eq=False)
class Undetermined:
    """A solution with the extent of its reactions, and the self-stresses that are free in it: (d, k), (d, k, 2)."""

    solution: Solution
    normal: Array
    tangential: Array

    @classmethod
    def none(cls, solution: Solution) -> Undetermined:
        """Return a solution whose reactions are determined, or not looked at."""
        k = len(solution.normal)
        return cls(solution, np.zeros((0, k)), np.zeros((0, k, 2)))


@dataclass(frozen=True, eq=False)
class _Force:
    """Where a part of the unknowns belongs: a contact, whether it has a normal, friction per normal force, tangents."""

    contact: int
    has_normal: bool
    along: Array | None
    tangents: tuple[int, ...] = ()


def undetermined(problem: ContactProblem, solution: Solution, slip_tol: float) -> Undetermined:
    """Return a solution with its reactions' set: dimension, least norm, ranges, ends, rays."""
    none = Undetermined.none(solution)
    own, held = _unknown_forces(problem.rows, solution)
    size = int(own.sum()) + len(held)
    if size <= MOST_ROWS and not problem.rows.plain:  # then rest may hold where nothing rubs
        size = sum(len(part.value) for part in _parts(problem, solution, slip_tol)[0])
    if not 0 < size <= MOST_ROWS:
        return none
    if size > MOST_FORCES:  # all that is told of so many is whether they are undetermined
        told = Later(lambda: _ranges_of_many(problem, solution, slip_tol))
        return replace(none, solution=solution.but(ranges=told))
    parts, forces = _parts(problem, solution, slip_tol)
    if problem.proves_independent(np.concatenate([part.columns for part in parts])):
        return none
    mass = dense(problem.mass) if problem.mass is not None else None
    found = reaction_set(parts, mass)
    if not found.dimension:
        return none
    return _told(problem, solution, parts, forces, found, slip_tol)


def _ranges_of_many(problem: ContactProblem, solution: Solution, slip_tol: float) -> Ranges:
    """Return the ranges of so many forces that only those that are determined are told."""
    if problem.rows.plain and _clearly_determined(problem, solution, slip_tol):
        return solution.ranges
    columns = np.concatenate([part.columns for part in _parts(problem, solution, slip_tol)[0]])
    mass = dense(problem.mass) if problem.mass is not None else None
    if problem.proves_independent(columns) or not self_stress(columns, mass).shape[1]:
        return solution.ranges
    nan = np.full_like(solution.ranges.normal, np.nan), np.full_like(solution.ranges.tangential, np.nan)
    return Ranges(solution.names, *nan)


def _clearly_determined(problem: ContactProblem, solution: Solution, slip_tol: float) -> bool:
    """Whether the columns of the forces are independent beyond any rounding, told for all contacts at once.

    Where masses are small blocks, as those of many bodies; else, and where the answer is no, they are looked at one by
    one.
    """
    rows = problem.thin_rows
    if not (is_sparse(rows.normal) and is_sparse(rows.tangent) and is_sparse(problem.inverse_form.matrix)):
        return False
    from scipy.sparse import csr_array, vstack

    k, first = rows.count, rows.first[:-1]
    modes = np.array(solution.modes.codes) % PULLS
    along = _friction_along(rows, solution, slip_tol)
    own, held = _unknown_forces(rows, solution)
    place, count = np.cumsum(own) - 1, int(own.sum())
    size = count + len(held)
    if size > rows.normal.shape[1]:
        return False
    at, of, value = [place[own], count + np.arange(len(held))], [np.flatnonzero(own), k + held], [np.ones(size)]
    for i in range(2):
        rubs = own & np.isin(modes, SLIPS) & (rows.components > i)
        at, of, value = [*at, place[rubs]], [*of, k + first[rubs] + i], [*value, along[rubs, i]]
    entries = np.concatenate(value), (np.concatenate(at), np.concatenate(of))
    pick = csr_array(entries, shape=(size, k + len(rows.slip)))
    columns = pick @ vstack([rows.normal, rows.tangent], format="csr")
    return proved_by_gram((columns @ problem.inverse_form.matrix @ columns.T).toarray())


def _unknown_forces(rows: ContactRows, solution: Solution) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Return which contacts have an unknown normal force (k,), and which tangents one of contacts that stick."""
    modes = np.array(solution.modes.codes) % PULLS
    held = np.flatnonzero(np.repeat((modes == Mode.STICK) & (rows.friction > 0), rows.components))
    return (modes != Mode.OPEN) & ~rows.known, held


def _friction_along(rows: ContactRows, solution: Solution, slip_tol: float) -> Array:
    """Return the friction (k, 2) per normal force of contacts that slip, or begin to."""
    moving = np.zeros((rows.count, 2))
    moving[rows.mask] = rows.slip
    at_rest = np.reshape(solution.slip_acceleration, (rows.count, -1))
    rests = np.linalg.norm(moving, axis=1) <= slip_tol
    moving[rests, : at_rest.shape[1]] = at_rest[rests]
    speed = np.linalg.norm(moving, axis=1)
    pulls = np.array(solution.modes.codes) >= PULLS
    size = rows.friction * np.where(rows.bilateral & pulls, 1.0, -1.0)
    return np.asarray(size[:, None] * moving / np.where(speed > 0, speed, 1.0)[:, None])


def reachable(problem: ContactProblem, solution: Solution, slip_tol: float) -> tuple[Solution, bool] | None:
    """Return a solution with sticking forces inside their bounds that do what the given ones do.

    The second value says whether that is clear; None where it is clear that there are no such forces.
    """
    parts, forces = _parts(problem, solution, slip_tol)
    mass = dense(problem.mass) if problem.mass is not None else None
    depth, most, value = deepest_reactions(parts, mass)
    if most < -CLEAR or not np.isfinite(depth):
        return None if np.isfinite(depth) else (solution, False)
    k = problem.rows.count
    normal, tangential = _with_known(solution, forces, *_spread(parts, forces, value, k))
    shown = tangential[..., 0] if is_flat(problem) else tangential
    return replace(solution, normal=normal, tangential=shown), depth > CLEAR


def _parts(problem: ContactProblem, solution: Solution, slip_tol: float) -> tuple[list[Part], list[_Force]]:
    rows = problem.rows
    normals, tangents = dense(rows.normal), dense(rows.tangent)
    rub = np.zeros((rows.count, 2))
    given = np.reshape(solution.tangential, (rows.count, -1))
    rub[:, : given.shape[1]] = given
    slip = np.zeros((rows.count, 2))
    moving = np.reshape(solution.slip_acceleration, (rows.count, -1))
    slip[:, : moving.shape[1]] = moving
    parts: list[Part] = []
    forces: list[_Force] = []
    sizes = sides_of(problem)
    for j, mode in enumerate(solution.modes.codes):
        own = slice(rows.first[j], rows.first[j + 1])
        p, mu, load = own.stop - own.start, float(rows.friction[j]), float(solution.normal[j])
        section: dict[str, Any] = {}
        if mode.plain is Mode.STICK and not rows.plain:
            mu, section = _section(sizes[j, 2:], p)
        known = not np.isnan(rows.normal_force[j])
        pulls = bool(rows.bilateral[j] and mode.pulls)  # its force may not say so yet, where others can take it over
        if mode is Mode.OPEN:
            continue
        if mode.plain is Mode.STICK and mu > 0:
            holds = _holding(rows, j, p)
            across, held = tangents[own][holds], rub[j, holds]
            section = {name: value[holds] if name == "axes" else value for name, value in section.items()}
            if known:
                parts.append(Part(DISC, across, held, mu * abs(float(rows.normal_force[j])), **section))
            else:
                columns = np.vstack([normals[j], across])
                parts.append(Part(CONE, columns, np.append(load, held), -mu if pulls else mu, **section))
            forces.append(_Force(j, not known, None, tuple(holds)))
        elif not known:
            along = np.zeros(p)
            if mode.slips:
                speed = rows.slip[own] if np.linalg.norm(rows.slip[own]) > slip_tol else slip[j, :p]
                along = (mu if pulls else -mu) * speed / (float(np.linalg.norm(speed)) or 1.0)
            one_sided = PUSH if not rows.bilateral[j] or mode.slips else FREE
            kind = PULL if pulls and one_sided == PUSH else one_sided
            parts.append(Part(kind, (normals[j] + along @ tangents[own])[None], np.array([load])))
            forces.append(_Force(j, True, along))
    return parts, forces


def _holding(rows: ContactRows, j: int, p: int) -> list[int]:
    """Return the tangents of a contact along which its law has friction: along an axis of no length there is none."""
    return [i for i in range(p) if rows.axes is None or p < 2 or rows.axes[j, i] > 0]


def _section(held: Array, p: int) -> tuple[float, dict[str, Any]]:
    """Return the radius of what holds a contact at rest, and what more there is to say where it is no disc."""
    first, second = (float(size) for size in held)
    if first == second:
        return first, {}
    if p == 1:  # the force lies between -first and second
        return (first + second) / 2, {"centre": (second - first) / (first + second)}
    return 1.0, {"axes": np.array([first, second])}


def _spread(parts: list[Part], forces: list[_Force], x: Array, count: int) -> tuple[Array, Array]:
    """Return unknowns (..., m) as normal (..., k) and tangential (..., k, 2) forces; known ones are zero."""
    normal, tangential = np.zeros((*x.shape[:-1], count)), np.zeros((*x.shape[:-1], count, 2))
    at = 0
    for part, force in zip(parts, forces, strict=True):
        own = x[..., at : at + len(part.value)]
        at += len(part.value)
        j = force.contact
        if force.has_normal:
            normal[..., j] = own[..., 0]
        if force.along is None:
            rub = own[..., int(force.has_normal) :]
            tangential[..., j, list(force.tangents)] = rub
        else:
            rub = _times(own[..., :1], force.along)
            tangential[..., j, : rub.shape[-1]] = rub
    return normal, tangential


def _times(push: Array, along: Array) -> Array:
    """Return the friction (..., p) of normal forces (..., 1) or bounds of them: here infinity times zero is zero."""
    nothing = np.zeros((*push.shape[:-1], len(along)))
    return np.multiply(push, along, out=nothing, where=np.broadcast_to(along != 0, nothing.shape))


def _told(
    problem: ContactProblem,
    solution: Solution,
    parts: list[Part],
    forces: list[_Force],
    found: ReactionSet,
    slip_tol: float,
) -> Undetermined:
    k, flat = problem.rows.count, is_flat(problem)
    loose = np.zeros(k, dtype=bool)
    loose[[force.contact for force in forces]] = True

    def shown(tangential: Array) -> Array:
        return tangential[..., 0] if flat else tangential

    def points(x: Array, *, directions: bool) -> Points:
        normal, tangential = _spread(parts, forces, x, k)
        if not directions:
            normal, tangential = _with_known(solution, forces, normal, tangential)
        w = np.zeros_like(solution.acceleration) if directions else solution.acceleration
        return Points(np.repeat(w[None], len(x), axis=0), normal, shown(tangential))

    base = points(found.base[None], directions=False)
    whole = np.zeros((k, 2))
    told = np.reshape(base.tangential[0], (k, -1))
    whole[:, : told.shape[1]] = told
    scales = candidate_scales(problem)
    residual = residual_of(problem, solution.acceleration, base.normal[0], whole, scales, slip_tol=slip_tol).largest
    if residual <= max(10 * solution.residual, 1e-10):
        solution = replace(solution, normal=base.normal[0], tangential=base.tangential[0], residual=residual)
    low, first = _spread(parts, forces, found.extent[:, 0], k)
    high, second = _spread(parts, forces, found.extent[:, 1], k)
    low, first = _with_known(solution, forces, low, first)
    high, second = _with_known(solution, forces, high, second)
    rubbing = np.stack([np.fmin(first, second), np.fmax(first, second)], axis=-1)
    ranges = Ranges(solution.names, np.stack([low, high], axis=-1), rubbing[:, 0] if flat else rubbing)
    nothing = np.zeros((0, len(found.base)))
    solution = replace(
        solution,
        dimension=found.dimension,
        ranges=ranges,
        vertices=points(found.ends, directions=False),
        rays=points(found.rays, directions=True),
        lines=points(nothing, directions=True),
    )
    return Undetermined(solution, *_spread(parts, forces, echelon(found.stress), k))


def _with_known(solution: Solution, forces: list[_Force], normal: Array, tangential: Array) -> tuple[Array, Array]:
    """Put in the forces that the motion determines by itself."""
    free = {force.contact for force in forces}
    bound = {force.contact for force in forces if force.has_normal}
    given = np.reshape(solution.tangential, (len(solution.normal), -1))
    for j in range(len(solution.normal)):
        if j not in bound:
            normal[..., j] = solution.normal[j]
        if j not in free:
            tangential[..., j, : given.shape[1]] = given[j]
    return normal, tangential


def spatial_redundancy(problem: ContactProblem, found: list[Undetermined], names: tuple[str, ...]) -> Redundancy | None:
    """Return what depends on what, None where everything is determined."""
    free = [item for item in found if len(item.normal)]
    if not free:
        return None
    rows = problem.rows
    unknown = np.flatnonzero(np.isnan(rows.normal_force))
    normals = dense(rows.normal)[unknown]
    stress = self_stress(normals, dense(problem.mass) if problem.mass is not None else None).T
    dependencies = np.zeros((len(stress), rows.count))
    if len(stress):
        basis = echelon(stress)
        dependencies = np.zeros((len(basis), rows.count))
        dependencies[:, unknown] = basis
    tangential = free[0].tangential
    shown = tangential[..., 0] if is_flat(problem) else tangential
    return redundancy_of(names, dependencies, free[0].normal, shown, tuple(item.solution for item in found))
