"""Derived equations against finite differences, from definitions that share nothing with the derivation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from contracts.random_systems import random_system
from night import by_day
from zwang._derive import derive
from zwang._derive.kinds import sort_into_kinds, terms_of
from zwang._derive.solution import Factor
from zwang._graph.evaluate import evaluate
from zwang._graph.graph import Graph

H = 1e-5  # step of central differences: error about h^2 plus rounding/h, so 1e-8 relative can be asked


def numeric(system, params):
    """Return functions of (q, v, t): kinetic and potential energy, constraint expressions, slips."""
    arguments = [zw.t, *system.coordinates, *system.velocities]
    values = {symbol: params[symbol.name] for symbol in system.parameters}

    def function(expr):
        made = sp.lambdify(arguments, expr.subs(values), modules="numpy")
        return lambda t, q, v: float(made(t, *q, *v))

    return function


def directional(f, t, q, v):
    """Return d f/dt along the motion with v held: one-parameter central difference."""
    return (f(t + H, q + H * v, v) - f(t - H, q - H * v, v)) / (2 * H)


def gradient(f, x):
    steps = np.eye(x.size) * H
    return np.array([(f(x + step) - f(x - step)) / (2 * H) for step in steps])


# Of these systems 9 and 12 have a mass and a force of their own.
WITH_ENERGIES = [seed for seed in range(0, 60, 3) if seed not in (9, 12)]


@pytest.mark.parametrize("seed", by_day(WITH_ENERGIES, WITH_ENERGIES[::2]))
def test_mass_force_rows_and_biases_agree_with_finite_differences(seed: int) -> None:
    system, params, state = random_system(seed)
    function = numeric(system, params)
    t = state["t"]
    q = np.array([state[item.name] for item in system.coordinates])
    v = np.array([state[item.name] for item in system.velocities])
    terms = zw.compile(system, "reference").terms(state, params)
    kinetic, potential = function(system.kinetic), function(system.potential)
    n = q.size

    def momentum(i, t, q, v):
        step = np.eye(n)[i]
        return (kinetic(t, q, v + step) - kinetic(t, q, v - step)) / 2  # exact: T is quadratic in v

    mass = np.array(
        [[momentum(i, t, q, np.eye(n)[j]) - momentum(i, t, q, np.zeros(n)) for j in range(n)] for i in range(n)]
    )
    np.testing.assert_allclose(terms.mass[:, :, 0], mass, rtol=1e-10, atol=1e-10)
    applied = [function(system.forces[item])(t, q, v) if item in system.forces else 0.0 for item in system.coordinates]
    push = gradient(lambda x: kinetic(t, x, v) - potential(t, x, v), q)
    drift = [directional(lambda *at, i=i: momentum(i, *at), t, q, v) for i in range(n)]
    np.testing.assert_allclose(terms.force[:, 0], push - drift + applied, rtol=2e-8, atol=2e-8)
    normals = [item for item in system.constraints if not isinstance(item, zw.Friction)]
    for place, item in enumerate(normals):
        f = function(item.expr)
        along = directional(f, t, q, v)
        assert terms.value[place, 0] == pytest.approx(f(t, q, v), rel=1e-12, abs=1e-12)
        assert terms.rate[place, 0] == pytest.approx(along, rel=2e-8, abs=2e-8)
        if item.level == "velocity":
            row, bias = gradient(lambda x, f=f: f(t, q, x), v), -along
        else:
            row = gradient(lambda x, f=f: f(t, x, v), q)
            big = 1e-3  # a second difference: error h^2 + rounding/h^2
            bias = -(f(t + big, q + big * v, v) - 2 * f(t, q, v) + f(t - big, q - big * v, v)) / big**2
        np.testing.assert_allclose(terms.rows[place, :, 0], row, rtol=2e-8, atol=2e-8)
        assert terms.gamma[place, 0] == pytest.approx(bias, rel=2e-4, abs=2e-4)
    slips = [slip for item in system.constraints for slip in item.slip]
    for place, slip in enumerate(slips):
        f = function(slip)
        row = gradient(lambda x, f=f: f(t, q, x), v)
        np.testing.assert_allclose(terms.slip_rows[place, :, 0], row, rtol=2e-8, atol=2e-8)
        assert terms.slip_bias[place, 0] == pytest.approx(-directional(f, t, q, v), rel=2e-8, abs=2e-8)


def test_explicit_time_enters_the_bias_of_a_moving_floor() -> None:
    (_x, y), (vx, vy) = zw.coordinates("x y")
    floor = zw.Unilateral(y - sp.sin(3 * zw.t), friction=zw.Coulomb(1, slip=vx - zw.t**2), name="floor")
    equations = derive(zw.System(kinetic=vx**2 + vy**2, constraints=[floor]))
    # gap'' = y'' - 9 (-sin 3t): w a >= gamma with gamma = -9 sin 3t; slip' = x'' - 2t: tangent_bias = 2t.
    assert equations.gamma[0] == -9 * sp.sin(3 * zw.t)
    assert equations.slip_bias[0] == 2 * zw.t


def test_nothing_is_simplified() -> None:
    (x,), (vx,) = zw.coordinates("x")
    clumsy = sp.sin(x) ** 2 + sp.cos(x) ** 2
    assert derive(zw.System(kinetic=clumsy * vx**2 / 2)).mass[0] == clumsy


def test_like_parts_are_sorted_into_few_kinds() -> None:
    n = 40
    q, v = zw.coordinates(" ".join(f"x{i} y{i}" for i in range(n)))
    m, g, length = zw.parameters("m g l")
    points = [(q[2 * i], q[2 * i + 1]) for i in range(n)]
    rods = [
        zw.Bilateral(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 - length**2) / 2) for a, b in itertools.pairwise(points)
    ]
    system = zw.System(
        kinetic=m * sp.Add(*(item**2 for item in v)) / 2, potential=m * g * sp.Add(*q[1::2]), constraints=rods
    )
    kinds = sort_into_kinds(system, range(n - 1))
    counts = {role: sum(kind.role == role for kind in kinds) for role in ("kinetic", "potential", "position")}
    # The order of names inside a sum depends on their spelling (x10 before x9), so a few kinds and not one.
    assert counts["kinetic"] == 1 and counts["potential"] == 1 and counts["position"] <= 8
    assert sum(len(kind.targets) for kind in kinds if kind.role == "position") == n - 1


def test_a_long_sum_times_a_factor_is_split_into_its_terms() -> None:
    symbols = sp.symbols("a:20")
    m = sp.Symbol("m")
    assert sp.expand(sp.Add(*terms_of(m * sp.Add(*symbols) / 2)) - m * sp.Add(*symbols) / 2) == 0
    assert len(list(terms_of(m * sp.Add(*symbols) / 2))) == 20


def tree_matrix(rng, limbs, length, root):
    """A positive definite matrix coupled along paths of a tree: `root` unknowns first, then limbs from the root out."""
    size = root + limbs * length
    paths = [[*range(root), *(root + limb * length + k for k in range(length))] for limb in range(limbs)]
    matrix = np.zeros((size, size))
    for path in paths:
        part = rng.normal(size=(len(path), len(path)))
        matrix[np.ix_(path, path)] += part @ part.T + np.eye(len(path))
    return matrix


def test_limbs_are_eliminated_from_their_ends_and_fill_nothing():
    # Fill is what the pattern of L has beside that of M; bottom up a tree has none (Featherstone 2005).
    matrix = tree_matrix(np.random.default_rng(3), limbs=3, length=4, root=3)
    size = len(matrix)
    g = Graph()
    nodes = {(i, j): g.input(f"m{i}_{j}") for i in range(size) for j in range(i + 1) if matrix[i, j]}
    found = Factor(g, size, nodes)
    assert {tuple(sorted((found.order[i], found.order[j]))) for i, j in found.lower} == {
        (j, i) for i, j in nodes if i != j
    }


@pytest.mark.parametrize("seed", range(4))
def test_factors_in_another_order_solve_the_given_equations(seed):
    rng = np.random.default_rng(seed)
    matrix = tree_matrix(rng, limbs=2 + seed % 3, length=1 + seed, root=seed)
    right, size = rng.normal(size=len(matrix)), len(matrix)
    g = Graph()
    inputs = {(i, j): g.input(f"m{i}_{j}") for i in range(size) for j in range(i + 1) if matrix[i, j]}
    known = [g.input(f"b{i}") for i in range(size)]
    values = {node: matrix[place] for place, node in inputs.items()} | dict(zip(known, right, strict=True))
    found = evaluate(g, Factor(g, size, inputs).solve(known), values, np)
    assert found == pytest.approx(np.linalg.solve(matrix, right), rel=1e-9)
