"""Problems with one contact: their solutions in closed form, and the graph of accelerations over its two forces.

With one contact along a line the scaled problem (`contact.scaled`) has two unknowns, u_n = N + c T + b_n and
u_t = c N + T + b_t, where c is the cosine between normal and tangent in the metric of the inverse masses. Each mode
is two linear equations, whose solution stands here in plain numbers. What is told is clear: every condition of every
mode holds or fails by `MARGIN` at least, far beyond all tolerances. The rest is left to the enumeration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zwang._numerics.contact.mode_tables import Law
from zwang._numerics.contact.modes import Mode
from zwang._numerics.contact.problem import FEW, ContactProblem
from zwang._numerics.contact.scaled import Reduced
from zwang._numerics.sizes import rounding_of_accelerations
from zwang._reactions.labels import sliding_mode
from zwang._reactions.solutions import one_point
from zwang._results.base import Provenance
from zwang._results.contact_graph import ContactGraph
from zwang._results.later import Later
from zwang._results.reactions import Reactions, ReactionsStatus

Array = npt.NDArray[np.float64]
OPEN, CLOSED, STICK = Mode.OPEN, Mode.CLOSED, Mode.STICK
SLIPS = ((Mode.SLIP_PLUS, 1.0), (Mode.SLIP_MINUS, -1.0))
"""The slips that may begin, with their signs."""

MARGIN = 1e-6
"""By how much each condition of a scaled mode must hold or fail to be clear: the enumeration looks closer below it."""
STRICTEST = 1e-7
"""Tolerances above this are too wide for that margin."""
REGULAR = 1e-3
"""Part of its terms below which the determinant of a mode is too small to be clear."""
FARTHEST = 1e3
"""Scaled forces above this are amplified too much to be clear."""
WELL_CONDITIONED = 1e4
"""Bound of the condition number of the masses (unit diagonal) up to which rounding of them does not matter."""
SIZES = (1e-100, 1e100)
"""Squares of lengths and loads between which no product overflows or is lost."""


class ClearPoint(NamedTuple):
    """A solution: its mode, forces along the given normal and tangent, and acceleration (n,)."""

    mode: Mode
    normal: float
    tangential: float
    acceleration: Array


class ClearAnswer(NamedTuple):
    """All solutions in the order of modes, and the number of modes that were looked at."""

    points: list[ClearPoint]
    modes: int


class _Scaled(NamedTuple):
    """One contact as two numbers and their coupling; see the module's text."""

    mu: float
    c: float
    b_n: float
    b_t: float
    unit_n: float
    unit_t: float
    moves: Array
    """(n, 2 or 3) accelerations: free, per N, per T."""


def clear_answer(problem: ContactProblem, tol: float, slip_tol: float) -> ClearAnswer | None:
    """Return every solution of a problem with one contact along a line, None where some decision is not clear."""
    rows = problem.rows
    if rows.count != 1 or rows.of or not rows.plain or len(rows.slip) > 1 or problem.mass is None or tol > STRICTEST:
        return None
    if not isinstance(problem.mass, np.ndarray) or not isinstance(rows.normal, np.ndarray) or len(problem.force) > FEW:
        return None
    if not rows.has_normal[0] or rows.normal_force[0] == rows.normal_force[0]:  # given, no nan
        return None
    slip = float(rows.slip[0]) if len(rows.slip) else 0.0
    rubs, sliding, bilateral = len(rows.slip) and rows.friction[0] > 0, abs(slip) > slip_tol, bool(rows.bilateral[0])
    turn = math.copysign(1.0, slip) if sliding else 1.0
    scaled = _scaled(problem, turn if rubs else 0.0)
    if scaled is None:
        return None
    if not rubs:
        modes = _frictionless(scaled, bilateral)
    elif sliding:
        modes = _sliding(scaled, bilateral, sliding_mode(problem, 0))
    else:
        modes = _resting(scaled, bilateral)
    found, count = [], 0
    for mode, n, t, conditions in modes:
        count += 1
        size = max(1.0, abs(n), abs(t))
        least = min(conditions)
        if size <= FARTHEST and least > MARGIN * size:
            found.append((mode, n * scaled.unit_n, t * scaled.unit_t * turn))
        elif not (size <= FARTHEST and least < -MARGIN * size):  # nan among them
            return None
    rounding = rounding_of_accelerations(scaled.moves[:, 0], problem.mass.diagonal())
    return ClearAnswer([ClearPoint(*one, _moved(scaled.moves, turn, *one[1:], rounding)) for one in found], count)


