"""Section 2 of paper 001: friction with known normal forces, theorem 10 and what its proof says."""

from __future__ import annotations

from typing import Any

import numpy as np

from zwang import Contact, ContactProblem, reactions
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_001.pile import PILE, pushes, unit_of
from zwang.papers.wording import num, share, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import new_figure

PAIR = "two_particles"


def least_squares(mass: Any, x: Any, tangents: Any, bound: Any, offset: Any = 0.0) -> Any:
    """Return the friction forces within bounds that make (x + T, A^-1 (x + T))/2 - (T, offset) least.

    By coordinate descent, which knows nothing of contact modes; the program is convex.
    """
    gram = tangents @ np.linalg.solve(mass, tangents.T)
    slope = tangents @ np.linalg.solve(mass, x) - offset
    T = np.zeros(len(bound))
    for _ in range(20_000):
        before = T.copy()
        for i in range(len(T)):
            rest = slope[i] + gram[i] @ T - gram[i, i] * T[i]
            T[i] = np.clip(-rest / gram[i, i], -bound[i], bound[i])
        if np.abs(T - before).max(initial=0.0) <= 1e-15 * (1 + np.abs(T).max(initial=0.0)):
            break
    return T


def _random(rng: Any, offset: bool) -> tuple[Any, Any, Any, Any, Any]:
    n, k = 4, 3
    root = rng.normal(size=(n, n))
    mass = root @ root.T / n + 0.5 * np.eye(n)
    shift = rng.normal(size=k) if offset else np.zeros(k)
    return mass, 2 * rng.normal(size=n), rng.normal(size=(k, n)), rng.uniform(0.1, 1.5, size=k), shift


def _ask(mass: Any, force: Any, tangents: Any, bound: Any, offset: Any) -> Any:
    contacts = [
        Contact(None, tangent=row, friction=1.0, normal_force=limit, tangent_bias=shift)
        for row, limit, shift in zip(tangents, bound, offset, strict=True)
    ]
    return reactions(ContactProblem(mass, force, contacts))


@claim(
    "001-pozharitskii",
    place="(2.2)",
    statement="With known normal forces the acceleration makes a convex function least, in which sliding contacts "
    "contribute their friction and resting ones the absolute value of their acceleration.",
    printed="`Z'(w) = (w, A w)/2 - (F, w) - (T, w) + mu_1 N_1 |w1| + ...`",
    recorded="confirmed",
    systems=(PILE,),
)
def pozharitskii(shop: Workshop) -> Finding:
    rng, unit = shop.rng(31), unit_of(shop)
    least, residual, count = np.inf, 0.0, shop.many(25, 250)
    for _ in range(count):
        speeds = rng.choice([-1.0, 0.0, 0.0, 1.0], size=3)
        values = {f"v_q{i + 1}": float(speeds[i]) for i in range(3)} | pushes(rng.uniform(-6, 6, size=3), unit)
        found, problem = shop.ask(PILE, **values), shop.problem(PILE, **values)
        bound = problem.rows.friction * problem.rows.normal_force
        w = found.accelerations[0]

        def Z(w: Any, problem: Any = problem, bound: Any = bound, speeds: Any = speeds) -> Any:
            sliding = -bound * np.sign(speeds)
            rest = np.where(speeds == 0, bound, 0.0)
            return w @ problem.mass @ w / 2 - problem.force @ w - sliding @ w + rest @ np.abs(w)

        size = 1 + abs(Z(w))
        for d in rng.normal(size=(40, 3)) * 10.0 ** rng.uniform(-6, 1, size=(40, 1)):
            least = min(least, float(Z(w + d) - Z(w)) / size)
        residual = max(residual, found.residual)
    return Finding(
        computed=f"{count} piles with random pushes and velocities, 40 random departures each, small and large: the "
        f"function never fell; its smallest change was {num(least, 2)}.",
        comparisons=(as_printed("least change of the function", min(least, 0.0), 0.0, tol=1e-12),),
        residual=residual,
    )


