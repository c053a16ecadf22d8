"""How the surface of a search is covered: points spread over it, glued to triangles, cut along its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.budget import spend
from zwang._numerics.curves.rows import ScaledSet
from zwang._numerics.curves.starts import evaluate_many
from zwang._numerics.identified import between
from zwang._numerics.jit import long_from_here, with_functions
from zwang._numerics.pace import Pace
from zwang._numerics.surfaces import growth, stars
from zwang._numerics.surfaces.cut import Mesh, compact, cut
from zwang._numerics.surfaces.glue import Glued, glue
from zwang._numerics.surfaces.hollow import Hollow
from zwang._trace.sampled import SampledSearch

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
IN_PLAIN = 500
"""Points after which compiled code is waited for: they take some seconds without, and most surfaces have thousands."""
FINEST = 1e-3
"""The shortest edge, as a part of the longest: where a shorter one is needed, a singular point is looked for."""
REPAIRS = 8  # rounds in which loose edges are closed
MIXED = 5.0
"""Lengths up to this factor from one are alike to angles."""
AT_NODE, ALONG = 40, 8
"""Starts round each ball of a singular point, and round each of those along a tube."""
BUCKETS = 2**17  # of the hash of places: more than vertices at most resolutions
PER_POINT = 40
"""Bytes of a point beside its coordinates and tangents."""
TRIANGLES = 500
"""Bytes of a point's triangles and what is made of them on the way."""


