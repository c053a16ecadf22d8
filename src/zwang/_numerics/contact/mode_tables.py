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
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.modes import Mode

Array = npt.NDArray[np.float64]
Form = tuple[float, float, float, float, float]
Kind: TypeAlias = "tuple[Law, int]"


class Law(enum.Enum):
    """What a contact obeys."""

    UNILATERAL = "unilateral, frictionless or sliding"
    UNILATERAL_REST = "unilateral, at rest with friction"
    BILATERAL = "bilateral, frictionless"
    BILATERAL_SLIDING = "bilateral, sliding"
    BILATERAL_REST = "bilateral, at rest with friction"
    BILATERAL_SIGNED = "bilateral, frictionless, loads other friction"
    FOLLOWS_REST = "friction on another contact's normal force, at rest"
    FOLLOWS_SLIDING = "friction on another contact's normal force, sliding"
    RESULTANT_REST = "friction of a resultant, at rest"
    RESULTANT_SLIDING = "friction of a resultant, sliding"
    TRESCA_REST = "given bound, at rest"
    KNOWN = "force known in advance"


PENETRATES = "penetrates"
PULLS = "pulls"
PUSHES = "pushes"
BEYOND = "friction beyond its bound"
BACKWARDS = "slips the other way"
CONTRADICTS = "contradicts the other equations"
YIELDS = "slips though it could stick"
JAMS = "jams: its friction has no size that fits its load"


@dataclass(frozen=True)
class ModeConditions:
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
    sign : int
        Of the normal force, where it has one.
    """

    equations: tuple[Form, ...]
    inequalities: tuple[Form, ...]
    reasons: tuple[str, ...]
    zero: tuple[str, ...]
    strict: tuple[str, ...] = ()
    any_strict: tuple[str, ...] = ()
    turned: bool = False
    sign: int = 1

    @property
    def mode(self) -> Mode:
        """Which mode it is of a contact at rest."""
        if "slip" not in self.strict:
            return Mode.STICK
        return Mode.SLIP_MINUS if self.turned else Mode.SLIP_PLUS


@dataclass(frozen=True)
class Choice:
    """One alternative at a step of the search: what it says of the search's variables (as in `ModeConditions`)."""

    zero: tuple[str, ...]
    strict: tuple[str, ...] = ()
    any_strict: tuple[str, ...] = ()
    turned: bool = False


@dataclass(frozen=True)
class Step:
    """A step of the search: its alternatives, and products that vanish, max(0, first) * max(0, sign * second)."""

    choices: tuple[Choice, ...]
    pairs: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, eq=False)
class ModeTable:
    """All modes of a contact, and the variables that its search uses.

    Attributes
    ----------
    modes : tuple of ModeConditions
    generators : mapping name -> (N, T)
        Force per unit of the variable.
    offset : float
        Friction force when all generators are zero.
    free : tuple of str
        Generators and rows of any sign, beside "slip".
    rows : mapping name -> Form
        Variables that depend on the others; those in `tied` vanish in every mode.
    pairs : tuple of (name, name, sign)
        Products that vanish: max(0, first) * max(0, sign * second).
    split : tuple of two Step
        Where modes are pairs of choices: mode = (first choice) * (number of second choices) + (second choice).
    follows : float
        Of friction on another contact's normal force N: its T is -follows * abs(N) when all generators are zero.
    kind : (Law, int)
        Tables of one kind differ in coefficients alone: the law, and whether rest has no law of its own (0), one
        with the same sides (1), or with others (2).
    """

    modes: tuple[ModeConditions, ...]
    generators: Mapping[str, tuple[float, float]]
    rows: dict[str, Form]
    pairs: tuple[tuple[str, str, int], ...]
    offset: float = 0
    free: tuple[str, ...] = ()
    tied: tuple[str, ...] = ()
    split: tuple[Step, ...] = ()
    follows: float = 0
    kind: Kind = field(init=False, repr=False)

    @cached_property
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


Sides = tuple[float, float]
"""The largest friction force against a slip > 0 and against a slip < 0, per unit of |N| or whole (Tresca)."""


