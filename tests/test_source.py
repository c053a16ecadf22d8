"""Numbers in generated code: any number is valid source, and what is not finite is never an answer."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import zwang as zw
from c_backend import COMPILER, caller, function_source, library
from zwang._derive.motion_modes import ActiveSet
from zwang._derive.program import Program
from zwang._graph.emit import SCALAR, Emitter
from zwang._graph.evaluate import evaluate
from zwang._graph.graph import Graph
from zwang._kernels import numba, straight
from zwang._kernels.graph_tape import record
from zwang._kernels.native import StraightKernels
from zwang._kernels.numba import NumbaDialect
from zwang._kernels.outputs import Outputs
from zwang._numerics.jit import load_generated

NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.5, 1e308, -1e308, 1e-308, 5e-324, -5e-324, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("value", NUMBERS)
def test_every_number_is_an_expression_of_the_same_value(value: float) -> None:
    text = Emitter(Graph(), SCALAR, {}).number(value)
    np.testing.assert_equal(eval(text, {"math": math, "__builtins__": {}}), value)


def random_graph(source: random.Random) -> tuple[Program, list[int]]:
    """Return a graph of arithmetic over three inputs and numbers of all kinds, and its last nodes."""
    g = Graph()
    q = [g.input(f"q{i}") for i in range(3)]
    nodes = [*q, *(g.const(source.choice(NUMBERS)) for _ in range(6))]
    for _ in range(25):
        a, b = source.choice(nodes), source.choice(nodes)
        made = [
            lambda a=a, b=b: g.add(a, b),
            lambda a=a, b=b: g.linear([(source.choice(NUMBERS), a), (source.choice(NUMBERS), b)], 1e308),
            lambda a=a, b=b: g.mul(a, b),
            lambda a=a, b=b: g.div(a, b),
            lambda a=a, b=b: g.where(g.condition("lt", a, b), b, a),
            lambda a=a, b=b: g.power(a, source.choice((-2, 2, 3))),
            lambda a=a, b=b: g.pow(a, g.const(source.choice(NUMBERS))) if g.value(a) is not None else g.neg(a),
        ]
        nodes.append(source.choice(made)())
    program = Program(g, g.input("t"), q, [], [], {}, [], [], [], [], (g.zero, g.zero))
    return program, nodes[-8:]


@pytest.mark.parametrize("seed", range(25))
def test_source_tape_and_interpreter_agree_on_graphs_with_numbers_of_all_kinds(seed: int) -> None:
    source = random.Random(seed)
    program, outputs = random_graph(source)
    g = program.graph
    values = [source.choice((0.0, 1.5, -2.0, 1e200, -1e-200)) for _ in range(3)]
    names: dict[int, str] = {node: f"q{i}" for i, node in enumerate(program.q)}
    scope: dict[str, Any] = {"math": math, **{f"q{i}": np.float64(value) for i, value in enumerate(values)}}
    emitter = Emitter(g, SCALAR, names)
    with np.errstate(all="ignore"):
        for line in emitter.lines(outputs):
            target, text = line.split(" = ", 1)
            scope[target] = np.float64(eval(text, scope))
        written = [float(eval(emitter[node], scope)) for node in outputs]
        inputs = dict(zip(program.q, map(np.float64, values), strict=True))
        read = [float(item) for item in evaluate(g, outputs, inputs, np)]
        column = np.array(values)[:, None]
        taped = record(program, outputs).run(np.zeros(1), column, np.zeros((0, 1)), np.zeros((0, 1)))[:, 0]
    np.testing.assert_array_equal(taped, read)
    # Contraction is left to compilers; here both are plain, and agree in every bit.
    np.testing.assert_array_equal(written, read)


# --- the verbs -------------------------------------------------------------------------------------------------------

(X, Y), (VX, VY) = zw.coordinates("x y")
PLANE = (VX**2 + VY**2) / 2
REST = {"x": 0.0, "y": 0.0, "v_x": 0.0, "v_y": 0.0}


def steep(constrained: bool) -> zw.System:
    """Return a system with 1e308 x**32, whose derivative has a coefficient that is no double."""
    if constrained:
        return zw.System(kinetic=PLANE, constraints=[zw.Bilateral(1e308 * X**32 + Y, name="steep")])
    return zw.System(kinetic=PLANE, potential=1e308 * X**32)


def dependent_at_first() -> zw.System:
    """Return two constraints of which one is nothing at t = 0: a pivot there is exactly zero."""
    both = [zw.Bilateral(Y, name="line"), zw.Bilateral(zw.t * Y, name="later")]
    return zw.System(kinetic=PLANE, potential=Y, constraints=both)


def test_a_constraint_that_is_nothing_yet_makes_the_multipliers_redundant() -> None:
    found = zw.compile(dependent_at_first()).evaluate(REST)
    assert found.status.name == "REDUNDANT"
    assert float(found.multipliers["line"]) == pytest.approx(1.0)  # the weight, by hand
    assert zw.simulate(dependent_at_first(), REST, until=0.1).status.name == "SINGULAR"


@pytest.mark.parametrize("constrained", [True, False])
def test_a_coefficient_that_is_no_double_is_kept_in_two_factors(constrained: bool) -> None:
    """d/dx 1e308 x**32 = 32e308 x**31, at x = 1/2: 1e308 (32/2**31) = 1.49e300."""
    system = steep(constrained)
    assert zw.simulate(system, REST, until=0.1).status.name == "REACHED"
    terms = zw.compile(system).terms({**REST, "x": 0.5, "y": -(1e308 * 0.5**32)})
    found = terms.rows[0, 0, 0] if constrained else -terms.force[0, 0]
    assert found == pytest.approx(1e308 * 2.0**-26, rel=1e-12)


@pytest.mark.parametrize("constrained", [True, False])
def test_equations_that_are_not_finite_are_a_state_error_for_every_verb(constrained: bool) -> None:
    system, state = steep(constrained), {**REST, "x": 1.0, "y": -1e308}
    questions = (
        lambda: zw.compile(system).evaluate(state),
        lambda: zw.reactions(system, state),
        lambda: zw.simulate(system, state, until=0.1),
        lambda: zw.simulate(system, {key: np.full(8, value) for key, value in state.items()}, until=0.1),
        lambda: zw.simulate(system, state, until=0.1, method="timestepping", step=0.01),
    )
    for ask in questions:
        with pytest.raises(zw.StateError, match="not finite at this state"):
            ask()


def test_a_singular_mass_of_numbers_is_told_and_not_compiled_into_nothing() -> None:
    system = zw.System(mass=[[1, 1], [1, 1]], force=[0, 1], coordinates=(X, Y))
    with pytest.raises(zw.DeclarationError, match="mass matrix is not positive definite"):
        zw.compile(system).evaluate(REST)
    with pytest.raises(zw.DeclarationError, match="mass matrix is not positive definite"):
        zw.reactions(system, REST)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler 'cc'")
def test_c_computes_what_the_graph_does_with_numbers_of_every_kind() -> None:
    source = random.Random(5)
    cases = [random_graph(source) for _ in range(40)]
    items = [(program, Outputs(tuple(outputs))) for program, outputs in cases]
    texts = [function_source(program, item, f"case{k}") for k, (program, item) in enumerate(items)]
    made = library("#include <math.h>\n" + "\n".join(texts), None, "-Wno-error", "-w")
    numbers = np.random.default_rng(2)
    for k, (program, item) in enumerate(items):
        call, q = caller(getattr(made, f"case{k}")), numbers.normal(size=3)
        out = np.empty(len(item.nodes))
        none = np.zeros(0)
        assert call(0.0, q, none, none, np.zeros(1, dtype=np.int64), none, out) == 0
        with np.errstate(all="ignore"):
            inputs = {program.t: np.float64(0.0), **dict(zip(program.q, q, strict=True))}
            expected = [float(value) for value in evaluate(program.graph, item.nodes, inputs, np)]
        np.testing.assert_allclose(out, expected, rtol=1e-13)


@pytest.mark.parametrize("name", ["belt_block", "ellipse_pendulum_friction"])
def test_generated_code_does_not_depend_on_what_was_asked_before(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    system = zw.gallery.get(name).system
    normals = [item for item in system.constraints if not isinstance(item, zw.Friction)]
    held = tuple(j for j, item in enumerate(normals) if isinstance(item, zw.Bilateral))
    modes = [ActiveSet(()), ActiveSet(held), ActiveSet(tuple(range(len(normals))))]
    written: list[tuple[str, str]] = []

    def load(text: str, kind: str) -> Any:
        written.append((kind, text))
        return load_generated(text, kind)

    monkeypatch.setattr(numba, "load_generated", load)
    found = []
    for order in (modes, modes[::-1]):
        service = StraightKernels(system)
        written.clear()
        for mode in order:
            assert service.solver(mode.held).calls
            service.mode(mode, quick=False)
        assert service.term_functions.calls
        found.append(sorted(written))
    assert found[0] == found[1] and len(found[0]) >= 4


def test_very_many_zeros_are_written_at_once_and_nothing_is_left_of_what_stood_there() -> None:
    g = Graph()
    q = [g.input(f"q{i}") for i in range(2)]
    program = Program(g, g.input("t"), q, [], [], {}, [], [], [], [], (g.zero, g.zero))
    nodes = [g.zero] * 3000
    nodes[7], nodes[2999] = g.mul(q[0], q[1]), q[1]
    source = straight.module_source(program, Outputs(tuple(nodes)))
    assert source.split("def shared")[0].count("out[") == 3  # all of them, and the two that are not zero
    one: Any = NumbaDialect().build(program, {"one": Outputs(tuple(nodes))}, "sparse").calls[0]
    out = np.full(3000, 5.0)
    one.py_func(0.0, np.array([2.0, 3.0]), np.zeros(0), np.zeros(0), np.zeros(1, dtype=np.int64), np.zeros(1), out)
    assert out[7] == 6.0 and out[2999] == 3.0 and np.count_nonzero(out) == 2
