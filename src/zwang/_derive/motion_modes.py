"""Modes of motion: which constraints are held as equalities, in which way each friction acts, and what follows.

M a = Q + R^T lam + S, with R the rows held (normals, then sticking slips) and S the friction of what slides, opposite
to the slip: Coulomb's is proportional to the multiplier of its normal, so that the columns of the multipliers are not
the rows any more, R M^-1 C lam = bias - R M^-1 Q. Rows without sliding friction are eliminated first, as L D L^T; what
is left of the others is eliminated with row pivots, since it may be indefinite (Painleve) and its first pivot zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

from zwang._derive.minimum_norm_forces import shared_forces
from zwang._derive.program import Program, Row
from zwang._derive.rewriting import substitute
from zwang._derive.solution import PIVOT, Factor, dot, gram_factor, product
from zwang._graph.graph import Graph, Node
from zwang._numerics.contact.resultants import CLOSE, STEPS
from zwang._numerics.contact.table import ContactPlace, ContactTable


@dataclass(frozen=True)
class ActiveSet:
    """An active set: what is held and how each friction acts, that is a mode of motion with smooth equations.

    Attributes
    ----------
    held : tuple of int
        Numbers of the normals (`Program.normals`) held as equalities, ascending.
    sticking : tuple of int
        Numbers of the slip components (`Program.slips`) held as equalities.
    sliding : tuple of (int, int)
        Number of a friction law (its place in `Program.bounds`) and the sign of its slip, +1 or -1; 0 for slips of
        two components, whose direction is that of the slip itself.
    pulling : tuple of int
        Held normals whose size is minus the multiplier: bilateral contacts with friction that pull.
    shared, spare : tuples of int
        Where rows depend on each other and the acceleration on how normals share what they carry: those that carry,
        with the least sum of squares, and those that would have to pull and carry nothing. `held` are independent rows.
    implied : tuple of int
        Normals that are closed because others are held, as far as their expressions make choices: those are watched.

    Examples
    --------
    >>> ActiveSet(held=(0, 2), sliding=((0, 1),))
    ActiveSet(held=(0, 2), sticking=(), sliding=((0, 1),), pulling=(), shared=(), spare=(), implied=())
    """

    held: tuple[int, ...]
    sticking: tuple[int, ...] = ()
    sliding: tuple[tuple[int, int], ...] = ()
    pulling: tuple[int, ...] = ()
    shared: tuple[int, ...] = ()
    spare: tuple[int, ...] = ()
    implied: tuple[int, ...] = ()

    @property
    def carrying(self) -> tuple[int, ...]:
        """The normals with a force: those held, or those that share and what is held beside them."""
        taking = {*self.shared, *self.spare}
        return tuple(sorted((*self.shared, *(j for j in self.held if j not in taking))))


class ModeEquations:
    """The equations of a mode solved inside the graph; every list holds nodes.

    Attributes
    ----------
    accelerations : list
    multipliers : list
        Of the held normals, in the order of `mode.held`.
    normal, shares : dicts
        Number of a normal that carries -> its force; of one that is spare -> its share, negative while it is.
    tangential : list
        For every slip component: its friction force, zero where the friction doesn't act in this mode.
    regular : Node
        The truth that every pivot was sound.
    """

    def __init__(self, program: Program, mode: ActiveSet, structure: ContactTable) -> None:
        self.program, self.mode, self.structure = program, mode, structure
        self.g = program.graph
        self.n = len(program.q)
        self.rows: list[Row] = [program.normals[j] for j in mode.held] + [program.slips[j] for j in mode.sticking]
        self.mass = Factor(self.g, self.n, program.mass)
        self._truths: list[Node] = list(self.mass.regular)
        self._solve()

    @property
    def regular(self) -> Node:
        """The truth that every pivot was sound."""
        return self._all(self._truths)

    def _all(self, truths: Sequence[Node]) -> Node:
        g = self.g
        return reduce(lambda a, b: g.condition("and", a, b), dict.fromkeys(truths), g.condition("le", g.zero, g.one))

    # Friction of what slides.
    def _directions(self, law: ContactPlace, sign: int) -> list[Node]:
        g = self.g
        if len(law.slips) == 1:
            return [g.const(float(sign))]
        values = [self.program.slips[j].value for j in law.slips]
        speed = self.speed(law)
        return [g.div(value, speed) for value in values]

    def speed(self, law: ContactPlace) -> Node:
        """Return the length of the slip of a law."""
        g = self.g
        squares = [g.mul(self.program.slips[j].value, self.program.slips[j].value) for j in law.slips]
        return g.call("sqrt", g.add(*squares))

    def _size(self, normal: int) -> float:
        return -1.0 if normal in self.mode.pulling else 1.0

    def _against(self, law: ContactPlace, directions: Sequence[Node], bound: Node) -> dict[int, Node]:
        """Return -bound * direction as a generalized force."""
        g = self.g
        force: dict[int, Node] = {}
        for j, direction in zip(law.slips, directions, strict=True):
            for i, entry in self.program.slips[j].entries.items():
                part = g.neg(g.mul(g.mul(bound, direction), entry))
                force[i] = g.add(force[i], part) if i in force else part
        return force

    def _sliding(self) -> tuple[list[Node], dict[int, dict[int, Node]], dict[int, tuple[Node, list[Node]]]]:
        """Return the applied forces, what sliding adds to the column of a normal, and bound and direction by law."""
        g, program = self.g, self.program
        force = list(program.force)
        columns: dict[int, dict[int, Node]] = {}
        acting: dict[int, tuple[Node, list[Node]]] = {}
        self.pins: dict[int, dict[int, Node]] = {}
        for number, sign in self.mode.sliding:
            law = self.structure.laws[number]
            bound = program.bounds[law.rows.against(sign)]
            directions = self._directions(law, sign)
            acting[number] = bound, directions
            if law.resultant:
                self.pins[number] = self._against(law, directions, bound)
            elif not law.of:
                for i, part in self._against(law, directions, bound).items():
                    force[i] = g.add(force[i], part)
            elif law.of[0] in (*self.mode.carrying, *self.mode.spare):
                added = columns.setdefault(law.of[0], {})
                for i, part in self._against(law, directions, g.scale(self._size(law.of[0]), bound)).items():
                    added[i] = g.add(added[i], part) if i in added else part
        return force, columns, acting

    def _solve(self) -> None:
        g, mode = self.g, self.mode
        force, columns, acting = self._sliding()
        free = self.mass.solve(force)
        self.shares: dict[int, Node] = {}
        if mode.shared:
            return self._share(free, columns, acting)
        order = self.elimination([k for k in range(len(self.rows)) if not self._rough(k, columns)])
        first = len(order)
        order += [k for k in range(len(self.rows)) if self._rough(k, columns)]
        entries = [self.rows[k].entries for k in order]
        plain = [self.carried(self.rows[k]) for k in order]
        pushed = list(plain)
        for place in range(first, len(order)):
            added = columns[mode.held[order[place]]]
            extra = self.mass.carried(added)
            pushed[place] = [g.add(a, b) for a, b in zip(plain[place], extra, strict=True)]
        needed = [g.sub(self.rows[k].bias, dot(g, self.rows[k].entries, free)) for k in order]
        found = self._multipliers(entries, plain, pushed, needed, first)
        self.resultants: dict[int, Node] = {}
        if self.pins:
            moved = [self.mass.carried(push) for push in self.pins.values()]
            shares = [
                self._multipliers(entries, plain, pushed, [g.neg(dot(g, row, one)) for row in entries], first)
                for one in moved
            ]
            self._balance(order, found, shares)
            sizes = self.resultants.values()
            found = [_plus(g, lam, [share[k] for share in shares], sizes) for k, lam in enumerate(found)]
            free = [_plus(g, a, [one[i] for one in moved], sizes) for i, a in enumerate(free)]
        self.accelerations = [
            g.add(free[i], *(g.mul(column[i], lam) for column, lam in zip(pushed, found, strict=True)))
            for i in range(self.n)
        ]
        sorted_back = [found[order.index(k)] for k in range(len(order))]
        self.multipliers = sorted_back[: len(mode.held)]
        self.normal = dict(zip(mode.held, self.multipliers, strict=True))
        self.tangential = self._tangential(sorted_back[len(mode.held) :], acting)
        return None

    def _share(
        self,
        free: Sequence[Node],
        columns: Mapping[int, dict[int, Node]],
        acting: Mapping[int, tuple[Node, list[Node]]],
    ) -> None:
        """Solve with normal forces of least norm: see `minimum_norm_forces`."""
        g, mode = self.g, self.mode
        taking = (*mode.shared, *mode.spare)
        needed = [g.sub(row.bias, dot(g, row.entries, free)) for row in self.rows]
        own = [k for k, j in enumerate(mode.held) if j in taking]
        others = self.elimination([k for k in range(len(self.rows)) if k not in own])
        plain = [self.carried(self.rows[k]) for k in others]
        pushed = {}
        for j in taking:
            entries = dict(self.program.normals[j].entries)
            for i, part in columns.get(j, {}).items():
                entries[i] = g.add(entries[i], part) if i in entries else part
            pushed[j] = self.mass.carried(entries)
        of_rows = [[(self.rows[k], needed[k]) for k in part] for part in (own, others)]
        found = shared_forces(g, of_rows[0], of_rows[1], plain, pushed, mode.spare)
        self._truths += found.truths
        self.shares, rest = found.spare, dict(zip(others, found.others, strict=True))
        self.normal = {**found.shared, **{mode.held[k]: force for k, force in rest.items() if k < len(mode.held)}}
        pushes = [*((pushed[j], force) for j, force in found.shared.items()), *zip(plain, found.others, strict=True)]
        self.accelerations = [
            g.add(free[i], *(g.mul(column[i], force) for column, force in pushes)) for i in range(self.n)
        ]
        self.multipliers = [self.normal.get(j, g.zero) for j in mode.held]
        self.resultants = {}
        self.tangential = self._tangential([rest[len(mode.held) + k] for k in range(len(mode.sticking))], acting)

    def _balance(self, order: Sequence[int], found: Sequence[Node], shares: Sequence[Sequence[Node]]) -> None:
        """Find the lengths of the resultants of the pins that slip, R_p = |A_p + B_p R|: see `contact.resultants`."""
        g = self.g
        loads = []
        for number in self.pins:
            held = [self.mode.held.index(j) for j in self.structure.laws[number].of if j in self.mode.held]
            loads.append([order.index(k) for k in held])
        given = [[found[k] for k in places] for places in loads]
        share = [[[one[k] for one in shares] for k in places] for places in loads]
        lengths, truths = lengths_of(g, given, share)
        self._truths += truths
        self.resultants = dict(zip(self.pins, lengths, strict=True))

    def _rough(self, k: int, columns: Mapping[int, dict[int, Node]]) -> bool:
        """Say whether a row is a normal whose friction slides."""
        return k < len(self.mode.held) and self.mode.held[k] in columns

    def carried(self, row: Row) -> list[Node]:
        """Return M^-1 times a row."""
        return self.mass.carried(row.entries)

    def _multipliers(
        self,
        rows: Sequence[Mapping[int, Node]],
        plain: Sequence[Sequence[Node]],
        pushed: Sequence[Sequence[Node]],
        needed: Sequence[Node],
        first: int,
    ) -> list[Node]:
        """Return the multipliers; rows from `first` on have columns of their own."""
        g, size = self.g, len(rows)
        smooth = gram_factor(g, rows[:first], plain)
        self._truths += smooth.regular
        if first == size:
            return smooth.solve(needed)
        lone = range(first, size)
        upper = {j: smooth.solve([dot(g, rows[i], pushed[j]) for i in range(first)]) for j in lone}
        base = smooth.solve(needed[:first])
        below = {i: [dot(g, rows[i], plain[k]) for k in range(first)] for i in lone}
        matrix = [[g.sub(dot(g, rows[i], pushed[j]), product(g, below[i], upper[j])) for j in lone] for i in lone]
        right = [g.sub(needed[i], product(g, below[i], base)) for i in lone]
        scale = [dot(g, rows[i], plain[i]) for i in lone]
        rough, truths = pivoted(g, matrix, right, scale)
        self._truths += truths
        rest = [
            g.sub(base[k], g.add(*(g.mul(upper[j][k], lam) for j, lam in zip(lone, rough, strict=True))))
            for k in range(first)
        ]
        return [*rest, *rough]

    def _tangential(self, stuck: Sequence[Node], acting: Mapping[int, tuple[Node, list[Node]]]) -> list[Node]:
        g, mode = self.g, self.mode
        forces = [g.zero] * len(self.program.slips)
        for force, j in zip(stuck, mode.sticking, strict=True):
            forces[j] = force
        for number, (bound, directions) in acting.items():
            law = self.structure.laws[number]
            size = bound
            if law.resultant:
                size = g.mul(bound, self.resultants[number])
            elif law.of:
                size = g.mul(bound, g.scale(self._size(law.of[0]), self.normal.get(law.of[0], g.zero)))
            for j, direction in zip(law.slips, directions, strict=True):
                forces[j] = g.neg(g.mul(size, direction))
        return forces

    def elimination(self, chosen: Sequence[int]) -> list[int]:
        """Return rows in an order of elimination with little fill and short chains: few neighbours first, then depth.

        Rows that don't touch each other are eliminated side by side, which a processor does at once.
        """
        reach = {k: self._reach(self.rows[k]) for k in chosen}
        near = {k: {j for j in chosen if j != k and reach[j] & reach[k]} for k in chosen}
        depth = dict.fromkeys(chosen, 0)
        order: list[int] = []
        while near:
            k = min(near, key=lambda item: (len(near[item]), depth[item], item))
            around = near.pop(k)
            for j in around:
                near[j] = (near[j] | around) - {j, k}
                depth[j] = max(depth[j], depth[k] + 1)
            order.append(k)
        return order

    def _reach(self, row: Row) -> set[int]:
        """Return the coordinates that a row moves."""
        return {i for i, node in enumerate(self.carried(row)) if node != self.g.zero}

    # Projection in the mass metric.
    @cached_property
    def positions(self) -> list[int]:
        """The places, among the rows held, of constraints on positions."""
        return [k for k, j in enumerate(self.mode.held) if self.structure.normals[j].on_position]

    def corrected(self, chosen: Sequence[int], values: Sequence[Node]) -> tuple[list[Node], Node]:
        """Return the shortest change that takes the values of rows to zero, and the truth that it is sound."""
        g = self.g
        order = self.elimination(chosen)
        rows = [self.rows[k] for k in order]
        carried = [self.carried(row) for row in rows]
        factor = gram_factor(g, [row.entries for row in rows], carried)
        lengths = factor.solve([values[list(chosen).index(k)] for k in order])
        change = [
            g.neg(g.add(*(g.mul(column[i], x) for column, x in zip(carried, lengths, strict=True))))
            for i in range(self.n)
        ]
        return change, self._all([*self.mass.regular, *factor.regular])

    def shift(self) -> tuple[list[Node], list[Node], Node]:
        """Return the change of the positions, the values of the held rows on positions, and whether it is sound."""
        values = [self.rows[k].value for k in self.positions]
        change, sound = self.corrected(self.positions, values)
        return change, values, sound

    def closeness(self) -> Node | None:
        """Return 1/det(J M^-1 J^T) of the held rows on positions: it grows without bound at a singular point.

        None where no position is held.
        """
        factor = self._gram()
        return None if factor is None else reduce(self.g.mul, factor.inverse)

    def independence(self) -> tuple[Node, Node] | None:
        """Return log det(J M^-1 J^T) of the held rows on positions, and the truth that every pivot is sound.

        It falls without bound at a singular point. None where no position is held.
        """
        g, factor = self.g, self._gram()
        if factor is None:
            return None
        logs = [g.call("log", g.call("abs", inverse)) for inverse in factor.inverse]
        return g.neg(g.add(*logs)), self._all([*self.mass.regular, *factor.regular])

    def _gram(self) -> Factor | None:
        """Return the factors of J M^-1 J^T of the held rows on positions, None where none is held."""
        g = self.g
        rows = [self.rows[k] for k in self.elimination(self.positions)]
        if not rows:
            return None
        carried = [self.carried(row) for row in rows]
        return gram_factor(g, [row.entries for row in rows], carried)

    def land(self) -> tuple[list[Node], list[Node], list[Node], Node]:
        """Return velocities on the manifold, the accelerations with them, the rates before, and whether it is sound."""
        g = self.g
        positions = set(self.positions)
        rates = [row.rate if k in positions else row.value for k, row in enumerate(self.rows)]
        change, sound = self.corrected(range(len(self.rows)), rates)
        velocities = [g.add(a, b) for a, b in zip(self.program.v, change, strict=True)]
        replaced = dict(zip(self.program.v, velocities, strict=True))
        *accelerations, regular = substitute(g, [*self.accelerations, self.regular], replaced)
        return velocities, accelerations, rates, g.condition("and", sound, regular)


def _plus(g: Graph, first: Node, others: Sequence[Node], factors: Iterable[Node]) -> Node:
    return g.add(first, *(g.mul(factor, other) for factor, other in zip(factors, others, strict=True)))


def lengths_of(
    g: Graph, given: Sequence[Sequence[Node]], share: Sequence[Sequence[Sequence[Node]]]
) -> tuple[list[Node], list[Node]]:
    """Return the lengths of resultants of friction that slips, and truths that they are found.

    The nodes of what `contact.resultants` computes: a quadratic for one, Newton's method for several.
    """
    if len(given) == 1:
        return _length(g, given[0], [row[0] for row in share[0]])
    lengths = [g.call("sqrt", product(g, A, A)) for A in given]
    for _ in range(STEPS):
        sizes, slopes = _sizes(g, given, share, lengths)
        k = range(len(given))
        matrix = [[g.sub(g.one if p == r else g.zero, slopes[p][r]) for r in k] for p in k]
        change, _ = pivoted(g, matrix, [g.sub(lengths[p], sizes[p]) for p in k], [g.one for _ in k])
        lengths = [g.sub(length, step) for length, step in zip(lengths, change, strict=True)]
    sizes, _ = _sizes(g, given, share, lengths)
    off = g.add(*(g.call("abs", g.sub(a, b)) for a, b in zip(lengths, sizes, strict=True)))
    truths = [g.condition("le", off, g.scale(CLOSE, g.add(*sizes)))]
    return lengths, truths + [g.condition("le", g.zero, length) for length in lengths]


def _length(g: Graph, A: Sequence[Node], B: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """Return the root of weak friction of (1 - B.B) R^2 - 2 A.B R - A.A = 0, by the form that doesn't cancel."""
    if not A:
        return [g.zero], []
    a2, ab, b2 = product(g, A, A), product(g, A, B), product(g, B, B)
    left = g.sub(g.one, b2)
    inside = g.add(g.mul(ab, ab), g.mul(left, a2))
    root = g.call("sqrt", inside)
    against = g.condition("lt", ab, g.zero)
    over, under = g.where(against, a2, g.add(ab, root)), g.where(against, g.sub(root, ab), left)
    return [g.div(over, under)], [g.condition("le", g.zero, inside), g.condition("lt", g.zero, under)]


