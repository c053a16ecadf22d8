"""Reactions of systems: the examples of Ivanov (2013), the rod of Painlevé, singular states, batches."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._results.reactions import ReactionsStatus as Status

ROD = zw.gallery.get("painleve_rod")


def sliding_rod(degrees: float, mu: float, spin: float, tip: float = -1.0) -> tuple[dict, dict]:
    """Return state and parameters: the tip on the floor, moving along it with `tip`, uniform rod of m = l = 1."""
    theta = math.radians(degrees)
    state = {
        "x": math.cos(theta),
        "y": math.sin(theta),
        "theta": theta,
        "v_x": tip - math.sin(theta) * spin,
        "v_y": math.cos(theta) * spin,
        "v_theta": spin,
    }
    return state, {**ROD.params, "mu": mu, "m": 1.0, "l": 1.0, "J": 1 / 3, "g": 9.81}


def closed_form_normal_force(degrees: float, mu: float, spin: float) -> float:
    """N of the sliding rod (Painleve): (g - l sin w^2) / (1/m + l^2 cos (cos - mu sin)/J)."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return (9.81 - s * spin**2) / (1 + 3 * c * (c - mu * s))


def test_the_rod_slides_with_one_reaction_below_the_closed_form_bound() -> None:
    found = zw.reactions(ROD.system, *sliding_rod(60, 1.2, 0))
    assert found.status is Status.UNIQUE and found.complete
    assert found.solutions[0].normal[0] == pytest.approx(closed_form_normal_force(60, 1.2, 0), rel=1e-12)
    assert found.solutions[0].normal[0] == pytest.approx(
        51.3198048696, rel=1e-10
    )  # published with the issue of Painleve
    assert found.solutions[0].modes["tip"] == "slip-"


def test_the_rod_has_no_reaction_when_friction_exceeds_the_closed_form_bound() -> None:
    found = zw.reactions(ROD.system, *sliding_rod(60, 1.4, 0))
    assert found.status is Status.NONE and found.complete and not found.solutions
    text = repr(found)
    assert "penetrates" in text and "pulls" in text


def test_the_spinning_rod_has_two_reactions() -> None:
    found = zw.reactions(ROD.system, *sliding_rod(60, 1.4, 4))
    assert found.status is Status.MULTIPLE and len(found.solutions) == 2
    forces = sorted(solution.normal[0] for solution in found.solutions)
    gap = max(solution.gap_acceleration[0] for solution in found.solutions)
    assert forces == pytest.approx([0, closed_form_normal_force(60, 1.4, 4)], rel=1e-11)
    assert forces[1] == pytest.approx(58.9396814800, rel=1e-10)
    assert gap == pytest.approx(math.sin(math.radians(60)) * 16 - 9.81, rel=1e-12)
    assert gap == pytest.approx(4.0464064606, rel=1e-9)


def test_the_smallest_paradox_friction_is_four_thirds_at_arctan_two() -> None:
    best = math.atan(2)
    below = zw.reactions(ROD.system, *sliding_rod(math.degrees(best), 4 / 3 - 1e-6, 0))
    above = zw.reactions(ROD.system, *sliding_rod(math.degrees(best), 4 / 3 + 1e-6, 0))
    aside = zw.reactions(ROD.system, *sliding_rod(math.degrees(best) + 0.5, 4 / 3 + 1e-6, 0))
    assert below.status is Status.UNIQUE and above.status is Status.NONE and aside.status is Status.UNIQUE


def test_at_rest_the_rod_has_one_or_three_solutions() -> None:
    state, params = sliding_rod(60, 1.4, 0, tip=0.0)
    found = zw.reactions(ROD.system, state, params)
    assert found.complete and len(found.accelerations) in (1, 3)


def test_an_impact_that_is_due_is_a_state_error() -> None:
    state, params = sliding_rod(60, 1.2, 0)
    with pytest.raises(zw.StateError, match="'tip' closes at -1: an impact is due.*Use simulate"):
        zw.reactions(ROD.system, {**state, "v_y": -1.0}, params)
    with pytest.raises(zw.StateError, match="violates constraint 'tip' by"):
        zw.reactions(ROD.system, {**state, "y": state["y"] - 0.1}, params)


