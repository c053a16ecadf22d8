"""One-sided constraints that exist only where a relation of the coordinates holds: `Unilateral(where=)`."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw

(x, y), (vx, vy) = zw.coordinates("x y")
G = 9.81


def table(*more: Any, where: Any = x < 1, mu: float = 0.1) -> zw.System:
    """A particle on a table that ends at x = 1, above a floor one metre below."""
    top = zw.Unilateral(y, restitution=0, friction=zw.Coulomb(mu, slip=vx), where=where, name="table")
    floor = zw.Unilateral(y + 1, restitution=0, name="floor")
    return zw.System(name="table", kinetic=(vx**2 + vy**2) / 2, potential=G * y, constraints=[top, floor, *more])


def state(**given: float) -> dict[str, float]:
    return {"x": 0.0, "y": 0.0, "v_x": 0.0, "v_y": 0.0, **given}


def test_a_particle_slides_off_the_end_of_a_table_and_falls() -> None:
    motion = zw.simulate(table(), state(v_x=3.0), until=1.0)
    # 3 t - mu g t^2/2 = 1, then a fall of one metre.
    off = (3 - np.sqrt(9 - 2 * 0.1 * G)) / (0.1 * G)
    assert [(event.kind, event.constraint) for event in motion.events] == [
        ("lift-off", "table"),
        ("impact", "floor"),
        ("contact", "floor"),
    ]
    assert [event.time for event in motion.events[:2]] == pytest.approx([off, off + np.sqrt(2 / G)], rel=1e-10)
    assert motion.residual < 1e-10


def test_the_table_is_met_over_it_and_missed_beside_it() -> None:
    over = zw.simulate(table(), state(y=0.5, v_x=1.0), until=0.5)
    assert [event.constraint for event in over.events] == ["table", "table"]
    beside = zw.simulate(table(), state(x=0.9, y=0.5, v_x=1.0), until=0.7)
    assert {event.constraint for event in beside.events} == {"floor"}
    assert beside.events[0].time == pytest.approx(np.sqrt(3 / G), rel=1e-10)
    # By time steps it is the same.
    steps = zw.simulate(table(), state(v_x=3.0), until=1.0, method="timestepping", step=1e-3)
    assert [event.constraint for event in steps.events] == ["table", "floor", "floor"]


def test_reactions_know_where_a_constraint_exists() -> None:
    assert zw.reactions(table(), state(x=0.9)).solutions[0].normal == pytest.approx([G])
    gone = zw.reactions(table(), state(x=1.1))
    assert gone.accelerations[0] == pytest.approx([0, -G])
    assert zw.compile(table()).check(state(x=1.1, y=-0.5), {}) == 0


def test_a_contact_goes_over_to_the_next_one_without_an_event() -> None:
    more = zw.Unilateral(y, restitution=0, friction=zw.Coulomb(0.2, slip=vx), where=x >= 1, name="carpet")
    motion = zw.simulate(table(more), state(v_x=3.0), until=2.0)
    # Only that it comes to rest on the carpet is an event: v^2 = 9 - 2 mu g after one metre.
    slow = np.sqrt(9 - 0.2 * G)
    off = (3 - slow) / (0.1 * G)
    assert [(event.kind, event.constraint) for event in motion.events] == [("stick", "carpet")]
    assert motion.events[0].time == pytest.approx(off + slow / (0.2 * G), rel=1e-10)


def test_a_side_that_is_met_from_behind_stops_the_motion_in_words() -> None:
    motion = zw.simulate(table(), state(x=1.5, y=-1.0, v_x=-1.0), until=1.0)
    assert motion.status.name == "UNFINISHED"
    assert motion.t[-1] == pytest.approx(0.5)
    assert "'table' begins to exist where its gap is -1 already: it is met from behind" in motion.reason


def test_a_relation_is_kept_by_files_pickles_and_texts(tmp_path: Path) -> None:
    both = (x < 1) & (x > -1)
    for where in (x < 1, both):
        system = table(where=where)
        system.save(tmp_path / "table.toml")
        again = zw.load(tmp_path / "table.toml")
        assert again == system == pickle.loads(pickle.dumps(system))
        assert again.constraints["table"].where == where
    assert 'where = "x < 1"' in (table().save(tmp_path / "one.toml"), (tmp_path / "one.toml").read_text())[1]
    assert table(where="x < 1") == table()
    assert "y >= 0 where x < 1" in repr(table())
    texts = zw.Unilateral("y", where="x < w", name="table")
    told = zw.System(kinetic="v_x**2 + v_y**2", coordinates=(x, y), constraints=[texts])
    assert [item.name for item in told.parameters] == ["w"]
    assert table().replace(name="other").constraints["table"].where == (x < 1)
    assert table() != table(where=x < 2)


@pytest.mark.parametrize("where", [1, x, True, zw.parameters("a")])
def test_what_is_no_relation_is_refused(where: Any) -> None:
    with pytest.raises(zw.DeclarationError, match="Unilateral 'table': where= must be a relation of the coordinates"):
        zw.Unilateral(y, where=where, name="table")


def test_velocities_have_no_part_in_it() -> None:
    with pytest.raises(zw.DeclarationError, match="goes with a constraint on positions"):
        zw.Unilateral(y, where=vx > 0, name="table")
    with pytest.raises(zw.DeclarationError, match="goes with a constraint on positions"):
        zw.Unilateral(vy, where=x > 0, name="table")
