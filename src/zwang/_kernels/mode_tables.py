"""The functions of a mode of a large system: loops over tables, one sparse factorization for each evaluation.

Only what is held and frictionless has this form; modes with sticking or sliding friction, and forces with switching
surfaces, are written out as tapes. Behind the table of the system stand: for each held normal its number and whether it
is on positions, for each watched quantity its kind and number, then where all this starts, how many are held, how many
are watched, and whether a watched one is a multiplier.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp

from zwang._declare.symbols import t as time
from zwang._declare.system import System
from zwang._derive.kinds import sort_into_kinds
from zwang._derive.modes import ActiveSet
from zwang._graph.convert import Converter
from zwang._graph.emit import SCALAR, Emitter
from zwang._graph.graph import Graph, Node
from zwang._kernels.kind_source import kind_loop
from zwang._kernels.mode_kernels import ModeKernels
from zwang._kernels.outputs import Array, Functions
from zwang._kernels.tables import TableModel, module_source
from zwang._numerics.contact.table import ContactTable
from zwang._numerics.jit import load_generated

GAP, NORMAL, EXTRA = 0, 1, 2
SWITCHES = (sp.sign, sp.Heaviside, sp.Abs, sp.Max, sp.Min, sp.Piecewise)

SOURCE = """

@njit
def factored(t, q, v, params, table, work):
    fill(t, q, v, params, table, work)
    ldl = table[table[3] :].view(np.uint32)
    return ldl_factor(ldl, work[table[4] : table[5]], work[table[5] : table[6]], work[table[11] :])


@njit
def solved(table, work, x):
    ldl_solve(table[table[3] :].view(np.uint32), work[table[11] :], x)


@njit(EVAL_SIGNATURE)
def motion(t, q, v, params, table, work, out):
    return one(t, q, v, params, table, work, out)


@njit(EVAL_SIGNATURE)
def shift(t, q, v, params, table, work, out):
    n, m, head = table[0], table[1], table[table.size - 4]
    ratio = factored(t, q, v, params, table, work)
    x = out[: n + m]
    for i in range(n):
        x[i] = 0.0
    for j in range(m):
        x[n + j] = -work[table[7] + table[head + 2 * j]] if table[head + 2 * j + 1] != 0 else 0.0
    solved(table, work, x)
    place = n
    for j in range(m):
        if table[head + 2 * j + 1] != 0:
            out[place] = work[table[7] + table[head + 2 * j]]
            place += 1
    return 0 if ratio > PIVOT else 1


@njit(EVAL_SIGNATURE)
def land(t, q, v, params, table, work, out):
    n, m, head = table[0], table[1], table[table.size - 4]
    ratio = factored(t, q, v, params, table, work)
    x = out[: n + m]
    off = 0.0
    for i in range(n):
        x[i] = 0.0
    for j in range(m):
        section = table[8] if table[head + 2 * j + 1] != 0 else table[7]
        rate = work[section + table[head + 2 * j]]
        off = max(off, abs(rate))
        x[n + j] = -rate
    solved(table, work, x)
    for i in range(n):
        x[i] += v[i]
    fill(t, q, out[:n], params, table, work)
    y = out[n : 2 * n + m]
    for i in range(n + m):
        y[i] = work[table[6] + i]
    solved(table, work, y)
    for j in range(m):
        out[2 * n + j] = off
    return 0 if ratio > PIVOT else 1


@njit(EVAL_SIGNATURE)
def watch(t, q, v, params, table, work, out):
    n, m, head, last = table[0], table[1], table[table.size - 4], table.size
    kinds = head + 2 * table[last - 3]
    x = work[work.size - n - m :]
    if table[last - 1] != 0:
        one(t, q, v, params, table, work, x)
    elif table[last - 2] > 0:
        fill(t, q, v, params, table, work)
    for i in range(table[last - 2]):
        kind, number = table[kinds + 2 * i], table[kinds + 2 * i + 1]
        if kind == 0:
            out[i] = work[table[7] + number]
        elif kind == 1:
            out[i] = x[n + number]
    extras(t, q, v, params, out)
    return 0


@njit(EVAL_SIGNATURE)
def independence(t, q, v, params, table, work, out):
    ratio = factored(t, q, v, params, table, work)
    out[0] = ldl_log_determinant(table[table[3] :].view(np.uint32), work[table[11] :])
    return 0 if ratio > PIVOT else 1


