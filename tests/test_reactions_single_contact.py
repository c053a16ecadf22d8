"""One contact in closed form: the same answer as that of the enumeration, or none where a decision is not clear."""

from __future__ import annotations

import numpy as np
import pytest

from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._reactions import enumerate as enumeration
from zwang._reactions.enumerate import reactions_of_problem


def one_random_contact(source: np.random.Generator) -> ContactProblem:
    """Return a problem with one contact in units of its own; some have forces and slips that vanish or tie."""
    n = int(source.integers(1, 5))
    shape = source.normal(size=(n, n))
    mass = shape @ shape.T + 0.3 * np.eye(n) if source.random() < 0.6 else np.diag(source.uniform(0.1, 3.0, n))
    units = 10.0 ** source.uniform(-3, 3, n)
    force = source.normal(size=n) if source.random() < 0.8 else source.integers(-1, 2, size=n).astype(float)
    normal, tangent = source.normal(size=(2, n)) * units * 10.0 ** source.uniform(-2, 2, (2, 1))
    law = {
        "tangent": tangent,
        "friction": source.choice([0.0, 0.5, 2.0, 8.0]),
        "slip": source.choice([0.0, 1.0, -0.3]),
        "tangent_bias": source.choice([0.0, 1.0]),
    }
    contact = Contact(
        normal,
        bilateral=bool(source.integers(2)),
        bias=source.choice([0.0, -1.0, 2.0]),
        **(law if source.random() < 0.8 else {}),
    )
    return ContactProblem(mass * units * units[:, None], force * units * 10.0 ** source.uniform(-3, 3), [contact])


def test_one_contact_in_closed_form_is_what_the_enumeration_finds(monkeypatch):
    """Both ways to an answer have the equations in common, and no line of code that decides a mode."""
    source = np.random.default_rng(23)
    statuses, closed = set(), 0
    for _ in range(250):
        problem = one_random_contact(source)
        closed += enumeration.clear_answer(problem, 1e-9, 0.0) is not None
        found = reactions_of_problem(problem)
        with monkeypatch.context() as patch:
            patch.setattr(enumeration, "clear_answer", lambda *_: None)
            expected = reactions_of_problem(problem)
        assert (found.status, found.complete) == (expected.status, expected.complete)
        assert (found.modes_total, found.nodes) == (expected.modes_total, expected.nodes)
        assert found.certificate == expected.certificate and dict(found.rejected) == dict(expected.rejected)
        assert len(found.accelerations) == len(expected.accelerations)
        free = np.abs(np.linalg.solve(problem.mass, problem.force))
        for one, other in zip(found.solutions, expected.solutions, strict=True):
            assert (one.modes, one.component, one.dimension) == (other.modes, other.component, other.dimension)
            # Up to rounding of what the force alone would do, in well-conditioned units of each coordinate.
            assert np.all(np.abs(one.acceleration - other.acceleration) <= 1e-9 * (free + np.abs(other.acceleration)))
            np.testing.assert_allclose(one.normal, other.normal, rtol=1e-9, atol=0)
            np.testing.assert_allclose(
                one.tangential, other.tangential, rtol=1e-7, atol=1e-12 * np.abs(one.normal).max()
            )
            assert one.residual < 1e-9
        statuses.add(found.status.name)
    assert closed > 180 and statuses >= {"UNIQUE", "MULTIPLE", "NONE"}


@pytest.mark.parametrize(
    ("push", "weight", "friction"),
    [(0.5, -1.0, 0.5), (0.0, 0.0, 0.5), (0.5 + 1e-8, -1.0, 0.5), (0.0, 1e-9, 0.0)],
    ids=["on the edge of the cone", "no force", "beside the edge", "hardly lifted"],
)
def test_one_contact_is_left_to_the_enumeration_where_a_decision_is_not_clear(push, weight, friction):
    floor = Contact([0, 1], tangent=[1, 0], friction=friction, bias=-1.0 if weight > 0 else 0.0, name="floor")
    problem = ContactProblem(np.eye(2), [push, weight - (weight > 0)], [floor])
    assert enumeration.clear_answer(problem, 1e-9, 0.0) is None
    assert reactions_of_problem(problem).complete


def test_what_asks_for_the_search_gets_it():
    floor = Contact([0, 1], tangent=[1, 0], friction=0.5, name="floor")
    told = []
    problem = ContactProblem(np.eye(2), [0.4, -1.0], [floor])
    assert reactions_of_problem(problem, report=told.append).status.name == "UNIQUE" and told
    assert reactions_of_problem(problem, every=False).status.name == "UNIQUE"  # by a certificate
    assert reactions_of_problem(problem, budget=10).nodes > 0
