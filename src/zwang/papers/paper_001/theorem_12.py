"""Theorem 12 of paper 001: what a positive definite Omega proves, and what it doesn't."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang import Contact, ContactProblem
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_001.families import ask, body, generic, leaning, least_omega, random_ladder, sides
from zwang.papers.wording import num, share, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import new_figure

LADDER = "ladder"


@claim(
    "001-thm12-existence",
    place="theorem 12, existence",
    statement="If Omega is positive definite for all `|mubar| <= mu`, a solution exists for every force.",
    printed="Omega positive definite implies a solution",
    recorded="confirmed",
)
def existence(shop: Workshop) -> Finding:
    rng, count = shop.rng(72), shop.many(110, 3000)
    without, tested, residual = 0, 0, 0.0
    for _ in range(count):
        made = [
            lambda: generic(rng, rest=0.5, bilateral=0.3, bias=1.0, friction=0.9),
            lambda: generic(rng, rest=1.0, bias=1.0, friction=0.9),
            lambda: body(rng, rest=0.5, bias=1.0, friction=0.9),
            lambda: body(rng, rest=1.0, bias=1.0, friction=0.9),
        ][int(rng.integers(4))]()
        if least_omega(made) <= 1e-3:
            continue
        found = ask(made, certify=False)
        tested, without = tested + 1, without + (found.status.name == "NONE")
        residual = max(residual, found.residual if found.solutions else 0.0)
    return Finding(
        computed=f"{tested} random problems with a positive definite Omega (sliding, resting, one- and two-sided "
        f"contacts, random biases): {without} without a solution.",
        comparisons=(as_printed("problems without a solution", without, 0), sound("problems were tested", tested > 20)),
        residual=residual,
        data={"tested": tested},
    )


@claim(
    "001-thm12-uniqueness",
    place="theorem 12, uniqueness",
    statement="If Omega is positive definite for all `|mubar| <= mu`, the solution is unique.",
    printed="Omega positive definite implies a unique solution",
    recorded="corrected",
    systems=(LADDER,),
    errata=("ivanov-23",),
)
def uniqueness(shop: Workshop) -> Finding:
    values = {"g": 0.0, "mu": 0.8, "mu_wall": 0.4, "F1": 0.5, "F2": -1.0, "F3": 1.0}
    found = shop.ask(LADDER, **values)
    eigenvalue = least_omega(shop.problem(LADDER, **values))
    rng, count = shop.rng(73), shop.many(70, 1500)
    certified = failed = 0
    for _ in range(count):
        problem = body(rng, friction=0.6) if rng.random() < 0.5 else generic(rng, rest=0.7, friction=0.6)
        answer = ask(problem)
        if any(item.kind == "Theorem 12, corrected" for item in answer.certificates):
            certified += 1
            failed += answer.status.name not in {"UNIQUE", "UNIQUE_MOTION"}
    rows = np.array(sorted(map(tuple, found.accelerations)))

    def draw() -> Any:
        return _ladder_figure(found)

    return Finding(
        computed="Ladder at rest, 120°, mu = 0.8 and 0.4, F = (0.5, -1, 1): the smallest eigenvalue of Omega over all "
        f"mubar is {num(eigenvalue, 3)}, and there are {len(rows)} accelerations: "
        f"{'; '.join(vec(row, 4) for row in rows)}. The corrected condition held for {share(certified, count)} random "
        f"problems; {failed} of these had two accelerations.",
        comparisons=(
            as_printed("accelerations of the ladder", len(rows), 1),
            as_corrected("failures of the corrected condition", failed, 0),
            as_corrected("it was met", certified > 0),
            sound("Omega is positive definite", eigenvalue > 0),
            sound("rest is a solution", rows[0], [0.0, 0.0, 0.0], tol=1e-9),
            sound("slip is a solution", rows[-1], [0.2742, 0.0, 0.0914], tol=2e-4),
        ),
        corrected="Positive definiteness proves existence. Uniqueness, with friction along lines, needs, for every set "
        "K of resting contacts that stick and all signs of the others, that `n^T P_K (n + s mu t)` has a positive "
        "definite symmetric part, where P_K is the inverse mass with the tangents of K projected out; if every contact "
        "slides, Omega is enough.",
        residual=found.residual,
        data={"eigenvalue": eigenvalue, "accelerations": rows},
        pictures=(
            Picture(
                "two-motions",
                "The two answers of one ladder: the forces at rest are ranges, those of the slip are numbers.",
                draw,
            ),
        ),
    )


def _ladder_figure(found: Any) -> Any:
    from zwang.pictures import draw_forces

    figure, ax = new_figure((6.0, 2.9))
    draw_forces(found, ax=ax)
    ax.set_title("", loc="left")
    return figure


@claim(
    "001-thm12-mixed",
    place="theorem 12, a contact at rest beside a sliding one",
    statement="Omega positive definite implies one acceleration when one contact slides and another rests.",
    printed="unique solution, contacts of both kinds (case 3°)",
    recorded="refuted",
    errata=("ivanov-23",),
)
def mixed(shop: Workshop) -> Finding:
    root = math.sqrt(2)
    contacts = [
        Contact([1, 0, 0], tangent=[0, 1, 0], friction=2, slip=[-1.0]),
        Contact([0, 0, 1], tangent=[1 / root, 1 / root, 0], friction=1),
    ]
    problem = ContactProblem(np.eye(3), np.array([1, -1, -10 * root]) / root, contacts)
    found = ask(problem)
    rows = sorted(map(tuple, found.accelerations))
    eigenvalue = least_omega(problem)
    return Finding(
        computed=f"Unit mass, two contacts, one sliding: smallest eigenvalue {num(eigenvalue, 3)}, accelerations "
        f"{'; '.join(vec(row) for row in rows)}.",
        comparisons=(
            as_printed("number of accelerations", len(rows), 1),
            sound("Omega is positive definite", eigenvalue > 0),
            sound("the accelerations", rows, [(0, 0, 0), (0, 7 / root, 0), (1 / root, -1 / root, 0)]),
            sound("every mode was decided", found.complete),
        ),
        counterexample="A = I, n1 = e1, t1 = e2, mu1 = 2 sliding with v1 < 0; n2 = e3, t2 = (e1 + e2)/sqrt 2, mu2 = 1 "
        f"at rest; F = (1, -1, -10 sqrt 2)/sqrt 2 has {len(rows)} accelerations.",
        residual=found.residual,
    )


@claim(
    "001-thm12-plane-friction",
    place="theorem 12, one contact with friction in a plane",
    statement="Omega positive definite implies one acceleration for a single contact at rest with friction in a plane.",
    printed="unique solution for all admissible directions t",
    recorded="refuted",
    errata=("ivanov-23",),
)
def plane_friction(shop: Workshop) -> Finding:
    inverse = np.array([[3.74, 1.9, 4.27], [1.9, 3.69, 1.77], [4.27, 1.77, 5.09]])
    mu, force = 0.72, np.array([0.698296, 0.524118, -1.183994])
    # The last coordinate is the gap, the first two the slip.
    least = float(inverse[2, 2] - mu * np.linalg.norm(inverse[2, :2]))
    contact = Contact([0, 0, 1], tangent=[[1, 0, 0], [0, 1, 0]], friction=mu)
    found = ask(ContactProblem(force=force, contacts=[contact], inverse_mass=inverse))
    N = sorted((float(item.normal[0]) for item in found.solutions), reverse=True)
    return Finding(
        computed=f"Omega is at least {num(least, 3)} for every direction; the laws allow {len(N)} solutions, with N = "
        f"{vec(N, 5)}: {found.status.name}.",
        comparisons=(
            as_printed("number of solutions", len(N), 1),
            sound("Omega is positive", least > 0),
            sound("normal forces", N, [1.0123, 0.9437, 0.7105], tol=1e-4),
        ),
        counterexample=f"One contact at rest with friction in a plane, mu = 0.72: N = {vec(N, 4)}.",
        residual=found.residual,
    )


@claim(
    "001-thm12-one-contact",
    place="theorem 12, one contact with friction along a line",
    statement="For one contact with friction along a line, positive Omega means exactly one solution, at rest or "
    "sliding, one- or two-sided.",
    printed="`a_nn - mu |a_nt| > 0` implies a unique solution",
    recorded="confirmed",
)
def one_contact(shop: Workshop) -> Finding:
    rng, count = shop.rng(74), shop.many(120, 2000)
    tested = failed = 0
    for _ in range(count):
        problem = generic(rng, n=3, k=1, rest=0.5, bilateral=0.5, friction=1.5, bias=1.0)
        if least_omega(problem) > 1e-6:
            tested += 1
            failed += ask(problem, certify=False).status.name != "UNIQUE"
    return Finding(
        computed=f"{tested} random single contacts with positive Omega: {failed} without exactly one solution.",
        comparisons=(as_printed("failures", failed, 0), sound("some were tested", tested > 20)),
        data={"tested": tested},
    )


@claim(
    "001-thm12-frictionless",
    place="theorem 12, case 1°",
    statement="Without friction the condition is always met: exactly one solution for independent constraints.",
    printed="`T = 0`: the condition of the theorem holds",
    recorded="confirmed",
)
def frictionless(shop: Workshop) -> Finding:
    rng, count = shop.rng(75), shop.many(60, 600)
    least, failed = math.inf, 0
    for _ in range(count):
        problem = generic(rng, n=5, k=3, friction=0.0, bilateral=0.4, bias=1.0)
        least = min(least, least_omega(problem))
        failed += ask(problem, certify=False).status.name != "UNIQUE"
    return Finding(
        computed=f"{count} random problems without friction: smallest eigenvalue of Omega {num(least, 2)}, {failed} "
        "without exactly one solution.",
        comparisons=(as_printed("failures", failed, 0), as_printed("Omega positive definite", bool(least > 0))),
    )


@claim(
    "001-thm12-sliding",
    place="theorem 12, case 2°",
    statement="If every contact slides, positive definite Omega means exactly one solution for every force.",
    printed="unique solution; one admissible direction per contact makes the test easier",
    recorded="confirmed",
)
def all_sliding(shop: Workshop) -> Finding:
    families = {
        "4 coordinates, 2 contacts": {"n": 4, "k": 2, "friction": 1.5},
        "the same, two-sided": {"n": 4, "k": 2, "friction": 1.5, "bilateral": 1.0},
        "5 coordinates, 3 contacts": {"n": 5, "k": 3, "friction": 1.0},
    }
    rng, count = shop.rng(76), shop.many(40, 800)
    table: dict[str, list[int]] = {}
    wrong = 0
    for name, options in families.items():
        exact = literal = weak = 0
        for _ in range(count):
            problem = generic(rng, rest=0.0, **options)  # type: ignore[arg-type]
            proof = next(
                item for item in ask(problem).certificates if item.kind in {"P-matrix", "coherent orientation"}
            )
            two_sided = bool(problem.rows.bilateral.any())
            passes = least_omega(problem) > 0
            exact, literal = exact + proof.unique, literal + passes
            weak += passes if two_sided else least_omega(problem, along=True) > 0
            wrong += passes and not proof.unique
        table[name] = [exact, literal, weak]

    def draw() -> Any:
        figure, ax = new_figure((6.2, 2.6))
        for place, (label, offset) in enumerate(
            (("exactly one solution", 0.25), ("Ω > 0 along the slip", 0.0), ("Ω > 0 for all |μ̄| ≤ μ", -0.25))
        ):
            order = (0, 2, 1)[place]
            ax.barh(np.arange(3) + offset, [100 * row[order] / count for row in table.values()], 0.22, label=label)
        ax.set_yticks(range(3), list(table))
        ax.set_xlabel("systems [%]")
        ax.set_ylim(-0.6, 3.4)
        ax.legend(ncols=3, loc="upper right", fontsize=8)
        return figure

    told = "; ".join(f"{name}: {row[0]}, {row[1]}, {row[2]}" for name, row in table.items())
    return Finding(
        computed=f"Random systems whose contacts all slide, {count} per family: exactly unique for every force, met by "
        f"theorem 12 for all |mubar| <= mu, met along the slip only: {told}. {wrong} met the condition without being "
        f"unique.",
        comparisons=(as_printed("systems that meet it and are not unique", wrong, 0),),
        data=table,
        pictures=(Picture("conservative", "How much of what is unique the test of theorem 12 sees.", draw),),
    )


@claim(
    "001-thm12-frequency",
    place="theorem 12 and example 6",
    statement="Ladders at rest that meet (4.10), (4.16) and (4.17) have one acceleration, whatever the force.",
    printed="the conditions of theorem 12 reduce to (4.10), (4.16) and (4.17)",
    recorded="refuted",
    systems=(LADDER,),
    errata=("ivanov-23",),
    profile="full",
)
def frequency(shop: Workshop) -> Finding:
    rng, count = shop.rng(100), shop.many(150, 2500)
    tested = several = none = 0
    example = ""
    for _ in range(count):
        l, degrees = random_ladder(rng)
        a, h = sides(l, degrees)
        values: dict[str, float] = leaning(l, degrees) | {"g": 0.0}
        values |= {"mu": float(rng.uniform(0, 1) / (a * h) * (1 + a**2)), "mu_wall": float(rng.uniform(0, 1))}
        values |= {f"F{i + 1}": float(value) for i, value in enumerate(rng.normal(size=3))}
        if least_omega(shop.problem(LADDER, **values)) <= 0:
            continue
        found = shop.ask(LADDER, {"certify": False}, **values)
        tested, none = tested + 1, none + (found.status.name == "NONE")
        if found.status.name == "MULTIPLE":
            several += 1
            example = example or ", ".join(f"{key} = {num(value, 4)}" for key, value in values.items())
    return Finding(
        computed=f"{tested} random ladders with positive definite Omega: {none} without a solution, {several} with "
        "several accelerations.",
        comparisons=(as_printed("several accelerations", several, 0), sound("existence never fails", none, 0)),
        counterexample=example,
        data={"tested": tested, "several": several},
    )
