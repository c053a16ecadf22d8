"""What a linkage accepts: names, numbers, symbols, texts, curves."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from zwang import _expressions
from zwang._declare.given import components
from zwang._declare.symbols import Coordinate, Velocity, parameter, t
from zwang.errors import DeclarationError

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


def check_name(name: Any, where: str) -> None:
    """Refuse a name that could not be part of the name of a coordinate."""
    if not isinstance(name, str) or not NAME.match(name):
        raise DeclarationError(
            f"{where} must start with a letter and have letters, digits and underscores; not {name!r}."
        )


def split(names: str | Sequence[str], where: str) -> list[str]:
    """Return names given as one text, separated by blanks or commas, or one by one."""
    listed = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    if not listed:
        raise DeclarationError(f"{where}: no name was given. Give names separated by blanks, such as 'A B C'.")
    return listed


def value(given: Any, where: str, *, above: float | None = None, least: float | None = None, time: bool = False) -> Any:
    """Return a number, a symbol, an expression of parameters or the text of one as an expression."""
    if isinstance(given, str):
        expr = _expressions.parse(given, {"t": t}, where=where, parameters=parameter)
    else:
        expr = _expressions.in_doubles(given) if isinstance(given, sp.Expr) else _expressions.number(given)
    if expr is None:
        raise DeclarationError(
            f"{where}: a number, a symbol, an expression or a text is needed; it was given {given!r:.80}."
        )
    moving = [symbol for symbol in expr.free_symbols if isinstance(symbol, (Coordinate, Velocity))]
    if moving:
        raise DeclarationError(f"{where}: it depends on the coordinate '{moving[0]}'; only parameters may occur here.")
    if not time and t in expr.free_symbols:
        raise DeclarationError(f"{where}: it depends on time. Only places of the ground, forces and torques may.")
    if expr.is_number:
        _check_number(expr, where, above, least)
    return expr


def _check_number(expr: Any, where: str, above: float | None, least: float | None) -> None:
    if not expr.is_finite or not expr.is_real:
        raise DeclarationError(f"{where}: a finite real number is needed; it was given {expr}.")
    if above is not None and expr <= above:
        raise DeclarationError(f"{where} must be greater than {above}; it was given {expr}.")
    if least is not None and expr < least:
        raise DeclarationError(f"{where} must not be less than {least}; it was given {expr}.")


def pair(given: Any, where: str, *, time: bool = False) -> tuple[Any, Any]:
    """Return two expressions."""
    items = components(given)
    if items is None:
        raise DeclarationError(f"{where}: two components are needed, such as (0, -9.81); it was given {given!r}.")
    if len(items) != 2:
        raise DeclarationError(f"{where}: two components are needed; {len(items)} were given.")
    return value(items[0], where, time=time), value(items[1], where, time=time)


def curve(implicit: Callable[..., Any] | str, where: str) -> tuple[Any, tuple[Any, Any]]:
    """Return the expression of a curve and the two symbols that stand for x and y in it."""
    x, y = sp.Dummy("x", real=True), sp.Dummy("y", real=True)
    if isinstance(implicit, str):
        expr = _expressions.parse(implicit, {"x": x, "y": y, "t": t}, where=where, parameters=parameter)
    elif callable(implicit):
        expr = implicit(x, y)
    else:
        raise DeclarationError(
            f"{where}: the curve must be a function of (x, y) or a text in x and y, not {implicit!r}."
        )
    if not isinstance(expr, sp.Expr) or not expr.free_symbols & {x, y}:
        raise DeclarationError(f"{where}: the curve must depend on x and y; it is {expr!r}.")
    return expr, (x, y)


def rubbing(friction: Any, radius: Any, where: str) -> tuple[Any, Any]:
    """Return the friction and the radius of a pin, None and None for a smooth one."""
    if friction is None:
        if radius is not None:
            raise DeclarationError(f"{where}: radius= is given and no friction=. Give friction= the coefficient mu.")
        return None, None
    if radius is None:
        raise DeclarationError(f"{where}: friction= needs the radius at which the pin rubs. Give radius= [m].")
    law = friction if callable(friction) else value(friction, f"{where}: friction", least=0)
    return law, value(radius, f"{where}: radius", above=0)
