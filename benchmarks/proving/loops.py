"""Two loops in space that others have published motions of, and how they move by closed forms that share nothing.

**Bricard's mechanism** (problem A04 of the library of benchmark problems of González, Dopico, Lugrís and Cuadrado, now
IFToMM's): five rods of 1 m and 1 kg along edges of a cube and six hinges, each across its two rods; gravity is along -y
and it starts at rest. Six hinges and six equations leave no freedom by counting, and one in fact. The section of the
rods, a square of 0.1 m, is told by MBSbenchmarksInOpenSim (Tagliapietra, Vivian, Ceseracciu, Reggiani 2015) and by
EXUDYN. With a for the turns of the odd hinges from the cube and b for the even ones the loop is closed by

    (1 + sin a) (1 + sin b) = 1.

**The spatial slider-crank** (proposed to IFToMM's library by Masoudi, after Haug 1989): a crank of 0.08 m about an axis
along x, a ball joint, a rod of 0.3 m, a universal joint whose first axis is along x too, a slider along x. It starts
with the crank upright, at 6 rad/s. The rod's inertia along its axis is a tenth of that across: so in MBDyn, in EXUDYN,
in the solution of González in the library and in that of Latussek, Kinon and Betsch (2026). In Masoudi's solution the
small moment is the one about the third axis, across the rod and the universal joint's second axis: `MASOUDI`.

One freedom each, so that the time follows from the energy: dt = sqrt(M/(2 (E - V))) ds with M the inertia along the way.
Rates along the way are imaginary parts at s + i h, which lose nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

import zwang as zw

G = 9.81
STEP = 1e-40  # of the imaginary parts: what it makes of second order is no number any more

# --- Bricard's mechanism ---------------------------------------------------------------------------------------------
SIDE = 0.1
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)
HINGES = "yzxyzx"
P3 = 2
PERIOD = 4.99171151368872387
"""The quadrature below with 40 digits [s]."""
P3_AT = {
    1.0: (0.27448131926462304, -0.88670793873467202, -0.46233000268737604),
    2.0: (-0.77813537303329089, -0.98035268344325656, -0.19725267061717062),
    5.0: (0.99993274230211708, -0.99999999773835316, -6.7255436083961458e-5),
    10.0: (0.99973098730383535, -0.99999996382581727, -2.689765122493046e-4),
}
"""Where the corner P3 is, by inverting it with 40 digits [s, m]."""


def bricard() -> zw.Bodies:
    """Return the five rods with the loop closed at the last hinge; all coordinates are zero at the start."""
    axes = dict(zip("xyz", np.eye(3), strict=True))
    across, along = (1 + SIDE**2) / 12, SIDE**2 / 6
    made = zw.Bodies("bricard", gravity=(0, -G, 0))
    for k in range(5):
        way = np.abs(CORNERS[k + 1] - CORNERS[k])
        inertia = tuple(across + (along - across) * way)
        made.body(f"rod{k + 1}", mass=1, inertia=inertia, at=(CORNERS[k] + CORNERS[k + 1]) / 2)
    for k in range(5):
        first = "ground" if k == 0 else f"rod{k}"
        made.revolute(f"j{k + 1}", first, f"rod{k + 1}", at=CORNERS[k], axis=axes[HINGES[k]])
    return made.close("revolute", "j6", "rod5", "ground", at=CORNERS[5], axis=axes[HINGES[5]]).point(
        "P3", on="rod2", at=(0, -0.5, 0)
    )


def turned(letter: str, c: Any, s: Any) -> Any:
    """Return the rotation about an axis by its cosine and sine."""
    i = "xyz".index(letter)
    found = np.zeros((3, 3), dtype=complex)
    j, k = (i + 1) % 3, (i + 2) % 3
    found[i, i], found[j, j], found[k, k], found[j, k], found[k, j] = 1, c, c, -s, s
    return found


def bricard_poses(a: complex) -> tuple[list[Any], list[Any]]:
    """Return the corners and the axes of the rods where the odd hinges are turned by a."""
    sine = -np.sin(a) / (1 + np.sin(a))
    pairs = [(np.cos(a), np.sin(a)), (np.sqrt(1 - sine**2), sine)]
    corners, frames = [np.zeros(3, dtype=complex)], [np.eye(3, dtype=complex)]
    for k in range(5):
        frames.append(frames[-1] @ turned(HINGES[k], *pairs[k % 2]))
        corners.append(corners[-1] + frames[-1] @ (CORNERS[k + 1] - CORNERS[k]))
    return corners, frames[1:]


def bricard_way(a: float) -> tuple[float, float]:
    """Return the inertia along a, and the potential energy."""
    corners, frames = bricard_poses(a + 1j * STEP)
    inertia = height = 0.0
    for k in range(5):
        u, v = (corners[k + i].imag / STEP for i in (0, 1))
        inertia += float(u @ u + u @ v + v @ v) / 3 + SIDE**2 / 12 * float((v - u) @ (v - u))
        spin = frames[k].real.T @ frames[k].imag / STEP
        own = np.array([spin[2, 1], spin[0, 2], spin[1, 0]]) @ (CORNERS[k + 1] - CORNERS[k])
        inertia += SIDE**2 / 6 * own**2
        height += float(corners[k].real[1] + corners[k + 1].real[1]) / 2
    return inertia, G * height


def bricard_period() -> float:
    """Return the period: twice the way from the cube to its mirror image, a = pi sin(u/2)^2, both at rest."""
    start = bricard_way(0.0)[1]

    def slowness(u: float) -> float:
        inertia, potential = bricard_way(np.pi * np.sin(u / 2) ** 2)
        return float(np.sqrt(inertia / (2 * (start - potential))) * np.pi * np.sin(u) / 2)

    # Both halves alike; the ends are left to the rule, whose nodes keep off them.
    return 4 * float(quad(slowness, 0, np.pi / 2, epsabs=1e-13, epsrel=1e-13)[0])


# --- the spatial slider-crank ----------------------------------------------------------------------------------------
CRANK, ROD, PIVOT, SPEED = 0.08, 0.3, np.array([0.0, 0.1, 0.12]), 6.0
MASSES = {"crank": 0.12, "rod": 0.5, "slider": 2.0}
LIBRARY, MASOUDI = (4e-4, 4e-3, 4e-3), (4e-3, 4e-3, 4e-4)
"""Moments of the rod along itself, along the second axis of the universal joint, along the third."""
ENERGY = 0.76643568
"""At the start, heights from the slider's axis [J]: printed by Latussek, Kinon and Betsch; the closed form is exact."""
SLIDER_AT = {1.0: 0.211721661393443778, 5.0: 0.240719573729615316}
"""Where the slider is, by inverting the quadrature with 25 digits [s, m]."""
SLIDER_AT_MASOUDI = {5.0: 0.261002006411655521}