@lru_cache(maxsize=4096)
def table(law: Law, sides: Sides, resting: Sides | None = None) -> ModeTable:
    """Return the modes under a law; `resting` are the sides at rest, where rest has a law of its own.

    A contact that slides has the first side against it.
    """
    made = _table(law, sides, resting)
    object.__setattr__(made, "kind", (law, 0 if resting is None else 1 if resting == sides else 2))
    return made


def example(kind: Kind) -> ModeTable:
    """Return a table of a kind: the same modes, variables and steps, and coefficients of no meaning."""
    return table(kind[0], (1.0, 1.0), (None, (1.0, 1.0), (2.0, 2.0))[kind[1]])


def _table(law: Law, sides: Sides, resting: Sides | None) -> ModeTable:
    if law is Law.UNILATERAL:
        return _unilateral(sides[0])
    if law is Law.UNILATERAL_REST:
        return _unilateral_rest(sides) if resting is None else _unilateral_static(sides, resting)
    if law is Law.BILATERAL:
        mode = ModeConditions((_GAP,), (), (), ("gap",))
        return ModeTable((mode,), {"N": (1, 0)}, {"gap": _GAP}, (), free=("N",), tied=("gap",))
    if law is Law.BILATERAL_SLIDING:
        return _bilateral_sliding(sides[0])
    if law is Law.BILATERAL_REST:
        return _bilateral_rest(sides) if resting is None else _bilateral_static(sides, resting)
    if law is Law.TRESCA_REST:
        return _tresca(sides, sides) if resting is None else _tresca(sides, resting)
    if law is Law.BILATERAL_SIGNED:
        return _bilateral_signed()
    if law is Law.FOLLOWS_REST:
        return _follows(sides)
    if law is Law.RESULTANT_REST:
        return _resultant()
    if law is Law.FOLLOWS_SLIDING:
        return ModeTable((ModeConditions((_edge(sides[0], 1),), (), (), ()),), {}, {}, (), follows=sides[0])
    return ModeTable((ModeConditions((), (), (), ()),), {}, {}, ())


def _unilateral(mu: float) -> ModeTable:
    # A sliding contact has T = -mu N along its slip; without friction mu = 0 and there is no T.
    friction = (_edge(mu, 1),) if mu else ()
    still = (_T,) if mu else ()
    opened = ModeConditions((_N, *still), (_GAP,), (PENETRATES,), ("N",), strict=("gap",))
    closed = ModeConditions((_GAP, *friction), (_N,), (PULLS,), ("gap",))
    return ModeTable((opened, closed), {"N": (1, -mu)}, {"gap": _GAP}, (("N", "gap", 1),))


def _edges(sides: Sides, names: tuple[str, str], sign: int = 1) -> dict[str, tuple[float, float]]:
    """Return generators along the two edges of a friction cone, up (T > 0) and down."""
    up, down = 1 / (1 + sides[1]), 1 / (1 + sides[0])
    return {names[0]: (sign * up, sides[1] * up), names[1]: (sign * down, -sides[0] * down)}


def _cone(sides: Sides, sign: int = 1) -> tuple[Form, Form]:
    """Return the forms that are not negative in the friction cone: zero against a slip > 0, against a slip < 0."""
    return _edge(sign * sides[0], 1), _edge(sign * sides[1], -1)


def _unilateral_rest(sides: Sides) -> ModeTable:
    opened = ModeConditions((_N, _T), (_GAP,), (PENETRATES,), ("up", "down"), strict=("gap",))
    cone = _cone(sides)
    stick = ModeConditions((_GAP, _SLIP), cone, (BEYOND, BEYOND), ("gap", "slip"))
    forth = ModeConditions((_GAP, cone[0]), (_N, _SLIP), (PULLS, BACKWARDS), ("up", "gap"), strict=("slip",))
    back = ModeConditions(
        (_GAP, cone[1]), (_N, _MINUS_SLIP), (PULLS, BACKWARDS), ("down", "gap"), strict=("slip",), turned=True
    )
    return ModeTable(
        (opened, stick, forth, back),
        _edges(sides, ("up", "down")),
        {"gap": _GAP, "slip": _SLIP},
        (("up", "gap", 1), ("down", "gap", 1), ("up", "slip", 1), ("down", "slip", -1)),
    )


