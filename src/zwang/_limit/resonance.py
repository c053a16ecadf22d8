"""Resonances of fast oscillations: sums of their frequencies w_i with small whole factors k_i that vanish.

Oscillations of energy E_i and amplitude N^-1/2 couple by terms of third order (a shared energy, the kinetic energy) and
by the turning of their modes along the motion. In the slow time both act at a rate of order one where k . w = 0, and
not at all in the mean elsewhere.

- *All along*, on the manifold and not on one motion alone: actions move along k only, so that neither sum J_i w_i nor
  sum J_i dw_i changes. The limit exists, with the force of the actions at the start; the actions themselves follow the
  amplitudes, and with forces that depend on the velocity the motion does too.
- *In passing*, k . w changing its sign: the phase k . phi stands still for a time N^-1/4, and so much do actions
  change. The limit is that without the resonance, more slowly approached. Of frequencies that meet, the modes go
  straight on (they are smooth along the motion), and with them their actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._limit.fast_terms import Local

Array = NDArray[np.float64]
Relation = tuple[int, ...]
QUADRATIC, EVERY = 4, 8
"""Points of each circle of phases: exact for forces of degree two in the oscillation, and enough for others."""
SAME = 1e-7
"""Relative difference below which frequencies are one: they come from a root of a rounded eigenvalue."""
FEW = 6  # oscillations up to which relations of four of them are looked at
GRID = 3  # circles of phases up to which their product is averaged over on a grid


def relations(m: int, order: int) -> list[Relation]:
    """Return the k, up to their sign, with both signs in them and at most `order` quanta: those of energy exchange.

    Examples
    --------
    >>> relations(2, 3)
    [(1, -1), (2, -1), (1, -2)]
    """
    found: dict[Relation, None] = {}
    for total in range(2, (order if m <= FEW else min(order, 3)) + 1):
        for places in combinations_with_replacement(range(m), total):
            for signs in product((1, -1), repeat=total):
                k = np.zeros(m, dtype=int)
                np.add.at(k, list(places), list(signs))
                whole = np.abs(k).sum() == total and np.gcd.reduce(k) == 1
                if whole and k.max() > 0 > k.min() and k[np.flatnonzero(k)[0]] > 0:
                    found.setdefault(tuple(int(item) for item in k))
    return list(found)


def lasting(here: Local, wanted: Sequence[Relation]) -> list[Relation]:
    """Return the relations that hold at a state and to first order beside it, in all directions on the manifold."""
    w = here.frequencies
    slopes = np.einsum("kii->ik", here.along) / (2 * w[:, None])
    size = SAME * (np.abs(slopes).max(initial=0.0) + float(w.max()))
    found = []
    for k in wanted:
        if abs(np.dot(k, w)) > size or np.abs(k @ slopes).max(initial=0.0) > size:
            continue
        i, *others = np.flatnonzero(k)
        mixed = np.abs(here.along[:, i, others[0]]).max(initial=0.0) / (2 * w[i]) if np.abs(k).sum() == 2 else 0.0
        if mixed <= size:
            found.append(k)
    return found


def groups(m: int, kept: Sequence[Relation]) -> list[list[int]]:
    """Return the oscillations in groups of one frequency, by the relations w_i = w_j among those kept.

    Examples
    --------
    >>> groups(3, [(1, 0, -1)])
    [[0, 2], [1]]
    """
    label = list(range(m))
    for k in kept:
        if sum(map(abs, k)) == 2:
            i, j = (label[place] for place in np.flatnonzero(k))
            label = [min(i, j) if item in (i, j) else item for item in label]
    return [[place for place in range(m) if label[place] == one] for one in sorted(set(label))]


def phases(m: int, kept: Sequence[Relation], points: int = EVERY) -> Array:
    """Return phases (K, m) spread over those that oscillations run through: all that keep the sums k . phi.

    Examples
    --------
    >>> phases(2, [(1, -2)]).shape, phases(2, []).shape
    ((16, 2), (64, 2))
    """
    basis = np.eye(m, dtype=int) if not kept else _free(m, kept)
    circles = basis.shape[1]
    if circles > GRID:
        return np.asarray(np.array(_scattered(circles)) @ basis.T)
    points *= int(np.abs(basis).max())
    angles = np.arange(points) * (2 * np.pi / points) + 0.1
    return np.asarray(np.array(list(product(angles, repeat=circles))) @ basis.T)


def _free(m: int, kept: Sequence[Relation]) -> NDArray[np.int64]:
    """Return whole directions (m, d) in which phases move while every k . phi stays."""
    columns = []
    for vector in sp.Matrix(kept).nullspace():
        scaled = vector * sp.ilcm(*(sp.Rational(item).q for item in vector))
        columns.append([int(item) for item in scaled / sp.igcd(*scaled)])
    return np.array(columns, dtype=np.int64).T.reshape(m, -1)


def _scattered(circles: int) -> list[Any]:
    """Return phases spread over a torus of many dimensions: a lattice and its reflections."""
    primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]
    roots = np.sqrt(np.array(primes[:circles]) if circles <= len(primes) else 2.0 + np.arange(circles))
    base = 2 * np.pi * np.outer(np.arange(256), roots)
    return [row + shift for row in base for shift in (0.0, np.pi)]


def exchanges(k: Relation, actions: Array) -> bool:
    """Say whether oscillations with these actions exchange energy where k . w = 0: all quanta but one must be there."""
    missing = sum(abs(item) for item, action in zip(k, actions, strict=True) if item and not action > 0)
    return missing <= 1


def told(k: Relation) -> str:
    """Return a relation as a formula, what is alone on the left.

    Examples
    --------
    >>> told((1, -2)), told((1, 1, -1)), told((0, 1, -1))
    ('omega_1 = 2 omega_2', 'omega_3 = omega_1 + omega_2', 'omega_2 = omega_3')
    """
    sides = []
    for sign in (1, -1):
        parts = [(sign * item, place + 1) for place, item in enumerate(k) if sign * item > 0]
        words = " + ".join(f"{item} omega_{place}" if item > 1 else f"omega_{place}" for item, place in parts)
        sides.append((sum(item for item, _ in parts), words))
    if sides[0][0] > sides[1][0]:
        sides.reverse()
    return f"{sides[0][1]} = {sides[1][1]}"
