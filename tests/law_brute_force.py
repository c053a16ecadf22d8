"""Laws of friction by brute force: every mode of every contact, its equations solved, its conditions looked at.

An oracle for sections with two sizes and for rest with a law of its own; nothing is shared with the package. Unknowns
are (w, N, T); rows are drawn at random and are fewer than coordinates, so that each combination of modes has one
solution of its equations.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

CLEAR = 1e-7
"""What is decided by less is no test of a law."""


@dataclass(frozen=True)
class Rubbing:
    """One contact along one tangent, in numbers that are easy to read."""

    normal: np.ndarray
    tangent: np.ndarray
    low: float
    high: float
    rest: tuple[float, float] | None = None
    bilateral: bool = False
    slip: float = 0.0
    given: float | None = None


def modes_of(contact):
    """Return the modes: (name, sign of N, equations and inequalities as functions of N, T, a_n, a_t)."""
    found = []
    signs = (1.0, -1.0) if contact.bilateral else (1.0,)
    if contact.given is None and not contact.bilateral:
        found.append(("open", 1.0, lambda N, T, an, at: ((N, T), (an,))))
    low, high = contact.low, contact.high
    rest_low, rest_high = (low, high) if contact.rest is None else contact.rest
    if contact.bilateral and contact.slip != 0 and (low if contact.slip > 0 else high) == 0:
        return [("slip", 1.0, lambda N, T, an, at: ((an, T), ()))]  # no friction: which way it pushes is no mode
    for s in signs:
        first = "N" if contact.given is None else "load"

        def base(N, an, s=s, first=first):
            if first == "load":
                return (N - contact.given,), (), abs(contact.given)
            return (an,), (s * N,), s * N

        def slides(edge, direction, s=s, base=base):
            def law(N, T, an, at):
                equal, above, load = base(N, an)
                more = (direction * at,) if contact.slip == 0 else ()
                return (*equal, T - edge * load), (*above, *more)

            return law

        def sticks(N, T, an, at, s=s, base=base):
            equal, above, load = base(N, an)
            return (*equal, at), (*above, T - rest_low * load, rest_high * load - T)

        if contact.slip != 0:
            found.append(("slip", s, slides(low if contact.slip > 0 else high, 1.0)))
        else:
            found.append(("stick", s, sticks))
            found.append(("slip+", s, slides(low, 1.0)))
            found.append(("slip-", s, slides(high, -1.0)))
    return found


class Affine:
    """a @ x + b, with the arithmetic that the modes use."""

    def __init__(self, a, b=0.0):
        self.a, self.b = a, b

    def __add__(self, other):
        return (
            Affine(self.a + other.a, self.b + other.b) if isinstance(other, Affine) else Affine(self.a, self.b + other)
        )

    def __sub__(self, other):
        return self + (-1.0) * other if isinstance(other, Affine) else Affine(self.a, self.b - other)

    def __rsub__(self, other):
        return (-1.0) * self + other

    def __mul__(self, factor):
        return Affine(self.a * factor, self.b * factor)

    __rmul__ = __mul__


def solutions(mass, force, contacts):
    """Return {modes: acceleration} of everything that the laws allow, None where a decision rests on too little."""
    n, k = len(force), len(contacts)
    size = n + 2 * k
    unit = np.eye(size)
    motion = np.zeros((n, size))
    motion[:, :n] = mass
    for j, contact in enumerate(contacts):
        motion[:, n + j] = -contact.normal
        motion[:, n + k + j] = -contact.tangent
    feasible = {}
    for choice in itertools.product(*(modes_of(contact) for contact in contacts)):
        equal, above = [Affine(row, -f) for row, f in zip(motion, force, strict=True)], []
        for j, (contact, (_, _, law)) in enumerate(zip(contacts, choice, strict=True)):
            N, T = Affine(unit[n + j]), Affine(unit[n + k + j])
            an = Affine(np.concatenate([contact.normal, np.zeros(2 * k)]))
            at = Affine(np.concatenate([contact.tangent, np.zeros(2 * k)]))
            more_equal, more_above = law(N, T, an, at)
            equal += [item if isinstance(item, Affine) else Affine(np.zeros(size), item) for item in more_equal]
            above += [item if isinstance(item, Affine) else Affine(np.zeros(size), item) for item in more_above]
        matrix = np.array([item.a for item in equal])
        if np.linalg.cond(matrix) > 1e9:
            return None
        x = np.linalg.solve(matrix, -np.array([item.b for item in equal]))
        values = np.array([item.a @ x + item.b for item in above])
        if np.any(np.abs(values) < CLEAR):
            return None
        if (values > 0).all():
            feasible[tuple((name, sign) for name, sign, _ in choice)] = x[:n]
    return {modes: w for modes, w in feasible.items() if not any(_yields(contacts, modes, feasible))}


def _yields(contacts, modes, feasible):
    """Say for each contact whether its slip from rest yields to sticking, all other modes the same."""
    for j, contact in enumerate(contacts):
        if contact.rest is not None and contact.slip == 0 and modes[j][0] in ("slip+", "slip-"):
            for sign in (1.0, -1.0):
                yield (*modes[:j], ("stick", sign), *modes[j + 1 :]) in feasible
