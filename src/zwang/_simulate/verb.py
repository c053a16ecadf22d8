"""The verb `simulate`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from zwang._compile import Model, compile
from zwang._compile.inertia import Inertia, inertia_of
from zwang._compile.states import ProjectedState, project_each
from zwang._compile.values import Inputs, resolve
from zwang._declare.contact_table import table_of
from zwang._declare.friction_forms import law_rows
from zwang._declare.system import System
from zwang._derive.supported import declared_digest
from zwang._numerics.budget import Allowed, Meter, spending
from zwang._numerics.jit import tiered
from zwang._numerics.tolerances import function, real
from zwang._results import Provenance
from zwang._results.ensemble import Ensemble, EnsembleStatus
from zwang._results.finite import within_doubles
from zwang._results.motion import Motion, MotionStatus
from zwang._results.motion_parts import Events, MotionEvent, MotionPiece
from zwang._results.streaming import MotionStream
from zwang._simulate.admission import admit
from zwang._simulate.driver import Driver
from zwang._simulate.moment import Ground, Moment
from zwang._simulate.request import (
    AT_CHOICE,
    AT_PARADOX,
    AT_SINGULAR,
    BUDGET,
    IMPACT_LAWS,
    METHODS,
    STARTS,
    Request,
    check_tol,
    check_until,
    check_word,
)
from zwang._simulate.rows import RowSource
from zwang._simulate.side_by_side import side_by_side
from zwang._simulate.step_motion import check_rules, motion_by_steps
from zwang._simulate.stopping import Stop, stopped_at
from zwang._simulate.user_events import Event, read_events
from zwang.errors import DeclarationError, StateError


def _asked_once(given: Mapping[str, Any]) -> bool:
    """Whether a motion may not be begun twice: it is written to a file, or asks functions of the user."""
    return given.get("out") is not None or any(callable(given.get(name)) for name in ("at_choice", "at_singular"))


@overload
def simulate(
    system: System | Model | Motion,
    state: Mapping[Any, float] | None = ...,
    params: Mapping[Any, float] | None = ...,
    *,
    until: float,
    tol: float = ...,
    method: str = ...,
    step: float | None = ...,
    start: str | None = ...,
    events: Iterable[Event] = ...,
    impact: str | None = ...,
    at_paradox: str = ...,
    at_choice: str | Callable[[Any], int | None] = ...,
    at_singular: Any = ...,
    redundant: str | None = ...,
    progress: Callable[[float], None] | None = ...,
    out: str | Path | None = ...,
    budget: Allowed = ...,
    backend: str = ...,
) -> Motion: ...


@overload
def simulate(
    system: System | Model | Motion,
    state: Mapping[Any, Any] | None = ...,
    params: Mapping[Any, Any] | None = ...,
    *,
    until: float,
    tol: float = ...,
    method: str = ...,
    step: float | None = ...,
    start: str | None = ...,
    events: Iterable[Event] = ...,
    impact: str | None = ...,
    at_paradox: str = ...,
    at_choice: str | Callable[[Any], int | None] = ...,
    at_singular: Any = ...,
    redundant: str | None = ...,
    progress: Callable[[float], None] | None = ...,
    out: str | Path | None = ...,
    budget: Allowed = ...,
    backend: str = ...,
) -> Motion | Ensemble: ...


@tiered("simulate", main="advance", seconds=20, once=_asked_once)
def simulate(
    system: System | Model | Motion,
    state: Mapping[Any, Any] | None = None,
    params: Mapping[Any, Any] | None = None,
    *,
    until: float,
    tol: float = 1e-10,
    method: str = "events",
    step: float | None = None,
    start: str | None = None,
    events: Iterable[Event] = (),
    impact: str | None = None,
    at_paradox: str = "stop",
    at_choice: str | Callable[[Any], int | None] = "stop",
    at_singular: Any = "stop",
    redundant: str | None = None,
    progress: Callable[[float], None] | None = None,
    out: str | Path | None = None,
    budget: Allowed = None,
    backend: str = "native",
) -> Motion | Ensemble:
    """Return the motion of a system from a state, with its events.

    In each mode (which constraints hold, which frictions stick) the motion is smooth: steps of order 8 with dense
    output, projected onto the constraints in the metric of the kinetic energy. Where a gap closes, a reaction vanishes,
    a slip stops or friction reaches its bound, the instant is located and `reactions` decides the next mode. What the
    laws leave open is not decided silently: the motion stops there with a status and its possible continuations.

    Parameters
    ----------
    system : System, Model or Motion
        A Motion is carried on from its end, with its own parameters.
    state, params : mapping
        Symbol or name -> number, or array for many motions at once. The time ``t`` of the state is 0 unless given.
    until : float
        When to stop [s]; the last row has exactly this time.
    tol : float
        Error allowed in a step, relative to 1 + the size of each coordinate and velocity.
    method : {'events', 'timestepping', 'auto'}
        Mode by mode with located events, or steps of fixed length after Moreau and Jean, of first order: for many
        contacts, and as an independent check. Restitution is then Newton's, contact by contact. 'auto': by events, and
        by time stepping over stretches that events can't follow (UNFINISHED), where it converges as its step is halved;
        both ends are events of the kind 'method'. Never over a choice, a paradox or a singular point.
    step : float, optional
        Length of the steps of time stepping [s]; a millisecond, or less for short motions, if left out.
    start : {None, 'project'}
        'project' moves the state first onto its bilateral constraints and out of violated one-sided ones, by the least
        change in the kinetic metric (see `Model.project`); how far it went is the event of the kind 'project'. Without
        it such a state is a StateError.
    events : sequence of Event
        Zeros of expressions to be logged, or to stop at.
    impact : {'newton', 'poisson', 'energetic'}, optional
        The law of impact; needed only where they differ (friction, several contacts closing together).
    at_paradox : {'stop', 'impact', 'realize'}
        Where no reaction exists: stop; let an impact without collision happen; or ask stiff springs in place of the
        contact and take the impact they tend to.
    at_choice : {'stop', 'keep mode', 'realize'} or callable
        Where several accelerations satisfy the laws: stop; go on in the mode that there was; ask a stiff spring; or
        take the solution whose index the callable returns for the `Reactions` (None: stop).
    at_singular : {'stop', 'straight', 'realize'} or callable
        At a singular point of the configuration space: stop; go on in the direction of arrival, if one half-branch (one
        sheet, with several degrees of freedom) has it; ask stiff springs in place of all constraints; or take the
        continuation that the callable chooses (None: stop).
    redundant : {None, 'minimum norm'}
        Reactions that dependent constraints leave open are nan, or those of least norm.
    progress : callable, optional
        Called with the time reached, a few times a second.
    out : path, optional
        A ``.npz`` file for the whole motion, while memory holds the last rows only; `load_result` reads it. Until the
        motion has ended it grows in a draft beside it, ``<out>.part``; a file that was there stays until then. Of a
        process that was killed, `load_result` reads the draft up to its last block.
    budget : float or mapping, optional
        Seconds, or a mapping of ``seconds``, ``steps`` and ``memory`` (bytes of what is kept), by default an hour, five
        million steps, of which an event counts for 500, and 500 MB. Where one is spent the motion ends, UNFINISHED,
        with what there is of it. Steps and memory end it at the same place on every machine. An ensemble has one
        budget.
    backend : str
        Which backend evaluates the equations.

    Returns
    -------
    Motion
        Its status says how it ended; a state that violates a constraint is a StateError.
    Ensemble
        Of motions, where the state or the parameters hold arrays.

    Examples
    --------
    >>> import zwang as zw
    >>> sleigh = zw.gallery.get("sleigh_ahead")
    >>> motion = zw.simulate(sleigh.system, sleigh.state, sleigh.params, until=3.0, tol=1e-12)
    >>> motion.events
    release of 'blade' at t = 1.636204366503
    """
    if isinstance(system, Motion):
        system, state, params = _carried_on(system, state, params)
    if not isinstance(system, (System, Model)):
        raise DeclarationError(f"simulate needs a System, a Model or a Motion; it was given {system!r:.80}.")
    if state is None:
        raise DeclarationError("simulate: a system needs a state: simulate(system, state, params, until=...).")
    shown = (system.system if isinstance(system, Model) else system).drawing
    model = compile(system, system.backend if isinstance(system, Model) else backend)
    if not all(rows.plain and not rows.axes for rows in law_rows(model.system)):
        raise DeclarationError(f"{model.system.name}: motions know Coulomb's law with one coefficient. Ask reactions.")
    name = model.system.name
    inputs = resolve(model.system, state, params)
    moved: tuple[ProjectedState, ...] = ()
    if start is not None and check_word(name, "start", start, STARTS):
        inputs, moved = project_each(model.system, model.kernels, inputs)
    request = Request(
        until=check_until(name, until, float(inputs.t.min())),
        tol=check_tol(name, tol),
        events=read_events(model.system, events) if events else (),
        impact=None if impact is None else check_word(name, "impact", impact, IMPACT_LAWS),
        at_paradox=check_word(name, "at_paradox", at_paradox, AT_PARADOX),
        at_choice=check_word(name, "at_choice", at_choice, AT_CHOICE, or_callable=True),
        at_singular=check_word(name, "at_singular", at_singular, AT_SINGULAR, or_callable=True),
        redundant=None if redundant is None else check_word(name, "redundant", redundant, ("minimum norm",)),
        progress=function(progress, "progress", where=name),
        stream=None if out is None else MotionStream(out),
        budget=BUDGET.but(name, budget),
        method=check_word(name, "method", method, METHODS),
        step=None if step is None else real(step, "step", above=0, where=name),
        drawing={} if shown is None else shown.to_dict(),
        starts=tuple(_moved(each) for each in moved),
    )
    if out is not None and (inputs.shape or method != "events"):
        raise DeclarationError(f"{name}: out= goes with one motion by events, not with an ensemble or time stepping.")
    if request.method == "timestepping":
        check_rules(name, request)
    return _many(model, inputs, request) if inputs.shape else _one(model, inputs, request)


def _many(model: Model, inputs: Inputs, request: Request) -> Ensemble:
    """Return the motions from each state of a batch."""
    with spending(request.budget) as meter:
        found = _motions(model, inputs, request, meter)
        return replace(found, reason=meter.over) if len(found) < inputs.q.shape[1] else found


def _motions(model: Model, inputs: Inputs, request: Request, meter: Meter) -> Ensemble:
    done: dict[int, Motion] = {}

    def one(k: int) -> Motion:
        try:
            motion = done.get(k) or _one(model, inputs.single(k), request.of_start(k))
            if motion.status is not MotionStatus.INTERRUPTED:
                done[k] = motion
            return motion
        except StateError as error:
            place = ", ".join(str(int(i)) for i in np.unravel_index(k, inputs.shape))
            raise StateError(f"{error} (entry [{place}] of the arrays)") from None

    first = one(0)
    if first.status is not MotionStatus.INTERRUPTED:
        fast = side_by_side(inertia_of(model, inputs.single(0)).moving, inputs, request, one)
        if fast is not None:
            return fast
    motions = [first]
    while len(motions) < inputs.q.shape[1] and motions[-1].status is not MotionStatus.INTERRUPTED and not meter.over:
        motions.append(one(len(motions)))
    reached = all(motion.status is MotionStatus.REACHED for motion in motions)
    complete = len(motions) == inputs.q.shape[1]
    return Ensemble(
        status=EnsembleStatus.REACHED if reached and complete else EnsembleStatus.MIXED,
        residual=None,
        provenance=motions[0].provenance,
        name=model.system.name,
        shape=inputs.shape if complete else (len(motions),),
        motions=tuple(motions),
    )


@within_doubles()
def _one(model: Model, inputs: Inputs, request: Request) -> Motion:
    """Return one motion."""
    inertia = inertia_of(model, inputs)
    if request.method == "timestepping" and not inertia.lost:
        with spending(request.budget):
            return motion_by_steps(inertia.moving, inputs, request)
    ground = Ground(inertia.moving, table_of(inertia.moving.system), inputs.params[:, 0].copy())
    driver = Driver(ground, request)
    driver.record.events.extend(request.starts)
    # A state that can't be is a mistake, told before anything is written.
    moment = _as_given(inputs) if inertia.lost else admit(ground, inputs)
    stream = request.stream
    if stream is None:
        return _motion(driver, _driven(driver, moment, inertia))
    try:
        stream.begin(_motion(driver, Stop(MotionStatus.INTERRUPTED), (driver.record.start(moment),)))
        motion = _motion(driver, _driven(driver, moment, inertia))
        stream.close(motion)
    except BaseException:
        with suppress(DeclarationError):  # the disk may be what is at fault
            driver.record.give()
        stream.abandon(driver.record.events, driver.record.drift)
        raise
    return _noted(ground, stream, motion)


def _moved(state: ProjectedState) -> MotionEvent:
    details = {"distance": state.distance, "energy_change": -state.energy_removed}
    return MotionEvent(state["t"], "project", details=details)


def _as_given(inputs: Inputs) -> Moment:
    return Moment(float(inputs.t[0]), inputs.q[:, 0].copy(), inputs.v[:, 0].copy())


def _driven(driver: Driver, moment: Moment, inertia: Inertia) -> Stop:
    """Carry a motion to its end; it ends where it starts if some motion has no inertia there."""
    if inertia.lost:
        driver.moment = moment
        reason = f"At t = {moment.t:.12g} {inertia.words}"
        return stopped_at(driver.record, MotionStatus.SINGULAR, moment.t, reason)
    with spending(driver.request.budget):
        return driver.run(moment)


def _motion(driver: Driver, stop: Stop, pieces: tuple[MotionPiece, ...] | None = None) -> Motion:
    """Return the motion that a driver has made."""
    ground, request, record = driver.ground, driver.request, driver.record
    system = ground.model.system
    motion = Motion(
        status=stop.status,
        residual=None,
        provenance=Provenance.now(
            declared_digest(system), tolerances={"tol": request.tol}, backend=ground.model.backend
        ),
        name=system.name,
        coordinates=tuple(item.name for item in system.coordinates),
        velocities=tuple(item.name for item in system.velocities),
        constraints=ground.table.names,
        params={item.name: float(value) for item, value in zip(system.parameters, ground.params, strict=True)},
        pieces=record.closed(ground, driver.moment) if pieces is None else pieces,
        events=Events(sorted(record.events, key=lambda event: event.time)),
        continuations=stop.continuations,
        reason=stop.reason,
        until=request.until,
        drift_per_step=record.drift,
        drawing=request.drawing,
    )
    motion.__dict__["_computed_by"] = RowSource(ground, request.redundant)
    return motion


def _noted(ground: Ground, stream: MotionStream, motion: Motion) -> Motion:
    """Return a motion of which the file has more rows than memory, with a note that says so."""
    if stream.rows == len(motion.t):
        return motion
    note = f"What was before t = {float(motion.t[0]):.6g} is in {stream.path.name} only."
    energies = _energies(ground, stream, motion)
    if len(energies):
        note += f" T + V was between {min(energies):.15g} and {max(energies):.15g} at {len(energies)} instants."
    shown = replace(motion, residual=None, reason=f"{motion.reason} {note}".strip())
    shown.__dict__["_computed_by"] = motion.__dict__["_computed_by"]
    return shown


def _energies(ground: Ground, stream: MotionStream, motion: Motion) -> np.ndarray:
    """Return T + V at the instants of a stream, and at the end; none for equations without a Lagrangian."""
    if ground.model.system.mass is not None:
        return np.zeros(0)
    t, q, v = zip(*stream.instants, (motion.t[-1], motion.q[-1], motion.v[-1]), strict=True)
    terms = ground.model.kernels.terms(np.array(t), np.stack(q, axis=1), np.stack(v, axis=1), ground.params[:, None])
    return np.asarray(terms.energies.sum(axis=0))


def _carried_on(
    motion: Motion, state: Any, params: Any
) -> tuple[System | Model, Mapping[str, float], Mapping[str, float]]:
    """Return the system, the end and the parameters of a motion that is to go on."""
    if state is not None or params is not None:
        raise DeclarationError(f"{motion.name}: a Motion goes on from its own end; give neither state nor params.")
    source = motion.__dict__.get("_computed_by")
    if source is not None:
        return source.ground.model, motion.end, motion.params
    from zwang._declare.files import from_dict

    rows = motion.rows
    if rows is None or not rows.declaration:
        raise DeclarationError(
            f"{motion.name}: this Motion has lost its system; give simulate(system, motion.end, ...)."
        )
    return from_dict(dict(rows.declaration)), motion.end, motion.params
