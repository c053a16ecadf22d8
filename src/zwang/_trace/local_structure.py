"""`LocalStructure`: what is known of a singular point: its kind, its half-branches, curves through it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._trace.local_reduction import Frame
from zwang._trace.local_series import SeriesPiece, piece_of
from zwang._trace.space_equations import SpacePlace

Array = NDArray[np.float64]
TOLERANCE = 1e-9
"""Coefficients of the reduced equation below this part of the largest are rounding."""


@dataclass(frozen=True, eq=False)
class LocalBranch:
    """One way out of a singular point, parametrized by tau >= 0: q + scale * sum x[i] tau^i.

    Attributes
    ----------
    tangent : (n,) array
        Unit vector in the declared coordinates (Euclidean) in which it leaves.
    series : (d + 1, n) array
        Coefficients of (q(tau) - q)/scale.
    root : int
        The first power of tau that occurs: 1 for a smooth curve, 2 for a cusp.
    reach : float
        Up to which tau the series is exact to rounding.
    curve : int
        The number of the analytic curve that it belongs to.
    partner : int
        The number of the other half of that curve; itself where there is none.
    multiple : bool
        Whether the rank is too low all along it: the curve counts more than once.
    """

    q: Array
    scale: Array
    tangent: Array
    series: Array
    root: int
    reach: float
    curve: int
    partner: int
    multiple: bool = False

    def at(self, tau: float) -> Array:
        """Return the coordinates at a parameter; negative ones are on the other half of the same curve."""
        return np.asarray(self.q + self.scale * np.polynomial.polynomial.polyval(tau, self.series))

    @cached_property
    def piece(self) -> SeriesPiece:
        """The half-branch from the point to the end of its reach, by length."""
        return piece_of(self.q, self.scale, self.series, 0.0, self.reach)

    @property
    def length(self) -> float:
        """The length of the part that the series covers."""
        return self.piece.total

    def point(self, s: float) -> Array:
        """Return the coordinates at the distance s along the half-branch, 0 <= s <= length."""
        return self.piece.point(s)

    def through(self) -> SeriesPiece:
        """Return the smooth curve through the point, from the reach on the other half to the reach on this one."""
        return piece_of(self.q, self.scale, self.series, -self.reach, self.reach)


@dataclass(frozen=True, eq=False)
class LocalStructure:
    """What the configuration space is at a singular point.

    Attributes
    ----------
    q : (n,) array
        The point, refined.
    rank : int
        Of the Jacobian at the point.
    kernel : (n, k) array
        Directions (in x = q/scale) that the constraints leave free to first order.
    kind : str
        'crossing', 'tangency', 'cusp', 'isolated', 'higher', or 'regular' where the reduced equations vanish, or
        'multiple' where they are squares: those are no singular points.
    half_branches : tuple of LocalBranch
    tangents : (c, n) array
        One unit tangent for each analytic curve.
    order : int, matrix or None
        As in `zwang.SingularPoint`.
    multiplicity : int
        Of the curve, where the kind is 'multiple'.
    note : str
    """

    place: SpacePlace
    frame: Frame
    kind: str
    half_branches: tuple[LocalBranch, ...] = ()
    tangents: Array = None  # type: ignore[assignment]
    order: Any = None
    multiplicity: int = 1
    tolerance: float = TOLERANCE
    note: str = ""

    @property
    def q(self) -> Array:
        """The point."""
        return self.frame.q

    @property
    def rank(self) -> int:
        """The rank of the Jacobian at the point."""
        return self.frame.rank

    def shifted_to(self, q: Array) -> LocalStructure:
        """Return the same structure at the same point with its angles written with other full turns."""
        if np.array_equal(q, self.q):
            return self
        halves = tuple(replace(half, q=q) for half in self.half_branches)
        return replace(self, frame=replace(self.frame, q=q), half_branches=halves)

    @property
    def kernel(self) -> Array:
        """The kernel of the Jacobian."""
        return self.frame.kernel
