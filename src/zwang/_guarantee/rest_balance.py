"""Numbers that are positive where some forces inside their bounds balance a rest, over a box.

In the middle of a box the deepest forces x_0 inside the bounds are found, and a right inverse Y of the matrix R of
rows. Over the box x = x_0 + Y z with R Y z = -(R x_0 + Q) balances exactly; what is left is to see that x obeys the
bounds.
"""

from __future__ import annotations

import numpy as np
from flint import arb
from numpy.typing import NDArray

from zwang._guarantee.boxes import Bounds
from zwang._guarantee.contact_margins import ContactMatrices
from zwang._guarantee.slopes import Matrix, Singular, Sloped, product, solved, transposed
from zwang._numerics.contact.pin_sets import deepest_balance

Array = NDArray[np.float64]


class HoldingForces:
    """The room that forces have, as a quantity of a box; `prepare` chooses the forces that are tried."""

    def __init__(self, matrices: ContactMatrices) -> None:
        self.matrices = matrices
        self.start, self.inverse, self.depth = np.zeros(0), np.zeros((0, 0)), -np.inf

    def prepare(self, middle: Bounds) -> None:
        """Choose forces and a right inverse in the middle of a box."""
        _, held, rows, sizes, force = self.matrices.parts(middle, middle)
        R = np.array([[float(x.value.mid()) for x in row] for row in [*held, *rows]]).reshape(-1, len(force)).T
        Q = np.array([float(x.value.mid()) for x in force])
        scale = float(np.abs(Q).max(initial=0.0)) or 1.0
        mu = [float(x.value.mid()) for x in sizes]
        equations = np.column_stack([R, Q / scale])
        bounds = self._bounds(mu, len(held), scale)
        pins = [
            (others, len(held) + self.matrices.places[k, "tangent"], (mu[self.matrices.sizes[k]],) * 2)
            for k, others in self.matrices.lengths.items()
        ]
        found = deepest_balance(equations, bounds, pins)
        self.depth = -np.inf if found is None else found[1]
        self.start = np.zeros(R.shape[1]) if found is None else found[0] * scale
        self.inverse = np.linalg.pinv(R)

    def _bounds(self, mu: list[float], first: int, scale: float) -> Array:
        matrices = self.matrices
        width = first + len(matrices.places) + 1
        made = []
        for k, contact in enumerate(matrices.contacts):
            normal, tangent = matrices.places.get((k, "normal")), matrices.places.get((k, "tangent"))
            if contact.sided and normal is not None:
                row = np.zeros(width)
                row[first + normal] = 1.0
                made.append(row)
            if tangent is not None and k not in matrices.lengths:
                for sign in (1.0, -1.0):
                    row = np.zeros(width)
                    row[first + tangent] = sign
                    size = mu[matrices.sizes[k]]
                    load = matrices.load(k)
                    if load is not None:
                        row[first + load] = size
                    else:
                        row[-1] = size / scale
                    made.append(row)
        return np.array(made).reshape(len(made), width)

    def __call__(self, low: Bounds, high: Bounds) -> list[Sloped]:
        """Return how much room the forces have over a box; one negative number where the middle has none."""
        count = len(low)
        if self.depth < 0:
            return [Sloped(arb(self.depth if np.isfinite(self.depth) else -1.0), [arb(0)] * count)]
        _, held, rows, sizes, force = self.matrices.parts(low, high)
        R = transposed([*held, *rows])
        constant = [[Sloped(arb(float(x)), [arb(0)] * count)] for x in self.start]
        Y: Matrix = [[Sloped(arb(float(x)), [arb(0)] * count) for x in row] for row in self.inverse]
        if not R or not R[0]:
            raise Singular
        left = [[-(a[0] + q)] for a, q in zip(product(R, constant), force, strict=True)]
        z = solved(product(R, Y), left)
        x = [a[0] + b[0] for a, b in zip(constant, product(Y, z), strict=True)]
        return self._room(x, len(held), sizes)

    def _room(self, x: list[Sloped], first: int, sizes: list[Sloped]) -> list[Sloped]:
        matrices, found = self.matrices, []
        for k, contact in enumerate(matrices.contacts):
            normal, tangent = matrices.places.get((k, "normal")), matrices.places.get((k, "tangent"))
            if contact.sided and normal is not None:
                found.append(x[first + normal])
            if k in matrices.lengths and tangent is not None:  # c^2 F^2 > T^2
                size, pull = sizes[matrices.sizes[k]], x[first + tangent]
                found.append(-(pull * pull))
                for other in matrices.lengths[k]:
                    found[-1] = found[-1] + size * size * x[other] * x[other]
            elif tangent is not None:
                size = sizes[matrices.sizes[k]]
                load = matrices.load(k)
                bound = size if load is None else size * x[first + load]
                found += [bound - x[first + tangent], bound + x[first + tangent]]
        return found
