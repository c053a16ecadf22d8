"""The modes of one contact with friction along a line, as linear conditions.

A mode is a set of equations and inequalities between five numbers of the contact, (N, T, a_n, a_t, 1): the normal
force, the friction force, the normal and the tangential acceleration less their biases. The closed sets of all modes
cover the laws; their *strict* parts (a_n > 0 when open, a_t of one sign when slipping) are disjoint, so that a
search over strict parts meets each solution in one mode only, the closed sets of those modes being the answer.

For the search the force of a contact is written with *generators*, nonnegative weights of the edges of its friction
cone, so that sliding along one edge means that the weight of the other is zero.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.modes import Mode

Array = npt.NDArray[np.float64]
Form = tuple[float, float, float, float, float]


class Law(enum.Enum):
    """What a contact obeys."""

    UNILATERAL = "unilateral, frictionless or sliding"
    UNILATERAL_REST = "unilateral, at rest with friction"
    BILATERAL = "bilateral, frictionless"
    BILATERAL_SLIDING = "bilateral, sliding"
    BILATERAL_REST = "bilateral, at rest with friction"
    TRESCA_REST = "given bound, at rest"
    KNOWN = "force known in advance"


PENETRATES = "penetrates"
PULLS = "pulls"
PUSHES = "pushes"
BEYOND = "friction beyond its bound"
BACKWARDS = "slips the other way"
CONTRADICTS = "contradicts the other equations"


@dataclass(frozen=True)
class Conditions:
    """One mode of a contact.

    Attributes
    ----------
    equations, inequalities : tuples of forms
        Coefficients of (N, T, a_n, a_t, 1); each form is = 0, respectively >= 0.
    reasons : tuple of str
        What it means that an inequality fails, one per inequality.
    zero : tuple of str
        Variables of the search that vanish.
    strict : tuple of str
        Variables that are positive in the strict part.
    any_strict : tuple of str
        Variables one of which is positive in the strict part.
    turned : bool
        Whether the tangential acceleration is <= 0 in place of >= 0.
    """

    equations: tuple[Form, ...]
    inequalities: tuple[Form, ...]
    reasons: tuple[str, ...]
    zero: tuple[str, ...]
    strict: tuple[str, ...] = ()
    any_strict: tuple[str, ...] = ()
    turned: bool = False

    @property
    def mode(self) -> Mode:
        """Which mode it is of a contact at rest."""
        if "slip" not in self.strict:
            return Mode.STICK
        return Mode.SLIP_MINUS if self.turned else Mode.SLIP_PLUS


@dataclass(frozen=True)
class Choice:
    """One alternative at a step of the search: what it says of the search's variables (as in `Conditions`)."""

    zero: tuple[str, ...]
    strict: tuple[str, ...] = ()
    any_strict: tuple[str, ...] = ()
    turned: bool = False


