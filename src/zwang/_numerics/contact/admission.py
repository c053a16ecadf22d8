"""Who takes part: which constraints act at a state, and which of them rest. The one rule, for many states at once.

Gaps, rates and slips count as zero below a tolerance times their size. A one-sided constraint on positions is open
above zero; at zero it separates with a positive rate and closes with a negative one, and acts in between. One on
velocities acts where its expression is zero. A two-sided constraint and a bound always act; a state off a two-sided
constraint, or below a one-sided one, violates it.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.table import ContactArrays
from zwang._numerics.sizes import CharacteristicSizes, CoordinateSizes, row_sums, sizes_at
from zwang._numerics.tolerances import Tolerances

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


ASIDE, LOOKS = 0.3, 3
"""How far beside a state rows are looked at, in characteristic sizes, and how often."""


class Standing(IntEnum):
    """How a constraint stands to a state."""

    ACTIVE = 0
    OPEN = 1
    CLOSING = 2
    VIOLATED = 3


_O, _A, _C, _V = int(Standing.OPEN), int(Standing.ACTIVE), int(Standing.CLOSING), int(Standing.VIOLATED)
STANDINGS = np.array(
    [
        [[_V, _V, _V], [_C, _A, _O], [_O, _O, _O]],  # one-sided
        [[_V, _V, _V], [_C, _A, _C], [_V, _V, _V]],  # two-sided
        [[_A, _A, _A], [_A, _A, _A], [_A, _A, _A]],  # a bound
    ]
)
"""The rule: how a line stands, by its side and the signs (-1, 0, 1) of its value and its rate."""


class Sizes(NamedTuple):
    """What tolerances are relative to: of gaps (m, B), rates (m, B) and slips (s, B)."""

    gap: Array
    rate: Array
    slip: Array


def characteristic(terms: Any, turns: Bools, sizes: CharacteristicSizes) -> Sizes:
    """Return the sizes of gaps, rates and slips at states from those of coordinates and velocities."""
    (lines, angles), (along, about) = (row_sums(rows, turns) for rows in (terms.rows, terms.slip_rows))
    rate, slip = (part * sizes.speed + other * sizes.spin for part, other in ((lines, angles), (along, about)))
    return Sizes(lines * sizes.length + angles, rate, slip)


def sizes_of(terms: Any, sizes: CoordinateSizes) -> Sizes:
    """Return the sizes of the terms of gaps, rates and slips at states, from those (n, B) of coordinates and speeds."""
    if not isinstance(terms.rows, (tuple, list)):
        rows = np.abs(terms.rows)
        slips = (np.abs(terms.slip_rows) * sizes.speed).sum(axis=1)
        return Sizes((rows * sizes.length).sum(axis=1), (rows * sizes.speed).sum(axis=1), slips)

    def along(matrices: Any, x: Array) -> Array:
        return np.column_stack([abs(matrix) @ x[:, k] for k, matrix in enumerate(matrices)])

    return Sizes(along(terms.rows, sizes.length), along(terms.rows, sizes.speed), along(terms.slip_rows, sizes.speed))


def sizes_near(
    evaluate: Callable[..., Any],
    terms: Any,
    t: Array,
    q: Array,
    v: Array,
    params: Array,
    turns: Bools,
    scales: CoordinateSizes | None = None,
) -> tuple[CharacteristicSizes, Sizes]:
    """Return the characteristic sizes of states (B) with their terms, and the largest of gaps, rates, slips near them.

    At a state itself a row may vanish, where the configuration space is singular. `evaluate` gives the terms of the
    equations at (t, q, v, params); `scales` (n,) are sizes that were given, nan where none was.
    """
    own = sizes_at(terms, turns, q, v)
    if scales is not None:
        own = own.but(scales, turns)
    found = characteristic(terms, turns, own)
    shifts = (
        np.where(turns[:, None], 1.0, own.length)[:, :, None]
        * np.cos(1.0 + np.arange(len(q))[:, None] + np.arange(LOOKS))[:, None]
    )
    near = (q[:, :, None] + ASIDE * shifts).reshape(len(q), -1)
    many = params if params.shape[1] == 1 else np.repeat(params, LOOKS, axis=1)
    beside = evaluate(np.repeat(t, LOOKS), near, np.repeat(v, LOOKS, axis=1), many)
    spread = CharacteristicSizes(*(np.repeat(part, LOOKS) for part in own))
    for k, part in enumerate(characteristic(beside, turns, spread)):
        looks = np.where(np.isfinite(part), part, 0.0).reshape(len(part), q.shape[1], LOOKS)  # not all are possible
        found = found._replace(**{Sizes._fields[k]: np.maximum(found[k], looks.max(axis=2))})
    return own, found


class Admission(NamedTuple):
    """How every line of a table stands to every state.

    Attributes
    ----------
    standing : (k, B) int array
        As in `Standing`.
    gap, pace : (k, B) int arrays
        Signs of the value and, on positions, of its rate; 0 up to the tolerance.
    rest : (k, B) bool array
        Whether there is a slip and it is zero.
    near, still : (k, B) arrays
        The tolerances of value and rate.
    """

    standing: Ints
    gap: Ints
    pace: Ints
    rest: Bools
    near: Array
    still: Array


def admit(
    table: ContactArrays, terms: Any, q: Array, v: Array, tolerances: Tolerances, floors: Sizes | None = None
) -> Admission:
    """Return how the constraints stand to states.

    Parameters
    ----------
    table : ContactArrays
    terms : Terms or SparseTerms
        Of the equations at B states.
    q, v : (n, B) arrays
        In memory or, as the terms, on a device.
    tolerances : Tolerances
    floors : Sizes, optional
        Sizes (m, 1), (m, 1), (s, 1) along a motion, to which those of the terms are added; else the characteristic
        sizes of each state are found.

    Examples
    --------
    A particle on a floor that it leaves, touches, meets and has passed.

    >>> import zwang as zw
    >>> from zwang._declare.contact_table import table_of
    >>> (x, y), (v_x, v_y) = zw.coordinates("x y")
    >>> floor = zw.Unilateral(y, name="floor")
    >>> ball = zw.System(name="ball", coordinates=[x, y], kinetic=(v_x**2 + v_y**2)/2, constraints=[floor])
    >>> q, v = np.array([[0, 0, 0, 0.0], [0, 0, 0, -1]]), np.array([[1, 1, 1, 1.0], [2, 0, -2, 0]])
    >>> terms = zw.compile(ball, "reference").kernels.terms(np.zeros(4), q, v, np.zeros((0, 1)))
    >>> [Standing(s).name for s in admit(table_of(ball).arrays, terms, q, v, Tolerances()).standing[0]]
    ['OPEN', 'ACTIVE', 'CLOSING', 'VIOLATED']
    """
    if floors is None:
        sizes = characteristic(terms, table.turns, sizes_at(terms, table.turns, q, v))
    else:
        turns = np.asarray(table.turns[:, None], like=q)
        own = sizes_of(terms, CoordinateSizes(np.where(turns, 0.0, np.abs(q)), np.abs(v)))
        sizes = Sizes(*(floor + part for floor, part in zip(floors, own, strict=True)))
    side, positions, rule = (_beside(part, q) for part in (table.sides, table.positions, STANDINGS))
    value, still = _of_lines(table, terms.value), tolerances.rate * _of_lines(table, sizes.rate)
    near = np.where(positions, tolerances.gap * _of_lines(table, sizes.gap), still)
    rate = np.where(positions, _of_lines(table, terms.rate), 0.0)
    gap = (value > near).astype(np.int64) - (value < -near)
    pace = (rate > still).astype(np.int64) - (rate < -still)
    standing = _with_loads(table, rule[side, gap + 1, pace + 1])
    return Admission(standing, gap, pace, resting(table, terms.slip, tolerances.slip * sizes.slip), near, still)


def _with_loads(table: ContactArrays, standing: Ints) -> Ints:
    """Return how lines stand, friction that others load being open where none of these is active."""
    for j, lines in table.loaded:
        active = (standing[lines] == Standing.ACTIVE).any(axis=0)
        standing[j] = np.where(active, standing[j], Standing.OPEN)
    return standing


def _of_lines(table: ContactArrays, rows: Array) -> Array:
    """Return rows of normals (m, B) for all lines (k, B), zero for those without one."""
    if table.as_normals:
        return rows
    has = table.normal >= 0
    found = np.zeros((len(has), rows.shape[1]), like=rows)
    found[has] = rows[table.normal[has]]
    return found


def resting(table: ContactArrays, slip: Array, still: Array) -> Bools:
    """Return which lines have a slip (s, B) whose components all stay below the tolerances (s, B): (k, B)."""
    if not len(slip):
        return np.zeros((len(table.first), slip.shape[1]), dtype=bool, like=slip)
    moving = np.abs(slip) > still
    if len(slip) == len(table.first) and table.rubs.all():  # one slip row each
        one: Bools = ~moving
        return one
    counts = np.concatenate([np.zeros((1, slip.shape[1]), np.int64, like=slip), np.cumsum(moving, axis=0)])
    moved = counts[table.first + table.components] - counts[table.first]
    found: Bools = (moved == 0) & _beside(table.rubs, slip)
    return found


def _beside(array: Any, q: Any) -> Any:
    """Return an array where another one is: in memory, or on a device."""
    return array if type(q) is np.ndarray else np.asarray(array, like=q)
