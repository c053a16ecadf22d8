"""Ties: a contact without force and without gap acceleration, friction at its bound without slip acceleration.

Both answers give the same acceleration now, so the next non-zero derivative decides. Each answer is followed for a
short while in its own mode; the one that stays admissible is right. The time is lengthened until exactly one does. If
several stay admissible for good, forces that are zero for good make no difference to the motion: what was held stays
held, as an idle constraint.

A contact near its bound that has not reached it, beyond rounding, is no tie: it keeps what it does until it gets there,
an event of its own, however soon. What it would do after that says nothing about now.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from zwang._kernels import Terms
from zwang._numerics.contact.modes import Mode, Side, slip_mode
from zwang._numerics.contact.table import ContactPlace
from zwang._simulate.ground import Ground
from zwang._simulate.mode_labels import ModeSolution, friction_of, hold, solve_mode
from zwang._simulate.moment import Moment, acts, terms_at

Array = NDArray[np.float64]
TIE = 1e-8
"""Forces and accelerations below this, relative to their terms, count as zero."""
NOISE = 1e-11  # relative to the force or acceleration of the applied forces
LOOKS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""How far to look, in parts of the time on which the motion changes little."""
AHEAD = 16  # spacings of the time that a look goes at least
NEAREST, CLOSER = 1e-9, 20
"""The nearest look, in the same parts, and how often one is halved (by its exponent) where nothing lasts until it."""
PARTING = 1e-3
"""How far to look for supports that move apart, in the same parts."""
SLOW = 1e-6
"""How long friction may have pushed a slip that has just started, in the same parts."""
MOST = 64  # combinations of tied contacts that are looked at
RESTING = (Mode.STICK, Mode.SLIP_PLUS, Mode.SLIP_MINUS)


def settle_ties(
    ground: Ground,
    moment: Moment,
    terms: Terms,
    labels: tuple[Mode, ...],
    before: tuple[Mode, ...] | None,
    span: float,
    pulls: Mapping[int, Array],
    firm: frozenset[int] = frozenset(),
) -> tuple[tuple[Mode, ...], frozenset[int]]:
    """Return the labels with ties decided, and the constraints that are idle.

    `pulls` has the friction force (2,) of every law in a plane: a slip that starts there leaves against it. Contacts
    that are `firm` have no tie.
    """
    if len(firm) == len(labels):
        return labels, frozenset()
    away = directions_away(ground, moment, pulls)
    away |= _swift(ground, terms, pulls, SLOW * span)
    held = hold(ground.table, labels, terms)
    solved = solve_mode(ground.table, terms, held.mode, away)
    options = [
        (label,) if number in firm else _options(ground, moment, terms, solved, number, label)
        for number, label in enumerate(labels)
    ]
    untied = all(len(line) == 1 for line in options)
    if before is not None and not (untied and _lasts(ground, moment, labels, 0.0, away)):
        options = [_with_last(ground, moment, number, line, before[number]) for number, line in enumerate(options)]
    together = _resting_together(ground, labels, held.undetermined)
    if not all(_at_bound(terms, solved, ground.table.places[number]) for number in together):
        for number in together:
            options[number] = (labels[number],)
    options = _with_loads(ground, moment, terms, options)
    for number in _parting(ground, moment, terms, labels, PARTING * span):
        options[number] = tuple(dict.fromkeys([*options[number], *RESTING]))
    count = int(np.prod([len(item) for item in options], dtype=float))
    if count == 1:
        return labels, frozenset()
    candidates = list(product(*options)) if count <= MOST else [labels]
    if ground.table.loaded:
        candidates = list(dict.fromkeys(unloaded(ground, one) for one in candidates))
    if before is not None and before not in candidates and _compatible(before, options):
        candidates.append(before)
    left, seen = _standing(ground, moment, candidates, away), NEAREST
    if len(left) == 1:
        return left[0], frozenset()
    counted = None
    for look in LOOKS:
        h = max(look * span, AHEAD * float(np.spacing(abs(moment.t))))
        lasting = [one for one in left if _lasts(ground, moment, one, h, away, counted)]
        if not lasting:
            lasting = _longest(ground, moment, left, (seen * span, h), away)
        if not lasting and counted is None and moment.tied:  # something else happens at once: what has fired decides
            counted = moment.tied
            lasting = [one for one in left if _lasts(ground, moment, one, h, away, counted)]
        left, seen = lasting, look
        if len(left) == 1:
            return left[0], frozenset()
        if not left:
            return labels, frozenset()
    kept = before if before in left else max(left, key=lambda one: sum(label is not Mode.OPEN for label in one))
    idle = frozenset(
        number
        for number, label in enumerate(kept)
        if label is not Mode.OPEN and any(other[number] is Mode.OPEN for other in left)
    )
    return kept, idle