def _moved(moves: Array, turn: float, normal: float, tangential: float, rounding: Array) -> Array:
    """Return the acceleration under forces; what is rounding of it is zero, as open contacts leave it exactly."""
    forces = (1.0, normal, tangential * turn)[: moves.shape[1]]
    w: Array = moves @ forces
    w[abs(w) <= rounding] = 0.0
    return w


def _scaled(problem: ContactProblem, turn: float) -> _Scaled | None:
    """Return the two numbers of the contact with its tangent turned by a sign, 0 for none; None if badly scaled."""
    rows, mass = problem.rows, problem.mass
    own = mass.diagonal()
    if np.count_nonzero(mass) != len(own) and len(own) * float(own @ problem.inverse.diagonal()) > WELL_CONDITIONED:
        return None
    columns = [problem.force, rows.normal[0], turn * rows.tangent[0]] if turn else [problem.force, rows.normal[0]]
    given = np.array(columns)
    moves = problem.inverse_times(given.T)
    table = (given @ moves).tolist()
    square, lower, upper = table[1][1], *SIZES
    if not lower < square < upper:
        return None
    size, bias = math.sqrt(square), float(rows.bias[0])
    felt, load = table[1][0] / size, abs(bias) / size
    if not turn:
        load = max(abs(felt), 1e-6 * math.sqrt(max(table[0][0], 0.0)), load)
        if not lower < load < upper:
            return None
        return _Scaled(0.0, 0.0, (table[1][0] - bias) / (size * load), 0.0, load / size, 0.0, moves)
    across, other = table[2][2], turn * float(rows.tangent_bias[0])
    if not max(lower, 1e-20 * square) < across < upper:
        return None
    width = math.sqrt(across)
    c, rubbed = table[1][2] / (size * width), table[2][0] / width
    if 1.0 - c * c < REGULAR:
        return None
    both = (felt * felt - 2.0 * c * felt * rubbed + rubbed * rubbed) / (1.0 - c * c)
    load = max(math.sqrt(max(both, 1e-12 * table[0][0], 0.0)), load, abs(other) / width)
    if not lower < load < upper:
        return None
    return _Scaled(
        float(rows.friction[0]) * width / size,
        c,
        (table[1][0] - bias) / (size * load),
        (table[2][0] - other) / (width * load),
        load / size,
        load / width,
        moves,
    )


Modes = Iterator[tuple[Mode, float, float, tuple[float, ...]]]
"""Modes in the order of their tables, with N, T and what is positive where they hold; nan where none is clear."""


def _frictionless(one: _Scaled, bilateral: bool) -> Modes:
    if bilateral:
        yield CLOSED.pulling(one.b_n > 0.0), -one.b_n, 0.0, (abs(one.b_n),)  # the sign is told
        return
    yield OPEN, 0.0, 0.0, (one.b_n,)
    yield CLOSED, -one.b_n, 0.0, (-one.b_n,)


def _sliding(one: _Scaled, bilateral: bool, slides: Mode) -> Modes:
    push, pull = _edge(one, -one.mu), _edge(one, one.mu)
    if bilateral:
        yield slides, push, -one.mu * push, (push,)
        yield slides.pulling(True), pull, one.mu * pull, (-pull,)
        return
    yield OPEN, 0.0, 0.0, (one.b_n,)
    yield slides, push, -one.mu * push, (push,)


def _resting(one: _Scaled, bilateral: bool) -> Modes:
    mu, c, b_n, b_t = one.mu, one.c, one.b_n, one.b_t
    if not bilateral:
        yield OPEN, 0.0, 0.0, (b_n,)
    n, t = ((c * b_t - b_n) / (1.0 - c * c), (c * b_n - b_t) / (1.0 - c * c))
    for sign in (1.0, -1.0) if bilateral else (1.0,):
        pulls = sign < 0.0
        yield STICK.pulling(pulls), n, t, (sign * mu * n + t, sign * mu * n - t)
        for mode, way in SLIPS:
            ratio = -way * sign * mu
            force = _edge(one, ratio)
            yield mode.pulling(pulls), force, ratio * force, (sign * force, way * ((c + ratio) * force + b_t))


