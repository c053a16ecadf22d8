"""Guides given by an implicit equation: the gap as a length, and the slip along the guide.

On the guide F = 0 the gap ``F/|grad F|`` has a gradient of unit length, so that its multiplier is a force and Coulomb's
law needs no scale. Where grad F vanishes the guide has no normal, and evaluating there is a StateError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from zwang._declare.given import Text, as_expression, components
from zwang._declare.symbols import rate
from zwang.errors import DeclarationError


def on_curve(
    point: Sequence[Any], implicit: Callable[..., Any] | sp.Expr, *, variables: Sequence[sp.Symbol] | None = None
) -> tuple[sp.Expr, sp.Expr]:
    """Return gap and slip of a point on a plane curve.

    Parameters
    ----------
    point : two expressions
        The point of the mechanism, of coordinates and time [m].
    implicit : callable or expression
        F with F = 0 on the curve: a function of (x, y), or an expression in `variables`. The gap is positive where F
        is.
    variables : two symbols, optional
        What stands for x and y in an `implicit` expression; by default the point's own components if they are symbols.

    Returns
    -------
    gap, slip : expressions
        The gap ``F/|grad F|`` [m], and the velocity of the point along the tangent ``(F_y, -F_x)/|grad F|`` [m/s]:
        for a floor F = y this is the velocity along x.

    Examples
    --------
    >>> import zwang as zw
    >>> (x, y), (vx, vy) = zw.coordinates("x y")
    >>> gap, slip = zw.on_curve((x, y), lambda x, y: y)
    >>> gap, slip
    (y, v_x)
    """
    place = _components(point, 2, "on_curve")
    value, gradient = _implicit(place, implicit, variables, "on_curve")
    length = sp.sqrt(gradient[0] ** 2 + gradient[1] ** 2)
    velocity = rate(sp.Matrix(place))
    return value / length, (gradient[1] * velocity[0] - gradient[0] * velocity[1]) / length


def on_surface(
    point: Sequence[Any], implicit: Callable[..., Any] | sp.Expr, *, variables: Sequence[sp.Symbol] | None = None
) -> tuple[sp.Expr, tuple[sp.Expr, sp.Expr]]:
    """Return gap and slip of a point on a surface in space.

    Parameters and sense as for `on_curve`, with three components. The slip is a pair of components along orthonormal
    tangents; which ones is arbitrary (no pair is continuous on a sphere), and isotropic friction doesn't depend on it.

    Examples
    --------
    >>> import zwang as zw
    >>> (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    >>> zw.on_surface((x, y, z), lambda x, y, z: z)
    (z, (v_x, v_y))
    """
    place = _components(point, 3, "on_surface")
    value, gradient = _implicit(place, implicit, variables, "on_surface")
    length = sp.sqrt(sum(item**2 for item in gradient))
    velocity, tangents = rate(sp.Matrix(place)), tangents_of(*(item / length for item in gradient))
    slips = tuple(sp.Add(*(part * velocity[i] for i, part in enumerate(tangent))) for tangent in tangents)
    return value / length, (slips[0], slips[1])


def tangents_of(nx: Any, ny: Any, nz: Any) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """Return two directions across a unit normal that may point anywhere.

    Frisvad's frame, in the form that is singular nowhere: s + nz never vanishes for s = sign of nz.
    """
    s = sp.Piecewise((sp.Integer(1), nz >= 0), (sp.Integer(-1), True))
    a = -1 / (s + nz)
    return (1 + s * nx**2 * a, s * nx * ny * a, -s * nx), (nx * ny * a, s + ny**2 * a, -ny)


def _components(point: Sequence[Any], count: int, where: str) -> list[sp.Expr]:
    items = components(point)
    if items is None or len(items) != count:
        raise DeclarationError(f"{where}: the point needs {count} components; it was given {point!r:.80}.")
    found = [as_expression(item, f"{where}: the point") for item in items]
    if any(isinstance(item, Text) for item in found):
        raise DeclarationError(f"{where}: the components of the point must be expressions; it was given {point!r:.80}.")
    return found


def _implicit(
    place: list[sp.Expr], implicit: Any, variables: Sequence[sp.Symbol] | None, where: str
) -> tuple[sp.Expr, list[sp.Expr]]:
    """Return F and its gradient at the point."""
    if callable(implicit) and not isinstance(implicit, sp.Expr):
        names = [sp.Dummy(f"X{i}", real=True) for i in range(len(place))]
        expression = implicit(*names)
    elif isinstance(implicit, sp.Expr):
        names = place if variables is None else components(variables) or []
        if not all(isinstance(name, sp.Symbol) for name in names) or len(names) != len(place):
            raise DeclarationError(
                f"{where}: the components of the point are not symbols, so it isn't clear which symbols of the "
                f"implicit expression are x and y. Give variables=(x, y), or a function: lambda x, y: ..."
            )
        expression = implicit
    else:
        raise DeclarationError(f"{where}: the implicit equation must be a function or an expression, not {implicit!r}.")
    if not isinstance(expression, sp.Expr):
        raise DeclarationError(f"{where}: the implicit function must return an expression; it returned {expression!r}.")
    at_point = dict(zip(names, place, strict=True))
    gradient = [sp.diff(expression, name).xreplace(at_point) for name in names]
    if all(item == 0 for item in gradient):
        raise DeclarationError(f"{where}: the implicit equation doesn't depend on the point.")
    return expression.xreplace(at_point), gradient
