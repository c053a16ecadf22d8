"""Random mechanisms: each way of computing one is held against another way.

Chains, four-bar loops and slider-cranks with random points, in units of length, mass and time from 1e-6 to 1e6, some of
them over a floor with friction and restitution. Masses, lengths and coefficients are parameters, so that a few kernels
serve all of them. One case asks one of the questions in `QUESTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import sympy as sp

from zwang._compile import Model, compile
from zwang._declare import Bilateral, System
from zwang._linkage import Linkage
from zwang._reactions import reactions
from zwang._results.reactions import Reactions
from zwang._selftest.answer_numbers import not_finite
from zwang._selftest.complaint import Complaint, generator, shrunk
from zwang._simulate import simulate
from zwang.errors import ZwangError

Array = npt.NDArray[np.float64]

NEAR = 1e-5
"""Of the mechanism's size: two ways of computing a smooth stretch agree to this."""
STEPPED = 2e-3
"""The same for time stepping beside events, where halving the step changes less than this."""
MOVED = {"impact", "contact", "accumulation", "capture", "release", "stick", "slip", "reversal", "singular", "choice"}
"""Events at which a velocity may jump."""


@dataclass(frozen=True)
class MechanismCase:
    """A mechanism and a question.

    Attributes
    ----------
    form : str
        chain, loop or slider.
    bars : int
        Of a chain.
    floor : bool
        Whether the last point of a chain is kept above a floor.
    rough : bool
        Whether the slider, or the floor, has friction.
    places, rates : tuples of pairs
        Positions and velocities of the points, in units of `length` and `length / time`.
    length, mass, time : float
        Units.
    mu, e, until : float
    question : str
    """

    form: str
    bars: int
    floor: bool
    rough: bool
    places: tuple[tuple[float, float], ...]
    rates: tuple[tuple[float, float], ...]
    length: float
    mass: float
    time: float
    mu: float
    e: float
    until: float
    question: str


@cache
def linkage(form: str, bars: int, floor: bool, rough: bool) -> Linkage:
    """Return the mechanism with symbols for all its numbers."""
    names = [f"P{i}" for i in range(1, bars + 1)]
    made = Linkage(f"{form} {bars}", gravity=(0, "-g")).ground("A", 0, 0)
    for name in names:
        made = made.point(name, mass=f"m_{name}")
    made = made.chain(["A", *names], lengths=[f"l{i}" for i in range(1, bars + 1)])
    if form == "loop":
        made = made.ground("D", "d", 0).bar(names[-1], "D", length="l0")
    if form == "slider":
        made = made.slider(names[-1], through=(0, "h"), direction=(1, 0), friction="mu" if rough else None)
    if floor:
        made = made.guide(
            names[-1], "y - h", unilateral=True, friction="mu" if rough else None, restitution="e", name="floor"
        )
    return made


@cache
def system_of(form: str, bars: int, floor: bool, rough: bool, coordinates: str) -> System:
    """Return its System in joint or Cartesian coordinates."""
    return linkage(form, bars, floor, rough).system(coordinates=coordinates)


@cache
def model_of(form: str, bars: int, floor: bool, rough: bool, coordinates: str, backend: str) -> Model:
    """Return its Model."""
    return compile(system_of(form, bars, floor, rough, coordinates), backend)


def draw(rng: np.random.Generator) -> MechanismCase:
    """Return a case."""
    form = str(rng.choice(["chain", "chain", "loop", "slider"]))
    bars = int(rng.integers(1, 4)) if form == "chain" else 2
    floor = form == "chain" and bool(rng.random() < 0.5)
    places = np.cumsum(rng.uniform(-1, 1, size=(bars, 2)) + np.array([0.4, 0.2]), axis=0)
    unit = [10.0 ** float(rng.integers(-6, 7)) if rng.random() < 0.3 else 1.0 for _ in range(3)]
    return MechanismCase(
        form,
        bars,
        floor,
        bool(rng.random() < 0.5) and (floor or form == "slider"),
        tuple((round(float(x), 3), round(float(y), 3)) for x, y in places),
        tuple((round(float(x), 3), round(float(y), 3)) for x, y in rng.normal(size=(bars, 2))),
        unit[0],
        unit[1],
        unit[2],
        float(rng.choice([0.1, 0.3, 0.6])),
        float(rng.choice([0.0, 0.5])),
        float(rng.choice([0.1, 0.3, 0.6])),
        str(rng.choice(list(QUESTIONS))),
    )


