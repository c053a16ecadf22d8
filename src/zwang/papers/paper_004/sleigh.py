"""Section 4 of paper 004: the one-sided sleigh itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.paper_004.motions import ON_BLADE, SLEIGH, across, moved, path
from zwang.papers.wording import num, share, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import new_figure


def flight(delta: float, omega: float, speed: float = 1.0) -> dict[str, float]:
    """Return a start whose velocity makes the angle delta with the blade, to the permitted side."""
    return {"phi": 0.0, "v_x": speed * math.cos(delta), "v_y": speed * math.sin(delta), "v_phi": omega}


@claim(
    "004-equations",
    place="section 4, equations of motion",
    statement="The blade pushes across itself with a multiplier, and doesn't turn the disc.",
    printed="`m x'' = mu sin(phi)`, `m y'' = -mu cos(phi)`, `phi'' = 0`",
    recorded="confirmed",
    systems=(SLEIGH,),
)
def equations(shop: Workshop) -> Finding:
    worst = 0.0
    for phi in shop.rng(51).uniform(-3, 3, size=12):
        v = 1.3
        changes = {"phi": phi, "v_x": v * math.cos(phi), "v_y": v * math.sin(phi), "v_phi": 0.7}
        found = shop.ask(SLEIGH, **changes)
        mu, a = -float(found.solutions[0].normal[0]), found.accelerations[0]
        m = shop.values(SLEIGH)[1]["m"]
        worst = max(worst, float(np.abs(a - [mu * math.sin(phi) / m, -mu * math.cos(phi) / m, 0.0]).max()))
    return Finding(
        computed=f"12 states on the blade: accelerations as printed to {num(worst, 1)}, with mu minus our multiplier.",
        comparisons=(as_printed("largest difference", worst, 0.0),),
        residual=worst,
    )


@claim(
    "004-straight-then-circle",
    place="section 4",
    statement="The disc first flies along a straight line, turning evenly, and runs on a circle once the blade points "
    "along the velocity.",
    printed="straight line, then the circle of the two-sided sleigh",
    recorded="confirmed",
    systems=(SLEIGH,),
)
def straight_then_circle(shop: Workshop) -> Finding:
    motion = moved(shop, SLEIGH, until=3.0)
    facts = shop.entry(SLEIGH).facts
    caught = motion.events.of("capture")[0].time
    at = motion.at(caught)
    t = np.linspace(caught, 3.0, 200)
    state = motion.at(t)
    speed = math.hypot(at["v_x"], at["v_y"])
    centre = (at["x"] - at["v_y"] / at["v_phi"], at["y"] + at["v_x"] / at["v_phi"])
    radii = np.hypot(state["x"] - centre[0], state["y"] - centre[1])
    return Finding(
        computed=f"Captured at t = {num(caught, 12)} at {vec((at['x'], at['y']), 8)}; from then on the distance from "
        f"{vec(centre, 5)} is {num(radii.mean(), 8)} with a spread of {num(np.ptp(radii), 1)}.",
        comparisons=(
            as_printed("time of capture", caught, facts["capture_time"].value, tol=1e-10),
            as_printed("place of capture", (at["x"], at["y"]), facts["capture_place"].value, tol=1e-10),
            as_printed("the path is a circle", np.ptp(radii), 0.0, tol=1e-9),
            as_printed("its radius", radii.mean(), facts["radius"].value, tol=1e-9),
            sound("speed", speed, 1.0),
        ),
        pictures=(_path(shop),),
    )


def _path(shop: Workshop) -> Picture:
    def make() -> Any:
        motion = moved(shop, SLEIGH, until=7.0)
        _, x, y = path(motion)
        at = motion.at(motion.events[0].time)
        figure, ax = new_figure((4.6, 4.0))
        ax.plot(x, y, color="#0072b2")
        ax.plot(at["x"], at["y"], "o", color="#d55e00")
        ax.annotate("capture", (at["x"], at["y"]), xytext=(6, -12), textcoords="offset points", color="#d55e00")
        ax.set_aspect("equal")
        ax.set_xlabel("x [m]")
        ax.set_ylabel("y [m]")
        return figure

    return Picture("sleigh-path", "Path of the centre: a straight flight, the capture, the circle.", make)


@claim(
    "004-always-captured",
    place="section 4: at some moment the system comes to the constraint",
    statement="Whatever the start, the blade catches after some time.",
    printed="at some moment `x' sin(phi) - y' cos(phi) = 0`",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-9",),
)
def always_captured(shop: Workshop) -> Finding:
    still = moved(shop, SLEIGH, until=60.0, **flight(1.0, 0.0))
    errors = []
    for delta, omega in ((1.0, 1.0), (0.4, 2.0), (1.0, -1.0), (2.5, -0.7)):
        motion = moved(shop, SLEIGH, until=8.0, **flight(delta, omega))
        closed = delta / omega if omega > 0 else (math.pi - delta) / -omega
        errors.append(abs(motion.events.of("capture")[0].time - closed))
    return Finding(
        computed=f"With omega = 0 nothing happens in 60 s ({len(still.events)} events); for both signs of omega the "
        f"times of capture are those of the closed form to {num(max(errors), 1)}.",
        comparisons=(
            as_printed("captured for omega = 0 too", bool(still.events.of("capture"))),
            as_corrected("times of capture", max(errors), 0.0, tol=1e-9),
        ),
        corrected="For omega not 0: at `delta/omega` (omega > 0) or `(pi - delta)/abs(omega)` (omega < 0), delta the "
        "angle from the blade to the velocity; never for omega = 0.",
    )


@claim(
    "004-reaction-direction",
    place="section 4: why the sleigh stays on the circle",
    statement="The reaction points into the region that the constraint forbids.",
    printed="directed strictly inside the region forbidden by the constraint",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-8",),
)
def reaction_direction(shop: Workshop) -> Finding:
    pushes = []
    for omega in (1.0, -1.0):
        # Backwards along the blade for negative omega: there the blade must push.
        found = shop.ask(SLEIGH, **{**ON_BLADE, "v_phi": omega, "v_x": math.copysign(1.0, omega)})
        row = shop.problem(SLEIGH, **ON_BLADE).rows.normal[0]
        force = row * float(found.solutions[0].normal[0])
        pushes.append(float(row @ force))
    return Finding(
        computed=f"On the circle the reaction changes the velocity across the blade at the rate {vec(pushes)} (omega = "
        "1, -1) towards the permitted side.",
        comparisons=(
            as_printed("it points to the forbidden side", max(pushes) < 0),
            as_corrected("it points to the permitted side", min(pushes) > 0),
        ),
        corrected="Into the permitted region, as the paper's next sentence says: `W^T mu` with `mu < 0` lowers `W q'`.",
    )


@claim(
    "004-never-leaves",
    place="section 4",
    statement="Once on the circle the sleigh never leaves it.",
    printed="the sleigh doesn't leave the circle",
    recorded="confirmed",
    systems=(SLEIGH,),
)
def never_leaves(shop: Workshop) -> Finding:
    released, least = 0, math.inf
    for delta, omega in ((1.0, 1.0), (1.0, -1.0)):
        motion = moved(shop, SLEIGH, until=40.0, **flight(delta, omega))
        released += len(motion.events.of("release"))
        held = motion.t > motion.events.of("capture")[0].time
        least = min(least, float(motion.reactions["blade"][held].min()))
    return Finding(
        computed=f"40 s for both signs of omega: {released} releases, the force of the blade is at least {num(least)}.",
        comparisons=(
            as_printed("releases", released, 0),
            as_printed("force m V |omega|", least, 1.0, tol=1e-8),
        ),
    )


@claim(
    "004-rotation",
    place="section 4",
    statement="The disc turns evenly.",
    printed="`phi(t) = omega t + phi_0`",
    recorded="confirmed",
    systems=(SLEIGH,),
)
def rotation(shop: Workshop) -> Finding:
    motion = moved(shop, SLEIGH, until=3.0)
    expected = motion.q[0, 2] + motion.v[0, 2] * motion.t
    error = float(np.abs(motion.q[:, 2] - expected).max())
    return Finding(
        computed=f"Through flight and circle the angle is linear in time to {num(error, 1)}.",
        comparisons=(as_printed("phi", motion.q[:, 2], expected, tol=1e-11),),
        residual=error,
    )


@claim(
    "004-speed",
    place="section 4, integral of energy",
    statement="The speed of the centre is constant.",
    printed="`x'^2 + y'^2 = V^2`",
    recorded="confirmed",
    systems=(SLEIGH,),
)
def speed(shop: Workshop) -> Finding:
    motion = moved(shop, SLEIGH, until=3.0)
    squares = (motion.v[:, :2] ** 2).sum(axis=1)
    return Finding(
        computed=f"V^2 = {num(squares[0])} changes by {num(np.ptp(squares), 1)}.",
        comparisons=(as_printed("change of the speed squared", np.ptp(squares), 0.0, tol=1e-10),),
    )


@claim(
    "004-velocity",
    place="section 4",
    statement="On the constraint the velocity points along the blade.",
    printed="`x' = V cos(omega t + phi_0)`, `y' = V sin(omega t + phi_0)`",
    recorded="confirmed",
    systems=(SLEIGH,),
)
def velocity(shop: Workshop) -> Finding:
    motion = moved(shop, SLEIGH, until=6.0, **ON_BLADE)
    expected = np.stack([np.cos(motion.t), np.sin(motion.t)], axis=1)
    error = float(np.abs(motion.v[:, :2] - expected).max())
    return Finding(
        computed=f"Started on the blade with V = omega = 1: the velocity is as printed to {num(error, 1)}, and the "
        f"velocity across the blade stays below {num(np.abs(across(motion)).max(), 1)}.",
        comparisons=(as_printed("velocity", motion.v[:, :2], expected, tol=1e-9),),
        residual=error,
    )


@claim(
    "004-radius",
    place="section 4",
    statement="The radius of the circle is the speed over the angular velocity.",
    printed="`rho^2 = V^2/omega^2`",
    recorded="confirmed",
    systems=(SLEIGH,),
)
def radius(shop: Workshop) -> Finding:
    cases, good = shop.many(6, 30), 0
    for speed_, omega in shop.rng(52).uniform((0.3, 0.5), (2.0, 3.0), size=(cases, 2)):
        motion = moved(shop, SLEIGH, until=4.0, **{**ON_BLADE, "v_x": speed_, "v_phi": omega})
        _, x, y = path(motion, 101)
        expected = speed_ / omega
        good += bool(np.abs(np.hypot(x, y - expected) - expected).max() <= 1e-9)
    return Finding(
        computed=f"{share(good, cases)} random starts run on the circle of radius V/omega.",
        comparisons=(as_printed("starts on that circle", good, cases),),
    )
