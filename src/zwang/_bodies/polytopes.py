"""Contacts of polytopes (boxes, hulls, points): corners against the other's faces, edges against the other's edges.

A corner is outside where it is above one face at least, and the largest of these heights is its gap. Two edges meet
along the common perpendicular n of their lines, where n points out of both bodies and the lines come nearest between
their ends; faces that lie on each other touch with corners and where their edges cross. A box has twelve edges in three
directions, of which n chooses those that can touch, two in each direction. Everything is written in the frame of the
second body, in the symbols of the first one's place there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._bodies.closures import ALGEBRA
from zwang._bodies.layout import across
from zwang._bodies.parts import ShapePart
from zwang._bodies.picture import wires
from zwang._declare.body_tree import dependents_of, seen_from
from zwang._declare.shapes import Box, Hull, Sphere
from zwang._declare.symbols import dependent, rate
from zwang._declare.vectors import Vector, transposed
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
DEEP = 0.25
"""Part of the thinner body by which the other may reach beyond a face, or past an edge, where that face or edge still
keeps the two apart: no contact is so deep, and what reaches further is kept apart by others."""
BESIDE = 1e-8
"""Part of it by which a corner beside a face is still over it, where the face is not what keeps the two apart: the
corners of equal boxes that lie on each other."""
FLAT = 1e-6
"""Slope of faces at which they lie on each other, so that their edges cross."""
PARALLEL = 1e-6  # sine of the angle between edges below which they have no common perpendicular
TIE = 1.234e-9
"""What decides between edges of a box that are as near as each other."""
COPLANAR = 1e-9
"""By how much a corner of a hull may miss the plane of its face, relative to the size: places are doubles."""
EDGES = 200
"""Pairs of edges beyond which a contact is refused: each is a constraint with friction in a plane."""


class SolidFace(NamedTuple):
    """All places x of a solid have normal . x <= offset, in the frame of its body."""

    normal: Vector
    offset: Any


class SolidEdge(NamedTuple):
    """An edge of a solid in the frame of its body.

    Attributes
    ----------
    along, half, middle
        Its direction, half its length, its middle.
    rising : tuple of expressions
        What must not be positive where the edge is the outermost: the slopes of its two faces along a direction.
    """

    along: Vector
    half: Any
    middle: Vector
    rising: tuple[Any, ...]


class HullEdge(NamedTuple):
    """An edge of a hull: direction, half its length, its middle; its two faces, and the ways from it into them."""

    along: Vector
    half: Any
    middle: Vector
    faces: tuple[int, int]
    ways: tuple[Vector, Vector]


class TouchSymbols:
    """Symbols for what follows from places of bodies: expressions of them stay short, relations above all."""

    def __init__(self) -> None:
        self.defined: list[tuple[str, Any]] = []

    def __call__(self, expr: Any) -> Any:
        """Return a symbol for an expression; numbers and symbols stand for themselves."""
        if expr.is_number or expr.is_Symbol:
            return expr
        name = f"touch{len(self.defined) + 1}"
        self.defined.append((name, expr))
        return dependent(name)

    def vector(self, given: Vector) -> Vector:
        """Return a vector of symbols."""
        return self(given[0]), self(given[1]), self(given[2])


class Polytope:
    """A polytope in the frame of its body: corners, faces, and the edges that can touch something.

    Attributes
    ----------
    edges : int
        How many edges have to be looked at.
    """

    corners: list[Vector]
    faces: list[SolidFace]
    edges: int
    middle: Vector
    thickness: Any

    def direction(self, number: int) -> Vector:
        """Return the direction of an edge."""
        raise NotImplementedError  # pragma: no cover

    def edge(self, number: int, out: Vector, let: TouchSymbols) -> SolidEdge:
        """Return the edge that is outermost, or among the outermost, along a direction."""
        raise NotImplementedError  # pragma: no cover

    def reach(self, way: Vector) -> Any:
        """Return the least of way . x over the solid."""
        raise NotImplementedError  # pragma: no cover


class BoxPolytope(Polytope):
    """A box: of its four edges in a direction, two are looked at."""

    def __init__(self, shape: ShapePart) -> None:
        form, a = shape.form, ALGEBRA
        assert isinstance(form, Box)
        self.axes = transposed(shape.turned)
        self.halves = (form.a / 2, form.b / 2, form.c / 2)
        self.middle = shape.at
        self.corners = [a.add(shape.at, a.apply(shape.turned, corner)) for corner in wires(form)[0]]
        self.faces = []
        for axis, half in zip(self.axes, self.halves, strict=True):
            for normal in (axis, a.scale(sp.Integer(-1), axis)):
                self.faces.append(SolidFace(normal, a.dot(normal, shape.at) + half))
        self.thickness = sp.Min(form.a, form.b, form.c)
        self.edges = 6

    def direction(self, number: int) -> Vector:
        """Return one of its axes."""
        return self.axes[number // 2]

    def edge(self, number: int, out: Vector, let: TouchSymbols) -> SolidEdge:
        """Return the edge on the outer of the two faces that face `out` the more, at either end of the other axis."""
        a, i, sign = ALGEBRA, number // 2, 2 * (number % 2) - 1
        k, m = (i + 1) % 3, (i + 2) % 3
        along_k, along_m = let(a.dot(out, self.axes[k])), let(a.dot(out, self.axes[m]))
        mainly = let(sp.Heaviside(let(along_k**2 - along_m**2 + TIE)))
        # The sign along the other axis, often a zero that rounding turns, is not asked for.
        over_k = let(mainly * sp.sign(let(mainly * along_k + 1 - mainly)) + (1 - mainly) * sign)
        over_m = let(mainly * sign + (1 - mainly) * sp.sign(let((1 - mainly) * along_m + mainly)))
        middle = a.add(
            self.middle,
            a.scale(over_k * self.halves[k], self.axes[k]),
            a.scale(over_m * self.halves[m], self.axes[m]),
        )
        rising = let(-sign * (mainly * along_m + (1 - mainly) * along_k))
        return SolidEdge(self.axes[i], self.halves[i], let.vector(middle), (rising,))

    def reach(self, way: Vector) -> Any:
        """Return it from the middle and the halves."""
        a = ALGEBRA
        shares = (sp.Abs(a.dot(way, axis)) * half for axis, half in zip(self.axes, self.halves, strict=True))
        return a.dot(way, self.middle) - sp.Add(*shares)


class HullPolytope(Polytope):
    """A hull of places that are numbers."""

    def __init__(self, shape: ShapePart, where: str) -> None:
        places = _hull_places(shape, where)
        corners, planes = _hull(places, where)
        size = float(np.ptp(corners, axis=0).max())
        heights = corners @ planes[:, :3].T + planes[:, 3]
        self.corners = [_exact(corner) for corner in corners]
        self.faces = [SolidFace(_exact(plane[:3]), sp.Float(-plane[3])) for plane in planes]
        self.middle = _exact(corners.mean(axis=0))
        self.thickness = sp.Float(float(-heights.min(axis=0).max()))
        on = np.abs(heights) <= COPLANAR * size
        self.borders: list[HullEdge] = []
        for i, j in combinations(range(len(corners)), 2):
            (own,) = np.nonzero(on[i] & on[j])
            if len(own) == 2:
                ways = [_into(planes[face, :3], corners[i], corners[j], corners[on[:, face]]) for face in own]
                half = (corners[j] - corners[i]) / 2
                length = float(np.linalg.norm(half))
                along, middle = _exact(half / length), _exact(corners[i] + half)
                faces, (one, other) = (int(own[0]), int(own[1])), (_exact(way) for way in ways)
                self.borders.append(HullEdge(along, sp.Float(length), middle, faces, (one, other)))
        self.edges = len(self.borders)

    def direction(self, number: int) -> Vector:
        """Return it."""
        return self.borders[number].along

    def edge(self, number: int, out: Vector, let: TouchSymbols) -> SolidEdge:
        """Return the edge; where it is the outermost, its faces fall off along `out`."""
        own = self.borders[number]
        rising = tuple(let(ALGEBRA.dot(out, way)) for way in own.ways)
        return SolidEdge(own.along, own.half, own.middle, rising)

    def reach(self, way: Vector) -> Any:
        """Return the least over its corners."""
        return sp.Min(*(ALGEBRA.dot(way, corner) for corner in self.corners), evaluate=False)


class PointPolytope(Polytope):
    """A point: one corner, and nothing that could be thin."""

    def __init__(self, shape: ShapePart) -> None:
        self.corners, self.faces, self.edges = [shape.at], [], 0
        self.middle, self.thickness = shape.at, sp.oo

    def reach(self, way: Vector) -> Any:
        """Return way . x of the point."""
        return ALGEBRA.dot(way, self.middle)


def solid(shape: ShapePart, where: str) -> Polytope:
    """Return a Box, a Hull or a point as a solid in the frame of its body."""
    if isinstance(shape.form, Sphere):
        return PointPolytope(shape)
    return BoxPolytope(shape) if isinstance(shape.form, Box) else HullPolytope(shape, where)


def _hull_places(shape: ShapePart, where: str) -> Array:
    form, a = shape.form, ALGEBRA
    assert isinstance(form, Hull)
    places = [a.add(shape.at, a.apply(shape.turned, tuple(place))) for place in form.points if len(place) == 3]
    if len(places) < len(form.points) or not all(item.is_number for place in places for item in place):
        raise DeclarationError(
            f"{where}: the places of the Hull '{shape.name}' must be three numbers each, since its faces depend on "
            "them. Put the numbers in, or let it touch a HalfSpace, which needs its corners alone."
        )
    return np.array([[float(item) for item in place] for place in places])


def _hull(places: Array, where: str) -> tuple[Array, Array]:
    """Return the corners (k, 3) of a hull and its planes (f, 4), outward normals with n . x + d = 0."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        found = ConvexHull(places)
    except QhullError as error:
        raise DeclarationError(
            f"{where}: the {len(places)} places of the Hull lie in a plane, and only a solid can touch a Box or a "
            "Hull. Give at least four that don't."
        ) from error
    size = float(np.ptp(places, axis=0).max())
    planes: list[Array] = []
    for plane in found.equations:
        if not any(np.abs(plane - other).max() <= COPLANAR * max(size, 1.0) for other in planes):
            planes.append(plane)
    return places[sorted(found.vertices)], np.array(planes)