def tip(angle: Any) -> Any:
    """Return the end of the crank."""
    return PIVOT + CRANK * np.array([0 * angle, -np.sin(angle), np.cos(angle)])


def crosshead(angle: Any) -> Any:
    """Return the place of the slider."""
    _, y, z = tip(angle)
    return np.array([np.sqrt(ROD**2 - y**2 - z**2), 0 * angle, 0 * angle])


def rod_axes(angle: Any) -> Any:
    """Return as columns: along the rod; the second axis of the universal joint, across the rod and x; the third."""
    along = (tip(angle) - crosshead(angle)) / ROD
    second = np.cross([1, 0, 0], along)
    second = second / np.sqrt((second * second).sum())
    return np.stack([along, second, np.cross(along, second)], axis=1)


def slider_crank(rod: tuple[float, float, float] = LIBRARY) -> zw.Bodies:
    """Return the three bodies with the loop closed at the universal joint."""
    made, frame = zw.Bodies("slider crank", gravity=(0, 0, -G)), rod_axes(0.0)
    made.body("crank", mass=MASSES["crank"], inertia=(1e-4, 1e-4, 1e-5), at=(PIVOT + tip(0.0)) / 2)
    made.body("rod", mass=MASSES["rod"], inertia=rod, at=(tip(0.0) + crosshead(0.0)) / 2, turned=frame)
    made.body("slider", mass=MASSES["slider"], inertia=(1e-4, 1e-4, 1e-4), at=crosshead(0.0))
    made.revolute("turn", "ground", "crank", at=PIVOT, axis=(1, 0, 0))
    made.spherical("ball", "crank", "rod", at=tip(0.0))
    made.prismatic("slide", "ground", "slider", at=crosshead(0.0), axis=(1, 0, 0))
    return made.close("universal", "cross", "slider", "rod", at=crosshead(0.0), axes=((1, 0, 0), frame[:, 1]))


