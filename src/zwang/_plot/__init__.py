"""Pictures: draws arrays and results by their attributes. Convention: ``ax=`` in, Axes out; knows no system."""

from __future__ import annotations

from zwang._plot.contact_forces import draw_forces
from zwang._plot.contact_graph import draw_contact_graph
from zwang._plot.counts import draw_counts
from zwang._plot.evaluation import draw_evaluation
from zwang._plot.mechanism import draw_mechanism
from zwang._plot.style import new_figure

__all__ = ["draw_contact_graph", "draw_counts", "draw_evaluation", "draw_forces", "draw_mechanism", "new_figure"]
