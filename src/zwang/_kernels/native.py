"""The native backend: Numba from generated source, in the shape that fits the size of the system.

Up to `SMALL` unknowns everything is straight-line code, solved in place. Above that, systems of many like parts become
loops over tables with a sparse factorization; what has no like parts runs a tape for its terms and is solved by
dense loops.
"""

from __future__ import annotations

from zwang._declare.constraints import Bilateral
from zwang._declare.system import System
from zwang._derive.kinds import Kind, sort_into_kinds
from zwang._derive.supported import Supported
from zwang._kernels.large import TableKernels
from zwang._kernels.numba import DenseKernels, StraightKernels
from zwang._kernels.terms import Kernels

SMALL = 12
WIDEST_KIND = 16


class NativeBackend:
    """`native`: compiled code on the CPU, cached on disk."""

    name = "native"

    def build(self, system: System) -> Kernels:
        """Return the kernels of a system, in the shape that fits it."""
        unknowns = len(system.coordinates) + sum(isinstance(item, Bilateral) for item in system.constraints)
        if unknowns <= SMALL:
            return StraightKernels(system)
        if system.mass is None and not _massless(system) and has_like_parts(sort_into_kinds(system, ())):
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
