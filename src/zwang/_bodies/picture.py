"""The picture of a mechanism in space: bodies as bars between their joints and points, shapes as wires."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import sympy as sp

from zwang._bodies.closures import ALGEBRA, JointSides
from zwang._bodies.parts import ShapePart, Told
from zwang._declare.body_tree import GROUND, Tree
from zwang._declare.drawing import Drawing
from zwang._declare.shapes import Box, Capsule, Cylinder, Hull, Sphere
from zwang._declare.vectors import Vector

Ends = tuple[str, str]


def picture(told: Told, tree: Tree) -> Drawing | None:
    """Return the drawing; None where there is nothing to see."""
    painter = _Painter(told, tree)
    for part in told.joints.values():
        painter.joint(part)
    for point in told.points.values():
        painter.points[point.name] = painter.on(point.on, point.at)
        painter.held[point.on].append(point.name)
    for body in told.bodies:
        painter.body(body)
    for shape in told.shapes.values():
        painter.shape(shape)
    springs = [(spring.first, spring.second) for spring in told.springs]
    ground = [name for name in painter.held[GROUND] if name in painter.points]
    if not painter.points:
        return None
    return Drawing(
        painter.points,
        bars=painter.bars,
        springs=springs,
        ground=ground,
        bodies=painter.balls,
        traces=tuple(point.name for point in told.points.values() if point.on != GROUND),
    )


def known_part(drawing: Drawing, known: set[str]) -> Drawing:
    """Return a picture without the points that stand on parameters which the equations don't have."""
    lost = {
        name
        for name, place in drawing.points.items()
        if not {symbol.name for item in place for symbol in item.free_symbols} <= known
    }
    kept: dict[str, Any] = {"points": {name: at for name, at in drawing.points.items() if name not in lost}}
    for what in ("bars", "springs"):
        kept[what] = tuple(ends for ends in getattr(drawing, what) if not lost & set(ends))
    for what in ("ground", "traces"):
        kept[what] = tuple(name for name in getattr(drawing, what) or () if name not in lost)
    return replace(drawing, **kept) if lost else drawing


class _Painter:
    def __init__(self, told: Told, tree: Tree) -> None:
        self.told, self.tree = told, tree
        self.points: dict[str, Vector] = {}
        self.bars: list[Ends] = []
        self.balls: dict[str, Any] = {}
        self.held: dict[str, list[str]] = {name: [] for name in (GROUND, *told.bodies)}

    def on(self, body: str, local: Vector) -> Vector:
        if body == GROUND:
            return local
        r, axes = self.tree.place_of(body)
        return ALGEBRA.add(r, ALGEBRA.apply(axes, local))

    def joint(self, part: Any) -> None:
        first, second = JointSides(self.tree, part).points
        if part.second == GROUND:
            self.points[part.name] = first
        else:
            self.points[part.name] = second
        self.held[part.first].append(part.name)
        self.held[part.second].append(part.name)

    def body(self, body: str) -> None:
        """Draw a body from one of its places to the next; one that has a single place, from its centre of mass."""
        places = self.held[body]
        shaped = any(shape.on == body for shape in self.told.shapes.values())
        if len(places) < 2 or any(spring_end == body for s in self.told.springs for spring_end in (s.first, s.second)):
            self.points[body] = self.tree.place_of(body)[0]
            places = [body, *places] if not shaped else []
        self.bars += list(pairwise(places))

    def shape(self, part: ShapePart) -> None:
        form = part.form
        if isinstance(form, Sphere):
            self.balls[part.name] = (form, self.on(part.on, part.at), sp.Integer(0))
            return
        corners, edges = wires(form)
        names = [f"{part.name} {i + 1}" for i in range(len(corners))]
        for name, corner in zip(names, corners, strict=True):
            local = ALGEBRA.add(part.at, ALGEBRA.apply(part.turned, corner))
            self.points[name] = self.on(part.on, local)
            if part.on == GROUND:
                self.held[GROUND].append(name)
        self.bars += [(names[i], names[j]) for i, j in edges]


def wires(form: Any) -> tuple[list[Vector], list[tuple[int, int]]]:
    """Return corners and edges that show a form; none for those without an end."""
    if isinstance(form, Box):
        sides = (form.a, form.b, form.c)
        signs = list(product((-1, 1), repeat=3))
        corners = [tuple(s * side / 2 for s, side in zip(sign, sides, strict=True)) for sign in signs]
        edges = [
            (i, j)
            for i, first in enumerate(signs)
            for j, second in enumerate(signs)
            if i < j and sum(a != b for a, b in zip(first, second, strict=True)) == 1
        ]
        return corners, edges
    if isinstance(form, Cylinder):
        return _ring(form)
    if isinstance(form, Capsule):
        zero = sp.Integer(0)
        return [(-form.length / 2, zero, zero), (form.length / 2, zero, zero)], [(0, 1)]
    if isinstance(form, Hull):
        count = len(form.points)
        return [tuple(item) for item in form.points], [(i, j) for i in range(count) for j in range(i)]
    return [], []


def _ring(form: Cylinder) -> tuple[list[Vector], list[tuple[int, int]]]:
    """Return two rings of eight corners each about the z axis, and the lines that join them."""
    around = [(sp.cos(k * sp.pi / 4), sp.sin(k * sp.pi / 4)) for k in range(8)]
    ends = (-form.length / 2, form.length / 2)
    corners = [(form.radius * c, form.radius * s, z) for z in ends for c, s in around]
    edges = [(base + k, base + (k + 1) % 8) for base in (0, 8) for k in range(8)]
    return corners, [*edges, *((k, k + 8) for k in range(8))]
