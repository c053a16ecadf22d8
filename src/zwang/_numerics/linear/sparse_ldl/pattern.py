"""The tables of the sparse LDL^T, computed once: runs of equal supernodes, their targets, and where entries go."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zwang._numerics.linear.sparse_ldl import table_layout as at
from zwang._numerics.linear.sparse_ldl.ordering import Supernode, eliminate
from zwang.errors import CompileError

MOST_TARGETS = 50_000_000  # some hundred megabytes of tables

Shape = tuple[int, int, int]  # kind, w, r
Run = tuple[Shape, list[int]]


@dataclass(frozen=True, eq=False)
class SparsePattern:
    """Where everything stands in the factorization of one sparsity pattern; made by `analyse`.

    Attributes
    ----------
    n, m : int
        Numbers of coordinates and constraints.
    mass_size : int
        How many values of M `ldl_factor` expects.
    table : (k,) uint32 array
        All indices, as the kernels read them.
    workspace_size : int
        How many float64 the kernels need.
    nonzeros : int
        Entries of L and D.
    operations : int
        Multiplications of one factorization.
    order : (n + m,) int64 array
        The unknowns as they are eliminated.
    """

    n: int
    m: int
    mass_size: int
    table: NDArray[np.uint32]
    workspace_size: int
    nonzeros: int
    operations: int
    order: NDArray[np.int64]

    def packed(self) -> NDArray[np.int64]:
        """Return the table two by two in int64, for the int_table of a model: ``int_table[i:j].view(np.uint32)``."""
        return np.concatenate([self.table, np.zeros(self.table.size % 2, np.uint32)]).view(np.int64)


def analyse(
    n: int, m: int, mass_rows: ArrayLike, mass_cols: ArrayLike, jac_rows: ArrayLike, jac_cols: ArrayLike
) -> SparsePattern:
    """Choose an elimination order for K = [[M, J^T], [J, 0]] and lay out its factorization.

    Parameters
    ----------
    n, m : int
        Numbers of coordinates and constraints.
    mass_rows, mass_cols : (k,) integer arrays
        The entries of M, of one triangle: (i, j) stands for (j, i) too. Duplicates are summed.
    jac_rows, jac_cols : (k,) integer arrays
        The entries of J (constraint, coordinate). Duplicates are summed.

    Examples
    --------
    A pendulum (mass 2 at (3, 4) on a rod of length 5, at rest, under gravity 10):

    >>> from zwang._numerics.linear.sparse_ldl import ldl_factor, ldl_solve
    >>> pattern = analyse(2, 1, [0, 1], [0, 1], [0, 0], [0, 1])
    >>> workspace = np.empty(pattern.workspace_size)
    >>> ldl_factor(pattern.table, np.array([2.0, 2.0]), np.array([3.0, 4.0]), workspace)
    1.0
    >>> x = np.array([0.0, -20.0, 0.0])
    >>> ldl_solve(pattern.table, workspace, x)
    >>> x.round(12)  # the accelerations, then minus the multiplier
    array([ 4.8, -3.6, -3.2])
    """
    mass = _Entries("M", (n, n), mass_rows, mass_cols, symmetric=True)
    jac = _Entries("J", (m, n), jac_rows, jac_cols)
    on_diagonal = mass.pairs[:, 0] == mass.pairs[:, 1]
    missing = np.setdiff1d(np.arange(n), mass.pairs[on_diagonal, 0])
    if missing.size:
        raise CompileError(
            f"analyse: coordinate {missing[0]} has no diagonal entry in M, which can't be positive definite then. "
            f"Give every coordinate inertia."
        )
    nodes = eliminate(n, m, mass.pairs[~on_diagonal], jac.pairs)
    if sum(len(node.rows) ** 2 for node in nodes) > MOST_TARGETS:
        widest = max(nodes, key=lambda node: len(node.rows))
        raise CompileError(
            f"analyse: the factor is too dense for index tables: unknown {widest.columns[0]} and {len(widest.rows)} "
            f"others are coupled all to all. Share the constraints that meet there among several bodies."
        )
    return _Layout(n, m, mass, jac, nodes).build()


class _Entries:
    """The distinct entries of a matrix (`pairs`), and where the value of each is found (`sources`)."""

    def __init__(
        self, name: str, shape: tuple[int, int], rows: ArrayLike, cols: ArrayLike, *, symmetric: bool = False
    ) -> None:
        i, j = np.asarray(rows, np.int64).ravel(), np.asarray(cols, np.int64).ravel()
        if i.size != j.size or not (_within(i, shape[0]) and _within(j, shape[1])):
            raise CompileError(
                f"analyse: the rows and columns of {name} must be two equally long lists of indices within "
                f"{shape[0]} x {shape[1]}; {i.size} and {j.size} were given."
            )
        if symmetric:
            i, j = np.minimum(i, j), np.maximum(i, j)
        _, first, self.slots = np.unique(i * shape[1] + j, return_index=True, return_inverse=True)
        self.size = i.size
        self.pairs: NDArray[np.int64] = np.stack([i[first], j[first]], axis=1)
        self.duplicates = first.size < i.size
        self.sources: NDArray[np.int64] = np.arange(first.size) if self.duplicates else first

    def items(self) -> list[tuple[int, int, int]]:
        return [(i, j, s) for (i, j), s in zip(self.pairs.tolist(), self.sources.tolist(), strict=True)]


def _within(indices: NDArray[np.int64], bound: int) -> bool:
    return bool(np.all((indices >= 0) & (indices < bound)))


class _Layout:
    """The way from an order of elimination to a table."""

    def __init__(self, n: int, m: int, mass: _Entries, jac: _Entries, nodes: list[Supernode]) -> None:
        self.n, self.m, self.mass, self.jac, self.nodes = n, m, mass, jac, nodes
        self.mass_source = {i: s for i, j, s in mass.items() if i == j}
        self.jac_source = {(c, i): s for c, i, s in jac.items()}
        self.start: dict[int, int] = {}  # supernode -> where its values start
        self.local: dict[int, dict[int, int]] = {}  # supernode that is no leaf: unknown -> line of its columns
        self.column: dict[int, tuple[int, int]] = {}  # unknown of such a supernode -> start of its column, supernode
        self.rank: dict[int, int] = {}  # unknown -> when it is eliminated
        self.size = at.WORKSPACE_HEAD
        self.parts: list[NDArray[np.int64]] = []
        self.length = at.HEAD

    def build(self) -> SparsePattern:
        runs = self._schedule()
        head = np.zeros(at.HEAD, np.int64)
        head[at.COORDINATES] = self.n
        head[at.FACTOR], head[at.FACTOR + 1] = self._place_values(runs)
        self._put_runs(head, runs)
        self._put(head, at.MASS, self._scattered(self.mass, 0), 2)
        self._put(head, at.JAC, self._scattered(self.jac, self.n), 2)
        self._put(head, at.DIAGONAL, [(u, start + self.local[s][u]) for u, (start, s) in self.column.items()], 2)
        for place, entries in ((at.MASS_SLOTS, self.mass), (at.JAC_SLOTS, self.jac)):
            if entries.duplicates:
                self._put(head, place, entries.slots, 1)
                head[place + 2], head[place + 3] = self.size, entries.sources.size
                self.size += entries.sources.size
        head[at.SCALE], head[at.TEMPORARY] = self.size, self.size + self.n + self.m
        below = [  # entries below the diagonal, column by column
            len(node.rows) + (0 if node.diagonal else k) for node in self.nodes for k in range(len(node.columns))
        ]
        return SparsePattern(
            n=self.n,
            m=self.m,
            mass_size=self.mass.size,
            table=np.concatenate([head, *self.parts]).astype(np.uint32),
            workspace_size=self.size + self.n + self.m + max((len(node.rows) for node in self.nodes), default=0),
            nonzeros=sum(c + 1 for c in below),
            operations=sum(c * (c + 3) // 2 for c in below),
            order=np.array(list(self.rank), np.int64),  # a dictionary keeps the order of insertion
        )

    def _put(self, head: NDArray[np.int64], place: int, values: ArrayLike, width: int) -> None:
        """Append values to the table, and write their start and number into its head."""
        flat = np.asarray(values, np.int64).ravel()
        head[place], head[place + 1] = self.length, flat.size // width
        self.parts.append(flat)
        self.length += flat.size

    def _put_runs(self, head: NDArray[np.int64], runs: list[Run]) -> None:
        lines: list[list[int]] = []
        for (kind, w, r), nodes in runs:
            indices = np.array([self._indices(kind, r, s) for s in nodes], np.int64)
            lines.append([kind, w, r, len(nodes), self.length, self.start[nodes[0]]])
            self.parts.append(indices.ravel())
            self.length += indices.size
        self._put(head, at.RUNS, lines, at.RUN)
        head[at.LEAF_RUNS] = sum(1 for line in lines if line[0] == at.LEAF)

    def _shape(self, s: int) -> Shape:
        node = self.nodes[s]
        w, r = len(node.columns), len(node.rows)
        if node.diagonal or w > 1:
            return at.LEAF if node.diagonal else at.PANEL, w, r
        return (at.PAIR, 1, 1) if r == 1 else (at.SINGLE, 1, r + r % 2)  # a zero more makes longer runs

    def _parents(self) -> list[int]:
        """The supernode to which the first row of each belongs, -1 for none."""
        owner = {u: s for s, node in enumerate(self.nodes) for u in node.columns}
        return [min((owner[u] for u in node.rows), default=-1) for node in self.nodes]

    def _schedule(self) -> list[Run]:
        """Group supernodes of equal shape into runs, leaves first, every supernode after its children.

        Within a run first come is first served: independent parts of a mechanism alternate, so that the processor
        can work on one while it waits for the pivot of the other.
        """
        parents = self._parents()
        waiting = [0] * len(parents)
        for p in parents:
            if p >= 0:
                waiting[p] += 1
        ready: dict[Shape, deque[int]] = defaultdict(deque)
        for s in range(len(parents)):
            if not waiting[s]:
                ready[self._shape(s)].append(s)
        runs: list[Run] = []
        while ready:
            shape = min(ready, key=lambda f: (f[0] != at.LEAF, -len(ready[f])))
            queue, run = ready[shape], []
            while queue:
                s = queue.popleft()
                run.append(s)
                if (p := parents[s]) >= 0:
                    waiting[p] -= 1
                    if not waiting[p]:
                        ready[self._shape(p)].append(p)
            del ready[shape]
            runs.append((shape, run))
        return runs

    def _place_values(self, runs: list[Run]) -> tuple[int, int]:
        """Give each supernode its values; return the range of those that must be cleared, which follow the leaves."""
        order = (u for _, nodes in runs for s in nodes for u in self.nodes[s].columns)
        self.rank = {u: i for i, u in enumerate(order)}
        leaves_end = self.size
        for (kind, w, r), nodes in runs:
            for s in nodes:
                node = self.nodes[s]
                node.rows.sort(key=self.rank.__getitem__)
                self.start[s] = self.size
                if kind != at.LEAF:
                    self.local[s] = {u: i for i, u in enumerate([*node.columns, *node.rows])}
                    self.column.update((u, (self.size + c * (w + r), s)) for c, u in enumerate(node.columns))
                self.size += w + r * w if kind == at.LEAF else w * (w + r)
            if kind == at.LEAF:
                leaves_end = self.size
        return leaves_end, self.size

    def _indices(self, kind: int, r: int, s: int) -> list[int]:
        node = self.nodes[s]
        added = r - len(node.rows)
        targets: list[int] = []
        for j, u in enumerate(node.rows):
            start, t = self.column[u]
            local = self.local[t]
            targets += [start + local[v] for v in node.rows[j:]] + [at.NOWHERE] * added
        targets += [at.NOWHERE] * (added * (added + 1) // 2)
        if kind != at.LEAF:
            return [*node.columns, *node.rows, *node.rows[-1:] * added, *targets]
        masses = [self.mass_source[i] for i in node.columns]
        jacs = [self.jac_source[c - self.n, i] for c in node.rows for i in node.columns]
        return [*masses, *jacs, *node.rows, *targets, *node.columns]

    def _scattered(self, entries: _Entries, shift: int) -> list[tuple[int, int]]:
        """Return (target, source) of the entries that no leaf reads by itself."""
        found: list[tuple[int, int]] = []
        for i, j, source in entries.items():
            u, v = sorted((i + shift, j), key=self.rank.__getitem__)
            if u in self.column:
                start, s = self.column[u]
                found.append((start + self.local[s][v], source))
        return found
