"""Points of a configuration space from many starts, and what they say: units, rank, dimension."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from zwang._numerics.budget import spend
from zwang._numerics.curves.rows import ScaledSet
from zwang._numerics.curves.starts import project_many, singular_many
from zwang._numerics.jit import with_functions
from zwang._numerics.pace import Pace
from zwang._numerics.tolerances import THRESHOLDS, by_name, real
from zwang._trace.space_equations import SpaceEquations, SpacePlace
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
RANK = THRESHOLDS.sampled
ON = 1e-10  # residual of a point on the curve, scaled
FAR = 3.0  # times the region, where coordinates are unbounded
TURN = 2 * np.pi
SMALL = 0.02  # of the largest parameter: a length below it was not among them
FAR_OFF = 50.0  # times the usual scale: a box that is so wide says what is large
ROOMY = 8.0  # times the usual region: half of the starts in a box that is so wide are where the equations' lengths lead
REACH = 20.0  # times all lengths that occur: configurations do not reach farther
LOOKED = 60  # powers of two to both sides of one at which equations are looked at for their lengths


@dataclass(frozen=True, eq=False)
class Region:
    """Where to search, in the declared coordinates: `low` and `high`; `boxed` where a box cuts what leaves it.

    `either` has the places of each quaternion that means the same with either sign. `core`, in a box that is far wider
    than the equations' own lengths, has the bounds of what they suggest: (2, n), or None.
    """

    low: Array
    high: Array
    boxed: NDArray[np.bool_]
    box: Mapping[str, tuple[float, float]]
    either: tuple[tuple[int, ...], ...] = ()
    core: Array | None = None

    def limits(self, scale: Array) -> Array:
        """Return the bounds at which arcs end, in x = q/scale; turning angles have none."""
        room = np.where(self.boxed, 0.0, (FAR - 1) / 2 * (self.high - self.low))
        return np.array([self.low - room, self.high + room]) / scale

    def wider(self, times: float, turning: Any) -> Region:
        """Return the region that many times as wide in the coordinates that have no box and don't turn."""
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        grown = np.where(self.boxed | np.asarray(turning), half, times * half)
        return replace(self, low=middle - grown, high=middle + grown)

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

    def upright(self, q: Array) -> Array:
        """Return q with quaternions whose first component that is not zero is positive, where both signs mean one."""
        q = np.array(q, dtype=float)
        for places in self.either:
            e = q[..., list(places)]
            first = np.argmax(np.abs(e) > 1e-6, axis=-1)[..., None]
            q[..., list(places)] = e * np.where(np.take_along_axis(e, first, axis=-1) < 0, -1.0, 1.0)
        return q


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
    most = max([1.0, *numbers])
    wide = sum(values) * min(most, 1000.0) if values else max(5.0, 3 * most)
    length = _written_length(equations, params)
    if not values and length > 1.0:  # lengths are written as numbers
        unit, wide = length, min(wide, max(5.0, 4 * length))
    elif length > FAR_OFF * wide or 0 < length < SMALL * unit:  # a parameter need not be a length
        unit, wide = length, 10 * length
    elif length:  # a large number may be a length to some power
        wide = min(wide, REACH * max(length, sum(values)))
    n = equations.n
    turning = equations.turning
    high = np.where(equations.angles, np.pi, np.where(turning, 1.0, wide))
    low = -high
    # A parameter need not be a length: what the equations lead to is not nearer than their own lengths.
    reach = np.where(turning, high, max(wide, length) if length > 0 else wide)
    boxed = np.zeros(n, dtype=bool)
    given: dict[str, tuple[float, float]] = {}
    form = f"coordinates to (low, high), as in {{'{equations.names[0]}': (-1, 1)}}"
    asked = by_name(box, "box=", equations.names, where=system.name, no="which is no coordinate", form=form)
    for name, pair in asked.items():
        a, b = _pair(system.name, name, pair)
        place = equations.names.index(name)
        given[name] = (a, b)
        if b - a >= TURN * (1 - 1e-12) if equations.angles[place] else turning[place] and a <= -1 and b >= 1:
            continue  # all the way round: nothing is cut
        low[place], high[place], boxed[place] = a, b, True
    scale = np.where(turning, 1.0, unit)
    scale = np.where(boxed & ~turning, np.minimum(scale, high - low), scale)
    sides = (high - low)[boxed & ~turning]
    if len(sides) and not values and SMALL < unit < 1 / SMALL:
        usual = max(min(1.0, float(sides.max())), 1e-12)
        scale = np.where(turning, 1.0, float(sides.max()) if not length and usual * FAR_OFF < sides.max() else usual)
    core = None
    far = boxed & ~turning & (high - low > 2 * ROOMY * reach)
    if far.any() and not length:  # no term outweighs another farther out: the box is all that says what is large
        scale = np.where(far, high - low, scale)
    elif far.any():
        inner = np.maximum(low, -reach), np.minimum(high, reach)
        core = np.where(far & (inner[0] < inner[1]), inner, (low, high))
    # A box says which sign of a quaternion is meant.
    either = tuple(one for one in equations.quaternions if not boxed[list(one)].any())
    rows = even(lambda q: equations.sparse.run(0.0, q, params)[: equations.m + equations.g], n, equations.m, either)
    return Region(low, high, boxed, given, rows, core), scale


