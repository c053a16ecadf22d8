"""Contact, friction, impacts: classics with closed forms, published toys, independent codes beside them."""

from __future__ import annotations

import math

import numpy as np
import sympy as sp
from benchmarks.proving.problem import CODE, FORMULA, PRINTED, Problem
from scipy.optimize import brentq, nnls

import zwang as zw

G = 9.81


def _painleve() -> float:
    """The least friction for which the uniform rod has no acceleration, at tan(theta) = 2, by bisection."""
    rod = zw.gallery.get("painleve_rod")
    th = math.atan(2.0)
    state = {**rod.state, "theta": th, "y": math.sin(th), "v_x": -1.0, "v_y": 0.0, "v_theta": 0.0}
    low, high = 1.0, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        found = zw.reactions(rod.system, state, {**rod.params, "mu": middle})
        low, high = (low, middle) if found.status.name == "NONE" else (middle, high)
    return high


def _settles() -> float:
    entry = zw.gallery.get("bouncing_ball")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=6.0)
    return float(next(event.time for event in motion.events if event.kind == "accumulation"))


def _settled() -> float:
    entry = zw.gallery.get("bouncing_ball")
    e = float(
        entry.system.constraints["floor"].restitution.subs({s: entry.params[s.name] for s in entry.system.parameters})
    )
    return math.sqrt(2 * entry.state["y"] / entry.params["g"]) * (1 + e) / (1 - e)


def _woodpecker() -> zw.results.Cycle:
    (y, a, b), (vy, va, vb) = zw.coordinates("y a b")
    rO, rM, hM, lM, lG, hS, lS = 0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201
    mM, mS, JM, JS, c, mu = 0.0003, 0.0045, 5e-9, 7e-7, 0.0056, 0.3
    sleeve = zw.Coulomb(mu, slip=vy + rM * va)
    beak = zw.Coulomb(mu, slip=vy + lM * va + (lG - lS) * vb)
    bird = vy + lM * va + lG * vb
    toy = zw.System(
        name="woodpecker",
        kinetic=mM * vy**2 / 2 + JM * va**2 / 2 + mS * bird**2 / 2 + JS * vb**2 / 2,
        potential=mM * G * y + mS * G * (y + lM * a + lG * b) + c * (a - b) ** 2 / 2,
        constraints=[
            zw.Unilateral(lM + lG - lS - rO - hS * b, friction=beak, restitution=sp.Rational(1, 2), name="beak"),
            zw.Unilateral(rM - rO + hM * a, friction=sleeve, restitution=0, name="lower"),
            zw.Unilateral(rM - rO - hM * a, friction=sleeve, restitution=0, name="upper"),
        ],
    )
    start = {y: 0, a: -6 / 58, b: -0.2788, vy: -0.3411, va: 0, vb: -7.4583}
    return zw.periodic(toy, start, {}, period=0.146, steady=y, impact="newton")


def _sinks() -> float:
    motion = _woodpecker().motion
    return float(motion.q[0, 0] - motion.q[-1, 0])


def _table() -> tuple[zw.System, dict[str, float], float]:
    (y,), (vy,) = zw.coordinates(["y"])
    A, w, e = zw.parameters("A w e")
    table = A * sp.sin(w * zw.t)
    system = zw.System(
        name="table", kinetic=vy**2 / 2, potential=G * y, constraints=[zw.Unilateral(y - table, restitution=e, name="table")]
    )  # fmt: skip
    return system, {"A": 0.01024, "w": 10 * math.pi, "e": 0.8}, 0.2


def _landing() -> list[float]:
    system, values, _ = _table()
    settling = zw.simulate(system, {"y": 0.02, "v_y": 0.9, "t": 0.04}, values, until=12.0)
    cycle = zw.periodic(system, settling.at(11.8), values, period="2*pi/w")
    hit = next(event.time for event in cycle.motion.events if event.kind == "impact")
    return [values["A"] * values["w"] * math.cos(values["w"] * hit), float(np.prod(cycle.multipliers).real)]


