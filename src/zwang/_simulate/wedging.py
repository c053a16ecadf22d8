"""Sliding friction that wedges: where the denominator of the normal force vanishes.

While a contact slides its normal force is a quotient: det(J M^-1 C) below, with C the columns of the held forces, each
normal with the friction that it carries along. A sliding motion comes to a zero of the denominator only where the
numerator vanishes too (Genot and Brogliato): what follows from there the equations don't say.
"""

from __future__ import annotations

import numpy as np

from zwang._derive.modes import ActiveSet
from zwang._kernels import Terms
from zwang._numerics.contact.table import ContactTable
from zwang._simulate.deciding import Decision
from zwang._simulate.mode_equations import slip_direction
from zwang._simulate.moment import Ground, Moment

NEAR = 1e-4
"""Part of its value without friction to which the denominator has fallen where it counts as zero."""


def denominator(table: ContactTable, terms: Terms, mode: ActiveSet) -> float:
    """Return det(J M^-1 C) over det(J M^-1 J^T) at one state: 1 without friction, 0 where it wedges."""
    rows = np.concatenate([terms.rows[list(mode.held), :, 0], terms.slip_rows[list(mode.sticking), :, 0]])
    columns = rows.copy()
    for law, sign in mode.sliding:
        place = table.places[table.of_law(law)]
        if place.normal not in mode.held:
            continue
        pull = -float(terms.bounds[law, 0]) * slip_direction(terms, place.slips, sign)[:, 0]
        push = pull @ terms.slip_rows[list(place.slips), :, 0]
        columns[mode.held.index(place.normal)] += push * (-1.0 if place.normal in mode.pulling else 1.0)
    spread = np.linalg.solve(terms.mass[:, :, 0], np.stack([rows, columns]).transpose(0, 2, 1))
    without, with_friction = (float(np.linalg.det(rows @ part)) for part in spread)
    return with_friction / without if without else 0.0


def wedges(ground: Ground, moment: Moment, decision: Decision) -> str | None:
    """Return in words that sliding friction wedges at a moment; None where it does not."""
    held = decision.held
    if held is None or not held.mode.sliding or not held.mode.held:
        return None
    value = denominator(ground.table, ground.at(moment), held.mode)
    if abs(value) > NEAR:
        return None
    return (
        f"At t = {moment.t:.12g} sliding friction wedges: numerator and denominator of the normal force vanish "
        f"together (the denominator is {value:.1e} of its value without friction), and the equations don't say what "
        "follows."
    )
