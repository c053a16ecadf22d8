"""Branches of equilibria over a parameter: arcs of the auxiliary space, with folds, crossings and Hopf points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._equilibria.intervals import bisected
from zwang._equilibria.stability import ERROR, StabilityVerdict, free_of_trivial, stability_at
from zwang._equilibria.statics import Statics
from zwang._numerics.budget import spend
from zwang._results.configuration import ConfigurationSpace
from zwang._results.configuration_arc import Branch
from zwang._results.equilibria import EquilibriumBranch, EquilibriumSpecial

Array = NDArray[np.float64]
SAMPLES = 48
"""Places along an arc at which stability is looked at."""
BESIDE = 1e-4
"""Part of a branch's size by which an extremum of the parameter may be off, which goes like the square around it."""


@dataclass(eq=False)
class BranchSearch:
    """What is found along the arcs of one set of closed contacts.

    Attributes
    ----------
    model : Model
    params : mapping
        Without the one that is varied.
    statics : Statics
    steady : mapping
    admissible : callable
        Whether a point of the auxiliary space is an equilibrium: signs of multipliers, gaps.
    """

    model: Model
    params: Mapping[str, float]
    statics: Statics
    steady: Mapping[str, float | None]
    admissible: Callable[[Mapping[str, float]], bool]
    branches: list[EquilibriumBranch] = field(default_factory=list)
    folds: list[EquilibriumSpecial] = field(default_factory=list)
    crossings: list[EquilibriumSpecial] = field(default_factory=list)
    hopfs: list[EquilibriumSpecial] = field(default_factory=list)

    def look(self, space: ConfigurationSpace, first: int) -> None:
        """Look along every arc; numbers of branches begin with `first`."""
        numbers: dict[int, int] = {}
        for arc in space.branches:
            for low, high in self._spans(arc):
                number = first + len(self.branches)
                numbers[arc.number] = number
                self._along(arc, low, high, number)
        for point in space.singular_points:
            place = dict(point.state)
            if self.statics.beyond(place, 2.0):
                continue
            if self.admissible(place):
                met = tuple(sorted({numbers[half.arc] for half in point.branches if half.arc in numbers}))
                self.crossings.append(self._special("crossing", place, met))
        # A branch that leaves a crossing at a right angle to the parameter (a pitchfork) has no fold there.
        self.folds = [fold for fold in self.folds if not any(self._same_place(fold, one) for one in self.crossings)]

    def _same_place(self, fold: EquilibriumSpecial, crossing: EquilibriumSpecial) -> bool:
        branch = next(one for one in self.branches if one.number in fold.branches)
        if abs(fold.value - crossing.value) > BESIDE**2 * float(np.abs(branch.values).max()):
            return False
        apart = {name: abs(float(value) - float(crossing.state[name])) for name, value in fold.state.items()}
        for item in self.model.system.coordinates:
            if item.angle:
                turned = apart[item.name] % (2 * np.pi)
                apart[item.name] = min(turned, 2 * np.pi - turned)
        return max(apart.values()) <= BESIDE * float(np.abs(branch.positions).max(initial=0.0))

    def _special(
        self, kind: str, place: Mapping[str, float], met: tuple[int, ...], frequency: float = float("nan")
    ) -> EquilibriumSpecial:
        value = self.statics.value(place, self.statics.vary)
        return EquilibriumSpecial(
            kind=kind, value=value, state=self.statics.state(place), branches=met, frequency=frequency
        )

    def _spans(self, arc: Branch) -> list[tuple[float, float]]:
        """Return the parts of an arc that are equilibria."""
        grid = np.linspace(0.0, arc.length, SAMPLES + 1)
        good = [self.admissible(arc.state(at=float(at))) for at in grid]
        spans, start = [], 0.0 if good[0] else None
        for k, (before, now) in enumerate(pairwise(good)):
            if before == now:
                continue
            at = bisected(self._like(arc, before), float(grid[k]), float(grid[k + 1]))
            if now:
                start = at
            elif start is not None:
                spans.append((start, at))
                start = None
        return [*spans, (start, arc.length)] if start is not None else spans

    def _like(self, arc: Branch, good: bool) -> Callable[[float], bool]:
        return lambda at: self.admissible(arc.state(at=at)) == good

    def _along(self, arc: Branch, low: float, high: float, number: int) -> None:
        grid = np.linspace(low, high, SAMPLES + 1)
        places = [arc.state(at=float(at)) for at in grid]
        # The ends may be singular: what is there is said at places beside them.
        inside = np.clip(grid, low + 1e-6 * (high - low), high - 1e-6 * (high - low))
        verdicts = [self._verdict(arc, float(at)) for at in inside]
        rates = [name for name in self.statics.rates.values() if isinstance(name, str)]
        system = self.model.system
        names = [*(item.name for item in system.coordinates if item.name not in self.steady), *rates]
        self.branches.append(
            EquilibriumBranch(
                number=number,
                values=np.array([self.statics.value(place, self.statics.vary) for place in places]),
                positions=np.array([[self.statics.value(place, name) for name in names] for place in places]),
                names=tuple(f"v_{name.removeprefix('rate_')}" if name in rates else name for name in names),
                stability=tuple(verdict.stability for verdict in verdicts),
            )
        )
        self._folds(arc, grid, number)
        self._hopfs(arc, inside, verdicts, number)

    def _verdict(self, arc: Branch, at: float) -> StabilityVerdict:
        spend(1)
        place = arc.state(at=at)
        params = {**self.params, self.statics.vary: self.statics.value(place, self.statics.vary)}
        return stability_at(self.model, self.statics.state(place), params, self.steady, self.statics.closed)

    def _folds(self, arc: Branch, grid: Array, number: int) -> None:
        column = arc.coordinates.index(self.statics.vary)

        def slope(at: float) -> float:
            return float(arc.tangent(at)[column])

        fine = np.linspace(grid[0], grid[-1], 4 * SAMPLES + 1)
        # One that falls on a sample has a slope of zero there, and other signs on its two sides.
        steep = [(float(at), value) for at in fine if (value := slope(float(at))) != 0.0]
        for (first, before), (second, now) in pairwise(steep):
            if before * now < 0:
                at = bisected(_same_sign(slope, before), first, second)
                self.folds.append(self._special("fold", arc.state(at=at), (number,)))

    def _hopfs(self, arc: Branch, grid: Array, verdicts: list[StabilityVerdict], number: int) -> None:
        pairs = [self._pairs(verdict) for verdict in verdicts]
        least = [0.0 if one.eigenvalues is None else _small(one.eigenvalues) for one in verdicts]
        found: list[float] = []
        for which in range(max((len(reals) for reals in pairs if reals is not None), default=0)):
            clear: int | None = None
            for k, reals in enumerate(pairs):
                if reals is None or len(reals) <= which:
                    clear = None
                    continue
                # Real parts within their error are those of undamped motions, or of a pair just where it crosses.
                if abs(reals[which]) <= least[k]:
                    continue
                before = pairs[clear] if clear is not None else None
                if clear is not None and before is not None and before[which] * reals[which] < 0:
                    self._hopf(arc, (float(grid[clear]), float(grid[k])), which, number, found)
                clear = k

    def _hopf(self, arc: Branch, ends: tuple[float, float], which: int, number: int, found: list[float]) -> None:
        """Take in the place between two ends where a pair crosses, unless another pair was found to cross there."""

        def real(at: float) -> float:
            reals = self._pairs(self._verdict(arc, at))
            return float(reals[which]) if reals is not None and len(reals) > which else float("nan")

        at = bisected(_same_sign(real, real(ends[0])), *ends)
        values = self._verdict(arc, at).eigenvalues
        if values is None or any(abs(at - other) <= 1e-9 * arc.length for other in found):
            return
        nearest = values[np.argmin(np.where(np.abs(values.imag) > _small(values), np.abs(values.real), np.inf))]
        if abs(nearest.real) <= 1e-6 * float(np.abs(values).max()):
            found.append(at)
            self.hopfs.append(self._special("hopf", arc.state(at=at), (number,), abs(float(nearest.imag))))

    def _pairs(self, verdict: StabilityVerdict) -> Array | None:
        """Return the real parts of pairs of complex eigenvalues, the largest first; None where none are known."""
        if verdict.eigenvalues is None:
            return None
        values = free_of_trivial(verdict.eigenvalues, len(self.steady))
        return np.sort(values[values.imag > _small(values)].real)[::-1]


def _same_sign(value: Callable[[float], float], side: float) -> Callable[[float], bool]:
    return lambda at: value(at) * side > 0


def _small(values: NDArray[np.complex128]) -> float:
    return float(np.sqrt(ERROR) * np.abs(values).max(initial=0.0))
