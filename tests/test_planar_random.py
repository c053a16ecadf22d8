"""Random planar problems against brute force, and laws that every answer obeys: scaling, coordinates, order."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from night import by_day
from planar_brute_force import disagreement, solve_faces
from planar_families import FAMILIES, spd
from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._reactions import reactions_of_problem

BATCHES = 5
PER_BATCH = 30
"""15 families x 5 batches x 30 = 2250 problems, two batches of them by day."""


def draw(family: str, seed: int) -> ContactProblem:
    return FAMILIES[family](np.random.default_rng([2013, seed, zlib.crc32(family.encode())]))


@pytest.mark.parametrize("batch", by_day(range(BATCHES), [0, 1]))
@pytest.mark.parametrize("family", FAMILIES)
def test_every_solution_and_no_other_is_found(family, batch):
    for seed in range(batch * PER_BATCH, (batch + 1) * PER_BATCH):
        problem = draw(family, seed)
        found = reactions_of_problem(problem, certify=batch == 0)
        assert disagreement(problem, found) == "", f"{family} {seed}"
        assert found.complete, f"{family} {seed}: {found.marginal}"
        assert not found.solutions or found.residual < 1e-11


@pytest.mark.nightly
@pytest.mark.parametrize("family", FAMILIES)
def test_every_solution_and_no_other_is_found_in_a_thousand_problems_of_each_family(family):
    print(f"{family}: seeds 10000 to 10999, 1000 problems")
    apart = 0
    for seed in range(10_000, 11_000):
        problem = draw(family, seed)
        found = reactions_of_problem(problem, certify=False)
        assert found.complete, f"{family} {seed}: {found.marginal}"
        if disagreement(
            problem, found
        ):  # brute force knows no more than a tolerance; rows may be dependent to rounding
            found = to_tolerance(problem)
            assert disagreement(problem, found) == "", f"{family} {seed}"
            apart += 1
    print(f"{apart} of them are others when their doubles are taken as fractions")
    assert apart <= 5


def test_the_oracle_itself_finds_the_closed_form_of_a_block_on_a_floor():
    # unit weight, mu = 1/2: a push of 0.8 accelerates by 0.3
    floor = Contact([0, 1], tangent=[1, 0], friction=0.5)
    faces = solve_faces(ContactProblem(np.eye(2), [0.8, -1.0], [floor]))
    assert len(faces) == 1
    assert faces[0].vertices[0] == pytest.approx([0.3, 0, 1.0, -0.5])


# --- laws that hold for every answer ---------------------------------------------------------------------------------


def to_tolerance(problem):
    """What is written another way is rounded another way: rows that are dependent stay so up to the tolerance."""
    return reactions_of_problem(problem, exact=False)


def rebuilt(problem, *, mass=None, force=None, change=lambda contact: {}, order=None):
    contacts = []
    for contact in problem.contacts:
        fields = ("normal", "tangent", "friction", "bias", "tangent_bias", "bilateral", "slip", "normal_force")
        contacts.append(Contact(**({name: getattr(contact, name) for name in fields} | change(contact))))
    contacts = contacts if order is None else [contacts[i] for i in order]
    return ContactProblem(problem.mass if mass is None else mass, problem.force if force is None else force, contacts)


def by_rows(points):
    """Rows in an order that rounding does not change."""
    return points[np.lexsort(np.round(points, 5).T)] if len(points) else points


def summary(found):
    """What must not depend on how the problem is written."""
    return (
        found.status,
        found.complete,
        found.accelerations_continuum,
        [(s.modes, s.dimension, s.component, len(s.vertices), len(s.rays), len(s.lines)) for s in found.solutions],
    )


CHECKED = [(family, seed) for family in FAMILIES for seed in range(1000, 1006)]


@pytest.mark.parametrize("family, seed", CHECKED)
def test_forces_and_accelerations_scale_with_the_load(family, seed):
    problem, factor = draw(family, seed), 1e7
    scaled = rebuilt(
        problem,
        force=factor * problem.force,
        change=lambda c: {
            "bias": factor * c.bias,
            "tangent_bias": factor * c.tangent_bias,
            "normal_force": None if c.normal_force is None else factor * c.normal_force,
        },
    )
    ours, theirs = to_tolerance(problem), to_tolerance(scaled)
    assert summary(ours) == summary(theirs)
    for mine, other in zip(ours.solutions, theirs.solutions, strict=True):
        theirs_at, ours_at = other.vertices.normal / factor, mine.vertices.normal
        assert by_rows(theirs_at) == pytest.approx(by_rows(ours_at), rel=1e-7, abs=1e-6)
        assert other.acceleration == pytest.approx(factor * mine.acceleration, rel=1e-7, abs=1e-6 * factor)


@pytest.mark.parametrize("family, seed", CHECKED)
def test_coordinates_do_not_matter(family, seed):
    problem = draw(family, seed)
    n = len(problem.force)
    change = np.linalg.cholesky(spd(np.random.default_rng(seed), n)) * 3.0  # q = change @ q'
    turned = rebuilt(
        problem,
        mass=change.T @ problem.mass @ change,
        force=change.T @ problem.force,
        change=lambda c: {"normal": None if c.normal is None else c.normal @ change, "tangent": c.tangent @ change},
    )
    ours, theirs = to_tolerance(problem), to_tolerance(turned)
    assert ours.status == theirs.status
    assert [(s.modes, s.dimension) for s in ours.solutions] == [(s.modes, s.dimension) for s in theirs.solutions]
    for mine, other in zip(ours.solutions, theirs.solutions, strict=True):
        assert change @ other.acceleration == pytest.approx(mine.acceleration, abs=1e-6)
        if mine.dimension == 0:
            assert other.normal == pytest.approx(mine.normal, rel=1e-7, abs=1e-7)
            assert other.tangential == pytest.approx(mine.tangential, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("family, seed", CHECKED[::2])
def test_rows_of_any_length_describe_the_same_contact(family, seed):
    # n -> 5 n with N -> N/5; friction is per unit of N, so mu -> 5 mu
    problem = draw(family, seed)
    stretched = rebuilt(
        problem,
        change=lambda c: {
            "normal": None if c.normal is None else 5 * c.normal,
            "bias": 5 * c.bias,
            "friction": c.friction if c.normal is None else 5 * c.friction,
            "normal_force": c.normal_force if c.normal is None or c.normal_force is None else c.normal_force / 5,
        },
    )
    ours, theirs = to_tolerance(problem), to_tolerance(stretched)
    assert ours.status == theirs.status
    assert [s.dimension for s in ours.solutions] == [s.dimension for s in theirs.solutions]
    if ours.solutions and not ours.accelerations_continuum:
        assert by_rows(theirs.accelerations) == pytest.approx(by_rows(ours.accelerations), abs=1e-6)


@pytest.mark.parametrize("family, seed", CHECKED[1::2])
def test_the_order_of_contacts_does_not_matter(family, seed):
    problem = draw(family, seed)
    order = np.random.default_rng(seed).permutation(len(problem.contacts))
    ours, theirs = to_tolerance(problem), to_tolerance(rebuilt(problem, order=order))
    assert ours.status == theirs.status
    key = lambda item: (item[0], item[1])  # noqa: E731
    mine = sorted(((tuple(s.modes[i] for i in order), s.dimension) for s in ours.solutions), key=key)
    assert mine == sorted(((tuple(s.modes), s.dimension) for s in theirs.solutions), key=key)


@pytest.mark.parametrize("family, seed", CHECKED[::3])
def test_an_inverse_mass_does_as_well(family, seed):
    problem = draw(family, seed)
    other = ContactProblem(force=problem.force, contacts=problem.contacts, inverse_mass=np.linalg.inv(problem.mass))
    ours, theirs = to_tolerance(problem), to_tolerance(other)
    assert summary(ours) == summary(theirs)
    assert by_rows(theirs.accelerations) == pytest.approx(by_rows(ours.accelerations), abs=1e-7)


def test_at_rest_and_without_redundancy_the_number_of_solutions_is_odd():
    # paper 001, independent check, section 4
    counts = set()
    for seed in range(300):
        rng = np.random.default_rng([4, seed])
        a, h = -rng.uniform(0.3, 2, 2), rng.uniform(0.3, 2, 2)
        contacts = [
            Contact(np.eye(4)[2 * i], tangent=np.eye(4)[2 * i + 1], friction=float(rng.uniform(1, 6))) for i in range(2)
        ]
        mass = np.linalg.inv(np.kron(np.eye(2), [[1.0, 0], [0, 1]]) + 0.9 * _coupling(a, h, rng))
        found = to_tolerance(ContactProblem(mass, 2 * rng.normal(size=4), contacts))
        counts.add(len(found.solutions))
    assert all(count % 2 for count in counts)
    assert len(counts) > 1


def _coupling(a, h, rng):
    """A positive semidefinite matrix with strong entries between normals and tangents."""
    rows = np.array([[a[0], h[0], a[1], h[1]], [a[0], h[0], -a[1], -h[1]]])
    return rows.T @ rows * rng.uniform(1, 5)
