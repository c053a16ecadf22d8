"""Gauss-Seidel over contacts: the tables its kernels work on, and the candidate it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.friction_cones.arrays import FrictionArrays
from zwang._numerics.friction_cones.candidate import Candidate, candidate_of
from zwang._numerics.friction_cones.gauss_seidel_kernels import (
    TABLE_WIDTH,
    fill_table,
    relax_bodies,
    relax_dense,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Sweeper = Callable[[Floats, float, int], tuple[int, float]]

MEMORY = 10
_DENSE_ROWS = 240  # up to here a dense row of W costs less than the scattered coordinates of two bodies


@dataclass(frozen=True, eq=False)
class SweepTables:
    """What the sweeps read: laws and blocks of all contacts, and W or the rows by contact.

    Attributes
    ----------
    layout : (k, 4) int array
    table : (k, 20) array
    work : array
        What a solve overwrites: tables serve one solve at a time.
    delassus : (m, m) array or None
        W^T, if the dense form is used.
    ptr, dof, rows, cols : arrays or None
        Coordinates that contact j touches, dof[ptr[j]:ptr[j+1]], with the entries (., 3) of H and A^-1 G^T there.
    """

    layout: Ints
    table: Floats
    work: Floats
    delassus: Floats | None
    ptr: NDArray[np.uint32] | None
    dof: NDArray[np.uint32] | None
    rows: Floats | None
    cols: Floats | None


def sweep_tables(arrays: FrictionArrays) -> SweepTables:
    """Prepare the sweeps; the same tables serve any force and offset."""
    dense = not arrays.has_sparse_delassus or arrays.size <= _DENSE_ROWS
    blocks = _own_blocks(arrays, dense)
    table = np.zeros((arrays.count, TABLE_WIDTH))
    fill_table(arrays.layout, arrays.law, blocks, table)
    length = 2 * arrays.size + (arrays.size if dense else len(arrays.force))
    work = np.zeros((MEMORY + 2) * length + MEMORY * (2 * MEMORY + 1))
    if dense:
        return SweepTables(arrays.layout, table, work, np.ascontiguousarray(arrays.delassus.T), None, None, None, None)
    return SweepTables(arrays.layout, table, work, None, *_by_contact(arrays))


def _own_blocks(arrays: FrictionArrays, dense: bool) -> Floats:
    """(k, 3, 3) blocks of W that belong to one contact, padded with zeros."""
    first, size = arrays.layout[:, 0], arrays.layout[:, 1]
    blocks = np.zeros((arrays.count, 3, 3))
    w = arrays.delassus if dense else arrays.sparse_delassus
    for i in range(3):
        for k in range(3):
            has = size > max(i, k)
            at, to = first[has] + i, first[has] + k
            blocks[has, i, k] = w[at, to] if dense else _entries(w, at, to)
    return blocks


def _entries(matrix: Any, at: Ints, to: Ints) -> Floats:
    """Single entries of a csr matrix with sorted indices."""
    from scipy.sparse import csr_array

    matrix = csr_array(matrix)
    m = matrix.shape[0]
    row = np.repeat(np.arange(m), np.diff(matrix.indptr))
    key = row * m + matrix.indices
    order = np.argsort(key)
    place = np.searchsorted(key, at * m + to, sorter=order)
    place = order[np.minimum(place, len(order) - 1)]
    return np.where(key[place] == at * m + to, matrix.data[place], 0.0)


def _by_contact(arrays: FrictionArrays) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Floats, Floats]:
    """Gather the entries of H and A^-1 G^T that share a contact and a coordinate."""
    columns = (arrays.mass.matrix @ arrays.columns.T).T.tocoo()
    rows = arrays.rows.tocoo()
    n = rows.shape[1]
    owner = np.repeat(np.arange(arrays.count), arrays.layout[:, 1])
    inside = np.arange(arrays.size) - arrays.layout[owner, 0]
    key = [owner[part.row] * n + part.col for part in (rows, columns)]
    places = np.unique(np.concatenate(key))
    h, y = np.zeros((len(places), 3)), np.zeros((len(places), 3))
    h[np.searchsorted(places, key[0]), inside[rows.row]] = rows.data
    y[np.searchsorted(places, key[1]), inside[columns.row]] = columns.data
    ptr = np.searchsorted(places, np.arange(arrays.count + 1) * n).astype(np.uint32)
    return ptr, (places % n).astype(np.uint32), h, y


def sweeper(arrays: FrictionArrays, tables: SweepTables, memory: int = MEMORY) -> Sweeper:
    """Return sweep(r, tol, limit) -> (sweeps, residual), which overwrites r until its residual is below `tol`."""
    memory, cause = min(memory, arrays.size, MEMORY), arrays.cause
    if tables.delassus is not None:
        kernel = partial(relax_dense.compiled, tables.delassus, arrays.b, tables.layout, tables.table, tables.work)
    else:
        kernel = partial(
            relax_bodies.compiled, tables.ptr, tables.dof, tables.rows, tables.cols, arrays.offset, arrays.free,
            tables.layout, tables.table, tables.work,
        )  # fmt: skip

    def sweep(r: Floats, tol: float, limit: int) -> tuple[int, float]:
        return kernel(r, cause, tol, limit, memory)  # type: ignore[no-any-return]

    return sweep


def gauss_seidel(
    arrays: FrictionArrays,
    *,
    start: Floats | None = None,
    tol: float = 1e-8,
    limit: int = 2000,
    memory: int = MEMORY,
    tables: SweepTables | None = None,
) -> Candidate:
    """Sweep over the contacts until the residual is below `tol`.

    Parameters
    ----------
    start : (m,) array, optional
        Forces to start from.
    limit : int
        Sweeps at most.
    memory : int
        Past sweeps that are mixed; 0 gives plain Gauss-Seidel.

    Examples
    --------
    >>> from zwang._numerics.contacts import Contact, ContactProblem
    >>> from zwang._numerics.friction_cones.arrays import friction_arrays
    >>> floor = Contact([0, 1], tangent=[[1, 0]], friction=0.5)
    >>> arrays = friction_arrays(ContactProblem(np.eye(2), [2.0, -1.0], contacts=[floor]))
    >>> gauss_seidel(arrays).forces
    array([ 1. , -0.5])
    """
    tables = sweep_tables(arrays) if tables is None else tables
    r = np.zeros(arrays.size) if start is None else np.array(start, dtype=float)
    sweeps, _ = sweeper(arrays, tables, memory)(r, tol, limit)
    return candidate_of(arrays, r, "Gauss-Seidel", sweeps)
