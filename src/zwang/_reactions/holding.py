"""States that keep constraints closed while something else varies: what a map over a coordinate needs.

Positions move onto the held constraints by Newton's method, velocities by one linear step, both by the least change in
the kinetic metric among the coordinates that may move. All states of a batch are moved together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._compile.given_inputs import with_inputs
from zwang._compile.given_values import Inputs, resolve
from zwang._compile.model import Model, compile
from zwang._compile.states import gap_shares, turning
from zwang._declare.constraints import Bilateral, Friction, Unilateral
from zwang._declare.system import System
from zwang._kernels import SparseTerms, Terms
from zwang._numerics.tolerances import THRESHOLDS, names_in
from zwang.errors import DeclarationError, nearest

Array = NDArray[np.float64]
NEWTON_STEPS = 40  # quadratic from a state nearby
TOLERANCE = 1e-13  # relative: rounding
SAME_RANK = THRESHOLDS.rounding
ON = 1e-9  # of the size of its terms: a constraint holds
CHUNK = 8192  # states at a time: their matrices stay in the cache
MASSLESS = 1e-13
"""Part of the largest inertia below which a direction has none."""


def hold(
    system: System | Model,
    state: Mapping[str, Any],
    params: Mapping[str, Any],
    names: Sequence[str],
    *,
    fixed: Collection[str] = (),
    follow: Collection[str] | None = None,
    slips: Mapping[str, float] | None = None,
    inputs: Mapping[Any, Any] | None = None,
) -> dict[str, Any]:
    """Return states on which the named constraints are closed and stay closed.

    Parameters
    ----------
    system : System or Model
    state, params : mappings of str to number or array
        Where to start from; arrays broadcast to a batch.
    names : sequence of str
        The constraints that are held: value zero and, on positions, rate zero.
    fixed : names
        Coordinates and velocities that keep their values; a fixed coordinate fixes its velocity too.
    follow : names of coordinates, optional
        Those that may move, with their velocities; by default all that are not fixed.
    slips : mapping of str to float, optional
        Held constraint -> slip velocity [m/s] that its states shall have.
    inputs : mapping, optional
        Input of the system -> number, expression of t, `Table` or `Held`.

    Returns
    -------
    dict
        Name -> number or array, of every coordinate and velocity and of time. States from which Newton's method found
        no closed one are left as they were.

    Examples
    --------
    The rod at another angle, its tip on the floor and moving as before.

    >>> import math, zwang as zw
    >>> rod = zw.gallery.get("painleve_rod")
    >>> start = {**rod.state, "theta": math.pi / 4, "v_theta": 2.0}
    >>> found = zw.hold(rod.system, start, rod.params, ["tip"], fixed=["theta"], slips={"tip": -1.0})
    >>> [round(float(found[name]), 6) for name in ("y", "theta", "v_x", "v_y", "v_theta")]
    [0.707107, 0.785398, -2.414214, 1.414214, 2.0]
    """
    compiled = system if isinstance(system, Model) else compile(system)
    model, given, _ = with_inputs(compiled, state, params, inputs)
    model, state = model.acting(state)
    declared, params = model.system, {} if given is None else given
    relations = [item for item in declared.constraints if not isinstance(item, Friction)]
    names = names_in(names, "names", where=declared.name)
    places = [_place(declared.name, name, relations) for name in names]
    if slips is not None and not isinstance(slips, Mapping):
        raise DeclarationError(f"{declared.name}: slips= must be a mapping constraint -> slip; it was {slips!r:.60}.")
    wanted_slips = dict(slips or {})
    rubbing = [item for item in declared.constraints if isinstance(item, Friction) and item.name in wanted_slips]
    for name in wanted_slips:
        if name not in names and all(item.name != name for item in rubbing):
            raise DeclarationError(f"{declared.name}: a slip is given for '{name}', which is not held.")
    fixed = names_in(fixed, "fixed", where=declared.name)
    moving = _moving(model, fixed, None if follow is None else names_in(follow, "follow", where=declared.name))
    batch = resolve(declared, state, _relevant(model, [*(relations[place] for place in places), *rubbing], params))
    q, v = batch.q.copy(), batch.v.copy()
    wanted = _wanted_slips(model, wanted_slips)
    for start in range(0, q.shape[1] if places or wanted else 0, CHUNK):
        part = slice(start, start + CHUNK)
        values = batch.params if batch.params.shape[1] == 1 else np.ascontiguousarray(batch.params[:, part])
        piece = Inputs(batch.t[part], q[:, part].copy(), v[:, part].copy(), values, ())
        q[:, part], v[:, part] = _closed(model, piece, relations, places, moving, wanted)
    found = {item.name: batch.restore(q[i]) for i, item in enumerate(declared.coordinates)}
    found |= {item.name: batch.restore(v[i]) for i, item in enumerate(declared.velocities)}
    return found | {"t": batch.restore(batch.t)}


def slips_of(
    model: Model,
    state: Mapping[str, Any],
    params: Mapping[str, Any],
    names: Sequence[str],
    inputs: Mapping[Any, Any] | None = None,
) -> dict[str, float]:
    """Return the slip velocity at one state of those of the named constraints that have friction along a line."""
    found = model.evaluate(state, params, inputs=inputs).slips
    return {name: float(found[name][0]) for name in names if name in found and len(found[name]) == 1}


def _place(system: str, name: str, relations: list[Any]) -> int:
    known = [str(item.name) for item in relations]
    if name not in known:
        raise DeclarationError(
            f"{system}: '{name}' can't be held: it is no constraint with a normal. {nearest(name, known)}"
        )
    return known.index(name)


def _moving(model: Model, fixed: Collection[str], follow: Collection[str] | None) -> tuple[list[int], list[int]]:
    """Return the places of the coordinates and of the velocities that may move."""
    known = [item.name for item in model.system.coordinates]
    for name in follow or ():
        if name not in known:
            raise DeclarationError(
                f"{model.system.name}: '{name}' can't follow: it is no coordinate. {nearest(name, known)}"
            )
    free = [i for i, name in enumerate(known) if name not in fixed and (follow is None or name in follow)]
    return free, [i for i in free if f"v_{known[i]}" not in fixed]


def _relevant(model: Model, held: list[Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with one value in place of arrays that neither the held constraints nor the metric have.

    So a map over friction and angle moves as many states as there are angles.
    """
    system = model.system
    if system.tree is not None:
        metric = list(system.tree.expressions().values())
    else:
        metric = [system.kinetic] if system.mass is None else list(system.mass)
    said = [e for item in held for e in (*([] if isinstance(item, Friction) else [item.expr]), *item.slip)]
    used = {symbol.name for expr in [*metric, *said] for symbol in expr.free_symbols}
    return {name: value if name in used else np.ravel(value)[0] for name, value in params.items()}


