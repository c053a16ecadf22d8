"""The verb `linearize`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._compile.masses import inertia_of
from zwang._declare.declaration_reader import Reader
from zwang._declare.given import as_expression, components
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._graph.convert import Converter
from zwang._graph.evaluate import evaluate
from zwang._graph.graph import Graph
from zwang._linearize.asked import MotionQuestion, asked, steady_numbers
from zwang._linearize.equilibrium import (
    EquilibriumPoint,
    equilibrium_at,
    holonomic,
    tangent,
    undetermined_curvature,
)
from zwang._linearize.monodromy import cycle_of
from zwang._linearize.trail import followed
from zwang._numerics.budget import Allowed, Budget
from zwang._numerics.jit import tiered
from zwang._numerics.linear.projection import least_change
from zwang._numerics.tolerances import name_of
from zwang._results import Provenance
from zwang._results.cycle import Cycle, CycleStatus
from zwang._results.finite import within_doubles
from zwang._results.linearization import Linearization, LinearizationStatus
from zwang._results.motion import Motion, MotionStatus
from zwang._simulate.ground import Ground, autonomous
from zwang._simulate.options import BUDGET
from zwang.errors import DeclarationError, StateError, nearest

Array = NDArray[np.float64]
ALONG = 1e-8
"""Part of a given basis vector that may lie across the constraints."""


@tiered("linearize", main="shared", seconds=5)
@within_doubles()
def linearize(
    system: System | Model,
    at: Any,
    params: Mapping[Any, float] | None = None,
    *,
    inputs: Mapping[Any, Any] | None = None,
    outputs: Iterable[Any] | Mapping[str, Any] = (),
    steady: Iterable[Any] = (),
    basis: Any = None,
    budget: Allowed = None,
    backend: str = "native",
) -> Any:
    """Return the equations of small motions about an equilibrium, on the constraints that hold there.

    One-sided constraints with a positive reaction, and contacts that stick strictly inside their cone, count as
    bilateral; a contact that slides keeps its direction, and its friction varies with the normal force. On the edge of
    these, and at a state that is no equilibrium, there is no linearization: a StateError says so with the figures.

    Parameters
    ----------
    system : System or Model
    at : mapping, a point of `equilibria`, or a Cycle or Motion that closes
        Symbol or name -> number; or something with such a mapping as its ``state``. Of a motion that returns to its
        start comes its `Cycle`, with the multipliers.
    params : mapping
    inputs : mapping, optional
        Input of the system -> its value at the point; each that is a number is a column of B.
    outputs : expressions of coordinates, velocities and inputs, optional
        What is observed, rows of C; or a mapping name -> expression.
    steady : names or symbols of coordinates
        Cyclic ones, which turn uniformly with the velocities of the state.
    basis : (n, f) array, optional
        Columns are displacements along the constraints; by default some that are orthonormal in the kinetic metric.
    budget : float or mapping, optional
        Seconds, or a mapping of ``seconds``, ``steps`` and ``memory``, as of `simulate`, for a motion that is followed
        once more. Where one is spent its `Cycle` is UNFINISHED. About an equilibrium nothing is repeated, and nothing
        is spent.
    backend : str
        Which backend evaluates the equations.

    Returns
    -------
    Linearization
        M, damping, K; A, B, C, D; eigenvalues and eigenmodes. Where a constraint on velocities is not holonomic
        (rolling), only the form of first order exists, with zero eigenvalues along the family of equilibria.

    Examples
    --------
    A pendulum as a point on a circle: its stiffness is the curvature of the constraint times its multiplier.

    >>> import numpy as np, zwang as zw
    >>> (x, y), (vx, vy) = zw.coordinates("x y")
    >>> m, g, l = zw.parameters("m g l")
    >>> rod = zw.Bilateral((x**2 + y**2 - l**2) / (2 * l), name="rod")
    >>> pendulum = zw.System(name="pendulum", kinetic=m*(vx**2 + vy**2)/2, potential=m*g*y, constraints=[rod])
    >>> hanging = {x: 0, y: -2.0, vx: 0, vy: 0}
    >>> found = zw.linearize(pendulum, hanging, {m: 3.0, g: 9.81, l: 2.0})
    >>> np.allclose(found.K, 9.81 / 2.0), np.allclose(found.eigenvalues[0], 1j * np.sqrt(9.81 / 2.0))
    (True, True)
    """
    allowed = BUDGET.but(getattr(getattr(system, "system", system), "name", "linearize"), budget)
    if isinstance(at, Cycle):
        return at
    if isinstance(at, Motion):
        return _closed(system, at, params, inputs, steady, backend, allowed)
    state = at if isinstance(at, Mapping) else getattr(at, "state", None)
    if not isinstance(state, Mapping):
        name = getattr(getattr(system, "system", system), "name", "linearize")
        raise DeclarationError(
            f"{name}: linearize needs a state (a mapping), or a point of equilibria(...); it was given {at!r:.60}."
        )
    question = asked("linearize", system, state, params, inputs, backend)
    names = _outputs(question, outputs)
    cyclic = steady_numbers(question.model.system, steady, cyclic=True)
    driving = _numbers(question)
    inertia = inertia_of(question.model.switched(question.on), question.given)
    if inertia.lost:
        raise StateError(f"{question.model.system.name}: {inertia.words} Choose another state.")
    ground = Ground.of(inertia.moving, question.given)
    known = [item.name for item in question.model.system.parameters]
    point = equilibrium_at(ground, question.given, cyclic, tuple(known.index(name) for name in driving))
    form = _form(point, basis)
    return _result(question, point, form, names, driving)


def _closed(system: Any, motion: Motion, params: Any, inputs: Any, steady: Any, backend: str, budget: Budget) -> Cycle:
    """Return a motion that closes as its cycle."""
    start = motion.at(float(motion.t[0]))
    question = asked("linearize", system, start, motion.params if params is None else params, inputs, backend)
    chosen = steady_numbers(question.model.system, steady)
    laws = {str(event.details["law"]) for event in motion.events if "law" in event.details} - {"any"}
    law = laws.pop() if len(laws) == 1 else None
    tol = float(motion.provenance.tolerances.get("tol", 1e-12))
    again, trail = followed(
        question.model, question.given, question.options(until=float(motion.t[-1]), tol=tol, impact=law, budget=budget)
    )
    free = autonomous(trail.context) and not (question.driven is not None and question.driven.changing)
    made = cycle_of(question, again, trail, chosen, free_period=free)
    if again.status is MotionStatus.UNFINISHED:
        return replace(made, status=CycleStatus.UNFINISHED, reason=again.reason)
    return made


def _numbers(question: MotionQuestion) -> tuple[str, ...]:
    """Return the inputs that are numbers, which may change a little."""
    if question.driven is None:
        return ()
    known = {item.name for item in question.model.system.parameters}
    return tuple(name for name in question.driven.params if name in known)


@dataclass(frozen=True, eq=False)
class _Form:
    """Displacements dq = basis x, velocities dv = along y + drift x, and z' = A z of z = (x, y)."""

    basis: Array
    along: Array
    drift: Array
    A: Array
    second: tuple[Array, Array, Array] | None


