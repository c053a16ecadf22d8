"""A model handed on: as LaTeX, and as a function for JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from zwang._declare.constraints import Bilateral, Friction, Unilateral
from zwang._declare.domains import guarded
from zwang._declare.system import System
from zwang._declare.system_text import numbered_laws
from zwang._derive import derive
from zwang.errors import CompileError, DeclarationError


def as_latex(system: System) -> str:
    """Return the equations of motion and all laws as an aligned block of LaTeX, without dollar signs.

    Normals and slips are numbered in the order of the constraints: lambda_1, T_1, ...
    """
    equations = derive(system)
    accelerations = sp.Matrix([sp.Symbol(f"\\ddot{{{sp.latex(item)}}}") for item in system.coordinates])
    right = [sp.latex(sp.Matrix(equations.force))]
    normals = [item for item in system.constraints if not isinstance(item, Friction)]
    if normals:
        multipliers = sp.Matrix([sp.Symbol(f"\\lambda_{{{k + 1}}}") for k in range(len(normals))])
        rows = [_row(item, system) for item in normals]
        right.append(f"{sp.latex(sp.Matrix(rows).T)} {sp.latex(multipliers)}")
    slips = [slip for item in system.constraints for slip in item.slip]
    if slips:
        friction = sp.Matrix([sp.Symbol(f"T_{{{k + 1}}}") for k in range(len(slips))])
        rows = [[sp.diff(slip, v) for v in system.velocities] for slip in slips]
        right.append(f"{sp.latex(sp.Matrix(rows).T)} {sp.latex(friction)}")
    lines = [f"{sp.latex(sp.Matrix(equations.mass))} {sp.latex(accelerations)} &= {' + '.join(right)}"]
    body = " \\\\\n".join([*lines, *numbered_laws(system)])
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def _row(item: Bilateral | Unilateral, system: System) -> list[sp.Expr]:
    """Return the gradient of a constraint by positions, or by velocities; where it exists only somewhere, there."""
    found = guarded(item.expr)
    expr = item.expr if found is None else found[0]
    by = system.coordinates if item.level == "position" else system.velocities
    return [sp.diff(expr, one) for one in by]


def as_jax(system: System, chosen: Sequence[int]) -> Callable[[Any, Any, Any, Any], tuple[Any, Any]]:
    """Return (t, q, v, params) -> accelerations and multipliers as a pure function for JAX."""
    if system.inputs:
        raise DeclarationError(
            f"{system.name}: jax: it has the input '{system.inputs[0]}'. Make it a parameter, or put an expression of "
            "t in its place."
        )
    from zwang._kernels.jax import BatchKernels

    try:
        import jax.numpy as jnp
    except ImportError:
        raise CompileError(f"{system.name}: jax needs JAX: pip install 'zwang[gpu]'.") from None
    rows = BatchKernels(system).traceable(tuple(chosen), alone=True)
    n, k = len(system.coordinates), len(chosen)

    def motion(t: Any, q: Any, v: Any, params: Any) -> tuple[Any, Any]:
        def lanes(values: Any) -> list[Any]:
            return [jnp.reshape(item, (1,)) for item in values]

        out = rows(jnp.reshape(jnp.asarray(t, dtype=float), (1,)), lanes(q), lanes(v), lanes(params))
        return out[:n, 0], out[n : n + k, 0]

    return motion
