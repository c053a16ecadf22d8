"""The verb `recommend`: the strength that meets an error, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model, compile
from zwang._compile.given_inputs import without_inputs
from zwang._compile.given_values import resolve
from zwang._declare.system import System
from zwang._limit.ideal import Ideal
from zwang._limit.limit_study import averaging_width, largest_violation, smoothed
from zwang._limit.order_fit import fit_order
from zwang._limit.realized_run import BUDGET, RealizedRun, Runner
from zwang._limit.verb import CELLS, aim, large_kernels
from zwang._limit.violation import violation_times_strength
from zwang._limit.ways import Softened, default_strengths, soften
from zwang._numerics.budget import Allowed, Spent
from zwang._numerics.jit import tiered
from zwang._numerics.motion.run_state import DONE
from zwang._numerics.tolerances import names_in, real
from zwang._realize import Stiffness, Viscosity
from zwang._results import Provenance
from zwang._results.limit import Recommendation, RecommendationStatus
from zwang._results.motion import MotionStatus
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
TRIES = 24  # bisections of the logarithm: to a thousandth of a decade
STRONGEST = 1e14  # times the first strength: beyond it doubles resolve no stiffness
MOST_RADIANS = 1e7
"""Of the fast oscillation: stronger springs would take minutes, and rounding is above what they gain."""
EXPLICIT = 0.7
"""Radians of the fastest oscillation, or times the relaxation time, that an explicit step may take."""


@tiered("recommend", seconds=10, needs=large_kernels)
def recommend(
    system: System | Model,
    constraint: str | Iterable[str],
    state: Mapping[Any, Any],
    params: Mapping[Any, Any] | None = None,
    *,
    error: float = 1e-3,
    until: float,
    by: Any = None,
    tol: float = 1e-12,
    budget: Allowed = None,
    inputs: Mapping[Any, Any] | None = None,
    **ideal: Any,
) -> Recommendation:
    """Return the smallest strength whose motion stays within an error of the ideal one, with its cost.

    Parameters
    ----------
    system : System or Model
    constraint : str or sequence of str
    state, params : mapping
        Symbol or name -> number.
    error : float
        Largest distance in position, over the whole time, that is allowed: Euclidean in the declared coordinates.
    until : float
        End of the time [s].
    by : class or instance without a strength, optional
        By default `Stiffness` for constraints on positions and `Viscosity` for those on velocities.
    tol : float
        Error allowed in a step, relative to the state.
    budget : float or mapping, optional
        As of `limit`. Where one is spent, the strengths tried until then are all there is: NOT_FOUND, with the reason.
    inputs : mapping, optional
        Input of the system -> number or expression of t.
    **ideal
        Options of `simulate` for the ideal motion.

    Returns
    -------
    Recommendation
        Verified by a run at that strength.

    Examples
    --------
    In the example of Kozlov and Neishtadt (1990) the position is off by 2.06/N.

    >>> import zwang as zw
    >>> held = zw.gallery.get("kozlov_neishtadt")
    >>> found = zw.recommend(held.system, "floor", held.state, error=1e-3, until=1.0)
    >>> found.strength
    2100.0
    """
    error = real(error, "error", above=0, where="recommend")
    until = real(until, "until", where="recommend")
    system, params = without_inputs(system, params, inputs, "recommend")
    softened = soften(system, constraint, _default_way(system, constraint) if by is None else by)
    name = softened.ideal.name
    model = compile(system).switched()
    given = resolve(softened.ideal, state, softened.own(params))
    if given.shape:
        raise DeclarationError(f"{name}: recommend takes one state; it was given a batch of shape {given.shape}.")
    allowed = BUDGET.but(name, budget)
    start, motion, described, meter = aim(model, softened, given, softened.own(params), until, ideal, allowed)
    if motion.status is not MotionStatus.REACHED and meter.over:
        return _unfinished(softened, float(error), tol, f"The ideal motion did not reach its end. {meter.over}")
    if described is None:
        raise DeclarationError(f"{name}: the ideal motion stops at its start, so no strength can come near it.")
    runner = Runner(softened, state, params or {}, tol, ideal, meter.budget, meter.deadline)
    edges = np.linspace(float(motion.t[0]), float(motion.t[-1]), CELLS + 1)
    mobility, span = runner.mobility(start.mobility), float(edges[-1] - edges[0])
    first = float(default_strengths(softened, mobility, span)[0]) / 10
    most = STRONGEST * first
    if runner.method == "oscillatory" and mobility > 0:
        most = min(most, (MOST_RADIANS / span) ** 2 / mobility)
    search = _Search(runner, edges, described, error, first, most)
    search.bound = violation_times_strength(softened, described, start, edges)
    try:
        strength, spent = search.find(), ""
    except Spent as cause:
        strength, spent = None, str(cause)
    if spent and not search.runs:
        return _unfinished(softened, error, tol, spent)
    return _answer(softened, search, strength, described, error, spent)


def _default_way(system: System | Model, constraint: Any) -> Any:
    declared = system.system if isinstance(system, Model) else system
    if not isinstance(declared, System):
        raise DeclarationError(f"recommend needs a System; it was given {system!r:.80}.")
    names = names_in(constraint, "constraint", where=declared.name)
    known = declared.constraints.names
    levels = {name: getattr(declared.constraints[name], "level", "") for name in names if name in known}
    return {name: Viscosity if levels.get(name) == "velocity" else Stiffness for name in names}


class _Search:
    """Looks for the strength at which the error is met: a few decades, a fitted power, then runs that verify it."""

    def __init__(self, runner: Runner, edges: Array, ideal: Ideal, error: float, first: float, most: float) -> None:
        self.runner, self.edges, self.ideal, self.error, self.first = runner, edges, ideal, error, first
        self.most = most
        self.runs: dict[float, RealizedRun] = {}
        self.bound = math.nan

    def distance(self, strength: float) -> float:
        """Return the position error at a strength."""
        if strength not in self.runs:
            run = self.runner.run(strength, self.edges, self.ideal.reference)
            if run.spent:
                raise Spent(run.spent)
            self.runs[strength] = run
        run = self.runs[strength]
        return run.course.distances["position"] if run.course.status == DONE else math.inf

    def find(self) -> float | None:
        """Return the strength, rounded up to two digits; None where none meets the error."""
        low, high = None, self.first
        for _ in range(TRIES):
            if self.distance(high) <= self.error:
                break
            low, high = high, self._next(high)
            if high > self.most or self.hopeless():
                return None
        else:
            return None
        for _ in range(TRIES):
            lower = _rounded_up(high * 0.5 if low is None else math.sqrt(low * high))
            if lower >= high or (low is not None and lower <= low) or high < self.first * 1e-6:
                break
            if self.distance(lower) <= self.error:
                high = lower
            else:
                low = lower
        return high

    def _next(self, strength: float) -> float:
        """Return where the power fitted so far meets the error, at most two decades further."""
        known = np.array(sorted(self.runs))
        factor = 10.0
        if len(known) >= 3:
            order = fit_order(known, np.array([self.distance(item) for item in known]))
            if order.value < -0.05:
                factor = min(100.0, max(1.3, (self.distance(strength) / self.error) ** (-1 / order.value)))
        return _rounded_up(strength * factor)

    def hopeless(self) -> bool:
        """Say whether the error has stopped falling."""
        known = sorted(self.runs)
        return len(known) >= 5 and self.distance(known[-1]) > 0.8 * self.distance(known[-4])


def _rounded_up(value: float) -> float:
    """Return a number rounded up to two digits.

    Examples
    --------
    >>> _rounded_up(1234.0), _rounded_up(9.91e5)
    (1300.0, 1000000.0)
    """
    power = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / power * (1 - 1e-12)) * power:.3g}")


def _unfinished(softened: Softened, error: float, tol: float, reason: str) -> Recommendation:
    """Return what there is where the budget was spent before any strength was tried."""
    nan = math.nan
    return Recommendation(
        status=RecommendationStatus.NOT_FOUND,
        residual=nan,
        provenance=Provenance.now(softened.ideal.digest, tolerances={"tol": tol}),
        name=softened.ideal.name,
        way=softened.words,
        strength=nan,
        error=error,
        achieved=nan,
        velocity_error=nan,
        reaction_error=nan,
        mean_reaction_error=nan,
        step=nan,
        steps=0,
        seconds=0.0,
        frequency=nan,
        reason=reason,
    )


def _answer(
    softened: Softened, search: _Search, strength: float | None, ideal: Ideal, error: float, spent: str = ""
) -> Recommendation:
    tried = sorted(search.runs)
    chosen = strength if strength is not None else min(tried, key=search.distance)
    run = search.runs[chosen]
    course, n = run.course, len(softened.ideal.coordinates)
    reactions = ideal.reactions(course.t)
    size = max(*(float(np.abs(lam).max()) for lam in reactions.values()), 1e-300)
    widths, rates = np.diff(course.t), search.runner.rates(run)
    rate = max(rates)
    at = np.linspace(0, len(widths), len(rates))
    near = np.interp(np.arange(len(widths) + 1), at, rates)
    width = np.array([averaging_width(item, float(widths[0]), len(widths)) for item in near])
    # Of few periods nothing can be said next to the ends: only whole windows are compared.
    edge = np.arange(len(widths) + 1)
    worst, inside = 0.0, (edge >= width // 2) & (edge + width // 2 <= len(widths))
    for k, name in enumerate(softened.names):
        mean = smoothed(np.diff(course.integrals[:, n + k]) / widths, width)
        worst = max(worst, float(np.abs(mean - reactions[name])[inside].max()))
    reason = ""
    if strength is None:
        reason = f"The best of {len(tried)} strengths up to {tried[-1]:.3g} missed by {search.distance(chosen):.3g}; "
        if spent:
            reason += spent
        elif search.hopeless():
            reason += "the error has stopped falling: ask limit() what the realized motions tend to."
        else:
            reason += "stronger ones cost too many steps, and rounding adds up over them. Allow a larger error."
    return Recommendation(
        status=RecommendationStatus.NOT_FOUND if strength is None else RecommendationStatus.VERIFIED,
        residual=max(0.0, search.distance(chosen) / error - 1.0),
        provenance=Provenance.now(softened.ideal.digest, tolerances={"tol": search.runner.tol}),
        name=softened.ideal.name,
        way=softened.words,
        strength=chosen,
        error=error,
        achieved=search.distance(chosen),
        velocity_error=course.distances["velocity"],
        reaction_error=course.distances["force"] / size,
        mean_reaction_error=worst / size,
        step=EXPLICIT / rate if rate > 0 else math.inf,
        steps=course.steps,
        seconds=run.seconds,
        frequency=rate,
        reason=reason,
        bound=search.bound / chosen,
        violation=largest_violation(softened, run),
    )
