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
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import arb

from zwang._asymptotics.approaches import Case, WayIn, quantities, require_known
from zwang._asymptotics.measure import Power
from zwang._asymptotics.mechanics import CurveTerms
from zwang._numerics.series.arithmetic import Undecided, decided
from zwang._numerics.series.balls import BALLS
from zwang._numerics.series.field import dot
from zwang._numerics.series.half_branches import TERMS
from zwang._numerics.series.power import Series
from zwang.errors import StateError

Powers = dict[tuple[Case, str], Power]


def power_of_series(y: Any, x: Series) -> Power:
    """Return the leading behaviour of one series in terms of another.

    Examples
    --------
    >>> from zwang._numerics.series.power import ring
    >>> R = ring(BALLS)
    >>> found = power_of_series(R.series([arb(8)], -3), R.series([arb(4)], 2))
    >>> found.exponent, float(found.coefficient)
    (Fraction(-3, 2), 64.0)
    """
    if not isinstance(y, Series):
        return Power(None, arb(0)) if BALLS.vanishes(y) else Power(Fraction(0), y)
    if not y.size:
        return Power(None, arb(0))
    exponent = Fraction(y.start, x.start)
    return Power(exponent, y.leading / BALLS.power(x.leading, exponent))


def predict(approach: WayIn) -> tuple[Powers, dict[tuple[Case, str], Any]]:
    """Return the leading behaviour of every quantity, and the series it was read off; nothing where it can't be had."""
    best: list[Any] = []

    def seen(terms: int) -> None:
        q = approach.half.series(terms)
        size, found = approach.size(q), approach.values(q)
        best[:] = [size, found]
        require_known({**found, "size": size})

    with suppress(Undecided, ZeroDivisionError, StateError):
        decided(seen, TERMS, ZeroDivisionError, StateError)
    if not best or not best[1] or not best[0].size:
        return {}, {}
    size, found = best
    return {key: power_of_series(value, size) for key, value in found.items()}, found


def predict_generic(approach: WayIn, seed: int = 0) -> Powers:
    """Return the leading behaviour that the local type alone gives, with everything else in general position."""
    source = random.Random(seed)

    def seen(terms: int) -> Powers:
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
        require_known(found)
        return {key: power_of_series(value, size) for key, value in found.items()}

    try:
        powers: Powers = decided(seen, TERMS, ZeroDivisionError, StateError)
    except (Undecided, ZeroDivisionError, StateError):
        return {}
    return powers


def _in_general_position(terms: CurveTerms, source: random.Random) -> CurveTerms:
    """Return the terms with the geometry kept and everything else at random."""
    n = len(terms.mass)

    def draw() -> Any:
        return arb(source.randint(100, 999)) / 500 * source.choice((-1, 1))

    spread = [[draw() / 3 for _ in range(n)] for _ in range(n)]
    mass = [[dot(r, s) + int(i == j) for j, s in enumerate(spread)] for i, r in enumerate(spread)]
    rows = [[draw() for _ in range(n)] for _ in terms.slip_rows]
    return replace(
        terms,
        mass=mass,
        force=[draw() for _ in range(n)],
        slip_rows=rows,
        bounds=[abs(draw()) for _ in terms.bounds],
        scales=[arb(1) for _ in terms.scales],
    )


def scale_of(series: dict[tuple[Case, str], Any]) -> float:
    """Return a tau below which the leading terms rule: a small part of the least ratio of neighbouring coefficients."""
    least = 1.0
    for value in series.values():
        if isinstance(value, Series) and value.size:
            for k, item in enumerate(value.coefficients[1:6], start=1):
                if not BALLS.vanishes(item):
                    least = min(least, float(abs(value.leading / item)) ** (1 / k))
    return least