def _into(normal: Array, start: Array, end: Array, corners: Array) -> Array:
    """Return the unit vector in a face, across one of its edges, that points into it."""
    way: Array = np.cross(normal, end - start)
    way /= np.linalg.norm(way)
    return np.asarray(way * np.sign(way @ (corners.mean(axis=0) - start)))


def _exact(place: Array) -> Vector:
    x, y, z = (sp.Float(float(item)) for item in place)
    return x, y, z


class Touch(NamedTuple):
    """What can touch: its gap, the velocity of the first body against the second there, and where it exists."""

    gap: Any
    slip: tuple[Any, Any]
    where: Any = None


class PolytopePair:
    """Two solids, the first one seen from the frame of the second one's body."""

    def __init__(
        self, shapes: tuple[ShapePart, ShapePart], solids: tuple[Polytope, Polytope], let: TouchSymbols
    ) -> None:
        self.let = let
        self.first, self.second = solids
        self.at, self.turn = dependents_of(seen_from(shapes[0].on, shapes[1].on))
        self.back = transposed(self.turn)
        self.thin = sp.Min(self.first.thickness, self.second.thickness)

    def place(self, own: Vector) -> Vector:
        """Return a place of the first body's frame in that of the second one."""
        return ALGEBRA.add(self.at, ALGEBRA.apply(self.turn, own))

    def corners(self) -> Iterator[Touch]:
        """Yield the contacts of the corners of the first with the faces of the second."""
        a = ALGEBRA
        beside = []
        for face in self.second.faces:
            lowest = a.dot(face.normal, self.at) + self.first.reach(a.apply(self.back, face.normal)) - face.offset
            beside.append(self.let(BESIDE * self.thin * sp.Heaviside(self.let(-DEEP * self.thin - lowest))))
        ways = [across(face.normal) for face in self.second.faces]
        for corner in self.first.corners if ways else ():  # a point has no faces
            seen = self.place(corner)
            heights = [
                self.let(a.dot(face.normal, seen) - face.offset - less)
                for face, less in zip(self.second.faces, beside, strict=True)
            ]
            x, y, z = (rate(item) for item in seen)
            slips = [(a.dot(u, (x, y, z)), a.dot(v, (x, y, z))) for u, v in ways]
            yield Touch(*highest(heights, slips))

    def edges(self) -> Iterator[Touch]:
        """Yield the contacts of the edges of the first with those of the second."""
        for i in range(self.first.edges):
            for j in range(self.second.edges):
                yield self._crossing(i, j)

    def _crossing(self, i: int, j: int) -> Touch:
        a, thin, let = ALGEBRA, self.thin, self.let
        one, other = let.vector(a.apply(self.turn, self.first.direction(i))), self.second.direction(j)
        perpendicular = let.vector(a.cross(one, other))
        sine = let(a.dot(perpendicular, perpendicular))
        crossing = sine > PARALLEL**2
        square = let(sp.Piecewise((sine, crossing), (1, True)))  # parallel edges don't meet: any finite number will do
        apart = a.sub(self.place(self.first.middle), self.second.middle)
        side = let(sp.sign(let(a.dot(perpendicular, apart) + TIE * thin)) / sp.sqrt(square))
        normal = let.vector(a.scale(side, perpendicular))
        mine = self.first.edge(i, let.vector(a.apply(self.back, a.scale(sp.Integer(-1), normal))), let)
        yours = self.second.edge(j, normal, let)
        start = let.vector(a.sub(self.place(mine.middle), yours.middle))
        # Where the lines come nearest, from each middle, times `sine`: nearly parallel edges lose no digits so.
        t, u = (let(-a.dot(a.cross(start, way), perpendicular)) for way in (other, one))
        gap = let(a.dot(normal, start))
        ends = ((t, mine, yours), (u, yours, mine))
        inside = [s**2 < ((edge.half + BESIDE * thin * _over_the_end(other)) * sine) ** 2 for s, edge, other in ends]
        outermost = [item < FLAT for item in (*mine.rising, *yours.rising)]
        exists = sp.And(crossing, gap > -DEEP * thin, *inside, *outermost)
        touch = a.add(mine.middle, a.scale(let(t / square), mine.along))
        return Touch(gap, self._slip(touch, (one, a.cross(normal, one))), exists)

    def _slip(self, own: Vector, ways: tuple[Vector, Vector]) -> tuple[Any, Any]:
        """Return the velocity of a place of the first body against the second, along two directions."""
        a = ALGEBRA
        x, y, z = (rate(item) for item in self.at)
        p, q, r = (tuple(rate(item) for item in row) for row in self.turn)
        moving = a.add((x, y, z), a.apply((p, q, r), own))
        return a.dot(ways[0], moving), a.dot(ways[1], moving)


