"""From modes to the solution set: the polyhedron of each mode, checked on the original equations.

The search decides which modes have solutions; here each of them is solved again from the scaled problem itself. A
condition that fails by more than `tol` rejects the mode. One that fails, or holds on the whole piece, by less than
`tol` but by more than rounding (`tol` / 100) makes the piece *marginal*: it is kept, and said to be undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.enumeration import SearchOutcome, partial_choice
from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.modes import Mode, slip_mode
from zwang._numerics.contact.scaled import AT_REST, Reduced
from zwang._numerics.linear.polyhedra import Polyhedron, affine_solution, from_conditions
from zwang._numerics.linear.programs import clearly_empty, deepest

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

KEPT = 64
"""Modes whose equations are solved once for all who ask: as many as are explained one by one."""
STILL = 1e-9
"""Directions that change the scaled acceleration by less than this don't change it."""


def nearness(tol: float) -> float:
    """Return the distance at which two solutions are one: what is decided by more than `tol` must stay two."""
    return max(0.2 * tol, 1e-12)


@dataclass(frozen=True, eq=False)
class Piece:
    """A convex piece of the solution set, in scaled forces.

    Attributes
    ----------
    polyhedron : Polyhedron
    modes : tuple of int, or None
        The mode of each contact; None for a piece merged from several.
    marginal : str
        What was decided by less than the tolerance, empty if nothing was.
    unique : bool
        Whether the acceleration is the same on the whole piece.
    u : (m,) array
        Scaled accelerations of the contacts at the polyhedron's point.
    sharp : bool
        Whether the signs of forces and accelerations at that point are certain, however small they are.
    """

    polyhedron: Polyhedron
    modes: tuple[int, ...] | None
    marginal: str
    unique: bool
    u: Array
    sharp: bool = False


EXPANDED = 200
"""Combinations of modes that are looked at before a rejection is decided exactly: a fifth of a second."""


def form_row(problem: Reduced, contact: int, form: tuple[float, ...], sign: int = 1) -> Array:
    """Return a form in (N, T, a_n, a_t, 1) of a contact as a row over (z, 1).

    Where another contact's normal force loads it, N is that force times its sign.
    """
    push, rub, gap, slip, constant = form
    row = np.zeros(problem.size + 1, dtype=problem.gram.dtype)
    if push:
        row[problem.normal[problem.master[contact]]] += sign * push
    if rub:
        row[problem.tangent[contact]] += rub
    for factor, places in ((gap, problem.normal), (slip, problem.tangent)):
        if factor:
            at = places[contact]
            row[:-1] += factor * problem.gram[at]
            row[-1] += factor * problem.free[at]
    if constant:
        row[-1] += constant
    return row


def conditions(problem: Reduced, modes: tuple[int, ...]) -> tuple[Array, Array, list[tuple[int, str]]]:
    """Return equations and inequalities of a mode, and whose the inequalities are and what their failure means."""
    equations: list[Array] = []
    inequalities: list[Array] = []
    owners: list[tuple[int, str]] = []
    for c, m in enumerate(modes):
        mode, sign = problem.tables[c].modes[m], _loading_sign(problem, c, modes)
        equations += [form_row(problem, c, form, sign) for form in mode.equations]
        inequalities += [form_row(problem, c, form, sign) for form in mode.inequalities]
        owners += [(c, reason) for reason in mode.reasons]
    shape = (-1, problem.size + 1)
    return np.reshape(np.array(equations), shape), np.reshape(np.array(inequalities), shape), owners


def _loading_sign(problem: Reduced, contact: int, modes: Sequence[int]) -> int:
    """Return the sign, in these modes, of the force that loads a contact from outside; 0 where it is not known."""
    master = int(problem.master[contact])
    if master == contact:
        return 1
    table, mode = problem.tables[master], int(modes[master])
    if 0 <= mode < len(table.modes):
        return table.modes[mode].sign
    return 0 if any(each.sign < 0 for each in table.modes) else 1


