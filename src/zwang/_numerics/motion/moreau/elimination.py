"""Elimination of the system of a step (`direct`): groups of coordinates, their order, and the factors L and U.

Coordinates that the same contacts touch (those of a body) make a *group*. Groups that share a contact are coupled; the
group with the least work is eliminated first (minimum degree), which couples those around it: so a heap of balls is
taken apart from the outside, a tower from its ends, and islands fall apart by themselves. Factors are stored by pairs
of groups, small dense matrices. The system is not symmetric, its pattern is: L by rows, U by columns, in the same
places.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.motion.moreau.kernels import (
    ACTIVE,
    BLOCK_START,
    BLOCKS,
    BLOCKS_START,
    FIRST,
    FLOATS,
    INTS,
    J_COLUMN,
    J_START,
    JAC,
    MEMBERS,
    SIZE,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
PRIME, MIX = 2147483647, 1103515245
"""Modulus and multiplier that make numbers of contacts look random."""
BODY = 6
"""Coordinates of a free body in space: groups of that many have a loop of their own."""


class Elimination(NamedTuple):
    """Where everything stands in the factors.

    Attributes
    ----------
    place : (n,)
        Place of each coordinate in the order of elimination.
    group : (n,)
        Group of each place.
    begin : (g + 1,)
        First place of each group.
    start, earlier, at : (g + 1,), (p,), (p,)
        The earlier groups that each group is coupled with, compressed and ascending, and where their matrices start.
    own : (g + 1,)
        Where the matrix of each group with itself starts; last the length of all.
    work : float
        Multiplications of one factorization.
    """

    place: Ints
    group: Ints
    begin: Ints
    start: Ints
    earlier: Ints
    at: Ints
    own: Ints
    work: float


@njit
def _groups(t: Any) -> Any:
    """Return the group of each block, how many are touched (they come first), and how many there are.

    Blocks that the same active contacts touch are one. Sums of numbers that look random tell sets of contacts apart;
    two that agree by accident cost some work, no more.
    """
    blocks = t[BLOCK_START].size - 1
    mark, last = np.zeros(blocks, np.int64), np.full(blocks, -1, np.int64)
    for c in range(t[FIRST].size):
        if t[ACTIVE][c]:
            code = ((c + 1) * MIX) % PRIME
            code = (code * code) % PRIME + 1
            for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
                for q in range(t[BLOCKS_START][a], t[BLOCKS_START][a + 1]):
                    k = t[BLOCKS][q]
                    if last[k] != c:
                        last[k] = c
                        mark[k] += code
    order = np.argsort(mark)
    found, count, before = np.empty(blocks, np.int64), 0, 0
    for k in order:
        if last[k] >= 0:
            if mark[k] != before:
                count += 1
            found[k], before = count - 1, mark[k]
    touched = count
    for k in range(blocks):
        if last[k] < 0:
            found[k] = count
            count += 1
    return found, touched, count


@njit
def _coupled(t: Any, group: Any, count: int) -> Any:
    """Return which groups share an active contact (count, count)."""
    linked = np.zeros((count, count), np.uint8)
    seen, room = np.full(count, -1, np.int64), np.empty(count, np.int64)
    for c in range(t[FIRST].size):
        if not t[ACTIVE][c]:
            continue
        some = 0
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
            for q in range(t[BLOCKS_START][a], t[BLOCKS_START][a + 1]):
                k = group[t[BLOCKS][q]]
                if seen[k] != c:
                    seen[k] = c
                    room[some] = k
                    some += 1
        for i in range(some):
            for j in range(some):
                if i != j:
                    linked[room[i], room[j]] = 1
    return linked


@njit
def _ordered(linked: Any, size: Any) -> Any:
    """Return the groups in the order of elimination, and what each was coupled with then: numbers, compressed.

    `linked` becomes the pattern of the factors.
    """
    count = size.size
    degree = np.zeros(count, np.int64)
    for i in range(count):
        for j in range(count):
            if linked[i, j]:
                degree[i] += size[j]
    order, gone, room = np.empty(count, np.int64), np.zeros(count, np.uint8), np.empty(count, np.int64)
    start, work = np.zeros(count + 1, np.int64), 0.0
    after = np.empty(max(4 * count, 16), np.int64)
    for step in range(count):
        k = -1
        for i in range(count):
            if not gone[i] and (k < 0 or degree[i] < degree[k]):
                k = i
        order[step], gone[k] = k, 1
        some = 0
        for i in range(count):
            if linked[k, i] and not gone[i]:
                room[some] = i
                some += 1
        wide = float(degree[k] + size[k])
        work += size[k] * wide * wide
        for x in range(some):
            i = room[x]
            degree[i] -= size[k]
            for y in range(some):
                j = room[y]
                if i != j and not linked[i, j]:
                    linked[i, j] = 1
                    degree[i] += size[j]
        if start[step] + some > after.size:
            longer = np.empty(2 * after.size + some, np.int64)
            longer[: start[step]] = after[: start[step]]
            after = longer
        for x in range(some):
            after[start[step] + x] = room[x]
        start[step + 1] = start[step] + some
    return order, start, after, work


@njit(f"Elimination({INTS})", separate=True)
def elimination(t: Any) -> Any:
    """Return where everything stands in the factors for the active contacts."""
    blocks, n = t[BLOCK_START].size - 1, t[MEMBERS].size
    of_block, touched, count = _groups(t)
    size = np.zeros(count, np.int64)
    for k in range(blocks):
        size[of_block[k]] += t[BLOCK_START][k + 1] - t[BLOCK_START][k]
    order, later, after, work = _ordered(_coupled(t, of_block, touched), size[:touched])
    rank, begin = np.empty(count, np.int64), np.zeros(count + 1, np.int64)
    for i in range(count):
        g = order[i] if i < touched else i
        rank[g] = i
        begin[i + 1] = begin[i] + size[g]
    place, group, fill = np.empty(n, np.int64), np.empty(n, np.int64), begin[:count].copy()
    for k in range(blocks):
        g = rank[of_block[k]]
        for j in range(t[BLOCK_START][k], t[BLOCK_START][k + 1]):
            place[t[MEMBERS][j]], group[fill[g]] = fill[g], g
            fill[g] += 1
    start = np.zeros(count + 1, np.int64)
    for e in range(later[touched]):
        start[rank[after[e]] + 1] += 1
    for i in range(count):
        start[i + 1] += start[i]
    earlier, at, own = np.empty(start[count], np.int64), np.empty(start[count], np.int64), np.empty(count + 1, np.int64)
    fill = start[:count].copy()
    for i in range(touched):  # ascending, so that what each group is coupled with comes in order
        for e in range(later[i], later[i + 1]):
            g = rank[after[e]]
            earlier[fill[g]] = i
            fill[g] += 1
    total = 0
    for g in range(count):
        wide = begin[g + 1] - begin[g]
        for e in range(start[g], start[g + 1]):
            at[e] = total
            total += wide * (begin[earlier[e] + 1] - begin[earlier[e]])
        own[g] = total
        total += wide * wide
    own[count] = total
    return Elimination(place, group, begin, start, earlier, at, own, work)


@njit(_nrt=False)
def _pair(env: Elimination, later: int, earlier: int) -> int:
    """Return where the matrix of two coupled groups starts."""
    low, high = env.start[later], env.start[later + 1] - 1
    while low < high:
        middle = (low + high) // 2
        if env.earlier[middle] < earlier:
            low = middle + 1
        else:
            high = middle
    return int(env.at[low])


@njit(_nrt=False)
def add_own(env: Elimination, out: Any, row: int, column: int, value: float) -> None:
    """Add a value to the matrix, at places of one group."""
    g = env.group[row]
    out[env.own[g] + (row - env.begin[g]) * (env.begin[g + 1] - env.begin[g]) + column - env.begin[g]] += value


class GatheredRows(NamedTuple):
    """The rows of each contact as one matrix over the places that they touch.

    Attributes
    ----------
    start, place : (k + 1,), (p,)
        The places that the rows of each contact touch, compressed and ascending.
    at, rows : (k + 1,), (z,)
        Where the matrix of each contact starts, and the matrices, by rows.
    """

    start: Ints
    place: Ints
    at: Ints
    rows: Floats


@njit(f"GatheredRows({INTS}, {FLOATS}, Elimination)", separate=True)
def gather(t: Any, f: Any, env: Elimination) -> Any:
    """Return the rows of the active contacts by places."""
    k, entries = t[FIRST].size, t[J_COLUMN].size
    start, at = np.zeros(k + 1, np.int64), np.zeros(k + 1, np.int64)
    place, here = np.empty(entries, np.int64), np.full(t[MEMBERS].size, -1, np.int64)
    for c in range(k):
        begin = end = start[c]
        rows = t[SIZE][c] if t[ACTIVE][c] else 0
        for e in range(t[J_START][t[FIRST][c]], t[J_START][t[FIRST][c] + rows]):
            one = env.place[t[J_COLUMN][e]]
            if here[one] < begin:
                i = end
                while i > begin and place[i - 1] > one:
                    place[i] = place[i - 1]
                    i -= 1
                place[i] = one
                here[one] = begin
                end += 1
        for i in range(begin, end):
            here[place[i]] = i
        start[c + 1], at[c + 1] = end, at[c] + rows * (end - begin)
    values = np.zeros(at[k])
    for c in range(k):
        for i in range(start[c], start[c + 1]):
            here[place[i]] = i - start[c]
        first, wide = t[FIRST][c], start[c + 1] - start[c]
        for a in range(t[SIZE][c] if wide else 0):
            for e in range(t[J_START][first + a], t[J_START][first + a + 1]):
                values[at[c] + a * wide + here[env.place[t[J_COLUMN][e]]]] = f[JAC][e]
    return GatheredRows(start, place, at, values)


@njit(_nrt=False)
def _group_end(env: Elimination, place: Any, first: int, last: int) -> int:
    """Return where the places end that are of the same group as the first."""
    stop = env.begin[env.group[place[first]] + 1]
    while last > first and place[last - 1] >= stop:
        last -= 1
    return last


@njit(_nrt=False)
def _add_block(
    g: GatheredRows, c: int, size: int, gain: Any, flip: bool, rows: Any, columns: Any, out: Any, corner: int, wide: int
) -> None:
    """Add the part of J^T gain J that belongs to some rows and columns, from place to place; with `flip` of gain^T."""
    at, first = g.at[c], g.start[c]
    count, begin, length = g.start[c + 1] - first, columns[0], columns[1] - columns[0]
    run = g.place[columns[1] - 1] - g.place[begin] == length - 1
    for b in range(size):
        row = at + b * count + begin - first
        for i in range(rows[0], rows[1]):
            part = 0.0
            for a in range(size):
                part += gain[b * size + a if flip else a * size + b] * g.rows[at + a * count + i - first]
            if part == 0.0:
                continue
            to = corner + g.place[i] * wide
            if run:
                to += g.place[begin]
                for j in range(length):
                    out[to + j] += part * g.rows[row + j]
            else:
                for j in range(length):
                    out[to + g.place[begin + j]] += part * g.rows[row + j]


@njit(_nrt=False)
def add_contact(
    env: Elimination, g: GatheredRows, c: int, size: int, gain: Any, low: Any, up: Any, symmetric: bool
) -> None:
    """Add J^T gain J with the rows J of a contact and `gain` (size, size) by rows; to `up` alone if it is symmetric."""
    first, last = g.start[c], g.start[c + 1]
    x = first
    while x < last:
        end, r, y = _group_end(env, g.place, x, last), env.group[g.place[x]], first
        while y < end:
            stop, s = _group_end(env, g.place, y, end), env.group[g.place[y]]
            wide = env.begin[s + 1] - env.begin[s]
            corner = (env.own[r] if r == s else _pair(env, r, s)) - env.begin[r] * wide - env.begin[s]
            _add_block(g, c, size, gain, r != s, (x, end), (y, stop), up, corner, wide)
            if r != s and not symmetric:
                _add_block(g, c, size, gain, False, (x, end), (y, stop), low, corner, wide)
            y = stop
        x = end


@njit(_nrt=False, fastmath={"reassoc", "contract"})
def _less(x: Any, a: int, y: Any, b: int, out: Any, c: int, rows: int, columns: int, inner: int) -> None:
    """Subtract from a matrix (rows, columns) the product of two (rows, inner), (columns, inner), all by rows."""
    if inner == BODY:  # a row stays in registers: half the time
        right = y[b : b + BODY * columns]
        for i in range(rows):
            row, to = x[a + BODY * i : a + BODY * (i + 1)], out[c + i * columns : c + (i + 1) * columns]
            x0, x1, x2, x3, x4, x5 = row[0], row[1], row[2], row[3], row[4], row[5]
            for j in range(columns):
                at = BODY * j
                first = x0 * right[at] + x1 * right[at + 1] + x2 * right[at + 2]
                to[j] -= first + x3 * right[at + 3] + x4 * right[at + 4] + x5 * right[at + 5]
        return
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for k in range(inner):
                total += x[a + i * inner + k] * y[b + j * inner + k]
            out[c + i * columns + j] -= total


@njit(_nrt=False)
def _split(m: Any, at: int, s: int) -> bool:
    """Factor a group's own matrix in place, with the inverses of the pivots; False where one is zero or no number."""
    for k in range(s):
        pivot = m[at + k * s + k]
        if not abs(pivot) > 0.0:
            return False
        m[at + k * s + k] = 1.0 / pivot
        for i in range(k + 1, s):
            part = m[at + i * s + k] / pivot
            m[at + i * s + k] = part
            if part != 0.0:
                for j in range(k + 1, s):
                    m[at + i * s + j] -= part * m[at + k * s + j]
    return True


