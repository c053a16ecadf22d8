"""Every mode that has a solution: tables of modes into arrays, the compiled search, and what it leaves behind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from zwang._numerics.budget import Spent, borrowing, spend
from zwang._numerics.contact import search_tree as tree
from zwang._numerics.contact.mode_tables import Kind, ModeTable, example
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.linear.dictionary import FREE, GROWTH, NOTES
from zwang._numerics.pace import Pace

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FIRST = 256
"""Nodes before the first return to Python."""
MOST_LEAVES = 20_000  # found at one problem before memory is asked for again
MOST_DOUBTS = 500  # combinations in doubt that are kept for exact arithmetic


@dataclass(frozen=True)
class Variable:
    """A variable of the search: whose, which (a key of the contact's ModeTable), and its physical unit."""

    contact: int
    name: str
    unit: float


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """What the search found.

    Attributes
    ----------
    problem : Reduced
    leaves : (l, k) int array
        Mode of each contact, one row per mode that has solutions.
    noted : (r, s + 2) int array
        Rejections: the choices at the steps of the search (-1: not made), the variable that can't have its sign, and
        what it rests on.
    values : (r,) array
        The most that variable can be, scaled.
    nodes, pivots : int
    rejections : int
        How many there were; the arrays keep the first ones.
    finished : bool
        Whether the whole tree was visited.
    choices : (d, s) int array
        Rejections that rest on little, which need a closer look: choices at the steps of the search.
    doubts : int
        How many there were.
    spent : str
        The budget of the caller that ended the search, in words.
    """

    problem: Reduced
    leaves: Ints
    noted: Ints
    values: Array
    nodes: int
    pivots: int
    rejections: int
    finished: bool
    choices: Ints
    doubts: int
    spent: str = ""

    @cached_property
    def rejected(self) -> Ints:
        """Modes (r, k) of the contacts, -1 where the rejection holds for every mode.

        Numbers beyond the modes (see `partial_choice`) stand where it holds for some of them.
        """
        return modes_of_steps(self.problem, self.noted[:, :-2])

    @property
    def culprits(self) -> Ints:
        """The variables (r,) that can't have their sign."""
        return self.noted[:, -2]

    @property
    def basis(self) -> Ints:
        """What rejections (r,) rest on: tree.SIGN, tree.STRICT (a boundary of another mode) or tree.EQUATION."""
        return self.noted[:, -1]

    @cached_property
    def doubtful(self) -> Ints:
        """The rejections that rest on little as modes (d, k), like `rejected`."""
        return modes_of_steps(self.problem, self.choices)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the search."""
        problem = self.problem
        return tuple(Variable(c, name, _unit(problem, c, name)) for c, name in _names(problem.tables))


def mode_count(problem: Reduced) -> float:
    """The number of combinations of modes (inf if a float can't hold it)."""
    log = sum(math.log10(max(len(table.modes), 1)) for table in problem.tables)
    return math.inf if log > 300 else float(math.prod(len(table.modes) for table in problem.tables))


@dataclass(eq=False)
class SearchLayout:
    """The dictionary at the root of the search, over the variables in their order."""

    tab: Array
    basic: Ints
    nonbasic: Ints
    kind: Ints
    tied: Ints


def _names(tables: tuple[ModeTable, ...]) -> list[tuple[int, str]]:
    """Return the variables of the search in their order: all generators, then all rows."""
    generators = [(c, name) for c, table in enumerate(tables) for name in table.generators]
    return generators + [(c, name) for c, table in enumerate(tables) for name in table.rows]


def layout_of(problem: Reduced) -> SearchLayout:
    names, tables = _names(problem.tables), problem.tables
    width = sum(len(table.generators) for table in tables)
    number = {key: v for v, key in enumerate(names)}
    kind = np.zeros(len(number), dtype=np.int64)
    places = list(zip(problem.normal.tolist(), problem.tangent.tolist(), strict=True))
    values = np.zeros((problem.size, width + 1), dtype=problem.gram.dtype)  # z, of all variables; first the constants
    for c, (table, (normal, tangent)) in enumerate(zip(tables, places, strict=True)):
        if tangent >= 0:
            values[tangent, 0] = table.offset
        for name, (push, rub) in table.generators.items():
            v = number[c, name]
            if normal >= 0:
                values[normal, 1 + v] = push
            if tangent >= 0:
                values[tangent, 1 + v] = rub
        for name in (*table.free, *(("slip",) if "slip" in table.rows else ())):
            kind[number[c, name]] = FREE
    for c in problem.followers:  # T = -follows * abs(N) of another contact, whose generators never act together
        loading = np.abs(values[problem.normal[problem.master[c]], 1:])
        values[problem.tangent[c], 1:] -= tables[c].follows * loading
    response = problem.gram @ values
    response[:, 0] += problem.free
    tab = np.zeros((len(names) - width, width + 1), dtype=problem.gram.dtype)
    for i, (c, name) in enumerate(names[width:]):
        push, rub, gap, slip, constant = tables[c].rows[name]
        normal, tangent = places[c]
        if push and c in problem.followers:
            tab[i] += push * np.abs(values[problem.normal[problem.master[c]]])
            push = 0
        for factor, source, at in (
            (push, values, normal), (rub, values, tangent), (gap, response, normal), (slip, response, tangent)
        ):  # fmt: skip
            if factor:
                tab[i] += factor * source[at]
        tab[i, 0] += constant
    tied = [number[c, name] for c, table in enumerate(tables) for name in table.tied]
    return SearchLayout(tab, np.arange(width, len(names)), np.arange(width), kind, np.array(tied, dtype=np.int64))


def _unit(problem: Reduced, c: int, name: str) -> float:
    if name in {"gap", "slip"}:
        return float(problem.acceleration_unit[problem.normal[c] if name == "gap" else problem.tangent[c]])
    if problem.normal[c] < 0:
        return float(problem.unit[problem.tangent[c]])
    return float(problem.unit[problem.normal[c]])


def step_arrays(tables: tuple[ModeTable, ...]) -> tree.StepArrays:
    """The steps of all contacts, one after the other, as arrays for the compiled search, which only reads them."""
    return _steps_of(tuple(table.kind for table in tables))


@lru_cache(maxsize=256)
def _steps_of(kinds: tuple[Kind, ...]) -> tree.StepArrays:
    tables = tuple(example(kind) for kind in kinds)
    number = {key: v for v, key in enumerate(_names(tables))}
    steps = [(c, step) for c, table in enumerate(tables) for step in table.steps]
    count = len(steps)
    most = max((len(step.choices) for _, step in steps), default=1)
    counts = np.array([len(step.choices) for _, step in steps], dtype=np.int64)
    widest = max((len(choice.zero) for _, step in steps for choice in step.choices), default=0)
    zero, strict = np.full((count, most, max(4, widest)), -1), np.full((count, most, 2), -1)
    any_strict, turned = np.full((count, most, 2), -1), np.full((count, most), -1)
    pairs = np.full((count, max(8, max((len(step.pairs) for _, step in steps), default=0)), 3), -1)
    for i, (c, step) in enumerate(steps):
        for m, choice in enumerate(step.choices):
            for target, names in ((zero, choice.zero), (strict, choice.strict), (any_strict, choice.any_strict)):
                target[i, m, : len(names)] = [number[c, name] for name in names]
            if "slip" in choice.strict:
                turned[i, m] = (-1 if choice.turned else 1) * (number[c, "slip"] + 2)
        for p, (first, second, sign) in enumerate(step.pairs):
            pairs[i, p] = number[c, first], number[c, second], sign
    return tree.StepArrays(counts, zero, strict, any_strict, turned, pairs)


def modes_of_steps(problem: Reduced, chosen: Ints) -> Ints:
    """Modes of the contacts from the choices at the steps (-1: not made); see `partial_choice` for half-made ones."""
    if chosen.shape[1] == len(problem.tables):
        return chosen.copy()
    columns, at = [], 0
    for table in problem.tables:
        steps = table.steps
        if len(steps) == 1:
            columns.append(chosen[:, at])
        else:
            first, second = chosen[:, at], chosen[:, at + 1]
            number, total = len(steps[1].choices), len(table.modes)
            half = np.where(first >= 0, total + first, total + len(steps[0].choices) + second)
            half = np.where((first < 0) & (second < 0), -1, half)
            columns.append(np.where((first >= 0) & (second >= 0), first * number + second, half))
        at += len(steps)
    return np.column_stack(columns) if columns else np.zeros((len(chosen), 0), dtype=np.int64)


def partial_choice(table: ModeTable, mode: int) -> tuple[int, int] | None:
    """Return (step, choice) of a number beyond the modes, which stands for one choice of two; None for a mode."""
    beyond = mode - len(table.modes)
    if beyond < 0:
        return None
    first = len(table.steps[0].choices)
    return (0, beyond) if beyond < first else (1, beyond - first)


def find_modes(
    problem: Reduced,
    *,
    tol: float = 1e-9,
    budget: int = 2_000_000,
    keep: int = 1_000,
    margin: float = 0.0,
    partial: bool = False,
    report: Callable[[int], None] | None = None,
) -> SearchOutcome:
    """Return every combination of modes that has a solution.

    Parameters
    ----------
    problem : Reduced
    tol : float
        Signs and equations are decided up to this number (of a problem scaled to 1).
    budget : int
        Nodes after which the search gives up.
    keep : int
        Rejections that are kept; the others are counted.
    margin : float
        Rejections that rest on less than this are listed as doubtful; 0 leaves it to `tol`.
    partial : bool
        Whether to return what was found where the budget of the caller is spent; else `Spent` goes on to the caller.
    report : callable, optional
        Called with the number of nodes every few thousand of them.
    """
    layout = layout_of(problem)
    k, (rows, width) = sum(len(table.steps) for table in problem.tables), layout.tab.shape
    counters = np.zeros(8, dtype=np.int64)
    depth = k + 1
    tabs = np.zeros((depth, max(rows, 1), width))
    basics, nonbasics = np.zeros((depth, max(rows, 1)), dtype=np.int64), np.zeros((depth, width), dtype=np.int64)
    places, kinds = np.zeros((2, depth, len(layout.kind)), dtype=np.int64)
    stricts, branch = np.zeros(places.shape, dtype=np.int64), np.zeros((depth, 5), dtype=np.int64)
    steps = step_arrays(problem.tables)
    most = min(MOST_LEAVES, math.prod(steps.counts.tolist()))
    leaves, rejected = np.zeros((most, k), dtype=np.int64), np.zeros((keep, k + 2), dtype=np.int64)
    doubtful = np.zeros((MOST_DOUBTS, k + 1), dtype=np.int64)
    values = np.zeros((keep, 1))
    tabs[0, :rows], basics[0, :rows], nonbasics[0, : width - 1], kinds[0] = (
        layout.tab,
        layout.basic,
        layout.nonbasic,
        layout.kind,
    )
    places[0, layout.basic], places[0, layout.nonbasic] = np.arange(rows), -1 - np.arange(width - 1)
    branch[0] = rows, width - 1, -1, 0, 0
    note, growth = np.zeros(NOTES), np.ones(depth)
    if not tree.plant(tabs[0], basics[0], nonbasics[0], places[0], kinds[0], branch[0], layout.tied, note, tol, margin):
        counters[[tree.LEVEL, tree.DONE, tree.REJECTED, tree.LOOSE]] = -1, 1, 1, branch[0, 4]
        rejected[0, :k], rejected[0, k], rejected[0, k + 1], values[0] = -1, branch[0, 2], branch[0, 3], note[0]
        doubtful[0, :k], doubtful[0, k] = -1, branch[0, 3]
    elif not k:
        counters[[tree.LEVEL, tree.DONE, tree.LEAVES]] = -1, 1, 1
    growth[0] = note[GROWTH]
    modes = np.full(k, -1, dtype=np.int64)
    levels = tree.Levels(tabs, basics, nonbasics, places, kinds, stricts, branch, growth, modes)
    harvest = tree.Harvest(leaves, doubtful, rejected, values, counters)
    pace: Pace[None] = Pace(FIRST)

    def search(nodes: int) -> tuple[None, int]:
        before = int(counters[tree.NODES])
        tree.search(levels, steps, harvest, nodes, tol, margin)
        return None, int(counters[tree.NODES]) - before

    spent = ""
    try:
        with borrowing(tabs.nbytes + leaves.nbytes):
            while not counters[tree.DONE] and counters[tree.NODES] < budget:
                pace.go(search, budget - int(counters[tree.NODES]))
                spend()
                if report is not None:
                    report(int(counters[tree.NODES]))
    except Spent as cause:
        if not partial:
            raise
        spent = str(cause)
    found, kept = min(int(counters[tree.LEAVES]), len(leaves)), min(int(counters[tree.REJECTED]), keep)
    return SearchOutcome(
        problem=problem,
        leaves=modes_of_steps(problem, leaves[:found]),
        noted=rejected[:kept].copy(),
        values=values[:kept, 0].copy(),
        nodes=int(counters[tree.NODES]),
        pivots=int(counters[tree.PIVOTS]),
        rejections=int(counters[tree.REJECTED]),
        finished=bool(counters[tree.DONE]) and int(counters[tree.LEAVES]) <= len(leaves),
        choices=doubtful[: min(int(counters[tree.LOOSE]), MOST_DOUBTS), :k].copy(),
        doubts=int(counters[tree.LOOSE]),
        spent=spent,
    )
