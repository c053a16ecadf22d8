"""Without friction, or with given normal forces, Gauss's principle: a strictly convex program has one solution.

The acceleration minimizes (w - A^-1 F)^T A (w - A^-1 F)/2 + sum_j bound_j |t_j w - bias_j| over the accelerations that
the constraints allow (paper 001, (1.7), (2.2); biases: its erratum 35). So it is unique, and exists for every force
once some acceleration is allowed. Forces are unique where their rows are independent.
"""

from __future__ import annotations

import numpy as np

from zwang._numerics.contact.certificates.proofs import EVERY_FORCE, Proof
from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.linear.programs import deepest
from zwang._numerics.linear.rank import GRAM


def gauss(problem: Reduced) -> Proof | None:
    """Return the certificate, None if some friction force depends on an unknown normal force."""
    if (problem.friction > 0).any():
        return None
    tresca = Law.TRESCA_REST in problem.laws
    smallest = float(np.linalg.eigvalsh(problem.gram)[0]) if problem.size else 1.0
    consistent = smallest > GRAM or not problem.bias.any() or _allowed(problem)
    independent = smallest > GRAM
    what = "given friction bounds" if tresca else "no friction"
    rows = "forces" if tresca else "normals"
    tail = (
        f"the rows of the {rows} are independent (smallest eigenvalue of their Gram matrix {smallest:.3g}), "
        f"so the reactions are unique too"
        if independent
        else f"the rows of the {rows} are dependent, so reactions need not be unique"
    )
    head = "for every force there is exactly one acceleration" if consistent else "there is at most one acceleration"
    return Proof(
        kind="given normal forces" if tresca else "frictionless",
        number=smallest,
        scope=EVERY_FORCE,
        sentence=f"Gauss's principle with {what}: {head}; {tail}.",
        exists=consistent,
        unique_motion=True,
        unique=independent,
    )


def _allowed(problem: Reduced) -> bool:
    """Whether some acceleration satisfies all conditions on the normals (A^-1 J^T y runs over all that matter)."""
    normals = problem.normal[problem.normal >= 0]
    two_sided = np.array([problem.laws[c] is Law.BILATERAL for c in np.flatnonzero(problem.normal >= 0)], dtype=bool)
    rows = np.column_stack([problem.gram[np.ix_(normals, normals)], -problem.bias[normals]])
    found = deepest(rows[two_sided], rows[~two_sided])
    return found is not None and found[1] >= -1e-11