@njit(_nrt=False)
def _divide(m: Any, own: int, s: int, low: Any, up: Any, at: int, rows: int) -> None:
    """Divide the matrices of a later group by the factors of an earlier one: L = A / U, and U = A / L, transposed."""
    for i in range(rows):
        row = at + i * s
        for j in range(s):
            x, y = low[row + j], up[row + j]
            for k in range(j):
                x -= low[row + k] * m[own + k * s + j]
                y -= up[row + k] * m[own + j * s + k]
            low[row + j] = x * m[own + j * s + j]
            up[row + j] = y


@njit("boolean(Elimination, float64[::1], float64[::1])", separate=True, _nrt=False)
def eliminate(env: Elimination, low: Any, up: Any) -> bool:
    """Factor the matrix in place; False where a pivot is zero or no number."""
    for g in range(env.begin.size - 1):
        rows, first, last = env.begin[g + 1] - env.begin[g], env.start[g], env.start[g + 1]
        for e in range(first, last):
            j = env.earlier[e]
            s = env.begin[j + 1] - env.begin[j]
            x, y, stop = first, env.start[j], env.start[j + 1]
            while x < e and y < stop:  # what both are coupled with
                if env.earlier[x] < env.earlier[y]:
                    x += 1
                elif env.earlier[x] > env.earlier[y]:
                    y += 1
                else:
                    k = env.earlier[x]
                    inner = env.begin[k + 1] - env.begin[k]
                    _less(low, env.at[x], up, env.at[y], low, env.at[e], rows, s, inner)
                    _less(up, env.at[x], low, env.at[y], up, env.at[e], rows, s, inner)
                    x += 1
                    y += 1
            _divide(up, env.own[j], s, low, up, env.at[e], rows)
        for e in range(first, last):
            k = env.earlier[e]
            inner = env.begin[k + 1] - env.begin[k]
            _less(low, env.at[e], up, env.at[e], up, env.own[g], rows, rows, inner)
        if not _split(up, env.own[g], rows):
            return False
    return True


