"""What the configuration space looks like next to a state whose bilateral rows seem to depend on each other.

In coordinates y in which the metric is the identity, with the singular value decomposition of the unit rows cut at a
rank r, y = K z + P w(z) solves the r equations that count; of the others g(z) is left (Lyapunov, Schmidt). Where g
vanishes for every small z, the set is a manifold along which the rank is r: redundant, but regular. Else points of the
set are looked for, and their rank is compared with r. Where it is r too, but g is clearly not zero in most directions,
the set has fewer dimensions than the rank leaves: a constraint that is there as its square alone has no row anywhere.
The r equations are regular, so points lie on them to rounding also where constraints touch and plain Newton steps stop
at the square root of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.linear.rank import DEPENDENT, Rank, decided, rank_metric
from zwang._results.finite import NotFiniteError

Array = NDArray[np.float64]
Evaluate = Callable[[Array], tuple[Array, Array]]
"""From a configuration (n,) to values (m,) and rows (m, n) of the constraints."""

DIRECTIONS = 6  # beside a state into which its neighbourhood is looked at
SPREAD = (1.0, 0.3)
NEWTON = 40  # of Newton's method; linear near a singular point
BENT = 0.1
"""How far rows may be from linear functions of the configuration, relative to their change, over a step."""
CLOSE = 1e-7
"""Part of a step over which rows are constant to 1e-14 of it, so that what differs is rounding."""
LOOKS = 4  # at how rough values are
VANISHED = 1e-7
"""Rows below this part of what a step makes of them are rounding."""
BESIDE = 0.1
"""How far to look for what a row is where it does not vanish, in sizes of the coordinates."""
ZERO = 1e-10
"""Values of g below this part of the step are zero: branches that touch to sixth order are told apart by more."""
CLEARLY = 1e-6
"""Values of g above this part of the step are none of rounding, nor of a state that is not quite on the set."""
LOOSE = 1e-3
"""Singular values below which constraints that touch may leave a state that is not quite on them."""
SMALLEST = 1e-5
"""Where all lengths vanish at a state: below which, in the units of the coordinates, nothing is expected to happen."""
TINY = 1e-300  # keeps 0 / 0 from happening


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The rank at a state and near it.

    Attributes
    ----------
    rank, nearby : int
        At the state, and the largest at points of the set near it.
    isolated : bool
        Whether no other point of the set was found although the rows leave the state free to move.
    thin : bool
        Whether the set has fewer dimensions than the rank leaves, although the rank is as low at other points of it.
    found : Rank
        The decomposition at the state, moved onto the constraints to rounding.
    root : (n, n) array
        Factor of the metric.
    vanished : (m,) bool array
        Rows that are nothing but rounding.
    bend : float
        How fast unit rows turn, per unit of the metric.
    points : list of (n,) arrays
        Other points of the set.
    """

    rank: int
    nearby: int
    isolated: bool
    thin: bool
    found: Rank
    root: Array
    vanished: NDArray[np.bool_]
    bend: float
    points: list[Array]