def params_of(case: MechanismCase) -> dict[str, float]:
    """Return the values of the parameters, lengths from the places."""
    points = np.array([(0.0, 0.0), *case.places]) * case.length
    values = {"g": 9.81 * case.length / case.time**2}
    for i in range(1, case.bars + 1):
        values[f"l{i}"] = float(np.linalg.norm(points[i] - points[i - 1]))
        values[f"m_P{i}"] = case.mass * (1.0 + 0.5 * i)
    if case.form == "loop":
        values["d"] = 1.5 * case.length
        values["l0"] = float(np.linalg.norm(points[-1] - np.array([values["d"], 0.0])))
    if case.form == "slider":
        values["h"] = float(points[-1, 1])
    if case.floor:
        values |= {"h": float(points[-1, 1]) - 0.15 * case.length, "e": case.e}
    if case.rough:
        values["mu"] = case.mu
    return values


def cartesian_state(case: MechanismCase) -> dict[str, float]:
    """Return positions as they are given, and the nearest velocities that the constraints allow."""
    state: dict[str, float] = {}
    for i, ((x, y), (vx, vy)) in enumerate(zip(case.places, case.rates, strict=True), start=1):
        speed = case.length / case.time
        state |= {f"x_P{i}": x * case.length, f"y_P{i}": y * case.length}
        state |= {f"v_x_P{i}": vx * speed, f"v_y_P{i}": vy * speed}
    return model(case, "cartesian").project(state, params_of(case))


def joint_state(case: MechanismCase, state: Mapping[str, float]) -> dict[str, float]:
    """Return angles and their rates for a Cartesian state."""
    found, before = {}, np.zeros(4)
    for i in range(1, case.bars + 1):
        now = np.array([state[f"{name}_P{i}"] for name in ("x", "y", "v_x", "v_y")])
        along = now - before
        if case.form == "loop" and i == case.bars:  # whose bar points from it to the ground
            along = np.array([params_of(case)["d"], 0.0, 0.0, 0.0]) - now
        (x, y, vx, vy), before = along, now
        found[f"theta_P{i}"] = float(np.arctan2(y, x))
        found[f"v_theta_P{i}"] = float((x * vy - y * vx) / (x * x + y * y))
    return model(case, "joint").project(found, params_of(case))


def model(case: MechanismCase, coordinates: str, backend: str = "native") -> Model:
    """Return the Model of a case."""
    return model_of(case.form, case.bars, case.floor, case.rough, coordinates, backend)


def points_of(case: MechanismCase, coordinates: str, state: Mapping[str, float]) -> Array:
    """Return the positions of the points, in units of length."""
    if coordinates == "cartesian":
        return np.array([[state[f"x_P{i}"], state[f"y_P{i}"]] for i in range(1, case.bars + 1)]) / case.length
    values, at, found = params_of(case), np.zeros(2), []
    for i in range(1, case.bars + 1):
        angle, length = state[f"theta_P{i}"], values[f"l{i}"]
        if case.form == "loop" and i == case.bars:
            at, length = np.array([values["d"], 0.0]), -values["l0"]
        at = at + length * np.array([np.cos(angle), np.sin(angle)])
        found.append(at)
    return np.array(found) / case.length


def moved(case: MechanismCase, coordinates: str = "cartesian", **options: Any) -> tuple[Any, Array]:
    """Return the motion and where its points end."""
    state = cartesian_state(case)
    start = state if coordinates == "cartesian" else joint_state(case, state)
    until = case.until * case.time
    motion = simulate(model(case, coordinates), start, params_of(case), until=until, impact="newton", **options)
    return motion, points_of(case, coordinates, motion.at(float(motion.t[-1])))


def _reached(*motions: Any) -> bool:
    return all(motion.status.name == "REACHED" for motion in motions)


def _apart(first: Array, second: Array) -> float:
    return float(np.abs(first - second).max())


