"""Labels of constraints (open, closed, stick, slip+, slip-, slip) and the mode of motion that they make.

Held rows must be independent. Where they are not, forces are not unique, and the rows are chosen so that the forces
that carry the motion are basic: a vertex of the set of admissible forces. As long as no force of the vertex leaves its
bounds the motion is admissible; when one does, another vertex is looked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._derive.modes import ActiveSet
from zwang._kernels import Terms
from zwang._numerics.contact.modes import Level, Mode, Side
from zwang._numerics.contact.table import ContactTable, Place
from zwang._numerics.linear.rank import DEPENDENT, Rank, rank_of
from zwang._simulate.vertices import basic_forces

Array = NDArray[np.float64]
OPENED = {Level.POSITION: ("contact", "lift-off"), Level.VELOCITY: ("capture", "release")}
"""What closing and opening are called."""
SPENT = 1e-9
"""Forces of a vertex below this, relative to its largest, are zero."""


@dataclass(frozen=True)
class Held:
    """A mode of motion, and the constraints whose reactions its equations leave free."""

    mode: ActiveSet
    undetermined: tuple[str, ...] = ()


def change_of(place: Place, before: Mode, after: Mode) -> str | None:
    """Return the kind of event that a change of mode is, None where nothing is logged of it."""
    first, second = before.plain, after.plain
    if first is second:
        return None
    if Mode.OPEN in (first, second):
        return OPENED[place.level][second is Mode.OPEN]
    if Mode.STICK in (first, second):
        return "stick" if second is Mode.STICK else "slip"
    return "reversal"


def full_mode(table: ContactTable, labels: tuple[Mode, ...]) -> ActiveSet:
    """Return the mode that holds every row which the labels name, dependent or not."""
    held, sticking, sliding, pulling = [], [], [], []
    for place, label in zip(table.places, labels, strict=True):
        if label is Mode.OPEN:
            continue
        if place.normal >= 0:
            held.append(place.normal)
            if label.pulls:
                pulling.append(place.normal)
        if label.plain is Mode.STICK:
            sticking += list(place.slips)
        elif label.slips:
            sliding.append((place.law, label.sign))
    return ActiveSet(tuple(held), tuple(sticking), tuple(sliding), tuple(pulling))


def hold(table: ContactTable, labels: tuple[Mode, ...], terms: Terms) -> Held:
    """Return the mode of the labels with independent rows."""
    full = full_mode(table, labels)
    rows = np.concatenate([terms.rows[list(full.held), :, 0], terms.slip_rows[list(full.sticking), :, 0]])
    if len(rows) == 0:
        return Held(full)
    mass = terms.mass[:, :, 0]
    found = rank_of(rows, mass)
    if found.full:
        return Held(full)
    free = _undetermined(table, full, found)
    forces, weights = basic_forces(table, terms, full) or (np.zeros(len(rows)), np.zeros(len(rows)))
    bilateral = np.array(
        [not table.places[table.of_normal(j)].one_sided for j in full.held] + [False] * len(full.sticking)
    )
    order = sorted(range(len(rows)), key=lambda i: (not bilateral[i], -weights[i], i))
    kept = set(_independent(found, order))
    held = tuple(j for i, j in enumerate(full.held) if i in kept)
    sticking = tuple(j for i, j in enumerate(full.sticking) if i + len(full.held) in kept)
    spent = _spent(table, full, held, kept, forces)
    mode = ActiveSet(held, sticking, (*full.sliding, *spent), tuple(j for j in full.pulling if j in held))
    return Held(mode, free)


def _spent(
    table: ContactTable, full: ActiveSet, held: tuple[int, ...], kept: set[int], forces: Array
) -> list[tuple[int, int]]:
    """Return the frictions that stick, but at their bound and without a row of their own: they go with their normal."""
    found = []
    size = float(np.abs(forces).max(initial=0.0))
    for i, slip in enumerate(full.sticking):
        place = next(place for place in table.places if slip in place.slips)
        force = forces[i + len(full.held)]
        loaded = place.side is Side.BOUND or place.normal in held
        if i + len(full.held) not in kept and loaded and abs(force) > SPENT * size:
            found.append((place.law, -1 if force > 0 else 1))
    return found


def _independent(found: Rank, order: list[int]) -> list[int]:
    """Return the first rows, in that order, that do not depend on those before them."""
    unit = found.left[:, : found.rank] * found.values[: found.rank]
    basis = np.zeros((0, found.rank))
    kept: list[int] = []
    for i in order:
        across = unit[i] - basis.T @ (basis @ unit[i])
        across -= basis.T @ (basis @ across)
        length = float(np.linalg.norm(across))
        if length > np.sqrt(DEPENDENT):
            basis = np.vstack([basis, across / length])
            kept.append(i)
        if len(kept) == found.rank:
            break
    return kept


def _undetermined(table: ContactTable, mode: ActiveSet, found: Rank) -> tuple[str, ...]:
    """Return the forces that have a share in a self-stress: names of constraints, and of their friction."""
    of_slip = {slip: place.name for place in table.places for slip in place.slips}
    names = [table.places[table.of_normal(j)].name for j in mode.held]
    names += [friction_of(of_slip[j]) for j in mode.sticking]
    taking = np.abs(found.left[:, found.rank :]).max(axis=1) > DEPENDENT
    return tuple(dict.fromkeys(names[i] for i in np.flatnonzero(taking)))


def friction_of(name: str) -> str:
    """Return what the friction force of a constraint is called among the undetermined forces."""
    return f"friction of {name}"
