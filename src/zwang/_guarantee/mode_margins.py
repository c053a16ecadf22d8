"""Numbers that are positive where no set of modes but rest gives an acceleration, over a box.

Each set of modes other than sticking everywhere is one linear system for its forces; it is excluded where one of its
inequalities is violated all over the box. Which one is chosen in the middle.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import product as combinations

from zwang._guarantee.boxes import Bounds
from zwang._guarantee.contact_margins import ContactMatrices
from zwang._guarantee.slopes import Matrix, Singular, Sloped, product, solved, transposed

PULLS = " (N<0)"


def every_set(matrices: ContactMatrices) -> list[tuple[str, ...]]:
    """Return every set of modes of contacts, the two signs of a force that friction goes with apart."""
    choices: list[tuple[str, ...]] = []
    for k, c in enumerate(matrices.contacts):
        if not c.place.slips:
            choices.append(("open", "closed") if c.sided else ("closed",))
        else:
            sides = ("", PULLS) if not c.sided and c.place.normal >= 0 else ("",)
            choices.append(tuple(f"{mode}{side}" for mode in matrices.every_mode(k) for side in sides))
    return [modes for modes in combinations(*choices) if matrices.together(modes)]


class OtherModes:
    """How far the other sets of modes are from being solutions at rest; `prepare` chooses by which condition."""

    def __init__(self, matrices: ContactMatrices) -> None:
        self.matrices = matrices
        n, held, _, _ = matrices.shape
        # As many rows at rest as there are freedoms leave no acceleration, whatever the others do.
        self.sets = [modes for modes in every_set(matrices) if self._rows(modes) < n - held]
        self.chosen: list[int] = []

    def _rows(self, modes: tuple[str, ...]) -> int:
        places = self.matrices.places
        closed = sum(mode != "open" and (k, "normal") in places for k, mode in enumerate(modes))
        return closed + sum(mode.startswith("stick") and (k, "tangent") in places for k, mode in enumerate(modes))

    def prepare(self, middle: Bounds) -> None:
        """Choose, for every set of modes, the condition that it violates most."""
        G, b, sizes = self._matrices(middle, middle)
        self.chosen = []
        for modes in self.sets:
            try:
                values = [float(item.value.mid()) for item in self._conditions(modes, G, b, sizes)]
                self.chosen.append(min(range(len(values)), key=values.__getitem__))
            except Singular:
                self.chosen.append(0)

    def __call__(self, low: Bounds, high: Bounds) -> list[Sloped]:
        """Return for every set of modes by how much it violates its condition."""
        G, b, sizes = self._matrices(low, high)
        return [-self._conditions(modes, G, b, sizes)[k] for modes, k in zip(self.sets, self.chosen, strict=True)]

    def _matrices(self, low: Bounds, high: Bounds) -> tuple[Matrix, list[Sloped], list[Sloped]]:
        """Return J K J^T, the accelerations of the rows without contact forces, and the coefficients."""
        mass, held, rows, sizes, force = self.matrices.parts(low, high)
        every, r = [*rows, *held], len(rows)
        spread = product(every, solved(mass, transposed([*every, force])))
        if held:
            inner = [row[r : len(every)] for row in spread[r:]]
            across = [[*row[:r], row[-1]] for row in spread[r:]]
            less = product([row[r : len(every)] for row in spread[:r]], solved(inner, across))
            spread = [
                [*(a - c for a, c in zip(row[:r], cut[:r], strict=True)), row[-1] - cut[-1]]
                for row, cut in zip(spread[:r], less, strict=True)
            ]
        return [row[:r] for row in spread], [row[-1] for row in spread], sizes

    def _conditions(self, modes: tuple[str, ...], G: Matrix, b: list[Sloped], sizes: list[Sloped]) -> list[Sloped]:
        """Return the numbers that must not be negative where a set of modes is a solution."""
        rows, found, moved = answers(self.matrices, modes, G, b, sizes)
        return signs(self.matrices, modes, rows, found, moved, sizes)


def answers(
    matrices: ContactMatrices,
    modes: tuple[str, ...],
    G: Matrix,
    b: list[Sloped],
    sizes: list[Sloped],
    held: Sequence[int] = (),
) -> tuple[list[int], Matrix, list[Sloped]]:
    """Return the rows that a set of modes holds, those of `held` among them, their forces, and what all rows do."""
    places, mu = matrices.places, matrices.sizes
    rows: list[int] = []
    forces: list[list[tuple[int, Sloped | None]]] = []
    given = list(b)
    for k, mode in enumerate(modes):
        normal, tangent = places.get((k, "normal")), places.get((k, "tangent"))
        if mode == "open":
            continue
        sliding = mode.startswith("slip") and tangent is not None
        if normal is not None:
            rows.append(normal)
            forces.append([(normal, None)])
            for other, own in matrices.dragged(k, modes):
                against = modes[own].startswith("slip+") != modes[own].endswith(PULLS)
                forces[-1].append((other, -sizes[mu[own]] if against else sizes[mu[own]]))
        elif sliding and tangent is not None and k not in matrices.parent:
            pull = -sizes[mu[k]] if mode == "slip+" else sizes[mu[k]]
            given = [x + row[tangent] * pull for x, row in zip(given, G, strict=True)]
        if mode.startswith("stick") and tangent is not None:
            rows.append(tangent)
            forces.append([(tangent, None)])
    rows += held
    forces += [[(row, None)] for row in held]
    columns = [[_entry(row, force) for force in forces] for row in G]
    found: Matrix = []
    if rows:
        found = solved([columns[row] for row in rows], [[-given[row]] for row in rows])
    moved = [x if not rows else x + product([line], found)[0][0] for x, line in zip(given, columns, strict=True)]
    return rows, found, moved


def signs(
    matrices: ContactMatrices,
    modes: tuple[str, ...],
    rows: list[int],
    found: Matrix,
    moved: list[Sloped],
    sizes: list[Sloped],
    sliding: Collection[int] = (),
) -> list[Sloped]:
    """Return the numbers that are not negative in a solution; what slides already may slow down or speed up."""
    places, mu, made = matrices.places, matrices.sizes, []
    for k, (contact, mode) in enumerate(zip(matrices.contacts, modes, strict=True)):
        normal, tangent = places.get((k, "normal")), places.get((k, "tangent"))
        if mode == "open":
            made += [moved[normal]] if normal is not None else []
            continue
        load = matrices.load(k)
        push = found[rows.index(load)][0] if load is not None else None
        push = -push if push is not None and mode.endswith(PULLS) else push
        if (contact.sided or (normal is not None and tangent is not None)) and push is not None:
            made.append(push)
        if mode.startswith("stick") and tangent is not None:
            pull = found[rows.index(tangent)][0]
            bound = sizes[mu[k]] if push is None else sizes[mu[k]] * push
            made += [bound - pull, bound + pull]
        elif mode.startswith("slip") and tangent is not None and k not in sliding:
            made.append(moved[tangent] if mode.startswith("slip+") else -moved[tangent])
    return made


def _entry(row: list[Sloped], force: list[tuple[int, Sloped | None]]) -> Sloped:
    """Return the entry of a row for a force that may bring friction along."""
    total: Sloped | None = None
    for place, factor in force:
        part = row[place] if factor is None else row[place] * factor
        total = part if total is None else total + part
    assert total is not None
    return total
