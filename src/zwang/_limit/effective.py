"""What realized motions tend to when a fast oscillation keeps its energy: Rubin and Ungar (1957), Takens (1980).

A start across the constraints leaves oscillations of finite energy, however stiff the springs. With w_i(q) sqrt(N)
their frequencies along the constraint manifold, the actions J_i = E_i/w_i are adiabatic invariants, and the slow motion
feels the energy sum J_i w_i(q) as one more potential: the extra force is -sum J_i dw_i/dq. w_i^2 are the eigenvalues of
S = L^T G L, K = L L^T the stiffness across the constraints (the weights of the springs, or what the second differential
of a shared energy is in terms of their expressions) and G = J Y J^T the mobility of the softened constraints, Y being
M^-1 with the directions of the other constraints taken out; dw_i/dq = e_i^T (dS/dq) e_i/(2 w_i). A mode e_i moves the
expressions along L^-T e_i. Where frequencies are equal all along, and their slopes too, every choice of modes gives the
same force, and the sum of their actions is what stays.

Forces that depend on the velocity see the oscillation too: the slow motion feels their mean over the phases, and the
actions change by the mean power on each oscillation, dJ_i/dt = <F . n_i sqrt(2 E_i) cos>/w_i. That is the averaged
principle of Lagrange and d'Alembert, exact as N grows; it needs frequencies without low resonances along the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._compile import compile
from zwang._compile.values import resolve
from zwang._declare.constraints import Bilateral
from zwang._declare.symbols import Velocity
from zwang._derive.program import Program, Row
from zwang._derive.solution import Factor, dot
from zwang._graph.convert import Converter
from zwang._graph.graph import Graph, Node
from zwang._kernels.flow import FlowKernels, flow
from zwang._limit.running import row_of
from zwang._limit.ways import Softened
from zwang._realize import amounts

Array = NDArray[np.float64]
PHASES = 8  # starting phases of the fast motion, one average over them
RESONANT = 0.02  # relative distance of two frequencies that counts as resonance
SAME = 1e-7
"""Relative difference below which frequencies are one: they come from a root of a rounded eigenvalue."""
MOST = 20_000  # calls of the averaged force before a motion is given up


class _TooLong(Exception):
    """The equations of the slow motion were evaluated too often."""


@dataclass(frozen=True)
class Effective:
    """The slow motion with its extra force.

    Attributes
    ----------
    t : (k,)
    q, v, extra_force : (k, n)
        The force along the manifold: its projection.
    actions : (k, m)
    resonance : str
        Which low resonance the frequencies come near, in words; empty where none.
    """

    t: Array
    q: Array
    v: Array
    extra_force: Array
    actions: Array
    resonance: str


def applies(softened: Softened) -> bool:
    """Say whether the theory speaks of a softened system: springs on bilateral positions, no damping by N."""
    for name in softened.names:
        item, way = softened.ideal.constraints[name], softened.ways[name]
        if not isinstance(item, Bilateral) or item.level != "position" or not hasattr(way, "weight"):
            return False
        if getattr(way, "ratio", None) is not None:
            return False
        if softened.strength in {symbol.name for symbol in amount(softened, name, "damping").free_symbols}:
            return False
    return all(isinstance(item, Bilateral) for item in softened.soft.constraints)


def amount(softened: Softened, name: str, what: str) -> Any:
    """Return the weight or the damping of a spring as an expression."""
    return amounts.read(softened.ideal, getattr(softened.ways[name], what), f"Stiffness: {what}")


def effective_motion(softened: Softened, state: Any, params: Any, slow: Array, edges: Array) -> Effective | None:
    """Return the slow motion from a state whose velocity, projected, is `slow`; None where steps get too many.

    At a singular point a frequency vanishes: the theory ends there, and its equations have no solution beyond.
    """
    from scipy.integrate import solve_ivp

    field = _Field(softened, state, params)
    q, v = field.q, field.v
    local = field.at(float(edges[0]), q, slow)
    shares = local.modes.T @ local.mass @ (v - slow)
    actions = 0.5 * shares**2 / local.frequencies
    n, m = len(q), len(actions)

    calls = iter(range(MOST))

    def slope(t: float, y: Array) -> Array:
        if next(calls, None) is None:
            raise _TooLong
        here = field.at(t, y[:n], y[n : 2 * n])
        acceleration, change, _ = field.forces(here, t, y[:n], y[n : 2 * n], y[2 * n :])
        return np.concatenate([y[n : 2 * n], acceleration, change])

    start = np.concatenate([q, slow, actions])
    try:
        found = solve_ivp(slope, (edges[0], edges[-1]), start, method="DOP853", t_eval=edges, rtol=1e-10, atol=1e-12)
    except _TooLong:
        return None
    y = found.y.T
    forces, closest = np.zeros((len(y), n)), ""
    for k, row in enumerate(y):
        here = field.at(float(edges[k]), row[:n], row[n : 2 * n])
        forces[k] = field.forces(here, float(edges[k]), row[:n], row[n : 2 * n], row[2 * n :])[2]
        closest = closest or _resonance(here, row[2 * n :])
    return Effective(np.asarray(found.t), y[:, :n], y[:, n : 2 * n], forces, y[:, 2 * n : 2 * n + m], closest)


def _resonance(here: _Local, actions: Array) -> str:
    """Return which of w_i = w_j, w_i = 2 w_j, w_i = w_j + w_k is nearly met, in words, but for those that stay one."""
    frequencies = here.frequencies
    m = len(frequencies)
    moving = actions > 0
    for i, j in product(range(m), range(m)):
        size = RESONANT * frequencies[i]
        near = i < j and abs(frequencies[i] - frequencies[j]) < size and (moving[i] or moving[j])
        if near and not here.stay_equal(i, j):
            return f"frequencies {i + 1} and {j + 1} come within {RESONANT:.0%} of each other"
        for k in range(j, m):
            third = frequencies[j] + frequencies[k]
            if i not in (j, k) and abs(frequencies[i] - third) < size and (moving[j] or moving[k]):
                return f"frequency {i + 1} comes within {RESONANT:.0%} of the sum of {j + 1} and {k + 1}"
    return ""


@dataclass(frozen=True)
class _Local:
    """Everything at one state: terms of the equations, frequencies, normal modes (n, m), slopes of frequencies."""

    mass: Array
    force: Array
    rows: Array
    bias: Array
    frequencies: Array
    modes: Array
    slopes: Array
    mixing: Array

    def stay_equal(self, i: int, j: int) -> bool:
        """Say whether two frequencies are one and go on being one: equal, with equal slopes, and not mixed by them."""
        size = SAME * (np.abs(self.slopes).max(initial=0.0) + float(self.frequencies[i]))
        apart = np.abs(self.slopes[i] - self.slopes[j]).max(initial=0.0)
        return bool(abs(self.frequencies[i] - self.frequencies[j]) <= size and max(apart, self.mixing[i, j]) <= size)


class _Field:
    """Evaluates the slow motion's equations from one compiled kernel."""

    def __init__(self, softened: Softened, state: Any, params: Any) -> None:
        self.softened = softened
        self.n, self.m = len(softened.ideal.coordinates), len(softened.names)
        self.others = len(softened.soft.constraints)
        # The strength is 1: frequencies are in units of its root, and on the manifold the springs push nothing.
        inputs = resolve(softened.soft, state, softened.values(params, 1.0))
        self.q, self.v = inputs.q[:, 0].copy(), inputs.v[:, 0].copy()
        self.params = np.ascontiguousarray(inputs.params[:, 0])
        self.flow: FlowKernels = flow(compile(softened.soft, softened.backend).kernels, _nodes(softened))
        self.workspace = self.flow.workspace(self.params)
        self.sides = np.zeros(max(self.flow.sides, 1), dtype=np.int64)
        self.out = np.zeros(self.n + len(self.flow.measures))
        count = self.n * self.n
        sizes = [count, self.n, (self.m + self.others) * self.n, self.m + self.others, self.m**2, self.m**2 * self.n]
        sizes.append(self.m**2)
        self.places = np.cumsum([self.n, *sizes, self.n])
        depends = [force for force in _applied(softened) if force.atoms(Velocity)]
        self.dragged = bool(depends)

    def _measure(self, t: float, q: Array, v: Array) -> list[Array]:
        q, v = np.ascontiguousarray(q), np.ascontiguousarray(v)
        self.flow.live.calls[0](t, q, v, self.params, self.sides, self.workspace, self.out)
        return [self.out[a:b].copy() for a, b in zip(self.places[:-1], self.places[1:], strict=True)]

    def at(self, t: float, q: Array, v: Array) -> _Local:
        """Return everything at a state."""
        n, m = self.n, self.m
        mass, force, rows, bias, entries, slopes, root, _ = self._measure(t, q, v)
        mass, rows = mass.reshape(n, n), rows.reshape(m + self.others, n)
        values, vectors = np.linalg.eigh(entries.reshape(m, m))
        frequencies = np.sqrt(np.maximum(values, 1e-300))
        every = np.einsum("ai,kab,bj->kij", vectors, slopes.reshape(n, m, m), vectors)
        slope = np.einsum("kii->ik", every) / (2 * frequencies[:, None])
        mixing = np.abs(every).max(axis=0) / (2 * frequencies[:, None])
        # Normal modes: what moves the constraint functions along L^-T e_i and nothing of the other constraints.
        carried = np.asarray(np.linalg.solve(mass, rows.T), dtype=float)
        target = np.vstack([np.linalg.solve(root.reshape(m, m).T, vectors), np.zeros((self.others, m))])
        shapes = carried @ np.linalg.lstsq(rows @ carried, target, rcond=None)[0]
        shapes = shapes / np.sqrt(np.einsum("ai,ab,bi->i", shapes, mass, shapes))
        return _Local(mass, force, rows, bias, frequencies, shapes, slope, mixing)

    def forces(self, here: _Local, t: float, q: Array, v: Array, actions: Array) -> tuple[Array, Array, Array]:
        """Return the slow acceleration, the change of the actions, and the extra force along the manifold."""
        extra = -(actions @ here.slopes)
        change = np.zeros(self.m)
        if self.dragged and actions.any():
            mean, change = self._averages(here, t, q, v, actions)
            extra = extra + mean
        carried = np.linalg.solve(here.mass, here.rows.T)
        free = np.linalg.solve(here.mass, here.force + extra)
        inner = np.linalg.pinv(here.rows @ carried, rcond=1e-11)
        acceleration = free + carried @ (inner @ (here.bias - here.rows @ free))
        along = extra - here.rows.T @ (inner @ (carried.T @ extra))
        return acceleration, change, along

    def _averages(self, here: _Local, t: float, q: Array, v: Array, actions: Array) -> tuple[Array, Array]:
        """Return the mean over the phases of forces that depend on the velocity, and of their power on each mode."""
        speeds = np.sqrt(2 * np.maximum(actions, 0) * here.frequencies)
        still = self._measure(t, q, v)[-1]
        mean, power = np.zeros(self.n), np.zeros(self.m)
        angles = np.arange(PHASES) * (2 * np.pi / PHASES)
        grid = list(product(angles + 0.1, repeat=self.m)) if self.m <= 3 else _scattered(self.m)
        for phases in grid:
            swing = speeds * np.cos(phases)
            force = self._measure(t, q, v + here.modes @ swing)[-1]
            mean += (force - still) / len(grid)
            power += (here.modes.T @ (force - still)) * swing / len(grid)
        return mean, power / here.frequencies


