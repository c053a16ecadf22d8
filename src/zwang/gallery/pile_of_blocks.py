"""A pile of n blocks on a floor, pushed sideways (Ivanov 2013, example 2), all normal forces known: Tresca friction.

q_i is the displacement of block i relative to the block below it, block 1 on top. Block i has the velocity
v_i + v_(i+1) + ... + v_n; the contact below it carries N_i = g (m_1 + ... + m_i).
"""

from __future__ import annotations

import sympy as sp

from zwang._declare.constraints import Friction
from zwang._declare.drawing import Drawing
from zwang._declare.shapes import Box
from zwang._declare.symbols import coordinates, parameters
from zwang._declare.system import System
from zwang.gallery.entry import Entry, Fact, at_rest, matrix_fact
from zwang.gallery.sources import IVANOV

WHERE = f"{IVANOV}, example 2"


def _declare(n: int) -> System:
    q, v = coordinates(_numbered("q", n))
    m, mu, P = (parameters(_numbered(letter, n)) for letter in ("m", "mu", "P"))
    g = parameters("g")
    speeds = [sp.Add(*v[i:]) for i in range(n)]
    return System(
        name="pyramid",
        kinetic=sp.Add(*(m[i] * speeds[i] ** 2 / 2 for i in range(n))),
        forces={q[i]: sp.Add(*P[: i + 1]) for i in range(n)},
        constraints=[Friction(mu[i] * g * sp.Add(*m[: i + 1]), slip=v[i], name=f"contact{i + 1}") for i in range(n)],
        drawing=_draw(n),
    )


def _draw(n: int) -> Drawing:
    """Block 1 lies on top; each moves by its own q and by those of all blocks below."""
    height = 0.5
    bodies = {}
    for i, name in enumerate(_numbered("q", n)):
        across = " + ".join(_numbered("q", n)[i:])
        bodies[f"block {name[1:]}"] = (Box(1 + 0.3 * i, height), (across, height * (n - i - 0.5)), 0)
    return Drawing({"floor": (0, 0)}, bodies=bodies, curves={"floor": (("u", 0), "u", (-2, 2))}, traces=())


def pyramid(n: int = 3) -> Entry:
    """Return n equal blocks at rest; the top three are pushed as in the first example of the paper."""
    m, mu, g = 1.0, 0.5, 9.81
    unit = mu * m * g
    pushes = [2.0, -2.0, 3.0] + [0.0] * n
    return Entry(
        name="pyramid",
        title=f"pile of {n} blocks pushed sideways",
        build=lambda: _declare(n),
        params={
            **dict.fromkeys(_numbered("m", n), m),
            **dict.fromkeys(_numbered("mu", n), mu),
            **{name: push * unit for name, push in zip(_numbered("P", n), pushes, strict=False)},
            "g": g,
        },
        state=at_rest(**dict.fromkeys(_numbered("q", n), 0.0)),
        facts=_facts_of_three(mu, m, g) if n == 3 else {},
        source=WHERE,
    )


def _facts_of_three(mu: float, m: float, g: float) -> dict[str, Fact]:
    m1, m2, m3 = parameters("m1 m2 m3")
    mass = [[m1, m1, m1], [m1, m1 + m2, m1 + m2], [m1, m1 + m2, m1 + m2 + m3]]
    # Differences of the rows of A invert it: its inverse is tridiagonal.
    inverse = [[1 / m1 + 1 / m2, -1 / m2, 0], [-1 / m2, 1 / m2 + 1 / m3, -1 / m3], [0, -1 / m3, 1 / m3]]
    unit = mu * m * g
    masses = dict.fromkeys(_numbered("m", 3), m)
    return {
        "mass": matrix_fact(mass, masses, "The mass matrix A, formula (2.7).", WHERE),
        "inverse_mass": matrix_fact(inverse, masses, "The inverse of A.", "two-term differences of (2.7)"),
        "acceleration": Fact(
            (mu * g, 0.0, 0.0), "Accelerations at the state of this entry: only the top block slides [m/s^2].", WHERE
        ),
        "friction": Fact((-unit, unit, -2 * unit), "Friction forces at the state of this entry [N].", WHERE),
        "second_pushes": Fact(
            (2 * unit, -5 * unit, 4 * unit),
            "The pushes P of the second example of the paper, F = (2, -3, 1) mu m g [N].",
            WHERE,
        ),
        "second_acceleration": Fact(
            (3 * mu * g, -2 * mu * g, 0.0), "Accelerations under the second pushes [m/s^2].", WHERE
        ),
        "second_friction": Fact(
            (-unit, 2 * unit, -2 * unit),
            "Friction forces under the second pushes [N].",
            f"{WHERE}, T3 corrected: 0 is printed, but A w = F + T needs -2 mu m g",
        ),
    }


def _numbered(letter: str, n: int) -> list[str]:
    return [f"{letter}{i + 1}" for i in range(n)]
