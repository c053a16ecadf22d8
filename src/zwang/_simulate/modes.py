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

from zwang._derive.modes import ActiveSet
from zwang._kernels import Terms
from zwang._numerics.contact.modes import Level, Mode, Side
from zwang._numerics.contact.resultants import sizes as resultant_sizes
from zwang._numerics.contact.table import ContactPlace, ContactTable
from zwang._numerics.linear.metric import balance
from zwang._numerics.linear.rank import DEPENDENT, Rank, rank_of
from zwang._results.motion_parts import MotionPiece

Array = NDArray[np.float64]
Directions = Mapping[int, Array] | None
"""Of slips in planes that have just started, by laws: the state has none yet."""
OPENED = {Level.POSITION: ("contact", "lift-off"), Level.VELOCITY: ("capture", "release")}
"""What closing and opening are called."""
EXCESS = 1e-6
"""Part of the forces by which linear programs may leave friction outside of its bound."""
TURNS = 12
"""Rounds in which the directions of resultants settle."""
SPENT = 1e-9
"""Forces of a vertex below this, relative to its largest, are zero."""


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
    mode = ActiveSet(held, sticking, (*full.sliding, *spent), tuple(j for j in full.pulling if j in held))
    return HeldMode(mode, free)


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


def slip_direction(terms: Terms, slips: tuple[int, ...], sign: int) -> Array:
    """Return the direction (p, B) of a slip: its sign along a line, the unit vector in a plane."""
    if len(slips) == 1:
        return np.full((1, terms.force.shape[1]), float(sign))
    slip = terms.slip[list(slips)]
    size = np.sqrt((slip**2).sum(axis=0))
    return np.asarray(slip / np.where(size > 0, size, 1.0))


def solve_mode(table: ContactTable, terms: Terms, mode: ActiveSet, directions: Directions = None) -> ModeSolution:
    """Return accelerations and reactions of a mode at states.

    `directions` gives the directions (2,) of slips in planes that have just started, by the number of their law: they
    keep their line, so that the slip across it is held.
    """
    states = terms.force.shape[1]
    held, sticking = list(mode.carrying), list(mode.sticking)
    across = _across(table, mode, directions or {})
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
    table: ContactTable, mode: ActiveSet, directions: Mapping[int, Array]
) -> list[tuple[tuple[int, ...], Array]]:
    """Return the slips of the laws that keep their lines, each with the unit vector (2,) across its line."""
    return [
        (table.places[table.of_law(law)].slips, np.array([-directions[law][1], directions[law][0]]))
        for law, _ in mode.sliding
        if law in directions
    ]


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


# Forces where rows depend on each other.
def basic_forces(
    table: ContactTable, terms: Terms, mode: ActiveSet, directions: Directions = None
) -> tuple[Array, Array] | None:
    """Return the force of each row of a mode at a vertex, and how far inside its bounds it lies; None without a vertex.

    The acceleration is that of the rows as equalities. Friction that slides has no row: its normal carries it along.
    """
    if any(len(place.slips) > 1 and place.slips[0] in mode.sticking for place in table.places):
        return None
    rows = np.concatenate([terms.rows[list(mode.held), :, 0], terms.slip_rows[list(mode.sticking), :, 0]])
    gamma = np.concatenate([terms.gamma[list(mode.held), 0], terms.slip_bias[list(mode.sticking), 0]])
    columns, given = pushed_columns(table, terms, mode, directions)
    mass, force = terms.mass[:, :, 0], terms.force[:, 0] + given
    carried = np.linalg.solve(mass, np.column_stack([force, columns.T]))
    free, spread = carried[:, 0], carried[:, 1:]
    least = np.linalg.lstsq(rows @ spread, gamma - rows @ free, rcond=1e-10)[0]
    needed = columns.T @ least
    rows = columns
    low, high = _bounds(table, terms, mode)
    above, limit = _cones(table, terms, mode, len(rows))
    scale = float(np.abs(least).max(initial=0.0)) or 1.0
    equal, right_side = balance(mass, rows, needed / scale)
    bounds, plain = list(zip(low / scale, high / scale, strict=True)), above
    x = None
    for _ in range(TURNS if any(place.resultant for place in table.places) else 1):
        # A resultant is at least the force along any direction: that of the forces of the round before.
        above = np.concatenate([plain, _along(table, terms, mode, least if x is None else x * scale)])
        limit = np.zeros(len(above))
        before, x = x, _with_little_friction(equal, right_side, above, limit, bounds, len(mode.held))
        if x is None and len(above) > len(plain):  # too far off in direction: come nearer
            x = _with_least_excess(equal, right_side, above, bounds)
        if x is None or (before is not None and np.abs(x - before).max() <= SPENT):
            break
    if x is None or (above @ x).max(initial=0.0) > EXCESS:
        return None
    x = x * scale
    slack = np.minimum(np.where(np.isfinite(low), x - low, np.inf), np.where(np.isfinite(high), high - x, np.inf))
    for row, rest in zip(above, limit - above @ x, strict=True):
        last = int(np.flatnonzero(row)[-1])  # the tangential force of the pair
        slack[last] = min(slack[last], rest)
    slack = np.where(np.isinf(slack), np.abs(x), slack)
    rubbing = slice(len(mode.held), None)
    needless = np.minimum(slack[rubbing], np.abs(x[rubbing]))  # friction that is not needed needs no row
    return x, np.concatenate([slack[: len(mode.held)], _with_pins(table, mode, x, slack[rubbing], needless)])


