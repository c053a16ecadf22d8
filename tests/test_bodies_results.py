"""What results say of bodies in space: unit rows, wrenches of joints, shapes on a half-space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zwang as zw
from redundant_mechanisms import overconstrained


def rolling_ball() -> zw.Bodies:
    ball = zw.Bodies("ball", gravity=(0, 0, -10)).body("ball", mass=1, inertia=(0.4, 0.4, 0.4), at=(0, 0, 1))
    ball.shape("skin", on="ball", form=zw.shapes.Sphere(1))
    ball.shape("floor", on="ground", form=zw.shapes.HalfSpace((0, 0, 1)))
    return ball.contact("skin", "floor", friction=0.4, restitution=0, name="touch")


def test_rows_that_keep_quaternions_at_unit_length_are_in_no_result(tmp_path: Any) -> None:
    ball = rolling_ball()
    system, state = ball.system(), ball.place("ball", velocity=(7, 0, 0), spin=(0, 0.1, 0.2))
    assert "unit_ball" in system.constraints.names
    found = zw.reactions(system, state)
    (solution,) = found.solutions
    assert found.contacts == solution.names == solution.ranges.names == ("touch",)
    assert solution.modes["touch"] == "slip"
    assert solution.vertices.normal.shape == (1, 1)
    assert solution.gap_acceleration.shape == solution.directions.shape == (1,)
    assert found.rejected.names == ("touch",)
    assert list(found.rejected) == [("open",)]
    assert "unit_ball" not in repr(found)
    found.save(tmp_path / "found.npz")
    assert zw.load_result(tmp_path / "found.npz").contacts == ("touch",)
    several = zw.reactions(system, {**state, "v_x_ball": np.array([0.0, 7.0])})
    assert several.contacts == ("touch",)
    assert several.normal.shape == (1, 2)
    assert "unit_ball" not in zw.compile(system).evaluate(state, {}).multipliers
    motion = zw.simulate(system, state, until=0.1)
    motion.save(tmp_path / "motion.npz")
    for shown in (motion, zw.load_result(tmp_path / "motion.npz")):
        assert shown.modes[0].names == ("touch",)
        assert "unit_ball" not in repr(shown.modes)
        shown.to_csv(tmp_path / "motion.csv")
        names = (tmp_path / "motion.csv").read_text(encoding="utf-8")
        assert "mode_touch" in names
        assert "unit" not in names
    assert "unit_ball" not in zw.simulate(system, state, until=0.1, method="timestepping", step=0.01).reaction_range
    with pytest.raises(zw.DeclarationError, match="'unit_ball' keeps a quaternion at unit length.*made by no force"):
        zw.realize(system, "unit_ball", by=zw.Stiffness(1))


def test_self_stresses_are_told_without_unit_rows() -> None:
    loop = overconstrained()
    system = loop.system(coordinates="cartesian")
    state: dict[str, float] = {item.name: 0.0 for item in system.velocities}
    for body in ("b0", "b1", "b2"):
        state |= loop.place(body)
    found = zw.reactions(system, state)
    stress = found.redundancy.stress_normal
    assert stress.shape == (3, len(found.contacts))
    assert not any("unit_" in sentence for sentence in (*found.redundancy.sentences, *found.redundancy.determined))
    assert np.linalg.matrix_rank(stress) == 3
