"""The machine of motions: what follows depends on nothing but what is given, and only the loop records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang._compile.given_values import resolve
from zwang._results.motion_parts import MotionPiece
from zwang._simulate.active_set import admit
from zwang._simulate.ground import Ground
from zwang._simulate.machine import handle, run
from zwang._simulate.moment import Context, Decision, Moment, Start, Stop, Transition, event_at
from zwang._simulate.options import MotionOptions
from zwang._simulate.springs import STOPPING


def made(name: str, until: float = 1.0, **options: Any) -> tuple[Context, Moment]:
    entry = zw.gallery.get(name)
    model = zw.compile(entry.system)
    inputs = resolve(model.system, entry.state, entry.params)
    ground = Ground.of(model, inputs)
    context = Context(**vars(ground), options=MotionOptions(until=until, tol=1e-10, **options), policies=STOPPING)
    return context, admit(ground, inputs).begin()


def piece(start: float, end: float) -> MotionPiece:
    rows = np.zeros((2, 1))
    return MotionPiece(np.array([start, end]), rows, rows, rows, np.zeros((1, 7, 2)), ("open",), ())


@pytest.mark.parametrize("name", ["belt_block", "bouncing_ball", "painleve_rod", "sleigh_ahead"])
def test_the_same_happening_has_the_same_consequence_and_changes_nothing(name: str) -> None:
    context, moment = made(name)
    before = (moment.t, moment.q.copy(), moment.v.copy(), moment.touching, moment.resting, dict(vars(moment.memory)))
    first, second = (handle(context, moment, Start()) for _ in range(2))
    assert repr(first.events) == repr(second.events) and first.moment.v.tolist() == second.moment.v.tolist()
    if isinstance(first.decision, Decision):
        assert isinstance(second.decision, Decision) and first.decision.labels == second.decision.labels
    assert moment.q.tolist() == before[1].tolist() and moment.v.tolist() == before[2].tolist()
    assert (moment.touching, moment.resting, dict(vars(moment.memory))) == (*before[3:5], before[5])


def test_running_twice_from_one_moment_gives_one_motion() -> None:
    context, moment = made("bouncing_ball", until=2.0, impact="newton")
    first, second = run(context, moment), run(context, moment)
    assert repr(first.events) == repr(second.events) and len(first.events) > 2
    assert [one.t.tolist() for one in first.pieces] == [one.t.tolist() for one in second.pieces]
    assert isinstance(first.stop, Stop) and first.stop.status.name == "REACHED"


def test_a_jump_belongs_to_the_piece_that_comes_after_it() -> None:
    moment = Moment(0.0, np.zeros(1), np.zeros(1))
    jump = {"before": np.zeros(1), "after": np.ones(1)}
    struck = Transition(moment, Decision(), (event_at(0.0, "impact"),), jumps=(jump,))
    later = Transition(moment, Decision(), (event_at(1.0, "contact"),), (piece(0, 1), piece(1, 2)), drift=0.5)
    both = struck.then(later)
    assert [len(one.jumps) for one in both.pieces] == [1, 0] and not both.jumps and both.drift == 0.5
    assert [event.kind for event in both.events] == ["impact", "contact"]
    assert struck.then(struck).jumps == (jump, jump)
    assert later.then(struck).jumps == (jump,) and not any(one.jumps for one in later.then(struck).pieces)
