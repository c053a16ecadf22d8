"""Planes across a curve of singular points: what they cut out of a surface is a curve with one singular point.

That point is refined and told by the analysis of curves; so the curve of singular points is followed plane by plane,
whatever its kind, and its kind is that of the point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.series.germ import floor, germ
from zwang._trace.local import DEGREES, kind_of, structure
from zwang._trace.local_reduction import Frame, reduce
from zwang._trace.local_refinement import refine
from zwang._trace.local_structure import TOLERANCE
from zwang._trace.space_equations import SpacePlace

Array = NDArray[np.float64]
PLAIN = 1e-3
"""Ratio of the squares of a form above which they decide the kind."""


@dataclass(frozen=True)
class PlaneSection(SpacePlace):
    """A place whose last equation is a plane: normal . x = level, in x = q/scale."""

    whole: SpacePlace = field(kw_only=True)
    normal: Array = field(kw_only=True)
    level: float = field(kw_only=True)

    @classmethod
    def across(cls, place: SpacePlace, q: Array, direction: Array) -> PlaneSection:
        """Return the section at q, with the plane that is orthogonal to a direction in x."""
        normal = direction / np.linalg.norm(direction)
        return cls(
            place.equations, place.params, place.t, place.scale, np.append(place.weights, 1.0),
            whole=place, normal=normal, level=float(normal @ (q / place.scale)),
        )  # fmt: skip

    def values(self, q: Array) -> tuple[Array, Array]:
        """Return F and dF/dx with the plane's row last."""
        F, rows = self.whole.values(q)
        return np.append(F, self.normal @ (q / self.scale) - self.level), np.concatenate([rows, self.normal[None]])

    def hessians(self, q: Array) -> Array:
        """Return the second derivatives; a plane has none."""
        found = self.whole.hessians(q)
        return np.concatenate([found, np.zeros((1, *found.shape[1:]))])

    def gaps(self, q: Array) -> tuple[Array, Array]:
        """Return the one-sided constraints and their rows."""
        return self.whole.gaps(q)

    def series(self, q: Sequence[Any], *, rows: bool = False) -> list[Any]:
        """Return f, or the rows of its Jacobian, for coordinates that are power series."""
        slopes, found = self.normal / self.scale, list(self.whole.series(q, rows=rows))
        if rows:
            return [*found, *(float(item) for item in slopes)]
        return [*found, sum((item * float(slope) for item, slope in zip(q, slopes, strict=True)), -self.level)]


class SectionPoint(NamedTuple):
    """A point of a curve of singular points.

    Attributes
    ----------
    q : (n,) array
    kind : str
        Of the point that the plane cuts out.
    form : (2, 2) array or None
        Of the equation that is left in the plane, its quadratic part in the basis `across`; None where several are.
    across : (2, n) array
        Orthonormal rows in x, orthogonal to the curve's direction and to the rows that stay independent.
    left : (m + 1,) array
        The combination of the equations that is left.
    """

    q: Array
    kind: str
    form: Array | None
    across: Array
    left: Array

    @property
    def bend(self) -> float:
        """The determinant of the form: negative at a crossing, positive at an isolated point; 0 without a form."""
        return 0.0 if self.form is None else float(np.linalg.det(self.form))


def section_point(place: SpacePlace, q: Array, across: Array, like: SectionPoint | None = None) -> SectionPoint | None:
    """Return the point next to q in the plane through q with a normal (in x); None where there is none."""
    at = refine(PlaneSection.across(place, q, across), q)
    if at is None or at.kernel.shape[1] != 2:
        return None
    basis, left = _alike(at, like)
    form = None
    if at.cokernel.shape[1] == 1:
        form = np.asarray(np.einsum("i,ijk,aj,bk->ab", left, at.place.hessians(at.q), basis, basis))
        sizes = np.linalg.eigvalsh(form)
        if np.abs(sizes).min() > PLAIN * np.abs(sizes).max():
            return SectionPoint(at.q, "crossing" if sizes[0] * sizes[1] < 0 else "isolated", form, basis, left)
    kind = _kind(at)
    if kind == "regular":
        return None
    return SectionPoint(at.q, "higher" if kind == "multiple" else kind, form, basis, left)


def _kind(at: Frame) -> str:
    """Return the kind of the point, from one equation without following its branches."""
    found = None
    for degree in DEGREES:
        reduced = reduce(at, degree)
        if len(reduced.coefficients) == 1:
            found = germ(reduced.mixed(), floor(TOLERANCE))
            if found.decided:
                return kind_of(list(found.branches))[1]
    return structure(at).kind if found is None else "multiple"


def _alike(at: Frame, like: SectionPoint | None) -> tuple[Array, Array]:
    """Return a basis of the kernel and the combination that is left, turned as those of a neighbour."""
    basis, left = at.kernel.T, at.cokernel[:, 0]
    if like is None:
        return basis, left
    one, _, two = np.linalg.svd(like.across @ at.kernel)
    return one @ two @ basis, left if left @ like.left >= 0 else -left
