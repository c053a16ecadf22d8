"""What a certificate says: which property, for which forces, and the number it rests on."""

from __future__ import annotations

from dataclasses import dataclass

EVERY_FORCE = "every force"
THIS_STATE = "this state"


@dataclass(frozen=True)
class Proof:
    """A property of a contact problem that was proved, or a criterion that was found to fail.

    Attributes
    ----------
    kind : str
        Name of the criterion.
    number : float
        The number it rests on.
    scope : str
        'every force' (with these masses, rows, frictions, slips and biases) or 'this state'.
    sentence : str
        What is proved, in words.
    exists : bool
        A solution exists.
    unique_motion : bool
        There is at most one acceleration.
    unique : bool
        There is at most one solution.
    fails : bool
        The criterion is exact and does not hold: some force has none or several solutions.
    """

    kind: str
    number: float
    scope: str
    sentence: str
    exists: bool = False
    unique_motion: bool = False
    unique: bool = False
    fails: bool = False
