"""Pins over a box: where friction of resultants leaves one acceleration, and where a rest excludes every other one.

With the pins of a set L slipping and the others at rest, bearing forces are affine in the sizes R of the resultants of
L: F_p = A_p + sum_q B_pq R_q. If D^2 - B^T D^2 B is positive definite for every L, with one diagonal D, then
R -> |A + B R| contracts, at rest too (its pieces are those of the sets L): every force has one solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
from flint import arb
from numpy.typing import NDArray

from zwang._guarantee.boxes import Bounds
from zwang._guarantee.contact_margins import ContactMatrices
from zwang._guarantee.slopes import Matrix, Singular, Sloped, determinant, solved, transposed
from zwang._guarantee.slopes import product as times

Array = NDArray[np.float64]

ROUNDS = 12
"""Times that the sizes of resultants are narrowed by their own equations."""


class _Forces:
    """Multipliers and accelerations of slips over a box, per unit of applied force and of friction."""

    def __init__(self, matrices: ContactMatrices, low: Bounds, high: Bounds) -> None:
        mass, held, rows, self.sizes, force = matrices.parts(low, high)
        self.held, self.rows, self.count = held, rows, len(low)
        self.spread = solved(mass, transposed([*held, *rows, force]))

    def answers(self, stick: Sequence[int], slip: Sequence[int]) -> tuple[Matrix, Matrix]:
        """Return the multipliers of what holds and sticks, and the accelerations of slips that start.

        Columns: per unit of each friction force that slips, then of the applied forces.
        """
        m, r = len(self.held), len(self.rows)
        at = [*range(m), *(m + k for k in stick)]
        loads = [*(m + k for k in slip), m + r]
        fixed = [*self.held, *(self.rows[k] for k in stick)]
        across = times(fixed, [[row[j] for j in loads] for row in self.spread])
        inner = times(fixed, [[row[j] for j in at] for row in self.spread])
        found = [[-entry for entry in row] for row in solved(inner, across)]
        moving = [self.rows[k] for k in slip]
        if not moving:
            return found, []
        free = times(moving, [[row[j] for j in loads] for row in self.spread])
        kept = times(times(moving, [[row[j] for j in at] for row in self.spread]), found)
        return found, [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(free, kept, strict=True)]


class OnePinSolution:
    """Numbers that are positive where pins leave one acceleration for every force."""

    def __init__(self, matrices: ContactMatrices) -> None:
        self.matrices = matrices
        self.pins = list(matrices.pins)
        self.tangent = [matrices.places[k, "tangent"] for k in self.pins]
        every = range(len(self.pins))
        self.sets = [one for size in range(len(self.pins), 0, -1) for one in combinations(every, size)]
        self.weights: Array = np.ones(len(self.pins))

    def prepare(self, middle: Bounds) -> None:
        """Choose the weights in which all slipping together contracts most."""
        try:
            shares = self._shares(_Forces(self.matrices, middle, middle), self.sets[0])
        except Singular:
            return
        numbers = [np.array([[float(x.value.mid()) for x in row] for row in rows]) for rows in shares]
        sizes = np.array([np.linalg.norm(rows, axis=0) for rows in numbers])
        values, right = np.linalg.eig(sizes + 1e-9)
        others, left = np.linalg.eig(sizes.T + 1e-9)
        one, other = (np.abs(v[:, int(np.argmax(w.real))].real) for w, v in ((values, right), (others, left)))
        self.weights = np.sqrt(other / one) if (one > 0).all() else self.weights

    def _shares(self, forces: _Forces, slip: tuple[int, ...]) -> list[Matrix]:
        """Return for each pin how its forces depend on the sizes of those that slip."""
        stick = [self.tangent[p] for p in range(len(self.pins)) if p not in slip]
        found, _ = forces.answers(stick, [self.tangent[p] for p in slip])
        sizes = [forces.sizes[self.matrices.sizes[self.pins[p]]] for p in slip]
        return [
            [[size * found[row][j] for j, size in enumerate(sizes)] for row in self.matrices.pins[k]] for k in self.pins
        ]

    def __call__(self, low: Bounds, high: Bounds) -> list[Sloped]:
        """Return the leading minors of D^2 - B^T D^2 B for every set of pins that slip."""
        forces, made = _Forces(self.matrices, low, high), []
        for slip in self.sets:
            rows = [
                [Sloped(arb(float(weight)), [arb(0)] * len(low)) * x for x in row]
                for weight, share in zip(self.weights, self._shares(forces, slip), strict=True)
                for row in share
            ]
            square = times(transposed(rows), rows)
            left = [
                [self._square(p, i == j, len(low)) - square[i][j] for j in range(len(slip))] for i, p in enumerate(slip)
            ]
            made += [determinant([row[:size] for row in left[:size]]) for size in range(1, len(slip) + 1)]
        return made

    def _square(self, pin: int, own: bool, count: int) -> Sloped:
        return Sloped(arb(float(self.weights[pin])) ** 2 if own else arb(0), [arb(0)] * count)


class OtherPinModes:
    """How far the other modes of pins are from being solutions at rest; `prepare` chooses by which condition."""

    def __init__(self, matrices: ContactMatrices) -> None:
        self.matrices, self.pins = matrices, list(matrices.pins)
        self.tangent = [matrices.places[k, "tangent"] for k in self.pins]
        n, held, _, _ = matrices.shape
        self.freedoms = n - held
        # As many pins at rest as there are freedoms leave no acceleration.
        self.sets = [
            signs
            for signs in product((0, 1, -1), repeat=len(self.pins))
            if any(signs) and sum(sign == 0 for sign in signs) < self.freedoms
        ]
        self.chosen: list[int] = []

    def prepare(self, middle: Bounds) -> None:
        """Choose, for every set of modes, the condition that it violates most."""
        forces, self.chosen = _Forces(self.matrices, middle, middle), []
        for signs in self.sets:
            try:
                values = [float(item.value.mid()) for item in self._violations(forces, signs)]
                self.chosen.append(max(range(len(values)), key=values.__getitem__))
            except Singular:
                self.chosen.append(0)

    def __call__(self, low: Bounds, high: Bounds) -> list[Sloped]:
        """Return for every set of modes by how much it violates its condition."""
        forces = _Forces(self.matrices, low, high)
        return [self._violations(forces, signs)[k] for signs, k in zip(self.sets, self.chosen, strict=True)]

    def _violations(self, forces: _Forces, signs: tuple[int, ...]) -> list[Sloped]:
        """Return numbers of which none is positive where a set of modes is a solution with an acceleration."""
        slip = [p for p, sign in enumerate(signs) if sign]
        stick = [p for p, sign in enumerate(signs) if not sign]
        found, moved = forces.answers([self.tangent[p] for p in stick], [self.tangent[p] for p in slip])
        pull = [-forces.sizes[self.matrices.sizes[self.pins[p]]] for p in slip]
        pull = [one if signs[p] > 0 else -one for one, p in zip(pull, slip, strict=True)]
        # Columns: per unit of the sizes of resultants, then the applied forces.
        scaled = [[*(c * x for c, x in zip(pull, row, strict=False)), row[-1]] for row in found]
        sizes = self._sizes([[scaled[row] for row in self.matrices.pins[self.pins[p]]] for p in slip], forces.count)
        told = [_affine(row, sizes) for row in scaled]
        made = []
        for p, row in zip(slip, moved, strict=True):
            speeds = _affine([*(c * x for c, x in zip(pull, row, strict=False)), row[-1]], sizes)
            made.append(-speeds if signs[p] > 0 else speeds)
        if self.freedoms - len(stick) == 1:  # one acceleration moves all of them: their signs belong together
            for (i, p), (j, q) in combinations(enumerate(slip), 2):
                made.append(moved[i][j] if signs[p] * signs[q] < 0 else -moved[i][j])
        for place, p in enumerate(stick):
            size, own = forces.sizes[self.matrices.sizes[self.pins[p]]], told[len(forces.held) + place]
            room = own * own
            for row_number in self.matrices.pins[self.pins[p]]:
                room = room - size * size * told[row_number] * told[row_number]
            made.append(room)
        return made

    def _sizes(self, bearings: list[Matrix], count: int) -> list[Sloped]:
        """Return the sizes of the resultants that slip over a box, all solutions of R = |A + B R| inside."""
        k = len(bearings)
        bound = _largest(bearings)
        R = [arb(0.5, 0.5) * arb(float(np.nextafter(x, np.inf))) for x in bound]
        for _ in range(ROUNDS):
            made = []
            for old, rows in zip(R, bearings, strict=True):
                total = arb(0)
                for row in rows:
                    force = sum((row[j].value * R[j] for j in range(k)), row[-1].value)
                    total = total + force * force
                new = total.nonnegative_part().sqrt()
                made.append(old.intersection(new) if old.overlaps(new) else new)
            R = made
        return self._sloped(bearings, R, count)

    def _sloped(self, bearings: list[Matrix], R: list[arb], count: int) -> list[Sloped]:
        """Return sizes with their slopes: (I - u B) R' = u (A' + B' R), u the direction of each force."""
        k, inert = len(bearings), [arb(0)] * count
        left: Matrix = []
        right: Matrix = []
        for p, rows in enumerate(bearings):
            forces = [sum((row[j].value * R[j] for j in range(k)), row[-1].value) for row in rows]
            units = [force / R[p] for force in forces]
            if not all(unit.is_finite() for unit in units):
                raise Singular
            left.append(
                [
                    Sloped(
                        sum((-u * row[j].value for u, row in zip(units, rows, strict=True)), arb(int(p == j))), inert
                    )
                    for j in range(k)
                ]
            )
            right.append([Sloped(_pushed(rows, units, R, d), inert) for d in range(count)])
        slopes = solved(left, right) if count else [[] for _ in range(k)]
        return [Sloped(size, [entry.value for entry in row]) for size, row in zip(R, slopes, strict=True)]


