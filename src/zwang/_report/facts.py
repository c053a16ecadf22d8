"""Facts of the gallery, asked of the general verbs: what is known in closed form beside what is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang._compile import Model, compile
from zwang._declare.numeric_values import numbers_of
from zwang._derive import derive
from zwang._reactions.holding import hold
from zwang._reactions.verb import reactions
from zwang._results.evaluation import Evaluation
from zwang.gallery.entry import Entry, Fact

AGREES = 1e-8
"""Relative difference up to which a computed value agrees with its closed form."""


@dataclass(frozen=True)
class FactCheck:
    """A fact beside its computed value.

    Attributes
    ----------
    name : str
    fact : Fact
    expected, computed : arrays or None
        None for what no verb was asked.
    error : float
        The largest difference, relative to the largest expected number (to 1 if that is 0); nan where nothing was
        computed.
    """

    name: str
    fact: Fact
    expected: Any
    computed: Any
    error: float

    @property
    def agrees(self) -> bool | None:
        """Whether they agree; None where nothing was computed."""
        return None if self.computed is None else bool(self.error <= AGREES)


class Asked:
    """An entry of the gallery and what the verbs say about it."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry

    @cached_property
    def model(self) -> Model:
        """The compiled system."""
        return compile(self.entry.system)

    @cached_property
    def evaluation(self) -> Evaluation:
        """The equations at the entry's state, with the bilateral constraints active."""
        return self.model.evaluate(self.entry.state, self.entry.params)

    @cached_property
    def reactions(self) -> Any:
        """Every reaction at the entry's state."""
        return self.ask()

    def ask(self, state: Mapping[str, Any] | None = None, params: Mapping[str, Any] | None = None) -> Any:
        """Return the reactions with some values changed."""
        return reactions(self.model, {**self.entry.state, **(state or {})}, {**self.entry.params, **(params or {})})

    def held(self, name: str, slip: float, **state: float) -> dict[str, Any]:
        """Return the entry's state with some values changed, on a constraint that slips with a given velocity."""
        start = {**self.entry.state, **state}
        return hold(self.model, start, self.entry.params, [name], fixed=[*state, "theta"], slips={name: slip})

    def multiplier(self, state: Mapping[str, float], **params: float) -> Any:
        """Return the first multiplier, without friction, with some values changed."""
        found = self.model.evaluate({**self.entry.state, **state}, {**self.entry.params, **params})
        return next(iter(found.multipliers.values()))

    def point(self, name: str) -> tuple[float, float]:
        """Return where a point of the drawing is at the entry's state."""
        places = self.entry.drawing.places({**self.entry.state, **self.entry.params})[0]
        x, y = places[list(self.entry.drawing.points).index(name)]
        return float(x), float(y)

    def derived(self, part: str, invert: bool = False) -> Any:
        """Return a matrix of the derived equations as numbers at the entry's state and parameters."""
        matrix = getattr(derive(self.entry.system), part)
        values = {**self.entry.state, **self.entry.params, "t": 0.0}
        found = np.array(numbers_of(list(matrix), values), dtype=float).reshape(matrix.shape)
        return np.linalg.inv(found) if invert else found


class _UnansweredError(Exception):
    """A fact was asked of a verb that found no solution."""


def _first(asked: Asked) -> Any:
    if not asked.reactions.solutions:
        raise _UnansweredError
    return asked.reactions.solutions[0]


def _paradox_friction(asked: Asked, low: float, high: float) -> float:
    """Return the coefficient of friction at which the one solution is lost, by halving an interval."""
    for _ in range(60):
        middle = (low + high) / 2
        one = asked.ask(params={"mu": middle}).status.name == "UNIQUE"
        low, high = (middle, high) if one else (low, middle)
    return low


def _spinning(asked: Asked) -> Any:
    return asked.ask(asked.held("tip", -1.0, v_theta=4.0), {"mu": 1.4})


def _second(asked: Asked) -> Any:
    pushes = asked.entry.facts["second_pushes"].value
    return asked.ask(params={f"P{i + 1}": push for i, push in enumerate(pushes)}).solutions[0]


