"""One motion by `simulate`: what a study needs, where the verb may also return an ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zwang._compile import Model
from zwang._results.motion import Motion
from zwang._simulate import simulate
from zwang.errors import DeclarationError


def one_motion(model: Model, state: Mapping[Any, Any], params: Mapping[Any, Any], **options: Any) -> Motion:
    """Return the motion of one state."""
    found = simulate(model, state, params, **options)
    if not isinstance(found, Motion):
        raise DeclarationError(f"{model.system.name}: limit takes one state and one set of parameters, no batch.")
    return found
