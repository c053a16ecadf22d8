"""Ivanov's variational inequality as an object, and what Omega proves where friction acts in planes."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import zwang as zw
from zwang.errors import DeclarationError


def contacts(rng: Any, n: int, k: int, directions: int, rest: float, mu: float, two_sided: float = 0.0) -> list[Any]:
    return [
        zw.Contact(
            rng.normal(size=n),
            tangent=rng.normal(size=(directions, n)),
            friction=float(rng.uniform(0, mu)),
            bilateral=bool(rng.random() < two_sided),
            slip=np.zeros(directions) if rng.random() < rest else rng.normal(size=directions),
        )
        for _ in range(k)
    ]


def problem(rng: Any, n: int, k: int, directions: int, rest: float, mu: float, two_sided: float = 0.0) -> Any:
    root = rng.normal(size=(n, n))
    mass = root @ root.T / n + 0.5 * np.eye(n)
    return zw.ContactProblem(mass, 2 * rng.normal(size=n), contacts(rng, n, k, directions, rest, mu, two_sided))


@pytest.mark.parametrize("directions", [1, 2])
def test_solutions_of_the_laws_solve_the_inequality(directions: int) -> None:
    # Theorem 11 of paper 001, both ways round: no other test of N is made than through the operator
    rng = np.random.default_rng(3)
    for _ in range(12):
        given = problem(rng, 5, 2, directions, 0.6, 0.8, 0.3)
        found = zw.reactions(given)
        inequality = found.inequality
        for solution in found.solutions:
            assert inequality.residual(solution.normal) < 1e-7 * (1 + np.abs(solution.normal).max())
            others = inequality.project(rng.normal(size=2) * 5)
            assert inequality.operator(solution.normal) @ (others - solution.normal) > -1e-6
        if found.status.name == "UNIQUE":
            away = inequality.project(found.solutions[0].normal + rng.choice([-1.0, 1.0], size=2))
            assert inequality.residual(away) > 1e-9 or np.allclose(away, found.solutions[0].normal)


def test_projected_steps_on_the_operator_find_the_reactions_of_a_system() -> None:
    entry = zw.gallery.get("ladder")
    found = zw.reactions(entry.system, entry.state, entry.params)
    inequality = found.inequality
    N = np.zeros(len(inequality.contacts))
    first = inequality.residual(N)
    for _ in range(60):  # Korpelevich: twice a step from the same place
        middle = inequality.project(N - 0.3 * inequality.operator(N))
        N = inequality.project(N - 0.3 * inequality.operator(middle))
    assert inequality.contacts == found.contacts
    assert inequality.residual(N) < 0.01 * first


def test_omega_of_the_papers_examples() -> None:
    # errata of paper 001: ladder at rest 0.401; one sliding beside one resting contact 0.646; one contact, plane, 1.76
    ladder = zw.gallery.get("ladder")
    values = {**ladder.params, "g": 0.0, "mu": 0.8, "mu_wall": 0.4, "F1": 0.5, "F2": -1.0, "F3": 1.0}
    found = zw.reactions(ladder.system, ladder.state, values)
    assert found.inequality.least_eigenvalue == pytest.approx(0.401, abs=5e-4)
    inverse = np.array([[3.74, 1.9, 4.27], [1.9, 3.69, 1.77], [4.27, 1.77, 5.09]])
    one = zw.Contact([0, 0, 1], tangent=[[1, 0, 0], [0, 1, 0]], friction=0.72)
    spatial = zw.ContactProblem(force=[0.698296, 0.524118, -1.183994], contacts=[one], inverse_mass=inverse)
    answer = zw.reactions(spatial)
    assert answer.inequality.least_eigenvalue == pytest.approx(5.09 - 0.72 * np.hypot(4.27, 1.77), rel=1e-12)
    # it proves existence and no more: there are three solutions
    assert [item.kind for item in answer.certificates if "Theorem 12" in item.kind] == ["Theorem 12, existence"]
    assert answer.status.name == "MULTIPLE" and len(answer.solutions) == 3


def test_the_least_eigenvalue_is_least_over_every_allowed_friction() -> None:
    rng = np.random.default_rng(5)
    for directions in (1, 2):
        for _ in range(10):
            given = problem(rng, 5, 2, directions, 0.5, 1.0, 0.3)
            inequality = zw.reactions(given, certify=False).inequality
            inverse = np.linalg.inv(given.mass)
            normal = np.array([item.normal for item in given.contacts])
            for _ in range(200):
                pushed = []
                for item in given.contacts:
                    tangent, slip = np.atleast_2d(item.tangent), np.atleast_1d(item.slip)
                    way = rng.normal(size=directions)
                    way *= rng.choice([1.0, rng.random()]) / np.linalg.norm(way)
                    if slip.any():
                        way = -slip / np.linalg.norm(slip) * (rng.choice([-1, 1]) if item.bilateral else 1)
                    pushed.append(item.normal + item.friction * way @ tangent)
                matrix = normal @ inverse @ np.array(pushed).T
                assert np.linalg.eigvalsh((matrix + matrix.T) / 2)[0] >= inequality.least_eigenvalue - 1e-9
            assert np.linalg.eigvalsh(inequality.omega)[0] == pytest.approx(inequality.least_eigenvalue)


@pytest.mark.parametrize("rest", [0.0, 0.5, 1.0])
def test_spatial_problems_with_positive_omega_have_a_solution_for_every_force_and_say_so(rest: float) -> None:
    rng = np.random.default_rng(7)
    certified = 0
    for _ in range(12):
        given = problem(rng, 6, 2, 2, rest, 0.6)
        found = zw.reactions(given)
        if not any(item.exists and item.scope == "every force" for item in found.certificates):
            continue
        certified += 1
        for _ in range(3):
            other = zw.ContactProblem(given.mass, 5 * rng.normal(size=6), given.contacts)
            again = zw.reactions(other)
            assert again.solutions and again.status.name not in ("NONE", "UNDECIDED")
            if rest == 0.0:
                assert again.status.name == "UNIQUE"
    assert certified > 3


def test_what_has_no_inequality_says_why() -> None:
    rng = np.random.default_rng(1)
    found = zw.reactions(problem(rng, 4, 2, 1, 1.0, 0.5))
    with pytest.raises(DeclarationError, match="one finite normal force is needed for each of"):
        found.inequality.operator([1.0])
    again = pickle.loads(pickle.dumps(found))
    with pytest.raises(DeclarationError, match="ask reactions again"):
        again.inequality
    given = zw.Contact(None, tangent=[1.0, 0.0], friction=0.5, normal_force=1.0)
    tresca = zw.reactions(zw.ContactProblem(np.eye(2), [1.0, 0.0], [given]))
    with pytest.raises(DeclarationError, match="its own unknown normal force"):
        tresca.inequality
