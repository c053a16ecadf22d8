"""Vectors of a planar mechanism: a part that moves by itself, and arms that turn with absolute angles.

An arm (a, b) on the angle theta is a (cos theta, sin theta) + b (-sin theta, cos theta). Sums, multiples and quarter
turns of such vectors are such vectors again, and the product of two velocities has constant coefficients:
w_k w_l (C cos(theta_k - theta_l) + S sin(theta_k - theta_l)). So the kinetic energy of a chain of n bars has n^2 terms,
however many points it carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import sympy as sp

from zwang._declare.symbols import Coordinate
from zwang._linkage.parts import Place

Arms: TypeAlias = Mapping[Coordinate, Place]
NONE: Arms = {}


@dataclass(frozen=True)
class Vector:
    """A vector with its time derivative: `base` moves with `speed`, `arms` turn with their angles."""

    base: Place
    speed: Place
    arms: Arms = field(default_factory=lambda: NONE)

    @cached_property
    def position(self) -> Place:
        """The vector itself as two expressions."""
        x, y = [self.base[0]], [self.base[1]]
        for angle, (a, b) in self.arms.items():
            c, s = sp.cos(angle), sp.sin(angle)
            x += [a * c, -b * s]
            y += [a * s, b * c]
        return sp.Add(*x), sp.Add(*y)

    @cached_property
    def velocity(self) -> Place:
        """Its time derivative as two expressions."""
        u, v = [self.speed[0]], [self.speed[1]]
        for angle, (a, b) in self.arms.items():
            c, s, w = sp.cos(angle), sp.sin(angle), angle.velocity
            u += [-a * w * s, -b * w * c]
            v += [a * w * c, -b * w * s]
        return sp.Add(*u), sp.Add(*v)

    def plus(self, other: Vector, along: Any = 1, across: Any = 0) -> Vector:
        """Return this vector plus `along` times the other and `across` times the other turned by a quarter."""
        arms = dict(self.arms)
        for angle, arm in other.arms.items():
            arms[angle] = _add(arms.get(angle, (sp.Integer(0), sp.Integer(0))), arm, along, across)
        return Vector(_add(self.base, other.base, along, across), _add(self.speed, other.speed, along, across), arms)

    def minus(self, other: Vector) -> Vector:
        """Return this vector minus the other."""
        return self.plus(other, -1)


def _add(first: Place, second: Place, along: Any, across: Any) -> Place:
    (x, y), (p, q) = first, second
    return x + along * p - across * q, y + along * q + across * p


def quadratic(forms: Iterable[tuple[Any, Vector, Vector]]) -> Any:
    """Return the sum of factor * (first velocity . second velocity), as one flat sum of terms collected by angles."""
    terms: list[Any] = []
    pairs: dict[tuple[Coordinate, Coordinate], tuple[list[Any], list[Any]]] = {}
    for factor, first, second in forms:
        terms.extend(factor * u * v for u, v in zip(first.speed, second.speed, strict=True))
        if first.arms or second.arms:
            terms.extend(_mixed(factor, first, second))
            terms.extend(_mixed(factor, second, first))
        for k, (a, b) in first.arms.items():
            for l, (c, d) in second.arms.items():
                ordered = (k, l) if k.place <= l.place else (l, k)
                cosines, sines = pairs.setdefault(ordered, ([], []))
                cosines.append(factor * (a * c + b * d))
                # sin(theta_k - theta_l) changes its sign with the order.
                sines.append(factor * (a * d - b * c) if ordered == (k, l) else factor * (b * c - a * d))
    for (k, l), (cosines, sines) in pairs.items():
        C, S = sp.Add(*cosines), sp.Add(*sines)
        speeds = k.velocity * l.velocity
        terms.append(C * speeds if k == l else C * speeds * sp.cos(k - l))
        if k != l and S != 0:
            terms.append(S * speeds * sp.sin(k - l))
    return sp.Add(*terms)


def _mixed(factor: Any, moving: Vector, turning: Vector) -> Iterable[Any]:
    """Yield the products of the velocity of a base and those of arms."""
    u, v = moving.speed
    if u == 0 and v == 0:
        return
    for angle, (a, b) in turning.arms.items():
        c, s = sp.cos(angle), sp.sin(angle)
        yield factor * angle.velocity * (v * (a * c - b * s) - u * (a * s + b * c))


def moment(weights: Iterable[tuple[Any, Vector]]) -> Vector:
    """Return the sum of factor * vector, its arms collected by angles."""
    bases: tuple[list[Any], list[Any]] = ([], [])
    arms: dict[Coordinate, tuple[list[Any], list[Any]]] = {}
    for factor, vector in weights:
        for total, part in zip(bases, vector.base, strict=True):
            total.append(factor * part)
        for angle, arm in vector.arms.items():
            for total, part in zip(arms.setdefault(angle, ([], [])), arm, strict=True):
                total.append(factor * part)
    zero = (sp.Integer(0), sp.Integer(0))
    collected = {angle: (sp.Add(*a), sp.Add(*b)) for angle, (a, b) in arms.items()}
    return Vector((sp.Add(*bases[0]), sp.Add(*bases[1])), zero, collected)
