"""Motion within a mode: steps of order 8 in compiled code, projected, with dense output and watches.

`moving(model, mode)` returns the `Moving` of a mode; `Moving.advance` goes on from a state until its time, until a
watched quantity changes its sign, or for a number of steps, and returns a `Stretch`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from zwang._derive.motion_modes import ActiveSet
from zwang._interrupts import taken
from zwang._kernels.mode_kernels import ModeKernels
from zwang._kernels.outputs import Array
from zwang._kernels.service import Service
from zwang._kernels.stretch_output import INTERRUPTED, PAUSED, Call, KnownState, Stretch, vector
from zwang._numerics.budget import Spent, spend
from zwang._numerics.jit import with_addresses
from zwang._numerics.pace import Pace

STORED = 2_000_000  # numbers kept in one call
FIRST, MOST = 16, 4096  # attempts in the first portion, and in the largest
SLOW = 0.02  # seconds; after portions that take longer the caller is told how far they led
NOTHING = KnownState()
LOOK = 1e-9  # of the time on which a motion changes: how far to look for the side of a switching surface that it enters
ABOVE = 1e-13  # of the time itself: what of such a look is beyond its rounding


@dataclass
class Moving:
    """A mode of a system, ready to move.

    Attributes
    ----------
    mode : ActiveSet
    watch_names : tuple
        One for each watched quantity: ('gap', j), ('value', j), ('normal', j), ('share', j), ('slip', f), ('speed', f),
        ('reserve', f), ('singular', 0), ('extra', k), ('surface', k).
    tried : int
        Steps tried so far, in all calls.
    """

    mode: ActiveSet
    kernels: ModeKernels
    n: int
    parameters: int
    slips: int
    watch_names: tuple[tuple[str, int], ...] = field(init=False)
    tried: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.watch_names = self.kernels.watches
        self._pace: Pace[str] = Pace(FIRST, MOST)

    def prepared(self, params: Array, sides: Array) -> Callable[..., int]:
        """Return the compiled loop for parameters (with the sides of the surfaces): see `motion.loop.run`.

        It takes params, room, watched, counts, reals and stored.
        `sides` says what will be watched: where that needs no solution of the equations, less is computed.
        """
        from zwang._numerics.motion.loop import Addresses, advance

        functions = self.kernels.functions
        chosen = functions.only(0, 1, 2, 4 if self.kernels.glance(sides) else 3)
        loop = with_addresses(advance, *chosen.calls, pack=Addresses)
        return partial(loop, functions.table, functions.workspace(params))

    def branches(self, t: float, q: Array, v: Array, params: Array, span: float = 1.0) -> Array:
        """Return the side of each switching surface at a state; on a surface the one that the motion enters.

        `span` is a time on which the motion changes: what it crosses within a tiny part of it, it is on.
        """
        k = self.kernels.surfaces
        sides = np.ones(k)
        if not k:
            return sides
        first = len(self.watch_names) - k
        h = max(LOOK * span, ABOVE * abs(t))
        for _ in range(k + 1):  # surfaces may stand in branches of others
            here = self.evaluate(t, q, v, params, sides)
            # On a side where the motion is not, rows may be no rows, and accelerations no numbers.
            a = np.where(np.isfinite(here[0]), here[0], 0.0)
            after = self.evaluate(t + h, q + h * v + h * h / 2 * a, v + h * a, params, sides)
            values, later = here[3][first:], after[3][first:]
            change = np.abs(later - values)
            found = np.where(np.abs(values) > 1e-3 * change + 1e-300, values, later - values)
            found = np.where(found == 0.0, 1.0, np.sign(found))
            if np.array_equal(found, sides):
                break
            sides = found
        return sides

    def evaluate(
        self, t: float, q: Array, v: Array, params: Array, branches: Array | None = None
    ) -> tuple[Array, Array, Array, Array, bool]:
        """Return accelerations, multipliers of the held normals, friction of each slip component, watches, soundness.

        `branches` are the sides of the switching surfaces, by default those of the state.
        """
        if branches is None:
            branches = self.branches(t, q, v, params)
        everything = np.concatenate([params, branches])
        k, s, w = len(self.mode.held), self.slips, len(self.watch_names)
        out = np.empty(self.n + k + s + w)
        report = self.kernels.report
        work = report.workspace(everything)
        status = report.calls[0](float(t), vector(q), vector(v), everything, report.table, work, out)
        a, lam, friction, watches = np.split(out, np.cumsum([self.n, k, s]))
        return a, lam, friction, watches, status == 0

    def bands(
        self, t: float, q: Array, v: Array, params: Array, branches: Array, kinds: tuple[Array, Array] | None = None
    ) -> Array:
        """Return what counts as zero for each watch: what rounding of the state does to it, with a margin.

        `kinds` are which coordinates are no angles, (n,) of 1 and 0, and the usual sizes (2, n) of coordinates and
        velocities; without it all coordinates are of one kind, as large as they are here.
        """
        from zwang._numerics.motion.bands import nudged

        moves, usual = kinds or (np.ones(self.n), np.zeros((2, self.n)))
        functions, bands = self.kernels.functions, np.empty(len(self.watch_names))
        everything = np.concatenate([params, branches])
        work = functions.workspace(everything)
        call = with_addresses(nudged, functions.calls[3])
        call(functions.table, work, everything, float(t), vector(q), vector(v), moves, usual, bands)
        return bands

    def watched(self, t: float, q: Array, v: Array, params: Array, branches: Array) -> Array:
        """Return what the loop watches: as `evaluate` says, but reserves of friction as a difference of squares."""
        functions = self.kernels.functions
        everything = np.concatenate([params, branches])
        out = np.zeros(len(self.watch_names) + 1)
        work = functions.workspace(everything)
        functions.calls[3](float(t), vector(q), vector(v), everything, functions.table, work, out)
        return out[:-1]

    def advance(
        self,
        t: float,
        q: Array,
        v: Array,
        params: Array,
        until: float,
        tol: float,
        sides: Array,
        *,
        max_steps: int = 10_000_000,
        known: KnownState = NOTHING,
        dense: bool = True,
        between: Callable[[float], None] | None = None,
    ) -> Stretch:
        """Go on from a state.

        Parameters
        ----------
        t, q, v : float and (n,) arrays
            The state; it satisfies what is held.
        params : (p,) array
        until : float
            Reached exactly.
        tol : float
            Tolerance of a step, relative to the sizes and to the state.
        sides : (w,) array
            For each watch the sign it must keep, +1 or -1; 2: it fires on any crossing; 0: it is not watched. A
            switching surface with 0 is crossed, at a step that ends there, without a word.
        max_steps : int
            Steps after which to pause.
        known : KnownState
            What is known of the state already.
        dense : bool
            Whether to keep the dense output.
        between : callable, optional
            Called with the time reached, a few times a second where steps take long.

        Returns
        -------
        Stretch
            The same on a machine under load; after Ctrl-C what there is of it, INTERRUPTED.
        """
        q, v, params = vector(q), vector(v), vector(params)
        branches = self.branches(t, q, v, params) if known.branches is None else known.branches
        bands = self.bands(t, q, v, params, branches) if known.bands is None else known.bands
        everything = np.concatenate([params, branches])
        loop = self.prepared(everything, np.asarray(sides))
        call = Call(self.kernels, loop, t, q, v, everything, until, tol, sides, bands, dense, known.sizes)
        call.step = known.step or 0.0
        return call.stretch(self.carry(call, max_steps, between))

    def carry(self, call: Call, max_steps: int, between: Callable[[float], None] | None) -> str:
        """Let a call make its steps, portion by portion; return how that ended."""
        room = max(1, min(max_steps, STORED // ((14 * call.dense + 4) * self.n + 1)))
        status = PAUSED
        try:
            while status == PAUSED and call.steps < room:
                status = self._pace.go(partial(call.run, room=room - call.steps))
                spend()  # looks at the clock of the budget
                if between is not None and self._pace.spent > SLOW:
                    between(call.time)
        except (KeyboardInterrupt, Spent) as cause:
            if not call.steps:
                raise
            if isinstance(cause, KeyboardInterrupt):
                taken()
            status = PAUSED if isinstance(cause, Spent) else INTERRUPTED
        self.tried += call.attempts
        return status


def moving(model: Any, mode: ActiveSet, extra: Sequence[Any] = (), *, compiled: bool | None = None) -> Moving:
    """Return the `Moving` of a mode, made once for each model.

    Parameters
    ----------
    model : Model or its kernels
    mode : ActiveSet
    extra : expressions
        Watched beside what the mode watches by itself: user events.
    compiled : bool, optional
        Code of the mode's own (True) or what needs no compilation (False); by default as it suits the system.
    """
    service: Service = getattr(model, "kernels", model)
    system, watched = service.system, tuple(extra)

    def make() -> Moving:
        kernels = service.mode(mode, watched, quick=None if compiled is None else not compiled)
        slips = sum(len(law.slips) for law in service.structure.laws)
        return Moving(mode, kernels, len(system.coordinates), len(system.parameters), slips)

    return service.kept(("moving", mode, watched, compiled), make)
