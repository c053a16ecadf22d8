"""A model as an FMU of FMI 3.0: sources, a binary where there is a compiler, and the description.

No word of a user stands in the sources: names are in the description alone, where they are escaped.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from zwang._compile.c_export import LARGEST, identifier, switching_surfaces
from zwang._compile.fmu_description import FmuSlot, build_description, description, layout
from zwang._compile.given_inputs import inputs_as_parameters
from zwang._compile.given_values import resolve
from zwang._declare.constraints import Bilateral
from zwang._declare.contact_table import table_of
from zwang._declare.switched import taken_apart
from zwang._declare.switches import Event, Reaction
from zwang._declare.system import System
from zwang._derive.motion_modes import ActiveSet, ModeEquations
from zwang._derive.program import Program
from zwang._derive.solution import SymbolicSolution, solve, with_masses
from zwang._graph.convert import Converter
from zwang._graph.graph import Node
from zwang._kernels.c import Target, scattered_source
from zwang._numerics.linear.rank import rank_of
from zwang._numerics.tolerances import by_name
from zwang._outputs import check_output, replacing
from zwang.errors import CompileError, DeclarationError, StateError

SOURCE = "fmu.c"
MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}
SYSTEMS = {"linux": ("linux", ".so"), "darwin": ("darwin", ".dylib"), "win32": ("windows", ".dll")}
FLAGS = ["-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared"]
LOOKS = 3  # states that are drawn where none is given
TAKING = 1e-6
"""Part of a combination that vanishes below which a constraint takes no part in it."""
PATIENCE = 600
"""Seconds for the compiler: straight-line code of forty unknowns takes one minute."""


@dataclass(frozen=True)
class Indicator:
    """An event indicator; direction, count and stop are those of `Event`."""

    name: str
    node: Node
    direction: int = 0
    stop: bool = False
    count: int = 0


def write_fmu(
    model: Any, path: str | Path, state: Mapping[Any, Any] | None, params: Mapping[Any, Any] | None, name: str | None
) -> Path:
    """Write a Model as an FMU, whole or not at all; see `Model.to_fmu`."""
    declared: System = model.system
    stem = identifier(declared, name, "to_fmu")
    target = check_output(path, endings=(".fmu",), written="an FMU is written as .fmu")
    rest, on = taken_apart(declared, {} if state is None else state)
    ready = model.switched(on)
    _require_smooth(ready.system, declared.events)
    found = inputs_as_parameters(ready.system, "to_fmu")
    moved = ready.another(found.system)
    _require_small(moved.system)
    start, values, at = _starts(moved, None if state is None else rest, params, found.params)
    slots = [
        FmuSlot(
            item.name, values[item.name], params is not None or item.name in found.params, item.name in found.params
        )
        for item in moved.system.parameters
    ]
    slots += [FmuSlot(item, 0.0, True, True) for item in found.params if item not in values]
    held = list(range(len(moved.system.constraints)))
    program = with_masses(moved.kernels.program.copy(), held)
    solution = solve(program, held)
    watched = _watched(moved.system, program, solution, [event.map(found.put) for event in declared.events])
    source = _source(moved.system, program, solution, watched, slots, start)
    variables = layout(declared, list(moved.system.constraints.names), [item.name for item in watched], slots, start)
    draft = description(declared.name, stem, "", variables, at)
    token = hashlib.sha256(source.encode() + draft).hexdigest()
    source = f'#define TOKEN "{token}"\n{source}'
    files = {
        "modelDescription.xml": description(declared.name, stem, token, variables, at),
        f"sources/{SOURCE}": source.encode("ascii"),
        "sources/buildDescription.xml": build_description(stem, SOURCE),
    }
    binary = _binary(source, stem, target)
    with replacing(target) as whole, zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, data in {**files, **binary}.items():
            entry = zipfile.ZipInfo(place)  # dated 1980: the same model gives the same file
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, data)
    return target


def _require_smooth(system: System, events: Sequence[Event]) -> None:
    """Refuse what is not smooth, by name."""
    why = "and an FMU is written of a smooth system."
    for item in system.constraints:
        if item.slip:
            raise DeclarationError(
                f"{system.name}: to_fmu: '{item.name}' has friction, {why} Take it away, put a smooth force in "
                "its place (-c*tanh(v/w)), or use to_c and a solver of your own."
            )
        if not isinstance(item, Bilateral):
            raise DeclarationError(
                f"{system.name}: to_fmu: '{item.name}' is one-sided, {why} Make it a Bilateral, put a spring in its "
                "place (zw.realize), or use to_c and a solver of your own."
            )
    for event in events:
        if event.then or event.kind:
            what = "switches or resets" if event.then else "is a kind of event"
            raise DeclarationError(
                f"{system.name}: to_fmu: the event '{event.name}' {what}, {why} Events of an FMU are watched, or end "
                "the motion. Leave this one out: system.replace(events=[...])."
            )


def _require_small(system: System) -> None:
    unknowns = len(system.coordinates) + len(system.constraints)
    if unknowns > LARGEST:
        raise CompileError(
            f"{system.name}: {unknowns} coordinates and constraints are too many for an FMU, where every term is "
            f"written out (at most {LARGEST}). Simulate it here, or export a smaller part."
        )


def _starts(
    model: Any, state: Mapping[Any, Any] | None, params: Mapping[Any, Any] | None, inputs: Mapping[str, float]
) -> tuple[list[float], dict[str, float], float]:
    """Return the start of (q, v), the parameters by name, and the time; checked as far as they are given."""
    system: System = model.system
    named = by_name(params, "params", where=system.name)
    for name in set(named) & set(inputs):
        raise DeclarationError(
            f"{system.name}: to_fmu: params has '{name}', which is an input: the importer gives it. Leave it out."
        )
    names = [item.name for item in system.parameters]
    numbers = dict.fromkeys(names, 0.0) if params is None else {**named, **{k: inputs[k] for k in inputs if k in names}}
    nowhere = {item.name: 0.0 for item in (*system.coordinates, *system.velocities)}
    given = resolve(system, nowhere if state is None else state, numbers)
    if given.shape:
        raise DeclarationError(f"{system.name}: to_fmu takes one value of each quantity, not arrays.")
    whole = state is not None and params is not None
    if whole:
        model.check(state, numbers)
    _require_independent(model, state, params, numbers)
    if whole and not model.evaluate(state, numbers).regular:
        raise StateError(
            f"{system.name}: to_fmu: a motion has no inertia at this state. Give every body a mass, and an inertia "
            "where it turns."
        )
    values = dict(zip(names, (float(x) for x in given.params[:, 0]), strict=True))
    return [float(x) for x in (*given.q[:, 0], *given.v[:, 0])], values, float(given.t[0])


def _require_independent(
    model: Any, state: Mapping[Any, Any] | None, params: Mapping[Any, Any] | None, numbers: Mapping[str, float]
) -> None:
    """Refuse constraints that depend on each other, by name: reactions of an FMU are numbers.

    Without a state or parameters some are drawn: what is dependent at all of them is so everywhere.
    """
    if state is not None and params is not None:
        found, where = _dependence(model, state, numbers), "at this state"
    else:
        tried = [_drawn(model, None if params is None else numbers, seed) for seed in range(LOOKS)]
        found, where = (tried[0] if all(item is not None for item in tried) else None), "at every state"
    if found is not None:
        all_of_them, follow = (", ".join(f"'{name}'" for name in names) for names in found)
        raise StateError(
            f"{model.system.name}: to_fmu: the constraints {all_of_them} are dependent {where}, and reactions of an "
            f"FMU are numbers. Leave out what follows from the others: {follow}."
        )


def _dependence(
    model: Any, state: Mapping[Any, Any], params: Mapping[str, float]
) -> tuple[list[str], list[str]] | None:
    """Return the constraints that depend on each other at a state, and which follow from the rest; None if none do."""
    names = list(model.system.constraints.names)
    terms = model.terms(state, params)
    rows, mass = terms.rows[: len(names), :, 0], terms.mass[:, :, 0]
    found = rank_of(rows, mass)
    if found.full:
        return None
    taking = np.abs(found.left[:, found.rank :]).max(axis=1) > TAKING
    kept = list(range(len(names)))
    follow: list[str] = []
    for k in reversed(range(len(names))):
        others = [j for j in kept if j != k]
        if taking[k] and rank_of(rows[others], mass).rank == found.rank:
            kept, follow = others, [names[k], *follow]
    return [name for name, own in zip(names, taking, strict=True) if own], follow


def _drawn(model: Any, params: Mapping[str, float] | None, seed: int) -> tuple[list[str], list[str]] | None:
    """Return the dependence at a state of its constraints that is drawn; None also where none is found."""
    rng = np.random.default_rng(seed)
    system: System = model.system
    anything = {item.name: rng.uniform(0.5, 1.5) for item in system.parameters}
    numbers = anything if params is None else params
    somewhere = {item.name: rng.uniform(-1.0, 1.0) for item in (*system.coordinates, *system.velocities)}
    try:
        return _dependence(model, model.project(somewhere, numbers), numbers)
    except StateError:
        return None


def _watched(system: System, program: Program, solution: SymbolicSolution, events: Sequence[Event]) -> list[Indicator]:
    """Return the events that were declared, then what changes its sign where a force is chosen another way."""
    symbols = program.symbols(system)
    names = list(system.constraints.names)
    for event in events:
        for item in event.expr.free_symbols:
            if isinstance(item, Reaction):
                known = item.constraint in names
                symbols[item] = solution.multipliers[names.index(item.constraint)] if known else program.graph.zero
    convert = Converter(program.graph, symbols)
    found = [Indicator(str(one.name), convert(one.expr), one.direction, one.stop, one.count or 0) for one in events]
    surfaces = switching_surfaces(program.graph, solution.accelerations, program.inputs)
    return found + [Indicator(f"switching surface {k}", node) for k, node in enumerate(surfaces)]


def _source(
    system: System,
    program: Program,
    solution: SymbolicSolution,
    watched: Sequence[Indicator],
    slots: Sequence[FmuSlot],
    start: Sequence[float],
) -> str:
    """Return the source but for its token."""
    held = tuple(range(len(system.constraints)))
    equations = ModeEquations(program, ActiveSet(held=held), table_of(system))
    change, _, shifted = equations.shift()
    velocities, _, _, landed = equations.land()
    functions = {
        "accelerations": (
            [Target.full("a", solution.accelerations), Target.full("lam", solution.multipliers)],
            solution.regular,
        ),
        "events": ([Target.full("values", [item.node for item in watched])], solution.regular),
        "shift": ([Target.full("change", change)], shifted),
        "land": ([Target.full("landed", velocities)], landed),
    }
    bodies = [
        f"static {scattered_source(program, targets, f'zw_{key}', sound)}"
        for key, (targets, sound) in functions.items()
    ]
    sizes = {"N": len(system.coordinates), "M": len(held), "K": len(watched), "P": len(slots), "HELD": len(held)}
    tables = [
        _table("double", "starts", [*start, *(slot.start for slot in slots)]),
        _table("int", "known", [int(slot.known) for slot in slots]),
        _table("int", "inputs", [int(slot.is_input) for slot in slots]),
        _table("int", "stops", [int(item.stop) for item in watched]),
        _table("int", "directions", [item.direction for item in watched]),
        _table("long", "counts", [item.count for item in watched]),
    ]
    runtime = resources.files("zwang._compile").joinpath("fmu_runtime.c").read_text(encoding="ascii")
    defined = "".join(f"#define {key} {size}\n" for key, size in sizes.items())
    return "#include <math.h>\n\n" + "\n".join(bodies) + f"\n{defined}{''.join(tables)}\n{runtime}"


def _table(kind: str, name: str, values: Sequence[float]) -> str:
    """Return a constant array; C has none without an entry, so there is one more."""
    return f"static const {kind} {name}[] = {{{', '.join(repr(item) for item in (*values, 0))}}};\n"


def _binary(source: str, stem: str, target: Path) -> dict[str, bytes]:
    """Return the binary for this platform by its place in the archive; nothing, with a warning, where none is made."""
    compiler = shutil.which("cc")
    system, ending = SYSTEMS.get(sys.platform, (sys.platform, ".so"))
    machine = platform.machine().lower()
    reason = "there is no C compiler 'cc' here"
    if compiler is not None:
        with tempfile.TemporaryDirectory() as folder:
            file, made = Path(folder) / SOURCE, Path(folder) / f"made{ending}"
            file.write_text(source, encoding="ascii")
            command = [compiler, *FLAGS, "-o", str(made), str(file), "-lm"]
            try:
                done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE)
                if done.returncode == 0:
                    return {f"binaries/{MACHINES.get(machine, machine)}-{system}/{stem}{ending}": made.read_bytes()}
                reason = f"'cc' refused the source: {done.stderr.strip()[:200]}"
            except (OSError, subprocess.TimeoutExpired) as error:
                reason = f"'cc' did not come to its end: {error!r:.200}"
    warnings.warn(
        f"{target.name} has sources only: {reason}. An importer that compiles can use it.", RuntimeWarning, stacklevel=4
    )
    return {}
