"""Arcs of curves that count more than once: followed on deflated equations, in the coordinates of the space."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.curves.charts import DEGREE, LEFT, STUCK, TOUCHED
from zwang._numerics.identified import between
from zwang._trace.arcs import MOST_PIECES, UNCOUNTED, Charts, Follower, RawArc
from zwang._trace.deflation import Deflation, deflated, deflated_along
from zwang._trace.multiplicity import multiplicity_at
from zwang._trace.singular_search import lifted_solver

Array = NDArray[np.float64]
TURNED = 1.0
"""How large the free numbers of a deflation get before it is made anew: the kernel has turned by 45 degrees."""
PROGRESS = 1e-3
"""How far, scaled, an arc must have come before it is tried with other combinations of equations where it was stuck."""
COUNTED = (0.5, 0.35, 0.65, 0.2, 0.8)
"""Parts of an arc at which its multiplicity is asked for, until one tells."""
MOST_DIPS = 3
"""Places of an arc at which the deflated equations are asked for a singular point."""


class MultipleFollower(Follower):
    """Follows the arcs of one configuration space along which the rank is too low."""

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
        """Return an arc with its multiplicity, taken in the middle of a piece, the nearest to its middle that goes."""
        if arc is None:
            return None
        place, cheb, count = self.solver.place, np.polynomial.chebyshev, len(arc.pieces)
        for part in COUNTED:
            c = arc.pieces[min(int(part * count), count - 1)] / place.scale
            at = deflated(place, cheb.chebval(0.1, c) * place.scale)
            if at is None:
                continue
            tangent = np.asarray(cheb.chebval(0.1, cheb.chebder(c)), dtype=float)
            q = at.q[: place.equations.n]
            times = multiplicity_at(place, q, at.multiple_rank, tangent / np.linalg.norm(tangent))
            if times > 1:
                return replace(arc, multiplicity=times)
        return replace(arc, multiplicity=UNCOUNTED)

    def _tangent(self, x: Array) -> Array | None:
        lifted = self._lifted(x)
        return None if lifted is None else _along(lifted, len(x))

    def _lifted(self, x: Array, before: Deflation | None = None) -> Deflation | None:
        """Return the deflation at a point, with the ranks that it had before on the same arc."""
        place, q = self.solver.place, x * self.solver.place.scale
        found = deflated(place, q) if before is None else deflated_along(place, q, before.ranks)
        return found if found is not None and found.dimension == 1 else None

    def look(self, arc: RawArc) -> int:
        """Take the singular points that the deflated equations have shown: all of an arc is singular for the others."""
        return self.points.take_new(arc.dips)

    def _dips(self, nodes: Array, sigma: Array) -> Array:
        """Return the places (in x) where the rank of the deflated equations drops."""
        lifted = [self._lifted(x) for x in super()._dips(nodes, sigma)[:MOST_DIPS]]
        found = [self.points.along(at) for at in lifted if at is not None]
        return np.concatenate([np.zeros((0, nodes.shape[2])), *found])

    def _charts(self, x: Array, forward: Array, closing: bool) -> Charts:
        """Return the charts from x on; the equations are deflated anew where the kernel has turned."""
        n, start = len(x), x
        rows, sigmas = [np.zeros((0, DEGREE + 1, n))], [np.zeros((0, DEGREE + 1))]
        status, which = STUCK, -1
        lifted = None
        while sum(len(row) for row in rows) < MOST_PIECES:
            following = self._lifted(x, lifted)
            if following is None:
                break
            lifted = following
            solver = lifted_solver(lifted, self.solver.either)
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
            turned = status == LEFT and which // 2 >= n
            if not len(found.nodes) or not (turned or status == STUCK):
                break
            last = found.nodes[-1]
            # Where it was stuck, the combinations of equations that were best at the last start may have been weak.
            if status == STUCK and np.abs(last[-1, :n] - x).max() < PROGRESS:
                break
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
