"""One contact in the plane: the gap acceleration over the normal force, where each solution can be seen.

A one-sided contact asks for N >= 0 and gap acceleration >= 0, one of them zero: solutions are where the graph meets
the L made of the two half-axes. Friction bends the graph (at rest) or turns it (sliding), and a graph that falls where
it should rise meets the L twice, or not at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang._plot.style import ALARM, INK, PALE, QUIET, SERIES, axes, look, number, put_key, title, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
PARTS = (("stick", SERIES[2]), ("slip+", SERIES[0]), ("slip-", SERIES[3]), ("no friction", SERIES[0]))
SAME = 1e-9  # relative: forces that agree are drawn once


def gap_over_normal(graph: Any, normal: Any) -> tuple[Array, Array, NDArray[np.int8]]:
    """Return the gap acceleration, the friction force and the place in `PARTS` for values of the normal force.

    Parameters
    ----------
    graph : ContactGraph
        Anything with `friction`, `slip`, `bilateral`, `gap` and `sliding`: the gap acceleration is
        gap[0] + gap[1] N + gap[2] T, the slip acceleration sliding[0] + sliding[1] N + sliding[2] T.
    normal : array
        Normal forces [N].

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> graph = SimpleNamespace(
    ...     friction=0.5, slip=0.0, bilateral=False, gap=(-1.0, 1.0, 0.0), sliding=(0.4, 0.0, 1.0)
    ... )
    >>> gap, friction, part = gap_over_normal(graph, [0.5, 1.0])
    >>> gap.tolist(), friction.tolist(), [PARTS[place][0] for place in part]
    ([-0.5, 0.0], [-0.25, -0.4], ['slip+', 'stick'])
    """
    N = np.asarray(normal, dtype=float)
    # A one-sided contact has no law for N < 0; its graph goes straight on there, to the forces that are rejected.
    bound = graph.friction * (np.abs(N) if graph.bilateral else N)
    if graph.friction == 0:
        T, part = np.zeros_like(N), np.full(N.shape, 3)
    elif graph.slip != 0:
        T, part = -np.sign(graph.slip) * bound, np.full(N.shape, 1 if graph.slip > 0 else 2)
    else:
        holding = -(graph.sliding[0] + graph.sliding[1] * N) / graph.sliding[2]
        bound = np.abs(bound)
        T = np.clip(holding, -bound, bound)
        part = np.where(holding < -bound, 1, np.where(holding > bound, 2, 0))
    return graph.gap[0] + graph.gap[1] * N + graph.gap[2] * T, T, part.astype(np.int8)


def corners(graph: Any) -> list[float]:
    """Return the normal forces at which the graph may bend: between stick and slip, and at zero."""
    found = [0.0]
    if graph.friction and graph.slip == 0:
        for sign in (1.0, -1.0):
            for side in (1.0, -1.0) if graph.bilateral else (1.0,):  # |N| = side N
                slope = graph.sliding[1] + sign * side * graph.friction * graph.sliding[2]
                if slope:
                    at = -graph.sliding[0] / slope
                    if at * side > 0:
                        found.append(at)
    return sorted(found)


def crossings(graph: Any, low: float, high: float) -> list[float]:
    """Return the normal forces between two bounds at which the gap acceleration is zero."""
    knots = np.array([low, *(at for at in corners(graph) if low < at < high), high])
    values = gap_over_normal(graph, knots)[0]
    found: list[float] = []
    for a, b, u, v in zip(knots[:-1], knots[1:], values[:-1], values[1:], strict=True):
        if u == v or u * v > 0:
            continue
        at = float(a - u * (b - a) / (v - u))
        if not found or abs(at - found[-1]) > SAME * max(1.0, abs(at)):
            found.append(at)
    return found


def draw_contact_graph(result: Any, *, ax: Axes | None = None, legend: bool = True) -> Axes:
    """Draw the gap acceleration over the normal force of the only contact, and mark its solutions.

    Parameters
    ----------
    result : Reactions
        Anything with `graph` and `solutions`.
    ax : Axes, optional
    legend : bool
        Whether to say in words what the lines mean.

    Examples
    --------
    >>> import zwang as zw
    >>> from zwang._plot import new_figure
    >>> rod = zw.gallery.get("painleve_rod")
    >>> ax = zw.reactions(rod.system, rod.state, rod.params).plot(ax=new_figure()[1])
    >>> ax.get_xlabel()
    'normal force of tip [N]'
    """
    graph = result.graph
    low, high = _range(graph, result)
    with look():
        ax = axes(ax)
        start = 0.0 if graph.friction and not graph.slip and not graph.bilateral else low
        bends = [at for at in corners(graph) if start < at < high]
        N = np.unique(np.concatenate([np.linspace(start, high, 401), bends]))
        gap, _, part = gap_over_normal(graph, N)
        _draw_law(ax, graph, low, high, gap)
        _draw_line(ax, graph, N, gap, part)
        _draw_solutions(ax, result)
        _draw_rejected(ax, graph, start, high)
        ax.set(xlabel=f"normal force of {words(result.contacts[0])} [N]", ylabel="gap acceleration [m/s²]")
        title(ax, f"{result.name}, contact law and equations: {result.status.value}")
        if legend:
            put_key(ax)
    return ax


def _range(graph: Any, result: Any) -> tuple[float, float]:
    """Return normal forces between which everything of interest lies."""
    far = 1e6 * max(1.0, abs(graph.gap[0]) / max(abs(graph.gap[1]), 1e-300))
    straight = graph.bilateral or graph.slip != 0 or graph.friction == 0
    marks = [*crossings(graph, -far if straight else 0.0, far), *corners(graph)]
    marks += [float(item.normal[0]) for item in result.solutions]
    size = max(map(abs, marks))
    if size == 0:
        size = abs(graph.gap[0] / graph.gap[1]) if graph.gap[0] and graph.gap[1] else 1.0
    low, high = min(0.0, *marks), max(0.0, *marks)
    return low - 0.25 * size, high + 0.35 * size


def _draw_law(ax: Axes, graph: Any, low: float, high: float, gap: Array) -> None:
    """Draw what the law of the contact allows: an L, or a line for a contact that also pulls."""
    wide: dict[str, Any] = {"color": PALE, "linewidth": 9, "solid_capstyle": "butt", "zorder": 0}
    top = float(gap.max())
    room = 0.15 * (top - float(gap.min()) or 1.0)
    top = max(top, 0.0) + room
    bottom = min(float(gap.min()), 0.0) - room
    if graph.bilateral:
        ax.plot([low, high], [0, 0], label="what the contact allows", **wide)
    else:
        ax.plot([0, 0, high], [top, 0, 0], solid_joinstyle="miter", label="what the contact allows", **wide)
    ax.axhline(0, color=QUIET, linewidth=0.8, zorder=1)
    ax.axvline(0, color=QUIET, linewidth=0.8, zorder=1)
    ax.set(xlim=(low, high), ylim=(bottom, top))


def _draw_line(ax: Axes, graph: Any, N: Array, gap: Array, part: NDArray[np.int8]) -> None:
    """Draw the graph, each of its pieces in its colour; where the law excludes the force, broken."""
    bend = np.flatnonzero(np.diff(part)) + 1
    named: set[int] = set()
    for own in np.split(np.arange(len(N)), bend):
        run = np.append(own, own[-1] + 1) if own[-1] + 1 < len(N) else own  # up to the next piece, without a gap
        kind = int(part[run[0]])
        part_name, colour = PARTS[kind]
        for side, style in ((N[run] >= 0, "-"), (N[run] <= 0, "-" if graph.bilateral else (0, (2, 2)))):
            if side.sum() > 1:
                label = None if kind in named else _words(graph, part_name)
                named.add(kind)
                ax.plot(N[run][side], gap[run][side], color=colour, linewidth=2, linestyle=style, label=label, zorder=2)


def _words(graph: Any, part: str) -> str:
    if part == "stick":
        return "friction holds the contact"
    if part == "no friction":
        return "without friction"
    direction = "forwards" if part == "slip+" else "backwards"
    return f"it slides {direction}" if graph.slip else f"it starts to slide {direction}"


def _draw_solutions(ax: Axes, result: Any) -> None:
    """Mark the solutions: with words beside one or two of them, with numbers and a legend where there are more."""
    many = len(result.solutions) > 2
    for place, solution in enumerate(result.solutions):
        if solution.dimension and len(solution.vertices):
            ends = [float(item.normal[0]) for item in solution.vertices]
            gaps = [float(solution.gap_acceleration[0])] * 2
            ax.plot([min(ends), max(ends)], gaps, color=INK, linewidth=4, zorder=4)
        N, gap = float(solution.normal[0]), float(solution.gap_acceleration[0])
        words = f"{solution.modes[0]}: N = {number(N)}" if N else f"{solution.modes[0]}: {number(gap)} m/s²"
        label = f"{place + 1}  {words}" if many else None
        ax.plot(N, gap, "o", color=INK, markersize=8, zorder=5, label=label, linestyle="")
        _note(ax, str(place + 1) if many else words, N, gap, INK, _slope(result.graph, N))


def _draw_rejected(ax: Axes, graph: Any, low: float, high: float) -> None:
    """Mark where the graph meets an axis on the wrong side: forces that pull, gaps that close."""
    if graph.bilateral:
        return
    for at in crossings(graph, low, high):
        if at < -SAME:
            ax.plot(at, 0, "X", color=ALARM, markersize=8, zorder=5, markeredgecolor="white")
            _note(ax, f"pulls: N = {number(at)}", at, 0.0, ALARM, _slope(graph, at))
    if graph.gap[0] < 0:
        ax.plot(0, graph.gap[0], "X", color=ALARM, markersize=8, zorder=5, markeredgecolor="white")
        _note(ax, f"penetrates: {number(graph.gap[0])} m/s²", 0.0, graph.gap[0], ALARM, _slope(graph, 0.0))


def _slope(graph: Any, at: float) -> float:
    """Return the slope of the graph to the right of a normal force."""
    step = 1e-6 * max(1.0, abs(at))
    left, right = gap_over_normal(graph, [at, at + step])[0]
    return float(right - left) / step


def _note(ax: Axes, words: str, x: float, y: float, colour: str, slope: float) -> None:
    """Write beside a point, on the side where there is room and no line."""
    from matplotlib.patheffects import withStroke

    low, high = ax.get_xlim()
    bottom, top = ax.get_ylim()
    right = (x - low) < 0.62 * (high - low)
    height = (y - bottom) / (top - bottom)
    up = (slope <= 0) == right if 0.08 < height < 0.92 else height <= 0.08
    ax.annotate(
        words,
        (x, y),
        xytext=(9 if right else -9, 8 if up else -8),
        textcoords="offset points",
        ha="left" if right else "right",
        va="bottom" if up else "top",
        color=colour,
        fontsize=9.5,
        zorder=6,
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )
