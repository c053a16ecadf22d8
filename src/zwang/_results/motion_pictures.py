"""What a motion looks like: quantities over time, films, and a labelled dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang._results.base import drawing_of
from zwang.errors import DeclarationError, nearest

if TYPE_CHECKING:
    from zwang._plot.film import Film
    from zwang._plot.scene import Scene

Array = NDArray[np.float64]
GROUPS = {
    "positions": "positions",
    "velocities": "velocities",
    "accelerations": "accelerations",
    "energy": "energy [J]",
    "work": "work [J]",
    "reactions": "reactions",
    "friction": "friction",
}
FRAMES = 720
INSIDE = 8
MOST_ROWS = 20_000
MARKED = 60


def fine(motion: Any) -> tuple[Array, Array]:
    """Return times and states (rows, 2 n) with places inside each step from dense output: steps may be long."""
    from zwang._results.motion_dense import states_in_piece

    times, states = [], []
    for piece in motion.pieces:
        parts = np.arange(INSIDE) / INSIDE
        inner = (piece.t[:-1, None] + np.diff(piece.t)[:, None] * parts).ravel()
        t = np.append(inner, piece.t[-1])
        times.append(t)
        states.append(states_in_piece(piece, t))
    return np.concatenate(times), np.concatenate(states)


def quantity(motion: Any, name: str) -> dict[str, Array]:
    """Return the rows of a group, of a coordinate or velocity, or of a constraint's reaction, by name."""
    columns = {"positions": motion.q, "velocities": motion.v, "accelerations": motion.a}
    if name in columns:
        names = motion.velocities if name == "velocities" else motion.coordinates
        return dict(zip(names, columns[name].T, strict=True))
    if name in GROUPS:
        return _flat(getattr(motion, name))
    for names, rows in ((motion.coordinates, motion.q), (motion.velocities, motion.v)):
        if name in names:
            return {name: rows[:, names.index(name)]}
    if name in motion.constraints and name in motion.reactions:
        return {name: motion.reactions[name]}
    known = [*GROUPS, *motion.coordinates, *motion.velocities, *motion.constraints]
    raise DeclarationError(f"{motion.name}: a motion has no '{name}'. {nearest(name, known)}")


def _flat(rows: Mapping[str, Array]) -> dict[str, Array]:
    """Return one row for each component."""
    found = {}
    for name, values in rows.items():
        if values.ndim == 1:
            found[name] = values
        else:
            found |= {f"{name} [{k}]": column for k, column in enumerate(values.T)}
    return found


def draw_motion(motion: Any, what: Sequence[str], against: str | None, ax: Any) -> Any:
    """Draw quantities over time, or against another one."""
    from zwang._plot.motion import draw_path, draw_series

    names = what or ("positions",)
    smooth = _smooth(motion, names, against)
    if smooth is not None:
        t, series = smooth
        return draw_series(
            t, series, events=_marks(motion), label=GROUPS.get(names[0], "") if len(names) == 1 else "",
            heading=f"{motion.name}: {motion.status.name}", ax=ax,
        )  # fmt: skip
    series = {}
    for name in names:
        series |= quantity(motion, name)
    if not series:
        raise DeclarationError(f"{motion.name}: nothing to draw: the system has no {' or '.join(names)}.")
    heading = f"{motion.name}: {motion.status.name}"
    if against is not None:
        return draw_path(against, quantity(motion, against)[against], series, heading=heading, ax=ax)
    label = GROUPS.get(names[0], "") if len(names) == 1 else ""
    return draw_series(motion.t, series, events=_marks(motion), label=label, heading=heading, ax=ax)


def _smooth(motion: Any, names: Sequence[str], against: str | None) -> tuple[Array, dict[str, Array]] | None:
    """Return positions and velocities over fine times; None where something else is asked, or the rows suffice."""
    columns = (*motion.coordinates, *motion.velocities)
    groups = {"positions": motion.coordinates, "velocities": motion.velocities}
    wanted = [item for name in names for item in groups.get(name, (name,))]
    if against is not None or any(name not in columns for name in wanted) or len(motion.t) > MOST_ROWS:
        return None
    t, states = fine(motion)
    return t, {name: states[:, columns.index(name)] for name in wanted}


def _marks(motion: Any) -> list[tuple[float, str]]:
    marks = []
    for event in motion.events:
        whose = event.name if event.kind == "user" else event.constraint
        marks.append((event.time, f"{event.kind} {whose}" if whose else event.kind))
    return marks


def film_of(motion: Any, drawing: Any = None, *, frames: int | None = None) -> Film:
    """Return the film of a motion: of its drawing, or, without one, of its coordinates as running curves."""
    from zwang._plot.film import Film

    times = np.linspace(motion.t[0], motion.t[-1], max(int(frames or FRAMES), 2))
    states = {name: values for name, values in motion.at(times).items() if name != "on"}
    marks = _marks(motion)[:MARKED]
    shown = drawing_of(motion, drawing)
    if shown is None:
        scene = _running_curves(motion, times, states)
        return Film(times, scene, marks, f"{motion.name}: {', '.join(motion.coordinates)}")
    return Film(times, shown.scene({**motion.params, **states}).repeated(len(times)), marks, motion.name)


def _running_curves(motion: Any, times: Array, states: Mapping[str, Any]) -> Scene:
    """Return coordinates over time, each scaled to its own range and drawn above the last."""
    from zwang._plot.scene import Scene

    part = (times - times[0]) / (np.ptp(times) or 1.0)
    places = np.empty((len(times), len(motion.coordinates), 2))
    for k, name in enumerate(motion.coordinates):
        reach = np.ptp(states[name])
        inside = (states[name] - states[name].min()) / reach if reach > 0 else np.full(len(times), 0.5)
        places[:, k, 0], places[:, k, 1] = 2.0 * part, 0.8 * inside - k
    return Scene(motion.coordinates, places)
