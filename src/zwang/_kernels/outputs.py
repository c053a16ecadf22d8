"""What kernels compute and how they are called: `Outputs` go to a dialect, `Functions` come back.

Every function of a model has the one ABI

    function(t, q, v, params, int_table, workspace, out) -> status

with 0 where all is well. What depends on the parameters alone is prepared once in the workspace; what is particular to
a dialect (tapes, tables of like parts) stands in the table of integers. Loops over steps, starts and states are
compiled once for all models and call functions by address; with functions that have none, they run as plain Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from zwang._derive.program import Program
from zwang._graph.graph import Node

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Function = Callable[..., int]

NO_TABLE = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True)
class Outputs:
    """What one function computes.

    Attributes
    ----------
    nodes : tuple of Node
        Written to `out`, one after the other.
    sound : Node, optional
        The truth that all is well; by default it always is.
    changing : tuple of Node
        Parameters that may change between calls, so that nothing made of them is prepared.
    held : tuple of Node
        Truths that are read from the table of integers: number k from place k, not zero where it holds.
    exact : bool
        Whether every operation is rounded by itself: the forms that a dialect has then give the same bits.
    """

    nodes: tuple[Node, ...]
    sound: Node | None = None
    changing: tuple[Node, ...] = ()
    held: tuple[Node, ...] = ()
    exact: bool = False

    @property
    def wanted(self) -> list[Node]:
        """Everything that must be computed."""
        return [*self.nodes, *([] if self.sound is None else [self.sound])]


@dataclass(frozen=True)
class Functions:
    """Functions with the one ABI that share a table and a workspace.

    Attributes
    ----------
    calls : tuple of callables
    sizes : tuple of int
        How many numbers each of them writes.
    table : int array
        What they take as `int_table` (unless truths are held there).
    workspace : callable
        Of the parameters; returns what they take as `workspace`.
    """

    calls: tuple[Function, ...]
    sizes: tuple[int, ...]
    table: Ints
    workspace: Callable[[Array], Array]

    @property
    def brief(self) -> Functions:
        """The same for loops that ask some thousand times: what needs no compilation, if there is such a form."""
        return self

    def only(self, *which: int) -> Functions:
        """Return some of them."""
        return replace(self, calls=tuple(self.calls[k] for k in which), sizes=tuple(self.sizes[k] for k in which))

    def many(self, t: Array, q: Array, v: Array, params: Array) -> Array:
        """Return what the first of them writes at states t (B,), q and v (n, B) and params (p, B) or (p, 1).

        The last row of what comes back says where all was well.
        """
        size, call = self.sizes[0], self.calls[0]
        out, column = np.empty((size + 1, q.shape[1])), np.empty(size)
        own = np.ascontiguousarray(params[:, 0])
        workspace = self.workspace(own)
        for k in range(q.shape[1]):
            if k and params.shape[1] > 1:
                own = np.ascontiguousarray(params[:, k])
                workspace = self.workspace(own)
            place, speed = np.ascontiguousarray(q[:, k]), np.ascontiguousarray(v[:, k])
            status = call(float(t[k]), place, speed, own, self.table, workspace, column)
            out[:size, k], out[size, k] = column, float(status == 0)
        return out


class Dialect(Protocol):
    """How functions are made: as machine code, by interpretation, in another language."""

    def build(self, program: Program, outputs: Mapping[str, Outputs], name: str, *, quick: bool = False) -> Functions:
        """Return functions for outputs of one program, in their order, that share a workspace.

        Parameters
        ----------
        program : Program
            The graph, and which of its nodes are t, q, v and the parameters.
        outputs : mapping
            What each function computes, by a word of the package.
        name : str
            A word for what they are.
        quick : bool
            They will be called a few times only: a form that needs no compilation is wanted, if there is one.
        """
