"""The ways into a point: half-branches of the space itself, and of the points s_eps of the perturbed curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from flint import arb

from zwang._asymptotics.approaches import WayIn, limit_direction
from zwang._asymptotics.mechanics import Mechanics
from zwang._asymptotics.neighbours import is_nearest, meets_nearer, turning_signs
from zwang._asymptotics.point import Number, Spot
from zwang._asymptotics.tangent_cone import ConePlane
from zwang._graph.evaluate import GraphEvaluation
from zwang._graph.graph import Graph, Node
from zwang._numerics.series.arithmetic import NearlyCritical, Undecided, decided
from zwang._numerics.series.balls import largest
from zwang._numerics.series.field import dot
from zwang._numerics.series.half_branches import TERMS, HalfCurve, NoCurve, curve_at
from zwang._numerics.series.power import Series

LOOSENED = arb("1e-15")
"""The error of the point where the parameters are not exactly critical."""


def branches_of_space(spot: Spot, plane: ConePlane | None = None) -> tuple[Spot, tuple[str, ...], list[HalfCurve]]:
    """Return the names of the constraints that are independent next to the point, and the half-branches there.

    Those are n - 1 on a curve, n - 2 on a surface, of which a plane cuts out the half-branch in its direction. Where
    the parameters are critical only up to their rounding, the point that is returned says so.
    """
    try:
        return (spot, *_branches(spot, plane))
    except NearlyCritical:
        loose = replace(spot, error=max(spot.error, LOOSENED))
        return (loose, *_branches(loose, plane))


def _branches(spot: Spot, plane: ConePlane | None) -> tuple[tuple[str, ...], list[HalfCurve]]:
    count = len(spot.middle) - (1 if plane is None else 2)
    last: NoCurve | None = None
    for places in combinations(range(len(spot.names)), count):
        whole = len(places) == len(spot.names)
        chosen = spot.equations if whole else spot.equations.chosen(places)
        if plane is not None:
            chosen = chosen.joined(plane.node, plane.known)
        try:
            halves = curve_at(chosen, spot.middle, spot.noise, spot.rank_tol, spot.tangents)
        except NoCurve as error:
            last = error
            continue
        kept = [half for half in halves if whole or _on_all(spot, half)]
        if plane is not None:
            kept = [half for half in kept if _leaves_along(spot, half, plane)]
        if kept or whole:
            return tuple(spot.names[k] for k in places), kept
    raise last if last is not None else NoCurve("no half-branch satisfies all constraints")


def _leaves_along(spot: Spot, half: HalfCurve, plane: ConePlane) -> bool:
    """Return whether a half-branch leaves the point in the direction of a plane."""
    away = _leading([item - start for item, start in zip(half.shortest(), spot.point, strict=True)])
    size = dot(away, away).sqrt()
    return bool(float(dot(away, [arb(float(item)) for item in plane.direction]) / size) > 1 - 1e-6)


def _on_all(spot: Spot, half: HalfCurve) -> bool:
    """Return whether a half-branch of some constraints satisfies the others too."""
    return bool(largest(spot.equations.value(half.at(1e-4))) <= max(arb("1e-40"), 1000 * spot.defect))


def along_branches(spot: Spot, mechanics: Mechanics, halves: Sequence[HalfCurve], distance: Any) -> list[WayIn]:
    """Return the ways into the point along the half-branches of the space."""
    symbols, centre = spot.centre()
    graph = mechanics.exact.program.graph
    offsets = [graph.sub(a, b) for a, b in zip(mechanics.exact.program.q, symbols, strict=True)]
    square = graph.add(*(graph.mul(item, item) for item in offsets))
    small = mechanics.formula(square if distance is None else mechanics.exact.convert(distance), centre)
    found = []
    for k, half in enumerate(halves):
        away = _leading([item - start for item, start in zip(half.shortest(), spot.point, strict=True)])
        found.append(WayIn(f"branch {k}", half, mechanics, small, distance is None, False, 0, away))
    return found


def _leading(values: Sequence[Series]) -> list[Number]:
    """Return the direction in which a vector of series leaves zero."""
    lowest = min(item.start for item in values if item.size)
    return [item.coefficient(lowest).mid() for item in values]


def through_family(spot: Spot, mechanics: Mechanics, name: str, sections: Mapping[int, Any]) -> list[WayIn]:
    """Return the ways into the point through the points s_eps of expr_name = eps, for each sign of eps.

    `sections` has, for the sign 1 and -1 (or 0: both), the expression whose zero picks the point; None: the nearest.
    """
    place = spot.names.index(name)
    others = spot.equations.chosen([k for k in range(len(spot.names)) if k != place])
    symbols, centre = spot.centre()
    graph = mechanics.exact.program.graph
    level = graph.input("level")
    offset = spot.equations.value(spot.point)[place]
    small = mechanics.formula(graph.sub(spot.equations.nodes[place], level), {level: offset})
    found: list[WayIn] = []
    for wanted, section in sections.items():
        node = _nearest_condition(spot, symbols) if section is None else mechanics.exact.convert(section)
        for half in curve_at(others.joined(node, centre), spot.middle, spot.noise, spot.rank_tol):
            made = _approach(spot, mechanics, half, small, section is None)
            if made is not None and wanted in (0, made.sign):
                found.append(made)
    if None in sections.values():
        found = [way for way in found if _is_nearest_on_its_curve(spot, way, found)]
    return sorted(found, key=lambda item: -item.sign)


def _is_nearest_on_its_curve(spot: Spot, way: WayIn, others: Sequence[WayIn]) -> bool:
    """Return whether no other point of the same perturbed curve is nearer than the points of this way.

    That can only be where another way, of the same sign, has nearer points for the same eps.
    """
    tau = 1e-3
    q = way.half.at(tau)
    goal, here = float(way.size(q)), spot.distance(q)
    for other in others:
        if other is way or other.sign != way.sign:
            continue
        near = tau
        for _ in range(60):
            place = other.half.at(near)
            ratio = goal / float(other.size(place))
            if abs(1 / ratio - 1) < 0.01:
                break
            near *= ratio ** (1 / other.size(other.half.shortest()).start)
        if spot.distance(place) < here * 0.98:
            return not meets_nearer(way, spot.equations, q)
    return True


def _approach(spot: Spot, mechanics: Mechanics, half: HalfCurve, small: GraphEvaluation, nearest: bool) -> WayIn | None:
    """Return the way along a half-branch of the points s_eps; None where eps stays zero or they are not nearest."""

    def seen(terms: int) -> tuple[int, list[Number]]:
        q = half.series(terms)
        eps = mechanics.value(small, q)
        if not isinstance(eps, Series) or not eps.size:
            raise Undecided("eps stays zero")
        return eps.sign(), limit_direction(mechanics.tangent(q))

    try:
        sign, reference = decided(seen, TERMS, ZeroDivisionError)
    except (Undecided, ZeroDivisionError):
        return None
    label = "eps > 0" if sign > 0 else "eps < 0"
    made = WayIn(label, half, mechanics, small, False, True, sign, reference)
    here = half.at(1e-6 if spot.exact else 1e-3)
    if nearest and not is_nearest(made, spot.equations, here):
        return None
    return replace(made, turning=turning_signs(made, spot.equations, here))


def _nearest_condition(spot: Spot, symbols: Sequence[Node]) -> Node:
    """Return what vanishes where a curve of the family is at right angles to the way to the point.

    It is the determinant of the rows of all constraints and of q - point: zero where the tangent of the curve through q
    is orthogonal to q - point.
    """
    program = spot.equations.exact.program
    away = [program.graph.sub(a, b) for a, b in zip(program.q, symbols, strict=True)]
    return _determinant(program.graph, [*spot.equations.gradients, away])


def _determinant(graph: Graph, rows: Sequence[Sequence[Node]]) -> Node:
    """Return a determinant by Laplace's expansion, every minor made once."""
    n = len(rows)
    minors: dict[tuple[int, ...], Node] = {(): graph.one}
    for size in range(1, n + 1):
        row = rows[n - size]
        made: dict[tuple[int, ...], Node] = {}
        for columns in combinations(range(n), size):
            terms = []
            for k, column in enumerate(columns):
                minor = minors[(*columns[:k], *columns[k + 1 :])]
                terms.append(((-1) ** k, graph.mul(row[column], minor)))
            made[columns] = graph.linear(terms)
        minors = made
    return minors[tuple(range(n))]
