"""One motion although normal forces depend on each other: contacts of bodies that rest on flat feet.

Let (N0, T0) and (N, T) give the accelerations of two solutions in which the same contacts are closed, d the difference
of the two, N n + T t the reactions. Friction opposes slip as strongly as it can, so with g_i = -T0_i / N0_i,
|g_i| <= mu_i,

    (d, d) = sum (T_i - T0_i) t_i d <= -sum (N_i - N0_i) g_i t_i d

in the kinetic metric. The right side knows differences of normal forces alone. Where some linear map G of the motions
that keep the contacts closed satisfies n_i G = g_i t_i and t_i G = 0 at every contact (feet in one plane: the tilt
about it that lifts them as fast as they slip), it is -(d, G d), whatever the forces are. So d vanishes where the
symmetric part of 1 + G is positive definite.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.certificates.proofs import THIS_STATE, Proof
from zwang._numerics.contact.problem import ContactProblem, dense
from zwang._numerics.linear.rank import DEPENDENT

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

FITS = 1e-9
"""How well G must lift contacts as fast as they slip, relative to the slips: two motions are one to this precision."""

BEYOND = 1e-6
"""By how much friction of a solution may exceed its bound, relative to it: so precisely are forces at a bound known."""


def least_curvature(problem: ContactProblem, normal: Array, tangential: Array, fixed: Flags, closed: Flags) -> float:
    """Return the least eigenvalue of the symmetric part of 1 + G, -inf where there is no such G.

    Parameters
    ----------
    problem : ContactProblem
    normal, tangential : (k,), (k, 2) arrays
        Forces of one solution.
    fixed, closed : (k,) bool arrays
        Whose friction is given by its normal force, since they slip; which contacts are closed. The friction of the
        others may be distributed in another way that does the same, if G exists for that one.
    """
    rows = problem.rows
    rubs = rows.friction > 0
    if not rows.plain or any(rows.of or ()) or rows.known.any() or (rows.bilateral & rubs).any():
        return -np.inf
    mass = dense(problem.mass) if problem.mass is not None else np.linalg.inv(dense(problem.inverse_mass))
    try:
        to_unit = np.linalg.inv(np.linalg.cholesky(mass)).T
    except np.linalg.LinAlgError:
        return -np.inf
    normals, tangents = dense(rows.normal)[closed] @ to_unit, dense(rows.tangent) @ to_unit
    owner = np.repeat(np.arange(rows.count), rows.components)
    mine = (closed & rubs)[owner]
    owner, tangents = owner[mine], tangents[mine]
    sizes, directions = np.linalg.svd(normals)[1:]
    free = directions[int((sizes > DEPENDENT * sizes.max(initial=0.0)).sum()) :].T
    if not free.shape[1]:
        return 1.0  # nothing can move
    given = np.vstack([normals, tangents])
    lengths = np.linalg.norm(given, axis=1, keepdims=True)
    back = np.linalg.pinv(given / lengths, rcond=DEPENDENT)
    place = np.cumsum(closed)[owner] - 1
    slips = (tangents @ free) / lengths[place]  # by how much a unit of g wants G to lift its contact
    left = np.eye(len(given)) - (given / lengths) @ back
    misfit = np.einsum("ic,cr->irc", left[:, place], slips).reshape(-1, len(owner))
    load = normal[owner]
    loaded = load > FITS * np.abs(normal).max(initial=0.0)
    g = np.where(loaded, -tangential[rows.mask][mine] / np.where(loaded, load, 1.0), 0.0)
    g = _distributed(misfit, load / max(float(np.abs(load).max(initial=0.0)), 1e-300) * tangents.T, g, ~fixed[owner])
    sizes = np.sqrt(np.bincount(owner, g**2, rows.count))
    if np.abs(misfit @ g).max(initial=0.0) > FITS or (sizes > (1 + BEYOND) * rows.friction).any():
        return -np.inf
    wanted = np.zeros((len(given), free.shape[1]))
    np.add.at(wanted, place, g[:, None] * slips)
    half = free.T @ back @ wanted
    return 1.0 + float(np.linalg.eigvalsh((half + half.T) / 2)[0])


def _distributed(misfit: Array, force: Array, g: Array, loose: Flags) -> Array:
    """Return friction per normal force for which G exists, nearest to the given one, with the same resultant."""
    if not loose.any():
        return g
    conditions = np.vstack([misfit, force])
    off = np.concatenate([misfit @ g, np.zeros(len(force))])
    moved = g.copy()
    moved[loose] -= np.linalg.lstsq(conditions[:, loose], off, rcond=DEPENDENT)[0]
    same = np.abs(force @ (moved - g)).max(initial=0.0) <= FITS
    return moved if same else g


def one_motion(curvature: float) -> Proof:
    """Return the certificate."""
    return Proof(
        "flat feet",
        curvature,
        THIS_STATE,
        f"All solutions have the same contacts closed, and there friction leaves one motion: the difference of two "
        f"would lose more than it has (1 + G is positive definite, least eigenvalue {curvature:.3g}).",
        exists=True,
        unique_motion=True,
    )
