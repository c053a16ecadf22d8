"""Modes: labels of constraints (open, closed, stick, slip+, slip-, slip), the rows that they hold, and their equations.

M a = Q + sum lam_j w_j + sum T_f u_f with the held rows w_j a = gamma_j and the sticking slips u a = bias. A slip that
slides has T = -bound |N| direction (Coulomb) or -bound direction (a given bound), so that its row joins the column of
its normal, and the system is not symmetric. This is what the compiled steps compute; here, in plain NumPy for many
states at once, it fills the rows of a motion, decides ties, and checks the other.

Held rows must be independent. Where they are not, forces are not unique, and the rows are chosen so that the forces
that carry the motion are basic: a vertex of the set of admissible forces. As long as no force of the vertex leaves its
bounds the motion is admissible; when one does, another vertex is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._derive.motion_modes import ActiveSet
from zwang._kernels import Terms
from zwang._numerics.contact.modes import Level, Mode, Side
from zwang._numerics.contact.resultants import sizes as resultant_sizes
from zwang._numerics.contact.table import ContactPlace, ContactTable
from zwang._numerics.linear.rank import DEPENDENT, Rank, rank_of
from zwang._results.motion_parts import MotionPiece
from zwang._simulate.basic_forces import SPENT, Directions, basic_forces, pushed_columns, slip_direction

Array = NDArray[np.float64]
OPENED = {Level.POSITION: ("contact", "lift-off"), Level.VELOCITY: ("capture", "release")}
"""What closing and opening are called."""
LINE = 1e-5
"""How far lines of slips that start may be off, whose directions come from forces: those that agree so far are one."""


@dataclass(frozen=True)
class HeldMode:
    """A mode of motion, and the constraints whose reactions its equations leave free."""

    mode: ActiveSet
    undetermined: tuple[str, ...] = ()


def change_of(place: ContactPlace, before: Mode, after: Mode) -> str | None:
    """Return the kind of event that a change of mode is, None where nothing is logged of it."""
    first, second = before.plain, after.plain
    if first is second:
        return None
    if Mode.OPEN in (first, second):
        if place.side is Side.BOUND:
            return None  # what loads it opens or closes, and says so
        return OPENED[place.level][second is Mode.OPEN]
    if Mode.STICK in (first, second):
        return "stick" if second is Mode.STICK else "slip"
    return "reversal"


def mode_of_piece(piece: MotionPiece) -> ActiveSet:
    """Return the mode that a piece moves in."""
    sliding = tuple((int(a), int(b)) for a, b in piece.sliding)
    return ActiveSet(piece.held, piece.sticking, sliding, piece.pulling, piece.shared, piece.spare)


def full_mode(table: ContactTable, labels: tuple[Mode, ...]) -> ActiveSet:
    """Return the mode that holds every row which the labels name, dependent or not."""
    held, sticking, sliding, pulling = [], [], [], []
    for place, label in zip(table.places, labels, strict=True):
        if label in (Mode.OPEN, Mode.OFF):
            continue
        if place.normal >= 0:
            held.append(place.normal)
            if label.pulls:
                pulling.append(place.normal)
        if label.plain is Mode.STICK:
            sticking += list(place.slips)
        elif label.slips:
            sliding.append((place.law, label.sign))
    return ActiveSet(tuple(held), tuple(sticking), tuple(sliding), tuple(pulling))


def hold(table: ContactTable, labels: tuple[Mode, ...], terms: Terms, directions: Directions = None) -> HeldMode:
    """Return the mode of the labels with independent rows; `directions` are those of slips in planes that start."""
    full = full_mode(table, labels)
    rows = np.concatenate([terms.rows[list(full.held), :, 0], terms.slip_rows[list(full.sticking), :, 0]])
    if len(rows) == 0:
        return HeldMode(full)
    mass = terms.mass[:, :, 0]
    found = rank_of(rows, mass)
    if found.full:
        return HeldMode(full)
    free = _undetermined(table, full, found)
    forces, weights = basic_forces(table, terms, full, directions) or (np.zeros(len(rows)), np.zeros(len(rows)))
    bilateral = np.array(
        [not table.places[table.of_normal(j)].one_sided for j in full.held] + [False] * len(full.sticking)
    )
    order = sorted(range(len(rows)), key=lambda i: (not bilateral[i], -weights[i], i))
    kept = set(independent(found, order))
    held = tuple(j for i, j in enumerate(full.held) if i in kept)
    sticking = tuple(j for i, j in enumerate(full.sticking) if i + len(full.held) in kept)
    spent = _spent(table, full, held, kept, forces)
    pulling = tuple(j for j in full.pulling if j in held)
    implied = tuple(j for j in full.held if j not in held and table.places[table.of_normal(j)].kinked)
    return HeldMode(ActiveSet(held, sticking, (*full.sliding, *spent), pulling, implied=implied), free)


def _spent(
    table: ContactTable, full: ActiveSet, held: tuple[int, ...], kept: set[int], forces: Array
) -> list[tuple[int, int]]:
    """Return the frictions that stick, but at their bound and without a row of their own: they go with their normal."""
    found = []
    size = float(np.abs(forces).max(initial=0.0))
    for i, slip in enumerate(full.sticking):
        place = next(place for place in table.places if slip in place.slips)
        force = forces[i + len(full.held)]
        loaded = set(place.of) <= set(held)
        if i + len(full.held) not in kept and loaded and abs(force) > SPENT * size:
            found.append((place.law, -1 if force > 0 else 1))
    return found


def independent(found: Rank, order: list[int]) -> list[int]:
    """Return the first rows, in that order, that do not depend on those before them."""
    unit = found.left[:, : found.rank] * found.values[: found.rank]
    basis = np.zeros((0, found.rank))
    kept: list[int] = []
    for i in order:
        across = unit[i] - basis.T @ (basis @ unit[i])
        across -= basis.T @ (basis @ across)
        length = float(np.linalg.norm(across))
        if length > np.sqrt(DEPENDENT):
            basis = np.vstack([basis, across / length])
            kept.append(i)
        if len(kept) == found.rank:
            break
    return kept


def _undetermined(table: ContactTable, mode: ActiveSet, found: Rank) -> tuple[str, ...]:
    """Return the forces that have a share in a self-stress: names of constraints, and of their friction."""
    of_slip = {slip: place.name for place in table.places for slip in place.slips}
    names = [table.places[table.of_normal(j)].name for j in mode.held]
    names += [friction_of(of_slip[j]) for j in mode.sticking]
    taking = np.abs(found.left[:, found.rank :]).max(axis=1) > DEPENDENT
    return tuple(dict.fromkeys(names[i] for i in np.flatnonzero(taking)))


def friction_of(name: str) -> str:
    """Return what the friction force of a constraint is called among the undetermined forces."""
    return f"friction of {name}"


# The equations of a mode.
@dataclass(frozen=True)
class ModeSolution:
    """Accelerations (n, B), multipliers of all normals (m, B), tangential forces of all slips (s, B)."""

    acceleration: Array
    normal: Array
    tangential: Array


def solve_mode(table: ContactTable, terms: Terms, mode: ActiveSet, directions: Directions = None) -> ModeSolution:
    """Return accelerations and reactions of a mode at states.

    `directions` gives the directions (2,) of slips in planes that have just started, by the number of their law: they
    keep their line, so that the slip across it is held.
    """
    states = terms.force.shape[1]
    held, sticking = list(mode.carrying), list(mode.sticking)
    across = _across(table, terms, mode, directions or {})
    lines = [np.einsum("s,sib->ib", side, terms.slip_rows[list(slips)])[None] for slips, side in across]
    rows = np.concatenate([terms.rows[list(mode.held)], terms.slip_rows[sticking], *lines])
    columns = np.concatenate([terms.rows[held], terms.slip_rows[sticking], *lines])
    force = terms.force.copy()
    # slip -> (force, or force per |N|; place of that N among the held, -1 where it is given, -2 - law of a resultant)
    given: dict[int, tuple[Array, int]] = {}
    pins: dict[int, Array] = {}  # law -> what a unit of its resultant does (n, B)
    for law, sign in mode.sliding:
        place = table.places[table.of_law(law)]
        along = slip_direction(terms, place.slips, sign)
        if directions and law in directions:
            along = np.asarray(directions[law])[:, None] * np.ones((1, states))
        pull = -terms.bounds[place.rows.against(sign)] * along
        for component, slip in enumerate(place.slips):
            if place.resultant:
                pins.setdefault(law, np.zeros_like(force))
                pins[law] += pull[component] * terms.slip_rows[slip]
                given[slip] = (pull[component], -2 - law)
            elif not place.of:
                force += pull[component] * terms.slip_rows[slip]
                given[slip] = (pull[component], -1)
            elif place.of[0] in held:
                size = pull[component] * (-1.0 if place.of[0] in mode.pulling else 1.0)
                columns[held.index(place.of[0])] += size * terms.slip_rows[slip]
                given[slip] = (size, held.index(place.of[0]))
    mass = np.moveaxis(terms.mass, -1, 0)
    pushes = [force[:, None], np.moveaxis(columns, 0, 1), *(push[:, None] for push in pins.values())]
    carried = np.linalg.solve(mass, np.moveaxis(np.concatenate(pushes, axis=1), -1, 0))  # (B, n, 1 + k + pins)
    free, spread, moved = np.split(carried, [1, 1 + len(columns)], axis=2)
    free = free[:, :, 0]
    jacobian = np.moveaxis(rows, -1, 0)
    biases = [(side @ terms.slip_bias[list(slips)])[None] for slips, side in across]
    target = np.concatenate([terms.gamma[list(mode.held)], terms.slip_bias[sticking], *biases]).T
    gap = target - np.einsum("bki,bi->bk", jacobian, free)
    if mode.shared:
        multipliers = least_normals(jacobian @ spread, gap, np.isin(held, mode.shared))
    else:
        multipliers = _solve_each(jacobian @ spread, gap)
    lengths: dict[int, Array] = {}
    if pins:
        shares = np.stack(
            [
                _solve_each(jacobian @ spread, -np.einsum("bki,bi->bk", jacobian, one))
                for one in np.moveaxis(moved, 2, 0)
            ],
            axis=-1,
        )  # (B, k, pins)
        loads = [[held.index(j) for j in table.places[table.of_law(law)].of if j in held] for law in pins]
        share = [np.moveaxis(shares[:, one], 0, -1) for one in loads]
        sizes = resultant_sizes([multipliers[:, one].T for one in loads], share)
        lengths = dict(zip(pins, sizes, strict=True))
        multipliers = multipliers + np.einsum("bkp,pb->bk", shares, sizes)
        free = free + np.einsum("bip,pb->bi", moved, sizes)
    acceleration = free + np.einsum("bik,bk->bi", spread, multipliers)
    normal, tangential = np.zeros((len(terms.value), states)), np.zeros((len(terms.slip), states))
    normal[held] = multipliers[:, : len(held)].T
    tangential[sticking] = multipliers[:, len(held) : len(held) + len(sticking)].T
    for slip, (size, where) in given.items():
        load = 1.0 if where == -1 else lengths[-2 - where] if where < 0 else multipliers[:, where]
        tangential[slip] = size * load
    for k, (slips, side) in enumerate(across):
        tangential[list(slips)] += side[:, None] * multipliers[:, len(held) + len(sticking) + k]
    return ModeSolution(acceleration.T, normal, tangential)


def _across(
    table: ContactTable, terms: Terms, mode: ActiveSet, directions: Mapping[int, Array]
) -> list[tuple[tuple[int, ...], Array]]:
    """Return the slips of the laws that keep their lines, each with the unit vector (2,) across its line.

    Without those that follow from others: of four feet that turn together two or three keep all of them on their lines.
    """
    found = [
        (table.places[table.of_law(law)].slips, np.array([-directions[law][1], directions[law][0]]))
        for law, _ in mode.sliding
        if law in directions
    ]
    if len(found) < 2:
        return found
    held = np.concatenate([terms.rows[list(mode.held), :, 0], terms.slip_rows[list(mode.sticking), :, 0]])
    lines = np.array([side @ terms.slip_rows[list(slips), :, 0] for slips, side in found])
    rank = rank_of(np.concatenate([held, lines]), terms.mass[:, :, 0], LINE)
    if rank.full:
        return found
    kept = independent(rank, list(range(len(held) + len(lines))))
    return [found[i - len(held)] for i in kept if i >= len(held)]


def _solve_each(matrices: Array, right: Array) -> Array:
    if matrices.shape[1] == 0:
        return right
    try:
        return np.asarray(np.linalg.solve(matrices, right[..., None])[..., 0])
    except np.linalg.LinAlgError:
        return np.stack([np.linalg.lstsq(m, r, rcond=None)[0] for m, r in zip(matrices, right, strict=True)])


def least_normals(matrices: Array, right: Array, shared: NDArray[np.bool_]) -> Array:
    """Return forces (B, c) with the least sum of squares of those that are `shared` (the first columns are normals)."""
    lengths = np.linalg.norm(matrices, axis=2, keepdims=True)
    matrices, right = matrices / lengths, right / lengths[..., 0]
    chosen = np.zeros(matrices.shape[2], dtype=bool)
    chosen[: len(shared)] = shared
    own, others = matrices[:, :, chosen], matrices[:, :, ~chosen]
    inverse = np.linalg.pinv(others)
    across = np.eye(matrices.shape[1]) - others @ inverse
    found = np.zeros(matrices.shape[::2])
    found[:, chosen] = np.einsum("bck,bk->bc", np.linalg.pinv(across @ own, rcond=1e-9) @ across, right)
    rest = right - np.einsum("bkc,bc->bk", own, found[:, chosen])
    found[:, ~chosen] = np.einsum("bck,bk->bc", inverse, rest)
    return found


def denominator(table: ContactTable, terms: Terms, mode: ActiveSet) -> float:
    """Return det(J M^-1 C) over det(J M^-1 J^T) at one state: 1 without friction, 0 where it wedges."""
    rows = np.concatenate([terms.rows[list(mode.held), :, 0], terms.slip_rows[list(mode.sticking), :, 0]])
    columns, _ = pushed_columns(table, terms, mode)
    spread = np.linalg.solve(terms.mass[:, :, 0], np.stack([rows, columns]).transpose(0, 2, 1))
    without, with_friction = (float(np.linalg.det(rows @ part)) for part in spread)
    return with_friction / without if without else 0.0
