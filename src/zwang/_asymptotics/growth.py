"""Exponents: predicted from series, and measured from values at shrinking distances by Richardson's extrapolation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from zwang._asymptotics.laurent import Laurent
from zwang._asymptotics.precision import Number, mp

NOTHING = mp.mpf(10) ** -45
"""What is smaller at the largest distance of a measurement is rounding: else its exponent would be above seven."""
HALVINGS = 9
"""Times that tau is halved."""


@dataclass(frozen=True)
class Power:
    """y = coefficient * x^exponent to leading order; an exponent of None: y is zero."""

    exponent: Any
    coefficient: Number
    error: Number = 0


def power_of_series(y: Laurent | Number, x: Laurent) -> Power:
    """Return the leading behaviour of one series in terms of another.

    Examples
    --------
    >>> found = power_of_series(Laurent(-3, [mp.mpf(8)]), Laurent(2, [mp.mpf(4)]))
    >>> found.exponent, int(found.coefficient)
    (Fraction(-3, 2), 64)
    """
    if not isinstance(y, Laurent):
        return Power(Fraction(0), y) if y else Power(None, mp.mpf(0))
    if y.is_zero:
        return Power(None, mp.mpf(0))
    exponent = Fraction(y.start, x.start)
    power = mp.mpf(exponent.numerator) / exponent.denominator
    return Power(exponent, y.leading / x.leading**power)


def measured_power(x: Sequence[Number], y: Sequence[Number]) -> Power:
    """Return exponent and coefficient from values at tau, tau/2, tau/4, ...

    The slopes of log |y| over log x are p + c1 tau + c2 tau^2 + ...; Richardson's scheme removes one power of tau after
    the other. The error is the change of the last step.

    Examples
    --------
    >>> x = [mp.mpf(2) ** -k for k in range(12)]
    >>> found = measured_power(x, [3 * item**-2 * (1 + item) for item in x])
    >>> mp.nstr(found.exponent, 8), mp.nstr(found.coefficient, 8)
    ('-2.0', '3.0')
    """
    if any(not item for item in y) or abs(y[0]) < NOTHING:
        return Power(None, mp.mpf(0))
    slopes = [mp.log(abs(y[k + 1] / y[k])) / mp.log(x[k + 1] / x[k]) for k in range(len(x) - 1)]
    exponent, error = _limit(slopes)
    near = rounded(exponent)
    coefficient, _ = _limit([b / a**near for a, b in zip(x, y, strict=True)])
    return Power(exponent, coefficient, error)


def rounded(exponent: Number) -> Number:
    """Return the fraction with a small denominator that a measured exponent means, or itself where it means none."""
    for denominator in range(1, 25):
        nearest = mp.nint(exponent * denominator) / denominator
        if abs(nearest - exponent) < mp.mpf(10) ** -4 / denominator:
            return nearest
    return exponent


def _limit(values: Sequence[Number]) -> tuple[Number, Number]:
    """Return the limit of a sequence with an expansion in powers of tau, tau halved at each step, and its error."""
    row = list(values)
    best, error = row[-1], abs(row[-1] - row[-2])
    for order in range(1, len(values)):
        factor = mp.mpf(2) ** order
        row = [(factor * row[k + 1] - row[k]) / (factor - 1) for k in range(len(row) - 1)]
        change = abs(row[-1] - best)
        if change > error and order > 2:
            break
        best, error = row[-1], change
    return best, error
