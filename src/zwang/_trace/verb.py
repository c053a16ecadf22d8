"""The verb `trace`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile import Model, compile
from zwang._declare.system import System
from zwang._declare.units import units_shown
from zwang._numerics.budget import Allowed, Budget, Spent, spending
from zwang._numerics.jit import tiered
from zwang._numerics.tolerances import real, whole
from zwang._results import Provenance
from zwang._results.configuration import ConfigurationSpace, TraceStatus
from zwang._trace.local_structure import TOLERANCE
from zwang._trace.mixed import with_sheets
from zwang._trace.multiplicity import CountedFactors, without_squares
from zwang._trace.sampled import SampledSearch, traced, unfinished
from zwang._trace.sampling import ON, RANK, region_of
from zwang._trace.space_equations import SpaceEquations, at_instant, equations_of, parameter_vector
from zwang._trace.space_pieces import with_pieces
from zwang._trace.strata import with_strata
from zwang._trace.surface_search import with_surface
from zwang.errors import DeclarationError

Array = NDArray[np.float64]
WIDENINGS = 3  # of the region, where arcs leave it
TIMES = 10.0  # wider each time
SEARCHES = ("sampled", "exhaustive")
BUDGET = Budget(steps=10_000_000, memory=1_000_000_000)


@tiered("trace", main="singular_many", seconds=15)
def trace(
    system: System | Model,
    params: Mapping[Any, Any] | None = None,
    box: Mapping[Any, tuple[float, float]] | None = None,
    search: str = "sampled",
    resolution: float | None = None,
    *,
    t: float | None = None,
    at: Any = None,
    seed: int = 0,
    starts: int | None = None,
    budget: Allowed = None,
    inputs: Mapping[Any, Any] | None = None,
) -> ConfigurationSpace:
    """Return the configuration space: its arcs, singular points and components.

    Parameters
    ----------
    system : System or Model
        Its bilateral constraints on positions make the space; one-sided ones on positions cut arcs; constraints on
        velocities don't restrict positions and are named in the result.
    params : mapping
        Symbol or name -> number.
    box : mapping, optional
        Coordinate -> (low, high). Arcs end at the boundary. Coordinates without one: angles go all the way round,
        others are searched as far as the sum of the parameters reaches.
    search : {'sampled', 'exhaustive'}
        Many starts, seeded; or, in a box, subdivision with proofs.
    resolution : float, optional
        For surfaces: the longest edge of a triangle, Euclidean in the declared coordinates (radians, metres); edges are
        shorter where the surface bends. By default a fiftieth of the diameter.
    t : float, optional
        The instant [s], for constraints with explicit time.
    at : state or list of states, optional
        Where to say the local type of the space (`ConfigurationSpace.local_types`), in any dimension.
    seed : int
        Of the random starts.
    starts : int, optional
        How many; by default some hundred, more for more coordinates.
    budget : float or mapping, optional
        Seconds, or a mapping of ``seconds``, ``steps`` (points that are solved for, pieces of arcs, boxes) and
        ``memory`` (bytes of arcs), by default an hour, ten million and 1 GB. Where one is spent the space is
        UNFINISHED and holds what was found.
    inputs : mapping, optional
        Input of the system -> number, expression of t, `Table` or `Held`.

    Returns
    -------
    ConfigurationSpace
        An empty space is a result, with status EMPTY.

    Examples
    --------
    >>> import zwang as zw
    >>> entry = zw.gallery.get("four_bar")
    >>> space = zw.trace(entry.system, entry.params)
    >>> len(space.branches), len(space.curves), space.components
    (6, 3, 1)
    >>> [point.kind for point in space.singular_points]
    ['crossing', 'crossing', 'crossing']
    """
    handed = system.system if isinstance(system, Model) else system
    system, params = at_instant(system, params, inputs, t)
    equations = equations_of(system)
    declared = equations.system
    require_search(search, declared.name)
    if equations.timed and t is None:
        raise DeclarationError(
            f"{declared.name}: its constraints depend on time explicitly, and the configuration space is that of an "
            "instant. Give t=."
        )
    starts = None if starts is None else whole(starts, "starts", least=1, most=10**7, where=declared.name)
    seed = whole(seed, "seed", least=0, most=2**64, where=declared.name)
    instant = 0.0 if t is None else real(t, "t", where=declared.name)
    if resolution is not None and not real(resolution, "resolution", where=declared.name) > 0:
        raise DeclarationError(
            f"{declared.name}: resolution= is the longest edge of the mesh of a surface and must be above zero; it was "
            f"given {resolution!r:.40}. Leave it out for a fiftieth of the diameter."
        )
    values = parameter_vector(declared, params)

    def sampled(extra: Array | None = None) -> ConfigurationSpace:
        searches: list[SampledSearch] = []
        try:
            found = _sampled(equations, values, box, instant, seed, starts, searches, extra, at)
            return _with_pieces(found, searches[-1], resolution)
        except Spent as spent:
            return unfinished(searches[-1], str(spent))

    with spending(BUDGET.but(declared.name, budget)):
        found = sampled()
        if search == "exhaustive" and not found.reason:
            from zwang._trace.exhaustive import exhausted

            try:
                either = region_of(equations, values, box)[0].either
                found = exhausted(declared, params or {}, found, sampled, either=either)
            except Spent as spent:
                found = replace(found, status=TraceStatus.UNFINISHED, reason=str(spent))
    if not isinstance(handed, System):
        return found
    return replace(found, units=units_shown(handed), drawing={} if handed.drawing is None else handed.drawing.to_dict())


def require_search(search: Any, where: str) -> None:
    """Refuse a way to search that there is none of."""
    if search not in SEARCHES:
        raise DeclarationError(f"{where}: search= must be 'sampled' or 'exhaustive'; it was given {search!r:.40}.")


def _with_pieces(found: ConfigurationSpace, search: SampledSearch, resolution: float | None) -> ConfigurationSpace:
    """Return a space with its pieces, and with its surface if it is one."""
    if found.status is TraceStatus.SURFACE and found.dimension == 2:
        found = with_surface(search, found, resolution)
    found = with_sheets(search, found, resolution) if found.branches else with_pieces(found)
    return found if search.factors is None else search.factors.of_surfaces(found)


def _sampled(
    equations: SpaceEquations,
    values: Array,
    box: Mapping[Any, Any] | None,
    t: float,
    seed: int,
    starts: int | None,
    searches: list[SampledSearch],
    extra: Array | None = None,
    at: Any = None,
) -> ConfigurationSpace:
    """Return the space by a sampled search; the last of `searches` is the one that was at work if `Spent` is raised."""
    region, scale = region_of(equations, values, box)
    search = SampledSearch(equations, values, t, region, scale, seed, starts, extra)
    searches.append(search)
    first = search, region, scale
    for _ in range(WIDENINGS):
        # A parameter need not be a length: where nothing is found in the region it suggests, look farther.
        if len(search.sample()[0]) or (region.boxed | equations.turning).all():
            break
        region, scale = region.wider(TIMES, equations.turning), np.where(equations.turning, scale, TIMES * scale)
        search = SampledSearch(equations, values, t, region, scale, seed, starts, extra)
        searches.append(search)
    if not len(search.sample()[0]):
        search, region, scale = first
    simpler = without_squares(equations, values) if search.squared else None
    if simpler is None:
        found = traced(search)
    else:
        plain, table = simpler
        places = [equations.system.parameters.index(item) for item in plain.parameters]
        search = SampledSearch(
            equations_of(compile(plain, equations.backend)), values[places], t, region, scale, seed, starts, extra
        )
        searches.append(search)
        found = traced(search)
        search.factors = CountedFactors(equations.system, values, table)
        found = replace(found, branches=tuple(search.factors.of_arcs(found.branches)))
    found = with_strata(search, found, at)
    notes = list(found.notes)
    if equations.ignored:
        notes.append(f"Constraints on velocities don't restrict positions: {', '.join(equations.ignored)}.")
    provenance = Provenance.now(
        equations.system.digest, tolerances={"on": ON, "rank": RANK, "zero": TOLERANCE}, seed=seed
    )
    return replace(
        found,
        name=equations.system.name,
        notes=tuple(notes),
        ignored=equations.ignored,
        provenance=provenance,
        params={item.name: float(value) for item, value in zip(equations.system.parameters, values, strict=True)},
    )
