"""Forces of a mode whose rows depend on each other: one vertex of all that are admissible, and how far each can go."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from zwang._derive.motion_modes import ActiveSet
from zwang._kernels import Terms
from zwang._numerics.contact.table import ContactTable
from zwang._numerics.linear.metric import balance

Array = NDArray[np.float64]
Directions = Mapping[int, Array] | None
"""Of slips in planes that have just started, by laws: the state has none yet."""
EXCESS = 1e-6
"""Part of the forces by which linear programs may leave friction outside of its bound."""
TURNS = 12
"""Rounds in which the directions of resultants settle."""
SPENT = 1e-9
"""Forces of a vertex below this, relative to its largest, are zero."""


def slip_direction(terms: Terms, slips: tuple[int, ...], sign: int) -> Array:
    """Return the direction (p, B) of a slip: its sign along a line, the unit vector in a plane."""
    if len(slips) == 1:
        return np.full((1, terms.force.shape[1]), float(sign))
    slip = terms.slip[list(slips)]
    size = np.sqrt((slip**2).sum(axis=0))
    return np.asarray(slip / np.where(size > 0, size, 1.0))


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
