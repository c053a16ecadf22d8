"""Expressions of a system's symbols, evaluated at states one by one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._derive.tree_recursion import with_dependents
from zwang._graph.convert import Converter
from zwang._graph.evaluate import evaluate
from zwang._graph.graph import Graph

Array = NDArray[np.float64]


class Measured:
    """Some expressions of a system's symbols, evaluated at states one by one.

    Parameters
    ----------
    system : System
    expressions : sequence of expressions
    """

    def __init__(self, system: System, expressions: Sequence[Any]) -> None:
        self.graph = g = Graph()
        symbols = [time, *system.coordinates, *system.velocities, *system.parameters]
        self.inputs = [g.input(f"x{i}") for i in range(len(symbols))]
        n = len(system.coordinates)
        self.accelerations = [g.input(f"a{i}") for i in range(n)]
        convert = Converter(g, with_dependents(system, g, dict(zip(symbols, self.inputs, strict=True))))
        self.values = [convert(expr) for expr in expressions]
        flow = {self.inputs[0]: g.one}
        flow |= dict(zip(self.inputs[1 : n + 1], self.inputs[n + 1 : 2 * n + 1], strict=True))
        flow |= dict(zip(self.inputs[n + 1 : 2 * n + 1], self.accelerations, strict=True))
        self.rates = g.forward(self.values, flow)

    def value(self, k: int, t: float, q: Array, v: Array, params: Array) -> float:
        """Return the value of expression k."""
        return self._evaluate(self.values[k], t, q, v, np.zeros(len(q)), params)

    def values_at(self, k: int, rows: Sequence[Any]) -> Array:
        """Return the values (B,) of expression k where t, q, v and the parameters have these values (B,) each."""
        with np.errstate(all="ignore"):
            found = evaluate(self.graph, [self.values[k]], dict(zip(self.inputs, rows, strict=True)), np)[0]
        return np.broadcast_to(np.asarray(found, dtype=float), np.shape(rows[0])).copy()

    def rate(self, k: int, t: float, q: Array, v: Array, a: Array, params: Array) -> float:
        """Return the rate of expression k when the accelerations are a."""
        return self._evaluate(self.rates[k], t, q, v, a, params)

    def _evaluate(self, node: int, t: float, q: Array, v: Array, a: Array, params: Array) -> float:
        given = dict(zip([*self.inputs, *self.accelerations], [t, *q, *v, *params, *a], strict=True))
        with np.errstate(all="ignore"):
            return float(evaluate(self.graph, [node], given, np)[0])


@lru_cache(maxsize=64)
def measured_in(system: System, expressions: tuple[Any, ...]) -> Measured:
    """Return expressions of a system, made once."""
    return Measured(system, expressions)
