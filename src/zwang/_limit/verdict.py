"""The verdict of a study: what the realized motions tend to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._limit.effective import applies, effective_motion
from zwang._limit.ideal import Ideal, IdealStart
from zwang._limit.order_fit import fit_order
from zwang._limit.other_sides import other_side_limit
from zwang._limit.strength_runs import Gathered
from zwang._limit.ways import Softened
from zwang._numerics.motion.reference import DISTANCES
from zwang._results.limit import CommonLimit, LimitStatus, LimitVerdict, Order

Array = NDArray[np.float64]
FALLS = -0.05  # an order above it is no decay: noise of a fit
APART = 1e-3  # part of the distance run through at which two limits are told apart
SLOW = -0.4  # an order above it is none that theory has for a limit that is the ideal motion
NEAR = 0.2
"""A motion is near a limit when its distance is below this share of the distance that the motion runs through."""


def errors_of(gathered: Gathered) -> dict[str, Array]:
    """Return quantity -> (s,): the largest distances to the ideal motion."""
    names = DISTANCES
    return {name: np.array([run.course.distances[name] for run in gathered.runs]) for name in names}


def orders_of(gathered: Gathered) -> dict[str, Order]:
    """Return quantity -> fitted power of the strength."""
    return {
        name: fit_order(gathered.strengths, errors, gathered.floors[name])
        for name, errors in errors_of(gathered).items()
    }


def judge(
    softened: Softened,
    gathered: Gathered,
    start: IdealStart,
    ideal: Ideal | None,
    state: Mapping[Any, Any],
    params: Mapping[Any, Any],
) -> LimitVerdict:
    """Return what the realized motions tend to: the ideal motion, something else that has a name, or nothing.

    Where a budget ended some of them nothing is concluded: others, or another clock, might say otherwise.
    """
    if gathered.spent:
        number = len(gathered.failed) + len(gathered.runs)
        words = f"{len(gathered.failed)} of {number} realized motions" if number else "The ideal motion"
        return LimitVerdict(LimitStatus.UNDECIDED, f"{words} did not reach the end. {gathered.spent}")
    scale = _travel(gathered)
    verdict = None if ideal is None else _to_ideal(gathered, scale)
    slowly = verdict is not None and verdict.order is not None and verdict.order.value > SLOW
    if verdict is not None and not (slowly and start.removed > 0):
        return verdict
    candidates = _candidates(softened, gathered, start, state, params)
    # Errors that fall slowly may be on their way past the ideal motion to one that theory knows.
    if verdict is not None and ideal is not None:
        known = ideal.at(gathered.edges)[0]
        if not any(np.linalg.norm(one.q - known, axis=1).max() > APART * scale for one in candidates):
            return verdict
    for candidate in candidates:
        if _reached(candidate.distances, candidate.order, gathered, scale):
            words = f"converge to {candidate.sentence}: position with order {candidate.order.value:.2f}"
            return LimitVerdict(
                LimitStatus.CONVERGES_ELSEWHERE,
                f"The realized motions don't converge to the ideal one; they {words}.",
                candidate.order,
                candidate,
            )
    verdict = _among_themselves(gathered, ideal, scale)
    if verdict.status is LimitStatus.CONVERGES_ELSEWHERE or not candidates:
        return verdict
    nearest = min(candidates, key=lambda one: float(one.distances[-1]))
    words = f"these strengths don't reach what theory has for a limit, {nearest.sentence}"
    sentence = f"{_than(ideal)}; {words}. At the last they are {nearest.distances[-1]:.3g} from it."
    return LimitVerdict(LimitStatus.UNDECIDED, sentence, nearest.order)


def _than(ideal: Ideal | None) -> str:
    return "There is no ideal motion to compare with" if ideal is None else "They don't converge to the ideal one"


def _travel(gathered: Gathered) -> float:
    """Return how far the motions go."""
    paths = [run.course.q for run in gathered.runs]
    far = max(float(np.linalg.norm(np.ptp(q, axis=0))) for q in paths)
    return far or float(np.abs(paths[-1]).max()) or 1.0


def _reached(errors: Array, order: Order, gathered: Gathered, scale: float) -> bool:
    """Say whether errors fall to nothing: with an order, or to the floor of rounding."""
    if errors[-1] <= 12 * gathered.floors["position"][-1]:
        return True
    falls = np.isfinite(order.value) and order.value + order.uncertainty < FALLS
    return bool(falls and errors[-1] < NEAR * scale and errors[-1] < 0.7 * errors[0])


def _to_ideal(gathered: Gathered, scale: float) -> LimitVerdict | None:
    errors, orders = errors_of(gathered), orders_of(gathered)
    order = orders["position"]
    if not _reached(errors["position"], order, gathered, scale):
        return None
    parts = []
    for name in ("position", "velocity", "tangential velocity", "integral"):
        if np.isfinite(orders[name].value) and orders[name].value < FALLS:
            parts.append(f"{name} with order {orders[name].value:.2f}")
    sentence = "The realized motions converge to the ideal one" + (f": {', '.join(parts)}" if parts else "")
    staying = [
        name
        for name in ("normal velocity", "force")
        if np.isfinite(orders[name].value) and abs(orders[name].value) < -FALLS and errors[name][-1] > 0
    ]
    if staying:
        words = {"normal velocity": "the velocity across the constraints", "force": "the force itself"}
        rest = " and ".join(words[name] for name in staying)
        sentence += f"; {rest} {'does' if len(staying) == 1 else 'do'} not converge"
        sentence += ", only in the mean" if "force" in staying else ""
    return LimitVerdict(LimitStatus.CONVERGES, sentence + ".", order)


def _candidates(
    softened: Softened, gathered: Gathered, start: IdealStart, state: Mapping[Any, Any], params: Mapping[Any, Any]
) -> list[CommonLimit]:
    """Return the limits other than the ideal motion that theory knows for this realization."""
    found = []
    if start.removed > 0 and applies(softened):
        names = [item.name for item in softened.ideal.velocities]
        slow = np.array([start.state[name] for name in names])
        made = effective_motion(softened, state, params, slow, gathered.edges)
        if made is not None and len(made.t) == len(gathered.edges):
            sentence = _extra_sentence(softened, made.extra_force[0], made.resonances)
            found.append(_compared(gathered, sentence, made.q, made.v, made.extra_force, made.actions))
    other = other_side_limit(softened, start, params, gathered.edges)
    if other is not None:
        sentence, q, v = other
        unknown = np.full_like(q, np.nan)
        found.append(_compared(gathered, sentence, q, v, unknown, np.zeros((len(q), 0))))
    return found


def _extra_sentence(softened: Softened, force: Array, resonances: tuple[str, ...]) -> str:
    parts = [
        f"{value:.6g} on {q.name}"
        for q, value in zip(softened.ideal.coordinates, force, strict=True)
        if abs(value) > 1e-9 * abs(force).max()
    ]
    words = "the motion with the extra force -d/dq sum J_i omega_i(q) that the fast oscillation leaves"
    words += f" ({', '.join(parts)} at the start)" if parts else ""
    return "; ".join((words, *resonances))


def _compared(gathered: Gathered, sentence: str, q: Array, v: Array, force: Array, actions: Array) -> CommonLimit:
    distances = np.array([np.linalg.norm(run.course.q - q, axis=1).max() for run in gathered.runs])
    order = fit_order(gathered.strengths, distances, gathered.floors["position"])
    return CommonLimit(sentence, gathered.edges, q, v, force, actions, distances, order)


def _among_themselves(gathered: Gathered, ideal: Ideal | None, scale: float) -> LimitVerdict:
    """Compare each realized motion with the next: they may come together without coming to the ideal one."""
    q = np.array([run.course.q for run in gathered.runs])
    apart = np.linalg.norm(np.diff(q, axis=0), axis=2).max(axis=1)
    order = fit_order(gathered.strengths[:-1], apart, gathered.floors["position"][:-1])
    if len(apart) == 2 and apart.min() > 0:
        slope = float(np.log(apart[1] / apart[0]) / np.log(gathered.strengths[1] / gathered.strengths[0]))
        order = Order(slope, abs(slope) / 2)
    than = _than(ideal)
    settled = apart[-1] <= 12 * gathered.floors["position"][-1]
    if len(apart) >= 2 and (
        settled or (order.value + order.uncertainty < FALLS and apart[-1] < 0.7 * apart[0] and apart[-1] < NEAR * scale)
    ):
        last = gathered.runs[-1].course
        ratio = gathered.strengths[-1] / gathered.strengths[-2]
        share = ratio ** min(order.value, 0.0) if np.isfinite(order.value) else 0.0
        best = q[-1] + (q[-1] - q[-2]) * share / max(1 - share, 0.1)
        end = ", ".join(f"{value:.6g}" for value in best[-1])
        limit = _compared(
            gathered, f"a common limit that ends at q = ({end})", best, last.v, np.full_like(best, np.nan),
            np.zeros((len(best), 0)),
        )  # fmt: skip
        words = f"the realized motions converge to {limit.sentence}"
        return LimitVerdict(LimitStatus.CONVERGES_ELSEWHERE, f"{than}; {words}.", order, limit)
    if len(apart) >= 3 and apart[-3:].min() > 1e-3 * scale and not order.value + order.uncertainty < FALLS:
        words = f"the realized motions have no limit: neighbours in strength stay {apart[-1]:.3g} apart"
        return LimitVerdict(LimitStatus.DOES_NOT_CONVERGE, f"{than}, and {words}.", order)
    words = f"neighbours in strength are {apart[-1]:.3g} apart at the last"
    return LimitVerdict(LimitStatus.UNDECIDED, f"{than}; these strengths don't show another limit: {words}.", order)
