"""The impact of a contact that stands alone, in closed form and in compiled code.

One contact closes and all others are open beyond doubt; it separates after the impact, and nothing else changes: the
mode after it is the mode before it. The outcome is in closed form (without friction for every law; with friction for
Newton's), the held rows carry their share. What is not so beyond a margin far above rounding needs a closer look:
contacts that meet together, low speeds, flights that shrink towards an end, laws with no or several outcomes, rows that
are nearly dependent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import call_kernel, njit
from zwang._numerics.linear.dense import backward, cholesky, forward
from zwang._numerics.motion.bands import (
    GAP,
    ROUNDING,
    SLIP,
    VALUE,
    DenseTerms,
    WatchRows,
    WaySizes,
    gap_size,
    speed_size,
    way_size,
)
from zwang._numerics.motion.events import Watched

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Matrix = NDArray[np.float64]
IntMatrix = NDArray[np.int64]

CLEAR = 1e-7
"""Gaps, rates, slips and forces beyond this part of their terms have a sign beyond doubt."""
SOUND = 1e-9
"""Least pivot, relative to its diagonal entry, of rows that are independent beyond doubt."""
EXACT = 1e-11
"""What the rates after an impact may miss, relative to what they change."""
LOW = 20.0
"""Flights up to this many times as high as tolerance and rounding are looked at closely: some of them close."""
STEADIEST = 0.2
"""How much the factor between flights may change where they may shrink to an end."""
APART = 1e-11
"""Part of the time by which two impacts must lie apart."""
FRICTION, ENERGY, RUBBED = range(3)
"""Beside the normal impulses: that of friction, the change of the kinetic energy, and whether there was friction."""


class TermPlaces(NamedTuple):
    """Where the terms stand in what their function writes.

    Attributes
    ----------
    mass, rows, slip_rows : (k, 2) arrays
        Places in the matrices, in the order of their numbers.
    starts : (10,) array
        First of mass, force, value, rate, rows, slip, slip_rows, bounds, gamma and slip_bias.
    table, work : arrays
        What the function takes.
    size : (3,) array
        Of the output, and how many normals and slips there are.
    """

    mass: IntMatrix
    rows: IntMatrix
    slip_rows: IntMatrix
    starts: Ints
    table: Ints
    work: Floats
    size: Ints


class LoneContacts(NamedTuple):
    """The constraints of a mode.

    Attributes
    ----------
    held : (k,) array
        Normals that are held.
    level : (m,) array
        1 for normals on positions, 0 on velocities.
    restitution : (w,) array
        Of each watched gap; nan where its impacts are not for this loop.
    slip, bound : (w,) arrays
        The slip component and the bound of friction of each watched gap, -1 without friction.
    """

    held: Ints
    level: Ints
    restitution: Floats
    slip: Ints
    bound: Ints


class Flown(NamedTuple):
    """Flights so far.

    Attributes
    ----------
    times : (w, 4) array
        Of the last impacts of each watched gap, the latest last; nan where there are fewer.
    last : (1,) array
        When the last event was.
    """

    times: Matrix
    last: Floats


class Scratch(NamedTuple):
    """Room for an impact: what the terms' function writes, factors of the mass, rows, products, velocities."""

    out: Floats
    factor: Matrix
    rows: Matrix
    gram: Matrix
    impulses: Floats
    velocity: Floats


@njit(_nrt=False)
def lay(places: TermPlaces, out: Floats, terms: DenseTerms) -> None:
    """Put the terms that a function has written into matrices."""
    n = terms.force.size
    for k in range(places.mass.shape[0]):
        i, j = places.mass[k, 0], places.mass[k, 1]
        terms.mass[i, j] = terms.mass[j, i] = out[places.starts[0] + k]
    for i in range(n):
        terms.force[i] = out[places.starts[1] + i]
    for k in range(places.rows.shape[0]):
        terms.rows[places.rows[k, 0], places.rows[k, 1]] = out[places.starts[4] + k]
    for k in range(places.slip_rows.shape[0]):
        terms.slip_rows[places.slip_rows[k, 0], places.slip_rows[k, 1]] = out[places.starts[6] + k]


@njit(_nrt=False)
def along(row: Floats, v: Floats) -> float:
    """Return the sum of products."""
    total = 0.0
    for i in range(v.size):
        total += row[i] * v[i]
    return total


@njit
def on_their_sides(
    rows: WatchRows, places: TermPlaces, out: Floats, terms: DenseTerms, sizes: WaySizes, sides: Floats, lead: int
) -> bool:
    """Say whether constraints on velocities are open beyond doubt, and slips go on as they did; gaps but `lead` too."""
    for k in range(rows.kinds.size):
        kind, c = rows.kinds[k], rows.first[k]
        good = True
        if kind == GAP and k != lead:
            good = out[places.starts[2] + c] > CLEAR * gap_size(sizes, c, terms.rows[c])
        elif kind == VALUE:
            good = out[places.starts[2] + c] > CLEAR * speed_size(sizes, sizes.rate[c], terms.rows[c])
        elif kind == SLIP:
            size = speed_size(sizes, sizes.slip[c], terms.slip_rows[c])
            good = sides[k] * out[places.starts[5] + c] > CLEAR * size
        if not good:
            return False
    return True