def _scattered(m: int) -> list[Any]:
    """Return phases spread over a torus of many dimensions: a lattice and its reflections."""
    roots = np.sqrt(np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37][:m]) if m <= 12 else 2.0 + np.arange(m))
    base = 2 * np.pi * np.outer(np.arange(256), roots)
    return [row + shift for row in base for shift in (0.0, np.pi)]


def _applied(softened: Softened) -> list[Any]:
    """Return the forces that no Lagrangian gives, as expressions."""
    soft = softened.soft
    if soft.mass is not None:
        return list(soft.force)
    return list(soft.forces.values())


def _nodes(softened: Softened) -> Callable[[Program, Converter], dict[str, Node]]:
    """Return what makes the measures: M, Q, rows, biases, S, dS/dq, and the forces that no Lagrangian gives."""

    def make(program: Program, convert: Converter) -> dict[str, Node]:
        g, n = convert.graph, len(program.q)
        rows = [row_of(softened, name, program, convert) for name in softened.names] + list(program.normals)
        root = _stiffness_root(softened, program, convert, rows)
        parts = [program.mass.get((max(i, j), min(i, j)), g.zero) for i in range(n) for j in range(n)]
        parts += program.force
        parts += [row.entries.get(i, g.zero) for row in rows for i in range(n)]
        parts += [row.bias for row in rows]
        entries = _stiffness(program, rows, root)
        parts += entries
        for q in program.q:
            parts += g.forward(entries, {q: g.one})
        parts += [node for line in root for node in line]
        parts += _unlagrangian(softened, program, convert)
        return {f"part {k}": node for k, node in enumerate(parts)}

    return make


