"""The configuration space of the ellipse pendulum in its seven regimes, from joint and Cartesian declarations alike."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import zwang as zw
from zwang._results.configuration import ConfigurationSpace

SYSTEMS = ("ellipse_pendulum", "ellipse_pendulum_cartesian")
# (r1, r2, a) -> arcs, smooth curves, components, kinds of the singular points. Source: Burian (2017), corrected as the
# gallery says: with the vertex at a + r1 = 1 the branches near it are those of |AC| = 1 + (1 - k) phi^2/2 + ..., k the
# curvature r1/r2^2; for k = 1, |AC| = 1 + (r1 - 1)/(8 r1) phi^4: two arcs that touch for r1 > 1, a point for r1 < 1.
REGIMES = {
    (1.5, 1.5, -0.4): (2, 2, 2, ()),
    (1.5, 1.5, -0.5): (2, 1, 1, ("crossing",)),
    (1.5625, 1.25, -0.5625): (2, 2, 1, ("tangency",)),
    (2.0, 2.0, -1.0): (4, 2, 1, ("crossing", "crossing")),
    (1.4, 1.4, -0.5): (1, 1, 1, ()),
    (1.5, 1.1, -0.5): (1, 1, 2, ("isolated",)),
    (0.81, 0.9, 0.19): (0, 0, 1, ("isolated",)),
}


@functools.cache
def space(name: str, r1: float, r2: float, a: float) -> ConfigurationSpace:
    entry = zw.gallery.get(name)
    return zw.trace(entry.system, {**entry.params, "r1": r1, "r2": r2, "a": a})


def test_reduced_crossing_slopes_are_those_of_the_tangent_cone() -> None:
    entry = zw.gallery.get("ellipse_pendulum")
    (point,) = space("ellipse_pendulum", 1.5, 1.5, -0.5).singular_points
    slopes = sorted(float(row[1] / row[0]) for row in point.tangents)
    assert slopes == pytest.approx(sorted(entry.facts["crossing_slopes"].value), abs=1e-13)
    assert point.order == 0 and point.rank == 0 and point.generic_rank == 1


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("regime", REGIMES)
def test_every_regime_has_its_arcs_curves_and_components(name: str, regime: tuple[float, float, float]) -> None:
    found = space(name, *regime)
    kinds = tuple(point.kind for point in found.singular_points)
    assert (len(found.branches), len(found.curves), found.components, kinds) == REGIMES[regime]
    assert found.residual < 1e-12
    assert found.status.name == ("TRACED" if found.branches else "POINTS")
    assert found.dimension == (1 if found.branches else 0)


@pytest.mark.parametrize("name", SYSTEMS)
def test_tangency_has_order_one_and_a_common_tangent(name: str) -> None:
    (point,) = space(name, 1.5625, 1.25, -0.5625).singular_points
    assert point.order == 1
    assert abs(abs(point.tangents[0] @ point.tangents[1]) - 1) < 1e-13
    assert sorted(half.curve for half in point.branches) == [0, 0, 1, 1]
    # Each circle starts and ends at the point: its two halves are the two ends of one arc.
    assert sorted((half.arc, half.end) for half in point.branches) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_singular_points_are_exact() -> None:
    # The folded pose phi = 0, psi = pi, and for r1 = r2 = 2, a = -1 the stretched one phi = psi = pi as well.
    for regime, places in {
        (1.5, 1.5, -0.5): [(0.0, math.pi)],
        (1.5625, 1.25, -0.5625): [(0.0, math.pi)],
        (1.5, 1.1, -0.5): [(0.0, math.pi)],
        (0.81, 0.9, 0.19): [(0.0, math.pi)],
        (2.0, 2.0, -1.0): [(0.0, math.pi), (math.pi, math.pi)],
    }.items():
        found = sorted((p.state["phi"], p.state["psi"]) for p in space("ellipse_pendulum", *regime).singular_points)
        assert np.abs(np.array(found) - np.array(places)).max() < 1e-12


@pytest.mark.parametrize("name", SYSTEMS)
def test_arcs_give_valid_states_everywhere(name: str) -> None:
    entry = zw.gallery.get(name)
    model = zw.compile(entry.system)
    for regime in REGIMES:
        params = {**entry.params, **dict(zip(("r1", "r2", "a"), regime, strict=True))}
        for arc in space(name, *regime).branches:
            at = np.linspace(0, arc.length, 41)
            states = arc.state(at=at, speed=1.3)
            assert model.check(states, params) < 1e-10
            speeds = np.array([states[f"v_{item}"] for item in arc.coordinates])
            assert np.linalg.norm(speeds, axis=0) == pytest.approx(1.3, abs=1e-13)


def test_length_is_the_length_of_the_curve_and_curvature_its_bend() -> None:
    arc = space("ellipse_pendulum", 1.5, 1.5, -0.4).branches[0]
    at = np.linspace(0, arc.length, 20001)
    q = arc.position(at)
    chords = np.linalg.norm(np.diff(q, axis=0), axis=1)
    assert chords.sum() == pytest.approx(arc.length, abs=1e-6)  # chords of a smooth curve miss it by O(step^2)
    middle = 0.41 * arc.length
    h = 1e-4
    second = (arc.position(middle + h) - 2 * arc.position(middle) + arc.position(middle - h)) / h**2
    assert np.linalg.norm(second) == pytest.approx(arc.curvature(middle), abs=1e-6)
    slope = (arc.position(middle + h) - arc.position(middle - h)) / (2 * h)
    assert slope == pytest.approx(arc.tangent(middle), abs=1e-7)


def test_closed_arcs_go_on_beyond_their_length() -> None:
    arc = space("ellipse_pendulum", 1.5, 1.5, -0.4).branches[0]
    here, again = arc.position(0.3), arc.position(0.3 + arc.length)
    turns = (again - here) / (2 * math.pi)
    assert turns == pytest.approx(np.round(turns), abs=1e-10) and np.abs(turns).max() > 0.5


def test_arcs_meet_at_the_singular_point_with_its_tangents() -> None:
    found = space("ellipse_pendulum_cartesian", 2.0, 2.0, -1.0)
    for point in found.singular_points:
        q = np.array([point.state[name] for name in found.coordinates])
        for half in point.branches:
            arc = found.branches[half.arc]
            at = arc.length * half.end
            assert arc.position(at) == pytest.approx(q, abs=1e-12)
            assert arc.ends[half.end].place == point.number
            assert (1 - 2 * half.end) * arc.tangent(at) == pytest.approx(half.tangent, abs=1e-9)


def test_joint_and_cartesian_arcs_are_the_same_mechanism() -> None:
    entry = zw.gallery.get("ellipse_pendulum")
    joint = space("ellipse_pendulum", 1.5, 1.5, -0.5)
    cartesian = space("ellipse_pendulum_cartesian", 1.5, 1.5, -0.5)
    every = np.concatenate([arc.sampled(4000) for arc in cartesian.branches])
    for arc in joint.branches:
        for phi, psi in arc.position(np.linspace(0, arc.length, 15)):
            l1, l2 = entry.params["l1"], entry.params["l2"]
            b = np.array([l1 * math.cos(phi), l1 * math.sin(phi)])
            c = b + np.array([l2 * math.cos(psi), l2 * math.sin(psi)])
            assert np.abs(every - np.concatenate([b, c])).max(axis=1).min() < 0.02  # the spacing of the samples


def test_the_summary_says_what_a_person_wants() -> None:
    text = repr(space("ellipse_pendulum", 1.5, 1.5, -0.5))
    assert text.startswith(
        "ConfigurationSpace of 'ellipse_pendulum': dimension 1, 2 arcs in 1 smooth curve, 1 component, 1 singular point"
    )
    assert "crossing of 2 branches at phi, psi = (0, 3.14159), slopes 1.2899, 0.310102" in text
    assert "tangency of order 1" in repr(space("ellipse_pendulum", 1.5625, 1.25, -0.5625))
    assert "isolated point at phi, psi" in repr(space("ellipse_pendulum", 1.5, 1.1, -0.5))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_answer_does_not_depend_on_the_seed(seed: int) -> None:
    entry = zw.gallery.get("ellipse_pendulum")
    for regime, expected in REGIMES.items():
        params = {**entry.params, **dict(zip(("r1", "r2", "a"), regime, strict=True))}
        found = zw.trace(entry.system, params, seed=seed)
        kinds = tuple(point.kind for point in found.singular_points)
        assert (len(found.branches), len(found.curves), found.components, kinds) == expected


def test_critical_parameters_with_rounding_errors_are_still_critical() -> None:
    # a + r1 = 1 up to rounding: the crossing splits by 1e-8 in exact arithmetic, which is below every tolerance.
    for r1 in (1.3, 1.7, 1.9, 2.3):
        found = space("ellipse_pendulum", r1, r1 * 1.1, 1.0 - r1)
        assert "crossing" in [point.kind for point in found.singular_points]


def test_a_singular_point_next_to_a_near_tangency_is_found() -> None:
    # Curvature k = 1.015 at the vertex: an isolated point, while the least-squares search is drawn to both sides of it.
    found = space("ellipse_pendulum", 2.398393500074384, 1.5370802112622028, -1.3983935000743841)
    assert [point.kind for point in found.singular_points] == ["isolated"] and found.components == 3


def test_next_to_a_critical_parameter_the_space_is_regular() -> None:
    for shift in (1e-3, 1e-5):
        apart = space("ellipse_pendulum", 1.5, 1.5, -0.5 + shift)
        joined = space("ellipse_pendulum", 1.5, 1.5, -0.5 - shift)
        assert (apart.components, joined.components) == (2, 1)
        assert not apart.singular_points and not joined.singular_points
