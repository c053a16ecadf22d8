"""One step of q'' = a(t, q, v) by collocation: Radau IIA with seven stages, order 13, L-stable.

For short stretches that no explicit step can take, such as the first instant of a slip in a plane: its direction
follows its friction at a rate like one over its speed, which starts at zero. The velocity is a polynomial of degree 7
whose derivative meets the equations in seven nodes, the last at the end; Newton's method has a Jacobian of its own in
every node, since the stiff direction turns on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Accelerations = Callable[[Array, Array, Array], Array]
"""(t (k,), q (k, n), v (k, n)) -> accelerations (k, n)."""

STAGES = 7  # of Radau's method: order thirteen
ITERATIONS = 12  # of the simplified Newton method; contraction halves the error at least
SMALL = 1e-14
"""Newton's method has converged where its correction is below this, relative to the velocities' changes."""


def _tableau() -> tuple[Array, Array, Array]:
    """Return the nodes c, the matrix A with A_ij the integral of the j-th basis polynomial to c_i, and the tail.

    The tail gives the last coefficient, in Legendre's polynomials, of a velocity with values at 0 and in the nodes.
    """
    legendre = np.polynomial.legendre.Legendre
    c = np.sort((legendre.basis(STAGES) - legendre.basis(STAGES - 1)).roots().real + 1.0) / 2.0
    c[-1] = 1.0
    powers = np.arange(STAGES)
    matrix = c[:, None] ** (powers + 1) / (powers + 1) @ np.linalg.inv(c[:, None] ** powers)
    places = np.concatenate([[0.0], c])
    tail = np.linalg.inv(np.polynomial.legendre.legvander(2.0 * places - 1.0, STAGES))[-1]
    return c, matrix, tail


NODES, MATRIX, _TAIL = _tableau()


@dataclass(frozen=True, eq=False)
class Collocated:
    """A step: times (8,), positions, velocities and accelerations (8, n) at its start and in its nodes.

    `tail` is the size of the last term of the velocities (n,): how far the step is resolved.
    """

    t: Array
    q: Array
    v: Array
    a: Array
    tail: Array


def collocate(
    accelerations: Accelerations,
    t: float,
    q: Array,
    v: Array,
    h: float,
    guess: Array,
    nudge: Accelerations,
    *,
    least: float = 0.0,
) -> Collocated | None:
    """Return a step, or None where Newton's method does not converge.

    Parameters
    ----------
    accelerations : callable
    t, q, v : float and (n,) arrays
        The start.
    h : float
    guess : (7, n) array
        Velocities in the nodes.
    nudge : callable
        From the states in the nodes, as for accelerations, to the changes (7, n) of each velocity by which derivatives
        are taken.
    least : float
        Speeds that don't matter: a step so short that rounding of the accelerations makes them is done with them.

    Examples
    --------
    >>> def little(t, q, v):
    ...     return np.full_like(v, 1e-6)
    >>> step = collocate(lambda t, q, v: -q, 0.0, np.array([1.0]), np.zeros(1), 0.5, np.zeros((7, 1)), little)
    >>> bool(abs(step.q[-1, 0] - np.cos(0.5)) < 1e-13)
    True
    """
    n = len(q)
    times = t + h * NODES
    drift = q + h * NODES[:, None] * v
    speeds = guess.copy()
    last = np.inf
    for _ in range(ITERATIONS):
        places = drift + h * (MATRIX @ (speeds - v))
        a = accelerations(times, places, speeds)
        off = speeds - v - h * (MATRIX @ a)
        if not np.isfinite(off).all():
            return None
        jacobian = _jacobian(accelerations, times, places, speeds, nudge(times, places, speeds))
        system = np.eye(STAGES * n) - h * np.einsum("ij,jab->iajb", MATRIX, jacobian).reshape(STAGES * n, STAGES * n)
        try:
            change = np.linalg.solve(system, off.reshape(-1)).reshape(STAGES, n)
        except np.linalg.LinAlgError:
            return None
        speeds = speeds - change
        size = float(np.abs(change).max())
        floor = SMALL * float(np.abs(speeds - v).max()) + 4e-16 * float(np.abs(v).max(initial=0.0))
        stalled = max(1e-9 * float(np.abs(speeds - v).max(initial=0.0)), least)
        if size <= floor or (size < stalled and size >= 0.5 * last):
            return _step(accelerations, t, q, v, h, times, drift, speeds)
        if not size < 1e3 * last:
            return None
        last = size
    return None


def _jacobian(f: Accelerations, t: Array, q: Array, v: Array, nudge: Array) -> Array:
    """Return da/dv in every node (7, n, n), by differences to both sides.

    A slip that turns fast has a second derivative which, seen from one side, would couple what is stiff to what is not.
    """
    n = v.shape[1]
    moved = np.repeat(v[None], 2 * n, axis=0)
    for i in range(n):
        moved[i, :, i] += nudge[:, i]
        moved[n + i, :, i] -= nudge[:, i]
    ahead, back = np.split(f(np.tile(t, 2 * n), np.tile(q, (2 * n, 1)), moved.reshape(-1, n)).reshape(-1, STAGES, n), 2)
    return np.moveaxis((ahead - back) / (2.0 * nudge.T[:, :, None]), 0, 2)


def _step(
    f: Accelerations, t: float, q: Array, v: Array, h: float, times: Array, drift: Array, speeds: Array
) -> Collocated:
    places = drift + h * (MATRIX @ (speeds - v))
    slopes = np.linalg.solve(h * MATRIX, speeds - v)
    # At the start itself the equations may have no direction yet: the polynomial says what the acceleration is there.
    first = (np.vander([0.0], STAGES, increasing=True) @ np.linalg.inv(NODES[:, None] ** np.arange(STAGES)))[0] @ slopes
    every = np.vstack([v, speeds])
    return Collocated(
        np.concatenate([[t], times]),
        np.vstack([q, places]),
        every,
        np.vstack([first, f(times, places, speeds)]),
        np.abs(_TAIL @ every),
    )