def test_an_open_contact_carries_no_force_and_is_named() -> None:
    state, params = sliding_rod(60, 1.4, 0)
    found = zw.reactions(ROD.system, {**state, "y": state["y"] + 0.1}, params)
    assert found.status is Status.UNIQUE and found.contacts == ()
    assert "tip (gap 0.1)" in found.note
    separating = zw.reactions(ROD.system, {**state, "v_y": 1.0}, params)
    assert "separating" in separating.note


def test_the_table_of_two_particles_comes_out_at_every_load() -> None:
    entry = zw.gallery.get("two_particles")
    # Ivanov (2013), example 3, as recomputed independently: accelerations of x, y1, y2 for growing S.
    table = {
        0.5: (0, 0, 0),
        0.85: (0, 0, 0.0625),
        1.0: (0.02923408, -0.03030388, 0.25643553),
        2.0: (0.44809851, -0.66911160, 1.53982948),
        100.0: (42.88752402, -74.13440974, 124.05488553),
    }
    for load, expected in table.items():
        found = zw.reactions(entry.system, entry.state, {**entry.params, "S": load})
        assert found.status in (Status.UNIQUE, Status.UNIQUE_MOTION)
        np.testing.assert_allclose(found.accelerations[0], expected, atol=2e-8)


def test_the_pyramid_of_three_blocks_slides_as_the_projection_says() -> None:
    entry = zw.gallery.get("pyramid")
    found = zw.reactions(entry.system, entry.state, entry.params)
    assert found.status is Status.UNIQUE
    assert found.complete


def test_normal_forces_given_in_advance_drop_the_conditions_on_normals() -> None:
    state, params = sliding_rod(60, 1.4, 0)
    found = zw.reactions(ROD.system, state, params, normal_forces={"tip": 2.0})
    assert found.status is Status.UNIQUE
    assert found.solutions[0].tangential[0] == pytest.approx(2.8)
    with pytest.raises(zw.DeclarationError, match="normal_forces= names 'tipp'.*Did you mean 'tip'"):
        zw.reactions(ROD.system, state, params, normal_forces={"tipp": 2.0})


(x, y), (vx, vy) = zw.coordinates("x y")


def plane_curve(expr) -> zw.System:
    return zw.System(name="curve", kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(expr, name="curve")])


@pytest.mark.parametrize("expr", [y**2 - x**2, y**2 - x**4, y**2 - x**3, x**2 + y**2], ids=str)
def test_a_singular_configuration_is_never_a_silent_answer(expr) -> None:
    found = zw.reactions(plane_curve(expr), {"x": 0, "y": 0, "v_x": 0, "v_y": 0})
    assert found.status is Status.SINGULAR and found.rank == 0
    assert "asymptotics" in found.note


def test_the_tangent_cone_is_told_from_the_velocity() -> None:
    crossing = plane_curve(y**2 - x**2)
    along = zw.reactions(crossing, {"x": 0, "y": 0, "v_x": 1, "v_y": 1})
    across = zw.reactions(crossing, {"x": 0, "y": 0, "v_x": 1, "v_y": 0})
    assert along.in_tangent_cone and not across.in_tangent_cone


def test_constraints_redundant_everywhere_are_not_singular() -> None:
    doubled = zw.System(
        kinetic=(vx**2 + vy**2) / 2, constraints=[zw.Bilateral(y, name="a"), zw.Bilateral(2 * y + y * x, name="b")]
    )
    found = zw.reactions(doubled, {"x": 0.3, "y": 0, "v_x": 1, "v_y": 0})
    assert found.status is Status.UNIQUE_MOTION
    assert found.redundancy is not None


def test_a_regular_point_near_a_singular_one_is_regular() -> None:
    found = zw.reactions(plane_curve(y**2 - x**2), {"x": 1e-3, "y": 1e-3, "v_x": 1, "v_y": 1})
    assert found.status is Status.UNIQUE and found.rank == 1


def test_a_batch_counts_as_single_states_do() -> None:
    source = np.random.default_rng(8)
    size = 120
    degrees, mu, spin = source.uniform(5, 85, size), source.uniform(0, 3, size), source.choice([0.0, 3.0, 6.0], size)
    columns = [sliding_rod(*item) for item in zip(degrees, mu, spin, strict=True)]
    state = {name: np.array([column[0][name] for column in columns]) for name in columns[0][0]}
    params = {name: np.array([column[1][name] for column in columns]) for name in columns[0][1]}
    batch = zw.reactions(ROD.system, state, params)
    for k, column in enumerate(columns):
        alone = zw.reactions(ROD.system, *column)
        assert batch.status[k] is alone.status
        assert batch.counts[k] == len(alone.accelerations)
    assert batch.residual < 1e-12