@njit(EVAL_SIGNATURE)
def report(t, q, v, params, table, work, out):
    n, m = table[0], table[1]
    status = one(t, q, v, params, table, work, out)
    watch(t, q, v, params, table, work, out[n + m + table[table.size - 5] :])
    for i in range(table[table.size - 5]):
        out[n + m + i] = 0.0
    return status
"""


def suits(system: System, mode: ActiveSet) -> bool:
    """Say whether a mode has this form."""
    parts = [system.kinetic, system.potential, *system.forces.values()]
    parts += [expr for item in system.constraints for expr in item.expressions().values()]
    return not (mode.sticking or mode.sliding or any(part.has(*SWITCHES) for part in parts))


def table_kernels(
    system: System, structure: ContactTable, slips: int, model: TableModel, mode: ActiveSet, extra: Sequence[Any]
) -> ModeKernels:
    """Return the functions of a mode, from the system laid out for what it holds."""
    loops = [kind_loop(kind, number) for number, kind in enumerate(sort_into_kinds(system, mode.held))]
    watches = _watches(structure, mode, len(extra))
    source = module_source(loops) + _extras(system, extra, len(watches) - len(extra)) + SOURCE
    module = load_generated(source, "kinds_moving")
    table = np.concatenate([model.table, _tail(slips, model.table.size, mode, structure, watches)])
    n, m = len(system.coordinates), len(mode.held)

    def workspace(_: Array) -> Array:
        return np.concatenate([model.workspace, np.zeros(n + m)])

    positions = sum(structure.normals[j].on_position for j in mode.held)
    calls = (module.motion, module.shift, module.land, module.watch)
    sizes = (n, n + positions, 2 * n + m, len(watches))
    report = Functions((module.report,), (n + m + slips + len(watches),), table, workspace)
    return ModeKernels(
        functions=Functions(calls, sizes, table, workspace),
        report=report,
        independence=Functions((module.independence,), (1,), table, workspace) if positions else None,
        watches=tuple(item[0] for item in watches),
        positions=positions,
        rows=len(mode.held),
        surfaces=0,
    )


def _watches(structure: ContactTable, mode: ActiveSet, extra: int) -> list[tuple[tuple[str, int], int, int]]:
    """Return name, kind and number of each watched quantity."""
    found: list[tuple[tuple[str, int], int, int]] = []
    rough = {law.normal for law in structure.laws}
    for j, line in enumerate(structure.normals):
        if j in mode.held and (line.one_sided or j in rough):
            found.append((("normal", j), NORMAL, mode.held.index(j)))
        elif j not in mode.held and line.one_sided:
            found.append((("gap" if structure.normals[j].on_position else "value", j), GAP, j))
    return found + [(("extra", k), EXTRA, k) for k in range(extra)]


def _tail(slips: int, start: int, mode: ActiveSet, structure: ContactTable, watches: Sequence[Any]) -> Any:
    held = [number for j in mode.held for number in (j, int(structure.normals[j].on_position))]
    watched = [number for _, kind, place in watches for number in (kind, place)]
    solve = int(any(kind == NORMAL for _, kind, _ in watches))
    count = sum(kind != EXTRA for _, kind, _ in watches)
    # What the kernels read from the end: slips, start of this part, held, watched by table, whether a multiplier is.
    tail = [*held, *watched, slips, start, len(mode.held), count, solve]
    return np.array(tail, dtype=np.int64)


def _extras(system: System, extra: Sequence[Any], first: int) -> str:
    """Return the source of `extras`, which writes the user's quantities."""
    graph = Graph()
    names: dict[Node, str] = {graph.input("t"): "t"}
    symbols: dict[Any, Node] = {time: graph.input("t")}
    for letter, items in (("q", system.coordinates), ("v", system.velocities), ("params", system.parameters)):
        for i, item in enumerate(items):
            symbols[item] = graph.input(f"{letter}{i}")
            names[symbols[item]] = f"{letter}[{i}]"
    convert = Converter(graph, symbols)
    nodes = [convert(item) for item in extra]
    emitter = Emitter(graph, SCALAR, names)
    lines = emitter.lines(nodes)
    lines += [f"out[{first + k}] = {emitter[node]}" for k, node in enumerate(nodes)] or ["pass"]
    return "\n\n@njit\ndef extras(t, q, v, params, out):\n" + "".join(f"    {line}\n" for line in lines)
