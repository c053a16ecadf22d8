"""Nearby motions: small ones about an equilibrium, and those beside a motion, through its events."""

from __future__ import annotations

from zwang._linearize.verb import linearize

__all__ = ["linearize"]
