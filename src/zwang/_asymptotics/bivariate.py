"""Power series in two variables, truncated by total degree: what the reduced equation of a plane singularity is."""

from __future__ import annotations

from typing import Any

from zwang._asymptotics.precision import ROUNDING, Number, largest, mp
from zwang._asymptotics.taylor import TAYLOR, compose, power
from zwang.errors import StateError


class Bivariate:
    """A polynomial in x and y up to a total degree, with a bound on the error of its coefficients.

    Parameters
    ----------
    degree : int
        Terms of higher degree are dropped.
    terms : dict (i, j) -> mpf
        Coefficients of x^i y^j.
    noise : mpf

    Examples
    --------
    >>> x, y = Bivariate(3, {(1, 0): mp.mpf(1)}), Bivariate(3, {(0, 1): mp.mpf(1)})
    >>> sorted((place, int(value)) for place, value in ((x + y) * (x - y) + x * x * y * y).terms.items())
    [((0, 2), -1), ((2, 0), 1)]
    """

    __slots__ = ("degree", "noise", "terms")

    def __init__(self, degree: int, terms: dict[tuple[int, int], Number], noise: Number = 0) -> None:
        self.degree = degree
        self.terms = {place: item for place, item in terms.items() if item}
        self.noise = mp.mpf(noise)

    @property
    def constant(self) -> Number:
        """The value at x = y = 0."""
        return self.terms.get((0, 0), mp.mpf(0))

    def _size(self) -> Number:
        return sum((abs(item) for item in self.terms.values()), mp.mpf(0))

    def __add__(self, other: Any) -> Bivariate:
        if not isinstance(other, Bivariate):
            other = Bivariate(self.degree, {(0, 0): mp.mpf(other)}, abs(other) * ROUNDING)
        terms = dict(self.terms)
        for place, item in other.terms.items():
            terms[place] = terms.get(place, mp.mpf(0)) + item
        rounding = ROUNDING * (largest(self.terms.values()) + largest(other.terms.values()))
        return Bivariate(min(self.degree, other.degree), terms, self.noise + other.noise + rounding)

    def __mul__(self, other: Any) -> Bivariate:
        if not isinstance(other, Bivariate):
            factor = abs(other)
            noise = factor * (self.noise + ROUNDING * largest(self.terms.values()))
            return Bivariate(self.degree, {place: item * other for place, item in self.terms.items()}, noise)
        degree = min(self.degree, other.degree)
        terms: dict[tuple[int, int], Number] = {}
        for (i, j), left in self.terms.items():
            room = degree - i - j
            for (k, m), right in other.terms.items():
                if k + m <= room:
                    place = (i + k, j + m)
                    old = terms.get(place)
                    terms[place] = left * right if old is None else old + left * right
        a, b = self._size(), other._size()
        return Bivariate(degree, terms, self.noise * b + other.noise * a + ROUNDING * a * b)

    def __pow__(self, exponent: Any) -> Bivariate:
        if exponent == int(exponent) and exponent >= 0:
            result = self * 0 + 1
            for _ in range(int(exponent)):
                result = result * self
            return result
        if not self.constant or (self.constant < 0 and exponent != int(exponent)):
            raise StateError("A root or a quotient in the constraints is not smooth at the point.")
        return self._composed(power([self.constant, mp.mpf(1)], exponent, self.degree + 1))

    def _composed(self, coefficients: list[Number]) -> Bivariate:
        small = Bivariate(self.degree, {k: item for k, item in self.terms.items() if k != (0, 0)}, self.noise)
        found: Bivariate = compose(coefficients, small)
        slope = sum((k * abs(item) for k, item in enumerate(coefficients)), mp.mpf(0))
        return Bivariate(found.degree, found.terms, found.noise + self.noise * slope + ROUNDING * largest(coefficients))

    def apply(self, name: str) -> Bivariate:
        """Return an elementary function of the series."""
        return self._composed(TAYLOR[name](self.constant, self.degree + 1))

    def sign(self) -> int:
        """Return the sign at the point; a quantity that vanishes there has none on all sides."""
        if not self.constant:
            raise StateError("An absolute value or a condition in the constraints changes at the point itself.")
        return 1 if self.constant > 0 else -1

    def __abs__(self) -> Bivariate:
        return -self if self.sign() < 0 else self

    def __truediv__(self, other: Any) -> Bivariate:
        return self.__mul__(other ** mp.mpf(-1) if isinstance(other, Bivariate) else 1 / mp.mpf(other))

    def __rtruediv__(self, other: Any) -> Bivariate:
        return self.__pow__(mp.mpf(-1)).__mul__(other)

    def __neg__(self) -> Bivariate:
        return Bivariate(self.degree, {place: -item for place, item in self.terms.items()}, self.noise)

    def __sub__(self, other: Any) -> Bivariate:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Bivariate:
        return self.__neg__().__add__(other)

    __radd__ = __add__
    __rmul__ = __mul__
