"""Friction of resultants that slips: its size follows from forces that it has a share in.

A pin that slips has a friction force T = -c R d with R the length of its bearing force. All forces are affine in the
sizes R of the pins that slip, so the bearing force of pin p is A_p + B_p R, and

    R_p = |A_p + B_p R|,    R_p >= 0.

For one pin this is a quadratic: with b = |B|, (1 - b^2) R^2 - 2 A.B R - A^2 = 0. While b < 1 exactly one of its roots
is not negative; for b > 1 there are none (jamming, A.B > 0 or too little against it) or two. Several pins are solved by
Newton's method: each length is convex in R, so that it converges from the forces without friction wherever friction is
weak enough for one solution.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

STEPS = 8
"""Steps of Newton's method for several pins: it squares its error, and starts within a tenth or so."""
CLOSE = 1e-10
"""Relative error up to which the lengths of several pins count as found."""


def quadratic(a2: Array, ab: Array, b2: Array) -> tuple[Array, Array]:
    """Return both candidates for the size of one pin's force, nan where there is none: the one of weak friction first.

    Parameters
    ----------
    a2, ab, b2 : arrays
        A.A, A.B and B.B.

    Examples
    --------
    >>> import numpy as np
    >>> found = quadratic(np.array([1.0, 1.0, 1.0]), np.array([0.5, -2.0, 2.0]), np.array([0.25, 2.0, 5.0]))
    >>> [[round(float(r), 6) for r in each] for each in found]
    [[2.0, 0.267949, nan], [nan, 3.732051, nan]]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(ab * ab + (1.0 - b2) * a2)
        # Each root by the form that doesn't cancel.
        first = np.where(ab < 0, a2 / (root - ab), np.where(b2 < 1, (ab + root) / (1.0 - b2), np.nan))
        second = np.where((b2 > 1) & (ab < 0), (ab - root) / (1.0 - b2), np.nan)
    return first, second


def sizes(given: Sequence[Array], share: Sequence[Array]) -> Array:
    """Return the sizes R (k, states) of the resultants of k pins that slip, nan where none is found.

    Parameters
    ----------
    given : k arrays (j, states)
        A_p: the loading forces of each pin without the friction of any.
    share : k arrays (j, k, states)
        B_p: what a unit of each R adds to them.
    """
    if len(given) == 1:
        A, B = given[0], share[0][:, 0]
        return quadratic((A * A).sum(axis=0), (A * B).sum(axis=0), (B * B).sum(axis=0))[0][None]
    k, states = len(given), given[0].shape[1]
    R = np.array([np.sqrt((A * A).sum(axis=0)) for A in given])
    for _ in range(STEPS):
        lengths, slopes = _lengths(given, share, R)
        matrix = np.eye(k)[:, :, None] - slopes
        try:
            R = R - np.linalg.solve(np.moveaxis(matrix, -1, 0), (R - lengths).T[..., None])[..., 0].T
        except np.linalg.LinAlgError:
            return np.full((k, states), np.nan)
    lengths, _ = _lengths(given, share, R)
    good = (np.abs(R - lengths).max(axis=0) <= CLOSE * np.abs(R).max(axis=0)) & (R >= 0).all(axis=0)
    return np.where(good, R, np.nan)


def _lengths(given: Sequence[Array], share: Sequence[Array], R: Array) -> tuple[Array, Array]:
    """Return |A_p + B_p R| (k, states) and its derivatives (k, k, states)."""
    k, states = R.shape
    lengths, slopes = np.zeros((k, states)), np.zeros((k, k, states))
    for p, (A, B) in enumerate(zip(given, share, strict=True)):
        force = A + np.einsum("jks,ks->js", B, R)
        lengths[p] = np.sqrt((force * force).sum(axis=0))
        slopes[p] = np.einsum("js,jks->ks", force, B) / np.where(lengths[p] > 0, lengths[p], 1.0)
    return lengths, slopes
