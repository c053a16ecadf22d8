"""Multipliers and reactions along directions of the tangent cone of a surface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw

(X, Y, Z), _ = zw.coordinates("x y z")
APEX = {"x": 0, "y": 0, "z": 0}
FORCE = (0.3, -0.7, -9.81)


def particle(*equations: Any, mass: float = 2.0) -> zw.System:
    held = [zw.Bilateral(item, name=f"f{k}") for k, item in enumerate(equations)]
    return zw.System(name="particle", mass=mass * np.eye(3), force=FORCE, constraints=held, coordinates=(X, Y, Z))


@pytest.mark.parametrize("angle", [0.0, 0.7, 2.4, -1.3])
def test_on_a_ruling_the_multiplier_grows_like_one_over_s_and_the_reaction_is_the_normal_force(angle: float) -> None:
    along = {"x": np.cos(angle), "y": np.sin(angle), "z": 1.0}
    found = zw.asymptotics(particle(X**2 + Y**2 - Z**2), {}, at=APEX, along=along)
    assert (found.status.name, found.kind) == ("CONFIRMED", "cone of signature (2, 1)")
    multiplier, reaction = found.rows
    assert (multiplier.quantity, reaction.quantity) == ("f0", "reaction at f0")
    assert (multiplier.predicted, reaction.predicted) == (-1.0, 0.0)
    assert multiplier.exponent == pytest.approx(-1.0, abs=1e-9)
    # The ruling is straight: the reaction balances the force along the normal, and the gradient has the length 2 s.
    normal = np.array([np.cos(angle), np.sin(angle), -1.0]) / np.sqrt(2)
    assert reaction.coefficient == pytest.approx(-normal @ np.array(FORCE), rel=1e-9)
    assert multiplier.coefficient == pytest.approx(reaction.coefficient / 2, rel=1e-9)


def test_the_cubic_terms_of_the_surface_enter_where_its_curves_bend() -> None:
    # z^2 = x^2 + y^2 + x^3: in the plane y = 0 the curve z = x sqrt(1 + x), which leaves along (1, 0, 1).
    mass, speed = 2.0, 1.5
    found = zw.asymptotics(particle(X**2 + Y**2 + X**3 - Z**2), {}, at=APEX, along={"x": 1, "z": 1}, speed=speed)
    # Its curvature at the apex: z'' = 1 and slope 1, so 1/(2 sqrt(2)), towards (-1, 0, 1)/sqrt(2).
    towards = np.array([-1.0, 0.0, 1.0]) / np.sqrt(2)
    needed = mass * speed**2 / (2 * np.sqrt(2)) - towards @ np.array(FORCE)
    # The gradient (2 x + 3 x^2, 0, -2 z) points the other way.
    assert found.rows[1].coefficient == pytest.approx(-needed, rel=1e-9)
    assert found.rows[0].predicted == -1.0


def test_a_cone_among_further_equations_and_repeated_ones() -> None:
    (x, y, z, w), _ = zw.coordinates("x y z w")
    cone, graph = x**2 + y**2 - z**2 + w, w - x * y
    held = [zw.Bilateral(item, name=name) for item, name in ((cone, "cone"), (graph, "graph"))]
    system = zw.System(mass=np.eye(4), force=(1, 2, 3, 4), constraints=held, coordinates=(x, y, z, w))
    # On the kernel w = 0: x^2 + x y + y^2 = z^2.
    found = zw.asymptotics(system, {}, at={"x": 0, "y": 0, "z": 0, "w": 0}, along={"x": 1, "z": -1})
    assert found.status.name == "CONFIRMED"
    assert {row.quantity: row.predicted for row in found.rows}["cone"] == -1.0


def test_the_chain_of_five_bars_at_a_cone() -> None:
    entry = zw.Linkage("chain").ground("A", 0, 0).ground("E", 1, 0).points("B C D", mass=1)
    system = entry.bar("A", "B", length=2).bar("B", "C", length=1).bar("C", "D", length=1).bar("D", "E", length=1)
    made = system.system(coordinates="joint")
    point = zw.trace(made, {}, resolution=0.6).singular_points[0]
    f = made.constraints[0].expr
    q = made.coordinates
    H = np.array(sp.hessian(f, q).subs({item: sp.Float(point.state[item.name]) for item in q}), dtype=float)
    sizes, vectors = np.linalg.eigh(H)
    minus, plus = vectors[:, 0] / np.sqrt(-sizes[0]), vectors[:, 2] / np.sqrt(sizes[2])
    along = dict(zip((item.name for item in q), minus + plus, strict=True))
    found = zw.asymptotics(made, {}, at=point, along=along)
    assert found.status.name == "CONFIRMED"
    assert [row.generic for row in found.rows] == [-1.0, 0.0]
    # The chain and its mirror image leave in opposite directions: without forces odd powers are left of the reaction.
    assert [row.predicted for row in found.rows] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("along", "error", "message"),
    [
        ({"x": 1, "z": 1.1}, zw.StateError, r"off the tangent cone .* nearest direction on it is \{'x': 0\.7071"),
        ({"x": 1, "q": 1}, zw.DeclarationError, "along= has 'q', which is no coordinate"),
        ({}, zw.DeclarationError, "along= is zero in all components"),
        (3, zw.DeclarationError, "along= must be a mapping from coordinates to the components of a direction"),
        (None, zw.DeclarationError, "leave 2 degrees of freedom; .* along= gives"),
    ],
)
def test_directions_that_are_none_are_refused_with_a_cure(along: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        zw.asymptotics(particle(X**2 + Y**2 - Z**2), {}, at=APEX, along=along)


def test_a_direction_is_refused_where_there_is_no_surface_or_no_cone() -> None:
    with pytest.raises(zw.DeclarationError, match="along= is for surfaces"):
        zw.asymptotics(particle(X**2 + Y**2 - Z**2, Y), {}, at=APEX, along={"x": 1})
    with pytest.raises(zw.DeclarationError, match="along= goes without perturb="):
        zw.asymptotics(particle(X**2 + Y**2 - Z**2), {}, at=APEX, along={"x": 1, "z": 1}, perturb="f0")
    with pytest.raises(zw.StateError, match="as on a smooth surface: the point is not singular"):
        zw.asymptotics(particle(X**2 + Y**2 - Z**2), {}, at={"x": 1, "y": 0, "z": 1}, along={"x": 1, "z": 1})
    with pytest.raises(zw.StateError, match="no direction is on it: no surface leaves the point"):
        zw.asymptotics(particle(X**2 + Y**2 + Z**2), {}, at=APEX, along={"x": 1})
    with pytest.raises(zw.StateError, match="sheets of the tangent cone touch"):
        zw.asymptotics(particle(X**2 - Y**2 * Z), {}, at=APEX, along={"z": 1})
    (x, y, z, w), v = zw.coordinates("x y z w")
    system = zw.System(kinetic=sum(item**2 for item in v), constraints=[zw.Bilateral(x**2 - y**2, name="f")],
                       coordinates=(x, y, z, w))  # fmt: skip
    with pytest.raises(zw.DeclarationError, match="leave 3 degrees of freedom; asymptotics follows curves and"):
        zw.asymptotics(system, {}, at=dict.fromkeys("xyzw", 0), along={"z": 1})
