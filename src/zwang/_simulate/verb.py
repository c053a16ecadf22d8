"""The verb `simulate`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, overload

from zwang._compile import Model, compile
from zwang._compile.given_inputs import Driven, with_inputs
from zwang._compile.given_values import Inputs, resolve
from zwang._compile.masses import inertia_of
from zwang._compile.states import ProjectedState, project_each
from zwang._declare.switched import taken_apart
from zwang._declare.switches import Event
from zwang._declare.system import System
from zwang._declare.units import units_shown
from zwang._numerics.budget import Allowed, spending
from zwang._numerics.jit import tiered
from zwang._numerics.tolerances import real, whole
from zwang._progress import Progress, progress_bar
from zwang._results.ensemble import Ensemble
from zwang._results.finite import within_doubles
from zwang._results.motion import Motion
from zwang._results.motion_parts import MotionEvent
from zwang._results.motion_stream import MotionStream
from zwang._results.motion_tree import MotionTree
from zwang._simulate.bridge import step_over
from zwang._simulate.continuation_tree import asks_for_all, tree
from zwang._simulate.decide import chooser, stop_there
from zwang._simulate.ensemble_run import ensemble
from zwang._simulate.instant import impact_without_collision
from zwang._simulate.machine import motion
from zwang._simulate.moment import Policies
from zwang._simulate.options import (
    AT_CHOICE,
    AT_PARADOX,
    AT_SINGULAR,
    BUDGET,
    IMPACT_LAWS,
    METHODS,
    STARTS,
    MotionOptions,
    check_tol,
    check_until,
    check_word,
    events_of,
    scales_of,
)
from zwang._simulate.passage import by_rule, stop_at, straight_on
from zwang._simulate.section import PoincareSection
from zwang._simulate.springs import by_springs, resolve_choice, resolve_paradox
from zwang._simulate.step_motion import check_rules, motion_by_steps
from zwang.errors import DeclarationError


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
    most: int = ...,
    progress: Progress = ...,
    out: str | Path | None = ...,
    budget: Allowed = ...,
    backend: str = ...,
    inputs: Mapping[Any, Any] | None = ...,
    section: Any = ...,
    direction: int = ...,
    transient: float = ...,
    scales: Mapping[Any, float] | None = ...,
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
    most: int = ...,
    progress: Progress = ...,
    out: str | Path | None = ...,
    budget: Allowed = ...,
    backend: str = ...,
    inputs: Mapping[Any, Any] | None = ...,
    section: Any = ...,
    direction: int = ...,
    transient: float = ...,
    scales: Mapping[Any, float] | None = ...,
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
    most: int = 64,
    progress: Progress = None,
    out: str | Path | None = None,
    budget: Allowed = None,
    backend: str = "native",
    inputs: Mapping[Any, Any] | None = None,
    section: Any = None,
    direction: int = 0,
    transient: float = 0.0,
    scales: Mapping[Any, float] | None = None,
) -> Motion | Ensemble | MotionTree:
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
        Error allowed in a step, relative to each coordinate and velocity and to its characteristic size: the largest so
        far, or what the other coordinates, speeds and accelerations make of it. Angles have size 1. So units of length,
        mass and time change nothing but the units of the answer.
    method : {'events', 'timestepping', 'auto'}
        Mode by mode with located events, or steps of fixed length after Moreau and Jean, of first order: for many
        contacts, and as an independent check. Restitution is then Newton's, contact by contact. 'auto': by events, and
        by time stepping over stretches that events can't follow (UNFINISHED), where it converges as its step is halved;
        both ends are events of the kind 'method'. Never over a choice, a paradox or a singular point.
    step : float, optional
        Length of the steps of ``method='timestepping'`` [s]; if left out, 3/1000 of the time in which
        something goes its own size, or less for short motions.
    start : {None, 'project'}
        'project' moves the state first onto its bilateral constraints and out of violated one-sided ones, by the least
        change in the kinetic metric (see `Model.project`); how far it went is the event of the kind 'project'. Without
        it such a state is a StateError.
    events : sequence of Event
        Zeros of expressions to be logged, or to stop at.
    impact : {'newton', 'poisson', 'energetic'}, optional
        The law of impact; needed only where they differ (friction, several contacts closing together).
    at_paradox : {'stop', 'impact', 'realize', 'every'}
        Where no reaction exists: stop; let an impact without collision happen; or ask stiff springs in place of the
        contact and take the impact they tend to.
    at_choice : {'stop', 'keep mode', 'realize', 'every'} or callable
        Where several accelerations satisfy the laws: stop; go on in the mode that there was; ask a stiff spring; or
        take the solution whose index the callable returns for the `Reactions` (None: stop).
    at_singular : {'stop', 'straight', 'realize', 'every'} or callable
        At a singular point of the configuration space: stop; go on in the direction of arrival, if one half-branch (one
        sheet, with several degrees of freedom) has it; ask stiff springs in place of all constraints; or take the
        continuation that the callable chooses (None: stop). 'every', here and at the other two: every continuation is
        followed, and a `MotionTree` comes back.
    redundant : {None, 'minimum norm'}
        Reactions that dependent constraints leave open are nan, or those with the least sum of squares of the normal
        forces, then of the friction, inside all laws. Where a continuum of accelerations goes with them (four feet that
        slide and turn) the motion stops, or goes on with these, and a `choice` is logged.
    most : int
        Motions of a tree at most.
    progress : bool or callable, optional
        True: a bar on stderr, by default after two seconds where somebody sees it; False: none; or called with the time
        reached, a few times a second.
    out : path, optional
        A ``.npz`` file for the whole motion, while memory holds the last rows only; `load_result` reads it. Until the
        motion has ended it grows in a draft beside it, ``<out>.part``; a file that was there stays until then. Of a
        process that was killed, `load_result` reads the draft up to its last block. The file has reactions, energies
        and works like any other, unless its states take more than 32 MB (100,000 rows of two coordinates).
    budget : float or mapping, optional
        Seconds, or a mapping of ``seconds``, ``steps`` and ``memory`` (bytes of what is kept), by default an hour, five
        million steps, of which an event counts for 500, and 500 MB. Where one is spent the motion ends, UNFINISHED,
        with what there is of it. Steps and memory end it at the same place on every machine. An ensemble has one
        budget.
    backend : str
        Which backend evaluates the equations.
    inputs : mapping, optional
        Input of the system -> number, expression of t (of q and v too where it stands in forces alone), `Table` or
        `Held`. Where a table has a knot, or a held function is asked, steps end exactly; nothing is logged.
    section : expression, Event or name of a constraint, optional
        Fills `Motion.section` with the points at which the expression vanishes, or of the constraint's impacts.
    direction : {0, 1, -1}
        Of the crossings of a section that count: both, rising, falling.
    transient : float
        Time after the start from which on points of a section are kept [s].
    scales : mapping, optional
        Coordinate (no angle) or velocity -> its size, in place of the one that the start gives. What errors, gaps and
        slips were compared with at first stands in ``provenance.tolerances``; a size of 0 there means that nothing gave
        one, and comparisons are exact until the motion does.

    Returns
    -------
    Motion
        Its status says how it ended; a state that violates a constraint is a StateError.
    Ensemble
        Of motions, where the state or the parameters hold arrays.
    MotionTree
        Of motions, where every continuation was asked for.

    Examples
    --------
    >>> import zwang as zw
    >>> sleigh = zw.gallery.get("sleigh_ahead")
    >>> motion = zw.simulate(sleigh.system, sleigh.state, sleigh.params, until=3.0, tol=1e-12)
    >>> motion.events
    release of 'blade' at t = 1.636204366503
    """
    begun = _begun(system, state, params, inputs, backend, start)
    name = begun.model.system.name
    options = MotionOptions(
        until=check_until(name, until, begun.time),
        tol=check_tol(name, tol),
        events=events_of(begun.model.system, events, begun.declared, begun.driven),
        impact=None if impact is None else check_word(name, "impact", impact, IMPACT_LAWS),
        at_paradox=check_word(name, "at_paradox", at_paradox, AT_PARADOX),
        at_choice=check_word(name, "at_choice", at_choice, AT_CHOICE, or_callable=True),
        at_singular=check_word(name, "at_singular", at_singular, AT_SINGULAR, or_callable=True),
        redundant=None if redundant is None else check_word(name, "redundant", redundant, ("minimum norm",)),
        stream=None if out is None else MotionStream(out),
        budget=BUDGET.but(name, budget),
        method=check_word(name, "method", method, METHODS),
        step=None if step is None else real(step, "step", above=0, where=name),
        on=begun.on,
        drawing={} if begun.handed.drawing is None else begun.handed.drawing.to_dict(),
        units=units_shown(begun.handed),
        starts=tuple(_moved(each) for each in begun.moved),
        driven=begun.driven,
        scales=scales_of(begun.model.system, scales),
    )
    if step is not None and options.method != "timestepping":
        raise DeclarationError(
            f"{name}: step= {step!r:.20} was given with method='{method}', which chooses its own steps. Leave it out "
            "(tol= says how sharp they are), or use method='timestepping'."
        )
    _require_fitting(begun, options, out is not None, section is not None)
    across = _section(begun, section, direction, transient)
    most = whole(most, "most", least=1, most=10**6, where=name)
    with progress_bar(progress, f"simulate {name}", start=begun.time, end=options.until) as told:
        options = replace(options, progress=told)
        if asks_for_all(options):
            return tree(begun.model, begun.given, options, policies_of, most)
        if begun.given.shape:
            return ensemble(begun.model, begun.given, options, _one)
        made = _one(begun.model, begun.given, options)
    return (
        made if across is None else replace(made, residual=None, section=across.points(made, begun.given.params[:, 0]))
    )


