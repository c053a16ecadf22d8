"""Characteristic sizes: what tolerances are relative to, in place of the number 1 in whatever units were chosen.

Coordinates that are no angles are as large as the largest of them; angles have size 1. Where positions vanish, a length
is what the kinetic metric makes of an angle, or how far speeds carry against forces, v^2/a. Speeds are as large as the
largest of them, and as sqrt(acceleration times length); where those of one kind vanish, as the kinetic metric makes of
the other kind. Where nothing has a size, sizes are zero, and comparisons exact. All of it is covariant: in other units
of length, mass and time the same state has the same sizes in those units.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

VANISHED = 1e-9
"""Positions below this part of another length of the state are at the origin: states are known to about as much."""
BRIEF = 1e-3
"""Part of the time asked for in which accelerations from rest at the origin make sizes that errors of steps are
compared with; no decision depends on it."""
LEAST = 1e-100
"""A size below this is none for steps: squares of what is divided by it would not be numbers."""


class CoordinateSizes(NamedTuple):
    """Of all coordinates and velocities: (n,) each, or (n, B)."""

    length: Array
    speed: Array


class CharacteristicSizes(NamedTuple):
    """Of plain coordinates and of their velocities, and of angular velocities: (B,) each. Angles have size 1."""

    length: Array
    speed: Array
    spin: Array

    def of_coordinates(self, turns: Bools) -> CoordinateSizes:
        """Return the sizes of all coordinates and velocities of one state; `turns` (n,) says which are angles."""
        return CoordinateSizes(np.where(turns, 1.0, self.length), np.where(turns, self.spin, self.speed))

    def but(self, given: CoordinateSizes, turns: Bools) -> CharacteristicSizes:
        """Return these, but for what sizes (n,) that were given say; nan where none was."""
        kinds = (given.length[~turns], given.speed[~turns], given.speed[turns])
        return CharacteristicSizes(
            *(
                np.full_like(own, np.nanmax(kind)) if not np.isnan(kind).all() else own
                for own, kind in zip(self, kinds, strict=True)
            )
        )


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
    (array([1.e-09]), array([0.0001]))
    """
    own = _diagonal(terms.mass)
    heavy = own > 0.0
    a = terms.force / own if bool(heavy.all()) else np.where(heavy, terms.force, 0.0) / np.where(heavy, own, 1.0)
    lines, angles = _parted(turns.tobytes())
    sizes = np.abs(np.array((q, v, a)) if type(q) is np.ndarray else np.stack((q, v, a)))
    far, fast, push = _largest(sizes, lines)
    spin, twist = _largest(sizes[1:], angles)
    if not bool((fast + spin > 0.0).all()):  # belts and walls that move have speeds of their own
        given = given_speeds(terms, turns)
        fast, spin = (np.where(fast + spin > 0.0, one, other) for one, other in zip((fast, spin), given, strict=True))
    if len(angles) and len(lines):
        inertia = _largest(np.abs(own), lines)
        arm = np.sqrt(_largest(np.abs(own), angles) / np.where(inertia > 0.0, inertia, np.inf))
    else:
        arm = np.zeros_like(far)
    reach = fast * fast / np.where(push > 0.0, push, np.inf) if not len(angles) else arm
    far = np.where(far > VANISHED * reach, far, reach)
    fast, spin = np.maximum(fast, np.sqrt(push * far)), np.maximum(spin, np.sqrt(twist))
    return CharacteristicSizes(
        far, np.where(fast > 0.0, fast, arm * spin), np.where(spin > 0.0, spin, fast / np.where(arm > 0.0, arm, np.inf))
    )


def rounding_of_accelerations(free: Array, inertia: Array) -> Array:
    """Return below which sizes accelerations (n,) are rounding, each in the unit of its own coordinate.

    The kinetic metric compares coordinates: beside one that accelerates by 1, another one's 1e-17 may be as much.

    Parameters
    ----------
    free : (n,) array
        Accelerations without the unknown forces.
    inertia : (n,) array
        The diagonal of the mass matrix.

    Examples
    --------
    >>> rounding_of_accelerations(np.array([1.0, 0.0]), np.array([1.0, 1e40])).tolist()
    [4e-16, 4e-36]
    """
    own, sizes = np.sqrt(inertia), np.abs(free)
    return np.asarray(4e-16 * np.minimum(sizes.max(initial=0.0), (sizes * own).max(initial=0.0) / own))


def known(sizes: CoordinateSizes) -> bool:
    """Say whether all coordinates and velocities have a size."""
    return bool((sizes.length > LEAST).all() and (sizes.speed > LEAST).all())


def brief_sizes(sizes: CoordinateSizes, turns: Bools, a: Array, span: float) -> CoordinateSizes:
    """Return sizes of one state, where they vanish those after a brief part of a time span under accelerations (n,)."""
    brief = BRIEF * span
    push = np.where(turns, *(np.abs(a[kind]).max(initial=0.0) for kind in (turns, ~turns)))
    speed = np.where(sizes.speed > LEAST, sizes.speed, push * brief)
    return CoordinateSizes(np.where(sizes.length > LEAST, sizes.length, speed * brief), speed)


def given_speeds(terms: Any, turns: Bools) -> tuple[Array, Array]:
    """Return the speeds (B,), (B,) that constraints and slips ask of plain coordinates and of angles by themselves."""
    found = [np.zeros_like(terms.force[0]), np.zeros_like(terms.force[0])]
    for rows, now in ((terms.rows, terms.rate), (terms.slip_rows, terms.slip)):
        if len(now) and bool(now.any()):
            for k, total in enumerate(row_sums(rows, turns)):
                asked = np.where(np.isfinite(now), np.abs(now), 0.0) / np.where(total > 0.0, total, np.inf)
                found[k] = np.maximum(found[k], asked.max(axis=0))
    return found[0], found[1]


def row_sums(rows: Any, turns: Bools) -> tuple[Array, Array]:
    """Return the sums (m, B) of the sizes of the entries of rows: those of plain coordinates, and those of angles."""
    if isinstance(rows, (tuple, list)):  # sparse ones
        kinds = np.column_stack([~turns, turns]).astype(float)
        sums = np.stack([abs(matrix) @ kinds for matrix in rows], axis=-1)
        return sums[:, 0], sums[:, 1]
    sizes, (lines, angles) = np.abs(rows), _parted(turns.tobytes())
    if not len(angles):
        return sizes.sum(axis=1), np.zeros_like(rows[:, 0])
    return sizes[:, lines].sum(axis=1), sizes[:, angles].sum(axis=1)


@lru_cache(maxsize=256)
def _parted(turns: bytes) -> tuple[Ints, Ints]:
    """Return the numbers of plain coordinates and of angles; `turns` are the bytes of what says which these are."""
    flags = np.frombuffer(turns, dtype=bool)
    return np.flatnonzero(~flags), np.flatnonzero(flags)


def _largest(sizes: Array, places: Any) -> Array:
    """Return the largest (..., B) of some of the sizes (..., n, B)."""
    if not len(places):
        return np.zeros_like(sizes[..., 0, :])
    found: Array = (sizes if len(places) == sizes.shape[-2] else sizes[..., places, :]).max(axis=-2)
    return found


def _diagonal(mass: Any) -> Array:
    """Return the diagonals (n, B) of mass matrices."""
    if isinstance(mass, (tuple, list)):
        return np.column_stack([matrix.diagonal() for matrix in mass])
    found: Array = np.diagonal(mass).T
    return found
