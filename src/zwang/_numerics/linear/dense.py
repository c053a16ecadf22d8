"""Dense KKT systems of some tens of unknowns in compiled loops.

The system is M a - J^T lam = Q, J a = gamma, with M (n x n) symmetric positive definite and J (m x n). With the
Cholesky factor M = C C^T, W = J C^-T and z = C^-1 Q it becomes (W W^T) lam = gamma - W z and C^T a = z + W^T lam.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit

Floats = NDArray[np.float64]


def dense_workspace_size(n: int, m: int) -> int:
    """Return how many float64 `kkt_dense` needs.

    Examples
    --------
    >>> dense_workspace_size(3, 2)
    24
    """
    return n * n + m * n + m * m + n + m


@njit(fastmath={"reassoc", "contract"})  # terms in any order: several at once; nan and inf are kept
def _dot(a: Floats, b: Floats, size: int) -> float:
    total = 0.0
    for i in range(size):
        total += a[i] * b[i]
    return total


@njit
def _cholesky(A: Floats, C: Floats) -> float:
    """Factorize A = C C^T (lower parts, 1 / C[i, i] on the diagonal of C); return the smallest pivot over A[i, i]."""
    worst = 1.0
    for i in range(A.shape[0]):
        row = C[i]
        for j in range(i):
            row[j] = (A[i, j] - _dot(row, C[j], j)) * C[j, j]
        pivot = A[i, i] - _dot(row, row, i)
        ratio = pivot / abs(A[i, i])
        if not ratio >= worst:
            worst = ratio
        if not 0.0 < ratio <= 2.0:  # wrong sign, zero, or no number
            return min(ratio, 0.0) if np.isfinite(ratio) else -1.0
        row[i] = 1.0 / np.sqrt(pivot)
    return worst


@njit
def _forward(C: Floats, x: Floats) -> None:
    for i in range(C.shape[0]):
        x[i] = (x[i] - _dot(C[i], x, i)) * C[i, i]


@njit
def _backward(C: Floats, x: Floats) -> None:
    for i in range(C.shape[0] - 1, -1, -1):
        x[i] *= C[i, i]
        row = C[i]
        for j in range(i):
            x[j] -= row[j] * x[i]


@njit(
    "float64(float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[::1])",
    separate=True,
)
def kkt_dense(M: Floats, J: Floats, Q: Floats, gamma: Floats, workspace: Floats, a: Floats, lam: Floats) -> float:
    """Solve M a - J^T lam = Q, J a = gamma, and return the smallest relative pivot of M and of J M^-1 J^T.

    Parameters
    ----------
    M : (n, n) array
        Symmetric and positive definite; only its lower triangle is read.
    J, Q, gamma : (m, n), (n,) and (m,) arrays
    workspace : array
        At least ``dense_workspace_size(n, m)`` long.
    a, lam : (n,) and (m,) arrays
        Receive the accelerations and the multipliers.

    Returns
    -------
    float
        The smallest quotient of a pivot and the diagonal entry it comes from, in (0, 1]. Small: constraints are nearly
        dependent, see `rank_revealing`. Not above zero: a pivot is zero, negative or no number, and a and lam
        were not written.

    Examples
    --------
    A pendulum (mass 2 at (3, 4) on a rod of length 5, at rest, under gravity 10):

    >>> a, lam, workspace = np.empty(2), np.empty(1), np.empty(dense_workspace_size(2, 1))
    >>> kkt_dense(2 * np.eye(2), np.array([[3.0, 4.0]]), np.array([0.0, -20.0]), np.zeros(1), workspace, a, lam)
    1.0
    >>> a.round(12), lam.round(12)
    (array([ 4.8, -3.6]), array([3.2]))
    """
    n, m = M.shape[0], J.shape[0]
    C = workspace[: n * n].reshape((n, n))
    W = workspace[n * n : n * (n + m)].reshape((m, n))
    G = workspace[n * (n + m) : n * (n + m) + m * m].reshape((m, m))
    z = workspace[n * (n + m) + m * m :]
    ratio = _cholesky(M, C)
    if not ratio > 0.0:
        return ratio
    ratio = min(ratio, _schur(C, J, Q, gamma, W, G, z))
    if not ratio > 0.0:
        return ratio
    for j in range(m):
        lam[j] = z[n + j]
        for i in range(n):
            z[i] += W[j, i] * lam[j]
    _backward(C, z)
    for i in range(n):
        a[i] = z[i]
    return ratio


@njit
def _schur(C: Floats, J: Floats, Q: Floats, gamma: Floats, W: Floats, G: Floats, z: Floats) -> float:
    """Set z to [C^-1 Q; lam], W to J C^-T and G to the factor of W W^T; return its smallest relative pivot."""
    m, n = J.shape
    for i in range(n):
        z[i] = Q[i]
    _forward(C, z)
    for j in range(m):
        row = W[j]
        for i in range(n):
            row[i] = J[j, i]
        _forward(C, row)
        z[n + j] = gamma[j] - _dot(row, z, n)
        for k in range(j + 1):
            G[j, k] = _dot(row, W[k], n)
    ratio = _cholesky(G, G)
    if ratio > 0.0:
        lam = z[n:]
        _forward(G, lam)
        _backward(G, lam)
    return ratio
