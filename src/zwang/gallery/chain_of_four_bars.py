"""A chain of N four-bar loops: N + 1 equal cranks side by side, joined by N couplers of the same length.

All cranks stay parallel, so the chain is a pendulum of inertia (N + 1)/3 + N and moment (N + 1)/2 + N: with
kappa = g ((N + 1)/2 + N)/((N + 1)/3 + N) the angle eta from the top obeys eta'' = kappa sin(eta), for unit bars. Each
time the bars lie on one line, eta = +-90 degrees, the chain passes a singular point of its configuration space.
Started at the top with eta' = w, Jacobi's functions of modulus m = 4 kappa/(w^2 + 4 kappa) give
cos(eta/2) = cd(u), sin(eta/2) = sqrt(1 - m) sd(u) with u = t sqrt(w^2 + 4 kappa)/2.
"""

from __future__ import annotations

import math

from zwang._declare.symbols import parameters
from zwang._linkage.builder import Linkage
from zwang.gallery.entry import Entry, Fact, moving

SOURCE = (
    "N-four-bar mechanism of the library of computational benchmark problems for multibody dynamics; "
    "closed form of the parallel motion"
)


def linkage(n: int) -> Linkage:
    """Return the mechanism: pivots A0 ... An on the x axis, cranks A_i B_i, couplers B_i B_(i+1), uniform bars."""
    l, m, g = parameters("l m g")
    chain = Linkage("n_four_bar", gravity=(0, -g))
    for i in range(n + 1):
        chain.ground(f"A{i}", i * l, 0)
    chain.points([f"B{i}" for i in range(n + 1)])
    for i in range(n + 1):
        chain.bar(f"A{i}", f"B{i}", l, mass=m, name=f"crank{i}")
    for i in range(n):
        chain.bar(f"B{i}", f"B{i + 1}", l, mass=m, name=f"coupler{i}")
    return chain


def n_four_bar(n: int = 2) -> Entry:
    """Return the chain with its cranks upright and the couplers moving with 1 m/s along x."""
    g, speed = 9.81, 1.0
    places = {f"{axis}_B{i}": float(value) for i in range(n + 1) for axis, value in (("x", i), ("y", 1))}
    kappa = g * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    return Entry(
        name="n_four_bar",
        title=f"chain of {n} four-bar loops",
        build=lambda: linkage(n).system(),
        params={"l": 1.0, "m": 1.0, "g": g},
        state=moving(places, {f"x_B{i}": speed for i in range(n + 1)}),
        facts={
            "first_singular_instant": Fact(
                _time_to_the_side(kappa, speed), "When the bars first lie on one line [s].", SOURCE
            ),
            "place_at_10": Fact(
                _top(kappa, speed, 10.0), "x and y of B0 at t = 10, the cranks staying parallel [m].", SOURCE
            ),
            "kappa": Fact(kappa, "The angle from the top obeys eta'' = kappa sin(eta) [1/s^2].", SOURCE),
        },
        source=SOURCE,
    )


def _modulus(kappa: float, speed: float) -> tuple[float, float]:
    """Return the rate of u and Jacobi's parameter m."""
    fastest = speed**2 + 4 * kappa
    return math.sqrt(fastest) / 2, 4 * kappa / fastest


def _time_to_the_side(kappa: float, speed: float) -> float:
    """Return when eta = 90 degrees: tan(eta/2) = sqrt(1 - m) sn(u)/cn(u) = 1."""
    from mpmath import atan, ellipf, sqrt

    rate, m = _modulus(kappa, speed)
    return float(ellipf(atan(1 / sqrt(1 - m)), m) / rate)


def _top(kappa: float, speed: float, time: float) -> tuple[float, float]:
    from mpmath import ellipfun

    rate, m = _modulus(kappa, speed)
    sine = math.sqrt(1 - m) * float(ellipfun("sd", u=rate * time, m=m))
    cosine = float(ellipfun("cd", u=rate * time, m=m))
    return 2 * sine * cosine, cosine**2 - sine**2
