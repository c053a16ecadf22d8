"""What `Bodies` accepts: vectors, turns, axes, inertias; numbers are checked where they are numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp

from zwang import _expressions
from zwang._declare.given import components
from zwang._declare.symbols import parameter
from zwang._declare.symbols import t as time
from zwang._declare.vectors import Expressions, Matrix, Vector
from zwang._linkage.values import value as plain_value
from zwang.errors import DeclarationError

UNIT = 1e-9
"""By how much a given matrix or quaternion may miss being a turn: it was typed in, or computed in doubles."""
INERTIA = 1e-9
"""Part of the largest moment by which a least one may miss the triangle inequality, or two entries being the same."""


class Values:
    """Turns what was given into expressions of parameters; `table` has symbols that are known already."""

    def __init__(self, table: Mapping[str, Any] | None = None) -> None:
        self.table: dict[str, Any] = dict(table or {})

    def _parameter(self, name: str) -> Any:
        return self.table.setdefault(name, parameter(name))

    def __call__(self, given: Any, where: str, *, above: float | None = None, least: float | None = None) -> Any:
        """Return a number, a symbol, an expression of parameters or the text of one as an expression."""
        if isinstance(given, str):
            known = {"t": time, **self.table}
            given = _expressions.parse(given, known, where=where, parameters=self._parameter)
        elif isinstance(given, np.generic):
            given = given.item()
        return plain_value(given, where, above=above, least=least)

    def vector(self, given: Any, where: str) -> Vector:
        """Return three expressions."""
        items = _listed(given, where, "three components, such as (0, 0, 1)")
        if len(items) != 3:
            raise DeclarationError(f"{where}: three components are needed; {len(items)} were given.")
        x, y, z = (self(item, where) for item in items)
        return x, y, z

    def axis(self, given: Any, where: str) -> Vector:
        """Return a vector of unit length along what was given."""
        x, y, z = self.vector(given, where)
        square = x**2 + y**2 + z**2
        if square.is_number:
            if square == 0:
                raise DeclarationError(f"{where}: the axis has length zero. Give a direction, such as (0, 0, 1).")
        else:
            square = sp.trigsimp(square)
            if square == 0:
                raise DeclarationError(f"{where}: the axis has length zero. Give a direction, such as (0, 0, 1).")
        length = sp.sqrt(square)
        return (x, y, z) if length == 1 else (x / length, y / length, z / length)

    def turn(self, given: Any, where: str) -> Matrix:
        """Return the matrix of a turn: a unit quaternion, a 3 x 3 matrix, (axis, angle), or None."""
        one, zero = sp.Integer(1), sp.Integer(0)
        if given is None:
            return (one, zero, zero), (zero, one, zero), (zero, zero, one)
        items = _listed(given, where, "a unit quaternion, a 3 x 3 matrix or (axis, angle)")
        a = Expressions()
        if len(items) == 2:
            return a.turn(self.axis(items[0], f"{where}: axis"), self(items[1], f"{where}: angle"))
        if len(items) == 4 and not any(hasattr(item, "__len__") and not isinstance(item, str) for item in items):
            return a.turn_of(self._quaternion(items, where))
        if len(items) == 3:
            rows = [_listed(row, where, "a 3 x 3 matrix") for row in items]
            if all(len(row) == 3 for row in rows):
                x, y, z = (self.vector(row, where) for row in rows)
                return self._proper((x, y, z), where)
        raise DeclarationError(
            f"{where}: a unit quaternion (scalar first), a 3 x 3 matrix or (axis, angle) is needed; it was given "
            f"{given!r:.80}."
        )

    def _quaternion(self, items: Sequence[Any], where: str) -> list[Any]:
        e = [self(item, where) for item in items]
        square = sp.Add(*(item**2 for item in e))
        if square.is_number and abs(float(square) - 1) > UNIT:
            raise DeclarationError(
                f"{where}: the quaternion has length {float(sp.sqrt(square)):.6g}, and a turn needs length 1. Divide "
                "it by its length."
            )
        exact = square == 1 or not square.is_number
        return e if exact else [item / sp.sqrt(square) for item in e]

    @staticmethod
    def _proper(matrix: Matrix, where: str) -> Matrix:
        if all(item.is_number for row in matrix for item in row):
            numbers = np.array([[float(item) for item in row] for row in matrix])
            miss = float(np.abs(numbers @ numbers.T - np.eye(3)).max())
            if miss > UNIT or np.linalg.det(numbers) < 0:
                told = f"its rows miss being orthonormal by {miss:.1e}" if miss > UNIT else "it mirrors"
                raise DeclarationError(f"{where}: the matrix is no turn: {told}. Give a rotation matrix.")
        return matrix

    def inertia(self, given: Any, where: str) -> tuple[Any, ...]:
        """Return Ixx, Iyy, Izz, Ixy, Ixz, Iyz of 3 principal moments, 6 entries or a 3 x 3 matrix."""
        items = _listed(given, where, "3 principal moments, 6 entries or a 3 x 3 matrix")
        if len(items) == 3 and all(hasattr(row, "__len__") and not isinstance(row, str) for row in items):
            rows = [[self(item, where) for item in row] for row in items]
            if any(len(row) != 3 for row in rows):
                raise DeclarationError(f"{where}: a matrix of 3 x 3 is needed.")
            for i, j in ((0, 1), (0, 2), (1, 2)):
                if not _same(rows[i][j], rows[j][i], rows):
                    raise DeclarationError(
                        f"{where}: the matrix is not symmetric: entries ({i}, {j}) and ({j}, {i}) are {rows[i][j]} and "
                        f"{rows[j][i]}."
                    )
            found = (rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2])
        elif len(items) == 3:
            found = (*(self(item, where) for item in items), *([sp.Integer(0)] * 3))
        elif len(items) == 6:
            found = tuple(self(item, where) for item in items)
        else:
            raise DeclarationError(
                f"{where}: 3 principal moments, 6 entries (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) or a 3 x 3 matrix are needed; "
                f"{len(items)} items were given."
            )
        _require_inertia(found, where)
        return found


def _same(first: Any, second: Any, rows: Sequence[Sequence[Any]]) -> bool:
    """Return whether two entries of an inertia are one: of numbers turned in doubles, but for rounding."""
    difference = sp.simplify(first - second)
    moments = [rows[i][i] for i in range(3)]
    if difference == 0 or not difference.is_number or not all(item.is_number for item in moments):
        return bool(difference == 0)
    return bool(abs(float(difference)) <= INERTIA * max(abs(float(item)) for item in moments))


def _require_inertia(entries: tuple[Any, ...], where: str) -> None:
    """Refuse numbers that are the inertia of no body."""
    if not all(item.is_number for item in entries):
        return
    xx, yy, zz, xy, xz, yz = (float(item) for item in entries)
    moments = np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    told = ", ".join(f"{item:.4g}" for item in moments)
    if moments[0] < -INERTIA * abs(moments).max(initial=0.0):
        raise DeclarationError(f"{where}: the principal moments are {told}: a moment of inertia is never negative.")
    if moments[0] + moments[1] < moments[2] * (1 - INERTIA):
        raise DeclarationError(
            f"{where}: the principal moments are {told}: no body has one that exceeds the sum of the other two. Check "
            "units and signs (Ixy = -sum m x y)."
        )


def _listed(given: Any, where: str, needed: str) -> list[Any]:
    found = components(given)
    if found is None:
        raise DeclarationError(f"{where}: {needed}: that is needed; it was given {given!r:.80}.")
    return found
