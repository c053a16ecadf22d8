"""Sliders with friction that turn round at a dead centre: slip and its row vanish, without gravity the force too."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest

import zwang as zw


@cache
def slider_crank(kind: str) -> Any:
    r, l, m1, m2, m, mu, g = zw.parameters("r l m1 m2 m mu g")
    parts = zw.Linkage("slider_crank", gravity=(0, -g)).ground("A", 0, 0).point("B").point("C", mass=m)
    parts.bar("A", "B", r, mass=m1, angle="alpha").bar("B", "C", l, mass=m2, angle="beta")
    return zw.compile(parts.slider("C", direction=(1, 0), friction=mu, name="slider").system(coordinates=kind))


def values(lengths: tuple[float, float], masses: tuple[float, ...], mu: float, gravity: float) -> dict[str, float]:
    return dict(zip(("r", "l", "m1", "m2", "m", "mu", "g"), (*lengths, *masses, mu, gravity), strict=True))


def start(kind: str, lengths: tuple[float, float], alpha: float, omega: float) -> dict[str, float]:
    r, l = lengths
    beta = -math.asin(r * math.sin(alpha) / l)
    rate = -r * math.cos(alpha) * omega / (l * math.cos(beta))
    if kind == "joint":
        return {"alpha": alpha, "beta": beta, "v_alpha": omega, "v_beta": rate}
    b = r * np.array([math.cos(alpha), math.sin(alpha)])
    vb = r * omega * np.array([-math.sin(alpha), math.cos(alpha)])
    c = b + l * np.array([math.cos(beta), math.sin(beta)])
    vc = vb + l * rate * np.array([-math.sin(beta), math.cos(beta)])
    values = {"x_B": b[0], "y_B": b[1], "x_C": c[0], "y_C": c[1]}
    speeds = {"v_x_B": vb[0], "v_y_B": vb[1], "v_x_C": vc[0], "v_y_C": vc[1]}
    return {**values, **speeds}


def drawn(seed: int) -> tuple[tuple[float, float], tuple[float, ...], float, float, float]:
    random = np.random.default_rng(seed)
    r = random.uniform(0.2, 0.8)
    lengths = (r, r * random.uniform(1.3, 3.0))
    masses = tuple(random.uniform(0.2, 2.0, 3))
    return lengths, masses, random.uniform(0.05, 0.35), random.uniform(0.1, 6.2), random.choice([-1, 1]) * 2.5


def both(seed: int, gravity: float, until: float) -> tuple[Any, Any]:
    lengths, masses, mu, alpha, omega = drawn(seed)
    return tuple(  # type: ignore[return-value]
        zw.simulate(
            slider_crank(kind),
            start(kind, lengths, alpha, omega),
            values(lengths, masses, mu, gravity),
            until=until,
        )
        for kind in ("joint", "cartesian")
    )


def check_agreement(joint: Any, cartesian: Any, lengths: tuple[float, float]) -> None:
    assert joint.status.name == cartesian.status.name == "REACHED", (joint.reason, cartesian.reason)
    assert [event.kind for event in joint.events] == [event.kind for event in cartesian.events]
    for one, other in zip(joint.events, cartesian.events, strict=True):
        assert one.time == pytest.approx(other.time, abs=1e-7)
    assert lengths[0] * math.cos(joint.end["alpha"]) == pytest.approx(cartesian.end["x_B"], abs=1e-7)
    for motion in (joint, cartesian):
        total = motion.energy["total"]
        assert np.abs(total - total[0] - sum(motion.work.values())).max() < 1e-7


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_motion_passes_the_dead_centre_in_both_kinds_of_coordinates(seed: int, gravity: float) -> None:
    joint, cartesian = both(seed, gravity, 4.0)
    check_agreement(joint, cartesian, drawn(seed)[0])
    assert gravity or all(event.kind == "reversal" for event in joint.events)
    assert gravity or len(joint.events) >= 1


@pytest.mark.parametrize("lengths", [(0.5, 1.5), (0.4, 1.1), (1.0, 1.7)])
def test_every_start_of_the_crank_passes_its_dead_centres(lengths: tuple[float, float]) -> None:
    params = values(lengths, (1.0, 2.0, 0.5), 0.2, 0.0)
    for alpha in np.linspace(0.2, 5.4, 6):
        for omega in (2.0, -1.3):
            motion = zw.simulate(slider_crank("joint"), start("joint", lengths, alpha, omega), params, until=6.0)
            assert motion.status.name == "REACHED", motion.reason
            # At a reversal the crank points along the line.
            for event in motion.events:
                assert event.kind == "reversal"
                assert math.sin(motion.at(event.time)["alpha"]) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 400))
@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_many_motions_pass_the_dead_centre(seed: int, gravity: float) -> None:
    check_agreement(*both(seed, gravity, 4.0), drawn(seed)[0])
