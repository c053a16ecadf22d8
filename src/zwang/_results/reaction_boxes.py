"""Modes in words, and boxes of solutions: where one is proved to lie, where it is open whether there is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.modes import MODES, Mode, words_of
from zwang._results.named import missing
from zwang._results.storage import storable

Array = NDArray[np.float64]


class Modes(tuple[str, ...]):
    """The modes of the contacts in their order, in words; ``modes["tip"]`` finds one by its name.

    Examples
    --------
    >>> modes = Modes(("open", "slip-"), names=("left", "right"))
    >>> modes["right"], modes[0], modes == ("open", "slip-")
    ('slip-', 'open', True)
    """

    names: tuple[str, ...]

    def __new__(cls, modes: Sequence[str], names: Sequence[str] = ()) -> Modes:
        made = super().__new__(cls, modes)
        made.names = tuple(names)
        return made

    @classmethod
    def of(cls, codes: Iterable[Mode], names: Sequence[str]) -> Modes:
        """Return modes given as numbers."""
        return cls(words_of(codes), names)

    @property
    def codes(self) -> tuple[Mode, ...]:
        """The modes as numbers."""
        return tuple(MODES[word] for word in self)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(missing(key, self.names, "The modes have"))
            return super().__getitem__(self.names.index(key))
        return super().__getitem__(key)


@storable(shapes={"acceleration": "n", "normal": "k", "tangential": "k ...", "directions": "k"})
@dataclass(frozen=True, eq=False)
class EnclosureEnd:
    """One end of an enclosure: every unknown of a solution is at least, or at most, this.

    Attributes
    ----------
    acceleration : (n,) array
    normal : (k,) array
    tangential : (k,) array, (k, 2) if friction acts in planes
    directions : (k,) array
        Angles of slip [rad], nan where there is none.
    """

    acceleration: Array
    normal: Array
    tangential: Array
    directions: Array


@storable
@dataclass(frozen=True, eq=False)
class SolutionEnclosure:
    """Where a solution is proved to lie: ``low, high = solution.enclosure``, each with every unknown."""

    low: EnclosureEnd
    high: EnclosureEnd

    def __iter__(self) -> Iterator[EnclosureEnd]:
        return iter((self.low, self.high))

    def __getitem__(self, index: int) -> EnclosureEnd:
        return (self.low, self.high)[index]


@storable(shapes={"names": "k", "modes": "k", "low": "k", "high": "k"})
@dataclass(frozen=True, eq=False)
class UndecidedBox:
    """A box of modes and directions of slip that was neither proved to hold a solution nor excluded.

    Attributes
    ----------
    names : tuple of str
        Of the contacts.
    modes : Modes
        'any' where no mode was chosen yet.
    low, high : (k,) arrays
        Ends of the arcs of directions [rad], nan where the mode has none.
    """

    names: tuple[str, ...]
    modes: Modes
    low: Array
    high: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "modes", Modes(self.modes, self.names))
