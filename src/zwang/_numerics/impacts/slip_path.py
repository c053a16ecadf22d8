"""The part of an impact in which a slip with two components turns.

With slip s = rho (cos phi, sin phi) and normal impulse p, friction -mu s/|s| makes ds/dp depend on phi alone, so that
dphi/dp grows like 1/rho as the slip dies. In the variable tau with dp = rho dtau the equations are smooth up to the
end, which is at tau = infinity:

    d(log rho)/dtau = d . a(phi),   dphi/dtau = n . a(phi),   dp/dtau = rho,   a = ds/dp,

d and n along and across the slip. The slip is at rest when rho has lost 15 digits; p has then converged too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.impacts.phases import eliminate

Array = NDArray[np.float64]

DIGITS = 36.0
"""Decay of log rho after which the slip is at rest."""
RTOL, ATOL = 1e-12, 1e-14
MOST_STEPS = 20_000  # of the path of slip in an impact; some hundred are usual


@dataclass(frozen=True, eq=False)
class Path:
    """How far the path was followed.

    Attributes
    ----------
    z : (m,) array
        Impulses of all rows along the path.
    u : (m,) array
        Rates at its end.
    work : float
        Of the normal impulse.
    event : str
        'rest' (the slip vanished), 'rate' (the rate is zero), 'work' (the work asked for is done), 'row' (a one-sided
        row or another contact reached zero), 'release' (an active row would pull).
    row : int
        Which row, for 'row'.
    rising : bool
        Whether the rate grows at the end.
    """

    z: Array
    u: Array
    work: float
    event: str
    row: int
    rising: bool


class _Flow:
    """The smooth equations with their events; y = (log rho, phi, p, F1, F2, work)."""

    def __init__(self, gram: Array, u: Array, mu: float, active: tuple[int, ...]) -> None:
        self.gram, self.share = eliminate(gram, active)
        self.u, self.mu, self.active = u, mu, active

    def force(self, phi: float) -> Array:
        return np.array([1.0, -self.mu * math.cos(phi), -self.mu * math.sin(phi)])

    def derivative(self, _: float, y: Array) -> Array:
        rho, c, s = math.exp(y[0]), math.cos(y[1]), math.sin(y[1])
        f = self.force(y[1])
        a = self.gram[1:3, :3] @ f
        rate = self.u[0] + self.gram[0, :3] @ y[2:5]
        return np.array([c * a[0] + s * a[1], c * a[1] - s * a[0], rho, rho * f[1], rho * f[2], rho * rate])

    def rates(self, y: Array) -> Array:
        u = self.u + self.gram[:, :3] @ y[2:5]
        u[list(self.active)] = 0.0
        u[1:3] = math.exp(y[0]) * math.cos(y[1]), math.exp(y[0]) * math.sin(y[1])
        return u

    def growth(self, y: Array) -> Array:
        """du/dp."""
        return np.asarray(self.gram[:, :3] @ self.force(y[1]))

    def rate_of(self, i: int, y: Array) -> float:
        return float(self.u[i] + self.gram[i, :3] @ y[2:5])

    def push_of(self, k: int, y: Array) -> float:
        """The impulse per p of active row k."""
        return float(self.share[k, :3] @ self.force(y[1]))

    def impulses(self, y: Array) -> Array:
        z = np.zeros(len(self.u))
        z[:3] = y[2:5]
        z[list(self.active)] = self.share[:, :3] @ y[2:5]
        return z


Watch = tuple[str, int, Callable[[Array], float]]


def _watches(flow: _Flow, y: Array, rows: tuple[int, int], left: float) -> list[Watch]:
    """Return (event, row, function that is positive before it happens)."""
    start, growth = y[0], flow.growth(y)
    watches: list[Watch] = [("rest", -1, lambda y: y[0] - start + DIGITS)]
    side = flow.u[0] if flow.u[0] != 0 else growth[0]
    watches.append(("rate", 0, lambda y: math.copysign(1.0, side) * flow.rate_of(0, y)))
    if side > 0 and math.isfinite(left):
        watches.append(("work", -1, lambda y: left - y[5]))
    for i in range(rows[0], len(flow.u)):
        if i not in flow.active and (flow.u[i] > 0 or i >= rows[1]):
            watches.append(("row", i, partial(flow.rate_of, i)))
    watches += [("release", -1, partial(flow.push_of, k)) for k in range(len(flow.active))]
    return watches


def turn(gram: Array, u: Array, mu: float, active: tuple[int, ...], rows: tuple[int, int], left: float) -> Path:
    """Follow the slip to the next event.

    Parameters
    ----------
    gram : (m, m) array
        Delassus matrix of the rows: normal, two slips, one-sided constraints, other contacts.
    u : (m,) array
        Their rates.
    mu : float
    active : tuple of int
        One-sided rows kept at rest.
    rows : (int, int)
        The first one-sided row, the first other contact.
    left : float
        Work that expansion has yet to give back.
    """
    flow = _Flow(gram, u, mu, active)
    y = np.array([math.log(math.hypot(u[1], u[2])), math.atan2(u[2], u[1]), 0.0, 0.0, 0.0, 0.0])
    event, row, y = _advance(flow, y, _watches(flow, y, rows, left))
    return Path(flow.impulses(y), flow.rates(y), float(y[5]), event, row, bool(flow.growth(y)[0] > 0))


def _advance(flow: _Flow, y: Array, watches: list[Watch]) -> tuple[str, int, Array]:
    from scipy.integrate import DOP853
    from scipy.optimize import brentq

    scale = 1.0 / max(float(np.abs(flow.gram[:3, :3]).max()), 1e-300)  # tau times entries of G has no units
    size = math.exp(y[0]) * scale
    atol = ATOL * np.array([1.0, 1.0, size, size, size, size * max(abs(flow.u[0]), math.exp(y[0]))])
    solver = DOP853(flow.derivative, 0.0, y, math.inf, rtol=RTOL, atol=atol, first_step=1e-3 * scale, max_step=scale)
    for _ in range(MOST_STEPS):
        solver.step()
        if solver.status != "running":
            return "the integration failed", -1, y
        fired = [watch for watch in watches if watch[2](solver.y) < 0]
        if not fired:
            y = solver.y.copy()
            continue
        dense = solver.dense_output()
        found = []
        for watch in fired:
            ahead = watch[2](y) > 0
            found.append((brentq(lambda t: watch[2](dense(t)), solver.t_old, solver.t, xtol=1e-300, rtol=1e-15)  # noqa: B023
                          if ahead else solver.t_old, watch))  # fmt: skip
        time, (event, row, value) = min(found, key=lambda item: item[0])
        return event, row, _polished(flow, y, float(time - solver.t_old), value)
    return "too many steps", -1, y


def _polished(flow: _Flow, y: Array, length: float, value: Callable[[Array], float]) -> Array:
    """Go to an event located on the dense output by whole steps, which are one order better, and correct."""
    for _ in range(3):
        y = _leap(flow, y, length)
        slope = (value(_leap(flow, y, 1e-6 * abs(length))) - value(y)) / (1e-6 * abs(length)) if length else 0.0
        if slope == 0.0 or not math.isfinite(slope):
            return y
        length = -value(y) / slope
    return y


def _leap(flow: _Flow, y: Array, length: float, parts: int = 4) -> Array:
    """Advance by `length`, which may be negative."""
    from scipy.integrate import DOP853

    if length == 0.0:
        return y
    solver = DOP853(
        flow.derivative,
        0.0,
        y,
        length,
        rtol=RTOL,
        atol=ATOL * np.maximum(np.abs(y), 1e-30),
        first_step=abs(length) / parts,
    )
    while solver.status == "running":
        solver.step()
    return np.asarray(solver.y)
