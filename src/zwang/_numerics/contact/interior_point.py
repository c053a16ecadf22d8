"""Interior points for contact forces: Gauss's dual principle over cones, with De Saxce's term for Coulomb friction.

The convex problem is to minimize r^T W r / 2 + b^T r over the product of the contacts' cones (paper 001, eq. (2.3), and
(1.10) without friction). Coulomb's law is the same with b_n + mu |u_t| in place of b_n (De Saxce): the term is updated
along with the iterates, so that a sticking structure costs one convex solve and a sliding one little more.

Newton's equations are solved in one of two symmetric forms, whichever has the cheaper factorization:
    Delassus   W + E^T V^-2 E                     when A^-1 is known as a matrix
    augmented  [[-A, H^T], [H, E^T V^-2 E]]       when A is sparse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.body_rows import Csr
from zwang._numerics.contact.candidate import Candidate, candidate_of
from zwang._numerics.contact.cone_scaling import BOX, CONE, DISC, FREE, RAY, WEDGE
from zwang._numerics.contact.delassus import FrictionArrays
from zwang._numerics.contact.interior_point_kernels import ConeSystem, interior_point_loop
from zwang._numerics.contact.modes import BILATERAL, BOUND
from zwang._numerics.contact.problem_values import is_sparse
from zwang._numerics.linear.quasidefinite import Analysis, analyse, least_degree, minimum_degree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CHEAP = 200_000  # multiplications of a factorization below which a better ordering isn't worth finding
_GROUPED = 4_000  # contacts and coordinates up to which a table of who is next to whom is small beside all else
_ROUNDING = 4  # the augmented form eliminates blocks of cones alone, near singular at the end: only if much cheaper


@dataclass(frozen=True, eq=False)
class ConePlan:
    """The matrices and tables of the interior-point method for one set of rows; any force and offset fits.

    Attributes
    ----------
    coordinates : int
        How many accelerations stand before the forces: n in the augmented form, 0 in the Delassus form.
    table : (k, 2) int array
        First row, shape of the cone (-1: no unknown).
    weight : (coordinates,) array
        The scale of each acceleration.
    ptr, col, value : arrays
        B, symmetric, without the cones' part, by rows.
    base : (e,) array
        Its lower triangle in the order of the analysis.
    analysis : Analysis
    """

    coordinates: int
    table: NDArray[np.int32]
    weight: Floats
    ptr: NDArray[np.uint32]
    col: NDArray[np.uint32]
    value: Floats
    base: Floats
    sign: Floats
    analysis: Analysis


def fits(arrays: FrictionArrays) -> bool:
    """Whether the cones are convex: symmetric W, and friction on no bilateral contact with unknown force."""
    friction_on_bilateral = (arrays.layout[:, 2] == BILATERAL) & (arrays.layout[:, 3] > 0)
    return arrays.symmetric and not friction_on_bilateral.any()


def cone_plan(arrays: FrictionArrays) -> ConePlan:
    """Choose the form and the ordering, and analyse the factorization."""
    if arrays.has_sparse_delassus and arrays.count + len(arrays.force) <= _GROUPED:
        return _plan_of_groups(arrays)
    makers = []
    if arrays.has_sparse_delassus or arrays.mass.mass is None or not is_sparse(arrays.rows):
        makers.append(_delassus_form)
    if arrays.mass.mass is not None:
        makers.append(_augmented_form)
    plans = [_planned(arrays, *make(arrays), thorough=False) for make in makers]
    if min(plan.analysis.work for plan in plans) > _CHEAP:
        plans += [_planned(arrays, *make(arrays), thorough=True) for make in makers]
    return min(plans, key=lambda plan: plan.analysis.work * (_ROUNDING if plan.coordinates else 1))


def _plan_of_groups(arrays: FrictionArrays) -> ConePlan:
    """Choose by what contacts, and bodies, are next to each other: the forces of one contact stand together."""
    near, size, n = arrays.meeting, arrays.layout[:, 1], len(arrays.force)
    beside = np.zeros((arrays.count, arrays.count), dtype=np.bool_)
    beside[np.repeat(np.arange(arrays.count), np.diff(near.ptr)), near.who] = True
    order, work = least_degree(beside, size)
    if arrays.mass.mass is not None and work > _CHEAP:
        body, members = _bodies(arrays.mass.matrix)
        many = np.bincount(body)
        touched = body[arrays.bodies.dof]
        bodies = arrays.bodies.ptr.astype(np.int64)
        beside = np.zeros((len(many) + arrays.count, len(many) + arrays.count), dtype=np.bool_)
        beside[len(many) + np.repeat(np.arange(arrays.count), np.diff(bodies)), touched] = True
        every, effort = least_degree(beside | beside.T, np.concatenate([many, size]))
        if effort * _ROUNDING < work:
            first = np.concatenate([np.cumsum(many) - many, n + arrays.layout[:, 0]])
            places = _in_turn(first[every], np.concatenate([many, size])[every])
            unknowns = np.concatenate([members, np.arange(n, n + arrays.size)])
            matrix, weight = _augmented_form(arrays)
            return _planned_in(arrays, Csr.of(matrix), weight, unknowns[places])
    chosen = _in_turn(arrays.layout[order, 0], size[order])
    return _planned_in(arrays, arrays.scaled_coupling, np.empty(0), chosen)


def _bodies(inverse: Any) -> tuple[Ints, Ints]:
    """Return the body (n,) of each coordinate, and the coordinates body by body, of a block diagonal csr matrix."""
    first = np.minimum.reduceat(inverse.indices, inverse.indptr[:-1])
    _, body = np.unique(first, return_inverse=True)
    return body, np.argsort(body, kind="stable")


def _in_turn(first: Ints, size: Ints) -> Ints:
    """Return first[0], first[0] + 1, ... (size[0] of them), first[1], ..."""
    return np.asarray(np.repeat(first - np.cumsum(size) + size, size) + np.arange(size.sum()))


def _shapes(arrays: FrictionArrays) -> Ints:
    _, size, kind, p = arrays.layout.T
    given = kind == BOUND
    shape = np.where(given, np.where(p == 2, DISC, BOX), np.choose(p, [RAY, WEDGE, CONE]))
    shape = np.where(kind == BILATERAL, FREE, shape)
    return np.asarray(np.where(size == 0, -1, shape), dtype=np.int64)


def _delassus_form(arrays: FrictionArrays) -> tuple[Any, Floats]:
    from scipy.sparse import csr_array, diags_array

    unscale = diags_array(1.0 / arrays.row_scale)
    w = arrays.sparse_delassus if arrays.has_sparse_delassus else csr_array(arrays.delassus)
    return csr_array(unscale @ w @ unscale), np.empty(0)


def _augmented_form(arrays: FrictionArrays) -> tuple[Any, Floats]:
    from scipy.sparse import block_array, csr_array, diags_array

    given: Any = arrays.mass.mass
    weight = 1.0 / np.sqrt(given.diagonal())
    scale = diags_array(weight)
    mass = scale @ given @ scale
    rows = diags_array(1.0 / arrays.row_scale) @ csr_array(arrays.rows) @ scale
    return csr_array(block_array([[-mass, rows.T], [rows, None]])), weight


def _block_entries(layout: Ints) -> tuple[Ints, Ints]:
    """(row, column) of the lower triangles of the contacts' blocks, contact by contact and row by row."""
    first, size = layout[:, 0], layout[:, 1]
    count = size * (size + 1) // 2
    start = np.repeat(first, count)
    inside = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    down = np.array([0, 1, 1, 2, 2, 2])[inside]
    return start + down, start + inside - down * (down + 1) // 2


