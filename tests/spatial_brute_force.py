"""Friction in planes by force: Newton's method in every combination of modes, from a grid of directions of slip.

Independent of the package: it knows the Delassus matrix D and free accelerations b (three rows for each contact: normal
and two tangents) and nothing else. It finds what it finds: roots between grid points may be missed, so a complete list
must hold all that is found here, and usually no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Touch:
    """One contact: semi-axes of its friction, whether it also pulls, its direction of slip if it slides already."""

    friction: tuple[float, float]
    bilateral: bool = False
    slides: tuple[float, float] | None = None


def all_found(D: Array, b: Array, touches: list[Touch], *, grid: int = 12, steps: int = 25) -> list[Array]:
    """Return the forces (k, 3) of all solutions that were found."""
    found: list[Array] = []
    scale = np.abs(b).max()
    modes = [_modes(touch) for touch in touches]
    for choice in product(*modes):
        for f in _solved(D, b, touches, choice, grid, steps):
            if _lawful(D, b, touches, f, scale) and all(
                np.abs(f - g).max() > 1e-6 * (1 + np.abs(g).max()) for g in found
            ):
                found.append(f)
    return [f.reshape(-1, 3) for f in found]


def _modes(touch: Touch) -> list[tuple[str, float]]:
    signs = (1.0, -1.0) if touch.bilateral else (1.0,)
    kinds = ("known",) if touch.slides is not None else ("stick", "slip")
    return [*([] if touch.bilateral else [("open", 1.0)]), *((kind, sign) for kind in kinds for sign in signs)]


def _solved(
    D: Array, b: Array, touches: list[Touch], choice: tuple[tuple[str, float], ...], grid: int, steps: int
) -> list[Array]:
    """Newton's method in (N, T1, T2) or (N, s, theta) of contacts that are not open, many starts at once."""
    closed = [c for c, (kind, _) in enumerate(choice) if kind != "open"]
    if not closed:
        return [np.zeros(len(b))]
    slipping = [c for c in closed if choice[c][0] == "slip"]
    angles = np.linspace(0.1, 0.1 + 2 * np.pi, grid, endpoint=False)
    starts = np.array(list(product(angles, repeat=len(slipping)))).reshape(grid ** len(slipping), len(slipping))
    rows = np.concatenate([3 * c + np.arange(3) for c in closed])
    z = np.zeros((len(starts), len(rows)))
    for i, c in enumerate(slipping):
        z[:, 3 * closed.index(c) + 2] = starts[:, i]
    for step in range(steps):
        F, J = _equations(D, b, touches, choice, closed, rows, z)
        linear = [i for i in range(len(rows)) if step or not (i % 3 == 2 and closed[i // 3] in slipping)]
        sub = J[:, :, linear]
        with np.errstate(all="ignore"):
            move = np.einsum("bij,bj->bi", np.linalg.pinv(sub), F)
        z[:, linear] -= move
    F, _ = _equations(D, b, touches, choice, closed, rows, z)
    good = np.abs(F).max(axis=1) < 1e-10 * (np.abs(b).max() + np.abs(z).max(axis=1))
    return [_forces(touches, choice, closed, row) for row in z[good]]


def _equations(
    D: Array,
    b: Array,
    touches: list[Touch],
    choice: tuple[tuple[str, float], ...],
    closed: list[int],
    rows: Array,
    z: Array,
) -> tuple[Array, Array]:
    n = len(rows)
    F = np.repeat(b[rows][None], len(z), axis=0)
    J = np.zeros((len(z), n, n))
    block = D[np.ix_(rows, rows)]
    for i, c in enumerate(closed):
        kind, sign = choice[c]
        at = slice(3 * i, 3 * i + 3)
        own = block[:, at]
        if kind == "stick":
            F += z[:, at] @ own.T
            J[:, :, at] = own
            continue
        a1, a2 = touches[c].friction
        s1, s2 = touches[c].slides or (0.0, 0.0)
        e1 = np.cos(z[:, 3 * i + 2]) if kind == "slip" else np.full(len(z), s1)
        e2 = np.sin(z[:, 3 * i + 2]) if kind == "slip" else np.full(len(z), s2)
        N = z[:, 3 * i]
        # T_i = -|N| a_i^2 s_i / |a s|; with a s = (cos, sin) |a s| that is -|N| a_i e_i, and s_i goes with e_i / a_i.
        column = own[:, 0] - sign * (np.outer(a1 * e1, own[:, 1]) + np.outer(a2 * e2, own[:, 2]))
        F += N[:, None] * column
        J[:, :, 3 * i] = column
        if kind == "slip":
            speed = z[:, 3 * i + 1]
            F[:, 3 * i + 1] -= speed * e1 / a1
            F[:, 3 * i + 2] -= speed * e2 / a2
            J[:, 3 * i + 1, 3 * i + 1] = -e1 / a1
            J[:, 3 * i + 2, 3 * i + 1] = -e2 / a2
            J[:, :, 3 * i + 2] = sign * N[:, None] * (np.outer(a1 * e2, own[:, 1]) - np.outer(a2 * e1, own[:, 2]))
            J[:, 3 * i + 1, 3 * i + 2] += speed * e2 / a1
            J[:, 3 * i + 2, 3 * i + 2] -= speed * e1 / a2
        else:
            for j in (1, 2):  # whatever the slip acceleration is
                F[:, 3 * i + j] -= z[:, 3 * i + j]
                J[:, 3 * i + j, 3 * i + j] = -1.0
    return F, J


def _forces(touches: list[Touch], choice: tuple[tuple[str, float], ...], closed: list[int], z: Array) -> Array:
    f = np.zeros(3 * len(touches))
    for i, c in enumerate(closed):
        kind, sign = choice[c]
        n, x, y = z[3 * i : 3 * i + 3]
        e = (np.cos(y), np.sin(y)) if kind == "slip" else touches[c].slides or (0.0, 0.0)
        rub = [-sign * n * a * component for a, component in zip(touches[c].friction, e, strict=True)]
        f[3 * c : 3 * c + 3] = (n, x, y) if kind == "stick" else (n, *rub)
    return f


def _lawful(D: Array, b: Array, touches: list[Touch], f: Array, scale: float, tol: float = 1e-7) -> bool:
    """Whether forces obey the laws of all contacts."""
    u = D @ f + b
    size = tol * (np.abs(f).max() + scale)
    for c, touch in enumerate(touches):
        n, t = f[3 * c], f[3 * c + 1 : 3 * c + 3]
        gap, slip = u[3 * c], u[3 * c + 1 : 3 * c + 3]
        if touch.bilateral:
            if abs(gap) > size:
                return False
        elif n < -size or gap < -size or (n > size and gap > size):
            return False
        axes = np.array(touch.friction)
        along = np.array(touch.slides) if touch.slides is not None else axes * slip
        length = np.linalg.norm(along)
        if touch.slides is not None or length > size:
            if np.abs(t + abs(n) * axes * along / length).max() > 10 * size:
                return False
        elif np.linalg.norm(t / axes) > abs(n) + 10 * size:
            return False
    return True
