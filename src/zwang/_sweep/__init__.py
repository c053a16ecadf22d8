"""Any verb over a grid or a sample of states and parameters, on one core, several, or an executor; resumable."""

from __future__ import annotations

from zwang._sweep.axes import Sampled, sampled
from zwang._sweep.verb import sweep

__all__ = ["Sampled", "sampled", "sweep"]
