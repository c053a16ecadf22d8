"""Perturbations: which constraint, by what.

A name: expr = eps. An expression g(q, eps): g = 0, where g(q, 0) is the constraint's own. Next to the point g = 0 is
solved for eps, eps = E(q), so that the perturbed curves are the level lines of E. The rows of g at a point of the curve
of eps are its own, dg/dq = K dE/dq with K = -dg/deps at eps = E(q), and so is the bias, K times that of E: multipliers
stay those of g.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from zwang._asymptotics.inputs import held_constraints, read_expression
from zwang._declare.declaration_reader import Reader
from zwang._declare.given import Text, as_expression
from zwang._declare.numeric_values import Evaluator
from zwang._declare.symbols import SmallParameter, eps
from zwang._declare.system import System
from zwang.errors import DeclarationError

SAME = 1e-9
"""Relative difference below which expressions agree at a place."""
PLACES = ((0.31, -0.47, 0.73, 0.19), (-0.83, 0.59, 0.11, -0.29), (0.67, 0.23, -0.37, 0.97))
"""Values of symbols at which expressions are compared; more symbols take them in turn, a little apart."""


@dataclass(frozen=True)
class Perturbation:
    """What replaces a constraint.

    Attributes
    ----------
    name : str
        Of the constraint.
    text : str
        What stands in its place, for people.
    level : expression or None
        E(q), whose values are eps; None where the constraint's own expression is.
    factor : expression or None
        K(q), by which rows and bias of E are those of the perturbed constraint.
    """

    name: str
    text: str
    level: Any = None
    factor: Any = None

    def system(self, system: System) -> System:
        """Return the system with the level in the place of the constraint's expression."""
        if self.level is None:
            return system
        changed = [
            replace(item, expr=self.level) if str(item.name) == self.name else item for item in system.constraints
        ]
        return system.replace(constraints=changed)


def perturbation_of(
    system: System, given: Any, point: Mapping[Any, float], params: Mapping[Any, float]
) -> Perturbation:
    """Return what perturb= asks for: a constraint by name, an expression with eps, or a name with an expression.

    `point` and `params` have the values of coordinates and parameters next to which g = 0 is solved for eps.
    """
    if isinstance(given, Mapping):
        if len(given) != 1:
            raise DeclarationError(f"{system.name}: perturb= as a mapping names one constraint; it has {len(given)}.")
        ((name, expr),) = given.items()
        return _solved(system, _named(system, name), _read(system, expr), point, params)
    if isinstance(given, str) and (given in system.constraints.names or _is_a_word(given)):
        return Perturbation(_named(system, given), f"{given} = eps")
    expr = _read(system, given)
    return _solved(system, _meant(system, expr, params), expr, point, params)


def _is_a_word(text: str) -> bool:
    return text.replace(" ", "_").isidentifier() and text.strip() != eps.name


def _named(system: System, name: Any) -> str:
    held = [str(item.name) for item in held_constraints(system)]
    if name not in held:
        system.constraints.place(name)
        raise DeclarationError(
            f"{system.name}: '{name}' is no bilateral constraint on positions; perturb= can name {', '.join(held)}."
        )
    return str(name)


def _read(system: System, given: Any) -> Any:
    """Return an expression of coordinates, parameters and eps; a text's 'eps' is that, unless the system has one."""
    own = {item.name for item in system.parameters}
    expr = as_expression(given, f"{system.name}: perturb")
    if isinstance(expr, Text):
        reader = Reader(system.name, system.coordinates, system.expressions().values())
        expr = reader.text(expr.name, "perturb", {} if eps.name in own else {eps.name: eps})
    for symbol in expr.free_symbols:
        if not isinstance(symbol, SmallParameter):
            read_expression(system, symbol, "perturb")  # says which symbols there are
    if eps not in expr.free_symbols:
        raise DeclarationError(
            f"{system.name}: perturb={expr} has no small parameter. Write it with zw.eps, as in "
            f"{held_constraints(system)[0].expr} - zw.eps, or give the name of a constraint."
        )
    return expr


def _meant(system: System, expr: Any, params: Mapping[Any, float]) -> str:
    """Return the constraint that an expression becomes for eps = 0; where that is zero, the only constraint."""
    held = held_constraints(system)
    bare = expr.subs(eps, 0)
    if bare == 0 and len(held) == 1:
        return str(held[0].name)
    for item in held:
        if _agree(bare, item.expr, system, params):
            return str(item.name)
    listed = ", ".join(f"'{item.name}' ({item.expr})" for item in held[:4])
    raise DeclarationError(
        f"{system.name}: perturb={expr} is none of the constraints for eps = 0: {listed}. Write the expression of one "
        "of them with terms that vanish with zw.eps, or name it: perturb={name: expression}."
    )


def _agree(a: Any, b: Any, system: System, params: Mapping[Any, float]) -> bool:
    first, second = Evaluator(a), Evaluator(b)
    for place in PLACES:
        values = {**params, **{q: place[k % 4] + 0.01 * (k // 4) for k, q in enumerate(system.coordinates)}}
        x, y = first(values), second(values)
        if x is None or y is None or abs(x - y) > SAME * (1 + abs(x) + abs(y)):
            return False
    return True


def _solved(
    system: System, name: str, expr: Any, point: Mapping[Any, float], params: Mapping[Any, float]
) -> Perturbation:
    """Return the perturbation with g = 0 solved for eps, on the branch that vanishes at the point."""
    held = next(item for item in held_constraints(system) if str(item.name) == name)
    g = held.expr - expr if expr.subs(eps, 0) == 0 else expr
    text = f"{name}: {g} = 0"
    values = {**params, **point}
    push = Evaluator(sp.diff(g, eps).subs(eps, 0))(values)
    if push is None or abs(push) < SAME:
        raise DeclarationError(
            f"{system.name}: perturb={expr}: its part of the first order in eps vanishes at the point, which stays on "
            "the perturbed curves. Perturb by what doesn't vanish there."
        )
    for level in _levels(g):
        here = Evaluator(level)(values)
        if here is not None and abs(here) < 1e-6:
            return Perturbation(name, text, level, -sp.diff(g, eps).subs(eps, level))
    raise DeclarationError(
        f"{system.name}: perturb={expr} could not be solved for eps next to the point. Give an expression that is "
        "linear in zw.eps."
    )


def _levels(g: Any) -> Sequence[Any]:
    """Return the solutions E(q) of g(q, E) = 0 that can be written down."""
    slope = sp.diff(g, eps)
    if eps not in slope.free_symbols:
        return [-g.subs(eps, 0) / slope]
    try:
        return [item for item in sp.solve(g, eps) if eps not in item.free_symbols]
    except NotImplementedError:
        return []
