"""Every solution for one contact with two directions of friction at rest, by the roots of one quartic.

With W the 3 x 3 Delassus matrix of the contact (ideal bilateral constraints eliminated) and q the acceleration without
its force, a solution is open (r = 0, q_n >= 0), sticks (W r = -q inside the cone), or slips: u_t = -alpha T with
alpha > 0, |T| = mu |N|. For given alpha the forces are unique, T = -(S + alpha)^-1 c with the Schur complement S, so
the slipping solutions are the positive roots of mu^2 N^2 - |T|^2, a quartic in alpha after multiplying by
det(S + alpha)^2 > 0. Its coefficients are rational in W, q and mu; the roots of such are isolated without exception.

The list is complete for the given floats. Decisions that another rounding of them could turn are listed as marginal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_poly
from numpy.typing import NDArray

from zwang._numerics.contact.candidate import Candidate, candidate_of
from zwang._numerics.contact.delassus import FrictionArrays
from zwang._numerics.contact.modes import BILATERAL, Mode
from zwang._numerics.contact.real_roots import positive_roots

Floats = NDArray[np.float64]

_MARGIN = 1e-11  # relative size of a deciding quantity below which the decision is marginal
_SINGULAR = 1e-12
"""Part of what the contact alone would give way by, along a direction, below which constraints hold it there."""
_CONSISTENT = 1e-9
"""Part of its terms by which an acceleration may miss zero where nothing can move."""


@dataclass(frozen=True, eq=False)
class OneContactSolutions:
    """All solutions of a problem with one spatial friction contact.

    Attributes
    ----------
    solutions : tuple of (mode, Candidate)
        Modes: open, stick, slip.
    complete : bool
        True if no other solution exists and no decision was marginal.
    marginal : tuple of str
        Decisions that hang on rounding.
    roots : int
        Positive roots of the quartic, none of which can be missed: what completeness rests on.
    margin : float
        The smallest deciding quantity, relative to its terms.
    stick_directions : (d, 3) array
        Directions in which the sticking force is not determined (d > 0 only if W is singular).
    """

    solutions: tuple[tuple[Mode, Candidate], ...]
    complete: bool
    marginal: tuple[str, ...]
    roots: int
    margin: float
    stick_directions: Floats


def one_contact_fits(arrays: FrictionArrays) -> bool:
    """Whether there is one Coulomb contact with two directions at rest, and otherwise ideal bilateral contacts."""
    unknown = arrays.layout[:, 1] > 0
    ideal = (arrays.layout[:, 2] == BILATERAL) & (arrays.layout[:, 3] == 0)
    others = unknown & ~ideal
    spatial = arrays.coulomb & (arrays.layout[:, 3] == 2)
    return arrays.symmetric and int(others.sum()) == 1 and bool(spatial[others].all())


def one_contact_solutions(arrays: FrictionArrays) -> OneContactSolutions:
    """Return every solution; the arrays must be those of one contact (`one_contact_fits`)."""
    j = int(np.flatnonzero(arrays.coulomb)[0])
    own = arrays.layout[j, 0] + np.arange(3)
    w, b, back, shift = _reduced(arrays, own)
    solver = _Quartic(w, b, float(arrays.law[j, 0]), bool(arrays.layout[j, 2] == BILATERAL))
    solver.open()
    directions = solver.stick()
    solver.slip()
    found = []
    for mode, force in solver.found:
        r = back @ np.array(force) + shift
        r[own] = force
        found.append((mode, candidate_of(arrays, r, "one contact, exactly")))
    complete = not solver.marginal and not len(directions)
    return OneContactSolutions(tuple(found), complete, tuple(solver.marginal), solver.roots, solver.margin, directions)


def _reduced(arrays: FrictionArrays, own: NDArray[np.int64]) -> tuple[Floats, Floats, Floats, Floats]:
    """Eliminate the ideal constraints: W and b of the contact alone, and r = back @ (its force) + shift."""
    w, b, size = arrays.delassus, arrays.b, arrays.size
    held = np.setdiff1d(np.arange(size), own)
    back, shift = np.zeros((size, 3)), np.zeros(size)
    back[own] = np.eye(3)
    if held.size:
        inverse = np.linalg.pinv(w[np.ix_(held, held)], rcond=_SINGULAR, hermitian=True)
        back[held] = -inverse @ w[np.ix_(held, own)]
        shift[held] = -inverse @ b[held]
    reduced = (w @ back)[own]
    reduced = 0.5 * (reduced + reduced.T)
    rigid = np.diag(reduced) <= _SINGULAR * np.diag(w)[own]
    reduced[rigid], reduced[:, rigid] = 0.0, 0.0  # what is left of them is rounding, which scaling would blow up
    q, terms = (w @ shift + b)[own], (np.abs(w) @ np.abs(shift) + np.abs(b))[own]
    q[rigid & (np.abs(q) <= _CONSISTENT * terms)] = 0.0
    return reduced, q, back, shift


class _Quartic:
    """The three kinds of solutions of one contact in exact arithmetic."""

    def __init__(self, w: Floats, q: Floats, mu: float, bilateral: bool) -> None:
        self.float_w, self.bilateral = w, bilateral
        self.w = [[_exact(x) for x in row] for row in w]
        self.q = [_exact(x) for x in q]
        self.mu = _exact(mu)
        self.size = float(np.abs(q).max())
        self.found: list[tuple[Mode, tuple[float, float, float]]] = []
        self.marginal: list[str] = []
        self.roots, self.margin = 0, math.inf

    def decide(self, value: float, size: float, what: str) -> None:
        """Note how clearly a quantity is not zero."""
        margin = abs(value) / size if size > 0.0 else 0.0
        self.margin = min(self.margin, margin)
        if margin <= _MARGIN:
            self.marginal.append(f"{what} {margin:.1e}")

    def open(self) -> None:
        gap = float(self.q[0])
        if self.bilateral:
            if gap == 0.0:
                self.found.append((Mode.OPEN, (0.0, 0.0, 0.0)))
            return
        self.decide(gap, self.size, "open: relative gap acceleration")
        if gap >= 0.0:
            self.found.append((Mode.OPEN, (0.0, 0.0, 0.0)))

    def stick(self) -> Floats:
        """Add the sticking solution; return the directions in which its force is not determined."""
        size = np.diag(self.float_w)
        scale = 1.0 / np.sqrt(np.where(size > 0.0, size, float(size.max()) or 1.0))
        values, vectors = np.linalg.eigh(self.float_w * scale[:, None] * scale)
        null = (vectors[:, values < _SINGULAR] * scale[:, None]).T
        if len(null):
            self._stick_singular(null)
            return np.asarray(null)
        solved = fmpq_mat(self.w).solve(fmpq_mat([[-x] for x in self.q]))
        force = [row[0] for row in solved.tolist()]
        n, room = force[0], self.mu**2 * force[0] ** 2 - force[1] ** 2 - force[2] ** 2
        reach = float(self.mu**2 * n**2 + force[1] ** 2 + force[2] ** 2)
        self.decide(float(room), reach, "stick: relative room in the cone")
        if room >= 0 and (n >= 0 or self.bilateral) and any(force):
            self.found.append((Mode.STICK, (float(force[0]), float(force[1]), float(force[2]))))
        return np.empty((0, 3))

    def _stick_singular(self, null: Floats) -> None:
        """W is singular: the point of the affine set of sticking forces that is deepest in the cone, if any.

        Where the set goes on in the cone without end, one that is deeper than its sizes is taken.
        """
        q = np.array([float(x) for x in self.q])
        base = -np.linalg.pinv(self.float_w, rcond=_SINGULAR, hermitian=True) @ q
        if np.abs(self.float_w @ base + q).max() > _CONSISTENT * max(self.size, 1e-300):
            return
        deepest, depth = base, _depth(base, float(self.mu), self.bilateral)
        step = reach = max(1.0, float(np.abs(base).max()))
        enough = (1 + float(self.mu)) * reach
        while step > 1e-12 * reach and depth < enough:  # a concave function of few variables: compass search
            trials = [deepest + sign * step * direction for direction in null for sign in (1.0, -1.0)]
            best = max(trials, key=lambda r: _depth(r, float(self.mu), self.bilateral))
            if _depth(best, float(self.mu), self.bilateral) > depth:
                deepest, depth = best, _depth(best, float(self.mu), self.bilateral)
            else:
                step *= 0.5
        if depth >= 0.0:
            self.found.append((Mode.STICK, (float(deepest[0]), float(deepest[1]), float(deepest[2]))))

    def slip(self) -> None:
        if self.w[0][0] == 0:
            self.marginal.append("slip: constraints hold the contact along its normal")
            return
        for sign in (1, -1) if self.bilateral else (1,):
            self._slip(sign)

    def _slip(self, sign: int) -> None:
        x1, x2, n, d = self._numerators()
        p = self.mu**2 * n * n - x1 * x1 - x2 * x2
        if not p:
            if x1 or x2 or n:
                self.marginal.append("slip: a continuum of directions")
            return
        self._near_misses(p)
        intervals = positive_roots(p)
        self.roots = len(intervals)  # the same for both signs of N
        open_again = positive_roots(p.gcd(n)) if n else []  # where N = T = 0
        for low, high in intervals:
            alpha = (low + high) / 2
            if any(below <= high and low <= above for below, above in open_again):
                continue
            if (n(alpha) > 0) != (sign > 0):
                continue
            det = d(alpha)
            self.found.append((Mode.SLIP, (float(n(alpha) / det), float(x1(alpha) / det), float(x2(alpha) / det))))

    def _numerators(self) -> tuple[fmpq_poly, fmpq_poly, fmpq_poly, fmpq_poly]:
        """T1, T2 and N times det(S + alpha), and that determinant, as polynomials in alpha."""
        w, q = self.w, self.q
        w1, w2, nn = w[0][1], w[0][2], w[0][0]
        s11, s22, s12 = w[1][1] - w1 * w1 / nn, w[2][2] - w2 * w2 / nn, w[1][2] - w1 * w2 / nn
        c1, c2 = q[1] - w1 * q[0] / nn, q[2] - w2 * q[0] / nn
        x1 = fmpq_poly([s12 * c2 - s22 * c1, -c1])
        x2 = fmpq_poly([s12 * c1 - s11 * c2, -c2])
        d = fmpq_poly([s11 * s22 - s12 * s12, s11 + s22, 1])
        return x1, x2, (d * q[0] + x1 * w1 + x2 * w2) / -nn, d

    def _near_misses(self, p: fmpq_poly) -> None:
        """Note double roots, and extrema of the quartic too near zero to tell whether there are two roots or none."""
        sizes = fmpq_poly([abs(c) for c in p.coeffs()])
        for low, high in positive_roots(p.derivative(), bits=60):
            alpha = (low + high) / 2
            self.decide(float(p(alpha) / sizes(alpha)), 1.0, f"slip: two roots near alpha = {float(alpha):.3g} meet")


def _exact(value: float) -> fmpq:
    return fmpq(*float(value).as_integer_ratio())


def _depth(r: Floats, mu: float, bilateral: bool) -> float:
    n = abs(float(r[0])) if bilateral else float(r[0])
    return mu * n - math.hypot(float(r[1]), float(r[2]))
