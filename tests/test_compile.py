"""Models: values checked and broadcast, states checked and projected, redundant constraints told apart."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._compile import given_values
from zwang._results.evaluation import EvaluationStatus

(x, y), (vx, vy) = zw.coordinates("x y")
m, g, length = zw.parameters("m g l")
PENDULUM = zw.System(
    name="pendulum",
    kinetic=m * (vx**2 + vy**2) / 2,
    potential=m * g * y,
    constraints=[zw.Bilateral((x**2 + y**2 - length**2) / 2, name="rod")],
)
PARAMS = {"m": 2.0, "g": 10.0, "l": 5.0}
STATE = {"x": 3.0, "y": 4.0, "v_x": 0.0, "v_y": 0.0}
BACKENDS = ["reference", "native"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_pendulum_at_rest_has_the_textbook_acceleration_and_tension(backend: str) -> None:
    found = zw.compile(PENDULUM, backend).evaluate(STATE, PARAMS)
    # g sin(angle) along the tangent: a = g cos^2 ... with unit rod (3, 4)/5: a = -g (e_y - n n_y), lam = m g y / l^2.
    np.testing.assert_allclose(found.accelerations, [10 * 0.6 * 0.8, -10 * 0.36], rtol=1e-14)
    assert found.multipliers["rod"] == pytest.approx(2 * 10 * 4 / 25, rel=1e-14)
    assert found.status is EvaluationStatus.DETERMINED and found.residual < 1e-14
    assert found.energies["total"] == pytest.approx(80.0)


def test_symbols_and_names_are_both_keys() -> None:
    model = zw.compile(PENDULUM)
    by_symbol = model.accelerations({x: 3, y: 4, vx: 0, vy: 0}, {m: 2, g: 10, length: 5})
    np.testing.assert_array_equal(by_symbol, model.accelerations(STATE, PARAMS))


def test_a_batch_in_portions_is_the_batch_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    model = zw.compile(entry.system)
    state = {name: value + np.linspace(0, 0.01, 21).reshape(3, 7) for name, value in entry.state.items()}
    params = {**entry.params, "g": np.linspace(1, 2, 21).reshape(3, 7)}
    whole = model.evaluate(state, params)
    monkeypatch.setattr(given_values, "AT_ONCE", 4 * 28)
    parts = model.evaluate(state, params)
    assert parts.status is whole.status
    for found, expected in (
        (parts.accelerations, whole.accelerations),
        (parts.residual, whole.residual),
        (parts.multipliers["ellipse"], whole.multipliers["ellipse"]),
        (parts.gaps["ellipse"], whole.gaps["ellipse"]),
        (parts.energies["total"], whole.energies["total"]),
        (parts.regular, whole.regular),
    ):
        assert found.tobytes() == expected.tobytes()
        assert found.shape[-2:] == (3, 7)


def test_arrays_broadcast_to_a_batch_of_any_shape() -> None:
    model = zw.compile(PENDULUM)
    found = model.evaluate({**STATE, "v_x": np.zeros((4, 1))}, {**PARAMS, "g": np.linspace(1, 3, 3)})
    assert found.accelerations.shape == (2, 4, 3)
    assert found.multipliers["rod"].shape == (4, 3)
    np.testing.assert_allclose(found.multipliers["rod"][2], np.array([1, 2, 3]) * 8 / 25, rtol=1e-14)


BAD = {
    "missing state": ({"x": 3, "y": 4, "v_x": 0}, PARAMS, "state has no value for 'v_y'. Physics has no defaults"),
    "missing parameter": (STATE, {"m": 1, "g": 1}, "params has no value for 'l'"),
    "unknown state": ({**STATE, "z": 1}, PARAMS, "state has 'z', which the system doesn't know"),
    "unknown parameter": (STATE, {**PARAMS, "gg": 1}, "Did you mean 'g'"),
    "not finite": ({**STATE, "x": np.nan}, PARAMS, "'x' has a value that is not finite"),
    "infinite parameter": (STATE, {**PARAMS, "m": np.inf}, "'m' has a value that is not finite"),
    "not a number": ({**STATE, "x": "three"}, PARAMS, "'x' must be a real number or an array"),
    "complex": ({**STATE, "x": 1j}, PARAMS, "'x' must be a real number or an array"),
    "shapes": ({**STATE, "x": np.ones(3), "y": np.ones(4)}, PARAMS, r"don't broadcast together: x \(3,\), y \(4,\)"),
    "empty": ({**STATE, "x": np.ones(0)}, PARAMS, "holds no state"),
    "not a mapping": ([3, 4, 0, 0], PARAMS, "state must be a mapping"),
    "no params": (STATE, None, "params has no value for 'g', 'l', 'm'"),
    "twice": ({**STATE, x: 3}, PARAMS, "state has 'x' twice"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_values_are_refused_with_a_cure(case: str) -> None:
    state, params, message = BAD[case]
    with pytest.raises(zw.DeclarationError, match=message):
        zw.compile(PENDULUM).evaluate(state, params)


def test_a_state_off_its_constraint_says_by_how_much_and_how_to_project() -> None:
    model = zw.compile(PENDULUM)
    with pytest.raises(zw.StateError, match=r"pendulum: the state is off constraint 'rod' by 3.5e\+00 .*project"):
        model.check({**STATE, "x": 4.0}, PARAMS)
    with pytest.raises(zw.StateError, match="has a velocity that leaves constraint 'rod'"):
        model.check({**STATE, "v_x": 1.0}, PARAMS)


def test_projection_moves_a_state_onto_its_constraints() -> None:
    model = zw.compile(PENDULUM)
    found = model.project({"x": 3.3, "y": 4.4, "v_x": 1.0, "v_y": 1.0}, PARAMS)
    # Equal masses: the nearest point of the circle lies on the ray, the velocity keeps its tangential part.
    assert (found["x"], found["y"]) == pytest.approx((3, 4), rel=1e-12)
    assert (found["v_x"], found["v_y"]) == pytest.approx((0.16, -0.12), rel=1e-12)
    assert model.check(found, PARAMS) < 1e-12


def test_projection_says_when_it_reaches_nothing() -> None:
    empty = zw.System(kinetic=vx**2, constraints=[zw.Bilateral(x**2 + 1, name="nowhere")])
    with pytest.raises(zw.StateError, match="no state that satisfies the constraints was reached"):
        zw.compile(empty).project({"x": 0.3, "v_x": 0})


@pytest.mark.parametrize("backend", BACKENDS)
def test_redundant_constraints_are_flagged_and_the_acceleration_is_right(backend: str) -> None:
    twice = PENDULUM.replace(constraints=[*PENDULUM.constraints, zw.Bilateral(x**2 + y**2 - length**2, name="again")])
    found = zw.compile(twice, backend).evaluate(STATE, PARAMS)
    assert found.status is EvaluationStatus.REDUNDANT and not found.regular
    np.testing.assert_allclose(found.accelerations, [4.8, -3.6], rtol=1e-12)
    total = found.multipliers["rod"] + 2 * found.multipliers["again"]
    assert total == pytest.approx(3.2, rel=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_contradicting_constraints_are_inconsistent(backend: str) -> None:
    both = zw.System(
        kinetic=vx**2 + vy**2, constraints=[zw.Bilateral(x - zw.t**2, name="a"), zw.Bilateral(x, name="b")]
    )
    found = zw.compile(both, backend).evaluate({"x": 0, "y": 0, "v_x": 0, "v_y": 0})
    assert found.status is EvaluationStatus.INCONSISTENT and found.residual > 0.1


def test_a_mass_matrix_that_is_not_positive_definite_is_a_declaration_error() -> None:
    odd = zw.System(kinetic=x * vx**2 / 2)
    for backend in BACKENDS:
        with pytest.raises(zw.DeclarationError, match="mass matrix is not positive definite: the motion 1 v_x"):
            zw.compile(odd, backend).evaluate({"x": -1, "v_x": 0})


def test_active_names_choose_which_constraints_hold() -> None:
    system = PENDULUM.replace(constraints=[*PENDULUM.constraints, zw.Unilateral(y, name="floor")])
    model = zw.compile(system)
    assert list(model.multipliers(STATE, PARAMS)) == ["rod"]
    assert list(model.multipliers(STATE, PARAMS, active=["floor"])) == ["floor"]
    assert model.multipliers(STATE, PARAMS, active=["floor"])["floor"] == pytest.approx(20.0)
    with pytest.raises(zw.DeclarationError, match="Did you mean 'floor'"):
        model.evaluate(STATE, PARAMS, active=["flor"])


def test_the_same_content_is_compiled_once_and_an_unknown_backend_is_named() -> None:
    assert zw.compile(PENDULUM) is zw.compile(PENDULUM)
    assert zw.compile(zw.compile(PENDULUM)) is zw.compile(PENDULUM)
    with pytest.raises(zw.CompileError, match="no backend 'nativ'. Did you mean 'native'"):
        zw.compile(PENDULUM, "nativ")
    with pytest.raises(zw.DeclarationError, match="compile needs a System"):
        zw.compile(3)


def test_two_models_in_one_process_never_share_a_kernel() -> None:
    scaled = [PENDULUM.replace(potential=k * m * g * y) for k in (1, 2, 3)]
    tensions = [zw.compile(item).multipliers(STATE, PARAMS)["rod"] for item in scaled]
    assert tensions == pytest.approx([3.2, 6.4, 9.6], rel=1e-14)


TWO = """
import zwang as zw
(x, y), (vx, vy) = zw.coordinates("x y")
k = {k}
s = zw.System(kinetic=vx**2 + vy**2, potential=k * y, constraints=[zw.Bilateral(y, name="rail")])
print(float(zw.compile(s).multipliers(dict(x=0, y=0, v_x=0, v_y=0))["rail"]))
"""


def test_two_models_in_two_processes_never_share_a_kernel(tmp_path) -> None:
    environment = {**os.environ, "ZWANG_CACHE_DIR": str(tmp_path / "cache")}
    commands = [[sys.executable, "-c", TWO.format(k=k)] for k in (3, 7, 3)]
    running = [subprocess.Popen(item, stdout=subprocess.PIPE, env=environment, text=True) for item in commands]
    printed = [item.communicate(timeout=120)[0] for item in running]
    assert [float(item) for item in printed] == [3.0, 7.0, 3.0]


def chain(n: int, *, closed: bool = False) -> tuple[zw.System, dict[str, float]]:
    q, v = zw.coordinates(" ".join(f"x{i} y{i}" for i in range(n)))
    points = [(q[2 * i], q[2 * i + 1]) for i in range(n)]
    anchors = [(sp.Integer(0), sp.Integer(0)), *points]
    rods = [
        zw.Bilateral(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 - length**2) / 2) for a, b in itertools.pairwise(anchors)
    ]
    if closed:
        rods.append(zw.Bilateral(((points[-1][0] - 3) ** 2 + points[-1][1] ** 2 - length**2) / 2))
    friction = [zw.Friction(m * g, slip=v[-1], name="brake")]
    system = zw.System(
        name="chain",
        kinetic=sp.Add(
            *(m * (v[2 * i] ** 2 + v[2 * i + 1] ** 2) / 2 + 0.1 * v[2 * i] * v[2 * i + 1] for i in range(n))
        ),
        potential=sp.Add(*(m * g * point[1] for point in points)),
        forces={q[0]: -0.3 * v[0] + 0.7 * v[2], q[3]: sp.sin(zw.t) * q[2]},
        constraints=[*rods, *friction],
    )
    source = np.random.default_rng(4)
    state = {item.name: float(source.normal()) for item in (*system.coordinates, *system.velocities)}
    return system, state | {"t": 0.4}


@pytest.mark.parametrize("closed", [False, True])
def test_a_large_system_in_tables_agrees_with_the_reference(closed: bool) -> None:
    system, state = chain(12, closed=closed)
    native = zw.compile(system)
    assert type(native.kernels).__name__ == "TableKernels"
    found = native.evaluate(state, PARAMS)
    expected = zw.compile(system, "reference").evaluate(state, PARAMS)
    np.testing.assert_allclose(found.accelerations, expected.accelerations, rtol=1e-11, atol=1e-10)
    for quantity in ("multipliers", "gaps", "gap_rates", "slips", "energies"):
        for name, value in getattr(expected, quantity).items():
            np.testing.assert_allclose(getattr(found, quantity)[name], value, rtol=1e-11, atol=1e-10)
    assert found.residual < 1e-12


def test_a_large_redundant_system_is_handed_over_to_the_rank_revealing_path() -> None:
    system, state = chain(12)
    doubled = system.replace(
        constraints=[*system.constraints, zw.Bilateral(2 * system.constraints[0].expr, name="twin")]
    )
    found = zw.compile(doubled).evaluate(state, PARAMS)
    assert found.status is EvaluationStatus.REDUNDANT
    np.testing.assert_allclose(found.accelerations, zw.compile(system).evaluate(state, PARAMS).accelerations, rtol=1e-8)


def test_a_mid_size_system_without_like_parts_is_solved_by_dense_loops() -> None:
    n = 12
    q, _v = zw.coordinates(" ".join(f"a{i}" for i in range(n)), angles=True)
    end = [sp.Integer(0), sp.Integer(0)]
    kinetic = []
    for i in range(n):
        end = [end[0] + length * sp.cos(q[i]), end[1] + length * sp.sin(q[i])]
        kinetic.append(m * (zw.rate(end[0]) ** 2 + zw.rate(end[1]) ** 2) / 2)
    system = zw.System(
        name="joints",
        kinetic=sp.Add(*kinetic),
        potential=m * g * end[1],
        constraints=[zw.Bilateral(end[0] - 3), zw.Bilateral(end[1])],
    )
    state = {item.name: 0.3 * i for i, item in enumerate(system.coordinates)}
    state |= {item.name: 0.1 - 0.2 * i for i, item in enumerate(system.velocities)}
    native = zw.compile(system)
    assert type(native.kernels).__name__ == "DenseKernels"
    found = native.evaluate(state, PARAMS)
    # Lagrange's equations of points on a chain of bars with absolute angles, written down by hand.
    a, rates = 0.3 * np.arange(n), 0.1 - 0.2 * np.arange(n)
    mass, size, weight = (PARAMS[name] for name in "mlg")
    beyond = mass * size**2 * (n - np.maximum.outer(np.arange(n), np.arange(n)))
    apart = np.subtract.outer(a, a)
    rows = size * np.array([-np.sin(a), np.cos(a)])
    turning = size * np.array([np.cos(a), np.sin(a)]) @ rates**2
    force = -mass * weight * size * np.cos(a) - (beyond * np.sin(apart)) @ rates**2
    kkt = np.block([[beyond * np.cos(apart), -rows.T], [rows, np.zeros((2, 2))]])
    expected = np.linalg.solve(kkt, np.append(force, turning))[:n]
    np.testing.assert_allclose(found.accelerations, expected, rtol=1e-9, atol=1e-9)
    assert found.residual < 1e-12


@pytest.mark.parametrize("n", [2, 12])
def test_the_residual_of_an_equilibrium_is_rounding(n: int) -> None:
    q, v = zw.coordinates(" ".join(f"x{i} y{i}" for i in range(n)))
    anchors = [(sp.Integer(0), sp.Integer(0)), *((q[2 * i], q[2 * i + 1]) for i in range(n))]
    rods = [zw.Bilateral(sp.sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) - 1) for a, b in itertools.pairwise(anchors)]
    hanging = zw.System(
        kinetic=sp.Add(*(item**2 / 2 for item in v)), potential=9.81 * sp.Add(*q[1::2]), constraints=rods
    )
    state = {item.name: 0.0 for item in (*hanging.coordinates, *hanging.velocities)}
    state |= {f"y{i}": -1.0 - i for i in range(n)}
    assert zw.compile(hanging).evaluate(state).residual < 1e-14


@pytest.mark.parametrize("time", [1e-6, 1e-3, 1.0, 1e6])
def test_project_knows_rounding_in_any_units(time):
    # a slider-crank whose points move with about 1/time: rates of constraints are rounding of that size
    crank = zw.Linkage("crank").ground("A", 0, 0).points("B C", mass=1).chain("A B C", lengths=(1, 2))
    model = zw.compile(crank.slider("C", direction=(1, 0)).system(), "reference")
    state = {"x_B": 0.6, "y_B": 0.8, "x_C": 0.6 + np.sqrt(4 - 0.64), "y_C": 0.0}
    state |= {"v_x_B": -0.7 / time, "v_y_B": 0.3 / time, "v_x_C": 0.9 / time, "v_y_C": 0.4 / time}
    found = model.project(state, {})
    assert abs(found["v_y_C"]) * time < 1e-15
    assert found["x_B"] * found["v_x_B"] + found["y_B"] * found["v_y_B"] == pytest.approx(0, abs=1e-15 / time)


@pytest.mark.parametrize("angle", [0.3, 0.03, 1e-3, 1e-5])
def test_project_holds_every_rate_where_rows_are_nearly_dependent(angle: float) -> None:
    # Three bars in a row between pivots, nearly stretched: the rows are independent all the same, and each must hold.
    c, s = np.cos(angle), np.sin(angle)
    parts = zw.Linkage("stretched").ground("A", 0, 0).ground("D", 1 + 2 * c, 0).points("B C", mass=1)
    parts.bar("A", "B", 1).bar("B", "C", 1).bar("C", "D", 1)
    model = zw.compile(parts.system())
    state = {"x_B": c, "y_B": s, "x_C": 1 + c, "y_C": s, "v_x_B": 0.3, "v_y_B": 1.0, "v_x_C": -0.4, "v_y_C": 0.2}
    assert model.check(model.project(state, {}), {}) < 1e-12


def woodpecker() -> tuple[zw.System, dict[str, float]]:
    """Glocker's woodpecker toy with its published start, which lies inside a contact of the sleeve."""
    (y, a, b), (vy, va, vb) = zw.coordinates("y a b")
    r_o, r_m, h_m, l_m, l_g, h_s, l_s = 0.0025, 0.0031, 0.0058, 0.010, 0.015, 0.02, 0.0201
    sleeve, bird, j_m, j_s, spring, g = 0.0003, 0.0045, 5e-9, 7e-7, 0.0056, 9.81
    kinetic = (sleeve * vy**2 + j_m * va**2 + bird * (vy + l_m * va + l_g * vb) ** 2 + j_s * vb**2) / 2
    potential = sleeve * g * y + bird * g * (y + l_m * a + l_g * b) + spring * (a - b) ** 2 / 2
    constraints = [
        zw.Unilateral(l_m + l_g - l_s - r_o - h_s * b, name="beak"),
        zw.Unilateral(r_m - r_o + h_m * a, name="lower"),
        zw.Unilateral(r_m - r_o - h_m * a, name="upper"),
    ]
    system = zw.System(name="woodpecker", kinetic=kinetic, potential=potential, constraints=constraints)
    return system, {"y": 0, "a": -0.1036, "b": -0.2788, "v_y": -0.3411, "v_a": 0, "v_b": -7.4583}


