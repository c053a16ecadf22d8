"""A graph evaluated node by node: over any arithmetic and series over it, or on arrays (NumPy, traced by JAX)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from fractions import Fraction
from typing import Any

from zwang._graph.graph import Graph, Node
from zwang._numerics.series.arithmetic import FLOAT_FUNCTIONS, PI, Arithmetic
from zwang._numerics.series.power import Series

NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}


def evaluate(graph: Graph, outputs: Sequence[Node], inputs: Mapping[Node, Any], functions: Any) -> list[Any]:
    """Return the values of the outputs.

    Parameters
    ----------
    graph : Graph
    outputs : sequence of Node
    inputs : mapping
        Node -> value, at least of the inputs that the outputs need.
    functions : object
        Has the functions by NumPy's names (`sin`, `arctan2`, `where`, `minimum`, `heaviside`, `logical_and`, ...): a
        module like numpy and jax.numpy, or an arithmetic of one's own. Sums, products, quotients and comparisons are
        those of the values.
    """
    values: dict[Node, Any] = dict(inputs)
    evaluate_into(graph, graph.reachable(outputs, values), values, functions)
    return [values[node] for node in outputs]


def evaluate_into(graph: Graph, order: Iterable[Node], values: MutableMapping[Node, Any], functions: Any) -> None:
    """Add the values of nodes, in topological order, to those that are known."""
    for node in order:
        values[node] = _value(graph, node, values, functions)


def _value(graph: Graph, node: Node, values: Mapping[Node, Any], xp: Any) -> Any:
    op, args = graph.ops[node], graph.args[node]
    if op == "const":
        return args[0]
    if op == "sum":
        return _sum(args[0], args[1], values)
    a = [values[item] for item in args]
    if op in _OPERATORS:
        return _OPERATORS[op](*a)
    if op in _CALLS:
        return getattr(xp, _CALLS[op])(*a)
    if op == "step":
        return xp.heaviside(a[0], 0.5)
    return getattr(xp, NAMES.get(op, op))(a[0])


def _sum(constant: float, parts: Sequence[tuple[float, Node]], values: Mapping[Node, Any]) -> Any:
    """Return a sum in the order of generated code, the constant last: all dialects round alike."""
    total: Any = None
    for coefficient, item in parts:
        value = values[item]
        if coefficient == -1.0:
            total = -value if total is None else total - value
        else:
            part = value if coefficient == 1.0 else coefficient * value
            total = part if total is None else total + part
    return total + constant if constant else total


_CALLS = {
    "where": "where",
    "min": "minimum",
    "max": "maximum",
    "atan2": "arctan2",
    "pow": "power",
    "and": "logical_and",
    "or": "logical_or",
    "not": "logical_not",
}
_OPERATORS: dict[str, Any] = {
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "eq": lambda a, b: a == b,
}


class GraphEvaluation:
    """Some outputs of a graph over an arithmetic: whatever depends on known inputs alone is computed once.

    Parameters
    ----------
    graph : Graph
        Exact for any arithmetic but floats.
    outputs : sequence of Node
    arithmetic : Arithmetic
    known : mapping Node -> number
        Inputs that stay as they are, parameters as a rule.

    Examples
    --------
    >>> from zwang._numerics.series.rationals import RATIONALS
    >>> from zwang._numerics.series.power import ring
    >>> g = Graph(exact=True)
    >>> x = g.input("x")
    >>> square = GraphEvaluation(g, [g.div(g.mul(x, x), g.const(3))], RATIONALS)
    >>> str(square({x: RATIONALS.number(2)})[0])
    '4/3'
    >>> [str(item) for item in square({x: ring(RATIONALS).variable(0, 3)})[0].coefficients]
    ['0', '0', '1/3']
    """

    def __init__(
        self, graph: Graph, outputs: Sequence[Node], arithmetic: Arithmetic, known: Mapping[Node, Any] | None = None
    ) -> None:
        self.arithmetic = arithmetic
        order = graph.reachable(outputs)
        self._places = {node: place for place, node in enumerate(order)}
        self._outputs = [self._places[node] for node in outputs]
        self._start: list[Any] = [None] * len(order)
        self._steps: list[tuple[str, int, Any]] = []
        known = known or {}
        for place, node in enumerate(order):
            op = graph.ops[node]
            if node in known:
                self._start[place] = known[node]
            elif op in ("const", "pi"):
                self._start[place] = arithmetic.number(PI if op == "pi" else graph.args[node][0])
            elif op != "input":
                step = (op, place, self._arguments(graph, node))
                if all(self._start[self._places[item]] is not None for item in graph.arguments(node)):
                    self._start[place] = self._value(op, step[2], self._start)
                else:
                    self._steps.append(step)

    def _arguments(self, graph: Graph, node: Node) -> Any:
        """Return the places of the arguments; of a sum with its numbers, of a power with a number as it is."""
        number, args = self.arithmetic.number, graph.args[node]
        if graph.ops[node] == "sum":
            parts = [(None if c == 1 else number(c), self._places[item]) for c, item in args[1]]
            return None if args[0] == 0 else number(args[0]), parts
        if graph.ops[node] == "pow":
            exponent = graph.value(args[1])
            return self._places[args[0]], self._places[args[1]], None if exponent is None else Fraction(exponent)
        return [self._places[item] for item in args]

    def __call__(self, inputs: Mapping[Node, Any]) -> list[Any]:
        """Return the outputs for numbers, or series, in place of the inputs that are not known."""
        values = list(self._start)
        for node, value in inputs.items():
            place = self._places.get(node)
            if place is not None:
                values[place] = value
        for op, place, args in self._steps:
            if op == "mul" and args[0] != args[1]:  # by far the most frequent
                values[place] = values[args[0]] * values[args[1]]
            else:
                values[place] = self._value(op, args, values)
        return [values[place] for place in self._outputs]

    def _value(self, op: str, args: Any, values: list[Any]) -> Any:
        if op == "sum":
            total, parts = args
            for coefficient, place in parts:
                part = values[place] if coefficient is None else values[place] * coefficient
                total = part if total is None else total + part
            return total
        if op == "mul":
            if args[0] == args[1] and not isinstance(values[args[0]], Series):
                return self.arithmetic.square(values[args[0]])
            return values[args[0]] * values[args[1]]
        if op == "div":
            return values[args[0]] / values[args[1]]
        if op in FLOAT_FUNCTIONS:
            x = values[args[0]]
            return x.apply(op) if isinstance(x, Series) else self.arithmetic.call(op, x)
        if op == "pow":
            return self._power(values[args[0]], values[args[1]], args[2])
        return self._other(op, [values[place] for place in args])

    def _power(self, base: Any, exponent: Any, exact: Fraction | None) -> Any:
        if exact is None:
            return self._call("exp", exponent * self._call("log", base))
        return base.power(exact) if isinstance(base, Series) else self.arithmetic.power(base, exact)

    def _call(self, name: str, x: Any) -> Any:
        return x.apply(name) if isinstance(x, Series) else self.arithmetic.call(name, x)

    def _other(self, op: str, a: list[Any]) -> Any:
        A = self.arithmetic
        if op == "abs":
            return abs(a[0])
        if op in ("sign", "step"):
            sign = self._sign(a[0])
            return A.number(sign if op == "sign" else Fraction(1 + sign, 2))
        if op in ("min", "max"):
            return a[0] if (self._sign(a[0] - a[1]) < 0) == (op == "min") else a[1]
        if op in ("lt", "le", "eq"):
            sign = self._sign(a[0] - a[1])
            return sign < 0 if op == "lt" else sign <= 0 if op == "le" else sign == 0
        if op in ("and", "or", "not"):
            return not a[0] if op == "not" else all(a) if op == "and" else any(a)
        if op == "where":
            return a[1] if a[0] else a[2]
        return self._angle(*a)

    def _sign(self, x: Any) -> int:
        return x.sign() if isinstance(x, Series) else self.arithmetic.sign(x)

    def _angle(self, y: Any, x: Any) -> Any:
        if not isinstance(y, Series) and not isinstance(x, Series):
            return self.arithmetic.atan2(y, x)
        y0, x0 = (item.constant if isinstance(item, Series) else item for item in (y, x))
        turned = (y * x0 - x * y0) / (x * x0 + y * y0)
        return turned.apply("atan") + self.arithmetic.atan2(y0, x0)
