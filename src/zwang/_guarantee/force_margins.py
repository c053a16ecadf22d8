"""Numbers that are positive where every solution has its forces within bounds, over a box.

A solution belongs to one set of modes: each contact is open, sticks, starts to slip from rest, or slides already. Over
a box every set must either be excluded, by one condition that it violates everywhere (of forces, of accelerations, or
of velocities: a rod that slides down a wall moves out on the floor), or have its forces within the bounds. Which of
the two is chosen for each box.

Sets whose forces are dependent everywhere (two feet that stick on one floor) need not be solved. Their solutions are a
polyhedron; if it has no ray, which one virtual displacement along which all cones of forces do work proves, forces are
extreme in its vertices, and these are solutions of smaller sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import sympy as sp
from flint import arb
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.sparse.csgraph import structural_rank

from zwang._declare.constraints import Friction
from zwang._declare.contact_table import table_of
from zwang._guarantee.boxes import Bounds, interval
from zwang._guarantee.contact_margins import ContactMatrices, constant
from zwang._guarantee.mode_margins import PULLS, answers, every_set, signs
from zwang._guarantee.slopes import Matrix, Singular, Sloped, solved, transposed
from zwang._guarantee.slopes import product as times

INDEPENDENT = 1e-8
"""Part of a row that must be new for it to count as independent; which rows are taken matters for success alone."""


@dataclass(frozen=True)
class ForceBound:
    """A force, by the number of its row among those of contacts and then of bilateral constraints, and its bounds."""

    name: str
    row: int
    low: float
    high: float
    contact: int = -1
    sided: bool = False


@dataclass(frozen=True)
class ModeSet:
    """Modes of the contacts, and which of those that slip do so with a velocity."""

    modes: tuple[str, ...]
    sliding: tuple[int, ...]


_Parts = tuple[Matrix, list[Sloped], list[Sloped], dict[int, Sloped]]


class BoundedForces:
    """How far forces are inside their bounds in all sets of modes that are not excluded; `prepare_over` chooses how.

    Parameters
    ----------
    matrices : ContactMatrices
    wanted : sequence of ForceBound
    given : names
        Of the velocities that have bounds.
    """

    def __init__(self, matrices: ContactMatrices, wanted: Sequence[ForceBound], given: Sequence[str]) -> None:
        self.matrices, self.wanted, self.boxed = matrices, list(wanted), matrices.boxed
        n, m, r, _ = matrices.shape
        self.n, self.held = n, list(range(r, r + m))
        program, contacts = self.boxed.program, matrices.contacts
        slips = [s for c in contacts for s in c.place.slips]
        rows = [program.normals[c.place.normal] for c in contacts if c.place.normal >= 0]
        rows += [program.slips[s] for s in slips] + [program.normals[k] for k in matrices.bilateral]
        self.biases = [row.bias for row in rows]
        self.nodes = [*matrices.nodes, *self.biases]
        self.pattern = [set(row.entries) for row in rows]
        self.rubs = {k: matrices.places[k, "tangent"] for k, c in enumerate(contacts) if c.place.slips}
        speeds = {k: program.slips[contacts[k].place.slips[0]].value for k in self.rubs}
        self.speeds = {k: node for k, node in speeds.items() if not self.boxed.unbound([node], given)}
        self.free = self._homogeneous()
        names = [item.name for item in self.boxed.system.velocities]
        self.known = [i for i, name in enumerate(names) if name in given]
        self.turning = [self.boxed.nodes[names[i]] for i in self.known]
        # Where every velocity that is given is zero and the others follow, nothing slides.
        self.rests = (
            self.free
            and bool(self.known)
            and all(node in self.boxed.known and self.boxed.known[node] == 0 for node in self.turning)
        )
        every = every_set(matrices)
        kept = [modes for modes in every if self._solvable(modes)]
        self.redundant = len(kept) < len(every)
        self.sets = [
            ModeSet(modes, sliding)
            for modes in kept
            for slip in [[k for k in self.rubs if modes[k].startswith("slip")]]
            for size in range(len(slip) + 1)
            for sliding in combinations(slip, size)
        ]
        self.still: dict[tuple[int, ...], list[int]] = {}
        self.chosen: list[tuple[str, int]] = []
        self.weights = np.zeros(r)
        self.owner: list[int] = []
        self.count = 0

    def _homogeneous(self) -> bool:
        """Whether slips and rates are linear in the velocities, so that nothing moves of itself."""
        system = self.boxed.system
        still = dict.fromkeys(system.velocities, sp.Integer(0))
        rates = [expr for item in system.constraints for expr in item.slip]
        rates += [
            item.expr for item in system.constraints if not isinstance(item, Friction) and item.level == "velocity"
        ]
        moving = any(expr.xreplace(still).expand() != 0 for expr in rates)
        return not moving and all(place.timeless for place in table_of(system).places)

    def _solvable(self, modes: tuple[str, ...]) -> bool:
        """Whether the forces of a set may be independent, by where their rows have entries."""
        columns = [self.pattern[row] for row in self.held]
        for k, mode in enumerate(modes):
            normal, tangent = self.matrices.places.get((k, "normal")), self.rubs.get(k)
            if mode == "open":
                continue
            if normal is not None:
                dragged = [self.pattern[other] for other, _ in self.matrices.dragged(k, modes)]
                columns.append(self.pattern[normal].union(*dragged))
            if mode.startswith("stick") and tangent is not None:
                columns.append(self.pattern[tangent])
        if not columns:
            return True
        filled = np.array([[i in entries for i in range(self.n)] for entries in columns], dtype=float)
        return int(structural_rank(csr_array(filled))) == len(columns)

    def prepare_over(self, low: Bounds, high: Bounds, middle: Bounds) -> None:
        """Choose how each set is dealt with: by what is sure over a box, else by what is true in its middle."""
        here, over = self._matrices(middle, middle), self._matrices(low, high)
        half = [interval(x, y) - arb(m) for x, y, m in zip(low, high, middle, strict=True)]
        self.still, self.count = {}, len(here[3])
        same = len(over[3]) == self.count
        self.chosen = [self._choice(one, here, over if same else None, half) for one in self.sets]
        if self.redundant:
            self._push(middle)

    def _choice(self, one: ModeSet, here: _Parts, over: _Parts | None, half: list[arb]) -> tuple[str, int]:
        motions = self._motions(one, here[0], here[3])
        sure = [] if over is None else _highest(motions, self._motions(one, over[0], over[3]), half)
        if min(sure, default=0.0) < 0:
            return "motion", int(np.argmin(sure))
        moves = [float(x.value.mid()) for x in motions]
        slow = ("motion", int(np.argmin(moves))) if min(moves, default=0.0) < 0 else ("bounds", 0)
        try:
            bounds, conditions = self._forces(one, *here[:3])
            wide, others = self._forces(one, *(here if over is None else over)[:3])
        except Singular:
            return slow
        if all(x < 0 for x in _highest([-x for x in bounds], [-x for x in wide], half)):
            return "bounds", 0
        sure = _highest(conditions, others, half)
        if min(sure, default=0.0) < 0:
            return "forces", int(np.argmin(sure))
        if all(float(x.value.mid()) > 0 for x in bounds):
            return "bounds", 0
        values = [float(x.value.mid()) for x in conditions]
        return ("forces", int(np.argmin(values))) if min(values, default=0.0) < 0 else slow

    def __call__(self, low: Bounds, high: Bounds) -> list[Sloped]:
        """Return for every set by how much it violates a condition, or how far its forces are inside their bounds."""
        G, b, sizes, speeds = self._matrices(low, high)
        made: list[Sloped] = []
        self.owner = []
        for number, (one, (how, which)) in enumerate(zip(self.sets, self.chosen, strict=True)):
            if how == "motion":
                motions = self._motions(one, G, speeds)
                if len(speeds) < self.count:  # the middle knew more
                    raise Singular
                numbers = [-motions[which]]
            else:
                bounds, conditions = self._forces(one, G, b, sizes)
                numbers = bounds if how == "bounds" else [-conditions[which]]
            made += numbers
            self.owner += [number] * len(numbers)
        if self.redundant:
            works = self._works(low, high)
            made += works
            self.owner += [-1] * len(works)
        return made

    def slips(self, which: int) -> list[dict[str, float]]:
        """Return slips by name that states of the set of one of the numbers have, if it belongs to one."""
        if self.owner[which] < 0:
            return []
        one = self.sets[self.owner[which]]
        acting = [k for k in self.rubs if one.modes[k] != "open"]
        turns = {k: (1.0 if one.modes[k].startswith("slip+") else -1.0) if k in one.sliding else 0.0 for k in acting}
        return [{self.matrices.contacts[k].place.name: turn for k, turn in turns.items()}]

    def _matrices(self, low: Bounds, high: Bounds) -> _Parts:
        """Return J M^-1 J^T of all rows, their accelerations without these forces, coefficients, and known slips."""
        mass, held, rows, sizes, force = self.matrices.parts(low, high)
        every = [*rows, *held]
        slips = dict(zip(self.speeds, self.boxed.at(list(self.speeds.values()), low, high), strict=True))
        if self.free and self.known and len(slips) < len(self.rubs):
            slips |= self._following(rows, held, low, high)
        if not every:
            return [], [], sizes, slips
        spread = times(every, solved(mass, transposed([*every, force])))
        biases = self.boxed.at(self.biases, low, high)
        b = [row[-1] - bias for row, bias in zip(spread, biases, strict=True)]
        return [row[:-1] for row in spread], b, sizes, slips

    def _forces(
        self, one: ModeSet, G: Matrix, b: list[Sloped], sizes: list[Sloped]
    ) -> tuple[list[Sloped], list[Sloped]]:
        """Return how far the forces of a set are inside their bounds, and what is not negative in a solution."""
        rows, found, moved = answers(self.matrices, one.modes, G, b, sizes, self.held)
        conditions = signs(self.matrices, one.modes, rows, found, moved, sizes, one.sliding)
        made, count = [], len(self.boxed.variables)
        for bound in self.wanted:
            force = self._force(bound, one.modes, rows, found, sizes)
            if bound.low > -np.inf and not (bound.sided and bound.low <= 0):  # it never pulls
                made.append(force - constant(bound.low, count))
            if bound.high < np.inf:
                made.append(constant(bound.high, count) - force)
        return made, conditions

    def _force(
        self, bound: ForceBound, modes: tuple[str, ...], rows: list[int], found: Matrix, sizes: list[Sloped]
    ) -> Sloped:
        if bound.row in rows:
            return found[rows.index(bound.row)][0]
        k, zero = bound.contact, constant(0.0, len(self.boxed.variables))
        if modes[k] == "open" or self.rubs.get(k) != bound.row:
            return zero
        load, size = self.matrices.load(k), sizes[self.matrices.sizes[k]]
        pull = size if load is None else size * found[rows.index(load)][0]
        return -pull if modes[k].startswith("slip+") != modes[k].endswith(PULLS) else pull

    # Velocities.
    def _following(self, rows: Matrix, held: Matrix, low: Bounds, high: Bounds) -> dict[int, Sloped]:
        """Return slips where the velocities that are given determine the others, by what holds; else none."""
        places = self.matrices.places
        fixed = [*held, *(rows[place] for key, place in places.items() if key[1] == "normal")]
        loose = [i for i in range(self.n) if i not in self.known]
        if not loose or len(fixed) < len(loose):
            return {}
        v = self.boxed.at(self.turning, low, high)
        chosen = fixed[: len(loose)]
        left = [times([[row[i] for i in self.known]], [[x] for x in v])[0] for row in chosen]
        try:
            found = solved([[row[i] for i in loose] for row in chosen], [[-x for x in row] for row in left])
        except Singular:
            return {}
        order = [*self.known, *loose]
        speeds = [*([x] for x in v), *found]
        return {k: times([[rows[row][i] for i in order]], speeds)[0][0] for k, row in self.rubs.items()}

    def _motions(self, one: ModeSet, G: Matrix, speeds: dict[int, Sloped]) -> list[Sloped]:
        """Return numbers that are not negative where velocities exist that slide and rest as a set does."""
        made: list[Sloped] = []
        for k, mode in enumerate(one.modes):
            if mode == "open" or k not in speeds:
                continue
            if k in one.sliding and self.rests:
                made.append(constant(-1.0, len(self.boxed.variables)))
            elif k in one.sliding:
                made.append(speeds[k] if mode.startswith("slip+") else -speeds[k])
            else:
                made += [speeds[k], -speeds[k]]
        if not one.sliding or not self.free:
            return made
        resting = tuple(k for k in self.rubs if one.modes[k] != "open" and k not in one.sliding)
        if resting not in self.still:
            self.still[resting] = self._independent(G, resting)
        fixed = self.still[resting]
        freedoms = self.n - len(fixed)
        if freedoms > 1 or (freedoms == 1 and len(one.sliding) < 2):
            return made
        slide = [self.rubs[k] for k in one.sliding]
        left = [[G[i][j] for j in slide] for i in slide]
        if fixed:
            try:
                spread = solved([[G[i][j] for j in fixed] for i in fixed], [[G[i][j] for j in slide] for i in fixed])
            except Singular:
                return [*made, *([self._anything()] * self._pairs(freedoms, slide))]
            less = times([[G[i][j] for j in fixed] for i in slide], spread)
            left = [[x - y for x, y in zip(a, c, strict=True)] for a, c in zip(left, less, strict=True)]
        if freedoms < 1:  # all of it rests, and so does what would slide
            return [*made, constant(-1.0, len(self.boxed.variables))]
        for (i, k), (j, other) in combinations(enumerate(one.sliding), 2):  # one velocity moves all of them
            same = one.modes[k].startswith("slip+") == one.modes[other].startswith("slip+")
            made.append(left[i][j] if same else -left[i][j])
        return made

    def _anything(self) -> Sloped:
        """Return a number of which nothing is known, nor of its slopes."""
        return Sloped(arb(0, np.inf), [arb(0, np.inf)] * len(self.boxed.variables))

    def _pairs(self, freedoms: int, slide: Sequence[int]) -> int:
        return 1 if freedoms < 1 else len(slide) * (len(slide) - 1) // 2

    def _independent(self, G: Matrix, resting: tuple[int, ...]) -> list[int]:
        """Return rows that hold, of closed contacts and of slips at rest, as many as are independent in the middle."""
        places = self.matrices.places
        rows = [*self.held, *(places[key] for key in places if key[1] == "normal"), *(self.rubs[k] for k in resting)]
        left = np.array([[float(x.value.mid()) for x in row] for row in G])
        size, found = np.diag(left).copy(), []
        for row in rows:
            if left[row, row] > INDEPENDENT * size[row]:
                found.append(row)
                left = left - np.outer(left[:, row], left[row]) / left[row, row]
        return found

    # Rays.
    def _cones(self) -> list[list[tuple[int, int, int]]]:
        """Return the edges of the cones of forces: (row, contact of its coefficient or -1, sign) of each part."""
        matrices, made = self.matrices, []
        for k, contact in enumerate(matrices.contacts):
            if (k, "normal") not in matrices.places:
                continue
            if not contact.sided:  # its cone is double
                raise Singular
            own = [j for j in self.rubs if j == k or matrices.parent.get(j) == k]
            for turns in product((1, -1), repeat=len(own)):
                edge = [(matrices.places[k, "normal"], -1, 1)]
                made.append(edge + [(self.rubs[j], j, turn) for j, turn in zip(own, turns, strict=True)])
        return made

    def _push(self, middle: Bounds) -> None:
        """Choose forces whose displacement does most work on the edges of all cones."""
        try:
            works = np.array([[float(x.value.mid()) for x in row] for row in self._edges(middle, middle)])
        except Singular:
            return
        if not works.size:
            return
        count = works.shape[1]
        found = linprog(
            [*np.zeros(count), -1.0],
            A_ub=np.column_stack([-works, np.ones(len(works))]),
            b_ub=np.zeros(len(works)),
            bounds=[(-1, 1)] * count + [(None, None)],
        )
        self.weights = found.x[:count] if found.status == 0 else self.weights

    def _edges(self, low: Bounds, high: Bounds) -> Matrix:
        """Return what the displacements of unit forces do on the edges of cones, bilateral constraints kept."""
        mass, held, rows, sizes, _ = self.matrices.parts(low, high)
        G = self.matrices.delassus(mass, held, rows)
        made: Matrix = []
        for edge in self._cones():
            total = G[edge[0][0]]
            for row, own, turn in edge[1:]:
                size = sizes[self.matrices.sizes[own]]
                size = size if turn > 0 else -size
                total = [x + size * y for x, y in zip(total, G[row], strict=True)]
            made.append(total)
        return made

    def _works(self, low: Bounds, high: Bounds) -> list[Sloped]:
        """Return the work of one displacement on all edges: positive where no forces balance each other."""
        weights = [[constant(float(x), len(low))] for x in self.weights]
        edges = self._edges(low, high)
        if not edges:
            raise Singular
        return [row[0] for row in times(edges, weights)]


def _highest(here: Sequence[Sloped], over: Sequence[Sloped], half: Sequence[arb]) -> list[float]:
    """Return upper bounds of numbers over a box, by their values and by their slopes."""
    made = []
    for centre, number in zip(here, over, strict=True):
        mean = sum((slope * width for slope, width in zip(number.slopes, half, strict=True)), centre.value)
        made.append(min(float(number.value.upper()), float(mean.upper())))
    return made
