"""Steps of a mode with the impacts between them that need no thought, in compiled code: see `motion.bounces`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zwang._kernels.mode_motion import Moving
from zwang._kernels.outputs import Array
from zwang._kernels.service import Service
from zwang._kernels.stretch_output import FIRED, Call, KnownState, Stretch, vector
from zwang._numerics.jit import with_addresses

if TYPE_CHECKING:
    from zwang._numerics.motion.bands import WatchRows, WaySizes
    from zwang._numerics.motion.bounces import Struck
    from zwang._numerics.motion.lone_impact import Flown, LoneContacts, TermPlaces
    from zwang._numerics.motion.loop import Stored

MOST = 1000
"""Impacts in one portion of work."""


class Bounce(NamedTuple):
    """An impact that a mode passed by itself.

    Attributes
    ----------
    row : int
        Of the state before it; that after it is the next one.
    watch : int
        Number of the watch that fired.
    impulses : (1 + k,) array
        Of the contact and of the held rows.
    friction, energy_change : float
        The impulse of friction, and what the kinetic energy has gained.
    rubbed : bool
        Whether there was friction.
    """

    row: int
    watch: int
    impulses: Array
    friction: float
    energy_change: float
    rubbed: bool


@dataclass(frozen=True, eq=False)
class Bouncing:
    """Steps with impacts between them: all rows, where the impacts are, and whether their number ended the call."""

    whole: Stretch
    bounces: tuple[Bounce, ...]
    full: bool

    def rows(self, k: int) -> slice:
        """Return the rows up to impact k, those after the last one for k = the number of impacts."""
        start = self.bounces[k - 1].row + 1 if k else 0
        return slice(start, self.bounces[k].row + 1 if k < len(self.bounces) else len(self.whole.t))

    def stretch(self, k: int) -> Stretch:
        """Return the steps up to impact k, those after the last one for k = the number of impacts."""
        rows, whole = self.rows(k), self.whole
        last = k == len(self.bounces)
        return replace(
            whole,
            t=whole.t[rows],
            q=whole.q[rows],
            v=whole.v[rows],
            a=whole.a[rows],
            dense=whole.dense[rows.start : rows.stop - 1],
            status=whole.status if last else FIRED,
            fired=whole.fired if last else (self.bounces[k].watch,),
        )


@dataclass(frozen=True, eq=False)
class BounceTask:
    """What the loop has to know of constraints and of the way so far; sizes and flights are brought up to date."""

    rows: WatchRows
    contacts: LoneContacts
    sizes: WaySizes
    flown: Flown
    tol: float


class BounceCall(Call):
    """The arrays of one call of the loop, and what it has produced."""

    spare = MOST

    def __init__(self, given: tuple[Any, ...], task: BounceTask, terms: TermPlaces, impacts: int) -> None:
        super().__init__(*given)
        self.task, self.terms, self.impacts = task, terms, impacts
        self.found: list[Bounce] = []
        self.rows, self.full = 0, False

    def make(self, stored: Stored) -> int:
        """Make steps and impacts into an array of rows; return how that ended."""
        from zwang._numerics.motion.bounces import BounceTables, Struck
        from zwang._numerics.motion.run_layout import ATTEMPTS, STEPS, TRIED

        task, most = self.task, min(MOST, self.impacts - len(self.found))
        held = len(task.contacts.held)
        indices = np.full((2, most), -1, dtype=np.int64)
        struck = Struck(indices[0], indices[1], np.zeros((most, 1 + held)), np.zeros((most, 3)))
        arrays = (self.params, self.room, self.watched, self.counts, self.reals, stored)
        given: tuple[Any, ...] = (*task.rows, *task.contacts, *self.terms, *task.sizes, *task.flown, task.tol)
        tables = BounceTables(*given)
        attempts = int(self.counts[ATTEMPTS])
        ended = self.loop(*arrays, tables, struck)
        self._take(struck)
        spent = self.counts[TRIED] >= attempts or self.counts[STEPS] + 2 >= stored.times.size
        self.full = bool(spent or not most or struck.rows[most - 1] >= 0)
        self.rows += int(self.counts[STEPS])
        return ended

    def _take(self, struck: Struck) -> None:
        hits = int(np.count_nonzero(struck.rows >= 0))
        rows, watches, more = (part[:hits].tolist() for part in (struck.rows, struck.watch, struck.more))
        impulses = struck.impulses[:hits].copy()  # what is left of the room is given back
        for row, watch, own, (friction, energy, rubbed) in zip(rows, watches, impulses, more, strict=True):
            self.found.append(Bounce(self.rows + row, watch, own, friction, energy, rubbed > 0))


def bouncing(
    moving: Moving,
    service: Service,
    task: BounceTask,
    state: tuple[float, Array, Array],
    params: Array,
    limits: tuple[float, float],
    sides: Array,
    *,
    impacts: int,
    max_steps: int,
    known: KnownState,
    between: Callable[[float], None] | None = None,
) -> Bouncing:
    """Go on from a state through impacts; see `Moving.advance`.

    Parameters
    ----------
    moving, service : Moving, Service
        The mode, and the kernels of its system.
    task : BounceTask
    state : tuple
        t, q, v.
    params : (p,) array
    limits : tuple of float
        Until when, and the tolerance of a step.
    sides : (w,) array
    impacts, max_steps : int
        How many there may be.
    known : KnownState
        With the bands at the start.
    between : callable, optional
    """
    from zwang._numerics.motion.bounces import BounceCode, bounce

    assert known.bands is not None
    functions, terms = moving.kernels.functions, service.term_functions.brief
    everything, sides = vector(params), np.asarray(sides)
    quick = functions.calls[4] if moving.kernels.glance(sides) else functions.calls[3]
    coded = with_addresses(bounce, *functions.calls[:3], quick, functions.calls[3], terms.calls[0], pack=BounceCode)
    loop = partial(coded, functions.table, functions.workspace(everything))
    given = (moving.kernels, loop, *state, everything, *limits, sides, known.bands.copy(), True, known.sizes)
    call = BounceCall(given, task, term_places(service, params), impacts)
    call.step = known.step or 0.0
    status = moving.carry(call, max_steps, between)
    whole = call.stretch(status)
    # An interrupt may have come before the last rows were kept.
    return Bouncing(whole, tuple(one for one in call.found if one.row + 1 < len(whole.t)), call.full)


def term_places(service: Service, params: Array) -> TermPlaces:
    """Return where the terms of a system stand in what their function writes."""
    from zwang._numerics.motion.lone_impact import TermPlaces

    layout, functions, program = service.layout, service.term_functions.brief, service.program

    def make() -> tuple[Any, ...]:
        names = ("mass", "force", "value", "rate", "rows", "slip", "slip_rows", "bounds", "gamma", "slip_bias")
        places = (list(program.mass), layout.row_places, layout.slip_places)
        mass, rows, slips = (np.array(part, dtype=np.int64).reshape(-1, 2) for part in places)
        starts = np.array([layout.slices[name].start for name in names], dtype=np.int64)
        size = np.array([len(layout.nodes), len(program.normals), len(program.slips)], dtype=np.int64)
        return mass, rows, slips, starts, size

    mass, rows, slips, starts, size = service.kept("places of terms", make)
    return TermPlaces(mass, rows, slips, starts, functions.table, functions.workspace(params), size)
