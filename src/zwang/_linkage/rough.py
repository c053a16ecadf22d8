"""Bars that rub on what they are pinned to: each such end becomes a point of its own, joined by a rough pin.

Where two bars share a point, no constraint has the force between them as its multiplier. So the end of a rough bar is
taken off that point and pinned to it again: the two multipliers of the pin are the bearing force, of a massless bar
too, whose friction at both ends adds the transverse force (M_1 + M_2)/length to the one along it.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from zwang._linkage.inventory import Inventory
from zwang._linkage.parts import Bar, BarSlider, Guide, Pin, PointPart
from zwang.errors import DeclarationError

GROUND = "ground"
BLOCK = "block"
"""What slides along a straight guide, and doesn't turn."""


def bodies_at(parts: Inventory, point: str) -> list[str]:
    """Return what meets in a point: names of bars that end there or carry it, 'ground', 'block'."""
    carrier = parts.points[point].bar if point in parts.points else None
    found = [bar.name for bar in parts.bars.values() if point in bar.ends or bar.ends == carrier]
    if point in parts.ground:
        found.append(GROUND)
    guided = any(isinstance(item, Guide) and item.point == point for item in parts.relations.values())
    return [*found, BLOCK] if guided and carrier is None else found


def with_rough_ends(parts: Inventory) -> Inventory:
    """Return the parts with the ends of rough bars as points of their own, pinned where they were."""
    rough = [bar for bar in parts.bars.values() if bar.friction is not None]
    if not rough:
        return parts
    changed: dict[tuple[str, str], list[str]] = {bar.ends: list(bar.ends) for bar in parts.bars.values()}
    pins: list[Pin] = []
    done: dict[str, Bar] = {}
    for bar in rough:
        for side, point in enumerate(bar.ends):
            others = [name for name in bodies_at(parts, point) if name != bar.name]
            if not others:
                continue  # a point alone has nothing to turn on
            if len(others) > 1:
                raise DeclarationError(
                    f"{parts.where}: bar '{bar.name}' is rough and meets {', '.join(others)} in '{point}': it is not "
                    "said which of them it turns on. Give each its own point, join them with pin(...), and say "
                    "pin(..., friction=, radius=, between=('bar', 'bar'))."
                )
            if point in done:  # the other bar is rough too: one pin lies between them
                _require_same(parts, done[point], bar, point)
                continue
            done[point] = bar
            new = _free_name(parts, f"{point}_{bar.first}{bar.second}")
            changed[bar.ends][side] = new
            label = f"{bar.name} at {point}"
            pins.append(Pin(point, new, label, bar.friction, bar.radius, (others[0], bar.name)))
        if not any(done.get(point) is bar or point in done for point in bar.ends):
            raise DeclarationError(
                f"{parts.where}: bar '{bar.name}' is rough and neither of its ends meets another bar, a slider or the "
                "ground: nothing turns there. Leave friction= out."
            )
    return _rewritten(parts, {ends: (new[0], new[1]) for ends, new in changed.items()}, pins)


def _require_same(parts: Inventory, first: Bar, second: Bar, point: str) -> None:
    if (first.friction, first.radius) != (second.friction, second.radius):
        raise DeclarationError(
            f"{parts.where}: the bars '{first.name}' and '{second.name}' meet in '{point}' with friction "
            f"{first.friction} at the radius {first.radius} and {second.friction} at {second.radius}: one pin has one "
            "of each. Give both the same, or friction= to one of them."
        )


def _free_name(parts: Inventory, name: str) -> str:
    while name in parts.points or name in parts.ground:
        name += "_"
    return name


def _rewritten(parts: Inventory, ends: dict[tuple[str, str], tuple[str, str]], pins: list[Pin]) -> Inventory:
    """Return the parts with bars between other points, and pins that join these to the old ones."""
    made = Inventory(parts.name)
    made.ground, made.springs, made.forces = parts.ground, parts.springs, parts.forces
    for name, item in parts.points.items():
        made.points[name] = item if item.bar is None else replace(item, bar=ends[item.bar])
        if item.bar is None:
            for pin in pins:
                if pin.first == name:
                    made.points[pin.second] = replace(item, name=pin.second, mass=0)
    for pin in pins:
        if pin.second not in made.points:
            made.points = {pin.second: _massless(pin.second), **made.points}
    for relation in parts.relations.values():
        if isinstance(relation, Bar):
            first, second = ends[relation.ends]
            made.relate(replace(relation, first=first, second=second))
        elif isinstance(relation, BarSlider):
            made.relate(replace(relation, bar=ends[relation.bar]))
        else:
            made.relate(relation)
    for pin in pins:
        made.relate(pin)
    made.torques = [replace(torque, bar=ends[torque.bar]) for torque in parts.torques]
    return made


def _massless(name: str) -> PointPart:
    return PointPart(name, sp.Integer(0))
