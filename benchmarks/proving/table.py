"""All problems of the proving ground."""

from __future__ import annotations

from benchmarks.proving import contact, smooth, spaces

PROBLEMS = [*smooth.PROBLEMS, *contact.PROBLEMS, *spaces.PROBLEMS]
