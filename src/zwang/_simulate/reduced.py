"""Motion along a curve of configurations: one equation for one coordinate, regular where multipliers blow up.

A mechanism with one degree of freedom moves along its configuration space q = c(u). With ideal constraints
M a = Q + J^T lam, and J c' = 0 on the curve, so multiplying by c' removes the multipliers altogether:

    (c'.M c') u'' = c'.Q - (c'.M c'') u'^2,      Q at (t, c(u), c'(u) u').

At a singular point of the configuration space J loses rank and lam may grow without bound, but the branch itself is
smooth there, and so is this equation: the instant of passage is computed as sharply as anything else.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.polynomial import polynomial
from numpy.typing import NDArray

from zwang._numerics.motion.dense_output import basis, fitted

Array = NDArray[np.float64]
Equations = Callable[[float, Array, Array], tuple[Array, Array]]
NODES = (1.0 - np.cos(np.pi * np.arange(8) / 7.0)) / 2.0
SUBSTEPS = 64  # of a step beside a singular point


@dataclass(frozen=True, eq=False)
class ReducedCurve:
    """A smooth piece of a configuration space: the coordinates as power series (d + 1, n) in u, 0 <= u <= end.

    Powers of the distance from a singular point, not polynomials fitted to places: their derivatives are as sharp as
    they are themselves.

    Examples
    --------
    >>> line = ReducedCurve(np.array([[0.0, 1.0], [2.0, 0.0]]), 1.0)
    >>> [part.tolist() for part in line.at(0.5)]
    [[1.0, 1.0], [2.0, 0.0], [0.0, 0.0]]
    """

    series: Array
    end: float

    @cached_property
    def _all(self) -> Array:
        """The coefficients of the position and of its first two derivatives, side by side (d + 1, 3 n)."""
        degree, n = self.series.shape
        every = np.zeros((degree, 3 * n))
        every[:, :n] = self.series
        for k in (1, 2):
            part = polynomial.polyder(self.series, k)
            every[: len(part), k * n : (k + 1) * n] = part
        return every

    def at(self, u: float) -> tuple[Array, Array, Array]:
        """Return the position and its first and second derivatives."""
        every = self._all
        flat = u ** np.arange(len(every)) @ every
        n = self.series.shape[1]
        return flat[:n], flat[n : 2 * n], flat[2 * n :]

    def many(self, u: Array) -> tuple[Array, Array]:
        """Return positions and first derivatives (k, n) at several places."""
        n = self.series.shape[1]
        flat = u[:, None] ** np.arange(len(self._all)) @ self._all
        return flat[:, :n], flat[:, n : 2 * n]


@dataclass(frozen=True, eq=False)
class Passage:
    """A motion along a curve, as steps with dense output.

    Attributes
    ----------
    t : (k + 1,); q, v, a : (k + 1, n); dense : (k, 7, 2 n)
    u, rate : (k + 1,)
        Where it was on the curve, and how fast.
    left : float or None
        The value of u, 0 or the end, at which it left the curve; None where its time was over first.
    """

    t: Array
    q: Array
    v: Array
    a: Array
    dense: Array
    u: Array
    rate: Array
    left: float | None


def move_along(
    curve: ReducedCurve, equations: Equations, t: float, u: float, rate: float, until: float, tol: float
) -> Passage:
    """Return the motion along a curve from u until it leaves it at an end, or until a time.

    Parameters
    ----------
    curve : ReducedCurve
    equations : callable
        (t, q, v) -> M (n, n), Q (n,).
    t, u, rate : float
        The start, and du/dt there.
    until : float
    tol : float
        Relative tolerance of the steps.
    """
    from scipy.integrate import solve_ivp

    def right(time: float, y: Array) -> list[float]:
        q, first, second = curve.at(y[0])
        mass, force = equations(time, q, first * y[1])
        inertia = first @ mass
        return [y[1], float((first @ force - inertia @ second * y[1] ** 2) / (inertia @ first))]

    def low(_: float, y: Array) -> float:
        return float(y[0])

    def high(_: float, y: Array) -> float:
        return float(y[0] - curve.end)

    for event, direction in ((low, -1.0), (high, 1.0)):
        event.terminal = True  # type: ignore[attr-defined]
        event.direction = direction  # type: ignore[attr-defined]
    found = solve_ivp(
        right,
        (t, until),
        [u, rate],
        method="DOP853",
        rtol=max(0.01 * tol, 3e-14),
        atol=1e-3 * tol,
        events=(low, high),
        dense_output=True,
    )
    left = None if found.status != 1 else (0.0 if len(found.t_events[0]) else curve.end)
    return _as_steps(curve, right, found.sol, t, float(found.t[-1]), left)


def _as_steps(
    curve: ReducedCurve,
    right: Callable[[float, Array], list[float]],
    solution: Any,
    start: float,
    end: float,
    left: float | None,
) -> Passage:
    """Return a solution as steps whose dense output is that of the explicit loop."""

    def states(times: Array) -> Array:
        y = solution(times)
        u = np.where(times == end, y[0] if left is None else left, y[0])
        q, first = curve.many(u)
        return np.concatenate([q, first * y[1][:, None]], axis=1)

    edges, dense = polynomial_steps(states, start, end)
    rows = [
        _state(curve, right, float(time), solution(time), left if k == len(dense) else None)
        for k, time in enumerate(edges)
    ]
    q, v, a, u, rate = (np.array(column) for column in zip(*rows, strict=True))
    return Passage(edges, q, v, a, dense, u, rate, left)


def _state(
    curve: ReducedCurve, right: Callable[[float, Array], list[float]], time: float, y: Array, snapped: float | None
) -> tuple[Array, Array, Array, float, float]:
    u = y[0] if snapped is None else snapped
    q, first, second = curve.at(u)
    rise = right(time, np.array([u, y[1]]))[1]
    return q, first * y[1], first * rise + second * y[1] ** 2, float(u), float(y[1])


def polynomial_steps(states: Callable[[Array], Array], start: float, end: float) -> tuple[Array, Array]:
    """Return the edges of steps and the dense output that the explicit loop would have there: polynomials of degree 7.

    Parameters
    ----------
    states : callable
        Times (k,) -> positions and velocities (k, 2n).
    start, end : float
    """
    count = 4
    while True:
        edges = np.linspace(start, end, count + 1)
        dense = np.array([_polynomials(states, a, b) for a, b in itertools.pairwise(edges)])
        if count >= SUBSTEPS or _miss(states, edges, dense) <= 1e-13:
            return edges, dense
        count *= 2


def _polynomials(states: Callable[[Array], Array], a: float, b: float) -> Array:
    # The end itself, not what rounding makes of it: a solution may be put exactly on something there.
    values = states(np.append(a + (b - a) * NODES[:-1], b))
    return fitted(NODES, values)


def _miss(states: Callable[[Array], Array], edges: Array, dense: Array) -> float:
    """Return how far the polynomials are off between their nodes, relative to the size of what they describe."""
    between = (NODES[3:5].sum() / 2, NODES[1] / 2)
    worst = 0.0
    for a, b, coefficients in zip(edges[:-1], edges[1:], dense, strict=True):
        values = states(a + (b - a) * np.array([0.0, *between]))
        shown = values[0] + basis(np.array(between)) @ coefficients
        worst = max(worst, float((np.abs(shown - values[1:]) / (1.0 + np.abs(values[1:]))).max()))
    return worst
