"""One contact through its impulse: what the velocities do per unit of normal impulse, by phases (Darboux, Keller).

With the normal impulse p in place of time, the rates u of all rows (the contact's normal, its slip, one-sided
constraints on velocities) obey du/dp = G z: z has 1 for the normal, f for friction (|f| <= mu, opposite to the slip
while that is not zero) and the impulses per p of the active one-sided rows. G is the Delassus matrix with the held
rows eliminated. While the slip keeps its direction z is constant and u is linear in p: a *phase*. The f of a contact
at rest, and the set of active rows, are those of a convex problem (the friction bound is given), hence unique.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Sides = tuple[float, float]

SIGN = 1e-12
"""Relative size below which a derivative counts as zero when active rows are decided."""


@dataclass(frozen=True, eq=False)
class Phase:
    """What happens from here on.

    Attributes
    ----------
    z : (m,) array
        Impulses per normal impulse; du/dp = G z. Where the slip turns (`turning`), of this instant only.
    active : tuple of int
        One-sided rows that carry an impulse.
    sticks : bool
    direction : (p,) array
        Of the slip; zero while it sticks.
    turning : bool
        Whether the direction changes along the way: the slip has two components and is off the invariant lines.
    """

    z: Array
    active: tuple[int, ...]
    sticks: bool
    direction: Array
    turning: bool


def next_phase(gram: Array, slip: Array, mu: float | Sides, closed: tuple[int, ...]) -> Phase | None:
    """Return the phase that follows.

    Parameters
    ----------
    gram : (m, m) array
        G of the rows: normal, p slips, one-sided constraints.
    slip : (p,) array
        Exactly zero at rest.
    mu : float or (float, float)
        The coefficient; for one slip also those against a slip > 0 and against a slip < 0.
    closed : tuple of int
        The one-sided rows whose rate is zero.

    Examples
    --------
    A ball (uniform, unit mass and radius) that slides: G is diagonal, and friction takes 3.5 mu of slip per impulse.

    >>> next_phase(np.diag([1.0, 3.5]), np.array([2.0]), 0.1, ()).z
    array([ 1. , -0.1])
    >>> next_phase(np.diag([1.0, 3.5]), np.zeros(1), 0.1, ()).sticks
    True
    """
    for count in range(len(closed) + 1):
        for active in combinations(closed, count):
            phase = _phase(gram, slip, mu, active)
            size = float(np.abs(gram).max()) * max(1.0, float(np.abs(phase.z).max()))
            others = [j for j in closed if j not in active]
            pushing = all(phase.z[j] >= -SIGN for j in active)
            if pushing and bool((gram[others] @ phase.z >= -SIGN * size).all()):
                return phase
    return None


def eliminate(gram: Array, active: tuple[int, ...]) -> tuple[Array, Array]:
    """Return G with the active rows kept at rest, and their impulses (a, m) per impulse of every row."""
    held = list(active)
    if not held:
        return gram, np.zeros((0, len(gram)))
    share = -np.linalg.pinv(gram[np.ix_(held, held)], rcond=1e-12, hermitian=True) @ gram[held]
    return gram + gram[:, held] @ share, share


def _phase(gram: Array, slip: Array, given: float | Sides, active: tuple[int, ...]) -> Phase:
    p = len(slip)
    reduced, share = eliminate(gram, active)
    speed = math.hypot(*slip)
    own = slice(1, 1 + p)
    sticks = turning = False
    plus, minus = given if isinstance(given, tuple) else (given, given)
    mu = minus if p == 1 and slip[0] < 0 else plus
    if speed > 0:
        direction = slip / speed
        force = -mu * direction
        change = reduced[own, own] @ force + reduced[own, 0]
        turning = p == 2 and abs(direction[0] * change[1] - direction[1] * change[0]) > 1e-15 * float(
            np.abs(reduced).max()
        )
    elif plus != minus:
        force = np.array([_between(-plus, minus, float(reduced[1, 1]), float(reduced[1, 0]))])
        sticks = bool(-plus < force[0] < minus)
        direction = np.zeros(1) if sticks else np.array([1.0 if force[0] == -plus else -1.0])
    else:
        force = resting_friction(reduced[own, own], reduced[own, 0], mu)
        sticks = p == 0 or math.hypot(*force) < mu
        direction = np.zeros(p) if sticks else -force / mu
    z = np.zeros(len(gram))
    z[0], z[own] = 1.0, force
    z[list(active)] = share @ z
    return Phase(z, active, sticks, direction, turning)


def _between(low: float, high: float, tangent: float, coupling: float) -> float:
    """Return the friction f in [low, high] that minimizes S f^2 / 2 + c f."""
    if tangent > 1e-14 * abs(coupling):
        return min(max(-coupling / tangent, low), high)
    return 0.0


def resting_friction(tangent: Array, coupling: Array, mu: float) -> Array:
    """Return the friction per normal impulse of a contact that does not slip: it sticks, or starts to slip.

    The friction f minimizes f S f / 2 + c f over |f| <= mu: inside, S f = -c; on the bound (S + alpha) f = -c with the
    alpha >= 0 for which |f| = mu, and the slip grows like -alpha f.

    Parameters
    ----------
    tangent : (p, p) array
        S, the slip per friction impulse.
    coupling : (p,) array
        c, the slip per normal impulse.
    mu : float
    """
    if not len(coupling):
        return np.zeros(0)
    values, vectors = np.linalg.eigh(tangent)
    c = vectors.T @ coupling
    free = values > 1e-14 * max(float(values[-1]), 1e-300)
    if math.hypot(*(c[free] / values[free])) <= mu:
        return np.asarray(-vectors[:, free] @ (c[free] / values[free]))
    low, high = 0.0, math.hypot(*c) / mu if mu > 0 else 1.0
    if mu == 0:
        return np.zeros(len(c))
    for _ in range(200):  # |c / (values + alpha)| falls with alpha; bisection to the last bit
        alpha = 0.5 * (low + high)
        if alpha in (low, high):
            break
        if math.hypot(*(c[free] / (values[free] + alpha))) > mu:
            low = alpha
        else:
            high = alpha
    force = -vectors[:, free] @ (c[free] / (values[free] + high))
    return np.asarray(force * (mu / math.hypot(*force)))
