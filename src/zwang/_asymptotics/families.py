"""The ways into a point: half-branches of the space itself, and of the points s_eps of the perturbed curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import sympy as sp

from zwang._asymptotics.approaches import Approach, limit_direction
from zwang._asymptotics.elimination import Undecided
from zwang._asymptotics.formulas import Formulas
from zwang._asymptotics.geometry import Equations, Subspaces
from zwang._asymptotics.half_branch import TERMS, HalfBranch, NoCurve
from zwang._asymptotics.laurent import Laurent
from zwang._asymptotics.local_curves import curve_at
from zwang._asymptotics.mechanics import Mechanics
from zwang._asymptotics.neighbours import is_nearest, meets_nearer, turning_signs
from zwang._asymptotics.precision import Number, largest, mp
from zwang._asymptotics.puiseux import EXACT, NearlyCritical

LEAST_NOISE = mp.mpf(10) ** -60
"""What rounding in eighty digits can leave of a zero after some cancellation."""
LOOSENED = mp.mpf(10) ** -15
"""The error of the point where the parameters are not exactly critical."""


@dataclass(frozen=True)
class Spot:
    """A singular point with its surroundings.

    Attributes
    ----------
    equations : Equations
        Of all constraints held, in the order of `names`.
    names : tuple of str
    point : list of mpf
    error, defect : mpf
        Of the point, and how far the parameters are from critical.
    tangents : tuple of vectors
        Of its half-branches, in double precision.
    """

    equations: Equations
    names: tuple[str, ...]
    point: list[Number]
    error: Number
    defect: Number
    tangents: tuple[Any, ...] = ()

    @property
    def rank_tol(self) -> Number:
        """Singular values below it count as zero at the point."""
        return max(mp.mpf(10) ** -20, mp.sqrt(self.defect), 1e3 * self.error)

    @property
    def noise(self) -> Number:
        """What counts as zero among coefficients at the point."""
        return max(self.error, self.defect, LEAST_NOISE)

    @property
    def exact(self) -> bool:
        """Whether the point is singular to all digits."""
        return bool(max(self.defect, self.error) < EXACT)


def centre_values(spot: Spot) -> tuple[list[Any], dict[Any, Number]]:
    """Return symbols that stand for the coordinates of the point, and their values."""
    symbols = [sp.Dummy(f"{item}_0") for item in spot.equations.coordinates]
    return symbols, dict(zip(symbols, spot.point, strict=True))


def branches_of_space(spot: Spot) -> tuple[Spot, tuple[str, ...], list[HalfBranch]]:
    """Return the names of n - 1 constraints that are independent next to the point, and the half-branches there.

    Where the parameters are critical only up to their rounding, the point that is returned says so.
    """
    try:
        return (spot, *_branches(spot))
    except NearlyCritical:
        loose = replace(spot, error=max(spot.error, LOOSENED))
        return (loose, *_branches(loose))


def _branches(spot: Spot) -> tuple[tuple[str, ...], list[HalfBranch]]:
    n = len(spot.point)
    last: NoCurve | None = None
    for places in combinations(range(len(spot.names)), n - 1):
        chosen = spot.equations if len(places) == len(spot.names) else spot.equations.chosen(places)
        try:
            halves = curve_at(chosen, spot.point, spot.noise, spot.rank_tol, spot.tangents)
        except NoCurve as error:
            last = error
            continue
        kept = [half for half in halves if len(places) == len(spot.names) or _on_all(spot, half)]
        if kept or len(places) == len(spot.names):
            return tuple(spot.names[k] for k in places), kept
    raise last if last is not None else NoCurve("no half-branch satisfies all constraints")


def _on_all(spot: Spot, half: HalfBranch) -> bool:
    """Return whether a half-branch of some constraints satisfies the others too."""
    q = half.at(mp.mpf(10) ** -4)
    return bool(largest(spot.equations.value(q)) <= max(mp.mpf(10) ** -40, 1e3 * spot.defect))


def along_branches(spot: Spot, mechanics: Mechanics, halves: Sequence[HalfBranch], distance: Any) -> list[Approach]:
    """Return the ways into the point along the half-branches of the space."""
    symbols, centre = centre_values(spot)
    square = sum(((a - b) ** 2 for a, b in zip(spot.equations.coordinates, symbols, strict=True)), sp.Integer(0))
    small = mechanics.formulas([square if distance is None else distance], centre)
    found = []
    for k, half in enumerate(halves):
        q = half.shortest()
        offset = [item - start for item, start in zip(q, spot.point, strict=True)]
        away = _leading(offset)
        found.append(Approach(f"branch {k}", half, mechanics, small, distance is None, False, 0, away))
    return found


def _leading(values: Sequence[Any]) -> list[Number]:
    """Return the direction in which a vector of series leaves zero."""
    lowest = min(item.start for item in values if isinstance(item, Laurent) and not item.is_zero)
    return [item.coefficient(lowest) if isinstance(item, Laurent) else mp.mpf(0) for item in values]


def left_null(spot: Spot) -> list[list[Number]]:
    """Return the combinations of rows that vanish at the point."""
    return Subspaces(spot.equations.jacobian(spot.point), spot.rank_tol).left_null


def through_family(spot: Spot, mechanics: Mechanics, name: str, sections: Mapping[int, Any]) -> list[Approach]:
    """Return the ways into the point through the points s_eps of expr_name = eps, for each sign of eps.

    `sections` has, for the sign 1 and -1 (or 0: both), the expression whose zero picks the point; None: the nearest.
    """
    place = spot.names.index(name)
    others = spot.equations.chosen([k for k in range(len(spot.names)) if k != place])
    symbols, centre = centre_values(spot)
    offset = spot.equations.value(spot.point)[place]
    level = sp.Dummy("level")
    small = mechanics.formulas([spot.equations.expressions[place] - level], {level: offset})
    found: list[Approach] = []
    local_minima = None in sections.values()
    for wanted, section in sections.items():
        expression = _nearest_condition(spot, symbols) if section is None else section
        curve = others.joined(expression, centre)
        for half in curve_at(curve, spot.point, spot.noise, spot.rank_tol):
            made = _approach(spot, mechanics, half, small, section is None)
            if made is not None and (wanted == 0 or made.sign == wanted):
                found.append(made)
    if local_minima:
        found = [way for way in found if _is_nearest_on_its_curve(spot, way, found)]
    return sorted(found, key=lambda item: -item.sign)


def _is_nearest_on_its_curve(spot: Spot, way: Approach, others: Sequence[Approach]) -> bool:
    """Return whether no other point of the same perturbed curve is nearer than the points of this way.

    That can only be where another way, of the same sign, has nearer points for the same eps.
    """
    tau = mp.mpf(10) ** -3
    q = way.half.at(tau)
    goal, here = way.size(q), _distance(spot, q)
    for other in others:
        if other is way or other.sign != way.sign:
            continue
        near = tau
        for _ in range(60):
            place = other.half.at(near)
            if abs(other.size(place) / goal - 1) < mp.mpf("0.01"):
                break
            x = other.size(other.half.shortest())
            near *= (goal / other.size(place)) ** (mp.mpf(1) / x.start)
        if _distance(spot, place) < here * mp.mpf("0.98"):
            return not meets_nearer(way, spot.equations, q)
    return True


def _distance(spot: Spot, q: Sequence[Number]) -> Number:
    return mp.sqrt(sum((a - b) ** 2 for a, b in zip(q, spot.point, strict=True)))


def _approach(spot: Spot, mechanics: Mechanics, half: HalfBranch, small: Formulas, nearest: bool) -> Approach | None:
    """Return the way along a half-branch of the points s_eps; None where eps stays zero or they are not nearest."""
    for terms in TERMS:
        try:
            q = half.series(terms)
            eps = mechanics.value(small, q)
            if not isinstance(eps, Laurent) or eps.is_zero:
                continue
            reference = limit_direction(mechanics.tangent(q))
        except (Undecided, ZeroDivisionError):
            continue
        sign = eps.sign()
        label = "eps > 0" if sign > 0 else "eps < 0"
        made = Approach(label, half, mechanics, small, False, True, sign, reference)
        tau = mp.mpf(10) ** -6 if spot.exact else mp.mpf(10) ** -3
        here = half.at(tau)
        if nearest and not is_nearest(made, spot.equations, here):
            return None
        return replace(made, turning=turning_signs(made, spot.equations, here))
    return None


def _nearest_condition(spot: Spot, symbols: Sequence[Any]) -> Any:
    """Return the expression that vanishes where a curve of the family is at right angles to the way to the point.

    It is the determinant of the rows of all constraints and of q - point: zero where the tangent of the curve through q
    is orthogonal to q - point.
    """
    q = spot.equations.coordinates
    rows = [[sp.diff(item, x) for x in q] for item in spot.equations.expressions]
    rows.append([a - b for a, b in zip(q, symbols, strict=True)])
    return _expanded_determinant(rows)


def _expanded_determinant(rows: list[list[Any]]) -> Any:
    """Return a determinant by Laplace's expansion, every minor made once."""
    n = len(rows)
    minors: dict[tuple[int, ...], Any] = {(): sp.Integer(1)}
    for size in range(1, n + 1):
        row = rows[n - size]
        made: dict[tuple[int, ...], Any] = {}
        for columns in combinations(range(n), size):
            terms = []
            for k, column in enumerate(columns):
                rest = (*columns[:k], *columns[k + 1 :])
                terms.append((-1) ** k * row[column] * minors[rest])
            made[columns] = sp.Add(*terms)
        minors = made
    return minors[tuple(range(n))]
