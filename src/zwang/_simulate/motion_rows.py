"""What follows from the states of a motion: reactions, energies, works, drift, residual; all rows at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._derive.supported import declared_digest
from zwang._kernels import Solved, SparseTerms, Terms
from zwang._numerics.contact.modes import Mode
from zwang._numerics.motion.moreau import StepLayout
from zwang._results import Provenance
from zwang._results.later import Later
from zwang._results.motion import Motion
from zwang._results.motion_parts import Events, MotionEvent, MotionPiece, MotionRows
from zwang._simulate.basic_forces import force_ranges
from zwang._simulate.ground import Ground
from zwang._simulate.joint_wrenches import wrench
from zwang._simulate.minimum_norm import least_forces
from zwang._simulate.mode_labels import ModeSolution, friction_of, full_mode, mode_of_piece, solve_mode
from zwang._simulate.moment import Stop
from zwang._simulate.options import MotionOptions
from zwang._simulate.quantities import quantities
from zwang._simulate.timestepping import Steps
from zwang._simulate.works import powers_of, solved_states, stays_sparse, works

Array = NDArray[np.float64]
LOG = logging.getLogger("zwang.simulate")
MOST_LOGGED = 100
"""Events of a motion that are logged."""
NEGLIGIBLE = 1e-3
"""Part of the largest forces of a piece below which forces are measured beside those."""
ENTRIES = 2_000_000
"""Entries of the rows of time stepping that are evaluated at once."""
SINGULAR = 1e-5
"""Smallest singular value of the held rows below which a row of a motion stands at a singular point."""


def motion_of(
    source: Any,
    options: MotionOptions,
    stop: Stop,
    pieces: tuple[MotionPiece, ...],
    events: Iterable[MotionEvent],
    drift: float,
    tolerances: Mapping[str, float],
) -> Motion:
    """Return a motion that was made, by whichever method; `source` computes its rows when they are asked for."""
    ground = source.ground
    system, course = ground.model.system, ground.course
    own = frozenset() if course is None else course.driven.own
    params = {item.name: float(value) for item, value in zip(system.parameters, ground.params, strict=True)}
    end = float(pieces[-1].t[-1])
    events = sorted(events, key=lambda event: event.time)
    LOG.debug("motion of '%s': %s at t = %g, %d events", system.name, stop.status.name, end, len(events))
    for event in events[:MOST_LOGGED]:
        LOG.debug("  t = %.9g: %s %s", event.time, event.kind, event.constraint or event.name)
    return Motion(
        status=stop.status,
        residual=None,
        provenance=Provenance.now(
            declared_digest(system) if ground.declared is None else ground.declared.digest,
            tolerances={**tolerances, **ground.told_sizes},
            backend=ground.model.backend,
        ),
        name=system.name,
        coordinates=tuple(item.name for item in system.coordinates),
        velocities=tuple(item.name for item in system.velocities),
        constraints=ground.table.names,
        bookkeeping=tuple(name for name in ground.table.names if name in system.bookkeeping),
        params={name: value for name, value in params.items() if name not in own},
        inputs={} if course is None else course.told(end),
        pieces=pieces,
        events=Events(events),
        continuations=stop.continuations,
        reason=stop.reason,
        until=options.until,
        drift_per_step=drift,
        drawing=options.drawing,
        units=options.units,
        source=source,
    )


def _assembled(
    ground: Ground,
    forces: tuple[Mapping[str, Array], Mapping[str, Array]],
    energy: Array,
    work: Callable[[], Mapping[str, Array]],
    drift: float,
    residual: float,
) -> MotionRows:
    """Return rows: reactions and friction, kinetic and potential energy (2, rows), drift, residual; works if asked."""
    from zwang._declare.plain import to_dict

    reactions, friction = forces
    kept = ground.model.system.bookkeeping
    return MotionRows(
        reactions={name: values for name, values in reactions.items() if name not in kept},
        friction=friction,
        energy={"kinetic": energy[0], "potential": energy[1], "total": energy[0] + energy[1]},
        work=Later(lambda: {name: values for name, values in work().items() if name not in kept}),  # type: ignore[arg-type]
        drift=drift,
        residual=residual,
        declaration=Later(lambda: to_dict(ground.model.system if ground.declared is None else ground.declared)),  # type: ignore[arg-type]
    )


@dataclass(frozen=True, eq=False)
class RowSource:
    """Computes the rows of motions of one system with one set of parameters."""

    ground: Ground
    redundant: str | None = None
    events: tuple[str, ...] = ()
    between_steps = True
    """Whether it computes rows anywhere in a step."""

    def values(self, motion: Motion, what: Any, states: tuple[Array, Array, Array]) -> Array:
        """Return a quantity at states; see `Motion.values`."""
        return quantities(self.ground, motion.drawing.get("points", {}), what, states)

    def wrench(self, motion: Motion, joint: str) -> Array:
        """Return what a joint exerts; see `Motion.wrench`."""
        return wrench(self.ground.declared or self.ground.model.system, motion, joint)

    def rows(self, motion: Motion) -> MotionRows:
        """Return everything that follows from the states of a motion."""
        if self.sparse(motion):
            return self._sparse_rows(motion)
        table = self.ground.table
        parts, energies, drift, residual = [], [], 0.0, 0.0
        for piece, kept in _kept_rows(motion.pieces):
            terms = self.ground.many(_times(piece, kept), piece.q[kept], piece.v[kept])
            lost = not np.isfinite(piece.a).any()  # a motion that begins without inertia, and ends there
            solved = _unknown(terms) if lost else solve_mode(table, terms, mode_of_piece(piece))
            parts.append((piece, terms, solved))
            energies.append(self._energies(terms, piece.v[kept]))
            drift = max(drift, self._drift(piece, terms))
            residual = max(residual, self._residual(piece, piece.a[kept], terms))
        energy = np.concatenate(energies, axis=1)
        return _assembled(
            self.ground,
            self._forces(parts),
            energy,
            lambda: works(self.ground, motion.pieces, self.events),
            drift,
            residual,
        )

    def sparse(self, motion: Motion) -> bool:
        """Say whether matrices stay sparse, a few states at a time; undetermined forces of least norm need others."""
        least = self.redundant is not None and any(piece.undetermined for piece in motion.pieces)
        return stays_sparse(self.ground) and not least

    def _sparse_rows(self, motion: Motion) -> MotionRows:
        """Return everything that follows from the states of a motion of a large system without friction."""
        table = self.ground.table
        energies, forces, drift, residual = [], [], 0.0, 0.0
        for piece, kept in _kept_rows(motion.pieces):
            t, q, v, a = _times(piece, kept), piece.q[kept], piece.v[kept], piece.a[kept]
            lam = np.zeros((len(table.places), len(t)))
            for part, terms, solved in solved_states(self.ground, piece, t, q, v):
                lam[list(piece.held), part] = solved.multipliers
                energies.append(self._energies(terms, v[part]))
                drift = max(drift, self._drift(piece, terms))
                errors = terms.residual(Solved(a[part].T, solved.multipliers, solved.regular), piece.held)
                good = solved.regular & np.isfinite(a[part]).all(axis=1)
                residual = max(residual, float(errors[good].max(initial=0.0)))
            lam[[place.normal for place in table.places if place.name in piece.undetermined]] = np.nan
            forces.append(lam)
        energy, every = np.concatenate(energies, axis=1), np.concatenate(forces, axis=1)
        reactions = {place.name: every[place.normal] for place in table.places}
        return _assembled(
            self.ground,
            (reactions, {}),
            energy,
            lambda: works(self.ground, motion.pieces, self.events),
            drift,
            residual,
        )

    def ranges(self, motion: Motion) -> dict[str, Array]:
        """Return name -> (rows, 2) the least and greatest value of each multiplier."""
        table = self.ground.table
        found = {
            name: np.stack([values, values], axis=1) for name, values in motion.reactions.items() if values.ndim == 1
        }
        row = 0
        for piece, kept in _kept_rows(motion.pieces):
            times = _times(piece, kept)
            if piece.undetermined and len(piece.dense):
                mode = full_mode(table, piece.modes)
                for k in range(len(times)):
                    terms = self.ground.many(times[[k]], piece.q[[k]], piece.v[[k]])
                    spans = force_ranges(table, terms, mode, piece.a[k])
                    for j, span in zip(mode.held, spans, strict=True):
                        name = table.places[table.of_normal(j)].name
                        if name in piece.undetermined:
                            found[name][row + k] = span
            row += len(times)
        return found

    def _forces(
        self, parts: list[tuple[MotionPiece, Terms, ModeSolution]]
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return multipliers and friction forces by constraint; what is undetermined is nan, or of least norm."""
        least = [self._least_norm(*part) for part in parts]
        reactions: dict[str, Array] = {}
        friction: dict[str, Array] = {}
        for place in self.ground.table.places:
            normal, tangential = [], []
            for (piece, terms, _), solved in zip(parts, least, strict=True):
                size = terms.force.shape[1]
                lam = solved.normal[place.normal] if place.normal >= 0 else np.zeros(size)
                rub = place.rows.along(terms.bounds, solved.tangential[list(place.slips)]).T
                hidden = self.redundant is None or not len(piece.dense)
                normal.append(np.full(size, np.nan) if hidden and place.name in piece.undetermined else lam)
                loose = {place.name, friction_of(place.name)} if not len(piece.dense) else {friction_of(place.name)}
                tangential.append(np.full(rub.shape, np.nan) if hidden and loose & set(piece.undetermined) else rub)
            if place.slips:
                both = np.concatenate(tangential)
                friction[place.name] = both[:, 0] if len(place.slips) == 1 else both
            reactions[place.name] = np.concatenate(normal) if place.normal >= 0 else friction[place.name]
        return reactions, friction

    def _least_norm(self, piece: MotionPiece, terms: Terms, solved: ModeSolution) -> ModeSolution:
        """Return the forces of least norm where the equations leave some free and they were asked for."""
        if self.redundant is None or not piece.undetermined or not len(piece.dense):
            return solved
        full = full_mode(self.ground.table, piece.modes)
        normal, tangential = solved.normal.copy(), solved.tangential.copy()
        for k in range(terms.force.shape[1]):
            forces = least_forces(self.ground.table, terms.state(k), full, solved.acceleration[:, k])
            normal[list(full.held), k], tangential[list(full.sticking), k] = forces
        return ModeSolution(solved.acceleration, normal, tangential)

    def _energies(self, terms: Terms | SparseTerms, v: Array) -> Array:
        """Return kinetic and potential energy (2, rows); equations without a Lagrangian have v M v / 2 and no other."""
        if self.ground.model.system.mass is None:
            return terms.energies
        if isinstance(terms, SparseTerms):
            kinetic = np.array([0.5 * float(row @ (mass @ row)) for row, mass in zip(v, terms.mass, strict=True)])
        else:
            kinetic = 0.5 * np.einsum("bi,ijb,bj->b", v, terms.mass, v)
        return np.stack([kinetic, np.zeros_like(kinetic)])

    def _drift(self, piece: MotionPiece, terms: Terms | SparseTerms) -> float:
        """Return the largest violation of a constraint: held ones both ways, open ones below zero."""
        worst = 0.0
        for place, label in zip(self.ground.table.places, piece.modes, strict=True):
            if place.normal < 0 or label is Mode.OFF:
                continue
            value, rate = terms.value[place.normal], terms.rate[place.normal]
            if label is Mode.OPEN:
                worst = max(worst, float(np.maximum(-value, 0.0).max(initial=0.0)))
                continue
            worst = max(worst, float(np.abs(value).max(initial=0.0)))
            if place.on_position:
                worst = max(worst, float(np.abs(rate).max(initial=0.0)))
        return worst

    def _regular(self, piece: MotionPiece, terms: Terms) -> NDArray[np.bool_]:
        """Return which rows are no singular points: there the equations don't give the acceleration."""
        rows = np.concatenate([terms.rows[list(piece.held)], terms.slip_rows[list(piece.sticking)]])
        if not len(rows):
            return np.ones(rows.shape[2], dtype=bool)
        return np.asarray(_smallest(np.moveaxis(rows, 2, 0)) > SINGULAR, dtype=bool)

    def _residual(self, piece: MotionPiece, a: Array, terms: Terms) -> float:
        """Return how far accelerations miss the equations of their mode, relative to the terms."""
        good = np.isfinite(a).all(axis=1) & self._regular(piece, terms)
        if not good.any():
            return 0.0
        solved = solve_mode(self.ground.table, terms, mode_of_piece(piece))
        push = np.einsum("jib,jb->ib", terms.rows, solved.normal)
        push += np.einsum("jib,jb->ib", terms.slip_rows, solved.tangential)
        inertia = np.einsum("ijb,jb->ib", terms.mass, a.T)
        miss = np.abs(inertia - terms.force - push).max(axis=0)
        size = np.abs(inertia).max(axis=0) + np.abs(terms.force).max(axis=0) + np.abs(push).max(axis=0, initial=0.0)
        # Where all forces vanish, their rounding counts beside what they are elsewhere in the piece.
        size = np.maximum(size, NEGLIGIBLE * size[good].max())
        return float((miss / np.where(size > 0, size, 1.0))[good].max())


