"""The constraints of a system as numbers: where each has its normal, its slips and its friction law."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.symbols import t as time
from zwang._declare.system import System


@dataclass(frozen=True)
class Place:
    """One constraint.

    Attributes
    ----------
    name : str
    kind : {'bilateral', 'unilateral', 'friction'}
    level : {'position', 'velocity'}
        Of a constraint with a normal.
    normal : int
        Number of its normal, -1 without one.
    slips : tuple of int
        Numbers of the components of its slip.
    law : int
        Number of its friction law, -1 without one.
    timeless : bool
        Whether explicit time occurs neither in its expression nor in its slip.
    """

    name: str
    kind: str
    level: str
    normal: int
    slips: tuple[int, ...]
    law: int
    timeless: bool

    @property
    def one_sided(self) -> bool:
        """Whether it can be open."""
        return self.kind == "unilateral"


@dataclass(frozen=True)
class ConstraintTable:
    """All constraints in their order, and the way back from normals and laws to them."""

    places: tuple[Place, ...]

    @staticmethod
    def of(system: System) -> ConstraintTable:
        """Return the table of a system, made once."""
        return _table(system)

    @classmethod
    def made(cls, system: System) -> ConstraintTable:
        """Return the table of a system."""
        places, normal, slip, law = [], 0, 0, 0
        for item in system.constraints:
            free = isinstance(item, Friction)
            kind = "friction" if free else "bilateral" if isinstance(item, Bilateral) else "unilateral"
            level = "velocity" if isinstance(item, Friction) else item.level
            slips = tuple(range(slip, slip + len(item.slip)))
            given = [*item.slip] if isinstance(item, Friction) else [item.expr, *item.slip]
            timeless = not any(expr.has(time) for expr in given)
            numbers = (-1 if free else normal, slips, law if item.slip else -1)
            places.append(Place(str(item.name), kind, level, *numbers, timeless))
            normal += not free
            slip += len(item.slip)
            law += bool(item.slip)
        return cls(tuple(places))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names in their order."""
        return tuple(place.name for place in self.places)

    @cached_property
    def smooth(self) -> bool:
        """Whether all constraints hold both ways without friction: then there is one mode."""
        return all(place.kind == "bilateral" and place.law < 0 for place in self.places)

    def of_normal(self, normal: int) -> int:
        """Return the number of the constraint that has this normal."""
        return next(i for i, place in enumerate(self.places) if place.normal == normal)

    def of_law(self, law: int) -> int:
        """Return the number of the constraint that has this friction law."""
        return next(i for i, place in enumerate(self.places) if place.law == law)


@lru_cache(maxsize=256)
def _table(system: System) -> ConstraintTable:
    return ConstraintTable.made(system)
