"""Arcs of a configuration space: smooth curves that can be evaluated anywhere, to rounding.

An arc is a row of pieces. On each piece the coordinates are Chebyshev series in u, -1 <= u <= 1, and so is the length
that has been passed since the start of the arc; u itself is eliminated when a position is asked by its length. Next to
a cusp u runs like the root of the length, so that the series converge there too.

Lengths, and speeds, are Euclidean in the declared coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zwang._results.storage import storable
from zwang.errors import StateError

Array = NDArray[np.float64]
INVERSIONS = 60  # bisections of the arc length: to the last bit


@storable
@dataclass(frozen=True)
class ArcEnd:
    """Where an arc ends.

    Attributes
    ----------
    kind : str
        'singular' (a singular point), 'closed' (the arc closes on itself), 'box' (the boundary of the box), 'contact'
        (a one-sided constraint closes), 'far' (it left the region that was searched), 'stopped' (it could not be
        followed further).
    place : int or None
        The number of the singular point.
    name : str or None
        The coordinate whose bound was met, or the one-sided constraint that closes.
    """

    kind: str
    place: int | None = None
    name: str | None = None


@storable(shapes={"coordinates": "n", "pieces": "p d n", "lengths": "p d"})
@dataclass(frozen=True, eq=False, kw_only=True)
class Branch:
    """An arc of a configuration space, parametrized by its length.

    Attributes
    ----------
    number : int
        Its place among the arcs.
    coordinates : tuple of str
    t : float
        The instant, for constraints with explicit time [s].
    pieces : (p, d + 1, n) array
        Chebyshev coefficients of the coordinates on each piece.
    lengths : (p, d + 1) array
        Chebyshev coefficients of the length since the start of the arc.
    ends : pair of ArcEnd
        Start and end.
    multiplicity : int
        How often the constraints count the arc; more than one for squared equations.
    component : int
        The number of its connected component.
    """

    number: int
    coordinates: tuple[str, ...]
    t: float
    pieces: Array
    lengths: Array
    ends: tuple[ArcEnd, ArcEnd]
    multiplicity: int = 1
    component: int = 0

    def _check(self) -> str:
        return "" if self.pieces.size else "an arc has no pieces"

    @property
    def closed(self) -> bool:
        """Whether the arc closes on itself without meeting a singular point."""
        return self.ends[0].kind == "closed"

    @property
    def length(self) -> float:
        """The length, Euclidean in the declared coordinates."""
        return float(self.lengths[-1].sum())

    def state(self, at: ArrayLike, speed: ArrayLike = 0.0) -> dict[str, Any]:
        """Return the state on the arc at a length, moving along it.

        Parameters
        ----------
        at : float or array
            Length from the start of the arc; on a closed arc any number, else between 0 and `length`.
        speed : float or array
            Rate of that length, with sign: the velocity is `speed` times the tangent, so that its Euclidean norm in the
            declared coordinates is ``abs(speed)``.

        Returns
        -------
        dict
            Coordinates, velocities and t, as every verb takes them. Angles run on continuously along the arc. For
            constraints with explicit time the velocity is tangent to the arc of the instant t.

        Examples
        --------
        >>> import zwang as zw
        >>> entry = zw.gallery.get("slider_crank")
        >>> arc = zw.trace(entry.system, entry.params).branches[0]
        >>> state = arc.state(at=1.0, speed=0.5)
        >>> zw.compile(entry.system).check(state, entry.params) < 1e-11
        True
        """
        shape = np.broadcast_shapes(np.shape(at), np.shape(speed))
        q, slope, _ = self._evaluate(np.broadcast_to(np.asarray(at, dtype=float), shape))
        v = np.asarray(speed, dtype=float)[..., None] * slope
        found: dict[str, Any] = {}
        for i, name in enumerate(self.coordinates):
            found[name] = q[..., i] if shape else float(q[i])
        for i, name in enumerate(self.coordinates):
            found[f"v_{name}"] = v[..., i] if shape else float(v[i])
        return found | {"t": self.t}

    def position(self, at: ArrayLike) -> Array:
        """Return the coordinates at a length, or at many: an array (..., n)."""
        return self._evaluate(np.asarray(at, dtype=float))[0]

    def tangent(self, at: ArrayLike) -> Array:
        """Return the unit tangent in the direction of growing length: an array (..., n)."""
        return self._evaluate(np.asarray(at, dtype=float))[1]

    def curvature(self, at: ArrayLike) -> Any:
        """Return the curvature of the arc in the space of the declared coordinates; nan at a cusp."""
        found = self._evaluate(np.asarray(at, dtype=float))[2]
        return found if np.shape(at) else float(found)

    def sampled(self, most: int = 400) -> Array:
        """Return positions along the arc (k, n), both ends included, for pictures and comparisons."""
        each = max(4, most // len(self.pieces))
        u = np.linspace(-1, 1, each + 1)
        rows = [chebyshev(piece, u if k == 0 else u[1:]) for k, piece in enumerate(self.pieces)]
        return np.concatenate(rows)

    def nearest(self, state: Any) -> float:
        """Return the length at which the arc is nearest to a state (angles modulo a full turn are not identified)."""
        target = np.array([float(state[name]) for name in self.coordinates])
        grid = np.linspace(0, self.length, 40 * len(self.pieces) + 1)
        best = int(np.argmin(((self.position(grid) - target) ** 2).sum(axis=-1)))
        low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)])
        at = float(grid[best])
        for _ in range(200):
            q, slope, _ = self._evaluate(np.asarray(at))
            step = float((target - q) @ slope)
            low, high = (at, high) if step > 0 else (low, at)
            # A plain step overshoots where the arc bends towards the state: then the bracket is halved.
            tried = at + step
            following = tried if low < tried < high and abs(step) < 0.5 * (high - low) else (low + high) / 2
            if abs(following - at) <= 1e-15 * (1 + self.length):
                break
            at = following
        return at

    def __repr__(self) -> str:
        ends = "closed" if self.closed else f"from {_end(self.ends[0])} to {_end(self.ends[1])}"
        times = f", multiplicity {self.multiplicity}" if self.multiplicity > 1 else ""
        return f"<arc {self.number}: length {self.length:.6g}, {ends}{times}>"

    def _evaluate(self, at: Array) -> tuple[Array, Array, Array]:
        """Return position, unit tangent and curvature at lengths of any shape."""
        flat = np.atleast_1d(at).ravel()
        total = self.length
        if self.closed:
            # Angles that wind around go on winding: each turn adds the same.
            turns = np.floor(flat / total)
            flat = flat - turns * total
            winding = chebyshev(self.pieces[-1], np.ones(1))[0] - chebyshev(self.pieces[0], -np.ones(1))[0]
            shift = turns[:, None] * np.where(np.abs(winding) > 1.0, winding, 0.0)
        elif np.any((flat < -1e-9 * total) | (flat > total * (1 + 1e-9))) or np.isnan(flat).any():
            raise StateError(f"arc {self.number}: at= must lie between 0 and its length {total:.6g}.")
        else:
            shift = np.zeros((flat.size, 1))
        starts = _at_ends(self.lengths)[:, 0]
        which = np.clip(np.searchsorted(starts, flat, side="right") - 1, 0, len(starts) - 1)
        n = self.pieces.shape[2]
        q, slope, bend = np.empty((flat.size, n)), np.empty((flat.size, n)), np.empty(flat.size)
        for k in np.unique(which):
            here = which == k
            u = _invert(self.lengths[k], flat[here])
            q[here], slope[here], bend[here] = _geometry(self.pieces[k], u)
        q += shift
        shape = np.shape(at)
        return q.reshape(*shape, n), slope.reshape(*shape, n), bend.reshape(shape)


def chebyshev(coefficients: Array, u: Array) -> Array:
    """Return sums of Chebyshev polynomials: coefficients (d + 1, ...) at u (k,) give (k, ...)."""
    found: Array = np.asarray(np.polynomial.chebyshev.chebval(u, coefficients), dtype=np.float64)
    return np.moveaxis(found, -1, 0) if coefficients.ndim > 1 else found


def _at_ends(lengths: Array) -> Array:
    """Return the values at u = -1 and u = 1 of each row of coefficients."""
    signs = (-1.0) ** np.arange(lengths.shape[1])
    return np.stack([lengths @ signs, lengths.sum(axis=1)], axis=1)


def _invert(lengths: Array, wanted: Array) -> Array:
    """Return u at which the length is as wanted: Newton's method inside a bracket that shrinks."""
    slope: Array = np.asarray(np.polynomial.chebyshev.chebder(lengths), dtype=np.float64)
    low, high = -np.ones_like(wanted), np.ones_like(wanted)
    ends = _at_ends(lengths[None])[0]
    u = np.clip(2 * (wanted - ends[0]) / (ends[1] - ends[0]) - 1, -1, 1)
    for _ in range(INVERSIONS):
        miss = chebyshev(lengths, u) - wanted
        low, high = np.where(miss < 0, u, low), np.where(miss > 0, u, high)
        rate = chebyshev(slope, u)
        step = np.where(rate > 0, -miss / np.where(rate > 0, rate, 1.0), np.inf)
        tried = u + step
        tried = np.where((tried >= low) & (tried <= high), tried, (low + high) / 2)
        done = np.abs(tried - u) <= 2e-16
        u = np.where(miss == 0, u, tried)
        if np.all(done | (miss == 0)):
            break
    return np.asarray(u)


