"""The factorization, run by run: see `table_layout` for what is where."""

from __future__ import annotations

import numpy as np

from zwang._numerics.jit import njit
from zwang._numerics.linear.sparse_ldl.table_layout import (
    COORDINATES,
    DIAGONAL,
    FACTOR,
    JAC,
    JAC_SLOTS,
    LEAF,
    LEAF_RUNS,
    MASS,
    MASS_SLOTS,
    PAIR,
    RATIO,
    RUNS,
    SCALE,
    SINGLE,
    TEMPORARY,
    WORST,
    Floats,
    Ints,
    get,
    get_run,
    index_of,
    value_of,
)

HUGE = 1e300  # stands for infinity: a comparison with inf itself costs more


@njit("float64(uint32[::1], float64[::1], float64[::1], float64[::1])", separate=True)
def ldl_factor(table: Ints, mass: Floats, jac: Floats, workspace: Floats) -> float:
    """Factorize K = [[M, J^T], [J, 0]] and return its smallest pivot relative to the terms that the pivot is made of.

    Parameters
    ----------
    table : uint32 array
        `SparsePattern.table`.
    mass, jac : float64 arrays
        Values of the entries in the order given to `analyse`; duplicates are summed.
    workspace : float64 array
        At least `SparsePattern.workspace_size` long, of any content; holds the factor afterwards. ``workspace[1]`` is
        the unknown with the smallest pivot (n + j for constraint j), -1 if no pivot lost anything.

    Returns
    -------
    float
        The ratio, in (0, 1] where M is positive definite and J has full rank. Small: constraints are nearly dependent.
        Not above zero: a pivot has the wrong sign, is zero or no number, and the factor must not be used.
    """
    F = workspace
    F[RATIO], F[WORST] = 1.0, -1.0
    for i in range(get(table, FACTOR), get(table, FACTOR + 1)):
        F[i] = 0.0
    masses = _sum_duplicates(table, MASS_SLOTS, mass, F)
    jacs = _sum_duplicates(table, JAC_SLOTS, jac, F)
    _scatter(table, MASS, masses, F)
    _scatter(table, JAC, jacs, F)
    n, leaf_runs = get(table, COORDINATES), get(table, LEAF_RUNS)
    scale, rest = F[get(table, SCALE) : get(table, TEMPORARY)], F[get(table, TEMPORARY) :]
    for run in range(get(table, RUNS + 1)):
        kind, w, r, count, at, to = get_run(table, run)
        index, value = index_of(table, kind, w, r, count, at), value_of(F, kind, w, r, count, to)
        if run == leaf_runs:
            _set_scale(table, scale, F)
        if kind == LEAF:
            if w == 2 and r == 2:
                good = _leaves_of_two_by_two(index, value, masses, jacs, F)
            elif w == 2:
                good = _leaves_of_two(index, value, r, masses, jacs, F)
            else:
                good = _leaves(index, value, w, r, masses, jacs, F)
            if not good:
                _note_leaves(index, value, w, F)
        elif kind == PAIR:
            _pairs(index, value, n, scale, F)
        elif kind == SINGLE:
            _singles(index, value, r, n, scale, F)
        else:
            for i in range(count):
                _panel(index[i], value[i], w, r, n, scale, rest, F)
    return float(F[RATIO])


@njit
def _sum_duplicates(table: Ints, head: int, values: Floats, F: Floats) -> Floats:
    start, count = get(table, head), get(table, head + 1)
    if count == 0:
        return values
    first, size = get(table, head + 2), get(table, head + 3)
    for i in range(first, first + size):
        F[i] = 0.0
    for i in range(count):
        F[first + get(table, start + i)] += values[i]
    return F[first : first + size]


@njit
def _scatter(table: Ints, head: int, values: Floats, F: Floats) -> None:
    start, count = get(table, head), get(table, head + 1)
    for i in range(start, start + 2 * count, 2):
        F[table[i]] = values[table[i + 1]]


@njit
def _set_scale(table: Ints, scale: Floats, F: Floats) -> None:
    """After the leaves every diagonal entry is an entry of M, or a sum of terms of one sign: its own scale."""
    start, count = get(table, DIAGONAL), get(table, DIAGONAL + 1)
    for i in range(start, start + 2 * count, 2):
        scale[table[i]] = abs(F[table[i + 1]])


@njit
def _note_pivot(F: Floats, pivot: float, scale: float, unknown: int) -> None:
    """Keep the smallest pivot relative to its scale; one that is no number counts as -1."""
    ratio = pivot / scale
    if not ratio >= F[RATIO]:
        if F[RATIO] > 0.0:
            F[WORST] = unknown
        F[RATIO] = ratio if np.isfinite(ratio) else -1.0


@njit
def _note_leaves(index: Ints, value: Floats, w: int, F: Floats) -> None:
    """Find the leaf whose pivot (this is its inverse) is no positive number."""
    for i in range(index.shape[0]):
        for a in range(w):
            if not 0.0 < value[i, a] < HUGE:
                _note_pivot(F, -1.0, 1.0, index[i, index.shape[1] - w + a])


