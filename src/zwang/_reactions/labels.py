"""The words for modes of the enumeration, and those for choices that it has half made."""

from __future__ import annotations

import numpy as np

from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.modes import Mode, slip_mode, words_of
from zwang._numerics.contact.pieces import Piece, contact_mode
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.contact.scaled import Reduced

RESTING = (Mode.STICK, Mode.SLIP_PLUS, Mode.SLIP_MINUS)


def sliding_mode(problem: ContactProblem, contact: int) -> Mode:
    """Return the mode of a contact that slides with friction, closed for one without friction."""
    rows = problem.rows
    slip = rows.slip[rows.first[contact] : rows.first[contact + 1]]
    rubs = rows.friction[contact] if rows.sides is None else rows.sides[contact].max()
    if rubs == 0 or not np.any(slip):
        return Mode.CLOSED
    return slip_mode(len(slip), slip[0])


def mode_words(problem: ContactProblem, reduced: Reduced, contact: int) -> tuple[str, ...]:
    """Return the words for the modes of a contact, in the order of its table, then those for half-made choices."""
    law, slides = reduced.laws[contact], sliding_mode(problem, contact)
    if law is Law.UNILATERAL:
        return words_of((Mode.OPEN, slides))
    if law is Law.UNILATERAL_REST:
        return words_of((Mode.OPEN, *RESTING))
    if law in {Law.BILATERAL_SLIDING, Law.BILATERAL_SIGNED}:
        return words_of((slides, slides.pulling(True)))
    if law is Law.BILATERAL_REST:
        whole = words_of(mode.pulling(pulls) for pulls in (False, True) for mode in RESTING)
        return (*whole, "* (N>=0)", "* (N<0)", *(f"{word} (any N)" for word in words_of(RESTING)))
    if law in {Law.TRESCA_REST, Law.FOLLOWS_REST, Law.RESULTANT_REST}:
        return words_of(RESTING)
    return words_of((slides,))


def piece_modes(problem: ContactProblem, reduced: Reduced, piece: Piece) -> tuple[Mode, ...]:
    """Return the modes of a piece's relative interior."""
    modes = []
    for c in range(reduced.count):
        mode = contact_mode(reduced, piece, c)
        pulls = mode.pulls or reduced.known_normal[c] < 0
        plain = sliding_mode(problem, c) if mode.plain is Mode.CLOSED else mode.plain
        modes.append(plain.pulling(bool(pulls and problem.rows.bilateral[c])))
    return tuple(modes)
