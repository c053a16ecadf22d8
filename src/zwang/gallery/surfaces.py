"""Surfaces given directly, with singular points of two kinds: a unit particle on f(x, y, z) = 0."""

from __future__ import annotations

from typing import Any

from zwang._declare.constraints import Bilateral
from zwang._declare.drawing import Drawing
from zwang._declare.symbols import coordinates
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, moving

SOURCE = "textbook surface (A_1 and D_infinity in Arnold's notation)"


TURN, RULED = (0, "2*pi"), (-1, 1)
LINES: dict[str, list[Any]] = {
    "surface_cone": [
        (("cos(u)", "sin(u)", 1), "u", TURN),
        (("cos(u)", "sin(u)", -1), "u", TURN),
        *(((f"{c}*u", f"{s}*u", "u"), "u", RULED) for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1))),
    ],
    "surface_umbrella": [
        (("u", 1, "u**2"), "u", RULED),
        (("u", -1, "u**2"), "u", RULED),
        (("u", "u", 1), "u", RULED),
        (("u", "-u", 1), "u", RULED),
        ((0, 0, "u"), "u", RULED),
    ],
}
"""Lines on the surfaces, by which a picture shows them."""


def _entry(name: str, title: str, surface: Any, v: tuple[float, float, float], facts: Any) -> Entry:
    def build() -> System:
        (x, y, z), (vx, vy, vz) = coordinates("x y z")
        kinetic = (vx**2 + vy**2 + vz**2) / 2
        lines = {f"line {k}": line for k, line in enumerate(LINES[name])}
        return System(
            name=name,
            kinetic=kinetic,
            constraints=[Bilateral(surface(x, y, z), name="surface")],
            drawing=Drawing({"P": (x, y, z)}, curves=lines, scale=2),
        )

    places = {"x": 1.0, "y": 0.0, "z": 1.0} if name == "surface_cone" else {"x": 1.0, "y": 1.0, "z": 1.0}
    return Entry(
        name=name,
        title=title,
        build=build,
        params={},
        state=moving(places, dict(zip("xyz", v, strict=True))),
        facts={key: Fact(value, statement, SOURCE) for key, (value, statement) in facts.items()},
        source=SOURCE,
    )


def surface_cone() -> Entry:
    """Return x^2 + y^2 = z^2, the double cone, at a point off its apex."""
    facts = {
        "signature": ((2.0, 1.0), "Positive and negative squares of the equation at the apex, the origin."),
        "half_angle": (0.7853981633974483, "Angle between the axis and the lines of the cone [rad]."),
    }
    return _entry("surface_cone", "double cone", lambda x, y, z: x**2 + y**2 - z**2, (1.0, 2.0, 1.0), facts)


def surface_umbrella() -> Entry:
    """Return Whitney's umbrella x^2 = y^2 z: two sheets that cross along the z axis for z > 0."""
    facts = {
        "pinch": ((0.0, 0.0, 0.0), "The pinch point, where the crossing line ends and its handle begins."),
        "crossing_slopes": ((-1.0, 1.0), "Slopes dx/dy of the two sheets on the z axis at z = 1."),
    }
    return _entry("surface_umbrella", "Whitney umbrella", lambda x, y, z: x**2 - y**2 * z, (1.0, 0.5, 1.0), facts)
