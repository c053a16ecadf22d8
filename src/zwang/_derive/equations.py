"""System -> Equations: mass matrix, forces, constraint and slip rows as SymPy expressions, for people and as oracle.

Each piece is derived when it is first asked for, from its definition and by SymPy's own differentiation; nothing is
simplified. Kernels don't come from here (see `program`), so that each can be checked against the other.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import sympy as sp

from zwang._declare.constraints import Friction
from zwang._declare.friction_forms import friction_bounds, slip_axes
from zwang._declare.symbols import explicit_rate
from zwang._declare.system import System
from zwang._derive.supported import weights_of
from zwang.errors import DeclarationError


class Equations:
    """The equations of a system: ``mass a = force + sum_j lam_j rows_j + sum_k T_k slip_rows_k``.

    Parameters
    ----------
    system : System
        What was declared.

    Examples
    --------
    >>> import zwang as zw
    >>> (r, phi), (vr, omega) = zw.coordinates("r phi", angles="phi")
    >>> m, = zw.parameters("m,")
    >>> polar = zw.System(kinetic=m * (vr**2 + r**2 * omega**2) / 2, constraints=[zw.Bilateral(r - 1, name="circle")])
    >>> equations = derive(polar)
    >>> equations.mass, equations.force, equations.rows
    (Matrix([
    [m,      0],
    [0, m*r**2]]), Matrix([
    [      m*r*v_phi**2],
    [-2*m*r*v_phi*v_r]]), Matrix([[1, 0]]))
    """

    def __init__(self, system: System) -> None:
        if not isinstance(system, System):
            raise DeclarationError(f"derive needs a System; it was given {system!r:.80}.")
        self.system = system.written_out
        self._q = list(system.coordinates)
        self._v = list(system.velocities)
        self._weights = weights_of(system)

    def _along_motion(self, expr: Any) -> Any:
        """Return the part of d expr/dt that has no acceleration in it."""
        free = expr.free_symbols
        terms = [sp.diff(expr, q) * v for q, v in zip(self._q, self._v, strict=True) if q in free]
        return sp.Add(*terms, explicit_rate(expr))

    @cached_property
    def mass(self) -> Any:
        """M, n x n."""
        return sp.ImmutableMatrix(self._mass + self._weighted(self.rows)) if self._support else self._mass

    @cached_property
    def _support(self) -> Any:
        """The weights of the rows that complete M; empty where M stands by itself."""
        return sp.diag(*self._weights) if self._weights else ()

    def _weighted(self, what: Any) -> Any:
        return sp.Matrix(self.rows).T * self._support * sp.Matrix(what)

    @cached_property
    def _mass(self) -> Any:
        if self.system.mass is not None:
            return sp.ImmutableMatrix(self.system.mass)
        momenta = [sp.diff(self.system.kinetic, v) for v in self._v]
        return sp.ImmutableMatrix([[sp.diff(p, v) for v in self._v] for p in momenta])

    @cached_property
    def force(self) -> Any:
        """Q, n x 1: everything on the right of M a = ... but the reactions."""
        return sp.ImmutableMatrix(self._force + self._weighted(self.gamma)) if self._support else self._force

    @cached_property
    def _force(self) -> Any:
        applied = [self.system.forces.get(q, sp.Integer(0)) for q in self._q]
        if self.system.mass is not None:
            return sp.ImmutableMatrix([self.system.force[i] + applied[i] for i in range(len(self._q))])
        lagrangian = self.system.kinetic - self.system.potential
        return sp.ImmutableMatrix(
            [
                sp.diff(lagrangian, q) - self._along_motion(sp.diff(self.system.kinetic, v)) + extra
                for q, v, extra in zip(self._q, self._v, applied, strict=True)
            ]
        )

    @cached_property
    def values(self) -> Any:
        """The declared expressions of the constraints that have a normal, m x 1."""
        return _column([item.expr for item in self._with_normal])

    @cached_property
    def rates(self) -> Any:
        """D expr/dt of position-level constraints; for velocity-level ones the part of it without a. m x 1."""
        return _column([self._along_motion(item.expr) for item in self._with_normal])

    @cached_property
    def gamma(self) -> Any:
        """What rows @ a must equal (or exceed, for one-sided constraints), m x 1."""
        return _column(
            [
                -rate if item.level == "velocity" else -self._along_motion(rate)
                for item, rate in zip(self._with_normal, self.rates, strict=True)
            ]
        )

    @cached_property
    def rows(self) -> Any:
        """w: d expr/dq (position level) or d expr/dv (velocity level), m x n."""
        return _rows(
            [
                [sp.diff(item.expr, x) for x in (self._v if item.level == "velocity" else self._q)]
                for item in self._with_normal
            ],
            len(self._q),
        )

    @cached_property
    def slips(self) -> Any:
        """The slip velocities times the axes of elliptic sections, one row for each component, s x 1."""
        return _column([axis * slip for axis, slip in zip(self._axes, self._slips, strict=True)])

    @cached_property
    def _slips(self) -> list[Any]:
        return [slip for item in self.system.constraints for slip in item.slip]

    @cached_property
    def _axes(self) -> list[Any]:
        return slip_axes(self.system)

    @cached_property
    def slip_bias(self) -> Any:
        """tangent_bias: minus the part of d slip/dt without a, s x 1."""
        return _column([-axis * self._along_motion(slip) for axis, slip in zip(self._axes, self._slips, strict=True)])

    @cached_property
    def slip_rows(self) -> Any:
        """D slip/dv, s x n: the transpose carries friction forces into the equations."""
        return _rows(
            [[axis * sp.diff(slip, v) for v in self._v] for axis, slip in zip(self._axes, self._slips, strict=True)],
            len(self._q),
        )

    @cached_property
    def bounds(self) -> Any:
        """For each constraint with friction its mu * scale (Coulomb) or bound (Friction); then what else laws need."""
        return _column(friction_bounds(self.system))

    @cached_property
    def energies(self) -> Any:
        """Kinetic and potential energy; zero where the system was declared by mass and force."""
        if self.system.mass is not None:
            return sp.ImmutableMatrix([0, 0])
        return sp.ImmutableMatrix([self.system.kinetic, self.system.potential])

    @property
    def _with_normal(self) -> list[Any]:
        return [item for item in self.system.constraints if not isinstance(item, Friction)]


def derive(system: System) -> Equations:
    """Return the equations of a system, in SymPy: ``mass``, ``force``, ``rows`` of its constraints, ``slip_rows``, ...

    Examples
    --------
    >>> import zwang as zw
    >>> zw.derive(zw.gallery.get("sleigh").system).rows
    Matrix([[-sin(phi), cos(phi), 0]])
    """
    return Equations(system)


def _column(items: list[Any]) -> Any:
    return sp.ImmutableMatrix(len(items), 1, items)


def _rows(rows: list[list[Any]], width: int) -> Any:
    return sp.ImmutableMatrix(len(rows), width, [item for row in rows for item in row])
