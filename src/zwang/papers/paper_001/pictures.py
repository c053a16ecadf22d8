"""Pictures of the chapter on friction that several claims share."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang._plot import draw_counts, new_figure
from zwang._results.reactions import ReactionsStatus
from zwang._results.reactions_map import ReactionsMap
from zwang.papers.findings import Picture
from zwang.papers.workshop import Workshop

__all__ = ["counts_figure", "rod_map"]

GRID = 240


def counts_figure(found: ReactionsMap, axes: tuple[Any, Any], labels: tuple[str, str], size: Any = (6.6, 4.0)) -> Any:
    """Draw the number of solutions over two quantities; `axes` and `labels` are those of rows and columns."""
    figure, ax = new_figure(size)
    draw_counts(found.counts, found.codes, [status.name for status in ReactionsStatus], list(axes), list(labels), ax=ax)
    return figure


def rod_map(shop: Workshop) -> Picture:
    """Return the map of the number of solutions of the rod of example 5, sliding and turning."""
    degrees = np.linspace(90, 180, GRID)
    friction = np.linspace(0, 4, GRID)[:, None]

    def make() -> Any:
        state = shop.held("painleve_rod_tip", ["floor"], {"floor": 1.0}, theta=np.radians(degrees), v_theta=2.6)
        state = {key: value for key, value in state.items() if key != "t"}
        found = shop.ask("painleve_rod_tip", mu=friction, **state)
        return counts_figure(found, (friction[:, 0], degrees), ("coefficient of friction", "angle of the rod [°]"))

    return Picture(
        "rod-map",
        "A rod slides with its foot on a rough floor. How many accelerations the laws allow, over its angle and the "
        "friction: one, none, or two. It leans against the motion (obtuse angles) and turns with 2.6 rad/s.",
        make,
        raster=True,
    )
