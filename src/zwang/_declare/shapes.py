"""Forms of bodies, as data: `zw.shapes`.

Lengths are expressions (or texts) of parameters [m]. In a planar picture a form is seen along the z axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._declare.given import components
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
ROUND = 48
"""Corners of a circle in a picture."""


@dataclass(frozen=True)
class Form:
    """A form; made by one of its kinds."""

    def lengths(self) -> dict[str, Any]:
        """Return what it is made of, by name."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def expressions(self) -> list[Any]:
        """Return the expressions it is made of, in a row."""
        return list(self.lengths().values())

    def map(self, change: Callable[[Any, str], Any]) -> Form:
        """Return the same form with every expression changed; the function gets it and where it stands."""
        return type(self)(**{name: change(value, name) for name, value in self.lengths().items()})

    def outline(self, number: Callable[[Any], float]) -> Array:
        """Return its closed outline (k, 2) in the plane, with numbers for its expressions."""
        raise NotImplementedError  # pragma: no cover


@dataclass(frozen=True)
class Sized(Form):
    """A form that is made of lengths; those that are numbers are looked at when it is made."""

    def __post_init__(self) -> None:
        for name, value in self.lengths().items():
            if isinstance(value, (int, float, np.number)) or getattr(value, "is_number", False) is True:
                size = complex(value)
                if size.imag == 0 and 0 <= size.real < math.inf:
                    continue
                raise DeclarationError(
                    f"{type(self).__name__}: {name} is {value!r:.60}, a length; needed a finite number, at least zero, "
                    "or an expression of parameters."
                )


@dataclass(frozen=True)
class Sphere(Sized):
    """A ball; in the plane a disc.

    Examples
    --------
    >>> float(Sphere(2).outline(float).max())
    2.0
    """

    radius: Any

    def outline(self, number: Callable[[Any], float]) -> Array:
        """Return a circle."""
        angle = np.linspace(0, 2 * np.pi, ROUND + 1)
        return number(self.radius) * np.stack([np.cos(angle), np.sin(angle)], axis=1)


@dataclass(frozen=True)
class Box(Sized):
    """A box of edge lengths a, b, c along x, y, z, its middle in the origin; in the plane a rectangle.

    Examples
    --------
    >>> Box(2, 1).outline(float).tolist()
    [[-1.0, -0.5], [1.0, -0.5], [1.0, 0.5], [-1.0, 0.5], [-1.0, -0.5]]
    """

    a: Any
    b: Any
    c: Any = 0

    def outline(self, number: Callable[[Any], float]) -> Array:
        """Return a rectangle."""
        signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
        return 0.5 * signs * [number(self.a), number(self.b)]


@dataclass(frozen=True)
class Capsule(Sized):
    """All places within a radius of a piece of the x axis of this length, its middle in the origin.

    Examples
    --------
    >>> Capsule(1, 2).outline(float).max(axis=0).round(12).tolist()
    [2.0, 1.0]
    """

    radius: Any
    length: Any

    def outline(self, number: Callable[[Any], float]) -> Array:
        """Return two half circles joined by lines."""
        angle = np.linspace(-np.pi / 2, np.pi / 2, ROUND // 2 + 1)
        arc = number(self.radius) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        right = arc + np.array([number(self.length) / 2, 0.0])
        return np.concatenate([right, -right, right[:1]])


@dataclass(frozen=True)
class Hull(Form):
    """The convex hull of places.

    Examples
    --------
    >>> Hull([(0, 0), (1, 0), (0, 1), (0.1, 0.1)]).outline(float).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """

    points: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        places = tuple(tuple(components(place) or ()) for place in components(self.points) or ())
        if len(places) < 3 or any(len(place) not in (2, 3) for place in places):
            raise DeclarationError("Hull: at least three places of two or three components are needed.")
        object.__setattr__(self, "points", places)

    def expressions(self) -> list[Any]:
        """Return all components in a row."""
        return [item for place in self.points for item in place]

    def map(self, change: Callable[[Any, str], Any]) -> Hull:
        """Return the hull with every component changed."""
        return Hull([[change(item, f"points[{k}]") for item in place] for k, place in enumerate(self.points)])

    def outline(self, number: Callable[[Any], float]) -> Array:
        """Return its corners in the plane, from the lowest of the leftmost on."""
        from scipy.spatial import ConvexHull

        places = np.array([[number(item) for item in place[:2]] for place in self.points])
        order = ConvexHull(places).vertices
        order = np.roll(order, -int(np.lexsort(places[order].T[::-1])[0]))
        return places[[*order, order[0]]]


@dataclass(frozen=True)
class Cylinder(Sized):
    """A cylinder about the z axis of this length, its middle in the origin; in the plane a disc.

    Examples
    --------
    >>> float(Cylinder(2, 1).outline(float).max())
    2.0
    """

    radius: Any
    length: Any

    def outline(self, number: Callable[[Any], float]) -> Array:
        """Return a circle: it is seen along its axis."""
        return Sphere(self.radius).outline(number)


@dataclass(frozen=True)
class HalfSpace(Form):
    """All places x with normal . x <= offset: a floor, a wall.

    Examples
    --------
    >>> HalfSpace((0, 0, 1)).offset
    0
    """

    normal: Sequence[Any]
    offset: Any = 0

    def __post_init__(self) -> None:
        normal = tuple(components(self.normal) or ())
        if len(normal) != 3:
            raise DeclarationError(
                f"HalfSpace: the normal must have three components; it was given {self.normal!r:.60}."
            )
        if all(item == 0 for item in normal):
            raise DeclarationError("HalfSpace: the normal has length zero. Give a direction, such as (0, 0, 1).")
        object.__setattr__(self, "normal", normal)

    def expressions(self) -> list[Any]:
        """Return the components of the normal and the offset in a row."""
        return [*self.normal, self.offset]

    def map(self, change: Callable[[Any, str], Any]) -> HalfSpace:
        """Return it with every expression changed."""
        return HalfSpace([change(item, "normal") for item in self.normal], change(self.offset, "offset"))


@dataclass(frozen=True)
class Implicit(Form):
    """All places where an expression of x, y, z is at most zero, such as ``"x**2 + y**2 - z"``."""

    expr: Any


FORMS: dict[str, type[Form]] = {
    "sphere": Sphere,
    "box": Box,
    "capsule": Capsule,
    "hull": Hull,
    "cylinder": Cylinder,
    "halfspace": HalfSpace,
    "implicit": Implicit,
}
"""Their keys in model files."""
