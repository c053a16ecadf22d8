"""The parts of a mechanism in space as they were told: plain frozen data, no coordinates yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from zwang._declare.shapes import Form, Sphere
from zwang._declare.vectors import Matrix, Vector

KINDS: dict[str, tuple[str, ...]] = {
    "revolute": ("turn",),
    "prismatic": ("slide",),
    "cylindrical": ("turn", "slide"),
    "screw": ("screw",),
    "universal": ("turn", "turn"),
    "planar": ("slide", "slide", "turn"),
    "spherical": (),
    "fixed": (),
    "free": (),
}
"""What each coordinate of a kind of joint does; spherical and free ones have quaternions."""


@dataclass(frozen=True)
class JointPart:
    """A joint as it was told.

    Attributes
    ----------
    at : pair of vectors
        Where it stands: in the reference configuration twice, or in the frames of the two bodies (`local`).
    axes : pair of tuples of vectors
        Its axes, likewise.
    options : tuple of dicts
        For each coordinate what was given of limits, restitution, stiffness, rest, damping, friction, armature.
    radius, length : expression or None
        Of the journal of a revolute joint, and the distance of its two journals, or of the two guides of a prismatic
        one: its friction is then a coefficient, and goes with the force there.
    """

    kind: str
    name: str
    first: str
    second: str
    at: tuple[Vector, Vector]
    axes: tuple[tuple[Vector, ...], tuple[Vector, ...]]
    pitch: Any
    options: tuple[dict[str, Any], ...]
    closes: bool = False
    local: bool = False
    radius: Any = None
    length: Any = None

    @property
    def rough(self) -> bool:
        """Whether its friction goes with its own force, which then must be a multiplier."""
        return self.radius is not None or self.length is not None

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of its coordinates."""
        count = len(KINDS[self.kind])
        return (self.name,) if count == 1 else tuple(f"{self.name}_{i + 1}" for i in range(count))


@dataclass(frozen=True)
class BodyPoint:
    """A point of a body, in its own frame."""

    name: str
    on: str
    at: Vector


@dataclass(frozen=True)
class ShapePart:
    """A form on a body, at a place of its own frame."""

    name: str
    on: str
    form: Form
    at: Vector
    turned: Matrix


@dataclass(frozen=True)
class PointSpring:
    """A spring and damper between two points."""

    first: str
    second: str
    stiffness: Any
    length: Any
    damping: Any
    name: str


@dataclass(frozen=True)
class MotorPart:
    """A force or torque along a coordinate of a joint."""

    coordinate: str
    value: Any


@dataclass(frozen=True)
class PointForce:
    """A force at a point, in the axes of the ground or of its body."""

    point: str
    components: tuple[Any, Any, Any]
    axes: str
    name: str


@dataclass(frozen=True)
class ContactPart:
    """Two shapes that touch and don't overlap."""

    first: str
    second: str
    friction: Any
    restitution: Any
    name: str


@dataclass
class Told:
    """Everything that a builder was told, in its order."""

    bodies: dict[str, Any] = field(default_factory=dict)
    joints: dict[str, JointPart] = field(default_factory=dict)
    points: dict[str, BodyPoint] = field(default_factory=dict)
    shapes: dict[str, ShapePart] = field(default_factory=dict)
    springs: list[PointSpring] = field(default_factory=list)
    motors: list[MotorPart] = field(default_factory=list)
    forces: list[PointForce] = field(default_factory=list)
    contacts: dict[str, ContactPart] = field(default_factory=dict)
    relations: list[tuple[str, str]] = field(default_factory=list)

    def touching(self, name: str) -> ShapePart:
        """Return a shape by its name; a point is a ball without a radius."""
        if name in self.shapes:
            return self.shapes[name]
        point = self.points[name]
        one, zero = sp.Integer(1), sp.Integer(0)
        unturned = (one, zero, zero), (zero, one, zero), (zero, zero, one)
        return ShapePart(name, point.on, Sphere(zero), point.at, unturned)
