"""Theorem 12 of paper 001 as it is true: existence from Omega, uniqueness from every pattern of sticking contacts.

Friction forces that belong to given normal forces N are unique (Theorem 10), so the normal accelerations are a
continuous, piecewise linear function of N. On each piece some contacts K at rest stick and the others slip with signs
s, and the derivative is

    n^T P_K (n + s mu t outside K),    P_K = A^-1 - A^-1 t_K (t_K^T A^-1 t_K)^+ t_K^T A^-1.

If the symmetric part of every such matrix is positive definite, the function is strongly monotone: one N, hence one
acceleration, for every force and bias. The paper's Theorem 12 asks this for K empty only (its Omega); that proves
existence, by coercivity, and not uniqueness. Omega is affine in the friction coefficients, so the corners of the box
|mubar| <= mu decide.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.certificates.proofs import EVERY_FORCE, Proof
from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.jit import njit
from zwang._numerics.linear.rank import GRAM

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_PATTERNS = 600_000  # some seconds of eigenvalues
POSITIVE = 1e-11  # relative to one: what rounding may make of an eigenvalue zero

# How the friction of a contact enters: fixed sign; both signs; stick or both signs; stick or a constant.
FIXED, BOTH, REST, BOUNDED = range(4)


@njit
def exceeds(matrix: Array, size: int, shift: float, work: Array) -> bool:
    """Whether matrix - shift * identity is positive definite (Cholesky)."""
    for i in range(size):
        for j in range(i + 1):
            total = matrix[i, j] - (shift if i == j else 0.0)
            for k in range(j):
                total -= work[i, k] * work[j, k]
            if i == j:
                if total <= 0.0:
                    return False
                work[i, i] = np.sqrt(total)
            else:
                work[i, j] = total / work[j, j]
    return True


@njit
def symmetric_part(gram: Array, normals: Ints, tangents: Ints, weight: Array, out: Array) -> None:
    """Put the symmetric part of n^T P (n + weight t) into `out`."""
    size = len(normals)
    for i in range(size):
        for j in range(i + 1):
            value = gram[normals[i], normals[j]]
            if weight[j] != 0.0:
                value += 0.5 * weight[j] * gram[normals[i], tangents[j]]
            if weight[i] != 0.0:
                value += 0.5 * weight[i] * gram[normals[j], tangents[i]]
            out[i, j] = value
            out[j, i] = value


@njit
def project(source: Array, target: Array, t: int) -> None:
    """Let the row t stick: subtract its part from the Gram matrix (nothing, if others hold it already)."""
    pivot = source[t, t]
    for i in range(source.shape[0]):
        factor = source[i, t] / pivot if pivot > 1e-10 else 0.0
        for j in range(source.shape[0]):
            target[i, j] = source[i, j] - factor * source[t, j]


@njit("float64(float64[:, ::1], int64[::1], int64[::1], float64[::1], int64[::1], int64[::1], boolean)")
def smallest_eigenvalue(
    gram: Array, normals: Ints, tangents: Ints, mu: Array, kinds: Ints, sticky: Ints, stick: bool
) -> float:
    """Return the smallest eigenvalue over all patterns, or the first that is not positive.

    ``normals``, ``tangents``, ``mu`` and ``kinds`` are those of the contacts with an unknown normal force; ``sticky``
    are the tangents of contacts that may stick. With ``stick`` False only the empty pattern of sticking is tried.
    """
    size, many = len(normals), len(sticky)
    grams = np.empty((many + 1, gram.shape[0], gram.shape[0]))
    grams[0] = gram
    weight, part, work = np.zeros(size), np.zeros((size, size)), np.zeros((size, size))
    held = np.zeros(gram.shape[0], dtype=np.int64)
    least = np.inf
    signs = np.empty(size, dtype=np.int64)
    pattern = 0
    while pattern < (1 << many if stick else 1):
        # Bits of the pattern, highest first, are a path down: only the part that changed is projected again.
        first = 0
        if pattern:
            while (1 << (many - 1 - first)) > (pattern & -pattern):
                first += 1
        for level in range(first, many):
            t = sticky[level]
            held[t] = (pattern >> (many - 1 - level)) & 1
            if held[t]:
                project(grams[level], grams[level + 1], t)
            else:
                grams[level + 1] = grams[level]
        free = 0
        for c in range(size):
            weight[c] = -mu[c] if kinds[c] == FIXED else 0.0
            if kinds[c] == BOTH or (kinds[c] == REST and held[tangents[c]] == 0):
                signs[free] = c
                free += 1
        for code in range(1 << free):
            for s in range(free):
                weight[signs[s]] = mu[signs[s]] if (code >> s) & 1 else -mu[signs[s]]
            symmetric_part(grams[many], normals, tangents, weight, part)
            if not exceeds(part, size, min(least, 1e300), work):
                least = min(least, np.linalg.eigvalsh(part)[0])
                if least <= 0.0:
                    return float(least)
        pattern += 1
    return float(least)


def monotone(problem: Reduced) -> tuple[Proof | None, Proof | None]:
    """Return the certificates of existence and of uniqueness, None where they don't hold or don't apply."""
    contacts = np.flatnonzero(problem.normal >= 0)
    if not len(contacts) or not (problem.friction > 0).any():
        return None, None
    names = {
        Law.UNILATERAL: FIXED,
        Law.BILATERAL: FIXED,
        Law.BILATERAL_SLIDING: BOTH,
        Law.UNILATERAL_REST: REST,
        Law.BILATERAL_REST: REST,
    }
    kinds = np.array([names[problem.laws[c]] for c in contacts], dtype=np.int64)
    rests = {Law.UNILATERAL_REST, Law.BILATERAL_REST, Law.TRESCA_REST}
    sticky = np.array([problem.tangent[c] for c, law in enumerate(problem.laws) if law in rests], dtype=np.int64)
    signed = int((kinds == BOTH).sum() + (kinds == REST).sum())
    if 2.0**signed > MOST_PATTERNS:
        return _by_norms(problem, contacts), None
    given = (
        np.ascontiguousarray(problem.gram),
        problem.normal[contacts].astype(np.int64),
        problem.tangent[contacts].astype(np.int64),
        problem.friction[contacts],
        kinds,
        sticky,
    )
    omega = smallest_eigenvalue(*given, False)
    if omega <= POSITIVE:
        return None, None
    exists = Proof(
        "Theorem 12, existence",
        omega,
        EVERY_FORCE,
        f"Omega is positive definite for all friction coefficients up to mu (smallest eigenvalue {omega:.3g} for unit "
        f"normals): a solution exists for every force and bias. This alone doesn't prove uniqueness.",
        exists=True,
    )
    resting = int((kinds == REST).sum())
    patterns = 3.0**resting * 2.0 ** (signed - resting + len(sticky) - resting)
    if patterns > MOST_PATTERNS:
        return exists, None
    least = smallest_eigenvalue(*given, True) if len(sticky) else omega
    if least <= POSITIVE:
        return exists, None
    rows = problem.tangent[problem.tangent >= 0]
    independent = bool(np.linalg.eigvalsh(problem.gram)[0] > GRAM) if len(rows) else True
    reactions = "" if independent else ", though not always one set of friction forces"
    unique = Proof(
        "Theorem 12, corrected",
        least,
        EVERY_FORCE,
        f"With every pattern of sticking contacts the normal accelerations are strongly monotone in the normal forces "
        f"(smallest eigenvalue {least:.3g}): exactly one acceleration for every force and bias{reactions}.",
        exists=True,
        unique_motion=True,
        unique=independent,
    )
    return exists, unique


def _by_norms(problem: Reduced, contacts: Ints) -> Proof | None:
    """Omega without going through its corners: |sym(S diag(mubar))| <= |S diag(mu)| for all |mubar| <= mu."""
    normals, tangents = problem.normal[contacts], problem.tangent[contacts]
    smallest = float(np.linalg.eigvalsh(problem.gram[np.ix_(normals, normals)])[0])
    cross = problem.gram[np.ix_(normals, tangents)] * problem.friction[contacts]
    margin = smallest - float(np.linalg.norm(cross, 2))
    if margin <= POSITIVE:
        return None
    return Proof(
        "Theorem 12, existence",
        margin,
        EVERY_FORCE,
        f"Omega is positive definite for all friction coefficients up to mu (its smallest eigenvalue is at least "
        f"{margin:.3g} by norms): a solution exists for every force and bias.",
        exists=True,
    )
