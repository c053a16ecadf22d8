"""The next mode of a contact that stands alone, beyond doubt and in compiled code.

M a = Q + sum lam_j w_j + sum T_f u_f. One contact is to be decided: it has closed, its slip has stopped, its force has
reached a bound. All others act as they did, and that is checked too. At most one acceleration satisfies the laws where
no friction goes with a normal force (Gauss), and where contacts don't feel each other (w_i M^-1 w_j = 0 beside what is
held both ways) and each has w M^-1 w > mu |w M^-1 u|. Then a mode in which every force and every acceleration is on its
side by far more than rounding is the one, and no other has to be looked at.

A force that has just reached its bound is on no side. There the next instants decide: in the old mode it leaves its
bound in proportion to the time, in the new one all is on its side. What is not so, or not beyond a margin, is not
decided here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import call_kernel, njit
from zwang._numerics.linear.dense import cholesky, forward
from zwang._numerics.motion.bands import DenseTerms
from zwang._numerics.motion.lone_impact import CLEAR, SOUND, TermPlaces, along, lay
from zwang._numerics.motion.mode_forces import (
    BILATERAL,
    CLOSED,
    OPEN,
    SLIP_MINUS,
    SLIP_PLUS,
    STICK,
    UNILATERAL,
    ContactLines,
    Forces,
    KnownLines,
    signed,
    solve,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Matrix = NDArray[np.float64]

APART = 1e-12
"""Cosine of the angle between rows of contacts that don't feel each other: rounding."""
LOOKS = (1e-3, 1e-2)
"""How far to look where a force has reached its bound, in parts of the time on which the motion changes little."""
HALF = 0.15
"""How far from one half of the whole the change up to half of a look may be where it is in proportion to the time."""
UNDECIDED = -1
PULLS = 8
"""Is added to the label of a line that holds both ways and pulls, as in `Mode`."""


@njit(_nrt=False)
def acceleration(row: Floats, bias: float, x: Forces) -> float:
    """Return the acceleration along a row, in parts of the size of its terms."""
    size = abs(bias)
    for i in range(row.size):
        size += abs(row[i]) * x.pull[i]
    return (along(row, x.a) - bias) / size if size > 0.0 else 0.0


@njit(_nrt=False)
def pressure(terms: DenseTerms, row: Floats, force: float, bias: float, x: Forces) -> float:
    """Return a normal force in parts of what would stop all that pulls along its row."""
    size, answer = abs(bias), 0.0
    for i in range(row.size):
        size += abs(row[i]) * x.pull[i]
        answer += row[i] * row[i] / terms.mass[i, i]
    return force * answer / size if size > 0.0 else 0.0


@njit(_nrt=False)
def reserve(lines: ContactLines, places: TermPlaces, k: int, x: Forces) -> tuple[float, float]:
    """Return how far inside what holds it at rest the friction of a line is, and the size of what is compared."""
    load = x.normal[k] if lines.coulomb[k] == 1 else 1.0
    plus, minus = x.out[places.starts[7] + lines.rest_plus[k]], x.out[places.starts[7] + lines.rest_minus[k]]
    size = max(max(plus, minus) * abs(load), abs(x.friction[k]), 1e-300)
    return min(x.friction[k] + plus * load, minus * load - x.friction[k]), size


@njit(_nrt=False)
def reaches(lines: ContactLines, places: TermPlaces, known: KnownLines, k: int, x: Forces) -> float:
    """Return what reaches zero where the force of a line reaches its bound."""
    return reserve(lines, places, k, x)[0] if known.labels[k] == STICK else x.normal[k]


@njit(_nrt=False)
def rough(lines: ContactLines, places: TermPlaces, terms: DenseTerms, k: int, x: Forces) -> bool:
    """Say whether a line has friction beyond doubt, whichever way it slips: without, it neither sticks nor slips."""
    at, s = places.starts[7], lines.slip[k]
    least = min(x.out[at + lines.plus[k]], x.out[at + lines.minus[k]])
    if lines.coulomb[k] == 1:
        return bool(least > CLEAR)
    return bool(pressure(terms, terms.slip_rows[s], least, x.out[places.starts[9] + s], x) > CLEAR)