def _geometry(piece: Array, u: Array) -> tuple[Array, Array, Array]:
    """Return position, unit tangent and curvature at parameters u of one piece."""
    first: Array = np.asarray(np.polynomial.chebyshev.chebder(piece), dtype=np.float64)
    second: Array = np.asarray(np.polynomial.chebyshev.chebder(first), dtype=np.float64)
    q, slope, change = chebyshev(piece, u), chebyshev(first, u), chebyshev(second, u)
    size = np.linalg.norm(slope, axis=1)
    # At a cusp the first derivative vanishes, and the second is along the tangent.
    third = np.linalg.norm(change, axis=1)
    flat = size <= 1e-6 * np.maximum(third, 1e-300)
    sign = np.where(u < 0, 1.0, -1.0)[:, None]
    slope = np.where(flat[:, None], sign * change, slope)
    tangent = slope / np.maximum(np.linalg.norm(slope, axis=1), 1e-300)[:, None]
    across = change - (change * tangent).sum(axis=1)[:, None] * tangent
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = np.where(flat, np.nan, np.linalg.norm(across, axis=1) / size**2)
    return q, tangent, bend


def _end(end: ArcEnd) -> str:
    if end.kind == "singular":
        return f"singular point {end.place}"
    return f"{end.kind} ({end.name})" if end.name else end.kind


def positions(states: Sequence[Any], names: Sequence[str]) -> Array:
    """Return the coordinates of states as rows."""
    return np.array([[float(state[name]) for name in names] for state in states]).reshape(len(states), len(names))
