"""Surfaces f(q) = 0: points spread by growth, glued to a mesh by their Delaunay stars, cut, counted; arrays alone."""

from __future__ import annotations
