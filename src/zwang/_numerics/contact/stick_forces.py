"""Does everything stick? Forces of least norm that keep all contacts at rest, by conjugate gradients.

Stacks at rest are held by more contacts than needed, and nothing moves. Then u = W r + b = 0 has solutions, conjugate
gradients from r = 0 find the one of least norm in few steps, W being sparse and singular, and if that one lies in the
friction cones it is a solution. If not, little was lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.candidate import Candidate, candidate_of
from zwang._numerics.contact.delassus import FrictionArrays
from zwang._numerics.contact.interior_point import ConePlan
from zwang._numerics.contact.local_contact import contact_error
from zwang._numerics.jit import njit

Floats = NDArray[np.float64]


@njit(fastmath={"reassoc"})
def _dot(a: Any, b: Any) -> float:
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@njit
def _product(ptr: Any, col: Any, val: Any, x: Any, out: Any) -> None:
    for i in range(x.size):
        total = 0.0
        for e in range(ptr[i], ptr[i + 1]):
            total += val[e] * x[col[e]]
        out[i] = total


@njit(
    "Tuple((int64, float64))(uint32[::1], uint32[::1], float64[::1], float64[::1], int64[:,::1], float64[:,::1], "
    "float64[::1], float64, int64)"
)
def stick_forces(ptr: Any, col: Any, val: Any, b: Any, layout: Any, law: Any, r: Any, tol: float, limit: int) -> Any:
    """Overwrite r (zero) with forces for which W r + b = 0; return (iterations, residual of the laws)."""
    m = b.size
    rest, d, moved = np.empty(m), np.empty(m), np.empty(m)
    for i in range(m):
        rest[i] = -b[i]
        d[i] = rest[i]
    square, iteration = _dot(rest, rest), 0
    while iteration < limit and square > 0.01 * tol * tol:
        iteration += 1
        _product(ptr, col, val, d, moved)
        curvature = _dot(d, moved)
        if not curvature > 0.0:
            break
        step = square / curvature
        for i in range(m):
            r[i] += step * d[i]
            rest[i] -= step * moved[i]
        after = _dot(rest, rest)
        turn = after / square
        for i in range(m):
            d[i] = rest[i] + turn * d[i]
        square = after
    _product(ptr, col, val, r, moved)
    for i in range(m):
        moved[i] += b[i]
    worst = 0.0
    for j in range(layout.shape[0]):
        error = contact_error(layout[j, 2], layout[j, 1], law[j, 0], law[j, 1], 1.0, r, moved, layout[j, 0])
        if not error <= worst:  # also if it is no number
            worst = error
    return iteration, worst


def stick_planned(arrays: FrictionArrays, plan: ConePlan, tol: float, limit: int) -> tuple[Floats, int, float]:
    """Return forces, iterations and residual; the plan must be in the Delassus form."""
    r = np.zeros(arrays.size)
    iterations, residual = stick_forces.entry(
        plan.ptr, plan.col, plan.value, arrays.scaled_b, arrays.layout, arrays.scaled_law, r, tol, limit
    )
    return r * arrays.unit, iterations, residual


def sticking(arrays: FrictionArrays, plan: ConePlan, *, tol: float = 1e-8, limit: int = 200) -> Candidate:
    """Return the forces that keep everything at rest; its residual tells whether they are a solution.

    Examples
    --------
    >>> from zwang._numerics.contact.problem import Contact, ContactProblem
    >>> from zwang._numerics.contact.delassus import friction_arrays
    >>> from zwang._numerics.contact.interior_point import cone_plan
    >>> feet = [Contact([0, 1, x], tangent=[[1, 0, 1]], friction=0.5) for x in (-1, 1)]
    >>> arrays = friction_arrays(ContactProblem(np.eye(3), [0.4, -2.0, 0.0], contacts=feet))
    >>> sticking(arrays, cone_plan(arrays)).tangential.sum(axis=0).round(9)
    array([-0.4,  0. ])
    """
    r, iterations, _ = stick_planned(arrays, plan, tol, limit)
    return candidate_of(arrays, r, "sticking", iterations)
