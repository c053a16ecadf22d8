"""Laws of friction as solvers take them: slips along which the section is an interval or a disc, and its numbers.

An ellipse with the semi-axes a_i is the unit disc on slips that are multiplied by a_i: with s'_i = a_i s_i and
T_i = a_i T'_i both the power T s and the force T ds/dv are the same, and the most negative work is done by
T' = -N s'/abs(s'). So solvers know round cones alone. An interval has two sizes, against either direction of slip.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy as sp

from zwang._declare.constraints import Constraint, Friction
from zwang._declare.laws import Ellipse, Interval, Section
from zwang._declare.system import System
from zwang._numerics.contact.law import LawRows


@dataclass(frozen=True)
class FrictionForm:
    """A law of friction in the form that solvers take.

    Attributes
    ----------
    bounds : tuple of expressions
        While slipping, per unit of normal force (or whole, without a normal): one size, the radius; or two, against a
        slip > 0 and against a slip < 0.
    resting : tuple of expressions
        At rest: the two sizes against either direction, or the semi-axes along the (scaled) slips; empty where rest
        has no law of its own.
    axes : tuple of expressions
        Factors of the slips, and of the forces, for each component; empty where they are 1.
    """

    bounds: tuple[Any, ...]
    resting: tuple[Any, ...] = ()
    axes: tuple[Any, ...] = ()


def form_of(item: Constraint) -> FrictionForm:
    """Return the form of the friction of a constraint that has some.

    Examples
    --------
    >>> import zwang as zw
    >>> (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    >>> form_of(zw.Unilateral(z, friction=zw.Coulomb((0.1, 0.4), slip=(vx, vy))))
    FrictionForm(bounds=(1,), resting=(), axes=(0.100000000000000, 0.400000000000000))
    >>> form_of(zw.Friction(2, slip=vx, section=zw.Interval(0, 0.5)))
    FrictionForm(bounds=(0, 1.00000000000000), resting=(), axes=())
    """
    if isinstance(item, Friction):
        if item.section is None:
            return FrictionForm((item.bound,))
        sizes, axes = _sizes(item.section, len(item.slip))
        return FrictionForm(tuple(item.bound * size for size in sizes), axes=axes)
    law = item.friction
    assert law is not None  # asked of constraints with friction alone
    sizes, axes = _sizes(law.section(), len(item.slip))
    if not _has_rest(law):
        return FrictionForm(sizes, axes=axes)
    rest = law.resting().sides
    if isinstance(law.section(), Ellipse) and len(item.slip) == 1:
        rest = tuple(r for r, a in zip(rest, law.section().sides, strict=True) if a != 0) * 2
    if axes:
        rest = tuple(r / a for r, a in zip(rest, axes, strict=True))
    return FrictionForm(sizes, rest, axes)


def _has_rest(law: Any) -> bool:
    """Say whether slip from rest yields to sticking: a coefficient of its own was given, even an equal one."""
    return getattr(law, "static", None) is not None or law.resting() != law.section()


def _sizes(section: Section, slips: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the sizes of a section and the factors of its slips."""
    first, second = section.sides
    if isinstance(section, Interval) or first == second:
        return ((first,) if first == second else (first, second)), ()
    if slips == 1:
        return (next(item for item in (first, second) if item != 0),), ()
    return (sp.Integer(1),), (first, second)


@lru_cache(maxsize=256)
def forms_of(system: System) -> tuple[FrictionForm, ...]:
    """Return the forms of all laws of a system, in the order of its constraints."""
    return tuple(form_of(item) for item in system.constraints if item.slip)


def friction_bounds(system: System) -> list[Any]:
    """Return one size for each constraint with friction, and after them what else the laws need: see `law_rows`."""
    forms = forms_of(system)
    more = [item for form in forms for item in (*form.bounds[1:], *form.resting, *form.axes)]
    return [*(form.bounds[0] for form in forms), *more]


@lru_cache(maxsize=256)
def law_rows(system: System) -> tuple[LawRows, ...]:
    """Return for each constraint with friction where its numbers stand in `friction_bounds`."""
    forms = forms_of(system)
    found, place = [], len(forms)
    for number, form in enumerate(forms):
        sides = (number, place) if len(form.bounds) > 1 else (number, number)
        place += len(form.bounds) - 1
        resting = (place, place + 1) if form.resting else None
        place += len(form.resting)
        axes = tuple(range(place, place + len(form.axes)))
        place += len(axes)
        found.append(LawRows(sides, resting, axes))
    return tuple(found)


def slip_axes(system: System) -> list[Any]:
    """Return for each component of each slip the factor by which solvers see it, 1 for most."""
    found: list[Any] = []
    for item in system.constraints:
        if item.slip:
            found += form_of(item).axes or [sp.Integer(1)] * len(item.slip)
    return found