@njit(_nrt=False)
def margin(lines: ContactLines, places: TermPlaces, terms: DenseTerms, known: KnownLines, k: int, x: Forces) -> float:
    """Return by how much a line is on its side, in parts of the sizes of its terms; negative where it is not."""
    label, j, s = known.labels[k], lines.normal[k], lines.slip[k]
    least = 1.0
    if lines.side[k] == UNILATERAL:
        gamma = x.out[places.starts[8] + j]
        if label == OPEN:
            return acceleration(terms.rows[j], gamma, x)
        least = pressure(terms, terms.rows[j], x.normal[k], gamma, x)
    if s >= 0 and label != OPEN and not rough(lines, places, terms, k, x):
        return 0.0
    if label == STICK:
        room, size = reserve(lines, places, k, x)
        return min(least, room / size)
    if known.rests[k] == 1 and signed(label) != 0.0:
        starts = signed(label) * acceleration(terms.slip_rows[s], x.out[places.starts[9] + s], x)
        return min(least, starts)
    return least


@njit(_nrt=False)
def worst(lines: ContactLines, places: TermPlaces, terms: DenseTerms, known: KnownLines, lead: int, x: Forces) -> float:
    """Return the smallest margin of all lines but one."""
    least = 1.0
    for k in range(known.labels.size):
        if k != lead and known.acts[k] == 1 and known.certain[k] == 0:
            found = margin(lines, places, terms, known, k, x)
            if not found >= least:
                least = found
    return least


@njit(_nrt=False)
def largest_bound(lines: ContactLines, places: TermPlaces, out: Floats, k: int) -> float:
    """Return the largest coefficient of a Coulomb law, 0 for other lines."""
    at = places.starts[7]
    if lines.coulomb[k] == 0:
        return 0.0
    moving = max(out[at + lines.plus[k]], out[at + lines.minus[k]])
    return max(moving, out[at + lines.rest_plus[k]], out[at + lines.rest_minus[k]])  # type: ignore[no-any-return]


@njit(_nrt=False)
def project(lines: ContactLines, terms: DenseTerms, known: KnownLines, x: Forces) -> int:
    """Set the rows of contacts beside what is held both ways, each with its line in `order`; how many, -1: can't say.

    The normal row of a line comes before that of its slip.
    """
    n, held, count = terms.force.size, 0, 0
    if not cholesky(terms.mass, x.factor, n, 0.0) > SOUND:
        return -1
    for turn in range(2):  # first what is held both ways, as unit rows across each other in `columns`
        for k in range(known.labels.size):
            both = lines.side[k] == BILATERAL
            if known.acts[k] == 0 or both != (turn == 0):
                continue
            for part in range(2):
                number = lines.normal[k] if part == 0 else lines.slip[k]
                rubs = part == 1 and not both and (lines.coulomb[k] == 1 or known.rests[k] == 1)
                if number < 0 or (part == 1 and not rubs):
                    continue
                row = x.columns[held] if both else x.rows[count]
                given = terms.rows[number] if part == 0 else terms.slip_rows[number]
                for i in range(n):
                    row[i] = given[i]
                forward(x.factor, row, n)
                before = along(row, row)
                for _ in range(2):
                    for r in range(held):
                        share = along(x.columns[r], row)
                        for i in range(n):
                            row[i] -= share * x.columns[r, i]
                after = along(row, row)
                if not after > SOUND * before:
                    return -1
                if both:
                    for i in range(n):
                        row[i] /= np.sqrt(after)
                    held += 1
                else:
                    x.order[count] = k
                    count += 1
    return count


@njit(_nrt=False)
def unique(lines: ContactLines, places: TermPlaces, terms: DenseTerms, known: KnownLines, x: Forces) -> bool:
    """Say whether it is plain that at most one acceleration satisfies the laws."""
    rubs = False
    for k in range(known.labels.size):
        rubs = rubs or (known.acts[k] == 1 and largest_bound(lines, places, x.out, k) > 0.0)
    if not rubs:
        return True  # Gauss
    count = project(lines, terms, known, x)
    for r in range(count):
        for c in range(r):
            product, first, second = (
                along(x.rows[r], x.rows[c]),
                along(x.rows[c], x.rows[c]),
                along(x.rows[r], x.rows[r]),
            )
            if x.order[r] != x.order[c]:
                if not product * product <= APART * APART * first * second:
                    return False
            elif not first * (1.0 - CLEAR) > largest_bound(lines, places, x.out, x.order[r]) * abs(product):
                return False
    return count >= 0


