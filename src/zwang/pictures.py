"""The package's look for pictures of one's own: figures for files, its colours, and its drawings of plain data.

>>> from zwang.pictures import SERIES, new_figure
>>> figure, ax = new_figure((4, 3))
>>> line, = ax.plot([0, 1], [0, 1], color=SERIES[0])
"""

from __future__ import annotations

from zwang._plot import draw_contact_graph, draw_counts, draw_evaluation, draw_forces, draw_mechanism, new_figure
from zwang._plot.regions import draw_regions
from zwang._plot.style import ALARM, INK, PALE, QUIET, SERIES, look

__all__ = [
    "ALARM",
    "INK",
    "PALE",
    "QUIET",
    "SERIES",
    "draw_contact_graph",
    "draw_counts",
    "draw_evaluation",
    "draw_forces",
    "draw_mechanism",
    "draw_regions",
    "look",
    "new_figure",
]
