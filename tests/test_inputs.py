"""Inputs: declared, given in one meaning to every verb, with kinks located and mistakes refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sympy as sp
from click.testing import CliRunner
from scipy.integrate import solve_ivp

import zwang as zw
from zwang.cli import main

(X,), (VX,) = zw.coordinates("x")
U = zw.inputs("u")
CART = zw.System(kinetic=VX**2 / 2, forces={X: U - VX}, name="cart")
REST = {"x": 0.0, "v_x": 0.0}
(Y, Z), (VY, VZ) = zw.coordinates("y z")
W = zw.inputs("w")
PENDULUM = zw.System(
    kinetic=(VY**2 + VZ**2) / 2,
    potential=9.81 * Z,
    constraints=[zw.Bilateral((Y - W) ** 2 + Z**2 - 1, name="rod")],
    name="pendulum",
)
TIMES = np.array([0.0, 0.3, 0.7, 1.0])
VALUES = np.array([0.0, 2.0, -1.0, 1.0])


def test_inputs_are_symbols_of_their_own_kind_and_no_parameters() -> None:
    u, w = zw.inputs("u w")
    assert (u, w) == (zw.inputs("u"), zw.inputs("w"))
    assert u != zw.parameters("u")
    assert CART.inputs == (U,) and CART.parameters == ()
    assert zw.rate(u * X) == u * VX + zw.rate(u) * X
    assert zw.rate(zw.rate(u)) == zw.rate(zw.rate(zw.inputs("u")))
    with pytest.raises(zw.DeclarationError, match="has no rate here"):
        zw.rate(zw.rate(zw.rate(u)))
    with pytest.raises(zw.DeclarationError, match="can't be the name of a input"):
        zw.inputs("t")


def test_a_system_with_inputs_survives_files_pickles_and_other_coordinates(tmp_path) -> None:
    import pickle

    belt = zw.System(
        kinetic=VX**2 / 2, constraints=[zw.Friction(1, slip=VX - zw.rate(U), name="belt")], name="belt", inputs=[U]
    )
    for system in (CART, PENDULUM, belt):
        system.save(tmp_path / "model.toml")
        assert zw.load(tmp_path / "model.toml") == system
        assert pickle.loads(pickle.dumps(system)) == system
    texts = zw.System(kinetic="v_x**2/2", forces={"x": "u - v_x"}, coordinates=[X], inputs=["u"], name="cart")
    assert texts == CART
    (r, phi), _ = zw.coordinates("r phi", angles="phi")
    turned = PENDULUM.transformed({Y: r * sp.sin(phi) + W, Z: -r * sp.cos(phi)})
    assert turned.inputs == (W,)
    assert zw.rate(W) in turned.kinetic.free_symbols


@pytest.mark.parametrize("kind", ["linear", "cubic", "previous"])
def test_a_table_moves_a_cart_as_an_integrator_stopped_at_its_knots(kind: str) -> None:
    table = zw.Table(TIMES, VALUES, kind=kind)
    motion = zw.simulate(CART, REST, inputs={U: table}, until=1)
    v = np.zeros(1)
    for a, b in itertools.pairwise(TIMES):
        inside = lambda t, y, b=b: [table(min(t, np.nextafter(b, 0))) - y[0]]  # noqa: E731
        v = solve_ivp(inside, (a, b), v, rtol=1e-12, atol=1e-13).y[:, -1]
    assert motion.v[-1, 0] == pytest.approx(v[0], abs=1e-11)
    assert np.isin(TIMES, motion.t).all() and not motion.events
    energy = motion.energy["total"]
    assert np.abs(energy - energy[0] - sum(motion.work.values())).max() < 1e-11
    assert motion.residual < 1e-13


def test_number_expression_and_table_of_a_constant_agree() -> None:
    exact = 1 - np.exp(-1)
    for value in (1, sp.Integer(1), 1 + 0 * zw.t, "1", zw.Table([0, 1], [1, 1]), zw.Held(lambda _: 1, every=0.25)):
        assert zw.simulate(CART, REST, inputs={"u": value}, until=1).v[-1, 0] == pytest.approx(exact, abs=1e-11)


def test_an_expression_may_have_parameters_of_its_own() -> None:
    a, b = zw.parameters("a b")
    motion = zw.simulate(CART, REST, {"a": 2.0, "b": 3.0}, inputs={U: a * sp.sin(b * zw.t)}, until=1)
    # v' = a sin(b t) - v from rest.
    exact = 2 * (3 * np.exp(-1) - 3 * np.cos(3) + np.sin(3)) / 10
    assert motion.v[-1, 0] == pytest.approx(exact, abs=1e-11)
    assert motion.inputs == {"u": "a*sin(b*t)"} and motion.params == {"a": 2.0, "b": 3.0}


def test_feedback_in_a_force_is_the_closed_loop() -> None:
    motion = zw.simulate(CART, {"x": 1.0, "v_x": 0.0}, inputs={U: -X - VX}, until=2)
    # x'' + 2 x' + x = 0.
    assert motion.q[-1, 0] == pytest.approx(3 * np.exp(-2), abs=1e-10)


def test_a_held_function_is_asked_at_its_instants_and_kept_as_a_table(tmp_path) -> None:
    asked = []

    def control(state: dict) -> float:
        asked.append(state["t"])
        return -state["x"] - 2 * state["v_x"]

    motion = zw.simulate(CART, {"x": 1.0, "v_x": 0.0}, inputs={U: zw.Held(control, every=0.1)}, until=1)
    assert np.allclose(asked, np.arange(10) / 10, atol=1e-12)
    # Between instants v' = u - v has a closed form.
    x, v = 1.0, 0.0
    for _ in range(10):
        u, e = -x - 2 * v, np.exp(-0.1)
        x, v = x + 0.1 * u + (v - u) * (1 - e), u + (v - u) * e
    assert (motion.q[-1, 0], motion.v[-1, 0]) == pytest.approx((x, v), abs=1e-11)
    motion.save(tmp_path / "m.npz")
    read = zw.load_result(tmp_path / "m.npz")
    assert read.inputs["u"].kind == "previous" and len(read.inputs["u"].times) == 11
    again = zw.simulate(CART, {"x": 1.0, "v_x": 0.0}, inputs=read.inputs, until=1)
    assert np.array_equal(again.q[-1], motion.q[-1])


def test_a_driven_place_that_jumps_ends_the_motion_there() -> None:
    (place, across), _ = zw.coordinates("place across")
    u = zw.inputs("u")
    cart = zw.System(
        name="cart", kinetic=(place.velocity**2 + across.velocity**2) / 2, constraints=[zw.Bilateral(place - u)]
    )
    start = {"place": 0.0, "across": 0.0, "v_place": 0.0, "v_across": 1.0}
    motion = zw.simulate(cart, start, inputs={u: sp.Heaviside(zw.t - 1)}, until=2)
    assert motion.status.name == "UNFINISHED" and "asks for jumps by 1" in motion.reason
    assert abs(motion.t[-1] - 1) < 1e-9 and motion.q[-1, 0] == 0.0


def test_a_push_that_jumps_starts_and_ends_slip_at_its_instants() -> None:
    block = zw.System(
        kinetic=VX**2 / 2, forces={X: U}, constraints=[zw.Friction(1, slip=VX, name="ground")], name="block"
    )
    push = zw.Table([0, 0.5, 1, 4], [0.5, 2.0, 0.0, 0.0], kind="previous")
    for method in ("events", "timestepping"):
        motion = zw.simulate(block, REST, inputs={U: push}, until=3, method=method)
        # Speeds up by 1 for 0.5 s, then slows down by 1: 0.25 m in all.
        assert motion.q[-1, 0] == pytest.approx(0.25, abs=1e-10 if method == "events" else 2e-3)
        found = [(event.kind, event.time) for event in motion.events]
        assert [kind for kind, _ in found] == ["slip", "stick"]
        assert [time for _, time in found] == pytest.approx([0.5, 1.5], abs=1e-10 if method == "events" else 6e-3)


def test_a_driven_pivot_needs_two_derivatives_and_follows_them() -> None:
    state = {"y": 0, "z": -1, "v_y": 0.5, "v_z": 0}
    knots = np.linspace(0, 2, 201)
    smooth = zw.simulate(PENDULUM, state, inputs={W: 0.1 * sp.sin(5 * zw.t) ** 2}, until=2, tol=1e-12)
    table = zw.Table(knots, 0.1 * np.sin(5 * knots) ** 2, kind="cubic")
    cubic = zw.simulate(PENDULUM, state, inputs={W: table}, until=2, start="project")
    # A spline of step h errs by about h^4 in its values and h^2 in its second derivative.
    assert np.abs(smooth.q[-1] - cubic.q[-1]).max() < 1e-4
    assert cubic.drift < 1e-12 and cubic.residual < 1e-12
    found = zw.reactions(PENDULUM, {**state, "t": 0.0}, inputs={W: 0.1 * zw.t**2})
    # At the lowest point the tension is m (g + v^2/l); the pivot's acceleration is horizontal there.
    assert 2 * abs(found.solutions[0].normal[0]) == pytest.approx(9.81 + 0.25, abs=1e-9)


def test_other_verbs_take_inputs_in_the_same_meaning() -> None:
    space = zw.trace(PENDULUM, inputs={W: 3.0}, box={"y": (1, 5), "z": (-2, 2)})
    assert space.components == 1 and abs(space.branches[0].state(at=0.3)["y"] - 3) <= 1 + 1e-9
    model = zw.compile(CART)
    table = zw.Table(TIMES, VALUES)
    states = {"x": 0.0, "v_x": 0.0, "t": np.array([0.15, 0.5, 1.0])}
    assert model.accelerations(states, inputs={U: table})[0] == pytest.approx([1.0, 0.5, 1.0])
    assert zw.reactions(CART, states, inputs={U: table}).status.shape == (3,)
    held = zw.Held(lambda state: state["t"], every=1)
    assert model.accelerations(states, inputs={U: held})[0] == pytest.approx([0.15, 0.5, 1.0])
    right = model.right_side(inputs={U: sp.cos(zw.t)})
    assert right(0.0, np.array([0.0, 0.25])).tolist() == [0.25, 0.75]
    assert model.check({**REST}, inputs={U: 1}) == 0
    found = zw.limit(PENDULUM, "rod", {"y": 0, "z": -1, "v_y": 0.5, "v_z": 0}, by=zw.Stiffness, until=0.1,
                     strengths=[1e4, 1e5, 1e6], inputs={W: 0.0})  # fmt: skip
    assert found.status.name == "CONVERGES"


def test_an_event_may_hold_an_input() -> None:
    table = zw.Table([0, 1, 2], [0, 1, 0])
    motion = zw.simulate(CART, REST, inputs={U: table}, until=2, events=[zw.Event(U - 0.5, name="half")])
    assert [event.time for event in motion.events] == pytest.approx([0.5, 1.5], abs=1e-10)


def test_a_motion_goes_on_with_its_inputs() -> None:
    table = zw.Table(TIMES, VALUES)
    half = zw.simulate(CART, REST, inputs={U: table}, until=0.5)
    whole = zw.simulate(CART, REST, inputs={U: table}, until=1)
    assert zw.simulate(half, until=1).v[-1, 0] == pytest.approx(whole.v[-1, 0], abs=1e-11)


def test_random_tables_give_what_piecewise_expressions_give() -> None:
    source = np.random.default_rng(5)
    for _ in range(3):
        times = np.cumsum(source.uniform(0.1, 0.4, 5))
        times -= times[0]
        values = source.normal(size=5)
        parts = [(float(value), zw.t < float(end)) for value, end in zip(values[:-1], times[1:], strict=True)]
        written = sp.Piecewise(*parts, (float(values[-1]), True))
        until = float(times[-1])
        ways = (zw.Table(times, values, kind="previous"), written)
        ends = [zw.simulate(CART, REST, inputs={U: way}, until=until).q[-1, 0] for way in ways]
        assert ends[0] == pytest.approx(ends[1], abs=1e-9)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (None, "no value was given for the input 'w'"),
        ({"z": 1}, "which is no input of the system"),
        ({W: zw.Table([0, 1], [0, 1])}, "needs 2 derivatives .* a linear table has 1. Use a table of kind='cubic'"),
        ({W: zw.Held(len, every=1)}, "a held function has 0"),
        ({W: Y}, "Feedback is for inputs that stand in forces alone"),
        ({W: "sin("}, "brackets still open"),
        ({W: np.inf}, "must be finite"),
        ({W: [1, 2]}, "must be a number, an expression of t, a zw.Table or a zw.Held"),
        ({W: zw.Table([0, 1, 2, 3], [0, 1, 0, 0], kind="cubic")}, "the table runs from t = 0 to 3; it was asked at"),
        ([1], "inputs= must be a mapping"),
    ],
)
def test_mistakes_with_inputs_are_named(inputs, words: str) -> None:
    with pytest.raises(zw.DeclarationError, match=words):
        zw.simulate(PENDULUM, {"y": 0, "z": -1, "v_y": 0.5, "v_z": 0}, inputs=inputs, until=5)


def test_mistakes_in_tables_and_held_functions_are_named() -> None:
    for arguments, options, words in (
        (([0, 1], [0, 1]), {"kind": "quadratic"}, "kind= must be"),
        (([0, 0], [0, 1]), {}, "the times must rise"),
        (([0, 1], [0]), {}, "as many times as values"),
        (([0, 1], [0, np.nan]), {}, "must be finite numbers"),
        ((["a"], [0]), {}, "must be an array of numbers"),
    ):
        with pytest.raises(zw.DeclarationError, match=words):
            zw.Table(*arguments, **options)
    with pytest.raises(zw.DeclarationError, match="every= must be"):
        zw.Held(len, every=0)
    with pytest.raises(zw.DeclarationError, match="the held function gave"):
        zw.simulate(CART, REST, inputs={U: zw.Held(lambda _: None, every=1)}, until=1)
    with pytest.raises(zw.DeclarationError, match="'u', which is an input"):
        zw.simulate(CART, REST, {"u": 1}, inputs={U: 1}, until=1)
    with pytest.raises(zw.DeclarationError, match="takes inputs that are numbers or expressions of t"):
        zw.limit(PENDULUM, "rod", {}, by=zw.Stiffness, until=1, inputs={W: zw.Table(range(4), range(4), kind="cubic")})
    with pytest.raises(zw.DeclarationError, match="right_side takes inputs that are numbers"):
        zw.compile(CART).right_side(inputs={U: zw.Table([0, 1], [0, 1])})


def test_the_command_line_takes_numbers_expressions_and_tables(tmp_path) -> None:
    CART.save(tmp_path / "cart.toml", state=REST)
    (tmp_path / "push.csv").write_text("time,u\n0,0\n0.3,2\n0.7,-1\n1,1\n")
    run = CliRunner()
    for text in ("u=1", "u=cos(t)", f"u={tmp_path}/push.csv", f"u={tmp_path}/push.csv:cubic"):
        done = run.invoke(main, ["simulate", str(tmp_path / "cart.toml"), "--until", "1", "--input", text])
        assert done.exit_code == 0 and "REACHED" in done.output, done.output
    done = run.invoke(main, ["reactions", str(tmp_path / "cart.toml"), "--input", "u=3"])
    assert done.exit_code == 0 and "3" in done.output
    done = run.invoke(main, ["simulate", str(tmp_path / "cart.toml"), "--until", "1", "--input", "u=none.csv"])
    assert done.exit_code != 0 and "is no table" in done.output
    done = run.invoke(main, ["simulate", str(tmp_path / "cart.toml"), "--until", "1"])
    assert done.exit_code != 0 and "no value was given for the input" in done.output
