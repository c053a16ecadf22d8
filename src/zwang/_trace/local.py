"""The local analysis of a singular point: kind, tangents, orders, half-branches, and curves through it to rounding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.series.germ import Germ, GermBranch, alike, floor, germ, partner, separation
from zwang._trace.local_cones import cone_structure, is_multiple
from zwang._trace.local_reduction import Frame, ReducedEquations, reduce
from zwang._trace.local_refinement import refine
from zwang._trace.local_series import BranchStart, grow, reach
from zwang._trace.local_structure import TOLERANCE, LocalBranch, LocalStructure
from zwang._trace.space_equations import SpacePlace

Array = NDArray[np.float64]
DEGREES = (4, 6, 10, 16)
VANISHING = 10
"""Equations without terms up to this degree are taken to vanish: constraints that repeat others."""


def analyse(place: SpacePlace, q: Array) -> LocalStructure | None:
    """Return the local structure at the singular point next to q; None where there is no singular point next to it."""
    at = refine(place, np.asarray(q, dtype=float))
    return None if at is None else structure(at)


def structure(at: Frame) -> LocalStructure:
    """Return the local structure at a refined point."""
    place, n = at.place, len(at.q)
    none = np.zeros((0, n))
    k = at.kernel.shape[1]
    if k != 2:
        return cone_structure(at)
    found: Germ | None = None
    for degree in DEGREES:
        reduced = reduce(at, degree)
        if not len(reduced.coefficients):
            if degree < VANISHING:
                continue  # five curves through a point have no terms of degree four
            return LocalStructure(place, at, "regular", (), none)
        found = germ(reduced.mixed(), floor(TOLERANCE))
        made = _from_germ(at, found, reduced)
        if made is not None:
            return made
    assert found is not None
    times = {branch.count for branch in found.branches}
    if len(found.branches) == 2 and len(times) == 1:
        return LocalStructure(place, at, "multiple", (), none, multiplicity=times.pop())
    return LocalStructure(place, at, "higher", (), none, note="its branches are not told apart to degree 16")


def _from_germ(at: Frame, found: Germ, reduced: ReducedEquations) -> LocalStructure | None:
    """Return the structure that a germ tells; None where terms of higher degree must be asked."""
    # What the degree does not tell apart is one curve if the rank is low all along it: higher terms are noise.
    together = [branch.count > 1 for branch in found.branches]
    if not found.decided and (len(together) <= 2 or not any(together)):
        return None
    kept: list[tuple[GermBranch, Array]] = []
    lost = 0
    for branch in found.branches:
        series = grow(at, _start(found, branch))
        if series is None:
            lost += 1
        else:
            kept.append((branch, series))
    if lost and not found.decided:
        return None
    # Several reduced equations were mixed into one: curves on which not all of them vanish do not follow.
    note = "" if lost == 0 or len(reduced.coefficients) > 1 else f"{lost} half-branches could not be followed"
    made = assembled(at, [branch for branch, _ in kept], [series for _, series in kept], note)
    single = [half.multiple for half in made.half_branches]
    return made if found.decided or single == together else None


def _start(found: Germ, branch: GermBranch) -> BranchStart:
    path = np.zeros((2, branch.last + 1))
    path[0, branch.root] = branch.side
    for e, value in branch.terms:
        path[1, e] += value
    axes = np.array(found.axes, dtype=float)
    return BranchStart(axes.T @ path, axes[0], branch.root, max(found.degree - 1, 1) * branch.last)


def assembled(at: Frame, branches: list[GermBranch], series: list[Array], note: str) -> LocalStructure:
    """Return the structure that these half-branches make."""
    place = at.place
    (partners, curves), kind, order = kind_of(branches)
    halves = []
    for k, (branch, x) in enumerate(zip(branches, series, strict=True)):
        tangent = place.scale * x[branch.root]
        tangent /= np.linalg.norm(tangent)
        half = LocalBranch(
            at.q, place.scale, tangent, x, branch.root, reach(place, at.q, x, branch.root), curves[k], partners[k]
        )
        halves.append(replace(half, multiple=branch.count > 1 and is_multiple(half, at)))
    first = [curves.index(c) for c in range(max(curves, default=-1) + 1)]
    tangents = np.array([halves[k].tangent for k in first]).reshape(len(first), len(at.q))
    return LocalStructure(place, at, kind, tuple(halves), tangents, order, note=note)


def kind_of(branches: list[GermBranch]) -> tuple[tuple[list[int], list[int]], str, Any]:
    """Return the other half and the curve of each half-branch, and the kind and order that they make."""
    partners = [_find(partner(branch), branches, place) for place, branch in enumerate(branches)]
    curves: list[int] = []
    for k, other in enumerate(partners):
        curves.append(curves[other] if other < k else (max(curves) + 1 if curves else 0))
    firsts = [branches[curves.index(c)] for c in range(max(curves, default=-1) + 1)]
    return (partners, curves), *_kind(firsts, branches, curves)


def _find(wanted: tuple[int, int, tuple[tuple[int, Any], ...]], branches: list[GermBranch], own: int) -> int:
    side, root, terms = wanted
    for k, branch in enumerate(branches):
        if branch.side == side and branch.root == root and alike(branch.terms, terms) and k != own:
            return k
    return own


def _kind(firsts: list[GermBranch], branches: list[GermBranch], curves: list[int]) -> tuple[str, Any]:
    """Return the kind and the order of contact of the curves through a point."""
    if not firsts:
        return "isolated", None
    whole = all(curves.count(c) == 2 for c in range(len(firsts)))
    if len(firsts) == 1:
        return ("cusp" if firsts[0].root == 2 and whole else "higher"), None
    if not whole or any(branch.root != 1 for branch in firsts):
        return "higher", None
    orders = np.full((len(firsts), len(firsts)), np.inf)
    for a in range(len(firsts)):
        for b in range(a):
            same_side = next(
                branch for branch, c in zip(branches, curves, strict=True) if c == b and branch.side == firsts[a].side
            )
            orders[a, b] = orders[b, a] = separation(firsts[a], same_side) - 1
    order: Any = int(orders[0, 1]) if len(firsts) == 2 else orders
    return ("tangency" if orders[np.isfinite(orders)].max() > 0 else "crossing"), order
