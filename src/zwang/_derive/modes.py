"""Modes of motion: which constraints are held as equalities, and in which way each friction acts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mode:
    """A mode of motion, within which the equations are smooth.

    Attributes
    ----------
    held : tuple of int
        Numbers of the normals (`Program.normals`) held as equalities, ascending.
    sticking : tuple of int
        Numbers of the slip components (`Program.slips`) held as equalities.
    sliding : tuple of (int, int)
        Number of a friction law (its place in `Program.bounds`) and the sign of its slip, +1 or -1; 0 for slips of
        two components, whose direction is that of the slip itself.
    pulling : tuple of int
        Held normals whose size is minus the multiplier: bilateral contacts with friction that pull.

    Examples
    --------
    >>> Mode(held=(0, 2), sliding=((0, 1),))
    Mode(held=(0, 2), sticking=(), sliding=((0, 1),), pulling=())
    """

    held: tuple[int, ...]
    sticking: tuple[int, ...] = ()
    sliding: tuple[tuple[int, int], ...] = ()
    pulling: tuple[int, ...] = ()
