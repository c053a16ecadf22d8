"""Whether a state is a singular point of its configuration space, and which of its rows are superfluous.

It is one where the rank of the bilateral rows is below their rank at nearby points of the same component. Rows that
depend on each other everywhere (a redundant constraint, an overconstrained loop that moves all the same) have the same
rank nearby and are no singular point: there the equations are those of the independent rows, and what rounding has
made of the others is taken away before anything is concluded from it. Where rows are dependent everywhere and the set
has fewer dimensions than they leave (a square, surfaces that touch along a curve), accelerations that satisfy the rows
leave the set: that is as singular.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._compile.given_values import Inputs
from zwang._declare.contact_table import table_of
from zwang._kernels import SparseTerms, Terms
from zwang._numerics.linear.rank import DEPENDENT, proved_independent
from zwang._reactions.neighbourhood import Surroundings, surroundings, vanishing

Array = NDArray[np.float64]
AGREE = 1e-6
"""How far biases of dependent rows may differ, relative to the terms they are made of: states are on their
constraints up to a tolerance only."""


@dataclass(frozen=True)
class Cleaned:
    """Rows of normals without what rounding adds to their rank, and what they times the acceleration must be."""

    places: tuple[int, ...]
    rows: Array
    gamma: Array


@dataclass(frozen=True)
class RankReport:
    """What was found about the rank of the bilateral rows.

    Attributes
    ----------
    rank : int
        At the state.
    rows : int
        Number of bilateral rows.
    nearby : int
        The largest rank seen at nearby points of the same component.
    isolated : bool
        Whether no other point of the component was found although the rows leave the state free to move.
    in_cone : bool
        Whether the velocity lies in the tangent cone to second order: an acceleration satisfies all rows.
    vanished : tuple of int
        Numbers of the normals whose row is nothing but rounding.
    gap : tuple of float
        The singular values of the unit rows on both sides of the rank: the least that counts, the largest that doesn't.
    cleaned : Cleaned or None
        Where rows depend on each other: all of them, and their biases, as they are without rounding.
    thin : bool
        Whether the set has fewer dimensions than the rank leaves, although the rank is as low at other points of it.
    """

    rank: int
    rows: int
    nearby: int
    isolated: bool
    in_cone: bool
    vanished: tuple[int, ...] = ()
    gap: tuple[float, float] = (float("inf"), 0.0)
    cleaned: Cleaned | None = None
    thin: bool = False

    @property
    def singular(self) -> bool:
        """Whether the rows don't carry the constraints: at a singular point, or all along a set that counts twice."""
        return self.rank < self.nearby or self.isolated or self.thin

    @property
    def redundant(self) -> bool:
        """Whether rows are superfluous here as they are nearby."""
        return self.rank < self.rows and not self.singular


def rank_report(
    model: Model, inputs: Inputs, terms: Terms | SparseTerms | None = None, *, proved: bool = False, seed: int = 0
) -> RankReport:
    """Return the rank of the position-level bilateral rows at a state, and near it.

    Parameters
    ----------
    model, inputs
        The state.
    terms : Terms or SparseTerms, optional
        Of that state.
    proved : bool
        Whether all bilateral rows are known to be independent.
    seed : int
        Of the directions in which to look.
    """
    kernels = model.kernels
    if terms is None:
        terms = kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    mass, every, force, gamma = terms.at(0)
    chosen = table_of(model.system).held_positions
    rows, m = every[chosen], len(chosen)
    if not m:
        return RankReport(0, 0, 0, False, True)

    def evaluate(q: Array) -> tuple[Array, Array]:
        here = kernels.terms(inputs.t, np.ascontiguousarray(q[:, None]), inputs.v, inputs.params)
        return here.value[chosen, 0], here.at(0)[1][chosen]

    angles = np.array([item.angle for item in model.system.coordinates], dtype=bool)
    if (proved or proved_independent(rows, mass)) and not vanishing(evaluate, rows, inputs.q[:, 0], angles).any():
        return RankReport(m, m, m, False, True)
    near = surroundings(evaluate, inputs.q[:, 0], mass, angles, seed)
    if near.rank == m:
        return RankReport(m, m, m, False, True, gap=near.found.gap)
    right, missing, size = _biases(near, gamma[chosen], inputs.v[:, 0], force)
    in_cone = bool(missing <= AGREE * size)
    vanished = tuple(place for place, lost in zip(chosen.tolist(), near.vanished, strict=True) if lost)
    cleaned = Cleaned(tuple(chosen.tolist()), _without_rounding(near, rows), right if in_cone else gamma[chosen])
    return RankReport(near.rank, m, near.nearby, near.isolated, in_cone, vanished, near.found.gap, cleaned, near.thin)


def _biases(near: Surroundings, gamma: Array, v: Array, force: Array) -> tuple[Array, float, float]:
    """Return the biases in the span of the rows, how far they were out of it, and the size of what they are made of."""
    cut, scaled = near.found, gamma / near.found.lengths
    inside = cut.left[:, : near.rank] @ (cut.left[:, : near.rank].T @ scaled)
    speed = float(np.linalg.norm(near.root.T @ v))
    pull = float(np.linalg.norm(np.linalg.solve(near.root, force)))
    size = float(np.abs(inside).max(initial=0.0)) + near.bend * speed**2
    # What is below rounding of what the forces do is no contradiction either.
    missing = float(np.linalg.norm(scaled - inside))
    return inside * cut.lengths, max(missing - DEPENDENT**2 * pull, 0.0), size


def _without_rounding(near: Surroundings, rows: Array) -> Array:
    """Return the rows projected onto those that count."""
    basis = near.found.left[:, : near.rank]
    scaled = rows / near.found.lengths[:, None]
    found: Array = (basis @ (basis.T @ scaled)) * near.found.lengths[:, None]
    found[near.vanished] = 0.0
    return found
