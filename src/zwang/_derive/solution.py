"""The equations solved inside the graph: accelerations and multipliers of small systems as straight-line code.

M = L D L^T, Y = M^-1 J^T, G = J Y = L' D' L'^T, lam = G^-1 (gamma - J M^-1 Q), a = M^-1 Q + Y lam, written out entry
by entry; structural zeros vanish by themselves because the graph folds them. Each pivot is compared with the diagonal
entry it came from: the smaller one by the factor `PIVOT`, the rows are dependent in floating point, and the state is
handed to a rank-revealing method. Where masses are missing the active rows complete M: M + J^T D J and Q + J^T D gamma
give the same, with D_j the masses over the squared length of row j.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from zwang._derive.program import Program
from zwang._graph.evaluate import evaluate
from zwang._graph.graph import Graph, Node
from zwang._numerics.linear.metric import factor
from zwang._numerics.tolerances import THRESHOLDS

PIVOT = THRESHOLDS.pivot


@dataclass(frozen=True)
class SymbolicSolution:
    """Nodes of the accelerations, of the multipliers of the active constraints, and of the truth 'regular'."""

    accelerations: list[Node]
    multipliers: list[Node]
    regular: Node


def solve(program: Program, active: Sequence[int]) -> SymbolicSolution:
    """Return accelerations and multipliers when the normals of that number are active, all as equalities."""
    g = program.graph
    n = len(program.q)
    mass = Factor(g, n, program.mass)
    free = mass.solve(program.force)
    rows = [program.normals[j].entries for j in active]
    carried = [mass.carried(row) for row in rows]
    delassus = gram_factor(g, rows, carried)
    missing = [g.sub(program.normals[j].bias, dot(g, row, free)) for j, row in zip(active, rows, strict=True)]
    multipliers = delassus.solve(missing)
    accelerations = [
        g.add(free[i], *(g.mul(column[i], lam) for column, lam in zip(carried, multipliers, strict=True)))
        for i in range(n)
    ]
    truths = dict.fromkeys([*mass.regular, *delassus.regular])
    regular = reduce(lambda a, b: g.condition("and", a, b), truths, g.condition("le", g.zero, g.one))
    return SymbolicSolution(accelerations, multipliers, regular)


def masses_missing(program: Program) -> bool:
    """Say whether the mass matrix is singular by itself, at a place where nothing is special."""
    source, n = np.random.default_rng(11), len(program.q)
    inputs = dict(zip(program.inputs, source.uniform(0.4, 1.3, len(program.inputs)), strict=True))
    mass = np.zeros((n, n))
    with np.errstate(all="ignore"):
        values = evaluate(program.graph, list(program.mass.values()), inputs, np)
        for (i, j), value in zip(program.mass, values, strict=True):
            mass[i, j] = mass[j, i] = float(value)
    if not np.isfinite(mass).all():
        return False
    return factor(mass) is None


def with_masses(program: Program, active: Sequence[int]) -> Program:
    """Return the program whose mass matrix is completed by rows that hold, itself where no masses are missing."""
    if not masses_missing(program):
        return program
    g = program.graph
    mass, force = dict(program.mass), list(program.force)
    total = g.add(*(node for (i, j), node in program.mass.items() if i == j))
    for number in active:
        row = program.normals[number]
        weight = g.div(total, g.add(*(g.mul(entry, entry) for entry in row.entries.values())))
        for i, entry in row.entries.items():
            weighted = g.mul(weight, entry)
            force[i] = g.add(force[i], g.mul(weighted, row.bias))
            for j, other in row.entries.items():
                if j <= i:
                    mass[i, j] = g.add(mass.get((i, j), g.zero), g.mul(weighted, other))
    return replace(program, mass=mass, force=force)


def elimination(size: int, entries: Iterable[tuple[int, int]]) -> list[int]:
    """Return an order in which to eliminate the unknowns of a symmetric matrix with entries at these places.

    The given order, unless taking the unknown with the fewest neighbours left next fills in less. In a tree of bodies
    what hangs at the ends goes first then, and limbs don't come to know of each other; a body that floats, whose
    coordinates are declared first and touch all others, goes last.

    Examples
    --------
    An arrow: the unknown that all others know goes when one of them is left.

    >>> elimination(4, [(1, 0), (2, 0), (3, 0)])
    [1, 2, 0, 3]
    >>> elimination(3, [(1, 0), (2, 1)])
    [0, 1, 2]
    """
    near: dict[int, set[int]] = {i: set() for i in range(size)}
    for i, j in entries:
        if i != j:
            near[i].add(j)
            near[j].add(i)
    given, few = list(range(size)), []
    left = {i: set(others) for i, others in near.items()}
    work = sum(_eliminate(left, k) for k in given)
    left, effort = near, 0
    while left:
        k = min(left, key=lambda item: (len(left[item]), item))
        few.append(k)
        effort += _eliminate(left, k)
    return few if effort < work else given


def _eliminate(left: dict[int, set[int]], k: int) -> int:
    """Take an unknown out, which joins its neighbours; return the multiplications."""
    around = left.pop(k)
    for i in around:
        left[i] = (left[i] | around) - {i, k}
    return len(around) * (len(around) + 3) // 2


class Factor:
    """L D L^T of a symmetric matrix of nodes, given by the nonzero entries of its lower triangle.

    `order` says which unknown stands where in L and D.
    """

    def __init__(self, g: Graph, size: int, entries: Mapping[tuple[int, int], Node]) -> None:
        self.g, self.size = g, size
        self.order = elimination(size, (place for place, node in entries.items() if node != g.zero))
        self.lower: dict[tuple[int, int], Node] = {}
        self.inverse: list[Node] = []
        self.regular: list[Node] = []
        scaled: dict[tuple[int, int], Node] = {}  # L D, column by column

        def entry_of(i: int, j: int) -> Node:
            one, other = self.order[i], self.order[j]
            return entries.get((max(one, other), min(one, other)), g.zero)

        for j in range(size):
            diagonal = entry_of(j, j)
            pivot = self._less(diagonal, scaled, j, j)
            if g.value(pivot) is None or not (g.value(pivot) or 0.0) > 0.0:
                self.regular.append(g.condition("lt", g.scale(PIVOT, diagonal), pivot))
            self.inverse.append(g.div(g.one, pivot))
            for i in range(j + 1, size):
                entry = self._less(entry_of(i, j), scaled, i, j)
                if entry != g.zero:
                    scaled[i, j] = entry
                    self.lower[i, j] = g.mul(entry, self.inverse[j])

    def _less(self, entry: Node, scaled: Mapping[tuple[int, int], Node], i: int, j: int) -> Node:
        g = self.g
        products = [
            (-1.0, g.mul(scaled[i, k], self.lower[j, k])) for k in range(j) if (i, k) in scaled and (j, k) in self.lower
        ]
        return g.linear([(1.0, entry), *products])

    def solve(self, right: Sequence[Node]) -> list[Node]:
        """Return the solution for one right side."""
        g = self.g
        x = [right[place] for place in self.order]
        for i in range(self.size):
            parts = [(-1.0, g.mul(self.lower[i, k], x[k])) for k in range(i) if (i, k) in self.lower]
            x[i] = g.linear([(1.0, x[i]), *parts])
        x = [g.mul(item, inverse) for item, inverse in zip(x, self.inverse, strict=True)]
        for i in reversed(range(self.size)):
            parts = [(-1.0, g.mul(self.lower[k, i], x[k])) for k in range(i + 1, self.size) if (k, i) in self.lower]
            x[i] = g.linear([(1.0, x[i]), *parts])
        found = [g.zero] * self.size
        for place, item in zip(self.order, x, strict=True):
            found[place] = item
        return found

    def carried(self, row: Mapping[int, Node]) -> list[Node]:
        """Return the solution for a sparse row as the right side."""
        return self.solve([row.get(i, self.g.zero) for i in range(self.size)])


def dot(g: Graph, row: Mapping[int, Node], column: Sequence[Node]) -> Node:
    """Return a sparse row times a column."""
    return g.add(*(g.mul(entry, column[i]) for i, entry in row.items())) if row else g.zero


def product(g: Graph, a: Sequence[Node], b: Sequence[Node]) -> Node:
    """Return a row times a column, both without gaps."""
    return g.add(*(g.mul(x, y) for x, y in zip(a, b, strict=True))) if a else g.zero


def gram_factor(g: Graph, rows: Sequence[Mapping[int, Node]], carried: Sequence[Sequence[Node]]) -> Factor:
    """Return the factors of J M^-1 J^T from the rows and what M^-1 makes of each of them."""
    gram = {(i, j): dot(g, rows[i], carried[j]) for i in range(len(rows)) for j in range(i + 1)}
    return Factor(g, len(rows), gram)
