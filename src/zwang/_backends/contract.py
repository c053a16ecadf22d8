"""What every backend gives: the terms of the equations at states, and the accelerations of active constraints.

Arrays hold structure of arrays: the last axis runs over states, so that each quantity is one contiguous row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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


@dataclass(frozen=True)
class Solved:
    """Accelerations (n, B), multipliers (k, B) of the active constraints, and where the pivots were sound (B,)."""

    accelerations: Array
    multipliers: Array
    regular: NDArray[np.bool_]


class Kernels(Protocol):
    """The contract of a backend; `t` is (B,), `q` and `v` (n, B), `params` (p, B) or (p, 1) if shared."""

    def terms(self, t: Array, q: Array, v: Array, params: Array) -> Terms:
        """Return the terms of the equations at the states."""

    def solve(self, t: Array, q: Array, v: Array, params: Array, active: Sequence[int]) -> Solved:
        """Return accelerations and multipliers with these normals held as equalities."""


class Backend(Protocol):
    """One method: from a system to its kernels."""

    name: str

    def build(self, system: Any) -> Kernels:
        """Return the kernels of a system."""
