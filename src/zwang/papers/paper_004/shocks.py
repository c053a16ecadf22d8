"""Section 2 of paper 004: one-sided constraints on velocities are entered without a shock, and what that needs."""

from __future__ import annotations

import numpy as np
import sympy as sp

from zwang import (
    Contact,
    ContactProblem,
    Model,
    System,
    Unilateral,
    compile,
    coordinates,
    parameters,
    reactions,
    simulate,
)
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_004.motions import INCLINE, LIMIT, ON_BLADE, SKATES, SLEIGH, moved
from zwang.papers.wording import num, share, vec
from zwang.papers.workshop import Workshop
from zwang.results import Motion, Reactions


def _row(shop: Workshop) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return M, the paper's row W (minus ours) and the velocity of the sleigh on its blade."""
    state, params = shop.values(SLEIGH, **ON_BLADE)
    mass, rows, _, _ = shop.model(SLEIGH).terms(state, {**params, "J": 1.0}).at(0)
    v = np.array([state[f"v_{name}"] for name in ("x", "y", "phi")])
    return mass, -rows[0], v


@claim(
    "004-nu-is-zero",
    place="section 2, after (8)",
    statement="Since the matrix is positive definite, the inequality for the impulses leaves only zero impulses.",
    printed="from `Phi M^-1 Phi^T nu <= 0` follows `nu = 0`",
    recorded="refuted",
    systems=(SLEIGH,),
    errata=("salnikova-1",),
)
def nu_is_zero(shop: Workshop) -> Finding:
    mass, W, v = _row(shop)
    nu = -1.0
    jump = np.linalg.solve(mass, W * nu)
    gram = float(W @ np.linalg.solve(mass, W))
    gain = 0.5 * float((v + jump) @ mass @ (v + jump) - v @ mass @ v)
    return Finding(
        computed=f"The paper's own sleigh at phi = 0, velocity {vec(v)}: nu = {num(nu)} gives the jump {vec(jump)} "
        f"with `W V = {num(W @ v)}`, `W dV = {num(W @ jump)} <= 0`, and the energy grows by {num(gain)}.",
        comparisons=(
            as_printed("no impulse other than zero satisfies the inequality", not (gram * nu <= 0)),
            sound("the constraint is met with equality before", float(W @ v), 0.0),
        ),
        counterexample=f"nu = {num(nu)} satisfies the inequality `{num(gram)} nu <= 0` and raises the kinetic energy "
        f"by {num(gain)}.",
        data={"energy gain": gain},
    )


@claim(
    "004-extra-condition",
    place="section 2, principle (2) to (4)",
    statement="Ideality, stated on the directions allowed at the velocity before, makes the motion free of shocks.",
    printed="`(R, dx) >= 0` on the cone at the velocity before implies `dV = 0`",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-2",),
)
def extra_condition(shop: Workshop) -> Finding:
    mass, W, v = _row(shop)
    free = np.linalg.solve(mass, -W)
    allowed = bool(free @ mass @ v >= -1e-12 and (-W) @ free >= 0)
    rng = shop.rng(41)
    cases = shop.many(40, 400)
    skated = {count: compile(_skates(4, count)) for count in (1, 2, 3)}
    still = 0
    for _ in range(cases):
        n, s = 4, int(rng.integers(1, 4))
        root = rng.normal(size=(n, n))
        M, rows = root @ root.T + n * np.eye(n), rng.normal(size=(s, n))
        before = rng.normal(size=n)
        # A velocity that satisfies all constraints, some of them with equality.
        before -= np.linalg.lstsq(rows, rows @ before - np.abs(rng.normal(size=s)) * (rng.random(s) < 0.5), rcond=None)[
            0
        ]
        still += _stays(skated[s], M, rows, before)
    return Finding(
        computed="The jump of the example before is allowed by ideality alone. With impulses only on constraints that "
        f"end with equality, the velocity stays as it was in {share(still, cases)} random systems.",
        comparisons=(
            as_printed("ideality alone forbids the jump", not allowed),
            as_corrected("with complementarity nothing jumps", still, cases),
        ),
        corrected="One more condition is needed, and any of these does: impulses only where the constraint holds with "
        "equality after (`mu_j (W_j V + h_j) = 0` for the velocity V after); kinetic energy that doesn't grow; "
        "ideality on the cone at the velocity after.",
    )


