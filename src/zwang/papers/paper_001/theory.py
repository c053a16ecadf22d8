"""Theorem 11 of paper 001, and the derivative (4.5) that theorem 12 rests on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang import Contact, ContactProblem
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_001.families import ask, generic
from zwang.papers.paper_001.known_normals import least_squares
from zwang.papers.wording import num
from zwang.papers.workshop import Workshop

ROD, STRING = "painleve_rod_tip", "atwood"


def friction_at(problem: ContactProblem, N: Any) -> Any:
    """Return the friction of theorem 10 for normal forces N: fixed where it slides, least Phi at rest."""
    rows = problem.rows
    bound = rows.friction * np.abs(N)
    T = -bound * np.sign(rows.slip)
    rest = rows.slip == 0
    x = problem.force + rows.normal.T @ N + rows.tangent.T @ T
    T[rest] = least_squares(problem.mass, x, rows.tangent[rest], bound[rest], rows.tangent_bias[rest])
    return T


def gaps_at(problem: ContactProblem, N: Any) -> Any:
    """Return the normal accelerations less their bias for normal forces N and the friction of theorem 10."""
    rows = problem.rows
    force = problem.force + rows.normal.T @ N + rows.tangent.T @ friction_at(problem, N)
    return rows.normal @ np.linalg.solve(problem.mass, force) - rows.bias


@claim(
    "001-thm11",
    place="theorem 11, (3.5)",
    statement="Normal forces solve the problem with Coulomb's friction exactly if, with the friction of theorem 10, "
    "they satisfy a variational inequality.",
    printed="`(F + N + T(F + N) - B, N' - N) >= 0` for all admissible N'",
    recorded="confirmed",
)
def theorem_11(shop: Workshop) -> Finding:
    rng, count = shop.rng(71), shop.many(30, 600)
    least, solutions, solved, residual = 0.0, 0, 0, 0.0
    strangers: list[float] = []
    for _ in range(count):
        problem = generic(rng, rest=0.5, bilateral=0.3, bias=0.5)
        found = ask(problem, certify=False)
        residual = max(residual, found.residual if found.solutions else 0.0)
        free = problem.rows.bilateral
        for solution in found.solutions:
            gaps = gaps_at(problem, solution.normal)
            others = rng.normal(size=(50, 2)) * 3
            others = np.where(free, others, np.abs(others))
            least = min(least, float(((others - solution.normal) @ gaps).min()))
            solutions += 1
        # The other way: forces that satisfy the inequality, found from it alone, are solutions of the laws.
        N = solve_inequality(problem, np.where(free, rng.normal(size=2), np.abs(rng.normal(size=2))))
        if N is not None:
            solved += 1
            off = [float(np.abs(N - item.normal).max()) for item in found.solutions]
            strangers.append(min(off, default=np.inf) / (1 + float(np.abs(N).max())))
    return Finding(
        computed=f"{count} random problems, {solutions} solutions: over 50 random N' each the expression is never "
        f"below {num(least, 1)}. In {solved} of them the inequality was solved by itself, by projected steps; the "
        f"forces are those of a solution to {num(max(strangers), 1)}.",
        comparisons=(
            as_printed("least value at solutions", least, 0.0, tol=1e-8),
            as_printed("solutions of the inequality that solve the laws", max(strangers), 0.0, tol=1e-7),
            sound("solutions were found", solutions > 0),
            sound("the inequality was solved in most problems", solved > 0.6 * count),
        ),
        residual=residual,
        data={"solved": solved},
    )


def solve_inequality(problem: ContactProblem, N: Any, *, steps: int = 4000) -> Any:
    """Return normal forces that satisfy (3.5), by Korpelevich's projected steps from N; None where they don't settle.

    Nothing but `gaps_at` is asked: no modes, no enumeration.
    """
    free, rows = problem.rows.bilateral, problem.rows
    length = 0.25 / np.linalg.norm(rows.normal @ np.linalg.solve(problem.mass, rows.normal.T), 2)

    def stepped(at: Any) -> Any:
        moved = N - length * gaps_at(problem, at)
        return np.where(free, moved, np.maximum(moved, 0.0))

    for _ in range(steps):
        middle = stepped(N)
        if np.abs(middle - N).max() <= 1e-11 * (1 + np.abs(N).max()):
            return N
        N = stepped(middle)
    return None


@claim(
    "001-thm11-dependent",
    place="theorem 11 and (1.9), x = F + N",
    statement="The friction is a function of x = F + N, so that the inequality can be written in the space of x.",
    printed="`T(x)`, `x = F + N`, K a set of x",
    recorded="corrected",
    errata=("ivanov-36",),
)
def dependent_normals(shop: Workshop) -> Finding:
    # A block that slides on three feet in a row, with three coefficients of friction: 3 normals in a plane.
    mu = (0.2, 0.5, 0.1)
    contacts = [
        Contact([0, 1, place], tangent=[1, 0, 0.0], friction=mu[j], slip=1.0)
        for j, place in enumerate((-1.0, 0.0, 1.0))
    ]
    problem = ContactProblem(np.diag([1.0, 1.0, 0.5]), [0.0, -1.0, 0.0], contacts)
    found = ask(problem)
    w = found.accelerations[:, 0]
    sets = np.array([[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]])
    x = problem.force + sets @ problem.rows.normal
    T = np.array([problem.rows.tangent.T @ friction_at(problem, N) for N in sets])
    return Finding(
        computed=f"A block sliding on three feet in a row with mu = {mu}: {found.status.name}, accelerations from "
        f"{num(w.min())} to {num(w.max())}, a continuum: {found.accelerations_continuum}. N = (0, 1, 0) and (1/2, 0, "
        f"1/2) give one x, but frictions {num(T[0, 0])} and {num(T[1, 0])}.",
        comparisons=(
            as_printed("one x, one T", T[1], T[0]),
            as_corrected("a continuum of accelerations", bool(found.accelerations_continuum)),
            as_corrected("its ends", sorted([w.min(), w.max()]), [-mu[1], -(mu[0] + mu[2]) / 2]),
            sound("the same x", x[1], x[0]),
        ),
        corrected="It needs independent normals. With dependent ones T is a function of the multipliers N_j, not of x, "
        "and the inequality has to be written for these.",
        residual=found.residual,
    )


@claim(
    "001-eq4-5-projection",
    place="before (4.5)",
    statement="The friction T(F + N) is the projection of -F onto the admissible set.",
    printed="`T(F + N)` is the projection of `-F`",
    recorded="corrected",
    systems=(STRING,),
    errata=("ivanov-21",),
)
def projected_vector(shop: Workshop) -> Finding:
    N = 0.9
    values = {"m1": 1.0, "m2": 2.0, "g": 1.0, "mu": 0.25}
    found = shop.ask(STRING, {"normal_forces": {"string": N}}, **values)
    T = float(found.solutions[0].tangential[0])
    problem = shop.problem(STRING, **values)
    rows = problem.rows
    bound = rows.friction * N
    of_force = float(least_squares(problem.mass, problem.force, rows.tangent, bound)[0])
    of_both = float(least_squares(problem.mass, problem.force + N * rows.normal[0], rows.tangent, bound)[0])
    return Finding(
        computed=f"String at rest, masses (1, 2), given tension {N}: T = {num(T)}; the projection of -F is "
        f"{num(of_force)}, that of -(F + N) is {num(of_both)}.",
        comparisons=(as_printed("projection of -F", of_force, T), as_corrected("projection of -(F + N)", of_both, T)),
        corrected="T(F + N) is the projection of `-(F + N)`, by theorem 10.",
        residual=found.residual,
    )


@claim(
    "001-eq4-5",
    place="(4.5)",
    statement="The derivative of the friction with respect to a normal force lies between 0 and mu, and is 0 at rest.",
    printed="`dT/dN_j = mubar_j t_j`, `0 <= mubar_j <= mu_j`",
    recorded="corrected",
    systems=(STRING, ROD),
    errata=("ivanov-22",),
)
def derivative(shop: Workshop) -> Finding:
    def force(name: str, contact: str, N: float, **values: float) -> float:
        found = shop.ask(name, {"normal_forces": {contact: N}}, **values)
        return float(found.solutions[0].tangential[0])

    weights = {"m1": 1.0, "m2": 2.0, "g": 1.0, "mu": 0.25}
    string = (force(STRING, "string", 1.01, **weights) - force(STRING, "string", 0.99, **weights)) / 0.02
    # The foot of a rod at rest, a = -0.8 and h = 1.5, pushed so that it holds with mu = 0.2, below the slope.
    a, h = -0.8, 1.5
    rod = {"l": math.hypot(a, h), "theta": math.atan2(h, a), "mu": 0.2, "g": 0.0, "v_x": 0.0}
    rod |= {"F1": a * h / (1 + h**2)}
    slope = (force(ROD, "floor", 1.01, **rod) - force(ROD, "floor", 0.99, **rod)) / 0.02
    problem = shop.problem(ROD, **rod)
    inverse = np.linalg.inv(problem.mass)
    n, t = problem.rows.normal[0], problem.rows.tangent[0]
    expected = float(-(t @ inverse @ n) / (t @ inverse @ t))
    return Finding(
        computed=f"String at rest, masses (1, 2): dT/dN = {num(string)}. Foot of a rod at rest, mu = 0.2: dT/dN = "
        f"{num(slope)}, larger than mu; -(t, n)/(t, t) in the kinetic metric is {num(expected)}.",
        comparisons=(
            as_printed("no change at rest (string)", string, 0.0, tol=1e-6),
            as_printed("between 0 and mu (rod)", bool(0 <= slope <= 0.2)),
            as_corrected("slope of the string", string, 1 / 3, tol=1e-7),
            as_corrected("slope of the rod", slope, expected, tol=1e-7),
            sound("closed form of the rod", expected, a * h / (1 + h**2)),
        ),
        corrected="At rest `dT/dN = -(t, n)/(t, t)` in the metric (1.5): independent of mu, of any sign, possibly "
        "larger than mu; and a resting contact responds to the normal force of every other contact.",
    )
