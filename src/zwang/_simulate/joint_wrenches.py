"""What a joint exerts on its second body along a motion: at each of its rows, see `zwang._reactions.wrenches`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._declare.system import System
from zwang._reactions.wrenches import joint_reader
from zwang._results.motion import Motion

Array = NDArray[np.float64]


def wrench(system: System, motion: Motion, joint: str) -> Array:
    """Return (rows, 6): force and moment on the second body, axes of the ground, at the joint."""
    reader, driving = joint_reader(system, joint, motion.inputs)
    found = np.full((len(motion.t), 6), np.nan)
    names = (*motion.coordinates, *motion.velocities)
    for row in range(len(motion.t)):
        numbers = [*motion.q[row], *motion.v[row]]
        state = {name: float(value) for name, value in zip(names, numbers, strict=True)} | {"t": float(motion.t[row])}
        forces = {name: float(values[row]) for name, values in motion.reactions.items() if np.ndim(values[row]) == 0}
        friction = {name: np.atleast_1d(values[row]) for name, values in motion.friction.items()}
        values = {**motion.params, **driving.values_at({"t": state["t"]})}
        found[row] = reader.at(state, values, forces, friction)
    return found
