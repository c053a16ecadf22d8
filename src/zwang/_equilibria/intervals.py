"""Rest with friction along an arc of the configuration space: where the forces reach their bounds, located."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._equilibria.reserve import FINE, asked, reserve
from zwang._numerics.budget import spend
from zwang._results.configuration_arc import Branch
from zwang._results.equilibria import EquilibriumInterval

Array = NDArray[np.float64]
SAMPLES = 160
"""Places at which an arc is looked at first."""
INSIDE = 12
"""Places inside an interval at which it is asked whether it must hold."""
REACH = 8.0
"""Times what it rises between samples by which a reserve may be higher between them."""
LOCATED = 1e-13
"""To which part of its length an end is located."""
BESIDE = 1e-6
"""Part of the way to a sample outside at which it is asked why rest ends."""
BOUNDS, TURNS, WAY = "the forces reach their bounds", "must turns into may", "a contact closes"


@dataclass(frozen=True, eq=False)
class RestingArc:
    """An arc along which some contacts are closed.

    Attributes
    ----------
    model : Model
    params : mapping
    branch : Branch
        Of the configuration space.
    closed : tuple of str
    fixed : mapping
        Coordinates and velocities that the arc doesn't have: those of steady coordinates.
    flat : bool
        Whether friction is along lines, so that linear programs say by how much forces are inside their bounds.
    """

    model: Model
    params: Mapping[str, float]
    branch: Branch
    closed: tuple[str, ...]
    fixed: Mapping[str, float]
    flat: bool

    def state(self, at: float) -> dict[str, float]:
        """Return the state of the system at a length of the arc."""
        place = self.branch.state(at=at)
        own = (*self.model.system.coordinates, *self.model.system.velocities)
        return {item.name: float(self.fixed.get(item.name, place.get(item.name, 0.0))) for item in own} | {"t": 0.0}

    def reserve(self, at: float) -> float:
        """Return by how much the forces are inside their bounds there."""
        spend(1)
        if self.flat:
            return reserve(self.model, self.state(at), self.params)
        return 1.0 if asked(self.model, self.state(at), self.params)[0] else -1.0

    def holds(self, at: float) -> str:
        """Return whether rest must, may or can't be there."""
        spend(1)
        return asked(self.model, self.state(at), self.params, tol=FINE)[0] or "undecided"

    def intervals(self) -> list[EquilibriumInterval]:
        """Return the intervals of rest, those that must hold apart from those that may."""
        found = []
        for low, high, ends in self._spans():
            found += self._split(low, high, ends)
        return found

    def _spans(self) -> list[tuple[float, float, tuple[str, str]]]:
        """Return from where to where the forces are inside their bounds, and why it ends there."""
        length = self.branch.length
        # A little off the ends, where a contact that closes there is not closed yet.
        grid = np.linspace(0.0, length, SAMPLES + 1)
        values = np.array([self.reserve(float(at)) for at in grid])
        if self.flat:
            grid, values = self._peaks(grid, values)
        good = values >= 0
        own = tuple(end.kind if end.name is None else f"{end.kind} ({end.name})" for end in self.branch.ends)
        spans: list[tuple[float, float, tuple[str, str]]] = []
        start: tuple[float, str] | None = (0.0, own[0]) if good[0] else None
        for k in range(1, len(grid)):
            if good[k] != good[k - 1]:
                at = self._edge(float(grid[k - 1]), float(grid[k]), bool(good[k - 1]))
                if good[k]:
                    start = (at, self._why(at, float(grid[k - 1])))
                elif start is not None:
                    spans.append((start[0], at, (start[1], self._why(at, float(grid[k])))))
                    start = None
        if start is not None:
            spans.append((start[0], length, (start[1], own[1])))
        if self.branch.closed and len(spans) > 1 and good[0] and good[-1]:  # one that goes through the arc's start
            first, last = spans[0], spans.pop()
            spans[0] = (last[0], first[1] + length, (last[2][0], first[2][1]))
        return spans

    def _peaks(self, grid: Array, values: Array) -> tuple[Array, Array]:
        """Return the samples with those added at which a reserve that is negative on both sides is largest."""
        from scipy.optimize import minimize_scalar

        more = []
        for k in range(1, len(grid) - 1):
            if not np.isfinite(values[k]):
                continue
            rise = values[k] - min(values[k - 1], values[k + 1])
            peak = values[k] >= values[k - 1] and values[k] >= values[k + 1]
            if values[k] < 0 and peak and -values[k] < REACH * rise < np.inf:
                found = minimize_scalar(
                    lambda at: -self.reserve(float(at)), bounds=(grid[k - 1], grid[k + 1]), method="bounded",
                    options={"xatol": 1e-9 * float(grid[-1] - grid[0])},
                )  # fmt: skip
                if -found.fun >= 0:
                    more.append((float(found.x), float(-found.fun)))
        if not more:
            return grid, values
        places = np.concatenate([grid, [at for at, _ in more]])
        order = np.argsort(places)
        return places[order], np.concatenate([values, [value for _, value in more]])[order]

    def _why(self, at: float, outside: float) -> str:
        """Return why rest ends at a length: beside it forces balance that are too large, or something is in the way."""
        return BOUNDS if np.isfinite(self.reserve(at + BESIDE * (outside - at))) else WAY

    def _edge(self, low: float, high: float, good: bool) -> float:
        """Return where the reserve changes its sign between two lengths."""
        return bisected(lambda at: (self.reserve(at) >= 0) == good, low, high)

    def _like(self, word: str) -> Callable[[float], bool]:
        return lambda at: self.holds(at) == word

    def _split(self, low: float, high: float, ends: tuple[str, str]) -> list[EquilibriumInterval]:
        """Return an interval cut where must turns into may."""
        inner = low + (high - low) * (np.arange(INSIDE) + 0.5) / INSIDE if high > low else np.array([low])
        words = [self.holds(float(at)) for at in inner]
        cuts: list[tuple[float, str]] = []
        for k in range(1, len(inner)):
            if words[k] != words[k - 1]:
                at = bisected(self._like(words[k - 1]), float(inner[k - 1]), float(inner[k]))
                cuts.append((at, words[k]))
        places = [low, *(at for at, _ in cuts), high]
        reasons = [ends[0], *([TURNS] * len(cuts)), ends[1]]
        kinds = [words[0], *(word for _, word in cuts)]
        return [
            EquilibriumInterval(
                ends=(self.state(places[k]), self.state(places[k + 1])),
                holds=kinds[k],
                closed=self.closed,
                arc=self.branch.number,
                span=(places[k], places[k + 1]),
                reasons=(reasons[k], reasons[k + 1]),
            )
            for k in range(len(kinds))
        ]


def bisected(like_low: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a property changes that holds at `low` and not at `high`.

    Examples
    --------
    >>> round(bisected(lambda x: x * x < 2, 1.0, 2.0), 12)
    1.414213562373
    """
    reach = LOCATED * max(abs(low), abs(high), high - low)
    while high - low > reach:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if like_low(middle) else (low, middle)
    return (low + high) / 2
