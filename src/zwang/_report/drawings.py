"""Drawings with numbers in them: what a system looks like at a state, with the surfaces that it may touch."""

from __future__ import annotations

from collections.abc import Mapping

from zwang._declare.system import System
from zwang._plot.scene import Scene
from zwang.errors import DeclarationError


def pose_of(system: System, state: Mapping[str, float], params: Mapping[str, float]) -> Scene:
    """Return the picture of a system at a state.

    Its one-sided constraints on the height or the abscissa of a point are drawn as floors and walls.

    Examples
    --------
    >>> import zwang as zw
    >>> rod = zw.gallery.get("painleve_rod")
    >>> pose = pose_of(rod.system, rod.state, rod.params)
    >>> pose.places[0, 2].round(6).tolist(), pose.surfaces
    ([1.0, 1.732051], [((0.0, 0.0), (0.0, 1.0))])
    """
    if system.drawing is None:
        raise DeclarationError(f"{system.name}: it has no drawing. Declare one: System(drawing=zw.Drawing(...)).")
    return system.drawing.scene({**state, **params}, relations=system.constraints)