class SolvedPiece(NamedTuple):
    """The conditions of a mode, and what its equations alone leave; see `conditions` and `affine_solution`."""

    equations: Array
    inequalities: Array
    owners: list[tuple[int, str]]
    point: Array
    basis: Array
    residual: float
    gap: float

    @property
    def size(self) -> float:
        """What is compared with the tolerance at the point."""
        return max(1.0, float(np.abs(self.point).max(initial=0.0)))


def solved(problem: Reduced, modes: tuple[int, ...]) -> SolvedPiece:
    """Return the conditions of a mode with its equations solved; a few are kept, since several ask for the same."""
    found: SolvedPiece | None = problem.kept.get(modes)
    if found is None:
        equations, inequalities, owners = conditions(problem, modes)
        found = SolvedPiece(equations, inequalities, owners, *affine_solution(equations))
        if len(problem.kept) < KEPT:
            problem.kept[modes] = found
    return found


def clearly_points(problem: Reduced, leaves: Ints, margin: float) -> bool:
    """Whether each mode found has one solution, with `margin` to spare at every condition, and no two are near."""
    moves: list[Array] = []
    for row in leaves:
        mode = solved(problem, tuple(row.tolist()))
        if mode.basis.shape[1] or mode.gap < 1e-3 or mode.residual > margin or mode.size > 1e3:
            return False
        if (mode.inequalities[:, :-1] @ mode.point + mode.inequalities[:, -1] <= margin).any():
            return False
        moves.append(problem.gram @ mode.point)
    return all(np.abs(a - b).max(initial=0.0) > margin for i, a in enumerate(moves) for b in moves[:i])


def points_of(problem: Reduced, leaves: Ints) -> list[Piece]:
    """Return the pieces of modes that are `clearly_points`, in the order of modes."""
    pieces = []
    for modes in sorted(tuple(row) for row in leaves.tolist()):
        found = solved(problem, modes)
        nothing = np.zeros((0, problem.size))
        point = found.point
        body = Polyhedron(found.equations, found.inequalities, point[None], nothing, nothing, found.basis, point)
        pieces.append(Piece(body, modes, "", True, problem.gram @ point + problem.free))
    return pieces


def pieces_of(problem: Reduced, outcome: SearchOutcome, tol: float) -> list[Piece]:
    """Return the pieces of all modes found, in the order of modes; a closer look may reject one after all."""
    chosen = sorted(tuple(int(m) for m in modes) for modes in outcome.leaves)
    found = [piece for modes in chosen if (piece := piece_of(problem, modes, tol)) is not None]
    inner = [piece for piece in found if _is_strict(problem, piece, tol)]
    kept = []
    for piece in found:
        # What is strict only by rounding is a boundary of another mode, unless that mode was not found.
        if any(piece is other for other in inner):
            kept.append(piece)
        elif not any(other.polyhedron.includes(piece.polyhedron, nearness(tol)) for other in inner):
            kept.append(replace(piece, marginal=piece.marginal or "a mode that is a boundary of others"))
    return kept


def piece_of(problem: Reduced, modes: tuple[int, ...], tol: float) -> Piece | None:
    """Return the solutions in one mode, None if there are none."""
    found = solved(problem, modes)
    inequalities, owners, scale = found.inequalities, found.owners, found.size
    if found.residual > tol * scale:
        return None
    polyhedron = from_conditions(found.equations, inequalities, tol, (found.point, found.basis))
    if polyhedron is None:
        return None
    doubt = "the rank of its equations" if found.gap < 10.0 * tol else ""
    doubt = doubt or ("its equations" if found.residual > 0.01 * tol * scale else "")
    values = _values(polyhedron, inequalities)
    if len(values):
        size = _size(polyhedron)
        if values.min() < -tol * size:
            return None
        least = values.min(axis=1)
        near = (values.max(axis=1) < tol * size) & (values.max(axis=1) > 0.01 * tol * size)
        near |= least < -0.01 * tol * size
        if near.any():
            contact, reason = owners[int(np.flatnonzero(near)[0])]
            doubt = doubt or f"contact {contact + 1}: {reason}"
    return make_piece(problem, polyhedron, modes, doubt)