class _Place:
    """A configuration with its metric, the sizes of its rows and the length of a step."""

    def __init__(self, evaluate: Evaluate, q: Array, mass: Array, angles: NDArray[np.bool_], seed: int) -> None:
        self.evaluate, self.q = evaluate, q
        self.source = np.random.default_rng(seed)
        self.value, self.rows = evaluate(q)
        self.root = rank_metric(self.rows, mass)
        self.inverse = np.linalg.inv(self.root.T)
        metric = self.rows @ self.inverse
        self.step, change = self._step(metric, angles)
        own = np.linalg.norm(metric, axis=1)
        self.lengths = np.maximum(np.maximum(own, change), TINY)
        self.vanished = own <= VANISHED * self.lengths
        self.bend = float((change / self.lengths).max(initial=0.0)) / self.step
        size = np.abs(self.rows) @ np.abs(q) + np.abs(self.value)
        rounding = 100 * np.finfo(float).eps * float((size / self.lengths).max(initial=0.0))
        self.noise = max(float(rounding), 10 * self._roughness(metric))

    def _roughness(self, metric: Array) -> float:
        """Return what is left of values close by besides the rows: rounding, also of terms that don't show here.

        Where all joint coordinates are zero, rows times coordinates say nothing of the size of terms.
        """
        ways = np.random.default_rng(0).normal(size=(LOOKS, len(self.q)))
        ways *= CLOSE * self.step / np.linalg.norm(ways, axis=1, keepdims=True)
        with np.errstate(all="ignore"):
            there = [self.evaluate(self.q + self.inverse @ y)[0] - self.value - metric @ y for y in ways]
            left = float((np.abs(there) / self.lengths).max(initial=0.0))
        return left if np.isfinite(left) else 0.0

    def at(self, y: Array) -> tuple[Array, Array] | None:
        """Return scaled values and rows at the configuration y away from the state; None where they are not finite."""
        value, rows = self.evaluate(self.q + self.inverse @ y)
        if not (np.isfinite(value).all() and np.isfinite(rows).all()):
            return None
        return value / self.lengths, rows @ self.inverse / self.lengths[:, None]

    def _step(self, metric: Array, angles: NDArray[np.bool_]) -> tuple[float, Array]:
        """Return a step over which rows change nearly linearly and turn by less than a radian, and their changes.

        Rows that turn by more over any step are rounding themselves: then the step is as long as it may be; rows that
        vanish with their derivatives are not linear over any.
        """
        along = self.source.normal(size=len(self.q))
        along /= np.linalg.norm(along)
        size = np.where(angles, np.maximum(np.abs(self.q), 1.0), np.abs(self.q))
        least = float(np.linalg.norm(self.root.T @ np.maximum(size, SMALLEST)))
        step = longest = float(np.linalg.norm(self.root.T @ np.maximum(size, 1.0)))
        own = np.linalg.norm(metric, axis=1)
        straight = None
        for _ in range(24):
            first, second = self._change(metric, along, step)
            change = np.linalg.norm(first, axis=1)
            bent = np.linalg.norm(second - 2 * first, axis=1)
            if np.isfinite(bent).all() and (bent <= BENT * (np.linalg.norm(second, axis=1) + own) + TINY).all():
                straight = straight or (0.1 * step, 0.1 * change)
                if (change <= own).all():
                    return 0.1 * step, 0.1 * change
            if step < VANISHED * least:
                break
            step *= 0.1
        if straight is None:
            step = 1e-2 * longest
            straight = step, np.linalg.norm(self._change(metric, along, step)[0], axis=1)
        return straight

    def _change(self, metric: Array, along: Array, step: float) -> tuple[Array, Array]:
        with np.errstate(all="ignore"):
            changes = [self.evaluate(self.q + self.inverse @ (k * step * along))[1] @ self.inverse for k in (1, 2)]
        return changes[0] - metric, changes[1] - metric

    def decided(self, rows: Array, tol: float = DEPENDENT) -> Rank:
        """Return the rank of scaled rows."""
        return decided(rows, np.eye(len(self.q)), tol, np.ones(len(rows)))

    def moved(self, cut: Rank, r: int, y: Array, *, polish: bool = False) -> tuple[Array, Array, Array] | None:
        """Return y moved across the kernel until the r equations hold to rounding, with values and rows there."""
        left, across = cut.left[:, :r], cut.right[:r]
        best, least = None, np.inf
        for _ in range(NEWTON):
            here = self.at(y)
            if here is None:
                return None
            value, rows = here
            miss = float(np.linalg.norm(left.T @ value))
            if miss >= 0.5 * least:  # it does not fall any more: this is rounding, or there is no solution
                break
            best, least = (y, value, rows), miss
            if miss == 0.0:
                break
            try:
                change = across.T @ np.linalg.solve(left.T @ rows @ across.T, left.T @ value)
            except np.linalg.LinAlgError:
                return None
            if polish and np.linalg.norm(change) > self.step:
                return None
            y = y - change
        return best if best is not None and least <= max(self.noise, ZERO * self.step) else None


