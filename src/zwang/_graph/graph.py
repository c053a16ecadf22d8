"""An expression graph with exact sharing, and derivatives of it in forward and reverse mode.

SymPy builds and prints what people read, but differentiating and sharing subexpressions of a mechanism of twenty
links takes it minutes; SymEngine is quick and weighs five times what a dependency may. So kernels are derived here: a
graph of a few operations, each made once (equal operations on equal arguments are one node), constants folded, sums
and products by numbers collected. Derivatives are graphs again and share their parts with what they come from.

A node is an integer; its arguments have smaller numbers, so the numbers are a topological order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

Node = int
Number = Any
"""A float; in an exact graph a Fraction."""

ELEMENTARY: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": math.atanh,
    "exp": math.exp,
    "log": math.log,
    "sqrt": math.sqrt,
    "abs": abs,
    "sign": lambda x: float((x > 0) - (x < 0)),
    "step": lambda x: 0.5 if x == 0 else float(x > 0),
}


def _out_of_range(a: float, b: float) -> bool:
    """Whether the product of two numbers can't be written though both can: then they are kept apart."""
    product = a * b
    if isinstance(product, Fraction):
        return False
    fits = math.isfinite(product) and (product != 0.0 or a == 0.0 or b == 0.0)
    return not fits and math.isfinite(a) and math.isfinite(b)


def _power(base: float, exponent: float) -> float:
    """Return base ** exponent as compiled code does, where Python raises or leaves the real numbers."""
    try:
        power = base**exponent
    except ZeroDivisionError:
        return math.inf
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf
    return power if isinstance(power, float) else math.nan


CONDITIONS = {"lt", "le", "eq", "and", "or", "not"}
CHOICES = {"where", "min", "max"}


