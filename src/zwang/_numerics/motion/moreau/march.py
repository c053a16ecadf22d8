"""Many steps in compiled code: from state to state until something needs a decision."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.contact.modes import BILATERAL, BOUND, UNILATERAL
from zwang._numerics.jit import EVAL_TYPE, njit
from zwang._numerics.motion.moreau.direct import follow
from zwang._numerics.motion.moreau.impulses import GOOD, TOL, shift, solve
from zwang._numerics.motion.moreau.kernels import (
    ACTIVE,
    BOUND_PLACE,
    CARRIED,
    FAR,
    FAST,
    FIRST,
    FLOATS,
    FORCE_PLACE,
    GAP,
    GUESS,
    IN_WORKSPACE,
    INTS,
    J_COLUMN,
    J_START,
    JAC,
    KEPT,
    KIND,
    LAST,
    LAW,
    LAW_OF,
    LEVEL,
    LOADS,
    MIDDLE,
    NEXT,
    NORMAL,
    OUT,
    POSITION,
    REST,
    RESTITUTION,
    SCALE,
    SECTION,
    SHIFT,
    SIZE,
    TURN,
    VALUE_PLACE,
    R,
    U,
    finish,
    load,
    prepare,
    rates_at_rest,
    row_size,
    row_times,
    scales,
    settle,
)
from zwang._numerics.motion.moreau.step_coefficients import solve_loaded, solve_sections

WENT, NOT_FINITE, UNSOLVED, UNDECLARED, STILL = range(5)
"""How a walk ends: all steps taken; the equations are not finite; the impulses of a step were not found; an impact
without a coefficient of restitution; nothing moves any more."""

AT_REST = 1e-10
"""Velocities below this part of what they would be without impulses are rest, where rest is allowed."""
CLOSED = 1e-12
"""Gaps up to this, relative to their size, are closed."""
DRIFT = 1e-13
"""Violations below this, relative to their size, are left alone."""
APPROACH = 1e-9
"""Rates below minus this, relative to their size, are impacts."""


Floats = NDArray[np.float64]
Matrix = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Called(NamedTuple):
    """What the kernel of a model takes beside the state, and where each of its terms stands: see `kernels`."""

    params: Floats
    table: Ints
    workspace: Floats
    place: Ints


class Track(NamedTuple):
    """Room for the steps: t (k + 1,), q and v (k + 1, n), impulses and rates (k, m), closing (k, c)."""

    t: Floats
    q: Matrix
    v: Matrix
    impulses: Matrix
    rates: Matrix
    closing: Flags


@njit(_nrt=False)
def _take_laws(t: Any, f: Any, terms: Any, place: Any, h: float) -> None:
    for c in range(t[FIRST].size):
        f[LAW][2 * c], f[LAW][2 * c + 1] = 0.0, -1.0
        if t[LAW_OF][c] >= 0:
            bound = max(terms[place[BOUND_PLACE] + t[LAW_OF][c]], 0.0)
            if t[KIND][c] == BOUND:
                f[LAW][2 * c], f[LAW][2 * c + 1] = 1.0, h * bound
            else:
                f[LAW][2 * c] = bound


@njit(_nrt=False)
def _close(t: Any, f: Any, terms: Any, place: Any, h: float, v: Any, closing: Any) -> int:
    """Find the active contacts; return 1 if one meets an impact whose restitution nobody declared.

    Active is all but open gaps; a contact that carried an impulse may do so once more: one that goes on along a curved
    surface is off it at the middle of the step by the square of the step.
    """
    undeclared = 0
    for c in range(t[FIRST].size):
        t[ACTIVE][c] = 1
        closing[c] = False
        for a in range(t[FIRST][c], t[FIRST][c] + t[SIZE][c]):
            f[GAP][a] = 0.0
        if t[KIND][c] != UNILATERAL or t[LEVEL][c] != POSITION:
            continue
        gap, a = terms[place[VALUE_PLACE] + t[NORMAL][c]], t[FIRST][c]
        near = CLOSED * (f[FAR][a] + row_size(t, f, a, f[MIDDLE]))
        if gap > near and not t[CARRIED][c]:
            t[ACTIVE][c] = 0
        elif gap > near:
            # What half a step along the tangent leaves of a curved surface comes back by itself.
            f[GAP][a] = max(gap - 0.25 * h * f[TURN][a], 0.0) / (0.5 * h)
        elif not t[CARRIED][c]:
            rate = f[REST][a] - f[TURN][a]
            for e in range(t[J_START][a], t[J_START][a + 1]):
                rate += f[JAC][e] * v[t[J_COLUMN][e]]
            if rate < -APPROACH * (f[FAST][a] + row_size(t, f, a, v)):
                closing[c] = True
                if not f[RESTITUTION][c] >= 0.0:
                    undeclared = 1
    return undeclared


@njit(_nrt=False)
def _least_drift(t: Any, f: Any, chosen: Any, q: Any) -> float:
    """Return the least violation of a chosen row that is not left alone, in the scale of its contact."""
    least = np.inf
    for c in range(t[FIRST].size):
        a = t[FIRST][c]
        if t[SIZE][c] and chosen[a] and f[SCALE][c] > 0.0:
            least = min(least, DRIFT * (f[FAR][a] + row_size(t, f, a, q)) / f[SCALE][c])
    return least


@njit
def _move_back(eval_terms: Any, called: Called, time: float, q: Any, v: Any, t: Any, f: Any) -> float:
    """Move q onto the constraints that hold both ways and out of contacts that stay closed; return how far it was.

    Impulses and velocities are left as they are.
    """
    params, table, workspace, place = called
    k, m, worst = t[FIRST].size, f[R].size, 0.0
    chosen, contacts = np.zeros(m, np.int64), np.zeros(k, np.int64)
    stays = 0
    for c in range(k):
        if t[LEVEL][c] != POSITION:
            continue
        a = t[FIRST][c]
        stay = t[CARRIED][c] and f[U][a] <= APPROACH * (f[FAST][a] + row_size(t, f, a, v))
        if t[KIND][c] == BILATERAL or stay:
            contacts[c] = 1
            stays = 1
    if not stays:
        return 0.0
    for a in range(m):
        f[KEPT][a] = f[R][a]
    for attempt in range(3):
        eval_terms(time, q, v, params, table, workspace, f[OUT])
        terms = workspace if place[IN_WORKSPACE] else f[OUT]
        off, far = 0.0, False
        for c in range(k):
            a = t[FIRST][c]
            if t[SIZE][c]:
                chosen[a] = 0
            if contacts[c]:
                gap = terms[place[VALUE_PLACE] + t[NORMAL][c]]
                if t[KIND][c] == BILATERAL or gap < 0.0:
                    chosen[a] = 1
                    f[GAP][a] = gap
                    near = DRIFT * (f[FAR][a] + row_size(t, f, a, q))
                    far = far or not abs(gap) <= near
                    if not abs(gap) <= off:
                        off = abs(gap)
        if attempt == 0:
            worst = off
        if not far:
            break
        load(t, f, terms, place)
        scales(t, f, contacts)
        t[LAST][0] = -1  # the scales are no longer those of a step
        shift(t, f, chosen, f[GAP], 1e-3 * _least_drift(t, f, chosen, q), f[SHIFT])
        for i in range(q.size):
            q[i] += f[SHIFT][i]
    for a in range(m):
        f[R][a] = f[KEPT][a]
    return worst


@njit(_nrt=False)
def _rests(speed: Any) -> bool:
    """Say whether nothing moves: then impulses that hold it go on holding it."""
    for i in range(speed.size):  # noqa: SIM110 - compiled
        if speed[i] != 0.0:
            return False
    return True


@njit(
    f"Tuple((int64, int64, float64, float64))({EVAL_TYPE}, Called, {INTS}, {FLOATS}, float64, Track, int64, int64, "
    "boolean, float64)"
)
def walk(
    eval_terms: Any, called: Called, t: Any, f: Any, h: float, track: Track, start: int, stop: int, autonomous: bool,
    given: float,
) -> Any:  # fmt: skip
    """Take the steps from `start` to `stop`; return how it ended, the step reached, worst residual and worst drift.

    With `given` >= 0 the impulses of the first step stand in R already, found by another solver to that residual.
    """
    params, table, workspace, place = called
    time, q, v, impulses, rates, closing = track
    n, worst, drift = q.shape[1], 0.0, 0.0
    for k in range(start, stop):
        now, speed = q[k], v[k]
        smooth = k > 0
        if smooth:
            for c in range(t[FIRST].size):
                if closing[k - 1, c]:
                    smooth = False
        for i in range(n):
            f[MIDDLE][i] = now[i] + 0.5 * h * speed[i]
            # Forces may depend on the velocity: that of the middle, as the last step changed it if it was smooth.
            f[GUESS][i] = 1.5 * speed[i] - 0.5 * v[k - 1, i] if smooth else speed[i]
        eval_terms(time[k] + 0.5 * h, f[MIDDLE], f[GUESS], params, table, workspace, f[OUT])
        terms = workspace if place[IN_WORKSPACE] else f[OUT]
        changed = load(t, f, terms, place)
        rates_at_rest(t, f, h, terms, place, f[GUESS])
        _take_laws(t, f, terms, place, h)
        if _close(t, f, terms, place, h, speed, closing[k]):
            return UNDECLARED, k, worst, drift
        same = changed == 0
        for c in range(t[FIRST].size):
            same = same and t[ACTIVE][c] == t[LAST][c]
        if not same:
            scales(t, f, t[ACTIVE])
            for c in range(t[FIRST].size):
                t[LAST][c] = t[ACTIVE][c]
        cause = prepare(t, f, h, terms, place[FORCE_PLACE], speed)
        if not cause <= 1e300:
            return NOT_FINITE, k, worst, drift
        if given >= 0.0 and k == start:
            follow(t, f, f[SHIFT])
            residual = given
        else:
            bounds = place[BOUND_PLACE]
            if t[LOADS].size:
                residual = solve_loaded(t, f, terms, bounds, h, speed, k, rates, cause)
            elif t[SECTION].size == 0:
                residual = solve(t, f, cause, GOOD if _rests(speed) else TOL)
            else:
                weight = np.full(t[FIRST].size, h)
                residual = solve_sections(t, f, terms, bounds, weight, speed, k, rates, cause)
            if not residual <= GOOD:
                return UNSOLVED, k, worst, drift
        worst = max(worst, residual)
        finish(t, f, h, terms, place[FORCE_PLACE], speed)
        settle(t, f, cause, AT_REST)
        moved, still = 0.0, True
        for i in range(n):
            v[k + 1, i] = f[NEXT][i]
            q[k + 1, i] = f[MIDDLE][i] + 0.5 * h * f[NEXT][i]
            moved = max(moved, abs(q[k + 1, i] - now[i])) if q[k + 1, i] == q[k + 1, i] else np.inf
            still = still and v[k + 1, i] == 0.0 and speed[i] == 0.0
        if not moved <= 1e300:
            return NOT_FINITE, k, worst, drift
        for a in range(f[R].size):
            f[U][a] = row_times(t, f, a, f[NEXT]) + f[REST][a] + f[TURN][a]
            impulses[k, a], rates[k, a] = f[R][a], f[U][a]
            still = still and k > 0 and impulses[k, a] == impulses[k - 1, a]
        for c in range(t[FIRST].size):
            t[CARRIED][c] = 1 if t[ACTIVE][c] and t[SIZE][c] and f[R][t[FIRST][c]] > 0.0 else 0
        if moved > 0.0:
            back = _move_back(eval_terms, called, time[k + 1], q[k + 1], v[k + 1], t, f)
            drift = max(drift, back)
        elif still and autonomous:
            return STILL, k + 1, worst, drift
    return WENT, stop, worst, drift
