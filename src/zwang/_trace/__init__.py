"""Configuration spaces: their arcs, singular points and components."""

from __future__ import annotations

from zwang._trace.critical_values import critical
from zwang._trace.verb import trace

__all__ = ["critical", "trace"]
