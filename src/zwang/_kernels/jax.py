"""The batch backend: JAX in double precision, for large batches of states, on a GPU where there is one.

The graph of a system is traced once by JAX and compiled for the shape of the batch. Nothing is set globally: double
precision is switched on around each call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zwang._declare.system import System
from zwang._derive.solution import PIVOT, masses_missing, solve, with_masses
from zwang._graph.evaluate import evaluate
from zwang._kernels.numba import NumbaDialect
from zwang._kernels.outputs import Array
from zwang._kernels.service import Service
from zwang._kernels.term_layout import TermLayout
from zwang._kernels.terms import Solved, Terms
from zwang.errors import CompileError

UNROLLED = 24  # unknowns up to which elimination is written out
LARGEST = 200  # coordinates; compile time grows with their square


def _jax() -> Any:
    try:
        import jax
    except ImportError:
        raise CompileError(
            "The backend 'batch' needs JAX: pip install 'zwang[gpu]', or use backend='native'."
        ) from None
    return jax


class BatchKernels(Service):
    """Terms, accelerations and multipliers of many states at once; what is asked at single states is native."""

    def __init__(self, system: System) -> None:
        self.jax = _jax()
        if len(system.coordinates) > LARGEST:
            raise CompileError(
                f"{system.name}: {len(system.coordinates)} coordinates are too many for the backend 'batch' (at most "
                f"{LARGEST}), which writes every term out. Use backend='native', which loops over like parts."
            )
        super().__init__(system, NumbaDialect())
        self._compiled: dict[Any, Callable[..., Any]] = {}

    def traceable(self, active: Sequence[int] | None, *, alone: bool = False) -> Callable[..., Any]:
        """Return a pure function (t, q, v, params) -> rows for JAX: the terms, or the solution for these normals.

        `alone`: for somebody who has no other way where masses are missing, so that rows complete them.
        """
        jnp = self.jax.numpy
        program = self.program.copy()
        chosen = None if active is None else tuple(active)
        lacking = alone and masses_missing(program)
        small = len(program.q) + len(chosen or ()) <= UNROLLED
        if chosen is None or not small:
            nodes = list(self.layout.nodes)
        else:
            found = solve(with_masses(program, chosen) if alone else program, chosen)
            nodes = [*found.accelerations, *found.multipliers, found.regular]

        def rows(t: Any, q: Any, v: Any, params: Any) -> Any:
            inputs = dict(zip(program.inputs, [t, *q, *v, *params], strict=True))
            values = evaluate(program.graph, nodes, inputs, jnp)
            out = jnp.stack([jnp.broadcast_to(jnp.asarray(item, dtype=float), t.shape) for item in values])
            return out if chosen is None or small else _dense_solution(jnp, self.layout, out, chosen, lacking)

        return rows

    def _run(self, active: Sequence[int] | None, t: Array, q: Array, v: Array, params: Array) -> Array:
        key = None if active is None else tuple(active)
        with self.jax.enable_x64(True):
            if key not in self._compiled:
                self._compiled[key] = self.jax.jit(self.traceable(active))
            return np.array(self._compiled[key](t, q, v, params))  # a copy: what JAX returns is read-only

    def terms(self, t: Array, q: Array, v: Array, params: Array) -> Terms:
        """Return the terms of the equations at the states."""
        return self.layout.terms(self._run(None, t, q, v, params))

    def solve(self, t: Array, q: Array, v: Array, params: Array, active: Sequence[int]) -> Solved:
        """Return accelerations and multipliers with these normals held as equalities."""
        n, k = q.shape[0], len(tuple(active))
        out = self._run(tuple(active), t, q, v, params)
        return Solved(out[:n], out[n : n + k], out[n + k] > 0.5)


def _dense_solution(jnp: Any, layout: TermLayout, out: Any, chosen: tuple[int, ...], lacking: bool) -> Any:
    """Return accelerations, multipliers and a flag by batched dense factorizations; states run along the last axis."""
    n = len(layout.program.q)
    mass = jnp.zeros((out.shape[1], n, n))
    for (i, j), row in zip(layout.program.mass, out[layout.slices["mass"]], strict=True):
        mass = mass.at[:, i, j].set(row).at[:, j, i].set(row)
    rows = jnp.zeros((out.shape[1], len(chosen), n))
    for (j, i), row in zip(layout.row_places, out[layout.slices["rows"]], strict=True):
        if j in chosen:
            rows = rows.at[:, chosen.index(j), i].set(row)
    force = out[layout.slices["force"]].T[:, :, None]
    gamma = out[layout.slices["gamma"]][jnp.array(chosen, dtype=int)].T[:, :, None]
    if lacking:  # M + J^T D J, Q + J^T D gamma
        weights = jnp.trace(mass, axis1=1, axis2=2)[:, None, None] / (rows**2).sum(axis=2, keepdims=True)
        lifted = (weights * rows).transpose(0, 2, 1)
        mass, force = mass + lifted @ rows, force + lifted @ gamma
    root = jnp.linalg.cholesky(mass)
    free = _forward(root, force)
    carried = _forward(root, rows.transpose(0, 2, 1))
    gram = carried.transpose(0, 2, 1) @ carried
    length = jnp.sqrt(jnp.diagonal(gram, axis1=1, axis2=2))[:, :, None]
    inner = jnp.linalg.cholesky(gram / length / length.transpose(0, 2, 1))
    missing = (gamma - carried.transpose(0, 2, 1) @ free) / length
    lam = _backward(inner, _forward(inner, missing)) / length
    a = _backward(root, free + carried @ lam)
    # Rows scaled to unit length: the squares on the diagonal are the pivots; a lost one is no number and not above.
    pivots = jnp.diagonal(inner, axis1=1, axis2=2) ** 2
    regular = (pivots > PIVOT).all(axis=1) & jnp.isfinite(a[:, :, 0]).all(axis=1)
    return jnp.concatenate([a[:, :, 0].T, lam[:, :, 0].T, regular.astype(float)[None, :]])


def _forward(root: Any, right: Any) -> Any:
    return _jax().scipy.linalg.solve_triangular(root, right, lower=True)


def _backward(root: Any, right: Any) -> Any:
    return _jax().scipy.linalg.solve_triangular(root.transpose(0, 2, 1), right, lower=False)


class BatchBackend:
    """`batch`: JAX."""

    name = "batch"

    def build(self, system: System) -> Service:
        """Return the kernels of a system."""
        return BatchKernels(system)