def _stiffness_root(softened: Softened, program: Program, convert: Converter, rows: list[Row]) -> list[list[Node]]:
    """Return L with L L^T the stiffness across the softened constraints: of their weights, or of shared energies.

    An energy W is (f, K f)/2 next to the constraints: K = X H X^T with its second differential H and
    X = (J J^T)^-1 J.
    """
    g, m, q = convert.graph, len(softened.names), softened.ideal.coordinates
    K = [[g.zero] * m for _ in range(m)]
    shared: dict[int, list[int]] = {}
    for i, name in enumerate(softened.names):
        way = softened.ways[name]
        if getattr(way, "energy", None) is None:
            K[i][i] = convert(amount(softened, name, "weight"))
        else:
            first = next(k for k in range(m) if softened.ways[softened.names[k]] == way)
            shared.setdefault(first, []).append(i)
    for first, places in shared.items():
        W = amount(softened, softened.names[first], "energy")
        H = [[convert(sp.diff(W, a, b)) for b in q] for a in q]
        J = [[rows[i].entries.get(k, g.zero) for k in range(len(q))] for i in places]
        gram = {(i, j): _product(g, J[i], J[j]) for i in range(len(J)) for j in range(i + 1)}
        factor = Factor(g, len(J), gram)
        columns = [factor.solve([row[k] for row in J]) for k in range(len(q))]  # columns of X
        X = [[column[i] for column in columns] for i in range(len(J))]
        bent = [[_product(g, line, row) for line in H] for row in X]
        for i, a in enumerate(places):
            for j, b in enumerate(places):
                K[a][b] = _product(g, X[i], bent[j])
    return _cholesky(g, K)


