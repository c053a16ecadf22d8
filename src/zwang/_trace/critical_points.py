"""Singular points with one parameter free: f(q, p) = 0, J(q, p)^T u = 0, |u| = 1, solved from many starts at once.

These are as many equations as unknowns q, p, u, so that the solutions are isolated unless the space stays singular when
the parameter changes. Where constraints repeat others everywhere, as many random combinations of them are taken as are
independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._numerics.budget import spend
from zwang._trace.formulas import ExactEquations, Formulas, numeric

Array = NDArray[np.float64]
ROUNDS, MORE = 80, 240
CONVERGED = 1e-11  # residual of the extended equations, scaled


class Extended:
    """The extended system in scaled unknowns: x = q/scale, s = p/unit, equations divided by their weights."""

    def __init__(self, equations: ExactEquations, parameter: Any, scale: Array, unit: float) -> None:
        q = equations.coordinates
        self.n, self.m = len(q), len(equations.values)
        n, m = self.n, self.m
        second = [sp.diff(equations.jacobian[i, j], q[k]) for i in range(m) for j in range(n) for k in range(n)]
        outputs = [*equations.values, *equations.jacobian, *second]
        outputs += [sp.diff(item, parameter) for item in (*equations.values, *equations.jacobian)]
        self._evaluate = numeric(Formulas(outputs, (*q, parameter), equations.name))
        self.scale, self.unit = scale, unit
        self.weights = np.ones(m)
        self.mix = np.eye(m)

    def terms(self, x: Array, s: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return F (b, r), J (b, r, n), H (b, r, n, n), dF/ds (b, r), dJ/ds (b, r, n) at x (b, n), s (b,)."""
        n, m, b = self.n, self.m, len(s)
        flat = self._evaluate(np.vstack([(x * self.scale).T, s * self.unit]))
        cuts = np.cumsum([m, m * n, m * n * n, m])
        f, rows, second, fp, rp = np.split(flat, cuts)
        weigh = self.mix / self.weights
        F = weigh @ f
        J = np.einsum("ri,inb->rnb", weigh, rows.reshape(m, n, b)) * self.scale[:, None]
        H = np.einsum("ri,ijkb->rjkb", weigh, second.reshape(m, n, n, b))
        H = H * self.scale[:, None, None] * self.scale[None, :, None]
        Fs = weigh @ fp * self.unit
        Js = np.einsum("ri,inb->rnb", weigh, rp.reshape(m, n, b)) * self.scale[:, None] * self.unit
        return F.T, np.moveaxis(J, 2, 0), np.moveaxis(H, 3, 0), Fs.T, np.moveaxis(Js, 2, 0)

    def prepare(self, x: Array, s: Array) -> None:
        """Choose the weights so that gradients have size one at typical places."""
        rows = self.terms(x, s)[1]
        sizes = np.linalg.norm(rows, axis=2)
        sizes = sizes[np.isfinite(sizes).all(axis=1)]
        typical = np.median(sizes, axis=0) if len(sizes) else np.ones(self.m)
        self.weights = np.where(typical > 0, typical, 1.0)

    def combine(self, rank: int, source: np.random.Generator) -> None:
        """Take random combinations of the equations, as many as are independent on the set."""
        if rank < self.m:
            self.mix = np.linalg.qr(source.normal(size=(self.m, self.m)))[0][:rank]

    def starting(self, x: Array, s: Array) -> Array:
        """Return unknowns (b, n + 1 + r) with u the combination of rows that is shortest there."""
        J = self.terms(x, s)[1]
        good = np.asarray(np.isfinite(J).all(axis=(1, 2)))
        left = np.linalg.svd(np.where(good[:, None, None], J, 0.0))[0]
        return np.concatenate([x, s[:, None], left[:, :, -1]], axis=1)[good]

    def system(self, z: Array) -> tuple[Array, Array]:
        """Return residuals (b, r + n + 1) and their Jacobian in the unknowns."""
        n, b = self.n, len(z)
        x, s, u = z[:, :n], z[:, n], z[:, n + 1 :]
        F, J, H, Fs, Js = self.terms(x, s)
        r = F.shape[1]
        residual = np.concatenate([F, np.einsum("br,brn->bn", u, J), ((u * u).sum(axis=1) - 1)[:, None]], axis=1)
        A = np.zeros((b, r + n + 1, n + 1 + r))
        A[:, :r, :n], A[:, :r, n] = J, Fs
        A[:, r : r + n, :n] = np.einsum("br,brjk->bjk", u, H)
        A[:, r : r + n, n] = np.einsum("br,brn->bn", u, Js)
        A[:, r : r + n, n + 1 :] = np.swapaxes(J, 1, 2)
        A[:, -1, n + 1 :] = 2 * u
        return residual, A

    def solve(self, z: Array, *, hold: bool = False, most: int = ROUNDS) -> tuple[Array, Array]:
        """Return solutions and residuals from many starts (Levenberg, Marquardt); `hold` keeps the parameter."""
        residual, A = self.system(z)
        size = _sizes(residual)
        damping = np.full(len(z), 1e-3)
        eye = np.eye(z.shape[1])
        for turn in range(most):
            if hold:
                A[:, :, self.n] = 0.0
            active = np.isfinite(size) & (size > 0) & ((turn < ROUNDS) | (size < 1e-3))
            if not active.any():
                break
            normal = np.einsum("bij,bik->bjk", A, A) + damping[:, None, None] * eye
            if hold:
                normal[:, self.n, self.n] = 1.0
            right = -np.einsum("bij,bi->bj", A, residual)
            normal = np.where(active[:, None, None], normal, eye)
            step = _solved(normal, np.where(active[:, None], right, 0.0))
            length = np.abs(step).max(axis=1)
            tried = z + step * np.minimum(1.0, 0.5 / np.maximum(length, 1e-300))[:, None]
            spend(len(tried))
            new_residual, new_A = self.system(tried)
            new_size = _sizes(new_residual)
            better = new_size < size
            z = np.where(better[:, None], tried, z)
            residual = np.where(better[:, None], new_residual, residual)
            A = np.where(better[:, None, None], new_A, A)
            size = np.where(better, new_size, size)
            damping = np.clip(np.where(better, damping / 8, damping * 4), 1e-15, 1e8)
        return z, size

    def moves(self, z: Array) -> bool:
        """Whether a solution goes on as a family when the parameter changes a little."""
        for side in (1, -1):
            moved = z.copy()
            moved[self.n] += side * 1e-3
            found, size = self.solve(moved[None], hold=True, most=60)
            if size[0] < CONVERGED and np.abs(found[0] - moved).max() < 0.05:
                return True
        return False

    def bend(self, z: Array) -> float:
        """Return the determinant of the second derivatives of the reduced equation at a solution."""
        x, s, u = z[: self.n], z[self.n], z[self.n + 1 :]
        _, J, H, _, _ = self.terms(x[None], np.array([s]))
        _, sizes, right = np.linalg.svd(J[0])
        # Gradients have size one here, so that this is relative to them, also where all of them vanish.
        rank = int((sizes > 1e-6).sum())
        kernel = right[rank:]
        return float(np.linalg.det(kernel @ np.einsum("r,rjk->jk", u, H[0]) @ kernel.T))