@njit("void(Elimination, float64[::1], float64[::1], float64[::1])", separate=True, _nrt=False)
def substitute(env: Elimination, low: Any, up: Any, x: Any) -> None:
    """Solve with the factors, in place."""
    count = env.begin.size - 1
    for g in range(count):
        begin = env.begin[g]
        s, own = env.begin[g + 1] - begin, env.own[g]
        for e in range(env.start[g], env.start[g + 1]):
            there = env.begin[env.earlier[e]]
            wide = env.begin[env.earlier[e] + 1] - there
            for i in range(s):
                total = 0.0
                for k in range(wide):
                    total += low[env.at[e] + i * wide + k] * x[there + k]
                x[begin + i] -= total
        for i in range(s):
            for k in range(i):
                x[begin + i] -= up[own + i * s + k] * x[begin + k]
    for g in range(count - 1, -1, -1):
        begin = env.begin[g]
        s, own = env.begin[g + 1] - begin, env.own[g]
        for i in range(s - 1, -1, -1):
            for k in range(i + 1, s):
                x[begin + i] -= up[own + i * s + k] * x[begin + k]
            x[begin + i] *= up[own + i * s + i]
        for e in range(env.start[g], env.start[g + 1]):
            there = env.begin[env.earlier[e]]
            wide = env.begin[env.earlier[e] + 1] - there
            for i in range(s):
                for k in range(wide):
                    x[there + k] -= up[env.at[e] + i * wide + k] * x[begin + i]
