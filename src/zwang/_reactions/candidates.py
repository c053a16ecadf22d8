"""A solution that a solver proposes, for problems of any size: told in words and checked against the laws."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.certificates import EVERY_FORCE, Proof
from zwang._numerics.contact.modes import PULLS, Mode
from zwang._numerics.contact.problem import ContactProblem, Matrix, is_sparse
from zwang._numerics.contact.residual import Scales, scales_of
from zwang._reactions.solutions import one_point, relative
from zwang._results.reactions import Solution

Array = npt.NDArray[np.float64]

DENSE = 20_000_000
"""Entries of a dense array of all rows beyond which lengths of rows are only estimated, from the diagonal."""


def convex_proof(problem: ContactProblem) -> Proof | None:
    """Return the certificate of Gauss's principle, None if a bound depends on an unknown normal force."""
    rows = problem.rows
    if ((rows.friction > 0) & np.isnan(rows.normal_force)).any():
        return None
    smallest = _smallest_pivot(problem)
    independent = smallest is not None and smallest > 1e-10
    tail = (
        f"; the rows of the unknown forces are independent (smallest pivot {smallest:.3g}), so they are unique too"
        if independent
        else ""
    )
    zero = independent or not rows.bias[np.isnan(rows.normal_force)].any()
    tresca = bool((rows.known).any())
    head = "for every force there is exactly one acceleration" if zero else "there is at most one acceleration"
    return Proof(
        "given normal forces" if tresca else "frictionless",
        smallest if smallest is not None else 0.0,
        EVERY_FORCE,
        f"Gauss's principle: {head}{tail}.",
        exists=zero,
        unique_motion=True,
        unique=independent,
    )


def _smallest_pivot(problem: ContactProblem) -> float | None:
    """Smallest pivot of J A^-1 J^T for the unknown forces, rows of unit length; None where that is too much work."""
    rows = problem.rows
    rubbing = np.repeat((rows.friction > 0) & rows.known, rows.components)
    parts = [rows.normal[np.isnan(rows.normal_force)], rows.tangent[rubbing]]
    if is_sparse(rows.normal) or is_sparse(rows.tangent):
        from scipy.sparse import diags_array, vstack
        from scipy.sparse.linalg import splu

        if not is_sparse(problem.inverse_mass):
            return None
        jacobian = vstack(parts).tocsr()
        gram = (jacobian @ problem.inverse_mass @ jacobian.T).tocsc()
        scale = diags_array(1.0 / np.sqrt(np.maximum(gram.diagonal(), 1e-300)))
        try:
            pivots = splu((scale @ gram @ scale).tocsc(), diag_pivot_thresh=0.0, options={"SymmetricMode": True}).U
        except RuntimeError:
            return 0.0
        return float(np.abs(pivots.diagonal()).min())
    jacobian = np.concatenate(parts)
    if jacobian.size > DENSE or len(jacobian) > 2_000:
        return None
    gram = jacobian @ problem.inverse_times(jacobian.T)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(gram), 1e-300))
    return float(np.linalg.eigvalsh(scale[:, None] * gram * scale)[0]) if len(gram) else 1.0


def candidate_scales(problem: ContactProblem) -> Scales:
    """Return the scales of a problem of any size; for large ones the diagonal of the mass has to do."""
    rows = problem.rows
    if (rows.normal.shape[0] + rows.tangent.shape[0]) * len(problem.force) <= DENSE:
        return scales_of(problem)
    diagonal = problem.inverse_mass.diagonal() if problem.mass is None else 1.0 / problem.mass.diagonal()

    def length(matrix: Matrix) -> Array:
        squares = np.asarray((matrix.multiply(matrix) if is_sparse(matrix) else matrix * matrix) @ diagonal).ravel()
        return np.sqrt(np.where(squares > 0, squares, 1.0))

    normal, tangent = length(rows.normal), length(rows.tangent)
    given = rows.load
    loads = [np.abs(rows.bias) / normal, np.abs(rows.tangent_bias) / tangent, np.abs(given) * normal]
    weight = float(np.sqrt(np.max(problem.force**2 * diagonal, initial=0.0)))
    coordinate = np.sqrt(diagonal if problem.mass is None else 1.0 / diagonal)
    load = max(weight, float(np.concatenate(loads).max(initial=0.0))) or 1.0
    return Scales(load, normal, tangent, coordinate)


def motion_size(problem: ContactProblem, scales: Scales, w: Array) -> float:
    """Return the size of an acceleration (or of a difference of two), relative to the load of the problem."""
    unit = scales.coordinate if problem.mass is not None else 1.0 / scales.coordinate
    return float((np.abs(w) * unit).max(initial=0.0)) / scales.load


def solution_at(
    problem: ContactProblem, candidate: tuple[Array, Array, Array], names: tuple[str, ...], slip_tol: float
) -> Solution:
    """Return a proposed (w, N, T) as a solution of dimension 0, with its residual recomputed from the laws."""
    w, normal, _ = candidate
    scales = candidate_scales(problem)
    modes = modes_at(problem, normal, *relative(problem, w), scales, slip_tol)
    return one_point(problem, candidate, modes, names, slip_tol, measure=candidate_scales)


def modes_at(
    problem: ContactProblem, normal: Array, gap: Array, slip: Array, scales: Scales, slip_tol: float, zero: float = 1e-7
) -> tuple[Mode, ...]:
    """Return the modes at a point, told by accelerations that differ from zero by more than `zero` of their scale."""
    rows = problem.rows
    sizes = np.zeros((rows.count, 2))
    mask = rows.mask
    sizes[mask] = scales.tangent
    velocity, velocities = np.zeros((2, rows.count, 2))
    velocities[mask] = rows.slip
    slides = np.linalg.norm(velocities, axis=1) > slip_tol
    moving = np.linalg.norm(slip, axis=1) > zero * scales.load * np.maximum(sizes.max(axis=1, initial=0.0), 1e-300)
    velocity = np.where(slides[:, None], velocities, slip)
    along_line = np.where(velocity[:, 0] > 0, Mode.SLIP_PLUS, Mode.SLIP_MINUS)
    modes = np.where(slides | moving, np.where(rows.components == 2, Mode.SLIP, along_line), Mode.STICK)
    modes = np.where(rows.friction > 0, modes, Mode.CLOSED)
    known = rows.known
    opened = ~rows.bilateral & ~known & (gap > zero * scales.load * scales.normal)
    modes = np.where(opened, Mode.OPEN, modes)
    pulling = rows.bilateral & (normal * scales.normal < -zero * scales.load)
    return tuple(Mode(int(mode)) for mode in modes + PULLS * pulling)
