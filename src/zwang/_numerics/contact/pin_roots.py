"""All sizes R >= 0 with R_p = |A_p + B_p R|: of several pins that slip at once.

Two ways, both proofs. Where the matrix of the lengths |B_pq| has a spectral radius below 1, R -> |A + B R| contracts
in a weighted maximum norm, so that there is exactly one solution, whatever A is. Else all of them are enclosed: with
y = (w, R), R/w being the sizes, each equation is a quadratic form y Q_p y = 0, and y is in the simplex w + sum R = 1.
On a simplex with the corners V a form takes only values between the least and the largest entry of V Q V^T (Bernstein),
and its gradient is affine, so that its values at the corners span those inside. A simplex is left out where some
combination of the forms has one sign on it; it is done where the forms are one-to-one on it (then Newton's method finds
the root, or shows that it lies outside); else it is bisected. What remains after a budget is undecided: double roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

ROUNDING = 1e-13
"""Forms of size 1 below this, and corners closer than this to an edge, are decided by rounding."""
MOST = 60_000
"""Simplices that are looked at before the rest is called undecided."""
FINEST = 1e-9
"""Simplices below this diameter are undecided at once: a double root, or one at infinity."""
ROUNDED = 16 * float(np.finfo(float).eps)  # of sums of a few products
NEWTON = 30  # of Newton's method on the angle of a resultant


@dataclass(frozen=True, eq=False)
class Roots:
    """The sizes (k,) of every solution, and how many simplices stay undecided."""

    found: list[Array]
    undecided: int


def all_roots(given: Sequence[Array], share: Sequence[Array]) -> Roots:
    """Return every solution.

    Parameters
    ----------
    given : k arrays (j,)
        A_p.
    share : k arrays (j, k)
        B_p.

    Examples
    --------
    Two pins that load each other: R_1 = |1 + R_2/2|, R_2 = |1 + R_1/2|.

    >>> import numpy as np
    >>> one, half = np.ones(1), np.array([[0.0, 0.5]])
    >>> [root.round(6).tolist() for root in all_roots([one, one], [half, half[:, ::-1]]).found]
    [[2.0, 2.0]]
    >>> two = 4 * half
    >>> [root.round(6).tolist() for root in all_roots([-one, -one], [two, two[:, ::-1]]).found]
    [[1.0, 1.0], [0.2, 0.6], [0.6, 0.2], [0.333333, 0.333333]]
    """
    lengths = np.array([np.sqrt((B * B).sum(axis=0)) for B in share])
    radius = float(np.abs(np.linalg.eigvals(lengths)).max())
    if radius < 1 - 1e-9:
        return Roots([_iterated(given, share)], 0)
    scale = max(float(np.sqrt((A * A).sum())) for A in given) or 1.0
    forms = np.array([_form(p, A / scale, B) for p, (A, B) in enumerate(zip(given, share, strict=True))])
    found, undecided = _subdivided(forms)
    roots: list[Array] = []
    for y in found:
        if y[0] <= 1e-9:
            undecided += 1  # at infinity: friction that is about to jam
            continue
        sizes = scale * np.maximum(y[1:], 0.0) / y[0]
        if all(np.abs(sizes - other).max() > 1e-8 * max(scale, float(sizes.max())) for other in roots):
            roots.append(sizes)
    return Roots(roots, undecided)


def proved_radius(given: Sequence[Array], share: Sequence[Array], R: Array) -> float | None:
    """Return how far the one solution next to R can be from it (in the largest component); None where that is open.

    Newton and Kantorovich: with beta the size of the inverse slopes, eta that of a step and L that of second
    derivatives, a solution lies within 2 eta, alone, where beta L eta < 1/2.

    Examples
    --------
    >>> import numpy as np
    >>> one, half = np.ones(1), np.array([[0.0, 0.5]])
    >>> proved_radius([one, one], [half, half[:, ::-1]], np.array([2.0, 2.0])) < 1e-13
    True
    """
    if not len(R):
        return 0.0
    forces = [A + B @ R for A, B in zip(given, share, strict=True)]
    lengths = np.array([float(np.linalg.norm(force)) for force in forces])
    terms = np.array([np.abs(A).sum() + np.abs(B).sum(axis=0) @ np.abs(R) for A, B in zip(given, share, strict=True)])
    pulls = np.array([np.sqrt((B * B).sum(axis=0)).sum() for B in share])
    if not (lengths > 0).all():
        return None
    slopes = np.eye(len(R)) - np.array([f @ B / size for f, B, size in zip(forces, share, lengths, strict=True)])
    if np.linalg.cond(slopes) > 1e10:
        return None
    inverse = np.linalg.inv(slopes)
    beta = float(np.abs(inverse).sum(axis=1).max()) * (1 + 1e-6)
    error = np.abs(R - lengths) + ROUNDED * (terms + np.abs(R))
    eta = float((np.abs(inverse) @ error).max()) * (1 + 1e-6)
    bend = float((2 * pulls**2 / lengths).max())
    near = bool((2 * eta * pulls <= lengths / 2).all())
    return 2 * eta if near and beta * bend * eta < 0.5 else None


def _iterated(given: Sequence[Array], share: Sequence[Array]) -> Array:
    """Return the fixed point of a contraction; Newton's steps where they are better."""

    def image(R: Array) -> Array:
        return np.array([np.sqrt(((A + B @ R) ** 2).sum()) for A, B in zip(given, share, strict=True)])

    R = image(np.zeros(len(given)))
    for _ in range(10_000):
        now = image(R)
        off = now - R
        if np.abs(off).max() <= 1e-15 * np.abs(now).max():
            return now
        slopes = np.array([(A + B @ R) @ B / max(size, 1e-300) for A, B, size in zip(given, share, now, strict=True)])
        better = R + np.linalg.solve(np.eye(len(R)) - slopes, off) if np.isfinite(slopes).all() else now
        closer = np.abs(image(better) - better).max() < 0.5 * np.abs(off).max()
        if not closer and np.abs(off).max() <= 1e-14 * np.abs(now).max():
            return now
        R = better if closer and (better >= 0).all() else now
    return R