def _over_the_end(other: SolidEdge) -> Any:
    """Return -1 where an edge lies in a face of the other one, and 1 where it is steep over both of them, smoothly.

    Flat on the face, the corner at its end touches, and the edge only from there on. Over an edge, the corner comes
    free: the edge must not let go before it has passed.
    """
    steep = [slope**2 / (slope**2 + FLAT**2) for slope in other.rising]
    return 2 * sp.Mul(*steep) - 1


def highest(heights: Sequence[Any], slips: Sequence[tuple[Any, Any]]) -> tuple[Any, tuple[Any, Any]]:
    """Return the largest of some heights, symbols all of them, and the slips that go with it.

    All are chosen by the same relations, each height against the largest of the others, so that a motion takes note
    of a change of the face and of nothing else.
    """
    others = [sp.Max(*heights[:k], *heights[k + 1 :], evaluate=False) for k in range(len(heights) - 1)]
    relations = [sp.Ge(height, most, evaluate=False) for height, most in zip(heights[:-1], others, strict=True)]

    def chosen(values: Sequence[Any]) -> Any:
        return sp.Piecewise(*zip(values[:-1], relations, strict=True), (values[-1], True))

    return chosen(heights), (chosen([slip[0] for slip in slips]), chosen([slip[1] for slip in slips]))


def solids_touch(first: ShapePart, second: ShapePart, let: TouchSymbols, where: str) -> Iterator[Touch]:
    """Yield every contact of two solids."""
    solids = solid(first, where), solid(second, where)
    pairs = solids[0].edges * solids[1].edges
    if pairs > EDGES:
        raise DeclarationError(
            f"{where}: {pairs} pairs of edges could meet, and at most {EDGES} are looked at. Give hulls of fewer "
            "places, or several of them."
        )
    meeting = PolytopePair((first, second), solids, let)
    yield from meeting.corners()
    yield from PolytopePair((second, first), (solids[1], solids[0]), let).corners()
    yield from meeting.edges()