@dataclass(frozen=True, eq=False)
class _Begun:
    """What a motion starts from.

    Attributes
    ----------
    handed, declared : System
        As it was given, and as it was compiled.
    model : Model
        With the inputs in their places.
    given : Inputs
        Of one state, or of many.
    on : what is switched on
    driven : Driven or None
    moved : tuple
        How far states were projected.
    """

    handed: System
    declared: System
    model: Model
    given: Inputs
    on: Any
    driven: Driven | None
    moved: tuple[ProjectedState, ...]

    @property
    def time(self) -> float:
        """The first instant."""
        return float(self.given.t.min())


def _begun(system: Any, state: Any, params: Any, inputs: Any, backend: str, start: str | None) -> _Begun:
    """Return what a motion starts from; what is missing or makes no sense is a DeclarationError."""
    if isinstance(system, Motion):
        inputs = inputs or system.inputs or None
        system, state, params = carried_on(system, state, params)
    if not isinstance(system, (System, Model)):
        raise DeclarationError(f"simulate needs a System, a Model or a Motion; it was given {system!r:.80}.")
    if state is None:
        raise DeclarationError("simulate: a system needs a state: simulate(system, state, params, until=...).")
    handed = system.system if isinstance(system, Model) else system
    model = compile(system, system.backend if isinstance(system, Model) else backend)
    declared = model.system
    state, on = taken_apart(declared, state)
    model, params, driven = with_inputs(model, state, params, inputs)
    given = resolve(model.system, state, params)
    moved: tuple[ProjectedState, ...] = ()
    if start is not None and check_word(model.system.name, "start", start, STARTS):
        acting = model.switched(on)
        given, moved = project_each(acting.system, acting.kernels, given)
    return _Begun(handed, declared, model, given, on, driven, moved)


