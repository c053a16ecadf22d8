"""`Workshop`: what a claim computes with. It hands out the gallery's systems, or those put in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from zwang import ContactProblem, Model, System, compile, contact_problem, gallery, hold, reactions
from zwang.errors import DeclarationError, nearest
from zwang.gallery.entry import Entry

__all__ = ["Workshop"]


class Workshop:
    """Gallery systems with their values, and how long a search may be.

    Parameters
    ----------
    systems : mapping of str to System, optional
        Gallery name -> system to take in its place. Its values and its state stay those of the gallery.
    full : bool
        Whether there is time for long searches.

    Attributes
    ----------
    asked : set of str
        The gallery systems that were handed out.

    Examples
    --------
    >>> shop = Workshop()
    >>> shop.ask("painleve_rod", mu=1.4).status.name
    'NONE'
    """

    def __init__(self, systems: Mapping[str, System] | None = None, *, full: bool = False) -> None:
        self.full = full
        self.asked: set[str] = set()
        self._systems = dict(systems or {})
        for name in self._systems:
            if name not in gallery.names():
                raise DeclarationError(f"The gallery has no '{name}'. {nearest(str(name), gallery.names())}")

    def entry(self, name: str) -> Entry:
        """Return an entry of the gallery, with its own system or the one that takes its place."""
        self.asked.add(name)
        entry = gallery.get(name)
        if name not in self._systems:
            return entry
        system = self._systems[name]
        return replace(entry, build=lambda: system)

    def system(self, name: str) -> System:
        """Return a system."""
        return self.entry(name).system

    def model(self, name: str) -> Model:
        """Return a compiled system."""
        return compile(self.system(name))

    def values(self, name: str, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the state and the parameters of an entry, some of them changed; arrays make a batch."""
        entry = gallery.get(name)
        unknown = set(changes) - set(entry.state) - set(entry.params) - {"t"}
        if unknown:
            known = [*entry.state, *entry.params]
            first = min(unknown)
            raise DeclarationError(f"'{name}' of the gallery has no value '{first}'. {nearest(first, known)}")
        state = {key: changes.get(key, value) for key, value in entry.state.items()}
        if "t" in changes:
            state["t"] = changes["t"]
        return state, {key: changes.get(key, value) for key, value in entry.params.items()}

    def ask(self, name: str, options: Mapping[str, Any] | None = None, /, **changes: Any) -> Any:
        """Return the reactions of a system, some values of its state or parameters changed.

        `options` are keyword arguments of `reactions`.
        """
        state, params = self.values(name, **changes)
        return reactions(self.model(name), state, params, **dict(options or {}))

    def held(self, name: str, constraints: list[str], slips: Mapping[str, float], **changes: Any) -> dict[str, Any]:
        """Return a state with some values changed, moved so that constraints are closed and slip as given."""
        state, params = self.values(name, **changes)
        fixed = [key for key in changes if key in state]
        return hold(self.model(name), state, params, constraints, fixed=fixed, slips=slips)

    def problem(self, name: str, **changes: Any) -> ContactProblem:
        """Return the arrays behind the question `ask`, for one state: mass, force, contacts with their rows."""
        state, params = self.values(name, **changes)
        return contact_problem(self.model(name), state, params)

    def many(self, quick: int, full: int) -> int:
        """Return how many cases a search shall look at."""
        return full if self.full else quick

    @staticmethod
    def rng(seed: int) -> np.random.Generator:
        """Return random numbers that are the same every time."""
        return np.random.default_rng(seed)
