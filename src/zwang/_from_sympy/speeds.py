"""Generalized speeds of Kane's method in terms of the derivatives of coordinates.

The kinematical equations K u + D dq/dt + f = 0, with matrices of coordinates and time, are solved for the speeds u:

- where there are as many of them as speeds, u follows;
- where there are more, as with the coordinates of a contact point, what is left over constrains dq/dt;
- a speed that is in none of them gets a coordinate of its own, whose derivative it is: an ignorable one.

The solution is regular wherever K has full rank: pivots that can't vanish first, then minors, never a pivot that is
zero at some places only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.physics.mechanics import KanesMethod, dynamicsymbols

from zwang._from_sympy.probes import independent_rows, rank, vanishes
from zwang.errors import DeclarationError

LONG = 1000
"""Operations beyond which an expression is not simplified: it would take minutes."""


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Coordinates, and what the speeds and their own constraints are in terms of their derivatives.

    Attributes
    ----------
    q : list
        The coordinates that were given, and after them one for each speed that had none.
    given : int
        How many were given.
    speeds : dict
        Each generalized speed -> its expression in q, dq/dt and t.
    rows : list
        Expressions in q, dq/dt and t that the kinematical equations keep at zero, whatever the speeds are.
    """

    q: list[Any]
    given: int
    speeds: dict[Any, Any]
    rows: list[Any]


def kinematics(method: Any, name: str) -> Kinematics:
    """Return the kinematics of a KanesMethod."""
    if method._qdot_u_map is None:
        raise DeclarationError(f"from_sympy: {name}: the KanesMethod has no kinematical equations. Give kd_eqs=.")
    q, u = list(method.q), list(method.u)
    of_speeds, of_rates, rest = method._k_ku_implicit, method._k_kqdot_implicit, method._f_k_implicit
    _require_sound(q, u, of_speeds, of_rates, rest, name)
    right = -(of_rates * method.q.diff(dynamicsymbols._t) + rest)
    own = {}
    for j, speed in enumerate(u):
        if all(vanishes(item) for item in of_speeds[:, j]):
            q.append(_coordinate_for(speed, q))
            own[speed] = q[-1].diff(dynamicsymbols._t)
    told = [j for j, speed in enumerate(u) if speed not in own]
    solved, rows = _solve(of_speeds.extract(list(range(of_speeds.rows)), told), right)
    speeds = dict(zip([u[j] for j in told], solved, strict=True)) | own
    return Kinematics(q, len(method.q), speeds, rows)


def free_equations(frame: Any, bodies: Any, loads: Any, known: Kinematics, rates: list[Any]) -> tuple[Any, Any]:
    """Return mass matrix and forces of Kane's equations in the derivatives of the coordinates, `rates`.

    The principle of d'Alembert asks for partial velocities with respect to dq/dt: the speeds are replaced by what they
    are wherever points and frames have them, and so are their derivatives. The equations in u, multiplied by the
    transposed matrix of du/d(dq/dt), would be the same, but with the inverse of the kinematics in them.
    """
    clock = dynamicsymbols._t
    derivatives = [item.diff(clock) for item in known.q]
    pairs = list(zip(derivatives, rates, strict=True))
    method = KanesMethod(frame, known.q, rates, [derivative - rate for derivative, rate in pairs])
    renamed = dict(pairs)
    method._qdot_u_map |= {speed: expr.xreplace(renamed) for speed, expr in known.speeds.items()}
    method.kanes_equations(bodies, list(loads) if loads else None)
    return _mirrored(method.mass_matrix), method.forcing


def velocity_constraints(method: Any, known: Kinematics) -> list[Any]:
    """Return the velocity constraints of a KanesMethod.

    It keeps them in speeds, by an elimination whose pivots may vanish where the kinematics is regular. If it has, they
    are written in rates here, and what cancels is cancelled, so that they are not singular there.
    """
    given = list(method._k_nh * method.u + method._f_nh) if method._k_nh else []
    if not any(_has_quotients(expr) for expr in method._qdot_u_map.values()):
        return given
    rates = [item.diff(dynamicsymbols._t) for item in known.q]
    matrix, rest = sp.linear_eq_to_matrix([expr.xreplace(known.speeds) for expr in given], rates)
    return list(matrix.applyfunc(_without_quotients) * sp.Matrix(rates) - rest.applyfunc(_without_quotients))


def _has_quotients(expr: Any) -> bool:
    powers = (item for item in expr.atoms(sp.Pow) if item.exp.could_extract_minus_sign())
    return any(item.base.has(dynamicsymbols._t) for item in powers)


def _without_quotients(expr: Any) -> Any:
    if not _has_quotients(expr) or sp.count_ops(expr) > LONG:
        return expr
    return sp.trigsimp(sp.together(expr))


def _mirrored(mass: Any) -> Any:
    """Return a symmetric matrix whose halves are the same expressions, and zeros where they cancel."""
    half = {(i, j): mass[i, j] for i in range(mass.rows) for j in range(i, mass.cols)}
    kept = {place: sp.Integer(0) if vanishes(item) else item for place, item in half.items()}
    return sp.Matrix(mass.rows, mass.cols, lambda i, j: kept[min(i, j), max(i, j)])


def _coordinate_for(speed: Any, q: list[Any]) -> Any:
    name = f"q_{speed.func.__name__}"
    while any(item.func.__name__ == name for item in q):
        name += "_"
    return dynamicsymbols(name)


