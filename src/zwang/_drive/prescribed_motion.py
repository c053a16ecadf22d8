"""The motion that `drive` is given: positions, velocities and accelerations of every coordinate at an instant.

Coordinates that are not prescribed follow from the bilateral constraints. Where these close in several ways, the first
instant is assembled near `start`, and every later one near where the last one was going. At a *dead centre* the rows of
the coordinates that follow lose rank, as they do nowhere near: these coordinates are then not determined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.core.relational import Relational

from zwang._compile import Model
from zwang._compile.given_inputs import driven
from zwang._compile.given_values import resolve
from zwang._compile.states import gap_shares, turning
from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.declaration_reader import Reader
from zwang._declare.given import Text, as_expression
from zwang._declare.symbols import Coordinate, Input, Velocity
from zwang._declare.symbols import t as time
from zwang._expressions import to_text
from zwang._numerics.tolerances import by_name, instants, name_of, real
from zwang._reactions.holding import hold
from zwang._results.folds import PathStatus, SurfacePath
from zwang._results.motion import Motion
from zwang._results.signals import Table
from zwang.errors import DeclarationError, StateError, nearest

Array = NDArray[np.float64]
INSTANTS = 201  # of a course whose times are not given
LOOKS = 2001  # places at which it is looked whether an expression goes over from one part to another
ASTRIDE = 1e-9
"""Part of the time by which both sides of such an instant are looked at."""
NEARBY = 2e-4
"""Part of a Motion between places at which its velocities are looked at."""
GUESSES = 20  # random places from which an assembly is looked for
DEAD = 1e-5
"""Least singular value of the unit rows below which they leave a direction undetermined: where it vanishes, positions
that close to 1e-13 are known to the root of that."""
ASIDE = 1e-2
"""Part of its size by which a prescribed coordinate is moved to see whether a lost rank comes back."""
SAME = 1e-6
"""Part of their size by which two configurations may differ and be one."""
ROUGHLY = 1e-3
"""The same at a dead centre, where a configuration is known to the root of what its constraints stay open by."""
CLOSED = 1e-9
"""Part of the size of their terms by which constraints may stay open."""


class MotionPoint(NamedTuple):
    """Time, positions, velocities and accelerations; the coordinates that a dead centre leaves undetermined."""

    t: float
    q: Array
    v: Array
    a: Array
    dead: tuple[str, ...] = ()


class PrescribedMotion:
    """A motion given by some of its coordinates, by a Motion, or by a path on a surface, along which it runs evenly."""

    def __init__(
        self,
        model: Model,
        motion: Any,
        params: Mapping[Any, Any] | None,
        times: Any,
        start: Mapping[Any, Any] | None = None,
    ) -> None:
        self.system, self.params = model.system, params or {}
        self.motion = motion if isinstance(motion, Motion) else None
        name = self.system.name
        self.names = [item.name for item in self.system.coordinates]
        self.given: dict[str, Any] = {}
        self.switching: dict[str, list[Any]] = {}
        spans: list[tuple[float, float]] = []
        self.path = _path(name, motion, self.names) if isinstance(motion, SurfacePath) else None
        if self.motion is not None:
            spans.append((float(motion.t[0]), float(motion.t[-1])))
        elif self.path is not None:
            spans.append((0.0, motion.length))
        elif isinstance(motion, Mapping):
            for key, value in motion.items():
                label = name_of(key)
                if label not in self.names:
                    raise DeclarationError(f"{name}: drive: '{label}' is no coordinate. {nearest(label, self.names)}")
                self.given[label] = self._function(label, value)
                if isinstance(value, Table):
                    spans.append((float(value.times[0]), float(value.times[-1])))
        else:
            raise DeclarationError(
                f"{name}: drive needs a mapping of coordinates, a Motion, or a path on a surface; it was "
                f"{motion!r:.60}."
            )
        if times is None and not spans:
            raise DeclarationError(f"{name}: drive: expressions have no end of their own. Give times=.")
        if times is None:
            times = np.linspace(max(s[0] for s in spans), min(s[1] for s in spans), INSTANTS)
        self.times = np.atleast_1d(instants(times, name))
        if self.times.ndim != 1 or not len(self.times) or not np.isfinite(self.times).all():
            raise DeclarationError(f"{name}: times= must be finite instants in one row; it was given {times!r:.60}.")
        self._require_smooth()
        self.start = self._start(start)
        zero = driven(self.system, dict.fromkeys((item.name for item in self.system.inputs), 0.0))
        self.model, self.values = model.another(zero.system), {**self.params, **zero.values_at({})}
        self.held = [str(item.name) for item in self.system.constraints if isinstance(item, Bilateral)]
        if self.path is not None and not (self.times.min() >= 0 and self.times.max() <= motion.length):
            raise DeclarationError(
                f"{name}: drive: times= on a path are lengths along it, from 0 to {motion.length:.6g}; they go from "
                f"{self.times.min():.6g} to {self.times.max():.6g}."
            )
        self.last: MotionPoint | None = None
        self.assemblies: list[Array] = []
        self.assembled = float(self.times[0])

    @property
    def free(self) -> list[str]:
        """The coordinates that follow from the constraints."""
        return [name for name in self.names if name not in self.given]

    @property
    def note(self) -> str:
        """What is to be said of the assembly that was taken, empty where it is the only one that was found."""
        if len(self.assemblies) < 2 or self.start:
            return ""
        told = ", ".join(f"{name} = {self.assemblies[0][self.names.index(name)]:.4g}" for name in self.free[:3])
        return (
            f"The constraints close in {len(self.assemblies)} ways at t = {self.assembled:.6g}; this is the one with "
            f"{told}. start= chooses another."
        )

    def _start(self, start: Mapping[Any, Any] | None) -> dict[str, float]:
        where = f"{self.system.name}: drive"
        known = [*self.names, *(item.name for item in self.system.velocities), "t", "on"]
        found = by_name(start, "start=", known, where=where, no="which is no coordinate", form="coordinates to numbers")
        where = f"{where}: start"
        return {label: real(found[label], label, where=where) for label in self.names if label in found}

    def _function(self, label: str, value: Any) -> Any:
        """Return (q, v, a) of time."""
        where = f"{self.system.name}: drive: '{label}'"
        if isinstance(value, Table):
            if value.kind != "cubic":
                raise DeclarationError(f"{where} needs two derivatives: a table of kind='cubic', not '{value.kind}'.")
            from scipy.interpolate import CubicSpline

            spline = CubicSpline(value.times, value.values)

            def along(at: float) -> tuple[float, float, float]:
                value.require(at, at, where)
                return float(spline(at)), float(spline(at, 1)), float(spline(at, 2))

            return along
        expr = as_expression(value, where)
        if isinstance(expr, Text):
            expr = Reader(self.system.name, self.system.coordinates, list(self.system.expressions().values()))(
                expr, label
            )
        if expr.has(Coordinate, Velocity, Input):
            raise DeclarationError(f"{where} must be an expression of t and parameters; it is {expr}.")
        numbers = {
            symbol: sp.Float(next((v for k, v in self.params.items() if str(k) == symbol.name), sp.nan))
            for symbol in expr.free_symbols
            if symbol != time
        }
        expr = expr.xreplace(numbers)
        if expr.has(sp.nan):
            raise DeclarationError(f"{where} has a parameter without a value in params.")
        to_text(expr, where=where)  # says what is no expression here
        written = expr.rewrite(sp.Piecewise)  # abs, sign, max and their like too, whose derivatives have impulses else
        parts = [sp.lambdify(time, sp.diff(written, time, k), "numpy") for k in range(3)]
        self.switching[label] = [sp.lambdify(time, one.lhs - one.rhs, "numpy") for one in written.atoms(Relational)]
        return lambda at: tuple(float(part(at)) for part in parts)

    def _require_smooth(self) -> None:
        """Refuse an expression whose value or rate jumps between the instants: no finite force makes that."""
        first, last = float(self.times.min()), float(self.times.max())
        grid = np.union1d(np.linspace(first, last, LOOKS), self.times)
        for label, switching in self.switching.items():
            for switch in switching:
                values = np.array([float(switch(at)) for at in grid])
                for k in np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) <= 0):
                    self._require_continuous(label, switch, float(grid[k]), float(grid[k + 1]))

    def _require_continuous(self, label: str, switch: Any, a: float, b: float) -> None:
        sign = np.sign(switch(a))
        while (middle := (a + b) / 2) not in (a, b):
            a, b = (middle, b) if np.sign(switch(middle)) == sign else (a, middle)
        along = self.given[label]
        aside = ASTRIDE * (float(np.ptp(self.times)) or 1.0)
        if not self.times.min() <= a - aside < b + aside <= self.times.max():
            return
        before, after = along(a - aside), along(b + aside)
        for jumps, k in (("the value", 0), ("the rate", 1)):
            smooth = 2 * aside * (abs(before[k + 1]) + abs(after[k + 1]))
            if abs(after[k] - before[k]) > 10 * smooth + 1e-12 * (abs(before[k]) + abs(after[k])):
                raise DeclarationError(
                    f"{self.system.name}: drive: '{label}' needs two derivatives, and {jumps} jumps from "
                    f"{before[k]:.6g} to {after[k]:.6g} at t = {a:.6g}. Round the corner, or give a cubic table."
                )

    def at(self, instant: float) -> MotionPoint:
        """Return the motion at an instant, its dependent coordinates found."""
        if self.motion is not None:
            state = self.motion.at(instant)
            q = np.array([state[item.name] for item in self.system.coordinates])
            v = np.array([state[item.name] for item in self.system.velocities])
            return MotionPoint(instant, q, v, self._slopes(instant))
        if self.path is not None:
            return self._along_path(instant)
        found = self._completed(instant, {name: along(instant) for name, along in self.given.items()})
        if not found.dead:
            self.last = found
        return found

    def _along_path(self, instant: float) -> MotionPoint:
        """Return the motion at a length along a path, what its spline misses of the constraints made good."""
        assert self.path is not None
        place = {name: tuple(along(instant)) for name, along in self.path.items()}
        state = {name: place[name][0] for name in self.names} | {f"v_{name}": place[name][1] for name in self.names}
        state |= {"t": instant}
        if self.held:
            state = {key: float(value) for key, value in hold(self.model, state, self.values, self.held).items()}
        self.model.check(state, self.values, tol=1e-8)
        a = np.array([place[name][2] for name in self.names])
        if self.held:
            rows, gamma, _ = self._rows(state)
            a = a + np.linalg.lstsq(rows, gamma - rows @ a, rcond=None)[0]
        q, v = (np.array([state[f"{mark}{name}"] for name in self.names]) for mark in ("", "v_"))
        return MotionPoint(instant, q, v, a)

    def _slopes(self, instant: float) -> Array:
        """Return the accelerations of a Motion: of the parabola of fourth degree through its velocities nearby."""
        assert self.motion is not None
        first, last = float(self.motion.t[0]), float(self.motion.t[-1])
        h = NEARBY * (last - first)
        middle = min(max(instant, first + 2 * h), last - 2 * h)
        places = middle + h * np.arange(-2, 3)
        states = self.motion.at(places)
        speeds = np.stack([states[item.name] for item in self.system.velocities])
        fitted = np.polynomial.polynomial.polyfit((places - instant) / h, speeds.T, 4)
        return np.asarray(fitted[1] / h)

    def _completed(self, instant: float, known: Mapping[str, Any]) -> MotionPoint:
        """Return the motion with the coordinates that follow from the constraints."""
        state = self._closed(instant, known)
        q = np.array([state[name] for name in self.names])
        v = np.array([state[f"v_{name}"] for name in self.names])
        a = np.array([known[name][2] if name in known else 0.0 for name in self.names])
        if not self.free:
            self.model.check(state, self.values, tol=1e-8)
            return MotionPoint(instant, q, v, a)
        loose = self._loose(state)
        if loose:
            if not self._comes_back(state, known, instant):
                raise DeclarationError(
                    f"{self.system.name}: drive: the motion leaves {', '.join(map(repr, loose))} free. "
                    "Prescribe it too."
                )
            return MotionPoint(instant, q, np.full_like(v, np.nan), np.full_like(a, np.nan), loose)
        self.model.check(state, self.values, tol=1e-8)
        rows, gamma, places = self._rows(state)
        a[places] = np.linalg.lstsq(rows[:, places], gamma - rows @ a, rcond=None)[0]
        return MotionPoint(instant, q, v, a)

    def _closed(self, instant: float, known: Mapping[str, Any]) -> dict[str, float]:
        """Return a state on the constraints: near where the motion was going, or the first of all assemblies found."""
        if self.last is not None or not self.free:
            state = self._held(instant, known, self._ahead(instant))
            if self.free and self._off(state) > CLOSED:
                self._refuse(instant, known, state)
            return state
        source = np.random.default_rng(0)
        size = max([1e-300, *(abs(value[0]) for value in known.values())])
        numbers = [abs(float(value)) for value in self.values.values() if np.ndim(value) == 0]
        sizes = [item for item in {size, *numbers} if item > 0] or [1.0]
        found: list[tuple[Array, dict[str, float]]] = []
        state = {}
        for guess in range(1 if self.start and len(self.start) >= len(self.free) else GUESSES):
            place = (
                source.normal(size=len(self.names)) * sizes[guess % len(sizes)] if guess else np.zeros(len(self.names))
            )
            for i, item in enumerate(self.system.coordinates):
                if guess and item.angle:
                    place[i] = source.uniform(-np.pi, np.pi)
                place[i] = self.start.get(item.name, place[i])
            state = self._held(instant, known, place)
            q = np.array([state[name] for name in self.names])
            same = ROUGHLY if self._loose(state) else SAME
            if self._off(state) <= CLOSED and not any(self._apart(q, one) <= same for one, _ in found):
                found.append((q, state))
        if not found:
            self._refuse(instant, known, state)
        if self.start:
            near = np.array([self.start.get(name, np.nan) for name in self.names])
            found.sort(key=lambda one: self._apart(one[0], near))
        self.assemblies = [q for q, _ in found]
        self.assembled = instant
        return found[0][1]

    def _refuse(self, instant: float, known: Mapping[str, Any], state: Mapping[str, float]) -> None:
        told = ", ".join(f"{name} = {value[0]:.6g}" for name, value in known.items())
        raise StateError(
            f"{self.system.name}: drive: at t = {instant:.6g} no configuration was found that closes the constraints "
            f"with {told}; they stay open by {self._off(state):.1e} of the size of their terms. Prescribe a motion "
            "within reach, or give start=."
        )

    def _ahead(self, instant: float) -> Array:
        """Return where the motion was going at the last instant: through a dead centre it goes on."""
        if self.last is None:
            return np.zeros(len(self.names))
        step = instant - self.last.t
        return np.asarray(self.last.q + self.last.v * step + self.last.a * step**2 / 2)

    def _held(self, instant: float, known: Mapping[str, Any], place: Array) -> dict[str, float]:
        state = {name: known[name][0] if name in known else float(place[i]) for i, name in enumerate(self.names)}
        state |= {f"v_{name}": known[name][1] if name in known else 0.0 for name in self.names} | {"t": instant}
        if not (self.free and self.held):
            return state
        found = hold(self.model, state, self.values, self.held, fixed=[*known, *(f"v_{name}" for name in known)])
        return {name: float(value) for name, value in found.items()}

    def _off(self, state: Mapping[str, float]) -> float:
        """Return by how much bilateral constraints on positions are open, relative to the size of their terms."""
        at = resolve(self.model.system, state, self.values)
        terms = self.model.terms(state, self.values)
        relations = [item for item in self.system.constraints if not isinstance(item, Friction)]
        chosen = [k for k, item in enumerate(relations) if isinstance(item, Bilateral) and item.level == "position"]
        return float(gap_shares(self.model.kernels, at, terms, turning(self.system), chosen, CLOSED)[0])

    def _apart(self, first: Array, second: Array) -> float:
        """Return how far two configurations are apart, angles on their circles; what is nan is not compared."""
        gap, turns = first - second, turning(self.system)
        gap = np.where(turns, gap - 2 * np.pi * np.round(gap / (2 * np.pi)), gap)
        length = float(np.nanmax(np.abs([first[~turns], second[~turns]]), initial=0.0))
        return float(np.nanmax(np.abs(gap / np.where(turns, 1.0, length or 1.0)), initial=0.0))

    def _rows(self, state: Mapping[str, float]) -> tuple[Array, Array, list[int]]:
        """Return the rows and right sides of the bilateral constraints, and the places of what follows from them."""
        _, rows, _, gamma = self.model.terms(state, self.values).at(0)
        relations = [item for item in self.system.constraints if not isinstance(item, Friction)]
        chosen = [k for k, item in enumerate(relations) if isinstance(item, Bilateral)]
        return rows[chosen], gamma[chosen], [self.names.index(name) for name in self.free]

    def _loose(self, state: Mapping[str, float]) -> tuple[str, ...]:
        """Return the coordinates that the rows leave undetermined."""
        rows, _, places = self._rows(state)
        if not len(rows):
            return tuple(self.free)
        turns = turning(self.system)
        length = max((abs(state[name]) for name, turn in zip(self.names, turns, strict=True) if not turn), default=0.0)
        rows = rows * np.where(turns, 1.0, length or 1.0)
        lengths = np.linalg.norm(rows, axis=1)
        matrix = (rows / np.where(lengths > 0, lengths, 1.0)[:, None])[:, places]
        _, sizes, right = np.linalg.svd(matrix)
        rank = int(np.count_nonzero(sizes > DEAD))
        return tuple(sorted({self.free[int(np.argmax(np.abs(row)))] for row in right[rank:]}))

    def _comes_back(self, state: Mapping[str, float], known: Mapping[str, Any], instant: float) -> bool:
        """Return whether the rank that is lost here is there nearby: a dead centre, no freedom."""
        place = np.array([state[name] for name in self.names])
        for side in (1.0, -1.0):
            moved = {
                name: (value[0] + side * ASIDE * (abs(value[0]) or 1.0), *value[1:]) for name, value in known.items()
            }
            source = np.random.default_rng(1)
            beside = self._held(instant, moved, place + ASIDE * source.normal(size=len(place)))
            if self._off(beside) <= CLOSED and not self._loose(beside):
                return True
        return False


def _path(system: str, path: SurfacePath, names: list[str]) -> dict[str, Any]:
    """Return coordinate -> function of the length along a path, with two derivatives."""
    if path.status is not PathStatus.FOUND:
        raise DeclarationError(f"{system}: drive needs a path that was found; this one is {path.status.name}.")
    missing = [name for name in names if name not in path.coordinates]
    if missing:
        raise DeclarationError(
            f"{system}: drive: the path has no coordinate '{missing[0]}'. {nearest(missing[0], path.coordinates)}"
        )
    spline = path.spline()
    places = {name: path.coordinates.index(name) for name in names}
    return {
        name: lambda at, k=k: (float(spline(at)[k]), float(spline(at, 1)[k]), float(spline(at, 2)[k]))
        for name, k in places.items()
    }
