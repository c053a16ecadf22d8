"""Reactions over a batch of states and parameters: status and number of accelerations at every point."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.laws import sound_laws
from zwang._compile.model import Model
from zwang._compile.values import Inputs
from zwang._declare.contact_table import table_of
from zwang._declare.system import System
from zwang._kernels import SparseTerms
from zwang._numerics.budget import Spent, spend
from zwang._numerics.contact import counting
from zwang._numerics.contact.admission import admit
from zwang._numerics.contact.table import ContactArrays
from zwang._numerics.jit import carried
from zwang._numerics.tolerances import Tolerances
from zwang._results import Provenance
from zwang._results.finite import NotFiniteError
from zwang._results.reactions import Reactions, ReactionsStatus
from zwang._results.reactions_map import ReactionsMap
from zwang.errors import StateError

CHUNK = 1000  # rows of this length stay in the cache, and not all in the same lines of it
MOST_MODES = 5000
AT_ONCE = 500_000  # modes that a thread looks at before it comes back to Python
Array = NDArray[np.float64]
Ints = NDArray[np.int64]
CODES = tuple(ReactionsStatus)


def reactions_of_batch(
    model: Model,
    inputs: Inputs,
    tolerances: Tolerances,
    tol: float,
    exact: Callable[[Inputs], Reactions],
    workers: int | None = None,
    report: Callable[[int], None] | None = None,
) -> ReactionsMap:
    """Return status and number of accelerations at each state of a batch.

    Parameters
    ----------
    model : Model
    inputs : Inputs
        Of the batch.
    tolerances, tol : Tolerances, float
        As for one state.
    exact : callable
        The reactions of one state, asked where the compiled count has a doubt.
    workers : int, optional
        Threads; by default as many as there are processors.
    report : callable, optional
        Called with the number of states done, from time to time.
    """
    states = inputs.q.shape[1]
    table = _table(model.system)
    counts = np.full(states, counting.DOUBTFUL, dtype=np.int64)
    worst = 0.0
    if table is not None:
        chunk = max(8, min(CHUNK, AT_ONCE // _modes(table_of(model.system).arrays)))
        starts = range(0, states, chunk)

        def work(start: int) -> tuple[int, float]:
            part = slice(start, min(start + chunk, states))
            counts[part], error = _count(model, inputs, part, table, tolerances, tol)
            return part.stop - part.start, error

        done, worst = work(0)  # compiles in one thread
        with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
            try:
                for size, error in pool.map(carried(work), starts[1:]):
                    spend()
                    done, worst = done + size, max(worst, error)
                    if report:
                        report(done)
            except Spent:  # the rest is told to be undecided below
                pool.shutdown(wait=True, cancel_futures=True)
            except BaseException:  # what waits in line is not begun after a Ctrl-C
                pool.shutdown(wait=True, cancel_futures=True)
                raise
    codes, numbers, asked, spent = _decide(counts, inputs, exact, report if table is None else None)
    return ReactionsMap(
        residual=max(worst, asked),
        provenance=Provenance.now(
            model.system.digest,
            tolerances={"tol": tol, "gap": tolerances.gap, "rate": tolerances.rate, "slip": tolerances.slip},
            backend=model.backend,
        ),
        name=model.system.name,
        codes=inputs.restore(codes.astype(np.int8)),
        counts=inputs.restore(numbers),
        reason=spent,
    )


def _table(system: System) -> Ints | None:
    """Return the table of constraints for the compiled count, None where that can't be used."""
    table = table_of(system)
    lines = table.arrays
    if not table.round or table.loaded or (lines.components > 1).any() or _modes(lines) > MOST_MODES:
        return None
    slip = np.where(lines.components > 0, lines.first, -1)
    return np.column_stack([lines.side, lines.normal, slip, lines.law])


def _modes(lines: ContactArrays) -> int:
    """Return how many combinations of modes there are."""
    modes = np.array([[2, 4], [1, 5], [3, 3]])  # without and with friction, by side
    return math.prod(modes[lines.side, np.minimum(lines.components, 1)].tolist())


