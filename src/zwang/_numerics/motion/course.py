"""A run of one of the loops for stiff and fast motion: what goes in, what comes out, pauses for Python in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.budget import Spent, spend, steps_left
from zwang._numerics.jit import with_functions
from zwang._numerics.motion import oscillatory, run_state, stiff
from zwang._numerics.motion.reference import DISTANCES, Compared, Reference
from zwang._numerics.motion.run_state import Flow, RunState
from zwang._numerics.pace import Pace

Array = NDArray[np.float64]
FIRST = 64
"""Steps until a loop first lets Python look at signals."""

STATUS = {
    run_state.DONE: "reached the end",
    run_state.PAUSED: "was stopped before the end",
    run_state.TOO_SMALL: "needed steps below the rounding of time",
    run_state.IRREGULAR: "met dependent constraints",
    run_state.NOT_FINITE: "met forces that are not finite",
}


@dataclass(frozen=True)
class Problem:
    """An initial value problem in functions of the model's ABI.

    Attributes
    ----------
    functions : tuple
        Accelerations and measures; da/dq and da/dv; switching surfaces. See `zwang._kernels.flow`.
    n, measures, ranged, switches : int
        Coordinates; measures that are integrated; how many of them after the first n get their range; surfaces.
    params, workspace : arrays
    sides : int array
        Comparisons as they stand at the start, for kernels that hold them.
    t, q, v
        The start.
    """

    functions: tuple[Any, ...]
    n: int
    measures: int
    ranged: int
    switches: int
    params: Array
    workspace: Array
    sides: NDArray[np.int64]
    t: float
    q: Array
    v: Array


@dataclass(frozen=True)
class Course:
    """A motion at the edges of cells of time, and what was gathered on the way.

    Attributes
    ----------
    t : (k + 1,)
    q, v : (k + 1, n)
    integrals : (k + 1, measures)
        Of every measure, from the start.
    low, high : (k, ranged)
        Ranges of the measures after the first n, in each cell.
    distances : dict
        The largest distances to the reference, by the names in `DISTANCES`.
    steps, rejected, evaluations : int
    rate : float
        The fastest rate when it ended [rad/s].
    reason : str
        More about a status that is not DONE.
    status : int
        One of `STATUS`; where it is not DONE the arrays end with the last edge that was reached.
    crossings : (c, 2)
        Times and numbers of the switching surfaces that were crossed, where the loop locates them.
    """

    t: Array
    q: Array
    v: Array
    integrals: Array
    low: Array
    high: Array
    distances: dict[str, float]
    steps: int
    rejected: int
    evaluations: int
    rate: float
    status: int
    crossings: Array
    reason: str = ""


def run_oscillatory(
    problem: Problem,
    edges: Array,
    *,
    phase: float = 0.5,
    tol: float = 1e-12,
    reference: Reference | None = None,
) -> Course:
    """Follow a fast oscillation with an explicit method of order 8; the step is at most phase/(fastest rate)."""
    state = _State(problem, edges, reference)
    loop = with_functions(oscillatory.oscillate, *problem.functions)

    def advance(steps: int) -> int:
        return int(loop(*state.arguments, phase, tol, steps))

    status = _drive(advance, state)
    return state.course(status, 12)


def run_implicit(
    problem: Problem,
    edges: Array,
    *,
    tol: float = 1e-10,
    reference: Reference | None = None,
) -> Course:
    """Follow a stiff motion with the L-stable method of Radau of order 5; switching surfaces are located."""
    state = _State(problem, edges, reference)
    loop = with_functions(stiff.radau, *problem.functions)

    def advance(steps: int) -> int:
        return int(loop(*state.arguments, tol, steps))

    status = _drive(advance, state)
    return state.course(status, 0)


class _State:
    """The arrays of a run: a loop that pauses finds there where it was."""

    def __init__(self, problem: Problem, edges: Array, reference: Reference | None) -> None:
        n, size = problem.n, 2 * problem.n + problem.measures
        self.problem, self.edges = problem, np.ascontiguousarray(edges, dtype=float)
        self.y, self.carry = np.zeros(size), np.zeros(size)
        self.y[:n], self.y[n : 2 * n] = problem.q, problem.v
        span = float(edges[-1] - edges[0])
        self.clock = np.array([edges[0], span / 100, 0.0, 1e-15 * max(span, abs(float(edges[-1]))), 0, 0, 0, 0, 0])
        self.counts = np.zeros(9, dtype=np.int64)
        self.record = np.full((len(edges), size), np.nan)
        self.record[0] = self.y
        cells = len(edges) - 1
        self.low = np.full((cells, problem.ranged), np.inf)
        self.high = np.full((cells, problem.ranged), -np.inf)
        self.crossings = np.zeros((4096 if problem.switches else 1, 2))
        self.sides = problem.sides.copy()
        self.sizes = np.zeros(max(problem.switches, 1))
        self.sup = np.zeros(len(DISTANCES))
        self.reference = reference or Reference.nothing(n)
        self.reason = ""

    @property
    def tried(self) -> int:
        """Steps taken and rejected."""
        return int(self.counts[run_state.STEPS] + self.counts[run_state.REJECTED])

    @property
    def arguments(self) -> tuple[Flow, RunState, Compared]:
        """What both loops take after the functions."""
        problem, reference = self.problem, self.reference
        return (
            Flow(problem.n, problem.switches, problem.params, self.sides, problem.workspace),
            RunState(
                self.y, self.carry, self.clock, self.counts, self.edges, self.record, self.low, self.high, self.sizes,
                self.crossings,
            ),
            Compared(reference.breaks, reference.coefficients, reference.windows, self.sup),
        )  # fmt: skip

    def course(self, status: int, evaluations: int) -> Course:
        """Return what was gathered."""
        n, kept = self.problem.n, int(self.counts[run_state.CELL]) + 1
        steps, rejected = int(self.counts[run_state.STEPS]), int(self.counts[run_state.REJECTED])
        counted = evaluations * (steps + rejected) if evaluations else int(self.counts[run_state.EVALUATIONS])
        return Course(
            t=self.edges[:kept],
            q=self.record[:kept, :n],
            v=self.record[:kept, n : 2 * n],
            integrals=self.record[:kept, 2 * n :],
            low=self.low[: kept - 1],
            high=self.high[: kept - 1],
            distances=dict(zip(DISTANCES, np.sqrt(self.sup).tolist(), strict=True)),
            steps=steps,
            rejected=rejected,
            evaluations=counted,
            rate=float(self.clock[run_state.RATE]),
            status=status,
            crossings=self.crossings[: int(self.counts[run_state.CROSSINGS])].copy(),
            reason=self.reason,
        )


def _drive(advance: Callable[[int], int], state: _State) -> int:
    """Call a loop until it is done or its budget is spent, in portions after which Python looks at signals."""
    pace: Pace[int] = Pace(FIRST)

    def portion(steps: int) -> tuple[int, int]:
        before = state.tried
        return advance(steps), state.tried - before

    try:
        while True:
            spend()
            before = state.tried
            status = pace.go(portion, steps_left())
            if status != run_state.PAUSED:
                return status
            spend(state.tried - before)
    except Spent as spent:
        state.reason = str(spent)
        return run_state.PAUSED
