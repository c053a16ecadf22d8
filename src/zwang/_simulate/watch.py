"""On which side of zero each watched quantity must stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zwang._kernels import Terms
from zwang._kernels.mode_motion import Moving
from zwang._numerics.contact.modes import Mode
from zwang._numerics.contact.table import ContactPlace, ContactTable
from zwang._simulate.ground import Ground
from zwang._simulate.mode_labels import HeldMode, friction_of
from zwang._simulate.moment import Context, Decision, Moment, Watch

if TYPE_CHECKING:
    from zwang._numerics.motion.bands import DenseTerms, WatchRows, WaySizes

ANY = 2.0
"""Fires on any crossing."""
ROUNDING = 1e-13
"""Of a quantity, relative to its terms."""
EVENT = 1e-14
"""The same for a user's event, which steps end on to the last digit."""
SLOPE = 1e-7
"""Part of the sizes by which slopes of events are measured: half of the digits."""
BLUR = 1e-2
"""Rounding of a slip's direction beside that of forces, times how slow it is: forces that share depend on it."""
LOOKS = (1e-6, 1e-4, 1e-2)
"""How far to look for the side of a switching surface, in parts of the time on which the motion changes little."""
FLIGHT = 2.0
"""Flights lower than this many tolerances are lost in the bands of their gap."""
STILL = 1e-7
"""Velocities below this, relative to their sizes, are rounding where a mode allows none."""
IDLE = 1e-9
"""Force below which an idle constraint is not let go, relative to the forces there are."""
TIED = 1e-10
"""The same for one whose force has vanished and that was found to stay: what is less may be rounding (see `ties`)."""


def sides_of(ground: Ground, moving: Moving, decision: Decision, moment: Moment) -> NDArray[np.float64]:
    """Return, for every watch of the mode, the sign that it keeps, 0 where it is not watched."""
    table, labels = ground.table, decision.labels
    loose = unwatched(ground, decision)
    sides = []
    for kind, k in moving.watch_names:
        side = 0.0
        if kind in ("gap", "value"):
            # A constraint that is closed but not held is implied by others: its value is zero up to rounding.
            side = 1.0 if labels[table.of_normal(k)] is Mode.OPEN else 0.0
        elif kind == "normal":
            held = decision.held
            pulls = held is not None and k in held.mode.pulling
            side = 0.0 if table.of_normal(k) in loose else -1.0 if pulls else 1.0
        elif kind == "share":
            side = -1.0
        elif kind == "slip":
            side = float(labels[table.of_law(k)].sign)
        elif kind == "reserve" and table.of_law(k) in loose:
            side = 0.0
        elif kind in ("speed", "reserve"):
            side = 1.0 if labels[table.of_law(k)] is not Mode.OPEN else 0.0
        elif kind == "surface" or (kind == "extra" and k not in moment.memory.idle):
            side = ANY
        sides.append(side)
    return np.array(sides)


def unwatched(ground: Ground, decision: Decision) -> frozenset[int]:
    """Return the contacts whose forces are not watched one by one.

    Where sticking forces in planes are undetermined, those of the rows that carry the motion are one distribution of
    many, and their bounds mean nothing (so where a table slides on four feet and three of them, its centre of pressure
    between two, leave nothing to the third): it is looked at step by step whether some distribution obeys all laws.
    """
    return frozenset(number for number in spatial_stress(ground, decision) if not ground.table.places[number].resultant)


def spatial_stress(ground: Ground, decision: Decision) -> frozenset[int]:
    """Return the contacts with undetermined forces, where some of them stick in planes, or carry nothing by chance."""
    taking = frozenset() if decision.held is None else undetermined_in(ground, decision.held)
    places, labels = ground.table.places, decision.labels
    sticks = any(len(places[number].slips) > 1 and labels[number].plain is Mode.STICK for number in taking)
    return taking if sticks or decision.grips else frozenset()


def undetermined_in(ground: Ground, held: HeldMode) -> frozenset[int]:
    """Return the constraints whose forces, or friction, a mode leaves undetermined."""
    loose = set(held.undetermined)
    places = enumerate(ground.table.places)
    return frozenset(number for number, place in places if {place.name, friction_of(place.name)} & loose)


def bands_of(context: Context, moving: Moving, decision: Decision, moment: Moment) -> NDArray[np.float64] | None:
    """Return what counts as zero for each watch: the rounding of its terms, whose signs must not conspire."""
    from zwang._numerics.motion.bands import DenseTerms, widen

    own = any(kind == "extra" for kind, _ in moving.watch_names)
    if not own and not any(kind != "surface" for kind, _ in moving.watch_names):
        return None
    terms = context.terms(moment.t, moment.q, moment.v)
    branches = moving.branches(moment.t, moment.q, moment.v, context.params, context.changing)
    bands = moving.bands(moment.t, moment.q, moment.v, context.params, branches, kinds_of(context))
    at = (terms.mass[:, :, 0], terms.force[:, 0], terms.rows[:, :, 0], terms.slip_rows[:, :, 0])
    dense = DenseTerms(*(np.ascontiguousarray(part) for part in at))
    sliding = [context.table.laws[law] for law, _ in moving.mode.sliding if moving.mode.shared]
    blur = 1.0 + BLUR * _slowness(terms, sliding, moment.memory.sizes[1])
    rows = watch_rows(context.table, moving, decision.idle, blur, moment.tied)
    widen(moment.t, context.options.tol, rows, dense, sizes_so_far(context, moment), bands)
    if own:
        bands = np.maximum(bands, bands_of_events(context, moving, moment, branches))
    return np.maximum(bands, _of_starts(context, moving, moment, dense))


