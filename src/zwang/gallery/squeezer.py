"""Andrews' squeezing mechanism: seven bodies driven by a motor, closed in three loops, in seven angles.

The bodies are declared by the places of their centres of mass, from which the published mass matrix follows. The
published multipliers belong to M q'' = f - G^T lam and are minus ours.
"""

from __future__ import annotations

import sympy as sp

from zwang._declare.constraints import Bilateral
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates, parameters, rate
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, at_rest, named

NAMES = "beta Theta gamma Phi delta Omega epsilon"
SOURCE = (
    "Andrews' squeezing mechanism: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section VII.7; "
    "test set for initial value problem solvers"
)
PARAMS = {
    **named("m1 m2 m3 m4 m5 m6 m7", 0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498),
    **named("I1 I2 I3 I4 I5 I6 I7", 2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5),
    **named("xa ya xb yb xc yc", -0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072),
    **named("c0 l0 mom d da e ea", 4530, 0.07785, 0.033, 0.028, 0.0115, 0.02, 0.01421),
    **named("rr ra ss sa sb sc sd", 0.007, 0.00092, 0.035, 0.01874, 0.01043, 0.018, 0.02),
    **named("ta tb u ua ub zf zt fa", 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421),
}


def _along(angle: sp.Expr) -> sp.Matrix:
    return sp.Matrix([sp.cos(angle), sp.sin(angle)])


def _across(angle: sp.Expr) -> sp.Matrix:
    """Return the unit vector a quarter turn clockwise from `_along`."""
    return sp.Matrix([sp.sin(angle), -sp.cos(angle)])


def _points() -> dict[str, sp.Matrix]:
    """Return the joints: O, where the motor is, F, E (four bodies meet there), A, B, and H, G, D on the way."""
    (beta, Theta, gamma, _, delta, _, epsilon), _ = coordinates(NAMES, angles=True)
    xa, ya, xb, yb, xc, yc = parameters("xa ya xb yb xc yc")
    d, rr, sc, sd, u, zt = parameters("d rr sc sd u zt")
    A, B = sp.Matrix([xa, ya]), sp.Matrix([xb, yb])
    F = rr * _along(beta)
    return {
        "O": sp.zeros(2, 1),
        "F": F,
        "E": F - d * _along(beta + Theta),
        "A": A,
        "B": B,
        "C": sp.Matrix([xc, yc]),
        "D": B + sd * _along(gamma) + sc * _across(gamma),
        "H": A + zt * _along(delta),
        "G": A + u * _across(epsilon),
    }


def _centres() -> list[tuple[sp.Matrix, sp.Expr]]:
    """Return the centre of mass and the absolute angle of each body."""
    (beta, Theta, gamma, Phi, delta, Omega, epsilon), _ = coordinates(NAMES, angles=True)
    da, e, ea, ra, sa, sb = parameters("da e ea ra sa sb")
    ta, tb, ua, ub, zf, fa = parameters("ta tb ua ub zf fa")
    p = _points()
    # Where a body turns about a fixed point, only the distance of its centre matters.
    return [
        (ra * _along(beta), beta),
        (p["F"] - da * _along(beta + Theta), beta + Theta),
        (p["B"] + sa * _across(gamma) + sb * _along(gamma), gamma),
        (p["H"] + (e - ea) * _across(Phi + delta), Phi + delta),
        (p["A"] + ta * _along(delta) + tb * _across(delta), delta),
        (p["G"] + (zf - fa) * _along(Omega + epsilon), Omega + epsilon),
        (p["A"] + ua * _across(epsilon) + ub * _along(epsilon), epsilon),
    ]


def _declare() -> System:
    q, _ = coordinates(NAMES, angles=True)
    beta, _, gamma, Phi, delta, Omega, epsilon = q
    m, I = (parameters([f"{letter}{i}" for i in range(1, 8)]) for letter in ("m", "I"))
    c0, l0, mom, e, ss, zf = parameters("c0 l0 mom e ss zf")
    kinetic = []
    for mass, inertia, (centre, angle) in zip(m, I, _centres(), strict=True):
        velocity = rate(centre)
        kinetic.append(mass * (velocity[0] ** 2 + velocity[1] ** 2) / 2 + inertia * rate(angle) ** 2 / 2)
    p = _points()
    stretch = p["D"] - p["C"]
    # Three bodies reach E: by the link from B, by H and by G.
    ends = {
        "B": p["B"] + ss * _across(gamma),
        "H": p["H"] + e * _across(Phi + delta),
        "G": p["G"] + zf * _along(Omega + epsilon),
    }
    return System(
        name="andrews",
        kinetic=sp.Add(*kinetic),
        potential=c0 * (sp.sqrt(stretch[0] ** 2 + stretch[1] ** 2) - l0) ** 2 / 2,
        forces={beta: mom},
        constraints=[
            Bilateral(p["E"][i] - end[i], name=f"loop {name} {axis}")
            for name, end in ends.items()
            for i, axis in enumerate("xy")
        ],
        coordinates=q,
        drawing=_draw(),
    )


def _draw() -> Drawing:
    points = {name: (place[0], place[1]) for name, place in _points().items()}
    bars = [("O", "F"), ("F", "E"), ("A", "H"), ("H", "E"), ("A", "G"), ("G", "E")]
    ground = ["O", "A", "B", "C"]
    return Drawing(points, bars=bars, bodies={"BDE": ["B", "D", "E"]}, springs=[("C", "D")], ground=ground)


def andrews() -> Entry:
    """Return the mechanism at rest at its published start."""
    facts = {
        "accelerations": Fact(
            (14222.4439199541138705911625887, -10666.8329399655854029433719415, 0.0, 0.0, 0.0, 0.0, 0.0),
            "Accelerations at the start, published [rad/s^2].",
            SOURCE,
        ),
        "multipliers": Fact(
            (-98.5668703962410896057654982170, 6.12268834425566265503114393122, 0.0, 0.0, 0.0, 0.0),
            "Multipliers at the start, published with the other sign [N].",
            SOURCE,
        ),
        "solution": Fact(
            (
                *(15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948),
                *(0.5244099658805304, 0.5347301163226948, 1.048080741042263),
            ),
            "The angles at t = 0.03, published [rad].",
            SOURCE,
        ),
        "multipliers_at_end": Fact(
            (
                *(-199.1753333731910, 29.75531228015052, -23.06654119098399),
                *(-31.45271365475927, -22.64249232082739, -11.61740700019673),
            ),
            "Multipliers at t = 0.03, published with the other sign [N].",
            SOURCE,
        ),
    }
    start = (
        *(-0.0617138900142764496358948458001, 0.0, 0.455279819163070380255912382449),
        *(0.222668390165885884674473185609, 0.487364979543842550225598953530),
        *(-0.222668390165885884674473185609, 1.23054744454982119249735015568),
    )
    return Entry(
        name="andrews",
        title="Andrews' squeezing mechanism",
        build=_declare,
        params=PARAMS,
        state=at_rest(**dict(zip(NAMES.split(), start, strict=True))),
        facts=facts,
        source=SOURCE,
    )
