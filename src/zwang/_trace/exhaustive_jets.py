"""Power series in two variables with exact rational coefficients, cut off at a degree.

They are an arithmetic for `Formulas`: at a point whose coordinates are rational numbers and rational parts of a turn,
constraints of mechanisms have rational Taylor coefficients.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from zwang._trace.formulas import Arithmetic

Power = tuple[int, int]


class NotRationalError(ArithmeticError):
    """A coefficient is not a rational number, so that nothing exact can be said here."""


class Jet:
    """A constant, which may be any exact number, and a rational polynomial without constant term."""

    __slots__ = ("constant", "degree", "terms")

    def __init__(self, constant: Any, terms: dict[Power, Fraction], degree: int) -> None:
        self.constant, self.terms, self.degree = constant, terms, degree

    def rational(self) -> Fraction:
        """Return the constant as a rational number."""
        if not self.constant.is_Rational:
            raise NotRationalError
        return Fraction(int(self.constant.p), int(self.constant.q))

    def __add__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.constant + other, self.terms, self.degree)
        terms = dict(self.terms)
        for power, value in other.terms.items():
            total = terms.get(power, 0) + value
            if total:
                terms[power] = total
            else:
                terms.pop(power, None)
        return Jet(self.constant + other.constant, terms, self.degree)

    __radd__ = __add__

    def __neg__(self) -> Jet:
        return self.scaled(Fraction(-1))

    def __sub__(self, other: Jet) -> Jet:
        return self + (-other)

    def scaled(self, factor: Fraction) -> Jet:
        """Return a rational multiple."""
        terms = {power: factor * value for power, value in self.terms.items()} if factor else {}
        return Jet(self.constant * sp.Rational(factor.numerator, factor.denominator), terms, self.degree)

    def __mul__(self, other: Jet) -> Jet:
        constant = self.constant * other.constant
        terms: dict[Power, Fraction] = {}
        for one, two in ((self, other), (other, self)):
            if two.terms and one.constant != 0:
                factor = one.rational()
                for power, value in two.terms.items():
                    terms[power] = terms.get(power, 0) + factor * value
        for (i, j), value in self.terms.items():
            for (k, l), more in other.terms.items():
                if i + j + k + l <= self.degree:
                    terms[i + k, j + l] = terms.get((i + k, j + l), 0) + value * more
        return Jet(constant, {power: value for power, value in terms.items() if value}, self.degree)

    def __pow__(self, exponent: int) -> Jet:
        result = Jet(sp.Integer(1), {}, self.degree)
        for _ in range(exponent):
            result = result * self
        return result

    def __rtruediv__(self, numerator: int) -> Jet:
        c = self.rational()
        if c == 0:
            raise NotRationalError
        return self.composed([Fraction(numerator) * (-1) ** k / c ** (k + 1) for k in range(self.degree + 1)])

    def composed(self, coefficients: list[Fraction]) -> Jet:
        """Return sum of coefficients[k] h^k, h being the part without constant (Horner)."""
        h = Jet(sp.Integer(0), self.terms, self.degree)
        total = Jet(sp.Integer(0), {}, self.degree)
        for value in reversed(coefficients):
            total = total * h + sp.Rational(value.numerator, value.denominator)
        return total


def _rational(value: Any) -> Fraction:
    if not value.is_Rational:
        raise NotRationalError
    return Fraction(int(value.p), int(value.q))


class Jets(Arithmetic):
    """The arithmetic of jets of one degree."""

    def __init__(self, degree: int) -> None:
        self.degree = degree

    def constant(self, value: Fraction) -> Jet:
        """Return a rational constant."""
        return Jet(sp.Rational(value.numerator, value.denominator), {}, self.degree)

    def pi(self) -> Jet:
        """Return the number pi, exact."""
        return Jet(sp.pi, {}, self.degree)

    def variable(self, constant: Any, which: int | None) -> Jet:
        """Return a number plus one of the two variables, or the number alone."""
        terms = {} if which is None else {((1, 0) if which == 0 else (0, 1)): Fraction(1)}
        return Jet(constant, terms, self.degree)

    def call(self, name: str, x: Jet) -> Jet:
        """Return an elementary function; where its Taylor coefficients are not rational, NotRationalError."""
        if not x.terms:
            value = getattr(sp, name)(x.constant)
            return Jet(value, {}, self.degree)
        if name in ("sin", "cos"):
            s, c = _rational(sp.sin(x.constant)), _rational(sp.cos(x.constant))
            cycle = (s, c, -s, -c) if name == "sin" else (c, -s, -c, s)
            return x.composed([cycle[k % 4] / _factorial(k) for k in range(self.degree + 1)])
        if name == "tan":
            return self.call("sin", x) * (1 / self.call("cos", x))
        if name in ("sinh", "cosh", "exp") and x.constant == 0:
            odd, even = {"exp": (1, 1), "sinh": (1, 0), "cosh": (0, 1)}[name]
            return x.composed([Fraction(odd if k % 2 else even, _factorial(k)) for k in range(self.degree + 1)])
        raise NotRationalError

    def root(self, x: Jet) -> Jet:
        """Return the square root, where the constant is the square of a rational."""
        value = sp.sqrt(x.constant)
        if not x.terms:
            return Jet(value, {}, self.degree)
        start, square = _rational(value), x.rational()
        if start == 0:
            raise NotRationalError
        coefficients, current = [], start
        for k in range(self.degree + 1):
            coefficients.append(current)
            current = current * (Fraction(1, 2) - k) / ((k + 1) * square)
        return x.composed(coefficients)

    def power(self, x: Jet, exponent: Fraction) -> Jet:
        """Return a rational power of a constant."""
        if x.terms:
            raise NotRationalError
        return Jet(x.constant ** sp.Rational(exponent.numerator, exponent.denominator), {}, self.degree)


def _factorial(k: int) -> int:
    result = 1
    for i in range(2, k + 1):
        result *= i
    return result
