"""Configuration spaces, rest, limits, proofs: counts in print, closed forms, independent codes."""

from __future__ import annotations

import math

import numpy as np
import sympy as sp
from benchmarks.proving.problem import CODE, FORMULA, PRINTED, Problem
from scipy.integrate import solve_ivp

import zwang as zw

KM = "Kapovich, Millson 1995: moduli of polygons"


def _space(name: str) -> zw.results.ConfigurationSpace:
    entry = zw.gallery.get(name)
    return zw.trace(entry.system, entry.params)


def _rhombus() -> list[int]:
    space = _space("four_bar")
    return [len(space.branches), len(space.curves), len(space.singular_points)]


def _two_rhombi() -> int:
    entry = zw.gallery.n_four_bar(2)
    return len(zw.trace(entry.system, entry.params).branches)


def _slopes() -> list[float]:
    point = _space("ellipse_pendulum").singular_points[0]
    return sorted({round(float(row[1] / row[0]), 14) for row in point.tangents})


def _five_bars(lengths: tuple[float, ...]) -> list[int]:
    """Components and genus of a closed chain of five bars, one of them the ground."""
    ground, *bars = lengths
    a = zw.coordinates("a b c d", angles="a b c d")[0]
    x = sum(l * sp.cos(t) for l, t in zip(bars, a, strict=True)) - ground
    y = sum(l * sp.sin(t) for l, t in zip(bars, a, strict=True))
    kinetic = sum(zw.rate(t) ** 2 for t in a) / 2
    system = zw.System(name="five bars", kinetic=kinetic, constraints=[zw.Bilateral(x), zw.Bilateral(y)])
    space = zw.trace(system, {})
    return [space.components, sum(piece.genus for piece in space.pieces)]


def _legs(count: int) -> int:
    """The genus of the space of a point in the plane that many slack cords hold, each as a half circle of its slack."""
    names = [f"u{k}" for k in range(count)]
    q = zw.coordinates(["x", "y", *names])[0]
    x, y, slack = q[0], q[1], q[2:]
    at = [(math.cos(2 * math.pi * k / count), math.sin(2 * math.pi * k / count)) for k in range(count)]
    rows = [zw.Bilateral((x - a) ** 2 + (y - b) ** 2 + u**2 - 2.0) for (a, b), u in zip(at, slack, strict=True)]
    system = zw.System(name="legs", kinetic=sum(zw.rate(item) ** 2 for item in q) / 2, constraints=rows)
    return int(sum(piece.genus for piece in zw.trace(system, {}).pieces))


def _viviani() -> list[float]:
    (x, y, z), v = zw.coordinates("x y z")
    rows = [zw.Bilateral(x**2 + y**2 + z**2 - 4), zw.Bilateral((x - 1) ** 2 + y**2 - 1)]
    space = zw.trace(zw.System(name="window", kinetic=sum(u**2 for u in v) / 2, constraints=rows), {})
    length = sum(arc.length for arc in space.branches)
    return [float(len(space.singular_points)), length]


def _viviani_length() -> list[float]:
    import mpmath

    return [1.0, float(8 * mpmath.sqrt(2) * mpmath.ellipe(0.5))]


def _cell(angle: float) -> dict[str, float]:
    """Places of Peaucellier's cell with arms of 3, a rhombus of 3/2, and its crank of 1 at an angle."""
    p = np.array([1 + math.cos(angle), math.sin(angle)])
    size = float(np.linalg.norm(p))
    along, far = p / size, (9 - 2.25) / size  # |OP| |OC| = 3^2 - (3/2)^2
    middle = (size + far) / 2
    across = math.sqrt(9 - middle**2) * np.array([-along[1], along[0]])
    places = {"P": p, "B": middle * along + across, "D": middle * along - across, "C": far * along}
    return {f"{axis}_{name}": float(place[k]) for name, place in places.items() for k, axis in enumerate("xy")}