@claim(
    "001-thm10-rest",
    place="theorem 10, contacts at rest",
    statement="With given normal forces and all contacts at rest, the friction forces are the projection that makes "
    "`(x + T, A^-1 (x + T))` least within the bounds.",
    printed="`Phi(T) = (x + T)^2/2 -> min`, `|T_j| <= mu_j |N_j|`",
    recorded="confirmed",
)
def theorem_10(shop: Workshop) -> Finding:
    rng, count = shop.rng(32), shop.many(60, 600)
    worst = residual = 0.0
    for _ in range(count):
        mass, force, tangents, bound, _ = _random(rng, offset=False)
        found = _ask(mass, force, tangents, bound, np.zeros(3))
        w = np.linalg.solve(mass, force + tangents.T @ least_squares(mass, force, tangents, bound))
        worst = max(worst, float(np.abs(found.accelerations[0] - w).max()))
        residual = max(residual, found.residual)
    return Finding(
        computed=f"{count} random systems of three contacts: accelerations from the laws and from the least Phi differ "
        f"by at most {num(worst, 1)}.",
        comparisons=(as_printed("acceleration", worst, 0.0, tol=1e-8),),
        residual=residual,
    )


@claim(
    "001-thm10-sliding",
    place="theorem 10 as worded",
    statement="The friction forces of all contacts, sliding ones included, make Phi least.",
    printed="values `T_j` that obey (2.1) minimize (2.3), for every j",
    recorded="corrected",
    systems=(PILE,),
    errata=("ivanov-5",),
)
def theorem_10_sliding(shop: Workshop) -> Finding:
    unit = unit_of(shop)
    # Nothing pushes; the top block slides to the right.
    found = shop.ask(PILE, v_q1=1.0, **pushes((0, 0, 0), unit))
    problem = shop.problem(PILE, v_q1=1.0, **pushes((0, 0, 0), unit))
    bound = problem.rows.friction * problem.rows.normal_force
    T = found.solutions[0].tangential
    everywhere = least_squares(problem.mass, problem.force, problem.rows.tangent, bound)
    moved = problem.force + problem.rows.tangent[0] * -bound[0]
    fixed = least_squares(problem.mass, moved, problem.rows.tangent[1:], bound[1:])
    return Finding(
        computed=f"No push, the top block sliding: T = {vec(T / unit)} in units of mu m g; the least Phi over all "
        f"bounds is at {vec(everywhere / unit)}, over those of the resting contacts at {vec(fixed / unit)}.",
        comparisons=(
            as_printed("T minimizes over every bound", T / unit, everywhere / unit, tol=1e-8),
            as_corrected("T1 = -mu N1", T[0] / unit, -bound[0] / unit),
            as_corrected("the others minimize", T[1:] / unit, fixed / unit, tol=1e-8),
        ),
        corrected="Only contacts at rest are minimized over; a sliding contact has the one force "
        "`-mu N v/|v|`, which belongs to x.",
        residual=found.residual,
    )


@claim(
    "001-thm10-single-forces",
    place="theorem 10, uniqueness",
    statement="The friction forces themselves are determined.",
    printed="unique minimum of the convex function (2.3)",
    recorded="corrected",
    systems=(PAIR,),
    errata=("ivanov-5",),
)
def theorem_10_forces(shop: Workshop) -> Finding:
    found = shop.ask(PAIR, S=0.5)
    T = found.solutions[0].tangential
    shift = 0.1 * np.array([[1.0, 0.0], [-1.0, 0.0]])
    problem = shop.problem(PAIR, S=0.5)
    bound = problem.rows.friction * problem.rows.normal_force
    rows = problem.rows.tangent
    force = [problem.force + rows.T @ item.ravel() for item in (T, T + shift)]
    inside = bool((np.linalg.norm(T + shift, axis=1) < bound).all())
    balanced = float(np.abs(np.linalg.solve(problem.mass, force[1])).max())
    return Finding(
        computed=f"Two particles on a rod, pulled with S = 0.5: rest with T = {vec(T[0], 4)}, {vec(T[1], 4)}, and as "
        f"well with {vec((T + shift)[0], 4)}, {vec((T + shift)[1], 4)}; the acceleration of the second set is "
        f"{num(balanced, 1)}. Status: {found.status.name}.",
        comparisons=(
            as_printed("one set of friction forces", found.status.name, "UNIQUE"),
            as_corrected("one acceleration, several sets of forces", found.status.name, "UNIQUE_MOTION"),
            as_corrected("another set lies within the bounds", inside),
            as_corrected("and balances as well", balanced, 0.0, tol=1e-12),
        ),
        corrected="The acceleration and the sum of the friction forces are unique; single forces need not be, as for "
        "forces along a rod that joins two contacts.",
        residual=found.residual,
    )


