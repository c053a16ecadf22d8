"""Ten cubes on each other in space, 40 contacts, steps of a millisecond: time stepping beside Drake.

    OMP_NUM_THREADS=1 python benchmarks/bench_simulate_stack.py

Cubes of 1 m and 1 kg, friction 1/2, at rest; in Drake four small spheres at the corners of each cube meet the face
below, so that both have the same 40 contacts (box on box would have one per pair). Drake is timed if it can be
imported; give another interpreter that has it with ``--drake PYTHON``. Beside each time stands what the tower did: the
largest speed at the end, how far it moved (creep), how far it sank. zwang is timed three times: at rest with every step
solved, at rest as `simulate` does it (steps that repeat a step at rest are copied), and with the top cube sliding.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from itertools import pairwise

import numpy as np

CUBES, STEP, SPAN = 10, 1e-3, 0.5
HALF, MASS, G, MU = 0.5, 1.0, 9.81, 0.5


def rotation(a, b, c):
    """Return the factors of R = Rz(c) Ry(b) Rx(a)."""
    import sympy as sp

    (ca, sa), (cb, sb), (cc, sc) = ((sp.cos(x), sp.sin(x)) for x in (a, b, c))
    rx = sp.Matrix([[1, 0, 0], [0, ca, -sa], [0, sa, ca]])
    ry = sp.Matrix([[cb, 0, sb], [0, 1, 0], [-sb, 0, cb]])
    return sp.Matrix([[cc, -sc, 0], [sc, cc, 0], [0, 0, 1]]), ry, rx


def cubes_in_space(n):
    """Return system, state and parameters of n cubes, each with four corners on the face below it."""
    import sympy as sp

    import zwang as zw

    names = [f"{letter}{i + 1}" for i in range(n) for letter in "xyzabc"]
    q, v = zw.coordinates(names)
    m, inertia, w, h, g, mu = zw.parameters("m J w h g mu")
    bodies = [(sp.Matrix([0, 0, -h]), sp.eye(3), sp.zeros(3, 1))]
    kinetic = []
    for i in range(0, 6 * n, 6):
        rz, ry, rx = rotation(*q[i + 3 : i + 6])
        va, vb, vc = v[i + 3 : i + 6]
        spin = sp.Matrix([0, 0, vc]) + rz * sp.Matrix([0, vb, 0]) + rz * ry * sp.Matrix([va, 0, 0])
        bodies.append((sp.Matrix(q[i : i + 3]), rz * ry * rx, spin))
        kinetic.append(m * sum(u**2 for u in v[i : i + 3]) / 2)
        kinetic.append(inertia * (va**2 + vb**2 + vc**2 - 2 * va * vc * sp.sin(q[i + 4])) / 2)
    contacts = []
    for k, (lower, upper) in enumerate(pairwise(bodies)):
        (below, face, turning), (centre, turned, spin) = lower, upper
        for x, y in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
            corner = turned * sp.Matrix([x * w, y * w, -h])
            arm = centre + corner - below
            speed = zw.rate(centre) + spin.cross(corner)
            if k:
                speed = speed - zw.rate(below) - turning.cross(arm)
            law = zw.Coulomb(mu, slip=(face[:, 0].dot(speed), face[:, 1].dot(speed)))
            name = f"cube{k + 1} ({x:+d}, {y:+d})"
            contacts.append(zw.Unilateral(face[:, 2].dot(arm) - h, friction=law, restitution=0, name=name))
    potential = m * g * sp.Add(*(body[0][2] for body in bodies[1:]))
    system = zw.System(name="cubes", kinetic=sp.Add(*kinetic), potential=potential, constraints=contacts)
    state = dict.fromkeys([*names, *(f"v_{name}" for name in names)], 0.0)
    state |= {f"z{i + 1}": (2 * i + 1) * HALF for i in range(n)}
    return system, state, {"m": MASS, "J": MASS * 4 * HALF**2 / 6, "w": HALF, "h": HALF, "g": G, "mu": MU}


def walk_of(system, state, params, **options):
    """Return the prepared steps."""
    from zwang._compile import compile
    from zwang._compile.given_values import resolve
    from zwang._simulate.active_set import admit
    from zwang._simulate.ground import Ground
    from zwang._simulate.timestepping import Walk

    model = compile(system)
    inputs = resolve(model.system, state, params)
    ground = Ground.of(model, inputs)
    return Walk(ground, admit(ground, inputs), SPAN, STEP, **options)


def zwang_rows():
    """Time zwang at rest and sliding."""
    system, state, params = cubes_in_space(CUBES)
    sliding = {**state, f"v_x{CUBES}": 1.5, f"v_c{CUBES}": 0.5}
    cases = [
        ("zwang, at rest, every step solved", state, {"shortcut": False}),
        ("zwang, at rest, as simulate does it", state, {}),
        ("zwang, the top cube sliding, every step solved", sliding, {"shortcut": False}),
    ]
    rows = []
    for label, start, options in cases:
        best = np.inf
        for _ in range(3):
            walk = walk_of(system, start, params, **options)
            begun = time.process_time()
            steps, stop = walk.run()
            best = min(best, time.process_time() - begun)
            assert stop.status.name == "REACHED", stop.reason
        places = steps.q[-1].reshape(CUBES, 6)
        moved = float(np.abs(places[:, :2] - steps.q[0].reshape(CUBES, 6)[:, :2]).max())
        sunk = float(np.abs(places[:, 2] - steps.q[0].reshape(CUBES, 6)[:, 2]).max())
        rows.append((label, 1e6 * best / walk.count, float(np.abs(steps.v[-1]).max()), moved, sunk, steps.residual))
    return rows


def drake_rows():
    """Time Drake with its solvers for discrete contact."""
    from pydrake import all as drake

    rows = []
    for name in ("kTamsi", "kSap", "kSimilar", "kLagged"):
        builder = drake.DiagramBuilder()
        plant, scene = drake.AddMultibodyPlantSceneGraph(builder, time_step=STEP)
        plant.set_contact_model(drake.ContactModel.kPoint)
        plant.set_discrete_contact_approximation(getattr(drake.DiscreteContactApproximation, name))
        friction, size = drake.CoulombFriction(MU, MU), 2 * HALF
        plant.RegisterCollisionGeometry(
            plant.world_body(), drake.RigidTransform(), drake.HalfSpace(), "floor", friction
        )
        bodies = []
        for i in range(CUBES):
            body = plant.AddRigidBody(f"cube{i}", drake.SpatialInertia.SolidBoxWithMass(MASS, size, size, size))
            bodies.append(body)
            plant.RegisterCollisionGeometry(body, drake.RigidTransform(), drake.Box(size, size, size), "box", friction)
            for k in range(4):
                at = [(k // 2 * 2 - 1) * (HALF - 1e-3), (k % 2 * 2 - 1) * (HALF - 1e-3), -HALF + 1e-4]
                plant.RegisterCollisionGeometry(
                    body, drake.RigidTransform(at), drake.Sphere(1e-4), f"corner{k}", friction
                )
        plant.Finalize()
        look = scene.model_inspector()
        every = [geometry for body in bodies for geometry in plant.GetCollisionGeometriesForBody(body)]
        boxes = drake.GeometrySet([one for one in every if "box" in look.GetName(one)])
        corners = drake.GeometrySet([one for one in every if "box" not in look.GetName(one)])
        floor = drake.GeometrySet(plant.GetCollisionGeometriesForBody(plant.world_body()))
        only = drake.CollisionFilterDeclaration().ExcludeWithin(boxes).ExcludeWithin(corners)
        scene.collision_filter_manager().Apply(only.ExcludeBetween(boxes, floor))
        simulator = drake.Simulator(builder.Build())
        context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        start = np.array([[0, 0, (2 * i + 1) * HALF] for i in range(CUBES)], dtype=float)
        for body, place in zip(bodies, start, strict=True):
            plant.SetFreeBodyPose(context, body, drake.RigidTransform(place))
        simulator.Initialize()
        simulator.AdvanceTo(0.05)
        begun = time.process_time()
        simulator.AdvanceTo(0.05 + SPAN)
        spent = 1e6 * (time.process_time() - begun) * STEP / SPAN
        contacts = plant.get_contact_results_output_port().Eval(context).num_point_pair_contacts()
        now = np.array([plant.EvalBodyPoseInWorld(context, body).translation() for body in bodies])
        speed = float(np.abs(plant.GetVelocities(context)).max())
        moved, sunk = float(np.abs(now - start)[:, :2].max()), float(np.abs(now - start)[:, 2].max())
        rows.append((f"Drake {name[1:]}, {contacts} contacts", spent, speed, moved, sunk, None))
    return rows


def peers(python):
    """Return Drake's rows, from this interpreter or another one; none if neither has it."""
    if python is None:
        try:
            return drake_rows()
        except ImportError:
            return []
    found = subprocess.run([python, __file__, "--peer"], capture_output=True, text=True, check=True)
    return json.loads(found.stdout.splitlines()[-1])


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drake", metavar="PYTHON", help="an interpreter that has pydrake")
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        print(json.dumps(drake_rows()))
        return
    print(f"{CUBES} cubes, {4 * CUBES} contacts, {SPAN} s in steps of {STEP} s; CPU time of one step\n")
    rows = [*zwang_rows(), *peers(options.drake)]
    for label, spent, speed, moved, sunk, residual in rows:
        tail = "" if residual is None else f"   residual {residual:.1e}"
        print(f"  {label:48s} {spent:8.1f} us   speed {speed:.1e}   moved {moved:.1e} m   sunk {sunk:.1e} m{tail}")
    others = [row[1] for row in rows if row[0].startswith("Drake")]
    if others:
        print(f"\n  every step solved / fastest peer: {rows[0][1] / min(others):.2f}")
    else:
        print("\n  Drake was not found: pip install drake, or give --drake PYTHON", file=sys.stderr)


if __name__ == "__main__":
    main()
