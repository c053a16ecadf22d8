"""The search over modes below given choices, with certain signs: the steps of `search_tree`, told for few nodes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.enumeration import layout_of, modes_of_steps, step_arrays
from zwang._numerics.contact.exact.integer_dictionary import Dictionary, integer_row
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.linear.dictionary import FREE

Ints = npt.NDArray[np.int64]


class ExactSearch:
    """Modes with solutions, from an exact problem.

    Parameters
    ----------
    problem : Reduced
        Over the rationals.
    budget : int
        Nodes after which the search gives up.
    """

    def __init__(self, problem: Reduced, budget: int) -> None:
        self.problem, self.budget, self.nodes = problem, budget, 0
        layout = layout_of(problem)
        self.counts, self.zero, self.strict, self.any_strict, self.turned, self.pairs = step_arrays(problem.tables)
        free = {int(v) for v in np.flatnonzero(layout.kind == FREE)}
        rows = [integer_row(row) for row in layout.tab]
        self.root = Dictionary(rows, [int(v) for v in layout.basic], [int(v) for v in layout.nonbasic], free)
        self.possible = all(self.root.force_zero(int(v)) for v in layout.tied) and self.root.make_feasible()
        self.leaves: set[tuple[int, ...]] = set()

    def below(self, starts: Iterable[Iterable[int]]) -> bool:
        """Search below each list of choices (-1: not made); False if the budget ran out."""
        for start in starts:
            if not self.possible:
                return True
            node: Dictionary | None = self.root.copy()
            must: set[int] = set()
            chosen = [int(m) for m in start]
            for step, m in enumerate(chosen):
                if m >= 0 and node is not None:
                    node = self._assign(node, step, m, must)
            if node is not None and not self._visit(node, chosen, must):
                return False
        return True

    def _visit(self, node: Dictionary, chosen: list[int], must: set[int]) -> bool:
        self.nodes += 1
        if self.nodes > self.budget:
            return False
        if not node.make_feasible() or not self._strict(node, chosen, must):
            return True
        step = self._next(node, chosen)
        if step < 0:
            self.leaves.add(tuple(chosen))
            return True
        for m in range(int(self.counts[step])):
            more = set(must)
            child = self._assign(node.copy(), step, m, more)
            if child is not None and not self._visit(child, [*chosen[:step], m, *chosen[step + 1 :]], more):
                return False
        return True

    def _assign(self, node: Dictionary, step: int, m: int, must: set[int]) -> Dictionary | None:
        """Make a choice in a dictionary of one's own; None if its equations contradict the others."""
        for v in self.zero[step, m]:
            if v >= 0 and not node.force_zero(int(v)):
                return None
        must |= {int(v) for v in self.strict[step, m] if v >= 0}
        turned = int(self.turned[step, m])
        if turned != -1:
            slip = abs(turned) - 2
            node.free.discard(slip)
            if turned < 0:
                node.turn(slip)
        return node

    def _strict(self, node: Dictionary, chosen: list[int], must: set[int]) -> bool:
        """Whether all variables that are to be positive can be, one by one and so, by convexity, at once."""
        if not all(node.can_grow(v) for v in sorted(must)):
            return False
        for step, m in enumerate(chosen):
            names = [int(v) for v in self.any_strict[step, m] if v >= 0] if m >= 0 else []
            if names and not any(node.can_grow(v) for v in names):
                return False
        return True

    def _next(self, node: Dictionary, chosen: list[int]) -> int:
        """The step without a choice with most products that should vanish and do not, -1 if all are made."""
        best, most = -1, -1
        for step, m in enumerate(chosen):
            if m < 0:
                pairs = [(int(first), int(second), int(sign)) for first, second, sign in self.pairs[step] if first >= 0]
                total = sum(node.sign(first) > 0 and sign * node.sign(second) > 0 for first, second, sign in pairs)
                if total > most:
                    best, most = step, total
        return best

    def modes(self) -> list[tuple[int, ...]]:
        """The modes of the contacts, one tuple per leaf, in order."""
        chosen = np.array(sorted(self.leaves), dtype=np.int64).reshape(len(self.leaves), len(self.counts))
        return sorted(tuple(int(m) for m in row) for row in modes_of_steps(self.problem, chosen))
