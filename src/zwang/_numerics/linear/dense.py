"""Dense systems of some tens of unknowns in compiled loops: the one Cholesky, the one LU, and the one KKT solver.

Compiled code calls these kernels with what it has allocated; n unknowns stand in the upper left corner. LAPACK takes
longer for so few.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


SQUARE = {"reassoc", "contract"}
"""Terms in any order: several at once; nan and inf are kept."""


@njit(fastmath=SQUARE, _nrt=False)
def cholesky(A: Floats, C: Floats, n: int, shift: float) -> float:
    """Factorize A + shift = C C^T (lower parts, 1 / C[i, i] on the diagonal of C, which may be A).

    Return the smallest pivot over the diagonal entry it comes from, in (0, 1]; not above zero where A + shift is not
    positive definite, or no numbers: then C is not made.

    Examples
    --------
    >>> C = np.array([[4.0, 0.0], [2.0, 2.0]])
    >>> cholesky(C, C, 2, 0.0), C.round(12)
    (0.5, array([[0.5, 0. ],
           [1. , 1. ]]))
    """
    worst = 1.0
    for i in range(n):
        for j in range(i):
            total = 0.0
            for k in range(j):
                total += C[i, k] * C[j, k]
            C[i, j] = (A[i, j] - total) * C[j, j]
        total = 0.0
        for k in range(i):
            total += C[i, k] * C[i, k]
        own = A[i, i] + shift
        ratio = (own - total) / abs(own)
        if not ratio >= worst:
            worst = ratio
        if not 0.0 < ratio <= 2.0:  # wrong sign, zero, or no number
            return min(ratio, 0.0) if np.isfinite(ratio) else -1.0
        C[i, i] = 1.0 / np.sqrt(own - total)
    return worst


@njit(fastmath=SQUARE, _nrt=False)
def forward(C: Floats, x: Floats, n: int) -> None:
    """Overwrite x with C^-1 x, C as `cholesky` leaves it."""
    for i in range(n):
        total = 0.0
        for k in range(i):
            total += C[i, k] * x[k]
        x[i] = (x[i] - total) * C[i, i]


@njit(_nrt=False)
def backward(C: Floats, x: Floats, n: int) -> None:
    """Overwrite x with C^-T x, C as `cholesky` leaves it."""
    for i in range(n - 1, -1, -1):
        x[i] *= C[i, i]
        for j in range(i):
            x[j] -= C[i, j] * x[i]


@njit(_nrt=False)
def lu(A: Floats, order: Ints, n: int, least: float) -> bool:
    """Replace A by its LU factors with row exchanges; False where no pivot is larger than `least`.

    Examples
    --------
    >>> A, order, x = np.array([[0.0, 2.0], [4.0, 2.0]]), np.empty(2, np.int64), np.array([2.0, 8.0])
    >>> lu(A, order, 2, 0.0)
    True
    >>> lu_solve(A, order, x, 2)
    >>> x
    array([1.5, 1. ])
    """
    for k in range(n):
        best, size = k, abs(A[k, k])
        for i in range(k + 1, n):
            if abs(A[i, k]) > size:
                best, size = i, abs(A[i, k])
        if not least < size < np.inf:
            return False
        order[k] = best
        if best != k:
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        top = A[k, k + 1 : n]  # loops over slices from zero become vector instructions
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            factor, line = A[i, k], A[i, k + 1 : n]
            if factor != 0.0:
                for j in range(n - k - 1):
                    line[j] -= factor * top[j]
    return True


@njit(_nrt=False)
def lu_solve(A: Floats, order: Ints, x: Floats, n: int) -> None:
    """Overwrite x with the solution, from the factors that `lu` leaves."""
    for k in range(n):
        if order[k] != k:
            x[k], x[order[k]] = x[order[k]], x[k]
    for i in range(n):
        own = x[i]
        for k in range(i):
            own -= A[i, k] * x[k]
        x[i] = own
    for k in range(n - 1, -1, -1):
        own = x[k]
        for j in range(k + 1, n):
            own -= A[k, j] * x[j]
        x[k] = own / A[k, k]


def dense_workspace_size(n: int, m: int) -> int:
    """Return how many float64 `kkt_dense` needs.

    Examples
    --------
    >>> dense_workspace_size(3, 2)
    24
    """
    return n * n + m * n + m * m + n + m


@njit(
    "float64(float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[::1])",
    separate=True,
)
def kkt_dense(M: Floats, J: Floats, Q: Floats, gamma: Floats, workspace: Floats, a: Floats, lam: Floats) -> float:
    """Solve M a - J^T lam = Q, J a = gamma, and return the smallest relative pivot of M and of J M^-1 J^T.

    With the Cholesky factor M = C C^T, W = J C^-T and z = C^-1 Q it becomes (W W^T) lam = gamma - W z and
    C^T a = z + W^T lam.

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
        dependent, see `linear.kkt`. Not above zero: a pivot is zero, negative or no number, and a and lam
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
    ratio = cholesky(M, C, n, 0.0)
    if not ratio > 0.0:
        return ratio
    ratio = min(ratio, _schur(C, J, Q, gamma, W, G, z))
    if not ratio > 0.0:
        return ratio
    for j in range(m):
        lam[j] = z[n + j]
        for i in range(n):
            z[i] += W[j, i] * lam[j]
    backward(C, z, n)
    for i in range(n):
        a[i] = z[i]
    return ratio


@njit(fastmath=SQUARE)
def _schur(C: Floats, J: Floats, Q: Floats, gamma: Floats, W: Floats, G: Floats, z: Floats) -> float:
    """Set z to [C^-1 Q; lam], W to J C^-T and G to the factor of W W^T; return its smallest relative pivot."""
    m, n = J.shape
    for i in range(n):
        z[i] = Q[i]
    forward(C, z, n)
    for j in range(m):
        for i in range(n):
            W[j, i] = J[j, i]
        forward(C, W[j], n)
        total = 0.0
        for i in range(n):
            total += W[j, i] * z[i]
        z[n + j] = gamma[j] - total
        for k in range(j + 1):
            total = 0.0
            for i in range(n):
                total += W[j, i] * W[k, i]
            G[j, k] = total
    ratio = cholesky(G, G, m, 0.0)
    if ratio > 0.0:
        lam = z[n:]
        forward(G, lam, m)
        backward(G, lam, m)
    return ratio
