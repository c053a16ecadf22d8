"""The next mode where one contact stands alone: what compiled code has to know to decide it (`motion.lone_contact`).

What is not decided there, since it is not plain, is asked of `reactions`, with ties decided one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zwang._kernels import Terms
from zwang._kernels.bounce_kernels import term_places
from zwang._kernels.service import Service
from zwang._kernels.stretch_output import vector
from zwang._numerics.contact.modes import Mode, Side, slip_mode
from zwang._numerics.contact.table import ContactTable
from zwang._numerics.jit import tier, with_addresses
from zwang._simulate.ground import Ground
from zwang._simulate.moment import Labels, Moment, acts

if TYPE_CHECKING:
    from zwang._numerics.motion.mode_forces import ContactLines

LARGEST = 1e150
"""Forces whose squares, energies among them, are no numbers any more: `reactions` says so."""


def lone_labels(ground: Ground, moment: Moment, terms: Terms, before: Labels | None, span: float) -> Labels | None:
    """Return the labels where all constraints but one act as they did; None where that is not so, or not plain.

    See `decide.decide`.
    """
    service: Service = ground.model.kernels
    if service.sparse or type(service).terms is not Service.terms:
        return None
    lines = service.kept("lines of contacts", lambda: lines_of(ground.table))
    if lines is None or (moment.tied and moment.ahead is not None):
        return None
    if not np.abs(terms.force).max(initial=0.0) < LARGEST:
        return None
    found = _standing(ground, moment, terms, before)
    if found is None:
        return None
    labels, acting, certain, lead = found
    from zwang._numerics.motion.lone_contact import lone_label
    from zwang._numerics.motion.mode_forces import KnownLines

    if tier() == "plain":  # there, `reactions` is as quick; but who will be asked once there is machine code?
        _ = lone_label.entry
        return None

    rests = np.zeros(len(labels), dtype=np.int64)
    rests[list(moment.resting)] = 1
    codes = np.array(labels, dtype=np.int64)
    usual = vector(moment.memory.sizes[2])
    if len(usual) != len(moment.q):  # nothing is known of the way
        usual = np.zeros(len(moment.q))
    known = KnownLines(codes, np.array(acting, dtype=np.int64), rests, np.array(certain, dtype=np.int64), usual)
    t, q, v = (moment.t, moment.q, moment.v) if moment.ahead is None else moment.ahead
    call = with_addresses(lone_label, service.term_functions.brief.calls[0])
    places, params = term_places(service, ground.params), vector(ground.params)
    if not call(lines, places, params, known, float(t), vector(q), vector(v), span, lead, lead in moment.tied):
        return None
    return tuple(Mode(code) for code in codes.tolist())


def lines_of(table: ContactTable) -> ContactLines | None:
    """Return the lines of a table as compiled code takes them; None where some are not for it."""
    from zwang._numerics.motion.mode_forces import BILATERAL, BOUND, UNILATERAL, ContactLines

    sides = {Side.UNILATERAL: UNILATERAL, Side.BILATERAL: BILATERAL, Side.BOUND: BOUND}
    rows = []
    for place in table.places:
        own = place.of == (place.normal,)
        rubbing_both_ways = place.side is Side.BILATERAL and (place.law >= 0 or place.normal in table.signed)
        if len(place.slips) > 1 or rubbing_both_ways or (place.of and not own) or place.rows.axes:
            return None
        slip = place.slips[0] if place.slips else -1
        static = place.rows.resting is not None
        rows.append(
            (sides[place.side], place.normal, slip, own, *place.rows.sides, *place.rows.held(), static and slip >= 0)
        )
    return ContactLines(*np.array(rows, dtype=np.int64).reshape(-1, 9).T.copy())


def _standing(
    ground: Ground, moment: Moment, terms: Terms, before: Labels | None
) -> tuple[list[Mode], list[bool], list[bool], int] | None:
    """Return labels, what acts, what is certain to act so, and the number of the one that is to be decided; None: more.

    The label of that one is the one until now, if it has had one that acts.
    """
    labels: list[Mode] = []
    acting: list[bool] = []
    certain: list[bool] = []
    leads: list[int] = []
    others: list[int] = []
    for number, place in enumerate(ground.table.places):
        act, rests = acts(ground, moment, number), number in moment.resting
        slides = place.side is Side.BOUND and not rests
        sure = act and (place.side is Side.BILATERAL or slides)
        old = Mode.OPEN if before is None else before[number]
        label = Mode.CLOSED if act else Mode.OPEN
        if act and place.slips:
            label = Mode.STICK if rests else slip_mode(1, terms.slip[place.slips[0], 0])
        if act and not sure:
            (leads if number in moment.tied or label is not old else others).append(number)
        labels.append(label)
        acting.append(act)
        certain.append(sure)
    if len(leads) > 1 or not (leads or others) or (not leads and len(others) > 1):
        return None
    lead = leads[0] if leads else others[0]
    if lead in moment.tied and before is not None and before[lead] is not labels[lead]:
        return None
    return labels, acting, certain, lead