def test_inadmissible_states_of_a_batch_raise_nothing() -> None:
    state, params = sliding_rod(60, 1.2, 0)
    heights = state["y"] + np.array([-0.1, 0.0, 0.1])
    batch = zw.reactions(ROD.system, {**state, "y": heights}, params)
    assert [item.name for item in batch.status] == ["INADMISSIBLE", "UNIQUE", "UNIQUE"]
    assert "INADMISSIBLE" in repr(batch)


@pytest.mark.parametrize("seed", range(6))
def test_batches_of_several_contacts_agree_with_the_exact_enumeration(seed: int) -> None:
    system = _several_contacts(seed)
    source = np.random.default_rng(seed)
    size = 40
    state = {name: np.zeros(size) for name in ("x", "y", "phi")}
    state |= {f"v_{name}": np.zeros(size) for name in ("x", "y", "phi")}
    if seed % 2 and seed % 3:  # sliding would close the wall
        state["v_x"] = source.choice([-1.0, 1.0], size)
    params = {name: source.normal(size=size) * 2 for name in ("fx", "fy", "fphi")} | {
        "mu": source.uniform(0.1, 1.5, size)
    }
    batch = zw.reactions(system, state, params)
    for k in range(size):
        alone = zw.reactions(
            system,
            {name: array[k] for name, array in state.items()},
            {name: array[k] for name, array in params.items()},
        )
        assert batch.status[k] is alone.status, k
        assert batch.counts[k] == len(alone.accelerations), k


def _several_contacts(seed: int) -> zw.System:
    """Return a body with two or three contacts, some bilateral, at rest or sliding along x."""
    (a, b, phi), (va, vb, w) = zw.coordinates("x y phi")
    fx, fy, fphi, mu = zw.parameters("fx fy fphi mu")
    law = lambda slip: zw.Coulomb(mu, slip=slip)  # noqa: E731
    contacts = [
        zw.Unilateral(b + sp.Rational(1, 2) * phi, friction=law(va + phi * w), name="left"),
        zw.Unilateral(b - sp.Rational(2, 3) * phi, friction=law(va), name="right"),
    ]
    if seed % 3 == 0:
        contacts.append(zw.Unilateral(a + 2 * phi, friction=law(vb), name="wall"))
    if seed % 3 == 1:
        contacts[0] = zw.Bilateral(b + sp.Rational(1, 2) * phi, friction=law(va), name="left")
    if seed % 3 == 2:
        contacts.append(zw.Friction(mu, slip=w, name="bearing"))
    return zw.System(
        name="body",
        kinetic=(2 * va**2 + 2 * vb**2 + w**2) / 2 + va * w / 3,
        forces={a: fx, b: fy, phi: fphi},
        constraints=contacts,
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: zw.reactions(ROD.system), "a system needs a state"),
        (lambda: zw.reactions(3), "needs a System, a Model or a ContactProblem"),
        (lambda: zw.reactions(zw.ContactProblem(np.eye(2), [1, 0], []), {}), "has its state inside"),
    ],
)
def test_bad_calls_are_refused(call, message: str) -> None:
    with pytest.raises(zw.DeclarationError, match=message):
        call()


def test_a_row_that_is_rounding_alone_proves_nothing_at_a_singular_point() -> None:
    entry = zw.gallery.get("ellipse_pendulum")
    folded = {"phi": 0.0, "psi": math.pi, "v_phi": 1.0, "v_psi": 0.0}
    found = zw.reactions(entry.system, folded, entry.params)
    assert found.status is Status.SINGULAR and found.rank == 0
    assert not found.in_tangent_cone  # the second derivative of the guide along this velocity is not zero
    assert not any(item.unique for item in found.certificates)


def test_a_singular_state_of_a_batch_is_never_counted_silently() -> None:
    tiny = np.array([0.0, 1e-17, 1e-3])  # the first two are the crossing up to rounding
    batch = zw.reactions(plane_curve(y**2 - x**2), {"x": tiny, "y": tiny, "v_x": 1.0, "v_y": 1.0})
    assert [item.name for item in batch.status] == ["SINGULAR", "SINGULAR", "UNIQUE"]
