"""The terms of the equations at states, and the accelerations of active constraints, as every backend gives them.

Arrays hold structure of arrays: the last axis runs over states, so that each quantity is one contiguous row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Solved:
    """Accelerations (n, B), multipliers (k, B) of the active constraints, and where the pivots were sound (B,)."""

    accelerations: Array
    multipliers: Array
    regular: NDArray[np.bool_]


@dataclass(frozen=True)
class Terms:
    """The terms of M a = Q + ... at B states.

    Attributes
    ----------
    mass : (n, n, B)
    force : (n, B)
    value, rate, gamma : (m, B)
        Of the constraints that have a normal.
    rows : (m, n, B)
    slip, slip_bias : (s, B)
    slip_rows : (s, n, B)
    bounds : (f, B)
        mu * scale of each Coulomb law, the bound of each Friction.
    energies : (2, B)
    """

    mass: Array
    force: Array
    value: Array
    rate: Array
    gamma: Array
    rows: Array
    slip: Array
    slip_bias: Array
    slip_rows: Array
    bounds: Array
    energies: Array

    def at(self, k: int) -> tuple[Array, Array, Array, Array]:
        """Return M, the rows, Q and gamma of state number k, dense."""
        return self.mass[:, :, k], self.rows[:, :, k], self.force[:, k], self.gamma[:, k]

    def tangents(self, k: int) -> tuple[Array, Array]:
        """Return the rows of the slips and their biases of state number k, dense."""
        return self.slip_rows[:, :, k], self.slip_bias[:, k]

    def state(self, k: int) -> Terms:
        """Return the terms of state number k alone."""
        return Terms(*(getattr(self, item.name)[..., k : k + 1] for item in fields(self)))

    def chosen(self, places: NDArray[np.int64]) -> Terms:
        """Return the terms of the states with these numbers."""
        return Terms(*(getattr(self, item.name)[..., places] for item in fields(self)))

    def finite_rows(self, place: int) -> bool:
        """Say whether the row of a constraint is finite at every state."""
        return bool(np.isfinite(self.rows[place]).all())

    def finite(self) -> bool:
        """Say whether the equations are finite at every state."""
        return all(bool(np.isfinite(array).all()) for array in (self.force, self.rows, self.mass))

    def residual(self, solved: Solved, chosen: Sequence[int]) -> Array:
        """Return, for each state, the largest error of the equations relative to the size of their terms."""
        rows = self.rows[list(chosen)]
        inertia = np.einsum("ijb,jb->ib", self.mass, solved.accelerations)
        reaction = np.einsum("jib,jb->ib", rows, solved.multipliers)
        along = np.einsum("jib,ib->jb", rows, solved.accelerations)
        # At an equilibrium the acceleration is rounding itself: what the forces would do counts as its size.
        pull = np.abs(self.force) + np.einsum("jib,jb->ib", np.abs(rows), np.abs(solved.multipliers))
        own = np.einsum("iib->ib", self.mass)
        would = np.abs(solved.accelerations) + np.where(own > 0, pull / np.where(own > 0, own, 1.0), 0.0)
        size = np.einsum("jib,ib->jb", np.abs(rows), would)
        return relative_error(inertia, self.force, reaction, along, self.gamma[list(chosen)], size)


@dataclass(frozen=True)
class SparseTerms:
    """The same terms for large systems: M, the rows and the slip rows are one sparse matrix for each state."""

    mass: tuple[Any, ...]
    force: Array
    value: Array
    rate: Array
    gamma: Array
    rows: tuple[Any, ...]
    slip: Array
    slip_bias: Array
    slip_rows: tuple[Any, ...]
    bounds: Array
    energies: Array

    def at(self, k: int) -> tuple[Array, Array, Array, Array]:
        """Return M, the rows, Q and gamma of state number k, dense."""
        return self.mass[k].toarray(), self.rows[k].toarray(), self.force[:, k], self.gamma[:, k]

    def tangents(self, k: int) -> tuple[Array, Array]:
        """Return the rows of the slips and their biases of state number k, dense."""
        return self.slip_rows[k].toarray(), self.slip_bias[:, k]

    def chosen(self, places: NDArray[np.int64]) -> SparseTerms:
        """Return the terms of the states with these numbers."""
        made: dict[str, Any] = {}
        for item in fields(self):
            part = getattr(self, item.name)
            made[item.name] = tuple(part[k] for k in places) if isinstance(part, tuple) else part[..., places]
        return SparseTerms(**made)

    def finite_rows(self, place: int) -> bool:
        """Say whether the row of a constraint is finite at every state."""
        return all(bool(np.isfinite(rows[[place]].data).all()) for rows in self.rows)

    def finite(self) -> bool:
        """Say whether the equations are finite at every state."""
        data = [np.isfinite(matrix.data).all() for matrix in (*self.mass, *self.rows)]
        return bool(np.isfinite(self.force).all() and all(data))

    def residual(self, solved: Solved, chosen: Sequence[int]) -> Array:
        """Return, for each state, the largest error of the equations relative to the size of their terms."""
        errors = []
        for k, (mass, every) in enumerate(zip(self.mass, self.rows, strict=True)):
            rows = every[list(chosen)]
            a, lam = solved.accelerations[:, [k]], solved.multipliers[:, [k]]
            pull = np.abs(self.force[:, [k]]) + abs(rows).T @ np.abs(lam)
            own = mass.diagonal()[:, None]
            size = abs(rows) @ (np.abs(a) + np.where(own > 0, pull / np.where(own > 0, own, 1.0), 0.0))
            gamma = self.gamma[list(chosen)][:, [k]]
            errors.append(relative_error(mass @ a, self.force[:, [k]], rows.T @ lam, rows @ a, gamma, size))
        return np.concatenate(errors)


def dense_terms(terms: Terms | SparseTerms) -> Terms:
    """Return terms with dense matrices."""
    if isinstance(terms, Terms):
        return terms
    mass, rows, slip_rows = (
        np.stack([item.toarray() for item in part], axis=-1) for part in (terms.mass, terms.rows, terms.slip_rows)
    )
    return Terms(
        mass,
        terms.force,
        terms.value,
        terms.rate,
        terms.gamma,
        rows,
        terms.slip,
        terms.slip_bias,
        slip_rows,
        terms.bounds,
        terms.energies,
    )


def relative_error(inertia: Array, force: Array, reaction: Array, along: Array, gamma: Array, size: Array) -> Array:
    """Return the largest error of M a = Q + J^T lam and J a = gamma, relative to the terms, for each state."""
    motion = np.abs(inertia - force - reaction).max(axis=0)
    scale = sum(np.abs(part).max(axis=0, initial=0.0) for part in (inertia, force, reaction))
    error = motion / (scale + TINY)
    held = np.abs(along - gamma) / (size + np.abs(gamma) + TINY)
    return np.asarray(np.maximum(error, held.max(axis=0, initial=0.0)))


TINY = 1e-300  # keeps 0 / 0 from happening
