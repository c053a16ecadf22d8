"""The mass that a constraint feels: 1/(w M^-1 w^T), with w the gradient of its expression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from zwang._declare.symbols import Coordinate, Velocity
from zwang._declare.system import System
from zwang.errors import DeclarationError

LARGEST_BLOCK = 4  # with four the determinant still fits a page


def mobility(system: System, gradient: Mapping[Coordinate, Any], where: str) -> Any:
    """Return w M^-1 w^T as an expression: one over the effective mass, never simplified.

    Coordinates that kinetic energy does not couple contribute one by one; M is inverted by blocks. The inverse of a
    block of more than `LARGEST_BLOCK` coupled coordinates is no formula that one could print, and is refused.
    """
    inertia = _Inertia(system)
    total = sp.Integer(0)
    seen: set[Coordinate] = set()
    for start in gradient:
        if start in seen:
            continue
        block = inertia.coupled(start)
        seen.update(block)
        if len(block) > LARGEST_BLOCK:
            raise DeclarationError(
                f"{where}: kinetic energy couples {len(block)} coordinates of this constraint, so that its effective "
                f"mass has no short formula (at most {LARGEST_BLOCK}). Give damping= instead of ratio=."
            )
        w = sp.Matrix([gradient.get(q, 0) for q in block])
        mass = sp.Matrix(len(block), len(block), lambda i, j, b=block: inertia.entry(b[i], b[j]))
        # Cofactors, not pivots: no division but the last, so no entry has to be told from zero.
        total += (w.T * mass.adjugate(method="berkowitz") * w)[0] / mass.det(method="berkowitz")
    return total


class _Inertia:
    """The mass matrix entry by entry: of a large system only the rows that are asked for."""

    def __init__(self, system: System) -> None:
        self._system = system.written_out
        self._places = {q: i for i, q in enumerate(system.coordinates)}
        self._momenta: dict[Coordinate, Any] = {}

    def entry(self, a: Coordinate, b: Coordinate) -> Any:
        if self._system.mass is not None:
            return self._system.mass[self._places[a], self._places[b]]
        return sp.diff(self._momentum(a), b.velocity)

    def coupled(self, start: Coordinate) -> tuple[Coordinate, ...]:
        """Return the coordinates whose inertia is coupled with that of `start`, itself included, in order."""
        found, waiting = {start}, [start]
        while waiting:
            for other in self._neighbours(waiting.pop()) - found:
                found.add(other)
                waiting.append(other)
        return tuple(sorted(found, key=self._places.__getitem__))

    def _neighbours(self, q: Coordinate) -> set[Coordinate]:
        if self._system.mass is not None:
            return {other for other in self._places if self.entry(q, other) != 0}
        return {v.coordinate for v in self._momentum(q).free_symbols if isinstance(v, Velocity)}

    def _momentum(self, q: Coordinate) -> Any:
        if q not in self._momenta:
            self._momenta[q] = sp.diff(self._system.kinetic, q.velocity)
        return self._momenta[q]
