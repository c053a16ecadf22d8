"""Quantities along a motion: any expression of its symbols, or where a point is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.measured import measured_in
from zwang._declare.body_tree import AXES
from zwang._declare.declaration_reader import Reader
from zwang._declare.given import Text, as_expression, components
from zwang._declare.system import System
from zwang._graph.evaluate import evaluate
from zwang._simulate.ground import Ground
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]


def quantities(ground: Ground, points: Mapping[str, Any], what: Any, states: tuple[Array, Array, Array]) -> Array:
    """Return the values of an expression (rows,), or the places of a point (rows, components), at t, q, v."""
    system = ground.model.system
    # A joint has the name of its coordinate, and its place in the drawing too: the coordinate is meant.
    taken = {item.name for item in system._symbols()}
    points = {name: place for name, place in points.items() if name not in taken}
    found = _expressions(system, points, what)
    measured = measured_in(system, found)
    t, q, v = states
    params = np.broadcast_to(np.asarray(ground.params, dtype=float), (len(system.parameters),))
    given = dict(zip(measured.inputs, [t, *q.T, *v.T, *params], strict=False))
    with np.errstate(all="ignore"):
        values = evaluate(measured.graph, measured.values, given, np)
    columns = [np.broadcast_to(np.asarray(item, dtype=float), t.shape) for item in values]
    several = what in (*points, *_bodies(system)) if isinstance(what, str) else components(what) is not None
    return np.stack(columns, axis=-1) if several else np.array(columns[0])


def _bodies(system: System) -> tuple[str, ...]:
    return () if system.tree is None else tuple(system.tree.bodies)


def _expressions(system: System, points: Mapping[str, Any], what: Any) -> tuple[Any, ...]:
    reader = Reader(system.name, system.coordinates, system.expressions().values(), system.dependents)
    if isinstance(what, str) and what in points:
        given: list[Any] = [Text(item) if isinstance(item, str) else item for item in points[what]]
    elif isinstance(what, str) and what in _bodies(system):
        given = [Text(f"{axis}_{what}") for axis in AXES]
    else:
        listed = components(what)
        if listed == []:
            raise DeclarationError(f"{system.name}: values: nothing is asked for. Give an expression, or several.")
        given = [as_expression(item, f"{system.name}: values") for item in ([what] if listed is None else listed)]
    found = tuple(reader(item, "values") for item in given)
    known = {*(item.name for item in system._symbols()), *system.dependents}
    for expr in found:
        for symbol in expr.free_symbols:
            if symbol.name not in known:
                near = nearest(symbol.name, [*known, *points])
                raise DeclarationError(
                    f"{system.name}: values: '{symbol.name}' is no symbol of the system, and no point of its drawing "
                    f"or body. {near}"
                )
    return found
