"""Nearby motions beside a motion, from its start through its events to its end: the one variational flow.

Sensitivities, monodromy matrices and Lyapunov exponents are made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zwang._kernels.variations import Jets, ModeVariations, variations
from zwang._linearize.saltation import GrazedError, GrazingError, NotDifferentiableError, jump_derivative, shift_of_time
from zwang._linearize.stretches import Propagated, propagate
from zwang._linearize.touches import touches
from zwang._linearize.trail import Instant, PassedStretch, Trail
from zwang._numerics.linear.projection import least_change
from zwang._simulate.moment import Context
from zwang._simulate.stretch import watched_expressions
from zwang._simulate.watch import said

Array = NDArray[np.float64]
GRAZES = "the motion grazes an event:"


def _acts(context: Context, watch: tuple[str, int]) -> bool:
    """Say whether a watch changes something when it fires: a user's event does where something follows from it."""
    kind, number = watch
    if kind != "extra":
        return True
    event = context.options.events[number]
    return bool(event.then) or event.stop


def _named(context: Context, watch: tuple[str, int]) -> str:
    """Say that a user's event comes to zero; empty for others."""
    kind, number = watch
    return f"'{context.options.events[number].name}' comes to zero" if kind == "extra" else ""


def _told(context: Context, watch: tuple[str, int]) -> str:
    """Say that a watch touches zero."""
    kind = watch[0]
    if kind == "extra":
        return f"{_named(context, watch)} and turns back"
    return f"{said(context.table, watch)} and {'opens again' if kind == 'gap' else 'turns back'}"


@dataclass(frozen=True, eq=False)
class NearbySample:
    """Nearby motions at a time: the state, and how it changes (2 n, k) at that time."""

    t: float
    q: Array
    v: Array
    x: Array