def even(
    values: Callable[[Array], Array], n: int, m: int, quaternions: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], ...]:
    """Return the quaternions whose sign changes at most that of the first m of some functions of q (n,)."""
    source, kept = np.random.default_rng(0), []
    for places in quaternions:
        q = source.normal(size=n)
        other = q.copy()
        other[list(places)] *= -1
        once, again = (values(row) for row in (q, other))
        signs = np.where(np.arange(len(once)) < m, np.sign(once * again), 1.0)
        if (np.abs(once - signs * again) <= 1e-9 * (1 + np.abs(once))).all():
            kept.append(places)
    return tuple(kept)


def _written_length(equations: SpaceEquations, params: Array) -> float:
    """Return a length from the equations themselves: the farthest place at which their highest powers take over.

    It goes with the unit of length, also where lengths are written as numbers; 0 where all terms have one power, nan
    where they have none, as exponentials.
    """
    if equations.turning.all() or not equations.m:
        return 0.0
    made, source, found = equations.values_alone, np.random.default_rng(0), []
    far = 2.0 ** np.arange(LOOKED, -LOOKED - 1, -1)
    for _ in range(3):
        u = source.normal(size=equations.n)
        for places in equations.quaternions:
            u[list(places)] /= np.linalg.norm(u[list(places)])
        rows = np.where(equations.turning[:, None], u[:, None], np.outer(u, far))
        with np.errstate(all="ignore"):
            f = np.abs(made.many(0.0, rows, params))
            degree = np.round(np.log2(f[:, 0] / f[:, 1]))
            law = f[:, :1] * (far / far[0]) ** degree[:, None]
            off = ~(np.abs(f - law) <= 0.5 * law)
        # From the far end on: what follows its highest power there, and not farther in.
        plain = np.isfinite(degree) & (degree >= 1) & ~off[:, :4].any(axis=1) & off.any(axis=1)
        length = float(far[off.argmax(axis=1)][plain].max(initial=0.0))
        found.append(length if plain.any() or not off[~(f == 0).all(axis=1)].any() else np.nan)
    known = [length for length in found if length >= 0]
    return float(np.median(known)) if len(known) > 1 else float("nan")


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
    """Return random places in the region: half of them spread evenly, half nearer to its middle, or in its core."""
    n = len(region.low)
    u = source.uniform(-1, 1, size=(count, n))
    shrink = 10.0 ** (-2 * source.uniform(size=(count, 1)))
    nearer = np.arange(count)[:, None] % 2 == 1
    u = np.where(nearer & ~np.asarray(angles) & ~region.boxed, u * shrink, u)
    q = (region.low + region.high) / 2 + u * (region.high - region.low) / 2
    if region.core is not None:  # the first ones say what is large: `placed`
        inside = np.arange(count)[:, None] < count // 2
        q = np.where(inside, region.core.mean(axis=0) + u * (region.core[1] - region.core[0]) / 2, q)
    for places in region.either:
        q[:, list(places)] /= np.linalg.norm(q[:, list(places)], axis=1, keepdims=True)
    return np.asarray(q)


def placed(equations: SpaceEquations, params: Array, t: float, scale: Array, starts: Array) -> SpacePlace:
    """Return the place with weights such that gradients of the equations are of size one at typical points."""
    plain = SpacePlace(equations, params, t, scale, np.ones(equations.m))
    sizes = []
    for start in starts[:40]:
        _, rows = plain.values(start)
        with np.errstate(over="ignore", invalid="ignore"):
            size = np.linalg.norm(rows, axis=1)
        if np.isfinite(size).all():
            sizes.append(size)
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

    def __init__(self, place: SpacePlace, either: tuple[tuple[int, ...], ...] = ()) -> None:
        self.place, self.either = place, either
        self.equations = place.equations
        e = self.equations
        self.sizes = np.array([e.n, e.m, e.g], dtype=np.int64)
        self.curved_sizes = np.array([e.n, e.m, 0], dtype=np.int64)
        self.every = np.diag(1.0 / place.weights)
        self.mix = self.every
        self.rank = min(e.n, e.m)
        self.identified = np.where(e.angles, TURN / place.scale, 0.0)
        for number, places in enumerate(either, start=1):
            self.identified[list(places)] = -number
        self.work = place.workspace(e.plain, "plain")

    @property
    def given(self) -> ScaledSet:
        """The equations as the compiled loops take them."""
        place = self.place
        return ScaledSet(
            place.t, self.sizes, place.scale, self.mix, place.params, self.work, self.equations.plain.table
        )

    def randomized(self, rank: int, source: np.random.Generator) -> None:
        """Solve as many combinations of the equations as there are independent ones on the set."""
        self.combined(rank, np.linalg.qr(source.normal(size=(self.equations.m, self.equations.m)))[0])

    def combined(self, rank: int, turn: Array) -> None:
        """Solve the first combinations of the equations of an orthogonal matrix (m, m), as many as are independent."""
        self.rank = rank
        self.mix = self.every
        if rank < self.equations.m:
            self.mix = np.ascontiguousarray(turn[:rank] @ self.every)

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
        work = self.place.workspace(curved, "curved")
        given = self.given._replace(sizes=self.curved_sizes, work=work, table=curved.table)
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
