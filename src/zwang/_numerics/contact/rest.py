"""Rest with a law of its own: slip from rest is a solution only where sticking, all other modes the same, has none.

So a solution exists whenever one does for the coefficient of slip: each is a solution of the modes without this rule,
and of those the ones with the fewest contacts that slip from rest yield to none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.pieces import Piece, piece_of
from zwang._numerics.contact.scaled import Reduced

Modes = tuple[int, ...]


def stuck_instead(problem: Reduced, modes: Modes) -> Iterator[tuple[int, Modes]]:
    """Yield each contact that slips from a rest of its own, with the modes in which it sticks and the others stay."""
    for c in problem.static:
        if "slip" in problem.tables[c].modes[modes[c]].strict:
            sticks = {Law.UNILATERAL_REST: (1,), Law.BILATERAL_REST: (0, 3), Law.TRESCA_REST: (0,)}[problem.laws[c]]
            for stick in sticks:
                yield c, (*modes[:c], stick, *modes[c + 1 :])


def yielding(problem: Reduced, modes: Modes, solvable: Callable[[Modes], bool]) -> int:
    """Return a contact whose slip from rest yields to sticking, -1 if there is none."""
    return next((c for c, other in stuck_instead(problem, modes) if solvable(other)), -1)


def holding(problem: Reduced, pieces: list[Piece], tol: float) -> list[Piece]:
    """Return the pieces in which no slip from rest yields to sticking."""
    if not problem.static:
        return pieces

    def solvable(modes: Modes) -> bool:
        return piece_of(problem, modes, tol) is not None

    return [piece for piece in pieces if piece.modes is None or yielding(problem, piece.modes, solvable) < 0]


def settled(problem: Reduced, piece: Piece, tol: float) -> Piece:
    """Return a piece in which no slip from rest yields: contacts stick, one by one, where they can."""
    while piece.modes is not None:
        found = (piece_of(problem, other, tol) for _, other in stuck_instead(problem, piece.modes))
        better = next((other for other in found if other is not None), None)
        if better is None:
            break
        piece = better
    return piece
