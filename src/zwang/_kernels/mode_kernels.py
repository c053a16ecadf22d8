"""The functions of a mode that the loop over steps calls; they share table and workspace.

========  =============================================================================================
motion    accelerations
shift     change of the positions, then values of the held constraints on positions
land      velocities on the manifold, accelerations with them, then the rates found
watch     watched quantities
glance    those of them that need no solution of the equations, zero for the others
========  =============================================================================================

`independence` writes log det(J M^-1 J^T) of the held rows on positions, which falls without bound at a singular point;
the loop doesn't call it, but what the loop has done is looked over with it. `report` writes accelerations, multipliers
of the held normals, the friction of every slip component and the watched quantities; it is made quickly always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zwang._declare.switches import Reaction
from zwang._declare.system import System
from zwang._derive.motion_modes import ActiveSet, ModeEquations
from zwang._derive.rewriting import FrozenProgram
from zwang._graph.convert import Converter
from zwang._graph.graph import Node
from zwang._kernels.outputs import Array, Dialect, Functions, Outputs
from zwang._numerics.contact.table import ContactPlace, ContactTable


@dataclass(frozen=True)
class Watch:
    """A watched quantity: its name, as in ('gap', 3), its node, and a smoother one of the same sign for the loop."""

    name: tuple[str, int]
    node: Node
    smooth: Node | None = None


def watches_of(
    equations: ModeEquations, frozen: FrozenProgram, structure: ContactTable, extra: Sequence[Node]
) -> list[Watch]:
    """Return what may end a mode, but for surfaces: gaps, multipliers, slips, reserves, user events."""
    g, program, mode = equations.g, frozen.program, equations.mode
    lam = equations.normal
    rough = structure.signed
    found = []
    for j, line in enumerate(structure.normals):
        if j in lam and (line.one_sided or j in rough):
            found.append(Watch(("normal", j), lam[j]))
        elif j in equations.shares:
            found.append(Watch(("share", j), equations.shares[j]))
        elif j not in lam and line.one_sided:
            kind = "gap" if structure.normals[j].on_position else "value"
            closed = j in mode.implied
            node = program.normals[j].value if closed else frozen.open_value(j, line.guarded)
            found.append(Watch((kind, j), node))
    sliding = dict(mode.sliding)
    for f, law in enumerate(structure.laws):
        if f in sliding:
            planar = len(law.slips) == 1
            node = program.slips[law.slips[0]].value if planar else equations.speed(law)
            found.append(Watch(("slip" if planar else "speed", f), node))
        elif set(law.slips) & set(mode.sticking):
            load = None
            if law.resultant:
                squares = [g.mul(lam[j], lam[j]) for j in law.of if j in lam]
                load = g.call("sqrt", g.add(*squares)) if squares else g.zero
            elif law.of:
                load = g.scale(-1.0 if law.of[0] in mode.pulling else 1.0, lam.get(law.of[0], g.zero))
            found.append(Watch(("reserve", f), *_reserve(equations, law, load)))
    return found + [Watch(("extra", k), node) for k, node in enumerate(extra)]


def surfaces_of(
    frozen: FrozenProgram, equations: ModeEquations, watches: Sequence[Watch]
) -> tuple[FrozenProgram, list[Watch]]:
    """Return the frozen program with the sides that a mode depends on, and their surfaces to be watched.

    Choices in constraints that are open are no business of the mode.
    """
    nodes: list[Node | None] = [*equations.accelerations, *equations.multipliers, *equations.tangential]
    nodes += [equations.regular]
    nodes += [node for row in equations.rows for node in (row.value, row.rate)]
    nodes += [node for item in watches for node in (item.node, item.smooth)]
    within = frozen.within(node for node in nodes if node is not None)
    return within, [Watch(("surface", k), node) for k, node in enumerate(within.surfaces)]


def _reserve(equations: ModeEquations, law: ContactPlace, load: Node | None) -> tuple[Node, Node]:
    """Return what friction has left before it slips, and a smoother node of the same sign; `load` is abs(N)."""
    g, forces = equations.g, [equations.tangential[j] for j in law.slips]
    first, second = (equations.program.bounds[row] for row in law.rows.held())
    if load is not None:
        first, second = (g.mul(bound, load) for bound in (first, second))
    if law.rows.held()[0] == law.rows.held()[1]:
        square = g.add(*(g.mul(force, force) for force in forces))
        size = g.call("abs", forces[0]) if len(forces) == 1 else g.call("sqrt", square)
        return g.sub(first, size), g.sub(g.mul(first, first), square)
    if len(forces) == 1:
        below, above = g.add(first, forces[0]), g.sub(second, forces[0])
        # Both are lengths of one interval: one is negative outside, never both.
        return g.where(g.condition("lt", below, above), below, above), g.mul(below, above)
    # In an ellipse whose semi-axes go with the load: (F_1 b)^2 + (F_2 a)^2 <= (a b)^2.
    crossed = g.add(*(g.mul(g.mul(f, axis), g.mul(f, axis)) for f, axis in zip(forces, (second, first), strict=True)))
    whole = g.mul(first, second)
    return g.sub(whole, g.call("sqrt", crossed)), g.sub(g.mul(whole, whole), crossed)


@dataclass(frozen=True)
class ModeKernels:
    """The functions of a mode, the names of its watches, and the sizes of what they write.

    `independence` is None where no position is held; `solved` says which watches need a solution of the equations.
    """

    functions: Functions
    report: Functions
    independence: Functions | None
    watches: tuple[tuple[str, int], ...]
    positions: int
    rows: int
    surfaces: int
    solved: tuple[bool, ...] = ()

    def glance(self, sides: Array) -> bool:
        """Say whether what is watched needs no solution of the equations."""
        if len(self.functions.calls) < 5:
            return False
        return not any(side != 0.0 and hard for side, hard in zip(sides, self.solved, strict=True))


SOLVED = ("normal", "share", "reserve")


def mode_kernels(
    dialect: Dialect, system: System, frozen: FrozenProgram, structure: ContactTable, mode: ActiveSet,
    extra: Sequence[Any], *, quick: bool,
) -> ModeKernels:  # fmt: skip
    """Return the functions of a mode, written out; the graph of the frozen program takes up its nodes."""
    program = frozen.program
    equations = ModeEquations(program, mode, structure)
    watches = watches_of(equations, frozen, structure, expression_nodes(system, frozen, extra, equations))
    change, values, sound = equations.shift()
    velocities, accelerations, rates, landed = equations.land()
    a, lam, friction = equations.accelerations, equations.multipliers, equations.tangential
    near = equations.independence()
    frozen, surfaces = surfaces_of(frozen, equations, watches)
    program, watches = frozen.program, watches + surfaces
    solved = [item.name[0] in SOLVED or _reacts(item.name, extra) for item in watches]
    nodes = [item.node for item in watches]
    seen = [item.node if item.smooth is None else item.smooth for item in watches]
    easy = [program.graph.zero if hard else item.node for item, hard in zip(watches, solved, strict=True)]

    def outputs(nodes: Sequence[Node], sound: Node | None = None) -> Outputs:
        return Outputs(tuple(nodes), sound, frozen.sides, exact=True)

    every = {
        "motion": outputs(a, equations.regular),
        "shift": outputs([*change, *values], sound),
        "land": outputs([*velocities, *accelerations, *rates], landed),
        "watch": outputs(seen),
        "glance": outputs(easy),
    }
    if near is not None:
        every["independence"] = outputs([near[0]], near[1])
    functions = dialect.build(program, every, "mode", quick=quick)
    report = {"one": outputs([*a, *lam, *friction, *nodes], equations.regular)}
    return ModeKernels(
        functions=functions,
        report=dialect.build(program, report, "report", quick=True),
        independence=None if near is None else functions.only(-1),
        watches=tuple(item.name for item in watches),
        solved=tuple(solved),
        positions=len(values),
        rows=len(rates),
        surfaces=len(frozen.surfaces),
    )


def _reacts(name: tuple[str, int], extra: Sequence[Any]) -> bool:
    """Whether a watch is a user's expression in which a reaction stands."""
    return name[0] == "extra" and bool(extra[name[1]].has(Reaction))


def expression_nodes(
    system: System, frozen: FrozenProgram, extra: Sequence[Any], equations: ModeEquations
) -> list[Node]:
    """Return the nodes of user expressions, with their choices as they are; a reaction that is not held is zero."""
    held = equations.normal
    places = {place.name: place for place in equations.structure.places}
    reactions = {}
    for symbol in {symbol for item in extra for symbol in item.atoms(Reaction)}:
        place = places.get(symbol.constraint)
        reactions[symbol] = equations.g.zero
        if place is not None and place.normal >= 0:
            reactions[symbol] = held.get(place.normal, equations.g.zero)
        elif place is not None:
            reactions[symbol] = equations.tangential[place.slips[0]]
    convert = Converter(frozen.program.graph, {**frozen.program.symbols(system), **reactions})
    return [convert(item) for item in extra]