def _standing(
    ground: Ground, moment: Moment, candidates: list[tuple[Mode, ...]], away: dict[int, Array]
) -> list[tuple[Mode, ...]]:
    """Return the candidates that are admissible now, but for what has fired; all of them where none is."""
    others = frozenset(range(len(ground.table.places))) - moment.tied
    return [one for one in candidates if _lasts(ground, moment, one, 0.0, away, others)] or candidates


def _longest(
    ground: Ground,
    moment: Moment,
    candidates: list[tuple[Mode, ...]],
    between: tuple[float, float],
    away: dict[int, Array],
) -> list[tuple[Mode, ...]]:
    """Return the candidate that lasts longest where something else happens to all of them between two times."""
    short, long = between
    left: list[tuple[Mode, ...]] = []
    for _ in range(CLOSER):
        middle = math.sqrt(short * long)
        lasting = [one for one in candidates if _lasts(ground, moment, one, middle, away)]
        if lasting:
            left, candidates, short = lasting, lasting, middle
        else:
            long = middle
        if len(left) == 1:
            break
    return left


def _resting_together(ground: Ground, labels: tuple[Mode, ...], undetermined: tuple[str, ...]) -> list[int]:
    """Return the pins that share what holds them at rest: one that is used up lets nothing go while another is not."""
    return [
        number
        for number, place in enumerate(ground.table.places)
        if place.resultant and labels[number].plain is Mode.STICK and friction_of(place.name) in undetermined
    ]


def _with_loads(
    ground: Ground, moment: Moment, terms: Terms, options: list[tuple[Mode, ...]]
) -> list[tuple[Mode, ...]]:
    """Return the options with those of friction that others load: where these may close, it may slip or stick."""
    found = list(options)
    for number, place in enumerate(ground.table.places):
        if place.side is Side.BOUND and place.of:
            lines = [options[ground.table.of_normal(normal)] for normal in place.of]
            if any(Mode.OPEN in line and len(line) > 1 for line in lines):
                closed = _closed_labels(place, terms, number in moment.resting)
                found[number] = tuple(dict.fromkeys([*(one for one in options[number] if one.slips), *closed]))
            elif options[number][0] is Mode.OPEN:
                found[number] = (Mode.OPEN,)
    return found


def unloaded(ground: Ground, labels: tuple[Mode, ...]) -> tuple[Mode, ...]:
    """Return the labels with friction open where all that loads it is open."""
    table, found = ground.table, list(labels)
    for number, place in enumerate(table.places):
        loads = [labels[table.of_normal(normal)] for normal in place.of]
        if place.side is Side.BOUND and loads and all(label is Mode.OPEN for label in loads):
            found[number] = Mode.OPEN
    return tuple(found)


def _compatible(before: tuple[Mode, ...], options: list[tuple[Mode, ...]]) -> bool:
    return all(label in item for label, item in zip(before, options, strict=True))


