"""Arcs of curves that count more than once: followed on deflated equations, in the coordinates of the space."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.curves.charts import DEGREE, LEFT, STUCK, TOUCHED
from zwang._numerics.identified import between
from zwang._trace.arcs import MOST_PIECES, Charts, Follower, RawArc
from zwang._trace.deflation import Deflation, deflated
from zwang._trace.multiplicity import multiplicity_at
from zwang._trace.sampling import Solver
from zwang._trace.searching import SingularPoints

Array = NDArray[np.float64]
TURNED = 1.0
"""How large the free numbers of a deflation get before it is made anew: the kernel has turned by 45 degrees."""
MOST_DIPS = 3
"""Places of an arc at which the deflated equations are asked for a singular point."""


class MultipleFollower(Follower):
    """Follows the arcs of one configuration space along which the rank is too low."""

    def __init__(self, solver: Solver, points: SingularPoints) -> None:
        super().__init__(solver, points)
        self.source = np.random.default_rng(11)

    def polished(self, x: Array) -> Array | None:
        """Return the point of a multiple curve next to a point of the sample, None if there is none."""
        found = self._lifted(x)
        return None if found is None else np.ascontiguousarray(found.q[: len(x)] / self.solver.place.scale)

    def through(self, x: Array) -> RawArc | None:
        """Return the arc through a point of a multiple curve."""
        return self._counted(super().through(x))

    def out_of(self, number: int, half: int) -> RawArc:
        """Return the arc that leaves a singular point along a multiple half-branch."""
        arc = self._counted(super().out_of(number, half))
        assert arc is not None
        return arc

    def _counted(self, arc: RawArc | None) -> RawArc | None:
        """Return an arc with its multiplicity, taken in the middle of a piece in its middle."""
        if arc is None:
            return None
        place = self.solver.place
        c = arc.pieces[len(arc.pieces) // 2] / place.scale
        cheb = np.polynomial.chebyshev
        at = deflated(place, cheb.chebval(0.1, c) * place.scale)
        if at is None:
            return arc
        tangent = np.asarray(cheb.chebval(0.1, cheb.chebder(c)), dtype=float)
        q = at.q[: place.equations.n]
        times = multiplicity_at(place, q, at.multiple_rank, tangent / np.linalg.norm(tangent))
        return replace(arc, multiplicity=max(times, 1))

    def _tangent(self, x: Array) -> Array | None:
        lifted = self._lifted(x)
        return None if lifted is None else _along(lifted, len(x))

    def _lifted(self, x: Array) -> Deflation | None:
        found = deflated(self.solver.place, x * self.solver.place.scale)
        return found if found is not None and found.dimension == 1 else None

    def _dips(self, nodes: Array, sigma: Array) -> Array:
        """Return the places (in x) where the rank of the deflated equations drops."""
        found: list[Array] = []
        for x in super()._dips(nodes, sigma)[:MOST_DIPS]:
            lifted = self._lifted(x)
            if lifted is not None:
                solver = Solver(lifted.place, self.solver.either)
                solver.randomized(lifted.rank, self.source)
                at, _, residuals = solver.singular(lifted.q[None] / lifted.place.scale)
                found += [at[0, : len(x)]] if residuals[0] <= 1e-6 else []
        return np.array(found).reshape(len(found), nodes.shape[2])

    def _charts(self, x: Array, forward: Array, closing: bool) -> Charts:
        """Return the charts from x on; the equations are deflated anew where the kernel has turned."""
        n, start = len(x), x
        rows, sigmas = [np.zeros((0, DEGREE + 1, n))], [np.zeros((0, DEGREE + 1))]
        status, which = STUCK, -1
        while sum(len(row) for row in rows) < MOST_PIECES:
            lifted = self._lifted(x)
            if lifted is None:
                break
            solver = Solver(lifted.place, self.solver.either)
            solver.randomized(lifted.rank, self.source)
            along = _along(lifted, len(lifted.q))
            along = along if along[:n] @ forward >= 0 else -along
            free = np.full(len(along) - n, TURNED)
            limits = np.ascontiguousarray(np.concatenate([self.limits, np.array([-free, free])], axis=1))
            # An arc may come back to what stands for its start.
            image = x + between(x, start, self.solver.identified)
            first, target = lifted.q / lifted.place.scale, lifted.at(image * self.solver.place.scale)
            look = 0 if target is None or not closing else 1 if len(rows) == 1 else 2
            target = first if target is None else target / lifted.place.scale
            found = self._run(solver, first, along, target, look, limits)
            rows.append(found.nodes[:, :, :n])
            sigmas.append(found.sigma)
            status, which = found.status, found.which
            if status != LEFT or which // 2 < n or not len(found.nodes):
                break
            last = found.nodes[-1]
            x, forward = last[-1, :n].copy(), last[-1, :n] - last[-2, :n]
        nodes = np.ascontiguousarray(np.concatenate(rows))
        if status == TOUCHED:
            which -= 2 * (lifted.place.equations.n - n) if lifted is not None else 0
        elif status == LEFT and which // 2 >= n:
            status = STUCK
        return Charts(nodes, np.concatenate(sigmas), status, which)


def _along(lifted: Deflation, n: int) -> Array:
    """Return the unit tangent of a curve in the first n coordinates."""
    _, rows = lifted.place.values(lifted.q)
    tangent = np.linalg.svd(rows)[2][lifted.rank][:n]
    return np.ascontiguousarray(tangent / np.linalg.norm(tangent))
