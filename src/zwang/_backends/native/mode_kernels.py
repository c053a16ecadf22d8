"""The functions of a mode that the loop over steps calls, in generated code or as tapes.

All have the ABI of every model's kernel, eval(t, q, v, params, int_table, workspace, out) -> status:

========  =============================================================================================
rhs       accelerations
shift     change of the positions, then values of the held constraints on positions
land      velocities on the manifold, accelerations with them, then the rates found
watch     watched quantities
report    accelerations, multipliers of the held normals, friction of every slip component, watched quantities
========  =============================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang._backends.contract import Array
from zwang._backends.native import straight
from zwang._backends.native.kernels import NO_TABLE, prepared
from zwang._backends.native.tape import record
from zwang._derive.graph import Node
from zwang._derive.modes import Mode, ModeEquations, Structure
from zwang._derive.program import Program
from zwang._derive.rewriting import Frozen
from zwang._numerics.jit import load_generated
from zwang._numerics.pointers import address
from zwang._numerics.tape import eval_tape

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Function:
    """A function of a mode: what compiled code calls, its table, and its workspace for given parameters."""

    kernel: Any
    table: Ints
    workspace: Callable[[Array], Array]

    def arguments(self, params: Array) -> tuple[Any, Ints, Array]:
        """Return what the loop takes: the address of the function, its table and a workspace."""
        return address(self.kernel), self.table, self.workspace(params)


def straight_function(title: str, program: Program, kernel: straight.Kernel) -> Function:
    """Return generated straight-line code."""
    module = load_generated(straight.module_source(title, program, kernel), title.partition(" ")[0])
    return Function(module.one, NO_TABLE, lambda params: prepared(module, params))


def taped_function(program: Program, kernel: straight.Kernel) -> Function:
    """Return a tape: it needs no compilation, and takes some ten times as long to run."""
    outputs = list(kernel.outputs)
    g = program.graph
    truth = kernel.regular if kernel.regular is not None else g.condition("le", g.zero, g.one)
    tape = record(program, [*outputs, truth])
    head = [2 * len(program.q) + 1 + len(program.params), len(tape.code), len(outputs)]
    table = np.concatenate([np.array(head, dtype=np.int64), tape.code.ravel(), tape.results])
    return Function(eval_tape, table, lambda params: tape.registers.copy())


@dataclass(frozen=True)
class Watch:
    """A watched quantity: its name, as in ('gap', 3), and its node."""

    name: tuple[str, int]
    node: Node


def watches_of(equations: ModeEquations, frozen: Frozen, structure: Structure, extra: Sequence[Node]) -> list[Watch]:
    """Return what may end a mode: gaps, multipliers, slips, reserves, singular points, user events, surfaces."""
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
            forces = [equations.tangential[j] for j in law.slips]
            size = g.call("abs", forces[0])
            if len(forces) > 1:
                size = g.call("sqrt", g.add(*(g.mul(force, force) for force in forces)))
            bound = program.bounds[f]
            if law.normal is not None:
                normal = g.scale(-1.0 if law.normal in mode.pulling else 1.0, lam.get(law.normal, g.zero))
                bound = g.mul(bound, normal)
            found.append(Watch(("reserve", f), g.sub(bound, size)))
    closeness = equations.closeness()
    if closeness is not None:
        found.append(Watch(("singular", 0), closeness))
    found += [Watch(("extra", k), node) for k, node in enumerate(extra)]
    return found + [Watch(("surface", k), node) for k, node in enumerate(frozen.surfaces)]


@dataclass(frozen=True)
class ModeKernels:
    """The functions of a mode, the names of its watches, and the sizes of what they write."""

    rhs: Function
    shift: Function
    land: Function
    watch: Function
    report: Function
    watches: tuple[tuple[str, int], ...]
    positions: int
    rows: int
    surfaces: int


def mode_kernels(
    name: str, frozen: Frozen, structure: Structure, mode: Mode, extra: Sequence[Node], compiled: bool
) -> ModeKernels:
    """Return the functions of a mode of a small system, as generated code or as tapes."""
    program = frozen.program
    equations = ModeEquations(program, mode, structure)
    watches = watches_of(equations, frozen, structure, extra)
    nodes = [item.node for item in watches]
    sides = program.params[len(program.params) - len(frozen.surfaces) :]
    change, values, sound = equations.shift()
    velocities, accelerations, rates, landed = equations.land()
    a, lam, friction = equations.accelerations, equations.multipliers, equations.tangential

    def made(title: str, outputs: Sequence[Node], regular: Node | None) -> Function:
        kernel = straight.Kernel(outputs, regular, sides)
        return straight_function(f"{title} of {name}", program, kernel) if compiled else taped_function(program, kernel)

    return ModeKernels(
        rhs=made("motion", a, equations.regular),
        shift=made("shift", [*change, *values], sound),
        land=made("landing", [*velocities, *accelerations, *rates], landed),
        watch=made("watch", nodes, None),
        report=taped_function(program, straight.Kernel([*a, *lam, *friction, *nodes], equations.regular)),
        watches=tuple(item.name for item in watches),
        positions=len(values),
        rows=len(rates),
        surfaces=len(frozen.surfaces),
    )