def _wanted_slips(model: Model, slips: Mapping[str, float]) -> list[tuple[int, float]]:
    """Return (row of the slip, value) of every slip that is asked for."""
    wanted, row = [], 0
    for item in model.system.constraints:
        if item.name in slips:
            if len(item.slip) != 1:
                raise DeclarationError(f"{model.system.name}: '{item.name}' has no slip along one line to be given.")
            wanted.append((row, float(slips[str(item.name)])))
        row += len(item.slip)
    return wanted


def _terms(model: Model, at: Inputs, q: Array, v: Array) -> Terms:
    terms = model.kernels.terms(at.t, q, v, at.params)
    if isinstance(terms, SparseTerms):
        raise DeclarationError(
            f"{model.system.name}: a system of this size can't be held to its constraints along a map."
        )
    return terms


def _closed(
    model: Model,
    at: Inputs,
    relations: Sequence[Bilateral | Unilateral],
    places: list[int],
    moving: tuple[list[int], list[int]],
    wanted: list[tuple[int, float]],
) -> tuple[Array, Array]:
    q, v = at.q, at.v
    positions = [place for place in places if relations[place].level == "position"]
    turns = turning(model.system)
    with np.errstate(all="ignore"):
        for _ in range(NEWTON_STEPS):
            terms = _terms(model, at, q, v)
            step = least_change(terms.mass, terms.rows[positions], -terms.value[positions], moving[0])
            q = np.where(np.isfinite(step).all(axis=0), q + step, q)
            lengths = np.maximum(
                np.abs(at.q[~turns]).max(axis=0, initial=0.0), np.abs(q[~turns]).max(axis=0, initial=0)
            )
            size = np.where(turns[:, None], 1.0, np.where(lengths > 0, lengths, 1.0))
            if np.nanmax(np.abs(step) / size, initial=0.0) <= TOLERANCE:
                break
        terms = _terms(model, at, q, v)
        rows = [terms.rows[places], terms.slip_rows[[row for row, _ in wanted]]]
        misses = [(terms.rate if relations[place].level == "position" else terms.value)[place] for place in places]
        misses += [terms.slip[row] - value for row, value in wanted]
        step = least_change(terms.mass, np.concatenate(rows), -np.array(misses), moving[1])
        reached = np.isfinite(step).all(axis=0) & np.isfinite(q).all(axis=0)
        reached &= gap_shares(model.kernels, replace(at, q=q, v=v), terms, turns, positions, ON) <= ON
    return np.where(reached, q, at.q), np.where(reached, v + step, at.v)


