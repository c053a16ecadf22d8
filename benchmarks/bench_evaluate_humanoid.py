"""Bodies in space: a chain of 50 joints, and a humanoid of 30 freedoms beside MuJoCo and Pinocchio.

The chain is declared, derived and evaluated. The humanoid is a free trunk with four limbs of six hinges. One evaluation
is all accelerations, without contacts; that of MuJoCo is `mj_forward`, of Pinocchio (the package `pin`, left out where
it is not installed) `aba`. The residual is the largest difference of the accelerations of the hinges, relative. Times
are minima over repeats; the first evaluation of the humanoid compiles its straight-line code, a minute without cache.
Run: OMP_NUM_THREADS=1 python benchmarks/bench_evaluate_humanoid.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

import zwang as zw

AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def chain(n: int) -> zw.Bodies:
    """Return n bodies in a row, their hinges about changing axes."""
    bodies = zw.Bodies("chain", gravity=(0, 0, -9.81))
    for i in range(n):
        bodies.body(f"b{i}", mass=1, inertia=(0.01, 0.02, 0.02), at=(i + 0.5, 0, 0))
        bodies.revolute(f"j{i}", "ground" if i == 0 else f"b{i - 1}", f"b{i}", at=(i, 0, 0), axis=AXES[i % 3])
    return bodies


def humanoid() -> tuple[zw.Bodies, Any]:
    """Return a trunk with four limbs, here and there."""
    bodies, spec = zw.Bodies("humanoid", gravity=(0, 0, -9.81)), mujoco.MjSpec()
    bodies.body("trunk", mass=30, inertia=(1, 0.8, 0.5), at=(0, 0, 1))
    trunk = spec.worldbody.add_body(name="trunk", pos=[0, 0, 1])
    trunk.add_freejoint()
    trunk.mass, trunk.inertia, trunk.ipos, trunk.explicitinertial = 30, [1, 0.8, 0.5], [0, 0, 0], 1
    for limb in range(4):
        name, body, before = "trunk", trunk, np.array([0.0, 0.0, 1.0])
        for k in range(6):
            place = np.array([0.4 * (limb % 2) - 0.2, 0, 1.4 - 0.8 * (limb // 2) - 0.12 * k])
            centre = place + np.array([0.01, 0.02, -0.06])
            own = f"l{limb}{k}"
            bodies.body(own, mass=2, inertia=(0.02, 0.02, 0.01), at=centre)
            bodies.revolute(f"j{limb}{k}", name, own, at=place, axis=AXES[k % 3])
            body = body.add_body(name=own, pos=place - before)
            body.mass, body.inertia, body.ipos, body.explicitinertial = 2, [0.02, 0.02, 0.01], centre - place, 1
            body.add_joint(name=f"j{limb}{k}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=AXES[k % 3])
            name, before = own, place
    return bodies, spec.compile()


def in_pinocchio(pin: Any) -> Any:
    """Return the same humanoid there."""
    model, at = pin.Model(), pin.SE3.Identity()
    trunk = model.addJoint(0, pin.JointModelFreeFlyer(), at, "trunk")
    model.appendBodyToJoint(trunk, pin.Inertia(30, np.zeros(3), np.diag([1, 0.8, 0.5])), at)
    forms = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    for limb in range(4):
        joint, before = trunk, np.array([0.0, 0.0, 1.0])
        for k in range(6):
            place = np.array([0.4 * (limb % 2) - 0.2, 0, 1.4 - 0.8 * (limb // 2) - 0.12 * k])
            joint = model.addJoint(joint, forms[k % 3](), pin.SE3(np.eye(3), place - before), f"j{limb}{k}")
            own = pin.Inertia(2, np.array([0.01, 0.02, -0.06]), np.diag([0.02, 0.02, 0.01]))
            model.appendBodyToJoint(joint, own, at)
            before = place
    return model


def beside_pinocchio(state: dict[str, float], hinges: list[str], own: Any) -> None:
    """Print the time of Pinocchio, where it is installed, and how far its accelerations are from ours."""
    try:
        import pinocchio as pin
    except ImportError:
        return
    model = in_pinocchio(pin)
    data = model.createData()
    q = np.array([0, 0, 1, 0, 0, 0, 1, *(state[hinge] for hinge in hinges)], dtype=float)
    v = np.array([0, 0, 0, 0.1, 0.2, 0.3, *(state[f"v_{hinge}"] for hinge in hinges)])
    none = np.zeros(model.nv)
    there = np.array(pin.aba(model, data, q, v, none))[6:]
    apart = np.abs(own - there).max() / np.abs(there).max()
    seconds = least(lambda: pin.aba(model, data, q, v, none))
    print(f"Pinocchio {pin.__version__}, aba: {1e6 * seconds:.1f} us, apart {apart:.1e}")


def least(call: Callable[[], Any], count: int = 500, repeats: int = 7) -> float:
    """Return the time of one call [s]."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - start) / count)
    return min(times)


def main() -> None:
    """Print the table."""
    start = time.perf_counter()
    system = chain(50).system()
    state = {item.name: 0.1 for item in (*system.coordinates, *system.velocities)}
    zw.compile(system).accelerations(state)
    print(f"chain of 50 joints, declared, derived, compiled, evaluated: {time.perf_counter() - start:.2f} s")

    bodies, theirs = humanoid()
    system = bodies.system()
    source = np.random.default_rng(0)
    hinges = [f"j{limb}{k}" for limb in range(4) for k in range(6)]
    state = bodies.place("trunk", spin=(0.1, 0.2, 0.3))
    state |= {name: float(source.normal()) for hinge in hinges for name in (hinge, f"v_{hinge}")}
    y = np.array([state[item.name] for item in (*system.coordinates, *system.velocities)])
    start = time.perf_counter()
    right = zw.compile(system).right_side({})
    found = right(0.0, y)
    print(f"humanoid, first evaluation: {time.perf_counter() - start:.1f} s")
    data = mujoco.MjData(theirs)
    data.qpos[:7], data.qvel[3:6] = [0, 0, 1, 1, 0, 0, 0], [0.1, 0.2, 0.3]
    for hinge in hinges:
        data.joint(hinge).qpos, data.joint(hinge).qvel = state[hinge], state[f"v_{hinge}"]
    mujoco.mj_forward(theirs, data)
    names = [item.name for item in system.coordinates]
    own = np.array([found[len(names) + names.index(hinge)] for hinge in hinges])
    other = np.array([data.joint(hinge).qacc[0] for hinge in hinges])
    residual = np.abs(own - other).max() / np.abs(other).max()
    print(f"humanoid, one evaluation: {1e6 * least(lambda: right(0.0, y)):.1f} us, residual {residual:.1e}")
    print(f"MuJoCo {mujoco.__version__}, mj_forward: {1e6 * least(lambda: mujoco.mj_forward(theirs, data)):.1f} us")
    beside_pinocchio(state, hinges, own)


if __name__ == "__main__":
    main()
