"""Facts of the gallery's mechanisms and singular systems, and the corrected formulas of their papers."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import sympy as sp

import zwang as zw
from gallery_states import numbers
from zwang._derive import derive
from zwang.gallery.pendulum_on_ellipse import PARAMS, place

get = zw.gallery.get


def at(expr: sp.Expr, values: dict[str, float]) -> float:
    return float(expr.subs({symbol: values[symbol.name] for symbol in expr.free_symbols}))


# --- Andrews' mechanism ----------------------------------------------------------------------------------------------


def test_andrews_mechanism_starts_with_the_published_accelerations_and_multipliers() -> None:
    # Published with 30 digits; the multipliers with the other sign.
    mechanism = get("andrews")
    accelerations, multipliers = numbers(mechanism).solve()
    published = np.array(mechanism.facts["accelerations"].value)
    assert accelerations[:2] == pytest.approx(
        [14222.4439199541138705911625887, -10666.8329399655854029433719415], rel=1e-9
    )
    assert accelerations == pytest.approx(published, rel=1e-9, abs=1e-9 * 14222)
    assert multipliers[:2] == pytest.approx(
        [-98.5668703962410896057654982170, 6.12268834425566265503114393122], rel=1e-9
    )
    assert multipliers == pytest.approx(np.array(mechanism.facts["multipliers"].value), rel=1e-9, abs=1e-9 * 98)


def test_andrews_mechanism_has_the_published_mass_matrix() -> None:
    system = get("andrews").system
    q1, q2, q3, q4, q5, q6, q7 = system.coordinates
    p = {symbol.name: symbol for symbol in system.parameters}
    e, u, zt = p["e"] - p["ea"], p["u"], p["zt"]
    f, rr, da = p["zf"] - p["fa"], p["rr"], p["da"]
    m, I = ([p[f"{letter}{i}"] for i in range(1, 8)] for letter in ("m", "I"))
    M = sp.zeros(7)
    M[0, 0] = m[0] * p["ra"] ** 2 + m[1] * (rr**2 - 2 * da * rr * sp.cos(q2) + da**2) + I[0] + I[1]
    M[0, 1] = M[1, 0] = m[1] * (da**2 - da * rr * sp.cos(q2)) + I[1]
    M[1, 1] = m[1] * da**2 + I[1]
    M[2, 2] = m[2] * (p["sa"] ** 2 + p["sb"] ** 2) + I[2]
    M[3, 3] = m[3] * e**2 + I[3]
    M[3, 4] = M[4, 3] = m[3] * (e**2 + zt * e * sp.sin(q4)) + I[3]
    M[4, 4] = m[3] * (zt**2 + 2 * zt * e * sp.sin(q4) + e**2) + m[4] * (p["ta"] ** 2 + p["tb"] ** 2) + I[3] + I[4]
    M[5, 5] = m[5] * f**2 + I[5]
    M[5, 6] = M[6, 5] = m[5] * (f**2 - u * f * sp.sin(q6)) + I[5]
    M[6, 6] = m[5] * (f**2 - 2 * u * f * sp.sin(q6) + u**2) + m[6] * (p["ua"] ** 2 + p["ub"] ** 2) + I[5] + I[6]
    values = {symbol: 0.3 + 0.11 * i for i, symbol in enumerate((q1, q2, q3, q4, q5, q6, q7, *system.parameters))}
    ours, published = (np.array(matrix.subs(values).tolist(), dtype=float) for matrix in (derive(system).mass, M))
    assert ours == pytest.approx(published, rel=1e-13, abs=1e-13)


def test_the_published_end_of_andrews_mechanism_satisfies_its_constraints() -> None:
    mechanism = get("andrews")
    names = [item.name for item in mechanism.system.coordinates]
    end = dict(zip(names, mechanism.facts["solution"].value, strict=True))
    # Published with 16 digits of angles up to 16 rad on bodies of centimetres.
    assert np.abs(numbers(mechanism, end).value).max() < 1e-15


# --- four-bars and slider-crank --------------------------------------------------------------------------------------


def test_the_rhombus_swings_like_a_pendulum_and_is_singular_where_its_bars_lie_on_a_line() -> None:
    bars = get("four_bar")
    assert numbers(bars).solve()[0] == pytest.approx([bars.facts["crank_acceleration"].value] * 2, rel=1e-12)
    for alpha, gamma in bars.facts["singular_poses"].value:
        found = numbers(bars, {"alpha": alpha, "gamma": gamma})
        assert abs(found.value[0]) < 1e-15
        assert np.abs(found.rows).max() < 1e-15


def test_the_slider_is_where_and_as_fast_as_the_closed_form_says() -> None:
    crank = get("slider_crank")
    values = {**crank.params, **crank.state}
    x, _ = crank.drawing.points["C"]
    assert at(x, values) == pytest.approx(crank.facts["slider_position"].value, rel=1e-14)
    assert at(zw.rate(x), values) == pytest.approx(crank.facts["slider_velocity"].value, rel=1e-14)
    dead = [at(x, {**values, "alpha": alpha, "beta": 0.0}) for alpha in (0.0, math.pi)]
    assert dead[0] - dead[1] == pytest.approx(crank.facts["stroke"].value, rel=1e-14)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_chain_of_four_bars_moves_like_one_pendulum(n: int) -> None:
    chain = zw.gallery.n_four_bar(n)
    kappa, eta, spin = chain.facts["kappa"].value, 0.8, 0.6
    state = {}
    for i in range(n + 1):
        state |= {f"x_B{i}": i + math.sin(eta), f"y_B{i}": math.cos(eta)}
        state |= {f"v_x_B{i}": spin * math.cos(eta), f"v_y_B{i}": -spin * math.sin(eta)}
    acceleration = numbers(chain, state).solve()[0].reshape(n + 1, 2)
    turning = kappa * math.sin(eta)
    expected = turning * np.array([math.cos(eta), -math.sin(eta)]) - spin**2 * np.array([math.sin(eta), math.cos(eta)])
    assert acceleration == pytest.approx(np.tile(expected, (n + 1, 1)), rel=1e-10)


def test_the_chain_of_two_four_bars_has_the_published_motion() -> None:
    # The figures that are asked of `simulate` for N = 2.
    chain = get("n_four_bar")
    assert chain.facts["first_singular_instant"].value == pytest.approx(0.714355529292960, rel=1e-14)
    assert chain.facts["place_at_10"].value == pytest.approx((0.3284581115408154, 0.944518538178601), rel=1e-11)
    kappa = chain.facts["kappa"].value
    by_quadrature = mpmath.quad(lambda eta: 1 / mpmath.sqrt(1 + 2 * kappa * (1 - mpmath.cos(eta))), [0, mpmath.pi / 2])
    assert float(by_quadrature) == pytest.approx(chain.facts["first_singular_instant"].value, rel=1e-12)


def test_the_chain_is_singular_when_its_bars_lie_on_a_line() -> None:
    n = 2
    flat = {f"{axis}_B{i}": value for i in range(n + 1) for axis, value in (("x", i + 1.0), ("y", 0.0))}
    rows = numbers(get("n_four_bar"), flat).rows
    assert np.linalg.matrix_rank(rows, tol=1e-12) < len(rows)


# --- the pendulum on an ellipse --------------------------------------------------------------------------------------


def test_burians_free_pendulum_has_the_corrected_equations_9_and_10() -> None:
    # (9) and (10) with n = m2/(m1 + m2) and a minus before sin(phi - psi) phi'^2; determinant l1 l2 (1 - n cos^2).
    system = get("ellipse_pendulum").system
    equations = derive(system.replace(constraints=[]))
    p = {symbol.name: symbol for symbol in system.parameters}
    l1, l2, m1, m2, g = (p[name] for name in ("l1", "l2", "m1", "m2", "g"))
    (phi, psi), (w, s) = system.coordinates, system.velocities
    a, b = sp.symbols("a b")
    n = m2 / (m1 + m2)
    nine = l1 * a + n * l2 * (sp.cos(phi - psi) * b + sp.sin(phi - psi) * s**2) + g * sp.sin(phi)
    ten = l2 * b + l1 * (sp.cos(phi - psi) * a - sp.sin(phi - psi) * w**2) + g * sp.sin(psi)
    ours = equations.mass * sp.Matrix([a, b]) - equations.force
    upright = {p["tilt"]: 0}
    assert sp.simplify((ours[0] - (m1 + m2) * l1 * nine).subs(upright)) == 0
    assert sp.simplify((ours[1] - m2 * l2 * ten).subs(upright)) == 0
    determinant = (m1 + m2) * m2 * l1**2 * l2**2 * (1 - n * sp.cos(phi - psi) ** 2)
    assert sp.simplify(equations.mass.det() - determinant) == 0


def test_burians_constraints_have_the_corrected_gradient_and_right_side() -> None:
    # (13): U = sum f'' z' z' + f'.Z/m, and our gamma is minus its first part; grad f3 has (x2 - a)/r1^2.
    system = get("ellipse_pendulum_cartesian").system
    equations = derive(system)
    x1, _, x2, y2 = system.coordinates
    u1, w1, u2, w2 = system.velocities
    p = {symbol.name: symbol for symbol in system.parameters}
    a, r1, r2, g, m1 = (p[name] for name in ("a", "r1", "r2", "g", "m1"))
    assert (equations.rows[2, :] - sp.Matrix([[0, 0, (x2 - a) / r1**2, y2 / r2**2]])).expand() == sp.zeros(1, 4)
    equal = {p["tilt"]: 0, p["m2"]: m1}
    U = -equations.gamma + equations.rows * equations.force.subs(equal) / m1
    thirteen = sp.Matrix(
        [
            u1**2 + w1**2 + x1 * g,
            (u1 - u2) ** 2 + (w1 - w2) ** 2,
            u2**2 / r1**2 + w2**2 / r2**2 + (x2 - a) * g / r1**2,
        ]
    )
    assert (U - thirteen).expand() == sp.zeros(3, 1)


def test_the_gradients_at_the_folded_pose_are_dependent_and_condition_15_holds_on_both_branches() -> None:
    pendulum = get("ellipse_pendulum_cartesian")
    l1, l2, r1 = (pendulum.params[name] for name in ("l1", "l2", "r1"))
    stress = np.array(pendulum.facts["self_stress"].value)
    k = pendulum.facts["curvature"].value
    c, v = 1 / r1, 1.0
    for sign in (1, -1):
        # Corrected section 5: y1' = 2 v +- 2 v sqrt((1 - k)/2), y2' = v.
        speed = {"v_x_B": 0.0, "v_y_B": 2 * v + sign * 2 * v * math.sqrt((1 - k) / 2), "v_x_C": 0.0, "v_y_C": v}
        folded = numbers(pendulum, {"x_B": l1, "y_B": 0.0, "x_C": l1 - l2, "y_C": 0.0, **speed})
        assert folded.value == pytest.approx(np.zeros(3), abs=1e-15)
        assert stress @ folded.rows == pytest.approx(np.zeros(4), abs=1e-15)
        # (14) is the matrix of scalar products, of rank two.
        assert folded.rows @ folded.rows.T == pytest.approx(np.array([[4, 2, 0], [2, 2, -c], [0, -c, c**2]]), rel=1e-12)
        # (15) says that the self-stress does no work on the right side, and it does hold.
        right = folded.gamma - folded.rows @ np.linalg.solve(folded.mass, folded.force)
        assert stress @ right == pytest.approx(0.0, abs=1e-14)


def second_order(values: dict[str, float]) -> np.ndarray:
    """The Hessian of the guide in (phi, psi) at the folded pose."""
    system = get("ellipse_pendulum").system
    hessian = sp.hessian(system.constraints["ellipse"].expr, system.coordinates)
    point = {**values, "phi": 0.0, "psi": math.pi}
    return np.array([[at(item, point) for item in hessian.row(i)] for i in range(2)])


def test_the_branches_leave_the_singular_point_with_the_slopes_of_the_tangent_cone() -> None:
    pendulum = get("ellipse_pendulum")
    values = dict(pendulum.params)
    assert pendulum.facts["singular_a"].value == pytest.approx(values["a"], rel=1e-15)
    folded = numbers(pendulum, {"phi": 0.0, "psi": math.pi})
    assert abs(folded.value[0]) < 1e-15
    assert np.abs(folded.rows).max() < 1e-15
    hessian = second_order(values)
    for slope in pendulum.facts["crossing_slopes"].value:
        direction = np.array([1.0, slope])
        assert direction @ hessian @ direction == pytest.approx(0.0, abs=1e-12)
    # The same from the paper's velocities: psi'/phi' = (1 +- 2 w)/(1 +- w) with w = sqrt((1 - k)/2), for rods 2 and 1.
    w = math.sqrt((1 - pendulum.facts["curvature"].value) / 2)
    slopes = sorted((1 + 2 * sign * w) / (1 + sign * w) for sign in (1, -1))
    assert slopes == pytest.approx(pendulum.facts["crossing_slopes"].value, rel=1e-12)


def test_the_branches_touch_where_the_curvature_is_one() -> None:
    pendulum = get("ellipse_pendulum")
    touching = {**pendulum.params, "r2": pendulum.facts["tangency_r2"].value}
    assert np.linalg.det(second_order(touching)) == pytest.approx(0.0, abs=1e-14)
    assert np.linalg.det(second_order(dict(pendulum.params))) < 0


@pytest.mark.parametrize("label", [1, -1])
@pytest.mark.parametrize("phi", [-0.6, -0.01, 0.4])
def test_places_on_the_ellipse_are_valid_in_both_coordinates(label: int, phi: float) -> None:
    state = place(PARAMS, phi, 0.7, label)
    for name in ("ellipse_pendulum", "ellipse_pendulum_cartesian"):
        found = numbers(get(name), state)
        # Next to the fold the angle of C seen from A is known to the square root of the rounding only.
        assert np.abs(found.value).max() < 1e-13
        assert np.abs(found.rate).max() < 1e-12
    assert math.atan2(state["y_C"], state["x_C"]) == pytest.approx(phi, rel=1e-12)
    assert np.sign(math.sin(state["phi"] - phi)) == label


def test_the_multiplier_of_the_ellipse_is_the_same_in_angles_and_in_cartesian_coordinates() -> None:
    in_angles = numbers(get("ellipse_pendulum")).solve()[1]
    cartesian = numbers(get("ellipse_pendulum_cartesian")).solve()[1]
    assert cartesian[2] == pytest.approx(in_angles[0], rel=1e-12)
    string = numbers(get("ellipse_pendulum_string")).solve()[1]
    assert string[0] == pytest.approx(-in_angles[0], rel=1e-12)


def test_friction_on_the_ellipse_is_bounded_by_the_physical_normal_force() -> None:
    rough = get("ellipse_pendulum_friction")
    found = numbers(rough)
    x, y = place(PARAMS, -0.3)["x_C"], place(PARAMS, -0.3)["y_C"]
    length = math.hypot((x - PARAMS["a"]) / PARAMS["r1"] ** 2, y / PARAMS["r2"] ** 2)
    assert found.bounds == pytest.approx([rough.params["mu"] * length], rel=1e-12)
    speed = place(PARAMS, -0.3, 0.42)
    assert abs(found.slip[0]) == pytest.approx(math.hypot(speed["v_x_C"], speed["v_y_C"]), rel=1e-12)


# --- normal forms ----------------------------------------------------------------------------------------------------


def coefficients(
    name: str, eps: float, place: tuple[float, float], v: tuple[float, float]
) -> tuple[float, float, float]:
    """a, b and c of Burian's a lam + b |lam| = c, from the equations."""
    state = {"x": place[0], "y": place[1], "v_x": v[0], "v_y": v[1]}
    found = numbers(get(name), state, {"eps": eps})
    carried = np.linalg.solve(found.mass, found.rows[0])
    friction = -np.sign(found.slip[0]) * found.bounds[0] * found.slip_rows[0]
    return float(carried @ found.rows[0]), float(carried @ friction), float(found.gamma[0] - carried @ found.force)