def _require_sound(q: list[Any], u: list[Any], of_speeds: Any, of_rates: Any, rest: Any, name: str) -> None:
    if any(part.has(sp.nan, sp.zoo, sp.oo) for part in (of_speeds, of_rates, rest)):
        raise DeclarationError(
            f"from_sympy: {name}: the kinematical equations have entries that are not finite. Write them as "
            "u - (combination of dq/dt) = 0, without quotients."
        )
    found = rank(of_rates)
    if found < len(q):
        raise DeclarationError(
            f"from_sympy: {name}: the kinematical equations do not determine the derivatives of {_listed(q)}: as "
            f"equations for them they have rank {found} everywhere. Give {len(q)} independent ones in kd_eqs=."
        )
    told = [j for j in range(len(u)) if not all(vanishes(item) for item in of_speeds[:, j])]
    found = rank(of_speeds.extract(list(range(of_speeds.rows)), told))
    if found < len(told):
        some = _listed([u[j] for j in told])
        raise DeclarationError(
            f"from_sympy: {name}: the kinematical equations do not determine the speeds {some}: as equations for them "
            f"they have rank {found} everywhere, and {len(told)} are needed. Choose independent speeds, or give each "
            "speed that has no coordinate one whose derivative it is."
        )


def _listed(items: list[Any]) -> str:
    return ", ".join(f"'{item}'" for item in items)


# --- linear equations with entries that may vanish somewhere ---------------------------------------------------------


def _solve(matrix: Any, right: Any) -> tuple[list[Any], list[Any]]:
    """Return the solution of matrix * u = right, and the expressions that must vanish for one to exist."""
    matrix, right = sp.Matrix(matrix), sp.Matrix(right)
    pivots = _eliminate(matrix, right)
    rows = [i for i in range(matrix.rows) if i not in pivots]
    columns = [j for j in range(matrix.cols) if j not in pivots.values()]
    solved: dict[int, Any] = {}
    conditions = []
    for block_rows, block_columns in _blocks(matrix, rows, columns):
        block, there = matrix.extract(block_rows, block_columns), right.extract(block_rows, [0])
        solved |= dict(zip(block_columns, _least(block, there), strict=True))
        conditions += _compatibility(block, there)
    for i, j in pivots.items():
        solved[j] = right[i] - sp.Add(*(matrix[i, other] * solved[other] for other in columns))
    return [solved[j] for j in range(matrix.cols)], conditions


def _eliminate(matrix: Any, right: Any) -> dict[int, int]:
    """Reduce the equations in place by pivots that vanish nowhere; return row -> column of each."""
    pivots: dict[int, int] = {}
    while True:
        candidates = [
            (sp.count_ops(matrix[i, j]), i, j)
            for i in range(matrix.rows)
            for j in range(matrix.cols)
            if i not in pivots and j not in pivots.values() and _never_zero(matrix[i, j])
        ]
        if not candidates:
            return pivots
        _, i, j = min(candidates)
        pivot = matrix[i, j]
        matrix[i, :], right[i] = (matrix[i, :] / pivot).applyfunc(_tidy), right[i] / pivot
        for other in range(matrix.rows):
            factor = matrix[other, j]
            if other != i and factor != 0:
                matrix[other, :] = (matrix[other, :] - factor * matrix[i, :]).applyfunc(_tidy)
                right[other] -= factor * right[i]
        pivots[i] = j


def _never_zero(expr: Any) -> bool:
    """Say whether an entry is not zero whatever coordinates and time are, as far as its numerator tells."""
    return not sp.fraction(sp.together(expr))[0].has(dynamicsymbols._t) and not vanishes(expr)


def _tidy(expr: Any) -> Any:
    return sp.Integer(0) if vanishes(expr) else sp.trigsimp(expr)


def _blocks(matrix: Any, rows: list[int], columns: list[int]) -> list[tuple[list[int], list[int]]]:
    """Return the rows and columns that hang together: each block is an equation system of its own."""
    groups = [({i}, {j for j in columns if not vanishes(matrix[i, j])}) for i in rows]
    joined: list[tuple[set[int], set[int]]] = []
    for group in groups:
        touched = [item for item in joined if item[1] & group[1]]
        joined = [item for item in joined if item not in touched]
        joined.append((group[0].union(*(item[0] for item in touched)), group[1].union(*(item[1] for item in touched))))
    return [(sorted(some), sorted(unknown)) for some, unknown in joined]


def _least(block: Any, right: Any) -> list[Any]:
    """Return the solution by least squares, through the adjugate: it fails only where the rank does."""
    if block.cols == 0:
        return []
    if block.rows > block.cols:
        block, right = (block.T * block).applyfunc(_tidy), block.T * right
    return list(block.adjugate().applyfunc(_tidy) * right / _tidy(block.det(method="berkowitz")))


def _compatibility(block: Any, right: Any) -> list[Any]:
    """Return what must vanish for a solution to exist: minors, which for one condition vanish together nowhere."""
    basis = independent_rows(block) if block.cols else []
    inside, there = block.extract(basis, list(range(block.cols))), right.extract(basis, [0])
    volume = _tidy(inside.det(method="berkowitz"))
    found = []
    for i in range(block.rows):
        if i not in basis:
            carried = block[i, :] * inside.adjugate() * there if basis else sp.zeros(1, 1)
            found.append(carried[0] - volume * right[i])
    return found
