"""Points of a configuration space from many starts, and what they say: units, rank, dimension."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._numerics.budget import spend
from zwang._numerics.curves.rows import ScaledSet
from zwang._numerics.curves.starts import project_many, singular_many
from zwang._numerics.jit import with_functions
from zwang._numerics.pacing import Pace
from zwang._numerics.tolerances import THRESHOLDS, real
from zwang._trace.equations import SpaceEquations, SpacePlace, SparseFunction
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]
RANK = THRESHOLDS.sampled
ON = 1e-10  # residual of a point on the curve, scaled
FAR = 3.0  # times the region, where coordinates are unbounded
TURN = 2 * np.pi


@dataclass(frozen=True, eq=False)
class Region:
    """Where to search, in the declared coordinates: `low` and `high`; `cut` where a box was given, else far away."""

    low: Array
    high: Array
    boxed: NDArray[np.bool_]
    box: Mapping[str, tuple[float, float]]

    def limits(self, scale: Array) -> Array:
        """Return the bounds at which arcs end, in x = q/scale; turning angles have none."""
        room = np.where(self.boxed, 0.0, (FAR - 1) / 2 * (self.high - self.low))
        return np.array([self.low - room, self.high + room]) / scale

    def wider(self, times: float, angles: Any) -> Region:
        """Return the region that many times as wide in the coordinates that have no box and are no angles."""
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        grown = np.where(self.boxed | np.asarray(angles), half, times * half)
        return Region(middle - grown, middle + grown, self.boxed, self.box)

    def holds(self, q: Array, angles: Any) -> NDArray[np.bool_]:
        """Say which rows of q lie in the box; angles count modulo a turn."""
        low, high = self.low, self.high
        shifted = self.shifted(q, angles)
        slack = 1e-12 * np.maximum(np.abs(low), np.abs(high))
        inside = (shifted >= low - slack) & (shifted <= high + slack)
        return np.asarray((inside | ~self.boxed).all(axis=-1))

    def shifted(self, q: Array, angles: Any) -> Array:
        """Return q with its angles brought into the box by full turns, or to within half a turn of zero."""
        # A hair below the lower bound is the bound; without one, half a turn is written with its positive sign.
        turns = np.where(self.boxed, np.floor((q - self.low + 1e-12) / TURN), np.ceil((q - np.pi - 1e-9) / TURN))
        return np.asarray(np.where(angles, q - TURN * turns, q))


def region_of(equations: SpaceEquations, params: Array, box: Mapping[Any, Any] | None) -> tuple[Region, Array]:
    """Return the region to search and the units of the coordinates."""
    system = equations.system
    used = {symbol for item in (*equations.held, *equations.gaps) for symbol in item.expr.free_symbols}
    values = [abs(value) for symbol, value in zip(system.parameters, params, strict=True) if symbol in used and value]
    numbers = [
        abs(float(atom)) for item in equations.held for atom in item.expr.atoms(sp.Number) if atom.is_finite and atom
    ]
    unit = max(values) if values else 1.0
    # Lengths may occur several times over, as the pivots of a row of equal bars do.
    times = min(max([1.0, *numbers]), 1000.0)
    wide = sum(values) * times if values else max(5.0, 3 * times)
    length = 0.0 if values else _written_length(equations, params)
    if length > 1.0:  # lengths are written as numbers
        unit, wide = length, min(wide, max(5.0, 4 * length))
    n = equations.n
    low = np.where(equations.angles, -np.pi, -wide)
    high = np.where(equations.angles, np.pi, wide)
    boxed = np.zeros(n, dtype=bool)
    given: dict[str, tuple[float, float]] = {}
    if box is not None and not isinstance(box, Mapping):
        example = f"{{'{equations.names[0]}': (-1, 1)}}"
        raise DeclarationError(
            f"{system.name}: box= must map coordinates to (low, high), as in {example}; it was given {box!r:.60}."
        )
    for key, pair in (box or {}).items():
        name = key if isinstance(key, str) else getattr(key, "name", str(key))
        if name not in equations.names:
            raise DeclarationError(
                f"{system.name}: box= has '{name}', which is no coordinate. {nearest(name, equations.names)}"
            )
        a, b = _pair(system.name, name, pair)
        place = equations.names.index(name)
        given[name] = (a, b)
        if equations.angles[place] and b - a >= TURN * (1 - 1e-12):
            continue  # all the way round: nothing is cut
        low[place], high[place], boxed[place] = a, b, True
    scale = np.where(equations.angles, 1.0, unit)
    scale = np.where(boxed & ~equations.angles, np.minimum(scale, high - low), scale)
    sides = (high - low)[boxed & ~equations.angles]
    if len(sides) and not values:
        scale = np.where(equations.angles, 1.0, max(min(1.0, float(sides.max())), 1e-12))
    return Region(low, high, boxed, given), scale


def _written_length(equations: SpaceEquations, params: Array) -> float:
    """Return a length from the numbers in the equations: where their highest powers balance what they are at zero."""
    made = SparseFunction.of(equations.dialect, equations.program, equations.nodes[: equations.m])
    source, found = np.random.default_rng(0), [0.0]
    at_zero = np.abs(made.run(0.0, np.zeros(equations.n), params))
    for _ in range(3):
        u = np.where(equations.angles, 0.0, 1e6 * source.normal(size=equations.n))
        once, twice = np.abs(made.run(0.0, u, params)), np.abs(made.run(0.0, 2 * u, params))
        with np.errstate(all="ignore"):
            degree = np.log2(twice / once)
            lengths = 1e6 * (at_zero / once) ** (1.0 / np.round(degree))
        plain = np.isfinite(lengths) & (np.abs(degree - np.round(degree)) < 1e-2) & (degree > 0.5)
        found.append(float(lengths[plain].max(initial=0.0)))
    return float(np.median(found[1:]))


def _pair(system: str, name: str, pair: Any) -> tuple[float, float]:
    try:
        first, second = pair
    except (TypeError, ValueError):
        raise DeclarationError(f"{system}: box= needs (low, high) for '{name}'; it was given {pair!r:.60}.") from None
    a, b = (real(value, f"box[{name!r}]", where=system) for value in (first, second))
    if not a < b:
        raise DeclarationError(f"{system}: box= for '{name}' needs finite low < high; it was given ({a:g}, {b:g}).")
    return a, b


def starts_in(region: Region, angles: Any, count: int, source: np.random.Generator) -> Array:
    """Return random places in the region: half of them spread evenly, half nearer to its middle."""
    n = len(region.low)
    u = source.uniform(-1, 1, size=(count, n))
    shrink = 10.0 ** (-2 * source.uniform(size=(count, 1)))
    nearer = np.arange(count)[:, None] % 2 == 1
    u = np.where(nearer & ~np.asarray(angles) & ~region.boxed, u * shrink, u)
    return np.asarray((region.low + region.high) / 2 + u * (region.high - region.low) / 2)


def placed(equations: SpaceEquations, params: Array, t: float, scale: Array, starts: Array) -> SpacePlace:
    """Return the place with weights such that gradients of the equations are of size one at typical points."""
    plain = SpacePlace(equations, params, t, scale, np.ones(equations.m))
    sizes = []
    for start in starts[:40]:
        _, rows = plain.values(start)
        if np.isfinite(rows).all():
            sizes.append(np.linalg.norm(rows, axis=1))
    weights = np.median(sizes, axis=0) if sizes else np.ones(equations.m)
    return SpacePlace(equations, params, t, scale, np.where(weights > 0, weights, 1.0))


@dataclass(frozen=True, eq=False)
class Sample:
    """Points of the set: positions (k, n) in x, singular values (k, m) and how well they satisfy the equations."""

    x: Array
    values: Array
    settled: NDArray[np.bool_]


class Solver:
    """The compiled loops for one place; `mix` are the combinations of equations that are solved."""

    def __init__(self, place: SpacePlace) -> None:
        self.place = place
        self.equations = place.equations
        e = self.equations
        self.sizes = np.array([e.n, e.m, e.g], dtype=np.int64)
        self.curved_sizes = np.array([e.n, e.m, 0], dtype=np.int64)
        self.every = np.diag(1.0 / place.weights)
        self.mix = self.every
        self.rank = min(e.n, e.m)
        self.periods = np.where(e.angles, TURN / place.scale, 0.0)
        self.work = place.workspace(e.plain, "plain")

    @property
    def given(self) -> ScaledSet:
        """The equations as the compiled loops take them."""
        place = self.place
        return ScaledSet(place.t, self.sizes, place.scale, self.mix, place.params, self.work)

    def randomized(self, rank: int, source: np.random.Generator) -> None:
        """Solve as many combinations of the equations as there are independent ones on the set."""
        self.rank = rank
        if rank < self.equations.m:
            turn = np.linalg.qr(source.normal(size=(self.equations.m, self.equations.m)))[0][:rank]
            self.mix = np.ascontiguousarray(turn @ self.every)

    def project(self, x: Array, most: int = 80, *, every: bool = False) -> Sample:
        """Move points (k, n), in x, to the set."""
        x = np.ascontiguousarray(x, dtype=float).copy()
        mix = self.every if every else self.mix
        values, report = np.zeros((len(x), len(mix))), np.empty((len(x), 2))
        given = self.given._replace(mix=np.ascontiguousarray(mix))
        loop = with_functions(project_many, *self.equations.plain.calls)

        def work(rows: slice) -> None:
            loop(given, x[rows], most, values[rows], report[rows])

        _in_portions(len(x), work)
        found = (report[:, 1] <= ON) & np.isfinite(x).all(axis=1)
        return Sample(x[found], values[found], report[found, 0] <= 1e-10)

    def singular(self, x: Array, most: int = 60) -> tuple[Array, Array, Array]:
        """Move points to where the rank drops; return positions, last steps and residuals."""
        curved = self.equations.curved
        x = np.ascontiguousarray(x, dtype=float).copy()
        u, report = np.zeros((len(x), len(self.mix))), np.empty((len(x), 2))
        given = self.given._replace(sizes=self.curved_sizes, work=self.place.workspace(curved, "curved"))
        loop = with_functions(singular_many, *curved.calls)

        def solve(rows: slice) -> None:
            loop(given, x[rows], u[rows], most, report[rows])

        _in_portions(len(x), solve)
        return x, report[:, 0], report[:, 1]


def _in_portions(count: int, work: Callable[[slice], None]) -> None:
    """Do rows that don't depend on each other, some at a time, so that budget and Ctrl-C are looked at in between."""
    spend(count)
    pace: Pace[int] = Pace(8)
    done = 0

    def portion(size: int) -> tuple[int, int]:
        work(slice(done, done + size))
        return size, size

    while done < count:
        done += pace.go(portion, count - done)
        spend()
