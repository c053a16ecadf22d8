"""Nearby motions along a stretch: the fundamental matrix of the linearized equations, by Gauss's collocation.

With q'' = a(t, q, v, p), a nearby motion differs by x = (dq, dv), dq' = dv, dv' = a_q dq + a_v dv + a_p dp. Along a
motion whose dense output is known this is linear, and one step of collocation in five nodes has order ten: as accurate
as the motion itself on its own steps. Nearby motions may be faster than the motion (one that rests, or has a symmetry
that they have not): steps are divided where the eigenvalues of the linearized equations ask for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._kernels.variations import Jets, ModeVariations
from zwang._linearize.trail import PassedStretch

Array = NDArray[np.float64]
STAGES = 5  # points of Gauss on a step: order ten, beyond that of the steps
FAST = 1.0
"""Largest step times an eigenvalue: the error of a step is 4e-13 times the eleventh power of this."""
FINEST = 200_000
"""Parts into which the steps of a stretch are divided at most."""
MOST = 4_000_000
"""Numbers of the systems of a block of steps, which are solved together."""


def _gauss() -> tuple[Array, Array, Array]:
    """Return nodes, matrix and weights of Gauss's collocation on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(STAGES)
    c = (nodes + 1.0) / 2.0
    powers = np.arange(STAGES)
    matrix = c[:, None] ** (powers + 1) / (powers + 1) @ np.linalg.inv(c[:, None] ** powers)
    return c, matrix, weights / 2.0


NODES, MATRIX, WEIGHTS = _gauss()
TWICE = MATRIX @ MATRIX
TWICE_WEIGHTS = WEIGHTS @ MATRIX


class Propagated(NamedTuple):
    """What steps do to nearby motions: x -> phi x + psi dp; and everything in their nodes."""

    t: Array
    phi: Array
    psi: Array
    nodes: Array
    jets: Jets


def propagate(stretch: PassedStretch, made: ModeVariations, times: Array) -> Propagated:
    """Return the fundamental matrices (k, 2 n, 2 n) and (k, 2 n, p) between times of a stretch, and times between."""
    times = _divided(stretch, made, times)
    n, count = made.n, len(times) - 1
    nodes = (times[:-1, None] + np.diff(times)[:, None] * NODES).ravel()
    jets = made.jets(nodes, *stretch.states(nodes), stretch.params)
    block = max(1, MOST // (STAGES * n) ** 2)
    parts = [
        _steps(np.diff(times)[k : k + block], jets[made.accelerations], slice(k * STAGES, (k + block) * STAGES))
        for k in range(0, count, block)
    ]
    phi, psi = (np.concatenate(items) for items in zip(*parts, strict=True))
    return Propagated(times, phi, psi, nodes, jets)


def _divided(stretch: PassedStretch, made: ModeVariations, times: Array) -> Array:
    """Return times with others between them, so that no nearby motion changes much from one to the next."""
    n, h = made.n, np.diff(times)
    if not n or not len(h):
        return times
    middles = times[:-1] + 0.5 * h
    jets = made.jets(middles, *stretch.states(middles), stretch.params)
    slope = np.moveaxis(jets[made.accelerations].slope[:, 1 : 1 + 2 * n], 2, 0)
    matrix = np.zeros((len(h), 2 * n, 2 * n))
    matrix[:, :n, n:], matrix[:, n:] = np.eye(n), slope
    if not np.isfinite(matrix).all():
        return times
    parts = h * np.abs(np.linalg.eigvals(matrix)).max(axis=1) / FAST
    counts = np.ceil(parts * min(1.0, FINEST / max(float(parts.sum()), 1.0))).astype(int)
    if not (counts > 1).any():
        return times
    pieces = [
        np.linspace(t, t + step, max(count, 1), endpoint=False)
        for t, step, count in zip(times, h, counts, strict=False)
    ]
    return np.append(np.concatenate(pieces), times[-1])


def _steps(h: Array, accelerations: Jets, chosen: slice) -> tuple[Array, Array]:
    """Return the matrices of steps with lengths h (k,), from the derivatives of a in their nodes."""
    count, n = len(h), accelerations.n
    slope = np.moveaxis(accelerations.slope[:, 1:, chosen], 2, 0).reshape(count, STAGES, n, -1)
    by_q, by_v, by_p = slope[..., :n], slope[..., n : 2 * n], slope[..., 2 * n :]
    width = h[:, None, None, None]
    # dv' = k in the nodes: k = a_q (dq + c h dv + h^2 A^2 k) + a_v (dv + h A k) + a_p dp
    system = -(width**2)[..., None] * np.einsum("ij,kiab->kiajb", TWICE, by_q)[:, :, :, :, :]
    system = system - width[..., None] * np.einsum("ij,kiab->kiajb", MATRIX, by_v)
    system = system.reshape(count, STAGES * n, STAGES * n) + np.eye(STAGES * n)
    right = np.concatenate([by_q, width * NODES[:, None, None] * by_q + by_v, by_p], axis=3)
    k = np.linalg.solve(system, right.reshape(count, STAGES * n, -1)).reshape(count, STAGES, n, -1)
    step = h[:, None, None]
    moved = step**2 * np.einsum("i,kiab->kab", TWICE_WEIGHTS, k)
    speed = step * np.einsum("i,kiab->kab", WEIGHTS, k)
    both = np.concatenate([moved, speed], axis=1)
    phi, psi = both[:, :, : 2 * n].copy(), both[:, :, 2 * n :]
    phi += np.eye(2 * n)
    phi[:, :n, n:] += step * np.eye(n)
    return phi, psi
