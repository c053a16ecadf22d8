"""What an event does: velocities are reset, constraints are switched on and off, with the impact that this takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.masses import inertia_of
from zwang._compile.measured import measured_in
from zwang._declare.contact_table import table_of
from zwang._declare.switches import Event, Reaction, Reset, Switch
from zwang._kernels import Terms
from zwang._numerics.contact.admission import Standing
from zwang._numerics.contact.modes import Mode, Side
from zwang._numerics.contact.table import ContactPlace, ContactTable
from zwang._numerics.impacts import resolve_impact
from zwang._numerics.linear.projection import landed
from zwang._results.motion import MotionStatus
from zwang._results.motion_parts import MotionEvent
from zwang._simulate.active_set import ADMITTED, NEARLY, ZERO_AT_EVENT, look, standing_at
from zwang._simulate.impact import UnsoundRestitutionError, impact_problem, outcomes_of, strike
from zwang._simulate.moment import (
    Context,
    Decision,
    Labels,
    Moment,
    Stop,
    Transition,
    Watch,
    event_at,
    stopped_at,
    terms_at,
)
from zwang._simulate.nearness import Nearness
from zwang._simulate.stretch import moving_for

Array = NDArray[np.float64]
LOOSE = 100.0
"""Tolerances of a motion by which a constraint may be missed where it is switched on."""


def turned(context: Context, on: Iterable[str]) -> Context:
    """Return the context in which other constraints act."""
    assert context.whole is not None  # where something is switched the whole is known
    names = tuple(name for name in context.whole.table.names if name in set(on))
    model = context.whole.model.switched(names)
    return replace(context, model=model, table=table_of(model.system), on=names)


@dataclass(frozen=True, eq=False)
class Setting:
    """Where events act: what is known of the motion between two of them."""

    context: Context
    moment: Moment
    labels: Labels | None
    watches: tuple[Watch, ...]
    decision: Decision | None

    def at(self, moment: Moment) -> Setting:
        """Return it at another moment."""
        return replace(self, moment=moment)


def done(setting: Setting, event: Event) -> tuple[Setting, Transition] | Transition:
    """Return what an event does: where the motion is then, and what is logged; or why it stops."""
    moment = setting.moment
    if not event.then:
        told = event_at(moment.t, "user", None, str(event.name))
        return setting, Transition(moment, Decision(), (told,))
    jumps: list[dict[str, Any]] = []
    switched_on: list[str] = []
    switched_off: list[str] = []
    values = _resets(setting, event)
    for place, item in enumerate(event.then):
        if isinstance(item, Reset):
            later = {name for one in event.then[place:] if isinstance(one, Switch) for name in one.off}
            step = _reset(setting, event, values[place], later)
        else:
            old = set(setting.context.table.names)
            step = _switched(setting, event, item)
            if not isinstance(step, Transition):
                now = set(step[0].context.table.names)
                switched_on += [name for name in item.on if name in now - old]
                switched_off += [name for name in item.off if name in old - now]
        if isinstance(step, Transition):
            return step
        setting, details = step
        jumps += [details] if details is not None else []
    return setting, Transition(
        setting.moment, Decision(), (_event(setting, event, switched_on, switched_off, jumps),), jumps=tuple(jumps),
        context=setting.context,
    )  # fmt: skip


def _event(
    setting: Setting, event: Event, on: list[str], off: list[str], jumps: Sequence[dict[str, Any]]
) -> MotionEvent:
    named = (*on, *off)
    details: dict[str, Any] = {"on": tuple(on), "off": tuple(off), "constraints": named}
    if jumps:
        details |= {
            "before": jumps[0]["before"],
            "after": jumps[-1]["after"],
            "energy_change": float(sum(one["energy_change"] for one in jumps)),
            "impulses": {name: value for one in jumps for name, value in one["impulses"].items()},
        }
    whose = named[0] if len(named) == 1 else None
    return event_at(setting.moment.t, "switch", whose, str(event.name), **details)


# Velocities that are reset.
def _resets(setting: Setting, event: Event) -> dict[int, Array]:
    """Return the velocities that each Reset of an event gives, from the state before it."""
    found: dict[int, Array] = {}
    context, moment = setting.context, setting.moment
    velocities = context.model.system.velocities
    for place, item in enumerate(event.then):
        if isinstance(item, Reset):
            v = moment.v.copy()
            exprs = tuple(expr.xreplace(_reactions(setting, expr)) for expr in item.velocities.values())
            measured = measured_in(context.model.system, exprs)
            for k, key in enumerate(item.velocities):
                v[velocities.index(key)] = measured.value(k, moment.t, moment.q, moment.v, context.params)
            found[place] = v
    return found


def reset_map(events: Sequence[Event]) -> Callable[[Context, Moment], Array] | None:
    """Return the velocity after events at one instant that do nothing but reset velocities; None where they do more."""
    items = [item for event in events for item in event.then]
    if not items or any(event.kind for event in events) or len({id(event) for event in events if event.then}) > 1:
        return None
    exprs = [expr for item in items if isinstance(item, Reset) for expr in item.velocities.values()]
    if not all(isinstance(item, Reset) for item in items) or any(expr.has(Reaction) for expr in exprs):
        return None

    def velocity(context: Context, moment: Moment) -> Array:
        after = moment
        for event in events:
            for v in _resets(Setting(context, moment, None, (), None), event).values():
                after = moment.but(v=v)
        return after.v

    return velocity


def _reactions(setting: Setting, expr: Any) -> dict[Any, Any]:
    """Return the reactions in an expression with their values in the mode until now."""
    import sympy as sp

    asked = expr.atoms(Reaction)
    if not asked:
        return {}
    context, moment, decision = setting.context, setting.moment, setting.decision
    values = dict.fromkeys((symbol.constraint for symbol in asked), 0.0)
    if decision is not None and decision.held is not None:
        moving = moving_for(context.model, decision.mode.mode, context.options.events)
        branches = moving.branches(moment.t, moment.q, moment.v, context.params, context.changing)
        _, lam, friction, _, _ = moving.evaluate(moment.t, moment.q, moment.v, context.params, branches)
        held = dict(zip(decision.mode.mode.held, lam, strict=True))
        for place in context.table.places:
            if place.name in values:
                values[place.name] = float(
                    held.get(place.normal, 0.0) if place.normal >= 0 else friction[place.slips[0]]
                )
    return {symbol: sp.Float(values[symbol.constraint], 17) for symbol in asked}


def _reset(
    setting: Setting, event: Event, v: Array, later: set[str]
) -> tuple[Setting, dict[str, Any] | None] | Transition:
    """Return the moment with velocities reset, and the jump; a stop where they violate what holds."""
    context, moment = setting.context, setting.moment
    if not np.isfinite(v).all():
        reason = f"At t = {moment.t:.12g} the Reset of event '{event.name}' gives a velocity that is not finite."
        return stopped_at(moment, MotionStatus.CHOICE, reason)
    after = moment.but(v=v)
    terms = terms_at(context, after)
    for place in context.table.places:
        if place.normal < 0 or place.name in later or (place.one_sided and place.on_position):
            continue
        rate = float((terms.rate if place.on_position else terms.value)[place.normal, 0])
        still = _tolerance(context) * _sizes(context, after, terms, place)[1]
        if abs(rate) > still and (rate < 0 or not place.one_sided):
            reason = (
                f"At t = {moment.t:.12g} the Reset of event '{event.name}' violates constraint '{place.name}', whose "
                f"rate would be {rate:.3g}. Reset all velocities that it ties together, or switch it off first: "
                f"then=[Switch(off='{place.name}'), Reset(...)]."
            )
            return stopped_at(moment, MotionStatus.CHOICE, reason, (), place.name)
    details = _jump(terms, event, moment.v, v, {})
    after = look(context, after.but(tied=frozenset()), terms, ZERO_AT_EVENT)
    return setting.at(after), details


def _jump(terms: Terms, event: Event, before: Array, after: Array, impulses: dict[str, float]) -> dict[str, Any]:
    mass = terms.mass[:, :, 0]
    return {
        "impulses": impulses,
        "friction_impulses": {},
        "before": before.copy(),
        "after": after.copy(),
        "energy_change": float(0.5 * (after - before) @ mass @ (after + before)),
        "event": str(event.name),
    }


def _sizes(context: Context, moment: Moment, terms: Terms, place: ContactPlace) -> tuple[float, float]:
    """Return the sizes of a constraint's value and rate: of its terms, now and on the way so far; angles have 1."""
    row = np.abs(terms.rows[place.normal, :, 0])
    far, fast, _ = moment.memory.sizes
    turns = np.array([float(item.angle) for item in context.model.system.coordinates])
    speed = np.maximum(np.abs(moment.v), fast)
    reach = np.maximum(np.maximum(np.abs(moment.q), far), turns) + speed * abs(moment.t - moment.memory.begun)
    own = float((terms.rate if place.on_position else terms.value)[place.normal, 0])
    return float(row @ reach), float(row @ speed) + abs(own - float(terms.rows[place.normal, :, 0] @ moment.v))


