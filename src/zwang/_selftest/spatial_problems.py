"""Random spatial contact problems: the laws at every solution listed, and solutions from other starts.

A status that claims to know all accelerations is held against solutions that an independent iteration finds from random
starts (projections onto the friction cones with De Saxcé's correction, nothing of the package's solvers).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._reactions import reactions_of_problem
from zwang._results.reactions import Reactions
from zwang._selftest.complaint import Complaint, generator, shrunk
from zwang._selftest.planar_problems import program
from zwang.errors import ZwangError

Array = npt.NDArray[np.float64]

STARTS = 4  # random starts of the brute force
STEPS = 400  # of the brute force's projection
LAWS = 1e-6
"""Relative error of the laws at a listed solution."""
SETTLED = 1e-9
"""Relative error of the laws at which an iteration counts as a solution."""
STILL = 1e-14
"""Relative change of a step at which it has settled."""
TINY = 1e-300
"""In place of a length that is zero, below a fraction."""
NEAR = 1e-5
"""Relative distance at which two accelerations are one."""


def draw(rng: np.random.Generator) -> ContactProblem:
    """Return contacts with friction in planes, at rest or sliding, in units from 1e-3 to 1e3."""
    k = int(rng.integers(1, 4))
    n = int(rng.integers(3, 3 * k + 2))
    root = rng.normal(size=(n, n))
    unit = 10.0 ** float(rng.choice([0.0, 0.0, -3.0, 3.0]))
    contacts = []
    for _ in range(k):
        slides = rng.random() < 0.3
        contacts.append(
            Contact(
                rng.normal(size=n),
                tangent=rng.normal(size=(2, n)),
                friction=float(rng.choice([0.0, 0.2, 0.5, 1.0])),
                bias=float(rng.normal()) * unit if rng.random() < 0.3 else 0.0,
                slip=rng.normal(size=2) if slides else np.zeros(2),
            )
        )
    return ContactProblem(root @ root.T / n + 0.5 * np.eye(n), unit * rng.normal(size=n), contacts)


def law_error(problem: ContactProblem, w: Array, normal: Array, tangential: Array) -> float:
    """The largest violation of the equations and laws, relative to the forces and accelerations involved."""
    pull = problem.mass @ w - problem.force
    size = max(float(np.abs(problem.force).max()), float(np.abs(problem.mass @ w).max()), 1e-300)
    for contact, push, rub in zip(problem.contacts, normal, tangential, strict=True):
        pull = pull - push * contact.normal - rub @ contact.tangent
        size = max(size, abs(float(push)), float(np.abs(rub).max(initial=0.0)), abs(contact.bias))
    worst = float(np.abs(pull).max())
    for contact, push, rub in zip(problem.contacts, normal, tangential, strict=True):
        gap = float(contact.normal @ w - contact.bias)
        worst = max(worst, -float(push), -gap, min(abs(float(push)), abs(gap)))
        slip = np.asarray(contact.slip, dtype=float)
        if not slip.any():
            slip = contact.tangent @ w - contact.tangent_bias
        speed, bound = float(np.linalg.norm(slip)), contact.friction * max(float(push), 0.0)
        against = float(np.linalg.norm(rub + bound * slip / speed)) if speed else 0.0
        beyond = float(np.linalg.norm(rub)) - bound
        worst = max(worst, beyond, min(against, speed if not np.any(contact.slip) else np.inf))
    return worst / size


def other_solutions(problem: ContactProblem, rng: np.random.Generator) -> Iterator[Array]:
    """Accelerations that the iteration settles at, from random starts."""
    rows = np.concatenate([np.vstack([c.normal, c.tangent]) for c in problem.contacts])
    bias = np.concatenate([np.append(c.bias, c.tangent_bias) for c in problem.contacts])
    response = np.linalg.solve(problem.mass, rows.T)
    gram, free = rows @ response, rows @ np.linalg.solve(problem.mass, problem.force) - bias
    step = float(1.0 / np.linalg.norm(gram, 2))
    scale = float(np.abs(free).max()) * step
    k = len(problem.contacts)
    laws = _StackedLaws.of(problem)
    z = 10.0 * scale * rng.normal(size=(STARTS, k, 3))
    z[0] = 0.0
    for _ in range(STEPS):
        u = (z.reshape(STARTS, -1) @ gram + free).reshape(z.shape)
        before, z = z, laws.projected(z - step * u, step * u)
        if np.abs(z - before).max() <= STILL * np.abs(z).max():
            break
    for parts in z:
        w = np.linalg.solve(problem.mass, problem.force + rows.T @ parts.ravel())
        if law_error(problem, w, parts[:, 0], parts[:, 1:]) < SETTLED:
            yield w


@dataclass(frozen=True)
class _StackedLaws:
    """Coefficients of friction; which contacts slide, and the force per load that they then have."""

    mu: Array
    slides: npt.NDArray[np.bool_]
    along: Array

    @classmethod
    def of(cls, problem: ContactProblem) -> _StackedLaws:
        mu = np.array([c.friction for c in problem.contacts])
        slip = np.array([np.ravel(c.slip) for c in problem.contacts])
        speed = np.hypot(slip[:, 0], slip[:, 1])
        along = -mu[:, None] * slip / np.where(speed > 0, speed, 1.0)[:, None]
        return cls(mu, speed > 0, np.column_stack([np.ones(len(mu)), along]))

    def projected(self, z: Array, u: Array) -> Array:
        """Return forces z, moved by rates u already, on what the laws allow; starts and contacts are the first axes."""
        mu = self.mu
        # De Saxcé's correction, and the projection onto the cone.
        push = z[..., 0] - mu * np.hypot(u[..., 1], u[..., 2])
        length = np.hypot(z[..., 1], z[..., 2])
        beyond = length > mu * push
        onto = np.maximum((push + mu * length) / (1.0 + mu * mu), 0.0)
        found = np.empty_like(z)
        found[..., 0] = np.where(beyond, onto, push)
        shorter = np.where(beyond, mu * onto / np.maximum(length, TINY), 1.0)
        found[..., 1:] = z[..., 1:] * shorter[..., None]
        if self.slides.any():
            slid = np.maximum(z[..., :1], 0.0) * self.along
            found = np.where(self.slides[:, None], slid, found)
        return found


def complaint_about(problem: ContactProblem) -> str:
    """Return what is wrong with the answer, empty if nothing is seen to be."""
    try:
        found = reactions_of_problem(problem, certify=True)
    except ZwangError as error:
        return f"refused: {error}"
    assert isinstance(found, Reactions)
    for item in found.solutions:
        values = (item.acceleration, item.normal, item.tangential)
        if not all(np.isfinite(value).all() for value in values):
            return f"{found.status.name}, but a solution is not finite"
        rubbed = np.reshape(item.tangential, (len(problem.contacts), -1))
        if (error_ := law_error(problem, item.acceleration, item.normal, rubbed)) > LAWS:
            return f"a listed solution breaks the laws by {error_:.1e}"
    if found.status.name not in {"UNIQUE", "UNIQUE_MOTION", "NONE"}:
        return ""
    for w in other_solutions(problem, np.random.default_rng(1)):
        size = max(float(np.abs(w).max()), float(np.abs(problem.force).max()))
        if not any(np.abs(w - other).max() <= NEAR * size for other in found.accelerations):
            return f"{found.status.name}, but the acceleration {w.tolist()} satisfies the laws too"
    return ""


def simpler(problem: ContactProblem) -> Iterator[ContactProblem]:
    """Problems with a contact less, or rounder numbers."""
    contacts = list(problem.contacts)
    for j in range(len(contacts) if len(contacts) > 1 else 0):
        yield ContactProblem(problem.mass, problem.force, contacts[:j] + contacts[j + 1 :])
    eye = np.eye(len(problem.force))
    if not np.array_equal(problem.mass, eye):
        yield ContactProblem(eye, problem.force, contacts)
    for digits in (0, 1, 2):
        yield ContactProblem(
            np.round(problem.mass, digits) + 0.1 * eye if digits < 2 else problem.mass,
            np.round(problem.force, digits),
            [
                Contact(
                    np.round(c.normal, digits) if np.round(c.normal, digits).any() else c.normal,
                    tangent=np.round(c.tangent, digits),
                    friction=c.friction,
                    bias=round(c.bias, digits),
                    slip=c.slip,
                )
                for c in contacts
            ],
        )


def check(seed: int, index: int) -> Complaint | None:
    """Return what is wrong with the answer to one problem."""
    problem = draw(generator("spatial", seed, index))
    if not complaint_about(problem):
        return None
    small = shrunk(problem, _refused_are_skipped, complaint_about)
    return Complaint(complaint_about(small), program(small))


def _refused_are_skipped(problem: ContactProblem) -> Iterator[ContactProblem]:
    candidates = simpler(problem)
    while True:
        try:
            yield next(candidates)
        except StopIteration:
            return
        except ZwangError:  # rounding made it a problem that is none
            continue
