"""A table of four feet on an incline, and a box on a wedge that can slide: rigid bodies with contacts in space.

The table's feet stand at (+-a, +-a), its centre of mass h above them, x points downhill. With P = m g cos(beta) and
delta = P h tan(beta)/(2 a) the forces that hold it are undetermined: a foot downhill carries between delta and P/2, one
uphill between 0 and P/2 - delta, as long as it neither slides (tan(beta) < mu) nor tips (h tan(beta) < a).
"""

from __future__ import annotations

import math

from zwang._bodies.builder import Bodies
from zwang._declare.shapes import Box, HalfSpace, Hull
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact

STATICS = "balance of forces and moments; extreme points of the set of contact forces"
WEDGE = "textbook problem: block on a movable wedge"


def _table() -> Bodies:
    table = Bodies("incline_table", gravity=("g*sin(beta)", 0, "-g*cos(beta)"))
    table.body("table", mass="m", inertia=("J", "J", "Jz"), at=(0, 0, "h"))
    feet = [(x, y, "-h") for x in ("a", "-a") for y in ("-a", "a")]
    table.shape("legs", on="table", form=Hull([*feet])).shape("plane", on="ground", form=HalfSpace((0, 0, 1)))
    return table.contact("legs", "plane", friction="mu", restitution=0, name="foot")


def incline_table() -> Entry:
    """Return the table at rest on the incline; feet 1 and 2 are the ones downhill."""
    params = {"m": 10.0, "J": 0.8, "Jz": 1.2, "g": 9.81, "a": 0.6, "h": 0.5, "beta": 0.3, "mu": 0.5}
    load = params["m"] * params["g"] * math.cos(params["beta"])
    delta = load * params["h"] * math.tan(params["beta"]) / (2 * params["a"])
    facts = {
        "downhill": Fact((delta, load / 2), "Least and largest normal force of each foot downhill [N].", STATICS),
        "uphill": Fact((0.0, load / 2 - delta), "Least and largest normal force of each foot uphill [N].", STATICS),
        "dimension": Fact(6.0, "Dimension of the set of reactions: twelve forces less six equations.", STATICS),
        "slides_above": Fact(math.atan(params["mu"]), "Slope above which the table slides [rad].", STATICS),
        "tips_above": Fact(math.atan(params["a"] / params["h"]), "Slope above which it would tip [rad].", STATICS),
    }
    return Entry(
        name="incline_table",
        title="table of four feet on an incline",
        build=lambda: _table().system(),
        params=params,
        state={key: float(value) for key, value in _table().place("table", params=params).items()},
        facts=facts,
        source=STATICS,
    )


def _wedge() -> Bodies:
    wedge = Bodies("wedge_box", gravity=(0, 0, "-g"))
    wedge.body("wedge", mass="M", inertia=("J", "J", "J"))
    wedge.body(
        "box",
        mass="m",
        inertia=("Jx", "Jy", "Jz"),
        at=("c*sin(beta)/2", 0, "c*cos(beta)/2"),
        turned=((0, 1, 0), "beta"),
    )
    wedge.prismatic("slide", "ground", "wedge", at=(0, 0, 0), axis=(1, 0, 0))
    wedge.shape("block", on="box", form=Box("a", "b", "c"))
    wedge.shape("slope", on="wedge", form=HalfSpace(("sin(beta)", 0, "cos(beta)")))
    return wedge.contact("block", "slope", friction="mu", restitution=0, name="corner")


def _build_wedge() -> System:
    return _wedge().system()


def wedge_box() -> Entry:
    """Return the box as it slides down the slope of a wedge, which slides on the floor without friction."""
    params = {"M": 3.0, "m": 1.0, "J": 0.2, "g": 9.81, "beta": 0.4, "mu": 0.2}
    params |= {"a": 0.4, "b": 0.3, "c": 0.2, "Jx": 0.011, "Jy": 0.017, "Jz": 0.021}
    M, m, g, beta, mu = (params[key] for key in ("M", "m", "g", "beta", "mu"))
    s, c = math.sin(beta), math.cos(beta)
    # Wedge: M A = -N (s - mu c); box across the slope: m (A s) = N - m g c; N is the whole normal force.
    normal = m * M * g * c / (M + m * s * (s - mu * c))
    wedge = -normal * (s - mu * c) / M
    smooth = -m * g * s * c / (M + m * s**2)
    sliding = _wedge().place("box", velocity=(0.5 * c, 0, -0.5 * s), params=params)
    facts = {
        "normal_force": Fact(normal, "Sum of the normal forces of the box while it slides down [N].", WEDGE),
        "wedge_acceleration": Fact(wedge, "Acceleration of the wedge along x at the state [m/s^2].", WEDGE),
        "smooth_wedge_acceleration": Fact(smooth, "The same without friction [m/s^2].", WEDGE),
        "friction_that_holds": Fact(math.tan(beta), "Coefficient of friction from which on nothing moves.", WEDGE),
    }
    return Entry(
        name="wedge_box",
        title="box on a wedge that can slide",
        build=_build_wedge,
        params=params,
        state={"slide": 0.0, "v_slide": 0.0, **{key: float(value) for key, value in sliding.items()}},
        facts=facts,
        source=WEDGE,
    )
