"""What the slow motion needs at a state, compiled: frequencies and modes of the fast oscillations and their slopes.

w_i^2 are the eigenvalues of S = L^T G L, K = L L^T the stiffness across the constraints (the weights of the springs, or
what the second differential of a shared energy is in terms of their expressions) and G = J Y J^T the mobility of the
softened constraints, Y being M^-1 with the directions of the other constraints taken out; dw_i/dq =
e_i^T (dS/dq) e_i/(2 w_i). A mode e_i moves the expressions along L^-T e_i.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._compile import compile
from zwang._compile.given_values import resolve
from zwang._declare.symbols import Velocity
from zwang._derive.program import Program, Row
from zwang._derive.solution import Factor, dot, product
from zwang._graph.convert import Converter
from zwang._graph.graph import Graph, Node
from zwang._kernels.flow import FlowKernels, flow
from zwang._limit.ideal import tangential
from zwang._limit.realized_run import row_of
from zwang._limit.ways import Softened
from zwang._realize import amounts

Array = NDArray[np.float64]
STENCIL = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))
"""A derivative by differences of order 4: multiples of the distance, and the factors of the values there."""


@dataclass(frozen=True)
class Local:
    """Everything at one state: terms of the equations, frequencies, normal modes, slopes.

    Attributes
    ----------
    mass, force, rows, bias : arrays
    frequencies : (m,)
        In units of strength^(1/2).
    modes : (n, m)
        Orthonormal in the kinetic metric.
    bends : (n, m, m)
        e_i^T (dS/dq) e_j for each coordinate.
    """

    mass: Array
    force: Array
    rows: Array
    bias: Array
    frequencies: Array
    modes: Array
    bends: Array

    @property
    def slopes(self) -> Array:
        """Slopes (m, n) of the frequencies."""
        return np.asarray(np.einsum("kii->ik", self.bends) / (2 * self.frequencies[:, None]))

    @cached_property
    def along(self) -> Array:
        """The bends (n, m, m) in directions along the constraints alone."""
        return np.asarray(np.einsum("kij,kl->lij", self.bends, tangential(self.mass, self.rows)))

    def turned(self, turn: Array, frequencies: Array) -> Local:
        """Return the same with its modes turned among each other."""
        bends = np.einsum("ai,kab,bj->kij", turn, self.bends, turn)
        return replace(self, frequencies=frequencies, modes=self.modes @ turn, bends=bends)

    def like(self, modes: Array, groups: Sequence[Sequence[int]]) -> Local:
        """Return the same with its modes in the order and the directions of given ones.

        Modes of a group have one frequency: any turn among them gives modes again.
        """
        from scipy.optimize import linear_sum_assignment

        overlap = modes.T @ self.mass @ self.modes
        order = linear_sum_assignment(-(overlap**2))[1]
        turn = np.zeros_like(overlap)
        for group in groups:
            columns = order[list(group)]
            left, _, right = np.linalg.svd(overlap[np.ix_(group, columns)])
            turn[np.ix_(columns, group)] = (left @ right).T
        return self.turned(turn, self.frequencies[order])


class FastTerms:
    """Evaluates the terms from one compiled kernel."""

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
        sizes = [self.n**2, self.n, (self.m + self.others) * self.n, self.m + self.others, self.m**2]
        sizes += [self.m**2 * self.n, self.m**2]
        self.places = np.cumsum([self.n, *sizes, self.n])
        self.dragged = any(force.atoms(Velocity) for force in _applied(softened))
        levels = [getattr(item, "level", "") for item in softened.soft.constraints]
        self.bound = np.array([level == "position" for level in levels], dtype=np.bool_)

    def _measure(self, t: float, q: Array, v: Array) -> list[Array]:
        q, v = np.ascontiguousarray(q), np.ascontiguousarray(v)
        self.flow.live.calls[0](t, q, v, self.params, self.sides, self.workspace, self.out)
        return [self.out[a:b].copy() for a, b in zip(self.places[:-1], self.places[1:], strict=True)]

    def at(self, t: float, q: Array, v: Array) -> Local:
        """Return everything at a state, modes in the order of their frequencies."""
        n, m = self.n, self.m
        mass, force, rows, bias, entries, slopes, root, _ = self._measure(t, q, v)
        mass, rows = mass.reshape(n, n), rows.reshape(m + self.others, n)
        values, vectors = np.linalg.eigh(entries.reshape(m, m))
        frequencies = np.sqrt(np.maximum(values, 1e-300))
        bends = np.einsum("ai,kab,bj->kij", vectors, slopes.reshape(n, m, m), vectors)
        # Normal modes: what moves the constraint functions along L^-T e_i and nothing of the other constraints.
        carried = np.asarray(np.linalg.solve(mass, rows.T), dtype=float)
        target = np.vstack([np.linalg.solve(root.reshape(m, m).T, vectors), np.zeros((self.others, m))])
        shapes = carried @ np.linalg.lstsq(rows @ carried, target, rcond=None)[0]
        shapes = shapes / np.sqrt(np.einsum("ai,ab,bi->i", shapes, mass, shapes))
        return Local(mass, force, rows, bias, frequencies, shapes, bends)

    def unlagrangian(self, t: float, q: Array, v: Array) -> Array:
        """Return the generalized forces that no Lagrangian gives."""
        return self._measure(t, q, v)[-1]

    def push(self, here: Local, t: float, q: Array, v: Array, y: Array, u: Array, distance: float) -> Array:
        """Return what drives the oscillations, y'' + w^2 y = push/sqrt(N), beside the turning of their modes.

        The softened system itself is asked, at displacements e y with the strength 1/e^2 for e about `distance`: what
        is proportional to e in e times its acceleration is the push, with the cubic terms of the energy and all terms
        of the kinetic energy.
        """
        shift, speed = here.modes @ y, np.ascontiguousarray(v + here.modes @ u)
        found = np.zeros(self.n)
        for times, factor in STENCIL:
            e = times * distance
            params, workspace = self._strong(e**-2)
            place = np.ascontiguousarray(self._held(here, t, q, e * shift))
            self.flow.live.calls[0](t, place, speed, params, self.sides, workspace, self.out)
            found += factor * times * self.out[: self.n]
        return np.asarray(here.modes.T @ here.mass @ found)

    def _strong(self, strength: float) -> tuple[Array, Array]:
        """Return parameters with that strength, and what depends on them alone."""
        names = [item.name for item in self.softened.soft.parameters]
        params = self.params.copy()
        params[names.index(self.softened.strength)] = strength
        return params, self.flow.workspace(params)

    def _held(self, here: Local, t: float, q: Array, shift: Array) -> Array:
        """Return q + shift, brought back to constraints that are still ideal, to third order in the shift."""
        if not self.bound.any():
            return q + shift
        # Its rows half way tell the value of an expression at the end.
        rows = self._measure(t, q + shift / 2, self.v)[2].reshape(-1, self.n)[self.m :][self.bound]
        carried = np.linalg.solve(here.mass, here.rows[self.m :][self.bound].T)
        return np.asarray(q + shift - carried @ np.linalg.lstsq(rows @ carried, rows @ shift, rcond=None)[0])


def amount(softened: Softened, name: str, what: str) -> Any:
    """Return the weight or the damping of a spring as an expression."""
    return amounts.read(softened.ideal, getattr(softened.ways[name], what), f"Stiffness: {what}")


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
        root = _stiffness_root(softened, convert, rows)
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


def _stiffness_root(softened: Softened, convert: Converter, rows: list[Row]) -> list[list[Node]]:
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
        gram = {(i, j): product(g, J[i], J[j]) for i in range(len(J)) for j in range(i + 1)}
        factor = Factor(g, len(J), gram)
        columns = [factor.solve([row[k] for row in J]) for k in range(len(q))]  # columns of X
        X = [[column[i] for column in columns] for i in range(len(J))]
        bent = [[product(g, line, row) for line in H] for row in X]
        for i, a in enumerate(places):
            for j, b in enumerate(places):
                K[a][b] = product(g, X[i], bent[j])
    return _cholesky(g, K)


def _cholesky(g: Graph, K: list[list[Node]]) -> list[list[Node]]:
    m = len(K)
    L = [[g.zero] * m for _ in range(m)]
    for i in range(m):
        for j in range(i + 1):
            rest = g.sub(K[i][j], product(g, L[i][:j], L[j][:j]))
            L[i][j] = g.call("sqrt", rest) if i == j else g.div(rest, L[j][j])
    return L


def _stiffness(program: Program, rows: list[Row], root: list[list[Node]]) -> list[Node]:
    """Return the entries of S = L^T G L: the mobility of the softened rows with the others held, between roots."""
    g, n, m = program.graph, len(program.q), len(root)
    mass = Factor(g, n, program.mass)
    carried = [mass.carried(row.entries) for row in rows]
    gram = {(i, j): dot(g, rows[i].entries, carried[j]) for i in range(len(rows)) for j in range(len(rows))}
    others = len(rows) - m
    held = Factor(g, others, {(i, j): gram[m + i, m + j] for i in range(others) for j in range(i + 1)})
    solved = [held.solve([gram[m + i, j] for i in range(others)]) for j in range(m)]
    G = [[gram[i, j] for j in range(m)] for i in range(m)]
    if others:
        for i, j in np.ndindex(m, m):
            G[i][j] = g.sub(G[i][j], g.add(*(g.mul(gram[i, m + k], solved[j][k]) for k in range(others))))
    columns = [[root[k][i] for k in range(m)] for i in range(m)]
    pushed = [[product(g, line, column) for line in G] for column in columns]
    return [product(g, columns[i], pushed[j]) for i in range(m) for j in range(m)]


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
