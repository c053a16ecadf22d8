"""Perturbations by an expression with zw.eps, and the change to a normal form that is found."""

from __future__ import annotations

import copy
import pickle
import random
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

import zwang as zw
from night import by_day
from zwang.errors import DeclarationError

(X, Y), (VX, VY) = zw.coordinates("x y")
ORIGIN = {"x": 0, "y": 0}


def form(kind: str) -> tuple[zw.System, dict[str, float]]:
    """A normal form of the gallery whose constraint has no eps of its own."""
    entry = zw.gallery.get(kind)
    curve = replace(entry.system.constraints["curve"], expr=Y**2 - X ** {"crossing": 2, "tangency": 4}[kind])
    return entry.system.replace(constraints=[curve]), {k: v for k, v in entry.params.items() if k != "eps"}


def rows(found: Any) -> list[tuple[Any, ...]]:
    return [(r.sign, r.branch, r.friction, r.direction, r.exponent, r.coefficient, r.solutions) for r in found.rows]


def test_the_symbol_is_one_and_is_copied_as_one() -> None:
    assert copy.deepcopy(zw.eps) == zw.eps and pickle.loads(pickle.dumps(zw.eps)) is zw.eps
    assert zw.eps != zw.parameters("eps")


@pytest.mark.parametrize("given", [Y**2 - X**2 - zw.eps, zw.eps, "y**2 - x**2 - eps", {"curve": zw.eps}])
def test_an_expression_that_says_f_is_eps_gives_what_the_name_gives(given: Any) -> None:
    system, params = form("crossing")
    by_name = zw.asymptotics(system, params, at=ORIGIN, perturb="curve")
    found = zw.asymptotics(system, params, at=ORIGIN, perturb=given)
    assert rows(found) == rows(by_name) and found.threshold == by_name.threshold
    assert found.perturbed == "curve" and "- x**2 + y**2 = 0" in found.perturbation


def test_a_curve_that_is_shifted_as_it_opens_has_the_multipliers_of_one_that_opens_in_place() -> None:
    # (y - eps)^2 - x^2 = eps with constant A, B, W is y^2 - x^2 = eps in other coordinates; eps is quadratic in it.
    system, params = form("crossing")
    plain = zw.asymptotics(system, params, at=ORIGIN, perturb="curve", section="x")
    moved = zw.asymptotics(system, params, at=ORIGIN, perturb=(Y - zw.eps) ** 2 - X**2 - zw.eps, section="x")
    assert moved.threshold == pytest.approx(plain.threshold, rel=1e-12)
    for here, there in zip(plain.rows, moved.rows, strict=True):
        assert there.exponent == pytest.approx(here.exponent, abs=1e-6)
        assert there.coefficient == pytest.approx(here.coefficient, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_multipliers_next_to_a_perturbed_curve_are_those_of_reactions_on_it(seed: int) -> None:
    # The curve g(q, eps) = 0 declared as a constraint at a small eps, and its multiplier from `reactions`.
    source = random.Random(seed)
    a, b = (sp.Rational(source.randint(-9, 9), 10) for _ in range(2))
    kind = source.choice(("crossing", "tangency"))
    system, params = form(kind)
    curve = system.constraints["curve"]
    g = curve.expr - zw.eps * (1 + a * X + b * Y)
    found = zw.asymptotics(system, params, at=ORIGIN, perturb=g, section="x")
    smooth = system.replace(constraints=[zw.Bilateral(g.subs(zw.eps, sp.Rational(1, 10**8)), name="curve")])
    y = float(sp.nsolve(smooth.constraints["curve"].expr.subs(X, 0), Y, 1e-4))
    slope = smooth.constraints["curve"].expr
    w = [float(sp.diff(slope, item).subs({X: 0, Y: y})) for item in (X, Y)]
    v = (1.0, -w[0] / w[1])
    size = (v[0] ** 2 + v[1] ** 2) ** 0.5
    known = {item.name: params[item.name] for item in smooth.parameters}
    state = {"x": 0.0, "y": y, "v_x": v[0] / size, "v_y": v[1] / size}
    direct = float(zw.reactions(smooth, state, known).solutions[0].normal[0])
    (row,) = [r for r in found.select(sign=1, friction="without") if r.quantity == "curve" and r.branch == 0][:1]
    assert direct == pytest.approx(row.coefficient * (1e-8) ** row.exponent, rel=2e-2)  # next terms: eps^(1/2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (zw.eps * X, "vanishes at the point, which stays on the perturbed curves"),
        (Y**2 - X, "has no small parameter"),
        ("curv", "no constraint 'curv'. Did you mean 'curve'"),
        (Y - X**2 - zw.eps, "is none of the constraints for eps = 0: 'curve'"),
        (sp.Symbol("zz") * zw.eps + Y**2 - X**2, "perturb has 'zz', which the system doesn't know"),
        ({"curve": zw.eps, "other": zw.eps}, "names one constraint; it has 2"),
        ({"other": zw.eps}, "no constraint 'other'"),
        (Y**2 - X**2 - sp.sin(zw.eps) - zw.eps, "could not be solved for eps"),
    ],
)
def test_perturbations_that_can_not_be_are_refused_with_a_cure(given: Any, message: str) -> None:
    system, params = form("crossing")
    with pytest.raises(DeclarationError, match=message):
        zw.asymptotics(system, params, at=ORIGIN, perturb=given)