def _peaucellier() -> float:
    """How far the pencil of Peaucellier's cell is from its line, over a stretch of its motion."""
    cell = zw.Linkage("cell").ground("O", 0, 0).ground("Q", 1, 0).points("P B D C", mass=1).bar("Q", "P", 1)
    for a, b, l in (("O", "B", 3), ("O", "D", 3), *((x, y, 1.5) for x in "BD" for y in "PC")):
        cell = cell.bar(a, b, l)
    system, h = cell.system(), 1e-6
    here, before, after = _cell(0.4), _cell(0.4 - h), _cell(0.4 + h)
    rates = {f"v_{name}": (after[name] - before[name]) / (2 * h) for name in here}
    start = zw.compile(system).project({**here, **rates}, {})
    motion = zw.simulate(system, start, until=0.5, tol=1e-12)
    return float(np.ptp(motion.q[:, motion.coordinates.index("x_C")]))


def _jansen() -> int:
    pivots = {"O": (0, 0), "P": (-38, -7.8)}
    bars = {"OM": 15, "MJ": 50, "PJ": 41.5, "MK": 61.9, "PK": 39.3, "JE": 55.8, "PE": 40.1, "EF": 39.4, "KF": 36.7,
            "FH": 65.7, "KH": 49}  # fmt: skip
    leg = zw.Linkage("Jansen")
    for name, place in pivots.items():
        leg = leg.ground(name, *place)
    leg = leg.points("M J K E F H", mass=1)
    for pair, length in bars.items():
        leg = leg.bar(pair[0], pair[1], length)
    return int(zw.trace(leg.system(), budget=100).components)


def _critical() -> float:
    entry = zw.gallery.get("ellipse_pendulum")
    return float(zw.critical(entry.system, entry.params, vary="a", within=(-0.8, -0.2))[0].value)


def _coupler() -> float:
    entry = zw.gallery.get("four_bar_parallelogram")
    point = _space("four_bar_parallelogram").singular_points[0]
    rows = zw.asymptotics(entry.system, entry.params, at=point).rows
    return float(min(row.exponent for row in rows))


def _truss() -> float:
    """The load at which two bars of a shallow arch snap through: springs of stiffness 1, half width 1, rise 1/2."""
    (y,), (v,) = zw.coordinates(["y"])
    P = zw.parameters("P")
    length = math.sqrt(1.25)
    energy = (sp.sqrt(1 + y**2) - length) ** 2 + P * y
    system = zw.System(name="arch", kinetic=v**2 / 2, potential=energy)
    found = zw.equilibria(system, {"P": 0.0}, box={"y": (-1.5, 1.5)}, vary="P", within=(-0.05, 0.2))
    return float(max(abs(point.value) for point in found.folds))


def _truss_exact() -> float:
    length = math.sqrt(1.25)
    c = length ** (1 / 3)  # the force has its extreme where cos^3 of the angle is 1/length
    y = math.sqrt(c**2 - 1)
    return 2 * y * (length / c - 1)


def _bead() -> float:
    (ph,), (w,) = zw.coordinates("phi", angles="phi")
    system = zw.System(
        name="hoop", kinetic=w**2 / 2, potential=-9.81 * sp.cos(ph) - 25 * sp.sin(ph) ** 2 / 2
    )  # hoop of 1 m that turns with 5 rad/s, seen from it
    found = zw.equilibria(system, {})
    return float(max(math.cos(point.state["phi"]) for point in found.points if abs(math.sin(point.state["phi"])) > 0.1))


def _frequencies() -> list[float]:
    (a, b), (va, vb) = zw.coordinates("a b", angles="a b")
    kinetic = va**2 + vb**2 / 2 + va * vb * sp.cos(a - b)
    system = zw.System(name="double pendulum", kinetic=kinetic, potential=-9.81 * (2 * sp.cos(a) + sp.cos(b)))
    found = zw.linearize(system, {a: 0, b: 0, va: 0, vb: 0}, {})
    return sorted({round(abs(float(value.imag)), 12) for value in found.eigenvalues})


