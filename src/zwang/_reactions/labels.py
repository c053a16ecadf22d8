"""The words for modes: open, closed, stick, slip+, slip-, slip, and '(N<0)' for a bilateral contact that pulls."""

from __future__ import annotations

import numpy as np

from zwang._numerics.contacts import ContactProblem
from zwang._numerics.planar.modes import Law
from zwang._numerics.planar.pieces import Piece, contact_state
from zwang._numerics.planar.reduced import Reduced

PULLING = " (N<0)"


def sliding_word(problem: ContactProblem, contact: int) -> str:
    """Return slip+, slip- or slip for a contact that slides with friction, closed for one without friction."""
    rows = problem.rows
    slip = rows.slip[rows.first[contact] : rows.first[contact + 1]]
    if rows.friction[contact] == 0 or not np.any(slip):
        return "closed"
    return "slip" if len(slip) == 2 else ("slip+" if slip[0] > 0 else "slip-")


def mode_words(problem: ContactProblem, reduced: Reduced, contact: int) -> tuple[str, ...]:
    """Return the words for the modes of a contact, in the order of its table, then those for half-made choices."""
    law, slides = reduced.laws[contact], sliding_word(problem, contact)
    if law is Law.UNILATERAL:
        return ("open", slides)
    if law is Law.UNILATERAL_REST:
        return ("open", "stick", "slip+", "slip-")
    if law is Law.BILATERAL_SLIDING:
        return (slides, slides + PULLING)
    if law is Law.BILATERAL_REST:
        motions = ("stick", "slip+", "slip-")
        whole = tuple(word + sign for sign in ("", PULLING) for word in motions)
        return (*whole, "* (N>=0)", f"*{PULLING}", *(f"{word} (any N)" for word in motions))
    if law is Law.TRESCA_REST:
        return ("stick", "slip+", "slip-")
    return (slides,)


def piece_words(problem: ContactProblem, reduced: Reduced, piece: Piece) -> tuple[str, ...]:
    """Return the modes of a piece's relative interior."""
    words = []
    for c in range(reduced.count):
        word, pulls = contact_state(reduced, piece, c)
        if word == "closed":
            word = sliding_word(problem, c)
        pulls = pulls or bool(problem.rows.bilateral[c] and reduced.known_normal[c] < 0)
        words.append(word + (PULLING if pulls and problem.rows.bilateral[c] else ""))
    return tuple(words)
