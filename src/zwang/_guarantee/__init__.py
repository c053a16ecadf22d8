"""Statements about every state and parameter of a box, proved by subdivision in outward-rounded arithmetic."""

from __future__ import annotations

from zwang._guarantee.verb import guarantee

__all__ = ["guarantee"]