def _options(
    ground: Ground, moment: Moment, terms: Terms, solved: ModeSolution, number: int, label: Mode
) -> tuple[Mode, ...]:
    """Return the labels between which a constraint is tied: one where it is not."""
    place = ground.table.places[number]
    if not acts(ground, moment, number):
        return (label,)
    found = [label]
    resting = number in moment.resting and bool(place.slips)
    tied = number in moment.tied
    loose = no_force(terms, solved, place) and _no_gap_acceleration(terms, solved, place) if place.one_sided else False
    spent = resting and _at_bound(terms, solved, place) and _no_slip_acceleration(terms, solved, place)
    if place.one_sided and (loose or (tied and not spent)):
        found.append(Mode.OPEN)
        if label is Mode.OPEN:
            found += _closed_labels(place, terms, resting)
    elif place.side is Side.BILATERAL and place.law >= 0 and not resting and (tied or no_force(terms, solved, place)):
        what = slip_mode(len(place.slips), terms.slip[place.slips[0], 0])
        found += [what, what.pulling(True)]
        if label is Mode.OPEN:
            found.remove(label)
    elif resting and (spent or tied):
        if len(place.slips) > 1:
            found += [Mode.STICK, Mode.SLIP]
        else:
            force = solved.tangential[place.slips[0], 0]
            # Without any force it may come to slip either way.
            either = [Mode.SLIP_PLUS, Mode.SLIP_MINUS] if force == 0 and place.side is Side.BOUND else []
            found += [Mode.STICK, *(either or [Mode.SLIP_MINUS if force > 0 else Mode.SLIP_PLUS])]
    if place.side is Side.BILATERAL and place.law < 0 and place.normal in ground.table.signed:
        if tied or no_force(terms, solved, place):
            found += [Mode.CLOSED, Mode.CLOSED_PULLS]
    elif place.side is Side.BILATERAL and resting and (tied or no_force(terms, solved, place)):
        # Whether it will push or pull is not known yet either, and friction goes with |N|. At a dead centre all forces
        # along the normal vanish with it, so that there is nothing to tell rounding by: what fired is.
        found += [one.pulling(pulls) for one in found for pulls in (False, True)]
    return tuple(dict.fromkeys(found))


def _with_last(ground: Ground, moment: Moment, number: int, options: tuple[Mode, ...], last: Mode) -> tuple[Mode, ...]:
    """Return the labels of a constraint with the one until now, if the state allows it.

    Beside large forces one that has just opened or let go can't be told by its own, which are still next to nothing.
    """
    rests = number in moment.resting and (last is Mode.STICK or bool(last.sign))
    if number in moment.tied or not acts(ground, moment, number) or not (last is Mode.OPEN or rests):
        return options
    return tuple(dict.fromkeys([*options, last]))


def _closed_labels(place: ContactPlace, terms: Terms, resting: bool) -> list[Mode]:
    if not place.slips:
        return [Mode.CLOSED]
    if resting:
        return [Mode.STICK] if len(place.slips) > 1 else [*RESTING]
    return [slip_mode(len(place.slips), terms.slip[place.slips[0], 0])]


def force_scale(terms: Terms, row: Array) -> float:
    """Return the size of the force that would stop the pull of all forces along a row."""
    mass = terms.mass[:, :, 0]
    spread = np.linalg.solve(mass, row)
    pull = np.abs(row) @ (np.abs(terms.force[:, 0]) / np.diagonal(mass))
    return float(pull / max(float(row @ spread), 1e-300)) + 1e-300


def acceleration_scale(terms: Terms, row: Array, bias: float, solved: ModeSolution) -> float:
    """Return the size of the terms of an acceleration along a row: of all forces that take part, and its bias."""
    forces = np.abs(terms.force[:, 0]) + np.abs(terms.rows[:, :, 0]).T @ np.abs(solved.normal[:, 0])
    forces += np.abs(terms.slip_rows[:, :, 0]).T @ np.abs(solved.tangential[:, 0])
    pull = forces / np.diagonal(terms.mass[:, :, 0])
    return float(np.abs(row) @ (np.abs(solved.acceleration[:, 0]) + pull) + abs(bias)) + 1e-300


