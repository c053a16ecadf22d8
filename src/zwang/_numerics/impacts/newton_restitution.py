"""Newton's restitution in Moreau's form: the contacts that carry an impulse separate with -e times their rate.

For every contact 0 <= P, rate+ + e rate- >= 0 and one of the two zero; Coulomb's law holds between the impulses and
the slip after the impact. Nothing in it keeps the energy from growing where friction couples normal and tangential
motion (Kane's pendulum): the caller compares the work of the impulses with zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._numerics.impacts.impact_problem import HELD, LOADED, ImpactProblem
from zwang._numerics.impacts.jumps import Jump, Jumps, all_jumps

Array = NDArray[np.float64]


def newton_jumps(problem: ImpactProblem, restitution: Array) -> Jumps:
    """Return every outcome of Newton's law; `restitution` (k,) has no gaps."""
    contacts = []
    for j, contact in enumerate(problem.contacts):
        rate = float(problem.rates[j])
        back = -(rate + restitution[j] * min(rate, 0.0)) if contact.kind != HELD else -rate
        contacts.append(friction_contact(problem, j, problem.velocity, bias=back))
    return all_jumps(ContactProblem(problem.mass, np.zeros(len(problem.velocity)), contacts))


def friction_contact(problem: ImpactProblem, j: int, velocity: Array, *, bias: float) -> Contact:
    """Return contact j as a contact problem in the jump from `velocity` sees it: Coulomb with the final slip."""
    contact = problem.contacts[j]
    along = {}
    if contact.rubs:
        slip = contact.tangent @ velocity + contact.slip_rate0
        along = {"tangent": contact.tangent, "tangent_bias": -slip, **contact.law}
    if contact.kind == LOADED:
        return Contact(None, of=contact.of, **along) if along and contact.of else Contact(None, normal_force=0.0)
    return Contact(contact.normal, bias=bias, bilateral=contact.kind == HELD, **along)


def is_nothing(problem: ImpactProblem, jump: Jump) -> bool:
    """Whether a jump is none: the impulses are rounding of what the slips could make."""
    change = float(np.sqrt(max(float(jump.w @ problem.mass @ jump.w), 0.0)))
    return change <= 1e-9 * float(np.sqrt(2 * problem.kinetic(problem.velocity)))
