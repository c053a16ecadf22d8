"""How motions change with parameters and initial values, and parameters from data."""

from __future__ import annotations

from zwang._sensitivity.fitting import fit
from zwang._sensitivity.verb import sensitivity

__all__ = ["fit", "sensitivity"]
