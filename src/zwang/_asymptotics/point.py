"""A singular point with its surroundings: the system in exact numbers, its constraints over balls, the point refined.

A number such as 1.4 is not critical when 7/5 is: near a singular point the difference of 1e-17 would be all there is
to see. Numbers given as floats are therefore read as the shortest decimal that denotes them, and exact numbers of
SymPy as what they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from flint import arb, ctx
from numpy.typing import NDArray

from zwang._compile import Model
from zwang._declare.constraints import Friction
from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._derive.program import derive_program
from zwang._graph.convert import Converter
from zwang._graph.evaluate import GraphEvaluation
from zwang._graph.graph import Node
from zwang._numerics.series.arithmetic import EXACT
from zwang._numerics.series.balls import BALLS, largest, precision, rounding
from zwang._numerics.series.field import dot, eliminate, orthonormal, solve, times
from zwang._numerics.series.half_branches import SAFETY, HalfCurve, split_at
from zwang._numerics.series.power import Series, ring
from zwang._trace.local import analyse
from zwang._trace.sampling import region_of
from zwang._trace.space_equations import SpacePlace, equations_of
from zwang.errors import DeclarationError

BITS = 288
"""Eighty-six digits: everything here is computed with them."""
EXACT_BITS = 900
"""Of numbers that are given: more than are computed with, for the refinement of the point."""
POLISHING, POLISHING_BITS = 60, 830
"""Steps and bits of the refinement; where branches touch it converges slowly, and a third of the digits is lost."""
BESIDE = arb("0.1")
"""How far beside a point to look for the sizes of equations, in those of the coordinates."""
MARGIN = 2.0**16
"""Rounding errors that what is computed at the point may have gathered."""
Number = Any
"""A ball of Arb."""
Array = NDArray[np.float64]


def number(value: Any, what: str = "a number") -> Number:
    """Return a real number with all its digits; floats are the decimals that denote them.

    Examples
    --------
    >>> 1 in number(0.1) * 10, 2 in number(sp.sqrt(2)) ** 2
    (True, True)
    """
    if isinstance(value, arb):
        return value
    with precision(EXACT_BITS):
        try:
            if isinstance(value, sp.Basic) and not isinstance(value, sp.Float):
                if not value.is_real or value.free_symbols:
                    raise TypeError
                if isinstance(value, sp.Rational):
                    return BALLS.number(Fraction(int(value.p), int(value.q)))
                return arb(str(sp.N(value, int(EXACT_BITS * 0.302))))
            plain = value if isinstance(value, int) else float(value)
        except (TypeError, ValueError):
            raise DeclarationError(f"{what}: a real number is needed; it was given {value!r:.60}.") from None
        if not math.isfinite(plain):
            raise DeclarationError(f"{what}: the value is not finite.")
        return BALLS.number(plain)


class ExactSystem:
    """Everything that a system computes, as an exact graph with the values of its parameters at hand."""

    def __init__(self, system: System, values: Mapping[Any, Number], factors: Mapping[str, Any] | None = None) -> None:
        self.system = system
        program = self.program = derive_program(system, exact=True)
        self.known: dict[Node, Number] = {program.t: arb(0)}
        self.known |= {node: values[item] for node, item in zip(program.params, system.parameters, strict=True)}
        symbols: dict[Any, Node] = {time: program.t, **dict(zip(system.coordinates, program.q, strict=True))}
        symbols |= dict(zip(system.velocities, program.v, strict=True))
        symbols |= dict(zip(system.parameters, program.params, strict=True))
        self.convert = Converter(program.graph, symbols)
        names = [item.name for item in system.constraints if not isinstance(item, Friction)]
        self.normals = dict(zip(map(str, names), program.normals, strict=True))
        # Rows and biases of the equations of motion; those of a perturbed constraint are those of its level, K times.
        self.acting = dict(self.normals)
        for name, factor in (factors or {}).items():
            self.acting[name] = _scaled(program.graph, self.normals[name], self.convert(factor))

    def evaluation(self, outputs: Sequence[Node], known: Mapping[Node, Number] | None = None) -> GraphEvaluation:
        """Return some nodes as functions of the state, with the values of further inputs."""
        return GraphEvaluation(self.program.graph, outputs, BALLS, {**self.known, **(known or {})})

    def at(self, q: Sequence[Any], v: Sequence[Any] = ()) -> dict[Node, Any]:
        """Return a state as an evaluation takes it."""
        found = dict(zip(self.program.q, q, strict=True))
        return found | dict(zip(self.program.v, v, strict=True)) if v else found


def _scaled(graph: Any, row: Any, factor: Node) -> Any:
    """Return a row of a constraint times a factor, where its value and rate are those of the level that it keeps."""
    entries = {k: graph.mul(factor, node) for k, node in row.entries.items()}
    return replace(row, entries=entries, bias=graph.mul(factor, row.bias))


class ConstraintSet:
    """Some equations g(q) = 0 of a system, or made from its own, with their Jacobian."""

    def __init__(self, exact: ExactSystem, nodes: Sequence[Node], known: Mapping[Node, Number] | None = None) -> None:
        self.exact, self.nodes, self.known = exact, list(nodes), dict(known or {})
        graph, q = exact.program.graph, exact.program.q
        self.gradients = [graph.gradient(node, q) for node in self.nodes]
        self._made: dict[tuple[str, int], GraphEvaluation] = {}

    def __len__(self) -> int:
        return len(self.nodes)

    def _run(self, name: str, nodes: Sequence[Node], q: Sequence[Any]) -> list[Any]:
        # What depends on parameters alone is kept to the digits that are computed with.
        key = (name, ctx.prec)
        if key not in self._made:
            self._made[key] = self.exact.evaluation(nodes, self.known)
        return self._made[key](self.exact.at(q))

    def value(self, q: Sequence[Any]) -> list[Any]:
        """Return g(q)."""
        return self._run("value", self.nodes, q)

    def jacobian(self, q: Sequence[Any]) -> list[list[Any]]:
        """Return dg/dq."""
        flat, n = self._run("slope", [node for row in self.gradients for node in row], q), len(q)
        return [flat[i * n : (i + 1) * n] for i in range(len(self))]

    def chosen(self, places: Sequence[int]) -> ConstraintSet:
        """Return some of the equations."""
        return ConstraintSet(self.exact, [self.nodes[k] for k in places], self.known)

    def joined(self, node: Node, known: Mapping[Node, Number] | None = None) -> ConstraintSet:
        """Return these equations and one more, with the values of its own inputs."""
        return ConstraintSet(self.exact, [*self.nodes, node], {**self.known, **(known or {})})


@dataclass(frozen=True)
class Spot:
    """A singular point with its surroundings.

    Attributes
    ----------
    equations : ConstraintSet
        Of all constraints held, in the order of `names`.
    names : tuple of str
    middle : list of balls
        The point, without its error.
    error, defect : ball
        Of the point, and how far the parameters are from critical.
    tangents : tuple of vectors
        Of its half-branches, in double precision.
    least : ball
        What rows are beside the point, at least, or 1 where that is more: pivots are compared with it.
    """

    equations: ConstraintSet
    names: tuple[str, ...]
    middle: list[Number]
    error: Number
    defect: Number
    tangents: tuple[Any, ...] = ()
    least: Number = 1

    @property
    def point(self) -> list[Number]:
        """The point as balls that contain it: what is zero there is zero in whatever is computed from them."""
        return [arb(item, SAFETY * self.noise) for item in self.middle]

    @property
    def rank_tol(self) -> Number:
        """Pivots of the rows below it count as zero at the point."""
        return max(self.least * arb(10) ** -20, self.defect.sqrt(), 1000 * self.error)

    @property
    def noise(self) -> Number:
        """What counts as zero among coefficients at the point."""
        return max(self.error, self.defect, rounding() * MARGIN)

    @property
    def exact(self) -> bool:
        """Whether the point is singular to all digits."""
        return bool(max(self.defect, self.error) < EXACT)

    def distance(self, q: Sequence[Number]) -> Number:
        """Return how far a place is from the point, Euclidean in the coordinates."""
        return sum(((a - b) * (a - b) for a, b in zip(q, self.middle, strict=True)), arb(0)).sqrt()

    def left_null(self) -> Any:
        """Return the combinations of rows that vanish at the point."""
        return split_at(self.equations.jacobian(self.middle), self.middle, self.rank_tol).cokernel

    def centre(self) -> tuple[list[Node], dict[Node, Number]]:
        """Return inputs that stand for the coordinates of the point, and their values."""
        graph = self.equations.exact.program.graph
        nodes = [graph.input(f"centre{k}") for k in range(len(self.middle))]
        return nodes, dict(zip(nodes, self.point, strict=True))


def sizes_beside(equations: ConstraintSet, q: Sequence[Number]) -> tuple[list[Number], list[Number]]:
    """Return what coordinates (n) and equations (m) are compared with, in whatever units they are.

    Angles have the size 1, lengths that of the largest, or 1 where all of them vanish. An equation is as large as its
    rows make it over these sizes, at the point or beside it, where rows that vanish at the point are what they are.
    """
    plain = [abs(item) for item, node in zip(q, equations.exact.system.coordinates, strict=True) if not node.angle]
    length = largest(plain) if plain else arb(0)
    length = length if length > 0 else arb(1)
    lengths = [arb(1) if node.angle else length for node in equations.exact.system.coordinates]
    beside = [a + BESIDE * size * arb(k + 1).cos() for k, (a, size) in enumerate(zip(q, lengths, strict=True))]
    rows = zip(equations.jacobian(q), equations.jacobian(beside), strict=True)
    heights = []
    for row in rows:
        height = largest([item * size for part in row for item, size in zip(part, lengths, strict=True)])
        heights.append(height if height.is_finite() and height > 0 else arb(1))
    return lengths, heights


def refined(equations: ConstraintSet, q: Sequence[Number], rank: int) -> tuple[list[Number], Number, Number]:
    """Return the point near q where the rank is at most `rank`, its error, and the defect that is left.

    The conditions are g = 0 and u g' k = 0 for the left and right null vectors u, k; they are met by the method of
    Gauss and Newton. Where branches touch, the point is a multiple solution and the steps shrink by a constant factor
    only; then they are multiplied by the multiplicity that this factor shows. The defect is how far the conditions are
    from holding: zero to all digits where the parameters are critical exactly.
    """
    with precision(POLISHING_BITS):
        here, previous, factor = [item.mid() for item in q], arb("inf"), 1
        found = (arb("inf"), arb("inf"), here)
        small = arb(2) ** -(POLISHING_BITS // 3)
        for _ in range(POLISHING):
            step, miss = _singular_step(equations, here, rank, small)
            length = largest(step)
            found = min(found, (miss, length, here), key=lambda item: item[:2])
            if length <= small * (1 + largest(here)):
                break
            ratio, previous = float(length / previous), length
            if factor == 1 and 0.4 < ratio < 0.95:
                factor = round(1 / (1 - ratio))
            elif ratio > 1:
                factor = 1
            here = [(a + factor * b).mid() for a, b in zip(here, step, strict=True)]
        miss, length, here = found
        return here, 10 * length, miss


def _singular_step(
    equations: ConstraintSet, q: Sequence[Number], rank: int, small: Number
) -> tuple[list[Number], Number]:
    """Return the Gauss-Newton step for g = 0 and u g' k = 0, and how far both are from holding."""
    rows, value = equations.jacobian(q), equations.value(q)
    split = split_at(rows, q, 0, rank)
    conditions, matrix = list(value), [list(row) for row in rows]
    R = ring(BALLS)
    for k in split.kernel:
        # The derivative of the rows along k: the linear terms of the rows on the line through q.
        line = [R.series([a, b]) for a, b in zip(q, k, strict=True)]
        bent = [[_slope(item) for item in row] for row in equations.jacobian(line)]
        for u in split.cokernel:
            conditions.append(dot(u, times(rows, k)))
            matrix.append([dot(u, column) for column in zip(*bent, strict=True)])
    return _least_squares(matrix, conditions, small), largest(conditions)


