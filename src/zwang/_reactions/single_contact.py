"""The graph of a problem with one contact: how its accelerations depend on its two forces, in physical units."""

from __future__ import annotations

import numpy as np

from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.contact.scaled import Reduced
from zwang._results.contact_graph import ContactGraph


def contact_graph(problem: ContactProblem, reduced: Reduced) -> ContactGraph | None:
    """Return the graph of the only contact.

    None where there are several, its normal force is given, or it is at rest under another law than Coulomb's.
    """
    if reduced.count != 1 or reduced.laws[0] in {Law.KNOWN, Law.TRESCA_REST} or reduced.special:
        return None
    rows = problem.rows
    n, t = int(reduced.normal[0]), int(reduced.tangent[0])
    slip = np.asarray(rows.slip, dtype=float)
    sliding = reduced.laws[0] in {Law.UNILATERAL, Law.BILATERAL_SLIDING} and t >= 0
    # Reduced problems count friction along the slip; along a line it is told in the direction of the tangent.
    sign = float(reduced.direction[0, 0]) if t >= 0 and len(slip) == 1 else 1.0
    speed = (float(slip[0]) if len(slip) == 1 else float(np.linalg.norm(slip))) if sliding else 0.0

    def row(i: int, turn: float) -> tuple[float, float, float]:
        if i < 0:
            return 0.0, 0.0, 0.0
        scale = float(reduced.acceleration_unit[i]) * turn
        across = sign * float(reduced.gram[i, t] / reduced.unit[t]) if t >= 0 else 0.0
        return (
            scale * float(reduced.free[i]),
            scale * float(reduced.gram[i, n] / reduced.unit[n]),
            scale * across,
        )

    return ContactGraph(
        gap=row(n, 1.0),
        sliding=row(t, sign),
        friction=float(rows.friction[0]) if t >= 0 else 0.0,
        slip=speed,
        bilateral=bool(rows.bilateral[0]),
    )
