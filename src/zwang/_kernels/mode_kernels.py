"""The functions of a mode that the loop over steps calls, in generated code or as tapes.

All have the ABI of every model's kernel, eval(t, q, v, params, int_table, workspace, out) -> status, and share table
and workspace:

========  =============================================================================================
motion    accelerations
shift     change of the positions, then values of the held constraints on positions
land      velocities on the manifold, accelerations with them, then the rates found
watch     watched quantities
glance    those of them that need no solution of the equations, zero for the others
========  =============================================================================================

`independence` writes log det(J M^-1 J^T) of the held rows on positions, which falls without bound at a singular point;
the loop doesn't call it, but what the loop has done is looked over with it. `report` writes accelerations, multipliers
of the held normals, the friction of every slip component and the watched quantities; it is a tape always.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._derive.modes import ActiveSet, ModeEquations, Structure
from zwang._derive.program import Program
from zwang._derive.rewriting import Frozen
from zwang._graph.graph import Node
from zwang._kernels import straight
from zwang._kernels.numba import NO_TABLE, prepared
from zwang._kernels.tape import record
from zwang._kernels.terms import Array
from zwang._numerics.jit import address, load_generated, tier
from zwang._numerics.tape import TAPES

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Functions:
    """Functions that share a table and a workspace."""

    kernels: tuple[Any, ...]
    table: Ints
    workspace: Callable[[Array], Array]

    def addresses(self, glance: bool = False) -> tuple[Any, ...]:
        """Return the addresses of the four functions that the loop calls, compiled now."""
        chosen = [*self.kernels[:3], self.kernels[4 if glance else 3]]
        return tuple(address(kernel) for kernel in chosen)


def straight_functions(program: Program, kernels: Mapping[str, straight.Kernel]) -> Functions:
    """Return generated straight-line code."""
    module = load_generated(straight.several_source(program, kernels), "mode")
    found = tuple(getattr(module, name) for name in kernels)
    return Functions(found, NO_TABLE, lambda params: prepared(module, params))


def taped_functions(program: Program, kernels: Sequence[straight.Kernel]) -> Functions:
    """Return tapes: they need no compilation, and take some ten times as long to run.

    In the plain tier generated code needs none either, and is the quicker one.
    """
    if tier() == "plain":
        return straight_functions(program, {f"part_{place}": kernel for place, kernel in enumerate(kernels)})
    g = program.graph
    certain = g.condition("le", g.zero, g.one)
    table: list[Ints] = []
    places, registers = [], []
    at, first = len(kernels), 0
    for kernel in kernels:
        tape = record(program, [*kernel.outputs, certain if kernel.regular is None else kernel.regular])
        head = np.array([len(tape.code), len(kernel.outputs), first, tape.registers.size], dtype=np.int64)
        table += [head, tape.code.ravel(), tape.results]
        places.append(at)
        registers.append(tape.registers)
        at += head.size + tape.code.size + tape.results.size
        first += tape.registers.size
    full = np.concatenate([np.array(places, dtype=np.int64), *table])
    constants = np.concatenate(registers)
    return Functions(TAPES[: len(kernels)], full, lambda params: constants.copy())


@dataclass(frozen=True)
class Watch:
    """A watched quantity: its name, as in ('gap', 3), its node, and a smoother one of the same sign for the loop."""

    name: tuple[str, int]
    node: Node
    smooth: Node | None = None


def watches_of(equations: ModeEquations, frozen: Frozen, structure: Structure, extra: Sequence[Node]) -> list[Watch]:
    """Return what may end a mode: gaps, multipliers, slips, reserves, user events, surfaces."""
    g, program, mode = equations.g, frozen.program, equations.mode
    lam = dict(zip(mode.held, equations.multipliers, strict=True))
    rough = {law.normal for law in structure.laws if law.normal is not None}
    found = []
    for j, one_sided in enumerate(structure.unilateral):
        if j in lam and (one_sided or j in rough):
            found.append(Watch(("normal", j), lam[j]))
        elif j not in lam and one_sided:
            kind = "gap" if structure.positions[j] else "value"
            found.append(Watch((kind, j), program.normals[j].value))
    sliding = dict(mode.sliding)
    for f, law in enumerate(structure.laws):
        if f in sliding:
            planar = len(law.slips) == 1
            node = program.slips[law.slips[0]].value if planar else equations.speed(law)
            found.append(Watch(("slip" if planar else "speed", f), node))
        elif set(law.slips) & set(mode.sticking):
            square = g.add(*(g.mul(equations.tangential[j], equations.tangential[j]) for j in law.slips))
            alone = g.call("abs", equations.tangential[law.slips[0]])
            bound = program.bounds[f]
            if law.normal is not None:
                normal = g.scale(-1.0 if law.normal in mode.pulling else 1.0, lam.get(law.normal, g.zero))
                bound = g.mul(bound, normal)
            reserve = g.sub(bound, alone if len(law.slips) == 1 else g.call("sqrt", square))
            found.append(Watch(("reserve", f), reserve, g.sub(g.mul(bound, bound), square)))
    found += [Watch(("extra", k), node) for k, node in enumerate(extra)]
    return found + [Watch(("surface", k), node) for k, node in enumerate(frozen.surfaces)]


@dataclass(frozen=True)
class ModeKernels:
    """The functions of a mode, the names of its watches, and the sizes of what they write.

    `independence` is None where no position is held.
    """

    functions: Functions
    report: Functions
    independence: Functions | None
    watches: tuple[tuple[str, int], ...]
    positions: int
    rows: int
    surfaces: int

    def glance(self, sides: Array) -> bool:
        """Say whether what is watched needs no solution of the equations."""
        if len(self.functions.kernels) < 5:
            return False
        return not any(side != 0.0 and name[0] in SOLVED for side, name in zip(sides, self.watches, strict=True))


SOLVED = ("normal", "reserve")


def mode_kernels(
    frozen: Frozen, structure: Structure, mode: ActiveSet, extra: Sequence[Node], compiled: bool
) -> ModeKernels:
    """Return the functions of a mode of a small system, as generated code or as tapes."""
    program = frozen.program
    equations = ModeEquations(program, mode, structure)
    watches = watches_of(equations, frozen, structure, extra)
    nodes = [item.node for item in watches]
    seen = [item.node if item.smooth is None else item.smooth for item in watches]
    sides = program.params[len(program.params) - len(frozen.surfaces) :]
    change, values, sound = equations.shift()
    velocities, accelerations, rates, landed = equations.land()
    a, lam, friction = equations.accelerations, equations.multipliers, equations.tangential
    kernels = {
        "motion": straight.Kernel(a, equations.regular, sides),
        "shift": straight.Kernel([*change, *values], sound, sides),
        "land": straight.Kernel([*velocities, *accelerations, *rates], landed, sides),
        "watch": straight.Kernel(seen, None, sides),
        "glance": straight.Kernel(
            [program.graph.zero if item.name[0] in SOLVED else item.node for item in watches], None, sides
        ),
    }
    near = equations.independence()
    alone = None if near is None else straight.Kernel([near[0]], near[1], sides)
    if compiled:
        every = kernels if alone is None else {**kernels, "independence": alone}
        functions = straight_functions(program, every)
        independence = None if alone is None else replace(functions, kernels=functions.kernels[-1:])
    else:
        functions = taped_functions(program, list(kernels.values()))
        independence = None if alone is None else taped_functions(program, [alone])
    return ModeKernels(
        functions=functions,
        report=taped_functions(program, [straight.Kernel([*a, *lam, *friction, *nodes], equations.regular)]),
        independence=independence,
        watches=tuple(item.name for item in watches),
        positions=len(values),
        rows=len(rates),
        surfaces=len(frozen.surfaces),
    )
