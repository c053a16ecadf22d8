"""The parts of a linkage, as they were declared: plain frozen data, no coordinates yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Place: TypeAlias = tuple[Any, Any]


@dataclass(frozen=True)
class GroundPart:
    """A point that is fixed, or moved in a given way."""

    name: str
    x: Any
    y: Any


@dataclass(frozen=True)
class PointPart:
    """A point of the mechanism, free or carried by a bar at `fraction` of its length and `offset` to its left."""

    name: str
    mass: Any
    bar: tuple[str, str] | None = None
    fraction: Any = None
    offset: Any = None


@dataclass(frozen=True)
class Bar:
    """A rigid bar; `inertia` None means uniform, `mass` 0 means massless; `friction` rubs at the pins of its ends."""

    first: str
    second: str
    length: Any
    mass: Any
    inertia: Any
    fraction: Any
    offset: Any
    angle: str | None
    name: str
    friction: Any = None
    radius: Any = None

    @property
    def ends(self) -> tuple[str, str]:
        """The two points that it joins."""
        return self.first, self.second


@dataclass(frozen=True)
class String:
    """An inextensible string: the distance of its ends is at most its length."""

    first: str
    second: str
    length: Any
    restitution: Any
    name: str


@dataclass(frozen=True)
class Pin:
    """Two points that stay together; with friction, `between` two bodies that turn on each other at a radius."""

    first: str
    second: str
    name: str
    friction: Any = None
    radius: Any = None
    between: tuple[str, str] | None = None


@dataclass(frozen=True)
class Guide:
    """A point on the curve F = 0 (or kept where F >= 0), in its variables `x` and `y`."""

    point: str
    implicit: Any
    variables: Place
    normalized: bool
    unilateral: bool
    friction: Any
    restitution: Any
    name: str
    length: Any = None


@dataclass(frozen=True)
class BarSlider:
    """A point on the straight line through a bar."""

    point: str
    bar: tuple[str, str]
    friction: Any
    name: str


@dataclass(frozen=True)
class SpringPart:
    """A spring and damper between two points."""

    first: str
    second: str
    stiffness: Any
    length: Any
    damping: Any


@dataclass(frozen=True)
class Force:
    """A force at a point: two expressions, or a function of (x, y, vx, vy)."""

    point: str
    components: Place | Callable[..., Any]


@dataclass(frozen=True)
class Torque:
    """A torque on a bar."""

    bar: tuple[str, str]
    value: Any


Relation: TypeAlias = Bar | String | Pin | Guide | BarSlider
