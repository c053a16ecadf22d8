"""Which constraints act at a state, and as which contacts: the step from a system to a contact problem.

Position level, one-sided: a gap above its tolerance is open; at the tolerance, a rate above its tolerance separates,
below it an impact is due, else the constraint is active. Velocity level, one-sided: active where the expression is
zero. Tolerances are relative to 1 + the size of the terms: |row| |q| for gaps, |row| |v| for rates and slips.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang._compile.model import Model, compile
from zwang._compile.states import PROJECT
from zwang._compile.values import Inputs, resolve
from zwang._declare.constraints import Bilateral, Constraint, Friction
from zwang._declare.friction_forms import law_rows
from zwang._declare.system import System
from zwang._kernels import SparseTerms, Terms
from zwang._numerics.contact.law import LawRows
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._numerics.tolerances import Tolerances, real
from zwang._reactions.singular import Cleaned
from zwang.errors import DeclarationError, StateError, nearest


@dataclass(frozen=True)
class Acting:
    """A state as a contact problem.

    Attributes
    ----------
    problem : ContactProblem
    names : tuple of str
        Of the constraints that act, in the order of the contacts.
    open : tuple of str
        Of the one-sided constraints that don't, with the reason in words.
    """

    problem: ContactProblem
    names: tuple[str, ...]
    open: tuple[str, ...]


class _State:
    """The terms of one state with the scales that tolerances refer to."""

    def __init__(self, system: System, inputs: Inputs, terms: Terms | SparseTerms) -> None:
        self.system, self.terms = system, terms
        self.mass: Any
        self.rows: Any
        self.slip_rows: Any
        if isinstance(terms, SparseTerms):
            self.mass, self.rows, self.slip_rows = terms.mass[0], terms.rows[0], terms.slip_rows[0]
        else:
            self.mass, self.rows = terms.mass[:, :, 0], terms.rows[:, :, 0]
            self.slip_rows = terms.slip_rows[:, :, 0]
        q, v = np.abs(inputs.q[:, 0]), np.abs(inputs.v[:, 0])
        self.gap_scale = 1.0 + abs(self.rows) @ q
        self.rate_scale = 1.0 + abs(self.rows) @ v
        self.slip_scale = 1.0 + abs(self.slip_rows) @ v

    def row(self, matrix: Any, place: int) -> Any:
        return matrix[[place]] if isinstance(self.terms, SparseTerms) else matrix[place]


def acting(
    system: System,
    inputs: Inputs,
    terms: Terms | SparseTerms,
    tolerances: Tolerances,
    normal_forces: Mapping[str, float] | None = None,
    cleaned: Cleaned | None = None,
) -> Acting:
    """Return the contact problem of one state; a state that violates a constraint is a StateError.

    Rows and biases in `cleaned`, which depend on each other, stand in place of what rounding has made of them.
    """
    given = _normal_forces(system, normal_forces)
    state = _State(system, inputs, terms)
    contacts: list[Contact] = []
    opened: list[str] = []
    known = dict(zip(cleaned.places, zip(cleaned.rows, cleaned.gamma, strict=True), strict=True)) if cleaned else {}
    normal = slip = law = 0
    for item in system.constraints:
        reason = _check(system, item, state, normal, tolerances)
        if reason is None:
            contacts.append(_contact(item, state, normal, slip, law, tolerances, given, known.get(normal)))
        else:
            opened.append(f"{item.name} ({reason})")
        normal += not isinstance(item, Friction)
        slip += len(item.slip)
        law += bool(item.slip)
    problem = ContactProblem(state.mass, terms.force[:, 0], contacts)
    return Acting(problem, tuple(str(contact.name) for contact in contacts), tuple(opened))


def contact_problem(
    system: System | Model, state: Mapping[Any, Any], params: Mapping[Any, Any] | None = None
) -> ContactProblem:
    """Return the arrays behind `reactions` at one state: mass, force and the contacts that take part, with their rows.

    Examples
    --------
    >>> import zwang as zw
    >>> rod = zw.gallery.get("painleve_rod")
    >>> problem = zw.contact_problem(rod.system, rod.state, rod.params)
    >>> problem.mass.diagonal().tolist(), [contact.name for contact in problem.contacts]
    ([1.0, 1.0, 0.3333333333333333], ['tip'])
    >>> zw.reactions(problem).status == zw.reactions(rod.system, rod.state, rod.params).status
    True
    """
    model = system if isinstance(system, Model) else compile(system)
    inputs = resolve(model.system, state, params)
    if inputs.shape:
        raise DeclarationError(
            f"{model.system.name}: contact_problem takes one state; it was given arrays of shape {inputs.shape}. "
            "Ask for each state."
        )
    terms = model.kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    return acting(model.system, inputs, terms, Tolerances(1e-9, 1e-9, 1e-9)).problem


def _normal_forces(system: System, given: Mapping[str, float] | None) -> dict[str, float]:
    known = [str(item.name) for item in system.constraints if not isinstance(item, Friction)]
    if given is not None and not isinstance(given, Mapping):
        raise DeclarationError(
            f"{system.name}: normal_forces= must be a mapping from names of constraints to numbers; it was given "
            f"{given!r:.60}."
        )
    for name in given or {}:
        if name not in known:
            raise DeclarationError(
                f"{system.name}: normal_forces= names '{name}', which is no constraint with a normal. "
                f"{nearest(str(name), known)}"
            )
    return {
        str(name): real(value, f"normal_forces[{str(name)!r}]", where=system.name)
        for name, value in (given or {}).items()
    }


def _check(system: System, item: Constraint, state: _State, place: int, tolerances: Tolerances) -> str | None:
    """Return why a constraint does not act, None if it does; violations are raised."""
    if isinstance(item, Friction):
        return None
    value, rate = float(state.terms.value[place, 0]), float(state.terms.rate[place, 0])
    position = item.level == "position"
    gap_tol = (tolerances.gap * state.gap_scale if position else tolerances.rate * state.rate_scale)[place]
    rate_tol = tolerances.rate * state.rate_scale[place]
    cure = PROJECT
    if isinstance(item, Bilateral):
        if abs(value) > gap_tol:
            raise StateError(
                f"{system.name}: the state is off constraint '{item.name}' by {value:.1e} (tol {gap_tol:.0e}). {cure}"
            )
        if position and abs(rate) > rate_tol:
            raise StateError(
                f"{system.name}: the velocity leaves constraint '{item.name}' with {rate:.1e} (tol {rate_tol:.0e}). "
                f"{cure}"
            )
        return None
    if value > gap_tol:
        return f"{'gap' if position else 'value'} {value:.3g}"
    if value < -gap_tol:
        raise StateError(
            f"{system.name}: the state violates constraint '{item.name}' by {-value:.1e} (tol {gap_tol:.0e})."
        )
    if position and rate > rate_tol:
        return f"separating at {rate:.3g}"
    if position and rate < -rate_tol:
        raise StateError(
            f"{system.name}: constraint '{item.name}' closes at {rate:.3g}: an impact is due, and the acceleration is "
            "not what follows. Use simulate."
        )
    return None


def _contact(
    item: Constraint,
    state: _State,
    normal: int,
    slip: int,
    law: int,
    tolerances: Tolerances,
    given: Mapping[str, float],
    known: tuple[Any, float] | None,
) -> Contact:
    terms = state.terms
    places = range(slip, slip + len(item.slip))
    tangent = np.stack([_dense(state.row(state.slip_rows, k)) for k in places]) if item.slip else None
    if tangent is not None and isinstance(terms, SparseTerms):
        tangent = state.slip_rows[list(places)]
    speed = np.array([terms.slip[k, 0] for k in places])
    at_rest = bool(np.all(np.abs(speed) <= tolerances.slip * state.slip_scale[slip : slip + len(item.slip)]))
    along: dict[str, Any] = {}
    if item.slip:
        rows = law_rows(state.system)[law]
        along = _rubbing(rows, terms.bounds[:, 0], isinstance(item, Friction))
        axes = terms.bounds[list(rows.axes), 0] if rows.axes else np.ones(len(item.slip))
        inverse = np.divide(1.0, axes, out=np.zeros_like(axes), where=axes > 0)
        bias = np.array([terms.slip_bias[k, 0] for k in places])
        along |= {
            "tangent": _times(inverse, tangent) if rows.axes else tangent,
            "tangent_bias": inverse * bias,
            "slip": np.zeros_like(speed) if at_rest else inverse * speed,
        }
    name = str(item.name)
    if isinstance(item, Friction):
        return Contact(None, name=name, **along)
    row, gamma = known or (state.row(state.rows, normal), terms.gamma[normal, 0])
    return Contact(
        row,
        bias=float(gamma),
        bilateral=isinstance(item, Bilateral),
        normal_force=given.get(name),
        name=name,
        **along,
    )


def _rubbing(rows: LawRows, bounds: Any, alone: bool) -> dict[str, Any]:
    """Return a law as a Contact takes it; an ellipse as its two coefficients along the declared slips."""
    found = rows.contact(bounds, alone=alone)
    if rows.axes:
        pair = np.maximum(bounds[list(rows.axes)], 0.0)
        rest = found.get("static_friction")
        found["friction"] = tuple(pair * found["friction"])
        if rest is not None:
            found["static_friction"] = tuple(pair * np.broadcast_to(rest, 2))
    return found


def _times(factors: Any, rows: Any) -> Any:
    return rows.multiply(factors[:, None]).tocsr() if hasattr(rows, "tocsr") else factors[:, None] * rows


def _dense(row: Any) -> Any:
    return row.toarray()[0] if hasattr(row, "toarray") else row