@claim(
    "004-shockless",
    place="section 2, conclusion; abstract",
    statement="A motion comes to a one-sided constraint on velocities without a jump of the velocity.",
    printed="shocks are absent",
    recorded="confirmed",
    systems=(SLEIGH, INCLINE, SKATES),
)
def shockless(shop: Workshop) -> Finding:
    captures, jumps = 0, 0
    for name, until in ((SLEIGH, 3.0), (INCLINE, 12.0), (SKATES, 5.0)):
        motion = moved(shop, name, until=until)
        captures += len(motion.events.of("capture"))
        jumps += len(motion.events.of("impact")) + int(np.sum(np.diff(motion.t) == 0))
    return Finding(
        computed=f"Sleigh, sleigh on an incline, beam on two skates: {captures} captures, {jumps} jumps of the "
        f"velocity.",
        comparisons=(as_printed("jumps", jumps, 0), sound("there were captures", captures > 0)),
    )


@claim(
    "004-shock-where-h-jumps",
    place="section 2, conclusion; abstract: in the general case",
    statement="There is no shock in the general case.",
    printed="shocks are absent for `W q' + h <= 0`",
    recorded="corrected",
    systems=(LIMIT,),
    errata=("salnikova-3",),
)
def shock_where_h_jumps(shop: Workshop) -> Finding:
    motion = moved(shop, LIMIT, until=2.0)
    struck = motion.events.of("impact")
    impulse = float(struck[0].details["impulses"]["limit"]) if struck else 0.0
    lost = -float(struck[0].details["energy_change"]) if struck else 0.0
    return Finding(
        computed=f"A speed limit that falls from 1 to 0.4: impulse {num(impulse)}, energy loss {num(lost)}, at t = "
        f"{num(struck[0].time) if struck else '-'}.",
        comparisons=(
            as_printed("no shock", not struck),
            as_corrected("impulse", impulse, 0.6),
            as_corrected("energy loss", lost, 0.42),
        ),
        corrected="There is no shock where the constraint is continuous in position and time; where h jumps in time "
        "one is necessary.",
    )


@claim(
    "004-energy",
    place="section 2, Jacobi integral",
    statement="For constraints without offset the reactions do no work, and the energy is kept.",
    printed="for `b = h = 0` there is the Jacobi integral",
    recorded="confirmed",
    systems=(SLEIGH, INCLINE, SKATES),
)
def energy(shop: Workshop) -> Finding:
    worst = 0.0
    for name, until in ((SLEIGH, 3.0), (INCLINE, 12.0), (SKATES, 5.0)):
        total = moved(shop, name, until=until).energy["total"]
        worst = max(worst, float(np.ptp(total) / max(float(np.abs(total).max()), 1.0)))
    return Finding(
        computed=f"Over three motions with captures and releases the energy changes by at most {num(worst, 1)}.",
        comparisons=(as_printed("relative change of the energy", worst, 0.0),),
        residual=worst,
    )


@claim(
    "004-complementarity",
    place="section 2, (9)",
    statement="Each multiplier has one sign, and is zero while its constraint is strict.",
    printed="`mu <= 0`, `(W q' + h) mu = 0`",
    recorded="confirmed",
    systems=(SLEIGH, INCLINE, SKATES),
)
def complementarity(shop: Workshop) -> Finding:
    worst, least = 0.0, 0.0
    for name, until in ((SLEIGH, 3.0), (INCLINE, 12.0), (SKATES, 5.0)):
        motion = moved(shop, name, until=until)
        values = _values(shop, name, motion)
        for constraint, forces in motion.reactions.items():
            worst = max(worst, float(np.abs(values[constraint] * forces).max()))
            least = min(least, float(forces.min()))
    return Finding(
        computed=f"In our sign the multipliers are at least {num(least, 1)}, and value times multiplier is at most "
        f"{num(worst, 1)} in every row.",
        comparisons=(as_printed("product", worst, 0.0), as_printed("sign", least >= -1e-9)),
        residual=worst,
    )


