"""What a motion looks like: quantities over time, films, and a labelled dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.motion.dense_output import basis
from zwang._results.base import drawing_of
from zwang._results.motion_dense import states_in_piece
from zwang.errors import DeclarationError, nearest

if TYPE_CHECKING:
    from zwang._plot.film import Film
    from zwang._plot.scene import Scene

Array = NDArray[np.float64]
GROUPS = ("positions", "velocities", "accelerations", "energy", "work", "reactions", "friction")
FRAMES = 720  # of a film that says nothing else
CURVE_ROWS = 1600
"""Rows that a picture is drawn from, where a motion has less: places inside its steps are taken from dense output."""
MOST_INSIDE = 64  # places inside one step: its polynomial has no more to show
MOST_ENTRIES = 2_000_000
"""Rows times coordinates of a picture."""
MOST_BANDS = 600
"""Rows at which undetermined reactions are asked for their ranges for a picture: each takes some linear programs."""
MARKED = 60  # beyond it marks cover the curve
MOST_FILMED = 8  # leaves of a tree over each other; more are a tangle
MOST_ARROWS = 200
"""Impulses that a picture shows."""


def refined(motion: Any) -> Any:
    """Return the motion with rows inside each step, from dense output; itself where its rows are what there is.

    Steps are as long as the tolerance allows, and a polygon through their ends shows corners that are not there. Time
    stepping has impulses over its steps and nothing inside; a motion from a file has no system to ask.
    """
    steps = sum(len(piece.t) - 1 for piece in motion.pieces)
    inside = min(
        -(-CURVE_ROWS // max(steps, 1)), MOST_INSIDE, MOST_ENTRIES // (max(steps, 1) * len(motion.coordinates))
    )
    if inside < 2 or not getattr(motion.source, "between_steps", False):
        return motion
    return replace(motion, pieces=tuple(_refined(piece, inside) for piece in motion.pieces), computed=None)


def _refined(piece: Any, inside: int) -> Any:
    """Return a piece whose steps are divided, each part with the dense output that the step has there."""
    if len(piece.t) < 2 or not len(piece.dense):
        return piece
    n = piece.q.shape[1]
    ends = np.append(
        (piece.t[:-1, None] + np.diff(piece.t)[:, None] * (np.arange(inside) / inside)).ravel(), piece.t[-1]
    )
    within = np.linspace(0.0, 1.0, 8)
    times = ends[:-1, None] + np.diff(ends)[:, None] * within
    states = states_in_piece(piece, times.ravel()).reshape(len(ends) - 1, 8, 2 * n)
    rows = np.concatenate([states[:, 0], states[-1:, -1]])
    dense = np.einsum("ij,kjl->kil", np.linalg.inv(basis(within[1:])), states[:, 1:] - states[:, :1])
    # The rate of the velocity at the start of each part: only the first two functions have a slope there.
    slope = (dense[:, 0, n:] + dense[:, 1, n:]) / np.diff(ends)[:, None]
    a = np.concatenate([slope, piece.a[-1:]])
    a[::inside] = piece.a
    return replace(piece, t=ends, q=rows[:, :n], v=rows[:, n:], a=a, dense=dense)


def quantity_names(motion: Any, name: str) -> None:
    """Refuse what a motion has no rows of."""
    known = [*GROUPS, *motion.coordinates, *motion.velocities, *motion.constraints]
    if name not in known:
        raise DeclarationError(f"{motion.name}: a motion has no '{name}'. {nearest(name, known)}")


def quantity(motion: Any, name: str) -> dict[str, Array]:
    """Return the rows of a group, of a coordinate or velocity, or of a constraint's reaction, by name."""
    quantity_names(motion, name)
    columns = {"positions": motion.q, "velocities": motion.v, "accelerations": motion.a}
    if name in columns:
        names = motion.velocities if name == "velocities" else motion.coordinates
        return dict(zip(names, columns[name].T, strict=True))
    if name in GROUPS:
        return _flat(getattr(motion, name))
    for names, rows in ((motion.coordinates, motion.q), (motion.velocities, motion.v)):
        if name in names:
            return {name: rows[:, names.index(name)]}
    return _flat({name: motion.reactions[name]}) if name in motion.reactions else {}


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
    for name in (*names, *(() if against is None else (against,))):
        quantity_names(motion, name)  # a mistake is told before anything is computed
    fine = refined(motion)
    series: dict[str, Array] = {}
    for name in names:
        series |= quantity(fine, name)
    if not series:
        raise DeclarationError(f"{motion.name}: nothing to draw: the system has no {' or '.join(names)}.")
    units = units_of(motion, names, series)
    if against is not None:
        across = quantity(fine, against)[against]
        units |= units_of(motion, (against,), {against: across})
        return draw_path(against, across, series, heading=_heading(motion, names, against), units=units, ax=ax)
    return draw_series(
        fine.t,
        series,
        events=_marks(motion),
        label=names[0] if len(names) == 1 and names[0] in GROUPS else "",
        heading=_heading(motion, names),
        units=units,
        bands=_bands(motion, series) if set(names) & {"reactions", *motion.constraints} else None,
        impulses=_impulses(motion, series) if set(names) & {"reactions", *motion.constraints} else (),
        ax=ax,
    )


def _heading(motion: Any, names: Sequence[str], against: str | None = None) -> str:
    """Return what a picture says above: the system, what is shown and, where it ended early, how."""
    shown = ", ".join(
        name if name in GROUPS or name not in motion.constraints else f"reaction {name}" for name in names
    )
    over = f"{shown} over {against}" if against is not None else shown
    early = "" if motion.status.name == "REACHED" else f"; ends at t = {motion.t[-1]:.5g}: {motion.status.name}"
    return f"{motion.name}: {over}{early}"


