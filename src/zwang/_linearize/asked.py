"""What a verb about nearby motions is asked: its system with inputs and switches said, one state, its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model, compile
from zwang._compile.given_inputs import Driven, with_inputs
from zwang._compile.given_values import Inputs, resolve
from zwang._declare.switched import taken_apart
from zwang._declare.system import System
from zwang._numerics.budget import Budget
from zwang._numerics.tolerances import by_name, name_of
from zwang._results.signals import Held
from zwang._simulate.options import (
    BUDGET,
    IMPACT_LAWS,
    MotionOptions,
    check_tol,
    check_until,
    check_word,
    events_of,
)
from zwang.errors import DeclarationError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MotionQuestion:
    """A system and one state of it.

    Attributes
    ----------
    model : Model
        Without inputs: parameters stand for them.
    declared : System
    given : Inputs
    driven : Driven or None
    on : tuple of str or None
        The constraints that are switched on.
    drawing : mapping
    """

    model: Model
    declared: System
    given: Inputs
    driven: Driven | None
    on: tuple[str, ...] | None
    drawing: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Of the system."""
        return self.model.system.name

    @property
    def params(self) -> dict[str, float]:
        """The parameters by name, without those that stand for inputs."""
        own = frozenset() if self.driven is None else self.driven.own
        named = zip(self.model.system.parameters, self.given.params[:, 0], strict=True)
        return {item.name: float(value) for item, value in named if item.name not in own}

    def started(self, t: float, q: Array, v: Array) -> Inputs:
        """Return another start, with what inputs are there."""
        params = self.given.params
        if self.driven is not None and self.driven.changing:
            system = self.model.system
            state = {
                "t": t,
                **dict(zip((item.name for item in (*system.coordinates, *system.velocities)), (*q, *v), strict=True)),
            }
            there = self.driven.values_at(state)
            params = np.array(
                [[there.get(item.name, own)] for item, own in zip(system.parameters, params[:, 0], strict=True)]
            )
        return Inputs(np.array([t]), q[:, None].copy(), v[:, None].copy(), params, ())

    def options(
        self,
        *,
        until: Any,
        tol: Any,
        events: Iterable[Any] = (),
        impact: str | None = None,
        budget: Any = None,
        usual: Budget = BUDGET,
    ) -> MotionOptions:
        """Return the options of a motion, checked."""
        name, start = self.name, float(self.given.t[0])
        found = MotionOptions(
            until=check_until(name, until, start),
            tol=check_tol(name, tol),
            events=events_of(self.model.system, events, self.declared, self.driven),
            impact=None if impact is None else check_word(name, "impact", impact, IMPACT_LAWS),
            budget=usual.but(name, budget),
            on=self.on,
            drawing=self.drawing,
            driven=self.driven,
        )
        if self.driven is not None:
            self.driven.require(start, found.until)
        return found


ALONG = ("periodic", "cycles", "lyapunov", "sensitivity", "fit")
"""Verbs that carry nearby motions along a motion."""


def asked(
    verb: str,
    system: Any,
    state: Any,
    params: Mapping[Any, Any] | None,
    inputs: Mapping[Any, Any] | None,
    backend: str,
) -> MotionQuestion:
    """Return what is asked of one state; mistakes are told in the verb's name."""
    if not isinstance(system, (System, Model)):
        raise DeclarationError(f"{verb} needs a System or a Model; it was given {system!r:.80}.")
    shown = (system.system if isinstance(system, Model) else system).drawing
    model = compile(system, system.backend if isinstance(system, Model) else backend)
    declared = model.system
    state, on = taken_apart(declared, state)
    model, params, driven = with_inputs(model, state, params, inputs)
    signals = {} if driven is None or verb not in ALONG else driven.signals
    held = [name for name, signal in signals.items() if isinstance(signal, Held)]
    if held:
        raise DeclarationError(
            f"{declared.name}: {verb} needs derivatives of the motion, and input '{held[0]}' is a Held function of the "
            "state, of which none are known. Declare it as an expression of the state among the forces, or give a "
            "number, an expression of t or a Table."
        )
    given = resolve(model.system, state, params)
    if given.shape:
        raise DeclarationError(
            f"{declared.name}: {verb} takes one state and one value of each parameter; arrays were given. Use "
            f"sweep('{verb}', ...) for many."
        )
    return MotionQuestion(model, declared, given, driven, on, {} if shown is None else shown.to_dict())


def steady_rates(system: System, steady: Any, *, cyclic: bool = False) -> dict[str, Any]:
    """Return the coordinates that are named and the rates where they are given, else None.

    They need not return, or turn uniformly; then they are `cyclic`, and nothing may depend on them.
    """
    single = isinstance(steady, str) or not isinstance(steady, Iterable)
    rates = (
        steady if isinstance(steady, Mapping) else {name_of(item): None for item in ([steady] if single else steady)}
    )
    known = {item.name: item for item in system.coordinates}
    found = by_name(rates, "steady=", known, where=system.name, no="which is no coordinate")
    for name in found if cyclic else ():
        for where, expr in system.expressions().items():
            if known[name] in expr.free_symbols:
                raise DeclarationError(
                    f"{system.name}: steady= has '{name}', but {where} depends on it: it is not cyclic, and the state "
                    "changes as it turns. Leave it out, or ask periodic(...)."
                )
    return found


def steady_numbers(system: System, steady: Any, *, cyclic: bool = False) -> frozenset[int]:
    """Return the numbers of the coordinates that are named, as `steady_rates` reads them."""
    names = [item.name for item in system.coordinates]
    return frozenset(names.index(name) for name in steady_rates(system, steady, cyclic=cyclic))
