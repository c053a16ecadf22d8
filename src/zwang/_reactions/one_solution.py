"""One verified solution where the modes are too many to enumerate: pivoting, Newton, and the mode they end in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.candidate import Candidate, candidate_of
from zwang._numerics.contact.choose import prepare
from zwang._numerics.contact.complementarity import pivoting
from zwang._numerics.contact.delassus import FrictionArrays, friction_arrays
from zwang._numerics.contact.mode_newton import newton
from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.pieces import Piece, piece_of
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.contact.scaled import Reduced

Array = npt.NDArray[np.float64]

NEAR = 1e-8
"""Residual at which modes are told from forces that were approached: what the modes say is solved for then."""
LARGEST = 1_500
"""Complementary pairs beyond which a dense tableau is not made."""


def one_piece(problem: ContactProblem, reduced: Reduced, tol: float, slip_tol: float = 0.0) -> Piece | None:
    """Return the solutions in one mode, found by Lemke's method or else by Newton's; None if neither finds any."""
    if reduced.size > LARGEST:
        return None
    if not reduced.special:
        for proposed in _proposed(friction_arrays(problem, slip_tol=slip_tol)):
            piece = piece_at(reduced, reduced.scaled(proposed.normal, proposed.tangential), tol)
            if piece is not None:
                return piece
    z = newton(reduced)
    return None if z is None else piece_at(reduced, z, tol)


def _proposed(arrays: FrictionArrays) -> Iterator[Candidate]:
    """Yield forces of which the modes may be told: by sweeps or interior points, and by pivoting, which is dear."""
    if arrays.size and arrays.loaded and arrays.drag is None:
        ready = prepare(arrays)
        if ready.tables is not None or ready.plan is not None:
            forces, residual, method, steps = ready.solve(NEAR)
            if residual <= NEAR:
                yield candidate_of(arrays, forces, method, steps)
    if 4 * arrays.count <= LARGEST and (proposed := pivoting(arrays)).residual < np.inf:
        yield proposed


def piece_at(reduced: Reduced, z: Array, tol: float) -> Piece | None:
    """Return the solutions in the mode of approximate forces z: an approximation is solved for, never trusted."""
    u = reduced.gram @ z + reduced.free
    size = max(1.0, float(np.abs(z).max(initial=0.0)))
    for zero in (1e-9, 1e-7, 1e-5, 1e-11):
        modes = tuple(_mode(reduced, c, z, u, zero * size) for c in range(reduced.count))
        piece = piece_of(reduced, modes, tol)
        if piece is not None:
            return piece
    return None


def _mode(reduced: Reduced, contact: int, z: Array, u: Array, zero: float) -> int:
    """The mode of a contact at a point, told by its accelerations (so that stick contains its boundary)."""
    law, n, t = reduced.laws[contact], reduced.normal[contact], reduced.tangent[contact]
    if law in {Law.KNOWN, Law.BILATERAL, Law.FOLLOWS_SLIDING}:
        return 0
    if law is Law.UNILATERAL:
        return 0 if u[n] > zero else 1
    if law in {Law.BILATERAL_SLIDING, Law.BILATERAL_SIGNED}:
        return 0 if z[n] >= 0 else 1
    slip = 0 if abs(u[t]) <= zero else (1 if u[t] > 0 else 2)
    if law in {Law.TRESCA_REST, Law.FOLLOWS_REST}:
        return slip
    if law is Law.BILATERAL_REST:
        return slip + (0 if z[n] >= 0 else 3)
    return 0 if u[n] > zero else 1 + slip
