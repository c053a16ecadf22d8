"""Pictures of studies: lines over one axis, maps over two, small multiples over more."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang._plot.counts import BY_STATUS, CATEGORIES
from zwang._plot.style import QUIET, SERIES, axes, axis_label, figure_title, look, panels, symbol, title, words
from zwang.errors import DeclarationError, nearest

MOST_KINDS = len(SERIES)
MOST_PANELS = 24  # beyond it panels are stamps
PANEL = (3.4, 2.8)


def draw_study(study: Any, what: str | None, *, x: str | None, y: str | None, ax: Any) -> Any:
    """Draw what a study kept over its axes.

    Parameters
    ----------
    study
        Anything with the attributes of a Study.
    what, x, y, ax
        See `Study.plot`.
    """
    name = _chosen(study, what)
    values = study.values[name]
    if values.ndim > study.done.ndim:
        inner = values.shape[study.done.ndim :]
        if math.prod(inner) != 1:
            raise DeclarationError(
                f"'{name}' has several entries at a point (shape {inner}); a picture needs one. Keep a path to it, "
                f"such as {name}[0]."
            )
        values = values.reshape(study.shape)
    if values.dtype.kind == "c":
        raise DeclarationError(
            f"'{name}' has complex numbers; a picture needs real ones. Keep a path to a part of them, such as "
            "eigenvalues[0].real, or a function."
        )
    across = _axis(study, x) if x is not None else _longest(study, [])
    taken = [study.along[across]]
    upward = _axis(study, y) if y is not None else _longest(study, taken) if len(study.dims) > 1 else None
    if upward is not None and study.along[upward] == taken[0]:
        raise DeclarationError(f"The study of '{study.name}': '{across}' and '{upward}' vary along the same axis.")
    if study.done.ndim == 1 or upward is None:
        with look():
            return _lines(axes(ax), study, name, values, across)
    order = [study.dims.index(study.along[upward]), study.dims.index(study.along[across])]
    rest = [axis for axis in range(values.ndim) if axis not in order]
    turned = np.transpose(values, [*rest, *order])
    with look():
        if not rest:
            return _map(axes(ax), study, name, turned, across, upward, legend=True)
        return _panels(study, name, turned, rest, across, upward, ax)


def _chosen(study: Any, what: str | None) -> str:
    if what is None:
        if not study.values:
            raise DeclarationError(f"The study of '{study.name}' has kept nothing yet that could be drawn.")
        return "status" if "status" in study.values else next(iter(study.values))
    if what not in study.values:
        raise DeclarationError(f"The study of '{study.name}' kept no '{what}'. {nearest(what, list(study.values))}")
    return what


def _axis(study: Any, name: str) -> str:
    if name not in study.coords:
        raise DeclarationError(
            f"The study of '{study.name}' doesn't vary '{name}'. {nearest(name, list(study.coords))}"
        )
    return name


def _longest(study: Any, without: list[str]) -> str:
    """Return what varies along the next axis: of the two longest ones, the later one runs to the right."""
    sizes = dict(zip(study.dims, study.shape, strict=True))
    free = sorted((dim for dim in study.dims if dim not in without), key=lambda dim: -sizes[dim])
    chosen = max(free[: 2 - len(without)], key=study.dims.index)
    return str(next(name for name, along in study.along.items() if along == chosen))


def _label(study: Any, name: str) -> str:
    return axis_label(symbol(name), study.units.get(name, ""))


def _lines(ax: Any, study: Any, name: str, values: Any, across: str) -> Any:
    grid = study.coords[across]
    order = np.argsort(grid, kind="stable")
    if values.dtype.kind == "U":
        kinds = _kinds(values)
        place = np.array([kinds.index(text) if text else -1 for text in values])
        for number, kind in enumerate(kinds):
            here = place == number
            ax.plot(grid[here], np.full(here.sum(), number), "o", ms=4, mfc=_colour(kind, number), mec=QUIET, mew=0.3)
        ax.set_yticks(range(len(kinds)), [words(kind) for kind in kinds])
    else:
        scattered = study.along[across] not in study.coords
        style = {"ls": "", "marker": "o", "ms": 3, "mew": 0} if scattered else {"lw": 1.6}
        ax.plot(grid[order], values[order].astype(float), color=SERIES[0], **style)
        ax.set_ylabel(_label(study, name))
    ax.set_xlabel(_label(study, across))
    title(ax, f"{study.name}: {name} of {study.verb}")
    return ax


def _map(ax: Any, study: Any, name: str, values: Any, across: str, upward: str, *, legend: bool) -> Any:
    right, up = study.coords[across], study.coords[upward]
    columns, rows = np.argsort(right, kind="stable"), np.argsort(up, kind="stable")
    shown = values[np.ix_(rows, columns)]
    grids = _edges(right[columns]), _edges(up[rows])
    if values.dtype.kind == "U":
        _kinds_map(ax, grids, shown, _kinds(study.values[name]), legend=legend)
    else:
        drawn = ax.pcolormesh(*grids, np.ma.masked_invalid(shown.astype(float)), cmap="viridis", rasterized=True)
        if legend:
            ax.figure.colorbar(drawn, ax=ax, label=_label(study, name))
    ax.set(xlabel=_label(study, across), ylabel=_label(study, upward))
    if legend:
        title(ax, f"{study.name}: {name} of {study.verb}")
    return ax


def _kinds_map(ax: Any, grids: tuple[Any, Any], shown: Any, kinds: list[str], *, legend: bool) -> None:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    codes = np.full(shown.shape, -1)
    for number, kind in enumerate(kinds):
        codes[shown == kind] = number
    colours = ListedColormap(["white", *(_colour(kind, number) for number, kind in enumerate(kinds))])
    ax.pcolormesh(*grids, codes, cmap=colours, vmin=-1.5, vmax=len(kinds) - 0.5, rasterized=True)
    if legend:
        handles = [
            Patch(fc=_colour(kind, number), ec=QUIET, lw=0.5, label=words(kind)) for number, kind in enumerate(kinds)
        ]
        if (codes < 0).any():
            handles.append(Patch(fc="white", ec=QUIET, lw=0.5, label="not computed"))
        ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=min(4, len(handles)))


def _panels(study: Any, name: str, turned: Any, rest: list[int], across: str, upward: str, ax: Any) -> Any:
    """Draw a map for each place along the further axes."""
    if ax is not None:
        raise DeclarationError("A study of more than two axes makes a figure of its own; leave ax= out.")
    places = list(np.ndindex(*turned.shape[: len(rest)]))
    if len(places) > MOST_PANELS:
        raise DeclarationError(
            f"The study of '{study.name}' would make {len(places)} panels, more than {MOST_PANELS}. Draw a part of "
            "study.dataset."
        )
    figure, grid = panels(len(places), PANEL)
    figure_title(figure, f"{study.name}: {name} of {study.verb}")
    low, high = _limits(turned)
    for panel, place in zip(grid.flat, places, strict=False):
        _map(panel, study, name, turned[place], across, upward, legend=False)
        for drawn in panel.collections:
            if turned.dtype.kind != "U":
                drawn.set_clim(low, high)
        told = [
            f"{symbol(study.dims[axis])} = {study.coords[_of(study, axis)][i]:.4g}"
            for axis, i in zip(rest, place, strict=True)
        ]
        panel.set_title(", ".join(told), fontsize=10)
    for panel in list(grid.flat)[len(places) :]:
        panel.set_axis_off()
    if turned.dtype.kind == "U":
        from matplotlib.patches import Patch

        kinds = _kinds(turned)
        figure.legend(
            handles=[Patch(fc=_colour(k, i), ec=QUIET, lw=0.5, label=words(k)) for i, k in enumerate(kinds)],
            loc="outside lower center",
            ncols=len(kinds),
        )
    else:
        figure.colorbar(grid.flat[0].collections[0], ax=grid, label=_label(study, name))
    return grid


def _of(study: Any, axis: int) -> str:
    return str(next(name for name, along in study.along.items() if along == study.dims[axis]))


def _limits(values: Any) -> tuple[float, float]:
    if values.dtype.kind == "U":
        return 0.0, 1.0
    numbers = values.astype(float)
    finite = numbers[np.isfinite(numbers)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def _kinds(values: Any) -> list[str]:
    """Return the texts that occur, most frequent first; beyond the palette there is one colour for the rest."""
    found, counts = np.unique(values[values != ""], return_counts=True)
    return [str(found[place]) for place in np.argsort(-counts, kind="stable")]


def _colour(kind: str, number: int) -> str:
    """Return the colour of a text: a status of reactions has that of the maps of counts."""
    known = {**BY_STATUS, "UNIQUE": 1, "MULTIPLE": 3}
    if kind in known:
        return CATEGORIES[known[kind]][1]
    return SERIES[number] if number < MOST_KINDS else QUIET


def _edges(grid: Any) -> Any:
    """Return the edges of cells around sorted values."""
    if len(grid) == 1:
        return np.array([grid[0] - 0.5, grid[0] + 0.5])
    middle = (grid[1:] + grid[:-1]) / 2
    return np.concatenate([[2 * grid[0] - middle[0]], middle, [2 * grid[-1] - middle[-1]]])
