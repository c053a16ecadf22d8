"""Pictures of guarantees: the boxes that are left, and the witness."""

from __future__ import annotations

from typing import Any

from zwang._plot.style import ALARM, SERIES, axes, look, put_key, symbol, title
from zwang.errors import DeclarationError, nearest


def draw_guarantee(found: Any, x: str | None, y: str | None, ax: Any) -> Any:
    """Draw what is left of a claim over two variables."""
    names = list(found.variables)
    first, second = x or names[0], y or names[min(1, len(names) - 1)]
    for name in (first, second):
        if name not in names:
            raise DeclarationError(f"{found.name}: '{name}' is no variable of the box. {nearest(name, names)}")
    with look():
        ax = axes(ax)
        i, j = names.index(first), names.index(second)
        for box in found.boxes:
            corners = [(box[i, 0], box[j, 0]), (box[i, 1], box[j, 0]), (box[i, 1], box[j, 1]), (box[i, 0], box[j, 1])]
            ax.fill(*zip(*corners, strict=True), color=SERIES[4], alpha=0.5, linewidth=0.5)
        if found.witness is not None:
            values = {**found.witness.state, **found.witness.params}
            ax.plot([values[first]], [values[second]], "x", color=ALARM, label="witness")
        ax.set_xlim(*found.box[first])
        if first != second:
            ax.set_ylim(*found.box[second])
        ax.set_xlabel(symbol(first))
        ax.set_ylabel(symbol(second))
        put_key(ax)
        title(ax, f"{found.name}: {found.claim}: {found.status.name}")
        return ax
