"""The verb `reactions`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from zwang._compile import Model, compile
from zwang._compile.coefficients import require_laws
from zwang._compile.given_inputs import with_inputs
from zwang._compile.given_values import Inputs, resolve
from zwang._compile.masses import Inertia, inertia_of
from zwang._declare.system import System
from zwang._numerics.budget import ENDLESS, Allowed, Budget, spending
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.jit import at_hand, tiered
from zwang._numerics.linear.rank import DEPENDENT
from zwang._numerics.tolerances import Tolerances, flag, function, real, whole
from zwang._progress import Progress, check_progress, progress_bar
from zwang._reactions.admissible import acting
from zwang._reactions.bookkeeping import without_bookkeeping
from zwang._reactions.enumerate import WIDEST_SIGNS, Subject, reactions_of_problem
from zwang._reactions.rejections import no_rejections
from zwang._reactions.singular_state import RankReport, rank_report
from zwang._results import Provenance
from zwang._results.finite import within_doubles
from zwang._results.reactions import Reactions, ReactionsStatus
from zwang._results.reactions_map import ReactionsMap
from zwang.errors import DeclarationError

FEW = 4
"""Contacts along lines up to which plain Python is quick enough."""
MANY = 16
"""Modes of so few contacts from which compiled code is quicker, where it is at hand."""
A_MODE = 1.5e-4
"""Seconds in which plain Python looks at a mode, roughly."""
MAIN = "count_solutions"
BUDGET = Budget(steps=ENDLESS, memory=1_000_000_000)
"""The steps depend on the number of contacts: see `zwang._reactions.enumerate`."""


def _lines(tangent: Any) -> int:
    """Return the number of rows of a tangent, also of a sparse one."""
    shape = getattr(tangent, "shape", None) or np.shape(tangent)
    return int(shape[0]) if len(shape) > 1 else 1


def _small(given: Mapping[str, Any]) -> list[bool] | None:
    """Return which contacts slip if one state is asked, with few contacts along lines; else None."""
    system = given["system"]
    if isinstance(system, ContactProblem):
        contacts = system.contacts
        if len(contacts) > FEW or any(_lines(item.tangent) > 1 for item in contacts):
            return None
        return [bool(np.any(item.slip)) for item in contacts if item.tangent is not None]
    system = getattr(system, "system", system)
    frictional = [item for item in getattr(system, "constraints", ()) if item.slip]
    state = given.get("state")
    if len(frictional) > FEW or any(len(item.slip) > 1 for item in frictional):
        return None
    for part in (state, given.get("params")):
        # What makes no sense is refused by name later on: here nothing is made an array.
        for value in part.values() if isinstance(part, Mapping) else ():
            if type(value) is not float and getattr(value, "ndim", hasattr(value, "__len__")):
                return None
    at: Mapping[Any, Any] = state if isinstance(state, Mapping) else {}
    velocities = getattr(system, "velocities", ()) if len(frictional) > 1 else ()
    moving = any(at.get(v, at.get(v.name, 0)) != 0 for v in velocities)  # then all are taken to slip
    return [moving] * len(frictional)


def _quick_in_plain(given: Mapping[str, Any]) -> bool:
    """Say whether plain Python is the quicker way to the modes: one that slips may open, one at rest slips two ways."""
    slips = _small(given)
    if slips is None:
        return False
    modes = math.prod(2 if slip else 4 for slip in slips)
    return modes < MANY or not at_hand(MAIN, modes * A_MODE)


@tiered("reactions", main=MAIN, seconds=15, small=_quick_in_plain)
def reactions(
    system: System | Model | ContactProblem,
    state: Mapping[Any, Any] | None = None,
    params: Mapping[Any, Any] | None = None,
    *,
    normal_forces: Mapping[str, float] | None = None,
    tol: float = 1e-9,
    gap_tol: float = 1e-9,
    rate_tol: float = 1e-9,
    slip_tol: float = 1e-9,
    every: bool | None = None,
    budget: Allowed = None,
    certify: bool = True,
    backend: str = "native",
    workers: int | None = None,
    report: Callable[[int], None] | None = None,
    progress: Progress = None,
    exact: bool = True,
    inputs: Mapping[Any, Any] | None = None,
) -> Reactions | ReactionsMap:
    """Return every acceleration and every reaction that the laws allow at a state.

    Parameters
    ----------
    system : System, Model or ContactProblem
        A ContactProblem is all there is; a system needs a state and parameters.
    state, params : mapping
        Symbol or name -> number.
    normal_forces : mapping, optional
        Name of a constraint -> its normal force, where it is known in advance (Tresca): the conditions on its normal
        are dropped.
    tol : float
        Signs of forces and accelerations are decided up to `tol` times the size of the terms.
    gap_tol, rate_tol, slip_tol : float
        Below which sizes, relative to the terms, a gap is closed, a rate is zero, a slip is rest.
    every : bool, optional
        True: enumerate all modes whatever it costs, up to `budget`. False: one solution is enough.
    budget : float or mapping, optional
        Seconds, or a mapping of ``seconds``, ``steps`` (linear programs of the enumeration) and ``memory`` (bytes of
        its tables). By default an hour, 1 GB, and twenty million steps for up to twelve contacts or with `every`, a
        hundred thousand for more.
        Where one is spent, what was found and verified is FOUND, or the state stays UNDECIDED.
    certify : bool
        Whether to look for certificates that hold for every force.
    backend : str
        Which backend evaluates the equations of a system.
    workers : int, optional
        Threads for a batch.
    report : callable, optional
        Called from time to time with the linear programs solved, or with the states of a batch done.
    progress : bool or callable, optional
        Of a batch. True: a bar on stderr, by default after two seconds where somebody sees it; or called with the part
        that is done, from 0 to 1.
    exact : bool
        Of a ContactProblem with friction along lines: its doubles are taken as the fractions that they are, and ties
        between modes are decided in rational arithmetic. False where the arrays were computed and rounded, so that
        rows that are meant to be dependent are so up to `tol` only; a system's state always is.
    inputs : mapping, optional
        Input of the system -> number, expression of t, `Table` or `Held`.

    Returns
    -------
    Reactions
        For one state. Its status is an answer: one solution, several, none; a state that violates a constraint is a
        StateError.
    ReactionsMap
        For a batch: status and number of accelerations at every state; inadmissible states raise nothing.

    Examples
    --------
    >>> import zwang as zw
    >>> rod = zw.gallery.get("painleve_rod")
    >>> found = zw.reactions(rod.system, rod.state, {**rod.params, "mu": 1.4})
    >>> found.status.name, found.complete
    ('NONE', True)
    """
    called = getattr(getattr(system, "system", system), "name", "reactions")
    allowed = BUDGET.but(called if isinstance(called, str) else "reactions", budget)
    steps = None if allowed.steps == ENDLESS else allowed.steps
    options: dict[str, Any] = {
        "tol": real(tol, "tol", above=0, most=WIDEST_SIGNS, where="reactions"),
        "every": None if every is None else flag(every, "every", where="reactions"),
        "budget": steps,
        "certify": flag(certify, "certify", where="reactions"),
        "report": function(report, "report", where="reactions"),
    }
    workers = None if workers is None else whole(workers, "workers", least=1, most=10**4, where="reactions")
    flag(exact, "exact", where="reactions")
    check_progress(progress, "reactions")
    brief = _small({"system": system, "state": state, "params": params}) is not None
    with spending(allowed if steps is None else replace(allowed, steps=ENDLESS), brief=brief):
        return _answer(
            system, state, params, normal_forces, Tolerances(gap_tol, rate_tol, slip_tol), backend, workers, exact,
            {**options, "partial": True}, progress, inputs,
        )  # fmt: skip


def _answer(
    system: System | Model | ContactProblem,
    state: Mapping[Any, Any] | None,
    params: Mapping[Any, Any] | None,
    normal_forces: Mapping[str, float] | None,
    tolerances: Tolerances,
    backend: str,
    workers: int | None,
    exact: bool,
    options: dict[str, Any],
    progress: Progress,
    driving: Mapping[Any, Any] | None,
) -> Reactions | ReactionsMap:
    if isinstance(system, ContactProblem):
        if any(given is not None for given in (state, params, normal_forces, driving)):
            raise DeclarationError("reactions: a ContactProblem has its state inside; give neither state nor params.")
        with within_doubles():
            whole_answer = reactions_of_problem(system, slip_tol=tolerances.slip, exact=exact, **options)
        return _with_inequality(whole_answer, system)
    if not isinstance(system, (System, Model)):
        raise DeclarationError(f"reactions needs a System, a Model or a ContactProblem; it was given {system!r:.80}.")
    if state is None:
        raise DeclarationError("reactions: a system needs a state: reactions(system, state, params).")
    whole = compile(system, system.backend if isinstance(system, Model) else backend)
    whole, values, driven = with_inputs(whole, state, params, driving)
    model, state = whole.acting(state)
    inputs = resolve(model.system, state, values)
    if inputs.shape:
        from zwang._reactions.maps import map_axes, reactions_of_batch

        if normal_forces is not None:
            raise DeclarationError("reactions: normal_forces= goes with one state, not with a batch.")

        def singly(single: Inputs) -> Reactions:
            return _of_state(model, single, None, tolerances, {**options, "certify": False, "report": None})

        with progress_bar(progress, f"reactions of {model.system.name}", end=float(inputs.q.shape[1])) as told:
            report = options["report"] or told
            if callable(progress):  # it is told the part, as everywhere
                report = lambda done: progress(done / inputs.q.shape[1])  # noqa: E731
            found = reactions_of_batch(
                model, inputs, tolerances, options["tol"], singly, workers, report
            )  # fmt: skip
        axes, values = map_axes(inputs.shape, state, params)
        return found.with_axes(axes, values)
    answer = _of_state(model, inputs, normal_forces, tolerances, options)
    if model.system.tree is None:
        return answer
    from zwang._reactions.wrenches import with_wrenches  # bodies are a room of their own

    return with_wrenches(answer, model, inputs, driven)


@within_doubles()
def _of_state(
    model: Model,
    inputs: Inputs,
    normal_forces: Mapping[str, float] | None,
    tolerances: Tolerances,
    options: Mapping[str, Any],
) -> Reactions:
    system = model.system
    terms = model.kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    model.require_finite(terms)
    require_laws(system, terms.bounds, inputs.params[:, 0])
    inertia = inertia_of(model, inputs, terms)
    if inertia.lost:
        return _without_inertia(model, inertia, options)
    report = rank_report(model, inputs, terms, proved=inertia.independent)
    terms = inertia.lifted(terms)
    cleaned, definite = report.cleaned, inertia.definite
    found = acting(model.kernels, system, inputs, terms, tolerances, normal_forces, cleaned, definite=definite)
    provenance = Provenance.now(
        system.digest,
        tolerances={
            "tol": options["tol"],
            "gap": tolerances.gap,
            "rate": tolerances.rate,
            "slip": tolerances.slip,
            "rank": DEPENDENT,
        },
        seed=0,
        backend=model.backend,
    )
    coordinates = tuple(item.name for item in system.coordinates)
    subject = Subject(system.name, found.names, coordinates, provenance)
    result = reactions_of_problem(found.problem, subject=subject, exact=False, **options)
    notes = [result.note] if result.note else []
    if found.open:
        notes.append(f"Open: {', '.join(found.open)}.")
    if report.redundant:
        notes.append(_redundant_words(report))
    if report.singular:
        notes.append(_singular_words(report))
        result = result.but(status=ReactionsStatus.SINGULAR)
    result = result.but(note=" ".join(notes), rank=report.rank, in_tangent_cone=report.in_cone)
    return without_bookkeeping(_with_inequality(result, found.problem), system.bookkeeping)


def _with_inequality(result: Reactions, problem: ContactProblem) -> Reactions:
    """Let the answer make the variational inequality of its problem when it is asked for."""

    def made() -> Any:
        from zwang._reactions.inequality import Inequality

        return Inequality(problem, result.contacts)

    result.__dict__["_make_inequality"] = made
    return result


def _without_inertia(model: Model, inertia: Inertia[Model], options: Mapping[str, Any]) -> Reactions:
    """Return the answer where a motion has no inertia: no acceleration follows."""
    system = model.system
    names = tuple(name for name in system.constraints.names if name not in system.bookkeeping)
    return Reactions(
        status=ReactionsStatus.SINGULAR,
        residual=float("nan"),
        provenance=Provenance.now(system.digest, tolerances={"tol": options["tol"]}, seed=0, backend=model.backend),
        name=system.name,
        contacts=names,
        coordinates=tuple(item.name for item in system.coordinates),
        solutions=(),
        accelerations=np.zeros((0, len(system.coordinates))),
        accelerations_continuum=False,
        rejected=no_rejections(names),
        complete=False,
        note=f"At this state {inertia.words}",
    )


def _singular_words(report: RankReport) -> str:
    nearby = "no other point is near" if report.isolated else f"nearby it is {report.nearby}"
    if report.thin:
        nearby = "and as low nearby, where the constraints leave fewer motions than that"
    cone = "lies" if report.in_cone else "does not lie"
    return (
        f"The rank of the bilateral rows ({report.rows}) is {report.rank} here, {nearby}{_gap_words(report)}; the "
        f"velocity {cone} in the tangent cone. The limit along a branch is asked of asymptotics."
    )


def _redundant_words(report: RankReport) -> str:
    return (
        f"The rank of the bilateral rows ({report.rows}) is {report.rank} here and nearby{_gap_words(report)}: "
        f"{report.rows - report.rank} of them follow from the others."
    )


def _gap_words(report: RankReport) -> str:
    above, below = report.gap
    least = "no row counts" if above == float("inf") else f"{above:.2g} counts"
    return f" (to tolerance: of the singular values of unit rows {least}, {below:.1g} does not)"
