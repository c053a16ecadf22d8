"""The verb `fit`: parameters and initial values from data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._compile.given_values import resolve
from zwang._compile.states import shares, turning
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.system import System
from zwang._linearize.asked import MotionQuestion, asked
from zwang._linearize.saltation import NotDifferentiableError
from zwang._linearize.trail import Trail, followed
from zwang._numerics.budget import Allowed, Spent, spend, spending
from zwang._numerics.contact.admission import characteristic
from zwang._numerics.jit import tiered
from zwang._numerics.sizes import sizes_at
from zwang._numerics.tolerances import name_of
from zwang._reactions import hold
from zwang._results import Provenance
from zwang._results.finite import within_doubles
from zwang._results.motion import Motion, MotionStatus
from zwang._results.motion_dense import states_at
from zwang._results.sensitivity import Fit, FitStatus
from zwang._sensitivity.varied import Observed, Varied, varied
from zwang._sensitivity.verb import flow_of
from zwang._simulate.options import BUDGET
from zwang.errors import DeclarationError, StateError, ZwangError

Array = NDArray[np.float64]
LEVEL = 0.95  # of the intervals that are told
BLIND = 1e-9
"""Singular values of the scaled Jacobian up to this part of the largest leave a direction undetermined."""
FLAT = 1e-6
"""The cosine of the angle between residuals and model at a minimum."""
NUDGE = 1e-6
"""Part of a free value by which it is changed where a motion has no derivative."""
CLOSED = 1e-9
"""Gaps and their rates up to this part of the size of their terms are closed at the start."""
ENDLESS = 1e3
"""A value that has grown by so much, for nothing, is taken to grow for ever."""
LOST = 1e6
"""What residuals count for, in standard deviations, where a motion does not come to the data."""


@tiered("fit", main="advance", seconds=20)
@within_doubles()
def fit(
    system: System | Model,
    data: Mapping[Any, Any],
    *,
    state: Mapping[Any, float],
    params: Mapping[Any, float] | None = None,
    free: Any,
    tol: float = 1e-9,
    impact: str | None = None,
    budget: Allowed = None,
    backend: str = "native",
    inputs: Mapping[Any, Any] | None = None,
) -> Fit:
    """Return parameters and initial values with which the motion passes nearest to data, in the sense of least squares.

    Derivatives come from `sensitivity`, through impacts and other events. Where a motion on the way has none, they are
    differences.

    Parameters
    ----------
    system : System or Model
    data : mapping
        Name or expression of coordinates, velocities, time and parameters -> (times, values) or (times, values, sigma),
        with the standard deviation sigma a number or an array.
    state, params : mapping
        Symbol or name -> number: the start, and first guesses of what is free.
    free : names, or a mapping of names to bounds (low, high)
        Parameters, and initial values by their coordinates and velocities.
    tol, impact, backend, inputs
        As in `simulate`.
    budget : float or mapping, optional
        For all motions together; see `simulate`.

    Returns
    -------
    Fit
        NOT_IDENTIFIABLE where the data leave a combination of the free values open: the reason names it. NOT_CONVERGED
        also where they drive a value to infinity.

    Examples
    --------
    The restitution and the height of a ball, from seven heights on its way.

    >>> import numpy as np, zwang as zw
    >>> ball = zw.gallery.get("bouncing_ball")
    >>> truth = zw.simulate(ball.system, ball.state, ball.params, until=1.5)
    >>> times = np.linspace(0.1, 1.3, 7)
    >>> guess = {**ball.params, "e": 0.9}
    >>> found = zw.fit(ball.system, {"y": (times, truth.at(times)["y"])}, state=ball.state, params=guess, free=["e"])
    >>> abs(found.params["e"] - ball.params["e"]) < 1e-6
    True
    """
    question = asked("fit", system, state, params, inputs, backend)
    what = varied(question.model.system, list(free) if isinstance(free, Mapping) else free, "free")
    problem = _Problem(question, data, what, tol, impact)
    low, high = _bounds(question.name, free, what, problem.start)
    with spending(BUDGET.but(question.name, budget)):
        return _solved(problem, low, high)


def _bounds(name: str, free: Any, what: Varied, start: Array) -> tuple[Array, Array]:
    low, high = np.full(len(start), -np.inf), np.full(len(start), np.inf)
    if not isinstance(free, Mapping):
        return low, high
    for k, (key, pair) in enumerate(free.items()):
        try:
            low[k], high[k] = (float(one) for one in pair)
        except (TypeError, ValueError):
            raise DeclarationError(
                f"{name}: free= maps names to bounds (low, high); '{key}' has {pair!r:.40}."
            ) from None
        if not low[k] <= start[k] <= high[k] or not low[k] < high[k]:
            raise DeclarationError(
                f"{name}: the first guess {start[k]:g} of '{what.names[k]}' is not between its bounds {low[k]:g} and "
                f"{high[k]:g}."
            )
    return low, high


@dataclass(frozen=True, eq=False)
class _Series:
    """One row of data: times, values, and standard deviations."""

    times: Array
    values: Array
    sigma: Array
    given: bool


def _series(name: str, key: str, item: Any, begin: float) -> _Series:
    try:
        parts = [np.atleast_1d(np.asarray(part, dtype=float)) for part in item]
        times, values = parts[0], parts[1]
        sigma = np.broadcast_to(parts[2], times.shape) if len(parts) == 3 else np.ones(len(times))
        good = times.shape == values.shape and times.ndim == 1 and len(times) > 0 and len(parts) in (2, 3)
    except (TypeError, ValueError, IndexError):
        good = False
    if not good:
        raise DeclarationError(
            f"{name}: data['{key}'] must be (times, values) or (times, values, sigma), arrays of one length; it is "
            f"{item!r:.60}."
        )
    if not all(np.isfinite(part).all() for part in (times, values, sigma)) or (sigma <= 0).any():
        raise DeclarationError(
            f"{name}: data['{key}'] has a number that is not finite, or a sigma that is not above zero."
        )
    if times.min() < begin:
        raise DeclarationError(
            f"{name}: data['{key}'] begins at t = {times.min():g}, before the start of the motion, t = {begin:g}. Give "
            "the state an earlier t, or leave those data out."
        )
    return _Series(times, values, np.asarray(sigma, dtype=float), len(parts) == 3)


class _Problem:
    """Residuals and their derivatives, of free values."""

    def __init__(self, question: MotionQuestion, data: Any, what: Varied, tol: float, impact: str | None) -> None:
        self.question, self.model, self.what = question, question.model, what
        system, name, inputs = self.model.system, question.name, question.given
        self.begin = float(inputs.t[0])
        self.names = [item.name for item in (*system.coordinates, *system.velocities)]
        self.known = dict(zip(self.names, (*inputs.q[:, 0], *inputs.v[:, 0]), strict=True))
        self.known |= dict(zip([item.name for item in system.parameters], inputs.params[:, 0], strict=True))
        self.start = np.array([float(self.known[one]) for one in what.names])
        if not isinstance(data, Mapping) or not data:
            raise DeclarationError(
                f"{name}: data must map names or expressions to (times, values); it is {data!r:.60}."
            )
        named = {name_of(key): key for key in data}
        self.series = {key: _series(name, key, data[item], self.begin) for key, item in named.items()}
        self.observed = Observed(system, named)
        self.times = np.unique(np.concatenate([one.times for one in self.series.values()]))
        if sum(len(one.times) for one in self.series.values()) < len(what.names):
            raise DeclarationError(
                f"{name}: {len(what.names)} values are free, but there are fewer data. Free less, or measure more."
            )
        self.options = question.options(until=float(self.times[-1]), tol=tol, impact=impact)
        self.closed = self._closed()
        self.steps = 0
        self.last: tuple[Array, Motion, Trail] | None = None
        self.best: tuple[Array, Motion, Trail] | None = None

    def _closed(self) -> list[str]:
        """Return the constraints that the given start keeps closed: other starts keep them too."""
        model = self.model.switched(self.question.on)
        state, params = self.split(self.start)
        at, terms = resolve(model.system, state, params), model.terms(state, params)
        turns = turning(model.system)
        sizes = characteristic(terms, turns, sizes_at(terms, turns, at.q, at.v))
        gaps, rates = shares(np.abs(terms.value), sizes.gap), shares(np.abs(terms.rate), sizes.rate)
        normals = [item for item in model.system.constraints if not isinstance(item, Friction)]
        return [
            str(item.name)
            for place, item in enumerate(normals)
            if isinstance(item, Bilateral)
            or (gaps[place, 0] <= CLOSED and (item.level == "velocity" or rates[place, 0] <= CLOSED))
        ]

    def split(self, x: Array) -> tuple[dict[str, float], dict[str, float]]:
        """Return state and parameters with free values."""
        known = {**self.known, **dict(zip(self.what.names, x.tolist(), strict=True))}
        state = {name: float(known[name]) for name in self.names} | {"t": self.begin}
        return state, {name: float(value) for name, value in known.items() if name not in self.names}

    def motion(self, x: Array) -> tuple[Motion, Trail]:
        """Return the motion with free values, and its trail."""
        if self.last is not None and np.array_equal(self.last[0], x):
            return self.last[1], self.last[2]
        state, params = self.split(x)
        if self.closed:
            state = {
                key: float(value)
                for key, value in hold(self.model.switched(self.question.on), state, params, self.closed).items()
            }
        inputs = resolve(self.model.system, state, params)
        motion, trail = followed(self.model, inputs, self.options)
        if self.last is None:  # what there is of the first one is shown where no other comes to its end
            self.last = x.copy(), motion, trail
        spend()  # raises where the budget of all motions was what ended this one
        self.steps += 1
        self.last = x.copy(), motion, trail
        return motion, trail

    def keep(self) -> None:
        """Keep the last motion as the best so far: with a budget that is spent it can't be computed again."""
        self.best = self.last

    def recall(self) -> Array | None:
        """Return the free values of the best motion, or what there is of the first one; None without any."""
        self.last = self.best or self.last
        return None if self.last is None else self.last[0]

    def predicted(self, motion: Motion, x: Array) -> dict[str, Array]:
        """Return what the motion has in place of the data; nan beyond its end."""
        params = np.array([self.split(x)[1][item.name] for item in self.model.system.parameters])
        n, found = len(motion.coordinates), {}
        for k, (key, one) in enumerate(self.series.items()):
            times = np.minimum(one.times, motion.t[-1])
            y = states_at(motion.pieces, times)
            values = self.observed.value(k, times, y[:, :n].T, y[:, n:].T, params)
            found[key] = np.where(one.times <= motion.t[-1], values, np.nan)
        return found

    def residuals(self, x: Array) -> Array:
        """Return (model - data)/sigma, all in one row."""
        try:
            motion, _ = self.motion(x)
        except ZwangError as error:
            # Far from the first guess there may be no such system (a negative mass), or no such start.
            if not self.steps and not isinstance(error, StateError):
                raise
            return np.full(sum(len(one.times) for one in self.series.values()), LOST)
        model = self.predicted(motion, x)
        parts = [(model[key] - one.values) / one.sigma for key, one in self.series.items()]
        return np.nan_to_num(np.concatenate(parts), nan=LOST, posinf=LOST, neginf=-LOST)

    def jacobian(self, x: Array) -> Array:
        """Return the derivatives of the residuals by the free values."""
        try:
            motion, trail = self.motion(x)
            if motion.status is not MotionStatus.REACHED:
                return self._differences(x)
            flow = flow_of(trail, self.what, self.times)
        except (NotDifferentiableError, StateError):
            return self._differences(x)
        samples = {sample.t: sample for sample in flow.samples}
        params = trail.context.params
        parts = []
        for k, one in enumerate(self.series.values()):
            found = [samples[time] for time in one.times.tolist()]
            q, v = (np.stack([getattr(sample, part) for sample in found], axis=1) for part in ("q", "v"))
            slope = self.observed.slope(k, one.times, q, v, params)
            z = 1 + 2 * len(q)
            x_of = np.stack([sample.x for sample in found])
            moved = np.einsum("ib,bik->bk", slope[1:z], x_of) + slope[z:][list(self.what.chosen)].T @ self.what.dp
            parts.append(moved / one.sigma[:, None])
        return np.concatenate(parts)

    def _differences(self, x: Array) -> Array:
        here, columns = self.residuals(x), []
        for k, value in enumerate(x):
            step = NUDGE * (abs(value) or 1.0)
            moved = x.copy()
            moved[k] += step
            columns.append((self.residuals(moved) - here) / step)
        return np.stack(columns, axis=1)


