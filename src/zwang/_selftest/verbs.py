"""Verbs about mechanisms, held against closed forms and against other coordinates.

A four-bar loop, a slider-crank and a closed chain of five bars have spaces whose components are counted by their
lengths alone; a pendulum's period is an elliptic integral; eigenvalues, derivatives and inputs don't depend on
coordinates, or follow from two motions. Lengths, masses and times are in units from 1e-6 to 1e6.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from zwang._asymptotics import asymptotics
from zwang._compile import Model, compile
from zwang._cycles import periodic
from zwang._declare import Bilateral, System, coordinates, inputs, parameters
from zwang._drive import drive
from zwang._equilibria import equilibria
from zwang._guarantee import guarantee
from zwang._limit import limit
from zwang._linearize import linearize
from zwang._linkage import Linkage
from zwang._realize import Stiffness
from zwang._selftest.complaint import Complaint, generator
from zwang._selftest.mechanisms import (
    MechanismCase,
    cartesian_state,
    draw,
    joint_state,
    model,
    params_of,
    points_of,
    system_of,
)
from zwang._sensitivity import sensitivity
from zwang._simulate import simulate
from zwang._trace import critical, trace
from zwang.errors import StateError, ZwangError

Array = npt.NDArray[np.float64]

COORDINATES = ("joint", "cartesian")
NEAR_SINGULAR = 1e-3
"""Of the lengths: spaces this near to a singular one are not asked for, but those that are singular."""
SINGULAR = 1e-9
"""Of the lengths: below it the given lengths are singular."""
SAME = 1e-6
"""Of the sizes: places and eigenvalues this near are one; these were computed in two ways."""
STEP = 1e-5  # of a parameter: for differences
DIFFERENT = 2e-4
"""Of the sizes: what differences of motions leave, their error and that of their steps."""
STILL = 1e-6  # of the units: a motion that does not depend on a parameter is compared with them
EXACT = 1e-8
"""Of the sizes: what closed forms are met to."""


def _case(rng: np.random.Generator, form: str, bars: int = 2) -> MechanismCase:
    """Return a mechanism of a form in some units, without a floor."""
    places = np.cumsum(rng.uniform(-1, 1, size=(bars, 2)) + np.array([0.4, 0.2]), axis=0).round(3).tolist()
    rates = rng.normal(size=(bars, 2)).round(3).tolist()
    pairs = (tuple((x, y) for x, y in part) for part in (places, rates))
    return replace(draw(rng), form=form, bars=bars, floor=False, rough=False, places=next(pairs), rates=next(pairs))


def _pick(rng: np.random.Generator, *items: str) -> str:
    return items[int(rng.integers(len(items)))]


def _lengths(rng: np.random.Generator, count: int) -> Array:
    """Return whole lengths, with which mechanisms are often singular, or others."""
    whole = rng.random() < 0.4
    return rng.integers(1, 6, size=count).astype(float) if whole else rng.uniform(0.3, 3.0, size=count).round(3)


def _flat(lengths: Array) -> Array:
    """Return by how much bars miss lying in a line, for every way to lay them but for the sense of the last one."""
    signs = np.array([(*s, 1.0) for s in itertools.product((-1.0, 1.0), repeat=len(lengths) - 1)])
    return np.asarray(np.abs(signs @ lengths))


def short_subsets(lengths: Sequence[float]) -> list[int]:
    """Return how many sets of the longest bar and k others are shorter than all the rest (Farber, Schütz).

    The Betti numbers of the space of a closed chain of n bars in the plane are a_k + a_(n-3-k), where it is smooth.

    Examples
    --------
    A four-bar loop with the shortest bar short enough to turn round has two components, another one has one.

    >>> short_subsets([1.0, 3.0, 2.5, 2.0])[:2], short_subsets([2.0, 3.0, 2.5, 2.0])[:2]
    ([1, 1], [1, 0])
    """
    all_of_it, longest = sum(lengths), max(range(len(lengths)), key=lambda k: lengths[k])
    rest = [length for k, length in enumerate(lengths) if k != longest]
    return [
        sum(2.0 * (lengths[longest] + sum(some)) < all_of_it for some in itertools.combinations(rest, count))
        for count in range(len(lengths))
    ]


@cache
def _five_bars(kind: str) -> Model:
    made = Linkage("five", gravity=(0, "-g")).ground("A", 0, 0)
    for name in ("P1", "P2", "P3"):
        made = made.point(name, mass=f"m_{name}")
    made = (
        made.chain(["A", "P1", "P2", "P3"], lengths=["l1", "l2", "l3"]).ground("D", "d", 0).bar("P3", "D", length="l0")
    )
    return compile(made.system(coordinates=kind))


def _loop_params(case: MechanismCase, lengths: Sequence[float] | Array) -> dict[str, float]:
    names = ("l1", "l2", "l0", "d")
    return params_of(case) | {name: float(x) * case.length for name, x in zip(names, lengths, strict=True)}


def ask_trace(rng: np.random.Generator) -> str:
    """The space of a loop: components, and singular points where bars can lie in a line."""
    form = _pick(rng, "loop", "loop", "slider", "slider", "five")
    case = _case(rng, "loop" if form == "five" else form)
    if form == "slider":
        l1, l2, h = _lengths(rng, 3)
        h *= float(rng.choice([-1.0, 0.0, 1.0, 1.0]))
        gaps, H = np.abs([l1 - l2 - h, l1 - l2 + h, l1 + l2 - h, l1 + l2 + h]), abs(h)
        wanted = 0 if l1 + l2 < H else 2 if l1 + H < l2 or l2 + H < l1 else 1
        values = params_of(case) | {"l1": l1 * case.length, "l2": l2 * case.length, "h": h * case.length}
    else:
        lengths = _lengths(rng, 5 if form == "five" else 4)
        gaps, a = _flat(lengths), short_subsets(lengths.tolist())
        wanted = a[0] + a[len(lengths) - 3]
        values = _loop_params(case, lengths[[0, 1, -2, -1]])
        values |= {"l3": float(lengths[2]) * case.length, "m_P3": case.mass} if form == "five" else {}
    singular = int((gaps < SINGULAR).sum())
    if ((gaps >= SINGULAR) & (gaps < NEAR_SINGULAR)).any() or (singular and form == "five"):
        return ""
    for kind in COORDINATES:
        found = trace(_five_bars(kind) if form == "five" else model(case, kind), values)
        told = f"{form} in {kind} coordinates with {values}"
        if len(found.singular_points) != singular:
            return f"wrong number of singular points: {len(found.singular_points)}, true are {singular}, {told}"
        if not singular and found.components != wanted:
            return f"wrong number of components: {found.components}, true are {wanted}, {told}"
    return ""


def ask_critical(rng: np.random.Generator) -> str:
    """The lengths of the ground at which a loop is singular: sums and differences of the others."""
    case, bars = _case(rng, "loop"), _lengths(rng, 3)
    wanted = np.unique(np.round(_flat(bars), 9))
    low, high = 0.07, 9.53
    if np.diff(np.sort([*wanted, low, high])).min() < 0.02:
        return ""
    wanted = wanted[(wanted > low) & (wanted < high)]
    values = _loop_params(case, [*bars, 1.0])
    del values["d"]
    kind = _pick(rng, *COORDINATES)
    found = critical(model(case, kind), values, vary="d", within=(low * case.length, high * case.length))
    got = np.array([item.value for item in found]) / case.length
    if len(got) != len(wanted) or np.abs(got - wanted).max(initial=0.0) > EXACT:
        return (
            f"wrong critical lengths: {got.tolist()}, true are {wanted.tolist()}, in {kind} coordinates with {values}"
        )
    return ""


def ask_equilibria(rng: np.random.Generator) -> str:
    """Where a mechanism rests, and its small motions there, in both kinds of coordinates; a chain rests in 2^n ways."""
    form = _pick(rng, "chain", "loop", "slider")
    case = _case(rng, form, int(rng.integers(1, 3)) if form == "chain" else 2)
    first, second = (_rests(case, kind) for kind in COORDINATES)
    if len(first) != len(second) or (form == "chain" and len(first) != 2**case.bars):
        return f"wrong number of equilibria: {len(first)} in joint, {len(second)} in Cartesian coordinates, {case}"
    for place, words, eigenvalues in first:
        partners = [other for other in second if np.abs(other[0] - place).max() < SAME]
        if len(partners) != 1 or partners[0][1] != words:
            return f"an equilibrium differs between coordinates: {words} at {place.tolist()}, {partners}, {case}"
        if not _as_sets(eigenvalues, partners[0][2]):
            return f"eigenvalues differ between coordinates: {eigenvalues}, {partners[0][2]}, {case}"
    return ""


def _rests(case: MechanismCase, kind: str) -> list[tuple[Array, str, Any]]:
    values = params_of(case)
    return [
        (
            points_of(case, kind, point.state),
            f"{point.stability}, {point.holds}",
            np.asarray(linearize(model(case, kind), point, values).eigenvalues) * case.time,
        )
        for point in equilibria(model(case, kind), values).points
    ]


def _as_sets(first: Array, second: Array) -> bool:
    """Say whether two lists of numbers are the same up to their order."""
    left = list(second)
    if len(left) != len(first):
        return False
    for value in first:
        near = int(np.argmin(np.abs(np.array(left) - value)))
        # Double eigenvalues are known to the root of rounding.
        if abs(left.pop(near) - value) > np.sqrt(SAME) * 1e-2 * max(1.0, abs(value)):
            return False
    return True


def ask_sensitivity(rng: np.random.Generator) -> str:
    """The derivative of the end of a motion, through impacts and friction, beside a difference of two motions."""
    form = _pick(rng, "chain", "loop", "slider")
    case, kind = _case(rng, form), _pick(rng, *COORDINATES)
    if form == "chain" and rng.random() < 0.6:
        case = replace(case, floor=True, rough=bool(rng.random() < 0.5))
    values, state = params_of(case), cartesian_state(case)
    state = state if kind == "cartesian" else joint_state(case, state)
    by = "mu" if case.rough and rng.random() < 0.5 else "g"
    asked, until = model(case, kind), case.until * case.time
    found = sensitivity(asked, state, values, until=until, wrt=[by], impact="newton")
    if found.status.name != "DIFFERENTIABLE":
        return ""
    ends: list[Array] = []
    logs = []
    for share in (1 + STEP, 1 - STEP):
        motion = simulate(asked, state, values | {by: values[by] * share}, until=until, impact="newton", tol=1e-12)
        if motion.status.name != "REACHED":
            return ""
        ends.append(np.concatenate([motion.q[-1], motion.v[-1]]))
        logs.append([(event.kind, event.constraint) for event in motion.events])
    if logs[0] != logs[1]:
        return ""
    derivative, change = np.asarray(found.derivative["end"][by]), (ends[0] - ends[1]) / (2 * STEP * values[by])
    units = np.array([1.0, 1.0 / case.time]) * (case.length if kind == "cartesian" else 1.0)
    for part, unit in zip(np.split(np.arange(len(change)), 2), units, strict=True):
        size = max(
            np.abs(change[part]).max(), 1e-2 * np.abs(ends[0][part]).max() / values[by], STILL * unit / values[by]
        )
        if np.abs(derivative[part] - change[part]).max() > DIFFERENT * size:
            return f"a derivative by {by} is wrong: {derivative[part]}, differences give {change[part]}, {kind}, {case}"
    return ""


def ask_drive(rng: np.random.Generator) -> str:
    """The inputs of a motion that was made with known ones."""
    form = _pick(rng, "chain", "loop", "slider")
    case = _case(rng, form, int(rng.integers(1, 4)) if form == "chain" else 2)
    plain = system_of(case.form, case.bars, False, False, "joint")
    count = case.bars if form == "chain" else 1
    pushes = inputs("u1 u2 u3")[:count]
    driven = plain.replace(forces=dict(zip(plain.coordinates, pushes, strict=False)))
    size, values = case.mass * (case.length / case.time) ** 2, params_of(case)
    given = {item.name: float(x) * size for item, x in zip(pushes, rng.uniform(-3, 3, size=count), strict=True)}
    motion = simulate(driven, joint_state(case, cartesian_state(case)), values, until=0.3 * case.time, inputs=given)
    if motion.status.name != "REACHED":
        return ""
    found = drive(driven, motion, values, times=np.linspace(0.05, 0.25, 3) * case.time)
    for name, value in given.items():
        if not np.abs(np.asarray(found.inputs[name]) - value).max() <= 1e-4 * size:
            return f"a wrong input: {found.inputs[name]}, the motion was made with {given}, {found.status.name}, {case}"
    return ""


def ask_periodic(rng: np.random.Generator) -> str:
    """The period of a pendulum, by the arithmetic and geometric mean."""
    case, kind, angle = _case(rng, "chain", 1), _pick(rng, *COORDINATES), float(rng.uniform(0.2, 2.8))
    values = params_of(case)
    l, at = values["l1"], angle - np.pi / 2
    joint = {"theta_P1": at, "v_theta_P1": 0.0}
    state = joint if kind == "joint" else {"x_P1": l * np.cos(at), "y_P1": l * np.sin(at), "v_x_P1": 0.0, "v_y_P1": 0.0}
    a, b = 1.0, float(np.cos(angle / 2))
    for _ in range(8):
        a, b = (a + b) / 2, float(np.sqrt(a * b))
    found, true = periodic(model(case, kind), state, values), 2 * np.pi / a * np.sqrt(l / values["g"])
    if found.status.name != "CLOSED" or abs(found.period / true - 1) > EXACT:
        return f"a wrong period: {found.status.name}, {found.period}, true is {true}, {kind} coordinates, {case}"
    return ""


def ask_asymptotics(rng: np.random.Generator) -> str:
    """Exponents at the crossings of a parallelogram, a kite and a deltoid: measured as they were predicted."""
    a, b = rng.uniform(0.5, 2.0, size=2).round(2)
    if abs(a - b) < 0.05:
        return ""
    case, kind = _case(rng, "loop"), _pick(rng, *COORDINATES)
    orders = ((a, b, a, b), (a, a, b, b), (a, b, b, a))
    values = _loop_params(case, orders[int(rng.integers(3))])
    space = trace(model(case, kind), values)
    if len(space.singular_points) != 2:
        return f"wrong number of singular points: {len(space.singular_points)}, true are 2, {kind}, {values}"
    found = asymptotics(model(case, kind), values, at=space.singular_points[int(rng.integers(2))])
    return "" if found.status.name == "CONFIRMED" else f"exponents are not as predicted: {found}, {kind}, {values}"


def ask_guarantee(rng: np.random.Generator) -> str:
    """Whether a loop is regular for every length of its ground in a range, which may end close to a singular one."""
    if rng.random() < 0.7:
        return _ask_hyperbola(rng)
    case, bars = _case(rng, "loop"), _lengths(rng, 3)
    lengths = np.unique(np.round(_flat(bars), 9))
    width, near = 10.0 ** float(rng.uniform(-9, -0.5)), float(rng.choice(lengths))
    d = near + width * float(rng.choice([-3.0, -1.5, 0.4, 1.5, 3.0]))
    if d < 2 * width or near < 0.05:
        return ""
    values = _loop_params(case, [*bars, d])
    del values["d"]
    box = {"d": ((d - width) * case.length, (d + width) * case.length)}
    singular = bool((np.abs(lengths - d) < width).any())
    found = guarantee("regular", model(case, "joint"), box, values).status.name
    wrong = {"PROVED": singular, "REFUTED": not singular}.get(found, False)
    return f"the loop is said to be regular or not, wrongly: {found}, {box}, {values}" if wrong else ""


@cache
def _hyperbola() -> System:
    (x, y), (v_x, v_y) = coordinates("x y")
    curve = Bilateral(x**2 - y**2 - parameters("c"), name="curve")
    return System(name="hyperbola", kinetic=(v_x**2 + v_y**2) / 2, constraints=[curve], coordinates=(x, y))


def _ask_hyperbola(rng: np.random.Generator) -> str:
    """A hyperbola x^2 - y^2 = c is singular at c = 0 alone, however small the box."""
    size, low = 10.0 ** float(rng.integers(-9, 1)), 10.0 ** float(rng.integers(-15, -1))
    around = {"x": (-size, size), "y": (-size, size)}
    singular = bool(rng.random() < 0.3)
    box = {**around, "c": ((-1.0 if singular else 0.5) * low * size**2, low * size**2)}
    found = guarantee("regular", _hyperbola(), box).status.name
    wrong = {"PROVED": singular, "REFUTED": not singular}.get(found, False)
    return f"a hyperbola is said to be regular or not, wrongly: {found}, {box}" if wrong else ""


def ask_reach(rng: np.random.Generator) -> str:
    """A point of a chain is put on a wall: within reach all holds, out of reach nothing is said to."""
    case = _case(rng, "chain", int(rng.integers(1, 3)))
    plain, values, state = (
        system_of("chain", case.bars, False, False, "cartesian"),
        params_of(case),
        cartesian_state(case),
    )
    reach = sum(values[f"l{i}"] for i in range(1, case.bars + 1))
    share = float(rng.choice([0.5, 0.9, 1.1, 1.5]))
    x = next(item for item in plain.coordinates if item.name == f"x_P{case.bars}")
    wall = parameters("wall")
    system = plain.replace(constraints=[*plain.constraints, Bilateral(x - wall, name="wall")])
    values = values | {"wall": share * reach}
    try:
        found = compile(system).project(state, values)
    except StateError as error:
        return f"a wall within reach is refused: {error}, {case}" if share < 1 and case.bars == 1 else ""
    ends = np.array([(0.0, 0.0), *points_of(case, "cartesian", found)])
    lengths = np.linalg.norm(np.diff(ends, axis=0), axis=1) * case.length
    off = max(abs(lengths[i] / values[f"l{i + 1}"] - 1) for i in range(case.bars))
    return f"a state is said to be on its constraints: off by {off:.1e}, {case}" if off > EXACT else ""


def ask_limit(rng: np.random.Generator) -> str:
    """A rod of a pendulum as a stiff spring: positions converge with the order one, Kozlov and Neishtadt."""
    case = _case(rng, "chain", int(rng.integers(1, 3)))
    ideal, stiff = system_of("chain", case.bars, False, False, "cartesian"), case.mass / case.time**2
    name = str(next(iter(ideal.constraints.names)))
    strengths = [stiff * 10.0**k for k in (4, 5, 6, 7)]
    found = limit(
        ideal, name, cartesian_state(case), params_of(case), by=Stiffness, until=0.3 * case.time, strengths=strengths
    )
    order = found.orders["position"].value
    if found.status.name != "CONVERGES" or abs(order + 1) > 0.35:
        return f"a wrong limit: {found.status.name}, order {order}, {case}"
    return ""


QUESTIONS: Mapping[str, Callable[[np.random.Generator], str]] = {
    "reach": ask_reach,
    "guarantee": ask_guarantee,
    "drive": ask_drive,
    "trace": ask_trace,
    "critical": ask_critical,
    "equilibria": ask_equilibria,
    "periodic": ask_periodic,
    "asymptotics": ask_asymptotics,
    "limit": ask_limit,
    "sensitivity": ask_sensitivity,
}


def complaint_about(seed: int, index: int) -> str:
    """Return what is wrong with the answer to one question; a mechanism like these is not to be refused."""
    rng = generator("verb", seed, index)
    question = list(QUESTIONS)[index % len(QUESTIONS)]
    try:
        words = QUESTIONS[question](rng)
    except ZwangError as error:
        words = f"refused: {error}"
    return f"{question}: {words}" if words else ""


def check(seed: int, index: int) -> Complaint | None:
    """Return what is wrong with the answer to one question."""
    words = complaint_about(seed, index)
    if not words:
        return None
    program = f"from zwang._selftest.verbs import complaint_about\nprint(complaint_about({seed}, {index}))"
    return Complaint(words, program)