@dataclass(frozen=True, eq=False)
class Cover:
    """How the surface of a search is covered: the equations as compiled loops take them, and the extent."""

    search: SampledSearch
    given: ScaledSet
    bent: ScaledSet
    extent: growth.Extent
    hollow: Hollow

    @classmethod
    def of(cls, search: SampledSearch, longest: float, hollow: Hollow, finest: float = FINEST) -> Cover:
        """Return the cover with edges up to `longest`, in x, that leaves out a hollow; `finest` as a part of it."""
        e, place, solver = search.equations, search.place, search.solver
        scale = metric(search)
        given = solver.given._replace(mix=solver.every, scale=scale)
        work = place.workspace(e.curved, "curved")
        bent = given._replace(sizes=solver.curved_sizes, work=work, table=e.curved.table)
        limits = np.ascontiguousarray(search.region.limits(scale))
        free = e.angles & ~search.region.boxed
        limits[0, free], limits[1, free] = -np.inf, np.inf
        turn = np.linalg.qr(np.random.default_rng(0).normal(size=(2 * e.n, 2 * e.n)))[0]
        cast = np.ascontiguousarray(turn[:3])
        centres, radii = hollow.balls()
        extent = growth.Extent(
            e.n - 2, longest, finest * longest, solver.identified, limits, np.ascontiguousarray(centres), radii, cast
        )
        return cls(search, given, bent, extent, hollow)

    @property
    def functions(self) -> tuple[Any, ...]:
        """The two functions of the model that the loops call."""
        e = self.search.equations
        return (*e.plain.calls, *e.curved.calls)

    def grown(self, starts: Array) -> growth.Spread:
        """Return points spread over the surface from starts (k, n), in x."""
        room = 4096
        spread = self.room(room)
        self._seed(spread, starts, 1.0)
        return self.onward(spread)

    @property
    def bytes_per_point(self) -> int:
        """What a point costs, with its triangles."""
        return self.search.equations.n * 32 + PER_POINT + TRIANGLES

    def room(self, most: int, before: int = 0) -> growth.Spread:
        """Return an empty spread, in place of one that had room for fewer."""
        n = self.search.equations.n
        spend(memory=(most - before) * self.bytes_per_point)
        counts = np.zeros(5, dtype=np.int64)
        counts[growth.LOWEST] = growth.LEVELS
        return growth.Spread(
            np.zeros((most, n)), np.zeros((most, 2, n)), np.zeros(most), np.zeros(most, dtype=np.int64),
            np.full(most, -1, dtype=np.int64), np.full(BUCKETS, -1, dtype=np.int64), np.zeros((most, 3)), counts,
        )  # fmt: skip

    def _seed(self, spread: growth.Spread, starts: Array, apart: float) -> int:
        loop = with_functions(growth.seed, *self.functions)
        return int(loop(self.given, self.bent, self.extent, spread, np.ascontiguousarray(starts), apart))

    def onward(self, spread: growth.Spread) -> growth.Spread:
        """Return a spread after growth to its end."""
        loop = with_functions(growth.grow, *self.functions)
        pace: Pace[int] = Pace(200)
        held = [spread]

        def portion(size: int) -> tuple[int, int]:
            before = int(held[0].counts[growth.NEXT])
            found = loop(self.given, self.bent, self.extent, held[0], size)
            return found, int(held[0].counts[growth.NEXT]) - before

        status = growth.PAUSED
        while status != growth.DONE:
            before = int(held[0].counts[growth.COUNT])
            status = pace.go(portion)
            spend(int(held[0].counts[growth.COUNT]) - before)
            if int(held[0].counts[growth.COUNT]) > IN_PLAIN:
                long_from_here(growth.seed, growth.grow, growth.settle, stars.stars)
            if status == growth.FULL:
                held[0] = self._wider(held[0])
        return held[0]

    def _wider(self, spread: growth.Spread) -> growth.Spread:
        """Return the same points with twice the room."""
        most = len(spread.points)
        new = self.room(2 * most, most)
        for name in ("points", "tangents", "edges", "standing", "after", "shadows"):
            getattr(new, name)[:most] = getattr(spread, name)
        new.heads[:] = spread.heads
        new.counts[:] = spread.counts
        return new

    def glued(self, spread: growth.Spread) -> tuple[growth.Spread, Glued]:
        """Return points and triangles; where they can't be glued, points are added and it is tried again."""
        for turn in range(REPAIRS + 1):
            found = self._tied(spread)
            if not len(found.loose) or turn == REPAIRS:
                break
            spread = self._repaired(spread, found.loose, turn)
        return spread, found

    def _tied(self, spread: growth.Spread) -> Glued:
        """Return the triangles that the stars of all points make."""
        count, done = int(spread.counts[growth.COUNT]), [0]
        links, sizes = np.zeros((count, stars.MOST), dtype=np.int64), np.zeros(count, dtype=np.int64)

        def portion(size: int) -> tuple[int, int]:
            last = min(done[0] + size, count)
            stars.stars(self.extent, spread, done[0], last, links, sizes)
            return last - done[0], last - done[0]

        pace: Pace[int] = Pace(500)
        while done[0] < count:
            done[0] += pace.go(portion, count - done[0])
            spend()
        inside = spread.standing[:count] == growth.INSIDE
        return glue(spread.points[:count], spread.tangents[:count], self.extent.periods, inside, links, sizes)

    def _repaired(self, spread: growth.Spread, loose: Ints, turn: int) -> growth.Spread:
        """Return a spread with points added beside those that could not be glued."""
        source = np.random.default_rng(turn)
        angle = source.uniform(0, 2 * np.pi, size=len(loose))
        length = 0.55 * spread.edges[loose]
        step = np.cos(angle)[:, None] * spread.tangents[loose, 0] + np.sin(angle)[:, None] * spread.tangents[loose, 1]
        if int(spread.counts[growth.COUNT]) + len(loose) + 16 > len(spread.points):
            spread = self._wider(spread)
        self._seed(spread, spread.points[loose] + length[:, None] * step, 0.4)
        return self.onward(spread)

    def beside_balls(self) -> Array:
        """Return starts close to balls and tubes, so that every sheet that ends in a singular point is met."""
        source = np.random.default_rng(7)
        times = np.where(np.arange(len(self.extent.radii)) < len(self.hollow.nodes), AT_NODE, ALONG)
        centres, radii = np.repeat(self.extent.centres, times, axis=0), np.repeat(self.extent.radii, times)
        step = source.normal(size=centres.shape)
        return np.asarray(centres + 1.5 * radii[:, None] * step / np.linalg.norm(step, axis=1, keepdims=True))

    def settle(self, x: Array) -> Array:
        """Return points moved to the surface by the shortest way."""
        x = np.ascontiguousarray(x, dtype=float).copy()
        arrived = np.zeros(len(x), dtype=bool)
        loop = with_functions(growth.settle, *self.search.equations.plain.calls)
        loop(self.given, self.extent.rank, x, 1.0, arrived)
        return x

    def constraints(self, x: Array) -> tuple[Array, Array]:
        """Return f over its weights (k, m) and h (k, g) at points."""
        e, place = self.search.equations, self.search.place
        if not e.m + e.g:
            return np.zeros((len(x), 0)), np.zeros((len(x), 0))
        out = np.empty((len(x), (e.m + e.g) * (e.n + 1)))
        q = np.ascontiguousarray(x * self.given.scale)
        with_functions(evaluate_many, *e.plain.calls)(place.t, q, self.given.table, place.params, self.given.work, out)
        return out[:, : e.m] / place.weights, out[:, e.m : e.m + e.g]

    def bounds(self) -> list[Any]:
        """Return the functions that cut the surface, each of points in x, positive where it stays; the hollow first."""
        extent, e = self.extent, self.search.equations
        found: list[Any] = [self.hollow.measure] if self.hollow else []
        found += [lambda x, k=k: self.constraints(x)[1][:, k] for k in range(e.g)]
        low, high = extent.limits
        for j in np.flatnonzero(np.isfinite(low)):
            middle, half = 0.5 * (low[j] + high[j]), 0.5 * (high[j] - low[j])

            def measure(x: Array, j: int = int(j), middle: float = middle, half: float = half) -> Array:
                d = between(np.full(len(x), middle), x[:, j], np.full(len(x), extent.periods[j]))
                return np.asarray(half - np.abs(d))

            found.append(measure)
        return found

    def trimmed(self, mesh: Mesh) -> Mesh:
        """Return a mesh cut along all bounds."""
        for measure in self.bounds():
            values = measure(mesh.points)
            if (values[mesh.triangles] < 0).any():
                mesh, _, _ = cut(mesh, values, self.extent.periods, measure, self.settle)
        return compact(mesh)[0]

    def chord(self, mesh: Mesh) -> float:
        """Return the largest distance between the middles of triangles and the surface, in q; of many of them."""
        if not len(mesh.triangles):
            return 0.0
        a, b, c = (mesh.points[mesh.triangles[:, k]] for k in range(3))
        p, q = between(a, b, self.extent.periods), between(a, c, self.extent.periods)
        size = np.maximum((p * p).sum(axis=1), (q * q).sum(axis=1))
        most = np.argsort(-size)[:2000]
        some = np.unique(np.concatenate([most, np.arange(0, len(a), max(1, len(a) // 2000))]))
        middle = a[some] + (p[some] + q[some]) / 3
        moved = (self.settle(middle) - middle) * self.given.scale
        return float(np.linalg.norm(moved, axis=1).max())


def metric(search: SampledSearch) -> Array:
    """Return the units in which edges are equal in all directions.

    Lengths of about the size of an angle are left as they are: edges are asked for in the declared coordinates.
    """
    scale, angles = search.place.scale, search.equations.angles
    other = scale[~angles]
    alike = angles.any() and len(other) and float(other.min()) >= 1 / MIXED and float(other.max()) <= MIXED
    return np.ones(len(scale)) if alike else np.ascontiguousarray(scale, dtype=float)