def _tolerance(context: Context) -> float:
    return max(ADMITTED, LOOSE * context.options.tol)


# Constraints that are switched.
def _switched(setting: Setting, event: Event, item: Switch) -> tuple[Setting, dict[str, Any] | None] | Transition:
    """Return the moment with other constraints, and the jump of its velocity if there is one; or why it stops."""
    context, moment = setting.context, setting.moment
    on = (set(context.table.names) - set(item.off)) | set(item.on)
    if context.on is not None and on == set(context.on):
        return setting, None
    turn = turned(context, on)
    moment = _renumbered(moment, context.table, turn.table)
    setting = Setting(
        turn, moment, _labels(setting.labels, context.table, turn.table),
        _watches(setting.watches, context.table, turn.table), None,
    )  # fmt: skip
    inertia = inertia_of(turn.model, turn.inputs(moment.t, moment.q, moment.v))
    if inertia.lost or inertia.weights:
        words = inertia.words if inertia.lost else "some part has no mass of its own, and this method can't go on."
        return stopped_at(moment, MotionStatus.SINGULAR, f"At t = {moment.t:.12g}, after event '{event.name}': {words}")
    terms = terms_at(turn, moment)
    fresh = [number for number, place in enumerate(turn.table.places) if place.name not in context.table.names]
    stop = _out_of_place(turn, moment, terms, event, fresh)
    if stop is not None:
        return stop
    moment = _settled(turn, moment, terms, fresh)
    return _caught(setting.at(moment), event, fresh)