def _form(point: EquilibriumPoint, given: Any) -> _Form:
    """Return the equations of small motions in a basis."""
    made, n, mass = point.variations, len(point.mass), point.mass
    slope = point.jets[made.accelerations].by_state[:, :, 0]
    by_q, by_v = slope[:, :n], slope[:, n:]
    whole = holonomic(point)
    basis = _basis(point, given, point.rows if whole else point.positions)
    stress = undetermined_curvature(point, basis)
    if stress:
        raise StateError(
            f"{point.ground.name}: the reactions of {', '.join(map(repr, stress))} are undetermined at this state, and "
            "the stiffness depends on them (their curvature). Leave out the superfluous constraint, or make it a "
            "spring by realize(...)."
        )
    along = basis if whole else tangent(point.rows, mass)
    drift = _drift(point)
    inertia = basis.T @ mass @ basis
    if whole and not np.any(drift @ basis):
        M, damping, K = inertia, -basis.T @ mass @ by_v @ basis, -basis.T @ mass @ by_q @ basis
        f = basis.shape[1]
        lower = -np.linalg.solve(M, np.hstack([K, damping])) if f else np.zeros((0, 0))
        A = np.vstack([np.hstack([np.zeros((f, f)), np.eye(f)]), lower]) if f else np.zeros((0, 0))
        return _Form(basis, basis, np.zeros((n, f)), A, (M, damping, K))
    moved = drift @ basis
    inner = along.T @ mass @ along
    onto, across = np.linalg.solve(inertia, basis.T @ mass), np.linalg.solve(inner, along.T @ mass)
    top = np.hstack([onto @ moved, onto @ along])
    bottom = np.hstack([across @ (by_q @ basis + by_v @ moved), across @ by_v @ along]) - across @ moved @ top
    return _Form(basis, along, moved, np.vstack([top, bottom]), None)


