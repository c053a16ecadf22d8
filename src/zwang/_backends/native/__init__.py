"""The native backend: Numba from generated source, in the shape that fits the size of the system."""

from __future__ import annotations

from zwang._backends.contract import Kernels
from zwang._backends.native.kernels import StraightKernels
from zwang._declare.system import System


class NativeBackend:
    """`native`: compiled code on the CPU, cached on disk."""

    name = "native"

    def build(self, system: System) -> Kernels:
        """Return the kernels of a system."""
        return StraightKernels(system)
