"""Normal forces of least norm where the acceleration depends on how they share what they carry: `redundant=`.

Four feet that slide and turn press with forces of which one is free, and each rubs in a direction of its own. The least
sum of squares picks one distribution, inside the laws: what would have to pull carries nothing. Which contacts carry is
part of the mode; a force that comes down to zero, or the share of one that carries nothing as it comes up to zero,
changes it without an event.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._derive.motion_modes import ActiveSet
from zwang._kernels import Terms
from zwang._numerics.contact.delassus import friction_arrays
from zwang._numerics.contact.gauss_projection import gauss_projection
from zwang._numerics.contact.modes import Mode
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._numerics.contact.reaction_set import CONE, DISC, FREE, PULL, PUSH, Part, least_reactions
from zwang._numerics.contact.table import ContactTable
from zwang._numerics.linear.rank import DEPENDENT, rank_of
from zwang._results.reactions import Reactions
from zwang._simulate.basic_forces import pushed_columns
from zwang._simulate.mode_labels import HeldMode, full_mode, independent, least_normals
from zwang._simulate.moment import Decision, Labels, Watch

Array = NDArray[np.float64]
ROUNDING = 1e-13
"""Part of the largest of them below which the effects of forces on a coordinate are rounding."""
NOTHING = 1e-9
"""Part of the largest of them below which a normal force is none."""
ROUNDS, SETTLED = 200, 1e-12
"""Rounds in which normal forces and directions of slips that start settle; by how much they change in the last."""
RUBBING = (Mode.STICK, Mode.SLIP)


def continua(found: Reactions, before: Labels | None, numbers: tuple[int, ...]) -> list[int]:
    """Return the solutions with a continuum of accelerations that least norms choose from; none where modes differ too.

    That in the modes until now, or all where there are no others.
    """
    wide = [k for k, solution in enumerate(found.solutions) if not solution.acceleration_unique]
    if before is not None and len(found.solutions) > 1:
        wanted = [before[number].plain for number in numbers]
        same = [k for k in wide if [mode.plain for mode in found.solutions[k].modes.codes] == wanted]
        if len(same) == 1:
            return same
    return wide if len(wide) == len(found.solutions) else []


class Shared(NamedTuple):
    """Labels, their mode with normal forces of least norm, and the frictions of slips in planes that start, by laws."""

    labels: Labels
    held: HeldMode
    pulls: dict[int, Array]


def share(
    table: ContactTable, labels: Labels, terms: Terms, resting: Collection[int], loads: Mapping[int, float]
) -> Shared | None:
    """Return the mode of the labels with normal forces of least norm; None where there is nothing to share.

    Which of the slips in planes that are at rest start, and in which directions, depends on these forces. With given
    ones it is a convex problem (Gauss): so the two are solved in turns.

    Parameters
    ----------
    table, labels, terms
        Of one state.
    resting : collection of int
        The contacts whose slips start, if they slip.
    loads : mapping
        Normal force by its number, to begin with.
    """
    starts = [
        number
        for number in sorted(resting)
        if len(table.places[number].slips) > 1 and len(table.places[number].of) == 1 and labels[number].plain in RUBBING
    ]
    ways: dict[int, Array] = {}
    before = np.zeros(0)
    for _ in range(ROUNDS if starts else 1):
        if starts:
            labels, ways = _starting(table, labels, terms, starts, loads)
        full = full_mode(table, labels)
        found = _shared(table, full, terms, ways)
        if found is None:
            return None
        held, forces = found
        loads = dict(zip(full.held, forces.tolist(), strict=False))
        normal = forces[: len(full.held)]
        if len(before) and np.abs(normal - before).max() <= SETTLED * np.abs(normal).max():
            break
        before = normal
    else:
        if starts:
            return None
    if starts and not _inside(table, terms, full, normal, forces[len(full.held) :]):
        return None
    return Shared(labels, held, {law: -way for law, way in ways.items()})


def _starting(
    table: ContactTable, labels: Labels, terms: Terms, starts: list[int], loads: Mapping[int, float]
) -> tuple[Labels, dict[int, Array]]:
    """Return the labels with those of contacts at rest whose normal forces are given; directions of slips, by laws."""
    now = list(labels)
    for number in starts:
        now[number] = Mode.CLOSED
    full = full_mode(table, tuple(now))
    rows = np.concatenate([terms.rows[list(full.held), :, 0], terms.slip_rows[list(full.sticking), :, 0]])
    bias = np.concatenate([terms.gamma[list(full.held), 0], terms.slip_bias[list(full.sticking), 0]])
    mass, force = terms.mass[:, :, 0], terms.force[:, 0]
    columns, given = pushed_columns(table, terms, full)
    for k, j in enumerate(full.held):  # what slides already goes with the load
        force = force + loads.get(j, 0.0) * (columns[k] - rows[k])
    sizes, directions = np.linalg.svd(rows)[1:]
    free = directions[int((sizes > DEPENDENT * sizes[0]).sum()) :].T
    held = np.linalg.lstsq(rows, bias, rcond=DEPENDENT)[0]
    contacts, bounds = [], []
    for number in starts:
        place = table.places[number]
        tangent = terms.slip_rows[list(place.slips), :, 0]
        bounds.append(float(terms.bounds[place.rows.against(1), 0]) * abs(loads.get(place.of[0], 0.0)))
        biased = terms.slip_bias[list(place.slips), 0] - tangent @ held
        contacts.append(
            Contact(None, tangent=tangent @ free, friction=1.0, normal_force=bounds[-1], tangent_bias=biased)
        )
    problem = ContactProblem(free.T @ mass @ free, free.T @ (force + given - mass @ held), contacts)
    solved = gauss_projection(friction_arrays(problem), tol=SETTLED)
    ways = {}
    for k, number in enumerate(starts):
        pull, place = solved.tangential[k], table.places[number]
        change = contacts[k].tangent @ solved.acceleration - contacts[k].tangent_bias
        spent = float(np.linalg.norm(pull)) >= (1 - NOTHING) * bounds[k]
        now[number] = Mode.SLIP if spent else Mode.STICK
        way = -pull if np.any(pull) else change
        if spent and np.any(way):
            ways[place.law] = way / np.linalg.norm(way)
    return tuple(now), ways


def _shared(
    table: ContactTable, full: ActiveSet, terms: Terms, ways: dict[int, Array]
) -> tuple[HeldMode, Array] | None:
    """Return a mode with normal forces of least norm, and all its forces; `ways` are those of slips that start."""
    if any(table.places[table.of_law(law)].resultant for law, _ in full.sliding):
        return None
    rows = np.concatenate([terms.rows[list(full.held), :, 0], terms.slip_rows[list(full.sticking), :, 0]])
    taking = np.array([table.places[table.of_normal(j)].one_sided or j in table.signed for j in full.held], dtype=bool)
    mass = terms.mass[:, :, 0]
    found = rank_of(rows, mass)
    if found.full or not taking.any():
        return None
    last = np.concatenate([taking, np.zeros(len(full.sticking), dtype=bool)])
    kept = np.sort(independent(found, sorted(range(len(rows)), key=lambda k: (last[k], k))))
    columns, given = pushed_columns(table, terms, full, ways)
    free, spread = np.split(np.linalg.solve(mass, np.column_stack([terms.force[:, 0] + given, columns.T])), [1], axis=1)
    bias = np.concatenate([terms.gamma[list(full.held), 0], terms.slip_bias[list(full.sticking), 0]])
    others = [k for k in kept if not last[k]]
    left, right = without(rows[kept] @ spread, bias[kept] - rows[kept] @ free[:, 0], last, others)
    carrying = _carrying(left * [-1.0 if j in full.pulling else 1.0 for j in np.array(full.held)[taking]], right)
    if carrying is None:
        return None
    normals = np.array(full.held)[taking]
    mode = replace(
        full,
        held=tuple(j for k, j in enumerate(full.held) if k in kept),
        sticking=tuple(j for k, j in enumerate(full.sticking) if k + len(full.held) in kept),
        shared=tuple(normals[carrying].tolist()),
        spare=tuple(normals[~carrying].tolist()),
    )
    own = np.flatnonzero(taking)[carrying]
    used = [*own.tolist(), *others]
    matrix, target = rows[kept] @ spread[:, used], bias[kept] - rows[kept] @ free[:, 0]
    forces = np.zeros(len(rows))
    forces[used] = least_normals(matrix[None], target[None], np.arange(len(used)) < len(own))[0]
    return HeldMode(mode), forces


def without(matrix: Array, right: Array, chosen: NDArray[np.bool_], others: list[int]) -> tuple[Array, Array]:
    """Return what is left of the equations for the chosen unknowns where the others are eliminated."""
    lengths = np.linalg.norm(matrix, axis=1)
    matrix, right = matrix / lengths[:, None], right / lengths
    across = np.eye(len(matrix)) - matrix[:, others] @ np.linalg.pinv(matrix[:, others])
    return across @ matrix[:, chosen], across @ right


def _carrying(left: Array, right: Array) -> NDArray[np.bool_] | None:
    """Return which unknowns are positive where left x = right and x >= 0 has the least norm; None without such an x.

    By principal pivots, the least index first (Murty): x = left^T z where that is positive.
    """
    count = left.shape[1]
    carrying = np.ones(count, dtype=bool)
    for _ in range(2 * count + 8):
        z = np.linalg.lstsq(left[:, carrying].T, np.linalg.pinv(left[:, carrying], rcond=1e-9) @ right, rcond=1e-9)[0]
        shares = left.T @ z
        zero = NOTHING * float(np.abs(shares).max(initial=0.0))
        wrong = np.flatnonzero(np.where(carrying, shares < -zero, shares > zero))
        if not len(wrong):
            met = np.abs(left[:, carrying] @ shares[carrying] - right).max(initial=0.0)
            return carrying if met <= 1e-7 * np.abs(right).max(initial=0.0) + 1e-300 else None
        carrying[wrong[0]] = not carrying[wrong[0]]
    return None


def shared_otherwise(decision: Decision, watches: tuple[Watch, ...]) -> Decision | None:
    """Return the decision with other contacts that carry, where that is all that watches ask for; else None."""
    mode = decision.mode.mode
    if not mode.shared or not all(
        kind == "share" or (kind == "normal" and k in mode.shared and k not in mode.pulling) for kind, k in watches
    ):
        return None
    turned = {k for _, k in watches}
    shared = tuple(sorted(({*mode.shared} - turned) | (turned & {*mode.spare})))
    spare = tuple(sorted(({*mode.spare} - turned) | (turned & {*mode.shared})))
    if len(shared) < sum(j in (*shared, *spare) for j in mode.held):
        return None  # those that are left don't suffice: one lets go
    return replace(decision, held=replace(decision.mode, mode=replace(mode, shared=shared, spare=spare)))


# Forces that make no difference to the motion.
def least_forces(table: ContactTable, terms: Terms, mode: ActiveSet, acceleration: Array) -> tuple[Array, Array]:
    """Return the forces of a mode's held normals and sticking slips at one state: of least norm, inside all laws.

    The sum of the squares of the normal forces comes first, then that of the friction that sticks.
    """
    columns, given = pushed_columns(table, terms, mode)
    mass, count = terms.mass[:, :, 0], len(mode.held)
    needed = mass @ acceleration - terms.force[:, 0] - given
    scale = 1.0 / np.sqrt(np.diagonal(mass))
    effect, asked = (columns * scale).T, needed * scale
    lengths = np.linalg.norm(effect, axis=1)
    moved = lengths > ROUNDING * lengths.max(initial=0.0)  # coordinates that no force moves ask for nothing
    effect, asked = effect[moved], asked[moved]
    others = list(range(count, len(columns)))
    left, right = without(effect, asked, np.arange(len(columns)) < count, others)
    normal = np.linalg.pinv(left, rcond=1e-9) @ right
    friction = np.linalg.pinv(effect[:, count:], rcond=1e-9) @ (asked - effect[:, :count] @ normal)
    if _inside(table, terms, mode, normal, friction):
        return normal, friction
    parts, order = parts_of(table, terms, mode, columns, np.concatenate([normal, friction]))
    value = np.empty(len(columns))
    value[order] = least_reactions(parts, mass)
    return value[:count], value[count:]


def _inside(table: ContactTable, terms: Terms, mode: ActiveSet, normal: Array, friction: Array) -> bool:
    """Say whether forces obey the laws of contacts that touch and of those that stick."""
    size = NOTHING * float(np.abs(normal).max(initial=0.0))
    return room_of(table, terms, mode, np.concatenate([normal, friction]), range(len(table.places))) >= -size


def room_of(table: ContactTable, terms: Terms, mode: ActiveSet, forces: Array, chosen: Collection[int]) -> float:
    """Return how far inside their laws the forces of held normals and sticking slips are, of the chosen constraints."""
    normal, friction = forces[: len(mode.held)], forces[len(mode.held) :]
    load, pull = dict(zip(mode.held, normal, strict=True)), dict(zip(mode.sticking, friction, strict=True))
    signed, room = _signed(table, mode), [np.inf]
    for place in (table.places[number] for number in chosen):
        if place.normal in signed:
            room.append(load[place.normal] * (-1.0 if place.normal in mode.pulling else 1.0))
        if not place.resultant and set(place.slips) & pull.keys():
            force = np.array([pull.get(slip, 0.0) for slip in place.slips])
            bears = abs(load.get(place.of[0], 0.0)) if place.of else 1.0
            room.append(float(place.rows.room(terms.bounds[:, 0], bears, force, rests=True)))
    return float(min(room))


def _signed(table: ContactTable, mode: ActiveSet) -> set[int]:
    """Return the held normals whose force has one sign."""
    return {j for j in mode.held if table.places[table.of_normal(j)].one_sided or j in table.signed}


class _Section(NamedTuple):
    """Bound, semi-axes and centre of a part."""

    bound: float = 0.0
    axes: Array | None = None
    centre: float = 0.0


def parts_of(
    table: ContactTable,
    terms: Terms,
    mode: ActiveSet,
    columns: Array,
    value: Array,
    chosen: Collection[int] | None = None,
) -> tuple[list[Part], list[int]]:
    """Return the forces of a mode contact by contact for cone programs, and their places among the columns.

    Only those of the chosen constraints, all by default, are bounded.
    """
    parts: list[Part] = []
    order: list[int] = []
    signed, count = _signed(table, mode), len(mode.held)
    for number, place in enumerate(table.places):
        own = [mode.held.index(place.normal)] if place.normal in mode.held else []
        rubs = [count + mode.sticking.index(slip) for slip in place.slips if slip in mode.sticking]
        if not own and not rubs:
            continue
        sign = -1.0 if place.normal in mode.pulling else 1.0
        kind = (PUSH if sign > 0 else PULL) if place.normal in signed else FREE
        here, law = own + rubs, _Section()
        if chosen is not None and number not in chosen:
            kind = FREE
        elif rubs and not place.resultant:
            kind = CONE if own else DISC
            first, second = (float(terms.bounds[row, 0]) for row in place.rows.held())
            if len(place.slips) > 1 and first != second:
                law = _Section(sign, np.array([first, second])[: len(rubs)])
            elif len(place.slips) > 1:
                law = _Section(sign * first)
            else:  # between -first and second
                law = _Section(sign * (first + second) / 2, None, (second - first) / max(first + second, 1e-300))
        parts.append(Part(kind, columns[here], value[here], *law))
        order += here
    return parts, order