def _basis(point: EquilibriumPoint, given: Any, rows: Array) -> Array:
    own = tangent(rows, point.mass)
    if given is None:
        return own
    name, n = point.ground.name, len(point.mass)
    try:
        basis = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        basis = np.zeros(0)
    basis = basis[:, None] if basis.ndim == 1 and len(basis) == n else basis
    if basis.shape != own.shape or not np.isfinite(basis).all():
        raise DeclarationError(
            f"{name}: basis= must have {n} rows and {own.shape[1]} columns, the displacements that are free; it has "
            f"the shape {basis.shape}."
        )
    off = rows @ basis
    size = np.abs(rows) @ np.abs(basis)
    if np.any(np.abs(off) > ALONG * size):
        place = np.unravel_index(int(np.argmax(np.abs(off) - ALONG * size)), off.shape)
        raise DeclarationError(
            f"{name}: column {place[1] + 1} of basis= is no displacement along the constraints: it changes one of them "
            f"by {off[place]:.2e}. Give columns of the null space of their rows, or leave basis= out."
        )
    if np.linalg.matrix_rank(own.T @ point.mass @ basis) < own.shape[1]:
        raise DeclarationError(
            f"{name}: the columns of basis= are dependent; {own.shape[1]} independent ones are needed."
        )
    return basis


def _drift(point: EquilibriumPoint) -> Array:
    """Return S (n, n): what a displacement does to the velocities so that rates stay zero, where parts turn."""
    made, n = point.variations, len(point.mass)
    rates = point.jets[made.rates]
    change = rates.by_state[:, :n, 0]
    if not np.any(change) or not np.any(point.moment.v):
        return np.zeros((n, n))
    rows = rates.by_state[:, n:, 0]
    size = np.abs(rows).max(initial=0.0) * np.abs(point.moment.v).max(initial=0.0)
    change = np.where(np.abs(change) > 1e-13 * size, change, 0.0)
    return np.stack([least_change(point.mass, rows, -column) for column in change.T], axis=1)


def _outputs(question: MotionQuestion, outputs: Any) -> dict[str, Any]:
    """Return name -> expression of what is observed, with the parameters that stand for inputs."""
    system = question.declared
    if isinstance(outputs, Mapping):
        given = {str(key): value for key, value in outputs.items()}
    else:
        listed = components(outputs)
        given = {name_of(item): item for item in ([outputs] if listed is None else listed)}
    reader = Reader(system.name, system.coordinates, [*system.expressions().values(), *system.parameters])
    known = {*system.coordinates, *system.velocities, *system.parameters, *system.inputs, time}
    found = {}
    for name, item in given.items():
        expr = reader(as_expression(item, "outputs"), f"output '{name}'")
        strange = sorted(str(symbol) for symbol in expr.free_symbols - known)
        if strange:
            raise DeclarationError(
                f"{system.name}: output '{name}' uses '{strange[0]}', which the system doesn't know. "
                f"{nearest(strange[0], [one.name for one in known])}"
            )
        found[name] = expr if question.driven is None else question.driven.put(expr)
    return found


