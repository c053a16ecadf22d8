"""Configuration spaces of dimension two and more: rank strata, the singular set, and the local type at given points.

At a point where the rank drops by one, Lyapunov-Schmidt reduction leaves one equation g(y) = 0 on the kernel of the
Jacobian J. With u J = 0 its second-order part is u.f'' on the kernel; the third-order part adds what the other
coordinates contribute to second order. Signature and cubic decide the type, together with the dimension of the singular
set through the point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.tolerances import by_name
from zwang._results.configuration import ConfigurationSpace, SingularPoint, TraceStatus
from zwang._results.configuration_strata import LocalType, Stratum
from zwang._trace.local import analyse
from zwang._trace.local_reduction import path_values
from zwang._trace.result_graph import state_of
from zwang._trace.sampled import SampledSearch
from zwang._trace.sampling import RANK
from zwang._trace.space_equations import SpaceEquations, SpacePlace
from zwang.errors import DeclarationError, StateError, nearest

Array = NDArray[np.float64]
ZERO = 1e-7  # relative: eigenvalues that count as zero
NEAR = 1e-3  # scaled: how far around a stratum samples are drawn
MOST_SAMPLES = 200  # of a stratum
ASKED = 9  # of them say which dimension most have


def with_strata(search: SampledSearch, space: ConfigurationSpace, at: Any = None) -> ConfigurationSpace:
    """Return a space with the local types at given states, and with its rank strata if its dimension is two or more."""
    unseen = space.status in (TraceStatus.UNFINISHED, TraceStatus.EMPTY)
    if unseen and not space.branches and not space.singular_points and not search.outside:
        space = _lone_points(search, space)
    if space.dimension == 0 and search.equations.m < search.equations.n:
        rank = search.equations.m
    else:
        rank = search.equations.n - max(space.dimension, 0)
    if at is not None:
        if space.status is not TraceStatus.SURFACE and search.equations.m:
            search.solver.randomized(min(rank, search.equations.m), search.source)
        space = replace(space, local_types=tuple(local_types(search, rank, at)))
    if space.status is not TraceStatus.SURFACE or not search.equations.m:
        return space
    search.solver.randomized(rank, search.source)
    strata = _strata(search, space, rank)
    notes = list(space.notes)
    if len(strata) > 1:
        parts = [f"dimension {item.dimension} where the rank is {item.rank}" for item in strata[1:]]
        notes.append(f"Singular set: {', '.join(parts)}; the rank is {rank} elsewhere.")
    return replace(space, strata=tuple(strata), notes=tuple(notes))


def _lone_points(search: SampledSearch, space: ConfigurationSpace) -> ConfigurationSpace:
    """Return a space of isolated points, where fewer constraints hold the mechanism than it has freedoms.

    A sum of squares does that: x^2 + y^2 + z^2 = 0 is one equation for one point, and no point near it is regular.
    """
    e, place = search.equations, search.place
    x, _, _ = search.sample()
    if e.m >= e.n - 1 or not e.m:
        return space
    search.solver.randomized(e.m, search.source)
    # Newton's method for the constraints alone gets stuck short of such points.
    found = singular_configurations(search, x if len(x) else search.starts / place.scale, e.m, 1e-3)
    types = [local_type(search, e.m, q) for q in found]
    reached = [min(search.points.distance(row, q / place.scale) for q in found) for row in x] if found else [1.0]
    if {item.kind for item in types} != {"isolated"} or max(reached, default=0.0) > 0.05:
        return space
    points = tuple(
        SingularPoint(
            number=k,
            state=state_of(e, q, place.t),
            kind="isolated",
            tangents=np.zeros((0, e.n)),
            rank=_rank(place, q),
            generic_rank=e.m,
            tolerance=ZERO,
            component=k,
            signature=tuple(types[k].signature[:2]),
        )
        for k, q in enumerate(found)
    )
    # What was said of curves that could not be followed does not hold: there are none.
    return replace(
        space, status=TraceStatus.POINTS, dimension=0, singular_points=points, components=len(points), notes=()
    )


def _strata(search: SampledSearch, space: ConfigurationSpace, rank: int) -> list[Stratum]:
    regular, scale = _regular(search, rank), search.place.scale
    strata = [Stratum(rank, space.dimension, regular)]
    singular = singular_configurations(search, np.concatenate([search.starts, regular]) / scale, rank)
    for lower in sorted({_rank(search.place, q) for q in singular}, reverse=True):
        points = np.array([q for q in singular if _rank(search.place, q) == lower])
        strata.append(Stratum(lower, max(_dimension(search, q, rank, lower) for q in points[:5]), points))
    return strata


def thicker(search: SampledSearch, space: ConfigurationSpace) -> Stratum | None:
    """Return a part of lower rank that has more dimensions than the space elsewhere, None where there is none.

    Where singular curves meet, those next to the meeting point span more dimensions than they have: most points decide.
    """
    for item in space.strata[1:]:
        if item.dimension > space.dimension:
            rank, some = space.strata[0].rank, item.points[:: max(1, len(item.points) // ASKED)][:ASKED]
            found = int(np.median([_dimension(search, q, rank, item.rank) for q in some]))
            if found > space.dimension:
                return Stratum(item.rank, found, item.points)
    return None


def _regular(search: SampledSearch, rank: int) -> Array:
    x, ranks, settled = search.sample()
    found: Array = (x[settled & (ranks == rank)] * search.place.scale)[:MOST_SAMPLES]
    return found


def _rank(place: SpacePlace, q: Array) -> int:
    _, rows = place.values(q)
    sizes = np.linalg.svd(rows, compute_uv=False)
    return int((sizes > RANK * max(1.0, float(sizes.max(initial=0.0)))).sum())


def singular_configurations(search: SampledSearch, starts: Array, rank: int, near: float = 1e-6) -> list[Array]:
    """Return singular configurations in the box, from starts in x."""
    place, e = search.place, search.equations
    if rank == 0:
        return []
    x, _, residuals = search.solver.singular(starts, 200)
    kept: list[Array] = []
    for row in x[np.isfinite(x).all(axis=1) & (residuals <= 1e-6)]:
        q = search.region.shifted(row * place.scale, e.angles)
        values, _ = place.values(q)
        if np.abs(values).max() > 1e-9 or not bool(search.region.holds(q[None], e.angles)[0]):
            continue
        if _rank(place, q) < rank and all(
            search.points.distance(q / place.scale, p / place.scale) > near for p in kept
        ):
            kept.append(q)
        if len(kept) >= MOST_SAMPLES:
            break
    return kept


def _dimension(search: SampledSearch, q: Array, rank: int, lower: int) -> int:
    """Return the dimension of the set of configurations of a lower rank through q, from solutions close to it."""
    scale = search.place.scale
    source = np.random.default_rng(1)
    starts = q / scale + NEAR * source.uniform(-1, 1, size=(12 + 6 * len(q), len(q)))
    x, _, residuals = search.solver.singular(starts, 200)
    offsets = []
    for row in x[np.isfinite(x).all(axis=1) & (residuals <= 1e-8)]:
        d = row - q / scale
        if np.abs(d).max() < 5 * NEAR and _rank(search.place, row * scale) <= lower:
            offsets.append(d / NEAR)
    if not offsets:
        return 0
    sizes = np.linalg.svd(np.array(offsets), compute_uv=False)
    return int((sizes > 0.05 * np.sqrt(len(offsets))).sum())


def local_types(search: SampledSearch, rank: int, at: Any) -> list[LocalType]:
    """Return the local types at one state or a list of states."""
    if not isinstance(at, Iterable):
        raise DeclarationError(
            f"{search.equations.system.name}: at= must be a state or a list of states; it was given {at!r:.60}."
        )
    states = [at] if isinstance(at, Mapping) else list(at)
    return [local_type(search, rank, _place(search.equations, state)) for state in states]


def _place(equations: SpaceEquations, state: Any) -> Array:
    if not isinstance(state, Mapping):
        raise DeclarationError(
            f"{equations.system.name}: at= takes a state (coordinate -> number) or a list of them; it was given "
            f"{state!r:.60}."
        )
    given = by_name(state, "at=", where=equations.system.name)
    missing = [name for name in equations.names if name not in given]
    if missing:
        raise DeclarationError(
            f"{equations.system.name}: at= has no value for '{missing[0]}'. {nearest(missing[0], list(given))}"
        )
    return np.array([float(given[name]) for name in equations.names])


def node_type(search: SampledSearch, rank: int, q: Array) -> LocalType:
    """Return the type of a configuration at which curves of singular ones end, meet or change."""
    state = state_of(search.equations, q, search.place.t)
    return LocalType(state, "higher", _rank(search.place, q), rank, (), 1, "lines of singular points meet or end here.")


def local_type(search: SampledSearch, rank: int, q: Array) -> LocalType:
    """Return what the space looks like at one configuration."""
    place, e = search.place, search.equations
    values, rows = place.values(q)
    if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > 1e-8:
        worst = int(np.argmax(np.abs(values)))
        raise StateError(
            f"{e.system.name}: the state of at= is off constraint '{e.held[worst].name}' by "
            f"{abs(values[worst]) * place.weights[worst]:.1e}. Use Model.project."
        )
    here = _rank(place, q)
    state = state_of(e, q, place.t)
    if here >= rank:
        return LocalType(state, "regular", here, rank, (), -1, f"a smooth set of dimension {e.n - rank}.")
    if e.n - rank == 1 and e.m >= e.n - 1:
        local = analyse(place, q)
        if local is not None:
            ways = len(local.half_branches)
            return LocalType(state, local.kind, here, rank, (), 0, f"a curve with {ways} half-branches from here.")
    extent = _dimension(search, q, rank, here)
    left, _, right = np.linalg.svd(rows)
    kernel, cokernel = right[here:], left[:, here:]
    if rank - here > 1 or cokernel.shape[1] > 1:
        return LocalType(state, "higher", here, rank, (), extent, f"the rank drops by {rank - here}.")
    u = cokernel[:, 0]
    quadratic = np.einsum("i,ijk,aj,bk->ab", u, place.hessians(q), kernel, kernel)
    signature, null = _signature(quadratic)
    cubic = _cubic(place, q, u, kernel, null) if len(null) else np.zeros((0,))
    kind, sentence = _kind(signature, null, cubic, extent)
    return LocalType(state, kind, here, rank, signature, extent, sentence)


def _signature(quadratic: Array) -> tuple[tuple[int, int, int], Array]:
    """Return the signature, with the larger of both signs first, and the null directions as rows."""
    sizes, vectors = np.linalg.eigh(quadratic)
    zero = np.abs(sizes) <= ZERO * max(1.0, float(np.abs(sizes).max(initial=0.0)))
    plus, minus = int((sizes[~zero] > 0).sum()), int((sizes[~zero] < 0).sum())
    return (max(plus, minus), min(plus, minus), int(zero.sum())), vectors[:, zero].T


def _kind(signature: tuple[int, int, int], null: Array, cubic: Array, extent: int) -> tuple[str, str]:
    """Return the kind and a sentence from the signature, the cubic on the null space, and the singular set."""
    plus, minus, flat = signature
    squares = f"{plus} and {minus} squares" if minus else f"{plus} squares of one sign"
    if flat == 0:
        if minus == 0:
            return "isolated", f"no other configuration is near ({squares})."
        if plus + minus == 2:
            return "crossing", "two smooth branches cross."
        return "cone", f"a cone with its apex here ({squares})."
    if flat == extent and plus + minus >= 2:
        # Non-degenerate across the singular set (Morse, Bott): the same picture all along it.
        along = "a line" if extent == 1 else f"a set of dimension {extent}"
        if minus == 0:
            return "curve", f"locally the set is {along} of singular points and nothing else ({squares})."
        if plus + minus == 2:
            return "crossing", f"two smooth sheets cross along {along}."
        return "cone", f"a cone times {along} ({squares})."
    if flat == 2 and plus == 1 and minus == 0 and extent == 1 and _double_root(cubic):
        return "umbrella", "Whitney's umbrella: the line along which two sheets cross ends here."
    return "higher", f"degenerate: {squares}, {flat} directions without."


def _double_root(cubic: Array) -> bool:
    """Whether a binary cubic a s^3 + b s^2 t + c s t^2 + d t^3 is a square times another line."""
    a, b, c, d = cubic
    size = float(np.abs(cubic).max())
    if size <= ZERO:
        return False
    a, b, c, d = cubic / size
    discriminant = b * b * c * c - 4 * a * c**3 - 4 * b**3 * d - 27 * a * a * d * d + 18 * a * b * c * d
    # The Hessian of a cube vanishes.
    hessian = max(abs(b * b - 3 * a * c), abs(b * c - 9 * a * d), abs(c * c - 3 * b * d))
    return bool(abs(discriminant) < 1e-6 and hessian > 1e-5)


def _cubic(place: SpacePlace, q: Array, u: Array, kernel: Array, null: Array) -> Array:
    """Return the third-order part of g on a null space of two dimensions: coefficients of s^3, s^2 t, s t^2, t^3."""
    if len(null) != 2:
        return np.zeros(4)
    angles = np.array([0.0, np.pi / 5, 2 * np.pi / 5, 3 * np.pi / 5])
    values = [_third(place, q, u, (np.cos(a) * null[0] + np.sin(a) * null[1]) @ kernel) for a in angles]
    c, s = np.cos(angles), np.sin(angles)
    return np.linalg.solve(np.stack([c**3, c**2 * s, c * s**2, s**3], axis=1), np.array(values))


def _third(place: SpacePlace, q: Array, u: Array, direction: Array) -> float:
    """Return the third-order part of g along a direction of the kernel."""
    third = _third_derivatives(place, q, direction)
    hessians = place.hessians(q)
    _, rows = place.values(q)
    second = np.einsum("ijk,j,k->i", hessians, direction, direction)
    # The other coordinates follow: J w + second/2 = 0 on the independent combinations of the equations.
    w = -np.linalg.pinv(rows, rcond=1e-8) @ second / 2
    mixed = np.einsum("ijk,j,k->i", hessians, direction, w)
    return float(u @ (third / 6 + mixed))


def _third_derivatives(place: SpacePlace, q: Array, direction: Array) -> Array:
    """Return f'''(d, d, d) of the scaled equations, from their series along the line q + s d."""
    line = np.zeros((len(q), 4))
    line[:, 1] = direction
    return np.asarray(6 * path_values(place, q, line)[:, 3])
