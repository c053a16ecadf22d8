"""Ranges of forces over a batch of states: where the motion is one and its forces are not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from zwang._compile.given_values import Inputs
from zwang._compile.model import Model
from zwang._declare.contact_table import table_of
from zwang._kernels import SparseTerms
from zwang._numerics.budget import spend
from zwang._numerics.contact.counted_state import CountedTerms
from zwang._numerics.contact.force_ranges import ForceRanges, force_ranges
from zwang._numerics.tolerances import Tolerances
from zwang._reactions.admissible import admitted_states
from zwang._results.reaction_ranges import Ranges
from zwang._results.reactions import Reactions, ReactionsStatus

CHUNK = 2000
"""States whose terms are computed at a time."""
Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def ranges_of_batch(
    model: Model,
    inputs: Inputs,
    tolerances: Tolerances,
    tol: float,
    exact: Callable[[Inputs], Reactions],
    table: Ints | None,
    codes: Ints,
    forces: Array,
) -> Ranges:
    """Return the least and greatest forces of all constraints, (k, 2, ...) each; nan where a state has not one motion.

    Parameters
    ----------
    model, inputs, tolerances, tol, exact
        As `reactions_of_batch` takes them.
    table : (k, 4) int array or None
        As the compiled count takes it, where it can be used.
    codes : (B,) int array
        Places of the statuses.
    forces : (k, 2, B) array
        One set of forces for each state with one motion.
    """
    statuses = tuple(ReactionsStatus)
    found = np.repeat(forces[:, :, None], 2, axis=2)
    found[..., ~np.isin(codes, [statuses.index(ReactionsStatus[name]) for name in ("UNIQUE", "UNIQUE_MOTION")])] = (
        np.nan
    )
    places = np.flatnonzero(codes == statuses.index(ReactionsStatus.UNIQUE_MOTION))
    left = [
        k
        for start in range(0, len(places), CHUNK)
        for k in _portion(model, inputs, tolerances, tol, table, places[start : start + CHUNK], found)
    ]
    names = [str(item.name) for item in model.system.constraints]
    for k in left:
        spend()
        _asked(exact(inputs.single(k)), names, found[..., k])
    kept = [k for k, name in enumerate(names) if name not in model.system.bookkeeping]
    normal, tangential = (inputs.restore(np.ascontiguousarray(found[kept, part])) for part in range(2))
    return Ranges(tuple(names[k] for k in kept), normal, tangential)


def _portion(
    model: Model,
    inputs: Inputs,
    tolerances: Tolerances,
    tol: float,
    table: Ints | None,
    places: Ints,
    found: Array,
) -> list[int]:
    """Write the ranges of a portion of the states; return which are left."""
    lines = table_of(model.system).arrays
    if table is None or (lines.components > 1).any():
        return [int(k) for k in places]
    spend()
    params = inputs.params if inputs.params.shape[1] == 1 else inputs.params[:, places]
    q, v = np.ascontiguousarray(inputs.q[:, places]), np.ascontiguousarray(inputs.v[:, places])
    states = Inputs(inputs.t[places], q, v, np.ascontiguousarray(params), ())
    terms = model.kernels.terms(states.t, states.q, states.v, states.params)
    if isinstance(terms, SparseTerms):
        return [int(k) for k in places]
    who = admitted_states(model.kernels, lines, terms, states, tolerances)
    counted = CountedTerms(*(np.ascontiguousarray(getattr(terms, name)) for name in CountedTerms._fields))
    wide = np.empty((2, len(table), 2, len(places)))
    wide[:, :, 0], wide[:, :, 1] = np.inf, -np.inf
    out = ForceRanges(wide[0], wide[1], np.zeros(len(places), dtype=np.int64))
    given = np.ascontiguousarray(found[:, :, 0, places])
    force_ranges(table, who.standing, who.rest, counted, given, tol, out)
    done = out.done == 1
    found[:, 0, :, places[done]] = np.moveaxis(out.normal[:, :, done], -1, 0)
    found[:, 1, :, places[done]] = np.moveaxis(out.tangential[:, :, done], -1, 0)
    return [int(k) for k in places[~done]]


def _asked(reactions: Reactions, names: list[str], ranges: Array) -> None:
    """Write the ranges (k, 2, 2) of one state that was asked exactly: over all its solutions."""
    ranges[:] = 0.0
    for solution in reactions.solutions:
        for j, name in enumerate(solution.names):
            own = ranges[names.index(name)]
            pieces = [solution.ranges.normal[j], solution.ranges.tangential[j]]
            for part, piece in enumerate(np.asarray(item, dtype=float) for item in pieces):
                if piece.ndim > 1:  # two components, and room for one
                    own[part] = np.nan
                elif solution is reactions.solutions[0]:
                    own[part] = piece
                else:
                    own[part] = min(own[part, 0], piece[0]), max(own[part, 1], piece[1])
