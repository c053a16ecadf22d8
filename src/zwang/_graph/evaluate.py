"""A graph evaluated node by node on arrays: with NumPy, or traced by JAX into one compiled program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zwang._graph.graph import Graph, Node

NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}


def evaluate(graph: Graph, outputs: Sequence[Node], inputs: Mapping[Node, Any], xp: Any) -> list[Any]:
    """Return the values of the outputs; `xp` is the module of array functions (numpy, jax.numpy)."""
    values: dict[Node, Any] = dict(inputs)
    for node in graph.reachable(outputs):
        if node not in values:
            values[node] = _value(graph, node, values, xp)
    return [values[node] for node in outputs]


def _value(graph: Graph, node: Node, values: Mapping[Node, Any], xp: Any) -> Any:
    op, args = graph.ops[node], graph.args[node]
    if op == "const":
        return args[0]
    if op == "sum":
        constant, parts = args
        total = constant
        for coefficient, item in parts:
            total = total + (values[item] if coefficient == 1.0 else coefficient * values[item])
        return total
    a = [values[item] for item in args]
    if op in _OPERATORS:
        return _OPERATORS[op](*a)
    if op == "where":
        return xp.where(*a)
    if op == "step":
        return xp.heaviside(a[0], 0.5)
    if op in ("min", "max", "atan2", "pow"):
        return getattr(xp, {"min": "minimum", "max": "maximum", "atan2": "arctan2", "pow": "power"}[op])(*a)
    return getattr(xp, NAMES.get(op, op))(a[0])


_OPERATORS: dict[str, Any] = {
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "not": lambda a: ~a,
}
