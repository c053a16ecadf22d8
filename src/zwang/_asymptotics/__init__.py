"""The verb `asymptotics`: what reactions do as a singular point is approached."""

from __future__ import annotations

from zwang._asymptotics.verb import asymptotics

__all__ = ["asymptotics"]
