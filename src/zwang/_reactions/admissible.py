"""From a state to its contact problem: who takes part (`contact.admission`), and what is said where one can't."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zwang._compile.given_inputs import with_inputs
from zwang._compile.given_values import Inputs, resolve
from zwang._compile.model import Model, compile
from zwang._compile.states import PROJECT
from zwang._declare.contact_table import table_of
from zwang._declare.system import System
from zwang._kernels import SparseTerms, Terms
from zwang._kernels.service import Service
from zwang._numerics.contact.admission import Admission, Standing, admit, sizes_near
from zwang._numerics.contact.problem import ContactProblem, problem_of
from zwang._numerics.contact.table import ContactArrays, ContactPlace
from zwang._numerics.tolerances import Tolerances, real
from zwang._reactions.singular_state import Cleaned
from zwang.errors import DeclarationError, StateError, nearest

ACTIVE = int(Standing.ACTIVE)


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


def admitted_states(
    kernels: Service, table: ContactArrays, terms: Terms | SparseTerms, inputs: Inputs, tolerances: Tolerances
) -> Admission:
    """Return how the constraints stand to states; where a two-sided one seems violated, rows beside the state count.

    At a singular point a row vanishes, and with it the size that its value at the state is to be compared with.
    """
    found = admit(table, terms, inputs.q, inputs.v, tolerances)
    if table.two_sided is None:
        return found
    off = (found.standing != ACTIVE) & table.two_sided
    if not off.any():
        return found
    _, floors = sizes_near(kernels.terms, terms, inputs.t, inputs.q, inputs.v, inputs.params, table.turns)
    again = admit(table, terms, inputs.q, inputs.v, tolerances, floors)
    return Admission(*(np.where(off.any(axis=0), new, old) for new, old in zip(again, found, strict=True)))


def acting(
    kernels: Service,
    system: System,
    inputs: Inputs,
    terms: Terms | SparseTerms,
    tolerances: Tolerances,
    normal_forces: Mapping[str, float] | None = None,
    cleaned: Cleaned | None = None,
    *,
    definite: bool = False,
) -> Acting:
    """Return the contact problem of one state; a state that violates a constraint is a StateError.

    Rows and biases in `cleaned`, which depend on each other, stand in place of what rounding has made of them.
    `definite`: whether the mass matrix is known to be so.
    """
    given = _normal_forces(system, normal_forces)
    table = table_of(system)
    found = admitted_states(kernels, table.arrays, terms, inputs, tolerances)
    acts = found.standing[:, 0] == ACTIVE
    opened = tuple(
        f"{table.places[j].name} ({_reason(system.name, table.places[j], terms, found, j)})"
        for j, own in enumerate(acts.tolist())
        if not own
    )
    chosen = acts.nonzero()[0]
    terms = terms if cleaned is None else _without_rounding(terms, cleaned)
    problem = problem_of(table, terms, chosen, found.rest[:, 0], given, definite=definite)
    return Acting(problem, problem.names, opened)


def _without_rounding(terms: Terms | SparseTerms, cleaned: Cleaned) -> Terms | SparseTerms:
    """Return the terms of one state with rows and biases as they are without rounding."""
    rows, gamma = terms.at(0)[1].copy(), terms.gamma.copy()
    rows[list(cleaned.places)], gamma[list(cleaned.places), 0] = cleaned.rows, cleaned.gamma
    if isinstance(terms, Terms):
        return replace(terms, rows=rows[:, :, None], gamma=gamma)
    from scipy.sparse import csr_array

    return replace(terms, rows=(csr_array(rows),), gamma=gamma)


def contact_problem(
    system: System | Model,
    state: Mapping[Any, Any],
    params: Mapping[Any, Any] | None = None,
    *,
    inputs: Mapping[Any, Any] | None = None,
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
    compiled = system if isinstance(system, Model) else compile(system)
    model, params, _ = with_inputs(compiled, state, params, inputs)
    model, state = model.acting(state)
    given = resolve(model.system, state, params)
    if given.shape:
        raise DeclarationError(
            f"{model.system.name}: contact_problem takes one state; it was given arrays of shape {given.shape}. "
            "Ask for each state."
        )
    terms = model.kernels.terms(given.t, given.q, given.v, given.params)
    return acting(model.kernels, model.system, given, terms, Tolerances(1e-9, 1e-9, 1e-9)).problem


def _normal_forces(system: System, given: Mapping[str, float] | None) -> dict[str, float]:
    if given is None:
        return {}
    known = [place.name for place in table_of(system).normals]
    if not isinstance(given, Mapping):
        raise DeclarationError(
            f"{system.name}: normal_forces= must be a mapping from names of constraints to numbers; it was given "
            f"{given!r:.60}."
        )
    for name in given:
        if name not in known:
            raise DeclarationError(
                f"{system.name}: normal_forces= names '{name}', which is no constraint with a normal. "
                f"{nearest(str(name), known)}"
            )
    return {str(name): real(value, f"normal_forces[{str(name)!r}]", where=system.name) for name, value in given.items()}


def _reason(system: str, place: ContactPlace, terms: Terms | SparseTerms, found: Admission, number: int) -> str:
    """Return why a constraint does not act; a state that violates it is a StateError."""
    if place.normal < 0:
        return "nothing loads it"
    refuse(system, place, terms, found, number)
    value, rate = float(terms.value[place.normal, 0]), float(terms.rate[place.normal, 0])
    if found.standing[number, 0] == Standing.CLOSING:
        raise StateError(
            f"{system}: constraint '{place.name}' closes at {rate:.3g}: an impact is due, and the acceleration is "
            "not what follows. Use simulate."
        )
    if found.gap[number, 0] > 0:
        return f"{'gap' if place.on_position else 'value'} {value:.3g}"
    return f"separating at {rate:.3g}"


def refuse(
    system: str, place: ContactPlace, terms: Terms | SparseTerms, found: Admission, number: int, *, cure: str = ""
) -> None:
    """Raise a StateError where a state violates a constraint: off a bilateral one or leaving it, below a one-sided.

    `cure` is added to what is said of a one-sided one.
    """
    standing, near = found.standing[number, 0], found.near[number, 0]
    value = float(terms.value[place.normal, 0])
    if standing == Standing.VIOLATED and place.one_sided:
        raise StateError(
            f"{system}: the state violates constraint '{place.name}' by {-value:.1e} (tol {near:.0e}). "
            f"Start where its expression is not negative{cure}."
        )
    if standing == Standing.VIOLATED:
        raise StateError(
            f"{system}: the state is off constraint '{place.name}' by {value:.1e} (tol {near:.0e}). {PROJECT}"
        )
    if standing == Standing.CLOSING and not place.one_sided:
        rate, still = float(terms.rate[place.normal, 0]), found.still[number, 0]
        raise StateError(
            f"{system}: the velocity leaves constraint '{place.name}' with {rate:.1e} (tol {still:.0e}). {PROJECT}"
        )
