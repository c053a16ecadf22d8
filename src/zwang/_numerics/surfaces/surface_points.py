"""One point of a surface: Newton's method onto it, its tangent plane, and how far the surface is one sheet there.

With J the rows of the equations and H their second derivatives, N = J^+ H is free of the equations' units. Its part
along the tangent plane is the curvature of the surface; all of it says how soon the rows turn, that is, how far away
another sheet, a neck or a singular point can be. Edges are a fraction of both lengths, so the surface within reach of
a point is a graph over its tangent plane. Where equations repeat others, the strongest rows are taken, as many as are
independent.
"""

from __future__ import annotations

import math
from typing import Any

from zwang._numerics.curves.rows import ScaledSet, Slate, load, rotate_rows
from zwang._numerics.jit import njit
from zwang._numerics.linear.dense import cholesky

BEND, TURN = 0.5, 0.6
"""Edges are shorter than this part of the radius of curvature, and of the length in which the rows turn by one."""
REPEATED = 1e-6
"""What is left of an equation and its gradient, in scaled units, where it repeats others."""
TURNS = 12  # of Newton's method along the normal


@njit(_nrt=False)
def orthonormal(W: Any, rows: int, n: int, columns: int, rank: int, G: Any) -> bool:
    """Make the first `rank` rows of W an orthonormal basis of the gradients (columns up to n); the rest goes along.

    By Cholesky's factors of the Gram matrix where no equation repeats others, by rotations of rows where one does: the
    strongest are then those that count. Return whether there are so many.
    """
    if rows == rank:
        for i in range(rows):
            for k in range(i + 1):
                total = 0.0
                for j in range(n):
                    total += W[i, j] * W[k, j]
                G[i, k] = total
        if not cholesky(G, G, rows, 0.0) > 1e-14:
            return False
        for i in range(rows):
            for k in range(i):
                for j in range(columns):
                    W[i, j] -= G[i, k] * W[k, j]
            for j in range(columns):
                W[i, j] *= G[i, i]  # `cholesky` leaves the reciprocals there
        return True
    rotate_rows(W, rows, n)
    for k in range(rank):
        best, most = k, -1.0
        for p in range(k, rows):
            size = 0.0
            for j in range(n):
                size += W[p, j] * W[p, j]
            if size > most:
                best, most = p, size
        if not most > 1e-24:
            return False
        size = math.sqrt(most)
        for j in range(columns):
            W[k, j], W[best, j] = W[best, j], W[k, j]
        for j in range(columns):
            W[k, j] /= size
    return True


@njit(_nrt=False)
def onto(evaluate: Any, given: ScaledSet, slate: Slate, rank: int, G: Any, x: Any, reach: float) -> bool:
    """Move x to the surface by the shortest steps; return whether it arrived within `reach`."""
    n, rows, W = given.sizes[0], given.mix.shape[0], slate.W
    if rank == 0:
        return True
    moved, before, length, size = 0.0, math.inf, math.inf, 1.0
    for _ in range(TURNS):
        if not load(evaluate, given, slate, x) or not orthonormal(W, rows, n, n + 1, rank, G):
            return False
        square, size = 0.0, 1.0
        for j in range(n):
            step = 0.0
            for p in range(rank):
                step -= W[p, n] * W[p, j]
            x[j] += step
            square += step * step
            size = max(size, abs(x[j]))
        length = math.sqrt(square)
        moved += length
        if moved > reach or not math.isfinite(length):
            return False
        # Steps shrink by squares: after one of 1e-8 the next is rounding.
        if length <= 1e-14 * size or (length <= 1e-8 * size and before <= 1e-8 * size):
            return rows == rank or _repeats(evaluate, given, slate, rank, G, x)
        before = length
    return length <= 1e-12 * size and (rows == rank or _repeats(evaluate, given, slate, rank, G, x))


