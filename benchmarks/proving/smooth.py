"""Smooth motions and derivations: multibody benchmarks, rigid bodies, elliptic functions."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import numpy as np
import sympy as sp
from benchmarks.proving import loops
from benchmarks.proving.problem import CODE, FORMULA, PRINTED, Problem
from scipy.integrate import solve_ivp

import zwang as zw

TEST_SET = "Mazzia, Magherini: Test Set for IVP Solvers, release 2.4 (2008), Andrews' squeezing mechanism"
IFTOMM = "IFToMM TC for Multibody Dynamics, Library of Computational Benchmark Problems"


def _andrews(until: float) -> zw.results.Motion:
    entry = zw.gallery.get("andrews")
    return zw.simulate(entry.system, entry.state, entry.params, until=until, tol=1e-12)


def _andrews_start() -> list[float]:
    entry = zw.gallery.get("andrews")
    return list(zw.compile(entry.system).accelerations(entry.state, entry.params)[:2])


def _four_bars(count: int, until: float, names: tuple[str, ...]) -> list[float]:
    entry = zw.gallery.n_four_bar(count)
    motion = zw.simulate(entry.system, entry.state, entry.params, until=until, at_singular="straight")
    return [motion.end[name] for name in names]


def _pendulum_period() -> float:
    (phi,), (w,) = zw.coordinates("phi", angles="phi")
    system = zw.System(name="pendulum", kinetic=w**2 / 2, potential=-9.81 * sp.cos(phi))
    motion = zw.simulate(system, {phi: 2.0, w: 0.0}, until=9.0, tol=1e-13, events=[zw.Event(phi, name="down")])
    times = [event.time for event in motion.events]
    return 2 * (times[1] - times[0])


def _exact_period() -> float:
    return float(4 / mpmath.sqrt(9.81) * mpmath.ellipk(mpmath.sin(1) ** 2))


def _cycloid(height: float) -> float:
    """Quarter periods on a cycloid of a = 1/4 from a height: the tautochrone."""
    (u,), (v,) = zw.coordinates(["u"])
    x, y = (u + sp.sin(u)) / 4, (1 - sp.cos(u)) / 4
    speed = (sp.diff(x, u) ** 2 + sp.diff(y, u) ** 2) * v**2
    system = zw.System(name="cycloid", kinetic=speed / 2, potential=9.81 * y)
    stop = zw.Event(u, stop=True, name="bottom")
    return float(zw.simulate(system, {u: height, v: 0.0}, until=3.0, tol=1e-12, events=[stop]).t[-1])


DOUBLE = {"m": 1.0, "l": 1.0, "g": 9.81}


def _double_pendulum() -> zw.System:
    (a, b), (va, vb) = zw.coordinates("a b", angles="a b")
    m, l, g = zw.parameters("m l g")
    kinetic = m * l**2 * (va**2 + vb**2 / 2 + va * vb * sp.cos(a - b))
    return zw.System(name="double pendulum", kinetic=kinetic, potential=-m * g * l * (2 * sp.cos(a) + sp.cos(b)))


def _double_by_scipy() -> list[float]:
    def rate(t: float, y: np.ndarray) -> list[float]:
        a, b, u, v = y
        s, c = math.sin(a - b), math.cos(a - b)
        mass = np.array([[2.0, c], [c, 1.0]])
        force = np.array([-s * v * v - 2 * 9.81 * math.sin(a), s * u * u - 9.81 * math.sin(b)])
        return [u, v, *np.linalg.solve(mass, force)]

    found = solve_ivp(rate, (0, 3), [1.0, 2.0, 0, 0], method="DOP853", rtol=1e-13, atol=1e-13)
    return list(found.y[:2, -1])


def _double_end() -> list[float]:
    start = {"a": 1.0, "b": 2.0, "v_a": 0.0, "v_b": 0.0}
    return list(zw.simulate(_double_pendulum(), start, DOUBLE, until=3.0, tol=1e-13).q[-1])


def _van_der_pol() -> float:
    (x,), (v,) = zw.coordinates(["x"])
    system = zw.System(name="van der Pol", kinetic=v**2 / 2, potential=x**2 / 2, forces={x: (1 - x**2) * v})
    return float(zw.periodic(system, {x: 2.0, v: 0.0}, {}, period=6.6).period)


def _top() -> float:
    """The rate of precession that the steady equation gives, kept by a simulated top over a second."""
    theta, spin, inertia, axial, load = 0.5, 60.0, 0.02, 0.01, 2.0
    roots = np.roots([inertia * math.cos(theta), -axial * spin, load])
    slow = float(roots.real.min())
    (psi, th, ph), (vpsi, vth, vph) = zw.coordinates("psi theta phi")
    kinetic = inertia * (vth**2 + vpsi**2 * sp.sin(th) ** 2) / 2 + axial * (vph + vpsi * sp.cos(th)) ** 2 / 2
    system = zw.System(name="top", kinetic=kinetic, potential=load * sp.cos(th))
    start = {psi: 0, th: theta, ph: 0, vpsi: slow, vth: 0, vph: spin - slow * math.cos(theta)}
    motion = zw.simulate(system, start, until=1.0, tol=1e-12)
    return float(motion.q[-1, 0] / slow - 1 + motion.q[-1, 1] - theta)


def _free_body() -> list[float]:
    """Euler's equations by Jacobi's elliptic functions, for energies on the side of the largest inertia."""
    A, B, C = 1.0, 2.0, 3.0
    start = (0.3, 0.0, 1.2)
    T2, L2 = A * start[0] ** 2 + C * start[2] ** 2, A**2 * start[0] ** 2 + C**2 * start[2] ** 2
    rate = mpmath.sqrt((C - B) * (L2 - A * T2) / (A * B * C))
    k2 = (B - A) * (C * T2 - L2) / ((C - B) * (L2 - A * T2))
    t = mpmath.mpf(4)
    sn, cn, dn = (mpmath.ellipfun(name, rate * t, m=k2) for name in ("sn", "cn", "dn"))
    size = mpmath.sqrt((C * T2 - L2) / (B * (C - B)))
    return [float(start[0] * cn), float(size * sn), float(start[2] * dn)]


def _free_body_ours() -> list[float]:
    stone = zw.Bodies("stone").body("stone", mass=1, inertia=(1, 2, 3)).free("stone")
    system = stone.system()
    start = stone.place("stone", at=(0, 0, 0), velocity=(0, 0, 0), spin=(0.3, 0.0, 1.2))
    motion = zw.simulate(system, start, until=4.0, tol=1e-12)
    spin = np.abs(stone.pose("stone", motion.end, {}).spin)
    return [float(value) for value in spin]


def _governor() -> float:
    entry = zw.gallery.get("flyball_governor")
    turning = {**entry.state, "v_phi": entry.facts["steady_spin"].value}
    return float(np.abs(zw.compile(entry.system).accelerations(turning, entry.params)).max())


def _sleigh_release() -> float:
    entry = zw.gallery.get("sleigh_ahead")
    return float(zw.simulate(entry.system, entry.state, entry.params, until=3.0, tol=1e-12).events[0].time)


def _skate_drop() -> float:
    """A skate on an incline that turns at a constant rate goes along a cycloid: its drift after two turns."""
    entry = zw.gallery.get("sleigh_incline")
    motion = zw.simulate(entry.system, entry.state, entry.params, until=1.0, tol=1e-12)
    return float(np.ptp(motion.energy["total"]))


def _slider_crank() -> list[float]:
    motion = loops.slider_crank_motion(0.5)
    return [float(motion.energy["total"][0]), float(motion.values("x_slider", at=0.5))]


def _swinging_atwood() -> list[float]:
    """A weight that swings against one that hangs: place at t = 4."""
    (r, th), (vr, w) = zw.coordinates("r theta")
    system = zw.System(
        name="swinging Atwood", kinetic=(4 * vr**2 + r**2 * w**2) / 2, potential=9.81 * r * (3 - sp.cos(th))
    )
    return list(zw.simulate(system, {r: 1, th: 1.2, vr: 0, w: 0}, until=4.0, tol=1e-12).q[-1])


def _atwood_by_scipy() -> list[float]:
    def rate(t: float, y: np.ndarray) -> list[float]:
        r, th, u, w = y
        return [u, w, (r * w * w + 9.81 * (math.cos(th) - 3)) / 4, -(2 * u * w + 9.81 * math.sin(th)) / r]

    return list(solve_ivp(rate, (0, 4), [1.0, 1.2, 0, 0], method="DOP853", rtol=1e-13, atol=1e-13).y[:2, -1])


def _chain() -> list[float]:
    """Frequencies of five unequal masses on unequal springs."""
    names = [f"x{k}" for k in range(5)]
    q, v = zw.coordinates(names)
    ends = (0, *q)
    potential = sum((k + 1) * (b - a) ** 2 for k, (a, b) in enumerate(pairwise(ends))) / 2
    system = zw.System(name="chain", kinetic=sum((k + 1) * u**2 for k, u in enumerate(v)) / 2, potential=potential)
    values = zw.linearize(system, dict.fromkeys((*q, *v), 0.0), {}).eigenvalues
    return sorted(float(abs(value)) for value in values)[::2]


def _chain_by_scipy() -> list[float]:
    from scipy.linalg import eigh

    K = np.zeros((5, 5))
    for k in range(5):
        K[k, k] += k + 1
        if k:
            K[k - 1, k - 1] += k + 1
            K[k - 1, k] -= k + 1
            K[k, k - 1] -= k + 1
    return list(np.sqrt(eigh(K, np.diag(np.arange(1.0, 6.0)), eigvals_only=True)))


QUINTIC = (1.0, -0.5, -5.0, 1.5, 4.0, -0.3)


def _rests() -> list[float]:
    (x,), (v,) = zw.coordinates(["x"])
    force = sp.Poly(QUINTIC, x).as_expr()
    system = zw.System(name="quintic", kinetic=v**2 / 2, potential=sp.integrate(force, x))
    return sorted(point.state["x"] for point in zw.equilibria(system, {}, box={"x": (-4, 4)}).points)


def _rests_by_numpy() -> list[float]:
    return sorted(float(root.real) for root in np.roots(QUINTIC) if abs(root.imag) < 1e-9)


PROBLEMS = [
    Problem("swinging Atwood's machine", "SciPy, DOP853 on equations by hand", CODE, "place at t = 4", _atwood_by_scipy,
            1e-8, _swinging_atwood),
    Problem("chain of five masses", "SciPy, eigh", CODE, "frequencies [rad/s]", _chain_by_scipy, 1e-10, _chain),
    Problem("rest in a potential of degree six", "NumPy, roots", CODE, "places", _rests_by_numpy, 1e-10, _rests),
    Problem("Andrews' squeezer at t = 0.03", TEST_SET, PRINTED, "seven angles [rad]",
            lambda: zw.gallery.get("andrews").facts["solution"].value, 1e-9, lambda: _andrews(0.03).q[-1]),
    Problem("Andrews' squeezer at its start", TEST_SET, PRINTED, "two accelerations [rad/s²]",
            (14222.4439199541138705911625887, -10666.8329399655854029433719415), 1e-11, _andrews_start),
    Problem("N-four-bar, N = 2, t = 10, through singular points", f"{IFTOMM}, A02", PRINTED, "B0 and its velocity",
            (0.3284581115408154, 0.944518538178601, 1.423051470206944, -0.494868845487043), 2e-8,
            lambda: _four_bars(2, 10.0, ("x_B0", "y_B0", "v_x_B0", "v_y_B0"))),
    Problem("N-four-bar, N = 40, t = 20", f"{IFTOMM}, A02", PRINTED, "place of B0 [m]",
            (0.4109011537629452, 0.9116799009719807), 1e-7, lambda: _four_bars(40, 20.0, ("x_B0", "y_B0"))),
    Problem("Bricard's mechanism, five rods and six hinges", f"{IFTOMM}, A04; closed form of the loop, quadrature", CODE,
            "period [s]", loops.bricard_period, 1e-11, loops.bricard_quarters),
    Problem("spatial slider-crank", f"{IFTOMM}, solution of Gonzalez; Latussek, Kinon, Betsch 2026", PRINTED,
            "energy [J], slider after 0.5 s [m]", (0.76643568, 0.184952803), 2e-6, _slider_crank),
    Problem("spatial slider-crank by its energy", "quadrature of the time, SciPy", CODE, "slider after 5 s [m]",
            lambda: loops.slider_at(5.0), 1e-10, lambda: loops.slider_crank_motion(5.0).values("x_slider", at=5.0)),
    Problem("van der Pol's cycle, mu = 1", "high-precision computations in print", PRINTED, "period [s]",
            6.6632868593, 1e-10, _van_der_pol),
    Problem("pendulum of amplitude 2 rad", "complete elliptic integral, mpmath", CODE, "period [s]",
            _exact_period, 1e-11, _pendulum_period),
    Problem("double pendulum, chaotic start", "SciPy, DOP853 on equations by hand", CODE, "angles at t = 3 [rad]",
            _double_by_scipy, 1e-9, _double_end),
    Problem("free rigid body", "Jacobi's elliptic functions, mpmath", CODE, "spin in body axes at t = 4 [rad/s], sizes",
            lambda: np.abs(_free_body()), 1e-9, _free_body_ours),
    Problem("heavy top in steady precession", "root of the quadratic of precession", FORMULA, "deviation after 1 s",
            0.0, 1e-9, _top),
    Problem("tautochrone", "Huygens 1673: pi sqrt(a/g) from any height", FORMULA, "times of descent [s]",
            lambda: [math.pi * math.sqrt(0.25 / 9.81)] * 3, 1e-10, lambda: [_cycloid(h) for h in (0.3, 1.2, 2.9)]),
    Problem("flyball governor turning steadily", f"{IFTOMM}, A05; balance of moments", FORMULA, "accelerations",
            0.0, 1e-10, _governor),
    Problem("sleigh whose blade lets go", "closed form of the gallery's source", FORMULA, "instant [s]",
            1.6362043665027, 1e-11, _sleigh_release),
    Problem("skate on an incline", "conservation of energy", FORMULA, "spread of the energy [J]", 0.0, 1e-9, _skate_drop),
]  # fmt: skip
