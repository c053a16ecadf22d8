"""Vectors of space over any numbers: expressions of SymPy, nodes of a graph, arrays.

A vector is a tuple of three, a matrix a tuple of three rows. What the recursions over bodies compute is written once in
these terms (`body_tree`, `zwang._derive.tree_recursion`), and an `Algebra` says what a number is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

from zwang._declare.numeric_values import numbers_of

Vector: TypeAlias = tuple[Any, Any, Any]
Matrix: TypeAlias = tuple[Vector, Vector, Vector]


class Algebra(ABC):
    """What numbers are: how an expression of parameters becomes one, and what is done with them."""

    @abstractmethod
    def lift(self, expr: Any) -> Any:
        """Return an expression of SymPy as a number."""

    @abstractmethod
    def linear(self, terms: Sequence[tuple[float, Any]]) -> Any:
        """Return the sum of coefficient times number."""

    @abstractmethod
    def mul(self, a: Any, b: Any) -> Any:
        """Return a product."""

    @abstractmethod
    def sin(self, a: Any) -> Any:
        """Return a sine."""

    @abstractmethod
    def cos(self, a: Any) -> Any:
        """Return a cosine."""

    def vector(self, given: Sequence[Any]) -> Vector:
        """Return three expressions as a vector."""
        x, y, z = (self.lift(item) for item in given)
        return x, y, z

    def matrix(self, given: Sequence[Sequence[Any]]) -> Matrix:
        """Return nine expressions as a matrix."""
        a, b, c = (self.vector(row) for row in given)
        return a, b, c

    def add(self, *vectors: Vector) -> Vector:
        """Return the sum of vectors."""
        x, y, z = (self.linear([(1, u[i]) for u in vectors]) for i in range(3))
        return x, y, z

    def sub(self, u: Vector, v: Vector) -> Vector:
        """Return u - v."""
        x, y, z = (self.linear([(1, u[i]), (-1, v[i])]) for i in range(3))
        return x, y, z

    def scale(self, s: Any, u: Vector) -> Vector:
        """Return s u."""
        return self.mul(s, u[0]), self.mul(s, u[1]), self.mul(s, u[2])

    def dot(self, u: Vector, v: Vector) -> Any:
        """Return u . v."""
        return self.linear([(1, self.mul(a, b)) for a, b in zip(u, v, strict=True)])

    def cross(self, u: Vector, v: Vector) -> Vector:
        """Return u x v."""
        x, y, z = (
            self.linear([(1, self.mul(u[i], v[j])), (-1, self.mul(u[j], v[i]))]) for i, j in ((1, 2), (2, 0), (0, 1))
        )
        return x, y, z

    def apply(self, m: Matrix, u: Vector) -> Vector:
        """Return m u."""
        return self.dot(m[0], u), self.dot(m[1], u), self.dot(m[2], u)

    def product(self, a: Matrix, b: Matrix) -> Matrix:
        """Return a b."""
        columns = transposed(b)
        x, y, z = ((self.dot(row, columns[0]), self.dot(row, columns[1]), self.dot(row, columns[2])) for row in a)
        return x, y, z

    def turn(self, axis: Vector, angle: Any) -> Matrix:
        """Return the matrix of a turn about a unit axis (Rodrigues)."""
        c, s = self.cos(angle), self.sin(angle)
        one = self.lift(sp.Integer(1))
        rest = self.linear([(1, one), (-1, c)])
        x, y, z = axis
        skew = ((None, (-1, z), (1, y)), ((1, z), None, (-1, x)), ((-1, y), (1, x), None))

        def entry(i: int, j: int) -> Any:
            terms = [(1.0, self.mul(rest, self.mul(axis[i], axis[j])))]
            crossed = skew[i][j]
            terms.append((1.0, c) if crossed is None else (float(crossed[0]), self.mul(s, crossed[1])))
            return self.linear(terms)

        a, b, d = ((entry(i, 0), entry(i, 1), entry(i, 2)) for i in range(3))
        return a, b, d

    def turn_of(self, e: Sequence[Any]) -> Matrix:
        """Return the matrix of a unit quaternion, scalar first; all entries are quadratic forms of it."""
        a, b, c, d = e
        aa, bb, cc, dd = (self.mul(item, item) for item in e)
        mul, lin = self.mul, self.linear
        return (
            (
                lin([(1, aa), (1, bb), (-1, cc), (-1, dd)]),
                lin([(2, mul(b, c)), (-2, mul(a, d))]),
                lin([(2, mul(b, d)), (2, mul(a, c))]),
            ),
            (
                lin([(2, mul(b, c)), (2, mul(a, d))]),
                lin([(1, aa), (-1, bb), (1, cc), (-1, dd)]),
                lin([(2, mul(c, d)), (-2, mul(a, b))]),
            ),
            (
                lin([(2, mul(b, d)), (-2, mul(a, c))]),
                lin([(2, mul(c, d)), (2, mul(a, b))]),
                lin([(1, aa), (-1, bb), (-1, cc), (1, dd)]),
            ),
        )

    def spins_of(self, e: Sequence[Any]) -> tuple[Vector, Vector, Vector, Vector]:
        """Return the angular velocity for a unit rate of each component of a unit quaternion: 2 vec(e' e*)."""
        a, b, c, d = ([(2, item)] for item in e)
        minus_b, minus_c, minus_d = ([(-2, item)] for item in e[1:])
        lin = self.linear
        return (
            (lin(minus_b), lin(minus_c), lin(minus_d)),
            (lin(a), lin(d), lin(minus_c)),
            (lin(minus_d), lin(a), lin(b)),
            (lin(c), lin(minus_b), lin(a)),
        )


class Expressions(Algebra):
    """Expressions of SymPy, never multiplied out."""

    def lift(self, expr: Any) -> Any:
        """Return it as it is."""
        return sp.Integer(expr) if isinstance(expr, int) else expr

    def linear(self, terms: Sequence[tuple[float, Any]]) -> Any:
        """Return the sum of coefficient times expression."""
        return sp.Add(*(item if c == 1 else sp.Mul(sp.Integer(int(c)), item, evaluate=True) for c, item in terms))

    def mul(self, a: Any, b: Any) -> Any:
        """Return a product."""
        return a * b

    def sin(self, a: Any) -> Any:
        """Return a sine."""
        return sp.sin(a)

    def cos(self, a: Any) -> Any:
        """Return a cosine."""
        return sp.cos(a)


class Arrays(Algebra):
    """Arrays of floats, from values of the symbols by name."""

    def __init__(self, values: Mapping[Any, Any]) -> None:
        self.values = values

    def lift(self, expr: Any) -> Any:
        """Return the value of an expression."""
        return numbers_of([expr], self.values)[0]

    def linear(self, terms: Sequence[tuple[float, Any]]) -> Any:
        """Return the sum of coefficient times array."""
        return sum(c * item for c, item in terms)

    def mul(self, a: Any, b: Any) -> Any:
        """Return a product."""
        return a * b

    def sin(self, a: Any) -> Any:
        """Return a sine."""
        return np.sin(a)

    def cos(self, a: Any) -> Any:
        """Return a cosine."""
        return np.cos(a)


def transposed(m: Matrix) -> Matrix:
    """Return the transpose."""
    return (m[0][0], m[1][0], m[2][0]), (m[0][1], m[1][1], m[2][1]), (m[0][2], m[1][2], m[2][2])
