"""The verb `critical`: values of a parameter at which the configuration space becomes singular."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model, compile
from zwang._declare.ranges import varied_range
from zwang._declare.system import System
from zwang._numerics.budget import UNBOUNDED, Allowed, Spent, spend, spending
from zwang._numerics.identified import between, distinct
from zwang._numerics.jit import tiered
from zwang._numerics.tolerances import by_name, flag, name_of, real, whole
from zwang._results import Provenance
from zwang._results.configuration import ConfigurationSpace, TraceStatus
from zwang._results.critical import (
    CriticalSearch,
    CriticalStatus,
    CriticalValue,
    CriticalValues,
    Shape,
    SingularRange,
)
from zwang._trace.critical_families import FamilySearch, SingularFamily
from zwang._trace.critical_points import CONVERGED, MORE, Extended, generic_rank
from zwang._trace.local import analyse
from zwang._trace.result_graph import state_of
from zwang._trace.sampled import SampledSearch
from zwang._trace.sampling import RANK, TURN, Region, placed, region_of, starts_in
from zwang._trace.space_equations import SpaceEquations, SpacePlace, at_instant, equations_of, parameter_vector
from zwang._trace.strata import local_type
from zwang._trace.verb import BUDGET, trace
from zwang.errors import DeclarationError, StateError

Array = NDArray[np.float64]
SAME_VALUE, SAME_POINT, SAME_PLACE = 1e-7, 1e-4, 1e-6
LIFTED = 400  # starts that are moved to the set of all configurations
FEW, LIFTED_TRIED = 16, 60  # coordinates and equations with which every start is solved from; starts with more of them
STEP = 0.02  # part of the range by which both sides of a critical value are looked at


@tiered("critical", main="singular_many", seconds=15)
def critical(
    system: System | Model,
    params: Mapping[Any, Any] | None = None,
    *,
    vary: Any,
    within: tuple[float, float],
    box: Mapping[Any, tuple[float, float]] | None = None,
    t: float | None = None,
    compare: bool = True,
    seed: int = 0,
    starts: int | None = None,
    budget: Allowed = None,
    inputs: Mapping[Any, Any] | None = None,
) -> CriticalValues:
    """Return the values of a parameter at which the configuration space becomes singular, and what changes there.

    Constraints and the dependence of their gradients are solved together, with the parameter free, from many starts;
    values that no start reaches are missed.

    Parameters
    ----------
    system : System or Model
    params : mapping
        Symbol or name -> number; the value of the varied one, if given, is not used.
    vary : symbol or str
        The parameter.
    within : (low, high)
        The interval that is searched.
    box : mapping, optional
        Coordinate -> (low, high), as in `trace`.
    t : float, optional
        The instant [s], for constraints with explicit time.
    compare : bool
        Whether to trace the space at each value and on both sides of it.
    seed, starts : int
        Of the random starts, and how many.
    budget : float or mapping, optional
        Seconds, or a mapping of ``seconds``, ``steps`` and ``memory`` as in `trace`, for everything together.
    inputs : mapping, optional
        Input of the system -> number, expression of t, `Table` or `Held`.

    Returns
    -------
    CriticalValues
        A list in the order of the values, with a `status`: UNFINISHED where a budget was spent, with the `reason`.

    Examples
    --------
    >>> import zwang as zw
    >>> entry = zw.gallery.get("ellipse_pendulum")
    >>> found = zw.critical(entry.system, entry.params, vary="a", within=(-0.8, -0.2))
    >>> [round(item.value, 12) for item in found]
    [-0.5]
    >>> found[0].kind, found[0].before.components, found[0].after.components
    ('crossing', 1, 2)
    """
    flag(compare, "compare", where="critical")
    system, params = at_instant(system, params, inputs, t)
    search = _CriticalSearch(system, params, vary, within, box, t, seed, starts)
    found = CriticalValues()
    with spending(BUDGET.but(search.system.name, budget)):
        try:
            values = _grouped(search.solutions(), search.unit)
            found.lasting = search.lasting()
            places = [value for value, _ in values]
            for k, (value, points) in enumerate(values):
                found.append(search.described(value, points, _room(places, k, search.unit), compare))
        except Spent as spent:
            found.status, found.reason = CriticalSearch.UNFINISHED, str(spent)
    return found


@dataclass(frozen=True, eq=False)
class _Solution:
    """A critical value with one singular position; `persists`: the space is singular nearby too."""

    value: float
    q: Array
    residual: float
    persists: bool


class _CriticalSearch:
    """Everything that belongs to one question."""

    def __init__(
        self, system: Any, params: Any, vary: Any, within: Any, box: Any, t: float | None, seed: int, starts: int | None
    ) -> None:
        self.equations: SpaceEquations = equations_of(system)
        self.system = self.equations.system
        self.box, self.seed = box, whole(seed, "seed", least=0, most=2**64, where=self.system.name)
        self.t = None if t is None else real(t, "t", where=self.system.name)
        starts = None if starts is None else whole(starts, "starts", least=1, most=10**7, where=self.system.name)
        self.low, self.high = varied_range(self.system, name_of(vary), within)
        self.symbol = self._parameter(name_of(vary))
        self.unit = self.high - self.low
        self.params = {
            **by_name(params, "params", where=self.system.name),
            self.symbol.name: 0.5 * (self.low + self.high),
        }
        if self.equations.timed and t is None:
            raise DeclarationError(f"{self.system.name}: its constraints depend on time explicitly. Give t=.")
        vector = parameter_vector(self.system, self.params)
        ends = [parameter_vector(self.system, {**self.params, self.symbol.name: end}) for end in (self.low, self.high)]
        # The larger of both ends reaches farther.
        wide = max(ends, key=lambda row: float(np.abs(row).sum()))
        self.region, self.scale = region_of(self.equations, wide, box)
        self.rank = min(self.equations.m, self.equations.n)
        self.vector, self.source = vector, np.random.default_rng(self.seed)
        self.families: list[tuple[Extended, SingularFamily]] = []
        self.count = starts or min(300 + 150 * self.equations.n, 1500)

    def _parameter(self, name: str) -> Any:
        symbol = next(item for item in self.system.parameters if item.name == name)
        if not any(symbol in item.expr.free_symbols for item in (*self.equations.held, *self.equations.gaps)):
            used = {s for item in self.equations.held for s in item.expr.free_symbols}
            listed = ", ".join(f"'{s.name}'" for s in self.system.parameters if s in used) or "none"
            raise DeclarationError(
                f"{self.system.name}: no constraint on positions depends on '{name}', so that the configuration space "
                f"doesn't change with it. They depend on: {listed}."
            )
        return symbol

    def solutions(self) -> list[_Solution]:
        """Return all singular points that were found, with their values of the parameter."""
        e = self.equations
        if not e.m:
            return []
        which = self.system.parameters.index(self.symbol)
        extended = Extended(e, self.vector, which, self.t or 0.0, self.scale, self.unit)
        x = starts_in(self.region, e.angles, self.count, self.source) / self.scale
        s = self.source.uniform(self.low, self.high, size=len(x)) / self.unit
        extended.prepare(x, s)
        raw = np.concatenate([x, s[:, None]], axis=1)
        z, on = extended.settled(raw[:LIFTED], min(e.m, e.n), hold=True)
        if on.any():  # gradients far from the set may be much longer than on it, and errors seem small then
            extended.prepare(z[on, :-1], z[on, -1])
            z, on = extended.settled(z, min(e.m, e.n), hold=True)
        points = z[on]
        self.rank = rank = generic_rank(extended, points)
        still = extended.stationary(points, rank) if len(points) else points
        still = distinct(still, self.identified, SAME_POINT)
        # A few coordinates: as many starts from anywhere as can be afforded; many: from points of the set.
        starts = np.concatenate([still, raw if e.n + rank <= FEW else points[:LIFTED_TRIED]])
        extended.combine(rank, self.source)
        z, size = extended.solve(extended.starting(starts[:, :-1], starts[:, -1]), most=MORE)
        kept = [row for row in z[np.isfinite(size) & (size < CONVERGED)] if self._admissible(extended, row, rank)]
        limits = self.low / self.unit, self.high / self.unit
        search = FamilySearch(extended, self.identified, lambda z: self._admissible(extended, z, rank), *limits)
        single, families = search.sorted_out(self._distinct(kept))
        self.families = [(extended, family) for family in families]
        turns = self._distinct([row for family in families for row in family.turns])
        found = [self._solution(extended, row, persists=False) for row in single]
        return [*found, *(self._solution(extended, row, persists=True) for row in turns)]

    def _distinct(self, rows: Sequence[Array]) -> list[Array]:
        """Return one of the solutions at each place."""
        parts = np.array([row[: self.equations.n + 1] for row in rows]).reshape(len(rows), self.equations.n + 1)
        kept = distinct(parts, self.identified, SAME_POINT)
        return [rows[int(np.flatnonzero((parts == row).all(axis=1))[0])] for row in kept]

    @cached_property
    def identified(self) -> Array:
        """What stands for one configuration, in x, and then the parameter."""
        found = np.append(np.where(self.equations.angles, TURN / self.scale, 0.0), 0.0)
        for number, places in enumerate(self.region.either, start=1):
            found[list(places)] = -number
        return found

    def _admissible(self, extended: Extended, row: Array, rank: int) -> bool:
        """Whether a solution lies in the interval and the box, and all constraints lose rank there."""
        value, q = row[extended.n] * self.unit, row[: extended.n] * self.scale
        slack = 1e-9 * self.unit
        if not self.low - slack <= value <= self.high + slack:
            return False
        region: Region = self.region
        if not bool(region.holds(region.shifted(q, self.equations.angles)[None], self.equations.angles)[0]):
            return False
        x, s = row[None, : extended.n], row[None, extended.n]
        if extended.gaps(x, s).min(initial=0.0) < -1e-9:
            return False
        mix, extended.mix = extended.mix, np.eye(extended.m)
        F, J, *_ = extended.terms(x, s)
        extended.mix = mix
        sizes = np.linalg.svd(J[0])[1]
        lost = rank > len(sizes) or sizes[rank - 1] <= RANK * max(sizes[0], 1.0)
        return bool(lost and np.abs(F).max() < 1e-9)

    def _solution(self, extended: Extended, row: Array, persists: bool) -> _Solution:
        q = self.region.upright(self.region.shifted(row[: extended.n] * self.scale, self.equations.angles))
        residual, _ = extended.system(row[None])
        return _Solution(float(row[extended.n] * self.unit), q, float(np.abs(residual).max()), persists)

    def described(self, value: float, points: Sequence[_Solution], room: float, compare: bool) -> CriticalValue:
        """Return the result for one critical value."""
        place, surface = self._place(value), self.equations.n - self.rank > 1
        seen = [self._kind(place, solution.q) for solution in points]
        kinds, places = [kind for kind, _ in seen], [q for _, q in seen]
        # Touching branches are found from several starts with several errors, and only now are the same point.
        x = [q / self.scale for q in places]
        same = [
            [np.abs(between(a, b, self.identified[:-1])).max() < SAME_PLACE for b in x[:k]] for k, a in enumerate(x)
        ]
        kept = [k for k, others in enumerate(same) if not any(others)]
        kinds = [kinds[k] for k in kept]
        states = [state_of(self.equations, np.round(places[k], 13), self.t or 0.0) for k in kept]
        shapes: list[Shape | None] = [None, None, None]
        if compare:
            shapes = [self._shape(value + side * room) for side in (-1, 0, 1)]
        persists = any(item.persists for item in points)
        status = _status(shapes[0], shapes[2], kinds, persists)
        return CriticalValue(
            status=status,
            residual=max(item.residual for item in points),
            provenance=Provenance.now(self.system.digest, tolerances={"converged": CONVERGED}, seed=self.seed),
            parameter=self.symbol.name,
            value=value,
            points=tuple(states),
            kinds=tuple(kinds),
            before=shapes[0],
            at=shapes[1],
            after=shapes[2],
            change=_sentence(status, shapes[0], shapes[2]),
            surgeries=tuple(self._surgery(place, places[k], value) for k in kept) if surface else (),
        )

    def _place(self, value: float) -> SpacePlace:
        """Return where local types are told, at one value of the parameter."""
        vector = parameter_vector(self.system, {**self.params, self.symbol.name: value})
        starts = starts_in(self.region, self.equations.angles, 40, np.random.default_rng(self.seed))
        return placed(self.equations, vector, self.t or 0.0, self.scale, starts)

    def _kind(self, place: SpacePlace, q: Array) -> tuple[str, Array]:
        """Return the kind of a singular point, and the point as well as it is known then."""
        if self.equations.n - self.rank > 1:
            kind = self._local(place, q).kind
            return kind if kind in ("cone", "isolated") else "higher", q
        local = analyse(place, q)
        if local is None or local.kind in ("regular", "multiple"):
            return "higher", self.region.shifted(q, self.equations.angles)
        return local.kind, self.region.shifted(local.q, self.equations.angles)

    def _local(self, place: SpacePlace, q: Array) -> Any:
        """Return the local type of a point of a surface."""
        e = self.equations
        search = SampledSearch(e, place.params, self.t or 0.0, self.region, self.scale, self.seed, starts=40)
        search.solver.randomized(min(e.m, e.n), search.source)
        return local_type(search, e.m, q)

    def lasting(self) -> tuple[SingularRange, ...]:
        """Return the ranges of the families, one of those that are ways through the same singular curves."""
        made: list[SingularRange] = []
        for extended, family in self.families:
            item = self._range(extended, family)
            near = (abs(item.low - other.low) + abs(item.high - other.high) <= SAME_VALUE * self.unit for other in made)
            if not (family.wide and any(near)):
                made.append(item)
        return tuple(made)

    def _range(self, extended: Extended, family: SingularFamily) -> SingularRange:
        """Return what a user is told of a family: from where to where, and one of its points."""
        middle = 0.5 * (family.low + family.high)
        z = min((node.z for node in family.nodes), key=lambda z: abs(float(z[extended.n]) - middle))
        value, q = float(z[extended.n] * self.unit), self._solution(extended, z, True).q
        kind, q = self._kind(self._place(value), q)
        point = state_of(self.equations, np.round(q, 13), self.t or 0.0)
        low, high = float(family.low * self.unit), float(family.high * self.unit)
        return SingularRange(low, high, kind, value, point)

    def _surgery(self, place: SpacePlace, q: Array, value: float) -> str:
        """Return, in words, what a singular point of a surface opens into on either side."""
        e, local = self.equations, self._local(place, q)
        kind = local.kind if local.kind in ("cone", "isolated") else "higher"
        if e.n - e.m != 2 or kind == "higher" or len(local.signature) != 3 or local.signature[2]:
            return f"{kind}: what changes is not told"
        left, _, right = np.linalg.svd(place.values(q)[1])
        u, kernel = left[:, local.rank], right[local.rank :]
        form = np.einsum("i,ijk,aj,bk->ab", u, place.hessians(q), kernel, kernel)
        step = 1e-6 * self.unit
        ends = [parameter_vector(self.system, {**self.params, self.symbol.name: value + s * step}) for s in (-1, 1)]
        below, above = (replace(place, params=end, _cache={}).values(q)[0] for end in ends)
        slope = float(u @ (above - below))
        # Next to the value p the set is form(y, y)/2 + slope (p - value) = 0.
        wide = slope * (1 if (np.linalg.eigvalsh(form) > 0).sum() >= 2 else -1) < 0
        words = ("two discs", "an annulus") if kind == "cone" else ("nothing", "a sphere")
        return f"{kind}: {words[not wide]} below, {words[wide]} above"

    def _shape(self, value: float) -> Shape | None:
        """Return the main numbers of the space at one value; None where it can't be traced."""
        try:
            params = {**self.params, self.symbol.name: value}
            model = compile(self.system, self.equations.backend)
            space: ConfigurationSpace = trace(model, params, self.box, t=self.t, seed=self.seed, budget=UNBOUNDED)
            spend()  # a space whose search was cut short is not compared
        except (DeclarationError, StateError):
            return None
        kinds = tuple(point.kind for point in space.singular_points)
        whole = space.dimension == 2 and space.status is TraceStatus.TRACED
        surfaces = [piece for piece in space.pieces if piece.dimension == 2]
        lone = len(space.pieces) - len(surfaces)
        euler = sum(piece.euler or 0 for piece in surfaces) + lone if whole or self._surface_gone(space) else None
        return Shape(value, len(space.branches), space.components, len(kinds), kinds, euler)

    def _surface_gone(self, space: ConfigurationSpace) -> bool:
        """Say whether nothing, or points, are left where a surface is usual."""
        return self.equations.n - self.equations.m == 2 and space.dimension <= 0


