"""Poisson's restitution as two problems, compression and expansion (Glocker and Pfeiffer).

Compression ends where no contact approaches any more: Newton's problem with restitution zero. Expansion gives back at
least e times the normal impulse of compression, more only where the contact would close again:

    0 <= P_E - e P_C,   rate_E >= 0,   one of the two zero,

with Coulomb's law between the impulses of each phase and the slip at its end. Writing P_E = e P_C + P', the friction
bound mu P_E is that of two frictions on one slip, a given one of e P_C and Coulomb's on P': every friction impulse
within mu (e P_C + P') is a sum of two such. So expansion is a contact problem with one more contact per expansion.

The impulses never do positive work if all coefficients are equal: with P and u the impulses and relative velocities
of both kinds, G the Delassus matrix, P_C u_C <= 0 and e P_C,n rate_E + F_E slip_E <= e P_C (u_E - u_C) = e P_C G P_E,
so the work is at most e P_C G P_E - P_C G P_C / 2 - P_E G P_E / 2 <= 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.problem import Contact, ContactProblem
from zwang._numerics.impacts.impact_problem import CONTACT, HELD, LOADED, ImpactProblem
from zwang._numerics.impacts.jumps import Jump, Jumps, all_jumps
from zwang._numerics.impacts.newton_restitution import friction_contact, is_nothing, newton_jumps

Array = NDArray[np.float64]


def poisson_jumps(problem: ImpactProblem, restitution: Array) -> Jumps:
    """Return every outcome of Poisson's law: every expansion of every compression."""
    compressions = newton_jumps(problem, np.zeros(len(problem.contacts)))
    found: list[Jump] = []
    complete, continuum = compressions.complete, compressions.continuum
    for first in compressions.found:
        if problem.without_collision and is_nothing(problem, first):
            continue
        later = expansions(problem, first, restitution)
        complete, continuum = complete and later.complete, continuum or later.continuum
        for second in later.found:
            found.append(
                Jump(
                    first.w + second.w,
                    first.normal + second.normal,
                    first.tangential + second.tangential,
                    max(first.residual, second.residual),
                )
            )
    return Jumps(tuple(found), complete, continuum)


def expansions(problem: ImpactProblem, first: Jump, restitution: Array) -> Jumps:
    """Return the solutions of expansion after a compression, the impulses of its two parts added up."""
    k, velocity = len(problem.contacts), problem.velocity + first.w
    is_contact = np.array([contact.kind == CONTACT for contact in problem.contacts], dtype=bool)
    least = np.where(is_contact, restitution * np.maximum(first.normal, 0.0), 0.0)
    if not least.any():
        return Jumps((Jump(np.zeros_like(velocity), np.zeros(k), np.zeros((k, 2)), 0.0),), True)
    rates = problem.rates_of(velocity)
    contacts, given, force = [], [], np.zeros(len(velocity))
    for j, contact in enumerate(problem.contacts):
        # Compression left what it closed at rest up to rounding, which must not read as a contact that closes.
        rests = contact.kind == HELD or abs(first.normal[j]) > 0 or rates[j] < 0
        contacts.append(friction_contact(problem, j, velocity, bias=0.0 if rests else -float(rates[j])))
        force = force + least[j] * contact.normal  # zero for friction that others load
        if least[j] > 0 and contact.rubs:
            given.append(j)
        if contact.kind == LOADED and contact.rubs and least[list(contact.of)].any():
            if len(contact.of) > 1:  # the length of a sum of impulses is no sum of lengths
                return Jumps((), False)
            least[j] = least[contact.of[0]]
            given.append(j)
    jumps = all_jumps(
        ContactProblem(problem.mass, force, contacts + [_given(problem, j, velocity, least) for j in given])
    )
    found = []
    for jump in jumps.found:
        normal, tangential = jump.normal[:k] + np.where(is_contact, least, 0.0), jump.tangential[:k].copy()
        tangential[given] += jump.tangential[k:]
        found.append(Jump(jump.w, normal, tangential, jump.residual))
    return Jumps(tuple(found), jumps.complete, jumps.continuum)


def _given(problem: ImpactProblem, j: int, velocity: Array, least: Array) -> Contact:
    """Return the friction of the impulse that expansion gives back in any case."""
    contact = problem.contacts[j]
    slip = contact.tangent @ velocity + contact.slip_rate0
    load = float(least[j])
    return Contact(None, tangent=contact.tangent, normal_force=load, tangent_bias=-slip, **contact.law)
