"""Every solution of a planar contact problem with friction of resultants: pins and journals.

A choice of modes leaves linear equations, with the friction T_p of each pin that slips as an unknown of its own. Where
they determine everything else, z = z_0 + Z R with the sizes R_p = |T_p|/c_p, and R_p = |A_p + B_p R| is left: a
quadratic for one pin, `pin_roots` for several. Each root is checked against all inequalities. Where they leave forces
undetermined that don't slip, `pin_sets` decides whether a choice of them obeys the laws.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.exact.pin_modes import ExactBearing, exactly_solved
from zwang._numerics.contact.exact.rational import fractions, rational
from zwang._numerics.contact.mode_tables import BACKWARDS, BEYOND, CONTRADICTS, JAMS, Law
from zwang._numerics.contact.pieces import solved
from zwang._numerics.contact.pin_roots import ROUNDED, all_roots, proved_radius
from zwang._numerics.contact.pin_sets import BearingForm, resting_set
from zwang._numerics.contact.problem import ContactProblem
from zwang._numerics.contact.resultants import quadratic
from zwang._numerics.contact.scaled import RESULTANTS, Reduced, sides_of
from zwang._numerics.linear.polyhedra import affine_solution

Array = npt.NDArray[np.float64]
Modes = tuple[int, ...]

TIE = 1e-9
"""What decides between roots (how far friction is from jamming, how far two roots are apart) must exceed this."""
CLOSE = 1e-6
"""Part of the forces by which a condition holds or fails where a mode is decided exactly."""
MOST_MODES = 50_000
"""Combinations of modes that are tried one by one."""


@dataclass(frozen=True, eq=False)
class PinSolution:
    """A solution, or a connected set of them with one acceleration.

    Attributes
    ----------
    z : (m,) array
        Scaled forces.
    modes : tuple of int
    dimension : int
    low, high : (m,) arrays
        Between which the forces of a set lie.
    marginal : bool
        Whether a condition holds by less than the tolerance.
    radius : (m,) array or None
        How far the forces of a point may be from those of the one solution there; None where that is not proved.
    """

    z: Array
    modes: Modes
    dimension: int = 0
    low: Array | None = None
    high: Array | None = None
    marginal: bool = False
    radius: Array | None = None


class RejectedModes(NamedTuple):
    """Modes without a solution: why, by which contact and by how much; and the forces where the equations give them."""

    modes: Modes
    reason: str
    contact: int
    value: float
    z: Array | None


@dataclass(frozen=True, eq=False)
class PinOutcome:
    """All solutions, what stayed undecided in words, the modes tried, why no root was found, and modes rejected."""

    solutions: list[PinSolution]
    undecided: tuple[str, ...]
    tried: int
    jammed: tuple[str, ...]
    rejected: tuple[RejectedModes, ...] = ()


@dataclass(frozen=True, eq=False)
class _Bearing:
    """A pin in scaled forces: its place, where T stands, its loading forces as rows over (z, 1), and its two sizes."""

    contact: int
    tangent: int
    load: Array
    sides: tuple[float, float]
    slip: int


def pin_solutions(
    problem: ContactProblem,
    reduced: Reduced,
    *,
    tol: float = 1e-9,
    ranges: bool = True,
    most: int = MOST_MODES,
    slip_tol: float | None = None,
) -> PinOutcome:
    """Return every solution of a planar problem some of whose friction goes with resultants.

    With `slip_tol`, which said what rests, ties between modes are decided exactly where at most one pin slips.
    """
    bearings = _bearings(problem, reduced)
    search = _ModesTried(reduced, bearings, tol, ranges)
    tried = 0
    for modes in product(*(range(len(table.modes)) for table in reduced.tables)):
        tried += 1
        if tried > most:
            search.undecided.append(f"more than {most} combinations of modes")
            break
        search.try_modes(modes)
    if slip_tol is not None:
        search.settle(problem, slip_tol)
    words = (tuple(dict.fromkeys(said)) for said in (search.undecided, search.jammed))
    undecided, jammed = words
    return PinOutcome(search.found, undecided, tried, jammed, tuple(search.rejected))


def _bearings(problem: ContactProblem, reduced: Reduced) -> list[_Bearing]:
    rows, sizes = problem.rows, sides_of(problem)
    found = []
    for c, law in enumerate(reduced.laws):
        if law not in RESULTANTS:
            continue
        t = int(reduced.tangent[c])
        load = np.zeros((len(rows.of[c]), reduced.size + 1))
        for i, other in enumerate(rows.of[c]):
            if reduced.normal[other] >= 0:
                load[i, reduced.normal[other]] = reduced.unit[reduced.normal[other]] / reduced.unit[t]
            load[i, -1] = reduced.known_normal[other] / reduced.unit[t]
        sliding = law is Law.RESULTANT_SLIDING
        sides = (float(rows.friction[c]),) * 2 if sliding else (float(sizes[c, 0]), float(sizes[c, 1]))
        # Along the direction of a slip that there is, it is positive.
        found.append(_Bearing(c, t, load, sides, int(sliding)))
    return found


class _ModesTried:
    """Solutions mode by mode."""

    def __init__(self, reduced: Reduced, bearings: list[_Bearing], tol: float, ranges: bool) -> None:
        self.reduced, self.bearings, self.tol, self.ranges = reduced, bearings, tol, ranges
        self.found: list[PinSolution] = []
        self.undecided: list[str] = []
        self.jammed: list[str] = []
        self.rejected: list[RejectedModes] = []
        self.close: dict[Modes, PinSolution] = {}

    def try_modes(self, modes: Modes) -> None:
        """Find the solutions in one combination of modes."""
        known = solved(self.reduced, modes)
        if known.residual > self.tol * known.size:
            self._reject(modes, CONTRADICTS, 0, known.residual * self.reduced.load)
            return
        slipping = [(one, self._sign(one, modes)) for one in self.bearings if self._sign(one, modes)]
        point, basis = known.point, known.basis
        smooth = [one for one, sign in slipping if _against(one, sign) == 0]
        if smooth:  # an interval that ends at zero: nothing rubs in that direction
            none = np.eye(len(point), len(point) + 1)[[one.tangent for one in smooth]]
            point, basis, residual, _ = affine_solution(np.concatenate([known.equations, none]))
            slipping = [(one, sign) for one, sign in slipping if one not in smooth]
            if residual > self.tol * known.size:
                self._reject(modes, CONTRADICTS, 0, residual * self.reduced.load)
                return
        if not self._moves(modes, point, basis):
            return  # a boundary of modes in which more sticks
        d = basis.shape[1]
        sizes = np.array([-sign * basis[one.tangent] / _against(one, sign) for one, sign in slipping]).reshape(
            len(slipping), d
        )
        if len(slipping) == d and (not d or np.linalg.cond(sizes) < 1e9):
            self._points(modes, point, basis, slipping, sizes)
        else:
            self._set(modes, point, basis, slipping)

    def _sign(self, bearing: _Bearing, modes: Modes) -> int:
        """Return the sign of a pin's slip, 0 where it sticks."""
        return bearing.slip or (0, 1, -1)[modes[bearing.contact]]

    def _moves(self, modes: Modes, point: Array, basis: Array) -> bool:
        """Say whether each slip that is to start can have an acceleration that is not zero."""
        gram, free = self.reduced.gram, self.reduced.free
        for bearing in self.bearings:
            if not bearing.slip and modes[bearing.contact]:
                row = gram[bearing.tangent]
                change = np.abs(row @ basis).max(initial=0.0)
                if max(change, abs(float(row @ point + free[bearing.tangent]))) <= self.tol:
                    return False
        return True

    def _points(
        self, modes: Modes, point: Array, basis: Array, slipping: list[tuple[_Bearing, int]], sizes: Array
    ) -> None:
        """Find the isolated solutions: z = z_0 + Z R."""
        Z = basis @ np.linalg.inv(sizes) if len(slipping) else basis
        start = np.array([-sign * point[one.tangent] / _against(one, sign) for one, sign in slipping])
        z0 = point - Z @ start
        given = [one.load[:, :-1] @ z0 + one.load[:, -1] for one, _ in slipping]
        share = [one.load[:, :-1] @ Z for one, _ in slipping]
        if not slipping:
            roots = [np.zeros(0)]
        elif len(slipping) == 1:
            roots = self._quadratic(slipping[0][0], given[0], share[0][:, 0])
        else:
            every = all_roots(given, share)
            roots = every.found
            if every.undecided:
                self.undecided.append(f"{every.undecided} simplices with double roots, or friction about to jam")
        if not roots:
            self._reject(modes, JAMS if len(slipping) == 1 else CONTRADICTS, slipping[0][0].contact)
        failures = []
        for R in roots:
            off = proved_radius(given, share, R)
            radius = (
                None if off is None else np.abs(Z).sum(axis=1) * off + ROUNDED * np.abs(z0 + Z @ R).max(initial=0.0)
            )
            failures.append(self._check(modes, z0 + Z @ R, radius))
        told = [failure for failure in failures if failure is not None]
        if told and len(told) == len(failures):
            self.rejected.append(max(told, key=lambda one: one.value))

    def _reject(self, modes: Modes, reason: str, contact: int, value: float = float("nan")) -> None:
        self.rejected.append(RejectedModes(modes, reason, contact, value, None))

    def _quadratic(self, bearing: _Bearing, A: Array, B: Array) -> list[Array]:
        a2, ab, b2 = float(A @ A), float(A @ B), float(B @ B)
        first, second = (float(root[0]) for root in quadratic(np.array([a2]), np.array([ab]), np.array([b2])))
        inside = ab * ab + (1 - b2) * a2
        size = ab * ab + (1 + b2) * a2
        # Where b2 passes 1 a root comes from infinity or goes there; where the inside vanishes two roots meet.
        if abs(b2 - 1) <= TIE or (b2 > 1 and ab < 0 and abs(inside) <= TIE * size):
            self.undecided.append("friction about to jam, by less than the tolerance")
        roots = [np.array([root]) for root in (first, second) if np.isfinite(root) and root >= 0]
        if not roots:
            name = bearing.contact
            why = "its friction presses it harder than it rubs" if ab >= 0 else "no bearing force balances its friction"
            self.jammed.append(f"contact {name + 1}: {why} (1 - b^2 = {1 - b2:.3g})")
        return roots

    def _check(self, modes: Modes, z: Array, radius: Array | None) -> RejectedModes | None:
        """Keep a point that obeys all laws; return why it does not."""
        size = max(1.0, float(np.abs(z).max(initial=0.0)))
        known = solved(self.reduced, modes)
        inequalities = known.inequalities
        values = inequalities[:, :-1] @ z + inequalities[:, -1]
        sticking = [one for one in self.bearings if not self._sign(one, modes)]
        rooms = [self._room(one, z) for one in sticking]
        every = [*values.tolist(), *rooms]
        least = min(every, default=1.0) / size
        if abs(least) <= CLOSE:
            self.close[modes] = PinSolution(z, modes, radius=radius)
        if least < -self.tol:
            owners = [*known.owners, *((one.contact, BEYOND) for one in sticking)]
            worst = int(np.argmin(every))
            return RejectedModes(modes, owners[worst][1], owners[worst][0], every[worst], z)
        near = min((abs(value) for value in [*values.tolist(), *rooms]), default=1.0) / size
        for other in self.found:
            if not other.dimension and np.abs(other.z - z).max(initial=0.0) <= 10 * self.tol * size:
                return None  # on the edge of two modes
        close = least < 0 or (near < 1e-2 * self.tol and near > 0)
        self.found.append(PinSolution(z, modes, marginal=close, radius=radius))
        return None

    def settle(self, problem: ContactProblem, slip_tol: float) -> None:
        """Decide modes that hold or fail by little over the rationals: which of them are solutions."""
        exact = rational(problem, self.reduced, slip_tol=slip_tol) if self.close else None
        if exact is None:
            return
        rows = problem.rows
        for modes, one in self.close.items():
            pins = []
            for pin in self.bearings:
                load = np.full(pin.load.shape, fractions(0.0)[()])
                for i, other in enumerate(rows.of[pin.contact]):
                    if self.reduced.normal[other] >= 0:
                        load[i, self.reduced.normal[other]] = fractions(1.0)[()]
                    load[i, -1] = fractions(self.reduced.known_normal[other])[()]
                sides = fractions(pin.sides)
                pins.append(ExactBearing(pin.tangent, load, (sides[0], sides[1]), self._sign(pin, modes)))
            holds = exactly_solved(exact, modes, pins, one.z * self.reduced.unit)
            if holds is None:
                continue
            self.found = [other for other in self.found if other.modes != modes]
            if holds:
                self.found.append(one)
                self.rejected = [other for other in self.rejected if other.modes != modes]
            elif all(other.modes != modes for other in self.rejected):
                slips = [pin.contact for pin in self.bearings if self._sign(pin, modes)]
                why = (BACKWARDS, slips[0]) if slips else (BEYOND, self.bearings[0].contact)
                self._reject(modes, *why, 0.0)

    def _room(self, bearing: _Bearing, z: Array) -> float:
        """Return how far inside its bounds the friction of a pin that sticks is."""
        load = float(np.linalg.norm(bearing.load[:, :-1] @ z + bearing.load[:, -1]))
        force = float(z[bearing.tangent])
        return min(force + bearing.sides[0] * load, bearing.sides[1] * load - force)

    def _set(self, modes: Modes, point: Array, basis: Array, slipping: list[tuple[_Bearing, int]]) -> None:
        """Decide about forces that the equations leave undetermined."""
        known = solved(self.reduced, modes)

        def over(rows: Array) -> Array:
            return np.column_stack([rows[:, :-1] @ basis, rows[:, :-1] @ point + rows[:, -1]])

        signs = {id(one): sign for one, sign in slipping}
        unit = np.eye(self.reduced.size, self.reduced.size + 1)
        pins = [
            BearingForm(over(one.load), over(unit[[one.tangent]])[0], one.sides, signs.get(id(one), 0))
            for one in self.bearings
        ]
        found = resting_set(over(known.inequalities), pins, self.tol, ranges=self.ranges)
        if found.point is None:
            if found.decided:
                self._reject(modes, BEYOND, self.bearings[0].contact)
            else:
                self.undecided.append("undetermined forces of pins, after a budget of cones")
            return
        z = point + basis @ found.point
        if slipping or np.abs(self.reduced.gram @ basis).max(initial=0.0) > 1e-9:
            self.undecided.append("a set of solutions in which pins slip, told by one of them")
        low, high = np.full((2, len(z)), np.nan)
        if found.corners is not None and found.rays is not None and len(found.corners):
            corners, rays = point + found.corners @ basis.T, found.rays @ basis.T
            low = np.where((rays < -1e-9).any(axis=0), -np.inf, corners.min(axis=0))
            high = np.where((rays > 1e-9).any(axis=0), np.inf, corners.max(axis=0))
        self.found.append(PinSolution(z, modes, basis.shape[1] - len(slipping), low, high))


def _against(bearing: _Bearing, sign: int) -> float:
    """Return the coefficient against a slip of this sign."""
    return bearing.sides[0] if sign > 0 else bearing.sides[1]
