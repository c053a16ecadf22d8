"""Motions as tables that a page plays: states, energies and forces at even times, events exactly."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import zwang as zw
from zwang._declare.switched import ON
from zwang.lab.answers.request_state import settled
from zwang.lab.models import Opened
from zwang.lab.protocol import MOST_ROWS

Answers = Iterator[tuple[dict[str, Any], list[Any]]]
Array = NDArray[np.float64]
SECONDS = 8.0  # beyond it a person has gone on
RATE = 120
"""Rows for a second that is shown."""
LEAST_ROWS = 600  # of a motion, for smooth curves
RUNS_OFF = 1e4
"""A force so many times the usual one is not drawn."""
MOST_EVENTS = 400  # beyond it a list is not read
KEPT = 6  # motions in memory, those last shown
BETWEEN_STEPS = 1e-7
"""A gap that counts as closed inside a step, far above the error of dense output and far below what is seen [m]."""
MOST_MOTIONS, MOST_LEAVES = 24, 6
"""Motions of a tree of continuations that are computed, and ways that are shown: a page has six lines to draw with."""
PARADOX = (("impact", "an impact without collision"), ("realize", "what stiff springs in its place do"))
"""Rules of `at_paradox`, and how they are offered."""


@dataclass(frozen=True)
class Rules:
    """What was chosen so far where motions stopped, handed to `simulate` as its rules.

    Attributes
    ----------
    choices : tuple
        In order: a number of a solution, or the sentence of a half-branch.
    paradox : str
    starts : mapping
        Where the motion starts anew after an impact that was chosen; empty else.
    """

    choices: tuple[Any, ...] = ()
    paradox: str = "stop"
    starts: Mapping[str, float] = field(default_factory=dict)

    def run(self, opened: Opened, state: Any, params: Any, until: float) -> Any:
        """Return the motion."""
        waiting = list(self.choices)

        def choose(found: Any) -> int | None:
            fits = bool(waiting) and isinstance(waiting[0], int) and waiting[0] < len(found.solutions)
            return waiting.pop(0) if fits else None

        def branch(ways: Any) -> Any:
            if not waiting or not isinstance(waiting[0], str):
                return None
            wanted = waiting.pop(0)
            return next((way for way in ways if way.sentence == wanted), None)

        return opened.simulate(
            self.starts or state,
            params,
            until=until,
            at_choice=choose,
            at_singular=branch if self.choices else "stop",
            at_paradox=self.paradox,
            budget={"seconds": SECONDS, "memory": 200_000_000},
            progress=lambda time: None,
        )

    def after(self, motion: Any, number: int) -> Rules:
        """Return the rules that take a continuation of a motion that stopped."""
        offered = offers(motion)
        if number >= len(offered):
            raise zw.DeclarationError(
                f"{motion.name}: there is no continuation {number}; this motion has {len(offered)} of them."
            )
        if motion.status.name == "PARADOX":
            return Rules(self.choices, PARADOX[number][0], self.starts)
        way = motion.continuations[number]
        if motion.status.name == "SINGULAR":
            return Rules((*self.choices, way.sentence), self.paradox, self.starts)
        if way.state:
            return Rules((), self.paradox, dict(way.state))
        return Rules((*self.choices, number), self.paradox, self.starts)


@dataclass(frozen=True)
class PlayedRun:
    """Motions that follow each other, with the rules that the last one was made by."""

    parts: tuple[Any, ...]
    rules: Rules

    @property
    def last(self) -> Any:
        """The motion that ends the run."""
        return self.parts[-1]


_KEPT: OrderedDict[Any, PlayedRun] = OrderedDict()


def run_of(request: Mapping[str, Any]) -> tuple[Opened, dict[str, float], dict[str, float], str, PlayedRun]:
    """Return the run that a request means, with what was chosen at its stops; computed now or a moment ago."""
    opened, params, state, carried = settled(request)
    until = min(float(request.get("until", 10.0)), opened.end)
    path = request.get("continue", [])
    path = tuple(path) if isinstance(path, list) else (path,)
    if not until > state["t"]:
        raise zw.DeclarationError(f"A motion ends after it starts: until = {until:g}, but t = {state['t']:g}.")
    key = (opened, tuple(params.items()), tuple(state.items()), until)
    run = _KEPT.get((*key, ())) or PlayedRun((Rules().run(opened, state, params, until),), Rules())
    _keep((*key, ()), run)
    for length, number in enumerate(path, 1):
        known = _KEPT.get((*key, path[:length]))
        if known is None:
            rules = run.rules.after(run.last, number)
            made = rules.run(opened, state, params, until)
            anew = bool(rules.starts) and rules.starts != run.rules.starts
            known = PlayedRun((*run.parts, made) if anew else (*run.parts[:-1], made), rules)
        run = known
        _keep((*key, path[:length]), run)
    return opened, params, state, carried, run


def instant(request: Mapping[str, Any]) -> tuple[Opened, dict[str, float], dict[str, float], str]:
    """Return the model, its parameters and the state of a run at an instant, on its constraints to rounding."""
    opened, params, _, _, run = run_of(request)
    start = float(run.parts[0].t[0])
    time = start + float(request["time"])
    part = next((item for item in run.parts if time <= item.t[-1]), run.last)
    found_state = part.at(min(time, float(part.t[-1])))
    state = {name: value if name == ON else float(value) for name, value in found_state.items()}
    mechanism = opened.mechanism
    if mechanism.held:
        q, v = mechanism.split(state)
        # Between steps dense output is good to the tolerance of the motion, not to rounding.
        closed = mechanism.closed(state, params, tolerance=BETWEEN_STEPS)
        found = mechanism.carry(q[None], v[None], params, closed, t=state["t"])
        if found.good[0]:
            state |= mechanism.joined(found.q[0], found.v[0])
    return opened, params | opened.tabled(state), state, ""


def _keep(key: Any, run: PlayedRun) -> None:
    _KEPT[key] = run
    _KEPT.move_to_end(key)
    while len(_KEPT) > KEPT:
        _KEPT.popitem(last=False)


def offers(motion: Any) -> list[str]:
    """Return the ways in which a motion that stopped can go on, in words."""
    if motion.status.name == "PARADOX":
        return [words for _, words in PARADOX]
    if motion.status.name == "SINGULAR":
        return [_leads(way, motion) for way in motion.continuations]
    return [way.sentence for way in motion.continuations]


def _leads(way: Any, motion: Any) -> str:
    """Return where a half-branch leads: which coordinates grow, fall and stay."""
    speeds = [float(way.state.get(name, 0.0)) for name in motion.velocities]
    most = max(map(abs, speeds), default=0.0)
    if not most:
        return str(way.sentence)
    told = [
        f"{name} {'stays' if abs(speed) < 1e-6 * most else 'grows' if speed > 0 else 'falls'}"
        for name, speed in zip(motion.coordinates, speeds, strict=True)
    ]
    return f"{', '.join(told)} ({way.sentence})"


def answer_motion(request: dict[str, Any]) -> Answers:
    """Compute a motion, and tell it as tables: one of numbers, one of where everything in the drawing is."""
    if request.get("run") == "every":
        yield _every(request)
        return
    opened, params, state, carried, run = run_of(request)
    told, tables = motion_tables(opened, params, run)
    if float(request.get("until", 10.0)) > opened.end:
        names = ", ".join(f"'{name}'" for name in opened.tables)
        carried = f"{carried} The table of {names} ends at t = {opened.end:g}, and the motion with it.".strip()
    yield told | {"carried": carried, "params": params, "start": state, "run": request.get("run", "")}, tables


def _every(request: Mapping[str, Any]) -> tuple[dict[str, Any], list[Array]]:
    """Return every way on of a motion, each as its tables from the start to its end."""
    opened, params, state, _ = settled(request)
    tree: Any = opened.simulate(
        state,
        params,
        until=min(float(request.get("until", 10.0)), opened.end),
        at_choice="every",
        at_singular="every",
        at_paradox="every",
        most=MOST_MOTIONS,
        budget={"seconds": SECONDS, "memory": 200_000_000},
    )
    leaves, tables = [], []
    for leaf in tree.leaves[:MOST_LEAVES]:
        path = tree.path(leaf)
        told, found = motion_tables(opened, params, PlayedRun(path, Rules()))
        leaves.append(told | {"taken": "; ".join(part.taken for part in path if part.taken)})
        tables += found
    sentence = f"{len(leaves)} of {tree.count} ways on are shown. {tree.status.value} {tree.reason}".strip()
    return {"run": "every", "leaves": leaves, "sentence": sentence}, tables


def motion_tables(opened: Opened, params: Mapping[str, float], run: PlayedRun) -> tuple[dict[str, Any], list[Array]]:
    """Return what is told of a run, and its two tables."""
    last = run.last
    names = ["t", *last.coordinates, *last.velocities, "kinetic energy", "potential energy", "energy"]
    forces = [f"reaction of {name}" for name in last.constraints if name in last.reactions]
    rubs = [f"friction of {name}" for name in last.constraints if name in last.friction]
    blocks = [_block(part, run) for part in run.parts]
    table = np.concatenate(blocks)
    start = float(table[0, 0])
    states = {name: table[:, k] for k, name in enumerate(names[: 1 + 2 * len(last.coordinates)])}
    values: dict[str, Any] = {**params, **opened.tabled(states), **states}
    picture = opened.mechanism.picture(values)
    drawn = picture.rows(len(table)) if picture is not None else np.zeros((len(table), 0))
    arrows, pushed = opened.acting.along(values, _forces(run, table[:, 0]))
    driving = opened.followed(table[:, 0])
    events = [event for part in run.parts for event in part.events]
    size = np.abs(table[:, len(names) :])
    size = size[np.isfinite(size)]
    table = np.column_stack([table[:, 0] - start, table[:, 1:], *driving.values()])
    told = {
        "columns": [*names, *forces, *rubs, *(f"input {name}" for name in driving)],
        "t0": start,
        "length": float(table[-1, 0]),
        "status_name": last.status.name,
        "sentence": _sentence(last),
        "reason": last.reason,
        "events": [_event(item) for item in events[:MOST_EVENTS]],
        "events_total": len(events),
        "continuations": offers(last) if last.status.name != "REACHED" else [],
        "modes": [
            {"start": item.start, "end": item.end, "modes": dict(zip(item.names, item.labels, strict=True))}
            for part in run.parts
            for item in part.modes[:MOST_EVENTS]
        ],
        "force_scale": float(np.percentile(size, 95)) if len(size) else 0.0,
        "arrows": arrows,
        "impulses": _impulses(opened, params, run, start),
        "scene": None if picture is None else picture.plain(),
        "placed": []
        if picture is None
        else [k for k, item in enumerate(picture.scene.bodies) if not len(item.corners)],
        "end": dict(last.end),
        "until": float(last.until),
        "residual": float(last.residual),
    }
    return told, [table, drawn, pushed]


def _forces(run: PlayedRun, times: Array) -> dict[tuple[str, str], Array]:
    """Return the reactions at the instants of a table, (constraint, kind) -> components."""
    found: dict[tuple[str, str], Array] = {}
    start = 0
    for part in run.parts:
        count = _times(part, _rows(run)).size
        here = times[start : start + count]
        for kind, forces in (("normal", part.reactions), ("tangential", part.friction)):
            for name in part.constraints:
                if name in forces:
                    values = np.asarray(forces[name], dtype=float).reshape(len(part.t), -1)
                    columns = [_between(here, part.t, column) for column in values.T]
                    known = found.setdefault((name, kind), np.full((len(times), len(columns)), np.nan))
                    known[start : start + count] = np.stack(columns, axis=1)
        start += count
    return found


def _impulses(opened: Opened, params: Mapping[str, float], run: PlayedRun, start: float) -> dict[str, Any]:
    """Return the impulses of impacts where they act in the drawing: what each is, when, and a usual size [N s]."""
    hits = [(part, event) for part in run.parts for event in part.events if event.details.get("impulses")]
    hits = hits[:MOST_EVENTS]
    if not hits or opened.mechanism.drawing is None:
        return {"arrows": [], "rows": [], "scale": 0.0}
    states = [part.at(event.time) for part, event in hits]
    names = [*opened.mechanism.names, *opened.mechanism.speeds, "t"]
    values = {name: np.array([float(state[name]) for state in states]) for name in names}
    pushes: dict[tuple[str, str], Array] = {}
    for kind, word in (("normal", "impulses"), ("tangential", "friction_impulses")):
        for k, (_, event) in enumerate(hits):
            for name, value in dict(event.details.get(word, {})).items():
                parts = np.atleast_1d(np.asarray(value, dtype=float))
                pushes.setdefault((name, kind), np.zeros((len(hits), len(parts))))[k] = parts
    arrows, table = opened.acting.along({**params, **opened.tabled(values), **values}, pushes)
    sizes = np.abs(table[np.isfinite(table) & (table != 0)])
    rows = [[event.time - start, *row] for (_, event), row in zip(hits, table.tolist(), strict=True)]
    return {"arrows": arrows, "rows": rows, "scale": float(np.percentile(sizes, 95)) if len(sizes) else 0.0}


def _times(motion: Any, rows: int) -> Array:
    """Return the instants that are sent: even ones, those of events, and both sides of jumps."""
    t = motion.t
    first, last = float(t[0]), float(t[-1])
    count = int(np.clip(RATE * (last - first), LEAST_ROWS, rows))
    marks = np.array([event.time for event in motion.events if first <= event.time <= last])
    return np.unique(np.concatenate([np.linspace(first, last, count), marks[: rows // 4], [first, last]]))


def _rows(run: PlayedRun) -> int:
    return max(2, MOST_ROWS // len(run.parts) * 3 // 4)


def _block(motion: Any, run: PlayedRun) -> Array:
    times = _times(motion, _rows(run))
    states = motion.at(times)
    t = motion.t
    columns = [times, *(states[name] for name in (*motion.coordinates, *motion.velocities))]
    groups = [motion.energy[name] for name in ("kinetic", "potential", "total")]
    groups += [motion.reactions[name] for name in motion.constraints if name in motion.reactions]
    groups += [motion.friction[name] for name in motion.constraints if name in motion.friction]
    columns += [_between(times, t, _flat(values)) for values in groups]
    return np.stack(columns, axis=1)


def _flat(values: Any) -> Array:
    found = np.asarray(values, dtype=float)
    return found if found.ndim == 1 else np.linalg.norm(found.reshape(len(found), -1), axis=1)


def _between(times: Array, t: Array, values: Array) -> Array:
    """Return values between the rows of a motion: smooth inside stretches, after the jump where there is one."""
    from scipy.interpolate import PchipInterpolator

    found = np.full(len(times), np.nan)
    values = _in_reach(values)
    cuts = [0, *(np.flatnonzero(np.diff(t) <= 0) + 1), len(t)]
    for low, high in pairwise(cuts):
        part, known = t[low:high], values[low:high]
        here = (times >= part[0]) & (times <= part[-1])
        if not here.any():
            continue
        sound = np.isfinite(known)
        if not sound.all():  # up to the last row that has a value
            part, known = part[sound], known[sound]
            here &= (times >= part[0]) & (times <= part[-1]) if len(part) else False
        if not here.any():
            continue
        smooth = len(part) > 3
        found[here] = PchipInterpolator(part, known)(times[here]) if smooth else np.interp(times[here], part, known)
    return found


def _in_reach(values: Array) -> Array:
    """Return values without those that run off at a singular point: a picture of them would show nothing else."""
    sizes = np.abs(values[np.isfinite(values)])
    usual = float(np.median(sizes)) if len(sizes) else 0.0
    return np.where(np.abs(values) > RUNS_OFF * max(usual, 1e-12), np.nan, values) if usual else values


def _sentence(motion: Any) -> str:
    ways = len(offers(motion))
    if motion.status.name == "SINGULAR" and ways:
        return f"Stopped at a singular point: choose one of {ways}."
    if motion.status.name in ("CHOICE", "PARADOX") and ways:
        return f"{motion.status.value} Choose one of {ways}."
    if motion.status.name == "SINGULAR":  # a stop without a way on says why, and what can be tried
        return f"{motion.status.value} {motion.reason} Realize a constraint, below, to see what springs do there."
    return str(motion.status.value)


def _event(event: Any) -> dict[str, Any]:
    whose = event.constraint or ", ".join(map(str, event.details.get("constraints", ()))) or event.name
    return {"time": float(event.time), "kind": event.kind, "constraint": whose, "sentence": repr(event)}