@njit
def closes(
    contacts: LoneContacts, places: TermPlaces, out: Floats, terms: DenseTerms, sizes: WaySizes, contact: int
) -> bool:
    """Say whether a contact closes beyond doubt, while what is held is held."""
    value, rate = places.starts[2], places.starts[3]
    for j in contacts.held:
        size = speed_size(sizes, sizes.rate[j], terms.rows[j])
        if not abs(out[(rate if contacts.level[j] == 1 else value) + j]) <= CLEAR * size:
            return False
    size = speed_size(sizes, sizes.rate[contact], terms.rows[contact])
    return bool(out[rate + contact] < -CLEAR * size)


@njit
def newton(P: float, e: float, mu: float, rate: float, slip: float, g: Floats) -> tuple[int, float, float]:
    """Return how many modes of Coulomb's law Newton's restitution has, and the impulses of the last one.

    `g` holds how the rate and the slip answer: g_nn, g_nt, g_tt. A mode that is admissible or not by next to nothing
    counts as many.
    """
    found, normal, friction = 0, 0.0, 0.0
    nn, nt, tt = g[0], g[1], g[2]
    size = abs(slip) + abs(nt) * P + tt * mu * P
    for sign in (-1.0, 1.0):
        answer = nn - sign * mu * nt
        if not abs(answer) > CLEAR * nn:
            return 9, 0.0, 0.0
        impulse = -(1.0 + e) * rate / answer
        after = sign * (slip + (nt - sign * mu * tt) * impulse)
        if impulse > 0.0 and abs(after) <= CLEAR * size:
            return 9, 0.0, 0.0
        if impulse > 0.0 and after > 0.0:
            found, normal, friction = found + 1, impulse, -sign * mu * impulse
    whole = nn * tt - nt * nt
    if not whole > SOUND * nn * tt:
        return 9, 0.0, 0.0
    impulse = (-(1.0 + e) * rate * tt + nt * slip) / whole
    force = (-slip - nt * impulse) / tt
    if impulse > 0.0 and abs(mu * impulse - abs(force)) <= CLEAR * (mu * impulse + abs(force)):
        return 9, 0.0, 0.0
    if impulse > 0.0 and abs(force) < mu * impulse:
        found, normal, friction = found + 1, impulse, force
    return found, normal, friction


@njit
def jump(
    contacts: LoneContacts, places: TermPlaces, terms: DenseTerms, scratch: Scratch, v: Floats, contact: int, lead: int
) -> bool:
    """Set the impulses (held rows, the contact, its friction) and the velocity after an impact; False: not for here."""
    n, k, out = v.size, contacts.held.size, scratch.out
    rows, gram, P = scratch.rows, scratch.gram, scratch.impulses
    slip, bound = contacts.slip[lead], contacts.bound[lead]
    mu = out[places.starts[7] + bound] if slip >= 0 else 0.0
    e, rate = contacts.restitution[lead], out[places.starts[3] + contact]
    if not 0.0 <= e <= 1.0 or not mu >= 0.0:
        return False
    count = k + (2 if mu > 0.0 else 1)
    for r in range(count):
        row = terms.rows[contacts.held[r]] if r < k else terms.rows[contact] if r == k else terms.slip_rows[slip]
        for i in range(n):
            rows[r, i] = row[i]
    if not cholesky(terms.mass, scratch.factor, n, 0.0) > SOUND:
        return False
    for r in range(count):
        forward(scratch.factor, rows[r], n)
    for r in range(count):
        for s in range(r + 1):
            gram[r, s] = along(rows[r], rows[s])
    if not cholesky(gram, gram, count, 0.0) > SOUND:
        return False
    nn = 1.0 / gram[k, k] ** 2  # what is left of the contact's row beside the held ones
    P[k] = -(1.0 + e) * rate / nn
    if mu > 0.0:
        nt = gram[k + 1, k] / gram[k, k]
        answers = np.array([nn, nt, 1.0 / gram[k + 1, k + 1] ** 2 + gram[k + 1, k] ** 2])
        found, normal, friction = newton(P[k], e, mu, rate, out[places.starts[5] + slip], answers)
        if found != 1:
            return False
        P[k], P[k + 1] = normal, friction
    for s in range(k):
        P[s] = 0.0
        for r in range(k, count):
            P[s] -= along(rows[s], rows[r]) * P[r]
    forward(gram, P, k)
    backward(gram, P, k)
    for i in range(n):
        scratch.velocity[i] = 0.0
        for r in range(count):
            scratch.velocity[i] += rows[r, i] * P[r]
    backward(scratch.factor, scratch.velocity, n)
    for i in range(n):
        scratch.velocity[i] += v[i]
    return True


