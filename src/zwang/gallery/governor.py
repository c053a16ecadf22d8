"""The stiff flyball governor of the multibody benchmarks (IFToMM, problem A05), and its limit with rigid couplers.

A vertical shaft turns freely with the angle phi. Two rods of length l hang on it at the height h and the radius b,
below the horizontal by alpha1 and alpha2, with point masses M at their ends. A slider at the height s turns with the
shaft; from its sides, at the radius b, two couplers of length d lead to the middles of the rods. In the benchmark the
couplers are springs (k, rest length d) with dampers (c). As rigid bars they are two constraints, and with d = l/2 and
equal angles they hold s = h - l sin(alpha).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import sympy as sp

from zwang._declare.constraints import Bilateral
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates, parameters
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, moving, named

SOURCE = "IFToMM library of multibody benchmarks, A05 stiff flyball governor (González et al. 2006)"
DENSITY, WIDTH, LENGTH, CUBE = 3000.0, 0.01, 1.0, 0.1
ROD = DENSITY * LENGTH * WIDTH**2
PARAMS = {
    **named("m M m_s l d b h g", ROD, 5, DENSITY * CUBE**3, LENGTH, 0.5, CUBE / 2, 1, 9.81),
    # Prisms: about a transverse axis through the centre, about the own axis; slider and shaft about the vertical.
    "J_t": ROD * (LENGTH**2 + WIDTH**2) / 12,
    "J_a": ROD * WIDTH**2 / 6,
    "J_s": DENSITY * CUBE**3 * CUBE**2 / 6 + ROD * WIDTH**2 / 6,
}
SPRINGS = named("k c", 8e5, 4e4)
ALPHA, SPIN = math.pi / 6, 2 * math.pi


def declare(name: str, couplers: str) -> System:
    """Return the governor with couplers that are 'rigid' or 'springs'."""
    (_, s, *angles), (w, u, *rates) = coordinates("phi s alpha1 alpha2", angles="phi alpha1 alpha2")
    m, M, m_s, l, d, b, h, g, J_t, J_a, J_s, k, c = parameters("m M m_s l d b h g J_t J_a J_s k c")
    kinetic: Any = J_s * w**2 / 2 + m_s * u**2 / 2
    potential: Any = m_s * g * s
    lengths = []
    for alpha, rate in zip(angles, rates, strict=True):
        cos, sin = sp.cos(alpha), sp.sin(alpha)
        for mass, arm in ((m, l / 2), (M, l)):
            kinetic += mass * ((arm * rate) ** 2 + ((b + arm * cos) * w) ** 2) / 2
            potential += mass * g * (h - arm * sin)
        kinetic += (J_t * (rate**2 + (cos * w) ** 2) + J_a * (sin * w) ** 2) / 2
        # The middle of the rod from the end of the coupler on the slider.
        lengths.append(sp.sqrt((l / 2 * cos) ** 2 + (h - l / 2 * sin - s) ** 2))
    if couplers == "rigid":
        bars = [Bilateral(length - d, name=f"coupler{i + 1}") for i, length in enumerate(lengths)]
        drawing = _draw(springs=False)
        return System(name=name, kinetic=kinetic, potential=potential, constraints=bars, drawing=drawing)
    forces: dict[Any, Any] = {s: 0}
    for alpha, rate, length in zip(angles, rates, lengths, strict=True):
        potential += k * (length - d) ** 2 / 2
        slopes = {s: length.diff(s), alpha: length.diff(alpha)}
        speed = slopes[s] * u + slopes[alpha] * rate
        forces[s] -= c * speed * slopes[s]
        forces[alpha] = -c * speed * slopes[alpha]
    return System(name=name, kinetic=kinetic, potential=potential, forces=forces, drawing=_draw(springs=True))


def _draw(*, springs: bool) -> Drawing:
    def turned(radius: str, height: str, side: str) -> tuple[str, str, str]:
        return f"{side}({radius})*cos(phi)", f"{side}({radius})*sin(phi)", height

    points: dict[str, Any] = {"foot": (0, 0, 0), "top": (0, 0, "h")}
    bars, couplers = [("foot", "top")], []
    for i, side in (("1", ""), ("2", "-")):
        points[f"hinge {i}"] = turned("b", "h", side)
        points[f"ball {i}"] = turned(f"b + l*cos(alpha{i})", f"h - l*sin(alpha{i})", side)
        points[f"middle {i}"] = turned(f"b + l/2*cos(alpha{i})", f"h - l/2*sin(alpha{i})", side)
        points[f"slider {i}"] = turned("b", "s", side)
        bars.append((f"hinge {i}", f"ball {i}"))
        couplers.append((f"slider {i}", f"middle {i}"))
    bars += [("hinge 1", "hinge 2"), ("slider 1", "slider 2")]
    joined: dict[str, Any] = {"bars": bars, "springs": couplers} if springs else {"bars": [*bars, *couplers]}
    return Drawing(points, **joined, ground=["foot"], traces=["ball 1", "ball 2"])


def spin_inertia(p: Mapping[str, float], alpha: float) -> tuple[float, float]:
    """Return the moment of inertia about the shaft with both rods at `alpha`, and its derivative."""
    cos, sin = math.cos(alpha), math.sin(alpha)
    inertia, slope = p["J_s"] + 2 * (p["J_t"] * cos**2 + p["J_a"] * sin**2), 4 * (p["J_a"] - p["J_t"]) * sin * cos
    for mass, arm in ((p["m"], p["l"] / 2), (p["M"], p["l"])):
        inertia += 2 * mass * (p["b"] + arm * cos) ** 2
        slope -= 4 * mass * (p["b"] + arm * cos) * arm * sin
    return inertia, slope


def _facts() -> dict[str, Fact]:
    p, cos = PARAMS, math.cos(ALPHA)
    inertia, slope = spin_inertia(p, ALPHA)
    weight = p["g"] * p["l"] * cos * (p["m"] + 2 * p["M"] + p["m_s"])
    mass = 2 * (p["m"] * p["l"] ** 2 / 4 + p["J_t"] + p["M"] * p["l"] ** 2) + p["m_s"] * (p["l"] * cos) ** 2
    source = "balance of moments with s = h - l sin(alpha)"
    return {
        "spin_inertia": Fact(inertia, "Moment of inertia about the shaft at the start [kg m^2].", source),
        "angular_momentum": Fact(
            inertia * SPIN, "Angular momentum about the shaft, which is kept [kg m^2/s].", "phi is cyclic"
        ),
        "steady_spin": Fact(
            math.sqrt(-2 * weight / slope), "Spin at which the rods would stay at 30 degrees [rad/s].", source
        ),
        "rod_acceleration": Fact(
            (slope * SPIN**2 / 2 + weight) / mass,
            "Angular acceleration of both rods at the start, with rigid couplers [rad/s^2].",
            source,
        ),
    }


def _entry(name: str, title: str, couplers: str, params: Mapping[str, float]) -> Entry:
    return Entry(
        name=name,
        title=title,
        build=lambda: declare(name, couplers),
        params=params,
        state=moving({"phi": 0.0, "s": 0.5, "alpha1": ALPHA, "alpha2": ALPHA}, {"phi": SPIN}),
        facts=_facts(),
        source=SOURCE,
    )


def flyball_governor() -> Entry:
    """Return the governor with rigid couplers, the idealization."""
    return _entry("flyball_governor", "flyball governor with rigid couplers", "rigid", PARAMS)


def flyball_governor_springs() -> Entry:
    """Return the benchmark itself: its couplers are stiff springs with dampers."""
    title = "flyball governor with stiff springs for couplers"
    return _entry("flyball_governor_springs", title, "springs", {**PARAMS, **SPRINGS})
