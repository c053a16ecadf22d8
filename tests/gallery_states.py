"""Entries of the gallery as numbers: the terms of their equations at their state, or at another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import zwang as zw
from zwang._kernels.native import DenseKernels
from zwang._numerics.linear.kkt import solve_kkt


@dataclass(frozen=True)
class Numbers:
    """The terms of the equations at one state, for equations solved by hand."""

    names: tuple[str, ...]
    mass: np.ndarray
    force: np.ndarray
    value: np.ndarray
    rate: np.ndarray
    gamma: np.ndarray
    rows: np.ndarray
    slip: np.ndarray
    slip_rows: np.ndarray
    bounds: np.ndarray

    def solve(self, *, rows: Any = None, push: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and multipliers with all normals held; `rows` carry the reactions, if not the normals."""
        if rows is None:
            found = solve_kkt(self.mass, self.rows, self.force + push, self.gamma)
            return found.accelerations, found.multipliers
        n, k = len(self.mass), len(self.rows)
        matrix = np.block([[self.mass, -np.asarray(rows).T], [self.rows, np.zeros((k, k))]])
        found = np.linalg.solve(matrix, np.r_[self.force + push, self.gamma])
        return found[:n], found[n:]

    def sliding(self, signs: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and normal forces with every contact sliding in the direction of its sign, N >= 0."""
        friction = -np.asarray(signs) * self.bounds
        return self.solve(rows=self.rows + friction[:, None] * self.slip_rows)


def numbers(
    entry: zw.gallery.Entry,
    state: Mapping[str, float] | None = None,
    params: Mapping[str, float] | None = None,
    system: zw.System | None = None,
) -> Numbers:
    """The terms of an entry's equations at its state, with some values changed; of another system, if given."""
    chosen = system or entry.system
    where = {**entry.state, **(state or {})}
    values = {**entry.params, **(params or {})}
    terms = DenseKernels(chosen).terms(  # which agree with the reference for every system: contracts/test_backends.py
        np.array([where.get("t", 0.0)]),
        np.array([[where[item.name]] for item in chosen.coordinates]),
        np.array([[where[item.name]] for item in chosen.velocities]),
        np.array([values[item.name] for item in chosen.parameters]).reshape(-1, 1),
    )
    flat = {
        name: np.take(getattr(terms, name), 0, axis=-1)
        for name in ("mass", "force", "value", "rate", "gamma", "rows", "slip", "slip_rows", "bounds")
    }
    return Numbers(names=chosen.constraints.names, **flat)