def ask_coordinates(case: MechanismCase) -> str:
    """Joint and Cartesian coordinates end at the same place."""
    (one, here), (other, there) = moved(case), moved(case, "joint")
    if wrong := not_finite(one) or not_finite(other):
        return wrong
    if _reached(one, other) and _apart(here, there) > NEAR:
        return f"joint and Cartesian coordinates end apart: by {_apart(here, there):.1e}"
    return ""


def ask_units(case: MechanismCase) -> str:
    """Units of length, mass and time do not matter."""
    (one, here), (other, there) = moved(case), moved(replace(case, length=1.0, mass=1.0, time=1.0))
    if wrong := not_finite(one) or not_finite(other):
        return wrong
    if one.status != other.status:
        return f"statuses depend on units: {one.status.name} and {other.status.name}"
    if _reached(one, other) and _apart(here, there) > NEAR:
        return f"ends depend on units: apart by {_apart(here, there):.1e}"
    first, second = ({event.kind for event in motion.events} for motion in (one, other))
    return "" if first == second else f"events depend on units: {sorted(first)} and {sorted(second)}"


def ask_backends(case: MechanismCase) -> str:
    """Compiled code and the plain reference give the same accelerations."""
    state, values = cartesian_state(case), params_of(case)
    one, other = (model(case, "cartesian", name).evaluate(state, values) for name in ("native", "reference"))
    size = max(float(np.abs(other.accelerations).max()), values["g"])
    if wrong := not_finite(one) or not_finite(other):
        return wrong
    gap = float(np.abs(one.accelerations - other.accelerations).max()) / size
    return f"native and reference differ: by {gap:.1e}" if gap > 1e-8 else ""


def ask_stepping(case: MechanismCase) -> str:
    """Events and time stepping end at the same place, where halving the step changes little."""
    motion, here = moved(case)
    if wrong := not_finite(motion):
        return wrong
    if not _reached(motion):
        return ""
    step = 2e-3 * case.time
    (coarse, first), (fine, second) = (moved(case, method="timestepping", step=h) for h in (step, step / 2))
    if not _reached(coarse, fine) or _apart(first, second) > STEPPED:
        return ""
    gap = _apart(here, second)
    return f"events and time stepping end apart: by {gap:.1e}" if gap > 4 * STEPPED else ""


def ask_jumps(case: MechanismCase) -> str:
    """Every jump of a velocity has its event, and every impact its jump."""
    motion, _ = moved(case)
    if wrong := not_finite(motion):
        return wrong
    t, v = np.asarray(motion.t), np.asarray(motion.v)
    speed = case.length / case.time
    for i in np.flatnonzero(np.diff(t) == 0):
        size = float(np.abs(v[i + 1] - v[i]).max())
        near = [event for event in motion.events if abs(event.time - t[i]) <= 1e-6 * case.time]
        if size > 1e-6 * speed and not any(event.kind in MOVED for event in near):
            return f"a velocity jumps without an event: at t = {t[i]:g} by {size:.1e}"
    for event in motion.events:
        if event.kind == "impact" and not np.any((np.diff(t) == 0) & (np.abs(t[:-1] - event.time) <= 1e-6 * case.time)):
            return f"an impact without a jump: at t = {event.time:g}"
    return ""


def ask_watch(case: MechanismCase) -> str:
    """A parallelogram that is turned flat notices that its branches cross there."""
    (x, y), *_ = case.places
    angle = 0.3 + abs(float(np.arctan2(y, x))) / 6.0
    first = (float(np.cos(angle)), float(np.sin(angle)))
    rate = (3.0 * first[1], -3.0 * first[0])
    flat = replace(
        case,
        form="loop",
        bars=2,
        floor=False,
        rough=False,
        until=1.0,
        places=(first, (first[0] + 1.5, first[1])),
        rates=(rate, rate),
    )
    for coordinates in ("cartesian", "joint"):
        motion, _ = moved(flat, coordinates)
        if motion.status.name != "SINGULAR" and not any(event.kind == "singular" for event in motion.events):
            return f"a singular point is passed unnoticed: {motion.status.name} in {coordinates} coordinates"
    return ""


