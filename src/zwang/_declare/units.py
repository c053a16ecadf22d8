"""Units as texts: what dimension each has, and whether the terms of a declaration agree.

A dimension is the tuple of its exponents of length, mass, time, temperature, current. Numbers in a sum may stand for
anything and agree with everything; so does a term in which a symbol has no unit.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import sympy as sp

from zwang import _expressions
from zwang._declare.symbols import Input, Time, Velocity
from zwang.errors import DeclarationError, nearest

Dimension: TypeAlias = "tuple[Fraction, ...]"
BASE = ("m", "kg", "s", "K", "A")
NOTHING: Dimension = tuple(Fraction(0) for _ in BASE)


def _made(**powers: int) -> Dimension:
    return tuple(Fraction(powers.get(name, 0)) for name in BASE)


KNOWN: dict[str, Dimension] = {name: _made(**{name: 1}) for name in BASE} | {
    "rad": NOTHING,
    "deg": NOTHING,
    "mm": _made(m=1),
    "cm": _made(m=1),
    "km": _made(m=1),
    "g": _made(kg=1),
    "t": _made(kg=1),
    "ms": _made(s=1),
    "min": _made(s=1),
    "h": _made(s=1),
    "Hz": _made(s=-1),
    "N": _made(m=1, kg=1, s=-2),
    "kN": _made(m=1, kg=1, s=-2),
    "J": _made(m=2, kg=1, s=-2),
    "kJ": _made(m=2, kg=1, s=-2),
    "W": _made(m=2, kg=1, s=-3),
    "Pa": _made(m=-1, kg=1, s=-2),
    "V": _made(m=2, kg=1, s=-3, A=-1),
}


@lru_cache(maxsize=512)
def dimension_of(unit: str) -> Dimension:
    """Return the dimension of a unit.

    Examples
    --------
    >>> dimension_of("N/m") == dimension_of("kg/s**2"), dimension_of("1") == NOTHING
    (True, True)
    """
    names = _expressions.names(unit, where=f"unit '{unit}'")
    for name in names:
        if name not in KNOWN:
            raise DeclarationError(f"unit '{unit}': '{name}' is no unit known here. {nearest(name, list(KNOWN))}")
    table = {name: sp.Symbol(name, positive=True) for name in KNOWN}
    read = _expressions.parse(unit, table, where=f"unit '{unit}'")
    found = None if read.is_Add else _dimension(read, {table[name]: own for name, own in KNOWN.items()})
    if found is None:
        raise DeclarationError(f"unit '{unit}' must be a product of powers of units, such as 'kg*m/s**2'.")
    return found


class Clash(Exception):
    """Two terms of a sum have different dimensions, or a function an argument with one."""

    def __init__(self, term: Any, why: str) -> None:
        super().__init__(why)
        self.term, self.why = term, why


def _dimension(expr: Any, known: dict[Any, Dimension]) -> Dimension | None:
    """Return the dimension of an expression, None where a symbol has none; `Clash` where its terms don't agree."""
    if expr.is_Symbol:
        return known.get(expr)
    if expr.is_number:
        return NOTHING
    if expr.is_Mul:
        parts = [_dimension(item, known) for item in expr.args]
        if any(part is None for part in parts):
            return None
        return tuple(sum((part[k] for part in parts if part), Fraction(0)) for k in range(len(BASE)))
    if expr.is_Pow:
        base = _dimension(expr.base, known)
        if base is None or not expr.exp.is_Rational:
            return None if base != NOTHING else NOTHING
        return tuple(power * Fraction(int(expr.exp.p), int(expr.exp.q)) for power in base)
    if expr.is_Add or isinstance(expr, (sp.Max, sp.Min)):
        return _agreed(expr, known)
    parts = [_dimension(item, known) for item in expr.args if isinstance(item, sp.Expr)]
    if isinstance(expr, sp.Abs):
        return parts[0]
    if isinstance(expr, (sp.Piecewise, sp.sign, sp.Heaviside, sp.atan2)):
        return None if isinstance(expr, sp.Piecewise) else NOTHING
    if parts and parts[0] is not None and parts[0] != NOTHING:
        raise Clash(expr, f"the argument of {expr.func.__name__} has the dimension {words(parts[0])}")
    return NOTHING


def _agreed(expr: Any, known: dict[Any, Dimension]) -> Dimension | None:
    """Return the dimension of all terms of a sum."""
    first: tuple[Any, Dimension] | None = None
    sure = True
    for term in expr.args:
        own = None if term.is_number else _dimension(term, known)
        if own is None:
            sure = sure and term.is_number
            continue
        if first is not None and own != first[1]:
            raise Clash(term, f"it has the dimension {words(own)}, and '{first[0]}' has {words(first[1])}")
        first = first or (term, own)
    return first[1] if first is not None and sure else None


def words(dimension: Dimension) -> str:
    """Return a dimension as text.

    Examples
    --------
    >>> words(dimension_of("N")), words(NOTHING)
    ('kg*m/s**2', '1')
    """
    symbols = [sp.Symbol(name, positive=True) for name in BASE]
    product = sp.Mul(*(s ** sp.Rational(p.numerator, p.denominator) for s, p in zip(symbols, dimension, strict=True)))
    return str(product)


