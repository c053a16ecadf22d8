"""The modes of contacts and the sides of constraints, numbered once for the whole package.

Kernels compare the numbers, results show the words. Words are made here, for people; nothing takes them apart again.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Side(IntEnum):
    """What a line of the table is: held from one side, from both, or friction with a bound of its own."""

    UNILATERAL = 0
    BILATERAL = 1
    BOUND = 2


class Level(IntEnum):
    """What a constraint with a normal restricts."""

    POSITION = 0
    VELOCITY = 1


UNILATERAL, BILATERAL, BOUND = int(Side.UNILATERAL), int(Side.BILATERAL), int(Side.BOUND)
"""The sides as plain numbers, for kernels."""
POSITION, VELOCITY = int(Level.POSITION), int(Level.VELOCITY)
PULLS = 8
"""Added to the mode of a bilateral contact with friction whose normal force is negative."""


class Mode(IntEnum):
    """The mode of one contact, with `PULLS` added where a bilateral one pulls; OFF: it is switched off.

    Examples
    --------
    >>> Mode.STICK.pulling(True).word, Mode.STICK_PULLS.plain.word, Mode.SLIP_MINUS.sign
    ('stick (N<0)', 'stick', -1)
    """

    OPEN = 0
    CLOSED = 1
    STICK = 2
    SLIP = 3
    SLIP_PLUS = 4
    SLIP_MINUS = 5
    UNDECIDED = 6
    OFF = 7
    CLOSED_PULLS = 9
    STICK_PULLS = 10
    SLIP_PULLS = 11
    SLIP_PLUS_PULLS = 12
    SLIP_MINUS_PULLS = 13

    @property
    def pulls(self) -> bool:
        """Whether the normal force is negative."""
        return self >= PULLS

    @property
    def plain(self) -> Mode:
        """The mode without the sign of the normal force."""
        return _BY_NUMBER[self % PULLS]

    def pulling(self, pulls: bool) -> Mode:
        """Return the mode with this sign of the normal force."""
        return _BY_NUMBER[self % PULLS + PULLS * pulls]

    @property
    def sign(self) -> int:
        """The sign of the slip along a line; 0 in a plane and without slip."""
        return {Mode.SLIP_PLUS: 1, Mode.SLIP_MINUS: -1}.get(self.plain, 0)

    @property
    def slips(self) -> bool:
        """Whether the contact slips, or begins to."""
        return self.plain in (Mode.SLIP, Mode.SLIP_PLUS, Mode.SLIP_MINUS)

    @property
    def word(self) -> str:
        """What people read."""
        return WORDS[self]


_BY_NUMBER = {int(mode): mode for mode in Mode}
_PLAIN = ("open", "closed", "stick", "slip", "slip+", "slip-", "undecided", "off")
WORDS = {mode: _PLAIN[mode % PULLS] + (" (N<0)" if mode.pulls else "") for mode in Mode}
"""Mode -> what people read, and what files of results hold."""
MODES = {word: mode for mode, word in WORDS.items()}
"""The way back, for files."""


def words_of(modes: Iterable[Mode]) -> tuple[str, ...]:
    """Return modes as people read them."""
    return tuple(WORDS[mode] for mode in modes)


def slip_mode(components: int, along: float) -> Mode:
    """Return the mode of a contact that slips: along a line with the sign of its slip.

    Examples
    --------
    >>> slip_mode(1, -0.5), slip_mode(2, -0.5)
    (<Mode.SLIP_MINUS: 5>, <Mode.SLIP: 3>)
    """
    return Mode.SLIP if components > 1 else Mode.SLIP_PLUS if along > 0 else Mode.SLIP_MINUS
