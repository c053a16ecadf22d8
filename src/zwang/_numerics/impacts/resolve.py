"""`resolve_impact`: one velocity after the impact, or the reason why that is a choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.impacts.energetic import energetic_impact
from zwang._numerics.impacts.impact_problem import (
    CONTACT,
    HELD,
    ImpactContact,
    ImpactOutcome,
    ImpactProblem,
    outcome_of,
    unchanged,
    undecided,
)
from zwang._numerics.impacts.jumps import Jumps
from zwang._numerics.impacts.newton_restitution import is_nothing, newton_jumps
from zwang._numerics.impacts.poisson import poisson_jumps
from zwang._numerics.impacts.sequences import Orders, every_order
from zwang.errors import DeclarationError

Array = NDArray[np.float64]

LAWS = ("newton", "poisson", "energetic")
AGREE = 1e-9
"""Velocities in the kinetic metric that differ by less, relative to the change, are one."""
CLEAR = 1e-7
"""Impulses and slips beyond this part of their terms have a sign beyond doubt."""
EXACT = 1e-11
"""What a rate after an impact may miss, relative to that before it."""
GAIN = 1e-9
"""Work of the impulses up to this, relative to the kinetic energy of the jump, is rounding."""


def resolve_impact(problem: ImpactProblem, law: str | None = None) -> ImpactOutcome:
    """Return the velocity after an impact, or why it is not determined.

    Parameters
    ----------
    problem : ImpactProblem
        Put in every closed contact (gap zero), also those that rest: impulses travel through them. Put in every
        one-sided constraint on velocities, active or not, and every held row. With nothing closing, and without
        `without_collision`, the velocity stays as it is.
    law : {'newton', 'poisson', 'energetic'}, optional
        Newton: rate+ = -e rate- on the contacts that carry an impulse, Coulomb's law on the impulses with the slip
        after the impact (Moreau). Poisson: compression and expansion as two such problems, with e times the normal
        impulse of compression as the least of expansion (Glocker, Pfeiffer). Energetic: one contact, followed through
        its impulse, e^2 = -W_expansion / W_compression. None: only what all laws agree on, and, with several contacts,
        every order of single impacts (no friction and one contact, or friction and contacts that happen not to matter).

    Returns
    -------
    ImpactOutcome
        `choice` is None, or the reason in words for stopping: no restitution was declared; the laws differ and none
        was named; the law has several outcomes, or none; Newton's law would make energy (the figure is in the text);
        the energetic law meets a second contact. `alternatives` holds the outcomes to choose from, if known.

    Examples
    --------
    A ball meets the floor: the three laws agree.

    >>> from zwang._numerics.impacts.impact_problem import ImpactContact
    >>> floor = ImpactContact([0, 1], restitution=0.5, name="floor")
    >>> resolve_impact(ImpactProblem(np.eye(2), [1.0, -2.0], [floor])).velocity
    array([1., 1.])

    The tip of a leaning rod with friction does not bounce by the same amount under all of them.

    >>> tip = ImpactContact([0, 1], restitution=0.5, friction=0.4, tangent=[1, 0], name="tip")
    >>> rod = ImpactProblem(np.linalg.inv([[2.0, 1.0], [1.0, 3.0]]), [-0.3, -1.0], [tip])
    >>> resolve_impact(rod).choice
    "the laws of impact differ at 'tip' and none was named: give impact='newton', 'poisson' or 'energetic'"
    >>> [(resolve_impact(rod, law).velocity.round(6) + 0.0).tolist() for law in ("newton", "poisson", "energetic")]
    [[0.0, 0.5], [0.034, 0.442], [0.067925, 0.449691]]
    """
    if law is not None and law not in LAWS:
        raise DeclarationError(f"impact: {law!r} is no law of impact; needed {', '.join(map(repr, LAWS))} or None.")
    if not problem.closing.any() and not problem.without_collision:
        return unchanged(problem)
    missing = [j for j in _impacting(problem) if problem.contacts[j].restitution is None]
    if missing:
        names = ", ".join(f"'{problem.name_of(j)}'" for j in missing)
        return undecided(
            problem,
            f"an impact at {names} and no restitution was declared there: give restitution= between 0 and 1",
            law or "any",
        )
    simple = _one_ideal_contact(problem)
    if simple is not None:
        return simple
    if law is not None:
        return (_one_rough_contact(problem) if law == "newton" else None) or _by_law(problem, law)
    return _common(problem)


def _impacting(problem: ImpactProblem) -> list[int]:
    """Return the contacts that close, or, without collision, those that rub."""
    found = [j for j, one in enumerate(problem.contacts) if one.kind == CONTACT and problem.closing[j]]
    if problem.without_collision and not found:
        found = [j for j, one in enumerate(problem.contacts) if one.kind == CONTACT and one.rubs]
    return found


def _one_ideal_contact(problem: ImpactProblem) -> ImpactOutcome | None:
    """Return the outcome of one contact and held rows without friction in closed form, if that is what it is."""
    places = _impacting(problem)
    if len(places) != 1 or any(one.rubs for one in problem.contacts):
        return None
    j = places[0]
    held = [i for i, one in enumerate(problem.contacts) if one.kind == HELD]
    if problem.closing[held].any() or (problem.closing.sum() > 1):
        return None
    e = problem.contacts[j].restitution or 0.0
    rows = problem.normals[[j, *held]]
    gram = rows @ problem.response @ rows.T
    target = np.zeros(len(rows))
    target[0] = -(1 + e) * problem.rates[j]
    try:
        impulses = np.linalg.solve(gram, target)
    except np.linalg.LinAlgError:
        return None
    if np.abs(gram @ impulses - target).max() > 1e-11 * abs(target[0]) or impulses[0] < 0:
        return None
    velocity = problem.velocity + problem.response @ rows.T @ impulses
    after = problem.rates_of(velocity)
    for i, one in enumerate(problem.contacts):
        if i != j and one.kind != HELD and after[i] < 0 and after[i] - problem.rates[i] < -1e-12 * abs(target[0]):
            return None
    normal = np.zeros(len(problem.contacts))
    normal[[j, *held]] = impulses
    residual = abs(float(after[j]) + e * float(problem.rates[j])) / abs(float(problem.rates[j]))
    return outcome_of(problem, velocity, normal, np.zeros((len(normal), 2)), "any", residual)


def _one_rough_contact(problem: ImpactProblem) -> ImpactOutcome | None:
    """Return Newton's outcome of one contact with friction along a line and held rows, in closed form.

    None where it is something else, or not exactly one mode of Coulomb's law is admissible beyond doubt.
    """
    places = _impacting(problem)
    others = [i for i in range(len(problem.contacts)) if i not in places]
    if len(places) != 1 or problem.without_collision or any(problem.contacts[i].kind != HELD for i in others):
        return None
    j, contact = places[0], problem.contacts[places[0]]
    if len(contact.tangent) != 1 or any(problem.contacts[i].rubs for i in others) or problem.closing.sum() > 1:
        return None
    rows = np.vstack([contact.normal, contact.tangent, problem.normals[others]])
    gram = rows @ problem.response @ rows.T
    reply = np.zeros((len(rows), 2))  # impulses of the held rows to one of the contact and one of its friction
    reply[:2] = np.eye(2)
    if others:
        if np.linalg.cond(gram[2:, 2:]) > 1 / CLEAR:
            return None
        reply[2:] = -np.linalg.solve(gram[2:, 2:], gram[2:, :2])
    rate, slip = float(problem.rates[j]), float(problem.slip_of(j, problem.velocity)[0])
    impulses = _admissible(gram[:2] @ reply, rate, slip, contact.restitution or 0.0, contact.sides or (0.0, 0.0))
    if impulses is None:
        return None
    every = reply @ impulses
    velocity = problem.velocity + problem.response @ rows.T @ every
    normal, tangential = np.zeros(len(problem.contacts)), np.zeros((len(problem.contacts), 2))
    normal[[j, *others]], tangential[j, 0] = every[[0, *range(2, len(rows))]], every[1]
    missed = abs(float(problem.rates_of(velocity)[j]) + (contact.restitution or 0.0) * rate) / abs(rate)
    outcome = outcome_of(problem, velocity, normal, tangential, "newton", missed)
    return outcome if missed <= EXACT and _gain(problem, outcome) <= 0.0 else None


def _admissible(answer: Array, rate: float, slip: float, e: float, sides: tuple[float, float]) -> Array | None:
    """Return the impulses (normal, friction) of the only admissible mode; None where that is not beyond doubt.

    `answer` (2, 2): how rate and slip change with the impulses.
    """
    if not np.linalg.det(answer) > CLEAR * answer[0, 0] * answer[1, 1]:
        return None
    found = []
    back = -(1 + e) * rate
    for sign, mu in ((1, sides[0]), (-1, sides[1])):
        push = np.array([1.0, -sign * mu])
        along = float(answer[0] @ push)
        if abs(along) <= CLEAR * answer[0, 0]:
            return None
        P = back / along
        after = sign * (slip + P * float(answer[1] @ push))
        if P > 0 and abs(after) <= CLEAR * (abs(slip) + P * float(np.abs(answer[1]) @ np.abs(push))):
            return None
        if P > 0 and after > 0:
            found.append(P * push)
    P, F = np.linalg.solve(answer, [back, -slip])
    room = min(float(F + sides[0] * P), float(sides[1] * P - F))
    if P > 0 and abs(room) <= CLEAR * (abs(F) + max(sides) * P):
        return None
    if P > 0 and room > 0:
        found.append(np.array([P, F]))
    return found[0] if len(found) == 1 else None


def _by_law(problem: ImpactProblem, law: str) -> ImpactOutcome:
    if law == "energetic":
        return _energetic(problem)
    e = np.array([one.restitution or 0.0 for one in problem.contacts])
    jumps = newton_jumps(problem, e) if law == "newton" else poisson_jumps(problem, e)
    outcomes: list[ImpactOutcome] = []
    for jump in jumps.found:
        if problem.without_collision and is_nothing(problem, jump):
            continue
        one = outcome_of(problem, problem.velocity + jump.w, jump.normal, jump.tangential, law, jump.residual)
        # Impulses that differ where hinges hold the contact, and make the same jump, are one outcome.
        if not any(_same(problem, one, other) for other in outcomes):
            outcomes.append(one)
    if len(outcomes) != 1 or jumps.continuum:
        return undecided(problem, _how_many(law, outcomes, jumps), law, outcomes)
    (outcome,) = outcomes
    silent = [j for j in outcome.carrying if _undeclared(problem, j)] if law == "poisson" else []
    if silent:
        names = ", ".join(f"'{problem.name_of(j)}'" for j in silent)
        reason = f"an impulse goes through {names}, where no restitution was declared: give restitution= there"
        return undecided(problem, reason, law, outcomes)
    gained = _gain(problem, outcome)
    if gained > GAIN:
        return undecided(problem, _too_much(problem, outcome), law, outcomes)
    return outcome


def _undeclared(problem: ImpactProblem, j: int) -> bool:
    return problem.contacts[j].kind == CONTACT and problem.contacts[j].restitution is None


def _gain(problem: ImpactProblem, outcome: ImpactOutcome) -> float:
    jump = outcome.velocity - problem.velocity
    return outcome.contact_work / max(problem.kinetic(jump), 1e-300)


def _too_much(problem: ImpactProblem, outcome: ImpactOutcome) -> str:
    before = problem.kinetic(problem.velocity)
    share = f", {outcome.contact_work / before:.3%} of the kinetic energy" if before > 0 else ""
    return (
        f"{outcome.law.capitalize()}'s law would make energy: the impulses give {outcome.contact_work:.6g} J{share}. "
        f"Name another law (the energetic one never does), or a smaller restitution"
    )


def _how_many(law: str, outcomes: Sequence[ImpactOutcome], jumps: Jumps) -> str:
    name = f"{law.capitalize()}'s law of impact"
    if jumps.continuum:
        return f"{name} has a continuum of outcomes here"
    if outcomes:
        return f"{name} has {len(outcomes)} outcomes here"
    what = "has no outcome here" if jumps.complete else "has no outcome that was found"
    return f"{name} {what}"


def _energetic(problem: ImpactProblem) -> ImpactOutcome:
    places = _impacting(problem)
    if not places:  # what jumps has no restitution (a limit on a speed that changes at once)
        return _by_law(problem, "newton")
    if len(places) > 1:
        names = ", ".join(f"'{problem.name_of(j)}'" for j in places)
        reason = f"{len(places)} contacts close together ({names}), and the energetic law knows one contact"
        return undecided(problem, reason, "energetic")
    outcome = energetic_impact(problem, places[0], problem.contacts[places[0]].restitution or 0.0)
    if outcome.choice is None and problem.without_collision and not outcome.carrying:
        return undecided(problem, "no impact without collision starts here: friction does not press", "energetic")
    return outcome


def _common(problem: ImpactProblem) -> ImpactOutcome:
    """Return what the laws agree on; with several contacts, what single impacts in every order agree on too."""
    places = _impacting(problem)
    told = [_by_law(problem, law) for law in ("newton", "poisson")]
    energetic = _energetic(problem)
    if energetic.choice is None:  # it has no say where an impulse goes through several contacts
        told.append(energetic)
    orders = Orders(())
    several = sum(one.kind == CONTACT for one in problem.contacts) > 1
    if several and problem.closing.any() and places and not problem.without_collision:
        orders = every_order(problem, single_impacts)
    known = [*(one for one in told if one.choice is None), *orders.outcomes]
    agreed = all(_same(problem, known[0], other) for other in known[1:])
    if agreed and orders.reason is None and all(one.choice is None for one in told):
        return replace(known[0], law="any")
    closing = np.flatnonzero(problem.closing).tolist() or places
    names = ", ".join(f"'{problem.name_of(j)}'" for j in closing)
    laws = "'newton', 'poisson' or 'energetic'" if energetic.choice is None else "'newton' or 'poisson'"
    what = "the laws of impact differ" if not agreed else "the laws of impact don't all have an outcome"
    if orders.reason is not None:
        what = orders.reason if agreed else f"{what}, {orders.reason},"
    elif orders.outcomes and not agreed:
        what = "the laws of impact and single impacts in every order differ"
    reason = f"{what} at {names} and none was named: give impact={laws}"
    return undecided(problem, reason, "any", _distinct(problem, known))


def _distinct(problem: ImpactProblem, known: Sequence[ImpactOutcome]) -> list[ImpactOutcome]:
    """Return one outcome for each velocity, named by all that gives it."""
    kept: list[ImpactOutcome] = []
    for one in known:
        for i, other in enumerate(kept):
            if _same(problem, one, other):
                kept[i] = replace(other, law=f"{other.law}, {one.law}")
                break
        else:
            kept.append(one)
    return kept


def single_impacts(problem: ImpactProblem, j: int) -> list[ImpactOutcome] | str:
    """Return the outcomes of every law where contact j strikes alone, or why there is none, in words.

    Impulses are those of all contacts; the laws that agree are one outcome, called 'any'.
    """
    if problem.contacts[j].restitution is None:
        return f"an impact reaches '{problem.name_of(j)}', where no restitution was declared: give restitution= there"
    places = [i for i, one in enumerate(problem.contacts) if i == j or one.kind != CONTACT]
    alone = replace(problem, contacts=tuple(_loaded_by(problem.contacts[i], places) for i in places))
    simple = _one_ideal_contact(alone)
    told = [simple] if simple is not None else [_by_law(alone, law) for law in ("newton", "poisson")]
    for one in told:
        if one.choice is not None:
            return one.choice
    if simple is None and (energetic := _energetic(alone)).choice is None:
        told.append(energetic)
    found = [_spread(one, places, len(problem.contacts)) for one in _distinct(alone, told)]
    return [replace(found[0], law="any")] if len(found) == 1 else found


def _loaded_by(contact: ImpactContact, places: list[int]) -> ImpactContact:
    """Return a contact of a problem that keeps these contacts alone."""
    return replace(contact, of=tuple(places.index(i) for i in contact.of if i in places)) if contact.of else contact


def _spread(one: ImpactOutcome, places: list[int], count: int) -> ImpactOutcome:
    """Return an outcome with its impulses among those of all contacts."""
    normal, tangential = np.zeros(count), np.zeros((count, 2))
    normal[places], tangential[places] = one.normal, one.tangential
    return replace(one, normal=normal, tangential=tangential)


def _same(problem: ImpactProblem, one: ImpactOutcome, other: ImpactOutcome) -> bool:
    apart, jump = one.velocity - other.velocity, one.velocity - problem.velocity
    return problem.kinetic(apart) <= AGREE**2 * max(problem.kinetic(jump), 1e-300)
