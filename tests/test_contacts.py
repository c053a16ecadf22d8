"""Contact problems as arrays: what is accepted, how it is stacked, and what a wrong array is told."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._numerics.contact.residual import residual_of, scales_of
from zwang.errors import DeclarationError


def floor(**changes):
    return Contact(**({"normal": [0, 1], "tangent": [1, 0], "friction": 0.5} | changes))


def message(make) -> str:
    with pytest.raises(DeclarationError) as caught:
        make()
    return str(caught.value)


# --- what is accepted ------------------------------------------------------------------------------------------------


def test_one_tangent_may_be_a_vector_and_what_is_left_out_is_zero():
    contact = floor()
    assert contact.tangent.shape == (1, 2)
    assert contact.slip.tolist() == [0.0]
    assert contact.tangent_bias.tolist() == [0.0]
    assert not contact.bilateral


def test_rows_are_stacked_in_order_with_places_of_tangents():
    problem = ContactProblem(
        np.eye(3),
        np.zeros(3),
        [
            Contact([0, 0, 1]),
            Contact([0, 1, 0], tangent=np.eye(3)[:2], friction=1),
            Contact([1, 0, 0], tangent=[0, 1, 0]),
        ],
    )
    assert problem.rows.first.tolist() == [0, 0, 2, 3]
    assert problem.rows.components.tolist() == [0, 2, 1]
    assert problem.rows.tangent.shape == (3, 3)


def test_sparse_mass_and_rows_are_kept_sparse():
    row = sparse.csr_array(([1.0], ([0], [1])), shape=(1, 2))
    problem = ContactProblem(sparse.identity(2), [0.0, -1.0], [Contact(row, tangent=[[1, 0]], friction=0.3)])
    assert sparse.issparse(problem.mass)
    assert sparse.issparse(problem.rows.normal)


def test_a_friction_bound_without_a_normal_is_a_contact():
    contact = Contact(None, tangent=[1, 0], friction=1, normal_force=2.0)
    rows = ContactProblem(np.eye(2), [1.0, 0.0], [contact]).rows
    assert not rows.has_normal[0]
    assert rows.normal_force[0] == 2.0


def test_names_are_given_or_counted():
    problem = ContactProblem(np.eye(2), [0, 0], [floor(name="heel"), floor()])
    assert problem.names == ("heel", "contact 2")


def test_the_representation_counts():
    problem = ContactProblem(np.eye(2), [0, 0], [floor(), floor(slip=1.0)])
    assert repr(problem) == "ContactProblem: 2 coordinates, 2 contacts (1 at rest, 1 sliding)"


def test_arrays_given_by_the_caller_are_copied():
    force = np.array([0.0, -1.0])
    problem = ContactProblem(np.eye(2), force, [floor()])
    force[:] = 7.0
    assert problem.force.tolist() == [0.0, -1.0]


# --- mistakes --------------------------------------------------------------------------------------------------------

BAD_CONTACTS = {
    "friction is -0.3, needed a number >= 0": lambda: floor(friction=-0.3),
    "friction is 0.5 but there is no tangent": lambda: floor(tangent=None),
    "friction is nan, needed a finite number": lambda: floor(friction=np.nan),
    "normal is nan at index 1": lambda: floor(normal=[0, np.nan]),
    "tangent is inf at index (0, 0)": lambda: floor(tangent=[np.inf, 0]),
    "bias is inf, needed a finite number": lambda: floor(bias=np.inf),
    "slip has 2 components but the tangent has 1 row": lambda: floor(slip=[1.0, 0.0]),
    "tangent_bias has 2 components but the tangent has 1 row": lambda: floor(tangent_bias=[0.0, 0.0]),
    "tangent has shape (3, 2), needed (p, n) with p = 0, 1 or 2 rows": lambda: floor(tangent=np.ones((3, 2))),
    "tangent has shape (1, 3) but the normal has length 2": lambda: floor(tangent=[1, 0, 0]),
    "normal is None, so the friction has no load": lambda: Contact(None, tangent=[1, 0], friction=1),
    "normal_force is -2 and bounds a friction force": lambda: Contact(
        None, tangent=[1, 0], friction=1, normal_force=-2.0
    ),
    "normal has shape (2, 2), needed a vector": lambda: Contact(np.eye(2)),
    "normal is str 'up', needed an array of numbers": lambda: Contact("up"),
    "friction is a pair and there is one tangent": lambda: floor(friction=[0.1, 0.2]),
}


@pytest.mark.parametrize("words", BAD_CONTACTS)
def test_a_wrong_contact_is_told_what_is_needed(words):
    assert words in message(BAD_CONTACTS[words])


def test_a_named_contact_is_named_in_the_message():
    assert message(lambda: floor(friction=-1.0, name="heel")).startswith("Contact 'heel': friction is -1")


ASYMMETRIC = np.array([[1.0, 0.2], [0.0, 1.0]])
BAD_PROBLEMS = {
    "mass is not symmetric: it differs from its transpose by 0.2": lambda: ContactProblem(ASYMMETRIC, [0, 0]),
    "mass is not positive definite: its smallest eigenvalue is -1": lambda: ContactProblem(np.diag([1, -1]), [0, 0]),
    "mass is not positive definite: its smallest eigenvalue is 0": lambda: ContactProblem(np.diag([1, 0]), [0, 0]),
    "mass has shape (2, 2) but force has length 3": lambda: ContactProblem(np.eye(2), [0, 0, 0]),
    "mass has shape (2,), needed (n, n). Use numpy.diag": lambda: ContactProblem([1, 2], [0, 0]),
    "mass is nan at index (0, 1)": lambda: ContactProblem([[1, np.nan], [np.nan, 1]], [0, 0]),
    "force is inf at index 0": lambda: ContactProblem(np.eye(2), [np.inf, 0]),
    "force is missing": lambda: ContactProblem(np.eye(2)),
    "neither mass nor inverse_mass": lambda: ContactProblem(force=[0, 0]),
    "both mass and inverse_mass": lambda: ContactProblem(np.eye(2), [0, 0], inverse_mass=np.eye(2)),
    "inverse_mass is not symmetric": lambda: ContactProblem(force=[0, 0], inverse_mass=ASYMMETRIC),
    "the normal of contacts[1] has length 3 but force has length 2": lambda: ContactProblem(
        np.eye(2), [0, 0], [floor(), Contact([0, 0, 1])]
    ),
    "contacts[0] is a tuple, needed a Contact": lambda: ContactProblem(np.eye(2), [0, 0], [(1, 2)]),
    "a pivot of its factorization is": lambda: ContactProblem(sparse.diags_array([1.0, -1.0]), [0, 0]),
    "it is singular": lambda: ContactProblem(sparse.csc_array([[1.0, 0.0], [0.0, 0.0]]), [0, 0]),
}


@pytest.mark.parametrize("words", BAD_PROBLEMS)
def test_a_wrong_problem_is_told_what_is_needed(words):
    assert words in message(BAD_PROBLEMS[words])


def test_two_contacts_of_one_name_are_refused_when_names_are_asked():
    problem = ContactProblem(np.eye(2), [0, 0], [floor(name="heel"), floor(name="heel")])
    assert "two contacts are called 'heel'" in message(lambda: problem.names)


# --- distance from the laws ------------------------------------------------------------------------------------------


def block(push, *, friction=0.5, slip=0.0, bilateral=False):
    return ContactProblem(np.eye(2), [push, -1.0], [floor(friction=friction, slip=slip, bilateral=bilateral)])


def residual(problem, w, normal, friction):
    scales = scales_of(problem)
    forces = np.array([[friction, 0.0]])
    return residual_of(problem, np.array(w, dtype=float), np.array([float(normal)]), forces, scales)


# Unit block on a floor, mu = 1/2, weight 1: it holds a push of 0.4 and slides under 0.8 with acceleration 0.3.
def test_the_right_answers_have_no_residual():
    assert residual(block(0.4), [0, 0], 1.0, -0.4).largest < 1e-15
    assert residual(block(0.8), [0.3, 0], 1.0, -0.5).largest < 1e-15
    assert residual(block(0.8, slip=-1.0), [1.3, 0], 1.0, 0.5).largest < 1e-15


@pytest.mark.parametrize(
    "law, w, normal, friction",
    [
        ("motion", [0.1, 0], 1.0, -0.4),
        ("normal", [0, 0.5], 1.5, 0.0),  # lifts off while it pushes
        ("normal", [0, -1.5], -0.5, 0.0),  # penetrates, and pulls
        ("friction", [0.3, 0], 1.0, -0.1),  # slips with less than the full friction
        ("friction", [0, 0], 1.0, -0.4),  # fine at mu = 1/2, beyond the bound at mu = 0.3
    ],
)
def test_each_broken_law_is_seen(law, w, normal, friction):
    problem = block(0.4, friction=0.3)
    problem = (
        ContactProblem(np.eye(2), [w[0] - friction, w[1] - normal], problem.contacts) if law != "motion" else problem
    )
    assert getattr(residual(problem, w, normal, friction), law) > 0.05


def test_a_bilateral_contact_may_pull():
    problem = ContactProblem(np.eye(2), [0.0, 1.0], [floor(bilateral=True)])
    assert residual(problem, [0, 0], -1.0, 0.0).largest < 1e-15


def test_residuals_do_not_depend_on_units():
    problem, scaled = block(0.4), ContactProblem(1e6 * np.eye(2), [0.4e9, -1e9], [floor(friction=0.5)])
    ours = residual(problem, [0.1, 0], 1.0, -0.4).motion
    theirs = residual(scaled, [100.0, 0], 1e9, -0.4e9).motion
    assert ours == pytest.approx(theirs, rel=1e-12)
