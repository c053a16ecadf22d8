"""`Ensemble`: many motions of one system, from arrays of states or parameters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.tolerances import instants
from zwang._plot.style import titling
from zwang._results.base import Result
from zwang._results.columns import Quantities, Quantity, about, named
from zwang._results.motion import Motion, MotionStatus
from zwang._results.storage import storable
from zwang.errors import DeclarationError, StateError, nearest

Array = NDArray[np.float64]
DRAWN = 500
"""Instants of a picture."""


@storable
class EnsembleStatus(Enum):
    """How the motions of an ensemble ended."""

    REACHED = "Every motion reached its end."
    MIXED = "Some motions stopped before their end; each says why."


class LaterMotions(Sequence[Motion]):
    """Motions whose ends are known, each computed as a whole when it is asked for.

    Parameters
    ----------
    count : int
    one : callable
        Returns the motion with a number.
    known : mapping
        Motions that were computed already, by number.
    statuses : list of str
    t : (count,) array
        The times of the ends.
    states : (2n, count) array
        Positions and velocities there.
    at : callable
        Returns, for ascending times, the states (times, 2n, count), nan where a motion has none by that way.
    """

    def __init__(
        self,
        count: int,
        one: Callable[[int], Motion],
        known: dict[int, Motion],
        statuses: list[str],
        t: Array,
        states: Array,
        at: Callable[[Array], Array],
    ) -> None:
        self.size, self._one, self.known, self.statuses, self._at = count, one, known, statuses, at
        self.t, self.states = t[:count].copy(), states[:, :count].copy()
        for k, motion in known.items():
            if k < count:
                self.t[k], self.states[:, k] = motion.t[-1], np.concatenate([motion.q[-1], motion.v[-1]])

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return tuple(self[i] for i in range(self.size)[k])
        number = range(self.size)[k]
        if number not in self.known:
            motion = self._one(number)
            if motion.status is MotionStatus.INTERRUPTED:
                raise KeyboardInterrupt
            self.known[number] = motion
        return self.known[number]

    def at(self, times: Array) -> Array:
        """Return the states at ascending times (times, 2n, count), nan where a motion has none."""
        found = self._at(times)[:, :, : self.size]
        ended = times[:, None] > self.t
        found.swapaxes(1, 2)[ended] = np.nan
        missing = np.isnan(found).any(axis=1) & ~ended
        for k in np.flatnonzero(missing.any(axis=0)):
            _fill(found[:, :, k], self[int(k)], times, missing[:, k])
        return found


def _fill(rows: Array, motion: Motion, times: Array, wanted: Any) -> None:
    """Set the states (times, 2n) of a motion where they are wanted and it has not ended."""
    wanted = wanted & (times >= motion.t[0]) & (times <= motion.t[-1])
    if wanted.any():
        values = motion.at(times[wanted])
        rows[wanted] = np.stack([values[name] for name in (*motion.coordinates, *motion.velocities)], axis=1)


@storable
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Ensemble(Result):
    """Many motions of one system; each has its own length, steps and events.

    Attributes
    ----------
    name : str
        Of the system.
    shape : tuple of int
        Of the arrays that were given.
    motions : sequence of Motion
        In the order of the flattened arrays; ``ensemble[i, j]`` finds one by its place. Many smooth motions are carried
        to their ends side by side; then each is computed as a whole, by itself, when it is first asked for, and its end
        agrees with that in `end` within the tolerance.
    reason : str
        Why there are less motions than were asked for.
    """

    status: EnsembleStatus
    name: str
    shape: tuple[int, ...]
    motions: Sequence[Motion]
    reason: str = ""

    def _check(self) -> str:
        if not self.motions or min(self.shape, default=1) < 0 or math.prod(self.shape) != len(self.motions):
            return f"{len(self.motions)} motions don't have the shape {self.shape}"
        names = {(motion.coordinates, motion.velocities) for motion in self.motions}
        return "its motions have different coordinates" if len(names) > 1 else ""

    def __len__(self) -> int:
        return len(self.motions)

    def __iter__(self) -> Iterator[Motion]:
        return iter(self.motions)

    def __getitem__(self, place: Any) -> Motion:
        return self.motions[int(np.arange(len(self.motions)).reshape(self.shape)[place])]

    @property
    def statuses(self) -> NDArray[np.str_]:
        """The names of the statuses, in the shape of the arrays."""
        if isinstance(self.motions, LaterMotions):
            return np.array(self.motions.statuses).reshape(self.shape)
        return np.array([motion.status.name for motion in self.motions]).reshape(self.shape)

    @property
    def end(self) -> dict[str, Array]:
        """The last states: name of each coordinate and velocity, and 't', -> array."""
        if isinstance(self.motions, LaterMotions):
            return {**self._named(self.motions.states), "t": self.motions.t.reshape(self.shape)}
        ends = [motion.end for motion in self.motions]
        return {name: np.array([end[name] for end in ends]).reshape(self.shape) for name in ends[0] if name != "on"}

    def at(self, time: float | Sequence[float] | Array) -> dict[str, Array]:
        """Return the states at a time: name -> array, nan where a motion had ended before.

        For an array of times the arrays have its axis first: ``at(times)["x"]`` is (times, ...).
        """
        times = np.atleast_1d(instants(time, self.name))
        if times.ndim > 1 or not np.isfinite(times).all():
            raise StateError(f"{self.name}: at takes a time or a list of times; it was given {time!r:.60}.")
        order = np.argsort(times, kind="stable")
        rows = self.motions.at(times[order]) if isinstance(self.motions, LaterMotions) else self._rows(times[order])
        names = (*self.motions[0].coordinates, *self.motions[0].velocities)
        found = np.empty_like(rows)
        found[order] = rows
        shape = self.shape if np.ndim(time) == 0 else (times.size, *self.shape)
        values = {name: found[:, i].reshape(shape) for i, name in enumerate(names)}
        clock = np.repeat(times, math.prod(self.shape)).reshape(shape)
        return {**values, "t": clock}

    def _rows(self, times: Array) -> Array:
        """Return the states of the motions at times (times, 2n, motions), nan where a motion has none."""
        names = (*self.motions[0].coordinates, *self.motions[0].velocities)
        found = np.full((times.size, len(names), len(self.motions)), np.nan)
        for k, motion in enumerate(self.motions):
            _fill(found[:, :, k], motion, times, np.ones(times.size, dtype=bool))
        return found

    def _named(self, states: Array) -> dict[str, Array]:
        """Return rows of states (2n, motions) by their names, in the shape of the arrays."""
        names = (*self.motions[0].coordinates, *self.motions[0].velocities)
        return {name: row.reshape(self.shape) for name, row in zip(names, states, strict=True)}

    def _columns(self) -> Quantities:
        """Return how the motions ended, along the axes of the arrays that were given."""
        axes = tuple(f"axis_{k}" for k in range(len(self.shape)))
        ends = self.end
        found = {"t": Quantity(axes, np.asarray(ends.pop("t")))}
        found |= {
            name: Quantity(axes, np.asarray(value))
            for name, value in zip(named(list(ends)), ends.values(), strict=True)
        }
        return Quantities({**found, "status": Quantity(axes, self.statuses)}, about(self))

    @titling
    def plot(self, what: str | None = None, *, ax: Any = None, title: bool | str = True) -> Any:
        """Draw a quantity of all motions over time; return the Axes (extra ``plot``).

        Up to forty motions are lines; of more the ranges are drawn that hold half and nine tenths of them, with the
        median.

        Parameters
        ----------
        what : str, optional
            A coordinate (by default the first) or a velocity.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional

        Examples
        --------
        >>> import zwang as zw
        >>> from zwang.pictures import new_figure
        >>> ball = zw.gallery.get("bouncing_ball")
        >>> falls = zw.simulate(ball.system, {**ball.state, "y": np.linspace(0.5, 1, 3)}, ball.params, until=1)
        >>> len(falls.plot("v_y", ax=new_figure()[1]).lines)
        3
        """
        from zwang._plot.ensemble import draw_ensemble

        first = self.motions[0]
        known = (*first.coordinates, *first.velocities)
        name = first.coordinates[0] if what is None else what
        if name not in known:
            raise DeclarationError(f"{self.name}: an ensemble has no '{name}'. {nearest(str(name), known)}")
        starts = (
            [motion.t[0] for motion in self.motions] if not isinstance(self.motions, LaterMotions) else [first.t[0]]
        )
        times = np.linspace(float(min(starts)), float(np.max(self.end["t"])), DRAWN)
        rows = self.at(times)[name].reshape(DRAWN, -1)
        ends = self.end
        return draw_ensemble(
            times, rows, np.stack([ends["t"].ravel(), ends[name].ravel()]), name=name, statuses=self.statuses.ravel(),
            heading=f"{self.name}: {name} of {len(self)} motions", units=first.units, ax=ax,
        )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "motions": tuple(self.motions)}

    def as_stored(self) -> Self:
        """Return the ensemble with all its motions."""
        return replace(self, residual=None, motions=tuple(self.motions))

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in Counter(self.statuses.flat).most_common())
        found = self.motions.known.values() if isinstance(self.motions, LaterMotions) else self.motions
        events = sum(len(motion.events) for motion in found)
        where = f" in the {len(found)} that are computed whole" if events and len(found) < len(self) else ""
        return (
            f"Ensemble of '{self.name}': {len(self)} motions of shape {self.shape} ({counts}), {events} events{where}"
        )


def _residual(self: Ensemble) -> Array:
    """How far each motion misses its equations, in the shape of the arrays."""
    return np.array([motion.residual for motion in self.motions]).reshape(self.shape)


def _ignore(self: Ensemble, value: Any) -> None:
    """Take what the constructor brings: residuals are those of the motions."""


Ensemble.residual = property(_residual, _ignore)