def _edge(one: _Scaled, ratio: float) -> float:
    """Return N with T = ratio N under which the gap does not open; nan where that is nearly singular."""
    whole = 1.0 + ratio * one.c
    return -one.b_n / whole if abs(whole) > REGULAR * (1.0 + abs(ratio)) else math.nan


LONG = ("rejected", "certificate", "certificates", "redundancy", "graph", "nodes")
"""What the enumeration tells of a problem whose solutions are known, when it is asked for."""
CLEAR = (ReactionsStatus.NONE, ReactionsStatus.UNIQUE, ReactionsStatus.MULTIPLE)
"""By the number of solutions, each a point of its own acceleration."""


class Enumerated:
    """The answer of the enumeration, made when some of it is asked for."""

    def __init__(self, ask: Callable[[], Reactions]) -> None:
        self._ask = ask

    @cached_property
    def answer(self) -> Reactions:
        """All of it."""
        return self._ask()

    def told(self, name: str) -> Any:
        """Return one field."""
        return getattr(self.answer, name)


def clear_reactions(
    problem: ContactProblem,
    found: ClearAnswer,
    told: tuple[Provenance, str, tuple[str, ...], tuple[str, ...]],
    slip_tol: float,
    enumerate_modes: Callable[[], Reactions],
) -> Reactions:
    """Return a clear answer as a result.

    `told` are provenance, name, and names of contacts and coordinates; `enumerate_modes` is asked for explanations.
    """
    provenance, name, names, coordinates = told
    whole = Enumerated(enumerate_modes)
    solutions = tuple(
        one_point(
            problem,
            (point.acceleration, np.array([point.normal]), np.array([[point.tangential, 0.0]])),
            (point.mode,),
            names,
            slip_tol,
            component=number,
        )
        for number, point in enumerate(found.points)
    )
    listed = [point.acceleration for point in found.points]
    later: dict[str, Any] = {item: Later(partial(whole.told, item)) for item in LONG}
    later["residual"] = Later(lambda: max((solution.residual for solution in solutions), default=float("nan")))
    return Reactions(
        status=CLEAR[min(len(listed), 2)],
        provenance=provenance,
        name=name,
        contacts=names,
        coordinates=coordinates,
        solutions=solutions,
        accelerations=np.array(listed) if listed else np.zeros((0, len(problem.force))),
        accelerations_continuum=False,
        complete=True,
        modes_total=float(found.modes),
        **later,
    )


def contact_graph(problem: ContactProblem, reduced: Reduced) -> ContactGraph | None:
    """Return the graph of the only contact.

    None where there are several, its normal force is given, or it is at rest under another law than Coulomb's.
    """
    if reduced.count != 1 or reduced.laws[0] in {Law.KNOWN, Law.TRESCA_REST} or reduced.special:
        return None
    rows = problem.rows
    n, t = int(reduced.normal[0]), int(reduced.tangent[0])
    slip = np.asarray(rows.slip, dtype=float)
    sliding = reduced.laws[0] in {Law.UNILATERAL, Law.BILATERAL_SLIDING} and t >= 0
    # Reduced problems count friction along the slip; along a line it is told in the direction of the tangent.
    sign = float(reduced.direction[0, 0]) if t >= 0 and len(slip) == 1 else 1.0
    speed = (float(slip[0]) if len(slip) == 1 else float(np.linalg.norm(slip))) if sliding else 0.0

    def row(i: int, turn: float) -> tuple[float, float, float]:
        if i < 0:
            return 0.0, 0.0, 0.0
        scale = float(reduced.acceleration_unit[i]) * turn
        across = sign * float(reduced.gram[i, t] / reduced.unit[t]) if t >= 0 else 0.0
        return (
            scale * float(reduced.free[i]),
            scale * float(reduced.gram[i, n] / reduced.unit[n]),
            scale * across,
        )

    return ContactGraph(
        gap=row(n, 1.0),
        sliding=row(t, sign),
        friction=float(rows.friction[0]) if t >= 0 else 0.0,
        slip=speed,
        bilateral=bool(rows.bilateral[0]),
    )
