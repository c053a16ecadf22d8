"""Where bilateral constraints depend on each other: a rank that drops, found and proved to drop.

Singular configurations are the zeros of f = 0, W^T lam = 0, |lam|^2 = 1 in the coordinates, the parameters of the box
and lam. They are found by Newton's method from many places. Where a parameter may vary, there are as many equations as
unknowns, or fewer, and Krawczyk's operator proves a zero in a small box. Without one there is an equation too many,
and a zero is proved only where the numbers are exact, as in mechanisms with a symmetry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from flint import arb, arb_mat
from numpy.typing import NDArray

from zwang._declare.constraints import Bilateral, Friction
from zwang._graph.graph import Node
from zwang._guarantee.boxes import Bounds, BoxedSystem, interval
from zwang._results.guarantee import Witness

Array = NDArray[np.float64]
STARTS = 40  # places from which a zero is looked for
STEPS = 60  # of Newton's method: from far away it is slow first
FOUND = 1e-11  # what is left of the equations, relative to their terms: rounding
WIDTHS = (1e-8, 1e-6, 1e-10, 1e-4)
"""Half widths, in parts of the unknowns, of boxes in which a zero is proved."""
RANKS = 1e-9  # relative: singular values of equations that say nothing new
BORDER = 1e-15  # relative: a decimal number and the double next to it
EXACT = 1e-6
"""How near a double zero, found to the root of rounding, is to the number that is meant."""
TURN = 2 * np.pi * (1 - 1e-15)
"""What a full turn is in doubles at least."""
MOST_EXACT = 12
"""Rows up to which ranks are computed with exact numbers."""


@dataclass(frozen=True, eq=False)
class RankDrop:
    """The search for a singular configuration in a box.

    Attributes
    ----------
    boxed : BoxedSystem
    low, high : tuples of float
        The box of its variables.
    """

    boxed: BoxedSystem
    low: Bounds
    high: Bounds

    @property
    def relations(self) -> list[tuple[Bilateral, Any]]:
        """The bilateral constraints on positions, with their rows."""
        system = self.boxed.system
        every = [item for item in system.constraints if not isinstance(item, Friction)]
        pairs = zip(every, self.boxed.program.normals, strict=True)
        return [(a, b) for a, b in pairs if isinstance(a, Bilateral) and a.level == "position"]

    @property
    def nodes(self) -> list[Node]:
        """The values of the constraints, then the entries of their rows."""
        zero, n = self.boxed.program.graph.zero, len(self.boxed.system.coordinates)
        rows = [row for _, row in self.relations]
        return [row.value for row in rows] + [row.entries.get(i, zero) for row in rows for i in range(n)]

    def _inside(self, low: Array, high: Array) -> bool:
        """Return whether a part lies inside the box; angles that go all the way round have no ends."""
        angles = {item.name for item in self.boxed.system.coordinates if item.angle}
        ends = zip(self.boxed.variables, self.low, self.high, low, high, strict=True)
        return all((name in angles and b - a >= TURN) or (a < c and d < b) for name, a, b, c, d in ends)

    def _holds(self, numbers: dict[str, Any], angles: set[str]) -> bool:
        """Return whether exact numbers lie in the box, whose border is known to rounding."""
        ends = zip(self.boxed.variables, self.low, self.high, strict=True)
        return all(
            (name in angles and b - a >= TURN) or a - BORDER * abs(a) <= float(numbers[name]) <= b + BORDER * abs(b)
            for name, a, b in ends
        )

    def witness(self) -> Witness | None:
        """Return a state next to which the rank is proved to drop; None where none was found, or proved."""
        for x, lam in self._zeros():
            if self._proved(x, lam):
                return self._told(x, "the constraints depend on each other within 1e-4 of this state, proved")
            exact = self._exactly(x)
            if exact is not None:
                return self._told(exact, "the constraints depend on each other at this state, exactly")
        return None

    def _told(self, x: Array, words: str) -> Witness:
        system = self.boxed.system
        values = {name: float(str(ball.mid().str(20, radius=False))) for name, ball in self._known().items()}
        values |= dict(zip(self.boxed.variables, map(float, x), strict=True))
        own = (*system.coordinates, *system.velocities)
        state = {item.name: float(values.get(item.name, 0.0)) for item in own} | {"t": 0.0}
        return Witness(state=state, params={item.name: values[item.name] for item in system.parameters}, reason=words)

    def _known(self) -> dict[str, Any]:
        return {name: self.boxed.known[node] for name, node in self.boxed.nodes.items() if node in self.boxed.known}

    # Zeros, in doubles.
    def _equations(self, low: Bounds, high: Bounds, lam: Sequence[Any]) -> tuple[list[Any], list[list[Any]]]:
        """Return the equations and their derivatives over a box, as balls."""
        m, n = len(self.relations), len(self.boxed.system.coordinates)
        found = self.boxed.at(self.nodes, low, high)
        values, entries = found[:m], [found[m + j * n : m + (j + 1) * n] for j in range(m)]
        count = len(self.boxed.variables)
        zero = arb(0)
        equations = [item.value for item in values]
        slopes = [[*item.slopes, *[zero] * m] for item in values]
        for i in range(n):
            column = [entries[j][i] for j in range(m)]
            equations.append(sum((a * item.value for a, item in zip(lam, column, strict=True)), zero))
            along = [sum((a * item.slopes[k] for a, item in zip(lam, column, strict=True)), zero) for k in range(count)]
            slopes.append([*along, *(item.value for item in column)])
        equations.append(sum((a * a for a in lam), zero) - 1)
        slopes.append([*[zero] * count, *(2 * a for a in lam)])
        return equations, slopes

    def _numbers(self, x: Array, lam: Array) -> tuple[Array, Array]:
        at = tuple(map(float, x))
        equations, slopes = self._equations(at, at, [arb(float(a)) for a in lam])
        return np.array([float(item) for item in equations]), np.array([[float(a) for a in row] for row in slopes])

    def _zeros(self) -> Iterator[tuple[Array, Array]]:
        """Return zeros inside the box, from places drawn with a seed of their own."""
        source = np.random.default_rng(0)
        low, high = np.array(self.low), np.array(self.high)
        m, n = len(self.relations), len(self.boxed.system.coordinates)
        for start in range(STARTS):
            x = (low + high) / 2 if start == 0 else source.uniform(low, high)
            at = tuple(map(float, x))
            W = np.array([float(item.value) for item in self.boxed.at(self.nodes, at, at)[m:]]).reshape(m, n)
            if not np.isfinite(W).all():
                continue
            found = self._newton(x, np.linalg.svd(W)[0][:, -1])
            if found is not None and self._inside(found[0], found[0]):
                yield found

    def _newton(self, x: Array, lam: Array) -> tuple[Array, Array] | None:
        """Return the zero to which least changes lead; None where they don't."""
        count, reach = len(x), np.array(self.high) - np.array(self.low)
        for _ in range(STEPS):
            values, slopes = self._numbers(x, lam)
            if not (np.isfinite(values).all() and np.isfinite(slopes).all()):
                return None
            change = np.linalg.lstsq(slopes, -values, rcond=RANKS)[0]
            longest = float((np.abs(change[:count]) / np.where(reach > 0, reach, 1.0)).max(initial=0.0))
            change *= min(1.0, 0.5 / longest) if longest > 0 else 1.0
            x, lam = x + change[:count], lam + change[count:]
            if np.abs(change).max() <= FOUND * (1 + np.abs(x).max()):
                break
        left = np.abs(self._numbers(x, lam)[0]).max()
        size = 1 + float(np.abs(slopes).max()) * float(np.abs(x).max(initial=1.0))
        return (x, lam) if left <= FOUND * size else None

    # Proofs.
    def _proved(self, x: Array, lam: Array) -> bool:
        """Return whether Krawczyk's operator maps a box about a zero into itself."""
        from scipy.linalg import qr

        slopes = self._numbers(x, lam)[1]
        count, size = len(slopes), len(slopes[0])
        if size < count:
            return False
        sizes = np.linalg.svd(slopes, compute_uv=False)
        if sizes[count - 1] <= RANKS * sizes[0]:
            return False
        chosen = sorted(int(k) for k in qr(slopes, pivoting=True)[2][:count])
        inverse = np.asarray(np.linalg.inv(slopes[:, chosen]), dtype=float)
        return any(self._maps_into_itself(x, lam, chosen, inverse, width) for width in WIDTHS)

    def _maps_into_itself(self, x: Array, lam: Array, chosen: list[int], inverse: Array, width: float) -> bool:
        centre = np.concatenate([x, lam])
        radius = np.where(np.isin(np.arange(len(centre)), chosen), width * (1 + np.abs(centre)), 0.0)
        low, high = centre - radius, centre + radius
        count = len(x)
        if not self._inside(low[:count], high[:count]):
            return False
        here = tuple(map(float, x))
        values, _ = self._equations(here, here, [arb(float(a)) for a in lam])
        balls = [interval(float(a), float(b)) for a, b in zip(low[count:], high[count:], strict=True)]
        _, slopes = self._equations(tuple(map(float, low[:count])), tuple(map(float, high[:count])), balls)
        Y = arb_mat([[arb(float(a)) for a in row] for row in inverse])
        J = arb_mat([[row[k] for k in chosen] for row in slopes])
        step = Y * arb_mat([[item] for item in values])
        spread = arb_mat([[interval(float(low[k] - centre[k]), float(high[k] - centre[k]))] for k in chosen])
        size = len(chosen)
        unit = arb_mat([[int(i == j) for j in range(size)] for i in range(size)])
        moved = (unit - Y * J) * spread - step
        return all(
            bool(abs(moved[i, 0]).is_finite()) and float(abs(moved[i, 0]).upper()) < float(radius[k])
            for i, k in enumerate(chosen)
        )

    def _exactly(self, x: Array) -> Array | None:
        """Return the exact numbers next to a zero at which constraints vanish and their rank drops, if they do."""
        system = self.boxed.system
        if len(self.relations) > MOST_EXACT:
            return None
        angles = {item.name for item in system.coordinates if item.angle}
        numbers: dict[str, Any] = {}
        for name, value in zip(self.boxed.variables, map(float, x), strict=True):
            unit = sp.pi / 12 if name in angles else sp.Rational(1, 1000)
            near = unit * round(value / float(unit))
            if abs(float(near) - value) > EXACT * (1 + abs(value)):
                return None
            numbers[name] = near
        if not self._holds(numbers, angles):
            return None  # what it was taken for lies outside
        numbers |= {name: sp.Rational(float(ball)) for name, ball in self._known().items()}
        symbols = (*system.coordinates, *system.parameters)
        values = {item: numbers[item.name] for item in symbols if item.name in numbers}
        exprs = sp.Matrix([item.expr for item, _ in self.relations])
        slopes = exprs.jacobian(list(system.coordinates))
        elsewhere = {item: value + sp.Rational(k + 1, 7) for k, (item, value) in enumerate(values.items())}
        if np.linalg.matrix_rank(np.array(slopes.subs(elsewhere).evalf(), dtype=float)) < len(self.relations):
            return None  # redundant wherever one looks: nothing drops
        if any(sp.simplify(item) != 0 for item in exprs.subs(values)):
            return None
        rows = slopes.subs(values).applyfunc(sp.simplify)
        if rows.rank(iszerofunc=lambda item: sp.simplify(item) == 0) >= rows.rows:
            return None
        return np.array([float(numbers[name]) for name in self.boxed.variables])
