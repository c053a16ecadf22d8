"""How far accelerations and forces are from the laws of contact, computed from the problem itself.

Every number is relative to the problem's own scale: a force to the largest force, an acceleration to what that force
does to the contact (both in the metric of the mass matrix, so that units of coordinates and rows don't matter). The
distance to a law is that of a projection, |x - proj(x - y)| for "x in C, -y normal to C at x", which is zero if and
only if the law holds and needs no decision about modes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.problem import ContactProblem, dense, is_sparse
from zwang._numerics.linear.blocks import WORTH

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Residual:
    """Relative distances to the laws.

    Attributes
    ----------
    motion : float
        mass @ w = force + reactions.
    normal : float
        No penetration, no pulling, complementarity; equality for bilateral contacts; given normal forces.
    friction : float
        Coulomb's law, or the given bound.
    """

    motion: float
    normal: float
    friction: float

    @property
    def largest(self) -> float:
        """The largest of them."""
        return max(self.motion, self.normal, self.friction)


@dataclass(frozen=True, eq=False)
class Scales:
    """The problem's own units.

    Attributes
    ----------
    load : float
        The largest of the given forces, biases and bounds, in the metric of A^-1.
    normal, tangent : (k,), (m,) arrays
        Lengths of the rows in that metric; a force load / normal[j] is a large one, an acceleration load * normal[j].
    coordinate : (n,) array
        Root of the diagonal of the mass matrix, or of its inverse where that is given.
    """

    load: float
    normal: Array
    tangent: Array
    coordinate: Array


def scales_of(problem: ContactProblem) -> Scales:
    """Return the scales of a problem, computed once."""
    found: Scales | None = problem.kept.get("scales")
    if found is None:
        found = problem.kept["scales"] = _scales(problem)
    return found


def _scales(problem: ContactProblem) -> Scales:
    rows, inverse_times = problem.rows, problem.inverse_times
    normal, tangent = _lengths(problem, "normal"), _lengths(problem, "tangent")
    weight = float(np.sqrt(max(0.0, float(problem.force @ inverse_times(problem.force)))))
    given = rows.load
    loads = [np.abs(rows.bias) / normal, np.abs(rows.tangent_bias) / tangent, np.abs(given) * normal]
    matrix = problem.mass if problem.mass is not None else problem.inverse_mass
    load = max(weight, float(np.concatenate(loads).max(initial=0.0))) or 1.0
    return Scales(load, normal, tangent, np.sqrt(matrix.diagonal()))


def _lengths(problem: ContactProblem, which: str) -> Array:
    given = getattr(problem.rows, which)
    if given.shape[0] == 0:
        return np.zeros(0)
    if len(problem.force) > WORTH and is_sparse(inverse := problem.inverse_form.matrix):
        rows = getattr(problem.thin_rows, which)
        moved = rows @ inverse
        squares = np.asarray((moved.multiply(rows) if is_sparse(moved) else moved * rows).sum(axis=1)).ravel()
    else:
        full = dense(given)
        squares = np.einsum("ij,ji->i", full, problem.inverse_times(full.T))
    lengths = np.sqrt(np.maximum(squares, 0.0))
    return np.where(lengths > 0, lengths, 1.0)


def residual_of(
    problem: ContactProblem,
    acceleration: Array,
    normal: Array,
    tangential: Array,
    scales: Scales,
    *,
    slip_tol: float = 0.0,
) -> Residual:
    """Return the residual of one candidate.

    Parameters
    ----------
    problem : ContactProblem
    acceleration : (n,) array
    normal : (k,) array
    tangential : (k, 2) array
        The first p components of each row count.
    scales : Scales
    slip_tol : float
        Slip velocities up to this size count as rest.
    """
    rows = problem.rows
    flat = tangential[problem.rows.mask]
    reaction = rows.normal.T @ normal + rows.tangent.T @ flat
    sizes = [np.abs(normal) * scales.normal, np.abs(flat) * scales.tangent]
    load = max(scales.load, float(np.concatenate(sizes).max(initial=0.0)))
    return Residual(
        _motion(problem, acceleration, reaction, scales.coordinate * load),
        _normal(problem, acceleration, normal, scales.normal, load),
        _friction(problem, acceleration, normal, tangential, scales.tangent, load, slip_tol),
    )


def _motion(problem: ContactProblem, acceleration: Array, reaction: Array, size: Array) -> float:
    if problem.inverse_mass is not None:
        error = acceleration - problem.inverse_mass @ (problem.force + reaction)
    else:
        error = problem.mass @ acceleration - problem.force - reaction
    return float((np.abs(error) / size).max(initial=0.0))


def _normal(problem: ContactProblem, acceleration: Array, normal: Array, length: Array, load: float) -> float:
    rows = problem.rows
    gap = (rows.normal @ acceleration - rows.bias) / (length * load)
    force = normal * length / load
    given = rows.known
    off = np.where(rows.bilateral, np.abs(gap), np.abs(np.minimum(force, gap)))
    off = np.where(given, np.abs(force - rows.load * length / load), off)
    return float(off.max(initial=0.0))


def _friction(
    problem: ContactProblem,
    acceleration: Array,
    normal: Array,
    tangential: Array,
    length: Array,
    load: float,
    slip_tol: float,
) -> float:
    rows, mask = problem.rows, problem.rows.mask
    if not mask.any():
        return 0.0
    slip_acceleration, slip, sizes = np.zeros((3, rows.count, 2))
    sizes[mask] = length
    size = np.maximum(sizes.max(axis=1), 1e-300)
    slip_acceleration[mask] = rows.tangent @ acceleration - rows.tangent_bias
    slip_acceleration /= (size * load)[:, None]
    slip[mask] = rows.slip
    pressed = rows.pressed(normal) if rows.of else np.abs(normal)
    bound = rows.friction * pressed * size / load
    force = tangential * (size / load)[:, None]
    velocity = np.linalg.norm(slip, axis=1)
    slides = velocity > slip_tol
    along = slip / np.where(slides, velocity, 1.0)[:, None]
    target = force - slip_acceleration
    pushed = pressed * size / load
    wanted = np.where(slides[:, None], -bound[:, None] * along, _nearest(problem, target, bound, pushed))
    off = np.abs(force - wanted).max(axis=1)
    if rows.resting is not None:
        held = _held(problem, force, slip_acceleration, pushed)
        off = np.where(slides | np.isnan(rows.resting[:, 0]), off, np.minimum(off, held))
    return float(off[rows.components > 0].max(initial=0.0))


def _nearest(problem: ContactProblem, target: Array, bound: Array, pushed: Array) -> Array:
    """Return the nearest forces in the sections; `pushed` are the normal forces in the units of friction."""
    reach = np.linalg.norm(target, axis=1)
    wanted: Array = target * np.minimum(1.0, bound / np.maximum(reach, 1e-300))[:, None]
    sides = problem.rows.sides
    if sides is not None:
        alone = (problem.rows.components == 1) & (sides[:, 0] != sides[:, 1])
        low, high = -sides[:, 0] * pushed, sides[:, 1] * pushed
        wanted[:, 0] = np.where(alone, np.clip(target[:, 0], low, high), wanted[:, 0])
    return wanted


def _held(problem: ContactProblem, force: Array, slip_acceleration: Array, pushed: Array) -> Array:
    """Return how far contacts are from sticking by what holds at rest."""
    rows = problem.rows
    assert rows.resting is not None  # asked where some rest has a law of its own
    rest = np.nan_to_num(rows.resting)
    beyond = np.maximum(force[:, 0] - rest[:, 1] * pushed, -rest[:, 0] * pushed - force[:, 0])
    reach = np.linalg.norm(force / np.maximum(rest, 1e-300), axis=1)
    outside = np.linalg.norm(force, axis=1) * np.maximum(0.0, 1.0 - pushed / np.maximum(reach, 1e-300))
    off = np.where(rows.components == 1, np.maximum(beyond, 0.0), outside)
    return np.asarray(np.maximum(off, np.abs(slip_acceleration).max(axis=1)))