def _out_of_place(
    context: Context, moment: Moment, terms: Terms, event: Event, fresh: Sequence[int]
) -> Transition | None:
    """Return a stop where a constraint on positions can't be switched on, with how far it is missed."""
    for place in (context.table.places[number] for number in fresh):
        if place.normal < 0 or not place.on_position:
            continue
        off = float(terms.value[place.normal, 0])
        near = _tolerance(context) * _sizes(context, moment, terms, place)[0]
        if off < -near or (not place.one_sided and off > near):
            needed = "not negative" if place.one_sided else "zero"
            reason = (
                f"At t = {moment.t:.12g} event '{event.name}' switches '{place.name}' on where its expression is "
                f"{off:.6g}; it must be {needed} there (tol {near:.1e}). Let the event wait for it: "
                "Event(the expression of that constraint, then=...)."
            )
            return stopped_at(moment, MotionStatus.CHOICE, reason, (), place.name)
    return None


def _settled(context: Context, moment: Moment, terms: Terms, fresh: Sequence[int]) -> Moment:
    """Return the moment moved onto the bilateral constraints that were switched on, by less than the tolerance."""
    places = context.table.places
    off = [float(terms.value[places[n].normal, 0]) for n in fresh if places[n].side is Side.BILATERAL]
    worst = float(np.abs(off).max(initial=0.0))
    held = [place.normal for place in places if place.side is Side.BILATERAL and place.on_position]
    if worst == 0.0 or not held:
        return moment
    q, _ = landed(context.conditions(moment.t, held), moment.q, moment.v, rounds=3, cut=NEARLY)
    return moment.but(q=q)


