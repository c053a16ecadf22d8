"""Example 5 of paper 001: a rod that slides with its foot on a rough floor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang import Contact, ContactProblem
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_001.families import ask, omega
from zwang.papers.paper_001.pictures import reaction_graph
from zwang.papers.wording import num, share, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import new_figure

ROD, CENTRED = "painleve_rod_tip", "painleve_rod"


def posed(a: Any, h: Any) -> dict[str, Any]:
    """Return length and angle of a rod whose centre is at (a, h) from its foot."""
    return {"l": np.hypot(a, h), "theta": np.arctan2(h, a)}


def _random(shop: Workshop, seed: int, count: int) -> dict[str, Any]:
    """Return random rods with l >= 1 under random forces."""
    rng = shop.rng(seed)
    l, theta = rng.uniform(1.0, 3.0, size=count), rng.uniform(0.02, math.pi - 0.02, size=count)
    forces = {f"F{i}": rng.normal(size=count) * 3 for i in (1, 2, 3)}
    return {"l": l, "theta": theta, "mu": rng.uniform(0, 3, size=count), "g": 0.0, **forces}


def _sides(values: dict[str, Any]) -> tuple[Any, Any]:
    a, h = values["l"] * np.cos(values["theta"]), values["l"] * np.sin(values["theta"])
    return 1 + a**2, values["mu"] * a * h


def free_gap(shop: Workshop, values: dict[str, Any]) -> Any:
    """Return the acceleration of the gap without contact: (A^-1 F)_2, from the arrays of each rod."""
    names = list(values)
    columns = np.broadcast_arrays(*values.values())
    found = []
    for numbers in zip(*(column.ravel() for column in columns), strict=True):
        problem = shop.problem(ROD, **dict(zip(names, map(float, numbers), strict=True)))
        found.append(
            float(problem.rows.normal[0] @ np.linalg.solve(problem.mass, problem.force) - problem.rows.bias[0])
        )
    return np.array(found)


def two_sided(shop: Workshop, **values: float) -> Any:
    """Return the reactions of the rod whose foot is held on the floor from both sides."""
    problem = shop.problem(ROD, **values)
    rows = problem.rows
    contact = Contact(
        rows.normal[0],
        tangent=rows.tangent[0],
        friction=rows.friction[0],
        bilateral=True,
        slip=rows.slip,
        bias=rows.bias[0],
    )
    return ask(ContactProblem(problem.mass, problem.force, [contact]), certify=False)


@claim(
    "001-ex5-matrices",
    place="example 5, (4.9)",
    statement="In coordinates of the foot the rod of unit mass and unit radius of gyration has a mass matrix and an "
    "inverse in closed form.",
    printed="`A = (1, 0, -h; 0, 1, a; -h, a, 1 + l^2)`; `A^-1 = (1 + h^2, -a h, h; -a h, 1 + a^2, -a; h, -a, 1)`",
    recorded="confirmed",
    systems=(ROD,),
)
def matrices(shop: Workshop) -> Finding:
    errors = [0.0, 0.0, 0.0]
    F = {"F1": 0.7, "F2": -1.1, "F3": 0.4}
    for a, h in shop.rng(81).uniform((-2, 0.1), (2, 2), size=(20, 2)):
        problem = shop.problem(ROD, g=0.0, **posed(a, h), **F)
        A = problem.mass
        mass = np.array([[1, 0, -h], [0, 1, a], [-h, a, 1 + a**2 + h**2]])
        inverse = np.array([[1 + h**2, -a * h, h], [-a * h, 1 + a**2, -a], [h, -a, 1]])
        errors[0] = max(errors[0], float(np.abs(A - mass).max()))
        errors[1] = max(errors[1], float(np.abs(np.linalg.inv(A) - inverse).max()))
        errors[2] = max(errors[2], float(np.abs(problem.force - list(F.values())).max()))
    return Finding(
        computed=f"20 random rods: A to {num(errors[0], 1)}, its inverse to {num(errors[1], 1)}, the right sides of "
        f"(4.9) to {num(errors[2], 1)}.",
        comparisons=(
            as_printed("A", errors[0], 0.0),
            as_printed("inverse of A", errors[1], 0.0),
            as_printed("right sides of (4.9)", errors[2], 0.0),
        ),
    )


@claim(
    "001-ex5-omega",
    place="example 5, before (4.10)",
    statement="The matrix Omega of the rod is one number, linear in the friction coefficient.",
    printed="`Omega = 1 + a^2 - mubar a h`",
    recorded="confirmed",
    systems=(ROD,),
)
def omega_of_rod(shop: Workshop) -> Finding:
    worst = 0.0
    for a, h, mubar in shop.rng(82).uniform(-2, 2, size=(20, 3)):
        value = omega(shop.problem(ROD, **posed(a, abs(h))), [mubar])[0, 0]
        worst = max(worst, abs(float(value) - (1 + a**2 - mubar * a * abs(h))))
    return Finding(
        computed=f"20 random rods and coefficients: from the derived rows to {num(worst, 1)}.",
        comparisons=(as_printed("Omega", worst, 0.0),),
    )


@claim(
    "001-ex5-unique",
    place="example 5, (4.10)",
    statement="If `1 + a^2 > mu |a| h`, there is exactly one solution, for one- and two-sided contact and every force.",
    printed="`1 + a^2 > mu |a| h`",
    recorded="confirmed",
    systems=(ROD,),
)
def unique(shop: Workshop) -> Finding:
    count = shop.many(3000, 60_000)
    values = _random(shop, 83, count)
    first, second = _sides(values)
    holds = first > np.abs(second)
    wrong, residual = 0, 0.0
    for slip in (-1.0, 0.0, 1.0):
        found = shop.ask(ROD, v_x=slip, **values)
        wrong += int((found.counts[holds] != 1).sum())
        residual = max(residual, found.residual)
    both = 0
    chosen = np.flatnonzero(holds)[: shop.many(60, 600)]
    for place in chosen:
        one = {key: float(np.broadcast_to(value, (count,))[place]) for key, value in values.items()}
        both += two_sided(shop, v_x=float(place % 3 - 1), **one).status.name != "UNIQUE"
    return Finding(
        computed=f"{int(holds.sum())} random rods and forces that meet (4.10), sliding either way and at rest: {wrong} "
        f"without exactly one solution; held from both sides {share(both, len(chosen))}.",
        comparisons=(as_printed("one-sided failures", wrong, 0), as_printed("two-sided failures", both, 0)),
        residual=residual,
    )


@claim(
    "001-ex5-paradox-friction",
    place="example 5, (4.10) as an equality",
    statement="The condition is sharp: the smallest friction that leaves some force without exactly one solution is "
    "`(1 + a^2)/(|a| h)`.",
    printed="`1 + a^2 = mu |a| h`",
    recorded="confirmed",
    systems=(ROD,),
)
def paradox_friction(shop: Workshop) -> Finding:
    theta = np.radians(np.linspace(92, 165, 74))
    l = float(shop.entry(ROD).params["l"])
    low, high = np.zeros(theta.shape), np.full(theta.shape, 60.0)
    for _ in range(45):
        middle = (low + high) / 2
        one = shop.ask(ROD, theta=theta, mu=middle, v_x=1.0).counts == 1
        low, high = np.where(one, middle, low), np.where(one, high, middle)
    a, h = l * np.cos(theta), l * np.sin(theta)
    expected = (1 + a**2) / (np.abs(a) * h)
    best = int(np.argmin(low))
    near = slice(best - 2, best + 3)
    curve = np.polynomial.Polynomial.fit(theta[near], low[near], 4)
    turns = [float(root.real) for root in curve.deriv().roots() if theta[best - 2] < root.real < theta[best + 2]]
    angle = turns[0] if turns else float(theta[best])
    degrees = 180 - math.degrees(angle)

    def draw() -> Any:
        figure, ax = new_figure((5.6, 3.1))
        ax.plot(np.degrees(theta), low, "o", markersize=3, label="computed")
        ax.plot(np.degrees(theta), expected, "-", linewidth=1, label="(4.10)")
        ax.set(xlabel="angle of the rod [°]", ylabel="friction at which one solution is lost", ylim=(0, 8))
        ax.legend()
        return figure

    return Finding(
        computed=f"By halving at {len(theta)} obtuse angles, l^2 = {num(l**2)}: the formula is met to "
        f"{num(float(np.abs(low / expected - 1).max()), 1)}; the smallest friction is {num(float(curve(angle)))}, "
        f"{num(degrees, 5)}° from the floor.",
        comparisons=(as_printed("friction at which one solution is lost", low, expected, tol=1e-7),),
        data={"friction": float(curve(angle)), "angle": degrees},
        pictures=(Picture("limit", "Where the rod loses its one solution under gravity.", draw),),
    )


@claim(
    "001-ex5-centre",
    place="example 5 and (4.10), in coordinates of the centre",
    statement="What holds for the rod doesn't depend on the coordinates: described by its centre, the uniform rod of "
    "half length 1 loses its one solution where `1 + a^2 = mu |a| h` for `l^2 = 3`.",
    printed="`1 + a^2 > mu |a| h`, with lengths in units of the radius of gyration",
    recorded="confirmed",
    systems=(CENTRED,),
)
def centre(shop: Workshop) -> Finding:
    params = shop.entry(CENTRED).params
    degrees = np.linspace(20.0, 85.0, 27)
    theta, unit = np.radians(degrees), math.sqrt(params["J"] / params["m"])
    a, h = params["l"] * np.cos(theta) / unit, params["l"] * np.sin(theta) / unit
    state = shop.held(CENTRED, ["tip"], {"tip": -1.0}, theta=theta)
    low, high = np.zeros(theta.shape), np.full(theta.shape, 60.0)
    for _ in range(45):
        middle = (low + high) / 2
        one = shop.ask(CENTRED, mu=middle, **state).counts == 1
        low, high = np.where(one, middle, low), np.where(one, high, middle)
    expected = (1 + a**2) / (a * h)
    found = shop.ask(CENTRED)
    a0, h0 = (params["l"] * part(shop.entry(CENTRED).state["theta"]) / unit for part in (math.cos, math.sin))
    force = params["m"] * params["g"] / (1 + a0**2 - params["mu"] * a0 * h0)
    return Finding(
        computed=f"By halving at {len(theta)} angles: the friction at which one solution is lost meets (4.10) to "
        f"{num(float(np.abs(low / expected - 1).max()), 1)}. At 60° with mu = {num(params['mu'])} the normal force is "
        f"{num(found.solutions[0].normal[0])}, from Omega of example 5 {num(force)}.",
        comparisons=(
            as_printed("friction at which one solution is lost", low, expected, tol=1e-7),
            as_printed("normal force m g/Omega", found.solutions[0].normal[0], force),
        ),
        residual=found.residual,
    )


@claim(
    "001-ex5-reversed-two-sided",
    place="example 5, after (4.10)",
    statement="If (4.10) is reversed and the foot is held from both sides, there are none or two solutions.",
    printed="either no solution or two",
    recorded="confirmed",
    systems=(ROD,),
)
def reversed_two_sided(shop: Workshop) -> Finding:
    count = shop.many(120, 1500)
    values = _random(shop, 84, 6 * count)
    first, second = _sides(values)
    chosen = np.flatnonzero(first < np.abs(second))[:count]
    numbers = []
    for place in chosen:
        one = {key: float(np.broadcast_to(value, (6 * count,))[place]) for key, value in values.items()}
        numbers.append(len(two_sided(shop, v_x=float(1 - 2 * (place % 2)), **one).accelerations))
    seen = sorted(set(numbers))
    return Finding(
        computed=f"{len(chosen)} random rods that violate (4.10), held from both sides and sliding: {numbers.count(0)} "
        f"have no solution, {numbers.count(2)} have two; numbers seen: {vec(seen)}.",
        comparisons=(as_printed("numbers of solutions", seen, [0, 2], tol=0.0),),
    )


@claim(
    "001-ex5-reversed",
    place="example 5, after (4.10)",
    statement="If (4.10) is reversed and the floor only pushes, there are none or two solutions, whichever way it "
    "slides.",
    printed="either no solution or two",
    recorded="corrected",
    systems=(ROD,),
    errata=("ivanov-27",),
)
def reversed_one_sided(shop: Workshop) -> Finding:
    count = shop.many(400, 6000)
    values = _random(shop, 85, count)
    first, second = _sides(values)
    violated = first < np.abs(second)
    gap = free_gap(shop, values)
    wrong = numbers = 0
    for slip in (-1.0, 1.0):
        counts = shop.ask(ROD, v_x=slip, **values).counts
        steep = first + slip * second < 0
        expected = np.where(steep, np.where(gap > 0, 2, 0), 1)
        wrong += int((counts != expected)[violated].sum())
        numbers += int((counts == 1)[violated].sum())
    pose = {key: float(value) for key, value in posed(-0.8, 1.5).items()}
    one = shop.ask(ROD, v_x=-1.0, mu=2.0, **pose)

    cases = (
        ("v < 0: friction raises the line, one solution.", -1.0, 0.0),
        ("v > 0: friction turns the line down, and it misses the L.", 1.0, 0.0),
        ("v > 0, turning with 4 rad/s: it meets the L twice.", 1.0, 4.0),
    )

    def graph(words: str, slip: float, spin: float) -> Picture:
        def make() -> Any:
            return reaction_graph(shop.ask(ROD, v_x=slip, v_theta=spin, mu=2.0, **pose))

        return Picture(f"graph-{cases.index((words, slip, spin))}", words, make)

    return Finding(
        computed=f"a = -0.8, h = 1.5, mu = 2, v = -1: (4.10) fails and there is {len(one.accelerations)} solution. Of "
        f"{2 * int(violated.sum())} random sliding rods that violate (4.10) {numbers} have one; the corrected rule is "
        f"wrong for {wrong}.",
        comparisons=(
            as_printed("solutions for v = -1", len(one.accelerations) in (0, 2)),
            as_corrected("disagreements with the rule", wrong, 0),
            sound("(4.10) fails there", 1 + 0.64 < 2 * 0.8 * 1.5),
        ),
        pictures=tuple(graph(*case) for case in cases),
        corrected="Only if `1 + a^2 + mu a h sgn(v) < 0`: none if the free acceleration of the gap is negative, two if "
        "it is positive. In the other direction there is exactly one.",
        residual=one.residual,
    )


@claim(
    "001-ex5-reversed-at-rest",
    place="example 5, after (4.10), foot at rest",
    statement="If (4.10) is reversed, there are none or two solutions; a foot at rest is no exception.",
    printed="either no solution or two",
    recorded="corrected",
    systems=(ROD,),
    errata=("ivanov-27",),
)
def reversed_at_rest(shop: Workshop) -> Finding:
    count = shop.many(4000, 60_000)
    values = _random(shop, 86, count)
    first, second = _sides(values)
    found = shop.ask(ROD, v_x=0.0, **values)
    counts = found.counts[first < np.abs(second)]
    seen = sorted({int(number) for number in counts})
    return Finding(
        computed=f"{len(counts)} random rods at rest that violate (4.10): {int((counts == 1).sum())} have one "
        f"solution, {int((counts == 3).sum())} have three; numbers seen: {vec(seen)}.",
        comparisons=(
            as_printed("numbers of solutions are 0 or 2", set(seen) <= {0, 2}),
            as_corrected("numbers of solutions", seen, [1, 3], tol=0.0),
        ),
        corrected="At rest there is always a solution: one, or three.",
        residual=found.residual,
    )


@claim(
    "001-ex5-gravity",
    place="example 5, last sentence",
    statement="Under gravity alone the rod can't slide in a direction that makes an obtuse angle with it (where "
    "(4.10) fails).",
    printed="it can't slide at an obtuse angle",
    recorded="corrected",
    systems=(ROD,),
    errata=("ivanov-28",),
)
def gravity(shop: Workshop) -> Finding:
    g, mu = float(shop.entry(ROD).params["g"]), 3.0
    l, theta = float(shop.entry(ROD).params["l"]), float(shop.entry(ROD).state["theta"])
    h = l * math.sin(theta)
    spins = np.linspace(0.0, 2 * math.sqrt(g / h), 41)
    counts = shop.ask(ROD, mu=mu, v_x=1.0, v_theta=spins).counts
    low, high = 0.0, float(spins[-1])
    for _ in range(50):
        middle = (low + high) / 2
        none = shop.ask(ROD, mu=mu, v_x=1.0, v_theta=middle).status.name == "NONE"
        low, high = (middle, high) if none else (low, middle)
    return Finding(
        computed=f"120°, mu = 3, sliding against its slope: no solution up to an angular velocity of {num(low)} rad/s, "
        f"where `h omega^2/g` = {num(h * low**2 / g, 8)}; beyond it {int(counts[-1])} solutions.",
        comparisons=(
            as_printed("no solution at every angular velocity", bool((counts == 0).all())),
            as_corrected("h omega^2/g at the limit", h * low**2 / g, 1.0, tol=1e-7),
            as_corrected("two solutions beyond", int(counts[-1]), 2),
        ),
        corrected="Only while `h omega^2 < g`; a rod that turns faster has two solutions.",
    )
