"""The rows that a mode holds on positions, in units of the masses, and how nearly they depend on each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zwang._simulate.moment import Ground

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HeldRows:
    """Rows (m, n) with the coordinates in units of the square roots of their masses, and these units (n,)."""

    rows: Array
    units: Array

    @property
    def lengths(self) -> Array:
        """The length of each row."""
        return np.asarray(np.linalg.norm(self.rows, axis=1))

    def scaled(self, lengths: Array) -> Array:
        """Return the rows in units of given lengths."""
        return np.asarray(self.rows / np.where(lengths > 0.0, lengths, 1.0)[:, None])

    def least(self, lengths: Array) -> float:
        """Return the least singular value of the rows in units of given lengths."""
        return float(np.linalg.svd(self.scaled(lengths), compute_uv=False)[-1])


def held_rows(driver: Driver, t: float, q: Array) -> HeldRows:
    """Return the rows that the mode at hand holds on positions."""
    table = driver.ground.table
    held = (j for j in driver.moving.mode.held if table.places[table.of_normal(j)].on_position)
    return rows_held(driver.ground, tuple(held), t, q)


def rows_held(ground: Ground, held: tuple[int, ...], t: float, q: Array) -> HeldRows:
    """Return the rows of normals of these numbers."""
    terms = ground.terms(t, q, np.zeros(len(q)))
    masses = np.diagonal(terms.mass[:, :, 0])
    largest = float(masses.max(initial=0.0)) or 1.0
    units = 1.0 / np.sqrt(np.where(masses > 1e-12 * largest, masses, largest))
    return HeldRows(terms.rows[list(held), :, 0] * units, units)
