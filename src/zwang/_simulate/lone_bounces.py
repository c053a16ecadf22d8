"""Impacts that need no thought: a contact that stands alone meets, separates, and the mode stays what it was.

The compiled loop (`motion.bounces`) passes them; here is said in which modes it may, what it has to know, and what is
recorded of what it did: the same events, pieces and memory that `instant.happen` makes of such an impact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.coefficients import fixed_restitution, laws_vary
from zwang._kernels.bounce_kernels import Bounce, BounceTask, Bouncing, bouncing
from zwang._kernels.mode_motion import Moving
from zwang._kernels.service import Service
from zwang._kernels.stretch_output import KnownState
from zwang._numerics.budget import steps_left
from zwang._numerics.contact.modes import Mode, Side
from zwang._numerics.contact.table import ContactPlace
from zwang._results.motion_parts import MotionEvent, MotionPiece
from zwang._simulate.flights import HISTORY, Flights
from zwang._simulate.impact import restitution_at
from zwang._simulate.moment import Context, Decision, Fired, Moment, Transition, changed_in
from zwang._simulate.stretch import CHUNK, SHARPEST, STRICTER, MadeSteps, moving_for, pieces_in, step_sizes
from zwang._simulate.watch import bands_of, said, sides_of, sizes_so_far, watch_rows

Array = NDArray[np.float64]
MOST = 2000
"""Impacts after which what was done is handed over."""


def advance_bouncing(context: Context, moment: Moment, decision: Decision, cost: int) -> PassedImpacts | None:
    """Return the impacts that a mode passes by itself, and the steps after the last; None where it passes none.

    `cost` is that of an impact, in steps.
    """
    left = steps_left(context.kept) // 2
    if left < 2 * cost or not _stays(context, decision):
        return None
    moving = moving_for(context.model, decision.mode.mode)
    restitution = _restitutions(context, moving, moment)
    if moving.kernels.surfaces or np.isnan(restitution).all():
        return None
    task = _task(context, moment, decision, moving, restitution)
    found = bouncing(
        moving,
        context.model.kernels,
        task,
        (moment.t, moment.q, moment.v),
        context.params,
        (context.until, max(STRICTER * context.options.tol, SHARPEST)),
        sides_of(context, moving, decision, moment),
        impacts=min(MOST, left // cost),
        max_steps=min(4 * CHUNK, left),
        known=KnownState(
            step=moment.memory.step,
            bands=bands_of(context, moving, decision, moment),
            sizes=step_sizes(context, moment),
        ),
        between=context.options.progress,
    )
    start = moment.but(ahead=None).recalling(sizes=tuple(task.sizes.largest))
    return PassedImpacts(context, decision, moving, found, start)


def only_paused(context: Context, decision: Decision, found: PassedImpacts | None, cost: int) -> bool:
    """Say whether compiled code would pass the next impact too, but for how many it passes at a time."""
    if found is not None:
        return found.found.full
    return steps_left(context.kept) // 2 < 2 * cost and _stays(context, decision)


@dataclass(frozen=True, eq=False)
class PassedImpact:
    """Steps up to an impact that needed no thought, and what follows from it: with the steps, all that is recorded."""

    made: MadeSteps
    following: Transition

    def fired(self, decision: Decision, past: Sequence[MotionPiece]) -> Fired:
        """Return what happened at the end of the steps."""
        steps = self.made
        return Fired(decision, tuple(steps.moving.watch_names[k] for k in steps.stretch.fired), steps.moving, past)


class PassedImpacts:
    """Impacts of one mode with the steps between them, as they are recorded: one by one, or all together.

    Parameters
    ----------
    context : Context
    decision : Decision
        The mode.
    moving : Moving
        What made the steps.
    found : Bouncing
    start : Moment
        Where they begin, with the sizes at the end.
    """

    def __init__(self, context: Context, decision: Decision, moving: Moving, found: Bouncing, start: Moment) -> None:
        self.context, self.decision, self.moving, table = context, decision, moving, context.table
        self.found, self.start = found, start
        self.held = {table.of_normal(normal): 1 + k for k, normal in enumerate(decision.mode.mode.held)}
        # Constraints on velocities take part in every impact, active or not.
        speeds = [i for i, place in enumerate(table.places) if place.one_sided and not place.on_position]
        self.always = sorted({*self.held, *speeds})

    def __len__(self) -> int:
        return len(self.found.bounces)

    @property
    def steps(self) -> int:
        """How many steps there are up to the last impact."""
        return self.found.bounces[-1].row - len(self) + 1

    def one_by_one(self) -> Iterator[PassedImpact]:
        """Yield them in the order of time."""
        moment = self.start
        for k, (bounce, event) in enumerate(zip(self.found.bounces, self._events(), strict=True)):
            stretch = self.found.stretch(k)
            before = moment.but(t=float(stretch.t[-1]), q=stretch.q[-1], v=stretch.v[-1])
            moment = self._after(before, (bounce,))
            pieces = pieces_in(self.decision, stretch)
            following = Transition(moment, self.decision, (event,), pieces, (_jump(event),), stretch.drift)
            yield PassedImpact(MadeSteps(stretch, self.moving, before), following)

    def together(self) -> Transition:
        """Return all of them as one transition, to where the last one leads."""
        whole, pieces = self.found.whole, []
        events = tuple(self._events())
        template = pieces_in(self.decision, self.found.stretch(0))[0]
        jumps: tuple[dict[str, Any], ...] = ()
        for k, event in enumerate(events):
            rows = self.found.rows(k)
            parts = {"t": whole.t[rows], "q": whole.q[rows], "v": whole.v[rows], "a": whole.a[rows]}
            piece = changed_in(template, {**parts, "dense": whole.dense[rows.start : rows.stop - 1], "jumps": jumps})
            pieces.append(piece)
            jumps = (_jump(event),)
        moment = self._after(self.start, self.found.bounces)
        return Transition(moment, self.decision, events, tuple(pieces), jumps, whole.drift)

    def last(self, moment: Moment) -> MadeSteps:
        """Return the steps after the last impact, from the moment after it."""
        steps = self.found.stretch(len(self))
        changes: dict[str, Any] = {"sizes": self.start.memory.sizes}
        if steps.next_step > 0:
            changes["step"] = float(steps.next_step)
        end = moment.but(t=float(steps.t[-1]), q=np.array(steps.q[-1]), v=np.array(steps.v[-1]))
        return MadeSteps(steps, self.moving, end.recalling(**changes))

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The number of the contact that each watch is the gap of, -1 for others."""
        table = self.context.table
        return tuple(table.of_normal(k) if kind == "gap" else -1 for kind, k in self.moving.watch_names)

    def _after(self, moment: Moment, bounces: Sequence[Bounce]) -> Moment:
        """Return the moment after some impacts, the last of which is where it stands."""
        whole, flights = self.found.whole, dict(moment.memory.flights)
        times: dict[int, list[float]] = {}
        for bounce in bounces:
            times.setdefault(self.numbers[bounce.watch], []).append(float(whole.t[bounce.row]))
        for number, met in times.items():
            flights[number] = flights.get(number, Flights()).met(*met)
        last = bounces[-1]
        row, t = last.row + 1, float(whole.t[last.row])
        happened = (said(self.context.table, self.moving.watch_names[last.watch]),)
        memory = {"flights": flights, "still": (t, 0), "happened": happened, "step": 0.0, "ending": {}}
        none: frozenset[int] = frozenset()
        after = moment.but(t=t, q=whole.q[row], v=whole.v[row], touching=none, resting=none, tied=none)
        return after.recalling(**memory)

    def _events(self) -> Iterator[MotionEvent]:
        """Yield what is logged of each impact: see `impact.strike`."""
        whole, places, bounces = self.found.whole, self.context.table.places, self.found.bounces
        rows = np.array([bounce.row for bounce in bounces], dtype=np.int64)
        states = zip(bounces, whole.t[rows].tolist(), whole.v[rows], whole.v[rows + 1], strict=True)
        held = [(places[i].name, k) for i, k in self.held.items()]
        alone = [(name,) for name in self.context.table.names]
        taking = [[places[i].name for i in sorted({number, *self.always})] for number in range(len(places))]
        for bounce, time, before, after in states:
            number = self.numbers[bounce.watch]
            name = places[number].name
            impulses = dict.fromkeys(taking[number], 0.0) if self.always else {}
            for other, k in held:
                impulses[other] = float(bounce.impulses[k])
            impulses[name] = float(bounce.impulses[0])
            details = {
                "impulses": impulses,
                "friction_impulses": {name: np.array([bounce.friction])} if places[number].slips else {},
                "before": before,
                "after": after,
                "energy_change": bounce.energy_change,
                "law": "newton" if bounce.rubbed else "any",
                "constraints": alone[number],
            }
            yield MotionEvent(time, "impact", name, "", details)


