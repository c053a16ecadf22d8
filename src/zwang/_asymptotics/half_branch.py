"""Half-branches of a curve through a singular point: series that Newton's method carries to any order.

A half-branch is q(tau) = point + (a series in tau > 0), with x = +-length * tau^ramification along one direction; the
other coordinates are the unknowns of n - 1 equations whose rows lose rank at the point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from zwang._asymptotics.elimination import Undecided, dot, solve
from zwang._asymptotics.geometry import Equations
from zwang._asymptotics.laurent import Laurent
from zwang._asymptotics.precision import ROUNDING, Number, largest, mp

NEWTON = 60
TERMS = (8, 14, 24, 40)
"""Numbers of terms of series, in turn, until everything asked is known."""
STEP = 8
"""Terms by which a series is carried on at once."""


class NoCurve(ArithmeticError):
    """The curve can't be told near the point: too many directions, or branches that stay together."""


@dataclass(frozen=True)
class Frame:
    """Coordinates near a point: q = point + length (x along + y aside) + z across, and combinations of equations."""

    point: list[Number]
    along: list[Number]
    aside: list[Number]
    across: list[list[Number]]
    left: list[list[Number]]
    length: Number
    offset: list[Number]

    def place(self, x: Any, y: Any, z: Sequence[Any]) -> list[Any]:
        """Return q of x, y, z."""
        found = []
        for j, start in enumerate(self.point):
            total = x * (self.along[j] * self.length) + start
            if y is not None:
                total = total + y * (self.aside[j] * self.length)
            for amount, direction in zip(z, self.across, strict=True):
                total = total + amount * direction[j]
            found.append(total)
        return found


