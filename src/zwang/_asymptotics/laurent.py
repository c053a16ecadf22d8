"""Laurent series in one variable, truncated, with a bound on the rounding error of their coefficients.

A series is tau^start (c_0 + c_1 tau + ...) + O(tau^end), with c_0 certainly not zero: leading coefficients that could
be rounding errors are dropped. So the order of a series is known and not guessed, and quotients of series that vanish
at the point are series again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zwang._asymptotics.precision import ROUNDING, Number, largest, mp
from zwang._asymptotics.taylor import TAYLOR, compose, power, product
from zwang.errors import StateError

SAFETY = 1e3
"""How many times its error bound a leading coefficient must be to count as one."""


class Laurent:
    """A truncated Laurent series.

    Parameters
    ----------
    start : int
        The power of the first coefficient.
    coefficients : sequence of mpf
    noise : mpf
        Bound on the error of every coefficient.

    Examples
    --------
    >>> tau = Laurent(1, [mp.mpf(1), mp.mpf(0), mp.mpf(0), mp.mpf(0)])
    >>> print((tau + tau * tau) / (tau * tau * tau))
    1.0*tau^-2 + 1.0*tau^-1 + O(tau^2)
    """

    __slots__ = ("_sum", "coefficients", "noise", "start")

    def __init__(self, start: int, coefficients: Sequence[Number], noise: Number = 0) -> None:
        first, bound = 0, SAFETY * noise
        while first < len(coefficients) and abs(coefficients[first]) <= bound:
            first += 1
        self.start = start + first
        self.coefficients = list(coefficients[first:])
        self.noise = mp.mpf(noise)
        self._sum: Number | None = None

    @property
    def end(self) -> int:
        """The first power that is not known."""
        return self.start + len(self.coefficients)

    @property
    def is_zero(self) -> bool:
        """Whether no coefficient is known to differ from zero."""
        return not self.coefficients

    @property
    def leading(self) -> Number:
        """The first coefficient, zero where none is known."""
        return self.coefficients[0] if self.coefficients else mp.mpf(0)

    def coefficient(self, exponent: int) -> Number:
        """Return the coefficient of a power below the end."""
        place = exponent - self.start
        return self.coefficients[place] if 0 <= place < len(self.coefficients) else mp.mpf(0)

    def at(self, tau: Number) -> Number:
        """Return the value of what is known at a number."""
        total = mp.mpf(0)
        for item in reversed(self.coefficients):
            total = total * tau + item
        return total * mp.mpf(tau) ** self.start

    def shifted(self, by: int) -> Laurent:
        """Return the series times tau^by."""
        return Laurent(self.start + by, self.coefficients, self.noise)

    def stretched(self, rho: Number) -> Laurent:
        """Return the series of rho tau, rho not above 1."""
        items = [item * rho ** (self.start + k) for k, item in enumerate(self.coefficients)]
        found = Laurent(self.start, items, self.noise * rho**self.start)
        return found if items else Laurent(self.end, [], found.noise)

    def derivative(self) -> Laurent:
        """Return the derivative with respect to tau."""
        items = [(self.start + k) * item for k, item in enumerate(self.coefficients)]
        return Laurent(self.start - 1, items, self.noise * max(abs(self.start), abs(self.end)))

    def cut(self, end: int) -> Laurent:
        """Return the series with nothing said about the powers from `end` on."""
        if end <= self.start:
            return Laurent(end, [], self.noise)
        return Laurent(self.start, self.coefficients[: end - self.start], self.noise)

    def _size(self) -> Number:
        if self._sum is None:
            self._sum = sum((abs(item) for item in self.coefficients), mp.mpf(0))
        return self._sum

    # Arithmetic; numbers are exact series.
    def __add__(self, other: Any) -> Laurent:
        if not isinstance(other, Laurent):
            if not other:
                return self
            if self.end <= 0:
                return self
            other = Laurent(0, [mp.mpf(other), *[mp.mpf(0)] * (self.end - 1)], abs(other) * ROUNDING)
        low, end = min(self.start, other.start), min(self.end, other.end)
        items = [self.coefficient(k) + other.coefficient(k) for k in range(low, end)]
        rounding = ROUNDING * (largest(self.coefficients) + largest(other.coefficients))
        return Laurent(min(low, end), items, self.noise + other.noise + rounding)

    def __mul__(self, other: Any) -> Laurent:
        if not isinstance(other, Laurent):
            factor = abs(other)
            noise = self.noise * factor + ROUNDING * factor * largest(self.coefficients)
            return Laurent(self.start, [item * other for item in self.coefficients], noise)
        size = min(len(self.coefficients), len(other.coefficients))
        a, b = self._size(), other._size()
        noise = self.noise * (b + other.noise) + other.noise * a + ROUNDING * a * b
        if size == 0:
            return Laurent(min(self.start + other.end, other.start + self.end), [], noise)
        return Laurent(self.start + other.start, product(self.coefficients, other.coefficients, size), noise)

    def inverse(self) -> Laurent:
        """Return 1 over the series; a series without a known coefficient has none."""
        return self.__pow__(mp.mpf(-1))

    def __pow__(self, exponent: Any) -> Laurent:
        if exponent == int(exponent) and exponent >= 0:
            return self._natural_power(int(exponent))
        if self.is_zero:
            raise ZeroDivisionError(f"a series that vanishes to order {self.end} was to be inverted")
        start = exponent * self.start
        if start != int(start):
            raise StateError(
                f"A quantity behaves like distance^{float(start):g} at the point: its power has no series."
            )
        if self.leading < 0 and exponent != int(exponent):
            raise StateError("A root of a negative quantity occurs on the way into the point.")
        items = power(self.coefficients, exponent, len(self.coefficients))
        size = sum((abs(item) for item in items), mp.mpf(0))
        # |d a^r| = |r a^(r-1) da|; a^(r-1) = a^r / a, and 1/a is bounded by what the recurrence multiplied up.
        inverse = size if exponent == -1 else sum(map(abs, power(self.coefficients, mp.mpf(-1), len(items))), mp.mpf(0))
        noise = abs(exponent) * size * inverse * (self.noise + ROUNDING * self._size())
        return Laurent(int(start), items, noise)

    def _natural_power(self, exponent: int) -> Laurent:
        result: Laurent | None = None
        square = self
        while exponent:
            if exponent & 1:
                result = square if result is None else result * square
            exponent >>= 1
            if exponent:
                square = square * square
        return self.__mul__(mp.mpf(0)).__add__(mp.mpf(1)) if result is None else result

    def __truediv__(self, other: Any) -> Laurent:
        return self.__mul__(other.inverse() if isinstance(other, Laurent) else 1 / mp.mpf(other))

    def __rtruediv__(self, other: Any) -> Laurent:
        return self.inverse().__mul__(other)

    def __neg__(self) -> Laurent:
        return Laurent(self.start, [-item for item in self.coefficients], self.noise)

    def __sub__(self, other: Any) -> Laurent:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Laurent:
        return self.__neg__().__add__(other)

    __radd__ = __add__
    __rmul__ = __mul__

    def apply(self, name: str) -> Laurent:
        """Return an elementary function of the series, which must be finite at the point."""
        constant, small = self._split(name)
        size = max(small.end, 1)
        if name in ("sin", "cos"):
            return self._turned(name, constant, size)
        coefficients = TAYLOR[name](constant, size)
        found = compose(coefficients, small)
        slope = sum((k * abs(item) for k, item in enumerate(coefficients)), mp.mpf(0))
        return Laurent(
            found.start, found.coefficients, found.noise + self.noise * slope + ROUNDING * largest(coefficients)
        )

    def _turned(self, name: str, constant: Number, size: int) -> Laurent:
        """Return the sine or the cosine by s' = c x', c' = -s x'."""
        slopes = [k * self.coefficient(k) for k in range(size)]
        sine, cosine = [mp.sin(constant)], [mp.cos(constant)]
        for k in range(1, size):
            places = [i for i in range(1, k + 1) if slopes[i]]
            sine.append(sum((slopes[i] * cosine[k - i] for i in places), mp.mpf(0)) / k)
            cosine.append(-sum((slopes[i] * sine[k - i] for i in places), mp.mpf(0)) / k)
        # An error dx of the argument changes the sine by cos(x) dx, and the cosine likewise.
        size = sum(map(abs, sine), mp.mpf(0)) + sum(map(abs, cosine), mp.mpf(0))
        noise = (self.noise + ROUNDING * (1 + self._size())) * size
        return Laurent(0, sine if name == "sin" else cosine, noise)

    def _split(self, name: str) -> tuple[Number, Laurent]:
        if self.start < 0:
            raise StateError(f"The argument of {name} grows without bound on the way into the point.")
        constant = self.coefficient(0) if self.start == 0 else mp.mpf(0)
        rest = [mp.mpf(0), *(self.coefficient(k) for k in range(1, self.end))]
        return constant, Laurent(0, rest, self.noise)

    def sign(self) -> int:
        """Return the sign that the series has next to the point: that of its first coefficient."""
        return 0 if self.is_zero else (1 if self.leading > 0 else -1)

    def __abs__(self) -> Laurent:
        return -self if self.sign() < 0 else self

    def __repr__(self) -> str:
        terms = [f"{mp.nstr(item, 8)}*tau^{self.start + k}" for k, item in enumerate(self.coefficients) if item]
        return " + ".join([*terms, f"O(tau^{self.end})"])
