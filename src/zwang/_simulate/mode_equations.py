"""The equations of a mode in plain NumPy, for many states at once.

M a = Q + sum lam_j w_j + sum T_f u_f with the held rows w_j a = gamma_j and the sticking slips u a = bias. A slip that
slides has T = -bound |N| direction (Coulomb) or -bound direction (a given bound), so that its row joins the column of
its normal, and the system is not symmetric. This is what the compiled steps compute; here it fills the rows of a
motion, decides ties, and checks the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._derive.modes import ActiveSet
from zwang._kernels import Terms
from zwang._numerics.contact.modes import Side
from zwang._numerics.contact.table import ContactTable

Array = NDArray[np.float64]


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


def solve_mode(
    table: ContactTable, terms: Terms, mode: ActiveSet, directions: Mapping[int, Array] | None = None
) -> ModeSolution:
    """Return accelerations and reactions of a mode at states.

    `directions` gives the directions (2,) of slips in planes that have just started, by the number of their law: they
    keep their line, so that the slip across it is held.
    """
    states = terms.force.shape[1]
    held, sticking = list(mode.held), list(mode.sticking)
    across = _across(table, mode, directions or {})
    rows = np.concatenate(
        [terms.rows[held], terms.slip_rows[sticking]]
        + [np.einsum("s,sib->ib", side, terms.slip_rows[list(slips)])[None] for slips, side in across]
    )
    columns = rows.copy()
    force = terms.force.copy()
    given: dict[int, tuple[Array, int]] = {}  # slip -> (force, or force per |N|; place of that N among the held)
    for law, sign in mode.sliding:
        place = table.places[table.of_law(law)]
        along = slip_direction(terms, place.slips, sign)
        if directions and law in directions:
            along = np.asarray(directions[law])[:, None] * np.ones((1, states))
        pull = -terms.bounds[law] * along
        for component, slip in enumerate(place.slips):
            if place.side is Side.BOUND:
                force += pull[component] * terms.slip_rows[slip]
                given[slip] = (pull[component], -1)
            elif place.normal in held:
                size = pull[component] * (-1.0 if place.normal in mode.pulling else 1.0)
                columns[held.index(place.normal)] += size * terms.slip_rows[slip]
                given[slip] = (size, held.index(place.normal))
    mass = np.moveaxis(terms.mass, -1, 0)
    right = np.concatenate([force[:, None], np.moveaxis(columns, 0, 1)], axis=1)  # (n, 1 + k, B)
    carried = np.linalg.solve(mass, np.moveaxis(right, -1, 0))  # (B, n, 1 + k)
    free, spread = carried[:, :, 0], carried[:, :, 1:]
    jacobian = np.moveaxis(rows, -1, 0)
    biases = [(side @ terms.slip_bias[list(slips)])[None] for slips, side in across]
    target = np.concatenate([terms.gamma[held], terms.slip_bias[sticking], *biases]).T
    gap = target - np.einsum("bki,bi->bk", jacobian, free)
    multipliers = _solve_each(jacobian @ spread, gap)
    acceleration = free + np.einsum("bik,bk->bi", spread, multipliers)
    normal, tangential = np.zeros((len(terms.value), states)), np.zeros((len(terms.slip), states))
    normal[held] = multipliers[:, : len(held)].T
    tangential[sticking] = multipliers[:, len(held) : len(held) + len(sticking)].T
    for slip, (size, where) in given.items():
        tangential[slip] = size if where < 0 else size * multipliers[:, where]
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
