"""Two weights on a string over a horizontal bar (Ivanov 2013, examples 1 and 4), positions measured downwards.

The string is a one-sided constraint with the normal (-1, -1), so its multiplier N is the tension. In example 4 the
string rubs on the bar: the friction enters as T (1, -1) with |T| <= 2 mu N, where mu is an effective coefficient, and
the force on the string is 2 T. The printed answers for a string at rest have the wrong sign of T; with
chi = (m1 - m2)/(m1 + m2) it starts to slip for |chi| > 2 mu, with T = -2 mu sign(chi) N.
"""

from __future__ import annotations

from zwang._declare.constraints import Unilateral
from zwang._declare.drawing import Drawing
from zwang._declare.laws import Coulomb
from zwang._declare.shapes import Box, Sphere
from zwang._declare.symbols import coordinates, parameters, t
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, at_rest
from zwang.gallery.sources import IVANOV


def _declare(name: str, rough: bool) -> System:
    (q1, q2), (v1, v2) = coordinates("q1 q2")
    m1, m2, g, l, mu, gamma = parameters("m1 m2 g l mu gamma")
    if rough:
        string = Unilateral(l - q1 - q2, friction=Coulomb(mu, slip=v1 - v2, scale=2), restitution=0, name="string")
    else:
        string = Unilateral(l + gamma * t**2 / 2 - q1 - q2, restitution=0, name="string")
    return System(
        name=name,
        kinetic=(m1 * v1**2 + m2 * v2**2) / 2,
        potential=-(m1 * q1 + m2 * q2) * g,
        constraints=[string],
        drawing=_draw(),
    )


def _draw() -> Drawing:
    bar = "l/8"
    return Drawing(
        {"left": (f"-{bar}", 0), "1": (f"-{bar}", "-q1"), "right": (bar, 0), "2": (bar, "-q2")},
        bars=[("left", "1"), ("right", "2")],
        bodies={
            "bar": (Sphere(bar), (0, 0), 0),
            "weight 1": (Box("l/6", "l/6"), (f"-{bar}", "-q1 - l/12"), 0),
            "weight 2": (Box("l/6", "l/6"), (bar, "-q2 - l/12"), 0),
        },
        traces=(),
    )


def atwood() -> Entry:
    """Return the weights of example 4, at rest, the friction too small to hold them."""
    m1, m2, g, mu = 1.0, 3.0, 9.81, 0.125
    chi = (m1 - m2) / (m1 + m2)
    where = f"{IVANOV}, example 4, the two regimes of slipping corrected"
    tension = 2 * g * m1 * m2 / ((m1 + m2) * (1 + 2 * mu * chi))
    facts = {
        "tension": Fact(tension, "The tension N at the state of this entry [N], formula (3.9).", where),
        "friction": Fact(2 * mu * tension, "The friction T = 2 mu N, for chi < -2 mu [N].", where),
        "acceleration": Fact(
            g * (chi + 2 * mu) / (1 + 2 * mu * chi),
            "The acceleration of the first weight, g (chi + 2 mu)/(1 + 2 mu chi) [m/s^2].",
            where,
        ),
        "tension_held": Fact(
            g * (m1 + m2) / 2, "The tension at rest, for |chi| <= 2 mu [N], formula (3.13).", f"{IVANOV}, example 4"
        ),
        "holding_friction": Fact(abs(chi) / 2, "The smallest mu that holds the weights, formula (3.12).", IVANOV),
    }
    return Entry(
        name="atwood",
        title="Atwood's machine whose string rubs on the bar",
        build=lambda: _declare("atwood", rough=True),
        params={"m1": m1, "m2": m2, "g": g, "l": 2.0, "mu": mu},
        state=at_rest(q1=1.0, q2=1.0),
        facts=facts,
        source=f"{IVANOV}, example 4",
    )


def atwood_changing_length() -> Entry:
    """Return the weights of example 1: no friction, the length of the string changing as l + gamma t^2/2."""
    m1, m2, g, gamma = 1.0, 3.0, 9.81, 4.0
    where = f"{IVANOV}, example 1"
    facts = {
        "tension": Fact(
            m1 * m2 / (m1 + m2) * (2 * g - gamma), "The tension N of a taut string [N], formula (1.12).", where
        ),
        "acceleration": Fact(
            ((m1 - m2) * g + m2 * gamma) / (m1 + m2),
            "The acceleration of the first weight on a taut string [m/s^2], formula (1.11).",
            where,
        ),
        "slack": Fact(2 * g, "The string goes slack for gamma above this [m/s^2]; then both weights fall.", where),
    }
    return Entry(
        name="atwood_changing_length",
        title="Atwood's machine with a string of changing length",
        build=lambda: _declare("atwood_changing_length", rough=False),
        params={"m1": m1, "m2": m2, "g": g, "l": 2.0, "gamma": gamma},
        state=at_rest(q1=1.0, q2=1.0),
        facts=facts,
        source=where,
    )
