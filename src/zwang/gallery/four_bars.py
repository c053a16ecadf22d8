"""The four-bar linkage: a crank, a coupler and a rocker on two pivots, uniform bars under gravity.

In the absolute angles alpha of the crank and gamma of the rocker the coupler is one constraint. Its configuration space
is singular where all bars lie on one line, l0 +- l1 +- l2 +- l3 = 0. Otherwise it is two circles if the shortest and
the longest bar together are shorter than the other two (Grashof: one bar can turn fully), and one circle if not. With
all four lengths equal it is three circles that meet pairwise; a parallelogram and a kite have two circles that meet
twice.
"""

from __future__ import annotations

import math

from zwang._declare.symbols import parameters
from zwang._linkage.builder import Linkage
from zwang.gallery.entry import Entry, Fact, at_rest

SOURCE = "textbook mechanism; parallelogram motion in closed form"
GRASHOF = "Grashof's theorem; the space of quadrilaterals with given sides"


def linkage(name: str = "four_bar") -> Linkage:
    """Return the mechanism: pivots A and D at the distance l0, crank AB, coupler BC, rocker DC."""
    l0, l1, l2, l3, m1, m2, m3, g = parameters("l0 l1 l2 l3 m1 m2 m3 g")
    bars = Linkage(name, gravity=(0, -g)).ground("A", 0, 0).ground("D", l0, 0).points("B C")
    bars.bar("A", "B", l1, mass=m1, angle="alpha", name="crank").bar("B", "C", l2, mass=m2, name="coupler")
    return bars.bar("D", "C", l3, mass=m3, angle="gamma", name="rocker")


def four_bar() -> Entry:
    """Return the rhombus of unit bars at 60 degrees, at rest."""
    m, g, alpha = 1.0, 9.81, math.pi / 3
    facts = {
        "crank_acceleration": Fact(
            # Coupler in translation: inertia (m1 + m3)/3 + m2, moment -(m1/2 + m2 + m3/2) g cos(alpha), per l^2 and l.
            -2 * m * g * math.cos(alpha) / (5 * m / 3),
            "Angular acceleration of both cranks at the state of this entry, as a parallelogram [rad/s^2].",
            SOURCE,
        ),
        "singular_poses": Fact(
            ((0.0, 0.0), (0.0, math.pi), (math.pi, math.pi)),
            "(alpha, gamma) of the three poses with all bars on one line, for equal lengths.",
            "the bars lie on a line of length zero, one or two",
        ),
    }
    return Entry(
        name="four_bar",
        title="four-bar linkage, a rhombus by default",
        build=lambda: linkage().system(coordinates="joint"),
        params={**dict.fromkeys(("l0", "l1", "l2", "l3"), 1.0), **dict.fromkeys(("m1", "m2", "m3"), m), "g": g},
        state=at_rest(alpha=alpha, gamma=alpha),
        facts=facts,
        source=SOURCE,
    )


def _case(name: str, title: str, lengths: tuple[float, ...], alpha: float, facts: dict[str, Fact]) -> Entry:
    """Return a four-bar of these lengths at rest, its crank at `alpha` and its rocker on the upper side."""
    l0, l1, l2, l3 = lengths
    reach = math.hypot(l1 * math.cos(alpha) - l0, l1 * math.sin(alpha))
    towards = math.atan2(l1 * math.sin(alpha), l1 * math.cos(alpha) - l0)
    gamma = towards - math.acos((reach**2 + l3**2 - l2**2) / (2 * reach * l3))
    return Entry(
        name=name,
        title=title,
        build=lambda: linkage(name).system(coordinates="joint"),
        params={
            **dict(zip(("l0", "l1", "l2", "l3"), lengths, strict=True)),
            **dict.fromkeys(("m1", "m2", "m3"), 1.0),
            "g": 9.81,
        },
        state=at_rest(alpha=alpha, gamma=gamma),
        facts=facts,
        source=SOURCE,
    )


def _shape(components: int, poses: tuple[tuple[float, float], ...] = ()) -> dict[str, Fact]:
    facts = {"components": Fact(float(components), "Connected components of the configuration space.", GRASHOF)}
    if poses:
        facts["singular_poses"] = Fact(poses, "(alpha, gamma) of the poses with all bars on one line.", GRASHOF)
    return facts


def four_bar_parallelogram() -> Entry:
    """Return the parallelogram of sides 2 and 1, which can cross over into an antiparallelogram."""
    facts = _shape(1, ((0.0, 0.0), (math.pi, math.pi)))
    return _case("four_bar_parallelogram", "parallelogram", (2.0, 1.0, 2.0, 1.0), math.pi / 3, facts)


def four_bar_kite() -> Entry:
    """Return the kite of two short and two long bars; with B on D the long ones turn freely."""
    facts = _shape(1, ((0.0, 0.0), (0.0, math.pi)))
    return _case("four_bar_kite", "kite", (1.0, 1.0, 2.0, 2.0), math.pi / 3, facts)


def four_bar_crank_rocker() -> Entry:
    """Return a four-bar whose crank turns fully: Grashof, two circles."""
    return _case("four_bar_crank_rocker", "crank-rocker", (4.0, 1.5, 3.0, 3.5), math.pi / 3, _shape(2))


def four_bar_triple_rocker() -> Entry:
    """Return a four-bar in which no bar turns fully: not Grashof, one circle."""
    return _case("four_bar_triple_rocker", "triple rocker", (5.0, 2.0, 3.0, 3.5), math.pi / 3, _shape(1))
