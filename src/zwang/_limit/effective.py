"""What realized motions tend to when a fast oscillation keeps its energy: Rubin and Ungar (1957), Takens (1980).

A start across the constraints leaves oscillations of finite energy, however stiff the springs. With w_i(q) sqrt(N)
their frequencies along the constraint manifold, the actions J_i = E_i/w_i are adiabatic invariants, and the slow motion
feels the energy sum J_i w_i(q) as one more potential: the extra force is -sum J_i dw_i/dq.

Forces that depend on the velocity see the oscillation too: the slow motion feels their mean over the phases, and the
actions change by the mean power on each oscillation. That is the averaged principle of Lagrange and d'Alembert, exact
as N grows. With amplitudes a_i = sqrt(J_i) exp(i phi_i) both are one equation: for y_i'' + w_i^2 y_i = g_i/sqrt(N),
da_i/dt = <exp(-i theta_i) g_i>/sqrt(2 w_i) over the phases theta that oscillations run through. Without resonances
these are all phases, and only forces that depend on the velocity are left of g; with resonances that last, phases keep
their sums k . theta, and what couples the oscillations stays in the mean: `resonance` says what becomes of the limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._declare.constraints import Bilateral
from zwang._limit.fast_terms import STENCIL, FastTerms, Local, amount
from zwang._limit.ideal import tangential
from zwang._limit.resonance import (
    EVERY,
    QUADRATIC,
    SAME,
    Relation,
    exchanges,
    groups,
    lasting,
    phases,
    relations,
    told,
)
from zwang._limit.ways import Softened

Array = NDArray[np.float64]
Amplitudes = NDArray[np.complex128]
ORDER = 3  # quanta of the relations that conservative terms act by
NEAR = 0.02  # relative distance of two frequencies below which convergence begins late
MOST = 20_000  # calls of the averaged force before a motion is given up
MOST_PHASES = 2_000_000  # phases in all these calls
FOLLOWED = 0.8  # least square of the overlap of a mode with itself, a step before
SMALL = 1e-3  # part by which differences are taken: of the whole time, of the way in it, of what changes modes
CONE = 1e-3
"""Share of the slopes of two frequencies above which modes mix beside the motion, where those meet."""


class _TooLong(Exception):
    """The equations of the slow motion were evaluated too often, or its modes could not be followed."""


@dataclass(frozen=True)
class Effective:
    """The slow motion with its extra force.

    Attributes
    ----------
    t : (k,)
    q, v, extra_force : (k, n)
        The force along the manifold: its projection.
    actions : (k, m)
        Of each mode, which are in the order of their frequencies at the start and followed from there.
    resonances : tuple of str
        What is met of low resonances, and what it means, in words.
    """

    t: Array
    q: Array
    v: Array
    extra_force: Array
    actions: Array
    resonances: tuple[str, ...]


def applies(softened: Softened) -> bool:
    """Say whether the theory speaks of a softened system: springs on bilateral positions, no damping by N."""
    for name in softened.names:
        item, way = softened.ideal.constraints[name], softened.ways[name]
        if not isinstance(item, Bilateral) or item.level != "position" or not hasattr(way, "weight"):
            return False
        if getattr(way, "ratio", None) is not None:
            return False
        if softened.strength in {symbol.name for symbol in amount(softened, name, "damping").free_symbols}:
            return False
    return all(isinstance(item, Bilateral) for item in softened.soft.constraints)


def effective_motion(softened: Softened, state: Any, params: Any, slow: Array, edges: Array) -> Effective | None:
    """Return the slow motion from a state whose velocity, projected, is `slow`; None where steps get too many.

    At a singular point a frequency vanishes: the theory ends there, and its equations have no solution beyond.
    """
    terms = FastTerms(softened, state, params)
    start = terms.at(float(edges[0]), terms.q, slow)
    kept = lasting(start, relations(terms.m, ORDER + terms.dragged))
    while True:
        course = _Course(terms, slow, edges, kept)
        try:
            found = course.run()
        except (_TooLong, np.linalg.LinAlgError):
            return None
        last = [k for k in kept if k in course.lasted]
        if len(last) == len(kept):
            return found
        kept = last  # what was met at the start alone is no resonance that lasts


@dataclass
class _Course:
    """One integration of the slow motion, with its modes followed from step to step.

    Attributes
    ----------
    kept : list of relations
        Resonances that last.
    lasted : set of relations
        Those of them that did, all along.
    passed : dict
        Relation -> the first instant at which it was passed, and whether modes mix beside the motion there.
    near, stayed : set of relations
        Those that nearly hold somewhere, and those that hold along the motion but not beside it.
    """

    terms: FastTerms
    slow: Array
    edges: Array
    kept: list[Relation]
    lasted: set[Relation] = field(default_factory=set)
    passed: dict[Relation, tuple[float, bool]] = field(default_factory=dict)
    near: set[Relation] = field(default_factory=set)
    stayed: set[Relation] = field(default_factory=set)

    def __post_init__(self) -> None:
        terms, n = self.terms, self.terms.n
        self.n, self.m = n, terms.m
        self.groups = groups(self.m, self.kept)
        self.phases = phases(self.m, self.kept, EVERY if terms.dragged else QUADRATIC)
        self.watched = [k for k in relations(self.m, ORDER) if k not in self.kept]
        self.calls = iter(range(min(MOST, MOST_PHASES // len(self.phases))))
        self.lasted = set(self.kept)
        span = float(self.edges[-1] - self.edges[0])
        self.tick = SMALL * span
        self.size = SMALL * span * float(np.abs(terms.v).max())
        begin = float(self.edges[0])
        here = _parted(terms.at(begin, terms.q, self.slow), self.slow, terms.v - self.slow)
        self.modes = here.modes
        self.amplitudes = (here.modes.T @ here.mass @ (terms.v - self.slow)) / np.sqrt(2 * here.frequencies)

    def run(self) -> Effective:
        """Return the motion at the edges."""
        n, m = self.n, self.m
        start = np.concatenate([self.terms.q, self.slow, self.amplitudes, np.zeros(m)])
        rows, forces, edges = [], [], iter(self.edges)
        edge = next(edges)
        for t, dense in self._steps(start):
            while edge is not None and edge <= t:
                y = dense(edge)
                here = self._at(edge, y)
                rows.append(np.concatenate([y[: 2 * n], np.abs(_amplitudes(y, m)) ** 2]))
                forces.append(self._forces(here, edge, y)[2])
                edge = next(edges, None)
        found = np.array(rows)
        return Effective(
            self.edges[: len(rows)],
            found[:, :n],
            found[:, n : 2 * n],
            np.array(forces),
            found[:, 2 * n :],
            self._told(),
        )

    def _steps(self, start: Array) -> Any:
        """Yield the ends of steps with what interpolates them; a step in which modes turn too far is made again."""
        from scipy.integrate import DOP853

        # Differences in what couples oscillations leave some 1e-10 of noise.
        tol = {"rtol": 1e-8, "atol": 1e-10} if self.kept else {"rtol": 1e-10, "atol": 1e-12}
        end = float(self.edges[-1])
        solver = DOP853(self._slope, float(self.edges[0]), start, end, **tol)
        before = self._at(solver.t, start)
        yield solver.t, lambda _: start
        while solver.status == "running":
            solver.step()
            if solver.status == "failed":
                return
            dense, now = solver.dense_output(), self._at(solver.t, solver.y)
            if not self._followed(before, now, solver, dense):
                shorter = abs(solver.t - solver.t_old) / 4
                solver = DOP853(self._slope, solver.t_old, solver.y_old, end, first_step=shorter, **tol)
                continue
            yield solver.t, dense
            self.modes, before = now.modes, now
            self.lasted &= set(lasting(now, self.kept))

    def _followed(self, before: Local, now: Local, solver: Any, dense: Any) -> bool:
        """Say whether modes were followed over a step, and note the resonances that were passed in it."""
        length = np.einsum("ai,ab,bi->i", self.modes, now.mass, self.modes)
        overlap = np.einsum("ai,ab,bi->i", self.modes, now.mass, now.modes) ** 2 / length
        if overlap.min() < FOLLOWED and solver.t - solver.t_old > SAME**2 * self.tick:
            return False
        actions = np.abs(_amplitudes(solver.y, self.m)) ** 2
        for k in self.watched:
            old, new = float(np.dot(k, before.frequencies)), float(np.dot(k, now.frequencies))
            if not exchanges(k, actions):
                continue
            fastest = float(now.frequencies.max())
            if abs(new) < NEAR * fastest:
                self.near.add(k)
            if max(abs(old), abs(new)) < SAME * fastest:
                self.stayed.add(k)
            elif old * new < 0 or new == 0:
                if sum(map(abs, k)) == 2 and not self._meet(k, solver, dense):
                    return False
                self.passed.setdefault(k, self._passage(k, solver, dense))
        return True

    def _meet(self, k: Relation, solver: Any, dense: Any) -> bool:
        """Say whether two frequencies meet in a step, rather than turn away from each other in a narrow place."""
        t = self._instant(k, solver, dense)
        here = self._at(t, dense(t))
        return abs(float(np.dot(k, here.frequencies))) < 10 * SAME * float(here.frequencies.max())

    def _instant(self, k: Relation, solver: Any, dense: Any) -> float:
        """Return where k . w changes its sign in a step, by bisection."""
        low, high = float(solver.t_old), float(solver.t)
        sign = np.dot(k, self._at(low, dense(low)).frequencies) > 0
        for _ in range(45):
            middle = 0.5 * (low + high)
            if (np.dot(k, self._at(middle, dense(middle)).frequencies) > 0) == sign:
                low = middle
            else:
                high = middle
        return high

    def _passage(self, k: Relation, solver: Any, dense: Any) -> tuple[float, bool]:
        t = self._instant(k, solver, dense)
        if sum(map(abs, k)) > 2:
            return t, False
        # Next to the instant the modes are known; on it any two of them would do.
        beside = t - 1e-4 * (t - solver.t_old)
        here = self._at(beside, dense(beside))
        i, j = np.flatnonzero(k)
        apart = np.abs(here.along[:, i, i] - here.along[:, j, j]).max()
        return t, bool(np.abs(here.along[:, i, j]).max() > CONE * apart)

    def _at(self, t: float, y: Array) -> Local:
        """Return everything at a state, with modes in the order of those before."""
        n = self.n
        return self.terms.at(t, y[:n], y[n : 2 * n]).like(self.modes, self.groups)

    def _slope(self, t: float, y: Array) -> Array:
        if next(self.calls, None) is None:
            raise _TooLong
        here = self._at(t, y)
        acceleration, change, _ = self._forces(here, t, y)
        return np.concatenate([y[self.n : 2 * self.n], acceleration, change.real, change.imag])

    def _forces(self, here: Local, t: float, y: Array) -> tuple[Array, Amplitudes, Array]:
        """Return the slow acceleration, the change of the amplitudes, and the extra force along the manifold."""
        amplitudes = _amplitudes(y, self.m)
        extra = -(np.abs(amplitudes) ** 2 @ here.slopes)
        change = np.zeros(self.m, dtype=complex)
        if (self.terms.dragged or self.kept) and amplitudes.any():
            mean, change = self._averages(here, t, y[: self.n], y[self.n : 2 * self.n], amplitudes)
            extra = extra + mean
        carried = np.linalg.solve(here.mass, here.rows.T)
        free = np.linalg.solve(here.mass, here.force + extra)
        inner = np.linalg.pinv(here.rows @ carried, rcond=1e-11)
        acceleration = free + carried @ (inner @ (here.bias - here.rows @ free))
        along = extra - here.rows.T @ (inner @ (carried.T @ extra))
        return acceleration, change, along

    def _averages(self, here: Local, t: float, q: Array, v: Array, amplitudes: Amplitudes) -> tuple[Array, Amplitudes]:
        """Return the mean over the phases of forces that depend on the velocity, and the change of the amplitudes."""
        terms, w = self.terms, here.frequencies
        still = terms.unlagrangian(t, q, v)
        turning = self._turning(here, t, q, v) if self.kept else None
        distance = self._distance(here, np.abs(amplitudes) * np.sqrt(2 / w)) if self.kept else 0.0
        mean, change = np.zeros(self.n), np.zeros(self.m, dtype=complex)
        for angles in self.phases:
            now = amplitudes * np.exp(1j * angles)
            u, y = np.sqrt(2 * w) * now.real, np.sqrt(2 / w) * now.imag
            force = terms.unlagrangian(t, q, v + here.modes @ u) - still if terms.dragged else np.zeros(self.n)
            if turning is None:
                push = here.modes.T @ force
            else:
                push = terms.push(here, t, q, v, y, u, distance) - 2 * turning @ u
            mean += force / len(self.phases)
            change += np.exp(-1j * angles) * push / np.sqrt(2 * w) / len(self.phases)
        return mean, change

    def _distance(self, here: Local, reach: Array) -> float:
        """Return the part of the oscillations' reach (m,) at which their push is asked: little of what changes them."""
        steep = np.abs(np.einsum("kij,kl->ijl", here.bends, here.modes)).max() / here.frequencies.min() ** 2
        return float(min(self.size / np.abs(here.modes @ reach).max(), SMALL / max(steep * reach.max(), 1e-300)))

    def _turning(self, here: Local, t: float, q: Array, v: Array) -> Array:
        """Return e_i^T M de_j/dt (m, m): how the modes turn along the slow motion."""
        h, change = self.tick, np.zeros_like(here.modes)
        for times, factor in STENCIL:
            s = times * h
            change += factor / h * self.terms.at(t + s, q + s * v, v).like(here.modes, self.groups).modes
        return np.asarray(here.modes.T @ here.mass @ change)

    def _told(self) -> tuple[str, ...]:
        """Return what is met of resonances, in words."""
        lowest = sorted(self.kept, key=lambda k: sum(map(abs, k)))[:3]
        words = [f"{', '.join(map(told, lowest))} all along, where the sum of J_i omega_i stays"] if lowest else []
        for k, (t, cone) in self.passed.items():
            tail = ", past which starts beside this one go on differently" if cone else ""
            words.append(f"{told(k)} in passing at t = {t:.6g}, which leaves an error of order -1/4{tail}")
        alone = "along this motion but not beside it, which leaves an error of order -1/8"
        words += [f"{told(k)} {alone}" for k in sorted(self.stayed)]
        rest = sorted(self.near - set(self.passed) - self.stayed)
        words += [f"{told(k)} nearly, within {NEAR:.0%}, so that convergence begins late" for k in rest]
        return tuple(words)


def _amplitudes(y: Array, m: int) -> Amplitudes:
    return y[-2 * m : -m] + 1j * y[-m:]


def _parted(here: Local, slow: Array, across: Array) -> Local:
    """Return the same with modes of one frequency chosen such that it parts smoothly along the motion.

    That goes on along its velocity, or from rest as all forces push it, those of the oscillation that starts with the
    velocity `across` among them.
    """
    w = here.frequencies
    same = np.abs(w[:, None] - w) <= SAME * w
    direction = slow
    if not slow.any():
        shares = here.modes.T @ here.mass @ across / (2 * w)
        extra = -np.einsum("kij,ij->k", here.bends, same * np.outer(shares, shares))
        direction = tangential(here.mass, here.rows) @ np.linalg.solve(here.mass, here.force + extra)
    along, turn = np.einsum("kij,k->ij", here.bends, direction), np.eye(len(w))
    for block in np.unique(same, axis=0):
        places = np.ix_(block, block)
        turn[places] = np.linalg.eigh((along[places] + along[places].T) / 2)[1]
    return here.turned(turn, w)
