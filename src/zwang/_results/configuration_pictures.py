"""The mechanism along an arc: at one pose, and as a film."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import DeclarationError

if TYPE_CHECKING:
    from zwang._plot.film import Film
    from zwang._results.configuration import ConfigurationSpace


def _values(space: ConfigurationSpace, arc: int, at: Any, drawing: Any) -> dict[str, Any]:
    if not hasattr(drawing, "places"):
        raise DeclarationError(
            f"{space.name}: drawing= must say where the points of the mechanism are; Linkage.drawing makes one, and "
            f"entries of the gallery have one. It was given {drawing!r:.60}."
        )
    if not 0 <= arc < len(space.branches):
        raise DeclarationError(f"{space.name}: there is no arc {arc}; it has {len(space.branches)}.")
    return {**space.params, **space.branches[arc].state(at)}


def draw_pose(space: ConfigurationSpace, arc: int, at: float, drawing: Any, ax: Any) -> Any:
    """Draw the mechanism at a place of an arc; see `ConfigurationSpace.plot_pose`."""
    from zwang._plot.mechanism import draw_mechanism, frame

    values = _values(space, arc, float(at), drawing)
    points = dict(zip(drawing.points, drawing.places(values)[0].tolist(), strict=True))
    low, high = frame(list(points.values()))
    middle, half = (low + high) / 2, 1.6 * float(max(high - low))
    guides = drawing.guides(values, middle - half, middle + half)
    return draw_mechanism(points, drawing.segments, ground=drawing.ground, curves=guides, ax=ax)


def film_along(space: ConfigurationSpace, arc: int, drawing: Any, frames: int) -> Film:
    """Return the film of the mechanism that passes along an arc with unit speed."""
    from zwang._plot.film import Film
    from zwang._plot.film.frames import outlines_of

    at = np.linspace(0.0, space.branches[arc].length if 0 <= arc < len(space.branches) else 1.0, max(int(frames), 2))
    values = _values(space, arc, at, drawing)
    names = list(drawing.points)
    places = np.broadcast_to(drawing.places(values), (len(at), len(names), 2))
    low, high = Film(at, places, names).corners()
    grown = 0.6 * (high - low)
    fixed = {name: float(np.ravel(value)[0]) for name, value in values.items()}
    outlines = outlines_of(drawing.guides(fixed, low - grown, high + grown)) if drawing.curves else []
    segments = [(names.index(a), names.index(b)) for a, b in drawing.segments]
    ground = [names.index(name) for name in drawing.ground if name in names]
    return Film(at, places, names, segments, ground, outlines, (), f"{space.name}, arc {arc}")


def animate(space: ConfigurationSpace, path: str | Path | None, arc: int, drawing: Any, frames: int) -> Any:
    """Write the film, or return it for a notebook; see `ConfigurationSpace.animate`."""
    from zwang._plot.film import check_film, player, write_film
    from zwang._results.motion_pictures import Shown

    if path is not None:
        check_film(Path(path))
    film = film_along(space, arc, drawing, frames)
    return Shown(player(film)) if path is None else write_film(film, Path(path))