def _observed(
    point: EquilibriumPoint, outputs: Mapping[str, Any], form: _Form, driving: tuple[str, ...]
) -> tuple[Array, Array]:
    """Return C and D: what the outputs change by, along the small motions and with the inputs."""
    system, g = point.ground.model.system, Graph()
    symbols = [time, *system.coordinates, *system.velocities, *system.parameters]
    nodes = [g.input(f"x{i}") for i in range(len(symbols))]
    convert = Converter(g, dict(zip(symbols, nodes, strict=True)))
    n, moment = len(system.coordinates), point.moment
    names = [symbol.name for symbol in symbols]
    by = [*nodes[1 : 1 + 2 * n], *(nodes[names.index(name)] for name in driving)]
    wanted = [slope for expr in outputs.values() for slope in g.gradient(convert(expr), by)]
    given = dict(zip(nodes, [moment.t, *moment.q, *moment.v, *point.ground.params], strict=True))
    slopes = np.array(evaluate(g, wanted, given, np), dtype=float).reshape(len(outputs), len(by))
    by_q, by_v = slopes[:, :n], slopes[:, n : 2 * n]
    return np.hstack([by_q @ form.basis + by_v @ form.drift, by_v @ form.along]), slopes[:, 2 * n :]


def _driven(point: EquilibriumPoint, form: _Form, driving: tuple[str, ...]) -> Array:
    """Return B: what the inputs do to the small motions."""
    made, mass = point.variations, point.mass
    for part, words in ((point.jets[made.values], "value"), (point.jets[made.rates], "rate")):
        for name, column in zip(driving, part.by_params[:, :, 0].T, strict=True):
            if np.any(column):
                raise DeclarationError(
                    f"{point.ground.name}: the input '{name}' stands in the {words} of a constraint: what it does goes "
                    "with its derivatives, and there is no column of B for it. Make it a force."
                )
    push = point.jets[made.accelerations].by_params[:, :, 0]
    across = np.linalg.solve(form.along.T @ mass @ form.along, form.along.T @ mass) if form.along.size else form.along.T
    return np.vstack([np.zeros((form.basis.shape[1], len(driving))), across @ push])


def _result(
    question: MotionQuestion, point: EquilibriumPoint, form: _Form, outputs: Mapping[str, Any], driving: tuple[str, ...]
) -> Linearization:
    C, D = _observed(point, outputs, form, driving)
    ground, made = point.ground, point.variations
    system = ground.model.system
    lam = dict(zip(made.mode.held, point.jets.value[made.multipliers, 0], strict=True))
    names = {j: ground.table.places[ground.table.of_normal(j)].name for j in made.mode.held}
    M, damping, K = form.second if form.second is not None else (None, None, None)
    return Linearization(
        status=LinearizationStatus.FIRST_ORDER if M is None else LinearizationStatus.SECOND_ORDER,
        residual=point.residual,
        provenance=Provenance.now(system.digest, backend=ground.model.backend),
        name=system.name,
        coordinates=tuple(item.name for item in system.coordinates),
        velocities=tuple(item.name for item in system.velocities),
        state=ground.state(point.moment.t, point.moment.q, point.moment.v),
        params=question.params,
        basis=form.basis,
        velocity_basis=form.along,
        drift=form.drift,
        M=M,
        damping=damping,
        K=K,
        A=form.A,
        B=_driven(point, form, driving),
        C=C,
        D=D,
        inputs=driving,
        outputs=tuple(outputs),
        multipliers={names[j]: float(value) for j, value in lam.items() if names[j] not in system.bookkeeping},
        drawing=question.drawing,
    )
