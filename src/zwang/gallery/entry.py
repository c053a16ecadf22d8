"""What the gallery holds: systems with values, a valid state, facts known in closed form, and their source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import sympy as sp

from zwang._declare.drawing import Drawing
from zwang._declare.frozen import Frozen
from zwang._declare.system import System


@dataclass(frozen=True)
class Fact:
    """Something known about a system, computed from a closed form.

    Attributes
    ----------
    value : float, or tuples of float
        At the entry's parameters and state, unless the statement says otherwise; SI units.
    statement : str
        What it is, in one sentence.
    source : str
        Where it comes from.
    formula : matrix or None
        The same in the symbols of the system, where the fact is a matrix.
    """

    value: Any
    statement: str
    source: str
    formula: Any = None


@dataclass(frozen=True, repr=False)
class Entry:
    """A system of the gallery with everything that is needed to ask it questions.

    Attributes
    ----------
    name, title, source : str
    params, state : mapping of str to float
        Values for every parameter, and for every coordinate ``x`` and velocity ``v_x``; the state satisfies the
        constraints.
    facts : mapping of str to Fact

    Examples
    --------
    >>> import zwang as zw
    >>> rod = zw.gallery.get("painleve_rod")
    >>> rod
    Entry 'painleve_rod': rod that slides on its tip (Painlevé)
    >>> round(rod.facts["smallest_paradox_friction"].value, 12)
    1.333333333333
    """

    name: str
    title: str
    build: Callable[[], System] = field(compare=False)
    params: Mapping[str, float]
    state: Mapping[str, float]
    facts: Mapping[str, Fact]
    source: str

    def __post_init__(self) -> None:
        for attribute in ("params", "state", "facts"):
            object.__setattr__(self, attribute, Frozen(getattr(self, attribute)))

    @cached_property
    def system(self) -> System:
        """The system, built when it is first asked for."""
        return self.build()

    @property
    def drawing(self) -> Drawing:
        """What pictures of the system show."""
        found = self.system.drawing
        assert found is not None, self.name
        return found

    def __getstate__(self) -> dict[str, Any]:
        """Travel by data: the system itself, in place of the function that makes it."""
        return {item.name: getattr(self, item.name) for item in fields(self)} | {"build": Ready(self.system)}

    def __repr__(self) -> str:
        return f"Entry '{self.name}': {self.title}"


@dataclass(frozen=True)
class Ready:
    """A function without arguments that returns what was made already."""

    made: Any

    def __call__(self) -> Any:
        """Return it."""
        return self.made


def matrix_fact(rows: Any, values: Mapping[str, float], statement: str, source: str) -> Fact:
    """Return a fact that is a matrix of expressions, with its value where the symbols have these values."""
    formula = sp.ImmutableMatrix(rows)
    numbers = formula.subs({symbol: values[symbol.name] for symbol in formula.free_symbols})
    return Fact(tuple(tuple(float(item) for item in row) for row in numbers.tolist()), statement, source, formula)


def named(names: str, *values: float) -> dict[str, float]:
    """Return values by name, the names in one text separated by blanks."""
    return {name: float(value) for name, value in zip(names.split(), values, strict=True)}


def at_rest(**coordinates: float) -> dict[str, float]:
    """Return a state with these coordinates and no velocity."""
    return moving(coordinates, {})


def moving(coordinates: Mapping[str, float], velocities: Mapping[str, float]) -> dict[str, float]:
    """Return a state: coordinates by name, velocities by the name of their coordinate, zero where not given."""
    speeds = {f"v_{name}": float(velocities.get(name, 0.0)) for name in coordinates}
    return {**{name: float(value) for name, value in coordinates.items()}, **speeds}