def _flip() -> list[float]:
    """The fold and the flip of the once-hopping ball in A w^2/g."""
    system, values, _ = _table()
    settling = zw.simulate(system, {"y": 0.02, "v_y": 0.9, "t": 0.04}, values, until=12.0)
    cycle = zw.periodic(system, settling.at(11.8), values, period="2*pi/w")
    found = zw.cycles(system, cycle, values, vary="A", within=(0.003, 0.0115), switch=False)
    scale = values["w"] ** 2 / G
    return [found.folds[0].value * scale, found.flips[0].value * scale]


def _flip_exact() -> list[float]:
    e, n = 0.8, 1
    fold = n * math.pi * (1 - e) / (1 + e)
    return [fold, math.hypot(fold, 2 * (1 + e**2) / (1 + e) ** 2)]


def _chaos() -> list[float]:
    """Instants of eight impacts on a table that shakes hard."""
    system, _, _ = _table()
    values = {"A": 0.03, "w": 30.0, "e": 0.6}
    motion = zw.simulate(system, {"y": 0.1, "v_y": 0.0}, values, until=3.0, tol=1e-13)
    return [event.time for event in motion.events if event.kind == "impact"][:8]


def _chaos_map() -> list[float]:
    """The same by the impact map: the next zero of a parabola above a sine, by bisection."""
    A, w, e = 0.03, 30.0, 0.6
    t0, y0, v0, found = 0.0, 0.1, 0.0, []
    while len(found) < 8:

        def gap(t: float, t0: float = t0, y0: float = y0, v0: float = v0) -> float:
            return y0 + v0 * (t - t0) - G * (t - t0) ** 2 / 2 - A * math.sin(w * t)

        t = t0 + 1e-6
        while gap(t + 1e-4) > 0:
            t += 1e-4
        hit = brentq(gap, t, t + 1e-4, xtol=1e-15)
        table = A * w * math.cos(w * hit)
        v0 = table - e * (v0 - G * (hit - t0) - table)
        t0, y0 = hit, A * math.sin(w * hit)
        found.append(hit)
    return found


def _belt() -> float:
    (x, y), (vx, vy) = zw.coordinates("x y")
    rub = zw.Coulomb(0.3, slip=vx - 0.3, static=0.5)
    block = zw.System(
        name="belt", kinetic=vx**2 + vy**2, potential=2 * G * y + 40 * x**2,
        constraints=[zw.Unilateral(y, friction=rub, name="belt")],
    )  # fmt: skip
    motion = zw.simulate(block, {x: 0, y: 0, vx: 0, vy: 0}, until=6.0)
    return float(np.diff([event.time for event in motion.events if event.kind == "stick"])[-1])


def _belt_exact() -> float:
    d, omega = 0.2 * 2 * G / 80, math.sqrt(40)
    return 2 * d / 0.3 + 2 * (math.pi - math.atan(d * omega / 0.3)) / omega


def _dry(size: float) -> float:
    """Where a dry oscillator comes to rest, in amplitudes: 1 - 2 * 0.475 on the other side."""
    (x,), (v,) = zw.coordinates(["x"])
    system = zw.System(
        name="dry", kinetic=v**2 / 2, potential=x**2 / 2, constraints=[zw.Friction(0.475 * size, slip=v, name="rub")]
    )
    return float(zw.simulate(system, {x: size, v: 0}, until=10.0).end["x"] / size)


def _drop(height: float) -> float:
    (y,), (v,) = zw.coordinates(["y"])
    ball = zw.System(
        name="ball", kinetic=v**2 / 2, potential=G * y, constraints=[zw.Unilateral(y, restitution=0.5, name="floor")]
    )
    motion = zw.simulate(ball, {y: height, v: 0}, until=3 * math.sqrt(2 * height / G))
    return float(motion.events[0].time)


def _support() -> float:
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    rub = zw.Coulomb(sp.Rational(2, 5), slip=(vx - zw.t**2 / 2, vy - zw.t**3 / 5))
    system = zw.System(
        name="support", kinetic=(vx**2 + vy**2 + vz**2) / 2, potential=G * z,
        constraints=[zw.Unilateral(z, friction=rub, name="floor")],
    )  # fmt: skip
    motion = zw.simulate(system, {x: 0, y: 0, z: 0, vx: 0, vy: 0, vz: 0}, until=3.0)
    return float(next(event.time for event in motion.events if event.kind == "slip"))


