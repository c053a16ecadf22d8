"""Section 2 of paper 004: one-sided constraints on velocities are entered without a shock, and what that needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from zwang import Contact, ContactProblem, Viscosity, reactions, realize, simulate
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_added, as_corrected, as_printed, sound
from zwang.papers.paper_004.motions import INCLINE, LIMIT, ON_BLADE, SKATES, SLEIGH, moved, rubbed
from zwang.papers.paper_004.sleigh import flight
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
    systems=(SLEIGH, LIMIT),
    errata=("salnikova-2",),
    new="kinetic energy that doesn't grow is enough only without offsets: a jump that loses it is exhibited",
)
def extra_condition(shop: Workshop) -> Finding:
    mass, W, v = _row(shop)
    free = np.linalg.solve(mass, -W)
    allowed = bool(free @ mass @ v >= -1e-12 and (-W) @ free >= 0)
    jumps = list(_random_jumps(shop.rng(41), shop.many(200, 4000)))
    # Any jump that ideality allows against each condition, from the velocities themselves.
    products = [np.abs(j.mu * (j.W @ j.after)).max() * len(j.W) / j.size for j in jumps]
    gains = [j.energy(j.after) - j.energy(j.before) for j in jumps]
    # The way back is allowed at the velocity after, and the impulse does negative work on it.
    cones = [float((j.W.T @ j.mu) @ (j.before - j.after)) / j.size for j in jumps]
    back = [j for j in jumps if (j.W[j.held] @ (j.before - j.after) <= 1e-9).all()]
    held = sum(bool((j.mu[j.held] < -1e-9).any()) for j in jumps)
    falling = _offset_jump(shop)
    return Finding(
        computed=f"The jump of the example before is allowed by ideality alone, and so are {len(jumps)} random ones. "
        f"None satisfies complementarity (the largest product is at least {num(min(products), 2)} of dV M dV over the "
        f"number of rows), each gains kinetic energy (at least {num(min(gains), 2)}), none is ideal on the cone at the "
        f"velocity after (on the way back the form is {num(max(cones), 2)} of dV M dV; {held} keep a constraint on "
        f"which an impulse acts). With an offset, x' <= 1, V = 1 before and 1/2 after: ideal, and the kinetic "
        f"energy changes by {num(falling.gain, 3)}; relative to the velocity 1 by {num(falling.relative, 3)}.",
        comparisons=(
            as_printed("ideality alone forbids the jump", not allowed),
            as_corrected("no jump is complementary", min(products) >= 1 - 1e-9),
            as_corrected("no jump without offset keeps or loses kinetic energy", min(gains) > 0),
            as_corrected("the way back is allowed at the velocity after", len(back), len(jumps)),
            as_corrected("no jump is ideal on the cone at the velocity after", max(cones), -1.0, tol=1e-9),
            as_corrected("with an offset an ideal jump may lose kinetic energy", falling.ideal and falling.gain < 0),
            as_corrected("relative to the limit's own velocity it gains", falling.relative, 0.125, tol=1e-12),
            sound("jumps were found for every number of rows", {len(j.W) for j in jumps} == {1, 2, 3}),
            sound("some keep a constraint on which an impulse acts", held > 5),
        ),
        corrected="One more condition is needed, and any of these does: impulses only where the constraint holds with "
        "equality after (`mu_j (W_j V + h_j) = 0` for the velocity V after); for `b = h = 0` kinetic energy that "
        "doesn't grow, and with offsets the energy relative to a velocity that meets all constraints with equality; "
        "ideality on the cone at the velocity after.",
        data={"jumps": len(jumps)},
    )


class _Jump(NamedTuple):
    """A jump of the velocity that ideality allows: M dV = W^T mu with mu <= 0 and W dV <= 0."""

    M: np.ndarray
    W: np.ndarray
    mu: np.ndarray
    before: np.ndarray
    after: np.ndarray

    @property
    def size(self) -> float:
        """The form dV M dV."""
        jump = self.after - self.before
        return float(jump @ self.M @ jump)

    @property
    def held(self) -> np.ndarray:
        """Which constraints hold with equality after."""
        return np.asarray(np.abs(self.W @ self.after) <= 1e-9)

    def energy(self, v: np.ndarray) -> float:
        return 0.5 * float(v @ self.M @ v)


def _random_jumps(rng: np.random.Generator, count: int) -> Iterator[_Jump]:
    """Give random systems without offset, on all of their constraints, and impulses mu <= 0 with W dV <= 0."""
    for _ in range(count):
        n, s = 4, int(rng.integers(1, 4))
        root = rng.normal(size=(n, n))
        M, rows = root @ root.T + n * np.eye(n), rng.normal(size=(s, n))
        before = rng.normal(size=n)
        before -= np.linalg.lstsq(rows, rows @ before, rcond=None)[0]
        drawn = -rng.exponential(size=s) * (rng.random(s) < 0.7)
        # Either the impulses are drawn, or what they do to the constraints, so that some of these stay equalities.
        mu = drawn if rng.random() < 0.5 else np.linalg.solve(rows @ np.linalg.solve(M, rows.T), drawn)
        after = before + np.linalg.solve(M, rows.T @ mu)
        if mu.any() and (mu <= 0).all() and (rows @ (after - before) <= 1e-12).all():
            yield _Jump(M, rows, mu, before, after)


class _Falling(NamedTuple):
    ideal: bool
    gain: float
    relative: float


def _offset_jump(shop: Workshop) -> _Falling:
    """Return the jump from 1 to 1/2 under the gallery's speed limit 1: its row, ideality and energies."""
    state, params = shop.values(LIMIT, c0=1.0, c1=1.0, v_x=1.0)
    mass, rows, _, _ = shop.model(LIMIT).terms(state, params).at(0)
    W, m = -float(rows[0, 0]), float(mass[0, 0])  # the paper's sign: W v + h <= 0
    before, after = 1.0, 0.5
    mu = m * (after - before) / W
    on_limit = abs(float(shop.model(LIMIT).gaps(state, params)["limit"])) < 1e-12
    return _Falling(
        ideal=on_limit and mu <= 0 and W * (after - before) <= 0,
        gain=0.5 * m * (after**2 - before**2),
        relative=0.5 * m * (after - before) ** 2,
    )


