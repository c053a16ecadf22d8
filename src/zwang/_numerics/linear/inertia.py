"""Whether a mass matrix is one: positive definite, or semidefinite and definite on the motions that rows allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.linear.metric import BITS, SOUND, factor, least_pivot, support, supported
from zwang._numerics.linear.rank import CLEAR, decided, proved_independent, rank_metric

Array = NDArray[np.float64]

NAMED = 0.2
"""Coordinates with at least this part of the largest share in a motion are named."""
AT_ONCE = 1 << 13
"""Matrices that are looked at together: more of them leave the processor's fast memory."""
DECIDED = 1e3
"""Times the least eigenvalue that is sound: a determinant above it, more than e, decides in spite of rounding."""


CERTAIN = 1e-5
"""Pivots above it, relative to their diagonal, are none that rounding made: what it makes is some 1e-15 over the least
pivot before, and those below `SOUND` are no pivots."""
PROVED = 60
"""Coordinates up to which a determinant is asked for: some milliseconds."""


@dataclass(frozen=True, eq=False)
class Lack:
    """A motion without inertia.

    Attributes
    ----------
    indefinite : bool
        Whether its kinetic energy is negative, on whatever motion; else it is zero on one that the rows allow.
    direction : (n,) array
        Velocities, the largest 1.
    energy : float
        Twice the kinetic energy, relative to that of the same velocities without coupling.
    """

    indefinite: bool
    direction: Array
    energy: float

    def named(self, coordinates: Sequence[str]) -> str:
        """Return the motion in words."""
        share = np.abs(self.direction)
        involved = np.argsort(-share, kind="stable")[: max(int((share >= NAMED).sum()), 1)]
        shown = [f"{self.direction[i]:+.3g} v_{coordinates[i]}" for i in sorted(involved[:6])]
        return " ".join(shown).removeprefix("+")


def lack_of_inertia(mass: Array, rows: Array) -> Lack | None:
    """Return the motion in which inertia is missing, None where M is definite on the kernel of the rows.

    Examples
    --------
    >>> lack_of_inertia(np.diag([1.0, 0.0]), np.array([[1.0, -1.0]])) is None
    True
    >>> lack_of_inertia(np.diag([1.0, 0.0]), np.zeros((0, 2))).named(["x", "y"])
    '1 v_y'
    """
    if _definite(mass, rows[:0]):
        return None
    found = _negative(mass)
    if found is not None:
        return found
    if _definite(mass, rows):
        return None
    _, direction, energy = _least(supported(mass, rows))
    return Lack(False, direction, energy)


def _definite(mass: Array, rows: Array) -> bool:
    """Say whether M + W^T D W is definite: by its pivots, and by its determinant where a pivot may be rounding."""
    whole = supported(mass, rows) if len(rows) else mass
    root = factor(whole)
    if root is None:
        return False
    return least_pivot(whole, root) > CERTAIN or len(mass) > PROVED or _no_determinant_of_zero(mass, rows)


def _no_determinant_of_zero(mass: Array, rows: Array) -> bool:
    """Say whether Arb proves that M + W^T D W is not singular, of the numbers as they are given."""
    from flint import arb_mat

    from zwang._numerics.series.balls import precision

    with precision(BITS):
        whole = arb_mat(mass.tolist())
        if len(rows):
            W, D = arb_mat(rows.tolist()), arb_mat(np.diag(support(mass, rows)).tolist())
            whole = whole + W.transpose() * D * W
        return not whole.det().contains(0)


def least_inertia(mass: Array, rows: Array) -> Lack:
    """Return the motion with the least kinetic energy, relative to the masses and to what the rows add to them."""
    _, direction, energy = _least(supported(mass, rows))
    return Lack(False, direction, energy)


def needs_support(mass: Array, rows: Array) -> bool:
    """Whether M alone can't tell rows apart that are independent: it is not definite, or light parts hide them."""
    root = factor(mass)
    if root is None:
        return True
    if not len(rows) or proved_independent(rows, mass):
        return False
    plain = decided(rows, root, CLEAR).rank
    return plain < decided(rows, rank_metric(rows, mass), CLEAR).rank


def sound(masses: Array) -> NDArray[np.bool_]:
    """Say of each of many mass matrices (B, n, n) whether it is safely positive definite; no numbers are sound.

    With its diagonal scaled to 1 a matrix has the trace n, so the product of all eigenvalues but the least is below
    (n / (n - 1))^(n - 1) < e, and the least above det / e: eigenvalues are computed only where that decides nothing.
    """
    found = np.empty(len(masses), dtype=bool)
    for start in range(0, len(masses), AT_ONCE):
        found[start : start + AT_ONCE] = _sound(np.moveaxis(masses[start : start + AT_ONCE], 0, -1))
    return found


def _sound(rows: Array) -> NDArray[np.bool_]:
    diagonal = np.einsum("iib->ib", rows)
    good: NDArray[np.bool_] = np.isfinite(rows).all(axis=(0, 1)) & (diagonal > 0).all(axis=0)
    scale = 1.0 / np.sqrt(np.where(good, diagonal, 1.0))
    scaled = np.where(good, rows * scale[:, None] * scale, np.eye(len(rows))[:, :, None])
    doubt = np.flatnonzero(good & ~(_determinants(scaled) > DECIDED * SOUND))
    good[doubt] = np.linalg.eigvalsh(np.moveaxis(scaled[:, :, doubt], -1, 0))[:, 0] > SOUND
    return good


def _determinants(matrices: Array) -> Array:
    """Return the determinants (B,) of symmetric matrices (n, n, B) by elimination; nan where a pivot is not above 0."""
    left, found = matrices.copy(), np.ones(matrices.shape[-1])
    for k in range(len(left)):
        pivot = np.where(left[k, k] > 0.0, left[k, k], np.nan)
        found *= pivot
        for i in range(k + 1, len(left)):
            left[i, k + 1 :] -= left[i, k] / pivot * left[k, k + 1 :]
    return found


def _negative(mass: Array) -> Lack | None:
    least, direction, energy = _least(mass)
    return Lack(True, direction, energy) if least < -SOUND else None


def _least(matrix: Array) -> tuple[float, Array, float]:
    """Return the least eigenvalue of a matrix with its diagonal scaled to 1, its direction, and the value there."""
    diagonal = np.abs(np.diag(matrix))
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(scale[:, None] * matrix * scale)
    direction = scale * vectors[:, 0]
    direction = direction / direction[np.argmax(np.abs(direction))]
    return float(values[0]), direction, float(values[0])
