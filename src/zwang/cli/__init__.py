"""The command `zwang`: the same verbs, on model files. Data on stdout, progress on stderr.

Exit codes: 0 done; 1 the model has no answer (the report says why); 2 wrong usage; 70 a crash; 130 interrupted.
"""

from __future__ import annotations

from zwang.cli.group import main

__all__ = ["main"]