def _support_exact() -> float:
    bound = (0.4 * G) ** 2
    return math.sqrt((-1 + math.sqrt(1 + 4 * 0.36 * bound)) / 0.72)


def _sphere() -> float:
    (x, y), (vx, vy) = zw.coordinates("x y")
    system = zw.System(
        name="sphere", kinetic=(vx**2 + vy**2) / 2, potential=G * y,
        constraints=[zw.Unilateral(sp.sqrt(x**2 + y**2) - 1, name="sphere")],
    )  # fmt: skip
    th, w = 0.1, math.sqrt(2 * G * (1 - math.cos(0.1)))
    start = {x: math.sin(th), y: math.cos(th), vx: w * math.cos(th), vy: -w * math.sin(th)}
    motion = zw.simulate(system, start, until=1.2)
    return float(motion.at(next(event.time for event in motion.events if event.kind == "lift-off"))["y"])


def _ladder() -> float:
    """The sine of the angle at which a smooth ladder leaves the wall, over that at its start."""
    (x, y, th), (vx, vy, w) = zw.coordinates("x y theta", angles="theta")
    system = zw.System(
        name="ladder", kinetic=(vx**2 + vy**2) / 2 + w**2 / 6, potential=G * y,
        constraints=[zw.Unilateral(y - sp.sin(th), name="floor"), zw.Unilateral(x - sp.cos(th), name="wall")],
    )  # fmt: skip
    start = {x: math.cos(1.2), y: math.sin(1.2), th: 1.2, vx: 0, vy: 0, w: 0}
    motion = zw.simulate(system, start, until=1.0)
    time = next(event.time for event in motion.events if event.kind == "lift-off" and event.constraint == "wall")
    return float(math.sin(motion.at(time)["theta"]) / math.sin(1.2))


def _billiard() -> float:
    (x, y, ph), (vx, vy, w) = zw.coordinates("x y phi")
    rub = zw.Coulomb(0.2, slip=vx - w)
    ball = zw.System(
        name="ball", kinetic=(vx**2 + vy**2) / 2 + w**2 / 5, potential=G * y,
        constraints=[zw.Unilateral(y, friction=rub, name="cloth")],
    )  # fmt: skip
    motion = zw.simulate(ball, {x: 0, y: 0, ph: 0, vx: 7, vy: 0, w: 0}, until=3.0)
    return float(motion.end["v_x"])


def _incline() -> float:
    (s, n), (vs, vn) = zw.coordinates("s n")
    a, mu = 0.3, 0.6
    block = zw.System(
        name="incline", kinetic=(vs**2 + vn**2) / 2, potential=G * (n * math.cos(a) - s * math.sin(a)),
        constraints=[zw.Unilateral(n, friction=zw.Coulomb(mu, slip=vs), name="plane")],
    )  # fmt: skip
    return float(zw.simulate(block, {s: 0, n: 0, vs: 2, vn: 0}, until=5.0).end["s"])


def _breaks() -> float:
    (x, y), (vx, vy) = zw.coordinates("x y")
    breaks = zw.Event(-zw.reaction("bar") - 50, direction=1, then=zw.Switch(off="bar"), name="break")
    system = zw.System(
        name="bar", kinetic=vx**2 + vy**2, potential=2 * G * y, events=[breaks],
        constraints=[zw.Bilateral(sp.sqrt(x**2 + y**2) - 1, name="bar")],
    )  # fmt: skip
    motion = zw.simulate(system, {x: 1, y: 0, vx: 0, vy: 0}, until=1.0)
    return float(motion.at(motion.events[0].time)["y"])


RNG = np.random.default_rng(7)
ROWS, LOAD = RNG.normal(size=(6, 4)), RNG.normal(size=4)


