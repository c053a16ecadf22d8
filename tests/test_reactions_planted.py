"""Problems made around a solution: accelerations and forces are chosen by the laws, then the load that they answer.

Rows, accelerations and biases are multiples of 1/64, so that biases of rows that depend on each other agree exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zwang as zw
from night import by_day

Array = np.ndarray[Any, Any]


def whole(values: Any) -> Array:
    return np.round(np.asarray(values) * 64) / 64


def contact(rng: np.random.Generator, w: Array, p: int) -> tuple[zw.Contact, Array, Array]:
    """Return a contact with p tangents, its rows, and forces along them that go with the acceleration w."""
    n = len(w)
    normal, tangent = whole(rng.normal(size=n)), whole(rng.normal(size=(p, n)))
    two_sided = bool(rng.random() < 0.4)
    mode = "open" if rng.random() < 0.2 and not two_sided else rng.choice(["stick", "slip"])
    push = 0.0 if mode == "open" else rng.uniform(0.1, 3.0) * (-1 if two_sided and rng.random() < 0.5 else 1)
    axes = rng.uniform(0.1, 1.5, size=2) if p == 2 and rng.random() < 0.3 else np.repeat(rng.uniform(0.05, 1.5), 2)
    if axes[0] != axes[1] and rng.random() < 0.2 and mode != "slip":
        axes[rng.integers(2)] = 0.0
    slip, bias_along, rub = np.zeros(p), tangent @ w, np.zeros(p)
    angle = rng.uniform(0, 2 * np.pi)
    along = np.array([np.cos(angle), np.sin(angle)])[:p] if p == 2 else rng.choice([-1.0, 1.0], size=p)
    if mode == "slip" and p:
        if rng.random() < 0.4:
            slip = along
        else:
            along = whole(along + 0.1)
            bias_along = tangent @ w - along
        rub = -abs(push) * axes[:p] ** 2 * along / np.linalg.norm(axes[:p] * along)
    elif mode == "stick":
        rub = abs(push) * rng.uniform(0, 0.9) * axes[:p] * along
    lifted = whole(rng.uniform(0.1, 2.0)) if mode == "open" else 0.0
    made = zw.Contact(
        normal,
        tangent=tangent if p else None,
        friction=(0.0 if not p else tuple(axes) if axes[0] != axes[1] else axes[0]),
        bias=normal @ w - lifted,
        tangent_bias=bias_along if p else None,
        slip=slip if p else None,
        bilateral=two_sided,
    )
    return made, np.vstack([normal, tangent]), np.append(push, rub)


@pytest.mark.parametrize("seed", by_day(range(2000), [3, 9, 63]))
def test_a_solution_that_was_put_in_is_found(seed: int) -> None:
    rng = np.random.default_rng([3, seed])
    n, k = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    root, w = rng.normal(size=(n, n)), whole(rng.normal(size=n) * (rng.random() < 0.7))
    mass = root @ root.T + 0.5 * np.eye(n)
    made = [contact(rng, w, int(rng.integers(0, 3))) for _ in range(k)]
    force = mass @ w - sum(rows.T @ forces for _, rows, forces in made)
    found = zw.reactions(zw.ContactProblem(mass, force, [item for item, _, _ in made]))
    assert found.status.name != "NONE"
    assert not found.residual > 1e-8
    listed = any(np.abs(other - w).max() < 1e-6 * (1 + np.abs(w).max()) for other in found.accelerations)
    if found.complete or found.status.name in ("UNIQUE", "UNIQUE_MOTION"):
        assert listed or found.accelerations_continuum
