"""Random mechanisms with one freedom, and the same mechanisms with superfluous constraints beside their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

import zwang as zw

WAYS = ("duplicated", "scaled", "combined", "multiplied", "squared sum", "with a square", "with a cube")


@dataclass(frozen=True)
class Mechanism:
    """A system with a state on its constraints."""

    system: zw.System
    state: dict[str, float]


def random_mechanism(source: np.random.Generator, *, size: float = 1.0, light: float = 1.0) -> Mechanism:
    """Return pin-jointed bars between two to four moving points and the ground, or with a point on a straight guide.

    `size` scales all lengths, `light` the mass of the last point; without mass its bars place it.
    """
    points = int(source.integers(2, 5))
    q, v = zw.coordinates(" ".join(f"x{i} y{i}" for i in range(points)))
    at = size * source.uniform(-1.0, 1.0, size=(points, 2))
    ground = size * np.array([[-1.5, -0.3], [1.4, -0.2], [0.1, 1.7]])
    moving = [(q[2 * i], q[2 * i + 1]) for i in range(points)]
    expressions: list[Any] = []

    def bar(i: int, other: tuple[Any, Any], where: Any) -> None:
        length = float(np.linalg.norm(at[i] - where))
        x, y = moving[i]
        expressions.append(((x - other[0]) ** 2 + (y - other[1]) ** 2 - length**2) / size)

    bar(0, tuple(map(float, ground[0])), ground[0])
    for i in range(1, points):  # each further point hangs on two that are there; the last bar is left out for a freedom
        bar(i, moving[i - 1], at[i - 1])
        if i == 1 and source.random() < 0.3:
            x, y = moving[i]
            slope = float(source.uniform(-0.5, 0.5))
            expressions.append(y - float(at[i, 1]) - slope * (x - float(at[i, 0])))
        else:
            base = ground[1 + i % 2]
            bar(i, tuple(map(float, base)), base)
    masses = source.uniform(0.5, 2.0, size=points)
    masses[-1] *= light
    kinetic = sum(m * (v[2 * i] ** 2 + v[2 * i + 1] ** 2) / 2 for i, m in enumerate(map(float, masses)))
    potential = sum(9.81 * size * m * moving[i][1] for i, m in enumerate(map(float, masses)))
    system = zw.System(
        name="mechanism",
        kinetic=kinetic,
        potential=potential,
        constraints=[zw.Bilateral(expr, name=f"c{k}") for k, expr in enumerate(expressions)],
    )
    place = dict(zip([item.name for item in q], map(float, at.ravel()), strict=True))
    values = dict(zip(q, map(float, at.ravel()), strict=True))
    rows = np.array([[float(sp.diff(expr, x).subs(values)) for x in q] for expr in expressions])
    along = np.linalg.svd(rows)[2][-1]
    speed = dict(zip([item.name for item in v], map(float, size * along), strict=True))
    return Mechanism(system, place | speed)


def with_superfluous(mechanism: Mechanism, source: np.random.Generator, count: int = 2) -> Mechanism:
    """Return the mechanism with constraints beside its own that follow from them."""
    system = mechanism.system
    own = list(system.constraints)
    size = max(abs(value) for value in mechanism.state.values())
    added = []
    for k in range(count):
        way = WAYS[int(source.integers(len(WAYS)))]
        first, second = (own[int(i)].expr for i in source.choice(len(own), 2, replace=False))
        x = system.coordinates[int(source.integers(len(system.coordinates)))]
        expr = {
            "duplicated": first,
            "scaled": float(10.0 ** source.uniform(-6, 6)) * first,
            "combined": first - float(source.uniform(0.5, 2.0)) * second,
            "multiplied": first * (2 + sp.sin(x / size)),
            "squared sum": first * (1 + (x / size) ** 2) + second,
            "with a square": first**2 / size + second,
            "with a cube": first**3 / size**2 + second,
        }[way]
        added.append(zw.Bilateral(expr, name=f"{way} {k}"))
    return Mechanism(system.replace(constraints=[*own, *added]), mechanism.state)


def overconstrained() -> zw.Bodies:
    """Bennett's loop: opposite links equal, sin(alpha)/a = sin(beta)/b, tan(t1/2) tan(t2/2) as Bennett found."""
    a, alpha, beta, t1 = 1.0, 0.6, 1.1, 1.0
    b = a * np.sin(beta) / np.sin(alpha)
    t2 = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(t1 / 2))
    loop = zw.Bodies("bennett")
    places, axes, frame = [], [], np.eye(4)
    for length, twist, angle in ((a, alpha, t1), (b, beta, t2), (a, alpha, -t1), (b, beta, -t2)):
        places.append(frame[:3, 3].copy())
        axes.append(frame[:3, 2].copy())
        c, s, ct, st = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
        rows = [[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]]
        frame = frame @ np.array(rows)
    np.testing.assert_allclose(frame, np.eye(4), atol=1e-12)  # Denavit and Hartenberg: the loop closes
    for i in range(3):
        loop.body(f"b{i}", mass=1, inertia=(0.1, 0.1, 0.1), at=(places[i] + places[i + 1]) / 2)
        loop.revolute(f"j{i}", "ground" if i == 0 else f"b{i - 1}", f"b{i}", at=places[i], axis=axes[i])
    return loop.close("revolute", "pin", "b2", "ground", at=places[3], axis=axes[3])