def _require_fitting(begun: _Begun, options: MotionOptions, written: bool, cut: bool) -> None:
    """Refuse options that don't go together; `written`: to a file, `cut`: by a section."""
    name, many = begun.model.system.name, bool(begun.given.shape)
    if begun.driven is not None:
        begun.driven.require(begun.time, options.until)
    if written and (many or options.method == "timestepping"):
        raise DeclarationError(
            f"{name}: out= goes with one motion, method='events' or 'auto', not with an ensemble or "
            "method='timestepping'. Call save() on what comes back."
        )
    if options.method == "timestepping":
        check_rules(name, options)
    if asks_for_all(options) and (many or written or cut):
        raise DeclarationError(
            f"{name}: 'every' continuation is followed from one state, without out= and section=. Ask for each state, "
            "by sweep, and call save() on the tree."
        )


def _section(begun: _Begun, section: Any, direction: int, transient: float) -> PoincareSection | None:
    """Return the section that was asked for."""
    name, driven = begun.model.system.name, begun.driven
    direction = whole(direction, "direction", least=-1, most=1, where=name)
    transient = real(transient, "transient", least=0, where=name)
    if section is None:
        return None
    put = None if driven is None else driven.put
    across = PoincareSection(begun.declared, begun.model.system, section, direction, transient, put)
    if begun.given.shape or (driven is not None and driven.changing):
        raise DeclarationError(
            f"{name}: section= goes with one motion, and with inputs that are numbers or expressions. Use "
            "sweep(...) for many motions."
        )
    return across


@within_doubles()
def _one(model: Model, inputs: Inputs, options: MotionOptions) -> Motion:
    """Return one motion."""
    if options.method == "timestepping":
        model = model.switched(options.on)
        inertia = inertia_of(model, inputs)
        if not inertia.lost:
            with spending(options.budget):
                return motion_by_steps(inertia.moving, inputs, options)
    return motion(model, inputs, options, policies_of(options))


def _moved(state: ProjectedState) -> MotionEvent:
    details = {"distance": state.distance, "energy_change": -state.energy_removed}
    return MotionEvent(state["t"], "project", details=details)


def policies_of(options: MotionOptions) -> Policies:
    """Return who is asked where the laws don't say how a motion goes on."""
    paradox = {"impact": impact_without_collision, "realize": resolve_paradox}
    singular = {"straight": straight_on, "realize": by_springs}
    rule = options.at_singular
    return Policies(
        choose=chooser(options.at_choice),
        at_choice=resolve_choice if options.at_choice == "realize" else stop_there,
        at_paradox=paradox.get(options.at_paradox, stop_there),
        at_singular=by_rule(rule) if callable(rule) else singular.get(rule, stop_at),
        over=step_over if options.method == "auto" else None,
    )


def carried_on(
    motion: Motion, state: Any, params: Any
) -> tuple[System | Model, Mapping[str, float], Mapping[str, float]]:
    """Return the system, the end and the parameters of a motion that is to go on."""
    if state is not None or params is not None:
        raise DeclarationError(f"{motion.name}: a Motion goes on from its own end; give neither state nor params.")
    if motion.source is not None:
        ground = motion.source.ground
        return ground.model if ground.declared is None else ground.declared, motion.end, motion.params
    from zwang._declare.model_files import from_dict

    rows = motion.computed
    if rows is None or not rows.declaration:
        raise DeclarationError(
            f"{motion.name}: this Motion has lost its system; give simulate(system, motion.end, ...)."
        )
    return from_dict(dict(rows.declaration)), motion.end, motion.params