def _against(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[tuple[str, str, int], ...]:
    return tuple((name, other, 1) for name in names for other in others)


def _never_both(sticks: tuple[str, ...], forth: str, back: str) -> tuple[tuple[str, str, int], ...]:
    """Products that vanish where sticking has generators of its own."""
    still = tuple((name, "slip", sign) for name in sticks for sign in (1, -1))
    return (*_against(sticks, (forth, back)), *still, (forth, back, 1), (forth, "slip", -1), (back, "slip", 1))


def _unilateral_static(sides: Sides, resting: Sides) -> ModeTable:
    # Sticking fills a wider cone than the edges of slip: those are generators of their own.
    cone = _cone(sides)
    sticks, slips = ("up", "down"), ("back", "forth")
    opened = ModeConditions((_N, _T), (_GAP,), (PENETRATES,), (*sticks, *slips), strict=("gap",))
    stick = ModeConditions((_GAP, _SLIP), _cone(resting), (BEYOND, BEYOND), ("gap", "slip", *slips))
    forth = ModeConditions((_GAP, cone[0]), (_N, _SLIP), (PULLS, BACKWARDS), (*sticks, "back", "gap"), strict=("slip",))
    back = ModeConditions(
        (_GAP, cone[1]), (_N, _MINUS_SLIP), (PULLS, BACKWARDS), (*sticks, "forth", "gap"), strict=("slip",), turned=True
    )
    return ModeTable(
        (opened, stick, forth, back),
        _edges(resting, sticks) | _edges(sides, slips),
        {"gap": _GAP, "slip": _SLIP},
        (*_against((*sticks, *slips), ("gap",)), *_never_both(sticks, "forth", "back")),
    )


def _bilateral_sliding(mu: float) -> ModeTable:
    push = ModeConditions((_GAP, _edge(mu, 1)), (_N,), (PULLS,), ("pull",))
    pull = ModeConditions((_GAP, _edge(-mu, 1)), (_MINUS_N,), (PUSHES,), ("push",), strict=("pull",), sign=-1)
    generators = {"push": (1, -mu), "pull": (-1, -mu)}
    return ModeTable((push, pull), generators, {"gap": _GAP}, (("push", "pull", 1),), tied=("gap",))


def _bilateral_signed() -> ModeTable:
    # Without friction of its own, but with some of other laws on its force: that goes with the size of N.
    push = ModeConditions((_GAP,), (_N,), (PULLS,), ("pull",))
    pull = ModeConditions((_GAP,), (_MINUS_N,), (PUSHES,), ("push",), strict=("pull",), sign=-1)
    generators: dict[str, tuple[float, float]] = {"push": (1, 0), "pull": (-1, 0)}
    return ModeTable((push, pull), generators, {"gap": _GAP}, (("push", "pull", 1),), tied=("gap",))


def _bilateral_rest(sides: Sides) -> ModeTable:
    names = ("up", "down", "up-", "down-")
    generators = _edges(sides, names[:2]) | _edges(sides, names[2:], -1)
    modes = []
    for sign, own, other in ((1, names[:2], names[2:]), (-1, names[2:], names[:2])):
        force: Form = (sign, 0, 0, 0, 0)
        wrong = PULLS if sign > 0 else PUSHES
        pulling = sign < 0
        cone = _cone(sides, sign)
        modes += [
            ModeConditions(
                (_GAP, _SLIP), cone, (BEYOND, BEYOND), ("slip", *other), any_strict=own if pulling else (), sign=sign
            ),
            ModeConditions(
                (_GAP, cone[0]),
                (force, _SLIP),
                (wrong, BACKWARDS),
                (own[0], *other),
                strict=("slip", own[1]) if pulling else ("slip",),
                sign=sign,
            ),
            ModeConditions(
                (_GAP, cone[1]),
                (force, _MINUS_SLIP),
                (wrong, BACKWARDS),
                (own[1], *other),
                strict=("slip", own[0]) if pulling else ("slip",),
                turned=True,
                sign=sign,
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


def _bilateral_static(sides: Sides, resting: Sides) -> ModeTable:
    names = {1: ("up", "down", "back", "forth"), -1: ("up-", "down-", "back-", "forth-")}
    generators: dict[str, tuple[float, float]] = {}
    modes = []
    for sign, (up, down, back, forth) in names.items():
        generators |= _edges(resting, (up, down), sign) | _edges(sides, (back, forth), sign)
        force: Form = (sign, 0, 0, 0, 0)
        wrong, pulling, other = PULLS if sign > 0 else PUSHES, sign < 0, names[-sign]
        cone = _cone(sides, sign)
        modes += [
            ModeConditions(
                (_GAP, _SLIP),
                _cone(resting, sign),
                (BEYOND, BEYOND),
                ("slip", back, forth, *other),
                any_strict=(up, down) if pulling else (),
                sign=sign,
            ),
            ModeConditions(
                (_GAP, cone[0]),
                (force, _SLIP),
                (wrong, BACKWARDS),
                (up, down, back, *other),
                strict=("slip", forth) if pulling else ("slip",),
                sign=sign,
            ),
            ModeConditions(
                (_GAP, cone[1]),
                (force, _MINUS_SLIP),
                (wrong, BACKWARDS),
                (up, down, forth, *other),
                strict=("slip", back) if pulling else ("slip",),
                turned=True,
                sign=sign,
            ),
        ]
    pairs = _against(names[1], names[-1])
    for up, down, back, forth in names.values():
        pairs += _never_both((up, down), forth, back)
    return ModeTable(tuple(modes), generators, {"gap": _GAP, "slip": _SLIP}, pairs, tied=("gap",))


def _tresca(sides: Sides, resting: Sides) -> ModeTable:
    slides: tuple[Form, Form] = ((0, 1, 0, 0, sides[0]), (0, -1, 0, 0, sides[1]))
    rests: tuple[Form, Form] = ((0, 1, 0, 0, resting[0]), (0, -1, 0, 0, resting[1]))
    rows: dict[str, Form] = {"slip": _SLIP, "above": rests[1]}
    lowest, highest = "below", "above"
    pairs = [("below", "slip", 1), ("above", "slip", -1)]
    if resting != sides:
        # Within the bounds at rest, how far T is from what slip leaves of it; zero on either side is slip.
        lowest, highest = "forth", "back"
        rows |= {"forth": slides[0], "back": slides[1]}
        pairs = []
    stick = ModeConditions((_SLIP,), rests, (BEYOND, BEYOND), ("slip",))
    forth = ModeConditions((slides[0],), (_SLIP,), (BACKWARDS,), (lowest,), strict=("slip",))
    back = ModeConditions((slides[1],), (_MINUS_SLIP,), (BACKWARDS,), (highest,), strict=("slip",), turned=True)
    # T = -bound + below; above = bound - T
    free = () if resting == sides else ("forth", "back")
    return ModeTable((stick, forth, back), {"below": (0, 1)}, rows, tuple(pairs), offset=-resting[0], free=free)


def _follows(sides: Sides) -> ModeTable:
    # As a given bound, but one that is abs(N) of another contact times the sides: T = -sides[0] abs(N) + below.
    cone = _cone(sides)
    stick = ModeConditions((_SLIP,), cone, (BEYOND, BEYOND), ("slip",))
    forth = ModeConditions((cone[0],), (_SLIP,), (BACKWARDS,), ("below",), strict=("slip",))
    back = ModeConditions((cone[1],), (_MINUS_SLIP,), (BACKWARDS,), ("above",), strict=("slip",), turned=True)
    pairs = (("below", "slip", 1), ("above", "slip", -1))
    rows: dict[str, Form] = {"slip": _SLIP, "above": cone[1]}
    return ModeTable((stick, forth, back), {"below": (0, 1)}, rows, pairs, follows=sides[0])


def _resultant() -> ModeTable:
    # What is linear of it; the size of T is not, and is looked after in `pins`.
    stick = ModeConditions((_SLIP,), (), (), ("slip",))
    forth = ModeConditions((), (_SLIP,), (BACKWARDS,), (), strict=("slip",))
    back = ModeConditions((), (_MINUS_SLIP,), (BACKWARDS,), (), strict=("slip",), turned=True)
    return ModeTable((stick, forth, back), {}, {}, ())
