"""The reference backend: NumPy from the symbolic equations, one state after the other. Slow, plain, the oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang._backends.contract import Array, Solved, Terms
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._derive.equations import Equations, derive
from zwang._numerics.rank_revealing import solve_kkt

PIECES = ("mass", "force", "values", "rates", "gamma", "rows", "slips", "slip_bias", "slip_rows", "bounds", "energies")


class ReferenceKernels:
    """The terms by evaluating the symbolic equations, the accelerations by a rank-revealing solution."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.equations: Equations = derive(system)

    @cached_property
    def _functions(self) -> dict[str, Callable[..., Any]]:
        system = self.system
        arguments = [time, *system.coordinates, *system.velocities, *system.parameters]
        # Dummies in place of the names: text from outside never reaches the source that lambdify writes.
        stand_in = {symbol: sp.Dummy(f"a{i}", real=True) for i, symbol in enumerate(arguments)}
        made = {}
        for piece in PIECES:
            flat = [_without_impulses(item.xreplace(stand_in)) for item in getattr(self.equations, piece)]
            made[piece] = sp.lambdify(list(stand_in.values()), flat, modules="numpy", cse=True)
        return made

    def terms(self, t: Array, q: Array, v: Array, params: Array) -> Terms:
        """Return the terms of the equations at the states."""
        states = np.broadcast(t, q[0]).size
        inputs = [np.broadcast_to(row, (states,)) for row in (t, *q, *v, *params)]
        found = {}
        for piece, function in self._functions.items():
            with np.errstate(all="ignore"):
                values = function(*inputs)
            shape = getattr(self.equations, piece).shape
            stacked = np.array([np.broadcast_to(np.asarray(item, dtype=float), (states,)) for item in values])
            found[piece] = stacked.reshape((*shape, states)) if shape[1] != 1 else stacked.reshape((shape[0], states))
        n = len(self.system.coordinates)
        found["mass"] = found["mass"].reshape((n, n, states))
        for piece in ("rows", "slip_rows"):
            found[piece] = found[piece].reshape((-1, n, states))
        names = {"values": "value", "rates": "rate", "slips": "slip"}
        return Terms(**{names.get(piece, piece): array for piece, array in found.items()})

    def solve(self, t: Array, q: Array, v: Array, params: Array, active: Sequence[int]) -> Solved:
        """Return accelerations and least-norm multipliers with these normals held as equalities."""
        terms = self.terms(t, q, v, params)
        chosen = list(active)
        n, states = terms.force.shape
        a, lam, regular = np.empty((n, states)), np.empty((len(chosen), states)), np.empty(states, dtype=bool)
        for k in range(states):
            found = solve_kkt(
                terms.mass[:, :, k], terms.rows[chosen, :, k], terms.force[:, k], terms.gamma[chosen, k]
            )
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
