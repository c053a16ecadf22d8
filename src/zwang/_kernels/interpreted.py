"""The reference backend: NumPy from the symbolic equations, one state after the other. Slow, plain, the oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._derive.equations import Equations, derive
from zwang._kernels.terms import Array, Solved, Terms
from zwang._numerics.linear.inertia import lack_of_inertia
from zwang._numerics.linear.kkt import solve_kkt

PIECES = ("mass", "force", "values", "rates", "gamma", "rows", "slips", "slip_bias", "slip_rows", "bounds", "energies")


class ReferenceKernels:
    """The terms by evaluating the symbolic equations, the accelerations by a rank-revealing solution."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.equations: Equations = derive(system)

    @cached_property
    def _function(self) -> Callable[..., list[Any]]:
        system = self.system
        arguments = [time, *system.coordinates, *system.velocities, *system.parameters]
        # Dummies in place of the names: text from outside never reaches the source that lambdify writes.
        stand_in = {symbol: sp.Dummy(f"a{i}", real=True) for i, symbol in enumerate(arguments)}
        flat = [
            _without_impulses(item.xreplace(stand_in)) for piece in PIECES for item in getattr(self.equations, piece)
        ]
        function: Callable[..., list[Any]] = sp.lambdify(list(stand_in.values()), flat, modules="numpy", cse=True)
        return function

    def terms(self, t: Array, q: Array, v: Array, params: Array) -> Terms:
        """Return the terms of the equations at the states."""
        states = np.broadcast(t, q[0]).size
        inputs = [np.broadcast_to(row, (states,)) for row in (t, *q, *v, *params)]
        with np.errstate(all="ignore"):
            values = self._function(*inputs)
        stacked = np.array([np.broadcast_to(np.asarray(item, dtype=float), (states,)) for item in values])
        n, at, found = len(self.system.coordinates), 0, {}
        for piece in PIECES:
            height, width = getattr(self.equations, piece).shape
            part = stacked[at : at + height * width]
            matrix = piece in ("mass", "rows", "slip_rows")
            found[piece] = part.reshape((height, n, states)) if matrix else part.reshape((height, states))
            at += height * width
        names = {"values": "value", "rates": "rate", "slips": "slip"}
        return Terms(**{names.get(piece, piece): array for piece, array in found.items()})

    def solve(self, t: Array, q: Array, v: Array, params: Array, active: Sequence[int]) -> Solved:
        """Return accelerations and least-norm multipliers with these normals held as equalities."""
        terms = self.terms(t, q, v, params)
        chosen = list(active)
        n, states = terms.force.shape
        a, lam, regular = np.empty((n, states)), np.empty((len(chosen), states)), np.empty(states, dtype=bool)
        for k in range(states):
            if lack_of_inertia(terms.mass[:, :, k], terms.rows[chosen, :, k]) is not None:
                a[:, k], lam[:, k], regular[k] = np.nan, np.nan, False
                continue
            found = solve_kkt(terms.mass[:, :, k], terms.rows[chosen, :, k], terms.force[:, k], terms.gamma[chosen, k])
            a[:, k], lam[:, k], regular[k] = found.accelerations, found.multipliers, found.regular
        return Solved(a, lam, regular)


def _without_impulses(expr: Any) -> Any:
    """Return the expression off its jumps: SymPy differentiates a step to an impulse, which is zero everywhere else."""
    return expr.replace(sp.DiracDelta, lambda *_: sp.Integer(0)) if expr.has(sp.DiracDelta) else expr


class ReferenceBackend:
    """`reference`: NumPy, the oracle."""

    name = "reference"

    def build(self, system: System) -> ReferenceKernels:
        """Return the kernels of a system."""
        return ReferenceKernels(system)
