"""The verb `drive`: inverse dynamics.

Unknown inputs enter the forces, Q = Q_0 + sum u_k B_k. Each is a multiplier along its own row B_k, that of a bilateral
contact which demands B_k a to be what the motion prescribes. So `reactions` finds all inputs together with all
reactions; those count that give the prescribed accelerations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._compile import Model, compile
from zwang._compile.driving import driven
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.given import Text, as_expression
from zwang._declare.reading import Reader
from zwang._declare.symbols import Coordinate, Input, Velocity
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._numerics.budget import Allowed, Budget, Spent, spend, spending
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.contact.rows import Contact
from zwang._reactions.admissible import contact_problem
from zwang._reactions.bookkeeping import without_bookkeeping
from zwang._reactions.holding import hold
from zwang._reactions.verb import reactions
from zwang._results import Provenance
from zwang._results.drive import Drive
from zwang._results.motion import Motion
from zwang._results.reactions import ReactionsStatus, Solution
from zwang._results.signals import Table
from zwang.errors import DeclarationError, StateError, nearest

Array = NDArray[np.float64]
BUDGET = Budget(steps=1_000_000, memory=1_000_000_000)
INSTANTS = 201  # of a course whose times are not given
CLOSE = 1e-6
"""Part of the accelerations by which those of a solution may miss the prescribed ones."""
NEARBY = 2e-4
"""Part of a Motion between places at which its velocities are looked at."""
GUESSES = 20  # random places from which an assembly is looked for
WORST = ("UNIQUE", "UNIQUE_MOTION", "MULTIPLE", "FOUND", "UNDECIDED", "SINGULAR", "INADMISSIBLE", "NONE")
"""From the most favourable status to the least."""


def drive(
    system: System | Model,
    motion: Mapping[Any, Any] | Motion,
    params: Mapping[Any, Any] | None = None,
    *,
    times: Any = None,
    inputs: Mapping[Any, Any] | None = None,
    budget: Allowed = None,
) -> Drive:
    """Return the inputs that make a prescribed motion, with loops, redundancy and friction: all of them.

    Parameters
    ----------
    system : System or Model
        With inputs, which enter its forces linearly.
    motion : mapping or Motion
        Coordinate -> expression of t or cubic `Table`; the others follow from the constraints. Or a Motion.
    params : mapping
    times : array, optional
        Instants [s]; by default 201 over the tables or the Motion.
    inputs : mapping, optional
        The inputs that are known; all others are unknown.
    budget : float or mapping, optional
        Where one is spent, the instants so far are UNDECIDED at the end.

    Returns
    -------
    Drive

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
    model = compile(system).switched()
    names = [item.name for item in model.system.inputs]
    given = {
        key if isinstance(key, str) else getattr(key, "name", str(key)): value for key, value in (inputs or {}).items()
    }
    unknown = [name for name in names if name not in given]
    if not unknown:
        raise DeclarationError(f"{model.system.name}: drive looks for inputs, and no input is unknown. Leave some out.")
    course = _PrescribedMotion(model, motion, params, times)
    rows = []
    reason = ""
    with spending(BUDGET.but(model.system.name, budget)):
        try:
            for instant in course.times:
                spend(1)
                rows.append(_DrivenInstant(model, course.at(float(instant)), params or {}, given, unknown))
        except Spent as spent:
            reason = str(spent)
    if not rows:
        raise DeclarationError(f"{model.system.name}: drive: the budget was spent before the first instant.")
    worst = max(rows, key=lambda row: WORST.index(row.status.name)).status
    if not reason and worst.name not in ("UNIQUE", "UNIQUE_MOTION"):
        first = next(row for row in rows if row.status is worst)
        reason = f"At t = {first.t:.6g}: {first.words}"
    return Drive(
        status=worst,
        residual=max(row.residual for row in rows),
        provenance=Provenance.now(model.system.digest, tolerances={"close": CLOSE}),
        name=model.system.name,
        t=np.array([row.t for row in rows]),
        coordinates=tuple(item.name for item in model.system.coordinates),
        q=np.array([row.q for row in rows]),
        v=np.array([row.v for row in rows]),
        a=np.array([row.a for row in rows]),
        inputs={name: np.array([row.values.get(f"input {name}", np.nan) for row in rows]) for name in unknown},
        ranges={name: np.array([row.spans.get(f"input {name}", (np.nan, np.nan)) for row in rows]) for name in unknown},
        reactions={
            str(item.name): np.array([row.values.get(str(item.name), np.nan) for row in rows])
            for item in model.system.constraints
            if not isinstance(item, Friction) and item.name not in model.system.bookkeeping
        },
        solutions=tuple(row.solutions for row in rows),
        statuses=tuple(row.status for row in rows),
        reason=reason,
    )