def _grouped(found: Sequence[_Solution], unit: float) -> list[tuple[float, list[_Solution]]]:
    """Return solutions with one value together, in the order of the values."""
    groups: list[list[_Solution]] = []
    for item in sorted(found, key=lambda solution: solution.value):
        if groups and item.value - groups[-1][-1].value <= SAME_VALUE * unit:
            groups[-1].append(item)
        else:
            groups.append([item])
    # The value of the best solved of them.
    return [(min(group, key=lambda solution: solution.residual).value, group) for group in groups]


def _room(values: Sequence[float], k: int, unit: float) -> float:
    """Return how far to both sides of a value to look."""
    others = [abs(value - values[k]) for j, value in enumerate(values) if j != k]
    return min([STEP * unit, *(0.3 * other for other in others)])


def _status(before: Shape | None, after: Shape | None, kinds: Sequence[str], persists: bool) -> CriticalStatus:
    if before is None or after is None:
        return CriticalStatus.FOUND
    if persists and before.components == after.components and before.singular_points and after.singular_points:
        return CriticalStatus.KIND
    if after.components == before.components:
        return CriticalStatus.RECONNECT
    lone = all(kind == "isolated" for kind in kinds)
    if after.components > before.components:
        return CriticalStatus.APPEAR if lone or not before.components else CriticalStatus.SPLIT
    return CriticalStatus.VANISH if lone or not after.components else CriticalStatus.JOIN


def _sentence(status: CriticalStatus, before: Shape | None, after: Shape | None) -> str:
    if before is None or after is None:
        return status.value
    return f"{status.value[:-1]}: {before} below, {after} above."
