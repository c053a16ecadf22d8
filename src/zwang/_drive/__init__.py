"""Inverse dynamics: the inputs that make a prescribed motion."""

from __future__ import annotations

from zwang._drive.verb import drive

__all__ = ["drive"]
