"""The numbers of a contact's law of friction, checked: a coefficient or two, a section, what holds at rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zwang._numerics.contact.problem_values import number, short
from zwang.errors import DeclarationError

Label = Callable[[str], str]


@dataclass(frozen=True)
class ContactLaw:
    """The section of a contact in numbers.

    Attributes
    ----------
    friction : float or pair
        As it was given: the coefficient, or one for each tangent.
    sides : (float, float)
        Against a slip > 0 and against a slip < 0 along one tangent; twice the radius of a disc.
    resting : (float, float) or None
        The same at rest; for two tangents the semi-axes, in units of `axes`. None: rest has no law of its own.
    axes : (float, float) or None
        Factors of two tangents that make an ellipse the unit disc.
    """

    friction: Any
    sides: tuple[float, float]
    resting: tuple[float, float] | None = None
    axes: tuple[float, float] | None = None

    @property
    def radius(self) -> float:
        """The larger of the two sides."""
        return max(self.sides)

    @property
    def plain(self) -> bool:
        """Whether one coefficient says all."""
        return self.sides[0] == self.sides[1] and self.resting is None and self.axes is None


def law_of_numbers(label: Label, friction: Any, static: Any, section: Any, p: int) -> ContactLaw:
    """Return the law of what a Contact with p tangents was given, or raise a DeclarationError that names the number."""
    if section is None and static is None and isinstance(friction, float) and p and 0.0 <= friction < math.inf:
        plain = float(friction)  # as nearly always, and there are many contacts
        return ContactLaw(plain, (plain, plain))
    if section is not None:
        return _interval(label, friction, static, section, p)
    coefficients = _coefficients(label, "friction", friction, p)
    for value in coefficients:
        _not_negative(label("friction"), value)
    if max(coefficients) > 0 and p == 0:
        raise DeclarationError(
            f"{label('friction')} is {coefficients[0]:g} but there is no tangent to act along. "
            f"Give tangent=(p, n), or leave the friction out."
        )
    given = coefficients[0] if len(coefficients) == 1 else coefficients
    pair = (coefficients[0], coefficients[-1])
    rest = None
    if static is not None:
        held = _coefficients(label, "static_friction", static, p)
        rest = (held[0], held[-1])
        _rest_holds(label, rest, pair)
    if pair[0] == pair[1]:
        return ContactLaw(given, pair, rest)
    if rest is not None:
        if any(r > 0 and m == 0 for r, m in zip(rest, pair, strict=True)):
            raise DeclarationError(
                f"{label('static_friction')} is {rest} and friction {pair}: along one tangent rest holds and slip "
                "meets nothing, and an ellipse needs both or neither. Give both, or the other tangent alone."
            )
        rest = (rest[0] / (pair[0] or 1.0), rest[1] / (pair[1] or 1.0))
    return ContactLaw(given, (1.0, 1.0), rest, pair)


def _interval(label: Label, friction: Any, static: Any, section: Any, p: int) -> ContactLaw:
    if p != 1:
        raise DeclarationError(
            f"{label('section')} is an interval for one tangent; there {'are' if p else 'is'} {p or 'none'}. Two "
            "tangents take friction=(mu_1, mu_2)."
        )
    if number(label("friction"), friction) != 0:
        raise DeclarationError(
            f"{label('section')} and friction = {friction:g} are both given, needed one of them: a section holds "
            "everything."
        )
    low, high = (float(side) for side in short(label("section"), section, 2))
    if low > 0 or high < 0:
        raise DeclarationError(f"{label('section')} is ({low:g}, {high:g}), needed low <= 0 <= high.")
    sides, rest = (-low + 0.0, high), None
    if static is not None:
        values = [static] if not hasattr(static, "__len__") else list(static)
        found = [number(label("static_friction"), value) for value in values]
        if len(found) > 2:
            raise DeclarationError(f"{label('static_friction')} has {len(found)} numbers, needed mu or (low, high).")
        rest = (-found[0], found[1]) if len(found) == 2 else (found[0], found[0])
        _rest_holds(label, rest, sides)
    return ContactLaw(0.0, sides, rest)


def _coefficients(label: Label, what: str, value: Any, p: int) -> tuple[float, ...]:
    """Return one coefficient, or two for two tangents."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or getattr(value, "shape", None) == ():
        return (number(label(what), value),)
    if len(value) == 2 and p != 2:
        raise DeclarationError(
            f"{label(what)} is a pair and there {'is one tangent' if p == 1 else 'are no tangents'}. Give two "
            "tangents, or one coefficient."
        )
    if len(value) == 1:
        return (number(label(what), value),)
    return tuple(float(item) for item in short(label(what), value, 2))


def _not_negative(label: str, value: float) -> None:
    if value < 0:
        raise DeclarationError(
            f"{label} is {value:g}, needed a number >= 0. The sign of the friction "
            f"force follows from the slip; turn the tangent or the slip round instead."
        )


def _rest_holds(label: Label, rest: tuple[float, ...], sides: tuple[float, ...]) -> None:
    for held, met in zip(rest, sides, strict=True):
        if held < met:
            raise DeclarationError(
                f"{label('static_friction')} is {held:g}, below {met:g} while the contact slips; needed at least as "
                "much. Leave static_friction out where both are the same."
            )
