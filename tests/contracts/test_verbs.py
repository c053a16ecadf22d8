"""Every verb on every backend: equal statuses, modes and kinds of events, instants to 100 times the tolerance.

One of the backends is written here, as docs/extend.md says, and one compiles C with the system's compiler. None but
`batch` runs machine code that was generated for a model by Numba.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from c_backend import COMPILER, CBackend
from night import by_day
from zwang import _kernels
from zwang._derive.program import Program
from zwang._graph.evaluate import evaluate
from zwang._kernels.numba import NumbaDialect
from zwang._kernels.outputs import NO_TABLE, Functions, Outputs

TOL = 1e-9
BACKENDS = ["reference", "batch", "long", "c"]


class LongDialect:
    """Functions in the long double numbers of NumPy."""

    def build(self, program: Program, outputs: Mapping[str, Outputs], name: str, *, quick: bool = False) -> Functions:
        calls = tuple(self._function(program, item) for item in outputs.values())
        sizes = tuple(len(item.nodes) for item in outputs.values())
        return Functions(calls, sizes, NO_TABLE, lambda params: np.zeros(1))

    def _function(self, program: Program, item: Outputs):
        def call(t, q, v, params, int_table, workspace, out) -> int:
            numbers = np.array([t, *q, *v, *params], dtype=np.longdouble)
            inputs = dict(zip(program.inputs, numbers, strict=True))
            inputs |= {node: np.bool_(int_table[k] != 0) for k, node in enumerate(item.held)}
            with np.errstate(all="ignore"):
                found = evaluate(program.graph, item.wanted, inputs, np)
            out[: len(item.nodes)] = found[: len(item.nodes)]
            return 0 if item.sound is None or found[-1] else 1

        return call


class LongBackend:
    name = "long"

    def build(self, system: zw.System) -> _kernels.Service:
        return _kernels.Service(system, LongDialect())


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "c" and COMPILER is None:
        pytest.skip("no C compiler 'cc'")
    if request.param == "batch":
        pytest.importorskip("jax")
    else:
        # Whoever asked for machine code of a model would not be a second way.
        def refuse(*_, **__) -> Functions:
            raise AssertionError("a function of a model was compiled")

        monkeypatch.setattr(NumbaDialect, "build", refuse)
    for own in (LongBackend(), CBackend()):
        _kernels.register(own)
    yield request.param
    for own in ("long", "c"):
        _kernels._REGISTERED.pop(own)


def both(name: str, backend: str) -> tuple[zw.gallery.Entry, zw.Model, zw.Model]:
    entry = zw.gallery.get(name)
    return entry, zw.compile(entry.system), zw.compile(entry.system, backend)


def assert_same_motion(found: zw.Motion, expected: zw.Motion) -> None:
    assert found.status is expected.status
    assert [(item.kind, item.name) for item in found.events] == [(item.kind, item.name) for item in expected.events]
    times, right = [item.time for item in found.events], [item.time for item in expected.events]
    np.testing.assert_allclose(times, right, rtol=0, atol=100 * TOL)
    np.testing.assert_allclose(found.q[-1], expected.q[-1], rtol=0, atol=100 * TOL)
    assert [piece.labels for piece in found.pieces] == [piece.labels for piece in expected.pieces]


# The native answers, computed before the backend under test refuses machine code.
ANSWERS: dict[str, object] = {}


def native(key: str, ask):
    if key not in ANSWERS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(NumbaDialect, "build", BUILD)
            ANSWERS[key] = ask()
    return ANSWERS[key]


BUILD = NumbaDialect.build


@pytest.mark.parametrize("name", ["painleve_rod", "two_particles", "sleigh"])
def test_reactions(name: str, backend: str) -> None:
    entry, plain, model = both(name, backend)
    expected = native(f"reactions {name}", lambda: zw.reactions(plain, entry.state, entry.params))
    found = zw.reactions(model, entry.state, entry.params)
    assert found.status is expected.status and found.provenance.backend == backend
    assert [item.modes for item in found.solutions] == [item.modes for item in expected.solutions]
    for one, other in zip(found.solutions, expected.solutions, strict=True):
        np.testing.assert_allclose(one.normal, other.normal, rtol=1e-9, atol=1e-9)


def test_maps_of_reactions(backend: str) -> None:
    entry, plain, model = both("painleve_rod", backend)
    params = {**entry.params, "mu": np.linspace(0.1, 2.0, 40)}
    expected = native("map", lambda: zw.reactions(plain, entry.state, params))
    found = zw.reactions(model, entry.state, params)
    assert (found.counts == expected.counts).all()


@pytest.mark.parametrize(("name", "until"), [("bouncing_ball", 0.5), ("belt_block", 0.6), ("sleigh_ahead", 0.4)])
def test_motions_by_events(name: str, until: float, backend: str) -> None:
    entry, plain, model = both(name, backend)
    options = {"until": until, "tol": TOL}
    expected = native(name, lambda: zw.simulate(plain, entry.state, entry.params, **options))
    found = zw.simulate(model, entry.state, entry.params, **options)
    assert_same_motion(found, expected)
    assert found.residual < 1e-6 and found.provenance.backend == backend


def test_motions_through_switching_forces_and_user_events(backend: str) -> None:
    (x,), (v,) = zw.coordinates("x")
    k = zw.parameters("k")
    system = zw.System(name="stop", kinetic=v**2 / 2, forces={x: -k * sp.Max(0, x)})
    start, half = {"x": -0.5, "v_x": 1.0}, zw.Event(x - 0.05, name="deep")
    options = {"until": 1.0, "tol": TOL, "events": [half]}
    expected = native("switching", lambda: zw.simulate(zw.compile(system), start, {"k": 10.0}, **options))
    found = zw.simulate(zw.compile(system, backend), start, {"k": 10.0}, **options)
    assert_same_motion(found, expected)
    assert len(found.events) == 1


def test_motions_by_time_stepping(backend: str) -> None:
    entry, plain, model = both("bouncing_ball", backend)
    options = {"until": 0.5, "method": "timestepping", "step": 0.01}
    expected = native("steps", lambda: zw.simulate(plain, entry.state, entry.params, **options))
    found = zw.simulate(model, entry.state, entry.params, **options)
    assert found.status is expected.status
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-10)


def test_ensembles(backend: str) -> None:
    entry, plain, model = both("ellipse_pendulum_cartesian", backend)
    states = {key: np.full(3, value) for key, value in entry.state.items()}
    expected = native("ensemble", lambda: zw.simulate(plain, states, entry.params, until=0.1, tol=TOL))
    found = zw.simulate(model, states, entry.params, until=0.1, tol=TOL)
    for one, other in zip(found, expected, strict=True):
        assert one.status is other.status
        np.testing.assert_allclose(one.q[-1], other.q[-1], rtol=0, atol=100 * TOL)


def test_traces(backend: str) -> None:
    entry, plain, model = both("curve_node", backend)
    expected = native("trace", lambda: zw.trace(plain, entry.params))
    found = zw.trace(model, entry.params)
    assert found.status is expected.status
    assert (len(found.branches), found.components) == (len(expected.branches), expected.components)
    assert [item.kind for item in found.singular_points] == [item.kind for item in expected.singular_points]


@pytest.mark.parametrize("backend", by_day(BACKENDS, ["reference", "batch"]), indirect=True)
def test_critical_values(backend: str) -> None:
    (x, y), (u, v) = zw.coordinates("x y")
    c = zw.parameters("c")
    curve = zw.Bilateral(x**2 + y**2 - c, name="curve")
    system = zw.System(name="circle", kinetic=(u**2 + v**2) / 2, constraints=[curve])
    expected = native("critical", lambda: zw.critical(zw.compile(system), {}, vary=c, within=(-1, 1)))
    found = zw.critical(zw.compile(system, backend), {}, vary=c, within=(-1, 1))
    assert [item.value for item in found] == pytest.approx([item.value for item in expected], abs=1e-9)


def test_asymptotics(backend: str) -> None:
    entry, plain, model = both("crossing", backend)
    expected = native("asymptotics", lambda: zw.asymptotics(plain, entry.params))
    found = zw.asymptotics(model, entry.params)
    assert found.status is expected.status
    assert [(item.quantity, item.predicted) for item in found.rows] == [
        (item.quantity, item.predicted) for item in expected.rows
    ]


def test_realized_motions_and_their_limits(backend: str) -> None:
    entry, plain, model = both("kozlov_neishtadt", backend)
    soft = zw.realize(model, "floor", by=zw.Stiffness(1e3))
    a = zw.compile(soft, backend).accelerations(entry.state, entry.params)
    np.testing.assert_allclose(a, native("soft", lambda: zw.compile(soft).accelerations(entry.state, entry.params)))
    options = {"by": zw.Stiffness, "until": 0.2, "strengths": [1e2, 1e3, 1e4], "cells": 16}
    expected = native("limit", lambda: zw.limit(plain, "floor", entry.state, **options))
    found = zw.limit(model, "floor", entry.state, **options)
    assert found.status is expected.status
    assert found.orders["position"].value == pytest.approx(expected.orders["position"].value, abs=1e-3)


def test_limits_of_friction(backend: str) -> None:
    entry, plain, model = both("sleigh", backend)
    options = {"by": zw.Viscosity, "until": 0.1, "strengths": [1e2, 1e3, 1e4], "cells": 8}
    expected = native("friction", lambda: zw.limit(plain, "blade", entry.state, entry.params, **options))
    found = zw.limit(model, "blade", entry.state, entry.params, **options)
    assert found.status is expected.status


def test_registering_something_else_than_a_backend_is_refused() -> None:
    with pytest.raises(zw.DeclarationError, match="register needs a backend, an object with a name"):
        _kernels.register(object())
    with pytest.raises(zw.DeclarationError, match="'native' is a backend of the package"):
        _kernels.register(type("Mine", (LongBackend,), {"name": "native"})())