class _DrivenInstant:
    """What the laws say at one instant."""

    def __init__(
        self,
        model: Model,
        place: tuple[float, Array, Array, Array],
        params: Mapping[Any, Any],
        given: Any,
        unknown: list[str],
    ) -> None:
        self.t, self.q, self.v, self.a = place
        system = model.system
        named = zip((*system.coordinates, *system.velocities), (*self.q, *self.v), strict=True)
        state = {**{item.name: float(x) for item, x in named}, "t": self.t}
        zero = {**given, **dict.fromkeys(unknown, 0.0)}
        base = contact_problem(model, state, params, inputs=zero)
        force = np.asarray(base.force, dtype=float)
        pushes = []
        for name in unknown:
            one, two = (
                np.asarray(contact_problem(model, state, params, inputs={**zero, name: size}).force, dtype=float)
                - force
                for size in (1.0, 2.0)
            )
            if np.abs(two - 2 * one).max(initial=0.0) > 1e-9 * (1 + np.abs(two).max(initial=0.0)):
                raise DeclarationError(f"{system.name}: drive: the input '{name}' does not enter the forces linearly.")
            pushes.append(one)
        extra = [
            Contact(row, bias=float(row @ self.a), bilateral=True, name=f"input {name}")
            for name, row in zip(unknown, pushes, strict=True)
            if np.any(row)
        ]
        problem = ContactProblem(base.mass, base.force, contacts=[*base.contacts, *extra])
        answer: Any = reactions(problem, exact=False, certify=False)
        found = without_bookkeeping(answer, system.bookkeeping)
        size = 1.0 + float(np.abs(self.a).max(initial=0.0))
        good = [
            s for s in found.solutions if np.abs(np.asarray(s.acceleration) - self.a).max(initial=0.0) <= CLOSE * size
        ]
        self.solutions: tuple[Solution, ...] = tuple(good)
        self.residual = float(found.residual) if good else 0.0
        self.status = self._status(found, good)
        self.words = self.status.value
        self.values: dict[str, float] = {}
        self.spans: dict[str, tuple[float, float]] = {}
        for k, name in enumerate(found.contacts):
            spans = [_span(solution, k) for solution in good]
            if spans:
                low, high = min(s[0] for s in spans), max(s[1] for s in spans)
                self.spans[name] = (low, high)
                self.values[name] = low if high - low <= 1e-9 * (1 + abs(low)) else float("nan")

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