def _size(polyhedron: Polyhedron) -> float:
    return max(1.0, float(np.abs(polyhedron.vertices).max(initial=0.0)))


def strict_rows(problem: Reduced, modes: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Which inequalities of a mode are strict in its strict part: those on accelerations."""
    forms = [form for c, m in enumerate(modes) for form in problem.tables[c].modes[m].inequalities]
    return np.array([bool(form[2] or form[3]) for form in forms], dtype=bool)


def _is_strict(problem: Reduced, piece: Piece, tol: float) -> bool:
    """Whether every strict inequality of the piece's mode is positive somewhere on it, by more than rounding."""
    body, zero = piece.polyhedron, 0.01 * tol * _size(piece.polyhedron)
    rows = strict_rows(problem, piece.modes or ())
    if not rows.any():
        return True
    if body.whole:
        return bool((_values(body, body.inequalities)[rows].max(axis=1) > zero).all())
    found = deepest(body.equations, body.inequalities, rows.astype(float))
    return found is not None and found[1] > zero


def in_doubt(problem: Reduced, outcome: SearchOutcome, margin: float) -> Ints:
    """Look again, from the problem itself, at rejections that rest on little; return the places of those that do."""
    kept = []
    for place, row in enumerate(outcome.doubtful):
        # Where rest has a law of its own, what all modes of a contact share says little: they are looked at one by one.
        room = [EXPANDED] if problem.static else [0]
        if not _clearly_empty(problem, row, margin, room):
            kept.append(place)
    return np.array(kept, dtype=np.int64)


def _clearly_empty(problem: Reduced, row: Ints, margin: float, room: list[int]) -> bool:
    """Whether modes have clearly no solution; contacts without a mode may be given each of theirs, `room` times."""
    equations, inequalities, _ = _shared_conditions(problem, row)
    if clearly_empty(equations, inequalities, margin):
        return True
    free = np.flatnonzero(row < 0)
    for mode in range(len(problem.tables[free[0]].modes)) if len(free) else ():
        room[0] -= 1
        below = row.copy()
        below[free[0]] = mode
        if room[0] < 0 or not _clearly_empty(problem, below, margin, room):
            return False
    return bool(len(free))


def still_doubtful(problem: Reduced, outcome: SearchOutcome, tol: float) -> int:
    """Look again, from the problem itself, at rejections that rest on little; return how many stay undecided."""
    count = outcome.doubts - len(outcome.doubtful)
    for row in outcome.doubtful:
        equations, inequalities, strict = _shared_conditions(problem, row)
        found = deepest(equations, inequalities)
        if found is None or found[1] < -tol:
            continue  # rejected beyond doubt
        room = deepest(equations, inequalities, strict) if strict.any() else None
        if room is not None and abs(room[1]) <= 0.01 * tol:
            continue  # exactly a boundary of other modes
        if problem.static and _clearly_empty(problem, row, tol, [EXPANDED]):
            continue  # every one of its modes is rejected beyond doubt
        count += 1
    return count


def _shared_conditions(problem: Reduced, modes: Ints) -> tuple[Array, Array, Array]:
    """Conditions of the contacts that have a mode, and what all modes share of those without; which are strict."""
    equations: list[Array] = []
    inequalities: list[Array] = []
    strict: list[float] = []
    shared: list[tuple[float, ...]]
    for c, m in enumerate(modes):
        table, law = problem.tables[c], problem.laws[c]
        half = partial_choice(table, int(m))
        if half is not None:
            # One sign of N, or one motion at either sign: what is linear of it
            step, choice = half
            equations.append(form_row(problem, c, (0, 0, 1, 0, 0)))
            shared = [*table.modes[3 * choice].inequalities] if step == 0 else [(0, 0, 0, 1 - 2 * (choice == 2), 0)]
            if step == 1 and choice == 0:
                equations.append(form_row(problem, c, (0, 0, 0, 1, 0)))
                continue
            inequalities += [form_row(problem, c, form) for form in shared]
            strict += [float(step)] * len(shared)
            continue
        sign = _loading_sign(problem, c, modes.tolist())
        if not sign:
            continue  # nothing linear is known of it
        if c in problem.followers:
            mode = table.modes[max(m, 0)]
            held = mode.equations if m >= 0 or law is Law.FOLLOWS_SLIDING else ()
            equations += [form_row(problem, c, form, sign) for form in held]
            inequalities += [form_row(problem, c, form, sign) for form in mode.inequalities]
            strict += [1.0 if form[2] or form[3] else 0.0 for form in mode.inequalities]
            continue
        if m >= 0:
            mode = table.modes[m]
            equations += [form_row(problem, c, form) for form in mode.equations]
            inequalities += [form_row(problem, c, form) for form in mode.inequalities]
            strict += [1.0 if form[2] or form[3] else 0.0 for form in mode.inequalities]
            continue
        shared = []
        if law is Law.UNILATERAL:
            shared = [(0, 0, 1, 0, 0), (1, 0, 0, 0, 0)]
            equations += [form_row(problem, c, (problem.friction[c], 1, 0, 0, 0))] if problem.friction[c] else []
        elif law is Law.UNILATERAL_REST:
            shared = [(0, 0, 1, 0, 0), *table.modes[1].inequalities]
        elif law is Law.TRESCA_REST:
            shared = [*table.modes[0].inequalities]
        elif problem.normal[c] >= 0:
            equations.append(form_row(problem, c, (0, 0, 1, 0, 0)))
        inequalities += [form_row(problem, c, form) for form in shared]
        strict += [0.0] * len(shared)
    shape = (-1, problem.size + 1)
    return np.reshape(np.array(equations), shape), np.reshape(np.array(inequalities), shape), np.array(strict)


def make_piece(problem: Reduced, polyhedron: Polyhedron, modes: tuple[int, ...] | None, doubt: str) -> Piece:
    """Add to a polyhedron what it means for the acceleration."""
    change = np.abs(problem.gram @ polyhedron.basis).max(initial=0.0)
    u = problem.gram @ polyhedron.point + problem.free
    return Piece(polyhedron, modes, doubt, bool(change < STILL), u)


def _values(polyhedron: Polyhedron, inequalities: Array) -> Array:
    """Values of the inequalities (rows) at the vertices; infinite where a ray makes them grow."""
    points = polyhedron.vertices if polyhedron.whole else polyhedron.point[None, :]
    values: Array = inequalities[:, :-1] @ points.T + inequalities[:, -1:]
    rates = inequalities[:, :-1] @ np.concatenate([polyhedron.rays, polyhedron.lines]).T
    grows = (np.abs(rates) > 1e-9).any(axis=1)
    return np.column_stack([values, np.where(grows, np.inf, values.max(axis=1, initial=-np.inf))])


def contact_mode(problem: Reduced, piece: Piece, contact: int) -> Mode:
    """Return the mode of a contact in the relative interior; of one that slides only open and closed are told."""
    law = problem.laws[contact]
    normal, tangent = problem.normal[contact], problem.tangent[contact]
    z = piece.polyhedron.point
    zero = 0.0 if piece.sharp else 1e-11 * max(1.0, float(np.abs(z).max(initial=0.0)))
    if contact in problem.followers and contact_mode(problem, piece, int(problem.master[contact])) is Mode.OPEN:
        return Mode.OPEN
    rests = law in AT_REST
    one_sided = law in {Law.UNILATERAL, Law.UNILATERAL_REST}
    if one_sided and (piece.modes[contact] == 0 if piece.modes else piece.u[normal] > zero):
        return Mode.OPEN
    if not rests:
        mode = Mode.CLOSED
    elif piece.modes is not None:
        mode = problem.tables[contact].modes[piece.modes[contact]].mode
    elif abs(piece.u[tangent]) > zero:
        mode = slip_mode(1, piece.u[tangent])
    else:
        mode = Mode.STICK
    return mode.pulling(bool(normal >= 0 and z[normal] < -zero))