class LoneSystem(NamedTuple):
    """Of a system: the address of the function of its terms, its lines, parameters, and room for what is computed."""

    address: int
    lines: ContactLines
    places: TermPlaces
    params: Floats
    terms: DenseTerms
    x: Forces


@njit
def evaluated(of: LoneSystem, t: float, q: Floats, v: Floats) -> bool:
    """Set the terms of the equations at a state; False where they are no numbers."""
    places, out = of.places, of.x.out
    if call_kernel(of.address, t, q, v, of.params, places.table, places.work, out) != 0:
        return False
    lay(places, out, of.terms)
    total = 0.0
    for k in range(places.size[0]):
        total += abs(out[k])
    return total < np.inf


@njit
def ahead(of: LoneSystem, known: KnownLines, t: float, q: Floats, v: Floats, h: float) -> bool:
    """Solve the equations of a mode a time h later, having moved in it: by the midpoint rule."""
    lines, places, terms, x = of.lines, of.places, of.terms, of.x
    if not evaluated(of, t, q, v) or not solve(lines, places, terms, known, x):
        return False
    place, speed = q + 0.5 * h * v + 0.125 * h * h * x.a, v + 0.5 * h * x.a
    if not evaluated(of, t + 0.5 * h, place, speed) or not solve(lines, places, terms, known, x):
        return False
    place, speed = q + h * v + 0.5 * h * h * x.a, v + h * x.a
    return bool(evaluated(of, t + h, place, speed) and solve(lines, places, terms, known, x))


@njit
def room_of(places: TermPlaces, n: int, lines: int) -> tuple[DenseTerms, Forces]:
    """Return room for terms and for the equations of a mode."""
    most = n + 2 * lines
    terms = DenseTerms(np.zeros((n, n)), np.zeros(n), np.zeros((places.size[1], n)), np.zeros((places.size[2], n)))
    return terms, Forces(
        np.zeros(places.size[0] + 1), np.zeros((n, n)), np.zeros((most, n)), np.zeros((most, n)),
        np.zeros((most, most)), np.zeros(most, np.int64), np.zeros(most), np.zeros(n), np.zeros(n), np.zeros(lines),
        np.zeros(lines),
    )  # fmt: skip


@njit(_nrt=False)
def option(lines: ContactLines, known: KnownLines, lead: int, slip: float, number: int) -> int:
    """Return the labels that a line can have, in the order in which they are tried; UNDECIDED beyond the last."""
    rubs = lines.slip[lead] >= 0
    if not rubs:
        return (CLOSED, OPEN, UNDECIDED)[min(number, 2)]
    if known.rests[lead] == 1:
        label = (STICK, SLIP_PLUS, SLIP_MINUS, OPEN, UNDECIDED)[min(number, 4)]
    else:
        label = (SLIP_PLUS if slip > 0.0 else SLIP_MINUS, OPEN, UNDECIDED)[min(number, 2)]
    return UNDECIDED if label == OPEN and lines.side[lead] != UNILATERAL else label


@njit
def now(lines: ContactLines, places: TermPlaces, terms: DenseTerms, known: KnownLines, lead: int, x: Forces) -> bool:
    """Set the label of a line that is on its side beyond doubt, as all others are; False where there is none."""
    slip = x.out[places.starts[5] + lines.slip[lead]] if lines.slip[lead] >= 0 else 0.0
    for number in range(5):
        label = option(lines, known, lead, slip, number)
        if label == UNDECIDED:
            return False
        known.labels[lead] = label
        if not solve(lines, places, terms, known, x):
            return False
        own = margin(lines, places, terms, known, lead, x)
        if own > CLEAR and worst(lines, places, terms, known, lead, x) > CLEAR:
            return True
        if label == STICK and not own < -CLEAR and lines.static[lead] == 1:
            return False  # rest comes first where it has a law of its own
    return False