@njit
def parted(
    contacts: LoneContacts, places: TermPlaces, terms: DenseTerms, scratch: Scratch, v: Floats, contact: int,
    lead: int, more: Floats,
) -> bool:  # fmt: skip
    """Say whether a contact separates after an impact as its restitution says, without a gain of energy.

    `more` receives the impulse of friction and the change of energy.
    """
    n, k, out, after = v.size, contacts.held.size, scratch.out, scratch.velocity
    e, rate = contacts.restitution[lead], out[places.starts[3] + contact]
    change, target = 0.0, (1.0 + e) * abs(rate)
    size = 0.0
    for i in range(n):
        change += terms.rows[contact, i] * (after[i] - v[i])
        size += abs(terms.rows[contact, i]) * (abs(after[i]) + abs(v[i]))
    size += abs(rate - along(terms.rows[contact], v))
    if not abs(change - target) <= EXACT * target or not rate + change > CLEAR * size:
        return False
    for j in contacts.held:
        off = 0.0
        for i in range(n):
            off += terms.rows[j, i] * (after[i] - v[i])
        if not abs(off) <= EXACT * target * max(1.0, along(np.abs(terms.rows[j]), np.abs(after))):
            return False
    before = energy = gain = 0.0
    for i in range(n):
        for j in range(n):
            before += v[i] * terms.mass[i, j] * v[j]
            energy += after[i] * terms.mass[i, j] * after[j]
            gain += (after[i] - v[i]) * terms.mass[i, j] * (after[j] - v[j])
    more[FRICTION], more[ENERGY], more[RUBBED] = 0.0, 0.5 * energy - 0.5 * before, 0.0
    slip, bound = contacts.slip[lead], contacts.bound[lead]
    if slip >= 0 and out[places.starts[7] + bound] > 0.0:
        more[FRICTION], more[RUBBED] = scratch.impulses[k + 1], 1.0
        rubbed = 2.0 * out[places.starts[5] + slip]
        for i in range(n):
            rubbed += terms.slip_rows[slip, i] * (after[i] - v[i])
        work = 0.5 * scratch.impulses[k] * (2.0 * rate + change) + 0.5 * more[FRICTION] * rubbed
        if not work <= 0.1 * EXACT * 0.5 * gain:
            return False
    return True


@njit
def seen(flown: Flown, lead: int, t: float, speed: float, lowest: float) -> bool:
    """Say whether the flight that follows an impact is seen beyond doubt, and none before it was too short for that.

    Flights whose factor may be steady, and the next one of which is low, may have come to their end.
    """
    times = flown.times[lead]
    first, second, third = times[2] - times[1], times[3] - times[2], t - times[3]
    if np.isnan(first):
        return True  # too few of them
    if not min(first, second, third) > 0.0:
        return False
    r, before = third / second, second / first
    steady = r < 1.0 and abs(r - before) <= STEADIEST * max(r, before)
    return not steady or speed * third * r / 4.0 > LOW * lowest


class Known(NamedTuple):
    """What an impact is looked at with: watches, contacts, terms, sizes and flights, and room for it."""

    rows: WatchRows
    contacts: LoneContacts
    places: TermPlaces
    terms: DenseTerms
    sizes: WaySizes
    flown: Flown
    scratch: Scratch


@njit
def evaluated(address: int, known: Known, params: Floats, t: float, q: Floats, v: Floats) -> bool:
    """Set the terms of the equations at a state; False where they are no numbers."""
    places, out = known.places, known.scratch.out
    if call_kernel(address, t, q, v, params, places.table, places.work, out) != 0:
        return False
    lay(places, out, known.terms)
    return True


@njit
def strike(
    address: int, known: Known, watched: Watched, params: Floats, t: float, q: Floats, v: Floats, lead: int,
    left: float, tol: float, more: Floats,
) -> bool:  # fmt: skip
    """Let a contact meet: impulses and velocity stand in the scratch; False where that needs a closer look.

    `left` is the time until the end; `more` receives what else is to be said of the impact.
    """
    rows, contacts, places, terms, sizes, flown, scratch = known
    contact = rows.first[lead]
    if t - flown.last[0] <= APART * max(abs(t), left) or not evaluated(address, known, params, t, q, v):
        return False
    if not on_their_sides(rows, places, scratch.out, terms, sizes, watched.sides, lead):
        return False
    if not closes(contacts, places, scratch.out, terms, sizes, contact):
        return False
    if not jump(contacts, places, terms, scratch, v, contact, lead):
        return False
    if not parted(contacts, places, terms, scratch, v, contact, lead, more):
        return False
    away, row = contacts.restitution[lead] * -scratch.out[places.starts[3] + contact], terms.rows[contact]
    lowest = max(tol, 1e-12) * gap_size(sizes, contact, row) + 20.0 * ROUNDING * way_size(sizes, 0, row, t)
    if not seen(flown, lead, t, away, lowest):
        return False
    if not evaluated(address, known, params, t, q, scratch.velocity):
        return False
    return bool(on_their_sides(rows, places, scratch.out, terms, sizes, watched.sides, lead))
