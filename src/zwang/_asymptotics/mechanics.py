"""The equations of motion on a curve of positions, over numbers and over series: multipliers, friction, tangents.

M a = Q + J^T lam + sum_f S_f^T T_f and J a = gamma, for a velocity along the curve. Sliding friction has a known
direction: T_f = -bound_f |lam_f| d_f with d_f = slip_f/|slip_f|, so for each pattern of signs of the lam_f the
equations are linear. A solution counts if the signs come out as they were assumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from flint import arb

from zwang._asymptotics.point import ExactSystem, Number
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.friction_forms import law_rows
from zwang._graph.evaluate import GraphEvaluation
from zwang._graph.graph import Node
from zwang._numerics.contact.law import LawRows
from zwang._numerics.series.balls import BALLS
from zwang._numerics.series.field import determinant, dot, null_vector, solve, times
from zwang._numerics.series.power import Series
from zwang.errors import DeclarationError

RESTING = 1e-40
"""A slip below this is rounding: half of the digits."""


@dataclass(frozen=True)
class SlidingLaw:
    """A friction law that acts: its name, the row of its normal (None: a bound known in advance), its slip rows.

    `place` is the number of the law, `rows` where its numbers stand among the bounds.
    """

    name: str
    normal: int | None
    slips: tuple[int, ...]
    place: int
    scaled: bool
    rows: LawRows

    def size(self, terms: CurveTerms, direction: Sequence[Any]) -> Any:
        """Return the friction force against a direction of slip, for a unit of normal force."""
        sign = sign_of(direction[0]) if len(direction) == 1 else 0
        return terms.bounds[self.rows.against(sign)]


@dataclass(frozen=True)
class CurveTerms:
    """Everything at one state, numbers or series."""

    mass: list[list[Any]]
    force: list[Any]
    rows: list[list[Any]]
    gamma: list[Any]
    slips: list[Any]
    slip_rows: list[list[Any]]
    bounds: list[Any]
    scales: list[Any]


class Mechanics:
    """A system as it moves on the curve that its position-level bilateral constraints leave.

    Parameters
    ----------
    exact : ExactSystem
    held : sequence of str
        Names of the constraints whose rows are used: independent ones, next to the point.
    speed : ball
    speed_of : expression or 'kinetic', optional
        Whose rate has that size; 'kinetic': sqrt(v M v) has it; by default the Euclidean norm of v.
    """

    def __init__(self, exact: ExactSystem, held: Sequence[str], speed: Number, speed_of: Any = None) -> None:
        self.exact, self.names, self.speed = exact, tuple(held), speed
        system, program = exact.system, exact.program
        graph, n = program.graph, len(program.q)
        self.laws = _laws(system, self.names)
        normals = [exact.acting[name] for name in held]
        mass = [program.mass.get((max(i, j), min(i, j)), graph.zero) for i in range(n) for j in range(n)]
        rows = [row.entries.get(j, graph.zero) for row in normals for j in range(n)]
        slip_rows = [row.entries.get(j, graph.zero) for row in program.slips for j in range(n)]
        scales = [exact.convert(_scale(item)) for item in system.constraints if item.slip]
        parts = [mass, program.force, rows, [row.bias for row in normals], [row.value for row in program.slips],
                 slip_rows, program.bounds, scales]  # fmt: skip
        self._sizes = [len(part) for part in parts]
        self._terms = exact.evaluation([node for part in parts for node in part])
        self._rows, self._mass = exact.evaluation(rows), exact.evaluation(mass)
        self._kinetic = isinstance(speed_of, str)
        self._speed_rows = None
        if speed_of is not None and not self._kinetic:
            self._speed_rows = exact.evaluation(graph.gradient(exact.convert(speed_of), program.q))

    def formula(self, node: Node, values: Mapping[Node, Number] | None = None) -> GraphEvaluation:
        """Return a node as a function of positions, with the values of further inputs."""
        return self.exact.evaluation([node], values)

    def value(self, formula: GraphEvaluation, q: Sequence[Any]) -> Any:
        """Return a formula at a position."""
        return formula(self.exact.at(q))[0]

    def rows(self, q: Sequence[Any]) -> list[list[Any]]:
        """Return J."""
        return _folded(self._rows(self.exact.at(q)), len(q))

    def velocity(self, q: Sequence[Any], along: Sequence[Any], reference: Sequence[Number] | None = None) -> list[Any]:
        """Return the velocity of the given speed along a direction, turned to the side of a reference."""
        if self._speed_rows is not None:
            size = abs(dot(self._speed_rows(self.exact.at(q)), along))
        else:
            mass = _folded(self._mass(self.exact.at(q)), len(q)) if self._kinetic else None
            size = root(dot(along, along if mass is None else times(mass, along)))
        sign = 1
        if reference is not None:
            sign = sign_of(dot(along, reference)) or 1
        factor = (self.speed * sign) / size
        return [item * factor for item in along]

    def tangent(self, q: Sequence[Any]) -> list[Any]:
        """Return a direction that all rows annihilate."""
        return null_vector(self.rows(q), BALLS)

    def terms(self, q: Sequence[Any], v: Sequence[Any]) -> CurveTerms:
        """Return everything at a state."""
        flat, n = self._terms(self.exact.at(q, v)), len(q)
        parts, place = [], 0
        for size in self._sizes:
            parts.append(flat[place : place + size])
            place += size
        mass, force, rows, gamma, slips, slip_rows, bounds, scales = parts
        return CurveTerms(
            _folded(mass, n), force, _folded(rows, n), gamma, slips, _folded(slip_rows, n), bounds, scales
        )


def _folded(flat: list[Any], n: int) -> list[list[Any]]:
    return [flat[k : k + n] for k in range(0, len(flat), n)]


def root(value: Any) -> Any:
    """Return the square root of a number or a series."""
    return value.apply("sqrt") if isinstance(value, Series) else value.sqrt()


def sign_of(value: Any) -> int:
    """Return the sign of a number, or that of a series next to the point."""
    return value.sign() if isinstance(value, Series) else BALLS.sign(value)


def _scale(item: Any) -> Any:
    """Return the length of the physical gradient of a constraint with friction."""
    return sp.Integer(1) if isinstance(item, Friction) else getattr(item.friction, "scale", sp.Integer(1))


def _laws(system: Any, held: Sequence[str]) -> list[SlidingLaw]:
    """Return the friction laws of the constraints that are held, and those without a normal."""
    found: list[SlidingLaw] = []
    numbers = law_rows(system)
    slip = place = 0
    for item in system.constraints:
        if item.slip:
            slips = tuple(range(slip, slip + len(item.slip)))
            slip += len(item.slip)
            name = str(item.name)
            if isinstance(item, Friction) and item.of:
                raise DeclarationError(
                    f"{system.name}: the friction '{item.name}' goes with the force of {', '.join(item.of)}, and "
                    "asymptotics knows friction of a constraint's own and given bounds. Leave it out of constraints=."
                )
            if isinstance(item, Friction):
                found.append(SlidingLaw(name, None, slips, place, False, numbers[place]))
            elif isinstance(item, Bilateral) and name in held:
                scaled = _scale(item) != 1
                found.append(SlidingLaw(name, list(held).index(name), slips, place, scaled, numbers[place]))
            place += 1
    return found


@dataclass(frozen=True)
class SlidingForces:
    """Multipliers and friction forces for one pattern of signs."""

    lam: list[Any]
    friction: dict[str, Any]


def directions(terms: CurveTerms, laws: Sequence[SlidingLaw], rest: Mapping[str, int]) -> list[list[Any]] | None:
    """Return slip/|slip| of every law; for laws named in `rest`, whose slip vanishes, the sign given there.

    None where another slip vanishes: at rest friction has no direction.
    """
    found = []
    for law in laws:
        slips = [terms.slips[k] for k in law.slips]
        if law.name in rest:
            found.append([arb(rest[law.name])])
        elif all(vanishes(item) for item in slips):
            return None
        elif len(slips) == 1:
            found.append([arb(sign_of(slips[0]))])
        else:
            size = root(dot(slips, slips))
            found.append([item / size for item in slips])
    return found


def vanishes(value: Any) -> bool:
    """Return whether a slip is zero: to all known orders, or but for rounding."""
    return not value.size if isinstance(value, Series) else bool(abs(value).mid() <= RESTING)


def matrix_of(
    terms: CurveTerms, laws: Sequence[SlidingLaw], signs: Sequence[int], along: Sequence[Sequence[Any]]
) -> Any:
    """Return the matrix and the right-hand side of the equations for (a, lam)."""
    n, m = len(terms.mass), len(terms.rows)
    columns = [list(row) for row in terms.rows]
    force = list(terms.force)
    given = list(signs)
    for law, direction in zip(laws, along, strict=True):
        push = _push(terms, law, direction)
        if law.normal is None:
            force = [a + b for a, b in zip(force, push, strict=True)]
        else:
            sign = given.pop(0)
            columns[law.normal] = [a + b * sign for a, b in zip(columns[law.normal], push, strict=True)]
    matrix = [[*terms.mass[i], *(-columns[k][i] for k in range(m))] for i in range(n)]
    matrix += [[*row, *[arb(0)] * m] for row in terms.rows]
    return matrix, [*force, *terms.gamma]


def _push(terms: CurveTerms, law: SlidingLaw, direction: Sequence[Any]) -> list[Any]:
    """Return the generalized friction force for a unit of normal force."""
    amounts = [part * law.size(terms, direction) for part in direction]
    rows = [terms.slip_rows[k] for k in law.slips]
    return [-dot(column, amounts) for column in zip(*rows, strict=True)]


def forces(
    terms: CurveTerms, laws: Sequence[SlidingLaw], signs: Sequence[int], along: Sequence[Sequence[Any]]
) -> SlidingForces:
    """Return the solution for one pattern of signs; no laws: without friction."""
    matrix, right = matrix_of(terms, laws, signs, along)
    lam = solve(matrix, [right], BALLS)[0][len(terms.mass) :]
    friction: dict[str, Any] = {}
    given = list(signs)
    for law, direction in zip(laws, along, strict=True):
        size: Any = arb(1) if law.normal is None else lam[law.normal] * given.pop(0)
        amount = size * law.size(terms, direction)
        if law.rows.axes:  # directions are those of slips times the axes
            parts = [part * terms.bounds[row] for part, row in zip(direction, law.rows.axes, strict=True)]
            amount = amount * root(dot(parts, parts))
        friction[law.name] = -(amount * direction[0]) if len(direction) == 1 else amount
    return SlidingForces(lam, friction)


def stiffening(
    terms: CurveTerms, laws: Sequence[SlidingLaw], signs: Sequence[int], along: Sequence[Sequence[Any]]
) -> Any:
    """Return the determinant for one pattern over that without friction: 1 +- b/a for one guide."""
    rough = determinant(matrix_of(terms, laws, signs, along)[0], BALLS)
    return rough / determinant(matrix_of(terms, [], [], [])[0], BALLS)
