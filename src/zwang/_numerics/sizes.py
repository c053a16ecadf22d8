"""Characteristic sizes: what tolerances are relative to, in place of the number 1 in whatever units were chosen.

A coordinate is as large as it is, and as large as the others of its kind, or as the kinetic metric makes of them:
sqrt(M_jj/M_ii) |q_j|, whichever is less. Angles have size 1. Where all positions vanish, speeds and accelerations give
a length: v^2/a. Speeds are as large as the speeds, and as sqrt(acceleration times length). Where nothing has a size,
sizes are zero, and comparisons exact. All of it is covariant: in other units of length, mass and time the same state
has the same sizes in those units.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

VANISHED = 1e-9
"""Positions below this part of the way that speeds carry against forces are at the origin."""
BRIEF = 1e-3
"""Part of the time asked for in which accelerations from rest at the origin make sizes that errors of steps are
compared with; no decision depends on it."""


LEAST = 1e-100
"""A size below this is none for steps: squares of what is divided by it would not be numbers."""


class CharacteristicSizes(NamedTuple):
    """Of coordinates and of velocities: (n, B), or (n,) of one state."""

    length: Array
    speed: Array

    @property
    def known(self) -> bool:
        """Whether all have a size."""
        return bool((self.length > LEAST).all() and (self.speed > LEAST).all())

    def of(self, k: int) -> CharacteristicSizes:
        """Return those of one state."""
        return CharacteristicSizes(self.length[:, k], self.speed[:, k])


def sizes_at(terms: Any, turns: Bools, q: Array, v: Array) -> CharacteristicSizes:
    """Return the characteristic sizes at states.

    Parameters
    ----------
    terms : Terms or SparseTerms
        Of the equations there.
    turns : (n,) bool array
        Which coordinates are angles.
    q, v : (n, B) arrays
        In memory or, as the terms, on a device.

    Examples
    --------
    A ball at rest one nanometre above a floor: its speeds will be as large as sqrt(g y).

    >>> from types import SimpleNamespace
    >>> none = np.zeros((0, 1)), np.zeros((0, 1, 1))
    >>> fall = SimpleNamespace(mass=np.ones((1, 1, 1)), force=np.array([[-10.0]]), rate=none[0], rows=none[1],
    ...                        slip=none[0], slip_rows=none[1])
    >>> ball = sizes_at(fall, np.array([False]), np.array([[1e-9]]), np.zeros((1, 1)))
    >>> ball.length, ball.speed
    (array([[1.e-09]]), array([[0.0001]]))
    """
    own = _diagonal(terms.mass)
    root = np.sqrt(np.where(own > 0.0, own, 0.0))
    with np.errstate(all="ignore"):
        a = np.abs(terms.force) / own
    a = np.where(np.isfinite(a), a, 0.0)
    turning = np.asarray(turns[:, None], like=q)
    length, speed = np.where(turning, 1.0, np.abs(q)), np.abs(v)
    still = ~speed.any(axis=0)
    if still.any():  # belts and walls that move have speeds of their own
        speed = np.where(still, _given_speeds(terms, v), speed)
    if not turns.any():  # at the origin: as far as forces let the speeds carry
        far, push, pace = ((root * part).max(axis=0, initial=0.0) for part in (length, a, speed))
        reach = np.where(push > 0.0, pace**2 / np.where(push > 0.0, push, 1.0), 0.0)
        length = np.where(far > VANISHED * reach, length, _divided(reach, root))
    length = np.where(turning, 1.0, _spread(length, root, turning))
    return CharacteristicSizes(length, _spread(np.maximum(speed, np.sqrt(a * length)), root, turning))


def brief_sizes(sizes: CharacteristicSizes, mass: Array, a: Array, span: float) -> CharacteristicSizes:
    """Return sizes of one state (n,), where they vanish those after a brief part of a time span under accelerations.

    Parameters
    ----------
    sizes : CharacteristicSizes
    mass, a : (n,) arrays
        The diagonal of M, and accelerations.
    span : float
        How long the motion is to last [s].
    """
    root, brief = np.sqrt(np.maximum(mass, 0.0)), BRIEF * span
    push, pace = float((root * np.abs(a)).max(initial=0.0)), float((root * sizes.speed).max(initial=0.0))
    far, fast = (_divided(np.asarray(part), root) for part in (push * brief**2 + pace * brief, push * brief + pace))
    pairs = ((sizes.length, far), (sizes.speed, fast))
    return CharacteristicSizes(*(np.where(size > LEAST, size, brief) for size, brief in pairs))


def _diagonal(mass: Any) -> Array:
    """Return the diagonals (n, B) of mass matrices."""
    if isinstance(mass, (tuple, list)):
        return np.column_stack([matrix.diagonal() for matrix in mass])
    found: Array = np.einsum("iib->ib", mass)
    return found


def _given_speeds(terms: Any, v: Array) -> Array:
    """Return the speeds (n, B) that constraints and slips ask of the coordinates by themselves."""
    found = np.zeros_like(v)
    for given, now in ((terms.rows, terms.rate), (terms.slip_rows, terms.slip)):
        if not now.any():
            continue
        sparse = isinstance(given, (tuple, list))
        rows = np.abs(np.stack([matrix.toarray() for matrix in given], axis=-1) if sparse else given)
        total = rows.sum(axis=1)
        speed = np.abs(now) / np.where(total > 0.0, total, np.inf)
        found = np.maximum(found, np.where(rows > 0.0, speed[:, None], 0.0).max(axis=0))
    return np.where(np.isfinite(found), found, 0.0)


def _spread(sizes: Array, root: Array, turns: Bools) -> Array:
    """Return the largest size of each kind; where a kind has none, that of the others in the kinetic metric."""
    if len(sizes) == 1:
        return sizes
    found = _divided((root * sizes).max(axis=0), root)
    for kind in (turns, ~turns):
        largest = np.where(kind, sizes, 0.0).max(axis=0)
        found = np.where(kind & (largest > 0.0), np.minimum(found, largest), found)
    return np.maximum(found, sizes)


def _divided(size: Array, root: Array) -> Array:
    """Return size/root; what has no inertia of its own gets what the lightest of the others gets."""
    heavy = root > 0.0
    least = np.where(heavy, root, np.inf).min(axis=0)
    return np.asarray(size / np.where(heavy, root, np.where(least < np.inf, least, 1.0)))
