"""The period of what depends on time."""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from zwang._declare.symbols import t as time
from zwang._linearize.asked import MotionQuestion
from zwang._simulate.ground import Ground
from zwang.errors import DeclarationError

SAME = 1e-9  # periods and forces that agree to this are the same ones
MEASURED = 1e-2
"""To which tables repeat: they hold what was measured, and bend otherwise near their ends."""
LARGEST = 1000
"""Of numerators and denominators of ratios of frequencies that count as rational."""
CIRCULAR = (sp.sin, sp.cos, sp.tan)


def depends_on_time(question: MotionQuestion) -> bool:
    """Say whether anything depends on time."""
    exprs = question.model.system.expressions().values()
    changing = question.driven is not None and question.driven.changing
    return changing or any(time in expr.free_symbols for expr in exprs)


def forcing_period(question: MotionQuestion) -> float | None:
    """Return the least common period of all sines and cosines of time; None where time occurs otherwise."""
    system = question.model.system
    values = dict(zip(system.parameters, question.given.params[:, 0].tolist(), strict=True))
    if question.driven is not None and question.driven.changing:
        return None
    periods: list[float] = []
    for expr in system.expressions().values():
        if time not in expr.free_symbols:
            continue
        waves = [one for one in expr.atoms(*CIRCULAR) if time in one.free_symbols]
        if time in expr.xreplace({one: sp.Dummy() for one in waves}).free_symbols:
            return None
        for one in waves:
            inner = {other: sp.Dummy() for other in one.args[0].atoms(*CIRCULAR) if time in other.free_symbols}
            slope = sp.diff(one.args[0].xreplace(inner), time)
            slope = slope.xreplace({key: sp.Float(value) for key, value in values.items()})
            if not slope.is_number:
                return None
            turn = math.pi if one.func is sp.tan else 2 * math.pi  # driven angles are read as tangents of a half
            if slope != 0:
                periods.append(turn / abs(float(slope)))
    return _common(periods)


def _common(periods: list[float]) -> float | None:
    """Return the least common multiple of periods; None where there is none, or it is too long."""
    if not periods:
        return None
    found = periods[0]
    for period in periods[1:]:
        ratio = Fraction(found / period).limit_denominator(LARGEST)
        if ratio == 0 or abs(float(ratio) * period / found - 1) > SAME:
            return None
        found *= ratio.denominator
    return found


def checked_period(question: MotionQuestion, period: Any) -> float | None:
    """Return the period that was given, as a number; None where none was.

    With explicit time it must be a period of everything that depends on time.
    """
    name = question.name
    given: float | None = None
    if period is not None:
        given = period_number(question, period)
    if not depends_on_time(question):
        return given
    own = forcing_period(question)
    if given is None:
        if own is None:
            raise DeclarationError(
                f"{name}: something depends on time, and its period is not that of sines and cosines alone: give "
                "period=, a common period of everything that depends on time."
            )
        return own
    if own is not None:
        count = given / own
        if round(count) < 1 or abs(count - round(count)) > 1e-7 * max(count, 1.0):
            nearest = max(round(count), 1)
            raise DeclarationError(
                f"{name}: period= {given:.10g} is no multiple of the period of what depends on time, {own:.10g}. The "
                f"nearest one is {nearest} times it, {nearest * own:.10g}."
            )
        return round(count) * own
    _require_periodic(question, given)
    return given


def period_number(question: MotionQuestion, period: Any) -> float:
    """Return a period that is a number, or an expression of the parameters."""
    found = period if _plain(period) else _period_expression(question, period)
    number = float(found) if getattr(found, "is_real", True) and abs(found) < sys.float_info.max else math.nan
    if not number > 0:
        raise DeclarationError(f"{question.name}: period= must be above zero and finite; it is {found!s:.40}.")
    return number


def _plain(period: Any) -> bool:
    return isinstance(period, (int, float, np.floating, np.integer)) and not isinstance(period, bool)


def _period_expression(question: MotionQuestion, period: Any) -> Any:
    """Return the value of an expression of the parameters."""
    from zwang._declare.declaration_reader import Reader
    from zwang._declare.given import as_expression

    system = question.declared
    expr = Reader(system.name, system.coordinates, [*system.expressions().values(), *system.parameters])(
        as_expression(period, "period"), "period"
    )
    values = {item: sp.Float(question.params[item.name]) for item in system.parameters}
    found = expr.xreplace(values)
    if not found.is_number:
        strange = sorted(map(str, found.free_symbols))
        raise DeclarationError(
            f"{system.name}: period= must be a number or an expression of the parameters; '{expr}' has {strange[0]!r}."
        )
    return found


def _require_periodic(question: MotionQuestion, period: float) -> None:
    """Refuse a period after which the equations are others, at some instants and states; tables as far as they go."""
    model = question.model.switched(question.on)
    same = MEASURED if question.driven is not None and question.driven.changing else SAME
    rng, start = np.random.default_rng(0), float(question.given.t[0])
    q, v = question.given.q[:, 0], question.given.v[:, 0]
    pairs = []
    for share in rng.uniform(0, 1, 5):
        moved = q + rng.uniform(-0.1, 0.1, len(q)), v + rng.uniform(-0.1, 0.1, len(v))
        times = [start + share * period + k * period for k in (0, 1)]
        with suppress(DeclarationError):
            pairs.append([Ground.of(model, question.started(t, *moved)).terms(t, *moved) for t in times])
    for part in ("force", "gamma", "slip", "value", "mass"):
        both = [[getattr(terms, part) for terms in pair] for pair in pairs]
        off = max((np.abs(one - other).max(initial=0.0) for one, other in both), default=0.0)
        if off > same * (max((np.abs(one).max(initial=0.0) for one, _ in both), default=0.0) + 1e-300):
            raise DeclarationError(
                f"{question.name}: the equations are others after period= {period:.10g}: it is no period of "
                "everything that depends on time."
            )
