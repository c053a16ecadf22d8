"""Curves that the constraints count more than once, although no single expression is a square."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw

(x, y, z), SPEEDS = zw.coordinates("x y z")
BOX = {"x": (-1.5, 1.5), "y": (-1.5, 1.5), "z": (-1.2, 1.2)}
CIRCLE = x**2 + y**2 - 1


def space(*rows: Any) -> zw.results.ConfigurationSpace:
    kinetic = sum(speed**2 for speed in SPEEDS) / 2
    return zw.trace(zw.System(name="s", kinetic=kinetic, constraints=[zw.Bilateral(row) for row in rows]), {}, box=BOX)


def stirred(first: Any, second: Any, seed: int) -> tuple[Any, Any]:
    """Return two combinations of expressions by a matrix that is regular in the box: the same set without squares."""
    a, b, c = (sp.Rational(int(value), 64) for value in np.random.default_rng(seed).integers(7, 20, size=3))
    return sp.expand(first + 2 * b * second), sp.expand(a * x * first + (1 + c * y) * second)


@pytest.mark.nightly
def test_two_rhombi_in_a_row_are_six_circles_two_of_them_double() -> None:
    # A circle for each run of neighbouring cranks that turn together; where an end crank turns alone, the other two lie
    # on the line of pivots, at the double root of two circles of radius 1 whose centres are 2 apart.
    entry = zw.gallery.n_four_bar(2)
    found = zw.trace(entry.system, entry.params)
    assert found.status.name == "TRACED"
    assert (len(found.branches), len(found.curves), len(found.singular_points), found.components) == (12, 6, 4, 1)
    assert sorted((arc.multiplicity, round(arc.length / np.pi, 9)) for arc in found.branches) == sorted(
        [(2, 1.0)] * 4 + [(1, 1.0)] * 2 + [(1, round(2**0.5, 9))] * 4 + [(1, round(3**0.5, 9))] * 2
    )
    assert sorted((piece.dimension, piece.multiplicity) for piece in found.pieces) == [(1, 1), (1, 2), (1, 2)]
    assert {point.kind for point in found.singular_points} == {"crossing"}
    assert found.residual < 1e-13


@pytest.mark.nightly
def test_three_rhombi_in_a_row_have_circles_of_multiplicity_four() -> None:
    entry = zw.gallery.n_four_bar(3)
    found = zw.trace(entry.system, entry.params)
    assert (found.status.name, len(found.branches), len(found.curves)) == ("TRACED", 20, 10)
    # A run of k cranks at an end leaves 3 - k loops flat, each a double root; one in the middle has them on both sides.
    assert sorted(arc.multiplicity for arc in found.branches) == [1] * 8 + [2] * 8 + [4] * 4


def test_cylinder_that_touches_a_sphere_from_outside_is_a_double_circle() -> None:
    found = space(CIRCLE + z**2, CIRCLE)
    (arc,) = found.branches
    assert (found.status.name, arc.closed, arc.multiplicity) == ("TRACED", True, 2)
    assert arc.length == pytest.approx(2 * np.pi, rel=1e-12) and "multiplicity 2" in repr(found)


ACROSS = {
    "double": (z**2, [2], None),
    "triple": (z**3, [3], None),
    "double and simple": (z**2 * (z - x), [1, 1, 2, 2], "crossing"),
    "double and two simple": (z**2 * (z - x) * (z + x), [1, 1, 1, 1, 2, 2], "crossing"),
    "two double": (z**2 * (z - x) ** 2, [2, 2, 2, 2], "crossing"),
    "double and triple": (z**2 * (z - x) ** 3, [2, 2, 3, 3], "crossing"),
    "double touches simple": (z**2 * (z - x**2), [1, 1, 2, 2], "tangency"),
}
"""What is multiplied with a circle, how often the arcs count then, and what they meet in at y = +-1."""


def check_multiple(across: Any, counts: list[int], kind: str | None, seed: int) -> None:
    found = space(*stirred(CIRCLE, across, seed))
    assert found.status.name == "TRACED", found.notes
    assert sorted(arc.multiplicity for arc in found.branches) == counts
    assert [point.kind for point in found.singular_points] == ([] if kind is None else [kind, kind])
    # The circle z = 0, where it counts as often as z occurs.
    flat = [arc.length for arc in found.branches if abs(arc.position(np.array([arc.length / 3]))[0, 2]) < 1e-9]
    assert sum(flat) == pytest.approx(2 * np.pi, rel=1e-11)


# Of twenty combinations those that were hardest: arcs stuck beside a crossing, crossings hidden by points of a double
# curve, at each of which the rank is as low.
@pytest.mark.parametrize(
    ("name", "seed"),
    [("double", 0), ("double and two simple", 9), ("two double", 8), ("double touches simple", 8)],
)
def test_multiple_curves_of_several_equations(name: str, seed: int) -> None:
    check_multiple(*ACROSS[name], seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(14))
@pytest.mark.parametrize("name", [name for name in ACROSS if name != "double and triple"])
def test_multiple_curves_in_fourteen_combinations_of_equations(name: str, seed: int) -> None:
    check_multiple(*ACROSS[name], seed)


@pytest.mark.nightly
def test_a_curve_whose_multiplicity_is_not_found_is_not_called_simple() -> None:
    for seed in range(5, 13):
        found = space(*stirred(CIRCLE, ACROSS["double and triple"][0], seed))
        counts = sorted(arc.multiplicity for arc in found.branches)
        assert min(counts) >= 2 and (counts == [2, 2, 3, 3] or found.status.name == "UNFINISHED")


SPHERE = x**2 + y**2 + z**2 - 1


def test_line_that_meets_a_plane_is_told_beside_it() -> None:
    found = space(x * z, y * z)
    assert (found.status.name, found.dimension, found.components) == ("TRACED", 2, 1)
    line, plane = found.pieces
    assert (line.dimension, line.area) == (1, pytest.approx(2.4, rel=1e-12))
    assert (plane.dimension, plane.area) == (2, pytest.approx(9.0, rel=1e-9))
    (point,) = found.singular_points
    assert (point.kind, len(point.branches), [p.number for p in line.points], [p.number for p in plane.points]) == (
        "higher", 2, [0], [0],
    )  # fmt: skip
    assert {end.place for arc in found.branches for end in arc.ends if end.kind == "singular"} == {0}


def test_sphere_and_a_circle_beside_it_are_two_components() -> None:
    found = space(SPHERE * (x - 1.25), SPHERE * (y**2 + z**2 - 0.25))
    assert (found.status.name, found.components) == ("TRACED", 2)
    curve, sphere = found.pieces
    assert (curve.dimension, curve.component, curve.area) == (1, 0, pytest.approx(np.pi, rel=1e-12))
    assert (sphere.dimension, sphere.component, sphere.euler) == (2, 1, 2)
    assert set(found.surface.piece.tolist()) == {1}


@pytest.mark.nightly
def test_line_through_a_sphere_meets_it_in_two_points() -> None:
    found = space(SPHERE * x, SPHERE * y)
    assert (found.status.name, found.components, len(found.branches)) == ("TRACED", 1, 3)
    assert [(piece.dimension, len(piece.points)) for piece in found.pieces] == [(1, 2), (2, 2)]
    assert found.pieces[1].euler == 2 and found.pieces[0].area == pytest.approx(2.4, rel=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(6))
def test_peaucellier_cell_has_a_torus_beside_its_curves(seed: int) -> None:
    # With B = D the pencil C turns freely about them, on top of a four-bar of one circle: a torus. It meets the curves
    # of the cell where its rhombus is flat, |OP| = 3 - 3/2, with C on P or opposite to it.
    cell = zw.Linkage("cell").ground("O", 0, 0).ground("Q", 1, 0).points("P B D C", mass=1).bar("Q", "P", 1)
    for a, b, length in (("O", "B", 3), ("O", "D", 3), *((p, q, 1.5) for p in "BD" for q in "PC")):
        cell = cell.bar(a, b, length)
    found = zw.trace(cell.system(), {}, seed=seed)
    assert (found.status.name, found.components, len(found.branches)) == ("TRACED", 1, 4)
    assert sorted((piece.dimension, len(piece.points)) for piece in found.pieces) == [(1, 2), (1, 2), (2, 4)]
    assert [piece.euler for piece in found.pieces if piece.dimension == 2] == [0]
    assert all(np.hypot(p.state["x_P"], p.state["y_P"]) == pytest.approx(1.5) for p in found.singular_points)