def vanishing(evaluate: Evaluate, rows: Array, q: Array, angles: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say which rows (m, n) at q may be nothing but rounding, and need a closer look.

    Beside q they are far longer, whatever their units, or others are, or they are short beside 1: where all lengths are
    rounding nothing tells how far beside is. Where nothing is finite beside q, that counts alone.
    """
    own = np.linalg.norm(rows, axis=1)
    size = float(np.abs(q[~angles]).max(initial=0.0))
    beside = q + BESIDE * np.where(angles, 1.0, size or 1.0) * np.cos(1.0 + np.arange(len(q)))
    with np.errstate(all="ignore"):
        there = np.linalg.norm(evaluate(beside)[1], axis=1)
    there = np.where(np.isfinite(there), there, 0.0)
    found: NDArray[np.bool_] = own <= VANISHED * np.maximum(there, own.max(initial=1.0))
    return found


def surroundings(evaluate: Evaluate, q: Array, mass: Array, angles: NDArray[np.bool_], seed: int = 0) -> Surroundings:
    """Return the rank of the rows at a state and next to it.

    Parameters
    ----------
    evaluate : callable
    q : (n,)
        On the constraints, up to the tolerance of a state.
    mass : (n, n)
        Of the metric.
    angles : (n,) bool array
        Which coordinates have the size 1, whatever they are.
    """
    place = _Place(evaluate, q, mass, angles, seed)
    cut, y, rows = _cut(place)
    r = cut.rank
    n, m = len(q), len(rows)

    def answer(nearby: int, isolated: bool, points: list[Array], thin: bool = False) -> Surroundings:
        lengths = Rank(r, cut.values, cut.left, cut.right, place.lengths)
        ways = [place.q + place.inverse @ point for point in points]
        return Surroundings(r, nearby, isolated, thin, lengths, place.root, place.vanished, place.bend, ways)

    if r == min(m, n) or m == 0:
        return answer(r, False, [])
    manifold = _manifold(place, cut, y)
    if manifold is not None:
        return answer(r, False, manifold)
    found = _points(place, cut, y)
    nearby = max((rank for rank, _ in found), default=r)
    thin = bool(found) and nearby <= r and _bends_away(place, cut, y)
    return answer(max(nearby, r), not found, [point for _, point in found], thin)


def _cut(place: _Place) -> tuple[Rank, Array, Array]:
    """Return the decomposition of the rows at the state, on the constraints to rounding, cut at their rank."""
    y = np.zeros(len(place.q))
    here = place.at(y)
    if here is None:
        raise NotFiniteError("The rows of the constraints, in the metric of the masses, are not finite at this state.")
    rows = here[1]
    first = place.decided(rows)
    for r in range(int(np.count_nonzero(first.values > LOOSE)), first.rank):
        found = place.moved(first, r, y, polish=True)
        if found is None:
            continue
        cut = place.decided(found[2])
        if cut.rank == r:
            return cut, found[0], found[2]
    return first, y, rows


def _manifold(place: _Place, cut: Rank, y: Array) -> list[Array] | None:
    """Return points of the set near the state where it is a manifold of the dimension of the kernel; None elsewhere."""
    r, kernel = cut.rank, cut.right[cut.rank :]
    points = []
    for k in range(DIRECTIONS):
        along = place.source.normal(size=len(kernel))
        along /= np.linalg.norm(along)
        step = place.step * SPREAD[k % len(SPREAD)]
        for _ in range(4):  # where the equations can't be solved that far, they can be nearer
            found = place.moved(cut, r, y + step * (along @ kernel))
            if found is not None:
                break
            step *= 0.1
        if found is None:
            return None
        if np.linalg.norm(cut.left[:, r:].T @ found[1]) > max(ZERO * step, place.noise):
            return None
        points.append(found[0])
    return points


def _bends_away(place: _Place, cut: Rank, y: Array) -> bool:
    """Say whether the equations beside the r ones clearly don't hold in most of several directions of the kernel."""
    r, kernel, clear = cut.rank, cut.right[cut.rank :], 0
    for _ in range(DIRECTIONS):
        along = place.source.normal(size=len(kernel))
        found = place.moved(cut, r, y + place.step / float(np.linalg.norm(along)) * (along @ kernel))
        left = 0.0 if found is None else float(np.linalg.norm(cut.left[:, r:].T @ found[1]))
        clear += int(left > CLEARLY * place.step + place.noise)
    return 2 * clear > DIRECTIONS


def _points(place: _Place, cut: Rank, y: Array) -> list[tuple[int, Array]]:
    """Return other points of the set near the state, with their ranks."""
    kernel = cut.right[cut.rank :]
    found = []
    for k in range(4 * DIRECTIONS):
        step = place.step * SPREAD[k % len(SPREAD)]
        along = place.source.normal(size=len(kernel)) @ kernel + 0.3 * place.source.normal(size=len(y)) * (k % 3 == 2)
        point = _newton(place, y + step * along / np.linalg.norm(along))
        if point is None:
            continue
        at, rows = point
        distance = float(np.linalg.norm(at - y))
        if 1e-3 * step < distance < 10 * step:
            found.append((place.decided(rows).rank, at))
    return found


def _newton(place: _Place, y: Array) -> tuple[Array, Array] | None:
    """Return the point of the set that Newton's method reaches, going on until the values stop falling."""
    best, least, stuck = None, np.inf, 0
    for _ in range(2 * NEWTON):
        here = place.at(y)
        if here is None:
            return None
        value, rows = here
        miss = float(np.linalg.norm(value))
        if miss < least:
            best, stuck = (y, rows), stuck if miss > 0.9 * least else 0
            least = miss
        else:
            stuck += 1
        if stuck >= 3 or miss == 0.0:
            break
        y = y - np.linalg.lstsq(rows, value, rcond=1e-10)[0]
    return best if least <= max(place.noise, 1e-2 * ZERO * place.step) else None
