"""Sections 2.1 and 2.2 of paper 000: constraints, friction and the change to generalized coordinates."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp
from scipy.optimize import brentq

from zwang import compile, derive, hold, reactions, trace
from zwang.gallery.pendulum_on_ellipse import place
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, as_corrected, as_printed, sound
from zwang.papers.paper_000.studies import RODS, ROUGH, SMOOTH, FamilyTerms, terms_of
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop

ROD = "painleve_rod_tip"
POSES = ((-0.5, 0.4, 1), (-0.3, 0.42, 1), (0.4, 0.7, 1), (0.6, -0.5, -1), (-0.4, -0.3, -1))


def _pose(shop: Workshop, name: str, phi: float, rate: float, label: int = 1) -> dict[str, float]:
    state, params = shop.values(name)
    everything = place(params, phi, rate, label)
    return {key: everything[key] for key in state}


def _friction(shop: Workshop, pose: dict[str, float]) -> tuple[Any, float, float]:
    """Return the generalized friction force, the multiplier and the declared friction force of the only solution."""
    (solution,) = shop.ask(ROUGH, **pose).solutions
    lam = float(solution.normal[0])
    left = terms_of(shop, ROUGH, **pose).friction(solution.acceleration, lam)
    return left, lam, float(np.ravel(solution.tangential[0])[0])


def _guide(shop: Workshop, pose: dict[str, float]) -> tuple[Any, Any, Any]:
    """Return the velocity of C, the gradient of the ellipse there, and dC/dq, from the geometry."""
    p = shop.values(ROUGH)[1]
    phi, psi = pose["phi"], pose["psi"]
    slopes = np.array(
        [[-p["l1"] * math.sin(phi), -p["l2"] * math.sin(psi)], [p["l1"] * math.cos(phi), p["l2"] * math.cos(psi)]]
    )
    C = np.array([slopes[1].sum(), -slopes[0].sum()])
    gradient = np.array([(C[0] - p["a"]) / p["r1"] ** 2, C[1] / p["r2"] ** 2])
    return slopes @ [pose["v_phi"], pose["v_psi"]], gradient, slopes


@claim(
    "000-number-of-constraints",
    place="section 2, first lines, and section 2.3",
    statement="How many constraints leave N points in the plane a one-dimensional configuration space.",
    printed="`N - 1` constraints",
    recorded="corrected",
    systems=(RODS,),
    errata=("burian2024-1",),
)
def number_of_constraints(shop: Workshop) -> Finding:
    system, (state, params) = shop.system(RODS), shop.values(RODS)
    values = {item: {**state, **params}[item.name] for item in (*system.coordinates, *system.parameters)}
    table = np.array(derive(system).rows.subs(values), dtype=float)
    points = len(system.coordinates) // 2
    left = [2 * points - int(np.linalg.matrix_rank(table[:k])) for k in range(1, len(table) + 1)]
    space = trace(system, params)
    needed = 1 + left.index(1) if 1 in left else 0
    return Finding(
        computed=f"The pendulum has N = {points} moving points. Its constraints, taken one after another, leave "
        f"{', '.join(map(str, left))} dimensions; tracing the whole mechanism gives dimension {space.dimension}.",
        comparisons=(
            as_printed("constraints that leave one dimension", needed, points - 1),
            as_corrected("constraints that leave one dimension", needed, 2 * points - 1),
            sound("dimension found by tracing", space.dimension, left[-1]),
        ),
        corrected="`2 N - 1` constraints, so that the last of them is `f_{2N-1}`",
        residual=space.residual,
    )


@claim(
    "000-friction-force",
    place="section 2.1, (1)",
    statement="Friction on the guided point is opposite to its velocity and mu times the normal reaction.",
    printed="`F_k = -mu e_k |lambda_k| |grad f_k|`",
    recorded="confirmed",
    systems=(ROUGH,),
)
def friction_force(shop: Workshop) -> Finding:
    mu = shop.values(ROUGH)[1]["mu"]
    got, wanted, along, expected = [], [], [], []
    for pose in (_pose(shop, ROUGH, *item) for item in POSES):
        left, lam, tangential = _friction(shop, pose)
        v, gradient, slopes = _guide(shop, pose)
        force = -mu * v / np.linalg.norm(v) * abs(lam) * np.linalg.norm(gradient)
        got.append(left)
        wanted.append(slopes.T @ force)
        along.append(tangential)
        expected.append(float(force @ [gradient[1], -gradient[0]]) / float(np.linalg.norm(gradient)))
    return Finding(
        computed=f"In {len(POSES)} poses of the pendulum on its rough ellipse, what the equations of motion leave for "
        "friction is the power of (1) on every virtual displacement.",
        comparisons=(
            as_printed("generalized friction", np.array(got), np.array(wanted), tol=1e-10),
            sound("friction along the guide, clockwise", along, expected, tol=1e-10),
        ),
    )


@claim(
    "000-eq2-friction-term",
    place="section 2.1, (2)",
    statement="How the friction vector F, defined just before, enters the equations of motion.",
    printed="`M r'' = G + sum lambda_i grad f_i + |lambda_k| F`",
    recorded="corrected",
    systems=(ROUGH,),
    errata=("burian2024-2",),
)
def friction_term(shop: Workshop) -> Finding:
    mu = shop.values(ROUGH)[1]["mu"]
    got, squared, once = [], [], []
    for pose in (_pose(shop, ROUGH, *item) for item in POSES):
        left, lam, _ = _friction(shop, pose)
        v, gradient, slopes = _guide(shop, pose)
        W = slopes.T @ (-mu * v / np.linalg.norm(v) * np.linalg.norm(gradient))
        got.append(left)
        squared.append(abs(lam) ** 2 * W)
        once.append(abs(lam) * W)
    worst = float(np.abs(np.array(squared) - np.array(got)).max() / np.abs(got).max())
    return Finding(
        computed=f"F already has the factor |lambda_k|. A second one would make friction off by up to "
        f"{num(100 * worst, 3)} % in {len(POSES)} poses of the pendulum.",
        comparisons=(
            as_printed("friction with |lambda| twice", np.array(got), np.array(squared)),
            as_corrected("friction with |lambda| once", np.array(got), np.array(once)),
        ),
        corrected="`M r'' = G + sum lambda_i grad f_i + F`",
    )


@claim(
    "000-same-multipliers",
    place="section 2.2, before (3)",
    statement="Gradients of constraints turn into gradients under a change to generalized coordinates, so that the "
    "multiplier of the guide stays what it was.",
    printed="`grad f · dr/dq_i = df/dq_i`",
    recorded="confirmed",
    systems=(RODS, SMOOTH, ROUGH),
)
def same_multipliers(shop: Workshop) -> Finding:
    cartesian, joint, greased = [], [], []
    for item in POSES:
        (solution,) = shop.ask(RODS, **_pose(shop, RODS, *item)).solutions
        cartesian.append(float(solution.normal[list(solution.names).index("ellipse")]))
        (solution,) = shop.ask(SMOOTH, **_pose(shop, SMOOTH, *item)).solutions
        joint.append(float(solution.normal[0]))
        (solution,) = shop.ask(ROUGH, **_pose(shop, ROUGH, *item), mu=0.0).solutions
        greased.append(float(solution.normal[0]))
    return Finding(
        computed=f"Multiplier of the ellipse in {len(POSES)} poses, from four Cartesian coordinates and from two "
        f"angles: {vec(cartesian, 4)} both times.",
        comparisons=(
            as_printed("multipliers", joint, cartesian),
            as_printed("multipliers of the rough guide with mu = 0", greased, cartesian),
        ),
    )


def _W(shop: Workshop, pose: dict[str, float], factor: float) -> Any:
    moved = {key: factor * value if key.startswith("v_") else value for key, value in pose.items()}
    left, lam, _ = _friction(shop, moved)
    return left / abs(lam)


@claim(
    "000-friction-odd",
    place="section 2.2, after (3)",
    statement="When the motion is reversed, the friction vector W changes its sign.",
    printed="`W(q, -v) = -W(q, v)`",
    recorded="confirmed",
    systems=(ROUGH,),
)
def friction_odd(shop: Workshop) -> Finding:
    poses = [_pose(shop, ROUGH, *item) for item in POSES]
    there = np.array([_W(shop, pose, 1.0) for pose in poses])
    back = np.array([_W(shop, pose, -1.0) for pose in poses])
    return Finding(
        computed=f"In {len(poses)} poses W and its reverse add up to at most {num(np.abs(there + back).max(), 1)}; W "
        f"itself is up to {num(np.abs(there).max(), 3)}.",
        comparisons=(as_printed("W(q, -v)", back, -there),),
    )


@claim(
    "000-friction-not-linear",
    place="section 2.2, after (3)",
    statement="How the friction vector W depends on the velocity.",
    printed="F is linear in the velocity of the points and W is linear in `q'`",
    recorded="corrected",
    systems=(ROUGH,),
    errata=("burian2024-3",),
)
def friction_not_linear(shop: Workshop) -> Finding:
    poses = [_pose(shop, ROUGH, *item) for item in POSES]
    slow = np.array([_W(shop, pose, 1.0) for pose in poses])
    fast = np.array([_W(shop, pose, 2.0) for pose in poses])
    return Finding(
        computed=f"At twice the speed W is the same to {num(np.abs(fast - slow).max(), 1)}.",
        comparisons=(
            as_printed("W(q, 2 v) = 2 W(q, v)", fast, 2 * slow),
            as_corrected("W(q, 2 v) = W(q, v)", fast, slow),
        ),
        corrected="W is odd and homogeneous of degree 0 in the velocity; only its oddness is used.",
    )


@claim(
    "000-friction-smooth",
    place="end of section 2.2",
    statement="W is smooth because the gradient of the guide doesn't vanish.",
    printed="`grad f_k != 0`, therefore W is smooth",
    recorded="corrected",
    systems=(ROUGH,),
    errata=("burian2024-4",),
)
def friction_smooth(shop: Workshop) -> Finding:
    eps, p = -1e-3, shop.values(ROUGH)[1]
    reach = p["l1"] - p["l2"]

    def level(phi: float) -> float:
        x, y = reach * math.cos(phi), reach * math.sin(phi)
        return float(((x - p["a"]) ** 2 / p["r1"] ** 2 + y**2 / p["r2"] ** 2 - 1) / 2 - eps)

    turn = float(brentq(level, 1e-3, 0.5, xtol=1e-15))
    sides = [_beside(shop, turn, step) for step in (-1e-8, 1e-8)]
    sizes = [float(np.linalg.norm(item.W)) for item in sides]
    jump = float(np.linalg.norm(sides[1].W - sides[0].W)) / max(sizes)
    pose = {"phi": turn, "psi": turn + math.pi, "v_phi": 1.0, "v_psi": p["l1"] / p["l2"]}
    v, gradient, _ = _guide(shop, pose)
    crossing = abs(float(terms_of(shop, ROUGH, **pose).gradient @ [pose["v_phi"], pose["v_psi"]]))
    return Finding(
        computed=f"On f = {num(eps)} the rods are folded at phi = {num(turn)}. There the pendulum moves, but its "
        f"guided point stands still (speed {num(np.linalg.norm(v), 1)}), the gradient of the guide is "
        f"{num(np.linalg.norm(gradient), 4)}, and W jumps by {num(jump, 6)} times its size.",
        comparisons=(
            as_printed("jump of W", jump, 0.0),
            as_corrected("jump of W, where the velocity of the guided point turns round", jump, 2.0, tol=1e-6),
            sound("the gradient of the guide is not zero", bool(np.linalg.norm(gradient) > 0.1)),
            sound("speed of the guided point", float(np.linalg.norm(v)), 0.0, tol=1e-12),
            sound("the velocity is one of the perturbed curve", crossing, 0.0, tol=1e-12),
        ),
        corrected="W is smooth where the guided point moves, `v_k != 0`. At a singular point of a mechanism there is "
        "always a direction of motion with `v_k = 0`.",
        data={"turning angle": turn, "jump": jump},
    )


def _beside(shop: Workshop, turn: float, step: float) -> FamilyTerms:
    """Return the quantities on the perturbed curve a little before or after its folded pose."""
    p = shop.values(ROUGH)[1]
    # The curve leaves the folded pose along v_psi = (l1/l2) v_phi, the direction in which C stands still.
    pose = {"phi": turn + step, "psi": turn + math.pi + p["l1"] / p["l2"] * step}
    gradient = terms_of(shop, ROUGH, **pose, v_phi=1.0, v_psi=0.0).gradient
    along = np.array([gradient[1], -gradient[0]])
    along *= np.sign(along[0])
    return terms_of(shop, ROUGH, **pose, v_phi=float(along[0]), v_psi=float(along[1]))


@claim(
    "000-independent-bounded",
    place="introduction, and section 6, first sentence",
    statement="Where the constraints are independent, multipliers and reactions are bounded, also where the "
    "constraints are slightly perturbed.",
    printed="independent constraints imply bounded reactions",
    recorded="corrected",
    systems=(ROUGH, ROD),
    new="With friction `lambda = c/(a ± b)`, and `a = |b|` is reached with independent constraints: Painlevé's rod.",
)
def independent_bounded(shop: Workshop) -> Finding:
    sizes = np.array([1e-3, 1e-5, 1e-7, 1e-9])
    smooth = np.array([[_perturbed(shop, item, eps, 0.0) for eps in (0.0, *sizes)] for item in POSES])
    rough = np.array([[_perturbed(shop, item, eps, 0.2) for eps in (0.0, *sizes)] for item in POSES])
    drift = [float((np.abs(group[:, 1:] - group[:, :1]) / sizes).max()) for group in (smooth, rough)]
    theta, l = 2.0, 1.5
    a, h = l * math.cos(theta), l * math.sin(theta)
    edge = (1 + a**2) / (abs(a) * h)
    near = np.array([1e-1, 1e-3, 1e-5, 1e-7])
    forces = [_pressed(shop, theta=theta, l=l, mu=edge * (1 - part)) for part in near]
    power = float(np.polyfit(np.log(near), np.log(np.abs(forces)), 1)[0])
    return Finding(
        computed=f"The pendulum in {len(POSES)} poses away from its singular one: with f = eps the multiplier differs "
        f"from that at eps = 0 by at most {num(drift[0], 3)} eps without friction and {num(drift[1], 3)} eps with "
        f"mu = 0.2. Painlevé's rod, one constraint with a gradient of length 1: as mu comes within {near[-1]:g} of "
        f"{num(edge, 5)} the normal force grows to {num(forces[-1], 3)}, with the power {num(power, 4)}.",
        comparisons=(
            as_printed("with friction they are bounded too", abs(power) < 0.5),
            as_corrected("without friction, eps = 1e-9", smooth[:, -1], smooth[:, 0], tol=1e-5),
            as_corrected("with little of it, eps = 1e-9", rough[:, -1], rough[:, 0], tol=1e-5),
            as_corrected("power with which friction unbounds them", power, -1.0, tol=1e-3),
        ),
        corrected="Independent constraints bound the reactions where friction stays away from `a = |b|` in (8): "
        "without friction always, with friction for `|b| <= k a`, `k < 1`. Perturbing the constraints changes nothing "
        "in that.",
        data={"power": power},
    )


def _perturbed(shop: Workshop, item: tuple[float, float, int], eps: float, mu: float) -> float:
    """Return the only multiplier of the rough pendulum on f = eps, at a polar angle of the fold's pose."""
    pose = _pose(shop, ROUGH, *item)
    system, params = shop.system(ROUGH), {**shop.values(ROUGH)[1], "mu": mu}
    guide: Any = system.constraints["ellipse"]
    model = compile(system.replace(constraints=[replace(guide, expr=guide.expr - sp.Symbol("eps"))]))
    values = {**params, "eps": eps}
    on = hold(model, pose, values, ["ellipse"], fixed=["phi", "v_phi"])
    found: Any = reactions(model, on, values)
    (solution,) = found.solutions
    return float(solution.normal[0])