def _sizes(
    g: Graph, given: Sequence[Sequence[Node]], share: Sequence[Sequence[Sequence[Node]]], lengths: Sequence[Node]
) -> tuple[list[Node], list[list[Node]]]:
    """Return |A_p + B_p R| and its derivatives."""
    sizes, slopes = [], []
    for A, B in zip(given, share, strict=True):
        force = [_plus(g, a, row, lengths) for a, row in zip(A, B, strict=True)]
        size = g.call("sqrt", product(g, force, force))
        safe = g.where(g.condition("lt", g.zero, size), size, g.one)
        sizes.append(size)
        slopes.append([g.div(product(g, force, [row[r] for row in B]), safe) for r in range(len(given))])
    return sizes, slopes


def pivoted(
    g: Graph, matrix: Sequence[Sequence[Node]], right: Sequence[Node], scale: Sequence[Node]
) -> tuple[list[Node], list[Node]]:
    """Return the solution of a square system by elimination with row pivots, and truths that the pivots are sound."""
    size = len(right)
    rows = [[*line, b, s] for line, b, s in zip(matrix, right, scale, strict=True)]
    truths: list[Node] = []
    for k in range(size):
        for i in range(k + 1, size):
            larger = g.condition("lt", g.call("abs", rows[k][k]), g.call("abs", rows[i][k]))
            swapped = [g.where(larger, b, a) for a, b in zip(rows[k], rows[i], strict=True)]
            rows[i] = [g.where(larger, a, b) for a, b in zip(rows[k], rows[i], strict=True)]
            rows[k] = swapped
        truths.append(g.condition("lt", g.scale(PIVOT, rows[k][-1]), g.call("abs", rows[k][k])))
        inverse = g.div(g.one, rows[k][k])
        for i in range(k + 1, size):
            factor = g.mul(rows[i][k], inverse)
            rows[i] = [
                entry if j <= k or j == size + 1 else g.sub(entry, g.mul(factor, rows[k][j]))
                for j, entry in enumerate(rows[i])
            ]
    found: list[Node] = [g.zero] * size
    for k in reversed(range(size)):
        known = [g.mul(rows[k][j], found[j]) for j in range(k + 1, size)]
        found[k] = g.div(g.sub(rows[k][size], g.add(*known)) if known else rows[k][size], rows[k][k])
    return found, truths
