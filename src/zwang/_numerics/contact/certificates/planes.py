"""Theorem 12 of paper 001 for friction in planes: what a positive definite Omega proves there.

With friction T_j = tau_j N_j, tau_j in the disc of radius mu_j, the form (N + T, N) in the metric A^-1 is
N^T Omega(tau) N, Omega being the symmetric part of n A^-1 (n + tau t)^T. Where it is positive definite for every tau
that the laws allow, N + T is coercive and continuous in N, and a solution exists for every force. Where every contact
slides, tau is known and the problem is linear in N: then there is also one solution only. At rest there may be several,
in a plane even with one contact (three, by the quartic of one contact), so that nothing is said of uniqueness there.

Omega is affine in tau, and its least eigenvalue is concave: over a polygon round the disc the corners bound it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.certificates.proofs import EVERY_FORCE, Proof
from zwang._numerics.contact.problem import ContactProblem, dense, is_sparse

Array = npt.NDArray[np.float64]
CORNERS = 16
"""Of the polygon round a disc: its corners lie two per cent outside."""
MOST = 5000
"""Matrices whose eigenvalues are computed; beyond, nothing is claimed."""
POSITIVE = 1e-11  # relative: what rounding may make of an eigenvalue zero
LARGEST = 40
"""Contacts up to which the matrices are made."""
BATCH = 256
"""Matrices at a time: where the first ones are not positive definite, the others are not asked."""


def couplings(problem: ContactProblem) -> tuple[Array, list[Array]]:
    """Return G = n A^-1 n^T, and for each contact t A^-1 n^T (directions, k)."""
    rows = problem.rows
    normal = np.asarray(dense(rows.normal))
    carried = np.asarray(problem.inverse_times(normal.T))
    tangent = np.asarray(dense(rows.tangent))
    bounds = [slice(rows.first[j], rows.first[j + 1]) for j in range(rows.count)]
    return normal @ carried, [tangent[own] @ carried for own in bounds]


def omega_at(G: Array, D: list[Array], tau: list[Array]) -> Array:
    """Return Omega for given ratios of friction to normal force: (4.8), the symmetric part of n A^-1 (n + tau t)^T."""
    sigma = np.stack([D_j.T @ tau_j if len(tau_j) else np.zeros(len(G)) for D_j, tau_j in zip(D, tau, strict=True)])
    return np.asarray(G + (sigma + sigma.T) / 2)


def allowed_ratios(problem: ContactProblem, slip_tol: float = 0.0, *, outer: bool = True) -> list[list[Array]]:
    """Return for each contact the corners of a set that holds its tau: one point where it slides one-sidedly."""
    rows = problem.rows
    found = []
    for j in range(rows.count):
        own = slice(rows.first[j], rows.first[j + 1])
        slip, mu = rows.slip[own], float(rows.friction[j])
        size = float(np.linalg.norm(slip))
        if not len(slip) or mu == 0.0:
            found.append([np.zeros(len(slip))])
        elif size > slip_tol:
            known = -mu * slip / size
            found.append([known, -known] if rows.bilateral[j] else [known])
        elif len(slip) == 1:
            found.append([np.array([mu]), np.array([-mu])])
        else:
            radius = mu / np.cos(np.pi / CORNERS) if outer else mu
            angles = 2 * np.pi * np.arange(CORNERS) / CORNERS
            found.append([radius * np.array([np.cos(a), np.sin(a)]) for a in angles])
    return found


def _least_eigenvalue(G: Array, D: list[Array], corners: list[list[Array]], floor: float) -> float:
    """Return the least eigenvalue of Omega over all combinations of corners, or one of them that is below a floor."""
    rows = [
        np.array([tau @ D_j if len(tau) else np.zeros(len(G)) for tau in own])
        for D_j, own in zip(D, corners, strict=True)
    ]
    counts = [len(own) for own in corners]
    total, least = int(np.prod(counts)), np.inf
    for begin in range(0, total, BATCH):
        picked = np.unravel_index(np.arange(begin, min(begin + BATCH, total)), counts)
        sigma = np.stack([row[pick] for row, pick in zip(rows, picked, strict=True)], axis=1)
        omega = G + (sigma + sigma.transpose(0, 2, 1)) / 2
        least = min(least, float(np.linalg.eigvalsh(omega)[:, 0].min()))
        if least <= floor:
            break
    return least


def plane_proofs(problem: ContactProblem, slip_tol: float) -> list[Proof]:
    """Return what Omega proves of a problem with friction in planes; nothing where it is too large, or says nothing."""
    rows = problem.rows
    plain = rows.sides is None and rows.resting is None and not any(rows.of or ())
    if is_sparse(rows.normal) or not 0 < rows.count <= LARGEST or not plain or not rows.has_normal.all():
        return []
    if not np.isnan(rows.normal_force).all():
        return []
    corners = allowed_ratios(problem, slip_tol)
    if np.prod([float(len(item)) for item in corners]) > MOST:
        return []
    G, D = couplings(problem)
    floor = POSITIVE * float(np.abs(G).max(initial=0.0))
    least = _least_eigenvalue(G, D, corners, floor)
    if least <= floor:
        return []
    slides = all(len(item) == 1 for item in corners)
    if slides:
        sentence = "Every contact slides and Omega is positive definite: exactly one solution, whatever the force."
        kind, proved = "Theorem 12, every contact slides", {"exists": True, "unique_motion": True, "unique": True}
        return [Proof(kind, least, EVERY_FORCE, sentence, **proved)]
    sentence = (
        "Omega is positive definite for every friction that the cones allow: a solution exists, whatever the force."
    )
    return [Proof("Theorem 12, existence", least, EVERY_FORCE, sentence, exists=True)]
