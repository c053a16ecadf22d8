"""Numbers that are positive where contacts have one acceleration for every force, and where forces hold a rest.

Modes of a closed contact with friction along a line: open, stick, slip with either sign. With G = J K J^T the matrix of
all normals and tangents, K the inverse mass on the bilateral constraints, each set of modes has a determinant: rows of
the normals that are closed and of the tangents that stick, columns of normals (minus sign times mu times the tangent
where it slips) and of tangents that stick. If all are positive, the piecewise linear map from (forces, accelerations)
of the laws to the forces that they answer is coherently oriented: every force has the same number of solutions, as many
as any single one has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product as combinations

from flint import arb

from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.contact_table import table_of
from zwang._graph.graph import Node
from zwang._guarantee.boxes import Bounds, BoxedSystem
from zwang._guarantee.slopes import Matrix, Sloped, determinant, product, solved, transposed
from zwang._numerics.contact.table import ContactPlace
from zwang.errors import DeclarationError

MOST = 4
"""Contacts with friction up to which every set of modes is looked at."""


@dataclass(frozen=True, eq=False)
class ClosedContact:
    """A contact that takes part, or friction with a bound: numbers of its rows."""

    place: ContactPlace
    sided: bool


class ContactMatrices:
    """The matrix of the contacts over boxes.

    Parameters
    ----------
    boxed : BoxedSystem
    closed : names
        Of the one-sided constraints that are closed.
    """

    def __init__(self, boxed: BoxedSystem, closed: Sequence[str]) -> None:
        self.boxed, system = boxed, boxed.system
        table = table_of(system)
        wrong = [place.name for place in table.places if len(place.slips) > 1]
        if wrong:
            raise DeclarationError(
                f"{system.name}: '{wrong[0]}' has friction in a plane, which guarantee does not decide. Ask 'regular' "
                "or a relation, or reactions(...) at single states."
            )
        laws = [place.name for place in table.places if place.law >= 0 and not place.rows.plain]
        if laws:
            raise DeclarationError(
                f"{system.name}: the friction of '{laws[0]}' is not Coulomb's with one coefficient, which is all that "
                "guarantee decides."
            )
        self.bilateral = [
            place.normal
            for place, item in zip(table.places, system.constraints, strict=True)
            if isinstance(item, Bilateral) and place.law < 0
        ]
        self.contacts = [
            ClosedContact(place, not isinstance(item, (Bilateral, Friction)))
            for place, item in zip(table.places, system.constraints, strict=True)
            if item.name in closed or (isinstance(item, (Bilateral, Friction)) and place.law >= 0)
        ]
        program = boxed.program
        n = len(system.coordinates)
        zero = program.graph.zero
        mass = [program.mass.get((max(i, j), min(i, j)), zero) for i in range(n) for j in range(n)]
        held = [program.normals[k].entries.get(i, zero) for k in self.bilateral for i in range(n)]
        normals = [c.place.normal for c in self.contacts if c.place.normal >= 0]
        slips = [s for c in self.contacts for s in c.place.slips]
        rows = [program.normals[k].entries.get(i, zero) for k in normals for i in range(n)]
        rows += [program.slips[s].entries.get(i, zero) for s in slips for i in range(n)]
        sizes = [program.bounds[c.place.law] for c in self.contacts if c.place.slips]
        self.nodes: list[Node] = [*mass, *held, *rows, *sizes, *program.force]
        self.shape = n, len(self.bilateral), len(normals) + len(slips), len(sizes)
        places, at = {}, 0
        for k, c in enumerate(self.contacts):
            if c.place.normal >= 0:
                places[k, "normal"] = at
                at += 1
        for k, c in enumerate(self.contacts):
            if c.place.slips:
                places[k, "tangent"] = at
                at += 1
        self.places = places
        self.sizes = {k: j for j, k in enumerate(k for k, c in enumerate(self.contacts) if c.place.slips)}
        self._load()

    def _load(self) -> None:
        """Note what friction goes with the forces of other constraints: of one contact, or of what holds both ways."""
        first = len(self.bilateral)
        forces = {normal: k for k, normal in enumerate(self.bilateral)}
        parents = {c.place.normal: k for k, c in enumerate(self.contacts) if c.place.normal >= 0}
        forces |= {normal: first + self.places[k, "normal"] for normal, k in parents.items()}
        self.parent: dict[int, int] = {}
        self.pins: dict[int, tuple[int, ...]] = {}
        # Friction that goes with a length: of a resultant, or of a force that may have either sign.
        for k, c in enumerate(self.contacts):
            if c.place.normal >= 0 or not c.place.of:
                continue
            of = [normal for normal in c.place.of if normal in forces]  # what is not closed has no force
            if len(of) == 1 and of[0] in parents and self.contacts[parents[of[0]]].sided:
                self.parent[k] = parents[of[0]]
            else:
                self.pins[k] = tuple(forces[normal] for normal in of)
        guides = {k: c.place for k, c in enumerate(self.contacts) if not c.sided and c.place.normal >= 0}
        self.lengths = self.pins | {k: (forces[place.normal],) for k, place in guides.items() if place.slips}

    def load(self, k: int) -> int | None:
        """Return the place of the normal force that friction goes with, None where its bound is given."""
        return self.places.get((self.parent.get(k, k), "normal"))

    def require_apart(self, words: str) -> None:
        """Refuse a claim on accelerations where pins and contacts act together."""
        others = [c.place.name for k, c in enumerate(self.contacts) if k not in self.pins]
        if self.pins and others:
            pin = self.contacts[next(iter(self.pins))].place.name
            raise DeclarationError(
                f"{self.boxed.system.name}: '{words}' is decided for pins or for contacts; here '{pin}' rubs with a "
                f"resultant and '{others[0]}' acts too. Ask 'can hold', or reactions(...) at single states."
            )

    def parts(self, low: Bounds, high: Bounds) -> tuple[Matrix, Matrix, Matrix, list[Sloped], list[Sloped]]:
        """Return mass, bilateral rows, contact rows, coefficients and forces over a box."""
        values = self.boxed.at(self.nodes, low, high)
        n, m, r, s = self.shape
        mass = [values[i * n : (i + 1) * n] for i in range(n)]
        held = [values[n * n + k * n : n * n + (k + 1) * n] for k in range(m)]
        start = n * n + m * n
        rows = [values[start + k * n : start + (k + 1) * n] for k in range(r)]
        start += r * n
        return mass, held, rows, values[start : start + s], values[start + s :]

    def delassus(self, mass: Matrix, held: Matrix, rows: Matrix) -> Matrix:
        """Return J K J^T, K the inverse mass on the bilateral constraints."""
        columns = transposed([*rows, *held]) if rows or held else [[] for _ in mass]
        spread = solved(mass, columns)
        every = product([*rows, *held], spread)
        r = len(rows)
        if not held:
            return every
        inner = [row[r:] for row in every[r:]]
        across = [row[:r] for row in every[r:]]
        less = product([row[r:] for row in every[:r]], solved(inner, across))
        return [[a - b for a, b in zip(x[:r], y, strict=True)] for x, y in zip(every[:r], less, strict=True)]

    def determinants(self, low: Bounds, high: Bounds) -> list[Sloped]:
        """Return the determinants of every set of modes over a box, in the order of `modes`."""
        mass, held, rows, sizes, _ = self.parts(low, high)
        G = self.delassus(mass, held, rows)
        return [self._determinant(G, sizes, modes) for modes in self.modes()]

    def modes(self) -> list[tuple[str, ...]]:
        """Return every set of modes but the one in which nothing acts."""
        choices: list[tuple[str, ...]] = []
        for k, c in enumerate(self.contacts):
            if c.place.normal < 0 and k not in self.parent:
                choices.append(("open", "stick"))
            elif not c.place.slips:
                choices.append(("open", "closed") if c.sided else ("closed",))
            else:
                choices.append(self.every_mode(k))
        found = [modes for modes in combinations(*choices) if any(mode != "open" for mode in modes)]
        return [modes for modes in found if self.together(modes)]

    def every_mode(self, k: int) -> tuple[str, ...]:
        """Return the modes of a contact with friction."""
        free = self.contacts[k].sided or k in self.parent
        return ("open", "stick", "slip+", "slip-") if free else ("stick", "slip+", "slip-")

    def together(self, modes: tuple[str, ...]) -> bool:
        """Whether friction that goes with another contact is open just where that is."""
        return all((modes[k] == "open") == (modes[parent] == "open") for k, parent in self.parent.items())

    def dragged(self, k: int, modes: tuple[str, ...]) -> list[tuple[int, int]]:
        """Return the tangents that slide with the force of a contact, and whose they are."""
        own = [k, *(j for j, parent in self.parent.items() if parent == k)]
        return [(self.places[j, "tangent"], j) for j in own if modes[j].startswith("slip")]

    def _determinant(self, G: Matrix, sizes: list[Sloped], modes: tuple[str, ...]) -> Sloped:
        rows: list[int] = []
        columns: list[list[tuple[int, int]]] = []
        for k, mode in enumerate(modes):
            if mode == "open":
                continue
            normal, tangent = self.places.get((k, "normal")), self.places.get((k, "tangent"))
            if normal is not None:
                rows.append(normal)
                columns.append([(normal, -1), *self.dragged(k, modes)])
            if mode == "stick" and tangent is not None:
                rows.append(tangent)
                columns.append([(tangent, -1)])
        made: Matrix = []
        for row in rows:
            entries = []
            for (column, _), *others in columns:
                entry = G[row][column]
                for other, own in others:
                    pull = sizes[self.sizes[own]] * G[row][other]
                    entry = entry - pull if modes[own] == "slip+" else entry + pull
                entries.append(entry)
            made.append(entries)
        return determinant(made)


def constant(value: float, count: int) -> Sloped:
    """Return a number with slopes zero."""
    return Sloped(arb(value), [arb(0)] * count)