def _pressed(shop: Workshop, **changes: float) -> float:
    """Return the normal force of the rod whose foot slides towards the side on which its centre is."""
    found = shop.ask(ROD, v_x=1.0, **changes)
    return max(abs(float(item.normal[0])) for item in found.solutions if abs(float(item.normal[0])) > 0)


@claim(
    "000-proposition-1",
    place="section 2.3, proposition 1",
    statement="Where the gradients of all constraints depend on each other but those of all except the first don't, "
    "the gradient of the first vanishes in coordinates that satisfy the others.",
    printed="`grad f_1(q) = 0` at the singular point",
    recorded="confirmed",
    systems=(RODS, SMOOTH),
)
def proposition_1(shop: Workshop) -> Finding:
    rng, count = shop.rng(81), shop.many(12, 200)
    full = sp.lambdify([*_symbols(shop, RODS)], derive(shop.system(RODS)).rows, "numpy")
    free = sp.lambdify([*_symbols(shop, SMOOTH)], derive(shop.system(SMOOTH)).rows, "numpy")
    others, everything, largest = set(), set(), 0.0
    for _ in range(count):
        l2, more, r1, r2 = rng.uniform(0.4, 2.0, 4)
        # The ellipse hangs below A, or stands above it.
        turn = float(rng.choice([0.0, math.pi]))
        side = 1.0 if turn == 0.0 else -1.0
        p = {"l1": l2 + more, "l2": l2, "r1": r1, "r2": r2, "a": side * (more - r1)}
        points = {"x_B": side * p["l1"], "y_B": 0.0, "x_C": side * more, "y_C": 0.0}
        table = full(*(({**p, **points}).get(item.name, 1.0) for item in _symbols(shop, RODS)))
        others.add(int(np.linalg.matrix_rank(table[:2], tol=1e-9)))
        everything.add(int(np.linalg.matrix_rank(table, tol=1e-9)))
        angles = {"phi": turn, "psi": turn + math.pi}
        row = free(*(({**p, **angles}).get(item.name, 1.0) for item in _symbols(shop, SMOOTH)))
        largest = max(largest, float(np.abs(row).max()))
    return Finding(
        computed=f"{count} random pendulums in their folded pose: the rods alone have rank {max(others)}, rods and "
        f"ellipse rank {max(everything)}, and the gradient of the ellipse in the angles is at most {num(largest, 1)}.",
        comparisons=(
            as_printed("gradient in generalized coordinates", largest, 0.0, tol=1e-12),
            sound("rank of the rods", sorted(others), [2]),
            sound("rank of all", sorted(everything), [2]),
        ),
    )


def _symbols(shop: Workshop, name: str) -> list[Any]:
    system = shop.system(name)
    return [*system.coordinates, *system.parameters]
