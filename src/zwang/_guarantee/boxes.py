"""A system over a box: its terms with their slopes as balls, and the subdivision that proves a bound everywhere."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.system import System
from zwang._derive.program import Program, derive_program
from zwang._graph.convert import Converter
from zwang._graph.evaluate import GraphEvaluation
from zwang._graph.graph import Node
from zwang._guarantee.slopes import Singular, Sloped
from zwang._numerics.budget import Spent, spend
from zwang._numerics.series.balls import BALLS

Array = NDArray[np.float64]
Bounds = tuple[float, ...]
MOST_WITNESSES = 200
"""Places with a negative number at which a witness is looked for."""
SMALLEST = 1e-12
"""Part of the whole box below which a part is not cut any more."""


def interval(low: float, high: float) -> Any:
    """Return the ball that covers an interval."""
    if low == high:
        return arb(low)
    middle = 0.5 * (low + high)
    radius = max(high - middle, middle - low)
    return arb(middle, np.nextafter(radius, np.inf))


class BoxedSystem:
    """The terms of a system over boxes of some of its symbols.

    Parameters
    ----------
    system : System
    variables : sequence of str
        Names of coordinates, velocities and parameters that span the box.
    known : mapping
        Name -> number of everything else that occurs; velocities that are in neither are zero.
    """

    def __init__(self, system: System, variables: Sequence[str], known: Mapping[str, float]) -> None:
        self.system, self.variables = system, tuple(variables)
        self.program: Program = derive_program(system, exact=True)
        symbols = self.program.symbols(system)
        self.nodes: dict[str, Node] = {symbol.name: node for symbol, node in symbols.items()}
        self.convert = Converter(self.program.graph, symbols)
        self.known = {
            node: arb(float(known.get(name, 0.0))) for name, node in self.nodes.items() if name not in self.variables
        }
        self._functions: dict[tuple[Node, ...], GraphEvaluation] = {}

    def unbound(self, nodes: Sequence[Node], given: Sequence[str]) -> list[str]:
        """Return the names of velocities that nodes depend on though nothing bounds them."""
        reached = set(self.program.graph.reachable(list(nodes)))
        names = [item.name for item in self.system.velocities]
        return [name for name in names if self.nodes[name] in reached and name not in given]

    def at(self, nodes: Sequence[Node], low: Bounds, high: Bounds) -> list[Sloped]:
        """Return nodes over a box, with their slopes by its variables."""
        key = tuple(nodes)
        if key not in self._functions:
            graph = self.program.graph
            outputs = list(nodes)
            for name in self.variables:
                outputs += graph.forward(list(nodes), {self.nodes[name]: graph.one})
            self._functions[key] = GraphEvaluation(graph, outputs, BALLS, self.known)
        place = {self.nodes[name]: interval(a, b) for name, a, b in zip(self.variables, low, high, strict=True)}
        values = self._functions[key](place)
        count = len(nodes)
        return [
            Sloped(values[k], [values[(j + 1) * count + k] for j in range(len(self.variables))]) for k in range(count)
        ]

    def held(self, closed: Sequence[str]) -> list[Node]:
        """Return the values of the constraints on positions that hold: bilateral ones, and closed contacts."""
        relations = [item for item in self.system.constraints if not isinstance(item, Friction)]
        return [
            row.value
            for item, row in zip(relations, self.program.normals, strict=True)
            if item.level == "position" and (isinstance(item, Bilateral) or item.name in closed)
        ]


Quantity = Callable[[Bounds, Bounds], list[Sloped]]
"""From a box to numbers that must be positive in all of it, with their slopes."""


@dataclass
class Subdivision:
    """What a subdivision has come to.

    Attributes
    ----------
    left : list of (low, high)
        Parts that could not be decided.
    witness : Witness or None
    tried : int
        Places at which one was looked for.
    parts : int
    reason : str
    """

    left: list[tuple[Bounds, Bounds]] = field(default_factory=list)
    witness: Any = None
    tried: int = 0
    parts: int = 0
    reason: str = ""


def subdivided(
    low: Bounds,
    high: Bounds,
    positive: Quantity,
    narrowed: Callable[[Bounds, Bounds], tuple[Bounds, Bounds] | None],
    confirmed: Callable[[Bounds, int], Any],
) -> Subdivision:
    """Cut a box until numbers are positive in every part, or a witness shows that they are not.

    Parameters
    ----------
    low, high : the box
    positive : callable
        The numbers; `Singular` where they have no bounds.
    narrowed : callable
        From a part to a smaller one that has all its states that satisfy the constraints, None where there are none.
    confirmed : callable
        From a place at which a number is negative, and its index, to a witness or None.
    """
    found = Subdivision()
    whole = np.array(high) - np.array(low)
    queue: list[tuple[float, int, Bounds, Bounds]] = [(-1.0, 0, low, high)]
    try:
        while queue:
            spend(1)
            _, _, a, b = heapq.heappop(queue)
            found.parts += 1
            kept = narrowed(a, b)
            if kept is None:
                continue
            a, b = kept
            verdict, at, axis = _look(a, b, positive, whole)
            if verdict is not None and verdict[0] < 0 and found.tried < MOST_WITNESSES:
                found.tried += 1
                found.witness = confirmed(at, verdict[1])
                if found.witness is not None:
                    return found
            if verdict is not None and verdict[0] > 0:
                continue
            if axis < 0:
                found.left.append((a, b))
                continue
            for c, d in _halves(a, b, axis):
                size = float(
                    np.prod(np.where(whole > 0, (np.array(d) - np.array(c)) / np.where(whole > 0, whole, 1), 1))
                )
                heapq.heappush(queue, (-size, found.parts * 2 + (c == a), c, d))
    except Spent as spent:
        found.reason = str(spent)
        found.left += [(c, d) for _, _, c, d in queue]
    return found


def _halves(a: Bounds, b: Bounds, axis: int) -> list[tuple[Bounds, Bounds]]:
    middle = 0.5 * (a[axis] + b[axis])
    upper, lower = list(b), list(a)
    upper[axis], lower[axis] = middle, middle
    return [(a, tuple(upper)), (tuple(lower), b)]


def _look(a: Bounds, b: Bounds, positive: Quantity, whole: Array) -> tuple[tuple[float, int] | None, Bounds, int]:
    """Return (1, .) where all numbers are positive, (value, which) of a negative one, else None; the middle; a cut."""
    middle = tuple(0.5 * (x + y) for x, y in zip(a, b, strict=True))
    widths = np.array(b) - np.array(a)
    relative = np.where(whole > 0, widths / np.where(whole > 0, whole, 1.0), 0.0)
    longest = int(np.argmax(relative)) if relative.max(initial=0.0) > SMALLEST else -1
    prepare = getattr(positive, "prepare", None)
    widely = getattr(positive, "prepare_over", None)
    try:
        if prepare is not None:
            prepare(middle)
        if widely is not None:
            widely(a, b, middle)
        here = positive(middle, middle)
        over = positive(a, b)
    except (Singular, ZeroDivisionError, ArithmeticError, ValueError):
        return None, middle, longest
    for which, number in enumerate(here):
        if number.value.is_finite() and float(number.value.upper()) < 0:
            return (float(number.value.mid()), which), middle, longest
    axis, spread = longest, 0.0
    for which, (centre, number) in enumerate(zip(here, over, strict=True)):
        if float(number.value.lower()) > 0:
            continue
        if _lowest(a, b, middle, centre, number, positive, which) > 0:
            continue
        pulls = [float(abs(s).upper()) * w for s, w in zip(number.slopes, widths, strict=True)]
        finite = [p if np.isfinite(p) else 0.0 for p in pulls]
        for k, pull in enumerate(finite):
            if pull > spread and relative[k] > SMALLEST:
                axis, spread = k, pull
        return None, middle, axis
    return (1.0, -1), middle, axis


def _lowest(
    a: Bounds, b: Bounds, middle: Bounds, centre: Sloped, number: Sloped, positive: Quantity, which: int
) -> float:
    """Return a lower bound of a number over a box: by slopes, and at the ends of variables in which it is monotone."""
    half = [interval(x, y) - arb(m) for x, y, m in zip(a, b, middle, strict=True)]
    mean = centre.value
    for slope, width in zip(number.slopes, half, strict=True):
        mean = mean + slope * width
    if float(mean.lower()) > 0:
        return float(mean.lower())
    low, high, changed = list(a), list(b), False
    for k, slope in enumerate(number.slopes):
        if low[k] < high[k] and float(slope.lower()) > 0:
            high[k], changed = low[k], True
        elif low[k] < high[k] and float(slope.upper()) < 0:
            low[k], changed = high[k], True
    if not changed:
        return float(mean.lower())
    try:
        edge = positive(tuple(low), tuple(high))[which]
        at = tuple(0.5 * (x + y) for x, y in zip(low, high, strict=True))
        point = positive(at, at)[which]
    except (Singular, ZeroDivisionError, ArithmeticError, ValueError):
        return float(mean.lower())
    total = point.value
    for slope, x, y, m in zip(edge.slopes, low, high, at, strict=True):
        total = total + slope * (interval(x, y) - arb(m))
    return max(float(mean.lower()), float(total.lower()), float(edge.value.lower()))
