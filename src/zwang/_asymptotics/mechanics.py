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

from zwang._asymptotics.elimination import determinant, dot, null_vector, solve, times
from zwang._asymptotics.formulas import Formulas, sign_of
from zwang._asymptotics.laurent import Laurent
from zwang._asymptotics.precision import Number, mp
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._derive.equations import Equations as Derived


@dataclass(frozen=True)
class Law:
    """A friction law that acts: its name, the row of its normal (None: a bound known in advance), its slip rows."""

    name: str
    normal: int | None
    slips: tuple[int, ...]
    place: int
    scaled: bool


@dataclass(frozen=True)
class Terms:
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
    system : System
    values : mapping symbol -> mpf
        Of the parameters, and of time.
    held : sequence of str
        Names of the constraints whose rows are used: independent ones, next to the point.
    speed : mpf
    speed_of : expression or 'kinetic', optional
        Whose rate has that size; 'kinetic': sqrt(v M v) has it; by default the Euclidean norm of v.
    """

    def __init__(
        self,
        system: System,
        values: Mapping[Any, Number],
        held: Sequence[str],
        speed: Number,
        speed_of: Any = None,
    ) -> None:
        self.system, self.values, self.names = system, dict(values), tuple(held)
        self.speed = speed
        derived = Derived(system)
        normals = [item for item in system.constraints if not isinstance(item, Friction)]
        self.places = [next(k for k, item in enumerate(normals) if item.name == name) for name in held]
        self.laws = _laws(system, self.names)
        n = len(system.coordinates)
        self._rows = self.formulas([derived.rows[k, j] for k in self.places for j in range(n)])
        self._mass = self.formulas([derived.mass[i, j] for i in range(n) for j in range(n)])
        self._moving = self.formulas([*derived.force, *(derived.gamma[k] for k in self.places), *derived.slips])
        slips = len(derived.slips)
        rough = [item for item in system.constraints if item.slip]
        scales = [_scale(item) for item in rough]
        self._friction = self.formulas(
            [*(derived.slip_rows[k, j] for k in range(slips) for j in range(n)), *derived.bounds, *scales]
        )
        self._counts = (n, slips, len(derived.bounds), len(scales))
        self._kinetic = isinstance(speed_of, str)
        self._speed_rows = None
        if speed_of is not None and not self._kinetic:
            self._speed_rows = self.formulas([sp.diff(speed_of, q) for q in system.coordinates])

    def _at(self, q: Sequence[Any], v: Sequence[Any] = ()) -> dict[Any, Any]:
        found = dict(zip(self.system.coordinates, q, strict=True))
        if v:
            found |= dict(zip(self.system.velocities, v, strict=True))
        return found

    def formulas(self, expressions: Sequence[Any], values: Mapping[Any, Number] | None = None) -> Formulas:
        """Return expressions with the values of the parameters, and of further symbols, put in."""
        return Formulas(expressions).bound({time: mp.mpf(0), **self.values, **(values or {})})

    def value(self, formulas: Formulas, q: Sequence[Any]) -> Any:
        """Return the first of some formulas at a position."""
        return formulas(self._at(q))[0]

    def rows(self, q: Sequence[Any]) -> list[list[Any]]:
        """Return J."""
        n = self._counts[0]
        flat = self._rows(self._at(q))
        return [flat[k * n : (k + 1) * n] for k in range(len(self.places))]

    def mass(self, q: Sequence[Any]) -> list[list[Any]]:
        """Return M."""
        n = self._counts[0]
        flat = self._mass(self._at(q))
        return [flat[k * n : (k + 1) * n] for k in range(n)]

    def velocity(self, q: Sequence[Any], along: Sequence[Any], reference: Sequence[Number] | None = None) -> list[Any]:
        """Return the velocity of the given speed along a direction, turned to the side of a reference."""
        if self._speed_rows is not None:
            size = abs(dot(self._speed_rows(self._at(q)), along))
        else:
            square = dot(along, times(self.mass(q), along) if self._kinetic else along)
            size = square ** mp.mpf("0.5") if isinstance(square, Laurent) else mp.sqrt(square)
        sign = 1
        if reference is not None:
            sign = sign_of(dot(along, reference)) or 1
        return [item * (sign * self.speed) / size for item in along]

    def tangent(self, q: Sequence[Any]) -> list[Any]:
        """Return a direction that all rows annihilate."""
        return null_vector(self.rows(q))

    def terms(self, q: Sequence[Any], v: Sequence[Any]) -> Terms:
        """Return everything at a state."""
        n, slips, bounds, scales = self._counts
        values = self._at(q, v)
        moving, rough = self._moving(values), self._friction(values)
        m = len(self.places)
        start = slips * n
        return Terms(
            self.mass(q),
            moving[:n],
            self.rows(q),
            moving[n : n + m],
            moving[n + m :],
            [rough[k * n : (k + 1) * n] for k in range(slips)],
            rough[start : start + bounds],
            rough[start + bounds : start + bounds + scales],
        )


def _scale(item: Any) -> Any:
    """Return the length of the physical gradient of a constraint with friction."""
    return sp.Integer(1) if isinstance(item, Friction) else item.friction.scale


def _laws(system: System, held: Sequence[str]) -> list[Law]:
    """Return the friction laws of the constraints that are held, and those without a normal."""
    found: list[Law] = []
    slip = place = 0
    for item in system.constraints:
        if item.slip:
            slips = tuple(range(slip, slip + len(item.slip)))
            slip += len(item.slip)
            name = str(item.name)
            if isinstance(item, Friction):
                found.append(Law(name, None, slips, place, False))
            elif isinstance(item, Bilateral) and name in held:
                found.append(Law(name, list(held).index(name), slips, place, _scale(item) != 1))
            place += 1
    return found


@dataclass(frozen=True)
class Forces:
    """Multipliers and friction forces for one pattern of signs."""

    lam: list[Any]
    friction: dict[str, Any]
    acceleration: list[Any]
    consistent: bool


def directions(terms: Terms, laws: Sequence[Law], rest: Mapping[str, int]) -> list[list[Any]] | None:
    """Return slip/|slip| of every law; for laws named in `rest`, whose slip vanishes, the sign given there.

    None where another slip vanishes: at rest friction has no direction.
    """
    found = []
    for law in laws:
        slips = [terms.slips[k] for k in law.slips]
        if law.name in rest:
            found.append([mp.mpf(rest[law.name])])
        elif all(vanishes(item) for item in slips):
            return None
        elif len(slips) == 1:
            found.append([mp.mpf(sign_of(slips[0]))])
        else:
            square = dot(slips, slips)
            size = square ** mp.mpf("0.5") if isinstance(square, Laurent) else mp.sqrt(square)
            found.append([item / size for item in slips])
    return found


def vanishes(value: Any) -> bool:
    """Return whether a slip is zero: to all known orders, or but for rounding."""
    return value.is_zero if isinstance(value, Laurent) else bool(abs(value) <= mp.mpf(10) ** -(mp.dps // 2))


def matrix_of(terms: Terms, laws: Sequence[Law], signs: Sequence[int], along: Sequence[Sequence[Any]]) -> Any:
    """Return the matrix and the right-hand side of the equations for (a, lam)."""
    n, m = len(terms.mass), len(terms.rows)
    columns = [[terms.rows[k][i] for i in range(n)] for k in range(m)]
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
    matrix += [[*row, *[mp.mpf(0)] * m] for row in terms.rows]
    return matrix, [*force, *terms.gamma]


def _push(terms: Terms, law: Law, direction: Sequence[Any]) -> list[Any]:
    """Return the generalized friction force for a unit of normal force."""
    n = len(terms.mass)
    total: list[Any] = [mp.mpf(0)] * n
    for k, part in zip(law.slips, direction, strict=True):
        total = [total[i] - terms.slip_rows[k][i] * part * terms.bounds[law.place] for i in range(n)]
    return total


def forces(terms: Terms, laws: Sequence[Law], signs: Sequence[int], along: Sequence[Sequence[Any]]) -> Forces:
    """Return the solution for one pattern of signs; no laws: without friction."""
    n = len(terms.mass)
    matrix, right = matrix_of(terms, laws, signs, along)
    found = solve(matrix, [right])[0]
    lam = found[n:]
    friction: dict[str, Any] = {}
    consistent, given = True, list(signs)
    for law, direction in zip(laws, along, strict=True):
        size: Any = mp.mpf(1)
        if law.normal is not None:
            sign = given.pop(0)
            consistent = consistent and sign_of(lam[law.normal]) in (0, sign)
            size = lam[law.normal] * sign
        if len(direction) == 1:
            friction[law.name] = -(size * terms.bounds[law.place] * direction[0])
        else:
            friction[law.name] = size * terms.bounds[law.place]
    return Forces(lam, friction, found[:n], consistent)


def stiffening(terms: Terms, laws: Sequence[Law], signs: Sequence[int], along: Sequence[Sequence[Any]]) -> Any:
    """Return the determinant for one pattern over that without friction: 1 +- b/a for one guide."""
    rough = determinant(matrix_of(terms, laws, signs, along)[0])
    return rough / determinant(matrix_of(terms, [], [], [])[0])
