"""Singular points with one parameter free: f(q, p) = 0, J(q, p)^T u = 0, |u| = 1, solved from many starts at once.

These are as many equations as unknowns q, p, u, so that the solutions are isolated unless the space stays singular when
the parameter changes. Where constraints repeat others everywhere, as many random combinations of them are taken as are
independent.

Starts come from the set of all (q, p) as well, which is smooth in general: there p is stationary where a space becomes
singular, and Newton's method for that has as many unknowns as the set has dimensions, however many coordinates it has.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.budget import spend
from zwang._numerics.tolerances import THRESHOLDS
from zwang._trace.space_equations import SpaceEquations, SparseFunction

Array = NDArray[np.float64]
ROUNDS, MORE = 80, 240
CONVERGED = 1e-11  # residual of the extended equations, scaled
ON_SET = 1e-9  # residual of a point of the set, scaled
STATIONARY = 1e-7  # slope of the parameter along the set at which it is taken for stationary
STRIDE = 0.3  # longest step along the set, scaled


class Extended:
    """The extended system in scaled unknowns: x = q/scale, s = p/unit, equations divided by their weights."""

    def __init__(
        self, equations: SpaceEquations, params: Array, which: int, t: float, scale: Array, unit: float
    ) -> None:
        self.equations, self.params, self.which, self.t = equations, params, which, t
        self.n, self.m = equations.n, equations.m
        program, graph = equations.program, equations.program.graph
        first = [*equations.nodes[: self.m], *(node for row in equations.gradients[: self.m] for node in row)]
        by_parameter = graph.forward(first, {program.params[which]: graph.one})
        self._by_parameter = SparseFunction.of(equations.dialect, program, by_parameter)
        self.scale, self.unit = scale, unit
        self.weights = np.ones(self.m)
        self.mix = np.eye(self.m)

    @cached_property
    def _sums(self) -> tuple[NDArray[np.int64], Any]:
        """Of each second derivative that is not zero, its equation; and the matrix that adds those of a place."""
        from scipy.sparse import csr_matrix

        places, n = self.equations.sparse_second.places, self.n
        ones = np.ones(len(places)), (places % (n * n), np.arange(len(places)))
        return places // (n * n), csr_matrix(ones, shape=(n * n, len(places)))

    def _at(self, x: Array, s: Array) -> tuple[float, Array, Array]:
        params = np.repeat(self.params[:, None], len(s), axis=1)
        params[self.which] = s * self.unit
        return self.t, (x * self.scale).T, params

    def terms(self, x: Array, s: Array) -> tuple[Array, Array, Array, Array]:
        """Return F (b, r), J (b, r, n), dF/ds (b, r), dJ/ds (b, r, n) at x (b, n), s (b,)."""
        n, m, b, at = self.n, self.m, len(s), self._at(x, s)
        weigh = self.mix / self.weights
        with np.errstate(all="ignore"):  # what has no value is not a number, and whoever asks looks
            flat, by_p = self.equations.sparse.many(*at), self._by_parameter.many(*at)
            start = m + self.equations.g
            rows = flat[start : start + m * n].reshape(m, n, b)
            J = np.einsum("ri,inb->brn", weigh, rows) * self.scale
            Js = np.einsum("ri,inb->brn", weigh, by_p[m:].reshape(m, n, b)) * self.scale * self.unit
            return (weigh @ flat[:m]).T, J, (weigh @ by_p[:m]).T * self.unit, Js

    def curvature(self, x: Array, s: Array, u: Array) -> Array:
        """Return the second derivatives (b, n, n) of combinations u (b, r) of the equations."""
        owner, add = self._sums
        with np.errstate(all="ignore"):
            second = self.equations.sparse_second
            values = second.many(*self._at(x, s))[second.places] * (u @ (self.mix / self.weights)).T[owner]
            found = (add @ values).T.reshape(len(s), self.n, self.n)
            return np.asarray(found * np.outer(self.scale, self.scale))

    def gaps(self, x: Array, s: Array) -> Array:
        """Return the one-sided constraints (b, g)."""
        m, g = self.m, self.equations.g
        return np.asarray(self.equations.sparse.many(*self._at(x, s))[m : m + g].T)

    def prepare(self, x: Array, s: Array) -> None:
        """Choose the weights so that gradients have size one at typical places."""
        rows = self.terms(x, s)[1]
        sizes = np.linalg.norm(rows, axis=2)
        sizes = sizes[np.isfinite(sizes).all(axis=1)]
        typical = np.median(sizes, axis=0) if len(sizes) else np.ones(self.m)
        self.weights = self.weights * np.where(typical > 0, typical, 1.0)

    def combine(self, rank: int, source: np.random.Generator) -> None:
        """Take random combinations of the equations, as many as are independent on the set."""
        if rank < self.m:
            self.mix = np.linalg.qr(source.normal(size=(self.m, self.m)))[0][:rank]

    def slopes(self, z: Array, rank: int) -> tuple[Array, Array, Array]:
        """Return tangents T (b, d, n + 1) of the set of all (x, s) at z, slopes of s along them, and their derivatives.

        With A the rows of all equations by (x, s), A^T mu is the part of the direction of s across the set, and the
        second derivative of s along the set is that of -mu . F; its part by s alone vanishes where the slopes do.
        """
        x, s, n = z[:, : self.n], z[:, self.n], self.n
        _, J, Fs, Js = self.terms(x, s)
        A = np.concatenate([J, Fs[:, :, None]], axis=2)
        left, sizes, right = np.linalg.svd(np.where(np.isfinite(A), A, 0.0))
        normal, T = right[:, :rank], right[:, rank:]
        over = sizes[:, :rank] / (sizes[:, :rank] ** 2 + 1e-18)
        mu = np.einsum("bmr,br->bm", left[:, :, :rank], over * normal[:, :, n])
        bent = np.zeros((len(z), n + 1, n + 1))
        bent[:, :n, :n] = self.curvature(x, s, mu)
        bent[:, :n, n] = bent[:, n, :n] = np.einsum("bm,bmn->bn", mu, Js)
        return T, T[:, :, n], -(T @ bent @ np.swapaxes(T, 1, 2))

    def stationary(self, z: Array, rank: int, most: int = ROUNDS) -> Array:
        """Return points (x, s) of the set of all of them at which s is stationary, from points (b, n + 1) of it."""
        T, g, H = self.slopes(z, rank)
        size, damping = np.linalg.norm(g, axis=1), np.full(len(z), 1e-2)
        for _ in range(most):
            active = np.flatnonzero((size > STATIONARY * 1e-4) & (damping < 1e6))
            if not len(active):
                break
            spend(len(active))
            h, d = H[active], damping[active]
            normal = np.einsum("bki,bkj->bij", h, h) + d[:, None, None] * np.eye(h.shape[1])
            y = -_solved(normal, np.einsum("bki,bk->bi", h, g[active]))
            y *= np.minimum(1.0, STRIDE / np.maximum(np.linalg.norm(y, axis=1), 1e-300))[:, None]
            tried, on = self.settled(z[active] + np.einsum("ba,bai->bi", y, T[active]), rank, rounds=4)
            new = self.slopes(tried, rank)
            better = on & (np.linalg.norm(new[1], axis=1) < size[active])
            for old, made in zip((z, T, g, H), (tried, *new), strict=True):
                old[active[better]] = made[better]
            size = np.linalg.norm(g, axis=1)
            damping[active] = np.where(better, np.maximum(d / 8, 1e-12), d * 6)
        return np.asarray(z[size < STATIONARY])

    def settled(self, z: Array, rank: int, *, hold: bool = False, rounds: int = 40) -> tuple[Array, NDArray[np.bool_]]:
        """Return points (b, n + 1) of the set next to z, all equations at once, and which arrived; `hold` keeps s."""
        z, on = z.copy(), np.zeros(len(z), dtype=bool)
        for _ in range(rounds):
            left = np.flatnonzero(~on & np.isfinite(z).all(axis=1))
            if not len(left):
                break
            F, J, Fs, _ = self.terms(z[left, : self.n], z[left, self.n])
            A = np.concatenate([J, (0.0 if hold else 1.0) * Fs[:, :, None]], axis=2)
            good = np.isfinite(A).all(axis=(1, 2)) & np.isfinite(F).all(axis=1)
            z[left[~good]] = np.nan
            left, A, F = left[good], A[good], F[good]
            if not len(left):
                break
            U, sizes, V = np.linalg.svd(A, full_matrices=False)
            over = np.where(sizes > 1e-9 * sizes[:, :1], 1.0 / np.maximum(sizes, 1e-300), 0.0)
            over[:, rank:] = 0.0
            step = -np.einsum("br,bri->bi", over * np.einsum("bmr,bm->br", U, F), V)
            length = np.abs(step).max(axis=1, keepdims=True)
            z[left] += step * np.minimum(1.0, 0.5 / np.maximum(length, 1e-300))
            on[left] = (length[:, 0] <= 1e-10) & (np.abs(F).max(axis=1, initial=0.0) <= ON_SET)
        return z, on

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
        F, J, Fs, Js = self.terms(x, s)
        r = F.shape[1]
        residual = np.concatenate([F, np.einsum("br,brn->bn", u, J), ((u * u).sum(axis=1) - 1)[:, None]], axis=1)
        A = np.zeros((b, r + n + 1, n + 1 + r))
        A[:, :r, :n], A[:, :r, n] = J, Fs
        A[:, r : r + n, :n] = self.curvature(x, s, u)
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

    def bend(self, z: Array) -> float:
        """Return the determinant of the second derivatives of the reduced equation at a solution."""
        x, s, u = z[: self.n], z[self.n], z[self.n + 1 :]
        _, J, _, _ = self.terms(x[None], np.array([s]))
        _, sizes, right = np.linalg.svd(J[0])
        # Gradients have size one here, so that this is relative to them, also where all of them vanish.
        rank = int((sizes > THRESHOLDS.sampled).sum())
        kernel = right[rank:]
        return float(np.linalg.det(kernel @ self.curvature(x[None], np.array([s]), u[None])[0] @ kernel.T))


def _solved(normal: Array, right: Array) -> Array:
    """Return the steps (b, k) of symmetric matrices (b, k, k); the shortest where damping is lost in rounding."""
    try:
        return np.asarray(np.linalg.solve(normal, right[..., None])[..., 0])
    except np.linalg.LinAlgError:
        return np.asarray((np.linalg.pinv(normal, hermitian=True) @ right[..., None])[..., 0])


def _sizes(residual: Array) -> Array:
    size = np.abs(residual).max(axis=1)
    return np.where(np.isfinite(size), size, np.inf)


def generic_rank(extended: Extended, z: Array) -> int:
    """Return the rank of the constraints at most points of the set (b, n + 1); the largest possible without a point."""
    if not len(z):
        return min(extended.m, extended.n)
    sizes = np.linalg.svd(extended.terms(z[:, : extended.n], z[:, extended.n])[1])[1]
    ranks = (sizes > THRESHOLDS.sampled * np.maximum(sizes.max(axis=1, keepdims=True), 1e-300)).sum(axis=1)
    return int(np.max(ranks))
