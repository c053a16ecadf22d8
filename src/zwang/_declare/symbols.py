"""Symbols that know their part in a system: coordinates, velocities, time, inputs, parameters.

A coordinate carries its place in the declaring call, a digest of that call and whether it is an angle; a velocity
carries the same of its coordinate. All of it is part of equality, so no registry is needed: two declarations of one
name that differ are two different symbols, and equal declarations give equal symbols.
"""

from __future__ import annotations

import hashlib
import keyword
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import sympy as sp
from sympy.core.assumptions import _assume_defined
from sympy.core.facts import InconsistentAssumptions

from zwang import _expressions
from zwang._declare.given import components
from zwang.errors import DeclarationError, nearest

VELOCITY_PREFIX = "v_"
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
LONGEST_NAME = 64  # characters; as much as a table has room for
NOT = "not "
KNOWN_FACTS = frozenset(_assume_defined) - {"commutative"}
RESERVED = frozenset({"t", "I", "rate", *_expressions.RESERVED, *_expressions.FUNCTION_NAMES})


_R = TypeVar("_R", bound="_Role")


class _Role(sp.Symbol):
    """A real symbol with a place in a declaring call; the base of `Coordinate` and `Velocity`."""

    __slots__ = ("angle", "call", "place")

    angle: bool
    place: int
    call: str

    def __new__(cls, name: str, angle: bool = False, place: int = 0, call: str = "") -> _Role:
        symbol: _Role = sp.Symbol.__xnew__(cls, name, real=True)
        symbol.angle, symbol.place, symbol.call = bool(angle), int(place), str(call)
        return symbol

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.name, self.angle, self.place, self.call), {}

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Come back from a pickle as the very object that this process has already, if it has one."""
        return _made, (type(self), self.name, self.angle, self.place, self.call)

    def _hashable_content(self) -> tuple[Any, ...]:
        return (self.name, self.place, self.angle, self.call, *self._assumptions0)

    @classmethod
    def class_key(cls) -> tuple[int, int, str]:
        """Sort among other symbols by name, so that products print as people write them."""
        return 2, 0, "Symbol"


class Coordinate(_Role):
    """A generalized coordinate; made by `coordinates`."""

    __slots__ = ()

    @property
    def velocity(self) -> Velocity:
        """The symbol of its time derivative."""
        partner: Velocity = _made(Velocity, VELOCITY_PREFIX + self.name, self.angle, self.place, self.call)
        return partner


class Velocity(_Role):
    """The time derivative of a coordinate; made by `coordinates`."""

    __slots__ = ()

    @property
    def coordinate(self) -> Coordinate:
        """The coordinate that it is the derivative of."""
        name = self.name.removeprefix(VELOCITY_PREFIX)
        partner: Coordinate = _made(Coordinate, name, self.angle, self.place, self.call)
        return partner

    def _latex(self, printer: Any) -> str:
        return rf"\dot{{{printer._print_Symbol(self.coordinate)}}}"


class Dependent(Coordinate):
    """A Cartesian coordinate of a body that follows from the coordinates of its system; made by a `Tree`."""

    __slots__ = ()

    @property
    def velocity(self) -> DependentVelocity:
        """The symbol of its time derivative."""
        partner: DependentVelocity = _made(
            DependentVelocity, VELOCITY_PREFIX + self.name, self.angle, self.place, self.call
        )
        return partner


class DependentVelocity(Velocity):
    """The time derivative of a `Dependent`."""

    __slots__ = ()

    @property
    def coordinate(self) -> Dependent:
        """What it is the derivative of."""
        partner: Dependent = dependent(self.name.removeprefix(VELOCITY_PREFIX))
        return partner


def dependent(name: str) -> Dependent:
    """Return the symbol of a Cartesian coordinate of a body that follows from the coordinates of its system."""
    made: Dependent = _made(Dependent, name, False, 0, "")
    return made


@lru_cache(maxsize=20_000)
def _made(cls: type[_R], name: str, angle: bool, place: int, call: str) -> _R:
    """Return a symbol, the same object where possible: equality is by content, but identity is quicker to see."""
    return cls(name, angle, place, call)


class Time(sp.Symbol):
    """The symbol of explicit time; there is one, `zwang.t`."""

    __slots__ = ()

    def __new__(cls) -> Time:
        return sp.Symbol.__xnew__(cls, "t", real=True)  # type: ignore[no-any-return]

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (), {}

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _the_time, ()


t = Time()


def _the_time() -> Time:
    return t


class Input(sp.Symbol):
    """A quantity that is given as a function of time, or its first or second rate; made by `inputs` and `rate`."""

    __slots__ = ("order",)

    order: int

    def __new__(cls, name: str, order: int = 0) -> Input:
        written = name if order == 0 else f"rate({name})" if order == 1 else f"rate(rate({name}))"
        symbol: Input = sp.Symbol.__xnew__(cls, written, real=True)
        symbol.order = int(order)
        return symbol

    @property
    def base(self) -> Input:
        """The input that it is a rate of; itself where it is none."""
        return self if self.order == 0 else Input(self.name[5 * self.order : -self.order])

    @property
    def rate_of(self) -> Input | None:
        """What it is the rate of, None where it is an input itself."""
        return None if self.order == 0 else Input(self.base.name, self.order - 1)

    @property
    def rate(self) -> Input:
        """Its rate, also an input; beyond the second there is none."""
        if self.order == 2:
            raise DeclarationError(f"rate: {self} has no rate here: equations of motion need two derivatives at most.")
        return Input(self.base.name, self.order + 1)

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self.base.name, self.order), {}

    def __reduce_ex__(self, protocol: Any) -> Any:
        return Input, (self.base.name, self.order)

    def _hashable_content(self) -> tuple[Any, ...]:
        return (self.name, self.order, "input", *self._assumptions0)

    @classmethod
    def class_key(cls) -> tuple[int, int, str]:
        """Sort among other symbols by name, so that products print as people write them."""
        return 2, 0, "Symbol"

    def _latex(self, printer: Any) -> str:
        dots = {0: "{}", 1: r"\dot{{{}}}", 2: r"\ddot{{{}}}"}[self.order]
        return dots.format(printer._print_Symbol(sp.Symbol(self.base.name)))


def inputs(names: str | Sequence[str]) -> Input | tuple[Input, ...]:
    """Declare inputs: symbols, one or a tuple, whose values are functions of time; `rate` gives their derivatives.

    They may stand wherever `zwang.t` may. What they are is said when a verb is asked: ``inputs={u: value}`` with a
    number, an expression of time, a `Table` or a `Held` function.

    Examples
    --------
    >>> import zwang as zw
    >>> (x,), (vx,) = zw.coordinates("x")
    >>> u = zw.inputs("u")
    >>> cart = zw.System(kinetic=vx**2 / 2, forces={x: u - vx})
    >>> cart.inputs, zw.rate(u)
    ((u,), rate(u))
    >>> float(zw.simulate(cart, {"x": 0, "v_x": 0}, inputs={u: 1}, until=1).v[-1, 0])
    0.6321205588...
    """
    listed = _split(names)
    _check_names(listed, "input")
    symbols = tuple(Input(name) for name in listed)
    alone = isinstance(names, str) and len(symbols) == 1 and not names.strip().endswith(",")
    return symbols[0] if alone else symbols


class SmallParameter(sp.Symbol):
    """The symbol of a small parameter that a perturbation depends on; there is one, `zwang.eps`."""

    __slots__ = ()

    def __new__(cls) -> SmallParameter:
        return sp.Symbol.__xnew__(cls, "eps", real=True)  # type: ignore[no-any-return]

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (), {}

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _the_small_parameter, ()


eps = SmallParameter()


def _the_small_parameter() -> SmallParameter:
    return eps


def coordinates(
    names: str | Sequence[str], *, angles: str | Iterable[str] | bool = ()
) -> tuple[tuple[Coordinate, ...], tuple[Velocity, ...]]:
    """Declare generalized coordinates and their velocities.

    Parameters
    ----------
    names : str or sequence of str
        Names as for `sympy.symbols`: separated by blanks or commas, with ranges such as ``"q1:4"``.
    angles : str, sequence of str, or True
        Those that are angles [rad]: their configuration space is a circle. True stands for all of them.

    Returns
    -------
    tuple of Coordinate, tuple of Velocity
        Always two tuples, in the order of the names; the velocity of ``x`` is called ``v_x``.

    Examples
    --------
    >>> import zwang as zw
    >>> (x, theta), (vx, omega) = zw.coordinates("x theta", angles="theta")
    >>> omega, theta.angle, x.velocity == vx
    (v_theta, True, True)
    """
    listed = _split(names)
    _check_names(listed, "coordinate")
    if angles is True:
        angular = list(listed)
    else:
        angular = [] if angles is False or (isinstance(angles, str) and not angles) else _split(angles)
    for name in angular:
        if name not in listed:
            raise DeclarationError(
                f"coordinates: angles= names '{name}', which is not declared. {nearest(name, listed)}"
            )
    signature = "|".join(f"{name}{'@' if name in angular else ''}" for name in listed)
    call = hashlib.sha256(signature.encode()).hexdigest()[:16]
    turning = frozenset(angular)
    positions = tuple(_made(Coordinate, name, name in turning, place, call) for place, name in enumerate(listed))
    return positions, tuple(position.velocity for position in positions)


def parameters(names: str | Sequence[str]) -> sp.Symbol | tuple[sp.Symbol, ...]:
    """Declare parameters: real symbols, one or a tuple, as `sympy.symbols` gives them.

    Examples
    --------
    >>> import zwang as zw
    >>> m, g = zw.parameters("m g")
    >>> m * g
    g*m
    """
    listed = _split(names)
    _check_names(listed, "parameter")
    symbols = tuple(parameter(name) for name in listed)
    alone = isinstance(names, str) and len(symbols) == 1 and not names.strip().endswith(",")
    return symbols[0] if alone else symbols


def parameter(name: str, kind: Sequence[str] | None = None) -> sp.Symbol:
    """Return the parameter symbol of a name that has been checked already, of a kind as `kind_of` tells it."""
    if kind is None:
        return sp.Symbol(name, real=True)
    words = {word.removeprefix(NOT): not word.startswith(NOT) for word in kind}
    wrong = sorted(set(words) - KNOWN_FACTS)
    if wrong:
        raise DeclarationError(f"The parameter '{name}' has the unknown assumption {wrong[0]!a}.")
    try:
        return sp.Symbol(name, **words)
    except InconsistentAssumptions:
        raise DeclarationError(f"The assumptions on '{name}' contradict each other: {', '.join(kind)}.") from None


def kind_of(symbol: sp.Symbol) -> list[str]:
    """Return what a symbol of SymPy was declared to be, in words: 'positive', 'integer', 'not zero'.

    Examples
    --------
    >>> kind_of(sp.Symbol("m", positive=True, integer=False))
    ['not integer', 'positive']
    """
    return sorted(f"{'' if held else NOT}{fact}" for fact, held in symbol._assumptions_orig.items())


def rate(quantity: Any) -> Any:
    """Return the total time derivative of an expression or Matrix of coordinates, inputs and time.

    Explicit time (`zwang.t`) is included. Expressions with velocities have no rate here: it would need accelerations.

    Examples
    --------
    >>> import sympy as sp, zwang as zw
    >>> (x, theta), (vx, omega) = zw.coordinates("x theta", angles="theta")
    >>> zw.rate(x * zw.t + sp.sin(theta))
    v_theta*cos(theta) + v_x*t + x
    """
    if isinstance(quantity, sp.MatrixBase):
        return quantity.applyfunc(rate)
    items = components(quantity)
    if items is not None:
        return sp.Matrix([rate(item) for item in items])
    if isinstance(quantity, (int, float)):
        return sp.Integer(0)
    if not isinstance(quantity, sp.Expr):
        raise DeclarationError(f"rate needs an expression or a Matrix of expressions; it was given {quantity!r}.")
    symbols = sorted(quantity.free_symbols, key=lambda symbol: symbol.name)
    moving = [symbol for symbol in symbols if isinstance(symbol, Velocity)]
    if moving:
        raise DeclarationError(
            f"rate: the expression already has the velocity '{moving[0]}', and its rate would need accelerations. "
            "Give rate an expression of coordinates and time alone."
        )
    terms = [sp.diff(quantity, symbol) * symbol.velocity for symbol in symbols if isinstance(symbol, Coordinate)]
    return sp.Add(*terms, explicit_rate(quantity))


def explicit_rate(quantity: Any) -> Any:
    """Return the part of a total time derivative that explicit time and inputs give."""
    driving = sorted((s for s in quantity.free_symbols if isinstance(s, Input)), key=lambda symbol: symbol.name)
    terms = [sp.diff(quantity, symbol) * symbol.rate for symbol in driving]
    return sp.Add(*terms, sp.diff(quantity, t))


def symbol_table(positions: Iterable[Coordinate]) -> dict[str, sp.Symbol]:
    """Return name -> symbol for coordinates, their velocities and time, as the text of expressions sees them."""
    table: dict[str, sp.Symbol] = {"t": t}
    for position in positions:
        table[position.name] = position
        table[position.velocity.name] = position.velocity
    return table


def _split(names: str | Iterable[str]) -> list[str]:
    if isinstance(names, str):
        if not names.strip(" ,\t\n"):
            raise DeclarationError("No name was given. Give names separated by blanks, such as 'x y theta'.")
        if not re.fullmatch(r"[A-Za-z0-9_:,\s]+", names):
            raise DeclarationError(f"The names {names[:80]!r} are not all names: use letters, digits and underscores.")
        made = sp.symbols(names.strip(), cls=_Name)
        return [item.name for item in (made if isinstance(made, tuple) else (made,))]
    if not isinstance(names, Iterable):
        raise DeclarationError(f"Names are a text such as 'x y theta', or a list of texts; it was given {names!r:.60}.")
    return [str(name) for name in names]


class _Name:
    """What `sympy.symbols` makes for us when it expands ranges: a name and nothing else."""

    def __init__(self, name: str, **_: object) -> None:
        self.name = name


def _check_names(names: Sequence[str], role: str) -> None:
    for name in names:
        if not NAME.match(name) or len(name) > LONGEST_NAME or keyword.iskeyword(name):
            raise DeclarationError(
                f"'{name[:80]}' can't be the name of a {role}: it must start with a letter, have letters, digits and "
                f"underscores only, at most {LONGEST_NAME} of them, and be no keyword of Python."
            )
        if name in RESERVED:
            raise DeclarationError(f"'{name}' can't be the name of a {role}: it already has a meaning. Choose another.")
    everything = list(names)
    if role == "coordinate":
        everything += [VELOCITY_PREFIX + name for name in names]
    seen: set[str] = set()
    for name in everything:
        if name in seen:
            raise DeclarationError(
                f"'{name}' is declared twice in one call (the velocity of x is called v_x). Choose different names."
            )
        seen.add(name)
