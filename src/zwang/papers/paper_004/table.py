"""Table 1 of paper 004: errors of the sleigh made by anisotropic friction: printed, recomputed, measured properly."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from zwang import System, Viscosity, compile, limit, realize
from zwang.papers.claim import claim
from zwang.papers.findings import Finding, Picture, as_added, as_corrected, as_printed, sound
from zwang.papers.paper_004.motions import CENTRE, ON_BLADE, SLEIGH, across, mean_point, moved, path, rubbed
from zwang.papers.paper_004.ode45 import steps
from zwang.papers.wording import num, vec
from zwang.papers.workshop import Workshop

Array = NDArray[np.float64]
STRONG = (0.1, 1.0, 10.0, 100.0, 5000.0)
WEAK = (0.1, 0.0, 100.0)
# Rows by N, columns by k as printed: (dp, dR) for k = 0.1, 0, 100.
PRINTED = {
    0.1: ((3.53, -2.75), (3.3, -2.55), (3.53, -2.75)),
    1.0: ((1.35, -0.62), (1.34, -0.60), (1.35, -0.62)),
    10.0: ((0.36, 0.23), (0.37, 0.23), (0.36, 0.23)),
    100.0: ((0.19, 0.04), (0.19, 0.04), (0.19, 0.04)),
    5000.0: ((0.18, 0.0009), (0.18, 0.0009), (0.18, 0.0009)),
}
ONE_DIGIT = 0.012
"""Two printed decimals, rounded or cut."""


@lru_cache(maxsize=32)
def _right(system: System, strong: float, weak: float, m: float, J: float) -> Callable[[Array], Array]:
    """Return the right side in the frame of the blade: velocity across, along, spin, angle, place of the centre."""
    model = compile(realize(system, "blade", by=Viscosity(strong, other_side=weak)))
    rates = model.right_side({"m": m, "J": J})

    def right(y: Array) -> Array:
        u, along, spin, angle = y[:4]
        c, s = math.cos(angle), math.sin(angle)
        vx, vy = along * c - u * s, along * s + u * c
        ax, ay, turn = rates(0.0, np.array([y[4], y[5], angle, vx, vy, spin]))[3:]
        return np.array([-ax * s + ay * c - spin * along, ax * c + ay * s + spin * u, turn, spin, vx, vy])

    return right


@lru_cache(maxsize=64)
def _put_out(system: System, strong: float, weak: float, m: float, J: float, rtol: float) -> Array:
    start = np.array([0.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    return steps(_right(system, strong, weak, m, J), start, 10.0, rtol=rtol, atol=1e-3 * rtol)[1][:, 4:]


def put_out(shop: Workshop, strong: float, weak: float, rtol: float = 1e-3) -> Array:
    """Return the places of the centre that the integrator of the table puts out."""
    params = shop.values(SLEIGH)[1]
    return _put_out(shop.system(SLEIGH), strong, weak, params["m"], params["J"], rtol)


def measures(places: Array) -> tuple[float, float]:
    """Return dp and dR as the table has them: of the mean over steps, and of distances from the ideal centre."""
    mean = places.mean(axis=0)
    distances = np.hypot(places[:, 0] - CENTRE[0], places[:, 1] - CENTRE[1])
    return float(np.hypot(mean[0] - CENTRE[0], mean[1] - CENTRE[1])), float(1.0 - distances.mean())


def _columns(shop: Workshop) -> dict[float, list[tuple[float, float]]]:
    """Return dp and dR for each N and k; where the permitted side is never visited, k makes no difference."""
    found = {}
    for N in STRONG:
        visited = bool((across(rubbed(shop, N, 0.1)) > 1e-9).any())
        first = measures(put_out(shop, N, 0.1))
        found[N] = [first, *(measures(put_out(shop, N, k)) if visited else first for k in WEAK[1:])]
    return found


@claim(
    "004-table-1",
    place="table 1",
    statement="Errors of centre and radius for five coefficients N and three coefficients k.",
    printed="30 numbers, from 3.53 and -2.75 at `N = 0.1` to 0.18 and 0.0009 at `N = 5000`",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-11", "salnikova-12", "salnikova-13"),
)
def table_1(shop: Workshop) -> Finding:
    found = _columns(shop)
    as_labelled = swapped = total = 0
    rows = []
    for N, cells in found.items():
        for place, (dp, dR) in enumerate(cells):
            other = (1, 0, 1)[place]  # columns k = 0.1 and k = 0 interchanged, the third a copy of the first
            for own, source, value in ((PRINTED[N][place], PRINTED[N][other], (dp, dR)),):
                total += 2
                as_labelled += sum(abs(a - b) <= ONE_DIGIT for a, b in zip(own, value, strict=True))
                swapped += (
                    sum(abs(a - b) <= 4 * ONE_DIGIT for a, b in zip(source, value, strict=True)) if place < 2 else 0
                )
            proper = _proper(shop, N, WEAK[place])
            rows.append([N, WEAK[place], *PRINTED[N][place], dp, dR, proper])
    return Finding(
        computed=f"With the paper's conventions {as_labelled} of {total} numbers agree to two decimals as labelled, "
        f"{swapped} of {2 * total // 3} of the first two columns when these are interchanged.",
        comparisons=(
            as_printed("numbers that agree as labelled", as_labelled, total),
            as_corrected("numbers of two columns that agree when interchanged", swapped, 2 * total // 3),
        ),
        corrected="The columns k = 0.1 and k = 0 are interchanged, and the column k = 100 repeats the first one.",
        data={"columns": COLUMNS, "rows": rows},
        residual=max(float(rubbed(shop, N, k).residual) for N in STRONG for k in WEAK),
        pictures=(_three_columns(rows),),
    )


COLUMNS = ["N", "k", "dp printed", "dR printed", "dp recomputed", "dR recomputed", "largest distance"]


def _three_columns(rows: list[list[float]]) -> Picture:
    """Return the table as markup: printed, with the paper's conventions, properly measured."""

    def make() -> str:
        head = "".join(f"<th>{name}</th>" for name in COLUMNS)
        body = "".join(
            "<tr>" + "".join(f'<td class="n">{num(value, 4)}</td>' for value in row) + "</tr>" for row in rows
        )
        return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'

    caption = (
        "Table 1: what is printed, what the paper's conventions give (means over the steps of a loose integrator, "
        "distances from the ideal centre), and the largest distance to the exact motion, which needs no convention."
    )
    return Picture("table-1", caption, make)


