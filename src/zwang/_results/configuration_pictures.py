"""The mechanism along an arc: at one pose, and as a film."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zwang._results.base import drawing_of
from zwang.errors import DeclarationError

if TYPE_CHECKING:
    from zwang._plot.film import Film
    from zwang._results.configuration import ConfigurationSpace


FRAMES = 240


def _drawing(space: ConfigurationSpace, drawing: Any) -> Any:
    found = drawing_of(space, drawing)
    if found is None:
        raise DeclarationError(
            f"{space.name}: the system has no drawing, so there is nothing to show. Give drawing=zw.Drawing(...), or "
            "declare System(drawing=...); Linkage makes one by itself."
        )
    return found


def _values(space: ConfigurationSpace, arc: int, at: Any) -> dict[str, Any]:
    if not 0 <= arc < len(space.branches):
        raise DeclarationError(f"{space.name}: there is no arc {arc}; it has {len(space.branches)}.")
    return {**space.params, **space.branches[arc].state(at)}


def draw_pose(space: ConfigurationSpace, arc: int, at: float, drawing: Any, ax: Any) -> Any:
    """Draw the mechanism at a place of an arc; see `ConfigurationSpace.plot_pose`."""
    from zwang._plot.mechanism import draw_mechanism

    return draw_mechanism(_drawing(space, drawing).scene(_values(space, arc, float(at))), ax=ax)


def film_along(space: ConfigurationSpace, arc: int, drawing: Any, frames: int | None) -> Film:
    """Return the film of the mechanism that passes along an arc, by the length of the arc."""
    from zwang._plot.film import Film

    end = space.branches[arc].length if 0 <= arc < len(space.branches) else 1.0
    at = np.linspace(0.0, end, max(int(frames or FRAMES), 2))
    scene = _drawing(space, drawing).scene(_values(space, arc, at)).repeated(len(at))
    return Film(at, scene, (), f"{space.name}, arc {arc}", quantity="arc length", unit="")
