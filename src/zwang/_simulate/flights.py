"""Impacts that follow each other faster and faster: when they come to an end, and where the contact closes.

Flights of one contact that shrink by a steady factor r end after the last flight times r/(1 - r). When the next flight
would rise no higher than the tolerance, what is left of it can't be told from a closed contact: the impact at hand
closes the contact, and the instant at which the impacts would have ended is logged as their accumulation. What a
contact needs for that is a flight that follows: a plastic impact after which nothing flies is an impact and no more,
and where a block rocks from one corner to the other, it is the corner that rises whose flight must be low.
"""

from __future__ import annotations

from dataclasses import dataclass

HISTORY = 4  # flights whose lengths say whether they shrink geometrically
STEADY = 0.05
"""How much the factor may change from one flight to the next."""
SLOWEST = 0.9999
"""Factors above this are no accumulation: flights don't shrink enough to be told from a steady bounce."""


@dataclass(frozen=True)
class Flights:
    """The times of the last impacts of one contact, and how many in a row came with ever shorter flights."""

    times: tuple[float, ...] = ()
    count: int = 0

    def met(self, *times: float) -> Flights:
        """Return them with more impacts."""
        seen, count = [*self.times, *times], self.count
        for k in range(len(self.times), len(seen)):
            shorter = k < 2 or seen[k] - seen[k - 1] < seen[k - 1] - seen[k - 2]
            count = count + 1 if shorter else 2
        return Flights(tuple(seen[-HISTORY:]), count)

    def factor(self) -> float | None:
        """Return the steady factor by which the flights shrink, None if there is none."""
        if len(self.times) < HISTORY:
            return None
        first, second, third = (b - a for a, b in zip(self.times[:-1], self.times[1:], strict=True))
        if min(first, second, third) <= 0.0:
            return None
        r, before = third / second, second / first
        return r if r < SLOWEST and abs(r - before) <= STEADY * max(r, before) else None

    def remaining(self, speed: float, height: float) -> float | None:
        """Return the time until the impacts end, if the next flight rises no higher than `height`.

        Parameters
        ----------
        speed : float
            With which the contact separates.
        height : float
        """
        r = self.factor()
        if r is None:
            return None
        last = self.times[-1] - self.times[-2]
        if speed * last * r / 4 > height:
            return None
        return last * r / (1 - r)
