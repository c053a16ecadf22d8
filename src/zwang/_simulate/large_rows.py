"""What follows from the states of a motion of a large system: matrices stay sparse, a few states at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zwang._kernels import Solved, SparseTerms
from zwang._numerics.contact.modes import Mode
from zwang._results.motion import Motion
from zwang._results.motion_parts import MotionPiece, MotionRows
from zwang._simulate.working import works

if TYPE_CHECKING:
    from zwang._simulate.rows import RowSource

Array = NDArray[np.float64]
FEW = 32
"""States whose matrices are in memory at once."""


def suits(source: RowSource, motion: Motion) -> bool:
    """Say whether a motion has its rows computed here: a large system without friction at work."""
    large = source.ground.model.kernels.sparse
    rough = any(place.slips for place in source.ground.table.places)
    least = source.redundant is not None and any(piece.undetermined for piece in motion.pieces)
    return large and not rough and not least


def solved_states(
    source: RowSource, piece: MotionPiece, t: Array, q: Array, v: Array
) -> Iterator[tuple[slice, SparseTerms, Solved]]:
    """Yield, for a few states (rows first) after the other, their places, terms, accelerations and multipliers."""
    kernels, params = source.ground.model.kernels, source.ground.params[:, None]
    for start in range(0, len(t), FEW):
        part = slice(start, min(start + FEW, len(t)))
        states = np.ascontiguousarray(t[part]), np.ascontiguousarray(q[part].T), np.ascontiguousarray(v[part].T), params
        terms = kernels.terms(*states)
        assert isinstance(terms, SparseTerms)  # `suits` has looked at the kernels
        yield part, terms, kernels.solve(*states, piece.held)


def large_rows(source: RowSource, motion: Motion) -> MotionRows:
    """Return everything that follows from the states of a motion."""
    from zwang._declare.files import to_dict
    from zwang._simulate.rows import _kept_rows, _times

    table = source.ground.table
    energies, forces, drift, residual = [], [], 0.0, 0.0
    for piece, kept in _kept_rows(motion.pieces):
        t, q, v, a = _times(piece, kept), piece.q[kept], piece.v[kept], piece.a[kept]
        lam = np.zeros((len(table.places), len(t)))
        for part, terms, solved in solved_states(source, piece, t, q, v):
            lam[list(piece.held), part] = solved.multipliers
            energies.append(_energies(source, terms, v[part]))
            drift = max(drift, source._drift(piece, terms))
            errors = terms.residual(Solved(a[part].T, solved.multipliers, solved.regular), piece.held)
            good = solved.regular & np.isfinite(a[part]).all(axis=1)
            residual = max(residual, float(errors[good].max(initial=0.0)))
        lam[[place.normal for place in table.places if place.name in piece.undetermined]] = np.nan
        forces.append(lam)
    energy, every = np.concatenate(energies, axis=1), np.concatenate(forces, axis=1)
    return MotionRows(
        reactions={place.name: every[place.normal] for place in table.places},
        friction={},
        energy={"kinetic": energy[0], "potential": energy[1], "total": energy[0] + energy[1]},
        work=works(source, motion),
        drift=drift,
        residual=residual,
        declaration=to_dict(source.ground.model.system),
    )


def _energies(source: RowSource, terms: SparseTerms, v: Array) -> Array:
    """Return kinetic and potential energy (2, states)."""
    if source.ground.model.system.mass is None:
        return terms.energies
    kinetic = np.array([0.5 * float(row @ (mass @ row)) for row, mass in zip(v, terms.mass, strict=True)])
    return np.stack([kinetic, np.zeros_like(kinetic)])


def constraint_powers(source: RowSource, piece: MotionPiece, t: Array, q: Array, v: Array) -> list[Array]:
    """Return the power (states,) of each constraint; see `working`."""
    table = source.ground.table
    acting = [number for number, label in enumerate(piece.modes) if label is not Mode.OPEN]
    out = np.zeros((len(table.places), len(t)))
    if all(table.places[k].timeless and table.places[k].on_position for k in acting):
        return list(out)  # what is at rest does no work
    held = {normal: row for row, normal in enumerate(piece.held)}
    for part, terms, solved in solved_states(source, piece, t, q, v):
        along = np.stack([rows @ speed for rows, speed in zip(terms.rows, v[part], strict=True)], axis=1)
        for k in acting:
            j = table.places[k].normal
            if j in held:
                now = (terms.rate if table.places[k].on_position else terms.value)[j]
                out[k, part] = -solved.multipliers[held[j]] * (now - along[j])
    return list(out)