@claim(
    "001-thm10-multiplier",
    place="proof of theorem 10, after (2.4)",
    statement="A contact whose friction is at its bound has a Kuhn-Tucker multiplier of a definite sign.",
    printed="`lambda_j < 0`",
    recorded="corrected",
    systems=(PILE,),
    errata=("ivanov-6",),
)
def multiplier(shop: Workshop) -> Finding:
    unit = unit_of(shop)
    found = shop.ask(PILE, **pushes((2, 0, 3), unit))
    w, T = found.accelerations[0], found.solutions[0].tangential
    # (2.4) is stationary where (w, t_1) + 2 lambda T_1 = 0.
    value = float(-w[0] / (2 * T[0]))
    return Finding(
        computed=f"The top block slips with w1 = {num(w[0] / unit)} mu g and T1 = {num(T[0] / unit)} mu m g: "
        f"lambda = {num(value)}.",
        comparisons=(
            as_printed("lambda is negative", bool(value < 0)),
            as_corrected("lambda is positive", bool(value > 0)),
            as_corrected("lambda", value, 0.5),
        ),
        corrected="`lambda_j > 0`.",
        residual=found.residual,
    )


@claim(
    "001-eq2-5",
    place="(2.5)",
    statement="A friction force at its bound is a vector of known length in the plane of the contact.",
    printed="`T_j = |N_j| (t_1 cos alpha + t_2 sin alpha)`",
    recorded="corrected",
    systems=(PAIR,),
    errata=("ivanov-7",),
)
def bound_force(shop: Workshop) -> Finding:
    found = shop.ask(PAIR, S=2.0)
    params = shop.entry(PAIR).params
    weight = params["m"] * params["g"]
    lengths = np.linalg.norm(found.solutions[0].tangential, axis=1)
    return Finding(
        computed=f"Two particles that both slide: forces of the lengths {vec(lengths)}, the normal forces are "
        f"{num(weight)} and mu N = {num(params['mu'] * weight)}.",
        comparisons=(
            as_printed("|T| = |N|", lengths, [weight] * 2),
            as_corrected("|T| = mu |N|", lengths, [params["mu"] * weight] * 2),
        ),
        corrected="`T_j = mu_j |N_j| (t_1 cos alpha + t_2 sin alpha)`.",
        residual=found.residual,
    )


@claim(
    "001-eq2-6",
    place="(2.6)",
    statement="Where a contact begins to slide, its friction is opposite to the acceleration of the contact point.",
    printed="`(w, t_1) sin alpha - (w, t_2) cos alpha = 0`, antiparallel",
    recorded="confirmed",
    systems=(PAIR,),
)
def opposite(shop: Workshop) -> Finding:
    aligned, cosines, residual = 0.0, [], 0.0
    for S in (0.9, 1.0, 2.0, 5.0):
        found = shop.ask(PAIR, S=S)
        residual = max(residual, found.residual)
        solution = found.solutions[0]
        for T, w in zip(solution.tangential, solution.slip_acceleration, strict=True):
            size = float(np.linalg.norm(T) * np.linalg.norm(w))
            aligned = max(aligned, abs(float(T[0] * w[1] - T[1] * w[0])) / size)
            cosines.append(float(T @ w) / size)
    return Finding(
        computed=f"Eight contacts that begin to slide: the sine of the angle is at most {num(aligned, 1)}, the cosine "
        f"at most {num(max(cosines))}.",
        comparisons=(
            as_printed("collinear", aligned, 0.0, tol=1e-7),
            as_printed("opposite", max(cosines), -1.0, tol=1e-12),
        ),
        residual=residual,
    )