def _slope(item: Any) -> Number:
    return item.coefficient(1) if isinstance(item, Series) else arb(0)


def _least_squares(matrix: list[list[Number]], right: Sequence[Number], small: Number) -> list[Number]:
    """Return -(matrix)^+ right with directions that the matrix does not see left alone."""
    n = len(matrix[0])
    bound = small * largest(item for row in matrix for item in row)
    _, numbers, _, _ = eliminate(matrix, n, BALLS, bound)
    basis = orthonormal([matrix[k] for k in numbers], BALLS)
    if not basis:
        return [arb(0)] * n
    seen = [times(matrix, direction) for direction in basis]
    normal = [[dot(a, b) for b in seen] for a in seen]
    amounts = solve(normal, [[-dot(a, right) for a in seen]], BALLS)[0]
    return [dot(amounts, [direction[j] for direction in basis]) for j in range(n)]


@dataclass(frozen=True)
class PointType:
    """Kind of a point in words, points of its half-branches at a small distance, and their tangents, as in `trace`."""

    words: str
    marks: list[Array]
    tangents: tuple[Array, ...] = ()


def local_type(model: Model, params: Array, q: Array) -> PointType:
    """Return the local type at a point; where `trace` can't tell it, a word that says no more than that."""
    equations = equations_of(model)
    _, scale = region_of(equations, params, None)
    place = SpacePlace(equations, params, 0.0, scale, np.ones(equations.m))
    found = analyse(place, q)
    if found is None:
        return PointType("singular point", [])
    halves = found.half_branches
    away = min((half.length for half in halves), default=0.0) / 4
    return PointType(_words(found), [half.point(away) for half in halves], tuple(half.tangent for half in halves))


