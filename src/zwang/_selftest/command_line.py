"""The command line as a callable, found by its entry point: it stands above this room and is not imported by it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def command_group() -> Callable[..., Any]:
    """Return what the command `zwang` calls."""
    found: Callable[..., Any] = importlib.import_module("zwang.cli").main
    return found
