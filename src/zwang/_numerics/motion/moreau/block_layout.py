"""Where everything stands: blocks of the mass matrix, rows of the contacts, and which rows feel each other.

Coordinates that the mass matrix couples form a *block* (a body, in absolute coordinates), whose inverse is small. Two
rows have an entry in W = J M^-1 J^T if they touch a common block. All constraints are laid out, acting or not, so that
contacts may open and close from step to step without anything being laid out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StepRow:
    """One contact: its side, the number of its normal row (-1: none) and those of its slips, among all rows."""

    side: int
    normal: int
    slips: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class StepLayout:
    """The tables of a step; made by `step_layout`.

    Attributes
    ----------
    n : int
        Number of coordinates.
    source : (m,) int array
        The declared row that each row of the step is: contact by contact, the normal before its slips.
    first, size, kind : (k,) int arrays
        Rows of each contact.
    block_start : (b + 1,), block_of : (b + 1,) int arrays
        Coordinates of each block in `members`, and where its matrix starts in the array of all of them.
    members : (n,) int array
    mass_slots : (2 e,) int array
        Where each entry of the mass matrix goes, and its mirror image.
    row_slots : (z,) int array
        Where each entry of the declared rows goes; -1 if its row belongs to no contact.
    j_start, j_column : int arrays
        The rows, compressed.
    w_start, w_column : int arrays
        W, compressed.
    blocks_start, blocks : int arrays
        The blocks that each row touches.
    """

    n: int
    source: Ints
    first: Ints
    size: Ints
    kind: Ints
    block_start: Ints
    block_at: Ints
    members: Ints
    mass_slots: Ints
    row_slots: Ints
    j_start: Ints
    j_column: Ints
    w_start: Ints
    w_column: Ints
    blocks_start: Ints
    blocks: Ints

    @property
    def tables(self) -> tuple[Ints, ...]:
        """The integer tables in the order in which the kernels take them."""
        return (
            self.block_start, self.block_at, self.members, self.mass_slots, self.row_slots, self.j_start, self.j_column,
            self.w_start, self.w_column, self.blocks_start, self.blocks, self.first, self.size, self.kind,
        )  # fmt: skip


def step_layout(n: int, mass_places: Ints, row_places: Ints, contacts: Sequence[StepRow]) -> StepLayout:
    """Lay a system out.

    Parameters
    ----------
    n : int
    mass_places : (e, 2) int array
        StepRow and column of the entries of the mass matrix, of one triangle; entries at one place are summed.
    row_places : (z, 2) int array
        Number and coordinate of the entries of the declared rows.
    contacts : sequence of StepRow

    Examples
    --------
    A particle of two coordinates on a floor with friction.

    >>> made = step_layout(2, np.array([[0, 0], [1, 1]]), np.array([[0, 1], [1, 0]]), [StepRow(0, 0, (1,))])
    >>> made.source, made.j_column, np.diff(made.block_start)
    (array([0, 1]), array([1, 0]), array([1, 1]))
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    mass_places, row_places = (np.asarray(a, dtype=np.int64).reshape(-1, 2) for a in (mass_places, row_places))
    coupled = coo_array((np.ones(len(mass_places)), (mass_places[:, 0], mass_places[:, 1])), shape=(n, n))
    count, label = connected_components(coupled, directed=False)
    members = np.argsort(label, kind="stable").astype(np.int64)
    sizes = np.bincount(label, minlength=count)
    block_start = np.concatenate([[0], np.cumsum(sizes)])
    block_at = np.concatenate([[0], np.cumsum(sizes**2)])
    inside = np.empty(n, dtype=np.int64)
    inside[members] = np.arange(n) - block_start[label[members]]
    i, j = mass_places.T
    base, width = block_at[label[i]], sizes[label[i]]
    mirror = np.where(i == j, -1, base + inside[j] * width + inside[i])
    mass_slots = np.concatenate([base + inside[i] * width + inside[j], mirror])

    source = np.array([r for one in contacts for r in ((one.normal,) if one.normal >= 0 else ()) + one.slips])
    size = np.array([(one.normal >= 0) + len(one.slips) for one in contacts], dtype=np.int64)
    m = len(source)
    place_of = np.full(int(max(row_places[:, 0].max(initial=-1), source.max(initial=-1))) + 1, -1)
    place_of[source.astype(np.int64)] = np.arange(m)
    row = place_of[row_places[:, 0]]
    used = row >= 0
    key = row[used] * n + row_places[used, 1]
    kept, slots = np.unique(key, return_inverse=True)
    row_slots = np.full(len(row_places), -1)
    row_slots[used] = slots
    j_start = np.searchsorted(kept, np.arange(m + 1) * n)
    touched = coo_array((np.ones(len(kept)), (kept // n, label[kept % n])), shape=(m, count)).tocsr()
    touched.sum_duplicates()
    touched.data[:] = 1.0
    pattern = (touched @ touched.T).tocsr()
    pattern.sort_indices()
    ints = [
        source, np.concatenate([[0], np.cumsum(size)])[:-1], size, [one.side for one in contacts], block_start,
        block_at, members, mass_slots, row_slots, j_start, kept % n, pattern.indptr, pattern.indices, touched.indptr,
        touched.indices,
    ]  # fmt: skip
    return StepLayout(n, *(np.ascontiguousarray(part, dtype=np.int64) for part in ints))
