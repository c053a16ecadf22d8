"""Pictures of equilibria: branches over their parameter, points and intervals on a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang._plot.style import SERIES, axes, look, put_key, symbol, title
from zwang.errors import DeclarationError, nearest

HOLDS = {"must": SERIES[0], "may": SERIES[1], "undecided": SERIES[2]}
MARKS = {"folds": ("o", "fold"), "crossings": ("s", "crossing"), "hopfs": ("^", "Hopf point")}


def draw_equilibria(found: Any, what: str | None, ax: Any) -> Any:
    """Draw equilibria; unstable ones dashed."""
    with look():
        return _drawn(found, what, axes(ax))


def _drawn(found: Any, what: str | None, ax: Any) -> Any:
    names = found.branches[0].names if found.branches else found.coordinates
    chosen = names[0] if what is None else what
    if chosen not in names:
        raise DeclarationError(f"{found.name}: there is no '{chosen}' to draw. {nearest(chosen, names)}")
    if found.branches:
        _branches(found, chosen, ax)
        ax.set_xlabel(symbol(found.vary))
        ax.set_ylabel(symbol(chosen))
    elif found.boundary and len(names) > 1:
        other = next(name for name in names if name != chosen)
        _regions(found, chosen, other, ax)
        ax.set_xlabel(symbol(chosen))
        ax.set_ylabel(symbol(other))
    else:
        _line(found, chosen, ax)
        ax.set_xlabel(symbol(chosen))
        ax.set_yticks([])
    title(ax, f"{found.name}: equilibria", over=[found.vary] if found.branches else [])
    return ax


def _branches(found: Any, chosen: str, ax: Any) -> None:
    column = found.branches[0].names.index(chosen)
    for branch in found.branches:
        if branch.reason:
            _ends(branch, branch.positions[:, column], ax)
            continue
        stable = np.array([not word.startswith("unstable") for word in branch.stability])
        for mask, dash in ((stable, "-"), (~stable, "--")):
            shown = np.where(mask | np.roll(mask, 1), branch.positions[:, column], np.nan)
            ax.plot(branch.values, shown, dash, color=SERIES[0])
    for kind, (mark, label) in MARKS.items():
        items = getattr(found, kind)
        if items:
            ax.plot(
                [item.value for item in items],
                [item.state[chosen] for item in items],
                mark,
                color=SERIES[1],
                label=label,
            )
    put_key(ax)


def _ends(branch: Any, heights: Any, ax: Any) -> None:
    """Draw ends of rest in the colour of what holds beside them, dotted where must turns into may."""
    words = np.array(branch.holds)
    for word, colour in HOLDS.items():
        mask = words == word
        if mask.any():
            shown = np.where(mask | np.roll(mask, 1) | np.roll(mask, -1), heights, np.nan)
            inner = not branch.reason.startswith("the forces")
            label = branch.reason if inner else f"end of rest, {word} hold"
            ax.plot(branch.values, shown, ":" if inner else "-", color=colour, label=label)


def _regions(found: Any, first: str, second: str, ax: Any) -> None:
    """Draw the curves round regions of rest."""
    columns = [found.coordinates.index(name) for name in (first, second)]
    for k, curve in enumerate(found.boundary):
        ax.plot(*curve[:, columns].T, color=SERIES[0], label="bounds of rest" if k == 0 else None)
    for k, point in enumerate(found.points):
        ax.plot(point.state[first], point.state[second], "o", color=SERIES[1], label="points" if k == 0 else None)
    put_key(ax)


def _line(found: Any, chosen: str, ax: Any) -> None:
    for interval in found.intervals or ():
        ends = [state[chosen] for state in interval]
        ax.plot(ends, [0, 0], linewidth=4, color=HOLDS[interval.holds], label=f"{interval.holds} hold")
    for point in found.points:
        hollow = point.stability.startswith("unstable")
        ax.plot(
            [point.state[chosen]], [0], "o", color=SERIES[0], markerfacecolor="none" if hollow else SERIES[0],
            label="unstable" if hollow else point.stability,
        )  # fmt: skip
    put_key(ax)