def slider_crank_start(made: zw.Bodies, coordinates: str) -> dict[str, float]:
    """Return the state at 6 rad/s: the rod's middle then has (0.12, -0.24, 0) m/s and it turns at (1.92, -0.96, 0.48).

    These are the values of EXUDYN's model; rates of the coordinates follow.
    """
    spin = np.array([1.92, -0.96, 0.48])
    if coordinates == "joint":
        system = made.system()
        state = {item.name: 0.0 for item in (*system.coordinates, *system.velocities)}
        turning = spin - [SPEED, 0, 0]  # of the rod against the crank
        state |= {f"v_e{k + 1}_ball": float(turning[k]) / 2 for k in range(3)}
        return state | {"e0_ball": 1.0, "v_turn": SPEED, "v_slide": 0.24}
    crank = made.place("crank", velocity=(0, -SPEED * CRANK / 2, 0), spin=(SPEED, 0, 0))
    rod = made.place("rod", velocity=(0.12, -0.24, 0), spin=rod_axes(0.0).T @ spin)
    return crank | rod | made.place("slider", velocity=(0.24, 0, 0))


def slider_crank_way(rod: tuple[float, float, float]) -> Callable[[float], tuple[float, float]]:
    """Return a function of the crank's angle: the inertia along it, and the potential energy."""

    def way(angle: float) -> tuple[float, float]:
        z = angle + 1j * STEP
        middle, slide = ((tip(z) + crosshead(z)).imag / 2 / STEP, crosshead(z).imag / STEP)
        turning = rod_axes(angle).T @ rod_axes(z).imag / STEP
        spin = np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
        inertia = 1e-4 + MASSES["crank"] * (CRANK / 2) ** 2 + MASSES["rod"] * float(middle @ middle)
        inertia += MASSES["slider"] * float(slide @ slide) + float(spin @ (np.array(rod) * spin))
        height = MASSES["crank"] * (PIVOT + tip(angle))[2] / 2 + MASSES["rod"] * tip(angle)[2] / 2
        return inertia, G * float(height)

    return way


def slider_crank_time(angle: float, rod: tuple[float, float, float] = LIBRARY) -> float:
    """Return when the crank has turned by an angle, from its start at 6 rad/s."""
    way = slider_crank_way(rod)
    inertia, potential = way(0.0)
    energy = inertia * SPEED**2 / 2 + potential

    def slowness(s: float) -> float:
        inertia, potential = way(s)
        return float(np.sqrt(inertia / (2 * (energy - potential))))

    edges = np.linspace(0.0, angle, 2 + int(abs(angle)))
    return sum(quad(slowness, a, b, epsabs=1e-14, epsrel=1e-13)[0] for a, b in pairwise(edges))


def slider_at(time: float, rod: tuple[float, float, float] = LIBRARY) -> float:
    """Return where the slider is at an instant, by inverting `slider_crank_time`."""
    angle = brentq(lambda s: slider_crank_time(s, rod) - time, 0.0, 15 * time, xtol=1e-12)
    return float(crosshead(angle)[0])


# --- what the proving ground asks ------------------------------------------------------------------------------------


def bricard_motion(until: float, coordinates: str = "joint") -> zw.results.Motion:
    """Return the motion from the cube, at rest."""
    made = bricard()
    system = made.system(coordinates=coordinates)
    state = {item.name: 0.0 for item in (*system.coordinates, *system.velocities)}
    if coordinates == "cartesian":
        for k in range(5):
            state |= made.place(f"rod{k + 1}")
    return zw.simulate(system, state, until=until, tol=1e-12)


def bricard_quarters() -> float:
    """Return the period by the instants at which the first rod has turned by a quarter."""
    made = bricard()
    system = made.system()
    state = {item.name: 0.0 for item in (*system.coordinates, *system.velocities)}
    quarter = zw.Event(system.coordinates[0] - np.pi / 2, name="quarter")
    motion = zw.simulate(system, state, until=7.0, tol=1e-12, events=[quarter])
    first, _, third = (event.time for event in motion.events)
    return float(third - first)


def slider_crank_motion(
    until: float, coordinates: str = "joint", rod: tuple[float, float, float] = LIBRARY
) -> zw.results.Motion:
    """Return the motion from the upright crank at 6 rad/s."""
    made = slider_crank(rod)
    state = slider_crank_start(made, coordinates)
    return zw.simulate(made.system(coordinates=coordinates), state, until=until, tol=1e-12)
