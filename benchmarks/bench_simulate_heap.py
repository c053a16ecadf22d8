"""A pyramid of balls with friction, up to a thousand contacts, steps of a millisecond: beside Drake and Siconos.

    OMP_NUM_THREADS=1 python benchmarks/bench_simulate_heap.py [--side 8] [--apart 1e-4] [--drake PYTHON]
        [--siconos PYTHON]

Balls of 1 m and 1 kg, friction 1/2, in square layers of 8 x 8, 7 x 7, ..., each in the hollows of the layer below and
beside its neighbours: 204 balls, 960 contacts. They start about `apart` from each other, in places that a seed gives
(0: all touch exactly). At the start the ball on top is pushed aside, the heap falls together and gives way: contacts
close, stick, roll, slide and open. The orientation of a ball does not matter, so that its angular velocity serves as
the rates of three coordinates. Drake is timed if it can be imported; give another interpreter that has it with
``--drake PYTHON``, and one that has Siconos with ``--siconos PYTHON``: its Moreau-Jean steps find contacts by Bullet,
impulses by Gauss-Seidel, asked for 1e-8 in at most 1,000 iterations. Beside each time stand the largest speed at the
end and how deep bodies have sunk into each other; the residual is the worst of all steps, Siconos' in its own measure.

The friction problem of the last step is solved once more from nothing, by zwang and by solvers of Siconos (an
interpreter that has it: ``--siconos PYTHON``), which are asked for 1e-10; the residual is the distance from Coulomb's
law in units of the velocities that the step would make, computed here for all of them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

STEP, STEPS = 1e-3, 100
RADIUS, MASS, G, MU, PUSH = 0.5, 1.0, 9.81, 0.5, 1.0


def places_of(side, apart=0.0):
    """Return the centres of the balls (k, 3), the one on top last."""
    found = []
    for layer in range(side):
        for i in range(side - layer):
            for j in range(side - layer):
                rise = RADIUS * (1.0 + np.sqrt(2.0) * layer)
                found.append((2 * RADIUS * (i + layer / 2), 2 * RADIUS * (j + layer / 2), rise))
    noise = np.random.default_rng(0).uniform(0.0, apart / 2, (len(found), 3))
    return np.array(found) * (1.0 + apart) + noise


def balls_in_space(side, apart=0.0):
    """Return system, state and parameters of the pyramid; contacts are those within a tenth of a diameter."""
    import sympy as sp

    import zwang as zw

    places = places_of(side, apart)
    count = len(places)
    names = [f"{letter}{i}" for i in range(count) for letter in "xyzabc"]
    q, v = zw.coordinates(names)
    m, inertia, r, g, mu = zw.parameters("m J r g mu")
    centre = [sp.Matrix(q[6 * i : 6 * i + 3]) for i in range(count)]
    speed = [sp.Matrix(v[6 * i : 6 * i + 3]) for i in range(count)]
    spin = [sp.Matrix(v[6 * i + 3 : 6 * i + 6]) for i in range(count)]
    contacts = []
    for i in range(count):
        if places[i, 2] < 1.1 * RADIUS:
            at = speed[i] + spin[i].cross(sp.Matrix([0, 0, -r]))
            law = zw.Coulomb(mu, slip=(at[0], at[1]))
            contacts.append(zw.Unilateral(centre[i][2] - r, friction=law, restitution=0, name=f"floor {i}"))
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    for i, j in np.argwhere(np.triu(apart < 2.2 * RADIUS, 1)):
        way = places[j] - places[i]
        across = sp.Matrix(np.eye(3, dtype=int)[int(np.argmin(np.abs(way)))])
        d = centre[j] - centre[i]
        length = sp.sqrt(d.dot(d))
        first = across.cross(d)
        second = d.cross(first)
        slip = speed[j] - speed[i] - (spin[i] + spin[j]).cross(d) / 2
        along = [slip.dot(side) / sp.sqrt(side.dot(side)) for side in (first, second)]
        law = zw.Coulomb(mu, slip=tuple(along))
        contacts.append(zw.Unilateral(length - 2 * r, friction=law, restitution=0, name=f"balls {i} {j}"))
    kinetic = [m * u**2 / 2 for part in speed for u in part] + [inertia * u**2 / 2 for part in spin for u in part]
    potential = m * g * sp.Add(*(part[2] for part in centre))
    system = zw.System(name="balls", kinetic=sp.Add(*kinetic), potential=potential, constraints=contacts)
    state = dict.fromkeys([*names, *(f"v_{name}" for name in names)], 0.0)
    state |= {
        f"{letter}{i}": float(x) for i, place in enumerate(places) for letter, x in zip("xyz", place, strict=True)
    }
    state[f"v_x{count - 1}"] = PUSH
    return system, state, {"m": MASS, "J": 0.4 * MASS * RADIUS**2, "r": RADIUS, "g": G, "mu": MU}, len(contacts)


def zwang_row(side, apart):
    """Time zwang; return its row, and the friction problem of the last step."""
    from zwang._compile import compile
    from zwang._compile.given_values import resolve
    from zwang._simulate.active_set import admit
    from zwang._simulate.ground import Ground
    from zwang._simulate.timestepping import Walk

    system, state, params, _ = balls_in_space(side, apart)
    inputs = resolve(system, state, params)
    ground = Ground.of(compile(system), inputs)
    best = np.inf
    for _ in range(2):
        walk = Walk(ground, admit(ground, inputs), STEPS * STEP, STEP, shortcut=False)
        begun = time.process_time()
        steps, stop = walk.run()
        best = min(best, time.process_time() - begun)
        assert stop.status.name == "REACHED", stop.reason
    places = steps.q[-1].reshape(-1, 6)[:, :3]
    carried = int((steps.impulses[-1].reshape(-1, 3)[:, 0] > 0).sum())
    spent, speed = 1e3 * best / STEPS, float(np.abs(steps.v[-1]).max())
    return ("zwang", carried, spent, speed, sunk_at(places), steps.residual), walk.walker


def friction_problem(walker):
    """Return what Siconos takes of the last step: W by entries, q, mu and scales of the active contacts."""
    from scipy.sparse import block_diag, csr_array

    from zwang._numerics.motion.moreau import kernels

    t, f, layout = walker.tables, walker.work, walker.layout
    rows = csr_array((f[kernels.JAC], layout.j_column, layout.j_start), shape=(len(layout.source), layout.n))
    active = np.flatnonzero(t[kernels.ACTIVE])
    rows = rows[(3 * active[:, None] + np.arange(3)).ravel()][:, layout.members]
    ends = np.flatnonzero(np.diff(layout.block_start)) + 1
    blocks = [f[kernels.INVERSE][layout.block_at[k - 1] : layout.block_at[k]] for k in ends]
    w = (rows @ block_diag([one.reshape(int(np.sqrt(one.size)), -1) for one in blocks]) @ rows.T).tocoo()
    kernels.scales(t, f, t[kernels.ACTIVE])
    q = f[kernels.B].reshape(-1, 3)[active].ravel()
    return {"row": w.coords[0], "column": w.coords[1], "value": w.data, "q": q, "scale": f[kernels.SCALE][active]}


def solver_row(walker, problem):
    """Time zwang on that problem from nothing."""
    from zwang._numerics.motion.moreau import kernels
    from zwang._numerics.motion.moreau.impulses import solve

    f, best = walker.work, np.inf
    b, turn = f[kernels.B].copy(), f[kernels.TURN].copy()
    cause = float((np.abs(problem["q"]).reshape(-1, 3).max(axis=1) / problem["scale"]).max())
    for _ in range(3):
        f[kernels.R][:], f[kernels.B][:], f[kernels.TURN][:] = 0.0, b, turn
        begun = time.process_time()
        solve(walker.tables, f, cause, 1e-10)
        best = min(best, time.process_time() - begun)
    r = f[kernels.R].reshape(-1, 3)[np.flatnonzero(walker.tables[kernels.ACTIVE])]
    return "zwang", 1e3 * best, distance(problem, r.ravel())


def distance(problem, r):
    """Return how far impulses (m,) are from Coulomb's law: the natural map, contact by contact."""
    u = problem["q"].copy()
    np.add.at(u, problem["row"], problem["value"] * r[problem["column"]])
    scale = problem["scale"][:, None]
    cause = (np.abs(problem["q"]).reshape(-1, 3) / scale).max()
    r, u = r.reshape(-1, 3) * scale, u.reshape(-1, 3) / scale
    normal = np.abs(np.minimum(r[:, 0], u[:, 0]))
    aim = r[:, 1:] - u[:, 1:]
    size = np.linalg.norm(aim, axis=1)
    bound = MU * np.maximum(r[:, 0], 0.0)
    cut = aim * np.where(size > bound, bound / np.maximum(size, 1e-300), 1.0)[:, None]
    return float(np.maximum(normal, np.linalg.norm(r[:, 1:] - cut, axis=1)).max() / cause)