class _Endless(Exception):
    """A free value grows without end, and hardly anything is gained by it."""


def _solved(problem: _Problem, low: Array, high: Array) -> Fit:
    from scipy.optimize import least_squares

    best: list[tuple[float, Array]] = []  # each better than those before

    def residuals(x: Array) -> Array:
        found = problem.residuals(x)
        cost = float(found @ found)
        if not best or cost < best[-1][0]:
            best.append((cost, x.copy()))
            problem.keep()
            _require_end(problem.what.names, best, scale, np.isinf(np.where(x > 0, high, low)))
        return found

    scale = np.where(problem.start != 0, np.abs(problem.start), 1.0)
    try:
        answer = least_squares(
            residuals, problem.start, jac=problem.jacobian, bounds=(low, high), x_scale=scale,
            xtol=1e-14, ftol=1e-15, gtol=1e-15, max_nfev=200,
        )  # fmt: skip
        return _result(problem, np.asarray(answer.x), np.asarray(answer.jac), np.asarray(answer.fun), scale, "")
    except (Spent, _Endless) as ended:
        x = problem.recall()
        if x is None:
            raise DeclarationError(f"{problem.model.system.name}: {ended}") from None
        wide = np.full((1, len(x)), np.nan)
        how = FitStatus.UNFINISHED if isinstance(ended, Spent) else FitStatus.NOT_CONVERGED
        return _result(problem, x, wide, np.zeros(len(wide)), scale, str(ended), how)