def _count(
    model: Model, inputs: Inputs, part: slice, table: Ints, tolerances: Tolerances, tol: float
) -> tuple[Ints, float]:
    params = inputs.params if inputs.params.shape[1] == 1 else inputs.params[:, part]
    q, v = np.ascontiguousarray(inputs.q[:, part]), np.ascontiguousarray(inputs.v[:, part])
    terms = model.kernels.terms(inputs.t[part], q, v, np.ascontiguousarray(params))
    counts = np.full(q.shape[1], counting.DOUBTFUL, dtype=np.int64)
    worst = np.zeros(1)
    if isinstance(terms, SparseTerms):
        return counts, 0.0
    found = admit(table_of(model.system).arrays, terms, q, v, tolerances)
    counted = counting.CountedTerms(
        *(np.ascontiguousarray(getattr(terms, name)) for name in counting.CountedTerms._fields)
    )
    counting.count_solutions(table, found.standing, found.rest, counted, tol, counts, worst)
    counts[~sound_laws(model.system, terms.bounds)] = counting.INADMISSIBLE
    return counts, float(worst[0])


def _decide(
    counts: Ints, inputs: Inputs, exact: Callable[[Inputs], Reactions], report: Callable[[int], None] | None
) -> tuple[Ints, Ints, float, str]:
    """Return the status (place in `ReactionsStatus`) and the number of accelerations; doubts are asked exactly.

    Last, the worst residual, and which budget was spent before all were asked: those are undecided.
    """
    unique, multiple, none = (CODES.index(ReactionsStatus[name]) for name in ("UNIQUE", "MULTIPLE", "NONE"))
    status = np.where(counts == 0, none, np.where(counts == 1, unique, multiple))
    numbers = np.maximum(counts, 0)
    status[counts == counting.INADMISSIBLE] = CODES.index(ReactionsStatus.INADMISSIBLE)
    worst, spent = 0.0, ""
    doubts = np.flatnonzero(counts == counting.DOUBTFUL)
    status[doubts] = CODES.index(ReactionsStatus.UNDECIDED)
    for done, k in enumerate(doubts):
        if report:
            report(done)
        try:
            spend()
            found = exact(inputs.single(int(k)))
        except Spent as cause:
            spent = str(cause)
            break
        except NotFiniteError:
            status[k], numbers[k] = CODES.index(ReactionsStatus.UNDECIDED), 0
            continue
        except StateError:
            status[k], numbers[k] = CODES.index(ReactionsStatus.INADMISSIBLE), 0
            continue
        status[k], numbers[k] = CODES.index(found.status), len(found.accelerations)
        worst = max(worst, float(np.nan_to_num(found.residual)))
    return status, numbers, worst, spent


def map_axes(
    shape: tuple[int, ...], *mappings: Mapping[Any, Any] | None
) -> tuple[tuple[tuple[str, ...], ...], dict[str, Array]]:
    """Return, for each axis of a batch, the names of the inputs that vary along it alone; and their values on it.

    Parameters
    ----------
    shape : tuple of int
        Of the batch.
    mappings : mappings symbol or name -> number or array
        The inputs, which broadcast to that shape.

    Examples
    --------
    >>> axes, values = map_axes((2, 3), {"theta": [[0.1], [0.2]], "y": [[1.0], [2.0]]}, {"mu": [0.5, 1, 1.5], "m": 1})
    >>> axes, values["theta"].tolist()
    ((('theta', 'y'), ('mu',)), [0.1, 0.2])
    """
    axes: list[list[str]] = [[] for _ in shape]
    values: dict[str, Array] = {}
    for mapping in mappings:
        for key, given in (mapping or {}).items():
            array = np.asarray(given, dtype=float)
            if array.size == 1:
                continue
            array = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
            along = [axis for axis in range(len(shape)) if _varies(array, axis)]
            if len(along) == 1:
                name = key if isinstance(key, str) else getattr(key, "name", str(key))
                axes[along[0]].append(name)
                values[name] = np.array(np.moveaxis(array, along[0], -1).reshape(-1, array.shape[along[0]])[0])
    return tuple(tuple(names) for names in axes), values


def _varies(array: Array, axis: int) -> bool:
    return array.shape[axis] > 1 and not bool(np.all(array == array.take([0], axis=axis)))
