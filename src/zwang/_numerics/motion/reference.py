"""A motion compared with another while it runs: largest distances, integrals, least and largest values.

A motion with a million periods is never stored. What a study needs of it is gathered inside the compiled loop: states
and integrals at the edges of a few hundred cells of time, the range of each force in each cell, and the largest
distance to a reference motion that is given as polynomials, piece by piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit

Array = NDArray[np.float64]
Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]
Cube = NDArray[np.float64]

DEGREE = 9  # of a piece of the reference motion, one beyond the order of its steps
POSITION, VELOCITY, TANGENTIAL, NORMAL, INTEGRAL, FORCE = range(6)
DISTANCES = ("position", "velocity", "tangential velocity", "normal velocity", "integral", "force")


@dataclass(frozen=True)
class Reference:
    """A reference motion as polynomials of degree `DEGREE` on pieces of time.

    Attributes
    ----------
    breaks : (b + 1,)
        Ends of the pieces, rising.
    coefficients : (b, 3 n + n + n * n, DEGREE + 1)
        For q, v, the force, its integral from the start, and the projector onto tangential velocities (row by row):
        powers of s in [-1, 1], the place in the piece, lowest power first.
    windows : (w, 2)
        Times between which only positions are compared: velocities and impulses jump there.
    """

    breaks: Array
    coefficients: Array
    windows: Array

    @classmethod
    def nothing(cls, n: int) -> Reference:
        """Return the reference that nothing is compared with."""
        return cls(np.zeros(1), np.zeros((0, 4 * n + n * n, DEGREE + 1)), np.zeros((0, 2)))

    def values(self, times: Array) -> Array:
        """Return everything (times, quantities) at some times."""
        place = np.clip(np.searchsorted(self.breaks, times, side="right") - 1, 0, len(self.coefficients) - 1)
        left, right = self.breaks[place], self.breaks[place + 1]
        s = (2 * times - left - right) / (right - left)
        powers = s[:, None] ** np.arange(DEGREE + 1)
        return np.asarray(np.einsum("tqd,td->tq", self.coefficients[place], powers))


def nodes() -> Array:
    """Return the places in [-1, 1], strictly inside, at which a piece is sampled."""
    return np.asarray(-np.cos(np.pi * (2 * np.arange(DEGREE + 1) + 1) / (2 * DEGREE + 2)))


def fit(samples: Array) -> Array:
    """Return coefficients (..., DEGREE + 1) from samples (..., DEGREE + 1) at the nodes of each piece."""
    basis, weights, to_powers = _bases()
    return np.asarray(((samples @ basis) * weights) @ to_powers)


@cache
def _bases() -> tuple[Array, Array, Array]:
    """Return Chebyshev's polynomials at the nodes, their weights in a sum over nodes, and their coefficients."""
    from numpy.polynomial import chebyshev

    basis = np.asarray(chebyshev.chebvander(nodes(), DEGREE), dtype=np.float64)
    weights = np.full(DEGREE + 1, 2.0 / (DEGREE + 1))
    weights[0] /= 2
    to_powers = np.zeros((DEGREE + 1, DEGREE + 1))
    for k in range(DEGREE + 1):
        powers = chebyshev.cheb2poly([0.0] * k + [1.0])
        to_powers[k, : len(powers)] = powers
    return basis, weights, to_powers


def antiderivative(coefficients: Array, breaks: Array) -> Array:
    """Return (pieces, n, DEGREE + 1) of the integral from the start of what (pieces, n, DEGREE + 1) describes.

    The highest power is dropped: it is the first that the samples don't determine.
    """
    half = np.diff(breaks)[:, None, None] / 2
    out = np.zeros_like(coefficients)
    out[..., 1:] = half * coefficients[..., :-1] / np.arange(1, DEGREE + 1)
    signs = (-1.0) ** np.arange(DEGREE + 1)
    total = np.zeros(coefficients.shape[1])
    for k in range(len(out)):
        # A last term by the exact rule keeps the sum over pieces right even though the power is dropped inside.
        out[k, :, 0] = total - out[k] @ signs
        even = coefficients[k][:, ::2] @ (2.0 / (2 * np.arange(len(signs[::2])) + 1))
        total = total + half[k, 0, 0] * even
    return out


class Compared(NamedTuple):
    """A `Reference` as the loops take it, and the squares of the largest distances so far."""

    breaks: Floats
    coefficients: Cube
    windows: Matrix
    sup: Floats


@njit(_nrt=False)
def piece_at(t, breaks, start):  # type: ignore[no-untyped-def]
    """Return the number of the piece that holds t, looking on from `start`."""
    place = start
    while place < breaks.size - 2 and t > breaks[place + 1]:
        place += 1
    return place


@njit(_nrt=False)
def compare(t, n, y, measured, place, compared, ideal):  # type: ignore[no-untyped-def]
    """Raise the largest distances to those at one time.

    y holds q, v, integrals; `measured` the accelerations and then the measures, of which the first n are the force.
    Arrays are never cut here: each part cut from an array costs more than a polynomial.
    """
    breaks, coefficients, windows, sup = compared
    s = (2.0 * t - breaks[place] - breaks[place + 1]) / (breaks[place + 1] - breaks[place])
    for k in range(coefficients.shape[1]):
        value = coefficients[place, k, DEGREE]
        for power in range(DEGREE - 1, -1, -1):
            value = value * s + coefficients[place, k, power]
        ideal[k] = value
    far, off, integral, force = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        far += (y[i] - ideal[i]) ** 2
        off += (y[n + i] - ideal[n + i]) ** 2
        force += (measured[n + i] - ideal[2 * n + i]) ** 2
        integral += (y[2 * n + i] - ideal[3 * n + i]) ** 2
    sup[POSITION] = max(sup[POSITION], far)
    for w in range(windows.shape[0]):
        if windows[w, 0] <= t <= windows[w, 1]:
            return
    sup[INTEGRAL] = max(sup[INTEGRAL], integral)
    sup[FORCE] = max(sup[FORCE], force)
    along, across = 0.0, 0.0
    for i in range(n):
        part = 0.0
        for j in range(n):
            part += ideal[4 * n + i * n + j] * (y[n + j] - ideal[n + j])
        along += part**2
        across += (y[n + i] - ideal[n + i] - part) ** 2
    sup[VELOCITY] = max(sup[VELOCITY], off)
    sup[TANGENTIAL] = max(sup[TANGENTIAL], along)
    sup[NORMAL] = max(sup[NORMAL], across)


@njit(_nrt=False)
def widen(n, measured, cell, low, high):  # type: ignore[no-untyped-def]
    """Widen the ranges of a cell to hold the measures after the first n."""
    for k in range(low.shape[1]):
        low[cell, k] = min(low[cell, k], measured[2 * n + k])
        high[cell, k] = max(high[cell, k], measured[2 * n + k])
