"""The backend `cuda` through the verbs: on a GPU where there is one, and its texts on the processor."""

from __future__ import annotations

import builtins
from importlib.util import find_spec

import numpy as np
import pytest

import zwang as zw
from c_backend import on_a_device
from test_simulate_large import chain
from zwang._compile import model as _compile_model
from zwang._compile.given_values import resolve
from zwang._compile.recent import Kept
from zwang._kernels import cuda, many_states
from zwang._kernels import device as device_module
from zwang._kernels.in_parts import in_parts
from zwang._results.ensemble import LaterMotions
from zwang.gallery.pendulum_on_ellipse import place

ENTRY = zw.gallery.get("ellipse_pendulum_cartesian")
PARAMS = {**ENTRY.params, "a": -0.4, "g": 9.81}
DEVICES = pytest.mark.parametrize("device", ["lanes in c", "cuda"])


def states(count: int) -> dict[str, np.ndarray]:
    found = [place(PARAMS, float(angle), 0.42) for angle in np.linspace(-0.5, -0.1, count)]
    return {name: np.array([item[name] for item in found]) for name in ENTRY.state}


def _arrays(entry: zw.gallery.Entry, states: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    given = resolve(entry.system, states, entry.params)
    return given.t, given.q, given.v, given.params


@DEVICES
def test_evaluations_in_portions_are_those_of_the_processor(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_module, "AT_ONCE", 100)  # several portions, the last of them short
    model = zw.compile(ENTRY.system, on_a_device(device))
    found, expected = model.evaluate(states(53), PARAMS), zw.compile(ENTRY.system).evaluate(states(53), PARAMS)
    assert found.accelerations == pytest.approx(expected.accelerations, rel=1e-12, abs=1e-13)
    assert found.multipliers["ellipse"] == pytest.approx(expected.multipliers["ellipse"], rel=1e-12, abs=1e-13)
    assert found.residual.max() < 1e-14


@DEVICES
def test_dependent_constraints_are_left_to_the_method_that_finds_the_rank(device: str) -> None:
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    singular = {"x_B": 2.0, "y_B": 0.0, "x_C": 3.0, "y_C": 0.0, "v_x_B": 0.0, "v_y_B": 0.0, "v_x_C": 0.0, "v_y_C": 0.0}
    params = {**entry.params, "l1": 2.0, "l2": 1.0, "a": 1.5, "r1": 1.5, "r2": 1.5}
    both = {name: np.array([value, states(1)[name][0]]) for name, value in singular.items()}
    found = zw.compile(entry.system, on_a_device(device)).evaluate(both, params)
    assert found.regular.tolist() == [False, True]
    assert np.isfinite(found.accelerations).all()


@DEVICES
def test_an_ensemble_runs_on_the_device_and_agrees_with_single_motions(device: str) -> None:
    model = zw.compile(ENTRY.system, on_a_device(device))
    found = zw.simulate(model, states(40), PARAMS, until=1.0)
    assert isinstance(found.motions, LaterMotions)
    assert set(found.motions.known) == {0}
    assert found.provenance.backend == device
    alone = zw.simulate(ENTRY.system, {name: float(row[17]) for name, row in states(40).items()}, PARAMS, until=1.0)
    for name in ENTRY.state:
        assert found.end[name][17] == pytest.approx(alone.end[name], abs=1e-9)
    assert found.at([0.3, 0.6])["x_C"][1, 17] == pytest.approx(alone.at(0.6)["x_C"], abs=1e-9)


@DEVICES
def test_motions_of_an_ensemble_do_not_depend_on_portions(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = zw.compile(ENTRY.system, on_a_device(device))
    together = zw.simulate(model, states(40), PARAMS, until=0.5)
    monkeypatch.setattr(cuda, "MOTIONS", 7)
    apart = zw.simulate(model, states(40), PARAMS, until=0.5)
    assert together.end["x_B"].tobytes() == apart.end["x_B"].tobytes()


@DEVICES
def test_a_motion_that_meets_a_singular_point_is_told_as_it_is_alone(device: str) -> None:
    model = zw.compile(ENTRY.system, on_a_device(device))
    one = {**ENTRY.params, "a": np.array([ENTRY.params["a"]] + [-0.4] * 39)}
    start = {name: np.concatenate([[value], states(39)[name]]) for name, value in ENTRY.state.items()}
    given = {name: np.array(row) for name, row in start.items()}
    found = zw.simulate(model, given, one, until=5.0)
    alone = zw.simulate(ENTRY.system, ENTRY.state, ENTRY.params, until=5.0)
    assert found.statuses[0] == alone.status.name
    assert found.end["t"][0] == pytest.approx(alone.t[-1], abs=1e-9)


def hanging(count: int, links: int) -> dict[str, np.ndarray]:
    """Return chains of so many links at rest, each with its own shape."""
    angles = np.random.default_rng(links).uniform(-0.5, 0.5, (links, count))
    x, y = np.cumsum(np.cos(angles), axis=0), np.cumsum(np.sin(angles), axis=0)
    state = {f"x_P{k}": x[k] for k in range(links)} | {f"y_P{k}": y[k] for k in range(links)}
    return state | {f"v_{letter}_P{k}": np.zeros(count) for letter in "xy" for k in range(links)}


@pytest.mark.parametrize("device", [pytest.param("lanes in c", marks=pytest.mark.nightly), "cuda"])
def test_long_equations_are_written_in_parts_and_move_as_single_motions_do(device: str) -> None:
    system, start = chain(30), hanging(40, 30)
    model = zw.compile(system, on_a_device(device))
    found, expected = model.evaluate(start), zw.compile(system).evaluate(start)
    assert found.residual.max() < 1e-13
    assert np.abs(found.accelerations - expected.accelerations).max() < 1e-11 * np.abs(expected.accelerations).max()
    source = next(iter(model.kernels.device_solver(range(30))._texts.values())).writer.rows(
        "rows", model.kernels.device_solver(range(30)).outputs
    )
    assert "rows_1(" in source
    motions = zw.simulate(model, start, until=0.2)
    assert set(motions.motions.known) == {0}
    alone = zw.simulate(system, {name: float(row[23]) for name, row in start.items()}, until=0.2)
    assert max(abs(motions.end[name][23] - alone.end[name]) for name in start) < 1e-9


@pytest.mark.parametrize("size", [1, 7, 50])
def test_code_in_parts_of_any_length_computes_the_same(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_states, "SHORT", 0)
    monkeypatch.setattr(many_states, "in_parts", lambda *given: in_parts(*given, size))
    monkeypatch.setattr(_compile_model, "_MODELS", Kept(4))
    for name in ("ellipse_pendulum_cartesian", "belt_block"):
        entry = zw.gallery.get(name)
        given = {key: np.linspace(value, value + 0.01, 5) for key, value in entry.state.items()}
        found = zw.compile(entry.system, on_a_device("lanes in c")).kernels.terms(*_arrays(entry, given))
        expected = zw.compile(entry.system).kernels.terms(*_arrays(entry, given))
        for item in ("mass", "force", "rows", "gamma", "slip", "bounds", "energies"):
            assert getattr(found, item) == pytest.approx(getattr(expected, item), rel=1e-13, abs=1e-14)


def test_places_between_parts_are_used_again() -> None:
    lines = [f"const double x{k + 1} = x{k} + q{k % 3};" for k in range(1, 300)]
    cut = in_parts(["q0", "q1", "q2", "v0"], ["const double x1 = q0 * v0;", *lines], ["x300", "x7", "2.0", "q1"], 10)
    assert len(cut.parts) == 30
    assert cut.memory == 1  # each part needs one number of the part before
    assert [part.written for part in cut.parts if part.written] == [(1, 2, 3), (0,)]
    assert cut.parts[0].inputs == ("q0", "q1", "q2", "v0")
    assert cut.parts[1].inputs == ("q0", "q1", "q2")


def test_equations_that_are_too_long_are_refused_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "LONGEST", 20)
    kernels = zw.compile(ENTRY.system, on_a_device("lanes in c")).kernels
    with pytest.raises(zw.CompileError, match=r"its equations are \d+ lines long .*\(20\).*backend='native'"):
        kernels._functions(kernels.program, kernels.device_terms().outputs)


@pytest.mark.skipif(find_spec("cupy") is not None, reason="CuPy is here")
def test_without_cupy_the_message_says_what_to_install() -> None:
    def swept() -> None:
        zw.sweep("reactions", ENTRY.system, ENTRY.state, ENTRY.params, over={"m2": [1.0]}, backend="cuda")

    for ask in (lambda: zw.compile(ENTRY.system, "cuda"), swept):  # before anything is computed
        with pytest.raises(zw.CompileError, match=r"needs CuPy.*pip install 'zwang\[cuda\]'.*backend='native'"):
            ask()
    assert _compile_model._kept(ENTRY.system, "cuda", None).backend == "cuda"  # of a pickle


def test_without_a_gpu_the_message_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoDriver(Exception):
        pass

    def count() -> int:
        raise NoDriver("cudaErrorInsufficientDriver")

    class runtime:
        CUDARuntimeError = NoDriver
        getDeviceCount = staticmethod(count)

    fake = type("cupy", (), {"cuda": type("cuda", (), {"runtime": runtime})})
    real = builtins.__import__

    def imported(name, *rest):
        return fake if name == "cupy" else real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", imported)
    with pytest.raises(zw.CompileError, match=r"needs an NVIDIA GPU.*cudaErrorInsufficientDriver.*backend='native'"):
        cuda.CudaLauncher()