def _require_end(names: tuple[str, ...], best: list[tuple[float, Array]], scale: Array, unbounded: Any) -> None:
    """Raise where data that no motion comes near drive a value to infinity: its motions would take ever more steps."""
    cost, x = best[-1]
    for before, other in best[:-1]:
        grown = np.abs(x) >= ENDLESS * np.maximum(np.abs(other), scale)
        if before - cost <= 0.01 * before and (grown & unbounded).any():
            k = int(np.argmax(grown & unbounded))
            raise _Endless(
                f"'{names[k]}' grows without end: from {other[k]:.3g} to {x[k]:.3g} the squares of the residuals fall "
                f"by less than a hundredth. Give it bounds, free={{'{names[k]}': (low, high)}}, or look at the data."
            )


def _result(
    problem: _Problem,
    x: Array,
    jac: Array,
    fun: Array,
    scale: Array,
    spent: str,
    how: FitStatus = FitStatus.UNFINISHED,
) -> Fit:
    from scipy import stats

    names, count = problem.what.names, len(x)
    scaled = jac * scale
    status, reason = FitStatus.CONVERGED, ""
    covariance = np.full((count, count), np.nan)
    slope = 0.0
    if spent:
        status, reason = how, spent
    else:
        _, values, right = np.linalg.svd(scaled, full_matrices=True)
        values = np.append(values, np.zeros(count - len(values)))
        blind = values <= BLIND * values.max(initial=0.0)
        own = np.linalg.norm(scaled, axis=0) * np.linalg.norm(fun)
        slope = float((np.abs(scaled.T @ fun) / np.where(own > 0, own, 1.0)).max())
        if blind.any():
            status, reason = FitStatus.NOT_IDENTIFIABLE, _directions(names, right[blind] * scale)
        else:
            given = all(one.given for one in problem.series.values())
            freedom = len(fun) - count
            spread = 1.0 if given else float(fun @ fun) / freedom if freedom > 0 else np.nan
            covariance = spread * np.linalg.inv(jac.T @ jac)
            small = float(np.abs(fun).max(initial=0.0)) <= 1e3 * problem.options.tol * _size(problem)
            if slope > FLAT and not small:
                status = FitStatus.NOT_CONVERGED
                reason = f"The residuals still have a component of {slope:.1e} of their length along the model."
    freedom = max(len(fun) - count, 1)
    wide = (
        stats.t.ppf(0.5 + LEVEL / 2, freedom) if not all(one.given for one in problem.series.values()) else 1.959963985
    )
    errors = wide * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    motion, _ = problem.motion(x)
    state, params = problem.split(x)
    model = problem.predicted(motion, x)
    return Fit(
        status=status,
        residual=slope,
        provenance=Provenance.now(
            problem.model.system.digest, tolerances={"tol": problem.options.tol}, backend=problem.model.backend
        ),
        name=problem.model.system.name,
        free=names,
        params={name: value for name, value in params.items() if name in {*problem.question.params, *names}},
        state=motion.at(float(motion.t[0])) if problem.closed else state,
        covariance=covariance,
        intervals={name: (float(x[k] - errors[k]), float(x[k] + errors[k])) for k, name in enumerate(names)},
        motion=motion,
        residuals={key: one.values - model[key] for key, one in problem.series.items()},
        data={key: (one.times, one.values) for key, one in problem.series.items()},
        steps=problem.steps,
        reason=reason,
    )


def _size(problem: _Problem) -> float:
    """Return the size of the data in standard deviations."""
    return max(float((np.abs(one.values) / one.sigma).max()) for one in problem.series.values())


def _directions(names: tuple[str, ...], rows: Array) -> str:
    """Return the combinations of free values that the data leave open, in words."""
    told = []
    for row in rows:
        unit = row / np.abs(row).max()
        told.append(" ".join(f"{part:+.4g} {name}" for name, part in zip(names, unit, strict=True) if abs(part) > 1e-6))
    return f"The data don't change along the direction {'; '.join(told)}. Fix one of these, or measure something else."