def _largest(bearings: list[Matrix]) -> Array:
    """Return upper bounds of all solutions of R = |A + B R|; `Singular` where friction may be too strong for any."""
    k = len(bearings)
    total = np.array(
        [
            [np.sqrt(sum(float(abs(row[j].value).upper()) ** 2 for row in rows)) * (1 + 1e-12) for j in range(k + 1)]
            for rows in bearings
        ]
    )
    share, given = total[:, :k], total[:, k]
    if not np.isfinite(total).all() or np.abs(np.linalg.eigvals(share)).max() >= 0.999:
        raise Singular
    return np.asarray(np.linalg.solve(np.eye(k) - share, given) * (1 + 1e-9) + 1e-300)


def _pushed(rows: Matrix, units: Sequence[arb], R: Sequence[arb], d: int) -> arb:
    """Return u (A' + B' R) of one pin by one variable."""
    total = arb(0)
    for unit, row in zip(units, rows, strict=True):
        total = total + unit * sum(
            (share.slopes[d] * size for share, size in zip(row, R, strict=False)), row[-1].slopes[d]
        )
    return total


def _affine(row: Sequence[Sloped], sizes: Sequence[Sloped]) -> Sloped:
    total = row[-1]
    for share, size in zip(row, sizes, strict=False):
        total = total + share * size
    return total
