"""`Motion`: how a system moves from a state, with its events, reactions, energies and works."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import Run, running
from zwang._numerics.tolerances import instants
from zwang._plot.style import titling
from zwang._progress import Progress
from zwang._results import motion_pictures
from zwang._results.base import Result
from zwang._results.columns import Quantities
from zwang._results.motion_columns import motion_columns
from zwang._results.motion_dense import states_at
from zwang._results.motion_parts import Continuation, Events, ModeSpan, MotionPiece, MotionRows
from zwang._results.named import ByName
from zwang._results.poincare import PoincarePoints
from zwang._results.storage import storable
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
MOST_RANGES = 2000
"""Rows with undetermined reactions up to which their ranges go into a file; each takes some linear programs."""
MOST_EVENTS = 20
"""Events that a summary lists."""


@storable
class MotionStatus(Enum):
    """Why a motion ends where it ends."""

    REACHED = "The motion reached the time, or the event, at which it was asked to stop."
    PARADOX = "No reaction satisfies the laws from here on."
    CHOICE = "Several continuations satisfy the laws, or a law is missing to choose one."
    SINGULAR = "The motion came to a singular point, where the equations don't carry it on."
    BLOW_UP = "The motion grows beyond all bounds in a finite time."
    CHATTER = "Events follow each other without end in a time that doesn't pass."
    INTERRUPTED = "The computation was interrupted; what was computed until then is kept."
    UNFINISHED = "The motion goes on from here, but this method or this budget does not follow it."


@storable
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Motion(Result):
    """How a system moves from a state.

    Rows run over time: the accepted steps, and the instants of events. Where velocities jump there are two rows of
    equal time, before and after; elsewhere a row at an event holds what acts from then on.

    Attributes
    ----------
    name : str
        Of the system.
    coordinates, velocities, constraints : tuples of str
    params : mapping of str to float
    inputs : mapping
        Name of an input -> what it was: a number, a `Table` (a held function is one of kind 'previous'), or an
        expression as text.
    pieces : tuple of MotionPiece
        Stretches of one mode with their dense output.
    events : Events
    continuations : tuple of Continuation
        Where the motion stopped before its time: the ways in which it could go on.
    reason : str
        Why it stopped, in one sentence with figures; empty where it reached its end.
    until : float
        The end that was asked for.
    drift_per_step : float
        The largest violation of a held constraint that a step made before it was projected back.
    computed : MotionRows or None
        What follows from the states, where it was read from a file; else `rows` builds it.
    source : object or None
        What builds it: the model and its parameters, given by the verb. Files don't hold it.
    drawing : mapping
        What films show, as plain texts: the drawing of the system that was handed in; empty where it has none.
    parent, taken, could_leave
        In a `MotionTree`: the number of the motion from whose end it starts, the way that it took there in words, and
        the intervals (start, end) in which other ways were open still.
    bookkeeping : tuple of str
        Those constraints whose multipliers are no forces (unit quaternions): neither they nor their modes are shown.
    section : PoincarePoints or None
        Where it crosses the section that was asked for.
    units : mapping of str to str
        Of coordinates, velocities and time, where they are known.
    """

    status: MotionStatus
    name: str
    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    constraints: tuple[str, ...]
    params: Mapping[str, float]
    pieces: tuple[MotionPiece, ...]
    events: Events
    continuations: tuple[Continuation, ...] = ()
    reason: str = ""
    until: float = float("nan")
    drift_per_step: float = 0.0
    computed: MotionRows | None = field(default=None, metadata={"stored": "rows"})
    source: Any = field(default=None, metadata={"stored": None})
    drawing: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)
    parent: int | None = None
    taken: str = ""
    could_leave: tuple[tuple[float, float], ...] = ()
    section: PoincarePoints | None = None
    bookkeeping: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", Events(self.events))
        super().__post_init__()

    def _numbers(self) -> Mapping[str, Any]:
        if self.status is not MotionStatus.REACHED:
            return {}  # where a motion blows up, its last row may
        rows = {"times": "t", "positions": "q", "velocities": "v"}
        return {words: [getattr(piece, name) for piece in self.pieces] for words, name in rows.items()}

    def _check(self) -> str:
        n = len(self.coordinates)
        if len(self.velocities) != n:
            return "it has not as many velocities as coordinates"
        for piece in self.pieces:
            if piece.q.shape[1] != n or len(piece.labels) != len(self.constraints):
                return "a piece has other coordinates or constraints"
        if any(after.t[0] < before.t[-1] for before, after in pairwise(self.pieces)):
            return "its pieces don't follow each other"
        rows = self.computed
        groups = () if rows is None else (rows.reactions, rows.friction, rows.energy, rows.work, rows.reaction_range)
        wrong = [name for group in groups for name, values in group.items() if len(values) != len(self.t)]
        return f"the rows of '{wrong[0]}' are not as many as its times" if wrong else ""

    # Rows of time: the last row of a piece gives way to the first of the next one, unless the state jumped.
    def _stack(self, name: str) -> Array:
        parts = [
            getattr(piece, name) if following is None or following.jump else getattr(piece, name)[:-1]
            for piece, following in zip(self.pieces, [*self.pieces[1:], None], strict=True)
        ]
        return np.concatenate(parts)

    @cached_property
    def t(self) -> Array:
        """The times (rows,)."""
        return self._stack("t")

    @cached_property
    def q(self) -> Array:
        """The positions (rows, n), angles unwrapped."""
        return self._stack("q")

    @cached_property
    def v(self) -> Array:
        """The velocities (rows, n)."""
        return self._stack("v")

    @cached_property
    def a(self) -> Array:
        """The accelerations (rows, n)."""
        return self._stack("a")

    @cached_property
    def modes(self) -> tuple[ModeSpan, ...]:
        """From when to when which constraints did what; neighbouring spans differ."""
        spans: list[ModeSpan] = []
        kept = [k for k, name in enumerate(self.constraints) if name not in self.bookkeeping]
        names = tuple(self.constraints[k] for k in kept)
        for piece in self.pieces:
            labels = tuple(piece.labels[k] for k in kept)
            start, end = float(piece.t[0]), float(piece.t[-1])
            last = spans[-1] if spans else None
            if last is not None and (last.labels, last.found) == (labels, piece.found):
                spans[-1] = replace(last, end=end)
            elif end > start or len(self.pieces) == 1:
                spans.append(ModeSpan(start, end, names, labels, piece.found))
        return tuple(spans)

    def at(self, time: Any) -> dict[str, Any]:
        """Return the state at a time, or at an array of times, from dense output; at a jump the state after it.

        Parameters
        ----------
        time : float or array
            Between the first and the last row.

        Returns
        -------
        dict
            Name of each coordinate and velocity, and 't', -> number or array; where constraints are switched, 'on' ->
            the names of those that act (an array of them where that changes between the times).
        """
        times = instants(time, self.name)
        first, last = float(self.t[0]), float(self.t[-1])
        if times.size and not (times.min() >= first and times.max() <= last):
            outside = times.flat[int(np.argmax(~((times >= first) & (times <= last))))]
            raise DeclarationError(
                f"{self.name}: the motion runs from t = {first:.6g} to {last:.6g}; it was asked at {outside:.6g}."
            )
        y = states_at(self.pieces, times.reshape(-1))
        values: dict[str, Any] = {
            name: y[:, i].reshape(times.shape) if times.shape else float(y[0, i])
            for i, name in enumerate((*self.coordinates, *self.velocities))
        }
        found = {**values, "t": times if times.shape else float(times)}
        if self.pieces[0].on is None or not times.size:
            return found
        on = [self._on(float(time)) for time in times.reshape(-1)]
        return {**found, "on": on[0] if len(set(on)) == 1 else np.array([*on, None], dtype=object)[:-1]}

    def _on(self, time: float) -> tuple[str, ...] | None:
        """Return the constraints that are switched on at a time, after what switches there; None: nothing ever is."""
        return next((piece.on for piece in reversed(self.pieces) if piece.t[0] <= time), self.pieces[0].on)

    def values(self, what: Any, at: Any = None) -> Array:
        """Return a quantity along the motion: an expression, or where a point or body is.

        Parameters
        ----------
        what : expression, text, or the name of a point of the drawing or of a body
            Of coordinates, velocities, parameters and time; of several expressions, as in a Matrix, each has a column.
            The name of a joint that is that of its coordinate means the coordinate.
        at : float or array, optional
            Times, for values from dense output; by default the rows.

        Examples
        --------
        >>> import zwang as zw
        >>> ball = zw.gallery.get("bouncing_ball")
        >>> motion = zw.simulate(ball.system, ball.state, ball.params, until=0.1)
        >>> float(motion.values("y + 0*v_y", at=0.1).round(6)), motion.values("y").shape == motion.t.shape
        (0.95095, True)
        >>> motion.values(("y", "v_y"), at=0.1).round(6)
        array([ 0.95095, -0.981  ])
        """
        if self.source is None:
            raise DeclarationError(
                f"{self.name}: a motion from a file has no system to compute values with. Simulate it again, or use "
                "at(time) and the formula."
            )
        if at is None:
            states = self.t, self.q, self.v
        else:
            found = self.at(np.ravel(np.asarray(at, dtype=float)))
            states = (
                np.asarray(found["t"]),
                np.stack([found[name] for name in self.coordinates], axis=1),
                np.stack([found[name] for name in self.velocities], axis=1),
            )
        with running(Run(self.provenance.tier)):
            made: Array = self.source.values(self, what, states)
        return made if at is None or np.ndim(at) else made[0]

    def wrench(self, joint: str) -> Array:
        """Return force and moment that a joint exerts on its second body, (rows, 6) [N, N m].

        In the axes of the ground, at the place of the joint that its first body carries; everything that goes through
        the joint counts, its motor, spring, damper and limits too. The same in both kinds of coordinates; nan where it
        is not determined.

        Examples
        --------
        >>> import zwang as zw
        >>> lamp = zw.Bodies("lamp", gravity=(0, 0, -10)).body("lamp", mass=2, inertia=(1, 1, 1), at=(0, 0, -1))
        >>> lamp = lamp.revolute("hook", "ground", "lamp", axis=(0, 1, 0))
        >>> zw.simulate(lamp.system(), {"hook": 0, "v_hook": 0}, until=0.1).wrench("hook")[-1].round(9) + 0.0
        array([ 0.,  0., 20.,  0.,  0.,  0.])
        """
        if self.source is None:
            raise DeclarationError(
                f"{self.name}: a motion from a file has no system to compute a wrench with. Simulate it again."
            )
        with running(Run(self.provenance.tier)):
            made: Array = self.source.wrench(self, joint)
        return made

    @property
    def end(self) -> dict[str, Any]:
        """The last state, from which `simulate` can go on."""
        names = (*self.coordinates, *self.velocities)
        values = np.concatenate([self.q[-1], self.v[-1]])
        found = {**{name: float(value) for name, value in zip(names, values, strict=True)}, "t": float(self.t[-1])}
        on = self.pieces[-1].on
        return found if on is None else {**found, "on": on}

    @cached_property
    def rows(self) -> MotionRows:
        """What follows from the states: reactions, energies, works, residual. Built when it is first asked for."""
        if self.computed is not None:
            return self.computed
        if self.source is None:
            raise DeclarationError(
                f"{self.name}: this motion was cut short, or too long to be read back when it had ended: its file is "
                "without its reactions, energies and works. Ask compile(system).evaluate for them at the states of "
                "at(time)."
            )
        with running(Run(self.provenance.tier)):
            made: MotionRows = self.source.rows(self)
        return made

    @property
    def reactions(self) -> Mapping[str, Array]:
        """Name of a constraint -> its multiplier (rows,), zero while it is open, nan where it is undetermined."""
        return ByName(self.rows.reactions, f"{self.name}: the reactions have")

    @property
    def friction(self) -> Mapping[str, Array]:
        """Name of a constraint with friction -> the friction force (rows,), or (rows, 2) in a plane."""
        return ByName(self.rows.friction, f"{self.name}: the friction forces have")

    @cached_property
    def reaction_range(self) -> Mapping[str, Array]:
        """Name of a constraint -> the least and the greatest value of its multiplier (rows, 2)."""
        known, where = self.rows.reaction_range, f"{self.name}: the ranges of reactions have"
        if known or self.source is None:
            return ByName(known, where)
        with running(Run(self.provenance.tier)):
            made: Mapping[str, Array] = self.source.ranges(self)
        return ByName(made, where)

    @property
    def energy(self) -> Mapping[str, Array]:
        """The 'kinetic', 'potential' and 'total' energy (rows,) [J]."""
        return ByName(self.rows.energy, f"{self.name}: the energies have")

    @property
    def work(self) -> Mapping[str, Array]:
        """Cumulative work (rows,) [J] of each force (by its coordinate) and each constraint; 'time' where T, V vary."""
        return ByName(self.rows.work, f"{self.name}: the works have")

    @property
    def drift(self) -> float:
        """The largest violation of a constraint in any row, recomputed from the states."""
        return np.float64(self.rows.drift)

    @titling
    def plot(self, *what: str, against: str | None = None, ax: Any = None, title: bool | str = True) -> Any:
        """Draw quantities over time with the events, or against another one; return the Axes (extra ``plot``).

        Parameters
        ----------
        *what : str
            'positions' (by default), 'velocities', 'accelerations', 'energy', 'work', 'reactions', 'friction', or names
            of coordinates, velocities and constraints.
        against : str, optional
            The coordinate or velocity to the right, for paths in the plane and phase portraits.
        title : bool or str
            False leaves it out; a text stands in its place.
        ax : Axes, optional
        """
        return motion_pictures.draw_motion(self, what, against, ax)

    def animate(
        self,
        path: str | Path | None = None,
        *,
        drawing: Any = None,
        frames: int | None = None,
        fps: int = 30,
        progress: Progress = None,
    ) -> Any:
        """Write a film of the motion, or return it for a notebook.

        Parameters
        ----------
        path : path, optional
            ``.html`` (a player that works offline), ``.gif`` (extra ``plot``) or ``.mp4`` (ffmpeg as well).
        drawing : Drawing, optional
            What moves; by default that of the system. Without one the coordinates run as curves.
        frames : int, optional
            Instants that are shown: 720 in a page (1200 at most), as 4 to 12 seconds need in ``.gif`` and ``.mp4``.
        fps : int
            Pictures per second of a ``.gif`` or ``.mp4``.
        progress : bool or callable, optional
            True: a bar on stderr, by default after two seconds where somebody sees it; or called with the part that is
            written, from 0 to 1.
        """
        from zwang._plot.film import shown

        def film(instants: int | None) -> Any:
            return motion_pictures.film_of(self, drawing, frames=instants)

        return shown(film, path, frames=frames, fps=fps, progress=progress)

    def cycle(self, *, steady: Any = (), **options: Any) -> Any:
        """Return the periodic motion that this one has settled to: a `Cycle`, polished by Newton's method.

        Parameters
        ----------
        steady : names of coordinates
            They need not return, only their velocities.
        **options
            As in `periodic`: tol, impact, budget. By default the law of impact is the one that this motion had.
        """
        made: Any = importlib.import_module("zwang._cycles.settled").settled_cycle(self, steady=steady, **options)
        return made

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the summary, and the motion played where its system has a drawing."""
        film = self.animate()._repr_html_() if self.drawing else ""
        return super()._repr_html_() + film

    def _columns(self) -> Quantities:
        return motion_columns(self)

    def as_stored(self) -> Self:
        """Return the motion as files hold it: with all that follows from its states, where that is known."""
        if self.source is None:
            return self
        few = sum(len(piece.t) for piece in self.pieces if piece.undetermined) <= MOST_RANGES
        ranges = self.reaction_range if few else self.rows.reaction_range
        return replace(self, residual=None, computed=replace(self.rows, reaction_range=ranges))

    # In place of the field of `Result`: computed before it is asked for it would cost more than a short motion itself.
    @property  # type: ignore[misc]
    def residual(self) -> float:
        """How far the accelerations miss the equations of motion, relative to their terms: the worst of all rows."""
        if self.computed is None and self.source is None:
            return float("nan")  # read from a file that was written while the motion was computed
        return self.rows.residual

    @residual.setter
    def residual(self, value: Any) -> None:
        """Take what a file brings: it is recomputed from the rows, and not before it is asked for."""

    def __repr__(self) -> str:
        return _text(self)


def _text(motion: Motion) -> str:
    """Return the summary a person wants."""
    start, end = float(motion.t[0]), float(motion.t[-1])
    lines = [f"Motion of '{motion.name}': {motion.status.name}. {motion.status.value}"]
    if motion.reason:
        lines.append(f"  {motion.reason}")
    steps = sum(len(piece.t) - 1 for piece in motion.pieces)
    lines.append(f"  from t = {start:.6g} to {end:.10g} in {steps} steps, {len(motion.modes)} spans of one mode")
    shown = motion.events[:MOST_EVENTS]
    lines += [f"  {event!r}" for event in shown]
    if len(motion.events) > len(shown):
        lines.append(f"  ... and {len(motion.events) - len(shown)} more events")
    if motion.continuations:
        lines.append("  it could go on:")
        lines += [f"    {item.sentence}" for item in motion.continuations]
    return "\n".join(lines)
