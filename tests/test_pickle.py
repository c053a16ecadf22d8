"""Systems, models, results and entries go to other processes: by their data, and equal when they arrive."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw
from night import by_day
from zwang._declare.frozen import Frozen

STORED = sorted(path.name for path in (Path(__file__).parent / "stored_0_1").glob("*.npz"))


def sent(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


WAYS = pytest.mark.parametrize("way", [sent, copy.deepcopy, copy.copy])


@pytest.mark.parametrize(
    ("way", "name"),
    by_day(
        [(way, name) for way in (sent, copy.deepcopy, copy.copy) for name in zw.gallery.names()],
        [(sent, name) for name in zw.gallery.names()] + [(copy.deepcopy, "four_bar"), (copy.copy, "four_bar")],
    ),
)
def test_every_entry_its_system_and_its_picture_arrive_equal(name: str, way: Any) -> None:
    entry = zw.gallery.get(name)
    again = way(entry)
    assert again == entry and again.system == entry.system and again.system.digest == entry.system.digest
    assert again.drawing.to_dict() == entry.drawing.to_dict()
    assert again.system.parameters == entry.system.parameters
    assert way(entry.system) == entry.system and way(entry.state) == entry.state


@WAYS
def test_symbols_arrive_as_the_objects_that_are_there(way: Any) -> None:
    (x, theta), (vx, omega) = zw.coordinates("x theta", angles="theta")
    m = zw.parameters("m")
    for symbol in (x, theta, vx, omega, m, zw.t):
        assert way(symbol) is symbol
    assert way(m * omega**2 * theta + zw.t * x) == m * omega**2 * theta + zw.t * x
    assert way(theta).velocity is omega and way(theta).angle


@WAYS
def test_a_model_goes_by_its_system(way: Any) -> None:
    entry = zw.gallery.get("four_bar")
    for backend in ("native", "reference"):
        model = zw.compile(entry.system, backend)
        before = model.accelerations(entry.state, entry.params)  # kernels are there now, and stay behind
        again = way(model)
        assert again.system == entry.system and again.backend == backend
        np.testing.assert_array_equal(again.accelerations(entry.state, entry.params), before)


@WAYS
@pytest.mark.parametrize("method", ["events", "timestepping"])
def test_a_motion_arrives_with_all_that_follows_from_it(method: str, way: Any) -> None:
    ball = zw.gallery.get("bouncing_ball")
    motion = zw.simulate(ball.system, ball.state, ball.params, until=0.6, method=method)
    again = way(motion)
    assert repr(again) == repr(motion) and again.status is motion.status
    for quantity in ("t", "q", "v", "a"):
        np.testing.assert_array_equal(getattr(again, quantity), getattr(motion, quantity))
    np.testing.assert_array_equal(again.energy["total"], motion.energy["total"])
    assert again.residual == motion.residual


@WAYS
@pytest.mark.parametrize("kind", ["expression", "table", "feedback", "held"])
def test_a_motion_with_inputs_arrives(kind: str, way: Any) -> None:
    (x,), (vx,) = zw.coordinates("x")
    u = zw.inputs("u")
    cart = zw.System(name="cart", kinetic=vx**2 / 2, forces={x: u - x})
    asked: list[float] = []
    value = {
        "expression": zw.t**2,
        "table": zw.Table([0.0, 0.4, 1.0], [0.0, 1.0, 0.5]),
        "feedback": -vx,
        "held": zw.Held(lambda state: asked.append(state["t"]) or -state["v_x"], every=0.1),  # of this process alone
    }[kind]
    motion = zw.simulate(cart, {"x": 1.0, "v_x": 0.0}, inputs={u: value}, until=0.5)
    calls = len(asked)
    again = way(motion)
    assert repr(again) == repr(motion) and again.inputs.keys() == motion.inputs.keys()
    np.testing.assert_array_equal(again.a, motion.a)
    assert again.at(0.33) == motion.at(0.33) and again.residual == motion.residual and len(asked) == calls


@WAYS
def test_an_ensemble_arrives(way: Any) -> None:
    ball = zw.gallery.get("bouncing_ball")
    ensemble = zw.simulate(ball.system, {**ball.state, "y": np.array([1.0, 2.0])}, ball.params, until=0.2)
    again = way(ensemble)
    assert repr(again) == repr(ensemble)
    np.testing.assert_array_equal(again.end["y"], ensemble.end["y"])


@WAYS
@pytest.mark.parametrize("name", STORED)
def test_every_kind_of_result_arrives(name: str, way: Any) -> None:
    result = zw.load_result(Path(__file__).parent / "stored_0_1" / name)
    again = way(result)
    assert type(again) is type(result) and repr(again) == repr(result)


def test_a_process_pool_takes_models_entries_and_motions() -> None:
    ball = zw.gallery.get("bouncing_ball")
    model = zw.compile(ball.system, "reference")
    here = model.evaluate(ball.state, ball.params)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        there = pool.submit(model.evaluate, ball.state, ball.params).result(timeout=300)
        entry = pool.submit(zw.gallery.get, "pyramid").result(timeout=300)
    np.testing.assert_array_equal(there.accelerations, here.accelerations)
    assert entry == zw.gallery.get("pyramid") and entry.system == zw.gallery.get("pyramid").system


def test_a_frozen_mapping_is_a_dictionary_that_nobody_changes() -> None:
    values = Frozen({"m": 1.0})
    for change in (
        lambda: values.update(m=2.0),
        lambda: values.pop("m"),
        values.clear,
        lambda: values.setdefault("g", 1.0),
        lambda: values.__setitem__("m", 2.0),
        lambda: values.__delitem__("m"),
        lambda: values.__ior__({"m": 2.0}),
    ):
        with pytest.raises(TypeError, match="can't be changed"):
            change()
    assert values == {"m": 1.0} and sent(values) == values and type(sent(values)) is Frozen
