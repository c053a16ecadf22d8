"""What several claims of paper 002 look at: traced spaces, growth along branches, motions, and the paper's notation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang import Model, System, asymptotics, reactions, trace
from zwang.gallery.pendulum_on_ellipse import place
from zwang.papers.workshop import Workshop
from zwang.results import Asymptotics, ConfigurationSpace, Reactions

CARTESIAN, JOINT, STRING = "ellipse_pendulum_cartesian", "ellipse_pendulum", "ellipse_pendulum_string"
TOUCHING: dict[str, Any] = {"r1": 1.5625, "r2": 1.25, "a": -0.5625}
"""Curvature 1 at the vertex, exactly: r1 = r2^2."""
SLIM: dict[str, Any] = {"r1": 1.5, "r2": 1.45, "a": -0.5}
"""Branches that cross, with both foci above A, as the paper's figure has it."""
FOLDED = {"x_B": 2, "y_B": 0, "x_C": 1, "y_C": 0}
SINGULAR = {"phi": 0.0, "psi": math.pi}

Array = NDArray[np.float64]


@lru_cache(maxsize=32)
def _space(system: System, values: tuple[tuple[str, float], ...]) -> ConfigurationSpace:
    return trace(system, dict(values))


def space(shop: Workshop, name: str = CARTESIAN, **changes: float) -> ConfigurationSpace:
    """Return the traced configuration space of a pendulum."""
    return _space(shop.system(name), tuple(shop.values(name, **changes)[1].items()))


@lru_cache(maxsize=16)
def _growth(system: System, values: tuple[tuple[str, float], ...]) -> Asymptotics:
    return asymptotics(system, dict(values), at=FOLDED, speed_of="y_C", distance="y_C")


def growth(shop: Workshop, **changes: float) -> Asymptotics:
    """Return the growth of the multipliers along the branches, over y_C, where C moves with unit speed."""
    return _growth(shop.system(CARTESIAN), tuple(shop.values(CARTESIAN, **changes)[1].items()))


def answer(system: System | Model, state: Mapping[str, float], params: Mapping[str, float]) -> Reactions:
    """Return the reactions at one state."""
    found = reactions(system, state, params)
    assert isinstance(found, Reactions)
    return found


class Poses(NamedTuple):
    """Poses and velocities of the pendulum along a branch, in the paper's notation."""

    phi: Array
    rate: Array
    d: Array
    theta: Array
    B: Array
    C: Array
    vB: Array
    vC: Array
    states: tuple[dict[str, float], ...]

    @property
    def label(self) -> Array:
        """The sign of the angle CAB: the paper's branches + and -."""
        return np.asarray(np.sign(self.theta))


def poses_of(states: Mapping[str, Any]) -> Poses:
    """Return arrays of states in Cartesian coordinates in the paper's notation."""
    B, C = (np.stack([states[f"x_{p}"], states[f"y_{p}"]]) for p in "BC")
    vB, vC = (np.stack([states[f"v_x_{p}"], states[f"v_y_{p}"]]) for p in "BC")
    d = np.hypot(*C)
    theta = np.arctan2(C[0] * B[1] - C[1] * B[0], (B * C).sum(axis=0))
    rate = (C[0] * vC[1] - C[1] * vC[0]) / d**2
    names = [key for key in states if key != "t"]
    single = tuple({key: float(states[key][k]) for key in names} for k in range(len(d)))
    return Poses(np.arctan2(C[1], C[0]), rate, d, theta, B, C, vB, vC, single)


@lru_cache(maxsize=32)
def _poses(system: System, values: tuple[tuple[str, float], ...], count: int, reach: float) -> Poses:
    places = (np.arange(4 * count) + 0.37) / (4 * count)
    parts = [arc.state(at=places * arc.length, speed=1.0) for arc in _space(system, values).branches]
    joined = {key: np.concatenate([np.broadcast_to(part[key], places.shape) for part in parts]) for key in parts[0]}
    angle = np.abs(np.arctan2(joined["y_C"], joined["x_C"]))
    near = np.flatnonzero((angle < reach) & (angle > 1e-3))
    near = near[:: max(len(near) // count, 1)]
    return poses_of({key: numbers[near] for key, numbers in joined.items()})


def poses(shop: Workshop, count: int = 60, reach: float = math.pi / 4, **changes: float) -> Poses:
    """Return poses on the traced arcs with C within `reach` of the vertex, moving with unit speed."""
    return _poses(shop.system(CARTESIAN), tuple(shop.values(CARTESIAN, **changes)[1].items()), count, reach)


@lru_cache(maxsize=32)
def _distance(r1: float, r2: float, a: float) -> Any:
    phi = sp.Symbol("phi")
    c, s = sp.cos(phi), sp.sin(phi)
    whole, middle = c**2 / r1**2 + s**2 / r2**2, a * c / r1**2
    d = (middle + sp.sqrt(middle**2 - whole * (a**2 / r1**2 - 1))) / whole
    return sp.lambdify(phi, [d, d.diff(phi), d.diff(phi, 2)], "numpy")


def distance(params: Mapping[str, float], phi: Any) -> tuple[Any, Any, Any]:
    """Return |AC| = d(phi) on the ellipse and its first two derivatives."""
    d, first, second = _distance(params["r1"], params["r2"], params["a"])(phi)
    return d, first, second


def start(shop: Workshop, name: str, phi: float, rate: float, label: int, **changes: float) -> Any:
    """Return state and parameters with C at the polar angle `phi`, moving with that rate, on the branch of a label."""
    entry = shop.entry(name)
    params = shop.values(name, **changes)[1]
    everything = place(params, phi, rate, label)
    return {key: everything[key] for key in entry.state}, params


def polar_angle(state: Mapping[str, Any]) -> Any:
    """Return the polar angle of C for a state in joint angles; the rods are 2 and 1."""
    phi, psi = np.asarray(state["phi"]), np.asarray(state["psi"])
    return np.arctan2(2 * np.sin(phi) + np.sin(psi), 2 * np.cos(phi) + np.cos(psi))


def label_of(state: Mapping[str, Any]) -> Any:
    """Return the sign of the angle CAB for a state in joint angles."""
    return -np.sign(np.sin(np.asarray(state["psi"]) - np.asarray(state["phi"])))
