"""The native backend: machine code by Numba, in the shape that fits the size of the system.

Up to `SMALL` unknowns everything is straight-line code, solved in place. Above that, systems of many like parts become
loops over tables with a sparse factorization; what has no like parts runs a tape for its terms and is solved by
dense loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._declare.constraints import Bilateral
from zwang._declare.system import System
from zwang._derive.kinds import Kind, sort_into_kinds
from zwang._derive.motion_modes import ActiveSet
from zwang._derive.solution import PIVOT
from zwang._derive.supported import Supported
from zwang._kernels.numba import NumbaDialect
from zwang._kernels.outputs import Array
from zwang._kernels.service import Service
from zwang._kernels.terms import Solved, Terms
from zwang._numerics.linear.dense import dense_workspace_size, kkt_dense

if TYPE_CHECKING:
    from zwang._kernels.lane_kernels import Lanes

SMALL = 12  # coordinates and constraints; beyond it straight code compiles for seconds
WIDEST_KIND = 16  # coordinates of a part; wider ones gain nothing from loops


class StraightKernels(Service):
    """The kernels of a small system: generated code, and lanes for ensembles."""

    def __init__(self, system: System) -> None:
        super().__init__(system, NumbaDialect())

    def lanes(self, mode: ActiveSet, stops: Sequence[tuple[Any, int]] = ()) -> Lanes | None:
        """Return what moves many states of a mode side by side; None where lanes don't suit it."""
        from zwang._kernels.lane_kernels import lane_outputs, lanes_of

        given = (self.system, self.frozen, self.structure, mode, tuple(stops))
        return self.kept(("lanes", *given[3:]), lambda: lanes_of(lane_outputs(*given)))


class DenseKernels(Service):
    """The kernels of a mid-size system without like parts: tapes, and dense loops for the solution."""

    quick = True

    def __init__(self, system: System) -> None:
        super().__init__(system, NumbaDialect())

    def solve(self, t: Array, q: Array, v: Array, params: Array, active: Sequence[int]) -> Solved:
        """Return accelerations and multipliers with these normals held as equalities."""
        terms = self.terms(t, q, v, params)
        assert isinstance(terms, Terms)  # as a layout gives them
        chosen = list(active)
        n, states = terms.force.shape
        k = len(chosen)
        a, lam, regular = np.empty((n, states)), np.empty((k, states)), np.empty(states, dtype=bool)
        work = np.empty(dense_workspace_size(n, k))
        for s in range(states):
            columns = (terms.mass[:, :, s], terms.rows[chosen, :, s], terms.force[:, s], terms.gamma[chosen, s])
            mass, rows, force, gamma = (np.ascontiguousarray(array) for array in columns)
            x, y = np.full(n, np.nan), np.full(k, np.nan)
            regular[s] = kkt_dense(mass, rows, force, gamma, work, x, y) > PIVOT
            a[:, s], lam[:, s] = x, y
        return Solved(a, lam, regular)


class NativeBackend:
    """`native`: compiled code on the CPU, cached on disk."""

    name = "native"

    def build(self, system: System) -> Service:
        """Return the kernels of a system, in the shape that fits it."""
        unknowns = len(system.coordinates) + sum(isinstance(item, Bilateral) for item in system.constraints)
        if unknowns <= SMALL:
            return StraightKernels(system)
        plain = system.mass is None and system.tree is None
        if plain and not _massless(system) and has_like_parts(sort_into_kinds(system, ())):
            from zwang._kernels.large import TableKernels

            return TableKernels(system)
        return DenseKernels(system)


def _massless(system: System) -> bool:
    """Whether rows complete the mass matrix, or have to: loops over tables need a mass for every coordinate."""
    return isinstance(system, Supported) or not set(system.velocities) <= system.kinetic.free_symbols


def has_like_parts(kinds: list[Kind]) -> bool:
    """Say whether a system is made of few small kinds with several instances each."""
    instances = sum(len(kind.targets) for kind in kinds)
    widest = max(len(kind.coordinates[0]) for kind in kinds)
    return widest <= WIDEST_KIND and 3 * len(kinds) <= max(instances, 24)
