"""Deriving: from a declared system to its equations, symbolic for people and as a graph for kernels."""

from __future__ import annotations

from zwang._derive.equations import Equations, derive
from zwang._derive.program import Program, derive_program

__all__ = ["Equations", "Program", "derive", "derive_program"]
