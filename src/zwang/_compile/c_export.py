"""A model as C: one header, one source file, no library but <math.h>.

The functions compute what `Model.evaluate` does, with the same constraints held as equalities and without friction;
which of them are to be held, and what friction does, the caller decides by the values of the events.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zwang._declare.constraints import Bilateral, Friction
from zwang._declare.declaration_reader import Reader
from zwang._declare.friction_forms import forms_of
from zwang._declare.given import as_expression
from zwang._declare.switches import Reaction
from zwang._declare.system import System
from zwang._derive.program import Program
from zwang._derive.solution import solve, with_masses
from zwang._graph.convert import Converter
from zwang._graph.graph import Graph, Node
from zwang._kernels.c import Target, prototype, scattered_source
from zwang._outputs import replacing
from zwang.errors import CompileError, DeclarationError, nearest

LARGEST = 40
"""Coordinates and held constraints up to which a solution is written out: its length grows with their cube."""
TAKEN = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while assert complex ctype
errno fenv inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef stdint stdio stdlib string tgmath time
wchar wctype
"""
"""Words of the language, and its headers."""


def identifier(system: System, name: str | None, verb: str = "to_c") -> str:
    """Return the name under which a system is exported: as given, or made from its own."""
    if name is None:
        made = re.sub(r"[^A-Za-z0-9]+", "_", system.name).strip("_")
        made = made if made and not made[0].isdigit() else f"system_{made}".rstrip("_")
        return f"{made}_" if made in TAKEN.split() else made
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in TAKEN.split():
        raise DeclarationError(
            f"{system.name}: {verb}: name= must be a name in C that is not taken: letters, digits and underscores, no "
            f"keyword and no standard header; it was given {name!r:.60}."
        )
    return name


def write_c(
    system: System, program: Program, active: Sequence[int], folder: Any, name: str | None, events: Sequence[Any]
) -> tuple[Path, Path]:
    """Write header and source of a system with these normals held; `program` takes up nodes. Return their paths."""
    stem, place = identifier(system, name), Path(folder)
    unknowns = len(system.coordinates) + len(active)
    if unknowns > LARGEST:
        raise CompileError(
            f"{system.name}: {unknowns} coordinates and held constraints are too many for C, where every term is "
            f"written out (at most {LARGEST}). Simulate it here, or export a smaller part."
        )
    if not place.is_dir():
        raise DeclarationError(f"{system.name}: to_c: there is no folder '{folder}'. Make it, or choose another.")
    header, source = _texts(_Export(system, program, active, events), stem)
    paths = place / f"{stem}.h", place / f"{stem}.c"
    for path, text in zip(paths, (header, source), strict=True):
        with replacing(path) as draft:
            draft.write_text(text, encoding="ascii")
    return paths


class _Export:
    """What is written: accelerations, terms and events of a program."""

    def __init__(self, system: System, program: Program, active: Sequence[int], events: Sequence[Any]) -> None:
        self.system, self.program, self.active = system, program, list(active)
        self.normals = [item for item in system.constraints if not isinstance(item, Friction)]
        self.solution = solve(with_masses(program, self.active), self.active)
        self.watched = self._watched(events)

    @property
    def functions(self) -> dict[str, tuple[list[Target], Node | None]]:
        """Name -> arrays that the function writes, and the truth that all is well."""
        solution, events = self.solution, [node for _, node in self.watched]
        found = [Target.full("a", solution.accelerations), Target.full("lam", solution.multipliers)]
        # Held multipliers are among the events: they are as sound as the pivots.
        return {
            "accelerations": (found, solution.regular),
            "terms": (self._terms(), None),
            "events": ([Target.full("values", events)], solution.regular),
        }

    def _terms(self) -> list[Target]:
        program, n = self.program, len(self.program.q)
        rows, slips = program.normals, program.slips
        mass = {n * i + j: node for (i, j), node in program.mass.items()}
        mass |= {n * j + i: node for (i, j), node in program.mass.items()}

        def matrix(name: str, items: Sequence[Any]) -> Target:
            places = {n * j + i: node for j, item in enumerate(items) for i, node in item.entries.items()}
            return Target(name, n * len(items), places)

        return [
            Target("mass", n * n, mass),
            Target.full("force", program.force),
            Target.full("value", [row.value for row in rows]),
            Target.full("rate", [row.rate for row in rows]),
            Target.full("gamma", [row.bias for row in rows]),
            matrix("rows", rows),
            Target.full("slip", [row.value for row in slips]),
            Target.full("slip_bias", [row.bias for row in slips]),
            matrix("slip_rows", slips),
            Target.full("bounds", program.bounds),
            Target.full("energies", list(program.energies)),
        ]

    def _watched(self, events: Sequence[Any]) -> list[tuple[str, Node]]:
        """Return words and nodes of what changes its sign at an event."""
        program, found = self.program, []
        for j, item in enumerate(self.normals):
            if isinstance(item, Bilateral):
                continue
            if j in self.active:
                found.append((f"multiplier of {item.name}", self.solution.multipliers[self.active.index(j)]))
            else:
                found.append((f"value of {item.name}", program.normals[j].value))
        names = [str(item.name) for item in self.system.constraints for _ in item.slip]
        found += [(f"slip of {name}", row.value) for name, row in zip(names, program.slips, strict=True)]
        surfaces = switching_surfaces(program.graph, self.solution.accelerations, [program.t, *program.q, *program.v])
        found += [(f"switching surface {k}", node) for k, node in enumerate(surfaces)]
        own = [item for item in self.system.events if not item.kind]
        found += [(f"event {item.name}", node) for item, node in zip(own, self._given(own), strict=True)]
        return found + [(f"event {k}", node) for k, node in enumerate(self._given(events))]

    def _given(self, events: Sequence[Any]) -> list[Node]:
        system, symbols = self.system, self.program.symbols(self.system)
        held = [str(self.normals[j].name) for j in self.active]
        for item in self.normals:  # what is not held exerts nothing here
            name = str(item.name)
            force = self.solution.multipliers[held.index(name)] if name in held else self.program.graph.zero
            symbols[Reaction(name)] = force
        convert = Converter(self.program.graph, symbols)
        reader = Reader(system.name, system.coordinates, system.expressions().values(), system.dependents)
        found = []
        for item in events:
            expr = reader(as_expression(getattr(item, "expr", item), f"{system.name}: to_c: events"), "to_c: events")
            for symbol in expr.free_symbols - set(symbols):
                raise DeclarationError(
                    f"{system.name}: to_c: events= has '{symbol}', which the system doesn't know. "
                    f"{nearest(str(symbol), [str(item) for item in symbols])}"
                )
            found.append(convert(expr))
        return found


