"""Curves f(q) = 0: Newton's method from many starts, singular points, and arcs as Chebyshev pieces; compiled."""

from __future__ import annotations
