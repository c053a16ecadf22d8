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

__all__ = [
    "EVERY_FORCE",
    "THIS_STATE",
    "Proof",
    "certificates",
    "gauss",
    "monotone",
    "of_uniqueness",
    "self_stress",
    "sliding",
]


def certificates(problem: Reduced, found: list[Proof] | None = None) -> list[Proof]:
    """Return the certificates of a planar problem, strongest first; `found` are those of `of_uniqueness`, if known."""
    proofs = of_uniqueness(problem) if found is None else found
    if not any(proof.exists or proof.unique_motion for proof in proofs) and (proof := self_stress(problem)) is not None:
        proofs = [*proofs, proof]
    return sorted(proofs, key=lambda p: (-p.unique, -p.unique_motion, -p.exists, p.fails))


def of_uniqueness(problem: Reduced) -> list[Proof]:
    """Return the certificates but for those that tell of existence alone, which need linear programs."""
    if (proof := gauss(problem)) is not None:
        return [proof]
    exists, unique = monotone(problem)
    return [proof for proof in (sliding(problem), unique, exists) if proof is not None]