def _residual(shop: Workshop, strong: float, weak: float = 0.1) -> float:
    """Return how far the motion behind a cell of the table misses its equations."""
    return float(rubbed(shop, strong, weak).residual)


def _proper(shop: Workshop, strong: float, weak: float) -> float:
    """Return the largest distance to the exact motion on the circle."""
    t, x, y = path(rubbed(shop, strong, weak))
    return float(np.hypot(x - np.sin(t), y - (1 - np.cos(t))).max())


@claim(
    "004-table-columns",
    place="table 1, columns k = 0.1 and k = 0",
    statement="The first column pair belongs to k = 0.1, the second to k = 0.",
    printed="`N = 0.1`: 3.53 for k = 0.1, 3.3 for k = 0",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-11",),
)
def table_columns(shop: Workshop) -> Finding:
    first, second = (measures(put_out(shop, 0.1, k)) for k in (0.1, 0.0))
    return Finding(
        computed=f"Recomputed at N = 0.1: k = 0.1 gives {vec(first, 4)}, k = 0 gives {vec(second, 4)}.",
        comparisons=(
            as_printed("dp for k = 0.1", first[0], 3.53, tol=0.01),
            as_corrected("dp for k = 0", second[0], 3.53, tol=0.01),
            as_corrected("dp for k = 0.1", first[0], 3.3, tol=0.02),
        ),
        residual=_residual(shop, 0.1),
        corrected="The two column pairs are interchanged.",
    )


