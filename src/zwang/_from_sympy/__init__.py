"""Systems from `sympy.physics.mechanics`: its methods, their generalized speeds and their words."""

from __future__ import annotations

from zwang._from_sympy.methods import from_sympy

__all__ = ["from_sympy"]
