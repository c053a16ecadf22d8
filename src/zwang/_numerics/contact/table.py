"""The constraints of a system as numbers: one line per law, made once.

A line has a side, a level, the number of its normal row and of its law, its slip rows, and the normals whose resultant
its friction goes with: its own for Coulomb's law, none where the bound is given. Several lines may name one normal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.law import LawRows
from zwang._numerics.contact.modes import Level, Side

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
NO_LAW = LawRows((-1, -1))
MOST_SETS = 1024  # of lines that are kept for one table: a few hundred bytes each


@dataclass(frozen=True)
class ContactPlace:
    """One line of the table, for people and for loops in Python.

    Attributes
    ----------
    name : str
    side : Side
    level : Level
        Of a constraint with a normal; VELOCITY without one.
    normal : int
        Number of its normal, -1 without one.
    slips : tuple of int
        Numbers of the components of its slip.
    law : int
        Number of its friction law, -1 without one.
    of : tuple of int
        Numbers of the normals whose resultant scales its friction; none where its bound is given.
    rows : LawRows
        Where the numbers of its law stand; of no meaning without one.
    timeless : bool
        Whether explicit time occurs neither in its expression nor in its slip.
    guarded, kinked : bool
        Whether it exists only where a relation of the coordinates holds; whether its expression makes choices.
    """

    name: str
    side: Side
    level: Level
    normal: int
    slips: tuple[int, ...]
    law: int
    of: tuple[int, ...]
    rows: LawRows = NO_LAW
    timeless: bool = True
    guarded: bool = False
    kinked: bool = False

    @property
    def one_sided(self) -> bool:
        """Whether it can be open."""
        return self.side is Side.UNILATERAL

    @property
    def resultant(self) -> bool:
        """Whether its friction goes with the resultant of several forces."""
        return len(self.of) > 1

    @property
    def on_position(self) -> bool:
        """Whether its normal restricts positions."""
        return self.level is Level.POSITION


@dataclass(frozen=True, eq=False)
class ContactArrays:
    """The lines as arrays, in the order of the constraints: what vectorized rules take.

    Attributes
    ----------
    side, level : (k,) int arrays
        As in `Side` and `Level`.
    normal, law : (k,) int arrays
        Numbers of the normal and of the law, -1 without one.
    first, components : (k,) int arrays
        First slip row and number of slip rows.
    of : (k, j) int array
        Numbers of the normals whose resultant scales the friction, -1 beyond the last.
    turns : (n,) bool array
        Which coordinates are angles.
    """

    side: Ints
    level: Ints
    normal: Ints
    law: Ints
    first: Ints
    components: Ints
    of: Ints
    turns: Bools

    @cached_property
    def as_normals(self) -> bool:
        """Whether the lines are the normals, one after the other."""
        return bool(np.array_equal(self.normal, np.arange(len(self.normal))))

    @cached_property
    def sides(self) -> Ints:
        """The sides (k, 1)."""
        return self.side[:, None]

    @cached_property
    def two_sided(self) -> Bools | None:
        """Which hold from both sides (k, 1), None where none does."""
        found = self.sides == Side.BILATERAL
        return found if found.any() else None

    @cached_property
    def positions(self) -> Bools:
        """Which restrict positions (k, 1)."""
        return np.asarray(self.level == Level.POSITION)[:, None]

    @cached_property
    def rubs(self) -> Bools:
        """Which have slip rows (k, 1)."""
        return (self.components > 0)[:, None]

    @cached_property
    def loaded(self) -> tuple[tuple[int, Ints], ...]:
        """The lines whose friction others load, each with the lines that do."""
        found = []
        for j in np.flatnonzero((self.side == Side.BOUND) & (self.of >= 0).any(axis=1)).tolist():
            found.append((j, np.flatnonzero(np.isin(self.normal, self.of[j][self.of[j] >= 0]))))
        return tuple(found)


@dataclass(frozen=True, eq=False)
class ChosenLines:
    """Some lines of a table: where their rows stand in the terms of the equations.

    Attributes
    ----------
    names : tuple of str
    normal, law : (c,) int arrays
        Numbers of normals and laws, -1 without one.
    first : (c + 1,) int array
        Where the slip rows of each begin among those of all.
    slips, owner : (s,) int arrays
        Numbers of the slip rows, and the line that has each.
    has, bilateral, free : (c,) bool arrays
        Which have a normal, hold both ways, have a bound that no other line loads.
    of : tuple of tuples of int
        For each the places, among these lines, of those that load its friction from outside; what is not among them
        presses nothing. Empty where no friction is loaded so.
    unloaded : (u,) int array
        Those that others would load, none of which is among these lines.
    """

    names: tuple[str, ...]
    normal: Ints
    law: Ints
    first: Ints
    slips: Ints
    owner: Ints
    has: Bools
    bilateral: Bools
    free: Bools
    of: tuple[tuple[int, ...], ...]
    unloaded: Ints


def chosen_lines(table: ContactTable, lines: Ints) -> ChosenLines:
    """Return what holds of some lines of a table at every state."""
    arrays, places = table.arrays, [table.places[j] for j in lines.tolist()]
    normal, components = arrays.normal[lines], arrays.components[lines]
    first = np.concatenate([[0], np.cumsum(components)]).astype(np.int64)
    owner = np.repeat(lines, components)
    free = arrays.side[lines] == Side.BOUND
    of: tuple[tuple[int, ...], ...] = ()
    loaded: list[int] = []
    if table.loaded:
        at = {place.normal: i for i, place in enumerate(places) if place.normal >= 0}
        outside = [place.of if place.side is Side.BOUND else () for place in places]
        of = tuple(tuple(at[number] for number in numbers if number in at) for numbers in outside)
        loaded = [i for i, numbers in enumerate(outside) if numbers]
        free[loaded] = False
    return ChosenLines(
        names=tuple(place.name for place in places),
        normal=normal,
        law=arrays.law[lines],
        first=first,
        slips=np.arange(first[-1]) + np.repeat(arrays.first[lines] - first[:-1], components),
        owner=owner,
        has=normal >= 0,
        bilateral=arrays.side[lines] == Side.BILATERAL,
        free=free,
        of=of,
        unloaded=np.array([i for i in loaded if not of[i]], dtype=np.int64),
    )


@dataclass(frozen=True)
class ContactTable:
    """All lines in their order, and the way back from normals, slips and laws to them; which coordinates are angles."""

    places: tuple[ContactPlace, ...]
    turns: tuple[bool, ...]

    @cached_property
    def arrays(self) -> ContactArrays:
        """The lines as arrays."""
        lines = self.places
        widest = max((len(line.of) for line in lines), default=0)

        def column(values: Iterable[int]) -> Ints:
            return np.fromiter(values, dtype=np.int64, count=len(lines))

        of = [number for line in lines for number in (*line.of, *(-1,) * (widest - len(line.of)))]
        return ContactArrays(
            side=column(line.side for line in lines),
            level=column(line.level for line in lines),
            normal=column(line.normal for line in lines),
            law=column(line.law for line in lines),
            first=column(line.slips[0] if line.slips else 0 for line in lines),
            components=column(len(line.slips) for line in lines),
            of=np.array(of, dtype=np.int64).reshape(len(lines), widest),
            turns=np.array(self.turns, dtype=bool),
        )

    @cached_property
    def held(self) -> Ints:
        """The numbers of the normals of two-sided constraints."""
        return np.array([line.normal for line in self.places if line.side is Side.BILATERAL], dtype=np.int64)

    @cached_property
    def held_positions(self) -> Ints:
        """The numbers of the normals of two-sided constraints on positions."""
        chosen = (line for line in self.places if line.side is Side.BILATERAL and line.on_position)
        return np.array([line.normal for line in chosen], dtype=np.int64)

    @cached_property
    def _chosen(self) -> dict[bytes, ChosenLines]:
        return {}

    def chosen(self, lines: Ints) -> ChosenLines:
        """Return what holds of some lines (c,) at every state, made once: motions ask for few sets again and again."""
        key = lines.tobytes()
        found = self._chosen.get(key)
        if found is None:
            if len(self._chosen) >= MOST_SETS:
                self._chosen.clear()
            found = self._chosen[key] = chosen_lines(self, lines)
        return found

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names in their order."""
        return tuple(line.name for line in self.places)

    @cached_property
    def smooth(self) -> bool:
        """Whether all constraints hold both ways without friction: then there is one mode."""
        return all(line.side is Side.BILATERAL and line.law < 0 for line in self.places)

    @cached_property
    def loaded(self) -> bool:
        """Whether some friction goes with the forces of other lines."""
        return any(line.side is Side.BOUND and line.of for line in self.places)

    @cached_property
    def signed(self) -> frozenset[int]:
        """The normals whose force loads some friction by its size alone, so that its sign parts two modes."""
        return frozenset(line.of[0] for line in self.places if len(line.of) == 1)

    @cached_property
    def round(self) -> bool:
        """Whether one number says all of every law: symmetric intervals and discs, the same at rest."""
        return all(line.rows.plain and not line.rows.axes for line in self.places)

    @cached_property
    def normals(self) -> tuple[ContactPlace, ...]:
        """The lines that have a normal, by its number."""
        return tuple(line for line in self.places if line.normal >= 0)

    @cached_property
    def laws(self) -> tuple[ContactPlace, ...]:
        """The lines that have a friction law, by its number."""
        return tuple(line for line in self.places if line.law >= 0)

    @cached_property
    def of_slip(self) -> tuple[int, ...]:
        """The line of each slip row."""
        return tuple(number for number, line in enumerate(self.places) for _ in line.slips)

    @cached_property
    def _of_normal(self) -> tuple[int, ...]:
        return tuple(number for number, line in enumerate(self.places) if line.normal >= 0)

    @cached_property
    def _of_law(self) -> tuple[int, ...]:
        return tuple(number for number, line in enumerate(self.places) if line.law >= 0)

    def of_normal(self, normal: int) -> int:
        """Return the line that has this normal."""
        return self._of_normal[normal]

    def of_law(self, law: int) -> int:
        """Return the line that has this friction law."""
        return self._of_law[law]
