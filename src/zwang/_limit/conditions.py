"""The conditions of the theorem on springs, asked along the ideal motion.

Kozlov and Neishtadt (1990) realize constraints by a potential N W and prove the orders -1 and -1/2 if W is smooth, zero
on the constraints, and has a second differential that is positive on every subspace across them, and if the motion
starts along them. On the manifold W and its gradient vanish, and the second differential H has the tangent vectors in
its kernel: with an orthonormal basis X of the row space of J the condition is X^T H X > 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._declare.constraints import Bilateral
from zwang._declare.numeric_values import Evaluator
from zwang._declare.symbols import t as time
from zwang._limit.ideal import IdealStart
from zwang._limit.ways import Softened
from zwang._numerics.tolerances import name_of
from zwang._realize import Stiffness, amounts
from zwang._results.motion import Motion

Array = NDArray[np.float64]
INSTANTS = 9  # of the motion at which the conditions of the theorem are looked at
ZERO = 1e-8
"""Part of the size of a quantity below which it vanishes: the ideal motion is known to more digits."""
KINKED = (sp.Piecewise, sp.Abs, sp.sign, sp.Max, sp.Min, sp.Heaviside)

SMOOTH = "W is smooth"
VANISHES = "W vanishes on the constraints"
LEAST = "W is least on the constraints"
ACROSS = "W grows across the constraints"
INDEPENDENT = "the constraints are independent"
ALONG = "the motion starts along the constraints"


def conditions_of(softened: Softened, motion: Motion, start: IdealStart, params: Mapping[Any, Any]) -> dict[str, bool]:
    """Return the conditions by name and whether they hold along the motion; empty where the theorem says nothing.

    It speaks of springs, without a dashpot whose strength grows, on two-sided constraints on positions.
    """
    items = [softened.constraint(name) for name in softened.names]
    ways = [softened.ways[name] for name in softened.names]
    if not all(isinstance(way, Stiffness) and way.ratio is None for way in ways):
        return {}
    if not all(isinstance(item, Bilateral) and item.level == "position" for item in items):
        return {}
    W = energy_of(softened)
    points = _Points(softened, W, motion, params)
    found = dict.fromkeys((VANISHES, LEAST, ACROSS, INDEPENDENT), True)
    for values in points:
        for name, holds in _at(*values).items():
            found[name] &= holds
    return {SMOOTH: not W.has(*KINKED), **found, ALONG: start.removed == 0}


def energy_of(softened: Softened) -> Any:
    """Return W: the potential of the springs over N, of all realized constraints together."""
    total, seen = sp.Integer(0), []
    for name in softened.names:
        way, f = softened.ways[name], softened.constraint(name).expr
        if way.energy is None:
            total += amounts.read(softened.ideal, way.weight, "Stiffness: weight") * f**2 / 2
        elif way not in seen:
            seen.append(way)
            total += amounts.read(softened.ideal, way.energy, "Stiffness: energy")
    return total


class _Points:
    """W, its gradient and second differential, and the rows of the constraints, at instants of the ideal motion."""

    def __init__(self, softened: Softened, W: Any, motion: Motion, params: Mapping[Any, Any]) -> None:
        q = softened.ideal.coordinates
        slopes = [sp.diff(W, item) for item in q]
        rows = [sp.diff(softened.constraint(name).expr, item) for name in softened.names for item in q]
        bends = [sp.diff(slope, item) for slope in slopes for item in q]
        self.sizes = (1, len(q), len(q) ** 2, len(rows))
        self.evaluators = [Evaluator(item) for item in (W, *slopes, *bends, *rows)]
        self.coordinates, self.motion = q, motion
        given = {name_of(key): value for key, value in {**motion.params, **params}.items()}
        self.known = {item: float(given[item.name]) for item in softened.soft.parameters if item.name in given}

    def __iter__(self) -> Any:
        n = len(self.coordinates)
        for instant in np.linspace(self.motion.t[0], self.motion.t[-1], INSTANTS):
            state = self.motion.at(float(instant))
            values = {**self.known, time: float(instant)}
            values |= {item: float(state[item.name]) for item in self.coordinates}
            numbers = [evaluator(values) for evaluator in self.evaluators]
            parts = np.split(
                np.array([np.nan if number is None else number for number in numbers]), np.cumsum(self.sizes)[:-1]
            )
            size = 1.0 + max(abs(values[item]) for item in self.coordinates)
            yield float(parts[0][0]), parts[1], parts[2].reshape(n, n), parts[3].reshape(-1, n), size


def _at(W: float, slope: Array, H: Array, J: Array, size: float) -> dict[str, bool]:
    """Return which conditions hold at a point; sizes are those of H times the sizes of coordinates."""
    # Where W has a kink its second differential may not exist: what doesn't need it is still decided.
    bent = bool(np.isfinite(H).all())
    scale = float(np.abs(H).max(initial=0.0)) if bent else 1.0
    _, singular, across = np.linalg.svd(J / np.maximum(np.linalg.norm(J, axis=1, keepdims=True), 1e-300))
    rank = int((singular > ZERO).sum())
    X = across[:rank].T
    curvatures = np.linalg.eigvalsh(X.T @ H @ X) if rank and bent else np.zeros(1)
    # Where W is flat to second order, what it is measured by is flat too: then its slope has to vanish by itself.
    allowed = ZERO * (scale or 1.0) * size
    return {
        VANISHES: bool(abs(W) <= allowed * size),
        LEAST: bool(np.abs(slope).max(initial=0.0) <= allowed and (not bent or np.linalg.eigvalsh(H)[0] >= -allowed)),
        ACROSS: bool(curvatures[0] > ZERO * scale),
        INDEPENDENT: rank == len(J),
    }


def told(conditions: Mapping[str, bool]) -> Sequence[str]:
    """Return the conditions that fail, in a note; none where all hold or nothing was asked."""
    failing = [name for name, holds in conditions.items() if not holds]
    if not failing:
        return ()
    return (f"The theorem on springs (Kozlov, Neishtadt 1990) doesn't apply. What fails of it: {'; '.join(failing)}.",)
