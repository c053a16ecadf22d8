"""All contacts slide: the exact criterion of existence and uniqueness for every force.

With y_j = N_j where the contact is closed and y_j = -(gap acceleration) where it is open, the laws are one equation
F(y) = -b, F linear on each orthant: its column j is n_i . A^-1 (n_j - mu_j t_j) for y_j > 0, and for y_j < 0 the unit
vector (unilateral) or n_i . A^-1 (n_j + mu_j t_j) (bilateral). F is one-to-one and onto if and only if all 2^k
determinants have one sign: for unilateral contacts, if and only if the matrix is a P-matrix.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.certificates.proofs import EVERY_FORCE, Proof
from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.linear.rank import GRAM

Array = npt.NDArray[np.float64]

MOST_CONTACTS = 14  # with 2^14 corners of friction
ROUNDING = 1e-12  # relative to unit rows


def orthant_columns(problem: Reduced) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Return the columns for y > 0, those for y < 0, and which contacts have two different ones."""
    contacts = np.flatnonzero(problem.normal >= 0)
    normals, tangents = problem.normal[contacts], problem.tangent[contacts]
    mu = problem.friction[contacts]
    push = problem.gram[np.ix_(normals, normals)]
    rub = np.where(tangents >= 0, problem.gram[np.ix_(normals, tangents)], 0.0) * mu
    one_sided = np.array([problem.laws[c] is Law.UNILATERAL for c in contacts], dtype=bool)
    negative = np.where(one_sided, np.eye(len(contacts)), push + rub)
    return push - rub, negative, one_sided | (mu > 0)


def sliding(problem: Reduced) -> Proof | None:
    """Return the certificate or the failure of the criterion; None if it doesn't apply."""
    allowed = {Law.UNILATERAL, Law.BILATERAL, Law.BILATERAL_SLIDING, Law.KNOWN}
    if not set(problem.laws) <= allowed or not (problem.friction > 0).any():
        return None
    positive, negative, two = orthant_columns(problem)
    free = np.flatnonzero(two)
    if len(free) > MOST_CONTACTS:
        return None
    low, high = np.inf, -np.inf
    for start in range(0, 1 << len(free), 4096):  # in blocks: 2^14 matrices of 14 x 14 are 25 MB
        codes = np.arange(start, min(start + 4096, 1 << len(free)))
        choice = np.zeros((len(codes), positive.shape[1]), dtype=bool)
        choice[:, free] = (codes[:, None] >> np.arange(len(free))) & 1
        determinants = np.linalg.det(np.where(choice[:, None, :], negative, positive))
        low, high = min(low, float(determinants.min())), max(high, float(determinants.max()))
    one_sign = low > ROUNDING or high < -ROUNDING
    number = low if low > 0 or high > 0 else high
    unilateral = all(law in {Law.UNILATERAL, Law.KNOWN} for law in problem.laws)
    kind = "P-matrix" if unilateral else "coherent orientation"
    independent = bool(np.linalg.eigvalsh(problem.gram[np.ix_(*[problem.normal[problem.normal >= 0]] * 2)])[0] > GRAM)
    what = "principal minors are positive" if unilateral else "determinants have one sign"
    if one_sign:
        sentence = f"All {1 << len(free)} {what} (nearest to zero: {number:.3g}): exactly one solution for every force."
        return Proof(kind, number, EVERY_FORCE, sentence, exists=True, unique_motion=True, unique=True)
    failed = "principal minors are not all positive" if unilateral else "determinants don't have one sign"
    reach = "some force has none or several solutions" if independent else "the criterion can't decide"
    sentence = f"The {1 << len(free)} {failed} (from {low:.3g} to {high:.3g}): {reach}."
    return Proof(kind, low, EVERY_FORCE, sentence, fails=independent)