def _jump(event: MotionEvent) -> dict[str, Any]:
    """Return what the steps after an impact keep of it."""
    kept = dict(event.details)
    del kept["constraints"]
    return kept


def _stays(context: Context, decision: Decision) -> bool:
    """Say whether a mode is one in which nothing is to be decided as long as contacts meet and part one by one."""
    service, held, table = context.model.kernels, decision.held, context.table
    if context.options.events or table.loaded or held is None or held.undetermined or decision.found or decision.idle:
        return False
    if service.sparse or type(service).terms is not Service.terms or laws_vary(context.model.system):
        return False
    if len(held.mode.held) >= len(context.model.system.coordinates):
        return False
    return all(
        _certain(place, label, place.normal in table.signed)
        for place, label in zip(table.places, decision.labels, strict=True)
    )


def _certain(place: ContactPlace, label: Mode, signed: bool) -> bool:
    """Say whether a constraint is open, or acts in the only way it can; see `decide.certain`."""
    if place.one_sided:
        return label is Mode.OPEN and (place.on_position or not place.slips)
    if place.side is Side.BILATERAL:
        return place.law < 0 and not signed
    return not place.of and len(place.slips) == 1 and label.slips


def _restitutions(context: Context, moving: Moving, moment: Moment) -> Array:
    """Return the restitution of each watched gap; nan where none was declared or its impacts are to be looked at."""
    table, system = context.table, context.model.system
    speeds = any(kind == "value" for kind, _ in moving.watch_names)
    found = np.full(len(moving.watch_names), np.nan)
    for k, (kind, normal) in enumerate(moving.watch_names):
        if kind != "gap":
            continue
        place = table.places[table.of_normal(normal)]
        plain = len(place.slips) == 1 and place.rows.plain and context.options.impact == "newton" and not speeds
        if fixed_restitution(system, place.name) and (plain or not place.slips):
            e = restitution_at(context, table.of_normal(normal), moment)
            found[k] = np.nan if e is None else e
    return found


def _task(context: Context, moment: Moment, decision: Decision, moving: Moving, restitution: Array) -> BounceTask:
    """Return what the compiled loop has to know."""
    from zwang._numerics.motion.lone_impact import Flown, LoneContacts

    table, flights = context.table, moment.memory.flights
    count = len(moving.watch_names)
    slip, bound = np.full(count, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    times = np.full((count, HISTORY), np.nan)
    for k, (kind, normal) in enumerate(moving.watch_names):
        if kind == "gap":
            number = table.of_normal(normal)
            place, known = table.places[number], flights.get(number, Flights())
            if place.slips:
                slip[k], bound[k] = place.slips[0], place.rows.sides[0]
            times[k, HISTORY - len(known.times) :] = known.times
    level = np.array([place.on_position for place in table.normals], dtype=np.int64)
    held = np.array(decision.mode.mode.held, dtype=np.int64)
    contacts = LoneContacts(held, level, restitution, slip, bound)
    flown = Flown(times, np.array([moment.memory.still[0]]))
    rows = watch_rows(table, moving)
    return BounceTask(rows, contacts, sizes_so_far(context, moment), flown, context.options.tol)
