"""The method of Radau IIA with three stages: order 5, L-stable; its coefficients and one step of it.

Hairer, Wanner, Solving ODEs II, section IV.8. For q'' = a(t, q, v) the stages are v + z_i and q + h c_i v +
h sum A_ij z_j, with h^-1 sum (A^-1)_ij z_j = a_i: 3 n unknowns. Newton's method asks for the Jacobian at every stage.
The usual economy, one Jacobian for all of them, fails on the systems that this is for: where a stiff direction turns by
an angle d within a step, an error across it of size e comes back along it as h rho d e, and the iteration reports
convergence long before it is there.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.linear.dense import lu_solve

Array = NDArray[np.float64]
_ROOT = math.sqrt(6.0)
NODES = ((4 - _ROOT) / 10, (4 + _ROOT) / 10, 1.0)
MATRIX = np.array(
    [
        [(88 - 7 * _ROOT) / 360, (296 - 169 * _ROOT) / 1800, (-2 + 3 * _ROOT) / 225],
        [(296 + 169 * _ROOT) / 1800, (88 + 7 * _ROOT) / 360, (-2 - 3 * _ROOT) / 225],
        [(16 - _ROOT) / 36, (16 + _ROOT) / 36, 1 / 9],
    ]
)
WEIGHTS = ((16 - _ROOT) / 36, (16 + _ROOT) / 36, 1 / 9)
INVERSE = np.linalg.inv(MATRIX)
GAMMA = float(min(np.linalg.eigvals(INVERSE), key=lambda value: abs(value.imag)).real)
"""The real eigenvalue of A^-1, which the embedded formula of order 3 is built on."""
ERROR = ((-13 - 7 * _ROOT) / 3, (-13 + 7 * _ROOT) / 3, -1 / 3)


@njit(_nrt=False)
def stage_matrix(n, h, derivatives, matrix):  # type: ignore[no-untyped-def]
    """Set the matrix (3 n, 3 n) of Newton's method from da/dq and da/dv at the stages, (3, 2 n n)."""
    for i in range(3):
        for j in range(3):
            for k in range(n):
                for m in range(n):
                    entry = -h * MATRIX[i, j] * derivatives[i, k * n + m]
                    if i == j:
                        entry -= derivatives[i, n * n + k * n + m]
                    if k == m:
                        entry += INVERSE[i, j] / h
                    matrix[i * n + k, j * n + m] = entry


@njit(_nrt=False)
def filter_matrix(n, s, derivatives, matrix):  # type: ignore[no-untyped-def]
    """Set a matrix to s^2 - s da/dv - da/dq: what is left of s - J when q is eliminated."""
    for i in range(n):
        for j in range(n):
            matrix[i, j] = -derivatives[i * n + j] - s * derivatives[n * n + i * n + j]
        matrix[i, i] += s * s


@njit(_nrt=False)
def filtered(n, s, derivatives, matrix, order, right, x):  # type: ignore[no-untyped-def]
    """Solve (s - J) x = right for x = (x_q, x_v), with the factors of the small matrix."""
    for i in range(n):
        x[i] = right[n + i] + s * right[i]
        for j in range(n):
            x[i] -= derivatives[n * n + i * n + j] * right[j]
    lu_solve(matrix, order, x, n)
    for i in range(n):
        x[n + i] = s * x[i] - right[i]


@njit(_nrt=False)
def dense(s, z, k):  # type: ignore[no-untyped-def]
    """Return one component of the collocation polynomial, less its start, at the share s of the step."""
    a, b = NODES[0], NODES[1]
    first = s / a * (s - b) / (a - b) * (s - 1.0) / (a - 1.0)
    second = s / b * (s - a) / (b - a) * (s - 1.0) / (b - 1.0)
    third = s * (s - a) / (1.0 - a) * (s - b) / (1.0 - b)
    return first * z[0, k] + second * z[1, k] + third * z[2, k]
