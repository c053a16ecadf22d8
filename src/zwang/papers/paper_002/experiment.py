"""Section 7 of paper 002: the experiment, in which a string through a ring at C makes the ellipse."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq

from zwang import simulate
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_002.pendulum import JOINT, SINGULAR, SLIM, STRING, TOUCHING, label_of, polar_angle, space, start
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import SERIES, new_figure
from zwang.results import Motion

START = (-0.3, 0.42)
"""Polar angle of C and its rate."""
Values = tuple[tuple[str, float], ...]
SLACKS = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
PULLED, PUSHED = 0.9, 0.95
"""Curvatures of the ellipse at the fold on both sides of the one at which a two-sided guide begins to push."""
BOTH_PUSHED = 0.998
"""A curvature at which it would push on the branch - as well."""
LAST_PULLS = (0.918523204, 0.995281196)
"""Where it begins to push in the limit at the fold, on the branches + and -: roots in forty digits, from Lagrange's
equations in the two angles, written out by hand."""


def longer(slack: float, case: dict[str, Any]) -> dict[str, Any]:
    """Return the ellipse of a string that is longer by `slack`, between the same foci."""
    r1 = case["r1"] + slack / 2
    return {"r1": r1, "r2": math.sqrt(r1**2 - case["r1"] ** 2 + case["r2"] ** 2), "a": case["a"]}


def bent(curvature: float) -> dict[str, Any]:
    """Return the ellipse with the long axis of the touching one and a curvature r1/r2^2 at the fold."""
    r1 = TOUCHING["r1"]
    return {"r1": r1, "r2": math.sqrt(r1 / curvature), "a": 1 - r1}


@lru_cache(maxsize=64)
def _run(system: Any, state: Values, params: Values, until: float) -> Motion:
    return simulate(system, dict(state), dict(params), until=until)


def run(shop: Workshop, name: str, label: int, until: float = 1.6, **changes: float) -> Motion:
    """Return the motion from the start on the branch of a label."""
    state, params = start(shop, name, *START, label, **changes)
    return _run(shop.system(name), tuple(state.items()), tuple(params.items()), until)


def _places(motion: Motion, kind: str) -> list[float]:
    """Return the polar angles of C at the events of a kind."""
    return [float(polar_angle(motion.at(event.time))) for event in motion.events.of(kind)]


def _gap(shop: Workshop, motion: Motion, times: Any) -> Any:
    """Return how far C is inside the ellipse, along its normal, to first order."""
    state = motion.at(times)
    phi, psi, p = state["phi"], state["psi"], motion.params
    x, y = 2 * np.cos(phi) + np.cos(psi) - p["a"], 2 * np.sin(phi) + np.sin(psi)
    inside = (1 - x**2 / p["r1"] ** 2 - y**2 / p["r2"] ** 2) / 2
    return inside / np.hypot(x / p["r1"] ** 2, y / p["r2"] ** 2)


@claim(
    "002-string-length",
    place="section 7, length of the string",
    statement="The string through the ring, fixed in the foci, makes the ellipse of section 2 if it has the right "
    "length.",
    printed="`l0 = 1 - a`",
    recorded="corrected",
    systems=(STRING,),
    errata=("burian2017-16",),
)
def string_length(shop: Workshop) -> Finding:
    system, rng, right, total = shop.system(STRING), shop.rng(7), {"1 - a": 0, "2 (1 - a)": 0}, 0
    held_by: Any = system.constraints["ellipse"]
    guide = held_by.expr
    for case in (SLIM, TOUCHING):
        params = shop.values(STRING, **case)[1]
        symbols = {item: params[item.name] for item in guide.free_symbols if item in system.parameters}
        expr = guide.subs(symbols)
        focus = math.sqrt(case["r1"] ** 2 - case["r2"] ** 2)
        for phi, psi in rng.uniform(-3, 3, size=(60, 2)):
            x, y = 2 * math.cos(phi) + math.cos(psi), 2 * math.sin(phi) + math.sin(psi)
            taut = sum(math.hypot(x - case["a"] - sign * focus, y) for sign in (-1, 1))
            held = float(expr.subs(dict(zip(system.coordinates, (phi, psi), strict=True)))) >= 0
            right["1 - a"] += held == (taut <= 1 - case["a"])
            right["2 (1 - a)"] += held == (taut <= 2 * (1 - case["a"]))
            total += 1
    return Finding(
        computed=f"{total} random poses: the declared constraint is what a string of length 1 - a allows in "
        f"{right['1 - a']}, and what one of length 2 (1 - a) allows in {right['2 (1 - a)']}.",
        comparisons=(
            as_printed("poses for l0 = 1 - a", right["1 - a"], total),
            as_corrected("poses for l0 = 2 (1 - a)", right["2 (1 - a)"], total),
        ),
        corrected="`l0 = 2 (1 - a) = 2 r1`: the sum of the distances from the foci is twice the semi-axis.",
    )


@claim(
    "002-longer-string",
    place="section 7, longer string",
    statement="On a taut string that is longer than the critical one there is no folded pose, so that the pendulum "
    "can't change its branch without leaving the string.",
    printed="`l > l0`: no folded pose on the constraint",
    recorded="confirmed",
    systems=(JOINT,),
)
def no_fold(shop: Workshop) -> Finding:
    found = [space(shop, JOINT, **longer(slack, case)) for case in (SLIM, TOUCHING) for slack in (1e-2, 1e-3)]
    pure = []
    for item in found:
        for arc in item.branches:
            q = arc.sampled(300)
            pure.append(len(set(label_of({"phi": q[:, 0], "psi": q[:, 1]}))) == 1)
    return Finding(
        computed=f"String longer by 0.01 and by 0.001, two ellipses: {vec([item.components for item in found])} "
        f"components without singular points, and every arc keeps its label.",
        comparisons=(
            as_printed("two components", [item.components for item in found], [2] * 4),
            as_printed("singular points", sum(len(item.singular_points) for item in found), 0),
            as_printed("arcs keep their label", all(pure)),
        ),
        residual=max(float(item.residual) for item in found),
    )


@claim(
    "002-string-crossing",
    place="section 7, observed motion, branches that cross",
    statement="With a string that is a little too long the pendulum leaves it near the folded pose, flies over to the "
    "other branch and hits it; both places tend to the folded pose as the string is shortened.",
    printed="the points of leaving and of impact tend to (0, pi) as the excess length tends to 0; the branch changes",
    recorded="corrected",
    systems=(STRING, JOINT),
    new="at crossings with a curvature near 1 a two-sided guide would have to push before the fold; the multiplier "
    "along the branch was followed to its zero, and strings on both sides of it were run",
)
def string_crossing(shop: Workshop) -> Finding:
    orders, switched, lost, residuals = [], [], [], [0.0]
    for case in (SLIM, bent(PULLED)):
        for label in (1, -1):
            motions = [run(shop, STRING, label, **longer(slack, case)) for slack in SLACKS]
            leave = [abs(_places(motion, "lift-off")[0]) for motion in motions]
            land = [abs(_places(motion, "impact")[0]) for motion in motions]
            loss = [float(motion.energy["total"][0] - motion.energy["total"][-1]) for motion in motions]
            orders += [float(np.polyfit(np.log(SLACKS), np.log(values), 1)[0]) for values in (leave, land)]
            lost.append(float(np.polyfit(np.log(SLACKS), np.log(loss), 1)[0]))
            switched += [float(label_of(motion.end)) * label for motion in motions]
            residuals += [float(motion.residual) for motion in motions]
    pushed = {label: [run(shop, STRING, label, **longer(s, bent(PUSHED))) for s in SLACKS[2:4]] for label in (1, -1)}
    kept = {label: [float(label_of(motion.end)) * label for motion in motions] for label, motions in pushed.items()}
    hits = [abs(_places(motion, "impact")[0]) for motion in pushed[1]]
    nearest = [run(shop, STRING, -1, **longer(s, bent(BOTH_PUSHED))) for s in SLACKS[2::2]]
    left = [abs(_places(motion, "lift-off")[0]) for motion in nearest]
    limit, other = last_pull(shop, 1), last_pull(shop, -1)
    return Finding(
        computed=f"Curvatures 0.713 and {PULLED}, excess length s from 1e-5 to 1e-9, both starts: the places of "
        f"leaving and of impact go like s to the {vec(orders, 3)}, the energy lost like s to the {vec(lost, 3)}; the "
        f"label changes in {sum(x < 0 for x in switched)} of {len(switched)}. Curvature {PUSHED}, from the branch +: "
        f"the first impact stays at {vec(hits, 3)} rad and the label is kept. Curvature {BOTH_PUSHED}, from the branch "
        f"-: it leaves at {vec(left, 3)} rad before the fold. A two-sided guide pulls all the way up to the curvature "
        f"{num(limit, 5)} on the branch +, and {num(other, 5)} on the branch -.",
        comparisons=(
            as_printed("the label changes every time, curvature 0.95 too", [*switched, *kept[1]], [-1.0] * 22),
            as_corrected("both places tend to the folded pose", bool(min(orders) > 0.1)),
            as_corrected("the label changes every time where the guide pulls", switched, [-1.0] * len(switched)),
            as_corrected("beyond, from the branch +, it is kept", kept[1], [1.0, 1.0]),
            as_corrected("beyond, from the branch -, it changes", kept[-1], [-1.0, -1.0]),
            as_corrected("beyond, the impact stays away from the fold", hits[1] / hits[0], 1.0, tol=0.1),
            as_corrected("it is left at a distance on the branch -, nearer to 1", left[1] / left[0], 1.0, tol=0.01),
            as_corrected("the guide pulls up to the curvatures", [limit, other], LAST_PULLS, tol=1e-5),
            sound("orders 1/4", orders, [0.25] * 8, tol=0.03),
            sound("order of the loss", lost, [1.0] * 4, tol=0.03),
        ),
        corrected="True where the multiplier of a two-sided guide stays a pull on the way to the fold: for this start "
        "on the branch + up to a curvature of 0.9185, on the branch - up to 0.9953. Beyond it the string is left at a "
        "finite distance before the fold; from the branch +, and from 0.925 on, the pendulum then lands on the branch "
        "from which it came.",
        residual=max(residuals),
        data={"last pull": [limit, other], "orders": orders},
    )


@claim(
    "002-string-stays",
    place="section 7, critical length",
    statement="With the critical length C stays on the ellipse all the time.",
    printed="at the critical length C always stays on the ellipse",
    recorded="corrected",
    systems=(STRING, JOINT),
    errata=("burian2017-17",),
)
def string_stays(shop: Workshop) -> Finding:
    pushes = {name: _first_push(shop, case) for name, case in (("crossing", SLIM), ("touching", TOUCHING))}
    small = [run(shop, STRING, -1, **longer(slack, TOUCHING)) for slack in (1e-8, 1e-9, 1e-10)]
    leave = [_places(motion, "lift-off")[0] for motion in small]
    flights = [_last_gap(shop, motion) for motion in small]
    crossing = [_places(run(shop, STRING, -1, **longer(slack, SLIM)), "lift-off")[0] for slack in (1e-7, 1e-9)]
    near = {k: _first_push(shop, bent(k), 1) for k in (PULLED, PUSHED)}
    other = {k: _first_push(shop, bent(k), -1) for k in (PUSHED, BOTH_PUSHED)}
    limits = [last_pull(shop, label) for label in (1, -1)]
    return Finding(
        computed="Where the branches touch a two-sided guide would have to push from phi = "
        f"{num(pushes['touching'], 3)} on, which a string can't: it is left at phi = {vec(leave, 4)} for excess "
        f"lengths 1e-8, 1e-9, 1e-10, and in the last flight C is up to {num(max(flights), 2)} inside the ellipse. "
        f"Where they cross it is left at {vec(crossing, 2)} for 1e-7, 1e-9, at the curvature 0.713; at {PUSHED} the "
        f"guide would push from phi = {num(near[PUSHED], 3)} on, on the branch +, and at {BOTH_PUSHED} from "
        f"{num(other[BOTH_PUSHED], 3)} on, on the branch -. It pulls all the way up to the curvatures {vec(limits, 5)} "
        "on the two branches.",
        comparisons=(
            as_printed("contact is lost only in the point", bool(max(np.abs(leave)) < 0.01)),
            as_corrected("crossing: the force stays a pull", pushes["crossing"], 0.0),
            as_corrected(f"crossing, curvature {PULLED}: the force stays a pull", near[PULLED], 0.0),
            as_corrected(f"crossing, curvature {PUSHED}: a push before the fold", near[PUSHED] < -0.01),
            as_corrected(f"branch -, curvature {PUSHED}: the force stays a pull", other[PUSHED], 0.0),
            as_corrected(f"branch -, curvature {BOTH_PUSHED}: a push before the fold", other[BOTH_PUSHED] < -0.1),
            as_corrected("the guide pulls up to the curvatures", limits, LAST_PULLS, tol=1e-5),
            as_corrected("touching: contact is lost at a finite distance", bool(np.abs(leave).min() > 0.1)),
            as_corrected("the same for all small excess lengths", float(np.ptp(leave)) < 2e-4),
            as_corrected("crossing: the place of leaving tends to 0", abs(crossing[1] / crossing[0]) < 0.35),
            sound("the flight is hardly visible", bool(1e-5 < max(flights) < 1e-2)),
        ),
        corrected="True where the multiplier of a two-sided guide stays a pull: where the branches cross with a "
        "curvature up to 0.9185 for this start on the branch +, and up to 0.9953 on the branch -. Nearer to 1 it "
        "becomes a push before the fold, and where they touch it tends to plus infinity; a string can't push, and "
        "contact is lost at a finite distance, though the gap is too small to be seen.",
        residual=max(float(motion.residual) for motion in small),
        data={"leave": leave, "gap": max(flights)},
        pictures=(_gap_picture(shop),),
    )


def last_pull(shop: Workshop, label: int) -> float:
    """Return the curvature at which a two-sided guide begins to push, next to the fold, on the branch of a label.

    It begins there: further from the fold the multiplier changes its sign at larger curvatures.
    """
    near = np.array([START[0], -3e-3])
    return float(brentq(lambda k: _pushes(shop, bent(k), label, near)[1], 0.85, 0.999, xtol=1e-10))


def _first_push(shop: Workshop, case: dict[str, Any], label: int = -1) -> float:
    """Return where a two-sided guide begins to push C outwards on the way to the folded pose, or 0."""
    phi = np.linspace(START[0], -1e-3, 300)
    pushing = np.flatnonzero(_pushes(shop, case, label, phi) > 0)
    return float(phi[pushing[0]]) if len(pushing) else 0.0


def _pushes(shop: Workshop, case: dict[str, Any], label: int, phi: Any) -> Any:
    """Return the multiplier of a two-sided guide at polar angles of C, the first of which is the start."""
    model = shop.model(JOINT)
    single = [start(shop, JOINT, float(angle), 1.0, label, **case)[0] for angle in phi]
    states = {key: np.array([item[key] for item in single]) for key in single[0]}
    params = shop.values(JOINT, **case)[1]
    inertia, potential = np.asarray(model.terms(states, params).energies)
    energy = inertia[0] * START[1] ** 2 + potential[0]
    rate = np.sqrt((energy - potential) / inertia)  # by conservation of energy, from the start
    moving = {key: value * (rate if key.startswith("v_") else 1.0) for key, value in states.items()}
    # f grows outwards: a positive multiplier pushes C out.
    return np.asarray(model.multipliers(moving, params)["ellipse"])


def _last_gap(shop: Workshop, motion: Motion) -> float:
    """Return the largest distance of C from the ellipse in the last flight before contact stays closed."""
    hits = [event.time for event in motion.events.of("impact")]
    return float(_gap(shop, motion, np.linspace(hits[-2] + 1e-9, hits[-1] - 1e-9, 400)).max())


def _gap_picture(shop: Workshop) -> Picture:
    def make() -> Any:
        figure, ax = new_figure((6.0, 3.6))
        for k, (name, case) in enumerate((("crossing", SLIM), ("touching", TOUCHING))):
            motion = run(shop, STRING, -1, **longer(1e-8, case))
            times = np.linspace(0.0, motion.t[-1], 4000)
            gap = _gap(shop, motion, times)
            ax.semilogy(polar_angle(motion.at(times)), np.where(gap > 1e-11, gap, np.nan), color=SERIES[k], label=name)
        ax.set_xlabel("φ, the polar angle of C [rad]")
        ax.set_ylabel("C inside the ellipse [m]")
        ax.legend()
        return figure

    return Picture(
        "gap",
        "How far C is inside the ellipse, with a string longer by 1e-8. Where the branches cross it flies once, over a "
        "stretch that shrinks with the excess length. Where they touch it is off most of the way, with impacts that "
        "crowd before the folded pose and a last long flight.",
        make,
    )


@claim(
    "002-string-switches",
    place="section 7, last sentence",
    statement="At the critical length the pendulum changes the branch at every passage.",
    printed="it always goes from one branch to the other",
    recorded="corrected",
    systems=(STRING, JOINT),
    new="where the branches touch, both arrive in the folded pose with the same velocity, so that a string that has "
    "been left there lets the pendulum fly to one and the same branch, whichever it came from",
)
def string_switches(shop: Workshop) -> Finding:
    after = {
        name: [float(label_of(run(shop, STRING, label, **longer(1e-8, case)).end)) for label in (1, -1)]
        for name, case in (("crossing", SLIM), ("near", bent(PUSHED)), ("touching", TOUCHING))
    }
    # The flight from the folded pose itself, with the common velocity of both branches.
    free = shop.system(JOINT).replace(constraints=[])
    values = shop.values(JOINT)[1]
    v = 0.6
    params = {item.name: values[item.name] for item in free.parameters}
    flight = simulate(free, {**SINGULAR, "v_phi": v, "v_psi": v}, params, until=0.3)
    labels = label_of(flight.at(np.linspace(0.02, 0.3, 20)))
    return Finding(
        computed=f"Starts on the branches + and -: after the passage the labels are {vec(after['crossing'])} where the "
        f"branches cross, {vec(after['near'])} where they cross with the curvature {PUSHED} and "
        f"{vec(after['touching'])} where they touch (string longer by 1e-8, inelastic). A free "
        f"flight from the folded pose with the common velocity has the label {num(labels[0])}.",
        comparisons=(
            as_printed("touching: the labels change", after["touching"], [-1.0, 1.0]),
            as_printed("crossing: the labels change", after["crossing"], [-1.0, 1.0]),
            as_corrected("touching: both land on one branch", after["touching"], [1.0, 1.0]),
            as_corrected("crossing: the labels change", after["crossing"], [-1.0, 1.0]),
            as_corrected("crossing, nearly touching: both land on one branch", after["near"], [1.0, 1.0]),
            as_corrected("the free flight goes to that branch", [float(x) for x in labels], [1.0] * 20),
        ),
        corrected="True where the branches cross and the guide pulls on the way, for this start up to a curvature of "
        "0.9185. Where they touch, and where they cross with a curvature from about 0.925 on, an inelastic string "
        "brings the pendulum to the branch + when it passes towards positive phi (and to - the other way), so that one "
        "of the two arrivals keeps its branch.",
    )
