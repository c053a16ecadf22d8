"""Normal forces of least norm, where several distributions of them satisfy the rows of a mode: four feet that slide.

With x the shared forces, y those of the other rows (which carry no friction), R the rows and Y = M^-1 R^T,

    A x + F y = b,     y = S^-1 (b_y - A_y x),     B x = d,     x = B^T z,     (B B^T) z = d,

where S is the Gram matrix of the other rows and B what is left of A without them. A contact that would have to pull
carries nothing; its share B_j . z stays negative as long as that is so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zwang._derive.program import Row
from zwang._derive.solution import Factor, dot, gram_factor, product
from zwang._graph.graph import Graph, Node


@dataclass(frozen=True)
class SharedForces:
    """Forces of the shared normals, shares of the spare ones, forces of the other rows, and truths of the pivots."""

    shared: dict[int, Node]
    spare: dict[int, Node]
    others: list[Node]
    truths: list[Node]


def shared_forces(
    g: Graph,
    own: Sequence[tuple[Row, Node]],
    others: Sequence[tuple[Row, Node]],
    plain: Sequence[Sequence[Node]],
    pushed: Mapping[int, Sequence[Node]],
    spare: Sequence[int],
) -> SharedForces:
    """Return the normal forces of least norm, as nodes.

    Parameters
    ----------
    g : Graph
    own, others : sequences of (Row, Node)
        Independent rows of the normals that share, and of all else that is held, each with its right side.
    plain : sequence of (n,) nodes
        M^-1 times each of the other rows.
    pushed : mapping
        Number of a normal that shares or is spare -> M^-1 times what a unit of its force does, friction included.
    spare : sequence of int
        Those of them that carry nothing.
    """
    size = range(len(others))
    smooth = gram_factor(g, [row.entries for row, _ in others], plain)
    base = smooth.solve([right for _, right in others])
    below = [[dot(g, row.entries, column) for column in plain] for row, _ in own]
    upper = {j: smooth.solve([dot(g, row.entries, column) for row, _ in others]) for j, column in pushed.items()}
    left = {
        j: [
            g.sub(dot(g, row.entries, column), product(g, line, upper[j]))
            for (row, _), line in zip(own, below, strict=True)
        ]
        for j, column in pushed.items()
    }
    right = [g.sub(needed, product(g, line, base)) for (_, needed), line in zip(own, below, strict=True)]
    carrying = [j for j in pushed if j not in spare]
    square = {
        (p, q): g.add(*(g.mul(left[j][p], left[j][q]) for j in carrying)) for p in range(len(own)) for q in range(p + 1)
    }
    least = Factor(g, len(own), square)
    z = least.solve(right)
    share = {j: product(g, left[j], z) for j in pushed}
    rest = [g.sub(base[k], g.add(*(g.mul(upper[j][k], share[j]) for j in carrying))) for k in size]
    return SharedForces(
        {j: share[j] for j in carrying}, {j: share[j] for j in spare}, rest, [*smooth.regular, *least.regular]
    )