@dataclass(frozen=True)
class HalfBranch:
    """One half-branch of a curve.

    Attributes
    ----------
    equations : Equations
        n - 1 of them.
    frame : Frame
    side : int
        Sign of x along it.
    ramification : int
        x grows like tau to this power.
    y, z : series in tau
        To a certain order; `series` carries them further.
    """

    equations: Equations
    frame: Frame
    side: int
    ramification: int
    y: Laurent | None
    z: list[Laurent]
    noise: Number
    _kept: dict[int, list[Laurent]] = field(default_factory=dict, compare=False, repr=False)

    def series(self, terms: int) -> list[Laurent]:
        """Return q(tau) up to the power tau^terms."""
        if terms not in self._kept:
            self._kept[terms] = self._series(terms)
        return self._kept[terms]

    def _series(self, terms: int) -> list[Laurent]:
        """Carry the series on a few terms at a time.

        Newton's method over all of them at once would go through coefficients that are wrong by many orders of
        magnitude, and the error bounds of what it divides by would not survive that.
        """
        unknowns = [*([] if self.y is None else [self.y]), *self.z]
        size = min(terms, max(min((item.end for item in unknowns), default=terms) + STEP, TERMS[0]))
        while True:
            x, trial, matrix = self._settled(unknowns, size)
            if size >= terms:
                return self._place(x, self._certain(trial, matrix, size))
            unknowns = self._certain(trial, matrix, size)
            size = min(terms, size + STEP)

    def _settled(self, unknowns: Sequence[Laurent], terms: int) -> tuple[Laurent, list[Laurent], Any]:
        """Return x, the unknowns and the slopes along them, with the equations solved up to the power tau^terms."""
        head = [mp.mpf(self.side), *[mp.mpf(0)] * (terms - self.ramification - 1)]
        x = Laurent(self.ramification, head, self.noise)
        # Polynomials from here on: what is not known yet is zero until it is found.
        trial = [_padded(item, terms, self.noise) for item in unknowns]
        for _ in range(NEWTON):
            q = self._place(x, trial)
            miss = self._combined(q)
            matrix = self._slopes(q)
            if all(item.is_zero for item in miss):
                return x, trial, matrix
            step = solve(matrix, [miss])[0]
            if all(item.is_zero for item in step):
                return x, trial, matrix
            trial = [_padded(a - b, terms, self.noise) for a, b in zip(trial, step, strict=True)]
        raise Undecided("Newton's method over series does not settle")

    def rescaled(self) -> HalfBranch:
        """Return the same half-branch in a unit of tau in which the series that are divided by do not grow.

        Error bounds of a quotient grow with the sum of its coefficients, once more for each division.
        """
        unknowns = [*([] if self.y is None else [self.y]), *self.z]
        matrix = self._settled(unknowns, max(TERMS[0], min(item.end for item in unknowns)))[2]
        growth = mp.mpf(1)
        for item in (item for row in matrix for item in row if not item.is_zero):
            for k, coefficient in enumerate(item.coefficients[1:], start=1):
                growth = max(growth, abs(coefficient / item.leading) ** (mp.mpf(1) / k))
        rho, e = 1 / (2 * growth), self.ramification
        frame = replace(self.frame, length=self.frame.length * rho**e)
        y = None if self.y is None else self.y.stretched(rho) * (1 / rho**e)
        return HalfBranch(self.equations, frame, self.side, e, y, [z.stretched(rho) for z in self.z], self.noise)

    def nearest(self, digits: int) -> Number:
        """Return the least tau at which the rows along the half-branch are known to some digits.

        With rows that vanish like tau^k, a point is known to rounding over tau^k, and tau^k must be larger than that.
        """
        unknowns = [*([] if self.y is None else [self.y]), *self.z]
        _, trial, matrix = self._settled(unknowns, max(TERMS[0], min(item.end for item in unknowns) + STEP))
        lost = self._lost(trial, matrix)[0]
        return mp.mpf(10) ** (-mp.mpf(mp.dps - digits) / (2 * lost)) if lost else mp.mpf(0)

    def shortest(self) -> list[Laurent]:
        """Return the shortest series from which Newton's method finds this half-branch and no other.

        Dividing by the rows loses as many orders as their smallest singular value has, which bounds how near other
        branches come: the terms that are left must be more.
        """
        for terms in TERMS:
            q = self.series(terms)
            if 2 * min(item.end for item in q) > terms + self.ramification:
                return q
        raise Undecided("its branches stay together")

    def _place(self, x: Any, unknowns: Sequence[Any]) -> list[Any]:
        if self.y is None:
            return self.frame.place(x, None, unknowns)
        return self.frame.place(x, unknowns[0], unknowns[1:])

    def _combined(self, q: Sequence[Any]) -> list[Any]:
        value = [a - b for a, b in zip(self.equations.value(q), self.frame.offset, strict=True)]
        return [_as_series(dot(u, value), q) for u in self.frame.left]

    def _slopes(self, q: Sequence[Any]) -> list[list[Any]]:
        rows = self.equations.jacobian(q)
        mixed = [[dot(u, column) for column in zip(*rows, strict=True)] for u in self.frame.left]
        directions = [
            *([] if self.y is None else [[self.frame.length * a for a in self.frame.aside]]),
            *self.frame.across,
        ]
        return [[_as_series(dot(row, direction), q) for direction in directions] for row in mixed]

    def _certain(self, trial: list[Laurent], matrix: Any, terms: int) -> list[Laurent]:
        """Return the unknowns with the terms dropped that an error of order tau^terms in the equations leaves open."""
        lost, noise = self._lost(trial, matrix)
        return [Laurent(item.start, item.coefficients, max(item.noise, noise)).cut(terms - lost) for item in trial]

    def _lost(self, trial: list[Laurent], matrix: Any) -> tuple[int, Number]:
        """Return how many orders dividing by the rows loses, and the errors of coefficients that it leaves."""
        units = [[mp.mpf(int(i == k)) for i in range(len(trial))] for k in range(len(trial))]
        inverse = solve(matrix, units)
        lost = max(max(0, -item.start) for side in inverse for item in side)
        return lost, self.noise + ROUNDING * sum(largest(item.coefficients) for side in inverse for item in side)

    def at(self, tau: Number) -> list[Number]:
        """Return the point of the half-branch at tau, to all digits: the series, then Newton's method."""
        q = [item.at(tau) for item in self.shortest()]
        x = list(self.frame.along)
        goal = dot(x, self.frame.point) + self.side * self.frame.length * mp.mpf(tau) ** self.ramification
        last = mp.inf
        for _ in range(NEWTON):
            value = [a - b for a, b in zip(self.equations.value(q), self.frame.offset, strict=True)]
            miss = [*value, dot(x, q) - goal]
            step = solve([*self.equations.jacobian(q), x], [miss])[0]
            q = [a - b for a, b in zip(q, step, strict=True)]
            length = largest(step)
            if length <= ROUNDING * 1e3 * (1 + largest(q)) or length >= last < 1e-30:
                break
            last = length
        return q


def _padded(item: Laurent, terms: int, noise: Number) -> Laurent:
    """Return a series as a polynomial known up to tau^terms."""
    cut = item.cut(terms)
    if cut.is_zero:
        return Laurent(0, [mp.mpf(0)] * terms, noise)
    return Laurent(cut.start, [*cut.coefficients, *[mp.mpf(0)] * (terms - cut.end)], noise)


def _as_series(value: Any, q: Sequence[Any]) -> Laurent:
    """Return a value as a series: an expression that does not depend on q is a number."""
    if isinstance(value, Laurent):
        return value
    end = min(item.end for item in q if isinstance(item, Laurent))
    return Laurent(0, [mp.mpf(value), *[mp.mpf(0)] * (end - 1)])
