"""Exhaustive search: intervals that hold what they should, proofs that fail when something is missing, exact types."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import sympy as sp

import zwang as zw
from night import by_day
from zwang._results.configuration import ConfigurationSpace
from zwang._trace.exhaustive import certify, radical
from zwang._trace.exhaustive_balls import Boxes, Enclosure, corners
from zwang._trace.exhaustive_boxes import Prover
from zwang._trace.exhaustive_local import exact_type
from zwang._trace.formulas import Formulas, exact, exact_equations, numeric

SQUARE = {"x": (-2.0, 2.1), "y": (-2.0, 2.2)}
(X, Y), (VX, VY) = zw.coordinates("x y")


def curve(*equations: Any, gaps: tuple[Any, ...] = ()) -> zw.System:
    held = [zw.Bilateral(item, name=f"f{k}") for k, item in enumerate(equations)]
    return zw.System(
        kinetic=(VX**2 + VY**2) / 2,
        constraints=held + [zw.Unilateral(item, name=f"h{k}") for k, item in enumerate(gaps)],
        coordinates=(X, Y),
    )


@functools.cache
def gallery_space(name: str, changes: tuple[tuple[str, float], ...] = ()) -> ConfigurationSpace:
    entry = zw.gallery.get(name)
    box = SQUARE if set(entry.system.coordinates) == {X, Y} else None
    return zw.trace(entry.system, {**entry.params, **dict(changes)}, box=box, search="exhaustive")


# --- numbers --------------------------------------------------------------------------------------------------------


def test_parameters_are_read_as_the_decimals_that_they_are_printed_as() -> None:
    assert exact(0.1) == Fraction(1, 10)
    assert exact(1.5625) == Fraction(25, 16)
    assert exact(Fraction(1, 3)) == exact(sp.Rational(1, 3)) == Fraction(1, 3)
    assert exact(1e-30) == Fraction(1, 10**30)


def test_formulas_agree_with_sympy_on_every_kind_of_operation() -> None:
    expressions = [
        sp.sin(X) * sp.exp(Y) / (1 + X**2),
        sp.sqrt(1 + X**2) ** 3 - Y ** sp.Rational(2, 3) + sp.pi,
        sp.atan2(Y, X) + sp.tanh(X) - sp.acos(X / 3) + 0.1 * Y,
        (1 + X**2) ** Y,
    ]
    point = np.array([0.7, 1.3])
    found = numeric(Formulas(expressions, (X, Y)))(point[:, None])[:, 0]
    assert found == pytest.approx([float(item.subs({X: 0.7, Y: 1.3})) for item in expressions], rel=1e-14)


def test_balls_contain_every_value_that_a_formula_takes_in_a_box() -> None:
    expressions = [
        sp.sin(3 * X) * Y**2 - X / 7,
        sp.sqrt(X**2 + Y**2) - sp.Rational(1, 3),
        (X - Y) ** 4 / (2 + sp.cos(Y)),
    ]
    formulas, balls, source = Formulas(expressions, (X, Y)), Boxes(), np.random.default_rng(5)
    evaluate = numeric(formulas)
    with balls.working():
        for _ in range(60):
            low = source.uniform(-2, 2, size=2)
            high = low + 10.0 ** source.uniform(-8, 0.5, size=2)
            bounds = [corners(item) for item in formulas(balls.box(low.tolist(), high.tolist()), balls)]
            values = evaluate(source.uniform(low[:, None], high[:, None], size=(2, 50)))
            for (least, most), row in zip(bounds, values, strict=True):
                assert least - 1e-15 <= row.min()
                assert row.max() <= most + 1e-15


@pytest.mark.parametrize("power", [1, 2, 3, 4, 7])
def test_powers_of_balls_round_zero_are_finite_and_even_ones_not_negative(power: int) -> None:
    balls = Boxes()
    with balls.working():
        found = balls.whole(flint.arb(0, 0.5), power)
        assert found.is_finite()
        assert corners(found)[1] >= 0.5**power
        assert corners(found)[0] >= (-(0.5**power) if power % 2 else 0) - 1e-7  # radii have 30 bits


def test_the_precision_of_the_library_is_put_back() -> None:
    before = flint.ctx.prec
    balls = Boxes()
    with pytest.raises(ZeroDivisionError), balls.working():
        raise ZeroDivisionError
    assert flint.ctx.prec == before


# --- boxes ----------------------------------------------------------------------------------------------------------


def test_no_box_that_holds_a_point_of_the_space_is_proved_empty() -> None:
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    prover = Prover(Enclosure(exact_equations(entry.system, entry.params)))
    from zwang.gallery.pendulum_on_ellipse import PARAMS, place

    source = np.random.default_rng(2)
    with prover.balls.working():
        for _ in range(80):
            state = place(PARAMS, float(source.uniform(-0.9, 0.9)), label=int(source.choice([-1, 1])))
            q = np.array([state[name] for name in ("x_B", "y_B", "x_C", "y_C")])
            size = 10.0 ** source.uniform(-6, 0.3, size=4)
            share = source.uniform(0.05, 0.95, size=4)
            verdict = prover.examine(q - share * size, q + (1 - share) * size)
            assert verdict.kind != "empty"
            if verdict.kind == "smaller":
                assert (verdict.low <= q).all() and (q <= verdict.high).all()
            if verdict.kind == "piece":
                assert (verdict.piece.low <= q).all() and (q <= verdict.piece.high).all()


def test_a_box_without_a_point_is_proved_empty_and_one_with_a_stretch_is_a_piece() -> None:
    prover = Prover(Enclosure(exact_equations(curve(X**2 + Y**2 - 1), {})))
    with prover.balls.working():
        assert prover.examine(np.array([0.0, 0.0]), np.array([0.6, 0.6])).kind == "empty"
        verdict = prover.examine(np.array([-0.1, 0.9]), np.array([0.1, 1.1]))
        assert verdict.kind == "piece"
        assert verdict.piece.along == 0
        # The curve over the middle of the piece is y = 1 at x = 0.
        low, high = prover.point(verdict.piece, 0.0)
        assert low[1] <= 1.0 <= high[1]
        assert high[1] - low[1] < 1e-4
        # A crossing is never proved to be one graph.
        crossing = Prover(Enclosure(exact_equations(curve(X**2 - Y**2), {})))
        assert crossing.examine(np.array([-1e-3, -1.1e-3]), np.array([1.2e-3, 1e-3])).kind == "split"


# --- whole spaces ---------------------------------------------------------------------------------------------------

# Arcs and components: Grashof's theorem for the four-bars, Burian (2017) as corrected in the gallery for the pendulum.
COMPLETE = {
    ("four_bar", ()): (6, 1),
    ("four_bar_crank_rocker", ()): (2, 2),
    ("four_bar_triple_rocker", ()): (1, 1),
    ("slider_crank", ()): (2, 2),
    ("slider_crank", (("l", 0.5),)): (4, 1),
    ("ellipse_pendulum", (("a", -0.4),)): (2, 2),
    ("ellipse_pendulum", ()): (2, 1),
    ("ellipse_pendulum", (("r2", 1.1),)): (1, 2),
    ("curve_node", ()): (3, 1),
    ("curve_cusp", ()): (2, 1),
    ("curve_isolated_point", ()): (1, 2),
    ("curve_three_lines", ()): (6, 1),
    ("curve_squared", ()): (1, 1),
    ("touching_curves", ()): (4, 1),
}


@pytest.mark.parametrize(("name", "changes"), by_day(COMPLETE, list(COMPLETE)[::3]))
def test_the_spaces_of_the_gallery_are_proved_complete(name: str, changes: tuple[tuple[str, float], ...]) -> None:
    space = gallery_space(name, changes)
    assert (len(space.branches), space.components) == COMPLETE[name, changes]
    assert space.complete
    assert space.search == "exhaustive"
    assert "Complete in the box, by" in space.notes[-1]
    if space.singular_points:
        assert "types are decided in exact rationals" in space.notes[-1]


def test_in_the_plane_it_is_proved_that_regular_balls_hold_nothing_else() -> None:
    assert "and nothing else is in the balls" in gallery_space("four_bar").notes[-1]
    assert "and nothing else is in the balls" in gallery_space("curve_isolated_point").notes[-1]
    # Touching branches have degenerate second derivatives: nothing is claimed.
    assert "nothing else" not in gallery_space("touching_curves").notes[-1]


@pytest.mark.nightly
def test_the_cartesian_pendulum_of_four_coordinates_is_proved_complete() -> None:
    entry = zw.gallery.get("ellipse_pendulum_cartesian")
    box = dict.fromkeys(("x_B", "y_B", "x_C", "y_C"), (-3.0, 3.1))
    space = zw.trace(entry.system, {**entry.params, "a": -0.4}, box=box, search="exhaustive")
    assert space.complete
    assert (len(space.branches), space.components) == (2, 2)


def test_singular_points_with_irrational_coordinates_are_decided_to_tolerance() -> None:
    space = zw.trace(curve((X**2 + Y**2 - 1) * ((X - 1) ** 2 + Y**2 - 1)), {}, box=SQUARE, search="exhaustive")
    assert space.complete
    assert "to tolerance" in space.notes[-1]


def test_an_empty_space_is_proved_empty() -> None:
    entry = zw.gallery.get("four_bar")
    space = zw.trace(entry.system, {**entry.params, "l0": 5.0}, search="exhaustive")
    assert space.status.name == "EMPTY"
    assert space.complete
    assert "Proved empty" in space.notes[-1]
    assert not any("no proof" in note for note in space.notes)


def test_isolated_assemblies_are_proved_all_and_double_ones_too() -> None:
    space = zw.trace(curve(X**2 + Y**2 - 1, Y - X**2), {}, box=SQUARE, search="exhaustive")
    # y^2 + y - 1 = 0 with y > 0.
    height = (math.sqrt(5) - 1) / 2
    assert space.complete
    assert sorted(point["x"] for point in space.points) == pytest.approx([-math.sqrt(height), math.sqrt(height)])
    double = zw.trace(curve(X**2 + Y**2 - 1, Y - 1), {}, box=SQUARE, search="exhaustive")
    assert double.complete
    assert [(point["x"], point["y"]) for point in double.points] == [pytest.approx((0.0, 1.0), abs=1e-9)]
    assert any("count twice" in note for note in double.notes)


def test_contacts_cut_what_is_proved() -> None:
    half = zw.trace(curve(X**2 + Y**2 - 1, gaps=(Y,)), {}, box=SQUARE, search="exhaustive")
    assert half.complete
    assert [end.kind for end in half.branches[0].ends] == ["contact", "contact"]


# --- what stands in the way of a proof ------------------------------------------------------------------------------


def without(space: ConfigurationSpace, **changes: Any) -> ConfigurationSpace:
    return replace(space, complete=False, **changes)


def certificate(name: str, space: ConfigurationSpace, changes: Mapping[str, float] | None = None) -> Any:
    entry = zw.gallery.get(name)
    return certify(space, entry.system, {**entry.params, **(changes or {})})


def test_a_missing_arc_is_found_and_its_place_returned() -> None:
    space = gallery_space("four_bar_crank_rocker")
    found = certificate("four_bar_crank_rocker", without(space, branches=space.branches[:1]))
    assert not found.complete
    assert "have no arc" in found.notes[0]
    (start,) = found.missing
    other = space.branches[1].sampled(4000)
    turn = 2 * math.pi
    away = other - start
    assert np.abs(away - turn * np.round(away / turn)).max(axis=1).min() < 0.01


def test_a_missing_singular_point_leaves_a_place_where_nothing_is_proved() -> None:
    space = gallery_space("curve_node")
    found = certificate("curve_node", without(space, singular_points=()))
    assert not found.complete
    assert np.abs(found.suspects[0]).max() < 1e-6  # the node is at the origin


def test_a_wrong_kind_is_contradicted_by_exact_arithmetic_and_by_the_count_of_stretches() -> None:
    space = gallery_space("curve_node")
    (point,) = space.singular_points
    wrong = certificate("curve_node", without(space, singular_points=(replace(point, kind="isolated"),)))
    assert not wrong.complete
    assert any("of kind crossing in exact arithmetic, not isolated" in note for note in wrong.notes)


def test_an_arc_that_is_not_on_the_space_is_not_found_again() -> None:
    space = gallery_space("four_bar_crank_rocker")
    moved = replace(space.branches[0], pieces=space.branches[0].pieces + 0.05)
    found = certificate("four_bar_crank_rocker", without(space, branches=(moved, space.branches[1])))
    assert not found.complete
    assert any("not found again" in note for note in found.notes)


def test_an_oval_that_random_starts_miss_is_found_by_the_boxes() -> None:
    small = (X - sp.Rational(17, 10)) ** 2 + (Y - sp.Rational(17, 10)) ** 2 - sp.Rational(1, 10**6)
    system = curve((X**2 + Y**2 - 1) * small)
    sampled = zw.trace(system, {}, box=SQUARE, starts=2)
    assert sampled.components == 1  # else this test shows nothing
    space = zw.trace(system, {}, box=SQUARE, starts=2, search="exhaustive")
    assert space.complete
    assert space.components == 2


@pytest.mark.parametrize("starts", [1, 3])
def test_an_isolated_point_that_random_starts_miss_is_found_by_the_boxes(starts: int) -> None:
    system = curve((X**2 + Y**2 - 1) * ((X - sp.Rational(17, 10)) ** 2 + (Y - sp.Rational(17, 10)) ** 2))
    assert not zw.trace(system, {}, box=SQUARE, starts=starts, seed=3).singular_points  # else this shows nothing
    space = zw.trace(system, {}, box=SQUARE, starts=starts, seed=3, search="exhaustive")
    assert space.complete
    assert (space.components, [point.kind for point in space.singular_points]) == (2, ["isolated"])


def test_constraints_that_repeat_others_are_known_to_tolerance_only() -> None:
    space = zw.trace(curve(X**2 + Y**2 - 1, 2 * X**2 + 2 * Y**2 - 2), {}, box=SQUARE, search="exhaustive")
    assert (len(space.branches), space.components) == (1, 1)
    assert not space.complete
    assert any("repeat others" in note for note in space.notes)


def test_surfaces_are_not_covered_and_the_note_says_so() -> None:
    entry = zw.gallery.get("surface_cone")
    space = zw.trace(entry.system, {}, box=dict.fromkeys("xyz", (-1.0, 1.0)), search="exhaustive")
    assert not space.complete
    assert any("Exhaustive search covers curves and points" in note for note in space.notes)


def test_a_search_that_is_cut_short_says_so() -> None:
    entry = zw.gallery.get("four_bar_crank_rocker")
    found = certify(gallery_space("four_bar_crank_rocker"), entry.system, entry.params, most=50)
    assert not found.complete
    assert "gave up after 50 boxes" in found.notes[0]


def test_a_coordinate_that_is_no_angle_needs_a_box() -> None:
    with pytest.raises(zw.DeclarationError, match=r'search="exhaustive" needs a box for \'x\', which is not an angle'):
        zw.trace(curve(X**2 + Y**2 - 1), {}, search="exhaustive")


def test_expressions_without_a_smooth_formula_are_refused() -> None:
    with pytest.raises(zw.DeclarationError, match=r"'Abs\(x\)' is not smooth or not an elementary function"):
        Formulas([sp.Abs(X)], (X, Y))


# --- exact types ----------------------------------------------------------------------------------------------------

# Kind and half-branches of the origin: lowest terms by hand (Arnold's A_k, D_4, E_6).
TYPES = {
    Y**2 - X**2 + X**5: ("crossing", 4, 0),
    Y**2 + X**2 - X * Y / 3: ("isolated", 0, None),
    (Y - X**2 / 3) ** 2 - X**5: ("cusp", 2, None),
    (Y - X**2 / 3) ** 2 - X**6: ("tangency", 4, 2),
    (Y - X**2 / 3) ** 2 + X**6: ("isolated", 0, None),
    (X + 2 * Y) ** 2 - (X - Y) ** 4: ("tangency", 4, 1),
    Y**3 - Y * X**2 + X**4: ("crossing", 6, 0),
    Y**3 + Y * X**2: ("higher", 2, None),
    sp.sin(Y) ** 2 - sp.sin(X) ** 2 * sp.sin(X) ** 2: ("tangency", 4, 1),
}


@pytest.mark.parametrize("equation", TYPES)
def test_exact_types_follow_from_the_lowest_terms(equation: Any) -> None:
    found = exact_type(exact_equations(curve(equation), {}), (1e-13, -1e-12))
    assert found is not None
    assert (found.kind, found.half_branches, found.order) == TYPES[equation]
    assert found.coordinates == ("0", "0")


@pytest.mark.parametrize(("sign", "kind"), [(1, "tangency"), (-1, "isolated")])
def test_exact_types_see_a_difference_far_below_rounding(sign: int, kind: str) -> None:
    # y^2 - eps x^4 with eps = +-1e-30, written as a difference that floats would lose.
    eps = sp.Rational(sign, 10**30)
    found = exact_type(exact_equations(curve(Y**2 - (1 + eps) * X**4 + X**4), {}), (0.0, 0.0))
    assert found is not None
    assert found.kind == kind


def test_exact_types_of_mechanisms_use_recognized_angles_and_all_equations() -> None:
    pendulum = zw.gallery.get("ellipse_pendulum_cartesian")
    touching = {**pendulum.params, "r1": 1.5625, "r2": 1.25, "a": -0.5625}
    found = exact_type(exact_equations(pendulum.system, touching), (2.0, 0.0, 1.0, 0.0))
    assert found is not None
    assert (found.kind, found.order, found.half_branches) == ("tangency", 1, 4)
    crank = zw.gallery.get("slider_crank")
    equal = exact_equations(crank.system, {**crank.params, "r": 1.5})
    at = exact_type(equal, (math.pi / 2, -math.pi / 2))
    assert at is not None
    assert (at.kind, at.coordinates) == ("crossing", ("pi/2", "-pi/2"))


def test_points_that_are_regular_or_off_the_curve_have_no_exact_type() -> None:
    equations = exact_equations(curve(X**2 + Y**2 - 1), {})
    assert exact_type(equations, (1.0, 0.0)) is None
    assert exact_type(equations, (0.0, 0.0)) is None
    assert exact_type(exact_equations(curve((Y - X) ** 2), {}), (0.0, 0.0)) is None


def test_repeated_factors_are_taken_once() -> None:
    assert sp.expand(radical((Y - X**2) ** 2, (X, Y)) - (Y - X**2)) in (0, sp.expand(2 * (X**2 - Y)))
    assert radical(sp.sin(X) ** 3 * (Y - 1), (X, Y)) == sp.sin(X) * (Y - 1)
    assert radical(X * Y, (X, Y)) == X * Y
