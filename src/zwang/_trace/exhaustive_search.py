"""Subdivision of a box until everything in it is proved, and the pieces joined to chains.

Every box is proved empty, or covered by a piece in which the curve is one graph, or lies in a listed ball round a
singular point. Pieces overlap: where the end of one lies in another, both hold the same curve, because there is only
one. What hangs together so is a chain; its free ends lie in balls or on the boundary of the box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.budget import spend
from zwang._numerics.identified import between
from zwang._trace.exhaustive_boxes import BoxPiece, Prover

Array = NDArray[np.float64]
TURN = 2 * np.pi
SEAM = 1e-14  # rounding at the seam of an angle
SMALLEST = 1e-9  # of the region's side: a box that small holds something singular
MOST_OPEN = 64  # boxes; a search that leaves more has no proof


@dataclass(frozen=True, eq=False)
class Ball:
    """A box of half-widths `radius` round a singular point, in which the local algebra speaks."""

    centre: Array
    radius: Array
    point: int

    def holds(self, low: Array, high: Array) -> bool:
        """Whether a box lies in it."""
        return bool((low >= self.centre - self.radius).all() and (high <= self.centre + self.radius).all())


class Image(NamedTuple):
    """What stands for the same configuration: quaternions with these signs, angles shifted by whole turns."""

    signs: Array
    shift: Array

    def of(self, q: Array) -> Array:
        """Return a position as the image has it."""
        return np.asarray(self.signs * q + self.shift)


@dataclass(frozen=True, eq=False)
class Domain:
    """The box that is searched; an angle that may take every value runs round the circle.

    `either` has the places of each quaternion that means the same with either sign: of its first component the box has
    little more than the upper half.
    """

    low: Array
    high: Array
    circles: NDArray[np.bool_]
    either: tuple[tuple[int, ...], ...] = ()

    def wrapped(self, q: Array) -> Array:
        """Return a position with its circling angles and its quaternions brought into the box."""
        shifted = self.low + np.mod(q - self.low, TURN)
        found = np.where(self.circles, shifted, q)
        for places in self.either:
            own = list(places)
            found[..., own] *= np.where(found[..., own[:1]] < 0, -1.0, 1.0)
        return found

    def apart(self, a: Array, b: Array) -> Array:
        """Return b - a for the nearest of what b stands for."""
        identified = np.where(self.circles, TURN, 0.0)
        for number, places in enumerate(self.either, start=1):
            identified[list(places)] = -number
        return between(a, b, identified)

    def signs(self) -> list[Array]:
        """Return the signs that coordinates may take together."""
        found = [np.ones(len(self.low))]
        for places in self.either:
            flip = np.ones(len(self.low))
            flip[list(places)] = -1.0
            found += [flip * row for row in found]
        return found

    def copies(self, q: Array, angles: Sequence[bool], margin: Array) -> list[Array]:
        """Return the positions of a point in the box or near it, angles modulo a turn, quaternions of either sign."""
        return [copy for signs in self.signs() for copy in self._turned(signs * q, angles, margin)]

    def _turned(self, q: Array, angles: Sequence[bool], margin: Array) -> list[Array]:
        choices = []
        for j, value in enumerate(q):
            if not angles[j]:
                options = [value]
            else:
                first = np.ceil((self.low[j] - margin[j] - value) / TURN)
                last = np.floor((self.high[j] + margin[j] - value) / TURN)
                options = [value + TURN * turns for turns in np.arange(first, last + 1)]
            choices.append([x for x in options if self.low[j] - margin[j] <= x <= self.high[j] + margin[j]])
        return [np.array(place) for place in product(*choices)]


@dataclass(frozen=True, eq=False)
class Chain:
    """Pieces that hold one connected stretch of the curve.

    `ends` has for each free end ('singular', number), ('box', number of the coordinate) or ('open', 0); a chain without
    ends is closed.
    """

    pieces: list[int]
    ends: list[tuple[str, int]]


@dataclass(eq=False)
class BoxSearch:
    """Everything that was proved in a box."""

    domain: Domain
    pieces: list[BoxPiece] = field(default_factory=list)
    chains: list[Chain] = field(default_factory=list)
    balls: list[Ball] = field(default_factory=list)
    unresolved: list[tuple[Array, Array]] = field(default_factory=list)
    exhausted: bool = False
    boxes: int = 0
    lows: Array = field(default_factory=lambda: np.zeros((0, 0)))
    highs: Array = field(default_factory=lambda: np.zeros((0, 0)))
    images: list[Image] = field(default_factory=list)
    reach: tuple[Array, Array] = field(default_factory=lambda: (np.zeros(0), np.zeros(0)))

    @property
    def proved(self) -> bool:
        """Whether nothing is left open outside the balls."""
        return not self.unresolved and not self.exhausted

    def gather(self) -> None:
        """Stack the corners of the pieces, for many questions at once."""
        n = len(self.domain.low)
        self.lows = np.array([piece.low for piece in self.pieces]).reshape(-1, n)
        self.highs = np.array([piece.high for piece in self.pieces]).reshape(-1, n)
        turns = [(0.0, -TURN, TURN) if circle else (0.0,) for circle in self.domain.circles]
        self.images = [Image(signs, np.array(shift)) for signs in self.domain.signs() for shift in product(*turns)]
        if self.pieces:
            self.reach = self.lows.min(axis=0), self.highs.max(axis=0)

    def holding(self, low: Array, high: Array) -> list[tuple[int, Image]]:
        """Return (number, image) of the pieces that contain an image of a small box."""
        found: list[tuple[int, Image]] = []
        for image in self.images if self.pieces else ():
            a, b = image.of(low), image.of(high)
            a, b = np.minimum(a, b), np.maximum(a, b)
            if (a > self.reach[1]).any() or (b < self.reach[0]).any():
                continue
            slack = SEAM if image.shift.any() else 0.0
            inside = (self.lows <= a - slack).all(axis=1) & (self.highs >= b + slack).all(axis=1)
            found += [(int(number), image) for number in np.flatnonzero(inside)]
        return found


def subdivide(prover: Prover, domain: Domain, balls: Sequence[Ball], most: int) -> BoxSearch:
    """Return the search of a box: pieces that cover the curve in it, outside the balls."""
    search = BoxSearch(domain, balls=list(balls))
    smallest = SMALLEST * (domain.high - domain.low)
    stack = [(domain.low, domain.high)]
    start = prover.evaluated
    while stack:
        low, high = stack.pop()
        if any(ball.holds(low, high) for ball in balls) or _covered(search.pieces, low, high):
            continue
        if prover.evaluated - start >= most or len(search.unresolved) >= MOST_OPEN:
            search.exhausted = True
            break
        spend(1)
        verdict = prover.examine(low, high)
        if verdict.kind == "empty":
            continue
        if verdict.kind == "piece":
            assert verdict.piece is not None
            search.pieces.append(verdict.piece)
            continue
        if verdict.low is not None and verdict.high is not None:
            low, high = verdict.low, verdict.high
        if verdict.kind == "smaller":
            stack.append((low, high))
        elif (high - low <= smallest).all():
            search.unresolved.append((low, high))
        else:
            stack += _halves(low, high, verdict.where)
    search.boxes = prover.evaluated - start
    return search


def _covered(pieces: list[BoxPiece], low: Array, high: Array) -> bool:
    return any((piece.low <= low).all() and (piece.high >= high).all() for piece in pieces[-8:])


def _halves(low: Array, high: Array, where: int) -> list[tuple[Array, Array]]:
    if not low[where] < 0.5 * (low[where] + high[where]) < high[where]:
        where = int(np.argmax(high - low))
    # Off the middle, so that faces don't run through the symmetric poses of mechanisms.
    cut = low[where] + 0.4873 * (high[where] - low[where])
    upper, lower = low.copy(), high.copy()
    upper[where], lower[where] = cut, cut
    return [(upper, high), (low, lower)]


class _Links:
    """Pieces that hold the same curve, joined; and the ends at which no piece goes on."""

    def __init__(self, count: int) -> None:
        self.parents = list(range(count))

    def root(self, number: int) -> int:
        while self.parents[number] != number:
            self.parents[number] = self.parents[self.parents[number]]
            number = self.parents[number]
        return number

    def join(self, one: int, other: int) -> None:
        self.parents[self.root(other)] = self.root(one)


def link(prover: Prover, search: BoxSearch) -> None:
    """Join the pieces of a search to chains."""
    search.gather()
    links = _Links(len(search.pieces))
    boxes = [_ends_of(prover, piece) for piece in search.pieces]
    free: list[tuple[int, Array]] = []
    for number, ends in enumerate(boxes):
        for side, (low, high) in enumerate(ends):
            others = [(other, image) for other, image in search.holding(low, high) if other != number]
            for other, _ in others:
                links.join(number, other)
            middle = 0.5 * (low + high)
            out = middle - _middle(ends[1 - side]) if len(ends) == 2 else middle
            if len(ends) == 2 and not any(
                _goes_on(search.pieces[k], boxes[k], image.of(middle), image.signs * out) for k, image in others
            ):
                free.append((number, middle))
    domain, groups = search.domain, dict[int, Chain]()
    for number, ends in enumerate(boxes):
        low, high = ends[0]
        if len(ends) == 2 or bool(((high >= domain.low) & (low <= domain.high)).all()):
            groups.setdefault(links.root(number), Chain([], [])).pieces.append(number)
    _add_ends(search, links, groups, free)
    search.chains = list(groups.values())


def _ends_of(prover: Prover, piece: BoxPiece) -> list[tuple[Array, Array]]:
    """Return small boxes round the points where the curve leaves a piece; of a single point, that one."""
    if piece.along is None:
        return [prover.point(piece, None)]
    return [prover.point(piece, float(at[piece.along])) for at in (piece.low, piece.high)]


def _middle(box: tuple[Array, Array]) -> Array:
    return 0.5 * (box[0] + box[1])


def _goes_on(piece: BoxPiece, ends: Sequence[tuple[Array, Array]], q: Array, out: Array) -> bool:
    """Whether a piece that holds the point q carries the curve on from there in the direction `out`."""
    if piece.along is None:
        return True
    low, high, x = piece.low[piece.along], piece.high[piece.along], q[piece.along]
    margin = 1e-3 * (high - low)
    if low + margin < x < high - margin:
        return True
    # It begins or ends here itself: it goes on if the rest of it lies on the other side.
    far = _middle(ends[1] if x <= low + margin else ends[0])
    return bool((far - q) @ out > 0)


def _add_ends(search: BoxSearch, links: _Links, groups: dict[int, Chain], free: Sequence[tuple[int, Array]]) -> None:
    """Count each free end once: pieces side by side may hold the same stretch and end together."""
    kept: list[tuple[int, Array]] = []
    for number, q in free:
        piece = search.pieces[number]
        near = 0.05 * (piece.high - piece.low).max()
        chain = links.root(number)
        twin = any(other == chain and np.abs(search.domain.apart(place, q)).max() <= near for other, place in kept)
        if not twin:
            kept.append((chain, q))
            groups[chain].ends.append(_end(search, q))


def _end(search: BoxSearch, q: Array) -> tuple[str, int]:
    """Return what lies at the free end of a chain."""
    domain = search.domain
    for ball in search.balls:
        if (np.abs(domain.apart(ball.centre, q)) <= 1.3 * ball.radius).all():
            return "singular", ball.point
    outside = np.flatnonzero(((q < domain.low) | (q > domain.high)) & ~domain.circles)
    return ("box", int(outside[0])) if len(outside) else ("open", 0)
