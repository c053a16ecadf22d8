"""The loop over steps: error control, projection, dense output, watches; a building block of compiled drivers.

What is done is bounded by the room for steps and by the number of attempts, so that every call returns soon; the next
one goes on from the last state with the step that is proposed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zwang._numerics.jit import njit
from zwang._numerics.stepping.projecting import settle
from zwang._numerics.stepping.stages import extend, trial
from zwang._numerics.stepping.watching import NEVER, POINTS, SAMPLES, crossing, look, unresolved

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REACHED, FIRED, PAUSED, STEP_TOO_SMALL, IRREGULAR, NOT_FINITE = range(6)

# Places in `counts`: what is given, then what comes back.
POSITIONS, ROWS, WATCHES, OFFSET, SURFACES, SIDES, KEEP, ATTEMPTS = range(8)
STEPS, TRIED, REJECTED, LAST = 8, 9, 10, 11
COUNTS = 12
# Places in `reals`: until, tolerance, step (in and out), largest drift of positions and of velocities.
UNTIL, TOL, STEP, DRIFT, DRIFT_RATE = range(5)
REALS = 5

SAFETY, GROW, SHRINK = 0.9, 6.0, 0.2
TOO_SMALL = 4e-16
TOGETHER = 1e-12  # events closer than this part of a step, or of the time, are simultaneous


@njit
def first_step(rhs: object, table: object, work: object, t: float, y: Floats, slope: Floats, tol: float,
               span: float, params: Floats, z: Floats, out: Floats) -> float:  # fmt: skip
    """Return a first step from the sizes of the state, its derivative and its second derivative (Hairer's rule)."""
    m = y.size
    n = m // 2
    d0, d1 = 0.0, 0.0
    for i in range(m):
        scale = tol + tol * abs(y[i])
        d0 += (y[i] / scale) ** 2
        d1 += (slope[i] / scale) ** 2
    d0, d1 = np.sqrt(d0 / m), np.sqrt(d1 / m)
    h = min(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, span)
    for i in range(m):
        z[i] = y[i] + h * slope[i]
    status = rhs(t + h, z[:n], z[n:], params, table, work, out)  # type: ignore[operator]
    d2 = 0.0
    for i in range(n):
        d2 += ((z[n + i] - y[n + i]) / (tol + tol * abs(y[i]))) ** 2
        d2 += ((out[i] - slope[n + i]) / (tol + tol * abs(y[n + i]))) ** 2
    d2 = np.sqrt(d2 / m) / h
    if status != 0 or not d2 < np.inf:
        return 1e-3 * h
    h1 = max(1e-6, h * 1e-3) if max(d1, d2) <= 1e-15 else (0.01 / max(d1, d2)) ** (1.0 / 8.0)
    return min(100.0 * h, h1, 0.1 * span)


@njit
def sample(watch: object, table: object, work: object, t: float, h: float, y: Floats, dense: Floats, y1: Floats,
           z: Floats, params: Floats, samples: Floats) -> None:  # fmt: skip
    """Set samples 1 to 6 of a step; number 0 is the last one of the step before."""
    n = y.size // 2
    for j in range(1, SAMPLES - 1):
        look(watch, table, work, t, h, y, dense, POINTS[j], z, params, samples[j])
    watch(t + h, y1[:n], y1[n:], params, table, work, samples[SAMPLES - 1])  # type: ignore[operator]


@njit
def spoiled(samples: Floats, sides: Floats, offset: int, rows: int, fired: Ints) -> bool:
    """Mark watched quantities that are not finite; say whether there are any."""
    found = False
    for i in range(sides.size):
        if sides[i] == 0.0:
            continue
        for j in range(rows):
            if not abs(samples[j, offset + i]) < np.inf:
                fired[i] = 1
                found = True
    return found


@njit
def keep_side(side: float, value: float, band: float) -> float:
    """Return the sign a quantity must keep; one that may cross either way (2) keeps its own, 0 where it has none."""
    if abs(side) <= 1.0:
        return side
    if abs(value) <= band:
        return 0.0
    return 1.0 if value > 0.0 else -1.0


@njit
def locate(rhs: object, rhs_table: object, rhs_work: object, shift: object, shift_table: object,
           shift_work: object, land: object, land_table: object, land_work: object, watch: object,
           watch_table: object, watch_work: object, t: float, step: float, x: float, y: Floats, y1: Floats, z: Floats,
           k: Floats, dense: Floats, out: Floats, params: Floats, counts: Ints, tol: float, drift: Floats,
           i: int) -> float:  # fmt: skip
    """Step to the place near x where quantity i is zero, and return how far that is; -1 where no step leads there.

    The dense output has said where; a step that ends there is made, and its end moved until the quantity is zero at
    the end itself, projected: the state has the full order of the method, and no error of the dense output.
    """
    n = y.size // 2
    width = 1e-4
    look(watch, watch_table, watch_work, t, step, y, dense, x - width, z, params, out)
    slope = -out[i]
    look(watch, watch_table, watch_work, t, step, y, dense, x + width, z, params, out)
    slope = (slope + out[i]) / (2.0 * width)
    for count in range(4):
        cut = x * step
        if trial(rhs, t, cut, y, k, y1, z, tol, params, rhs_table, rhs_work) < 0.0:
            return -1.0
        status = settle(
            shift, shift_table, shift_work, land, land_table, land_work, counts[POSITIONS], counts[ROWS], t + cut, y1,
            k[12], out, params, drift,
        )  # fmt: skip
        if status != 0:
            return -1.0
        watch(t + cut, y1[:n], y1[n:], params, watch_table, watch_work, out)  # type: ignore[operator]
        change = -out[i] / slope
        if count == 3 or not abs(change) < 1e-3 or abs(change) * step <= 1e-16 * abs(t) or abs(change) <= 1e-16 * x:
            break
        if not 0.0 < x + change <= 1.0:
            break
        x += change
    return cut


@njit
def run(rhs: object, rhs_table: object, rhs_work: object, shift: object,
        shift_table: object, shift_work: object, land: object, land_table: object, land_work: object, watch: object,
        watch_table: object, watch_work: object, params: Floats, sides: Floats, bands: Floats, counts: Ints,
        reals: Floats, fired: Ints, times: Floats, states: Floats, accelerations: Floats,
        coefficients: Floats) -> int:  # fmt: skip
    """Make steps until the end, an event, a full store or the last attempt; return how it ended.

    Parameters
    ----------
    rhs, shift, land, watch : functions
        Of the model: accelerations, projection, watched quantities; each with a table and a workspace.
    params : array
        Parameters; the sides of the switching surfaces stand at its end and are changed when one is crossed.
    sides, bands : (w,) arrays
        Sign that each quantity keeps (2: any crossing; 0: not watched), and what counts as zero.
    counts, reals : arrays
        See the names of their places.
    fired : (w,) int array
        Receives 1 for each quantity that crossed, or that is not finite.
    times, states, accelerations, coefficients : arrays
        The first entry is the start; room for as many steps as `times` has entries more.
    """
    n = accelerations.shape[1]
    m = 2 * n
    y, y1, z = states[0].copy(), np.empty(m), np.empty(m)
    k, dense = np.empty((16, m)), np.empty((7, m))
    width = counts[OFFSET] + counts[WATCHES]
    samples = np.zeros((SAMPLES, max(width, 1)))
    out = np.empty(max(width, 2 * n + counts[ROWS] + counts[POSITIONS]) + 1)
    keep = np.zeros(sides.size)
    drift = reals[DRIFT:]
    t, until, tol, h = times[0], reals[UNTIL], reals[TOL], reals[STEP]
    steps = tried = rejected = blurred = 0
    watching = np.any(sides != 0.0) or counts[SURFACES] > 0
    wanted = watching or counts[KEEP] > 0
    cause = STEP_TOO_SMALL
    held_back = False
    status = rhs(t, y[:n], y[n:], params, rhs_table, rhs_work, k[0, n:])  # type: ignore[operator]
    k[0, :n] = y[n:]
    accelerations[0] = k[0, n:]
    ended = PAUSED
    if status != 0:
        ended = IRREGULAR
    if not np.sum(np.abs(k[0])) < np.inf:
        ended = NOT_FINITE
    if watching and ended == PAUSED:
        watch(t, y[:n], y[n:], params, watch_table, watch_work, samples[0])  # type: ignore[operator]
        if spoiled(samples, sides, counts[OFFSET], 1, fired):
            ended = NOT_FINITE
    if h <= 0.0 and ended == PAUSED:
        h = first_step(rhs, rhs_table, rhs_work, t, y, k[0], tol, until - t, params, z, out)
    going = ended == PAUSED
    while going:
        remaining = until - t
        if remaining <= 0.0:
            ended = REACHED
            break
        if steps + 1 >= times.size or tried >= counts[ATTEMPTS]:
            break
        if h <= TOO_SMALL * abs(t) or h < 1e-290 or t + h == t:
            if remaining > 4.0 * TOO_SMALL * abs(t):
                ended = cause
                break
            h = remaining
        last = 1.01 * h >= remaining
        step = remaining if last else h
        error = trial(rhs, t, step, y, k, y1, z, tol, params, rhs_table, rhs_work)
        tried += 1
        if error < 0.0:
            cause = IRREGULAR if error == -1.0 else NOT_FINITE
            h, held_back = 0.25 * step, True
            rejected += 1
            continue
        if error > 1.0:
            cause = STEP_TOO_SMALL
            h, held_back = step * max(SHRINK, SAFETY * error**-0.125), True
            rejected += 1
            continue
        grow = GROW if error < 1e-9 else min(GROW, max(SHRINK, SAFETY * error**-0.125))
        t1 = until if last else t + step
        status = settle(
            shift, shift_table, shift_work, land, land_table, land_work, counts[POSITIONS], counts[ROWS], t1, y1,
            k[12], out, params, drift,
        )  # fmt: skip
        if status == 0 and wanted:
            status = extend(rhs, t, step, y, k, y1, z, dense, params, rhs_table, rhs_work)
        if status != 0:
            cause = IRREGULAR if status == 1 else NOT_FINITE
            h, held_back = 0.25 * step, True
            rejected += 1
            continue
        proposed = step * min(grow, 1.0) if held_back else step * grow
        if last and step < h:
            proposed = max(proposed, h)
        nothing = False
        stop = False
        if watching:
            sample(watch, watch_table, watch_work, t, step, y, dense, y1, z, params, samples)
            surfaces, first = counts[SURFACES], counts[WATCHES] - counts[SURFACES]
            for i in range(sides.size):
                # A surface is watched also where the caller doesn't ask: its side stands among the parameters.
                side = params[counts[SIDES] + i - first] if i >= first else sides[i]
                keep[i] = keep_side(side, samples[0, counts[OFFSET] + i], bands[i])
                if abs(side) > 1.0 and keep[i] == 0.0:
                    for j in range(1, SAMPLES):
                        if keep[i] == 0.0:
                            keep[i] = keep_side(side, samples[j, counts[OFFSET] + i], bands[i])
            if spoiled(samples, sides, counts[OFFSET], SAMPLES, fired):
                ended, going = NOT_FINITE, False
                break
            if blurred < 4 and unresolved(samples, keep, bands, counts[OFFSET], keep.size):
                blurred += 1
                h, held_back = step / 3.0, True
                rejected += 1
                continue
            blurred = 0
            where = NEVER
            for i in range(keep.size):
                if keep[i] != 0.0:
                    x = crossing(
                        watch, watch_table, watch_work, t, step, y, dense, z, params, out, samples,
                        counts[OFFSET] + i, keep[i], bands[i],
                    )  # fmt: skip
                    keep[i] = x  # from now on where it crosses
                    where = min(where, x)
                else:
                    keep[i] = NEVER
            if where <= 1.0:
                close = where + max(TOGETHER, TOGETHER * abs(t) / step)
                lead, leading = 0, NEVER
                for i in range(keep.size):
                    if keep[i] < leading:
                        lead, leading = i, keep[i]
                if t + where * step == t:
                    nothing = True
                else:
                    cut = locate(
                        rhs, rhs_table, rhs_work, shift, shift_table, shift_work, land, land_table, land_work,
                        watch, watch_table, watch_work, t, step, where, y, y1, z, k, dense, out, params, counts, tol,
                        drift, counts[OFFSET] + lead,
                    )  # fmt: skip
                    if cut < 0.0:
                        cause = IRREGULAR
                        h, held_back = 0.25 * step, True
                        rejected += 1
                        continue
                    t1 = t + cut
                    extend(rhs, t, cut, y, k, y1, z, dense, params, rhs_table, rhs_work)
                for i in range(keep.size):
                    if keep[i] <= close:
                        if i >= first:
                            place = counts[SIDES] + i - first
                            params[place] = -params[place]
                        if sides[i] != 0.0:
                            fired[i] = 1
                            stop = True
        if not nothing:
            steps += 1
            times[steps] = t1
            states[steps] = y1
            accelerations[steps] = k[12, n:]
            if counts[KEEP] > 0:
                coefficients[steps - 1] = dense
            t = t1
            for i in range(m):
                y[i] = y1[i]
                k[0, i] = k[12, i]
        h, held_back = proposed, False
        if watching:
            for i in range(samples.shape[1]):
                samples[0, i] = samples[SAMPLES - 1, i]
        if watching and where <= 1.0:
            status = rhs(t, y[:n], y[n:], params, rhs_table, rhs_work, k[0, n:])  # type: ignore[operator]
            watch(t, y[:n], y[n:], params, watch_table, watch_work, samples[0])  # type: ignore[operator]
        if stop:
            ended = FIRED
            break
    counts[STEPS], counts[TRIED], counts[REJECTED] = steps, tried, rejected
    reals[STEP] = h
    return ended