@claim(
    "004-shockless",
    place="section 2, conclusion; abstract",
    statement="A motion comes to a one-sided constraint on velocities without a jump of the velocity.",
    printed="shocks are absent",
    recorded="confirmed",
    systems=(SLEIGH, INCLINE, SKATES, LIMIT),
)
def shockless(shop: Workshop) -> Finding:
    width, changes = 1e-7, []
    for name, until in ((SLEIGH, 3.0), (INCLINE, 12.0), (SKATES, 5.0)):
        motion = moved(shop, name, until=until)
        for event in motion.events.of("capture"):
            sides = [motion.at(event.time + shift) for shift in (-width, width)]
            changes.append(max(abs(sides[1][v] - sides[0][v]) for v in motion.velocities) / width)
    # Strong friction in place of the constraint knows of no events: a jump would be an acceleration like its strength.
    strengths = (1e3, 1e4, 1e5)
    pushes = [float(np.abs(rubbed(shop, N, 0.0, until=3.0, **flight(1.0, 1.0)).a).max()) for N in strengths]
    state, params = shop.values(LIMIT)
    struck = [
        float(np.abs(simulate(realize(shop.system(LIMIT), "limit", by=Viscosity(N)), state, params, until=2.0).a).max())
        for N in strengths
    ]
    return Finding(
        computed=f"Sleigh, sleigh on an incline, beam on two skates: at {len(changes)} captures the velocity changes "
        f"within 1e-7 s at a rate of at most {num(max(changes), 3)}. With friction of 1e3 to 1e5 in place of the blade "
        f"the largest acceleration is {vec(pushes, 4)}; where a limit falls suddenly it is {vec(struck, 3)}.",
        comparisons=(
            as_printed("rate of change at captures stays finite", max(changes) < 10.0),
            as_printed("accelerations don't grow with the friction", pushes[2] / pushes[0], 1.0, tol=0.02),
            sound("there were captures", len(changes) >= 2),
            sound("a shock would be seen: it grows with the friction", struck[2] / struck[0], 100.0, tol=0.05),
        ),
        residual=max(float(moved(shop, SLEIGH, until=3.0).residual), float(moved(shop, INCLINE, until=12.0).residual)),
        data={"rates": changes, "accelerations": pushes},
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
    recorded="added",
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
        comparisons=(as_added("the simple choice fails at times", wrong > 0),),
        data={"wrong": wrong, "cases": cases},
    )


def _held(M: np.ndarray, rows: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return acceleration and multipliers where these rows are held."""
    found = reactions(ContactProblem(M, Q, [Contact(normal=row, bilateral=True) for row in rows]))
    assert isinstance(found, Reactions)
    return found.solutions[0].acceleration, found.solutions[0].normal
