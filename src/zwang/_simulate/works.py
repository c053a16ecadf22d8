"""Works: the integral of the power of every force, friction and reaction along a motion.

With T = T2 + T1 + T0 by degree in the velocities and F all forces but the potential's, Lagrange's equations give
d(T2 - T0)/dt = v F - T_t - V_q v, so that d(T + V)/dt = v F + [V_t - T_t + d(T1 + 2 T0)/dt]: the bracket is the work of
explicit time, whose last part is known without integrating (T1 + 2 T0 = 2 T - v dT/dv). A held constraint has
w v = -(its rate without v), so the power of its multiplier needs no velocity: it is exactly zero where nothing depends
on time. Powers are integrated on the dense output with as many points of Gauss per step as its order needs. An impulse
P along a row w does the work P w (v- + v+)/2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._derive.tree_recursion import with_dependents
from zwang._graph.convert import Converter
from zwang._graph.evaluate import evaluate
from zwang._graph.graph import Graph, Node
from zwang._kernels import Solved, SparseTerms
from zwang._numerics.contact.modes import Mode
from zwang._results.motion_dense import states_in_piece
from zwang._results.motion_parts import MotionPiece
from zwang._simulate.ground import Ground
from zwang._simulate.mode_labels import mode_of_piece, solve_mode

Array = NDArray[np.float64]
POINTS = 6  # points of Gauss: exact to degree eleven
FEW = 32
"""States whose sparse matrices are in memory at once."""
CHUNK = 4000
"""Steps whose powers are computed at once, for up to eight coordinates; fewer for more."""


class Powers:
    """The powers of applied forces and of explicit time as a graph, evaluated on arrays."""

    def __init__(self, system: System) -> None:
        self.graph = g = Graph()
        symbols = [time, *system.coordinates, *system.velocities, *system.parameters]
        self.inputs = [g.input(f"x{i}") for i in range(len(symbols))]
        convert = Converter(g, with_dependents(system, g, dict(zip(symbols, self.inputs, strict=True))))
        n = len(system.coordinates)
        t, q, v = self.inputs[0], self.inputs[1 : n + 1], self.inputs[n + 1 : 2 * n + 1]
        taken = {str(item.name) for item in system.constraints}
        self.names: list[str] = []
        nodes: list[Node] = []
        for i, coordinate in enumerate(system.coordinates):
            if coordinate in system.forces:
                name = coordinate.name
                self.names.append(f"{name} (force)" if name in taken else name)
                nodes.append(g.mul(convert(system.forces[coordinate]), v[i]))
        if system.tree is not None:
            # Bodies don't know time, nor terms of the first degree in the velocities; energy beside theirs may.
            for load in system.tree.loads:
                self.names.append(f"{load.name} (force)" if load.name in taken else load.name)
                nodes.append(g.add(*(g.mul(convert(force), convert(along)) for force, along in load.pairs)))
            nodes += [*g.forward([convert(system.added_potential)], {t: g.one}), g.zero]
        elif system.mass is None:
            kinetic, potential = convert(system.kinetic), convert(system.potential)
            changing = g.forward([potential, kinetic], {t: g.one})
            nodes.append(g.sub(changing[0], changing[1]))
            momenta = g.gradient(kinetic, v)
            nodes.append(g.linear(((2.0, kinetic), *((-1.0, g.mul(p, u)) for p, u in zip(momenta, v, strict=True)))))
        else:
            # T = v M v / 2 stands for the energy of equations without a Lagrangian: M changes along the motion.
            flow = {**dict(zip(q, v, strict=True)), t: g.one}
            entries = {(i, j): convert(system.mass[i, j]) for i in range(n) for j in range(n)}
            turning = g.forward(list(entries.values()), flow)
            parts = [g.mul(convert(system.force[i]), v[i]) for i in range(n)]
            parts += [
                g.mul(g.mul(v[i], v[j]), g.mul(g.const(0.5), d)) for (i, j), d in zip(entries, turning, strict=True)
            ]
            self.names.append("force")
            nodes += [g.add(*parts), g.zero, g.zero]
        self.nodes = nodes

    def __call__(self, t: Array, q: Array, v: Array, params: Array) -> list[Array]:
        """Return the powers at states (rows first): the forces', explicit time's rate, and T1 + 2 T0."""
        values = [t, *q.T, *v.T, *params]
        with np.errstate(all="ignore"):
            found = evaluate(self.graph, self.nodes, dict(zip(self.inputs, values, strict=True)), np)
        return [np.broadcast_to(np.asarray(item, dtype=float), t.shape) for item in found]


@lru_cache(maxsize=64)
def powers_of(system: System) -> Powers:
    """Return the powers of a system, made once."""
    return Powers(system)


def works(ground: Ground, pieces: Sequence[MotionPiece], events: Sequence[str] = ()) -> dict[str, Array]:
    """Return name -> cumulative work (rows,) of each applied force, constraint and switching event, and of time."""
    powers = powers_of(ground.model.system)
    own = [*powers.names, *ground.table.names]
    names = [*own, *(name for name in dict.fromkeys(events) if name not in own), "time"]
    total = np.zeros(len(names))
    rows: list[Array] = []
    bare: list[Array] = []
    for piece, following in zip(pieces, [*pieces[1:], None], strict=True):
        if piece.jump:
            total = total + _impulse_work(ground, piece, names)
        steps = _step_works(ground, powers, piece)
        others = np.zeros((len(steps), len(names) - len(own) - 1))
        steps = np.concatenate([steps[:, :-1], others, steps[:, -1:]], axis=1)
        cumulative = total + np.concatenate([np.zeros((1, len(names))), np.cumsum(steps, axis=0)])
        total = cumulative[-1]
        last = following is None or following.jump
        rows.append(cumulative if last else cumulative[:-1])
        bare.append(
            powers(piece.t, piece.q, piece.v, ground.values(piece.t))[-1][slice(None) if last else slice(0, -1)]
        )
    table = np.concatenate(rows)
    explicit = np.concatenate(bare)
    table[:, -1] += explicit - explicit[0]
    found = {name: table[:, i] for i, name in enumerate(names)}
    if not np.any(found["time"]):
        found["time"] = np.zeros(len(table))
    return found


@lru_cache(maxsize=1)
def _gauss() -> tuple[Array, Array]:
    """Return the points of Gauss and their weights: asked for in every piece of a motion."""
    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    return nodes, weights


def _step_works(ground: Ground, powers: Powers, piece: MotionPiece) -> Array:
    """Return the works (steps, names) of each step of a piece."""
    count = len(piece.t) - 1
    size = len(powers.names) + len(ground.table.places) + 1
    out = np.zeros((count, size))
    nodes, weights = _gauss()
    chunk = max(1, 8 * CHUNK // max(8, piece.q.shape[1]))
    for start in range(0, count, chunk):
        part = slice(start, min(start + chunk, count))
        left, width = piece.t[:-1][part], np.diff(piece.t)[part]
        times = (left[:, None] + width[:, None] * (nodes + 1) / 2).reshape(-1)
        y = states_in_piece(piece, times)
        n = piece.q.shape[1]
        power = _powers_at(ground, powers, piece, times, y[:, :n], y[:, n:])
        power = power.reshape(size, len(left), POINTS)
        out[part] = np.einsum("skp,p,k->ks", power, weights / 2, width)
    return out


def _powers_at(ground: Ground, powers: Powers, piece: MotionPiece, t: Array, q: Array, v: Array) -> Array:
    *applied, explicit, _ = powers(t, q, v, ground.values(t))
    rows: list[Any] = list(applied)
    if stays_sparse(ground):
        return np.array([*rows, *constraint_powers(ground, piece, t, q, v), explicit])
    terms = ground.many(t, q, v)
    solved = solve_mode(ground.table, terms, mode_of_piece(piece))
    for place, label in zip(ground.table.places, piece.modes, strict=True):
        power = np.zeros(len(t))
        if place.normal >= 0 and label is not Mode.OPEN:
            row = terms.rows[place.normal]
            now = (terms.rate if place.on_position else terms.value)[place.normal]
            power = power - solved.normal[place.normal] * (now - np.einsum("ib,bi->b", row, v))
        for slip in place.slips:
            row = terms.slip_rows[slip]
            along = np.einsum("ib,bi->b", row, v)
            if label.plain is Mode.STICK:
                along = along - terms.slip[slip]  # at rest the slip is zero, and the row times v is what a belt does
            power = power + solved.tangential[slip] * along
        rows.append(power)
    rows.append(explicit)
    return np.array(rows)


def _impulse_work(ground: Ground, piece: MotionPiece, names: list[str]) -> Array:
    """Return the works of the impulses at the start of a piece."""
    found = np.zeros(len(names))
    terms = ground.many(piece.t[:1], piece.q[:1], piece.v[:1])
    for details in piece.jumps:
        if "event" in details:  # what was switched on has no impulse of its own: all of it is the event's
            found[names.index(details["event"])] += float(details["energy_change"])
            continue
        mean = (np.asarray(details["before"]) + np.asarray(details["after"])) / 2
        for place in ground.table.places:
            work = details["impulses"].get(place.name, 0.0) * float(terms.rows[place.normal, :, 0] @ mean)
            rubbed = place.rows.scaled(terms.bounds[:, 0], details["friction_impulses"].get(place.name, ()))
            for slip, impulse in zip(place.slips, rubbed, strict=False):
                work += float(impulse) * float(terms.slip_rows[slip, :, 0] @ mean)
            found[names.index(place.name)] += work
    return found


def stays_sparse(ground: Ground) -> bool:
    """Say whether what follows from states is computed with sparse matrices: a large system without friction."""
    return ground.model.kernels.sparse and not any(place.slips for place in ground.table.places)


def solved_states(
    ground: Ground, piece: MotionPiece, t: Array, q: Array, v: Array
) -> Iterator[tuple[slice, SparseTerms, Solved]]:
    """Yield, for a few states (rows first) after the other, their places, terms, accelerations and multipliers."""
    kernels, params = ground.model.kernels, ground.values(t)
    for start in range(0, len(t), FEW):
        part = slice(start, min(start + FEW, len(t)))
        states = np.ascontiguousarray(t[part]), np.ascontiguousarray(q[part].T), np.ascontiguousarray(v[part].T), params
        if params.shape[1] > 1:
            states = (*states[:3], np.ascontiguousarray(params[:, part]))
        terms = kernels.terms(*states)
        assert isinstance(terms, SparseTerms)  # `stays_sparse` has looked at the kernels
        yield part, terms, kernels.solve(*states, piece.held)


def constraint_powers(ground: Ground, piece: MotionPiece, t: Array, q: Array, v: Array) -> list[Array]:
    """Return the power (states,) of each constraint."""
    table = ground.table
    acting = [number for number, label in enumerate(piece.modes) if label is not Mode.OPEN]
    out = np.zeros((len(table.places), len(t)))
    if all(table.places[k].timeless and table.places[k].on_position for k in acting):
        return list(out)  # what is at rest does no work
    held = {normal: row for row, normal in enumerate(piece.held)}
    for part, terms, solved in solved_states(ground, piece, t, q, v):
        along = np.stack([rows @ speed for rows, speed in zip(terms.rows, v[part], strict=True)], axis=1)
        for k in acting:
            j = table.places[k].normal
            if j in held:
                now = (terms.rate if table.places[k].on_position else terms.value)[j]
                out[k, part] = -solved.multipliers[held[j]] * (now - along[j])
    return list(out)
