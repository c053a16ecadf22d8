"""The ideal motion of a study: its start projected, itself as polynomials in time that compiled loops compare with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._compile.given_values import Inputs, resolve
from zwang._compile.masses import inertia_of
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.contact_table import table_of
from zwang._derive.motion_modes import ActiveSet
from zwang._kernels.mode_motion import moving
from zwang._kernels.terms import Terms
from zwang._numerics.contact.admission import sizes_near
from zwang._numerics.linear.inertia import lack_of_inertia
from zwang._numerics.linear.projection import least_change
from zwang._numerics.motion.reference import Reference, antiderivative, fit, nodes
from zwang._results.motion import Motion
from zwang._results.motion_dense import states_in_piece
from zwang._results.motion_parts import MotionPiece
from zwang.errors import DeclarationError, StateError

Array = NDArray[np.float64]
PIECES = 64  # pieces of the whole span, at least, on which the ideal motion is compared
WINDOW = 0.02
"""Half-width of the windows round impacts, as a share of the time that is studied."""
OFF = 1e-9  # relative to the size of the state
ROUNDING = 1e-20
"""Up to this share of the kinetic energy, what is across the constraints is an error of the given state."""


@dataclass(frozen=True)
class IdealStart:
    """Where the ideal motion starts.

    Attributes
    ----------
    state : mapping
        The given state with its velocity projected in the kinetic metric.
    removed : float
        The kinetic energy that this took away [J].
    mobility : float
        The largest w M^-1 w^T among the realized constraints.
    """

    state: dict[str, float]
    removed: float
    mobility: float


def project_start(model: Model, names: tuple[str, ...], inputs: Inputs) -> IdealStart:
    """Return the start of the ideal motion: the velocity projected onto the constraints that hold there.

    Those are the bilateral ones, and the velocity-level unilateral ones that the velocity violates; a one-sided gap
    that closes with a speed is an impact, which is the motion's own business.
    """
    system = model.system
    normals = [item for item in system.constraints if not isinstance(item, Friction)]
    terms = model.kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    model.require_finite(terms)
    mass, rows, _, _ = terms.at(0)
    _require_masses(model, inputs, terms)
    q, v, turns = inputs.q[:, 0], inputs.v[:, 0], table_of(system).arrays.turns
    given = inputs.t, inputs.q, inputs.v, inputs.params
    sizes, (near, _, _) = sizes_near(model.kernels.terms, terms, *given, turns)
    for place, item in enumerate(normals):
        off = float(terms.value[place, 0])
        if item.level == "position" and abs(off) > OFF * near[place, 0] and isinstance(item, Bilateral):
            raise StateError(
                f"{system.name}: the state is off constraint '{item.name}' by {off:.1e}; a limit study starts on it "
                f"(tol {OFF:.0e}). Use compile({system.name}).project(state, params)."
            )
    held = [k for k, item in enumerate(normals) if _holds(item, float(terms.value[k, 0]))]
    speeds = np.array([terms.rate[k, 0] if normals[k].level == "position" else terms.value[k, 0] for k in held])
    correction = least_change(mass, rows[held], speeds)
    if (np.abs(correction) <= 1e-14 * (sizes.of_coordinates(turns).speed + np.abs(v))).all():
        correction = np.zeros(len(q))
    removed = float(0.5 * correction @ mass @ correction)
    if removed <= ROUNDING * float(0.5 * v @ mass @ v):
        removed = 0.0
    state = {item.name: float(value) for item, value in zip(system.coordinates, q, strict=True)}
    state |= {item.name: float(value) for item, value in zip(system.velocities, v - correction, strict=True)}
    wanted = [k for k, item in enumerate(normals) if item.name in names]
    mobility = max(float(rows[k] @ np.linalg.solve(mass, rows[k])) for k in wanted)
    return IdealStart({**state, "t": float(inputs.t[0])}, removed, mobility)


def _require_masses(model: Model, inputs: Inputs, terms: Any) -> None:
    """Refuse masses that a softened system could not do with: what ties a massless part may be what is softened."""
    inertia_of(model, inputs, terms)  # those that can't be at all are told by name there
    mass, rows, _, _ = terms.at(0)
    lack = lack_of_inertia(mass, rows[:0])
    if lack is not None:
        words = lack.named([item.name for item in model.system.coordinates])
        raise DeclarationError(
            f"{model.system.name}: the motion {words} has no inertia but what constraints tie it to; a study of "
            "softened constraints needs masses for all motions. Give it a small one."
        )


def _holds(item: Any, value: float) -> bool:
    if isinstance(item, Bilateral):
        return True
    return bool(item.level == "velocity" and value < 0)


@dataclass(frozen=True)
class Ideal:
    """The ideal motion and what is compared with it.

    Attributes
    ----------
    motion : Motion
    reference : Reference
    reactions : mapping of str to function of times
        Of the realized constraints.
    """

    model: Model
    motion: Motion
    names: tuple[str, ...]
    reference: Reference
    multipliers: Array

    def at(self, times: Array) -> tuple[Array, Array]:
        """Return positions and velocities at some times."""
        n = len(self.motion.coordinates)
        values = self.reference.values(times)
        return values[:, :n], values[:, n : 2 * n]

    def reactions(self, times: Array) -> dict[str, Array]:
        """Return name -> multiplier at some times."""
        stacked = Reference(self.reference.breaks, self.multipliers, self.reference.windows).values(times)
        return {name: stacked[:, k] for k, name in enumerate(self.names)}


def describe(model: Model, motion: Motion, names: tuple[str, ...]) -> Ideal:
    """Return the motion as polynomials: positions, velocities, forces of the realized constraints, their projector."""
    span = float(motion.t[-1] - motion.t[0])
    params = resolve(model.system, motion.end, motion.params).params
    breaks, jumps = [float(motion.t[0])], []
    coefficients: list[Array] = []
    multipliers: list[Array] = []
    impulse = np.zeros(len(motion.coordinates))
    for piece in motion.pieces:
        if piece.jump:
            impulse = impulse + _impulses(model, motion, names, piece, params)
        ends = _ends(piece, span)
        if len(ends) < 2:
            continue
        times = ends[:-1, None] + (nodes() + 1) / 2 * np.diff(ends)[:, None]
        states, forces, lam, projectors = _sample(model, names, piece, times.reshape(-1), params)
        values = np.concatenate([states, forces, np.zeros_like(forces), projectors], axis=1)
        coefficients.extend(_fitted(values, times.shape))
        multipliers.extend(_fitted(lam, times.shape))
        breaks.extend(ends[1:].tolist())
        jumps.extend([impulse] * (len(ends) - 1))
    return Ideal(
        model, motion, names, _reference(motion, np.array(breaks), np.array(coefficients), np.array(jumps), span),
        np.array(multipliers),
    )  # fmt: skip


def _fitted(values: Array, shape: tuple[int, ...]) -> Array:
    """Return coefficients (pieces, quantities, powers) of samples (pieces * nodes, quantities)."""
    return fit(values.reshape(*shape, -1).transpose(0, 2, 1))


def _reference(motion: Motion, breaks: Array, coefficients: Array, jumps: Array, span: float) -> Reference:
    n = len(motion.coordinates)
    integrals = antiderivative(coefficients[:, 2 * n : 3 * n], breaks)
    integrals[:, :, 0] += jumps
    coefficients[:, 3 * n : 4 * n] = integrals
    instants = sorted({event.time for event in motion.events if event.kind in ("impact", "accumulation")})
    windows = np.array([[t - WINDOW * span, t + WINDOW * span] for t in instants]).reshape(-1, 2)
    return Reference(breaks, np.ascontiguousarray(coefficients), windows)


def _ends(piece: MotionPiece, span: float) -> Array:
    """Return the ends of the polynomials of a piece: its steps, and no longer than a share of the whole time."""
    first, last = float(piece.t[0]), float(piece.t[-1])
    if not last > first:
        return np.array([first])
    even = np.linspace(first, last, max(1, int(np.ceil(PIECES * (last - first) / span))) + 1)
    ends = np.unique(np.concatenate([piece.t, even]))
    far = np.concatenate([[True], np.diff(ends) > 1e-6 * span])
    far[-1] = True
    kept = ends[far]
    if len(kept) > 2 and kept[-1] - kept[-2] <= 1e-6 * span:
        kept = np.delete(kept, -2)
    return np.asarray(kept)


def _sample(
    model: Model, names: tuple[str, ...], piece: MotionPiece, times: Array, params: Array
) -> tuple[Array, Array, Array, Array]:
    """Return states, generalized forces and multipliers of the realized constraints and projectors at some times."""
    states = states_in_piece(piece, times)
    n = states.shape[1] // 2
    q, v = np.ascontiguousarray(states[:, :n].T), np.ascontiguousarray(states[:, n:].T)
    terms = model.kernels.terms(times, q, v, params)
    lam = _multipliers(model, piece, times, q, v, params)
    numbers = _numbers(model, names)
    wanted = np.stack([lam.get(k, np.zeros(len(times))) for k in numbers], axis=1)
    mass, rows = _dense(terms, len(times))
    forces = np.einsum("bj,bji->bi", wanted, rows[:, numbers])
    return states, forces, wanted, tangential(mass, rows[:, list(piece.held)]).reshape(len(times), -1)


def _dense(terms: Any, count: int) -> tuple[Array, Array]:
    """Return M (B, n, n) and the rows (B, m, n)."""
    if isinstance(terms, Terms):
        return np.ascontiguousarray(terms.mass.transpose(2, 0, 1)), np.ascontiguousarray(terms.rows.transpose(2, 0, 1))
    parts = [terms.at(b)[:2] for b in range(count)]
    return np.array([mass for mass, _ in parts]), np.array([rows for _, rows in parts])


def tangential(mass: Array, rows: Array) -> Array:
    """Return the projector onto the velocities that rows (..., m, n) allow, in the kinetic metric of mass (..., n, n).

    Dependent rows do no harm.

    Examples
    --------
    >>> tangential(np.diag([1.0, 2.0]), np.array([[0.0, 1.0]]))
    array([[1., 0.],
           [0., 0.]])
    """
    if not rows.shape[-2]:
        return np.broadcast_to(np.eye(mass.shape[-1]), mass.shape).copy()
    turned = np.swapaxes(rows, -1, -2)
    carried = np.linalg.solve(mass, turned)
    return np.asarray(np.eye(mass.shape[-1]) - carried @ np.linalg.pinv(rows @ carried, rcond=1e-11) @ rows)


def _numbers(model: Model, names: tuple[str, ...]) -> list[int]:
    normals = [str(item.name) for item in model.system.constraints if not isinstance(item, Friction)]
    return [normals.index(name) for name in names]


def _multipliers(model: Model, piece: MotionPiece, times: Array, q: Array, v: Array, params: Array) -> dict[int, Array]:
    """Return number of a held normal -> its multiplier at the times, friction included where there is some."""
    held = list(piece.held)
    if not piece.sticking and not piece.sliding:
        solved = model.kernels.solve(times, q, v, params, held)
        return dict(zip(held, solved.multipliers, strict=True))
    mode = ActiveSet(piece.held, piece.sticking, piece.sliding, piece.pulling)
    stepper = moving(model, mode)
    column = np.ascontiguousarray(params[:, 0])
    found = [stepper.evaluate(float(t), q[:, k].copy(), v[:, k].copy(), column)[1] for k, t in enumerate(times)]
    return dict(zip(held, np.array(found).T[: len(held)], strict=True))


def _impulses(model: Model, motion: Motion, names: tuple[str, ...], piece: MotionPiece, params: Array) -> Array:
    """Return the generalized impulse of the realized constraints where the state jumped on to a piece."""
    time = float(piece.t[0])
    total = np.zeros(len(motion.coordinates))
    terms = model.kernels.terms(piece.t[:1], piece.q[:1].T.copy(), piece.v[:1].T.copy(), params)
    _, rows, _, _ = terms.at(0)
    for event in motion.events:
        impulses: Mapping[str, Any] = event.details.get("impulses", {})
        if abs(event.time - time) <= 1e-12 * max(abs(time), float(motion.t[-1] - motion.t[0])):
            for name, number in zip(names, _numbers(model, names), strict=True):
                total += float(np.sum(impulses.get(name, 0.0))) * rows[number]
    return total