class Graph:
    """Nodes with sharing; every method returns the number of a node.

    Examples
    --------
    >>> g = Graph()
    >>> x, y = g.input("x"), g.input("y")
    >>> g.mul(x, y) == g.mul(y, x), g.sub(x, x) == g.const(0.0)
    (True, True)

    An exact graph keeps rationals as they are, and pi; functions of numbers are left for whoever evaluates it.

    >>> Graph(exact=True).number(0.1)
    Fraction(1, 10)
    """

    def __init__(self, *, exact: bool = False) -> None:
        self.exact = exact
        self.ops: list[str] = []
        self.args: list[tuple[Any, ...]] = []
        self._known: dict[tuple[Any, ...], Node] = {}
        self.zero = self.const(0.0)
        self.one = self.const(1.0)

    def copy(self) -> Graph:
        """Return a graph with the same nodes, to which others can be added."""
        other = Graph(exact=self.exact)
        other.ops, other.args, other._known = list(self.ops), list(self.args), dict(self._known)
        return other

    def _node(self, op: str, *args: Any) -> Node:
        key = (op, *args)
        found = self._known.get(key)
        if found is None:
            found = len(self.ops)
            self.ops.append(op)
            self.args.append(args)
            self._known[key] = found
        return found

    # Leaves.
    def number(self, value: Any) -> Number:
        """Return a number as this graph keeps it; a float is, exactly, the decimal that it is printed as."""
        if not self.exact:
            return float(value) + 0.0
        if isinstance(value, float):
            return Fraction(repr(value)) if math.isfinite(value) else value
        return Fraction(value)

    def const(self, value: Any) -> Node:
        """Return the node of a number."""
        return self._node("const", self.number(value))

    def pi(self) -> Node:
        """Return the node of pi: in an exact graph a leaf of its own."""
        return self._node("pi") if self.exact else self.const(math.pi)

    def input(self, name: str) -> Node:
        """Return the node of an input; one per name."""
        return self._node("input", name)

    def value(self, node: Node) -> Number | None:
        """Return the number of a constant node, None for others."""
        return self.args[node][0] if self.ops[node] == "const" else None

    # Sums: ('sum', constant, ((coefficient, node), ...)) with at least two parts, or one part with a coefficient.
    def _parts(self, node: Node) -> tuple[Number, tuple[tuple[Number, Node], ...]]:
        if self.ops[node] == "const":
            return self.args[node][0], ()
        if self.ops[node] == "sum":
            return self.args[node]
        return 0, ((1, node),)

    def linear(self, terms: Iterable[tuple[Number, Node]], constant: Number = 0) -> Node:
        """Return constant + sum of coefficient * node, with equal nodes collected."""
        collected: dict[Node, Number] = {}
        for given, node in terms:
            coefficient = self.number(given)
            offset, parts = self._parts(node)
            if len(parts) > 1:
                # A sum of several parts stays one node, so that it is computed once wherever it occurs.
                collected[node] = collected.get(node, 0) + coefficient
                continue
            if any(_out_of_range(coefficient, inner) for inner, _ in parts):
                collected[node] = collected.get(node, 0) + coefficient
                continue
            constant += coefficient * offset
            for inner, base in parts:
                collected[base] = collected.get(base, 0) + coefficient * inner
        kept = tuple((c, node) for node, c in sorted(collected.items()) if c != 0)
        if not kept:
            return self.const(constant)
        if len(kept) == 1 and constant == 0 and kept[0][0] == 1:
            return kept[0][1]
        return self._node("sum", self.number(constant), kept)

    def add(self, *nodes: Node) -> Node:
        """Return the sum of nodes."""
        return self.linear((1.0, node) for node in nodes)

    def sub(self, a: Node, b: Node) -> Node:
        """Return a - b."""
        return self.linear(((1.0, a), (-1.0, b)))

    def neg(self, a: Node) -> Node:
        """Return -a."""
        return self.linear(((-1.0, a),))

    def scale(self, factor: float, a: Node) -> Node:
        """Return factor * a for a number."""
        return self.linear(((factor, a),))

    # Products: the numbers are pulled out, the rest is a product of two nodes.
    def _factor(self, node: Node) -> tuple[Number, Node]:
        value = self.value(node)
        if value is not None:
            return value, self.one
        if self.ops[node] == "sum":
            constant, parts = self.args[node]
            if constant == 0 and len(parts) == 1:
                return parts[0]  # type: ignore[no-any-return]
        return self.number(1), node

    def mul(self, a: Node, b: Node) -> Node:
        """Return a * b."""
        ca, na = self._factor(a)
        cb, nb = self._factor(b)
        c = ca * cb
        if c == 0.0 and 0.0 in (ca, cb):
            return self.zero
        if _out_of_range(ca, cb):
            return self.scale(ca, self.scale(cb, self.mul(na, nb)))
        if na == self.one or nb == self.one:
            return self.scale(c, nb if na == self.one else na)
        if self.ops[na] == "sqrt" and na == nb:
            return self.scale(c, self.args[na][0])
        product = self._node("mul", min(na, nb), max(na, nb))
        return product if c == 1.0 else self.scale(c, product)

    def div(self, a: Node, b: Node) -> Node:
        """Return a / b."""
        ca, na = self._factor(a)
        cb, nb = self._factor(b)
        if cb == 0.0:
            return self.const(math.nan)
        if ca == 0.0:
            return self.zero
        if _out_of_range(ca, 1 / cb):
            return self.scale(ca, self.scale(1 / cb, self.div(na, nb)))
        if na == nb:
            return self.const(ca / cb)
        if nb == self.one:
            return self.scale(ca / cb, na)
        quotient = self._node("div", na, nb)
        return quotient if ca == cb else self.scale(ca / cb, quotient)

    def power(self, a: Node, exponent: int) -> Node:
        """Return a ** exponent for an integer."""
        if exponent < 0:
            return self.div(self.one, self.power(a, -exponent))
        result, square = self.one, a
        while exponent:
            if exponent & 1:
                result = self.mul(result, square)
            exponent >>= 1
            if exponent:
                square = self.mul(square, square)
        return result

    def pow(self, a: Node, b: Node) -> Node:
        """Return a ** b."""
        exponent, base = self.value(b), self.value(a)
        if exponent is not None and abs(exponent) <= 64:
            if exponent == int(exponent):
                return self.power(a, int(exponent))
            if 2 * exponent == int(2 * exponent):
                return self.power(self.call("sqrt", a), int(2 * exponent))
        if exponent is not None and base is not None and not self.exact:
            return self.const(_power(base, exponent))
        return self._node("pow", a, b)

    def call(self, name: str, a: Node) -> Node:
        """Return an elementary function of a node."""
        value = self.value(a)
        if value is not None and not self.exact:
            try:
                return self.const(ELEMENTARY[name](value))
            except (ValueError, OverflowError):
                return self.const(math.nan)
        return self._node(name, a)

    def atan2(self, a: Node, b: Node) -> Node:
        """Return the angle of the point (b, a)."""
        return self._node("atan2", a, b)

    def least(self, a: Node, b: Node) -> Node:
        """Return the smaller of two nodes."""
        return a if a == b else self._node("min", a, b)

    def greatest(self, a: Node, b: Node) -> Node:
        """Return the larger of two nodes."""
        return a if a == b else self._node("max", a, b)

    def condition(self, op: str, *nodes: Node) -> Node:
        """Return a truth: lt, le, eq of two nodes; and, or, not of truths."""
        if op == "and" and len(set(nodes)) == 1:
            return nodes[0]
        if op == "and" and self._certain in nodes:
            return nodes[1] if nodes[0] == self._certain else nodes[0]
        return self._node(op, *nodes)

    @property
    def _certain(self) -> Node | None:
        """The node of 0 <= 1, if it was made: the truth that all conditions start from."""
        return self._known.get(("le", self.zero, self.one))

    def where(self, condition: Node, a: Node, b: Node) -> Node:
        """Return a where the condition holds, else b."""
        return a if a == b else self._node("where", condition, a, b)

    def arguments(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes that a node is computed from."""
        op = self.ops[node]
        if op in ("const", "input", "pi"):
            return ()
        if op == "sum":
            return tuple(item for _, item in self.args[node][1])
        return self.args[node]

    def reachable(self, outputs: Iterable[Node], known: Container[Node] = ()) -> list[Node]:
        """Return the nodes that the outputs need when the known ones are at hand, in topological order."""
        seen: set[Node] = set()
        stack = list(outputs)
        while stack:
            node = stack.pop()
            if node not in seen and node not in known:
                seen.add(node)
                stack.extend(item for item in self.arguments(node) if item not in seen)
        return sorted(seen)

    def dependent(self, outputs: Sequence[Node], inputs: Iterable[Node]) -> set[Node]:
        """Return the nodes that lie between the inputs and the outputs."""
        marked = set(inputs)
        for node in self.reachable(outputs):
            if node not in marked and any(item in marked for item in self.arguments(node)):
                marked.add(node)
        return marked

    # Derivatives.
    def partials(self, node: Node) -> list[tuple[Node, Node]]:
        """Return (argument, d node/d argument) for each argument of a node."""
        op, args = self.ops[node], self.args[node]
        if op == "sum":
            return [(item, self.const(c)) for c, item in args[1]]
        if op == "mul":
            a, b = args
            return [(a, self.scale(2.0, a))] if a == b else [(a, b), (b, a)]
        if op == "div":
            a, b = args
            inverse = self.div(self.one, b)
            return [(a, inverse), (b, self.neg(self.mul(node, inverse)))]
        if op == "atan2":
            a, b = args
            square = self.add(self.mul(a, a), self.mul(b, b))
            return [(a, self.div(b, square)), (b, self.neg(self.div(a, square)))]
        if op == "pow":
            a, b = args
            slope = self.mul(b, self.pow(a, self.sub(b, self.one)))
            return [(a, slope), (b, self.mul(node, self.call("log", a)))]
        if op in CONDITIONS:
            return []
        return [(args[0], self._slope(op, args[0], node))]

    def _slope(self, op: str, a: Node, node: Node) -> Node:
        """Return the derivative of an elementary function at its argument."""
        square = self.mul(a, a)
        rules: dict[str, Callable[[], Node]] = {
            "sin": lambda: self.call("cos", a),
            "cos": lambda: self.neg(self.call("sin", a)),
            "tan": lambda: self.add(self.one, self.mul(node, node)),
            "asin": lambda: self.div(self.one, self.call("sqrt", self.sub(self.one, square))),
            "acos": lambda: self.neg(self.div(self.one, self.call("sqrt", self.sub(self.one, square)))),
            "atan": lambda: self.div(self.one, self.add(self.one, square)),
            "sinh": lambda: self.call("cosh", a),
            "cosh": lambda: self.call("sinh", a),
            "tanh": lambda: self.sub(self.one, self.mul(node, node)),
            "asinh": lambda: self.div(self.one, self.call("sqrt", self.add(self.one, square))),
            "acosh": lambda: self.div(self.one, self.call("sqrt", self.sub(square, self.one))),
            "atanh": lambda: self.div(self.one, self.sub(self.one, square)),
            "exp": lambda: node,
            "log": lambda: self.div(self.one, a),
            "sqrt": lambda: self.div(self.const(0.5), node),
            "abs": lambda: self.call("sign", a),
            "sign": lambda: self.zero,
            "step": lambda: self.zero,
        }
        return rules[op]()

    def forward(self, outputs: Sequence[Node], seeds: Mapping[Node, Node]) -> list[Node]:
        """Return the derivatives of the outputs along the direction that the seeds give to the inputs."""
        moving = self.dependent(outputs, seeds)
        tangents: dict[Node, Node] = dict(seeds)
        for node in sorted(moving):
            if node not in tangents:
                tangents[node] = self._tangent(node, tangents)
        return [tangents.get(node, self.zero) for node in outputs]

    def _tangent(self, node: Node, tangents: Mapping[Node, Node]) -> Node:
        if self.ops[node] in CHOICES:
            condition, a, b = self.choice(node)
            return self.where(condition, tangents.get(a, self.zero), tangents.get(b, self.zero))
        parts = [
            self.mul(slope, tangents[item])
            for item, slope in self.partials(node)
            if tangents.get(item, self.zero) != self.zero
        ]
        return self.add(*parts) if parts else self.zero

    def choice(self, node: Node) -> tuple[Node, Node, Node]:
        """Return (condition, where it holds, where not) of a node that chooses between two."""
        op, args = self.ops[node], self.args[node]
        if op == "where":
            return args
        a, b = args
        return (self.condition("le", b, a), a, b) if op == "max" else (self.condition("le", a, b), a, b)

    def gradient(self, output: Node, inputs: Sequence[Node]) -> list[Node]:
        """Return the gradient of one output with respect to the inputs."""
        moving = self.dependent([output], inputs)
        if any(self.ops[node] in CHOICES for node in moving):
            # Backwards, 0 * inf of the branch not taken would spoil the sum; forwards it is never looked at.
            return [self.forward([output], {item: self.one})[0] for item in inputs]
        adjoints: dict[Node, list[Node]] = {output: [self.one]}
        gradient: dict[Node, Node] = {}
        wanted = set(inputs)
        for node in sorted(moving.intersection(self.reachable([output])), reverse=True):
            if node not in adjoints:
                continue
            adjoint = self.add(*adjoints.pop(node))
            if node in wanted:
                gradient[node] = adjoint
            if adjoint == self.zero or self.ops[node] == "input":
                continue
            for item, slope in self.partials(node):
                if item in moving:
                    adjoints.setdefault(item, []).append(self.mul(adjoint, slope))
        return [gradient.get(node, self.zero) for node in inputs]
