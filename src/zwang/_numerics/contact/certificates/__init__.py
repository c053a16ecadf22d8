"""Certificates: what is proved of a planar contact problem without enumerating its modes.

`certificates` returns all that hold (and an exact criterion that fails, which is also knowledge), strongest first.
"""

from __future__ import annotations

from zwang._numerics.contact.certificates.gauss import gauss
from zwang._numerics.contact.certificates.monotone import monotone
from zwang._numerics.contact.certificates.proofs import EVERY_FORCE, THIS_STATE, Proof
from zwang._numerics.contact.certificates.self_stress import self_stress
from zwang._numerics.contact.certificates.sliding import sliding
from zwang._numerics.contact.scaled import Reduced

__all__ = ["EVERY_FORCE", "THIS_STATE", "Proof", "certificates", "gauss", "monotone", "self_stress", "sliding"]


def certificates(problem: Reduced) -> list[Proof]:
    """Return the certificates of a planar problem, strongest first."""
    if (proof := gauss(problem)) is not None:
        return [proof]
    exists, unique = monotone(problem)
    found = [sliding(problem), unique, exists]
    if exists is None:
        found.append(self_stress(problem))
    proofs = [proof for proof in found if proof is not None]
    return sorted(proofs, key=lambda p: (-p.unique, -p.unique_motion, -p.exists, p.fails))