def test_project_moves_out_of_a_contact_by_the_least_change_and_keeps_approaching_speeds() -> None:
    system, start = woodpecker()
    start["v_a"] = -0.3  # towards the sleeve's contact
    found = zw.compile(system).project(start)
    assert found["a"] == pytest.approx(-6 / 58, abs=1e-15)
    # The least change with a given da: M dq = W^T lam, so the others follow as free bodies do.
    mass = zw.compile(system).terms(start).at(0)[0]
    moved = np.array([found[name] - start[name] for name in "yab"])
    push = mass @ moved
    assert abs(push[0]) < 1e-9 * abs(push[1]) and abs(push[2]) < 1e-9 * abs(push[1])
    assert found.distance == pytest.approx(np.sqrt(moved @ push), rel=1e-9)
    assert {name: found[name] for name in ("v_y", "v_a", "v_b")} == {"v_y": -0.3411, "v_a": -0.3, "v_b": -7.4583}


def test_project_leaves_contacts_alone_that_are_not_in_its_way() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    floor, wall = zw.Unilateral(y, name="floor"), zw.Unilateral(x - y, name="ramp")
    corner = zw.compile(zw.System(name="corner", kinetic=(vx**2 + vy**2) / 2, constraints=[floor, wall]))
    found = corner.project({"x": 1.0, "y": -2.0, "v_x": 0, "v_y": -1})
    assert (found["x"], found["y"], found["v_y"]) == pytest.approx((1, 0, -1), abs=1e-14)
    found = corner.project({"x": -2.0, "y": 1.0, "v_x": 0, "v_y": -1})
    assert (found["x"], found["y"]) == pytest.approx((0, 0), abs=1e-14)  # the ramp alone would lead below the floor
    found = corner.project({"x": 2.0, "y": 1.0, "v_x": 0, "v_y": -1})
    assert (found["x"], found["y"], found.distance) == (2, 1, 0)


