"""`CriticalValue`: a value of a parameter at which the configuration space becomes singular."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from zwang._results.base import Result
from zwang._results.storage import storable
from zwang._results.words import counted


@storable
class CriticalStatus(Enum):
    """What happens to the configuration space at a critical value, as the parameter grows."""

    JOIN = "Components of the configuration space join."
    SPLIT = "A component of the configuration space splits."
    APPEAR = "A component of the configuration space appears."
    VANISH = "A component of the configuration space vanishes."
    RECONNECT = "Branches reconnect; the number of components stays the same."
    KIND = "The space is singular on both sides too; the kind of the singular point changes."
    FOUND = "The space is singular at this value; it was not compared with its neighbours."


@storable
class CriticalSearch(Enum):
    """How far a search for critical values went."""

    SEARCHED = "The interval was searched from all starts, and every value compared with its neighbours."
    UNFINISHED = "A budget was spent before the search was done; see the reason."


class CriticalValues(list["CriticalValue"]):
    """What `critical` found: a list in the order of the values.

    Attributes
    ----------
    status : CriticalSearch
    reason : str
        The budget that was spent, in words; empty where none was.
    lasting : tuple of SingularRange
        Singular points that are there for a whole range of values. Critical on them is where the parameter turns (two
        of them meet), where their kind changes, and where another range crosses.
    """

    status: CriticalSearch = CriticalSearch.SEARCHED
    reason: str = ""
    lasting: tuple[SingularRange, ...] = ()


@storable
@dataclass(frozen=True)
class SingularRange:
    """A singular point that is there while the parameter goes through a range of values.

    Attributes
    ----------
    low, high : float
        The range, as far as `within` and the box reach.
    kind : str
        As in `trace`, at `value`.
    value : float
        A value between them.
    point : mapping
        The singular configuration there.
    """

    low: float
    high: float
    kind: str
    value: float
    point: Mapping[str, float]

    def __str__(self) -> str:
        at = ", ".join(f"{name} = {x:.6g}" for name, x in self.point.items() if name != "t" and name[:2] != "v_")
        return f"singular from {self.low:.12g} to {self.high:.12g}: {self.kind}, at {self.value:.6g} in {at}"


@storable
@dataclass(frozen=True)
class Shape:
    """The main numbers of a configuration space at one value of the parameter.

    Attributes
    ----------
    value : float
    arcs, components, singular_points : int
    kinds : tuple of str
        Of the singular points.
    euler : int or None
        The Euler characteristic, where the space is a surface.
    """

    value: float
    arcs: int
    components: int
    singular_points: int
    kinds: tuple[str, ...] = ()
    euler: int | None = None

    def __str__(self) -> str:
        if self.euler is not None:
            return f"{counted(self.components, 'component')}, Euler characteristic {self.euler}"
        return f"{counted(self.components, 'component')}, {counted(self.arcs, 'arc')}"


@storable
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CriticalValue(Result):
    """A value of a parameter at which the configuration space becomes singular.

    Attributes
    ----------
    parameter : str
    value : float
    points : tuple of mapping
        The singular configurations there: coordinates, velocities (zero) and t.
    kinds : tuple of str
        Of each of them, as in `trace`.
    before, at, after : Shape or None
        The space a little below the value, at it and a little above.
    change : str
        What changes, in a sentence.
    surgeries : tuple of str
        Of surfaces: what happens at each of the points, which may cancel in the whole.
    """

    status: CriticalStatus
    parameter: str
    value: float
    points: tuple[Mapping[str, float], ...]
    kinds: tuple[str, ...]
    before: Shape | None
    at: Shape | None
    after: Shape | None
    change: str
    surgeries: tuple[str, ...] = ()

    def _numbers(self) -> Mapping[str, Any]:
        return {"value": self.value, "points": [tuple(point.values()) for point in self.points]}

    def _check(self) -> str:
        return "" if self.points and len(self.kinds) == len(self.points) else "points and kinds don't go together"

    @property
    def point(self) -> Mapping[str, float]:
        """The first singular configuration."""
        return self.points[0]

    @property
    def kind(self) -> str:
        """The kind of the first singular configuration."""
        return self.kinds[0]

    def __repr__(self) -> str:
        names = [name for name in self.point if name != "t" and not name.startswith("v_")]
        at = ", ".join(f"{name} = {self.point[name]:.6g}" for name in names)
        more = f" and {counted(len(self.points) - 1, 'other point')}" if len(self.points) > 1 else ""
        return f"<{self.parameter} = {self.value:.12g}: {self.kind} at {at}{more}. {self.change}>"
