"""What keeps an expression small while it is built: SymPy computes exact constants, and some of them are enormous.

`Bounds` knows five facts about every node: its value if it is constant, the number of nodes of its tree, how many
brackets its text nests, its degree as a polynomial, and how many functions and roots are nested in it. Constants must
be real numbers within the range of a double, numerators and denominators included, so that nothing later evaluates a
tower of powers. Products and powers are judged before SymPy sees them, by the bits that their exact numbers could have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import sympy as sp
from sympy.core.relational import Relational
from sympy.functions.elementary.piecewise import ExprCondPair

from .vocabulary import FUNCTIONS, MAX_BITS, MAX_BRACKETS, MAX_DEGREE, MAX_EXPONENT, MAX_NODES, PRINTED, function_list

_TINY = 2.2250738585072014e-308  # the smallest normal double: below it numbers lose digits
DEEP = 4
"""Nested functions and roots above which an expression is left as it stands: each level of them can multiply the
questions that SymPy asks of the level below it."""
_SPLIT = "Make its inner parts coordinates or parameters."
_TREES = (sp.Add, sp.Mul, sp.Pow, sp.Piecewise, ExprCondPair, sp.And, sp.Or, sp.Not, Relational)


class LimitError(Exception):
    """An expression passes a limit; the builder adds the place in the text."""

    def __init__(self, problem: str, cure: str) -> None:
        super().__init__(problem, cure)
        self.problem = problem
        self.cure = cure


class Facts(NamedTuple):
    """Value of a constant (None where symbols occur), nodes of the tree, nested brackets of the text, degree, calls.

    Functions and roots count as symbols in the degree. It matters because SymPy isolates roots of polynomials to learn
    the sign of an argument, and multiplies out real and imaginary parts to learn whether it is real.
    """

    value: float | None
    nodes: int
    brackets: int
    degree: float
    calls: int


class Bounds:
    """The facts of all nodes met while one text is read, and the limits on them."""

    def __init__(self) -> None:
        self._known: dict[sp.Basic, Facts] = {}

    def facts(self, expr: sp.Basic) -> Facts:
        """Return the facts of `expr`, or raise LimitError where a part of it passes a limit."""
        known = self._known.get(expr)
        if known is None:
            known = self._facts(expr)
            self._known[expr] = known
        return known

    def value(self, expr: sp.Basic) -> float | None:
        """Return the value of a constant, None where symbols occur."""
        return self.facts(expr).value

    def _facts(self, expr: sp.Basic) -> Facts:
        if not expr.args:
            return Facts(_atom(expr), 1, 0, float(expr.is_Symbol), 0)
        parts = [self.facts(part) for part in expr.args]
        values = [part.value for part in parts]
        nodes = 1 + sum(part.nodes for part in parts)
        # A sum brings no brackets of its own; whatever it stands in is counted as if it wrote them.
        brackets = max(part.brackets for part in parts) + (not expr.is_Add)
        if nodes > MAX_NODES:
            raise LimitError(f"an expression of more than {MAX_NODES} nodes", _SPLIT)
        if brackets > MAX_BRACKETS:
            raise LimitError("an expression that is nested too deeply", _SPLIT)
        if expr.is_Pow and values[1] is not None:
            _check_exponent(expr.exp, values[1])
        if type(expr) not in PRINTED and not isinstance(expr, _TREES):
            raise _unknown(expr)
        constant = [value for value in values if value is not None]
        value = _apply(expr, constant) if len(constant) == len(values) else None
        call = type(expr) in PRINTED or (expr.is_Pow and not expr.exp.is_Integer)
        return Facts(value, nodes, brackets, self._degree(expr, parts), max(part.calls for part in parts) + call)

    def _degree(self, expr: sp.Basic, parts: list[Facts]) -> float:
        degrees = [part.degree for part in parts]
        if expr.is_Mul:
            return sum(degrees)
        highest = max(degrees)
        if expr.is_Pow:
            base = degrees[0] if expr.exp.is_Integer else min(highest, 1.0)
            return base * max(1.0, self._reach(expr.exp))
        return min(highest, 1.0) if type(expr) in PRINTED else highest

    def _check_degree(self, *arguments: sp.Expr) -> None:
        degree = max(self.facts(argument).degree for argument in arguments)
        if degree > MAX_DEGREE:
            cure = f"At most {MAX_DEGREE} inside a function or a root. {_SPLIT}"
            raise LimitError(f"a function of an expression of degree {degree:g}", cure)

    def check_sum(self, terms: Sequence[sp.Expr]) -> None:
        """Refuse a sum whose like terms have a common denominator that is too large."""
        fractions = [(term, _coefficient(term)) for term in terms]
        fractions = [(term, number) for term, number in fractions if number.q != 1]
        if sum(math.log2(q) for q in {number.q for _, number in fractions}) <= MAX_BITS:
            return
        like: dict[sp.Expr, set[int]] = {}
        for term, number in fractions:
            like.setdefault(term.as_coeff_Mul()[1], set()).add(number.q)
        if any(sum(map(math.log2, qs)) > 4 * MAX_BITS for qs in like.values()):
            raise _large_number()

    def check_product(self, factors: Sequence[sp.Expr]) -> None:
        """Refuse a product whose numbers could multiply to one that is too large."""
        powers = [factor for factor in factors if factor.is_Pow and factor.base.is_number]
        roots = {factor.exp.q for factor in powers if factor.exp.is_Rational}
        if sum(self._bits(factor) for factor in factors) > 4 * MAX_BITS or math.lcm(*roots) > MAX_EXPONENT**2:
            raise _large_number()

    def check_power(self, base: sp.Expr, exponent: sp.Expr) -> None:
        """Refuse a power that SymPy would compute to, or through, a number that is too large."""
        value, known = self.value(exponent), self.value(base)
        reach = self._reach(exponent)
        if base is not sp.E:
            _check_exponent(exponent, reach if value is None else value)
        if value is not None and known is not None:
            _number(_power, known, value)
        if base.is_Symbol:
            return
        if not exponent.is_Integer:
            self._check_degree(base, exponent)
        if self._bits(base) * max(1.0, reach) > MAX_BITS + 1:
            raise _large_number()
        for factor in sp.Mul.make_args(base):
            inner, power = factor.as_base_exp()
            if power.free_symbols and not inner.is_Add and self.facts(power).calls <= DEEP:
                # (3**x)**(n/x) is 3**n to SymPy.
                self.check_power(inner, sp.Mul(power, exponent))
        if base is sp.E:
            self.check_exponential(exponent)

    def check_exponential(self, argument: sp.Expr) -> None:
        """Refuse exp(n*log(b)), which SymPy turns into b**n, where that power is refused."""
        for term in sp.Add.make_args(argument):
            factors = sp.Mul.make_args(term)
            logs = [factor.args[0] for factor in factors if isinstance(factor, sp.log)]
            for base in logs:
                others = [factor for factor in factors if not (isinstance(factor, sp.log) and factor.args[0] == base)]
                self.check_power(base, sp.Mul(*others))

    def check_call(self, name: str, arguments: Sequence[sp.Expr]) -> None:
        """Refuse a function of constants that is not a finite real number."""
        if name == "exp":
            self.check_exponential(arguments[0])
        self._check_degree(*arguments)
        values = [self.value(argument) for argument in arguments]
        constant = [value for value in values if value is not None]
        if len(constant) == len(values):
            _number(FUNCTIONS[name].value, *constant)

    def _bits(self, expr: sp.Expr) -> float:
        """Return the bits that the exact numbers among the factors of `expr` have, before they cancel."""
        if expr.is_Symbol:
            return 0.0
        if expr.is_Rational:
            return math.log2(max(abs(expr.p), expr.q)) if expr.p else 0.0
        if expr.is_Pow:
            return 0.0 if expr.base.is_Symbol else self._bits(expr.base) * max(1.0, self._reach(expr.exp))
        if expr.is_Mul:
            return sum(self._bits(factor) for factor in expr.args)
        if expr.is_Add:
            # SymPy divides a sum by its largest coefficient before it takes a power, if one of them is a float.
            numbers = [_leading(term) for term in expr.args]
            if any(number.is_Float for number in numbers):
                return max(self._bits(number) for number in numbers)
        return 0.0

    def _reach(self, exponent: sp.Expr) -> float:
        """Return how large the numbers in an exponent are: its symbols may cancel against other exponents."""
        if exponent.is_Rational:
            return float(abs(exponent.p / exponent.q))
        reach = 0.0
        for term in sp.Add.make_args(exponent):
            value = self.value(term)
            value = self.value(_leading(term)) if value is None else value
            reach += abs(value or 0.0)
        return reach


def _atom(expr: sp.Basic) -> float | None:
    """Return the value of a number, None for a symbol or a truth value."""
    if expr.is_Rational:
        if abs(expr.p).bit_length() > MAX_BITS or expr.q.bit_length() > MAX_BITS:
            raise _large_number()
        return float(expr.p / expr.q)
    if expr.is_Float:
        value = float(expr)
        # Below the normal range a double has fewer digits than SymPy kept.
        if not math.isfinite(value) or (abs(value) < _TINY and sp.Float(value) != expr):
            raise _large_number()
        return value
    if expr is sp.pi or expr is sp.E:
        return float(expr)
    if expr.is_Symbol or expr in (sp.true, sp.false):
        return None
    raise _not_real() if isinstance(expr, sp.Expr) else _unknown(expr)


def _apply(expr: sp.Basic, values: list[float]) -> float | None:
    """Return the value of a node whose parts have the given values."""
    if expr.is_Add:
        return _number(lambda *terms: math.fsum(terms), *values)
    if expr.is_Mul:
        return _number(lambda *factors: math.prod(factors), *values)
    if expr.is_Pow:
        return _number(_power, *values)
    name = PRINTED.get(type(expr))
    return None if name is None else _number(FUNCTIONS[name].value, *values)


def _number(function: Callable[..., float], *values: float) -> float:
    """Return the function of constants as a double, or refuse what has no such value."""
    try:
        value = float(function(*values))
    except (ValueError, ZeroDivisionError):
        raise _not_real() from None
    except OverflowError:
        raise _large_number() from None
    if not math.isfinite(value):
        raise _large_number()
    return value


def _power(base: float, exponent: float) -> float:
    value = math.pow(base, exponent)
    # The printer writes a negative exponent below a fraction line, so the inverse must be a double as well.
    return value if value == base or not base or math.isfinite(1.0 / value) else math.inf


def _coefficient(term: sp.Expr) -> sp.Rational:
    number = _leading(term)
    return number if number.is_Rational else sp.S.One


def _leading(term: sp.Expr) -> sp.Expr:
    first = term.args[0] if term.is_Mul else term
    return first if first.is_Number else sp.S.One


def _check_exponent(exponent: sp.Expr, value: float) -> None:
    """Refuse large exponents, and roots of high order: SymPy raises to their numerators first."""
    if abs(value) > MAX_EXPONENT or (exponent.is_Rational and max(abs(exponent.p), exponent.q) > MAX_EXPONENT):
        cure = f"Exponents, numerators and denominators end at {MAX_EXPONENT}; exp(...) has no such limit."
        raise LimitError(f"the exponent {value:.6g}", cure)


def _large_number() -> LimitError:
    return LimitError("a number that is too large or too small", "Numbers, also in fractions, end at 1e308.")


def _not_real() -> LimitError:
    cure = "Look for 1/0, and for roots and logarithms of negative numbers."
    return LimitError("a constant that is not a finite real number", cure)


def _unknown(expr: sp.Basic) -> LimitError:
    return LimitError(f"the function '{type(expr).__name__}'", f"It has no text here. Use {function_list()}.")
