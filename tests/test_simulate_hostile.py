"""Motions that no example of the package holds: corners, ties, ends of bouncing, and what the generated code does."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import zwang as zw

m, g, J, l, e = zw.parameters("m g J l e")


def bar(left: sp.Expr, right: sp.Expr, h: sp.Symbol, th: sp.Symbol, vh: sp.Symbol, w: sp.Symbol) -> zw.System:
    feet = [zw.Unilateral(left, restitution=e, name="left"), zw.Unilateral(right, restitution=e, name="right")]
    return zw.System(name="bar", kinetic=m * vh**2 / 2 + J * w**2 / 2, potential=m * g * h, constraints=feet)


BAR = {"m": 1.0, "J": 0.3, "l": 1.0, "g": 10.0, "e": 0.5}


@pytest.mark.parametrize("sine", [sp.sin, lambda angle: angle], ids=["sine", "linear"])
def test_a_bar_at_rest_on_both_feet_with_all_coordinates_zero_stays_there(sine: object) -> None:
    (h, th), (vh, w) = zw.coordinates("h th")
    system = bar(h + l * sine(th), h - l * sine(th), h, th, vh, w)  # type: ignore[operator]
    motion = zw.simulate(system, {"h": 0, "th": 0, "v_h": 0, "v_th": 0}, BAR, until=2)
    assert motion.status.name == "REACHED"
    assert np.abs(motion.q).max() <= 1e-15
    assert np.allclose(motion.reactions["left"], 5.0, atol=1e-9)  # half the weight m g = 10


def test_a_bar_that_falls_flat_bounces_on_both_feet_to_the_closed_form_end() -> None:
    (h, th), (vh, w) = zw.coordinates("h th")
    system = bar(h + l * sp.sin(th), h - l * sp.sin(th), h, th, vh, w)
    motion = zw.simulate(system, {"h": 1, "th": 0, "v_h": 0, "v_th": 0}, BAR, until=2, impact="newton")
    assert motion.status.name == "REACHED"
    # A ball from height 1: first impact at sqrt(2/g), the last at that times (1 + e)/(1 - e) = 3.
    ends = [event.time for event in motion.events.of("accumulation")]
    assert ends == pytest.approx([3 * np.sqrt(0.2)] * 2, abs=1e-9)
    assert np.abs(motion.q[-1]).max() <= 1e-12
