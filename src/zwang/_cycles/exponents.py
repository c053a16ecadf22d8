"""The verb `lyapunov`: exponents of motions through events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._declare.system import System
from zwang._linearize.asked import asked
from zwang._linearize.monodromy import compared
from zwang._linearize.saltation import NotDifferentiableError
from zwang._linearize.stretches import STAGES, WEIGHTS, Propagated
from zwang._linearize.trail import PassedStretch, followed
from zwang._linearize.variational_flow import VariationalFlow
from zwang._numerics.budget import Allowed
from zwang._numerics.jit import tiered
from zwang._numerics.tolerances import real, whole
from zwang._progress import Progress, progress_bar
from zwang._results import Provenance
from zwang._results.finite import within_doubles
from zwang._results.lyapunov import Lyapunov, LyapunovStatus
from zwang._results.motion import MotionStatus
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
PARTS = 20
"""Of a motion, over which means are compared."""
OFTEN = 5
"""Steps after which directions are made orthonormal again."""
DEAD = 1e-13
"""Length, of one, down to which a direction is destroyed."""


@tiered("lyapunov", main="advance", seconds=20)
@within_doubles()
def lyapunov(
    system: System | Model,
    state: Mapping[Any, float],
    params: Mapping[Any, float] | None = None,
    *,
    until: float,
    exponents: int | None = None,
    transient: float = 0.0,
    inputs: Mapping[Any, Any] | None = None,
    tol: float = 1e-10,
    impact: str | None = None,
    progress: Progress = None,
    budget: Allowed = None,
    backend: str = "native",
) -> Lyapunov:
    """Return the Lyapunov exponents of a motion, through its events.

    Nearby motions are carried along as by `sensitivity`, and made orthonormal again and again; the means of the
    logarithms of their growth are the exponents. Where nothing depends on time one of them is zero, along the motion.
    Time is no state: a driven system has no such zero.

    Parameters
    ----------
    system : System or Model
    state, params : mapping
        Symbol or name -> number.
    until : float
        End of the motion [s].
    exponents : int, optional
        How many of the largest; by default all, as many as the start has free directions.
    transient : float
        Time after the start from which on growth counts [s].
    inputs, tol, impact, progress, budget, backend
        As in `simulate`.

    Returns
    -------
    Lyapunov
        Sticking and plastic impacts destroy directions: -inf.

    Examples
    --------
    A damped oscillator: both exponents are minus the damping.

    >>> import zwang as zw
    >>> (x,), (v,) = zw.coordinates("x")
    >>> damped = zw.System(name="damped", kinetic=v**2 / 2, potential=x**2 / 2, forces={x: -v / 5})
    >>> found = zw.lyapunov(damped, {x: 1, v: 0}, {}, until=200)
    >>> found.exponents.round(2)
    array([-0.1, -0.1])
    """
    question = asked("lyapunov", system, state, params, inputs, backend)
    name, start = question.name, float(question.given.t[0])
    options = question.options(until=until, tol=tol, impact=impact, budget=budget)
    begin = start + real(transient, "transient", least=0, where=name)
    if begin >= options.until:
        raise DeclarationError(
            f"{name}: transient= {transient:g} leaves nothing of the motion until {options.until:g}. Give a later end."
        )
    count = None if exponents is None else whole(exponents, "exponents", least=1, where=name)
    with progress_bar(progress, f"lyapunov {name}", start=start, end=options.until) as told:
        motion, trail = followed(question.model, question.given, replace(options, progress=told))
    found = compared(trail, motion, frozenset())
    free = found.basis.shape[1]
    if count is not None and count > free:
        raise DeclarationError(f"{name}: exponents= {count} were asked for; the start has {free} free directions.")
    flow = _OrthonormalFlow(trail, (), np.zeros((0, count or free)), start=start, sizes=found.sizes)
    status, reason, instant = LyapunovStatus.COMPUTED, "", float("nan")
    if motion.status is not MotionStatus.REACHED:
        status, reason = LyapunovStatus.UNFINISHED, motion.reason or motion.status.value
    try:
        flow.run(found.basis[:, : count or free])
    except NotDifferentiableError as error:
        status, reason, instant = LyapunovStatus.NOT_DIFFERENTIABLE, str(error), error.time
    mean, error_of, times, history = flow.averages(begin)
    return Lyapunov(
        status=status,
        residual=flow.residual(begin) if free == len(found.gap) == (count or free) else float("nan"),
        provenance=Provenance.now(
            question.declared.digest, tolerances={"tol": options.tol}, backend=question.model.backend
        ),
        name=name,
        exponents=mean,
        uncertainty=error_of,
        times=times,
        history=history,
        motion=motion,
        instant=instant,
        reason=reason,
    )


@dataclass(eq=False)
class _OrthonormalFlow(VariationalFlow):
    """Nearby motions that are made orthonormal again and again, and how they grew in between."""

    start: float = 0.0
    sizes: Array = field(default_factory=lambda: np.zeros(0))
    grown: list[tuple[float, Array]] = field(default_factory=list)
    volume: list[tuple[float, float]] = field(default_factory=list)

    def _stretch(self, stretch: PassedStretch, wanted: Array) -> None:
        found = self._propagated(stretch, stretch.t)
        self._count_volume(found, len(found.t) - 1)
        for k, phi in enumerate(found.phi):
            self.x = phi @ self.x
            if (k + 1) % OFTEN == 0 or k + 1 == len(found.phi):
                self._orthonormal(float(found.t[k + 1]))

    def _count_volume(self, found: Propagated, steps: int) -> None:
        """Keep the divergence over each step: the trace of a_v."""
        n = found.jets.n
        trace = np.einsum("iib->b", found.jets.slope[:n, 1 + n : 1 + 2 * n])
        means = trace.reshape(steps, STAGES) @ WEIGHTS * np.diff(found.t)
        self.volume += list(zip(found.t[1:].tolist(), means.tolist(), strict=True))

    def _orthonormal(self, time: float) -> None:
        scaled = self.x / self.sizes[:, None]
        q, r = np.linalg.qr(scaled)
        lengths = np.abs(np.diag(r))
        with np.errstate(divide="ignore"):
            self.grown.append((time, np.where(lengths > DEAD, np.log(np.maximum(lengths, 1e-300)), -np.inf)))
        self.x = q * np.where(lengths > DEAD, 1.0, 0.0) * self.sizes[:, None]

    def averages(self, begin: float) -> tuple[Array, Array, Array, Array]:
        """Return exponents, their standard errors, and the averages over time."""
        width = self.x.shape[1]
        kept, begin = self._since(begin)
        if not kept:
            none = np.full(width, np.nan)
            return none, none, np.zeros(0), np.zeros((0, width))
        times = np.array([time for time, _ in kept])
        total = np.cumsum(np.array([logs for _, logs in kept]), axis=0)
        span = (times - begin)[:, None]
        with np.errstate(invalid="ignore"):
            history = total / span
        ends = np.searchsorted(times, begin + (times[-1] - begin) * np.arange(1, PARTS + 1) / PARTS, side="right") - 1
        ends = np.unique(np.maximum(ends, 0))
        mean = history[-1]
        error = np.full(width, np.nan)
        if len(ends) > 2:
            with np.errstate(invalid="ignore"):
                parts = np.diff(total[ends], axis=0) / np.diff(times[ends])[:, None]
                error = parts.std(axis=0, ddof=1) / np.sqrt(len(parts))
        order = np.argsort(-mean, kind="stable")
        return mean[order], error[order], times, history[:, order]

    def residual(self, begin: float) -> float:
        """Return by how much the sum of the exponents misses what volumes do."""
        kept, since = self._since(begin)
        if not kept:
            return float("nan")
        last = kept[-1][0]
        total = float(np.sum([logs.sum() for _, logs in kept]))
        volume = sum(part for time, part in self.volume if since < time <= last)
        for time, before, after in self.jumps:
            if since <= time < last:  # directions are made orthonormal right before a jump
                volume += float(np.linalg.slogdet(after)[1] - np.linalg.slogdet(before)[1])
        return abs(total - volume) / (last - since) if np.isfinite(total) else float("nan")

    def _since(self, begin: float) -> tuple[list[tuple[float, Array]], float]:
        """Return the growth that ends after a time, and when that began: directions were made orthonormal last."""
        kept = [(time, logs) for time, logs in self.grown if time > begin]
        return kept, max((time for time, _ in self.grown if time <= begin), default=self.start)