@njit(_nrt=False)
def _repeats(evaluate: Any, given: ScaledSet, slate: Slate, rank: int, G: Any, x: Any) -> bool:
    """Say whether the equations beyond the rank repeat the others, as on the surface; on a curve they don't."""
    n, rows, W = given.sizes[0], given.mix.shape[0], slate.W
    if not load(evaluate, given, slate, x) or not orthonormal(W, rows, n, n + 1, rank, G):
        return False
    for p in range(rank, rows):
        for j in range(n + 1):
            if abs(W[p, j]) > REPEATED:
                return False
    return True


@njit(_nrt=False)
def frame_at(evaluate: Any, bent: ScaledSet, q: Any, out: Any, W: Any, rank: int, G: Any, tangent: Any) -> float:
    """Write an orthonormal basis of the tangent plane at q/scale in q; return the edge that suits it, 0 where singular.

    W has n + 1 + n^2 columns: the gradient, the value and the second derivatives, which go along with the rows.
    """
    n, m, rows, scale, mix = bent.sizes[0], bent.sizes[1], bent.mix.shape[0], bent.scale, bent.mix
    if rank == 0:
        tangent[0, 0], tangent[0, 1], tangent[1, 0], tangent[1, 1] = 1.0, 0.0, 0.0, 1.0
        return math.inf
    evaluate(bent.t, q, q[:0], bent.params, bent.table, bent.work, out)
    columns = n + 1 + n * n
    for i in range(rows):
        for j in range(columns):
            W[i, j] = 0.0
        for k in range(m):
            weight = mix[i, k]
            if weight == 0.0:
                continue
            for j in range(n):
                W[i, j] += weight * out[m + k * n + j] * scale[j]
            start = m + m * n + k * n * n
            for j in range(n):
                for l in range(n):
                    W[i, n + 1 + j * n + l] += weight * out[start + j * n + l] * scale[j] * scale[l]
    if not orthonormal(W, rows, n, columns, rank, G):
        return 0.0
    _complement(W, n, rank, tangent)
    whole, bend = 0.0, 0.0
    for p in range(rank):
        aa, ab, bb = 0.0, 0.0, 0.0
        for j in range(n):
            for l in range(n):
                value = W[p, n + 1 + j * n + l]
                whole += value * value
                aa += tangent[0, j] * value * tangent[0, l]
                ab += tangent[0, j] * value * tangent[1, l]
                bb += tangent[1, j] * value * tangent[1, l]
        half = 0.5 * (aa - bb)
        curved = abs(0.5 * (aa + bb)) + math.sqrt(half * half + ab * ab)
        bend += curved * curved
    edge = math.inf
    if bend > 0.0:
        edge = BEND / math.sqrt(bend)
    if whole > 0.0:
        edge = min(edge, TURN / math.sqrt(whole))
    return edge if math.isfinite(whole) else 0.0


@njit(_nrt=False)
def _complement(W: Any, n: int, rank: int, tangent: Any) -> None:
    """Write two orthonormal rows orthogonal to those of W, from the axes that have most room for them."""
    for which in range(2):
        best, most = 0, -1.0
        for j in range(n):
            room = 1.0
            for p in range(rank):
                room -= W[p, j] * W[p, j]
            if which == 1:
                room -= tangent[0, j] * tangent[0, j]
            if room > most + 1e-12:
                best, most = j, room
        for j in range(n):
            tangent[which, j] = 1.0 if j == best else 0.0
        for _ in range(2):
            for p in range(rank):
                dot = 0.0
                for i in range(n):
                    dot += W[p, i] * tangent[which, i]
                for i in range(n):
                    tangent[which, i] -= dot * W[p, i]
            if which == 1:
                dot = 0.0
                for i in range(n):
                    dot += tangent[0, i] * tangent[1, i]
                for i in range(n):
                    tangent[1, i] -= dot * tangent[0, i]
            size = 0.0
            for i in range(n):
                size += tangent[which, i] * tangent[which, i]
            for i in range(n):
                tangent[which, i] /= math.sqrt(max(size, 1e-300))
