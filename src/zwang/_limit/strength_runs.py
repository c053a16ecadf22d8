"""All strengths of a study: run side by side, with an estimate of the numerical error of each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang._interrupts import noticed, raise_lost
from zwang._limit.ideal import Ideal
from zwang._limit.realized_run import RealizedRun, Runner
from zwang._numerics.jit import carried
from zwang._numerics.motion.course import STATUS
from zwang._numerics.motion.reference import DISTANCES
from zwang._numerics.motion.run_state import DONE
from zwang.errors import StateError

Array = NDArray[np.float64]
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Gathered:
    """The realized motions of a study.

    Attributes
    ----------
    strengths : (s,)
    edges : (k + 1,)
    runs : tuple of RealizedRun
        Those that reached the end, one for each strength.
    failed : tuple of str
        What became of the others, in words.
    spent : str
        The budget that ended one of them, in words; empty where none did.
    floors : dict
        Quantity -> (s,): what rounding and integration leave uncertain.
    residual : float
        How far the positions at one strength move when steps are halved, relative to their size.
    method : str
    """

    strengths: Array
    edges: Array
    runs: tuple[RealizedRun, ...]
    failed: tuple[str, ...]
    spent: str
    floors: dict[str, Array]
    residual: float
    method: str


def gather(
    runner: Runner,
    strengths: Array,
    start: float,
    end: float,
    cells: int,
    ideal: Ideal | None,
    workers: int,
    progress: Callable[[float], None] | None,
) -> Gathered:
    """Run all strengths, the longest first; a Ctrl-C ends them all within a moment."""
    edges = np.linspace(start, end, cells + 1)
    reference = None if ideal is None else ideal.reference
    done = 0
    given_up = threading.Event()

    def one(strength: float) -> RealizedRun:
        nonlocal done
        made = runner.run(strength, edges, reference, stop=given_up.is_set)
        done += 1
        if progress is not None:
            progress(done / len(strengths))
        return made

    with noticed():
        first = one(float(strengths[0]))  # compiles what is not compiled yet, once
        raise_lost()  # a Ctrl-C that was swallowed in there: the threads below are told by this one alone
    pool = ThreadPoolExecutor(max(1, int(workers)))
    try:
        rest = list(pool.map(carried(one), [float(item) for item in strengths[:0:-1]]))
    except BaseException:  # Ctrl-C reaches this thread alone: the others are told
        given_up.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    runs = [first, *reversed(rest)]
    good = tuple(run for run in runs if run.course.status == DONE)
    failed = tuple(_failure(run) for run in runs if run.course.status != DONE)
    spent = next((run.spent for run in runs if run.spent), "")
    if not good and not spent:
        raise StateError(f"{runner.softened.soft.name}: no realized motion reaches the end. {failed[0]}")
    kept = np.array([run.strength for run in good])
    residual = _residual(runner, good[0], edges) if good else float("nan")
    return Gathered(kept, edges, good, failed, spent, _floors(runner, good, edges), residual, runner.method)


def nothing_gathered(start: float, end: float, cells: int, spent: str) -> Gathered:
    """Return what there is where the budget was spent before any motion was realized."""
    none = dict.fromkeys(DISTANCES, np.zeros(0))
    return Gathered(np.zeros(0), np.linspace(start, end, cells + 1), (), (), spent, none, float("nan"), "")


def _residual(runner: Runner, run: RealizedRun, edges: Array) -> float:
    """Return how far the positions move when steps are halved; nan where a budget doesn't allow it."""
    finer = runner.run(run.strength, edges, None, finer=2.0).course
    if finer.status != DONE:
        return float("nan")
    return float(np.abs(finer.q - run.course.q).max() / (1e-300 + np.abs(finer.q).max()))


def _failure(run: RealizedRun) -> str:
    course = run.course
    words = f"The motion at strength {run.strength:.3g} {STATUS[course.status]} (t = {course.t[-1]:.6g})."
    return f"{words} {course.reason}".strip()


def _floors(runner: Runner, runs: tuple[RealizedRun, ...], edges: Array) -> dict[str, Array]:
    """Return what rounding leaves uncertain.

    A constraint's expression is known to eps |q|, so the force of a spring to eps |q| w^2, anew at every step. Over the
    time T these kicks add up, like a walk, to a velocity eps |q| w^2 sqrt(T h) across, with h ~ 1/w; its integral of
    force is the same but for the mass. Along, what is left is rounding of the state itself and of the ideal motion.
    """
    span = float(edges[-1] - edges[0])
    rates = np.array([max(run.course.rate, 1.0 / span) for run in runs])
    far = np.array([np.abs(run.course.q).max() for run in runs])
    fast = np.array([np.abs(run.course.v).max() for run in runs])
    state = 40 * EPS * (far + span * fast)
    if runner.method == "implicit":
        slow = 10 * runner.tol * (far + span * fast)
        return {"position": slow, "velocity": 10 * runner.tol * fast, "tangential velocity": 10 * runner.tol * fast,
                "normal velocity": EPS * fast, "integral": 10 * runner.tol * fast, "force": 0 * slow}  # fmt: skip
    walk = 0.25 * EPS * far * rates**1.5 * np.sqrt(span)
    return {"position": state + walk / rates, "velocity": walk + state / span, "tangential velocity": state / span,
            "normal velocity": walk, "integral": walk, "force": 0 * walk}  # fmt: skip