# --- normal forms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["crossing", "tangency"])
def test_a_normal_form_is_its_own_and_its_coefficients_are_those_of_the_paper(kind: str) -> None:
    system, params = form(kind)
    found = zw.asymptotics(system, params, at=ORIGIN).normal_form
    x, y = found.coordinates
    assert dict(found.change) == {X: x, Y: y} and found.sign == 1
    # (A^-1)_yy, (A^-1 B)_y, -mu (A^-1 W)_y for motion with positive slip: Burian 2024, (11)
    p = params
    det = p["A11"] * p["A22"] - p["A12"] ** 2
    row = (-p["A12"] / det, p["A11"] / det)
    wanted = (row[1], row[0] * p["B1"] + row[1] * p["B2"], -p["mu"] * (row[0] * p["W1"] + row[1] * p["W2"]))
    assert (found.g1, found.g2, found.g3) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize("seed", by_day(range(6), [0, 1]))
def test_a_normal_form_hidden_by_a_random_change_is_found_again(seed: int) -> None:
    source = random.Random(seed)
    (p, q), _ = zw.coordinates("p q")

    def draw() -> Any:
        return sp.Rational(source.randint(-6, 6), 5)

    kind = ("crossing", "tangency")[seed % 2]
    system, params = form(kind)
    linear = sp.Matrix([[draw(), draw()], [draw(), draw()]])
    while abs(linear.det()) < sp.Rational(1, 4):
        linear = sp.Matrix([[draw(), draw()], [draw(), draw()]])
    first, second = linear * sp.Matrix([p, q])
    hidden = system.transformed({X: first + draw() * q**2, Y: second + draw() * p * q + draw() * p**3})
    found = zw.asymptotics(hidden, params, at={"p": 0, "q": 0}).normal_form
    x, y = found.coordinates
    power = {"crossing": 2, "tangency": 4}[kind]
    assert found.power == power
    left = []
    for tau in (
        sp.Rational(1, 10**4),
        sp.Rational(1, 10**5),
    ):  # what is left falls like the degree after the last known
        at = {x: 3 * tau / 10, y: -tau / 2}
        old = {item: expr.subs(at).evalf(80) for item, expr in found.change.items()}
        inside = hidden.constraints["curve"].expr.subs(old).evalf(80)
        left.append(abs(inside - (found.sign * (y**2 - x**power)).subs(at).evalf(80)))
    assert left[1] < left[0] * sp.Float(10) ** -(found.order + 0.5) or left[0] < sp.Float(10) ** -60
    assert found.system.constraints["curve"].expr == found.sign * (y**2 - x**power)


@pytest.mark.parametrize(("f", "minus"), [(X * Y + X**3, 1), (X**4 - Y**2, -1), (X**2 - Y**2 + Y**3, 1)])
def test_axes_and_signs_are_found(f: Any, minus: int) -> None:
    system = zw.System(kinetic=(VX**2 + VY**2) / 2, constraints=[zw.Bilateral(f, name="curve")])
    found = zw.asymptotics(system, {}, at=ORIGIN).normal_form
    assert found.sign == minus and found.power == (4 if f == X**4 - Y**2 else 2)
    assert (found.g2, found.g3) == (0.0, 0.0) or found.g3 == 0.0


def test_the_multiplier_is_the_same_in_the_normal_form_of_a_mechanism() -> None:
    # Theorem 3: multipliers don't notice the coordinates. One state next to the folded pendulum, in both.
    entry = zw.gallery.get("ellipse_pendulum")
    found = zw.asymptotics(entry.system, entry.params, at={"phi": 0, "psi": sp.pi}).normal_form
    x, y = found.coordinates
    s, v = 1e-3, 0.7
    changed = {x: s, y: s, x.velocity: v, y.velocity: v}  # on the branch y = x, moving along it
    state: dict[str, float] = {}
    for old, expr in found.change.items():
        state[old.name] = float(expr.subs(changed))
        rate = sum(sp.diff(expr, new) * new.velocity for new in found.coordinates)
        state[old.velocity.name] = float(rate.subs(changed))
    known = {item.name: entry.params[item.name] for item in found.system.parameters}
    there = {"x": s, "y": s, "v_x": v, "v_y": v}
    here = zw.compile(entry.system).multipliers(state, entry.params)["ellipse"]
    assert zw.compile(found.system).multipliers(there, known)["ellipse"] == pytest.approx(here, rel=1e-6)


def test_normal_forms_that_are_not_there_are_refused() -> None:
    isolated = zw.System(kinetic=(VX**2 + VY**2) / 2, constraints=[zw.Bilateral(Y**2 - X**6, name="curve")])
    with pytest.raises(DeclarationError, match="tangency of order one; here f is"):
        zw.asymptotics(isolated, {}, at=ORIGIN).normal_form
    rods = zw.gallery.get("ellipse_pendulum_cartesian")
    found = zw.asymptotics(rods.system, rods.params, at={"x_B": 2, "y_B": 0, "x_C": 1, "y_C": 0})
    with pytest.raises(DeclarationError, match="two coordinates and one constraint"):
        found.normal_form
    again = pickle.loads(pickle.dumps(found))
    with pytest.raises(DeclarationError, match="ask asymptotics again"):
        again.normal_form
