"""Motions of softened systems: they tend to the ideal ones with the orders of the papers. Integrated by SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from zwang._derive import derive

(x, y), (vx, vy) = zw.coordinates("x y")


def right_hand_side(system: zw.System, params: Mapping[str, float]) -> Callable[[float, Any], Any]:
    """The equations of a system without constraints, straight from their symbolic form."""
    symbols = [zw.t, *system.coordinates, *system.velocities]
    values = {symbol: params[symbol.name] for symbol in system.parameters}
    equations = derive(system)
    value = sp.lambdify(symbols, list(equations.mass.LUsolve(equations.force).subs(values)), "math")
    n = len(system.coordinates)
    return lambda time, z: [*z[n:], *value(time, *z)]


def motion(system: zw.System, params: Mapping[str, float], start: Any, times: Any, method: str = "DOP853") -> Any:
    found = solve_ivp(
        right_hand_side(system, params), (times[0], times[-1]), start, method, times, rtol=1e-9, atol=1e-13
    )
    assert found.success
    return found.y


def order(strengths: Any, errors: Any) -> float:
    return float(np.polyfit(np.log(strengths), np.log(errors), 1)[0])


def test_the_example_of_kozlov_and_neishtadt_converges_with_its_orders() -> None:
    system = zw.gallery.get("kozlov_neishtadt").system
    strengths, times = [1e2, 1e3, 1e4, 1e5], np.linspace(0, 1, 2001)
    errors = []
    for strength in strengths:
        z = motion(zw.realize(system, "floor", by=zw.Stiffness(strength)), {}, [0, 0, 0.5, 0], times)
        exact = (1 - np.cos(math.sqrt(strength) * times)) / strength  # y of the paper's example
        assert np.abs(z[1] - exact).max() < 1e-6 / strength
        errors.append((np.abs(z[1]).max(), np.abs(z[3]).max(), np.abs(z[2] - 0.5).max()))
    measured = [order(strengths, column) for column in zip(*errors, strict=True)]
    # Kozlov and Neishtadt (1990), theorem and example: position -1, normal velocity -1/2, tangential velocity -1. The
    # last has the exact sup 1/N + O(N^-3/2), which is what remains at N = 100.
    assert measured == pytest.approx([-1.0, -0.5, -1.0], abs=0.03)


def test_a_weight_that_varies_leaves_a_force_in_the_limit() -> None:
    free = zw.System(kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(y, name="line")])
    softened = zw.realize(free, "line", by=zw.Stiffness(1e6, weight=(1 + x**2) ** 2))
    z = motion(softened, {}, [0.5, 0, 0, 1], np.array([0.0, 1.0]))
    # Rubin and Ungar (1957): the action v^2/(2 w) of the fast oscillation is kept, so that x'' = -0.8 x, and
    # x(1) = 0.5 cos(sqrt(0.8)); the difference is of the order N^(-1/2).
    assert z[0, -1] == pytest.approx(0.5 * math.cos(math.sqrt(0.8)), abs=1e-3)


def test_the_sleigh_by_viscous_friction_is_off_by_one_over_rho() -> None:
    system = zw.gallery.get("sleigh").system
    strengths, times = [1e2, 1e3, 1e4], np.linspace(0, 10, 401)
    circle = np.array([np.sin(times), 1 - np.cos(times), times, np.cos(times), np.sin(times), 0 * times + 1])
    errors = []
    for strength in strengths:
        softened = zw.realize(system, "blade", by=zw.Viscosity(strength))
        z = motion(softened, {"m": 1.0, "J": 0.5}, [0, 0, 0, 1, 0, 1], times, "LSODA")
        difference = z - circle
        errors.append((np.hypot(*difference[:2]).max(), np.hypot(*difference[3:5]).max()))
    assert [order(strengths, column) for column in zip(*errors, strict=True)] == pytest.approx([-1, -1], abs=0.05)
    # Leading terms for the unit circle on [0, 10]: 11.682/rho and sqrt(101)/rho, from the linear equations in closed
    # form (the difference at rho = 1e4 is O(1/rho)).
    assert errors[-1] == pytest.approx((11.682 / 1e4, math.sqrt(101) / 1e4), rel=5e-3)


@pytest.mark.parametrize("strength", [10.0, 100.0, 1000.0])
def test_an_offset_in_the_constraint_is_kept_by_the_friction(strength: float) -> None:
    pushed = zw.System(kinetic=vx**2 / 2, forces={x: 1}, constraints=[zw.Unilateral(-vx - 1, name="limit")])
    z = motion(zw.realize(pushed, "limit", by=zw.Viscosity(strength)), {}, [0, -1], np.array([0.0, 5.0]), "LSODA")
    # x' + 1 = (1 - exp(-rho t))/rho: the force of Salnikova et al. (2023) with the offset inside.
    assert z[1, -1] == pytest.approx(-1 + 1 / strength, rel=1e-7)


@pytest.mark.parametrize("ratio", [0.0, 0.2, 0.6])
def test_a_ball_leaves_a_spring_with_the_restitution_of_a_dashpot_that_never_pulls(ratio: float) -> None:
    ball = zw.System(kinetic=3 * vy**2 / 2, constraints=[zw.Unilateral(y, name="floor")], coordinates=(y,))
    softened = zw.realize(ball, "floor", by=zw.Stiffness(300, ratio=ratio))
    z = motion(softened, {}, [-1e-15, -1.0], np.array([0.0, 1.0]))
    # y = -exp(-b t) sin(d t)/d until y'' = 0, with omega = 10, b = ratio omega, d^2 = omega^2 - b^2; the speed then is
    # exp(-b t) (Schwager and Poeschel 2007, "Coefficient of restitution and linear-dashpot model revisited").
    omega = 10.0
    b, d = ratio * omega, omega * math.sqrt(1 - ratio**2)
    end = (math.pi - math.atan2(2 * b * d, d**2 - b**2)) / d
    leaving = -math.exp(-b * end) * (math.cos(d * end) - b / d * math.sin(d * end))
    assert z[1, -1] == pytest.approx(leaving, rel=1e-5)
    assert leaving == pytest.approx(math.exp(-b * end), rel=1e-12)
