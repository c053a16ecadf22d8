"""Flights and slips that are over before they show: a contact that opens, or a slip that starts, and ends at once.

Beside the numbers that a gap is the difference of, a flight of a few microseconds is rounding: its gap grows like the
square of the time, or like its cube. What makes it is not: the acceleration with which the contact opens has a sign,
and so has its double integral. So where steps can't tell that a gap, a one-sided velocity or a slip has left zero
before it is zero again, its end is found by integrating that acceleration, and the steps go there. What happens then is
an event like any other: an impact with the speed that is left, or a contact.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zwang._kernels.stretch_output import FIRED, REACHED
from zwang._numerics.contact.modes import Mode
from zwang._simulate.mode_labels import solve_mode
from zwang._simulate.moment import Context, Decision, Moment, Watch
from zwang._simulate.stretch import MadeSteps, advance
from zwang._simulate.watch import bands_of

Array = NDArray[np.float64]
SHORTEST = 8
"""Spacings of the time below which nothing happens in between."""
LONGEST = 0.1
"""Length of what is looked over, in parts of the time on which the motion changes little."""
ROUNDING = 1e-14  # of an acceleration, relative to its terms
PEAKS = (1 / 2, 2 / 3)
"""Parts of a flight at which it is highest, the sooner one for velocities."""
HALVINGS = 50
"""Halvings that find the end: to rounding."""
_X, _W = np.polynomial.legendre.leggauss(6)
NODES, WEIGHTS = (_X + 1) / 2, _W / 2


def past_brief(context: Context, moment: Moment, decision: Decision, made: MadeSteps) -> MadeSteps:
    """Return steps over what opens or starts at a moment and ends before it shows; the steps as made without it."""
    if made.stretch.status != FIRED or len(made.stretch.t) > 2:
        return made
    fired = [made.moving.watch_names[k] for k in made.stretch.fired]
    starting = [watch for watch in fired if _starts(context, moment, decision, watch)]
    if len(starting) < len(fired):
        return made
    ends = {watch: end for watch in starting if (end := _end(context, moment, decision, watch)) is not None}
    if not ends or (made.moment.t > moment.t and not _hidden(context, moment, decision, made, ends)):
        return made
    soon = min(ends.values())
    found = advance(context, moment, decision, until=moment.t + soon, unwatched=starting)
    if found.stretch.status != REACHED or found.moment.t >= context.until:
        return found
    over = tuple(found.moving.watch_names.index(watch) for watch, end in ends.items() if end == soon)
    return replace(found, stretch=replace(found.stretch, status=FIRED, fired=over))


def _starts(context: Context, moment: Moment, decision: Decision, watch: Watch) -> bool:
    """Say whether a watched quantity is one that was held at zero and leaves it here."""
    kind, k = watch
    table, labels = context.table, decision.labels
    if kind in ("gap", "value"):
        number = table.of_normal(k)
        return number in moment.touching and labels[number] is Mode.OPEN
    return kind == "slip" and table.of_law(k) in moment.resting and bool(labels[table.of_law(k)].sign)


def _hidden(context: Context, moment: Moment, decision: Decision, made: MadeSteps, ends: dict[Watch, float]) -> bool:
    """Say whether quantities stay within what counts as zero all the way to their ends."""
    bands = bands_of(context, made.moving, decision, moment)
    return bands is not None and all(
        _value(context, moment, decision, watch, part * end)[0] <= bands[made.moving.watch_names.index(watch)]
        for watch, end in ends.items()
        for part in PEAKS
    )


def _end(context: Context, moment: Moment, decision: Decision, watch: Watch) -> float | None:
    """Return the time after which a quantity that leaves zero is back; None where it does not leave or come back."""
    h = SHORTEST * float(np.spacing(abs(moment.t)))
    long = min(LONGEST * context.span(moment), context.until - moment.t)
    last = None
    while h < long:
        value, noise = _value(context, moment, decision, watch, h)
        if value > noise:
            last = h
        elif last is not None:
            break
        h *= 2
    if last is None or h >= long:
        return None
    for _ in range(HALVINGS):
        middle = 0.5 * (last + h)
        if not last < middle < h:
            break
        if _value(context, moment, decision, watch, middle)[0] > 0.0:
            last = middle
        else:
            h = middle
    return last


def _value(context: Context, moment: Moment, decision: Decision, watch: Watch, h: float) -> tuple[float, float]:
    """Return a quantity a while after it has left zero, on its side, and its rounding.

    It is its acceleration, integrated once or twice.
    """
    kind, k = watch
    table, mode = context.table, decision.mode.mode

    def change(t: Array, q: Array, v: Array) -> Array:
        return solve_mode(table, context.many(t, q, v), mode).acceleration.T

    s = h * NODES
    t, q, v = np.full(len(s), moment.t), np.tile(moment.q, (len(s), 1)), np.tile(moment.v, (len(s), 1))
    half, whole = s[:, None] / 2, s[:, None]
    a1 = change(t, q, v)
    a2 = change(t + s / 2, q + half * v, v + half * a1)
    a3 = change(t + s / 2, q + half * v + half**2 * a1, v + half * a2)
    a4 = change(t + s, q + whole * v + whole * half * a2, v + whole * a3)
    q, v = q + whole * v + whole**2 / 6 * (a1 + a2 + a3), v + whole / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    terms = context.many(t + s, q, v)
    a = solve_mode(table, terms, mode).acceleration
    if kind == "slip":
        row, bias = (rows[table.laws[k].slips[0]] for rows in (terms.slip_rows, terms.slip_bias))
    else:
        row, bias = terms.rows[k], terms.gamma[k]
    side = decision.labels[table.of_law(k)].sign if kind == "slip" else 1
    weights = h * WEIGHTS * ((h - s) if kind == "gap" else 1.0)
    pull = np.abs(terms.force) / np.diagonal(terms.mass).T
    rounding = ROUNDING * ((np.abs(row) * (np.abs(a) + pull)).sum(axis=0) + np.abs(bias))
    return float(side * weights @ ((row * a).sum(axis=0) - bias)), float(weights @ rounding)
