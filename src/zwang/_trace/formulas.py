"""Constraints as formulas that can be evaluated over any numbers: floats, arrays, balls, exact power series.

The graph of `_derive` keeps its constants as floats, which is right for kernels and too little for proofs: a third is
not a float. So proofs start from the declared expressions, with the parameters put in as exact rationals, and each
arithmetic rounds the constants in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.symbols import Time
from zwang._declare.system import System
from zwang.errors import DeclarationError

FUNCTIONS = {
    sp.sin: "sin", sp.cos: "cos", sp.tan: "tan", sp.exp: "exp", sp.log: "log", sp.sinh: "sinh", sp.cosh: "cosh",
    sp.tanh: "tanh", sp.asin: "asin", sp.acos: "acos", sp.atan: "atan", sp.asinh: "asinh", sp.acosh: "acosh",
    sp.atanh: "atanh",
}  # fmt: skip
NUMPY = {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
         "atanh": np.arctanh}  # fmt: skip


def exact(value: Any) -> Fraction:
    """Return a parameter as the rational that was meant: a float is read as the decimal that it is printed as.

    Examples
    --------
    >>> exact(0.81), exact(2)
    (Fraction(81, 100), Fraction(2, 1))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, (sp.Rational, int)) and not isinstance(value, bool):
        return Fraction(int(sp.Rational(value).p), int(sp.Rational(value).q))
    return Fraction(repr(float(value)))


class Arithmetic:
    """Numbers of one kind: constants and elementary functions; the operators are the numbers' own."""

    def constant(self, value: Fraction) -> Any:
        """Return a rational constant."""
        return value.numerator / value.denominator

    def pi(self) -> Any:
        """Return the number pi."""
        return np.pi

    def call(self, name: str, x: Any) -> Any:
        """Return an elementary function of a number."""
        return NUMPY.get(name, getattr(np, name, None))(x)  # type: ignore[misc]

    def whole(self, x: Any, exponent: int) -> Any:
        """Return a positive whole power."""
        return x**exponent

    def root(self, x: Any) -> Any:
        """Return the square root."""
        return np.sqrt(x)

    def power(self, x: Any, exponent: Fraction) -> Any:
        """Return a rational power that is neither whole nor half."""
        return x ** (exponent.numerator / exponent.denominator)