def check_units(system: Any) -> None:
    """Refuse a declaration whose terms have different dimensions."""
    if not system.units:
        return
    known = _known(system)
    energies = {}
    for where, expr in system.expressions().items():
        try:
            found = _dimension(expr, known)
        except Clash as clash:
            raise DeclarationError(
                f"{system.name}: units don't agree in {where}: the term '{clash.term}': {clash.why}. Correct the unit "
                "or the term."
            ) from None
        if where in ("kinetic", "potential") and found is not None and expr != 0 and not expr.is_number:
            energies[where] = found
    _check_resultants(system, known)
    if len(set(energies.values())) > 1:
        raise DeclarationError(
            f"{system.name}: units don't agree: the kinetic energy has {words(energies['kinetic'])}, the potential "
            f"{words(energies['potential'])}."
        )


def _check_resultants(system: Any, known: dict[Any, Dimension]) -> None:
    """Refuse frictions of a resultant whose multipliers are in different units."""
    named = {str(item.name): item for item in system.constraints}
    for item in system.constraints:
        of = getattr(item, "of", ())
        found = {name: _dimension(named[name].expr, known) for name in of}
        sure = {name: own for name, own in found.items() if own is not None}
        if len(set(sure.values())) > 1:
            told = ", ".join(f"'{name}' has {words(own)}" for name, own in sure.items())
            raise DeclarationError(
                f"{system.name}: units don't agree in what loads '{item.name}': {told}. The multipliers of a resultant "
                "must be forces in one unit."
            )


def _known(system: Any) -> dict[Any, Dimension]:
    """Return the dimension of every symbol that has one: those with a unit, their rates, the time."""
    known: dict[Any, Dimension] = {}
    by_name = {item.name: item for item in system._symbols()}
    for name, unit in system.units.items():
        try:
            known[by_name[name]] = dimension_of(unit)
        except DeclarationError as error:
            raise DeclarationError(f"{system.name}: units= of '{name}': {error}") from None
    second = dimension_of("s")
    for symbol in by_name.values():
        if isinstance(symbol, Time):
            known.setdefault(symbol, second)
        if isinstance(symbol, Velocity) and symbol.coordinate in known:
            own = known[symbol.coordinate]
            rate = tuple(a - b for a, b in zip(own, second, strict=True))
            if known.setdefault(symbol, rate) != rate:
                raise DeclarationError(
                    f"{system.name}: units: '{symbol}' has {words(known[symbol])}, and it is the rate of "
                    f"'{symbol.coordinate}', which has {words(own)}."
                )
        if isinstance(symbol, Input) and symbol in known:
            own = known[symbol]
            for _ in range(2):
                symbol, own = symbol.rate, tuple(a - b for a, b in zip(own, second, strict=True))  # noqa: PLW2901
                known[symbol] = own
    return known


COHERENT = ("m", "kg", "s", "rad", "N", "J", "W", "Pa", "1")
"""Units of which a product is in the same units as one of forces and energies."""
SHORT = ("N", "N*m", "N/m", "N/m**2", "N*s", "N*s/m")
"""How units of multipliers are written, where it is not by powers."""


def units_shown(system: Any) -> dict[str, str]:
    """Return the units that pictures and files of a system show, by name.

    Those given, radians for angles, rates per second, the time in seconds; under 'reaction of c' that of the multiplier
    of a constraint 'c', where all units are those of SI.

    Examples
    --------
    >>> import zwang as zw
    >>> (x, th), (vx, w) = zw.coordinates("x theta", angles="theta")
    >>> rod = zw.System(kinetic="m*v_x**2/2 + J*v_theta**2/2", coordinates=(x, th), units={"x": "m", "m": "kg"},
    ...                 constraints=[zw.Unilateral(x, name="floor")])
    >>> units_shown(rod)
    {'x': 'm', 'm': 'kg', 'theta': 'rad', 't': 's', 'v_x': 'm/s', 'v_theta': 'rad/s', 'reaction of floor': 'N'}
    """
    angles = {item.name: "rad" for item in system.coordinates if item.angle}
    found = {**system.units, **{name: unit for name, unit in angles.items() if name not in system.units}}
    found.setdefault("t", "s")
    for item in system.velocities:
        own = found.get(item.coordinate.name)
        if own:
            found.setdefault(item.name, f"{own}/s")
    if not system.units or any(set(_expressions.names(unit)) - set(COHERENT) for unit in system.units.values()):
        return found
    known, energy, second = _known(system), dimension_of("J"), dimension_of("s")
    for constraint in system.constraints:
        if getattr(constraint, "expr", None) is None:
            continue
        own_dimension = _dimension(constraint.expr, known)
        if own_dimension is None:
            continue
        on_velocity = any(isinstance(item, Velocity) for item in constraint.expr.free_symbols)
        times = second if on_velocity else NOTHING
        whole = tuple(a - b - c for a, b, c in zip(energy, own_dimension, times, strict=True))
        short = next((text for text in SHORT if dimension_of(text) == whole), words(whole))
        found[f"reaction of {constraint.name}"] = short
    return found
