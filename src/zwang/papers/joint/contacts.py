"""Springs (paper 003) decide a paradox of friction (paper 001), viscous friction (004) the end of a contact."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from zwang import Event, Stiffness, System, Unilateral, Viscosity, compile, limit, parameters, rate, realize, simulate
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_added, as_printed, sound
from zwang.papers.joint.passages import slope
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import SERIES, new_figure

ROD = "painleve_rod"
(STRENGTH,) = parameters("N_spring,")
STRENGTHS = (1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10)
LAWS = ("newton", "poisson", "energetic")
PARADOX = {"mu": 1.4}


@lru_cache(maxsize=64)
def _thrown(system: System, strength: float, values: tuple[tuple[str, float], ...]) -> tuple[float, float, float]:
    """Return normal speed and time when a spring lets the tip go again, and the residual of the motion."""
    state, params = Workshop().values(ROD, **dict(values))
    soft = realize(system, "tip", by=Stiffness(STRENGTH))
    known = {item.name for item in soft.parameters}
    motion = simulate(
        compile(soft),
        state,
        {name: value for name, value in {**params, STRENGTH.name: strength}.items() if name in known},
        until=100.0 / math.sqrt(strength) * math.log10(strength),
        tol=1e-11,
        events=[Event(_gap(system), direction=1, stop=True, name="open")],
    )
    speed = compile(system).gap_rates(motion.end, params)["tip"]
    return float(speed), float(motion.t[-1]), float(motion.residual)


def thrown(shop: Workshop, strength: float) -> tuple[float, float, float]:
    """Return what a spring does with the rod in the paradox."""
    return _thrown(shop.system(ROD), strength, tuple(PARADOX.items()))


def by_law(shop: Workshop, law: str, e: float = 1.0) -> float:
    """Return the normal speed after an impact without collision by a law."""
    state, params = shop.values(ROD, **PARADOX, e=e)
    motion = simulate(shop.system(ROD), state, params, until=1e-3, impact=law, at_paradox="impact")
    after = motion.events.of("impact")[0].details["after"]
    names = [item.name for item in shop.system(ROD).velocities]
    return float(shop.model(ROD).gap_rates({**state, **dict(zip(names, after, strict=True))}, params)["tip"])


@claim(
    "001-joint-paradox",
    place="after (3.10), on Painlevé's paradoxes; the contact made by a spring",
    statement="Where friction is too large for a rigid contact, a stiff one ends the slip in a very short time and "
    "throws the rod off, as by an impact after the energetic law with restitution 1.",
    printed="nothing on stiff contacts: a rigid one has no motion one way, as in Painlevé's paradoxes",
    recorded="added",
    systems=(ROD,),
    new="normal speeds after the contact of springs over six decades, with the energetic law as their limit",
)
def paradox(shop: Workshop) -> Finding:
    asked = shop.ask(ROD, **PARADOX)
    speeds = [thrown(shop, N) for N in STRENGTHS]
    laws = {law: by_law(shop, law) for law in LAWS}
    off = [abs(speed - laws["energetic"]) for speed, _, _ in speeds]
    newton, poisson, energetic = (num(round(laws[law], 12), 3) for law in LAWS)
    figures = ", ".join(f"{num(speed, 3)} at N = {N:.0e}" for N, (speed, _, _) in zip(STRENGTHS, speeds, strict=True))
    return Finding(
        computed=f"A rigid contact has no reaction ({asked.status.name}). On springs the rod is thrown off with the "
        f"normal speed {figures}. The laws of impact with restitution 1 say {newton} (Newton), {poisson} "
        f"(Poisson), {energetic} (energetic).",
        comparisons=(
            as_added("the rod is thrown off at every stiffness", all(speed > 0 for speed, _, _ in speeds)),
            sound("the rigid laws have no reaction", asked.status.name, "NONE"),
            as_added("normal speed at N = 1e6", speeds[2][0], 0.203, tol=5e-3),
            as_added("normal speed at N = 1e8", speeds[4][0], 0.123, tol=5e-3),
            as_added("the energetic law with restitution 1", laws["energetic"], 0.0919, tol=5e-4),
            as_added("the springs come nearer to it with each decade", bool((np.diff(off) < 0).all())),
            as_added("the stiffest is near it, and far from the other laws", off[-1] < 0.1 * _nearest(laws, speeds)),
        ),
        residual=max(residual for _, _, residual in speeds),
        data={"strengths": list(STRENGTHS), "speeds": [speed for speed, _, _ in speeds], "laws": laws},
        pictures=(_speeds(shop),),
    )


def _nearest(laws: dict[str, float], speeds: list[tuple[float, float, float]]) -> float:
    """Return how far the stiffest spring is from Newton's and Poisson's laws."""
    return min(abs(speeds[-1][0] - laws[name]) for name in ("newton", "poisson"))


def _speeds(shop: Workshop) -> Picture:
    def make() -> Any:
        figure, ax = new_figure((5.6, 3.8))
        ax.semilogx(STRENGTHS, [thrown(shop, N)[0] for N in STRENGTHS], "o-", color=SERIES[0], ms=4, label="spring")
        for law, colour in zip(LAWS, (SERIES[1], SERIES[2], SERIES[3]), strict=True):
            ax.axhline(by_law(shop, law), color=colour, lw=1, ls="--", label=f"{law} law, restitution 1")
        ax.set_xlabel("stiffness N")
        ax.set_ylabel("normal speed after the contact [m/s]")
        ax.legend(frameon=False, loc="upper right")
        return figure

    return Picture(
        "speeds", "How fast the rod leaves the floor after a paradox: springs tend to one law of impact, slowly.", make
    )


@claim(
    "001-joint-paradox-time",
    place="after (3.10); the contact made by a spring",
    statement="In the paradox the force of a stiff contact runs away, in a time that shrinks with its stiffness.",
    printed="nothing: a rigid contact has no time",
    recorded="added",
    systems=(ROD,),
    new="the growth rate follows from the rows of the contact; the time is like `N^(-1/2) log N`",
)
def paradox_time(shop: Workshop) -> Finding:
    problem = shop.problem(ROD, **PARADOX)
    (contact,) = problem.contacts
    mass, row, slip = np.asarray(problem.mass), np.asarray(contact.normal), np.atleast_2d(contact.tangent)[0]
    # Sliding: the gap accelerates by B per unit of normal force, and B < 0 in the paradox.
    push = np.linalg.solve(mass, row - PARADOX["mu"] * slip * np.sign(_slip(shop)))
    B = float(row @ push)
    strengths = (1e9, 1e10, 1e11, 1e12)
    scaled = [thrown(shop, N)[1] * math.sqrt(N) for N in strengths]
    measured = (scaled[-1] - scaled[-2]) / math.log(strengths[-1] / strengths[-2])
    expected = 1 / (2 * math.sqrt(-B))
    return Finding(
        computed=f"Time of contact times `N^(1/2)` is {vec(scaled, 4)} for N = 1e9 to 1e12: in the last decade it "
        f"grows by {num(measured, 3)} with log N; the rate at which a small force grows, `(-B N)^(1/2)` with "
        f"B = {num(B, 3)}, makes that {num(expected, 3)}.",
        comparisons=(
            as_added("the time is like N^(-1/2) log N", measured, expected, tol=0.03),
            sound("the gap accelerates against the force", B < 0),
        ),
        residual=max(thrown(shop, N)[2] for N in strengths),
        data={"times": scaled, "strengths": list(strengths)},
    )


def _slip(shop: Workshop) -> float:
    state, params = shop.values(ROD, **PARADOX)
    return float(np.ravel(shop.model(ROD).slips(state, params)["tip"])[0])


@claim(
    "001-joint-choice",
    place="introduction, on Painlevé; the contact made by a spring",
    statement="With sliding friction there may be several motions; and a stiff contact chooses by how it began.",
    printed="Painlevé showed in 1895 that sliding friction allows several solutions, or none",
    recorded="confirmed",
    systems=(ROD,),
    new="a spring that starts with a little more or less than the force of a solution ends differently for every N",
)
def choice(shop: Workshop) -> Finding:
    theta, spin = shop.values(ROD)[0]["theta"], -5.0
    turning = {"v_theta": spin, "v_x": -1.0 - math.sin(theta) * spin, "v_y": math.cos(theta) * spin, **PARADOX}
    asked = shop.ask(ROD, **turning)
    state, params = shop.values(ROD, **turning)
    motion = simulate(shop.system(ROD), state, params, until=0.05, at_choice="realize")
    return Finding(
        computed=f"{motion.reason}",
        comparisons=(
            as_printed("the rigid laws have several solutions", asked.status.name, "MULTIPLE"),
            sound("no spring decides: the motion stops", motion.status.name, "CHOICE"),
            sound("it says that no limit exists", "No limit exists" in motion.reason),
        ),
        residual=asked.residual,
    )


@claim(
    "004-joint-contact",
    place="section 3, viscous friction in place of a one-sided constraint, for a contact that closes",
    statement="Viscous friction on one side realizes a one-sided constraint that the motion runs into.",
    printed="one-sided differential constraints can be realized by anisotropic viscous friction",
    recorded="confirmed",
    systems=(ROD,),
    new="the same contact by a spring throws the body back with restitution 1: the realization decides the impact",
)
def contact(shop: Workshop) -> Finding:
    system = shop.system(ROD)
    gap = _gap(system)
    state, params = shop.values(ROD, mu=0.0, v_x=0.0, v_y=-1.0, v_theta=0.5)
    damped = System(
        name="rod_on_oil",
        coordinates=system.coordinates,
        kinetic=system.kinetic,
        potential=system.potential,
        constraints=[Unilateral(rate(gap), name="tip")],
    )
    plain = {name: value for name, value in params.items() if name not in ("mu", "e")}
    strengths = (1e3, 1e4, 1e5, 1e6)
    study = limit(damped, "tip", state, plain, by=Viscosity, until=0.05, strengths=strengths, workers=1)
    off = np.abs(study.q - study.ideal_positions).max(axis=(1, 2))
    power = slope(strengths, off)
    after = {e: _struck(system, state, {**params, "e": e}) for e in (0.0, 1.0)}
    slow = study.ideal.v[0] if study.ideal is not None else np.full(3, np.nan)
    spring, residual = _bounced(system, state, params)
    return Finding(
        computed=f"A frictionless tip comes down with {num(_rate(system, state, params), 4)} m/s. Made of viscous "
        "friction the contact stops it: the positions tend to those after an impact with restitution 0, like N to the "
        f"{num(power, 3)}. Made of a spring of N = 1e10 it leaves with {num(spring, 4)} m/s: restitution 1.",
        comparisons=(
            as_printed("exponent of the distance", power, -1.0, tol=0.03),
            as_printed("velocity after it: an impact without restitution", slow, after[0.0], tol=1e-9),
            sound("a spring: an impact with restitution 1", spring, -_rate(system, state, params), tol=1e-3),
        ),
        residual=residual,
        data={"distances": off, "strengths": list(strengths)},
    )


def _gap(system: System) -> Any:
    tip = system.constraints["tip"]
    assert isinstance(tip, Unilateral)
    return tip.expr


def _rate(system: System, state: dict[str, float], params: dict[str, float]) -> float:
    return float(compile(system).gap_rates(state, params)["tip"])


def _struck(system: System, state: dict[str, float], params: dict[str, float]) -> Any:
    motion = simulate(system, state, params, until=1e-6, impact="newton")
    return motion.events.of("impact")[0].details["after"]


def _bounced(system: System, state: dict[str, float], params: dict[str, float]) -> tuple[float, float]:
    soft = realize(system, "tip", by=Stiffness(STRENGTH))
    known = {item.name for item in soft.parameters}
    values = {name: value for name, value in {**params, STRENGTH.name: 1e10}.items() if name in known}
    opens = Event(_gap(system), direction=1, stop=True, name="open")
    motion = simulate(compile(soft), state, values, until=1e-3, tol=1e-11, events=[opens])
    return _rate(system, motion.end, params), float(motion.residual)