def test_project_takes_the_nearest_point_of_a_curve_in_the_metric_of_the_start() -> None:
    # Masses 1 and 4 and an ellipse, far off: the multiplier of the nearest point makes M dq parallel to the normal.
    (x, y), (vx, vy) = zw.coordinates("x y")
    curve = zw.Bilateral(x**2 / 4 + y**2 - 1, name="curve")
    floor = zw.Unilateral(y, name="floor")
    model = zw.compile(zw.System(name="bead", kinetic=(vx**2 + 4 * vy**2) / 2, constraints=[curve, floor]))
    found = model.project({"x": 1.9, "y": 1.1, "v_x": 1, "v_y": 1})
    push = np.array([found["x"] - 1.9, 4 * (found["y"] - 1.1)])
    normal = np.array([found["x"] / 2, 2 * found["y"]])
    assert abs(push[0] * normal[1] - push[1] * normal[0]) < 1e-9
    assert model.check(found) < 1e-12
    found = model.project({"x": 1.9, "y": -0.3, "v_x": 1, "v_y": 1})  # the nearest point lies below the floor
    assert (found["x"], found["y"]) == pytest.approx((2, 0), abs=1e-9)


def test_project_moves_velocities_out_of_one_sided_constraints_on_them() -> None:
    _, (vx, vy) = zw.coordinates("x y")
    ratchet = zw.Unilateral(vx - vy, name="ratchet")
    model = zw.compile(zw.System(name="wheel", kinetic=(vx**2 + 3 * vy**2) / 2, constraints=[ratchet]))
    found = model.project({"x": 0, "y": 0, "v_x": 0, "v_y": 4})
    assert (found["v_x"], found["v_y"]) == pytest.approx((3, 3), rel=1e-13)
    assert found.energy_removed == pytest.approx(24 - 18, rel=1e-12)
    assert model.project({"x": 0, "y": 0, "v_x": 5, "v_y": 4})["v_x"] == 5