def bands_of_events(
    context: Context, moving: Moving, moment: Moment, branches: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what rounding of the state, as large as it has been, and of the time does to a user's events; 0 else.

    One that fires leaves a rest of either sign. Where all velocities vanish there (a turning point) nothing at that
    state says how large rounding is.
    """
    far, fast, pull = moment.memory.sizes
    t, by_q, by_v = moment.t, far + abs(moment.t) * fast, fast + abs(moment.t) * pull
    here = moving.watched(t, moment.q, moment.v, context.params, branches)
    found = np.zeros(len(here))
    signs = np.where(np.arange(len(far)) % 2 == 0, SLOPE, -SLOPE)
    for q_signs, v_signs in ((signs, signs), (signs, -signs), (np.abs(signs), signs)):
        moved = moving.watched(t, moment.q + q_signs * by_q, moment.v + v_signs * by_v, context.params, branches)
        change = np.abs(moved - here) / SLOPE
        found = np.maximum(found, np.where(np.isfinite(change), change, 0.0))
    return np.where([kind == "extra" for kind, _ in moving.watch_names], EVENT * found, 0.0)


def _of_starts(context: Context, moving: Moving, moment: Moment, terms: DenseTerms) -> NDArray[np.float64]:
    """Return the rounding of slips and gaps that start from zero: of what the forces make of them in a step.

    Those that are rounding where they start may start with the wrong sign.
    """
    table, span = context.table, context.span(moment)
    pull = np.abs(terms.force) / np.diagonal(terms.mass) + moment.memory.sizes[2]
    found = np.zeros(len(moving.watch_names))
    for i, (kind, k) in enumerate(moving.watch_names):
        if kind == "slip" and table.of_law(k) in moment.resting:
            found[i] = span * float(np.abs(terms.slip_rows[table.laws[k].slips[0]]) @ pull)
        elif kind in ("gap", "value") and table.of_normal(k) in moment.touching:
            found[i] = span ** (2 if kind == "gap" else 1) * float(np.abs(terms.rows[k]) @ pull)
    return ROUNDING * found


def watch_rows(
    table: ContactTable,
    moving: Moving,
    idle: frozenset[int] = frozenset(),
    blur: float = 1.0,
    tied: frozenset[int] = frozenset(),
) -> WatchRows:
    """Return which rows the watches of a mode go with; the forces of what is idle are zero for good, as far as seen.

    `blur` is how many times less sharp normal forces are than rounding makes them; those of what is `tied` start at
    zero.
    """
    from zwang._numerics.motion.bands import GAP, NORMAL, OTHER, RESERVE, SLIP, SPEED, VALUE, WatchRows

    kinds = {
        "gap": GAP,
        "value": VALUE,
        "normal": NORMAL,
        "share": NORMAL,
        "slip": SLIP,
        "speed": SPEED,
        "reserve": RESERVE,
    }
    lines, factors = [], []
    for kind, k in moving.watch_names:
        slips = table.laws[k].slips if kind in ("slip", "speed", "reserve") else ()
        lines.append((kinds.get(kind, OTHER), slips[0] if slips else k, len(slips) or 1))
        forced = kind in ("normal", "share")
        number = table.of_normal(k) if forced else table.of_law(k) if kind == "reserve" else -1
        least = IDLE if forced and number in idle else TIED if number in tied else ROUNDING
        factors.append((blur if forced else 1.0) * least / ROUNDING)
    kinds_of, first, components = np.ascontiguousarray(np.array(lines, dtype=np.int64).reshape(-1, 3).T)
    return WatchRows(kinds_of, first, components, np.array(factors))


def sizes_so_far(ground: Ground, moment: Moment) -> WaySizes:
    """Return the largest coordinates, velocities and accelerations so far, as compiled code takes them."""
    from zwang._numerics.motion.bands import WaySizes

    return WaySizes(np.array(moment.memory.sizes), *kinds_of(ground), *(floor[:, 0].copy() for floor in ground.floors))


def kinds_of(ground: Ground) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return which coordinates are no angles (n,), as 1 and 0, and the usual sizes (2, n): see `WaySizes`."""
    return np.where(ground.table.arrays.turns, 0.0, 1.0), np.array(ground.sizes)


def _slowness(terms: Terms, places: list[ContactPlace], speeds: NDArray[np.float64]) -> float:
    """Return how many times slower than the motion has been the slowest of slips in planes is: so rounding turns it."""
    worst = 0.0
    for place in places:
        slip = terms.slip[list(place.slips), 0]
        size = float(np.abs(terms.slip_rows[list(place.slips), :, 0]).sum(axis=0) @ speeds)
        worst = max(worst, size / max(float(np.hypot(*slip)), 1e-12 * size, 1e-300)) if len(slip) > 1 else worst
    return worst


def lowest_flight(context: Context, moment: Moment, terms: Terms, normal: int) -> float:
    """Return how high a contact must fly to be told from a closed one: beyond the tolerance, and far beyond bands."""
    row = np.abs(terms.rows[normal, :, 0])
    q, v, _ = moment.memory.sizes
    far = float(row @ (q + abs(moment.t) * v))
    return FLIGHT * max(context.options.tol, 1e-12) * context.gap_size(normal, row, q) + 20 * ROUNDING * far


def branches_of(context: Context, moving: Moving, moment: Moment) -> NDArray[np.float64] | None:
    """Return the sides of the switching surfaces on which the motion goes on, None where there is no surface.

    A motion may leave a surface with a rate of zero, as a slip that starts leaves the kink of |slip|: then one looks
    further ahead until the side shows beyond rounding.
    """
    params = context.params
    count = sum(kind == "surface" for kind, _ in moving.watch_names)
    if count == 0:
        return None
    t, q, v = moment.t, moment.q, moment.v
    sides = np.array(moving.branches(t, q, v, params, context.changing))
    size = moving.bands(t, q, v, params, sides, kinds_of(context))[-count:]
    hidden = np.abs(moving.evaluate(t, q, v, params, sides)[3][-count:]) <= size
    for look in LOOKS if hidden.any() else ():
        h = look * context.span(moment)
        a = moving.evaluate(t, q, v, params, sides)[0]
        middle = moving.evaluate(t + h / 2, q + h / 2 * v, v + h / 2 * a, params, sides)[0]
        # Of third order in q: where a body begins to tip, its acceleration grows from zero too.
        later = moving.evaluate(t + h, q + h * v + h * h / 6 * (a + 2 * middle), v + h * middle, params, sides)
        found = later[3][-count:]
        shown = hidden & (np.abs(found) > 10 * size)
        sides[shown] = np.sign(found[shown])
        hidden &= ~shown
    return sides


def stands(ground: Ground, decision: Decision, moment: Moment) -> bool:
    """Say whether a mode holds every coordinate by rows that don't depend on time, so that nothing can move."""
    held = decision.held
    if held is None or len(held.mode.held) + len(held.mode.sticking) < len(moment.q):
        return False
    acting = [(place, label.plain) for place, label in zip(ground.table.places, decision.labels, strict=True)]
    acting = [(place, what) for place, what in acting if what is not Mode.OPEN]
    small = bool((np.abs(moment.v) <= STILL * ground.sizes.speed).all())
    if not small or not all(place.timeless for place, _ in acting):
        return False
    terms = ground.terms(moment.t, moment.q, np.zeros(len(moment.v)))
    # A velocity-level constraint or a belt may ask for a velocity that is not zero.
    rates = [terms.value[place.normal, 0] for place, _ in acting if place.normal >= 0 and not place.on_position]
    slips = [terms.slip[slip, 0] for place, what in acting if what is Mode.STICK for slip in place.slips]
    return not np.any([*rates, *slips])


def beyond(context: Context, moving: Moving, moment: Moment, surfaces: list[int], a: NDArray[np.float64]) -> Moment:
    """Return the moment just beyond switching surfaces: on the other side of each, at a distance of rounding.

    `a` are the accelerations with which the motion comes to them.
    """
    places = [moving.watch_names.index(("surface", k)) for k in surfaces]
    span = context.span(moment)

    def at(h: float) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        return moment.t + h, moment.q + h * moment.v, moment.v + h * a

    def side(h: float) -> NDArray[np.float64]:
        branches = moving.branches(*at(h), context.params, context.changing)
        return np.sign(moving.evaluate(*at(h), context.params, branches)[3][places])

    before = side(-1e-6 * span)
    unit = float(np.spacing(max(abs(moment.t), span)))
    for power in range(24):
        h = unit * 2.0**power
        if np.all(side(h) == -before):
            return moment.but(ahead=at(h))
    return moment


def said(table: ContactTable, watch: Watch) -> str:
    """Return what a watch that fired says."""
    kind, k = watch
    if kind in ("gap", "value", "normal", "share"):
        words = {"gap": "gap of '{}' closes", "value": "'{}' closes", "share": "'{}' comes to share what is carried"}
        words["normal"] = "reaction of '{}' changes its sign"
        return words[kind].format(table.places[table.of_normal(k)].name)
    if kind in ("slip", "speed", "reserve"):
        name = table.places[table.of_law(k)].name
        return f"friction of '{name}' is used up" if kind == "reserve" else f"slip of '{name}' stops"
    return {"surface": "a force switches", "singular": "a singular point is near"}.get(kind, "an event")