@claim(
    "001-tangential-offset",
    place="(2.1), (2.3), (3.5)",
    statement="The condition of rest at a contact contains no given tangential acceleration, so the least Phi covers "
    "contacts on bodies that accelerate.",
    printed="`Phi(T) = (x + T)^2/2`, no further term",
    recorded="corrected",
    errata=("ivanov-35",),
)
def tangential_offset(shop: Workshop) -> Finding:
    rng, count = shop.rng(33), shop.many(30, 300)
    without = with_term = residual = 0.0
    differ = 0
    for _ in range(count):
        mass, force, tangents, bound, offset = _random(rng, offset=True)
        found = _ask(mass, force, tangents, bound, offset)
        answers = [least_squares(mass, force, tangents, bound, shift) for shift in (0.0, offset)]
        errors = [
            float(np.abs(found.accelerations[0] - np.linalg.solve(mass, force + tangents.T @ T)).max()) for T in answers
        ]
        differ += errors[0] > 1e-6
        without, with_term = max(without, errors[0]), max(with_term, errors[1])
        residual = max(residual, found.residual)
    # The plainest case: a block without push on a plate that accelerates with 1, friction large enough.
    plate: Any = reactions(
        ContactProblem(
            np.eye(1), [0.0], [Contact(None, tangent=[1.0], friction=1.0, normal_force=2.0, tangent_bias=1.0)]
        )
    )
    carried = float(plate.accelerations[0, 0])
    return Finding(
        computed=f"A block on a plate that accelerates with 1 is carried along with {num(carried)}. Random systems on "
        f"accelerating bodies: without a further term {share(differ, count)} are wrong, by up to {num(without, 3)}; "
        f"with -(T, gamma_t) all agree, to {num(with_term, 1)}.",
        comparisons=(
            as_printed("acceleration of the least Phi", without, 0.0, tol=1e-8),
            as_corrected("acceleration of the least Phi - (T, gamma_t)", with_term, 0.0, tol=1e-8),
            sound("the block is carried along", carried, 1.0),
        ),
        corrected="At a contact with v = 0 on a body that accelerates along it, T makes `Phi(T) - (T, gamma_t)` least.",
        residual=residual,
    )


@claim(
    "001-unit-normals",
    place="section 1, after (1.4), and (2.1)",
    statement="The vectors n and t may be taken of unit length in Lagrangian coordinates while Coulomb's law keeps the "
    "coefficient of friction.",
    printed="`|n_j| = |t_j| = 1` and `|T_j| <= mu_j |N_j|`",
    recorded="corrected",
    systems=("ladder",),
    errata=("ivanov-4",),
    new="The factor is `|t|/|n|`, not its inverse: with it the range of the floor's force is that of the Jacobian "
    "rows, and it follows from `T' = |t| T`, `N' = |n| N`.",
)
def unit_normals(shop: Workshop) -> Finding:
    problem = shop.problem("ladder", g=1.0)
    rows = problem.rows
    lengths = np.linalg.norm(rows.normal, axis=1), np.linalg.norm(rows.tangent, axis=1)

    def floor(friction: Any, unit: bool) -> tuple[float, float]:
        sizes = lengths if unit else (np.ones(2), np.ones(2))
        contacts = [
            Contact(rows.normal[j] / sizes[0][j], tangent=rows.tangent[j] / sizes[1][j], friction=friction[j])
            for j in range(2)
        ]
        found: Any = reactions(ContactProblem(problem.mass, problem.force, contacts))
        low, high = found.solutions[0].ranges.normal[0]
        return float(low), float(high)

    true = floor(rows.friction, unit=False)
    plain = floor(rows.friction, unit=True)
    scaled = floor(rows.friction * lengths[1] / lengths[0], unit=True)

    def draw() -> Any:
        figure, ax = new_figure((5.8, 1.9))
        for place, (low, high) in enumerate((true, plain, scaled)):
            ax.plot([low, high], [-place, -place], linewidth=6, solid_capstyle="butt")
        ax.set_yticks([0, -1, -2], ["Jacobian rows", "unit rows, same μ", "unit rows, μ rescaled"])
        ax.set_xlabel("force of the floor on the ladder [weight]")
        ax.set_ylim(-2.5, 0.5)
        return figure

    return Finding(
        computed=f"Ladder at 120°, both coefficients 0.3, at rest: the force of the floor is in {vec(true)} of its "
        f"weight; "
        f"with unit rows and the same coefficients in {vec(plain)}; with coefficients times |t|/|n| in {vec(scaled)}.",
        comparisons=(
            as_printed("range with unit rows", plain, true, tol=1e-8),
            as_corrected("range with rescaled friction", scaled, true, tol=1e-8),
        ),
        corrected="n and t are rows of the Jacobians of gap and slip; if they are made of unit length, mu has to be "
        "multiplied by `|t|/|n|`.",
        pictures=(Picture("ranges", "The range of the floor's force, three ways to write the same ladder.", draw),),
    )
