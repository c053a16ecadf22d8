"""Predictions: exponents and leading coefficients from series, before any state is evaluated.

Along a way q(tau) into the point the rows of the constraints lose rank: their smallest singular value vanishes like
tau^k. The reaction itself, J^T lam, is what carries the motion along a smooth curve against the forces, so on the space
itself it stays finite where the curvature does; the multipliers are that divided by J. In general position they grow
like tau^-k: k is the sum, over the other branches, of one more than their order of contact. All of it is read off the
quotient of two series: exactly, for the system as it is, and for a mass matrix, forces and friction in general position
(`generic`). Where the two differ, a coefficient vanishes for this system, by a symmetry as a rule.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from zwang._asymptotics.approaches import Approach, Case, known, quantities
from zwang._asymptotics.elimination import Undecided
from zwang._asymptotics.growth import Power, power_of_series
from zwang._asymptotics.half_branch import TERMS
from zwang._asymptotics.laurent import Laurent
from zwang._asymptotics.mechanics import Terms
from zwang._asymptotics.precision import mp
from zwang.errors import StateError

Powers = dict[tuple[Case, str], Power]


def predict(approach: Approach) -> tuple[Powers, dict[tuple[Case, str], Any]]:
    """Return the leading behaviour of every quantity, and the series it was read off; nothing where it can't be had."""
    found: dict[tuple[Case, str], Any] = {}
    size: Any = None
    for terms in TERMS:
        try:
            q = approach.half.series(terms)
            size = approach.size(q)
            found = approach.values(q)
        except (Undecided, ZeroDivisionError, StateError):
            continue
        if known(found) and not size.is_zero:
            break
    if size is None or not found:
        return {}, {}
    return {key: power_of_series(value, size) for key, value in found.items()}, found


def predict_generic(approach: Approach, seed: int = 0) -> Powers:
    """Return the leading behaviour that the local type alone gives, with everything else in general position."""
    source = random.Random(seed)
    for terms in TERMS:
        try:
            q = approach.half.series(terms)
            size = approach.size(q)
            found: dict[tuple[Case, str], Any] = {}
            forward = approach.velocity(q)
            for direction in (1, -1):
                state = source.getstate()
                v = [item * direction for item in forward]
                here = _in_general_position(approach.mechanics.terms(q, v), source)
                found |= quantities(approach.mechanics, here, direction, approach.turning)
                source.setstate(state)
        except (Undecided, ZeroDivisionError, StateError):
            continue
        if known(found):
            return {key: power_of_series(value, size) for key, value in found.items()}
    return {}


def _in_general_position(terms: Terms, source: random.Random) -> Terms:
    """Return the terms with the geometry kept and everything else at random."""
    n = len(terms.mass)

    def draw() -> Any:
        return mp.mpf(source.randint(100, 999)) / 500 * source.choice((-1, 1))

    spread = [[draw() / 3 for _ in range(n)] for _ in range(n)]
    mass = [
        [sum(a * b for a, b in zip(r, s, strict=True)) + (i == j) for j, s in enumerate(spread)]
        for i, r in enumerate(spread)
    ]
    rows = [[draw() for _ in range(n)] for _ in terms.slip_rows]
    return replace(
        terms,
        mass=mass,
        force=[draw() for _ in range(n)],
        slip_rows=rows,
        bounds=[abs(draw()) for _ in terms.bounds],
        scales=[mp.mpf(1) for _ in terms.scales],
    )


def scale_of(series: dict[tuple[Case, str], Any]) -> Any:
    """Return a tau below which the leading terms rule: a small part of the least ratio of neighbouring coefficients."""
    least = mp.mpf(1)
    for value in series.values():
        if isinstance(value, Laurent) and not value.is_zero:
            for k, item in enumerate(value.coefficients[1:6], start=1):
                if item:
                    least = min(least, abs(value.leading / item) ** (mp.mpf(1) / k))
    return least
