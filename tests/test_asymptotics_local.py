"""What the local type says of the growth, that it is said before anything is evaluated, and what can't be asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner
from flint import arb

import zwang as zw
from zwang._asymptotics import measure
from zwang._asymptotics.measure import Power, _settled, measured_power
from zwang.cli import main

(X, Y), (VX, VY) = zw.coordinates("x y")
ORIGIN = {"x": 0, "y": 0}


def plane_curve(f: Any, *more: Any) -> zw.System:
    """Return a particle with a skew mass matrix and a skew constant force on a plane curve."""
    third = sp.Rational(1, 3)
    return zw.System(
        name="curve",
        mass=[[2, third], [third, 1]],
        force=[sp.Rational(3, 10), sp.Rational(-7, 10)],
        constraints=[zw.Bilateral(f, name="curve"), *more],
        coordinates=(X, Y),
    )


@pytest.mark.parametrize(
    ("f", "exponents"),
    # On a branch |grad f| vanishes like the product of the distances to the other branches: k lines: s^(k-1); contact
    # of order p: s^(p+1). The reaction stays finite unless the curvature does not: y^2 = x^3 has y'' ~ s^(-1/2), which
    # adds 1/2 to 3/2; y^2 = x^5 has y'' ~ s^(1/2). On the cusp of (x + y)(y^2 - x^3) both count: 2 + 1.
    [
        (Y**2 - X**3, [-2.0, -2.0]),
        (Y**2 - X**5, [-2.5, -2.5]),
        (Y**2 - X**6, [-3.0] * 4),
        (Y**2 - X**7, [-3.5, -3.5]),
        (Y * (Y - X) * (Y + X), [-2.0] * 6),
        (Y * (Y - X) * (2 * X + Y) * (X + 3 * Y), [-3.0] * 8),
        ((Y - X**2) * (Y - X**2 - X**3), [-3.0] * 4),
        ((X + Y) * (Y**2 - X**3), [-3.0, -3.0, -2.0, -2.0]),
        (sp.sin(Y) ** 2 - X**2 * sp.cos(X), [-1.0] * 4),
    ],
)
def test_multipliers_grow_as_the_contact_with_the_other_branches_and_the_curvature_say(
    f: Any, exponents: list[float]
) -> None:
    found = zw.asymptotics(plane_curve(f), {}, at=ORIGIN)
    assert found.status.name == "CONFIRMED"
    assert sorted(row.predicted for row in found.rows) == sorted(exponents)
    assert sorted(row.exponent for row in found.rows) == pytest.approx(sorted(exponents), abs=1e-6)
    assert all(row.coefficient == pytest.approx(row.predicted_coefficient, rel=1e-6) for row in found.rows)


def test_the_prediction_stays_when_the_evaluator_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise ArithmeticError("broken")

    monkeypatch.setattr(measure, "evaluate", broken)
    form = zw.gallery.get("tangency")
    found = zw.asymptotics(form.system, form.params, at=ORIGIN, perturb="curve")
    assert found.status.name == "PREDICTED"
    assert np.isnan([row.exponent for row in found.rows]).all()
    assert {row.predicted for row in found.select(sign=1, quantity="curve")} == {-0.5, 0.0}
    assert {row.predicted for row in found.select(sign=-1, quantity="curve")} == {-1.5, -0.75}


def test_a_wrong_evaluator_contradicts_the_prediction(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(way: Any, q: Any) -> Any:
        return {key: value * way.size(q) for key, value in way.values(q).items()}

    monkeypatch.setattr(measure, "evaluate", wrong)
    found = zw.asymptotics(plane_curve(Y**2 - X**2), {}, at=ORIGIN)
    assert found.status.name == "CONTRADICTED"
    assert {row.predicted for row in found.rows} == {-1.0}


def test_the_only_singular_point_is_taken_where_none_is_given_and_branches_are_numbered_as_trace_numbers_them() -> None:
    entry = zw.gallery.get("ellipse_pendulum")
    point = zw.trace(entry.system, entry.params).singular_points[0]
    found = zw.asymptotics(entry.system, entry.params)
    assert found.kind == "crossing of 2 branches"
    assert found.point == pytest.approx({"phi": 0.0, "psi": np.pi})
    for k, half in enumerate(point.branches):
        away = found.select(branch=k)[0].velocity
        assert [away["phi"], away["psi"]] == pytest.approx(list(half.tangent), abs=1e-9)


def test_an_isolated_point_has_no_branches_but_a_perturbed_oval() -> None:
    system = plane_curve(X**2 + 2 * Y**2)
    assert zw.asymptotics(system, {}, at=ORIGIN).status.name == "ISOLATED"
    found = zw.asymptotics(system, {}, at=ORIGIN, perturb="curve")
    assert {row.sign for row in found.rows} == {1}
    assert {row.predicted for row in found.rows} == {-1.0}


def test_a_perturbed_constraint_that_takes_no_part_in_the_dependence_leaves_the_point_singular() -> None:
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    system = zw.System(
        kinetic=(vx**2 + vy**2 + vz**2) / 2,
        constraints=[zw.Bilateral(y**2 - x**2, name="cross"), zw.Bilateral(z, name="plane")],
    )
    at = {"x": 0, "y": 0, "z": 0}
    assert zw.asymptotics(system, {}, at=at, perturb="plane").status.name == "PERSISTENT"
    assert zw.asymptotics(system, {}, at=at, perturb="cross").status.name == "CONFIRMED"


def test_a_redundant_constraint_is_named_and_left_out() -> None:
    system = plane_curve(Y**2 - X**2, zw.Bilateral(2 * Y**2 - 2 * X**2, name="twice"))
    found = zw.asymptotics(system, {}, at=ORIGIN)
    assert {row.quantity for row in found.rows} == {"curve"}
    assert "Redundant everywhere, left out with their multipliers: twice." in found.notes


def test_a_square_is_said_not_to_be_resolved() -> None:
    found = zw.asymptotics(plane_curve((Y - X) ** 2), {}, at=ORIGIN)
    assert found.status.name == "UNRESOLVED" and not found.rows


def test_only_the_nearest_point_of_each_perturbed_curve_is_a_way_in() -> None:
    # y^3 - x^5 = eps is one smooth curve; it is stationary in the distance at three points, nearest at (0, eps^(1/3))
    found = zw.asymptotics(plane_curve(Y**3 - X**5), {}, at=ORIGIN, perturb="curve")
    assert [(row.sign, row.branch) for row in found.rows] == [(1, 0), (-1, 0)]
    assert [row.predicted for row in found.rows] == pytest.approx([-2 / 3, -2 / 3])


def test_speed_may_be_that_of_an_expression_or_kinetic() -> None:
    system = plane_curve(Y**2 - X**4)
    plain = zw.asymptotics(system, {}, at=ORIGIN, speed=2)
    other = zw.asymptotics(system, {}, at=ORIGIN, speed=2, speed_of="x")
    kinetic = zw.asymptotics(system, {}, at=ORIGIN, speed=2 * sp.sqrt(2), speed_of="kinetic")
    for a, b, c in zip(plain.rows, other.rows, kinetic.rows, strict=True):  # at the point v = (+-2, 0), M_xx = 2
        assert a.coefficient == pytest.approx(b.coefficient) == pytest.approx(c.coefficient)


def test_results_are_saved_read_back_drawn_and_printed(tmp_path: Path) -> None:
    form = zw.gallery.get("crossing")
    found = zw.asymptotics(form.system, form.params, at=ORIGIN, perturb="curve", section="x")
    again = zw.load_result(found.save(tmp_path / "crossing.npz"))
    assert repr(again) == repr(found)
    assert again.threshold == found.threshold
    labels = found.plot().get_legend_handles_labels()[1]
    assert "curve, eps > 0: exponent −1" in labels
    assert "perturbed: curve = eps, at the zero of x; exponents in |eps|" in repr(found)


def test_the_command_prints_the_table_and_json() -> None:
    run = CliRunner()
    shown = run.invoke(main, ["asymptotics", "crossing", "--at", "x=0", "y=0", "--perturb", "curve", "--section", "x"])
    assert shown.exit_code == 0 and "CONFIRMED" in shown.output and "-1/2" in shown.output
    plain = run.invoke(main, ["asymptotics", "curve_node", "--at", "x=0", "y=0", "--json"])
    assert plain.exit_code == 0 and '"status": "CONFIRMED"' in plain.output
    wrong = run.invoke(main, ["asymptotics", "crossing", "--at", "x=", "y=0"])
    assert wrong.exit_code == 2 and "a number is missing" in wrong.output


SMOOTH = plane_curve(Y - X**2)
CROSS = plane_curve(Y**2 - X**2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: zw.asymptotics(SMOOTH, {}, at=ORIGIN), "the point is not singular"),
        (lambda: zw.asymptotics(SMOOTH, {}), "There are 0: none was found"),
        (lambda: zw.asymptotics(CROSS, {}, at={"x": 1, "y": 0}), "off constraint 'curve' by -1.0e+00"),
        (lambda: zw.asymptotics(CROSS, {}, at={"x": 0}), "at= has no value for 'y'"),
        (lambda: zw.asymptotics(CROSS, {}, at={"x": 0, "y": 0, "z": 1}), "at= has 'z'"),
        (lambda: zw.asymptotics(CROSS, {}, at=3), "must be a singular point of trace or a mapping"),
        (lambda: zw.asymptotics(CROSS, {"k": 1}, at=ORIGIN), "params has 'k'"),
        (lambda: zw.asymptotics(CROSS, 3, at=ORIGIN), "params must be a mapping"),  # type: ignore[arg-type]
        (lambda: zw.asymptotics(CROSS, {}, at=ORIGIN, perturb="curv"), "There is no constraint 'curv'"),
        (lambda: zw.asymptotics(CROSS, {}, at=ORIGIN, section="x"), "section= goes with perturb="),
        (lambda: zw.asymptotics(CROSS, {}, at=ORIGIN, perturb="curve", section="x + 1"), "must vanish at the singular"),
        (
            lambda: zw.asymptotics(CROSS, {}, at=ORIGIN, perturb="curve", section="v_x"),
            "an expression of the coordinates",
        ),
        (lambda: zw.asymptotics(CROSS, {}, at=ORIGIN, perturb="curve", section="k*x"), "section has 'k'"),
        (lambda: zw.asymptotics(CROSS, {}, at=ORIGIN, perturb="curve", section={2: "x"}), "has the keys 1 and -1"),
        (
            lambda: zw.asymptotics(CROSS, {}, at=ORIGIN, perturb="curve", distance="x"),
            "distance= goes without perturb=",
        ),
        (lambda: zw.asymptotics(CROSS, {}, at=ORIGIN, speed=0), "speed= must be a finite number greater than 0"),
        (lambda: zw.asymptotics(CROSS, {}, at=ORIGIN, speed="fast"), "speed= must be a finite number greater than 0"),
        (lambda: zw.asymptotics("crossing", {}, at=ORIGIN), "needs a System or a Model"),  # type: ignore[arg-type]
        (lambda: zw.asymptotics(zw.gallery.get("crossing").system, {}, at=ORIGIN), "params has no value for 'A11'"),
        (lambda: zw.asymptotics(plane_curve(Y**2 - X**2 - zw.t), {}, at=ORIGIN), "depends on time"),
        (lambda: zw.asymptotics(zw.gallery.get("painleve_rod").system, {}, at=ORIGIN), "params has no value"),
        (
            lambda: zw.asymptotics(zw.System(kinetic=(VX**2 + VY**2) / 2), {}, at=ORIGIN),
            "bilateral constraints on positions, and the system has none",
        ),
        (
            lambda: zw.asymptotics(plane_curve(Y**2 - X**2, zw.Unilateral(X + 1, name="wall")), {}, ORIGIN, "wall"),
            "'wall' is no bilateral constraint on positions",
        ),
    ],
)
def test_mistakes_say_what_was_given_and_what_is_needed(call: Any, words: str) -> None:
    with pytest.raises(zw.ZwangError) as mistake:
        call()
    assert words in str(mistake.value)


def test_a_surface_has_no_branches_to_follow() -> None:
    cone = zw.gallery.get("surface_cone")
    with pytest.raises(zw.DeclarationError, match="leave 2 degrees of freedom"):
        zw.asymptotics(cone.system, cone.params, at={item.name: 0 for item in cone.system.coordinates})


def test_branches_that_cross_in_space_are_followed_from_their_tangents() -> None:
    # x (y - z) = y (z - x) = 0 to second order: four lines through the origin, each a simple solution; exponent -1
    (x, y, z), _ = zw.coordinates("x y z")
    system = zw.System(
        name="lines",
        mass=sp.eye(3) + sp.ones(3) / 5,
        force=[sp.Rational(1, 3), -1, sp.Rational(1, 2)],
        constraints=[zw.Bilateral(x * (y - z) + x**3, name="one"), zw.Bilateral(y * (z - x), name="two")],
        coordinates=(x, y, z),
    )
    found = zw.asymptotics(system, {}, at={"x": 0, "y": 0, "z": 0})
    assert found.kind == "crossing of 4 branches" and found.status.name == "CONFIRMED"
    assert len(found.rows) == 16 and {row.predicted for row in found.rows} == {-1.0}


def test_friction_with_a_known_bound_does_not_change_the_number_of_solutions() -> None:
    curve = zw.Bilateral(Y**2 - X**2, friction=zw.Coulomb(0.3, slip=VX + VY / 2), name="curve")
    brake = zw.Friction(0.5, slip=VX - VY / 3, name="brake")
    system = plane_curve(Y**2 - X**2).replace(constraints=[curve, brake])
    found = zw.asymptotics(system, {}, at=ORIGIN, perturb="curve", section="x")
    assert not [note for note in found.notes if "counts otherwise" in note]
    assert {tuple(row.solutions.values()) for row in found.select(friction="+")} == {(0, 2), (2, 0)}
    assert {abs(row.coefficient) for row in found.select(quantity="friction at brake")} == {0.5}


def double_watt(forces, r=1, c=1, d=2):
    """Return two Watt linkages, arms r and couplers c, whose couplers' middles a link d joins, and their cusp.

    All arms are level there: each middle is at the inflection of its curve, so that u^2 ~ s^5.
    """
    q, v = zw.coordinates("x_A y_A x_B y_B x_C y_C x_D y_D")
    points = [(q[2 * i], q[2 * i + 1]) for i in range(4)]
    half = sp.Rational(c, 2)
    pivots = [(-r, half), (r, -half), (d - r, -half), (d + r, half)]
    middles = [[(a + b) / 2 for a, b in zip(points[i], points[i + 1], strict=True)] for i in (0, 2)]

    def bar(a, b, length, name):
        return zw.Bilateral(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 - length**2) / 2, name=name)

    constraints = [bar(pivots[i], points[i], r, f"arm{i}") for i in range(4)]
    constraints += [bar(points[i], points[i + 1], c, f"coupler{i}") for i in (0, 2)]
    constraints.append(bar(*middles, d, "link"))
    system = zw.System(
        name="double_watt",
        kinetic=sum(item**2 for item in v) / 2,
        forces=dict(zip(q, forces, strict=True)),
        constraints=constraints,
    )
    places = (0, 0.5 * c, 0, -0.5 * c, d, -0.5 * c, d, 0.5 * c)
    return system, dict(zip((item.name for item in q), map(float, places), strict=True))


def test_arc_out_of_the_cusp_of_the_double_watt_linkage_is_followed_back_into_it():
    system, cusp = double_watt((0,) * 8)
    space = zw.trace(system, {})
    assert space.status.name == "TRACED"
    (point,) = space.singular_points
    assert point.kind == "cusp"
    assert [point.state[name] for name in cusp] == pytest.approx(list(cusp.values()), abs=1e-9)
    # It leaves along one half-branch and comes back along the other: points next to the cusp are known to 1e-12 only.
    assert len(space.branches) == 1 and len(point.branches) == 2
    assert space.residual < 1e-13


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("forces", "arms", "couplers"),
    [
        # The multiplier of a dependence is what no motion along the branch takes up, over u ~ s^(5/2): there is some
        # unless the force on both middles is the same, as their weight is.
        ((3, -7, 2, 5, -4, 4, 6, -3), -2.5, -1.5),
        ((0, -1, 0, -1, 0, -1, 0, -1), -2.0, -1.0),
    ],
)
def test_cusp_of_the_double_watt_linkage_has_the_exponents_of_its_type(forces, arms, couplers):
    system, cusp = double_watt(forces)
    found = zw.asymptotics(system, {}, at=cusp)
    assert found.status.name == "CONFIRMED"
    for row in found.rows:
        assert row.exponent == pytest.approx(couplers if row.quantity.startswith("coupler") else arms, abs=1e-6)
        assert np.isfinite(row.coefficient)


@pytest.mark.parametrize("power", [5, 7])
def test_series_of_a_high_cusp_are_carried_on_as_far_as_asked(power):
    # y^2 = x^power on a bent sheet: dividing by the rows loses `power` orders, and coefficients grow like 3^k.
    (x, y, z), (u, v, w) = zw.coordinates("x y z")
    sheet = zw.Bilateral(z - x / (1 - 3 * x) - y**2, name="sheet")
    cusp = zw.Bilateral(y**2 * (1 + 2 * z) - x**power / (1 - 3 * x), name="cusp")
    system = zw.System(
        name="bent", kinetic=(u**2 + v**2 + w**2) / 2, forces={y: 1, z: sp.Rational(1, 3)}, constraints=[sheet, cusp]
    )
    found = zw.asymptotics(system, {}, at={"x": 0.0, "y": 0.0, "z": 0.0})
    assert found.status.name == "CONFIRMED"
    # The force across the cusp is one, over dF/dy = 2 y ~ x^(power/2).
    assert {round(row.exponent, 6) for row in found.rows if row.quantity == "cusp"} == {-power / 2}


def test_measurement_that_does_not_settle_is_none():
    x = [arb(2) ** -k for k in range(10)]
    wild = measured_power(x, [arb(10) ** (7 * (-1) ** k) for k in range(10)])
    assert not _settled(wild)
    assert _settled(measured_power(x, [3 * item**-2 for item in x]))
    assert not _settled(Power(arb(1), arb("inf"), 0.0))


def test_values_that_are_rounding_at_the_nearest_points_take_no_part():
    x = [arb(2) ** -k for k in range(20)]
    y = [3 * item**-2 * (1 + item) for item in x]
    y[-2:] = [y[-2] * (1 + arb(1e-3)), y[-1] * (1 - arb(0.03))]
    found = measured_power(x, y)
    assert float(found.exponent) == pytest.approx(-2, abs=1e-9)
    assert float(found.coefficient) == pytest.approx(3, abs=1e-9)
