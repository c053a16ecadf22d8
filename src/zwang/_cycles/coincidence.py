"""Cycles beyond two events that come together: the branch goes on with another sequence of events.

Close to such a place motions may not be had at all (a bounce of nothing ends where it begins), so that the branch is
taken up again a little beyond. With B where both sides meet, t the direction of the branch up to it and u that beyond,
a cycle x before B and a cycle y beyond belong together where y - x = a t + b u, a and b not negative. Beyond may be to
either side in the parameter: there the branch turns with a corner.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from zwang._cycles.continued import NO_ACTION, Near, Place
from zwang._cycles.signs import OnBranch

Array = NDArray[np.float64]
ONE, TOGETHER, NEARLY = 1e-12, 1e-5, 1e-3
"""Parts of a period: events as near as the first are at one instant, as near as the second come together at an end,
and as near as the third where they are what is missing beyond."""
OVER = (1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2)
"""Steps over the place, in parts of the range and of the sizes."""
FAR = 4.0
"""Parts of a step up to which the cycle beyond may be away."""
CORNER = 0.05
"""Part of the way to the cycle beyond that may not be along the directions on both sides: they bend."""


def together(near: Near, other: Near) -> str:
    """Say which events come together between two motions of different sequences of events; empty where none do."""
    found = _pair(near, other) or _pair(other, near)
    if found is None:
        return ""
    names = [f"{event.kind} {event.constraint or event.name}" for event in found]
    return f"{names[0]} and {names[1] if names[0] != names[1] else 'the next one'} come together there."


def passed(here: OnBranch, beyond: Near) -> OnBranch | None:
    """Return the first cycle beyond two events that come together, with the direction onward; None where there is none.

    Parameters
    ----------
    here : OnBranch
        The last cycle before.
    beyond : Near
        A motion beyond, with other events.
    """
    for step in OVER:
        for near in _beyond(here, beyond, step):
            if near.sequence == here.near.sequence or near.slopes.grazes or not together(here.near, near):
                continue
            onward = _onward(here, near, step)
            if onward is not None:
                return OnBranch(near, onward)
    return None


def located(here: OnBranch, last: OnBranch) -> float | None:
    """Return where in the range two events come together, from how the time between them goes to nothing."""
    for (near, tangent), other, sign in ((here, last.near, -1.0), (last, here.near, 1.0)):
        apart = _apart(near, other)
        if apart is None:
            continue
        step = here.near.place.moved(last.near.place, -1.0).length(near.sizes)
        away = near.over.corrected(near.place.moved(tangent, sign * step), near.trip.t, tangent, near.sizes, near)
        more = None if away is None or away.sequence != near.sequence else _apart(away, other)
        if away is not None and more is not None and more > apart:
            value = near.value - apart * (away.value - near.value) / (more - apart)
            return value if abs(value - near.value) <= FAR * step else None
    return None


def _pair(near: Near, other: Near) -> tuple[Any, Any] | None:
    """Return two neighbouring events of a motion that come together towards another one; None where none do."""
    events = [event for event in near.trip.motion.events if event.kind not in NO_ACTION]
    gone = set((Counter(near.sequence) - Counter(other.sequence)).elements())
    found = []
    for first, second in pairwise(events):
        apart = (second.time - first.time) / near.trip.period
        missing = any((event.kind, str(event.constraint or event.name)) in gone for event in (first, second))
        if ONE < apart < NEARLY and (missing or (first.constraint != second.constraint and apart < TOGETHER)):
            found.append((apart, first, second))
    return min(found, key=lambda item: item[0])[1:] if found else None


def _apart(near: Near, other: Near) -> float | None:
    """Return the time between the events of a motion that come together towards another one."""
    found = _pair(near, other)
    return None if found is None else float(found[1].time - found[0].time)


def _beyond(here: OnBranch, beyond: Near, step: float) -> Iterator[Near]:
    """Yield cycles near a step beyond a cycle: straight on, and to both sides in the parameter with the new events."""
    near, tangent = here
    over, t = near.over, near.trip.t
    ahead = over.corrected(near.place.moved(tangent, step), t, tangent, near.sizes, near)
    if ahead is not None:
        yield ahead
    along = Place(np.zeros_like(near.trip.z), 0.0, 1.0)
    for sign in (1.0, -1.0):
        aim = Place(near.trip.z, near.place.period, near.value + sign * step)
        guess = beyond.place.moved(over.step(beyond, aim, along, near.sizes), 1.0)
        found = over.corrected(guess, t, along, near.sizes, beyond)
        if found is not None:
            yield found


def _onward(here: OnBranch, near: Near, step: float) -> Place | None:
    """Return the direction of the branch at a cycle beyond; None where that is none of this branch."""
    sizes = here.near.sizes
    way = near.place.moved(here.near.place, -1.0)
    length = way.length(sizes)
    tangent = near.tangent(way)
    if tangent is None or not length <= FAR * step:
        return None
    for sign in (1.0, -1.0):
        onward = Place(sign * tangent.z, sign * tangent.period, sign * tangent.value)
        columns = [_scaled(one, sizes) for one in (here.tangent, onward)]
        if nnls(np.column_stack(columns), _scaled(way, sizes))[1] <= CORNER * length:
            return onward
    return None


def _scaled(by: Place, sizes: Array) -> Array:
    """Return a difference of places as one array, starts in the sizes of coordinates and velocities."""
    return np.concatenate([by.z / sizes, [by.period, by.value]])
