"""A system as numbers for a page: where its points are, where its constraints lead a state, where forces act.

Letters: q, v coordinates and velocities, M the mass matrix, J rows of constraints; batches run along the first axis.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

import zwang as zw
from zwang._declare.drawing import VIEW
from zwang._declare.numeric_values import numbers_of
from zwang._declare.switched import ON
from zwang.lab.scenes import SceneOverTime

Array = NDArray[np.float64]
TOLERANCE = 1e-9
"""A gap, or a rate of it, that counts as closed: that of `zwang.reactions`."""
RATE_TOLERANCE = 1e-6
"""A rate of a gap that counts as zero: dense output and typed numbers are no better [m/s]."""
STEPS = 25  # of a drag: a step of Newton's method each
MOST_HANDLES = 12  # beyond it a mechanism is all handles
TRIALS, MOST_GAPS = 12, 40
"""States at which gaps are compared with places of points; gaps that are looked at."""


class LostState(Exception):
    """No state on the constraints is near; the text says so."""


@dataclass(frozen=True)
class Carried:
    """States that were carried to the constraints.

    Attributes
    ----------
    q, v : (N, n) arrays
    good : (N,) bool array
        Where that succeeded.
    """

    q: Array
    v: Array
    good: NDArray[np.bool_]


class Mechanism:
    """What the page needs to know of a system beside what the verbs say."""

    def __init__(self, system: Any) -> None:
        self.drawing = system.drawing
        self._floors: tuple[tuple[float, ...], list[Array]] | None = None
        self.hidden = system.bookkeeping
        self.system = system = system.written_out
        self.names = [item.name for item in system.coordinates]
        self.speeds = [item.name for item in system.velocities]
        held = [item for item in system.constraints if hasattr(item, "expr")]
        self.held = held
        self.two_sided = np.array([isinstance(item, zw.Bilateral) for item in held], dtype=bool)
        self.on_positions = np.array([item.level == "position" for item in held], dtype=bool)
        self._starts = tuple(str(item.name) for item in held if item.starts == "on")
        self._exprs = [item.expr for item in held]
        q, v = system.coordinates, system.velocities
        self._rows = [[sp.diff(item.expr, x) for x in (q if item.level == "position" else v)] for item in held]
        # d expr/dt of a constraint on positions is J v + this.
        self._explicit = [sp.diff(item.expr, zw.t) if item.level == "position" else sp.S.Zero for item in held]
        self.slip_rows = {
            str(item.name): [[sp.diff(part, x) for x in v] for part in _slips(item)] for item in system.constraints
        }

    # --- numbers ---------------------------------------------------------------------------------------------------

    def values(self, q: Array, v: Array, params: Mapping[str, Any], t: Any = 0.0) -> dict[str, Any]:
        """Return the values of all symbols by name."""
        places = {name: q[..., k] for k, name in enumerate(self.names)}
        speeds = {name: v[..., k] for k, name in enumerate(self.speeds)}
        return {"t": t, **params, **places, **speeds}

    def split(self, state: Mapping[str, Any]) -> tuple[Array, Array]:
        """Return q and v of a state."""
        return np.array([state[name] for name in self.names]), np.array([state[name] for name in self.speeds])

    def joined(self, q: Array, v: Array) -> dict[str, float]:
        """Return the state of q and v."""
        return {
            **{name: float(value) for name, value in zip(self.names, q, strict=True)},
            **{name: float(value) for name, value in zip(self.speeds, v, strict=True)},
        }

    @staticmethod
    def table(rows: Sequence[Sequence[Any]], values: Mapping[str, Any], count: int) -> Array:
        """Return expressions as (N, rows, columns)."""
        flat = numbers_of([item for row in rows for item in row], values)
        wide = len(rows[0]) if rows else 0
        found = [np.broadcast_to(np.asarray(item, dtype=float), (count,)) for item in flat]
        return (np.stack(found, axis=-1) if found else np.zeros((count, 0))).reshape(count, len(rows), wide)

    def gaps(self, q: Array, v: Array, params: Mapping[str, Any], t: float = 0.0) -> tuple[Array, Array]:
        """Return the values of the constraints and their rates, (N, k); rates of those on velocities are zero."""
        values, count = self.values(q, v, params, t), len(q)
        if not self.held:
            return np.zeros((count, 0)), np.zeros((count, 0))
        f = self.table([[item] for item in self._exprs], values, count)[..., 0]
        J = self.table(self._rows, values, count)
        drift = self.table([[item] for item in self._explicit], values, count)[..., 0]
        rates = np.einsum("nkj,nj->nk", J, v) + drift
        return f, np.where(self.on_positions, rates, 0.0)

    @cached_property
    def _mass(self) -> list[list[Any]]:
        system, n = self.system, len(self.names)
        mass = system.mass if system.mass is not None else sp.hessian(system.kinetic, system.velocities)
        return [[mass[i, j] for j in range(n)] for i in range(n)]

    def _metric(self, M: Array, free: NDArray[np.bool_]) -> Array:
        """Return the inverse of the mass matrix of what is free, zero elsewhere; the identity where it has none."""
        inverse, part = np.zeros_like(M), np.ix_(free, free)
        if free.any():
            fit = bool(np.isfinite(M).all()) and np.linalg.cond(M[part]) < 1e12
            inverse[part] = np.linalg.inv(M[part]) if fit else np.eye(int(free.sum()))
        return inverse

    # --- carrying --------------------------------------------------------------------------------------------------

    def closed(
        self, state: Mapping[str, float], params: Mapping[str, float], *, tolerance: float = TOLERANCE
    ) -> NDArray[np.bool_]:
        """Say which constraints hold a state: the two-sided ones, and those of the others that are closed there."""
        q, v = self.split(state)
        f, rates = self.gaps(q[None], v[None], params, float(state.get("t", 0.0)))
        found: NDArray[np.bool_] = self.two_sided | (np.abs(f[0]) <= tolerance) & (np.abs(rates[0]) <= RATE_TOLERANCE)
        return found & self.on(state)

    def on(self, state: Mapping[str, Any] = MappingProxyType({})) -> NDArray[np.bool_]:
        """Say which constraints are switched on: as a state says, else as the system starts."""
        names = state.get(ON, self._starts)
        return np.array([str(item.name) in names for item in self.held], dtype=bool)

    def carry(
        self,
        q: Array,
        v: Array,
        params: Mapping[str, Any],
        closed: NDArray[np.bool_],
        *,
        fixed: Sequence[str] = (),
        t: float = 0.0,
    ) -> Carried:
        """Return the states nearest in the kinetic metric on the constraints that hold; `fixed` names stay.

        Parameters
        ----------
        q, v : (N, n) arrays
        params : mapping of str to number or (N,) array
        closed : (k,) bool array
            Which constraints hold, as `closed` tells.
        fixed : names of coordinates and velocities
        """
        q, v = np.array(q, dtype=float), np.array(v, dtype=float)
        count, places = len(q), np.flatnonzero(closed & self.on_positions)
        first = {name: np.ravel(value)[0] for name, value in params.items()}
        M = self.table(self._mass, self.values(q[:1], v[:1], first, t), 1)[0]
        of_q = self._metric(M, np.array([name not in fixed for name in self.names], dtype=bool))
        of_v = self._metric(M, np.array([name not in fixed for name in self.speeds], dtype=bool))
        good = np.ones(count, dtype=bool)
        if len(places):
            start = q.copy()
            for _ in range(STEPS):
                f, J = self._at(places, q, v, params, t)
                far = np.abs(f).max(axis=1) > 1e-13
                if not (far & good).any():
                    break
                q = q - _least(J, f, of_q)
                good &= np.isfinite(q).all(axis=1)
                q[~good] = 0.0
            if count == 1 and good[0] and not np.array_equal(q, start):
                q = self._nearest(start, q, v, places, params, of_q, t)
            f, _ = self._at(places, q, v, params, t)
            good &= np.abs(f).max(axis=1) < TOLERANCE
        held = np.flatnonzero(closed)
        if len(held):
            values = self.values(q, v, params, t)
            J = self.table([self._rows[k] for k in held], values, count)
            exprs = [[self._exprs[k] if not self.on_positions[k] else self._explicit[k]] for k in held]
            rest = self.table(exprs, values, count)[..., 0]
            rest = rest + np.where(self.on_positions[held], np.einsum("nkj,nj->nk", J, v), 0.0)
            v = v - _least(J, rest, of_v)
            good &= np.isfinite(v).all(axis=1)
        return Carried(q, v, good)

    def _nearest(
        self,
        start: Array,
        q: Array,
        v: Array,
        places: NDArray[Any],
        params: Mapping[str, Any],
        inverse: Array,
        t: float,
    ) -> Array:
        """Return the place on the constraints nearest to the start, from one that is on them."""
        found = q
        for _ in range(STEPS):
            f, J = self._at(places, found, v, params, t)
            moved = start - _least(J, f + np.einsum("nkj,nj->nk", J, start - found), inverse)
            step = float(np.abs(moved - found).max())
            found = moved
            if not step > 1e-13 * (1.0 + float(np.abs(found).max())):
                break
        for _ in range(2):
            f, J = self._at(places, found, v, params, t)
            found = found - _least(J, f, inverse)
        f, _ = self._at(places, found, v, params, t)
        nearer = np.isfinite(found).all() and float(np.abs(f).max()) < TOLERANCE
        return found if nearer and float(np.abs(found - start).max()) <= 2 * float(np.abs(q - start).max()) else q

    def _at(self, places: NDArray[Any], q: Array, v: Array, params: Mapping[str, Any], t: float) -> tuple[Array, Array]:
        values, count = self.values(q, v, params, t), len(q)
        f = self.table([[self._exprs[k]] for k in places], values, count)[..., 0]
        return f, self.table([self._rows[k] for k in places], values, count)

    # --- the drawing -----------------------------------------------------------------------------------------------

    def handles(self) -> list[str]:
        """Return the names of what can be dragged: points that move, else places of bodies that move."""
        if self.drawing is None:
            return []
        points = self.drawing.points
        corners = {name for body in self.drawing.bodies.values() if isinstance(body, tuple) for name in body}
        corners |= {name for name in points if re.fullmatch(r".+ \d+", name) and self.drawing.dimension == 3}
        moving = self.moving()
        found = [name for name in moving if name in points and name not in corners]
        return (found or [name for name in moving if name not in points] or moving)[:MOST_HANDLES]

    def moving(self) -> list[str]:
        """Return the names of the points that move, then of the placed bodies that do."""
        own, points = set(self.system.coordinates), self.drawing.points
        placed = {name: body for name, body in self.drawing.bodies.items() if not isinstance(body, tuple)}
        found = [name for name in points if own & _symbols(points[name])]
        return found + [name for name, body in placed.items() if own & _symbols(body.place) and name not in points]

    def row_of(self, item: Any) -> list[Any]:
        """Return the entries of a constraint's row."""
        return self._rows[self.held.index(item)]

    def place(self, handle: str) -> list[Any]:
        """Return where a handle is, two or three expressions."""
        points = self.drawing.points
        return list(points[handle] if handle in points else self.drawing.bodies[handle].place)

    def point_rows(self, handle: str) -> list[list[Any]]:
        """Return the derivatives of a handle's place, a row for each component."""
        return [[sp.diff(item, x) for x in self.system.coordinates] for item in self.place(handle)]

    def drag(
        self,
        state: Mapping[str, float],
        params: Mapping[str, float],
        handle: str,
        target: tuple[float, float],
        *,
        view: Any = VIEW,
    ) -> dict[str, float]:
        """Return the state on the constraints whose handle is as near to a place as they let it.

        In space the place is one of the picture's plane; `view` has the images of the three axes there as its rows.
        """
        q, v = self.split(state)
        closed = self.closed(state, params)
        places = np.flatnonzero(closed & self.on_positions)
        at, rows = [[item] for item in self.place(handle)], self.point_rows(handle)
        seen = np.eye(2) if len(at) == 2 else np.asarray(view, dtype=float).reshape(3, 2)
        goal, t = np.array(target), float(state.get("t", 0.0))
        best, least = q, np.inf
        size = 1.0
        for _ in range(STEPS):
            values = self.values(q[None], v[None], params, t)
            error = seen.T @ self.table(at, values, 1)[0, :, 0] - goal
            distance = float(np.hypot(*error))
            if distance < least * (1 - 1e-9):
                best, least = q, distance
            else:
                size, q = size / 2, best
                if size < 1e-3:
                    break
                continue
            if distance < 1e-12:
                break
            P = seen.T @ self.table(rows, values, 1)[0]
            Z = _tangents(self._at(places, q[None], v[None], params, t)[1][0]) if len(places) else np.eye(len(q))
            A = P @ Z
            if A.shape[1] == 0:  # nothing can move
                break
            damping = 1e-6 * max(float(np.abs(A).max()), 1e-12) ** 2
            step = Z @ np.linalg.solve(A.T @ A + damping * np.eye(A.shape[1]), -A.T @ error)
            longest = float(np.abs(step).max())
            step *= size * min(1.0, 0.5 / longest if longest > 0 else 1.0)
            moved = self.carry((q + step)[None], v[None], params, closed, t=t)
            if not moved.good[0]:
                size /= 2
                continue
            q = moved.q[0]
        landed = self.carry(best[None], v[None], params, closed, t=t)
        if not landed.good[0]:
            raise LostState(f"'{handle}' can't be moved there: no configuration near satisfies the constraints.")
        return {**dict(state), **self.joined(landed.q[0], landed.v[0])}

    def picture(self, values: Mapping[str, Any]) -> SceneOverTime | None:
        """Return the picture with numbers in it; None where the system has no drawing."""
        if self.drawing is None:
            return None
        floors = self.floors(values) if self.drawing.dimension == 3 else []
        return SceneOverTime(self.drawing, self.system.constraints, values, floors)

    def floors(self, values: Mapping[str, Any]) -> list[Array]:
        """Return the planes that points of a drawing in space meet: normal and offset, (4,) each, at these parameters.

        A gap that is an affine function of the place of a point is the distance from a plane: that is seen by trying
        a few states, whatever form the expression has.
        """
        params = {item.name: float(np.ravel(values[item.name])[0]) for item in self.system.parameters}
        key = tuple(params.values())
        if self._floors is None or self._floors[0] != key:
            self._floors = (key, self._met(params))
        return self._floors[1]

    def _met(self, params: Mapping[str, float]) -> list[Array]:
        source, found = np.random.default_rng(0), list[Array]()
        trial = {**params, "t": 0.0} | {name: source.normal(size=TRIALS) for name in (*self.names, *self.speeds)}
        places = np.broadcast_to(self.drawing.places(trial), (TRIALS, len(self.drawing.points), 3))
        gaps = [
            item for item, both, on in zip(self.held, self.two_sided, self.on_positions, strict=True) if on and not both
        ]
        for item in gaps[:MOST_GAPS]:
            gap = np.broadcast_to(np.asarray(numbers_of([item.expr], trial)[0], dtype=float), (TRIALS,))
            for k in range(places.shape[1]):
                A = np.concatenate([places[:, k], np.ones((TRIALS, 1))], axis=1)
                plane, _, rank, _ = np.linalg.lstsq(A, gap, rcond=1e-9)
                if rank < 4 or np.abs(A @ plane - gap).max() > 1e-9 * np.abs(gap).max():
                    continue
                plane = plane / max(float(np.linalg.norm(plane[:3])), 1e-300)
                if not any(np.abs(plane - other).max() < 1e-9 * (1 + abs(plane[3])) for other in found):
                    found.append(plane)
                break
        return found


def _slips(item: Any) -> list[Any]:
    law = item if isinstance(item, zw.Friction) else getattr(item, "friction", None)
    slip = getattr(law, "slip", None)
    return [] if slip is None else list(slip) if isinstance(slip, Sequence) else [slip]


def _symbols(place: Sequence[Any]) -> set[Any]:
    return {symbol for item in place for symbol in item.free_symbols}


def _tangents(J: Array) -> Array:
    """Return an orthonormal basis of the null space of J, as columns."""
    _, sizes, V = np.linalg.svd(J)
    rank = int((sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-300)).sum())
    return V[rank:].T


def _least(J: Array, rest: Array, inverse: Array) -> Array:
    """Return the step with J step = rest that is least in the metric whose inverse is given, for each of a batch."""
    G = np.einsum("nki,ij,nlj->nkl", J, inverse, J)
    G = np.where(np.isfinite(G), G, 0.0)
    rest = np.where(np.isfinite(rest), rest, 0.0)
    lam = np.einsum("nkl,nl->nk", np.linalg.pinv(G, rcond=1e-10, hermitian=True), rest)
    step: Array = np.einsum("ij,nkj,nk->ni", inverse, J, lam)
    return step
