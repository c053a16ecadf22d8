"""The picture of `Reactions`: the graph of a single contact, or the forces at all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zwang._plot.contact_forces import draw_forces
from zwang._plot.contact_graph import draw_contact_graph
from zwang.errors import DeclarationError, nearest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("graph", "forces")


def draw_reactions(result: Any, kind: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw reactions; see `Reactions.plot`."""
    if kind is not None and kind not in KINDS:
        raise DeclarationError(f"Reactions.plot: there is no kind '{kind}'. {nearest(str(kind), KINDS)}")
    if kind == "graph" and result.graph is None:
        raise DeclarationError(
            f"Reactions.plot: '{result.name}' has {len(result.contacts)} contacts that act, and the graph needs one "
            "whose normal force is unknown. Use kind='forces'."
        )
    if result.graph is not None and kind != "forces":
        return draw_contact_graph(result, ax=ax)
    return draw_forces(result, ax=ax)