def _stays(terms: Terms, solved: ModeSolution, place: ContactPlace) -> bool:
    """Say whether a slip that is not held stays at rest, up to the rounding of all forces that take part."""
    row, bias = terms.slip_rows[place.slips[0], :, 0], float(terms.slip_bias[place.slips[0], 0])
    size = acceleration_scale(terms, row, bias, solved)
    return bool(abs(row @ solved.acceleration[:, 0] - bias) <= TIE * size)


def no_force(terms: Terms, solved: ModeSolution, place: ContactPlace) -> bool:
    """Say whether the multiplier of a constraint is zero up to rounding."""
    row = terms.rows[place.normal, :, 0]
    forces = np.abs(solved.normal[:, 0]).max(initial=0.0)
    return bool(abs(solved.normal[place.normal, 0]) <= TIE * max(force_scale(terms, row), float(forces)))


def _no_gap_acceleration(terms: Terms, solved: ModeSolution, place: ContactPlace) -> bool:
    row, bias = terms.rows[place.normal, :, 0], float(terms.gamma[place.normal, 0])
    size = acceleration_scale(terms, row, bias, solved)
    return bool(abs(row @ solved.acceleration[:, 0] - bias) <= TIE * size)


def _room(terms: Terms, solved: ModeSolution, place: ContactPlace) -> tuple[float, float]:
    """Return how far inside what holds it at rest a friction force is, and the size of what is compared."""
    load = math.hypot(*solved.normal[list(place.of), 0]) if place.of else 1.0
    force = solved.tangential[list(place.slips), 0]
    room = float(place.rows.room(terms.bounds[:, 0], load, force, rests=True))
    largest = max(float(terms.bounds[row, 0]) for row in place.rows.held()) * load
    return room, max(largest, math.hypot(*force))


def _at_bound(terms: Terms, solved: ModeSolution, place: ContactPlace) -> bool:
    room, size = _room(terms, solved, place)
    return abs(room) <= TIE * size


def _no_slip_acceleration(terms: Terms, solved: ModeSolution, place: ContactPlace) -> bool:
    for slip in place.slips:
        row, bias = terms.slip_rows[slip, :, 0], float(terms.slip_bias[slip, 0])
        if abs(row @ solved.acceleration[:, 0] - bias) > TIE * acceleration_scale(terms, row, bias, solved):
            return False
    return True


def directions_away(ground: Ground, moment: Moment, pulls: Mapping[int, Array]) -> dict[int, Array]:
    """Return the direction against the friction force of every law in a plane that is at rest."""
    return {
        law: -force / np.linalg.norm(force)
        for law, force in pulls.items()
        if np.any(force) and ground.table.of_law(law) in moment.resting
    }


def _swift(ground: Ground, terms: Terms, pulls: Mapping[int, Array], short: float) -> dict[int, Array]:
    """Return the same for laws whose slip has just started: friction alone would make it within a `short` time.

    It turns so fast that it is where it is going.
    """
    found = {}
    for law, force in pulls.items():
        slips = list(ground.table.laws[law].slips)
        rows = terms.slip_rows[slips, :, 0]
        push = float(np.linalg.norm(rows @ np.linalg.solve(terms.mass[:, :, 0], rows.T @ force)))
        if np.any(force) and float(np.linalg.norm(terms.slip[slips, 0])) <= short * push:
            found[law] = -force / np.linalg.norm(force)
    return found


def _parting(ground: Ground, moment: Moment, terms: Terms, labels: tuple[Mode, ...], h: float) -> list[int]:
    """Return the contacts that stick together now and can't a short while later: between supports that move apart."""
    held = hold(ground.table, labels, terms)
    rubbing = [
        number
        for number, (place, label) in enumerate(zip(ground.table.places, labels, strict=True))
        if label.plain is Mode.STICK and len(place.slips) == 1 and friction_of(place.name) in held.undetermined
    ]
    if not rubbing or all(ground.table.places[number].slips[0] in held.mode.sticking for number in rubbing):
        return []
    a = solve_mode(ground.table, terms, held.mode).acceleration[:, 0]
    q, v = moment.q + h * moment.v + h * h / 2 * a, moment.v + h * a
    later = ground.terms(moment.t + h, q, v)
    solved = solve_mode(ground.table, later, held.mode)
    if all(_stays(later, solved, ground.table.places[number]) for number in rubbing):
        return []
    return rubbing


