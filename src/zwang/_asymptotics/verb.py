"""The verb `asymptotics`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb

from zwang._asymptotics.inputs import exact_values, held_constraints, position_of, read_expression, system_of
from zwang._asymptotics.perturbation import Perturbation, perturbation_of
from zwang._asymptotics.point import (
    BITS,
    ConstraintSet,
    ExactSystem,
    Number,
    Spot,
    local_type,
    number,
    refined,
    sizes_beside,
)
from zwang._asymptotics.point_study import PointStudy
from zwang._asymptotics.tangent_cone import ConePlane, direction_of, plane_along
from zwang._compile import Model, compile
from zwang._declare.symbols import Coordinate
from zwang._declare.system import System
from zwang._numerics.budget import UNBOUNDED, Allowed, Budget, spending
from zwang._numerics.jit import tiered
from zwang._numerics.series.balls import ball, largest, precision
from zwang._numerics.series.half_branches import split_at
from zwang._numerics.tolerances import real
from zwang._results.asymptotics import Asymptotics
from zwang._results.configuration import TraceStatus
from zwang._trace.space_equations import at_instant
from zwang._trace.verb import trace
from zwang.errors import DeclarationError, StateError

LOOSE = 1e-6
"""How far a given point may be from the singular one, in rows and values."""

BUDGET = Budget(steps=100_000, memory=1_000_000_000)


@tiered("asymptotics", main="singular_many", seconds=15)
def asymptotics(
    system: System | Model,
    params: Mapping[Any, Any] | None = None,
    at: Any = None,
    perturb: Any = None,
    section: Any = None,
    *,
    speed: Any = 1,
    speed_of: Any = None,
    distance: Any = None,
    along: Mapping[Any, Any] | None = None,
    budget: Allowed = None,
    inputs: Mapping[Any, Any] | None = None,
) -> Asymptotics:
    """Return how multipliers, reactions and numbers of solutions behave as a singular point is approached.

    Without `perturb`: along every half-branch that leads into the point, with exponents in the distance to it. With it:
    through the points s_eps of the curves on which the named constraint has the value eps, for both signs, with
    exponents in abs(eps). Every exponent is predicted, from series of the equations at the point, and measured, by
    solving them with eighty digits at points that near it.

    Parameters
    ----------
    system : System or Model
        Its bilateral constraints on positions must leave a curve, or a surface with `along`.
    params : mapping
        Symbol or name -> number. A float is taken for the decimal that it prints as, so that 1.4 is 7/5; numbers of
        SymPy are taken exactly.
    at : singular point or mapping
        One of ``trace(system, params).singular_points``, or coordinate -> number. By default the only singular point.
    perturb : str, expression or mapping, optional
        The constraint whose expression is set to eps. Or an expression g of the coordinates and `zwang.eps` that is the
        constraint's own for eps = 0: g = 0 stands in its place, as in ``y**2 - x**2 - zw.eps*(1 + x)``, and multipliers
        are those of g. Where it is zero for eps = 0, and there is one constraint, it is what that one's expression
        equals. A mapping of a name to such an expression says which constraint is meant.
    section : expression or mapping, optional
        Of the coordinates; zero at the point. Its zero picks s_eps on each perturbed curve; by default s_eps is the
        point nearest to the singular one, Euclidean in the coordinates. A mapping has one for each sign: ``{1: ...,
        -1: ...}``.
    speed : number
        Of the motion, along the branch or the perturbed curve; both directions are looked at.
    speed_of : expression or 'kinetic', optional
        What has that speed: the rate of an expression of the coordinates, or sqrt(v M v). By default the Euclidean norm
        of the velocities.
    distance : expression, optional
        Exponents along branches are in its size. By default the Euclidean distance in the coordinates.
    along : mapping, optional
        Where the space is a surface: coordinate -> component of a direction of its tangent cone at the point;
        coordinates that are left out have none. What is followed is a curve of the surface that leaves in it, and rows
        tell the size of each reaction beside its multiplier.
    budget : float or mapping, optional
        Seconds, or a mapping of ``seconds``, ``steps`` (points at which everything is evaluated with many digits) and
        ``memory`` (which this verb does not need), by default an hour and 100,000 points. Where one is spent the result
        is UNFINISHED and holds the rows of the ways that were done.
    inputs : mapping, optional
        Input of the system -> number.

    Returns
    -------
    Asymptotics

    Examples
    --------
    >>> import zwang as zw
    >>> form = zw.gallery.get("crossing")
    >>> found = zw.asymptotics(form.system, form.params, at={"x": 0, "y": 0}, perturb="curve", section="x")
    >>> row = found.select(branch=0, friction="without")[0]
    >>> row.approach, row.quantity, round(row.exponent, 6), row.predicted
    ('eps > 0', 'curve', -1.0, -1.0)
    >>> found.select(branch=0, friction="+")[0].predicted, round(found.threshold, 6)
    (-0.5, 0.0049)
    """
    system_of(system)
    system, params = at_instant(system, params, inputs, None)
    declared = system_of(system)
    values = exact_values(declared, params)
    allowed = BUDGET.but(declared.name, budget)
    with spending(replace(UNBOUNDED, seconds=allowed.seconds)) as clock:
        point = _only_point(compile(system), params) if at is None else at
    kinetic = isinstance(speed_of, str) and speed_of == "kinetic"
    pace = speed_of if speed_of is None or kinetic else read_expression(declared, speed_of, "speed_of")
    real(speed, "speed", above=0, where="asymptotics", cure="Both directions are looked at.")
    with precision(BITS):
        changed = _perturbation(declared, perturb, point, values)
        whole = declared if changed is None else changed.system(declared)
        if along is not None:
            _require_surface(declared, perturb)
        spot = _spot(whole, values, point, changed, 1 if along is None else 2)
        numbers = np.array([float(values[item]) for item in declared.parameters])
        plane: ConePlane | None = None
        if along is None:
            local = local_type(compile(system).switched(), numbers, np.array([float(item) for item in spot.middle]))
        else:
            plane, local = plane_along(declared, spot, direction_of(declared, along))
        rate = number(speed, "asymptotics: speed")
        study = PointStudy(whole, replace(spot, tangents=local.tangents), local, rate, pace, plane)
        if changed is None:
            if section is not None:
                raise DeclarationError("asymptotics: section= goes with perturb=, which names a perturbed constraint.")
            near = None if distance is None else _vanishing(declared, spot, distance, "distance")
            with spending(allowed, deadline=clock.deadline):
                return study.along_branches(near)
        if distance is not None:
            raise DeclarationError("asymptotics: distance= goes without perturb=; with it exponents are in |eps|.")
        sections = _sections(declared, spot, section)
        with spending(allowed, deadline=clock.deadline):
            found = study.through_family(changed.name, sections, changed.text)
        if changed.level is not None:
            # Its own expression has a normal form, whatever it is perturbed by.
            found.__dict__["_find_normal_form"] = lambda: asymptotics(system, params, point).normal_form
        return found


def _perturbation(system: System, perturb: Any, at: Any, values: Mapping[Any, Number]) -> Perturbation | None:
    """Return what perturb= asks for, solved for eps next to the point."""
    if perturb is None:
        return None
    place = dict(zip(system.coordinates, map(float, position_of(system, at)), strict=True))
    return perturbation_of(system, perturb, place, {item: float(value) for item, value in values.items()})


def _only_point(model: Model, params: Mapping[Any, Any] | None) -> Any:
    """Return the only singular point that `trace` finds."""
    system, space = model.system, trace(model, params)
    if space.status is TraceStatus.UNFINISHED:
        raise DeclarationError(
            f"{system.name}: the search for its singular points did not come to its end. {space.reason} Or say which "
            "point: at= takes a mapping from coordinates to numbers."
        )
    found = space.singular_points
    if len(found) != 1:
        listed = "; ".join(repr(item) for item in found[:6]) or "none was found"
        raise DeclarationError(
            f"{system.name}: say which point: at=trace(system, params).singular_points[k], or a mapping from "
            f"coordinates to numbers. There are {len(found)}: {listed}."
        )
    return found[0]


def _sections(system: System, spot: Spot, section: Any) -> dict[int, Any]:
    if not isinstance(section, Mapping):
        return {0: None if section is None else _vanishing(system, spot, section, "section")}
    wrong = [key for key in section if key not in (1, -1)]
    if wrong or not section:
        raise DeclarationError(f"{system.name}: section= as a mapping has the keys 1 and -1, the signs of eps.")
    return {key: _vanishing(system, spot, item, "section") for key, item in section.items()}


def _vanishing(system: System, spot: Spot, given: Any, what: str) -> Any:
    """Return an expression that must be zero at the point."""
    expr = read_expression(system, given, what)
    if not expr.has(Coordinate):
        raise DeclarationError(f"{system.name}: {what}= must depend on the coordinates; it was given {expr}.")
    exact = spot.equations.exact
    own = ConstraintSet(exact, [exact.convert(expr)])
    value = own.value(spot.middle)[0]
    if abs(value) > LOOSE * sizes_beside(own, spot.middle)[1][0]:
        raise DeclarationError(
            f"{system.name}: {what}= must vanish at the singular point; {expr} is {float(value):.3g} there."
        )
    return expr


def _require_surface(system: System, perturb: Any) -> None:
    """Refuse a direction where the space is no surface, or perturbed."""
    left = len(system.coordinates) - len(held_constraints(system, 2))
    if left == 1:
        raise DeclarationError(
            f"{system.name}: along= is for surfaces, and the constraints leave one degree of freedom: every branch "
            "of the curve is looked at without it."
        )
    if perturb is not None:
        raise DeclarationError(f"{system.name}: along= goes without perturb=, which follows perturbed curves.")


def _spot(system: System, values: dict[Any, Number], at: Any, changed: Perturbation | None, free: int) -> Spot:
    """Return the singular point of a set with so many freedoms to all digits."""
    held = held_constraints(system, free)
    names = tuple(str(item.name) for item in held)
    factors = {} if changed is None or changed.factor is None else {changed.name: changed.factor}
    exact = ExactSystem(system, values, factors)
    equations = ConstraintSet(exact, [exact.normals[name].value for name in names])
    q = position_of(system, at)
    miss, (lengths, heights) = equations.value(q), sizes_beside(equations, q)
    worst = max(range(len(miss)), key=lambda k: abs(miss[k] / heights[k]))
    if abs(miss[worst] / heights[worst]) > LOOSE:
        raise StateError(
            f"{system.name}: the point is off constraint '{names[worst]}' by {float(miss[worst]):.1e}. Use a singular "
            "point of trace(system, params)."
        )
    rows = [
        [item * length / height for item, length in zip(row, lengths, strict=True)]
        for row, height in zip(equations.jacobian(q), heights, strict=True)
    ]
    split = split_at(rows, q, LOOSE)
    if split.rank >= len(q) - free:
        smooth = "curve" if free == 1 else "surface"
        raise StateError(
            f"{system.name}: the rank of the constraints is {split.rank} there, as on a smooth {smooth}: the point is "
            "not singular. Use trace(system, params).singular_points."
        )
    point, error, defect = refined(equations, q, split.rank)
    if not largest([(a - b) / length for a, b, length in zip(point, q, lengths, strict=True)]) <= 1e-3:
        # More conditions than the rank alone hold at the point, or fewer: it is taken as it was given.
        point, error, defect = q, ball(LOOSE), ball(LOOSE)
    shortest = min(height / length for height in heights for length in lengths)
    return Spot(equations, names, point, error, defect, least=min(shortest, arb(1)))
