"""A motion that has settled, as the cycle that it settled to."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang._cycles.forcing_period import depends_on_time, forcing_period
from zwang._cycles.recurrence import NEAR, settled
from zwang._cycles.verb import periodic
from zwang._linearize.asked import asked, steady_numbers
from zwang._results.cycle import Cycle
from zwang._results.motion import Motion
from zwang._simulate.verb import carried_on
from zwang.errors import StateError


def settled_cycle(motion: Motion, *, steady: Any = (), **options: Any) -> Cycle:
    """Return the cycle that a motion has settled to; see `Motion.cycle`."""
    system, _, params = carried_on(motion, None, None)
    inputs = motion.inputs or None
    question = asked("periodic", system, motion.end, params, inputs, "native")
    numbers = steady_numbers(question.model.system, steady)
    turns = np.array([bool(item.angle) for item in question.model.system.coordinates])
    near = settled(motion, turns, numbers)
    if near is None or near.distance > NEAR:
        how = "it never left its end" if near is None else f"the nearest return misses by {near.distance:.2g}"
        raise StateError(
            f"{motion.name}: this motion has not settled to a cycle: {how} of what coordinates and velocities run "
            "through. Simulate longer, name coordinates that need not return in steady=, or give periodic(...) a guess."
        )
    period = near.period
    if depends_on_time(question):
        own = forcing_period(question)
        if own is not None:
            period = max(round(period / own), 1) * own
    if "impact" not in options:
        options["impact"] = law_of(motion)
    return periodic(system, motion.end, params, period=period, steady=steady, inputs=inputs, **options)


def law_of(motion: Motion) -> str | None:
    """Return the law of a motion's impacts, where they had to follow one."""
    laws = {str(event.details["law"]) for event in motion.events if "law" in event.details} - {"any"}
    return laws.pop() if len(laws) == 1 else None