def _values(shop: Workshop, name: str, motion: Motion) -> dict[str, np.ndarray]:
    model = shop.model(name)
    params = shop.values(name)[1]
    state = dict(zip((*motion.coordinates, *motion.velocities), np.hstack([motion.q, motion.v]).T, strict=True))
    return {key: np.asarray(value) for key, value in model.gaps({**state, "t": motion.t}, params).items()}


@claim(
    "004-sign-by-sign",
    place="section 2, which constraints act",
    statement="With several one-sided constraints the acting ones can't be chosen one by one from the signs of the "
    "free accelerations.",
    printed="(the paper leaves the choice open)",
    recorded="confirmed",
    new="an exhaustive count over random forces, each answer checked against the complementarity conditions",
)
def sign_by_sign(shop: Workshop) -> Finding:
    rng = shop.rng(43)
    cases = shop.many(200, 2000)
    wrong = 0
    for _ in range(cases):
        root = rng.normal(size=(3, 3))
        M, rows, Q = root @ root.T + 0.3 * np.eye(3), rng.normal(size=(2, 3)), rng.normal(size=3)
        free = np.linalg.solve(M, Q)
        guess = [j for j in range(2) if rows[j] @ free < 0]
        a, lam = _held(M, rows[guess], Q)
        wrong += bool((rows @ a < -1e-9).any() or (lam < -1e-9).any())
    return Finding(
        computed=f"Choosing by the signs of the free accelerations violates a condition in {share(wrong, cases)} "
        "random problems with two constraints.",
        comparisons=(as_printed("the simple choice fails at times", wrong > 0),),
        data={"wrong": wrong, "cases": cases},
    )


def _held(M: np.ndarray, rows: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return acceleration and multipliers where these rows are held."""
    found = reactions(ContactProblem(M, Q, [Contact(normal=row, bilateral=True) for row in rows]))
    assert isinstance(found, Reactions)
    return found.solutions[0].acceleration, found.solutions[0].normal


def _skates(n: int, count: int) -> System:
    """Return a system of n coordinates with any mass matrix M and rows W: velocities with W_j v >= 0 for each j."""
    _, v = coordinates([f"x{i}" for i in range(n)])
    M = sp.Matrix(n, n, lambda i, j: parameters(f"M{min(i, j)}{max(i, j)}"))
    rows = [[parameters(f"W{j}{i}") for i in range(n)] for j in range(count)]
    sides = [
        Unilateral(sum(a * b for a, b in zip(row, v, strict=True)), name=f"side {j}") for j, row in enumerate(rows)
    ]
    return System(name="skates", mass=M, force=[0] * n, constraints=sides)


def _stays(model: Model, M: np.ndarray, rows: np.ndarray, before: np.ndarray) -> bool:
    """Return whether a motion that begins with a velocity keeps it, without an impact."""
    n = len(M)
    params = {f"M{i}{j}": M[i, j] for i in range(n) for j in range(i, n)}
    params |= {f"W{j}{i}": rows[j, i] for j in range(len(rows)) for i in range(n)}
    state = {f"x{i}": 0.0 for i in range(n)} | {f"v_x{i}": before[i] for i in range(n)}
    motion = simulate(model, state, params, until=1e-3)
    jumped = any(event.kind == "impact" for event in motion.events)
    return not jumped and bool(np.abs(motion.v[-1] - before).max() <= 1e-9 * (1 + np.abs(before).max()))
