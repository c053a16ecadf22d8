"""Angles that a Bilateral holds linearly with whole numbers: drives and gears, read modulo 2 pi."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang.errors import DeclarationError, StateError

(a, b), (va, vb) = zw.coordinates("a b", angles=True)
J, M, w = zw.parameters("J M w")
ONES = {"J": 1.0, "M": 1.0}


def gears(expr) -> zw.System:
    """Return two wheels, the first one turned by a moment."""
    return zw.System(
        name="gears", kinetic=J * (va**2 + vb**2) / 2, forces={a: M}, constraints=[zw.Bilateral(expr, name="mesh")]
    )


@pytest.mark.parametrize(("p", "q"), [(2, 3), (1, -4), (5, 5)])
@pytest.mark.parametrize("turns", [0, 1, -7])
def test_gears_turn_with_their_ratio_whatever_turns_they_start_from(p: int, q: int, turns: int) -> None:
    start = {"a": 2 * math.pi * turns / p, "b": 0.0, "v_a": float(q), "v_b": float(p)}
    motion = zw.simulate(gears(p * a - q * b), start, ONES, until=3.0)
    rate = 1 / (1 + (p / q) ** 2)  # J (1 + p^2/q^2) a'' = M
    assert motion.v[-1] == pytest.approx([q + 3 * rate, p + 3 * rate * p / q], rel=1e-10)
    # J b'' = -q lam, with the sign of the declared expression
    assert motion.reactions["mesh"] == pytest.approx(-rate * p / q / q, rel=1e-9)
    assert motion.drift < 1e-10


def test_a_crank_is_driven() -> None:
    motor = zw.System(
        name="motor", kinetic=J * va**2 / 2, potential=M * sp.cos(a), coordinates=(a,),
        constraints=[zw.Bilateral(a - w * zw.t, name="motor")],
    )  # fmt: skip
    values = {**ONES, "w": 3.0}
    motion = zw.simulate(motor, {"a": 0.0, "v_a": 3.0}, values, until=10.0)
    assert motion.end["a"] == pytest.approx(30.0, rel=1e-13)  # unwrapped
    assert motion.reactions["motor"] == pytest.approx(-np.sin(3 * motion.t), abs=1e-10)
    later = zw.reactions(motor, {"a": 0.3, "v_a": 3.0, "t": 0.1 + 4 * math.pi / 3}, values)
    assert later.solutions[0].normal == pytest.approx([-math.sin(0.3)])
    with pytest.raises(StateError, match="off constraint 'motor'"):
        zw.simulate(motor, {"a": 1.0, "v_a": 3.0}, values, until=1.0)


@pytest.mark.parametrize(("expr", "components"), [(2 * a - 3 * b, 1), (2 * a - 2 * b, 2), (a + b + sp.sin(a) / 4, 1)])
def test_traced_gears_are_curves_on_the_torus(expr, components: int) -> None:
    space = zw.trace(gears(expr), ONES, search="exhaustive")
    assert space.complete and space.components == components and not space.singular_points


def test_an_input_drives_an_angle() -> None:
    u = zw.inputs("u")
    driven = zw.System(
        name="driven", kinetic=J * va**2 / 2, coordinates=(a,), constraints=[zw.Bilateral(a - u, name="servo")]
    )
    motion = zw.simulate(driven, {"a": 0.0, "v_a": 0.0}, {"J": 2.0}, until=2.0, inputs={u: zw.t**3})
    assert motion.end["a"] == pytest.approx(8.0) and motion.reactions["servo"][-1] == pytest.approx(24.0)


def test_files_and_pages_show_what_was_declared(tmp_path) -> None:
    system = gears(2 * a - 3 * b)
    system.save(tmp_path / "gears.toml")
    assert 'expr = "2*a - 3*b"' in (tmp_path / "gears.toml").read_text()
    assert zw.load(tmp_path / "gears.toml") == system == system.replace()
    assert "2*a - 3*b = 0 (mod 2 pi)" in repr(system) and r"\pmod{2\pi}" in system._repr_latex_()


@pytest.mark.parametrize(("item", "words"), [
    (zw.Bilateral(a - sp.Rational(3, 2) * b, name="mesh"), "multiply a ratio of whole numbers by its denominator"),
    (zw.Bilateral(a - w * b, name="mesh"), "the angle 'b' does not occur 2 pi-periodically"),
    (zw.Bilateral(a**2 - b, name="mesh"), "the angle 'a' does not occur 2 pi-periodically"),
    (zw.Unilateral(a - b, name="stop"), "Declare 'a' without angles="),
])  # fmt: skip
def test_other_ratios_and_one_sided_ones_are_refused(item, words: str) -> None:
    with pytest.raises(DeclarationError, match=words):
        zw.System(kinetic=va**2 + vb**2, constraints=[item])
