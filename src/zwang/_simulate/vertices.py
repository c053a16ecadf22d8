"""Basic forces where constraints depend on each other: a vertex of the forces that carry one acceleration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._derive.modes import ActiveSet
from zwang._kernels import Terms
from zwang._numerics.contact.modes import Side
from zwang._numerics.contact.table import ContactTable
from zwang._simulate.mode_equations import slip_direction

Array = NDArray[np.float64]


def basic_forces(table: ContactTable, terms: Terms, mode: ActiveSet) -> tuple[Array, Array] | None:
    """Return the force of each row of a mode at a vertex, and how far inside its bounds it lies; None without a vertex.

    The acceleration is that of the rows as equalities. Friction that slides has no row: its normal carries it along.
    """
    if any(len(place.slips) > 1 and place.slips[0] in mode.sticking for place in table.places):
        return None
    rows = np.concatenate([terms.rows[list(mode.held), :, 0], terms.slip_rows[list(mode.sticking), :, 0]])
    gamma = np.concatenate([terms.gamma[list(mode.held), 0], terms.slip_bias[list(mode.sticking), 0]])
    columns, given = _columns(table, terms, mode)
    mass, force = terms.mass[:, :, 0], terms.force[:, 0] + given
    carried = np.linalg.solve(mass, np.column_stack([force, columns.T]))
    free, spread = carried[:, 0], carried[:, 1:]
    least = np.linalg.lstsq(rows @ spread, gamma - rows @ free, rcond=1e-10)[0]
    needed = columns.T @ least
    rows = columns
    low, high = _bounds(table, terms, mode)
    above, limit = _cones(table, terms, mode, len(rows))
    scale = float(np.abs(needed).max(initial=0.0)) or 1.0
    left, values, right = np.linalg.svd(rows.T, full_matrices=False)
    kept = values > 1e-10 * values[0]
    equal = values[kept, None] * right[kept]
    bounds = list(zip(low / scale, high / scale, strict=True))
    x = _with_little_friction(equal, (left.T @ needed)[kept] / scale, above, limit / scale, bounds, len(mode.held))
    if x is None:
        return None
    x = x * scale
    slack = np.minimum(np.where(np.isfinite(low), x - low, np.inf), np.where(np.isfinite(high), high - x, np.inf))
    for row, rest in zip(above, limit - above @ x, strict=True):
        last = int(np.flatnonzero(row)[-1])  # the tangential force of the pair
        slack[last] = min(slack[last], rest)
    slack = np.where(np.isinf(slack), np.abs(x), slack)
    rubbing = slice(len(mode.held), None)
    slack[rubbing] = np.minimum(slack[rubbing], np.abs(x[rubbing]))  # friction that is not needed needs no row
    return x, slack


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


def _columns(table: ContactTable, terms: Terms, mode: ActiveSet) -> tuple[Array, Array]:
    """Return what a unit of each held force does, sliding friction with its normal, and what given frictions do."""
    columns = np.concatenate([terms.rows[list(mode.held), :, 0], terms.slip_rows[list(mode.sticking), :, 0]])
    given = np.zeros(columns.shape[1])
    for law, sign in mode.sliding:
        place = table.places[table.of_law(law)]
        pull = -float(terms.bounds[law, 0]) * slip_direction(terms, place.slips, sign)[:, 0]
        push = pull @ terms.slip_rows[list(place.slips), :, 0]
        if place.normal in mode.held:
            columns[mode.held.index(place.normal)] += push * (-1.0 if place.normal in mode.pulling else 1.0)
        elif place.side is Side.BOUND:
            given = given + push
    return columns, given


def _bounds(table: ContactTable, terms: Terms, mode: ActiveSet) -> tuple[Array, Array]:
    low, high = [], []
    for j in mode.held:
        one_sided = table.places[table.of_normal(j)].one_sided
        pulls = j in mode.pulling
        rubs = table.places[table.of_normal(j)].law >= 0
        low.append(0.0 if one_sided or (rubs and not pulls) else -np.inf)
        high.append(0.0 if pulls else np.inf)
    for slip in mode.sticking:
        place = next(place for place in table.places if slip in place.slips)
        bound = float(terms.bounds[place.law, 0]) if place.side is Side.BOUND else np.inf
        low.append(-bound)
        high.append(bound)
    return np.array(low), np.array(high)


def _cones(table: ContactTable, terms: Terms, mode: ActiveSet, size: int) -> tuple[Array, Array]:
    """Return |T| <= bound |N| of the sticking Coulomb contacts as rows of A x <= b."""
    rows = []
    for i, slip in enumerate(mode.sticking):
        place = next(place for place in table.places if slip in place.slips)
        if place.normal not in mode.held:
            continue
        bound = float(terms.bounds[place.law, 0]) * (-1.0 if place.normal in mode.pulling else 1.0)
        for sign in (1.0, -1.0):
            row = np.zeros(size)
            row[mode.held.index(place.normal)] = -bound
            row[len(mode.held) + i] = sign
            rows.append(row)
    return np.array(rows).reshape(-1, size), np.zeros(len(rows))


def force_ranges(table: ContactTable, terms: Terms, mode: ActiveSet, acceleration: Array) -> Array:
    """Return the least and greatest normal force (held, 2) with which a mode has an acceleration; nan if unknown.

    All rows that the labels hold stand in `mode`, dependent or not.
    """
    from scipy.optimize import linprog

    count = len(mode.held)
    if any(len(place.slips) > 1 and place.slips[0] in mode.sticking for place in table.places):
        return np.full((count, 2), np.nan)
    rows, given = _columns(table, terms, mode)
    needed = terms.mass[:, :, 0] @ acceleration - terms.force[:, 0] - given
    low, high = _bounds(table, terms, mode)
    above, limit = _cones(table, terms, mode, len(rows))
    scale = float(np.abs(needed).max(initial=0.0)) or 1.0
    left, values, right = np.linalg.svd(rows.T, full_matrices=False)
    kept = values > 1e-10 * values[0]
    found = np.empty((count, 2))
    for j in range(count):
        for side, least in enumerate((1.0, -1.0)):
            cost = np.zeros(len(rows))
            cost[j] = least
            answer = linprog(
                cost,
                A_ub=above if len(above) else None,
                b_ub=limit / scale if len(above) else None,
                A_eq=values[kept, None] * right[kept],
                b_eq=(left.T @ needed)[kept] / scale,
                bounds=list(zip(low / scale, high / scale, strict=True)),
                method="highs",
            )
            bound = {0: float(answer.x[j]) * scale if answer.x is not None else np.nan, 3: -least * np.inf}
            found[j, side] = bound.get(answer.status, np.nan)
    return found