def _form(p: int, A: Array, B: Array) -> Array:
    """Return Q with y Q y = R_p^2 - |A w + B R|^2, scaled to size 1."""
    whole = np.column_stack([A, B])
    form = -whole.T @ whole
    form[p + 1, p + 1] += 1.0
    return np.asarray(form / np.abs(form).max())


def _subdivided(forms: Array) -> tuple[list[Array], int]:
    """Return the roots in the simplex, and how many simplices stay undecided."""
    size = forms.shape[1]
    corners = np.eye(size)[None]
    found: list[Array] = []
    undecided = looked = 0
    while len(corners):
        looked += len(corners)
        if looked > MOST:
            return found, undecided + len(corners)
        corners = corners[~_one_signed(np.einsum("nai,pij,nbj->npab", corners, forms, corners, optimize=True))]
        if not len(corners):
            break
        corners, roots = _settled(forms, corners)
        found += roots
        edges = np.linalg.norm(corners[:, :, None] - corners[:, None, :], axis=3)
        fine = edges.max(axis=(1, 2)) < FINEST
        undecided += int(fine.sum())
        corners = _bisected(corners[~fine], edges[~fine])
    return found, undecided


def _one_signed(values: Array) -> npt.NDArray[np.bool_]:
    """Say of each simplex whether some form (second axis) has one sign on it."""
    flat = values.reshape(*values.shape[:2], -1)
    return np.asarray(((flat.min(axis=2) > ROUNDING) | (flat.max(axis=2) < -ROUNDING)).any(axis=1))


def _settled(forms: Array, corners: Array) -> tuple[Array, list[Array]]:
    """Return the simplices that must be divided further, and the roots in those that are done."""
    middle = corners.mean(axis=1)
    edges = corners[:, 1:] - corners[:, :1]
    slopes = 2 * np.einsum("nei,pij,naj->naep", edges, forms, np.concatenate([corners, middle[:, None]], axis=1))
    slopes = np.swapaxes(slopes, 2, 3)  # (n, corner, form, edge)
    centre = slopes[:, -1]
    size = np.abs(centre).max(axis=(1, 2))
    regular = np.abs(np.linalg.det(centre / np.where(size > 0, size, 1.0)[:, None, None])) > 1e-12
    keep = ~regular
    inverse = np.zeros_like(centre)
    inverse[regular] = np.linalg.inv(centre[regular])
    # Combinations of the forms that are near the coordinates are of one sign far more often.
    mixed = np.einsum("nqp,nai,pij,nbj->nqab", inverse, corners, forms, corners, optimize=True)
    scale = np.abs(inverse).sum(axis=(1, 2))
    flat = mixed.reshape(*mixed.shape[:2], -1)
    away = ((flat.min(axis=2) > ROUNDING * scale[:, None]) | (flat.max(axis=2) < -ROUNDING * scale[:, None])).any(
        axis=1
    )
    away &= regular
    spread = np.einsum("nqp,napd->naqd", inverse, slopes[:, :-1]) - np.eye(centre.shape[1])
    single = regular & ~away & (np.abs(spread).sum(axis=3).max(axis=(1, 2)) < 0.9)
    roots = []
    for n in np.flatnonzero(single):
        inside, root = _newton(forms, middle[n], edges[n], inverse[n], corners[n])
        if root is None:
            keep[n] = True
        elif inside:
            roots.append(root)
    keep |= regular & ~away & ~single
    return corners[keep], roots


def _newton(forms: Array, start: Array, edges: Array, inverse: Array, corners: Array) -> tuple[bool, Array | None]:
    """Return whether the one root near a simplex lies in it, and the root; None where that is not sure."""
    local = np.zeros(len(edges))
    for _ in range(NEWTON):
        y = start + local @ edges
        values = np.einsum("i,pij,j->p", y, forms, y)
        slopes = 2 * np.einsum("ei,pij,j->pe", edges, forms, y)
        if np.abs(inverse @ slopes - np.eye(len(edges))).sum(axis=1).max() >= 0.95:
            return False, None  # out of where the forms are one-to-one
        step = np.linalg.solve(slopes, values)
        local = local - step
        if np.abs(step).max() <= 1e-14:
            break
    else:
        return False, None
    y = start + local @ edges
    weights = np.linalg.solve(corners.T, y)
    return bool(weights.min() >= -1e-9), y


def _bisected(corners: Array, edges: Array) -> Array:
    """Return both halves of each simplex, cut at the middle of its longest edge."""
    if not len(corners):
        return corners
    size = corners.shape[1]
    at = edges.reshape(len(corners), -1).argmax(axis=1)
    first, second = at // size, at % size
    place = np.arange(len(corners))
    middle = 0.5 * (corners[place, first] + corners[place, second])
    one, other = corners.copy(), corners.copy()
    one[place, first], other[place, second] = middle, middle
    return np.concatenate([one, other])
