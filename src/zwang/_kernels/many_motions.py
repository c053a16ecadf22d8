"""The loop that moves many states of one mode, a lane each, in C: the same method as `motion.lanes`, as one text.

A lane that has come to its end takes the next motion, so that none waits for the longest one. Motions pause at given
instants and write their states there, and end where a quantity crosses zero (`motion.stops`, translated). One that
can't go on, or comes near a singular point, is given back with a status for the loop of a single motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._kernels.c_types import FLOAT, INT, ArrayKind
from zwang._kernels.lane_kernels import LaneOutputs
from zwang._kernels.many_states import LaneText
from zwang._kernels.python_to_c import Translation
from zwang._numerics.motion import stops
from zwang._numerics.motion.lanes import NEAR, STEEP
from zwang._numerics.motion.tableau import E3, E5, STAGES, B, C
from zwang._numerics.motion.unrolled import matrix, weights

SETTLE = """/* The shortest way back to the constraints, and the accelerations there; whether all was well. */
INLINE int settle(double t, double *q, double *v, double *a, double *drift WORKSPACE)
{
    int good = 1;
#if POSITIONS > 0
    int far = 1;
    for (int attempt = 0; attempt < 6 && far; ++attempt) {
        double change[N + POSITIONS], moved = 0, size = 0, off = 0;
        good &= shift(t, q, v PASSED, change) == 0;
        EACH(c) {
            q[c] += change[c];
            moved = fmax(moved, fabs(change[c]));
            size = fmax(size, fabs(q[c]));
        }
        for (int k = 0; k < POSITIONS; ++k) off = fmax(off, fabs(change[N + k]));
        if (attempt == 0) *drift = fmax(*drift, off);
        far = moved > 1e-9 * size && off != 0;
    }
    good &= !far;
#endif
#if ROWS > 0
    double landed[2 * N + ROWS];
    good &= land(t, q, v PASSED, landed) == 0;
    EACH(c) { v[c] = landed[c]; a[c] = landed[N + c]; }
#else
    double out[N + 1];
    good &= motion(t, q, v PASSED, out) == 0;
    EACH(c) a[c] = out[c];
    (void)drift;
#endif
    double total = 0;
    EACH(c) total += fabs(q[c]) + fabs(v[c]) + fabs(a[c]);
    return good && total < 1e300;
}

"""

FIRST = """/* Errors are relative to the state and to sizes: of lengths, speeds and spins; those of angles are 1. */
#define LENGTH(c) (TURNS(c) ? 1.0 : sizes[0])
#define SPEED(c) (TURNS(c) ? sizes[2] : sizes[1])

/* Hairer's rule for a first step; `seen` becomes the closeness to a singular point. */
INLINE double first_step(double t, double left, const double *q, const double *v, const double *a, double tol,
                         const double *sizes, double *seen WORKSPACE)
{
    double d0 = 0, d1 = 0, d2 = 0, x[N], y[N], out[N + 1];
    EACH(c) {
        const double s = tol * (LENGTH(c) + fabs(q[c])), r = tol * (SPEED(c) + fabs(v[c]));
        d0 += q[c] / s * (q[c] / s) + v[c] / r * (v[c] / r);
        d1 += v[c] / s * (v[c] / s) + a[c] / r * (a[c] / r);
    }
    d0 = sqrt(d0 / (2 * N));
    d1 = sqrt(d1 / (2 * N));
    const double h = fmin(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1, left);
    EACH(c) { x[c] = q[c] + h * v[c]; y[c] = v[c] + h * a[c]; }
    const int sound = motion(t + h, x, y PASSED, out) == 0;
    *seen = out[N];
    EACH(c) {
        const double e = (y[c] - v[c]) / (tol * (LENGTH(c) + fabs(q[c])));
        const double d = (out[c] - a[c]) / (tol * (SPEED(c) + fabs(v[c])));
        d2 += e * e + d * d;
    }
    d2 = sqrt(d2 / (2 * N)) / (h + 1e-300);
    if (!sound || !(d2 < 1e300)) return 1e-3 * h;
    const double d = fmax(d1, d2), g = d <= 1e-15 ? fmax(1e-6, 1e-3 * h) : sqrt(sqrt(sqrt(0.01 / (d + 1e-300))));
    return fmin(fmin(g, 100.0 * h), 0.1 * left);
}

