"""Options of verbs: every number that a verb takes is finite, of the right type and sign, or an error that names it."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang._numerics import tolerances
from zwang._results.finite import NotFiniteError

BALL, ROD, BARS = (zw.gallery.get(name) for name in ("bouncing_ball", "painleve_rod", "four_bar"))
NODE = zw.gallery.get("crossing")
HELD = zw.gallery.get("kozlov_neishtadt")
NO_NUMBER = ["a", "1e-9", float("nan"), float("inf"), -float("inf"), 10**400, 1j, True, np.ones(2), [1.0], {}, object()]
NO_WHOLE = [*NO_NUMBER, 1.5, -1]
NO_FLAG = ["yes", 1, 0.0, None, float("nan"), [True]]
NO_PAIR = [(0, float("nan")), (float("-inf"), 1), ("a", 1), (1j, 2), (0, 10**400), (2, 1), 3, "ab", None, (1, 2, 3)]


def reactions(**options: Any) -> Any:
    return zw.reactions(ROD.system, ROD.state, ROD.params, **options)


def trace(**options: Any) -> Any:
    return zw.trace(BARS.system, BARS.params, **options)


def critical(**options: Any) -> Any:
    return zw.critical(BARS.system, BARS.params, **{"vary": "l0", "within": (0.5, 0.9), **options})


def asymptotics(**options: Any) -> Any:
    return zw.asymptotics(NODE.system, NODE.params, {"x": 0, "y": 0}, **options)


def simulate(**options: Any) -> Any:
    return zw.simulate(BALL.system, BALL.state, BALL.params, **{"until": 0.1, **options})


def stepped(**options: Any) -> Any:
    return simulate(method="timestepping", **options)


def limit(**options: Any) -> Any:
    return zw.limit(HELD.system, "floor", HELD.state, **{"by": zw.Stiffness, "until": 0.1, **options})


def recommend(**options: Any) -> Any:
    return zw.recommend(HELD.system, "floor", HELD.state, **{"until": 0.1, **options})


def check(**options: Any) -> Any:
    return zw.compile(BARS.system).check(BARS.state, BARS.params, **options)


def project(**options: Any) -> Any:
    return zw.compile(BARS.system).project(BARS.state, BARS.params, **options)


def event(**options: Any) -> Any:
    return zw.Event("y", **options)


TOLERANCE = [*NO_NUMBER, -1e-9, 1.0]
TABLE: dict[Callable[..., Any], dict[str, list[Any]]] = {
    reactions: {
        "normal_forces": [{"tip": bad} for bad in NO_NUMBER] + [3, "tip"],
        "tol": [*TOLERANCE, 0],
        "gap_tol": TOLERANCE,
        "rate_tol": TOLERANCE,
        "slip_tol": TOLERANCE,
        "every": [bad for bad in NO_FLAG if bad is not None],
        "certify": NO_FLAG,
        "exact": NO_FLAG,
        "workers": [*NO_WHOLE, 0],
        "report": [3, "a"],
    },
    trace: {
        "t": NO_NUMBER,
        "seed": NO_WHOLE,
        "starts": [*NO_WHOLE, 0],
        "box": [{"alpha": bad} for bad in NO_PAIR],
        "resolution": [*NO_NUMBER, 0, -1],
    },
    critical: {
        "within": NO_PAIR,
        "t": NO_NUMBER,
        "compare": NO_FLAG,
        "seed": NO_WHOLE,
        "starts": [*NO_WHOLE, 0],
        "box": [{"alpha": bad} for bad in NO_PAIR],
    },
    asymptotics: {"speed": [*NO_NUMBER, 0, -1]},
    simulate: {
        "until": [*NO_NUMBER, -1],
        "tol": [*TOLERANCE, 0, 1e-300],
        "progress": [3, "a"],
        "direction": [*NO_NUMBER, 1.5, 2, -2],
        "most": [*NO_WHOLE, 0],
        "transient": [*NO_NUMBER, -1],
    },
    stepped: {"step": [*NO_NUMBER, 0, -1e-3]},
    limit: {
        "until": [*NO_NUMBER, -1],
        "tol": [*TOLERANCE, 0],
        "cells": [*NO_WHOLE, 0, 7],
        "workers": [*NO_WHOLE, 0],
        "strengths": [[bad, 1e3, 1e4] for bad in NO_NUMBER] + [3, "abc", [0, 1e3, 1e4], [-1, 1e3, 1e4]],
        "progress": [3, "a"],
    },
    recommend: {"error": [*NO_NUMBER, 0, -1], "until": [*NO_NUMBER, -1], "tol": [*TOLERANCE, 0]},
    check: {"tol": [*NO_NUMBER, -1]},
    project: {"tol": [*NO_NUMBER, -1, 0]},
    event: {"direction": [*NO_NUMBER, 2, 0.5], "stop": NO_FLAG},
}
# What is no number, or is told elsewhere: names, words, expressions, systems, states, budgets.
OTHER = {
    "system",
    "state",
    "params",
    "constraint",
    "by",
    "vary",
    "at",
    "perturb",
    "section",
    "speed_of",
    "distance",
} | {
    *("search", "method", "events", "impact", "at_paradox", "at_choice", "at_singular", "redundant", "out", "backend"),
    *(
        "expr",
        "name",
        "self",
        "ideal",
        "budget",
        "inputs",
        "tier",
        "progress",
        "then",
        "scales",
        "of",
        "count",
        "start",
        "transient",
        "along",
    ),
}
VERBS = {
    zw.reactions: [reactions],
    zw.trace: [trace],
    zw.critical: [critical],
    zw.asymptotics: [asymptotics],
    zw.simulate: [simulate, stepped],
    zw.limit: [limit],
    zw.recommend: [recommend],
    zw.Event: [event],
    type(zw.compile(BARS.system)).check: [check],
    type(zw.compile(BARS.system)).project: [project],
}


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__qualname__)
def test_no_option_is_forgotten(verb: Any) -> None:
    known = OTHER | {option for ask in VERBS[verb] for option in TABLE[ask]}
    assert set(inspect.signature(verb).parameters) <= known


@pytest.mark.parametrize("ask", TABLE, ids=lambda ask: ask.__name__)
def test_a_bad_number_is_an_error_that_names_its_option(ask: Callable[..., Any]) -> None:
    for option, values in TABLE[ask].items():
        for bad in values:
            with pytest.raises((zw.DeclarationError, zw.StateError), match=option):
                ask(**{option: bad})


def test_good_numbers_of_every_type_pass() -> None:
    for tol in (1e-9, np.float64(1e-9), np.array(1e-9), sp.Float(1e-9), sp.Rational(1, 10**9)):
        assert reactions(tol=tol, gap_tol=tol).provenance.tolerances["tol"] == 1e-9
    assert tolerances.whole(np.int64(3), "workers") == 3
    assert trace(starts=np.int32(50)).components == 1
    assert reactions(gap_tol=0, rate_tol=0.0, slip_tol=0).status.name == reactions().status.name


def test_reactions_of_a_system_and_of_arrays_take_the_same_tolerances() -> None:
    words = "reactions: tol= must be a finite number greater than 0 and at most 0.001; it was given 0.005"
    for question in ((ROD.system, ROD.state, ROD.params), (zw.ContactProblem([[1.0]], [0.0], [zw.Contact([1.0])]),)):
        with pytest.raises(zw.DeclarationError, match=words):
            zw.reactions(*question, tol=5e-3)


def test_a_tolerance_that_is_no_number_lets_no_state_through() -> None:
    below = {**ROD.state, "y": ROD.state["y"] - 0.2}
    with pytest.raises(zw.DeclarationError, match="gap_tol= must be a finite number at least 0 and at most 0.01"):
        zw.reactions(ROD.system, below, ROD.params, gap_tol=float("nan"))
    with pytest.raises(zw.StateError, match="violates constraint"):
        zw.reactions(ROD.system, below, ROD.params)


@pytest.mark.parametrize("bad", ["a", "1.0", 1j, np.complex128(1), 10**400, float("nan"), float("inf"), None, "", [[]]])
def test_values_of_states_and_parameters_are_finite_and_real(bad: Any) -> None:
    for state, params in (({**BALL.state, "y": bad}, BALL.params), (BALL.state, {**BALL.params, "g": bad})):
        for ask in (zw.reactions, zw.simulate, lambda *given, **_: zw.compile(BALL.system).evaluate(*given[1:])):
            with pytest.raises(zw.DeclarationError, match="'y'|'g'|holds no state"):
                ask(BALL.system, state, params, **({"until": 0.1} if ask is zw.simulate else {}))


# --- values of laws ---------------------------------------------------------------------------------------------------

(X, Y), (VX, VY) = zw.coordinates("x y")
START = {"x": 0.0, "y": 0.0, "v_x": 5.0, "v_y": 0.0}


def sliding(mu: Any, *, brake: Any = 0) -> zw.System:
    floor = zw.Unilateral(Y, friction=zw.Coulomb(mu, slip=VX), restitution=0, name="floor")
    return zw.System(
        name="block",
        kinetic=(VX**2 + VY**2) / 2,
        potential=9.81 * Y,
        constraints=[floor, zw.Friction(brake, slip=VX, name="brake")],
    )


WAYS: list[Callable[..., Any]] = [
    zw.reactions,
    lambda *given: zw.simulate(*given, until=0.1),
    lambda *given: zw.simulate(*given, until=0.1, method="timestepping"),
]


@pytest.mark.parametrize("way", WAYS, ids=["reactions", "events", "timestepping"])
@pytest.mark.parametrize("mu", [-0.3, -1e-300, float("-1e300")])
def test_negative_friction_is_the_same_error_in_every_verb(way: Callable[..., Any], mu: float) -> None:
    with pytest.raises(
        zw.StateError, match="the coefficient of friction of 'floor' is -.* needed a number of at least 0"
    ):
        way(sliding("mu"), START, {"mu": mu})
    with pytest.raises(zw.StateError, match="the bound of friction of 'brake' is -"):
        way(sliding(0, brake="mu"), START, {"mu": mu})


def test_negative_friction_in_a_batch_is_told_state_by_state() -> None:
    found = zw.reactions(sliding("mu"), START, {"mu": np.array([-0.3, 0.3])})
    assert [status.name for status in found.status] == ["INADMISSIBLE", "UNIQUE"]
    with pytest.raises(zw.StateError, match=r"coefficient of friction .*entry \[0\] of the arrays"):
        zw.simulate(sliding("mu"), START, {"mu": np.array([-0.3, 0.3])}, until=0.1)


@pytest.mark.parametrize("method", ["events", "timestepping"])
def test_friction_that_turns_negative_ends_the_motion(method: str) -> None:
    motion = zw.simulate(sliding("0.3 - 0.1*t"), START, until=10.0, method=method)
    assert motion.status.name == "UNFINISHED"
    assert "the coefficient of friction of 'floor' is -" in motion.reason
    assert motion.end["t"] <= 3.0 + 1e-12  # where it vanishes


@pytest.mark.parametrize("method", ["events", "timestepping"])
@pytest.mark.parametrize("e", [-0.5, 1.5, 2.0])
def test_a_restitution_beyond_its_range_is_the_same_in_every_method(method: str, e: float) -> None:
    with pytest.raises(zw.StateError, match="the restitution of 'floor' is .* between 0 .plastic. and 1 .elastic."):
        zw.simulate(BALL.system, BALL.state, {**BALL.params, "e": e}, until=1.0, method=method)
    floor = zw.Unilateral(Y, restitution=f"{e} + 0*v_y", name="floor")
    with pytest.raises(zw.DeclarationError, match="Unilateral 'floor': restitution= is .* between 0 .plastic. and 1"):
        zw.System(kinetic=VY**2 / 2, potential=9.81 * Y, constraints=[floor])
    moving = zw.System(
        kinetic=VY**2 / 2, potential=9.81 * Y, constraints=[zw.Unilateral(Y, restitution="-v_y/3", name="floor")]
    )  # 1.48 where it lands
    motion = zw.simulate(moving, {"y": 1, "v_y": 0}, until=1.0, method=method)
    assert motion.status.name == "UNFINISHED" and "the restitution of 'floor' is 1.4" in motion.reason
    assert motion.end["t"] == pytest.approx((2 / 9.81) ** 0.5, abs=1e-9 if method == "events" else 1e-2)
    assert not motion.events.of("impact") and motion.end["v_y"] < -4


# --- the gate ---------------------------------------------------------------------------------------------------------


def test_what_is_not_finite_is_no_answer() -> None:
    atwood = zw.gallery.get("atwood")
    huge = {**atwood.params, "g": 1e155}  # squares of forces overflow
    with pytest.raises(NotFiniteError, match="Reactions of 'atwood': the distinct accelerations are not finite"):
        zw.reactions(atwood.system, atwood.state, huge)
    with pytest.raises(zw.StateError, match="not finite"):
        zw.simulate(atwood.system, atwood.state, huge, until=0.1)
    with pytest.raises(zw.StateError, match="Evaluation of 'bouncing_ball': the accelerations are not finite"):
        zw.compile(BALL.system).evaluate(BALL.state, {**BALL.params, "m": 1e-320})


def test_extreme_values_give_finite_answers_or_errors() -> None:
    rng = np.random.default_rng(3)
    for name in ("atwood", "painleve_rod", "bouncing_ball", "four_bar"):
        entry = zw.gallery.get(name)
        model = zw.compile(entry.system)
        for _ in range(25):
            params = dict(entry.params)
            key = str(rng.choice(sorted(params)))
            params[key] = float(rng.choice([1e-320, 1e-300, 1e-155, 1e155, 1e300, 1e308, -1e155, 0.0]))
            for ask in (model.evaluate, lambda s, p, model=model: zw.reactions(model, s, p)):
                try:
                    found = ask(entry.state, params)
                except zw.ZwangError:
                    continue
                assert np.isfinite(found.accelerations).all(), (name, key, params[key])


def test_reactions_says_what_it_needs_where_state_and_params_are_no_mappings() -> None:
    rod = zw.gallery.get("painleve_rod")
    for state, params in ((2, rod.params), (rod.state, 2), ([1.0], rod.params)):
        with pytest.raises(zw.DeclarationError, match="must be a mapping from symbols or names to numbers"):
            zw.reactions(rod.system, state, params)
    with pytest.raises(TypeError, match="positional"):
        zw.reactions(rod.system, rod.state, rod.params, 1e-9)


(SWING,), (TURNING,) = zw.coordinates("phi", angles=True)
ARM = zw.System(name="arm", kinetic=TURNING**2 / 2, potential=-9.81 * sp.cos(SWING), forces={SWING: zw.inputs("u")})
BEAD = zw.System(
    name="bead",
    kinetic="v_x**2/2 + v_y**2/2",
    potential="g*y",
    coordinates=zw.coordinates("x y")[0],
    constraints=[zw.Bilateral("x**2 + y**2 - 1", name="ring")],
)
HANGING = {"x": 0.0, "y": -1.0, "v_x": 1.0, "v_y": 0.0}
NO_KIND: list[Any] = [5, "x y", [], [1, 2], {1: 2}, b"ab", object(), np.array([]), np.ones(2), [["a"]], {"x": object()}]
KINDS: dict[str, dict[str, Any]] = {
    "reactions": {"system": BEAD, "state": HANGING, "params": {"g": 1.0}, "backend": "native", "inputs": None},
    "trace": {"system": BEAD, "params": {"g": 1.0}, "box": None, "search": "sampled", "at": None, "inputs": None},
    "critical": {"system": BEAD, "params": {}, "vary": "g", "within": (1.0, 2.0), "box": None, "inputs": None},
    "simulate": {"system": BEAD, "state": HANGING, "params": {"g": 1.0}, "until": 0.1, "events": (), "out": None,
                 "impact": None, "method": "events", "backend": "native", "inputs": None, "start": None},
    "limit": {"system": BEAD, "constraint": "ring", "state": HANGING, "params": {"g": 1.0}, "by": zw.Stiffness,
              "until": 0.0, "inputs": None},
    "recommend": {"system": BEAD, "constraint": "ring", "state": HANGING, "params": {"g": 1.0}, "until": 0.01},
    "realize": {"system": BEAD, "constraint": "ring", "by": zw.Stiffness(1.0)},
    "equilibria": {"system": ARM, "params": {}, "box": None, "search": "sampled", "steady": (), "inputs": {"u": 0}},
    "linearize": {"system": ARM, "at": {"phi": 0, "v_phi": 0}, "params": {}, "outputs": (), "inputs": {"u": 0}},
    "periodic": {"system": ARM, "state": {"phi": 0.1, "v_phi": 0}, "params": {}, "period": -1.0, "inputs": {"u": 0}},
    "lyapunov": {"system": ARM, "state": {"phi": 0.1, "v_phi": 0}, "params": {}, "until": 0.1, "inputs": {"u": 0}},
    "drive": {"system": ARM, "motion": {SWING: zw.t}, "params": {}, "times": [0.0], "inputs": None, "start": None},
    "sensitivity": {"system": BEAD, "state": HANGING, "params": {"g": 1.0}, "until": 0.1, "wrt": "g", "events": ()},
    "guarantee": {"claim": "regular", "system": BEAD, "box": {"x": (-2, 2), "y": (-2, 2)}, "params": {"g": 1.0},
                  "closed": None, "inputs": None},
    "sweep": {"verb": "reactions", "system": BEAD, "state": HANGING, "params": {"g": 1.0}, "over": {"g": [1.0]},
              "keep": ("status",), "workers": None, "store": None, "block": None, "seed": 0},
    "compile": {"system": BEAD, "backend": None, "tier": None},
    "contact_problem": {"system": BEAD, "state": HANGING, "params": {"g": 1.0}, "inputs": None},
    "hold": {"system": BEAD, "state": HANGING, "params": {"g": 1.0}, "names": ["ring"], "fixed": (), "follow": None,
             "slips": None, "inputs": None},
    "derive": {"system": BEAD},
    "parameters": {"names": "a b"},
    "inputs": {"names": "a b"},
    "coordinates": {"names": "a b", "angles": ()},
    "load": {"path": "nowhere.toml"},
    "load_result": {"path": "nowhere.npz"},
    "System": {"kinetic": TURNING**2 / 2, "coordinates": None, "events": (), "inputs": (), "units": None},
    "Bilateral": {"expr": SWING, "starts": "on", "friction": None},
    "Unilateral": {"expr": SWING, "starts": "on", "restitution": None, "where": None},
    "Coulomb": {"mu": 0.3, "slip": TURNING, "static": None, "scale": 1},
    "Friction": {"bound": 1, "slip": TURNING, "starts": "on", "section": None, "of": None},
    "Event": {"expr": SWING, "then": (), "of": None, "count": None},
    "Table": {"times": [0, 1], "values": [0, 1], "kind": "linear"},
    "ContactProblem": {"mass": np.eye(1), "force": [0.0], "contacts": ()},
    "Contact": {"normal": [1.0], "tangent": None, "bilateral": False, "of": None, "name": None},
    "Linkage": {"name": "bars", "gravity": (0, 0), "distances": "length"},
}  # fmt: skip


@pytest.mark.parametrize("verb", KINDS)
def test_arguments_of_another_kind_are_answered_or_refused_by_our_own_errors(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever stands in the place of a mapping, a list, a name or a path: no TypeError of somebody's inner loop."""
    monkeypatch.chdir(tmp_path)  # some texts are good paths
    for option, bad in ((option, bad) for option in KINDS[verb] for bad in NO_KIND):
        with contextlib.suppress(zw.ZwangError):
            getattr(zw, verb)(**{**KINDS[verb], option: bad})


