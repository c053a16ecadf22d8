"""The builder of planar mechanisms: points, bars, pins, sliders and guides become a `System`."""

from __future__ import annotations

from zwang._linkage.builder import Linkage
from zwang._linkage.drawing import Drawing

__all__ = ["Drawing", "Linkage"]
