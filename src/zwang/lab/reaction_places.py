"""Where reactions act in the drawing: at which point, and how, at one state or along a motion.

A force F at a point with Jacobian P does the work of a constraint's row w where ``P^T F = w``; so the point and the
force are those for which that can be solved. Bars are asked with opposite forces at their ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from zwang.lab.mechanism_numbers import Mechanism

Array = NDArray[np.float64]
MOST_POINTS = 60
"""Points that are asked whether a force acts there."""
FITS = 1e-9
"""Share of a row that a force at a point may leave over and still be that row's force."""
SAMPLED = 48
"""Instants of a motion that tell at which point a force acts."""
Ends = tuple[str, ...]


@dataclass(frozen=True)
class RowOfForce:
    """A row whose multiplier is a force.

    Attributes
    ----------
    constraint : str
    kind : {'normal', 'tangential'}
    component : int
        Of a tangential force in space.
    entries : sequence of expressions
    """

    constraint: str
    kind: str
    component: int
    entries: Sequence[Any]


class ForcePlaces:
    """The forces of a mechanism's constraints in its drawing."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.drawing = mechanism, mechanism.drawing
        shown = [item for item in mechanism.system.constraints if str(item.name) not in mechanism.hidden]
        self.rows = [
            RowOfForce(str(item.name), "normal", 0, mechanism.row_of(item)) for item in shown if item in mechanism.held
        ]
        self.rows += [
            RowOfForce(str(item.name), "tangential", k, entries)
            for item in shown
            for k, entries in enumerate(mechanism.slip_rows[str(item.name)])
        ]

    @cached_property
    def _lengths(self) -> list[Sequence[Any]]:
        """Rows that keep quaternions at unit length: a place is a function of a turn, whatever the length."""
        known = self.mechanism
        return [known.row_of(item) for item in known.held if str(item.name) in known.hidden]

    @cached_property
    def _points(self) -> dict[str, list[list[Any]]]:
        """Name -> rows of the derivatives of its place, of the points and bodies that move."""
        if self.drawing is None:
            return {}
        names = [name for name in self.mechanism.moving() if name in self.drawing.points or self.drawing.dimension == 3]
        return {name: self.mechanism.point_rows(name) for name in names[:MOST_POINTS]}

    def at(self, state: Mapping[str, float], params: Mapping[str, float]) -> dict[str, dict[str, Any]]:
        """Return for each constraint where a unit of its force acts, and how: normal and tangential."""
        found: dict[str, dict[str, Any]] = {row.constraint: {} for row in self.rows}
        q, v = self.mechanism.split(state)
        values = self.mechanism.values(q[None], v[None], params, float(state.get("t", 0.0)))
        for row, ends, forces in self._solved(values):
            force = forces[0]
            told = [{"point": ends[0], "force": force.tolist(), "component": row.component}]
            if len(ends) > 1:
                told.append({"point": ends[1], "force": (-force).tolist(), "component": row.component})
            found[row.constraint].setdefault(row.kind, []).extend(told)
        return found

    def along(
        self, values: Mapping[str, Any], forces: Mapping[tuple[str, str], Array]
    ) -> tuple[list[dict[str, Any]], Array]:
        """Return the forces of a motion: what each is, and a table with the components of each, one row an instant.

        Parameters
        ----------
        values : mapping
            Of all symbols by name, arrays along the motion.
        forces : mapping of (constraint, kind) to (N,) or (N, k) array
        """
        count = max((np.size(item) for item in values.values()), default=1)
        wide = 0 if self.drawing is None else self.drawing.dimension
        found: dict[tuple[str, str, Ends], Array] = {}
        for row, ends, units in self._solved(values, count):
            size = forces.get((row.constraint, row.kind))
            if size is None:
                continue
            size = size.reshape(len(size), -1)
            if row.component < size.shape[1]:
                part = units * size[:, row.component, None]
                key = (row.constraint, row.kind, ends)
                found[key] = found.get(key, 0.0) + part
        heads = [{"constraint": name, "kind": kind, "points": list(ends)} for name, kind, ends in found]
        return heads, np.concatenate([np.zeros((count, 0)), *found.values()], axis=1).reshape(count, wide * len(heads))

    def _solved(self, values: Mapping[str, Any], count: int = 1) -> list[tuple[RowOfForce, Ends, Array]]:
        """Return the rows that have a place in the drawing: their ends, and the unit forces (N, 2 or 3)."""
        table = self.mechanism.table
        P = {name: table(rows, values, count) for name, rows in self._points.items()}
        free = table(self._lengths, values, count) if self._lengths else np.zeros((count, 0, len(self.mechanism.names)))
        found = []
        for row in self.rows:
            entries = table([row.entries], values, count)[:, 0]
            best = self._best(entries, P, free)
            if best is not None:
                found.append((row, *best))
        return found

    def _best(self, row: Array, P: Mapping[str, Array], free: Array) -> tuple[Ends, Array] | None:
        if not np.abs(row).max(initial=0.0) or not np.isfinite(row).any():
            return None
        # Where a force acts is told by some instants of a long motion; how it acts there, at all of them.
        whole, every, all_free = row, P, free
        few = np.linspace(0, len(row) - 1, SAMPLED).astype(int) if len(row) > 2 * SAMPLED else None
        if few is not None:
            row, P, free = row[few], {name: item[few] for name, item in P.items()}, free[few]
        fits = _fitting({(name,): jacobian for name, jacobian in P.items()}, row, free)
        if not fits:
            bars = [(a, b) for a, b in self.drawing.bars if a in P and b in P] if P else []
            fits = _fitting({(a, b): P[a] - P[b] for a, b in bars}, row, free)
        if not fits:
            return None
        ends = min(fits, key=lambda key: float(np.nanmedian(np.linalg.norm(fits[key], axis=1))))
        if few is None:
            return ends, fits[ends]
        jacobian = every[ends[0]] if len(ends) == 1 else every[ends[0]] - every[ends[1]]
        return ends, unit_forces(jacobian, whole, all_free)


def _fitting(P: Mapping[Ends, Array], row: Array, free: Array) -> dict[Ends, Array]:
    """Return the unit forces at those ends that do the work of a row at most instants."""
    if not P:
        return {}
    forces = unit_forces(np.stack(list(P.values())), row, free)
    fits = np.isfinite(forces).all(axis=-1).mean(axis=-1) > 0.5
    return {ends: force for ends, force, fit in zip(P, forces, fits, strict=True) if fit}


def unit_forces(P: Array, row: Array, free: Array) -> Array:
    """Return the forces F with ``P^T F = row`` up to multiples of the rows `free`, for each of a batch; nan for none.

    `P` may have axes before that of the batch: Jacobians of several points.

    Examples
    --------
    >>> P, none = np.array([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]]), np.zeros((1, 0, 3))
    >>> unit_forces(P, np.array([[0.0, 2.0, 0.0]]), none).tolist()
    [[0.0, 2.0]]
    >>> unit_forces(P, np.array([[0.0, 2.0, 1.0]]), none).tolist()
    [[nan, nan]]
    >>> unit_forces(P, np.array([[0.0, 2.0, 1.0]]), np.array([[[0.0, 0.0, 1.0]]])).tolist()
    [[0.0, 2.0]]
    """
    wide, A = P.shape[-2], np.concatenate([P, np.broadcast_to(free, (*P.shape[:-2], *free.shape[-2:]))], axis=-2)
    sound = np.asarray(np.isfinite(A).all(axis=(-2, -1)) & np.isfinite(row).all(axis=-1))
    A, row = np.where(sound[..., None, None], A, 0.0), np.where(sound[..., None], row, 0.0)
    found = np.einsum("...dk,...k->...d", np.linalg.pinv(np.swapaxes(A, -2, -1), rcond=1e-9), row)
    size = np.abs(row).max(axis=-1)
    left = np.abs(np.einsum("...dk,...d->...k", A, found) - row).max(axis=-1)
    good = np.asarray(sound & (left <= FITS * size) & (size > 0))
    return np.where(good[..., None], found[..., :wide], np.nan)