@claim(
    "004-table-third-column",
    place="table 1, column k = 100",
    statement="For small N the motion is the same for k = 0.1 and k = 100.",
    printed="3.53 and -2.75, 1.35 and -0.62",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-12",),
)
def table_third_column(shop: Workshop) -> Finding:
    values = [measures(put_out(shop, N, 100.0)) for N in (0.1, 1.0)]
    crossing = bool((across(rubbed(shop, 1.0, 100.0)) > 1e-6).any())
    return Finding(
        computed=f"Recomputed: {vec(values[0], 4)} at N = 0.1 and {vec(values[1], 4)} at N = 1; the velocity across "
        f"the blade {'changes' if crossing else 'keeps'} its sign there.",
        comparisons=(
            as_printed("dp at N = 0.1", values[0][0], 3.53, tol=0.01),
            as_corrected("N = 0.1", values[0], (2.84, -1.93), tol=0.01),
            as_corrected("N = 1", values[1], (1.67, -0.70), tol=0.01),
            sound("the other side is visited", crossing),
        ),
        residual=_residual(shop, 1.0, 100.0),
        corrected="(2.84, -1.93) and (1.67, -0.70) with the same integrator: for `N < 2` the other side is visited.",
    )


@claim(
    "004-table-radius",
    place="table 1, dR",
    statement="The radius is the mean distance from the centre of the trajectory.",
    printed="distances from the centre of the trajectory; 0.0009 at `N = 5000`",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-13",),
)
def table_radius(shop: Workshop) -> Finding:
    t, x, y = path(rubbed(shop, 5000.0, 0.1))
    own = (float(x.mean()), float(y.mean()))
    from_own = 1.0 - float(np.hypot(x - own[0], y - own[1]).mean())
    from_ideal = 1.0 - float(np.hypot(x - CENTRE[0], y - CENTRE[1]).mean())
    return Finding(
        computed=f"N = 5000: dR = {num(from_own, 3)} from the centre of the trajectory, {num(from_ideal, 3)} from the "
        f"ideal centre (over {len(t)} even times).",
        comparisons=(
            as_printed("dR from the centre of the trajectory", abs(from_own), 0.0009, tol=0.5),
            as_corrected("dR from the ideal centre", from_ideal, 0.0009, tol=0.2),
        ),
        residual=_residual(shop, 5000.0),
        corrected="The printed dR are distances from the ideal centre.",
    )


@claim(
    "004-table-residue",
    place="table 1, dp tends to 0.18",
    statement="The centre of the limiting circle stays off the ideal one by 0.18.",
    printed="`dp = 0.18` at `N = 5000`",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-14",),
)
def table_residue(shop: Workshop) -> Finding:
    ideal = moved(shop, SLEIGH, until=10.0, **ON_BLADE)
    mean = mean_point(ideal)
    exact = math.hypot(mean[0] - CENTRE[0], mean[1] - CENTRE[1])
    turn = rubbed(shop, 1000.0, 0.1, until=2 * math.pi)
    one = mean_point(turn)
    off = math.hypot(one[0] - CENTRE[0], one[1] - CENTRE[1])
    return Finding(
        computed=f"The ideal circle itself has a mean point {num(exact, 5)} off its centre over 10 s, 1.59 turns. Over "
        f"one turn the friction with N = 1000 has {num(off * 1000, 3)}/N.",
        comparisons=(
            as_printed("the ideal motion has none of it", exact, 0.0, tol=0.01),
            as_corrected("the mean of the ideal motion", exact, 2 * abs(math.sin(5.0)) / 10, tol=1e-6),
            as_corrected("over one turn, times N", off * 1000, 3.0, tol=0.05),
        ),
        residual=max(float(ideal.residual), float(turn.residual)),
        corrected="An artefact of the mean over 1.59 turns: `2 abs(sin(5))/10 = 0.1918` for the exact circle.",
    )


