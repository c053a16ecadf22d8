"""Gallery systems in other units of length, mass and time: dimensions of their parameters, and the change itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import zwang as zw

ONE, LENGTH, MASS, TIME = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)
SPEED, GRAVITY, RATE = (1, 0, -1), (1, 0, -2), (0, 0, -1)
INERTIA, FORCE, TORQUE, STIFFNESS, DAMPING = (2, 1, 0), (1, 1, -2), (2, 1, -2), (0, 1, -2), (0, 1, -1)
PENDULUM = {"l1": LENGTH, "l2": LENGTH, "r1": LENGTH, "r2": LENGTH, "a": LENGTH, "m1": MASS, "m2": MASS, "g": GRAVITY}
BARS = {"l0": LENGTH, "l1": LENGTH, "l2": LENGTH, "l3": LENGTH, "m1": MASS, "m2": MASS, "m3": MASS, "g": GRAVITY}
BLOCK = {"m": MASS, "g": GRAVITY}
LOADS = {"F1": FORCE, "F2": FORCE, "F3": TORQUE, "floor_acceleration": GRAVITY, "wall_acceleration": GRAVITY}
GOVERNOR = {
    **dict.fromkeys(("m", "M", "m_s"), MASS),
    **dict.fromkeys(("l", "d", "b", "h"), LENGTH),
    **dict.fromkeys(("J_t", "J_a", "J_s"), INERTIA),
    "g": GRAVITY,
}
DIMENSIONS: Mapping[str, Mapping[str, tuple[int, int, int]]] = {
    "atwood": {"m1": MASS, "m2": MASS, "g": GRAVITY, "l": LENGTH},
    "atwood_changing_length": {"m1": MASS, "m2": MASS, "g": GRAVITY, "l": LENGTH, "gamma": GRAVITY},
    "belt_block": {**BLOCK, "k": STIFFNESS, "belt_speed": SPEED},
    "bouncing_ball": BLOCK,
    "circle_particle": {"m": MASS, "r": LENGTH, "k": STIFFNESS, "c": DAMPING},
    "ellipse_pendulum": PENDULUM,
    "ellipse_pendulum_cartesian": PENDULUM,
    "ellipse_pendulum_friction": PENDULUM,
    "ellipse_pendulum_string": PENDULUM,
    "flyball_governor": GOVERNOR,
    "four_bar": BARS,
    "four_bar_crank_rocker": BARS,
    "four_bar_kite": BARS,
    "four_bar_parallelogram": BARS,
    "freewheel": {"J1": INERTIA, "J2": INERTIA, "M": TORQUE, "c": (2, 1, -1)},
    "incline_block": BLOCK,
    "ladder": {**BLOCK, "J": INERTIA, "l": LENGTH, **LOADS},
    "n_four_bar": {**BLOCK, "l": LENGTH},
    "painleve_rod": {**BLOCK, "J": INERTIA, "l": LENGTH},
    "painleve_rod_tip": {**BLOCK, "J": INERTIA, "l": LENGTH, **LOADS},
    "pyramid": {**{f"{key}{i}": what for i in "123" for key, what in (("m", MASS), ("P", FORCE))}, "g": GRAVITY},
    "ratchet": {"J": INERTIA, "M": TORQUE, "w": RATE},
    "sleigh": {"m": MASS, "J": INERTIA},
    "sleigh_ahead": {"m": MASS, "J": INERTIA, "c": LENGTH},
    "sleigh_incline": {**BLOCK, "J": INERTIA},
    "slider_crank": {"r": LENGTH, "l": LENGTH, "m1": MASS, "m2": MASS, "m": MASS, "g": GRAVITY},
    "speed_limit": {"m": MASS, "F": FORCE, "c0": SPEED, "c1": SPEED, "drop_time": TIME},
    "stack": {**BLOCK, "J": INERTIA, "b": LENGTH, "h": LENGTH},
    "two_particles": {**BLOCK, "l": LENGTH, "S": FORCE, "d": LENGTH},
    "two_skates": {"m": MASS, "J": INERTIA, "b": LENGTH, "F": FORCE, "M": TORQUE},
}
"""Parameters that are not listed are pure numbers."""


class Units(NamedTuple):
    """How many times larger lengths, masses and times are."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    def of(self, dimension: tuple[int, int, int]) -> float:
        """Return by how much a quantity is larger."""
        return float(self.length ** dimension[0] * self.mass ** dimension[1] * self.time ** dimension[2])


def in_units(name: str, units: Units) -> tuple[Any, dict[str, float], dict[str, float]]:
    """Return a gallery system with state and parameters in which lengths, masses and times are so many times larger."""
    entry = zw.gallery.get(name)
    dimensions = DIMENSIONS[name]
    params = {key: value * units.of(dimensions.get(key, ONE)) for key, value in entry.params.items()}
    sizes = sizes_of(entry.system, units)
    return entry.system, {key: value * sizes[key] for key, value in entry.state.items()}, params


def sizes_of(system: Any, units: Units) -> dict[str, float]:
    """Return by how much each coordinate and velocity of a system is larger."""
    sizes = {"t": units.time}
    for item, speed in zip(system.coordinates, system.velocities, strict=True):
        sizes[item.name] = 1.0 if item.angle else units.length
        sizes[speed.name] = sizes[item.name] / units.time
    return sizes