def _product(g: Graph, a: Sequence[Node], b: Sequence[Node]) -> Node:
    return g.add(*(g.mul(x, y) for x, y in zip(a, b, strict=True)))


def _cholesky(g: Graph, K: list[list[Node]]) -> list[list[Node]]:
    m = len(K)
    L = [[g.zero] * m for _ in range(m)]
    for i in range(m):
        for j in range(i + 1):
            less = _product(g, L[i][:j], L[j][:j]) if j else g.zero
            rest = g.sub(K[i][j], less)
            L[i][j] = g.call("sqrt", rest) if i == j else g.div(rest, L[j][j])
    return L


def _stiffness(program: Program, rows: list[Row], root: list[list[Node]]) -> list[Node]:
    """Return the entries of S = L^T G L: the mobility of the softened rows with the others held, between roots."""
    g, n, m = program.graph, len(program.q), len(root)
    mass = Factor(g, n, program.mass)
    carried = [mass.solve([row.entries.get(i, g.zero) for i in range(n)]) for row in rows]
    gram = {(i, j): dot(g, rows[i].entries, carried[j]) for i in range(len(rows)) for j in range(len(rows))}
    others = len(rows) - m
    held = Factor(g, others, {(i, j): gram[m + i, m + j] for i in range(others) for j in range(i + 1)})
    solved = [held.solve([gram[m + i, j] for i in range(others)]) for j in range(m)]
    G = [[gram[i, j] for j in range(m)] for i in range(m)]
    if others:
        for i, j in product(range(m), range(m)):
            G[i][j] = g.sub(G[i][j], g.add(*(g.mul(gram[i, m + k], solved[j][k]) for k in range(others))))
    columns = [[root[k][i] for k in range(m)] for i in range(m)]
    pushed = [[_product(g, line, column) for line in G] for column in columns]
    return [_product(g, columns[i], pushed[j]) for i in range(m) for j in range(m)]


def _unlagrangian(softened: Softened, program: Program, convert: Converter) -> list[Node]:
    """Return the generalized forces beside those of Lagrange's equations for T = v M v/2."""
    g, soft = convert.graph, softened.soft
    if soft.mass is None:
        return [convert(soft.forces[q]) if q in soft.forces else g.zero for q in soft.coordinates]
    momenta = [_momentum(g, program, i) for i in range(len(program.q))]
    flow_of = {**dict(zip(program.q, program.v, strict=True)), program.t: g.one}
    drift = g.forward(momenta, flow_of)
    kinetic = g.scale(0.5, g.add(*(g.mul(p, v) for p, v in zip(momenta, program.v, strict=True))))
    push = g.gradient(kinetic, program.q)
    return [g.add(program.force[i], drift[i], g.neg(push[i])) for i in range(len(program.q))]


def _momentum(g: Graph, program: Program, i: int) -> Node:
    parts = [
        g.mul(program.mass[max(i, j), min(i, j)], v)
        for j, v in enumerate(program.v)
        if (max(i, j), min(i, j)) in program.mass
    ]
    return g.add(*parts) if parts else g.zero
