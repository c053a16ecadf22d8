"""From pieces and certificates to a status: nothing is claimed that is not proved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zwang._numerics.contact.certificates import THIS_STATE, Proof
from zwang._numerics.contact.pieces import Piece
from zwang._results.reactions import Certificate, ReactionsStatus


def status_of(
    pieces: Sequence[Piece], distinct: int, continuum: bool, complete: bool, proofs: Sequence[Proof]
) -> ReactionsStatus:
    """Return the status of a list of pieces.

    Parameters
    ----------
    pieces : the pieces found
    distinct : the number of distinct accelerations
    continuum : whether some piece has more than one
    complete : whether these are all the pieces
    proofs : certificates
    """
    if continuum or distinct > 1:
        return ReactionsStatus.MULTIPLE
    one_motion = complete or any(proof.unique_motion for proof in proofs)
    if not pieces:
        return ReactionsStatus.NONE if complete else ReactionsStatus.UNDECIDED
    if not one_motion:
        return ReactionsStatus.FOUND
    several = len(pieces) > 1 or pieces[0].polyhedron.dimension > 0
    if several:
        return ReactionsStatus.UNIQUE_MOTION
    if complete or any(proof.unique for proof in proofs):
        return ReactionsStatus.UNIQUE
    return ReactionsStatus.FOUND


def certificate_of(proof: Proof) -> Certificate:
    """Return a proof as the result shows it."""
    return Certificate(
        proof.kind,
        proof.number,
        proof.scope,
        proof.sentence,
        proof.exists,
        proof.unique_motion,
        proof.unique,
        proof.fails,
    )


def enumeration(status: ReactionsStatus, total: float, nodes: int, components: int) -> Proof:
    """Return what the complete enumeration of modes proves."""
    programs = f" by {nodes} linear programs" if nodes else ""
    how = f"All {total:.6g} combinations of modes were decided{programs}"
    sets = f"{components} connected set{'s' if components != 1 else ''} of solutions"
    found = {
        ReactionsStatus.UNIQUE: "one solution",
        ReactionsStatus.UNIQUE_MOTION: "one acceleration, several reactions",
        ReactionsStatus.MULTIPLE: f"several accelerations, {sets}",
        ReactionsStatus.NONE: "no solution",
    }[status]
    return Proof(
        "enumeration",
        total if np.isfinite(total) else float(nodes),
        THIS_STATE,
        f"{how}: {found}.",
        exists=status is not ReactionsStatus.NONE,
        unique_motion=status in {ReactionsStatus.UNIQUE, ReactionsStatus.UNIQUE_MOTION},
        unique=status is ReactionsStatus.UNIQUE,
    )


def _carries(proof: Proof, status: ReactionsStatus) -> bool:
    if status is ReactionsStatus.UNIQUE:
        return proof.unique and proof.exists
    if status is ReactionsStatus.UNIQUE_MOTION:
        return proof.unique_motion and proof.exists
    if status in {ReactionsStatus.NONE, ReactionsStatus.MULTIPLE}:
        return proof.kind == "enumeration"
    return proof.exists


def main_certificate(status: ReactionsStatus, proofs: Sequence[Proof]) -> Proof | None:
    """Return the certificate that carries the status, preferring those for every force; else the strongest."""
    everywhere = sorted(proofs, key=lambda p: p.scope == THIS_STATE)
    for proof in everywhere:
        if _carries(proof, status):
            return proof
    return next((proof for proof in everywhere if proof.exists or proof.unique_motion), None)