@dataclass(eq=False)
class VariationalFlow:
    """Nearby motions beside a motion.

    Parameters
    ----------
    trail : Trail
    chosen : tuple of int
        Numbers of the parameters that vary.
    dp : (p, k) array
        How they do, along each of k directions.

    Attributes
    ----------
    samples : list of NearbySample
        At the times that were asked for.
    shifts : dict of int to (k,) array
        Number of an event of the motion -> how its time changes.
    jumps : list of (time, x before, x after)
        Of every instant at which something changed.
    x : (2 n, k) array
        Nearby motions at the end, at the time of the end.
    end_shift : (k,) array
        How the time of the end changes: zero unless an event stopped the motion.
    grazed : GrazedError or None
        The first instant at which an event is grazed that is logged alone: the motion has a derivative there, while
        nearby motions have such events at other numbers of times.
    """

    trail: Trail
    chosen: tuple[int, ...]
    dp: Array
    samples: list[NearbySample] = field(default_factory=list)
    shifts: dict[int, Array] = field(default_factory=dict)
    jumps: list[tuple[float, Array, Array]] = field(default_factory=list)
    x: Array = field(default_factory=lambda: np.zeros((0, 0)))
    end_shift: Array = field(default_factory=lambda: np.zeros(0))
    grazed: GrazedError | None = None

    def run(self, x: Array, times: Sequence[float] = ()) -> VariationalFlow:
        """Carry nearby motions x (2 n, k), tangent to what holds at the start, to the end of the motion.

        Raises NotDifferentiableError at the first instant at which there is no derivative.
        """
        self.x, self.end_shift = x, np.zeros(x.shape[1])
        wanted = np.sort(np.asarray(times, dtype=float))
        last: PassedStretch | None = None
        way = self.trail.way
        for place, item in enumerate(way):
            if isinstance(item, PassedStretch):
                self._stretch(item, wanted)
                last = item
                continue
            following = next((one for one in way[place + 1 :] if isinstance(one, PassedStretch)), None)
            near = place + 1 < len(way) and isinstance(way[place + 1], Instant)
            self._instant(item, last, following, near)
        if self.trail.broken is not None:
            raise NotDifferentiableError(*self.trail.broken)
        return self

    def made_for(self, stretch: PassedStretch) -> ModeVariations:
        """Return the quantities of a stretch's mode with their derivatives."""
        return variations(
            stretch.context.model, stretch.mode, self.chosen, watched_expressions(stretch.context.options.events)
        )

    def _stretch(self, stretch: PassedStretch, wanted: Array) -> None:
        inside = wanted[(wanted > stretch.t[0]) & (wanted < stretch.t[-1])]
        times = np.union1d(stretch.t, inside)
        found = self._propagated(stretch, times)
        times = found.t
        n, asked = found.jets.n, set(wanted[(wanted >= stretch.t[0]) & (wanted <= stretch.t[-1])].tolist())
        q, v = stretch.states(times)
        for k, time in enumerate(times.tolist()):
            if time in asked:
                while self.samples and self.samples[-1].t == time:
                    self.samples.pop()  # at a jump the state after it
                self.samples.append(NearbySample(time, q[:, k].copy(), v[:, k].copy(), self.x.copy()))
            if k < len(found.phi):
                self.x = found.phi[k] @ self.x + found.psi[k] @ self.dp
        assert self.x.shape[0] == 2 * n

    def _propagated(self, stretch: PassedStretch, times: Array) -> Propagated:
        """Return what the steps of a stretch do, which no event grazes."""
        made = self.made_for(stretch)
        found = propagate(stretch, made, times)
        if not found.jets.regular.all():
            time = float(found.nodes[int(np.argmin(found.jets.regular))])
            raise NotDifferentiableError(time, "the equations have no unique solution")
        self._require_clear(stretch, made, found.nodes, found.jets)
        return found

    def _require_clear(self, stretch: PassedStretch, made: ModeVariations, nodes: Array, jets: Jets) -> None:
        """Raise where a watched quantity comes to zero within the stretch and turns round."""
        for time, watch in touches(stretch, made, nodes, jets):
            self._graze(stretch.context, watch, GrazedError(time, f"{GRAZES} {_told(stretch.context, watch)}"))

    def _graze(self, context: Context, watch: tuple[str, int], error: GrazedError) -> None:
        """Raise where something follows from what is grazed; keep it where it is logged alone."""
        if _acts(context, watch):
            raise error from None
        self.grazed = self.grazed or error

    def _instant(self, instant: Instant, last: PassedStretch | None, after: PassedStretch | None, near: bool) -> None:
        """Carry nearby motions through an instant."""
        context, before = instant.context, instant.before
        n, count = len(before.q), self.x.shape[1]
        if last is None:
            if instant.jumped:
                self._jump_at_start(instant)
            if near and any(_acts(context, watch) for watch in instant.watches):
                self._refuse_simultaneous(instant)
            return
        self._refuse_kinds(instant)
        made = self.made_for(last)
        jets = made.jets(np.array([before.t]), before.q[:, None], before.v[:, None], last.params)
        f = np.concatenate([before.v, jets.value[made.accelerations, 0]])
        shifts = {watch: self._shift(instant, made, jets, watch, f) for watch in instant.watches}
        acting = [shift for watch, shift in shifts.items() if _acts(context, watch)]
        self._log(instant, shifts)
        if instant.stopped:
            self.end_shift = next(iter(acting or shifts.values()), np.zeros(count))
            return
        if not acting:
            return
        dtau = acting[0]
        if any(np.abs(other - dtau).max(initial=0.0) > 1e-6 * np.abs(dtau).max(initial=0.0) for other in acting[1:]):
            self._refuse_simultaneous(instant)
        if near:
            self._refuse_simultaneous(instant)
        start = self.x
        moved = self.x + np.outer(f, dtau)
        if instant.jumped:
            moved = np.vstack([moved[:n], jump_derivative(context, instant, dtau, moved, self._all(count))])
        assert instant.after is not None
        a = after.a[0] if after is not None else f[n:]
        self.x = moved - np.outer(np.concatenate([instant.after.v, a]), dtau)
        self.jumps.append((before.t, start, self.x))

    def _all(self, count: int) -> Array:
        """Return how all parameters of the system vary (p, k)."""
        every = np.zeros((len(self.trail.context.params), count))
        every[list(self.chosen)] = self.dp
        return every

    def _jump_at_start(self, instant: Instant) -> None:
        n, count = len(instant.before.q), self.x.shape[1]
        jumped = jump_derivative(instant.context, instant, np.zeros(count), self.x, self._all(count))
        self.x = np.vstack([self.x[:n], jumped])

    def _shift(self, instant: Instant, made: ModeVariations, jets: Jets, watch: tuple[str, int], f: Array) -> Array:
        try:
            return shift_of_time(jets, made, watch, f, self.x, self.dp)
        except GrazingError:
            what = _named(instant.context, watch) or said(instant.context.table, watch)
            error = GrazedError(instant.before.t, f"{GRAZES} {what} at a rate of zero")
        self._graze(instant.context, watch, error)
        return np.full(self.x.shape[1], np.nan)

    def _log(self, instant: Instant, shifts: dict[tuple[str, int], Array]) -> None:
        """Keep the shifts of the motion's events at an instant, of a user's event its own."""
        names = [str(event.name) for event in instant.context.options.events]
        acting = [shift for watch, shift in shifts.items() if _acts(instant.context, watch)]
        for number in instant.events:
            event = self.trail.events[number]
            own = ("extra", names.index(event.name)) if event.kind == "user" and event.name in names else None
            found = shifts.get(own) if own is not None else None
            self.shifts[number] = found if found is not None else (acting or list(shifts.values()))[0]

    def _refuse_kinds(self, instant: Instant) -> None:
        for kind, words in (
            ("accumulation", "infinitely many impacts accumulate"),
            ("singular", "the motion passes a singular point"),
            ("method", "time stepping takes over"),
            ("paradox", "no reaction satisfies the laws"),
        ):
            if kind in instant.kinds:
                raise NotDifferentiableError(instant.before.t, words)
        if any(kind == "speed" for kind, _ in instant.watches):
            raise NotDifferentiableError(instant.before.t, "a slip in a plane comes to rest, which is not followed")

    def _refuse_simultaneous(self, instant: Instant) -> None:
        names = ", ".join(dict.fromkeys(said(instant.context.table, watch) for watch in instant.watches))
        words = f"events coincide ({names}) that come apart for nearby motions"
        raise NotDifferentiableError(instant.before.t, words)