def _lasts(
    ground: Ground,
    moment: Moment,
    labels: tuple[Mode, ...],
    h: float,
    away: dict[int, Array],
    counted: frozenset[int] | None = None,
) -> bool:
    """Say whether a mode is still admissible a short while later, in forces and accelerations.

    Those of the contacts that are `counted`, of all by default.
    """
    terms = terms_at(ground, moment)
    mode = hold(ground.table, labels, terms).mode

    def change(t: float, q: Array, v: Array) -> tuple[Array, Array]:
        return v, solve_mode(ground.table, ground.terms(t, q, v), mode, away).acceleration[:, 0]

    later = terms
    if h > 0.0:
        t, q, v = moment.t, moment.q, moment.v
        k1 = change(t, q, v)
        k2 = change(t + h / 2, q + h / 2 * k1[0], v + h / 2 * k1[1])
        k3 = change(t + h / 2, q + h / 2 * k2[0], v + h / 2 * k2[1])
        k4 = change(t + h, q + h * k3[0], v + h * k3[1])
        q, v = (y + h / 6 * (a + 2 * b + 2 * c + d) for y, a, b, c, d in zip((q, v), k1, k2, k3, k4, strict=True))
        later = ground.terms(t + h, q, v)
    solved = solve_mode(ground.table, later, mode, away)
    if not np.isfinite(solved.acceleration).all():
        return False
    for place, label in zip(ground.table.places, labels, strict=True):
        implied = label.plain is Mode.STICK and len(place.slips) == 1 and place.slips[0] not in mode.sticking
        if implied and not _stays(later, solved, place):
            return False
    return all(
        _admissible(
            later, solved, place, label, resting=number in moment.resting, signed=place.normal in ground.table.signed
        )
        for number, (place, label) in enumerate(zip(ground.table.places, labels, strict=True))
        if acts(ground, moment, number) and (counted is None or number in counted)
    )


def _admissible(
    terms: Terms, solved: ModeSolution, place: ContactPlace, label: Mode, *, resting: bool, signed: bool
) -> bool:
    what = label.plain
    if place.one_sided:
        row, bias = terms.rows[place.normal, :, 0], float(terms.gamma[place.normal, 0])
        if what is Mode.OPEN:
            size = acceleration_scale(terms, row, bias, solved)
            return bool(row @ solved.acceleration[:, 0] - bias >= -NOISE * size)
        if solved.normal[place.normal, 0] < -NOISE * force_scale(terms, row):
            return False
    elif place.side is Side.BILATERAL and signed:
        sign = -1.0 if label.pulls else 1.0
        if sign * solved.normal[place.normal, 0] < -NOISE * force_scale(terms, terms.rows[place.normal, :, 0]):
            return False
    if what is Mode.STICK:
        room, size = _room(terms, solved, place)
        return room >= -NOISE * size
    if resting and label.sign:
        slip = place.slips[0]
        row, bias = terms.slip_rows[slip, :, 0], float(terms.slip_bias[slip, 0])
        size = acceleration_scale(terms, row, bias, solved)
        return bool(label.sign * (row @ solved.acceleration[:, 0] - bias) >= -NOISE * size)
    if resting and what is Mode.SLIP:
        slips = list(place.slips)
        change = terms.slip_rows[slips, :, 0] @ solved.acceleration[:, 0] - terms.slip_bias[slips, 0]
        return bool(change @ solved.tangential[slips, 0] <= 0.0)
    return True
