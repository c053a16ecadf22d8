"""The builder of planar mechanisms: points, bars, pins, sliders and guides become a `System`."""

from __future__ import annotations

from zwang._declare.drawing import Drawing
from zwang._linkage.builder import Linkage

__all__ = ["Drawing", "Linkage"]
