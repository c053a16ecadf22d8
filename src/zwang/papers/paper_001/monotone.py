"""Section 4 of paper 001 on the operator itself, along lines and in planes: coercive, monotone, and what follows."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang import Contact, ContactProblem
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_001.families import ask, generic
from zwang.papers.wording import num, share
from zwang.papers.workshop import Workshop


def spatial(rng: Any, *, n: int = 6, k: int = 2, rest: float = 1.0, friction: float = 0.6) -> ContactProblem:
    """Return random contacts whose friction acts in planes."""
    root = rng.normal(size=(n, n))
    contacts = [
        Contact(
            rng.normal(size=n),
            tangent=rng.normal(size=(2, n)),
            friction=float(rng.uniform(0, friction)),
            slip=np.zeros(2) if rng.random() < rest else rng.normal(size=2),
        )
        for _ in range(k)
    ]
    return ContactProblem(root @ root.T / n + 0.5 * np.eye(n), 2 * rng.normal(size=n), contacts)


def _pairs(rng: Any, inequality: Any, count: int) -> list[tuple[float, float]]:
    """Return (Psi(N) - Psi(N'), N - N') and |N - N'|^2 for random admissible pairs."""
    found = []
    for _ in range(count):
        first, second = (np.abs(3 * rng.normal(size=len(inequality.contacts))) for _ in range(2))
        step = first - second
        found.append((float((inequality.operator(first) - inequality.operator(second)) @ step), float(step @ step)))
    return found


@claim(
    "001-coercive",
    place="proposition 1, (4.1) and (4.2), friction along lines and in planes",
    statement="Where the operator is coercive the inequality has a solution.",
    printed="coercive Psi implies a solution",
    recorded="confirmed",
)
def coercive(shop: Workshop) -> Finding:
    rng, count = shop.rng(111), shop.many(30, 300)
    tested = missing = 0
    least = np.inf
    for case in range(count):
        problem = generic(rng, rest=0.5, friction=0.8) if case % 2 else spatial(rng, rest=0.5)
        found = ask(problem)
        inequality = found.inequality
        if inequality.least_eigenvalue <= 1e-2:
            continue
        tested, missing = tested + 1, missing + (not found.solutions)
        far = inequality.project(1e4 * np.abs(rng.normal(size=len(inequality.contacts))))
        grown = (inequality.operator(far) - inequality.operator(0 * far)) @ far / float(far @ far)
        least = min(least, float(grown) / inequality.least_eigenvalue)
    return Finding(
        computed=f"{tested} random problems with Omega > 0, along lines and in planes: far out the form grows at least "
        f"like {num(least, 4)} times the least eigenvalue of Omega times the square, and {missing} have no solution.",
        comparisons=(
            as_printed("problems without a solution", missing, 0),
            sound("they are coercive", least > 0.99),
            sound("enough were tested", tested > 8),
        ),
        data={"tested": tested},
    )


@claim(
    "001-strongly-monotone",
    place="(4.3), (4.4) and (4.6)",
    statement="The form of strong monotonicity is that of Omega: at least its least eigenvalue times the square.",
    printed="the form (4.4) of the operator is one with the matrix Omega of (4.8)",
    recorded="corrected",
    new="pairs of normal forces at rest at which the form is below that of Omega, and negative",
)
def strongly_monotone(shop: Workshop) -> Finding:
    rng, count = shop.rng(112), shop.many(12, 120)
    below = sliding = 0
    lowest, slid = np.inf, np.inf
    for _ in range(count):
        for rest in (1.0, 0.0):
            inequality = ask(spatial(rng, rest=rest, friction=1.5), certify=False).inequality
            for form, square in _pairs(rng, inequality, 12):
                part = form / square - inequality.least_eigenvalue
                if rest:
                    lowest, below = min(lowest, part), below + (part < -1e-9)
                else:
                    slid, sliding = min(slid, part), sliding + (part < -1e-9)
    return Finding(
        computed=f"Random pairs of normal forces, friction in planes. At rest the form is below the least eigenvalue "
        f"of Omega in {below} pairs, by up to {num(-lowest, 3)}; where every contact slides in {sliding}.",
        comparisons=(
            as_printed("pairs at rest below Omega", below, 0),
            as_corrected("pairs with every contact sliding below Omega", sliding, 0),
            as_corrected("at rest there are some", below > 0),
        ),
        corrected="It is that form where every contact slides. At rest the friction answers to the normal forces of "
        "all contacts, as (4.5) corrected says, and the form may be smaller.",
    )


@claim(
    "001-planes",
    place="theorem 11, theorem 12 and theorem 13 for friction in planes; (4.11), (4.12), (4.13) and (4.15)",
    statement="In planes the theorems hold as they do along lines: the inequality has the laws for its solutions, "
    "Omega > 0 gives existence, and one solution where every contact slides; at rest independent contacts always have "
    "one.",
    printed="two tangents in each contact plane: the setting of section 2",
    recorded="corrected",
    new="uniqueness at rest fails in planes even for one contact, and is proved case by case by searching all "
    "directions",
)
def planes(shop: Workshop) -> Finding:
    rng, count = shop.rng(113), shop.many(12, 150)
    worst, none, unique, slides = 0.0, 0, 0, 0
    for case in range(count):
        rest = (1.0, 0.0)[case % 2]
        found = ask(spatial(rng, rest=rest, friction=0.8))
        inequality = found.inequality
        worst = max([worst, *(inequality.residual(item.normal) for item in found.solutions)])
        positive = inequality.least_eigenvalue > 1e-9
        none += (positive or rest == 1.0) and not found.solutions
        if rest == 0.0 and positive:
            slides, unique = slides + 1, unique + (found.status.name == "UNIQUE")
    inverse = np.array([[3.74, 1.9, 4.27], [1.9, 3.69, 1.77], [4.27, 1.77, 5.09]])
    contact = Contact([0, 0, 1], tangent=[[1, 0, 0], [0, 1, 0]], friction=0.72)
    one = ask(ContactProblem(force=np.array([0.698296, 0.524118, -1.183994]), contacts=[contact], inverse_mass=inverse))
    several = len(one.solutions)
    return Finding(
        computed=f"{count} random spatial problems: solutions satisfy the inequality to {num(worst, 1)}; {none} at "
        f"rest or with Omega > 0 have none; where every contact slides and Omega > 0, {share(unique, slides)} have "
        f"exactly one. One contact at rest with Omega = {num(one.inequality.least_eigenvalue, 3)} has {several}.",
        comparisons=(
            as_printed("one contact at rest, Omega > 0: one solution", several, 1),
            as_corrected("the laws solve the inequality", worst, 0.0, tol=1e-7),
            as_corrected("problems at rest, or with Omega > 0, without a solution", none, 0),
            as_corrected("every contact slides, Omega > 0: exactly one", unique, slides),
            sound("such were tested", slides > 2),
        ),
        corrected="Existence as stated; uniqueness where every contact slides. At rest in a plane a positive Omega "
        "leaves several solutions, three for one contact.",
    )
