"""Realized motions: the softened system as compiled flow with the measures of a study, run at one strength."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._compile import compile
from zwang._compile.given_values import Inputs, resolve
from zwang._declare.constraints import Unilateral
from zwang._declare.system import System
from zwang._derive.program import Program, Row, position_row, velocity_row
from zwang._derive.solution import Factor, dot, gram_factor
from zwang._graph.convert import Converter
from zwang._graph.graph import Node
from zwang._kernels.flow import FlowKernels, compilable, flow
from zwang._limit.by_events import run_events
from zwang._limit.ways import Softened
from zwang._numerics.budget import Budget, spending
from zwang._numerics.motion.course import Course, Problem, run_implicit, run_oscillatory
from zwang._numerics.motion.reference import Reference
from zwang._numerics.motion.run_state import DONE
from zwang._numerics.tolerances import FINEST, WIDEST, real
from zwang._realize import amounts

Array = NDArray[np.float64]
PHASES = ((2e4, 0.2), (5e4, 0.4), (1e7, 0.7), (np.inf, 0.5))
"""Radians of the fastest oscillation up to which a step takes that share of one.

Few periods are sampled finely, since largest values are looked for among the steps. Of many a step takes 0.7, at which
the amplitude falls by 5.9e-9 in a period; of so many that this would count, 0.5, at which it falls by 2.8e-10.
"""


BUDGET = Budget(steps=100_000_000, memory=1_000_000_000)
"""Steps of each motion of a study; memory of all of them."""
AT_ONCE = 16
"""Motions among which the memory of a study is divided: those that are run at a time, with what is made of them."""
STRONG = (1e12, 1e18, 1e24, 1e30, 1e36)
"""Strengths at which rates are measured: the first one that rates are proportional to."""
EVENTS_TOL = 1e-10
"""What `simulate` is asked for: below, rounding of a stiff force times the time between its switches stops it."""


@dataclass(frozen=True)
class RealizedRun:
    """A realized motion at one strength; `spent` says which budget ended it, if one did."""

    strength: float
    course: Course
    seconds: float
    spent: str = ""


@dataclass(frozen=True)
class Runner:
    """Runs the softened system at any strength.

    Attributes
    ----------
    softened : Softened
    state, params : mappings
        The start and the values, as they were given.
    tol : float
    options : mapping
        Of `simulate`, where that runs it.
    budget : Budget
        Of each motion.
    deadline : float
        When all of them end, on the clock of the budget.
    """

    softened: Softened
    state: Mapping[Any, Any]
    params: Mapping[Any, Any]
    tol: float
    options: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget = BUDGET
    deadline: float = math.inf

    def __post_init__(self) -> None:
        real(self.tol, "tol", least=FINEST, most=WIDEST, where=self.softened.ideal.name)

    @property
    def method(self) -> str:
        """'oscillatory' for springs, 'implicit' for friction, 'events' where the softened system has contacts left."""
        if not compilable(self.softened.soft):
            return "events"
        ratios = [getattr(way, "ratio", None) for way in self.softened.ways.values()]
        shares = [amounts.read(self.softened.ideal, item, "Stiffness: ratio") for item in ratios if item is not None]
        heavy = any(item.is_number and float(item) >= 1 for item in shares)
        return "oscillatory" if self.softened.level == "position" and not heavy else "implicit"

    @cached_property
    def flow(self) -> FlowKernels:
        """The kernels, compiled when they are first needed."""
        service = compile(self.bare, self.softened.backend).kernels
        return flow(service, lambda program, convert: _measures(self.softened, program, convert))

    @cached_property
    def bare(self) -> System:
        """The softened system; without the contacts it keeps where its flow only serves for the measures."""
        soft = self.softened.soft
        return soft.replace(constraints=()) if self.method == "events" else soft

    def inputs(self, strength: float) -> Inputs:
        """Return the start and the parameters as arrays."""
        return resolve(self.bare, self.state, self.softened.values(self.params, strength, self.bare))

    def problem(self, strength: float) -> Problem:
        """Return the initial value problem at one strength."""
        inputs, made = self.inputs(strength), self.flow
        params = np.ascontiguousarray(inputs.params[:, 0])
        q, v, t = inputs.q[:, 0].copy(), inputs.v[:, 0].copy(), float(inputs.t[0])
        workspace = made.workspace(params)
        return Problem(
            functions=made.held.calls,
            n=made.n,
            measures=len(made.measures),
            ranged=len(self.softened.names),
            switches=made.sides,
            params=params,
            workspace=workspace,
            sides=made.sides_at(t, q, v, params, workspace),
            t=t,
            q=q,
            v=v,
        )

    def run(
        self,
        strength: float,
        edges: Array,
        reference: Reference | None,
        *,
        finer: float = 1.0,
        stop: Callable[[], bool] | None = None,
    ) -> RealizedRun:
        """Return the motion at one strength; `finer` divides the share of the period and the tolerance.

        `stop` is asked many times a second whether to give up. Each run has its own budget, so that it doesn't depend
        on those beside it; steps of half the length have four times as much.
        """
        given, more = self.budget, int(finer**2)
        allowed = replace(given, steps=more * given.steps, memory=more * given.memory)
        with spending(allowed, apart=True, deadline=self.deadline, stop=stop) as meter:
            run = self._run(strength, edges, reference, finer)
            return replace(run, spent="" if run.course.status == DONE else meter.over)

    def _run(self, strength: float, edges: Array, reference: Reference | None, finer: float) -> RealizedRun:
        began = time.perf_counter()
        if self.method == "events":
            course = run_events(self, strength, edges, reference, max(self.tol, EVENTS_TOL) / finer)
            return RealizedRun(strength, course, time.perf_counter() - began)
        problem = self.problem(strength)
        if self.method == "implicit":
            course = run_implicit(problem, edges, tol=self.tol / finer, reference=reference)
        else:
            phase = self._phase(problem, float(edges[-1] - edges[0])) / finer
            course = run_oscillatory(problem, edges, phase=phase, tol=self.tol / finer, reference=reference)
        return RealizedRun(strength, course, time.perf_counter() - began)

    def mobility(self, otherwise: float) -> float:
        """Return the squared frequency, or the rate, per unit of strength at the start, or `otherwise`."""
        if self.method == "events":
            return otherwise
        power = 2 if self.softened.level == "position" else 1
        for strength in STRONG:  # beyond the rates that the system has without it
            found, later = (fastest_rate(self.problem(N)) ** power / N for N in (strength, 1e6 * strength))
            if abs(found - later) <= 1e-2 * later:
                break
        return found if np.isfinite(found) and found > 1e-12 * otherwise else otherwise

    def rate(self, run: RealizedRun) -> float:
        """Return the fastest rate [1/s] along a run, from a few of its states; 0 where it is not known."""
        return max(self.rates(run))

    def rates(self, run: RealizedRun) -> list[float]:
        """Return the fastest rate [1/s] at a few states of a run; 0 where it is not known."""
        if self.method == "events":
            return [0.0]
        problem = self.problem(run.strength)
        problem = replace(problem, functions=(*self.flow.live.calls, problem.functions[2]))
        places = np.linspace(0, len(run.course.t) - 1, 9).astype(int)
        states = [(float(run.course.t[k]), run.course.q[k].copy(), run.course.v[k].copy()) for k in places]
        return [fastest_rate(replace(problem, t=t, q=q, v=v)) for t, q, v in states]

    def _phase(self, problem: Problem, span: float) -> float:
        """Return the share of the fastest oscillation that one step takes [rad]."""
        radians = fastest_rate(problem) * span
        return next(phase for most, phase in PHASES if radians <= most)


def fastest_rate(problem: Problem) -> float:
    """Return the largest rate of the flow at its start [1/s]."""
    n = problem.n
    out = np.zeros(2 * n * n)
    jacobian = problem.functions[1]
    jacobian(problem.t, problem.q, problem.v, problem.params, problem.sides, problem.workspace, out)
    stiffness, drag = out[: n * n].reshape(n, n), out[n * n :].reshape(n, n)
    if not np.isfinite(out).all():
        return 0.0
    return float(np.sqrt(abs(np.linalg.eigvals(stiffness)).max()) + abs(np.linalg.eigvals(drag)).max())


def _measures(softened: Softened, program: Program, convert: Converter) -> dict[str, Node]:
    """Return the nodes of the realized generalized force, of the multipliers' stand-ins and of the energy across."""
    g = convert.graph
    system, soft = softened.ideal, softened.soft
    if system.mass is not None:
        added = [convert(soft.force[i] - system.force[i]) for i in range(len(system.coordinates))]
    else:
        # Terms that both potentials have cancel as symbols; what is left is the energy of the springs.
        pull = g.gradient(convert(soft.added_potential - system.added_potential), program.q)
        more = [soft.forces.get(q, sp.Integer(0)) - system.forces.get(q, sp.Integer(0)) for q in system.coordinates]
        added = [g.sub(convert(force), slope) for force, slope in zip(more, pull, strict=True)]
    made = {f"force on {q.name}": node for q, node in zip(system.coordinates, added, strict=True)}
    rows = [row_of(softened, name, program, convert) for name in softened.names]
    made |= {name: _stand_in(softened, name, convert, rows, program, added) for name in softened.names}
    speeds = [
        row.rate if softened.constraint(name).level == "position" else row.value
        for name, row in zip(softened.names, rows, strict=True)
    ]
    one_sided = [isinstance(system.constraints[name], Unilateral) for name in softened.names]
    if any(one_sided):
        # Where a one-sided constraint is open there is no oscillation: each counts by itself, while it is violated.
        parts = []
        for row, speed, half in zip(rows, speeds, one_sided, strict=True):
            energy = g.mul(speed, _delassus(program, [row]).solve([speed])[0])
            parts.append(g.where(g.condition("lt", row.value, g.zero), energy, g.zero) if half else energy)
    else:
        shares = _delassus(program, rows).solve(speeds)
        parts = [g.mul(a, b) for a, b in zip(speeds, shares, strict=True)]
    made["energy across"] = g.add(*parts)
    return made


