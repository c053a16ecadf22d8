"""What a limit study is asked: which constraints, made by what, over which strengths."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._declare.constraints import Bilateral, Unilateral
from zwang._declare.given import as_expression
from zwang._declare.switched import switched
from zwang._declare.symbols import parameters
from zwang._declare.system import System
from zwang._numerics.tolerances import name_of, names_in, real
from zwang._realize import Realization, realize
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
FEWEST = 3  # strengths through which a line has an uncertainty


@dataclass(frozen=True)
class Softened:
    """A system and the same one with some constraints made by forces of one strength, a parameter.

    Attributes
    ----------
    ideal, soft : System
    names : tuple of str
        Of the constraints that were realized.
    ways : mapping of str to realization
        With the parameter as their strength.
    strength : str
        Name of that parameter.
    backend : str
        Which backend computes both.
    """

    ideal: System
    soft: System
    names: tuple[str, ...]
    ways: Mapping[str, Any]
    strength: str
    backend: str = "native"

    @property
    def words(self) -> str:
        """What makes what: 'AB, BC by Stiffness'."""
        kinds: dict[str, list[str]] = {}
        for name in self.names:
            kinds.setdefault(type(self.ways[name]).__name__, []).append(name)
        return "; ".join(f"{', '.join(found)} by {kind}" for kind, found in kinds.items())

    def values(self, params: Mapping[Any, Any], strength: float, system: System | None = None) -> dict[str, Any]:
        """Return the parameters that the softened system still has, a restitution is none, and the strength."""
        known = {item.name for item in (system or self.soft).parameters}
        given = {name_of(key): value for key, value in params.items()}
        return {**{key: value for key, value in given.items() if key in known}, self.strength: strength}

    def own(self, params: Mapping[Any, Any] | None, system: System | None = None) -> dict[Any, Any]:
        """Return the parameters without those that only a realization has, in its weight or its energy."""
        known = {item.name for item in (system or self.ideal).parameters}
        more = {item.name for item in self.soft.parameters} - known
        return {key: value for key, value in (params or {}).items() if name_of(key) not in more}

    def constraint(self, name: str) -> Bilateral | Unilateral:
        """Return a realized constraint as it was declared."""
        item = self.ideal.constraints[name]
        assert isinstance(item, (Bilateral, Unilateral))  # realize has refused Friction
        return item

    @property
    def level(self) -> str:
        """'position' if a constraint on positions is among them: then there are fast oscillations."""
        levels = {self.constraint(name).level for name in self.names}
        return "position" if "position" in levels else "velocity"


def soften(system: System | Model, constraint: Any, by: Any) -> Softened:
    """Return the system with the constraints made by forces whose strength is a parameter of its own."""
    declared = system.system if isinstance(system, Model) else system
    if not isinstance(declared, System):
        raise DeclarationError(f"limit needs a System; it was given {system!r:.80}.")
    acting = [event for event in declared.events if event.then]
    if acting:
        raise DeclarationError(
            f"{declared.name}: event '{acting[0].name}' switches or resets, and a limit study follows one set of "
            "constraints. Leave the event out: system.replace(events=[])."
        )
    declared = switched(declared)
    taken = {item.name for item in (*declared.parameters, *declared.coordinates, *declared.velocities)}
    name = "strength"
    while name in taken:
        name += "_"
    symbol = parameters(name)
    names = tuple(names_in(constraint, "constraint", where=declared.name))
    if not names:
        raise DeclarationError(
            f"{declared.name}: no constraint was named. Name those to realize: {', '.join(declared.constraints.names)}."
        )
    given = by if isinstance(by, Mapping) else dict.fromkeys(names, by)
    ways = {key: _with_strength(declared, way, symbol) for key, way in given.items()}
    soft = realize(declared, names, by=ways if isinstance(by, Mapping) or len(names) > 1 else ways[names[0]])
    return Softened(declared, soft, names, ways, name, system.backend if isinstance(system, Model) else "native")


def _with_strength(system: System, by: Any, symbol: Any) -> Realization:
    """Return a realization with a parameter for its strength, from a class or from an instance that has none."""
    if isinstance(by, type):
        try:
            made: Realization = by(symbol)
        except TypeError as error:
            raise DeclarationError(
                f"{system.name}: by={by.__name__} can't be given a strength alone ({error}). Give an instance without "
                "a strength."
            ) from None
        return made
    if not callable(getattr(by, "soften", None)) or not hasattr(by, "strength"):
        raise DeclarationError(
            f"{system.name}: by= must be Stiffness, Viscosity, an instance of them without a strength, or an object "
            f"with a strength and a method soften(system, constraint, strength); it was given {by!r:.80}."
        )
    if by.strength is not None:
        given = as_expression(by.strength, f"{type(by).__name__}: strength")
        words = f"{float(given):g}" if given.is_number else str(given)
        raise DeclarationError(
            f"{system.name}: by={type(by).__name__} was given the strength {words}; a limit study tries several. "
            f"Leave it out here and give strengths=[...]."
        )
    if dataclasses.is_dataclass(by) and (first := dataclasses.fields(by)[0]).name in ("N", "rho", "strength"):
        instance: Any = by
        replaced: Realization = dataclasses.replace(instance, **{first.name: symbol})
        return replaced
    return _carrying(by, symbol)


def _carrying(by: Any, symbol: Any) -> Realization:
    """Return an object of the same name that softens with the symbol for its strength."""
    members = {
        "strength": symbol,
        "soften": lambda _, system, constraint, strength: by.soften(system, constraint, strength),
    }
    members |= {key: getattr(by, key) for key in ("level", "normal_force") if hasattr(by, key)}
    made: Realization = type(type(by).__name__, (), members)()
    return made


def read_strengths(name: str, strengths: Any) -> Array:
    """Return the strengths, rising; fewer than three or one that is not above zero is refused."""
    if isinstance(strengths, str) or not isinstance(strengths, Iterable):
        raise DeclarationError(f"{name}: strengths= must be a sequence of numbers; it was given {strengths!r:.80}.")
    values = np.array(sorted({real(item, "strengths", above=0, where=name) for item in strengths}))
    if len(values) < FEWEST:
        raise DeclarationError(
            f"{name}: a limit needs at least {FEWEST} different strengths to fit an order; {len(values)} given. "
            "Give decades, such as strengths=[1e3, 1e4, 1e5, 1e6]."
        )
    return values


def default_strengths(softened: Softened, mobility: float, span: float) -> Array:
    """Return decades of strength that fit the system: from a few periods, or relaxation times, in the span upwards.

    `mobility` is w M^-1 w^T (times the weight) at the start: the squared frequency, or the rate, is that times the
    strength.
    """
    if softened.level == "position":
        # 1e3 makes omega T about 30: five periods; seven decades more, 1e5 times as many, cost a tenth of a second.
        first = 1e3 / (mobility * span**2)
        decades = 8
    else:
        first, decades = 1e2 / (mobility * span), 7
    start = 10.0 ** round(np.log10(first))
    return np.asarray(start * 10.0 ** np.arange(decades))
