"""The reactions that go with one acceleration in one combination of modes: a convex set, and its extent.

Where the acceleration w and the mode of each contact are known, the reactions solve J^T f = A w - F with sticking
forces in their cones, slipping ones on their rays and open ones zero. That set is x0 + Z y, cut by cones, with Z a
basis of the self-stresses: its extent in every force is a cone program, its point of least norm a quadratic one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.linear.rank import ROUNDING, decided

Array = NDArray[np.float64]

FREE, PUSH, PULL, CONE, DISC = range(5)
"""How a force is bounded: not at all, N >= 0, N <= 0, |T| <= mu |N|, |T| <= a given bound."""
GAP = 1e-8
"""How far an attained value and its bound may be apart, relative to the largest force."""
SLACK = 1e-11
"""Room for the rounding of the given reactions, relative to the largest."""
INSIDE = 1e-7  # part of the largest force by which a set has an interior
FLAT = 2e-4
"""Extent, relative to the largest force, that counts as none in a set without interior: slack opens its cones."""
LEAST_AXIS = 1e-9
"""Semi-axes below this, relative to the other one, are taken as this."""
FAR = 1e6
"""Forces beyond this, relative to the given ones, are looked at for having no bound."""
SOLVED = ("Solved", "AlmostSolved")


@dataclass(frozen=True, eq=False)
class Part:
    """The unknown forces of one contact.

    Attributes
    ----------
    kind : int
    columns : (m, n) array
        What a unit of each force does: the normal (with the friction that slips along), then the tangents.
    value : (m,) array
        A solution.
    bound : float
        mu of a cone (negative where it pulls), the radius of a disc.
    axes : (p,) array, optional
        Semi-axes of the section at rest where it is no disc, with bound 1 or -1.
    centre : float
        Middle of an interval along one tangent, in units of half its length.
    """

    kind: int
    columns: Array
    value: Array
    bound: float = 0.0
    axes: Array | None = None
    centre: float = 0.0


@dataclass(frozen=True, eq=False)
class ReactionSet:
    """Its dimension, point of least norm, extent (m, 2), ends where it is a segment, directions without bound.

    Forces stand in the order of the parts. An extent that could not be determined is nan.
    """

    dimension: int
    base: Array
    extent: Array
    ends: Array
    rays: Array
    stress: Array


def reaction_set(parts: Sequence[Part], metric: Array | None) -> ReactionSet:
    """Return the set of reactions around a solution.

    Parameters
    ----------
    parts : sequence of Part
    metric : (n, n) array or None
        The mass matrix, in whose metric columns are compared.

    Examples
    --------
    A weight of 2 on two legs that do the same:

    >>> legs = [Part(PUSH, np.array([[1.0]]), np.array([share])) for share in (0.5, 1.5)]
    >>> found = reaction_set(legs, None)
    >>> found.dimension, found.extent.round(6).tolist(), found.base.round(6)
    (1, [[0.0, 2.0], [0.0, 2.0]], array([1., 1.]))
    """
    value = np.concatenate([np.zeros(0), *(part.value for part in parts)])
    nothing = ReactionSet(0, value, np.stack([value, value], axis=1), value[None], value[None][:0], value[None][:0])
    if not len(value):
        return nothing
    columns = np.concatenate([part.columns for part in parts])
    stress = self_stress(columns, metric)
    if not stress.shape[1]:
        return nothing
    return _Program(parts, value, np.linalg.qr(stress)[0]).found()


def least_reactions(parts: Sequence[Part], metric: Array | None) -> Array:
    """Return the reactions with the least sum of squares of the normal forces, then of the others, inside all bounds.

    Examples
    --------
    A weight of 3, a leg on each side of it: the nearer one bears twice as much. A third leg beside that one:

    >>> legs = [Part(PUSH, np.array([[1.0, x]]), np.array([f])) for x, f in ((-1.0, 2.0), (2.0, 1.0), (-1.0, 0.0))]
    >>> least_reactions(legs, None).round(6)
    array([1., 1., 1.])
    """
    value = np.concatenate([part.value for part in parts])
    stress = self_stress(np.concatenate([part.columns for part in parts]), metric)
    if not stress.shape[1]:
        return value
    normals = [i == 0 and part.kind != DISC for part in parts for i in range(len(part.value))]
    return _Program(parts, value, np.linalg.qr(stress)[0]).least(np.array(normals))


def deepest_reactions(
    parts: Sequence[Part], metric: Array | None, *, blur: float = ROUNDING
) -> tuple[float, float, Array]:
    """Return how deep inside their bounds reactions with the same effect as the given ones can be.

    Effects below `blur`, relative to those of unit forces, are none: that of directions which are not known better.

    Returns
    -------
    depth, most : float
        What was reached, relative to the largest given force, and a bound of it.
    value : (m,) array
        The deepest reactions.
    """
    value = np.concatenate([part.value for part in parts])
    stress = self_stress(np.concatenate([part.columns for part in parts]), metric, blur)
    return _Program(parts, value, np.linalg.qr(stress)[0]).deepest()


def self_stress(columns: Array, metric: Array | None, blur: float = ROUNDING) -> Array:
    """Return the combinations (m, d) of forces that do nothing."""
    root = np.eye(columns.shape[1]) if metric is None else np.asarray(np.linalg.cholesky(metric))
    return decided(columns, root, blur).stress


class _Program:
    """Cone programs over y in x = x0 + load Z y."""

    def __init__(self, parts: Sequence[Part], value: Array, basis: Array) -> None:
        import clarabel

        self.value, self.basis = value, basis
        self.load = float(np.abs(value).max(initial=0.0)) or 1.0
        self.cones: list[Any] = []
        self.pushing: list[int] = []
        self.pulling: list[int] = []
        rows: list[Array] = []
        constant: list[float] = []
        inner: list[float] = []
        at = 0
        for part in parts:
            size = len(part.value)
            here = slice(at, at + size)
            at += size
            if part.kind == PUSH or (part.kind == CONE and part.bound > 0):
                self.pushing.append(here.start)
            elif part.kind in (PULL, CONE):
                self.pulling.append(here.start)
            if part.kind == FREE:
                continue
            x, z = value[here] / self.load, basis[here]
            if part.kind in (PUSH, PULL):
                sign = 1.0 if part.kind == PUSH else -1.0
                rows.append(-sign * z[0])
                constant.append(sign * x[0] + SLACK)
                inner.append(1.0)
                self.cones.append(clarabel.NonnegativeConeT(1))
                continue
            cone = part.kind == CONE
            rows.append(-part.bound * z[0] if cone else np.zeros(basis.shape[1]))
            constant.append((part.bound * x[0] if cone else part.bound / self.load) + SLACK)
            inner.append(1.0)
            rubbing = slice(1, size) if cone else slice(0, size)
            narrow = 1.0 if part.axes is None else 1.0 / np.maximum(part.axes, LEAST_AXIS * part.axes.max())
            rows += list(-(z[rubbing] + part.centre * rows[-1]) * np.reshape(narrow, (-1, 1)))
            middle = part.centre * (part.bound * x[0] if cone else part.bound / self.load)
            constant += list((x[rubbing] - middle) * narrow)
            inner += [0.0] * len(x[rubbing])
            self.cones.append(clarabel.SecondOrderConeT(1 + len(x[rubbing])))
        self.rows = np.array(rows).reshape(len(rows), basis.shape[1])
        self.constant, self.inner = np.array(constant), np.array(inner)

    def _solve(self, quadratic: Array, linear: Array, rows: Array, constant: Array, cones: list[Any]) -> Any:
        import clarabel
        from scipy.sparse import csc_array

        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
        settings.presolve_enable = False
        solver = clarabel.DefaultSolver(
            csc_array(np.triu(quadratic)), linear, csc_array(rows), constant, cones, settings
        )
        return solver.solve()

    def found(self) -> ReactionSet:
        """Return everything that is asked."""
        d, m = self.basis.shape[1], len(self.value)
        extent = np.stack([self.value, self.value], axis=1)
        points: list[Array] = [self.value]
        rays: list[Array] = []
        for i in range(m):
            if np.linalg.norm(self.basis[i]) <= ROUNDING:
                continue
            for side, sign in enumerate((1.0, -1.0)):
                extent[i, side] = self._extreme(i, sign, points, rays)
        extent[self.pushing, 0] = np.maximum(extent[self.pushing, 0], 0.0)
        extent[self.pulling, 1] = np.minimum(extent[self.pulling, 1], 0.0)
        dimension = (
            d
            if self._has_interior()
            else int(np.linalg.matrix_rank(np.array(points) - points[0], tol=FLAT * self.load))
        )
        ends = np.array(points[:1]) if dimension == 0 else np.zeros((0, m))
        if dimension == 1 and not rays and len(points) > 2:
            along = np.linalg.svd(np.array(points) - points[0], full_matrices=False)[2][0]
            order = np.argsort(np.array(points) @ along)
            ends = np.array([points[order[0]], points[order[-1]]])
        return ReactionSet(dimension, self._least_norm(), extent, ends, np.array(rays).reshape(-1, m), self.basis.T)

    def _extreme(self, i: int, sign: float, points: list[Array], rays: list[Array]) -> float:
        """Return the least (sign 1) or greatest (-1) value of a force; nan where the programs don't say."""
        d = self.basis.shape[1]
        result = self._solve(np.zeros((d, d)), sign * self.basis[i], self.rows, self.constant, self.cones)
        x = self.value + self.load * (self.basis @ np.array(result.x))
        apart = abs(float(result.obj_val) - float(result.obj_val_dual))
        if str(result.status) in SOLVED and apart <= GAP and np.abs(x).max() <= FAR * self.load:
            points.append(x)
            return float(x[i])
        ray = self._ray(sign * self.basis[i])
        if ray is None:
            return float("nan")
        rays.append(ray)
        return -sign * float("inf")

    def _ray(self, cost: Array) -> Array | None:
        """Return a direction without bound along which a cost falls; None where there is none."""
        import clarabel

        d = len(cost)
        box = np.vstack([np.eye(d), -np.eye(d)])
        cones = [*self.cones, clarabel.NonnegativeConeT(2 * d)]
        rows = np.vstack([self.rows, box])
        free = np.where(self.inner > 0, SLACK, 0.0)
        result = self._solve(np.zeros((d, d)), cost, rows, np.append(free, np.ones(2 * d)), cones)
        y = np.array(result.x)
        if str(result.status) not in SOLVED or not float(cost @ y) < -INSIDE:
            return None
        return np.asarray(self.basis @ y / np.abs(self.basis @ y).max(), dtype=np.float64)

    def deepest(self) -> tuple[float, float, Array]:
        """Return how deep inside all bounds reactions can be (at most 1), a bound of that, and the deepest ones."""
        import clarabel

        d = self.basis.shape[1]
        rows = np.column_stack([self.rows, self.inner])
        rows = np.vstack([rows, np.append(np.zeros(d), 1.0)])
        result = self._solve(
            np.zeros((d + 1, d + 1)),
            np.append(np.zeros(d), -1.0),
            rows,
            np.append(self.constant, 1.0),
            [*self.cones, clarabel.NonnegativeConeT(1)],
        )
        if str(result.status) not in SOLVED:
            return -np.inf, np.inf, self.value
        x = self.value + self.load * (self.basis @ np.array(result.x)[:-1])
        return float(result.x[-1]), -float(result.obj_val_dual), x

    def _has_interior(self) -> bool:
        """Whether some reactions are strictly inside all bounds."""
        return self.deepest()[0] > INSIDE

    def least(self, first: NDArray[np.bool_]) -> Array:
        """Return the point with the least norm of some of its forces, and of the rest where these leave a choice."""
        import clarabel

        own, value = self.basis[first], self.value / self.load
        result = self._solve(own.T @ own, own.T @ value[first], self.rows, self.constant, self.cones)
        if str(result.status) not in SOLVED:
            return self.value
        rest, y = self.basis[~first], np.array(result.x)
        rows, constant = np.vstack([own, self.rows]), np.append(own @ y, self.constant)
        cones = [clarabel.ZeroConeT(len(own)), *self.cones]
        result = self._solve(rest.T @ rest, rest.T @ value[~first], rows, constant, cones)
        y = np.array(result.x) if str(result.status) in SOLVED else y
        return np.asarray(self.value + self.load * (self.basis @ y))

    def _least_norm(self) -> Array:
        d = self.basis.shape[1]
        result = self._solve(np.eye(d), self.basis.T @ self.value / self.load, self.rows, self.constant, self.cones)
        if str(result.status) not in SOLVED:
            return self.value
        found: Array = self.value + self.load * (self.basis @ np.array(result.x))
        return found
