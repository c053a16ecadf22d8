"""Reactions over a batch of states and parameters: status and number of accelerations at every point."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.coefficients import sound_laws
from zwang._compile.given_values import Inputs
from zwang._compile.model import Model
from zwang._declare.contact_table import table_of
from zwang._declare.system import System
from zwang._kernels import SparseTerms, Terms
from zwang._kernels.many_reactions import Admit, DeviceCount
from zwang._numerics.budget import Spent, spend
from zwang._numerics.contact import counting
from zwang._numerics.contact.admission import admit
from zwang._numerics.contact.modes import Mode
from zwang._numerics.contact.table import ContactArrays
from zwang._numerics.jit import carried
from zwang._numerics.tolerances import Tolerances, name_of
from zwang._reactions.admissible import admitted_states
from zwang._reactions.map_ranges import ranges_of_batch
from zwang._results import Provenance
from zwang._results.finite import NotFiniteError
from zwang._results.reactions import Reactions, ReactionsStatus
from zwang._results.reactions_map import ReactionsMap
from zwang.errors import StateError

CHUNK = 2000  # rows of this length stay in the cache, and not all in the same lines of it
MOST_MODES = 5000  # combinations at a state in compiled code: some milliseconds
STILL = 1e-9  # the part of the acceleration of applied forces below which one vanishes
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
    table = count_table(model.system)
    out = _room(len(model.system.coordinates), len(model.system.constraints), states)
    planar = not (table_of(model.system).arrays.components > 1).any()
    counter = model.kernels.counter(table) if table is not None and planar else None
    if counter is not None:
        _count_elsewhere(counter, model, inputs, tolerances, tol, out, report)
    elif table is not None:
        _count_here(model, inputs, table, tolerances, tol, out, workers, report)
    codes, numbers, asked, spent = _decide(model, out, inputs, exact, report if table is None else None)
    names = model.system.constraints.names
    kept = [k for k, name in enumerate(names) if name not in model.system.bookkeeping]
    found = ReactionsMap(
        residual=max(float(out.worst[0]), asked),
        provenance=Provenance.now(
            model.system.digest,
            tolerances={"tol": tol, "gap": tolerances.gap, "rate": tolerances.rate, "slip": tolerances.slip},
            backend=model.backend,
        ),
        name=model.system.name,
        codes=inputs.restore(codes.astype(np.int8)),
        counts=inputs.restore(numbers),
        reason=spent,
        contacts=tuple(names[k] for k in kept),
        coordinates=tuple(item.name for item in model.system.coordinates),
        accelerations=inputs.restore(out.accelerations),
        normal=inputs.restore(out.forces[kept, 0]),
        tangential=inputs.restore(out.forces[kept, 1]),
        modes=inputs.restore(out.modes[kept].astype(np.int8)),
        still=inputs.restore(out.still == 1),
    )
    given = (model, inputs, tolerances, tol, exact, table, codes, out.forces)
    return found.with_ranges(lambda: ranges_of_batch(*given))


def _room(n: int, lines: int, states: int) -> counting.CountedSolutions:
    """Return room for the answers at states, all of them in doubt yet."""
    doubtful = np.full(states, counting.DOUBTFUL, dtype=np.int64)
    numbers = (np.full((n, states), np.nan), np.full((lines, 2, states), np.nan))
    flags = np.zeros((2, states), dtype=np.int64)
    modes = np.full((lines, states), counting.NO_MODE, dtype=np.int64)
    return counting.CountedSolutions(doubtful, flags[0], *numbers, modes, flags[1], np.zeros(1))


def count_table(system: System) -> Ints | None:
    """Return the table of constraints for the compiled count, None where that can't be used.

    Friction in a plane is counted along its slip, which is known unless it rests: see `_straightened`.
    """
    table = table_of(system)
    lines = table.arrays
    if not table.round or table.loaded or _modes(lines) > MOST_MODES:
        return None
    slip = np.where(lines.components > 0, lines.first, -1)
    return np.column_stack([lines.side, lines.normal, slip, lines.law])


def _modes(lines: ContactArrays) -> int:
    """Return how many combinations of modes there are."""
    modes = np.array([[2, 4], [1, 5], [3, 3]])  # without and with friction, by side
    return math.prod(modes[lines.side, np.minimum(lines.components, 1)].tolist())


def _count_here(
    model: Model,
    inputs: Inputs,
    table: Ints,
    tolerances: Tolerances,
    tol: float,
    out: counting.CountedSolutions,
    workers: int | None,
    report: Callable[[int], None] | None,
) -> None:
    """Count the solutions of all states in threads."""
    states = inputs.q.shape[1]
    chunk = max(8, min(CHUNK, AT_ONCE // _modes(table_of(model.system).arrays)))
    starts = range(0, states, chunk)

    def work(start: int) -> int:
        part = slice(start, min(start + chunk, states))
        _count(model, inputs, part, table, tolerances, tol, out)
        return int(part.stop - part.start)

    done = work(0)  # compiles in one thread
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        try:
            for size in pool.map(carried(work), starts[1:]):
                spend()
                done += size
                if report:
                    report(done)
        except Spent:  # the rest is told to be undecided later
            pool.shutdown(wait=True, cancel_futures=True)
        except BaseException:  # what waits in line is not begun after a Ctrl-C
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _count_elsewhere(
    counter: DeviceCount,
    model: Model,
    inputs: Inputs,
    tolerances: Tolerances,
    tol: float,
    out: counting.CountedSolutions,
    report: Callable[[int], None] | None,
) -> None:
    """Count the solutions of all states on a device, a portion after the other."""
    states, admitted = inputs.q.shape[1], admission_of(model.system, tolerances)
    for start in range(0, states, counter.portion):
        part = slice(start, min(start + counter.portion, states))
        found, sound = counter.run(_part(inputs, part), admitted, tol)
        for array, here in zip(out[:-1], found[:-1], strict=True):
            array[..., part] = here
        out.counts[part][~sound] = counting.INADMISSIBLE
        out.worst[0] = max(out.worst[0], float(found.worst.max()))
        try:
            spend()
        except Spent:  # the rest is told to be undecided later
            return
        if report:
            report(part.stop)


def admission_of(system: System, tolerances: Tolerances) -> Admit:
    """Return the rule who takes part at states, for a device."""

    def admitted(terms: Terms, q: Any, v: Any) -> tuple[Any, Any, Any]:
        found = admit(table_of(system).arrays, terms, q, v, tolerances)
        return found.standing, found.rest, sound_laws(system, terms.bounds)

    return admitted


def _part(inputs: Inputs, part: slice) -> tuple[Array, Array, Array, Array]:
    """Return times, states and parameters of a part of the states."""
    params = inputs.params if inputs.params.shape[1] == 1 else inputs.params[:, part]
    q, v = np.ascontiguousarray(inputs.q[:, part]), np.ascontiguousarray(inputs.v[:, part])
    return inputs.t[part], q, v, np.ascontiguousarray(params)


def _count(
    model: Model,
    inputs: Inputs,
    part: slice,
    table: Ints,
    tolerances: Tolerances,
    tol: float,
    out: counting.CountedSolutions,
) -> None:
    """Count the solutions at a part of the states, and write what is found."""
    t, q, v, params = _part(inputs, part)
    terms = model.kernels.terms(t, q, v, params)
    if isinstance(terms, SparseTerms):
        return
    states = Inputs(t, q, v, params, ())
    found = admitted_states(model.kernels, table_of(model.system).arrays, terms, states, tolerances)
    planes = np.flatnonzero(table_of(model.system).arrays.components > 1)
    terms = _straightened(terms, table[planes, 2])
    counted = counting.CountedTerms(
        *(np.ascontiguousarray(getattr(terms, name)) for name in counting.CountedTerms._fields)
    )
    here = out._replace(worst=np.zeros(1))
    counting.count_solutions(table, found.standing, found.rest, counted, tol, part.start, 0, 1, here)
    if len(planes):
        _in_planes(planes, found.rest[planes], part, out)
    out.counts[part][~sound_laws(model.system, terms.bounds)] = counting.INADMISSIBLE
    out.worst[0] = max(out.worst[0], here.worst[0])


def _straightened(terms: Terms, firsts: Ints) -> Terms:
    """Return the terms with the first slip row of friction in planes along the slip: its speed, row and bias."""
    if not len(firsts):
        return terms
    slip, rows, bias = terms.slip.copy(), terms.slip_rows.copy(), terms.slip_bias.copy()
    for first in firsts:
        own = slice(first, first + 2)
        speed = np.hypot(*terms.slip[own])
        along = terms.slip[own] / np.where(speed > 0, speed, 1.0)
        rows[first] = np.einsum("sb,sib->ib", along, terms.slip_rows[own])
        bias[first] = np.einsum("sb,sb->b", along, terms.slip_bias[own])
        slip[first] = speed
    return replace(terms, slip=slip, slip_rows=rows, slip_bias=bias)


def _in_planes(planes: Ints, rest: NDArray[np.bool_], part: slice, out: counting.CountedSolutions) -> None:
    """Tell what was counted along slips in planes: where one rests its direction is not known, and it is asked."""
    out.counts[part][rest.any(axis=0) & (out.counts[part] != counting.INADMISSIBLE)] = counting.DOUBTFUL
    modes = out.modes[planes, part]
    out.modes[planes, part] = np.where(modes == Mode.SLIP_PLUS, Mode.SLIP, modes)
    out.forces[planes, 1, part] = np.nan  # two components, and room for one


def _decide(
    model: Model,
    out: counting.CountedSolutions,
    inputs: Inputs,
    exact: Callable[[Inputs], Reactions],
    report: Callable[[int], None] | None,
) -> tuple[Ints, Ints, float, str]:
    """Return the status (place in `ReactionsStatus`) and the number of accelerations; doubts are asked exactly.

    Last, the worst residual, and which budget was spent before all were asked: those are undecided.
    """
    counts = out.counts
    unique, free = CODES.index(ReactionsStatus.UNIQUE), CODES.index(ReactionsStatus.UNIQUE_MOTION)
    least = min(counting.DOUBTFUL, counting.INADMISSIBLE)
    told = np.full(2 - least + 1, CODES.index(ReactionsStatus.MULTIPLE))  # by the count, from the least to 2 or more
    told[counting.INADMISSIBLE - least] = CODES.index(ReactionsStatus.INADMISSIBLE)
    told[counting.DOUBTFUL - least] = CODES.index(ReactionsStatus.UNDECIDED)
    told[0 - least], told[1 - least] = CODES.index(ReactionsStatus.NONE), unique
    status = told[np.minimum(counts, 2) - least]
    status[(counts == 1) & (out.free == 1)] = free
    numbers = np.maximum(counts, 0)
    worst, spent = 0.0, ""
    doubts = np.flatnonzero(counts == counting.DOUBTFUL)
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
        if status[k] in (unique, free):
            _write(model, inputs.single(int(k)), found, int(k), out)
        worst = max(worst, float(np.nan_to_num(found.residual)))
    return status, numbers, worst, spent


def _write(model: Model, inputs: Inputs, found: Reactions, k: int, out: counting.CountedSolutions) -> None:
    """Write the only motion of a state that was asked exactly."""
    solution, names = found.solutions[0], [str(item.name) for item in model.system.constraints]
    out.accelerations[:, k] = solution.acceleration
    out.modes[:, k], out.forces[:, :, k] = counting.NO_MODE, 0.0
    for j, name in enumerate(solution.names):
        line = names.index(name)
        out.modes[line, k] = int(solution.modes.codes[j])
        tangential = np.atleast_1d(solution.tangential[j])
        out.forces[line, :, k] = solution.normal[j], tangential[0] if tangential.size == 1 else np.nan
    out.free[k] = int(found.status is ReactionsStatus.UNIQUE_MOTION)
    terms = model.kernels.terms(inputs.t, inputs.q, inputs.v, inputs.params)
    mass, _, force, _ = terms.at(0)
    pushed = float(force @ np.linalg.lstsq(mass, force)[0])
    moved = float(solution.acceleration @ mass @ solution.acceleration)
    out.still[k] = int(moved <= STILL**2 * pushed)


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
                name = name_of(key)
                axes[along[0]].append(name)
                values[name] = np.array(np.moveaxis(array, along[0], -1).reshape(-1, array.shape[along[0]])[0])
    return tuple(tuple(names) for names in axes), values


def _varies(array: Array, axis: int) -> bool:
    return array.shape[axis] > 1 and not bool(np.all(array == array.take([0], axis=axis)))