@dataclass
class Formulas:
    """Expressions of some variables as one row of instructions with everything shared.

    Attributes
    ----------
    variables : tuple of symbols
    code : list of (operation, arguments)
        Operations on registers; register i < len(variables) holds a variable, then come the results in order.
    outputs : list of int
    """

    variables: tuple[Any, ...]
    code: list[tuple[str, Any, Any]] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    where: str = "a formula"
    _known: dict[Any, int] = field(default_factory=dict, repr=False)
    _constants: dict[int, list[Any]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for place, symbol in enumerate(self.variables):
            self._known[symbol] = place

    @classmethod
    def of(cls, expressions: Sequence[Any], variables: Sequence[Any], where: str = "a formula") -> Formulas:
        """Return the formulas of SymPy expressions."""
        made = cls(tuple(variables), where=where)
        made.outputs = [made._node(item) for item in expressions]
        return made

    def __call__(self, values: Sequence[Any], arithmetic: Arithmetic) -> list[Any]:
        """Return the values of all expressions over the numbers of an arithmetic."""
        registers = list(values)
        add = registers.append
        for (op, a, b), constant in zip(self.code, self._prepared(arithmetic), strict=True):
            if op == "add":
                add(registers[a] + registers[b])
            elif op == "mul":
                add(registers[a] * registers[b])
            elif op == "const":
                add(constant)
            elif op == "pow":
                add(arithmetic.whole(registers[a], b))
            elif op == "inverse":
                add(1 / registers[a])
            elif op == "root":
                add(arithmetic.root(registers[a]))
            elif op == "rational":
                add(arithmetic.power(registers[a], b))
            else:
                add(arithmetic.call(op, registers[a]))
        return [registers[place] for place in self.outputs]

    def _prepared(self, arithmetic: Arithmetic) -> list[Any]:
        # Keyed by the object: an arithmetic rounds its constants once.
        found = self._constants.get(id(arithmetic))
        if found is None:
            found = [self._constant(op, a, arithmetic) for op, a, _ in self.code]
            self._constants = {id(arithmetic): found, -1: [arithmetic]}
        return found

    @staticmethod
    def _constant(op: str, value: Any, arithmetic: Arithmetic) -> Any:
        if op != "const":
            return None
        return arithmetic.pi() if value is None else arithmetic.constant(value)

    def _push(self, op: str, a: Any, b: Any = None) -> int:
        key = (op, a, b)
        if key not in self._known:
            self._known[key] = len(self.variables) + len(self.code)
            self.code.append((op, a, b))
        return self._known[key]

    def _node(self, expr: Any) -> int:
        found = self._known.get(expr)
        if found is None:
            found = self._build(expr)
            self._known[expr] = found
        return found

    def _build(self, expr: Any) -> int:
        if expr.is_Rational:
            return self._push("const", Fraction(int(expr.p), int(expr.q)))
        if expr.is_Float:
            return self._push("const", exact(float(expr)))
        if expr is sp.pi:
            return self._push("const", None)
        if expr is sp.E:
            return self._push("exp", self._push("const", Fraction(1)))
        if expr.is_Add or expr.is_Mul:
            op, (first, *rest) = ("add" if expr.is_Add else "mul"), expr.args
            total = self._node(first)
            for item in rest:
                total = self._push(op, *sorted((total, self._node(item))))
            return total
        if expr.is_Pow:
            return self._power(expr.base, expr.exp)
        if isinstance(expr, sp.atan2):
            # The angle of (x, y), smooth off the negative x axis: 2 atan(y/(r + x)).
            y, x = expr.args
            return self._node(2 * sp.atan(y / (sp.sqrt(x**2 + y**2) + x)))
        name = FUNCTIONS.get(expr.func)
        if name is None:
            raise DeclarationError(
                f"{self.where}: '{expr!s:.60}' is not smooth or not an elementary function, so nothing can be proved "
                'about it. Use search="sampled".'
            )
        return self._push(name, self._node(expr.args[0]))

    def _power(self, base: Any, exponent: Any) -> int:
        if not exponent.is_Rational:
            return self._node(sp.exp(exponent * sp.log(base), evaluate=False))
        inner = self._node(base)
        size = Fraction(abs(int(exponent.p)), int(exponent.q))
        if size.denominator == 1:
            place = inner if size == 1 else self._push("pow", inner, int(size))
        elif size.denominator == 2:
            place = self._push("root", inner)
            place = place if size.numerator == 1 else self._push("pow", place, size.numerator)
        else:
            place = self._push("rational", inner, size)
        return self._push("inverse", place) if exponent < 0 else place


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
        times = {item: sp.Rational(instant.numerator, instant.denominator) for item in expr.atoms(Time)}
        return expr.xreplace({**values, **times})

    relations = [item for item in system.constraints if not isinstance(item, Friction) and item.level == "position"]
    held = [item for item in relations if isinstance(item, Bilateral)]
    expressions = tuple(put(item.expr) for item in held)
    q = tuple(system.coordinates)
    jacobian = sp.Matrix([[sp.diff(item, symbol) for symbol in q] for item in expressions]).reshape(len(held), len(q))
    gaps = tuple(put(item.expr) for item in relations if item not in held)
    return ExactEquations(system.name, q, tuple(str(item.name) for item in held), expressions, jacobian, gaps)


def numeric(formulas: Formulas) -> Callable[[Any], Any]:
    """Return a function of float arrays: (variables, ...) to (outputs, ...)."""
    arithmetic = Arithmetic()

    def evaluate(values: Any) -> Any:
        shape = np.shape(values)[1:]
        with np.errstate(all="ignore"):
            found = formulas(list(np.asarray(values, dtype=float)), arithmetic)
        return (
            np.stack([np.broadcast_to(np.asarray(item, dtype=float), shape) for item in found])
            if found
            else (np.zeros((0, *shape)))
        )

    return evaluate