def nearest_point(name: str, eps: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The point s_eps of f = eps next to the singular one, and the direction of the curve there."""
    if eps > 0:
        return (0.0, math.sqrt(eps)), (1.0, 0.0)
    return ((-eps) ** (1 / 2 if name == "crossing" else 1 / 4), 0.0), (0.0, 1.0)


def exponent(name: str, sign: int, friction: bool) -> float:
    """The slope of log |lam| over log |eps|, between two small values."""
    sizes = []
    for eps in (1e-10, 1e-14):
        a, b, c = coefficients(name, sign * eps, *nearest_point(name, sign * eps))
        sizes.append(math.log(abs(c / (a + b if friction else a))))
    return (sizes[0] - sizes[1]) / math.log(1e4)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_multiplier_of_a_crossing_grows_with_the_corrected_exponents(sign: int) -> None:
    without, with_friction = get("crossing").facts["exponents"].value
    assert exponent("crossing", sign, friction=False) == pytest.approx(without, abs=1e-4)
    assert exponent("crossing", sign, friction=True) == pytest.approx(with_friction, abs=1e-4)


def test_the_multiplier_of_a_tangency_grows_with_the_corrected_exponents() -> None:
    facts = get("tangency").facts
    for sign, name in ((1, "exponents_positive"), (-1, "exponents_negative")):
        without, with_friction = facts[name].value
        assert exponent("tangency", sign, friction=False) == pytest.approx(without, abs=1e-4)
        assert exponent("tangency", sign, friction=True) == pytest.approx(with_friction, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "fact", "eps"),
    [("crossing", "multiplier", 0.01), ("tangency", "multiplier", 0.01), ("tangency", "multiplier_negative", -0.01)],
)
def test_the_frictionless_multiplier_next_to_the_singular_point_is_that_of_the_paper(
    name: str, fact: str, eps: float
) -> None:
    a, _, c = coefficients(name, eps, *nearest_point(name, eps))
    assert c / a == pytest.approx(get(name).facts[fact].value, rel=1e-12)


def test_two_solutions_one_way_and_none_the_other_hold_below_the_threshold_only() -> None:
    threshold = get("crossing").facts["threshold"].value
    a, b, _ = coefficients("crossing", threshold, *nearest_point("crossing", threshold))
    assert abs(b) == pytest.approx(a, rel=1e-12)
    for eps, counts in ((threshold / 2, {0, 2}), (2 * threshold, {1})):
        place, v = nearest_point("crossing", eps)
        found = set()
        for sign in (1, -1):
            a, b, c = coefficients("crossing", eps, place, (sign * v[0], v[1]))
            found.add((c / (a + b) > 0) + (c / (a - b) < 0))
        assert found == counts


def test_the_normal_forms_have_the_slopes_and_the_order_of_their_branches() -> None:
    (x, y) = get("crossing").system.coordinates
    curve = get("crossing").system.constraints["curve"].expr.subs(sp.Symbol("eps", real=True), 0)
    assert all(curve.subs(y, int(slope) * x).expand() == 0 for slope in get("crossing").facts["slopes"].value)
    other = get("tangency").system.constraints["curve"].expr.subs(sp.Symbol("eps", real=True), 0)
    # Branches y = +-x^2: equal values and slopes, unequal curvatures, so the order of contact is 1.
    assert other.subs(y, x**2).expand() == other.subs(y, -(x**2)).expand() == 0
    assert get("tangency").facts["order"].value == 1.0
