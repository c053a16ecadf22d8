"""Contacts by the few coordinates that they touch: what forces do to bodies, to their own contact, to the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit

Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.uint32]  # unsigned: for a signed index, each access tests whether it counts from the end


class BodyRows(NamedTuple):
    """The structure of bodies: contact j touches the coordinates dof[ptr[j]:ptr[j+1]].

    `rows` and `cols` are the entries (., 3) of H and A^-1 G^T there, `offset` is what the rows' accelerations lack, and
    `free` is A^-1 f.
    """

    ptr: Indices
    dof: Indices
    rows: Matrix
    cols: Matrix
    offset: Floats
    free: Floats


class Csr(NamedTuple):
    """A sparse matrix by rows."""

    ptr: Ints
    col: Ints
    value: Floats

    @classmethod
    def of(cls, matrix: Any) -> Csr:
        """Return that of a scipy.sparse matrix."""
        csr = matrix.tocsr()
        return cls(csr.indptr.astype(np.int64), csr.indices.astype(np.int64), csr.data)


@njit("void(int64[:,::1], Csr, Csr, Csr, int64[::1], int64[::1])")
def _count(layout: Any, h: Csr, g: Csr, inverse: Csr, mark: Any, ptr: Any) -> None:
    """Fill where the coordinates of each contact begin; `mark` (n,) is -1."""
    ptr[0] = 0
    for j in range(layout.shape[0]):
        total = ptr[j]
        for i in range(layout[j, 0], layout[j, 0] + layout[j, 1]):
            for e in range(h.ptr[i], h.ptr[i + 1]):
                if mark[h.col[e]] != j:
                    mark[h.col[e]] = j
                    total += 1
            for e in range(g.ptr[i], g.ptr[i + 1]):
                for f in range(inverse.ptr[g.col[e]], inverse.ptr[g.col[e] + 1]):
                    if mark[inverse.col[f]] != j:
                        mark[inverse.col[f]] = j
                        total += 1
        ptr[j + 1] = total


@njit("void(int64[:,::1], Csr, Csr, Csr, int64[::1], int64[::1], int64[::1], float64[:,::1], float64[:,::1])")
def _fill(layout: Any, h: Csr, g: Csr, inverse: Csr, place: Any, ptr: Any, dof: Any, rows: Any, cols: Any) -> None:
    """Fill the coordinates and entries of each contact; `place` (n,) is -1."""
    for j in range(layout.shape[0]):
        start, end = ptr[j], ptr[j]
        for i in range(layout[j, 0], layout[j, 0] + layout[j, 1]):
            inside = i - layout[j, 0]
            for e in range(h.ptr[i], h.ptr[i + 1]):
                c = h.col[e]
                if place[c] < start:  # an earlier contact's, or nobody's
                    place[c] = end
                    dof[end] = c
                    end += 1
                rows[place[c], inside] += h.value[e]
            for e in range(g.ptr[i], g.ptr[i + 1]):
                for f in range(inverse.ptr[g.col[e]], inverse.ptr[g.col[e] + 1]):
                    c = inverse.col[f]
                    if place[c] < start:
                        place[c] = end
                        dof[end] = c
                        end += 1
                    cols[place[c], inside] += g.value[e] * inverse.value[f]


def body_rows(layout: Ints, rows: Any, columns: Any, inverse: Any, offset: Floats, free: Floats) -> BodyRows:
    """Gather the entries of H and A^-1 G^T, both (m, n) sparse, that share a contact and a coordinate."""
    n = rows.shape[1]
    h, across = Csr.of(rows), Csr.of(inverse)
    g = h if columns is rows else Csr.of(columns)
    ptr = np.empty(len(layout) + 1, dtype=np.int64)
    _count(layout, h, g, across, np.full(n, -1), ptr)
    total = int(ptr[-1])
    dof, entries, responses = np.empty(total, dtype=np.int64), np.zeros((total, 3)), np.zeros((total, 3))
    _fill(layout, h, g, across, np.full(n, -1), ptr, dof, entries, responses)
    return BodyRows(ptr.astype(np.uint32), dof.astype(np.uint32), entries, responses, offset, free)


@njit("void(BodyRows, float64[:,:,::1])")
def own_blocks(bodies: BodyRows, blocks: Any) -> None:
    """Fill what each contact's forces do to itself: its block of W, (k, 3, 3) padded with zeros."""
    rows, cols = bodies.rows, bodies.cols
    for j in range(blocks.shape[0]):
        for e in range(bodies.ptr[j], bodies.ptr[j + 1]):
            for i in range(3):
                for k in range(3):
                    blocks[j, i, k] += rows[e, i] * cols[e, k]