def _ladder_angle() -> float:
    """The least angle at which a rod with the friction 0.4 at floor and wall can stand, by bisection over reactions."""
    (x, y, th), (vx, vy, w) = zw.coordinates("x y theta", angles="theta")
    floor, wall = y - sp.sin(th), x - sp.cos(th)
    rod = zw.System(
        name="rod", kinetic=(vx**2 + vy**2) / 2 + w**2 / 6, potential=9.81 * y,
        constraints=[
            zw.Unilateral(floor, friction=zw.Coulomb(0.4, slip=vx - sp.sin(th) * w), name="floor"),
            zw.Unilateral(wall, friction=zw.Coulomb(0.4, slip=vy + sp.cos(th) * w), name="wall"),
        ],
    )  # fmt: skip

    def holds(angle: float) -> bool:
        state = {x: math.cos(angle), y: math.sin(angle), th: angle, vx: 0, vy: 0, w: 0}
        return any(np.abs(item.acceleration).max() < 1e-9 for item in zw.reactions(rod, state).solutions)

    low, high = 0.3, 1.4
    for _ in range(36):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _spring_pendulum() -> list[float]:
    """A rod that is a stiff spring: realized here, and by SciPy's Radau."""
    (x, y), (vx, vy) = zw.coordinates("x y")
    rod = zw.System(
        name="rod", kinetic=(vx**2 + vy**2) / 2, potential=9.81 * y,
        constraints=[zw.Bilateral(sp.sqrt(x**2 + y**2) - 1, name="rod")],
    )  # fmt: skip
    soft = zw.realize(rod, "rod", by=zw.Stiffness(1e4))
    return list(zw.simulate(soft, {x: 1, y: 0, vx: 0, vy: 0}, until=1.0, tol=1e-12).q[-1])


def _spring_by_scipy() -> list[float]:
    def rate(t: float, s: np.ndarray) -> list[float]:
        x, y, u, v = s
        r = math.hypot(x, y)
        pull = -1e4 * (r - 1) / r
        return [u, v, pull * x, pull * y - 9.81]

    return list(solve_ivp(rate, (0, 1), [1.0, 0, 0, 0], method="Radau", rtol=1e-12, atol=1e-13).y[:2, -1])


def _order() -> float:
    entry = zw.gallery.get("circle_particle")
    study = zw.limit(
        entry.system, entry.system.constraints.names[0], entry.state, entry.params, by=zw.Stiffness, until=0.5
    )
    return float(study.orders["position"].value)


def _sensitivity() -> float:
    entry = zw.gallery.get("bouncing_ball")
    found = zw.sensitivity(entry.system, entry.state, entry.params, until=0.6, wrt=("y",), of=("events",))
    return float(np.ravel(found.derivative["events"]["y"])[0])


def _damped() -> list[float]:
    (x,), (v,) = zw.coordinates(["x"])
    system = zw.System(name="damped", kinetic=v**2 / 2, potential=2 * x**2, forces={x: -0.3 * v + sp.cos(zw.t)})
    return sorted(float(value) for value in zw.lyapunov(system, {x: 1, v: 0}, {}, until=1000.0).exponents)


def _torque() -> list[float]:
    (ph,), (w,) = zw.coordinates("phi", angles="phi")
    u = zw.inputs("u")
    arm = zw.System(name="arm", kinetic=w**2, potential=-9.81 * sp.cos(ph), forces={ph: u})
    return list(zw.drive(arm, {"phi": zw.t**2}, {}, times=[0.0, 0.5, 1.0]).inputs["u"])


def _proved() -> float:
    rod = zw.gallery.get("painleve_rod")
    box = {"x": (-1, 1), "y": (0, 2), "theta": (0.1, 1.5), "mu": (0, 4 / 3 - 1e-6)}
    params = {name: value for name, value in rod.params.items() if name != "mu"}
    return float(zw.guarantee("unique acceleration", rod.system, box, params).status.name == "PROVED")


def _lagrange() -> list[float]:
    """Accelerations of a spherical pendulum by SymPy's own mechanics."""
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

    th, ph = dynamicsymbols("th ph")
    t = dynamicsymbols._t
    lagrangian = (th.diff(t) ** 2 + sp.sin(th) ** 2 * ph.diff(t) ** 2) / 2 + 9.81 * sp.cos(th)
    method = LagrangesMethod(lagrangian, [th, ph])
    method.form_lagranges_equations()
    values = {th.diff(t): 0.4, ph.diff(t): 1.3, th: 0.7, ph: 0.2}
    return [float(row.subs(values)) for row in method.rhs()[2:]]