def _planned(arrays: FrictionArrays, matrix: Any, weight: Floats, *, thorough: bool) -> ConePlan:
    n, m = len(weight), arrays.size
    matrix.sort_indices()
    form = Csr.of(matrix)
    if not thorough:
        return _planned_in(arrays, form, weight, np.concatenate([np.arange(n, n + m), np.arange(n)]))
    row, col, _ = _lower_entries(arrays, form, n)
    return _planned_in(arrays, form, weight, minimum_degree(n + m, row, col))


def _lower_entries(arrays: FrictionArrays, form: Csr, n: int) -> tuple[Ints, Ints, Floats]:
    """Return (row, column) of the lower triangle and then of the contacts' blocks, and the values of the former."""
    row = np.repeat(np.arange(len(form.ptr) - 1), np.diff(form.ptr))
    lower = np.flatnonzero(row >= form.col)
    down, across = _block_entries(arrays.layout)
    rows, cols = np.concatenate([row[lower], down + n]), np.concatenate([form.col[lower], across + n])
    return rows, cols, form.value[lower]


def _planned_in(arrays: FrictionArrays, form: Csr, weight: Floats, order: Ints) -> ConePlan:
    """Analyse the factorization of a form in an order."""
    n = len(weight)
    row, col, base = _lower_entries(arrays, form, n)
    analysis = analyse(n + arrays.size, row, col, order)
    table = np.column_stack([arrays.layout[:, 0], _shapes(arrays)]).astype(np.int32)
    sign = np.where(order < n, -1.0, 1.0)
    ptr, column = form.ptr.astype(np.uint32), form.col.astype(np.uint32)
    return ConePlan(n, table, weight, ptr, column, form.value, base, sign, analysis)


def solve_planned(arrays: FrictionArrays, plan: ConePlan, tol: float, limit: int) -> tuple[Floats, int, float]:
    """Return the forces, the iterations, and the residual that the kernel computed."""
    n = plan.coordinates
    if not arrays.loaded:
        return np.zeros(arrays.size), 0, 0.0
    c = arrays.scaled_b
    if n:
        c = np.concatenate([arrays.force * plan.weight, -arrays.offset / arrays.row_scale]) / arrays.cause
    x = np.zeros(n + arrays.size)
    system = ConeSystem(n, plan.ptr, plan.col, plan.value, plan.base, plan.sign, c)
    iterations, residual = interior_point_loop.entry(
        system, plan.analysis, plan.table, arrays.scaled_law, x, tol, limit
    )
    return x[n:] * arrays.unit, iterations, residual


def interior_point(
    arrays: FrictionArrays, *, tol: float = 1e-10, limit: int = 100, plan: ConePlan | None = None
) -> Candidate:
    """Find forces by interior points; the arrays must be those of convex cones (`fits`).

    Examples
    --------
    >>> from zwang._numerics.contact.problem import Contact, ContactProblem
    >>> from zwang._numerics.contact.delassus import friction_arrays
    >>> floor = Contact([0, 1], tangent=[[1, 0]], friction=0.5)
    >>> arrays = friction_arrays(ContactProblem(np.eye(2), [0.25, -1.0], contacts=[floor]))
    >>> interior_point(arrays).forces.round(9)
    array([ 1.  , -0.25])
    """
    plan = cone_plan(arrays) if plan is None else plan
    r, iterations, _ = solve_planned(arrays, plan, tol, limit)
    return candidate_of(arrays, r, "interior point", iterations)
