"""The package held against itself and against independent computations, on problems that nobody chose."""

from __future__ import annotations
