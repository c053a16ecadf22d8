"""Find contact forces: the cheap method first, its residual recomputed, then the next.

No solver wins everywhere. Accelerated sweeps are the fastest on loose collections of bodies and stall on tall stacks;
interior points are made for stacks, and need more than sweeps on large tangles of bodies; Newton's method converges to
rounding once the modes are nearly right; pivoting always ends, and is for the plane and a few hundred contacts; the
cone programs are slow and nearly never fail. The order below follows the cost, and no solver's word is taken: every
candidate's residual is computed from its forces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact import interior_point as ip
from zwang._numerics.contact.candidate import Candidate, candidate_of
from zwang._numerics.contact.complementarity import pivoting
from zwang._numerics.contact.cone_program import cone_fixed_point
from zwang._numerics.contact.delassus import FrictionArrays
from zwang._numerics.contact.local_repair import alternate
from zwang._numerics.contact.modes import BOUND
from zwang._numerics.contact.newton import in_dense_form, newton, newton_from_each
from zwang._numerics.contact.stick_forces import stick_planned
from zwang._numerics.contact.sweeps import Sweeper, SweepTables, name_of, sweep_tables, sweeper
from zwang._numerics.linear.quasidefinite import FillError

Floats = NDArray[np.float64]

_FIRST_SWEEPS = 60  # without a plan: loose collections are done by then, stacks won't be for long
_MOST_SWEEPS = 3000  # of the linearly convergent sweeps; where they don't arrive the cone program does
_STICK_STEPS = 100  # of conjugate gradients: towers of a hundred blocks
_LARGE = 200  # contacts from which Newton's method on all of them costs more than many sweeps
_NEWTON_SIZE = 3000  # unknown forces up to which it is tried all the same
_POLISHED = 90  # unknown forces beyond which interior points come before Newton's method
_FINISHED_SIZE = 60  # and up to which it ends every solve
_PIVOTING_CONTACTS = 300  # a dense tableau of four pairs a contact
_CONE_SIZE = 2000  # rows; beyond it a dense cone program takes longer than sweeps


@dataclass(frozen=True, eq=False)
class Prepared:
    """One problem with the tables for sweeps and the plan for interior points: what is left is compiled."""

    arrays: FrictionArrays
    tables: SweepTables | None
    plan: ip.ConePlan | None

    @cached_property
    def redundant(self) -> bool:
        """Whether there are more unknown forces than coordinates: stacks, which often stick, and slow sweeps down."""
        return self.arrays.symmetric and self.arrays.size > len(self.arrays.force)

    @cached_property
    def may_stick(self) -> bool:
        """Whether conjugate gradients on W are worth trying first."""
        return self.redundant and self.plan is not None and not self.plan.coordinates

    @cached_property
    def sweeps(self) -> int:
        """How many sweeps cost as much as a part of the interior-point solve that may follow."""
        if self.plan is None:
            return _FIRST_SWEEPS if self.arrays.count < _LARGE else _MOST_SWEEPS // 10
        # Nanoseconds, measured: a multiplication of the factorization, a contact per iteration, a contact per sweep.
        cones = 12 * (1.0 * self.plan.analysis.work + 250 * self.arrays.count)
        return int(np.clip((0.25 if self.redundant else 0.7) * cones / (110 * self.arrays.count), 8, _MOST_SWEEPS))

    @cached_property
    def sweep(self) -> Sweeper | None:
        """The sweeps, bound to their tables."""
        return None if self.tables is None else sweeper(self.arrays, self.tables)

    def solve(self, tol: float) -> tuple[Floats, float, str, int]:
        """Return (forces, residual, method, iterations): the compiled part of `solve_one`.

        Stacks are first asked whether they stick; then sweeps, then interior points. The residual is that of the
        forces, computed in compiled code after the last iteration.
        """
        found = None
        if self.may_stick and self.plan is not None:
            r, done, residual = stick_planned(self.arrays, self.plan, tol, _STICK_STEPS)
            if residual <= tol:
                return r, residual, "sticking", done
        sweep = self.sweep
        if sweep is not None:
            r, sweeps, steps, residual = sweep(None, tol, self.sweeps)
            found = r, residual, "Gauss-Seidel and Newton" if steps else "Gauss-Seidel", sweeps + steps
            if residual <= tol:
                return found
        if self.plan is not None:
            r, done, residual = ip.solve_planned(self.arrays, self.plan, 0.5 * tol, 60)
            if found is None or residual < found[1]:
                return r, residual, "interior point", done
        return found or (np.zeros(self.arrays.size), np.inf, "none", 0)


def prepare(arrays: FrictionArrays, *, plan: bool = True) -> Prepared:
    """Make the tables for sweeps, and with `plan` the factorization plan for interior points."""
    try:
        cones = ip.cone_plan(arrays) if plan and ip.fits(arrays) else None
    except FillError:
        cones = None
    return Prepared(arrays, _tables(arrays), cones)


def _tables(arrays: FrictionArrays) -> SweepTables | None:
    if not (arrays.has_sparse_delassus or arrays.has_dense_delassus) or arrays.drag is not None:
        return None
    tables = sweep_tables(arrays)
    own = (arrays.layout[:, 1] > 0) & (arrays.layout[:, 2] != BOUND)
    # A sliding contact whose friction presses it harder than its own push frees it (Painleve) can't be swept.
    return tables if (tables.table[own, 0] > 0).all() else None


def solve_one(
    arrays: FrictionArrays, *, tol: float = 1e-8, prepared: Prepared | None = None, seed: int = 0
) -> Candidate:
    """Return forces whose residual is at most `tol`, or the best found.

    Parameters
    ----------
    arrays : FrictionArrays
    tol : float
        Residual (relative; see `candidate`) to reach. The caller compares ``result.residual`` with it.
    prepared : Prepared, optional
        From `prepare`, to solve the same arrays again.
    seed : int
        Of the random starts tried last.

    Examples
    --------
    >>> from zwang._numerics.contact.problem import Contact, ContactProblem
    >>> from zwang._numerics.contact.delassus import friction_arrays
    >>> floor = Contact([0, 0, 1], tangent=[[1, 0, 0], [0, 1, 0]], friction=0.5)
    >>> found = solve_one(friction_arrays(ContactProblem(np.eye(3), [3.0, 4.0, -1.0], contacts=[floor])))
    >>> found.normal, found.tangential
    (array([1.]), array([[-0.3, -0.4]]))
    """
    if arrays.size == 0 or not arrays.loaded:
        return candidate_of(arrays, np.zeros(arrays.size), "no load")
    if arrays.drag is not None:
        return _solve_signed(arrays, tol, seed)
    ready = prepare(arrays, plan=False) if prepared is None else prepared
    best: Candidate | None = None
    for attempt in _attempts(ready, tol, seed):
        try:
            found = attempt(None if best is None else best.forces)
        except FillError:  # this method is not for so large a tangle
            continue
        if best is None or found.residual < best.residual:
            best = found
        if best.residual <= tol:
            break
    assert best is not None
    if best.residual > 1e-13 and arrays.size <= _FINISHED_SIZE:  # a few Newton steps take small problems to rounding
        finer = newton(arrays, start=best.forces, tol=1e-15, limit=4)
        if finer.residual < best.residual:
            return replace(finer, method=best.method, iterations=best.iterations)
    return best


def _attempts(ready: Prepared, tol: float, seed: int) -> Iterator[Callable[[Floats | None], Candidate]]:
    """Yield the methods that fit, from cheap to dear; each may start from the best forces so far."""
    arrays = ready.arrays
    convex_cones = ip.fits(arrays)
    if ready.tables is not None or ready.plan is not None:
        yield lambda start: _kernel(ready, tol)
    if ready.sweep is not None and arrays.has_sparse_delassus and arrays.count >= _LARGE:
        yield lambda start: _alternate(ready, start, tol, seed)
    small = arrays.size <= _NEWTON_SIZE and (arrays.has_sparse_delassus or arrays.has_dense_delassus)
    many = arrays.size > _POLISHED and convex_cones and ready.plan is None
    if many:  # each step of Newton's method is dear then
        yield lambda start: ip.interior_point(arrays, tol=0.5 * tol)
    if small:
        yield lambda start: newton(arrays, start=start, tol=0.01 * tol)
    if convex_cones and ready.plan is None and not many:
        yield lambda start: ip.interior_point(arrays, tol=0.1 * tol)
    if small:
        yield lambda start: newton(arrays, start=start, tol=0.01 * tol)
        yield lambda start: newton(arrays, tol=0.01 * tol)
    if arrays.planar and arrays.count <= _PIVOTING_CONTACTS:
        yield lambda start: pivoting(arrays)
    if ready.tables is not None:
        yield lambda start: _long_sweeps(ready, start, tol)
    if small:
        rng = np.random.default_rng(seed)
        for _ in range(40):
            yield lambda start: newton(arrays, start=random_forces(arrays, rng, 1)[0], tol=0.01 * tol)
    if convex_cones and arrays.size <= _CONE_SIZE:
        yield lambda start: cone_fixed_point(arrays, tol=tol)
        if small:
            yield lambda start: newton(arrays, start=start, tol=0.01 * tol)


def _kernel(ready: Prepared, tol: float) -> Candidate:
    r, _, method, steps = ready.solve(tol)
    return candidate_of(ready.arrays, r, method, steps)


def _alternate(ready: Prepared, start: Floats | None, tol: float, seed: int) -> Candidate:
    assert ready.tables is not None
    start = np.zeros(ready.arrays.size) if start is None else start
    return alternate(ready.arrays, ready.tables, start, tol, seed=seed)


def _long_sweeps(ready: Prepared, start: Floats | None, tol: float) -> Candidate:
    assert ready.sweep is not None
    r, sweeps, steps, _ = ready.sweep(start, tol, _MOST_SWEEPS)
    return candidate_of(ready.arrays, r, name_of(steps), sweeps + steps)


def random_forces(arrays: FrictionArrays, rng: np.random.Generator, starts: int) -> Floats:
    """Return random forces (starts, m) of the size that the accelerations without reactions call for, both signs."""
    k, m = arrays.count, arrays.size
    drawn = [(rng.uniform(-1.0, 1.0, k), rng.normal(size=m), rng.uniform(size=k)) for _ in range(starts)]
    tens, r, chance = (np.array(part).reshape(starts, -1) for part in zip(*drawn, strict=True))
    size = arrays.cause * 10.0**tens
    r = r * np.repeat(size / arrays.scale, arrays.layout[:, 1], axis=1)
    own = (arrays.layout[:, 1] > 0) & (arrays.layout[:, 2] == 0)
    first = arrays.layout[own, 0]
    r[:, first] = np.where(chance[:, own] < 0.7, np.abs(r[:, first]), 0.0)
    return np.asarray(r)


def _sign_patterns(arrays: FrictionArrays, rng: np.random.Generator, most: int = 64) -> Iterator[Floats]:
    """Yield signs (m,) of the normal forces of bilateral sliding contacts: all patterns, or `most` random ones."""
    assert arrays.drag is not None
    rows = np.flatnonzero(np.asarray(abs(arrays.drag).sum(axis=1)).ravel() > 0)
    every = 2 ** min(rows.size, 30)
    for k in range(min(every, most)):
        signs = np.ones(arrays.size)
        bits = (k >> np.arange(rows.size)) & 1 if every <= most else rng.integers(0, 2, rows.size) * (k > 0)
        signs[rows] = 1.0 - 2.0 * bits
        yield signs


def _solve_signed(arrays: FrictionArrays, tol: float, seed: int) -> Candidate:
    """Bilateral sliding contacts: assume signs of their normal forces, solve, and compare."""
    best: Candidate | None = None
    rng = np.random.default_rng(seed)
    for pattern in _sign_patterns(arrays, rng):
        signs = pattern
        for _ in range(4):
            folded = solve_one(arrays.with_signs(signs), tol=tol, seed=seed)
            found = candidate_of(arrays, folded.forces, folded.method, folded.iterations)
            if best is None or found.residual < best.residual:
                best = found
            turned = np.where(found.forces < 0, -1.0, 1.0)
            if best.residual <= tol or (turned == signs).all():
                break
            signs = turned
        if best is not None and best.residual <= tol:
            break
    assert best is not None
    return best


def solve_many_starts(
    arrays: FrictionArrays, *, seed: int, starts: int = 100, tol: float = 1e-8, apart: float = 1e-6
) -> list[Candidate]:
    """Return solutions with different accelerations, as many as Newton's method finds from random starts.

    Parameters
    ----------
    seed, starts : int
        Of the random numbers, and how many starts.
    tol : float
        Residual of every solution returned.
    apart : float
        Accelerations that differ by less, relative to the largest entry, count as one.

    Examples
    --------
    Three slip accelerations at one contact, where the matrix of Theorem 12 of paper 001 is positive definite:

    >>> from zwang._numerics.contact.problem import Contact, ContactProblem
    >>> from zwang._numerics.contact.delassus import friction_arrays
    >>> inverse = [[3.74, 1.9, 4.27], [1.9, 3.69, 1.77], [4.27, 1.77, 5.09]]
    >>> contact = Contact([0, 0, 1], tangent=[[1, 0, 0], [0, 1, 0]], friction=0.72)
    >>> problem = ContactProblem(force=[0.698296, 0.524118, -1.183994], contacts=[contact], inverse_mass=inverse)
    >>> [round(float(found.normal[0]), 4) for found in solve_many_starts(friction_arrays(problem), seed=1)]
    [1.0123, 0.9437, 0.7105]
    """
    found: list[Candidate] = []
    rng = np.random.default_rng(seed)

    def among(accelerations: Floats, others: Sequence[Candidate]) -> NDArray[np.bool_]:
        """Whether accelerations (s, n) are those of the others."""
        there = np.zeros(len(accelerations), dtype=bool)
        for other in others:
            size = max(float(np.abs(other.acceleration).max(initial=0.0)), float(np.abs(arrays.free).max(initial=0.0)))
            apart_by = np.abs(accelerations - other.acceleration).max(axis=1, initial=0.0)
            there |= apart_by <= apart * max(size, 1e-300)
        return there

    def keep(candidate: Candidate) -> None:
        if candidate.residual <= tol and not among(candidate.acceleration[None], found)[0]:
            found.append(candidate)

    keep(solve_one(arrays, tol=tol, seed=seed))
    if arrays.size == 0:
        return found
    aim = min(1e-12, 0.01 * tol)
    if arrays.drag is None and in_dense_form(arrays):
        close = newton_from_each(arrays, random_forces(arrays, rng, starts), reach=tol, tol=aim)
        accelerations = arrays.accelerations(close)
        new = ~among(accelerations, found)
        while new.any():
            first, before = int(new.argmax()), len(found)
            keep(candidate_of(arrays, close[first], "semismooth Newton"))
            new &= ~among(accelerations, found[before:])
            new[first] = False
    else:
        folds = [arrays] if arrays.drag is None else [arrays.with_signs(s) for s in _sign_patterns(arrays, rng)]
        for k in range(starts):
            folded = folds[k % len(folds)]
            one = newton(folded, start=random_forces(folded, rng, 1)[0], tol=aim)
            keep(one if arrays.drag is None else candidate_of(arrays, one.forces, one.method, one.iterations))
    return sorted(found, key=lambda one: -float(np.abs(one.forces).sum()))