def _caught(setting: Setting, event: Event, fresh: Sequence[int]) -> tuple[Setting, dict[str, Any] | None] | Transition:
    """Return the moment after the plastic impact of constraints that were switched on, and its jump if there is one."""
    context, moment = setting.context, setting.moment
    terms = terms_at(context, moment)
    found = standing_at(context, terms, moment.q, moment.v, ZERO_AT_EVENT)
    places = context.table.places
    active = {n for n, place in enumerate(places) if place.one_sided and found.standing[n, 0] == Standing.ACTIVE}
    moment = moment.but(
        touching=moment.touching | active,
        resting=moment.resting | frozenset(np.flatnonzero(found.rest[:, 0]).tolist()),
    )
    # A contact that closes at this instant has its impact afterwards, if it still does.
    plastic = []
    for number in (n for n in fresh if places[n].normal >= 0):
        place = places[number]
        rate = float((terms.rate if place.on_position else terms.value)[place.normal, 0])
        lacks = rate < 0 and not place.on_position if place.one_sided else place.side is Side.BILATERAL
        if lacks and abs(rate) > ZERO_AT_EVENT * _sizes(context, moment, terms, place)[1]:
            plastic.append(number)
    if not plastic:
        held = [place.normal for place in places if place.side is Side.BILATERAL]
        if held and any(places[n].side is Side.BILATERAL for n in fresh):
            _, v = landed(context.conditions(moment.t, held), moment.q, moment.v, rounds=0)
            moment = moment.but(v=v)
        return setting.at(moment), None
    try:
        problem, numbers = impact_problem(context, moment, terms, tuple(plastic), False)
    except UnsoundRestitutionError as error:
        reason = f"The motion ends before the event '{event.name}' at t = {moment.t:.12g}: {error}"
        return Transition(moment, Stop(MotionStatus.UNFINISHED, reason))
    outcome = resolve_impact(problem, context.options.impact)
    if outcome.choice is not None:
        ways, among = outcomes_of(context, moment, outcome), context.policies.among
        taken = None if among is None else among(outcome, ways)
        if taken is None:
            reason = f"At t = {moment.t:.12g}, event '{event.name}': {outcome.choice}."
            return stopped_at(moment, MotionStatus.CHOICE, reason, ways)
        outcome = outcome.alternatives[taken]
    struck = strike(
        context, moment, terms, problem, outcome, numbers, tuple(plastic), {"event": str(event.name)}
    )  # fmt: skip
    # The step before is the better guess for the next one: a state at a zero up to rounding has no size.
    return setting.at(struck.moment.recalling(step=moment.memory.step)), dict(struck.jumps[0])


def _renumbered(moment: Moment, old: ContactTable, new: ContactTable) -> Moment:
    """Return a moment in the numbers of other constraints; those that are left out are forgotten."""
    places = {name: number for number, name in enumerate(new.names)}
    kept = {number: places[name] for number, name in enumerate(old.names) if name in places}

    def moved(numbers: frozenset[int]) -> frozenset[int]:
        return frozenset(kept[number] for number in numbers if number in kept)

    memory = moment.memory
    changed = {
        what: {kept[number]: value for number, value in getattr(memory, what).items() if number in kept}
        for what in ("flights", "ending", "closed")
    }
    moment = moment.recalling(**changed, nearness=Nearness())
    return moment.but(
        touching=moved(moment.touching), resting=moved(moment.resting), tied=moved(moment.tied), ahead=None
    )


def _labels(labels: Labels | None, old: ContactTable, new: ContactTable) -> Labels | None:
    if labels is None:
        return None
    known = dict(zip(old.names, labels, strict=True))
    return tuple(known.get(name, Mode.OPEN) for name in new.names)


def _watches(watches: tuple[Watch, ...], old: ContactTable, new: ContactTable) -> tuple[Watch, ...]:
    """Return the gaps that closed, in the numbers of other constraints: what else fired is known by then."""
    places = {place.name: place.normal for place in new.places}
    names = [(old.places[old.of_normal(k)].name) for kind, k in watches if kind == "gap"]
    return tuple(("gap", places[name]) for name in names if name in places)
