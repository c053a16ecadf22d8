"""The backend `cuda` through the verbs: on a GPU where there is one, and its texts on the processor."""

from __future__ import annotations

import builtins
from importlib.util import find_spec

import numpy as np
import pytest

import zwang as zw
from c_backend import on_a_device
from zwang._kernels import cuda
from zwang._kernels import device as device_module
from zwang._results.ensemble import LaterMotions
from zwang.gallery.pendulum_on_ellipse import place

ENTRY = zw.gallery.get("ellipse_pendulum_cartesian")
PARAMS = {**ENTRY.params, "a": -0.4, "g": 9.81}
DEVICES = pytest.mark.parametrize("device", ["lanes in c", "cuda"])


def states(count: int) -> dict[str, np.ndarray]:
    found = [place(PARAMS, float(angle), 0.42) for angle in np.linspace(-0.5, -0.1, count)]
    return {name: np.array([item[name] for item in found]) for name in ENTRY.state}


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


def test_large_systems_are_refused_with_the_cure() -> None:
    coordinates, velocities = zw.coordinates(" ".join(f"x{k}" for k in range(60)))
    chain = zw.System(name="sixty", coordinates=list(coordinates), kinetic=sum(v**2 for v in velocities) / 2)
    with pytest.raises(zw.CompileError, match=r"sixty: 60 coordinates and constraints are too many .*backend='native'"):
        zw.compile(chain, on_a_device("lanes in c")).kernels


@pytest.mark.skipif(find_spec("cupy") is not None, reason="CuPy is here")
def test_without_cupy_the_message_says_what_to_install() -> None:
    with pytest.raises(zw.CompileError, match=r"needs CuPy.*pip install 'zwang\[cuda\]'.*backend='native'"):
        zw.compile(ENTRY.system, "cuda").evaluate(ENTRY.state, ENTRY.params)


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