def projected_start(
    stretch: PassedStretch | None, trail: Trail, chosen: tuple[int, ...], dz: Array, dp: Array
) -> Array:
    """Return how a start changes (2 n, k) that is asked to change by dz, kept on what holds there by the least change.

    The least change in the kinetic metric: positions first, then velocities.
    """
    if stretch is None:
        return dz.copy()
    context = stretch.context
    made = variations(context.model, stretch.mode, chosen, watched_expressions(context.options.events))
    moment = trail.first.before if not trail.first.jumped else trail.first.after
    assert moment is not None
    n = made.n
    jets = made.jets(np.array([moment.t]), moment.q[:, None], moment.v[:, None], stretch.params)
    mass = context.terms(moment.t, moment.q, moment.v).mass[:, :, 0]
    x = dz.copy()
    values, rates = jets[made.values], jets[made.rates]
    rows = values.by_state[:, :n, 0]
    off = values.by_state[:, :n, 0] @ x[:n] + values.by_params[:, :, 0] @ dp
    for k in range(x.shape[1]) if len(rows) else ():
        x[:n, k] += least_change(mass, rows, -off[:, k])
    rows = rates.by_state[:, n:, 0]
    off = rates.by_state[:, :, 0] @ x + rates.by_params[:, :, 0] @ dp
    for k in range(x.shape[1]) if len(rows) else ():
        x[n:, k] += least_change(mass, rows, -off[:, k])
    return x
