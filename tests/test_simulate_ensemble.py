"""Many motions at once."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import zwang as zw


def test_arrays_give_an_ensemble_of_motions_with_their_own_events() -> None:
    ball = zw.gallery.get("bouncing_ball")
    heights = np.array([0.5, 1.0, 4.0])
    found = zw.simulate(ball.system, {"y": heights, "v_y": 0.0}, ball.params, until=0.8)
    assert found.shape == (3,)
    assert len(found) == 3
    assert found.status.name == "REACHED"
    first = [motion.events[0].time if motion.events else math.nan for motion in found]
    assert first[:2] == pytest.approx(np.sqrt(2 * heights[:2] / 9.81), abs=1e-11)
    assert found[2].events == ()  # 0.903 s to the floor
    assert found.end["y"][2] == pytest.approx(4.0 - 9.81 * 0.8**2 / 2, abs=1e-11)
    assert found.at(0.1)["y"] == pytest.approx(heights - 9.81 * 0.1**2 / 2, abs=1e-11)
    assert "3 motions of shape (3,) (3 REACHED)" in repr(found)


def test_ensemble_over_a_grid_of_states_and_parameters_has_its_shape(tmp_path: Path) -> None:
    rod = zw.gallery.get("painleve_rod")
    params = {**rod.params, "mu": np.array([[0.3], [1.4]])}
    state = {**rod.state, "v_x": np.array([-1.0, -2.0, -3.0])}
    found = zw.simulate(rod.system, state, params, until=0.01)
    assert found.shape == (2, 3)
    assert found.statuses.tolist() == [["REACHED"] * 3, ["PARADOX"] * 3]
    assert found.status.name == "MIXED"
    assert found[1, 2].status.name == "PARADOX"
    assert np.isnan(found.at(0.005)["x"][1]).all()
    again = zw.load_result(found.save(tmp_path / "grid.npz"))
    assert again.statuses.tolist() == found.statuses.tolist()
    assert np.array_equal(again.end["x"], found.end["x"])


def test_inadmissible_entry_of_an_ensemble_is_named() -> None:
    ball = zw.gallery.get("bouncing_ball")
    with pytest.raises(zw.StateError, match=r"violates constraint 'floor' .*\(entry \[1\] of the arrays\)"):
        zw.simulate(ball.system, {"y": [1.0, -1.0], "v_y": 0.0}, ball.params, until=0.8)
