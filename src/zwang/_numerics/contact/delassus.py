"""The common form of every friction solver here: stacked rows, laws as small tables, and the mass matrix inverted.

Contact j owns the rows layout[j, 0] to layout[j, 0] + layout[j, 1] of the unknown r: its normal force (unless that is
given), then its friction components (unless they follow from the normal force or are zero). Then

    w = A^-1 (f + G^T r + drag^T |r|),   u = H w - offset = W r + b + ...,   W = H A^-1 G^T,   b = H A^-1 f - offset,

where f holds the given forces and all reactions known in advance. G differs from H only for sliding contacts, whose
friction is folded into the column of their normal force: that keeps them linear. For a *bilateral* sliding contact the
friction goes with |N|; it stands apart in `drag`, and `with_signs` folds it for assumed signs of N.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.body_rows import BodyRows, Csr, Neighbours, body_rows, coupling, neighbours, own_blocks
from zwang._numerics.contact.inverse_mass import InverseMass, inverse_of
from zwang._numerics.contact.modes import BILATERAL, BOUND, UNILATERAL
from zwang._numerics.contact.problem import ContactProblem, ContactRows, Matrix, is_sparse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DENSE_ENTRIES = 40_000_000  # a dense Delassus matrix of more entries than this is not made (320 MB)


@dataclass(frozen=True, eq=False)
class FrictionArrays:
    """Contacts stacked for the solvers; made by `friction_arrays`.

    Attributes
    ----------
    source : ContactRows
        What it was made of.
    mass : InverseMass
        Applies A^-1.
    force : (n,) array
        Given forces and reactions known in advance.
    rows, columns : (m, n) dense or csr
        H and G above; the same object when no contact slides.
    drag : (m, n) dense or csr, or None
        Friction per |N| of bilateral sliding contacts.
    offset : (m,) array
        What u is measured from: bias and tangent_bias.
    layout : (k, 4) int array
        First row, number of rows, kind (unilateral, bilateral, prescribed), unknown friction components.
    law : (k, 2) array
        Friction coefficient, and the bound where it is given (-1 where it is friction * |N|).
    """

    source: ContactRows
    mass: InverseMass
    force: Floats
    rows: Matrix
    columns: Matrix
    drag: Matrix | None
    offset: Floats
    layout: Ints
    law: Floats
    slides: NDArray[np.bool_]
    along: Floats

    @property
    def count(self) -> int:
        """The number of contacts."""
        return len(self.layout)

    @property
    def size(self) -> int:
        """The number of unknown forces."""
        return len(self.offset)

    @property
    def symmetric(self) -> bool:
        """Whether W is symmetric: no sliding contact has friction."""
        return self.rows is self.columns and self.drag is None

    @property
    def planar(self) -> bool:
        """Whether every contact at rest has at most one direction of friction."""
        return bool((self.layout[:, 3] <= 1).all())

    @property
    def convex(self) -> bool:
        """Whether the forces are those of one convex program: no bound depends on an unknown normal force."""
        return self.symmetric and not self.coulomb.any()

    @property
    def coulomb(self) -> NDArray[np.bool_]:
        """Which contacts are at rest with a bound that depends on the unknown normal force."""
        return (self.layout[:, 3] > 0) & (self.law[:, 1] < 0)

    @cached_property
    def free(self) -> Floats:
        """The acceleration without unknown forces, A^-1 f."""
        return self.mass.apply(self.force)

    @cached_property
    def b(self) -> Floats:
        """The relative accelerations u without unknown forces."""
        return np.asarray(self.rows @ self.free - self.offset)

    @cached_property
    def delassus(self) -> Floats:
        """W = H A^-1 G^T, dense."""
        if self.mass.matrix is not None and is_sparse(self.mass.matrix) and is_sparse(self.rows):
            return np.ascontiguousarray(self.sparse_delassus.toarray())
        columns = self.columns.toarray() if is_sparse(self.columns) else self.columns
        return np.ascontiguousarray(self.rows @ self.mass.apply(columns.T))

    @cached_property
    def sparse_delassus(self) -> Any:
        """W as csr; only where A^-1 is known as a sparse matrix."""
        return (self.rows @ (self.mass.matrix @ self.columns.T)).tocsr()

    @cached_property
    def bodies(self) -> BodyRows:
        """The rows by contact; only where A^-1 and the rows are known as sparse matrices."""
        return body_rows(self.layout, self.rows, self.columns, self.mass.matrix, self.offset, self.free)

    @cached_property
    def meeting(self) -> Neighbours:
        """Which contacts share a coordinate; only where there are `bodies`."""
        return neighbours(self.bodies, self.count)

    @property
    def scaled_coupling(self) -> Csr:
        """W between scaled forces and accelerations, by rows; only where there are `bodies`."""
        return coupling(self.bodies, self.layout, self.meeting, self.scale)

    @property
    def has_sparse_delassus(self) -> bool:
        """Whether A^-1 and the rows are known as sparse matrices."""
        return is_sparse(self.mass.matrix) and is_sparse(self.rows)

    @property
    def has_dense_delassus(self) -> bool:
        """Whether a dense W is small enough to be made."""
        return self.size * max(self.size, len(self.force)) <= _DENSE_ENTRIES

    @cached_property
    def scale(self) -> Floats:
        """(k,) root of the largest diagonal entry of W of each contact: r * scale and u / scale have equal units."""
        diagonal = self._diagonal
        scale = np.ones(self.count)
        owner = np.repeat(np.arange(self.count), self.layout[:, 1])
        largest = np.zeros(self.count)
        np.maximum.at(largest, owner, np.abs(diagonal))
        scale[largest > 0] = np.sqrt(largest[largest > 0])
        return scale

    @cached_property
    def row_scale(self) -> Floats:
        """(m,) the scale of the contact that a row belongs to."""
        return np.repeat(self.scale, self.layout[:, 1])

    @cached_property
    def cause(self) -> float:
        """The largest scaled |b|: what residuals are measured by."""
        return max(float(np.max(np.abs(self.b) / self.row_scale, initial=0.0)), 1e-300)

    @cached_property
    def unit(self) -> Floats:
        """(m,) scaled forces times this are forces: cause / scale."""
        return np.asarray(self.cause / self.row_scale)

    @cached_property
    def scaled_b(self) -> Floats:
        """(m,) b / scale / cause: the largest entry is one."""
        return np.asarray(self.b / self.row_scale / self.cause)

    @cached_property
    def scaled_law(self) -> Floats:
        """The laws for forces in units of cause / scale."""
        law = self.law.copy()
        given = law[:, 1] >= 0
        law[given, 1] *= self.scale[given] / self.cause
        return law

    @property
    def loaded(self) -> bool:
        """Whether anything calls for reactions; zero forces are a solution if not."""
        return self.cause > 1e-300

    @cached_property
    def _diagonal(self) -> Floats:
        if self.has_sparse_delassus and self.symmetric:
            blocks = np.zeros((self.count, 3, 3))
            own_blocks(self.bodies, blocks)
            return blocks.diagonal(axis1=1, axis2=2)[np.arange(3) < self.layout[:, 1:2]]
        if self.has_sparse_delassus:
            reach = (self.mass.matrix @ self.rows.T).T
            return np.asarray(reach.multiply(self.rows).sum(axis=1), dtype=float).ravel()
        if self.mass.matrix is not None and not is_sparse(self.rows):
            return np.asarray(np.einsum("ij,ij->i", np.asarray(self.rows @ self.mass.matrix), self.rows))
        # Only an order of magnitude is needed: the coordinates taken as uncoupled.
        squares = self.rows.multiply(self.rows) if is_sparse(self.rows) else self.rows**2
        return np.asarray(squares @ self.mass.uncoupled)

    def acceleration(self, r: Floats) -> Floats:
        """Return w for the unknown forces r."""
        load = self.force + self.columns.T @ r
        if self.drag is not None:
            load = load + self.drag.T @ np.abs(r)
        return np.asarray(self.mass.apply(load))

    def accelerations(self, forces: Floats) -> Floats:
        """Return w (s, n) for rows (s, m) of unknown forces; there is no `drag`."""
        return np.asarray(self.mass.apply(self.force[:, None] + self.columns.T @ forces.T).T)

    def relative(self, r: Floats) -> Floats:
        """Return u = H w - offset for the unknown forces r."""
        return np.asarray(self.rows @ self.acceleration(r) - self.offset)

    def split(self, r: Floats) -> tuple[Floats, Floats]:
        """Return normal forces (k,) and friction forces (k, 2), those known in advance included."""
        first, size, kind, p = self.layout.T
        normal = self.source.load.copy()
        own = (kind != BOUND) & (size > 0)
        normal[own] = r[first[own]]
        tangential = np.zeros((self.count, 2))
        skip = (kind != BOUND).astype(np.int64)
        for i in range(2):
            has = p > i
            tangential[has, i] = r[(first + skip + i)[has]]
        bound = self.source.friction * np.abs(normal)
        tangential[self.slides] = -bound[self.slides, None] * self.along[self.slides]
        return normal, tangential

    def stack(self, normal: Floats, tangential: Floats) -> Floats:
        """Return the unknown forces r of normal forces (k,) and friction forces (k, 2)."""
        first, size, kind, p = self.layout.T
        r = np.zeros(self.size)
        own = (kind != BOUND) & (size > 0)
        r[first[own]] = np.asarray(normal)[own]
        skip = (kind != BOUND).astype(np.int64)
        for i in range(2):
            has = p > i
            r[(first + skip + i)[has]] = np.asarray(tangential)[has, i]
        return r

    def with_signs(self, signs: Floats) -> FrictionArrays:
        """Return the arrays with the friction of bilateral sliding contacts folded for these signs (m,) of r."""
        if self.drag is None:
            return self
        folded = self.drag.multiply(signs[:, None]).tocsr() if is_sparse(self.drag) else self.drag * signs[:, None]
        return replace(self, columns=self.columns + folded, drag=None)


def friction_arrays(
    problem: ContactProblem | None = None,
    *,
    rows: ContactRows | None = None,
    force: Floats | None = None,
    mass: Matrix = None,
    inverse_mass: Matrix = None,
    slip_tol: float = 0.0,
) -> FrictionArrays:
    """Stack a contact problem, or its plain arrays, for the solvers of this folder.

    Parameters
    ----------
    problem : ContactProblem, optional
        In place of `rows`, `force` and one of `mass` and `inverse_mass`.
    slip_tol : float
        A slip of at most this length is rest.

    Examples
    --------
    >>> from zwang._numerics.contact.problem import Contact
    >>> floor = Contact([0, 1], tangent=[[1, 0]], friction=0.5)
    >>> arrays = friction_arrays(ContactProblem(2 * np.eye(2), [0.4, -1.0], contacts=[floor]))
    >>> arrays.delassus
    array([[0.5, 0. ],
           [0. , 0.5]])
    >>> arrays.b
    array([-0.5,  0.2])
    """
    if problem is not None:
        rows, force = problem.thin_rows, problem.force
    if rows is None or force is None:
        raise TypeError("friction_arrays needs a ContactProblem, or rows and force.")
    known = rows.known
    along = _directions(rows, slip_tol)
    slides = (along != 0).any(axis=1)
    rubs = (rows.friction > 0) & (rows.components > 0)
    bound = np.where(known, rows.friction * np.abs(rows.load), -1.0)
    p = np.where(rubs & ~slides & (bound != 0), rows.components, 0)
    kind = np.where(known, BOUND, np.where(rows.bilateral, BILATERAL, UNILATERAL))
    size = p + ~known
    first = np.concatenate([[0], np.cumsum(size)])[:-1]
    layout = np.ascontiguousarray(np.column_stack([first, size, kind, p]), dtype=np.int64)
    law = np.ascontiguousarray(np.column_stack([rows.friction, bound]))
    force = np.asarray(force, dtype=float)
    if known.any():
        force = force + _known_forces(rows, known, slides, along)
    inverse = inverse_of(mass, inverse_mass) if problem is None else problem.inverse_form
    stacked, offset = _stack_rows(rows, layout)
    columns, drag = _fold(rows, stacked, layout, slides & rubs & ~known, along)
    return FrictionArrays(rows, inverse, force, stacked, columns, drag, offset, layout, law, slides & rubs, along)


def _directions(rows: ContactRows, slip_tol: float) -> Floats:
    """(k, 2) unit vectors of the slip, zero at rest."""
    slip = np.zeros((rows.count, 2))
    slip[rows.mask] = rows.slip
    length = np.linalg.norm(slip, axis=1)
    moving = length > slip_tol
    return np.where(moving[:, None], slip / np.where(moving, length, 1.0)[:, None], 0.0)


def _tangent_rows(rows: ContactRows, weights: Floats) -> Matrix:
    """(k, n): sum over the components of weights[j, i] times the tangents of contact j."""
    mask = rows.mask
    owner = np.repeat(np.arange(rows.count), rows.components)
    if is_sparse(rows.tangent):
        from scipy.sparse import csr_array

        pick = csr_array((weights[mask], (owner, np.arange(len(owner)))), shape=(rows.count, len(owner)))
        return pick @ csr_array(rows.tangent)
    result = np.zeros((rows.count, rows.normal.shape[1]))
    np.add.at(result, owner, weights[mask][:, None] * rows.tangent)
    return result


def _known_forces(rows: ContactRows, known: NDArray[np.bool_], slides: NDArray[np.bool_], along: Floats) -> Floats:
    given = np.where(known, rows.load, 0.0)
    load = np.asarray(rows.normal.T @ given)
    if (known & slides).any():
        weights = -np.where(known & slides, rows.friction * np.abs(given), 0.0)[:, None] * along
        load = load + np.asarray(_tangent_rows(rows, weights).sum(axis=0)).ravel()
    return load


def _stack_rows(rows: ContactRows, layout: Ints) -> tuple[Matrix, Floats]:
    """Interleave normals and tangents by contact."""
    first, size, kind, p = layout.T
    m, k = int(size.sum()), rows.count
    take = np.empty(m, dtype=np.int64)  # row of [normals; tangents]
    own = kind != BOUND
    take[first[own]] = np.flatnonzero(own)
    skip = own.astype(np.int64)
    for i in range(2):
        has = p > i
        take[(first + skip + i)[has]] = k + rows.first[:-1][has] + i
    offset = np.concatenate([rows.bias, rows.tangent_bias])[take]
    if is_sparse(rows.normal) or is_sparse(rows.tangent):
        from scipy.sparse import csr_array, vstack

        both = vstack([csr_array(rows.normal), csr_array(rows.tangent)], format="csr")
        return both[take], offset
    return np.ascontiguousarray(np.concatenate([rows.normal, rows.tangent])[take]), offset


def _fold(
    rows: ContactRows, stacked: Matrix, layout: Ints, sliding: NDArray[np.bool_], along: Floats
) -> tuple[Matrix, Matrix | None]:
    """Return G and drag."""
    if not sliding.any():
        return stacked, None
    friction = _tangent_rows(rows, -rows.friction[:, None] * along)
    two_sided = sliding & (layout[:, 2] == BILATERAL)
    one_sided = sliding & ~two_sided

    def placed(which: NDArray[np.bool_]) -> Matrix:
        index = np.flatnonzero(which)
        if is_sparse(stacked):
            from scipy.sparse import csr_array

            place = csr_array((np.ones(len(index)), (layout[index, 0], index)), shape=(stacked.shape[0], rows.count))
            return (place @ csr_array(friction)).tocsr()
        result = np.zeros(stacked.shape)
        result[layout[index, 0]] = friction[index]
        return result

    columns = stacked + placed(one_sided) if one_sided.any() else stacked
    return columns, placed(two_sided) if two_sided.any() else None
