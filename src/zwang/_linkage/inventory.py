"""The parts of one linkage by name, and the lookups with their messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zwang._linkage.parts import Bar, Force, GroundPart, Pin, PointPart, Relation, SpringPart, Torque
from zwang._linkage.values import check_name
from zwang.errors import DeclarationError, nearest


class Inventory:
    """What a linkage is made of, in the order of declaration: a bar after its ends, a carried point after its bar."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ground: dict[str, GroundPart] = {}
        self.points: dict[str, PointPart] = {}
        self.bars: dict[tuple[str, str], Bar] = {}
        self.relations: dict[str, Relation] = {}
        self.springs: list[SpringPart] = []
        self.forces: list[Force] = []
        self.torques: list[Torque] = []

    @property
    def where(self) -> str:
        """How messages start."""
        return f"Linkage '{self.name}'"

    @property
    def pins(self) -> list[Pin]:
        """The pins."""
        return [item for item in self.relations.values() if isinstance(item, Pin)]

    def new_point(self, name: str) -> None:
        """Refuse the name of a point that is no name, or taken."""
        check_name(name, f"{self.where}: the name of a point")
        if name in self.ground or name in self.points:
            raise DeclarationError(f"{self.where}: there is a point '{name}' already.")

    def known_point(self, name: str, where: str) -> None:
        """Refuse a point that was not declared."""
        if name not in self.ground and name not in self.points:
            known = [*self.ground, *self.points]
            raise DeclarationError(f"{where}: there is no point '{name}'. {nearest(str(name), known)}")

    def two_points(self, first: str, second: str, where: str) -> None:
        """Refuse anything but two different points that were declared."""
        self.known_point(first, where)
        self.known_point(second, where)
        if first == second:
            raise DeclarationError(f"{where}: it joins the point '{first}' to itself. Name two points.")

    def bar(self, ends: Sequence[str], where: str) -> Bar:
        """Return the bar between two points, in either order."""
        given: Any = tuple(ends)
        found = self.bars.get(given) or self.bars.get(given[::-1])
        if found is None:
            listed = ", ".join("-".join(item) for item in list(self.bars)[:8]) or "none"
            raise DeclarationError(f"{where}: there is no bar between {given}. Bars: {listed}.")
        return found

    def relate(self, relation: Relation) -> None:
        """Add a part that may leave a constraint."""
        if relation.name in self.relations:
            raise DeclarationError(
                f"{self.where}: two parts are called '{relation.name}'. Give one of them its own name=."
            )
        self.relations[relation.name] = relation
        if isinstance(relation, Bar):
            self.bars[relation.ends] = relation
