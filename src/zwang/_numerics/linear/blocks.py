"""Symmetric matrices that fall into small diagonal blocks, as the masses of bodies do that only contacts join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST = 16
"""Coordinates of one body, or of a few bodies joined: inverses of larger blocks would fill too much."""
WORTH = 64
"""Coordinates up to which a dense matrix is as quick as its blocks."""


class Blocks(NamedTuple):
    """The blocks of one size: their coordinates (b, s), ascending, and their entries (b, s, s)."""

    places: Ints
    value: Floats


def diagonal_blocks(matrix: Any) -> list[Blocks] | None:
    """Return the blocks of a dense or sparse symmetric matrix, by size; None where it is small or one is large.

    Examples
    --------
    >>> coupled = np.kron(np.eye(40), [[2.0, 1.0], [1.0, 3.0]])
    >>> [found] = diagonal_blocks(coupled)
    >>> found.places[1], found.value[1].tolist()
    (array([2, 3]), [[2.0, 1.0], [1.0, 3.0]])
    >>> diagonal_blocks(np.ones((80, 80))) is None
    True
    """
    n = matrix.shape[0]
    if hasattr(matrix, "tocsr"):
        csr = matrix.tocsr()
        row, col, value = np.repeat(np.arange(n), np.diff(csr.indptr)), csr.indices.astype(np.int64), csr.data
    else:
        there = matrix.ravel() != 0
        if n <= WORTH or np.count_nonzero(there) > LARGEST * n:
            return None
        place = np.flatnonzero(there)
        row, col = np.divmod(place, n)
        value = matrix.ravel()[place]
    label = np.arange(n)
    for _ in range(LARGEST):
        least = label.copy()
        np.minimum.at(least, row, label[col])
        if (least == label).all():
            return _by_size(n, label, row, col, value)
        label = least
    return None


def _by_size(n: int, label: Ints, row: Ints, col: Ints, value: Floats) -> list[Blocks] | None:
    """Return the blocks of coordinates that share a label."""
    count = np.bincount(label, minlength=n)
    if count.max(initial=0) > LARGEST:
        return None
    members = np.argsort(label, kind="stable")
    start = np.cumsum(count) - count  # of the block that a coordinate gives its name
    inside = np.empty(n, dtype=np.int64)
    inside[members] = np.arange(n) - start[label[members]]
    sizes = count[label]
    found = []
    for size in np.unique(sizes):
        first = np.flatnonzero(count == size)
        rank = np.zeros(n, dtype=np.int64)
        rank[first] = np.arange(len(first))
        here = sizes[row] == size
        at, to = row[here], col[here]
        block = np.zeros((len(first), size, size))
        np.add.at(block, (rank[label[at]], inside[at], inside[to]), value[here])  # sparse ones may name a place twice
        found.append(Blocks(members[start[first][:, None] + np.arange(size)], block))
    return found


def joined(n: int, blocks: Sequence[Blocks]) -> Any:
    """Return the matrix of these blocks as csr."""
    from scipy.sparse import csr_array

    if len(blocks) == 1 and (blocks[0].places.ravel() == np.arange(n)).all():  # bodies one after the other
        _, size = blocks[0].places.shape
        column = np.repeat(blocks[0].places, size, axis=0).ravel()
        return csr_array((blocks[0].value.ravel(), column, np.arange(0, size * n + 1, size)), shape=(n, n))
    row = [np.repeat(index, index.shape[1], axis=1).ravel() for index, _ in blocks]
    col = [np.tile(index, (1, index.shape[1])).ravel() for index, _ in blocks]
    value = [block.ravel() for _, block in blocks]
    return csr_array((np.concatenate(value), (np.concatenate(row), np.concatenate(col))), shape=(n, n))
