"""The verb `sensitivity`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._declare.switches import Event
from zwang._declare.system import System
from zwang._kernels.variations import variations
from zwang._linearize.asked import asked
from zwang._linearize.saltation import NotDifferentiableError
from zwang._linearize.trail import PassedStretch, Trail, followed
from zwang._linearize.variational_flow import VariationalFlow, projected_start
from zwang._numerics.budget import Allowed, Spent, spend
from zwang._numerics.jit import tiered
from zwang._progress import Progress, progress_bar
from zwang._results import Provenance
from zwang._results.finite import within_doubles
from zwang._results.motion import Motion, MotionStatus
from zwang._results.sensitivity import Sensitivity, SensitivityStatus
from zwang._sensitivity.varied import Observed, Varied, names_of, varied
from zwang._simulate.stretch import watched_expressions

Array = NDArray[np.float64]
WORDS = ("end", "events", "reactions")


@tiered("sensitivity", main="advance", seconds=20)
@within_doubles()
def sensitivity(
    system: System | Model,
    state: Mapping[Any, float],
    params: Mapping[Any, float] | None = None,
    *,
    until: float,
    wrt: Any,
    of: Any = ("end",),
    tol: float = 1e-10,
    events: Iterable[Event] = (),
    impact: str | None = None,
    progress: Progress = None,
    budget: Allowed = None,
    backend: str = "native",
    inputs: Mapping[Any, Any] | None = None,
) -> Sensitivity:
    """Return derivatives of a motion by parameters and initial values, through its events.

    Between events the linearized equations are carried along the motion; at each event a jump matrix takes in that
    nearby motions meet it at another time, impacts by the derivative of their law. The start is kept on the constraints
    that act there (contacts that are closed or stick stay so) by the least change in the kinetic metric.

    Parameters
    ----------
    system : System or Model
    state, params : mapping
        Symbol or name -> number.
    until : float
        End of the motion [s].
    wrt : names or symbols
        What is varied: parameters, and initial values by their coordinates and velocities.
    of : 'end', 'events', 'reactions' or expressions
        Of what: the state at the end (2 n values, q then v), the times of the events, the reactions at the end, or
        expressions of q, v, t there.
    tol : float
        Of the motion; derivatives are as accurate.
    events, impact, progress, budget, backend, inputs
        As in `simulate`.

    Returns
    -------
    Sensitivity
        NOT_DIFFERENTIABLE, with instant and reason, at a grazing, at events that coincide for this motion alone, at an
        accumulation of impacts, and where the outcome of an impact is on the edge of its mode. Where an event is grazed
        from which nothing follows (no ``then``, no ``stop``), only the times of events have no derivative: it is given
        of everything else.

    Examples
    --------
    A ball falls from h = 1 and bounces with e: dt/dh of its first impact is 1/sqrt(2 g h).

    >>> import zwang as zw
    >>> ball = zw.gallery.get("bouncing_ball")
    >>> found = zw.sensitivity(ball.system, ball.state, ball.params, until=0.8, wrt=["y", "e"], of=["end", "events"])
    >>> found.derivative["events"]["y"].round(6), found.value["events"].round(6)
    (array([0.225762]), array([0.451524]))
    >>> found.derivative["end"]["e"].round(6)
    array([1.543558, 4.429447])
    """
    question = asked("sensitivity", system, state, params, inputs, backend)
    model, start = question.model, float(question.given.t[0])
    what = varied(model.system, wrt, "wrt")
    quantities = names_of(of)
    observed = Observed(model.system, {key: item for key, item in quantities.items() if key not in WORDS})
    options = question.options(until=until, tol=tol, events=events, impact=impact, budget=budget)
    with progress_bar(progress, f"sensitivity {question.name}", start=start, end=options.until) as told:
        motion, trail = followed(model, question.given, replace(options, progress=told))
    return _result(model, motion, trail, what, tuple(quantities), observed)


def flow_of(trail: Trail, what: Varied, times: Any = ()) -> VariationalFlow:
    """Return nearby motions beside a motion; NotDifferentiableError where there are none."""
    first = next((item for item in trail.way if isinstance(item, PassedStretch)), None)
    x = projected_start(first, trail, what.chosen, what.dz, what.dp)
    return VariationalFlow(trail, what.chosen, what.dp).run(x, times)


def _result(
    model: Model, motion: Motion, trail: Trail, what: Varied, quantities: tuple[str, ...], observed: Observed
) -> Sensitivity:
    status, reason, instant = SensitivityStatus.DIFFERENTIABLE, "", float("nan")
    flow: VariationalFlow | None = None
    if motion.status is not MotionStatus.REACHED:
        unfinished = motion.status in (MotionStatus.UNFINISHED, MotionStatus.INTERRUPTED)
        status = SensitivityStatus.UNFINISHED if unfinished else SensitivityStatus.NOT_DIFFERENTIABLE
        instant = float(motion.t[-1])
        reason = motion.reason or f"The motion ends at t = {instant:.12g}: {motion.status.value}"
    else:
        try:
            spend()
            flow = flow_of(trail, what)
        except NotDifferentiableError as error:
            status, reason, instant = SensitivityStatus.NOT_DIFFERENTIABLE, str(error), error.time
        except Spent as spent:
            status, reason = SensitivityStatus.UNFINISHED, str(spent)
    end = _End(model, motion, trail, what, flow)
    values = {key: end.value(key, observed) for key in quantities}
    smooth = () if flow is None else quantities
    if flow is not None and flow.grazed is not None and "events" in quantities:
        status, reason, instant = SensitivityStatus.NOT_DIFFERENTIABLE, str(flow.grazed), flow.grazed.time
        smooth = tuple(key for key in quantities if key != "events")
    slopes = {key: end.slopes(key, observed) for key in smooth}
    return Sensitivity(
        status=status,
        residual=end.residual(),
        provenance=Provenance.now(
            model.system.digest, tolerances={"tol": trail.context.options.tol}, backend=model.backend
        ),
        name=model.system.name,
        wrt=what.names,
        values=values,
        derivatives=slopes,
        motion=motion,
        instant=instant,
        reason=reason,
    )


class _End:
    """The end of a motion: values there, and their derivatives."""

    def __init__(self, model: Model, motion: Motion, trail: Trail, what: Varied, flow: VariationalFlow | None) -> None:
        self.model, self.motion, self.trail, self.what, self.flow = model, motion, trail, what, flow
        self.t, self.q, self.v = float(motion.t[-1]), motion.q[-1], motion.v[-1]
        stretches = [item for item in trail.way if isinstance(item, PassedStretch)]
        self.stretch = stretches[-1] if stretches else None

    def _moved(self) -> tuple[Array, Array]:
        """Return how the end changes (2 n, k), and its time (k,): an event that stops a motion moves."""
        assert self.flow is not None
        a = self.stretch.a[-1] if self.stretch is not None else np.zeros(len(self.q))
        f = np.concatenate([self.v, a])
        return self.flow.x + np.outer(f, self.flow.end_shift), self.flow.end_shift

    def _reactions(self) -> tuple[list[str], Array, Array] | None:
        """Return names, values (r,) and derivatives (r, 1 + 2 n + p) of the reactions in the last mode."""
        if self.stretch is None:
            return None
        table = self.stretch.context.table
        watched = watched_expressions(self.stretch.context.options.events)
        made = variations(self.stretch.context.model, self.stretch.mode, self.what.chosen, watched)
        jets = made.jets(np.array([self.t]), self.q[:, None], self.v[:, None], self.stretch.params)
        lam = jets[made.multipliers]
        names = [table.places[table.of_normal(j)].name for j in made.mode.held]
        return names, lam.value[:, 0], lam.slope[:, :, 0]

    def value(self, key: str, observed: Observed) -> Any:
        """Return a quantity."""
        if key == "end":
            return np.concatenate([self.q, self.v])
        if key == "events":
            return np.array([event.time for event in self.motion.events])
        if key == "reactions":
            found = self._reactions()
            known = {} if found is None else dict(zip(found[0], found[1].tolist(), strict=True))
            return {
                place.name: known.get(place.name, 0.0) for place in self.trail.context.table.places if place.normal >= 0
            }
        k = observed.names.index(key)
        return float(observed.value(k, *self._state())[0])

    def _state(self) -> tuple[Array, Array, Array, Array]:
        return np.array([self.t]), self.q[:, None], self.v[:, None], self.trail.context.params

    def slopes(self, key: str, observed: Observed) -> dict[str, Any]:
        """Return the derivatives of a quantity by everything that was varied."""
        assert self.flow is not None
        x, shift = self._moved()
        names, count = self.what.names, len(self.what.names)
        if key == "end":
            return {name: x[:, k].copy() for k, name in enumerate(names)}
        if key == "events":
            none = np.zeros(count)
            rows = np.array([self.flow.shifts.get(i, none) for i in range(len(self.motion.events))]).reshape(-1, count)
            return {name: rows[:, k].copy() for k, name in enumerate(names)}
        if key == "reactions":
            found = self._reactions()
            known = {}
            if found is not None:
                total = found[2] @ np.vstack([shift, x, self.what.dp])
                known = dict(zip(found[0], total, strict=True))
            places = [place.name for place in self.trail.context.table.places if place.normal >= 0]
            return {
                name: {one: float(known[one][k]) if one in known else 0.0 for one in places}
                for k, name in enumerate(names)
            }
        slope = observed.slope(observed.names.index(key), *self._state())[:, 0]
        n = 2 * len(self.q)
        by_p = slope[1 + n :][list(self.what.chosen)]
        total = slope[0] * shift + slope[1 : 1 + n] @ x + by_p @ self.what.dp
        return {name: float(total[k]) for k, name in enumerate(names)}

    def residual(self) -> float:
        """How far the derivatives of the end miss the constraints that hold there, relative to their terms."""
        if self.flow is None or self.stretch is None:
            return float("nan")
        made = self.flow.made_for(self.stretch)
        jets = made.jets(np.array([self.t]), self.q[:, None], self.v[:, None], self.stretch.params)
        worst = 0.0
        for part in (jets[made.values], jets[made.rates]):
            off = part.by_state[:, :, 0] @ self.flow.x + part.by_params[:, :, 0] @ self.what.dp
            size = np.abs(part.by_state[:, :, 0]) @ np.abs(self.flow.x) + np.abs(part.by_params[:, :, 0]) @ np.abs(
                self.what.dp
            )
            worst = max(worst, float((np.abs(off) / (size.max(initial=0.0) + 1e-300)).max(initial=0.0)))
        return worst