"""

MOVE = """/* Motions from rows of states to their ends; states at the instants go to `samples` (instants, 2 N, n). */
CROWDED move(double *t, double *q, double *v, const double *__restrict params, const double *__restrict ends,
            const double *__restrict given, const double *__restrict instants, long long count,
            double *__restrict samples, double tol, long long most,
            unsigned char *reached, long long *steps, long long *attempts, double *drifts,
            unsigned long long *counter, long long n)
{
    double y[N], w[N], k[STAGES][N], look[LOOK], sizes[3], now = 0, end = 0, h = 0, drift = 0, worst = 0, floor = 0;
    long long i = -1, at = 0, taken = 0, tried = 0;
    int held = 0, stuck = 0, fresh = 1;
    OWN
    (void)params;
    (void)look;
#if EVENTS > 0
    const double DIRECTIONS[] = {DIRECTED_TEXT};
    const doubles_1 seen_by_lane = {look, {LOOK}};
#endif
    for (;;) {
        if (fresh) {
            i = TAKE(counter);
            if (i >= n) break;
            now = t[i];
            end = ends[i];
            drift = 0;
            taken = tried = 0;
            held = 0;
            EACH(c) { y[c] = q[c * n + i]; w[c] = v[c * n + i]; }
            for (int s = 0; s < 3; ++s) sizes[s] = given[s * n + i];
            PREPARE
            stuck = !settle(now, y, w, k[0], &drift PASSED);
            h = first_step(now, end - now, y, w, k[0], tol, sizes, &worst PASSED);
            floor = worst;
            for (at = 0; at < count && instants[at] < now; ++at) {}
#if EVENTS > 0
            for (int e = 0; e < LOOK; ++e) look[e] = 0;
            look[HUNT] = -1;
            for (int e = 0; e < EVENTS; ++e) look[DIRECTED + e] = DIRECTIONS[e];
            watch(now, y, w PASSED, look);
#endif
        }
        while (at < count && instants[at] <= now && !stuck) {
            EACH(c) {
                samples[(2 * N * at + c) * n + i] = y[c];
                samples[(2 * N * at + N + c) * n + i] = w[c];
            }
            ++at;
        }
        fresh = now >= end || stuck || tried >= most;
        if (fresh) {
            t[i] = now;
            EACH(c) { q[c * n + i] = y[c]; v[c * n + i] = w[c]; }
            reached[i] = now >= end && !stuck;
            steps[i] = taken;
            attempts[i] = tried;
            drifts[i] = drift;
            continue;
        }
        const double target = at < count && instants[at] < end ? instants[at] : end, left = target - now;
        const int last = 1.01 * h >= left;
        double step = last ? left : h, next = last ? target : now + h;
#if EVENTS > 0
        const int hunting = look[HUNT] >= 0;
        if (hunting) {
            next = AIM(seen_by_lane, HUNT, 1);
            step = next - now;
        }
#endif
        double peak = 0, least = floor, seen = 0, early = 0, x[N], z[N], a[N];
        int good = 1;
        STAGES_TEXT
        double five = 0, three = 0;
        EACH(c) {
            RESULT_TEXT
        }
        const double error = five / sqrt(2.0 * N * (five + 0.01 * three) + 1e-300);
        good &= error <= 1.0;
        if (good) good = settle(next, x, z, a, &drift PASSED);
        ++tried;
#if EVENTS > 0
        if (good) {
            watch(next, x, z PASSED, look + (SAMPLES - 1) * EVENTS);
            const long long shown = hunting ? NARROW(seen_by_lane, 0, 1, EVENTS, next)
                                            : MET(seen_by_lane, 0, 1, EVENTS, now, step);
            if (shown == GOING_ON) continue;
            stuck = shown == DOUBTFUL;
            if (stuck) continue;
            if (shown == STOPPED) end = next;
        } else if (hunting) {
            stuck = 1;
            continue;
        }
#endif
        const double grow = 0.9 / (sqrt(sqrt(sqrt(error))) + 1e-30);
        if (good) {
            const double longer = step * (held && grow > 1.0 ? 1.0 : fmin(grow, 6.0));
            h = step < h && longer < h ? h : longer;  /* a step that was cut short says nothing against a longer one */
            now = next;
            floor = least;
            worst = fmax(peak, worst);
            /* Stages may lie on both sides of a singular point, none of them next to it: then they differ much. */
            stuck = worst > NEAR * floor || peak > STEEP * fmin(early, seen);
            ++taken;
            EACH(c) {
                y[c] = x[c];
                w[c] = z[c];
                k[0][c] = a[c];
                if (!TURNS(c)) sizes[0] = fmax(sizes[0], fabs(x[c]));
                sizes[TURNS(c) ? 2 : 1] = fmax(sizes[TURNS(c) ? 2 : 1], fabs(z[c]));
            }
        } else {
            h = step * (error < 1e300 && error > 1.0 ? fmax(grow, 0.2) : 0.25);
            stuck = h <= 4e-16 * fabs(now) || h <= 1e-290;
        }
        held = !good;
    }
}
"""


WRITTEN_OUT = 12
"""Coordinates up to which a compiler may write loops over them out: beyond, that takes it long (19 s for a chain of 40
links in place of 4) and gains nothing."""


def motions_source(outputs: LaneOutputs, *, shared: bool) -> tuple[str, LaneText]:
    """Return the text of `move` for a mode, and its writer."""
    text = LaneText.of(outputs.program, outputs.kernels, shared=shared)
    n, events = len(outputs.program.q), len(outputs.directions)
    workspace = "" if shared else ", const double *U"
    sizes: dict[str, Any] = {
        "N": n,
        "POSITIONS": outputs.positions,
        "ROWS": outputs.rows,
        "STAGES": STAGES,
        "EVENTS": events,
    }
    sizes |= {"LOOK": stops.block(events), "SAMPLES": stops.SAMPLES}
    sizes |= {"DIRECTED": (stops.SAMPLES + 1) * events, "HUNT": (stops.SAMPLES + 2) * events}
    sizes |= {"TURNS(c)": f"(({_turning(outputs.turns)}) & 1)"}
    sizes |= {"GOING_ON": stops.GOING_ON, "STOPPED": stops.STOPPED, "DOUBTFUL": stops.DOUBTFUL}
    source = text.head + "".join(f"#define {name} {size}\n" for name, size in sizes.items())
    source += f"#define EACH(c) {'ROLLED ' if n > WRITTEN_OUT else ''}for (int c = 0; c < N; ++c)\n\n"
    source += "".join(text.function(title, item) for title, item in outputs.kernels.items())
    own = text.own
    replaced = {
        "STAGES_TEXT": _lines(_stages(text.passed, events), 8),
        "RESULT_TEXT": _lines(_result(), 12),
        "WORKSPACE": workspace,
        "PASSED": text.passed,
        "OWN": "\n    ".join(own[:1]),
        "PREPARE": "\n            ".join(own[1:]),
        "NEAR": repr(NEAR),
        "STEEP": repr(STEEP),
        "DIRECTED_TEXT": ", ".join(repr(float(item)) for item in outputs.directions),
    }
    if events:
        source += _watching(replaced)
    move = SETTLE + FIRST + MOVE
    for word, put in replaced.items():
        move = move.replace(word, put)
    return source + move, text


def _turning(turns: Sequence[bool]) -> str:
    """Return the text of a number whose last bit says whether coordinate c is an angle."""
    words = [sum(1 << k for k, item in enumerate(turns[at : at + 64]) if item) for at in range(0, len(turns), 64)]
    texts = [f"{word}ULL >> ((c) - {64 * k})" for k, word in enumerate(words)]
    return "".join(f"(c) < {64 * (k + 1)} ? {text} : " for k, text in enumerate(texts[:-1])) + (texts or ["0"])[-1]


def _watching(replaced: dict[str, str]) -> str:
    """Return the functions of `stops` in C, and put their names down."""
    room, made = ArrayKind(FLOAT, 1), Translation({})
    replaced["AIM"] = made.function(stops.aim, [room, INT, INT])[0]
    replaced["NARROW"] = made.function(stops.narrow, [room, INT, INT, INT, FLOAT])[0]
    replaced["MET"] = made.function(stops.met, [room, INT, INT, INT, FLOAT, FLOAT])[0]
    return made.text


def _lines(lines: Sequence[str], indent: int) -> str:
    return f"\n{' ' * indent}".join(lines)


def _sum(row: NDArray[np.float64]) -> str:
    """Return the weighted sum of the accelerations of the stages."""
    terms = [f"{float(weight)!r} * k[{j}][c]" for j, weight in enumerate(row) if weight != 0.0]
    return f"({' + '.join(terms)})" if terms else "0.0"


def _stages(passed: str, events: int) -> list[str]:
    """Return the lines that fill the accelerations of a step, and see how near a singular point they were."""
    a, lines = matrix(), []
    square = a @ a
    for i in range(1, STAGES):
        lines.append("EACH(c) {")
        lines.append(f"    z[c] = w[c] + step * {_sum(a[i])};")
        lines.append(f"    x[c] = y[c] + step * ({C[i]!r} * w[c] + step * {_sum(square[i])});")
        lines.append("}")
        lines.append(f"{{ double out[N + 1]; good &= motion(now + {C[i]!r} * step, x, z{passed}, out) == 0;")
        lines.append(f"  EACH(c) k[{i}][c] = out[c];")
        lines.append("  seen = out[N]; }")
        lines.append("peak = seen > peak ? seen : peak; least = seen < least ? seen : least;")
        if i == 1:
            lines.append("early = seen;")
        if events and i in stops.SAMPLED:
            row = f"look + {1 + stops.SAMPLED.index(i)} * EVENTS"
            lines.append(f"watch(now + {C[i]!r} * step, x, z{passed}, {row});")
    return lines


def _result() -> list[str]:
    """Return the lines for the end of a step in one coordinate, and its part of the two errors."""
    a = matrix()
    step, fifth, third = (weights(row) for row in (B, E5, E3))
    return [
        f"z[c] = w[c] + step * {_sum(step)};",
        f"x[c] = y[c] + step * (w[c] + step * {_sum(step @ a)});",
        "const double fast = step / (tol * (SPEED(c) + fmax(fabs(w[c]), fabs(z[c]))));",
        "const double place = step * step / (tol * (LENGTH(c) + fmax(fabs(y[c]), fabs(x[c]))));",
        f"const double e = fast * {_sum(fifth)}, d = place * {_sum(fifth @ a)};",
        f"const double f = fast * {_sum(third)}, g = place * {_sum(third @ a)};",
        "five += e * e + d * d;",
        "three += f * f + g * g;",
    ]