Check = Callable[[Asked], Any]
CHECKS: dict[str, dict[str, Check]] = {
    "andrews": {
        "accelerations": lambda a: a.evaluation.accelerations,
        "multipliers": lambda a: list(a.evaluation.multipliers.values()),
    },
    "atwood": {
        "tension": lambda a: _first(a).normal[0],
        "friction": lambda a: abs(_first(a).tangential[0]),
        "acceleration": lambda a: _first(a).acceleration[0],
    },
    "atwood_changing_length": {
        "tension": lambda a: _first(a).normal[0],
        "acceleration": lambda a: _first(a).acceleration[0],
    },
    "circle_particle": {"reaction": lambda a: _first(a).normal[0]},
    "crossing": {"multiplier": lambda a: a.multiplier({"x": 0.0, "y": 0.1, "v_x": 1.0, "v_y": 0.0}, eps=0.01)},
    "four_bar": {"crank_acceleration": lambda a: a.evaluation.accelerations[0]},
    "freewheel": {"driver_acceleration": lambda a: _first(a).acceleration[0]},
    "incline_block": {
        "normal_force": lambda a: _first(a).normal[0],
        "friction": lambda a: _first(a).tangential[0],
    },
    "kozlov_neishtadt": {
        "reaction": lambda a: _first(a).normal[0],
        "acceleration": lambda a: _first(a).acceleration,
    },
    "ladder": {
        "mass": lambda a: a.derived("mass"),
        "inverse_mass": lambda a: a.derived("mass", invert=True),
        "normals": lambda a: a.derived("rows"),
        "tangents": lambda a: a.derived("slip_rows"),
        "floor_force_range": lambda a: _first(a).ranges["floor"]["normal"],
    },
    "painleve_rod": {
        "normal_force": lambda a: _first(a).normal[0],
        "paradox_friction": lambda a: _paradox_friction(a, 1.0, 2.0),
        "normal_force_spinning": lambda a: max(item.normal[0] for item in _spinning(a).solutions),
        "gap_acceleration_spinning": lambda a: max(item.gap_acceleration[0] for item in _spinning(a).solutions),
    },
    "painleve_rod_tip": {
        "mass": lambda a: a.derived("mass"),
        "inverse_mass": lambda a: a.derived("mass", invert=True),
        "normal_force": lambda a: _first(a).normal[0],
    },
    "pyramid": {
        "mass": lambda a: a.derived("mass"),
        "inverse_mass": lambda a: a.derived("mass", invert=True),
        "acceleration": lambda a: _first(a).acceleration,
        "friction": lambda a: _first(a).tangential,
        "second_acceleration": lambda a: _second(a).acceleration,
        "second_friction": lambda a: _second(a).tangential,
    },
    "sleigh_ahead": {"blade_force": lambda a: _first(a).normal[0]},
    "sleigh_incline": {"blade_force": lambda a: _first(a).normal[0]},
    "slider_crank": {
        "slider_position": lambda a: a.point("C")[0],
    },
    "speed_limit": {"reaction": lambda a: _first(a).normal[0]},
    "stack": {"pair_forces": lambda a: _first(a).normal.reshape(-1, 2).sum(axis=1)},
    "tangency": {
        "multiplier": lambda a: a.multiplier({"x": 0.0, "y": 0.1, "v_x": 1.0, "v_y": 0.0}, eps=0.01),
        "multiplier_negative": lambda a: a.multiplier({"x": 0.01**0.25, "y": 0.0, "v_x": 0.0, "v_y": 1.0}, eps=-0.01),
    },
    "two_particles": {"acceleration": lambda a: _first(a).acceleration},
    "two_skates": {"reactions": lambda a: _first(a).normal},
}


def compare(asked: Asked) -> tuple[FactCheck, ...]:
    """Return every fact of an entry, computed where a verb that exists answers the question.

    Examples
    --------
    >>> import zwang as zw
    >>> for item in compare(Asked(zw.gallery.get("sleigh_ahead"))):
    ...     print(item.name, item.agrees)
    release_time None
    release_spin None
    blade_force True
    """
    checks = CHECKS.get(asked.entry.name, {})
    found = []
    for name, fact in asked.entry.facts.items():
        try:
            computed = checks[name](asked) if name in checks else None
        except _UnansweredError:
            computed = None
        found.append(_comparison(asked, name, fact, computed))
    return tuple(found)


def _comparison(asked: Asked, name: str, fact: Fact, computed: Any) -> FactCheck:
    if computed is None:
        return FactCheck(name, fact, None, None, math.nan)
    value = fact.value
    if isinstance(value, sp.MatrixBase):
        values = {**asked.entry.state, **asked.entry.params}
        value = np.array(numbers_of(list(value), values), dtype=float).reshape(value.shape)
    expected, got = np.asarray(value, dtype=float), np.asarray(computed, dtype=float)
    size = float(np.abs(expected).max(initial=0.0)) or 1.0
    return FactCheck(name, fact, expected, got, float(np.abs(got - expected).max()) / size)
