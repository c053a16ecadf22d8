"""The tape: every operation as the interpreter of graphs computes it, for few and many states."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from contracts.random_systems import random_system
from night import by_day
from zwang._derive import derive_program
from zwang._derive.program import Program
from zwang._graph.evaluate import evaluate
from zwang._graph.graph import Graph
from zwang._kernels.graph_tape import record, taped
from zwang._kernels.outputs import Outputs
from zwang._kernels.term_layout import TermLayout

LARGE = ("andrews", "gough_stewart", "stewart_triangle", "three_upu", "wedge_box")
"""Systems whose terms are tapes, or loops over tables, in any case."""


@pytest.mark.parametrize("states", [1, 15, 16, 40])
@pytest.mark.parametrize("seed", range(0, 200, 11))
def test_a_tape_computes_what_the_graph_says(seed: int, states: int) -> None:
    system, params, state = random_system(seed)
    program = derive_program(system)
    nodes = TermLayout(program).nodes
    source = np.random.default_rng(seed)
    n = len(system.coordinates)
    t = state["t"] + 0.1 * source.normal(size=states)
    q, v = source.uniform(-1, 1, (n, states)), source.uniform(-1, 1, (n, states))
    values = np.array([[params[item.name]] for item in system.parameters]).reshape(-1, 1)
    inputs = dict(zip([program.t, *program.q, *program.v, *program.params], [t, *q, *v, *values], strict=True))
    expected = [np.broadcast_to(item, (states,)) for item in evaluate(program.graph, nodes, inputs, np)]
    np.testing.assert_allclose(record(program, nodes).run(t, q, v, values), expected, rtol=1e-13, atol=1e-13)


def test_a_tape_without_velocities_takes_its_parameters_from_their_places() -> None:
    # Constraints on positions have no velocities among their inputs.
    graph = Graph()
    t, q, p = graph.input("t"), [graph.input(f"q{i}") for i in range(3)], [graph.input(f"p{i}") for i in range(2)]
    nodes = (graph.add(q[0], graph.mul(p[0], q[2])), graph.mul(graph.mul(p[1], q[1]), t))
    program = Program(graph, t, q, [], p, {}, [], [], [], [], (graph.zero, graph.zero))
    functions, out = taped(program, [Outputs(nodes)]), np.empty(2)
    given, values = np.array([2.0, 3.0, 5.0]), np.array([7.0, 11.0])
    functions.calls[0](13.0, given, np.zeros(0), values, functions.table, functions.workspace(values), out)
    assert out.tolist() == [2 + 7 * 5, 11 * 3 * 13]


FUNCTIONS = [
    sp.sin, sp.cos, sp.tan, sp.asin, sp.acos, sp.atan, sp.sinh, sp.cosh, sp.tanh, sp.asinh, sp.atanh, sp.exp, sp.sqrt,
    sp.log, sp.Abs, sp.sign, sp.Heaviside,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda item: item.__name__)
def test_every_function_has_its_value_and_nan_outside_its_domain(function) -> None:
    (x,), (vx,) = zw.coordinates("x")
    program = derive_program(zw.System(kinetic=vx**2 / 2, potential=function(x) + sp.acosh(3 + x) * 0))
    node = program.energies[1]
    points = np.array([[-0.7, -0.2, 0.3, 0.9, 0.0, 1.5]])
    inputs = {program.q[0]: points[0]}
    with np.errstate(all="ignore"):
        expected = evaluate(program.graph, [node], inputs, np)[0]
    got = record(program, [node]).run(np.zeros(6), points, points, np.zeros((0, 1)))[0]
    finite = np.isfinite(expected)
    np.testing.assert_allclose(got[finite], expected[finite], rtol=1e-14)
    assert not np.isfinite(got[~finite]).any()


@pytest.mark.parametrize("name", by_day([n for n in zw.gallery.names() if n not in LARGE], ["four_bar", "ladder"]))
def test_tape_and_code_of_the_terms_give_the_same_bits(name: str) -> None:
    """So it doesn't matter which of them the steps of `moreau` and what stands between motions ask."""
    entry = zw.gallery.get(name)
    functions = zw.compile(entry.system, tier="compiled").kernels.term_functions
    n, source = len(entry.system.coordinates), np.random.default_rng(3)
    params = np.array([float(entry.params[item.name]) for item in entry.system.parameters])
    found = []
    states = [(0.3, source.uniform(-1, 1, n), source.uniform(-1, 1, n)) for _ in range(5)]
    for form in (functions, functions.brief):
        out = np.empty((5, form.sizes[0]))
        for state, row in zip(states, out, strict=True):
            form.calls[0](*state, params, form.table, form.workspace(params), row)
        found.append(out)
    assert functions.brief is not functions
    np.testing.assert_array_equal(*found)
    t, q, v = (np.ascontiguousarray(np.array(row).T) for row in zip(*states, strict=True))
    np.testing.assert_array_equal(functions.many(t, q, v, params[:, None])[:-1].T, found[0])
