"""The dialect C: the same outputs as functions in C of 1999, for exports.

Outputs go to several arrays, zeros included, as a person who calls it from C wants them. No word of a user stands in
what is computed: inputs and nodes have numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zwang._derive.program import Program
from zwang._graph.emit import C99
from zwang._graph.graph import Node
from zwang._kernels.straight import body, input_names

PLACES = {"q": "q[{}]", "v": "v[{}]", "p": "params[{}]"}
ARGUMENTS = "double t, const double q[], const double v[], const double params[]"


@dataclass(frozen=True)
class Target:
    """An array of a function's outputs: its name, its size, and the nodes that are not zero, by their places."""

    name: str
    size: int
    nodes: Mapping[int, Node]

    @classmethod
    def full(cls, name: str, nodes: Sequence[Node]) -> Target:
        """Return the target of nodes one after the other."""
        return cls(name, len(nodes), dict(enumerate(nodes)))


def prototype(name: str, targets: Sequence[Target]) -> str:
    """Return the declaration of a function that writes to several arrays."""
    return f"int {name}({ARGUMENTS}, {', '.join(f'double {item.name}[]' for item in targets)})"


def scattered_source(program: Program, targets: Sequence[Target], name: str, sound: Node | None = None) -> str:
    """Return a function that writes its outputs to several arrays and returns 0 where all is well."""
    wanted = [node for item in targets for node in item.nodes.values()]
    read, computed, text = body(program, input_names(program), [*wanted, *([] if sound is None else [sound])], C99)
    lines = [f"const double {name} = {PLACES[name[0]].format(name[1:])};" for name in read if name[0] in PLACES]
    lines += computed
    for item in targets:
        lines += [f"{item.name}[{k}] = {text[item.nodes[k]] if k in item.nodes else '0.0'};" for k in range(item.size)]
    lines.append("return 0;" if sound is None else f"return {text[sound]} ? 0 : 1;")
    unused = ("t", "q", "v", "params", *(item.name for item in targets if not item.size))
    return function_text(prototype(name, targets), unused, lines)


def function_text(head: str, maybe_unused: Sequence[str], lines: Sequence[str]) -> str:
    """Return a function; arguments that it may not need are named, so that no compiler complains."""
    every = [*(f"(void){name};" for name in maybe_unused), *lines]
    return f"{head}\n{{\n" + "".join(f"    {line}\n" for line in every) + "}\n"