def _words(found: Any) -> str:
    if found.kind == "crossing":
        return f"crossing of {len(found.tangents)} branches"
    if found.kind == "tangency":
        if np.ndim(found.order) == 0:
            return f"tangency of order {found.order}"
        return f"tangency of {len(found.tangents)} branches"
    return {"isolated": "isolated point", "higher": "higher singular point"}.get(found.kind, str(found.kind))


def in_order(halves: Sequence[HalfCurve], local: PointType, point: Sequence[Number]) -> list[HalfCurve]:
    """Return half-branches in the order in which `trace` lists them; those that it does not list come last."""
    centre = np.array([float(item) for item in point])
    left = list(halves)
    found = []
    for mark in local.marks:
        if not left:
            break
        target = float(np.linalg.norm(mark - centre))
        distances = [float(np.linalg.norm(_at_distance(half, centre, target) - mark)) for half in left]
        found.append(left.pop(int(np.argmin(distances))))
    return found + left


def _at_distance(half: HalfCurve, centre: Array, target: float) -> Array:
    """Return the point of a half-branch at about a distance from the singular point."""
    tau = (target / float(half.axes.length)) ** (1 / half.ramification)
    for _ in range(6):
        q = np.array([float(item) for item in half.at(tau)])
        ratio = target / float(np.linalg.norm(q - centre))
        if abs(ratio - 1) < 1e-6:
            break
        tau *= ratio ** (1 / half.ramification)
    return q
