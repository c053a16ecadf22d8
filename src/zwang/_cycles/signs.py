"""What changes its sign at special points of a branch of cycles, and where it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._cycles.continued import Near, Place

Array = NDArray[np.float64]
FINE = 1e-9
"""Part of a segment of a branch to which a special point is located."""
PAIR = 1e-4
"""How far from the circle a pair of multipliers may be that is said to be on it, and how far from the axis it must."""
BISECTIONS = 60  # a double is found to its last bit
CLOSE = 2e-9
"""Part of the range of the parameter to which a change of the sequence of events is located."""

JOINED = 1e-7
"""Distance of cycles at a change of the sequence of events up to which they are of one branch."""


class OnBranch(NamedTuple):
    """A cycle of a branch, with the direction of the branch there."""

    near: Near
    tangent: Place


class LostError(Exception):
    """Between two cycles of a branch none was found."""


def other_multipliers(near: Near) -> NDArray[np.complex128]:
    """Return the multipliers without those that are 1 whatever the motion."""
    values = np.linalg.eigvals(near.monodromy).astype(complex)
    ones = near.over.nullity - 1 + int(near.over.free_period)
    return np.asarray(np.delete(values, np.argsort(np.abs(values - 1.0))[:ones]))


def turning(here: OnBranch) -> float:
    """Vanishes where the branch turns: the part of its direction along the parameter."""
    return here.tangent.value


def singular(here: OnBranch) -> float:
    """Vanishes where closure does not determine the cycle at its value of the parameter."""
    near = here.near
    if near.over.nullity > 1:
        return float(np.prod(other_multipliers(near) - 1.0).real)
    found, d = near.trip.found, near.trip.found.basis.shape[1]
    matrix = near.monodromy - np.eye(d)
    if near.over.free_period:
        # Bordered by the motion: its own multiplier 1 and another one near it are no double eigenvalue here.
        scaled = found.basis / found.sizes[:, None]
        rate = np.linalg.lstsq(scaled, found.rate * near.trip.period / found.sizes, rcond=None)[0]
        along = found.start_rate / found.sizes**2 @ found.basis
        matrix = np.block([[matrix, rate[:, None]], [along[None] / np.linalg.norm(along), np.zeros((1, 1))]])
    return float(np.linalg.det(matrix))


def doubling(here: OnBranch) -> float:
    """Vanishes where a multiplier is -1."""
    return float(np.linalg.det(here.near.monodromy + np.eye(len(here.near.monodromy))))


def pairing(here: OnBranch) -> float:
    """Vanishes where two multipliers have the product 1."""
    values = other_multipliers(here.near)
    first, second = np.triu_indices(len(values), 1)
    return float(np.prod(values[first] * values[second] - 1.0).real)


def on_circle(near: Near) -> bool:
    """Say whether a complex pair of multipliers is on the unit circle."""
    values = other_multipliers(near)
    return bool(((np.abs(values.imag) > PAIR) & (np.abs(np.abs(values) - 1.0) < PAIR)).any())


class Segment:
    """Cycles of a branch between two neighbouring ones with one start in time."""

    def __init__(self, first: OnBranch, last: OnBranch) -> None:
        self.first, self.last = first, last
        self.secant = last.near.place.moved(first.near.place, -1.0)
        self.known: dict[float, OnBranch] = {0.0: first, 1.0: last}

    def at(self, share: float) -> OnBranch:
        """Return the cycle at a part of the segment."""
        if share not in self.known:
            near = self.found(share)
            tangent = None if near is None else near.tangent(self.secant)
            if near is None or tangent is None:
                raise LostError
            self.known[share] = OnBranch(near, tangent)
        return self.known[share]

    def found(self, share: float) -> Near | None:
        """Return the cycle at a part of the segment; None where there is none."""
        base = self.first.near
        guess = base.place.moved(self.secant, share)
        near = base.over.corrected(self._guess(share), base.trip.t, self.secant, base.sizes, base)
        return near or base.over.corrected(guess, base.trip.t, self.secant, base.sizes, base)

    def _guess(self, share: float) -> Place:
        """Return the place at a part of the segment on the tangent of the nearest cycle that is known."""
        nearest = min(self.known, key=lambda one: abs(one - share))
        near, tangent = self.known[nearest]
        sizes = self.first.near.sizes
        forward = tangent.dot(self.secant, sizes)
        if not forward > 0:
            return self.first.near.place.moved(self.secant, share)
        return near.place.moved(tangent, (share - nearest) * self.secant.dot(self.secant, sizes) / forward)

    def changes(self, test: Callable[[OnBranch], float]) -> bool:
        """Say whether something changes its sign between the ends."""
        return test(self.first) * test(self.last) < 0

    def zero(self, test: Callable[[OnBranch], float]) -> OnBranch | None:
        """Return where something vanishes between the ends of different sign; None where cycles are lost there."""
        from scipy.optimize import brentq

        try:
            return self.at(float(brentq(lambda share: test(self.at(share)), 0.0, 1.0, xtol=FINE)))
        except LostError:
            return None

    def last_alike(self) -> Near | None:
        """Return the last cycle with the sequence of events of the first one.

        None where the cycles on the other side don't begin there: they are another branch's.
        """
        low, high, kept, beyond = 0.0, 1.0, self.first.near, self.last.near
        for _ in range(BISECTIONS):
            if (high - low) * self.secant.length(kept.sizes) <= CLOSE:
                break
            middle = 0.5 * (low + high)
            near = self.found(middle)
            if near is not None and near.sequence == kept.sequence:
                low, kept = middle, near
            else:
                high, beyond = middle, near if near is not None else beyond
        return kept if beyond.place.moved(kept.place, -1.0).length(kept.sizes) <= JOINED else None
