"""How a system moves: event-driven from mode to mode."""

from __future__ import annotations

from zwang._simulate.verb import simulate

__all__ = ["simulate"]
