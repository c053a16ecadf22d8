"""Section 1 of paper 001: ideal constraints, Gauss's principle, and the string of example 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp
from scipy.optimize import lsq_linear

from zwang import (
    Bilateral,
    Contact,
    ContactProblem,
    System,
    compile,
    contact_problem,
    coordinates,
    hold,
    parameters,
    reactions,
    t,
)
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.wording import num, share, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import new_figure

STRING = "atwood_changing_length"


def _cases(shop: Workshop, seed: int) -> list[dict[str, float]]:
    rng = shop.rng(seed)
    return [
        {"m1": float(m1), "m2": float(m2), "g": float(g), "gamma": float(gamma)}
        for m1, m2, g, gamma in zip(
            *rng.uniform(0.2, 5.0, size=(3, 60)), rng.uniform(-20.0, 20.0, size=60), strict=True
        )
    ]


@claim(
    "001-gauss-principle",
    place="(1.7) and (1.8)",
    statement="The acceleration minimizes Gauss's function Z on the accelerations that the constraints allow, and the "
    "reaction minimizes `Phi(R) = (F + R, A^-1 (F + R))` where all gamma are zero.",
    printed="`Z = (A w - F, w - A^-1 F)/2 -> min`; `Phi(R) -> min`",
    recorded="confirmed",
)
def gauss_principle(shop: Workshop) -> Finding:
    rng = shop.rng(1)
    count = shop.many(40, 400)
    primal = dual = residual = 0.0
    for _ in range(count):
        n, k = 5, int(rng.integers(1, 4))
        root = rng.normal(size=(n, n))
        mass, force, rows = root @ root.T + np.eye(n), rng.normal(size=n), rng.normal(size=(k, n))
        found: Any = reactions(ContactProblem(mass, force, [Contact(row, bilateral=True) for row in rows]))
        w, N = found.accelerations[0], found.solutions[0].normal
        # Independent of the verb: Z by elimination on the null space of the rows, Phi by least squares.
        basis = np.linalg.svd(rows)[2][k:].T
        least = basis @ np.linalg.solve(basis.T @ mass @ basis, basis.T @ force)
        factor = np.linalg.cholesky(np.linalg.inv(mass)).T
        multipliers = np.linalg.lstsq(factor @ rows.T, -factor @ force, rcond=None)[0]
        primal = max(primal, float(np.abs(w - least).max()) / (1 + float(np.abs(w).max())))
        dual = max(dual, float(np.abs(N - multipliers).max()) / (1 + float(np.abs(N).max())))
        residual = max(residual, found.residual)
    return Finding(
        computed=f"{count} random systems: accelerations meet the least Z to {num(primal, 1)}, reactions the least Phi "
        f"to {num(dual, 1)}.",
        comparisons=(
            as_printed("acceleration of least Z", primal, 0.0),
            as_printed("reaction of least Phi", dual, 0.0),
        ),
        residual=residual,
    )


@claim(
    "001-moving-constraints",
    place="(1.5), (1.6), (1.9) and (1.10)",
    statement="Where the constraints move (gamma is not zero), the reaction minimizes Phi with F replaced by F - B, "
    "`B = sum beta_j n_j` being the projection of the origin onto the accelerations that are allowed; for one-sided "
    "constraints among reactions that push.",
    printed="`sum beta_j (n_i, A^-1 n_j) = gamma_i`; `Phi(R) = (F - B + R, A^-1 (F - B + R)) -> min`",
    recorded="confirmed",
)
def moving_constraints(shop: Workshop) -> Finding:
    rng, count = shop.rng(5), shop.many(40, 400)
    dual = plain = nearest = 0.0
    open_, residual = 0, 0.0
    for _ in range(count):
        n, k = 5, int(rng.integers(1, 4))
        root, one_sided = rng.normal(size=(n, n)), rng.random(k) < 0.5
        mass, force, rows, gamma = (
            root @ root.T + np.eye(n),
            rng.normal(size=n),
            rng.normal(size=(k, n)),
            rng.normal(size=k),
        )
        contacts = [
            Contact(row, bilateral=not free, bias=b) for row, free, b in zip(rows, one_sided, gamma, strict=True)
        ]
        found: Any = reactions(ContactProblem(mass, force, contacts))
        N = found.solutions[0].normal
        inverse = np.linalg.inv(mass)
        B = rows.T @ np.linalg.solve(rows @ inverse @ rows.T, gamma)
        factor = np.linalg.cholesky(inverse).T
        low = np.where(one_sided, 0.0, -np.inf)
        least = lsq_linear(factor @ rows.T, -factor @ (force - B), (low, np.inf), tol=1e-14).x
        resting = lsq_linear(factor @ rows.T, -factor @ force, (low, np.inf), tol=1e-14).x
        size = 1 + float(np.abs(N).max())
        dual = max(dual, float(np.abs(N - least).max()) / size)
        plain = max(plain, float(np.abs(N - resting).max()) / size)
        # (1.6): B is allowed, and no allowed force is shorter in the metric (1.5).
        kernel = np.linalg.svd(rows @ inverse)[2][k:]
        nearest = max(
            nearest, float(np.abs(rows @ inverse @ B - gamma).max()), float(np.abs(kernel @ inverse @ B).max())
        )
        open_ += int(one_sided.any() and (found.solutions[0].normal[one_sided] == 0).any())
        residual = max(residual, found.residual)
    return Finding(
        computed=f"{count} random systems with moving constraints, half of them one-sided ({open_} with one that lets "
        f"go): reactions meet the least Phi to {num(dual, 1)}; without B they are off by up to {num(plain, 2)}.",
        comparisons=(
            as_printed("reaction of least Phi", dual, 0.0, tol=1e-6),
            as_printed("B is the projection of the origin", nearest, 0.0),
            sound("B matters", plain > 0.1),
            sound("some let go", open_ > 0),
        ),
        residual=residual,
    )


@claim(
    "001-viscous-friction",
    place="remark after (1.10)",
    statement="Gauss's principle, for accelerations and for reactions, holds with friction that depends on positions "
    "and velocities alone: it is put among the forces F.",
    printed="viscous friction is included in F",
    recorded="confirmed",
)
def viscous_friction(shop: Workshop) -> Finding:
    (x, y, z), (vx, vy, vz) = coordinates("x y z")
    m, c, k = parameters("m c k")
    speed = sp.sqrt(vx**2 + vy**2 + vz**2)
    # A bead on a moving wire in syrup: drag of its speed and of the place, more across than along z.
    drag = [-(c + k * speed + z**2) * vx, -(c + k * speed + z**2) * vy, -(c / 2 + k * speed) * vz]
    wire = [Bilateral(x - sp.cos(z) - t**2 / 4, name="front"), Bilateral(y - z**2 / 3 + sp.sin(t) * x, name="side")]
    bead = System(
        name="bead in syrup",
        kinetic=m * (vx**2 + vy**2 + vz**2) / 2 + m * vx * vz * sp.cos(x) / 4,
        forces=dict(zip((x, y, z), drag, strict=True)),
        constraints=wire,
    )
    rng, primal, dual, felt, residual = shop.rng(6), 0.0, 0.0, 0.0, 0.0
    model, bare = compile(bead), compile(bead.replace(forces={}))
    forces = sp.lambdify([x, y, z, vx, vy, vz, c, k], drag)
    for _ in range(shop.many(12, 120)):
        values = {"m": float(rng.uniform(0.5, 2)), "c": float(rng.uniform(0.2, 2)), "k": float(rng.uniform(0, 2))}
        guess = {"t": float(rng.uniform(0, 1)), "x": 1.0, "y": 0.0, "z": float(rng.uniform(-1, 1))}
        guess |= {"v_x": 0.0, "v_y": 0.0, "v_z": float(rng.uniform(-2, 2))}
        state = hold(model, guess, values, ["front", "side"], fixed=["z", "v_z"])
        found: Any = reactions(model, state, values)
        # F of the bead without drag, drag by hand, then the two minima in numbers.
        problem = contact_problem(bare, state, {"m": values["m"]})
        q = [state[name] for name in ("x", "y", "z", "v_x", "v_y", "v_z")]
        F = problem.force + np.array(forces(*q, values["c"], values["k"]), dtype=float)
        rows, A = problem.rows, problem.mass
        base = np.linalg.lstsq(rows.normal, rows.bias, rcond=None)[0]
        free = np.linalg.svd(rows.normal)[2][len(rows.normal) :].T
        w = base + free @ np.linalg.solve(free.T @ A @ free, free.T @ (F - A @ base))
        gram = rows.normal @ np.linalg.solve(A, rows.normal.T)
        N = np.linalg.solve(gram, rows.bias - rows.normal @ np.linalg.solve(A, F))
        primal = max(primal, float(np.abs(w - found.accelerations[0]).max()) / (1 + float(np.abs(w).max())))
        dual = max(dual, float(np.abs(N - found.solutions[0].normal).max()) / (1 + float(np.abs(N).max())))
        felt = max(felt, float(np.abs(F - problem.force).max()))
        residual = max(residual, found.residual)
    return Finding(
        computed=f"A bead on a moving wire, its drag a function of place, direction and speed: accelerations of least "
        f"Z to {num(primal, 1)}, reactions of least Phi to {num(dual, 1)}, the drag (up to {num(felt, 3)} N) in F.",
        comparisons=(
            as_printed("acceleration of least Z", primal, 0.0),
            as_printed("reaction of least Phi", dual, 0.0),
            sound("the drag is felt", felt > 0.5),
        ),
        residual=residual,
    )


@claim(
    "001-ex1-taut",
    place="example 1, (1.11) and (1.12)",
    statement="Two weights hang on a string whose length changes with the acceleration gamma: the acceleration of the "
    "first and the tension have closed forms while the string is taut.",
    printed="`w1 = ((m1 - m2) g + m2 gamma)/(m1 + m2)`, `N = m1 m2 (2 g - gamma)/(m1 + m2)`",
    recorded="confirmed",
    systems=(STRING,),
)
def taut(shop: Workshop) -> Finding:
    w_error = n_error = residual = 0.0
    cases = [case for case in _cases(shop, 2) if case["gamma"] < 2 * case["g"]]
    for case in cases:
        found = shop.ask(STRING, **case)
        m1, m2, g, gamma = (case[key] for key in ("m1", "m2", "g", "gamma"))
        w1, N = found.accelerations[0, 0], found.solutions[0].normal[0]
        w_error = max(w_error, abs(w1 - ((m1 - m2) * g + m2 * gamma) / (m1 + m2)))
        n_error = max(n_error, abs(N - m1 * m2 * (2 * g - gamma) / (m1 + m2)))
        residual = max(residual, found.residual)
    return Finding(
        computed=f"{len(cases)} random cases with a taut string: w1 to {num(w_error, 1)}, N to {num(n_error, 1)}.",
        comparisons=(as_printed("w1", w_error, 0.0), as_printed("N", n_error, 0.0)),
        residual=residual,
    )


@claim(
    "001-ex1-slack",
    place="example 1, after (1.12)",
    statement="Because a string only pulls, the formula for the acceleration is cut off where it goes slack.",
    printed="`w1 = max{((m1 - m2) g + m2 gamma)/(m1 + m2), -g}`",
    recorded="corrected",
    systems=(STRING,),
    errata=("ivanov-1",),
)
def slack(shop: Workshop) -> Finding:
    gammas = np.linspace(-6.0, 6.0, 25)
    found = [shop.ask(STRING, m1=1.0, m2=1.0, g=1.0, gamma=float(gamma)) for gamma in gammas]
    w1 = np.array([item.accelerations[0, 0] for item in found])
    N = np.array([item.solutions[0].normal[0] for item in found])
    taut_value = gammas / 2  # m1 = m2 = g = 1
    at = int(np.argmin(np.abs(gammas - 4.0)))
    below = int(np.argmin(np.abs(gammas + 4.0)))

    def draw() -> Any:
        figure, ax = new_figure((5.6, 3.2))
        ax.plot(gammas, np.maximum(taut_value, -1.0), "--", label="printed")
        ax.plot(gammas, w1, "o", markersize=4, label="computed")
        ax.plot(gammas, np.minimum(taut_value, 1.0), "-", linewidth=1, label="corrected")
        ax.set(xlabel="acceleration of the length, $\\gamma/g$", ylabel="$w_1/g$")
        ax.legend()
        return figure

    return Finding(
        computed=f"Equal weights, g = 1: gamma = 4 gives w1 = {num(w1[at])} and N = {num(N[at])}; gamma = -4 gives "
        f"w1 = {num(w1[below])} and N = {num(N[below])}.",
        comparisons=(
            as_printed("w1 for gamma from -6 g to 6 g", w1, np.maximum(taut_value, -1.0)),
            as_corrected("w1 for gamma from -6 g to 6 g", w1, np.minimum(taut_value, 1.0)),
            sound("N = max{(2 g - gamma)/2, 0}", N, np.maximum((2 - gammas) / 2, 0.0)),
        ),
        corrected="`w1 = min{((m1 - m2) g + m2 gamma)/(m1 + m2), g}`: positions are measured downwards, and a weight "
        "on a slack string falls with g.",
        residual=max(item.residual for item in found),
        pictures=(Picture("slack", "Acceleration of the first of two equal weights as the string is paid out.", draw),),
    )


@claim(
    "001-ex1-threshold",
    place="example 1, after (1.12)",
    statement="The string goes slack exactly where its length grows faster than with twice the acceleration of "
    "gravity.",
    printed="`gamma > 2 g`",
    recorded="confirmed",
    systems=(STRING,),
)
def threshold(shop: Workshop) -> Finding:
    rng = shop.rng(3)
    found = []
    for m1, m2, g in rng.uniform(0.5, 4.0, size=(4, 3)):
        low, high = 0.0, 5.0 * g
        for _ in range(45):
            middle = (low + high) / 2
            slack_now = shop.ask(STRING, m1=m1, m2=m2, g=g, gamma=middle).solutions[0].modes[0] == "open"
            low, high = (low, middle) if slack_now else (middle, high)
        found.append((low + high) / 2 / g)
    return Finding(
        computed=f"By halving, for four random pairs of weights: gamma/g = {vec(found)}.",
        comparisons=(as_printed("gamma/g at which the string goes slack", found, [2.0] * 4, tol=1e-7),),
        data={"gamma over g": found},
    )


@claim(
    "001-ex1-dual",
    place="example 1, Phi(N)",
    statement="The tension also minimizes the dual function Phi(N), which contains beta instead of the acceleration.",
    printed="`Phi(N) = ((m1 g - N - beta)^2/m1 + (m2 g - N - beta)^2/m2)/2`, `beta = m1 m2 gamma/(m1 + m2)`",
    recorded="confirmed",
    systems=(STRING,),
)
def dual_function(shop: Workshop) -> Finding:
    worst = residual = 0.0
    cases = [case for case in _cases(shop, 4) if case["gamma"] < 2 * case["g"]]
    for case in cases:
        found = shop.ask(STRING, **case)
        m1, m2, g, gamma = (case[key] for key in ("m1", "m2", "g", "gamma"))
        beta = m1 * m2 * gamma / (m1 + m2)
        # A parabola through three of its values has its vertex at the minimum.
        N = np.array([0.0, 1.0, 2.0])
        values = ((m1 * g - N - beta) ** 2 / m1 + (m2 * g - N - beta) ** 2 / m2) / 2
        bend = values[0] - 2 * values[1] + values[2]
        vertex = 1.0 - (values[2] - values[0]) / (2 * bend)
        worst = max(worst, abs(vertex - found.solutions[0].normal[0]) / (1 + abs(vertex)))
        residual = max(residual, found.residual)
    return Finding(
        computed=f"{share(len(cases), len(cases))} random cases: the vertex of Phi is the tension, to {num(worst, 1)}.",
        comparisons=(as_printed("vertex of Phi", worst, 0.0),),
        residual=residual,
    )


@claim(
    "001-ex1-beta",
    place="example 1 and (1.9)",
    statement="With the normal `n = (-1, -1)` the system (1.9) gives the coordinate beta of the offset B = beta n.",
    printed="`n = (-1, -1)`, `beta = m1 m2 gamma/(m1 + m2)`",
    recorded="corrected",
    systems=(STRING,),
    errata=("ivanov-2",),
)
def offset(shop: Workshop) -> Finding:
    m1, m2, gamma = 1.5, 2.5, 3.0
    problem = shop.problem(STRING, m1=m1, m2=m2, g=1.0, gamma=gamma)
    rows = problem.rows
    gram = rows.normal @ np.linalg.solve(problem.mass, rows.normal.T)
    beta = float(np.linalg.solve(gram, rows.bias)[0])
    printed = m1 * m2 * gamma / (m1 + m2)
    return Finding(
        computed=f"The declared string has the normal {vec(rows.normal[0])} and demands (w, n) >= {num(rows.bias[0])}; "
        f"(1.9) then gives beta = {num(beta)} for m = (1.5, 2.5), gamma = 3.",
        comparisons=(
            as_printed("beta", beta, printed),
            as_corrected("beta", beta, -printed),
            sound("normal of the string", rows.normal[0], [-1.0, -1.0]),
        ),
        corrected="With `n = (-1, -1)` the right side of (1.9) is -gamma, so `beta = -m1 m2 gamma/(m1 + m2)`; the "
        "printed Phi(N) is right.",
    )