@dataclass(frozen=True)
class Step:
    """A step of the search: its alternatives, and products that vanish, max(0, first) * max(0, sign * second)."""

    choices: tuple[Choice, ...]
    pairs: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class ModeTable:
    """All modes of a contact, and the variables that its search uses.

    Attributes
    ----------
    modes : tuple of Conditions
    generators : mapping name -> (N, T)
        Force per unit of the variable.
    offset : float
        Friction force when all generators are zero.
    free : tuple of str
        Generators of any sign.
    rows : mapping name -> Form
        Variables that depend on the others; those in `tied` vanish in every mode.
    pairs : tuple of (name, name, sign)
        Products that vanish: max(0, first) * max(0, sign * second).
    split : tuple of two Step
        Where modes are pairs of choices: mode = (first choice) * (number of second choices) + (second choice).
    """

    modes: tuple[Conditions, ...]
    generators: Mapping[str, tuple[float, float]]
    rows: dict[str, Form]
    pairs: tuple[tuple[str, str, int], ...]
    offset: float = 0
    free: tuple[str, ...] = ()
    tied: tuple[str, ...] = ()
    split: tuple[Step, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps in which the search chooses a mode: one, unless the modes are split."""
        whole = tuple(Choice(m.zero, m.strict, m.any_strict, m.turned) for m in self.modes)
        return self.split or (Step(whole, self.pairs),)


_N: Form = (1, 0, 0, 0, 0)
_MINUS_N: Form = (-1, 0, 0, 0, 0)
_T: Form = (0, 1, 0, 0, 0)
_GAP: Form = (0, 0, 1, 0, 0)
_SLIP: Form = (0, 0, 0, 1, 0)
_MINUS_SLIP: Form = (0, 0, 0, -1, 0)


def _edge(mu: float, sign: float) -> Form:
    """Return mu N + sign T, which is zero on an edge of the friction cone."""
    return (mu, sign, 0, 0, 0)


@lru_cache(maxsize=4096)
def table(law: Law, mu: float, bound: float) -> ModeTable:
    """Return the modes under a law with friction coefficient mu, or with friction bound `bound` (Tresca)."""
    if law is Law.UNILATERAL:
        return _unilateral(mu)
    if law is Law.UNILATERAL_REST:
        return _unilateral_rest(mu)
    if law is Law.BILATERAL:
        mode = Conditions((_GAP,), (), (), ("gap",))
        return ModeTable((mode,), {"N": (1, 0)}, {"gap": _GAP}, (), free=("N",), tied=("gap",))
    if law is Law.BILATERAL_SLIDING:
        return _bilateral_sliding(mu)
    if law is Law.BILATERAL_REST:
        return _bilateral_rest(mu)
    if law is Law.TRESCA_REST:
        return _tresca(bound)
    return ModeTable((Conditions((), (), (), ()),), {}, {}, ())


def _unilateral(mu: float) -> ModeTable:
    # A sliding contact has T = -mu N along its slip; without friction mu = 0 and there is no T.
    friction = (_edge(mu, 1),) if mu else ()
    still = (_T,) if mu else ()
    opened = Conditions((_N, *still), (_GAP,), (PENETRATES,), ("N",), strict=("gap",))
    closed = Conditions((_GAP, *friction), (_N,), (PULLS,), ("gap",))
    return ModeTable((opened, closed), {"N": (1, -mu)}, {"gap": _GAP}, (("N", "gap", 1),))


def _unilateral_rest(mu: float) -> ModeTable:
    opened = Conditions((_N, _T), (_GAP,), (PENETRATES,), ("up", "down"), strict=("gap",))
    cone = (_edge(mu, 1), _edge(mu, -1))
    stick = Conditions((_GAP, _SLIP), cone, (BEYOND, BEYOND), ("gap", "slip"))
    forth = Conditions((_GAP, _edge(mu, 1)), (_N, _SLIP), (PULLS, BACKWARDS), ("up", "gap"), strict=("slip",))
    back = Conditions(
        (_GAP, _edge(mu, -1)), (_N, _MINUS_SLIP), (PULLS, BACKWARDS), ("down", "gap"), strict=("slip",), turned=True
    )
    weight = 1 / (1 + mu)
    return ModeTable(
        (opened, stick, forth, back),
        {"up": (weight, mu * weight), "down": (weight, -mu * weight)},
        {"gap": _GAP, "slip": _SLIP},
        (("up", "gap", 1), ("down", "gap", 1), ("up", "slip", 1), ("down", "slip", -1)),
    )


def _bilateral_sliding(mu: float) -> ModeTable:
    push = Conditions((_GAP, _edge(mu, 1)), (_N,), (PULLS,), ("pull",))
    pull = Conditions((_GAP, _edge(-mu, 1)), (_MINUS_N,), (PUSHES,), ("push",), strict=("pull",))
    generators = {"push": (1, -mu), "pull": (-1, -mu)}
    return ModeTable((push, pull), generators, {"gap": _GAP}, (("push", "pull", 1),), tied=("gap",))


def _bilateral_rest(mu: float) -> ModeTable:
    weight = 1 / (1 + mu)
    names = ("up", "down", "up-", "down-")
    edges = ((1, 1), (1, -1), (-1, 1), (-1, -1))
    generators = {name: (sign * weight, turn * mu * weight) for name, (sign, turn) in zip(names, edges, strict=True)}
    modes = []
    for sign, own, other in ((1, names[:2], names[2:]), (-1, names[2:], names[:2])):
        force: Form = (sign, 0, 0, 0, 0)
        wrong = PULLS if sign > 0 else PUSHES
        pulling = sign < 0
        cone = (_edge(sign * mu, 1), _edge(sign * mu, -1))
        modes += [
            Conditions((_GAP, _SLIP), cone, (BEYOND, BEYOND), ("slip", *other), any_strict=own if pulling else ()),
            Conditions(
                (_GAP, cone[0]),
                (force, _SLIP),
                (wrong, BACKWARDS),
                (own[0], *other),
                strict=("slip", own[1]) if pulling else ("slip",),
            ),
            Conditions(
                (_GAP, cone[1]),
                (force, _MINUS_SLIP),
                (wrong, BACKWARDS),
                (own[1], *other),
                strict=("slip", own[0]) if pulling else ("slip",),
                turned=True,
            ),
        ]
    # Sign and motion are two steps of the search: a sign that is impossible rejects three modes at once.
    opposite = tuple((a, b, 1) for a in names[:2] for b in names[2:])
    against = tuple((name, "slip", 1 if name.startswith("up") else -1) for name in names)
    sign_step = Step((Choice(names[2:]), Choice(names[:2], any_strict=names[2:])), opposite)
    motions = (
        Choice(("slip",)),
        Choice(("up", "up-"), strict=("slip",)),
        Choice(("down", "down-"), strict=("slip",), turned=True),
    )
    split = (sign_step, Step(motions, against))
    rows = {"gap": _GAP, "slip": _SLIP}
    return ModeTable(tuple(modes), generators, rows, opposite + against, tied=("gap",), split=split)


def _tresca(bound: float) -> ModeTable:
    room: tuple[Form, Form] = ((0, 1, 0, 0, bound), (0, -1, 0, 0, bound))
    stick = Conditions((_SLIP,), room, (BEYOND, BEYOND), ("slip",))
    forth = Conditions((room[0],), (_SLIP,), (BACKWARDS,), ("below",), strict=("slip",))
    back = Conditions((room[1],), (_MINUS_SLIP,), (BACKWARDS,), ("above",), strict=("slip",), turned=True)
    # T = -bound + below; above = bound - T
    return ModeTable(
        (stick, forth, back),
        {"below": (0, 1)},
        {"slip": _SLIP, "above": room[1]},
        (("below", "slip", 1), ("above", "slip", -1)),
        offset=-bound,
    )