def units_of(motion: Any, names: Sequence[str], series: Mapping[str, Any]) -> dict[str, str]:
    """Return the units of what is drawn, and of the time, where they are known."""
    known = dict(motion.units)
    found = {"t": known.get("t", "s")}
    groups = {name for name in names if name in GROUPS}
    for name in series:
        if groups & {"energy", "work"}:
            found[name] = "J"
        elif "accelerations" in groups and known.get(name):
            found[name] = f"{known[name]}/s**2"
        elif name in known and not groups & {"reactions", "friction"}:
            found[name] = known[name]
        else:
            found[name] = known.get(f"reaction of {name.split(' [')[0]}", "")
    return {name: unit for name, unit in found.items() if unit}


def _bands(motion: Any, series: Mapping[str, Any]) -> dict[str, tuple[Array, Array, Array]]:
    """Return times, least and greatest values of the reactions that are undetermined somewhere."""
    open_ = {name for piece in motion.pieces for name in piece.undetermined}
    rows = [name for name in series if name in open_ and np.isnan(motion.reactions.get(name, 0.0)).any()]
    if not rows or len(motion.t) > MOST_BANDS:
        return {}
    found = {}
    for name in rows:
        low, high = np.asarray(motion.reaction_range[name], dtype=float).T
        known = ~np.isnan(motion.reactions[name])
        found[name] = (motion.t, np.where(known, np.nan, low), np.where(known, np.nan, high))
    return found


def _impulses(motion: Any, series: Mapping[str, Any]) -> list[tuple[float, str, float]]:
    """Return when which constraint gave which impulse."""
    found = [
        (float(event.time), name, float(value))
        for event in motion.events
        for name, value in dict(event.details.get("impulses", {})).items()
        if name in series and np.ndim(value) == 0 and value != 0
    ]
    return found if len(found) <= MOST_ARROWS else []


def _marks(motion: Any) -> list[tuple[float, str]]:
    marks = []
    for event in motion.events:
        whose = event.name if event.kind == "user" else event.constraint
        marks.append((event.time, f"{event.kind} {whose}" if whose else event.kind))
    return marks


def film_of(motion: Any, drawing: Any = None, *, frames: int | None = None) -> Film:
    """Return the film of a motion: of its drawing, or, without one, of its coordinates as running curves."""
    from zwang._plot.film import Film

    times = np.linspace(motion.t[0], motion.t[-1], int(frames or FRAMES))
    states = {name: values for name, values in motion.at(times).items() if name != "on"}
    marks = _marks(motion)[:MARKED]
    shown = drawing_of(motion, drawing)
    if shown is None:
        scene = _running_curves(motion.coordinates, times, states)
        return Film(times, scene, marks, f"{motion.name}: {', '.join(motion.coordinates)}")
    return Film(times, shown.scene({**motion.params, **states}).repeated(len(times)), marks, motion.name)


def film_of_tree(tree: Any, drawing: Any = None, *, frames: int | None = None) -> Film:
    """Return the film of a tree of motions: its leaves over each other, one picture until they part.

    A leaf that has ended stands still; of many leaves the first are shown, and the title says so.
    """
    from zwang._plot.film import Film

    leaves, trunk = tree.leaves[:MOST_FILMED], tree.motions[0]
    times = np.linspace(trunk.t[0], max(leaf.t[-1] for leaf in leaves), int(frames or FRAMES))
    courses = [_states_on(tree.path(leaf), times) for leaf in leaves]
    marks = [(float(one.t[0]), one.taken) for one in tree.motions if one.parent is not None][:MARKED]
    shown = drawing_of(trunk, drawing)
    told = "" if len(leaves) == len(tree.leaves) else f"{len(leaves)} of "
    title = f"{tree.name}: {told}{len(tree.leaves)} continuations"
    if shown is None:
        return Film(times, _running_curves(trunk.coordinates, times, *courses), marks, title)
    scenes = [shown.scene({**trunk.params, **states}).repeated(len(times)) for states in courses]
    whole = scenes[0]
    for number, scene in enumerate(scenes[1:], 2):
        whole = whole.over(scene, f" ({number})")
    return Film(times, whole, marks, title)


def _states_on(path: Sequence[Any], times: Array) -> dict[str, Array]:
    """Return the states along motions that follow each other; after the end of the last its last one."""
    found: dict[str, Array] = {}
    for one in path:  # a later motion overwrites the instant at which it starts
        chosen = times >= one.t[0]
        for name, values in one.at(np.clip(times[chosen], one.t[0], one.t[-1])).items():
            if name != "on":
                found.setdefault(name, np.empty(len(times)))[chosen] = values
    return found


def _running_curves(names: Sequence[str], times: Array, *courses: Mapping[str, Any]) -> Scene:
    """Return coordinates of motions over time, each scaled to its own range and drawn above the last."""
    from zwang._plot.scene import Scene

    part = (times - times[0]) / (np.ptp(times) or 1.0)
    places = np.empty((len(times), len(courses) * len(names), 2))
    labels = []
    for k, name in enumerate(names):
        rows = np.stack([course[name] for course in courses])
        reach = np.ptp(rows)
        inside = (rows - rows.min()) / reach if reach > 0 else np.full(rows.shape, 0.5)
        for number, row in enumerate(inside):
            place = number * len(names) + k
            places[:, place, 0], places[:, place, 1] = 2.0 * part, 0.8 * row - k
    for number in range(len(courses)):
        labels += [name if number == 0 else f"{name} ({number + 1})" for name in names]
    return Scene(tuple(labels), places)
