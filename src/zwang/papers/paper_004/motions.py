"""Motions of the sleigh that several claims of paper 004 look at.

The paper writes the constraint as x' sin(phi) - y' cos(phi) <= 0; the gallery's blade is minus that, >= 0, and its
multiplier is minus the paper's mu.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang import System, Viscosity, realize, simulate
from zwang.papers.workshop import Workshop
from zwang.results import Motion

Array = NDArray[np.float64]
SLEIGH, AHEAD, INCLINE, SKATES, LIMIT = "sleigh", "sleigh_ahead", "sleigh_incline", "two_skates", "speed_limit"
ON_BLADE = {"x": 0.0, "y": 0.0, "phi": 0.0, "v_x": 1.0, "v_y": 0.0, "v_phi": 1.0}
"""Along the blade with unit speed and unit angular velocity: the ideal centre is (0, 1), the radius 1."""
CENTRE = (0.0, 1.0)


@lru_cache(maxsize=64)
def _run(system: System, state: tuple[Any, ...], params: tuple[Any, ...], until: float, tol: float) -> Motion:
    found = simulate(system, dict(state), dict(params), until=until, tol=tol)
    assert isinstance(found, Motion)
    return found


def moved(shop: Workshop, name: str, *, until: float, tol: float = 1e-11, **changes: float) -> Motion:
    """Return the motion of a gallery system."""
    state, params = shop.values(name, **changes)
    return _run(shop.system(name), tuple(state.items()), tuple(params.items()), until, tol)


@lru_cache(maxsize=64)
def _rubbed(system: System, strong: float, weak: float) -> System:
    return realize(system, "blade", by=Viscosity(strong, other_side=weak))


def rubbed(
    shop: Workshop, strong: float, weak: float, *, until: float = 10.0, tol: float = 1e-10, **changes: float
) -> Motion:
    """Return the motion of the sleigh whose blade is friction: `strong` on the forbidden side, `weak` on the other."""
    state, params = shop.values(SLEIGH, **{**ON_BLADE, **changes})
    system = _rubbed(shop.system(SLEIGH), strong, weak)
    return _run(system, tuple(state.items()), tuple(params.items()), until, tol)


def path(motion: Motion, count: int = 4001) -> tuple[Array, Array, Array]:
    """Return times and the centre of the disc at even times."""
    t = np.linspace(motion.t[0], motion.t[-1], count)
    state = motion.at(t)
    return t, np.asarray(state["x"]), np.asarray(state["y"])


def mean_point(motion: Motion) -> tuple[float, float]:
    """Return the mean of the centre of the disc over time (Simpson on even times)."""
    t, x, y = path(motion)
    weights = np.ones(len(t))
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    return float(weights @ x / weights.sum()), float(weights @ y / weights.sum())


def across(motion: Motion, count: int = 4001) -> Array:
    """Return the velocity across the blade, positive on the permitted side."""
    t = np.linspace(motion.t[0], motion.t[-1], count)
    state = motion.at(t)
    return np.asarray(state["v_y"] * np.cos(state["phi"]) - state["v_x"] * np.sin(state["phi"]))
