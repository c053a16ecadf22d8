"""The tangency in the limit: the problem that is left of the springs when N is scaled away."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang import Model, System, compile, coordinates, parameters, simulate, t
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_added, sound
from zwang.papers.wording import num
from zwang.papers.workshop import Workshop
from zwang.pictures import QUIET, SERIES, new_figure
from zwang.results import Motion

SPAN = 12.0
"""Scaled time before and after the singular point: what is left out of the slow solution is below 1e-12."""
(DELTA,) = parameters("delta,")


@lru_cache(maxsize=1)
def _problem() -> Model:
    """Return S'' = -S (S^2 - T^4) + delta T: S is the fold, S = T^2 and S = -T^2 the two branches that touch."""
    (S,), (v,) = coordinates("S")
    potential = S**4 / 4 - t**4 * S**2 / 2 - DELTA * t * S
    return compile(System(name="touching_branches", coordinates=[S], kinetic=v**2 / 2, potential=potential))


def _slow(T: Any, delta: float) -> tuple[Any, Any]:
    """Return the solution next to S = T^2 that doesn't oscillate, and its rate: a series in 1/T."""
    d = delta
    S = T**2 + d / 2 * T**-3 - T**-4 - 3 * d**2 / 8 * T**-8 - 1.5 * d * T**-9 + 8.5 * T**-10
    rate = 2 * T - 1.5 * d * T**-4 + 4 * T**-5 + 3 * d**2 * T**-9 + 13.5 * d * T**-10 - 85 * T**-11
    return S, rate


def passed(delta: float = 0.0) -> tuple[int, float, Motion]:
    """Return the branch after the tangency, the action of the oscillation that is left, and the motion."""
    S, rate = _slow(-SPAN, delta)
    motion = simulate(_problem(), {"S": S, "v_S": rate, "t": -SPAN}, {DELTA.name: delta}, until=SPAN, tol=1e-12)
    late = np.linspace(0.8 * SPAN, SPAN, 4000)
    state = motion.at(late)
    label = int(np.sign(np.mean(state["S"])))
    return label, _action(late, label * state["S"], label * state["v_S"], label * delta), motion


def _action(T: NDArray[np.float64], S: Any, rate: Any, delta: float) -> float:
    """Return energy over frequency of the oscillation about the slow solution, in the mean."""
    slow, slow_rate = _slow(T, delta)
    frequency = math.sqrt(2.0) * T**2
    return float(np.mean(((rate - slow_rate) ** 2 + (frequency * (S - slow)) ** 2) / (2 * frequency)))


@claim(
    "003-joint-touching",
    place="the theorem's condition on the differentials, where it fails by a tangency",
    statement="Where two branches touch, stiff springs keep the branch, and a finite action stays in the oscillation "
    "across.",
    printed="nothing: the theorem needs independent differentials",
    recorded="added",
    errata=("burian2017-branches",),
    new="in scaled time and fold the springs obey `S'' = -S (S^2 - T^4)`, where N has dropped out; its solution that "
    "comes in along `S = T^2` without oscillation was followed to the other side, with a series at both ends",
)
def touching(shop: Workshop) -> Finding:
    label, action, motion = passed()
    below, above = passed(-0.56)[0], passed(-0.54)[0]
    lowest = float(motion.at(np.linspace(-3.0, 3.0, 4001))["S"].min())
    return Finding(
        computed=f"It leaves on the branch on which it came, after an excursion to S = {num(lowest, 4)}, with the "
        f"action J = {num(action, 5)}. With a term `delta T`, which is of order N^(-1/6) in the pendulum, it changes "
        "the branch only for delta below a number between -0.56 and -0.54.",
        comparisons=(
            as_added("branch after the tangency", label, 1),
            # An independent integration of the same problem gave 0.992.
            as_added("action that stays", action, 0.992, tol=5e-3),
            sound("the branch is kept for delta = -0.54, changed for -0.56", (above, below), (1, -1)),
        ),
        residual=float(motion.residual),
        data={"action": action, "label": label},
        pictures=(_picture(),),
    )


def _picture() -> Picture:
    def make() -> Any:
        figure, ax = new_figure((5.4, 4.0))
        T = np.linspace(-3.2, 3.2, 1200)
        ax.plot(T, T**2, color=QUIET, lw=0.9, ls="--", label="the two branches")
        ax.plot(T, -(T**2), color=QUIET, lw=0.9, ls="--")
        for delta, colour in ((0.0, SERIES[0]), (-0.56, SERIES[1])):
            ax.plot(T, passed(delta)[2].at(T)["S"], color=colour, lw=1.2, label=f"delta = {delta:g}")
        ax.set_xlabel("scaled time T")
        ax.set_ylabel("scaled fold S")
        ax.legend(frameon=False, loc="lower left")
        return figure

    return Picture(
        "inner",
        "Stiff springs where two branches touch, with the stiffness scaled away: they swing to the other branch, come "
        "back, and keep oscillating.",
        make,
    )
