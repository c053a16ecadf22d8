"""Changes of coordinates (Burian 2024, theorem 3): the transformed system has the same motion and multipliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw

(X, Y), (VX, VY) = zw.coordinates("x y")
(P, Q), (VP, VQ) = zw.coordinates("p q")
CHANGE = {X: P + Q**2 / 3 + sp.sin(Q) / 5, Y: Q - P * Q / 4 + P**3 / 6}


def old_state(new: dict[str, float], change: dict[Any, Any] = CHANGE) -> dict[str, float]:
    """Return the state in the old coordinates."""
    values = {P: new["p"], Q: new["q"]}
    rates = {P: new["v_p"], Q: new["v_q"]}
    found = {}
    for old, expr in change.items():
        found[old.name] = float(expr.subs(values))
        found[f"v_{old.name}"] = float(sum(sp.diff(expr, p).subs(values) * rates[p] for p in (P, Q)))
    return found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_normal_form_in_other_coordinates_has_the_same_multiplier(seed: int) -> None:
    source = np.random.default_rng(seed)
    system = zw.gallery.normal_form("crossing", A=[[2, X / 5], [X / 5, 1 + Y**2]], B=(X - VY**2, 1 + VX * VY), W=(1, X))
    moved = system.transformed(CHANGE)
    assert [item.name for item in moved.coordinates] == ["p", "q"]
    new = dict(zip(("p", "q", "v_p", "v_q"), source.uniform(0.2, 0.8, 4), strict=True))
    old = old_state(new)
    params = {"eps": old["y"] ** 2 - old["x"] ** 2, "mu": 0.3}
    # any velocity: multipliers solve the acceleration-level equations whether or not it is tangent
    a = zw.compile(system, backend="reference").evaluate(old, params)
    b = zw.compile(moved, backend="reference").evaluate(new, params)
    assert b.multipliers["curve"] == pytest.approx(a.multipliers["curve"], rel=1e-12)
    assert b.slips["curve"] == pytest.approx(a.slips["curve"], rel=1e-12)


def test_energies_forces_and_time_go_along() -> None:
    m, g = zw.parameters("m g")
    plane = zw.System(
        name="plane",
        kinetic=m * (VX**2 + VY**2) / 2,
        potential=m * g * Y,
        forces={X: -VX * Y, Y: sp.cos(zw.t)},
        constraints=[zw.Bilateral(X**2 + Y**2 - 1, name="circle"), zw.Unilateral(Y, restitution=g / 20, name="floor")],
    )
    change = {X: P + zw.t * Q, Y: Q + P**2 / 2}
    moved = plane.transformed(change, name="moved")
    new = {"p": 0.3, "q": 0.7, "v_p": -0.4, "v_q": 0.9, "t": 0.6}
    values = {P: 0.3, Q: 0.7, VP: -0.4, VQ: 0.9, zw.t: 0.6}
    old: dict[str, float] = {"t": 0.6}
    for q, expr in change.items():
        old[q.name] = float(expr.subs(values))
        old[f"v_{q.name}"] = float(zw.rate(expr).subs(values))
    params = {"m": 1.5, "g": 9.81}
    first = zw.compile(plane, backend="reference").evaluate(old, params)
    second = zw.compile(moved, backend="reference").evaluate(new, params)
    assert second.multipliers["circle"] == pytest.approx(first.multipliers["circle"], rel=1e-12)
    assert second.energies["total"] == pytest.approx(first.energies["total"], rel=1e-12)
    assert moved.name == "moved" and moved.constraints["floor"].restitution == g / 20


def test_thresholds_and_exponents_do_not_depend_on_the_coordinates() -> None:
    # a, b, c of (8) are coordinate-free (corollary 2): at corresponding sections everything is the same
    form = zw.gallery.get("crossing")
    moved = form.system.transformed(CHANGE)
    plain = zw.asymptotics(form.system, form.params, at={"x": 0, "y": 0}, perturb="curve", section=X)
    other = zw.asymptotics(moved, form.params, at={"p": 0, "q": 0}, perturb="curve", section=CHANGE[X])
    assert other.threshold == pytest.approx(plain.threshold, rel=1e-12)
    assert [row.predicted for row in other.rows] == [row.predicted for row in plain.rows]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "needs a mapping from old coordinates"),
        ({"z": P}, "'z', which is no coordinate"),
        ({X: "p"}, "must be an expression of symbols"),
        ({X: VP, Y: Q}, "must not have velocities"),
        ({X: P, Y: P}, "can't be expressed one to one by 1"),
        ({X: P + Q, Y: 2 * P + 2 * Q}, "not one to one"),
    ],
)
def test_changes_that_are_none_are_refused(change: dict[Any, Any], words: str) -> None:
    system = zw.System(kinetic=(VX**2 + VY**2) / 2, coordinates=(X, Y))
    with pytest.raises(zw.DeclarationError) as mistake:
        system.transformed(change)
    assert words in str(mistake.value)