def _spherical() -> list[float]:
    (th, ph), (vth, vph) = zw.coordinates("th ph")
    system = zw.System(name="spherical", kinetic=(vth**2 + sp.sin(th) ** 2 * vph**2) / 2, potential=-9.81 * sp.cos(th))
    return list(zw.compile(system).accelerations({th: 0.7, ph: 0.2, vth: 0.4, vph: 1.3}, {}))


PROBLEMS = [
    Problem("rhombus of bars", "three circles that meet pairwise", FORMULA, "arcs, curves, crossings", (6, 3, 3), 0,
            _rhombus),
    Problem("two rhombi in a row", "six circles, twelve arcs", FORMULA, "arcs", 12, 0, _two_rhombi),
    Problem("pendulum on an ellipse at its crossing", "tangent cone after Burian 2017: (4 ± sqrt(6))/5", FORMULA, "slopes",
            ((4 - math.sqrt(6)) / 5, (4 + math.sqrt(6)) / 5), 1e-9, _slopes),
    Problem("five equal bars", KM, PRINTED, "components, genus", (1, 4), 0, lambda: _five_bars((1, 1, 1, 1, 1))),
    Problem("five bars 1.2 1.2 1 1 0.1", KM + "; short sets", PRINTED, "components, genus", (1, 3), 0,
            lambda: _five_bars((1.2, 1.2, 1.0, 1.0, 0.1))),
    Problem("a point on five cords", "genus 1 + 2^(n-3) (n-4)", FORMULA, "genus", 5, 0, lambda: _legs(5)),
    Problem("Viviani's window", "8 sqrt(2) E(1/2), mpmath", CODE, "nodes, length", _viviani_length, 1e-9, _viviani),
    Problem("Peaucellier's cell", "its pencil draws a line", FORMULA, "deviation [m]", 0.0, 1e-10, _peaucellier),
    Problem("Jansen's leg", "all assemblies over a turn of the crank", PRINTED, "components", 24, 0, _jansen),
    Problem("critical length of the ellipse pendulum", "vertex within reach", FORMULA, "value", -0.5, 1e-9, _critical),
    Problem("coupler of a parallelogram near its change point", "series at the crossing", FORMULA, "exponent", -1.0, 1e-9,
            _coupler),
    Problem("shallow arch snaps through", "von Mises 1923", FORMULA, "load [N]", _truss_exact, 1e-8, _truss),
    Problem("bead on a turning hoop", "g/(r w²)", FORMULA, "cosine of the angle", 9.81 / 25, 1e-10, _bead),
    Problem("double pendulum, small swings", "g/l (2 ± sqrt 2)", FORMULA, "frequencies [rad/s]",
            lambda: [math.sqrt(9.81 * (2 - math.sqrt(2))), math.sqrt(9.81 * (2 + math.sqrt(2)))], 1e-11, _frequencies),
    Problem("rough ladder can stand", "tan = (1 - mu²)/(2 mu)", FORMULA, "angle [rad]",
            lambda: math.atan((1 - 0.16) / 0.8), 1e-8, _ladder_angle),
    Problem("rod as a stiff spring", "SciPy, Radau", CODE, "place at t = 1 [m]", _spring_by_scipy, 1e-8, _spring_pendulum),
    Problem("stiff circle tends to the ideal one", "Rubin, Ungar 1957: like 1/stiffness", FORMULA, "order", -1.0, 0.03,
            _order),
    Problem("instant of an impact over the height", "1/sqrt(2 g h)", FORMULA, "derivative [s/m]",
            lambda: 1 / math.sqrt(2 * 9.81), 1e-9, _sensitivity),
    Problem("driven damped oscillator", "minus half the damping, twice", FORMULA, "Lyapunov exponents [1/s]", (-0.15, -0.15),
            0.03, _damped),
    Problem("torque for phi = t²", "m l² phi'' + m g l sin(phi)", FORMULA, "torque [N m]",
            lambda: [4.0, 4 + 9.81 * math.sin(0.25), 4 + 9.81 * math.sin(1)], 1e-11, _torque),
    Problem("Painlevé's rod below mu = 4/3", "4/3 is the least", FORMULA, "proved", 1.0, 0, _proved),
    Problem("spherical pendulum", "SymPy, LagrangesMethod", CODE, "accelerations [rad/s²]", _lagrange, 1e-12, _spherical),
]  # fmt: skip
