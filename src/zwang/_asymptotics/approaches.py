"""Ways into a singular point: along a half-branch of the space itself, or through the points of f = eps.

Both are half-branches of a curve: of the constraints themselves, or of the constraints without the perturbed one
together with the section that picks a point on each perturbed curve. What goes to zero on the way is the distance, or
eps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from flint import arb

from zwang._asymptotics.mechanics import Mechanics, directions, forces, root, sign_of
from zwang._asymptotics.point import Number
from zwang._graph.evaluate import GraphEvaluation
from zwang._numerics.budget import spend
from zwang._numerics.series.arithmetic import Undecided
from zwang._numerics.series.balls import BALLS
from zwang._numerics.series.field import dot, null_vector
from zwang._numerics.series.half_branches import HalfCurve
from zwang._numerics.series.power import Series

WITHOUT = "without"
SIDES = {"before": -1, "after": 1}


@dataclass(frozen=True)
class Case:
    """What a value belongs to: the direction of motion, the sign of lam with friction, the side of a turning point."""

    direction: int
    friction: str
    side: str = ""


@dataclass(frozen=True)
class WayIn:
    """A way into the point.

    Attributes
    ----------
    label : str
    half : HalfCurve
        Of the points looked at.
    mechanics : Mechanics
    small : GraphEvaluation
        What goes to zero: the squared distance (`squared`), a distance or eps.
    squared : bool
    perturbed : bool
        Whether the points lie on perturbed curves; else on the space itself.
    reference : list of balls
        Motion to its side is of direction +1: on the space itself away from the point.
    turning : mapping str -> int
        For each friction law whose slip vanishes at the points, the sign of the slip just after them.
    """

    label: str
    half: HalfCurve
    mechanics: Mechanics
    small: GraphEvaluation
    squared: bool
    perturbed: bool
    sign: int
    reference: list[Number]
    turning: Mapping[str, int] = field(default_factory=dict)

    def size(self, q: Sequence[Any]) -> Any:
        """Return what goes to zero, as a positive quantity."""
        value = self.mechanics.value(self.small, q)
        return root(value) if self.squared else abs(value)

    def velocity(self, q: Sequence[Any]) -> list[Any]:
        """Return the velocity in direction +1."""
        if not self.perturbed and isinstance(q[0], Series):
            along: list[Any] = [item.derivative() for item in q]
        elif not self.perturbed:
            along = null_vector(self.half.equations.jacobian(q), BALLS)
        else:
            along = self.mechanics.tangent(q)
        return self.mechanics.velocity(q, along, self.reference)

    def values(self, q: Sequence[Any]) -> dict[tuple[Case, str], Any]:
        """Return every multiplier and reaction at a point (or as series), for both directions and all signs."""
        spend(1)
        found: dict[tuple[Case, str], Any] = {}
        forward = self.velocity(q)
        for direction in (1, -1):
            v = [item * direction for item in forward]
            found |= quantities(self.mechanics, self.mechanics.terms(q, v), direction, self.turning)
        return found


def quantities(
    mechanics: Mechanics, terms: Any, direction: int, turning: Mapping[str, int]
) -> dict[tuple[Case, str], Any]:
    """Return the multipliers and reactions at a state, without friction and for all patterns of signs with it."""
    found: dict[tuple[Case, str], Any] = {}
    plain = forces(terms, [], [], [])
    case = Case(direction, WITHOUT)
    surface = len(terms.rows) < len(terms.mass) - 1
    for name, value, row in zip(mechanics.names, plain.lam, terms.rows, strict=True):
        found[case, name] = value
        if surface:
            found[case, f"reaction at {name}"] = value * root(dot(row, row))
    coulomb = [law for law in mechanics.laws if law.normal is not None]
    if not mechanics.laws:
        return found
    for side in sides(turning):
        along = directions(terms, mechanics.laws, signs_on(side, turning))
        if along is None:
            continue
        for signs in product((1, -1), repeat=len(coulomb)):
            case = Case(direction, "".join("+" if sign > 0 else "-" for sign in signs) or "rough", side)
            made = forces(terms, mechanics.laws, signs, along)
            for name, value in zip(mechanics.names, made.lam, strict=True):
                found[case, name] = value
            for law in mechanics.laws:
                found[case, f"friction at {law.name}"] = made.friction[law.name]
                if law.normal is not None and law.scaled:
                    found[case, f"normal force at {law.name}"] = made.lam[law.normal] * terms.scales[law.place]
    return found


def sides(turning: Mapping[str, int]) -> tuple[str, ...]:
    """Return the sides of a point to be told apart: none, or before and after it."""
    return tuple(SIDES) if turning else ("",)


def signs_on(side: str, turning: Mapping[str, int]) -> dict[str, int]:
    """Return the signs of the slips that vanish at the point, on one side of it."""
    return {name: sign * SIDES[side] for name, sign in turning.items()}


def is_consistent(mechanics: Mechanics, case: Case, values: dict[tuple[Case, str], Any]) -> bool:
    """Return whether the signs come out as the pattern assumed them."""
    if case.friction in (WITHOUT, "rough"):
        return True
    coulomb = [law for law in mechanics.laws if law.normal is not None]
    signs = [1 if letter == "+" else -1 for letter in case.friction]
    return all(sign_of(values[case, law.name]) == sign for law, sign in zip(coulomb, signs, strict=True))


def counts(mechanics: Mechanics, values: dict[tuple[Case, str], Any]) -> dict[tuple[int, str], int]:
    """Return the number of solutions with friction for each direction of motion and side of a turning point."""
    cases = {case for case, _ in values if case.friction != WITHOUT}
    found: dict[tuple[int, str], int] = {}
    for case in cases:
        key = (case.direction, case.side)
        found[key] = found.get(key, 0) + is_consistent(mechanics, case, values)
    return found


def require_known(values: Mapping[Any, Any]) -> None:
    """Ask for more terms where the order of a series is not known."""
    if any(isinstance(item, Series) and not item.size for item in values.values()):
        raise Undecided("the order of a quantity is not known yet")


def limit_direction(values: Sequence[Any]) -> list[Number]:
    """Return the limit of a vector of series, scaled so that its first component that is not zero is positive."""
    lowest = min((item.start for item in values if isinstance(item, Series) and item.size), default=0)
    if any(not isinstance(item, Series) and sign_of(item) for item in values):
        lowest = min(lowest, 0)
    found = [
        item.coefficient(lowest).mid() if isinstance(item, Series) else (item.mid() if lowest == 0 else arb(0))
        for item in values
    ]
    first = next((item for item in found if abs(item) > 1e-20), None)
    if first is None:
        raise Undecided("the direction of motion is not known yet")
    return [item / first for item in found]
