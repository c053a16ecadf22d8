"""Functions of a module that sweeps in other processes import by name."""

from __future__ import annotations

import os
import signal
import time
from typing import Any


def doubled(system: Any, state: Any, params: Any) -> dict[str, float]:
    """Return twice a parameter, and fail where it is negative."""
    if params["mu"] < 0:
        raise ValueError("mu is negative")
    return {"twice": 2.0 * params["mu"]}


def deadly(system: Any, params: Any) -> dict[str, float]:
    """Kill the process at one value."""
    if params["mu"] == 7.0:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"mu": params["mu"]}


def slow(system: Any, params: Any) -> dict[str, float]:
    """Take a while."""
    time.sleep(0.05)
    return {"mu": params["mu"]}


def drawn(system: Any, params: Any, seed: int) -> dict[str, int]:
    """Tell the seed."""
    return {"seed": seed}


def whole(result: Any) -> Any:
    """Keep all of it."""
    return result


def last_height(motion: Any) -> float:
    """Return the last position."""
    return float(motion.q[-1, 0])
