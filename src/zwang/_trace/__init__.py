"""Configuration spaces: their arcs, singular points and components."""

from __future__ import annotations
