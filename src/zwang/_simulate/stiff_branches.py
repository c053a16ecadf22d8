"""Which branch a mechanism takes through a singular point when its constraints are stiff springs: `realize`.

All bilateral constraints on positions are softened together, with weights that give each of them alone the frequency
sqrt(N). The realized mechanism starts where the ideal one came near the point and is followed until it has left its
neighbourhood, for strengths over two decades of frequency. If it leaves along the same half-branch for all of them,
and the energy that the fast oscillation keeps tends to nothing, that half-branch is the limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._compile import Model, compile
from zwang._declare.symbols import parameter
from zwang._declare.system import System
from zwang._derive.modes import ActiveSet
from zwang._numerics.budget import spend
from zwang._realize import Stiffness, realize
from zwang._simulate.passing import Crossing
from zwang._simulate.stretches import moving_for
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
TURNS = tuple(float(value) for value in 10.0 ** np.arange(2.0, 4.01, 0.5))
"""Frequencies of the springs that are tried, in units of one over the time of approach."""
PATIENCE = 20.0
"""Times of approach after which a realized motion that has not left is given up."""
TOLERANCE = 1e-11
CHUNK = 4000
VANISHES = -0.1
"""Exponent of N below which the energy of the fast oscillation tends to nothing."""


@dataclass(frozen=True)
class Outcome:
    """How one realized motion left the neighbourhood of a singular point.

    Attributes
    ----------
    strength : float
        N [1/s^2]: the square of the frequency of each spring.
    way : int or None
        The half-branch; None where it did not leave in time.
    energy : float
        Of the fast oscillation when it left [J].
    """

    strength: float
    way: int | None
    energy: float


def by_springs(crossing: Crossing) -> tuple[int | None, str, dict[str, Any]]:
    """Return the half-branch that stiff springs choose in the limit, or why there is none."""
    try:
        outcomes = realized_outcomes(crossing)
    except DeclarationError as error:  # massless parts, which constraints alone tie to masses
        return None, f"stiff springs can't take the place of its constraints. {error}", {}
    details = {
        "strengths": np.array([item.strength for item in outcomes]),
        "half_branches": tuple(item.way for item in outcomes),
        "oscillation_energies": np.array([item.energy for item in outcomes]),
    }
    chosen = {item.way for item in outcomes}
    span = f"N = {outcomes[0].strength:.2g} to {outcomes[-1].strength:.2g} 1/s^2"
    if len(chosen) > 1:
        listed = "; ".join(f"N = {item.strength:.2g}: {_named(item.way)}" for item in outcomes)
        return None, f"made of stiff springs it takes different ways: {listed}. No limit is seen.", details
    only = chosen.pop()
    if only is None:
        return None, f"made of stiff springs ({span}) it stays near the point. No limit is seen.", details
    slope = _slope(outcomes)
    if not slope < VANISHES:
        why = (
            f"made of stiff springs ({span}) it leaves along half-branch {only} for every N, but the energy of the "
            f"fast oscillation goes like N^{slope:.2f} ({outcomes[-1].energy:.3g} J at the last), so that no ideal "
            "motion is its limit."
        )
        return None, why, details
    return only, "", details


def _named(way: int | None) -> str:
    return "stays near the point" if way is None else f"half-branch {way}"


def _slope(outcomes: Iterable[Outcome]) -> float:
    """Return the exponent of the oscillation's energy in N, from the upper half of the strengths."""
    kept = [item for item in outcomes if item.energy > 0]
    kept = kept[len(kept) // 3 :]
    if len(kept) < 2:
        return -np.inf
    x, y = (np.log([getattr(item, name) for item in kept]) for name in ("strength", "energy"))
    return float(np.polyfit(x, y, 1)[0])


def realized_outcomes(crossing: Crossing) -> list[Outcome]:
    """Return how the mechanism with springs leaves the neighbourhood, for every strength that is tried."""
    t, q, v = crossing.entry
    found, ground = crossing.found, crossing.driver.ground
    terms = ground.terms(t, q, v)
    rows = terms.rows[:, :, 0]
    mobility = np.einsum("ji,ik,jk->j", rows, np.linalg.inv(terms.mass[:, :, 0]), rows)
    model = _softened(ground.model.system, ground.model.backend)
    scale = found.place.scale
    radius = max(float(np.linalg.norm((q - found.q) / scale)), 1e-6)
    out = min(float(np.linalg.norm((way.curve.at(way.curve.end)[0] - found.q) / scale)) for way in crossing.ways)
    radius = float(min(max(1.05 * radius, 0.5 * out), 0.98 * out) if out > 1.1 * radius else 1.05 * radius)
    approach = radius / float(np.linalg.norm(v / scale))
    values = dict(zip(ground.model.system.parameters, ground.params, strict=True))
    values |= {_weight(j): 1.0 / float(value) for j, value in enumerate(mobility)}
    outcomes = []
    for turns in TURNS:
        strength = (turns / approach) ** 2
        params = np.array([float({**values, STRENGTH: strength}[item]) for item in model.system.parameters])
        ended = _followed(model, params, (t, q, v), t + PATIENCE * approach, found.q, scale, radius)
        way, energy = (None, np.nan) if ended is None else _left_along(crossing, model, params, *ended)
        outcomes.append(Outcome(strength, way, energy))
    return outcomes


def _weight(number: int) -> sp.Symbol:
    return parameter(f"zwang_weight_{number}")


STRENGTH = parameter("zwang_strength")


@lru_cache(maxsize=16)
def _softened(system: System, backend: str) -> Model:
    """Return the system with all its constraints made by springs; strength and weights are parameters."""
    soft = system
    for number, name in enumerate(system.constraints.names):
        soft = realize(soft, name, by=Stiffness(STRENGTH, weight=_weight(number)))
    return compile(soft, backend)


def _followed(
    model: Model,
    params: Array,
    start: tuple[float, Array, Array],
    until: float,
    centre: Array,
    scale: Array,
    radius: float,
) -> tuple[float, Array, Array] | None:
    """Return the first state of a realized motion outside a ball round the point, None where it stays inside."""
    t, q, v = start
    step, inside = 0.0, False
    while t < until:
        steps = moving_for(model, ActiveSet(held=()))
        sides = np.zeros(len(steps.watch_names))
        found = steps.advance(t, q, v, params, until, TOLERANCE, sides, max_steps=CHUNK, first_step=step, dense=False)
        if found.status == "INTERRUPTED":
            raise KeyboardInterrupt
        spend(len(found.t) - 1)
        away = np.linalg.norm((found.q - centre) / scale, axis=1) > radius
        entered = np.flatnonzero(~away)
        first = 0 if inside else (int(entered[0]) if len(entered) else len(away))
        gone = first + np.flatnonzero(away[first:])
        if len(gone):
            k = int(gone[0])
            return float(found.t[k]), found.q[k].copy(), found.v[k].copy()
        inside = inside or bool(len(entered))
        t, q, v, step = float(found.t[-1]), found.q[-1], found.v[-1], found.next_step
        if found.status not in ("PAUSED", "REACHED"):
            return None
    return None


def _left_along(crossing: Crossing, model: Model, params: Array, t: float, q: Array, v: Array) -> tuple[int, float]:
    """Return the half-branch next to a state, and the energy of its oscillation about it."""
    places = [(*way.place_of(q), way) for way in crossing.ways]
    u, _, way = min(places, key=lambda item: item[1])
    at, first, _ = way.curve.at(u)
    mass = crossing.equations(t, q, v)[0]
    across = v - first * float(first @ mass @ v) / float(first @ mass @ first)
    stretched, loose = (
        model.kernels.terms(np.array([t]), place[:, None], v[:, None], params[:, None]).energies[1, 0]
        for place in (q, at)
    )
    return way.number, float(0.5 * across @ mass @ across + max(stretched - loose, 0.0))
