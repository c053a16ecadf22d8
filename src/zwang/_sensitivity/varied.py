"""What is varied: parameters and initial values, by name; and expressions that are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._declare.declaration_reader import Reader
from zwang._declare.given import as_expression, components
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._graph.convert import Converter
from zwang._graph.evaluate import evaluate
from zwang._graph.graph import Graph
from zwang._numerics.tolerances import name_of
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Varied:
    """Parameters and initial values that vary.

    Attributes
    ----------
    names : tuple of str
    chosen : tuple of int
        Numbers of the parameters among them.
    dz : (2 n, k) array
        How the start varies along each.
    dp : (p, k) array
        How the chosen parameters do.
    """

    names: tuple[str, ...]
    chosen: tuple[int, ...]
    dz: Array
    dp: Array


def varied(system: System, given: Any, what: str) -> Varied:
    """Return what is varied, from names or symbols."""
    items = components(given)
    listed = [given] if items is None else items
    names = [name_of(item) for item in listed]
    start = [item.name for item in (*system.coordinates, *system.velocities)]
    params = [item.name for item in system.parameters]
    if not names:
        raise DeclarationError(f"{system.name}: {what}= names nothing; give parameters or initial values.")
    for name in names:
        if name not in start and name not in params:
            raise DeclarationError(
                f"{system.name}: {what}= names '{name}', which is no parameter, coordinate or velocity. "
                f"{nearest(name, [*params, *start])}"
            )
        if names.count(name) > 1:
            raise DeclarationError(f"{system.name}: {what}= names '{name}' twice.")
    chosen = tuple(params.index(name) for name in names if name in params)
    dz, dp = np.zeros((len(start), len(names))), np.zeros((len(chosen), len(names)))
    for k, name in enumerate(names):
        if name in params:
            dp[chosen.index(params.index(name)), k] = 1.0
        else:
            dz[start.index(name), k] = 1.0
    return Varied(tuple(names), chosen, dz, dp)


class Observed:
    """Expressions of t, q, v and the parameters with their derivatives, at many states at once.

    Parameters
    ----------
    system : System
    given : mapping of str to expression
    """

    def __init__(self, system: System, given: Mapping[str, Any]) -> None:
        self.names, self.graph = tuple(given), Graph()
        symbols = [time, *system.coordinates, *system.velocities, *system.parameters]
        reader = Reader(system.name, system.coordinates, list(system.expressions().values()))
        g = self.graph
        self.inputs = [g.input(f"x{i}") for i in range(len(symbols))]
        convert = Converter(g, dict(zip(symbols, self.inputs, strict=True)))
        self.values = []
        for name, item in given.items():
            expr = reader(as_expression(item, "a quantity"), f"'{name}'")
            strange = sorted(str(one) for one in expr.free_symbols - set(symbols))
            if strange:
                raise DeclarationError(
                    f"{system.name}: '{name}' uses '{strange[0]}', which the system doesn't know. "
                    f"{nearest(strange[0], [one.name for one in symbols])}"
                )
            self.values.append(convert(expr))
        self.slopes = [[g.forward([value], {item: g.one})[0] for item in self.inputs] for value in self.values]

    def _given(self, t: Array, q: Array, v: Array, params: Array) -> dict[int, Any]:
        rows = [t, *q, *v, *(np.full(len(t), value) for value in params)]
        return dict(zip(self.inputs, rows, strict=True))

    def value(self, k: int, t: Array, q: Array, v: Array, params: Array) -> Array:
        """Return expression k at states t (B,), q and v (n, B)."""
        with np.errstate(all="ignore"):
            found = evaluate(self.graph, [self.values[k]], self._given(t, q, v, params), np)[0]
        return np.broadcast_to(np.asarray(found, dtype=float), t.shape).copy()

    def slope(self, k: int, t: Array, q: Array, v: Array, params: Array) -> Array:
        """Return its derivatives (1 + 2 n + p, B) by t, q, v and all parameters."""
        with np.errstate(all="ignore"):
            found = evaluate(self.graph, self.slopes[k], self._given(t, q, v, params), np)
        return np.stack([np.broadcast_to(np.asarray(one, dtype=float), t.shape) for one in found])


def names_of(given: Any) -> dict[str, Any]:
    """Return text -> expression of some expressions."""
    items = components(given)
    listed = [given] if items is None else items
    return {name_of(item): item for item in listed}