def _with_pins(table: ContactTable, mode: ActiveSet, x: Array, room: Array, needless: Array) -> Array:
    """Return the weights of sticking rows, with those of pins that rest together: first what is between its bounds.

    What is at a bound goes with its resultant. Where all that is needed is there, one that was not needed takes over.
    """
    found, size = needless.copy(), float(np.abs(x).max(initial=0.0))
    for i, slip in enumerate(mode.sticking):
        place = next(place for place in table.places if slip in place.slips)
        if place.resultant and abs(x[len(mode.held) + i]) <= SPENT * size:
            found[i] = SPENT * room[i]
    return found


def _with_little_friction(
    equal: Array, given: Array, above: Array, limit: Array, bounds: list[tuple[float, float]], normals: int
) -> Array | None:
    """Return a vertex with the least sum of friction forces, which come after the normals; None where there is none.

    Friction forces against each other, all at their bounds, make a vertex too, but one that lets go by rounding.
    """
    from scipy.optimize import linprog

    count = len(bounds) - normals
    each = np.repeat(np.eye(count), 2, axis=0)
    signed = np.tile([1.0, -1.0], count)[:, None] * each
    sizes = np.hstack([np.zeros((2 * count, normals)), signed, -each])  # |T| <= its size
    cones = np.hstack([above, np.zeros((len(above), count))])
    answer = linprog(
        np.concatenate([np.zeros(len(bounds)), np.ones(count)]),
        A_ub=np.concatenate([cones, sizes]),
        b_ub=np.concatenate([limit, np.zeros(2 * count)]),
        A_eq=np.hstack([equal, np.zeros((len(equal), count))]),
        b_eq=given,
        bounds=[*bounds, *([(0.0, np.inf)] * count)],
        method="highs-ds",
    )
    return np.asarray(answer.x)[: len(bounds)] if answer.status == 0 else None


def _with_least_excess(equal: Array, given: Array, above: Array, bounds: list[tuple[float, float]]) -> Array | None:
    """Return forces that exceed their cones as little as they can; None where other bounds leave none."""
    from scipy.optimize import linprog

    answer = linprog(
        np.append(np.zeros(len(bounds)), 1.0),
        A_ub=np.column_stack([above, -np.ones(len(above))]),
        b_ub=np.zeros(len(above)),
        A_eq=np.column_stack([equal, np.zeros(len(equal))]),
        b_eq=given,
        bounds=[*bounds, (0.0, np.inf)],
        method="highs-ds",
    )
    return np.asarray(answer.x)[: len(bounds)] if answer.status == 0 else None


def pushed_columns(
    table: ContactTable, terms: Terms, mode: ActiveSet, directions: Directions = None
) -> tuple[Array, Array]:
    """Return what a unit of each held force does, sliding friction with its normal, and what given frictions do."""
    columns = np.concatenate([terms.rows[list(mode.held), :, 0], terms.slip_rows[list(mode.sticking), :, 0]])
    given = np.zeros(columns.shape[1])
    for law, sign in mode.sliding:
        place = table.places[table.of_law(law)]
        known = (directions or {}).get(law)
        along = slip_direction(terms, place.slips, sign)[:, 0] if known is None else known
        pull = -float(terms.bounds[place.rows.against(sign), 0]) * along
        push = pull @ terms.slip_rows[list(place.slips), :, 0]
        if len(place.of) == 1 and place.of[0] in mode.held:
            columns[mode.held.index(place.of[0])] += push * (-1.0 if place.of[0] in mode.pulling else 1.0)
        elif not place.of:
            given = given + push
    return columns, given


