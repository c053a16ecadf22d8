"""Random planar contact problems, many of them at ties between modes or beside them, against brute force."""

from __future__ import annotations

import numpy as np

from zwang._numerics.contacts import Contact, ContactProblem
from zwang._reactions import reactions_of_problem
from zwang._results.reactions import Reactions
from zwang._selftest.brute_force import Truth, truth_of

FIELDS = ("normal", "tangent", "friction", "bias", "tangent_bias", "bilateral", "slip", "normal_force")
NEAR = 1e-6
"""Relative distance at which a listed solution counts as the one that brute force found."""


def draw(rng: np.random.Generator) -> ContactProblem:
    """Return a problem of integers, of quarters, of such beside a tie, or of any doubles."""
    n, k, kind = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(4))
    grid = (1.0, 4.0, 4.0, 2.0**20)[kind]

    def numbers(size: int) -> np.ndarray:
        return np.round(1.5 * rng.normal(size=size) * grid) / grid

    root = rng.integers(-1, 2, size=(n, n)) if kind < 3 else numbers(n * n).reshape(n, n)
    pool = [numbers(n) for _ in range(3)]

    def row() -> np.ndarray:
        sign = rng.choice([1.0, -1.0])
        return sign * pool[int(rng.integers(3))] if kind < 3 and rng.random() < 0.5 else numbers(n)

    contacts = []
    for _ in range(k):
        given = float(rng.choice([0.0, 1.0, 2.5])) if rng.random() < 0.15 else None
        contacts.append(
            Contact(
                None if given is not None and rng.random() < 0.3 else row(),
                tangent=row(),
                friction=float(rng.choice([0.0, 0.25, 0.5, 1.0, 2.0])),
                bias=float(rng.choice([0.0, 0.0, 0.0, 1.0, -1.0])),
                tangent_bias=float(rng.choice([0.0, 0.0, 1.0])),
                bilateral=bool(rng.random() < 0.3) and given is None,
                slip=float(rng.choice([0.0, 0.0, 1.0, -1.0])),
                normal_force=given,
            )
        )
    mass = root @ root.T + float(rng.choice([0.5, 1.0, 2.0])) * np.eye(n)
    problem = ContactProblem(mass, rng.integers(-3, 4, size=n).astype(float), contacts)
    return beside(problem, rng) if kind == 2 else problem


def beside(problem: ContactProblem, rng: np.random.Generator) -> ContactProblem:
    """Return a problem that differs in one number, by 2**-28 to 2**-52."""
    small = float(rng.choice([-1.0, 1.0])) * 2.0 ** -int(rng.integers(28, 53))
    which, at, axis = (
        int(rng.integers(4)),
        int(rng.integers(len(problem.contacts))),
        int(rng.integers(len(problem.force))),
    )
    force = problem.force.copy()
    if which == 0:
        force[axis] += small
    contacts = []
    for j, contact in enumerate(problem.contacts):
        fields = {name: getattr(contact, name) for name in FIELDS}
        if j == at and which == 1:
            fields["friction"] += abs(small)
        elif j == at and which == 2:
            fields["bias"] += small
        elif j == at and which == 3 and contact.normal is not None:
            fields["normal"] = contact.normal + small * np.eye(len(force))[axis]
        contacts.append(Contact(**fields))
    return ContactProblem(problem.mass, force, contacts)


def disagreement(problem: ContactProblem) -> str:
    """Return what `reactions` says of a problem and is not so; empty if all is."""
    return difference(problem, reactions_of_problem(problem, certify=False), truth_of(problem))


def difference(problem: ContactProblem, found: Reactions, true: Truth) -> str:
    """Return what differs between an answer and the truth."""
    if found.status.name != true.status:
        return f"status {found.status.name}, true is {true.status}"
    if not found.complete:
        return f"not complete: {'; '.join(found.marginal)}"
    if true.accelerations and len(found.accelerations) != len(true.accelerations):
        return f"{len(found.accelerations)} accelerations, true are {len(true.accelerations)}"
    if found.solutions and not found.residual < 1e-9:
        return f"residual {found.residual:.1e}"
    for solution in found.solutions:
        values = (solution.acceleration, solution.normal, solution.tangential, solution.vertices.normal)
        if not all(np.isfinite(value).all() for value in values):
            return "a solution that is not finite"
    for w in true.accelerations:
        size = max(1.0, float(np.abs(w).max(initial=0.0)))
        if not any(np.abs(w - other).max(initial=0.0) <= NEAR * size for other in found.accelerations):
            return f"the acceleration {w} is missing"
    return _missing_point(problem, found, true)


def _missing_point(problem: ContactProblem, found: Reactions, true: Truth) -> str:
    """Return which force of the truth lies outside the ranges of every solution."""
    n, k = len(problem.force), len(problem.contacts)
    for point in true.points:
        normal, tangential = np.array(point[n : n + k]), np.array(point[n + k :])
        size = NEAR * max(1.0, float(np.abs(point).max()))
        if not any(
            (solution.ranges.normal[:, 0] - size <= normal).all()
            and (normal <= solution.ranges.normal[:, 1] + size).all()
            and (solution.ranges.tangential[:, 0] - size <= tangential).all()
            and (tangential <= solution.ranges.tangential[:, 1] + size).all()
            for solution in found.solutions
        ):
            return f"the solution N = {normal}, T = {tangential} is missing"
    return ""