@claim(
    "004-true-error",
    place="table 1, what it should measure",
    statement="The error of the realization is its largest distance to the ideal motion.",
    printed="(the paper measures mean points and mean radii)",
    recorded="added",
    systems=(SLEIGH,),
    new="closed form: 11.682/N for the position, `sqrt(101)/N` for the velocity on [0, 10]",
)
def true_error(shop: Workshop) -> Finding:
    state, params = shop.values(SLEIGH, **ON_BLADE)
    strengths = (1e3, 1e4, 1e5)
    found = limit(shop.system(SLEIGH), "blade", state, params, by=Viscosity, until=10.0, strengths=strengths, workers=1)
    constants = [float(found.errors[name][-1] * strengths[-1]) for name in ("position", "velocity")]
    return Finding(
        computed=f"N times the largest distance over [0, 10]: {num(constants[0], 6)} (position), "
        f"{num(constants[1], 6)} "
        f"(velocity); orders {num(found.orders['position'].value, 4)} and {num(found.orders['velocity'].value, 4)}.",
        comparisons=(
            as_added("constant of the position", constants[0], 11.682, tol=1e-3),
            as_added("constant of the velocity", constants[1], math.sqrt(101.0), tol=1e-3),
            as_added("order", found.orders["position"].value, -1.0, tol=0.01),
        ),
        residual=float(np.max(found.residual)),
        data={"constants": constants},
    )


@claim(
    "004-table-steps",
    place="table 1, rows N <= 10",
    statement="The numbers are properties of the motion.",
    printed="`dp = 0.36` at `N = 10`",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-15",),
)
def table_steps(shop: Workshop) -> Finding:
    values = [measures(put_out(shop, 10.0, 0.1, rtol))[0] for rtol in (1e-3, 1e-4, 1e-6)]
    mean = mean_point(rubbed(shop, 10.0, 0.1))
    proper = math.hypot(mean[0] - CENTRE[0], mean[1] - CENTRE[1])
    return Finding(
        computed=f"N = 10: dp = {vec(values, 3)} for relative tolerances 1e-3, 1e-4, 1e-6; the mean over time is "
        f"{num(proper, 3)}.",
        comparisons=(
            as_printed("dp doesn't depend on the steps", max(values) - min(values), 0.0, tol=0.01),
            as_corrected("it grows with the number of steps", values, (0.376, 0.411, 0.564), tol=0.01),
            as_corrected("mean over time", proper, 0.332, tol=0.01),
        ),
        residual=_residual(shop, 10.0),
        corrected="Means over steps depend on the integrator; the mean over time is 0.332.",
    )


@claim(
    "004-table-start",
    place="section 4, friction law and initial data of the table",
    statement="With the printed constraint and the printed start the friction N acts from the beginning.",
    printed="`F = -N u` for `u >= 0`, `v(0) = -1`, `omega(0) = 1`",
    recorded="corrected",
    systems=(SLEIGH,),
    errata=("salnikova-10",),
)
def table_start(shop: Workshop) -> Finding:
    offs = []
    for weak in WEAK:
        # Backwards along the blade: with the printed u this start flies on the weak side first.
        motion = rubbed(shop, 5000.0, weak, v_x=-1.0)
        mean = mean_point(motion)
        offs.append(math.hypot(mean[0], mean[1] + 1.0))
    spread = max(offs) - min(offs)
    first = float(across(rubbed(shop, 5000.0, 0.0, v_x=-1.0), 2001)[10])
    return Finding(
        computed=f"With the printed u and v(0) = -1 the mean point at N = 5000 is off (0, -1) by {vec(offs, 3)} for k "
        "= 0.1, 0, 100: the blade starts on its weak side.",
        comparisons=(
            as_printed("the result doesn't depend on k", spread, 0.0, tol=0.05),
            as_corrected("it starts on the permitted side", first > 0),
            as_corrected("mean points", offs, (2.51, 2.69, 0.20), tol=0.02),
        ),
        residual=max(float(rubbed(shop, 5000.0, weak, v_x=-1.0).residual) for weak in WEAK),
        corrected="The table needs `u = -x' sin(phi) + y' cos(phi)`, or `v(0) = +1`.",
    )