@njit
def next_instants(
    of: LoneSystem, known: KnownLines, other: KnownLines, t: float, q: Floats, v: Floats, span: float, lead: int
) -> bool:
    """Say whether a line whose force has reached its bound leaves the mode that it was in for another one."""
    lines, places, terms, x = of.lines, of.places, of.terms, of.x
    for look in LOOKS:
        h, half = look * span, 0.0
        for part in (0.5, 1.0):
            if not ahead(of, known, t, q, v, part * h):
                return False
            if not worst(lines, places, terms, known, lead, x) > CLEAR:
                return False
            if part < 1.0:
                half = reaches(lines, places, known, lead, x)
        whole = reaches(lines, places, known, lead, x)
        if not margin(lines, places, terms, known, lead, x) < -CLEAR:
            continue
        if not abs(half / whole - 0.5) <= HALF or not unique(lines, places, terms, known, x):
            return False
        if not ahead(of, other, t, q, v, h) or not margin(lines, places, terms, other, lead, x) > CLEAR:
            return False
        return bool(worst(lines, places, terms, other, lead, x) > CLEAR)
    return False


@njit(_nrt=False)
def signs(lines: ContactLines, places: TermPlaces, terms: DenseTerms, known: KnownLines, x: Forces) -> bool:
    """Set in `order` 1 for lines that hold both ways and pull, else 0; False where such a force is next to zero."""
    for k in range(known.labels.size):
        x.order[k] = 0
        if lines.side[k] == BILATERAL and x.normal[k] != 0.0:
            j = lines.normal[k]
            size = pressure(terms, terms.rows[j], x.normal[k], x.out[places.starts[8] + j], x)
            if not abs(size) > CLEAR:
                return False
            x.order[k] = 1 if size < 0.0 else 0
    return True


@njit(
    "boolean(int64, ContactLines, TermPlaces, float64[::1], KnownLines, float64, float64[::1], float64[::1], float64, "
    "int64, boolean)"
)
def lone_label(
    address: int, lines: ContactLines, places: TermPlaces, params: Floats, known: KnownLines, t: float, q: Floats,
    v: Floats, span: float, lead: int, tied: bool,
) -> bool:  # fmt: skip
    """Set the label of a line, all others keeping theirs; False where that is not plain.

    Parameters
    ----------
    address : int
        Of the function of the terms.
    lines, places : ContactLines, TermPlaces
    params : (p,) array
    known : KnownLines
        With the labels until now; that of `lead` is set.
    t, q, v : float and (n,) arrays
        The state.
    span : float
        A time on which the motion changes little.
    lead : int
        Number of the line.
    tied : bool
        Whether its force has just reached its bound.
    """
    terms, x = room_of(places, q.size, lines.side.size)
    of = LoneSystem(address, lines, places, params, terms, x)
    before = known.labels[lead]
    if not evaluated(of, t, q, v) or not unique(lines, places, terms, known, x):
        return False
    if not tied:
        if not now(lines, places, terms, known, lead, x) or not signs(lines, places, terms, known, x):
            return False
        for k in range(known.labels.size):
            known.labels[k] += PULLS * x.order[k]
        return True
    if not solve(lines, places, terms, known, x):
        return False
    after = OPEN
    if before == STICK:
        j = lines.normal[lead]
        if j >= 0 and not pressure(terms, terms.rows[j], x.normal[lead], x.out[places.starts[8] + j], x) > CLEAR:
            return False
        after = SLIP_MINUS if x.friction[lead] > 0.0 else SLIP_PLUS
    elif lines.side[lead] != UNILATERAL:
        return False
    if not signs(lines, places, terms, known, x):
        return False
    pulls = x.order[: known.labels.size].copy()
    other = KnownLines(known.labels.copy(), known.acts, known.rests, known.certain, known.usual)
    other.labels[lead] = after
    if not next_instants(of, known, other, t, q, v, span, lead):
        return False
    for k in range(pulls.size):
        known.labels[k] = other.labels[k] + PULLS * pulls[k]
    return True
