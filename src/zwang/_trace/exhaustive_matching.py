"""Which traced arcs lie on which proved chains, and where one-sided constraints cut them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._trace.exhaustive_boxes import BoxPiece, Prover
from zwang._trace.exhaustive_search import BoxSearch
from zwang._trace.formulas import ExactEquations, Formulas, numeric

Array = NDArray[np.float64]
NEAR = 1e-7  # scaled: a found place that may be that of a box
FINEST = 1e-7  # of a box's side: cut no further
SAME = 1e-5  # scaled: places of one solution


def position(state: Mapping[str, float], equations: ExactEquations) -> Array:
    """Return the coordinates of a state as an array."""
    return np.array([float(state[item.name]) for item in equations.coordinates])


class Match:
    """Which arcs and isolated configurations lie on which chains."""

    def __init__(self, space: Any, equations: ExactEquations, prover: Prover, search: BoxSearch) -> None:
        self.search, self.prover, self.equations = search, prover, equations
        self.chain_of = {piece: k for k, chain in enumerate(search.chains) for piece in chain.pieces}
        self.samples = [arc.sampled(2000) for arc in space.branches] if equations.gaps else []
        self.contact_ends = sum(end.kind == "contact" for arc in space.branches for end in arc.ends)
        self.cuts = self.contact_ends
        self.lost: list[int] = []
        self.swallowed = False
        self.arcs: dict[int, list[int]] = {k: [] for k in range(len(search.chains))}
        for arc in space.branches:
            self._place(arc.number, [arc.position(share * arc.length) for share in (0.5, 0.37, 0.71, 0.05, 0.93)])
        for number, state in enumerate(space.points):
            place = position(state, equations)
            if not self._in_ball(search.domain.wrapped(place)):
                self._place(number, [place])

    def _place(self, number: int, positions: Sequence[Array]) -> None:
        found = {chain for q in positions for chain in self._chains_at(self.search.domain.wrapped(q))}
        if len(found) == 1:
            self.arcs[found.pop()].append(number)
        elif not found and all(self._in_ball(self.search.domain.wrapped(q)) for q in positions):
            self.swallowed = True
        else:
            self.lost.append(number)

    def _in_ball(self, q: Array) -> bool:
        return any(ball.holds(q, q) for ball in self.search.balls)

    def _chains_at(self, q: Array) -> set[int]:
        """Return the chains on which a position is proved to lie."""
        found = set()
        for number, image in self.search.holding(q, q):
            piece = self.search.pieces[number]
            place = image.of(q)
            # Pieces are thin in coordinates that the constraints fix: the small box must lie inside all the same.
            half = np.minimum(NEAR, np.minimum(place - piece.low, piece.high - place))
            low, high = place - half, place + half
            if piece.along is not None:
                low[piece.along] = high[piece.along] = place[piece.along]
            if number in self.chain_of and self.prover.proves(low, high, piece.along):
                found.add(self.chain_of[number])
        return found

    def missing(self) -> list[Array]:
        """Return a position on each chain that no arc covers."""
        starts = []
        for k, numbers in self.arcs.items():
            places = self.search.chains[k].pieces
            if self.equations.gaps:
                starts += self._bare(places)[:1]
            elif not numbers:
                starts.append(self._middle(places[len(places) // 2]))
        return starts

    def _middle(self, number: int) -> Array:
        """Return the point of the curve in the middle of a piece."""
        piece = self.search.pieces[number]
        at = None if piece.along is None else float(0.5 * (piece.low + piece.high)[piece.along])
        low, high = self.prover.point(piece, at)
        return np.asarray(0.5 * (low + high))

    def _bare(self, places: Sequence[int]) -> list[Array]:
        """Return points of pieces where all one-sided constraints are open but no arc passes: contacts cut chains."""
        domain = self.search.domain
        gaps = numeric(Formulas(self.equations.gaps, self.equations.coordinates))
        bare = []
        for q in (self._middle(number) for number in places):
            inside = bool(((q >= domain.low) & (q <= domain.high) | domain.circles).all())
            if inside and gaps(q[:, None]).min() > 0 and not self._passed(domain.wrapped(q)):
                bare.append(q)
        return bare

    def _passed(self, q: Array) -> bool:
        """Whether an arc comes as near to a point as its samples are apart."""
        for rows in self.samples:
            d = self.search.domain.apart(q, rows)
            apart = np.abs(np.diff(rows, axis=0)).max(initial=0.0)
            if np.abs(d).max(axis=1).min() <= apart + NEAR:
                return True
        return False


def contacts(prover: Prover, search: BoxSearch) -> list[Array]:
    """Return the points of the proved curve, in the box, at which a one-sided constraint closes or opens."""
    found: list[Array] = []
    domain = search.domain
    for piece in search.pieces:
        for q in _edges(prover, piece):
            inside = bool(((q >= domain.low) & (q <= domain.high) | domain.circles).all())
            known = any(np.abs(domain.apart(other, q)).max() < SAME for other in found)
            if inside and not known:
                found.append(domain.wrapped(q))
    return found


def _edges(prover: Prover, piece: BoxPiece) -> list[Array]:
    """Return where on a piece it can't be decided whether all one-sided constraints are open, to a fine width."""
    k = piece.along
    if k is None:
        return []
    finest = FINEST * (piece.high[k] - piece.low[k])
    stack = [(float(piece.low[k]), float(piece.high[k]))]
    edges: list[Array] = []
    while stack and len(edges) < 200:
        a, b = stack.pop()
        low, high = prover.stretch(piece, a, b)
        gaps = prover.enclosure.gaps(prover.balls.box(low.tolist(), high.tolist()))
        if all(gap > 0 for gap in gaps) or any(gap < 0 for gap in gaps):
            continue
        if b - a <= finest:
            edges.append(np.asarray(0.5 * (low + high)))
        else:
            stack += [(a, 0.5 * (a + b)), (0.5 * (a + b), b)]
    return edges
