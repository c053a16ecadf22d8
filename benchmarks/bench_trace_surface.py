"""The surface of five equal bars beside marching tetrahedra over its three angles, at about equal chord error.

The naive cover needs exactly three coordinates and one equation: in Cartesian coordinates (six, with four equations),
in thin tubes below its cells and at singular points it stops; what it costs is one evaluation for each cell.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

import zwang as zw

CELLS = 32


def chain(coordinates: str) -> zw.System:
    """Return the closed chain of five equal bars."""
    linkage = zw.Linkage("chain").ground("A", 0, 0).ground("E", 1, 0).points("B C D", mass=1)
    for first, second in ("AB", "BC", "CD", "DE"):
        linkage = linkage.bar(first, second, length=1)
    return linkage.system(coordinates=coordinates)


def naive(cells: int) -> tuple[int, int, float]:
    """Return triangles, Euler characteristic and the chord error of marching tetrahedra over the torus of angles."""
    angle = 2 * np.pi * np.arange(cells) / cells
    grid = np.stack(np.meshgrid(angle, angle, angle, indexing="ij"), axis=-1)
    values = closing(grid)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]])
    number = np.arange(cells**3).reshape(cells, cells, cells)
    cube = np.stack([np.roll(number, tuple(-corner), axis=(0, 1, 2)).ravel() for corner in corners], axis=1)
    tets = np.concatenate([cube[:, [0, a, a | b, 7]] for a in (1, 2, 4) for b in (1, 2, 4) if a != b])
    inside = values.ravel()[tets] > 0
    mixed = inside.any(axis=1) & ~inside.all(axis=1)
    tets, inside = tets[mixed], inside[mixed]
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    cut = np.stack([inside[:, a] != inside[:, b] for a, b in pairs], axis=1)
    ends = np.sort(np.stack([tets[:, pair] for pair in pairs], axis=1), axis=2)
    keys = np.unique((ends[..., 0] * cells**3 + ends[..., 1])[cut])
    quads = int((cut.sum(axis=1) == 4).sum())
    faces = int(cut.shape[0]) + quads
    # Each triangle has three sides, each in two of them.
    euler = len(keys) - 3 * faces // 2 + faces
    a, b = keys // cells**3, keys % cells**3
    flat, f = grid.reshape(-1, 3), values.ravel()
    step = (flat[b] - flat[a] + np.pi) % (2 * np.pi) - np.pi
    points = flat[a] + (f[a] / (f[a] - f[b]))[:, None] * step
    for _ in range(4):
        slope = gradient(points)
        points -= (closing(points) / (slope**2).sum(axis=1))[:, None] * slope
    three = cut.sum(axis=1) == 3
    own = np.searchsorted(keys, (ends[..., 0] * cells**3 + ends[..., 1])[three][cut[three]]).reshape(-1, 3)
    around = (points[own] - points[own[:, :1]] + np.pi) % (2 * np.pi) - np.pi
    middle = points[own[:, 0]] + around.mean(axis=1)
    return faces, euler, float((np.abs(closing(middle)) / np.linalg.norm(gradient(middle), axis=1)).max())


def closing(q: np.ndarray) -> np.ndarray:
    """Return how far the third bar misses its length."""
    x = 1 - np.cos(q).sum(axis=-1)
    y = -np.sin(q).sum(axis=-1)
    return (x**2 + y**2 - 1) / 2


def gradient(q: np.ndarray) -> np.ndarray:
    """Return the gradient of `closing`."""
    x, y = 1 - np.cos(q).sum(axis=-1), -np.sin(q).sum(axis=-1)
    return x[..., None] * np.sin(q) - y[..., None] * np.cos(q)


def main() -> None:
    """Print times, triangles and Euler characteristics."""
    for coordinates in ("joint", "cartesian"):
        system = chain(coordinates)
        zw.trace(system, {})
        began = perf_counter()
        space = zw.trace(system, {})
        spent = perf_counter() - began
        print(
            f"zwang, {coordinates}: {spent:.2f} s, {len(space.surface.triangles)} triangles, Euler characteristic "
            f"{space.pieces[0].euler}, chord {space.surface.chord:.1e}, residual {space.residual:.1e}"
        )
    began = perf_counter()
    faces, euler, chord = naive(CELLS)
    spent = perf_counter() - began
    print(f"marching tetrahedra: {spent:.2f} s, {faces} triangles, Euler characteristic {euler}, chord {chord:.1e}")


if __name__ == "__main__":
    main()
