"""Straight-line source from a graph, in Python for Numba or in C."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from zwang._graph.graph import CONDITIONS, Graph, Node

Text = str


@dataclass(frozen=True)
class Language:
    """How assignments, functions, choices and truths are written."""

    assign: Callable[[str, Text, bool], Text]
    function: Callable[[str, Text], Text]
    where: Callable[[Text, Text, Text], Text]
    least: Callable[[Text, Text], Text]
    greatest: Callable[[Text, Text], Text]
    negation: Callable[[Text], Text]
    power: Callable[[Text, Text], Text]
    angle: Callable[[Text, Text], Text]
    nan: Text
    inf: Text
    special: Mapping[str, Callable[[Text], Text]] = field(default_factory=dict)


SCALAR = Language(
    assign=lambda name, text, truth: f"{name} = {text}",
    function=lambda name, x: f"{'abs' if name == 'abs' else 'math.' + name}({x})",
    where=lambda c, a, b: f"({a} if {c} else {b})",
    least=lambda a, b: f"({a} if {a} <= {b} else {b})",
    greatest=lambda a, b: f"({a} if {a} >= {b} else {b})",
    negation=lambda c: f"(not {c})",
    power=lambda a, b: f"{a} ** {b}",
    angle=lambda y, x: f"math.atan2({y}, {x})",
    nan="math.nan",
    inf="math.inf",
    special={
        "sign": lambda x: f"(1.0 if {x} > 0.0 else (-1.0 if {x} < 0.0 else 0.0))",
        "step": lambda x: f"(1.0 if {x} > 0.0 else (0.0 if {x} < 0.0 else 0.5))",
    },
)


C99 = Language(
    assign=lambda name, text, truth: f"const {'int' if truth else 'double'} {name} = {text};",
    function=lambda name, x: f"{'fabs' if name == 'abs' else name}({x})",
    where=lambda c, a, b: f"({c} ? {a} : {b})",
    least=lambda a, b: f"({a} <= {b} ? {a} : {b})",
    greatest=lambda a, b: f"({a} >= {b} ? {a} : {b})",
    negation=lambda c: f"(!{c})",
    power=lambda a, b: f"pow({a}, {b})",
    angle=lambda y, x: f"atan2({y}, {x})",
    nan="NAN",
    inf="INFINITY",
    special={
        "sign": lambda x: f"({x} > 0.0 ? 1.0 : ({x} < 0.0 ? -1.0 : 0.0))",
        "step": lambda x: f"({x} > 0.0 ? 1.0 : ({x} < 0.0 ? 0.0 : 0.5))",
    },
)
"""C of 1999, with <math.h>."""


class Emitter:
    """Writes the lines that compute nodes; each node once, in topological order.

    Parameters
    ----------
    graph : Graph
    language : Language
    inputs : mapping
        Input node -> the text that stands for it.
    """

    def __init__(self, graph: Graph, language: Language, inputs: Mapping[Node, Text]) -> None:
        self.graph, self.language = graph, language
        self.names: dict[Node, Text] = dict(inputs)

    def lines(self, outputs: Iterable[Node]) -> list[str]:
        """Return the assignments that the outputs need and that were not written yet."""
        written = []
        for node in self.graph.reachable(outputs, self.names):
            if self.graph.ops[node] == "const":
                continue
            text = self._expression(node)
            self.names[node] = f"x{node}"
            written.append(self.language.assign(f"x{node}", text, self.graph.ops[node] in CONDITIONS))
        return written

    def __getitem__(self, node: Node) -> Text:
        value = self.graph.value(node)
        return self.names[node] if value is None else self.number(value)

    def number(self, value: float) -> Text:
        """Return the text of a number, any number: those that are none or infinite have names in each dialect."""
        if math.isnan(value):
            return self.language.nan
        if math.isinf(value):
            return self.language.inf if value > 0 else f"(-{self.language.inf})"
        return repr(value) if value >= 0 else f"({value!r})"

    def _expression(self, node: Node) -> Text:
        op, args = self.graph.ops[node], self.graph.args[node]
        if op == "sum":
            return self._sum(*args)
        texts = [self[item] for item in args]
        if op in ("mul", "div"):
            return f"{texts[0]} {'*' if op == 'mul' else '/'} {texts[1]}"
        if op == "pow":
            return self.language.power(*texts)
        if op in ("lt", "le", "eq"):
            sign = {"lt": "<", "le": "<=", "eq": "=="}[op]
            return f"{texts[0]} {sign} {texts[1]}"
        if op in ("and", "or"):
            return f"{texts[0]} {'&' if op == 'and' else '|'} {texts[1]}"
        if op == "not":
            return self.language.negation(texts[0])
        if op == "where":
            return self.language.where(*texts)
        if op in ("min", "max"):
            return (self.language.least if op == "min" else self.language.greatest)(*texts)
        if op == "atan2":
            return self.language.angle(*texts)
        special = self.language.special.get(op)
        return special(texts[0]) if special else self.language.function(op, texts[0])

    def _sum(self, constant: float, parts: tuple[tuple[float, Node], ...]) -> Text:
        text = ""
        for coefficient, node in parts:
            size = "" if abs(coefficient) == 1.0 else f"{self.number(abs(coefficient))}*"
            sign = "-" if coefficient < 0 else ("+" if text else "")
            text += f" {sign} {size}{self.names[node]}" if text else f"{sign}{size}{self.names[node]}"
        if constant:
            text += f" {'-' if constant < 0 else '+'} {self.number(abs(constant))}"
        return text
