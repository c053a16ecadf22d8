"""What simulate refuses, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw


def pendulum() -> zw.System:
    (x, y), (vx, vy) = zw.coordinates("x y")
    rod = zw.Bilateral(sp.sqrt(x**2 + y**2) - 1, name="rod")
    return zw.System(name="pendulum", kinetic=(vx**2 + vy**2) / 2, potential=y, constraints=[rod])


HANGING = {"x": 0, "y": -1, "v_x": 0.5, "v_y": 0}


def ask(state: Any = HANGING, **options: Any) -> Any:
    return zw.simulate(pendulum(), state, {}, **{"until": 1.0, **options})


def test_state_off_its_constraint_is_refused_with_the_figure() -> None:
    with pytest.raises(zw.StateError, match=r"pendulum: the state is off constraint 'rod' by 1\.0e-01 .*project"):
        ask({**HANGING, "y": -1.1})


def test_velocity_that_leaves_a_constraint_is_refused() -> None:
    with pytest.raises(zw.StateError, match=r"the velocity leaves constraint 'rod' with -2\.0e-01"):
        ask({**HANGING, "v_y": 0.2})


def test_state_off_by_rounding_is_moved_onto_its_constraints() -> None:
    motion = ask({**HANGING, "y": -1 - 1e-11})
    assert motion.drift < 1e-14


def test_penetrating_start_is_refused() -> None:
    ball = zw.gallery.get("bouncing_ball")
    with pytest.raises(zw.StateError, match=r"violates constraint 'floor' by 1\.0e-01 .* is not negative"):
        zw.simulate(ball.system, {"y": -0.1, "v_y": 0}, ball.params, until=1.0)


@pytest.mark.parametrize("method", ["events", "timestepping"])
def test_penetrating_start_is_moved_out_on_request_and_the_motion_says_how_far(method: str) -> None:
    ball = zw.gallery.get("bouncing_ball")
    motion = zw.simulate(
        ball.system, {"y": -0.1, "v_y": -2.0}, {**ball.params, "m": 4.0}, until=0.25, start="project", method=method
    )
    first = motion.events[0]
    assert (first.kind, first.time) == ("project", 0)
    assert first.details["distance"] == pytest.approx(0.2, rel=1e-12)  # sqrt(m) dy
    assert first.details["energy_change"] == pytest.approx(4 * 9.81 * 0.1, rel=1e-12)
    assert motion.at(0.0)["y"] == pytest.approx(0, abs=1e-15)
    assert motion.events[1].kind == "impact"  # the speed of approach was kept
    assert motion.end["v_y"] == pytest.approx(2.0 * ball.params["e"] - 9.81 * 0.25, abs=2e-2)


def test_many_starts_are_projected_one_by_one() -> None:
    off = {"x": np.array([0.1, 0.2]), "y": np.array([-1.01, -0.9]), "v_x": 0.3, "v_y": 0.1}
    motions = zw.simulate(pendulum(), off, until=0.2, start="project")
    for k in range(2):
        start = motions[k].at(0.0)
        assert start["x"] ** 2 + start["y"] ** 2 == pytest.approx(1, abs=1e-14)
        assert motions[k].events[0].kind == "project"
    (x,), (vx,) = zw.coordinates("x")
    at = zw.Bilateral(x**2 + zw.parameters("c"), name="at")
    circle = zw.System(name="circle", kinetic=vx**2, constraints=[at])
    with pytest.raises(zw.StateError, match=r"no state .* was reached .* \(entry \[1\] of the arrays\)"):
        zw.simulate(circle, {"x": 0.3, "v_x": 0.0}, {"c": np.array([-1.0, 1.0])}, until=1, start="project")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"until": -1.0}, r"until= -1 lies before the start of the motion, t = 0"),
        ({"until": float("inf")}, r"until= must be a finite number"),
        ({"until": "soon"}, r"until= must be a finite number; it was given 'soon'"),
        ({"tol": 0}, r"tol= must be a finite number at least 1e-15 and at most 0.01; it was given 0"),
        ({"tol": 1.0}, r"tol= must be a finite number at least"),
        ({"method": "magic"}, r"method= must be one of 'events', 'timestepping', 'auto'; it was given 'magic'"),
        ({"impact": "hertz"}, r"impact= must be one of 'newton', 'poisson', 'energetic'"),
        ({"at_paradox": "pray"}, r"at_paradox= must be one of 'stop', 'impact'"),
        ({"at_choice": "best"}, r"at_choice= must be one of .* or a callable"),
        ({"at_singular": "left"}, r"at_singular= must be one of .* or a callable"),
        ({"redundant": "any"}, r"redundant= must be one of 'minimum norm'"),
        ({"events": [3]}, r"events= holds Event\(expression, ...\) and nothing else; entry 1 is 3"),
    ],
)
def test_option_that_means_nothing_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(zw.DeclarationError, match=words):
        ask(**options)


def test_missing_state_and_strange_systems_are_refused() -> None:
    with pytest.raises(zw.DeclarationError, match="a system needs a state"):
        zw.simulate(pendulum(), until=1.0)
    with pytest.raises(zw.DeclarationError, match="needs a System, a Model or a Motion"):
        zw.simulate("pendulum", HANGING, {}, until=1.0)  # type: ignore[arg-type]


def test_event_with_a_foreign_symbol_or_a_strange_direction_is_refused() -> None:
    with pytest.raises(zw.DeclarationError, match=r"event 'z - 1' uses 'z', which is no parameter of the system"):
        ask(events=[zw.Event(sp.Symbol("z") - 1)])
    with pytest.raises(
        zw.DeclarationError, match=r"direction= must be a whole number at least -1 and at most 1; it was given 2"
    ):
        zw.Event(sp.Symbol("x"), direction=2)


def test_event_that_is_not_a_number_is_named() -> None:
    x, y = pendulum().coordinates
    with pytest.raises(zw.StateError, match=r"expression of event 'bad' is not a finite number at t ="):
        ask(events=[zw.Event(sp.log(y), name="bad")])
    with pytest.raises(zw.StateError, match=r"event 'later' is not a finite number"):
        ask(events=[zw.Event(sp.sqrt(sp.Rational(1, 10) - x) - 5, name="later")])


def test_motion_asked_outside_its_times_says_what_they_are() -> None:
    motion = ask()
    with pytest.raises(zw.DeclarationError, match=r"runs from t = 0 to 1; it was asked at 1\.5"):
        motion.at([0.5, 1.5])
