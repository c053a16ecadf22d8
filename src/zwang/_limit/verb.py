"""The verb `limit`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from zwang._compile import Model, compile
from zwang._compile.given_inputs import without_inputs
from zwang._compile.given_values import Inputs, resolve
from zwang._declare.system import System
from zwang._limit.ideal import Ideal, IdealStart, describe, project_start
from zwang._limit.limit_study import assemble
from zwang._limit.realized_run import AT_ONCE, BUDGET, Runner
from zwang._limit.single import one_motion
from zwang._limit.strength_runs import gather, nothing_gathered
from zwang._limit.verdict import judge
from zwang._limit.ways import Softened, default_strengths, read_strengths, soften
from zwang._numerics.budget import Allowed, Budget, Meter, spending
from zwang._numerics.jit import meanwhile, tiered
from zwang._numerics.tolerances import real, whole
from zwang._progress import Progress, check_progress, progress_bar
from zwang._realize import Realization, Viscosity
from zwang._results.limit import LimitStudy
from zwang._results.motion import Motion, MotionStatus
from zwang.errors import DeclarationError

IDEAL_TOL = 1e-14  # as sharp as doubles allow: the ideal motion is the measure
CELLS = 400  # of the time axis: a mean force as a curve of 400 points


class Aim(NamedTuple):
    """What realized motions are measured by: the ideal motion, as polynomials where it moves at all, and its start."""

    start: IdealStart
    motion: Motion
    described: Ideal | None
    meter: Meter


def large_kernels(given: Mapping[str, Any]) -> Iterable[Any]:
    """Return the loops of the realized motions: the ideal one has few steps, which need none."""
    from zwang._numerics.motion.oscillatory import oscillate
    from zwang._numerics.motion.stiff import radau

    by = given.get("by")
    ways = list(by.values()) if isinstance(by, Mapping) else [by]
    return [radau if any(isinstance(way, Viscosity) or way is Viscosity for way in ways) else oscillate]


@tiered("limit", seconds=10, needs=large_kernels)
def limit(
    system: System | Model,
    constraint: str | Iterable[str],
    state: Mapping[Any, Any],
    params: Mapping[Any, Any] | None = None,
    *,
    by: type | Realization | Mapping[str, Any],
    until: float,
    strengths: Iterable[float] | None = None,
    tol: float = 1e-12,
    cells: int = CELLS,
    workers: int = 2,
    budget: Allowed = None,
    progress: Progress = None,
    inputs: Mapping[Any, Any] | None = None,
    **ideal: Any,
) -> LimitStudy:
    """Return whether motions with a constraint made by a force tend to the ideal motion, and with which order.

    The realized motions start from the given state, the ideal one from its velocity projected in the kinetic metric.
    Springs make fast oscillations, which are followed in compiled code with a step that is a share of their period;
    strong friction is followed by an L-stable implicit method; a softened system that still has contacts, by
    `simulate`. Errors are the largest distances over all steps.

    Parameters
    ----------
    system : System or Model
    constraint : str or sequence of str
        What is realized.
    state, params : mapping
        Symbol or name -> number.
    by : class, or instance without a strength, or a mapping of name to these
        `Stiffness`, `Viscosity`, or a realization of one's own.
    until : float
        End of the time that is studied [s].
    strengths : sequence of float, optional
        At least three; by default decades that fit the system.
    tol : float
        Error allowed in a step of the realized motions, relative to the state.
    cells : int
        Cells of time at whose edges motions are kept, and over which forces are averaged.
    workers : int
        Strengths that are run at the same time.
    budget : float or mapping, optional
        Seconds, or a mapping of ``seconds``, ``steps`` (of each motion) and ``memory`` (bytes, for all of them), by
        default an hour, a hundred million and 1 GB. Where one is spent the study is UNDECIDED and holds the strengths
        that reached the end.
    progress : bool or callable, optional
        True: a bar on stderr, by default after two seconds where somebody sees it; False: none; or called with the
        share that is done.
    inputs : mapping, optional
        Input of the system -> number or expression of t.
    **ideal
        Options of `simulate` for the ideal motion: impact=, at_singular=, at_choice=, at_paradox=.

    Returns
    -------
    LimitStudy
        Its verdict says what the realized motions tend to.

    Examples
    --------
    The example of Kozlov and Neishtadt (1990).

    >>> import zwang as zw
    >>> held = zw.gallery.get("kozlov_neishtadt")
    >>> study = zw.limit(held.system, "floor", held.state, by=zw.Stiffness, until=1.0, strengths=[1e4, 1e5, 1e6])
    >>> study.orders
    position -1.00, velocity -0.50, tangential velocity -1.00, normal velocity -0.50, integral -0.50, force 0.00
    >>> study.status.name
    'CONVERGES'
    """
    system, params = without_inputs(system, params, inputs, "limit")
    softened = soften(system, constraint, by)
    name = softened.ideal.name
    cells = whole(cells, "cells", least=8, most=10**6, where=name)
    workers = whole(workers, "workers", least=1, most=10**4, where=name)
    until = real(until, "until", where=name)
    check_progress(progress, name)
    model = compile(system).switched()
    given = resolve(softened.ideal, state, softened.own(params))
    if given.shape:
        raise DeclarationError(f"{name}: limit takes one state; it was given a batch of shape {given.shape}.")
    chosen = None if strengths is None else read_strengths(name, strengths)
    allowed = BUDGET.but(name, budget)
    begin = float(given.t[0])
    start, motion, described, meter = aim(model, softened, given, softened.own(params), until, ideal, allowed)
    if until <= begin:
        raise DeclarationError(f"{name}: until= {until:g} is the start, t = {begin:g}: give a later time.")
    if motion.status is not MotionStatus.REACHED and meter.over:
        gathered = nothing_gathered(begin, until, cells, meter.over)
    else:
        end = until if described is None else float(motion.t[-1])
        runner = Runner(softened, state, params or {}, tol, ideal, meter.budget, meter.deadline)
        if chosen is None:
            chosen = default_strengths(softened, runner.mobility(start.mobility), end - begin)
        with progress_bar(progress, f"limit of {name}") as told:
            gathered = gather(runner, chosen, begin, end, cells, described, workers, told)
    verdict = judge(softened, gathered, start, described, state, params or {})
    return assemble(softened, gathered, start, motion, described, verdict, params or {})


def aim(
    model: Model,
    softened: Softened,
    given: Inputs,
    params: Mapping[Any, Any],
    until: float,
    options: Mapping[str, Any],
    allowed: Budget,
) -> Aim:
    """Return the ideal motion, as exact as dense output can be; in plain Python where machine code is still made."""

    def ask() -> Aim:
        with spending(allowed.share(AT_ONCE)) as meter:
            start = project_start(model, softened.names, given)
            motion = one_motion(model, start.state, params, until=until, tol=IDEAL_TOL, **options)
        over = motion.status is not MotionStatus.REACHED and meter.over
        moved = float(motion.t[-1]) > float(motion.t[0])  # else it stopped at its very start
        return Aim(start, motion, describe(model, motion, softened.names) if moved and not over else None, meter)

    return meanwhile(ask, "advance")