def row_of(softened: Softened, name: str, program: Program, convert: Converter) -> Row:
    """Return value, rate and row of a constraint that is no longer one."""
    item = softened.constraint(name)
    flow_of = {**dict(zip(program.q, program.v, strict=True)), program.t: convert.graph.one}
    if item.level == "position":
        return position_row(convert(item.expr), convert.graph, program.q, flow_of)
    return velocity_row(convert(item.expr), convert.graph, program.v, flow_of)


def _delassus(program: Program, rows: list[Row]) -> Factor:
    """Return the factors of J M^-1 J^T."""
    mass = Factor(program.graph, len(program.q), program.mass)
    return gram_factor(program.graph, [row.entries for row in rows], [mass.carried(row.entries) for row in rows])


def _stand_in(
    softened: Softened, name: str, convert: Converter, rows: list[Row], program: Program, added: list[Node]
) -> Node:
    """Return what stands for the multiplier: what the realization says, else what the force does along the gradient."""
    way, item = softened.ways[name], softened.ideal.constraints[name]
    if callable(getattr(way, "normal_force", None)) and getattr(way, "energy", None) is None:
        return convert(way.normal_force(softened.ideal, item, way.strength))
    g, n = program.graph, len(program.q)
    push = Factor(g, n, program.mass).solve(added)
    pushes = [dot(g, row.entries, push) for row in rows]
    return _delassus(program, rows).solve(pushes)[softened.names.index(name)]