def _unknown(terms: Terms) -> ModeSolution:
    """Return that accelerations and forces are not determined at states."""
    return ModeSolution(*(np.full_like(part, np.nan) for part in (terms.force, terms.value, terms.slip)))


def _smallest(rows: Array) -> Array:
    """Return the smallest singular value of the rows of each state, each relative to its greatest length."""
    lengths = np.linalg.norm(rows, axis=2, keepdims=True).max(axis=0, keepdims=True)
    values = np.linalg.svd(rows / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    return np.asarray(values[:, -1])


def _kept_rows(pieces: tuple[MotionPiece, ...]) -> list[tuple[MotionPiece, slice]]:
    """Return the pieces with the rows of each that the motion shows: the last gives way unless the state jumps."""
    shown = []
    for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
        last = following is None or following.jump
        shown.append((piece, slice(None) if last else slice(0, len(piece.t) - 1)))
    return shown


def _times(piece: MotionPiece, kept: slice) -> Array:
    """Return the times of the rows of a piece, the last one an instant earlier: before what jumps in time there."""
    times = piece.t[kept].copy()
    if kept == slice(None) and len(times) > 1:
        times[-1] = np.nextafter(times[-1], times[0])
    return times


# By time stepping.
@dataclass(frozen=True, eq=False)
class StepRows:
    """Computes the rows of one motion: reactions are impulses divided by the step, works those of the impulses."""

    ground: Ground
    layout: StepLayout
    steps: Steps

    def values(self, motion: Motion, what: Any, states: tuple[Array, Array, Array]) -> Array:
        """Return a quantity at states; see `Motion.values`."""
        return quantities(self.ground, motion.drawing.get("points", {}), what, states)

    def wrench(self, motion: Motion, joint: str) -> Array:
        """Return what a joint exerts; see `Motion.wrench`."""
        return wrench(self.ground.declared or self.ground.model.system, motion, joint)

    def rows(self, motion: Motion) -> MotionRows:
        """Return everything that follows from the steps."""
        reactions, friction = self._forces()
        energy, drift = self._energies()
        work, residual = self._works()
        residual = max(residual, self.steps.residual)
        made = _assembled(self.ground, (reactions, friction), energy, lambda: work, drift, residual)
        return made.but(reaction_range=_as_ranges(made.reactions))

    def ranges(self, motion: Motion) -> dict[str, Array]:
        """Return name -> (rows, 2): impulses are one number each."""
        return _as_ranges(motion.reactions)

    def _chunks(self, count: int) -> list[slice]:
        n, m = self.layout.n, max(len(self.layout.source), 1)
        size = max(ENTRIES // (n * (m + n)), 1)
        return [slice(start, min(start + size, count)) for start in range(0, count, size)]

    def _forces(self) -> tuple[dict[str, Array], dict[str, Array]]:
        """The force in a row is the mean of the step that starts there; the last row repeats the last step."""
        steps, rows = self.steps, len(self.steps.t)
        mean = np.zeros((rows, len(self.layout.source)))
        if rows > 1:
            mean[:-1] = steps.impulses / np.diff(steps.t)[:, None]
            mean[-1] = mean[-2]
        reactions: dict[str, Array] = {}
        friction: dict[str, Array] = {}
        for c, place in enumerate(self.ground.table.places):
            a, own = int(self.layout.first[c]), int(place.normal >= 0)
            if place.slips:
                both = mean[:, a + own : a + own + len(place.slips)]
                if place.rows.axes:
                    both = place.rows.along(self._bounds(), both.T).T
                friction[place.name] = both[:, 0] if len(place.slips) == 1 else both
            reactions[place.name] = mean[:, a] if own else friction[place.name]
        return reactions, friction

    def _bounds(self) -> Array:
        """The numbers of the laws at the start of every step."""
        return np.asarray(self.ground.many(self.steps.t, self.steps.q, self.steps.v).bounds)

    def _energies(self) -> tuple[Array, float]:
        """Return kinetic and potential energy (2, rows), and the largest violation of a position."""
        steps, table = self.steps, self.ground.table
        energy, drift = np.empty((2, len(steps.t))), 0.0
        for part in self._chunks(len(steps.t)):
            terms = self.ground.many(steps.t[part], steps.q[part], steps.v[part])
            energy[:, part] = terms.energies
            for place in table.places:
                if place.normal >= 0 and place.on_position:
                    value = terms.value[place.normal]
                    off = np.maximum(-value, 0.0) if place.one_sided else np.abs(value)
                    drift = max(drift, float(off.max(initial=0.0)))
        return energy, drift

    def _works(self) -> tuple[dict[str, Array], float]:
        """Return the cumulative works, and how far impulses miss the change of momentum, relative to its terms."""
        steps, places = self.steps, self.ground.table.places
        powers = powers_of(self.ground.model.system)
        h = np.diff(steps.t)
        t, mean = steps.t[:-1] + 0.5 * h, 0.5 * (steps.v[1:] + steps.v[:-1])
        q = steps.q[:-1] + 0.5 * h[:, None] * steps.v[:-1]
        guess = self._guess()
        names = [*powers.names, *(place.name for place in places), "time"]
        table, worst = np.zeros((len(steps.t), len(names))), 0.0
        *applied, explicit, _ = powers(t, q, mean, self.ground.values(t))
        for i, power in enumerate(applied):
            table[1:, i] = np.cumsum(h * power)
        for part in self._chunks(len(h)):
            terms = self.ground.many(t[part], q[part], guess[part])
            rows = np.concatenate([terms.rows, terms.slip_rows])[self.layout.source]
            worst = max(worst, self._miss(part, terms, rows))
            done = steps.impulses[part] * np.einsum("aib,bi->ba", rows, mean[part])
            for c in range(len(places)):
                a, s = int(self.layout.first[c]), int(self.layout.size[c])
                table[1:, len(applied) + c][part] = done[:, a : a + s].sum(axis=1)
        own = slice(len(applied), len(applied) + len(places))
        table[:, own] = np.cumsum(table[:, own], axis=0)
        bare = powers(steps.t, steps.q, steps.v, self.ground.values(steps.t))[-1]
        table[1:, -1] = np.cumsum(h * explicit)
        table[:, -1] += bare - bare[0]
        return {name: table[:, i] for i, name in enumerate(names)}, worst

    def _guess(self) -> Array:
        """The velocities at which the forces of the steps were evaluated."""
        v, guess = self.steps.v, self.steps.v[:-1].copy()
        smooth = np.flatnonzero(~self.steps.closing[:-1].any(axis=1)) + 1
        guess[smooth] = 1.5 * v[smooth] - 0.5 * v[smooth - 1]
        return guess

    def _miss(self, part: slice, terms: Terms, rows: Array) -> float:
        """How far impulses are from M (v+ - v) - h Q, relative to the terms: the equation of a step."""
        steps = self.steps
        change = np.einsum("ijb,bj->ib", terms.mass, np.diff(steps.v, axis=0)[part])
        push = np.einsum("aib,ba->ib", rows, steps.impulses[part])
        load = terms.force * np.diff(steps.t)[part]
        miss = np.abs(change - push - load).max(axis=0, initial=0.0)
        size = np.abs(change).max(axis=0) + np.abs(push).max(axis=0, initial=0.0) + np.abs(load).max(axis=0)
        return float((miss / np.where(size > 0, size, 1.0)).max(initial=0.0))


def _as_ranges(reactions: Mapping[str, Array]) -> dict[str, Array]:
    return {name: np.stack([force, force], axis=-1) for name, force in reactions.items()}
