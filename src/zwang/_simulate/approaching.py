"""Back to a time shortly before: a stretch that has gone too far is recorded up to there, and the rest forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from zwang._kernels.stretch import Stretch
from zwang._simulate.deciding import Decision
from zwang._simulate.dips import Dip
from zwang._simulate.moment import Moment

if TYPE_CHECKING:
    from zwang._simulate.driver import Driver


class Approach:
    """The last two stretches of a motion, of which the second one is not recorded yet."""

    def __init__(self, driver: Driver, moment: Moment, decision: Decision, found: Stretch) -> None:
        self.driver, self.moment, self.decision, self.found = driver, moment, decision, found
        self.earlier = driver.lookout.earlier

    @property
    def earliest(self) -> float:
        """The time from which on the motion can be seen and gone back to."""
        return float(self.found.t[0] if self.earlier is None else self.earlier.t[0])

    def seen(self, time: float) -> Moment:
        """Return the state at a time as the dense output has it."""
        earlier = self.earlier
        stretch = earlier if earlier is not None and time < self.found.t[0] else self.found
        q, v = stretch.at(time)
        return self.moment.but(t=float(time), q=q, v=v, ahead=None)

    def longest_step(self, dip: Dip) -> float:
        """Return the longest step on the way into a dip."""
        times = self.found.t if self.earlier is None else np.append(self.earlier.t, self.found.t[1:])
        inside = (times[1:] > dip.before) & (times[:-1] < dip.time)
        return float(np.diff(times)[inside].max(initial=dip.time - dip.before if not inside.any() else 0.0))

    def go(self, time: float) -> Moment:
        """Record the motion up to a time, with a step that ends there, and return its state."""
        driver, decision = self.driver, self.decision
        if time < self.found.t[0]:
            t, q, v = driver.record.cut(time)
        else:
            count = int(np.searchsorted(self.found.t, time, side="right")) - 1
            driver.record.stretch(_first(self.found, count), decision)
            t, q, v = float(self.found.t[count]), self.found.q[count], self.found.v[count]
        moment = self.moment.but(t=float(t), q=np.array(q), v=np.array(v), ahead=None)
        driver.lookout.forget()
        driver.step = 0.0  # the last ones may have been short for what lies ahead
        while moment.t < time:
            found = driver.advance(moment, decision, until=time)
            driver.record.stretch(found, decision)
            driver.moment = moment = moment.but(t=float(found.t[-1]), q=np.array(found.q[-1]), v=np.array(found.v[-1]))
            if found.status == "INTERRUPTED":
                raise KeyboardInterrupt
            driver.pay(found)
            if found.status != "PAUSED":
                break
        driver.moment = moment
        return moment


def _first(found: Stretch, count: int) -> Stretch:
    """Return the first steps of a stretch."""
    rows = {name: getattr(found, name)[: count + 1] for name in ("t", "q", "v", "a")}
    return replace(found, **rows, dense=found.dense[:count], status="PAUSED", fired=())
