"""A direction of the tangent cone of a surface, and the plane in which a curve of the surface leaves along it.

Where the rank of the constraints drops by one, u J = 0, the directions in which a surface leaves the point are those d
of the kernel of J with Q(d, d) = 0, Q = u f''. The plane through d and Q d cuts out of the surface a curve that leaves
along d. Reactions depend to leading order on d alone: f''(v, v) along the curve has the cubic terms of f beside
Q(d, d), and so have all curves of the surface with that tangent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from zwang._asymptotics.point import Number, PointType, Spot, number
from zwang._declare.system import System
from zwang._graph.graph import Node
from zwang._numerics.series.balls import BALLS
from zwang._numerics.series.field import dot
from zwang._numerics.series.half_branches import split_at
from zwang._numerics.series.power import Series, ring
from zwang._numerics.tolerances import by_name
from zwang.errors import DeclarationError, StateError

Array = NDArray[np.float64]
OFF = 1e-6
"""How far a direction may be from the tangent cone, as a part of the form, and from the kernel, as a part of one."""


class ConePlane(NamedTuple):
    """The equation of a plane, the values of its own inputs, and the direction (unit vector) that it is laid along."""

    node: Node
    known: Mapping[Node, Number]
    direction: Array


def direction_of(system: System, along: Any) -> Array:
    """Return a direction, given as coordinate -> component, as a unit vector; coordinates left out have none."""
    names = [item.name for item in system.coordinates]
    found = np.zeros(len(names))
    form = f"coordinates to the components of a direction, as in {{'{names[0]}': 1}}"
    for name, value in by_name(
        along, "along=", names, where=system.name, no="which is no coordinate", form=form
    ).items():
        found[names.index(name)] = float(number(value, f"{system.name}: along: '{name}'"))
    size = float(np.linalg.norm(found))
    if not size > 0:
        raise DeclarationError(f"{system.name}: along= is zero in all components; a direction is needed.")
    return found / size


def plane_along(system: System, spot: Spot, direction: Array) -> tuple[ConePlane, PointType]:
    """Return the plane of a direction of the tangent cone, and what the point is; StateError off the cone."""
    split = split_at(spot.equations.jacobian(spot.middle), spot.middle, spot.rank_tol)
    kernel = np.array([[float(item) for item in row] for row in split.kernel]).reshape(-1, len(direction))
    parts = kernel @ direction
    if len(kernel) != 3:
        raise StateError(
            f"{system.name}: the constraints leave {len(kernel)} directions free to first order at the point; along= "
            "is for singular points of surfaces, where the rank drops by one and three are free."
        )
    form = _form(spot, split)
    size = float(np.abs(form).max())
    beside, value = float(np.linalg.norm(direction - parts @ kernel)), float(parts @ form @ parts)
    if size == 0 or beside > OFF or abs(value) > OFF * size:
        raise StateError(_off(system, kernel, form, parts, beside))
    slope = form @ parts
    if np.linalg.norm(slope) <= OFF * size:
        raise StateError(
            f"{system.name}: along= is a direction in which sheets of the tangent cone touch; which of them is meant "
            "is not told by a direction."
        )
    normal = np.cross(parts, slope) @ kernel
    graph, (centre, known) = spot.equations.exact.program.graph, spot.centre()
    weights = [graph.input(f"plane{k}") for k in range(len(direction))]
    known |= {node: arb(float(item)) for node, item in zip(weights, normal / np.linalg.norm(normal), strict=True)}
    offsets = [graph.sub(a, b) for a, b in zip(spot.equations.exact.program.q, centre, strict=True)]
    node = graph.add(*(graph.mul(a, b) for a, b in zip(weights, offsets, strict=True)))
    return ConePlane(node, known, direction), PointType(_words(form), [])


def _form(spot: Spot, split: Any) -> Array:
    """Return the quadratic form u f'' on the kernel; of several, where constraints repeat others, the largest."""
    R, equations = ring(BALLS), spot.equations
    found = np.zeros((len(split.cokernel), 3, 3))
    for i, k in enumerate(split.kernel):
        line = [R.series([a, b]) for a, b in zip(spot.middle, k, strict=True)]
        bent = [
            [item.coefficient(1) if isinstance(item, Series) else arb(0) for item in row]
            for row in equations.jacobian(line)
        ]
        for a, u in enumerate(split.cokernel):
            columns = [dot(u, column) for column in zip(*bent, strict=True)]
            found[a, i] = [float(dot(columns, other)) for other in split.kernel]
    return np.asarray(max(found, key=lambda form: float(np.abs(form).max())))


def _words(form: Array) -> str:
    sizes = np.linalg.eigvalsh(form)
    if np.abs(sizes).min() <= OFF * np.abs(sizes).max():
        return "higher singular point"
    plus = int((sizes > 0).sum())
    return f"cone of signature ({max(plus, 3 - plus)}, {min(plus, 3 - plus)})"


def _off(system: System, kernel: Array, form: Array, parts: Array, beside: float) -> str:
    """Return the message for a direction off the tangent cone, with the nearest one on it."""
    names = [item.name for item in system.coordinates]
    size = float(np.abs(form).max())
    miss = abs(float(parts @ form @ parts)) / max(size, 1e-300)
    head = f"{system.name}: along= is off the tangent cone of the surface at this point: "
    what = (
        f"by {beside:.1e} from the directions that the rows leave free" if beside > OFF else f"its form is {miss:.1e}"
    )
    sizes = np.linalg.eigvalsh(form)
    if size == 0 or sizes[0] * sizes[-1] >= 0:
        return f"{head}{what} (tol {OFF:.0e}), and no direction is on it: no surface leaves the point."
    d = parts if np.linalg.norm(parts) > 0 else np.ones(3)
    for _ in range(60):
        slope = 2 * form @ d
        d = d - (d @ form @ d) / max(float(slope @ slope), 1e-300) * slope
        d /= np.linalg.norm(d)
    near = ", ".join(
        f"'{name}': {value:.12g}" for name, value in zip(names, np.round(d @ kernel, 14) + 0.0, strict=True)
    )
    return f"{head}{what} (tol {OFF:.0e}). The nearest direction on it is {{{near}}}."
