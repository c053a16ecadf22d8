"""The pendulum on its ellipse through the singular point, with its constraints made by springs of stiffness N."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang import Event, Model, Stiffness, System, compile, parameters, realize, simulate
from zwang.errors import StateError
from zwang.gallery import pendulum_on_ellipse
from zwang.papers.workshop import Workshop
from zwang.results import Motion

PENDULUM = "ellipse_pendulum_cartesian"
(STRENGTH,) = parameters("N_springs,")
TILT = {"tilt": 0.3}
TANGENCY = {"r1": 1.5625, "r2": 1.25, "a": -0.5625}
"""Curvature r1/r2^2 = 1 and r1 > 1: the branches touch."""
START, RATE, END = -0.3, 0.42, 0.3
"""Polar angle of C where the motion starts, its rate, and the angle at which it has passed."""
TOLERANCE = 1e-10  # of the motions compared
TAIL = 0.1
"""The last part of a passage, over which the energy across the constraints is averaged."""


@dataclass(frozen=True)
class PassageStudy:
    """One passage of the pendulum on springs.

    Attributes
    ----------
    angle : float
        CAB after the passage [rad].
    energy : float
        Across the constraints, of motion and of the springs, in the mean over the last part [J].
    drift : float
        By how much the total energy changed, which it should not [J].
    """

    angle: float
    energy: float
    drift: float

    @property
    def label(self) -> int:
        """The branch after the passage: the sign of the angle CAB."""
        return int(np.sign(self.angle))


def start(params: dict[str, float], names: tuple[str, ...], label: int) -> dict[str, float]:
    """Return the state at the polar angle -0.3 on a branch."""
    everything = pendulum_on_ellipse.place(params, START, RATE, label)
    return {name: everything[name] for name in names}


def angle_cab(state: dict[str, Any]) -> Any:
    """Return the angle from AC to AB, whose sign is the label; it vanishes where the pendulum is folded."""
    cross = state["x_C"] * state["y_B"] - state["y_C"] * state["x_B"]
    return np.arctan2(cross, state["x_C"] * state["x_B"] + state["y_C"] * state["y_B"])


def springs(shop: Workshop, strength: float, label: int, **changes: float) -> PassageStudy:
    """Return the passage with all three constraints made by springs of weight 2, as the papers' `W = sum c f^2`."""
    system = shop.system(PENDULUM)
    return _passed(system, float(strength), label, tuple(sorted(changes.items())))


@lru_cache(maxsize=256)
def _passed(system: System, strength: float, label: int, changes: tuple[tuple[str, float], ...]) -> PassageStudy:
    # Only figures are kept: a motion of a hundred thousand steps is large.
    motion = passing(system, strength, label, dict(changes))
    params = {name: value for name, value in motion.params.items() if name != STRENGTH.name}
    energies = _softened(system).energies(motion.at(motion.t[[0, -1]]), motion.params)
    total = np.asarray(energies["total"])
    angle = float(angle_cab(motion.end))
    return PassageStudy(angle, _across(system, motion, params, strength), float(abs(total[1] - total[0])))


@lru_cache(maxsize=8)
def _softened(system: System) -> Model:
    return compile(realize(system, list(system.constraints.names), by=Stiffness(STRENGTH, weight=2)))


def passing(system: System, strength: float, label: int, changes: Mapping[str, float]) -> Motion:
    """Return the motion of the pendulum on springs until it has passed."""
    state, params = Workshop().values(PENDULUM, **changes)
    x, y = system.coordinates[2:]
    motion: Motion = simulate(
        _softened(system),
        start(params, tuple(state), label),
        {**params, STRENGTH.name: strength},
        until=6.0,
        tol=TOLERANCE,
        events=[Event(y - sp.tan(END) * x, direction=1, stop=True, name="passed")],
        budget={"memory": 2_000_000_000},
    )
    if motion.status.name != "REACHED":
        raise StateError(f"The passage at N = {strength:g} did not come to its end. {motion.reason}")
    return motion


def _across(system: System, motion: Motion, params: dict[str, float], strength: float) -> float:
    """Return the energy of the velocity across the constraints and of the springs, averaged over the last part."""
    ideal = compile(system)
    t = np.linspace((1 - TAIL) * motion.t[-1], motion.t[-1], 400)
    states = motion.at(t)
    terms = ideal.terms(states, params)
    speeds = np.array([states[item.name] for item in system.velocities])
    moving = [_normal_energy(_of(terms.mass, k), _of(terms.rows, k), speeds[:, k]) for k in range(len(t))]
    stretched = sum(np.asarray(gap) ** 2 for gap in _values(ideal.gaps(states, params)))
    return float(np.mean(np.array(moving) + strength * stretched))


def _values(gaps: Any) -> list[Any]:
    return [gaps[name] for name in gaps]


def _of(stack: Any, k: int) -> NDArray[np.float64]:
    return np.asarray(stack[:, :, k if stack.shape[2] > 1 else 0])


def _normal_energy(mass: NDArray[np.float64], rows: NDArray[np.float64], v: NDArray[np.float64]) -> float:
    carried = np.linalg.solve(mass, rows.T)
    rates = rows @ v
    return 0.5 * float(rates @ np.linalg.lstsq(rows @ carried, rates, rcond=None)[0])


def slope(strengths: Any, values: Any) -> float:
    """Return the exponent of a power law."""
    return float(np.polyfit(np.log(strengths), np.log(values), 1)[0])


def polar(state: dict[str, Any], params: dict[str, float]) -> Any:
    """Return the polar angle of C from the joint angles."""
    x = params["l1"] * np.cos(state["phi"]) + params["l2"] * np.cos(state["psi"])
    y = params["l1"] * np.sin(state["phi"]) + params["l2"] * np.sin(state["psi"])
    return np.arctan2(y, x)


def fold(state: dict[str, Any], params: dict[str, float]) -> float:
    """Return the angle CAB from the joint angles."""
    angle = float(state["phi"] - polar(state, params))
    return (angle + math.pi) % (2 * math.pi) - math.pi
