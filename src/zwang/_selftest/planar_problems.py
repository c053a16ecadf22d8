"""Random planar contact problems, many of them at ties between modes or beside them, against brute force."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._reactions import reactions_of_problem
from zwang._results.reactions import Reactions
from zwang._selftest.brute_force import Truth, truth_of
from zwang._selftest.complaint import Complaint, generator, shrunk
from zwang.errors import DeclarationError, ZwangError

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
    force, light = rng.integers(-3, 4, size=n).astype(float), np.diag(rng.integers(0, 2, size=n).astype(float))
    problem = _without_inertia(light, force, contacts) or ContactProblem(mass, force, contacts)
    return beside(problem, rng) if kind == 2 else problem


def _without_inertia(mass: np.ndarray, force: np.ndarray, contacts: list[Contact]) -> ContactProblem | None:
    """Return the problem with masses that may be zero, None where bilateral contacts don't make up for that."""
    if mass.diagonal().all() or not any(contact.bilateral for contact in contacts):
        return None
    try:
        return ContactProblem(mass, force, contacts)
    except DeclarationError:
        return None


def beside(problem: ContactProblem, rng: np.random.Generator) -> ContactProblem:
    """Return a problem that differs in one number, by 2**-28 to 2**-52."""
    small = float(rng.choice([-1.0, 1.0])) * 2.0 ** -int(rng.integers(28, 53))
    which, at, axis = (
        int(rng.integers(4)),
        int(rng.integers(len(problem.contacts))),
        int(rng.integers(len(problem.force))),
    )
    force = (problem if problem.given is None else problem.given).force.copy()
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
    mass = problem.mass if problem.given is None else problem.given.mass
    return ContactProblem(mass, force, contacts)


def disagreement(problem: ContactProblem) -> str:
    """Return what `reactions` says of a problem and is not so; empty if all is."""
    try:
        found = reactions_of_problem(problem, certify=False)
    except ZwangError as error:
        return f"refused: {error}"
    return difference(problem, found, truth_of(problem))


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
    return _wrong_mode(problem, found) or _missing_point(problem, found, true)


def _wrong_mode(problem: ContactProblem, found: Reactions) -> str:
    """Return which mode of a single solution does not fit its force and its acceleration."""
    for solution in found.solutions:
        size = NEAR * max(
            1.0, float(np.abs(solution.acceleration).max()), float(np.abs(solution.normal).max(initial=0.0))
        )
        for j, contact in enumerate(problem.contacts if not solution.dimension else ()):
            mode, slip = solution.modes[j], float(np.ravel(solution.slip_acceleration[j])[0])
            if mode == "open" and abs(solution.normal[j]) > size:
                return f"an open contact carries a force: {solution.normal[j]:g}"
            if np.any(contact.slip):
                slip = float(np.ravel(contact.slip)[0])
            wrong = {"stick": abs(slip), "slip+": -slip, "slip-": slip}.get(mode.split(" ")[0], 0.0)
            if wrong > size:
                return f"the mode {mode} has the slip or slip acceleration {slip:g}"
    return ""


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


def simpler(problem: ContactProblem) -> Iterator[ContactProblem]:
    """Problems with a contact less, a coordinate less, or a number rounded or gone."""
    contacts, n = list(problem.contacts), len(problem.force)
    if problem.given is not None:  # what is simpler without inertia may be no problem at all
        yield ContactProblem(problem.mass, problem.force, contacts)
        return
    for j in range(len(contacts)):
        if len(contacts) > 1:
            yield ContactProblem(problem.mass, problem.force, contacts[:j] + contacts[j + 1 :])
    for i in range(n if n > 1 else 0):
        kept = [a for a in range(n) if a != i]
        cut = [
            _changed(c, normal=None if c.normal is None else c.normal[kept], tangent=c.tangent[:, kept])
            for c in contacts
        ]
        if all(c.normal is None or c.normal.any() for c in cut):
            yield ContactProblem(problem.mass[np.ix_(kept, kept)], problem.force[kept], cut)
    for mass in (np.eye(n), np.diag(np.diag(problem.mass))):
        if not np.array_equal(mass, problem.mass):
            yield ContactProblem(mass, problem.force, contacts)
    for i in map(int, np.flatnonzero(problem.force)):
        for value in (0.0, np.sign(problem.force[i]), np.round(problem.force[i])):
            if value != problem.force[i]:
                yield ContactProblem(problem.mass, np.where(np.arange(n) == i, value, problem.force), contacts)
    for j, contact in enumerate(contacts):
        for other in _simpler_contacts(contact):
            yield ContactProblem(problem.mass, problem.force, [*contacts[:j], other, *contacts[j + 1 :]])


def _simpler_contacts(contact: Contact) -> Iterator[Contact]:
    for name in ("bias", "tangent_bias", "slip", "friction"):
        value = getattr(contact, name)
        for new in (0.0 * np.asarray(value), np.sign(value), np.round(value)):
            if not np.array_equal(new, value):
                yield _changed(contact, **{name: float(np.ravel(new)[0]) if np.ndim(value) == 0 else new})
    for name in ("normal", "tangent"):
        rows = getattr(contact, name)
        if rows is None:
            continue
        for at in np.argwhere(rows):
            for value in (0.0, np.sign(rows[tuple(at)]), np.round(rows[tuple(at)])):
                new = rows.copy()
                new[tuple(at)] = value
                if value != rows[tuple(at)] and (name == "tangent" or new.any()):
                    yield _changed(contact, **{name: new})


def _changed(contact: Contact, **fields: Any) -> Contact:
    return Contact(**({name: getattr(contact, name) for name in FIELDS} | fields))


def program(problem: ContactProblem) -> str:
    """Return a program that builds the problem and asks."""
    lines = ["import zwang as zw", "contacts = ["]
    for contact in problem.contacts:
        fields = {name: getattr(contact, name) for name in FIELDS}
        fields |= {"tangent": contact.tangent, "normal": contact.normal}
        told = ", ".join(f"{name}={_told(value)}" for name, value in fields.items())
        lines.append(f"    zw.Contact({told}),")
    given = problem if problem.given is None else problem.given
    lines += ["]", f"problem = zw.ContactProblem({_told(given.mass)}, {_told(given.force)}, contacts)"]
    return "\n".join([*lines, "print(zw.reactions(problem))"])


def _told(value: Any) -> str:
    return repr(value.tolist()) if isinstance(value, np.ndarray) else repr(value)


def check(seed: int, index: int) -> Complaint | None:
    """Return what is wrong with the answer to one problem."""
    problem = draw(generator("planar", seed, index))
    if not disagreement(problem):
        return None
    small = shrunk(problem, simpler, disagreement)
    return Complaint(disagreement(small), program(small))