@njit
def _leaves_of_two_by_two(index: Ints, value: Floats, mass: Floats, jac: Floats, F: Floats) -> bool:
    """Points of the plane with two distance constraints each: chains and loops are made of these."""
    good = True
    for i in range(index.shape[0]):
        inverse0, inverse1 = 1.0 / mass[index[i, 0]], 1.0 / mass[index[i, 1]]
        a0, a1 = jac[index[i, 2]], jac[index[i, 3]]
        b0, b1 = jac[index[i, 4]], jac[index[i, 5]]
        la0, la1, lb0, lb1 = a0 * inverse0, a1 * inverse1, b0 * inverse0, b1 * inverse1
        F[index[i, 8]] -= a0 * la0 + a1 * la1
        F[index[i, 9]] -= b0 * la0 + b1 * la1
        F[index[i, 10]] -= b0 * lb0 + b1 * lb1
        value[i, 0], value[i, 1] = inverse0, inverse1
        value[i, 2], value[i, 3], value[i, 4], value[i, 5] = la0, la1, lb0, lb1
        good &= (inverse0 > 0.0) & (inverse0 < HUGE) & (inverse1 > 0.0) & (inverse1 < HUGE)
    return good


@njit
def _leaves_of_two(index: Ints, value: Floats, r: int, mass: Floats, jac: Floats, F: Floats) -> bool:
    good = True
    for i in range(index.shape[0]):
        inverse0, inverse1 = 1.0 / mass[index[i, 0]], 1.0 / mass[index[i, 1]]
        value[i, 0], value[i, 1] = inverse0, inverse1
        good &= (inverse0 > 0.0) & (inverse0 < HUGE) & (inverse1 > 0.0) & (inverse1 < HUGE)
        p = 2 + 3 * r
        for j in range(r):
            l0, l1 = jac[index[i, 2 + 2 * j]] * inverse0, jac[index[i, 3 + 2 * j]] * inverse1
            value[i, 2 + 2 * j], value[i, 3 + 2 * j] = l0, l1
            for k in range(j, r):
                F[index[i, p]] -= jac[index[i, 2 + 2 * k]] * l0 + jac[index[i, 3 + 2 * k]] * l1
                p += 1
    return good


@njit
def _leaves(index: Ints, value: Floats, w: int, r: int, mass: Floats, jac: Floats, F: Floats) -> bool:
    good = True
    for i in range(index.shape[0]):
        for a in range(w):
            value[i, a] = 1.0 / mass[index[i, a]]
            good &= (value[i, a] > 0.0) & (value[i, a] < HUGE)
        p = w + (w + 1) * r
        for j in range(r):
            for a in range(w):
                value[i, w + j * w + a] = jac[index[i, w + j * w + a]] * value[i, a]
            for k in range(j, r):
                change = 0.0
                for a in range(w):
                    change += jac[index[i, w + k * w + a]] * value[i, w + j * w + a]
                F[index[i, p]] -= change
                p += 1
    return good


@njit
def _pairs(index: Ints, value: Floats, n: int, scale: Floats, F: Floats) -> None:
    """One column with one row below: the inside of a chain."""
    for i in range(index.shape[0]):
        pivot, entry, column = value[i, 0], value[i, 1], index[i, 0]
        inverse = 1.0 / pivot
        factor = entry * inverse
        change = entry * factor
        F[index[i, 2]] -= change
        _note_pivot(F, pivot if column < n else -pivot, scale[column], column)
        scale[index[i, 1]] += abs(change)
        value[i, 0], value[i, 1] = inverse, factor


@njit
def _singles(index: Ints, value: Floats, r: int, n: int, scale: Floats, F: Floats) -> None:
    for i in range(index.shape[0]):
        pivot, column = value[i, 0], index[i, 0]
        _note_pivot(F, pivot if column < n else -pivot, scale[column], column)
        inverse = 1.0 / pivot
        value[i, 0] = inverse
        p = 1 + r
        for j in range(1, r + 1):
            factor = value[i, j] * inverse
            scale[index[i, j]] += abs(factor * value[i, j])
            for k in range(j, r + 1):
                F[index[i, p]] -= value[i, k] * factor
                p += 1
            value[i, j] = factor


@njit
def _panel(index: Ints, panel: Floats, w: int, r: int, n: int, scale: Floats, rest: Floats, F: Floats) -> None:
    """One dense supernode: eliminate its columns among themselves, then subtract from the rest."""
    h = w + r
    for k in range(w):
        pivot, column = panel[k * h + k], index[k]
        _note_pivot(F, pivot if column < n else -pivot, scale[column], column)
        inverse = 1.0 / pivot
        panel[k * h + k] = inverse
        for j in range(k + 1, w):
            factor = panel[k * h + j] * inverse
            scale[index[j]] += abs(factor * panel[k * h + j])
            source, target = panel[k * h + j : (k + 1) * h], panel[j * h + j : (j + 1) * h]
            for i in range(h - j):
                target[i] -= factor * source[i]
    p = h
    for j in range(w, h):
        size = h - j
        change, targets = rest[:size], index[p : p + size]
        for i in range(size):
            change[i] = 0.0
        total = 0.0
        for k in range(w):
            source = panel[k * h + j : (k + 1) * h]
            factor = source[0] * panel[k * h + k]
            total += abs(source[0] * factor)
            for i in range(size):
                change[i] += factor * source[i]
        scale[index[j]] += total
        for i in range(size):
            F[targets[i]] -= change[i]
        p += size
    for k in range(w):
        for i in range(k + 1, h):
            panel[k * h + i] *= panel[k * h + k]
