"""Results: frozen data that carry their status, their residual, where they come from, and can be saved."""

from __future__ import annotations

from zwang._results.base import Provenance, Result
from zwang._results.evaluation import Evaluation, EvaluationStatus
from zwang._results.storage import storable

__all__ = ["Evaluation", "EvaluationStatus", "Provenance", "Result", "storable"]