def ask_redundant(case: MechanismCase) -> str:
    """A constraint that is said twice changes neither the acceleration nor the status, but for its multipliers."""
    system = system_of(case.form, case.bars, case.floor, case.rough, "cartesian")
    held = [item for item in system.constraints if isinstance(item, Bilateral)]
    twice = _with(system, constraints=[*system.constraints, Bilateral(3 * held[0].expr, name="again")])
    state, values = cartesian_state(case), params_of(case)
    one, other = (_reactions_at(each, state, values) for each in (system, twice))
    if wrong := not_finite(one) or not_finite(other):
        return wrong
    expected = {"UNIQUE": {"UNIQUE_MOTION"}}.get(one.status.name, {one.status.name})
    if other.status.name not in expected:
        return f"a constraint said twice turns {one.status.name} into {other.status.name}"
    if one.status.name == "UNIQUE":
        gap = _apart(one.accelerations, other.accelerations) / max(float(np.abs(one.accelerations).max()), values["g"])
        if gap > 1e-7:
            return f"a constraint said twice changes the acceleration: by {gap:.1e}"
    return ""


def _reactions_at(system: System, state: Mapping[str, float], values: Mapping[str, float]) -> Reactions:
    found = reactions(system, state, values, backend="reference")
    assert isinstance(found, Reactions)
    return found


def ask_digest(case: MechanismCase) -> str:
    """A system that differs in any part has another digest; one that does not has the same."""
    system = system_of(case.form, case.bars, case.floor, case.rough, "joint")
    if _with(system).digest != system.digest:
        return "the same system has another digest"
    expr = system.potential
    for other in (expr + sp.Rational(1, 10**9), expr * (1 + sp.Float(1e-15)), expr.subs(sp.Symbol("g"), 2)):
        if sp.srepr(other) != sp.srepr(expr) and _with(system, potential=other).digest == system.digest:
            return f"another potential has the same digest: {other}"
    for item in system.constraints:
        if isinstance(item, Bilateral):
            changed = [Bilateral(c.expr + 1, name=c.name) if c is item else c for c in system.constraints]
            if _with(system, constraints=changed).digest == system.digest:
                return "another constraint has the same digest"
    return ""


def _with(system: System, **parts: Any) -> System:
    given: dict[str, Any] = {
        "name": system.name,
        "kinetic": system.kinetic,
        "potential": system.potential,
        "constraints": list(system.constraints),
        "coordinates": system.coordinates,
    }
    return System(**(given | parts))


QUESTIONS: dict[str, Callable[[MechanismCase], str]] = {
    "coordinates": ask_coordinates,
    "units": ask_units,
    "backends": ask_backends,
    "stepping": ask_stepping,
    "jumps": ask_jumps,
    "watch": ask_watch,
    "redundant": ask_redundant,
    "digest": ask_digest,
}


def complaint_about(case: MechanismCase) -> str:
    """Return what is wrong; a mechanism like these is not to be refused."""
    try:
        return QUESTIONS[case.question](case)
    except ZwangError as error:
        return f"refused: {error}"


def simpler(case: MechanismCase) -> Iterator[MechanismCase]:
    """Cases with plain units, fewer bars, no velocities, less time, rounder places."""
    plain = {"length": 1.0, "mass": 1.0, "time": 1.0, "rough": False, "floor": False, "e": 0.0}
    for name, value in plain.items():
        if getattr(case, name) != value:
            yield replace(case, **{name: value})  # type: ignore[arg-type]
    if case.form == "chain" and case.bars > 1:
        yield replace(case, bars=case.bars - 1, places=case.places[:-1], rates=case.rates[:-1])
    if any(map(any, case.rates)):
        yield replace(case, rates=((0.0, 0.0),) * case.bars)
    if case.until > 0.01:
        yield replace(case, until=case.until / 2)
    rounded = tuple((round(x, 1), round(y, 1)) for x, y in case.places)
    if rounded != case.places and all(x or y for x, y in rounded):
        yield replace(case, places=rounded)


def program(case: MechanismCase) -> str:
    """Return a program that asks the question again."""
    head = "from zwang._selftest.mechanisms import MechanismCase, complaint_about"
    return f"{head}\ncase = {case!r}\nprint(complaint_about(case))"


def check(seed: int, index: int) -> Complaint | None:
    """Return what is wrong with one mechanism."""
    case = draw(generator("mechanism", seed, index))
    if not complaint_about(case):
        return None
    small = shrunk(case, simpler, complaint_about)
    return Complaint(complaint_about(small), program(small))
