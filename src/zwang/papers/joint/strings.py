"""A string in place of the guide, a little too long, and a rigid guide a little off: two more ways past the point."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from zwang import Event, System, simulate
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_corrected, as_printed, sound
from zwang.papers.joint.passages import TANGENCY, fold, polar, slope, springs, start
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop
from zwang.pictures import SERIES, new_figure

STRING, GUIDE = "ellipse_pendulum_string", "ellipse_pendulum"
LONGER = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
TOUCHING = (1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
PASSED, BACK = 0.45, -0.35
NEARLY = {"r1": TANGENCY["r1"], "r2": math.sqrt(TANGENCY["r1"] / 0.95), "a": TANGENCY["a"]}
"""A crossing with the curvature 0.95: a two-sided guide would push before the fold."""
SHARP = 1e-12  # flights beside a tangency are some 1e-10 high


@dataclass(frozen=True)
class Trip:
    """How the pendulum went past the singular point.

    Attributes
    ----------
    label : int
        The branch at the end; 0 where it turned back, or stopped.
    events : tuple of (str, float)
        Kinds, and polar angles of C.
    loss : float
        Energy lost in impacts [J].
    peak : float
        The largest reaction of the guide in size.
    residual : float
    status : str
    """

    label: int
    events: tuple[tuple[str, float], ...]
    loss: float
    peak: float
    residual: float
    status: str

    def of(self, kind: str) -> list[float]:
        """Return the polar angles of one kind of event."""
        return [angle for name, angle in self.events if name == kind]


def trip(shop: Workshop, name: str, longer: float, label: int, e: float = 0.0, **changes: float) -> Trip:
    """Return the passage with the ellipse of a string whose half length is more by `longer`, the foci kept."""
    extra = {"e": e} if name == STRING else {}
    return _trip(shop.system(name), name, longer, label, tuple(sorted({**changes, **extra}.items())))


@lru_cache(maxsize=128)
def _trip(system: System, name: str, longer: float, label: int, changes: tuple[tuple[str, float], ...]) -> Trip:
    state, params = Workshop().values(name, **dict(changes))
    focal = params["r1"] ** 2 - params["r2"] ** 2
    r1 = params["r1"] + longer
    params = {**params, "r1": r1, "r2": math.sqrt(r1**2 - focal)}
    phi, psi = system.coordinates
    x = params["l1"] * sp.cos(phi) + params["l2"] * sp.cos(psi)
    y = params["l1"] * sp.sin(phi) + params["l2"] * sp.sin(psi)
    ends = [
        Event(y - math.tan(PASSED) * x, direction=1, stop=True, name="passed"),
        Event(y - math.tan(BACK) * x, direction=-1, stop=True, name="back"),
    ]
    motion = simulate(system, start(params, tuple(state), label), params, until=6.0, tol=SHARP, events=ends)
    over = float(polar(motion.end, params)) > 0.9 * PASSED
    total = motion.energy["total"]
    seen = [(event.kind, float(polar(motion.at(event.time), params))) for event in motion.events]
    return Trip(
        label=int(np.sign(fold(motion.end, params))) if over else 0,
        events=tuple(item for item in seen if item[0] != "user"),
        loss=float(total[0] - total[-1]),
        peak=float(np.nanmax(np.abs(motion.reactions["ellipse"]))),
        residual=float(motion.residual),
        status=motion.status.name,
    )


@claim(
    "002-joint-string",
    place="section 7, a string longer by s",
    statement="On a string that is a little too long the pendulum leaves the ellipse before the folded pose, strikes "
    "it again on the other branch, and both points tend to the folded pose as the string gets its length.",
    printed="as `eps -> 0` the points where it leaves and where it strikes tended to `(0, pi)`",
    recorded="corrected",
    systems=(STRING,),
    errata=("burian2017-branches",),
    new="the exponents 1/4, 1/4 and 1, the same branch with elastic impacts, and the crossings where it fails",
)
def string(shop: Workshop) -> Finding:
    found = [trip(shop, STRING, s, -1) for s in LONGER]
    nearly = {label: [trip(shop, STRING, s, label, **NEARLY) for s in LONGER[2::2]] for label in (1, -1)}
    first = [abs(item.of("impact")[0]) for item in nearly[1]]
    leaves, strikes = ([abs(item.of(kind)[0]) for item in found] for kind in ("lift-off", "impact"))
    powers = [slope(LONGER, values) for values in (leaves, strikes, [item.loss for item in found])]
    elastic = [trip(shop, STRING, s, label, 1.0).label for s in LONGER[1::2] for label in (1, -1)]
    return Finding(
        computed=f"Longer by 1e-4 to 1e-8: it leaves at a distance like s to the {num(powers[0], 3)}, strikes at one "
        f"like s to the {num(powers[1], 3)}, loses energy like s to the {num(powers[2], 3)}, and the branch changes "
        "every time; also where the impacts are elastic. At a crossing with the curvature 0.95, from the branch +, its "
        f"first impact stays at {vec(first, 3)} rad and it ends on the branch +.",
        comparisons=(
            as_printed(
                "the branch changes, curvature 0.95 too",
                [item.label for item in (*found, *nearly[1])],
                [1] * len(found) + [-1] * 2,
            ),
            as_corrected("the branch changes where the guide pulls", [item.label for item in found], [1] * len(found)),
            as_corrected("the points come nearer", all(np.diff(leaves) < 0) and all(np.diff(strikes) < 0)),
            as_corrected("curvature 0.95, from +: it is kept", [item.label for item in nearly[1]], [1, 1]),
            as_corrected("curvature 0.95, from -: it changes", [item.label for item in nearly[-1]], [1, 1]),
            as_corrected("curvature 0.95, from +: the first impact stays away", first[1] / first[0], 1.0, tol=0.1),
            sound("exponents of both points and of the loss", powers, [0.25, 0.25, 1.0], tol=0.02),
            sound("elastic impacts change the branch too", elastic, [-1, 1] * 2),
        ),
        corrected="So where a two-sided guide pulls all the way to the fold. At crossings with a curvature near 1 it "
        "would have to push, on the branch + from 0.9185 on and on the branch - from 0.9953 on, for this start; there "
        "the string is left at a finite distance, and from the branch + the branch is kept.",
        residual=max(item.residual for item in found),
        data={"exponents": powers, "longer": list(LONGER), "leaves": leaves, "strikes": strikes},
        pictures=(_distances(shop),),
    )


def _distances(shop: Workshop) -> Picture:
    def make() -> Any:
        figure, ax = new_figure((5.4, 3.8))
        for name, changes, lengths, colour in (
            ("crossing", {}, LONGER, SERIES[0]),
            ("tangency", TANGENCY, TOUCHING, SERIES[3]),
        ):
            trips = [trip(shop, STRING, s, -1, **changes) for s in lengths]
            leaves, last = [abs(one.of("lift-off")[0]) for one in trips], [one.of("impact")[-1] for one in trips]
            ax.loglog(lengths, leaves, "o-", color=colour, ms=4, label=f"{name}: leaves")
            ax.loglog(lengths, last, "s--", color=colour, ms=4, label=f"{name}: last impact")
        ax.set_xlabel("string too long by s [m]")
        ax.set_ylabel("distance from the folded pose [rad]")
        ax.legend(frameon=False)
        return figure

    return Picture(
        "string",
        "Where the string lets go and where it catches again, over its surplus length: at a crossing both tend to the "
        "folded pose, at a tangency neither does.",
        make,
    )


@claim(
    "002-joint-string-tangency",
    place="section 7, a string longer by s, where the branches touch",
    statement="Also where the branches touch, the points where a string too long lets go and catches tend to the "
    "folded pose.",
    printed="as `eps -> 0` the points where it leaves and where it strikes tended to `(0, pi)`",
    recorded="corrected",
    systems=(STRING,),
    errata=("burian2017-branches",),
)
def string_tangency(shop: Workshop) -> Finding:
    found = [trip(shop, STRING, s, -1, **TANGENCY) for s in TOUCHING]
    leaves, last = [item.of("lift-off")[0] for item in found], [item.of("impact")[-1] for item in found]
    exact = trip(shop, STRING, 0.0, -1, **TANGENCY)
    hits = np.array(exact.of("impact"))
    ratio = float((hits[3] / hits[1]) ** (1 / 2))  # the flights after these are lower than rounding
    return Finding(
        computed=f"Longer by 1e-8 to 1e-12: it leaves at {num(leaves[-1], 4)} rad, whatever the length, and its last "
        f"impact is between {num(min(last), 3)} and {num(max(last), 3)} rad on the other side; the branch changes and "
        f"{num(found[-1].loss, 2)} J are lost. At the exact length the impacts accumulate at the folded pose with the "
        f"ratio {num(ratio, 4)}.",
        comparisons=(
            as_printed("the last impact comes nearer", last[-1] < 0.5 * last[0]),
            as_corrected("it leaves at the same place for every length", leaves, [leaves[-1]] * len(leaves), tol=1e-3),
            as_corrected("ratio of the places of successive impacts", ratio, math.sqrt(2) - 1, tol=0.02),
            as_corrected("the branch changes", [item.label for item in found], [1] * len(found)),
            as_corrected("a finite part of the energy is lost", min(item.loss for item in found) > 1e-3),
        ),
        corrected="At a tangency it lets go at a finite distance, strikes in a sequence that accumulates at the folded "
        "pose with the ratio `sqrt(2) - 1`, flies on and loses a finite part of its energy.",
        residual=max(item.residual for item in found),
        data={"leaves": leaves, "last": last, "ratio": ratio},
    )


@claim(
    "000-joint-guide",
    place="sections 3 and 4, the perturbed constraint as a way past the singular point",
    statement="Moving on a slightly perturbed guide, the system goes on along one smooth branch.",
    printed="for `f = eps` the motion along one of the smooth branches is considered",
    recorded="confirmed",
    systems=(GUIDE, STRING),
    errata=("burian2017-branches",),
    new="what the perturbed guide chooses is the opposite of what springs, a string or inertia choose at a crossing: "
    "computed side by side",
)
def guide(shop: Workshop) -> Finding:
    wider = {name: trip(shop, GUIDE, 1e-5, -1, **c) for name, c in (("crossing", {}), ("tangency", TANGENCY))}
    narrower = trip(shop, GUIDE, -1e-5, -1)
    peaks = [trip(shop, GUIDE, s, -1).peak for s in LONGER[:3]]
    string = trip(shop, STRING, 1e-5, -1)
    return Finding(
        computed="Kept on an ellipse that is larger by 1e-5 the pendulum keeps its label, with a turn so sharp that "
        f"the reaction grows like s to the power {num(slope(LONGER[:3], peaks), 3)}; on one that is smaller it turns "
        "back. On a string of the same length the label changes.",
        comparisons=(
            as_printed("label on the larger ellipse, crossing", wider["crossing"].label, -1),
            as_printed("label on the larger ellipse, tangency", wider["tangency"].label, -1),
            as_printed("on the smaller one it turns back", narrower.label, 0),
            sound("it reached the end", narrower.status, "REACHED"),
            sound("a string of that length changes it", string.label, 1),
            sound("reactions grow without bound", peaks[-1] > 10 * peaks[0]),
        ),
        residual=max(item.residual for item in (*wider.values(), narrower)),
        data={"peaks": peaks, "longer": list(LONGER[:3])},
        pictures=(_side_by_side(shop),),
    )


WORDS = {-1: "keeps the branch", 1: "changes the branch", 0: "turns back"}


def _side_by_side(shop: Workshop) -> Picture:
    """Return a table of what each way past the singular point chooses, from the branch -."""

    def make() -> str:
        ways: dict[str, Callable[[dict[str, float]], int]] = {
            "springs of N = 10⁹": lambda c: springs(shop, 1e9, -1, **c).label,
            "string too long by 10⁻⁵, elastic impacts": lambda c: trip(shop, STRING, 1e-5, -1, 1.0, **c).label,
            "string too long by 10⁻⁵, no restitution": lambda c: trip(shop, STRING, 1e-5, -1, **c).label,
            "rigid guide, larger by 10⁻⁵": lambda c: trip(shop, GUIDE, 1e-5, -1, **c).label,
            "rigid guide, smaller by 10⁻⁵": lambda c: trip(shop, GUIDE, -1e-5, -1, **c).label,
        }
        rows = [
            f"<tr><td>{name}</td><td>{WORDS[choose({})]}</td><td>{WORDS[choose(TANGENCY)]}</td></tr>"
            for name, choose in ways.items()
        ]
        head = "<thead><tr><th>made as</th><th>crossing</th><th>tangency</th></tr></thead>"
        return f'<div class="wide"><table>{head}<tbody>{"".join(rows)}</tbody></table></div>'

    return Picture("choices", "One pendulum, one start, one singular point: what each way of making it chooses.", make)
