"""An elimination order for K = [[M, J^T], [J, 0]] in which every pivot of size one exists.

Minimum degree on the quotient graph (eliminated unknowns stand for the cliques they leave behind, degrees are the
upper bounds of Amestoy, Davis and Duff), with one rule more: a constraint may be eliminated only after every
coordinate that it touches. Then LDL^T with pivots of size one exists, whatever the values, for M positive definite
and J of full row rank:

    Let C and R be the coordinates and constraints among the first k unknowns. The rows R of J have all their nonzeros
    in the columns C, so J[R, C] has full row rank like J[R, :], and M[C, C] is positive definite like M. Hence the
    leading block [[M[C, C], J[R, C]^T], [J[R, C], 0]] is congruent to diag(M[C, C], -S) with its Schur complement
    S = J[R, C] M[C, C]^-1 J[R, C]^T > 0: it is regular and the sign of its determinant is (-1)^|R|. A pivot is the
    quotient of two successive determinants: positive for a coordinate, negative for a constraint.

So a pivot of the wrong sign, or one small against the terms it was made of, says that M is not positive definite or
that constraints depend on each other; nothing else can cause it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class Supernode:
    """Unknowns eliminated together, which have the same unknowns left below them.

    `diagonal` says that they are coordinates without a coupling among them, and that nothing was eliminated before
    that touches them: their pivots are entries of M, their columns entries of J.
    """

    columns: list[int]
    rows: list[int]
    diagonal: bool = False


def eliminate(n: int, m: int, mass: NDArray[np.int64], jac: NDArray[np.int64]) -> list[Supernode]:
    """Return the supernodes in the order of elimination.

    Parameters
    ----------
    n, m : int
        Numbers of coordinates (unknowns 0 to n - 1) and constraints (unknowns n to n + m - 1).
    mass : (k, 2) array
        Distinct pairs of different coordinates coupled by M, each once.
    jac : (k, 2) array
        Distinct pairs (constraint, coordinate) of J.
    """
    neighbours: list[set[int]] = [set() for _ in range(n + m)]
    for i, j in mass.tolist():
        neighbours[i].add(j)
        neighbours[j].add(i)
    for c, k in jac.tolist():
        neighbours[c + n].add(k)
        neighbours[k].add(c + n)
    return _Elimination(n, neighbours).run()


class _Elimination:
    """The quotient graph: variables (groups of equivalent unknowns, named by one of them) and elements (cliques)."""

    def __init__(self, n: int, neighbours: list[set[int]]) -> None:
        self.n = n
        self.variables = neighbours  # the neighbours of a variable that no element accounts for
        self.elements: list[set[int]] = [set() for _ in neighbours]  # the elements that a variable belongs to
        self.members: list[list[int]] = [[i] for i in range(len(neighbours))]
        self.inside: dict[int, set[int]] = {}  # the variables of an element
        self.size: dict[int, int] = {}  # its unknowns: merging keeps their number, eliminating one ends the element
        self.coupled: set[int] = set()
        self.alive = set(range(len(neighbours)))
        self.pending = {c: sum(1 for k in neighbours[c] if k < n) for c in range(n, len(neighbours))}
        self.touching = [[c for c in neighbours[k] if c >= n] for k in range(n)]
        self.heap: list[tuple[int, int, int]] = []
        self.degree: list[int] = [0] * len(neighbours)
        self.clock = 0

    def run(self) -> list[Supernode]:
        self._merge_twins()
        for i in sorted(self.alive):
            self._push(i, 0 if self._is_leaf(i) else sum(len(self.members[j]) for j in self.variables[i]))
        order: list[Supernode] = []
        while self.heap:
            degree, _, pivot = heapq.heappop(self.heap)
            if pivot in self.alive and degree == self.degree[pivot]:
                order.append(self._eliminate(pivot))
        return order

    def _is_leaf(self, i: int) -> bool:
        """Whether only constraints touch this group of coordinates.

        No constraint that touches it can go before it and no coordinate is next to it, so that its neighbours stay
        the same until it goes: it may as well go first, and the tables have a fast lane for it.
        """
        return i < self.n and i not in self.coupled and all(j >= self.n for j in self.variables[i])

    def _push(self, i: int, degree: int) -> None:
        """Note a degree; first in, first out among equals, which interleaves independent parts of the graph."""
        self.degree[i] = degree
        if i < self.n or not self.pending[i]:
            self.clock += 1
            heapq.heappush(self.heap, (degree, self.clock, i))

    def _merge_twins(self) -> None:
        """Merge unknowns with the same neighbours: x and y of a point, the rows of a joint."""
        classes: dict[tuple[bool, bool, frozenset[int]], int] = {}
        for i, near in enumerate([frozenset(near) for near in self.variables]):
            apart = classes.setdefault((i < self.n, False, near), i)
            joined = i
            if apart == i and near and i < self.n:
                joined = classes.setdefault((True, True, near | {i}), i)
            first = min(apart, joined)
            if first != i:
                self._absorb(first, i)
                if joined != i:
                    self.coupled.add(first)

    def _absorb(self, keep: int, gone: int) -> None:
        self.members[keep] += self.members[gone]
        self.alive.discard(gone)
        for j in self.variables[gone]:
            self.variables[j].discard(gone)
        for e in self.elements[gone]:
            self.inside[e].discard(gone)
        if gone < self.n:
            self.touching[keep] += self.touching[gone]

    def _eliminate(self, p: int) -> Supernode:
        """Eliminate a variable: what it touches becomes a clique, the element p."""
        absorbed = self.elements[p]
        near = self.variables[p].union(*(self.inside[e] for e in absorbed))
        near.discard(p)
        diagonal = not absorbed and self._is_leaf(p)
        rows = [u for j in near for u in self.members[j]]
        self.alive.discard(p)
        for e in absorbed:
            del self.inside[e]
        if p < self.n:
            for c in self.touching[p]:
                self.pending[c] -= 1
        for i in near:
            self.variables[i] -= near
            self.variables[i].discard(p)
            self.elements[i] -= absorbed
        self._update(p, near)
        return Supernode(self.members[p], rows, diagonal)

    def _update(self, p: int, near: set[int]) -> None:
        """Bound the degrees of the variables of the new element, and merge those that have become equivalent."""
        outside = self._outside(near)
        covered = {e for e, size in outside.items() if size == 0}
        for e in covered:
            del self.inside[e]
        self.inside[p] = near
        self.size[p] = weight = sum(len(self.members[i]) for i in near)
        for i in near:
            self.elements[i] -= covered
            self.elements[i].add(p)
        for i in self._merge_equivalent(near):
            own = weight - len(self.members[i])
            own += sum(len(self.members[j]) for j in self.variables[i])
            self._push(i, own + sum(outside[e] for e in self.elements[i] if e != p))

    def _outside(self, near: Iterable[int]) -> dict[int, int]:
        """Count, for each element that meets `near`, its unknowns outside of it."""
        outside: dict[int, int] = {}
        for i in near:
            weight = len(self.members[i])
            for e in self.elements[i]:
                outside[e] = outside.get(e, self.size[e]) - weight
        return outside

    def _merge_equivalent(self, near: set[int]) -> list[int]:
        classes: dict[tuple[bool, frozenset[int], frozenset[int]], int] = {}
        kept: list[int] = []
        for i in list(near):
            if i >= self.n and self.pending[i]:  # may become equivalent, but can't be eliminated yet
                kept.append(i)
                continue
            first = classes.setdefault((i < self.n, frozenset(self.elements[i]), frozenset(self.variables[i])), i)
            if first == i:
                kept.append(i)
            else:
                self._absorb(first, i)
        return kept
