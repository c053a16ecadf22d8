"""One motion by `simulate`: what a study needs, where the verb may also return an ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zwang._compile import Model
from zwang._numerics.budget import UNBOUNDED
from zwang._results.motion import Motion, MotionStatus
from zwang._simulate import simulate
from zwang.errors import DeclarationError


def one_motion(model: Model, state: Mapping[Any, Any], params: Mapping[Any, Any], **options: Any) -> Motion:
    """Return the motion of one state, within the budget of the caller; one that was interrupted is of no use to it."""
    found = simulate(model, state, params, budget=UNBOUNDED, **options)
    if not isinstance(found, Motion):
        raise DeclarationError(f"{model.system.name}: limit takes one state and one set of parameters, no batch.")
    if found.status is MotionStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return found