def siconos_rows(file):
    """Time Siconos' solvers of friction on a problem in a file."""
    import siconos.numerics as sn

    given = dict(np.load(file))
    m, rows = len(given["q"]), []
    w = np.zeros((m, m))
    np.add.at(w, (given["row"], given["column"]), given["value"])
    mu = np.full(m // 3, MU)
    for name in ("NSGS", "ADMM", "NSN_AC", "IPM"):
        code = getattr(sn, f"SICONOS_FRICTION_3D_{name}", None)
        driver = getattr(sn, {"NSN_AC": "fc3d_nonsmooth_Newton_AlartCurnier"}.get(name, f"fc3d_{name.lower()}"), None)
        if code is None or driver is None:
            continue
        problem = sn.FrictionContactProblem(3, m // 3, w, given["q"], mu)
        options = sn.SolverOptions(code)
        options.dparam[sn.SICONOS_DPARAM_TOL] = 1e-10
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = {"NSGS": 5000, "ADMM": 5000}.get(name, 200)
        r, u = np.zeros(m), np.zeros(m)
        begun = time.process_time()
        sn.fc3d_driver(problem, r, u, options)
        rows.append((f"Siconos {name}", 1e3 * (time.process_time() - begun), distance(given, r)))
    return rows


def siconos_steps(side, apart):
    """Time Siconos' steps of the same heap."""
    import siconos.kernel as sk
    import siconos.numerics as sn
    from siconos.mechanics import collision
    from siconos.mechanics.collision.bullet import SiconosBulletCollisionManager, SiconosBulletOptions

    start = places_of(side, apart)
    model, bodies = sk.NonSmoothDynamicalSystem(0.0, 1e3), []
    for i, place in enumerate(start):
        speed = PUSH if i == len(start) - 1 else 0.0
        inertia = 0.4 * MASS * RADIUS**2 * np.eye(3)
        body = collision.RigidBodyDS([*map(float, place), 1, 0, 0, 0], [speed, 0, 0, 0, 0, 0], MASS, inertia)
        shapes = collision.SiconosContactorSet()
        shapes.append(collision.SiconosContactor(collision.SiconosSphere(RADIUS)))
        body.setContactors(shapes)
        body.setFExtPtr(np.array([0.0, 0.0, -MASS * G]))
        model.insertDynamicalSystem(body)
        bodies.append(body)
    options = SiconosBulletOptions()
    options.perturbationIterations = options.minimumPointsPerturbationThreshold = 0
    manager = SiconosBulletCollisionManager(options)
    ground = collision.SiconosContactorSet()
    ground.append(collision.SiconosContactor(collision.SiconosPlane()))
    manager.insertStaticContactorSet(ground)
    manager.insertNonSmoothLaw(sk.NewtonImpactFrictionNSL(0.0, 0.0, MU, 3), 0, 0)
    stepping = sk.TimeStepping(model, sk.TimeDiscretisation(0.0, STEP))
    stepping.insertIntegrator(sk.MoreauJeanOSI(0.5))
    laws = sk.FrictionContact(3, sn.SICONOS_FRICTION_3D_NSGS)
    given = laws.numericsSolverOptions()
    given.dparam[sn.SICONOS_DPARAM_TOL], given.iparam[sn.SICONOS_IPARAM_MAX_ITER] = 1e-8, 1000
    laws.setMaxSize(50000)
    laws.setMStorageType(sn.NM_SPARSE_BLOCK)
    laws.setKeepLambdaAndYState(True)
    stepping.insertNonSmoothProblem(laws)
    stepping.insertInteractionManager(manager)
    worst, spent = 0.0, 0.0
    for _ in range(STEPS):
        begun = time.process_time()
        stepping.computeOneStep()
        stepping.nextStep()
        spent += time.process_time() - begun
        worst = max(worst, given.dparam[sn.SICONOS_DPARAM_RESIDU])
    places = np.array([body.q()[:3] for body in bodies])
    speed = max(float(np.abs(body.twist()).max()) for body in bodies)
    count = int(laws.getSizeOutput() // 3)
    return [("Siconos NSGS", count, 1e3 * spent / STEPS, speed, sunk_at(places), worst)]


def sunk_at(places):
    """Return how deep balls are in each other or in the floor."""
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 10 * np.eye(len(places))
    return float(max(2 * RADIUS - apart.min(), RADIUS - places[:, 2].min(), 0.0))


def drake_rows(side, apart):
    """Time Drake with its solvers for discrete contact."""
    from pydrake import all as drake

    rows, start = [], places_of(side, apart)
    # TAMSI factors dense matrices: 200 balls take it minutes.
    for name in ("kTamsi", "kSap", "kLagged")[len(start) > 100 :]:
        builder = drake.DiagramBuilder()
        plant, _ = drake.AddMultibodyPlantSceneGraph(builder, time_step=STEP)
        plant.set_contact_model(drake.ContactModel.kPoint)
        plant.set_discrete_contact_approximation(getattr(drake.DiscreteContactApproximation, name))
        friction = drake.CoulombFriction(MU, MU)
        floor = drake.HalfSpace()
        plant.RegisterCollisionGeometry(plant.world_body(), drake.RigidTransform(), floor, "floor", friction)
        bodies = []
        for i in range(len(start)):
            body = plant.AddRigidBody(f"ball{i}", drake.SpatialInertia.SolidSphereWithMass(MASS, RADIUS))
            # A micrometre larger, so that balls that touch count as contacts from the start.
            shape = drake.Sphere(RADIUS + 1e-6)
            plant.RegisterCollisionGeometry(body, drake.RigidTransform(), shape, "ball", friction)
            bodies.append(body)
        plant.Finalize()
        simulator = drake.Simulator(builder.Build())
        context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
        for body, place in zip(bodies, start, strict=True):
            plant.SetFreeBodyPose(context, body, drake.RigidTransform(place))
        top = drake.SpatialVelocity(w=[0, 0, 0], v=[PUSH, 0, 0])
        plant.SetFreeBodySpatialVelocity(context=context, body=bodies[-1], V_PB=top)
        simulator.Initialize()
        try:
            begun = time.process_time()
            simulator.AdvanceTo(STEPS * STEP)
            spent = 1e3 * (time.process_time() - begun) / STEPS
        except RuntimeError:  # its solver gives up
            continue
        contacts = plant.get_contact_results_output_port().Eval(context).num_point_pair_contacts()
        now = np.array([plant.EvalBodyPoseInWorld(context, body).translation() for body in bodies])
        speed = float(np.abs(plant.GetVelocities(context)).max())
        rows.append((f"Drake {name[1:]}", contacts, spent, speed, sunk_at(now), None))
    return rows


def asked(python, *arguments):
    """Return the rows that another interpreter prints."""
    found = subprocess.run([python, __file__, *map(str, arguments)], capture_output=True, text=True, check=True)
    return json.loads(found.stdout.splitlines()[-1])


def peers(python, side, apart):
    """Return Drake's rows, from this interpreter or another one; none if neither has it."""
    if python is None:
        try:
            return drake_rows(side, apart)
        except ImportError:
            return []
    return asked(python, "--peer", "drake", "--side", side, "--apart", apart)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=8, help="balls along a side of the lowest layer")
    parser.add_argument("--apart", type=float, default=1e-4, help="how far balls start from each other [m]")
    parser.add_argument("--drake", metavar="PYTHON", help="an interpreter that has pydrake")
    parser.add_argument("--siconos", metavar="PYTHON", help="an interpreter that has siconos")
    parser.add_argument("--peer", choices=["drake", "siconos"], help=argparse.SUPPRESS)
    parser.add_argument("--problem", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer or options.problem:
        timed = {"drake": drake_rows, "siconos": siconos_steps}
        rows = timed[options.peer](options.side, options.apart) if options.peer else siconos_rows(options.problem)
        print("\n" + json.dumps(rows))
        return
    row, walker = zwang_row(options.side, options.apart)
    rows = [row, *peers(options.drake, options.side, options.apart)]
    if options.siconos:
        rows += asked(options.siconos, "--peer", "siconos", "--side", options.side, "--apart", options.apart)
    print(f"{len(places_of(options.side))} balls, {STEPS} steps of {STEP} s; CPU time of one step\n")
    for label, contacts, spent, speed, sunk, residual in rows:
        tail = "" if residual is None else f"   residual {residual:.1e}"
        print(f"  {label:14s} {contacts:5d} contacts {spent:9.2f} ms   speed {speed:.2f}   sunk {sunk:.1e} m{tail}")
    if len(rows) > 1:
        print(f"\n  zwang / fastest peer: {rows[0][2] / min(row[2] for row in rows[1:]):.2f}")
    else:
        print("\n  Drake was not found: pip install drake, or give --drake PYTHON", file=sys.stderr)
    problem = friction_problem(walker)
    print(f"\nThe problem of the last step from nothing, {len(problem['scale'])} contacts\n")
    rows = [solver_row(walker, problem)]
    if options.siconos:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "problem.npz"
            np.savez(file, **problem)
            rows += asked(options.siconos, "--problem", file)
    for label, spent, residual in rows:
        print(f"  {label:14s} {spent:9.2f} ms   residual {residual:.1e}")


if __name__ == "__main__":
    main()
