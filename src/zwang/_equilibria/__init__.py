"""Where a system can rest, or turn uniformly: points, intervals with friction, branches over a parameter."""

from __future__ import annotations

from zwang._equilibria.verb import equilibria

__all__ = ["equilibria"]
