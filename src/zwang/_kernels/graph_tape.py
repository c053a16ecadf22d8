"""A graph as a tape: registers for inputs, constants and nodes, and the instructions between them.

Tapes need no compilation, and take some ten times as long to run as generated code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zwang._derive.program import Program
from zwang._graph.graph import Graph, Node
from zwang._kernels.outputs import Array, Functions, Ints, Outputs
from zwang._numerics import tape as ops

CODES = {
    "mul": ops.MUL,
    "div": ops.DIV,
    "pow": ops.POW,
    "sqrt": ops.SQRT,
    "abs": ops.ABS,
    "sign": ops.SIGN,
    "step": ops.STEP,
    "sin": ops.SIN,
    "cos": ops.COS,
    "tan": ops.TAN,
    "asin": ops.ASIN,
    "acos": ops.ACOS,
    "atan": ops.ATAN,
    "sinh": ops.SINH,
    "cosh": ops.COSH,
    "tanh": ops.TANH,
    "asinh": ops.ASINH,
    "acosh": ops.ACOSH,
    "atanh": ops.ATANH,
    "exp": ops.EXP,
    "log": ops.LOG,
    "atan2": ops.ATAN2,
    "lt": ops.LT,
    "le": ops.LE,
    "eq": ops.EQ,
    "and": ops.AND,
    "or": ops.OR,
    "not": ops.NOT,
    "where": ops.WHERE,
    "min": ops.MIN,
    "max": ops.MAX,
}


@dataclass(frozen=True)
class Tape:
    """Instructions, the registers of the outputs, and the constants in their registers."""

    code: Ints
    results: Ints
    registers: Array

    def run(self, t: Array, q: Array, v: Array, params: Array) -> Array:
        """Return the outputs (m, B) at B states."""
        out = np.empty((self.results.size, q.shape[1]))
        moving = np.concatenate([t[None, :], q, v])
        lanes = ops.LANES if q.shape[1] >= ops.LANES else 1
        registers = np.repeat(self.registers[:, None], lanes, axis=1)
        ops.run_tape(self.code, self.results, moving, np.ascontiguousarray(params), registers, out)
        return out


def record(program: Program, outputs: Sequence[Node]) -> Tape:
    """Return the tape that computes the outputs from t, q, v and params."""
    g = program.graph
    inputs = program.inputs
    recorder = _Recorder(g, inputs)
    for node in g.reachable(outputs, set(inputs)):
        recorder.add(node)
    return recorder.tape(outputs)


@dataclass(frozen=True)
class TapedFunctions(Functions):
    """Functions that run tapes; `first` is that of the first one, with the truth that all is well."""

    first: Tape

    def many(self, t: Array, q: Array, v: Array, params: Array) -> Array:
        """Return what the first of them writes at many states, and where all was well; see `Functions`."""
        return self.first.run(t, q, v, params)


def taped(program: Program, outputs: Sequence[Outputs]) -> TapedFunctions:
    """Return functions that run tapes, at most as many as there are in `TAPES`."""
    g = program.graph
    certain = g.condition("le", g.zero, g.one)
    table: list[Ints] = []
    places, tapes = [], []
    at, first = len(outputs), 0
    for item in outputs:
        tape = record(program, [*item.nodes, certain if item.sound is None else item.sound])
        head = np.array([len(tape.code), len(item.nodes), first, tape.registers.size], dtype=np.int64)
        table += [head, tape.code.ravel(), tape.results]
        places.append(at)
        tapes.append(tape)
        at += head.size + tape.code.size + tape.results.size
        first += tape.registers.size
    full = np.concatenate([np.array(places, dtype=np.int64), *table])
    constants = np.concatenate([tape.registers for tape in tapes])
    sizes = tuple(len(item.nodes) for item in outputs)
    return TapedFunctions(ops.TAPES[: len(outputs)], sizes, full, lambda params: constants.copy(), tapes[0])


class _Recorder:
    def __init__(self, graph: Graph, inputs: Sequence[Node]) -> None:
        self.graph = graph
        self.inputs = len(inputs)
        self.places: dict[Node, int] = {node: place for place, node in enumerate(inputs)}
        self.constants: dict[str, int] = {}  # by their text: a number that is none is not equal to itself
        self.code: list[tuple[int, int, int, int, int]] = []
        self.size = self.inputs

    def _new(self) -> int:
        self.size += 1
        return self.size - 1

    def constant(self, value: float) -> int:
        """Return the register of a number."""
        key = repr(value)
        if key not in self.constants:
            self.constants[key] = self._new()
        return self.constants[key]

    def add(self, node: Node) -> None:
        """Write the instructions of a node whose arguments are at hand."""
        op, args = self.graph.ops[node], self.graph.args[node]
        if op == "const":
            self.places[node] = self.constant(args[0])
        elif op == "sum":
            self.places[node] = self._sum(*args)
        else:
            found = [self.places[item] for item in args]
            target = self._new()
            self.code.append((CODES[op], target, *found, *([0] * (3 - len(found)))))  # type: ignore[arg-type]
            self.places[node] = target

    def _sum(self, constant: float, parts: tuple[tuple[float, Node], ...]) -> int:
        """Write a sum in the order of generated code, the constant last: both round alike."""
        target = self._new()
        factor, item = parts[0]
        if abs(factor) == 1.0:
            self.code.append((ops.COPY if factor > 0 else ops.NEG, target, self.places[item], 0, 0))
        else:
            self.code.append((ops.MUL, target, self.constant(factor), self.places[item], 0))
        for factor, item in parts[1:]:
            if abs(factor) == 1.0:
                self.code.append((ops.ADD if factor > 0 else ops.SUB, target, self.places[item], 0, 0))
            else:
                self.code.append((ops.ADDMUL, target, self.constant(factor), self.places[item], 0))
        if constant:
            self.code.append((ops.ADD, target, self.constant(constant), 0, 0))
        return target

    def tape(self, outputs: Sequence[Node]) -> Tape:
        """Return what was recorded."""
        registers = np.zeros(self.size)
        for text, place in self.constants.items():
            registers[place] = float(text)
        code = np.array(self.code, dtype=np.int64).reshape(-1, ops.WIDTH)
        return Tape(code, np.array([self.places[node] for node in outputs], dtype=np.int64), registers)
