"""Constraints as formulas that can be evaluated over any numbers: floats, arrays, balls, exact power series.

Kernels keep their constants as floats, which is right for them and too little for proofs: a third is not a float. So
proofs start from the declared expressions, with the parameters put in as exact rationals, as an exact graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from zwang._declare.checks import without_poles
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.symbols import Time
from zwang._declare.system import System
from zwang._graph.convert import Converter
from zwang._graph.evaluate import GraphEvaluation, evaluate_into
from zwang._graph.graph import Graph, Node
from zwang._numerics.series.arithmetic import Arithmetic, as_fraction
from zwang._trace.space_equations import KINKED
from zwang.errors import CompileError, DeclarationError


def exact(value: Any) -> Fraction:
    """Return a parameter as the rational that was meant: a float is read as the decimal that it is printed as.

    Examples
    --------
    >>> exact(0.81), exact(2)
    (Fraction(81, 100), Fraction(2, 1))
    """
    if isinstance(value, sp.Rational):
        return Fraction(int(value.p), int(value.q))
    return as_fraction(value if isinstance(value, (int, Fraction)) else float(value))


class Formulas:
    """Smooth expressions of some variables, with everything shared.

    Parameters
    ----------
    expressions : sequence of SymPy expressions
    variables : sequence of symbols
    where : str
        What messages say it is about.
    """

    def __init__(self, expressions: Sequence[Any], variables: Sequence[Any], where: str = "a formula") -> None:
        self.expressions, self.variables = list(expressions), tuple(variables)
        for expr in self.expressions:
            for part in expr.atoms(*KINKED):
                raise _not_smooth(where, part)
        try:
            self._graph, self._inputs, self._outputs = self.graph(exact=True)
        except CompileError as error:
            raise _not_smooth(where, error) from None
        self._made: dict[Arithmetic, GraphEvaluation] = {}

    def graph(self, *, exact: bool) -> tuple[Graph, list[Node], list[Node]]:
        """Return a graph of the formulas, its inputs and its outputs."""
        graph = Graph(exact=exact)
        inputs = [graph.input(f"x{k}") for k in range(len(self.variables))]
        convert = Converter(graph, dict(zip(self.variables, inputs, strict=True)))
        return graph, inputs, [convert(item) for item in self.expressions]

    def __call__(self, values: Sequence[Any], arithmetic: Arithmetic) -> list[Any]:
        """Return the values of all expressions over the numbers of an arithmetic, or series over them."""
        if arithmetic not in self._made:
            self._made[arithmetic] = GraphEvaluation(self._graph, self._outputs, arithmetic)
        return self._made[arithmetic](dict(zip(self._inputs, values, strict=True)))


def _not_smooth(where: str, what: Any) -> DeclarationError:
    return DeclarationError(
        f"{where}: '{what!s:.60}' is not smooth or not an elementary function, so nothing can be proved about it. Use "
        'search="sampled".'
    )


@dataclass(frozen=True)
class ExactEquations:
    """Position-level constraints with their parameters put in as exact rationals.

    Attributes
    ----------
    name : str
        Of the system.
    coordinates : tuple of symbols
    names : tuple of str
        Of the bilateral constraints.
    values, jacobian : tuple of expressions, matrix
        Of the bilateral constraints.
    gaps : tuple of expressions
        Of the unilateral ones.
    """

    name: str
    coordinates: tuple[Any, ...]
    names: tuple[str, ...]
    values: tuple[Any, ...]
    jacobian: Any
    gaps: tuple[Any, ...]

    @property
    def angles(self) -> tuple[bool, ...]:
        """Which coordinates are angles."""
        return tuple(bool(item.angle) for item in self.coordinates)


def exact_equations(
    system: System, params: Mapping[str, Any], t: float = 0.0, free: Sequence[Any] = ()
) -> ExactEquations:
    """Return the position-level constraints of a system; parameters in `free` stay symbols."""
    values: dict[Any, Any] = {}
    for symbol in system.parameters:
        if symbol not in free:
            fraction = exact(params[symbol.name])
            values[symbol] = sp.Rational(fraction.numerator, fraction.denominator)
    instant = exact(t)

    def put(expr: Any) -> Any:
        expr = system.expanded(expr)
        times = {item: sp.Rational(instant.numerator, instant.denominator) for item in expr.atoms(Time)}
        return expr.xreplace({**values, **times})

    relations = [item for item in system.constraints if not isinstance(item, Friction) and item.level == "position"]
    held = [item for item in relations if isinstance(item, Bilateral)]
    expressions = tuple(put(without_poles(item.expr)) for item in held)
    q = tuple(system.coordinates)
    jacobian = sp.Matrix([[sp.diff(item, symbol) for symbol in q] for item in expressions]).reshape(len(held), len(q))
    gaps = tuple(put(item.expr) for item in relations if item not in held)
    return ExactEquations(system.name, q, tuple(str(item.name) for item in held), expressions, jacobian, gaps)


def numeric(formulas: Formulas) -> Callable[[Any], Any]:
    """Return a function of float arrays: (variables, ...) to (outputs, ...)."""
    graph, inputs, outputs = formulas.graph(exact=False)
    order = graph.reachable(outputs, set(inputs))

    def evaluate(values: Any) -> Any:
        shape = np.shape(values)[1:]
        found = dict(zip(inputs, np.asarray(values, dtype=float), strict=True))
        with np.errstate(all="ignore"):
            evaluate_into(graph, order, found, np)
        rows = [np.broadcast_to(np.asarray(found[node], dtype=float), shape) for node in outputs]
        return np.stack(rows) if rows else np.zeros((0, *shape))

    return evaluate
