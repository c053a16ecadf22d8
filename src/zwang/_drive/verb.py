"""The verb `drive`: inverse dynamics.

Unknown inputs enter the forces, Q = Q_0 + sum u_k B_k. Each is a multiplier along its own row B_k, that of a bilateral
contact which demands B_k a to be what the motion prescribes. So `reactions` finds all inputs together with all
reactions; those count that give the prescribed accelerations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model, compile
from zwang._declare.constraints import Friction
from zwang._declare.system import System
from zwang._declare.units import units_shown
from zwang._drive.prescribed_motion import MotionPoint, PrescribedMotion
from zwang._numerics.budget import Allowed, Budget, Spent, spend, spending
from zwang._numerics.contact.contact_rows import Contact
from zwang._numerics.contact.problem import ContactProblem, dense
from zwang._numerics.tolerances import by_name, require_kinds
from zwang._reactions.admissible import contact_problem
from zwang._reactions.bookkeeping import without_bookkeeping
from zwang._reactions.verb import reactions
from zwang._results import Provenance
from zwang._results.drive import Drive, DriveStatus
from zwang._results.folds import SurfacePath
from zwang._results.motion import Motion
from zwang._results.reactions import ReactionsStatus, Solution
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
BUDGET = Budget(steps=1_000_000, memory=1_000_000_000)
CLOSE = 1e-6
"""Part of the accelerations by which those of a solution may miss the prescribed ones."""
ONE = 1e-9
"""Part of the forces at work by which the ends of a range may differ and be one."""
LINEAR = 1e-9
"""Part by which an input twice as large may do more or less than twice as much."""
LARGE = 2.0**200
"""An input beside which all other forces are nothing; a power of two, so that it rounds nothing away."""
WORST = ("UNIQUE", "UNIQUE_MOTION", "MULTIPLE", "FOUND", "UNDECIDED", "SINGULAR", "INADMISSIBLE", "NONE")
"""From the most favourable status to the least."""


def drive(
    system: System | Model,
    motion: Mapping[Any, Any] | Motion | SurfacePath,
    params: Mapping[Any, Any] | None = None,
    *,
    times: Any = None,
    inputs: Mapping[Any, Any] | None = None,
    start: Mapping[Any, Any] | None = None,
    budget: Allowed = None,
) -> Drive:
    """Return the inputs that make a prescribed motion, with loops, redundancy and friction: all of them.

    Parameters
    ----------
    system : System or Model
        With inputs, which enter its forces linearly.
    motion : mapping, Motion or SurfacePath
        Coordinate -> expression of t or cubic `Table`; the others follow from the constraints. Or a Motion; or a path
        on a surface, along which the mechanism runs at unit speed: t is the length.
    params : mapping
    times : array, optional
        Instants [s]; by default 201 over the tables, the Motion or the path.
    inputs : mapping, optional
        The inputs that are known; all others are unknown.
    start : mapping, optional
        Where coordinates that follow from the constraints are at the first instant, roughly: which assembly is meant
        (elbow up or down). Without it the first one that is found is taken, and `reason` says so.
    budget : float or mapping, optional
        Where one is spent, the instants so far are UNDECIDED at the end.

    Returns
    -------
    Drive
        SINGULAR where the motion stands at a dead centre, at which the constraints don't determine the others.

    Examples
    --------
    >>> import numpy as np, sympy as sp, zwang as zw
    >>> (phi,), (w,) = zw.coordinates("phi", angles="phi")
    >>> u = zw.inputs("u")
    >>> arm = zw.System(name="arm", kinetic=w**2 / 2, potential=-9.81 * sp.cos(phi), forces={phi: u})
    >>> found = zw.drive(arm, {phi: zw.t**2}, times=[0.0, 1.0])
    >>> bool(np.allclose(found.inputs["u"], [2, 2 + 9.81 * np.sin(1)]))
    True
    """
    if not isinstance(system, (System, Model)):
        raise DeclarationError(f"drive needs a System or a Model; it was given {system!r:.80}.")
    require_kinds({"system": system, "params": params, "inputs": inputs})
    model = compile(system).switched()
    names = [item.name for item in model.system.inputs]
    given = by_name(inputs, "inputs=", where=model.system.name)
    unknown = [name for name in names if name not in given]
    if not unknown:
        raise DeclarationError(f"{model.system.name}: drive looks for inputs, and no input is unknown. Leave some out.")
    course = PrescribedMotion(model, motion, params, times, start)
    rows = []
    reason = ""
    with spending(BUDGET.but(model.system.name, budget)):
        try:
            for instant in course.times:
                spend(1)
                rows.append(_DrivenInstant(model, course.at(float(instant)), params or {}, given, unknown))
        except Spent as spent:
            reason = str(spent)
    n = len(model.system.coordinates)
    worst: ReactionsStatus | DriveStatus = DriveStatus.UNFINISHED
    if not reason:
        worst = max(rows, key=lambda row: WORST.index(row.status.name)).status
    if not reason and worst.name not in ("UNIQUE", "UNIQUE_MOTION"):
        first = next(row for row in rows if row.status is worst)
        reason = f"At t = {first.t:.6g}: {first.words}"
    reason = " ".join(part for part in (reason, course.note) if part)
    return Drive(
        status=worst,
        residual=max((row.residual for row in rows), default=0.0),
        provenance=Provenance.now(model.system.digest, tolerances={"close": CLOSE}),
        name=model.system.name,
        t=np.array([row.t for row in rows]),
        coordinates=tuple(item.name for item in model.system.coordinates),
        q=np.array([row.q for row in rows], dtype=float).reshape(-1, n),
        v=np.array([row.v for row in rows], dtype=float).reshape(-1, n),
        a=np.array([row.a for row in rows], dtype=float).reshape(-1, n),
        inputs={name: np.array([row.values.get(f"input {name}", np.nan) for row in rows]) for name in unknown},
        ranges={
            name: np.array([row.spans.get(f"input {name}", (np.nan, np.nan)) for row in rows], dtype=float).reshape(
                -1, 2
            )
            for name in unknown
        },
        reactions={
            str(item.name): np.array([row.values.get(str(item.name), np.nan) for row in rows])
            for item in model.system.constraints
            if not isinstance(item, Friction) and item.name not in model.system.bookkeeping
        },
        solutions=tuple(row.solutions for row in rows),
        statuses=tuple(row.status for row in rows),
        units=units_shown(system.system if isinstance(system, Model) else system),
        reason=reason,
    )


def slope(force: Callable[[float], Array]) -> Array | None:
    """Return what a force changes by with an input, to rounding of the change; None where it isn't linear in it.

    It is asked of an input so large that what is there without it is below rounding, in whatever units.

    Examples
    --------
    >>> slope(lambda u: np.array([1e20 + 3 * u, u])).round(9)
    array([3., 1.])
    >>> slope(lambda u: np.array([max(u, 0.0)])) is None
    True
    """
    base, change, other = force(0.0), force(LARGE), force(-2.0 * LARGE)
    change, other = change - base, other - base
    if not (np.abs(other + 2.0 * change) <= LINEAR * np.abs(other)).all():
        return None
    return np.asarray(change / LARGE)


class _Metric:
    """Lengths of accelerations and of rows in the kinetic metric, in which all units are one."""

    def __init__(self, problem: ContactProblem) -> None:
        self.problem = problem

    def length(self, a: Array) -> float:
        """Return sqrt(a^T M a)."""
        return float(np.sqrt(max(a @ (self.problem.mass @ a), 0.0)))

    @cached_property
    def rows(self) -> tuple[Array, Array]:
        """The lengths of the rows of normals and of tangents: accelerations that forces of one make."""
        return self._lengths(self.problem.rows.normal), self._lengths(self.problem.rows.tangent)

    def _lengths(self, rows: Any) -> Array:
        full = np.nan_to_num(dense(rows))
        squares = np.einsum("ij,ji->i", full, self.problem.inverse_times(full.T)) if len(full) else np.zeros(0)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def pull(self, solution: Solution) -> float:
        """Return the largest acceleration that a force of a solution makes by itself."""
        ends = (solution.ranges.normal, solution.ranges.tangential)
        found = 0.0
        for lengths, values in zip(self.rows, ends, strict=True):
            least = np.abs(np.where(np.isfinite(values), values, 0.0)).max(axis=-1).ravel()
            if len(least) == len(lengths):
                found = max(found, float((lengths * least).max(initial=0.0)))
        return found

    def force(self, k: int, pull: float) -> float:
        """Return the force of contact k that accelerates by so much."""
        own = float(self.rows[0][k])
        return pull / own if own > 0 else 0.0


class _DrivenInstant:
    """What the laws say at one instant."""

    def __init__(
        self,
        model: Model,
        place: MotionPoint,
        params: Mapping[Any, Any],
        given: Any,
        unknown: list[str],
    ) -> None:
        self.t, self.q, self.v, self.a, dead = place
        self.values: dict[str, float] = {}
        self.spans: dict[str, tuple[float, float]] = {}
        self.solutions: tuple[Solution, ...] = ()
        self.residual = 0.0
        if dead:
            self.status = ReactionsStatus.SINGULAR
            self.words = f"a dead centre: the constraints don't determine {', '.join(map(repr, dead))} there."
            return
        system = model.system
        named = zip((*system.coordinates, *system.velocities), (*self.q, *self.v), strict=True)
        state = {**{item.name: float(x) for item, x in named}, "t": self.t}
        zero = {**given, **dict.fromkeys(unknown, 0.0)}
        base = contact_problem(model, state, params, inputs=zero)

        def force_of(name: str, value: float) -> Array:
            return np.asarray(model.terms(state, params, inputs={**zero, name: value}).force[:, 0])

        pushes = []
        for name in unknown:
            push = slope(partial(force_of, name))
            if push is None:
                raise DeclarationError(f"{system.name}: drive: the input '{name}' does not enter the forces linearly.")
            pushes.append(push)
        extra = [
            Contact(row, bias=float(row @ self.a), bilateral=True, name=f"input {name}")
            for name, row in zip(unknown, pushes, strict=True)
            if np.any(row)
        ]
        problem = ContactProblem(base.mass, base.force, contacts=[*base.contacts, *extra])
        answer: Any = reactions(problem, exact=False, certify=False)
        found = without_bookkeeping(answer, system.bookkeeping)
        metric = _Metric(problem)
        pull = max(metric.length(self.a), metric.length(problem.inverse_times(np.asarray(problem.force))))
        pulls = [max(pull, metric.pull(solution)) for solution in found.solutions]
        good = [
            solution
            for solution, size in zip(found.solutions, pulls, strict=True)
            if metric.length(np.asarray(solution.acceleration) - self.a) <= CLOSE * size
        ]
        pull = max(pulls, default=pull)
        self.solutions = tuple(good)
        self.residual = float(found.residual) if good else 0.0
        self.status = self._status(found, good)
        self.words = self.status.value
        for k, name in enumerate(found.contacts):
            spans = [_span(solution, k) for solution in good]
            if spans:
                low, high = min(s[0] for s in spans), max(s[1] for s in spans)
                self.spans[name] = (low, high)
                size = max(abs(low), abs(high), metric.force(k, pull))
                one = np.isfinite([low, high]).all() and high - low <= ONE * size
                self.values[name] = low if one else float("nan")

    def _status(self, found: Any, good: list[Solution]) -> ReactionsStatus:
        if not good:
            return (
                ReactionsStatus.NONE
                if found.complete or found.status is ReactionsStatus.NONE
                else ReactionsStatus.UNDECIDED
            )
        if len(good) > 1 or good[0].dimension > 0:
            return ReactionsStatus.MULTIPLE if len(good) > 1 else ReactionsStatus.UNIQUE_MOTION
        return ReactionsStatus.UNIQUE if found.complete else ReactionsStatus.FOUND


def _span(solution: Solution, k: int) -> tuple[float, float]:
    """Return the least and greatest normal force of contact k in a solution."""
    if solution.dimension == 0:
        value = float(solution.normal[k])
        return value, value
    values = [float(vertex.normal[k]) for vertex in solution.vertices] or [float(solution.normal[k])]
    low, high = min(values), max(values)
    for ray in (*solution.rays, *solution.lines):
        along = float(ray.normal[k])
        low, high = (-np.inf if along < 0 else low), (np.inf if along > 0 else high)
    for line in solution.lines:
        if float(line.normal[k]):
            low, high = -np.inf, np.inf
    return low, high
