"""From mode to mode: a smooth stretch, an event, the next mode."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.inertia import fading_inertia
from zwang._compile.laws import laws_vary, require_restitution
from zwang._interrupts import taken
from zwang._numerics.budget import Spent, spend, steps_left
from zwang._numerics.contact.modes import Mode
from zwang._results.finite import NotFiniteError
from zwang._results.motion import MotionStatus
from zwang._simulate.accumulating import Flights
from zwang._simulate.breaking import broken, chattering, growing_reaction
from zwang._simulate.bridging import step_over
from zwang._simulate.choosing import chooser
from zwang._simulate.deciding import Decision, decide, held_again, parted_ways, slips_apart
from zwang._simulate.dips import Lookout
from zwang._simulate.happenings import happen
from zwang._simulate.measured import Measured
from zwang._simulate.moment import Ground, Moment
from zwang._simulate.recording import Record
from zwang._simulate.request import Request
from zwang._simulate.resting import at_rest, stands
from zwang._simulate.singular import Points, leave_singular, meet_singular, pass_singular
from zwang._simulate.slowing import stopped
from zwang._simulate.starting import leave_rest, turning
from zwang._simulate.stiff_contact import resolve_choice, resolve_paradox
from zwang._simulate.stopping import Stop, paradox, stopped_at
from zwang._simulate.stretches import moving_for
from zwang._simulate.unsound import until_unsound
from zwang._simulate.watching import bands_of, branches_of, sides_of, spatial_stress
from zwang._simulate.wedging import wedges
from zwang.errors import StateError

Array = NDArray[np.float64]
CHUNK = 2000
"""Steps after which a stretch is handed over."""
FEW = 200
"""The same where slips in planes are looked at for coming to rest."""
EVENT = 500
"""Steps that an event counts for in a budget: it takes about as long."""
STRICTER = 0.02
"""What a step may err, as a part of what the motion may: errors of many steps add up, and order 8 makes this cheap."""
SHARPEST = 1e-15
BLURRED = 14.0
"""What log det(J M^-1 J^T) has fallen from its largest value where the sign of a multiplier is not to be trusted."""
STANDSTILL = 60
"""Events without any time passing after which a motion chatters."""


class Driver:
    """One motion in the making."""

    def __init__(self, ground: Ground, request: Request) -> None:
        self.ground, self.request = ground, request
        self.record = Record(ground.table.names, request.stream)
        self.choose = chooser(request, self.record)
        self.step = 0.0
        self.moment: Moment
        self.before: tuple[Mode, ...] | None = None
        self.flights: dict[int, Flights] = {}
        self.ending: dict[int, float] = {}
        self.closed: dict[int, float] = {}
        self.sizes: tuple[Array, Array, Array]
        self.begun = float("nan")
        self.bridges = 0
        self._still = (float("nan"), 0)
        self.lookout, self.points = Lookout(), Points()
        self.laws_vary, self.unsound = laws_vary(ground.model.system), ""
        self._happened: list[str] = []

    def run(self, moment: Moment) -> Stop:
        """Carry a motion to its end; return why it ended."""
        self.moment, self.begun = moment, moment.t
        self.sizes = (np.abs(moment.q), np.abs(moment.v), np.zeros(len(moment.q)))
        try:
            stop = self._run(moment)
            while stop.passable and self.request.method == "auto":
                entered = step_over(self, stop)
                stop = entered if isinstance(entered, Stop) else self._go_on(*entered)
            return stop
        except KeyboardInterrupt:
            taken()
            return self._interrupted()
        except Spent as spent:
            return Stop(MotionStatus.UNFINISHED, f"At t = {self.moment.t:.6g}: {spent}")
        except NotFiniteError as error:
            if not self.record.pieces:
                raise
            return Stop(MotionStatus.UNFINISHED, f"At t = {self.moment.t:.12g}: {error}")

    def _interrupted(self) -> Stop:
        reached = max([self.moment.t, *(float(piece.t[-1]) for piece in self.record.pieces[-1:])])
        reason = f"Interrupted at t = {reached:.6g}; it was to go on until {self.request.until:.6g}."
        return Stop(MotionStatus.INTERRUPTED, reason)

    @property
    def span(self) -> float:
        """A time on which the motion changes little."""
        return self.step if self.step > 0 else 0.1 * (self.request.until - self.moment.t)

    @property
    def kept(self) -> int:
        """Bytes that a step keeps: times, states, accelerations, dense output; none where they go to a file."""
        return 0 if self.request.stream is not None else 8 * (1 + 17 * len(self.moment.q))

    def pay(self, found: Any) -> None:
        """Pay for the steps of a stretch."""
        spend(len(found.t) - 1, (len(found.t) - 1) * self.kept)

    def resume(self) -> None:
        """Forget what was known of steps and flights: the motion goes on from a state of its own."""
        self.step, self.flights, self.ending, self.closed = 0.0, {}, {}, {}
        self._still, self._happened = (float("nan"), 0), []

    def decide(self, moment: Moment, before: tuple[Mode, ...] | None) -> Decision:
        """Return the next mode."""
        return decide(self.ground, moment, before, self.choose, self.span)

    def _run(self, moment: Moment) -> Stop:
        spend()
        entered = happen(self, moment, None, ())
        if isinstance(entered, Stop):
            return entered
        entered = leave_singular(self, *entered) or entered
        return entered if isinstance(entered, Stop) else self._go_on(*entered)

    def _go_on(self, moment: Moment, decision: Decision) -> Stop:
        """Carry a motion on from a moment in a mode."""
        while True:
            self.moment = moment
            if moment.t >= self.request.until:
                return Stop(MotionStatus.REACHED)
            moment = self.moment = leave_rest(self, moment, decision)
            found = self.advance(moment, decision)
            dip = self.lookout.look(self, found)
            met = None if dip is None else meet_singular(self, moment, decision, found, dip)
            if isinstance(met, Stop):
                return met
            if met is not None:
                self.lookout.forget()
                moment, decision = met
                self.moment = moment
                if found.status == "INTERRUPTED":
                    return self._interrupted()
                spend(EVENT)
                continue
            later = moment.but(t=float(found.t[-1]), q=np.array(found.q[-1]), v=np.array(found.v[-1]), ahead=None)
            parted = slipping = None
            if decision.held is not None and decision.held.undetermined and found.status != "INTERRUPTED":
                parted = parted_ways(self.ground, later, decision)
                slipping = None if parted or self.unsound else slips_apart(self.ground, later, decision)
            if slipping is not None:  # from which of its steps on is not known: the stretch is left out
                return Stop(MotionStatus.UNFINISHED, slipping, passable=True)
            self.record.stretch(found, decision)
            moment = self.moment = later
            if self.request.progress is not None:
                self.request.progress(moment.t)
            if found.status == "INTERRUPTED":
                return self._interrupted()
            if self.unsound:
                return Stop(MotionStatus.UNFINISHED, self.unsound)
            if parted is not None:
                return stopped_at(self.record, MotionStatus.SINGULAR, moment.t, parted)
            if found.status == "REACHED":
                with suppress(Spent):  # it has arrived; other motions of an ensemble may find nothing left
                    self.pay(found)
                return Stop(MotionStatus.REACHED)
            self.pay(found)
            if found.status == "PAUSED":
                if words := wedges(self.ground, moment, decision):
                    return stopped_at(self.record, MotionStatus.SINGULAR, moment.t, words)
                continue
            if found.status != "FIRED":
                passed = self._broken(found, moment, decision)
                if isinstance(passed, Stop):
                    return passed
                moment, decision = passed
                self.moment = moment
                spend(EVENT)
                continue
            names = tuple(self.moving.watch_names[k] for k in found.fired)
            following: Stop | tuple[Moment, Decision]
            if any(kind == "normal" for kind, _ in names) and (words := wedges(self.ground, moment, decision)):
                following = stopped_at(self.record, MotionStatus.SINGULAR, moment.t, words)
            elif any(kind == "normal" for kind, _ in names) and self._blurred():
                following = pass_singular(self, moment, decision)
            else:
                following = happen(self, moment, decision, names)
            if isinstance(following, Stop):
                return following
            self.moment = following[0]
            spend(EVENT)
            if self._chatters(following[0], names):
                return self._standstill(following[0], following[1])
            moment, decision = following

    def advance(self, moment: Moment, decision: Decision, until: float | None = None) -> Any:
        """Make steps from a moment in a mode, to the end or to a time before it; they are not recorded yet."""
        held = decision.held
        assert held is not None  # a decision without a mode is a Stop
        self.moving = moving_for(self.ground.model, held.mode, self.request.events)
        sides = sides_of(self, decision, moment)
        planes = turning(self.ground, decision.labels)
        rest = stands(self.ground, decision, moment)
        if rest:
            moment = moment.but(v=np.zeros(len(moment.v)))
        found = self.moving.advance(
            moment.t,
            moment.q,
            moment.v,
            self.ground.params,
            self.request.until if until is None else until,
            max(STRICTER * self.request.tol, SHARPEST),
            sides,
            max_steps=min(CHUNK if not planes else FEW, steps_left(self.kept)),
            first_step=self.step,
            bands=bands_of(self, decision, moment),
            branches=branches_of(self, moment),
            between=self.request.progress,
        )
        if planes:
            found = stopped(self.ground, decision, found, self.moving.watch_names, self.sizes[1])
        if rest:
            found = at_rest(found)
        if self.laws_vary:
            found, self.unsound = until_unsound(self.ground, found)
        if not self.ground.table.smooth:
            rows = (found.q, found.v, found.a)
            self.sizes = tuple(
                np.maximum(size, np.abs(row).max(axis=0)) for size, row in zip(self.sizes, rows, strict=True)
            )
        if found.next_step > 0:
            self.step = float(found.next_step)
        return found

    def _broken(self, found: Any, moment: Moment, decision: Decision) -> Stop | tuple[Moment, Decision]:
        """Return what follows where the steps could not go on: a singular point, or a motion that blows up."""
        words = wedges(self.ground, moment, decision)
        if words is not None:
            return stopped_at(self.record, MotionStatus.SINGULAR, moment.t, words)
        if found.status == "NOT_FINITE":
            self._refuse_nan_events(found, moment)
        if found.status == "IRREGULAR":
            other = held_again(self.ground, moment, decision)
            if other is not None:
                return moment, other
            passed = pass_singular(self, moment, decision)
            if isinstance(passed, Stop) and (growing := growing_reaction(self, decision)):
                return replace(passed, reason=f"{passed.reason} Before it {growing}.")
            return passed
        fading = fading_inertia(self.ground.model, self.ground.inputs(moment.t, moment.q, moment.v))
        if fading:
            reason = (
                f"By t = {moment.t:.12g} the inertia of the motion {fading} vanishes: massless parts come to where "
                "neither the masses nor the constraints determine how they move on."
            )
            return stopped_at(self.record, MotionStatus.SINGULAR, moment.t, reason)
        words = "not finite" if found.status == "NOT_FINITE" else "beyond what steps of any size can follow"
        return broken(self, moment, decision, words)

    def _refuse_nan_events(self, found: Any, moment: Moment) -> None:
        """Raise a StateError that names the user's event whose expression is not a number."""
        for kind, k in (self.moving.watch_names[k] for k in found.fired):
            if kind == "extra":
                raise StateError(
                    f"{self.ground.name}: the expression of event '{self.request.events[k].name}' is not a finite "
                    f"number at t = {moment.t:.6g} or within the next step. Give one that is finite along the motion."
                )

    def _chatters(self, moment: Moment, names: tuple[Any, ...]) -> bool:
        if all(name[0] == "extra" for name in names):
            return False
        last, count = self._still
        passed = not moment.t - last <= 1e-13 * max(abs(moment.t), self.span)
        self._still = (moment.t, 0) if passed else (last, count + 1)
        self._happened = [] if passed else self._happened
        self._happened += [self._words(kind, k) for kind, k in names]
        return self._still[1] >= STANDSTILL

    def _standstill(self, moment: Moment, decision: Decision) -> Stop:
        """Return why a motion ends whose events don't let time pass."""
        free = spatial_stress(self.ground, decision)
        if free:
            names = ", ".join(f"'{self.ground.table.places[number].name}'" for number in sorted(free))
            reason = (
                f"At t = {moment.t:.12g} the forces of {names} are undetermined and stick in planes, and something "
                "moves or depends on time: this method cannot tell when they slip. Use method='auto' or 'timestepping'."
            )
            return Stop(MotionStatus.UNFINISHED, reason, passable=True)
        return chattering(self, moment, self._happened)

    def _words(self, kind: str, k: int) -> str:
        """Return what a watch that fired says."""
        table = self.ground.table
        if kind in ("gap", "value", "normal"):
            words = {"gap": "gap of '{}' closes", "value": "'{}' closes", "normal": "reaction of '{}' changes its sign"}
            return words[kind].format(table.places[table.of_normal(k)].name)
        if kind in ("slip", "speed", "reserve"):
            name = table.places[table.of_law(k)].name
            return f"friction of '{name}' is used up" if kind == "reserve" else f"slip of '{name}' stops"
        return {"surface": "a force switches", "singular": "a singular point is near"}.get(kind, "an event")

    def _blurred(self) -> bool:
        """Say whether the rows are so nearly dependent that the sign of a multiplier is rounding, not physics."""
        return self.lookout.fallen > BLURRED

    def direction_of(self, k: int, moment: Moment) -> int:
        """Return in which direction the expression of a user's event crosses zero: 1 rising, -1 falling."""
        a = self.record.pieces[-1].a[-1] if self.record.pieces else np.zeros(len(moment.q))
        measured = Measured(self.ground.model.system, [event.expr for event in self.request.events])
        return int(np.sign(measured.rate(k, moment.t, moment.q, moment.v, a, self.ground.params)))

    def restitution(self, number: int, moment: Moment) -> float | None:
        """Return the coefficient of restitution of a constraint at a moment, None where none was declared."""
        expr = self.ground.model.system.constraints[number].restitution  # type: ignore[union-attr]
        if expr is None:
            return None
        measured = Measured(self.ground.model.system, [expr])
        e = measured.value(0, moment.t, moment.q, moment.v, self.ground.params)
        return require_restitution(self.ground.name, self.ground.table.names[number], e)

    def beyond(self, moment: Moment, surfaces: list[int]) -> Moment:
        """Return the moment just beyond switching surfaces: on the other side of each, at a distance of rounding."""
        places = [self.moving.watch_names.index(("surface", k)) for k in surfaces]
        a = self.record.pieces[-1].a[-1] if self.record.pieces else np.zeros(len(moment.q))

        def at(h: float) -> tuple[float, Array, Array]:
            return moment.t + h, moment.q + h * moment.v, moment.v + h * a

        def side(h: float) -> Array:
            return np.sign(self.moving.evaluate(*at(h), self.ground.params)[3][places])

        before = side(-1e-6 * self.span)
        unit = float(np.spacing(max(abs(moment.t), self.span)))
        for power in range(24):
            h = unit * 2.0**power
            if np.all(side(h) == -before):
                return moment.but(ahead=at(h))
        return moment

    def no_mode(self, decision: Decision, moment: Moment) -> Stop | tuple[Moment, Decision]:
        """Return what follows where no mode was decided: a paradox or a choice."""
        if decision.stop is MotionStatus.PARADOX and self.request.at_paradox == "impact":
            found = decision.reactions
            whose = found.contacts[0] if found is not None and len(found.contacts) == 1 else None
            self.record.event(moment.t, "paradox", whose)
            return happen(self, moment, None, (), without_collision=True)
        if decision.stop is MotionStatus.PARADOX and self.request.at_paradox == "realize":
            return resolve_paradox(self, decision, moment)
        if decision.stop is MotionStatus.CHOICE and self.request.at_choice == "realize":
            return resolve_choice(self, decision, moment)
        return paradox(self, decision, moment)
