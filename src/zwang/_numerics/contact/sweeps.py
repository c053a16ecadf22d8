"""Gauss-Seidel over contacts: the tables its kernels work on, and the candidate it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.body_rows import BodyRows, own_blocks
from zwang._numerics.contact.candidate import Candidate, candidate_of
from zwang._numerics.contact.delassus import FrictionArrays
from zwang._numerics.contact.local_contact import HELD
from zwang._numerics.contact.scaled_system import ScaledSystem, scaled_system
from zwang._numerics.contact.sweep_kernels import (
    TABLE_WIDTH,
    dense_work,
    fill_table,
    relax_bodies,
    relax_dense,
)

Floats = NDArray[np.float64]
Sweeper = Callable[[Floats | None, float, int], tuple[Floats, int, int, float]]

MEMORY = 10  # of Anderson's acceleration: differences that are kept
_DENSE_ROWS = 90  # up to here a dense row of W costs less than the scattered coordinates of two bodies


@dataclass(frozen=True, eq=False)
class SweepTables:
    """What the sweeps read: laws and blocks of all contacts, and W or the rows by contact. For one solve at a time.

    Attributes
    ----------
    table : (k, 20) array
    work : array
        What a solve overwrites.
    system : ScaledSystem or None
        W, b and laws in scaled units, if the dense form is used; the table is in scaled units then too.
    bodies : BodyRows or None
        The rows by contact, in the other form.
    """

    table: Floats
    work: Floats
    system: ScaledSystem | None
    bodies: BodyRows | None = None


def sweep_tables(arrays: FrictionArrays, *, dense: bool | None = None) -> SweepTables:
    """Prepare the sweeps, in the form that is cheaper unless `dense` says which."""
    if dense is None:
        dense = not arrays.has_sparse_delassus or arrays.size <= _DENSE_ROWS
    table = np.zeros((arrays.count, TABLE_WIDTH))
    if dense:
        system = scaled_system(arrays)
        fill_table(arrays.layout, system.law, _own_blocks(arrays, system.wt.T), table)
        return SweepTables(table, np.zeros(dense_work(arrays.size, arrays.count, MEMORY)), system)
    bodies = arrays.bodies
    blocks = np.zeros((arrays.count, 3, 3))  # what a contact's forces do to itself; the whole W is not needed
    own_blocks(bodies, blocks)
    fill_table(arrays.layout, arrays.law, blocks, table)
    length = 2 * arrays.size + len(arrays.force)
    work = np.zeros((MEMORY + 2) * length + MEMORY * (2 * MEMORY + 1))
    return SweepTables(table, work, None, bodies)


def _own_blocks(arrays: FrictionArrays, w: Floats) -> Floats:
    """(k, 3, 3) blocks of W that belong to one contact, padded with zeros."""
    first, size = arrays.layout[:, 0], arrays.layout[:, 1]
    blocks = np.zeros((arrays.count, 3, 3))
    for i in range(3):
        for k in range(3):
            has = size > max(i, k)
            blocks[has, i, k] = w[first[has] + i, first[has] + k]
    return blocks


def sweep_kernel(
    arrays: FrictionArrays, tables: SweepTables, *, held: NDArray[np.bool_] | None = None
) -> Callable[..., Any]:
    """Return the compiled kernel with its tables bound.

    In the dense form it takes (r, fresh, tol, limit, memory) and returns (sweeps, Newton steps, residual); on the
    structure of bodies it takes (r, cause, tol, limit, memory) and returns (sweeps, residual). r is overwritten.
    """
    system = tables.system
    if system is not None:
        rows = np.vstack([system.wt, system.b, system.unit])
        return partial(relax_dense.entry, rows, arrays.layout, tables.table, tables.work)
    layout = arrays.layout
    if held is not None:
        layout = layout.copy()
        layout[held, 2] = HELD
    assert tables.bodies is not None
    bodies = tables.bodies._replace(offset=arrays.offset, free=arrays.free)  # tables serve other forces too
    return partial(relax_bodies.entry, bodies, layout, tables.table, tables.work)


def sweeper(
    arrays: FrictionArrays, tables: SweepTables, memory: int = MEMORY, *, held: NDArray[np.bool_] | None = None
) -> Sweeper:
    """Return sweep(r, tol, limit) -> (forces, sweeps, Newton steps, residual); r None starts from zero forces.

    On the structure of bodies, contacts may be `held`: they keep their forces and don't count in the residual.
    """
    memory, size, cause = min(memory, arrays.size, MEMORY), arrays.size, arrays.cause
    kernel = sweep_kernel(arrays, tables, held=held)

    def sweep_dense(r: Floats | None, tol: float, limit: int) -> tuple[Floats, int, int, float]:
        x = np.empty(size) if r is None else r.copy()
        sweeps, steps, residual = kernel(x, r is None, tol, limit, memory)
        return x, sweeps, steps, residual

    def sweep_bodies(r: Floats | None, tol: float, limit: int) -> tuple[Floats, int, int, float]:
        x = np.zeros(size) if r is None else r.copy()
        sweeps, residual = kernel(x, cause, tol, limit, memory)
        return x, sweeps, 0, residual

    return sweep_bodies if tables.system is None else sweep_dense


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
    >>> from zwang._numerics.contact.problem import Contact, ContactProblem
    >>> from zwang._numerics.contact.delassus import friction_arrays
    >>> floor = Contact([0, 1], tangent=[[1, 0]], friction=0.5)
    >>> arrays = friction_arrays(ContactProblem(np.eye(2), [2.0, -1.0], contacts=[floor]))
    >>> gauss_seidel(arrays).forces
    array([ 1. , -0.5])
    """
    tables = sweep_tables(arrays) if tables is None else tables
    r, sweeps, steps, _ = sweeper(arrays, tables, memory)(start, tol, limit)
    return candidate_of(arrays, r, name_of(steps), sweeps + steps)


def name_of(steps: int) -> str:
    """Return what to call sweeps that were followed by Newton steps, or not."""
    return "Gauss-Seidel and Newton" if steps else "Gauss-Seidel"
