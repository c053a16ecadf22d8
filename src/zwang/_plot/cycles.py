"""Pictures of cycles over a parameter: bifurcation diagrams."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang._plot.style import SERIES, axes, look, put_key, symbol, title
from zwang.errors import DeclarationError, nearest

MARKS = {
    "folds": ("o", "fold"),
    "flips": ("D", "flip"),
    "tori": ("^", "torus"),
    "crossings": ("s", "crossing"),
    "grazings": ("x", "grazing"),
    "changes": ("+", "change of events"),
}


def draw_cycles(found: Any, what: str | None, section: str | None, ax: Any) -> Any:
    """Draw branches of cycles; those that are not stable dashed."""
    if not found.branches:
        raise DeclarationError(f"{found.name}: there is no branch to draw: {found.reason}")
    motion = found.branches[0].cycles[0].motion
    steady = found.branches[0].cycles[0].steady
    names = [*motion.coordinates, *motion.velocities, "period"]
    chosen = next(name for name in names if name not in steady) if what is None else what
    if chosen not in names:
        raise DeclarationError(f"{found.name}: there is no '{chosen}' to draw. {nearest(chosen, names)}")
    if section is not None:
        if chosen == "period":
            raise DeclarationError(f"{found.name}: the period has no values at the impacts of '{section}'.")
        known = list(motion.constraints)
        if section not in known:
            raise DeclarationError(f"{found.name}: there is no constraint '{section}'. {nearest(section, known)}")
    with look():
        ax = axes(ax)
        for branch in found.branches:
            _branch(ax, branch, chosen, section)
        for kind, (mark, label) in MARKS.items():
            items = getattr(found, kind)
            if items:
                pairs = [(item.value, y) for item in items for y in _heights(item.cycle, chosen, section)]
                at = np.array(pairs).reshape(-1, 2).T
                ax.plot(*at, mark, color=SERIES[1], linestyle="none", label=label)
        if any(getattr(found, kind) for kind in MARKS):
            put_key(ax)
        ax.set_xlabel(symbol(found.vary))
        shown = f"{symbol(chosen)} after impacts of {section}" if section else f"largest {symbol(chosen)}"
        ax.set_ylabel("period [s]" if chosen == "period" else shown)
        title(ax, f"{found.name}: cycles", over=[found.vary])
    return ax


def _heights(cycle: Any, chosen: str, section: str | None) -> list[float]:
    """Return what is drawn of a cycle: its largest value, or those after each impact of a constraint in their order."""
    if chosen == "period":
        return [float(cycle.period)]
    motion = cycle.motion
    table, names = (motion.q, motion.coordinates) if chosen in motion.coordinates else (motion.v, motion.velocities)
    if section is None:
        return [float(table[:, names.index(chosen)].max())]
    return sorted(float(motion.at(event.time)[chosen]) for event in motion.events.of("impact", section))


def _branch(ax: Any, branch: Any, chosen: str, section: str | None) -> None:
    """Draw a branch in pieces of one stability, each to the first cycle of the next."""
    rows = [_heights(cycle, chosen, section) for cycle in branch.cycles]
    heights = np.full((len(rows), max(map(len, rows))), np.nan)
    for k, row in enumerate(rows):
        heights[k, : len(row)] = row
    stable = branch.stable
    turns = np.flatnonzero(stable[1:] != stable[:-1]) + 1
    for first, last in zip([0, *turns], [*turns, len(stable)], strict=True):
        part = slice(first, last + 1)
        ax.plot(branch.values[part], heights[part], "-" if stable[first] else "--", color=SERIES[0])
