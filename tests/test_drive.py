"""Inverse dynamics: the inputs of prescribed motions, with loops and friction, all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw

(PHI,), (W,) = zw.coordinates("phi", angles="phi")
U = zw.inputs("u")
ARM = zw.System(name="arm", kinetic=W**2 / 2, potential=-9.81 * sp.cos(PHI), forces={PHI: U - W})
(X,), (V,) = zw.coordinates("x")
BLOCK = zw.System(name="block", kinetic=V**2 / 2, forces={X: U}, constraints=[zw.Friction(2, slip=V, name="ground")])
(A, S), (WA, VS) = zw.coordinates("a s", angles="a")
CRANK = zw.System(
    name="crank",
    kinetic=WA**2 / 2 + VS**2 / 2,
    forces={A: U},
    constraints=[zw.Bilateral((S - sp.cos(A)) ** 2 + sp.sin(A) ** 2 - 4, name="rod")],
)


def test_a_torque_follows_from_the_motion_in_closed_form() -> None:
    found = zw.drive(ARM, {PHI: zw.t**2}, times=[0.0, 0.5, 1.0])
    t = found.t
    assert found.inputs["u"] == pytest.approx(2 + 2 * t + 9.81 * np.sin(t**2), abs=1e-9)
    assert found.status.name == "UNIQUE" and found.residual < 1e-12


def test_drive_undoes_simulate() -> None:
    motion = zw.simulate(ARM, {"phi": 0, "v_phi": 0}, inputs={U: sp.sin(3 * zw.t)}, until=1)
    found = zw.drive(ARM, motion)
    # The acceleration of a motion is that of a polynomial through its velocities.
    assert np.abs(found.inputs["u"] - np.sin(3 * found.t)).max() < 1e-6


def test_friction_leaves_a_range_at_rest_and_one_value_in_slip() -> None:
    rest = zw.drive(BLOCK, {X: 1 + 0 * zw.t}, times=[0.0, 1.0])
    assert rest.status.name == "UNIQUE_MOTION" and np.isnan(rest.inputs["u"]).all()
    assert rest.ranges["u"] == pytest.approx(np.array([[-2, 2], [-2, 2]]))
    slip = zw.drive(BLOCK, {X: zw.t**2}, times=[0.5, 1.0])
    assert slip.inputs["u"] == pytest.approx([4, 4])  # mass times 2, and the friction 2


def test_a_loop_is_closed_and_the_power_is_that_of_the_masses() -> None:
    found = zw.drive(CRANK, {"a": zw.Table(np.linspace(0, 1, 9), np.linspace(0, 2, 9), kind="cubic")})
    # The crank turns uniformly, so that all power goes into the slider.
    assert found.inputs["u"] * found.v[:, 0] == pytest.approx(found.a[:, 1] * found.v[:, 1], abs=1e-8)
    miss = (found.q[:, 1] - np.cos(found.q[:, 0])) ** 2 + np.sin(found.q[:, 0]) ** 2 - 4
    assert np.abs(miss).max() < 1e-9 and np.isfinite(found.reactions["rod"]).all()


def test_a_motion_that_no_input_makes_has_none() -> None:
    (x, y), (vx, vy) = zw.coordinates("x y")
    free = zw.System(name="free", kinetic=(vx**2 + vy**2) / 2, potential=9.81 * y, forces={x: U})
    assert zw.drive(free, {x: zw.t, y: 0 * zw.t}, times=[0.0]).status.name == "NONE"


def test_results_are_saved_and_drawn(tmp_path) -> None:
    found = zw.drive(ARM, {PHI: zw.t**2}, times=[0.0, 1.0])
    found.save(tmp_path / "d.npz")
    assert np.array_equal(zw.load_result(tmp_path / "d.npz").inputs["u"], found.inputs["u"])
    found.plot()


@pytest.mark.parametrize(
    ("system", "motion", "options", "words"),
    [
        (CRANK, {}, {"times": [0.0]}, "leaves 'a' free|leaves 's' free"),
        (ARM, {PHI: zw.t}, {}, "Give times="),
        (ARM, {PHI: zw.Table([0, 1], [0, 1])}, {}, "needs two derivatives"),
        (ARM, {"z": zw.t}, {"times": [0.0]}, "is no coordinate"),
        (ARM, {PHI: W}, {"times": [0.0]}, "must be an expression of t"),
        (ARM, {PHI: zw.parameters("q") * zw.t}, {"times": [0.0]}, "has a parameter without a value"),
        (ARM, {PHI: zw.t}, {"times": [0.0], "inputs": {U: 1}}, "no input is unknown"),
        (ARM, 3, {"times": [0.0]}, "needs a mapping of coordinates, a Motion, or a path"),
        (ARM, {PHI: zw.t}, {"times": [np.nan]}, "finite instants"),
        (ARM, {PHI: abs(zw.t - 1)}, {"times": [0, 2]}, "the rate jumps from -1 to 1 at t = 1"),
        (ARM, {PHI: "max(t, 1)"}, {"times": [0, 2]}, "the rate jumps from 0 to 1 at t = 1"),
        (ARM, {PHI: sp.Heaviside(zw.t - 0.3)}, {"times": [0, 2]}, "the value jumps from 0 to 1 at t = 0.3"),
        (ARM, {PHI: sp.floor(zw.t)}, {"times": [0, 2]}, "cannot write 'floor'"),
        (ARM, {PHI: zw.t}, {"times": [0.0], "start": {"z": 1}}, "start= has 'z', which is no coordinate"),
        ("arm", {}, {}, "needs a System"),
    ],
)
def test_mistakes_are_named(system, motion, options, words: str) -> None:
    with pytest.raises(zw.DeclarationError, match=words):
        zw.drive(system, motion, **options)


def test_an_acceleration_may_jump_and_a_motion_begin_with_a_speed() -> None:
    ramp = sp.Piecewise((0, zw.t < 0), (zw.t, zw.t < 1), (zw.t + (zw.t - 1) ** 2, True))
    for motion in (ramp, zw.t + abs(zw.t - 1) * (zw.t - 1) / 2):
        found = zw.drive(ARM, {PHI: motion}, times=[0.0, 0.5, 1.5, 2.0])
        assert found.status.name == "UNIQUE" and np.isfinite(found.inputs["u"]).all()


def test_an_input_that_is_not_linear_is_refused() -> None:
    square = zw.System(name="square", kinetic=V**2 / 2, forces={X: U**2})
    with pytest.raises(zw.DeclarationError, match="does not enter the forces linearly"):
        zw.drive(square, {X: zw.t}, times=[0.0])


# Loops: assemblies and dead centres.
L = sp.Rational(5, 2)
(CA, CP, CX), (WCA, WCP, VCX) = zw.coordinates("a p x", angles="a p")


def slider_crank(**forces) -> zw.System:
    """A crank of length 1, a rod of 2.5 and a slider, without gravity; the crank alone has kinetic energy to spare."""
    return zw.System(
        name="slider crank",
        kinetic=WCA**2 / 2 + WCP**2 / 4 + VCX**2 / 2,
        forces={item: U for item in (CA, CX) if item.name in forces},
        constraints=[
            zw.Bilateral(sp.cos(CA) + L * sp.cos(CP) - CX, name="along"),
            zw.Bilateral(sp.sin(CA) + L * sp.sin(CP), name="across"),
        ],
    )


STROKE = sp.cos(zw.t) + sp.sqrt(L**2 - sp.sin(zw.t) ** 2)


def torque(a):
    """Return half of dM/da, what a crank that turns with unit speed needs; M(a) from the closed form of the slider."""
    angle = sp.Symbol("angle")
    rod = sp.asin(-sp.sin(angle) / L)
    x = sp.cos(angle) + L * sp.cos(rod)
    inertia = 1 + sp.diff(rod, angle) ** 2 / 2 + sp.diff(x, angle) ** 2
    return sp.lambdify(angle, sp.diff(inertia, angle) / 2)(a)


def test_a_prescribed_slider_is_followed_through_its_dead_centre() -> None:
    times = np.linspace(0.3, 6.0, 9)
    found = zw.drive(slider_crank(a=True), {CX: STROKE}, times=times, start={"a": 0.3, "p": -0.1})
    assert found.status.name == "UNIQUE" and found.reason == ""
    assert found.q[:, 0] == pytest.approx(times, abs=1e-9)  # the crank goes on, it doesn't turn back
    assert found.inputs["u"] == pytest.approx(torque(times), abs=1e-8)


def test_an_instant_at_a_dead_centre_is_singular_and_the_others_are_answered() -> None:
    found = zw.drive(slider_crank(a=True), {CX: STROKE}, times=[0.0, 1e-9, 1e-2, 0.5])
    assert [item.name for item in found.statuses] == ["SINGULAR", "SINGULAR", "UNIQUE", "UNIQUE"]
    assert found.status.name == "SINGULAR" and "dead centre" in found.reason and "'a'" in found.reason
    assert np.isnan(found.inputs["u"][:2]).all() and np.isnan(found.v[:2]).all()
    assert np.abs(found.inputs["u"][2:]) == pytest.approx(np.abs(torque(np.array([1e-2, 0.5]))), abs=1e-6)


def test_a_piston_that_pushes_at_a_dead_centre_can_have_any_force_or_none_does() -> None:
    even = zw.drive(slider_crank(x=True), {CA: zw.t}, times=[0.0, 0.5])
    assert even.statuses[0].name == "UNIQUE_MOTION" and np.isnan(even.inputs["u"][0])
    assert even.ranges["u"][0] == pytest.approx([-np.inf, np.inf])
    faster = zw.drive(slider_crank(x=True), {CA: zw.t + zw.t**2}, times=[0.0, 0.5])
    assert faster.statuses[0].name == "NONE" and np.isfinite(faster.inputs["u"][1])


@pytest.mark.parametrize("side", [1, -1])
def test_start_chooses_the_assembly(side: int) -> None:
    found = zw.drive(
        slider_crank(x=True), {CA: 1 + zw.t}, times=[0.0, 0.1], start={"x": side * 3.0, "p": 0 if side > 0 else 3}
    )
    assert np.sign(found.q[0, 2]) == side and found.reason == ""


def test_without_start_the_assembly_that_was_taken_is_told() -> None:
    assert "close in 2 ways at t = 0" in zw.drive(slider_crank(x=True), {CA: 1 + zw.t}, times=[0.0]).reason


def test_a_motion_out_of_reach_is_refused_with_its_instant() -> None:
    with pytest.raises(zw.StateError, match="at t = 0.5 no configuration was found.*x = 4"):
        zw.drive(slider_crank(a=True), {CX: 3 + 2 * zw.t}, times=[0.0, 0.5])


def test_a_drive_has_columns() -> None:
    table = zw.drive(BLOCK, {X: 1 + 0 * zw.t}, times=[0.0, 1.0])._columns().table()
    assert {"time", "x", "v_x", "input_u", "input_u_low", "input_u_high"} <= set(table)
    assert table["input_u_high"] == pytest.approx([2, 2])


# Handing on.
def test_a_drive_shows_the_units_of_its_system() -> None:
    (x,), (v,) = zw.coordinates("x")
    u = zw.inputs("u")
    m = zw.parameters("m")
    cart = zw.System(name="cart", kinetic=m * v**2 / 2, forces={x: u}, units={"x": "m", "m": "kg", "u": "N"})
    found = zw.drive(cart, {x: zw.t**2}, {"m": 2.0}, times=[0.0, 1.0])
    frame = found.to_xarray()
    units = {name: frame[name].attrs.get("units") for name in ("time", "x", "v_x", "acceleration_x", "input_u")}
    assert units == {"time": "s", "x": "m", "v_x": "m/s", "acceleration_x": "m/s**2", "input_u": "N"}
    assert "[N]" in found.plot().get_ylabel()


def test_sympy_gives_the_system_back() -> None:
    for system in (
        zw.System(name="p", kinetic=V**2 / 2, potential=X**2, forces={X: -V}),
        zw.gallery.get("ellipse_pendulum_cartesian").system,
        zw.gallery.get("sleigh").system.replace(
            constraints=[zw.Bilateral(zw.gallery.get("sleigh").system.constraints[0].expr, name="nonholonomic1")]
        ),
    ):
        angles = [item.name for item in system.coordinates if item.angle]
        back = zw.from_sympy(system.to_sympy(), name=system.name, angles=angles)
        state = {item.name: 0.3 + 0.1 * k for k, item in enumerate((*system.coordinates, *system.velocities))}
        params = {item.name: 1.0 + 0.2 * k for k, item in enumerate(system.parameters)}
        first, second = (zw.compile(one).accelerations(state, params, active=()) for one in (system, back))
        assert first == pytest.approx(second, rel=1e-12)
        assert len(back.constraints) == len(system.constraints)


def test_what_sympy_does_not_know_is_refused_by_name() -> None:
    held = zw.System(name="h", kinetic=V**2 / 2, constraints=[zw.Bilateral(X, name="latch")])
    for system, words in (
        (zw.gallery.get("painleve_rod").system, "'tip' is a Unilateral"),
        (ARM, "it has the input 'u'"),
        (zw.System(mass=[[1]], force=[-X], coordinates=[X], name="m"), "declared by mass="),
        (held.replace(constraints=[zw.Bilateral(X, name="latch", starts="off")]), "'latch' starts off"),
        (held.replace(events=[zw.Event(X, name="let go", then=zw.Switch(off="latch"))]), "'let go' switches or resets"),
    ):
        with pytest.raises(zw.DeclarationError, match=words):
            system.to_sympy()


def test_latex_has_masses_forces_and_constraints() -> None:
    text = zw.compile(zw.gallery.get("ellipse_pendulum_cartesian").system).to_latex()
    assert text.startswith(r"\begin{aligned}") and r"\lambda_{1}" in text and r"\ddot{" in text


def test_jax_jits_maps_and_differentiates() -> None:
    jax = pytest.importorskip("jax")
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    model = zw.compile(entry.system)
    n = len(entry.system.coordinates)
    params = np.array([entry.params[item.name] for item in entry.system.parameters])
    q = np.array([entry.state[item.name] for item in entry.system.coordinates])
    v = np.array([entry.state[item.name] for item in entry.system.velocities])
    with jax.enable_x64(True):
        f = model.jax()
        a, lam = jax.jit(f)(0.0, q, v, params)
        assert np.asarray(a) == pytest.approx(model.accelerations(entry.state, entry.params), abs=1e-12)
        assert len(lam) == len(entry.system.constraints)
        many = jax.vmap(f, in_axes=(None, 0, 0, None))(0.0, np.stack([q, q]), np.stack([v, v]), params)[0]
        assert many.shape == (2, n)
        slope = jax.grad(lambda g: f(0.0, q, v, g)[0][0])(params)
        h = 1e-6
        for k in range(len(params)):
            up, down = params.copy(), params.copy()
            up[k] += h
            down[k] -= h
            central = (f(0.0, q, v, up)[0][0] - f(0.0, q, v, down)[0][0]) / (2 * h)
            assert float(slope[k]) == pytest.approx(float(central), abs=1e-6)
    with pytest.raises(zw.DeclarationError, match="it has the input 'u'"):
        zw.compile(ARM).jax()


def test_a_massless_rod_is_closed() -> None:
    (a, p, s), (va, _, vs) = zw.coordinates("a p s", angles="a p")
    across = [zw.Bilateral(sp.cos(a) + 3 * sp.cos(p) - s, name="x"), zw.Bilateral(sp.sin(a) + 3 * sp.sin(p), name="y")]
    press = zw.System(name="press", kinetic=va**2 / 2 + vs**2 / 2, forces={a: U}, constraints=across)
    held = zw.hold(
        press, {"a": 0.5, "p": 0, "s": 3, "v_a": 1, "v_p": 0, "v_s": 0}, {}, ["x", "y"], fixed=["a"], inputs={U: 0}
    )
    # the closed form of a slider: x = cos a + sqrt(9 - sin^2 a)
    root = np.sqrt(9 - np.sin(0.5) ** 2)
    assert held["s"] == pytest.approx(np.cos(0.5) + root, abs=1e-12)
    assert held["v_s"] == pytest.approx(-np.sin(0.5) - np.sin(0.5) * np.cos(0.5) / root, abs=1e-12)
    assert zw.drive(press, {a: zw.t}, times=[0.5], start={"s": 3, "p": 0}).status.name == "UNIQUE"


def five_bar(**options: Any) -> zw.System:
    linkage = zw.Linkage("robot", gravity=(0, -9.81)).ground("A", 0, 0).ground("E", 0.8, 0).points("B C D", mass=1)
    for (a, b), length in zip(("AB", "BC", "CD", "DE"), (1.0, 1.5, 1.3, 0.9), strict=True):
        linkage = linkage.bar(a, b, length=length)
    return linkage.system(coordinates="joint").replace(**options)


@pytest.mark.nightly
def test_a_path_on_a_surface_is_driven_played_and_drawn(tmp_path: Path) -> None:
    space = zw.trace(five_bar(), {}, resolution=0.3)
    cranks = ("theta_B", "theta_D")
    first, last = (space.over(cranks, values) for values in ((0.7, 2.0), (-1.5, 0.5)))
    end = next(item for item in last if item.sheet == first[0].sheet)
    way = space.path(first[0].state, end.state, avoid=space.folds(cranks))
    torques = dict(zip(cranks, zw.inputs("u w"), strict=True))
    robot = five_bar(forces=torques)
    found = zw.drive(robot, way, {}, times=np.linspace(0, way.length, 9))
    assert found.status.name == "UNIQUE"
    # The work of the inputs along the path is what kinetic and potential energy gain: by a finer sum.
    fine = zw.drive(robot, way, {}, times=np.linspace(0, way.length, 801))
    speeds = way.spline()(fine.t, 1)
    power = sum(fine.inputs[k] * speeds[:, way.coordinates.index(c)] for k, c in (("u", "theta_B"), ("w", "theta_D")))
    q, v = way.spline()(way.s[[0, -1]]), way.spline()(way.s[[0, -1]], 1)
    states = {c: q[:, k] for k, c in enumerate(way.coordinates)}
    states |= {f"v_{c}": v[:, k] for k, c in enumerate(way.coordinates)}
    energy = zw.compile(five_bar()).energies(states, {})["total"]
    assert np.trapezoid(power, fine.t) == pytest.approx(energy[1] - energy[0], abs=1e-3 * np.abs(power).max())
    # Its cranks alone as tables of time are the same motion.
    tables = {c: zw.Table(way.s, way.points[:, way.coordinates.index(c)], kind="cubic") for c in cranks}
    same = zw.drive(robot, tables, {}, times=found.t[2:7], start=way.at(float(found.t[2])))
    assert same.inputs["u"] == pytest.approx(found.inputs["u"][2:7], rel=1e-4, abs=1e-4)
    page = way.animate(tmp_path / "way.html")
    assert Path(page or tmp_path / "way.html").stat().st_size > 10_000
    plt = pytest.importorskip("matplotlib.pyplot")
    assert len(way.plot("theta_B", "theta_C").get_lines()) == 2
    plt.close("all")
    with pytest.raises(zw.DeclarationError, match="the path has no coordinate 'theta_X'"):
        way.plot("theta_X")
    with pytest.raises(zw.DeclarationError, match="times= on a path are lengths along it"):
        zw.drive(robot, way, {}, times=[0.0, 2 * way.length])


def test_paths_that_do_not_lead_there_are_not_driven() -> None:
    space = zw.trace(five_bar(), {}, resolution=0.3)
    cranks = ("theta_B", "theta_D")
    one, other = space.over(cranks, (0.7, 2.0))
    none = space.path(one.state, other.state, avoid=space.folds(cranks))
    robot = five_bar(forces=dict(zip(cranks, zw.inputs("u w"), strict=True)))
    with pytest.raises(zw.DeclarationError, match="drive needs a path that was found; this one is NONE"):
        zw.drive(robot, none, {})
    with pytest.raises(zw.DeclarationError, match="there is no path to show: NONE"):
        none.animate()
    arm = zw.gallery.get("ellipse_pendulum_cartesian").system
    driven = arm.replace(forces={arm.coordinates[0]: zw.inputs("u")})
    with pytest.raises(zw.DeclarationError, match="the path has no coordinate"):
        zw.drive(driven, space.path(one.state, one.state), zw.gallery.get("ellipse_pendulum_cartesian").params)
    with pytest.raises(zw.DeclarationError, match="drive needs a mapping of coordinates, a Motion, or a path"):
        zw.drive(robot, 3, {})


@pytest.mark.parametrize("time", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e6])
def test_units_change_no_input(size: float, time: float) -> None:
    (a, b), (v_a, v_b) = zw.coordinates("a b")
    u, l, g = zw.inputs("u"), *zw.parameters("l g")
    rod = zw.Bilateral(a**2 + b**2 - l**2, name="rod")
    arm = zw.System(
        name="arm", kinetic=(v_a**2 + v_b**2) / 2, potential=g * b, forces={a: u}, constraints=[rod], coordinates=[a, b]
    )
    angle = 0.4 + 0.3 * zw.t / time
    found = zw.drive(arm, {a: l * sp.sin(angle)}, {"l": size, "g": size / time**2}, times=[0.0, time], start={b: -size})
    assert found.status.name == "UNIQUE"
    # a'' = -w^2 a and b'' = -w^2 b: along the circle u cos(angle) = g sin(angle).
    expected = np.tan([0.4, 0.7])
    np.testing.assert_allclose(found.inputs["u"] * time**2 / size, expected, rtol=1e-9)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_a_range_of_inputs_is_one_however_small(size: float) -> None:
    (a,), (v_a,) = zw.coordinates("a")
    u, w = zw.inputs("u w")
    both = zw.System(name="both", kinetic=v_a**2 / 2, forces={a: u + w}, coordinates=[a])
    found = zw.drive(both, {a: size * zw.t**2}, times=[0.0, 1.0])
    assert np.isnan(found.inputs["u"]).all() and np.isinf(found.ranges["u"]).all()
    rough = zw.System(
        name="rough", kinetic=v_a**2 / 2, forces={a: u}, constraints=[zw.Friction(size, slip=v_a, name="f")]
    )
    rest = zw.drive(rough, {a: size + 0 * zw.t}, times=[0.0])
    assert np.isnan(rest.inputs["u"]).all()
    np.testing.assert_allclose(rest.ranges["u"], [[-size, size]], rtol=1e-9)


def test_inputs_that_do_not_act_linearly_are_refused() -> None:
    (a,), (v_a,) = zw.coordinates("a")
    u = zw.inputs("u")
    for force in (sp.Max(u, 0), u**2, sp.Abs(u)):
        system = zw.System(name="bent", kinetic=v_a**2 / 2, forces={a: force}, coordinates=[a])
        with pytest.raises(zw.DeclarationError, match="does not enter the forces linearly"):
            zw.drive(system, {a: zw.t}, times=[0.0])
