"""Singular points: found from many starts and along arcs, refined, analysed, each once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.budget import spend
from zwang._numerics.identified import between
from zwang._trace.deflation import Deflation, deflated
from zwang._trace.local import analyse
from zwang._trace.local_refinement import bottoms, is_plain
from zwang._trace.local_structure import LocalStructure
from zwang._trace.sampling import Region, Solver

Array = NDArray[np.float64]
HOPEFUL = 1e-6  # residual, scaled, from which a polish may still arrive
SPREAD = 0.03  # scaled: places that are tried once
NEARLY = 5e-3  # residual, scaled, of a place that touches without meeting
NEAR_ALL, WEAK = 1e-4, 1e-2
"""Residual and weakest singular value of all equations, scaled, at a candidate of combinations of them."""
MOST = 40  # such places that are tried
ASIDE = 8
"""Ordinary points of multiple curves in one search from which singular points along these are looked for."""
ANALYSIS = 20
"""Points that the analysis of a singular one counts for in a budget."""


class SingularPoints:
    """The singular points found so far, each with its local structure."""

    def __init__(self, solver: Solver, region: Region) -> None:
        self.solver, self.region = solver, region
        self.found: list[LocalStructure] = []
        self.multiple: list[Array] = []
        self._vain: list[Array] = []
        self._ordinary: list[Array] = []
        self._plain: list[bool] = []
        self._nearly: list[Array] = []

    def search(self, starts: Array) -> int:
        """Look for singular points from starts (k, n), in x; return how many new ones there are."""
        if not len(starts) or self.solver.rank == 0:
            return 0
        x, steps, residuals = self.solver.singular(starts)
        good = np.isfinite(x).all(axis=1) & (residuals <= HOPEFUL)
        new = self._gather(x, steps, residuals, good)
        near = self._between(x[(residuals > HOPEFUL) & (residuals <= NEARLY) & (steps <= 1e-8)])
        if len(near):
            x, steps, residuals = self.solver.singular(near)
            new += self._gather(x, steps, residuals, np.isfinite(x).all(axis=1) & (residuals <= HOPEFUL))
        return new

    def take(self, x: Array) -> int:
        """Add singular points (k, n), in x, that another search has shown; return how many are new.

        What was tried in vain around them says nothing: candidates scatter around degenerate points.
        """
        return sum(self._add(row) for row in x)

    def take_new(self, x: Array) -> int:
        """Add singular points (k, n), in x, that are not scattered around those that are known; return how many."""
        return sum(self._add(row) for row in x if not self._known(row, converged=True))

    def _between(self, x: Array) -> Array:
        """Return starts next to places where the equations nearly have a singular point, each such place once."""
        place, starts = self.solver.place, []
        for row in x:
            if all(self.distance(row, other) > SPREAD for other in self._nearly) and len(self._nearly) < MOST:
                self._nearly.append(row)
                starts += [q / place.scale for q in bottoms(place, row * place.scale, self.solver.rank - 1)]
        return np.array(starts).reshape(len(starts), x.shape[1])

    def _gather(self, x: Array, steps: Array, residuals: Array, good: NDArray[np.bool_]) -> int:
        new, tried, aside = 0, 0, 0
        for k in np.flatnonzero(good)[np.argsort(residuals[good], kind="stable")]:
            known = self._known(x[k], converged=steps[k] <= 1e-8) or self._near(x[k], self._vain)
            if known or not self._on_all(x[k]):
                continue
            ordinary = self._near(x[k], self._ordinary)
            if not ordinary:
                tried += 1
                if tried > MOST:
                    break
                if self._add(x[k]):
                    new += 1
                    continue
                ordinary = self._near(x[k], self._ordinary)
                if not ordinary:
                    self._vain.append(x[k])
            if ordinary and aside < ASIDE:
                aside += 1
                new += self._beside(x[k])
        return new

    def _beside(self, x: Array) -> bool:
        """Add the singular point of the deflated equations next to a point of a multiple curve; say if it is new.

        All along such a curve the rank is too low, so that the search for a lower rank stops anywhere on it.
        """
        place = self.solver.place
        lifted = deflated(place, x * place.scale)
        if lifted is None:  # so near to a singular point that the curve isn't told from it
            return bool(self.take_new(x[None]))
        return lifted.dimension == 1 and bool(self.take_new(self.along(lifted)))

    def along(self, lifted: Deflation) -> Array:
        """Return the point (1, n), in x, next to one of a multiple curve where its deflated equations lose rank.

        None (0, n) if there is none.
        """
        solver, n = lifted_solver(lifted, self.solver.either), self.solver.equations.n
        at, _, residuals = solver.singular(lifted.q[None] / lifted.place.scale)
        good = np.isfinite(at).all(axis=1) & (residuals <= HOPEFUL)
        return np.asarray(at[good, :n])

    def _on_all(self, x: Array) -> bool:
        """Say whether a candidate is near a singular point of all equations: combinations of them have others too."""
        place, rank = self.solver.place, self.solver.rank
        if rank == place.equations.m:
            return True
        values, rows = place.values(x * place.scale)
        weakest = np.linalg.svd(rows, compute_uv=False)[rank - 1] if np.isfinite(rows).all() else 0.0
        return bool(np.abs(values).max(initial=0.0) <= NEAR_ALL and weakest <= WEAK)

    def _add(self, x: Array) -> bool:
        place = self.solver.place
        q = self.region.upright(self.region.shifted(x * place.scale, place.equations.angles))
        if self.multiple and self._on_multiple(q):
            self._ordinary.append(x)
            return False
        spend(ANALYSIS)
        local = analyse(place, q)
        if local is None:
            return False
        local = local.shifted_to(self.region.shifted(local.q, place.equations.angles))
        plain = is_plain(local.frame)
        flat = not plain and local.kernel.shape[1] == 2
        if (flat or all(half.multiple for half in local.half_branches)) and self._on_multiple(local.q):
            self.multiple.append(local.q)
            self._ordinary.append(x)
            return False
        if local.kind == "regular":
            return False
        if self.number_of(local.q) is not None or not self._admissible(local.q):
            return False
        self.found.append(local)
        self._plain.append(plain)
        return True

    def put_in_order(self) -> None:
        """Number the points by their coordinates, whatever order they were found in."""
        scale = self.solver.place.scale
        keys = [tuple(float(value) + 0.0 for value in np.round(local.q / scale, 6)) for local in self.found]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self.found = [self.found[k] for k in order]
        self._plain = [self._plain[k] for k in order]

    def _on_multiple(self, q: Array) -> bool:
        """Say whether q is an ordinary point of a component on which the rank is as low everywhere."""
        found = deflated(self.solver.place, q)
        return found is not None and found.dimension > 0

    def _admissible(self, q: Array) -> bool:
        equations = self.solver.equations
        if not bool(self.region.holds(q[None], equations.angles)[0]):
            return False
        scale = self.solver.place.scale
        low, high = self.region.limits(scale)
        if not (((q / scale >= low - 1e-9) & (q / scale <= high + 1e-9)) | equations.angles).all():
            return False
        gaps, rows = self.solver.place.gaps(q)
        return bool((gaps >= -1e-10 * (np.abs(rows) @ scale)).all())

    def distance(self, a: Array, b: Array) -> float:
        """Return the largest difference of two positions in x, of what they stand for the nearest."""
        return float(np.abs(between(a, b, self.solver.identified)).max())

    def number_of(self, q: Array, tol: float = 1e-7) -> int | None:
        """Return the number of the singular point at q, None if there is none."""
        scale = self.solver.place.scale
        for k, local in enumerate(self.found):
            if self.distance(local.q / scale, q / scale) <= tol:
                return k
        return None

    def _known(self, x: Array, *, converged: bool) -> bool:
        """Say whether a candidate stands for a point that was found: candidates scatter around degenerate ones."""
        scale = self.solver.place.scale
        for local, plain in zip(self.found, self._plain, strict=True):
            if self.distance(local.q / scale, x) <= (1e-5 if plain and converged else SPREAD):
                return True
        return False

    def _near(self, x: Array, others: list[Array]) -> bool:
        """Say whether a candidate scatters around one of others."""
        return any(self.distance(other, x) <= SPREAD for other in others)

    def radius(self, k: int) -> float:
        """Return the size of the ball around point k, in x, inside which its half-branches are known as series."""
        local = self.found[k]
        scale = self.solver.place.scale
        sizes = [float(np.abs((half.at(half.reach) - local.q) / scale).max()) for half in local.half_branches]
        others = [self.distance(local.q / scale, o.q / scale) for j, o in enumerate(self.found) if j != k]
        return min([0.9 * value for value in sizes] + [0.3 * value for value in others] + [0.05])


def lifted_solver(lifted: Deflation, either: tuple[tuple[int, ...], ...]) -> Solver:
    """Return the compiled loops for deflated equations: those combinations of them that are strongest at the point."""
    solver = Solver(lifted.place, either)
    _, rows = lifted.place.values(lifted.q)
    solver.combined(lifted.rank, np.linalg.svd(rows)[0].T)
    return solver