def switching_surfaces(g: Graph, nodes: Sequence[Node], moving: Sequence[Node]) -> list[Node]:
    """Return what changes its sign where a choice that depends on the state is made another way."""
    found: dict[Node, None] = {}
    for node in sorted(g.dependent(nodes, moving).intersection(g.reachable(nodes))):
        op, args = g.ops[node], g.args[node]
        if op in ("abs", "sign", "step"):
            found.setdefault(args[0])
        elif op in ("min", "max", "lt", "le"):
            found.setdefault(g.sub(args[0], args[1]))
    return list(found)


def _texts(made: _Export, stem: str) -> tuple[str, str]:
    """Return header and source."""
    system, functions = made.system, made.functions
    upper = stem.upper()
    sizes = {
        "COORDINATES": len(system.coordinates),
        "PARAMETERS": len(system.parameters),
        "CONSTRAINTS": len(made.normals),
        "HELD": len(made.active),
        "SLIPS": len(made.program.slips),
        "BOUNDS": len(made.program.bounds),
        "EVENTS": len(made.watched),
    }
    held = [made.normals[j].name for j in made.active]
    lists = {
        "q": [item.name for item in system.coordinates],
        "v": [item.name for item in system.velocities],
        "params": [item.name for item in system.parameters],
        "lam, held as equalities": held,
        "value, rate, gamma, rows": [item.name for item in made.normals],
        "slip, slip_bias, slip_rows": [item.name for item in system.constraints for _ in item.slip],
        "bounds, sizes of friction": _sized(system),
        "values of events": [words for words, _ in made.watched],
    }
    comment = [f"{system.name}, by zwang. Matrices are stored row by row; 0 is returned where all pivots are sound."]
    comment += [f"{key}: {', '.join(map(str, items)) or 'none'}" for key, items in lists.items()]
    text = "/* " + "\n   ".join(_harmless(line) for line in comment) + " */\n"
    declared = "".join(f"{prototype(f'{stem}_{name}', targets)};\n" for name, (targets, _) in functions.items())
    guard = f'#ifndef {upper}_H\n#define {upper}_H\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n'
    defined = "".join(f"#define {upper}_{key} {size}\n" for key, size in sizes.items())
    header = f"{text}{guard}{defined}\n{declared}\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    bodies = [
        scattered_source(made.program, targets, f"{stem}_{name}", sound) for name, (targets, sound) in functions.items()
    ]
    return header, f'{text}#include "{stem}.h"\n\n#include <math.h>\n\n' + "\n".join(bodies)


def _sized(system: System) -> list[str]:
    """Return a word for each size of friction, in the order of `friction_bounds`."""
    forms = forms_of(system)
    names = [str(item.name) for item in system.constraints if item.slip]
    more = [
        f"{name} {word}"
        for name, form in zip(names, forms, strict=True)
        for word, items in (("other side", form.bounds[1:]), ("at rest", form.resting), ("axis", form.axes))
        for _ in items
    ]
    return [*names, *more]


def _harmless(line: str) -> str:
    """Return text for a comment, from which nothing leads out."""
    return re.sub(r"[^A-Za-z0-9_ .,:;()+=-]", "_", line)