class _PrescribedMotion:
    """The prescribed motion: positions, velocities and accelerations of every coordinate."""

    def __init__(self, model: Model, motion: Any, params: Mapping[Any, Any] | None, times: Any) -> None:
        self.model, self.system, self.params = model, model.system, params or {}
        self.motion = motion if isinstance(motion, Motion) else None
        name = self.system.name
        self.given: dict[str, Any] = {}
        spans: list[tuple[float, float]] = []
        if self.motion is not None:
            spans.append((float(motion.t[0]), float(motion.t[-1])))
        elif isinstance(motion, Mapping):
            known = [item.name for item in self.system.coordinates]
            for key, value in motion.items():
                label = key if isinstance(key, str) else getattr(key, "name", str(key))
                if label not in known:
                    raise DeclarationError(f"{name}: drive: '{label}' is no coordinate. {nearest(label, known)}")
                self.given[label] = self._function(label, value)
                if isinstance(value, Table):
                    spans.append((float(value.times[0]), float(value.times[-1])))
        else:
            raise DeclarationError(f"{name}: drive needs a mapping of coordinates, or a Motion; it was {motion!r:.60}.")
        if times is None and not spans:
            raise DeclarationError(f"{name}: drive: expressions have no end of their own. Give times=.")
        if times is None:
            times = np.linspace(max(s[0] for s in spans), min(s[1] for s in spans), INSTANTS)
        self.times = np.atleast_1d(np.asarray(times, dtype=float))
        if self.times.ndim != 1 or not len(self.times) or not np.isfinite(self.times).all():
            raise DeclarationError(f"{name}: times= must be finite instants in one row.")
        self.last: Array | None = None

    def _function(self, label: str, value: Any) -> Any:
        """Return (q, v, a) of time."""
        where = f"{self.system.name}: drive: '{label}'"
        if isinstance(value, Table):
            if value.kind != "cubic":
                raise DeclarationError(f"{where} needs two derivatives: a table of kind='cubic', not '{value.kind}'.")
            from scipy.interpolate import CubicSpline

            spline = CubicSpline(value.times, value.values)

            def along(at: float) -> tuple[float, float, float]:
                value.require(at, at, where)
                return float(spline(at)), float(spline(at, 1)), float(spline(at, 2))

            return along
        expr = as_expression(value, where)
        if isinstance(expr, Text):
            expr = Reader(self.system.name, self.system.coordinates, list(self.system.expressions().values()))(
                expr, label
            )
        if expr.has(Coordinate, Velocity, Input):
            raise DeclarationError(f"{where} must be an expression of t and parameters; it is {expr}.")
        numbers = {
            symbol: sp.Float(next((v for k, v in self.params.items() if str(k) == symbol.name), sp.nan))
            for symbol in expr.free_symbols
            if symbol != time
        }
        expr = expr.xreplace(numbers)
        if expr.has(sp.nan):
            raise DeclarationError(f"{where} has a parameter without a value in params.")
        parts = [sp.lambdify(time, sp.diff(expr, time, k), "numpy") for k in range(3)]
        return lambda at: tuple(float(part(at)) for part in parts)

    def at(self, instant: float) -> tuple[float, Array, Array, Array]:
        """Return time, positions, velocities and accelerations at an instant."""
        if self.motion is not None:
            state = self.motion.at(instant)
            q = np.array([state[item.name] for item in self.system.coordinates])
            v = np.array([state[item.name] for item in self.system.velocities])
            return instant, q, v, self._slopes(instant)
        known = {name: along(instant) for name, along in self.given.items()}
        return self._completed(instant, known)

    def _slopes(self, instant: float) -> Array:
        """Return the accelerations of a Motion: of the parabola of fourth degree through its velocities nearby."""
        assert self.motion is not None
        first, last = float(self.motion.t[0]), float(self.motion.t[-1])
        h = NEARBY * (last - first)
        middle = min(max(instant, first + 2 * h), last - 2 * h)
        places = middle + h * np.arange(-2, 3)
        states = self.motion.at(places)
        speeds = np.stack([states[item.name] for item in self.system.velocities])
        fitted = np.polynomial.polynomial.polyfit((places - instant) / h, speeds.T, 4)
        return np.asarray(fitted[1] / h)

    def _completed(self, instant: float, known: Mapping[str, Any]) -> tuple[float, Array, Array, Array]:
        """Return the motion with the coordinates that follow from the constraints."""
        system = self.system
        names = [item.name for item in system.coordinates]
        free = [name for name in names if name not in known]
        zero = driven(system, dict.fromkeys((item.name for item in system.inputs), 0.0))
        model = self.model.another(zero.system)
        values = {**self.params, **zero.values_at({})}
        held = [str(item.name) for item in system.constraints if isinstance(item, Bilateral)]
        source = np.random.default_rng(0)
        start = np.zeros(len(names)) if self.last is None else self.last
        for guess in range(GUESSES if free and self.last is None else 1):
            place = start if guess == 0 else source.normal(size=len(names))
            state = {name: known[name][0] if name in known else float(place[i]) for i, name in enumerate(names)}
            state |= {f"v_{name}": known[name][1] if name in known else 0.0 for name in names} | {"t": instant}
            if free and held:
                found = hold(model, state, values, held, fixed=[*known, *(f"v_{name}" for name in known)])
                state = {name: float(value) for name, value in found.items()}
            try:
                model.check(state, values, tol=1e-8)
                break
            except StateError:
                if guess == (GUESSES if free and self.last is None else 1) - 1:
                    raise
        q = np.array([state[name] for name in names])
        v = np.array([state[f"v_{name}"] for name in names])
        self.last = q
        a = np.array([known[name][2] if name in known else 0.0 for name in names])
        if free:
            terms = model.terms(state, values)
            _, rows, _, gamma = terms.at(0)
            relations = [item for item in system.constraints if not isinstance(item, Friction)]
            chosen = [k for k, item in enumerate(relations) if isinstance(item, Bilateral)]
            places = [names.index(name) for name in free]
            matrix = rows[np.ix_(chosen, places)] if chosen else np.zeros((0, len(free)))
            _, sizes, right = np.linalg.svd(matrix) if len(matrix) else (None, np.zeros(0), np.eye(len(free)))
            rank = int((sizes > 1e-9 * sizes.max(initial=1e-300)).sum())
            if rank < len(free):
                loose = sorted({free[int(np.argmax(np.abs(row)))] for row in right[rank:]})
                raise DeclarationError(
                    f"{system.name}: drive: the motion leaves {', '.join(repr(name) for name in loose)} free. "
                    "Prescribe it too."
                )
            a[places] = np.linalg.lstsq(matrix, gamma[chosen] - rows[chosen] @ a, rcond=None)[0]
        return instant, q, v, a