@pytest.mark.parametrize("option", ["state", "params", "inputs"])
def test_a_number_in_the_place_of_a_mapping_is_told_by_name(option: str) -> None:
    with pytest.raises(zw.DeclarationError, match=rf"bead: {option}=? must be a mapping from symbols or names"):
        zw.reactions(BEAD, **{"state": HANGING, "params": {"g": 1.0}, option: 5})  # type: ignore[arg-type]


def test_several_names_for_one_are_told() -> None:
    with pytest.raises(zw.DeclarationError, match="backend= must be one name"):
        zw.compile(BEAD, ["native"])  # type: ignore[arg-type]
    with pytest.raises(zw.DeclarationError, match="closed= must be a name or a list of names"):
        zw.guarantee("regular", BEAD, {"x": (-2, 2), "y": (-2, 2)}, {"g": 1.0}, closed=5)  # type: ignore[arg-type]


def test_times_that_are_no_numbers_are_told() -> None:
    motion = zw.simulate(BEAD, HANGING, {"g": 1.0}, until=0.1)
    with pytest.raises(zw.DeclarationError, match="times must be numbers"):
        motion.at("soon")  # type: ignore[arg-type]


def test_energies_are_entries_and_attributes() -> None:
    energy = zw.simulate(BEAD, HANGING, {"g": 1.0}, until=0.1).energy
    assert np.array_equal(energy.total, energy["total"])
    with pytest.raises(AttributeError, match="Did you mean 'total'"):
        _ = energy.totl