def _bounds(table: ContactTable, terms: Terms, mode: ActiveSet) -> tuple[Array, Array]:
    low, high = [], []
    for j in mode.held:
        one_sided = table.places[table.of_normal(j)].one_sided
        pulls = j in mode.pulling
        rubs = j in table.signed
        low.append(0.0 if one_sided or (rubs and not pulls) else -np.inf)
        high.append(0.0 if pulls else np.inf)
    for slip in mode.sticking:
        place = next(place for place in table.places if slip in place.slips)
        plus, minus = (float(terms.bounds[row, 0]) for row in place.rows.held())
        low.append(-np.inf if place.of else -plus)
        high.append(np.inf if place.of else minus)
    return np.array(low), np.array(high)


def _cones(table: ContactTable, terms: Terms, mode: ActiveSet, size: int) -> tuple[Array, Array]:
    """Return |T| <= bound |N| of the sticking Coulomb contacts as rows of A x <= b."""
    rows = []
    for i, slip in enumerate(mode.sticking):
        place = next(place for place in table.places if slip in place.slips)
        if len(place.of) != 1 or place.of[0] not in mode.held:
            continue
        plus, minus = (float(terms.bounds[row, 0]) for row in place.rows.held())
        for sign, bound in ((1.0, minus), (-1.0, plus)):
            row = np.zeros(size)
            row[mode.held.index(place.of[0])] = bound if place.of[0] in mode.pulling else -bound
            row[len(mode.held) + i] = sign
            rows.append(row)
    return np.array(rows).reshape(-1, size), np.zeros(len(rows))


def _along(table: ContactTable, terms: Terms, mode: ActiveSet, forces: Array) -> Array:
    """Return |T| <= bound times the part of the resultant along the one that there was, as rows of A x <= 0."""
    rows = []
    for i, slip in enumerate(mode.sticking):
        place = next(place for place in table.places if slip in place.slips)
        loads = [mode.held.index(j) for j in place.of if j in mode.held] if place.resultant else []
        size = float(np.linalg.norm(forces[loads]))
        if not loads:
            continue
        plus, minus = (float(terms.bounds[row, 0]) for row in place.rows.held())
        for sign, bound in ((1.0, minus), (-1.0, plus)):
            row = np.zeros(len(forces))
            row[loads] = -bound * forces[loads] / size if size > 0 else 0.0
            row[len(mode.held) + i] = sign
            rows.append(row)
    return np.array(rows).reshape(-1, len(forces))


def force_ranges(table: ContactTable, terms: Terms, mode: ActiveSet, acceleration: Array) -> Array:
    """Return the least and greatest normal force (held, 2) with which a mode has an acceleration; nan if unknown.

    All rows that the labels hold stand in `mode`, dependent or not.
    """
    from scipy.optimize import linprog

    count = len(mode.held)
    if any(len(place.slips) > 1 and place.slips[0] in mode.sticking for place in table.places):
        return np.full((count, 2), np.nan)
    rows, given = pushed_columns(table, terms, mode)
    needed = terms.mass[:, :, 0] @ acceleration - terms.force[:, 0] - given
    low, high = _bounds(table, terms, mode)
    above, limit = _cones(table, terms, mode, len(rows))
    equal, right_side = balance(terms.mass[:, :, 0], rows, needed)
    scale = float(np.abs(equal.T @ right_side).max(initial=0.0)) or 1.0
    found = np.empty((count, 2))
    for j in range(count):
        for side, least in enumerate((1.0, -1.0)):
            cost = np.zeros(len(rows))
            cost[j] = least
            answer = linprog(
                cost,
                A_ub=above if len(above) else None,
                b_ub=limit / scale if len(above) else None,
                A_eq=equal,
                b_eq=right_side / scale,
                bounds=list(zip(low / scale, high / scale, strict=True)),
                method="highs",
            )
            bound = {0: float(answer.x[j]) * scale if answer.x is not None else np.nan, 3: -least * np.inf}
            found[j, side] = bound.get(answer.status, np.nan)
    return found
