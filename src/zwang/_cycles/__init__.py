"""Periodic motions: found, followed over a parameter, and the exponents of motions that are none."""

from __future__ import annotations

from zwang._cycles.exponents import lyapunov
from zwang._cycles.over import cycles
from zwang._cycles.verb import periodic

__all__ = ["cycles", "lyapunov", "periodic"]
