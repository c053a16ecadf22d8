"""Every backend against the reference: the same terms, accelerations and multipliers for every system."""

from __future__ import annotations

from dataclasses import fields
from importlib.util import find_spec

import numpy as np
import pytest

import zwang as zw
from c_backend import on_a_device
from contracts.random_systems import random_system
from night import by_day
from zwang._compile.given_values import resolve
from zwang._derive.program import Program
from zwang._graph.graph import Graph
from zwang._kernels import numba as compiled_dialect
from zwang._kernels.numba import MANY, NumbaDialect
from zwang._kernels.outputs import Outputs
from zwang._kernels.terms import Terms

RELATIVE = 1e-12  # the contract: rounding of well-conditioned states, nothing else
BACKENDS = ["native", "batch", "cuda"]
ON_DEVICES = ["lanes in c", "cuda"]
STATES = 7


def backend_or_skip(name: str) -> str:
    if name == "batch":
        pytest.importorskip("jax")
    return on_a_device(name) if name in ON_DEVICES else name


def spread(state: dict[str, float], size: float, seed: int) -> dict[str, np.ndarray]:
    source = np.random.default_rng(seed)
    return {name: value + size * source.uniform(-1, 1, STATES) for name, value in state.items()}


def on_unit_quaternions(system: zw.System, states: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the states with quaternions of unit length: elsewhere they are no turns, and energies have no meaning."""
    found = dict(states)
    for joint in () if system.tree is None else system.tree.joints:
        if joint.quaternion:
            names = [item.name for item in joint.quaternion]
            e, v = (np.array([states[prefix + name] for name in names]) for prefix in ("", "v_"))
            e = e / np.linalg.norm(e, axis=0)
            v = v - e * (e * v).sum(axis=0)
            found |= dict(zip(names, e, strict=True)) | dict(zip([f"v_{name}" for name in names], v, strict=True))
    return found


def assert_same(
    name: str, got: np.ndarray, expected: np.ndarray, tolerance: float = RELATIVE, *, size: float = 1e-3
) -> None:
    assert got.shape == expected.shape, name
    scale = np.abs(expected).max(initial=0.0) + size
    assert np.abs(got - expected).max(initial=0.0) <= tolerance * scale, name


def compare(system: zw.System, params: dict, states: dict, backend: str) -> None:
    inputs = resolve(system, states, params)
    arguments = (inputs.t, inputs.q, inputs.v, inputs.params)
    expected = zw.compile(system, "reference").kernels
    got = zw.compile(system, backend).kernels
    want, have = expected.terms(*arguments), got.terms(*arguments)
    for item in fields(Terms):
        right = getattr(have, item.name)
        if isinstance(right, tuple):
            right = np.stack([matrix.toarray() for matrix in right], axis=-1)
        left, right = (along_units(system, want, item.name, value) for value in (getattr(want, item.name), right))
        assert_same(f"{system.name}: {item.name}", right, left)
    compare_solutions(system, want, arguments, expected, got)


def along_units(system: zw.System, terms: Terms, name: str, value: np.ndarray) -> np.ndarray:
    """Return masses and forces along velocities that keep quaternions at unit length: across, each form has its own."""
    if not system.bookkeeping or name not in ("mass", "force"):
        return value
    normals = [str(item.name) for item in system.constraints if not isinstance(item, zw.Friction)]
    units = terms.rows[[normal in system.bookkeeping for normal in normals]]
    # Unit quaternions that share no coordinate: their rows are orthonormal.
    keep = np.eye(value.shape[0])[:, :, None] - np.einsum("kis,kjs->ijs", units, units)
    found = np.einsum("ijs,j...s->i...s", keep, value)
    return found if name == "force" else np.einsum("ijs,kjs->iks", found, keep)


def compare_solutions(system, terms, arguments, expected, got) -> None:
    normals = [item for item in system.constraints if not isinstance(item, zw.Friction)]
    active = [place for place, item in enumerate(normals) if isinstance(item, zw.Bilateral)]
    want, have = expected.solve(*arguments, active), got.solve(*arguments, active)
    for k in range(want.regular.size):
        mass, rows = terms.mass[:, :, k], terms.rows[active, :, k]
        if system.bookkeeping:  # a mass that is definite on the constraints alone, made definite as solvers do
            mass = mass + np.abs(mass).max() * rows.T @ rows
        gram = rows @ np.linalg.solve(mass, rows.T)
        condition = np.linalg.cond(mass) * (np.linalg.cond(gram) if active else 1.0)
        if condition > 1e6:
            continue  # near a dependence of constraints the rank-revealing path takes over; tested on its own
        size = RELATIVE * max(1.0, condition / 1e3)
        assert have.regular[k]
        # Where constraints hold everything, what they hold against is what rounding is relative to.
        free = 1e-3 + np.abs(np.linalg.solve(mass, terms.force[:, k])).max()
        found = have.accelerations[:, k], want.accelerations[:, k]
        assert_same(f"{system.name}: accelerations", *found, size, size=free)
        real = [str(normals[place].name) not in system.bookkeeping for place in active]
        assert_same(f"{system.name}: multipliers", have.multipliers[real, k], want.multipliers[real, k], size)


BY_DAY = {
    "atwood", "crossing", "ellipse_pendulum", "euler_disc", "flyball_governor_springs", "four_bar", "ladder",
    "painleve_rod", "rssr", "sleigh_incline",
}  # fmt: skip
"""Systems that take what dialects emit between them: angles and quaternions, speeds, friction, powers, branches."""


def every(name: str, backend: str) -> object:
    """Return a case of the gallery; compiled by JAX they take half a minute, and platforms in doubles seconds each."""
    slow = backend != "native" or name in {"andrews", "gough_stewart", "stewart_triangle", "three_upu", "wedge_box"}
    return pytest.param(name, backend, marks=pytest.mark.nightly if slow and name not in BY_DAY else ())


@pytest.mark.parametrize(("name", "backend"), [every(name, item) for name in zw.gallery.names() for item in BACKENDS])
def test_backend_agrees_with_the_reference_on_every_gallery_system(name: str, backend: str) -> None:
    entry = zw.gallery.get(name)
    states = on_unit_quaternions(entry.system, spread(dict(entry.state), 0.05, seed=3))
    compare(entry.system, dict(entry.params), states, backend_or_skip(backend))


@pytest.mark.parametrize(
    "block", [pytest.param(block, marks=pytest.mark.nightly if block >= 1 else ()) for block in range(20)]
)
def test_backends_agree_with_the_reference_on_200_random_systems(block: int) -> None:
    for seed in range(10 * block, 10 * block + 10):
        system, params, state = random_system(seed)
        states = spread(state, 0.2, seed)
        compare(system, params, states, "native")
        if find_spec("jax"):
            import jax

            with jax.disable_jit():  # op by op: the same trace without 400 compilations; the gallery runs it compiled
                compare(system, params, states, "batch")


@pytest.mark.parametrize("backend", ON_DEVICES)
@pytest.mark.parametrize("seed", by_day(range(7, 200, 24), range(7, 200, 72)))
def test_lanes_of_a_device_agree_with_the_reference(seed: int, backend: str) -> None:
    system, params, state = random_system(seed)
    compare(system, params, spread(state, 0.2, seed), backend_or_skip(backend))
    each = {name: value * (1 + 0.1 * np.arange(STATES)) for name, value in params.items()}
    compare(system, each, spread(state, 0.2, seed), backend)


@pytest.mark.nightly
@pytest.mark.parametrize("name", zw.gallery.names())
def test_lanes_in_c_agree_with_the_reference_on_every_gallery_system(name: str) -> None:
    entry = zw.gallery.get(name)
    states = on_unit_quaternions(entry.system, spread(dict(entry.state), 0.05, seed=3))
    compare(entry.system, dict(entry.params), states, on_a_device("lanes in c"))


@pytest.mark.parametrize("seed", by_day(range(5, 200, 20), range(5, 200, 60)))
def test_arrays_of_states_agree_with_the_reference(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_dialect, "MANY", 100)  # the compiled loop over states, which 20,000 would have
    system, params, state = random_system(seed)
    source = np.random.default_rng(seed)
    states = {name: value + 0.2 * source.uniform(-1, 1, 150) for name, value in state.items()}
    compare(system, params, states, "native")


def test_one_state_and_an_array_of_states_give_the_same_numbers() -> None:
    system, params, state = random_system(12)
    states = spread(state, 0.2, 5)
    model = zw.compile(system)
    together = model.evaluate(states, params)
    for k in range(STATES):
        alone = model.evaluate({name: array[k] for name, array in states.items()}, params)
        np.testing.assert_allclose(alone.accelerations, together.accelerations[:, k], rtol=1e-13, atol=1e-13)


def test_parameters_may_vary_with_the_state() -> None:
    system, params, state = random_system(12)
    varied = {name: value + 0.1 * np.arange(STATES) for name, value in params.items()}
    native = zw.compile(system).evaluate(state, varied).accelerations
    reference = zw.compile(system, "reference").evaluate(state, varied).accelerations
    np.testing.assert_allclose(native, reference, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [1, 15, 16, 299, 300])
def test_few_and_many_states_have_no_seam(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_dialect, "MANY", 300)
    entry = zw.gallery.get("four_bar")
    source = np.random.default_rng(size)
    states = {name: value + 0.01 * source.normal(size=size) for name, value in entry.state.items()}
    native = zw.compile(entry.system).evaluate(states, entry.params)
    reference = zw.compile(entry.system, "reference").evaluate(states, entry.params)
    np.testing.assert_allclose(native.accelerations, reference.accelerations, rtol=1e-9, atol=1e-9)


def test_a_loop_over_states_is_compiled_for_many_and_a_tape_answers_for_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph()
    q, p = graph.input("q0"), graph.input("p0")
    program = Program(graph, graph.input("t"), [q], [], [p], {}, [], [], [], [], (graph.zero, graph.zero))
    outputs = Outputs((graph.add(q, p),))
    functions = NumbaDialect().build(program, {"one": outputs}, "of_this_test")
    asked: list[str] = []
    for name in ("shared", "each"):
        loop = getattr(functions.module, name)
        monkeypatch.setattr(functions.module, name, lambda *args, l=loop: (asked.append(l.__name__), l(*args)))
    for states in (1, 40, MANY - 1, MANY):
        x, none, t = np.arange(float(states))[None], np.zeros((0, states)), np.zeros(states)
        assert np.array_equal(functions.many(t, x, none, np.array([[3.0]])), [x[0] + 3.0, np.ones(states)])
        assert np.array_equal(functions.many(t, x, none, 2.0 * x), [3.0 * x[0], np.ones(states)])
    assert asked == ["shared", "each"]