def test_project_says_what_is_left_where_contacts_contradict_each_other() -> None:
    (x,), (vx,) = zw.coordinates("x")
    apart = [zw.Unilateral(x - 1, name="right"), zw.Unilateral(-x - 1, name="left")]
    with pytest.raises(zw.StateError, match=r"squeezed: no state .* violates constraint '(left|right)' by \d"):
        zw.compile(zw.System(name="squeezed", kinetic=vx**2 / 2, constraints=apart)).project({"x": 0.0, "v_x": 0})


@pytest.mark.parametrize("seed", range(6))
def test_project_is_the_nearest_of_many_admissible_states(seed: int) -> None:
    # Random planes and a sphere: no admissible point found by chance is nearer.
    rng = np.random.default_rng(seed)
    (x, y, z), (vx, vy, vz) = zw.coordinates("x y z")
    q = sp.Matrix([x, y, z])
    root = rng.normal(size=(3, 3))
    mass = root @ root.T + np.eye(3)
    kinetic = (sp.Matrix([[vx, vy, vz]]) * sp.Matrix(mass) * sp.Matrix([vx, vy, vz]))[0] / 2
    planes = [(rng.normal(size=3), rng.uniform(0.2, 0.9)) for _ in range(4)]
    constraints = [
        zw.Unilateral((sp.Matrix([n]) * q)[0] / np.linalg.norm(n) + d, name=f"p{k}") for k, (n, d) in enumerate(planes)
    ]
    constraints.append(zw.Bilateral(x**2 + y**2 + z**2 - 1, name="sphere"))
    model = zw.compile(zw.System(name="cell", kinetic=kinetic, constraints=constraints), "reference")
    start = rng.normal(size=3)
    found = model.project({"x": start[0], "y": start[1], "z": start[2], "v_x": 0, "v_y": 0, "v_z": 0})
    at = np.array([found["x"], found["y"], found["z"]])
    near = at + 10.0 ** rng.uniform(-5, -1, size=(20000, 1)) * rng.normal(size=(20000, 3))
    near /= np.linalg.norm(near, axis=1)[:, None]
    good = np.all([near @ n / np.linalg.norm(n) + d >= 0 for n, d in planes], axis=0)
    distances = np.einsum("ki,ij,kj->k", near - start, mass, near - start)[good]
    assert found.distance**2 <= distances.min() * (1 + 1e-9)


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e6, 1e9])
@pytest.mark.parametrize("squared", [True, False])
def test_states_off_their_constraints_are_so_in_every_unit(size: float, squared: bool) -> None:
    (a, b), _ = zw.coordinates("a b")
    v_a, v_b = (item.velocity for item in (a, b))
    rod = a**2 + b**2 - size**2 if squared else sp.sqrt(a**2 + b**2) - size
    wall = a - sp.Float(1.2 * size)

    def system(*exprs: sp.Expr) -> zw.System:
        held = [zw.Bilateral(expr, name=f"c{k}") for k, expr in enumerate(exprs)]
        return zw.System(kinetic=(v_a**2 + v_b**2) / 2, coordinates=[a, b], constraints=held)

    off = {"a": 0.9 * size, "b": -0.8 * size, "v_a": 0.3 * size, "v_b": 0.1 * size}
    with pytest.raises(zw.StateError, match="no state that satisfies the constraints"):
        zw.compile(system(rod, wall)).project(off)
    with pytest.raises(zw.StateError, match="is off constraint 'c0'"):
        zw.compile(system(rod)).check(off)
    for on in (zw.compile(system(rod)).project(off), zw.hold(system(rod), off, {}, ["c0"])):
        assert np.hypot(float(on["a"]), float(on["b"])) == pytest.approx(size, rel=1e-14)
    far = {**off, "a": 1.2 * size}  # out of reach: left as it was
    left = zw.hold(system(rod), far, {}, ["c0"], fixed=["a"])
    assert {name: float(left[name]) for name in far} == far