def least_change(mass: Array, rows: Array, needed: Array, free: list[int]) -> Array:
    """Return, for each state, the change of least size in the metric of M that changes the rows by what is needed.

    Parameters
    ----------
    mass : (n, n, B) array
    rows : (k, n, B) array
    needed : (k, B) array
    free : list of int
        Places that may change; the others stay.

    Examples
    --------
    >>> mass, row = np.eye(2)[:, :, None], np.array([[[1.0], [1.0]]])
    >>> least_change(mass, row, np.array([[1.0]]), [0, 1])[:, 0].tolist()
    [0.5, 0.5]
    >>> least_change(mass, row, np.array([[1.0]]), [0])[:, 0].tolist()
    [1.0, 0.0]
    """
    change = np.zeros((mass.shape[0], needed.shape[1]))
    if not free or not len(rows):
        return change
    chosen = np.array(free)
    M = np.moveaxis(mass[np.ix_(chosen, chosen)], -1, 0)
    C = np.moveaxis(rows[:, free], -1, 0)
    d = np.moveaxis(needed, -1, 0)[:, :, None]
    sound = np.isfinite(M).all(axis=(1, 2)) & np.isfinite(C).all(axis=(1, 2)) & np.isfinite(d).all(axis=(1, 2))
    change[:, ~sound] = np.nan
    X = np.linalg.solve(_definite(M[sound], C[sound]), np.swapaxes(C[sound], 1, 2))
    moved = X @ np.linalg.pinv(C[sound] @ X, rcond=SAME_RANK, hermitian=True) @ d[sound]
    change[np.ix_(chosen, np.flatnonzero(sound))] = moved[:, :, 0].T
    return change


def _definite(M: Array, C: Array) -> Array:
    """Return M where it is definite, and M with the metric of the rows added where parts have no mass."""
    sizes = np.linalg.eigvalsh(M)
    weak = sizes[:, 0] <= MASSLESS * sizes[:, -1]
    if not weak.any():
        return M
    made = M.copy()
    rows, n = np.swapaxes(C[weak], 1, 2) @ C[weak], M.shape[-1]
    sums = np.trace(rows, axis1=1, axis2=2)
    scale = np.where(sizes[weak, -1] > 0, np.trace(M[weak], axis1=1, axis2=2), 1.0)
    made[weak] += rows * (scale / np.where(sums > 0, sums, 1.0))[:, None, None]
    # What neither has mass nor stands in a row need not move.
    made[weak] += (np.sqrt(MASSLESS) * scale / n)[:, None, None] * np.eye(n)
    return made
