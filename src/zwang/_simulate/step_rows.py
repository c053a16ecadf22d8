"""What follows from the steps of a motion by time stepping: reactions, energies, works, drift, residual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._kernels import Terms, dense_terms
from zwang._numerics.motion.moreau import StepLayout
from zwang._results.motion import Motion
from zwang._results.motion_parts import MotionRows
from zwang._simulate.ground import Ground
from zwang._simulate.timestepping import Steps
from zwang._simulate.works import powers_of

Array = NDArray[np.float64]
ENTRIES = 2_000_000
"""Entries of the rows that are evaluated at once."""


@dataclass(frozen=True, eq=False)
class StepRows:
    """Computes the rows of one motion: reactions are impulses divided by the step, works those of the impulses."""

    ground: Ground
    layout: StepLayout
    steps: Steps

    def rows(self, motion: Motion) -> MotionRows:
        """Return everything that follows from the steps."""
        from zwang._declare.files import to_dict

        steps = self.steps
        reactions, friction = self._forces()
        energy, drift = self._energies()
        work, residual = self._works()
        return MotionRows(
            reactions=reactions,
            friction=friction,
            reaction_range=_as_ranges(reactions),
            energy={"kinetic": energy[0], "potential": energy[1], "total": energy[0] + energy[1]},
            work=work,
            drift=drift,
            residual=max(residual, steps.residual),
            declaration=to_dict(self.ground.model.system),
        )

    def ranges(self, motion: Motion) -> dict[str, Array]:
        """Return name -> (rows, 2): impulses are one number each."""
        return _as_ranges(self._forces()[0])

    def _chunks(self, count: int) -> list[slice]:
        n, m = self.layout.n, max(len(self.layout.source), 1)
        size = max(ENTRIES // (n * (m + n)), 1)
        return [slice(start, min(start + size, count)) for start in range(0, count, size)]

    def _terms(self, t: Array, q: Array, v: Array) -> Terms:
        time, q, v = (np.ascontiguousarray(part.T) for part in (t, q, v))
        kernels = self.ground.model.kernels
        return dense_terms(kernels.terms(time, q, v, self.ground.params[:, None]))

    def _forces(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """The force in a row is the mean of the step that starts there; the last row repeats the last step."""
        steps, rows = self.steps, len(self.steps.t)
        mean = np.zeros((rows, len(self.layout.source)))
        if rows > 1:
            mean[:-1] = steps.impulses / np.diff(steps.t)[:, None]
            mean[-1] = mean[-2]
        reactions: dict[str, Array] = {}
        friction: dict[str, Array] = {}
        for c, place in enumerate(self.ground.table.places):
            a, own = int(self.layout.first[c]), int(place.normal >= 0)
            if place.slips:
                both = mean[:, a + own : a + own + len(place.slips)]
                if place.rows.axes:
                    both = place.rows.along(self._bounds(), both.T).T
                friction[place.name] = both[:, 0] if len(place.slips) == 1 else both
            reactions[place.name] = mean[:, a] if own else friction[place.name]
        return reactions, friction

    def _bounds(self) -> Array:
        """The numbers of the laws at the start of every step."""
        return np.asarray(self._terms(self.steps.t, self.steps.q, self.steps.v).bounds)

    def _energies(self) -> tuple[Array, float]:
        """Return kinetic and potential energy (2, rows), and the largest violation of a position."""
        steps, table = self.steps, self.ground.table
        energy, drift = np.empty((2, len(steps.t))), 0.0
        for part in self._chunks(len(steps.t)):
            terms = self._terms(steps.t[part], steps.q[part], steps.v[part])
            energy[:, part] = terms.energies
            for place in table.places:
                if place.normal >= 0 and place.on_position:
                    value = terms.value[place.normal]
                    off = np.maximum(-value, 0.0) if place.one_sided else np.abs(value)
                    drift = max(drift, float(off.max(initial=0.0)))
        return energy, drift

    def _works(self) -> tuple[dict[str, Array], float]:
        """Return the cumulative works, and how far impulses miss the change of momentum, relative to its terms."""
        steps, places = self.steps, self.ground.table.places
        powers = powers_of(self.ground.model.system)
        h = np.diff(steps.t)
        t, mean = steps.t[:-1] + 0.5 * h, 0.5 * (steps.v[1:] + steps.v[:-1])
        q = steps.q[:-1] + 0.5 * h[:, None] * steps.v[:-1]
        guess = self._guess()
        names = [*powers.names, *(place.name for place in places), "time"]
        table, worst = np.zeros((len(steps.t), len(names))), 0.0
        *applied, explicit, _ = powers(t, q, mean, self.ground.params)
        for i, power in enumerate(applied):
            table[1:, i] = np.cumsum(h * power)
        for part in self._chunks(len(h)):
            terms = self._terms(t[part], q[part], guess[part])
            rows = np.concatenate([terms.rows, terms.slip_rows])[self.layout.source]
            worst = max(worst, self._miss(part, terms, rows))
            done = steps.impulses[part] * np.einsum("aib,bi->ba", rows, mean[part])
            for c in range(len(places)):
                a, s = int(self.layout.first[c]), int(self.layout.size[c])
                table[1:, len(applied) + c][part] = done[:, a : a + s].sum(axis=1)
        own = slice(len(applied), len(applied) + len(places))
        table[:, own] = np.cumsum(table[:, own], axis=0)
        bare = powers(steps.t, steps.q, steps.v, self.ground.params)[-1]
        table[1:, -1] = np.cumsum(h * explicit)
        table[:, -1] += bare - bare[0]
        return {name: table[:, i] for i, name in enumerate(names)}, worst

    def _guess(self) -> Array:
        """The velocities at which the forces of the steps were evaluated."""
        v, guess = self.steps.v, self.steps.v[:-1].copy()
        smooth = np.flatnonzero(~self.steps.closing[:-1].any(axis=1)) + 1
        guess[smooth] = 1.5 * v[smooth] - 0.5 * v[smooth - 1]
        return guess

    def _miss(self, part: slice, terms: Terms, rows: Array) -> float:
        """How far impulses are from M (v+ - v) - h Q, relative to the terms: the equation of a step."""
        steps = self.steps
        change = np.einsum("ijb,bj->ib", terms.mass, np.diff(steps.v, axis=0)[part])
        push = np.einsum("aib,ba->ib", rows, steps.impulses[part])
        load = terms.force * np.diff(steps.t)[part]
        miss = np.abs(change - push - load).max(axis=0, initial=0.0)
        size = np.abs(change).max(axis=0) + np.abs(push).max(axis=0, initial=0.0) + np.abs(load).max(axis=0)
        return float((miss / np.where(size > 0, size, 1.0)).max(initial=0.0))


def _as_ranges(reactions: Mapping[str, Array]) -> dict[str, Array]:
    return {name: np.stack([force, force], axis=-1) for name, force in reactions.items()}
