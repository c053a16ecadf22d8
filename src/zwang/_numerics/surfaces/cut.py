"""A mesh cut along the line where a function vanishes, and closed by a point where a ball was cut out."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.identified import between
from zwang._numerics.surfaces.glue import edges_of

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
ROUNDS = 40  # of regula falsi on a crossed edge; a few are usual
Settle = Callable[[Array], Array]
Measure = Callable[[Array], Array]


class Mesh(NamedTuple):
    """Points (p, n) and triangles (f, 3)."""

    points: Array
    triangles: Ints


def vanishing(a: Array, b: Array, periods: Array, measure: Measure, settle: Settle, values: Array) -> Array:
    """Return points of the surface over the chords a b (k, n) at which a function is zero.

    `values` (k, 2) are those at the ends, of opposite signs. The false position with halved ends (Illinois) goes on
    until the parameter stops changing.
    """
    d = between(a, b, periods)
    low, high = np.zeros(len(a)), np.ones(len(a))
    first, last = values[:, 0].copy(), values[:, 1].copy()
    x = a
    before, stayed = np.full(len(a), np.inf), np.zeros(len(a), dtype=np.int64)
    for _ in range(ROUNDS):
        with np.errstate(all="ignore"):
            s = np.clip(low - first * (high - low) / (last - first), low, high)
        s = np.where(np.isfinite(s), s, 0.5 * (low + high))
        x = settle(a + s[:, None] * d)
        if np.abs(s - before).max(initial=0.0) < 1e-14:
            break
        value, before = measure(x), s
        upper = np.sign(value) == np.sign(last)
        # An end that stays twice counts half, so that the other one moves at last.
        first = np.where(upper, np.where(stayed == 1, first / 2, first), value)
        last = np.where(upper, value, np.where(stayed == 2, last / 2, last))
        low, high = np.where(upper, low, s), np.where(upper, s, high)
        stayed = np.where(upper, 1, 2)
        low, high = np.where(value == 0.0, s, low), np.where(value == 0.0, s, high)
    return x


def cut(mesh: Mesh, values: Array, periods: Array, measure: Measure, settle: Settle) -> tuple[Mesh, Mesh, Array]:
    """Return the part of a mesh where a function is not negative, the other part, and the function at all points.

    Both parts share the points of the first one; new points, on the line of zeros, come last.
    """
    points, triangles = mesh
    good = values >= 0
    edges, sides, _ = edges_of(triangles, len(points))
    crossed = good[edges[:, 0]] != good[edges[:, 1]]
    crossed &= (values[edges[:, 0]] != 0) & (values[edges[:, 1]] != 0)
    pairs = edges[crossed]
    new = vanishing(points[pairs[:, 0]], points[pairs[:, 1]], periods, measure, settle, values[pairs])
    number = np.full(len(edges), -1, dtype=np.int64)
    number[crossed] = len(points) + np.arange(len(pairs))
    every = np.concatenate([points, new])
    zero = np.concatenate([values == 0, np.ones(len(new), dtype=bool)])
    sign = np.concatenate([np.sign(values), np.zeros(len(new))])
    kept: list[Ints] = []
    on = number[sides]
    cuts = (on >= 0).sum(axis=1)
    kept.append(triangles[cuts == 0])
    for k in range(3):
        a, b, c = triangles[:, k], triangles[:, (k + 1) % 3], triangles[:, (k + 2) % 3]
        to_b, to_c = on[:, (k + 2) % 3], on[:, (k + 1) % 3]
        opposite = on[:, k]
        alone = (cuts == 2) & (to_b >= 0) & (to_c >= 0)
        p, q, a1, b1, c1 = to_b[alone], to_c[alone], a[alone], b[alone], c[alone]
        kept += [np.stack(rows, axis=1) for rows in ((a1, p, q), (p, b1, c1), (p, c1, q))]
        # The line may pass through a corner, and leave by the side opposite to it.
        halved = (cuts == 1) & (opposite >= 0)
        p, a1, b1, c1 = opposite[halved], a[halved], b[halved], c[halved]
        kept += [np.stack(rows, axis=1) for rows in ((a1, b1, p), (a1, p, c1))]
    parts = np.concatenate(kept)
    side = sign[parts]
    above = (side.max(axis=1) > 0) | ((side == 0).all(axis=1))
    return (
        Mesh(every, parts[above]),
        Mesh(every, parts[~above]),
        np.where(zero, 0.0, np.append(values, np.zeros(len(new)))),
    )


def compact(mesh: Mesh) -> tuple[Mesh, Ints]:
    """Return a mesh without points that no triangle has, and the old number of each that is left."""
    used, inverse = np.unique(mesh.triangles, return_inverse=True)
    return Mesh(mesh.points[used], inverse.reshape(-1, 3)), used


def loops_of(edges: Ints, points: Array, periods: Array) -> list[Ints]:
    """Return closed lines that edges (e, 2) make, as points one after the other; where lines cross they go straight."""
    beside: dict[int, list[int]] = {}
    for a, b in edges.tolist():
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    # Where lines end or cross is no place to begin.
    order = sorted(beside, key=lambda k: (len(beside[k]) != 2, k))
    found: list[Ints] = []
    for start in order:
        while beside[start]:
            loop, here, onward = [start], start, min(beside[start])
            while True:
                beside[here].remove(onward)
                beside[onward].remove(here)
                before, here = here, onward
                if here == start or not beside[here]:
                    break
                loop.append(here)
                onward = beside[here][0]
                if len(beside[here]) > 1:
                    along = between(points[before], points[here], periods)
                    ways = between(points[here], points[beside[here]], periods)
                    onward = beside[here][int(np.argmax(ways @ along / np.linalg.norm(ways, axis=1)))]
            found.append(np.array(loop, dtype=np.int64))
    return found


def areas(mesh: Mesh, periods: Array, scale: Array) -> Array:
    """Return the areas of the triangles, Euclidean in q = scale x."""
    a, b, c = (mesh.points[mesh.triangles[:, k]] for k in range(3))
    p, q = between(a, b, periods) * scale, between(a, c, periods) * scale
    square = (p * p).sum(axis=1) * (q * q).sum(axis=1) - (p * q).sum(axis=1) ** 2
    return np.asarray(0.5 * np.sqrt(np.maximum(square, 0.0)))
