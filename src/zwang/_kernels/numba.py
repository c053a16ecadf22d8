"""The dialect of Numba: generated straight-line code, and tapes where code isn't worth its compilation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from types import ModuleType

import numpy as np

from zwang._derive.program import Program
from zwang._kernels import straight
from zwang._kernels.graph_tape import TapedFunctions, taped
from zwang._kernels.outputs import NO_TABLE, Array, Function, Functions, Outputs
from zwang._numerics.jit import load_generated, tier

MANY = 20_000
"""States from which on generated code loops over them; fewer run through the tape of the same outputs.

The compiler takes some 1.2 ms for a line of the loop, a state in it half a nanosecond, in the tape one and a half:
below, a call takes a fiftieth of what it would wait for.
"""
FEW = 32
"""States up to which plain Python asks for them one by one."""

MOST_CHOICES, CHOICES = 800, frozenset(("where", "min", "max", "abs", "sign", "step"))
"""Choices beyond which code is run as a tape, and what they are: each is a branch, and code of so many branches takes
minutes to compile."""
MOST_CROSSED = 1_000_000
"""Choices times nodes beyond which it is a tape too: Numba looks at every variable in every branch, some 16 us each."""


class StraightFunctions(Functions):
    """One function in all its forms, each made when it is asked for: generated code for a state, loops, and a tape.

    Which of them answers for many states depends on their number alone, and not on what has been made.
    """

    def __init__(self, program: Program, outputs: Outputs, name: str) -> None:
        given = {"sizes": (len(outputs.nodes),), "table": NO_TABLE, "program": program, "outputs": outputs}
        for key, value in {**given, "name": name}.items():
            object.__setattr__(self, key, value)

    program: Program
    outputs: Outputs
    name: str

    @cached_property
    def module(self) -> ModuleType:
        """The generated code."""
        return load_generated(straight.module_source(self.program, self.outputs), self.name)

    @property
    def calls(self) -> tuple[Function, ...]:
        """See `Functions`."""
        return (self.module.one,)

    def workspace(self, params: Array) -> Array:
        """See `Functions`."""
        return _workspace(self.module, params)

    @cached_property
    def tape(self) -> TapedFunctions:
        """The same as a tape, which needs no compilation."""
        return taped(self.program, [self.outputs])

    @property
    def brief(self) -> Functions:
        """See `Functions`: what needs no compilation."""
        return self.tape if tier() == "compiled" else self

    def many(self, t: Array, q: Array, v: Array, params: Array) -> Array:
        """Return what the function writes at many states, and where all was well; see `Functions`."""
        states, size, compiled = q.shape[1], self.sizes[0], tier() == "compiled"
        if states < MANY and compiled:
            return self.tape.many(t, q, v, params)
        if states <= FEW:
            return super().many(t, q, v, params)
        shared = params.shape[1] == 1
        out, regular = np.empty((size + 1, states)), np.empty(states, dtype=bool)
        first = np.ascontiguousarray(params[:, 0])
        workspace = self.workspace(first) if shared else np.empty(self.module.WORKSPACE)
        arrays = [np.ascontiguousarray(array) for array in (t, q, v, params)]
        (self.module.shared if shared else self.module.each)(*arrays, first, workspace, out, regular)
        out[size] = regular
        return out


class NumbaDialect:
    """Machine code for the processor, cached on disk by its content."""

    def build(self, program: Program, outputs: Mapping[str, Outputs], name: str, *, quick: bool = False) -> Functions:
        """Return functions for outputs of one program; see `Dialect`."""
        # Plain, generated code needs no compilation either, and is the quicker one.
        if (quick and tier() == "compiled") or _branched(program, outputs):
            return taped(program, list(outputs.values()))
        if len(outputs) == 1:
            (only,) = outputs.values()
            return StraightFunctions(program, only, name)
        sizes = tuple(len(item.nodes) for item in outputs.values())
        exact = any(item.exact for item in outputs.values())
        module = load_generated(straight.several_source(program, outputs, exact=exact), name)
        calls = tuple(getattr(module, key) for key in outputs)
        return Functions(calls, sizes, NO_TABLE, partial(_workspace, module))


def _branched(program: Program, outputs: Mapping[str, Outputs]) -> bool:
    """Whether machine code of some outputs would take minutes to compile."""
    graph = program.graph
    if len(graph.ops) <= MOST_CHOICES:
        return False
    used = graph.reachable([node for item in outputs.values() for node in item.nodes], set(program.inputs))
    choices = sum(graph.ops[node] in CHOICES for node in used)
    return choices > MOST_CHOICES or choices * len(used) > MOST_CROSSED


def _workspace(module: ModuleType, params: Array) -> Array:
    """Return the workspace of a generated module for parameters.

    In plain Python: a few microseconds once for each call, where compiling takes a tenth of a second.
    """
    workspace = np.empty(module.WORKSPACE)
    with np.errstate(all="ignore"):
        try:
            module.prepare.py_func(params, workspace)
        except (ValueError, ZeroDivisionError, OverflowError, TypeError):  # compiled code has nan or inf; no complex
            module.prepare(params, workspace)
    return workspace
