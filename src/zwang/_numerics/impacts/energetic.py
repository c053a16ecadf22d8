"""Energetic restitution of one contact: follow the impulse until the normal force has given back e^2 of its work.

The normal impulse p plays the part of time (Darboux, Keller): the slip may stop, stick or turn round on the way, and
each phase is solved exactly (`phases`, and `slip_path` where a slip with two components turns). Compression is where
the rate is negative, expansion where it is positive; with W_c < 0 and W_e > 0 the work of the normal impulse in each,
the impact ends when W_e = -e^2 W_c. Since friction takes what it takes and the normal impulse gives back no more than
it took, the energy never grows. Friction alone can drive compression: an impact without collision starts with the
rate zero and falling.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.impacts.impact_problem import (
    CONTACT,
    HELD,
    LOADED,
    ONE_SIDED,
    ImpactOutcome,
    ImpactProblem,
    outcome_of,
    undecided,
)
from zwang._numerics.impacts.phases import Phase, next_phase
from zwang._numerics.impacts.slip_path import turn

Array = NDArray[np.float64]

MOST_PHASES = 1000  # a change of slip each; an impact that goes on longer does not end
TOUCH = 1e-13
"""Rates of other rows up to this, relative to the speed that the impact makes, are zero."""


def energetic_impact(problem: ImpactProblem, j: int, restitution: float) -> ImpactOutcome:
    """Return the outcome at contact j, the only one that closes.

    Examples
    --------
    A ball that slides while it bounces: the friction impulse is mu times the normal one throughout.

    >>> from zwang._numerics.impacts.impact_problem import ImpactContact
    >>> floor = ImpactContact([0, 1], restitution=0.5, friction=0.1, tangent=[1, 0])
    >>> energetic_impact(ImpactProblem(np.eye(2), [3.0, -2.0], [floor]), 0, 0.5).velocity
    array([2.7, 1. ])
    """
    process = _Process(problem, j, restitution)
    reason = process.run()
    if reason is not None:
        return undecided(problem, reason, "energetic")
    outcome = process.outcome()
    for i, contact in enumerate(problem.contacts):
        if contact.kind == LOADED and contact.rubs and set(contact.of) & set(outcome.carrying):
            reason = f"the impulse loads the friction '{problem.name_of(i)}', and the energetic law follows one slip"
            return undecided(problem, reason, "energetic")
    return outcome


class _Process:
    """The rates u of all rows and the impulses so far.

    Rows: the normal, its p slips, the one-sided constraints on velocities, then the other contacts, which must stay
    out of it.
    """

    def __init__(self, problem: ImpactProblem, j: int, restitution: float) -> None:
        self.problem, self.j, self.e2 = problem, j, restitution**2
        contact = problem.contacts[j]
        plus, minus = contact.sides or (0.0, 0.0)
        self.mu: float | tuple[float, float] = plus if plus == minus else (plus, minus)
        tangent = contact.tangent if contact.rubs else contact.tangent[:0]
        self.p = len(tangent)
        kinds = [one.kind for one in problem.contacts]
        self.held = [i for i, kind in enumerate(kinds) if kind == HELD]
        self.sided = [i for i, kind in enumerate(kinds) if kind == ONE_SIDED]
        self.others = [i for i, kind in enumerate(kinds) if kind == CONTACT and i != j]
        rest = self.sided + self.others
        self.rows = np.concatenate([contact.normal[None], tangent, problem.normals[rest]])
        self.reach = _projected(problem, self.held)
        self.gram = self.rows @ self.reach @ self.rows.T
        slip = problem.slip_of(j, problem.velocity)[: self.p]
        self.u = np.concatenate([problem.rates[[j]], slip, problem.rates[rest]])
        self.z = np.zeros(len(self.rows))
        self.taken = self.given = 0.0
        size = (
            np.abs(self.u)
            + np.abs(self.rows) @ np.abs(problem.velocity)
            + np.sqrt(np.maximum(np.diag(self.gram), 0.0)) * _speed(problem)
        )
        self.zero = TOUCH * size
        self.u[np.abs(self.u) <= self.zero] = 0.0
        self.first_sided, self.first_other = 1 + self.p, 1 + self.p + len(self.sided)

    def run(self) -> str | None:
        """Go through the phases to the end; return why that is not possible, or None."""
        problem = self.problem
        for i in self.held + self.sided:
            if problem.contacts[i].rubs:
                return f"'{problem.name_of(i)}' has friction too, and the energetic law knows one contact with friction"
            if problem.closing[i]:
                return f"'{problem.name_of(i)}' jumps at the same instant, and the energetic law knows one contact"
        for _ in range(MOST_PHASES):
            closed = tuple(i for i in range(self.first_sided, self.first_other) if self.u[i] <= self.zero[i])
            phase = next_phase(self.gram, self.u[1 : 1 + self.p], self.mu, closed)
            if phase is None:
                return "the one-sided constraints that act have no impulses of the right sign"
            done, reason = self._turn(phase) if phase.turning else self._straight(phase, closed)
            if done or reason:
                return reason
        return f"the impact did not end within {MOST_PHASES} phases of slip and stick"

    def outcome(self) -> ImpactOutcome:
        """Return the outcome with the impulses of all constraints, those held included."""
        problem, p = self.problem, self.p
        k = len(problem.contacts)
        push = self.rows.T @ self.z
        velocity = problem.velocity + self.reach @ push
        normal, tangential = np.zeros(k), np.zeros((k, 2))
        normal[self.j] = self.z[0]
        tangential[self.j, :p] = self.z[1 : 1 + p]
        normal[self.sided] = self.z[self.first_sided : self.first_other]
        if self.held:
            rows = problem.normals[self.held]
            gram = rows @ problem.response @ rows.T
            normal[self.held] = -np.linalg.pinv(gram, rcond=1e-12, hermitian=True) @ (rows @ problem.response @ push)
        return outcome_of(problem, velocity, normal, tangential, "energetic", self._residual(velocity))

    def _residual(self, velocity: Array) -> float:
        """How far the impulses are from e^2 = -W_e / W_c and from the velocity of the rows."""
        work = abs(self.given + self.e2 * self.taken) / max(abs(self.taken), 1e-300)
        contact = self.problem.contacts[self.j]
        rate = float(contact.normal @ velocity + contact.rate0)
        size = max(abs(rate), math.sqrt(float(self.gram[0, 0])) * _speed(self.problem), 1e-300)
        return max(work, abs(rate - float(self.u[0])) / size)

    def _straight(self, phase: Phase, closed: tuple[int, ...]) -> tuple[bool, str | None]:
        """Go on along a straight line in u to the next event; return whether it is the end, or why it can't be."""
        du = self.gram @ phase.z
        du[list(phase.active)] = 0.0
        if phase.sticks:
            du[1 : 1 + self.p] = 0.0
        low = np.flatnonzero(
            (self.u[self.first_other :] <= 0) & (du[self.first_other :] < -1e-12 * np.abs(self.gram).max())
        )
        if len(low):
            return False, self._second(int(low[0]))
        length, row = self._next_event(phase, du, closed)
        end = self._end(self.u[0], du[0])
        turn_round = -self.u[0] / du[0] if self.u[0] * du[0] < 0 else math.inf
        step = min(length, end, turn_round)
        if not math.isfinite(step):
            return False, "friction keeps pressing: the impulse of compression grows without end"
        self._add(phase.z, du, step)
        if step == turn_round:
            self.u[0] = 0.0
            if self.e2 == 0.0 and du[0] > 0:
                return True, None
        if step == end:
            return True, None
        if step == length:
            if row >= self.first_other:
                return False, self._second(row - self.first_other)
            self.u[slice(1, 1 + self.p) if row <= self.p else row] = 0.0
        return False, None

    def _next_event(self, phase: Phase, du: Array, closed: tuple[int, ...]) -> tuple[float, int]:
        """Return where the slip, a one-sided row or another contact first reaches zero, and which."""
        best, row = math.inf, -1
        if self.p and not phase.sticks:
            along, growth = float(phase.direction @ self.u[1 : 1 + self.p]), float(phase.direction @ du[1 : 1 + self.p])
            if along > 0 and growth < 0:
                best, row = -along / growth, 1
        for i in range(self.first_sided, len(self.u)):
            if du[i] < 0 and self.u[i] > 0 and i not in closed and -self.u[i] / du[i] < best:
                best, row = -self.u[i] / du[i], i
        return best, row

    def _end(self, rate: float, growth: float) -> float:
        """Return the normal impulse after which expansion has given back its share."""
        if rate < 0 or (rate == 0 and growth <= 0) or self.e2 == 0.0:
            return math.inf
        left = -self.e2 * self.taken - self.given  # = rate x + growth x^2 / 2
        if left <= 0:
            return 0.0
        root = rate * rate + 2 * growth * left
        return 2 * left / (rate + math.sqrt(root)) if root >= 0 else math.inf

    def _add(self, z: Array, du: Array, step: float) -> None:
        work = step * (self.u[0] + 0.5 * step * du[0])
        if work < 0:
            self.taken += work
        else:
            self.given += work
        self.u = self.u + step * du
        self.z = self.z + step * z

    def _turn(self, phase: Phase) -> tuple[bool, str | None]:
        """Follow a slip that turns."""
        assert not isinstance(self.mu, tuple)  # two slips have one coefficient
        path = turn(self.gram, self.u, self.mu, phase.active, (self.first_sided, self.first_other), self._left())
        self.z = self.z + path.z
        self.u = path.u
        self.taken += min(path.work, 0.0)
        self.given += max(path.work, 0.0)
        if path.event == "rest":
            self.u[1 : 1 + self.p] = 0.0
        elif path.event == "rate":
            rising = self.u[0] >= 0 and path.rising
            self.u[0] = 0.0
            return rising and self.e2 == 0.0, None
        elif path.event == "work":
            return True, None
        elif path.event == "row":
            if path.row >= self.first_other:
                return False, self._second(path.row - self.first_other)
            self.u[path.row] = 0.0
        elif path.event != "release":
            return False, f"the turning slip could not be followed ({path.event})"
        return False, None

    def _left(self) -> float:
        return -self.e2 * self.taken - self.given if self.e2 else math.inf

    def _second(self, place: int) -> str:
        return (
            f"'{self.problem.name_of(self.others[place])}' closes during the impact of "
            f"'{self.problem.name_of(self.j)}', and the energetic law knows one contact"
        )


def _projected(problem: ImpactProblem, held: list[int]) -> Array:
    """Return the inverse of the mass matrix on the motions that the held rows allow."""
    inverse = problem.response
    if not held:
        return inverse
    reach = problem.normals[held] @ inverse
    gram = reach @ problem.normals[held].T
    return np.asarray(inverse - reach.T @ np.linalg.pinv(gram, rcond=1e-12, hermitian=True) @ reach)


def _speed(problem: ImpactProblem) -> float:
    return math.sqrt(2 * problem.kinetic(problem.velocity))
