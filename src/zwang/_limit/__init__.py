"""Limits: realized motions of growing strength beside the ideal one, and the strength to choose."""

from __future__ import annotations

from zwang._limit.recommendation import recommend
from zwang._limit.verb import limit

__all__ = ["limit", "recommend"]