def _solved(normal: Array, right: Array) -> Array:
    """Return the steps (b, k) of symmetric matrices (b, k, k); the shortest where damping is lost in rounding."""
    try:
        return np.asarray(np.linalg.solve(normal, right[..., None])[..., 0])
    except np.linalg.LinAlgError:
        return np.asarray((np.linalg.pinv(normal, hermitian=True) @ right[..., None])[..., 0])


def _sizes(residual: Array) -> Array:
    size = np.abs(residual).max(axis=1)
    return np.where(np.isfinite(size), size, np.inf)


def project(extended: Extended, x: Array, s: Array, rounds: int = 40) -> Array:
    """Return points of the set at given parameter values, from starts (b, n); those that don't arrive are left out."""
    for _ in range(rounds):
        F, J, *_ = extended.terms(x, s)
        good = np.isfinite(J).all(axis=(1, 2)) & np.isfinite(F).all(axis=1)
        x, s, F, J = x[good], s[good], F[good], J[good]
        if not len(x):
            return x
        step = -(np.linalg.pinv(J, rcond=1e-9) @ F[..., None])[..., 0]
        length = np.abs(step).max(axis=1, keepdims=True)
        x = x + step * np.minimum(1.0, 0.5 / np.maximum(length, 1e-300))
    F = extended.terms(x, s)[0]
    arrived: Array = x[np.abs(F).max(axis=1) < 1e-9] if F.shape[1] else x
    return arrived


def generic_rank(extended: Extended, x: Array, s: float) -> int:
    """Return the rank of the constraints at most points of the set; the largest possible where no point is found."""
    points = project(extended, x, np.full(len(x), s))
    if not len(points):
        return min(extended.m, extended.n)
    J = extended.terms(points, np.full(len(points), s))[1]
    sizes = np.linalg.svd(J)[1]
    ranks = (sizes > 1e-6 * np.maximum(sizes.max(axis=1, keepdims=True), 1e-300)).sum(axis=1)
    return int(np.max(ranks))


def distinct(rows: Sequence[Array], periods: Array, near: float) -> list[Array]:
    """Return the rows that differ by more than `near`, angles modulo their periods."""
    kept: list[Array] = []
    for row in rows:
        if all(apart(row, other, periods) > near for other in kept):
            kept.append(row)
    return kept


def apart(a: Array, b: Array, periods: Array) -> float:
    """Return the largest difference of two rows, angles modulo their periods."""
    d = a - b
    turns = np.where(periods > 0, np.round(d / np.where(periods > 0, periods, 1.0)), 0.0)
    return float(np.abs(d - periods * turns).max())
