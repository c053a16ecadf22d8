"""What a picture of a surface shows: quantities over which it is drawn, and what its points are coloured by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._compile import compile
from zwang._declare.model_files import from_dict
from zwang._declare.symbols import Coordinate
from zwang._numerics.identified import between
from zwang._numerics.tolerances import name_of
from zwang._plot.surface import SurfacePicture
from zwang._results.folds import Folds
from zwang._trace.formulas import Formulas, numeric
from zwang._trace.surface_projection import expressions_of, identified_of, values_of
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]
KINDS = ("piece", "component", "sheet", "distance")
"""Colours that are no quantities of the system."""


class SurfaceAxes:
    """Quantities of a space over which it is drawn: `labels`, which are `angles`, `limits` (2, d) and values."""

    def __init__(self, space: Any, items: Sequence[Any]) -> None:
        system = from_dict(space.declared)
        found = expressions_of(system, items, f"{space.name}: plot")
        self.labels = tuple(str(item) for item in found)
        self.angles = np.array([isinstance(item, Coordinate) and item.angle for item in found], dtype=bool)
        put = values_of(system, space)
        expanded = [system.expanded(item).xreplace(put) for item in found]
        self._values = numeric(Formulas(expanded, system.coordinates, space.name))
        values = self.of(np.concatenate([space.surface.points, *(curve.points for curve in space.singular_curves)]))
        low, high = np.where(self.angles, -np.pi, values.min(axis=0)), np.where(self.angles, np.pi, values.max(axis=0))
        self._identified = identified_of(space, system)
        flat = np.where(high > low, 0.0, 1.0)
        self.limits = np.array([low - flat, high + flat])

    def corners(self, mesh: Any) -> Array:
        """Return the quantities (f, 3, d) at the corners of triangles, quaternions with the sign of the first."""
        q = mesh.points[mesh.triangles]
        first = q[:, :1]
        q = np.where(self._identified < 0, first + between(first, q, self._identified), q)
        return self.of(q.reshape(-1, q.shape[2])).reshape(*q.shape[:2], -1)

    def of(self, q: Array) -> Array:
        """Return the quantities (k, d) at configurations (k, n), angles within half a turn of zero."""
        found = np.asarray(self._values(np.asarray(q, dtype=float).T).T)
        return np.where(self.angles, found - 2 * np.pi * np.ceil((found - np.pi - 1e-9) / (2 * np.pi)), found)


class Shade(NamedTuple):
    """A number for each point of a mesh, what it is, and whether it is the number of a thing."""

    values: Array
    label: str
    counts: bool


def shade_of(space: Any, colour: Any, folds: Any) -> Shade:
    """Return what the points of a mesh are coloured by; see `ConfigurationSpace.plot`."""
    if colour is None or (isinstance(colour, str) and colour == "piece"):
        return Shade(space.surface.piece.astype(float), "piece", True)
    if isinstance(colour, str) and colour == "component":
        return Shade(np.array([piece.component for piece in space.pieces])[space.surface.piece], "component", True)
    if isinstance(colour, str) and colour in KINDS:
        if folds is None:
            raise DeclarationError(
                f"{space.name}: colour='{colour}' belongs to folds. Say onto which quantities, as in "
                f"folds=('{space.coordinates[0]}', '{space.coordinates[1]}')."
            )
        folded = space._folded(onto_of(folds))
        if colour == "sheet":
            return Shade(folded.labels.astype(float), "sheet", True)
        return Shade(_to_the_next_fold(folded), "distance to the next fold", False)
    if isinstance(colour, (str, sp.Expr)):
        return _quantity(space, colour)
    return _given(space, colour)


def onto_of(folds: Any) -> Any:
    """Return the quantities onto which folds are asked for, by a pair of them or by folds that were found."""
    return folds.onto if isinstance(folds, Folds) else folds


def _given(space: Any, colour: Any) -> Shade:
    found = np.asarray(colour, dtype=float)
    size = len(space.surface.points)
    if found.shape != (size,):
        raise DeclarationError(
            f"{space.name}: colour= needs one number for each of the {size} points of the mesh; it was given an array "
            f"of shape {found.shape}."
        )
    return Shade(found, "", False)


def _quantity(space: Any, colour: Any) -> Shade:
    """Return the multiplier of a constraint, where its name is given, or a quantity of the configuration."""
    system = from_dict(space.declared)
    names = [str(item.name) for item in system.constraints]
    known = [symbol.name for symbol in (*system.coordinates, *system.parameters)]
    if isinstance(colour, str) and colour in names and colour not in known:
        return Shade(_multipliers(space, system, colour), f"multiplier of {colour}", False)
    if isinstance(colour, str) and colour.isidentifier() and colour not in known:
        raise DeclarationError(
            f"{space.name}: there is nothing to colour by that is called '{colour}'. "
            f"{nearest(colour, [*KINDS, *names, *known])}"
        )
    axes = SurfaceAxes(space, [colour])
    return Shade(axes.of(space.surface.points)[:, 0], axes.labels[0], False)


def _multipliers(space: Any, system: Any, name: str) -> Array:
    """Return the multiplier of a constraint at each point of the mesh, the mechanism let go there at rest."""
    q = space.surface.points
    state: dict[str, Any] = {key: q[:, k] for k, key in enumerate(space.coordinates)}
    state |= {symbol.name: np.zeros(len(q)) for symbol in system.velocities}
    state["t"] = np.full(len(q), space.t)
    params = {symbol.name: space.params[symbol.name] for symbol in system.parameters}
    found = compile(system).multipliers(state, params)
    if name not in found:
        raise DeclarationError(
            f"{space.name}: '{name}' is one-sided or has no multiplier of its own: only bilateral constraints have one "
            "all over the surface."
        )
    return np.asarray(found[name], dtype=float)


def _to_the_next_fold(folded: Any) -> Array:
    """Return how far each point of a mesh is from the next fold, along its edges."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    q, periods, size = folded.q, folded.made.periods, len(folded.q)
    if not folded.cut.any():
        raise DeclarationError(
            f"{folded.space.name}: there are no folds onto {folded.made.onto[0]} and {folded.made.onto[1]}, so that "
            "nothing has a distance from them."
        )
    a, b = folded.edges.T
    length = np.linalg.norm(between(q[a], q[b], periods), axis=1)
    ends = folded.edges[folded.cut]
    # A fold divides an edge as the determinants at its ends say.
    share = np.abs(folded.D[ends]) / np.abs(folded.D[ends]).sum(axis=1, keepdims=True)
    beside = np.maximum(share * length[folded.cut, None], 1e-12)
    least = np.full(size, np.inf)
    np.minimum.at(least, ends.ravel(), beside.ravel())
    near = np.flatnonzero(np.isfinite(least))
    rows, columns = np.concatenate([a, np.full(len(near), size)]), np.concatenate([b, near])
    weights = np.concatenate([np.maximum(length, 1e-12), least[near]])
    graph = coo_array((weights, (rows, columns)), shape=(size + 1, size + 1)).tocsr()
    found = np.asarray(dijkstra(graph, directed=False, indices=size))[:size]
    return np.where(np.isfinite(found), found, np.nan)


def picture_of(space: Any, items: Sequence[Any], *, colour: Any, folds: Any, wrapped: bool) -> SurfacePicture:
    """Return what is drawn of a surface over two or three quantities; see `ConfigurationSpace.plot`."""
    chosen = [item for item in items if item is not None]
    names = {name_of(item) for item in chosen}
    rest = [name for name in space.coordinates if name not in names]
    filled = [item if item is not None else rest.pop(0) for item in items if item is not None or rest]
    axes = SurfaceAxes(space, filled)
    if len(filled) < 2:
        raise DeclarationError(f"{space.name}: a surface is drawn over two or three quantities, and this has one.")
    if wrapped and not axes.angles[:2].all():
        other = next(label for label, angle in zip(axes.labels, axes.angles, strict=False) if not angle)
        raise DeclarationError(
            f"{space.name}: wrapped=True leads two angles round a ring, and '{other}' is none. Give two angles first, "
            "or leave it out."
        )
    found = () if folds is None else space.folds(onto_of(folds))
    return SurfacePicture(axes, shade_of(space, colour, folds), found, wrapped)