def _gauss() -> list[float]:
    """Unit mass, six smooth one-sided rows: Gauss's principle, the least |a - f| with rows a >= 0, by NNLS."""
    lam, _ = nnls(ROWS.T, -LOAD)
    return list(LOAD + ROWS.T @ lam)


def _gauss_ours() -> list[float]:
    names = [f"q{k}" for k in range(4)]
    q, v = zw.coordinates(names)
    rows = [
        zw.Unilateral(sum(float(c) * x for c, x in zip(row, q, strict=True)), name=f"r{k}")
        for k, row in enumerate(ROWS)
    ]
    forces = {x: float(f) for x, f in zip(q, LOAD, strict=True)}
    system = zw.System(name="rows", kinetic=sum(x**2 for x in v) / 2, forces=forces, constraints=rows)
    state = dict.fromkeys((*names, *(f"v_{name}" for name in names)), 0.0)
    return list(zw.reactions(system, state).solutions[0].acceleration)


PROBLEMS = [
    Problem("Painlevé's paradox, uniform rod", "Painlevé 1895; least coefficient 4/3", FORMULA, "threshold of mu",
            4 / 3, 1e-10, _painleve),
    Problem("bouncing ball comes to rest", "sum of the flights", FORMULA, "instant [s]", _settled, 1e-10, _settles),
    Problem("woodpecker toy, period", "Glocker 1995, table of the limit cycle", PRINTED, "period [s]", 0.14598, 4e-5,
            lambda: _woodpecker().period),
    Problem("woodpecker toy, sinking", "Glocker 1995", PRINTED, "height a period [m]", 0.0194, 4e-3, _sinks),
    Problem("ball on a shaking table", "phase of landing; product e² of multipliers", FORMULA,
            "A w cos(phi) [m/s], product", lambda: [G * 0.2 * 0.2 / 3.6, 0.64], 1e-7, _landing),
    Problem("ball on a shaking table, bifurcations", "fold and flip of the once-hopping cycle", FORMULA, "A w²/g",
            _flip_exact, 1e-5, _flip),
    Problem("ball on a shaking table, chaos", "impact map by bisection, SciPy", CODE, "eight instants [s]", _chaos_map,
            1e-9, _chaos),
    Problem("stick and slip on a belt", "arcs of circles in the phase plane", FORMULA, "period [s]", _belt_exact, 1e-10,
            _belt),
    Problem("dry oscillator of 1 m", "half swings about the edges of the band", FORMULA, "rest in amplitudes", -0.05,
            1e-9, lambda: _dry(1.0)),
    Problem("dry oscillator of 1 nm", "the same at another size", FORMULA, "rest in amplitudes", -0.05, 1e-9,
            lambda: _dry(1e-9)),
    Problem("ball dropped from 1 nm", "free fall", FORMULA, "instant of the impact [s]", lambda: math.sqrt(2e-9 / G),
            1e-9, lambda: _drop(1e-9)),
    Problem("slip from rest on a support that moves in a curve", "root of t² + 9 t⁴/25 = (mu g)²", FORMULA,
            "instant [s]", _support_exact, 1e-8, _support),
    Problem("particle leaves a sphere", "two thirds of the height of its rest", FORMULA, "height [m]",
            2 / 3, 1e-9, _sphere),
    Problem("smooth ladder leaves the wall", "two thirds of the height of its start", FORMULA, "ratio of heights",
            2 / 3, 1e-9, _ladder),
    Problem("billiard ball begins to roll", "5/7 of the speed", FORMULA, "speed [m/s]", 5.0, 1e-10, _billiard),
    Problem("block stops on an incline", "v²/(2 g (mu cos a - sin a))", FORMULA, "way [m]",
            lambda: 4 / (2 * G * (0.6 * math.cos(0.3) - math.sin(0.3))), 1e-10, _incline),
    Problem("bar that breaks at 50 N", "3 m g sin(phi) = 50 N", FORMULA, "height [m]", -50 / (6 * G), 1e-9, _breaks),
    Problem("six smooth contacts", "Gauss's principle by SciPy's NNLS", CODE, "acceleration", _gauss, 1e-9, _gauss_ours),
]  # fmt: skip
