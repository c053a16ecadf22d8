"""Where the points of a linkage are and how they move, in Cartesian or in joint coordinates.

Cartesian: each free point B has x_B and y_B. Joint: the mechanism is spanned from the ground along bars and pins; each
bar that leads to a new point has its absolute angle, and what is left of bars and pins closes loops.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from zwang._declare.symbols import Coordinate, coordinates, rate
from zwang._linkage.inventory import Inventory
from zwang._linkage.parts import Bar, Place
from zwang._linkage.plane_vectors import Vector
from zwang.errors import DeclarationError


@dataclass
class JointLayout:
    """Where all points are, and how fast, in the coordinates.

    Attributes
    ----------
    spins : mapping
        Ends of a bar -> its angular velocity, for the bars that have an angle.
    spanning : set
        Ends of the bars, and names of the pins, that hold by the choice of coordinates: no constraint is left of them.
    closures : list
        (name, x or y, expression): points that two bars of the spanning tree would place differently.
    """

    coordinates: tuple[Coordinate, ...]
    vectors: dict[str, Vector] = field(default_factory=dict)
    spins: dict[tuple[str, str], Any] = field(default_factory=dict)
    spanning: set[Any] = field(default_factory=set)
    closures: list[tuple[str, str, Any]] = field(default_factory=list)

    def position(self, name: str) -> Place:
        """Return where a point is, as two expressions."""
        return self.vectors[name].position

    def velocity(self, name: str) -> Place:
        """Return how fast a point is, as two expressions."""
        return self.vectors[name].velocity

    def difference(self, first: str, second: str) -> Place:
        """Return the vector from the first point to the second."""
        (xa, ya), (xb, yb) = self.position(first), self.position(second)
        return xb - xa, yb - ya

    def closing_velocity(self, first: str, second: str) -> Place:
        """Return the velocity of the second point as seen from the first."""
        (ua, va), (ub, vb) = self.velocity(first), self.velocity(second)
        return ub - ua, vb - va

    def on_bar(self, bar: Bar, fraction: Any, offset: Any) -> Vector:
        """Return a place on a bar from its two ends: linear in them, so that masses stay constant."""
        start = self.vectors[bar.first]
        return start.plus(self.vectors[bar.second].minus(start), fraction, offset / bar.length)


def cartesian(parts: Inventory) -> JointLayout:
    """Return the layout in which every free point has its own x and y."""
    free = [item.name for item in parts.points.values() if item.bar is None]
    if not free:
        raise DeclarationError(f"{parts.where} has no point that can move. Add one with point(...).")
    q, v = coordinates([f"{axis}_{name}" for name in free for axis in ("x", "y")])
    layout = _with_ground(parts, q)
    for i, name in enumerate(free):
        layout.vectors[name] = Vector((q[2 * i], q[2 * i + 1]), (v[2 * i], v[2 * i + 1]))
    # A carried point is declared after its bar, and a bar after its ends: the order of declaration is enough.
    for item in parts.points.values():
        if item.bar is not None:
            layout.vectors[item.name] = layout.on_bar(parts.bars[item.bar], item.fraction, item.offset)
    return layout


def joint(parts: Inventory) -> JointLayout:
    """Return the layout whose coordinates are the absolute angles of the bars of a spanning tree."""
    steps = _span(parts)
    angled = {step.bar: step.base for step in steps if isinstance(step, _Turn)}
    listed = [bar for bar in parts.bars.values() if bar in angled]
    if not listed:
        raise DeclarationError(
            f"{parts.where} has no bar that can turn, so it has no joint coordinates. Use coordinates='cartesian'."
        )
    names = [bar.angle or f"theta_{_far_end(bar, angled[bar])}" for bar in listed]
    # What a rough pin leads to has places of its own: the pin's constraints have its force as their multipliers.
    floating = [f"{axis}_{step.new}" for step in steps if isinstance(step, _Float) for axis in ("x", "y")]
    q, v = coordinates([*names, *floating], angles=names)
    layout = _with_ground(parts, q)
    own = {item.name: (item, speed) for item, speed in zip(q, v, strict=True)}
    angles = dict(zip(listed, q[: len(listed)], strict=True))
    for step in steps:
        if isinstance(step, _Join):
            layout.vectors[step.new] = layout.vectors[step.base]
            layout.spanning.add(step.pin)
        elif isinstance(step, _Float):
            (x, u), (y, v) = own[f"x_{step.new}"], own[f"y_{step.new}"]
            layout.vectors[step.new] = Vector((x, y), (u, v))
        elif isinstance(step, _Turn):
            _turn(layout, parts, step, angles[step.bar])
        else:
            _close(layout, parts, step.bar)
    return layout


# --- spanning the mechanism from the ground --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Turn:
    """A bar that is reached at one of its points and has an angle."""

    bar: Bar
    base: str


@dataclass(frozen=True)
class _Close:
    """A bar both of whose ends are reached already."""

    bar: Bar


@dataclass(frozen=True)
class _Join:
    """A point that is reached because it is pinned to one that was."""

    new: str
    base: str
    pin: str


@dataclass(frozen=True)
class _Float:
    """A point that is reached through a rough pin: it has coordinates of its own."""

    new: str


def _span(parts: Inventory) -> list[_Turn | _Close | _Join | _Float]:
    """Return the steps that reach every point from the ground, nearest points and earlier bars first."""
    carried: dict[tuple[str, str], list[str]] = {ends: [] for ends in parts.bars}
    for point in parts.points.values():
        if point.bar is not None:
            carried[point.bar].append(point.name)
    touching: dict[str, list[Bar]] = {name: [] for name in (*parts.ground, *parts.points)}
    for bar in parts.bars.values():
        for name in (*bar.ends, *carried[bar.ends]):
            touching[name].append(bar)
    pinned: dict[str, list[tuple[str, str]]] = {}
    for item in parts.pins:
        pinned.setdefault(item.first, []).append((item.second, item.name))
        pinned.setdefault(item.second, []).append((item.first, item.name))
    known, done = set(parts.ground), set()
    queue = deque(parts.ground)
    steps: list[_Turn | _Close | _Join | _Float] = []
    rough = {item.name for item in parts.pins if item.friction is not None}

    def reach(names: Iterable[str]) -> None:
        for name in names:
            if name not in known:
                known.add(name)
                queue.append(name)

    while queue:
        base = queue.popleft()
        for partner, pin in pinned.get(base, ()):
            if partner not in known:
                steps.append(_Float(partner) if pin in rough else _Join(partner, base, pin))
                reach([partner])
        for bar in touching[base]:
            if bar in done:
                continue
            done.add(bar)
            steps.append(_Close(bar) if known.issuperset(bar.ends) else _Turn(bar, base))
            reach((*bar.ends, *carried[bar.ends]))
    lost = [name for name in parts.points if name not in known]
    if lost:
        raise DeclarationError(
            f"{parts.where}: the point '{lost[0]}' is not joined to the ground by bars and pins, so it has no "
            "place in joint coordinates. Join it with bar(...), or use coordinates='cartesian'."
        )
    return steps


def _far_end(bar: Bar, base: str) -> str:
    return bar.first if base == bar.second else bar.second


# --- positions -------------------------------------------------------------------------------------------------------


def _with_ground(parts: Inventory, q: tuple[Coordinate, ...]) -> JointLayout:
    ground = {item.name: Vector((item.x, item.y), (rate(item.x), rate(item.y))) for item in parts.ground.values()}
    return JointLayout(q, ground)


def _local(parts: Inventory, bar: Bar, name: str) -> Place:
    """Return where a point of a bar is in the frame of the bar: along it, and to its left [m]."""
    if name == bar.first:
        return sp.Integer(0), sp.Integer(0)
    if name == bar.second:
        return bar.length, sp.Integer(0)
    item = parts.points[name]
    return item.fraction * bar.length, item.offset


def _members(parts: Inventory, bar: Bar) -> list[str]:
    return [*bar.ends, *(item.name for item in parts.points.values() if item.bar == bar.ends)]


def _turn(layout: JointLayout, parts: Inventory, step: _Turn, angle: Coordinate) -> None:
    """Place the points of a bar that turns about one of them."""
    bar, base = step.bar, layout.vectors[step.base]
    layout.spins[bar.ends] = angle.velocity
    layout.spanning.add(bar.ends)
    zero = (sp.Integer(0), sp.Integer(0))
    a0, b0 = _local(parts, bar, step.base)
    for name in _members(parts, bar):
        if name != step.base:
            a, b = _local(parts, bar, name)
            _place_or_close(layout, bar, name, base.plus(Vector(zero, zero, {angle: (a - a0, b - b0)})))


def _close(layout: JointLayout, parts: Inventory, bar: Bar) -> None:
    """Place the carried points of a bar whose ends are both known."""
    for name in _members(parts, bar)[2:]:
        item = parts.points[name]
        _place_or_close(layout, bar, name, layout.on_bar(bar, item.fraction, item.offset))


def _place_or_close(layout: JointLayout, bar: Bar, name: str, vector: Vector) -> None:
    if name not in layout.vectors:
        layout.vectors[name] = vector
        return
    gap = layout.vectors[name].minus(vector).position
    layout.closures += [(f"{name} on {bar.name}", axis, gap[i]) for i, axis in enumerate(("x", "y"))]
