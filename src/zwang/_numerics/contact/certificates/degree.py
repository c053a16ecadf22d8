"""At rest with independent rows a solution exists for every force, and an odd number of them where all are isolated.

With all coefficients multiplied by s from 0 to 1, solutions stay in one ball: contact forces f at rest do no positive
work, f (D f + b) <= 0, so that f D f <= b D^-1 b. They are the zeros of the natural map f - proj(f - u), which is
continuous in f and s; so its degree on that ball is the same for all s. For s = 0 it is that of a strictly convex
program, 1. A map of degree 1 has a zero; nondegenerate zeros count 1 or -1 each, so their number is odd.
"""

from __future__ import annotations

from zwang._numerics.contact.certificates.proofs import EVERY_FORCE, Proof


def degree() -> Proof:
    """Return the certificate; no contact slides, and the rows of all unknown forces are independent."""
    return Proof(
        "degree",
        1.0,
        EVERY_FORCE,
        "At rest with independent rows a solution exists for every force, an odd number where all are isolated.",
        exists=True,
    )
