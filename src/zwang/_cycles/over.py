"""The verb `cycles`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from zwang._compile import Model
from zwang._cycles.continued import CyclesOver, Near, Place
from zwang._cycles.cycle_branches import Branching
from zwang._cycles.forcing_period import depends_on_time, forcing_period, period_number
from zwang._cycles.settled import law_of
from zwang._declare.ranges import varied_range
from zwang._declare.system import System
from zwang._linearize.asked import MotionQuestion, asked, steady_numbers
from zwang._numerics.budget import Allowed, Spent, spending
from zwang._numerics.jit import tiered
from zwang._numerics.tolerances import flag, name_of, whole
from zwang._results import Provenance
from zwang._results.cycle import Cycle, CycleStatus
from zwang._results.cycles import Cycles, CyclesStatus
from zwang._results.finite import within_doubles
from zwang._simulate.options import BUDGET
from zwang.errors import DeclarationError, StateError

SPENDING = replace(BUDGET, steps=10 * (BUDGET.steps or 1), memory=10 * (BUDGET.memory or 1))


@tiered("cycles", main="advance", seconds=20)
@within_doubles()
def cycles(
    system: System | Model,
    cycle: Cycle | Iterable[Cycle],
    params: Mapping[Any, float] | None = None,
    *,
    vary: Any,
    within: Sequence[float],
    switch: bool = True,
    doublings: int = 2,
    period: Any = None,
    inputs: Mapping[Any, Any] | None = None,
    tol: float | None = None,
    impact: str | None = None,
    budget: Allowed = None,
    backend: str = "native",
) -> Cycles:
    """Follow periodic motions over a parameter, to both sides, and locate where they change.

    Pseudo-arclength continuation in the start, the period and the parameter: Newton's method on the return map, with
    derivatives through events by jump matrices. Stability is that of the multipliers.

    Parameters
    ----------
    system : System or Model
    cycle : Cycle or several
        CLOSED, as `periodic` gives them.
    params : mapping, optional
        By default those of the cycle; the parameter that varies begins at the cycle's value.
    vary : symbol or str
        The parameter.
    within : (low, high)
        Its range, which has the cycle's value in it.
    switch : bool
        Whether branches that leave at flips (of twice the period) and at crossings are followed too.
    doublings : int
        How often the period of a given cycle may be doubled at flips.
    period : expression of the parameters, optional
        Where time occurs otherwise than in sines and cosines: a period of everything that depends on it.
    inputs, tol, impact
        By default as the cycle has them.
    budget : float or mapping, optional
        For all motions together; by default ten times the steps of one motion.
    backend : str

    Returns
    -------
    Cycles
        FOUND, or UNFINISHED where a budget was spent. Special points are located to 1e-8 of the range.

    Examples
    --------
    A ball with one impact in each period of a shaking table, over the amplitude: the branch begins at a fold, and its
    period is doubled where the table shakes harder.

    >>> import sympy as sp, zwang as zw
    >>> (y,), (v,) = zw.coordinates("y")
    >>> A = zw.parameters("A")
    >>> table = zw.Unilateral(y - A * sp.sin(10 * zw.t), restitution=0.5, name="table")
    >>> ball = zw.System(name="ball", kinetic=v**2 / 2, potential=sp.Rational(981, 100) * y, constraints=[table])
    >>> one = zw.periodic(ball, {y: 0.2, v: -2.5}, {A: 0.12})
    >>> found = zw.cycles(ball, one, vary=A, within=(0.09, 0.16), doublings=1)
    >>> [round(point.value, 6) for point in (*found.folds, *found.flips[:1])]
    [0.10273, 0.149781]
    """
    given = _checked(system, cycle)
    first = given[0]
    name = name_of(vary)
    branching = Branching(switch=flag(switch, "switch"), doublings=whole(doublings, "doublings", least=0))
    reason, question = "", None
    values = dict(first.params) if params is None else params
    with spending(SPENDING.but(first.name, budget)):
        try:
            for one in given:
                driven = (one.motion.inputs or None) if inputs is None else inputs
                question = asked("cycles", system, one.state, values, driven, backend)
                near = _start(question, one, name, within, period, tol, impact)
                branching.follow(near)
        except Spent as spent:
            reason = str(spent)
            branching.stop()
    assert question is not None
    branches = branching.branches()
    return Cycles(
        status=CyclesStatus.UNFINISHED if reason else CyclesStatus.FOUND,
        residual=max((one.residual for branch in branches for one in branch.cycles), default=first.residual),
        provenance=Provenance.now(
            question.declared.digest, tolerances=first.provenance.tolerances, backend=question.model.backend
        ),
        name=first.name,
        vary=name,
        within=varied_range(question.declared, name, within),
        branches=branches,
        folds=branching.special("fold"),
        flips=branching.special("flip"),
        tori=branching.special("torus"),
        crossings=branching.special("crossing"),
        grazings=branching.special("grazing"),
        changes=branching.special("change"),
        reason=" ".join([*([reason] if reason else []), *branching.notes]),
        params=question.params,
    )


def _checked(system: Any, cycle: Any) -> list[Cycle]:
    """Return the cycles that were given."""
    given = [cycle] if isinstance(cycle, Cycle) else cycle
    name = getattr(getattr(system, "system", system), "name", "cycles")
    if not isinstance(given, (list, tuple)) or not given or not all(isinstance(one, Cycle) for one in given):
        raise DeclarationError(
            f"{name}: cycles needs a Cycle or a list of them, as periodic(...) gives them; it was given {cycle!r:.60}."
        )
    for one in given:
        if one.status is not CycleStatus.CLOSED:
            raise StateError(
                f"{name}: cycles follows a cycle that is CLOSED and has multipliers; this one is {one.status.name}. "
                f"{one.reason}"
            )
    return list(given)


def _start(
    question: MotionQuestion, one: Cycle, vary: str, within: Any, period: Any, tol: float | None, impact: str | None
) -> Near:
    """Return a given cycle as the first one of a branch."""
    low, high = varied_range(question.declared, vary, within)
    names = [item.name for item in question.model.system.parameters]
    number = names.index(vary)
    if vary in one.params:
        question.given.params[number] = one.params[vary]
    at = float(question.given.params[number, 0])
    if not low <= at <= high:
        raise DeclarationError(
            f"{one.name}: within= must have the cycle's own value in it: {vary} = {at:.10g} is not between {low:g} and "
            f"{high:g}."
        )
    free = not depends_on_time(question)
    steady = steady_numbers(question.model.system, one.steady)
    own = float(one.provenance.tolerances.get("tol", 1e-12)) if tol is None else tol
    t = float(one.motion.t[0])
    options = question.options(until=t + one.period, tol=own, impact=impact or law_of(one.motion))
    forced, rounds = _forced(question, number, one.period, period) if not free else (lambda _: None, 1)
    if not free and question.driven is None:
        t -= one.period * np.floor(t / one.period)  # late starts change their phase much with the forcing's period
    over = CyclesOver(
        question, options, steady, free, number, low, high - low, forced, rounds, 1 + one.ones - int(free)
    )
    z = np.concatenate([one.motion.q[0], one.motion.v[0]])
    place = Place(z, float(np.log(one.period)) if free else 0.0, (at - low) / (high - low))
    along = Place(np.zeros_like(z), 0.0, 1.0)
    guess = over.near(place, t)
    near = None if guess is None else over.corrected(place, t, along, guess.sizes, guess)
    if near is None:
        gap = "does not last a period" if guess is None else f"misses its start by {guess.trip.found.residual:.1e}"
        raise StateError(
            f"{one.name}: the cycle that was given is none of this system with these parameters: its motion {gap}. "
            "Give the params= that it was found with."
        )
    return over.clear(near, along)[0]


def _forced(
    question: MotionQuestion, number: int, period: float, given: Any
) -> tuple[Callable[[float], float | None], int]:
    """Return the period of what depends on time as a function of the parameter, and how many of them a cycle lasts."""

    def at(value: float) -> float | None:
        params = question.given.params.copy()
        params[number] = value
        asks = replace(question, given=replace(question.given, params=params))
        return forcing_period(asks) if given is None else period_number(asks, given)

    here = float(question.given.params[number, 0])
    own = at(here)
    if own is None:
        return (lambda _: period), 1
    rounds = max(round(period / own), 1)
    if abs(rounds * own / period - 1) > 1e-6:
        raise DeclarationError(
            f"{question.name}: the cycle's period {period:.10g} is no multiple of that of what depends on time, "
            f"{own:.10g}."
        )
    shift = 1e-3 * (abs(here) or 1.0)
    constant = all(at(here + sign * shift) == own for sign in (1, -1))
    return ((lambda _: own) if constant else at), rounds