def test_a_friction_on_a_sparse_row_is_that_on_a_dense_one() -> None:
    from scipy import sparse

    rows = {"normal": np.array([0.0, 1.0]), "tangent": np.array([1.0, 0.0])}
    made = [rows, {name: sparse.csr_matrix([row]) for name, row in rows.items()}]
    found = [
        zw.reactions(zw.ContactProblem(sparse.eye(2), [7.0, -10.0], contacts=[zw.Contact(**one, friction=0.5)]))
        for one in made
    ]
    assert found[0].accelerations.tolist() == found[1].accelerations.tolist() == [[2.0, 0.0]]


(WHERE,), (SPEED,) = zw.coordinates("s")
PULL, STIFF = zw.inputs("pull"), zw.parameters("stiff")
DRAWN = zw.System(
    name="drawn",
    kinetic=SPEED**2 / 2,
    potential=STIFF * WHERE**2 / 2,
    forces={WHERE: PULL},
    constraints=[zw.Friction("f", slip=SPEED, name="rail")],
)
REST, KNOWN = {WHERE: 0.1, SPEED: 0.0}, {STIFF: 1.0, "f": 0.2}
TWICE: dict[str, tuple[Any, str]] = {
    "state": (lambda: zw.reactions(DRAWN, {**REST, "s": 0.2}, KNOWN, inputs={PULL: 0}), "state has 's' twice"),
    "params": (lambda: zw.reactions(DRAWN, REST, {**KNOWN, "stiff": 2}, inputs={PULL: 0}), "params has 'stiff' twice"),
    "inputs": (lambda: zw.reactions(DRAWN, REST, KNOWN, inputs={PULL: 0, "pull": 1}), "inputs= has 'pull' twice"),
    "box of trace": (
        lambda: zw.trace(DRAWN, KNOWN, inputs={PULL: 0}, box={WHERE: (0, 1), "s": (0, 2)}),
        "box= has 's' twice",
    ),
    "box of equilibria": (
        lambda: zw.equilibria(DRAWN, KNOWN, inputs={PULL: 0}, box={WHERE: (0, 1), "s": (0, 2)}),
        "box= has 's' twice",
    ),
    "box of guarantee": (
        lambda: zw.guarantee("can hold", DRAWN, {WHERE: (0, 1), "s": (0, 2)}, KNOWN, inputs={PULL: 0}),
        "box= has 's' twice",
    ),
    "a box with friction": (
        lambda: zw.equilibria(DRAWN, KNOWN, inputs={PULL: 0}, box={"z": (0, 1)}),
        "box= has 'z', which is no coordinate",
    ),
    "scales": (
        lambda: zw.simulate(DRAWN, REST, KNOWN, until=1, inputs={PULL: 0}, scales={WHERE: 1, "s": 2}),
        "scales= has 's' twice",
    ),
    "units": (lambda: DRAWN.replace(units={WHERE: "m", "s": "km"}), "units= has 's' twice"),
}


@pytest.mark.parametrize("case", TWICE)
def test_a_value_that_is_given_by_symbol_and_by_name_is_told_and_not_chosen(case: str) -> None:
    call, words = TWICE[case]
    with pytest.raises(zw.DeclarationError, match=f"drawn: {re.escape(words)}"):
        call()