class Neighbours(NamedTuple):
    """Which contacts share a coordinate: those of contact j are who[ptr[j]:ptr[j+1]], itself among them."""

    ptr: Ints
    who: Ints


@njit("int64(BodyRows, int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], boolean)")
def _meet(bodies: BodyRows, first: Any, at: Any, mark: Any, ptr: Any, who: Any, fill: bool) -> int:
    """Count or fill the neighbours; at[first[c]:first[c + 1]] are the contacts that touch coordinate c."""
    total = 0
    for j in range(ptr.size - 1):
        ptr[j] = total
        for e in range(bodies.ptr[j], bodies.ptr[j + 1]):
            c = bodies.dof[e]
            for f in range(first[c], first[c + 1]):
                other = at[f]
                if mark[other] != j:
                    mark[other] = j
                    if fill:
                        who[total] = other
                    total += 1
    ptr[ptr.size - 1] = total
    return total


def neighbours(bodies: BodyRows, count: int) -> Neighbours:
    """Return which of the contacts share a coordinate."""
    bounds = bodies.ptr.astype(np.int64)
    owner = np.repeat(np.arange(count), bounds[1:] - bounds[:-1])
    order = np.argsort(bodies.dof, kind="stable")
    first = np.append(0, np.cumsum(np.bincount(bodies.dof, minlength=len(bodies.free))))
    at, ptr = owner[order], np.empty(count + 1, dtype=np.int64)
    total = _meet(bodies, first, at, np.full(count, -1), ptr, np.empty(0, dtype=np.int64), False)
    who = np.empty(total, dtype=np.int64)
    _meet(bodies, first, at, np.full(count, -1), ptr, who, True)
    return Neighbours(ptr, who)


@njit("void(BodyRows, int64[:,::1], Neighbours, float64[::1], float64[:,::1], int64[::1], int64[::1], float64[::1])")
def _couple(bodies: BodyRows, layout: Any, near: Neighbours, unit: Any, on: Any, ptr: Any, col: Any, val: Any) -> None:
    """Fill W by rows, each force and row divided by the unit of its contact; `on` (n, 3) is zero."""
    rows, cols, dof = bodies.rows, bodies.cols, bodies.dof
    for j in range(layout.shape[0]):
        for e in range(bodies.ptr[j], bodies.ptr[j + 1]):
            for i in range(3):
                on[dof[e], i] = rows[e, i] / unit[j]
        a, width = layout[j, 0], 0
        for f in range(near.ptr[j], near.ptr[j + 1]):
            width += layout[near.who[f], 1]
        for i in range(layout[j, 1]):
            ptr[a + i + 1] = ptr[a + i] + width
        at = ptr[a] if layout[j, 1] > 0 else 0
        for f in range(near.ptr[j], near.ptr[j + 1]):
            other = near.who[f]
            for k in range(layout[other, 1]):
                s0, s1, s2 = 0.0, 0.0, 0.0
                for e in range(bodies.ptr[other], bodies.ptr[other + 1]):
                    y = cols[e, k]
                    s0 += on[dof[e], 0] * y
                    s1 += on[dof[e], 1] * y
                    s2 += on[dof[e], 2] * y
                for i in range(layout[j, 1]):
                    col[at + i * width] = layout[other, 0] + k
                    val[at + i * width] = (s0 if i == 0 else s1 if i == 1 else s2) / unit[other]
                at += 1
        for e in range(bodies.ptr[j], bodies.ptr[j + 1]):
            for i in range(3):
                on[dof[e], i] = 0.0


def coupling(bodies: BodyRows, layout: Ints, near: Neighbours, unit: Floats) -> Csr:
    """Return W = H A^-1 G^T by rows, forces and accelerations divided by the `unit` (k,) of their contacts."""
    size = layout[:, 1]
    width = np.add.reduceat(np.append(size[near.who], 0), near.ptr[:-1])
    width[near.ptr[:-1] == near.ptr[1:]] = 0
    total = int((width * size).sum())
    ptr, col, value = np.zeros(int(size.sum()) + 1, dtype=np.int64), np.empty(total, dtype=np.int64), np.empty(total)
    _couple(bodies, layout, near, unit, np.zeros((len(bodies.free), 3)), ptr, col, value)
    return Csr(ptr, col, value)
