"""Seeded random systems: energies, forces, constraints and slips of every kind that can be declared."""

from __future__ import annotations

import random
from typing import Any

import sympy as sp

import zwang as zw

PARAMS = "m k g mu c"


def random_system(seed: int) -> tuple[zw.System, dict[str, float], dict[str, float]]:
    """Return a system with values for its parameters and a state, all from one seed."""
    source = random.Random(seed)
    maker = _Maker(source)
    system = maker.system(f"random{seed}")
    params = {symbol.name: source.uniform(0.4, 1.6) for symbol in system.parameters}
    state = {item.name: source.uniform(-1.2, 1.2) for item in (*system.coordinates, *system.velocities)}
    return system, params, state | {"t": source.uniform(0.1, 0.9)}


class _Maker:
    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.n = source.randint(1, 4)
        names = [f"q{i}" for i in range(self.n)]
        self.angles = [name for name in names if source.random() < 0.4]
        self.q, self.v = zw.coordinates(names, angles=self.angles)
        self.params = zw.parameters(PARAMS)

    def system(self, name: str) -> zw.System:
        constraints = self.constraints()
        forces = {item: self.force() for item in self.q if self.source.random() < 0.5}
        if self.source.random() < 0.15:
            mass = sp.Matrix(self.n, self.n, lambda i, j: 3 + sp.cos(self.q[i]) if i == j else sp.Rational(1, 2))
            force = [self.smooth() - self.params[4] * v for v in self.v]
            return zw.System(
                name=name, mass=mass, force=force, forces=forces, constraints=constraints, coordinates=self.q
            )
        return zw.System(
            name=name,
            kinetic=self.kinetic(),
            potential=self.smooth(),
            forces=forces,
            constraints=constraints,
            coordinates=self.q,
        )

    def atom(self) -> Any:
        """An expression of one coordinate; periodic where it is an angle."""
        item = self.source.choice(self.q)
        shapes = [sp.sin(item), sp.cos(item), sp.sin(2 * item)]
        if item.name not in self.angles:
            shapes += [
                item,
                item**2,
                sp.exp(-(item**2)),
                sp.sqrt(1 + item**2),
                sp.atan(item),
                item / (3 + item**2),
                sp.tanh(item),
            ]
        return self.source.choice(shapes)

    def smooth(self) -> Any:
        """A smooth function of coordinates, parameters and sometimes time."""
        terms = [self.source.choice(self.params) * self.atom() for _ in range(self.source.randint(1, 3))]
        terms.append(self.atom() * self.atom() / 3)
        if self.source.random() < 0.3:
            terms.append(sp.sin(2 * zw.t) * self.atom())
        return sp.Add(*terms)

    def affine(self) -> Any:
        """A function affine in the velocities."""
        parts = [(self.atom() + sp.Rational(1, 2)) * v for v in self.v if self.source.random() < 0.7]
        return sp.Add(
            *parts, (2 + self.atom() / 4) * self.source.choice(self.v), self.atom() if self.source.random() < 0.4 else 0
        )

    def kinetic(self) -> Any:
        squares = [self.params[0] * (2 + self.atom() / 3) * v**2 / 2 for v in self.v]
        squares += [self.affine() ** 2 / 5 for _ in range(self.source.randint(0, 2))]
        if self.source.random() < 0.3:
            squares.append(zw.t * self.atom() * self.source.choice(self.v))
        return sp.Add(*squares)

    def force(self) -> Any:
        choices = [
            -self.params[4] * self.source.choice(self.v),
            self.smooth() * self.source.choice(self.v),
            sp.Max(self.smooth(), 0),
            sp.Abs(self.atom()) * self.params[1],
            sp.Piecewise((self.smooth(), self.atom() > 0), (self.atom(), True)),
            sp.Piecewise((2 * self.v[0], self.v[0] > 0), (self.v[0] / 3, True)),
            sp.Heaviside(self.atom()) * self.params[2],
            sp.atan2(self.atom(), 2 + self.atom()) + sp.Min(self.atom(), self.atom() + sp.Rational(1, 5)),
        ]
        return self.source.choice(choices)

    def constraints(self) -> list[Any]:
        made: list[Any] = []
        for place in range(self.source.randint(0, self.n)):
            expr = self.smooth() + self.q_of_its_own(place) if self.source.random() < 0.6 else self.affine()
            law = zw.Coulomb(self.params[3], slip=self.affine(), scale=2) if self.source.random() < 0.4 else None
            kind = zw.Bilateral if self.source.random() < 0.7 else zw.Unilateral
            made.append(kind(expr, friction=law, name=f"c{place}"))
        if self.source.random() < 0.3:
            pair = (self.affine(), self.affine())
            made.append(zw.Friction(self.params[2] * (2 + self.atom()), slip=pair, name="brake"))
        return made

    def q_of_its_own(self, place: int) -> Any:
        """A term that keeps rows of different constraints apart."""
        item = self.q[place]
        return 2 * (sp.sin(item) if item.name in self.angles else item)
