"""Families of singular points: spaces that stay singular while the parameter changes.

The solutions z = (x, s, u) of the extended equations then form curves, which are followed by their length, so that they
are passed where the parameter s turns. On a family the space changes where s turns (singular points are born or merge),
where the second derivatives degenerate (their kind changes) and where another family crosses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.budget import spend
from zwang._numerics.identified import between
from zwang._trace.critical_points import CONVERGED, Extended

Array = NDArray[np.float64]
KERNEL = 1e-6  # singular values of the extended equations that count as zero on a family, relative to the largest
SUSPECT = 1e-4  # and at a single solution, which is less well known where it is degenerate
PROBE = 0.01  # step that tells a family from a degenerate point: there the residual is a power of it
STEP, LONGEST, SHORTEST = 0.01, 0.04, 1e-5  # along a family, scaled
LEAST = 0.1  # length of a family of which both ends are lost; solutions about a degenerate point seem to reach less far
MOST = 4000  # steps along one
STILL = 1e-6  # change of the parameter over a probe below which it stays the same: curves of singular points
FAINT = 1e-8  # values of a determinant that are rounding, relative to the largest on the family
WINDOW, NODES = 0.01, 8  # half width and number of the places from which a change is told, none in its middle
POOR = 1e-2  # singular values beside those of the family below which a solution is known less well
ONE = 1e-3  # distance at which two changes are one; the first watched tells it best where several values vanish
WIDE = 4  # ways through families of more than one dimension that are followed


class WayEnd(Enum):
    """How a way along a family ends: it comes back, leaves the interval or the box, or no next place is found."""

    CLOSED = auto()
    OUT = auto()
    LOST = auto()


@dataclass(frozen=True)
class FamilyPlace:
    """A place on a family: unknowns z, tangent there, and the two determinants whose signs are watched."""

    z: Array
    tangent: Array
    bend: float
    crossing: float
    left: Array


@dataclass(frozen=True)
class FamilyWays:
    """Where a solution may go on, how many singular values are small there, and the next one, relative."""

    starts: list[Array]
    small: int
    clear: float


@dataclass(frozen=True)
class SingularFamily:
    """Singular points that go over into each other as the parameter changes.

    Attributes
    ----------
    nodes : tuple of FamilyPlace
    low, high : float
        The smallest and the largest value of the parameter, scaled.
    turns : tuple of arrays
        The solutions at which something changes.
    wide : bool
        Whether this is one way through a family of several dimensions: through curves of singular points, say.
    """

    nodes: tuple[FamilyPlace, ...]
    low: float
    high: float
    turns: tuple[Array, ...]
    wide: bool


@dataclass(frozen=True)
class FamilySearch:
    """What is needed to follow families: the equations, which coordinates are the same, and what is inside."""

    extended: Extended
    identified: Array
    inside: Callable[[Array], bool]
    low: float
    high: float

    def sorted_out(self, rows: Sequence[Array]) -> tuple[list[Array], list[SingularFamily]]:
        """Return the solutions that stand alone, and the families that the others lie on."""
        single: list[Array] = []
        families: list[SingularFamily] = []
        n = self.extended.n
        known = [self._directions(row) for row in rows]
        least = min((ways.small for ways in known if ways.small), default=0)
        # The best conditioned first: what is known less well is then near a family that is known.
        for k in sorted(range(len(rows)), key=lambda k: (known[k].small, -known[k].clear)):
            row, starts = rows[k], known[k].starts
            poor = known[k].small > least or known[k].clear < POOR
            if any(self._on(family, row, poor) for family in families):
                continue
            wide = [family for family in families if family.wide] if len(starts) > 1 else []
            if len(wide) >= WIDE and any(f.low - STILL <= row[n] <= f.high + STILL for f in wide):
                continue
            made = (self._through(row, tangent, wide=len(starts) > 1) for tangent in starts)
            family = next((item for item in made if item is not None), None)
            if family is not None:
                families.append(family)
            elif not (poor and any(self._near(row, turn) for family in families for turn in family.turns)):
                single.append(row)
        return single, families

    def _near(self, row: Array, turn: Array) -> bool:
        """Whether a solution may be a change on a family, less well known."""
        n = self.extended.n + 1
        return bool(np.linalg.norm(between(row[:n], turn[:n], self.identified)) < LEAST)

    def _on(self, family: SingularFamily, row: Array, poor: bool) -> bool:
        """Whether a solution lies on a family, between two of its places; `poor`: as far as it is known."""
        n = self.extended.n + 1
        places = np.array([node.z[:n] for node in family.nodes])
        from_here = between(places, np.broadcast_to(row[:n], places.shape), self.identified)
        steps = between(places[:-1], places[1:], self.identified)
        length = np.linalg.norm(steps, axis=1)
        along = np.clip((from_here[:-1] * steps).sum(axis=1) / np.maximum(length, 1e-300) ** 2, 0.0, 1.0)
        away = np.linalg.norm(from_here[:-1] - along[:, None] * steps, axis=1)
        reach = STEP if poor else STEP / 10
        return bool((away <= 0.1 * np.maximum(length, reach)).any())

    def _directions(self, row: Array) -> FamilyWays:
        """Return the directions in which a solution may go on, the one that changes the parameter most first."""
        n = self.extended.n
        _, A = self.extended.system(row[None])
        _, sizes, right = np.linalg.svd(A[0])
        small = int((sizes <= SUSPECT * sizes[0]).sum())
        clear = float(sizes[len(sizes) - small - 1] / sizes[0]) if 0 < small < len(sizes) else 1.0
        kernel = right[len(sizes) - small :]
        if not small:
            return FamilyWays([], 0, clear)
        # Combinations that move the point, not only the multipliers.
        turn, moved, _ = np.linalg.svd(kernel[:, : n + 1], full_matrices=False)
        kernel = (turn.T @ kernel)[moved > 1e-3]
        ahead = kernel[:, n] @ kernel if len(kernel) else np.zeros(1)
        size = float(np.linalg.norm(ahead))
        return FamilyWays([*([ahead / size] if size > 1e-3 and len(kernel) > 1 else []), *kernel], small, clear)

    def _moves(self, row: Array, tangent: Array) -> bool:
        """Whether a solution goes on in a direction, and the parameter changes with it."""
        n = self.extended.n
        for side in (1, -1):
            found = self._corrected(row + side * PROBE * tangent, tangent)
            if found is not None and np.linalg.norm(found - row) < 3 * PROBE and abs(found[n] - row[n]) > STILL:
                return True
        return False

    def _corrected(self, z: Array, tangent: Array) -> Array | None:
        """Return the solution next to z across a tangent."""
        start, best, size = z, z, np.inf
        for _ in range(30):
            residual, A = self.extended.system(z[None])
            new = float(np.abs(residual).max())
            if not np.isfinite(new) or new > 4 * size:
                break
            if new < size:
                best, size = z, new
            elif size < CONVERGED:
                break
            rows = np.vstack([A[0], tangent])
            right = -np.append(residual[0], tangent @ (z - start))
            z = z + np.linalg.lstsq(rows, right, rcond=KERNEL * 0.1)[0]
        return best if size < CONVERGED else None

    def _node(self, z: Array, before: Array, left: Array | None) -> FamilyPlace:
        """Return a place with its tangent, the nearest to that before."""
        _, A = self.extended.system(z[None])
        U, sizes, right = np.linalg.svd(A[0])
        empty = max(1, int((sizes <= KERNEL * sizes[0]).sum()))
        kernel = right[-empty:]
        tangent = (kernel @ before) @ kernel
        length = float(np.linalg.norm(tangent))
        tangent = tangent / length if length > 0.1 else before
        other = U[:, -1] if left is None or U[:, -1] @ left >= 0 else -U[:, -1]
        crossing = 0.0  # with more than one free direction there is nothing to cross
        if empty == 1:
            bordered = np.block([[A[0], other[:, None]], [tangent[None], np.zeros((1, 1))]])
            crossing = float(np.linalg.det(bordered))
        return FamilyPlace(z, tangent, self.extended.bend(z), crossing, other)

    def _through(self, row: Array, tangent: Array, *, wide: bool) -> SingularFamily | None:
        """Return the family through a solution in a direction; None if there is none, or its parameter stays."""
        if not self._moves(row, tangent):
            return None
        start = self._node(row, tangent, None)
        ahead, end = self._followed(start)
        behind: list[FamilyPlace] = []
        if end is not WayEnd.CLOSED:
            behind, other = self._followed(
                FamilyPlace(start.z, -start.tangent, start.bend, -start.crossing, start.left)
            )
            length = float(np.linalg.norm((ahead or [start])[-1].z - (behind or [start])[-1].z))
            if end is other is WayEnd.LOST and length < LEAST:  # a degenerate point, round which residuals are small
                return None
        # The way back is told forwards: its tangents turn, and with them the sign of the bordered determinant.
        told = [FamilyPlace(node.z, -node.tangent, node.bend, -node.crossing, node.left) for node in reversed(behind)]
        nodes = (*told, start, *ahead, *([start] if end is WayEnd.CLOSED else []))
        if len(nodes) < 3:
            return None
        turns = self._changes(nodes)
        values = [z[self.extended.n] for z in (*(node.z for node in nodes), *turns)]
        return SingularFamily(nodes, min(values), max(values), tuple(turns), wide)

    def _followed(self, start: FamilyPlace) -> tuple[list[FamilyPlace], WayEnd]:
        """Return the places ahead, and how the way ended."""
        n, nodes, node, h = self.extended.n, list[FamilyPlace](), start, STEP
        for _ in range(MOST):
            spend()
            aim = node.z + h * node.tangent
            z = self._corrected(aim, node.tangent)
            new = None if z is None else self._node(z, node.tangent, node.left)
            if z is None or new is None or np.linalg.norm(z - aim) > 0.1 * h or new.tangent @ node.tangent < 0.95:
                h *= 0.5
                if h < SHORTEST:
                    return nodes, WayEnd.LOST
                continue
            if not self.low <= z[n] <= self.high:
                return [*nodes, *self._end(node, z)], WayEnd.OUT
            if not self.inside(z):
                return nodes, WayEnd.OUT
            if len(nodes) > 3 and self._back(start, new, h):
                return nodes, WayEnd.CLOSED
            nodes.append(new)
            node, h = new, min(1.5 * h, LONGEST)
        return nodes, WayEnd.OUT

    def _end(self, node: FamilyPlace, z: Array) -> list[FamilyPlace]:
        """Return the place at which the way left the interval, on its last step."""
        n = self.extended.n
        aim, across = z.copy(), np.zeros(len(z))
        aim[n], across[n] = min(max(z[n], self.low), self.high), 1.0
        end = self._corrected(aim, across)
        return [] if end is None else [self._node(end, node.tangent, node.left)]

    def _back(self, start: FamilyPlace, new: FamilyPlace, h: float) -> bool:
        """Whether the way has come back to its start, multipliers of either sign."""
        n = self.extended.n + 1
        gap = between(start.z[:n], new.z[:n], self.identified)
        ahead = start.tangent[:n]
        return bool(np.linalg.norm(gap) < h and ahead @ new.tangent[:n] > 0 and gap @ ahead >= 0)

    def _changes(self, nodes: Sequence[FamilyPlace]) -> list[Array]:
        """Return the solutions at which the parameter turns, the kind changes or another family crosses."""
        n = self.extended.n
        watched: list[Callable[[FamilyPlace], float]] = [
            lambda node: float(node.tangent[n]),
            lambda node: node.bend,
            lambda node: node.crossing,
        ]
        found: list[Array] = []
        for value in watched:
            told = [(node, value(node)) for node in nodes]
            floor = FAINT * max(abs(number) for _, number in told)
            clear = [(node, number) for node, number in told if abs(number) > floor]
            for (a, low), (b, high) in pairwise(clear):
                if low * high < 0 and a.left @ b.left > 0:
                    z = self._located(value, a, b)
                    if z is not None and not any(np.linalg.norm(z - other) < ONE for other in found):
                        found.append(z)
        return found

    def _located(self, value: Callable[[FamilyPlace], float], a: FamilyPlace, b: FamilyPlace) -> Array | None:
        """Return the solution between two places at which a value vanishes; None where its sign was rounding."""
        from scipy.optimize import brentq

        last = [a]

        def at(length: float) -> float:
            z = self._corrected(a.z + length * a.tangent, a.tangent)
            if z is not None:
                last[0] = self._node(z, a.tangent, a.left)
            return value(last[0])

        reach = float(a.tangent @ (b.z - a.z))
        low, high = next(
            ((-x * reach, (1 + x) * reach) for x in (0, 0.5, 1) if at(-x * reach) * at((1 + x) * reach) < 0), (0, 0)
        )
        if low == high:
            return None
        root = float(brentq(at, low, high, xtol=1e-12))
        at(root)
        return self._smoothed(value, a, root, last[0].z)

    def _smoothed(self, value: Callable[[FamilyPlace], float], a: FamilyPlace, root: float, rough: Array) -> Array:
        """Return the solution where a value vanishes from places around it, where the equations are less degenerate."""
        at = WINDOW * np.cos(np.pi * (np.arange(NODES) + 0.5) / NODES)
        found = [self._corrected(a.z + (root + x) * a.tangent, a.tangent) for x in at]
        places = [self._node(z, a.tangent, a.left) for z in found if z is not None]
        if len(places) < NODES:
            return rough
        values = np.polynomial.Chebyshev.fit(at, [value(node) for node in places], NODES - 1, domain=[-WINDOW, WINDOW])
        roots = [x.real for x in values.roots() if abs(x.imag) < 1e-6 * WINDOW and abs(x.real) < WINDOW / 2]
        if not roots:
            return rough
        here = min(roots, key=abs)
        z = np.polynomial.chebyshev.chebfit(at / WINDOW, np.array([node.z for node in places]), NODES - 1)
        return np.asarray(np.polynomial.chebyshev.chebval(float(here) / WINDOW, z))
